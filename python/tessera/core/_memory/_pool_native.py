# SPDX-License-Identifier: Apache-2.0
"""Finding and making pools of the driver."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...bindings import driver
from .._place import primary_context

if TYPE_CHECKING:
    from .._device import Device

__all__ = ["current_pool", "new_pool"]

_KEEP_ALL = 2**64 - 1


def _keep_freed(pool: Any) -> None:
    """Freed memory stays in the pool, unless somebody has said otherwise."""
    threshold = driver.CUmemPool_attribute.CU_MEMPOOL_ATTR_RELEASE_THRESHOLD
    if int(driver.checked.cuMemPoolGetAttribute(pool, threshold)) == 0:
        driver.checked.cuMemPoolSetAttribute(pool, threshold, driver.cuuint64_t(_KEEP_ALL))


def current_pool(device: Device) -> int:
    """The pool that the device's allocations come from."""
    primary_context(device.device_id)
    pool = driver.checked.cuDeviceGetMemPool(device.device_id)
    _keep_freed(pool)
    return int(pool)


def new_pool(device: Device, options: Any) -> int:
    """A pool of its own; the caller destroys it."""
    primary_context(device.device_id)
    props = driver.CUmemPoolProps()
    props.allocType = driver.CUmemAllocationType.CU_MEM_ALLOCATION_TYPE_PINNED
    handles = driver.CUmemAllocationHandleType
    props.handleTypes = (
        handles.CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR
        if options.ipc_enabled
        else handles.CU_MEM_HANDLE_TYPE_NONE
    )
    props.location.type = driver.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE
    props.location.id = device.device_id
    props.maxSize = options.max_size
    pool = driver.checked.cuMemPoolCreate(props)
    if not options.ipc_enabled:
        _keep_freed(pool)
    return int(pool)
