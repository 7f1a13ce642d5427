# SPDX-License-Identifier: Apache-2.0
"""Host memory that the device knows: pinned (page-locked), mapped (used by both), managed (it moves by itself). On the
CPU device all of it is plain memory."""

from __future__ import annotations

import contextlib
import ctypes
from collections.abc import Iterator
from typing import Any

import numpy

from .. import _core
from ..core._place import CUDA, in_context
from ._arrays import dtype_of, like
from ._device_array import (
    DeviceNDArray,
    ManagedNDArray,
    MappedNDArray,
    _prepared_shape,
    row_major,
)
from ._managers import MappedMemory, MemoryPointer, PinnedMemory
from ._memory import of_address

__all__ = [
    "host_block", "managed_array", "managed_block", "mapped", "mapped_array", "mapped_array_like", "pinned",
    "pinned_array", "pinned_array_like", "pinned_block",
]  # fmt: skip


def _lent(cls: Any, host: int, device: int, size: int, owner: Any = None, finalizer: Any = None) -> Any:
    """Memory of both sides, a ``cls``, which NumPy takes as a buffer (before Python 3.12 those of ctypes alone are)."""
    members = {"__module__": cls.__module__, "host": property(lambda made: numpy.frombuffer(made, numpy.uint8)[:size])}
    block: Any = type(cls.__name__, (cls, ctypes.c_ubyte * max(size, 1)), members)
    made = block.from_address(host)
    cls.__init__(made, None, device, size, owner, finalizer)
    return made


def _plain(size: int, cls: type) -> Any:
    block = numpy.empty(max(size, 1), numpy.uint8)
    return _lent(cls, block.ctypes.data, block.ctypes.data, size, block)


def _driver() -> Any:
    from ..bindings import driver

    return driver


def host_block(size: int, mapped: bool = False, portable: bool = False, wc: bool = False) -> Any:
    """Page-locked memory of so many bytes; ``mapped``: the device can use it, too."""
    cls, number = MappedMemory if mapped else PinnedMemory, _core._current_device()
    if number < CUDA:
        return _plain(size, cls)
    driver = _driver()
    with in_context(number & 255):
        flags = int(portable) | int(mapped) << 1 | int(wc) << 2  # CU_MEMHOSTALLOC_*
        address = int(driver.checked.cuMemHostAlloc(max(size, 1), flags))
        device = int(driver.checked.cuMemHostGetDevicePointer(address, 0)) if mapped else address
    return _lent(cls, address, device, size, None, lambda: driver.cuMemFreeHost(address))


def pinned_block(owner: Any, pointer: int, size: int, mapped: bool = False) -> Any:
    """Memory that is there, page-locked until the result ends."""
    cls, number = MappedMemory if mapped else PinnedMemory, _core._current_device()
    if number < CUDA:
        return cls(None, pointer, size, owner)
    driver = _driver()
    with in_context(number & 255):
        driver.checked.cuMemHostRegister(pointer, size, int(mapped) << 1)
        device = int(driver.checked.cuMemHostGetDevicePointer(pointer, 0)) if mapped else pointer
    return cls(None, device, size, owner, lambda: driver.cuMemHostUnregister(pointer))


def managed_block(size: int, attach_global: bool = True) -> Any:
    """Memory that moves between host and device by itself."""
    number = _core._current_device()
    if number < CUDA:
        return _plain(size, MemoryPointer)
    driver = _driver()
    with in_context(number & 255):
        address = int(driver.checked.cuMemAllocManaged(max(size, 1), 1 if attach_global else 2))
    return _lent(MemoryPointer, address, address, size, None, lambda: driver.cuMemFree(address))


def _shaped(shape: Any, dtype: Any, strides: Any, order: str) -> tuple[Any, Any, Any, int]:
    shape, found = _prepared_shape(shape), dtype_of(dtype)
    strides = row_major(shape, found.itemsize, order) if strides is None else _prepared_shape(strides)
    span = 0 if 0 in shape else found.itemsize + sum((n - 1) * s for n, s in zip(shape, strides))
    return shape, strides, found, span


