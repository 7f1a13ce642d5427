# SPDX-License-Identifier: Apache-2.0
"""Running sums, products, maxima and minima.

A flat array is scanned in one pass over memory, after Merrill & Garland, "Single-pass parallel
prefix scan with decoupled look-back" (2016): blocks draw tickets, publish the total of their tile,
and look back at the totals of the tiles before. Here a block takes tile after tile and carries the
total of all windows of 256 tiles that lie before its own, so no prefix travels from block to block:
a block reads each total once. The next tile is on its way, and its total published, before the
block waits for those of others. Every prefix is combined in one fixed order: results are bitwise
reproducible. A total travels in 64-bit words of 32 bits of payload beside a flag, so that no fence
is needed.

    words[0]  flag | total (of 64 bits: its upper half)   a word for each tile, zero before
    words[1]  flag | lower half, of totals of 64 bits     the last word of words[0]: tickets drawn

Along the other axes, and for short ones, a block takes whole lines of a tile and carries their
totals from chunk to chunk.
"""

from __future__ import annotations

from typing import Any

import tessera.tile as ct

from . import _check as check
from . import (
    around_axis,
    dtype_name,
    is_float,
    multiprocessors,
    next_power_of_two,
    on_gpu,
    scratch,
    view,
)
from ._rules import accept
from .reduce import MAX, MIN, PROD, SUM, both, filled, fold, neutral

OPS = {"cumsum": SUM, "cumprod": PROD, "cummax": MAX, "cummin": MIN}
WINDOW = 256  # tiles
ORDER = ct.MemoryOrder.RELAXED
SCOPE = ct.MemoryScope.DEVICE
BLOCKS = 3  # on a multiprocessor


def _running(OP: Any, t: Any, axis: Any, NEUTRAL: Any) -> Any:
    """A tile scanned along ``axis``."""
    if OP == SUM:
        return ct.cumsum(t, axis)
    if OP == PROD:
        return ct.cumprod(t, axis)
    return ct.scan(t, axis, lambda a, b: both(OP, a, b), -1 if NEUTRAL is None else NEUTRAL)


def _publish(words: Any, at: Any, value: Any, WIDE: Any) -> None:
    """Writes the total of tile ``at``; WIDE: it has 64 bits. Flag and payload arrive together."""
    flag = ct.uint64(1 << 32)
    if WIDE:
        bits = ct.bitcast(value, ct.uint64)
        ct.store(
            words, (0, at), bits >> ct.uint64(32) | flag, memory_order=ORDER, memory_scope=SCOPE
        )
        bits = bits & ct.uint64(2**32 - 1)
    else:
        bits = ct.astype(ct.bitcast(value, ct.uint32), ct.uint64)
    ct.store(words, (WIDE, at), bits | flag, memory_order=ORDER, memory_scope=SCOPE)


def _ticket(words: Any) -> Any:
    """Which tile is next; the count is the last word."""
    last = (0, words.shape[1] - 1)
    return ct.astype(ct.atomic_add(words, last, ct.uint64(1), memory_order=ORDER), ct.int32)


def _look(words: Any, window: Any, WIDE: Any) -> Any:
    """The words of a window: upper and lower halves of the totals, the same ones for 32 bits."""
    shape = (1, WINDOW)
    high = low = ct.load(words, (0, window), shape, memory_order=ORDER, memory_scope=SCOPE)
    if WIDE:
        low = ct.load(words, (1, window), shape, memory_order=ORDER, memory_scope=SCOPE)
    return ct.reshape(high, (WINDOW,)), ct.reshape(low, (WINDOW,))


def _value(high: Any, low: Any, dtype: Any, WIDE: Any) -> Any:
    """Totals without their flags."""
    if WIDE:
        return ct.bitcast(high << ct.uint64(32) | low & ct.uint64(2**32 - 1), dtype)
    return ct.bitcast(ct.astype(low, ct.uint32), dtype)


