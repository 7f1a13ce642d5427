# SPDX-License-Identifier: Apache-2.0
"""Memory of the device, and memory of the host that the device can reach."""

from __future__ import annotations

import gc
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ..bindings import driver
from ._call import LogicError, MemoryError, cu  # noqa: A004
from ._context import Context, Owner, stream_handle

__all__ = [
    "AlignedHostAllocation", "DeviceAllocation", "HostAllocation", "HostPointer",
    "IPCMemoryHandle", "ManagedAllocation", "PagelockedHostAllocation", "PointerHolderBase",
    "RegisteredHostMemory", "aligned_empty", "aligned_empty_like", "aligned_zeros",
    "aligned_zeros_like", "contiguous_strides", "host_span", "managed_empty", "managed_empty_like", "managed_zeros",
    "managed_zeros_like", "mem_alloc", "mem_alloc_like", "mem_alloc_pitch", "mem_get_info",
    "mem_get_ipc_handle", "pagelocked_empty", "pagelocked_empty_like", "pagelocked_zeros",
    "pagelocked_zeros_like", "register_host_memory", "with_collection",
]  # fmt: skip


def with_collection(allocate: Callable[..., Any], *args: Any) -> Any:
    """Tries once more after Python's garbage collection when memory is short."""
    try:
        return allocate(*args)
    except MemoryError:
        gc.collect()
        return allocate(*args)


def mem_get_info() -> tuple[int, int]:
    """(free, total) bytes of the current device."""
    free, total = cu.cuMemGetInfo()
    return int(free), int(total)


# ---- the device ----------------------------------------------------------------------------------


def _view(address: int, size: int) -> memoryview:
    import ctypes

    return memoryview((ctypes.c_char * size).from_address(address)).cast("B")


class PointerHolderBase:
    """Base for classes that own device memory of their own kind: define ``get_pointer``."""

    def get_pointer(self) -> int:
        """The address."""
        raise NotImplementedError(f"{type(self).__name__} must define get_pointer()")

    @property
    def gpudata(self) -> int:
        """The address."""
        return self.get_pointer()

    def as_buffer(self, size: int, offset: int = 0) -> memoryview:
        """The memory as a Python buffer; only for addresses that the host can reach."""
        return _view(int(self) + offset, size)

    def __int__(self) -> int:
        return int(self.get_pointer())

    __index__ = __int__


class DeviceAllocation(Owner, PointerHolderBase):
    """Device memory; freed with the object, or by ``free()``."""

    def __init__(self, address: int, context: Context | None = None) -> None:
        self._address, self._context = int(address), context or Context.get_current()

    def get_pointer(self) -> int:
        """The address; an error after ``free()``."""
        if self._address == 0:
            raise LogicError("this memory was freed")
        return self._address

    def _end(self, address: int) -> None:
        cu.cuMemFree(address)

    def free(self) -> None:
        """Gives the memory back."""
        self._release()


def mem_alloc(bytes: int) -> DeviceAllocation:  # noqa: A002
    """Device memory of so many bytes."""
    return DeviceAllocation(with_collection(cu.cuMemAlloc, int(bytes)))


def mem_alloc_like(ary: Any) -> DeviceAllocation:
    """Device memory of an array's size."""
    return mem_alloc(ary.nbytes)


def mem_alloc_pitch(width: int, height: int, access_size: int) -> tuple[DeviceAllocation, int]:
    """(memory, bytes from row to row) of rows of `width` bytes that are aligned for the GPU."""
    address, pitch = with_collection(cu.cuMemAllocPitch, width, height, access_size)
    return DeviceAllocation(address), int(pitch)


def mem_get_ipc_handle(devptr: Any) -> bytes:
    """What another process opens with ``IPCMemoryHandle``."""
    return bytes(memoryview(cu.cuIpcGetMemHandle(int(devptr))))


class IPCMemoryHandle(DeviceAllocation):
    """Device memory of another process."""

    def __init__(self, handle: bytes, flags: int = 1) -> None:
        record = driver.CUipcMemHandle()
        memoryview(record)[:] = handle
        super().__init__(cu.cuIpcOpenMemHandle(record, int(flags)))

    def _end(self, address: int) -> None:
        cu.cuIpcCloseMemHandle(address)

    close = DeviceAllocation.free


# ---- the host ------------------------------------------------------------------------------------


def host_span(obj: Any, writable: bool = False) -> tuple[int, int]:
    """(address, bytes) of an array or buffer, which must be contiguous in some order of its axes."""
    array = obj if isinstance(obj, np.ndarray) else _as_array(obj)
    if writable and not array.flags.writeable:
        raise ValueError("the copy's destination is read-only")
    if not (array.flags.c_contiguous or array.flags.f_contiguous) and not _is_dense(array):
        raise ValueError(
            f"an array of shape {array.shape} and strides {array.strides} is not contiguous; "
            "copy it first"
        )
    return array.__array_interface__["data"][0], array.nbytes


def _as_array(obj: Any) -> np.ndarray[Any, Any]:
    try:
        return np.frombuffer(obj, np.uint8)
    except (TypeError, ValueError, BufferError):
        return np.asarray(obj)


def _is_dense(array: np.ndarray[Any, Any]) -> bool:
    step = array.itemsize
    for stride, n in sorted(zip(array.strides, array.shape, strict=True)):
        if n != 1 and stride != step:
            return array.size == 0
        step *= n
    return True


def contiguous_strides(shape: tuple[int, ...], itemsize: int, order: str) -> tuple[int, ...]:
    """Strides in bytes of a contiguous array."""
    steps, step = [], itemsize
    for n in shape if order == "F" else reversed(shape):
        steps.append(step)
        step *= max(1, n)
    return tuple(steps if order == "F" else reversed(steps))


