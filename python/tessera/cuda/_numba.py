# SPDX-License-Identifier: Apache-2.0
"""What ``import numba`` gives under ``python -m tessera run`` where numba is not installed: ``numba.cuda``, and the
names that its users take from numba itself."""

from __future__ import annotations

import functools
import importlib
from typing import Any

__version__ = "0.62.0"
_FROM_CUDA = ("types", "typeof", "from_dtype", "guvectorize", "config", "errors", "literal_unroll", "literally")
_COMPILERS = ("cfunc", "jitclass")


def vectorize(ftylist_or_function: Any = (), **options: Any) -> Any:
    """As ``cuda.vectorize`` on the CPU device, unless a target is named; a function without signatures is NumPy's."""
    from ._gufunc import vectorize as of_cuda

    if callable(ftylist_or_function) and hasattr(ftylist_or_function, "__name__"):
        import numpy

        return numpy.vectorize(ftylist_or_function)
    return of_cuda(ftylist_or_function, **{"target": "cpu", **options})


def stencil(func_or_mode: Any = "constant", **options: Any) -> Any:
    """As ``cuda.stencil`` on the CPU device, unless a target is named."""
    from ._stencil import stencil as of_cuda

    return of_cuda(func_or_mode, **{"target": "cpu", **options})


class _HostFunction:
    """What ``numba.njit`` gives here: kernels compile the function, the host runs it as plain Python."""

    def __init__(self, function: Any) -> None:
        functools.update_wrapper(self, function)
        self.py_func = function

    def __call__(self, *args: Any, **named: Any) -> Any:
        return self.py_func(*args, **named)


def njit(function_or_signature: Any = None, *more: Any, **options: Any) -> Any:
    """A function that kernels call; the host runs it as plain Python, for numba's own compiler is not installed."""
    if callable(function_or_signature) and hasattr(function_or_signature, "__code__"):
        return _HostFunction(function_or_signature)
    return _HostFunction


jit = njit
prange = range


def __getattr__(name: str) -> Any:
    if name in _COMPILERS:
        raise ImportError(
            f"numba.{name} is numba's own, which is not installed here: pip install numba; Tessera answers numba.cuda"
        )
    if name.startswith("__"):
        raise AttributeError(name)
    cuda = importlib.import_module("tessera.cuda")
    if name == "cuda":
        return cuda
    if name in _FROM_CUDA:
        return getattr(cuda, name)
    found = getattr(importlib.import_module("tessera.cuda.types"), name, None)
    if found is None:
        raise AttributeError(f"module 'numba' has no attribute {name!r}: it is not installed; this is tessera.cuda")
    return found
