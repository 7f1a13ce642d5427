# SPDX-License-Identifier: Apache-2.0
"""Making device arrays, and taking those of others."""

from __future__ import annotations

import itertools
from typing import Any

import numpy

from . import types
from ._device_array import (
    DeviceNDArray,
    DeviceNDArrayBase,
    DeviceRecord,
    _prepared_shape,
    as_device_array,
    is_cuda_array,
    of_interface,
    row_major,
    without_broadcast,
)
from ._typeof import as_dtype

__all__ = [
    "as_cuda_array", "device_array", "device_array_like", "from_cuda_array_interface", "is_cuda_array", "to_device",
]  # fmt: skip

_APART = 256  # bytes: where arrays of one block begin


def dtype_of(dtype: Any) -> Any:
    """A NumPy dtype of a dtype of any sort, or of a type of ``cuda.types``."""
    return as_dtype(dtype) if isinstance(dtype, types.Type) else numpy.dtype(dtype)


def device_array(
    shape: Any, dtype: Any = numpy.float64, strides: Any = None, order: str = "C", stream: Any = 0
) -> DeviceNDArray:
    """A new array in device memory, with undefined elements.

    Parameters
    ----------
    shape : int or sequence of int
    dtype : dtype
    strides : sequence of int, optional
        In bytes.
    order : str
        ``"C"`` or ``"F"``, where no strides are given.
    stream : Stream, optional
    """
    shape, found = _prepared_shape(shape), dtype_of(dtype)
    if order not in ("C", "F"):
        raise ValueError(f"must be either C/F order, not {order!r}")
    strides = row_major(shape, found.itemsize, order) if strides is None else _prepared_shape(strides)
    return DeviceNDArray(shape, strides, found, stream, shared=True)


def pooled_array(shape: Any, dtype: Any, stream: Any = 0) -> DeviceNDArray:
    """A new array out of Tessera's pool, for what no other process opens."""
    shape, found = _prepared_shape(shape), dtype_of(dtype)
    return DeviceNDArray(shape, row_major(shape, found.itemsize), found, stream)


def pooled_arrays(needs: list[tuple[int, Any]], stream: Any = 0) -> list[DeviceNDArray]:
    """New arrays of these lengths and dtypes, in one block of the pool, which ends with the last of them."""
    found = [(n * (kind := dtype_of(dtype)).itemsize, kind) for n, dtype in needs]
    places = list(itertools.accumulate((-(-nbytes // _APART) * _APART for nbytes, _ in found), initial=0))
    block = pooled_array(places[-1], numpy.uint8, stream)
    whole = block._elements
    return [block._with(whole[at : at + nbytes].view(kind)) for at, (nbytes, kind) in zip(places, found)]


def like(ary: Any) -> tuple[Any, Any, Any]:
    """Shape, strides and dtype of an array of the same layout, without what a view leaves out."""
    shape, dtype = tuple(ary.shape), numpy.dtype(ary.dtype)
    if is_cuda_array(ary) or isinstance(ary, numpy.ndarray):
        strides = tuple(ary.strides) if ary.strides else row_major(shape, dtype.itemsize)
        order = sorted(range(len(shape)), key=lambda axis: -abs(strides[axis]))
        made, step = [0] * len(shape), dtype.itemsize
        for axis in reversed(order):
            made[axis] = step
            step *= shape[axis]
        flags = getattr(ary, "flags", None)
        if flags is not None and flags["C_CONTIGUOUS"]:
            made = list(row_major(shape, dtype.itemsize))
        return shape, tuple(made), dtype
    return shape, row_major(shape, dtype.itemsize), dtype


def device_array_like(ary: Any, stream: Any = 0) -> DeviceNDArray:
    """A new device array with shape, dtype and order of axes of another array."""
    shape, strides, dtype = like(ary if hasattr(ary, "dtype") else numpy.asarray(ary))
    return DeviceNDArray(shape, strides, dtype, stream, shared=True)


def to_device(obj: Any, stream: Any = 0, copy: bool = True, to: Any = None) -> Any:
    """A device array with the elements of an array, a number or a record.

    Parameters
    ----------
    obj : array-like
    stream : Stream, optional
        The copy is made after its work.
    copy : bool
        False: only memory of the same size is made.
    to : DeviceNDArray, optional
        Takes the elements instead of a new array.
    """
    if to is not None:
        to.copy_to_device(obj, stream=stream)
        return to
    if isinstance(obj, DeviceNDArrayBase):
        return obj
    if is_cuda_array(obj):
        return as_device_array(obj)
    return placed(obj, stream, copy, True)


def placed(obj: Any, stream: Any = 0, copy: bool = True, shared: bool = False) -> Any:
    """A host array or record in device memory, out of Tessera's pool unless it is to be shared."""
    if isinstance(obj, numpy.void):
        record = DeviceRecord(obj.dtype, stream, shared=shared)
        if copy:
            record._write(numpy.asarray(obj), stream)
        return record
    host = numpy.asarray(obj) if not isinstance(obj, numpy.ndarray) else obj
    made = _of_host(host, stream, shared)
    if copy and host.size:
        core = without_broadcast(host)
        made._with(made._elements[core])._write(host[core], stream)
    return made


def _of_host(host: Any, stream: Any, shared: bool) -> DeviceNDArray:
    """Room for a host array; axes that are broadcast stay so."""
    zero = [s == 0 and n > 1 for s, n in zip(host.strides, host.shape)]
    if not any(zero):
        strides = host.strides if host.size == 0 else like(host)[1]
        return DeviceNDArray(host.shape, strides, host.dtype, stream, shared=shared)
    kept = [n for n, z in zip(host.shape, zero) if not z]
    steps = iter(row_major(tuple(kept), host.itemsize))
    return DeviceNDArray(host.shape, [0 if z else next(steps) for z in zero], host.dtype, stream, shared=shared)


def as_cuda_array(obj: Any, sync: bool = True) -> DeviceNDArray:
    """Another library's device array as one of ours, without a copy.

    Parameters
    ----------
    obj : object with ``__cuda_array_interface__``
    sync : bool
        Wait for the stream that the object names.
    """
    found: DeviceNDArray = as_device_array(obj, sync)
    return found


def from_cuda_array_interface(desc: dict[str, Any], owner: Any = None, sync: bool = True) -> DeviceNDArray:
    """An array over the memory that a ``__cuda_array_interface__`` dictionary describes."""
    return of_interface(desc, owner, sync)
