# SPDX-License-Identifier: Apache-2.0
"""Random numbers by Philox 4x32-10 (Salmon, Moraes, Dror & Shaw, "Parallel random numbers: as easy as
1, 2, 3", 2011).

Counter based: element 4 i + j of an array comes from word j of counter ``offset + i`` under the key
``seed``, whatever the tile size and the device; nothing is kept between calls. Normal numbers take a pair
of words each two elements (Box & Muller, 1958).
"""

from __future__ import annotations

import math
from typing import Any

import tessera.tile as ct

from . import dtype_name, view

WORDS = 256  # counters of a tile: one for each thread of a GPU's block, four numbers each
TILES = 8  # tiles of a block


def _multiply(a: Any, b: Any) -> Any:
    """High and low word of a product."""
    p = ct.astype(a, ct.uint64) * ct.uint64(b)
    return ct.astype(p >> ct.uint64(32), ct.uint32), ct.astype(p, ct.uint32)


def philox(c0: Any, c1: Any, c2: Any, c3: Any, k0: Any, k1: Any) -> Any:
    """Ten rounds on a counter of four words under a key of two."""
    for _ in ct.static_iter(range(10)):
        high0, low0 = _multiply(c0, 0xD2511F53)
        high1, low1 = _multiply(c2, 0xCD9E8D57)
        c0, c1, c2, c3 = high1 ^ c1 ^ k0, low1, high0 ^ c3 ^ k1, low0
        k0, k1 = k0 + ct.uint32(0x9E3779B9), k1 + ct.uint32(0xBB67AE85)
    return c0, c1, c2, c3


def _words(tile: Any, key: Any) -> Any:
    """The four words of each counter of a tile; key: seed and offset, low word first."""
    seed0, seed1, low, high = tuple(ct.astype(k, ct.uint32) for k in ct.static_iter(key))
    c0 = low + ct.astype(tile * WORDS + ct.arange(WORDS, dtype=ct.int32), ct.uint32)
    c1 = high + ct.astype(c0 < low, ct.uint32)
    zero = ct.zeros((WORDS,), dtype=ct.uint32)
    return philox(c0, c1, zero, zero, seed0, seed1)


def _in_turn(a: Any, b: Any, c: Any, d: Any) -> Any:
    """Four tiles of n elements as one of 4 n that takes from each in turn."""
    a, b, c, d = tuple(ct.expand_dims(x, 1) for x in ct.static_iter((a, b, c, d)))
    j = ct.expand_dims(ct.arange(4, dtype=ct.int32), 0)
    return ct.reshape(ct.where(j < 2, ct.where(j == 0, a, b), ct.where(j == 2, c, d)), (4 * WORDS,))


def _unit(word: Any) -> Any:
    """A float of [0, 1) from the upper 24 bits."""
    return ct.astype(word >> ct.uint32(8), ct.float32) * 2.0**-24


def _pair(a: Any, b: Any) -> Any:
    """Two normal numbers from two words."""
    r = ct.sqrt(ct.log(1.0 - _unit(a)) * -2.0)
    t = _unit(b) * (2 * math.pi)
    return r * ct.cos(t), r * ct.sin(t)


@ct.kernel
def bits_kernel(out, seed0: int, seed1: int, low: int, high: int):
    for i in range(TILES):
        tile = ct.bid(0) * TILES + i
        a, b, c, d = _words(tile, (seed0, seed1, low, high))
        ct.store(out, index=(tile,), tile=ct.astype(_in_turn(a, b, c, d), out.dtype))


@ct.kernel
def uniform_kernel(out, seed0: int, seed1: int, low: int, high: int):
    for i in range(TILES):
        tile = ct.bid(0) * TILES + i
        a, b, c, d = _words(tile, (seed0, seed1, low, high))
        ct.store(out, index=(tile,), tile=_in_turn(_unit(a), _unit(b), _unit(c), _unit(d)))


@ct.kernel
def normal_kernel(out, seed0: int, seed1: int, low: int, high: int):
    for i in range(TILES):
        tile = ct.bid(0) * TILES + i
        a, b, c, d = _words(tile, (seed0, seed1, low, high))
        a, b = _pair(a, b)
        c, d = _pair(c, d)
        ct.store(out, index=(tile,), tile=_in_turn(a, b, c, d))


_fast_normal_kernel = normal_kernel.replace_hints(fastmath=True)


def _fill(kernel: Any, out: Any, seed: int, offset: int, stream: Any) -> None:
    flat = view(out, (math.prod(out.shape),))
    if flat.shape[0] == 0:
        return
    if flat.shape[0] >= 2**31:
        raise ValueError(f"{flat.shape[0]} numbers; fill at most 2**31 - 1 in one call")
    for name, value in (("seed", seed), ("offset", offset)):
        if not 0 <= value < 2**64:
            raise ValueError(f"{name} is {value}; it must be from 0 to 2**64 - 1")
    words = [n >> s & 0xFFFFFFFF for n in (seed, offset) for s in (0, 32)]
    signed = [w - 2**32 if w >= 2**31 else w for w in words]
    blocks = ct.cdiv(flat.shape[0], 4 * WORDS * TILES)
    ct.launch(stream, (blocks, 1, 1), kernel, (flat, *signed))


def _want(out: Any, *names: str) -> None:
    if dtype_name(out) not in names:
        raise TypeError(
            f"random numbers of dtype {dtype_name(out)}; it must be {' or '.join(names)}"
        )


def bits(out: Any, seed: int, offset: int = 0, stream: Any = None) -> None:
    """Fills a uint32 or int32 array with random words."""
    _want(out, "uint32", "int32")
    _fill(bits_kernel, out, seed, offset, stream)


def uniform(out: Any, seed: int, offset: int = 0, stream: Any = None) -> None:
    """Fills a float32 array with numbers of [0, 1): multiples of 2**-24, each equally likely."""
    _want(out, "float32")
    _fill(uniform_kernel, out, seed, offset, stream)


def normal(out: Any, seed: int, offset: int = 0, stream: Any = None, fast: bool = False) -> None:
    """Fills a float32 array with normal numbers of mean 0 and variance 1.

    The same bits on every device; with ``fast`` a GPU takes its approximate logarithm, sine and cosine,
    which changes the last bits.
    """
    _want(out, "float32")
    _fill(_fast_normal_kernel if fast else normal_kernel, out, seed, offset, stream)
