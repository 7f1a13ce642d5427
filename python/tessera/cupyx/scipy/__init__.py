# SPDX-License-Identifier: Apache-2.0
"""SciPy's functions on CuPy's arrays: those that are functions of ours. Others are AttributeErrors."""

from __future__ import annotations

import importlib as _importlib
from typing import Any

_MODULES = ("fft", "fftpack", "linalg", "special")


def get_array_module(*args: Any) -> Any:
    """`cupyx.scipy` if an argument is an array of CuPy's, else SciPy."""
    import sys

    from ... import cupy

    if any(isinstance(x, cupy.ndarray) for x in args):
        return sys.modules[__name__]
    return _importlib.import_module("scipy")


def __dir__() -> list[str]:
    return ["get_array_module", *_MODULES]


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return _importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(
        f"module 'cupyx.scipy' has no attribute {name!r}; it has {', '.join(_MODULES)}"
    )
