# SPDX-License-Identifier: Apache-2.0
"""Devices, contexts, streams and events.

``Device.retain_primary_context`` and ``tools.make_default_context`` give the device's primary
context, the one that every other library in the process uses. It is held until the process ends;
``detach`` of it only leaves it. ``Device.make_context`` makes one of its own, as the driver does.
"""

from __future__ import annotations

import contextlib
import weakref
from collections.abc import Iterator
from typing import Any, ClassVar

from ..bindings import driver
from ._call import LogicError, RuntimeError, cu  # noqa: A004
from ._enums import names

__all__ = [
    "Context", "Device", "Event", "Stream", "get_driver_version", "get_version", "init",
    "stream_handle",
]  # fmt: skip


def init(flags: int = 0) -> None:
    """Starts the driver; must be the first call of a program that does not import ``autoinit``."""
    cu.cuInit(flags)


def get_version() -> tuple[int, int, int]:
    """The CUDA version this package knows: (13, 0, 0)."""
    version = driver.CUDA_VERSION
    return version // 1000, version % 1000 // 10, version % 10


def get_driver_version() -> int:
    """The CUDA version that the installed driver supports, as 13000."""
    return int(cu.cuDriverGetVersion())


class Device:
    """A GPU by number or PCI bus id. Attributes can be asked for by their lower-case names."""

    def __init__(self, number: int | str) -> None:
        by_bus = isinstance(number, str)
        handle = cu.cuDeviceGetByPCIBusId(number) if by_bus else cu.cuDeviceGet(number)
        self._number = int(handle)

    @staticmethod
    def count() -> int:
        """How many GPUs there are."""
        return int(cu.cuDeviceGetCount())

    def name(self) -> str:
        """As ``"NVIDIA H200"``."""
        return cu.cuDeviceGetName(256, self._number).split(b"\0")[0].decode()  # type: ignore[no-any-return]

    def pci_bus_id(self) -> str:
        """As ``"0000:1a:00.0"``."""
        return cu.cuDeviceGetPCIBusId(64, self._number).split(b"\0")[0].decode()  # type: ignore[no-any-return]

    def compute_capability(self) -> tuple[int, int]:
        """(major, minor)."""
        attribute = names["device_attribute"]
        words = (attribute.COMPUTE_CAPABILITY_MAJOR, attribute.COMPUTE_CAPABILITY_MINOR)
        major, minor = (self.get_attribute(word) for word in words)
        return major, minor

    def total_memory(self) -> int:
        """Bytes."""
        return int(cu.cuDeviceTotalMem(self._number))

    def get_attribute(self, attr: Any) -> int:
        """The value of a ``device_attribute``."""
        return int(cu.cuDeviceGetAttribute(attr, self._number))

    def get_attributes(self) -> dict[Any, int]:
        """Every attribute that the driver answers."""
        found = {}
        for member in names["device_attribute"].names.values():
            status, value = driver.cuDeviceGetAttribute(member, self._number)
            if not status:
                found[member] = value
        return found

    def make_context(self, flags: int = 0) -> Context:
        """A new context, made current. Other libraries do not see what is in it."""
        handle = int(cu.cuCtxCreate(None, int(flags), self._number))
        return Context(handle, self)

    def retain_primary_context(self) -> Context:
        """The context that all libraries share; it is not made current."""
        handle = _primary.get(self._number)
        if handle is None:
            handle = _primary[self._number] = int(cu.cuDevicePrimaryCtxRetain(self._number))
        return Context._of(handle, self, is_primary=True)

    def can_access_peer(self, dev: Device) -> bool:
        """Whether this GPU reads the memory of the other."""
        return bool(cu.cuDeviceCanAccessPeer(self._number, dev._number))

    def __getattr__(self, name: str) -> int:
        if name.startswith("_"):
            raise AttributeError(name)
        return self.get_attribute(getattr(names["device_attribute"], name.upper()))

    def __hash__(self) -> int:
        return hash(self._number)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Device) and self._number == other._number

    def __int__(self) -> int:
        return self._number

    def __repr__(self) -> str:
        return f"<Device {self._number}>"


