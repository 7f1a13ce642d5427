# SPDX-License-Identifier: Apache-2.0
"""Items written elsewhere: copies, fills, gathers, scatters, shuffles, replacements, merges and sets of sorted
sequences."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy

from . import types
from ._arguments import Count, checked_count, items_in, setting, stream_of, whole_numbers
from ._engine import POOL, THREADS, Memory, algorithm, kernel_of
from ._overlap import apart
from ._select import cast_of, chosen, kinds_of
from ._transform import launch_transform
from .iterators import (
    ArrayIterator,
    ConstantIterator,
    CountingIterator,
    DiscardIterator,
    Iterator,
    PermutationIterator,
    ShuffleIterator,
    dtypes_of,
    iterator_of,
    shuffle_keys,
    shuffling,
    within_room,
)
from .op import OpKind, Operator, operator_of, ordering

__all__ = [
    "adjacent_difference", "copy", "fill", "gather", "generate", "merge", "remove_if", "replace_if",
    "reverse", "scatter", "sequence", "set_difference", "set_intersection", "set_symmetric_difference", "set_union",
    "shuffle",
]  # fmt: skip

Function = Callable[..., Any]
_SAME = operator_of(OpKind.IDENTITY, 1)


@algorithm
def copy(*, d_in: Any, d_out: Any, num_items: int, stream: Any = None) -> None:
    """``d_out[i] = d_in[i]``, converted to the dtype of the output."""
    launch_transform([iterator_of(d_in, "d_in")], d_out, _SAME, num_items, stream, ["d_in"])


@algorithm
def fill(*, d_out: Any, value: Any, num_items: int, stream: Any = None) -> None:
    """``d_out[i] = value``, a number of NumPy or a struct."""
    launch_transform([ConstantIterator(value)], d_out, _SAME, num_items, stream, ["value"])


@algorithm
def sequence(*, d_out: Any, num_items: int, start: Any = None, stream: Any = None) -> None:
    """``d_out[i] = start + i``; without `start` from 0."""
    first = CountingIterator(numpy.int64(0) if start is None else start)
    launch_transform([first], d_out, _SAME, num_items, stream, ["start"])


@algorithm
def generate(*, d_out: Any, op: Any, num_items: int, stream: Any = None) -> None:
    """``d_out[i] = op(i)``."""
    counting = CountingIterator(numpy.int64(0))
    launch_transform([counting], d_out, operator_of(op, 1), num_items, stream, ["i"])


@algorithm
def gather(*, d_in: Any, d_indices: Any, d_out: Any, num_items: int, stream: Any = None) -> None:
    """``d_out[i] = d_in[d_indices[i]]``; indices are not checked, and the output may not be the input."""
    apart(("d_in", iterator_of(d_in, "d_in")), ("d_out", iterator_of(d_out, "d_out")))
    launch_transform([PermutationIterator(d_in, d_indices)], d_out, _SAME, num_items, stream, ["d_in"])


@algorithm
def scatter(*, d_in: Any, d_indices: Any, d_out: Any, num_items: int, stream: Any = None) -> None:
    """``d_out[d_indices[i]] = d_in[i]``; of equal indices any one is written, and indices are not checked. The
    output may not be the input."""
    apart(("d_in", iterator_of(d_in, "d_in")), ("d_out", iterator_of(d_out, "d_out")))
    to = PermutationIterator(d_out, d_indices)
    launch_transform([iterator_of(d_in, "d_in")], to, _SAME, num_items, stream, ["d_in"])


@algorithm
def reverse(*, d_in: Any, d_out: Any, num_items: int, stream: Any = None) -> None:
    """``d_out[i] = d_in[num_items - 1 - i]``; the output may not be the input."""
    source, output = iterator_of(d_in, "d_in"), iterator_of(d_out, "d_out")
    n = items_in(num_items, "num_items", ("d_in", source), ("d_out", output))
    apart(("d_in", source), ("d_out", output))

    def make(load: Function) -> Function:
        number = n.load()
        return lambda s, i: load(s[0], number(s[1]) - 1 - i)

    backwards = _Called(source, n.state, ("reverse", n.kind), make)
    launch_transform([backwards], d_out, _SAME, num_items, stream, ["d_in"])


@algorithm
def shuffle(*, d_in: Any, d_out: Any, num_items: int, seed: int = 0, stream: Any = None) -> None:
    """The items in a random order that the seed fixes; the output may not be the input. See `ShuffleIterator`."""
    n = items_in(num_items, "num_items", ("d_in", iterator_of(d_in, "d_in")), ("d_out", iterator_of(d_out, "d_out")))
    if n.most:
        order = ShuffleIterator(n.most, seed) if n.kind is None else _Shuffled(n, seed)
        gather(d_in=d_in, d_indices=order, d_out=d_out, num_items=num_items, stream=stream)


class _Shuffled(Iterator):
    """A `ShuffleIterator` of a number of items that the device knows."""

    value_type = types.int64

    def __init__(self, n: Count, seed: int) -> None:
        self.n, self.kind, self.state, self.length = n, ("shuffled", n.kind), (n.state, shuffle_keys(seed)), n.most

    def load(self) -> Function:
        number, shuffled = self.n.load(), shuffling()
        return lambda s, i: shuffled(number(s[0]), s[1], i)


@algorithm
def replace_if(*, d_in: Any, d_out: Any, cond: Any, value: Any, num_items: int, stream: Any = None) -> None:
    """``d_out[i] = value if cond(d_in[i]) else d_in[i]``."""
    op, source = operator_of(cond, 1, "cond"), iterator_of(d_in, "d_in")
    kind = source.value_type or types.type_of(value)
    function, cast = op.function, kind.cast
    chosen_ = Operator(lambda v, new: cast(new) if function(v) else cast(v), ("replace", op.key, kind), None, (2,))
    launch_transform([source, ConstantIterator(value)], d_out, chosen_, num_items, stream, ["d_in", "value"])


@algorithm
def remove_if(
    *, d_in: Any, d_out: Any, d_num_selected_out: Any, cond: Any, num_items: int, stream: Any = None,
    temp_storage: Any = POOL,
) -> Any:  # fmt: skip
    """The items that a condition does not hold for, in their order; see `select`."""
    from ._select import select

    op = operator_of(cond, 1, "cond")
    function = op.function
    other = Operator(lambda v: not function(v), ("not", op.key), None, (1,))
    return select(
        d_in=d_in, d_out=d_out, d_num_selected_out=d_num_selected_out, cond=other, num_items=num_items, stream=stream,
        temp_storage=temp_storage,
    )  # fmt: skip


@algorithm
def adjacent_difference(
    *, d_in: Any, d_out: Any, num_items: int, op: Any = OpKind.MINUS, right: bool = False, stream: Any = None,
    temp_storage: Any = POOL,
) -> Any:  # fmt: skip
    """``d_out[i] = op(d_in[i], d_in[i - 1])``; the first item is copied.

    Parameters
    ----------
    d_in, d_out : array or iterator
        May be the same array, which is then copied first.
    op : function or OpKind
    right : bool
        ``d_out[i] = op(d_in[i], d_in[i + 1])``, and the last item is copied.
    num_items, stream, temp_storage
        As for `select`.
    """
    source, output, op = iterator_of(d_in, "d_in"), iterator_of(d_out, "d_out"), operator_of(op, 2)
    n = items_in(num_items, "num_items", ("d_in", source), ("d_out", output))
    memory = Memory(temp_storage, stream_of(stream))
    in_place = source.kind[0] == "array"
    kind: Any = source.value_type if in_place else types.int8
    found = memory.take((numpy.int32, 1), (kind.dtype, n.most if in_place else 1))
    if found is None:
        return memory.nbytes
    if in_place and n.most:
        aside = ArrayIterator(found[1])
        launch_transform([source], aside, _SAME, num_items, stream, ["d_in"])
        source = aside
    function, step, number = op.function, 1 if right else -1, n.load()

    def make(load: Function) -> Function:
        def call(s: Any, i: Any) -> Any:
            at = i + step
            if at < 0 or at >= number(s[1]):
                return cast(load(s[0], i))
            return cast(function(load(s[0], i), load(s[0], at)))

        return call

    cast = cast_of(output)
    pairs = _Called(source, n.state, ("neighbours", op.key, right, output.value_type, n.kind), make)
    launch_transform([pairs], output, _SAME, num_items, stream, ["d_in"])
    return None


class _Called(Iterator):
    """Items that a function of a kernel gives, of the state of another sequence and a number."""

    def __init__(self, under: Iterator, number: Any, key: Any, make: Callable[[Function], Function]) -> None:
        self.under, self.make, self.value_type, self.children = under, make, None, (under,)
        self.kind, self.state, self.length = ("called", key, under.kind), (under.state, number), under.length

    def load(self) -> Function:
        return self.make(self.under.load())


# ---- sorted sequences ------------------------------------------------------------------------------------------


def _before(op: Operator, upper: bool) -> Function:
    """The function of a kernel that counts the items of a sorted sequence that come before a value, or equal it."""
    less = op.function

    def count(load: Function) -> Function:
        def counted(s: Any, n: Any, v: Any) -> Any:
            low, high = 0, n
            while low < high:
                mid = (low + high) // 2
                x = load(s, mid)
                if (not less(v, x)) if upper else less(x, v):
                    low = mid + 1
                else:
                    high = mid
            return low

        return counted

    return count


def _merging(
    a: Function, b: Function, store: Function, cast: Function, op: Operator, put: Any, numbers: tuple[Function, ...]
) -> Callable[..., None]:
    from ..cuda import grid

    before_b, upto_a = _before(op, False)(b), _before(op, True)(a)
    number1, number2 = numbers

    def merge(first: Any, second: Any, sizes: Any, out: Any, count: Any) -> None:
        i, n, m = grid(1), number1(sizes[0]), number2(sizes[1])
        if i < n:
            v = a(first, i)
            store(out, i + before_b(second, m, v), cast(v))
        elif i < n + m:
            w = b(second, i - n)
            store(out, i - n + upto_a(first, n, w), cast(w))
        if put is not None:
            if i == 0:
                put(count, 0, n + m)

    return merge


def _merge(
    a: Iterator, b: Iterator, output: Iterator, most: int, sizes: Any, op: Operator, stream: Any, count: Any,
    counts: tuple[Count, ...] = (Count(0, 0, None),) * 2,
) -> None:  # fmt: skip
    """Merges as many items as ``sizes`` says: the states of ``counts``, or an array of a device with two numbers; at
    most ``most``."""
    put, cast, op = None, cast_of(output), ordering(op, *dtypes_of(a, b))
    if count is not None:
        as_count, put_count = cast_of(count), count.store()

        def put(out: Any, i: Any, n: Any) -> None:
            put_count(out, i, as_count(n))

    are = isinstance(sizes, tuple), *(n.kind for n in counts)
    key = (op.key, are, kinds_of([a, b, output], [] if count is None else [count]))
    numbers = tuple(n.load() for n in counts)
    kernel = kernel_of(_merging, key, lambda: (a.load(), b.load(), output.store(), cast, op, put, numbers))
    state = numpy.int32(0) if count is None else count.state
    kernel[max(1, -(-most // THREADS)), THREADS, stream](a.state, b.state, sizes, output.state, state)


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
    a, b, output = iterator_of(d_in1, "d_in1"), iterator_of(d_in2, "d_in2"), iterator_of(d_out, "d_out")
    op = operator_of(OpKind.LESS if comp is None else comp, 2, "comp")
    n, m = items_in(num_items1, "num_items1", ("d_in1", a)), items_in(num_items2, "num_items2", ("d_in2", b))
    most = n.most + m.most
    checked_count(most, "num_items1 + num_items2", ("d_out", output))
    apart(("d_in1", a), ("d_out", output))
    apart(("d_in2", b), ("d_out", output))
    if most:
        _merge(a, b, output, most, (n.state, m.state), op, stream_of(stream), None, (n, m))


def _of_both(name: str, d_in1: Any, num_items1: Any, d_in2: Any, num_items2: Any, comp: Any) -> Any:
    """A flag for each item of the first: whether it is among the second, as often as it is there."""
    a, b = iterator_of(d_in1, "d_in1"), iterator_of(d_in2, "d_in2")
    op = operator_of(OpKind.LESS if comp is None else comp, 2, "comp")
    op = ordering(op, *dtypes_of(a, b))
    n, m = items_in(num_items1, "num_items1", ("d_in1", a)), items_in(num_items2, "num_items2", ("d_in2", b))
    wanted = name == "intersection"

    def choose() -> Function:
        before, upto, number = _before(op, False), _before(op, True), m.load()
        before_a, before_b, upto_b = before(a.load()), before(b.load()), upto(b.load())

        def flag(ins: Any, i: Any, v: Any) -> Any:
            second, size = ins[-1][0], number(ins[-1][1])
            rank = i - before_a(ins[0], i + 1, v)
            there = upto_b(second, size, v) - before_b(second, size, v)
            return ((rank < there) == wanted,)

        return flag

    return a, n, choose, (name, op.key, b.kind, m.kind), (b.state, m.state)


def _set(
    name: str, d_in1: Any, num_items1: Any, d_in2: Any, num_items2: Any, d_out: Any, d_num_out: Any, comp: Any,
    stream: Any, storage: Any,
) -> Any:  # fmt: skip
    a, n, choose, key, extra = _of_both(name, d_in1, num_items1, d_in2, num_items2, comp)
    output, memory = iterator_of(d_out, "d_out"), Memory(storage, stream_of(stream))
    apart(("d_in2", iterator_of(d_in2, "d_in2")), ("d_out", output))
    return chosen(choose, 1, key, n, [a], [[output]], extra, d_num_out, memory, "d_num_out")


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
    return _set("intersection", d_in1, num_items1, d_in2, num_items2, d_out, d_num_out, comp, stream, temp_storage)


@algorithm
def set_difference(
    *, d_in1: Any, num_items1: int, d_in2: Any, num_items2: int, d_out: Any, d_num_out: Any, comp: Any = None,
    stream: Any = None, temp_storage: Any = POOL,
) -> Any:  # fmt: skip
    """The items of a sorted sequence that are not in another one: of k and l equal ones the last max(k - l, 0).

    See `set_intersection`.
    """
    return _set("difference", d_in1, num_items1, d_in2, num_items2, d_out, d_num_out, comp, stream, temp_storage)


def _merged_sets(
    symmetric: bool, d_in1: Any, num_items1: Any, d_in2: Any, num_items2: Any, d_out: Any, d_num_out: Any, comp: Any,
    stream: Any, storage: Any,
) -> Any:  # fmt: skip
    """What is not in the other sequence is put aside, counted on the device, and merged."""
    a, b = iterator_of(d_in1, "d_in1"), iterator_of(d_in2, "d_in2")
    op, stream = operator_of(OpKind.LESS if comp is None else comp, 2, "comp"), stream_of(stream)
    n, m = items_in(num_items1, "num_items1", ("d_in1", a)), items_in(num_items2, "num_items2", ("d_in2", b))
    most = n.most + m.most
    output, count = within_room(iterator_of(d_out, "d_out"), most), whole_numbers(d_num_out, "d_num_out", most, 1)
    for given in (("d_in1", a), ("d_in2", b)):
        apart(given, ("d_out", output))
    if a.value_type is None or b.value_type is None:
        raise TypeError("the types of the items must be known; give value_type to the iterators")
    memory = Memory(storage, stream)

    def differ(one: Iterator, k: Any, other: Iterator, l: Any, to: Any, sizes: Any, at: int, below: Any) -> Any:
        return set_difference(d_in1=one, num_items1=k, d_in2=other, num_items2=l, d_out=to, comp=op,
                              d_num_out=ArrayIterator(sizes, at), stream=stream or None, temp_storage=below)  # fmt: skip

    nowhere = DiscardIterator(b)  # as many bytes are needed for any output
    nbytes = max(differ(one, k, one, k, nowhere, _NO_SIZES, 0, None) for one, k in ((a, n.most), (b, m.most)))
    found = memory.take(
        (numpy.int32, 1), (numpy.int64, 2), (a.value_type.dtype, n.most if symmetric else 0),
        (b.value_type.dtype, m.most),
        memory.need_of(nbytes),
    )  # fmt: skip
    if found is None:
        return memory.nbytes
    sizes, first, second, below = found[1], a, ArrayIterator(found[3]), memory.inner(found[4])
    if symmetric:
        first = ArrayIterator(found[2])
        differ(a, num_items1, b, num_items2, first, sizes, 0, below)
    else:
        kernel_of(setting, n.kind, lambda: (n.load(),))[1, 1, stream](sizes, n.state)
    differ(b, num_items2, a, num_items1, second, sizes, 1, below)
    _merge(first, second, output, most, sizes, op, stream, count)
    return None


_NO_SIZES = numpy.empty(2, numpy.int64)


@algorithm
def set_union(
    *, d_in1: Any, num_items1: int, d_in2: Any, num_items2: int, d_out: Any, d_num_out: Any, comp: Any = None,
    stream: Any = None, temp_storage: Any = POOL,
) -> Any:  # fmt: skip
    """The items of two sorted sequences: of k and l equal ones max(k, l), those of the first before the others.

    See `set_intersection`.
    """
    return _merged_sets(False, d_in1, num_items1, d_in2, num_items2, d_out, d_num_out, comp, stream, temp_storage)


@algorithm
def set_symmetric_difference(
    *, d_in1: Any, num_items1: int, d_in2: Any, num_items2: int, d_out: Any, d_num_out: Any, comp: Any = None,
    stream: Any = None, temp_storage: Any = POOL,
) -> Any:  # fmt: skip
    """The items that are in one of two sorted sequences only: of k and l equal ones those beyond min(k, l).

    See `set_intersection`.
    """
    return _merged_sets(True, d_in1, num_items1, d_in2, num_items2, d_out, d_num_out, comp, stream, temp_storage)
