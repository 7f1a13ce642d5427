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
    "DeviceResources": "_device_resources",
    "Event": "_event",
    "EventOptions": "_event",
    "GraphMemoryResource": "_memory._graph",
    "GraphicsResource": "_graphics",
    "Host": "_host",
    "Kernel": "_kernel",
    "LEGACY_DEFAULT_STREAM": "_stream",
    "LaunchConfig": "_launch_config",
    "LegacyPinnedMemoryResource": "_memory._legacy",
    "Linker": "_linker",
    "LinkerOptions": "_linker",
    "ManagedBuffer": "_memory._managed",
    "ManagedMemoryResource": "_memory._pool_host",
    "ManagedMemoryResourceOptions": "_memory._pool_host",
    "MemoryResource": "_memory._buffer",
    "NVRTCError": "_errors",
    "ObjectCode": "_object_code",
    "PER_THREAD_DEFAULT_STREAM": "_stream",
    "PinnedMemoryResource": "_memory._pool_host",
    "PinnedMemoryResourceOptions": "_memory._pool_host",
    "Program": "_program",
    "ProgramOptions": "_program_options",
    "SMResource": "_device_resources",
    "SMResourceOptions": "_device_resources",
    "Stream": "_stream",
    "StreamOptions": "_stream",
    "TensorMapDescriptor": "_tensor_map",
    "TensorMapDescriptorOptions": "_tensor_map",
    "VirtualMemoryResource": "_memory._virtual",
    "VirtualMemoryResourceOptions": "_memory._virtual",
    "WorkqueueResource": "_device_resources",
    "WorkqueueResourceOptions": "_device_resources",
    "__version__": "_version",
    "launch": "_launcher",
}
_MODULES = ("checkpoint", "graph", "system", "texture", "typing", "utils")

__all__ = [name for name in _NAMES if name != "__version__"]


def _language() -> Any:
    """The names that kernels of threads use, ``cuda.grid`` and so on: tutorials call this module ``cuda``."""
    return importlib.import_module("tessera.cuda._device")


def __getattr__(name: str) -> Any:
    if name in _NAMES:
        value = getattr(importlib.import_module(f"{__name__}.{_NAMES[name]}"), name)
        globals()[name] = value
        return value
    if name in _MODULES:
        return importlib.import_module(f"{__name__}.{name}")
    if not name.startswith("_") and (name == "kernel" or name in _language().__all__):
        return getattr(importlib.import_module("tessera.cuda"), name)
    from .._errors import did_you_mean

    hint = did_you_mean(name, [*_NAMES, *_MODULES])
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}{hint}")


def __dir__() -> list[str]:
    return sorted([*__all__, *_MODULES])
