# SPDX-License-Identifier: Apache-2.0
"""Linear algebra: NumPy's functions on matrices and stacks of them.

Products, powers and norms are Tessera's own kernels. Factorizations and what follows from them (``solve``, ``inv``,
``det``, ``svd``, ``eigh``, ...) are LAPACK's on the host, the copy that NumPy brings; ``tessera.numeric.host_calls()``
counts them. Of arrays on a GPU they are cuSOLVER's, where it is installed.
"""

from __future__ import annotations

import functools
import math
import operator
from typing import Any

import numpy
from numpy.linalg import LinAlgError

from .. import _core
from . import _cusolver, _linear
from . import _functions as f
from . import _reduce as r
from ._fallback import away
from ._functions import matrix_transpose
from ._host import on_host
from ._ndarray import ndarray
from ._numpys import adopt, home
from ._setup import FUNCTION, NO_VALUE
from ._ufunc import FUNCTIONS

_absolute, _power, _sqrt = FUNCTIONS["absolute"], FUNCTIONS["power"], FUNCTIONS["sqrt"]
_conjugate, _multiply = FUNCTIONS["conjugate"], FUNCTIONS["multiply"]

# -- LAPACK --------------------------------------------------------------------------------------------

_LAPACK = {
    "cholesky": "The triangular L of a Hermitian, positive definite a = L @ L.conj().T; upper: U of U.conj().T @ U.",
    "cond": "How much solutions of a @ x = b may change with b, by a norm p: norm(a) * norm(inv(a)).",
    "det": "Determinants, by LU.",
    "eig": "Eigenvalues and right eigenvectors of matrices of any kind.",
    "eigh": "Eigenvalues, ascending, and eigenvectors of symmetric or Hermitian matrices: one triangle is read.",
    "eigvals": "Eigenvalues of matrices of any kind.",
    "eigvalsh": "Eigenvalues, ascending, of symmetric or Hermitian matrices, of which one triangle is read.",
    "inv": "Inverses.",
    "lstsq": "The x of least norm(b - a @ x), with residuals, the rank of a and its singular values.",
    "qr": "The factors Q, of orthonormal columns, and R, upper triangular, of a = Q @ R.",
    "slogdet": "Signs and logarithms of the absolute values of determinants.",
    "solve": "The x of a @ x = b.",
    "svd": "The singular value decomposition U @ diag(S) @ Vh.",
    "svdvals": "Singular values, descending.",
}


_ADOPTED = "numpy.linalg._linalg"
home({"__name__": __name__}, _ADOPTED, lambda names: names.update(LinAlgError=LinAlgError))  # the error is NumPy's


def _for_classes(function: Any) -> Any:
    """The function, and NumPy's program for arrays of derived classes, which says what is of their class."""

    @functools.wraps(function)
    def either(*args: Any, **options: Any) -> Any:
        given = args[0] if args and type(args[0]) in (list, tuple) else args  # multi_dot takes a list
        if _core.numeric_derived((*given, *options.values())) is None:
            return function(*args, **options)
        return adopt(_ADOPTED)[function.__name__](*args, **options)

    return either


def _either(name: str, doc: str) -> Any:
    """LAPACK's function for arrays of the CPU, cuSOLVER's for those of a GPU."""
    hosted = on_host(f"linalg.{name}", getattr(numpy.linalg, name), doc)

    @functools.wraps(hosted)
    def function(*args: Any, **options: Any) -> Any:
        if away(args) + away(options) and _cusolver.has(name):
            return adopt(_ADOPTED)[name](*args, **options)
        return hosted(*args, **options)

    return _for_classes(function)


_lapack = {name: _either(name, doc) for name, doc in _LAPACK.items()}
globals().update(_lapack)
_inv, _solve, _svd, _eigvalsh = (_lapack[name] for name in ("inv", "solve", "svd", "eigvalsh"))

__all__ = [  # noqa: PLE0604
    *_LAPACK,
    "LinAlgError",
    "cross",
    "diagonal",
    "matmul",
    "matrix_norm",
    "matrix_power",
    "matrix_rank",
    "matrix_transpose",
    "multi_dot",
    "norm",
    "outer",
    "pinv",
    "tensordot",
    "tensorinv",
    "tensorsolve",
    "trace",
    "vecdot",
    "vector_norm",
]


def _values(a: Any, hermitian: bool = False) -> ndarray:
    """Singular values, descending."""
    return f.asarray(_svd(a, compute_uv=False, hermitian=hermitian))


