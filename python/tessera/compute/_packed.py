# SPDX-License-Identifier: Apache-2.0
"""The kernels of algorithms that programs without Python get (include/tessera/compute.h), by the choices that they can
be made for. Only tools/gen_compute.py imports this; it packs them (docs/adr/0029-algorithms-in-c.md).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy

from ..cuda._hints import bounds_hints
from ..cuda._linking import _written
from . import (
    _by_key, _choose, _chunks, _few, _find, _histogram, _lookback, _merge_tiles, _onesweep, _radix, _reduce, _runs,
    _scan, _search, _segmented, _segments, _sort, _transform, types,
)  # fmt: skip
from ._arguments import clamped, setting
from ._engine import THREADS
from .iterators import ArrayIterator, ZipIterator
from .op import Operator, numbers_first

__all__ = ["COMBINES", "KERNELS", "NUMBERS", "OWN", "Choice", "Kernel"]

INTS = [f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)]
FLOATS = ["float16", "bfloat16", "float32", "float64"]
COMBINES = ["add", "multiply", "min", "max", "and", "or", "xor", "own"]
OWN = "own operator"  # stands for the IR of an operator of the program, which C puts into the pack
FLAG = [0, 1]
SIZES = [4, 8]  # bytes of a value that goes with a key

Choice = dict[str, Any]


class Kernel(NamedTuple):
    """An algorithm's kernel: what it can be made for, and how."""

    axes: dict[str, list[Any]]
    make: Callable[[Choice], Any]  # the kernel's function
    facts: Callable[[Choice], dict[str, int]]  # what the host needs to know, of the first axis
    record: Callable[[Choice], Any] | None = None  # the dtype of records in temporary memory


def kind_of(name: str) -> Any:
    return types.from_numpy_dtype(types.bfloat16.dtype if name == "bfloat16" else name)  # type: ignore[attr-defined]


def combining(name: str) -> Any:
    """The operators of `OpKind`, as one function that asks which it is."""
    which, text = COMBINES.index(name), OWN

    def combine(a: Any, b: Any) -> Any:
        if which == 0:
            return a + b
        if which == 1:
            return a * b
        if which == 2:
            return b if b < a else a  # noqa: FURB136
        if which == 3:
            return b if a < b else a  # noqa: FURB136
        if which == 4:
            return a & b
        if which == 5:
            return a | b
        if which == 6:
            return a ^ b
        return _written(text, a.dtype, a, b)

    return combine


def counting(on_device: int) -> Any:
    """The number of items out of its argument, see `Count.load`."""
    is_there = bool(on_device)

    def number(n: Any) -> Any:
        if is_there:
            return clamped(n[0][0], n[1])
        return n

    return number


def sequence(dtype: Any) -> Any:
    return ArrayIterator(numpy.zeros(1, dtype))


def functions_of(kind: Any) -> tuple[Any, Any]:
    it = sequence(kind.dtype)
    return it.load(), it.store()


def reducing(maker: Any) -> Callable[[Choice], Any]:
    def make(c: Choice) -> Any:
        kind = kind_of(c["dtype"])
        in_order = c["combine"] == "own"  # the others are commutative
        op = combining(c["combine"])
        parts = *functions_of(kind), _reduce.Combining(op, op), kind, kind.cast, in_order, bool(c["initial"])
        return maker(*parts, counting(c["counted"]))

    return make


def scanned(c: Choice, initial: Any) -> Any:
    kind = kind_of(c["dtype"])
    (load, store), cast, is_inclusive = functions_of(kind), kind.cast, not c["exclusive"]

    def emit(outs: Any, ins: Any, i: Any, before: Any, after: Any) -> None:
        store(outs, i, cast(after if is_inclusive else before))

    return _scan.Scanned(kind, load, combining(c["combine"]), emit, None, initial if c["initial"] else None)


def digits(c: Choice, dtype: Any, is_pair: bool) -> Any:
    found = _sort.digits_of(dtype, None, None, _sort.SortOrder(c["descending"]))
    return _sort.of_field(found, 0) if is_pair else found


class Own(types.TypeDescriptor):
    """A type whose functions are its own, also where keys are of the same dtype: packs are alike then."""

    __eq__ = object.__eq__
    __hash__ = object.__hash__


def sorted_of(c: Choice) -> tuple[Any, Any]:
    """The digits, and items as source and output have them."""
    name, size = c.get("pair", (c.get("dtype"), None))
    keys = sequence(kind_of(name).dtype)
    if size is None:
        return digits(c, keys.value_type.dtype, False), keys
    values = sequence(f"u{size}")
    values.value_type = Own(f"u{size}")
    items = ZipIterator(keys, values)
    return digits(c, keys.value_type.dtype, True), items


