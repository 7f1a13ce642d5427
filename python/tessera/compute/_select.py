# SPDX-License-Identifier: Apache-2.0
"""Selections and partitions: items that conditions choose, side by side in the order in which they stand.

All are stable, and one launch (see `_choose.py`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ._arguments import Count, becomes, items_in, stream_of, whole_numbers
from ._choose import Choice, run_choice
from ._engine import POOL, Memory, algorithm
from ._overlap import separate
from ._ready import are_arrays, words_of
from ._text import written
from .iterators import Iterator, iterator_of, within_room
from .op import OpKind, Operator, operator_of

__all__ = ["moves", "partition", "select", "select_flagged", "starts_and_begins", "three_way_partition", "unique",
"unique_by_key"]

Function = Callable[..., Any]


def cast_of(it: Iterator) -> Function:
    return (lambda v: v) if it.value_type is None else it.value_type.cast


def chosen(
    choose: Callable[[], Function], classes: int, key: Any, n: Count, given: dict[str, Iterator],
    results: list[dict[str, Iterator]], extra: Any, d_counts: tuple[str, Any], memory: Memory,
    meet: Callable[[], Function | None] = lambda: None, known: str | None = None,
    also_read: dict[str, Iterator] | None = None,
) -> Any:  # fmt: skip
    """Writes the items of the sources that are of a class to its outputs, and their numbers to ``d_counts``.
    ``choose()(ins, i, item)`` is a bool for each class, of which one may be true; so is ``meet()(before, item,
    is_first)``. What is in no class goes to the outputs after those of the classes, if there are any.

    ``ins`` is the states of the sources, and ``extra``. Items that an output has no room for are lost, but counted.
    All are named, for messages; ``also_read`` is what stands in ``extra``.
    """
    name, sources = d_counts[0], list(given.values())
    counts = whole_numbers(d_counts[1], name, n.most, classes)
    writes = {what: it for some in results for what, it in some.items()}
    separate(n.most, given | (also_read or {}), writes | {name: counts})
    for some in results:
        for one, to in zip(given.items(), some.items()):
            becomes(one, to)
    outputs = [[within_room(it, n.most) for it in some.values()] for some in results]
    every = [it for some in outputs for it in some]

    def make() -> Choice:
        loads = tuple(it.load() for it in sources)
        firsts = [sum(map(len, outputs[:c])) for c in range(len(outputs))]
        every_move = tuple(moves(loads, some, first) for some, first in zip(outputs, firsts))
        put_count, as_count = counts.store(), cast_of(counts)

        def finish(outs: Any, totals: Any) -> None:
            c = 0
            for total in totals:
                put_count(outs[-1], c, as_count(total))
                c += 1

        return Choice(lambda ins, i: loads[0](ins[0], i), choose(), every_move, finish, meet())

    ins, outs = (*(it.state for it in sources), extra), (*(it.state for it in every), counts.state)
    kind, key = sources[0].value_type, (key, classes, kinds_of(sources, *outputs, [counts]))
    size, has_rest = None if kind is None else kind.size, len(outputs) > classes

    def library_words(where: str, **choices: Any) -> str | None:
        is_alike = [it.value_type for it in every] == [kind] * len(every)
        return words_of(f"{known}_{where}", n, *sources, *every, counts, **choices) if known and is_alike else None

    return run_choice(
        make, classes, has_rest, size, key, n, ins, outs, memory, len(sources) > 1, library_words=library_words
    )


def kinds_of(*lists: list[Iterator]) -> Any:
    return tuple(tuple(it.kind for it in some) for some in lists)


def moves(loads: tuple[Function, ...], outputs: list[Iterator], first: int) -> Function:
    """The function of a kernel that writes item i of each source to place ``to`` of its output; that of the first
    source is at hand."""
    space: dict[str, Any] = {}
    lines = []
    for k, it in enumerate(outputs):
        space[f"L{k}"], space[f"S{k}"], space[f"C{k}"] = loads[k], it.store(), cast_of(it)
        lines.append(f"    S{k}(outs[{first + k}], to, C{k}({f'L{k}(ins[{k}], i)' if k else 'item'}))")
    text = "\n".join(["def move(outs, ins, to, i, item):", *lines, ""])
    written(text, space, "moves")
    return space["move"]  # type: ignore[no-any-return]


def _condition(op: Operator) -> Function:
    function = op.function
    return lambda ins, i, item: (bool(function(item)),)


@algorithm
def select(
    *, d_in: Any, d_out: Any, d_num_selected_out: Any, cond: Any, num_items: int, stream: Any = None,
    temp_storage: Any = POOL,
) -> Any:  # fmt: skip
    """The items that a condition holds for, in their order.

    Parameters
    ----------
    d_in, d_out : array or iterator
        Items that an output has no room for are not written; the number of items says how many there are.
    d_num_selected_out : array or iterator of whole numbers
        Its first item becomes the number of them.
    cond : function or OpKind
        Of one item; what it gives counts as true where Python would say so.
    num_items : int, or array of a device
    stream
        None, or any object with ``__cuda_stream__``.
    temp_storage
        Memory of the caller; None: nothing is done, and the bytes that would be needed are returned.
    """
    source, output = iterator_of(d_in, "d_in"), iterator_of(d_out, "d_out")
    op = operator_of(cond, 1, "cond")
    n = items_in(num_items, "num_items", ("d_in", source))
    memory = Memory(temp_storage, stream_of(stream))
    counts = "d_num_selected_out", d_num_selected_out
    key, outputs = ("select", op.key), [{"d_out": output}]
    return chosen(lambda: _condition(op), 1, key, n, {"d_in": source}, outputs, 0, counts, memory)


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
    source, output = iterator_of(d_in, "d_in"), iterator_of(d_out, "d_out")
    flags = iterator_of(d_flags, "d_flags")
    n = items_in(num_items, "num_items", ("d_in", source), ("d_flags", flags))

    def choose() -> Function:
        load = flags.load()
        return lambda ins, i, item: (bool(load(ins[-1], i)),)

    memory = Memory(temp_storage, stream_of(stream))
    counts, known = ("d_num_selected_out", d_num_selected_out), "select" if are_arrays(flags) else None
    return chosen(
        choose, 1, ("flagged", flags.kind), n, {"d_in": source}, [{"d_out": output}], flags.state, counts, memory,
        known=known, also_read={"d_flags": flags},
    )  # fmt: skip


@algorithm
def partition(
    *, d_in: Any, d_out: Any, d_rest_out: Any, d_num_selected_out: Any, cond: Any, num_items: int, stream: Any = None,
    temp_storage: Any = POOL,
) -> Any:  # fmt: skip
    """The items that a condition holds for to `d_out`, the others to `d_rest_out`, both in their order.

    See `select`.
    """
    source, output = iterator_of(d_in, "d_in"), iterator_of(d_out, "d_out")
    rest, op = iterator_of(d_rest_out, "d_rest_out"), operator_of(cond, 1, "cond")
    n = items_in(num_items, "num_items", ("d_in", source))
    memory = Memory(temp_storage, stream_of(stream))
    outputs, counts = [{"d_out": output}, {"d_rest_out": rest}], ("d_num_selected_out", d_num_selected_out)
    key = "partition", op.key
    return chosen(lambda: _condition(op), 1, key, n, {"d_in": source}, outputs, 0, counts, memory)


def starts_and_begins(op: Operator, keys: Iterator) -> tuple[Function, Function]:
    """Functions of a kernel that say whether an item is the first of those that are equal in a row: one loads the item
    before, one has it at hand."""
    load, equal = keys.load(), op.function

    def starts(ins: Any, i: Any, item: Any) -> Any:
        return (i == 0 or not equal(load(ins[0], i - 1), item),)

    def begins(before: Any, item: Any, is_first: Any) -> Any:
        return (is_first or not equal(before, item),)

    return starts, begins


def _first_of_each(
    op: Operator, n: Count, sources: dict[str, Iterator], outputs: dict[str, Iterator], count: tuple[str, Any],
    memory: Memory,
) -> Any:  # fmt: skip
    """Of each run of equal items of the first source the first one, and those of the others at its place."""

    def function(k: int) -> Callable[[], Function]:
        return lambda: starts_and_begins(op, next(iter(sources.values())))[k]

    known = "unique" if op.known is OpKind.EQUAL_TO and len(sources) == 1 else None
    return chosen(function(0), 1, ("unique", op.key), n, sources, [outputs], 0, count, memory, function(1), known)


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
    outputs = {"d_out_keys": iterator_of(d_out_keys, "d_out_keys"),
               "d_out_items": iterator_of(d_out_items, "d_out_items")}  # fmt: skip
    op = operator_of(op, 2)
    n = items_in(num_items, "num_items", ("d_in_keys", keys), ("d_in_items", items))
    memory = Memory(temp_storage, stream_of(stream))
    sources, count = {"d_in_keys": keys, "d_in_items": items}, ("d_out_num_selected", d_out_num_selected)
    return _first_of_each(op, n, sources, outputs, count, memory)


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
    source, output = iterator_of(d_in, "d_in"), iterator_of(d_out, "d_out")
    op = operator_of(op, 2)
    n = items_in(num_items, "num_items", ("d_in", source))
    memory = Memory(temp_storage, stream_of(stream))
    count = "d_num_selected_out", d_num_selected_out
    return _first_of_each(op, n, {"d_in": source}, {"d_out": output}, count, memory)


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
    source = iterator_of(d_in, "d_in")
    named = {"d_first_part_out": d_first_part_out, "d_second_part_out": d_second_part_out,
             "d_unselected_out": d_unselected_out}  # fmt: skip
    outputs = [{name: iterator_of(given, name)} for name, given in named.items()]
    one = operator_of(select_first_part_op, 1, "select_first_part_op")
    two = operator_of(select_second_part_op, 1, "select_second_part_op")
    n = items_in(num_items, "num_items", ("d_in", source))

    def choose() -> Function:
        is_first, is_second = one.function, two.function

        def flags(ins: Any, i: Any, item: Any) -> Any:
            first = bool(is_first(item))
            return first, False if first else bool(is_second(item))

        return flags

    key, counts = ("three ways", one.key, two.key), ("d_num_selected_out", d_num_selected_out)
    return chosen(choose, 2, key, n, {"d_in": source}, outputs, 0, counts, Memory(temp_storage, stream_of(stream)))
