# SPDX-License-Identifier: Apache-2.0
"""How a matrix product runs on a GPU: the tile, the pieces of K, and the ways found so far.

Times are counted in clocks of one multiprocessor of an H200 (measured there): an instruction of 64 rows, n columns
and 32 bytes of K takes n / 2 clocks (narrow ones 16 + n / 4), operands arrive at 62 bytes a clock, all
multiprocessors together stream 2,400 bytes a clock from memory.
"""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import tessera
import tessera.tile as ct

from . import _gemm_deep
from ._gpu_array import BYTES, Copy, copy_of, device_of, dtype_name, unit_of_copy

ROWS_AND_COLUMNS = (
    (128, 256), (256, 128), (128, 128), (128, 64), (64, 128), (64, 64), (64, 32), (64, 16), (128, 32), (128, 16),
)  # fmt: skip
# Without wgmma: rows, columns and depth of a tile, and how long it takes in percent for its size (H200).
OTHERS = {
    "float32": ((128, 128, 16, 100), (64, 128, 16, 102), (64, 64, 16, 110)),
    "float64": ((128, 64, 16, 100), (64, 64, 16, 103)),
    "float8": ((128, 128, 128, 100), (64, 64, 128, 110)),
}
L2_RATE, MEMORY_RATE = 62, 2400
START, LAST_BLOCK, TEAMS = 2500, 200, 800


class Plan(NamedTuple):
    """Tile (rows, columns, depth), rows of tiles in a group, pieces of K, whether C is made transposed, parts of the
    tiles that are left over behind the last whole wave, the blocks of a cluster that share a tile's steps along K (0: no
    clusters, each block makes many tiles), and whether kernels start before the one before ends."""

    tile: tuple[int, int, int]
    group: int
    pieces: int
    swapped: bool
    tail: int = 1
    ctas: int = 0
    early: bool = True


def options(a: Any, tf32: bool, fast: bool) -> tuple[bool, bool]:
    """Of the kernels: float32 as tf32, float8 with fast accumulation."""
    name = dtype_name(a)
    return tf32 and name == "float32", fast and name.startswith("float8")


def on_tensor_cores(name: str, flags: tuple[bool, bool]) -> bool:
    """Whether wgmma takes the type; ``flags``: float32 as tf32, float8 with fast accumulation."""
    if name in ("float32", "float64"):
        return flags[0]
    return flags[1] or not name.startswith("float8")


@functools.lru_cache(maxsize=64)
def units(device: str) -> int:
    """Multiprocessors of a GPU."""
    return int(tessera.device_info(device)["units"])


@functools.lru_cache(maxsize=64)
def has_clusters(device: str) -> bool:
    """Whether the blocks of a cluster can share a product's loop over K: with wgmma."""
    return int(tessera.device_info(device)["target"]) == 90


