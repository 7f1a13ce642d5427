# SPDX-License-Identifier: Apache-2.0
"""Memory: buffers, and the resources that they come from."""

from __future__ import annotations

import importlib
from typing import Any

# Public name -> module of it in this package.
_NAMES = {
    "Buffer": "_buffer",
    "DeviceMemoryResource": "_pool",
    "DeviceMemoryResourceOptions": "_pool",
    "GraphMemoryResource": "_graph",
    "IPCAllocationHandle": "_ipc",
    "IPCBufferDescriptor": "_ipc",
    "LegacyPinnedMemoryResource": "_legacy",
    "ManagedBuffer": "_managed",
    "ManagedMemoryResource": "_pool_host",
    "ManagedMemoryResourceOptions": "_pool_host",
    "MemoryResource": "_buffer",
    "PinnedMemoryResource": "_pool_host",
    "PinnedMemoryResourceOptions": "_pool_host",
    "VirtualMemoryResource": "_virtual",
    "VirtualMemoryResourceOptions": "_virtual",
}
__all__ = list(_NAMES)


def __getattr__(name: str) -> Any:
    if name in _NAMES:
        return getattr(importlib.import_module(f"{__name__}.{_NAMES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
