# SPDX-License-Identifier: Apache-2.0
"""Reductions of whole arrays and along an axis.

An array is seen as (outer, n, inner) around the axis. On a GPU a block keeps one running result for
every place of a tile and folds the tile at the end; on the CPU, which reads a tile element by
element, it folds each tile as it is read. Where there are few results, several blocks share the axis
and a second pass over their parts ends the work. Which elements meet, and in which order, depends on
shapes and tile sizes alone: results are bitwise reproducible.
"""

from __future__ import annotations

from typing import Any

import tessera.tile as ct

from . import _check as check
from . import (
    around_axis,
    dtype_name,
    is_float,
    next_power_of_two,
    on_gpu,
    scratch,
    view,
    wide_dtype,
)
from ._rules import accept

SUM, PROD, MAX, MIN = 0, 1, 2, 3
OPS = {"sum": SUM, "prod": PROD, "max": MAX, "min": MIN}
ARG_OPS = {"argmax": True, "argmin": False}  # whether the largest


def both(OP: Any, a: Any, b: Any) -> Any:
    """One step of a reduction. Extremes keep a NaN, as NumPy's do."""
    if OP == SUM:
        return a + b
    if OP == PROD:
        return a * b
    if OP == MAX:
        return ct.maximum(a, b, propagate_nan=True)
    return ct.minimum(a, b, propagate_nan=True)


def fold(OP: Any, t: Any, axis: Any) -> Any:
    """A tile reduced along ``axis``."""
    if OP == SUM:
        return ct.sum(t, axis=axis)
    if OP == PROD:
        return ct.prod(t, axis=axis)
    if OP == MAX:
        return ct.max(t, axis=axis, propagate_nan=True)
    return ct.min(t, axis=axis, propagate_nan=True)


def neutral(op: int, like: Any) -> int | float | None:
    """What an operation leaves alone, for elements of the dtype of ``like``; None: all bits set."""
    if op in (SUM, PROD):
        return op
    if is_float(like):
        return float("-inf") if op == MAX else float("inf")
    bits = 8 * like.dtype.itemsize - 1
    if "uint" in dtype_name(like):
        return 0 if op == MAX else None
    return -(2**bits) if op == MAX else 2**bits - 1


def filled(shape: Any, NEUTRAL: Any, dtype: Any) -> Any:
    """A tile of neutral elements."""
    if NEUTRAL is None:
        return ct.bitwise_not(ct.zeros(shape, dtype=dtype))
    return ct.full(shape, NEUTRAL, dtype=dtype)


@ct.kernel
def reduce_kernel(
    x, out, OP: ct.Constant[int], NEUTRAL: ct.Constant, HALF: ct.Constant[bool],
    B: ct.Constant[int], N: ct.Constant[int], C: ct.Constant[int],
):  # fmt: skip
    outer, part, inner, n = ct.bid(0), ct.bid(1), ct.bid(2), x.shape[1]
    dtype = ct.float32 if HALF else out.dtype
    acc = pad = filled((B, N, C), NEUTRAL, dtype)
    whole = n // N
    for i in range(part, whole, ct.num_blocks(1)):
        acc = both(OP, acc, ct.astype(ct.load(x, index=(outer, i, inner), shape=(B, N, C)), dtype))
    if part == whole % ct.num_blocks(1):
        t = ct.load(
            x, index=(outer, whole, inner), shape=(B, N, C), padding_mode=ct.PaddingMode.ZERO
        )
        inside = ct.reshape(ct.arange(N, dtype=ct.int32), (1, N, 1)) < n - whole * N
        acc = both(OP, acc, ct.where(inside, ct.astype(t, dtype), pad))
    result = ct.reshape(fold(OP, acc, 1), (B, 1, C))
    ct.store(out, index=(outer, part, inner), tile=ct.astype(result, out.dtype))


@ct.function
def tile_of(x, i, NEUTRAL, HALF, dtype, B, N, C):
    """Tile i along the axis, neutral behind its end."""
    n = x.shape[1]
    t = ct.load(
        x, index=(ct.bid(0), i, ct.bid(2)), shape=(B, N, C), padding_mode=ct.PaddingMode.ZERO
    )
    t = ct.astype(t, dtype)
    inside = ct.reshape(ct.arange(N, dtype=ct.int32), (1, N, 1)) < n - i * N
    return ct.where(inside, t, filled((B, N, C), NEUTRAL, dtype))


@ct.function
def part_of_axis(whole):
    """Of the whole tiles along the axis the first of this block, and the first of the next."""
    each = ct.cdiv(whole, ct.num_blocks(1))
    return min(whole, ct.bid(1) * each), min(whole, (ct.bid(1) + 1) * each)


