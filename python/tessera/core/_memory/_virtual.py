# SPDX-License-Identifier: Apache-2.0
"""Virtual memory: address ranges, physical memory mapped to them, growing in place."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ...bindings import driver
from .._errors import shown
from .._options import options_of
from .._place import primary_context
from ._buffer import Buffer, MemoryResource

if TYPE_CHECKING:
    from .._device import Device

__all__ = ["VirtualMemoryResource", "VirtualMemoryResourceOptions"]

# Word of an option -> member of its enum of the driver.
_ACCESS = {"rw": "PROT_READWRITE", "r": "PROT_READ", None: "PROT_NONE"}
_HANDLES = {
    "posix_fd": "POSIX_FILE_DESCRIPTOR",
    "win32_kmt": "WIN32_KMT",
    "fabric": "FABRIC",
    None: "NONE",
}
_LOCATIONS = {
    "device": "DEVICE",
    "host": "HOST",
    "host_numa": "HOST_NUMA",
    "host_numa_current": "HOST_NUMA_CURRENT",
}
_GRANULARITIES = {"minimum": "MINIMUM", "recommended": "RECOMMENDED"}
_KINDS = {"pinned": "PINNED", "managed": "MANAGED"}


def _member(enum: str, prefix: str, table: dict[Any, str], word: Any, what: str) -> Any:
    """The member of a driver's enum that an option's word names."""
    key = None if word is None else str(word)
    if key not in table:
        known = ", ".join(repr(k) for k in table)
        raise ValueError(f"{what}: {shown(word)}; it is one of {known}")
    return getattr(driver, enum)[f"{prefix}_{table[key]}"]


@dataclass
class VirtualMemoryResourceOptions:
    """How virtual memory is made and who may use it.

    Attributes
    ----------
    allocation_type : "pinned", "managed"
    location_type : "device", "host", "host_numa", "host_numa_current"
    handle_type : "posix_fd", "win32_kmt", "fabric", None
        What the memory can be exported as.
    granularity : "minimum", "recommended"
        What sizes are rounded up to.
    gpu_direct_rdma : bool
        Whether network cards may use it.
    addr_hint, addr_align : int, optional
        Where the addresses are to begin, and their alignment.
    peers : iterable of int
        Other GPUs that may use it.
    self_access, peer_access : "rw", "r", None
        What the GPU itself, and what ``peers`` may do.
    """

    allocation_type: str = "pinned"
    location_type: str = "device"
    handle_type: str | None = "posix_fd"
    granularity: str = "recommended"
    gpu_direct_rdma: bool = False
    addr_hint: int | None = 0
    addr_align: int | None = None
    peers: Iterable[int] = field(default_factory=tuple)
    self_access: str | None = "rw"
    peer_access: str | None = "rw"

    @staticmethod
    def _access_to_flags(spec: Any) -> Any:
        return _member(
            "CUmemAccess_flags", "CU_MEM_ACCESS_FLAGS", _ACCESS, spec, "Unknown access spec"
        )

    @staticmethod
    def _allocation_type_to_driver(spec: Any) -> Any:
        return _member(
            "CUmemAllocationType",
            "CU_MEM_ALLOCATION_TYPE",
            _KINDS,
            spec,
            "Unsupported allocation_type",
        )

    @staticmethod
    def _location_type_to_driver(spec: Any) -> Any:
        return _member(
            "CUmemLocationType",
            "CU_MEM_LOCATION_TYPE",
            _LOCATIONS,
            spec,
            "Unsupported location_type",
        )

    @staticmethod
    def _handle_type_to_driver(spec: Any) -> Any:
        if spec == "win32":
            raise NotImplementedError(
                "win32 is currently not supported: it needs security attributes; use win32_kmt"
            )
        return _member(
            "CUmemAllocationHandleType",
            "CU_MEM_HANDLE_TYPE",
            _HANDLES,
            spec,
            "Unsupported handle_type",
        )

    @staticmethod
    def _granularity_to_driver(spec: Any) -> Any:
        enum, prefix = "CUmemAllocationGranularity_flags", "CU_MEM_ALLOC_GRANULARITY"
        return _member(enum, prefix, _GRANULARITIES, spec, "Unsupported granularity")


class _Undo:
    """What is to be undone, last first, unless everything went well."""

    def __init__(self) -> None:
        self.steps: list[Callable[[], object]] = []

    def add(self, function: Callable[..., object], *args: Any) -> None:
        self.steps.append(lambda: function(*args))

    def __enter__(self) -> _Undo:
        return self

    def __exit__(self, kind: object, *rest: object) -> None:
        if kind is not None:
            for step in reversed(self.steps):
                step()


@dataclass
class _Range:
    """A run of addresses and the physical pieces under it: (address, bytes, handle)."""

    size: int
    reserved: list[tuple[int, int]]
    pieces: list[tuple[int, int, int]]


class VirtualMemoryResource(MemoryResource):
    """Memory by the driver's virtual memory functions; a buffer can grow in place.

    Parameters
    ----------
    device_id : Device or int
    config : VirtualMemoryResourceOptions or dict, optional
    """

    def __init__(self, device_id: Device | int, config: Any = None) -> None:
        from .._device import Device

        self.device = Device(device_id)
        number = self.device._gpu("virtual memory of a GPU")
        self.config = options_of(VirtualMemoryResourceOptions, config)
        self._ranges: dict[int, _Range] = {}
        primary_context(number)
        if not self.device.properties.virtual_memory_management_supported:
            raise RuntimeError("Virtual memory management is not supported on this device")
        if self.config.gpu_direct_rdma and not self.device.properties.gpu_direct_rdma_supported:
            raise RuntimeError("GPU Direct RDMA is not supported on this device")

    # ---- what the driver is told

    def _prop(self) -> Any:
        o, prop = self.config, driver.CUmemAllocationProp()
        prop.type = o._allocation_type_to_driver(o.allocation_type)
        prop.location.type = o._location_type_to_driver(o.location_type)
        prop.location.id = self.device.device_id if o.location_type == "device" else -1
        prop.requestedHandleTypes = o._handle_type_to_driver(o.handle_type)
        prop.allocFlags.gpuDirectRDMACapable = int(o.gpu_direct_rdma)
        return prop

    def _rounded(self, size: int) -> int:
        flag = self.config._granularity_to_driver(self.config.granularity)
        step = int(driver.checked.cuMemGetAllocationGranularity(self._prop(), flag))
        return -(-size // step) * step

    def _access(self) -> list[Any]:
        o = self.config
        who = [(self.device.device_id, o.self_access)] if o.self_access is not None else []
        who += [(int(peer), o.peer_access) for peer in o.peers if o.peer_access is not None]
        rows = []
        for number, access in who:
            row = driver.CUmemAccessDesc()
            row.location.type = driver.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE
            row.location.id = number
            row.flags = o._access_to_flags(access)
            rows.append(row)
        return rows

    def _fill(self, undo: _Undo, address: int, size: int) -> int:
        """Physical memory under a reserved range."""
        handle = int(driver.checked.cuMemCreate(size, self._prop(), 0))
        undo.add(driver.cuMemRelease, handle)
        driver.checked.cuMemMap(address, size, 0, handle, 0)
        undo.add(driver.cuMemUnmap, address, size)
        self._permit(address, size)
        return handle

    def _permit(self, address: int, size: int) -> None:
        rows = self._access()
        if rows:
            driver.checked.cuMemSetAccess(address, size, rows, len(rows))

    def _reserve(self, undo: _Undo, size: int, hint: int) -> int:
        address = int(
            driver.checked.cuMemAddressReserve(size, self.config.addr_align or 0, hint, 0)
        )
        undo.add(driver.cuMemAddressFree, address, size)
        return address

    # ---- buffers

    def allocate(self, size: int, *, stream: Any = None) -> Buffer:
        """At least ``size`` bytes; ``stream`` is not needed."""
        if size < 0:
            raise ValueError(f"cannot allocate {size} bytes; the size must be 0 or more")
        whole = self._rounded(max(size, 1))
        with _Undo() as undo:
            address = self._reserve(undo, whole, self.config.addr_hint or 0)
            handle = self._fill(undo, address, whole)
        self._ranges[address] = _Range(whole, [(address, whole)], [(address, whole, handle)])
        return Buffer.from_handle(address, whole, mr=self)

    def deallocate(self, ptr: int, size: int, *, stream: Any = None) -> None:
        """Frees at once, after waiting for ``stream``."""
        if stream is not None:
            from .._stream import Stream_accept

            Stream_accept(stream).sync()
        known = self._ranges.pop(int(ptr), None)
        if known is None:
            raise ValueError(f"the memory at {int(ptr):#x} is not of this resource")
        for address, bytes_, handle in known.pieces:
            driver.checked.cuMemUnmap(address, bytes_)
            driver.checked.cuMemRelease(handle)
        for address, bytes_ in known.reserved:
            driver.checked.cuMemAddressFree(address, bytes_)

    def modify_allocation(self, buf: Buffer, new_size: int, config: Any = None) -> Buffer:
        """Grows a buffer, in place where the addresses behind it are free; nothing changes if it
        fails.

        ``config`` replaces the resource's options, for the new memory and the rights to the old.
        Gives ``buf``, with its new size and, where it had to move, its new address.
        """
        before = self.config
        if config is not None:
            self.config = options_of(VirtualMemoryResourceOptions, config)
        try:
            return self._grow(buf, new_size, config is not None)
        except Exception:
            self.config = before
            raise

    def _grow(self, buf: Buffer, new_size: int, is_new_access: bool) -> Buffer:
        known = self._ranges.get(buf.handle)
        if known is None or buf.memory_resource is not self:
            raise ValueError("the buffer is not of this resource")
        more = self._rounded(new_size) - known.size if new_size > known.size else 0
        if more > 0 and not self._extend(buf, known, more):
            self._move(buf, known, more)
        if is_new_access:
            self._permit(buf.handle, buf.size)
        return buf

    def _extend(self, buf: Buffer, known: _Range, more: int) -> bool:
        """New memory right behind the old; False where the addresses are taken."""
        end = buf.handle + known.size
        try:
            with _Undo() as undo:
                address = self._reserve(undo, more, end)
                if address != end:
                    raise LookupError
                handle = self._fill(undo, address, more)
        except LookupError:
            return False
        known.size += more
        known.reserved.append((address, more))
        known.pieces.append((address, more, handle))
        buf._set_memory(buf.handle, known.size)
        return True

    def _move(self, buf: Buffer, known: _Range, more: int) -> None:
        """The old memory and the new one under a new range of addresses."""
        old, whole = buf.handle, known.size + more
        with _Undo() as undo:
            address = self._reserve(undo, whole, 0)
            added = self._fill(undo, address + known.size, more)
            pieces = []
            for place, bytes_, handle in known.pieces:
                target = address + (place - old)
                driver.checked.cuMemMap(target, bytes_, 0, handle, 0)
                undo.add(driver.cuMemUnmap, target, bytes_)
                self._permit(target, bytes_)
                pieces.append((target, bytes_, handle))
            buf._set_memory(address, whole)
        for place, bytes_, _ in known.pieces:
            driver.checked.cuMemUnmap(place, bytes_)
        for place, bytes_ in known.reserved:
            driver.checked.cuMemAddressFree(place, bytes_)
        del self._ranges[old]
        pieces.append((address + known.size, more, added))
        self._ranges[address] = _Range(whole, [(address, whole)], pieces)

    # ---- what it is

    @property
    def device_id(self) -> int:
        """The GPU."""
        return self.device.device_id

    @property
    def is_device_accessible(self) -> bool:
        """Whether kernels can use its memory."""
        return self.config.location_type == "device"

    @property
    def is_host_accessible(self) -> bool:
        """Whether Python can read its memory."""
        return self.config.location_type != "device"

    def __repr__(self) -> str:
        return f"<VirtualMemoryResource device={self.device}>"
