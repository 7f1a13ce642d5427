# SPDX-License-Identifier: Apache-2.0
"""Radix sort on a GPU: digits of eight bits, from the least ones up, each in one sweep over the items.

    count     all digits of all places, in one read; the block that ends last says at which places keys differ (at
              none, where they are in order already) and where in the output each digit begins
    sweep     for each such place: a block takes the next tile, ranks its items by digit (lanes with equal digits find
              each other, warps count in shared memory), learns by look-back how many of each digit stand in tiles
              before it, and writes them, in the order of digits

(Adinets and Merrill, "Onesweep: a faster least significant digit radix sort for GPUs", 2022.) What a tile publishes for
a digit is one word: the number of the sweep, whether tiles before it are in, and a count. Counts are whole numbers, so
nothing depends on which tile comes first. What the host does not know, as the number of places, is found on the device:
as many sweeps are launched as there may be, and those that are not needed end at once.

As many items as one block holds are sorted by one, in one launch.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy

from ._arguments import Count
from ._engine import THREADS, kernel_of
from ._radix import Digits, arrays_of, other_of, others_of, overlap
from ._ready import words_of_sort
from .iterators import Iterator

__all__ = ["fits", "memory_of", "sort_in_sweeps", "sweep_bounds", "variant_of"]

Function = Callable[..., Any]
_MOST_STAGED = 64  # bytes of an item that goes through shared memory, so that neighbours are written together
_VALUES, _WARPS, _PLACES = THREADS, THREADS // 32, 8  # a thread for each value of a digit
_BITS = tuple(range(8))
_AT = 11  # bits of a place in the counts of all digits of all warps
_COUNTED, _BLOCKS = 8, 1024  # in the read that counts: items of a thread in one round, blocks at most
_COPIES = 4
_TAGS = {numpy.uint32: 27, numpy.int64: 48}  # the bits of a published word below are the count
_RESIDENT = 3  # blocks of a multiprocessor that there are registers for, of items of up to 8 bytes
NARROW, SHORT = 1 << 31, 1 << 27  # items whose places, and whose published words, are numbers of 32 bits
SMALL = ((1 << 17, 6), (1 << 19, 12), (1 << 21, 16))  # up to so many items, so many of a thread
FEW = 1 << 18  # and of items of more than 8 bytes only the least of these
_WINDOW = 2  # tiles before its own that a thread asks at once; more are in each other's way

# Where things are among the counters.
_COUNTING_ENDED, _SWEEPING_ENDED, _FALLS, _N_SWEEPS, _TICKETS, _ORDER, _DIGITS = 0, 1, 2, 3, 4, 16, 32
_NO_PLACE = -1  # of a sweep that moves items and leaves their order


class Tile(NamedTuple):
    """What a block of a sweep takes, and what it tells others."""

    items: int  # of a thread
    place: Any  # the type of a place among all items
    word: Any  # and of what is published


def per_thread(nbytes: int) -> int:
    """Items of a thread. Of 8 bytes 20 take 15.9 ms for 2^28, 12 take 19.2 on an H200; of pairs 9.4 and 12.4."""
    return 24 if nbytes <= 4 else 20 if nbytes <= 8 else max(1, 96 // nbytes)


def tile_of(nbytes: int, n: int) -> Tile:
    """Of few items small tiles, so that there are enough for a GPU: 2^18 32-bit items take 40 us on an H200 by 12 of a
    thread, 46 by 6 or 24."""
    small = small_of(nbytes, n)
    items = per_thread(nbytes) if small is None else min(SMALL[small][1], per_thread(nbytes))
    return tile_for(items, n)


def tile_for(items: int, n: int) -> Tile:
    return Tile(items, numpy.uint32 if n < NARROW else numpy.int64, numpy.uint32 if n < SHORT else numpy.int64)


def small_of(nbytes: int, n: int) -> int | None:
    """Which of the small tiles n items take; None: none."""
    if nbytes > 8:
        return 0 if n <= FEW else None
    return next((small for small, (most, _) in enumerate(SMALL) if n <= most), None)


def variant_of(nbytes: int, n: int) -> int:
    """Which of the library's kernels sweeps n items: the small tiles, and three for numbers of ever more bits."""
    small = small_of(nbytes, n)
    return len(SMALL) + (n >= SHORT) + (n >= NARROW) if small is None else small


