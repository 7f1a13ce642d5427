# SPDX-License-Identifier: Apache-2.0
"""Attention with the running softmax of Milakov & Gimelshein (2018), as used by FlashAttention
(Dao et al., 2022): scores never leave the chip. Gradients are in `attention_backward`.

Arrays are (heads, length, D) or (batch, heads, length, D). There may be fewer heads of keys and values
than of queries: each then serves a group of query heads that follow each other.
"""

from __future__ import annotations

import functools
import math
from typing import Any

import tessera.tile as ct

from .. import device_info
from . import _check as check
from . import next_power_of_two, on_gpu
from ._rules import accept, is_accepted

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


def _partial_sums(p, ROWS: ct.Constant[int], COLUMNS: ct.Constant[int]):
    """Four sums of every row, of the columns 2i and 2i + 1 mod 8: as fragments lie, each of one thread."""
    pairs = ct.sum(ct.reshape(p, (ROWS, COLUMNS // 8, 4, 2)), axis=3)
    return ct.sum(pairs, axis=1)


def _heads(q):
    return q.shape[0] * q.shape[1] if q.ndim == 4 else q.shape[0]


def _split_head(x, head):
    """Batch and head of a head counted through all batches of ``x``, which is (batch, heads, length, D).

    Divisors here and below are at least 1 wherever a block runs; saying so with ``max`` spares the question whether
    they are 0, which a division has to ask otherwise.
    """
    heads = max(x.shape[1], 1)
    return head // heads, head % heads


def _kv_head(head, q, k):
    """The head of the keys and values that head ``head`` of the queries sees."""
    return head // max(q.shape[-3] // max(k.shape[-3], 1), 1)


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
    heads, tiles = _heads(q), max(ct.cdiv(length, TM), 1)
    span = max(GROUP * tiles, 1)  # the tiles of a group
    first, rest = t // span * GROUP, t % span
    width = max(min(heads - first, GROUP), 1)
    m, head, batch = tiles - 1 - rest // width, max(first + rest % width, 0), 0
    if q.ndim == 4:
        batch, head = _split_head(q, head)
    kv = _kv_head(head, q, k)
    shift = keys - length  # causal masks are aligned at the last key
    qt = _rows(q, batch, head, m, TM, D)
    rows = ct.expand_dims(m * TM + ct.arange(TM, dtype=ct.int32), 1) + shift
    biggest = ct.full((TM, 1), -1.0e30, dtype=ct.float32)
    sums = ct.zeros((TM, 4), dtype=ct.float32)
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
        new = ct.maximum(biggest, ct.max(s, axis=1, keepdims=True) * scale)
        p = _exp2(s * scale - new, FAST)  # one fma for each score
        shrink = _exp2(biggest - new, FAST)
        sums = sums * shrink + _partial_sums(p, TM, TN)
        vt = _rows(v, batch, kv, j, TN, D)
        acc = ct.mma(ct.astype(p, v.dtype), vt, acc * shrink)
        biggest = new
    total = ct.sum(sums, axis=1, keepdims=True)
    total = ct.where(total == 0.0, 1.0, total)  # rows that see no key
    _put(out, batch, head, m, acc * (1.0 / total), TM, D)
    if LSE:
        natural = biggest * math.log(2.0) + ct.log(total)
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


def _check(function: str, q: Any, k: Any, v: Any, out: Any) -> None:
    arrays = {"q": q, "k": k, "v": v, "out": out}
    shapes = tuple(check.shape_of(function, name, x) for name, x in arrays.items())
    rank, d = len(shapes[0]), shapes[0][-1:]
    if rank not in (3, 4) or any(len(s) != rank or s[-1:] != d for s in shapes):
        raise ValueError(
            f"{function}: q, k, v and out have shapes {shapes}, wanted (heads, length, D) or "
            "(batch, heads, length, D)"
        )
    if d == (0,):
        raise ValueError(
            f"{function}: q, k, v and out have shapes {shapes}, wanted at least one column"
        )
    if shapes[1] != shapes[2] or shapes[0] != shapes[3] or shapes[0][:-3] != shapes[1][:-3]:
        raise ValueError(f"{function}: q and out, k and v, and all batches must agree: {shapes}")
    if k.shape[-3] == 0 or q.shape[-3] % k.shape[-3]:
        raise ValueError(
            f"{function}: {q.shape[-3]} query heads are not a multiple of {k.shape[-3]} key heads"
        )


def _scale(function: str, given: float | None, d: int) -> float:
    if given is None:
        return 1.0 / math.sqrt(d)
    if not 0.0 < check.real(function, "scale", given) < math.inf:
        raise ValueError(f"{function}: scale must be positive and finite, not {given}")
    return given


def _tile(function: str, name: str, given: tuple[int, int]) -> tuple[int, ...]:
    found = check.tile(function, name, given, 2)
    if found[1] < 8:  # columns are added in groups of eight
        raise ValueError(f"{function}: {name} is {given}, wanted at least 8 keys")
    return found


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

    A block that walks over tiles hides the ends of all but one, worth about a step each; blocks for a tile each are
    balanced by the machine.
    """
    tiles = -(-length // tile[0])
    if heads * tiles <= blocks or d > 128:
        return heads * tiles, 4 if causal else 1
    if not causal:
        return blocks, 1
    seen = [min(keys, (m + 1) * tile[0] + keys - length) for m in range(tiles)]
    work = tuple(max(0, -(-n // tile[1])) + 1.0 for n in seen)
    if heads * tiles > 32 * blocks:
        return blocks, 12
    best, group = max((_balance(heads, work, g, blocks), g) for g in (1, 2, 4, 6, 8, 12, 16))
    loses = best < 1.0 - tiles / sum(work)
    return (heads * tiles, 4) if loses else (blocks, group)


def _default_tile(q: Any, d: int) -> tuple[int, int]:
    if not on_gpu(q):
        return (64, 64)
    return (128, 64) if d > 128 else (128, 128)


def attention(
    q: Any, k: Any, v: Any, out: Any, causal: bool = False, scale: float | None = None,
    stream: Any = None, tile: tuple[int, int] | None = None, lse: Any = None,
) -> None:  # fmt: skip
    """``softmax(q k^T * scale) v``.

    Parameters
    ----------
    q, out : array (heads, length, D) or (batch, heads, length, D)
    k, v : array (kv_heads, keys, D) or (batch, kv_heads, keys, D)
        ``heads`` is a multiple of ``kv_heads``. Queries, keys and values have one dtype: float16, bfloat16
        or float32; ``out`` may be another floating-point one, and may be ``q`` itself.
    causal : bool
        A query sees the keys up to its own place, counted from the end.
    scale : float
        Positive; 1/sqrt(D) when not given.
    stream : stream, optional
    tile : (int, int)
        Queries and keys of one step, powers of two; chosen by D when not given.
    lse : array of float32, the shape of ``q`` without its last axis
        Takes the logarithm of each row's sum of exponentials, which `attention_backward` needs.

    Raises
    ------
    TypeError
        For what is no array, and for other dtypes.
    ValueError
        When shapes do not fit, arrays share memory, or ``scale`` is not positive and finite.

    Notes
    -----
    Sums are kept in float32; 16-bit results use the GPU's approximate exponential, whose error is
    far below their rounding. A query that sees no key gives zeros.
    """
    if not is_accepted("attention", q, k, v, out, lse):
        _check("attention", q, k, v, out)
        if lse is not None:
            check.shape("attention", "lse", lse, tuple(q.shape[:-1]))
        accept("attention", q, k, v, out, lse)
    length, d = q.shape[-2:]
    keys, heads = k.shape[-2], math.prod(q.shape[:-2])
    scale = _scale("attention", scale, d)
    tm, tn = _default_tile(q, d) if tile is None else _tile("attention", "tile", tile)
    cut = _blocks_cut(causal, length, keys, tm, tn)
    tiles = ct.cdiv(length, tm) * heads
    processors = _processors() if on_gpu(q) else tiles
    blocks, group = _walk(heads, length, keys, causal, (tm, tn), d, processors)
    args = (
        q, k, v, out, out if lse is None else lse, scale * LOG2_E, causal, cut, tm, tn,
        next_power_of_two(d), group, "float16" in str(q.dtype), lse is not None, blocks < tiles,
    )  # fmt: skip
    ct.launch(stream, (blocks, 1, 1), attention_kernel, args)
