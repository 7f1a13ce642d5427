# SPDX-License-Identifier: Apache-2.0
"""Memory and events between processes: pools by file descriptor, buffers and events by 64 bytes.

What multiprocessing pickles takes the pool's file descriptor along, so that a resource, or a buffer
with its resource, can be opened where it is read; there the resource is registered by its UUID.
Other pickles hold only that UUID. What is unpickled is trusted as pickles are.
"""

from __future__ import annotations

import os
import threading
import uuid
import warnings
import weakref
from typing import TYPE_CHECKING, Any

from ...bindings import driver
from .._errors import no_constructor
from .._place import CUDA, in_context

if TYPE_CHECKING:
    from collections.abc import Callable

    from .._event import Event, IPCEventDescriptor
    from ._buffer import Buffer

__all__ = ["IPCAllocationHandle", "IPCBufferDescriptor"]

_BYTES = 64  # of CUmemPoolPtrExportData and of CUipcEventHandle
# Resources by the name that processes share, and memory of other processes by what it was opened
# with, while they live.
_registry: weakref.WeakValueDictionary[uuid.UUID, Any] = weakref.WeakValueDictionary()
_opened: weakref.WeakValueDictionary[bytes, _Opened] = weakref.WeakValueDictionary()
_lock = threading.RLock()  # queues pickle in threads of their own
# By id of a buffer of another process: what it is sent on by. A queue may pickle it when it is
# closed here already, which does not end the memory.
_sendable: dict[int, tuple[weakref.ref[Buffer], tuple[Any, IPCBufferDescriptor]]] = {}


class IPCBufferDescriptor:
    """A buffer as another process can open it. Made by ``Buffer.ipc_descriptor``; travels by
    pickle."""

    __slots__ = ("_payload", "_size")

    def __init__(self, *args: object, **kwargs: object) -> None:
        no_constructor("IPCBufferDescriptor", "Buffer.ipc_descriptor")

    @classmethod
    def _init(cls, payload: bytes, size: int) -> IPCBufferDescriptor:
        self = object.__new__(cls)
        self._payload, self._size = payload, size
        return self

    @property
    def size(self) -> int:
        """Bytes of the buffer."""
        return self._size

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, IPCBufferDescriptor):
            return NotImplemented
        return (self._payload, self._size) == (other._payload, other._size)

    def __hash__(self) -> int:
        return hash((self._payload, self._size))

    def __reduce__(self) -> tuple[Any, ...]:
        return IPCBufferDescriptor._init, (self._payload, self._size)


class IPCAllocationHandle:
    """A pool as another process can open it: a file descriptor, which this object owns, and a
    UUID."""

    __slots__ = ("__weakref__", "_handle", "_uuid")
    _handle: int
    _uuid: uuid.UUID | None

    def __init__(self, *args: object, **kwargs: object) -> None:
        no_constructor("IPCAllocationHandle", "MemoryResource.allocation_handle")

    @classmethod
    def _init(cls, handle: int, uuid: uuid.UUID | None) -> IPCAllocationHandle:
        if handle < 0:
            raise ValueError(f"Invalid allocation handle (fd) {handle}: must be non-negative")
        self = object.__new__(cls)
        self._handle, self._uuid = handle, uuid
        return self

    @property
    def handle(self) -> int:
        """The file descriptor; -1 when closed."""
        return self._handle

    @property
    def uuid(self) -> uuid.UUID | None:
        """What the processes call the pool."""
        return self._uuid

    def close(self) -> None:
        """Closes the file descriptor."""
        handle, self._handle = self._handle, -1
        if handle >= 0:
            os.close(handle)

    def __int__(self) -> int:
        return self._handle

    def __del__(self) -> None:
        if getattr(self, "_handle", -1) >= 0 and os is not None:
            self.close()

    def __reduce__(self) -> tuple[Any, ...]:
        from multiprocessing.reduction import DupFd

        warn_of_fork()
        return _handle_from, (DupFd(self._handle), self._uuid)


def _handle_from(duplicate: Any, name: uuid.UUID | None) -> IPCAllocationHandle:
    return IPCAllocationHandle._init(duplicate.detach(), name)


