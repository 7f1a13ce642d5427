# SPDX-License-Identifier: Apache-2.0
"""Classes of device arrays, and what is asked of arrays of any library."""

from __future__ import annotations

from typing import Any

from .._arrays import to_device
from .._device_array import (
    DeviceNDArray,
    DeviceNDArrayBase,
    DeviceRecord,
    ManagedNDArray,
    MappedNDArray,
    errmsg_contiguous_buffer,
    is_cuda_array,
    without_broadcast,
)

__all__ = [
    "DeviceNDArray", "DeviceNDArrayBase", "DeviceRecord", "ManagedNDArray", "MappedNDArray", "array_core",
    "auto_device", "errmsg_contiguous_buffer", "from_array_like", "from_record_like", "is_contiguous",
    "is_cuda_ndarray", "require_cuda_ndarray", "verify_cuda_ndarray_interface",
]  # fmt: skip


def is_cuda_ndarray(obj: Any) -> bool:
    """Whether it is an array of device memory of this module."""
    return bool(getattr(obj, "__cuda_ndarray__", False))


def verify_cuda_ndarray_interface(obj: Any) -> None:
    """Raises ValueError where it is no array of this module, AttributeError where a member is of another type."""
    require_cuda_ndarray(obj)
    for name, of in (("shape", tuple), ("strides", tuple), ("dtype", object), ("size", int)):
        if not isinstance(getattr(obj, name), of):
            raise AttributeError(f"{name} must be of type {of}")


def require_cuda_ndarray(obj: Any) -> None:
    """Raises ValueError where it is no array of this module."""
    if not is_cuda_ndarray(obj):
        raise ValueError(f"require a cuda ndarray object, not a {type(obj).__name__}: cuda.to_device() makes one")


def array_core(ary: Any) -> Any:
    """The array without axes that are broadcast: the first element along each."""
    return ary[without_broadcast(ary)] if ary.strides and ary.size else ary


def is_contiguous(ary: Any) -> bool:
    """Whether the elements lie row by row without gaps, axes that are broadcast left out."""
    return bool(array_core(ary).flags["C_CONTIGUOUS"])


def from_array_like(ary: Any, stream: Any = 0, gpu_data: Any = None) -> DeviceNDArray:
    """A new device array with shape, strides and dtype of another array, or one over memory that is given."""
    return DeviceNDArray(ary.shape, ary.strides, ary.dtype, stream, gpu_data)


def from_record_like(rec: Any, stream: Any = 0, gpu_data: Any = None) -> DeviceRecord:
    """A new record in device memory of the dtype of another one, or one over memory that is given."""
    return DeviceRecord(rec.dtype, stream, gpu_data)


def auto_device(obj: Any, stream: Any = 0, copy: bool = True, user_explicit: bool = False) -> tuple[Any, bool]:
    """The object as a device array, and whether that is a new one."""
    return to_device(obj, stream, copy), not is_cuda_array(obj)
