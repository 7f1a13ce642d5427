# SPDX-License-Identifier: Apache-2.0
"""Host objects: devices, streams, events, buffers, memory resources, programs, launches, graphs.

The names are those of ``cuda.core``. They work on GPUs and, wherever that makes sense, on the CPU:
``Device()`` is a GPU if there is one. Importing loads nothing: a name's module is imported when the
name is first used, a driver when the first object of a GPU is made.
"""

from __future__ import annotations

import importlib
from typing import Any

# Public name -> module of it in this package.
_NAMES = {
    "Buffer": "_memory._buffer",
    "CUDAError": "_errors",
    "CUDAWarning": "_errors",
    "Context": "_context",
    "ContextOptions": "_context",
    "Device": "_device",
    "DeviceMemoryResource": "_memory._pool",
    "DeviceMemoryResourceOptions": "_memory._pool",
    "Event": "_event",
    "EventOptions": "_event",
    "Kernel": "_kernel",
    "LEGACY_DEFAULT_STREAM": "_stream",
    "LaunchConfig": "_launch_config",
    "Linker": "_linker",
    "LinkerOptions": "_linker",
    "MemoryResource": "_memory._buffer",
    "NVRTCError": "_errors",
    "ObjectCode": "_object_code",
    "PER_THREAD_DEFAULT_STREAM": "_stream",
    "Program": "_program",
    "ProgramOptions": "_program_options",
    "Stream": "_stream",
    "StreamOptions": "_stream",
    "launch": "_launcher",
}
_MODULES = ("checkpoint", "graph", "system", "texture", "typing", "utils")

__all__ = list(_NAMES)


def __getattr__(name: str) -> Any:
    if name in _NAMES:
        value = getattr(importlib.import_module(f"{__name__}.{_NAMES[name]}"), name)
        globals()[name] = value
        return value
    if name in _MODULES:
        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, *_MODULES])
