# SPDX-License-Identifier: Apache-2.0
"""Devices, streams, events and memory under CuPy's names; on a machine without a GPU the device 0 is the CPU."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from . import _memory, nvtx, runtime
from ._device import Device, get_compute_capability, get_device_id
from ._memory import (
    ManagedMemory,
    Memory,
    MemoryAsyncPool,
    MemoryPointer,
    MemoryPool,
    PinnedMemory,
    PinnedMemoryPointer,
    PinnedMemoryPool,
    UnownedMemory,
    alloc,
    alloc_pinned_memory,
    get_allocator,
    malloc_async,
    malloc_managed,
    set_allocator,
    set_pinned_memory_allocator,
    using_allocator,
)
from ._stream import Event, ExternalStream, Graph, Stream, get_current_stream, get_elapsed_time
from .runtime import CUDARuntimeError

__all__ = [
    "CUDARuntimeError", "Device", "Event", "ExternalStream", "Graph", "ManagedMemory", "Memory", "MemoryAsyncPool",
    "MemoryPointer", "MemoryPool", "OutOfMemoryError", "PinnedMemory", "PinnedMemoryPointer", "PinnedMemoryPool",
    "Stream", "UnownedMemory",
    "alloc", "alloc_pinned_memory", "get_allocator", "get_compute_capability", "get_current_stream", "get_device_id",
    "get_elapsed_time", "get_local_runtime_version", "is_available", "malloc_async", "malloc_managed", "nvtx",
    "profile", "runtime", "set_allocator", "set_pinned_memory_allocator", "using_allocator",
]  # fmt: skip

OutOfMemoryError = MemoryError


def is_available() -> bool:
    """Whether there is a GPU."""
    return runtime.getDeviceCount() > 0


def get_local_runtime_version() -> int:
    """The version of CUDA's runtime, 13000 for 13.0."""
    return int(runtime.runtimeGetVersion())


@contextlib.contextmanager
def profile() -> Iterator[None]:
    """What runs inside is profiled, by a profiler that waits for it."""
    runtime.profilerStart()
    try:
        yield
    finally:
        runtime.profilerStop()


def __getattr__(name: str) -> Any:
    if name == "memory":
        return _memory
    if name in ("device", "stream"):
        from . import _device, _stream

        return _device if name == "device" else _stream
    raise AttributeError(f"module 'cupy.cuda' has no attribute {name!r}")