def sorting_on_cpu(c: Choice) -> Any:
    found, items = sorted_of(c)
    return _radix._sorting(found.places, found.bits, items, items, items, counting(c["counted"]))


def sorting_one_tile(c: Choice) -> Any:
    found, items = sorted_of(c)
    return _onesweep._sorting(found, counting(c["counted"]), items, items)


def counting_digits(c: Choice) -> Any:
    found, items = sorted_of(c)
    return _onesweep._counting(found, items.load(), counting(c["counted"]))


def sweeping(c: Choice) -> Any:
    found, items = sorted_of(c)
    small, variant = _onesweep.SMALL, c["variant"]
    most = {len(small) + 1: _onesweep.SHORT, len(small) + 2: _onesweep.NARROW}.get(variant, 0)
    per_thread = small[variant][1] if variant < len(small) else _onesweep.per_thread(items.value_type.size)
    size = _onesweep.tile_for(per_thread, most)
    return _onesweep._sweeping(found, counting(c["counted"]), items, items, items, True, size)


def comparing(c: Choice) -> Any:
    """Whether one value comes before another: by the program's own comparison, or NaNs last."""
    is_own, is_down, text = bool(c["own"]), bool(c.get("descending")), OWN
    plain = numbers_first(lambda a, b: b < a if is_down else a < b)

    def less(a: Any, b: Any) -> Any:
        if is_own:
            return _written(text, numpy.bool_, a, b)
        return plain(a, b)

    return less


def searching(c: Choice) -> Any:
    """Of any dtype: that of the arrays."""
    (load, store), is_upper, less = functions_of(kind_of("int64")), bool(c["upper"]), comparing(c)

    def before(a: Any, v: Any) -> Any:
        if is_upper:
            return not less(v, a)
        return less(a, v)

    return _search._searching(load, load, store, numpy.int64, before, (counting(c["counted"]), counting(0)))


def transforming(maker: Callable[..., Any], inputs: int) -> Callable[[Choice], Any]:
    """By the program's own operator, of items of any dtypes."""
    (load, put), text = functions_of(kind_of("int64")), OWN

    def one(ins: Any, i: Any) -> Any:
        return (load(ins[0], i),)

    def two(ins: Any, i: Any) -> Any:
        return load(ins[0], i), load(ins[1], i)

    def three(ins: Any, i: Any) -> Any:
        return load(ins[0], i), load(ins[1], i), load(ins[2], i)

    def store(out: Any, i: Any, v: Any) -> None:
        put(out, i, _written(text, out[0].dtype, *v))

    return lambda c: maker((one, two, three)[inputs - 1], store, counting(c["counted"]))


def neighbouring(maker: Callable[..., Any]) -> Callable[[Choice], Any]:
    """Each item with the one beside it, of any dtype. ``ins``: items, how many."""

    def make(c: Choice) -> Any:
        (load, put), number, step = functions_of(kind_of("int64")), counting(c["counted"]), 1 if c["right"] else -1
        is_own, text = bool(c["own"]), OWN

        def both(ins: Any, i: Any) -> Any:
            at = i + step
            is_last = at < 0 or at >= number(ins[1])
            return load(ins[0], i), load(ins[0], i if is_last else at), is_last

        def store(out: Any, i: Any, v: Any) -> None:
            if v[2]:
                put(out, i, v[0])
            elif is_own:
                put(out, i, _written(text, out[0].dtype, v[0], v[1]))
            else:
                put(out, i, v[0] - v[1])

        return maker(both, store, counting(c["counted"]))

    return make


def numbering(maker: Callable[..., Any]) -> Callable[[Choice], Any]:
    """Places from 0 on."""
    _, put = functions_of(kind_of("int64"))

    def store(out: Any, i: Any, v: Any) -> None:
        put(out, i, v)

    return lambda c: maker(lambda ins, i: i, store, counting(c["counted"]))


def gathering(maker: Callable[..., Any]) -> Callable[[Choice], Any]:
    """Items at places, of any dtype. ``ins``: items, places."""
    load, put = functions_of(kind_of("int64"))

    def store(out: Any, i: Any, v: Any) -> None:
        put(out, i, v)

    return lambda c: maker(lambda ins, i: load(ins[0], load(ins[1], i)), store, counting(c["counted"]))


