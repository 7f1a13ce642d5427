# SPDX-License-Identifier: Apache-2.0
"""The kernels of Triton's tutorials in the tile language, as a user writes them; tutorial_triton.py has them in Triton.

What both have in common: tile sizes, order of blocks, what is kept in which precision, what is read how often.
"""

from __future__ import annotations

import math

import tessera.tile as ct
from tessera.lib.random import philox

ZERO = ct.PaddingMode.ZERO
LOG2_E = math.log2(math.e)
LOW = -1.0e30  # below every score


@ct.kernel
def vector_add(x, y, out, TILE: ct.Constant[int]):
    i = ct.bid(0)
    a, b = ct.load(x, index=(i,), shape=(TILE,)), ct.load(y, index=(i,), shape=(TILE,))
    ct.store(out, index=(i,), tile=a + b)


@ct.kernel
def softmax(x, out, COLS: ct.Constant[int]):
    """Every num_blocks-th row, whole."""
    for row in range(ct.bid(0), x.shape[0], ct.num_blocks(0)):
        t = ct.load(x, index=(row, 0), shape=(1, COLS), padding_mode=ct.PaddingMode.NEG_INF)
        e = ct.exp(t - ct.max(t, axis=1, keepdims=True))
        ct.store(out, index=(row, 0), tile=e / ct.sum(e, axis=1, keepdims=True))


def _place(tile, rows, cols, GROUP: ct.Constant[int]):
    """Row and column of a tile: down GROUP rows, then the next column."""
    group = tile // (GROUP * cols)
    height = min(rows - group * GROUP, GROUP)
    rest = tile % (GROUP * cols)
    return group * GROUP + rest % height, rest // height


@ct.kernel
def matmul_leaky(
    a, b, c, TM: ct.Constant[int], TN: ct.Constant[int], TK: ct.Constant[int], GROUP: ct.Constant[int]
):
    """c = leaky_relu(a @ b) with slope 0.01."""
    m, n = _place(ct.bid(0), ct.cdiv(c.shape[0], TM), ct.cdiv(c.shape[1], TN), GROUP)
    acc = ct.zeros((TM, TN), dtype=ct.float32)
    for k in range(ct.cdiv(a.shape[1], TK)):
        x = ct.load(a, index=(m, k), shape=(TM, TK), padding_mode=ZERO)
        y = ct.load(b, index=(k, n), shape=(TK, TN), padding_mode=ZERO)
        acc = ct.mma(x, y, acc)
    acc = ct.where(acc >= 0.0, acc, acc * 0.01)
    ct.store(c, index=(m, n), tile=ct.astype(acc, c.dtype))


@ct.kernel
def dropout(x, out, p: float, seed: int, TILE: ct.Constant[int]):
    """Element i is kept if word 0 of Philox's counter i, as a number of [0, 1), is above p."""
    i = ct.bid(0)
    at = ct.astype(i * TILE + ct.arange(TILE, dtype=ct.int32), ct.uint32)
    zero = ct.zeros((TILE,), dtype=ct.uint32)
    word, _, _, _ = philox(at, zero, zero, zero, ct.uint32(seed), ct.uint32(0))
    keep = ct.astype(word >> ct.uint32(8), ct.float32) * 2.0**-24 > p
    t = ct.load(x, index=(i,), shape=(TILE,))
    ct.store(out, index=(i,), tile=ct.where(keep, t / (1.0 - p), 0.0))


@ct.kernel
def norm_forward(x, w, b, out, mean, rstd, eps: float, TILE: ct.Constant[int]):
    """A row in pieces of TILE, read for its mean, its variance and its result."""
    row, cols = ct.bid(0), x.shape[1]
    pieces = ct.cdiv(cols, TILE)
    total = ct.zeros((1, TILE), dtype=ct.float32)
    for i in range(pieces):
        t = ct.load(x, index=(row, i), shape=(1, TILE), padding_mode=ZERO)
        total = total + ct.astype(t, ct.float32)
    middle = ct.sum(total, axis=1, keepdims=True) / cols
    squares = ct.zeros((1, TILE), dtype=ct.float32)
    for i in range(pieces):
        t = ct.astype(ct.load(x, index=(row, i), shape=(1, TILE), padding_mode=ZERO), ct.float32)
        inside = ct.expand_dims(i * TILE + ct.arange(TILE, dtype=ct.int32), 0) < cols
        centred = ct.where(inside, t - middle, 0.0)
        squares = squares + centred * centred
    scale = 1.0 / ct.sqrt(ct.sum(squares, axis=1, keepdims=True) / cols + eps)
    ct.store(mean, index=(row,), tile=ct.reshape(middle, (1,)))
    ct.store(rstd, index=(row,), tile=ct.reshape(scale, (1,)))
    for i in range(pieces):
        t = ct.astype(ct.load(x, index=(row, i), shape=(1, TILE), padding_mode=ZERO), ct.float32)
        weight = ct.load(w, index=(i,), shape=(TILE,), padding_mode=ZERO)
        bias = ct.load(b, index=(i,), shape=(TILE,), padding_mode=ZERO)
        y = (t - middle) * scale * ct.astype(weight, ct.float32) + ct.astype(bias, ct.float32)
        ct.store(out, index=(row, i), tile=ct.astype(y, out.dtype))


