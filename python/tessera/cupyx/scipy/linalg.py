# SPDX-License-Identifier: Apache-2.0
"""Matrices of a form."""

from __future__ import annotations

from typing import Any

from ... import cupy

__all__ = ["block_diag", "circulant", "companion", "dft", "hadamard", "hankel", "hilbert", "khatri_rao",
           "solve_triangular",
           "toeplitz"]  # fmt: skip


def _vector(x: Any) -> Any:
    return cupy.asarray(x).ravel()


def toeplitz(c: Any, r: Any = None) -> Any:
    """The matrix whose diagonals are constant, by its first column and row."""
    c = _vector(c)
    r = c.conj() if r is None else _vector(r)
    values = cupy.concatenate([c[::-1], r[1:]])
    rows, columns = cupy.arange(c.size)[:, None], cupy.arange(r.size)[None, :]
    return values[c.size - 1 - rows + columns]


def hankel(c: Any, r: Any = None) -> Any:
    """The matrix whose anti-diagonals are constant, by its first column and last row."""
    c = _vector(c)
    r = cupy.zeros_like(c) if r is None else _vector(r)
    values = cupy.concatenate([c, r[1:]])
    return values[cupy.arange(c.size)[:, None] + cupy.arange(r.size)[None, :]]


def circulant(c: Any) -> Any:
    """The matrix whose columns are rotations of the first."""
    c = _vector(c)
    n = c.size
    return c[(cupy.arange(n)[:, None] - cupy.arange(n)[None, :]) % n]


def hilbert(n: int) -> Any:
    """1 / (i + j + 1)."""
    return 1.0 / (cupy.arange(n)[:, None] + cupy.arange(n)[None, :] + 1)


def hadamard(n: int, dtype: Any = int) -> Any:
    """The matrix of 1 and -1 whose rows are orthogonal; n is a power of two."""
    if n < 1 or n & (n - 1):
        raise ValueError("n must be an positive a power of 2 integer")
    made = cupy.ones((1, 1), dtype)
    while made.shape[0] < n:
        made = cupy.block([[made, made], [made, -made]])
    return made


def companion(a: Any) -> Any:
    """The matrix whose eigenvalues are the roots of a polynomial."""
    a = _vector(a)
    if a.size < 2:
        raise ValueError("The length of `a` must be at least 2.")
    n = a.size - 1
    made = cupy.zeros((n, n), (a / 1.0).dtype)
    made[0] = -a[1:] / a[0]
    if n > 1:
        made[cupy.arange(1, n), cupy.arange(n - 1)] = 1
    return made


def dft(n: int, scale: Any = None) -> Any:
    """The matrix of the Fourier transform."""
    if scale not in (None, "sqrtn", "n"):
        raise ValueError(f"scale must be None, 'sqrtn', or 'n'; {scale!r} is not valid.")
    angle = -2j * cupy.pi / n * (cupy.arange(n)[:, None] * cupy.arange(n)[None, :] % n)
    made = cupy.exp(angle)
    return made if scale is None else made / (n if scale == "n" else n**0.5)


def block_diag(*arrs: Any) -> Any:
    """Matrices along the diagonal."""
    blocks = [cupy.atleast_2d(cupy.asarray(a)) for a in arrs] or [cupy.zeros((1, 0))]
    made = cupy.zeros(
        (sum(b.shape[0] for b in blocks), sum(b.shape[1] for b in blocks)),
        cupy.result_type(*(b.dtype for b in blocks)),
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


def solve_triangular(
    a: Any, b: Any, trans: Any = 0, lower: bool = False, unit_diagonal: bool = False, overwrite_b: bool = False,
    check_finite: bool = False,
) -> Any:  # fmt: skip
    """x of a x = b, where a is triangular."""
    made = cupy.tril(a) if lower else cupy.triu(a)
    if unit_diagonal:
        made[cupy.arange(a.shape[0]), cupy.arange(a.shape[0])] = 1
    if trans in (1, "T", 2, "C"):
        made = made.T if trans in (1, "T") else made.T.conj()
    return cupy.linalg.solve(made, b)
