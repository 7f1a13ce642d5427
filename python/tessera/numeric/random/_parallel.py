# SPDX-License-Identifier: Apache-2.0
"""Uniform numbers of NumPy's streams by all of a device at once: PCG64 and Philox can jump to any place of theirs.

Element i of an array is made from word i of the stream, whatever the tile and the device; the bit generator is then
moved behind the last word. Philox 4x64-10 encrypts a counter, four words each. PCG64 is x -> a x + c modulo 2**128:
powers of that map, in tables, take a block to its first state and each of its elements from there to its own.
"""

from __future__ import annotations

import functools
import math
import operator
from typing import Any

import numpy

import tessera.tile as ct

from .. import _functions as f
from .._ndarray import ndarray
from .._setup import memory

LANES = 1024  # words of a tile of PCG64
TILES = 8  # tiles of a block of PCG64
POWERS = 40  # most bits of a block's number
COUNTERS = 256  # of a tile of Philox
LEAST = 1 << 13  # numbers from which on it is faster than one after the other
MULTIPLIER = 0x2360ED051FC65DA44385DF649FCCF645
WORD = (1 << 64) - 1


# -- words of 64 bits, in the tile language ------------------------------------------------------------


def _high(a: Any, b: Any) -> Any:
    """The upper word of a product."""
    mask, half = ct.uint64(0xFFFFFFFF), ct.uint64(32)
    a0, a1, b0, b1 = a & mask, a >> half, b & mask, b >> half
    cross, other = a0 * b1, a1 * b0
    middle = ((a0 * b0) >> half) + (cross & mask) + (other & mask)
    return a1 * b1 + (cross >> half) + (other >> half) + (middle >> half)


def _step(high: Any, low: Any, a1: Any, a0: Any, c1: Any, c0: Any) -> Any:
    """a * x + c modulo 2**128 of pairs of words."""
    product = low * a0
    result = product + c0
    carry = ct.astype(result < product, ct.uint64)
    return _high(low, a0) + high * a0 + low * a1 + c1 + carry, result


def _in_turn(tiles: Any, N: Any) -> Any:
    """Tiles of one length as one that takes from each in turn."""
    j = ct.expand_dims(ct.arange(N, dtype=ct.int32), 0)
    made = ct.expand_dims(tiles[0], 1) + ct.zeros((tiles[0].shape[0], N), dtype=tiles[0].dtype)
    for k in ct.static_iter(range(1, N)):
        made = ct.where(j == k, ct.expand_dims(tiles[k], 1), made)
    return ct.reshape(made, (tiles[0].shape[0] * N,))


def _numbers(words: Any, dtype: Any) -> Any:
    """What words become: themselves, doubles of 53 bits, or two floats of 24 bits, the lower half's first."""
    if dtype == ct.uint64:
        return words
    if dtype == ct.float64:
        return ct.astype(words >> ct.uint64(11), ct.float64) * 2.0**-53
    low = ct.astype(words & ct.uint64(0xFFFFFFFF), ct.uint32) >> ct.uint32(8)
    high = ct.astype(words >> ct.uint64(32), ct.uint32) >> ct.uint32(8)
    return ct.astype(_in_turn((low, high), 2), ct.float32) * 2.0**-24


# -- kernels -------------------------------------------------------------------------------------------


def _word(table: Any, row: Any, at: Any) -> Any:
    return ct.reshape(ct.load(table, index=(row, at), shape=(1, 1)), (1,))


def _four(table: Any, at: Any) -> Any:
    return tuple(_word(table, i, at) for i in ct.static_iter(range(4)))


@ct.kernel
def pcg64_kernel(
    out, state, powers, lanes,
    LANES: ct.Constant[int], TILES: ct.Constant[int], POWERS: ct.Constant[int],
):  # fmt: skip
    """state: its two words. powers: the maps of TILES * LANES * 2**k steps; lanes: those of 1, 2, .. LANES steps."""
    block = ct.bid(0)
    high, low = _word(state, 0, 0), _word(state, 0, 1)
    for k in range(POWERS):
        if (block >> k) & 1 == 1:
            a1, a0, c1, c0 = _four(powers, k)
            high, low = _step(high, low, a1, a0, c1, c0)
    rows = tuple(
        ct.reshape(ct.load(lanes, index=(i, 0), shape=(1, LANES)), (LANES,))
        for i in ct.static_iter(range(4))
    )
    last = _four(lanes, LANES - 1)
    for tile in range(TILES):
        x1, x0 = _step(high, low, rows[0], rows[1], rows[2], rows[3])
        turn = x1 >> ct.uint64(58)
        both = x1 ^ x0
        words = (both >> turn) | (both << ((ct.uint64(64) - turn) & ct.uint64(63)))
        ct.store(out, index=(block * TILES + tile,), tile=_numbers(words, out.dtype))
        high, low = _step(high, low, last[0], last[1], last[2], last[3])


