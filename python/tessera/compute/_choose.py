# SPDX-License-Identifier: Apache-2.0
"""The one kernel on which everything stands that moves items to places that conditions decide.

    n items --> tiles, as in _scan.py: each thread has neighbours, and a bit for each that is chosen
            --> how many of each class the threads of the block before have
            --> in shared memory the items of a class stand side by side: first class, second class, rest
            --> how many were chosen in the tiles before (_lookback.py)
            --> neighbours are written by neighbouring lanes to the output of their class

One launch, stable. An item is read once; great ones (`_MOST_STAGED`) again where they are written. On a CPU one class
is listed chunk by chunk, two are scanned (_chunks.py).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy

from . import types
from ._arguments import Count
from ._chunks import Chosen, choose_in_chunks
from ._engine import THREADS, Memory, kernel_of, on_cpu
from ._lookback import before_tile, ended, memory_of
from ._scan import Scanned, over_tiles, run_scan
from .op import may_raise
from .struct import gpu_struct
from .types import TypeDescriptor

__all__ = ["PAIR", "Choice", "add_pairs", "choice_memory", "launch_choice", "run_choice"]

Function = Callable[..., Any]
_ITEM_BYTES = 128  # of shared memory for the items of a thread, at most
_MOST_STAGED = 16  # bytes of an item that goes through shared memory
_RESIDENT = 5  # blocks of a multiprocessor that there are registers for, at least: 723 us for 809, run lengths of 2^28
_WIDE = 1 << 31  # items whose places need 64 bits
_LOW = 16  # bits of a number of items of a tile
_MOST_ITEMS = 1 << 48
PAIR = gpu_struct({"first": numpy.int64, "second": numpy.int64}, "Counts")
_PAIR: TypeDescriptor = PAIR.__tessera_type__


def add_pairs(a: Any, b: Any) -> Any:
    return PAIR(a.first + b.first, a.second + b.second)


class Choice(NamedTuple):
    """What is chosen, and where it goes: functions of a kernel."""

    load: Function  # load(ins, i): item i
    flags: Function  # flags(ins, i, item): a tuple of one or two bools, whether item i is of class 0, of class 1
    moves: tuple[Function, ...]  # of each class, perhaps also of the rest: move(outs, ins, to, i, item)
    finish: Function  # finish(outs, counts): a tuple of the items of each class
    meets: Function | None = None  # meets(before, item, is_first): as flags, of the item and the one before it
    spans: Function | None = None  # spans(outs, to, begin, end): chosen item number ``to`` is at begin, the next at end


class _Shape(NamedTuple):
    """What the host knows of a choice."""

    classes: int
    size: int | None  # bytes of an item, if its type is known
    by_place: bool  # whether moves, or spans, look at i
    has_spans: bool
    is_wide: bool

    @property
    def staged(self) -> bool:
        return self.size is not None and self.size <= _MOST_STAGED

    @property
    def items(self) -> int:
        """Of a thread, a power of two."""
        each = max(4, self.size or 0) if self.staged else 32
        most = max(1, min(32, _ITEM_BYTES // (each + (2 if self.staged and self.by_place else 0))))
        return 1 << most.bit_length() - 1

    @property
    def published(self) -> TypeDescriptor:
        """What is published by tiles: a count for each class, perhaps with the place of the last item chosen."""
        one = types.int64 if self.is_wide else types.int32
        if self.classes == 1 and not self.has_spans:
            return one
        return types.struct({"first": one, "second": one}, "Counts")

    @property
    def none(self) -> tuple[int, ...]:
        """What stands before the first tile."""
        return (0,) * self.classes + ((-1,) if self.has_spans else ())

    def tiles(self, n: int) -> int:
        return max(1, -(-n // (self.items * THREADS)))


def _tallies(shape: _Shape) -> tuple[Function, Function, Function]:
    """Functions of a kernel on the numbers of a tile in one word: makes it of what a thread has, ``words`` with a bit
    for each chosen item, the first of which is at ``at``; puts two together; the numbers in it."""
    from ..cuda import clz, popc

    low = numpy.int32((1 << _LOW) - 1)
    has_spans, is_one = shape.has_spans, len(shape.none) == 1

    def tally(words: Any, at: Any) -> Any:
        count = numpy.int32(popc(words[0]))
        if is_one:
            return count
        if has_spans:
            after_last = at + (32 - numpy.int32(clz(words[0]))) if count > 0 else 0
            return numpy.int32(count | after_last << _LOW)
        return numpy.int32(count | numpy.int32(popc(words[1])) << _LOW)

    def add(a: Any, b: Any) -> Any:
        if has_spans:
            return numpy.int32((a & low) + (b & low) | max(a & ~low, b & ~low))
        return numpy.int32(a + b)

    def numbers(word: Any) -> Any:
        return (word,) if is_one else (numpy.int32(word & low), numpy.int32(word >> _LOW))

    return tally, add, numbers


def _looking(what: Choice, shape: _Shape) -> tuple[Function, ...]:
    """Functions of a kernel that read a tile, give one of the thread's items, which are neighbours, and give for each
    class a word with a bit for each item that is in it."""
    from ..coop._memory import slot, slots
    from ..cuda import syncwarp, threadIdx
    from ..cuda._device import is_quick
    from ..cuda._places import shared_like

    load, flags, meets, staged = what.load, what.flags, what.meets, shape.staged
    items, per_tile = shape.items, shape.items * THREADS
    each, each_class = tuple(range(items)), tuple(range(shape.classes))

    def read(ins: Any, first: Any, here: Any) -> Any:
        """Shared memory with the items of a tile, put there side by side by neighbouring lanes, where they go through
        it; of the last tile, whose items end early, the last one again and again."""
        t = threadIdx.x
        mine = t // 32 * (32 * items) + t % 32
        one = load(ins, first + min(mine, here - 1))
        place = shared_like(slots(per_tile) if staged else 1, one, True)
        if staged:
            place[slot(mine)] = one
            if here == per_tile and not is_quick():
                striped = tuple(load(ins, first + mine + 32 * j) for j in each[1:])
                for j in each[1:]:
                    place[slot(mine) + 33 * j] = striped[j - 1]
            else:
                j = 1
                while j < items:
                    place[slot(mine) + 33 * j] = load(ins, first + min(mine + 32 * j, here - 1))
                    j += 1
            syncwarp()
        return place

    def neighbour(ins: Any, first: Any, here: Any, place: Any, j: Any) -> Any:
        """A thread's item number j."""
        at = threadIdx.x * items
        return place[slot(at) + j] if staged else load(ins, first + min(at + j, here - 1))

    def edge_of(ins: Any, first: Any, here: Any, item: Any) -> Any:
        return item if meets is None else load(ins, max(first + min(threadIdx.x * items, here) - 1, 0))

    def met(ins: Any, i: Any, before: Any, item: Any) -> Any:
        return flags(ins, i, item) if meets is None else meets(before, item, i == 0)

    def marked(words: Any, j: Any, flag: Any) -> Any:
        bit = numpy.uint32(numpy.uint32(1) << numpy.uint32(j))
        return tuple(numpy.uint32(words[c] | (bit if flag[c] else numpy.uint32(0))) for c in each_class)

    def flagged(ins: Any, first: Any, here: Any, kept: Any, place: Any) -> Any:
        """An operator may count its calls: it is asked once for each item."""
        at, words = threadIdx.x * items, tuple(numpy.uint32(0) for _ in each_class)
        before = edge_of(ins, first, here, kept[0])
        if here == per_tile and not is_quick():
            for j in each:
                words = marked(words, j, met(ins, first + at + j, before, kept[j]))
                before = kept[j]
        else:
            j = 0
            while j < items and at + j < here:
                item = neighbour(ins, first, here, place, j)
                words = marked(words, j, met(ins, first + at + j, before, item))
                before = item
                j += 1
        return words

    return read, neighbour, flagged


