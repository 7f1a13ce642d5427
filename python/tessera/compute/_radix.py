# SPDX-License-Identifier: Apache-2.0
"""Radix sort on a CPU: digits of eight bits, from the least ones up.

    read      each block counts the digits of its part, of all places at once, and sees whether the part is in order
    in order  the items are copied, and that is all
    place     for each place at which keys differ: the part's digits are counted again (not for the first place); counts
              in the order of digits, then of parts, say where a part's items of a digit go, and there they go

All of it is one launch, of blocks of one thread that wait for each other. Items go back and forth between temporary
memory and the output, so that they end there.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy

from ._arguments import Count
from ._engine import cores_for, kernel_of
from ._overlap import range_of
from ._ready import words_of_sort
from ._replay import derived
from .iterators import ArrayIterator, Iterator, ZipIterator

__all__ = ["Digits", "arrays_of", "memory_of", "other_of", "others_of", "overlap", "parts_of", "sort_by_digits"]

Function = Callable[..., Any]
_PART = 1 << 14  # items of a block, at least
_VALUES = 256  # of a digit
_MOST_PLACES = 8
_SOURCE, _OUTPUT, _OTHER = 0, 1, 2  # where items are


class Digits(NamedTuple):
    """What is sorted by."""

    width: int  # bits that count
    made: Callable[[], Function]  # makes `bits`, where a kernel is made only
    key: Any  # of `bits`

    @property
    def bits(self) -> Function:
        """Of an item, for kernels: a number without a sign, and with no bits above these."""
        return self.made()

    @property
    def places(self) -> int:
        """How many digits an item has."""
        return max(1, -(-self.width // 8))


def _steps(places: int, bits: Function, load: Function) -> tuple[Function, Function, Function]:
    """Functions of a kernel: the first read of a part; whether all parts are in order; at which places digits differ,
    as bits of a number, and at how many."""
    each = tuple(range(places))

    def read(src: Any, first: Any, last: Any, counts: Any) -> Any:
        for d in range(places * _VALUES):
            counts[d] = 0
        before, falls = bits(load(src, max(first - 1, 0))), False
        for i in range(first, last):
            v = bits(load(src, i))
            falls |= v < before
            before = v
            for q in each:
                counts[numpy.uint32(q * _VALUES) + numpy.uint32(v >> v.dtype(8 * q) & v.dtype(255))] += 1
        return falls

    def in_order(falls: Any, parts: Any) -> Any:
        found = False
        for p in range(parts):
            found |= falls[p] != 0
        return not found

    def differing(src: Any, n: Any, counts: Any, parts: Any) -> Any:
        v, found, number = bits(load(src, 0)), 0, 0
        for q in range(places):
            alike = numpy.int64(0)
            for p in range(parts):
                alike += counts[p, q * _VALUES + numpy.int64(v >> v.dtype(8 * q) & v.dtype(255))]
            if alike < n:
                found |= 1 << q
                number += 1
        return found, number

    return read, in_order, differing


def _moves(bits: Function) -> tuple[Function, Function, Function]:
    """Functions of a kernel: the counts of a part's digits; where its items of each digit go; moves them there."""

    def digit(item: Any, shift: Any) -> Any:
        v = bits(item)
        return numpy.uint32(v >> v.dtype(shift) & v.dtype(255))

    def count(load: Any, s: Any, first: Any, last: Any, shift: Any, counts: Any) -> None:
        for d in range(_VALUES):
            counts[d] = 0
        for i in range(first, last):
            counts[digit(load(s, i), shift)] += 1

    def put_starts(counts: Any, at: Any, part: Any, parts: Any, starts: Any) -> None:
        running = numpy.int64(0)
        for d in range(_VALUES):
            for p in range(parts):
                if p == part:
                    starts[d] = running
                running += counts[p, at + d]

    def move(load: Any, s: Any, store: Any, t: Any, first: Any, last: Any, shift: Any, starts: Any) -> None:
        for i in range(first, last):
            item = load(s, i)
            d = digit(item, shift)
            place = starts[d]
            starts[d] = place + 1
            store(t, place, item)

    return count, put_starts, move


def _copying(load: Function, store: Function) -> Function:
    def copy(s: Any, t: Any, first: Any, last: Any) -> None:
        for i in range(first, last):
            store(t, i, load(s, i))

    return copy


