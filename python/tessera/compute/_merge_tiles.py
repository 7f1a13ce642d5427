# SPDX-License-Identifier: Apache-2.0
"""Kernels that merge two sorted sequences tile by tile, for merges and sets (_sets.py).

    two sequences --> tiles of the merge, each of THREADS * ITEMS: where one begins in either is found by warps, that
                      ask at 32 places at once along a diagonal (merge path: Green, McColl, Bader, "GPU Merge
                      Path", 2012)
                  --> a block reads both pieces into shared memory; each thread merges ITEMS neighbours
                  --> a merge is written; of sets threads note where their items are, and whether they stay: one that is
                      the r-th of its equals is in the other sequence, too, if that has an equal item r places on
                  --> what stays stands side by side, behind what stays of the tiles before (_lookback.py); or, on a CPU
                      and of two types, a flag is written for each item (_choose.py)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy

from . import types
from ._engine import THREADS, on_cpu
from ._lookback import before_tile, ended, next_tile
from .iterators import Iterator
from .op import Operator

__all__ = ["FEW", "FEW_ITEMS", "ITEMS", "Chosen", "Ends", "choosing", "merging", "nothing", "per_thread"]

Function = Callable[..., Any]
ITEMS = 13  # of a thread, an odd number: threads that write neighbours to shared memory meet different banks
FEW_ITEMS, FEW = 7, 1 << 19  # of a thread in merges of fewer items in all on a GPU: there are more blocks then
_SHARED = 32768  # bytes of the items of a tile; of greater ones fewer stand in a tile
_FULL = 0xFFFFFFFF
_IS_FIRST, _IS_THERE = 1, 2  # of an item of a merge: bits below its place in its piece


class Ends(NamedTuple):
    """What becomes of the items of a merge: functions of a kernel, for those of the first and of the second sequence.

    ``put(out, to, i, item, is_there)``: an item, number i of its sequence and number ``to`` of the merge. ``asks``: for
    which sequence it is to be known whether the other one has the item, too.
    """

    put: tuple[Function | None, Function | None]
    asks: tuple[bool, bool] = (False, False)
    only_items: bool = False  # whether ``put`` takes nothing but the item and its place, of both sequences alike


def per_thread(n: int, *sequences: Iterator) -> int:
    """Items of a thread in a merge of up to n, of which two tiles fit in shared memory."""
    most = FEW_ITEMS if n < FEW and not on_cpu() else ITEMS
    size = max(16 if it.value_type is None else it.value_type.size for it in sequences)
    return max(1, min(most, _SHARED // (2 * THREADS * size)))


def _splitting(a: Function, b: Function, less: Function) -> Function:
    """The function of a kernel by which a warp finds how many of the first ``at`` items of a merge are of its first
    sequence."""
    from ..cuda import ballot_sync, popc, threadIdx

    def split(first: Any, n: Any, second: Any, m: Any, at: Any) -> Any:
        low, high = max(at - m, 0), min(at, n)
        while low < high:
            step = (high - low + 31) // 32
            place, is_first = low + threadIdx.x % 32 * step, False
            if place < high:
                is_first = not less(b(second, at - 1 - place), a(first, place))
            found = numpy.int32(popc(ballot_sync(_FULL, is_first)))
            if found > 0:
                high = min(low + found * step, high)
                low += (found - 1) * step + 1
            else:
                high = low
        return low

    return split


def _equals(load: Function, less: Function) -> Function:
    """The function of a kernel that says how many items before item i of a sequence equal it."""

    def equals(s: Any, i: Any, v: Any) -> Any:
        high, step = i, numpy.int64(1)
        while high > 0 and not less(load(s, max(high - step, 0)), v):
            high = max(high - step, 0)
            step *= 2
        low = max(high - step, 0)
        while low < high:
            middle = (low + high) // 2
            if less(load(s, middle), v):
                low = middle + 1
            else:
                high = middle
        return i - high

    return equals


def _shared_pieces(a: Function, b: Function, is_one: bool, per_tile: int) -> tuple[Function, Function]:
    """Functions of a kernel for the pieces of a tile, those of the second sequence behind those of the first if their
    items are of one type: the place of the second's, given that of the first's; and where in it they begin, and up to
    where items may be read in either place, so that what is read is an item."""
    from ..cuda._places import shared_like

    if is_one:
        return (lambda sa, second: sa), (lambda n_a, here: (n_a, numpy.int32(here - 1), numpy.int32(here - 1)))

    def bounds(n_a: Any, here: Any) -> Any:
        return numpy.int32(0), numpy.int32(max(n_a - 1, 0)), numpy.int32(max(here - n_a - 1, 0))

    return (lambda sa, second: shared_like(per_tile, b(second, 0))), bounds


def _asking(a: Function, b: Function, less: Function) -> tuple[Function, Function]:
    """Functions of a kernel for an item of the first, and of the second: how many of its sequence before it equal it,
    given that of the item before (less than 0: not known), and whether the other sequence has as many and one more."""
    equals_a, equals_b = _equals(a, less), _equals(b, less)

    def ask_first(
        first: Any, second: Any, m: Any, sa: Any, sb: Any, base: Any, n_b: Any, a0: Any, b0: Any, i: Any, j: Any,
        v: Any, before: Any,
    ) -> Any:  # fmt: skip
        alike = numpy.int64(0)
        if i == 0 or not less(sa[max(i - 1, 0)], v):
            alike = before + 1 if before >= 0 else equals_a(first, a0 + i, v)
        if j + alike < n_b:
            return alike, not less(v, sb[base + j + numpy.int32(alike)])
        return alike, b0 + j + alike < m and not less(v, b(second, min(b0 + j + alike, m - 1)))

    def ask_second(
        first: Any, second: Any, m: Any, sa: Any, sb: Any, base: Any, n_b: Any, a0: Any, b0: Any, i: Any, j: Any,
        v: Any, before: Any,
    ) -> Any:  # fmt: skip
        alike = numpy.int64(0)
        if j == 0 or not less(sb[base + max(j - 1, 0)], v):
            alike = before + 1 if before >= 0 else equals_b(second, b0 + j, v)
        if alike < i:
            return alike, not less(sa[i - 1 - numpy.int32(alike)], v)
        return alike, a0 + i > alike and not less(a(first, max(a0 + i - 1 - alike, 0)), v)

    return ask_first, ask_second


def _placing(less: Function) -> Function:
    def place_in(sa: Any, sb: Any, base: Any, n_a: Any, n_b: Any, at: Any) -> Any:
        """How many of the first ``at`` items of a tile are of the first sequence."""
        low, high = max(numpy.int32(at - n_b), 0), min(at, n_a)
        while low < high:
            middle = (low + high) // 2
            if less(sb[numpy.uint32(base + at - 1 - middle)], sa[numpy.uint32(middle)]):
                high = middle
            else:
                low = middle + 1
        return numpy.int32(low)

    return place_in


def _merging_items(less: Function, items: int) -> Function:
    """The function of a kernel that gives a thread's items of the merge of two pieces that stand side by side, and of
    which one more than there are may be read."""
    from ..cuda import threadIdx

    place_in, each = _placing(less), tuple(range(items))

    def merged(sa: Any, n_a: Any, here: Any) -> Any:
        at = min(threadIdx.x * items, here)
        i = place_in(sa, sa, n_a, n_a, numpy.int32(here - n_a), at)
        mine: Any = ()
        j = numpy.int32(n_a + at - i)  # of the second piece, from the first item of the first one on
        va, vb = sa[numpy.uint32(i)], sa[numpy.uint32(j)]
        for _ in each:
            is_first = j >= here or (i < n_a and not less(vb, va))
            mine += (va if is_first else vb,)
            i, j = numpy.int32(i + 1 if is_first else i), numpy.int32(j if is_first else j + 1)
            following = sa[numpy.uint32(min(i if is_first else j, here))]
            va, vb = following if is_first else va, vb if is_first else following
        return mine

    return merged


def _walking(
    a: Function, b: Function, op: Operator, ends: Ends, is_one: bool, bounds: Function, items: int
) -> Function:
    """The function of a kernel that notes for each of a thread's items of the merge where it stands in its piece, of
    which it is, and whether the other sequence has it."""
    from ..cuda import threadIdx

    function, (asks_first, asks_second) = op.function, ends.asks
    less = lambda v, w: bool(function(v, w))  # noqa: E731
    ask_first, ask_second = _asking(a, b, less)

    place_in = _placing(less)

    def walk(
        first: Any, second: Any, m: Any, a0: Any, b0: Any, n_a: Any, here: Any, sa: Any, sb: Any, codes: Any
    ) -> None:
        n_b, at = numpy.int32(here - n_a), min(threadIdx.x * items, here)
        base, last_a, last_b = bounds(n_a, here)
        i = place_in(sa, sb, base, n_a, n_b, at)
        j, alike_a, alike_b = numpy.int32(at - i), numpy.int64(-1), numpy.int64(-1)
        va, vb = sa[numpy.uint32(min(i, last_a))], sb[numpy.uint32(min(base + j, last_b))]
        for k in range(at, min(at + items, here)):
            is_first = j >= n_b or (i < n_a and not less(vb, va))
            code = numpy.int32(4 * i + _IS_FIRST if is_first else 4 * (base + j))
            if asks_first or asks_second:
                given = first, second, m, sa, sb, base, n_b, a0, b0, i, j
                is_there = False
                if is_first:
                    if asks_first:
                        alike_a, is_there = ask_first(*given, va, alike_a)
                elif asks_second:
                    alike_b, is_there = ask_second(*given, vb, alike_b)
                code = numpy.int32(code + _IS_THERE if is_there else code)
            codes[numpy.uint32(k)] = numpy.uint16(code)
            i, j = numpy.int32(i + 1 if is_first else i), numpy.int32(j if is_first else j + 1)
            if is_one:
                following = sa[numpy.uint32(min(i if is_first else numpy.int32(base + j), last_a))]
                va, vb = following if is_first else va, vb if is_first else following
            else:
                va, vb = sa[numpy.uint32(min(i, last_a))], sb[numpy.uint32(min(j, last_b))]

    return walk


class _Tiles(NamedTuple):
    """Functions of a kernel on a tile of a merge."""

    taken: Function  # taken(first, n, second, m, tile): what `walk` takes, of a tile that has been read
    walk: Function
    bounds: Function


def _tiles(
    a: Function, b: Function, op: Operator, ends: Ends, items: int, is_one: bool, is_alike: bool
) -> _Tiles:
    from ..cuda import shared, syncthreads, threadIdx
    from ..cuda._device import is_quick
    from ..cuda._places import shared_like

    function, each, per_tile = op.function, tuple(range(items)), items * THREADS
    split = _splitting(a, b, lambda v, w: bool(function(v, w)))
    place_of_second, bounds = _shared_pieces(a, b, is_one, per_tile)

    def either(first: Any, second: Any, a0: Any, from_second: Any, at: Any, is_first: Any) -> Any:
        if is_alike:  # one load, of a place that is chosen
            return a(first if is_first else second, (a0 if is_first else from_second) + at)
        return a(first, a0 + at) if is_first else b(second, from_second + at)

    def read_at_once(first: Any, second: Any, a0: Any, b0: Any, n_a: Any, sa: Any) -> None:
        """A full tile: nothing is put down before all is on its way."""
        from_second = b0 - n_a
        places = tuple(k * THREADS + threadIdx.x for k in each)
        found = tuple(either(first, second, a0, from_second, at, at < n_a) for at in places)
        for k in each:
            sa[numpy.uint32(places[k])] = found[k]

    def read_slowly(first: Any, second: Any, a0: Any, b0: Any, n_a: Any, here: Any, sa: Any, sb: Any) -> None:
        base, _, _ = bounds(n_a, here)
        for k in range(items) if is_quick() else each:
            at = k * THREADS + threadIdx.x
            if at < n_a:
                sa[at] = a(first, a0 + at)
            elif at < here:
                sb[base + (at - n_a)] = b(second, b0 + (at - n_a))
        if not is_one and threadIdx.x == 0:  # what is read where there are none
            if n_a == 0:
                sa[0] = a(first, 0)
            if n_a == here:
                sb[0] = b(second, 0)

    def ends_of(first: Any, n: Any, second: Any, m: Any, tile: Any) -> Any:
        """How many items of a merge before a tile, and before the next, are of the first sequence."""
        t, found = threadIdx.x, shared.array(2, numpy.int64)
        if t < 64:
            place = split(first, n, second, m, min((tile + t // 32) * per_tile, n + m))
            if t % 32 == 0:
                found[t // 32] = place
        syncthreads()
        return found[0], found[1]

    def taken(first: Any, n: Any, second: Any, m: Any, tile: Any) -> Any:
        begin = tile * per_tile
        here = numpy.int32(max(min(n + m - begin, per_tile), 0))
        a0, a1 = ends_of(first, n, second, m, tile)
        sa = shared_like(per_tile + 1, a(first, 0))
        b0, sb = begin - a0, place_of_second(sa, second)
        n_a = numpy.int32(min(max(a1 - a0, 0), here))  # it is less than 0 after a comparison that is no order
        if is_one and here == per_tile and not is_quick():
            read_at_once(first, second, a0, b0, n_a, sa)
        else:
            read_slowly(first, second, a0, b0, n_a, here, sa, sb)
        syncthreads()
        return first, second, m, a0, b0, n_a, here, sa, sb

    return _Tiles(taken, _walking(a, b, op, ends, is_one, bounds, items), bounds)


def merging(
    a: Function, b: Function, op: Operator, numbers: tuple[Function, Function], ends: Ends, items: int, is_one: bool,
    is_alike: bool = True,
) -> Callable[..., None]:  # fmt: skip
    """The kernel that merges two sequences of as many items as ``numbers`` say, of one type or of two."""
    from ..cuda import blockIdx, shared, syncthreads, threadIdx
    from ..cuda._device import is_quick

    function, (number1, number2), (put_first, put_second) = op.function, numbers, ends.put
    each, per_tile, is_same = tuple(range(items)), items * THREADS, is_one and put_first is put_second
    taken, walk, bounds = _tiles(a, b, op, ends, items, is_one, is_alike)
    merged, only_items = _merging_items(lambda v, w: bool(function(v, w)), items), is_same and ends.only_items

    def write(out: Any, begin: Any, a0: Any, b0: Any, n_a: Any, here: Any, sa: Any, sb: Any, codes: Any) -> None:
        base, _, _ = bounds(n_a, here)
        for k in range(items) if is_quick() else each:
            at = k * THREADS + threadIdx.x
            if at < here:
                code = numpy.int32(codes[numpy.uint32(at)])
                place, is_first, is_there = code >> 2, code & _IS_FIRST != 0, code & _IS_THERE != 0
                if is_same:
                    i = (a0 if is_first else b0 - base) + place
                    put_first(out, begin + at, i, sa[numpy.uint32(place)], is_there)
                elif is_first:
                    put_first(out, begin + at, a0 + place, sa[numpy.uint32(place)], is_there)
                else:
                    put_second(out, begin + at, b0 + (place - base), sb[numpy.uint32(place)], is_there)

    def write_items(out: Any, begin: Any, here: Any, sa: Any, mine: Any) -> None:
        for k in each:
            sa[numpy.uint32(threadIdx.x * items + k)] = mine[k]
        syncthreads()
        for k in each:
            at = k * THREADS + threadIdx.x
            if at < here:
                put_first(out, begin + at, 0, sa[numpy.uint32(at)], False)

    def merge(first: Any, second: Any, sizes: Any, out: Any) -> None:
        n, m, tile = number1(sizes[0]), number2(sizes[1]), numpy.int64(blockIdx.x)
        if tile * per_tile >= n + m:
            return
        given = taken(first, n, second, m, tile)
        a0, b0, n_a, here, sa, sb = given[3:]
        if only_items and not is_quick():
            if threadIdx.x == 0:
                sa[numpy.uint32(here)] = sa[0]
            syncthreads()
            mine = merged(sa, n_a, here)
            syncthreads()
            write_items(out, tile * per_tile, here, sa, mine)
            return
        codes = shared.array(per_tile, numpy.uint16)
        walk(*given, codes)
        syncthreads()
        write(out, tile * per_tile, a0, b0, n_a, here, sa, sb, codes)

    return merge


class Chosen(NamedTuple):
    """What stays of a merge: functions of a kernel."""

    asks: tuple[bool, bool]
    stays: Function  # stays(is_first, is_there)
    put: Function  # put(out, to, item)
    finish: Function  # finish(out, number)


def choosing(
    a: Function, b: Function, op: Operator, numbers: tuple[Function, Function], what: Chosen, items: int,
    is_alike: bool, is_wide: bool,
) -> Callable[..., None]:  # fmt: skip
    """The kernel that merges and puts what stays side by side: tiles tell each other how much stays of them."""
    from ..coop._block_scan import scan_threads
    from ..cuda import shared, syncthreads, threadIdx

    (number1, number2), each, per_tile = numbers, tuple(range(items)), items * THREADS
    taken, walk, _ = _tiles(a, b, op, Ends((None, None), what.asks), items, True, is_alike)
    kind = types.int64 if is_wide else types.int32
    ticket, end, before = next_tile(), ended(kind), before_tile(kind, lambda v, w: v + w, True, True)
    stays, put, cast = what.stays, what.put, kind.cast

    def stay(code: Any) -> Any:
        return stays(code & _IS_FIRST != 0, code & _IS_THERE != 0)

    def squeeze(codes: Any, mine: Any, at: Any, here: Any, to: Any) -> None:
        for k in each:
            if at + k < here and stay(mine[k]):
                codes[numpy.uint32(to)] = numpy.uint16(mine[k])
                to = numpy.int32(to + 1)

    def choose(first: Any, second: Any, sizes: Any, out: Any, words: Any, blocks: Any) -> None:
        n, m, tile, t = number1(sizes[0]), number2(sizes[1]), ticket(words, blocks), threadIdx.x
        tiles = (n + m + (per_tile - 1)) // per_tile
        if tile < tiles:
            given, at = taken(first, n, second, m, tile), t * items
            here, sa, codes, count = given[6], given[7], shared.array(per_tile, numpy.uint16), numpy.int32(0)
            walk(*given, codes)
            mine = tuple(numpy.int32(codes[numpy.uint32(at + k)]) for k in each)
            for k in each:
                count = numpy.int32(count + 1 if at + k < here and stay(mine[k]) else count)
            _, up, whole = scan_threads(count, lambda v, w: numpy.int32(v + w), THREADS)
            outside = before(tile, tiles, cast(whole), cast(0), words)
            end(words, tile, tiles)
            squeeze(codes, mine, at, here, up if t > 0 else numpy.int32(0))
            syncthreads()
            for q in range(t, whole, THREADS):
                place = numpy.int32(codes[numpy.uint32(q)]) >> 2
                put(out, outside + q, sa[numpy.uint32(place)])
            if t == 0 and tile == tiles - 1:
                what.finish(out, outside + whole)
        elif tile == 0 and t == 0:
            what.finish(out, numpy.int64(0))

    return choose


def nothing(out: Any, to: Any, i: Any, item: Any, is_there: Any) -> None:
    """What becomes of items that are asked for only."""