def _placing(what: Choice, shape: _Shape) -> Function:
    """The function of a kernel by which the items of each class stand side by side in shared memory, their places in
    the tile beside them; in quick code only the places do."""
    from ..cuda import threadIdx
    from ..cuda._device import is_quick

    each, each_class = tuple(range(shape.items)), tuple(range(shape.classes))
    has_rest, staged, by_place = len(what.moves) > shape.classes, shape.staged, shape.by_place or not shape.staged
    items, per_tile = shape.items, shape.items * THREADS

    def put(place: Any, places: Any, to: Any, item: Any, at: Any, is_sure: bool) -> None:
        if is_sure or to < numpy.uint32(per_tile):
            if staged and not is_quick():
                place[_slot(to)] = item
            if by_place or is_quick():
                places[to] = numpy.uint16(at)

    def put_one(
        place: Any, places: Any, item: Any, at: Any, j: Any, words: Any, tos: Any, here: Any, is_sure: bool
    ) -> Any:
        """Puts a thread's item number j; where the next one goes."""
        bits = tuple(words[c] & numpy.uint32(numpy.uint32(1) << numpy.uint32(j)) for c in each_class)
        rest, ups = at + j < here, ()
        for c in each_class:
            if bits[c] != 0:
                put(place, places, tos[c], item, at + j, is_sure)
            rest = rest and bits[c] == 0
            ups += (numpy.uint32(tos[c] + (bits[c] >> numpy.uint32(j))),)
        if has_rest and rest:
            put(place, places, tos[-1], item, at + j, is_sure)
        return (*ups, numpy.uint32(tos[-1] + numpy.uint32(1 if rest else 0)))

    def placed(place: Any, places: Any, kept: Any, words: Any, tos: Any, here: Any, is_sure: bool) -> None:
        """``tos``: where the thread's first item of each class goes, and of the rest."""
        at = threadIdx.x * items
        if is_quick():
            for j in range(items):
                tos = put_one(place, places, None, at, j, words, tos, here, is_sure)
        else:
            for j in each:
                tos = put_one(place, places, kept[j], at, j, words, tos, here, is_sure)

    return placed


