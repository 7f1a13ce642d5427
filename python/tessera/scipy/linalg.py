# SPDX-License-Identifier: Apache-2.0
"""Matrices of a form, systems with a factor of them, powers of e."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy

from .. import numeric as tn
from ..numeric import _host
from . import _lu
from ._missing import of_module

__all__ = [
    "bandwidth", "block_diag", "cho_factor", "cho_solve", "circulant", "companion", "convolution_matrix", "dft", "expm",
    "fiedler", "fiedler_companion", "hadamard", "hankel", "helmert", "hilbert", "khatri_rao", "leslie", "lu",
    "lu_factor", "lu_solve", "solve_triangular", "toeplitz",
]  # fmt: skip

LinAlgError = numpy.linalg.LinAlgError


def _vector(x: Any) -> Any:
    return tn.asarray(x).ravel()


def toeplitz(c: Any, r: Any = None) -> Any:
    """The matrix whose diagonals are constant, by its first column and row."""
    c = _vector(c)
    r = c.conj() if r is None else _vector(r)
    values = tn.concatenate([c[::-1], r[1:]])
    rows, columns = tn.arange(c.size)[:, None], tn.arange(r.size)[None, :]
    return values[c.size - 1 - rows + columns]


def hankel(c: Any, r: Any = None) -> Any:
    """The matrix whose anti-diagonals are constant, by its first column and last row."""
    c = _vector(c)
    r = tn.zeros_like(c) if r is None else _vector(r)
    values = tn.concatenate([c, r[1:]])
    return values[tn.arange(c.size)[:, None] + tn.arange(r.size)[None, :]]


def circulant(c: Any) -> Any:
    """The matrix whose columns are rotations of the first."""
    c = _vector(c)
    n = c.size
    return c[(tn.arange(n)[:, None] - tn.arange(n)[None, :]) % n]


def hilbert(n: int) -> Any:
    """1 / (i + j + 1)."""
    return 1.0 / (tn.arange(n)[:, None] + tn.arange(n)[None, :] + 1)


def hadamard(n: int, dtype: Any = int) -> Any:
    """The matrix of 1 and -1 whose rows are orthogonal; n is a power of two."""
    if n < 1 or n & (n - 1):
        raise ValueError("n must be an positive a power of 2 integer")
    made = tn.ones((1, 1), dtype)
    while made.shape[0] < n:
        made = tn.block([[made, made], [made, -made]])
    return made


def convolution_matrix(a: Any, n: int, mode: str = "full") -> Any:
    """The matrix by which a vector of n elements is convolved with a."""
    a = tn.asarray(a)
    if n <= 0:
        raise ValueError("n must be a positive integer.")
    if a.ndim != 1:
        raise ValueError("convolution_matrix expects a one-dimensional array as input")
    if not a.size:
        raise ValueError("len(a) must be at least 1.")
    if mode not in ("full", "valid", "same"):
        raise ValueError("'mode' argument must be one of ('full', 'valid', 'same')")
    zeros = tn.zeros(n - 1, a.dtype)
    made = toeplitz(tn.concatenate([a, zeros]), tn.concatenate([a[:1], zeros]))
    if mode == "full":
        return made
    shorter, longer = sorted((a.size, n))
    start, length = (shorter - 1, longer - shorter + 1) if mode == "valid" else ((shorter - 1) // 2, longer)
    return made[start : start + length]


def fiedler(a: Any) -> Any:
    """abs(a[i] - a[j])."""
    a = tn.atleast_1d(tn.asarray(a))
    if a.ndim != 1:
        raise ValueError("Input 'a' must be a 1D array.")
    if a.size < 2:  # as SciPy: no axes' lengths of nothing, and float64
        return tn.zeros((1, 1) if a.size else 0)
    return tn.abs(a[:, None] - a)


def fiedler_companion(a: Any) -> Any:
    """The matrix of five diagonals whose eigenvalues are the roots of a polynomial."""
    a = tn.atleast_1d(tn.asarray(a))
    if a.ndim != 1:
        raise ValueError("Input 'a' must be a 1-D array.")
    if a.size < 2:
        return tn.zeros(0, a.dtype)
    if a[0] == 0 and a.size > 2:
        raise ValueError("Leading coefficient is zero.")
    c = -a / a[0]
    n = c.size - 1
    made = tn.zeros((n, n), c.dtype)
    made[0, 0] = c[1]
    for row in range(0, n, 2):
        if row + 1 < n:
            made[row + 1, max(row - 1, 0)] = 1
            made[row, row + 1] = c[row + 2]
        if row:
            made[row, row - 1] = c[row + 1]
        if row + 2 < n:
            made[row, row + 2] = 1
    return made


def helmert(n: int, full: bool = False) -> Any:
    """The orthogonal matrix of differences from means; without ``full`` but its first row."""
    i, j = tn.arange(n)[:, None], tn.arange(n)[None, :]
    below = tn.where(j < i, 1.0, tn.where(j == i, -1.0 * i, 0.0)) / tn.sqrt(tn.maximum(i * (i + 1), 1))
    made = tn.where(i == 0, 1 / math.sqrt(n), below) if n else tn.zeros((0, 0))
    return made if full else made[1:]


def leslie(f: Any, s: Any) -> Any:
    """The matrix of fertilities and of who survives."""
    f, s = tn.atleast_1d(tn.asarray(f)), tn.atleast_1d(tn.asarray(s))
    if f.ndim != 1 or s.ndim != 1:
        raise ValueError("Incorrect shape for f or s. Both must be one-dimensional")
    if f.size != s.size + 1 or not s.size:
        raise ValueError("Incorrect lengths for f and s. The length of s must be one less than the length of f")
    made = tn.zeros((f.size, f.size), tn.result_type(f, s))
    made[0] = f
    made[tn.arange(1, f.size), tn.arange(s.size)] = s
    return made


def companion(a: Any) -> Any:
    """The matrix whose eigenvalues are the roots of a polynomial."""
    a = _vector(a)
    if a.size < 2:
        raise ValueError("The length of `a` must be at least 2.")
    n = a.size - 1
    made = tn.zeros((n, n), (a / 1.0).dtype)
    made[0] = -a[1:] / a[0]
    if n > 1:
        made[tn.arange(1, n), tn.arange(n - 1)] = 1
    return made


def dft(n: int, scale: Any = None) -> Any:
    """The matrix of the Fourier transform."""
    if scale not in (None, "sqrtn", "n"):
        raise ValueError(f"scale must be None, 'sqrtn', or 'n'; {scale!r} is not valid.")
    angle = -2j * tn.pi / n * (tn.arange(n)[:, None] * tn.arange(n)[None, :] % n)
    made = tn.exp(angle)
    return made if scale is None else made / (n if scale == "n" else n**0.5)


def block_diag(*arrs: Any) -> Any:
    """Matrices along the diagonal."""
    blocks = [tn.atleast_2d(tn.asarray(a)) for a in arrs] or [tn.zeros((1, 0))]
    made = tn.zeros(
        (sum(b.shape[0] for b in blocks), sum(b.shape[1] for b in blocks)),
        tn.result_type(*(b.dtype for b in blocks)),
    )
    row = column = 0
    for b in blocks:
        made[row : row + b.shape[0], column : column + b.shape[1]] = b
        row, column = row + b.shape[0], column + b.shape[1]
    return made


def khatri_rao(a: Any, b: Any) -> Any:
    """Kronecker's products of columns."""
    a, b = tn.asarray(a), tn.asarray(b)
    if a.ndim != 2 or b.ndim != 2:
        raise LinAlgError("Both arrays should be 2-dimensional.")
    if a.shape[1] != b.shape[1]:
        raise ValueError("The number of columns for both arrays should be equal.")
    return (a[:, None, :] * b[None, :, :]).reshape(-1, a.shape[1])


