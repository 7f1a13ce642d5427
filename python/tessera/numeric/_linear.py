# SPDX-License-Identifier: Apache-2.0
"""Products of matrices and vectors: floats by the library's kernels, everything else by a fold of products."""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy

from . import _functions as f
from ._ndarray import ndarray
from ._reduce import any as _any_of
from ._reduce import scalar_of
from ._reduce import sum as _sum_of
from ._setup import memory
from ._ufunc import FUNCTIONS, copy_of

INNER = ("product", "matmul_operator")
_multiply, _conjugate = FUNCTIONS["multiply"], FUNCTIONS["conjugate"]
LARGE = 1 << 15  # multiplications from which on the library's kernels are faster than a fold


def _folded(a: ndarray, b: ndarray) -> ndarray:
    """a (.., M, K) @ b (.., K, N) as a fold of products, which are not stored."""
    products = _multiply(a[..., :, :, None], b[..., None, :, :])
    if products.dtype == bool:
        return f.asarray(_any_of(products, -2))
    return f.asarray(_sum_of(products, -2, products.dtype))


def _by_kernel(a: ndarray, b: ndarray) -> ndarray | None:
    """The product by tessera.lib; None: it has no kernel for these."""
    from tessera.lib import gemm

    if a.dtype.char not in "efd" or a.ndim > 2 or b.ndim > 2:
        return None
    made = f.empty((a.shape[0], b.shape[1]), a.dtype)
    a, b = (x if _is_plain(x) else x.copy() for x in (a, b))
    gemm.gemm(memory(a, True), memory(b, True), memory(made, True))
    return made


def _is_plain(x: ndarray) -> bool:
    return all(s > 0 and s % x.itemsize == 0 for s in x.strides)


def product(a: ndarray, b: ndarray) -> ndarray:
    """a (.., M, K) @ b (.., K, N); leading axes broadcast."""
    if a.shape[-1] != b.shape[-2]:
        raise ValueError(
            "matmul: Input operand 1 has a mismatch in its core dimension 0, with gufunc signature "
            "(n?,k),(k,m?)->(n?,m?) "
            f"(size {b.shape[-2]} is different from {a.shape[-1]})"
        )
    dtype = f.result_type(a, b)
    a, b = a.astype(dtype, copy=False), b.astype(dtype, copy=False)
    work = math.prod(a.shape) * b.shape[-1]
    made = _by_kernel(a, b) if work >= LARGE else None
    if made is not None:
        return made
    if work >= LARGE and dtype.char in "efd":
        shape = numpy.broadcast_shapes(a.shape[:-2], b.shape[:-2])
        a, b = f.broadcast_to(a, shape + a.shape[-2:]), f.broadcast_to(b, shape + b.shape[-2:])
        made = f.empty((*shape, a.shape[-2], b.shape[-1]), dtype)
        for at in numpy.ndindex(*shape):
            made[at] = product(a[at], b[at])
        return made
    return _folded(a, b)


_NoValue = numpy._NoValue


def _refuse(name: str, axes: Any, keepdims: Any, signature: Any) -> None:
    """Keywords of NumPy's products that are not there yet."""
    if axes is not _NoValue or keepdims or signature is not None:
        raise NotImplementedError(
            f"tessera.numeric.{name}: axes=, keepdims= and signature= are not supported yet"
        )


def _given(made: ndarray, out: Any, dtype: Any = None, casting: str = "same_kind") -> Any:
    if dtype is not None:
        made = made.astype(dtype, casting=casting)
    if out is None:
        return scalar_of(made)
    out = out[0] if isinstance(out, tuple) else out
    if out.shape != made.shape:
        raise ValueError(f"out has shape {out.shape}, but the product has {made.shape}")
    return copy_of(made, out, casting=casting)


