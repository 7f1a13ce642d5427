# SPDX-License-Identifier: Apache-2.0
"""Merges and sets of sorted sequences.

    two sequences --> tiles of the merge, each of TILE items: where one begins in either sequence is found by warps,
                      which ask at 32 places at once along a diagonal (merge path: Green, McColl, Bader, "GPU Merge
                      Path", 2012)
                  --> a block reads both pieces into shared memory; each thread merges ITEMS neighbours, and notes where
                      they are, so that neighbours are written by neighbouring threads
                  --> a merge is written; of sets a flag is, whether an item stays: one that is the r-th of its equals
                      is in the other sequence, too, if that has an equal item r places on
                  --> what stays is selected (_choose.py)

Each item is looked at once, whatever the sequences hold.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy

from ._arguments import Count, checked_count, items_in, stream_of, whole_numbers
from ._engine import POOL, THREADS, Memory, algorithm, kernel_of
from ._overlap import separate
from ._select import cast_of, chosen, kinds_of
from .iterators import ArrayIterator, Iterator, dtypes_of, iterator_of
from .op import OpKind, Operator, operator_of, ordering

__all__ = ["merge", "set_difference", "set_intersection", "set_symmetric_difference", "set_union"]

Function = Callable[..., Any]
ITEMS = 8  # of a thread
TILE = THREADS * ITEMS
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


def per_thread(*sequences: Iterator) -> int:
    """Items of a thread, of which two tiles fit in shared memory."""
    size = max(16 if it.value_type is None else it.value_type.size for it in sequences)
    return max(1, min(ITEMS, _SHARED // (2 * THREADS * size)))


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


def _walking(
    a: Function, b: Function, op: Operator, ends: Ends, is_one: bool, bounds: Function, items: int
) -> Function:
    """The function of a kernel that notes for each of a thread's items of the merge where it stands in its piece, of
    which it is, and whether the other sequence has it."""
    from ..cuda import threadIdx

    function, (asks_first, asks_second) = op.function, ends.asks
    less = lambda v, w: bool(function(v, w))  # noqa: E731
    ask_first, ask_second = _asking(a, b, less)

    def place_in(sa: Any, sb: Any, base: Any, n_a: Any, n_b: Any, at: Any) -> Any:
        """How many of the first ``at`` items of a tile are of the first sequence."""
        low, high = max(numpy.int32(at - n_b), 0), min(at, n_a)
        while low < high:
            middle = (low + high) // 2
            if less(sb[base + at - 1 - middle], sa[middle]):
                high = middle
            else:
                low = middle + 1
        return numpy.int32(low)

    def walk(
        first: Any, second: Any, m: Any, a0: Any, b0: Any, n_a: Any, here: Any, sa: Any, sb: Any, codes: Any
    ) -> None:
        n_b, at = numpy.int32(here - n_a), min(threadIdx.x * items, here)
        base, last_a, last_b = bounds(n_a, here)
        i = place_in(sa, sb, base, n_a, n_b, at)
        j, alike_a, alike_b = numpy.int32(at - i), numpy.int64(-1), numpy.int64(-1)
        va, vb = sa[min(i, last_a)], sb[min(base + j, last_b)]
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
            codes[k] = numpy.uint16(code)
            i, j = numpy.int32(i + 1 if is_first else i), numpy.int32(j if is_first else j + 1)
            if is_one:
                following = sa[min(i if is_first else numpy.int32(base + j), last_a)]
                va, vb = following if is_first else va, vb if is_first else following
            else:
                va, vb = sa[min(i, last_a)], sb[min(j, last_b)]

    return walk


def _merging(
    a: Function, b: Function, op: Operator, numbers: tuple[Function, Function], ends: Ends, items: int, is_one: bool
) -> Callable[..., None]:
    """The kernel that merges two sequences of as many items as ``numbers`` say, of one type or of two."""
    from ..cuda import blockIdx, shared, syncthreads, threadIdx
    from ..cuda._device import is_quick
    from ..cuda._places import shared_like

    function, (number1, number2), (put_first, put_second) = op.function, numbers, ends.put
    each, per_tile = tuple(range(items)), items * THREADS
    split = _splitting(a, b, lambda v, w: bool(function(v, w)))
    place_of_second, bounds = _shared_pieces(a, b, is_one, per_tile)
    walk, is_same = _walking(a, b, op, ends, is_one, bounds, items), is_one and put_first is put_second

    def read(first: Any, second: Any, a0: Any, b0: Any, n_a: Any, here: Any, sa: Any, sb: Any) -> None:
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

    def write(out: Any, begin: Any, a0: Any, b0: Any, n_a: Any, here: Any, sa: Any, sb: Any, codes: Any) -> None:
        base, _, _ = bounds(n_a, here)
        for k in range(items) if is_quick() else each:
            at = k * THREADS + threadIdx.x
            if at < here:
                code = numpy.int32(codes[at])
                place, is_first, is_there = code >> 2, code & _IS_FIRST != 0, code & _IS_THERE != 0
                if is_same:
                    put_first(out, begin + at, (a0 if is_first else b0 - base) + place, sa[place], is_there)
                elif is_first:
                    put_first(out, begin + at, a0 + place, sa[place], is_there)
                else:
                    put_second(out, begin + at, b0 + (place - base), sb[place], is_there)

    def merge(first: Any, second: Any, sizes: Any, out: Any) -> None:
        n, m, ends_ = number1(sizes[0]), number2(sizes[1]), shared.array(2, numpy.int64)
        t, begin = threadIdx.x, numpy.int64(blockIdx.x) * per_tile
        here = numpy.int32(max(min(n + m - begin, per_tile), 0))
        if here == 0:
            return
        if t < 64:
            found = split(first, n, second, m, min(begin + t // 32 * per_tile, n + m))
            if t % 32 == 0:
                ends_[t // 32] = found
        sa, codes = shared_like(per_tile, a(first, 0)), shared.array(per_tile, numpy.uint16)
        sb = place_of_second(sa, second)
        syncthreads()
        a0, b0 = ends_[0], begin - ends_[0]
        n_a = numpy.int32(min(max(ends_[1] - a0, 0), here))  # it is less than 0 after a comparison that is no order
        read(first, second, a0, b0, n_a, here, sa, sb)
        syncthreads()
        walk(first, second, m, a0, b0, n_a, here, sa, sb, codes)
        syncthreads()
        write(out, begin, a0, b0, n_a, here, sa, sb, codes)

    return merge


def _nothing(out: Any, to: Any, i: Any, item: Any, is_there: Any) -> None:
    """What becomes of items that are asked for only."""


def _merge(
    a: Iterator, b: Iterator, counts: tuple[Count, Count], op: Operator, key: Any, ends: Callable[[], Ends], out: Any,
    stream: Any,
) -> None:  # fmt: skip
    """Nothing, where there are no items."""
    n, m = counts
    if not n.most and not m.most:
        return
    a, b = a if n.most else b, b if m.most else a  # the type of an item is that of the first, which must be there
    op, items = ordering(op, *dtypes_of(a, b)), per_thread(a, b)
    is_one = a.value_type is not None and a.value_type == b.value_type
    kernel = kernel_of(
        _merging, (op.key, tuple(n.kind for n in counts), kinds_of([a, b]), items, key),
        lambda: (a.load(), b.load(), op, tuple(n.load() for n in counts), ends(), items, is_one),
    )  # fmt: skip
    blocks = -(-sum(n.most for n in counts) // (items * THREADS))
    kernel[blocks, THREADS, stream](a.state, b.state, tuple(n.state for n in counts), out)


def _given(
    d_in1: Any, num_items1: Any, d_in2: Any, num_items2: Any, comp: Any
) -> tuple[Iterator, Iterator, tuple[Count, Count], Operator]:
    a, b = iterator_of(d_in1, "d_in1"), iterator_of(d_in2, "d_in2")
    op = operator_of(OpKind.LESS if comp is None else comp, 2, "comp")
    n, m = items_in(num_items1, "num_items1", ("d_in1", a)), items_in(num_items2, "num_items2", ("d_in2", b))
    return a, b, (n, m), op


@algorithm
def merge(
    *, d_in1: Any, num_items1: int, d_in2: Any, num_items2: int, d_out: Any, comp: Any = None, stream: Any = None
) -> None:
    """Two sorted sequences as one, of equal items those of the first before those of the second.

    Parameters
    ----------
    d_in1, d_in2 : array or iterator
        Sorted by `comp`.
    num_items1, num_items2 : int, or array of a device
        Of an array the first element counts, as it is when the merge runs; `d_out` has room for all there may be.
    d_out : array or iterator
        None of the inputs.
    comp : function or OpKind, optional
        Whether one comes before another; without it ``a < b``, and NaNs come last.
    stream
        None, or any object with ``__cuda_stream__``.
    """
    (a, b, counts, op), output = _given(d_in1, num_items1, d_in2, num_items2, comp), iterator_of(d_out, "d_out")
    most = counts[0].most + counts[1].most
    checked_count(most, "num_items1 + num_items2", ("d_out", output))
    separate(most, {"d_in1": a, "d_in2": b}, {"d_out": output})
    _merge(a, b, counts, op, ("merge", output.kind), lambda: _written(output), output.state, stream_of(stream))


def _written(output: Iterator) -> Ends:
    store, cast = output.store(), cast_of(output)

    def put(out: Any, to: Any, i: Any, item: Any, is_there: Any) -> None:
        store(out, to, cast(item))

    return Ends((put, put))


# ---- sets --------------------------------------------------------------------------------------------------------


def _of_first(name: str, given: Any, d_out: Any, d_num_out: Any, stream: Any, storage: Any) -> Any:
    """The items of the first sequence that are in the other one, too, or are not."""
    (a, b, counts, op), output, stream = given, iterator_of(d_out, "d_out"), stream_of(stream)
    number = "d_num_out", d_num_out

    def selected(flags: Any, memory: Any) -> Any:
        others = {"d_in2": b}
        return chosen(
            _flagged, 1, "flagged", counts[0], {"d_in1": a}, [{"d_out": output}], flags, number, memory,
            also_read=others,
        )  # fmt: skip

    memory, asked, n = Memory(storage, stream), Memory(None, stream), counts[0].most
    selected(_NO_FLAGS, asked)
    found = memory.take((numpy.int32, 1), (numpy.int8, n), memory.need_of(asked.nbytes))
    if found is None:
        return memory.nbytes
    wanted = name == "intersection"

    def put(flags: Any, to: Any, i: Any, item: Any, is_there: Any) -> None:
        flags[i] = is_there == wanted

    _merge(a, b, counts, op, name, lambda: Ends((put, _nothing), (True, False)), found[1], stream)
    selected(found[1], Memory(memory.inner(found[2]), stream))
    return None


_NO_FLAGS = numpy.empty(1, numpy.int8)


def _flagged() -> Function:
    return lambda ins, i, item: (ins[-1][i] != 0,)


def _of_both(name: str, given: Any, d_out: Any, d_num_out: Any, stream: Any, storage: Any) -> Any:
    """The merge of two sequences without what is in the other one: of the first (if it is the symmetric difference),
    of the second."""
    (a, b, counts, op), output, stream = given, iterator_of(d_out, "d_out"), stream_of(stream)
    if a.value_type is None or b.value_type is None:
        raise TypeError("the types of the items must be known; give value_type to the iterators")
    kind, most = output.value_type or a.value_type, sum(n.most for n in counts)
    cast, number = kind.cast, whole_numbers(d_num_out, "d_num_out", most, 1)
    separate(most, {"d_in1": a, "d_in2": b}, {"d_out": output, "d_num_out": number})

    def selected(merged: Any, flags: Any, n: Count, memory: Any) -> Any:
        given, counted = {"d_in1": ArrayIterator(merged)}, ("d_num_out", d_num_out)
        return chosen(_flagged, 1, "flagged", n, given, [{"d_out": output}], flags, counted, memory)

    memory, asked = Memory(storage, stream), Memory(None, stream)
    selected(numpy.empty(1, kind.dtype), _NO_FLAGS, Count(most, most, None), asked)
    found = memory.take(
        (numpy.int32, 1), (numpy.int64, 1), (kind.dtype, most), (numpy.int8, most), memory.need_of(asked.nbytes)
    )
    if found is None:
        return memory.nbytes
    total, merged, flags = found[1], ArrayIterator(found[2]), found[3]
    store = merged.store()

    def keep(outs: Any, to: Any, i: Any, item: Any, is_there: Any) -> None:
        store(outs[0], to, cast(item))
        outs[1][to] = not is_there

    def ends() -> Ends:
        return Ends((keep, keep), (name == "symmetric difference", True))

    _merge(a, b, counts, op, (name, kind), ends, (merged.state, flags), stream)
    n = Count(most, most, None)
    if any(count.kind is not None for count in counts):
        kinds, states = tuple(count.kind for count in counts), tuple(count.state for count in counts)
        adding = kernel_of(_adding, kinds, lambda: tuple(count.load() for count in counts))
        adding[1, 1, stream](total, *states)
        n = Count(most, (total, most), ArrayIterator(total).kind)
    selected(found[2], flags, n, Memory(memory.inner(found[4]), stream))
    return None


def _adding(number1: Function, number2: Function) -> Callable[..., None]:
    """The kernel that puts the sum of two counts into an array."""

    def add(place: Any, first: Any, second: Any) -> None:
        place[0] = number1(first) + number2(second)

    return add


@algorithm
def set_intersection(
    *, d_in1: Any, num_items1: int, d_in2: Any, num_items2: int, d_out: Any, d_num_out: Any, comp: Any = None,
    stream: Any = None, temp_storage: Any = POOL,
) -> Any:  # fmt: skip
    """The items of a sorted sequence that are in another one, too: of k and l equal ones the first min(k, l).

    Parameters
    ----------
    d_in1, d_in2 : array or iterator
        Sorted by `comp`.
    num_items1, num_items2 : int, or array of a device
    d_out : array or iterator
        None of the inputs. Items that it has no room for are not written; `d_num_out` says how many there are.
    d_num_out : array or iterator of whole numbers
        Its first item becomes the number of them.
    comp : function or OpKind, optional
        Whether one comes before another; without it ``a < b``, and NaNs come last.
    stream, temp_storage
        As for `select`.
    """
    given = _given(d_in1, num_items1, d_in2, num_items2, comp)
    return _of_first("intersection", given, d_out, d_num_out, stream, temp_storage)


@algorithm
def set_difference(
    *, d_in1: Any, num_items1: int, d_in2: Any, num_items2: int, d_out: Any, d_num_out: Any, comp: Any = None,
    stream: Any = None, temp_storage: Any = POOL,
) -> Any:  # fmt: skip
    """The items of a sorted sequence that are not in another one: of k and l equal ones the last max(k - l, 0).

    See `set_intersection`.
    """
    given = _given(d_in1, num_items1, d_in2, num_items2, comp)
    return _of_first("difference", given, d_out, d_num_out, stream, temp_storage)


@algorithm
def set_union(
    *, d_in1: Any, num_items1: int, d_in2: Any, num_items2: int, d_out: Any, d_num_out: Any, comp: Any = None,
    stream: Any = None, temp_storage: Any = POOL,
) -> Any:  # fmt: skip
    """The items of two sorted sequences: of k and l equal ones max(k, l), those of the first before the others.

    See `set_intersection`.
    """
    given = _given(d_in1, num_items1, d_in2, num_items2, comp)
    return _of_both("union", given, d_out, d_num_out, stream, temp_storage)


@algorithm
def set_symmetric_difference(
    *, d_in1: Any, num_items1: int, d_in2: Any, num_items2: int, d_out: Any, d_num_out: Any, comp: Any = None,
    stream: Any = None, temp_storage: Any = POOL,
) -> Any:  # fmt: skip
    """The items that are in one of two sorted sequences only: of k and l equal ones those beyond min(k, l).

    See `set_intersection`.
    """
    given = _given(d_in1, num_items1, d_in2, num_items2, comp)
    return _of_both("symmetric difference", given, d_out, d_num_out, stream, temp_storage)
