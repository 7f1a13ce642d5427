# SPDX-License-Identifier: Apache-2.0
"""Memory resources over the driver's pools, and over the CPU device's memory. The hot half is C
(ext/pool.c); making pools is in _pool_native.py, page-locked and managed pools in _pool_host.py."""

from __future__ import annotations

import sys
import uuid
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ... import _core
from ..._core import Pool as _Pool
from .._errors import cpu_cannot
from .._options import options_of
from .._place import CPU
from ._buffer import Buffer, MemoryResource

if TYPE_CHECKING:
    from ...bindings import driver
    from .._device import Device
    from ._ipc import IPCAllocationHandle
    from ._peers import PeerSet
    from ._pool_attributes import PoolAttributes

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


class PoolHandle:
    """A pool that was made here: it ends with the last of the resource and its attributes."""

    __slots__ = ("end", "value")

    def __init__(self, value: int) -> None:
        from ...bindings import driver

        self.value, self.end = value, driver.cuMemPoolDestroy

    def __del__(self) -> None:
        if sys is not None and not sys.is_finalizing():  # the driver ends it with the process
            self.end(self.value)


class PoolResource(_Pool, MemoryResource):
    """What the resources over a pool of the driver have in common."""

    __slots__ = ("_access", "_device_id", "_exported", "_is_ipc", "_pool", "_uuid")
    _device_id: int
    _access: int
    _pool: PoolHandle | None  # None: not owned
    _is_ipc: bool
    _exported: IPCAllocationHandle | None
    _uuid: uuid.UUID | None

    def _open_pool(self, number: int, pool: int, owned: bool, device_id: int, access: int,
                   ipc: bool = False, buffers: type[Buffer] = Buffer) -> None:  # fmt: skip
        self._device_id, self._access, self._is_ipc = device_id, access, ipc
        self._pool = PoolHandle(pool) if owned else None
        self._exported = self._uuid = None
        if ipc:
            from ._ipc import send_with_handle

            send_with_handle(type(self))
        self._open(number, pool, device_id, access, buffers)

    @property
    def handle(self) -> driver.CUmemoryPool:
        """The driver's pool; 0 on the CPU and when closed."""
        from ...bindings import driver

        return driver.CUmemoryPool(self._handle)

    @property
    def is_handle_owned(self) -> bool:
        """Whether the pool was made by this object and ends with it."""
        return self._pool is not None

    @property
    def device_id(self) -> int:
        """The GPU whose memory it is; -1 for the host."""
        return self._device_id

    @property
    def is_device_accessible(self) -> bool:
        """Whether kernels can use its memory."""
        return bool(self._access & _core.DEVICE_ACCESS)

    @property
    def is_host_accessible(self) -> bool:
        """Whether Python can read its memory."""
        return bool(self._access & _core.HOST_ACCESS)

    @property
    def is_managed(self) -> bool:
        """Whether its memory migrates by itself."""
        return bool(self._access & _core.MANAGED)

    @property
    def attributes(self) -> PoolAttributes:
        """How much the pool holds and how it uses freed memory; some can be set."""
        from ._pool_attributes import PoolAttributes

        if self._device == CPU:
            raise cpu_cannot("attributes of a pool")
        return PoolAttributes._of(self._handle, self._pool)

    # ---- other processes

    @property
    def is_ipc_enabled(self) -> bool:
        """Whether other processes may open its memory."""
        return self._is_ipc

    @property
    def is_mapped(self) -> bool:
        """Whether the pool is another process's."""
        return bool(self._access & _core.MAPPED)

    @property
    def uuid(self) -> uuid.UUID | None:
        """What the processes that share the pool call it; None before it is exported."""
        return self._uuid

    @property
    def allocation_handle(self) -> IPCAllocationHandle:
        """What another process opens the pool with."""
        from ._ipc import export_pool

        return self._exported or export_pool(self)

    @classmethod
    def from_registry(cls, uuid: uuid.UUID) -> Any:
        """The resource that was registered in this process under ``uuid``; RuntimeError for
        none."""
        from ._ipc import registered

        return registered(uuid)

    def register(self, uuid: uuid.UUID) -> Any:
        """Makes the resource known in this process under ``uuid``; gives the one that is known."""
        from ._ipc import register

        return register(self, uuid)

    def close(self) -> None:
        """Lets the pool go; an owned one ends, with memory of it that is in use as soon as that is
        free."""
        self._shut()
        self._pool = None
        self._exported = None

    def __reduce__(self) -> Any:
        from ._ipc import reduce_pool

        return reduce_pool(self)

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
        chosen = None if options is None else options_of(DeviceMemoryResourceOptions, options)
        if device._is_cpu:
            if chosen is not None and chosen != DeviceMemoryResourceOptions():
                raise cpu_cannot(f"pools of their own, which {chosen} is for")
            self._open_pool(device._id, 0, False, -1, _core.DEVICE_ACCESS | _core.HOST_ACCESS)
            return
        from ._pool_native import current_pool, new_device_pool

        number = device.device_id
        pool = current_pool(number) if chosen is None else new_device_pool(number, chosen)
        ipc = chosen is not None and bool(chosen.ipc_enabled)
        self._open_pool(device._id, pool, chosen is not None, number, _core.DEVICE_ACCESS, ipc)

    @classmethod
    def from_allocation_handle(
        cls, device_id: Device | int, alloc_handle: Any
    ) -> DeviceMemoryResource:
        """Opens a pool of another process."""
        from .._device import Device
        from ._ipc import import_pool

        device = Device(device_id)

        def make(pool: int) -> DeviceMemoryResource:
            self = cls.__new__(cls)
            self._open_pool(device._id, pool, True, device.device_id, _core.DEVICE_ACCESS | _core.MAPPED, True)
            return self

        return import_pool(cls, alloc_handle, make)  # type: ignore[no-any-return]

    @property
    def peer_accessible_by(self) -> PeerSet:
        """The other GPUs whose kernels may use the memory: a set that can be changed or
        assigned."""
        from ._peers import PeerSet

        return PeerSet(self)

    @peer_accessible_by.setter
    def peer_accessible_by(self, devices: Iterable[Device | int]) -> None:
        from ._peers import PeerSet

        PeerSet(self)._become(devices)


def default_resource(device: Device) -> MemoryResource:
    """What ``Device.memory_resource`` is before it is set."""
    if device._is_cpu or device.properties.memory_pools_supported:
        return DeviceMemoryResource(device)
    from ._legacy import _SynchronousMemoryResource

    return _SynchronousMemoryResource(device)
