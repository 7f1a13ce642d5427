# SPDX-License-Identifier: Apache-2.0
"""The GPUs of the machine through NVML: temperatures, clocks, memory, processes, events.

No CUDA context is made and importing loads no library. ``get_user_mode_driver_version`` and
``get_num_devices`` work without NVML.
"""

from __future__ import annotations

import importlib
from typing import Any

from . import _system, typing
from ._system import *  # noqa: F403

_MODULES = ("_device", "_system_events", "exceptions")

__all__ = [*_system.__all__, "Device", "register_events", "typing"]


def __getattr__(name: str) -> Any:
    for module in () if name.startswith("_") else _MODULES:
        found = importlib.import_module(f"{__name__}.{module}")
        if name in found.__all__:
            value = globals()[name] = getattr(found, name)
            return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    found = [importlib.import_module(f"{__name__}.{module}") for module in _MODULES]
    return sorted({*__all__, *(name for module in found for name in module.__all__)})
