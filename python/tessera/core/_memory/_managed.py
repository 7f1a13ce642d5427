# SPDX-License-Identifier: Apache-2.0
"""Managed memory: advice, prefetching, discarding, one buffer or many at a time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, MutableSet, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from ...bindings import driver
from .._host import Host
from ._buffer import Buffer

if TYPE_CHECKING:
    from .._device import Device

__all__ = ["ManagedBuffer", "discard_batch", "discard_prefetch_batch", "prefetch_batch"]


class Place(NamedTuple):
    """A place as the driver names it."""

    kind: str  # "device", "host", "host_numa", "host_numa_current"
    id: int

    def native(self) -> Any:
        """The CUmemLocation."""
        location = driver.CUmemLocation()
        location.type = driver.CUmemLocationType[f"CU_MEM_LOCATION_TYPE_{self.kind.upper()}"]
        location.id = self.id
        return location


def place_of(location: Any, *, allow_none: bool = False) -> Place | None:
    """A Device or Host as a Place."""
    from .._device import Device

    if location is None:
        if allow_none:
            return None
        raise ValueError("location is required: a Device or a Host")
    if isinstance(location, Device):
        return Place("device", location._gpu("managed memory"))
    if not isinstance(location, Host):
        raise TypeError(f"location must be a Device, Host, or None, not {type(location).__name__}")
    if location.is_numa_current:
        return Place("host_numa_current", 0)
    return Place("host", 0) if location.numa_id is None else Place("host_numa", location.numa_id)


def _ask(buffer: Buffer, name: str, bytes_: int = 4) -> Any:
    attribute = driver.CUmem_range_attribute[f"CU_MEM_RANGE_ATTRIBUTE_{name}"]
    return driver.checked.cuMemRangeGetAttribute(bytes_, attribute, _address(buffer), buffer.size)


def _address(buffer: Buffer) -> int:
    if buffer._closed:
        raise RuntimeError("the buffer is closed: its memory was given back")
    return buffer.handle


def _check_managed(buffer: Buffer) -> int:
    """The address; ValueError for memory that is not managed."""
    address, mr = _address(buffer), buffer.memory_resource
    if mr is not None and mr.is_managed:
        return address
    asked = driver.CUpointer_attribute.CU_POINTER_ATTRIBUTE_IS_MANAGED
    status, managed = driver.cuPointerGetAttribute(asked, address)
    if status or not managed:
        raise ValueError("the buffer is not a managed-memory allocation")
    return address


def _advise(buffer: Buffer, advice: str, place: Place | None) -> None:
    address = _check_managed(buffer)
    member = driver.CUmem_advise[f"CU_MEM_ADVISE_{advice}"]
    driver.checked.cuMemAdvise(address, buffer.size, member, (place or Place("device", 0)).native())


def _order(stream: Any) -> Any:
    from .._stream import Stream_accept

    return Stream_accept(stream)._address


# ---- several buffers


def _buffers(buffers: Any) -> list[Buffer]:
    if isinstance(buffers, Buffer) or not isinstance(buffers, Iterable):
        raise TypeError(f"a sequence of Buffers is needed, not a {type(buffers).__name__}")
    listed = list(buffers)
    for buffer in listed:
        if not isinstance(buffer, Buffer):
            raise TypeError(f"a sequence of Buffers is needed; it has a {type(buffer).__name__}")
        _check_managed(buffer)
    return listed


def _places(locations: Any, n: int) -> list[Place]:
    """One place for each of n buffers: the same for all, or one each."""
    if isinstance(locations, Sequence) and not isinstance(locations, str):
        if len(locations) != n:
            raise ValueError(
                f"length of the locations is {len(locations)}, but there are {n} buffers"
            )
        found = [place_of(location) for location in locations]
    else:
        found = [place_of(locations)] * n
    return [place for place in found if place is not None]


def prefetch_batch(stream: Any, buffers: Any, locations: Any) -> None:
    """Moves managed buffers to a place (or one place each) in the order of the stream."""
    listed = _buffers(buffers)
    places, order = _places(locations, len(listed)), _order(stream)
    for buffer, place in zip(listed, places, strict=True):
        driver.checked.cuMemPrefetchAsync(buffer.handle, buffer.size, place.native(), 0, order)


def discard_batch(stream: Any, buffers: Any) -> None:
    """Tells that the contents of managed buffers are not needed any more."""
    listed, order = _buffers(buffers), _order(stream)
    pointers, sizes = [b.handle for b in listed], [b.size for b in listed]
    driver.checked.cuMemDiscardBatchAsync(pointers, sizes, len(listed), 0, order)


def discard_prefetch_batch(stream: Any, buffers: Any, locations: Any) -> None:
    """Moves managed buffers without their contents: faster where they are to be written."""
    listed = _buffers(buffers)
    places, order = _places(locations, len(listed)), _order(stream)
    if not listed:
        return
    pointers, sizes = [b.handle for b in listed], [b.size for b in listed]
    driver.checked.cuMemDiscardAndPrefetchBatchAsync(
        pointers, sizes, len(listed), [place.native() for place in places], list(range(len(listed))),
        len(listed), 0, order,
    )  # fmt: skip


# ---- one buffer


class AccessedBy(MutableSet["Device | Host"]):
    """``buffer.accessed_by``: who keeps a mapping of the memory. Every look asks the driver."""

    __slots__ = ("_buffer",)

    def __init__(self, buffer: ManagedBuffer) -> None:
        self._buffer = buffer

    @classmethod
    def _from_iterable(cls, it: Iterable[Any]) -> set[Any]:  # type: ignore[override]
        return set(it)

    @staticmethod
    def _allowed(location: Any) -> Place:
        place = place_of(location)
        assert place is not None  # None was refused
        if place.kind not in ("device", "host"):
            raise ValueError(f"accessed_by does not support location_type='{place.kind}'")
        return place

    def _members(self) -> list[Any]:
        from .._device import Device

        room = 4 * (len(Device.get_all_devices()) + 1)
        found = _ask(self._buffer, "ACCESSED_BY", room)
        return [Host() if n == -1 else Device(n) for n in found if n >= -1]

    def __contains__(self, location: object) -> bool:
        return location in self._members()

    def __iter__(self) -> Iterator[Any]:
        return iter(self._members())

    def __len__(self) -> int:
        return len(self._members())

    def add(self, value: Any) -> None:
        """Keeps a mapping for a Device or the Host."""
        _advise(self._buffer, "SET_ACCESSED_BY", self._allowed(value))

    def discard(self, value: Any) -> None:
        """Lets a mapping go."""
        if value in self:
            _advise(self._buffer, "UNSET_ACCESSED_BY", self._allowed(value))

    def update(self, *others: Iterable[Any]) -> None:
        """Keeps mappings for several."""
        for place in [self._allowed(value) for other in others for value in other]:
            _advise(self._buffer, "SET_ACCESSED_BY", place)

    def __repr__(self) -> str:
        return f"AccessedBy({{{', '.join(map(repr, self))}}})"


class ManagedBuffer(Buffer):
    """Memory that migrates between the host and the GPUs by itself, with advice about where it is
    needed. Made by ``ManagedMemoryResource.allocate``; ``ManagedBuffer.from_handle`` takes
    others'."""

    __slots__ = ()

    @property
    def read_mostly(self) -> bool:
        """Whether readers get copies of their own; set it for memory that is seldom written."""
        return bool(_ask(self, "READ_MOSTLY"))

    @read_mostly.setter
    def read_mostly(self, value: bool) -> None:
        _advise(self, "SET_READ_MOSTLY" if value else "UNSET_READ_MOSTLY", None)

    @property
    def preferred_location(self) -> Device | Host | None:
        """Where the memory is to stay: a Device, a Host, or None."""
        from .._device import Device

        kind = int(_ask(self, "PREFERRED_LOCATION_TYPE"))
        number = int(_ask(self, "PREFERRED_LOCATION_ID"))
        kinds = driver.CUmemLocationType
        if kind == kinds.CU_MEM_LOCATION_TYPE_DEVICE:
            return Device(number)
        if kind == kinds.CU_MEM_LOCATION_TYPE_HOST:
            return Host()
        if kind == kinds.CU_MEM_LOCATION_TYPE_HOST_NUMA:
            return Host(numa_id=number)
        return Host.numa_current() if kind == kinds.CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT else None

    @preferred_location.setter
    def preferred_location(self, location: Device | Host | None) -> None:
        place = place_of(location, allow_none=True)
        advice = "UNSET_PREFERRED_LOCATION" if place is None else "SET_PREFERRED_LOCATION"
        _advise(self, advice, place)

    @property
    def last_prefetch_location(self) -> Device | Host | None:
        """Where the whole of it was prefetched to last; None where that differs or never was."""
        from .._device import Device

        number = int(_ask(self, "LAST_PREFETCH_LOCATION"))
        return Host() if number == -1 else Device(number) if number >= 0 else None

    @property
    def accessed_by(self) -> AccessedBy:
        """Who keeps a mapping of the memory: a set that can be changed or assigned."""
        return AccessedBy(self)

    @accessed_by.setter
    def accessed_by(self, locations: Iterable[Any]) -> None:
        wanted = list(locations)
        for location in wanted:
            AccessedBy._allowed(location)
        now = AccessedBy(self)
        for location in [x for x in now if x not in wanted]:
            now.discard(location)
        now.update(wanted)

    def prefetch(self, location: Device | Host, *, stream: Any) -> None:
        """Moves the memory to a place, in the order of the stream."""
        place = place_of(location)
        assert place is not None  # None was refused
        address = _check_managed(self)
        driver.checked.cuMemPrefetchAsync(address, self.size, place.native(), 0, _order(stream))

    def discard(self, *, stream: Any) -> None:
        """Tells that the contents are not needed any more."""
        discard_batch(stream, [self])

    def discard_prefetch(self, location: Device | Host, *, stream: Any) -> None:
        """Moves the memory without its contents."""
        discard_prefetch_batch(stream, [self], location)
