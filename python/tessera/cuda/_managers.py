# SPDX-License-Identifier: Apache-2.0
"""Memory managers of the user (RMM and its like): classes that allocate in place of Tessera's pools."""

from __future__ import annotations

import contextlib
import ctypes
import importlib
import weakref
from collections import namedtuple
from collections.abc import Iterator
from typing import Any

from . import config

__all__ = [
    "BaseCUDAMemoryManager",
    "GetIpcHandleMixin",
    "HostOnlyCUDAMemoryManager",
    "IpcHandle",
    "MappedMemory",
    "MemoryInfo",
    "MemoryPointer",
    "PinnedMemory",
    "chosen",
    "set_memory_manager",
]

MemoryInfo = namedtuple("MemoryInfo", "free total")
VERSION = 1
_state: dict[str, Any] = {}


class MemoryPointer:
    """Device memory that a memory manager made; ``finalizer`` is called when nobody uses it any more."""

    def __init__(self, context: Any, pointer: Any, size: int, owner: Any = None, finalizer: Any = None) -> None:
        self.context, self.size, self.owner = context, size, owner
        self._of: MemoryPointer | None = None
        self._views: weakref.WeakSet[MemoryPointer] = weakref.WeakSet()
        value = getattr(pointer, "value", pointer)
        self.device_pointer_value = int(value or 0)
        self.handle = self.device_pointer_value
        if finalizer is not None:
            weakref.finalize(self, finalizer)

    @property
    def device_ctypes_pointer(self) -> ctypes.c_size_t:
        return ctypes.c_size_t(self.device_pointer_value)

    device_pointer = device_ctypes_pointer
    __cuda_memory__ = True

    @property
    def refct(self) -> int:
        """How many use the memory: this and its views."""
        return 1 + len(self._views)

    def view(self, start: int, stop: int | None = None) -> MemoryPointer:
        """Part of it, by offsets in bytes; ``owner`` of the part is the memory itself."""
        stop = self.size if stop is None else stop
        if not 0 <= start <= stop <= self.size:
            raise RuntimeError(f"size cannot be negative: bytes {start} to {stop} of {self.size}")
        whole = self if self._of is None else self._of
        made = MemoryPointer(self.context, self.device_pointer_value + start, stop - start, whole)
        made._of = whole
        whole._views.add(made)
        return made

    def own(self) -> MemoryPointer:
        """The memory itself, which its users keep."""
        return self


class MappedMemory(MemoryPointer):
    """Host memory that the device can use, too."""


class PinnedMemory(MemoryPointer):
    """Page-locked host memory."""


class BaseCUDAMemoryManager:
    """Base of memory managers. All methods but ``interface_version`` are asked of subclasses."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self.context = kwargs.get("context")

    def _missing(self, what: str) -> Any:
        raise TypeError(f"{type(self).__name__} must define {what}")

    @property
    def interface_version(self) -> int:
        return int(self._missing("interface_version"))

    def initialize(self) -> None:
        """Called before the manager is used, once and again."""

    def memalloc(self, size: int) -> Any:
        """Device memory, a MemoryPointer."""
        return self._missing("memalloc(size)")

    def memhostalloc(self, size: int, mapped: bool = False, portable: bool = False, wc: bool = False) -> Any:
        """Page-locked host memory."""
        return self._missing("memhostalloc(size, mapped, portable, wc)")

    def mempin(self, owner: Any, pointer: int, size: int, mapped: bool = False) -> Any:
        """Page-locks host memory that is there."""
        return self._missing("mempin(owner, pointer, size, mapped)")

    def get_ipc_handle(self, memory: Any) -> Any:
        """What another process opens the memory with."""
        return self._missing("get_ipc_handle(memory)")

    def get_memory_info(self) -> Any:
        """A MemoryInfo."""
        return self._missing("get_memory_info()")

    def reset(self) -> None:
        """Lets everything go."""

    def defer_cleanup(self) -> Any:
        """A context in which nothing is given back."""
        return contextlib.nullcontext()


class HostOnlyCUDAMemoryManager(BaseCUDAMemoryManager):
    """Base of managers of device memory alone: host memory is Tessera's."""

    def memhostalloc(self, size: int, mapped: bool = False, portable: bool = False, wc: bool = False) -> Any:
        from ._host_memory import host_block

        return host_block(size, mapped=mapped, portable=portable, wc=wc)

    def mempin(self, owner: Any, pointer: int, size: int, mapped: bool = False) -> Any:
        from ._host_memory import pinned_block

        return pinned_block(owner, pointer, size, mapped=mapped)

    def reset(self) -> None:
        from ._memory import deallocations

        deallocations.clear()

    @contextlib.contextmanager
    def defer_cleanup(self) -> Iterator[None]:
        from ._memory import deallocations

        with deallocations.disable():
            yield