def matmul(x1: Any, x2: Any, /, out: Any = None, *, axes: Any = _NoValue, axis: Any = _NoValue, keepdims: bool = False,
           casting: str = "same_kind", order: str = "K", dtype: Any = None, subok: bool = True,
           signature: Any = None) -> Any:  # fmt: skip
    """Products of matrices; vectors are rows before and columns behind."""
    _refuse("matmul", axes if axis is _NoValue else axis, keepdims, signature)
    a, b = f.asarray(x1), f.asarray(x2)
    for i, x in enumerate((a, b)):
        if not x.ndim:
            raise ValueError(
                f"matmul: Input operand {i} does not have enough dimensions (has 0, gufunc core with signature "
                "(n?,k),(k,m?)->(n?,m?) requires 1)"
            )
    made = product(a[None] if a.ndim == 1 else a, b[:, None] if b.ndim == 1 else b)
    if b.ndim == 1:
        made = made[..., 0]
    if a.ndim == 1:
        made = made[..., 0, :] if b.ndim > 1 else made[..., 0]
    return _given(f.asarray(made), out, dtype, casting)


def matmul_operator(x: Any, y: Any, out: Any = None) -> Any:
    """``x @ y``."""
    if getattr(type(y), "__array_ufunc__", True) is None:
        return NotImplemented
    return matmul(x, y, out)


def dot(a: Any, b: Any, out: Any = None) -> Any:
    """Sums of products over the last axis of a and the last but one of b."""
    a, b = f.asarray(a), f.asarray(b)
    if not a.ndim or not b.ndim:
        return _given(f.asarray(_multiply(a, b)), out)
    if b.ndim == 1 or a.ndim <= 2 and b.ndim == 2:
        if a.shape[-1] != b.shape[0 if b.ndim == 1 else -2]:
            raise ValueError(f"shapes {a.shape} and {b.shape} not aligned")
        return matmul(a, b, out)
    return _given(f.asarray(tensordot(a, b, (-1, -2))), out)


def vdot(a: Any, b: Any, /) -> Any:
    """The sum of products of all elements, those of a conjugated."""
    return dot(
        f.ravel(_conjugate(f.asarray(a))) if f.asarray(a).dtype.kind == "c" else f.ravel(a),
        f.ravel(b),
    )


def inner(a: Any, b: Any, /) -> Any:
    """Sums of products over the last axes of both."""
    a, b = f.asarray(a), f.asarray(b)
    if not a.ndim or not b.ndim:
        return _multiply(a, b)
    if a.shape[-1] != b.shape[-1]:
        raise ValueError(f"shapes {a.shape} and {b.shape} not aligned")
    return tensordot(a, b, (-1, -1))


def outer(a: Any, b: Any, out: Any = None) -> Any:
    """Products of every element of a with every element of b."""
    return _multiply(f.ravel(a)[:, None], f.ravel(b)[None, :], out)


def tensordot(a: Any, b: Any, axes: Any = 2) -> Any:
    """Sums of products over some axes of both."""
    a, b = f.asarray(a), f.asarray(b)
    try:
        first, second = axes
    except TypeError:
        n = operator.index(axes)
        first, second = list(range(-n, 0)), list(range(n))
    first = f.normalize_many(first, a.ndim, allow_duplicate=True)
    second = f.normalize_many(second, b.ndim, allow_duplicate=True)
    if len(first) != len(second) or any(
        a.shape[i] != b.shape[k] for i, k in zip(first, second, strict=True)
    ):
        raise ValueError("shape-mismatch for sum")
    rows = [d for d in range(a.ndim) if d not in first]
    columns = [d for d in range(b.ndim) if d not in second]
    depth = math.prod(a.shape[d] for d in first)
    x = a.transpose([*rows, *first]).reshape(math.prod(a.shape[d] for d in rows), depth)
    y = b.transpose([*second, *columns]).reshape(depth, math.prod(b.shape[d] for d in columns))
    made = product(x, y).reshape([a.shape[d] for d in rows] + [b.shape[d] for d in columns])
    return scalar_of(made)