def _slot(i: Any) -> Any:
    """Where the i-th item is in shared memory, of numbers without a sign."""
    return numpy.uint32(i + (i >> numpy.uint32(5)))


def _choosing(what: Choice, shape: _Shape, number: Function, waits: bool) -> Callable[..., None]:
    from ..coop._block_scan import scan_threads
    from ..cuda import shared, syncthreads, threadIdx
    from ..cuda._device import is_quick

    load, moves, finish, spans = what.load, what.moves, what.finish, what.spans
    classes, items, staged, by_place = shape.classes, shape.items, shape.staged, shape.by_place or not shape.staged
    has_rest, is_one, none = len(moves) > classes, len(shape.none) == 1, shape.none
    each_class, per_tile = tuple(range(classes)), items * THREADS
    kind = shape.published
    (tally, add, numbers), placed = _tallies(shape), _placing(what, shape)
    read, neighbour, flagged = _looking(what, shape)
    each = tuple(range(items))
    end, before = ended(kind), before_tile(kind, _adding(shape), True, waits)
    cast = kind.cast

    def within(x: Any, most: Any) -> Any:
        """Counts are anything after an operator has raised."""
        return x if waits else min(max(x, 0), most)

    def staged_at(places: Any, q: Any) -> Any:
        return _slot(numpy.uint32(places[q]) if is_quick() else q)

    def write(
        cls: int, outs: Any, ins: Any, first: Any, place: Any, places: Any, low: Any, count: Any, to: Any, last: Any
    ) -> None:
        """Moves the items of a class, from ``low`` on in shared memory, to ``to`` and after."""
        for k in range(threadIdx.x, count, THREADS):
            q = numpy.uint32(low + k)
            i = first + numpy.int32(places[q]) if by_place or is_quick() else first
            moves[cls](outs, ins, to + k, i, place[staged_at(places, q)] if staged else load(ins, i))
            if spans is not None:
                begin = last
                if k > 0:
                    begin = first + numpy.int32(places[q - numpy.uint32(1)])
                if to + k > 0:
                    spans(outs, to + k - 1, begin, i)

    def held(ins: Any, first: Any, here: Any, place: Any) -> Any:
        """The thread's items; in quick code the first one."""
        if is_quick():
            return (neighbour(ins, first, here, place, 0),)
        return tuple(neighbour(ins, first, here, place, j) for j in each)

    def choose(tile: Any, tiles: Any, ins: Any, n: Any, outs: Any, init: Any, words: Any) -> None:
        t, first = threadIdx.x, min(max(tile * per_tile, 0), _MOST_ITEMS)
        here = numpy.int32(min(n - first, per_tile))
        place = read(ins, first, here)
        places = shared.array(per_tile if by_place or is_quick() else 1, numpy.uint16)
        kept = held(ins, first, here, place)
        bits = flagged(ins, first, here, kept, place)
        _, up, whole = scan_threads(tally(bits, t * items), add, THREADS)
        ups, counts = numbers(numpy.int32(0) if t == 0 else up), numbers(whole)
        published = cast(of_tile(counts, first))
        outside = before(tile, tiles, published, cast(none if not is_one else none[0]), words)
        if waits:
            end(words, tile, tiles)
        outside = (outside,) if is_one else (outside[0], outside[1])
        low, lows, tos, rest = numpy.int32(0), (), (), min(t * items, here)
        for c in each_class:
            lows += (low,)
            tos += (numpy.uint32(low + ups[c]),)
            low = numpy.int32(low + within(counts[c], per_tile))
            rest -= ups[c]
        placed(place, places, kept, bits, (*tos, numpy.uint32(low + rest)), here, waits)
        syncthreads()
        starts_rest = first
        last = outside[1] if spans is not None else 0
        for c in each_class:
            start = min(max(outside[c], 0), _MOST_ITEMS)
            count = within(counts[c], numpy.int32(max(min(n - start, here), 0)))
            write(c, outs, ins, first, place, places, lows[c], count, start, last)
            starts_rest -= outside[c]
        if has_rest:
            start = min(max(starts_rest, 0), _MOST_ITEMS)
            write(classes, outs, ins, first, place, places, low, within(here - low, per_tile), start, last)
        if t == 0 and tile == tiles - 1:
            total = tuple(outside[c] + counts[c] for c in each_class)
            if spans is not None:
                if total[0] > 0:
                    spans(outs, total[0] - 1, max(published[1], last), n)
            finish(outs, total)

    def of_tile(counts: Any, first: Any) -> Any:
        if is_one:
            return counts[0]
        if spans is not None:
            return counts[0], first + counts[1] - 1 if counts[1] > 0 else -1
        return counts

    return over_tiles(choose, lambda outs: finish(outs, (0,) * classes), number, waits, per_tile)


