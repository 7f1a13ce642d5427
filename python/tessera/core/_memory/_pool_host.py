# SPDX-License-Identifier: Apache-2.0
"""Pools of page-locked and of managed memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ... import _core
from .. import _device as _devices
from .._errors import cpu_cannot
from .._options import options_of
from .._place import CUDA, primary_context
from ..typing import ManagedMemoryLocationType
from ._managed import ManagedBuffer
from ._pool import PoolResource

__all__ = [
    "ManagedMemoryResource",
    "ManagedMemoryResourceOptions",
    "PinnedMemoryResource",
    "PinnedMemoryResourceOptions",
]


@dataclass
class PinnedMemoryResourceOptions:
    """A pool of its own for page-locked memory.

    Attributes
    ----------
    ipc_enabled : bool
        Whether other processes may open its memory (Linux).
    max_size : int
        Bytes it may hold; 0: as many as there are.
    numa_id : int, optional
        The NUMA node; None leaves it to the system, or with IPC takes that of the current GPU.
    """

    ipc_enabled: bool = False
    max_size: int = 0
    numa_id: int | None = None


@dataclass
class ManagedMemoryResourceOptions:
    """A pool of its own for managed memory.

    Attributes
    ----------
    preferred_location : int, optional
        A GPU, -1 for the host, or with ``preferred_location_type="host_numa"`` a NUMA node.
    preferred_location_type : "device", "host", "host_numa", optional
    max_size : int
        Bytes it may hold; 0: as many as there are.
    """

    preferred_location: int | None = None
    preferred_location_type: ManagedMemoryLocationType | str | None = None
    max_size: int = 0


def _current_gpu(what: str) -> int:
    device = _devices.Device()
    if device._is_cpu:
        raise cpu_cannot(what)
    primary_context(device.device_id)
    return device.device_id


def _location(kind: str, number: int) -> Any:
    from ...bindings import driver

    location = driver.CUmemLocation()
    location.type = driver.CUmemLocationType[f"CU_MEM_LOCATION_TYPE_{kind.upper()}"]
    location.id = number
    return location


class PinnedMemoryResource(PoolResource):
    """Page-locked memory of the host, which kernels can use too, allocated in stream order.

    Parameters
    ----------
    options : PinnedMemoryResourceOptions or dict, optional
        For a pool of its own; None uses the driver's (CUDA 13).
    """

    __slots__ = ("_numa_id",)
    _numa_id: int

    def __init__(self, options: Any = None) -> None:
        from ...bindings import driver
        from ._pool_native import default_pool, new_pool

        chosen = options_of(PinnedMemoryResourceOptions, options)
        ipc, self._numa_id = (
            bool(chosen.ipc_enabled),
            -1 if chosen.numa_id is None else chosen.numa_id,
        )
        if chosen.numa_id is not None and chosen.numa_id < 0:
            raise ValueError(f"numa_id must be >= 0, not {chosen.numa_id}")
        gpu = _current_gpu("page-locked memory pools")
        if ipc and chosen.numa_id is None:
            self._numa_id = _host_numa_id()
        numa = self._numa_id >= 0
        place = _location("host_numa" if numa else "host", max(self._numa_id, 0))
        kind = driver.CUmemAllocationType.CU_MEM_ALLOCATION_TYPE_PINNED
        own = options is not None
        pool = new_pool(place, kind, ipc, chosen.max_size) if own else default_pool(place, kind)
        self._open_pool(CUDA | gpu, pool, own, -1, _core.DEVICE_ACCESS | _core.HOST_ACCESS, ipc)

    @classmethod
    def from_allocation_handle(cls, alloc_handle: Any) -> PinnedMemoryResource:
        """Opens a pool of another process."""
        from ._ipc import import_pool

        def make(pool: int) -> PinnedMemoryResource:
            self = cls.__new__(cls)
            gpu, self._numa_id = _current_gpu("page-locked memory pools"), -1
            self._open_pool(CUDA | gpu, pool, True, -1, _core.DEVICE_ACCESS | _core.HOST_ACCESS | _core.MAPPED, True)
            return self

        return import_pool(cls, alloc_handle, make)  # type: ignore[no-any-return]

    @property
    def numa_id(self) -> int:
        """The NUMA node; -1 where the system chooses."""
        return self._numa_id


def _host_numa_id() -> int:
    number = int(_devices.Device().properties.host_numa_id)
    if number < 0:
        raise RuntimeError(
            "Cannot determine host NUMA ID for this device; name the node in the options"
        )
    return number


def _managed_place(o: ManagedMemoryResourceOptions) -> tuple[str, int] | None:
    """(kind, number) of the preferred location; None for no preference."""
    number = o.preferred_location
    if o.preferred_location_type is None:
        if number is None:
            return None
        if number < -1:
            raise ValueError(
                f"preferred_location must be a device ordinal, -1 (the host) or None, not {number}"
            )
        return ("host", 0) if number == -1 else ("device", number)
    kind = ManagedMemoryLocationType(o.preferred_location_type)
    if kind == "device" and (number is None or number < 0):
        raise ValueError(f"preferred_location must be a device ordinal for 'device', not {number}")
    if kind == "host" and number is not None:
        raise ValueError(f"preferred_location must be None for 'host', not {number}")
    if kind == "host_numa":
        if number is not None and number < 0:
            raise ValueError(
                f"preferred_location must be a NUMA node ID or None for 'host_numa', not {number}"
            )
        number = _host_numa_id() if number is None else number
    return str(kind), number or 0


class ManagedMemoryResource(PoolResource):
    """Memory that migrates between the host and the GPUs by itself, allocated in stream order.

    Parameters
    ----------
    options : ManagedMemoryResourceOptions or dict, optional
        For a pool of its own; None uses the driver's (CUDA 13).
    """

    __slots__ = ("_preferred",)
    _preferred: tuple[str, int] | None

    def __init__(self, options: Any = None) -> None:
        from ...bindings import driver
        from ._pool_native import default_pool, new_pool

        chosen = options_of(ManagedMemoryResourceOptions, options)
        self._preferred = _managed_place(chosen)
        gpu = _current_gpu("managed memory")
        own = self._preferred is not None or bool(chosen.max_size)
        place = _location(*(self._preferred or ("none", 0)))
        kind = driver.CUmemAllocationType.CU_MEM_ALLOCATION_TYPE_MANAGED
        pool = new_pool(place, kind, False, chosen.max_size) if own else default_pool(place, kind)
        device_id = self._preferred[1] if self._preferred and self._preferred[0] == "device" else -1
        access = _core.DEVICE_ACCESS | _core.HOST_ACCESS | _core.MANAGED
        self._open_pool(CUDA | gpu, pool, own, device_id, access, False, ManagedBuffer)

    @property
    def preferred_location(self) -> tuple[str, int | None] | None:
        """("device" or "host_numa", number), ("host", None), or None for no preference."""
        if self._preferred is None:
            return None
        kind, number = self._preferred
        return kind, None if kind == "host" else number
