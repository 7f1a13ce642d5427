# SPDX-License-Identifier: Apache-2.0
"""The kernels of Triton's tutorials, written from what they are described to do; tutorial_tile.py has the same in the
tile language. With TRITON_INTERPRET=1 they run on the CPU."""

from __future__ import annotations

import triton
import triton.language as tl


@triton.jit
def vector_add(x, y, out, n, TILE: tl.constexpr):
    at = tl.program_id(0) * TILE + tl.arange(0, TILE)
    mask = at < n
    tl.store(out + at, tl.load(x + at, mask) + tl.load(y + at, mask), mask)


@triton.jit
def softmax(x, out, rows, cols, COLS: tl.constexpr, STAGES: tl.constexpr):
    at = tl.arange(0, COLS)
    mask = at < cols
    for row in tl.range(tl.program_id(0), rows, tl.num_programs(0), num_stages=STAGES):
        t = tl.load(x + row * cols + at, mask, other=-float("inf"))
        e = tl.exp(t - tl.max(t, 0))
        tl.store(out + row * cols + at, e / tl.sum(e, 0), mask)


@triton.jit
def _place(tile, rows, cols, GROUP: tl.constexpr):
    group = tile // (GROUP * cols)
    height = min(rows - group * GROUP, GROUP)
    rest = tile % (GROUP * cols)
    return group * GROUP + rest % height, rest // height


@triton.jit
def matmul_leaky(
    a, b, c, M, N, K, TM: tl.constexpr, TN: tl.constexpr, TK: tl.constexpr, GROUP: tl.constexpr
):
    m, n = _place(tl.program_id(0), tl.cdiv(M, TM), tl.cdiv(N, TN), GROUP)
    i, j = (m * TM + tl.arange(0, TM)) % M, (n * TN + tl.arange(0, TN)) % N
    k = tl.arange(0, TK)
    pa, pb = a + i[:, None] * K + k[None, :], b + k[:, None] * N + j[None, :]
    acc = tl.zeros((TM, TN), tl.float32)
    for step in range(tl.cdiv(K, TK)):
        x = tl.load(pa, mask=k[None, :] < K - step * TK, other=0.0)
        y = tl.load(pb, mask=k[:, None] < K - step * TK, other=0.0)
        acc = tl.dot(x, y, acc)
        pa += TK
        pb += TK * N
    acc = tl.where(acc >= 0, acc, 0.01 * acc)
    i, j = m * TM + tl.arange(0, TM), n * TN + tl.arange(0, TN)
    mask = (i[:, None] < M) & (j[None, :] < N)
    tl.store(c + i[:, None] * N + j[None, :], acc.to(c.dtype.element_ty), mask)


@triton.jit
def dropout(x, out, n, p, seed, TILE: tl.constexpr):
    at = tl.program_id(0) * TILE + tl.arange(0, TILE)
    mask = at < n
    t = tl.load(x + at, mask)
    keep = (tl.randint(seed, at).to(tl.uint32, bitcast=True) >> 8).to(tl.float32) * (2.0**-24) > p
    tl.store(out + at, tl.where(keep, t / (1 - p), 0.0), mask)


