# SPDX-License-Identifier: Apache-2.0
"""Events of devices and of the machine."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Any, NamedTuple

from ...bindings import nvml
from . import typing as words
from ._nvml_context import ask, record

__all__ = [
    "DeviceEvents",
    "EventData",
    "RegisteredSystemEvents",
    "SystemEvent",
    "register_events",
]


def _mask(kind: Any, events: Any) -> int:
    if isinstance(events, str) or not isinstance(events, Iterable):
        raise TypeError(f"events must be a list of {kind.__name__}, not {events!r}")
    mask = 0
    for event in events:
        mask |= words.number_of(kind, event)
    return mask


class EventData(NamedTuple):
    """What happened on a device."""

    device: Any
    event_type: Any
    event_data: int
    gpu_instance_id: int
    compute_instance_id: int


class DeviceEvents:
    """Events that were registered for: ``wait`` gives the next one."""

    def __init__(self, device: Any, events: Any) -> None:
        self._handle: Any = None
        mask = _mask(words.EventType, events)  # type: ignore[attr-defined]
        self._device, self._free = device, nvml.checked.nvmlEventSetFree
        self._handle = ask("EventSetCreate")
        if mask:
            ask("DeviceRegisterEvents", device._handle, mask, self._handle)

    def wait(self, timeout_ms: int = 0) -> EventData:
        """The next event; TimeoutError when none comes in time."""
        data = record_wait(self._handle, timeout_ms)
        kind = words.word_of(words.EventType, int(data.eventType))  # type: ignore[attr-defined]
        return EventData(
            self._device,
            kind,
            int(data.eventData),
            int(data.gpuInstanceId),
            int(data.computeInstanceId),
        )

    def __del__(self) -> None:
        if self._handle is not None and not sys.is_finalizing():
            self._free(self._handle)


def record_wait(events: Any, timeout_ms: int) -> Any:
    """nvmlEventSetWait: the struct is in the middle of the arguments."""
    made = nvml.nvmlEventData_t()
    ask("EventSetWait", events, made, timeout_ms)
    return made


class SystemEvent(NamedTuple):
    """What happened to a GPU of the machine."""

    event_type: Any
    gpu_id: int

    @property
    def device(self) -> Any:
        """The ``system.Device`` of the GPU."""
        from ._device import Device

        domain, bus, slot = self.gpu_id >> 16, self.gpu_id >> 8 & 0xFF, self.gpu_id & 0xFF
        return Device(pci_bus_id=f"{domain:08x}:{bus:02x}:{slot:02x}.0")


class RegisteredSystemEvents:
    """Events of the machine that were registered for."""

    def __init__(self, events: Any) -> None:
        self._set: Any = None
        mask = _mask(words.SystemEventType, events)  # type: ignore[attr-defined]
        made = record("SystemEventSetCreate", of="SystemEventSetCreateRequest_v1_t", version=1)
        self._set, self._free = made.set, nvml.checked.nvmlSystemEventSetFree
        record(
            "SystemRegisterEvents", of="SystemRegisterEventRequest_v1_t", version=1,
            eventTypes=mask, set=self._set,
        )  # fmt: skip

    def wait(self, timeout_ms: int = 0, buffer_size: int = 1) -> list[SystemEvent]:
        """Up to ``buffer_size`` events; TimeoutError when none comes in time."""
        size = nvml.sizeof(nvml.nvmlSystemEventData_v1_t)
        room = (bytearray(buffer_size * size),)
        address = _address(room[0])
        made = record(
            "SystemEventSetWait", of="SystemEventSetWaitRequest_v1_t", version=1, set=self._set,
            timeoutms=timeout_ms, data=address, dataSize=buffer_size,
        )  # fmt: skip
        events = []
        for i in range(int(made.numEvent)):
            part = bytes(room[0][i * size : (i + 1) * size])
            kind = words.word_of(words.SystemEventType, int.from_bytes(part[:8], "little"))  # type: ignore[attr-defined]
            events.append(SystemEvent(kind, int.from_bytes(part[8:12], "little")))
        return events

    def __del__(self) -> None:
        if self._set is not None and not sys.is_finalizing():
            kind = nvml.nvmlSystemEventSetFreeRequest_v1_t
            self._free(kind(version=nvml.struct_version(kind, 1), set=self._set))


def _address(room: bytearray) -> int:
    import ctypes

    return ctypes.addressof((ctypes.c_char * len(room)).from_buffer(room))


def register_events(events: Any) -> RegisteredSystemEvents:
    """Registers for events of the machine: a list of SystemEventType."""
    return RegisteredSystemEvents(events)
