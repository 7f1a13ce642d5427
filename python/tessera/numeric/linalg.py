# SPDX-License-Identifier: Apache-2.0
"""Linear algebra: products and norms. Factorizations are not there yet and say so."""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy
from numpy.linalg import LinAlgError

from . import _functions as f
from . import _linear
from . import _reduce as r
from ._functions import matrix_transpose
from ._linear import cross, matmul, outer, tensordot, vecdot
from ._ndarray import ndarray
from ._ufunc import FUNCTIONS

__all__ = [
    "LinAlgError",
    "cross",
    "diagonal",
    "matmul",
    "matrix_norm",
    "matrix_power",
    "matrix_transpose",
    "norm",
    "outer",
    "tensordot",
    "trace",
    "vecdot",
    "vector_norm",
]
_absolute, _power, _sqrt = FUNCTIONS["absolute"], FUNCTIONS["power"], FUNCTIONS["sqrt"]


def diagonal(x: Any, /, *, offset: int = 0) -> ndarray:
    """Views of the diagonals of matrices, read-only."""
    return f.diagonal(x, offset, -2, -1)


def trace(x: Any, /, *, offset: int = 0, dtype: Any = None) -> Any:
    """Sums of the diagonals of matrices."""
    return _linear.trace(x, offset, -2, -1, dtype)


def matrix_power(a: Any, n: Any) -> ndarray:
    """Matrices multiplied with themselves, n times."""
    a, n = f.asarray(a), operator.index(n)
    if a.ndim < 2 or a.shape[-1] != a.shape[-2]:
        raise LinAlgError("Last 2 dimensions of the array must be square")
    if n < 0:
        raise NotImplementedError(
            "tessera.numeric.linalg.matrix_power: negative powers are not there yet"
        )
    made = f.broadcast_to(f.eye(a.shape[-1], dtype=a.dtype), a.shape).copy()
    while n:
        made = matmul(made, a) if n & 1 else made
        n >>= 1
        a = matmul(a, a) if n else a
    return made


def _float(x: Any) -> ndarray:
    x = f.asarray(x)
    return x if x.dtype.kind in "fc" else x.astype(numpy.float64)


def vector_norm(x: Any, /, *, axis: Any = None, keepdims: bool = False, ord: Any = 2) -> Any:
    """Lengths of vectors along axes."""
    x = _float(x)
    size = f.asarray(_absolute(x))
    if ord == math.inf:
        return r.max(size, axis, keepdims=keepdims)
    if ord == -math.inf:
        return r.min(size, axis, keepdims=keepdims)
    if ord == 0:
        return r.sum(FUNCTIONS["not_equal"](size, 0).astype(size.dtype), axis, keepdims=keepdims)
    if ord == 1:
        return r.sum(size, axis, keepdims=keepdims)
    if isinstance(ord, str):
        raise ValueError(f"Invalid norm order '{ord}' for vectors")  # noqa: TRY004  as NumPy's
    if ord == 2:
        return _sqrt(r.sum(size * size, axis, keepdims=keepdims))
    return _power(r.sum(_power(size, ord), axis, keepdims=keepdims), 1.0 / ord)


def matrix_norm(x: Any, /, *, keepdims: bool = False, ord: Any = "fro") -> Any:
    """Norms of matrices: 'fro', 1, -1, inf, -inf."""
    x = _float(x)
    if x.ndim < 2:
        raise ValueError("matrix_norm needs an array of at least two axes")
    size = f.asarray(_absolute(x))
    if ord in (None, "fro"):
        return _sqrt(r.sum(size * size, (-2, -1), keepdims=keepdims))
    axis = {1: -2, -1: -2, math.inf: -1, -math.inf: -1}.get(ord)
    if axis is None:
        raise NotImplementedError(
            f"tessera.numeric.linalg.matrix_norm: ord={ord!r} is not there yet"
        )
    sums = f.asarray(r.sum(size, axis, keepdims=True))
    made = f.asarray((r.max if ord > 0 else r.min)(sums, (-2, -1), keepdims=keepdims))
    return r.scalar_of(made)


def norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:
    """Norms of vectors (one axis) or matrices (two)."""
    x = f.asarray(x)
    if axis is None and ord is None:
        return vector_norm(x, keepdims=keepdims)
    axes = tuple(range(x.ndim)) if axis is None else f.normalize_many(axis, x.ndim)
    if len(axes) == 1:
        return vector_norm(x, axis=axes[0], keepdims=keepdims, ord=2 if ord is None else ord)
    if len(axes) != 2:
        raise ValueError("Improper number of dimensions to norm.")
    if ord is None or ord == "fro":
        return vector_norm(x, axis=axes, keepdims=keepdims)
    made = f.asarray(matrix_norm(f.moveaxis(x, axes, (-2, -1)), ord=ord))
    return f.expand_dims(made, axes) if keepdims else r.scalar_of(made)


def __getattr__(name: str) -> Any:
    if name.startswith("_") or not callable(getattr(numpy.linalg, name, None)):
        raise AttributeError(f"module 'tessera.numeric.linalg' has no attribute {name!r}")

    def missing(*args: Any, **options: Any) -> Any:
        raise NotImplementedError(f"tessera.numeric.linalg.{name} is not there yet")

    missing.__name__ = name
    return missing
