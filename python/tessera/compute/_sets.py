# SPDX-License-Identifier: Apache-2.0
"""Merges and sets of sorted sequences, each item of which is looked at once, whatever they hold (_merge_tiles.py)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy

from . import types
from ._arguments import Count, becomes, checked_count, items_in, stream_of, whole_numbers
from ._engine import POOL, THREADS, Memory, algorithm, kernel_of, on_cpu
from ._lookback import memory_of
from ._merge_tiles import Chosen, Ends, choosing, merging, nothing, per_thread
from ._overlap import separate
from ._select import cast_of, chosen, kinds_of
from .iterators import ArrayIterator, Iterator, dtypes_of, iterator_of, within_room
from .op import OpKind, Operator, may_raise, operator_of, ordering

__all__ = ["merge", "set_difference", "set_intersection", "set_symmetric_difference", "set_union"]

Function = Callable[..., Any]


def _merge(
    a: Iterator, b: Iterator, counts: tuple[Count, Count], op: Operator, key: Any, ends: Callable[[], Ends], out: Any,
    stream: Any,
) -> None:  # fmt: skip
    """Nothing, where there are no items."""
    n, m = counts
    if not n.most and not m.most:
        return
    a, b = a if n.most else b, b if m.most else a  # the type of an item is that of the first, which must be there
    all_ = n.most + m.most
    op, items = ordering(op, *dtypes_of(a, b)), per_thread(all_, a, b)
    is_one = a.value_type is not None and a.value_type == b.value_type
    blocks, sizes = -(-all_ // (items * THREADS)), tuple(n.state for n in counts)
    kinds = op.key, tuple(n.kind for n in counts), kinds_of([a, b]), items
    numbers = lambda: tuple(n.load() for n in counts)  # noqa: E731
    kernel = kernel_of(
        merging, (*kinds, key),
        lambda: (a.load(), b.load(), op, numbers(), ends(), items, is_one, a.kind == b.kind),
    )  # fmt: skip
    kernel[blocks, THREADS, stream](a.state, b.state, sizes, out)


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

    return Ends((put, put), only_items=True)


# ---- sets --------------------------------------------------------------------------------------------------------


_STAYS: dict[str, tuple[tuple[bool, bool], Function]] = {  # of which sequence it is asked, and what stays
    "union": ((False, True), lambda is_first, is_there: is_first or not is_there),
    "symmetric difference": ((True, True), lambda is_first, is_there: not is_there),
    "intersection": ((True, False), lambda is_first, is_there: is_first and is_there),
    "difference": ((True, False), lambda is_first, is_there: is_first and not is_there),
}


def _at_once(name: str, given: Any, d_out: Any, d_num_out: Any, stream: Any, storage: Any) -> Any:
    """A set of two sequences of one type on a GPU, in one pass over both."""
    (a, b, counts, op), output, stream = given, iterator_of(d_out, "d_out"), stream_of(stream)
    most = counts[0].most if name in ("intersection", "difference") else sum(n.most for n in counts)
    number = whole_numbers(d_num_out, "d_num_out", most, 1)
    becomes(("d_in1", a), ("d_out", output))
    all_, room = sum(n.most for n in counts), within_room(output, most)
    separate(all_, {"d_in1": a, "d_in2": b}, {"d_out": room, "d_num_out": number})
    a, b = a if counts[0].most else b, b if counts[1].most else a
    op, items = ordering(op, *dtypes_of(a, b)), per_thread(all_, a, b)
    blocks, is_wide, memory = max(1, -(-all_ // (items * THREADS))), all_ >= 1 << 31, Memory(storage, stream)
    found = memory.take(memory_of(types.int64 if is_wide else types.int32, blocks))
    if found is None:
        return memory.nbytes
    (asks, stays), cast = _STAYS[name], cast_of(output)

    def what() -> Chosen:
        store, put_number, as_number = room.store(), number.store(), cast_of(number)
        return Chosen(
            asks, stays, lambda out, to, item: store(out[0], to, cast(item)),
            lambda out, n: put_number(out[1], 0, as_number(n)),
        )  # fmt: skip

    kinds = op.key, tuple(n.kind for n in counts), kinds_of([a, b], [room, number]), items, name, is_wide
    kernel = kernel_of(
        choosing, kinds,
        lambda: (a.load(), b.load(), op, tuple(n.load() for n in counts), what(), items, a.kind == b.kind, is_wide),
    )  # fmt: skip
    out, sizes = (room.state, number.state), tuple(n.state for n in counts)
    kernel[blocks, THREADS, stream](a.state, b.state, sizes, out, found[0], blocks)
    return None


def _is_at_once(given: Any) -> bool:
    a, b, _, op = given
    kind = a.value_type
    return not on_cpu() and kind is not None and kind == b.value_type and not may_raise(op.key)


def _of_first(name: str, given: Any, d_out: Any, d_num_out: Any, stream: Any, storage: Any) -> Any:
    """The items of the first sequence that are in the other one, too, or are not."""
    if _is_at_once(given):
        return _at_once(name, given, d_out, d_num_out, stream, storage)
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

    _merge(a, b, counts, op, name, lambda: Ends((put, nothing), (True, False)), found[1], stream)
    selected(found[1], Memory(memory.inner(found[2]), stream))
    return None


_NO_FLAGS = numpy.empty(1, numpy.int8)


def _flagged() -> Function:
    return lambda ins, i, item: (ins[-1][i] != 0,)


def _of_both(name: str, given: Any, d_out: Any, d_num_out: Any, stream: Any, storage: Any) -> Any:
    """The merge of two sequences without what is in the other one: of the first (if it is the symmetric difference),
    of the second."""
    if _is_at_once(given):
        return _at_once(name, given, d_out, d_num_out, stream, storage)
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
