# SPDX-License-Identifier: Apache-2.0
"""What a device's questions answer with: plain values, named as NVML names them."""

from __future__ import annotations

from typing import Any, NamedTuple

__all__ = [
    "BAR1MemoryInfo",
    "ClockOffsets",
    "CoolerInfo",
    "DeviceAttributes",
    "GpuDynamicPstatesUtilization",
    "MemoryInfo",
    "RepairStatus",
    "ThermalSensor",
    "Utilization",
]


class MemoryInfo(NamedTuple):
    """Bytes of the device's memory; the three parts make up the total."""

    free: int
    total: int
    used: int
    reserved: int


class BAR1MemoryInfo(NamedTuple):
    """Bytes of the window through which the host sees the memory."""

    free: int
    total: int
    used: int


class Utilization(NamedTuple):
    """Percent of the last second in which a kernel ran, and in which memory was accessed."""

    gpu: int
    memory: int


class DeviceAttributes(NamedTuple):
    """Engines and slices, of a MIG device."""

    multiprocessor_count: int
    shared_copy_engine_count: int
    shared_decoder_count: int
    shared_encoder_count: int
    shared_jpeg_count: int
    shared_ofa_count: int
    gpu_instance_slice_count: int
    compute_instance_slice_count: int
    memory_size_mb: int


class RepairStatus(NamedTuple):
    """Repairs of memory channels and of TPCs that wait for a reset."""

    channel_repair_pending: bool
    tpc_repair_pending: bool


class ClockOffsets(NamedTuple):
    """MHz that a clock is set off by, and how far it may be."""

    clock_offset_mhz: int
    max_offset_mhz: int
    min_offset_mhz: int


class CoolerInfo(NamedTuple):
    """How a cooler is driven, and what it cools."""

    signal_type: Any
    target: list[Any]


class ThermalSensor(NamedTuple):
    """One sensor, degrees Celsius."""

    controller: Any
    target: Any
    default_min_temp: int
    default_max_temp: int
    current_temp: int


class GpuDynamicPstatesUtilization(NamedTuple):
    """Percent of use of one part of the GPU, and the thresholds of its performance states."""

    is_present: bool
    percentage: int
    inc_threshold: int
    dec_threshold: int
