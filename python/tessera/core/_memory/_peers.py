# SPDX-License-Identifier: Apache-2.0
"""The GPUs that may use a pool's memory, as a set that follows the driver."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, MutableSet
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .._device import Device
    from ._pool import DeviceMemoryResource

__all__ = ["PeerSet"]


def _ordinal(device: Any) -> int:
    from .._device import Device

    return Device(device)._gpu("peers")


class PeerSet(MutableSet["Device"]):
    """``resource.peer_accessible_by``. Members are Devices; numbers are taken too. Every look asks
    the driver; changes of several GPUs at once are one call."""

    __slots__ = ("_resource",)

    def __init__(self, resource: DeviceMemoryResource) -> None:
        self._resource = resource

    @classmethod
    def _from_iterable(cls, it: Iterable[Device]) -> set[Device]:  # type: ignore[override]
        return set(it)

    def _numbers(self) -> list[int]:
        from .._device import Device

        own = self._resource.device_id
        return [
            d.device_id
            for d in Device.get_all_devices()
            if d.device_id != own and self._has(d.device_id)
        ]

    def _has(self, ordinal: int) -> bool:
        from ...bindings import driver
        from ._pool_host import _location

        flags = driver.checked.cuMemPoolGetAccess(
            self._resource._handle, _location("device", ordinal)
        )
        return int(flags) != 0

    def _set(self, ordinals: list[int], accessible: bool) -> None:
        from ...bindings import driver
        from ._pool_host import _location

        if not ordinals:
            return
        kinds = driver.CUmemAccess_flags
        wanted = (
            kinds.CU_MEM_ACCESS_FLAGS_PROT_READWRITE
            if accessible
            else kinds.CU_MEM_ACCESS_FLAGS_PROT_NONE
        )
        rows = []
        for ordinal in ordinals:
            row = driver.CUmemAccessDesc()
            row.location = _location("device", ordinal)
            row.flags = wanted
            rows.append(row)
        driver.checked.cuMemPoolSetAccess(self._resource._handle, rows, len(rows))

    def _allowed(self, devices: Iterable[Any]) -> list[int]:
        """Numbers of the devices but our own; ValueError for one that cannot be a peer."""
        from .._device import Device

        own = self._resource.device_id
        numbers = sorted({_ordinal(d) for d in devices} - {own})
        for number in numbers:
            if not Device(number).can_access_peer(own):
                raise ValueError(f"Device {number} cannot access peer memory of device {own}")
        return numbers

    def _become(self, devices: Iterable[Any]) -> None:
        wanted, now = set(self._allowed(devices)), set(self._numbers())
        self._set(sorted(wanted - now), True)
        self._set(sorted(now - wanted), False)

    def __contains__(self, device: object) -> bool:
        try:
            number = _ordinal(device)
        except (TypeError, ValueError, RuntimeError):
            return False
        return number != self._resource.device_id and self._has(number)

    def __iter__(self) -> Iterator[Device]:
        from .._device import Device

        return iter([Device(number) for number in self._numbers()])

    def __len__(self) -> int:
        return len(self._numbers())

    def add(self, value: Device | int) -> None:
        """Lets a GPU use the memory."""
        self._set(self._allowed([value]), True)

    def discard(self, value: Device | int) -> None:
        """Takes the memory from a GPU."""
        if value in self:
            self._set([_ordinal(value)], False)

    def update(self, *others: Iterable[Device | int]) -> None:
        """Lets several GPUs use the memory, in one call."""
        self._set(self._allowed([device for other in others for device in other]), True)

    def clear(self) -> None:
        """Takes the memory from all other GPUs, in one call."""
        self._set(self._numbers(), False)

    def __repr__(self) -> str:
        return f"PeerSet({{{', '.join(str(device) for device in self)}}})"