@triton.jit
def norm_forward(x, w, b, out, mean, rstd, cols, eps, TILE: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    x += row * cols
    out += row * cols
    total = tl.zeros((TILE,), tl.float32)
    for first in range(0, cols, TILE):
        at = first + tl.arange(0, TILE)
        total += tl.load(x + at, at < cols, other=0.0).to(tl.float32)
    middle = tl.sum(total, 0) / cols
    squares = tl.zeros((TILE,), tl.float32)
    for first in range(0, cols, TILE):
        at = first + tl.arange(0, TILE)
        t = tl.load(x + at, at < cols, other=0.0).to(tl.float32)
        centred = tl.where(at < cols, t - middle, 0.0)
        squares += centred * centred
    scale = 1 / tl.sqrt(tl.sum(squares, 0) / cols + eps)
    tl.store(mean + row, middle)
    tl.store(rstd + row, scale)
    for first in range(0, cols, TILE):
        at = first + tl.arange(0, TILE)
        mask = at < cols
        t = tl.load(x + at, mask, other=0.0).to(tl.float32)
        weight, bias = tl.load(w + at, mask), tl.load(b + at, mask)
        tl.store(out + at, (t - middle) * scale * weight + bias, mask)


@triton.jit
def norm_backward(
    dx, dy, dw, db, x, w, mean, rstd, locks, counts, cols, COLS: tl.constexpr, GROUP: tl.constexpr
):
    row = tl.program_id(0).to(tl.int64)
    at = tl.arange(0, COLS)
    mask = at < cols
    t = tl.load(x + row * cols + at, mask, other=0.0).to(tl.float32)
    g = tl.load(dy + row * cols + at, mask, other=0.0).to(tl.float32)
    weight = tl.load(w + at, mask, other=0.0).to(tl.float32)
    scale = tl.load(rstd + row)
    xhat = tl.where(mask, (t - tl.load(mean + row)) * scale, 0.0)
    wdy = tl.where(mask, weight * g, 0.0)
    c1, c2 = tl.sum(xhat * wdy, 0) / cols, tl.sum(wdy, 0) / cols
    tl.store(dx + row * cols + at, (wdy - (xhat * c1 + c2)) * scale, mask)
    part_w, part_b = g * xhat, g
    group = (row % GROUP).to(tl.int32)
    dw += group * cols + at
    db += group * cols + at
    while tl.atomic_cas(locks + group, 0, 1) == 1:
        pass
    if tl.load(counts + group) == 0:
        tl.atomic_xchg(counts + group, 1)
    else:
        part_w += tl.load(dw, mask)
        part_b += tl.load(db, mask)
    tl.store(dw, part_w, mask)
    tl.store(db, part_b, mask)
    tl.debug_barrier()  # all threads have stored before the lock is given back
    tl.atomic_xchg(locks + group, 0)


@triton.jit
def norm_sums(dw, db, final_w, final_b, rows, cols, ROWS: tl.constexpr, COLS: tl.constexpr):
    j = tl.program_id(0) * COLS + tl.arange(0, COLS)
    w, b = tl.zeros((ROWS, COLS), tl.float32), tl.zeros((ROWS, COLS), tl.float32)
    for first in range(0, rows, ROWS):
        i = first + tl.arange(0, ROWS)
        mask = (i[:, None] < rows) & (j[None, :] < cols)
        w += tl.load(dw + i[:, None] * cols + j[None, :], mask, other=0.0)
        b += tl.load(db + i[:, None] * cols + j[None, :], mask, other=0.0)
    tl.store(final_w + j, tl.sum(w, 0), j < cols)
    tl.store(final_b + j, tl.sum(b, 0), j < cols)


@triton.jit
def attention(
    q, k, v, out, length, scale, CAUSAL: tl.constexpr,
    TM: tl.constexpr, TN: tl.constexpr, D: tl.constexpr,
):  # fmt: skip
    """q, k, v and out are tensor descriptors of (heads * length, D) with blocks of TM or TN rows."""
    m, base = tl.program_id(0), tl.program_id(1) * length
    scale *= 1.4426950408889634
    rows = m * TM + tl.arange(0, TM)
    qt = q.load([base + m * TM, 0])
    biggest = tl.full((TM,), -1.0e30, tl.float32)
    total = tl.zeros((TM,), tl.float32)
    acc = tl.zeros((TM, D), tl.float32)
    full = m * TM // TN * TN if CAUSAL else length
    for first in tl.range(0, full, TN):
        s = tl.dot(qt, k.load([base + first, 0]).T)
        new = tl.maximum(biggest, tl.max(s, 1) * scale)
        p = tl.exp2(s * scale - new[:, None])
        shrink = tl.exp2(biggest - new)
        total = total * shrink + tl.sum(p, 1)
        vt = v.load([base + first, 0])
        acc = tl.dot(p.to(vt.dtype), vt, acc * shrink[:, None])
        biggest = new
    if CAUSAL:
        for first in tl.range(full, (m + 1) * TM, TN):
            s = tl.dot(qt, k.load([base + first, 0]).T)
            cols = first + tl.arange(0, TN)
            s = tl.where(cols[None, :] <= rows[:, None], s, -1.0e30)
            new = tl.maximum(biggest, tl.max(s, 1) * scale)
            p = tl.exp2(s * scale - new[:, None])
            shrink = tl.exp2(biggest - new)
            total = total * shrink + tl.sum(p, 1)
            vt = v.load([base + first, 0])
            acc = tl.dot(p.to(vt.dtype), vt, acc * shrink[:, None])
            biggest = new
    out.store([base + m * TM, 0], (acc / total[:, None]).to(qt.dtype))


@triton.jit
def grouped_matmul(
    a, b, c, sizes, groups, TM: tl.constexpr, TN: tl.constexpr, TK: tl.constexpr
):  # fmt: skip
    """a, b and c hold addresses, sizes M, N and K of each product."""
    tile, first = tl.program_id(0), 0
    for g in range(groups):
        M, N, K = tl.load(sizes + 3 * g), tl.load(sizes + 3 * g + 1), tl.load(sizes + 3 * g + 2)
        cols = tl.cdiv(N, TN)
        tiles = tl.cdiv(M, TM) * cols
        while tile >= first and tile < first + tiles:
            x = tl.load(a + g).to(tl.pointer_type(tl.float16))
            y = tl.load(b + g).to(tl.pointer_type(tl.float16))
            z = tl.load(c + g).to(tl.pointer_type(tl.float16))
            i = (tile - first) // cols * TM + tl.arange(0, TM)
            j = (tile - first) % cols * TN + tl.arange(0, TN)
            k = tl.arange(0, TK)
            px, py = x + i[:, None] * K + k[None, :], y + k[:, None] * N + j[None, :]
            acc = tl.zeros((TM, TN), tl.float32)
            for _ in range(tl.cdiv(K, TK)):  # whole tiles, as the tutorial has it
                tl.multiple_of(px, [16, 16])
                tl.multiple_of(py, [16, 16])
                acc += tl.dot(tl.load(px), tl.load(py))
                px += TK
                py += TK * N
            tl.store(z + i[:, None] * N + j[None, :], acc.to(tl.float16))
            tile += tl.num_programs(0)
        first += tiles


@triton.jit
def scaled_matmul(
    a, a_scale, b, b_scale, c, M, N, K, TM: tl.constexpr, TN: tl.constexpr, TK: tl.constexpr
):
    """b is (N, K); scales are bytes of float8_e8m0, (M, K / 32) and (N, K / 32). Whole tiles."""
    m, n = _place(tl.program_id(0), tl.cdiv(M, TM), tl.cdiv(N, TN), 8)
    i, j, k = m * TM + tl.arange(0, TM), n * TN + tl.arange(0, TN), tl.arange(0, TK)
    s = tl.arange(0, TK // 32)
    pa, pb = a + i[:, None] * K + k[None, :], b + j[None, :] * K + k[:, None]
    sa = a_scale + i[:, None] * (K // 32) + s[None, :]
    sb = b_scale + j[:, None] * (K // 32) + s[None, :]
    acc = tl.zeros((TM, TN), tl.float32)
    for _ in range(tl.cdiv(K, TK)):
        acc = tl.dot_scaled(tl.load(pa), tl.load(sa), "e4m3", tl.load(pb), tl.load(sb), "e4m3", acc)
        pa += TK
        pb += TK
        sa += TK // 32
        sb += TK // 32
    tl.store(c + i[:, None] * N + j[None, :], acc.to(c.dtype.element_ty))