@ct.kernel
def fold_kernel(
    x, out, OP: ct.Constant[int], NEUTRAL: ct.Constant, HALF: ct.Constant[bool],
    B: ct.Constant[int], N: ct.Constant[int], C: ct.Constant[int],
):  # fmt: skip
    """reduce_kernel for the CPU."""
    outer, part, inner, n = ct.bid(0), ct.bid(1), ct.bid(2), x.shape[1]
    dtype = ct.float32 if HALF else out.dtype
    whole = n // N
    first, last = part_of_axis(whole)
    acc = filled((B, 1, C), NEUTRAL, dtype)
    for i in range(first, last):
        t = ct.astype(ct.load(x, index=(outer, i, inner), shape=(B, N, C)), dtype)
        acc = both(OP, acc, ct.reshape(fold(OP, t, 1), (B, 1, C)))
    if part == ct.num_blocks(1) - 1 and whole * N < n:
        t = tile_of(x, whole, NEUTRAL, HALF, dtype, B, N, C)
        acc = both(OP, acc, ct.reshape(fold(OP, t, 1), (B, 1, C)))
    ct.store(out, index=(outer, part, inner), tile=ct.astype(acc, out.dtype))


def _better(MAX_: Any, a: Any, b: Any) -> Any:
    """Whether ``a`` replaces ``b``, which comes first: it is further out, or the first NaN."""
    return ((a > b if MAX_ else a < b) | (a != a)) & (b == b)


@ct.kernel
def arg_kernel(
    x, values, places, LARGEST: ct.Constant[bool], NEUTRAL: ct.Constant, HALF: ct.Constant[bool],
    B: ct.Constant[int], N: ct.Constant[int], C: ct.Constant[int],
):  # fmt: skip
    outer, part, inner, n = ct.bid(0), ct.bid(1), ct.bid(2), x.shape[1]
    dtype = ct.float32 if HALF else x.dtype
    best = pad = filled((B, N, C), NEUTRAL, dtype)
    chunk = ct.full((B, N, C), part, dtype=ct.int32)
    along = ct.reshape(ct.arange(N, dtype=ct.int32), (1, N, 1))
    whole = n // N
    for i in range(part, whole, ct.num_blocks(1)):
        t = ct.astype(ct.load(x, index=(outer, i, inner), shape=(B, N, C)), dtype)
        better = _better(LARGEST, t, best)
        best = ct.where(better, t, best)
        chunk = ct.where(better, i, chunk)
    if part == whole % ct.num_blocks(1):
        t = ct.load(
            x, index=(outer, whole, inner), shape=(B, N, C), padding_mode=ct.PaddingMode.ZERO
        )
        t = ct.where(along < n - whole * N, ct.astype(t, dtype), pad)
        better = _better(LARGEST, t, best)
        best = ct.where(better, t, best)
        chunk = ct.where(better, whole, chunk)
    ct.store(values, index=(outer, part, inner), tile=_winner(best, LARGEST, B, C))
    ct.store(
        places, index=(outer, part, inner), tile=_place(best, chunk * N + along, LARGEST, B, C)
    )


def _winner(best: Any, LARGEST: Any, B: Any, C: Any) -> Any:
    top = (
        ct.max(best, axis=1, propagate_nan=True)
        if LARGEST
        else ct.min(best, axis=1, propagate_nan=True)
    )
    return ct.reshape(top, (B, 1, C))


def _place(best: Any, place: Any, LARGEST: Any, B: Any, C: Any) -> Any:
    """The first place that holds the winner."""
    top = _winner(best, LARGEST, B, C)
    same = (best == top) | ((best != best) & (top != top))
    return ct.reshape(ct.min(ct.where(same, place, 2**31 - 1), axis=1), (B, 1, C))


@ct.function
def _chunk_of(x, chunk, ONE, B, N, C):
    """Tile ``chunk`` along the axis, which may be another for each result."""
    outer, inner, zero = ct.bid(0), ct.bid(2), ct.PaddingMode.ZERO
    if ONE:
        return ct.load(x, index=(outer, 0, inner), shape=(B, N, C), padding_mode=zero)
    if B * C == 1:
        i = ct.reshape(chunk, ())
        return ct.load(x, index=(outer, i, inner), shape=(B, N, C), padding_mode=zero)
    row = outer * B + ct.reshape(ct.arange(B, dtype=ct.int32), (B, 1, 1))
    col = inner * C + ct.reshape(ct.arange(C, dtype=ct.int32), (1, 1, C))
    along = ct.reshape(ct.arange(N, dtype=ct.int32), (1, N, 1))
    return ct.gather(x, (row, chunk * N + along, col))


