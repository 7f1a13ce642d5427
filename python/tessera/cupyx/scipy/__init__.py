# SPDX-License-Identifier: Apache-2.0
"""SciPy's functions on CuPy's arrays: those of `tessera.scipy` and `fftpack`.

What only SciPy has in these modules is SciPy's on the host, as `tessera.numeric.fallback` says; other modules are
AttributeErrors.
"""

from __future__ import annotations

import importlib as _importlib
import sys as _sys
from typing import Any

_OWN = ("fftpack",)


def _shared() -> tuple[str, ...]:
    from ...scipy import _MODULES

    return _MODULES


def get_array_module(*args: Any) -> Any:
    """`cupyx.scipy` if an argument is an array of CuPy's, else SciPy."""
    from ... import cupy

    if any(isinstance(x, cupy.ndarray) for x in args):
        return _sys.modules[__name__]
    return _importlib.import_module("scipy")


def __dir__() -> list[str]:
    return sorted(["get_array_module", *_OWN, *_shared()])


def __getattr__(name: str) -> Any:
    if name in _OWN or name in _shared():
        return _importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(
        f"module 'cupyx.scipy' has no attribute {name!r}; it has {', '.join(sorted([*_OWN, *_shared()]))}"
    )
