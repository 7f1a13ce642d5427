# SPDX-License-Identifier: Apache-2.0
"""Radix sort on a GPU: digits of eight bits, from the least ones up, each in one sweep over the items.

    clear     counters and what tiles publish
    count     all digits of all places, in one read
    sweep     for each place: a block takes the next tile, ranks its items by digit (lanes with equal digits find each
              other, warps count in shared memory), learns by look-back how many of each digit stand in tiles before it,
              and writes them, in the order of digits

(Adinets and Merrill, "Onesweep: a faster least significant digit radix sort for GPUs", 2022.) What a tile publishes for
a digit is one word: the number of the sweep, whether tiles before it are in, and a count. Counts are whole numbers, so
nothing depends on which tile comes first.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy

from ._engine import THREADS, kernel_of
from ._radix import Digits, other_of, others_of, overlap
from .iterators import Iterator

__all__ = ["memory_of", "sort_in_sweeps"]

Function = Callable[..., Any]
_MOST_STAGED = 64  # bytes of an item that goes through shared memory, so that neighbours are written together
_VALUES, _WARPS, _PLACES = THREADS, THREADS // 32, 8  # a thread for each value of a digit
_COUNTED = 16  # items of a thread, in the read that counts
_TAG = 48  # the bits of a published word below are the count


def _per_thread(nbytes: int) -> int:
    return max(1, min(8, 64 // nbytes))


def _clearing() -> Callable[..., None]:
    from ..cuda import grid

    def clear(counts: Any, published: Any) -> None:
        i = grid(1)
        if i < counts.shape[0]:
            counts[i] = 0
        if i < published.shape[0]:
            published[i] = 0

    return clear


def _digit(width: int, bits: Function) -> Function:
    def digit(item: Any, place: Any) -> Any:
        v = bits(item)
        return numpy.int32(v >> v.dtype(8 * place) & v.dtype(255)) if 8 * place < width else numpy.int32(0)

    return digit


def _counting(digits: Digits, load: Function) -> Callable[..., None]:
    from ..cuda import atomic, blockIdx, shared, syncthreads, threadIdx

    places = digits.places
    each, digit = tuple(range(places)), _digit(digits.width, digits.bits)

    def count(src: Any, n: Any, counts: Any) -> None:
        s = shared.array(places * _VALUES, numpy.int32)
        t = threadIdx.x
        for q in each:
            s[q * _VALUES + t] = 0
        syncthreads()
        first = numpy.int64(blockIdx.x) * (THREADS * _COUNTED) + t
        for j in range(_COUNTED):
            if first + j * THREADS < n:
                item = load(src, first + j * THREADS)
                for q in each:
                    atomic.add(s, q * _VALUES + digit(item, q), 1)
        syncthreads()
        for q in each:
            if s[q * _VALUES + t] != 0:
                atomic.add(counts, q * _VALUES + t, numpy.int64(s[q * _VALUES + t]))

    return count


def _ranking() -> Function:
    """The function of a kernel that gives the place of a lane's item among those of its digit in its warp so far."""
    from ..cuda import lanemask_lt, match_any_sync, popc, syncwarp

    def rank(counts: Any, row: Any, digit: Any) -> Any:
        alike = match_any_sync(0xFFFFFFFF, digit)
        lower = alike & lanemask_lt()
        before = counts[row + digit]
        syncwarp()
        if lower == 0:
            counts[row + digit] = before + numpy.int32(popc(alike))
        syncwarp()
        return before + numpy.int32(popc(lower))

    return rank


def _looking_back() -> Function:
    """The function of a kernel that publishes a tile's count of one digit and gives that of all tiles before it."""
    from ..cuda import atomic, ldcv

    def before(published: Any, tile: Any, digit: Any, place: Any, count: Any) -> Any:
        of_tile = numpy.int64(2 * place + 1)
        of_all, found, at = of_tile + 1, numpy.int64(0), tile - 1
        if tile > 0:
            atomic.exch(published, tile * _VALUES + digit, of_tile << _TAG | count)
        while at >= 0:
            word = ldcv(published, at * _VALUES + digit)
            tag = word >> _TAG
            if tag >= of_tile:
                found += word & ((1 << _TAG) - 1)
                at = numpy.int64(-1) if tag == of_all else at - 1
        atomic.exch(published, tile * _VALUES + digit, of_all << _TAG | (found + count))
        return found

    return before


