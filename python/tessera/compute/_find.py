# SPDX-License-Identifier: Apache-2.0
"""Searches for the first item that a condition holds for, and questions about all items."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy

from ._arguments import checked_count, items_in, setting, stream_of, whole_numbers
from ._engine import POOL, THREADS, algorithm, kernel_of
from ._overlap import separate
from ._reduce import reduce_into
from ._select import cast_of
from .iterators import CountingIterator, Iterator, TransformIterator, ZipIterator, iterator_of
from .op import OpKind, Operator, operator_of
from .struct import gpu_struct
from .types import int64

__all__ = [
    "argmax",
    "argmin",
    "count_if",
    "equal",
    "find_if",
    "inner_product",
    "minmax",
    "mismatch",
    "transform_reduce",
]

Function = Callable[..., Any]
ITEMS = 32  # of a thread, all of which are read before the first is looked at


def _finding(load: Function, condition: Function, number: Function) -> Callable[..., None]:
    from ..cuda import atomic, blockIdx, ldcv, threadIdx

    each = tuple(range(ITEMS))

    def find(src: Any, count: Any, place: Any) -> None:
        n, first = number(count), numpy.int64(blockIdx.x) * (THREADS * ITEMS)
        if ldcv(place, 0) < first:
            return  # something before this block's items has been found
        at, found = first + threadIdx.x, numpy.int32(ITEMS)
        if first + THREADS * ITEMS <= n:
            items = tuple(load(src, at + j * THREADS) for j in each)
            for j in each:
                if condition(items[j]):
                    found = min(found, numpy.int32(j))
        else:
            for j in each:
                if at + j * THREADS < n:
                    if condition(load(src, at + j * THREADS)):
                        found = min(found, numpy.int32(j))
        if found < ITEMS:
            atomic.min(place, 0, at + numpy.int64(found) * THREADS)

    return find


def _find(source: Iterator, op: Operator, d_out: Any, num_items: Any, stream: Any, name: str) -> None:
    output, stream = iterator_of(d_out, "d_out"), stream_of(stream)
    if output.value_type != int64 or not getattr(output, "is_in_a_row", False):
        raise TypeError("d_out must be an array of numpy.int64")
    checked_count(1, "the number of results", ("d_out", output))
    n = items_in(num_items, "num_items", (name, source))
    separate(n.most, {name: source}, {"d_out": output})
    place = output.state[0]
    kernel_of(setting, (output.kind, n.kind), lambda: (n.load(),))[1, 1, stream](place, n.state)
    if n.most:
        kernel = kernel_of(_finding, (source.kind, op.key, n.kind), lambda: (source.load(), op.function, n.load()))
        kernel[-(-n.most // (THREADS * ITEMS)), THREADS, stream](source.state, n.state, place)


@algorithm
def find_if(*, d_in: Any, d_out: Any, cond: Any, num_items: int, stream: Any = None) -> None:
    """``d_out[0]`` becomes the place of the first item that a condition holds for, or `num_items`.

    Parameters
    ----------
    d_in : array or iterator
    d_out : array of numpy.int64
    cond : function or OpKind
        Of one item.
    num_items : int, or array of a device
    stream
        None, or any object with ``__cuda_stream__``.

    Notes
    -----
    Blocks of items after one that was found are not read.
    """
    _find(iterator_of(d_in, "d_in"), operator_of(cond, 1, "cond"), d_out, num_items, stream, "d_in")


@algorithm
def mismatch(*, d_in1: Any, d_in2: Any, d_out: Any, num_items: int, equal: Any = None, stream: Any = None) -> None:
    """``d_out[0]`` becomes the first place where two sequences differ, or `num_items`; see `find_if`.

    Parameters
    ----------
    equal : function or OpKind, optional
        Whether two items are equal; without it ``a == b``.
    """
    same = operator_of(OpKind.EQUAL_TO if equal is None else equal, 2, "equal")
    function = same.function
    differ = Operator(lambda v: not function(v[0], v[1]), ("differ", same.key), None, (1,))
    _find(ZipIterator(d_in1, d_in2), differ, d_out, num_items, stream, "d_in1")


@algorithm
def transform_reduce(
    *, d_in: Any, d_out: Any, num_items: int, transform_op: Any, op: Any, h_init: Any, stream: Any = None,
    temp_storage: Any = POOL,
) -> Any:  # fmt: skip
    """`reduce_into` of ``transform_op`` of each item."""
    source = TransformIterator(d_in, transform_op)
    return reduce_into(
        d_in=source, d_out=d_out, num_items=num_items, op=op, h_init=h_init, stream=stream, temp_storage=temp_storage
    )


@algorithm
def count_if(*, d_in: Any, d_out: Any, cond: Any, num_items: int, stream: Any = None, temp_storage: Any = POOL) -> Any:
    """``d_out[0]`` becomes how many items a condition holds for; see `find_if`."""
    op = operator_of(cond, 1, "cond")
    function = op.function
    one = Operator(lambda v: 1 if function(v) else 0, ("count", op.key), None, (1,))
    return transform_reduce(
        d_in=d_in, d_out=d_out, num_items=num_items, transform_op=one, op=OpKind.PLUS, h_init=numpy.int64(0),
        stream=stream, temp_storage=temp_storage,
    )  # fmt: skip


@algorithm
def inner_product(
    *, d_in1: Any, d_in2: Any, d_out: Any, num_items: int, h_init: Any, op: Any = OpKind.PLUS,
    transform_op: Any = OpKind.MULTIPLIES, stream: Any = None, temp_storage: Any = POOL,
) -> Any:  # fmt: skip
    """``h_init op transform_op(d_in1[0], d_in2[0]) op ..``: without operators the sum of products."""
    both = operator_of(transform_op, 2, "transform_op")
    function = both.function
    one = Operator(lambda v: function(v[0], v[1]), ("both", both.key), None, (1,))
    return transform_reduce(
        d_in=ZipIterator(d_in1, d_in2), d_out=d_out, num_items=num_items, transform_op=one, op=op, h_init=h_init,
        stream=stream, temp_storage=temp_storage,
    )  # fmt: skip


@algorithm
def equal(
    *, d_in1: Any, d_in2: Any, d_out: Any, num_items: int, equal: Any = None, stream: Any = None,
    temp_storage: Any = POOL,
) -> Any:  # fmt: skip
    """``d_out[0]`` becomes whether two sequences are equal; see `mismatch`."""
    return inner_product(
        d_in1=d_in1, d_in2=d_in2, d_out=d_out, num_items=num_items, h_init=numpy.bool_(True), op=OpKind.LOGICAL_AND,
        transform_op=OpKind.EQUAL_TO if equal is None else equal, stream=stream, temp_storage=temp_storage,
    )  # fmt: skip


def _best(less: bool, d_in: Any, d_out: Any, num_items: Any, stream: Any, storage: Any) -> Any:
    source = iterator_of(d_in, "d_in")
    if source.value_type is None:
        raise TypeError("d_in: the type of its items is not known; give value_type to the iterator")
    if isinstance(num_items, int) and not num_items:
        raise ValueError("num_items is 0; the place of the least or greatest item needs one")
    most = items_in(num_items, "num_items", ("d_in", source)).most
    whole = numpy.int32 if most < 1 << 31 else numpy.int64
    place = gpu_struct({"value": source.value_type, "index": whole}, "Place")
    key = ("arg", less, source.value_type, whole)

    def better(a: Any, b: Any) -> Any:
        """The one whose value is the best, NaN before all numbers; of equal ones that which comes first."""
        no_a, no_b = a[0] != a[0], b[0] != b[0]
        is_better = (b[0] < a[0] if less else b[0] > a[0]) or (no_b and not no_a)
        is_equal = b[0] == a[0] or (no_a and no_b)
        return b if is_better or (is_equal and b[1] < a[1]) else a

    def later(a: Any, b: Any) -> Any:
        """The same where b comes after a, so that it is taken only if it is better."""
        if has_nan:
            is_no_better = b[0] >= a[0] if less else b[0] <= a[0]
            return b if not is_no_better and a[0] == a[0] else a
        return b if (b[0] < a[0] if less else b[0] > a[0]) else a

    output = whole_numbers(d_out, "d_out", most - 1)
    store, cast = output.store(), cast_of(output)
    dtype = source.value_type.dtype
    has_nan = dtype.kind == "f" or dtype.name == "bfloat16"
    of_next = later if has_nan or dtype.kind in "iub" else None

    class Index(Iterator):
        """Takes a place and stores its index."""

        is_input_iterator, is_output_iterator = False, True
        value_type, state, kind = place.__tessera_type__, output.state, ("index", output.kind)
        length = output.length

        def store(self) -> Function:
            def put(s: Any, i: Any, v: Any) -> None:
                store(s, i, cast(v[1]))

            return put

    return reduce_into(
        d_in=ZipIterator(source, CountingIterator(whole(0))), d_out=Index(), num_items=num_items,
        op=Operator(better, key, None, (2,), True, of_next), stream=stream, temp_storage=storage,
    )  # fmt: skip


@algorithm
def argmin(*, d_in: Any, d_out: Any, num_items: int, stream: Any = None, temp_storage: Any = POOL) -> Any:
    """``d_out[0]`` becomes the place of the least item: the first of equal ones, and of the first NaN if there is one.

    Parameters
    ----------
    d_in : array or iterator
        At least one item.
    d_out : array of whole numbers
    num_items, stream, temp_storage
        As for `reduce_into`.
    """
    return _best(True, d_in, d_out, num_items, stream, temp_storage)


@algorithm
def argmax(*, d_in: Any, d_out: Any, num_items: int, stream: Any = None, temp_storage: Any = POOL) -> Any:
    """``d_out[0]`` becomes the place of the greatest item; see `argmin`."""
    return _best(False, d_in, d_out, num_items, stream, temp_storage)


@algorithm
def minmax(*, d_in: Any, d_out: Any, num_items: int, stream: Any = None, temp_storage: Any = POOL) -> Any:
    """``d_out[0]`` and ``d_out[1]`` become the least and the greatest item; of none nothing is written.

    Parameters
    ----------
    d_in : array or iterator
    d_out : array of the dtype of the items
    num_items, stream, temp_storage
        As for `reduce_into`.
    """
    source, output = iterator_of(d_in, "d_in"), iterator_of(d_out, "d_out")
    if source.value_type is None:
        raise TypeError("d_in: the type of its items is not known; give value_type to the iterator")
    both = gpu_struct({"low": source.value_type, "high": source.value_type}, "MinMax")
    store, cast = output.store(), cast_of(output)

    class Two(Iterator):
        """Takes a pair and stores its two numbers."""

        is_input_iterator, is_output_iterator = False, True
        value_type, state, kind = both.__tessera_type__, output.state, ("two", output.kind)
        length = None if output.length is None else output.length - 1

        def store(self) -> Function:
            def put(s: Any, i: Any, v: Any) -> None:
                store(s, 0, cast(v[0]))
                store(s, 1, cast(v[1]))

            return put

    def wider(a: Any, b: Any) -> Any:
        return both(b[0] if b[0] < a[0] else a[0], b[1] if a[1] < b[1] else a[1])

    pairs = TransformIterator(source, Operator(lambda v: both(v, v), ("twice", source.value_type), None, (1,)), both)
    return reduce_into(
        d_in=pairs, d_out=Two(), num_items=num_items,
        op=Operator(wider, ("minmax", source.value_type), None, (2,), True),
        stream=stream, temp_storage=temp_storage,
    )  # fmt: skip