class GetIpcHandleMixin:
    """``get_ipc_handle`` by the driver, for managers whose memory it allocated."""

    def get_ipc_handle(self, memory: Any) -> Any:
        from ._ipc import handle_of_memory

        return handle_of_memory(int(memory.device_pointer_value), memory.size)


class _HandleBytes(bytes):
    """The driver's handle: 64 bytes."""

    @property
    def reserved(self) -> bytes:
        """The bytes, as the driver's struct names them."""
        return bytes(self)


class IpcHandle:
    """Memory of another process, by its handle; travels by pickle.

    Attributes
    ----------
    handle : bytes
    size : int
        Bytes, from ``offset`` on.
    """

    def __init__(self, base: Any, handle: Any, size: int, source_info: Any = None, offset: int = 0) -> None:
        self.base, self.size, self.source_info, self.offset = base, size, source_info, offset
        self.handle = _HandleBytes(getattr(handle, "reserved", handle))
        self._opened: int | None = None

    def open(self, context: Any = None) -> Any:
        """The memory. ValueError where it is open."""
        from ._ipc import opened
        from ._memory import of_address

        if self._opened is not None:
            raise ValueError("IpcHandle is already opened; close() it first")
        self._opened = opened(self.handle)
        return of_address(self._opened + self.offset, self.size, self)

    def open_array(self, context: Any, shape: Any, dtype: Any, strides: Any = None) -> Any:
        """The memory as a device array."""
        import numpy

        from ._device_array import DeviceNDArray, _prepared_shape, row_major

        extents, found = _prepared_shape(shape), numpy.dtype(dtype)
        strides = row_major(extents, found.itemsize) if strides is None else strides
        return DeviceNDArray(extents, strides, found, gpu_data=self.open(context))

    def close(self) -> None:
        """Closes what ``open`` opened."""
        from ._ipc import closed

        if self._opened is None:
            raise ValueError("IpcHandle not opened")
        address, self._opened = self._opened, None
        closed(address)

    def __reduce__(self) -> Any:
        return IpcHandle, (None, bytes(self.handle), self.size, self.source_info, self.offset)


class _Builtin(BaseCUDAMemoryManager):
    """What a context says of Tessera's own memory."""

    interface_version = VERSION

    @property
    def deallocations(self) -> Any:
        from ._memory import deallocations

        return deallocations

    def get_memory_info(self) -> Any:
        from ._memory import memory_info

        return MemoryInfo(*memory_info())

    def memalloc(self, size: int) -> Any:
        from ._memory import allocate

        return allocate(size, shared=True)

    def reset(self) -> None:
        self.deallocations.clear()


builtin = _Builtin()


def set_memory_manager(manager: Any) -> None:
    """Takes device memory from another manager from now on: a class with ``interface_version`` 1. None: Tessera's.

    Raises
    ------
    RuntimeError
        It has another version of the interface.
    """
    if manager is None:
        _state["class"] = _state["made"] = None
        return
    made = manager(context=None)
    if made.interface_version != VERSION:
        raise RuntimeError(
            f"EMM Plugin interface has version {made.interface_version} but version {VERSION} required"
        )
    _state["class"], _state["made"] = manager, None


def renew(manager: Any) -> None:
    """Takes another object as the manager; None: one of the same class is made when it is needed."""
    if manager is None:
        _state["made"] = None
        return
    own = manager is builtin
    _state["class"], _state["made"] = (None, None) if own else (type(manager), manager)
    if not own:
        manager.initialize()


def chosen() -> Any:
    """The user's manager, ready for use; None: there is none."""
    if "class" not in _state:
        _state["class"] = _state["made"] = None
        name = config.CUDA_MEMORY_MANAGER
        if name not in ("", "default"):
            set_memory_manager(importlib.import_module(name)._numba_memory_manager)
    if _state["class"] is not None and _state["made"] is None:
        made: Any
        from ._devices import current_context

        made = _state["made"] = _state["class"](context=current_context())
        made.initialize()
    return _state["made"] if _state["class"] is not None else None
