# SPDX-License-Identifier: Apache-2.0
"""Questions about the whole machine."""

from __future__ import annotations

from typing import Any

from ...bindings import FunctionNotFoundError, driver, nvml
from ...pathfinder import DynamicLibNotFoundError, find_nvidia_dynamic_lib
from . import typing as words
from ._nvml_context import ask, text

__all__ = [
    "CUDA_BINDINGS_NVML_IS_COMPATIBLE",
    "get_driver_branch",
    "get_kernel_mode_driver_version",
    "get_num_devices",
    "get_nvml_version",
    "get_p2p_status",
    "get_process_name",
    "get_topology_common_ancestor",
    "get_user_mode_driver_version",
]

CUDA_BINDINGS_NVML_IS_COMPATIBLE = find_nvidia_dynamic_lib("nvml") is not None


def get_user_mode_driver_version() -> tuple[int, int]:
    """The newest CUDA that the driver speaks, (13, 0); needs no NVML."""
    version = int(driver.checked.cuDriverGetVersion())
    return version // 1000, version % 1000 // 10


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))


def get_kernel_mode_driver_version() -> tuple[int, ...]:
    """The version of the kernel module, (580, 95, 5)."""
    return _numbers(text("SystemGetDriverVersion"))


def get_nvml_version() -> tuple[int, ...]:
    """The version of NVML: CUDA's major version, then the driver's version."""
    return _numbers(text("SystemGetNVMLVersion"))


def get_driver_branch() -> str:
    """The branch of the driver, "r580_00"."""
    kind = nvml.nvmlSystemDriverBranchInfo_v1_t
    made = kind(version=nvml.struct_version(kind, 1))
    ask("SystemGetDriverBranch", made, 80)
    return chars(made.branch)


def chars(value: Any) -> str:
    """A char array of a struct as text."""
    data = value if isinstance(value, bytes) else bytes(n % 256 for n in value)
    return data.split(b"\0")[0].decode(errors="replace")


def get_num_devices() -> int:
    """The number of GPUs, by NVML, else by the driver; 0 without either."""
    if CUDA_BINDINGS_NVML_IS_COMPATIBLE:
        return int(ask("DeviceGetCount"))
    try:
        (status,) = driver.cuInit(0)
        return 0 if status else int(driver.checked.cuDeviceGetCount())
    except (DynamicLibNotFoundError, FunctionNotFoundError):
        return 0


def get_process_name(pid: int) -> str:
    """The command of a process that uses a GPU; NotFoundError for others."""
    room = bytearray(1024)
    ask("SystemGetProcessName", pid, room, len(room))
    return bytes(room).split(b"\0")[0].decode(errors="replace")


def get_topology_common_ancestor(device1: Any, device2: Any) -> Any:
    """How near two devices are: a GpuTopologyLevel."""
    level = ask("DeviceGetTopologyCommonAncestor", device1._handle, device2._handle)
    return words.word_of(words.GpuTopologyLevel, int(level))  # type: ignore[attr-defined]


def get_p2p_status(device1: Any, device2: Any, index: Any) -> Any:
    """Whether two devices can reach each other's memory in a way (GpuP2PCapsIndex):
    GpuP2PStatus."""
    kind = nvml.nvmlGpuP2PCapsIndex_t(words.number_of(words.GpuP2PCapsIndex, index))  # type: ignore[attr-defined]
    status = ask("DeviceGetP2PStatus", device1._handle, device2._handle, kind)
    return words.word_of(words.GpuP2PStatus, int(status))  # type: ignore[attr-defined]
