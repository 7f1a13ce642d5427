# SPDX-License-Identifier: Apache-2.0
"""Matrix product. Blocks walk the output in groups of rows, so that a group's operands stay in L2."""

from __future__ import annotations

import functools
import itertools
from typing import Any

import tessera
import tessera.tile as ct

from . import on_gpu


@ct.kernel
def gemm_kernel(
    a,
    b,
    c,
    TM: ct.Constant[int],
    TN: ct.Constant[int],
    TK: ct.Constant[int],
    GROUP: ct.Constant[int],
):
    rows, cols = ct.cdiv(c.shape[0], TM), ct.cdiv(c.shape[1], TN)
    block = ct.bid(0)
    group = block // (GROUP * cols)
    first = group * GROUP
    height = min(rows - first, GROUP)
    rest = block - group * GROUP * cols
    m = first + rest % height
    n = rest // height
    acc = ct.zeros((TM, TN), dtype=ct.float32)
    for k in range(ct.cdiv(a.shape[1], TK)):
        x = ct.load(a, index=(m, k), shape=(TM, TK), padding_mode=ct.PaddingMode.ZERO)
        y = ct.load(b, index=(k, n), shape=(TK, TN), padding_mode=ct.PaddingMode.ZERO)
        acc = ct.mma(x, y, acc)
    ct.store(c, index=(m, n), tile=ct.astype(acc, c.dtype))


def _cpu_cost(m: int, n: int, k: int, tile: tuple[int, int, int], threads: int) -> int:
    """Time on the CPU in multiply-adds: padding, packing (4 an element), accumulators, idle threads."""
    tm, tn, tk = tile
    step = tm * (tn + 6) * (tk + 4) + 4 * tk * (tm + tn)
    block = ct.cdiv(k, tk) * step + 4 * tm * tn
    return ct.cdiv(ct.cdiv(m, tm) * ct.cdiv(n, tn), threads) * block


@functools.lru_cache(maxsize=1024)
def cpu_tile(m: int, n: int, k: int) -> tuple[int, int, int]:
    """The cheapest tile for a product of these extents; large ones get 256 x 256 x 256."""
    threads = tessera.device_info("cpu")["units"]
    rows, cols, depths = range(9), range(4, 9), range(5, 9)
    tiles = ((1 << x, 1 << y, 1 << z) for x, y, z in itertools.product(rows, cols, depths))
    return min(tiles, key=lambda t: _cpu_cost(m, n, k, t, threads))


def gemm(
    a: Any,
    b: Any,
    c: Any,
    stream: Any = None,
    tile: tuple[int, int, int] | None = None,
    group: int = 8,
) -> None:
    """``c = a @ b`` for a (M, K), b (K, N), c (M, N); accumulates in float32."""
    if tile is None:
        tile = (128, 256, 64) if on_gpu(c) else cpu_tile(*c.shape, a.shape[1])
    blocks = ct.cdiv(c.shape[0], tile[0]) * ct.cdiv(c.shape[1], tile[1])
    ct.launch(stream, (blocks, 1, 1), gemm_kernel, (a, b, c, *tile, group))