def _adding(shape: _Shape) -> Function:
    """The sum of what tiles publish."""
    if len(shape.none) == 1:
        return lambda a, b: a + b
    cast = shape.published.cast
    if shape.has_spans:
        return lambda a, b: cast((a[0] + b[0], max(a[1], b[1])))
    return lambda a, b: cast((a[0] + b[0], a[1] + b[1]))


def _listed(what: Choice) -> Chosen:
    """One class, as chunks of a CPU take it."""
    load, flags, moves, finish = what[:4]
    return Chosen(
        load, lambda ins, i, item: flags(ins, i, item)[0], moves[0], moves[-1] if len(moves) > 1 else None,
        lambda outs, number: finish(outs, (number,)),
    )  # fmt: skip


def _scanned(what: Choice) -> Scanned:
    """Two classes, as a scan of counts, whose ``ins`` are those of the choice, and how many items there may be."""
    load, flags, moves, finish = what[:4]
    first, second, rest, has_rest = moves[0], moves[1], moves[-1], len(moves) > 2

    def counts(ins: Any, i: Any) -> Any:
        flag = flags(ins[0], i, load(ins[0], i))
        return PAIR(1 if flag[0] else 0, 1 if flag[1] else 0)

    def emit(outs: Any, ins: Any, i: Any, before: Any, after: Any) -> None:
        item, n, to = load(ins[0], i), ins[1], i - after.first - after.second
        if after.first != before.first:  # counts are anything after an operator has raised
            if 0 <= before.first < n:
                first(outs, ins[0], before.first, i, item)
        elif after.second != before.second:
            if 0 <= before.second < n:
                second(outs, ins[0], before.second, i, item)
        elif has_rest:
            if 0 <= to < n:
                rest(outs, ins[0], to, i, item)

    def finish_both(outs: Any, total: Any) -> None:
        finish(outs, (total.first, total.second))

    return Scanned(_PAIR, counts, add_pairs, emit, finish_both, lambda state: PAIR(0, 0), (0, 0))