def moving(fields: int) -> tuple[Any, Any]:
    """Functions of a kernel that move an item of one or two arrays of any dtypes, and write how many were chosen."""
    load, store = functions_of(kind_of("int64"))

    def move_key(outs: Any, ins: Any, to: Any, i: Any, item: Any) -> None:
        store(outs[0], to, item)

    def move_pair(outs: Any, ins: Any, to: Any, i: Any, item: Any) -> None:
        store(outs[0], to, item)
        store(outs[1], to, load(ins[1], i))

    def finish(outs: Any, totals: Any) -> None:
        store(outs[-1], 0, totals[0])

    return move_key if fields == 1 else move_pair, finish


def flagged(c: Choice) -> _choose.Choice:
    """Items whose flag is set, of any dtype. ``ins``: items, flags; ``outs``: items, their number."""
    load, _ = functions_of(kind_of("int64"))

    def flags(ins: Any, i: Any, item: Any) -> Any:
        return (load(ins[1], i) != 0,)

    move, finish = moving(1)
    return _choose.Choice(lambda ins, i: load(ins[0], i), flags, (move,), finish)


def parted(c: Choice) -> _choose.Choice:
    """The same, and the others. ``outs``: items whose flag is set, the rest, the number of the first."""
    made, (_, store) = flagged(c), functions_of(kind_of("int64"))

    def move_rest(outs: Any, ins: Any, to: Any, i: Any, item: Any) -> None:
        store(outs[1], to, item)

    def finish(outs: Any, totals: Any) -> None:
        store(outs[2], 0, totals[0])

    return made._replace(moves=(made.moves[0], move_rest), finish=finish)


def merged_by(c: Choice) -> int:
    """Items of a thread of a merge."""
    return _merge_tiles.FEW_ITEMS if c["few"] else _merge_tiles.ITEMS


def merging(c: Choice) -> Any:
    """Of any dtype: that of the arrays."""
    (load, store), number = functions_of(kind_of("int64")), counting(0)
    op = Operator(comparing(c), None, None, (2,))

    def put(out: Any, to: Any, i: Any, item: Any, is_there: Any) -> None:
        store(out, to, item)

    ends = _merge_tiles.Ends((put, put), only_items=True)
    return _merge_tiles.merging(load, load, op, (number, number), ends, merged_by(c), True)


def both_of(c: Choice, ends: _merge_tiles.Ends) -> Any:
    """The merge of two sorted sequences of any dtype, with what becomes of its items."""
    (load, _), number, op = functions_of(kind_of("int64")), counting(0), Operator(comparing(c), None, None, (2,))
    return _merge_tiles.merging(load, load, op, (number, number), ends, merged_by(c), True)


def flagging(c: Choice) -> Any:
    """A flag for each item of the first: whether the second has it, too, or has not."""
    is_wanted = bool(c["both"])

    def put(flags: Any, to: Any, i: Any, item: Any, is_there: Any) -> None:
        flags[i] = is_there == is_wanted

    return both_of(c, _merge_tiles.Ends((put, _merge_tiles.nothing), (True, False)))


def joining(fields: int) -> Callable[[Choice], Any]:
    """The merge, perhaps with values, and a flag for each item: whether it stays. ``outs``: items, flags, values, and
    those of the two sequences."""

    def make(c: Choice) -> Any:
        (load, store), has_values = functions_of(kind_of("int64")), fields > 1

        def putting_of(side: int) -> Any:
            def put(outs: Any, to: Any, i: Any, item: Any, is_there: Any) -> None:
                store(outs[0], to, item)
                outs[1][to] = not is_there
                if has_values:
                    store(outs[2], to, load(outs[side], i))

            return put

        put_first = putting_of(3)
        put_second = putting_of(4) if has_values else put_first
        return both_of(c, _merge_tiles.Ends((put_first, put_second), (bool(c["both"]), True)))

    return make


def counting_true(maker: Any) -> Callable[[Choice], Any]:
    """How many items the program's own condition holds for, of any dtype."""
    kind, text = kind_of("int64"), OWN
    load, store = functions_of(kind)

    def one(s: Any, i: Any) -> Any:
        return numpy.int64(1 if _written(text, numpy.bool_, load(s, i)) else 0)

    add = lambda a, b: a + b  # noqa: E731
    by = _reduce.Combining(add, add)
    return lambda c: maker(one, store, by, kind, kind.cast, False, True, counting(c["counted"]))


def differing_at(c: Choice) -> Any:
    """Where two sequences of any dtypes differ, by the program's own equality or ``==``."""
    (load, _), is_own, text = functions_of(kind_of("int64")), bool(c["own"]), OWN

    def differ(v: Any) -> Any:
        if is_own:
            return not _written(text, numpy.bool_, v[0], v[1])
        return v[0] != v[1]

    return _find._finding(lambda s, i: (load(s[0], i), load(s[1], i)), differ, counting(c["counted"]))


