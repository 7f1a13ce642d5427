# SPDX-License-Identifier: Apache-2.0
"""What a kernel of threads tells the compiler beside its code: hints, and rows of its parameters (see ext/kernel.c)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from .. import _core

__all__ = ["bounds_hints", "hint_rows", "parameter_rows"]

_EMPTY_ROW = (_core.PARAM_REVERSED, 0, 0, 0, 0, 0, 0, ())


def parameter_rows(names: Iterable[str]) -> tuple[Any, ...]:
    """Rows of parameters of which nothing but their names is known."""
    return tuple((name, *_EMPTY_ROW) for name in names)


def hint_rows(given: dict[str, int]) -> tuple[Any, ...]:
    """The one row of hints, for all targets; what is not given is 0."""
    return ((0, tuple(given.get(name, 0) for name in _core.HINTS)),)


def bounds_hints(bounds: tuple[int, ...]) -> dict[str, int]:
    """Threads of a block as a power of two of warps, and blocks of a multiprocessor, as the compiler takes them."""
    given = {}
    if bounds:
        given["num_worker_warps"] = 1 << (-(-bounds[0] // 32) - 1).bit_length()
    if len(bounds) > 1:
        given["occupancy"] = bounds[1]
    return given
