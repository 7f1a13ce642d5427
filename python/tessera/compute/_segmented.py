# SPDX-License-Identifier: Apache-2.0
"""Reductions of many parts of a sequence, each by itself, at a cost that does not depend on how long the parts are.

    lengths of parts --> scanned: offsets          where the items of a part stand when all parts stand in a row
    items and ends of parts --> one list of steps  an end comes before an item where the part ends there (merge path:
                                                   Merrill and Garland, "Merge-based parallel sparse matrix-vector
                                                   multiplication", 2016)
    steps --> SPANS of the same length, each by one block, in tiles of THREADS * STEPS --> parts that end in a span
            --> the block that ends last puts together what spans have left of parts that began before them

Where spans and tiles are depends on the lengths of the parts only, so the bits of floats are the same on all devices.
Two launches; the number of items is found on the device. Where no part is long, one thread takes each. On a CPU the
same is done by one thread a block, with the same bits.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
from numpy import int64

from . import types
from ._engine import POOL, THREADS, Count, Memory, algorithm, checked_count, init_of, kernel_of, on_cpu, stream_of
from ._scan import Scanned, launch_scan, scan_memory
from .iterators import iterator_of
from .op import operator_of
from .types import TypeDescriptor

__all__ = ["checked_segments", "segmented_reduce"]

Function = Callable[..., Any]
STEPS, SPANS = 8, 1024
TILE = THREADS * STEPS
_SHORT = 64  # items of a part that one thread takes

_PLACES = types.int64


def checked_segments(num_segments: Any, *sequences: Any) -> int:
    """A number of parts that arrays must have."""
    if isinstance(num_segments, int) and num_segments > 2**31 - 1:
        raise RuntimeError(f"{num_segments} segments are more than the 2147483647 that are possible")
    return checked_count(num_segments, "num_segments", *sequences)


def _offsets(starts: Any, ends: Any) -> Scanned:
    """The scan that gives where parts begin when they stand in a row."""
    start, end = starts.load(), ends.load()

    def length(ins: Any, s: Any) -> Any:
        return max(int64(end(ins[1], s)) - int64(start(ins[0], s)), 0)

    def emit(offsets: Any, ins: Any, s: Any, before: Any, after: Any) -> None:
        offsets[s] = before
        offsets[s + 1] = after

    return Scanned(_PLACES, length, lambda a, b: a + b, emit, None, lambda state: 0)


def _records(kind: TypeDescriptor) -> tuple[Any, Any]:
    """What steps leave behind: whether a part ended among them, whether items stand after the last end, and these put
    together. And what a span does: the first part that ended there, its items in the span; what the last steps left."""
    carried = types.struct({"ended": int64, "has": int64, "value": kind}, "Carried")
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


def _walking(
    carried: Any, load: Function, start: Function, op: Function, kind: TypeDescriptor, emit: Function
) -> Function:
    """The function of a kernel that takes a few steps: gives what they leave, the first part that ended among them
    (less than 0: none) with its items among them, and where the next step is."""
    Carried, cast, zero = carried.cls, kind.cast, kind.zero

    def walk(
        src: Any, starts: Any, offsets: Any, out: Any, init: Any, first: Any, last: Any, part: Any, item: Any
    ) -> Any:
        mine, head, ended_first = Carried(0, 0, cast(zero)), Carried(0, 0, cast(zero)), int64(-1)
        for j in range(STEPS):
            if first + j < last:
                if offsets[part + 1] <= item:
                    if mine.ended != 0:
                        emit(out, part, init, mine)
                    else:
                        head, ended_first = mine, part
                    mine = Carried(1, 0, cast(zero))
                    part += 1
                else:
                    v = cast(load(src, int64(start(starts, part)) + (item - offsets[part])))
                    if mine.has != 0:
                        v = cast(op(mine.value, v))
                    mine = Carried(mine.ended, 1, v)
                    item += 1
        return mine, ended_first, head, part, item

    return walk


def _balanced(
    load: Function, start: Function, store: Function, op: Function, kind: TypeDescriptor, cast_out: Function
) -> Callable[..., None]:
    from ..coop._block_scan import scan_threads
    from ..cuda import atomic, blockIdx, gridDim, shared, syncthreads, threadfence, threadIdx

    (carried, record), cast, zero = _records(kind), kind.cast, kind.zero
    Carried, Span, get, put = carried.cls, record.cls, record.get, record.put
    joined, emit = _of_carried(carried, store, op, kind, cast_out)
    walk = _walking(carried, load, start, op, kind, emit)

    def scanned(mine: Any, before: Any) -> Any:
        """What stands before this thread's steps, and all, after what stands before the block's."""
        _, up, all_ = scan_threads(mine, joined, THREADS)
        return before if threadIdx.x == 0 else joined(before, up), joined(before, all_)

    def take(
        src: Any, starts: Any, offsets: Any, parts: Any, out: Any, init: Any, spans: Any, first: Any, last: Any,
        ends: Any, before: Any,
    ) -> Any:  # fmt: skip
        """The steps of a tile; what is left after them."""
        at = first + threadIdx.x * STEPS
        part = _ended_at(offsets, ends[0], ends[1], min(at, last))
        mine, ended_first, head, _, _ = walk(src, starts, offsets, out, init, at, last, part, min(at, last) - part)
        mine_before, after = scanned(mine, before)
        if ended_first >= 0:
            whole = joined(mine_before, head)
            if mine_before.ended != 0:
                emit(out, ended_first, init, whole)
            else:  # it may have begun before the span
                put(spans, blockIdx.x, Span(ended_first, whole, whole))
        return after

    def reduce(
        src: Any, starts: Any, offsets: Any, parts: Any, out: Any, init: Any, spans: Any, counter: Any
    ) -> None:
        ends, is_last, t = shared.array(2, numpy.int64), shared.array(1, numpy.int32), threadIdx.x
        steps = offsets[parts] + parts
        span = (steps + (SPANS * TILE - 1)) // (SPANS * TILE) * TILE
        begin = min(blockIdx.x * span, steps)
        end = min(begin + span, steps)
        carry = Carried(0, 0, cast(zero))
        if t == 0:
            put(spans, blockIdx.x, Span(-1, carry, carry))
        for first in range(begin, end, TILE):
            last = min(first + TILE, end)
            syncthreads()
            if t < 2:
                place = last if t == 1 else first
                ends[t] = _ended_at(offsets, max(place - offsets[parts], 0), min(place, parts), place)
            syncthreads()
            carry = take(src, starts, offsets, parts, out, init, spans, first, last, ends, carry)
        syncthreads()
        if t == 0:
            left = get(spans, blockIdx.x)
            put(spans, blockIdx.x, Span(left.part, left.head, carry))
            threadfence()
            is_last[0] = atomic.add(counter, 0, 1) == gridDim.x - 1
        syncthreads()
        if is_last[0] == 0:
            return
        threadfence()
        if t == 0:
            counter[0] = 0
        carry = Carried(0, 0, cast(zero))
        for first in range(0, SPANS, THREADS):
            mine = get(spans, first + t)
            before, carry = scanned(mine.tail, carry)
            if mine.part >= 0:
                emit(out, mine.part, init, joined(before, Carried(0, mine.head.has, mine.head.value)))
            syncthreads()

    return reduce


def _balanced_on_cpu(
    load: Function, start: Function, store: Function, op: Function, kind: TypeDescriptor, cast_out: Function
) -> Callable[..., None]:
    """The same for a CPU, with the same bits: one thread a block does what THREADS of a GPU do, tile by tile."""
    from ..cuda import atomic, blockIdx, gridDim, local, threadfence

    (carried, record), dtype, cast, zero = _records(kind), kind.dtype, kind.cast, kind.zero
    Carried, Span, of_carried = carried.cls, record.cls, carried.dtype
    get, put, value_of, put_value = carried.get, carried.put, kind.get, kind.put
    get_span, put_span = record.get, record.put
    joined, emit = _of_carried(carried, store, op, kind, cast_out)
    walk, warps = _walking(carried, load, start, op, kind, emit), THREADS // 32

    def befores(s: Any, sums: Any, before: Any) -> Any:
        """Makes of what each thread has what stands before it, as `coop.block` scans it; gives all."""
        for d in (1, 2, 4, 8, 16):
            for warp in range(0, THREADS, 32):
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

    def inside(src: Any, first: Any, v: Any) -> Any:
        """A tile without an end: its items put together."""
        for t in range(THREADS):
            total = cast(load(src, first + t * STEPS))
            for j in range(1, STEPS):
                total = cast(op(total, cast(load(src, first + (t * STEPS + j)))))
            put_value(v, t, total)
        for d in (1, 2, 4, 8, 16):
            for t in range(0, THREADS, 2 * d):
                put_value(v, t, cast(op(value_of(v, t), value_of(v, t + d))))
        total = value_of(v, 0)
        for t in range(32, THREADS, 32):
            total = cast(op(total, value_of(v, t)))
        return total

    def reduce(
        src: Any, starts: Any, offsets: Any, parts: Any, out: Any, init: Any, spans: Any, counter: Any
    ) -> None:
        s, heads, sums = local.array(THREADS, of_carried), local.array(THREADS, of_carried), local.array(8, of_carried)
        v, ended, b = local.array(THREADS, dtype), local.array(THREADS, numpy.int64), blockIdx.x
        steps = offsets[parts] + parts
        span = (steps + (SPANS * TILE - 1)) // (SPANS * TILE) * TILE
        begin = min(b * span, steps)
        end = min(begin + span, steps)
        carry, nothing = Carried(0, 0, cast(zero)), Carried(0, 0, cast(zero))
        left = Span(-1, nothing, nothing)
        part = _ended_at(offsets, max(begin - offsets[parts], 0), min(begin, parts), begin)
        item = begin - part
        for first in range(begin, end, TILE):
            if first + TILE <= end and offsets[part + 1] - item >= TILE:
                total = inside(src, int64(start(starts, part)) + (item - offsets[part]), v)
                carry = joined(carry, Carried(0, 1, total))
                item += TILE
            else:
                last = min(first + TILE, end)
                for t in range(THREADS):
                    mine, ended_first, head, part, item = walk(
                        src, starts, offsets, out, init, first + t * STEPS, last, part, item
                    )
                    put(s, t, mine)
                    put(heads, t, head)
                    ended[t] = ended_first
                carry = befores(s, sums, carry)
                for t in range(THREADS):
                    if ended[t] >= 0:
                        before = get(s, t)
                        if before.ended != 0:
                            emit(out, ended[t], init, joined(before, get(heads, t)))
                        else:
                            all_ = joined(before, get(heads, t))
                            left = Span(ended[t], all_, all_)
        put_span(spans, b, Span(left.part, left.head, carry))
        threadfence()
        if atomic.add(counter, 0, 1) < gridDim.x - 1:
            return
        threadfence()
        counter[0] = 0
        carry = nothing
        for first in range(0, SPANS, THREADS):
            for t in range(THREADS):
                put(s, t, get_span(spans, first + t).tail)
            carry = befores(s, sums, carry)
            for t in range(THREADS):
                left = get_span(spans, first + t)
                if left.part >= 0:
                    emit(out, left.part, init, joined(get(s, t), Carried(0, left.head.has, left.head.value)))

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
            for i in range(int64(start(starts, t)), int64(end(ends, t))):
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
        Where a part begins, and before which item it ends. Parts may overlap and leave gaps; an empty one gives
        `h_init`.
    op : function or OpKind
        Associative, of two values of the type of `h_init`; it need not be commutative.
    h_init : numpy.ndarray of one element, number of NumPy or struct
    max_segment_size : int, optional
        A hint: no part is longer. Short ones are then put together by one thread each.
    stream, temp_storage
        As for `reduce_into`.

    Notes
    -----
    Items are read once, whatever the lengths of the parts are: work is divided by items and ends of parts. Two
    launches; 8 bytes of temporary memory for each part, and 1,024 values.
    """
    source, output, op = iterator_of(d_in, "d_in"), iterator_of(d_out, "d_out"), operator_of(op, 2)
    starts, ends = iterator_of(start_offsets_in, "start_offsets_in"), iterator_of(end_offsets_in, "end_offsets_in")
    offsets_in = ("start_offsets_in", starts), ("end_offsets_in", ends)
    parts = checked_segments(num_segments, *offsets_in, ("d_out", output))
    kind, init = init_of(h_init, "h_init")
    memory = Memory(temp_storage, stream_of(stream))
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
        scan_memory(_PLACES, parts), (numpy.int32, 1), (numpy.int64, parts + 1), (_records(kind)[1].dtype, SPANS),
        counters=2,
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
        )  # fmt: skip
        kernel[SPANS, 1 if on_cpu() else THREADS, memory.stream](
            source.state, starts.state, offsets, parts, output.state, init, spans, counter
        )
    return None