def reaching(c: Choice) -> Any:
    """Whether a place is the number of items."""
    number = counting(c["counted"])

    def reach(out: Any, place: Any, n: Any) -> None:
        out[0] = place[0] >= number(n)

    return reach


def within(c: Choice) -> Any:
    """Where parts of items begin, or end."""
    return _segmented._Within(sequence(numpy.int64), Number(c["counted"])).load()


def marking(c: Choice) -> Any:
    return _segments._marking(within(c), within(c), counting(c["counted"]))


def grouping(maker: Callable[..., Any]) -> Callable[[Choice], Any]:
    waits = (True,) if maker is _scan._scanning else ()
    return lambda c: maker(_segments._grouping(bool(c["alone"])), counting(c["counted"]), *waits)


def taking_parts(fields: int) -> Callable[[Choice], Any]:
    load, store = functions_of(kind_of("int64"))

    def make(c: Choice) -> Any:
        same: Any = lambda v: v  # noqa: E731
        many = (load,) * fields, (store,) * fields, (same,) * fields
        return _segments._taking(within(c), within(c), *many, counting(0))

    return make


def value_of(c: Choice) -> Own:
    return Own(kind_of(c["dtype"]).dtype)


def run_of(c: Choice) -> Any:
    """A count of runs, of fewer than 2^31 items, and a value."""
    return _by_key._pair(value_of(c), 1)


def runs_of(c: Choice, load: Any, op: Any) -> tuple[_runs.Runs, Any]:
    """Values of runs of equal keys, of any dtype, put together; and whether a run begins. ``ins``: keys, values, how
    many; ``outs``: keys, values, their number."""
    kind, (key_of, store) = value_of(c), functions_of(kind_of("int64"))
    pair, same = _by_key._pair(kind, 1), Operator(lambda a, b: a == b, None, None, (2,))

    def put_key(outs: Any, ins: Any, to: Any, i: Any) -> None:
        store(outs[0], to, key_of(ins[0], i))

    made = _runs.Runs(
        pair, kind, lambda ins, i: key_of(ins[0], i), same.function, lambda ins, i: load(ins[1], i), op,
        _by_key._joining(pair, kind, op), put_key, lambda outs, to, value: store(outs[1], to, value),
        lambda outs, number: store(outs[2], 0, number),
    )  # fmt: skip
    return made, _by_key._begins(same, sequence(numpy.int64))


def runs_in_tiles(c: Choice) -> Any:
    made, _ = runs_of(c, functions_of(kind_of("int64"))[0], combining(c["combine"]))
    return _runs._reducing(made, counting(c["counted"]))


def facts_of_runs(c: Choice) -> dict[str, int]:
    pair = run_of(c)
    items, threads = _scan.tile_of(pair)
    hints = bounds(threads, _runs._RESIDENT) if pair.size <= 16 else {}
    return {"tile": items * threads, "pieces": _lookback.words_in(pair.dtype), "record": pair.size, **hints}


def runs_as_scan(c: Choice, load: Any, op: Any) -> _scan.Scanned:
    made, begins = runs_of(c, load, op)
    read = _by_key._reading(made.pair, made.kind, begins, load)
    return _scan._looking(_by_key._scanned(made, begins, read, counting(c["counted"])))


def runs_in_chunks(c: Choice) -> Any:
    what = runs_as_scan(c, functions_of(kind_of("int64"))[0], combining(c["combine"]))
    return _chunks._scanning_tiles(what, counting(c["counted"]), *_scan.tile_of(what.kind))


def lengths_in_chunks(c: Choice) -> Any:
    return _chunks._scanning(runs_as_scan(c, lambda s, i: 1, lambda a, b: a + b), counting(c["counted"]))


def lengths(c: Choice) -> _choose.Choice:
    """The first item of each run, and how far the next one is. ``ins``: items; ``outs``: items, lengths, number."""
    _, store = functions_of(kind_of("int64"))

    def spans(outs: Any, to: Any, begin: Any, end: Any) -> None:
        store(outs[1], to, end - begin)

    return differing(1)(c)._replace(spans=spans)


def shape_of_lengths(c: Choice) -> _choose._Shape:
    return _choose._Shape(1, c["bytes"], True, True, bool(c["wide"]))


def lengths_in_tiles(c: Choice) -> Any:
    return _choose._choosing(lengths(c), shape_of_lengths(c), counting(c["counted"]), True)