@ct.kernel
def norm_backward(
    dx, dy, dw, db, x, w, mean, rstd, locks, counts, COLS: ct.Constant[int], GROUP: ct.Constant[int]
):
    """dx of one row; its parts of dw and db go to one of GROUP rows of sums, under that row's lock."""
    row, cols = ct.bid(0), x.shape[1]
    group = row % GROUP
    t = ct.astype(ct.load(x, index=(row, 0), shape=(1, COLS), padding_mode=ZERO), ct.float32)
    g = ct.astype(ct.load(dy, index=(row, 0), shape=(1, COLS), padding_mode=ZERO), ct.float32)
    weight = ct.astype(ct.load(w, index=(0,), shape=(COLS,), padding_mode=ZERO), ct.float32)
    middle = ct.load(mean, index=(row,), shape=(1,))
    scale = ct.load(rstd, index=(row,), shape=(1,))
    inside = ct.expand_dims(ct.arange(COLS, dtype=ct.int32), 0) < cols
    xhat = ct.where(inside, (t - middle) * scale, 0.0)
    wdy = weight * g
    c1 = ct.sum(xhat * wdy, axis=1, keepdims=True) / cols
    c2 = ct.sum(wdy, axis=1, keepdims=True) / cols
    ct.store(dx, index=(row, 0), tile=ct.astype((wdy - (xhat * c1 + c2)) * scale, dx.dtype))
    part_w, part_b = g * xhat, g
    while ct.atomic_cas(locks, group, 0, 1, memory_order=ct.MemoryOrder.ACQUIRE) == 1:
        pass
    if ct.gather(counts, group) != 0:
        part_w = part_w + ct.load(dw, index=(group, 0), shape=(1, COLS), padding_mode=ZERO)
        part_b = part_b + ct.load(db, index=(group, 0), shape=(1, COLS), padding_mode=ZERO)
    else:
        ct.scatter(counts, group, 1)
    ct.store(dw, index=(group, 0), tile=part_w)
    ct.store(db, index=(group, 0), tile=part_b)
    ct.atomic_xchg(locks, group, 0, memory_order=ct.MemoryOrder.RELEASE)


@ct.kernel
def norm_sums(dw, db, final_w, final_b, ROWS: ct.Constant[int], COLS: ct.Constant[int]):
    """The GROUP rows of sums added up."""
    j = ct.bid(0)
    w, b = ct.zeros((ROWS, COLS), dtype=ct.float32), ct.zeros((ROWS, COLS), dtype=ct.float32)
    for i in range(ct.cdiv(dw.shape[0], ROWS)):
        w = w + ct.load(dw, index=(i, j), shape=(ROWS, COLS), padding_mode=ZERO)
        b = b + ct.load(db, index=(i, j), shape=(ROWS, COLS), padding_mode=ZERO)
    ct.store(final_w, index=(j,), tile=ct.astype(ct.sum(w, axis=0), final_w.dtype))
    ct.store(final_b, index=(j,), tile=ct.astype(ct.sum(b, axis=0), final_b.dtype))


