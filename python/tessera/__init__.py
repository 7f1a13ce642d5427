# SPDX-License-Identifier: Apache-2.0
"""Tessera: GPU programming in plain Python at the speed of the machine, also on machines without one.

``tessera.tile`` is the tile language; arrays, streams and devices are here. Importing costs a few
milliseconds and neither NumPy nor a GPU driver; both are looked for when they are first needed.
"""

from __future__ import annotations

import atexit
import time
from typing import TYPE_CHECKING, Any

from ._core import (
    Array,
    Event,
    Stream,
    _tell_faults,
    device_count,
    device_info,
    empty,
    from_dlpack,
    reset,
    synchronize,
    zeros,
)
from ._errors import (
    DeviceError,
    DeviceNotFoundError,
    KernelError,
    TileError,
    TileInternalError,
    TileRecursionError,
    TileStaticAssertionError,
    TileStaticEvalError,
    TileSyntaxError,
    TileTypeError,
    TileUnsupportedFeatureError,
    TileValueError,
)

_started = time.time_ns()  # before any file with kernels is imported
atexit.register(_tell_faults)  # while the drivers of all libraries are there

if TYPE_CHECKING:
    from ._array import array, asarray, full
    from ._report import Report, cost_report

__version__ = "0.1.0"

__all__ = [
    "Array",
    "DeviceError",
    "DeviceNotFoundError",
    "Event",
    "KernelError",
    "Report",
    "Stream",
    "TileError",
    "TileInternalError",
    "TileRecursionError",
    "TileStaticAssertionError",
    "TileStaticEvalError",
    "TileSyntaxError",
    "TileTypeError",
    "TileUnsupportedFeatureError",
    "TileValueError",
    "array",
    "asarray",
    "cost_report",
    "device_count",
    "device_info",
    "empty",
    "from_dlpack",
    "full",
    "reset",
    "synchronize",
    "zeros",
]


def __dir__() -> list[str]:
    return sorted([*__all__, "core", "cuda", "lib", "profiler", "tile", "tune", "__version__"])


def __getattr__(name: str) -> Any:
    if name in ("array", "asarray", "full"):
        from . import _array

        return getattr(_array, name)
    if name in ("Report", "cost_report"):
        from . import _report

        return getattr(_report, name)
    if name in ("tile", "lib", "tune", "core", "cuda", "profiler"):
        import importlib

        return importlib.import_module(f"tessera.{name}")
    raise AttributeError(f"module 'tessera' has no attribute {name!r}")