class _HostArray(numpy.ndarray):
    """A NumPy array of memory that the device uses, too: it is passed to kernels without a copy."""

    _device: Any = None

    def __array_finalize__(self, obj: Any) -> None:
        self._device = None

    @property
    def device_ctypes_pointer(self) -> Any:
        return ctypes.c_size_t(self._whole()._address)

    @property
    def __cuda_array_interface__(self) -> Any:
        return self._whole().__cuda_array_interface__

    @property
    def __tessera_argument__(self) -> Any:
        base = self._base()
        return self.view(numpy.ndarray) if base is None else self._whole().__tessera_argument__

    def _base(self) -> Any:
        """The array of the whole memory; None: of a copy, which the device does not know."""
        base: Any = self
        while base is not None and getattr(base, "_device", None) is None:
            base = base.base
        return base

    def _whole(self) -> Any:
        """The device's view of these elements."""
        base = self._base()
        if base is None:
            raise AttributeError("__cuda_array_interface__")
        if base is self:
            return self._device
        offset = self.__array_interface__["data"][0] - base.__array_interface__["data"][0]
        memory = base._device._memory.view(offset)
        return DeviceNDArray(self.shape, self.strides, self.dtype, 0, memory)


def _both(cls: type, block: Any, shape: Any, strides: Any, dtype: Any, span: int, stream: Any = 0) -> Any:
    """Memory of a block as a NumPy array that knows its device view, an array of ``cls``."""
    made = numpy.ndarray.__new__(_HostArray, shape, dtype, block.host, 0, strides)
    made._device = cls(shape, strides, dtype, stream, of_address(block.device_pointer_value, span, block))
    return made


def pinned_array(shape: Any, dtype: Any = numpy.float64, strides: Any = None, order: str = "C") -> Any:
    """A NumPy array of page-locked memory: copies from and to it need not wait."""
    shape, strides, found, span = _shaped(shape, dtype, strides, order)
    return numpy.ndarray(shape, found, host_block(span).host, 0, strides)


def mapped_array(
    shape: Any, dtype: Any = numpy.float64, strides: Any = None, order: str = "C", stream: Any = 0,
    portable: bool = False, wc: bool = False,
) -> Any:  # fmt: skip
    """A NumPy array of host memory that kernels use without a copy."""
    shape, strides, found, span = _shaped(shape, dtype, strides, order)
    return _both(MappedNDArray, host_block(span, True, portable, wc), shape, strides, found, span, stream)


def managed_array(
    shape: Any, dtype: Any = numpy.float64, strides: Any = None, order: str = "C", stream: Any = 0,
    attach_global: bool = True,
) -> Any:  # fmt: skip
    """A NumPy array whose memory moves between host and device by itself."""
    shape, strides, found, span = _shaped(shape, dtype, strides, order)
    return _both(ManagedNDArray, managed_block(span, attach_global), shape, strides, found, span, stream)


def pinned_array_like(ary: Any) -> Any:
    """A pinned array with shape, dtype and order of axes of another array."""
    shape, strides, dtype = like(ary)
    return pinned_array(shape, dtype, strides)


def mapped_array_like(ary: Any, stream: Any = 0, portable: bool = False, wc: bool = False) -> Any:
    """A mapped array with shape, dtype and order of axes of another array."""
    shape, strides, dtype = like(ary)
    return mapped_array(shape, dtype, strides, stream=stream, portable=portable, wc=wc)


def _extent(array: Any) -> tuple[int, int]:
    low, high = numpy.lib.array_utils.byte_bounds(array)
    return int(low), int(high - low)


@contextlib.contextmanager
def pinned(*arylist: Any) -> Iterator[None]:
    """NumPy arrays are page-locked in the block."""
    blocks = [pinned_block(ary, *_extent(ary)) for ary in arylist]
    yield
    del blocks


@contextlib.contextmanager
def mapped(*arylist: Any, stream: Any = 0) -> Iterator[Any]:
    """NumPy arrays as device arrays of the same memory in the block."""
    made = []
    for ary in arylist:
        address, size = _extent(ary)
        block = pinned_block(ary, address, size, mapped=True)
        memory = of_address(block.device_pointer_value, size, block)
        made.append(MappedNDArray(ary.shape, ary.strides, ary.dtype, stream, memory))
    yield made[0] if len(made) == 1 else made
