# SPDX-License-Identifier: Apache-2.0
"""Copies between strided views: as few copies of rectangles as the two layouts allow."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any, NamedTuple

from .. import _core

__all__ = ["copy_view", "copy_view_awaited"]

_PITCH_MOST = 2**31 - 1  # bytes from row to row that the driver takes (MAX_PITCH)


class _Axis(NamedTuple):
    """One axis of both arrays: extent, and the steps of each in bytes."""

    n: int
    source: int
    target: int


def _axes(source: Any, target: Any) -> list[_Axis]:
    """The axes of both, longest step of the target first; those that follow each other without a
    gap in both arrays are one."""
    size = source._layout.itemsize
    steps = zip(source.shape, source._layout.steps, target._layout.steps, strict=True)
    axes = [_Axis(n, a * size, b * size) for n, a, b in steps if n != 1]
    axes.sort(key=lambda axis: -abs(axis.target))
    merged: list[_Axis] = []
    for axis in axes:
        last = merged[-1] if merged else None
        if last and (last.source, last.target) == (axis.source * axis.n, axis.target * axis.n):
            merged[-1] = _Axis(last.n * axis.n, axis.source, axis.target)
        else:
            merged.append(axis)
    return merged


class _Plan(NamedTuple):
    """Rectangles to copy: ``width`` bytes, ``height`` rows with a pitch each, at every offset of
    the outer axes."""

    width: int
    rows: _Axis
    outer: list[_Axis]


def _plan(axes: list[_Axis], size: int) -> _Plan:
    width, rest = size, list(axes)
    if rest and rest[-1].source == rest[-1].target == size:
        width = rest.pop().n * size
    rows = _Axis(1, width, width)
    if rest and all(width <= n <= _PITCH_MOST for n in (rest[-1].source, rest[-1].target)):
        rows = rest.pop()
    return _Plan(width, rows, rest)


def _offsets(outer: list[_Axis]) -> Iterator[tuple[int, int]]:
    for index in itertools.product(*(range(axis.n) for axis in outer)):
        pairs = list(zip(index, outer, strict=True))
        yield sum(i * a.source for i, a in pairs), sum(i * a.target for i, a in pairs)


def _rectangle(plan: _Plan, source: Any, target: Any) -> Any:
    from ..bindings import driver

    made = driver.CUDA_MEMCPY2D()
    kinds = driver.CUmemorytype
    for side, view, pitch in (("src", source, plan.rows.source), ("dst", target, plan.rows.target)):
        on_gpu = view.is_device_accessible
        kind = kinds.CU_MEMORYTYPE_UNIFIED if on_gpu else kinds.CU_MEMORYTYPE_HOST
        setattr(made, f"{side}MemoryType", kind)
        setattr(made, f"{side}Pitch", pitch)
    made.WidthInBytes, made.Height = plan.width, plan.rows.n
    return made


def _copy_rows(plan: _Plan, source: Any, target: Any, handle: Any) -> None:
    from ..bindings.driver import checked

    made = _rectangle(plan, source, target)
    for a, b in _offsets(plan.outer):
        _address(made, "src", source, a)
        _address(made, "dst", target, b)
        checked.cuMemcpy2DAsync(made, handle)


def _copy_runs(plan: _Plan, source: Any, target: Any, handle: Any) -> None:
    """Single rows, which may be longer than a pitch can be."""
    from ..bindings.driver import checked

    for a, b in _offsets(plan.outer):
        checked.cuMemcpyAsync(target.ptr + b, source.ptr + a, plan.width, handle)


def _address(made: Any, side: str, view: Any, offset: int) -> None:
    field = "Device" if view.is_device_accessible else "Host"
    setattr(made, side + field, view.ptr + offset)


def _check(source: Any, target: Any) -> None:
    if source.shape != target.shape:
        raise ValueError(f"cannot copy shape {source.shape} to shape {target.shape}")
    if source._layout.itemsize != target._layout.itemsize:
        raise ValueError(
            f"cannot copy items of {source._layout.itemsize} bytes to items of "
            f"{target._layout.itemsize}"
        )
    if target.readonly:
        raise ValueError("the view to copy to is read-only")


def _on_host(source: Any, target: Any) -> None:
    """Both in host memory: no driver is needed."""
    import ctypes

    import numpy as np

    def array(view: Any) -> Any:
        low, high = view._layout._with(view.shape, view._layout._strides, 0).offset_bounds
        size = view._layout.itemsize
        room = (ctypes.c_char * ((high - low + 1) * size)).from_address(view.ptr + low * size)
        steps = tuple(step * size for step in view._layout.steps)
        return np.ndarray(view.shape, f"V{size}", room, -low * size, steps)

    if source.size:
        array(target)[...] = array(source)


def _check_views(source: Any, target: Any) -> None:
    for side in (source, target):
        if not isinstance(side, _core.MemoryView):
            raise TypeError(
                f"copies are made between two StridedMemoryViews; a {type(side).__name__} becomes "
                f"one by StridedMemoryView.from_any_interface(array, stream_ptr=-1)"
            )


def copy_view(source: Any, target: Any, stream: Any, blocking: bool | None) -> None:
    """Copies elements between two views of one shape, in the order of the stream."""
    _check_views(source, target)
    _check(source, target)
    on_gpu = source.is_device_accessible or target.is_device_accessible
    if not on_gpu:
        _on_host(source, target)
        return
    from ..bindings.driver import checked

    handle = getattr(stream, "handle", stream)
    if handle is None:
        raise TypeError("stream must be a Stream or its handle, not None")
    if source.size:
        plan = _plan(_axes(source, target), source._layout.itemsize)
        copy = _copy_runs if plan.rows.n == 1 else _copy_rows
        copy(plan, source, target, handle)
    is_mixed = not (source.is_device_accessible and target.is_device_accessible)
    if is_mixed if blocking is None else blocking:
        checked.cuStreamSynchronize(handle)


async def copy_view_awaited(source: Any, target: Any, stream: Any) -> None:
    """``copy_view`` whose end is awaited."""
    from .._async import finished, stream_of
    from ._place import CUDA

    _check_views(source, target)
    on_gpu = [view for view in (source, target) if view.is_device_accessible]
    if not on_gpu:
        copy_view(source, target, None, None)
        return
    order = stream_of(stream, CUDA | max(on_gpu[0].device_id, 0))
    await finished(lambda: copy_view(source, target, order, False), order, (source, target))
