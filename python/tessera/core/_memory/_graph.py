# SPDX-License-Identifier: Apache-2.0
"""Memory that lives within a graph."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._buffer import Buffer, MemoryResource

if TYPE_CHECKING:
    from .._device import Device
    from ._pool_attributes import GraphMemoryResourceAttributes

__all__ = ["GraphMemoryResource"]


class GraphMemoryResource(MemoryResource):
    """Allocations while work is captured into a graph become nodes of it. One object for each
    GPU."""

    __slots__ = ("_device_id",)
    _known: dict[int, GraphMemoryResource] = {}  # noqa: RUF012 - the one table of all
    _device_id: int

    def __new__(cls, device_id: Device | int) -> GraphMemoryResource:
        from .._device import Device

        number = Device(device_id)._gpu("graphs with memory")
        if number not in cls._known:
            self = object.__new__(cls)
            self._device_id = number
            cls._known.setdefault(number, self)
        return cls._known[number]

    def allocate(self, size: int, *, stream: Any = None) -> Buffer:
        """``size`` bytes for the work captured from ``stream``, which must be capturing."""
        from ...bindings import driver
        from .._stream import Stream_accept

        accepted = Stream_accept(stream)
        _check_capturing(accepted)
        address = driver.checked.cuMemAllocAsync(size, accepted._address)
        made = Buffer._wrap(None, int(address), size, self, None)
        made._set_order(accepted)
        return made

    def deallocate(self, ptr: int, size: int, *, stream: Any = None) -> None:
        """A node that frees, in the graph captured from ``stream``, or a free after the graph."""
        from ...bindings import driver
        from .._stream import Stream_accept

        if ptr:
            driver.checked.cuMemFreeAsync(ptr, Stream_accept(stream)._address)

    def trim(self) -> None:
        """Gives memory that no graph uses now back to the system."""
        from ...bindings import driver

        driver.checked.cuDeviceGraphMemTrim(self._device_id)

    @property
    def attributes(self) -> GraphMemoryResourceAttributes:
        """How much the graphs hold."""
        from ._pool_attributes import GraphMemoryResourceAttributes

        return GraphMemoryResourceAttributes._of(self._device_id)  # type: ignore[no-any-return]

    @property
    def device_id(self) -> int:
        """The GPU."""
        return self._device_id

    @property
    def is_device_accessible(self) -> bool:
        """True."""
        return True

    @property
    def is_host_accessible(self) -> bool:
        """False."""
        return False

    def __reduce__(self) -> tuple[Any, ...]:
        return GraphMemoryResource, (self._device_id,)


def _check_capturing(stream: Any) -> None:
    from ...bindings import driver

    if not int(driver.checked.cuStreamIsCapturing(stream._address)):
        raise RuntimeError(
            "GraphMemoryResource cannot perform memory operations on a non-capturing stream. "
            "Give it a GraphBuilder that is building"
        )
