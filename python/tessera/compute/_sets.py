# SPDX-License-Identifier: Apache-2.0
"""Merges and sets of sorted sequences.

    two sequences --> tiles of the merge, each of TILE items: where one begins in either sequence is found by warps,
                      which ask at 32 places at once along a diagonal (merge path: Green, McColl, Bader, "GPU Merge
                      Path", 2012)
                  --> a block reads both pieces into shared memory; each thread merges ITEMS neighbours
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


def _merging(
    a: Function, b: Function, op: Operator, numbers: tuple[Function, Function], ends: Ends, items: int
) -> Callable[..., None]:
    """The kernel that merges two sequences of as many items as ``numbers`` say."""
    from ..cuda import blockIdx, shared, syncthreads, threadIdx
    from ..cuda._places import shared_like

    function, (number1, number2), (put_first, put_second) = op.function, numbers, ends.put
    asks_first, asks_second = ends.asks
    less = lambda v, w: bool(function(v, w))  # noqa: E731
    split, equals_a, equals_b = _splitting(a, b, less), _equals(a, less), _equals(b, less)
    each, per_tile = tuple(range(items)), items * THREADS

    def place_in(sa: Any, sb: Any, n_a: Any, n_b: Any, at: Any) -> Any:
        """How many of the first ``at`` items of a tile are of the first sequence."""
        low, high = max(numpy.int32(at - n_b), 0), min(at, n_a)
        while low < high:
            middle = (low + high) // 2
            if less(sb[at - 1 - middle], sa[middle]):
                high = middle
            else:
                low = middle + 1
        return numpy.int32(low)

    def in_second(second: Any, m: Any, sb: Any, n_b: Any, b0: Any, j: Any, v: Any, alike: Any) -> Any:
        """Whether the second has an item ``alike`` places behind its item j of the tile that equals v."""
        if alike == 0 and j < n_b:
            return not less(v, sb[j])
        return b0 + j + alike < m and not less(v, b(second, min(b0 + j + alike, m - 1)))

    def in_first(first: Any, sa: Any, a0: Any, i: Any, v: Any, alike: Any) -> Any:
        """The same of the first, before its item i."""
        if alike < i:
            return not less(sa[i - 1 - numpy.int32(alike)], v)
        return a0 + i > alike and not less(a(first, max(a0 + i - 1 - alike, 0)), v)

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
        sa, sb = shared_like(per_tile, a(first, 0)), shared_like(per_tile, b(second, 0))
        syncthreads()
        a0, b0 = ends_[0], begin - ends_[0]
        n_a = numpy.int32(min(max(ends_[1] - a0, 0), here))  # it is less than 0 after a comparison that is no order
        n_b = numpy.int32(here - n_a)
        for k in each:
            at = k * THREADS + t
            if at < n_a:
                sa[at] = a(first, a0 + at)
            elif at < here:
                sb[at - n_a] = b(second, b0 + (at - n_a))
        syncthreads()
        at = min(t * items, here)
        i = place_in(sa, sb, n_a, n_b, at)
        j, alike_a, alike_b = numpy.int32(at - i), numpy.int64(-1), numpy.int64(-1)
        for k in range(at, min(at + items, here)):
            is_first, is_there = j >= n_b, False
            if not is_first and i < n_a:
                is_first = not less(sb[j], sa[i])
            if is_first:
                v = sa[i]
                if asks_first:
                    is_next = alike_a >= 0 and not less(sa[i - 1], v)
                    alike_a = numpy.int64(alike_a + 1 if is_next else equals_a(first, a0 + i, v))
                    is_there = in_second(second, m, sb, n_b, b0, j, v, alike_a)
                put_first(out, begin + k, a0 + i, v, is_there)
                i = numpy.int32(i + 1)
            else:
                v = sb[j]
                if asks_second:
                    is_next = alike_b >= 0 and not less(sb[j - 1], v)
                    alike_b = numpy.int64(alike_b + 1 if is_next else equals_b(second, b0 + j, v))
                    is_there = in_first(first, sa, a0, i, v, alike_b)
                put_second(out, begin + k, b0 + j, v, is_there)
                j = numpy.int32(j + 1)

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
    kernel = kernel_of(
        _merging, (op.key, tuple(n.kind for n in counts), kinds_of([a, b]), items, key),
        lambda: (a.load(), b.load(), op, tuple(n.load() for n in counts), ends(), items),
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
