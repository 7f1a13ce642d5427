# SPDX-License-Identifier: Apache-2.0
"""Memory resources over the driver's pools, and over the CPU device's memory. The hot half is C (ext/pool.c)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..._core import Pool as _Pool
from .._options import options_of
from ._buffer import DEVICE_ACCESS, HOST_ACCESS, Buffer, MemoryResource

if TYPE_CHECKING:
    from ...bindings import driver
    from .._device import Device

__all__ = ["DeviceMemoryResource", "DeviceMemoryResourceOptions", "default_resource"]


@dataclass
class DeviceMemoryResourceOptions:
    """A pool of its own for a device.

    Attributes
    ----------
    ipc_enabled : bool
        Whether other processes may open its memory (Linux).
    max_size : int
        Bytes it may hold; 0: as many as there are.
    """

    ipc_enabled: bool = False
    max_size: int = 0


class PoolResource(_Pool, MemoryResource):
    """What the resources over a pool of the driver have in common."""

    __slots__ = ("_access", "_device_id", "_owned")
    _device_id: int
    _owned: bool
    _access: int

    def _open_pool(self, number: int, pool: int, owned: bool, device_id: int, access: int,
                   buffers: type[Buffer] = Buffer) -> None:  # fmt: skip
        self._device_id, self._owned, self._access = device_id, owned, access
        self._open(number, pool, device_id, access, buffers)

    @property
    def handle(self) -> driver.CUmemoryPool:
        """The driver's pool; 0 on the CPU and when closed."""
        from ...bindings import driver

        return driver.CUmemoryPool(self._handle)

    @property
    def is_handle_owned(self) -> bool:
        """Whether the pool was made by this object and ends with it."""
        return self._owned

    @property
    def device_id(self) -> int:
        """The GPU whose memory it is; -1 for the host."""
        return self._device_id

    @property
    def is_device_accessible(self) -> bool:
        """Whether kernels can use its memory."""
        return bool(self._access & DEVICE_ACCESS)

    @property
    def is_host_accessible(self) -> bool:
        """Whether Python can read its memory."""
        return bool(self._access & HOST_ACCESS)

    def close(self) -> None:
        """Ends an owned pool; memory of it that is in use ends with its buffers."""
        handle, owned = self._handle, self._owned
        self._shut()
        self._owned = False
        if handle and owned:
            from ...bindings import driver

            driver.checked.cuMemPoolDestroy(handle)

    def __del__(self) -> None:
        if getattr(self, "_owned", False):
            self.close()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, _Pool):
            return NotImplemented
        return self is other or (self._handle != 0 and self._handle == other._handle)

    def __hash__(self) -> int:
        return hash((type(self).__name__, self._handle))

    def __repr__(self) -> str:
        return f"<{type(self).__name__} device_id={self._device_id} handle={self._handle:#x}>"


class DeviceMemoryResource(PoolResource):
    """Memory of a device, allocated in stream order from a pool of the driver.

    Parameters
    ----------
    device_id : Device, int or str
    options : DeviceMemoryResourceOptions or dict, optional
        For a pool of its own; None uses the device's current pool, which then keeps what is freed
        (unless its release threshold was set before).
    """

    __slots__ = ()

    def __init__(self, device_id: Device | int | str, options: Any = None) -> None:
        from .._device import Device

        device = Device(device_id)
        if device._is_cpu:
            options_of(DeviceMemoryResourceOptions, options)
            self._open_pool(device._id, 0, False, -1, DEVICE_ACCESS | HOST_ACCESS)
            return
        from ._pool_native import current_pool, new_pool

        chosen = None if options is None else options_of(DeviceMemoryResourceOptions, options)
        pool = current_pool(device) if chosen is None else new_pool(device, chosen)
        self._open_pool(device._id, pool, chosen is not None, device.device_id, DEVICE_ACCESS)


def default_resource(device: Device) -> MemoryResource:
    """What ``Device.memory_resource`` is before it is set."""
    return DeviceMemoryResource(device)