# -- systems --------------------------------------------------------------------------------------------------


def _checked(a: Any, check_finite: bool) -> Any:
    """A stack of square matrices of floats."""
    a = tn.asarray(a)
    if a.ndim < 2 or a.shape[-1] != a.shape[-2]:
        raise ValueError(f"expected a square matrix, found shape {a.shape}")
    return _floats(a, check_finite)


def _floats(a: Any, check_finite: bool) -> Any:
    if a.dtype == "e":
        raise TypeError("array type float16 is unsupported in linalg")
    if check_finite and not tn.isfinite(a).all():
        raise ValueError("array must not contain infs or NaNs")
    return a if a.dtype.kind in "fc" else a.astype("f8")


def solve_triangular(
    a: Any, b: Any, trans: Any = 0, lower: bool = False, unit_diagonal: bool = False, overwrite_b: bool = False,
    check_finite: bool = True,
) -> Any:  # fmt: skip
    """x of a x = b, where a is triangular; ``trans``: 1 or "T" of its transpose, 2 or "C" of the conjugate of that."""
    a = _checked(a, check_finite)
    b = _floats(tn.asarray(b), check_finite)
    if not b.ndim or b.shape[-min(2, b.ndim)] != a.shape[-1]:
        raise ValueError(f"shapes of a {a.shape} and b {b.shape} are incompatible")
    if not unit_diagonal and (tn.diagonal(a, axis1=-2, axis2=-1) == 0).any():
        raise LinAlgError("singular matrix")
    if trans not in (0, "N"):
        a, lower = tn.swapaxes(a, -1, -2), not lower
        a = a.conj() if trans in (2, "C") else a
    rows = b[:, None] if b.ndim == 1 else b
    made = _host.call("scipy.linalg.solve_triangular", _lu.substitute, a, rows, lower, unit_diagonal)
    return made[..., 0] if b.ndim == 1 else made


