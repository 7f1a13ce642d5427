# SPDX-License-Identifier: Apache-2.0
"""Groups of questions about one GPU: its bus, board, clocks, temperature, processes and parts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ...bindings import nvml
from . import typing as words
from ._nvml_context import ask, record, text
from ._parts import ClockOffsets, GpuDynamicPstatesUtilization, ThermalSensor
from ._system import chars

if TYPE_CHECKING:
    from ._device import Device

__all__ = [
    "ClockInfo",
    "GpuDynamicPstatesInfo",
    "InforomInfo",
    "MigInfo",
    "PciInfo",
    "ProcessInfo",
    "Temperature",
    "ThermalSettings",
    "simple",
]


def _enum(name: str, kind: Any, word: Any) -> Any:
    """NVML's own enum member of a word."""
    return getattr(nvml, f"nvml{name}_t")(words.number_of(kind, word))


def simple(function: str, kind: Any, doc: str) -> property:
    """A question with one answer."""
    return property(lambda self: kind(ask(function, self._handle)), doc=doc)


class _Part:
    """A group of questions about one device."""

    __slots__ = ("_handle",)

    def __init__(self, handle: Any) -> None:
        self._handle = handle


class PciInfo(_Part):
    """The bus."""

    __slots__ = ("_told",)

    def __init__(self, handle: Any) -> None:
        super().__init__(handle)
        self._told = record("DeviceGetPciInfoExt", handle, of="PciInfoExt_v1_t", version=1)

    bus_id = property(lambda self: chars(self._told.busId), doc="Domain, bus, device as text.")
    domain = property(lambda self: int(self._told.domain), doc="The domain.")
    bus = property(lambda self: int(self._told.bus), doc="The bus.")
    device = property(lambda self: int(self._told.device), doc="The device on the bus.")
    vendor_id = property(lambda self: self._told.pciDeviceId & 0xFFFF, doc="0x10de.")
    device_id = property(lambda self: self._told.pciDeviceId >> 16, doc="The chip.")
    subsystem_id = property(lambda self: int(self._told.pciSubSystemId), doc="The board.")
    base_class = property(lambda self: int(self._told.baseClass), doc="3: a display controller.")
    sub_class = property(lambda self: int(self._told.subClass), doc="2: a 3D controller.")
    link_generation = simple("DeviceGetGpuMaxPcieLinkGeneration", int, "Of the GPU.")
    max_link_generation = simple("DeviceGetMaxPcieLinkGeneration", int, "Of GPU and slot.")
    max_link_width = simple("DeviceGetMaxPcieLinkWidth", int, "Lanes of GPU and slot.")
    current_link_generation = simple("DeviceGetCurrPcieLinkGeneration", int, "In use now.")
    current_link_width = simple("DeviceGetCurrPcieLinkWidth", int, "Lanes in use now.")
    replay_counter = simple("DeviceGetPcieReplayCounter", int, "Packets that were sent again.")

    def _throughput(self, number: int) -> int:
        return int(ask("DeviceGetPcieThroughput", self._handle, nvml.nvmlPcieUtilCounter_t(number)))

    tx_throughput = property(lambda self: self._throughput(0), doc="KB/s sent.")
    rx_throughput = property(lambda self: self._throughput(1), doc="KB/s received.")


class InforomInfo(_Part):
    """The board's own memory."""

    __slots__ = ()

    @property
    def image_version(self) -> str:
        """The version of all of it."""
        return text("DeviceGetInforomImageVersion", self._handle, size=16)

    def get_version(self, inforom: Any) -> str:
        """The version of a part: an InforomObject."""
        kind = _enum("InforomObject", words.InforomObject, inforom)  # type: ignore[attr-defined]
        return text("DeviceGetInforomVersion", self._handle, kind, size=16)

    configuration_checksum = simple(
        "DeviceGetInforomConfigurationChecksum", int, "Of the configuration."
    )

    @property
    def bbx_flush_time(self) -> tuple[int, int]:
        """When the black box was written last, and the microseconds it took."""
        timestamp, duration = ask("DeviceGetLastBBXFlushTime", self._handle)
        return int(timestamp), int(duration)

    @property
    def board_part_number(self) -> str:
        """The part number of the board."""
        return text("DeviceGetBoardPartNumber", self._handle, size=80)

    def validate(self) -> None:
        """Raises CorruptedInforomError where it is damaged."""
        ask("DeviceValidateInforom", self._handle)


class ClockInfo(_Part):
    """One clock of a device."""

    __slots__ = ("_kind",)

    def __init__(self, handle: Any, clock_type: Any) -> None:
        super().__init__(handle)
        self._kind = _enum("ClockType", words.ClockType, clock_type)  # type: ignore[attr-defined]

    def get_current_mhz(self, clock_id: Any = "current") -> int:
        """MHz now."""
        which = _enum("ClockId", words.ClockId, clock_id)  # type: ignore[attr-defined]
        return int(ask("DeviceGetClock", self._handle, self._kind, which))

    def get_max_mhz(self) -> int:
        """The fastest it can be."""
        return int(ask("DeviceGetMaxClockInfo", self._handle, self._kind))

    def get_max_customer_boost_mhz(self) -> int:
        """The fastest that a user can ask for."""
        return int(ask("DeviceGetMaxCustomerBoostClock", self._handle, self._kind))

    def get_min_max_clock_of_pstate_mhz(self, pstate: int) -> tuple[int, int]:
        """The range in a performance state."""
        state = nvml.nvmlPstates_t(pstate)
        low, high = ask("DeviceGetMinMaxClockOfPState", self._handle, self._kind, state)
        return int(low), int(high)

    def get_offsets(self, pstate: int) -> ClockOffsets:
        """What it is set off by in a performance state."""
        told = record(
            "DeviceGetClockOffsets", self._handle, of="ClockOffset_v1_t", version=1,
            type=self._kind, pstate=nvml.nvmlPstates_t(pstate),
        )  # fmt: skip
        return ClockOffsets(
            int(told.clockOffsetMHz), int(told.maxClockOffsetMHz), int(told.minClockOffsetMHz)
        )