class HostPointer(Owner):
    """Base of host memory that arrays are made of; the array's ``base`` is this object."""

    def __init__(self, address: int, owner: Any = None) -> None:
        self._address, self._owner = address, owner
        self._context = Context.get_current()
        self.__array_interface__: dict[str, Any] = {}

    def get_device_pointer(self) -> int:
        """The address under which the device sees it."""
        return int(cu.cuMemHostGetDevicePointer(self._address, 0))

    def _array(self, shape: Any, dtype: Any, order: str) -> np.ndarray[Any, Any]:
        self.__array_interface__ = {
            "version": 3, "shape": shape, "typestr": dtype.str, "descr": dtype.descr,
            "strides": contiguous_strides(shape, dtype.itemsize, order),
            "data": (self._address, False),
        }  # fmt: skip
        array = np.asarray(self)
        return array if array.dtype == dtype else array.view(dtype)

    def free(self) -> None:
        """Gives the memory back; the array must not be used any more."""
        self._release()


class HostAllocation(HostPointer):
    """Host memory that belongs to the object."""


class PagelockedHostAllocation(HostAllocation):
    """Page-locked host memory."""

    def _end(self, address: int) -> None:
        cu.cuMemFreeHost(address)

    def get_flags(self) -> int:
        """The ``host_alloc_flags`` it was made with."""
        return int(cu.cuMemHostGetFlags(self._address))


class AlignedHostAllocation(HostAllocation):
    """Ordinary host memory that begins at a page."""


class ManagedAllocation(HostAllocation):
    """Memory that host and device both reach at the same address."""

    def get_device_pointer(self) -> int:
        """The address."""
        return self._address

    def attach(self, mem_flags: int, stream: Any = None) -> None:
        """Restricts who uses it to the host or one stream; see ``mem_attach_flags``."""
        cu.cuStreamAttachMemAsync(stream_handle(stream), self._address, 0, int(mem_flags))

    def _end(self, address: int) -> None:
        cu.cuMemFree(address)


class RegisteredHostMemory(HostPointer):
    """Memory of an array that was locked later; ``base`` is that array."""

    @property
    def base(self) -> Any:
        """The array that owns the memory."""
        return self._owner

    def unregister(self) -> None:
        """Unlocks it; the array stays usable."""
        self.free()

    def _end(self, address: int) -> None:
        cu.cuMemHostUnregister(address)


def register_host_memory(ary: Any, flags: int = 0) -> np.ndarray[Any, Any]:
    """Locks the pages of an array; gives an array of the same memory, unlocked when it ends."""
    address, size = host_span(ary)
    cu.cuMemHostRegister(address, size, int(flags))
    return RegisteredHostMemory(address, ary)._array(ary.shape, ary.dtype, _order(ary))


def _order(array: Any) -> str:
    return "F" if array.flags.f_contiguous and not array.flags.c_contiguous else "C"


def _locked(size: int, flags: int) -> HostPointer:
    return PagelockedHostAllocation(int(with_collection(cu.cuMemHostAlloc, size, int(flags))))


def _managed(size: int, flags: int) -> HostPointer:
    # No flags is no valid choice; 1 is CU_MEM_ATTACH_GLOBAL.
    return ManagedAllocation(int(with_collection(cu.cuMemAllocManaged, size, int(flags) or 1)))


def _aligned(size: int, alignment: int) -> HostPointer:
    block = np.empty(size + alignment, np.uint8)
    address = block.__array_interface__["data"][0]
    return AlignedHostAllocation(address + -address % alignment, block)


def _shape(shape: Any) -> tuple[int, ...]:
    return tuple(int(n) for n in shape) if np.ndim(shape) else (int(shape),)


class _Kind:
    """The four functions of one kind of host memory; `option` is the keyword they have."""

    def __init__(self, make: Callable[[int, int], HostPointer], option: str, default: int) -> None:
        self.make, self.option, self.default = make, option, default

    def empty(
        self, shape: Any, dtype: Any, order: str = "C", option: int | None = None, **named: int
    ) -> Any:
        """An array whose values are whatever was there."""
        if set(named) - {self.option}:
            raise TypeError(f"the argument is called {self.option}, not {', '.join(named)}")
        value = named.get(self.option, self.default if option is None else option)
        dims, dtype = _shape(shape), np.dtype(dtype)
        size = math.prod(dims) * dtype.itemsize
        return self.make(max(1, size), value)._array(dims, dtype, order)

    def zeros(self, shape: Any, dtype: Any, order: str = "C", *option: Any, **named: Any) -> Any:
        """An array of zeros."""
        array = self.empty(shape, dtype, order, *option, **named)
        array.fill(0)
        return array

    def empty_like(self, array: Any, *option: Any, **named: Any) -> Any:
        """``empty`` of the form of an array."""
        return self.empty(array.shape, array.dtype, _order(array), *option, **named)

    def zeros_like(self, array: Any, *option: Any, **named: Any) -> Any:
        """``zeros`` of the form of an array."""
        return self.zeros(array.shape, array.dtype, _order(array), *option, **named)


def _functions(kind: _Kind) -> tuple[Callable[..., Any], ...]:
    return kind.empty, kind.zeros, kind.empty_like, kind.zeros_like


pagelocked_empty, pagelocked_zeros, pagelocked_empty_like, pagelocked_zeros_like = _functions(
    _Kind(_locked, "mem_flags", 0)
)
managed_empty, managed_zeros, managed_empty_like, managed_zeros_like = _functions(
    _Kind(_managed, "mem_flags", 1)  # CU_MEM_ATTACH_GLOBAL
)
aligned_empty, aligned_zeros, aligned_empty_like, aligned_zeros_like = _functions(
    _Kind(_aligned, "alignment", 4096)
)