def _total(
    OP: Any, words: Any, window: Any, count: Any, NEUTRAL: Any, dtype: Any, WIDE: Any
) -> Any:
    """The first ``count`` totals of a window combined, as soon as they are there."""
    wanted = ct.arange(WINDOW, dtype=ct.int32) < count
    high = low = ct.zeros((WINDOW,), dtype=ct.uint64)
    ready = 0
    while ready == 0:
        high, low = _look(words, window, WIDE)
        flags = ct.astype((high & low) >> ct.uint64(32), ct.int32)
        ready = ct.min(ct.where(wanted, flags, 1))
    totals = ct.where(wanted, _value(high, low, dtype, WIDE), filled((WINDOW,), NEUTRAL, dtype))
    return fold(OP, totals, 0)


@ct.kernel
def clear_kernel(words, TILE: ct.Constant[int]):
    """No total is there yet, no ticket drawn."""
    ct.store(words, index=(ct.bid(0), ct.bid(1)), tile=ct.zeros((1, TILE), dtype=words.dtype))


def _begin(
    OP: Any, x: Any, words: Any, t: Any, TILE: Any, dtype: Any, WIDE: Any
) -> Any:  # fmt: skip
    """Loads a tile and publishes its total; behind the last tile nobody looks."""
    tiles = ct.cdiv(x.shape[0], TILE)
    pad = ct.PaddingMode.ZERO  # behind the end, where it only meets other such elements
    tile = ct.astype(ct.load(x, (min(t, tiles - 1),), (TILE,), padding_mode=pad), dtype)
    _publish(words, min(t, tiles), fold(OP, tile, 0), WIDE)
    return tile


@ct.kernel(num_worker_warps=4, occupancy=BLOCKS)
def scan_kernel(
    x, out, words, OP: ct.Constant[int], NEUTRAL: ct.Constant, WORK: ct.Constant[int],
    WIDE: ct.Constant[int], TILE: ct.Constant[int], AHEAD: ct.Constant[bool],
):  # fmt: skip
    """Tile after tile of a flat array. Tickets are drawn in order, so the tiles before one's own
    are being worked on by blocks that run. AHEAD: the next tile is loaded before this one waits."""
    dtype = (out.dtype, ct.float32, ct.int32, ct.uint32)[WORK]
    windows = 0  # that are in the carry
    carry = filled((1,), NEUTRAL, dtype)
    t = after = _ticket(words)
    if AHEAD:
        ahead = _begin(OP, x, words, t, TILE, dtype, WIDE)
    while t < ct.cdiv(x.shape[0], TILE):
        if AHEAD:
            after, mine = _ticket(words), ahead
            ahead = _begin(OP, x, words, after, TILE, dtype, WIDE)
        else:
            mine = _begin(OP, x, words, t, TILE, dtype, WIDE)
        local = _running(OP, mine, 0, NEUTRAL)
        while windows < t // WINDOW:
            total = _total(OP, words, windows, WINDOW, NEUTRAL, dtype, WIDE)
            carry = both(OP, carry, total)
            windows = windows + 1
        prefix = both(OP, carry, _total(OP, words, windows, t % WINDOW, NEUTRAL, dtype, WIDE))
        ct.store(out, index=(t,), tile=ct.astype(both(OP, prefix, local), out.dtype))
        t = after if AHEAD else _ticket(words)


@ct.kernel
def scan_axis_kernel(
    x, out, OP: ct.Constant[int], NEUTRAL: ct.Constant, WORK: ct.Constant[int],
    B: ct.Constant[int], N: ct.Constant[int], C: ct.Constant[int],
):  # fmt: skip
    """B x C lines of an array (outer, n, inner), in chunks of N along them."""
    outer, inner = ct.bid(0), ct.bid(1)
    dtype = (out.dtype, ct.float32, ct.int32, ct.uint32)[WORK]
    carry = filled((B, 1, C), NEUTRAL, dtype)
    for i in range(ct.cdiv(x.shape[1], N)):
        t = ct.load(x, index=(outer, i, inner), shape=(B, N, C), padding_mode=ct.PaddingMode.ZERO)
        t = ct.astype(t, dtype)
        y = both(OP, carry, _running(OP, t, 1, NEUTRAL))
        carry = both(OP, carry, ct.reshape(fold(OP, t, 1), (B, 1, C)))
        ct.store(out, index=(outer, i, inner), tile=ct.astype(y, out.dtype))