def sweep_bounds(nbytes: int) -> tuple[int, ...]:
    """Launch bounds of a sweep over items of so many bytes."""
    return (THREADS, _RESIDENT) if nbytes <= 8 else ()


def _digit(bits: Function) -> Function:
    """The function of a kernel that gives a digit of an item: the bits of a mask that stand above ``shift`` others."""

    def digit(item: Any, shift: Any, mask: Any) -> Any:
        v = bits(item)
        return numpy.int32(v >> v.dtype(shift)) & mask

    return digit


def _planning(digits: Digits) -> Function:
    """The function of a kernel by which one block says which sweeps there are, once all digits are counted."""
    from ..coop.block import exclusive_sum
    from ..cuda import syncthreads_or, threadIdx
    from ..cuda._device import is_quick

    each = tuple(range(digits.places))

    def planned(counts: Any, q: Any, found: Any, n: Any, in_order: Any, sweeps: Any) -> Any:
        """How many sweeps there are with that for digit q, of which ``found`` items have this thread's value."""
        counts[_DIGITS + q * _VALUES + threadIdx.x] = exclusive_sum(found, threads=THREADS)
        if syncthreads_or(found == n) == 0 and not in_order:
            if threadIdx.x == 0:
                counts[_ORDER + sweeps] = q
            sweeps += 1
        return sweeps

    def plan(counts: Any, n: Any, aside: Any) -> None:
        t, sweeps, in_order = threadIdx.x, numpy.int64(0), counts[_FALLS] == 0
        if is_quick():
            for q in range(digits.places):
                sweeps = planned(counts, q, counts[_DIGITS + q * _VALUES + t], n, in_order, sweeps)
        else:
            found = tuple(counts[_DIGITS + q * _VALUES + t] for q in each)
            for q in each:
                sweeps = planned(counts, q, found[q], n, in_order, sweeps)
        if t == 0:  # items must move at least once, and what is read may not be where the first sweep writes
            for _ in range(2):
                if sweeps == 0 or (aside and sweeps % 2 == 1):
                    counts[_ORDER + sweeps] = _NO_PLACE
                    sweeps += 1
            counts[_N_SWEEPS] = sweeps

    return plan


