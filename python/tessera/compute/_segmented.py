# SPDX-License-Identifier: Apache-2.0
"""Reductions of many parts of a sequence, each by itself, at a cost that does not depend on how long the parts are.

    lengths of parts --> scanned: offsets          where the items of a part stand when all parts stand in a row
    items and ends of parts --> one list of steps  an end comes before an item where the part ends there (merge path:
                                                   Merrill and Garland, "Merge-based parallel sparse matrix-vector
                                                   multiplication", 2016)
    steps --> SPANS of the same length, each by one block, in tiles of THREADS * STEPS --> parts that end in a span
            --> the block that ends last puts together what spans have left of parts that began before them

Where spans and tiles are depends on the lengths of the parts only, so the bits of floats are the same on all devices.
Of few steps there are fewer spans: blocks without one end at once.
Two launches; the number of items is found on the device. On a CPU the same is done by one thread a block, with the same
bits. This is the way of operators that are not known to be commutative, of great values and of items whose number is
not known; where no part of them is long, one thread takes each. For all else see _part_reduce.py.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
from numpy import int32, int64, uint64

from . import _part_reduce, types
from ._arguments import Count, checked_count, init_of, stream_of, whole_numbers
from ._engine import POOL, THREADS, Memory, algorithm, kernel_of, on_cpu
from ._lookback import in_words, words_in
from ._overlap import separate
from ._scan import Scanned, launch_scan, scan_memory
from .iterators import Iterator, iterator_of
from .op import numbers_win, operator_of
from .types import TypeDescriptor

__all__ = ["checked_segments", "offsets_of", "segmented_reduce"]

Function = Callable[..., Any]
STEPS, SPANS = 8, 2048
TILE = THREADS * STEPS
BLOCKS_ON_CPU = 64  # which share the spans
_SHORT = 64  # items of a part that one thread takes
_RESIDENT = 6  # blocks of a multiprocessor that there are registers for, at least: 513 us for 730, 2^26 items
_MOST_STAGED = 16  # bytes of an item that goes through shared memory

_ENDLESS = 1 << 62  # items of a sequence whose end is not known

_PLACES = types.int64


def checked_segments(num_segments: Any, *sequences: Any) -> int:
    """A number of parts that arrays must have."""
    if isinstance(num_segments, int) and num_segments > 2**31 - 1:
        raise RuntimeError(f"{num_segments} segments are more than the 2147483647 that are possible")
    return checked_count(num_segments, "num_segments", *sequences)


def offsets_of(starts: Any, ends: Any, n: Count) -> tuple[Iterator, Iterator]:
    """Where parts of n items begin and end: what is before the first item or behind the last is in no part."""
    given = whole_numbers(starts, "start_offsets_in"), whole_numbers(ends, "end_offsets_in")
    return _Within(given[0], n), _Within(given[1], n)


class _Within(Iterator):
    """Places among n items: 0 for those before the first, n for those behind the last."""

    is_input_iterator, is_output_iterator, value_type, _order = True, False, types.int64, 1

    def __init__(self, under: Iterator, n: Count) -> None:
        self.under, self.n, self.length, self.children = under, n, under.length, (under,)
        self.state, self.kind = (under.state, n.state), ("within", under.kind, n.kind)

    def load(self) -> Function:
        load, number = self.under.load(), self.n.load()

        def within(s: Any, i: Any) -> Any:
            place, n = load(s[0], i), int64(number(s[1]))
            if place.dtype.kind == "u" and place.dtype.itemsize == 8:
                return int64(min(place, uint64(n)))
            return min(max(int64(place), int64(0)), n)

        return within


def _offsets(starts: Any, ends: Any) -> Scanned:
    """The scan that gives where parts begin when they stand in a row."""
    start, end = starts.load(), ends.load()

    def length(ins: Any, s: Any) -> Any:
        return max(end(ins[1], s) - start(ins[0], s), 0)

    def emit(offsets: Any, ins: Any, s: Any, before: Any, after: Any) -> None:
        offsets[s] = before
        offsets[s + 1] = after

    return Scanned(_PLACES, length, lambda a, b: a + b, emit, None, lambda state: 0)


def _records(kind: TypeDescriptor) -> tuple[Any, Any]:
    """What steps leave behind: whether a part ended among them, whether items stand after the last end, and these put
    together. And what a span does: the first part that ended there, its items in the span; what the last steps left."""
    carried = types.struct({"ended": int32, "has": int32, "value": kind}, "Carried")
    return carried, types.struct({"part": int64, "head": carried, "tail": carried}, "Span")


def _ended_at(offsets: Any, low: Any, high: Any, step: Any) -> Any:
    """How many of the first ``step`` steps are ends of parts; ``low`` to ``high``."""
    while low < high:
        mid = (low + high) // 2
        if offsets[mid + 1] <= step - 1 - mid:
            low = mid + 1
        else:
            high = mid
    return low


def _of_carried(carried: Any, store: Function, op: Function, kind: TypeDescriptor, cast_out: Function) -> Any:
    """Functions of a kernel: puts together what two runs of steps left; stores the result of a part."""
    Carried, cast = carried.cls, kind.cast

    def joined(a: Any, b: Any) -> Any:
        if b.ended != 0:
            return b
        if a.has == 0:
            return Carried(a.ended, b.has, b.value)
        if b.has == 0:
            return a
        return Carried(a.ended, a.has, cast(op(a.value, b.value)))

    def emit(out: Any, part: Any, init: Any, all_: Any) -> None:
        total = cast(init)
        if all_.has != 0:
            total = cast(op(total, all_.value))
        store(out, part, cast_out(total))

    return joined, emit


def _ended_at_once() -> Function:
    """The function of a kernel by which a block does the same, asking at THREADS places at once."""
    from ..cuda import syncthreads_count, threadIdx

    def ended_at(offsets: Any, low: Any, high: Any, step: Any) -> Any:
        while low < high:
            apart = (high - low + (THREADS - 1)) // THREADS
            mid = low + threadIdx.x * apart
            found = int64(syncthreads_count(mid < high and offsets[min(mid, high - 1) + 1] <= step - 1 - mid))
            high = min(low + found * apart, high)
            low = min(low + max(found - 1, 0) * apart + min(found, 1), high)
        return low

    return ended_at


def _ends_in_tile() -> Function:
    """The function of a kernel by which a block finds how many parts end among the ``here`` steps before step ``last``,
    from part ``low`` on: every eighth is looked at by a thread, then those between two of them."""
    from ..cuda import syncthreads_count, threadIdx

    def ends_in_tile(offsets: Any, parts: Any, low: Any, here: Any, last: Any) -> Any:
        t = threadIdx.x
        part = low + t * STEPS
        found = syncthreads_count(t * STEPS < here and part < parts and offsets[part + 1] <= last - 1 - part)
        if found == 0:
            return int32(0)
        part = low + (found - 1) * STEPS + t
        more = syncthreads_count(t < STEPS and part < parts and offsets[part + 1] <= last - 1 - part)
        return int32((found - 1) * STEPS + more)

    return ends_in_tile


def _staging(load: Function, start: Function, kind: TypeDescriptor) -> Function:
    """The function of a kernel by which a block has a tile at hand: in ``rel`` where its parts end, counted from its
    first item; and in ``items`` the items, unless they are great or the parts do not stand in a row. Gives whether they
    do."""
    from ..coop._memory import slot
    from ..cuda import syncthreads_or, threadIdx
    from ..cuda._device import is_quick

    put, cast, is_small, rounds = kind.put, kind.cast, kind.size <= _MOST_STAGED, tuple(range(STEPS))

    def stage(src: Any, starts: Any, offsets: Any, parts: Any, low: Any, first: Any, ends: Any, rel: Any, items: Any,
              n_items: Any) -> Any:  # fmt: skip
        t, shift, apart = threadIdx.x, start(starts, low) - offsets[low], not is_small
        for k in range(t, ends, THREADS):
            end = offsets[low + k + 1]
            rel[k] = int32(end - first)
            if low + k + 1 < parts:
                apart |= start(starts, low + k + 1) - end != shift
        in_a_row = syncthreads_or(apart) == 0
        if in_a_row:
            for j in range(STEPS) if is_quick() else rounds:
                i = j * THREADS + t
                if i < n_items:
                    put(items, slot(i), cast(load(src, first + shift + i)))
        return in_a_row

    return stage


def _walking_there(
    carried: Any, load: Function, start: Function, op: Function, kind: TypeDescriptor, emit: Function
) -> Function:
    """The function of a kernel that takes a few steps of a tile that is staged, from step ``at`` of it on: gives what
    they leave, the first part that ended among them (less than 0: none) with its items among them."""
    from ..coop._memory import slot

    from ..cuda._device import is_quick

    Carried, get, cast, zero = carried.cls, kind.get, kind.cast, kind.zero

    def neighbours(items: Any, i: Any) -> Any:
        total = cast(get(items, slot(i)))
        for j in tuple(range(1, STEPS)):
            total = cast(op(total, cast(get(items, slot(i + j)))))
        return total

    def walk(
        src: Any, starts: Any, offsets: Any, out: Any, init: Any, at: Any, here: Any, low: Any, first: Any, ends: Any,
        rel: Any, items: Any, in_a_row: Any,
    ) -> Any:  # fmt: skip
        mine, head, ended_first = Carried(0, 0, cast(zero)), Carried(0, 0, cast(zero)), int64(-1)
        k, high = int32(0), ends  # the parts that ended before
        while k < high:
            mid = (k + high) // 2
            if rel[mid] <= at - 1 - mid:
                k = int32(mid + 1)
            else:
                high = int32(mid)
        i = int32(at - k)
        if not is_quick() and in_a_row and at + STEPS <= here:  # most have no end among them, with the same bits
            if k == ends or rel[min(k, ends - 1)] >= i + STEPS:
                return Carried(0, 1, neighbours(items, i)), ended_first, head
        for _ in range(at, min(at + STEPS, here)):
            if k < ends and rel[min(k, ends - 1)] <= i:
                if mine.ended != 0:
                    emit(out, low + k, init, mine)
                else:
                    head, ended_first = mine, low + k
                mine = Carried(1, 0, cast(zero))
                k = int32(k + 1)
            else:
                v = cast(zero)
                if in_a_row:
                    v = cast(get(items, slot(i)))
                else:
                    v = cast(load(src, start(starts, low + k) + (first + i - offsets[low + k])))
                if mine.has != 0:
                    v = cast(op(mine.value, v))
                mine = Carried(mine.ended, 1, v)
                i = int32(i + 1)
        return mine, ended_first, head

    return walk


def _balanced(
    load: Function, start: Function, store: Function, op: Function, kind: TypeDescriptor, cast_out: Function
) -> Callable[..., None]:
    from ..coop._block_scan import scan_threads
    from ..coop._memory import slot, slots
    from ..cuda import atomic, blockIdx, shared, syncthreads, threadfence, threadIdx
    from ..cuda._device import is_quick

    (carried, record), cast, zero = _records(kind), kind.cast, kind.zero
    Carried, Span, (get, put), item_of = carried.cls, record.cls, in_words(record), kind.get
    joined, emit = _of_carried(carried, store, op, kind, cast_out)
    stage, walk = _staging(load, start, kind), _walking_there(carried, load, start, op, kind, emit)
    ends_in_tile, ended_at = _ends_in_tile(), _ended_at_once()
    dtype, room = kind.dtype, slots(TILE) if kind.size <= _MOST_STAGED else 1

    def scanned(mine: Any, before: Any) -> Any:
        """What stands before this thread's steps, and all, after what stands before the block's."""
        _, up, all_ = scan_threads(mine, joined, THREADS)
        return before if threadIdx.x == 0 else joined(before, up), joined(before, all_)

    def inside(items: Any) -> Any:
        """A tile without an end: its items put together."""
        at = threadIdx.x * STEPS
        total = item_of(items, slot(at))
        for j in tuple(range(1, STEPS)):
            total = cast(op(total, item_of(items, slot(at + j))))
        _, _, all_ = scan_threads(total, op, THREADS)
        return Carried(0, 1, all_)

    def take(
        src: Any, starts: Any, offsets: Any, out: Any, init: Any, spans: Any, at: Any, here: Any, low: Any, first: Any,
        ends: Any, rel: Any, items: Any, in_a_row: Any, before: Any,
    ) -> Any:  # fmt: skip
        """The steps of a tile; what is left after them."""
        mine, ended_first, head = walk(
            src, starts, offsets, out, init, at, here, low, first, ends, rel, items, in_a_row
        )
        mine_before, after = scanned(mine, before)
        if ended_first >= 0:
            whole = joined(mine_before, head)
            if mine_before.ended != 0:
                emit(out, ended_first, init, whole)
            else:  # it may have begun before the span
                put(spans, blockIdx.x, Span(ended_first, whole, whole))
        return after

    def span_of(
        src: Any, starts: Any, offsets: Any, parts: Any, out: Any, init: Any, spans: Any, begin: Any, end: Any,
        carry: Any,
    ) -> Any:  # fmt: skip
        """The tiles of a block; what is left after them."""
        t, rel, items = threadIdx.x, shared.array(TILE, int32), shared.array(room, dtype)
        low = ended_at(offsets, max(begin - offsets[parts], 0), min(begin, parts), begin)
        for at in range(begin, end, TILE):
            last = min(at + TILE, end)
            here, first = int32(last - at), at - low
            ends = ends_in_tile(offsets, parts, low, here, last)
            in_a_row = stage(src, starts, offsets, parts, low, first, ends, rel, items, here - ends)
            syncthreads()
            if not is_quick() and in_a_row and ends == 0 and here == TILE:  # with the bits that the other way has
                carry = joined(carry, inside(items))
            else:
                mine = min(t * STEPS, here)
                carry = take(
                    src, starts, offsets, out, init, spans, mine, here, low, first, ends, rel, items, in_a_row, carry
                )
            low += ends
        syncthreads()
        return carry

    def reduce(
        src: Any, starts: Any, offsets: Any, parts: Any, out: Any, init: Any, spans: Any, counter: Any
    ) -> None:
        is_last, t = shared.array(1, int32), threadIdx.x
        steps = offsets[parts] + parts
        span = (steps + (SPANS * TILE - 1)) // (SPANS * TILE) * TILE
        begin, used = min(blockIdx.x * span, steps), (steps + (span - 1)) // span
        carry = Carried(0, 0, cast(zero))
        left = Span(-1, carry, carry)
        if begin >= steps:
            return
        if t == 0:
            put(spans, blockIdx.x, left)
        carry = span_of(src, starts, offsets, parts, out, init, spans, begin, min(begin + span, steps), carry)
        if t == 0:
            left = get(spans, blockIdx.x, left)
            put(spans, blockIdx.x, Span(left.part, left.head, carry))
            threadfence()
            is_last[0] = atomic.add(counter, 0, 1) == used - 1
        syncthreads()
        if is_last[0] == 0:
            return
        threadfence()
        if t == 0:
            counter[0] = 0
        carry = Carried(0, 0, cast(zero))
        for first in range(0, used, THREADS):
            mine, is_there = get(spans, min(first + t, used - 1), left), first + t < used
            nothing = Carried(0, 0, cast(zero))
            before, carry = scanned(mine.tail if is_there else nothing, carry)
            if is_there and mine.part >= 0:
                emit(out, mine.part, init, joined(before, Carried(0, mine.head.has, mine.head.value)))
            syncthreads()

    return reduce


def _right_aligned(op: Function, kind: TypeDescriptor) -> Function:
    """The function of a kernel that puts c values together as the threads of a warp do that scan them: the last ones by
    the greatest power of two below c, and so on with those before them."""
    cast, value_of, put_value = kind.cast, kind.get, kind.put

    def put_together(v: Any, c: Any) -> Any:
        total, at, width = value_of(v, 0), 0, 1
        while width <= c:
            if c & width != 0:
                d = 1
                while d < width:
                    for t in range(at, at + width, 2 * d):
                        put_value(v, t, cast(op(value_of(v, t), value_of(v, t + d))))
                    d *= 2
                total = value_of(v, at) if at == 0 else cast(op(total, value_of(v, at)))
                at += width
            width *= 2
        return total

    return put_together


def _items_on_cpu(load: Function, op: Function, kind: TypeDescriptor) -> Function:
    """The function of a kernel that puts together the items at some steps of a part, of which there is one at least: by
    threads, warps and tiles as a GPU does. ``v`` has room for a warp."""
    cast, zero, put_value, put_together = kind.cast, kind.zero, kind.put, _right_aligned(op, kind)
    per_warp, per_tile = 32, TILE // STEPS

    def in_order(src: Any, at: Any, n: Any) -> Any:
        total = cast(load(src, at))
        for j in range(1, n):
            total = cast(op(total, cast(load(src, at + j))))
        return total

    def joined(has: Any, total: Any, value: Any) -> Any:
        return cast(op(total, value)) if has != 0 else value

    def of_many(src: Any, at: Any, step: Any, last: Any, v: Any) -> Any:
        tiles, warps, c = cast(zero), cast(zero), 0
        has_tiles, has_warps = 0, 0
        for k in range(step // STEPS, last // STEPS):
            n = min((k + 1) * STEPS, last) - step
            put_value(v, c, in_order(src, at, n))
            at, step, c = at + n, step + n, c + 1
            if (k + 1) % per_warp == 0:
                warps, has_warps, c = joined(has_warps, warps, put_together(v, c)), 1, 0
            if (k + 1) % per_tile == 0:
                tiles, has_tiles, has_warps = joined(has_tiles, tiles, warps), 1, 0
        if c > 0:
            warps, has_warps = joined(has_warps, warps, put_together(v, c)), 1
        if has_warps != 0:
            tiles, has_tiles = joined(has_tiles, tiles, warps), 1
        if step < last:
            tiles = joined(has_tiles, tiles, in_order(src, at, last - step))
        return tiles

    def put_items(src: Any, at: Any, step: Any, last: Any, v: Any) -> Any:
        first = min((step // STEPS + 1) * STEPS, last) - step
        if last - step - first > STEPS:
            return of_many(src, at, step, last, v)
        total = in_order(src, at, first)  # by one thread, or two
        return total if step + first == last else cast(op(total, in_order(src, at + first, last - step - first)))

    return put_items


def _scanned_on_cpu(carried: Any, joined: Function) -> Function:
    """The function of a kernel that makes of what each thread of some warps has what stands before it, as `coop.block`
    scans it; gives all."""
    get, put = carried.get, carried.put

    def befores(s: Any, sums: Any, before: Any, warps: Any) -> Any:
        for d in (1, 2, 4, 8, 16):
            for warp in range(0, warps * 32, 32):
                for t in range(warp + 31, warp + d - 1, -1):
                    put(s, t, joined(get(s, t - d), get(s, t)))
        all_ = get(s, 31)
        for w in range(1, warps):
            put(sums, w, all_)
            all_ = joined(all_, get(s, w * 32 + 31))
        for w in range(warps - 1, -1, -1):
            for t in range(w * 32 + 31, w * 32, -1):
                up = get(s, t - 1)
                if w > 0:
                    up = joined(get(sums, w), up)
                put(s, t, joined(before, up))
            put(s, w * 32, joined(before, get(sums, w)) if w > 0 else before)
        return joined(before, all_)

    return befores


def _balanced_on_cpu(
    load: Function, start: Function, store: Function, op: Function, kind: TypeDescriptor, cast_out: Function
) -> Callable[..., None]:
    """The same for a CPU, with the same bits: a block of one thread takes some spans, part by part."""
    from ..cuda import atomic, blockIdx, gridDim, local, threadfence

    (carried, record), dtype, cast, zero = _records(kind), kind.dtype, kind.cast, kind.zero
    Carried, Span, of_carried = carried.cls, record.cls, carried.dtype
    get, put, (get_span, put_span) = carried.get, carried.put, in_words(record)
    joined, emit = _of_carried(carried, store, op, kind, cast_out)
    put_items, befores = _items_on_cpu(load, op, kind), _scanned_on_cpu(carried, joined)

    def span_of(
        src: Any, starts: Any, offsets: Any, parts: Any, out: Any, init: Any, begin: Any, end: Any, v: Any
    ) -> Any:
        """The steps of a span: the first part that ends there with its items in it, and what is left after them."""
        nothing = Carried(0, 0, cast(zero))
        part, step = _ended_at(offsets, max(begin - offsets[parts], 0), min(begin, parts), begin), begin
        first, head, tail, ended = int64(-1), nothing, nothing, int32(0)
        while step < end:
            last = offsets[part + 1] + part  # where the part ends
            upto = min(last, end)
            here = nothing
            if step < upto:
                at = start(starts, part) + (step - part - offsets[part])
                here = Carried(0, 1, put_items(src, at, step, upto, v))
            if last >= end:
                tail = Carried(ended, here.has, here.value)
            else:
                if ended != 0:
                    emit(out, part, init, here)
                else:
                    first, head = part, here
                tail, ended, part = Carried(1, 0, cast(zero)), int32(1), part + 1
            step = upto + 1
        return Span(first, head, tail)

    def reduce(
        src: Any, starts: Any, offsets: Any, parts: Any, out: Any, init: Any, spans: Any, counter: Any
    ) -> None:
        s, sums, v = local.array(THREADS, of_carried), local.array(8, of_carried), local.array(32, dtype)
        steps, nothing = offsets[parts] + parts, Carried(0, 0, cast(zero))
        span = (steps + (SPANS * TILE - 1)) // (SPANS * TILE) * TILE
        used = (steps + (span - 1)) // span
        for b in range(blockIdx.x, used, gridDim.x):
            begin = b * span
            put_span(
                spans, b, span_of(src, starts, offsets, parts, out, init, begin, min(begin + span, steps), v)
            )
        threadfence()
        if atomic.add(counter, 0, 1) < gridDim.x - 1:
            return
        threadfence()
        counter[0] = 0
        carry, like = nothing, Span(-1, nothing, nothing)
        for first in range(0, used, THREADS):
            here = min(THREADS, used - first)
            warps = (here + 31) // 32
            for t in range(warps * 32):
                put(s, t, get_span(spans, first + t, like).tail if t < here else nothing)
            carry = befores(s, sums, carry, warps)
            for t in range(here):
                one = get_span(spans, first + t, like)
                if one.part >= 0:
                    emit(out, one.part, init, joined(get(s, t), Carried(0, one.head.has, one.head.value)))

    return reduce


def _by_threads(
    load: Function, start: Function, end: Function, store: Function, op: Function, kind: TypeDescriptor,
    cast_out: Function,
) -> Callable[..., None]:  # fmt: skip
    from ..cuda import grid

    cast = kind.cast

    def reduce(src: Any, starts: Any, ends: Any, out: Any, init: Any, segments: Any) -> None:
        t = grid(1)
        if t < segments:
            total = cast(init)
            for i in range(start(starts, t), end(ends, t)):
                total = cast(op(total, cast(load(src, i))))
            store(out, t, cast_out(total))

    return reduce


@algorithm
def segmented_reduce(
    *, d_in: Any, d_out: Any, num_segments: int, start_offsets_in: Any, end_offsets_in: Any, op: Any, h_init: Any,
    max_segment_size: int | None = None, stream: Any = None, temp_storage: Any = POOL,
) -> Any:  # fmt: skip
    """``d_out[s] = h_init op d_in[start[s]] op .. op d_in[end[s] - 1]`` for each part s.

    Parameters
    ----------
    d_in, d_out : array or iterator
    num_segments : int
    start_offsets_in, end_offsets_in : array or iterator
        Where a part begins, and before which item it ends, in whole numbers; what is before the first item of `d_in`
        or behind the last is in no part. Parts may overlap and leave gaps; an empty one, or one that ends before it
        begins, gives `h_init`.
    op : function or OpKind
        Associative, of two values of the type of `h_init`; it need not be commutative. `min` and `max` of floats leave
        NaN out: the result is NaN only where there is nothing else.
    h_init : numpy.ndarray of one element, number of NumPy or struct
    max_segment_size : int, optional
        A hint for operators that are not known to be commutative: no part is longer. Short ones are then put together
        by one thread each.
    stream, temp_storage
        As for `reduce_into`.

    Notes
    -----
    Items are read once, whatever the lengths of the parts are. By an operator that is known to be commutative each part
    is put together by a group of threads, as many as the mean length asks for, and a long part by many blocks of a GPU:
    one launch, and less than a byte of temporary memory for each item. On a CPU cores take neighbouring parts; they
    share a part only where all parts are long, so one long part among many short ones is reduced by one core. By other
    operators work is divided by items and ends of parts: two launches; 8 bytes of temporary memory for each part, and
    2,048 values.
    """
    source, output, op = iterator_of(d_in, "d_in"), iterator_of(d_out, "d_out"), operator_of(op, 2)
    most = _ENDLESS if source.length is None else source.length
    starts, ends = offsets_of(start_offsets_in, end_offsets_in, Count(most, most, None))
    offsets_in = ("start_offsets_in", starts), ("end_offsets_in", ends)
    parts = checked_segments(num_segments, *offsets_in, ("d_out", output))
    kind, init = init_of(h_init, "h_init")
    op = numbers_win(op, kind.dtype)
    reads = {"d_in": source, "start_offsets_in": starts, "end_offsets_in": ends}
    separate(max(parts, 1 << 48), reads, {"d_out": output})
    memory = Memory(temp_storage, stream_of(stream))
    if source.length is not None and _part_reduce.takes(op, kind):
        return _part_reduce.reduce_parts(source, starts, ends, output, op, kind, init, parts, memory)
    cast_out = (output.value_type or kind).cast
    key = (source.kind, starts.kind, ends.kind, output.kind, op.key, kind)
    if max_segment_size is not None and max_segment_size <= _SHORT:
        if temp_storage is None:
            return 1
        of_parts = lambda: (source.load(), starts.load(), ends.load(), output.store(), op.function, kind, cast_out)  # noqa: E731
        if parts:
            short = kernel_of(_by_threads, key, of_parts)
            short[-(-parts // THREADS), THREADS, memory.stream](
                source.state, starts.state, ends.state, output.state, init, parts
            )
        return None
    found = memory.take(
        scan_memory(_PLACES, parts), (numpy.int32, 1), (numpy.int64, parts + 1),
        (numpy.uint32, SPANS * words_in(_records(kind)[1].dtype)), counters=2,
    )  # fmt: skip
    if found is None:
        return memory.nbytes
    if parts:
        words, counter, offsets, spans = found
        of_ends, states = ("offsets", starts.kind, ends.kind), (starts.state, ends.state)
        launch_scan(
            lambda: _offsets(starts, ends), _PLACES, of_ends, Count(parts, parts, None), states, offsets,
            numpy.int32(0), memory.stream, words,
        )  # fmt: skip
        kernel = kernel_of(
            _balanced_on_cpu if on_cpu() else _balanced, key,
            lambda: (source.load(), starts.load(), output.store(), op.function, kind, cast_out),
            (THREADS, _RESIDENT) if kind.size <= _MOST_STAGED and not on_cpu() else (),
        )  # fmt: skip
        kernel[BLOCKS_ON_CPU if on_cpu() else SPANS, 1 if on_cpu() else THREADS, memory.stream](
            source.state, starts.state, offsets, parts, output.state, init, spans, counter
        )
    return None