@ct.kernel
def arg_fold_kernel(
    x, values, places, LARGEST: ct.Constant[bool], NEUTRAL: ct.Constant, HALF: ct.Constant[bool],
    B: ct.Constant[int], N: ct.Constant[int], C: ct.Constant[int], ONE: ct.Constant[bool],
):  # fmt: skip
    """arg_kernel for the CPU: finds the first tile that holds the winner, then its place there. ONE: there is but one
    tile along the axis."""
    outer, part, inner, n = ct.bid(0), ct.bid(1), ct.bid(2), x.shape[1]
    dtype = ct.float32 if HALF else x.dtype
    whole = n // N
    first, last = part_of_axis(whole)
    best = filled((B, 1, C), NEUTRAL, dtype)
    chunk = ct.full((B, 1, C), first, dtype=ct.int32)
    for i in range(first, last):
        t = ct.astype(ct.load(x, index=(outer, i, inner), shape=(B, N, C)), dtype)
        top = _winner(t, LARGEST, B, C)
        better = _better(LARGEST, top, best)
        best = ct.where(better, top, best)
        chunk = ct.where(better, i, chunk)
    if part == ct.num_blocks(1) - 1 and whole * N < n:
        top = _winner(tile_of(x, whole, NEUTRAL, HALF, dtype, B, N, C), LARGEST, B, C)
        better = _better(LARGEST, top, best)
        best = ct.where(better, top, best)
        chunk = ct.where(better, whole, chunk)
    along = ct.reshape(ct.arange(N, dtype=ct.int32), (1, N, 1))
    t = ct.astype(_chunk_of(x, chunk, ONE, B, N, C), dtype)
    # a NaN wins, so where there is one only NaNs are winners
    same = ((t == best) | (t != t)) & (along < n - chunk * N)
    place = ct.min(ct.where(same, chunk * N + along, 2**31 - 1), axis=1)
    ct.store(values, index=(outer, part, inner), tile=best)
    ct.store(places, index=(outer, part, inner), tile=ct.reshape(place, (B, 1, C)))


@ct.kernel
def arg_merge_kernel(
    values, places, out, LARGEST: ct.Constant[bool], NEUTRAL: ct.Constant,
    B: ct.Constant[int], PARTS: ct.Constant[int], C: ct.Constant[int],
):  # fmt: skip
    outer, inner = ct.bid(0), ct.bid(1)
    inside = ct.reshape(ct.arange(PARTS, dtype=ct.int32), (1, PARTS, 1)) < values.shape[1]
    best = ct.load(
        values, index=(outer, 0, inner), shape=(B, PARTS, C), padding_mode=ct.PaddingMode.ZERO
    )
    place = ct.load(
        places, index=(outer, 0, inner), shape=(B, PARTS, C), padding_mode=ct.PaddingMode.ZERO
    )
    best = ct.where(inside, best, filled((B, PARTS, C), NEUTRAL, values.dtype))
    place = ct.where(inside, place, 2**31 - 1)
    ct.store(
        out, index=(outer, 0, inner), tile=ct.astype(_place(best, place, LARGEST, B, C), out.dtype)
    )