def _copies(places: int) -> int:
    """How often a block has the counts of each digit, so that lanes seldom add to one word at once."""
    return max(1, min(_COPIES, 8 // places))


def _counting(digits: Digits, load: Function, number: Function) -> Callable[..., None]:
    from ..cuda import atomic, blockIdx, gridDim, shared, syncthreads, threadfence, threadIdx
    from ..cuda._device import is_quick

    places, bits, plan = digits.places, digits.bits, _planning(digits)
    each, digit, rounds = tuple(range(places)), _digit(bits), tuple(range(_COUNTED))
    per_round, copies = THREADS * _COUNTED, _copies(places)

    def noted(item: Any, before: Any, s: Any) -> Any:
        """Counts an item's digits; whether it is less than the one before it."""
        for q in each:
            d = digit(item, 8 * q, numpy.int32(_VALUES - 1))
            atomic.add(s[q], d * copies + threadIdx.x % copies, 1)
        return bits(item) < bits(before)

    def look(src: Any, first: Any, s: Any) -> Any:
        """The same of a whole round."""
        falls, at = False, first + threadIdx.x
        items = tuple(load(src, at + j * THREADS) for j in rounds)
        before = (load(src, max(at - 1, 0)), *(load(src, at + (j * THREADS - 1)) for j in rounds[1:]))
        for j in rounds:
            falls |= noted(items[j], before[j], s)
        return falls

    def count(src: Any, count_: Any, aside: Any, counts: Any, published: Any) -> None:
        s = tuple(shared.array(_VALUES * copies, numpy.int32) for _ in each)
        t, n, falls, word = threadIdx.x, number(count_), False, shared.array(1, numpy.int32)
        for q in each:
            for k in range(copies):
                s[q][k * _VALUES + t] = 0
        for i in range(numpy.int64(blockIdx.x) * THREADS + t, published.shape[0], gridDim.x * THREADS):
            published[i] = 0
        syncthreads()
        for at in range(numpy.int64(blockIdx.x) * per_round, n, gridDim.x * per_round):
            if at + per_round <= n and not is_quick():
                falls |= look(src, at, s)
            else:
                for i in range(at + t, min(at + per_round, n), THREADS):
                    falls |= noted(load(src, i), load(src, max(i - 1, 0)), s)
        if falls:
            counts[_FALLS] = 1
        syncthreads()
        for q in each:
            found = numpy.int32(0)
            for c in range(copies):
                found += s[q][t * copies + c]
            if found != 0:
                atomic.add(counts, _DIGITS + q * _VALUES + t, numpy.int64(found))
        threadfence()
        syncthreads()
        if t == 0:
            word[0] = atomic.add(counts, _COUNTING_ENDED, numpy.int64(1)) == gridDim.x - 1
        syncthreads()
        if word[0] != 0:
            threadfence()
            plan(counts, n, aside)

    return count


def _ended() -> Function:
    """The function of a kernel that the block calls last: the last of all makes the counters zero again."""
    from ..cuda import atomic, blockDim, syncthreads, threadIdx

    def end(counters: Any, blocks: Any, s: Any) -> None:
        syncthreads()
        if threadIdx.x == 0:
            s[0] = atomic.add(counters, _SWEEPING_ENDED, 1) == blocks - 1
        syncthreads()
        if s[0] != 0:
            for i in range(threadIdx.x, counters.shape[0], blockDim.x):
                counters[i] = 0

    return end


def _ranking() -> Function:
    """The function of a kernel that gives the place of a lane's item among those of its digit in its warp so far. Bits
    of the digits are compared by eight votes, which are faster than one `match_any_sync`: 8.5 for 11.3 ms, 2^28 items
    on an H100."""
    from ..cuda import ballot_sync, lanemask_lt, popc, syncwarp

    def rank(counts: Any, at: Any, digit: Any) -> Any:
        """``at``: where the warp's count of the digit is."""
        alike = numpy.uint32(0xFFFFFFFF)
        for bit in _BITS:
            is_set = digit & (1 << bit) != 0
            vote = numpy.uint32(ballot_sync(0xFFFFFFFF, is_set))
            alike = numpy.uint32(alike & (vote if is_set else numpy.uint32(~vote)))
        lower = numpy.uint32(alike & lanemask_lt())
        before = counts[at]
        syncwarp()
        if lower == 0:
            counts[at] = before + numpy.int32(popc(alike))
        syncwarp()
        return before + numpy.int32(popc(lower))

    return rank


def _ranking_some() -> Function:
    """The same where not all lanes have an item, in few instructions."""
    from ..cuda import lanemask_lt, match_any_sync, popc, syncwarp

    def rank(counts: Any, at: Any, digit: Any, is_there: Any) -> Any:
        alike = numpy.uint32(match_any_sync(0xFFFFFFFF, digit if is_there else numpy.int32(-1)))
        lower = numpy.uint32(alike & lanemask_lt())
        before = counts[at]
        syncwarp()
        if is_there and lower == 0:
            counts[at] = before + numpy.int32(popc(alike))
        syncwarp()
        return before + numpy.int32(popc(lower))

    return rank


def _looking_back(kind: Any) -> Function:
    """The function of a kernel that publishes a tile's count of one digit, in words of a kind, and gives that of all
    tiles before it."""
    from ..cuda import ldcv, stwt
    from ..cuda._device import is_quick

    window, tag_at = tuple(range(_WINDOW)), kind(_TAGS[kind])
    below = kind((1 << _TAGS[kind]) - 1)

    def asked(published: Any, at: Any, digit: Any) -> Any:
        if is_quick():
            return (ldcv(published, numpy.uint64(at * _VALUES + digit)),)
        return tuple(ldcv(published, numpy.uint64(max(at - k, 0) * _VALUES + digit)) for k in window)

    def before(published: Any, tile: Any, digit: Any, sweep: Any, count: Any) -> Any:
        of_tile = kind(2 * sweep + 1)
        of_all, found, at = kind(of_tile + kind(1)), numpy.int64(0), tile - 1
        mine = numpy.uint64(tile * _VALUES + digit)
        if tile > 0:
            stwt(published, mine, kind(of_tile << tag_at | kind(count)))
        while at >= 0:
            words = asked(published, at, digit)
            goes_on = True
            for word in words:
                tag = kind(word >> tag_at)
                goes_on = goes_on and tag >= of_tile and at >= 0
                if goes_on:
                    found += numpy.int64(word & below)
                    at = numpy.int64(-1) if tag == of_all else at - 1
        stwt(published, mine, kind(of_all << tag_at | kind(found + count)))
        return found

    return before


def _place_of(items: int) -> Function:
    """The function of a kernel that says where in its tile the first item of a thread is; its others are each 32
    further on."""
    from ..cuda import threadIdx

    return lambda: threadIdx.x // 32 * (32 * items) + threadIdx.x % 32


def _place_in_tile(ranks: Any, code: Any) -> Any:
    """Where in the order of digits an item with such a code is, once ``ranks`` are starts in the tile; unsigned, as
    negative indices count from the end."""
    return numpy.uint32(ranks[code & ((1 << _AT) - 1)] + (code >> _AT))


def _loading(kind: Any, items: int, load: Function, is_open: bool) -> Function:
    """The function of a kernel that reads a thread's items of a tile, all at once: 32 neighbours by a warp. Behind the
    last item of an open one, in which items end, that is there again and again."""
    each, cast, mine_of = tuple(range(items)), kind.cast, _place_of(items)

    def loaded(src: Any, first: Any, here: Any) -> Any:
        mine = mine_of()
        if is_open:
            return tuple(cast(load(src, first + min(mine + j * 32, here - 1))) for j in each)
        return tuple(cast(load(src, first + mine + j * 32)) for j in each)

    return loaded


def _within(digits: Digits, items: int, is_open: bool) -> Function:
    """The function of a kernel that ranks a thread's items by digit in its warp: gives for each where in ``ranks`` the
    start of its digit in its warp will be and, in the bits above that, its place among those. In ``ranks`` is then how
    often each warp has each digit. Items of an open tile from ``here`` on count as of the last digit, behind all."""
    from ..cuda import threadIdx

    each, digit, rank, mine_of = tuple(range(items)), _digit(digits.bits), _ranking(), _place_of(items)

    def within(loaded: Any, here: Any, shift: Any, mask: Any, ranks: Any) -> Any:
        row, codes = threadIdx.x // 32 * _VALUES, ()
        for j in each:
            d = digit(loaded[j], shift, mask)
            if is_open:
                d = d if mine_of() + j * 32 < here else numpy.int32(_VALUES - 1)
            codes += (numpy.int32(rank(ranks, row + d, d) << _AT | row + d),)
        return codes

    return within


def _over_warps() -> tuple[Function, Function]:
    """Functions of a kernel for the counts of each warp: one makes them zero, one makes them starts in their warp, and
    gives thread d how many of digit d the block has."""
    from ..cuda import syncthreads, threadIdx

    def clear(ranks: Any) -> None:
        for w in range(_WARPS):
            ranks[w * _VALUES + threadIdx.x] = 0
        syncthreads()

    def starts(ranks: Any) -> Any:
        syncthreads()
        total = numpy.int32(0)
        for w in range(_WARPS):
            count = ranks[w * _VALUES + threadIdx.x]
            ranks[w * _VALUES + threadIdx.x] = total
            total += count
        return total

    return clear, starts


def _storing(digits: Digits, kind: Any, size: Tile, store: Function, is_open: bool) -> Function:
    """The function of a kernel that writes a tile's items where they go: through shared memory, so that neighbours are
    written together, unless they are great."""
    from ..cuda import syncthreads, threadIdx

    get, put, staged, place_of = kind.get, kind.put, kind.size <= _MOST_STAGED, _place_in_tile
    each, digit, place_kind = tuple(range(size.items)), _digit(digits.bits), size.place

    def stored(
        dst: Any, loaded: Any, codes: Any, here: Any, shift: Any, mask: Any, ranks: Any, starts: Any, s: Any
    ) -> None:
        for j in each:
            to = place_of(ranks, codes[j])
            if staged:
                put(s, to, loaded[j])
            elif not is_open or to < numpy.uint32(here):
                store(dst, place_kind(starts[codes[j] & (_VALUES - 1)] + to), loaded[j])
        if staged:
            syncthreads()
            for j in each:
                i = j * THREADS + threadIdx.x
                if not is_open or i < here:
                    item = get(s, i)
                    store(dst, place_kind(starts[digit(item, shift, mask)] + i), item)

    return stored


def _walking(
    digits: Digits, kind: Any, items: int, read_one: Function, write_one: Function, place_kind: Any
) -> tuple[Function, Function]:
    """Functions of a kernel for a tile in code that is quickly made: one item of a thread after the other, when they
    are counted (in ``ranks``) and again when they are written. The items are read at once before that, each to a place
    of shared memory that its thread alone uses, unless they are great."""
    from ..cuda import threadIdx

    digit, rank, per_warp = _digit(digits.bits), _ranking_some(), 32 * items
    get, put, staged, each = kind.get, kind.put, kind.size <= _MOST_STAGED, tuple(range(items))

    def stage(src: Any, out: Any, alt: Any, sweep: Any, left: Any, first: Any, here: Any, s: Any) -> None:
        if staged:
            at = threadIdx.x // 32 * per_warp + threadIdx.x % 32
            found = tuple(read_one(src, out, alt, sweep, left, first + min(at + 32 * j, here - 1)) for j in each)
            for j in each:
                put(s, at + 32 * j, found[j])

    def walk(
        src: Any, out: Any, alt: Any, sweep: Any, left: Any, first: Any, here: Any, shift: Any, mask: Any, ranks: Any,
        starts: Any, s: Any, writes: bool,
    ) -> None:  # fmt: skip
        warp, lane = threadIdx.x // 32, threadIdx.x % 32
        for at in range(warp * per_warp, min(warp * per_warp + per_warp, here), 32):
            is_there = at + lane < here
            if staged:
                item = get(s, at + lane)
            else:
                item = read_one(src, out, alt, sweep, left, first + min(at + lane, here - 1))
            d = digit(item, shift, mask)
            place = rank(ranks, warp * _VALUES + d, d, is_there)
            if writes and is_there:
                write_one(out, alt, left, place_kind(starts[d] + place), item)

    return stage, walk


def _reading(loads: tuple[Function, ...], alike: bool) -> Function:
    """The function of a kernel that reads a tile, or a place: in the first sweep of the source, then of where the one
    before wrote. ``alike``: these are arrays of one type, so that the code is there once."""
    of_source, of_output, of_other = loads

    def read_one(src: Any, out: Any, alt: Any, sweep: Any, left: Any, *where: Any) -> Any:
        return of_source(src if sweep == 0 else (out if left % 2 == 0 else alt), *where)

    def read(src: Any, out: Any, alt: Any, sweep: Any, left: Any, *where: Any) -> Any:
        if sweep == 0:
            return of_source(src, *where)
        if left % 2 == 0:
            return of_output(out, *where)
        return of_other(alt, *where)

    return read_one if alike else read


def _writing(stores: tuple[Function, ...], alike: bool) -> Function:
    """The same for what writes a tile."""
    to_output, to_other = stores

    def write_one(out: Any, alt: Any, left: Any, *what: Any) -> None:
        to_output(out if left % 2 == 1 else alt, *what)

    def write(out: Any, alt: Any, left: Any, *what: Any) -> None:
        if left % 2 == 1:
            to_output(out, *what)
        else:
            to_other(alt, *what)

    return write_one if alike else write


def _sweeping(
    digits: Digits, number: Function, source: Iterator, output: Iterator, other: Iterator, alike: bool, size: Tile
) -> Callable[..., None]:
    from ..coop.block import exclusive_sum
    from ..cuda import atomic, gridDim, shared, syncthreads, threadIdx
    from ..cuda._device import is_quick

    kind: Any = source.value_type
    dtype, items, staged, per_tile = kind.dtype, size.items, kind.size <= _MOST_STAGED, size.items * THREADS
    before_tile, end, place_kind = _looking_back(size.word), _ended(), size.place
    (clear, starts_in), last_place = _over_warps(), digits.places - 1
    cast, none, nothing = kind.cast, kind.zero, (0,) * items
    sequences, outputs = (source, output, other), (output, other)
    # Of a tile, and of the last one, which may be open; that each is treated so costs 9 % of 2^28 items.
    within, within_last = (_within(digits, items, is_open) for is_open in (False, True))
    read, read_last = (
        _reading(tuple(_loading(kind, items, it.load(), is_open) for it in sequences), alike)
        for is_open in (False, True)
    )
    write, write_last = (
        _writing(tuple(_storing(digits, kind, size, it.store(), is_open) for it in outputs), alike)
        for is_open in (False, True)
    )
    read_one = _reading(tuple(_casting(cast, it.load()) for it in sequences), alike)
    write_one = _writing(tuple(it.store() for it in outputs), alike)
    stage, walk = _walking(digits, kind, items, read_one, write_one, place_kind)

    def move(
        src: Any, out: Any, alt: Any, tile: Any, n: Any, sweep: Any, left: Any, counts: Any, published: Any, starts: Any
    ) -> None:
        s, ranks = shared.array(per_tile if staged else 1, dtype), shared.array(_WARPS * _VALUES, numpy.int32)
        t, place, first = threadIdx.x, min(counts[_ORDER + sweep], last_place), tile * per_tile  # so shifts are small
        shift, mask = numpy.int32(8 * max(place, 0)), numpy.int32(0 if place == _NO_PLACE else _VALUES - 1)
        here = numpy.int32(min(n - first, per_tile))
        clear(ranks)
        loaded, codes = tuple(cast(none) for _ in nothing), tuple(numpy.int32(0) for _ in nothing)
        if is_quick():
            stage(src, out, alt, sweep, left, first, here, s)
            walk(src, out, alt, sweep, left, first, here, shift, mask, ranks, starts, s, False)
        elif here == per_tile:
            loaded = read(src, out, alt, sweep, left, first, here)
            codes = within(loaded, here, shift, mask, ranks)
        else:
            loaded = read_last(src, out, alt, sweep, left, first, here)
            codes = within_last(loaded, here, shift, mask, ranks)
        total = starts_in(ranks)
        inside = exclusive_sum(total, threads=THREADS)
        if t == _VALUES - 1 and not is_quick():
            total = numpy.int32(total - (per_tile - here))
        outside = numpy.int64(0) if place == _NO_PLACE else counts[_DIGITS + place * _VALUES + t]
        starts[t] = place_kind(outside + before_tile(published, tile, t, sweep, numpy.int64(total)) - inside)
        for w in range(_WARPS):
            ranks[w * _VALUES + t] += inside
        syncthreads()
        if is_quick():
            walk(src, out, alt, sweep, left, first, here, shift, mask, ranks, starts, s, True)
        elif here == per_tile:
            write(out, alt, left, loaded, codes, here, shift, mask, ranks, starts, s)
        else:
            write_last(out, alt, left, loaded, codes, here, shift, mask, ranks, starts, s)

    def sweep(
        src: Any, out: Any, alt: Any, count: Any, number_: Any, is_last: Any, counts: Any, published: Any
    ) -> None:
        starts, word = shared.array(_VALUES, place_kind), shared.array(1, numpy.int32)
        ticket = shared.array(1, numpy.int64)
        n, left = number(count), counts[_N_SWEEPS] - number_
        if left > 0:
            if threadIdx.x == 0:
                ticket[0] = atomic.add(counts, _TICKETS + number_, numpy.int64(1))
            syncthreads()
            tile = numpy.int64(numpy.uint32(ticket[0]))  # so the compiler knows that no index is negative
            if tile * per_tile < n:
                move(src, out, alt, tile, n, number_, left, counts, published, starts)
        if is_last:
            end(counts, gridDim.x, word)

    return sweep


def _casting(cast: Function, load: Function) -> Function:
    return lambda src, at: cast(load(src, at))


def _sorting(digits: Digits, number: Function, source: Iterator, output: Iterator) -> Callable[..., None]:
    """The kernel of one block for as many items as it holds."""
    from ..coop.block import exclusive_sum
    from ..cuda import shared, syncthreads, syncthreads_or, threadIdx
    from ..cuda._device import is_quick

    kind: Any = source.value_type
    dtype, get, put, cast, load, store = kind.dtype, kind.get, kind.put, kind.cast, source.load(), output.store()
    items, places, bits = per_thread(kind.size), digits.places, digits.bits
    each, per_tile, within = tuple(range(items)), items * THREADS, _within(digits, items, True)
    (clear, starts_in), place_of, mine_of = _over_warps(), _place_in_tile, _place_of(items)

    def sort_quickly(src: Any, dst: Any, here: Any, s: Any) -> None:
        """By comparing each item with each other one."""
        for i in range(threadIdx.x, here, THREADS):
            put(s, i, cast(load(src, i)))
        syncthreads()
        for i in range(threadIdx.x, here, THREADS):
            item, to = get(s, i), numpy.int32(0)
            mine = bits(item)
            for k in range(here):
                other = bits(get(s, k))
                if other < mine or (other == mine and k < i):
                    to += numpy.int32(1)
            store(dst, to, item)

    def sort(src: Any, dst: Any, count: Any) -> None:
        if is_quick():
            sort_quickly(src, dst, numpy.int32(number(count)), shared.array(per_tile, dtype))
        else:
            sort_by_digits(src, dst, count)

    def sort_by_digits(src: Any, dst: Any, count: Any) -> None:
        s, ranks = shared.array(per_tile, dtype), shared.array(_WARPS * _VALUES, numpy.int32)
        t, here = threadIdx.x, numpy.int32(number(count))
        for j in each:
            if j * THREADS + t < here:
                put(s, j * THREADS + t, cast(load(src, j * THREADS + t)))
        syncthreads()
        for place in range(places if here > 0 else 0):
            mine = mine_of()
            loaded = tuple(get(s, min(mine + j * 32, here - 1)) for j in each)
            clear(ranks)
            codes = within(loaded, here, 8 * place, numpy.int32(_VALUES - 1), ranks)
            total = starts_in(ranks)
            inside = exclusive_sum(total, threads=THREADS)
            if syncthreads_or(total == per_tile) == 0:
                for w in range(_WARPS):
                    ranks[w * _VALUES + t] += inside
                syncthreads()
                for j in each:
                    put(s, place_of(ranks, codes[j]), loaded[j])
                syncthreads()
        for j in each:
            if j * THREADS + t < here:
                store(dst, j * THREADS + t, get(s, j * THREADS + t))

    return sort


def _tiles(source: Iterator, n: int) -> int:
    return -(-n // (tile_of(source.value_type.size, n).items * THREADS))  # type: ignore[union-attr]


def fits(source: Iterator, n: int) -> bool:
    """Whether one block holds all items."""
    size: int = source.value_type.size  # type: ignore[union-attr]
    return n <= per_thread(size) * THREADS and size <= _MOST_STAGED


def memory_of(source: Iterator, output: Iterator, n: int) -> list[tuple[Any, int]]:
    """What `sort_in_sweeps` takes of temporary memory: dtypes and numbers of elements. The first are counters."""
    if fits(source, n):
        return [(numpy.int64, 1)]
    counters, published = _DIGITS + _PLACES * _VALUES, _tiles(source, n) * _VALUES
    word = tile_of(source.value_type.size, n).word  # type: ignore[union-attr]
    return [(numpy.int64, counters), (word, published), *others_of(output, n)]


def _are_alike(*sequences: Iterator) -> bool:
    """Whether kernels may take one for another: arrays of one type."""
    from ..cuda import typeof

    first, *others = ([typeof(array) for array in arrays_of(it) or ()] for it in sequences)
    return bool(first) and all(other == first for other in others)


def sort_in_sweeps(
    digits: Digits, source: Iterator, output: Iterator, n: Count, stream: Any, memory: list[Any]
) -> None:
    """Sorts n items of the source into the output, which may be where they are; stable."""
    key = (digits.places, digits.key, source.kind, output.kind, n.kind)
    if fits(source, n.most):
        one = kernel_of(
            _sorting, key, lambda: (digits, n.load(), source, output),
            library_words=lambda: words_of_sort("sort_tile", digits, n, source, output, "gpu"),
        )  # fmt: skip
        one[1, THREADS, stream](source.state, output.state, n.state)
        return
    counts, published, *others = memory
    other, aside, sweeps = other_of(output, others), overlap(source, output), digits.places
    if sweeps % 2 == 1 and aside:
        sweeps += 1
    counting = kernel_of(
        _counting, key, lambda: (digits, source.load(), n.load()),
        library_words=lambda: words_of_sort("sort_count", digits, n, source, output, "gpu"),
    )  # fmt: skip
    blocks = min(-(-n.most // (THREADS * _COUNTED)), _BLOCKS)
    counting[blocks, THREADS, stream](source.state, n.state, aside, counts, published)
    alike = _are_alike(source, output, other)
    width: int = source.value_type.size  # type: ignore[union-attr]
    size, bounds, variant = tile_of(width, n.most), sweep_bounds(width), variant_of(width, n.most)
    parts = digits, n.load(), source, output, other, alike, size
    kernel = kernel_of(
        _sweeping, (key, alike, size), lambda: parts, bounds,
        library_words=lambda: (
            words_of_sort("sort_sweep", digits, n, source, output, "gpu", variant=variant) if alike else None
        ),
    )  # fmt: skip
    for sweep in range(sweeps):
        kernel[_tiles(source, n.most), THREADS, stream](
            source.state, output.state, other.state, n.state, sweep, sweep == sweeps - 1, counts, published
        )
