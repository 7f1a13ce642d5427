# SPDX-License-Identifier: Apache-2.0
"""Radix sort of the items of a block: four bits in a pass, from the least ones up.

A pass counts: each thread has a counter for each of the 16 digits, two in a word (digit and digit + 8). The counters in
the order of digits, then of threads, are scanned: what stands before a counter is the place of the thread's first item
of that digit. Its others follow, so the sort is stable.

    bits of a number, in unsigned order     int32    x ^ 0x80000000
                                            float32  ~x where the sign is set, else x ^ 0x80000000; -0.0 is 0.0
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..cuda import _device as cuda
from ..cuda._device import refuse, reinterpreted
from ._block_scan import exclusive_sum
from ._items import are_items, items_of
from ._memory import slot, slots
from ._merge_sort import entries_back, entries_of
from ._values import block_size, linear, shared_like

__all__ = ["radix_rank", "radix_sort", "top_k"]

RADIX_BITS = 4
LANES = 8  # words of counters of a thread


def word_of(x: Any) -> Any:
    """The unsigned dtype of as many bits."""
    bits = x.dtype.bitwidth
    return np.uint8 if bits <= 8 else np.uint16 if bits == 16 else np.uint32 if bits == 32 else np.uint64


def ordered_bits(x: Any, descending: bool) -> Any:
    """The number as an unsigned one that sorts alike."""
    kind = x.dtype.kind
    if kind not in ("b", "i", "u", "f"):
        refuse(f"radix_sort() of {x.dtype.name}: keys are integers, floats or bools; merge_sort() takes any")
    word = word_of(x)
    if kind == "b" or kind == "u":
        bits = word(x)
    else:
        top = 1 << (x.dtype.bitwidth - 1)
        bits = reinterpreted(x, word)
        if kind == "f":
            bits = word(0) if x == 0 else bits
            bits = word(~bits) if bits >= word(top) else word(bits ^ word(top))
        else:
            bits = word(bits ^ word(top))
    return word(~bits) if descending else bits


def digit_of(bits: Any, begin: Any, count: Any) -> Any:
    """``count`` bits from ``begin`` on, at most four."""
    word = bits.dtype
    return np.int32(word(bits >> word(begin)) & word((1 << count) - 1))


def rank_digits(digits: Any, threads: Any) -> Any:
    """The place of each item when the block's are sorted by these digits, and the counters' scan: for each digit how
    many items have a lesser one is in it."""
    size, tid, n = block_size(threads), linear(threads), len(digits)
    if size * n > 65535:
        refuse(f"{n} items of {size} threads: radix sort takes up to 65535 items of a block")
    counters = shared_like(slots(LANES * size), np.uint32(0))
    for lane in tuple(range(LANES)):
        counters[slot(lane * size + tid)] = np.uint32(0)
    before: Any = ()
    for digit in digits:
        at, shift = slot((digit & 7) * size + tid), np.uint32(digit >> 3) * np.uint32(16)
        word = counters[at]
        before += (np.int32(np.uint32(word >> shift) & np.uint32(0xFFFF)),)
        counters[at] = np.uint32(word + (np.uint32(1) << shift))
    cuda.syncthreads()
    mine = tuple(counters[slot(tid * LANES + lane)] for lane in range(LANES))
    total = mine[0]
    for word in mine[1:]:
        total = np.uint32(total + word)
    running, all_ = exclusive_sum(total, threads=threads, aggregate=True, sync=False)
    running = np.uint32(running + np.uint32(np.uint32(all_ & np.uint32(0xFFFF)) << np.uint32(16)))
    for lane in tuple(range(LANES)):
        counters[slot(tid * LANES + lane)] = running
        running = np.uint32(running + mine[lane])
    cuda.syncthreads()
    ranks: Any = ()
    for i in tuple(range(n)):
        at, shift = slot((digits[i] & 7) * size + tid), np.uint32(digits[i] >> 3) * np.uint32(16)
        ranks += (np.int32(np.uint32(counters[at] >> shift) & np.uint32(0xFFFF)) + before[i],)
    return ranks


def sort_entries(entries: Any, threads: Any, begin: Any, end: Any, descending: bool, target: str) -> Any:
    """Entries in the order of some bits of their keys."""
    size, tid, n = block_size(threads), linear(threads), len(entries)
    place = shared_like(slots(size * n), entries[0])
    bit = begin
    while bit < end:
        count = min(end - bit, RADIX_BITS)
        digits = tuple(digit_of(ordered_bits(entry[0], descending), bit, count) for entry in entries)
        ranks = rank_digits(digits, threads)
        for i in tuple(range(n)):
            place[slot(ranks[i])] = entries[i]
        cuda.syncthreads()
        entries = tuple(place[slot(tid * n + i)] for i in range(n))
        bit += RADIX_BITS
    if target == "blocked":
        return entries
    for i in tuple(range(n)):
        place[slot(tid * n + i)] = entries[i]
    cuda.syncthreads()
    return tuple(place[slot(tid + i * size)] for i in range(n))


def key_bits(keys: Any) -> int:
    """How many bits a key has."""
    key = items_of(keys)[0]
    return 1 if key.dtype.kind == "b" else key.dtype.bitwidth


# ---- for users -----------------------------------------------------------------------------------------


def radix_sort(
    keys: Any, *, threads: Any, values: Any = None, begin_bit: Any = 0, end_bit: Any = None, descending: bool = False,
    to: str = "blocked", sync: bool = True,
) -> Any:  # fmt: skip
    """Sorts the items of a block by their bits.

    Parameters
    ----------
    keys : number or items
        Integers, floats or bools that each thread has, in the order of the threads. An array is sorted in place.
    threads : int or tuple of int
        The threads of the block, as it is launched. A constant.
    values : value or items, optional
        Go with the keys; the result is a pair then.
    begin_bit, end_bit : int, optional
        The bits that count, of the key as an unsigned number of the same order; all of them.
    descending : bool
        The greatest first; equal ones keep their order then, too.
    to : str
        ``"blocked"`` or ``"striped"``: the arrangement of the result.
    sync : bool
        Ends with a barrier, so that the call may be repeated at once.

    Returns
    -------
    items, or pair of items

    Notes
    -----
    Stable. -0.0 and 0.0 are equal, NaNs stand where their bits do. Shared memory: all keys and values, and 32 bytes for
    each thread.
    """
    if to not in ("blocked", "striped"):
        refuse(f"to={to!r}: 'blocked' or 'striped'")
    end = key_bits(keys) if end_bit is None else end_bit
    entries = sort_entries(entries_of(keys, values), threads, begin_bit, end, descending, to)
    if sync:
        cuda.syncthreads()
    return entries_back(keys, values, entries)


def radix_rank(
    keys: Any, *, threads: Any, begin_bit: Any = 0, bits: Any = RADIX_BITS, descending: bool = False, sync: bool = True
) -> Any:
    """The place of each item when the block's are sorted by ``bits`` of their bits (4 at most), from ``begin_bit``
    on."""
    if bits < 1 or bits > RADIX_BITS:
        refuse(f"bits={bits}: radix_rank() takes 1 to {RADIX_BITS} bits")
    digits = tuple(digit_of(ordered_bits(key, descending), begin_bit, bits) for key in items_of(keys))
    ranks = rank_digits(digits, threads)
    if sync:
        cuda.syncthreads()
    return ranks if are_items(keys) else ranks[0]


def top_k(
    keys: Any, k: Any, *, threads: Any, values: Any = None, largest: bool = True, sync: bool = True
) -> Any:
    """The ``k`` greatest (or least) items of a block, in order, in its first places; behind them stand others.

    Of equal ones the first come first. Parameters and result as for `radix_sort`.
    """
    if k < 1:
        refuse(f"k={k}: top_k() gives one item or more")
    return radix_sort(keys, threads=threads, values=values, descending=largest, sync=sync)
