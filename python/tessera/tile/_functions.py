# SPDX-License-Identifier: Apache-2.0
"""Operations that are written in the tile language itself, with NumPy's names. They are inlined where they are called,
as helpers of users are.

Sorting is a bitonic network over integers whose order is that of the elements: a stage compares elements `j` apart by
the minimum and maximum of two halves of a tile. Blocks that sort downwards are complemented, which turns their order.
"""

from __future__ import annotations

from typing import Any

from . import _dtype as dt
from ._kernel import function
from ._ops_math import bitwise_xor, isnan, maximum, minimum
from ._ops_math import max as _max
from ._ops_math import min as _min
from ._ops_math import sum as _sum
from ._ops_shape import (
    arange,
    bitcast,
    cat,
    extract,
    permute,
    reshape,
    static_assert,
    static_iter,
    where,
)

__all__ = ["all", "any", "argsort", "clip", "mean", "sort", "std", "topk", "var"]


@function
def clip(x: Any, min: Any = None, max: Any = None) -> Any:
    """``x`` within ``min`` and ``max``, elementwise; either may be None. NaN stays NaN, as in NumPy.

    Examples
    --------
    >>> y = ct.clip(x, 0, 6)    # doctest: +SKIP
    """
    if min is not None:
        x = maximum(x, min, propagate_nan=True)
    if max is not None:
        x = minimum(x, max, propagate_nan=True)
    return x


@function
def any(x: Any, /, axis: Any = None, *, keepdims: bool = False) -> Any:
    """Whether some element along the axes is true (not zero; NaN is true, as in NumPy). ``axis`` as in :func:`sum`."""
    return _max(x != 0, axis, keepdims=keepdims)


@function
def all(x: Any, /, axis: Any = None, *, keepdims: bool = False) -> Any:
    """Whether every element along the axes is true (not zero; NaN is true, as in NumPy). ``axis`` as in :func:`sum`."""
    return _min(x != 0, axis, keepdims=keepdims)


def _count(shape: Any, axes: Any) -> Any:
    """How many elements the axes hold together."""
    n = 1
    match axes:
        case None:
            axes = tuple(range(len(shape)))
        case int():
            axes = (axes,)
    for d in static_iter(axes):
        n = n * shape[d]
    return n


def _real(x: Any) -> Any:
    """As a float of at least 32 bits, in which sums are made."""
    if x.dtype == dt.float64:
        return x
    return x.astype(dt.float32)


def _narrow(x: Any, like: Any) -> Any:
    if like == dt.float16 or like == dt.bfloat16:
        return x.astype(like)
    return x


@function
def mean(x: Any, /, axis: Any = None, *, keepdims: bool = False) -> Any:
    """The mean along the axes, all of them for None. Integers give float32; 16-bit floats are added in float32."""
    wide = _real(x)
    return _narrow(_sum(wide, axis, keepdims=keepdims) / _count(x.shape, axis), x.dtype)


@function
def var(x: Any, /, axis: Any = None, *, ddof: Any = 0, keepdims: bool = False) -> Any:
    """The variance along the axes: the mean of squared distances from the mean, where the divisor is the number of
    elements less ``ddof``, at least 0. Dtypes as in :func:`mean`."""
    return _narrow(_var(x, axis, ddof, keepdims), x.dtype)


def _var(x: Any, axis: Any, ddof: Any, keepdims: Any) -> Any:
    wide = _real(x)
    n = _count(x.shape, axis)
    apart = wide - _sum(wide, axis, keepdims=True) / n
    return _sum(apart * apart, axis, keepdims=keepdims) / max(n - ddof, 0)


@function
def std(x: Any, /, axis: Any = None, *, ddof: Any = 0, keepdims: bool = False) -> Any:
    """The square root of :func:`var`."""
    return _narrow(_var(x, axis, ddof, keepdims) ** 0.5, x.dtype)


# ---- sorting -----------------------------------------------------------------------------------


def _is_wide(dtype: Any) -> Any:
    return dtype == dt.float64 or dtype == dt.int64 or dtype == dt.uint64


def _is_real(dtype: Any) -> Any:
    return dtype == dt.float64 or dtype == dt.float32 or dtype == dt.float16 or dtype == dt.bfloat16