def _sorting(
    places: int, bits: Function, source: Iterator, output: Iterator, other: Iterator, number: Function
) -> Callable[..., None]:
    from ..cuda import blockIdx, cg, gridDim

    in_source, in_output, in_other = source.load(), output.load(), other.load()
    to_output, to_other = output.store(), other.store()
    read, in_order, differing = _steps(places, bits, in_source)
    count, put_starts, move = _moves(bits)
    copy_to_output, copy_to_other = _copying(in_source, to_output), _copying(in_source, to_other)

    def sort(src: Any, out: Any, alt: Any, count_: Any, in_place: Any, counts: Any, starts: Any, falls: Any) -> None:
        part, parts, grid, n = numpy.int64(blockIdx.x), numpy.int64(gridDim.x), cg.this_grid(), number(count_)
        first, last = n * part // parts, n * (part + 1) // parts
        mine, to = counts[part], starts[part]
        falls[part] = read(src, first, last, mine)
        grid.sync()
        if in_order(falls, parts):
            copy_to_output(src, out, first, last)
            return
        differ, left = differing(src, n, counts, parts)
        where, counted = _SOURCE, True
        if in_place and left % 2 == 1:  # else the first move would write what others have to read
            copy_to_other(src, alt, first, last)
            where = _OTHER
        grid.sync()
        for q in range(places):
            if differ >> q & 1:
                shift = 8 * q
                if not counted:
                    if where == _OUTPUT:
                        count(in_output, out, first, last, shift, mine)
                    else:
                        count(in_other, alt, first, last, shift, mine)
                    grid.sync()
                put_starts(counts, q * _VALUES if counted else 0, part, parts, to)
                if where == _OUTPUT:
                    move(in_output, out, to_other, alt, first, last, shift, to)
                elif where == _OTHER:
                    move(in_other, alt, to_output, out, first, last, shift, to)
                elif left % 2 == 1:
                    move(in_source, src, to_output, out, first, last, shift, to)
                else:
                    move(in_source, src, to_other, alt, first, last, shift, to)
                where = _OUTPUT if left % 2 == 1 else _OTHER
                left, counted = left - 1, False
                grid.sync()

    return sort


def arrays_of(it: Iterator) -> list[Any] | None:
    """The arrays that a sequence is made of; None where it is computed from others."""
    if isinstance(it, ZipIterator):
        each = [arrays_of(child) for child in it.children]
        return None if None in each else [array for arrays in each for array in arrays or ()]
    return [it.array] if isinstance(it, ArrayIterator) else None


def overlap(source: Iterator, output: Iterator) -> bool:
    """Whether items of the source may be where output is written."""
    read, written = arrays_of(source), arrays_of(output)
    if read is None or written is None:
        return True
    reads, writes = (list(filter(None, map(range_of, arrays))) for arrays in (read, written))
    return any(a < end and start < b for a, b in reads for start, end in writes)


def _fields(it: Iterator) -> tuple[Iterator, ...]:
    return it.children if isinstance(it, ZipIterator) else (it,)


def others_of(output: Iterator, n: int) -> list[tuple[Any, int]]:
    """Temporary memory for as many items as the output has, for `Memory.take`."""
    return [(it.value_type.dtype, n) for it in _fields(output)]  # type: ignore[union-attr]


def other_of(output: Iterator, arrays: list[Any]) -> Iterator:
    """That memory as a sequence like the output."""
    found = [ArrayIterator(array) for array in arrays]
    return ZipIterator(*found) if isinstance(output, ZipIterator) else found[0]


def parts_of(n: int) -> int:
    return cores_for(n, _PART)


def memory_of(output: Iterator, n: int) -> list[tuple[Any, int]]:
    """What `sort_by_digits` takes of temporary memory: dtypes and numbers of elements. The first are counters."""
    parts = parts_of(n)
    counts = [(numpy.int64, parts * _MOST_PLACES * _VALUES), (numpy.int64, parts * _VALUES), (numpy.int8, parts)]
    return [*counts, *others_of(output, n)]


def sort_by_digits(
    digits: Digits, source: Iterator, output: Iterator, n: Count, stream: Any, memory: list[Any]
) -> None:
    """Sorts n items of the source into the output, which may be where they are; stable."""
    parts, (counts, starts, falls, *others) = parts_of(n.most), memory
    other = other_of(output, others)
    kernel = kernel_of(
        _sorting, (digits.places, digits.key, source.kind, output.kind, n.kind),
        lambda: (digits.places, digits.bits, source, output, other, n.load()),
        library_words=lambda: words_of_sort("sort", digits, n, source, output, "cpu"),
    )  # fmt: skip
    place = numpy.uint32 if n.most < 1 << 32 else numpy.int64  # places without a sign count from no end
    kernel[parts, 1, stream](
        source.state, output.state, other.state, n.state, overlap(source, output),
        _in_rows(counts, numpy.int64, parts, _MOST_PLACES * _VALUES), _in_rows(starts, place, parts, _VALUES), falls,
    )  # fmt: skip


def _in_rows(array: Any, dtype: Any, rows: int, width: int) -> Any:
    """Memory as rows of numbers."""
    return derived(array, lambda array: array.view(dtype)[: rows * width].reshape(rows, width))
