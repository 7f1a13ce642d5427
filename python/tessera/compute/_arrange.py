# SPDX-License-Identifier: Apache-2.0
"""Items written elsewhere: copies, fills, gathers, scatters, shuffles, replacements."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy

from . import types
from ._arguments import Count, items_in, stream_of
from ._engine import POOL, Memory, algorithm
from ._overlap import separate
from ._select import cast_of
from ._transform import launch_transform
from .iterators import (
    ArrayIterator,
    ConstantIterator,
    CountingIterator,
    Iterator,
    PermutationIterator,
    ShuffleIterator,
    iterator_of,
    shuffle_keys,
    shuffling,
)
from .op import OpKind, Operator, operator_of

__all__ = [
    "adjacent_difference", "copy", "fill", "gather", "generate", "remove_if", "replace_if", "reverse", "scatter",
    "sequence", "shuffle",
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
    source, output = iterator_of(d_in, "d_in"), iterator_of(d_out, "d_out")
    n = items_in(num_items, "num_items", ("d_out", output)).most
    separate(n, {"d_in": source}, {"d_out": output})
    launch_transform([PermutationIterator(d_in, d_indices)], d_out, _SAME, num_items, stream, ["d_in"])


@algorithm
def scatter(*, d_in: Any, d_indices: Any, d_out: Any, num_items: int, stream: Any = None) -> None:
    """``d_out[d_indices[i]] = d_in[i]``; of equal indices any one is written, and indices are not checked. The
    output may not be the input."""
    source, to = iterator_of(d_in, "d_in"), PermutationIterator(d_out, d_indices)
    separate(items_in(num_items, "num_items", ("d_in", source)).most, {"d_in": source}, {"d_out": to})
    launch_transform([iterator_of(d_in, "d_in")], to, _SAME, num_items, stream, ["d_in"])


@algorithm
def reverse(*, d_in: Any, d_out: Any, num_items: int, stream: Any = None) -> None:
    """``d_out[i] = d_in[num_items - 1 - i]``; the output may not be the input."""
    source, output = iterator_of(d_in, "d_in"), iterator_of(d_out, "d_out")
    n = items_in(num_items, "num_items", ("d_in", source), ("d_out", output))
    separate(n.most, {"d_in": source}, {"d_out": output})

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
    if not in_place:
        separate(n.most, {"d_in": source}, {"d_out": output})
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
