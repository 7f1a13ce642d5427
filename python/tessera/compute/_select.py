# SPDX-License-Identifier: Apache-2.0
"""Selections and partitions: items that a condition chooses, side by side in the order in which they stand.

Each is a scan of counts (see `_scan.py`): item i goes where the number of chosen items before it says. All are stable,
and one launch; items are read twice, the second time out of a cache.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy

from ._chunks import Chosen, choose_in_chunks
from ._engine import POOL, Count, Memory, algorithm, apart, checked_count, items_in, on_cpu, stream_of
from ._lookback import Counts
from ._scan import Scanned, run_scan
from ._text import written
from .iterators import Iterator, iterator_of
from .op import Operator, operator_of
from .struct import gpu_struct

__all__ = [
    "PAIR", "add_pairs", "moves", "no_pair", "partition", "select", "select_flagged", "three_way_partition", "unique",
    "unique_by_key",
]  # fmt: skip

Function = Callable[..., Any]
_COUNT = Counts()
PAIR = gpu_struct({"first": numpy.int64, "second": numpy.int64}, "Counts")


def _add(a: Any, b: Any) -> Any:
    return a + b


def add_pairs(a: Any, b: Any) -> Any:
    return PAIR(a.first + b.first, a.second + b.second)


def _none(state: Any) -> Any:
    """What was chosen before the first item."""
    return 0


def no_pair(state: Any) -> Any:
    return PAIR(0, 0)


def cast_of(it: Iterator) -> Function:
    return (lambda v: v) if it.value_type is None else it.value_type.cast


def chosen(
    choose: Callable[[], Function], key: Any, n: Count, sources: list[Iterator], outputs: list[Iterator], extra: Any,
    counts: Iterator, memory: Memory, rest: list[Iterator] | None = None,
) -> Any:  # fmt: skip
    """Writes the items of the sources that ``choose()(ins, i)`` says to the outputs, and their number to ``counts``.

    ``ins`` is the states of the sources, ``extra`` and how many items there may be. With ``rest``, the others go there.
    """
    others = rest or []

    def parts() -> Chosen:
        loads = tuple(it.load() for it in sources)
        put_count, as_count = counts.store(), cast_of(counts)
        puts, puts_rest = moves(loads, outputs, 0), moves(loads, others, len(outputs))

        def finish(outs: Any, total: Any) -> None:
            put_count(outs[-1], 0, as_count(total))

        return Chosen(choose(), puts, None if rest is None else puts_rest, finish)

    def make() -> Scanned:
        flag, puts, puts_rest, finish = parts()

        def load(ins: Any, i: Any) -> Any:
            return 1 if flag(ins, i) else 0

        def emit(outs: Any, ins: Any, i: Any, before: Any, after: Any) -> None:
            # an operator that raises ends its thread, and counts after it are anything: nothing is written beyond
            if after != before:
                if 0 <= before < ins[-1]:
                    puts(outs, ins, before, i)
            elif rest is not None:
                if 0 <= i - after:
                    puts_rest(outs, ins, i - after, i)

        return Scanned(_COUNT, load, _add, emit, finish, _none)

    ins = (*(it.state for it in sources), extra, n.most)
    for out in (*outputs, *others):
        apart(("d_in", sources[0]), ("d_out", out))
    checked_count(1, "the number of counts", ("the array of counts", counts))
    outs = (*(it.state for it in (*outputs, *others)), counts.state)
    key = key, kinds_of(sources, outputs, others, [counts])
    if on_cpu():
        return choose_in_chunks(parts, (key, n.kind), n, ins, outs, memory, rest is not None)
    return run_scan(make, _COUNT, key, n, ins, outs, numpy.int32(0), memory, True)


def kinds_of(*lists: list[Iterator]) -> Any:
    return tuple(tuple(it.kind for it in some) for some in lists)


def moves(loads: tuple[Function, ...], outputs: list[Iterator], first: int) -> Function:
    """The function of a kernel that writes item i of each source to place ``to`` of its output."""
    space: dict[str, Any] = {}
    lines = []
    for k, it in enumerate(outputs):
        space[f"L{k}"], space[f"S{k}"], space[f"C{k}"] = loads[k], it.store(), cast_of(it)
        lines.append(f"    S{k}(outs[{first + k}], to, C{k}(L{k}(ins[{k}], i)))")
    text = "\n".join(["def move(outs, ins, to, i):", *(lines or ["    pass"]), ""])
    written(text, space, "moves")
    return space["move"]  # type: ignore[no-any-return]


def _condition(op: Operator, source: Iterator) -> Function:
    load, function = source.load(), op.function
    return lambda ins, i: bool(function(load(ins[0], i)))


@algorithm
def select(
    *, d_in: Any, d_out: Any, d_num_selected_out: Any, cond: Any, num_items: int, stream: Any = None,
    temp_storage: Any = POOL,
) -> Any:  # fmt: skip
    """The items that a condition holds for, in their order.

    Parameters
    ----------
    d_in, d_out : array or iterator
    d_num_selected_out : array or iterator
        Its first item becomes the number of them.
    cond : function or OpKind
        Of one item; what it gives counts as true where Python would say so.
    num_items : int, or array of a device
    stream
        None, or any object with ``__cuda_stream__``.
    temp_storage
        Memory of the caller; None: nothing is done, and the bytes that would be needed are returned.
    """
    source, output, count = (
        iterator_of(d_in, "d_in"),
        iterator_of(d_out, "d_out"),
        iterator_of(d_num_selected_out, "d_num_selected_out"),
    )
    op = operator_of(cond, 1, "cond")
    n = items_in(num_items, "num_items", ("d_in", source))
    memory = Memory(temp_storage, stream_of(stream))
    return chosen(lambda: _condition(op, source), ("select", op.key), n, [source], [output], 0, count, memory)


@algorithm
def select_flagged(
    *, d_in: Any, d_flags: Any, d_out: Any, d_num_selected_out: Any, num_items: int, stream: Any = None,
    temp_storage: Any = POOL,
) -> Any:  # fmt: skip
    """The items whose flag is not zero, in their order; see `select`.

    Parameters
    ----------
    d_flags : array or iterator
        As many as items.
    """
    source, output, count = (
        iterator_of(d_in, "d_in"),
        iterator_of(d_out, "d_out"),
        iterator_of(d_num_selected_out, "d_num_selected_out"),
    )
    flags = iterator_of(d_flags, "d_flags")
    n = items_in(num_items, "num_items", ("d_in", source), ("d_flags", flags))

    def choose() -> Function:
        load = flags.load()
        return lambda ins, i: bool(load(ins[-2], i))

    memory = Memory(temp_storage, stream_of(stream))
    return chosen(choose, ("flagged", flags.kind), n, [source], [output], flags.state, count, memory)


@algorithm
def partition(
    *, d_in: Any, d_out: Any, d_rest_out: Any, d_num_selected_out: Any, cond: Any, num_items: int, stream: Any = None,
    temp_storage: Any = POOL,
) -> Any:  # fmt: skip
    """The items that a condition holds for to `d_out`, the others to `d_rest_out`, both in their order.

    See `select`.
    """
    source, output, count = (
        iterator_of(d_in, "d_in"),
        iterator_of(d_out, "d_out"),
        iterator_of(d_num_selected_out, "d_num_selected_out"),
    )
    rest, op = iterator_of(d_rest_out, "d_rest_out"), operator_of(cond, 1, "cond")
    n = items_in(num_items, "num_items", ("d_in", source))
    memory = Memory(temp_storage, stream_of(stream))
    return chosen(
        lambda: _condition(op, source), ("partition", op.key), n, [source], [output], 0, count, memory, [rest]
    )


def _starts(op: Operator, keys: Iterator) -> Function:
    """The function of a kernel that says whether an item is the first of those that are equal in a row."""
    load, equal = keys.load(), op.function
    return lambda ins, i: i == 0 or not equal(load(ins[0], i - 1), load(ins[0], i))


@algorithm
def unique_by_key(
    *, d_in_keys: Any, d_in_items: Any, d_out_keys: Any, d_out_items: Any, d_out_num_selected: Any, op: Any,
    num_items: int, stream: Any = None, temp_storage: Any = POOL,
) -> Any:  # fmt: skip
    """Of each run of equal keys the first key, and its item.

    Parameters
    ----------
    d_in_keys, d_in_items, d_out_keys, d_out_items : array or iterator
    d_out_num_selected : array or iterator
        Its first item becomes the number of runs.
    op : function or OpKind
        Whether two keys are equal.
    num_items : int
    stream, temp_storage
        As for `select`.
    """
    keys, items = iterator_of(d_in_keys, "d_in_keys"), iterator_of(d_in_items, "d_in_items")
    outputs = [iterator_of(d_out_keys, "d_out_keys"), iterator_of(d_out_items, "d_out_items")]
    count, op = iterator_of(d_out_num_selected, "d_out_num_selected"), operator_of(op, 2)
    n = items_in(num_items, "num_items", ("d_in_keys", keys), ("d_in_items", items))
    memory = Memory(temp_storage, stream_of(stream))
    return chosen(lambda: _starts(op, keys), ("unique", op.key), n, [keys, items], outputs, 0, count, memory)


@algorithm
def unique(
    *,
    d_in: Any,
    d_out: Any,
    d_num_selected_out: Any,
    op: Any,
    num_items: int,
    stream: Any = None,
    temp_storage: Any = POOL,
) -> Any:
    """Of each run of equal items the first; see `unique_by_key`."""
    source, output, count = (
        iterator_of(d_in, "d_in"),
        iterator_of(d_out, "d_out"),
        iterator_of(d_num_selected_out, "d_num_selected_out"),
    )
    op = operator_of(op, 2)
    n = items_in(num_items, "num_items", ("d_in", source))
    memory = Memory(temp_storage, stream_of(stream))
    return chosen(lambda: _starts(op, source), ("unique", op.key), n, [source], [output], 0, count, memory)


@algorithm
def three_way_partition(
    *, d_in: Any, d_first_part_out: Any, d_second_part_out: Any, d_unselected_out: Any, d_num_selected_out: Any,
    select_first_part_op: Any, select_second_part_op: Any, num_items: int, stream: Any = None, temp_storage: Any = POOL,
) -> Any:  # fmt: skip
    """Items to the first output that the first condition holds for, to the second that the second one holds for, the
    others to the third; each in their order.

    Parameters
    ----------
    d_num_selected_out : array or iterator
        Its first two items become the numbers of the first two.
    select_first_part_op, select_second_part_op : function or OpKind
    d_in, d_first_part_out, d_second_part_out, d_unselected_out, num_items, stream, temp_storage
        As for `select`.
    """
    source, count = iterator_of(d_in, "d_in"), iterator_of(d_num_selected_out, "d_num_selected_out")
    outputs = [iterator_of(d_first_part_out, "d_first_part_out"), iterator_of(d_second_part_out, "d_second_part_out"),
               iterator_of(d_unselected_out, "d_unselected_out")]  # fmt: skip
    one = operator_of(select_first_part_op, 1, "select_first_part_op")
    two = operator_of(select_second_part_op, 1, "select_second_part_op")
    n = items_in(num_items, "num_items", ("d_in", source))

    def make() -> Scanned:
        read = source.load()
        is_first, is_second = _condition(one, source), _condition(two, source)
        stores, casts = tuple(it.store() for it in outputs), tuple(map(cast_of, outputs))
        put_count, as_count = count.store(), cast_of(count)

        def load(ins: Any, i: Any) -> Any:
            if is_first(ins, i):
                return PAIR(1, 0)
            return PAIR(0, 1 if is_second(ins, i) else 0)

        def emit(outs: Any, ins: Any, i: Any, before: Any, after: Any) -> None:
            v = read(ins[0], i)
            to, n = i - after.first - after.second, ins[1]
            if after.first != before.first:
                if 0 <= before.first < n:
                    stores[0](outs[0], before.first, casts[0](v))
            elif after.second != before.second:
                if 0 <= before.second < n:
                    stores[1](outs[1], before.second, casts[1](v))
            elif 0 <= to < n:
                stores[2](outs[2], to, casts[2](v))

        def finish(outs: Any, total: Any) -> None:
            put_count(outs[3], 0, as_count(total.first))
            put_count(outs[3], 1, as_count(total.second))

        return Scanned(PAIR.__tessera_type__, load, add_pairs, emit, finish, no_pair, (0, 0))

    key = ("three ways", one.key, two.key, kinds_of([source], outputs, [count]))
    outs = (*(it.state for it in outputs), count.state)
    for out in outputs:
        apart(("d_in", source), ("an output", out))
    checked_count(2, "the number of counts", ("d_num_selected_out", count))
    memory = Memory(temp_storage, stream_of(stream))
    return run_scan(make, PAIR.__tessera_type__, key, n, (source.state, n.most), outs, numpy.int32(0), memory, True)
