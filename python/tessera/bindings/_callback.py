# SPDX-License-Identifier: Apache-2.0
"""C functions made of Python callables, for graphs and fields of structs: ``CUhostFn(print)``.

An exception in one is reported by ``sys.unraisablehook`` and goes no further: it runs on a thread
of the driver, which has nobody to raise it to. It must not call CUDA.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

__all__ = ["thunk"]

# Class -> (result, parameters) of the C function.
_FORMS: dict[str, tuple[Any, ...]] = {
    "CUhostFn": (None, ctypes.c_void_p),
    "CUstreamCallback": (None, ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p),
    "CUoccupancyB2DSize": (ctypes.c_size_t, ctypes.c_int),
}
_FORMS["cudaHostFn_t"] = _FORMS["CUhostFn"]
_FORMS["cudaStreamCallback_t"] = _FORMS["CUstreamCallback"]
_made: dict[tuple[str, Any], Any] = {}


def thunk(kind: str, function: Callable[..., Any]) -> int:
    """The address of a C function that calls a Python one; a graph may call it at any time, so it
    is never freed."""
    form = _FORMS.get(kind)
    if form is None:
        raise TypeError(f"{kind} takes the address of a C function, not a Python callable")
    if (kind, function) not in _made:
        _made[kind, function] = ctypes.CFUNCTYPE(*form)(function)
    return ctypes.cast(_made[kind, function], ctypes.c_void_p).value or 0
