# SPDX-License-Identifier: Apache-2.0
"""Attention with the running softmax of Milakov & Gimelshein (2018), as used by FlashAttention
(Dao et al., 2022; backward: Dao, 2023): scores never leave the chip.

Arrays are (heads, length, D) or (batch, heads, length, D). There may be fewer heads of keys and values
than of queries: each then serves a group of query heads that follow each other.
"""

from __future__ import annotations

import functools
import math
from typing import Any

import tessera.tile as ct

from .. import device_info
from . import next_power_of_two, on_gpu

LOG2_E = math.log2(math.e)


def _rows(x, batch, head, i, ROWS: ct.Constant[int], D: ct.Constant[int]):
    """Rows ``i * ROWS ..`` of one head; zeros behind the end."""
    zero = ct.PaddingMode.ZERO
    if x.ndim == 4:
        t = ct.load(x, index=(batch, head, i, 0), shape=(1, 1, ROWS, D), padding_mode=zero)
    else:
        t = ct.load(x, index=(head, i, 0), shape=(1, ROWS, D), padding_mode=zero)
    return ct.reshape(t, (ROWS, D))


def _put(x, batch, head, i, tile, ROWS: ct.Constant[int], D: ct.Constant[int]):
    tile = ct.astype(tile, x.dtype)
    if x.ndim == 4:
        ct.store(x, index=(batch, head, i, 0), tile=ct.reshape(tile, (1, 1, ROWS, D)))
    else:
        ct.store(x, index=(head, i, 0), tile=ct.reshape(tile, (1, ROWS, D)))


def _put_column(x, batch, head, i, tile, ROWS: ct.Constant[int]):
    """Rows ``i * ROWS ..`` of an array without the last axis."""
    tile = ct.astype(tile, x.dtype)
    if x.ndim == 3:
        ct.store(x, index=(batch, head, i), tile=ct.reshape(tile, (1, 1, ROWS)))
    else:
        ct.store(x, index=(head, i), tile=ct.reshape(tile, (1, ROWS)))


def _heads(q):
    return q.shape[0] * q.shape[1] if q.ndim == 4 else q.shape[0]


def _exp2(x, FAST: ct.Constant[bool]):
    if FAST:
        return ct.exp2(x, flush_to_zero=True, rounding_mode=ct.RoundingMode.APPROX)
    return ct.exp2(x)


def _attend(
    t, q, k, v, out, lse, scale, CAUSAL: ct.Constant[bool], MASKED: ct.Constant[int],
    TM: ct.Constant[int], TN: ct.Constant[int], D: ct.Constant[int], GROUP: ct.Constant[int],
    FAST: ct.Constant[bool], LSE: ct.Constant[bool],
):  # fmt: skip
    """Tile ``t`` of all: heads in groups whose keys and values stay in L2, long rows first."""
    length, keys = q.shape[-2], k.shape[-2]
    heads, tiles = _heads(q), ct.cdiv(length, TM)
    first = t // (GROUP * tiles) * GROUP
    width = min(heads - first, GROUP)
    rest = t - first * tiles
    m, head, batch = tiles - 1 - rest // width, first + rest % width, 0
    if q.ndim == 4:
        batch, head = head // q.shape[1], head % q.shape[1]
    kv = head // (q.shape[-3] // k.shape[-3])
    shift = keys - length  # causal masks are aligned at the last key
    qt = _rows(q, batch, head, m, TM, D)
    rows = ct.expand_dims(m * TM + ct.arange(TM, dtype=ct.int32), 1) + shift
    biggest = ct.full((TM, 1), -1.0e30, dtype=ct.float32)
    total = ct.zeros((TM, 1), dtype=ct.float32)
    acc = ct.zeros((TM, D), dtype=ct.float32)
    last = min(keys, (m + 1) * TM + shift) if CAUSAL else keys
    blocks = ct.cdiv(last, TN)
    for step in range(blocks):
        j = blocks - 1 - step
        kt = _rows(k, batch, kv, j, TN, D)
        s = ct.mma(qt, ct.transpose(kt), ct.zeros((TM, TN), dtype=ct.float32))
        if step < MASKED:  # from the last block down: only the first of them are cut
            cols = ct.expand_dims(j * TN + ct.arange(TN, dtype=ct.int32), 0)
            seen = cols < keys
            if CAUSAL:
                seen = seen & (cols <= rows)
            s = ct.where(seen, s, -math.inf)
        new = ct.maximum(biggest, ct.max(s, axis=1, keepdims=True))
        p = _exp2(s * scale - new * scale, FAST)  # one fma for each score
        shrink = _exp2((biggest - new) * scale, FAST)
        total = total * shrink + ct.sum(p, axis=1, keepdims=True)
        vt = _rows(v, batch, kv, j, TN, D)
        acc = ct.mma(ct.astype(p, v.dtype), vt, acc * shrink)
        biggest = new
    total = ct.where(total == 0.0, 1.0, total)  # rows that see no key
    _put(out, batch, head, m, acc * (1.0 / total), TM, D)
    if LSE:
        natural = biggest * (scale * math.log(2.0)) + ct.log(total)
        _put_column(lse, batch, head, m, natural, TM)


