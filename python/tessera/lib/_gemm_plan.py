# SPDX-License-Identifier: Apache-2.0
"""Which tiles, clusters and pieces of K make a matrix product on a GPU in the least time.

Every plan's time is estimated in clocks of one multiprocessor and the least one taken. The constants are those with
which, over measured times of all plans for 200 shapes on an H200, the plan taken is nearest to the best.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import NamedTuple

import tessera.tile as ct

from ._gpu_array import BYTES

ROWS_AND_COLUMNS = (
    (128, 256), (256, 128), (128, 128), (64, 256), (256, 64), (128, 64), (64, 128), (64, 64), (64, 32), (128, 32),
    (256, 32), (64, 16), (128, 16),
)  # fmt: skip
# Rows, columns, further columns: widths between powers of two.
WIDE = (
    (128, 128, 64), (128, 128, 32), (64, 128, 64), (128, 64, 32), (256, 64, 32), (64, 64, 32), (64, 64, 16),
)  # fmt: skip
# Without wgmma: rows, columns and depth of a tile, and how long it takes in percent for its size (H200).
OTHERS = {
    "float32": ((128, 128, 16, 100), (64, 128, 16, 102), (64, 64, 16, 110)),
    "float64": ((128, 64, 16, 100), (64, 64, 16, 103)),
    "float8": ((128, 128, 128, 100), (64, 64, 128, 110)),
}

# An instruction of 64 rows, n columns and 32 bytes of K takes n / 2 clocks (fewer than 64 columns: NARROW + n / 4); two
# instructions of a tile of another width WIDER times that.
NARROW, WIDER = 25, 1.047
# Bytes a clock at which operands arrive in one multiprocessor, unless fewer are on their way for LATENCY clocks; from
# memory in all. Of an operand that more than one row of tiles reads, AGAIN comes once more.
ARRIVAL, LATENCY, MEMORY, AGAIN = 69, 1630, 1880, 0.30
# How far both hide behind each other: 1 not at all, infinity wholly; and the products and the memory's work.
TOGETHER, OVERLAP = 7.2, 2.0
# A launch, what starting early saves of it, a further tile of a block that makes only one; clocks of a sum on its way
# out of the registers, and more across rows.
START, HEAD_START, ROUND, OUT, ACROSS = 1700, 1430, 2500, 0.097, 0.24
# A cluster's meeting, and clocks of a sum that travels in it; pieces of K, and bytes of their sums a clock.
MEETING, TRAVEL, PIECES, PIECES_RATE = 2390, 0.017, 6430, 6260
# Starting early scatters blocks over the chip, which read what they share further apart. It pays for what fits L2
# (bytes), what is bound by products (work over memory's time), and blocks with room beside those of the kernel before.
EARLY_BYTES, EARLY_WORK = 46_000_000, 2.5
# Shared memory for the stages of a block, of one that keeps room for what it stores, of one of two on a multiprocessor.
WHOLE, WALKING, HALF = 227_000, 194_000, 115_000


class Plan(NamedTuple):
    """Tile (rows, columns, depth), rows of tiles in a group, pieces of K, whether C is made transposed, parts of the
    tiles that are left over behind the last whole wave; the blocks of a cluster that share a tile's steps along K (0:
    no clusters, each block makes many tiles); further columns of a tile; whether two blocks share a multiprocessor;
    whether the kernel starts before the one before it ends; the stages of its pipeline (0: as many as fit)."""

    tile: tuple[int, int, int]
    group: int
    pieces: int
    swapped: bool
    tail: int = 1
    ctas: int = 0
    more: int = 0
    shared: bool = False
    early: bool = True
    stages: int = 0


class Product(NamedTuple):
    """``batch`` products of so many rows and columns and steps of 128 bytes along K; ``after``: what is done with a
    sum, by the cost of rounding and storing it."""

    rows: int
    cols: int
    steps: int
    batch: int = 1
    after: int = 1


def step(rows: int, cols: int, more: int = 0, rate: float = ARRIVAL) -> float:
    """128 bytes of K: products, or the operands' way to shared memory."""
    instructions = sum(n / 2 if n >= 64 else NARROW + n / 4 for n in (cols, more) if n)
    products, operands = rows / 16 * instructions, (rows + cols + more) * 128 / rate
    both = (products**TOGETHER + operands**TOGETHER) ** (1 / TOGETHER)
    return both * WIDER if more else both


