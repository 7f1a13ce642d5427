# SPDX-License-Identifier: Apache-2.0
"""CuPy's names: NumPy's on `tessera.numeric`, kernels in CUDA C and in CuPy's expressions, streams and pools.

``import tessera.cupy as cp``, or a program as it is with ``python -m tessera run script.py``. Without a GPU arrays
lie on
the CPU and everything works but CUDA C (`RawKernel`, `RawModule`). What differs from CuPy: docs/guide/from-cupy.md.
"""

from __future__ import annotations

import importlib as _importlib
import sys as _sys
import warnings as _warnings
from typing import Any

import numpy as _numpy

from .. import numeric as _numeric
from . import _boundary
from ._boundary import ufunc as ufunc
from ._creation import *
from ._ndarray import ndarray as ndarray

__version__ = "14.0.0"  # the CuPy whose names these are
newaxis = None
bfloat16 = None
AxisError, ComplexWarning = _numpy.exceptions.AxisError, _numpy.exceptions.ComplexWarning
RankWarning, TooHardError = _numpy.exceptions.RankWarning, _numpy.exceptions.TooHardError
VisibleDeprecationWarning = _numpy.exceptions.VisibleDeprecationWarning
exceptions = _numpy.exceptions
cfloat = complex_ = _numpy.complex128
float_ = longfloat = _numpy.float64
singlecomplex = _numpy.complex64
concat = _boundary.wrapped(_numeric.concatenate, "concat")

# Where names are that are imported when they are asked for: module, name there ("": the module).
_LAZY = {
    "ElementwiseKernel": ("._kernels", "ElementwiseKernel"),
    "ReductionKernel": ("._reduction", "ReductionKernel"),
    "RawKernel": ("._raw", "RawKernel"),
    "RawModule": ("._raw", "RawModule"),
    "vectorize": ("._vectorize", "vectorize"),
    "poly1d": ("._classes", "poly1d"),
    "flatiter": ("._classes", "flatiter"),
    "broadcast": ("._classes", "broadcast"),
    "cuda": (".cuda", ""),
    "testing": (".testing", ""),
    "random": (".random", ""),
    "fft": (".fft", ""),
    "linalg": (".linalg", ""),
    "lib": (".lib", ""),
    "polynomial": (".polynomial", ""),
    "numeric": ("..numeric", ""),
    "cupyx": ("..cupyx", ""),
}
# NumPy's names that CuPy still has, and those that they became.
_OLD = {
    "round_": "round", "product": "prod", "cumproduct": "cumprod", "in1d": "isin",
    "trapz": "trapezoid",
}  # fmt: skip


def row_stack(tup: Any, *, dtype: Any = None, casting: str = "same_kind") -> Any:
    """An old name of `vstack`."""
    _warnings.warn("`row_stack` alias is deprecated. Use `vstack` directly.", DeprecationWarning, stacklevel=2)
    return __getattr__("vstack")(tup, dtype=dtype, casting=casting)


def scatter_add(a: Any, slices: Any, value: Any) -> None:
    """Adds values at places, each as often as its place occurs."""
    a.scatter_add(slices, value)


def get_default_memory_pool() -> Any:
    """The pool of device memory."""
    return _importlib.import_module(".cuda", __name__)._memory.POOL


def get_default_pinned_memory_pool() -> Any:
    """The pool of page-locked memory."""
    return _importlib.import_module(".cuda", __name__)._memory.PINNED


def __dir__() -> list[str]:
    return sorted(
        {name for name in globals() if not name.startswith("_")} | {*_LAZY} | {*dir(_numeric)}
    )


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        module, inner = _LAZY[name]
        found = _importlib.import_module(module, __name__)
        return getattr(found, inner) if inner else found
    if name.startswith("_"):
        raise AttributeError(f"module 'cupy' has no attribute {name!r}")
    try:
        theirs = getattr(_numeric, _OLD.get(name, name))
    except AttributeError:
        raise AttributeError(f"module 'cupy' has no attribute {name!r}") from None
    made = _boundary.of_name(name, theirs, __name__)
    setattr(_sys.modules[__name__], name, made)
    return made
