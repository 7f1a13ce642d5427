# SPDX-License-Identifier: Apache-2.0
"""DLPack tensors of GPUArrays and back, by the views of ``tessera.core``, which hold and read them.

An exported tensor keeps its array alive until the consumer calls the deleter.
"""

from __future__ import annotations

from typing import Any

from ..core._memoryview import CUDA, MANAGED, StridedMemoryView, dlpack_dtype
from ._array import GPUArray
from ._call import cu
from ._context import stream_handle
from ._memory import PointerHolderBase

__all__ = ["from_object", "to_capsule"]

_DEFAULT_STREAM = 0  # the legacy one, on which an object without a word about streams is ready


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
    if dl_device not in (None, array.__dlpack_device__()):
        raise BufferError(f"the array is on device {array.__dlpack_device__()}, not {dl_device}")
    kind = dlpack_dtype(array.dtype)
    if not kind[1]:
        raise BufferError(f"DLPack has no elements of {array.dtype}")
    array = array.copy() if copy else array
    steps = tuple(s // array.dtype.itemsize for s in array.strides)
    device = array.__dlpack_device__()
    view = StridedMemoryView._make(
        array.ptr, array.shape, steps, kind, device, False, array, None, array.dtype
    )
    _wait(stream)
    return view.__dlpack__(max_version=max_version)


class _Foreign(PointerHolderBase):
    """Memory of another library, given back with the object."""

    def __init__(self, view: StridedMemoryView) -> None:
        self._view = view

    def get_pointer(self) -> int:
        """The address."""
        return int(self._view.ptr)


def from_object(obj: Any) -> GPUArray:
    """A GPUArray of the memory of an object with ``__dlpack__``."""
    device = obj.__dlpack_device__()
    if device[0] not in (CUDA, MANAGED):
        raise BufferError(f"the object is on device {tuple(device)}, which is no GPU of CUDA")
    view = StridedMemoryView.from_dlpack(obj, _DEFAULT_STREAM)
    dtype = view.dtype
    if dtype is None:
        raise BufferError(f"the elements of {type(obj).__name__} have no dtype of NumPy")
    strides = None if view.strides is None else tuple(s * dtype.itemsize for s in view.strides)
    return GPUArray(view.shape, dtype, gpudata=_Foreign(view), strides=strides)