def vecdot(x1: Any, x2: Any, /, out: Any = None, *, axes: Any = _NoValue, axis: Any = _NoValue, keepdims: bool = False,
           casting: str = "same_kind", order: str = "K", dtype: Any = None, subok: bool = True,
           signature: Any = None) -> Any:  # fmt: skip
    """Sums of products along an axis, elements of x1 conjugated."""
    _refuse("vecdot", axes, keepdims, signature)
    a, b = f.asarray(x1), f.asarray(x2)
    a, b = (f.moveaxis(x, -1 if axis is _NoValue else axis, -1) for x in (a, b))
    if a.shape[-1] != b.shape[-1]:
        raise ValueError(f"vecdot: extents {a.shape[-1]} and {b.shape[-1]} of the axis differ")
    products = f.asarray(_multiply(_conjugate(a) if a.dtype.kind == "c" else a, b))
    made = (
        _any_of(products, -1) if products.dtype == bool else _sum_of(products, -1, products.dtype)
    )
    return _given(f.asarray(made), out, dtype, casting)


def matvec(x1: Any, x2: Any, /, out: Any = None, *, axes: Any = _NoValue, axis: Any = _NoValue, keepdims: bool = False,
           casting: str = "same_kind", order: str = "K", dtype: Any = None, subok: bool = True,
           signature: Any = None) -> Any:  # fmt: skip
    """Products of matrices with vectors."""
    _refuse("matvec", axes if axis is _NoValue else axis, keepdims, signature)
    return _given(
        f.asarray(product(f.asarray(x1), f.asarray(x2)[..., None])[..., 0]), out, dtype, casting
    )


def vecmat(x1: Any, x2: Any, /, out: Any = None, *, axes: Any = _NoValue, axis: Any = _NoValue, keepdims: bool = False,
           casting: str = "same_kind", order: str = "K", dtype: Any = None, subok: bool = True,
           signature: Any = None) -> Any:  # fmt: skip
    """Products of vectors, conjugated, with matrices."""
    _refuse("vecmat", axes if axis is _NoValue else axis, keepdims, signature)
    a = f.asarray(x1)
    a = f.asarray(_conjugate(a)) if a.dtype.kind == "c" else a
    return _given(
        f.asarray(product(a[..., None, :], f.asarray(x2))[..., 0, :]), out, dtype, casting
    )


def trace(
    a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: Any = None, out: Any = None
) -> Any:
    """Sums of diagonals."""
    return _sum_of(f.diagonal(a, offset, axis1, axis2), -1, dtype, out)


def kron(a: Any, b: Any) -> ndarray:
    """Every element of a times all of b."""
    a, b = f.asarray(a), f.asarray(b)
    rank = max(a.ndim, b.ndim)
    x = a.reshape((1,) * (rank - a.ndim) + a.shape)
    y = b.reshape((1,) * (rank - b.ndim) + b.shape)
    products = _multiply(
        x.reshape([m for n in x.shape for m in (n, 1)]),
        y.reshape([m for n in y.shape for m in (1, n)]),
    )
    return f.asarray(products).reshape([n * m for n, m in zip(x.shape, y.shape, strict=True)])


def cross(
    a: Any, b: Any, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: int | None = None
) -> ndarray:
    """Vector products of vectors of three elements."""
    if axis is not None:
        axisa = axisb = axisc = axis
    x, y = f.moveaxis(f.asarray(a), axisa, -1), f.moveaxis(f.asarray(b), axisb, -1)
    if x.shape[-1] != 3 or y.shape[-1] != 3:
        raise ValueError("Both input arrays must be (arrays of) 3-dimensional vectors, but they are "
                         f"{x.shape[-1]} and {y.shape[-1]} dimensional instead.")  # fmt: skip
    parts = [x[..., i] * y[..., k] - x[..., k] * y[..., i] for i, k in ((1, 2), (2, 0), (0, 1))]
    return f.moveaxis(f.stack([f.asarray(p) for p in parts], -1), -1, axisc)


METHODS = {
    "dot": lambda self, b, out=None: dot(self, b, out),
    "trace": lambda self, offset=0, axis1=0, axis2=1, dtype=None, out=None: trace(
        self, offset, axis1, axis2, dtype, out
    ),
}