def scanned_parts(c: Choice) -> _scan.Scanned:
    """``ins``: groups, values, the initial value; ``outs``: values, and groups again."""
    load, _ = functions_of(kind_of("int64"))
    kind, put, groups = value_of(c), _segments._OfParts(sequence(numpy.int64), None).store(), sequence(numpy.int64)
    begins = _by_key._begins(Operator(lambda a, b: a == b, None, None, (2,)), groups)
    given = load, combining(c["combine"]), put, not c["exclusive"], bool(c["initial"])
    return _by_key.scanned_runs(_by_key._pair(kind, 1), kind, begins, *given)


def scanning_parts_in_tiles(c: Choice) -> Any:
    return _scan._scanning(scanned_parts(c), counting(c["counted"]), True)


def scanning_parts_in_chunks(c: Choice) -> Any:
    what = scanned_parts(c)
    return _chunks._scanning_tiles(what, counting(c["counted"]), *_scan.tile_of(what.kind))


def facts_of_parts(c: Choice) -> dict[str, int]:
    pair = run_of(c)
    items, threads = _scan.tile_of(pair)
    hints = bounds(threads, 4 if pair.size <= 4 else 3) if pair.size <= 16 else {}
    return {"tile": items * threads, "pieces": _lookback.words_in(pair.dtype), "record": pair.size, **hints}


def bounds_of_parts() -> Any:
    return _segmented._Within(sequence(numpy.int64), Number(0))


def adding_lengths(maker: Callable[..., Any]) -> Callable[[Choice], Any]:
    waits = (True,) if maker is _scan._scanning else ()
    return lambda c: maker(_segmented._offsets(bounds_of_parts(), bounds_of_parts()), counting(0), *waits)


def reducing_parts(maker: Callable[..., Any]) -> Callable[[Choice], Any]:
    load, store = functions_of(kind_of("int64"))

    def make(c: Choice) -> Any:
        kind = value_of(c)
        return maker(load, bounds_of_parts().load(), store, combining(c["combine"]), kind, kind.cast)

    return make


def facts_of_spans(c: Choice) -> dict[str, int]:
    span = _segmented._records(value_of(c))[1]
    return {"pieces": _lookback.words_in(span.dtype), **bounds(THREADS, _segmented._RESIDENT)}


def finding(c: Choice) -> Any:
    """By the program's own condition, of any dtype: that of the array."""
    (load, _), text = functions_of(kind_of("int64")), OWN

    def condition(v: Any) -> Any:
        return _written(text, numpy.bool_, v)

    return _find._finding(load, condition, counting(c["counted"]))


class Number(NamedTuple):
    """A number of items, as `_arguments.Count` without a state."""

    on_device: int
    state = kind = None

    def load(self) -> Any:
        return counting(self.on_device)


def first_few(c: Choice) -> _few.Order:
    return _few.Order(digits(c, kind_of(c["dtype"]).dtype, False), Number(c["counted"]), Number(0))


def counting_few(c: Choice) -> Any:
    return _few._counting(first_few(c), functions_of(kind_of("int64"))[0])


def putting(fields: int, only_last: bool) -> Any:
    """Moves an item of one or two arrays of any dtypes; with ``only_last`` the last of the few, to the first place."""
    load, store = functions_of(kind_of("int64"))

    def put_key(outs: Any, ins: Any, to: Any, few: Any, i: Any) -> None:
        if not only_last:
            store(outs[0], to, load(ins[0], i))
        elif to == few - 1:
            store(outs[0], 0, load(ins[0], i))

    def put_pair(outs: Any, ins: Any, to: Any, few: Any, i: Any) -> None:
        store(outs[0], to, load(ins[0], i))
        store(outs[1], to, load(ins[1], i))

    return put_key if fields == 1 else put_pair


def taking_few(fields: int) -> Callable[[Choice], Any]:
    load, _ = functions_of(kind_of("int64"))

    def make(c: Choice) -> Any:
        taking = _few._taking(first_few(c), load, putting(fields, bool(c.get("last"))))
        return _choose._choosing(taking, shape_of_few(c), counting(c["counted"]), True)

    return make


def shape_of_few(c: Choice) -> _choose._Shape:
    return _choose._Shape(2, _few._TAKEN, True, False, bool(c["wide"]))


def facts_of_few(c: Choice) -> dict[str, int]:
    return facts_of_shape(shape_of_few(c))


def choosing_few(fields: int, filters: bool) -> Callable[[Choice], Any]:
    load, _ = functions_of(kind_of("int64"))

    def make(c: Choice) -> Any:
        return _few._choosing(first_few(c), load, putting(fields, bool(c.get("last"))), filters)

    return make


def binning(maker: Callable[..., Any], rule: Callable[[], Any]) -> Callable[[Choice], Any]:
    load, _ = functions_of(kind_of("int64"))
    return lambda c: maker(load, rule(), lambda v: v, c["copies"], counting(c["counted"]))


