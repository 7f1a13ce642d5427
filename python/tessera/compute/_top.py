# SPDX-License-Identifier: Apache-2.0
"""The first few items in the order of their keys, and the one at a place of that order, without sorting the others."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy

from . import _onesweep
from ._arguments import Count, checked_count, count_of, is_read_later, items_in, stream_of
from ._engine import POOL, Memory, algorithm, on_cpu, sort_arrays
from ._few import Order, needs_of, take_few
from ._overlap import separate
from ._sort import (
    SortOrder,
    arrays_to_sort,
    bits_of,
    bits_out,
    by_digits,
    digits_of,
    memory_for,
    of_field,
    pairs_of,
)
from ._transform import launch_transform
from .iterators import ArrayIterator, Iterator, ZipIterator
from .op import operator_of

__all__ = ["nth_element", "top_k"]

Function = Callable[..., Any]
_SORTED = 1 << 12  # items of which all are sorted, where the library does it
_COPIED = operator_of(lambda v: v, 1)


class _First(Iterator):
    """Takes the first few items only."""

    is_input_iterator, is_output_iterator, _order = False, True, 1

    def __init__(self, under: Iterator, few: Count) -> None:
        self.under, self.few, self.value_type, self.children = under, few, under.value_type, (under,)
        self.state, self.kind = (under.state, few.state), ("first", under.kind, few.kind)

    def store(self) -> Function:
        put, few = self.under.store(), self.few.load()

        def store(s: Any, i: Any, v: Any) -> None:
            if i < few(s[1]):
                put(s[0], i, v)

        return store


def _one(its: list[Iterator]) -> Iterator:
    return its[0] if len(its) == 1 else ZipIterator(*its)


@algorithm
def top_k(
    *, d_in_keys: Any, d_out_keys: Any, num_items: int, k: int, d_in_values: Any = None, d_out_values: Any = None,
    largest: bool = True, stream: Any = None, temp_storage: Any = POOL,
) -> Any:  # fmt: skip
    """The k greatest (or least) keys in descending (or ascending) order; of equal ones those that stand first.

    Parameters
    ----------
    d_in_keys, d_out_keys : array
        Of numbers that `radix_sort` sorts.
    d_in_values, d_out_values : array or iterator, optional
        Go where their keys go.
    num_items, k : int, or array of a device
        Of an array the first element counts, as it is when the algorithm runs; if that is too great a `k`, all items
        are taken. A number that is too great is a ValueError.
    largest : bool
    stream, temp_storage
        As for `radix_sort`.

    Notes
    -----
    Keys are read once for each 11 bits and once more, the few are sorted. On a GPU as many items as one block holds are
    sorted in one launch; on a CPU keys are read once where a few of them are wanted: up to 65,536 and a sixteenth of
    what one core reads. Up to 4,096 items that `radix_sort` compares as vectors are sorted. Temporary memory: k keys
    and values and what sorting them takes, on a CPU 16 KiB for each core and, where keys are read once, 2k + 2,112 keys
    (of 4 or 8 bytes) and places (of 8 bytes) for each core.
    """
    keys, dtype = bits_of(d_in_keys)
    out_keys, values = bits_out(d_out_keys, dtype), pairs_of(d_in_values, d_out_values)
    sources, outputs = [it for it in (keys, values[0]) if it is not None], [out_keys]
    outputs += [] if values[1] is None else [values[1]]
    n = items_in(num_items, "num_items", *zip(("d_in_keys", "d_in_values"), sources))
    few = items_in(k, "k", *zip(("d_out_keys", "d_out_values"), outputs))
    if n.kind is None and few.kind is None and few.most > n.most:
        raise ValueError(f"k is {few.most}, there are {n.most} items")
    separate(few.most, {}, {"d_out_keys": out_keys, "d_out_values": values[1]})
    memory, digits = Memory(temp_storage, stream_of(stream)), digits_of(dtype, None, None, _order_of(largest))
    arrays = arrays_to_sort(keys, out_keys, *values) if n.most <= _SORTED and n.kind is few.kind is None else None
    if arrays and temp_storage is POOL and on_cpu():
        return _take_of_sorted(arrays, outputs, n.most, few.most, bool(largest), memory, stream)
    sorted_by = digits if values[0] is None else of_field(digits, 0)
    source, output, most = _one(sources), _one(outputs), min(few.most, n.most)
    if not on_cpu() and _onesweep.fits(source, n.most):
        found = memory.take((numpy.int32, 1))
        if found is not None and n.most:
            by_digits(sorted_by, source, _First(output, few), n, memory.stream, found)
        return memory.nbytes if found is None else None
    counters, *others = memory_for(source, output, most)
    kinds: Any = [it.value_type for it in sources]
    order = Order(digits, n, few)
    for_taking, aside = needs_of(order), [(kind.dtype, most) for kind in kinds]
    found = memory.take(counters, *for_taking, *aside, *others, counters=3)
    if found is None:
        return memory.nbytes
    if most:
        at = 1 + len(for_taking)
        its: list[Iterator] = [ArrayIterator(array) for array in found[at : at + len(aside)]]
        take_few(order, sources, its, False, memory.stream, found[1:at])
        whole = few if n.kind is None and few.kind is None else _there(found[at - 1], most)
        by_digits(sorted_by, _one(its), output, whole, memory.stream, [found[0], *found[at + len(aside) :]])
    return None


def _take_of_sorted(
    arrays: list[Any], outputs: list[Iterator], n: int, few: int, largest: bool, memory: Memory, stream: Any
) -> None:
    """The same of not many items: all are sorted by the library, and the first ones copied."""
    found = memory.take(*((array.dtype, n) for array in arrays[::2]), counters=0)
    assert found is not None
    if few:
        sort_arrays(memory.stream, n, largest, [array for pair in zip(arrays[::2], found) for array in pair])
        for array, output in zip(found, outputs):
            launch_transform([ArrayIterator(array)], output, _COPIED, few, stream, ["d_in"])


def _there(taken: Any, most: int) -> Count:
    """The number that `take_few` left."""
    return Count(most, (taken, most), "int64")


def _order_of(largest: bool) -> SortOrder:
    return SortOrder.DESCENDING if largest else SortOrder.ASCENDING


class _OneMore(Count):
    """A place in an array of a device, as the number of items up to it."""

    def load(self) -> Function:
        number = super().load()
        return lambda n: number(n) + 1


def _until(n: Any, items: Count) -> Count:
    """How many items stand up to place n."""
    if is_read_later(n):
        it = items_in(n, "n", ("d_in", ArrayIterator(numpy.empty(0, numpy.int8))))
        return _OneMore(items.most, (it.state[0], max(0, items.most - 1)), it.kind)
    place = count_of(n, "n")
    if place >= items.most:
        raise ValueError(f"n is {place}, there are {items.most} items")
    return Count(place + 1, place + 1, None)


@algorithm
def nth_element(*, d_in: Any, d_out: Any, n: int, num_items: int, stream: Any = None, temp_storage: Any = POOL) -> Any:
    """``d_out[0]`` becomes the item that stands at place n when all are sorted.

    Parameters
    ----------
    d_in, d_out : array
        Of numbers that `radix_sort` sorts.
    n, num_items : int, or array of a device
        Of an array the first element counts, as it is when the algorithm runs; if that is an `n` behind the last item,
        it is that of the last, one before the first that of the first, and without items nothing is written. A number
        behind the last item, or below 0, is a ValueError.
    stream, temp_storage
        As for `radix_sort`.

    Notes
    -----
    Items are read once for each 11 bits and once more; nothing is sorted.
    """
    keys, dtype = bits_of(d_in, "d_in")
    there, items = bits_out(d_out, dtype, "d_out", "d_in"), items_in(num_items, "num_items", ("d_in", keys))
    few = _until(n, items)
    checked_count(1, "the number of results", ("d_out", there))
    separate(items.most, {"d_in": keys}, {"d_out": there})
    memory, digits = Memory(temp_storage, stream_of(stream)), digits_of(dtype, None, None, SortOrder.ASCENDING)
    order = Order(digits, items, few)
    found = memory.take(*needs_of(order), counters=2)
    if found is None:
        return memory.nbytes
    if items.most == 0:
        return None
    take_few(order, [keys], [there], True, memory.stream, found)
    return None