def _folded(bits: Any, most: Any) -> Any:
    """Bits of floats as integers in the floats' order, and back."""
    return where(bits < 0, bitwise_xor(bits, most), bits)


def _keys(x: Any) -> Any:
    """int32 or int64 in the order of the elements; NaN is the greatest, and -0.0 comes before 0.0."""
    if x.dtype == dt.float64:
        most = dt.int64(0x7FFFFFFFFFFFFFFF)
        return where(isnan(x), most, _folded(bitcast(x, dt.int64), most))
    if _is_real(x.dtype):
        wide, most = x.astype(dt.float32), dt.int32(0x7FFFFFFF)
        return where(isnan(wide), most, _folded(bitcast(wide, dt.int32), most))
    if x.dtype == dt.uint64:
        return bitwise_xor(bitcast(x, dt.int64), dt.int64(-0x8000000000000000))
    if x.dtype == dt.uint32:
        return bitwise_xor(bitcast(x, dt.int32), dt.int32(-0x80000000))
    if x.dtype == dt.int64:
        return x
    return x.astype(dt.int32)


def _values(keys: Any, dtype: Any) -> Any:
    """What the keys were made of."""
    if dtype == dt.float64:
        return bitcast(_folded(keys, dt.int64(0x7FFFFFFFFFFFFFFF)), dt.float64)
    if _is_real(dtype):
        return bitcast(_folded(keys, dt.int32(0x7FFFFFFF)), dt.float32).astype(dtype)
    if dtype == dt.uint64:
        return bitcast(bitwise_xor(keys, dt.int64(-0x8000000000000000)), dt.uint64)
    if dtype == dt.uint32:
        return bitcast(bitwise_xor(keys, dt.int32(-0x80000000)), dt.uint32)
    return keys.astype(dtype)


def _half(x: Any, i: Any, rows: Any, blocks: Any, j: Any) -> Any:
    return extract(x, (0, 0, i, 0), (rows, blocks, 1, j))


def _turn(x: Any, i: Any, k: Any) -> Any:
    """Complements the blocks of ``k`` elements that sort downwards."""
    return bitwise_xor(x, where((i & k) != 0, x.dtype(-1), x.dtype(0)))


def _log2(n: Any) -> Any:
    k = 0
    for i in static_iter(range(30)):
        if 1 << (i + 1) <= n:
            k = i + 1
    return k


def _network(x: Any) -> Any:
    """Sorts the rows of a tile (rows, n) of signed integers."""
    rows, n = x.shape
    i, stages = arange(n, dtype=dt.int32)[None, :], _log2(n)
    for stage in static_iter(range(1, stages + 1)):
        x = _turn(x, i, 1 << stage)
        for step in static_iter(range(stage)):
            j = 1 << (stage - 1 - step)
            blocks = n // (2 * j)
            pairs = reshape(x, (rows, blocks, 2, j))
            low, high = _half(pairs, 0, rows, blocks, j), _half(pairs, 1, rows, blocks, j)
            x = reshape(cat((minimum(low, high), maximum(low, high)), 2), (rows, n))
        x = _turn(x, i, 1 << stage)
    return x


def _network_of_pairs(x: Any, at: Any) -> Any:
    """The same of keys with a position each, which decides between equal keys."""
    rows, n = x.shape
    i, stages = arange(n, dtype=dt.int32)[None, :], _log2(n)
    for stage in static_iter(range(1, stages + 1)):
        x, at = _turn(x, i, 1 << stage), _turn(at, i, 1 << stage)
        for step in static_iter(range(stage)):
            j = 1 << (stage - 1 - step)
            blocks = n // (2 * j)
            keys, places = reshape(x, (rows, blocks, 2, j)), reshape(at, (rows, blocks, 2, j))
            a, b = _half(keys, 0, rows, blocks, j), _half(keys, 1, rows, blocks, j)
            c, d = _half(places, 0, rows, blocks, j), _half(places, 1, rows, blocks, j)
            swap = (a > b) | ((a == b) & (c > d))
            x = reshape(cat((where(swap, b, a), where(swap, a, b)), 2), (rows, n))
            at = reshape(cat((where(swap, d, c), where(swap, c, d)), 2), (rows, n))
        x, at = _turn(x, i, 1 << stage), _turn(at, i, 1 << stage)
    return x, at


