# SPDX-License-Identifier: Apache-2.0
"""Sorts, scans and the greatest few of many parts of a sequence, each by itself.

Where parts begin and end is marked, and a scan of the marks says for each item which part it is in:

    marks    1 0 0 0 2 ..       2 * i + 1 where a part begins at i, 2 * i where one ends and none begins
    groups   1 1 1 1 2 ..       the greatest mark so far: odd within a part, alike for its items

so parts of any lengths cost the same. A scan begins anew with each group; a sort is one by key, and one by group.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy

from . import _part_sort, types
from ._arguments import Count, checked_count, count_of, init_of, is_read_later, items_in, stream_of
from ._by_key import exclusive_scan_by_key, inclusive_scan_by_key
from ._engine import POOL, THREADS, Memory, algorithm, clear, kernel_of, on_cpu, plain_array, sort_arrays
from ._overlap import separate
from ._radix import Digits
from ._scan import Scanned, launch_scan, scan_memory
from ._segmented import checked_segments, offsets_of
from ._select import cast_of
from ._sort import (
    SortOrder,
    arrays_to_sort,
    bits_of,
    bits_out,
    buffers_of,
    by_digits,
    check_places,
    digits_of,
    memory_for,
    of_field,
    pairs_of,
    switch,
)
from .iterators import ArrayIterator, CountingIterator, Iterator, ZipIterator, iterator_of

__all__ = ["segmented_exclusive_scan", "segmented_inclusive_scan", "segmented_sort", "segmented_top_k"]

Function = Callable[..., Any]
_GROUPS = types.int64


def _marking(start: Function, end: Function, number: Function) -> Callable[..., None]:
    from ..cuda import atomic, grid

    def mark(starts: Any, ends: Any, parts: Any, marks: Any, n_: Any) -> None:
        t, n = grid(1), number(n_)
        if t < parts:
            first, last = start(starts, t), end(ends, t)
            if first < last:
                atomic.max(marks, first, 2 * first + 1)
                if last < n:
                    atomic.max(marks, last, 2 * last)

    return mark


def _grouping(has_alone: bool) -> Scanned:
    def emit(groups: Any, marks: Any, i: Any, before: Any, after: Any) -> None:
        groups[i] = 2 * i if has_alone and after % 2 == 0 else after

    return Scanned(_GROUPS, lambda marks, i: marks[i], max, emit)


class _Parts:
    """The parts of items, and their groups in memory that was taken."""

    def __init__(self, starts: Any, ends: Any, num_segments: Any, n: Count) -> None:
        self.starts, self.ends = offsets_of(starts, ends, n)
        given = ("start_offsets_in", self.starts), ("end_offsets_in", self.ends)
        self.number, self.n, self.offsets = checked_segments(num_segments, *given), n, dict(given)
        self.counters = scan_memory(_GROUPS, n.most)
        self._given = starts, ends

    def arrays(self) -> tuple[Any, ...] | None:
        """How many there are, and the arrays that say where they begin and end; None where these are none of NumPy."""
        bounds = [plain_array(iterator_of(given, "offsets"), (1, 2, 4, 8)) for given in self._given]
        is_whole = all(array is not None and array.dtype.kind in "iu" for array in bounds)
        return (self.number, *bounds) if is_whole else None

    def group(self, words: Any, groups: Any, stream: Any, has_alone: bool) -> None:
        """Fills ``groups``; with ``has_alone`` items in no part have one each."""
        clear(groups, stream)
        if self.number:
            key = (self.starts.kind, self.ends.kind, self.n.kind)
            mark = kernel_of(_marking, key, lambda: (self.starts.load(), self.ends.load(), self.n.load()))
            mark[-(-self.number // THREADS), THREADS, stream](
                self.starts.state, self.ends.state, self.number, groups, self.n.state
            )
        launch_scan(
            lambda: _grouping(has_alone), _GROUPS, ("groups", has_alone), self.n, groups, groups, numpy.int32(0),
            stream, words,
        )  # fmt: skip


@algorithm
def segmented_sort(
    *, d_in_keys: Any, d_out_keys: Any = None, d_in_values: Any = None, d_out_values: Any = None, num_items: int,
    num_segments: int, start_offsets_in: Any, end_offsets_in: Any, order: SortOrder = SortOrder.ASCENDING,
    stream: Any = None, temp_storage: Any = POOL,
) -> Any:  # fmt: skip
    """Sorts each of many parts of an array by itself.

    Parameters
    ----------
    d_in_keys, d_out_keys, d_in_values, d_out_values, num_items, order, stream, temp_storage
        As for `radix_sort`.
    num_segments : int
    start_offsets_in, end_offsets_in : array or iterator
        Where a part begins, and before which item it ends, in whole numbers; what is before the first item or
        behind the last is in no part. Parts may not overlap; items in none stay where they are.

    Notes
    -----
    Stable. On a GPU parts of up to 2,048 items are sorted in shared memory, as many at once by a block as fit; longer
    ones, and all on a CPU, together, as `radix_sort` does: by key, and then by part. Which are long is found on the
    device. Temporary memory: three times the items and 12 bytes for each on a GPU, for no more than 2,048 items none.
    Where `radix_sort` compares vectors of a CPU, each part is sorted by itself, with temporary memory as there; offsets
    must be arrays of NumPy then.
    """
    keys, out_keys, values = buffers_of(d_in_keys, d_out_keys, d_in_values, d_out_values)
    source, dtype = bits_of(keys)
    output = bits_out(out_keys, dtype)
    given = (("d_in_keys", source), ("d_out_keys", output), ("d_in_values", values[0]), ("d_out_values", values[1]))
    n = items_in(num_items, "num_items", *((name, it) for name, it in given if it is not None))
    parts = _Parts(start_offsets_in, end_offsets_in, num_segments, n)
    check_places(n, source, output, values, **parts.offsets)
    memory, sources = Memory(temp_storage, stream_of(stream)), _there(source, values[0])
    arrays, bounds = arrays_to_sort(source, output, *values), parts.arrays()
    if arrays and bounds and temp_storage is POOL and n.kind is None and on_cpu():
        sort_arrays(memory.stream, n.most, SortOrder(order) is SortOrder.DESCENDING, arrays, bounds)
        switch(d_in_keys, d_in_values)
        return None
    found = memory.take(*_sort_needs(parts, sources), counters=2)
    if found is None:
        return memory.nbytes
    if n.most:
        digits = digits_of(dtype, None, None, order)
        _sort_parts(parts, digits, sources, _there(output, values[1]), memory.stream, found)
    switch(d_in_keys, d_in_values)
    return None


def _there(*its: Iterator | None) -> list[Iterator]:
    return [it for it in its if it is not None]


def _sort_needs(parts: _Parts, sources: list[Iterator]) -> list[tuple[Any, int]]:
    """What `_sort_parts` takes of temporary memory; the first two are counters."""
    if not on_cpu():
        return _part_sort.needs(sources, parts.n.most)
    kind, most = ZipIterator(ArrayIterator(numpy.empty(0, numpy.int64)), *sources), parts.n.most
    counters, *others = memory_for(kind, kind, most)
    return [parts.counters, counters, (numpy.int64, most), (numpy.int64, most), *others]


def _sort_parts(
    parts: _Parts, digits: Digits, sources: list[Iterator], outputs: list[Iterator], stream: Any, taken: list[Any]
) -> None:
    """Sorts parts by their keys, the first of the sources, and puts them where they stood."""
    if not on_cpu():
        given = parts.starts, parts.ends, parts.number, parts.n, stream, taken
        return _part_sort.sort_parts(digits, sources, outputs, *given)
    words, counters, groups, sorted_groups, *others = taken
    parts.group(words, groups, stream, True)
    unsorted = ZipIterator(ArrayIterator(groups), *sources)
    sorted_ = ZipIterator(ArrayIterator(sorted_groups), *outputs)
    by_group = of_field(Digits((2 * parts.n.most).bit_length(), lambda: numpy.uint64, "group"), 0)
    by_digits(of_field(digits, 1), unsorted, sorted_, parts.n, stream, [counters, *others])
    by_digits(by_group, sorted_, sorted_, parts.n, stream, [counters, *others])


class _OfParts(Iterator):
    """Takes the items that are in a part, of a sequence with groups."""

    is_input_iterator, is_output_iterator, _order = False, True, 1

    def __init__(self, under: Iterator, groups: Any) -> None:
        self.under, self.value_type, self.children = under, under.value_type, (under,)
        self.state, self.kind, self.length = (under.state, groups), ("within", under.kind), under.length

    def store(self) -> Function:
        put = self.under.store()

        def store(s: Any, i: Any, v: Any) -> None:
            if s[1][i] % 2 == 1:
                put(s[0], i, v)

        return store


def _scan(
    scan: Any, d_in: Any, d_out: Any, op: Any, init_value: Any, num_items: Any, num_segments: Any, starts: Any,
    ends: Any, stream: Any, storage: Any,
) -> Any:  # fmt: skip
    source, output = iterator_of(d_in, "d_in"), iterator_of(d_out, "d_out")
    n = items_in(num_items, "num_items", ("d_in", source), ("d_out", output))
    parts = _Parts(starts, ends, num_segments, n)
    if init_value is not None:
        init_of(init_value, "init_value")
    separate(n.most, {"d_in": source, **parts.offsets}, {"d_out": output}, {("d_out", "d_in")})
    memory = Memory(storage, stream_of(stream))

    def inner(groups: Any, temp_storage: Any) -> Any:
        return scan(
            d_in_keys=groups, d_in_values=source, d_out_values=_OfParts(output, groups), op=op, init_value=init_value,
            num_items=num_items, stream=stream, temp_storage=temp_storage,
        )  # fmt: skip

    counting = CountingIterator(numpy.int64(0))  # as many bytes are needed with these keys
    found = memory.take(parts.counters, (numpy.int64, n.most), memory.need_of(inner(counting, None)))
    if found is None:
        return memory.nbytes
    if n.most:
        words, groups, below = found
        parts.group(words, groups, memory.stream, False)
        inner(groups, memory.inner(below))
    return None


@algorithm
def segmented_inclusive_scan(
    *, d_in: Any, d_out: Any, op: Any, num_items: int, num_segments: int, start_offsets_in: Any, end_offsets_in: Any,
    init_value: Any = None, stream: Any = None, temp_storage: Any = POOL,
) -> Any:  # fmt: skip
    """The inclusive scan of each of many parts of a sequence; see `segmented_exclusive_scan`."""
    return _scan(
        inclusive_scan_by_key, d_in, d_out, op, init_value, num_items, num_segments, start_offsets_in, end_offsets_in,
        stream, temp_storage,
    )  # fmt: skip


@algorithm
def segmented_exclusive_scan(
    *, d_in: Any, d_out: Any, op: Any, init_value: Any, num_items: int, num_segments: int, start_offsets_in: Any,
    end_offsets_in: Any, stream: Any = None, temp_storage: Any = POOL,
) -> Any:  # fmt: skip
    """The exclusive scan of each of many parts of a sequence.

    Parameters
    ----------
    d_in, d_out : array or iterator
        May be the same array. What is in no part is not written.
    op : function or OpKind
        Associative, of two values of the type of `init_value`; it need not be commutative.
    init_value : numpy.ndarray of one element, number of NumPy or struct
        Stands before the first value of each part.
    num_items : int, or array of a device
        Of an array the first element counts, as it is when the scan runs.
    num_segments : int
    start_offsets_in, end_offsets_in : array or iterator
        Where a part begins, and before which item it ends, in whole numbers; what is before the first item or
        behind the last is in no part. Parts may not overlap.
    stream, temp_storage
        As for `exclusive_scan`.

    Notes
    -----
    The time depends on the number of items only, and not on how they are divided. 8 bytes of temporary memory for each
    item.
    """
    if init_value is None:
        raise ValueError("segmented_exclusive_scan needs an init_value, which is the first result of each part")
    return _scan(
        exclusive_scan_by_key, d_in, d_out, op, init_value, num_items, num_segments, start_offsets_in, end_offsets_in,
        stream, temp_storage,
    )  # fmt: skip


def _taking(
    start: Function, end: Function, loads: Any, stores: Any, casts: Any, few: Function
) -> Callable[..., None]:
    from ..cuda import grid

    fields = tuple(range(len(loads)))

    def take(starts: Any, ends: Any, parts: Any, few_: Any, sorted_: Any, outs: Any) -> None:
        t, k = grid(1), few(few_)
        part, j = t // max(k, 1), t % max(k, 1)
        if k > 0 and part < parts:
            first, last = start(starts, part), end(ends, part)
            if first + j < last:
                for f in fields:
                    stores[f](outs[f], t, casts[f](loads[f](sorted_[f], first + j)))

    return take


def _few_of_each(k: Any, parts: int, outputs: list[Iterator]) -> Count:
    """How many are taken of each part."""
    given = list(zip(("d_out_keys", "d_out_values"), outputs))
    if not is_read_later(k):
        few = count_of(k, "k")
        checked_count(few * parts, "k * num_segments", *given)
        return Count(few, few, None)
    found = items_in(k, "k", *given)
    room = found.most // max(1, parts)
    return Count(room, (found.state[0], room), found.kind)


@algorithm
def segmented_top_k(
    *, d_in_keys: Any, d_out_keys: Any, num_items: int, k: int, num_segments: int, start_offsets_in: Any,
    end_offsets_in: Any, d_in_values: Any = None, d_out_values: Any = None, largest: bool = True, stream: Any = None,
    temp_storage: Any = POOL,
) -> Any:  # fmt: skip
    """The k greatest (or least) keys of each of many parts of an array, in descending (or ascending) order.

    Those of part s go to places ``k * s`` on; of a part with fewer items, all, and the places after them are not
    written.

    Parameters
    ----------
    d_in_keys, d_out_keys, d_in_values, d_out_values, num_items, largest, stream, temp_storage
        As for `top_k`.
    k : int, or array of a device
        Of an array the first element counts, as it is when the algorithm runs; as many are taken of each part as the
        outputs have room for, at most.
    num_segments : int
    start_offsets_in, end_offsets_in : array or iterator
        Where a part begins, and before which item it ends, in whole numbers; what is before the first item or
        behind the last is in no part. Parts may not overlap.

    Notes
    -----
    Sorts the parts into temporary memory, see `segmented_sort`.
    """
    keys, dtype = bits_of(d_in_keys)
    out_keys, values = bits_out(d_out_keys, dtype), pairs_of(d_in_values, d_out_values)
    sources, outputs = _there(keys, values[0]), _there(out_keys, values[1])
    n = items_in(num_items, "num_items", *zip(("d_in_keys", "d_in_values"), sources))
    parts = _Parts(start_offsets_in, end_offsets_in, num_segments, n)
    few = _few_of_each(k, parts.number, outputs)
    separate(few.most * parts.number, parts.offsets, {"d_out_keys": out_keys, "d_out_values": values[1]})
    memory = Memory(temp_storage, stream_of(stream))
    kinds: Any = [it.value_type for it in sources]
    arrays, bounds = arrays_to_sort(keys, out_keys, *values), parts.arrays()
    by_library = bool(arrays and bounds and temp_storage is POOL and n.kind is None and on_cpu())
    needs, n_counters = ([], 0) if by_library else (_sort_needs(parts, sources), 2)
    found = memory.take(*needs, *((kind.dtype, n.most) for kind in kinds), counters=n_counters)
    if found is None:
        return memory.nbytes
    if n.most and few.most and parts.number:
        sorted_: Any = [ArrayIterator(array) for array in found[-len(kinds) :]]
        order = SortOrder.DESCENDING if largest else SortOrder.ASCENDING
        if by_library:
            pairs = [array for pair in zip(arrays[::2], found) for array in pair]
            sort_arrays(memory.stream, n.most, bool(largest), pairs, bounds)
        else:
            digits = digits_of(dtype, None, None, order)
            _sort_parts(parts, digits, sources, sorted_, memory.stream, found[: -len(kinds)])
        kernel = kernel_of(
            _taking, (parts.starts.kind, parts.ends.kind, few.kind, *(it.kind for it in (*sorted_, *outputs))),
            lambda: (
                parts.starts.load(), parts.ends.load(), tuple(it.load() for it in sorted_),
                tuple(it.store() for it in outputs), tuple(map(cast_of, outputs)), few.load(),
            ),
        )  # fmt: skip
        kernel[-(-few.most * parts.number // THREADS), THREADS, memory.stream](
            parts.starts.state, parts.ends.state, parts.number, few.state, tuple(it.state for it in sorted_),
            tuple(it.state for it in outputs),
        )  # fmt: skip
    return None
