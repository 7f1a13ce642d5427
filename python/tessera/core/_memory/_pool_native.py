# SPDX-License-Identifier: Apache-2.0
"""Finding and making pools of the driver."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from typing import Any

from ...bindings import driver
from .._place import primary_context

__all__ = ["current_pool", "default_pool", "new_device_pool", "new_pool"]

_KEEP_ALL = 2**64 - 1


@contextlib.contextmanager
def _while_capturing() -> Iterator[None]:
    """Lets this thread make calls that the driver refuses while any stream captures."""
    relaxed = driver.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_RELAXED
    before = driver.checked.cuThreadExchangeStreamCaptureMode(relaxed)
    try:
        yield
    finally:
        driver.checked.cuThreadExchangeStreamCaptureMode(before)


def _keep_freed(pool: Any) -> None:
    """Freed memory stays in the pool, unless somebody has said otherwise."""
    threshold = driver.CUmemPool_attribute.CU_MEMPOOL_ATTR_RELEASE_THRESHOLD
    with _while_capturing():
        if int(driver.checked.cuMemPoolGetAttribute(pool, threshold)) == 0:
            driver.checked.cuMemPoolSetAttribute(pool, threshold, _KEEP_ALL)


def current_pool(ordinal: int) -> int:
    """The pool that a GPU's allocations come from."""
    primary_context(ordinal)
    pool = driver.checked.cuDeviceGetMemPool(ordinal)
    _keep_freed(pool)
    return int(pool)


def default_pool(location: Any, kind: Any) -> int:
    """The driver's pool of a place for page-locked or managed memory (CUDA 13)."""
    pool = driver.checked.cuMemGetDefaultMemPool(location, kind)
    _keep_freed(pool)
    return int(pool)


def new_pool(location: Any, kind: Any, ipc: bool, max_size: int) -> int:
    """A pool of its own; the caller destroys it."""
    if ipc and sys.platform == "win32":
        raise RuntimeError("memory is shared between processes on Linux only")
    handles = driver.CUmemAllocationHandleType
    props = driver.CUmemPoolProps()
    props.allocType = kind
    props.handleTypes = (
        handles.CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR if ipc else handles.CU_MEM_HANDLE_TYPE_NONE
    )
    props.location = location
    props.maxSize = max_size
    pool = driver.checked.cuMemPoolCreate(props)
    if not ipc:
        _keep_freed(pool)
    return int(pool)


def new_device_pool(ordinal: int, options: Any) -> int:
    """A pool of a GPU's memory."""
    primary_context(ordinal)
    location = driver.CUmemLocation()
    location.type = driver.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE
    location.id = ordinal
    pinned = driver.CUmemAllocationType.CU_MEM_ALLOCATION_TYPE_PINNED
    return new_pool(location, pinned, bool(options.ipc_enabled), options.max_size)
