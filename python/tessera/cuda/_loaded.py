# SPDX-License-Identifier: Apache-2.0
"""Modules of linked code whose makers want to know when they come and go: ``setup_callback`` is called once one is
loaded, before its first launch, ``teardown_callback`` before it goes: when its kernel ends, or the context is reset."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..core._place import CUDA, in_context

if TYPE_CHECKING:
    from ._linking import LinkableCode

__all__ = ["end_all", "hook_of"]

# What is loaded, by its kernel: calling the finalizer ends it.
_live: weakref.WeakKeyDictionary[Any, list[Any]] = weakref.WeakKeyDictionary()


def hook_of(kernel: Any, links: tuple[LinkableCode, ...]) -> Callable[[int], None] | None:
    """What is to be called with each library of the driver that a kernel's code is loaded as; None: nobody asks."""
    setups = [link.setup_callback for link in links if link.setup_callback is not None]
    teardowns = [link.teardown_callback for link in links if link.teardown_callback is not None]
    if not setups and not teardowns:
        return None
    of = weakref.ref(kernel)  # the kernel holds its host, and so this

    def loaded(library: int) -> None:
        from .. import _core
        from ..core import ObjectCode

        code, device = ObjectCode._of_library(library), _core._current_device()
        _called(setups, code, device)
        owner = of()
        if teardowns and owner is not None:
            ends = weakref.finalize(owner, _called, teardowns, code, device)
            ends.atexit = False
            _live.setdefault(owner, []).append(ends)

    return loaded


def _called(callbacks: list[Callable[..., Any]], code: Any, device: int) -> None:
    if device < CUDA:
        return
    with in_context(device & 255):
        for callback in callbacks:
            callback(code)


def end_all() -> None:
    """Ends every module that has callbacks; a kernel that is launched again loads its code again."""
    for kernel, ends in list(_live.items()):
        del _live[kernel]
        for end in ends:
            end()
        kernel.recompile()