def _tiles(product: Product, plan: Plan) -> tuple[int, int]:
    rows, cols, _ = plan.tile
    return ct.cdiv(product.rows, rows), ct.cdiv(product.cols, cols + plan.more)


def _blocks(product: Product, plan: Plan) -> int:
    """A block for each tile, its pieces and its shares."""
    rows, cols = _tiles(product, plan)
    return product.batch * rows * cols * plan.pieces * max(1, plan.ctas)


def stages(plan: Plan) -> int:
    """Of a block's pipeline. Tiles of another width have two, of a power of two."""
    walks = not plan.ctas and plan.pieces == 1
    room = HALF if plan.shared else WALKING if walks else WHOLE
    most = min(8, room // (128 * (plan.tile[0] + plan.tile[1] + plan.more)))
    return 1 << most.bit_length() - 1 if plan.more else most


def _rate(plan: Plan, neighbours: bool) -> float:
    """Bytes a clock that arrive in a multiprocessor; ``neighbours``: two blocks on it read at once."""
    on_the_way = stages(plan) * 128 * (plan.tile[0] + plan.tile[1] + plan.more)
    return min(ARRIVAL, (2 if neighbours else 1) * on_the_way / LATENCY)


def _walk(product: Product, plan: Plan, sms: int, end: float) -> float:
    """Clocks of the busiest multiprocessor for whole tiles and the parts of those that are left over. Small tiles are
    made by two teams in turn: what comes after one's products runs beside the next one's."""
    (rows, cols, _), tail, rate = plan.tile, plan.tail, _rate(plan, False)
    tiles = _blocks(product, plan)
    whole, rest = (tiles // sms, tiles % sms) if tail > 1 else (ct.cdiv(tiles, sms), 0)
    teams = not plan.more and 1 << 13 <= rows * cols <= 1 << 14
    last, end = (2 * end, 0.0) if teams else (0.0, end)
    work = whole * (product.steps * step(rows, cols, plan.more, rate) + end) + last
    part = product.steps * step(rows, cols // tail, 0, rate) + end / tail
    return work + ct.cdiv(rest * tail, sms) * part


def _work(product: Product, plan: Plan, sms: int) -> float:
    """Clocks of the busiest multiprocessor."""
    rows, cols, _ = plan.tile
    end = rows * (cols + plan.more) * product.after * OUT
    if not plan.ctas and plan.pieces == 1:
        return _walk(product, plan, sms, end)
    blocks = _blocks(product, plan)
    each = ct.cdiv(blocks, sms)
    rounds = ct.cdiv(blocks, 2 * sms) if plan.shared else each
    depth = ct.cdiv(product.steps, plan.pieces * max(1, plan.ctas))
    one = depth * step(rows, cols, 0, _rate(plan, plan.shared and blocks > sms))
    return each * one + rounds * end + (rounds - 1) * ROUND


def _bytes(product: Product) -> int:
    read = (product.rows + product.cols) * product.steps * 128
    return product.batch * (read + 2 * product.rows * product.cols)


def _memory(product: Product, plan: Plan) -> float:
    """Clocks until all that the product reads and writes has moved."""
    rows, cols = _tiles(product, plan)
    again = product.rows * min(1, cols - 1) + product.cols * min(1, rows - 1)
    return (_bytes(product) + AGAIN * product.batch * again * product.steps * 128) / MEMORY


def _adding(product: Product, plan: Plan) -> float:
    """What it takes to add up sums of pieces or of a cluster's blocks."""
    tile = plan.tile[0] * plan.tile[1]
    if plan.pieces > 1:
        rows, cols = _tiles(product, plan)
        return PIECES + 8 * plan.pieces * rows * cols * tile / PIECES_RATE
    return MEETING + TRAVEL * tile * (plan.ctas - 1) if plan.ctas > 1 else 0


def _starts_early(product: Product, plan: Plan, sms: int, work: float) -> bool:
    room = plan.shared or plan.pieces > 1 or _blocks(product, plan) * 2 <= sms
    moved = _bytes(product)
    return room or moved <= EARLY_BYTES or work > EARLY_WORK * moved / MEMORY


def _timed(product: Product, plan: Plan, sms: int) -> tuple[float, Plan]:
    work, memory = _work(product, plan, sms), _memory(product, plan)
    early = _starts_early(product, plan, sms, work)
    start = START + _adding(product, plan) - (HEAD_START if early else 0)
    across = ACROSS * plan.tile[0] * (plan.tile[1] + plan.more) if plan.swapped else 0
    both = (work**OVERLAP + memory**OVERLAP) ** (1 / OVERLAP)
    return start + across + both, plan._replace(early=early)


def _tails(product: Product, plan: Plan, sms: int) -> tuple[int, ...]:
    """In how many parts the tiles behind the last whole wave may be made."""
    rows, cols, _ = plan.tile
    large, tiles = rows * cols >= 1 << 14 and cols >= 128, _blocks(product, plan)
    return (1, 2, 4) if large and tiles > sms and tiles % sms else (1,)


def _shares(plan: Plan) -> Iterator[Plan]:
    """A block for each tile, two on a multiprocessor where they find room with all stages, or with half of them."""
    rows, cols, _ = plan.tile
    both = plan._replace(ctas=1, shared=True)
    small = rows * cols <= 1 << 13 and rows <= 128
    if small and stages(both) == 8 and rows == 64:
        yield both
        return
    yield plan._replace(ctas=1)
    if small and stages(both) >= 4:
        yield both


def _alone(product: Product, plan: Plan, sms: int) -> Iterator[Plan]:
    """A block for each tile, or a cluster."""
    tiles = _blocks(product, plan)
    if tiles <= 2 * sms:
        yield from _shares(plan)
    if tiles <= sms and product.steps >= 16 and 1 in _tiles(product, plan):
        yield next(_shares(plan))._replace(ctas=2)


def _pieces(product: Product, plan: Plan, sms: int) -> Iterator[Plan]:
    """Of large tiles, so many that blocks fill more than half the chip."""
    tiles, large = _blocks(product, plan), plan.tile[0] * plan.tile[1] >= 1 << 13
    for pieces in (2, 3, 4, 8, 16):
        if large and sms < 2 * tiles * pieces <= 2 * sms and product.steps >= 8 * pieces:
            yield plan._replace(pieces=pieces)


def _plans(product: Product, depth: int, swapped: bool, sms: int, kinds: str) -> Iterator[Plan]:
    """``kinds``: w blocks that walk over many tiles, p pieces of K, a a block for a tile, and tiles of other widths."""
    for rows, cols in ROWS_AND_COLUMNS:
        plan = Plan((rows, cols, depth), 8, 1, swapped)
        if "a" not in kinds or _blocks(product, plan) > sms:
            yield from (plan._replace(tail=t) for t in _tails(product, plan, sms))
        if "p" in kinds:
            yield from _pieces(product, plan, sms)
        if "a" in kinds:
            yield from _alone(product, plan, sms)
    if "a" in kinds:
        yield from (Plan((r, c, depth), 8, 1, swapped, more=more) for r, c, more in WIDE)


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


def _kinds(batch: int, after: int, clusters: bool) -> str:
    """What there are kernels for."""
    return "w" if batch or after > 1 else "wpa" if clusters else "wp"


@functools.lru_cache(maxsize=4096)
def plan(
    m: int, n: int, k: int, dtype: str, sms: int, tensor: bool = True,
    batch: int = 0, after: int = 1, clusters: bool = True,
) -> Plan:  # fmt: skip
    """The cheapest way for ``c[m, n] = a[m, k] @ b[k, n]``, or ``batch`` of them; ``tensor``: wgmma can take the type;
    ``after``: what is done with a sum, by the cost of rounding and storing it; ``clusters``: of a GPU that has them."""
    if not tensor:
        return Plan(_other_tile(m, n, dtype, sms), 8, 1, False)
    depth, kinds = 128 // BYTES[dtype], _kinds(batch, after, clusters)
    one = Product(m, n, ct.cdiv(k, depth), max(1, batch), after)
    ways = [(one, p) for p in _plans(one, depth, False, sms, kinds)]
    if "p" in kinds:
        turned = one._replace(rows=n, cols=m)
        ways += [(turned, p) for p in _plans(turned, depth, True, sms, kinds)]
    return min(_timed(product, way, sms) for product, way in ways)[1]