def run_choice(
    make: Callable[[], Choice], classes: int, has_rest: bool, size: int | None, key: Any, n: Count, ins: Any,
    outs: Any, memory: Memory, by_place: bool = True, has_spans: bool = False,
    library_words: Callable[..., str | None] | None = None,
) -> int | None:  # fmt: skip
    """Moves n items of ``size`` bytes, if that is known: ``make`` says where, and is called once for a key. What a
    condition that raises ends is as in `launch_scan`.

    Returns
    -------
    int or None
        The bytes of temporary memory, if the caller only asks.
    """
    if on_cpu():
        if classes == 1:
            of_library = library_words and (lambda: library_words("cpu"))
            return choose_in_chunks(lambda: _listed(make()), (key, n.kind), n, ins, outs, memory, has_rest, of_library)
        none = numpy.int32(0)
        return run_scan(lambda: _scanned(make()), _PAIR, key, n, (ins, n.most), outs, none, memory, True)
    shape = _Shape(classes, size, by_place, has_spans, n.most >= _WIDE)
    found = memory.take(memory_of(shape.published, shape.tiles(n.most)))
    if found is None:
        return memory.nbytes
    of_library = library_words and (lambda: library_words("gpu", bytes=size, wide=int(n.most >= _WIDE)))
    _launch(make, shape, key, n, ins, outs, memory.stream, found[0], of_library)
    return None


def choice_memory(classes: int, size: int, n: int) -> tuple[Any, int]:
    """What `launch_choice` takes of temporary memory, which are counters."""
    shape = _Shape(classes, size, True, False, n >= _WIDE)
    return memory_of(shape.published, shape.tiles(n))


def launch_choice(
    make: Callable[[], Choice], classes: int, size: int, key: Any, n: Count, ins: Any, outs: Any, stream: Any,
    words: Any,
) -> None:  # fmt: skip
    """`run_choice` on a GPU in memory that was taken."""
    _launch(make, _Shape(classes, size, True, False, n.most >= _WIDE), key, n, ins, outs, stream, words)


def _launch(
    make: Callable[[], Choice], shape: _Shape, key: Any, n: Count, ins: Any, outs: Any, stream: Any, words: Any,
    library_words: Callable[[], str | None] | None = None,
) -> None:  # fmt: skip
    waits = not may_raise(key)
    bounds = (THREADS, _RESIDENT)
    kernel = kernel_of(_choosing, (key, n.kind, shape), lambda: (make(), shape, n.load(), waits), bounds, library_words)
    blocks = shape.tiles(n.most) if waits else 1
    kernel[blocks, THREADS, stream](ins, n.state, outs, numpy.int32(0), words, blocks)