def differing(fields: int) -> Callable[[Choice], _choose.Choice]:
    """Items that are not as the one before. ``ins``: items, perhaps values."""

    def make(c: Choice) -> _choose.Choice:
        load, _ = functions_of(kind_of("int64"))

        def flags(ins: Any, i: Any, item: Any) -> Any:
            return (i == 0 or load(ins[0], max(i - 1, 0)) != item,)

        def meets(before: Any, item: Any, is_first: Any) -> Any:
            return (is_first or before != item,)

        move, finish = moving(fields)
        return _choose.Choice(lambda ins, i: load(ins[0], i), flags, (move,), finish, meets)

    return make


def choosing_in_chunks(what: Callable[[Choice], _choose.Choice]) -> Callable[[Choice], Any]:
    return lambda c: _chunks._choosing(_choose._listed(what(c)), counting(c.get("counted", 0)))


def in_tiles_of(what: Callable[[Choice], _choose.Choice], axes: dict[str, list[Any]], by_place: bool = False) -> Kernel:
    """``by_place``: items are moved by their places, too."""

    def shape(c: Choice) -> _choose._Shape:
        return _choose._Shape(1, c["bytes"], by_place, False, bool(c["wide"]))

    def make(c: Choice) -> Any:
        return _choose._choosing(what(c), shape(c), counting(c.get("counted", 0)), True)

    return Kernel(axes | TILES, make, lambda c: facts_of_shape(shape(c)))


def facts_of_shape(shape: _choose._Shape) -> dict[str, int]:
    hints = bounds(THREADS, _choose._RESIDENT)
    return {"tile": shape.items * THREADS, "pieces": _lookback.words_in(shape.published.dtype), **hints}


def no_facts(c: Choice) -> dict[str, int]:
    return {}


def facts_of_scan(c: Choice) -> dict[str, int]:
    kind = kind_of(c["dtype"])
    items, threads = _scan._items(kind), _scan._threads(kind)
    hints = bounds(threads, 4 if kind.size <= 4 else 3)
    return {"tile": items * threads, "pieces": _lookback.words_in(kind.dtype), **hints}


def facts_of_sort(c: Choice) -> dict[str, int]:
    _, items = sorted_of(c)
    size = items.value_type.size
    limits = _onesweep.sweep_bounds(size)
    given = bounds(*limits) if limits else {}
    return {"tile": _onesweep.per_thread(size) * THREADS, **given}


def bounds(*given: int) -> dict[str, int]:
    hints = bounds_hints(given)
    return {"warps": hints["num_worker_warps"], "occupancy": hints["occupancy"]}


def in_tiles(c: Choice) -> Any:
    what = scanned(c, _chunks._same)
    return _chunks._scanning_tiles(what, counting(c["counted"]), _scan._items(what.kind), _scan._threads(what.kind))


def in_chunks(c: Choice) -> Any:
    return _chunks._scanning(scanned(c, _chunks._same), counting(c["counted"]))


def looking_back(c: Choice) -> Any:
    return _scan._scanning(scanned(c, _scan._nothing), counting(c["counted"]), True)


def scan_axes(dtypes: list[str]) -> dict[str, list[Any]]:
    return {"dtype": dtypes, "combine": COMBINES, "initial": FLAG, "exclusive": FLAG, "counted": FLAG}


