# SPDX-License-Identifier: Apache-2.0
"""LU factors with exchanged rows, on the host: halves of columns, so that most of the work is a product of matrices.

    A11 A12   factor the left half, exchange rows of the right one,
    A21 A22   A12 := inv(L11) A12,  A22 := A22 - A21 A12,  factor A22 the same way
"""

from __future__ import annotations

from typing import Any

import numpy

COLUMNS = 16  # up to which columns are eliminated one by one


def exchange(x: Any, pivots: Any) -> None:
    """Exchanges row k of a matrix with row pivots[k], one after the other."""
    for k, row in enumerate(pivots):
        if row != k:
            x[[k, row]] = x[[row, k]]


def solve_lower(lower: Any, x: Any, diagonal: Any = None) -> None:
    """x := inv(lower) x of stacks, where lower is triangular with a diagonal, or ones; what lies above is not read."""
    n = lower.shape[-1]
    if n > COLUMNS:
        half = n // 2
        solve_lower(lower[..., :half, :half], x[..., :half, :], None if diagonal is None else diagonal[..., :half])
        x[..., half:, :] -= lower[..., half:, :half] @ x[..., :half, :]
        solve_lower(lower[..., half:, half:], x[..., half:, :], None if diagonal is None else diagonal[..., half:])
        return
    for row in range(n):
        if row:
            x[..., row, :] -= (lower[..., row, None, :row] @ x[..., :row, :])[..., 0, :]
        if diagonal is not None:
            x[..., row, :] /= diagonal[..., row, None]


def substitute(a: Any, b: Any, is_lower: bool, has_ones: bool) -> Any:
    """x of a x = b, where a is triangular: row by row, so that rows of other magnitudes lose nothing."""
    outer = numpy.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    x = numpy.array(numpy.broadcast_to(b, outer + b.shape[-2:]), numpy.result_type(a, b), order="C")
    turn = slice(None, None, None if is_lower else -1)  # an upper triangle is a lower one from its end
    a = a[..., turn, turn]
    with numpy.errstate(all="ignore"):
        diagonal = None if has_ones else numpy.diagonal(a, axis1=-2, axis2=-1)
        solve_lower(a, x[..., turn, :], diagonal)
    return x


def _columns(a: Any) -> Any:
    """Factors a few columns, each by its element of the greatest magnitude."""
    pivots = numpy.arange(min(a.shape))
    for k in range(len(pivots)):
        size = numpy.abs(a[k:, k].real) + numpy.abs(a[k:, k].imag)
        pivots[k] += int(numpy.argmax(size))
        row = pivots[k]
        if row != k:
            a[[k, row]] = a[[row, k]]
        if a[k, k] != 0:
            a[k + 1 :, k] /= a[k, k]
        a[k + 1 :, k + 1 :] -= a[k + 1 :, k, None] * a[k, k + 1 :]
    return pivots


def factor(a: Any) -> Any:
    """Factors a matrix in its memory: the rows that were exchanged, counted from 0."""
    rows, columns = a.shape
    if min(rows, columns) <= COLUMNS and columns <= 2 * COLUMNS:
        return _columns(a)
    half = min(rows, columns) // 2 if columns <= rows else rows
    left, right = a[:, :half], a[:, half:]
    pivots = factor(left)
    exchange(right, pivots)
    solve_lower(left[:half], right[:half])
    if half == rows:
        return pivots
    right[half:] -= left[half:] @ right[:half]
    lower = factor(right[half:])
    exchange(left[half:], lower)
    return numpy.concatenate([pivots, lower + half])


def factor_stack(a: Any) -> tuple[Any, Any]:
    """Both factors of each matrix of a stack in one, and the rows that were exchanged."""
    made = numpy.array(a, order="C")
    pivots = numpy.zeros((*made.shape[:-2], min(made.shape[-2:])), "i4")
    with numpy.errstate(all="ignore"):
        for place in numpy.ndindex(made.shape[:-2]):
            pivots[place] = factor(made[place])
    return made, pivots


def order_of(pivots: Any, rows: int) -> Any:
    """Which row of a matrix each row of the product of its factors is."""
    made = numpy.empty((*pivots.shape[:-1], rows), "i8")
    made[...] = numpy.arange(rows)
    for place in numpy.ndindex(pivots.shape[:-1]):
        exchange(made[place], pivots[place])
    return made
