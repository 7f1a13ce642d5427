# SPDX-License-Identifier: Apache-2.0
"""DLPack tensors of GPUArrays and back, with ctypes; the structs are those of dlpack.h 1.0.

An exported tensor keeps its array alive until the consumer calls the deleter.
"""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

from ._array import GPUArray
from ._call import cu
from ._context import stream_handle
from ._memory import PointerHolderBase

__all__ = ["from_object", "to_capsule"]

_CUDA, _CUDA_MANAGED = 2, 13
_CODES = {"i": 0, "u": 1, "f": 2, "c": 5, "b": 6}


class _Tensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32), ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16), ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)), ("offset", ctypes.c_uint64),
    ]  # fmt: skip


class _Managed(ctypes.Structure):
    _fields_ = [("tensor", _Tensor), ("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p)]


_Deleter = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
_api = ctypes.pythonapi
_new = _api.PyCapsule_New
_new.restype, _new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
_get = _api.PyCapsule_GetPointer
_get.restype, _get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
_rename = _api.PyCapsule_SetName
_rename.argtypes = [ctypes.py_object, ctypes.c_char_p]
# A destructor gets the capsule while it dies: no reference to it may be made, hence the address.
_is_named = ctypes.PyDLL(None).PyCapsule_IsValid
_is_named.argtypes = [ctypes.c_void_p, ctypes.c_char_p]
_pointer_of = ctypes.PyDLL(None).PyCapsule_GetPointer
_pointer_of.restype, _pointer_of.argtypes = ctypes.c_void_p, [ctypes.c_void_p, ctypes.c_char_p]

_exported: dict[int, Any] = {}  # address of a tensor -> what must live as long


@_Deleter
def _delete(address: int) -> None:
    _exported.pop(address, None)


@_Deleter
def _drop_unused(capsule: int) -> None:
    """A capsule that nobody consumed."""
    if _is_named(capsule, b"dltensor"):
        _delete(_pointer_of(capsule, b"dltensor"))


def _dtype_code(dtype: np.dtype[Any]) -> int:
    if dtype.kind not in _CODES:
        raise BufferError(f"DLPack has no elements of {dtype}")
    return _CODES[dtype.kind]


def _wait(stream: Any) -> None:
    """Work so far comes before the consumer's stream: -1 wants nothing, None and 1 the default one."""
    if stream not in (None, -1, 0, 1):
        from ._context import Event

        cu.cuStreamWaitEvent(stream_handle(stream), Event().record().handle, 0)


def to_capsule(
    array: GPUArray, stream: Any = None, max_version: Any = None, dl_device: Any = None,
    copy: bool | None = None,
) -> Any:  # fmt: skip
    """The capsule of ``array.__dlpack__()``."""
    del max_version
    if dl_device not in (None, array.__dlpack_device__()):
        raise BufferError(f"the array is on device {array.__dlpack_device__()}, not {dl_device}")
    array = array.copy() if copy else array
    size, n = array.dtype.itemsize, array.ndim
    shape = (ctypes.c_int64 * max(1, n))(*array.shape)
    strides = (ctypes.c_int64 * max(1, n))(*(s // size for s in array.strides))
    code, device = _dtype_code(array.dtype), array.__dlpack_device__()
    tensor = _Tensor(array.ptr, *device, n, code, 8 * size, 1, shape, strides, 0)
    managed = _Managed(tensor, None, ctypes.cast(_delete, ctypes.c_void_p))
    _wait(stream)
    address = ctypes.addressof(managed)
    _exported[address] = (managed, shape, strides, array)
    return _new(address, b"dltensor", ctypes.cast(_drop_unused, ctypes.c_void_p))


class _Foreign(PointerHolderBase):
    """Memory of another library, given back with the object."""

    def __init__(self, managed: _Managed) -> None:
        self._managed = managed
        self._address = (managed.tensor.data or 0) + managed.tensor.offset

    def get_pointer(self) -> int:
        """The address."""
        return self._address

    def __del__(self) -> None:
        managed = self._managed
        if managed.deleter:
            _Deleter(managed.deleter)(ctypes.addressof(managed))


def from_object(obj: Any) -> GPUArray:
    """A GPUArray of the memory of an object with ``__dlpack__``."""
    device = obj.__dlpack_device__()
    if device[0] not in (_CUDA, _CUDA_MANAGED):
        raise BufferError(f"the object is on device {tuple(device)}, which is no GPU of CUDA")
    capsule = obj.__dlpack__()
    managed = _Managed.from_address(_get(capsule, b"dltensor"))
    _rename(capsule, b"used_dltensor")
    owner, tensor = _Foreign(managed), managed.tensor
    kinds = {code: kind for kind, code in _CODES.items()}
    if tensor.code not in kinds or tensor.lanes != 1:
        raise BufferError(f"elements of DLPack type {tensor.code} with {tensor.bits} bits are unknown")
    dtype = np.dtype(f"{kinds[tensor.code]}{tensor.bits // 8}")
    shape = tuple(tensor.shape[i] for i in range(tensor.ndim))
    strides = (
        tuple(tensor.strides[i] * dtype.itemsize for i in range(tensor.ndim))
        if tensor.strides
        else None
    )
    return GPUArray(shape, dtype, gpudata=owner, strides=strides)
