# SPDX-License-Identifier: Apache-2.0
"""How a matrix product runs on a GPU: the tile, the pieces of K, and operands the tensor-core path can take.

Times are counted in clocks of one multiprocessor of an H200 (measured there): an instruction of 64 rows, n columns
and 32 bytes of K takes n / 2 clocks (narrow ones 16 + n / 4), operands arrive at 62 bytes a clock, all
multiprocessors together stream 2,400 bytes a clock from memory.
"""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import tessera
import tessera.tile as ct

BYTES = {"float64": 8, "float32": 4, "float16": 2, "bfloat16": 2, "int8": 1, "float8_e4m3fn": 1, "float8_e5m2": 1}
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
START, LAST_BLOCK = 2500, 3000


class Plan(NamedTuple):
    """Tile (rows, columns, depth), rows of tiles in a group, pieces of K, and whether C is made transposed."""

    tile: tuple[int, int, int]
    group: int
    pieces: int
    swapped: bool


@functools.lru_cache(maxsize=64)
def _name(dtype: Any) -> str:
    return str(getattr(dtype, "name", dtype)).rpartition(".")[2]


def dtype_name(array: Any) -> str:
    """"bfloat16" of any library's bfloat16."""
    return _name(array.dtype)


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


def _step(rows: int, cols: int) -> int:
    """128 bytes of K: products, or the operands' way to shared memory."""
    instruction = cols // 2 if cols >= 64 else 16 + cols // 4
    return max(rows // 64 * 4 * instruction, (rows + cols) * 128 // L2_RATE)


def _cost(m: int, n: int, steps: int, rows: int, cols: int, pieces: int, sms: int) -> int:
    tiles = ct.cdiv(m, rows) * ct.cdiv(n, cols) * pieces
    waves = ct.cdiv(tiles, sms)
    tile = ct.cdiv(steps, pieces) * _step(rows, cols) + rows * cols // 24
    memory = ((m + n) * steps * 128 + 2 * m * n) // MEMORY_RATE
    partial = LAST_BLOCK + pieces * m * n * 8 // (2 * MEMORY_RATE) if pieces > 1 else 0
    return START + max(waves * tile, memory) + waves * tile // 8 + partial


def _other_tile(m: int, n: int, dtype: str, sms: int) -> tuple[int, int, int]:
    """The tile of products without wgmma that leaves the busiest multiprocessor the least to do."""

    def cost(way: tuple[int, int, int, int]) -> int:
        rows, cols, _, percent = way
        return ct.cdiv(ct.cdiv(m, rows) * ct.cdiv(n, cols), sms) * rows * cols * percent

    return min(OTHERS[dtype.partition("_")[0]], key=cost)[:3]


@functools.lru_cache(maxsize=4096)
def plan(m: int, n: int, k: int, dtype: str, sms: int, tensor: bool = True) -> Plan:
    """The cheapest way for ``c[m, n] = a[m, k] @ b[k, n]``; ``tensor``: wgmma can take the type."""
    if not tensor:
        return Plan(_other_tile(m, n, dtype, sms), 8, 1, False)
    depth = 128 // BYTES[dtype]
    swapped = m <= 32 < n
    if swapped:
        m, n = n, m
    steps = ct.cdiv(k, depth)
    pieces = [p for p in (1, 2, 4, 8, 16) if p == 1 or steps // p >= 8]
    ways = [(r, c, p) for r, c in ROWS_AND_COLUMNS for p in pieces]
    rows, cols, p = min(ways, key=lambda w: _cost(m, n, steps, *w, sms))
    return Plan((rows, cols, depth), 16 if m >= 64 * rows else 8, p, swapped)


# ---- arrays of other libraries -----------------------------------------------------------------------------


def device_of(array: Any) -> str:
    """The device's name as ``tessera.empty`` takes it."""
    device = getattr(array, "device", None)
    name = str(device)
    return name if name.startswith("cuda") else f"cuda:{getattr(device, 'id', 0)}"


def _strides(array: Any) -> tuple[int, ...]:
    """In elements."""
    if hasattr(array, "data_ptr"):
        return tuple(array.stride())
    strides = array.__cuda_array_interface__.get("strides")
    if strides is None:
        return (array.shape[1], 1)
    return tuple(s // BYTES[dtype_name(array)] for s in strides)


def look(array: Any) -> tuple[Any, ...]:
    """All that the way of a product depends on; the address last."""
    try:
        return array.shape, array.stride(), array.dtype, array.data_ptr() & 15
    except AttributeError:
        view = array.__cuda_array_interface__
        return view["shape"], view.get("strides"), str(array.dtype), view["data"][0] & 15


def _handle(stream: Any) -> int:
    """The driver's handle of a stream of any library; 0 is the default stream."""
    if stream is None or isinstance(stream, int):
        return stream or 0
    return next(int(getattr(stream, a)) for a in ("cuda_stream", "ptr", "handle") if hasattr(stream, a))


def room(shape: tuple[int, ...], dtype: str, device: str, stream: Any) -> Any:
    """An array for this launch. Memory comes in the order of the default stream: others wait for that."""
    array = tessera.empty(shape, dtype, device)
    if _handle(stream):
        tessera.synchronize(device)
    return array


_tickets: dict[tuple[str, int], Any] = {}


def tickets(n: int, device: str, stream: Any) -> Any:
    """Counters that are zero between launches, one set a stream: the last block of a tile clears its own."""
    key = device, _handle(stream)
    kept = _tickets.get(key)
    if kept is None or kept.shape[0] < n:
        kept = _tickets[key] = tessera.zeros((max(1024, n),), "int32", device)
        tessera.synchronize(device)
    return kept


# ---- operands ---------------------------------------------------------------------------------------------

COPY_TILE = (32, 128)


@ct.function
def copy_tile(x, y, block, TM, TN):
    """Tile ``block`` of y = x, zero where x ends."""
    cols = ct.cdiv(y.shape[1], TN)
    i, j = block // cols, block % cols
    t = ct.load(x, index=(i, j), shape=(TM, TN), padding_mode=ct.PaddingMode.ZERO)
    ct.store(y, index=(i, j), tile=t)


@ct.kernel
def copy_kernel(x, y, TM: ct.Constant[int], TN: ct.Constant[int]):
    copy_tile(x, y, ct.bid(0), TM, TN)


@ct.kernel
def copy_both_kernel(x, y, x2, y2, TM: ct.Constant[int], TN: ct.Constant[int]):
    """Two copies in one launch."""
    first = ct.cdiv(y.shape[0], TM) * ct.cdiv(y.shape[1], TN)
    block = ct.bid(0)
    if block < first:
        copy_tile(x, y, block, TM, TN)
    else:
        copy_tile(x2, y2, block - first, TM, TN)


def unit_of_copy(array: Any, k_axis: int, major: bool) -> int | None:
    """The axis of unit stride of the copy that TMA needs; None when it can load the array as it is: one axis of unit
    stride (that of K if ``major``), everything else in units of 16 bytes."""
    size, strides = BYTES[dtype_name(array)], _strides(array)
    unit = next((d for d in (1, 0) if strides[d] == 1 and (not major or d == k_axis)), None)
    if unit is not None and look(array)[3] == 0 and strides[1 - unit] * size % 16 == 0:
        return None
    return k_axis if unit is None else unit


class Copy(NamedTuple):
    """Axis of unit stride; extents, which end in zeros."""

    unit: int
    shape: tuple[int, int]


def _copy(array: Any, unit: int, least: tuple[int, int]) -> Copy:
    """Rows in units of 16 bytes, extents in units of ``least``."""
    shape = [ct.cdiv(int(extent), step) * step for extent, step in zip(array.shape, least, strict=True)]
    step = 16 // BYTES[dtype_name(array)]
    shape[unit] = ct.cdiv(shape[unit], step) * step
    return Copy(unit, (shape[1 - unit], shape[unit]))


def copied(arrays: list[Any], copies: list[Copy | None], stream: Any) -> list[Any]:
    """Copies of those arrays that need one, in one launch."""
    pairs, found, blocks = [], list(arrays), 0
    for i, (array, wanted) in enumerate(zip(arrays, copies, strict=True)):
        if wanted is None:
            continue
        source, unit, rows = array if wanted.unit == 1 else array.T, wanted.unit, wanted.shape[0]
        copy = room(wanted.shape, dtype_name(array), device_of(array), stream)
        blocks += ct.cdiv(rows, COPY_TILE[0]) * ct.cdiv(copy.shape[1], COPY_TILE[1])
        pairs += [source, copy]
        found[i] = copy if unit == 1 else copy.T
    if pairs:
        kernel = copy_kernel if len(pairs) == 2 else copy_both_kernel
        ct.launch(stream, (blocks, 1, 1), kernel, (*pairs, *COPY_TILE))
    return found


# ---- ways -------------------------------------------------------------------------------------------------


class Way(NamedTuple):
    """A plan for arrays as they lie: what is copied, the grid, the constants of the kernel, room for pieces."""

    copies: list[Copy | None]
    swapped: bool
    grid: tuple[int, int, int]
    constants: tuple[Any, ...]
    parts: tuple[int, int, int] | None
    sums: str
    device: str


_ways: dict[tuple[Any, ...], Way] = {}


def way_of(key: tuple[Any, ...]) -> Way | None:
    """What was found for these looks and options before."""
    return _ways.get(key)


def find_way(key: tuple[Any, ...], a: Any, b: Any, c: Any, flags: tuple[bool, bool]) -> Way:
    """Once for each shape, layout and type."""
    if len(_ways) > 4096:
        _ways.clear()
    _ways[key] = way = _find_way(a, b, c, flags)
    return way


def _copies(a: Any, b: Any, rows: int, major: bool) -> list[Copy | None]:
    """``rows``: of a tile that alone holds all rows of a; loads that reach far beyond an array are slow."""
    units = [unit_of_copy(a, 1, major), unit_of_copy(b, 0, major)]
    if rows and a.shape[0] % rows and units[0] is None:
        units[0] = 1 if _strides(a)[1] == 1 else 0
    least = [(rows or 1, 1), (1, 1)]
    return [None if u is None else _copy(x, u, n) for x, u, n in zip((a, b), units, least, strict=True)]


def _find_way(a: Any, b: Any, c: Any, flags: tuple[bool, bool]) -> Way:
    name, device = dtype_name(a), device_of(c)
    tensor, major = on_tensor_cores(name, flags), BYTES[name] != 2
    sms, sums = units(device), "int32" if name == "int8" else "float32"
    m, n = (int(extent) for extent in c.shape)
    chosen = plan(m, n, int(a.shape[1]), name, sms, tensor)
    height = chosen.tile[1 if chosen.swapped else 0]
    copies = _copies(a, b, height if m <= height else 0, major) if tensor else [None, None]
    if chosen.swapped:
        m, n = n, m
    rows, cols = ct.cdiv(m, chosen.tile[0]), ct.cdiv(n, chosen.tile[1])
    if chosen.pieces == 1:
        blocks = min(rows * cols, sms) if tensor else rows * cols  # those others share multiprocessors
        grid, last, parts = (blocks, 1, 1), chosen.group, None
    else:
        grid, last = (rows * cols, chosen.pieces, 1), chosen.pieces
        parts = (chosen.pieces, rows * chosen.tile[0], cols * chosen.tile[1])
    return Way(copies, chosen.swapped, grid, (*chosen.tile, last, *flags), parts, sums, device)
