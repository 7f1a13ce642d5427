# SPDX-License-Identifier: Apache-2.0
"""Products that are deep but small: how many pieces of K keep a GPU busy, and which tile then takes the least time.

Times are counted in clocks of one multiprocessor of an H200 (measured there).
"""

from __future__ import annotations

import functools
import itertools
import sys
from collections.abc import Iterator
from typing import NamedTuple

import tessera.tile as ct

# Rows and columns of a tile: what 128 bytes of K take, where the blocks that run side by side make neighbouring tiles
# of one piece, and where every other one has another piece.
STEPS = {
    (64, 128): (280, 440), (128, 64): (380, 420), (64, 256): (565, 565), (128, 128): (605, 605),
    (128, 256): (1075, 1075),
}  # fmt: skip
# A launch, the kernel that adds pieces, a cluster's exchange of sums; bytes of pieces' sums a clock.
START, ADDING, MEETING, RATE = 4300, 1800, 3000, 2000
# Without wgmma: rows, columns and depth of a tile, and the part of its speed (in percent) that a multiprocessor reaches
# with 1, 2, 3 .. blocks at a time; more do not fit, or gain nothing.
OTHERS = {
    "float32": (
        ((128, 128, 16), (61, 100)),
        ((64, 128, 16), (85, 90, 92, 93)),
        ((64, 64, 16), (74, 82, 85, 88, 88, 89, 89, 90)),
    ),
    "float64": (((128, 64, 16), (98, 100)), ((64, 64, 16), (93, 95, 95, 96))),
}
MULTIPLY_ADDS = 128  # a clock
SUM_BYTES = {"float32": 4, "float64": 8}


class Deep(NamedTuple):
    """Tile (rows, columns, depth), pieces of K whose sums a second kernel adds, blocks of a cluster that share them."""

    tile: tuple[int, int, int]
    pieces: int
    ctas: int


def _ways(tiles: int, steps: int, sms: int) -> Iterator[tuple[int, int]]:
    """Pieces and blocks of a cluster, at least 8 steps for each."""
    most = min(16, sms // tiles, steps // 8)
    yield 1, 1
    if most >= 2:
        yield 1, 2
    yield from ((p, 1) for p in range(2, most + 1))


@functools.lru_cache(maxsize=4096)
def deep(m: int, n: int, k: int, bytes_: int, sms: int) -> Deep | None:
    """For products on wgmma. None: whole tiles keep the chip busy, or the products are not what takes time."""
    depth = 128 // bytes_
    steps = ct.cdiv(k, depth)
    if min(m, n) <= 32 or steps < 16 or m * n > sms * 128 * 128 * 2 // 3:
        return None

    def cost(way: tuple[tuple[int, int], tuple[int, int]]) -> int:
        tile, (pieces, ctas) = way
        work = ct.cdiv(steps, pieces * ctas) * STEPS[tile][ctas - 1]
        sums = ADDING + pieces * m * n * 8 // RATE if pieces > 1 else MEETING if ctas > 1 else 0
        return START + work + sums

    count = {t: ct.cdiv(m, t[0]) * ct.cdiv(n, t[1]) for t in STEPS}
    ways = [(t, w) for t in STEPS if count[t] <= sms for w in _ways(count[t], steps, sms)]
    (rows, cols), (pieces, ctas) = min(ways, key=cost)
    return Deep((rows, cols, depth), pieces, ctas) if pieces * ctas > 1 else None


@functools.lru_cache(maxsize=4096)
def other(m: int, n: int, k: int, dtype: str, sms: int) -> Deep | None:
    """For products of float32 and float64 without wgmma, several of whose blocks share a multiprocessor. None: whole
    tiles keep the chip busy."""
    if dtype not in OTHERS or m * n >= sms * 128 * 128 * 2:
        return None

    def cost(way: tuple[tuple[tuple[int, int, int], tuple[int, ...]], int]) -> int:
        ((rows, cols, depth), speeds), pieces = way
        blocks = ct.cdiv(ct.cdiv(m, rows) * ct.cdiv(n, cols) * pieces, sms)
        if pieces > 1 and blocks > len(speeds):
            return sys.maxsize
        work = ct.cdiv(ct.cdiv(k, depth), pieces) * depth * blocks * rows * cols
        adding = ADDING + pieces * m * n * 2 * SUM_BYTES[dtype] // RATE if pieces > 1 else 0
        return work * 100 // speeds[min(blocks, len(speeds)) - 1] + adding * MULTIPLY_ADDS

    pieces = [p for p in range(1, 65) if p == 1 or k >= 128 * p]
    (tile, _), p = min(itertools.product(OTHERS[dtype], pieces), key=cost)
    return Deep(tile, p, 0) if p > 1 else None
