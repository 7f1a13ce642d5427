# SPDX-License-Identifier: Apache-2.0
"""Runs of equal keys: each reduced or scanned by itself, or counted.

One scan (see `_scan.py`) of pairs of a count of runs and a value, under

    (c1, v1) . (c2, v2) = (c1 + c2, v2 if a run begins among the second else v1 op v2)

so runs of any lengths cost the same, also those across many tiles.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy

from . import types
from ._arguments import becomes, init_of, items_in, stream_of, whole_numbers
from ._choose import Choice, run_choice
from ._engine import POOL, Memory, algorithm, on_cpu
from ._overlap import separate
from ._runs import Runs, reduce_runs
from ._scan import Scanned, run_scan
from ._select import cast_of, kinds_of, starts_and_begins
from .iterators import ConstantIterator, Iterator, iterator_of, within_room
from .op import Operator, may_raise, names_arrays, operator_of

__all__ = ["exclusive_scan_by_key", "inclusive_scan_by_key", "reduce_by_key", "run_length_encode"]

Function = Callable[..., Any]


def _pair(kind: types.TypeDescriptor, n: int) -> Any:
    """The struct of a count of up to n runs and a value of the type."""
    return types.struct({"runs": numpy.int32 if n < 1 << 31 else numpy.int64, "value": kind}, "Run")


def _begins(op: Operator, keys: Iterator) -> Function:
    load, equal = keys.load(), op.function

    def begins(ins: Any, i: Any) -> Any:
        same = bool(equal(load(ins[0], max(i - 1, 0)), load(ins[0], i)))  # without a branch: loads do not wait for it
        return i == 0 or not same

    return begins


def _reading(pair: Any, kind: types.TypeDescriptor, begins: Function, load: Function) -> Function:
    cls, cast = pair.cls, kind.cast
    return lambda ins, i: cls(1 if begins(ins, i) else 0, cast(load(ins[1], i)))


def _joining(pair: Any, kind: types.TypeDescriptor, op: Function) -> Function:
    cls, cast = pair.cls, kind.cast

    def joined(a: Any, b: Any) -> Any:
        if b[0] > 0:
            return cls(a[0] + b[0], b[1])
        return cls(a[0], cast(op(a[1], b[1])))

    return joined


@algorithm
def reduce_by_key(
    *, d_in_keys: Any, d_in_values: Any, d_out_keys: Any, d_out_values: Any, d_num_runs_out: Any, op: Any,
    num_items: int, equal: Any = None, stream: Any = None, temp_storage: Any = POOL,
) -> Any:  # fmt: skip
    """Of each run of equal keys the key, and its values put together in their order.

    Parameters
    ----------
    d_in_keys, d_in_values, d_out_keys, d_out_values : array or iterator
        Outputs may not be inputs. Runs that an output has no room for are not written; `d_num_runs_out` says how many
        there are.
    d_num_runs_out : array or iterator of whole numbers
        Its first item becomes the number of runs.
    op : function or OpKind
        Associative, of two values of the type of the outputs; it need not be commutative.
    num_items : int, or array of a device
    equal : function or OpKind, optional
        Whether two keys are equal; without it ``a == b``.
    stream
        None, or any object with ``__cuda_stream__``.
    temp_storage
        Memory of the caller; None: nothing is done, and the bytes that would be needed are returned.

    Notes
    -----
    One launch; the bits of floats are the same each time and on all devices.
    """
    keys, values = iterator_of(d_in_keys, "d_in_keys"), iterator_of(d_in_values, "d_in_values")
    out_keys, out_values = iterator_of(d_out_keys, "d_out_keys"), iterator_of(d_out_values, "d_out_values")
    op, same = operator_of(op, 2), _equality(equal)
    kind = _known(out_values.value_type or values.value_type, "d_out_values")
    n = items_in(num_items, "num_items", ("d_in_keys", keys), ("d_in_values", values))
    count = whole_numbers(d_num_runs_out, "d_num_runs_out", n.most, 1)
    becomes(("d_in_keys", keys), ("d_out_keys", out_keys))
    writes = {"d_out_keys": out_keys, "d_out_values": out_values, "d_num_runs_out": count}
    separate(n.most, {"d_in_keys": keys, "d_in_values": values}, writes)
    out_keys, out_values = within_room(out_keys, n.most), within_room(out_values, n.most)
    pair = _pair(kind, n.most)

    def parts() -> Runs:
        key_of, load, equal = keys.load(), values.load(), same.function
        put_key, put_value, put_count = out_keys.store(), out_values.store(), count.store()
        as_key, as_value, as_count = cast_of(out_keys), cast_of(out_values), cast_of(count)
        return Runs(
            pair, kind, lambda ins, i: key_of(ins[0], i), lambda a, b: bool(equal(a, b)),
            lambda ins, i: load(ins[1], i), op.function, _joining(pair, kind, op.function),
            lambda outs, ins, to, i: put_key(outs[0], to, as_key(key_of(ins[0], i))),
            lambda outs, to, value: put_value(outs[1], to, as_value(value)),
            lambda outs, number: put_count(outs[2], 0, as_count(number)),
        )  # fmt: skip

    key = ("reduce by key", pair.dtype, op.key, same.key, kinds_of([keys, values], [out_keys, out_values, count]))
    ins, outs = (keys.state, values.state, n.state), (out_keys.state, out_values.state, count.state)
    memory = Memory(temp_storage, stream_of(stream))
    if on_cpu() or may_raise(key) or names_arrays(key):  # the scan asks of items that are there only

        def scan() -> Scanned:
            begins = _begins(same, keys)
            return _scanned(parts(), begins, _reading(pair, kind, begins, values.load()), n.load())

        return run_scan(scan, pair, key, n, ins, outs, numpy.int32(0), memory, op.is_exact(kind))
    return reduce_runs(parts, pair, key, n, ins, outs, memory)


def _scanned(what: Runs, begins: Function, read: Function, number: Function) -> Scanned:
    """The same as a scan, whose ``ins`` end with how many items there are."""
    put_key, put_value = what.put_key, what.put_value

    def look(ins: Any, i: Any) -> Any:
        last = number(ins[2]) - 1
        next_begins = begins(ins, min(i + 1, last))
        return i == last or next_begins

    def emit(outs: Any, ins: Any, i: Any, before: Any, after: Any, is_last: Any) -> None:
        if i == 0 or after[0] != before[0]:
            put_key(outs, ins, after[0] - 1, i)
        if is_last:
            put_value(outs, after[0] - 1, after[1])

    finish = what.finish
    return Scanned(
        what.pair, read, what.joined, emit, lambda outs, total: finish(outs, total[0]), None, (0, what.kind.zero), look
    )


@algorithm
def run_length_encode(
    *, d_in: Any, d_unique_out: Any, d_lengths_out: Any, d_num_runs_out: Any, num_items: int, equal: Any = None,
    stream: Any = None, temp_storage: Any = POOL,
) -> Any:  # fmt: skip
    """Of each run of equal items the item, and how many there are.

    Parameters
    ----------
    d_in, d_unique_out : array or iterator
    d_lengths_out : array or iterator of whole numbers
        Of a dtype that `num_items` fits in.
    d_num_runs_out, num_items, equal, stream, temp_storage
        As for `reduce_by_key`.
    """
    source, output = iterator_of(d_in, "d_in"), iterator_of(d_unique_out, "d_unique_out")
    most = items_in(num_items, "num_items", ("d_in", source)).most
    lengths, count = whole_numbers(d_lengths_out, "d_lengths_out", most), iterator_of(d_num_runs_out, "d_num_runs_out")
    becomes(("d_in", source), ("d_unique_out", output))
    separate(most, {"d_in": source}, {"d_unique_out": output, "d_lengths_out": lengths, "d_num_runs_out": count})
    if not on_cpu():
        return _measure_runs(d_in, d_unique_out, lengths, d_num_runs_out, num_items, equal, stream, temp_storage)
    dtype = numpy.dtype(numpy.int64) if lengths.value_type is None else lengths.value_type.dtype
    return reduce_by_key(
        d_in_keys=d_in, d_in_values=ConstantIterator(dtype.type(1)), d_out_keys=d_unique_out, d_out_values=lengths,
        d_num_runs_out=d_num_runs_out, op=lambda a, b: a + b, num_items=num_items, equal=equal, stream=stream,
        temp_storage=temp_storage,
    )  # fmt: skip


def _measure_runs(
    d_in: Any, d_unique_out: Any, lengths: Iterator, d_num_runs_out: Any, num_items: Any, equal: Any, stream: Any,
    storage: Any,
) -> Any:  # fmt: skip
    """Chooses the first item of each run; its length is how far the next one is."""
    source, output = iterator_of(d_in, "d_in"), iterator_of(d_unique_out, "d_unique_out")
    same, n = _equality(equal), items_in(num_items, "num_items", ("d_in", source))
    count = whole_numbers(d_num_runs_out, "d_num_runs_out", n.most, 1)
    output, lengths = within_room(output, n.most), within_room(lengths, n.most)

    def make() -> Choice:
        put, put_length, put_count = output.store(), lengths.store(), count.store()
        as_item, as_length, as_count = cast_of(output), cast_of(lengths), cast_of(count)

        def move(outs: Any, ins: Any, to: Any, i: Any, item: Any) -> None:
            put(outs[0], to, as_item(item))

        def spans(outs: Any, to: Any, begin: Any, end: Any) -> None:
            put_length(outs[1], to, as_length(end - begin))

        def finish(outs: Any, totals: Any) -> None:
            put_count(outs[2], 0, as_count(totals[0]))

        load, begins = source.load(), starts_and_begins(same, source)
        return Choice(lambda ins, i: load(ins[0], i), begins[0], (move,), finish, begins[1], spans)

    key = ("run lengths", same.key, kinds_of([source], [output, lengths, count]))
    outs, size = (output.state, lengths.state, count.state), source.value_type and source.value_type.size
    memory = Memory(storage, stream_of(stream))
    return run_choice(make, 1, False, size, key, n, (source.state,), outs, memory, True, True)


def _equality(equal: Any) -> Operator:
    from .op import OpKind

    return operator_of(OpKind.EQUAL_TO if equal is None else equal, 2, "equal")


def _known(kind: Any, name: str) -> Any:
    if kind is None:
        raise TypeError(f"{name}: the type of its items is not known; give value_type to the iterator")
    return kind


def _scan_by_key(
    inclusive: bool, d_in_keys: Any, d_in_values: Any, d_out_values: Any, op: Any, init_value: Any, num_items: Any,
    equal: Any, stream: Any, storage: Any,
) -> Any:  # fmt: skip
    keys, values = iterator_of(d_in_keys, "d_in_keys"), iterator_of(d_in_values, "d_in_values")
    output, op, same = iterator_of(d_out_values, "d_out_values"), operator_of(op, 2), _equality(equal)
    kind, init = (output.value_type or values.value_type, numpy.int32(0)) if init_value is None else init_of(
        init_value, "init_value"
    )  # fmt: skip
    kind = _known(kind, "d_out_values")
    n = items_in(num_items, "num_items", ("d_in_keys", keys), ("d_in_values", values), ("d_out_values", output))
    reads = {"d_in_keys": keys, "d_in_values": values}
    separate(n.most, reads, {"d_out_values": output}, {("d_out_values", "d_in_values")})
    pair = _pair(kind, n.most)

    def make() -> Scanned:
        store, as_value = output.store(), cast_of(output)

        def put(out: Any, i: Any, v: Any) -> None:
            store(out, i, as_value(v))

        begins = _begins(same, keys)
        return scanned_runs(pair, kind, begins, values.load(), op.function, put, inclusive, init_value is not None)

    of_types = pair.dtype, kind, kinds_of([keys, values], [output])
    key = ("scan by key", inclusive, op.key, same.key, init_value is None, of_types)
    ins = (keys.state, values.state, init)
    if n.most == 0 and storage is not None:
        return None
    memory = Memory(storage, stream_of(stream))
    return run_scan(make, pair, key, n, ins, (output.state,), numpy.int32(0), memory, op.is_exact(kind))


def scanned_runs(
    pair: Any, kind: types.TypeDescriptor, begins: Function, load: Function, op: Function, put: Function,
    inclusive: bool, has_init: bool,
) -> Scanned:  # fmt: skip
    """The scan of each run of keys. ``ins``: keys, values, the initial value."""
    cast = kind.cast

    def emit(outs: Any, ins: Any, i: Any, before: Any, after: Any) -> None:
        if inclusive:
            value = after[1]
            if has_init:
                value = cast(op(cast(ins[2]), value))
            put(outs[0], i, value)
        else:
            value = cast(ins[2])
            if i > 0 and after[0] == before[0]:
                value = cast(op(value, before[1]))
            put(outs[0], i, value)

    return Scanned(pair, _reading(pair, kind, begins, load), _joining(pair, kind, op), emit)


@algorithm
def inclusive_scan_by_key(
    *, d_in_keys: Any, d_in_values: Any, d_out_values: Any, op: Any, num_items: int, init_value: Any = None,
    equal: Any = None, stream: Any = None, temp_storage: Any = POOL,
) -> Any:  # fmt: skip
    """The inclusive scan of the values of each run of equal keys; see `exclusive_scan_by_key`."""
    return _scan_by_key(
        True, d_in_keys, d_in_values, d_out_values, op, init_value, num_items, equal, stream, temp_storage
    )


@algorithm
def exclusive_scan_by_key(
    *, d_in_keys: Any, d_in_values: Any, d_out_values: Any, op: Any, init_value: Any, num_items: int,
    equal: Any = None, stream: Any = None, temp_storage: Any = POOL,
) -> Any:  # fmt: skip
    """The exclusive scan of the values of each run of equal keys.

    Parameters
    ----------
    d_in_keys, d_in_values, d_out_values : array or iterator
        The output may be the values.
    op : function or OpKind
        Associative, of two values of the type of `init_value`; it need not be commutative.
    init_value : numpy.ndarray of one element, number of NumPy or struct
        Stands before the first value of each run.
    num_items, equal, stream, temp_storage
        As for `reduce_by_key`.
    """
    if init_value is None:
        raise ValueError("exclusive_scan_by_key needs an init_value, which is the first result of each run")
    return _scan_by_key(
        False, d_in_keys, d_in_values, d_out_values, op, init_value, num_items, equal, stream, temp_storage
    )