def warn_of_fork() -> None:
    """The driver does not work in children of fork(): said where objects are made ready to be
    sent."""
    import multiprocessing

    if multiprocessing.get_start_method(allow_none=True) == "fork":
        warnings.warn(
            "objects of a GPU are sent to a process started by fork, which leads to undefined behavior of the "
            "driver; call multiprocessing.set_start_method('spawn')",
            UserWarning,
            stacklevel=4,
        )


# ---- pools


def export_pool(resource: Any) -> IPCAllocationHandle:
    """The handle of an IPC-enabled pool, made once."""
    with _lock:
        if resource._exported is None:
            resource._exported = _new_handle(resource)
    return resource._exported  # type: ignore[no-any-return]


def _new_handle(resource: Any) -> IPCAllocationHandle:
    if not resource.is_ipc_enabled:
        raise RuntimeError("Memory resource is not IPC-enabled; make it with ipc_enabled=True")
    kind = driver.CUmemAllocationHandleType.CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR
    fd = driver.checked.cuMemPoolExportToShareableHandle(resource._handle, kind, 0)
    name = uuid.uuid4()
    register(resource, name)
    return IPCAllocationHandle._init(int(fd), name)


def import_pool(cls: type, handle: Any, make: Callable[[int], Any]) -> Any:
    """The resource that is registered for the handle, else what `make` makes of the pool."""
    name = getattr(handle, "uuid", None)
    with _lock:
        known = _registry.get(name) if name is not None else None
        if known is not None and not isinstance(known, cls):
            raise TypeError(f"{name} is a {type(known).__name__} here, not a {cls.__name__}")
        if known is not None:
            return known
        kind = driver.CUmemAllocationHandleType.CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR
        driver.checked.cuInit(0)
        made = make(int(driver.checked.cuMemPoolImportFromShareableHandle(int(handle), kind, 0)))
        name = name or uuid.uuid4()
        made._exported = IPCAllocationHandle._init(os.dup(int(handle)), name)  # to send it on
        return register(made, name)


def register(resource: Any, name: uuid.UUID) -> Any:
    """Makes a resource known by a name; gives the one that is known."""
    known = _registry.setdefault(name, resource)
    if known is resource:
        if resource._uuid is not None and resource._uuid != name:
            raise ValueError(f"the resource is registered as {resource._uuid} already")
        resource._uuid = name
    return known


def registered(name: uuid.UUID) -> Any:
    """The resource known by a name."""
    known = _registry.get(name)
    if known is None:
        raise RuntimeError(f"Memory resource {name} was not found; send it to this process first")
    return known


def reduce_pool(resource: Any) -> tuple[Any, ...]:
    """How any pickle holds a resource: by its name."""
    if not resource.is_ipc_enabled:
        raise RuntimeError("Memory resource is not IPC-enabled and cannot be pickled")
    export_pool(resource)
    return registered, (resource.uuid,)


def send_with_handle(cls: type) -> None:
    """Makes multiprocessing take the pools of a class along with their handles."""
    from multiprocessing.reduction import register as register_reducer

    register_reducer(cls, _reduce_with_handle)


def _reduce_with_handle(resource: Any) -> tuple[Any, ...]:
    if not resource.is_ipc_enabled:
        return reduce_pool(resource)
    return _resource_from, (type(resource), resource.device_id, resource.allocation_handle)


def _resource_from(cls: Any, number: int, handle: IPCAllocationHandle) -> Any:
    return cls.from_allocation_handle(*([number] if number >= 0 else []), handle)


# ---- buffers


def describe_buffer(buffer: Buffer) -> IPCBufferDescriptor:
    """``Buffer.ipc_descriptor``."""
    if not getattr(buffer.memory_resource, "is_ipc_enabled", False):
        raise RuntimeError("Memory resource is not IPC-enabled; make it with ipc_enabled=True")
    if isinstance(buffer.owner, _Opened):
        return IPCBufferDescriptor._init(buffer.owner.payload, buffer.size)
    export_pool(buffer.memory_resource)  # the pool before what is in it
    data = driver.checked.cuMemPoolExportPointer(buffer.handle)
    return IPCBufferDescriptor._init(bytes(memoryview(data))[:_BYTES], buffer.size)