_primary: dict[int, int] = {}  # device -> its primary context, retained once a process


class Context:
    """A context of a device. Its current one is per thread; ``push`` and ``pop`` change it."""

    _known: ClassVar[weakref.WeakValueDictionary[int, Context]] = weakref.WeakValueDictionary()

    def __init__(self, handle: int, device: Device, is_primary: bool = False) -> None:
        self.handle, self._device, self._is_primary = handle, device, is_primary
        self._is_alive = True
        self._cache: dict[Any, Any] = {}  # of tools.context_dependent_memoize
        self._compiled: weakref.WeakKeyDictionary[Any, dict[Any, Any]] = weakref.WeakKeyDictionary()
        Context._known[handle] = self
        if is_primary:
            _kept[handle] = self

    @classmethod
    def _of(cls, handle: int, device: Device | None = None, is_primary: bool = False) -> Context:
        known = cls._known.get(handle)
        return known or cls(handle, device or Device(int(cu.cuCtxGetDevice())), is_primary)

    @classmethod
    def get_current(cls) -> Context:
        """The current context of this thread, whoever made it."""
        handle = int(cu.cuCtxGetCurrent())
        if not handle:
            raise LogicError(
                "no context is current in this thread: import pycuda.autoinit, or push one"
            )
        known = cls._known.get(handle)
        if known is None:
            # A context made by another library: held, so that its kernels are compiled once.
            known = _kept[handle] = cls._of(handle)
        return known

    def push(self) -> None:
        """Makes it current."""
        cu.cuCtxPushCurrent(self.handle)

    @staticmethod
    def pop() -> None:
        """Back to the context that was current before."""
        cu.cuCtxPopCurrent()

    def detach(self) -> None:
        """Leaves the context; one made by ``make_context`` ends, with all that is in it."""
        if int(cu.cuCtxGetCurrent()) == self.handle:
            self.pop()
        if not self._is_primary and self._is_alive:
            self._cache.clear()
            self._compiled.clear()
            self._is_alive = False
            Context._known.pop(self.handle, None)
            cu.cuCtxDestroy(self.handle)

    @staticmethod
    def get_device() -> Device:
        """The device of the current context."""
        return Device(int(cu.cuCtxGetDevice()))

    @staticmethod
    def synchronize() -> None:
        """Waits for all work of the current context."""
        cu.cuCtxSynchronize()

    @staticmethod
    def set_limit(limit: Any, value: int) -> None:
        """Sets a ``driver.limit``."""
        cu.cuCtxSetLimit(limit, value)

    @staticmethod
    def get_limit(limit: Any) -> int:
        """The value of a ``driver.limit``."""
        return int(cu.cuCtxGetLimit(limit))

    @staticmethod
    def set_cache_config(cc: Any) -> None:
        """Prefers L1 or shared memory."""
        cu.cuCtxSetCacheConfig(cc)

    @staticmethod
    def get_cache_config() -> Any:
        """A ``func_cache``."""
        return cu.cuCtxGetCacheConfig()

    @staticmethod
    def set_shared_config(sc: Any) -> None:
        """Sets the width of shared-memory banks."""
        cu.cuCtxSetSharedMemConfig(sc)

    @staticmethod
    def get_shared_config() -> Any:
        """A ``shared_config``."""
        return cu.cuCtxGetSharedMemConfig()

    def get_api_version(self) -> int:
        """The version of the context's interface."""
        return int(cu.cuCtxGetApiVersion(self.handle))

    def enable_peer_access(self, peer: Context, flags: int = 0) -> None:
        """Lets the current context read the memory of another."""
        cu.cuCtxEnablePeerAccess(peer.handle, flags)

    def disable_peer_access(self, peer: Context, flags: int = 0) -> None:
        """Ends ``enable_peer_access``."""
        del flags
        cu.cuCtxDisablePeerAccess(peer.handle)

    @contextlib.contextmanager
    def _current(self) -> Iterator[bool]:
        """Current inside; gives whether there is still something to do in it."""
        if not self._is_alive:
            yield False
            return
        is_other = int(cu.cuCtxGetCurrent()) != self.handle
        if is_other:
            self.push()
        try:
            yield True
        finally:
            if is_other:
                self.pop()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Context) and self.handle == other.handle

    def __hash__(self) -> int:
        return hash(self.handle)