def cho_factor(
    a: Any, lower: bool = False, overwrite_a: bool = False, check_finite: bool = True
) -> tuple[Any, bool]:
    """Cholesky's factor of a matrix, for `cho_solve`, and whether it is the lower one."""
    a = _checked(a, check_finite)
    given = tn.tril(a) if lower else tn.swapaxes(tn.triu(a), -1, -2).conj()
    factor = tn.linalg.cholesky(given)
    return (factor if lower else tn.swapaxes(factor, -1, -2).conj()), lower


def cho_solve(
    c_and_lower: Any, b: Any, overwrite_b: bool = False, check_finite: bool = True
) -> Any:
    """x of a x = b, by Cholesky's factor of a."""
    c, lower = c_and_lower
    c = _checked(c, check_finite)
    options = {"lower": lower, "check_finite": check_finite}
    made = solve_triangular(c, b, trans=0 if lower else 2, **options)
    return solve_triangular(c, made, trans=2 if lower else 0, **options)


def _factored(name: str, a: Any, check_finite: bool) -> tuple[Any, Any]:
    """Both factors of each matrix in one array, and the rows that were exchanged, from 0."""
    a = tn.asarray(a)
    if a.ndim < 2:
        raise ValueError("The input array must be at least two-dimensional.")
    a = _floats(a, check_finite)
    made, pivots = _host.call(f"scipy.linalg.{name}", _lu.factor_stack, a)
    return made, pivots


def _halves(both: Any) -> tuple[Any, Any]:
    rows, columns = both.shape[-2:]
    least = min(rows, columns)
    lower = tn.tril(both, -1)[..., :least] + tn.eye(rows, least, dtype=both.dtype)
    return lower, tn.triu(both)[..., :least, :]


def lu_factor(a: Any, overwrite_a: bool = False, check_finite: bool = True) -> tuple[Any, Any]:
    """LU factors with exchanged rows, for `lu_solve`: both in one array, and with which row each one was exchanged.

    Warns
    -----
    RuntimeWarning
        An element of U's diagonal is 0: the matrix is singular.
    """
    made, pivots = _factored("lu_factor", a, check_finite)
    zero = tn.asarray(tn.diagonal(made, axis1=-2, axis2=-1) == 0)
    if zero.any():
        place = int(tn.nonzero(zero)[-1].min()) + 1
        warnings.warn(f"Diagonal number {place} is exactly zero. Singular matrix.", RuntimeWarning, stacklevel=2)
    return made, pivots


def lu(
    a: Any, permute_l: bool = False, overwrite_a: bool = False, check_finite: bool = True, p_indices: bool = False
) -> tuple[Any, ...]:
    """P, L and U of a = P @ L @ U: a permutation, ones below and on a diagonal, an upper triangle.

    With ``permute_l`` P @ L and U; with ``p_indices`` the rows of L that a's rows come from are in P's place.
    """
    made, pivots = _factored("lu", a, check_finite)
    lower, upper = _halves(made)
    order = tn.argsort(tn.asarray(_host.call("scipy.linalg.lu", _lu.order_of, pivots, lower.shape[-2])), axis=-1)
    if permute_l:
        return tn.take_along_axis(lower, order[..., None], axis=-2), upper
    if p_indices:
        return order.astype("i4"), lower, upper
    kind = "f4" if made.dtype.char in "fF" else "f8"
    return (order[..., None] == tn.arange(order.shape[-1])).astype(kind), lower, upper


