# SPDX-License-Identifier: Apache-2.0
"""system.Device: one GPU, or MIG device, through NVML."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from ...bindings import nvml
from . import typing as words
from ._fields import FieldValues, field_values
from ._groups import (  # the peer has all of them in this module
    ClockInfo,
    GpuDynamicPstatesInfo,
    InforomInfo,
    MigInfo,
    PciInfo,
    ProcessInfo,
    Temperature,
    ThermalSettings,  # noqa: F401
    simple,
)
from ._links import FanInfo, NvlinkInfo
from ._nvml_context import ask, listed, record, text
from ._parts import (
    BAR1MemoryInfo,
    ClockOffsets,  # noqa: F401
    CoolerInfo,
    DeviceAttributes,
    GpuDynamicPstatesUtilization,
    MemoryInfo,
    RepairStatus,
    ThermalSensor,  # noqa: F401
    Utilization,
)
from ._system_events import DeviceEvents

__all__ = ["Device"]

_WORD_BITS = 64


def _unpack_bitmask(values: Sequence[int]) -> list[int]:
    """The numbers of the bits that are set, 64 a word."""
    if not isinstance(values, Iterable):
        raise TypeError(f"a sequence of 64-bit words is needed, not {type(values).__name__}")
    return [
        _WORD_BITS * i + bit
        for i, value in enumerate(values)
        for bit in range(_WORD_BITS)
        if value >> bit & 1
    ]


def _words_of(data: bytes) -> list[int]:
    return [int.from_bytes(data[i : i + 8], "little") for i in range(0, len(data), 8)]


class Device:
    """A GPU by its index, UUID or PCI bus id: ``Device(index=0)``. No context of CUDA is made.

    What a GPU does not have raises NotSupportedError.
    """

    __slots__ = ("_handle",)

    def __init__(
        self, *, index: int | None = None, uuid: str | None = None, pci_bus_id: str | None = None
    ) -> None:
        given = {"Index": index, "UUID": uuid, "PciBusId": pci_bus_id}
        named = [(kind, value) for kind, value in given.items() if value is not None]
        if len(named) != 1:
            raise ValueError("Device takes exactly one of index, uuid and pci_bus_id")
        kind, value = named[0]
        self._handle = ask(f"DeviceGetHandleBy{kind}", value.encode() if kind != "Index" else value)

    @classmethod
    def _of(cls, handle: Any) -> Device:
        self = object.__new__(cls)
        self._handle = handle
        return self

    @classmethod
    def get_device_count(cls) -> int:
        """The number of GPUs."""
        return int(ask("DeviceGetCount"))

    @classmethod
    def get_all_devices(cls) -> Iterator[Device]:
        """All GPUs."""
        return (cls(index=i) for i in range(cls.get_device_count()))

    @classmethod
    def get_all_devices_with_cpu_affinity(cls, cpu_index: int) -> Iterator[Device]:
        """The GPUs that are nearest to a CPU."""
        _, data = listed("SystemGetTopologyGpuSet", cpu_index, size=8)
        return (cls._of(nvml.nvmlDevice_t(handle)) for handle in _words_of(data))

    # ---- who it is

    index = simple("DeviceGetIndex", int, "NVML's number of the GPU.")
    minor_number = simple("DeviceGetMinorNumber", int, "N of /dev/nvidiaN.")
    module_id = simple("DeviceGetModuleId", int, "The place of the GPU on its board.")
    numa_node_id = simple("DeviceGetNumaNodeId", int, "The NUMA node of the GPU's memory.")

    @property
    def name(self) -> str:
        """The product's name."""
        return text("DeviceGetName", self._handle)

    @property
    def uuid(self) -> str:
        """``GPU-...`` or ``MIG-...``."""
        return text("DeviceGetUUID", self._handle)

    @property
    def uuid_without_prefix(self) -> str:
        """As ``tessera.core.Device.uuid`` gives it."""
        return self.uuid[4:]

    @property
    def serial(self) -> str:
        """The serial number of the board."""
        return text("DeviceGetSerial", self._handle)

    @property
    def brand(self) -> str:
        """The product line."""
        brand = ask("DeviceGetBrand", self._handle)
        return brand.name.removeprefix("NVML_BRAND_").replace("_", " ").title()  # type: ignore[no-any-return]

    @property
    def arch(self) -> words.DeviceArch:
        """The generation of the GPU."""
        return words.DeviceArch(int(ask("DeviceGetArchitecture", self._handle)))

    @property
    def cuda_compute_capability(self) -> tuple[int, int]:
        """(9, 0)."""
        major, minor = ask("DeviceGetCudaComputeCapability", self._handle)
        return int(major), int(minor)

    def to_cuda_device(self) -> Any:
        """The ``tessera.core.Device`` of the same GPU; RuntimeError if CUDA does not see it."""
        from .. import Device as CudaDevice

        for device in CudaDevice.get_all_devices():
            if device.uuid == self.uuid_without_prefix:
                return device
        raise RuntimeError(f"CUDA sees no device {self.uuid}; look at CUDA_VISIBLE_DEVICES")

    @property
    def pci_info(self) -> PciInfo:
        """Where it is on the bus."""
        return PciInfo(self._handle)

    @property
    def pci_bus_id(self) -> str:
        """Domain, bus and device as text."""
        return self.pci_info.bus_id  # type: ignore[no-any-return]

    @property
    def inforom(self) -> InforomInfo:
        """What is written in the board's memory."""
        return InforomInfo(self._handle)

    @property
    def attributes(self) -> DeviceAttributes:
        """Engines and slices."""
        told = record("DeviceGetAttributes", self._handle, of="DeviceAttributes_t")
        return DeviceAttributes(*(int(getattr(told, name)) for name in type(told)._fields))

    # ---- memory and use

    @property
    def memory_info(self) -> MemoryInfo:
        """Bytes of memory."""
        told = record("DeviceGetMemoryInfo_v2", self._handle, of="Memory_v2_t", version=2)
        return MemoryInfo(int(told.free), int(told.total), int(told.used), int(told.reserved))

    @property
    def bar1_memory_info(self) -> BAR1MemoryInfo:
        """Bytes of BAR1."""
        told = record("DeviceGetBAR1MemoryInfo", self._handle, of="BAR1Memory_t")
        return BAR1MemoryInfo(int(told.bar1Free), int(told.bar1Total), int(told.bar1Used))

    @property
    def utilization(self) -> Utilization:
        """Percent of use."""
        told = record("DeviceGetUtilizationRates", self._handle, of="Utilization_t")
        return Utilization(int(told.gpu), int(told.memory))

    @property
    def compute_running_processes(self) -> list[ProcessInfo]:
        """The processes with a context of CUDA."""
        size = 24  # nvmlProcessInfo_v2_t
        _, data = listed("DeviceGetComputeRunningProcesses", self._handle, size=size)
        is_mig = self.mig.is_mig_device
        parts = (data[i : i + size] for i in range(0, len(data), size))
        return [ProcessInfo(part, is_mig) for part in parts]

    # ---- clocks, temperatures, states

    def get_clock(self, clock_type: Any) -> ClockInfo:
        """A clock: "graphics", "sm", "memory" or "video"."""
        return ClockInfo(self._handle, clock_type)

    @property
    def is_auto_boosted_clocks_enabled(self) -> tuple[bool, bool]:
        """Whether clocks are boosted, now and by default."""
        now, default = ask("DeviceGetAutoBoostedClocksEnabled", self._handle)
        return bool(now), bool(default)

    @property
    def current_clock_event_reasons(self) -> list[Any]:
        """Why clocks are lower than they could be."""
        mask = int(ask("DeviceGetCurrentClocksEventReasons", self._handle))
        return words.words_of(words.ClocksEventReasons, mask)  # type: ignore[attr-defined]

    @property
    def supported_clock_event_reasons(self) -> list[Any]:
        """The reasons that this GPU can tell."""
        mask = int(ask("DeviceGetSupportedClocksEventReasons", self._handle))
        return words.words_of(words.ClocksEventReasons, mask)  # type: ignore[attr-defined]

    @property
    def temperature(self) -> Temperature:
        """Sensors and thresholds."""
        return Temperature(self._handle)

    @property
    def performance_state(self) -> int:
        """0 is the fastest."""
        return int(ask("DeviceGetPerformanceState", self._handle))

    @property
    def supported_pstates(self) -> list[int]:
        """The performance states that there are."""
        room = bytearray(4 * nvml.NVML_MAX_GPU_PERF_PSTATES)
        ask("DeviceGetSupportedPerformanceStates", self._handle, room, len(room))
        states = (int.from_bytes(room[i : i + 4], "little") for i in range(0, len(room), 4))
        return [state for state in states if state < nvml.NVML_MAX_GPU_PERF_PSTATES]

    @property
    def dynamic_pstates_info(self) -> GpuDynamicPstatesInfo:
        """Use of each part of the GPU."""
        told = record("DeviceGetDynamicPstatesInfo", self._handle, of="GpuDynamicPstatesInfo_t")
        return GpuDynamicPstatesInfo(
            GpuDynamicPstatesUtilization(
                bool(u.bIsPresent), int(u.percentage), int(u.incThreshold), int(u.decThreshold)
            )
            for u in told.utilization
        )

    num_fans = simple("DeviceGetNumFans", int, "The number of fans.")

    def get_fan(self, fan: int = 0) -> FanInfo:
        """A fan; ValueError if there is none of that number."""
        if not 0 <= fan < self.num_fans:
            raise ValueError(f"there is no fan {fan}: the device has {self.num_fans}")
        return FanInfo(self._handle, fan)

    @property
    def cooler(self) -> CoolerInfo:
        """The cooler."""
        told = record("DeviceGetCoolerInfo", self._handle, of="CoolerInfo_v1_t", version=1)
        signal = words.word_of(words.CoolerControl, int(told.signalType))  # type: ignore[attr-defined]
        target = int(told.target)
        none = words.CoolerTarget.NONE  # type: ignore[attr-defined]
        parts = words.words_of(words.CoolerTarget, target & ~1)  # type: ignore[attr-defined]
        return CoolerInfo(signal, parts or [none])

    # ---- modes

    @property
    def is_persistence_mode_enabled(self) -> bool:
        """Whether the driver stays loaded; setting it needs permission."""
        return bool(int(ask("DeviceGetPersistenceMode", self._handle)))

    @is_persistence_mode_enabled.setter
    def is_persistence_mode_enabled(self, enabled: bool) -> None:
        ask("DeviceSetPersistenceMode", self._handle, nvml.nvmlEnableState_t(int(enabled)))

    @property
    def is_display_connected(self) -> bool:
        """Whether a display is attached."""
        return bool(int(ask("DeviceGetDisplayMode", self._handle)))

    @property
    def is_display_active(self) -> bool:
        """Whether a display is driven."""
        return bool(int(ask("DeviceGetDisplayActive", self._handle)))

    @property
    def is_c2c_enabled(self) -> bool:
        """Whether the chip-to-chip link is on."""
        return bool(
            record("DeviceGetC2cModeInfoV", self._handle, of="C2cModeInfo_v1_t").isC2cEnabled
        )

    @property
    def addressing_mode(self) -> Any:
        """How the host's addresses are reached: an AddressingMode, or None."""
        told = record(
            "DeviceGetAddressingMode", self._handle, of="DeviceAddressingMode_v1_t", version=1
        )
        return words.word_of(words.AddressingMode, int(told.value))  # type: ignore[attr-defined]

    @property
    def repair_status(self) -> RepairStatus:
        """Repairs that wait."""
        told = record("DeviceGetRepairStatus", self._handle, of="RepairStatus_v1_t", version=1)
        return RepairStatus(bool(told.bChannelRepairPending), bool(told.bTpcRepairPending))

    @property
    def mig(self) -> MigInfo:
        """Multi-instance mode."""
        return MigInfo(self._handle)

    # ---- the neighbourhood

    def _affinity(self, what: str, scope: Any) -> list[int]:
        import os

        n = ((os.cpu_count() or 1) + _WORD_BITS - 1) // _WORD_BITS
        room = bytearray(8 * n)
        number = words.number_of(words.AffinityScope, scope)  # type: ignore[attr-defined]
        ask(f"DeviceGet{what}", self._handle, n, room, number)
        return _unpack_bitmask(_words_of(bytes(room)))

    def get_cpu_affinity(self, scope: Any = "node") -> list[int]:
        """The CPUs that are nearest: of the "node" or the "socket"."""
        return self._affinity("CpuAffinityWithinScope", scope)

    def get_memory_affinity(self, scope: Any = "node") -> list[int]:
        """The NUMA nodes that are nearest."""
        return self._affinity("MemoryAffinity", scope)

    def set_cpu_affinity(self) -> None:
        """Binds the calling thread to the nearest CPUs."""
        ask("DeviceSetCpuAffinity", self._handle)

    def clear_cpu_affinity(self) -> None:
        """Unbinds the calling thread."""
        ask("DeviceClearCpuAffinity", self._handle)

    def get_topology_nearest_gpus(self, level: Any) -> list[Device]:
        """The GPUs within a GpuTopologyLevel."""
        kind = nvml.nvmlGpuTopologyLevel_t(words.number_of(words.GpuTopologyLevel, level))  # type: ignore[attr-defined]
        _, data = listed("DeviceGetTopologyNearestGpus", self._handle, kind, size=8)
        return [Device._of(nvml.nvmlDevice_t(handle)) for handle in _words_of(data)]

    def get_nvlink_count(self) -> int:
        """The number of NVLinks."""
        return int(self.get_field_values([words.FieldId.DEV_NVLINK_LINK_COUNT])[0].value)

    def get_nvlink(self, link: int) -> NvlinkInfo:
        """A link; ValueError if there is none of that number."""
        n = self.get_nvlink_count()
        if not 0 <= link < n:
            raise ValueError(f"there is no link {link}: the device has {n}")
        return NvlinkInfo(self, link)

    def get_nvlinks(self) -> Iterator[NvlinkInfo]:
        """All links."""
        return (NvlinkInfo(self, link) for link in range(self.get_nvlink_count()))

    # ---- fields

    def get_field_values(self, field_ids: Sequence[int | tuple[int, int]]) -> FieldValues:
        """The values of FieldIds, or of pairs of a FieldId and a scope; each says by itself if it
        has none."""
        return FieldValues(field_values("DeviceGetFieldValues", self._handle, field_ids))

    def clear_field_values(self, field_ids: Sequence[int | tuple[int, int]]) -> None:
        """Sets counters to zero."""
        field_values("DeviceClearFieldValues", self._handle, field_ids)

    # ---- events

    def get_supported_event_types(self) -> list[Any]:
        """The events that this GPU can tell of."""
        mask = int(ask("DeviceGetSupportedEventTypes", self._handle))
        return words.words_of(words.EventType, mask)  # type: ignore[attr-defined]

    def register_events(self, events: Any) -> DeviceEvents:
        """Registers for events; ``wait(timeout_ms)`` of the result gives them."""
        return DeviceEvents(self, events)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Device) and int(self._handle) == int(other._handle)

    def __hash__(self) -> int:
        return hash(int(self._handle))

    def __repr__(self) -> str:
        return f"<system.Device {self.index}: {self.name}>"