def _tolerance(rtol: Any, largest: ndarray) -> Any:
    """rtol, one for each matrix, times the largest singular values."""
    rtol = f.asarray(rtol)
    return f.asarray(_multiply(rtol[..., None] if rtol.ndim else rtol, largest))


def matrix_rank(A: Any, tol: Any = None, hermitian: bool = False, *, rtol: Any = None) -> Any:
    """How many singular values are greater than tol, or than rtol times the greatest."""
    if rtol is not None and tol is not None:
        raise ValueError("`tol` and `rtol` can't be both set.")
    a = f.asarray(A)
    if a.ndim < 2:
        return int(not r.all(a == 0))
    values = _values(a, hermitian)
    if tol is None:
        if rtol is None:
            rtol = max(a.shape[-2:]) * numpy.finfo(values.dtype).eps
        limit = _tolerance(rtol, r.max(values, -1, keepdims=True, initial=0))
    else:
        limit = f.asarray(tol)
        limit = limit[..., None] if limit.ndim else limit
    return r.count_nonzero(values > limit, -1)


@_for_classes
def pinv(a: Any, rcond: Any = None, hermitian: bool = False, *, rtol: Any = NO_VALUE) -> ndarray:
    """The pseudo-inverse by singular values; those up to rtol times the greatest count as zeros."""
    if rcond is not None and rtol is not NO_VALUE:
        raise ValueError("`rtol` and `rcond` can't be both set.")
    a = f.asarray(a)
    if rcond is None:
        if rtol is NO_VALUE:
            rcond = 1e-15
        elif rtol is None:
            kind = a.dtype if a.dtype.kind in "fc" else numpy.dtype(float)
            rcond = max(a.shape[-2:]) * numpy.finfo(kind).eps
        else:
            rcond = rtol
    if 0 in a.shape[-2:]:
        return f.empty((*a.shape[:-2], a.shape[-1], a.shape[-2]), a.dtype)
    u, s, vt = _svd(f.asarray(_conjugate(a)), full_matrices=False, hermitian=hermitian)
    large = s > _tolerance(rcond, r.max(s, -1, keepdims=True)).astype(s.dtype)
    inverse = f.asarray(FUNCTIONS["divide"](1, s, where=large, out=f.zeros_like(s)))
    return _linear.matmul(matrix_transpose(vt), _multiply(inverse[..., None], matrix_transpose(u)))


@_for_classes
def tensorsolve(a: Any, b: Any, axes: Any = None) -> ndarray:
    """The x of tensordot(a, x, x.ndim) = b; axes of a are moved behind the others first."""
    a, b = f.asarray(a), f.asarray(b)
    if axes is not None:
        order = [d for d in range(a.ndim) if d not in axes]
        a = a.transpose([*order, *axes])
    shape = a.shape[b.ndim :]
    n = math.prod(shape)
    if a.size != n * n:
        raise LinAlgError(
            "Input arrays must satisfy the requirement prod(a.shape[b.ndim:]) == prod(a.shape[:b.ndim])"
        )
    return f.asarray(_solve(a.reshape(n, n), b.ravel())).reshape(shape)


def tensorinv(a: Any, ind: int = 2) -> ndarray:
    """The inverse of a as a map from its axes behind `ind` to those before."""
    a = f.asarray(a)
    if ind <= 0:
        raise ValueError("Invalid ind argument.")
    shape = a.shape[ind:] + a.shape[:ind]
    return f.asarray(_inv(a.reshape(math.prod(a.shape[ind:]), -1))).reshape(shape)


# -- products ------------------------------------------------------------------------------------------


def matmul(x1: Any, x2: Any, /) -> Any:
    """Products of matrices."""
    return _linear.matmul(x1, x2)


def tensordot(x1: Any, x2: Any, /, *, axes: Any = 2) -> Any:
    """Sums of products over some axes of both."""
    return _linear.tensordot(x1, x2, axes)


def vecdot(x1: Any, x2: Any, /, *, axis: int = -1) -> Any:
    """Sums of products along an axis, elements of x1 conjugated."""
    return _linear.vecdot(x1, x2, axis=axis)


def outer(x1: Any, x2: Any, /) -> ndarray:
    """Products of every element of a vector with every one of another."""
    x1, x2 = f.asarray(x1), f.asarray(x2)
    if x1.ndim != 1 or x2.ndim != 1:
        raise ValueError(
            f"Input arrays must be one-dimensional, but they are {x1.ndim=} and {x2.ndim=}."
        )
    return _linear.outer(x1, x2)