def _last(axis: Any, rank: Any) -> Any:
    """The permutation that exchanges the axis and the last one."""
    at = axis + rank if axis < 0 else axis
    return tuple(rank - 1 if d == at else at if d == rank - 1 else d for d in static_iter(range(rank)))


def _rows(x: Any, axis: Any) -> Any:
    """As (rows, n) with the axis last; the permutation, and the shape that it gives."""
    static_assert(x.dtype != dt.complex64 and x.dtype != dt.complex128, "complex numbers have no order")
    if axis is None:
        n = _count(x.shape, None)
        return reshape(x, (1, n)), (0,), (n,)
    static_assert(len(x.shape) > 0, "a scalar has no axis to sort along; pass axis=None")
    static_assert(-len(x.shape) <= axis < len(x.shape), "the axis is out of range for the tile")
    order = _last(axis, len(x.shape))
    moved = permute(x, order)
    n = moved.shape[len(x.shape) - 1]
    return reshape(moved, (_count(x.shape, None) // n, n)), order, moved.shape


def _back(x: Any, order: Any, shape: Any) -> Any:
    return permute(reshape(x, shape), order)


def _turned(keys: Any, descending: Any) -> Any:
    return bitwise_xor(keys, keys.dtype(-1)) if descending else keys


def _ordered(x: Any, descending: Any) -> Any:
    """Keys and positions of rows, sorted; equal ones by position."""
    keys = _turned(_keys(x), descending)
    at = arange(x.shape[1], dtype=dt.int32)[None, :]
    if _is_wide(x.dtype):
        keys, places = _network_of_pairs(keys, at + keys.astype(dt.int32) * 0)
        return _turned(keys, descending), places
    both = _network(keys.astype(dt.int64) * 0x100000000 + at.astype(dt.int64))
    return _turned((both >> 32).astype(dt.int32), descending), (both & 0xFFFFFFFF).astype(dt.int32)


@function
def sort(x: Any, /, axis: Any = -1, *, descending: bool = False) -> Any:
    """The elements in order along an axis; of the flattened tile where ``axis`` is None. NaN counts as the greatest.

    Notes
    -----
    A bitonic network: ``log2(n) * (log2(n) + 1) / 2`` steps of a minimum and a maximum for an axis of ``n`` elements.

    Examples
    --------
    >>> y = ct.sort(x, axis=0)    # doctest: +SKIP
    """
    rows, order, shape = _rows(x, axis)
    keys = _turned(_network(_turned(_keys(rows), descending)), descending)
    return _back(_values(keys, x.dtype), order, shape)


@function
def argsort(x: Any, /, axis: Any = -1, *, descending: bool = False) -> Any:
    """Positions (int32) along an axis that put the elements in order. Equal elements keep their order, as by NumPy's
    ``kind="stable"``; NaN counts as the greatest."""
    rows, order, shape = _rows(x, axis)
    if _is_real(x.dtype):
        rows = rows + 0.0  # zeros of both signs are equal
    return _back(_ordered(rows, descending)[1], order, shape)


@function
def topk(x: Any, k: Any, /, axis: Any = -1, *, largest: bool = True) -> Any:
    """The ``k`` greatest elements along an axis, in order from the greatest, and their positions (int32).

    Parameters
    ----------
    x : Tile
    k : int
        A power of two that is not above the axis's extent.
    axis : int
    largest : bool
        False: the least ones, from the least.

    Returns
    -------
    values, indices : tuple of Tile
        Of equal elements the first are taken. NaN counts as the greatest.
    """
    rows, order, shape = _rows(x, axis)
    static_assert(1 <= k <= rows.shape[1], "topk(): k is from 1 to the extent of the axis")
    static_assert(k & (k - 1) == 0, "topk(): k is a power of two, as extents of tiles are; take the next one")
    keys, places = _ordered(rows, largest)
    part, made = (rows.shape[0], k), (*shape[:-1], k)
    values = _values(extract(keys, (0, 0), part), x.dtype)
    return _back(values, order, made), _back(extract(places, (0, 0), part), order, made)
