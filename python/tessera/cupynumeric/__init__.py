# SPDX-License-Identifier: Apache-2.0
"""cuPyNumeric's names: NumPy's are those of `tessera.numeric`, whose arrays these are; its own are here.

``import tessera.cupynumeric as np``, or a program as it is with ``python -m tessera run script.py``.
"""

from __future__ import annotations

import importlib as _importlib
from typing import Any

import numpy as _numpy

from .. import numeric as _numeric
from ..numeric import _setup

__version__ = "26.07.00"  # the cuPyNumeric whose names these are
_OWN = ("linalg", "ndimage", "random")
# NumPy's names that cuPyNumeric still has, and those that they became.
_OLD = {"row_stack": "vstack"}


def in1d(ar1: Any, ar2: Any, assume_unique: bool = False, invert: bool = False, *, kind: Any = None) -> Any:
    """Whether each element, along one axis, is among others."""
    return _numeric.isin(_numeric.ravel(ar1), ar2, assume_unique=assume_unique, invert=invert, kind=kind)


def convolve(a: Any, v: Any, mode: str = "full", method: str = "auto") -> Any:
    """The convolution of two arrays of as many axes; ``method``: ``"auto"``, ``"direct"`` or ``"fft"``."""
    a, v = _numeric.asarray(a), _numeric.asarray(v)
    if a.ndim == v.ndim == 1 and method == "auto":
        return _numeric.convolve(a, v, mode)
    return _importlib.import_module("tessera.scipy.signal").convolve(a, v, mode, method)


def diff(a: Any, n: int = 1, axis: int = -1, prepend: Any = None, append: Any = None) -> Any:
    """Differences of neighbours along an axis, with others before and behind it; None: none."""
    given = {key: x for key, x in (("prepend", prepend), ("append", append)) if x is not None}
    return _numeric.diff(a, n, axis, **given)


def _into(made: Any, out: Any) -> Any:
    if out is None:
        return made
    if out.shape != _numeric.shape(made):
        raise ValueError(f"out= has shape {out.shape}, and the result {_numeric.shape(made)}")
    _numeric.copyto(out, made)
    return out


def inner(a: Any, b: Any, out: Any = None) -> Any:
    """Sums of products over the last axes of both."""
    return _into(_numeric.inner(a, b), out)


def tensordot(a: Any, b: Any, axes: Any = 2, out: Any = None) -> Any:
    """Sums of products over axes of both."""
    return _into(_numeric.tensordot(a, b, axes), out)


def is_supported_dtype(dtype: Any) -> bool:
    """Whether arrays may have a dtype."""
    try:
        return _numpy.dtype(dtype) in [d for d in _setup.DTYPES if d is not None]
    except TypeError:
        return False


def __dir__() -> list[str]:
    return sorted({*dir(_numeric), *_OWN, *_OLD, "in1d", "is_supported_dtype"})


def __getattr__(name: str) -> Any:
    if name in _OWN:
        return _importlib.import_module(f"{__name__}.{name}")
    try:
        return getattr(_numeric, _OLD.get(name, name))
    except AttributeError:
        raise AttributeError(f"module 'cupynumeric' has no attribute {name!r}") from None