def _sweeping(digits: Digits, kind: Any, load: Function, store: Function) -> Callable[..., None]:
    from ..coop.block import exclusive_sum
    from ..cuda import atomic, shared, syncthreads, threadIdx

    dtype, get, put, cast = kind.dtype, kind.get, kind.put, kind.cast
    items, staged = _per_thread(kind.size), kind.size <= _MOST_STAGED
    each, per_tile = tuple(range(items)), items * THREADS
    digit, rank, before_tile = _digit(digits.width, digits.bits), _ranking(), _looking_back()

    def sweep(src: Any, dst: Any, n: Any, place: Any, counts: Any, published: Any) -> None:
        s, starts = shared.array(per_tile if staged else 1, dtype), shared.array(_VALUES, numpy.int64)
        ranks = shared.array(_WARPS * _VALUES, numpy.int32)  # of each warp: counts of digits, then their places
        t = threadIdx.x
        if t == 0:
            starts[0] = atomic.add(counts, _PLACES * _VALUES + place, numpy.int64(1))
        for w in range(_WARPS):
            ranks[w * _VALUES + t] = 0
        syncthreads()
        tile = starts[0]
        first = tile * per_tile
        here = numpy.int32(min(n - first, per_tile))
        row, mine = t // 32 * _VALUES, t // 32 * (32 * items) + t % 32
        kept: Any = ()
        for j in each:  # what is missing in the last tile counts as last
            i = mine + j * 32
            item = cast(load(src, first + min(i, here - 1)))
            d = digit(item, place) if i < here else numpy.int32(_VALUES - 1)
            kept += ((item, d, rank(ranks, row, d)),)
        syncthreads()
        total = numpy.int32(0)
        for w in range(_WARPS):
            count = ranks[w * _VALUES + t]
            ranks[w * _VALUES + t] = total
            total += count
        there = total - (per_tile - here) if t == _VALUES - 1 else total
        inside = exclusive_sum(total, threads=THREADS)
        outside = exclusive_sum(counts[place * _VALUES + t], threads=THREADS)
        starts[t] = outside + before_tile(published, tile, t, place, numpy.int64(there)) - inside
        for w in range(_WARPS):
            ranks[w * _VALUES + t] += inside
        syncthreads()
        for j in each:
            item, d, up = kept[j]
            if staged:
                put(s, ranks[row + d] + up, item)
            elif mine + j * 32 < here:
                store(dst, starts[d] + (ranks[row + d] + up), item)
        if staged:
            syncthreads()
            for j in each:
                i = j * THREADS + t
                if i < here:
                    item = get(s, i)
                    store(dst, starts[digit(item, place)] + i, item)

    return sweep


def _tiles(source: Iterator, n: int) -> int:
    return -(-n // (_per_thread(source.value_type.size) * THREADS))  # type: ignore[union-attr]


def memory_of(source: Iterator, output: Iterator, n: int) -> list[tuple[Any, int]]:
    """What `sort_in_sweeps` takes of temporary memory: dtypes and numbers of elements."""
    counts = [(numpy.int64, _PLACES * _VALUES + _PLACES), (numpy.int64, _tiles(source, n) * _VALUES)]
    return [*counts, *others_of(output, n)]


def sort_in_sweeps(
    digits: Digits, source: Iterator, output: Iterator, n: int, stream: Any, memory: list[Any]
) -> None:
    """Sorts n items of the source, one or more, into the output, which may be where they are; stable."""
    counts, published, *others = memory
    other, kind = other_of(output, others), source.value_type
    now: Iterator = source
    sweeps = digits.places
    if sweeps % 2 == 1 and overlap(source, output):
        sweeps += 1  # of a place beyond the last, where all are 0: the first sweep must not write what others read
    cleared = max(counts.shape[0], published.shape[0])
    kernel_of(_clearing, None, tuple)[-(-cleared // THREADS), THREADS, stream](counts, published)
    key = (digits.width, digits.key, source.kind)
    counting = kernel_of(_counting, key, lambda: (digits, source.load()))
    counting[-(-n // (THREADS * _COUNTED)), THREADS, stream](source.state, n, counts)
    for place in range(sweeps):
        then = output if (sweeps - place) % 2 == 1 else other
        parts = (digits, kind, now.load(), then.store())
        kernel = kernel_of(_sweeping, (*key, now.kind, then.kind), functools.partial(tuple, parts))
        kernel[_tiles(source, n), THREADS, stream](now.state, then.state, n, place, counts, published)
        now = then
