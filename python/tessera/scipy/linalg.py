# SPDX-License-Identifier: Apache-2.0
"""Matrices of a form, systems with a factor of them, powers of e."""

from __future__ import annotations

import math
from typing import Any

import numpy

from .. import numeric as tn

__all__ = [
    "bandwidth", "block_diag", "cho_factor", "cho_solve", "circulant", "companion", "convolution_matrix", "dft", "expm",
    "fiedler", "hadamard", "hankel", "helmert", "hilbert", "khatri_rao", "leslie", "solve_triangular", "toeplitz",
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
    return tn.abs(a[:, None] - a)


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
    if a.ndim != 2 or b.ndim != 2:
        raise ValueError("Both arrays should be 2-dimensional.")
    if a.shape[1] != b.shape[1]:
        raise ValueError("The number of columns for both arrays should be equal.")
    return (a[:, None, :] * b[None, :, :]).reshape(-1, a.shape[1])


# -- systems --------------------------------------------------------------------------------------------------


def _checked(a: Any, check_finite: bool) -> Any:
    """A stack of square matrices of floats."""
    a = tn.asarray(a)
    if a.ndim < 2 or a.shape[-1] != a.shape[-2]:
        raise ValueError(f"expected a square matrix, found shape {a.shape}")
    if a.dtype == "e":
        raise TypeError("array type float16 is unsupported in linalg")
    if check_finite and not tn.isfinite(a).all():
        raise ValueError("array must not contain infs or NaNs")
    return a if a.dtype.kind in "fc" else a.astype("f8")


def _solved(a: Any, b: Any) -> Any:
    """x of a x = b; b is a vector where it has one axis, or one less than a stack of a."""
    b = tn.asarray(b)
    if b.shape[:1] != a.shape[-1:] and (b.ndim < 2 or b.shape[-2] != a.shape[-1]):
        raise ValueError(f"shapes of a {a.shape} and b {b.shape} are incompatible")
    return tn.linalg.solve(a, b)


def solve_triangular(
    a: Any, b: Any, trans: Any = 0, lower: bool = False, unit_diagonal: bool = False, overwrite_b: bool = False,
    check_finite: bool = True,
) -> Any:  # fmt: skip
    """x of a x = b, where a is triangular; ``trans``: 1 or "T" of its transpose, 2 or "C" of the conjugate of that."""
    a = _checked(a, check_finite)
    made = tn.tril(a, -unit_diagonal) if lower else tn.triu(a, unit_diagonal)
    if unit_diagonal:
        made = made + tn.eye(a.shape[-1], dtype=a.dtype)
    elif (tn.diagonal(a, axis1=-2, axis2=-1) == 0).any():
        raise LinAlgError("singular matrix")
    if trans not in (0, "N"):
        made = tn.swapaxes(made, -1, -2)
        made = made.conj() if trans in (2, "C") else made
    return _solved(made, b)


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
        raise ValueError("Input array must be an array of shape (n, m).")
    rows, columns = tn.nonzero(a)
    if not rows.size:
        return 0, 0
    return max(0, int((rows - columns).max())), max(0, int((columns - rows).max()))
