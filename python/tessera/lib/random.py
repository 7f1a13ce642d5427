# SPDX-License-Identifier: Apache-2.0
"""Random numbers by Philox 4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", 2011).

Counter based: element 4 i + j of an array is word j of counter ``offset + i`` under the key ``seed``, whatever
the tile size and the device; nothing is kept between calls.
"""

from __future__ import annotations

from typing import Any

import tessera.tile as ct

WORDS = 256  # counters of a block: one for each thread of a GPU, four numbers each


def _multiply(a: Any, b: Any) -> Any:
    """High and low word of a 32 x 32 bit product."""
    p = ct.astype(a, ct.uint64) * ct.uint64(b)
    return ct.astype(p >> ct.uint64(32), ct.uint32), ct.astype(p, ct.uint32)


def philox(c0: Any, c1: Any, c2: Any, c3: Any, k0: Any, k1: Any) -> Any:
    """Ten rounds on a counter of four words with a key of two."""
    for _ in ct.static_iter(range(10)):
        h0, l0 = _multiply(c0, 0xD2511F53)
        h1, l1 = _multiply(c2, 0xCD9E8D57)
        c0, c1, c2, c3 = h1 ^ c1 ^ k0, l1, h0 ^ c3 ^ k1, l0
        k0, k1 = k0 + ct.uint32(0x9E3779B9), k1 + ct.uint32(0xBB67AE85)
    return c0, c1, c2, c3


def _words(block: Any, seed_low: Any, seed_high: Any, offset: Any) -> Any:
    i = ct.arange(WORDS, dtype=ct.uint32) + ct.astype(block, ct.uint32) * ct.uint32(WORDS)
    zero = ct.zeros((WORDS,), dtype=ct.uint32)
    return philox(i, zero, zero, zero, seed_low, seed_high)


def _side_by_side(a: Any, b: Any, c: Any, d: Any) -> Any:
    """Four tiles of n elements as one of 4 n, taking turns."""
    j = ct.expand_dims(ct.arange(4, dtype=ct.int32), 0)
    a, b, c, d = ct.expand_dims(a, 1), ct.expand_dims(b, 1), ct.expand_dims(c, 1), ct.expand_dims(d, 1)
    return ct.reshape(ct.where(j == 0, a, ct.where(j == 1, b, ct.where(j == 2, c, d))), (4 * WORDS,))


def _unit(word: Any) -> Any:
    """[0, 1), 24 bits."""
    return ct.astype(word >> ct.uint32(8), ct.float32) * 2.0**-24


@ct.kernel
def bits_kernel(out, seed_low: int, seed_high: int):
    a, b, c, d = _words(ct.bid(0), ct.astype(seed_low, ct.uint32), ct.astype(seed_high, ct.uint32), 0)
    ct.store(out, index=(ct.bid(0),), tile=_side_by_side(a, b, c, d))


@ct.kernel
def uniform_kernel(out, seed_low: int, seed_high: int):
    a, b, c, d = _words(ct.bid(0), ct.astype(seed_low, ct.uint32), ct.astype(seed_high, ct.uint32), 0)
    ct.store(out, index=(ct.bid(0),), tile=_side_by_side(_unit(a), _unit(b), _unit(c), _unit(d)))


def _pair(a: Any, b: Any) -> Any:
    r = ct.sqrt(ct.log(1.0 - _unit(a)) * -2.0)
    t = _unit(b) * 6.283185307179586
    return r * ct.cos(t), r * ct.sin(t)


@ct.kernel
def normal_kernel(out, seed_low: int, seed_high: int):
    a, b, c, d = _words(ct.bid(0), ct.astype(seed_low, ct.uint32), ct.astype(seed_high, ct.uint32), 0)
    a, b = _pair(a, b)
    c, d = _pair(c, d)
    ct.store(out, index=(ct.bid(0),), tile=_side_by_side(a, b, c, d))
