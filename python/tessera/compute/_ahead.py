# SPDX-License-Identifier: Apache-2.0
"""Launches of a call that are put off until all are known, so that their code is made by several threads at once.

    kernel[config](args)  -->  noted: launch, args         nothing runs; arguments, and so their memory, are kept
    run_all               -->  launch._find(*args)         once for each kernel that was packed before: kept code
                          -->  launch._prepare(*args)      once for each other one, in threads
                          -->  launch(*args)               in their order

No algorithm looks at results of its launches, so when they run changes nothing. Python packs kernels one at a time; the
compiler and the driver's assembler work beside that, and beside each other. Kept code is loaded by the thread of the
call: the interpreter lets threads take turns of milliseconds.
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable
from typing import Any

from ._store import StoredKernel, under_way

__all__ = ["PutOff", "run_all"]

_MOST_THREADS = 16


class PutOff:
    """A kernel whose launches are noted."""

    def __init__(self, kernel: Any, later: list[Any]) -> None:
        self._kernel, self._later = kernel, later

    def __getitem__(self, config: Any) -> Callable[..., None]:
        launch = self._kernel[config]

        def call(*args: Any) -> None:
            self._later.append((self._kernel, launch, args))

        return call


def run_all(later: list[Any]) -> None:
    """Launches all; the code of kernels beside the first is made by other threads, while this one makes the first's."""
    first = {id(kernel): (kernel, launch, args) for kernel, launch, args in reversed(later)}
    waiting = [of[1:] for of in first.values() if hasattr(of[1], "_prepare") and not _is_kept(*of)]
    waiting.reverse()
    n = min(len(waiting), os.cpu_count() or 1, _MOST_THREADS) - 1 if len(waiting) > 1 else 0
    threads = [threading.Thread(target=_help, args=(waiting, under_way.packed), daemon=True) for _ in range(n)]
    for thread in threads:
        thread.start()
    if threads:
        _prepare(waiting)
    for thread in threads:
        thread.join()
    for _, launch, args in later:
        launch(*args)


def _is_kept(kernel: Any, launch: Any, args: tuple[Any, ...]) -> bool:
    """Whether the code of a launch is kept, and so loaded now. What goes wrong, the launch says."""
    with contextlib.suppress(Exception):
        return isinstance(kernel, StoredKernel) and launch._find(*args)
    return True


def _help(waiting: list[Any], packed: list[Any] | None) -> None:
    """`_prepare` in a thread of its own, which notes what it packs for the call that waits for it."""
    under_way.packed = packed
    _prepare(waiting)


def _prepare(waiting: list[Any]) -> None:
    """Makes the code of one launch after the other, for the device that its arrays are on. What goes wrong, the launch
    says."""
    while waiting:
        with contextlib.suppress(Exception):
            launch, args = waiting.pop()  # another thread may have taken the last one
            launch._prepare(*args)
