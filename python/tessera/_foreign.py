# SPDX-License-Identifier: Apache-2.0
"""Dtypes and types of other libraries, seen by the modules that their classes are in: none of these is imported."""

from __future__ import annotations

from typing import Any

from ._core import DTYPES

__all__ = ["LIBRARIES", "dtype_name", "is_of_numba"]

LIBRARIES = frozenset(("numpy", "torch", "ml_dtypes", "cupy"))
_NUMBA = "numba.core.typ"  # of numba.core.types and numba.core.typing
_DTYPES = frozenset(name for name, *_ in DTYPES)


def is_of_numba(obj: Any, name: str = "") -> bool:
    """Whether it is a type or signature of an installed numba, of the class ``name`` where one is given."""
    kind = type(obj)
    return kind.__module__.startswith(_NUMBA) and name in ("", kind.__name__)


def dtype_name(obj: Any) -> str | None:
    """The dtype an object of ours, NumPy, torch, CuPy or ml_dtypes stands for, or None."""
    name = getattr(obj, "__tessera_dtype__", None)
    if isinstance(name, str):
        return name
    kind = type(obj)
    if kind.__module__ == "torch" and kind.__name__ == "dtype":
        name = str(obj).rpartition(".")[2]
    elif kind.__module__.partition(".")[0] in LIBRARIES and "dtype" in kind.__name__.lower():
        name = getattr(obj, "name", None)
    elif is_of_numba(obj):
        name = getattr(obj, "name", None)
    elif isinstance(obj, type) and obj.__module__.partition(".")[0] in LIBRARIES:
        name = obj.__name__
    if name in ("bool", "bool_"):
        return "bool_"
    return name if name in _DTYPES else None