_kept: dict[int, Context] = {}  # contexts that others end


class Owner:
    """Ends what it owns with itself, in its context, unless that has ended before."""

    _held = "_address"  # the attribute that holds it; 0: nothing
    _context: Context

    def _end(self, handle: int) -> None:
        """Gives the handle back to the driver."""

    def _release(self) -> None:
        """Ends what is owned. Again does nothing."""
        handle = getattr(self, self._held)
        setattr(self, self._held, 0)
        if handle:
            with self._context._current() as is_alive:
                if is_alive:
                    self._end(handle)

    def __del__(self) -> None:
        with contextlib.suppress(Exception):  # at exit the driver may be gone before the object
            self._release()


class _Owned(Owner):
    """A handle that ends with the object, in the context it was made in."""

    _held = "handle"
    _call = ""  # name of the driver's function that ends it

    def _end(self, handle: int) -> None:
        getattr(cu, self._call)(handle)

    def __init__(self, handle: int) -> None:
        self.handle, self._context = handle, Context.get_current()

    def __int__(self) -> int:
        return self.handle

    __index__ = __int__

    def __hash__(self) -> int:
        return hash(self.handle)

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and int(self) == int(other)


class Stream(_Owned):
    """A queue of work on the device. ``Stream()`` waits for the default stream and it for this."""

    _call = "cuStreamDestroy"

    def __init__(self, flags: int = 0) -> None:
        super().__init__(int(cu.cuStreamCreate(int(flags))))

    def synchronize(self) -> None:
        """Waits until all work in it is done."""
        cu.cuStreamSynchronize(self.handle)

    def is_done(self) -> bool:
        """Whether all work in it is done."""
        return _is_ready("cuStreamQuery", self.handle)

    def wait_for_event(self, evt: Event) -> None:
        """What comes later waits for the event."""
        cu.cuStreamWaitEvent(self.handle, evt.handle, 0)

    def __cuda_stream__(self) -> tuple[int, int]:
        """The stream protocol: version and address."""
        return 0, self.handle


def stream_handle(stream: Any) -> int:
    """The driver's number of a stream: of this package, of another one, or None for the default."""
    if stream is None:
        return 0
    protocol = getattr(stream, "__cuda_stream__", None)
    return int(protocol()[1] if protocol else stream)


def _is_ready(function: str, handle: int) -> bool:
    try:
        getattr(cu, function)(handle)
    except RuntimeError as error:
        if error.code != driver.CUresult.CUDA_ERROR_NOT_READY:
            raise
        return False
    return True


class Event(_Owned):
    """A moment in a stream."""

    _call = "cuEventDestroy"

    def __init__(self, flags: int = 0) -> None:
        super().__init__(int(cu.cuEventCreate(int(flags))))

    def record(self, stream: Stream | None = None) -> Event:
        """The moment when the work given to the stream so far is done."""
        cu.cuEventRecord(self.handle, stream_handle(stream))
        return self

    def synchronize(self) -> Event:
        """Waits for the moment."""
        cu.cuEventSynchronize(self.handle)
        return self

    def query(self) -> bool:
        """Whether it has come."""
        return _is_ready("cuEventQuery", self.handle)

    def time_since(self, event: Event) -> float:
        """Milliseconds from another event to this one."""
        return float(cu.cuEventElapsedTime(event.handle, self.handle))

    def time_till(self, event: Event) -> float:
        """Milliseconds from this event to another one."""
        return event.time_since(self)

    def ipc_handle(self) -> bytes:
        """What another process opens with ``from_ipc_handle``."""
        return bytes(memoryview(cu.cuIpcGetEventHandle(self.handle)))

    @staticmethod
    def from_ipc_handle(handle: bytes) -> Event:
        """The event of another process."""
        record = driver.CUipcEventHandle()
        memoryview(record)[:] = handle
        event = Event.__new__(Event)
        _Owned.__init__(event, int(cu.cuIpcOpenEventHandle(record)))
        return event