def open_buffer(
    cls: type[Buffer], resource: Any, descriptor: IPCBufferDescriptor, stream: Any
) -> Buffer:
    """``Buffer.from_ipc_descriptor``."""
    if not getattr(resource, "is_ipc_enabled", False):
        raise RuntimeError("Memory resource is not IPC-enabled; make it with ipc_enabled=True")
    if not isinstance(descriptor, IPCBufferDescriptor):
        raise TypeError(
            "Argument 'ipc_descriptor' has incorrect type: an IPCBufferDescriptor is needed, "
            f"not a {type(descriptor).__name__}"
        )
    payload = descriptor._payload
    if len(payload) < _BYTES:
        raise ValueError(
            f"the descriptor's payload is {len(payload)} bytes; expected at least {_BYTES}"
        )
    owner = _open(resource, payload[:_BYTES], stream)
    if descriptor.size > owner.extent:
        raise ValueError(
            f"the descriptor's size of {descriptor.size} bytes exceeds the mapped allocation extent of {owner.extent}"
        )
    made = resource._adopt(owner.address, descriptor.size, owner)
    if stream is not None:
        made._set_order(stream)
    key = id(made)
    forget = weakref.ref(made, lambda _: _sendable.pop(key, None))
    _sendable[key] = forget, (resource, descriptor)
    return made  # type: ignore[no-any-return]


class _Opened:
    """Memory of another process. The driver opens it once in a process, so that all buffers of it
    share this."""

    __slots__ = ("__weakref__", "address", "buffer", "extent", "payload")

    def __init__(self, resource: Any, payload: bytes, stream: Any) -> None:
        self.payload, data = payload, driver.CUmemPoolPtrExportData()
        memoryview(data)[:] = payload
        self.address = int(driver.checked.cuMemPoolImportPointer(resource._handle, data))
        attribute = driver.CUpointer_attribute.CU_POINTER_ATTRIBUTE_RANGE_SIZE
        self.extent = int(driver.checked.cuPointerGetAttribute(attribute, self.address))
        self.buffer = resource._adopt(self.address, self.extent, None)  # frees it
        if stream is not None:
            self.buffer._set_order(stream)


def _open(resource: Any, payload: bytes, stream: Any) -> _Opened:
    with _lock:
        found = _opened.get(payload)
        if found is None:
            found = _opened[payload] = _Opened(resource, payload, stream)
        return found


def reduce_buffer(buffer: Buffer) -> tuple[Any, ...]:
    """How a buffer is pickled: with its resource, which comes first."""
    warn_of_fork()
    known = _sendable.get(id(buffer))
    return _buffer_from, known[1] if known else (buffer.memory_resource, describe_buffer(buffer))


def _buffer_from(resource: Any, descriptor: IPCBufferDescriptor) -> Buffer:
    from .._stream import default_stream
    from ._buffer import Buffer

    return open_buffer(Buffer, resource, descriptor, default_stream())


# ---- events


# Events of other processes that are open, with what they were opened by.
_events: weakref.WeakKeyDictionary[Event, IPCEventDescriptor] = weakref.WeakKeyDictionary()


def is_of_another_process(event: Event) -> bool:
    """Whether the event was opened by a descriptor."""
    return event in _events


def describe_event(event: Event) -> IPCEventDescriptor:
    """``Event.ipc_descriptor``."""
    from .._event import IPCEventDescriptor

    known = _events.get(event)
    if known is not None:
        return known
    # The thread of a queue, which has no context, may ask.
    with in_context(event._device & 0xFF):
        handle = driver.checked.cuIpcGetEventHandle(event._address)
    return IPCEventDescriptor._init(bytes(memoryview(handle))[:_BYTES], event.is_blocking_sync)


def open_event(cls: type[Event], descriptor: IPCEventDescriptor) -> Event:
    """``Event.from_ipc_descriptor``."""
    from .._device import Device

    reserved = descriptor._reserved
    if len(reserved) < _BYTES:
        raise ValueError(
            f"the descriptor's reserved field is {len(reserved)} bytes; expected at least {_BYTES}"
        )
    device = Device()
    ordinal = device._gpu("events of other processes")
    handle = driver.CUipcEventHandle()
    memoryview(handle)[:] = reserved[:_BYTES]
    with in_context(ordinal):
        opened = driver.checked.cuIpcOpenEventHandle(handle)
    flags = 2 | 4 | bool(descriptor._is_blocking_sync)
    made = cls._adopt(CUDA | ordinal, int(opened), flags)
    _events[made] = descriptor
    return made