@ct.kernel
def attention_kernel(
    q, k, v, out, lse, scale: float, CAUSAL: ct.Constant[bool], MASKED: ct.Constant[int],
    TM: ct.Constant[int], TN: ct.Constant[int], D: ct.Constant[int], GROUP: ct.Constant[int],
    FAST: ct.Constant[bool], LSE: ct.Constant[bool], LOOP: ct.Constant[bool],
):  # fmt: skip
    if LOOP:  # fewer blocks than tiles: the next tile's loads start while this one is finished
        for t in range(ct.bid(0), ct.cdiv(q.shape[-2], TM) * _heads(q), ct.num_blocks(0)):
            _attend(t, q, k, v, out, lse, scale, CAUSAL, MASKED, TM, TN, D, GROUP, FAST, LSE)
    else:
        t = ct.bid(0)
        _attend(t, q, k, v, out, lse, scale, CAUSAL, MASKED, TM, TN, D, GROUP, FAST, LSE)


def _blocks_cut(causal: bool, length: int, keys: int, tm: int, tn: int) -> int:
    """How many of the last key blocks of a query tile a mask can cut."""
    if not causal:
        return int(keys % tn != 0)
    aligned = (keys - length) % tn == 0 and (tm % tn == 0 or tn % tm == 0)
    return max(1, tm // tn) if aligned else (tm + 2 * tn - 3) // tn


def _check(q: Any, k: Any, v: Any, out: Any) -> None:
    shapes = tuple(tuple(x.shape) for x in (q, k, v, out))
    rank, d = len(q.shape), q.shape[-1]
    if rank not in (3, 4) or any(len(s) != rank or s[-1] != d for s in shapes):
        raise ValueError(
            f"attention takes (heads, length, D) or (batch, heads, length, D) arrays, not {shapes}"
        )
    if shapes[1] != shapes[2] or shapes[0] != shapes[3] or shapes[0][:-3] != shapes[1][:-3]:
        raise ValueError(f"attention: q and out, k and v, and all batches must agree: {shapes}")
    if k.shape[-3] == 0 or q.shape[-3] % k.shape[-3]:
        raise ValueError(
            f"attention: {q.shape[-3]} query heads are not a multiple of {k.shape[-3]} key heads"
        )


@functools.cache
def _processors() -> int:
    return int(device_info("cuda")["units"])


def _balance(heads: int, work: tuple[float, ...], group: int, blocks: int) -> float:
    """Mean over greatest load when ``blocks`` blocks walk over the tiles, ``work`` each, as `_attend` does."""
    load = [0.0] * blocks
    for t in range(heads * len(work)):
        first = t // (group * len(work)) * group
        tile = (t - first * len(work)) // min(heads - first, group)
        load[t % blocks] += work[len(work) - 1 - tile]
    return sum(load) / blocks / max(load)


@functools.lru_cache(maxsize=256)
def _walk(
    heads: int, length: int, keys: int, causal: bool, tile: tuple[int, int], d: int, blocks: int
) -> tuple[int, int]:
    """Blocks to launch and heads of a group, for so many processors.

    A block that walks over tiles hides the ends of all but one, which are worth ``ends`` steps each; a block for
    each tile is balanced by the machine.
    """
    tiles, ends = -(-length // tile[0]), 64 / d
    if heads * tiles <= blocks or d > 128:
        return heads * tiles, 4 if causal else 1
    if not causal:
        return blocks, 1
    seen = [min(keys, (m + 1) * tile[0] + keys - length) for m in range(tiles)]
    work = tuple(max(0, -(-n // tile[1])) + ends for n in seen)
    if heads * tiles > 32 * blocks:
        return blocks, 12
    best, group = max((_balance(heads, work, g, blocks), g) for g in (1, 2, 4, 6, 8, 12, 16))
    loses = best < 1.0 - ends * tiles / sum(work)
    return (heads * tiles, 4) if loses else (blocks, group)


def _default_tile(q: Any, d: int) -> tuple[int, int]:
    if not on_gpu(q):
        return (64, 64)
    return (128, 64) if d > 128 else (128, 128)


def attention(
    q: Any, k: Any, v: Any, out: Any, causal: bool = False, scale: float | None = None,
    stream: Any = None, tile: tuple[int, int] | None = None, lse: Any = None,
) -> None:  # fmt: skip
    """``softmax(q k^T * scale) v`` for (heads, length, D) or (batch, heads, length, D) arrays.

    Parameters
    ----------
    q, k, v, out : arrays
        ``k`` and ``v`` may have fewer heads and another length. Sums are kept in float32; 16-bit results
        use the GPU's approximate exponential, whose error is far below their rounding.
    causal : bool
        A query sees the keys up to its own place, counted from the end.
    scale : float
        Positive; 1/sqrt(D) when not given.
    tile : (int, int)
        Queries and keys of one step; chosen by D when not given.
    lse : array of float32, (heads, length) or (batch, heads, length)
        Takes the logarithm of each row's sum of exponentials, which `attention_backward` needs.
    """
    _check(q, k, v, out)
    length, d = q.shape[-2:]
    keys, heads = k.shape[-2], math.prod(q.shape[:-2])
    scale = 1.0 / math.sqrt(d) if scale is None else scale
    if not scale > 0.0:
        raise ValueError(f"attention: scale must be positive, not {scale}")
    tm, tn = tile or _default_tile(q, d)
    cut = _blocks_cut(causal, length, keys, tm, tn)
    tiles = ct.cdiv(length, tm) * heads
    processors = _processors() if on_gpu(q) else tiles
    blocks, group = _walk(heads, length, keys, causal, (tm, tn), d, processors)
    args = (
        q, k, v, out, out if lse is None else lse, scale * LOG2_E, causal, cut, tm, tn,
        next_power_of_two(d), group, "float16" in str(q.dtype), lse is not None, blocks < tiles,
    )  # fmt: skip
    ct.launch(stream, (blocks, 1, 1), attention_kernel, args)


# ---- backward: with p the probabilities, dp = dout v^T and delta = rowsum(dout * out),
#      ds = p * (dp - delta), dq = ds k, dk = ds^T q, dv = p^T dout


def _column(x, batch, head, i, ROWS: ct.Constant[int]):
    """Rows ``i * ROWS ..`` of an array without the last axis, as a column; zeros behind the end."""
    zero = ct.PaddingMode.ZERO
    if x.ndim == 3:
        t = ct.load(x, index=(batch, head, i), shape=(1, 1, ROWS), padding_mode=zero)
    else:
        t = ct.load(x, index=(head, i), shape=(1, ROWS), padding_mode=zero)
    return ct.reshape(t, (ROWS, 1))


@ct.kernel
def attention_delta_kernel(
    out, dout, delta, ROWS: ct.Constant[int], D: ct.Constant[int]
):  # fmt: skip
    i, head, batch = ct.bid(0), ct.bid(1), 0
    if out.ndim == 4:
        batch, head = head // out.shape[1], head % out.shape[1]
    x = ct.astype(_rows(out, batch, head, i, ROWS, D), ct.float32)
    y = ct.astype(_rows(dout, batch, head, i, ROWS, D), ct.float32)
    _put_column(delta, batch, head, i, ct.sum(x * y, axis=1, keepdims=True), ROWS)


@ct.kernel
def attention_dq_kernel(
    q, k, v, dout, lse, delta, dq, scale: float, CAUSAL: ct.Constant[bool],
    MASKED: ct.Constant[int], TM: ct.Constant[int], TN: ct.Constant[int], D: ct.Constant[int],
    FAST: ct.Constant[bool],
):  # fmt: skip
    m, head, batch = ct.num_blocks(0) - 1 - ct.bid(0), ct.bid(1), 0
    if q.ndim == 4:
        batch, head = head // q.shape[1], head % q.shape[1]
    kv = head // (q.shape[-3] // k.shape[-3])
    keys = k.shape[-2]
    shift = keys - q.shape[-2]
    qt, dot = _rows(q, batch, head, m, TM, D), _rows(dout, batch, head, m, TM, D)
    log_sum = _column(lse, batch, head, m, TM) * LOG2_E
    dt = _column(delta, batch, head, m, TM)
    rows = ct.expand_dims(m * TM + ct.arange(TM, dtype=ct.int32), 1) + shift
    acc = ct.zeros((TM, D), dtype=ct.float32)
    last = min(keys, (m + 1) * TM + shift) if CAUSAL else keys
    blocks = ct.cdiv(last, TN)
    for step in range(blocks):
        j = blocks - 1 - step
        kt, vt = _rows(k, batch, kv, j, TN, D), _rows(v, batch, kv, j, TN, D)
        s = ct.mma(qt, ct.transpose(kt), ct.zeros((TM, TN), dtype=ct.float32))
        dp = ct.mma(dot, ct.transpose(vt), ct.zeros((TM, TN), dtype=ct.float32))
        p = _exp2(s * (scale * LOG2_E) - log_sum, FAST)
        if step < MASKED:
            cols = ct.expand_dims(j * TN + ct.arange(TN, dtype=ct.int32), 0)
            seen = cols < keys
            if CAUSAL:
                seen = seen & (cols <= rows)
            p = ct.where(seen, p, 0.0)
        acc = ct.mma(ct.astype(p * (dp - dt), k.dtype), kt, acc)
    _put(dq, batch, head, m, acc * scale, TM, D)


@ct.kernel
def attention_dkv_kernel(
    q, k, v, dout, lse, delta, dk, dv, scale: float, CAUSAL: ct.Constant[bool],
    MASKED: ct.Constant[int], TM: ct.Constant[int], TN: ct.Constant[int], D: ct.Constant[int],
    FAST: ct.Constant[bool], REPEAT: ct.Constant[int], DK: ct.Constant[bool], DV: ct.Constant[bool],
):  # fmt: skip
    # transposed: rows are keys, so that p^T and ds^T are left operands in registers
    n, kv, batch = ct.bid(0), ct.bid(1), 0
    if k.ndim == 4:
        batch, kv = kv // k.shape[1], kv % k.shape[1]
    length = q.shape[-2]
    shift = k.shape[-2] - length
    kt, vt = _rows(k, batch, kv, n, TN, D), _rows(v, batch, kv, n, TN, D)
    rows = ct.expand_dims(n * TN + ct.arange(TN, dtype=ct.int32), 1) - shift
    acc_k = ct.zeros((TN, D), dtype=ct.float32)
    acc_v = ct.zeros((TN, D), dtype=ct.float32)
    first = max(n * TN - shift, 0) // TM if CAUSAL else 0
    blocks = max(ct.cdiv(length, TM) - first, 0)
    for step in range(blocks * REPEAT):
        m, head = first + step, kv
        if REPEAT > 1:
            m, head = first + step % blocks, kv * REPEAT + step // blocks
        log_sum = ct.transpose(_column(lse, batch, head, m, TM)) * LOG2_E
        qt, dot = _rows(q, batch, head, m, TM, D), _rows(dout, batch, head, m, TM, D)
        s = ct.mma(kt, ct.transpose(qt), ct.zeros((TN, TM), dtype=ct.float32))
        p = _exp2(s * (scale * LOG2_E) - log_sum, FAST)
        if m - first < MASKED:
            cols = ct.expand_dims(m * TM + ct.arange(TM, dtype=ct.int32), 0)
            p = ct.where(rows <= cols, p, 0.0)
        if DK:
            dt = ct.transpose(_column(delta, batch, head, m, TM))
            dp = ct.mma(vt, ct.transpose(dot), ct.zeros((TN, TM), dtype=ct.float32))
            acc_k = ct.mma(ct.astype(p * (dp - dt), q.dtype), qt, acc_k)
        if DV:
            acc_v = ct.mma(ct.astype(p, q.dtype), dot, acc_v)
    if DK:
        _put(dk, batch, kv, n, acc_k * scale, TN, D)
    if DV:
        _put(dv, batch, kv, n, acc_v, TN, D)


def _backward_tiles(q: Any, d: int) -> tuple[tuple[int, int], tuple[int, int]]:
    """Queries and keys of one step: for dq, and for dk and dv."""
    if not on_gpu(q):
        return (64, 64), (64, 64)
    return ((64, 64), (64, 64)) if d > 128 else ((128, 64), (64, 128))


def attention_backward(
    q: Any, k: Any, v: Any, out: Any, lse: Any, dout: Any, dq: Any, dk: Any, dv: Any, delta: Any,
    causal: bool = False, scale: float | None = None, stream: Any = None,
    tiles: tuple[tuple[int, int], tuple[int, int]] | None = None,
) -> None:  # fmt: skip
    """Gradients of `attention` for the gradient ``dout`` of its output.

    Parameters
    ----------
    q, k, v, out, lse : arrays
        As given to `attention` and returned by it.
    dout : array
        Like ``out``.
    dq, dk, dv : arrays
        Take the gradients; like ``q``, ``k`` and ``v``.
    delta : array of float32 like ``lse``
        Scratch: the row sums of ``dout * out``.
    causal, scale : as for `attention`
    tiles : ((int, int), (int, int))
        Queries and keys of one step, for dq, and for dk and dv.
    """
    _check(q, k, v, out)
    _check(dq, dk, dv, dout)
    length, d = q.shape[-2:]
    keys, heads, kv_heads = k.shape[-2], math.prod(q.shape[:-2]), math.prod(k.shape[:-2])
    scale = 1.0 / math.sqrt(d) if scale is None else scale
    fast, size = "float16" in str(q.dtype), next_power_of_two(d)
    (qm, qn), (km, kn) = tiles or _backward_tiles(q, d)
    grid = (ct.cdiv(length, 32), heads, 1)
    ct.launch(stream, grid, attention_delta_kernel, (out, dout, delta, 32, size))
    cut = _blocks_cut(causal, length, keys, qm, qn)
    args = (q, k, v, dout, lse, delta, dq, scale, causal, cut, qm, qn, size, fast)
    ct.launch(stream, (ct.cdiv(length, qm), heads, 1), attention_dq_kernel, args)
    cut = (kn + 2 * km - 3) // km if causal else 0
    if causal and (keys - length) % km == 0 and kn % km == 0:
        cut = kn // km
    parts = [(True, False), (False, True)] if size > 128 else [(True, True)]
    for part in parts:
        args = (
            q, k, v, dout, lse, delta, dk, dv, scale, causal, cut, km, kn, size, fast,
            heads // kv_heads, *part,
        )  # fmt: skip
        ct.launch(stream, (ct.cdiv(keys, kn), kv_heads, 1), attention_dkv_kernel, args)