@ct.kernel
def attention(
    q, k, v, out, scale: float, CAUSAL: ct.Constant[bool],
    TM: ct.Constant[int], TN: ct.Constant[int], D: ct.Constant[int],
):  # fmt: skip
    """(heads, length, D), whole tiles: first the keys that all rows see, then, if causal, those around the diagonal."""
    m, head, scale = ct.bid(0), ct.bid(1), scale * LOG2_E
    rows = ct.expand_dims(m * TM + ct.arange(TM, dtype=ct.int32), 1)
    qt = ct.reshape(ct.load(q, index=(head, m, 0), shape=(1, TM, D)), (TM, D))
    biggest = ct.full((TM, 1), LOW, dtype=ct.float32)
    total = ct.zeros((TM, 1), dtype=ct.float32)
    acc = ct.zeros((TM, D), dtype=ct.float32)
    full = m * TM // TN if CAUSAL else k.shape[1] // TN
    blocks = ct.cdiv((m + 1) * TM, TN) if CAUSAL else full
    for j in range(blocks):
        kt = ct.reshape(ct.load(k, index=(head, j, 0), shape=(1, TN, D)), (TN, D))
        s = ct.mma(qt, ct.transpose(kt), ct.zeros((TM, TN), dtype=ct.float32))
        if CAUSAL and j >= full:
            cols = ct.expand_dims(j * TN + ct.arange(TN, dtype=ct.int32), 0)
            s = ct.where(cols <= rows, s, LOW)
        new = ct.maximum(biggest, ct.max(s, axis=1, keepdims=True) * scale)
        p = ct.exp2(s * scale - new, flush_to_zero=True)
        shrink = ct.exp2(biggest - new, flush_to_zero=True)
        total = total * shrink + ct.sum(p, axis=1, keepdims=True)
        vt = ct.reshape(ct.load(v, index=(head, j, 0), shape=(1, TN, D)), (TN, D))
        acc = ct.mma(ct.astype(p, v.dtype), vt, acc * shrink)
        biggest = new
    ct.store(out, index=(head, m, 0), tile=ct.reshape(ct.astype(acc / total, out.dtype), (1, TM, D)))


@ct.kernel
def grouped_matmul(
    a, b, c, TM: ct.Constant[int], TN: ct.Constant[int], TK: ct.Constant[int]
):  # fmt: skip
    """Lists of matrices; the tiles of all products are counted through and dealt out to the blocks."""
    tile, first = ct.bid(0), 0
    for g in range(len(a)):
        x, y, z = a[g], b[g], c[g]
        cols = ct.cdiv(z.shape[1], TN)
        tiles = ct.cdiv(z.shape[0], TM) * cols
        while tile >= first and tile < first + tiles:
            m, n = (tile - first) // cols, (tile - first) % cols
            acc = ct.zeros((TM, TN), dtype=ct.float32)
            for k in range(ct.cdiv(x.shape[1], TK)):
                xt = ct.load(x, index=(m, k), shape=(TM, TK), padding_mode=ZERO)
                yt = ct.load(y, index=(k, n), shape=(TK, TN), padding_mode=ZERO)
                acc = ct.mma(xt, yt, acc)
            ct.store(z, index=(m, n), tile=ct.astype(acc, z.dtype))
            tile += ct.num_blocks(0)
        first += tiles


@ct.kernel
def scaled_matmul(
    a, a_scale, b, b_scale, c, TM: ct.Constant[int], TN: ct.Constant[int], TK: ct.Constant[int]
):
    """a (M, K) and b (N, K) in float8 with a scale for each 32 elements along K; c = a @ b.T."""
    m, n = _place(ct.bid(0), ct.cdiv(c.shape[0], TM), ct.cdiv(c.shape[1], TN), 8)
    acc = ct.zeros((TM, TN), dtype=ct.float32)
    for k in range(ct.cdiv(a.shape[1], TK)):
        x = ct.load(a, index=(m, k), shape=(TM, TK), padding_mode=ZERO)
        y = ct.load(b, index=(n, k), shape=(TN, TK), padding_mode=ZERO)
        xs = ct.load(a_scale, index=(m, k), shape=(TM, TK // 32), padding_mode=ZERO)
        ys = ct.load(b_scale, index=(n, k), shape=(TN, TK // 32), padding_mode=ZERO)
        acc = ct.mma_scaled(x, xs, ct.transpose(y), ct.transpose(ys), acc)
    ct.store(c, index=(m, n), tile=ct.astype(acc, c.dtype))


@ct.kernel
def batched_matmul(a, b, c, TM: ct.Constant[int], TN: ct.Constant[int], TK: ct.Constant[int]):
    """(batch, M, K) @ (batch, K, N), one tile a block."""
    i, m, n = ct.bid(0), ct.bid(1), ct.bid(2)
    acc = ct.zeros((TM, TN), dtype=ct.float32)
    for k in range(ct.cdiv(a.shape[2], TK)):
        x = ct.load(a, index=(i, m, k), shape=(1, TM, TK), padding_mode=ZERO)
        y = ct.load(b, index=(i, k, n), shape=(1, TK, TN), padding_mode=ZERO)
        acc = ct.mma(ct.reshape(x, (TM, TK)), ct.reshape(y, (TK, TN)), acc)
    ct.store(c, index=(i, m, n), tile=ct.reshape(ct.astype(acc, c.dtype), (1, TM, TN)))
