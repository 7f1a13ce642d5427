# SPDX-License-Identifier: Apache-2.0
"""Resources without pools: page-locked memory of any driver, and synchronous device memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .._errors import cpu_cannot
from .._place import in_context
from ._buffer import Buffer, MemoryResource

if TYPE_CHECKING:
    from .._device import Device

__all__ = ["LegacyPinnedMemoryResource"]


def _checked_size(size: Any) -> int:
    number = int(size.__index__())
    if number < 0:
        raise ValueError(f"cannot allocate {number} bytes; the size must be 0 or more")
    return number


def _wait(stream: Any) -> None:
    """For work that may still use memory which is to end at once."""
    if stream is not None:
        from .._stream import Stream_accept

        Stream_accept(stream).sync()


class LegacyPinnedMemoryResource(MemoryResource):
    """Page-locked memory of the host (cuMemAllocHost). Allocating and freeing do not follow a
    stream: freeing waits for the one it is given. Kernels of every GPU can use the memory."""

    __slots__ = ()

    def allocate(self, size: int, *, stream: Any = None) -> Buffer:
        """``size`` bytes; ``stream`` is not needed."""
        from .._device import Device
        from .._stream import Stream_accept

        if stream is not None:
            Stream_accept(stream)
        number, device = _checked_size(size), Device()
        if device._is_cpu:
            raise cpu_cannot("page-locked memory")
        if not number:
            return Buffer.from_handle(0, 0, mr=self)
        from ...bindings import driver

        with in_context(device.device_id):
            address = driver.checked.cuMemAllocHost(number)
        return Buffer.from_handle(address, number, mr=self)

    def deallocate(self, ptr: int, size: int, *, stream: Any = None) -> None:
        """Frees at once, after waiting for ``stream``."""
        from ...bindings import driver

        _wait(stream)
        if ptr:
            driver.checked.cuMemFreeHost(ptr)

    @property
    def is_device_accessible(self) -> bool:
        """True."""
        return True

    @property
    def is_host_accessible(self) -> bool:
        """True."""
        return True

    @property
    def device_id(self) -> int:
        """RuntimeError: it is memory of no GPU."""
        raise RuntimeError("the pinned memory resource is not bound to any GPU")


class _SynchronousMemoryResource(MemoryResource):
    """Memory of a GPU whose driver has no pools (cuMemAlloc)."""

    __slots__ = ("_device_id",)
    _device_id: int

    def __init__(self, device_id: Device | int) -> None:
        from .._device import Device

        self._device_id = Device(device_id)._gpu("memory of a GPU")

    def allocate(self, size: int, *, stream: Any = None) -> Buffer:
        """``size`` bytes; ``stream`` is not needed."""
        from .._stream import Stream_accept

        if stream is not None:
            Stream_accept(stream)
        number = _checked_size(size)
        if not number:
            return Buffer.from_handle(0, 0, mr=self)
        from ...bindings import driver

        with in_context(self._device_id):
            address = driver.checked.cuMemAlloc(number)
        return Buffer.from_handle(address, number, mr=self)

    def deallocate(self, ptr: int, size: int, *, stream: Any = None) -> None:
        """Frees at once, after waiting for ``stream``."""
        from ...bindings import driver

        _wait(stream)
        if ptr:
            with in_context(self._device_id):
                driver.checked.cuMemFree(ptr)

    @property
    def is_device_accessible(self) -> bool:
        """True."""
        return True

    @property
    def is_host_accessible(self) -> bool:
        """False."""
        return False

    @property
    def device_id(self) -> int:
        """The GPU."""
        return self._device_id
