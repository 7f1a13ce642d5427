# SPDX-License-Identifier: Apache-2.0
"""Triton's versions, in the manner its tutorials teach."""

from __future__ import annotations

from typing import Any

import triton
import triton.language as tl


@triton.jit
def _add(x, y, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < n
    tl.store(out + at, tl.load(x + at, mask) + tl.load(y + at, mask), mask)


@triton.jit
def _chain(x, y, z, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < n
    a, b, c = tl.load(x + at, mask), tl.load(y + at, mask), tl.load(z + at, mask)
    tl.store(out + at, tl.sqrt(tl.sin(a) * tl.cos(b) + tl.exp(-c * c) + tl.log(a + 1)), mask)


@triton.jit
def _softmax(x, out, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    at = tl.arange(0, BLOCK)
    mask = at < cols
    t = tl.load(x + row * cols + at, mask, other=-float("inf")).to(tl.float32)
    e = tl.exp(t - tl.max(t, 0))
    tl.store(out + row * cols + at, (e / tl.sum(e, 0)).to(out.dtype.element_ty), mask)


@triton.jit
def _norm(x, w, b, out, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    at = tl.arange(0, BLOCK)
    mask = at < cols
    t = tl.load(x + row * cols + at, mask, other=0.0).to(tl.float32)
    mean = tl.sum(t, 0) / cols
    c = tl.where(mask, t - mean, 0.0)
    scale = 1 / tl.sqrt(tl.sum(c * c, 0) / cols + 1e-5)
    y = c * scale * tl.load(w + at, mask) + tl.load(b + at, mask)
    tl.store(out + row * cols + at, y, mask)


@triton.jit
def _transpose(x, out, n, m, T: tl.constexpr):
    i = tl.program_id(0) * T + tl.arange(0, T)
    j = tl.program_id(1) * T + tl.arange(0, T)
    t = tl.load(x + i[:, None].to(tl.int64) * m + j[None, :])
    tl.store(out + j[:, None].to(tl.int64) * n + i[None, :], tl.trans(t))


@triton.jit
def _gemm(
    a, b, c, M, N, K, TM: tl.constexpr, TN: tl.constexpr, TK: tl.constexpr, GROUP: tl.constexpr
):
    pid = tl.program_id(0)
    rows, cols = tl.cdiv(M, TM), tl.cdiv(N, TN)
    group = pid // (GROUP * cols)
    first = group * GROUP
    height = min(rows - first, GROUP)
    rest = pid % (GROUP * cols)
    m, n = first + rest % height, rest // height
    i = (m * TM + tl.arange(0, TM)) % M
    j = (n * TN + tl.arange(0, TN)) % N
    k = tl.arange(0, TK)
    pa, pb = a + i[:, None] * K + k[None, :], b + k[:, None] * N + j[None, :]
    acc = tl.zeros((TM, TN), tl.float32)
    for step in range(tl.cdiv(K, TK)):
        x = tl.load(pa, mask=k[None, :] < K - step * TK, other=0.0)
        y = tl.load(pb, mask=k[:, None] < K - step * TK, other=0.0)
        acc = tl.dot(x, y, acc)
        pa += TK
        pb += TK * N
    i, j = m * TM + tl.arange(0, TM), n * TN + tl.arange(0, TN)
    tl.store(
        c + i[:, None] * N + j[None, :],
        acc.to(c.dtype.element_ty),
        mask=(i[:, None] < M) & (j[None, :] < N),
    )


def _flat(kernel: Any) -> Any:
    def run(*arrays: Any) -> None:
        n = arrays[0].numel()
        kernel[(triton.cdiv(n, 1024),)](*arrays, n, BLOCK=1024)

    return run


def _rows(kernel: Any) -> Any:
    def run(*arrays: Any) -> None:
        rows, cols = arrays[0].shape
        kernel[(rows,)](*arrays, cols, BLOCK=triton.next_power_of_2(cols), num_warps=8)

    return run


def transpose(x: Any, out: Any) -> None:
    n, m = x.shape
    _transpose[(n // 64, m // 64)](x, out, n, m, T=64, num_warps=8)


def gemm(a: Any, b: Any, c: Any) -> None:
    m, k = a.shape
    n = b.shape[1]
    grid = (triton.cdiv(m, 128) * triton.cdiv(n, 256),)
    _gemm[grid](a, b, c, m, n, k, TM=128, TN=256, TK=64, GROUP=8, num_warps=8, num_stages=3)


KERNELS = {
    "vector add": _flat(_add),
    "fused chain": _flat(_chain),
    "softmax": _rows(_softmax),
    "layer norm": _rows(_norm),
    "transpose": transpose,
}
