# SPDX-License-Identifier: Apache-2.0
"""What CuPy has beyond NumPy's names."""

from __future__ import annotations

import contextlib as _contextlib
import importlib as _importlib
import math as _math
from collections.abc import Iterator as _Iterator
from typing import Any

import numpy as _numpy

from ..cupy._boundary import refuse as _refuse
from ..cupy._creation import is_available as _is_available

__all__ = [
    "DeviceSynchronized",
    "allow_synchronize",
    "empty_like_pinned",
    "empty_pinned",
    "errstate",
    "get_runtime_info",
    "geterr",
    "rsqrt",
    "scatter_add",
    "scatter_max",
    "scatter_min",
    "seterr",
    "zeros_like_pinned",
    "zeros_pinned",
]  # fmt: skip


def scatter_add(a: Any, slices: Any, value: Any) -> None:
    """``a[slices] += value``, where a place that occurs several times gets each of its values."""
    _refuse(a)
    a.scatter_add(slices, value)


def scatter_max(a: Any, slices: Any, value: Any) -> None:
    """``a[slices] = maximum(a[slices], value)``, for each time that a place occurs."""
    _refuse(a)
    a.scatter_max(slices, value)


def scatter_min(a: Any, slices: Any, value: Any) -> None:
    """``a[slices] = minimum(a[slices], value)``, for each time that a place occurs."""
    _refuse(a)
    a.scatter_min(slices, value)


def rsqrt(x: Any) -> Any:
    """1 / sqrt(x)."""
    from .. import cupy

    return cupy.reciprocal(cupy.sqrt(x))


_errors: dict[str, Any] = {
    "divide": None,
    "over": None,
    "under": None,
    "invalid": None,
    "linalg": "raise",
    "fallback_mode": None,
}


def geterr() -> dict[str, Any]:
    """What is done about errors."""
    return dict(_errors)


def seterr(*, divide: Any = None, over: Any = None, under: Any = None, invalid: Any = None, linalg: Any = None,
           fallback_mode: Any = None) -> dict[str, Any]:  # fmt: skip
    """Says what is done about errors; gives what was done before. Singular matrices are always an error here."""
    before = geterr()
    for name, value in (("divide", divide), ("over", over), ("under", under), ("invalid", invalid)):
        if value is not None:
            raise NotImplementedError(
                f"seterr({name}=...) is not there; numpy.errstate is heard by calls on small arrays"
            )
    if linalg not in (None, "ignore", "raise"):
        raise NotImplementedError(f"linalg is 'ignore', 'raise' or None, found {linalg!r}")
    if linalg is not None:
        _errors["linalg"] = linalg
    return before


@_contextlib.contextmanager
def errstate(**options: Any) -> _Iterator[None]:
    """As `seterr`, inside."""
    before = seterr(**options)
    try:
        yield
    finally:
        _errors.update(before)


class DeviceSynchronized(RuntimeError):
    """A call waited for the device where `allow_synchronize(False)` forbids that."""


@_contextlib.contextmanager
def allow_synchronize(allow: bool) -> _Iterator[None]:
    """Accepted; nothing is forbidden. What waits: docs/guide/from-cupy.md."""
    yield


def _pinned(shape: Any, dtype: Any, strides: Any) -> Any:
    """NumPy's array over new page-locked memory, which is its base."""
    from ..cupy.cuda import _memory

    dtype = _numpy.dtype(dtype)
    shape = tuple(shape) if isinstance(shape, (tuple, list)) else (shape,)
    pointer = _memory.PinnedMemoryPointer(_memory.PinnedMemory(_math.prod(shape) * dtype.itemsize), 0)
    return pointer.as_array(shape, dtype, strides)


def empty_pinned(shape: Any, dtype: Any = float, order: str = "C") -> Any:
    """NumPy's array of any contents, page-locked where there is a GPU."""
    bytes_of = _numpy.empty(shape, "u1", order)  # type: ignore[call-overload]
    return _pinned(shape, dtype, bytes_of.strides)


def zeros_pinned(shape: Any, dtype: Any = float, order: str = "C") -> Any:
    """NumPy's array of zeros, page-locked where there is a GPU."""
    made = empty_pinned(shape, dtype, order)
    made[...] = 0
    return made


def empty_like_pinned(
    a: Any, dtype: Any = None, order: str = "K", subok: Any = None, shape: Any = None
) -> Any:
    """As an array, page-locked, of any contents."""
    if subok is not None:
        raise TypeError("'subok' is not supported: the array is numpy.ndarray")
    like = _numpy.lib.stride_tricks.as_strided(_numpy.empty(1, "u1"), a.shape, [s // a.itemsize for s in a.strides])
    made = _numpy.empty_like(like, order=order, shape=shape)  # type: ignore[call-overload]
    return _pinned(made.shape, a.dtype if dtype is None else dtype, made.strides)


def zeros_like_pinned(
    a: Any, dtype: Any = None, order: str = "K", subok: Any = None, shape: Any = None
) -> Any:
    """As an array, page-locked, of zeros."""
    made = empty_like_pinned(a, dtype, order, subok, shape)
    made[...] = 0
    return made


def get_runtime_info(*, full: bool = False) -> str:
    """What there is, in lines."""
    from .. import __version__, device_count

    lines = f"Tessera Version : {__version__}", f"NumPy Version   : {_numpy.__version__}"
    return "\n".join((*lines, f"GPUs            : {device_count('cuda')}"))


def __getattr__(name: str) -> Any:
    if name in ("jit", "linalg", "profiler", "scipy", "optimizing", "time"):
        return _importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module 'cupyx' has no attribute {name!r}")