def lu_solve(
    lu_and_piv: Any, b: Any, trans: int = 0, overwrite_b: bool = False, check_finite: bool = True
) -> Any:
    """x of a x = b, by `lu_factor` of a; ``trans``: 1 of its transpose, 2 of the conjugate of that."""
    both, pivots = lu_and_piv
    both, b = _checked(both, check_finite), tn.asarray(b)
    if trans not in (0, 1, 2):
        raise ValueError("Illegal value in trans: it is 0, 1 or 2")
    if b.ndim < 1 or b.shape[-min(2, b.ndim)] != both.shape[-1]:
        raise ValueError(f"Shapes of lu {both.shape} and b {b.shape} are incompatible")
    if b.ndim == 1:
        return lu_solve((both, pivots), b[:, None], trans, check_finite=False)[..., 0]
    order = tn.asarray(_host.call("scipy.linalg.lu_solve", _lu.order_of, tn.asarray(pivots), both.shape[-1]))
    lower: dict[str, Any] = {"lower": True, "unit_diagonal": True, "trans": trans, "check_finite": False}
    upper: dict[str, Any] = {"trans": trans, "check_finite": False}
    if trans == 0:
        return tn.asfortranarray(solve_triangular(both, solve_triangular(both, _rows(b, order), **lower), **upper))
    made = solve_triangular(both, solve_triangular(both, b, **upper), **lower)
    return tn.asfortranarray(_rows(made, tn.argsort(order, axis=-1)))


def _rows(b: Any, order: Any) -> Any:
    """The rows of each matrix in an order."""
    outer = tn.broadcast_shapes(b.shape[:-2], order.shape[:-1])
    b = tn.broadcast_to(b, outer + b.shape[-2:])
    return tn.take_along_axis(b, tn.broadcast_to(order[..., None], (*outer, order.shape[-1], 1)), axis=-2)


# Padé's approximant of 13 over 13 (Higham 2005): its coefficients, and the norm up to which it is exact to rounding.
_PADE = (
    64764752532480000, 32382376266240000, 7771770303897600, 1187353796428800, 129060195264000, 10559470521600,
    670442572800, 33522128640, 1323241920, 40840800, 960960, 16380, 182, 1,
)  # fmt: skip
_NORM = 5.371920351148152


def expm(a: Any) -> Any:
    """e to the power of each matrix of a stack: scaled by a power of two, approximated, and squared as often."""
    a = _checked(a, False)
    if not a.size:
        return a
    wide = a.astype("c16" if a.dtype.kind == "c" else "f8", copy=False)
    norm = float(tn.abs(wide).sum(axis=-2).max())
    times = max(0, math.ceil(math.log2(norm / _NORM))) if 0 < norm < math.inf else 0
    x = wide / 2.0**times
    x2 = x @ x
    x4 = x2 @ x2
    x6 = x4 @ x2
    one, c = tn.eye(a.shape[-1]), _PADE
    high = x6 * c[13] + x4 * c[11] + x2 * c[9]
    odd = x @ (x6 @ high + x6 * c[7] + x4 * c[5] + x2 * c[3] + one * c[1])
    high = x6 * c[12] + x4 * c[10] + x2 * c[8]
    even = x6 @ high + x6 * c[6] + x4 * c[4] + x2 * c[2] + one * c[0]
    made = tn.linalg.solve(even - odd, even + odd)
    for _ in range(times):
        made = made @ made
    return made.astype(a.dtype, copy=False)


def bandwidth(a: Any) -> tuple[int, int]:
    """How many diagonals below and above the main one a matrix fills."""
    a = tn.asarray(a)
    if a.ndim != 2:
        raise LinAlgError("Input array must be an array of shape (n, m).")
    rows, columns = tn.nonzero(a)
    if not rows.size:
        return 0, 0
    return max(0, int((rows - columns).max())), max(0, int((columns - rows).max()))

__getattr__ = of_module("linalg")