def step(rows: int, cols: int) -> int:
    """128 bytes of K: products, or the operands' way to shared memory."""
    instruction = cols // 2 if cols >= 64 else 16 + cols // 4
    return max(rows // 64 * 4 * instruction, (rows + cols) * 128 // L2_RATE)


def _work(tiles: int, steps: int, way: tuple[int, int, int, int], sms: int, end: int) -> int:
    """Clocks of the busiest multiprocessor for whole tiles and the parts of those that are left over."""
    rows, cols, pieces, tail = way
    whole, rest = (tiles // sms, tiles % sms) if tail > 1 else (ct.cdiv(tiles, sms), 0)
    depth = ct.cdiv(steps, pieces)
    work = whole * (depth * step(rows, cols) + end)
    return work + ct.cdiv(rest * tail, sms) * (depth * step(rows, cols // tail) + end // tail)


def _cost(
    shape: tuple[int, int, int], batch: int, way: tuple[int, int, int, int], sms: int, after: int
) -> int:
    """``way``: rows and columns of a tile, pieces of K, parts of the tiles left over. Small tiles are made by two teams
    in turn: what comes after one's products runs beside the next one's."""
    (m, n, steps), (rows, cols, pieces, _) = shape, way
    tiles = ct.cdiv(m, rows) * ct.cdiv(n, cols) * pieces * batch
    teams = pieces == 1 and 1 << 13 <= rows * cols <= 1 << 14
    end = rows * cols * after // 24
    work = _work(tiles, steps, way, sms, 0 if teams else end)
    memory = batch * ((m + n) * steps * 128 + 2 * m * n) // MEMORY_RATE
    partial = LAST_BLOCK + pieces * m * n * 8 // (2 * MEMORY_RATE) if pieces > 1 else 0
    return START + max(work, memory) + work // 8 + (2 * end + TEAMS if teams else 0) + partial


def _tails(m: int, n: int, batch: int, tile: tuple[int, int], sms: int) -> tuple[int, ...]:
    """In how many parts the tiles behind the last whole wave may be made: of two teams' tiles, as measured."""
    tiles = batch * ct.cdiv(m, tile[0]) * ct.cdiv(n, tile[1])
    teams = tile[0] * tile[1] == 1 << 14 and tile[1] >= 128
    return (1, 2, 4) if teams and tiles > sms and tiles % sms else (1,)


def _other_tile(m: int, n: int, dtype: str, sms: int) -> tuple[int, int, int]:
    """The tile of products without wgmma that leaves the busiest multiprocessor the least to do."""

    def cost(way: tuple[int, int, int, int]) -> int:
        rows, cols, _, percent = way
        return ct.cdiv(ct.cdiv(m, rows) * ct.cdiv(n, cols), sms) * rows * cols * percent

    return min(OTHERS[dtype.partition("_")[0]], key=cost)[:3]


def small_plan(m: int, n: int, k: int, sms: int) -> Plan | None:
    """For 16-bit operands that would have to be copied: no copies, no TMA, while that is faster."""
    if m <= 16:
        tiles = ct.cdiv(n, 64)
        pieces = [p for p in (8, 4, 2) if k >= 256 * p and tiles * p <= 6 * sms]
        return Plan((16, 64, 64), 8, pieces[0] if pieces else 1, False)
    if n <= 32 or m * n * k <= 600**3:
        return Plan((64, 32 if n <= 32 else 64, 32), 8, 1, False)
    return None


def slender_plan(m: int, n: int, k: int, bytes_: int, sms: int) -> Plan | None:
    """For a product with few rows or columns, whose time is that of reading the other operand: tiles of 64 of its rows,
    and a cluster of blocks for each while multiprocessors are idle. None: such tiles do not come out evenly."""
    few, many = min(m, n), max(m, n)
    tiles, depth = ct.cdiv(many, 64), 128 // bytes_
    if few > 128 or many < 1024:
        return None
    if tiles > sms * (1 if few > 32 else 1.5):  # lower tiles leave room for two blocks on a multiprocessor
        return None
    ctas = 2 if tiles > sms else 2 if tiles * 2 <= sms else 1
    while ctas > 1 and k < 8 * ctas * depth:
        ctas //= 2
    width = max(16, 1 << (few - 1).bit_length())
    if m > n:
        return Plan((64, width, depth), 8, 1, False, ctas=ctas)
    if few <= 32:
        return Plan((64, width, depth), 8, 1, True, ctas=ctas)
    return Plan((width, 64, depth), 8, 1, False, ctas=ctas)


@functools.lru_cache(maxsize=4096)
def plan(
    m: int, n: int, k: int, dtype: str, sms: int, tensor: bool = True, batch: int = 0, after: int = 1
) -> Plan:
    """The cheapest way for ``c[m, n] = a[m, k] @ b[k, n]``, or ``batch`` of them; ``tensor``: wgmma can take the type;
    ``after``: what is done with a sum, by the cost of rounding and storing it."""
    if not tensor:
        return Plan(_other_tile(m, n, dtype, sms), 8, 1, False)
    depth = 128 // BYTES[dtype]
    swapped = m <= 32 < n and not batch
    if swapped:
        m, n = n, m
    shape = m, n, ct.cdiv(k, depth)
    pieces = [p for p in (1, 2, 4, 8, 16) if p == 1 or (shape[2] // p >= 8 and not batch)]
    tiles = [t for t in ROWS_AND_COLUMNS if not swapped or t[1] >= n]
    ways = [
        (r, c, p, t)
        for r, c in tiles
        for p in pieces
        if p == 1 or ct.cdiv(m, r) * ct.cdiv(n, c) * p <= sms
        for t in (_tails(m, n, max(1, batch), (r, c), sms) if p == 1 else (1,))
    ]
    rows, cols, p, tail = min(ways, key=lambda w: _cost(shape, max(1, batch), w, sms, after))
    return Plan((rows, cols, depth), 8, p, swapped, tail)


# ---- ways -------------------------------------------------------------------------------------------------


class Way(NamedTuple):
    """A plan for arrays as they lie: the grid, the constants of the kernel, whether that is all; what is copied, room
    for pieces."""

    grid: tuple[int, int, int]
    constants: tuple[Any, ...]
    plain: bool
    copies: list[Copy | None]
    swapped: bool
    parts: tuple[int, int, int] | None
    sums: str
    device: str
    ctas: int = 0
    early: bool = True


def plain_way(grid: tuple[int, int, int], constants: tuple[Any, ...]) -> Way:
    """One launch of the arrays as they are."""
    return Way(grid, constants, True, [None, None], False, None, "", "")


_ways: dict[Any, Way] = {}


def way_of(key: Any) -> Way | None:
    """What was found for these looks and options before."""
    return _ways.get(key)


def remember(key: Any, way: Way) -> None:
    """Once for each shape, layout and type; keys that begin with None tell nothing of the arrays."""
    if key is None or key[0] is None:
        return
    if len(_ways) > 4096:
        _ways.clear()
    _ways[key] = way


def _copies(a: Any, b: Any, major: bool) -> list[Copy | None]:
    units = unit_of_copy(a, 1, major), unit_of_copy(b, 0, major)
    return [
        None if unit is None else copy_of(x, unit) for x, unit in zip((a, b), units, strict=True)
    ]


def _deep_plan(m: int, n: int, k: int, name: str, device: str, tensor: bool) -> Plan | None:
    """Blocks that share multiprocessors are spread unevenly when they start early, which only short products make up
    for."""
    sms, found = units(device), None
    if not tensor:
        found = _gemm_deep.other(m, n, k, name, sms)
    elif has_clusters(device):
        found = _gemm_deep.deep(m, n, k, BYTES[name], sms)
    if found is None:
        return None
    return Plan(found.tile, 8, found.pieces, False, ctas=found.ctas, early=tensor or k < 4096)


def find_way(a: Any, b: Any, c: Any, flags: tuple[bool, bool]) -> Way:
    """How a product of arrays that have elements runs on a GPU."""
    name, device = dtype_name(a), device_of(c)
    tensor, major = on_tensor_cores(name, flags), BYTES[name] != 2
    sms, none = units(device), [None, None]
    m, n, k = int(c.shape[0]), int(c.shape[1]), int(a.shape[1])
    slender = slender_plan(m, n, k, BYTES[name], sms) if tensor and has_clusters(device) else None
    chosen = slender or _deep_plan(m, n, k, name, device, tensor) or plan(m, n, k, name, sms, tensor)
    copies = _copies(a, b, major) if tensor else none
    small = small_plan(m, n, k, sms) if copies != none and not major else None
    if small:
        return _way(small, (m, n), none, flags, (name, device, False))
    return _way(chosen, (m, n), copies, flags, (name, device, tensor))


def _way(
    chosen: Plan,
    shape: tuple[int, int],
    copies: list[Copy | None],
    flags: tuple[bool, bool],
    where: tuple[str, str, bool],
) -> Way:
    """``where``: type, device, and whether a block has its multiprocessor for itself."""
    name, device, alone = where
    m, n = shape[::-1] if chosen.swapped else shape
    rows, cols = ct.cdiv(m, chosen.tile[0]), ct.cdiv(n, chosen.tile[1])
    if chosen.pieces > 1:
        grid, last = (rows * cols, chosen.pieces, 1), chosen.pieces
        parts = (chosen.pieces, rows * chosen.tile[0], cols * chosen.tile[1])
    elif chosen.ctas:
        grid, last, parts = (rows * cols, 1, 1), chosen.group, None
    else:
        blocks = (
            min(rows * cols, units(device)) if alone else rows * cols
        )  # others share multiprocessors
        grid, last, parts = (blocks, 1, 1), chosen.group, None
    sums = {"int8": "int32", "float64": "float64"}.get(name, "float32")
    plain = parts is None and not chosen.swapped and not chosen.ctas and copies == [None, None]
    walks = parts is None and not chosen.ctas
    constants = (*chosen.tile, last, *flags) + ((chosen.tail,) if walks else ())
    rest = parts, sums, device, chosen.ctas, chosen.early
    return Way(grid, constants, plain, copies, chosen.swapped, *rest)