def _split_for_cpu(
    outer: int, n: int, inner: int, is_place: bool
) -> tuple[tuple[int, int, int], int]:
    """Long stretches of memory: rows of 4,096 columns at most, eight at a time, whose running results
    stay in the first cache; without columns behind the axis as much of it, or an eighth of a long
    one and a quarter of a short one, where it is read again for a place."""

    def below(n: int, most: int) -> int:
        return 1 << (max(1, min(n, most)).bit_length() - 1)

    c = next_power_of_two(inner) if inner < 64 else below(inner, 4096)
    size = 4096
    if is_place and c == 1:
        size = 1024 if n <= 1024 else 512
    along = below(n, max(8, size // c))
    b = min(next_power_of_two(outer), max(1, size // (c * along)))
    blocks = -(-outer // b) * -(-inner // c)
    parts = min(64 // max(1, blocks), max(1, n // (along * 8)))
    return (b, along, c), max(1, parts)


def _split(
    shape: tuple[int, int, int], gpu: bool, itemsize: int, is_place: bool
) -> tuple[tuple[int, int, int], int]:
    """The tile (outer, n, inner) of a block and how many blocks share the axis."""
    if not gpu:
        return _split_for_cpu(*shape, is_place)
    outer, n, inner = shape
    size = 16384 if itemsize <= 2 else 8192
    c = min(next_power_of_two(inner), 128)
    along = min(next_power_of_two(n), max(1, size // c))
    b = min(next_power_of_two(outer), max(1, size // (c * along)))
    blocks = -(-outer // b) * -(-inner // c)
    # on a GPU eight for each that runs at once (1 % faster than one on an H200)
    wanted = 4224 // max(1, blocks)
    parts = min(wanted, (1 << 16) // (b * c), -(-n // (along * 4)))
    return (b, along, c), max(1, parts)


def _shape(function: str, x: Any, out: Any, axis: int | None) -> tuple[int, int, int]:
    """``x`` around the axis, when ``out`` has room for the results and for no more."""
    shape = around_axis(function, check.shape_of(function, "x", x), axis)
    check.size(function, "out", out, shape[0] * shape[2])
    if max(shape) >= 2**31:
        raise ValueError(
            f"{function}: an extent of {max(shape)} elements; reductions take fewer than 2**31"
        )
    return shape


def reduce(op: str, x: Any, out: Any, axis: int | None = None, stream: Any = None) -> None:
    """The sum, product, maximum or minimum along an axis, or of all elements.

    Parameters
    ----------
    op : {"sum", "prod", "max", "min"}
    x : array
        Its axes before ``axis`` merge to one without a copy, and so do those behind it.
    out : array
        Of the same, with the shape of ``x`` without ``axis``, or any shape of as many elements (one
        for None). Results are kept in its dtype (sums of integers wrap there, as those
        of NumPy's ``dtype=``), those of shorter floats than float32 in float32.
    axis : int, optional
        Negative ones count from the end; None: all of them.
    stream : stream, optional

    Raises
    ------
    ValueError
        When shapes do not fit, ``out`` shares memory with ``x``, axes do not merge, or an
        extent (of the axis, of all axes before or behind it) is 2**31 or more; for an ``op`` that
        does not exist, and for the maximum or minimum of no elements.
    TypeError
        For an ``out`` that does not hold the elements of ``x``, such as integers for floats.

    Notes
    -----
    A sum of no elements is 0, a product 1. Maxima and minima of what holds a NaN are NaN.
    """
    code = check.named("reduce", op, OPS)
    shape = _shape("reduce", x, out, axis)
    accept("reduce", x, out)
    if code in (MAX, MIN) and shape[1] == 0:
        raise ValueError(f"reduce: {op} of no elements; sum and prod have a value there")
    if 0 in (shape[0], shape[2]):
        return
    tile, parts = _split(shape, on_gpu(x), x.dtype.itemsize, False)
    result = view("reduce", "out", out, (shape[0], 1, shape[2]))
    half = wide_dtype(out) != dtype_name(out)
    target = result if parts == 1 else scratch(x, (shape[0], parts, shape[2]), wide_dtype(out))
    grid = (ct.cdiv(shape[0], tile[0]), parts, ct.cdiv(shape[2], tile[2]))
    kernel = reduce_kernel if on_gpu(x) else fold_kernel
    first = (view("reduce", "x", x, shape), target, code, neutral(code, out), half, *tile)
    ct.launch(stream, grid, kernel, first)
    if parts > 1:
        last = (tile[0], next_power_of_two(parts), tile[2])
        again = (target, result, code, neutral(code, out), half, *last)
        ct.launch(stream, (grid[0], 1, grid[2]), kernel, again)


def arg_reduce(op: str, x: Any, out: Any, axis: int | None = None, stream: Any = None) -> None:
    """The first place of the largest or smallest element, of the first NaN if there is one.

    Parameters
    ----------
    op : {"argmax", "argmin"}
    x, axis, stream
        As for ``reduce``.
    out : array of int32, int64, uint32 or uint64
        As for ``reduce``; places along the axis, or among all elements in their order.

    Raises
    ------
    ValueError
        As ``reduce`` does.
    TypeError
        For another dtype of ``out``.
    """
    largest = check.named("arg_reduce", op, ARG_OPS)
    shape = _shape("arg_reduce", x, out, axis)
    accept("arg_reduce", x, out)
    if shape[1] == 0:
        raise ValueError(f"arg_reduce: {op} of no elements")
    if 0 in shape:
        return
    tile, parts = _split(shape, on_gpu(x), x.dtype.itemsize, True)
    values = scratch(x, (shape[0], parts, shape[2]), wide_dtype(x))
    places = scratch(x, (shape[0], parts, shape[2]), "int32")
    grid = (ct.cdiv(shape[0], tile[0]), parts, ct.cdiv(shape[2], tile[2]))
    worst = neutral(MAX if largest else MIN, x)
    half = wide_dtype(x) != dtype_name(x)
    args = (view("arg_reduce", "x", x, shape), values, places, largest, worst, half, *tile)
    if on_gpu(x):
        ct.launch(stream, grid, arg_kernel, args)
    else:
        ct.launch(stream, grid, arg_fold_kernel, (*args, shape[1] <= tile[1]))
    merge = (tile[0], next_power_of_two(parts), tile[2])
    result = view("arg_reduce", "out", out, (shape[0], 1, shape[2]))
    ct.launch(
        stream,
        (grid[0], grid[2], 1),
        arg_merge_kernel,
        (values, places, result, largest, worst, *merge),
    )