def _work(out: Any) -> int:
    """The entry of scan_kernel's table of dtypes: that of ``out``, or one of 32 bits."""
    if out.dtype.itemsize >= 4:
        return 0
    return 1 if is_float(out) else 3 if "uint" in dtype_name(out) else 2


def _scan_flat(code: int, x: Any, out: Any, stream: Any) -> None:
    """One pass with look-back."""
    wide = int(out.dtype.itemsize == 8)
    gpu = on_gpu(x)
    tile = 8192 >> wide if gpu else 4096
    tiles = -(-x.shape[0] // tile)
    words = scratch(x, (2, (tiles // WINDOW + 2) * WINDOW), "uint64")
    clear = (words.shape[0], ct.cdiv(words.shape[1], 1024), 1)
    ct.launch(stream, clear, clear_kernel, (words, 1024))
    blocks = min(tiles, BLOCKS * multiprocessors()) if gpu else tiles
    arguments = (x, out, words, code, neutral(code, out), _work(out), wide, tile, gpu)
    ct.launch(stream, (blocks, 1, 1), scan_kernel, arguments)


def scan(op: str, x: Any, out: Any, axis: int = -1, stream: Any = None) -> None:
    """Inclusive sums, products, maxima or minima along an axis.

    Parameters
    ----------
    op : {"cumsum", "cumprod", "cummax", "cummin"}
    x, out : array
        Of one shape; the axes before ``axis`` merge to one without a copy, and so do those behind
        it. ``out[i]`` combines ``x[0] .. x[i]``, computed in the dtype of
        ``out`` (16-bit floats in float32, integers of less than 32 bits in 32). ``out`` may be
        ``x``.
    axis : int
        Negative ones count from the end.
    stream : stream, optional

    Raises
    ------
    ValueError
        When shapes do not fit, ``out`` shares memory with ``x`` without being ``x``, axes do not
        merge, or an extent (of the axis, of all axes
        before or behind it) is 2**31 or more; for an ``op`` that does not exist.
    TypeError
        For an ``out`` that does not hold the elements of ``x``.

    Notes
    -----
    Maxima and minima keep a NaN from where it stands, as NumPy's do. Takes 16 bytes of scratch
    memory for each tile of a flat array.
    """
    code = check.named("scan", op, OPS)
    check.same_shape("scan", x=x, out=out)
    accept("scan", x, out)
    shape = around_axis("scan", tuple(x.shape), axis)
    if 0 in shape:
        return
    if max(shape) >= 2**31:
        raise ValueError(f"scan: an extent of {max(shape)} elements; scans take fewer than 2**31")
    flat = shape[2] == 1 and shape[1] >= 1 << 15
    if flat and shape[0] <= 64:
        rows, results = view("scan", "x", x, shape[:2]), view("scan", "out", out, shape[:2])
        for row in range(shape[0]):
            _scan_flat(code, rows[row], results[row], stream)
        return
    c = min(next_power_of_two(shape[2]), 128)
    n = min(next_power_of_two(shape[1]), 4096 // c)
    b = min(next_power_of_two(shape[0]), 4096 // (c * n))
    grid = (ct.cdiv(shape[0], b), ct.cdiv(shape[2], c), 1)
    ct.launch(
        stream,
        grid,
        scan_axis_kernel,
        (
            view("scan", "x", x, shape),
            view("scan", "out", out, shape),
            code,
            neutral(code, out),
            _work(out),
            b,
            n,
            c,
        ),
    )
