# SPDX-License-Identifier: Apache-2.0
"""Views of the same memory in other shapes."""

from __future__ import annotations

import operator
from typing import Any

import numpy

from ... import _core
from .. import _functions as f
from .._functions import (
    broadcast_arrays,  # noqa: F401
    broadcast_shapes,  # noqa: F401
    broadcast_to,  # noqa: F401
)
from .._ndarray import ndarray
from .._setup import FUNCTION


def _check_room(x: ndarray, shape: tuple[int, ...], strides: tuple[int, ...]) -> None:
    """That a view stays in the memory of its array: of all of it, where the array is a part."""
    reach = [(n - 1) * step for n, step in zip(shape, strides, strict=True)]
    low, high = sum(min(r, 0) for r in reach), sum(max(r, 0) for r in reach) + x.itemsize
    before, behind = x._room
    if 0 not in shape and (-low > before or high > behind):
        raise ValueError(
            f"a view of shape {shape} and strides {strides} reaches from byte {low} to {high} of the array's first "
            f"element; its memory has {before + behind}, from {-before} to {behind}"
        )


def as_strided(
    x: Any, shape: Any = None, strides: Any = None, subok: bool = False, writeable: bool = True
) -> ndarray:
    """A view of the array's memory with these extents and strides (in bytes), which may overlap. A number of Python's
    has no memory to view: where no strides are asked for, every element is that number."""
    if isinstance(x, int | float | complex) and shape is not None and strides is None:
        return broadcast_to(x, shape)
    given, x = x, f.asarray(x)
    shape = x.shape if shape is None else tuple(map(operator.index, shape))
    if strides is not None:
        strides = tuple(map(operator.index, strides))
    elif x.flags.c_contiguous:  # as NumPy, which then knows of none
        strides = f._dense_strides(shape, x.itemsize, "C") if len(shape) != x.ndim else x.strides
    else:
        strides = x.strides
    if any(n < 0 for n in shape):
        raise ValueError(f"negative dimensions are not allowed: {shape}")
    if len(shape) != len(strides):
        raise ValueError("mismatch in length of strides and shape")
    _check_room(x, shape, strides)
    view = x._view(0, x.dtype, shape, strides)
    view._writeable = x._writeable and writeable
    return f.as_class(view, given if subok else None)


def sliding_window_view(x: Any, window_shape: Any, axis: Any = None, *, subok: bool = False,
                        writeable: bool = False) -> ndarray:  # fmt: skip
    """A read-only view of all windows of a shape along axes; the window's axes are the last ones."""
    given, x = x, f.asarray(x)
    window = tuple(window_shape) if numpy.iterable(window_shape) else (window_shape,)
    if any(n < 0 for n in window):
        raise ValueError("`window_shape` cannot contain negative values")
    axes = (
        tuple(range(x.ndim))
        if axis is None
        else f.normalize_many(axis, x.ndim, allow_duplicate=True)
    )
    if len(window) != len(axes):
        which = "all dimensions of `x`" if axis is None else "matching length window_shape and axis"
        raise ValueError(
            f"Must provide {which}; got {len(window)} window_shape elements and {len(axes)} axes elements."
        )
    shape = list(x.shape)
    for d, n in zip(axes, window, strict=True):
        if shape[d] < n:
            raise ValueError("window shape cannot be larger than input array shape")
        shape[d] -= n - 1
    view = x._view(0, x.dtype, (*shape, *window), (*x.strides, *(x.strides[d] for d in axes)))
    view._writeable = x._writeable and writeable
    return f.as_class(view, given if subok else None)


sliding_window_view = _core.NumericRoutine(sliding_window_view, __name__, False, FUNCTION)