REDUCED = {"dtype": INTS + FLOATS, "combine": COMBINES, "initial": FLAG, "counted": FLAG}
KEYS = {"dtype": INTS + FLOATS, "descending": FLAG, "counted": FLAG}
PAIRS = {"pair": [(name, size) for name in INTS + FLOATS for size in SIZES], "descending": FLAG, "counted": FLAG}
SWEPT = {"variant": [3, 0, 1, 2, 4, 5]}  # words and places of 32 bits; small tiles; words of 64 bits, places, too
CHUNKS = {"counted": FLAG}
RULES: dict[str, Callable[[], Any]] = {
    "floats": lambda: _histogram._even_floats(numpy.float64, numpy.int64),
    "ints": lambda: _histogram._even_ints,
    "wide": lambda: _histogram._wide_ints,
    "range": lambda: _histogram._range(functions_of(kind_of("int64"))[0]),
}
TILES = {"bytes": [1, 2, 4, 8], "wide": [1, 0]}
SORTED = {"descending": FLAG, "own": FLAG}
MERGED = SORTED | {"few": FLAG}
LAST = {"last": FLAG}
NUMBERS_OF = INTS + FLOATS
RUNS = {"dtype": NUMBERS_OF, "combine": COMBINES, "counted": FLAG}
PARTS = {"dtype": NUMBERS_OF, "combine": COMBINES}
EACH = (("cpu", _transform._transforming_in_chunks), ("gpu", _transform._transforming))
ONE_OR_PAIRS = ((1, ""), (2, "_pairs"))
KERNELS = {
    "reduce_cpu": Kernel(REDUCED, reducing(_reduce._reducing_in_chunks), no_facts),
    "reduce_gpu": Kernel(REDUCED, reducing(_reduce._reducing), no_facts),
    "scan_ints_cpu": Kernel(scan_axes(INTS), in_chunks, facts_of_scan),
    "scan_tiles_cpu": Kernel(scan_axes(INTS + FLOATS), in_tiles, facts_of_scan),
    "scan_gpu": Kernel(scan_axes(INTS + FLOATS), looking_back, facts_of_scan),
    "sort_cpu": Kernel(KEYS, sorting_on_cpu, no_facts),
    "sort_pairs_cpu": Kernel(PAIRS, sorting_on_cpu, no_facts),
    "sort_tile_gpu": Kernel(KEYS, sorting_one_tile, facts_of_sort),
    "sort_tile_pairs_gpu": Kernel(PAIRS, sorting_one_tile, facts_of_sort),
    "sort_count_gpu": Kernel(KEYS, counting_digits, no_facts),
    "sort_count_pairs_gpu": Kernel(PAIRS, counting_digits, no_facts),
    "sort_sweep_gpu": Kernel(KEYS | SWEPT, sweeping, facts_of_sort),
    "sort_sweep_pairs_gpu": Kernel(PAIRS | SWEPT, sweeping, facts_of_sort),
    **{
        f"transform{inputs}_{device}": Kernel({"counted": FLAG}, transforming(maker, inputs), no_facts)
        for inputs in (1, 2, 3)
        for device, maker in EACH
    },
    **{f"adjacent_{device}": Kernel({"right": FLAG, "own": FLAG} | CHUNKS, neighbouring(maker), no_facts)
       for device, maker in EACH},
    **{f"sequence_{device}": Kernel(CHUNKS, numbering(maker), no_facts) for device, maker in EACH},
    **{f"gather_{device}": Kernel(CHUNKS, gathering(maker), no_facts) for device, maker in EACH},
    **{
        f"histogram_{name}_{device}": Kernel({"copies": copies, "counted": FLAG}, binning(maker, rule), no_facts)
        for name, rule in RULES.items()
        for device, maker, copies in (
            ("cpu", _histogram._counting_in_chunks, [1, _histogram._COPIES]),
            ("gpu", _histogram._counting, [0, 1, 2, 8]),
        )
    },
    "merge": Kernel(MERGED, merging, no_facts),
    "search": Kernel({"upper": FLAG, "counted": FLAG, "own": FLAG}, searching, no_facts),
    "top_count_gpu": Kernel(KEYS, counting_few, no_facts),
    **{
        f"top_take{pairs}_gpu": Kernel(KEYS | {"wide": [1, 0]} | (LAST if fields == 1 else {}), taking_few(fields),
                                       facts_of_few)
        for fields, pairs in ONE_OR_PAIRS
    },
    **{
        f"top_{name}{pairs}_cpu": Kernel(KEYS | (LAST if fields == 1 else {}), choosing_few(fields, filters), no_facts)
        for name, filters in (("all", False), ("aside", True))
        for fields, pairs in ONE_OR_PAIRS
    },
    "set_flags": Kernel({"both": FLAG} | MERGED, flagging, no_facts),
    **{f"set_merge{pairs}": Kernel({"both": FLAG} | MERGED, joining(fields), no_facts)
       for fields, pairs in ONE_OR_PAIRS},
    "count_cpu": Kernel(CHUNKS, counting_true(_reduce._reducing_in_chunks), no_facts),
    "count_gpu": Kernel(CHUNKS, counting_true(_reduce._reducing), no_facts),
    "mismatch": Kernel({"own": FLAG} | CHUNKS, differing_at, no_facts),
    "reach": Kernel(CHUNKS, reaching, no_facts),
    "mark": Kernel(CHUNKS, marking, no_facts),
    "runs_cpu": Kernel(RUNS, runs_in_chunks, facts_of_runs, lambda c: run_of(c).dtype),
    "runs_gpu": Kernel(RUNS, runs_in_tiles, facts_of_runs),
    "lengths_cpu": Kernel({"dtype": ["int64"]} | CHUNKS, lengths_in_chunks, facts_of_runs, lambda c: run_of(c).dtype),
    "lengths_gpu": Kernel(CHUNKS | TILES, lengths_in_tiles, lambda c: facts_of_shape(shape_of_lengths(c))),
    "scan_parts_cpu": Kernel(scan_axes(NUMBERS_OF), scanning_parts_in_chunks, facts_of_parts,
                             lambda c: run_of(c).dtype),
    "scan_parts_gpu": Kernel(scan_axes(NUMBERS_OF), scanning_parts_in_tiles, facts_of_parts),
    "offsets_cpu": Kernel({"dtype": ["int64"]}, adding_lengths(_chunks._scanning), facts_of_scan),
    "offsets_gpu": Kernel({"dtype": ["int64"]}, adding_lengths(_scan._scanning), facts_of_scan),
    "parts_cpu": Kernel(PARTS, reducing_parts(_segmented._balanced_on_cpu), facts_of_spans),
    "parts_gpu": Kernel(PARTS, reducing_parts(_segmented._balanced), facts_of_spans),
    "groups_cpu": Kernel({"alone": FLAG} | CHUNKS, grouping(_chunks._scanning), no_facts),
    "groups_gpu": Kernel({"dtype": ["int64"], "alone": FLAG} | CHUNKS, grouping(_scan._scanning), facts_of_scan),
    **{f"take_parts{pairs}": Kernel(CHUNKS, taking_parts(fields), no_facts) for fields, pairs in ONE_OR_PAIRS},
    "find": Kernel({"counted": FLAG}, finding, no_facts),
    "set_number": Kernel({"counted": FLAG}, lambda c: setting(counting(c["counted"])), no_facts),
    "select_cpu": Kernel(CHUNKS, choosing_in_chunks(flagged), no_facts),
    **{f"unique{pairs}_cpu": Kernel(CHUNKS, choosing_in_chunks(differing(fields)), no_facts)
       for fields, pairs in ONE_OR_PAIRS},
    **{f"unique{pairs}_gpu": in_tiles_of(differing(fields), CHUNKS, fields > 1) for fields, pairs in ONE_OR_PAIRS},
    "partition_cpu": Kernel(CHUNKS, choosing_in_chunks(parted), no_facts),
    "partition_gpu": in_tiles_of(parted, CHUNKS),
    "select_gpu": in_tiles_of(flagged, CHUNKS),
}