def cross(x1: Any, x2: Any, /, *, axis: int = -1) -> ndarray:
    """Vector products along an axis of three elements."""
    x1, x2 = f.asarray(x1), f.asarray(x2)
    if x1.shape[axis] != 3 or x2.shape[axis] != 3:
        raise ValueError(
            "Both input arrays must be (arrays of) 3-dimensional vectors, but they are "
            f"{x1.shape[axis]} and {x2.shape[axis]} dimensional instead."
        )
    return _linear.cross(x1, x2, axis=axis)


def diagonal(x: Any, /, *, offset: int = 0) -> ndarray:
    """Views of the diagonals of matrices, read-only."""
    return f.diagonal(x, offset, -2, -1)


def trace(x: Any, /, *, offset: int = 0, dtype: Any = None) -> Any:
    """Sums of the diagonals of matrices."""
    return _linear.trace(x, offset, -2, -1, dtype)


@_for_classes
def matrix_power(a: Any, n: Any) -> ndarray:
    """Matrices multiplied with themselves, n times; their inverses for n below 0."""
    a = f.asarray(a)
    if a.ndim < 2:
        raise LinAlgError(
            f"{a.ndim}-dimensional array given. Array must be at least two-dimensional"
        )
    if a.shape[-1] != a.shape[-2]:
        raise LinAlgError("Last 2 dimensions of the array must be square")
    try:
        n = operator.index(n)
    except TypeError as error:
        raise TypeError("exponent must be an integer") from error
    if n < 0:
        a, n = f.asarray(_inv(a)), -n
    if n == 0:
        return f.broadcast_to(f.eye(a.shape[-1], dtype=a.dtype), a.shape).copy()
    made = None
    while n:
        if n & 1:
            made = a.copy() if made is None else _linear.matmul(made, a)
        n >>= 1
        a = _linear.matmul(a, a) if n else a
    return f.asarray(made)


def _chain(extents: list[int]) -> list[list[int]]:
    """Where products of matrices, extents[i] by extents[i + 1], are split so that the fewest numbers are multiplied."""
    n = len(extents) - 1
    cost = [[0] * n for _ in range(n)]
    at = [[0] * n for _ in range(n)]
    for length in range(1, n):
        for i in range(n - length):
            j = i + length
            cost[i][j], at[i][j] = min(
                (
                    cost[i][k] + cost[k + 1][j] + extents[i] * extents[k + 1] * extents[j + 1],
                    k,
                )
                for k in range(i, j)
            )
    return at


@_for_classes
def multi_dot(arrays: Any, *, out: Any = None) -> Any:
    """The product of several matrices, in the order of fewest operations."""
    parts = [f.asarray(a) for a in arrays]
    if len(parts) < 2:
        raise ValueError("Expecting at least two arrays.")
    ranks = parts[0].ndim, parts[-1].ndim
    parts[0] = f.atleast_2d(parts[0])
    if ranks[1] == 1:
        parts[-1] = parts[-1][:, None]
    for a in parts:
        if a.ndim != 2:
            raise LinAlgError(f"{a.ndim}-dimensional array given. Array must be two-dimensional")
    at = _chain([*(a.shape[0] for a in parts), parts[-1].shape[1]])

    def product(i: int, j: int) -> Any:
        if i == j:
            return parts[i]
        x, y = product(i, at[i][j]), product(at[i][j] + 1, j)
        return x.dot(y) if _linear.are_floats(x, y) else _linear.dot(x, y)

    made = f.asarray(product(0, len(parts) - 1))
    made = made[0] if ranks[0] == 1 else made
    if ranks[1] == 1:
        made = f.asarray(made)[..., 0]
    return r.scalar_of(f.asarray(made)) if out is None else f.copy_of(made, out)


# -- norms ---------------------------------------------------------------------------------------------


def _float(x: Any) -> ndarray:
    x = f.asarray(x)
    return x if x.dtype.kind in "fc" else x.astype(numpy.float64)


