# SPDX-License-Identifier: Apache-2.0
"""Events: points of a stream to wait for or to time. The hot half is ``tessera.Event``, in C."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .. import _core
from .. import Event as _Event
from ._errors import no_constructor
from ._options import options_of
from ._place import CUDA

if TYPE_CHECKING:
    from ..bindings import driver
    from ._context import Context
    from ._device import Device

__all__ = ["Event", "EventOptions", "IPCEventDescriptor"]



@dataclass
class EventOptions:
    """How an event is made.

    Attributes
    ----------
    timing_enabled : bool
        Whether ``end - begin`` tells the time; recording costs a little more.
    blocking_sync : bool
        Whether a thread in ``sync()`` sleeps instead of asking busily.
    ipc_enabled : bool
        Whether other processes may open it; then it cannot be timed.
    """

    timing_enabled: bool | None = False
    blocking_sync: bool | None = False
    ipc_enabled: bool | None = False


class IPCEventDescriptor:
    """An event as another process can open it; travels by pickle. Made by
    ``Event.ipc_descriptor``."""

    __slots__ = ("_is_blocking_sync", "_reserved")

    def __init__(self, *args: object, **kwargs: object) -> None:
        no_constructor("IPCEventDescriptor", "Event.ipc_descriptor")

    @classmethod
    def _init(cls, reserved: bytes, is_blocking_sync: bool) -> IPCEventDescriptor:
        self = cls.__new__(cls)
        self._reserved, self._is_blocking_sync = reserved, is_blocking_sync
        return self

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, IPCEventDescriptor):
            return NotImplemented
        return self._reserved == other._reserved

    def __hash__(self) -> int:
        return hash(self._reserved)

    def __reduce__(self) -> tuple[Any, ...]:
        return IPCEventDescriptor._init, (self._reserved, self._is_blocking_sync)


class Event(_Event):
    """A point in the work of a stream.

    Made by ``Stream.record`` and ``Device.create_event``. ``later - earlier`` is the device time
    between two records in milliseconds, where both were made with timing enabled.
    """

    __slots__ = ()

    def __new__(cls, *args: object, **kwargs: object) -> Event:
        no_constructor("Event", "Stream.record() or Device.create_event()")

    @staticmethod
    def _flags_of(options: Any) -> int:
        """EventOptions, dictionary or None as the flags of the core."""
        if options is None:
            return _core.EVENT_UNTIMED
        o = options_of(EventOptions, options)
        if o.ipc_enabled and o.timing_enabled:
            raise TypeError("IPC-enabled events cannot use timing.")
        flags = 0 if o.timing_enabled else _core.EVENT_UNTIMED
        return flags | bool(o.blocking_sync) * _core.EVENT_BLOCKING | bool(o.ipc_enabled) * _core.EVENT_SHARED

    @classmethod
    def from_ipc_descriptor(cls, ipc_descriptor: IPCEventDescriptor) -> Event:
        """Opens an event of another process on the current GPU."""
        from ._memory._ipc import open_event

        return open_event(cls, ipc_descriptor)

    @property
    def ipc_descriptor(self) -> IPCEventDescriptor:
        """What another process opens the event with (RuntimeError unless ``ipc_enabled``)."""
        if not self._flags & _core.EVENT_SHARED:
            raise RuntimeError(
                "Event is not IPC-enabled; make it with EventOptions(ipc_enabled=True)"
            )
        from ._memory._ipc import describe_event

        return describe_event(self)

    def __reduce__(self) -> tuple[Any, ...]:
        from ._memory._ipc import warn_of_fork

        warn_of_fork()
        return type(self).from_ipc_descriptor, (self.ipc_descriptor,)

    @property
    def handle(self) -> driver.CUevent:
        """The driver's event; on the CPU only an identity."""
        from ..bindings import driver

        return driver.CUevent(self._address)

    @property
    def is_timing_enabled(self) -> bool:
        """Whether the event has a time."""
        return not self._flags & _core.EVENT_UNTIMED

    @property
    def is_blocking_sync(self) -> bool:
        """Whether a waiting thread sleeps."""
        return bool(self._flags & _core.EVENT_BLOCKING)

    @property
    def is_ipc_enabled(self) -> bool:
        """Whether other processes may open it."""
        return bool(self._flags & _core.EVENT_SHARED)

    @property
    def device(self) -> Device | None:
        """The device it was made on; None for an event of another process."""
        from ._device import device_of

        return None if self._is_foreign else device_of(self._device)

    @property
    def context(self) -> Context | None:
        """The context it was made in; None for an event of another process."""
        device = self.device
        return self._context or (device.context if device is not None else None)

    @property
    def _is_foreign(self) -> bool:
        from ._memory._ipc import is_of_another_process

        return bool(self._flags & _core.EVENT_SHARED) and is_of_another_process(self)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, _Event):
            return NotImplemented
        return self._address == other._address and self._device == other._device

    def __hash__(self) -> int:
        return hash((self._address, self._device))

    def __repr__(self) -> str:
        place = "" if self._device >= CUDA else f" device={self.device}"
        return f"<Event handle={self._address:#x}{place}>"

    def __isub__(self, other: object) -> Any:
        return NotImplemented if not isinstance(other, _Event) else self - other