# What both sides go by; written once, in Python.
NUMBERS = {
    "LEAF": _reduce.LEAF, "GROUP": _reduce.GROUP, "CORE": _reduce._CORE, "RUN": _reduce._RUN, "FULL": _reduce._FULL,
    "THREADS": THREADS, "WIDTH": _lookback._WIDTH, "SPAN": _lookback._SPAN,
    "CHUNK": _chunks._CHUNK, "TILES": _chunks._TILES, "LEAST": _chunks._LEAST,
    "PART": _radix._PART, "VALUES": _radix._VALUES, "PLACES": _radix._MOST_PLACES,
    "EACH": _transform.ITEMS, "STRETCH": _transform.RUN,
    "DIGITS": _onesweep._DIGITS, "COUNTED": _onesweep._COUNTED, "BLOCKS": _onesweep._BLOCKS,
    **{f"SMALL_MOST_{i}": most for i, (most, _) in enumerate(_onesweep.SMALL)},
    **{f"SMALL_ITEMS_{i}": items for i, (_, items) in enumerate(_onesweep.SMALL)},
    "FEW": _onesweep.FEW, "SHORT": _onesweep.SHORT, "MERGE_ITEMS": _merge_tiles.ITEMS,
    "MERGE_FEW": _merge_tiles.FEW, "MERGE_FEW_ITEMS": _merge_tiles.FEW_ITEMS,
    "FIND_ITEMS": _find.ITEMS, "TOP_BITS": _few._BITS, "TOP_VALUES": _few._VALUES, "TOP_COUNTED": _few._COUNTED,
    "TOP_BLOCKS": _few._BLOCKS, "TOP_LOOK": _few._LOOK, "TOP_ASIDE": _few._MOST_ASIDE,
    "BIN_ITEMS": _histogram.ITEMS, "BIN_ROUNDS": _histogram._ROUNDS, "BIN_BLOCKS": _histogram._BLOCKS,
    "BIN_LEAST": _histogram._LEAST, "BIN_COPIES": _histogram._COPIES, "BIN_COPIED": _histogram._MOST_COPIED,
    "BINS_SHARED": _histogram._MOST_SHARED, "BINS_FEW": _histogram._FEW, "BINS_SOME": _histogram._SOME,
    "PART_SPANS": _segmented.SPANS, "PART_BLOCKS": _segmented.BLOCKS_ON_CPU,
}  # fmt: skip