def vector_norm(x: Any, /, *, axis: Any = None, keepdims: bool = False, ord: Any = 2) -> Any:
    """Lengths of vectors along axes."""
    x, axis = _float(x), axis if axis is None or isinstance(axis, tuple) else (axis,)  # which numbers have none of
    size = x if x.dtype.kind == "c" and (ord is None or ord == 2) else f.asarray(_absolute(x))
    if ord == math.inf:
        return r.max(size, axis, keepdims=keepdims, initial=0)
    if ord == -math.inf:
        return r.min(size, axis, keepdims=keepdims)
    if ord == 0:
        return r.sum(FUNCTIONS["not_equal"](size, 0).astype(size.dtype), axis, keepdims=keepdims)
    if ord == 1:
        return r.sum(size, axis, keepdims=keepdims)
    if isinstance(ord, str):
        raise ValueError(f"Invalid norm order '{ord}' for vectors")  # noqa: TRY004  as NumPy's
    if ord is None or ord == 2:
        squares = FUNCTIONS["multiply"](FUNCTIONS["conjugate"](x), x).real if x.dtype.kind == "c" else size * size
        return _sqrt(r.sum(squares, axis, keepdims=keepdims))
    return _power(r.sum(_power(size, ord), axis, keepdims=keepdims), 1.0 / ord)


def _by_values(x: ndarray, ord: Any, keepdims: bool) -> Any:
    """Norms that are the greatest or least singular value, or the sum of all."""
    values = _values(x)
    if ord == "nuc":
        made = r.sum(values, -1)
    else:
        made = r.max(values, -1, initial=0) if ord == 2 else r.min(values, -1)
    made = f.asarray(made)
    return r.scalar_of(made[..., None, None] if keepdims else made)


def matrix_norm(x: Any, /, *, keepdims: bool = False, ord: Any = "fro") -> Any:
    """Norms of matrices: 'fro', 'nuc', and of orders 1, 2, inf and their opposites."""
    x = _float(x)
    if x.ndim < 2:
        raise numpy.exceptions.AxisError(f"axis -2 is out of bounds: matrices have two dimensions, found {x.shape}")
    size = f.asarray(_absolute(x))
    if ord in (None, "fro", "f"):
        return _sqrt(r.sum(size * size, (-2, -1), keepdims=keepdims))
    if ord in (2, -2, "nuc"):
        return _by_values(x, ord, keepdims)
    axis = {1: -2, -1: -2, math.inf: -1, -math.inf: -1}.get(ord)
    if axis is None:
        raise ValueError("Invalid norm order for matrices.")
    sums = f.asarray(r.sum(size, axis, keepdims=True))
    if ord < 0:
        return r.min(sums, (-2, -1), keepdims=keepdims)
    return r.max(sums, (-2, -1), keepdims=keepdims, initial=0)


def norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:
    """Norms of vectors (one axis) or matrices (two)."""
    x = f.asarray(x)
    if axis is None:
        if ord is None and x.size and _linear.are_floats(x, x) and x.flags.c_contiguous:
            flat = x if x.ndim == 1 else f.ravel(x)
            made = numpy.sqrt(flat.dot(flat))  # as NumPy's
            return f.asarray(made).reshape((1,) * x.ndim) if keepdims else made
        if ord is None or (ord in ("f", "fro") and x.ndim == 2) or (ord == 2 and x.ndim == 1):
            if x.dtype == numpy.float16 and x.size:  # NumPy's is a product, and warns of overflow as one
                flat = f.ravel(x, "K")
                made = numpy.sqrt(flat.dot(flat))
                return f.asarray(made).reshape((1,) * x.ndim) if keepdims else made
            if x.dtype.kind == "c":  # of an infinity the other part may be 0
                return _sqrt(r.sum(x.real * x.real + x.imag * x.imag, keepdims=keepdims))
            return vector_norm(x, keepdims=keepdims)
        axes = tuple(range(x.ndim))
    else:
        if not isinstance(axis, tuple):
            try:
                axis = (int(axis),)  # as NumPy's, which takes 1.5 for 1
            except Exception as error:
                raise TypeError(f"'axis' must be None, an integer or a tuple of integers, found {axis!r}") from error
        if len(axis) > 2:
            raise ValueError(f"Improper number of dimensions to norm: axis={axis}")
        axes = f.normalize_many(axis, x.ndim, allow_duplicate=True)
    if len(axes) == 1:
        return vector_norm(x, axis=axes[0], keepdims=keepdims, ord=ord)
    if len(axes) != 2:
        raise ValueError(f"Improper number of dimensions to norm: {len(axes)}, but a norm is of one or two")
    if axes[0] == axes[1]:
        raise ValueError("Duplicate axes given.")
    if ord is None:
        return vector_norm(x, axis=axes, keepdims=keepdims)
    made = f.asarray(matrix_norm(f.moveaxis(x, axes, (-2, -1)), ord=ord))
    return f.expand_dims(made, axes) if keepdims else r.scalar_of(made)


globals().update(
    {
        _name: _core.NumericRoutine(globals()[_name], __name__, False, FUNCTION)
        for _name in __all__
        if _name != "LinAlgError"
    }
)
