# SPDX-License-Identifier: Apache-2.0
"""Memory of a GPU that objects of other libraries show, as arrays over it.

Both ways of showing it end in numeric_wrap: the object, or what holds it, lives as long as the array; calls on the
array run at once, because others may look at the memory (docs/guide/numeric.md).
"""

from __future__ import annotations

from typing import Any

import numpy

import tessera

from .. import _core
from ._setup import DTYPES, READONLY, is_held

GPU = 2  # DLPack's kDLCUDA
MOST_AXES = 8  # of memory that is handed out by DLPack


def shows_gpu(x: Any) -> bool:
    """Whether an object that is no array of ours shows memory of a GPU."""
    return hasattr(x, "__cuda_array_interface__")


def ends_of(shape: Any, strides: Any, dtype: Any) -> tuple[int, int]:
    """Where the bytes of an array begin and end, counted from its first element."""
    if 0 in shape:
        return 0, 0
    steps = [(n - 1) * s for n, s in zip(shape, strides, strict=True)]
    return sum(min(0, s) for s in steps), sum(max(0, s) for s in steps) + dtype.itemsize


def _wrapped(owner: Any, ptr: int, dtype: Any, shape: Any, strides: Any, read_only: bool, where: str) -> Any:
    if not is_held(dtype):
        raise TypeError(f"tessera.numeric has no arrays of dtype {dtype} in memory of a GPU")
    if 0 in shape:
        from ._functions import empty

        return empty(shape, dtype, device=where)
    low, high = ends_of(shape, strides, dtype)
    flags = READONLY if read_only else 0
    return _core.numeric_wrap(
        ptr + low, high - low, owner, -low, dtype, shape, tuple(strides), flags, _core.numeric_place(where)
    )


def _device_of(x: Any, ptr: int) -> str:
    """The device that the memory of an object belongs to."""
    if not tessera.device_count("cuda"):
        return "cpu"
    if tessera.device_count("cuda") == 1 or not ptr:
        return "cuda:0"
    if hasattr(x, "__dlpack_device__"):
        return f"cuda:{int(x.__dlpack_device__()[1])}"
    from ..bindings import runtime

    return f"cuda:{int(runtime.cudaPointerGetAttributes(ptr)[1].device)}"


def dense_strides(shape: tuple[int, ...], step: int, order: str = "C") -> tuple[int, ...]:
    """Of an array that lies without gaps."""
    axes = range(len(shape)) if order == "F" else range(len(shape) - 1, -1, -1)
    made = [0] * len(shape)
    for d in axes:
        made[d] = step
        step *= max(shape[d], 1)
    return tuple(made)


def of_shown(x: Any) -> Any:
    """The array of an object that `shows_gpu`: by DLPack where it can, which orders the streams of both sides."""
    return of_dlpack(x) if hasattr(x, "__dlpack__") else of_interface(x)


def of_interface(x: Any) -> Any:
    """The array that ``x.__cuda_array_interface__`` describes; what is under way on its stream is waited for.

    On a machine without a GPU what shows such memory runs on the CPU device (tessera.cuda, tessera.cupy), and so does
    the array."""
    shown = x.__cuda_array_interface__
    if shown.get("mask") is not None:
        raise ValueError("tessera.numeric does not support arrays with a mask: give the array without it")
    dtype, shape = numpy.dtype(shown["typestr"]), tuple(shown["shape"])
    if dtype.kind == "V" and shown.get("descr"):
        dtype = numpy.lib.format.descr_to_dtype(shown["descr"])
    strides = shown.get("strides")
    if shown.get("stream") is not None:
        from ..cuda import external_stream

        external_stream(int(shown["stream"])).synchronize()
    ptr, read_only = shown["data"]
    return _wrapped(x, ptr, dtype, shape, dense_strides(shape, dtype.itemsize) if strides is None else strides,
                    bool(read_only), _device_of(x, ptr))  # fmt: skip


def of_dlpack(x: Any) -> Any:
    """The array of an object with ``__dlpack__`` whose memory is a GPU's."""
    lent = tessera.from_dlpack(x)
    names = [name for name, *_ in _core.DTYPES]
    dtype = DTYPES[1 + names.index(lent.dtype)] if lent.dtype in names else None
    if dtype is None:
        raise TypeError(f"tessera.numeric has no arrays of dtype {lent.dtype}")
    number = lent.view(f"uint{8 * dtype.itemsize}") if dtype.kind == "V" else lent  # NumPy has no letter for it
    read_only = number.__cuda_array_interface__["data"][1]
    return _wrapped(lent, lent.ptr, dtype, lent.shape, lent.strides, read_only, lent.device)