@ct.kernel
def philox_kernel(out, state, COUNTERS: ct.Constant[int]):
    """state: four words of the counter of the first words, two of the key."""
    tile = ct.bid(0)
    place = ct.astype(tile, ct.uint64) * ct.uint64(COUNTERS)
    c0 = _word(state, 0, 0) + place + ct.astype(ct.arange(COUNTERS, dtype=ct.int32), ct.uint64)
    zero = ct.zeros((COUNTERS,), dtype=ct.uint64)
    c1, c2, c3 = tuple(_word(state, 0, i) + zero for i in ct.static_iter(range(1, 4)))
    k0, k1 = _word(state, 0, 4), _word(state, 0, 5)
    m0, m1 = ct.uint64(0xD2E7470EE14C6C93), ct.uint64(0xCA5A826395121157)
    for _ in ct.static_iter(range(10)):
        c0, c1, c2, c3 = _high(c2, m1) ^ c1 ^ k0, c2 * m1, _high(c0, m0) ^ c3 ^ k1, c0 * m0
        k0, k1 = k0 + ct.uint64(0x9E3779B97F4A7C15), k1 + ct.uint64(0xBB67AE8584CAA73B)
    ct.store(out, index=(tile,), tile=_numbers(_in_turn((c0, c1, c2, c3), 4), out.dtype))


# -- PCG64 ---------------------------------------------------------------------------------------------


def _words_of(maps: list[tuple[int, int]]) -> numpy.ndarray[Any, Any]:
    """Pairs a, c of 128 bits as rows of their words, upper ones first."""
    return numpy.array(
        [[x >> 64 & WORD for x, _ in maps], [x & WORD for x, _ in maps],
         [x >> 64 & WORD for _, x in maps], [x & WORD for _, x in maps]],
        numpy.uint64,
    )  # fmt: skip


@functools.lru_cache(16)
def _tables(increment: int, device: str) -> tuple[ndarray, ndarray]:
    """The maps of a stream of PCG64, for blocks and for lanes."""

    def after(one: tuple[int, int], other: tuple[int, int]) -> tuple[int, int]:
        (a, c), (b, d) = one, other
        return a * b % (1 << 128), (b * c + d) % (1 << 128)

    lanes = [(MULTIPLIER, increment)]
    while len(lanes) < LANES:
        lanes.append(after(lanes[-1], lanes[0]))
    powers = [lanes[-1]]
    for _ in range(TILES.bit_length() - 1):
        powers = [after(powers[0], powers[0])]
    while len(powers) < POWERS:
        powers.append(after(powers[-1], powers[-1]))
    return f.array(_words_of(powers)), f.array(_words_of(lanes))


def _draw_pcg64(bits: Any, out: ndarray, words: int) -> None:
    before = bits.state
    inner = before["state"]
    powers, lanes = _tables(inner["inc"], out.device)
    state = f.array(numpy.array([[inner["state"] >> 64, inner["state"] & WORD]], numpy.uint64))
    blocks = -(-words // (LANES * TILES))
    arrays = (memory(each, True) for each in (out, state, powers, lanes))
    ct.launch(None, (blocks, 1, 1), pcg64_kernel, (*arrays, LANES, TILES, blocks.bit_length()))
    bits.advance(words)
    bits.state = bits.state | {name: before[name] for name in ("has_uint32", "uinteger")}


# -- Philox --------------------------------------------------------------------------------------------


def _draw_philox(bits: Any, out: ndarray, words: int) -> None:
    before = bits.state
    counter, key = (numpy.asarray(before["state"][name]) for name in ("counter", "key"))
    first = counter.copy()
    first[0] += 1
    state = f.array(numpy.concatenate([first, key])[None])
    blocks = -(-words // (4 * COUNTERS))
    arrays = (memory(each, True) for each in (out, state))
    ct.launch(None, (blocks, 1, 1), philox_kernel, (*arrays, COUNTERS))
    counter = counter.copy()
    counter[0] += (words - 1) // 4  # the last words are drawn once more, which fills the buffer
    bits.state = before | {"state": {"counter": counter, "key": key}, "buffer_pos": 4}
    bits.random_raw((words - 1) % 4 + 1)


def _can_philox(state: Any, words: int) -> bool:
    """Whether its next word begins a counter, and the counter's first word does not pass its end."""
    return bool(
        state["buffer_pos"] == 4 and int(state["state"]["counter"][0]) + words // 4 + 2 < 1 << 64
    )


# -- what Generator calls ------------------------------------------------------------------------------

_DRAWS = {numpy.random.PCG64: _draw_pcg64, numpy.random.Philox: _draw_philox}


def _draw_of(bits: Any, n: int, words: int, single: bool) -> Any:
    """The function that draws from this stream; None: it cannot jump, stands between two words, or n is small."""
    draw = next((each for kind, each in _DRAWS.items() if isinstance(bits, kind)), None)
    if draw is None or n < LEAST:
        return None
    state = bits.state
    if single and (state["has_uint32"] or n % 2):
        return None
    return draw if draw is _draw_pcg64 or _can_philox(state, words) else None


def random(bits: Any, size: Any, dtype: Any) -> ndarray | None:
    """A new array of numbers from [0, 1) of float32 or float64; None: NumPy is to draw them."""
    dtype = numpy.dtype(dtype)
    if size is None or dtype not in (numpy.float32, numpy.float64):
        return None
    try:
        shape = (operator.index(size),)
    except TypeError:
        shape = tuple(map(operator.index, size))
    n = math.prod(shape)
    words = n if dtype == numpy.float64 else (n + 1) // 2
    draw = _draw_of(bits, n, words, dtype == numpy.float32) if all(m > 0 for m in shape) else None
    if draw is None:
        return None
    out = f.empty(n, dtype)
    draw(bits, out, words)
    return out.reshape(shape)