class Temperature(_Part):
    """Degrees Celsius."""

    __slots__ = ()

    def get_sensor(self, sensor: Any = None) -> int:
        """The GPU's temperature."""
        told = record("DeviceGetTemperatureV", self._handle, of="Temperature_v1_t", version=1)
        return int(told.temperature)

    def get_threshold(self, threshold: Any) -> int:
        """A TemperatureThresholds: where it slows down, shuts down, ..."""
        kind = _enum("TemperatureThresholds", words.TemperatureThresholds, threshold)  # type: ignore[attr-defined]
        return int(ask("DeviceGetTemperatureThreshold", self._handle, kind))

    @property
    def margin(self) -> int:
        """How far it is from the nearest slowdown."""
        told = record(
            "DeviceGetMarginTemperature", self._handle, of="MarginTemperature_v1_t", version=1
        )
        return int(told.marginTemperature)

    def get_thermal_settings(self, target: Any) -> ThermalSettings:
        """The sensors of a ThermalTarget."""
        number = words.number_of(words.ThermalTarget, target)  # type: ignore[attr-defined]
        told = record("DeviceGetThermalSettings", self._handle, number, of="GpuThermalSettings_t")
        kinds = (words.ThermalController, words.ThermalTarget)  # type: ignore[attr-defined]
        return ThermalSettings(
            ThermalSensor(
                words.word_of(kinds[0], int(s.controller), kinds[0].UNKNOWN),
                words.word_of(kinds[1], int(s.target), kinds[1].NONE),
                int(s.defaultMinTemp), int(s.defaultMaxTemp), int(s.currentTemp),
            )
            for s in list(told.sensor)[: int(told.count)]
        )  # fmt: skip


class ThermalSettings(tuple[ThermalSensor, ...]):
    """The sensors of a target."""

    __slots__ = ()


class GpuDynamicPstatesInfo(tuple[GpuDynamicPstatesUtilization, ...]):
    """Use of the parts of a GPU."""

    __slots__ = ()


class ProcessInfo:
    """A process that uses a GPU."""

    __slots__ = ("_ids", "_is_mig", "pid", "used_gpu_memory")

    def __init__(self, data: bytes, is_mig: bool) -> None:
        self.pid = int.from_bytes(data[0:4], "little")
        self.used_gpu_memory = int.from_bytes(data[8:16], "little")
        self._ids = tuple(int.from_bytes(data[i : i + 4], "little") for i in (16, 20))
        self._is_mig = is_mig

    def _id(self, i: int) -> int:
        if not self._is_mig:
            raise nvml.NotSupportedError(
                nvml.nvmlReturn_t.NVML_ERROR_NOT_SUPPORTED, "instances of a process"
            )
        return self._ids[i]

    gpu_instance_id = property(lambda self: self._id(0), doc="Of a MIG device only.")
    compute_instance_id = property(lambda self: self._id(1), doc="Of a MIG device only.")


class MigInfo(_Part):
    """Multi-instance mode of a GPU."""

    __slots__ = ()

    @property
    def is_mig_device(self) -> bool:
        """Whether this is a part of a GPU."""
        return bool(ask("DeviceIsMigDeviceHandle", self._handle))

    @property
    def mode(self) -> bool:
        """Whether the GPU is divided; setting it needs permission and may need a reset."""
        return bool(ask("DeviceGetMigMode", self._handle)[0])

    @mode.setter
    def mode(self, mode: bool) -> None:
        ask("DeviceSetMigMode", self._handle, int(mode))

    @property
    def pending_mode(self) -> bool:
        """Whether it will be after a reset."""
        return bool(ask("DeviceGetMigMode", self._handle)[1])

    @property
    def device_count(self) -> int:
        """The most parts there can be."""
        return int(ask("DeviceGetMaxMigDeviceCount", self._handle))

    @property
    def parent(self) -> Device:
        """The GPU that this is a part of."""
        from ._device import Device

        return Device._of(ask("DeviceGetDeviceHandleFromMigDeviceHandle", self._handle))

    def get_device_by_index(self, index: int) -> Device:
        """A part; NotFoundError if there is none of that number."""
        from ._device import Device

        return Device._of(ask("DeviceGetMigDeviceHandleByIndex", self._handle, index))

    def get_all_devices(self) -> Iterator[Device]:
        """The parts there are; their numbers may have gaps."""
        for i in range(self.device_count):
            try:
                yield self.get_device_by_index(i)
            except nvml.NotFoundError:
                continue
