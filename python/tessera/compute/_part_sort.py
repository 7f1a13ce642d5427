# SPDX-License-Identifier: Apache-2.0
"""Sorts of many parts of a sequence on a GPU, each by itself.

    parts --> survey   how many items are in parts, and which parts have more than TILE
          --> others   items in no part stay where they are, if there are any
          --> short    a block takes neighbouring parts, as many at once as fit in a tile; an item is stood for by a
                       code: its part, its key, its place. Items of parts of up to COUNTED find their place by comparing
                       their code with the others of the part, else the tile is merge-sorted
          --> long     items of longer parts are put side by side, sorted by key, then by part (_onesweep.py), put back

What is long is found on the device, so the host waits for nothing: where there is no long part, the launches for such
end at once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy

from . import types
from ._arguments import Count
from ._engine import THREADS, clear, kernel_of
from ._onesweep import memory_of, sort_in_sweeps
from ._radix import Digits
from ._replay import derived
from ._sort import of_field
from .iterators import ArrayIterator, Iterator, ZipIterator
from .types import TypeDescriptor

__all__ = ["needs", "sort_parts"]

Function = Callable[..., Any]
ITEMS, COUNTED = 8, 40
TILE = THREADS * ITEMS
_PLACE, _PART = 11, 8  # bits of a place in a tile, of a part of a block
_MOST_STAGED = 8  # bytes of an item that stays in shared memory while codes are sorted
_PER_BLOCK = 1 << 13  # items of the parts of a block, about; of few items fewer, so that there are blocks enough
_FEW_BLOCKS, _MOST_BLOCKS = 512, 4096
_INSIDE, _LONG, _LONG_ITEMS = 0, 1, 2  # counts: items in parts, long parts, their items


class _Items(NamedTuple):
    """What is sorted, and where parts are: functions of kernels."""

    load: Function
    store: Function
    start: Function
    end: Function
    digits: Digits
    kind: TypeDescriptor
    number: Function  # of items


def _bounds(what: _Items) -> Function:
    """The function of a kernel that says where a part begins and how many items it has."""
    start, end = what.start, what.end

    def bounds(starts: Any, ends: Any, part: Any) -> Any:
        first = start(starts, part)
        return first, max(end(ends, part) - first, 0)

    return bounds


def _surveying(what: _Items) -> Callable[..., None]:
    from ..coop.block import sum as block_sum
    from ..cuda import atomic, grid, threadIdx

    bounds = _bounds(what)

    def survey(starts: Any, ends: Any, parts: Any, counts: Any, longs: Any) -> None:
        part, length = grid(1), numpy.int64(0)
        if part < parts:
            _, length = bounds(starts, ends, part)
            if length > TILE:
                at = atomic.add(counts, _LONG, 1)
                if at < longs.shape[0]:
                    longs[at] = part
        total = block_sum(length, threads=THREADS)
        if threadIdx.x == 0:
            atomic.add(counts, _INSIDE, total)

    return survey


def _keeping(what: _Items) -> Callable[..., None]:
    """All items to where they are, if some are in no part."""
    from ..cuda import grid, gridsize

    load, store, number = what.load, what.store, what.number

    def keep(src: Any, dst: Any, n_: Any, counts: Any) -> None:
        n = number(n_)
        if counts[_INSIDE] < n:
            for i in range(grid(1), n, gridsize(1)):
                store(dst, i, load(src, i))

    return keep


class _Codes(NamedTuple):
    """Functions of a kernel on what stands for the items of a tile."""

    code: Function  # code(part, item, place)
    less: Function
    part: Function
    place: Function


def _codes(digits: Digits) -> _Codes:
    bits, width = digits.bits, digits.width
    if width + _PLACE + _PART > 64:
        cls = types.struct({"at": types.uint32, "key": types.uint64}, "Code").cls

        def code(part: Any, item: Any, place: Any) -> Any:
            return cls(numpy.uint32(part << _PLACE | place), numpy.uint64(bits(item)))

        def less(a: Any, b: Any) -> Any:
            one, other = a.at >> numpy.uint32(_PLACE), b.at >> numpy.uint32(_PLACE)
            return one < other or one == other and (a.key < b.key or a.key == b.key and a.at < b.at)

        low = numpy.uint32((1 << _PLACE) - 1)
        return _Codes(
            code, less, lambda c: numpy.int32(c.at >> numpy.uint32(_PLACE)), lambda c: numpy.int32(c.at & low)
        )
    word = numpy.uint32 if width + _PLACE + _PART <= 32 else numpy.uint64

    def code_in_word(part: Any, item: Any, place: Any) -> Any:
        return word(word(part) << word(_PLACE + width) | word(bits(item)) << word(_PLACE) | word(place))

    return _Codes(
        code_in_word, lambda a, b: a < b, lambda c: numpy.int32(c >> word(_PLACE + width)),
        lambda c: numpy.int32(c & word((1 << _PLACE) - 1)),
    )  # fmt: skip


def _merged(less: Function) -> Function:
    """The function of a kernel that sorts the codes of a tile, which are in shared memory."""
    from ..coop._memory import slot
    from ..coop._merge_sort import merge_items, merge_path, sort_items
    from ..cuda import syncthreads, threadIdx

    each = tuple(range(ITEMS))

    def kept(codes: Any, mine: Any, at: Any) -> None:
        for i in each:
            codes[slot(at + i)] = mine[i]
        syncthreads()

    def merged(codes: Any, here: Any) -> None:
        t, half = threadIdx.x, numpy.int32(1)
        at = t * ITEMS
        kept(codes, sort_items(tuple(codes[slot(at + i)] for i in each), at, less, here), at)
        while half * ITEMS < here:
            within, length = numpy.int32(t & (2 * half - 1)), numpy.int32(half * ITEMS)
            a = numpy.int32(min((t - within) * ITEMS, here))
            b = numpy.int32(min(a + length, here))
            end = numpy.int32(min(b + length, here))
            diagonal = numpy.int32(min(within * ITEMS, end - a))
            taken = merge_path(codes, less, a, b - a, b, end - b, diagonal)
            next_a, next_b = numpy.int32(a + taken), numpy.int32(b + diagonal - taken)
            mine = merge_items(codes, less, next_a, b, next_b, end, ITEMS, TILE - 1)
            syncthreads()
            kept(codes, mine, at)
            half = numpy.int32(2 * half)

    return merged


def _tiles(what: _Items) -> Function:
    """The function of a kernel that sorts the parts ``a`` to before ``b`` of a block, of ``here`` items in all, at most
    TILE. ``begins``: where in memory parts begin; ``offsets``: how many items stand before them in the block."""
    from ..coop._block_scan import scan_threads
    from ..coop._memory import slot, slots
    from ..cuda import shared, syncthreads, threadIdx
    from ..cuda._places import shared_like

    load, store, kind, each, codes_of = what.load, what.store, what.kind, tuple(range(ITEMS)), _codes(what.digits)
    (code_of, _, part_of, place_of), merged, bits = codes_of, _merged(codes_of.less), what.digits.bits
    is_staged, dtype, get, put = kind.size <= _MOST_STAGED, kind.dtype, kind.get, kind.put

    def parts_of(offsets: Any, a: Any, b: Any, base: Any, places: Any) -> Any:
        """The parts of items: each part that has some marks its first one, and the last mark before an item counts."""
        t, marks = threadIdx.x, shared.array(slots(TILE), numpy.int32)
        for j in each:
            marks[slot(t + THREADS * j)] = 0
        syncthreads()
        if t >= a and t < b and offsets[t + 1] > offsets[t]:
            marks[slot(offsets[t] - base)] = t
        syncthreads()
        mine = (marks[slot(t * ITEMS)],)
        for j in each[1:]:
            mine += (max(mine[j - 1], marks[slot(t * ITEMS + j)]),)
        _, up, _ = scan_threads(mine[-1], lambda v, w: max(v, w), THREADS)
        before = up if t > 0 else numpy.int32(0)
        for j in each:
            marks[slot(t * ITEMS + j)] = max(before, mine[j])
        syncthreads()
        return tuple(numpy.int32(marks[slot(place)]) for place in places)

    def where(begins: Any, offsets: Any, part: Any, at: Any) -> Any:
        return begins[part] + (at - offsets[part])

    def rank(keys: Any, key: Any, first: Any, at: Any, last: Any) -> Any:
        before = numpy.int32(0)
        for q in range(first, last):  # in one loop, so that lanes of a part go through it together
            other = keys[numpy.uint32(q)]
            before += numpy.int32(1 if other < key or (other == key and q < at) else 0)
        return before

    def compare(dst: Any, begins: Any, offsets: Any, base: Any, here: Any, parts: Any, places: Any, items: Any) -> None:
        """Each item finds its place among the others of its part."""
        t, mine = threadIdx.x, tuple(bits(item) for item in items)
        keys = shared_like(TILE, mine[0])
        for j in each:
            if t + THREADS * j < here:
                keys[t + THREADS * j] = mine[j]
        syncthreads()
        for j in each:
            if t + THREADS * j < here:
                first, last = offsets[parts[j]] - base, offsets[parts[j] + 1] - base
                store(dst, begins[parts[j]] + rank(keys, mine[j], first, places[j], last), items[j])

    def sort(src: Any, dst: Any, begins: Any, offsets: Any, a: Any, b: Any, here: Any, is_short: Any) -> None:
        t, base = threadIdx.x, offsets[a]
        places = tuple(numpy.int32(min(t + THREADS * j, here - 1)) for j in each)
        parts = parts_of(offsets, a, b, base, places)
        items = tuple(load(src, where(begins, offsets, parts[j], base + places[j])) for j in each)
        if is_short:
            compare(dst, begins, offsets, base, here, parts, places, items)
            return
        mine = tuple((code_of(parts[j] - a, items[j], places[j]),) for j in each)
        codes, staged = shared_like(slots(TILE), mine[0]), shared.array(TILE if is_staged else 1, dtype)
        for j in each:
            if t + THREADS * j < here:
                codes[slot(t + THREADS * j)] = mine[j]
                if is_staged:
                    put(staged, t + THREADS * j, items[j])
        syncthreads()
        merged(codes, here)
        order = tuple(codes[slot(place)][0] for place in places)
        if is_staged:
            sorted_ = tuple(get(staged, place_of(c)) for c in order)
        else:
            sorted_ = tuple(load(src, where(begins, offsets, part_of(c) + a, base + place_of(c))) for c in order)
            syncthreads()
        for j in each:
            if t + THREADS * j < here:
                store(dst, where(begins, offsets, part_of(order[j]) + a, base + places[j]), sorted_[j])

    return sort


def _part_by_part(what: _Items) -> Function:
    """The function of a kernel that sorts ``n`` parts from one on, if they are short, by comparing each item of a part
    with each other one."""
    from ..cuda import shared, syncthreads, threadIdx

    bounds, load, store, bits, kind = _bounds(what), what.load, what.store, what.digits.bits, what.kind
    dtype, get, put = kind.dtype, kind.get, kind.put

    def place_of(s: Any, i: Any, item: Any, n: Any) -> Any:
        mine, before = bits(item), numpy.int64(0)
        for k in range(n):
            other = bits(get(s, k))
            if other < mine or (other == mine and k < i):
                before += 1
        return before

    def sort(src: Any, dst: Any, starts: Any, ends: Any, parts: Any, part: Any, n: Any) -> None:
        s = shared.array(TILE, dtype)
        for p in range(part, min(part + n, parts)):
            first, length = bounds(starts, ends, p)
            if length <= TILE:
                for i in range(threadIdx.x, length, THREADS):
                    put(s, i, load(src, first + i))
                syncthreads()
                for i in range(threadIdx.x, length, THREADS):
                    item = get(s, i)
                    store(dst, first + place_of(s, i, item, length), item)
                syncthreads()

    return sort


def _sorting(what: _Items) -> Callable[..., None]:
    from ..coop._block_scan import scan_threads
    from ..cuda import blockIdx, shared, syncthreads, syncthreads_count, syncthreads_or, threadIdx
    from ..cuda._device import is_quick

    bounds, sort, sort_quickly = _bounds(what), _tiles(what), _part_by_part(what)
    has_quick = what.kind.size <= _MOST_STAGED

    def sort_short(src: Any, dst: Any, starts: Any, ends: Any, parts: Any, per_block: Any) -> None:
        if has_quick and is_quick():
            sort_quickly(src, dst, starts, ends, parts, numpy.int64(blockIdx.x) * per_block, per_block)
        else:
            sort_in_tiles(src, dst, starts, ends, parts, per_block)

    def sort_in_tiles(src: Any, dst: Any, starts: Any, ends: Any, parts: Any, per_block: Any) -> None:
        begins, offsets = shared.array(THREADS, numpy.int64), shared.array(THREADS + 1, numpy.int32)
        t, first, length = threadIdx.x, numpy.int64(0), numpy.int32(0)
        part = numpy.int64(blockIdx.x) * per_block + t
        if t < per_block and part < parts:
            first, whole = bounds(starts, ends, part)
            length = numpy.int32(whole if whole <= TILE else 0)
        after, _, _ = scan_threads(length, lambda a, b: numpy.int32(a + b), THREADS)
        begins[t] = first
        offsets[t + 1] = after
        if t == 0:
            offsets[0] = 0
        syncthreads()
        a = numpy.int32(0)
        while a < per_block:
            base = offsets[a]
            fits = t >= a and t < per_block and offsets[t + 1] - base <= TILE
            b = numpy.int32(a + syncthreads_count(fits))
            here = numpy.int32(offsets[b] - base)
            if here > 0:
                is_short = syncthreads_or(fits and length > COUNTED) == 0
                sort(src, dst, begins, offsets, a, b, here, is_short)
            syncthreads()
            a = b

    return sort_short


_BOUNDS = {_sorting: (THREADS, 4)}


def _placing(what: _Items) -> Callable[..., None]:
    """One block: where long parts stand when they stand in a row, and how many items they have."""
    from ..coop.block import exclusive_sum
    from ..cuda import shared, syncthreads, threadIdx

    bounds = _bounds(what)

    def place(starts: Any, ends: Any, most: Any, counts: Any, longs: Any, offsets: Any) -> None:
        s, t, running = shared.array(1, numpy.int64), threadIdx.x, numpy.int64(0)
        parts = min(counts[_LONG], longs.shape[0])
        for at in range(0, parts, THREADS):
            length = numpy.int64(0)
            if at + t < parts:
                _, length = bounds(starts, ends, longs[at + t])
            before = exclusive_sum(length, threads=THREADS)
            if at + t < parts:
                offsets[at + t] = running + before
            if t == THREADS - 1:
                s[0] = before + length
            syncthreads()
            running += s[0]
            syncthreads()
        if t == 0:
            counts[_LONG_ITEMS] = min(running, most)

    return place


def _moving(what: _Items, row: Iterator, gathers: bool) -> Callable[..., None]:
    """Items of long parts side by side, with the number of their part; or back."""
    from ..cuda import grid, gridsize

    load, store, bounds, row_load, row_store = what.load, what.store, _bounds(what), row.load(), row.store()

    def number_of(offsets: Any, parts: Any, at: Any) -> Any:
        low, high = numpy.int64(0), parts
        while high - low > 1:
            middle = (low + high) // 2
            if offsets[middle] <= at:
                low = middle
            else:
                high = middle
        return low

    def move(
        items: Any, starts: Any, ends: Any, counts: Any, longs: Any, offsets: Any, numbers: Any, side: Any
    ) -> None:
        parts = min(counts[_LONG], longs.shape[0])
        for at in range(grid(1), counts[_LONG_ITEMS], gridsize(1)):
            number = number_of(offsets, parts, at) if gathers else numpy.int64(numbers[at])
            first, _ = bounds(starts, ends, longs[number])
            if gathers:
                numbers[at] = numpy.uint32(number)
                row_store(side, at, load(items, first + (at - offsets[number])))
            else:
                store(items, first + (at - offsets[number]), row_load(side, at))

    return move


def _most_long(n: int) -> int:
    return n // (TILE + 1)


def _fields(sources: list[Iterator]) -> list[Any]:
    """Of an item of a long part: the number of the part, and what is sorted."""
    kinds: Any = [it.value_type for it in sources]
    return [numpy.dtype(numpy.uint32), *(kind.dtype for kind in kinds)]


def needs(sources: list[Iterator], n: int) -> list[tuple[Any, int]]:
    """What `sort_parts` takes of temporary memory; the first two are counters."""
    if not _most_long(n):
        return [(numpy.int64, 3), (numpy.int64, 1)]
    row = ZipIterator(*(ArrayIterator(numpy.empty(0, dtype)) for dtype in _fields(sources)))
    counters, *others = memory_of(row, row, n)
    rows, parts = [(dtype, n) for dtype in _fields(sources)], (numpy.int64, _most_long(n))
    return [(numpy.int64, 3), counters, parts, parts, *rows, *rows, *others]


def sort_parts(
    digits: Digits, sources: list[Iterator], outputs: list[Iterator], starts: Iterator, ends: Iterator, parts: int,
    items: Count, stream: Any, taken: list[Any],
) -> None:  # fmt: skip
    """Sorts parts of items by their keys, the first of the sources; what is in no part stays where it is."""
    source, output = _together(sources), _together(outputs)
    of_key = digits if len(sources) == 1 else of_field(digits, 0)
    kind: Any = source.value_type
    n, key = items.most, (of_key.key, of_key.width, source.kind, output.kind, starts.kind, ends.kind, items.kind)
    counts, counters, *rest = taken
    states = starts.state, ends.state

    def what() -> _Items:
        return _Items(source.load(), output.store(), starts.load(), ends.load(), of_key, kind, items.load())

    def launch(make: Function, blocks: int, *arguments: Any, row: Iterator | None = None, more: Any = ()) -> None:
        of_row = (row,) if row is not None else ()
        kernel = kernel_of(make, (key, row and row.kind, more), lambda: (what(), *of_row, *more), _BOUNDS.get(make, ()))
        kernel[blocks, THREADS, stream](*arguments)

    some = min(-(-n // TILE), _MOST_BLOCKS)
    clear(counts, stream)
    launch(_surveying, max(1, -(-parts // THREADS)), *states, parts, counts, rest[0] if rest else counters)
    launch(_keeping, some, source.state, output.state, items.state, counts)
    per_block = max(1, min(THREADS, parts * min(_PER_BLOCK, max(TILE, n // _FEW_BLOCKS)) // n))
    if parts:
        launch(_sorting, -(-parts // per_block), source.state, output.state, *states, parts, per_block)
    if not rest:
        return
    longs, offsets, *rest = rest
    width = len(sources) + 1
    (numbers, *unsorted), (sorted_numbers, *sorted_), others = rest[:width], rest[width : 2 * width], rest[2 * width :]
    launch(_placing, 1, *states, n, counts, longs, offsets)
    row, sorted_row = _row(unsorted), _row(sorted_)
    long = *states, counts, longs, offsets
    launch(_moving, some, source.state, *long, numbers, row.state, row=row, more=(True,))
    there = Count(n, (derived(counts, lambda array: array[_LONG_ITEMS:]), n), ArrayIterator(counts).kind)
    unsorted_, sorted__ = _row([numbers, *unsorted]), _row([sorted_numbers, *sorted_])
    sort_in_sweeps(of_field(digits, 1), unsorted_, sorted__, there, stream, [counters, *others])
    by_part = of_field(Digits(max(1, _most_long(n).bit_length()), lambda: lambda number: number, "number"), 0)
    sort_in_sweeps(by_part, sorted__, sorted__, there, stream, [counters, *others])
    launch(_moving, some, output.state, *long, sorted_numbers, sorted_row.state, row=sorted_row, more=(False,))


def _together(its: list[Iterator]) -> Iterator:
    return its[0] if len(its) == 1 else ZipIterator(*its)


def _row(arrays: list[Any]) -> Iterator:
    return _together([ArrayIterator(array) for array in arrays])
