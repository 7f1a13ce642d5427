# SPDX-License-Identifier: Apache-2.0
"""Sorts. All are stable.

Merge sort, for any comparison:

    n items --> tiles of TILE items, each sorted in shared memory --> runs of TILE
            --> pairs of runs merged, ceil(log2(n / TILE)) times: each block writes TILE items, and finds by binary
                search along a diagonal of the merge which items of the two runs they come from (merge path: Green,
                McColl, Bader, "GPU Merge Path", 2012)
"""

from __future__ import annotations

import enum
import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy

from . import _onesweep, _radix
from ._arguments import Count, becomes, count_of, items_in, stream_of
from ._engine import POOL, THREADS, Memory, algorithm, kernel_of, on_cpu, plain_array, sort_arrays
from ._overlap import separate
from ._radix import Digits
from .iterators import ArrayIterator, Iterator, ZipIterator, iterator_of
from .op import Operator, operator_of, ordering
from .types import TypeDescriptor

__all__ = [
    "DoubleBuffer", "SortOrder", "arrays_to_sort", "bits_of", "bits_out", "buffers_of", "by_digits",
    "digits_of", "memory_for", "merge_sort", "of_field", "pairs_of", "radix_sort", "switch",
]  # fmt: skip

Function = Callable[..., Any]
_SHARED = 16384  # bytes of the items of a tile, at most; there are two such arrays


class SortOrder(enum.IntEnum):
    """Which items come first."""

    ASCENDING = 0
    DESCENDING = 1


class DoubleBuffer:
    """Two arrays of the same items, of which one is current; a sort may use both, and says which one it ended in.

    Parameters
    ----------
    d_current, d_alternate : array
    """

    def __init__(self, d_current: Any, d_alternate: Any) -> None:
        self.d_buffers, self.selector = [d_current, d_alternate], 0

    def current(self) -> Any:
        """The array with the items."""
        return self.d_buffers[self.selector]

    def alternate(self) -> Any:
        """The other one."""
        return self.d_buffers[1 - self.selector]

    @property
    def d_current(self) -> Any:
        return self.current()


class _Items(NamedTuple):
    """What is sorted: how items are read and written, and which come first."""

    kind: TypeDescriptor
    less: Function  # less(a, b): for kernels
    key: Any  # of `less`


def _per_thread(kind: TypeDescriptor) -> int:
    return max(1, min(8, _SHARED // (THREADS * kind.size)))


def _threads(kind: TypeDescriptor) -> int:
    return THREADS if kind.size <= 64 else 64


def _tile(kind: TypeDescriptor) -> int:
    return _per_thread(kind) * _threads(kind)


def _split(less: Function, get: Function) -> Function:
    """The function of a kernel that says how many of the first ``at`` items of a merge come from its first run."""

    def split(a: Any, a0: Any, an: Any, b: Any, b0: Any, bn: Any, at: Any) -> Any:
        low, high = max(0, at - bn), min(at, an)
        while low < high:
            mid = (low + high) // 2
            if less(get(b, b0 + (at - 1 - mid)), get(a, a0 + mid)):
                high = mid
            else:
                low = mid + 1
        return low

    return split


def _path(what: _Items) -> tuple[Function, Function]:
    """`_split` in shared memory, and the function that says whether the next item of a merge is of its first run."""
    get, less = what.kind.get, what.less

    def takes_first(s: Any, i: Any, i_end: Any, j: Any, j_end: Any) -> Any:
        if j >= j_end:
            return True
        if i >= i_end:
            return False
        return not less(get(s, j), get(s, i))

    return _split(less, get), takes_first


def _sorting_tiles(what: _Items, load: Function, store: Function, number: Function) -> Callable[..., None]:
    from ..cuda import blockIdx, shared, syncthreads, threadIdx

    kind = what.kind
    dtype, get, put, cast = kind.dtype, kind.get, kind.put, kind.cast
    items, threads, tile = _per_thread(kind), _threads(kind), _tile(kind)
    split, takes_first = _path(what)

    def merged(s: Any, to: Any, here: Any, run: Any) -> None:
        """Merges runs of ``run`` items of s into to."""
        at = threadIdx.x * items
        if at < here:
            pair = at // (2 * run) * (2 * run)
            middle, end = min(pair + run, here), min(pair + 2 * run, here)
            taken = split(s, pair, middle - pair, s, middle, end - middle, at - pair)
            i, j = pair + taken, middle + (at - pair - taken)
            for k in range(items):
                if at + k < here:
                    if at + k >= end:
                        pair = end
                        middle, end = min(pair + run, here), min(pair + 2 * run, here)
                        i, j = pair, middle
                    if takes_first(s, i, middle, j, end):
                        put(to, at + k, get(s, i))
                        i += 1
                    else:
                        put(to, at + k, get(s, j))
                        j += 1

    def sort(src: Any, dst: Any, count: Any) -> None:
        s, other = shared.array(tile, dtype), shared.array(tile, dtype)
        first, t, n = blockIdx.x * tile, threadIdx.x, number(count)
        here = min(n - first, tile)
        for k in range(items):
            if k * threads + t < here:
                put(s, k * threads + t, cast(load(src, first + (k * threads + t))))
        syncthreads()
        run = 1
        while run < here:
            merged(s, other, here, run)
            syncthreads()
            merged(other, s, here, 2 * run)
            syncthreads()
            run *= 4
        for k in range(items):
            if k * threads + t < here:
                store(dst, first + (k * threads + t), get(s, k * threads + t))

    return sort


def _merging(what: _Items, load: Function, store: Function, number: Function) -> Callable[..., None]:
    from ..cuda import blockIdx, shared, syncthreads, threadIdx

    kind, less = what.kind, what.less
    dtype, get, put = kind.dtype, kind.get, kind.put
    items, threads, tile = _per_thread(kind), _threads(kind), _tile(kind)
    split, takes_first = _path(what)
    split_runs = _split(less, load)

    def merge(src: Any, dst: Any, count: Any, run: Any) -> None:
        s, ends = shared.array(tile, dtype), shared.array(2, numpy.int64)
        t, n = threadIdx.x, number(count)
        first = blockIdx.x * tile
        here = min(n - first, tile)
        pair = first // (2 * run) * (2 * run)
        middle, end = min(pair + run, n), min(pair + 2 * run, n)
        if t < 2:
            ends[t] = split_runs(
                src, pair, middle - pair, src, middle, end - middle, min(first - pair + t * tile, end - pair)
            )
        syncthreads()
        a0, a1 = ends[0], ends[1]
        from_a = a1 - a0
        b0 = first - pair - a0
        for k in range(items):
            at = k * threads + t
            if at < here:
                if at < from_a:
                    put(s, at, load(src, pair + a0 + at))
                else:
                    put(s, at, load(src, middle + b0 + (at - from_a)))
        syncthreads()
        at = t * items
        i = from_a
        if at < here:
            i = split(s, 0, from_a, s, from_a, here - from_a, at)
        j = from_a + (at - i)
        for k in range(items):
            if at + k < here:
                if takes_first(s, i, from_a, j, here):
                    store(dst, first + (at + k), get(s, i))
                    i += 1
                else:
                    store(dst, first + (at + k), get(s, j))
                    j += 1

    return merge


def _sort(what: _Items, source: Iterator, output: Iterator, n: Count, memory: Memory) -> Any:
    """Sorts n items of the source into the output, which may be where they are."""
    tile, threads = _tile(what.kind), _threads(what.kind)
    blocks = -(-n.most // tile)
    passes = max(0, (blocks - 1).bit_length())
    found = memory.take((numpy.int32, 1), (what.kind.dtype, n.most if passes else 0))
    if found is None:
        return memory.nbytes
    if not n.most:
        return None
    other = ArrayIterator(found[1])
    now, then = (output, other) if passes % 2 == 0 else (other, output)
    key = (what.key, source.kind, now.kind, n.kind)
    # Later calls of what makes a kernel must make the same: the merges below swap `now` and `then`.
    tiles = kernel_of(_sorting_tiles, key, functools.partial(_tile_parts, what, source, now, n))
    tiles[blocks, threads, memory.stream](source.state, now.state, n.state)
    for p in range(passes):
        parts = functools.partial(_merge_parts, what, now, then, n)
        kernel = kernel_of(_merging, (what.key, now.kind, then.kind, n.kind), parts)
        kernel[blocks, threads, memory.stream](now.state, then.state, n.state, tile << p)
        now, then = then, now
    return None


def _tile_parts(what: _Items, source: Iterator, now: Iterator, n: Count) -> tuple[_Items, Function, Function, Function]:
    return what, source.load(), _writing(now), n.load()


def _merge_parts(what: _Items, now: Iterator, then: Iterator, n: Count) -> tuple[_Items, Function, Function, Function]:
    return what, _reading(now, what), _writing(then), n.load()


def _reading(it: Iterator, what: _Items) -> Function:
    load, cast = it.load(), what.kind.cast
    return lambda s, i: cast(load(s, i))


def _writing(it: Iterator) -> Function:
    store, cast = it.store(), it.value_type.cast  # type: ignore[union-attr]

    def write(s: Any, i: Any, v: Any) -> None:
        store(s, i, cast(v))

    return write


def _together(keys: Iterator, values: Iterator | None) -> Iterator:
    return keys if values is None else ZipIterator(keys, values)


def _known(it: Iterator, name: str) -> Iterator:
    if it.value_type is None:
        raise TypeError(f"{name}: the type of its items must be known to sort them; give value_type to the iterator")
    return it


def pairs_of(d_in_values: Any, d_out_values: Any) -> tuple[Iterator | None, Iterator | None]:
    if (d_in_values is None) != (d_out_values is None):
        there, missing = ("d_in_values", "d_out_values") if d_out_values is None else ("d_out_values", "d_in_values")
        raise ValueError(f"{there} is given and {missing} is not; give both or neither")
    if d_in_values is None:
        return None, None
    values = _known(iterator_of(d_in_values, "d_in_values"), "d_in_values")
    output = iterator_of(d_out_values, "d_out_values")
    becomes(("d_in_values", values), ("d_out_values", output))
    return values, output


@algorithm
def merge_sort(
    *, d_in_keys: Any, d_in_values: Any = None, d_out_keys: Any, d_out_values: Any = None, num_items: int, op: Any,
    stream: Any = None, temp_storage: Any = POOL,
) -> Any:  # fmt: skip
    """Sorts by a comparison.

    Parameters
    ----------
    d_in_keys : array or iterator
    d_in_values : array or iterator, optional
        Go where their keys go.
    d_out_keys, d_out_values : array
        May be those that are sorted.
    num_items : int, or array of a device
        Of an array the first element counts, as it is when the sort runs.
    op : function or OpKind
        Whether a key comes before another: a strict weak order, so false for equal ones. With OpKind.LESS and GREATER
        NaNs come last; with another one that is no order with the keys at hand, items come in some order, and some
        may be lost and others there twice.
    stream
        None, or any object with ``__cuda_stream__``.
    temp_storage
        Memory of the caller; None: nothing is done, and the bytes that would be needed are returned.

    Notes
    -----
    Stable. ``1 + ceil(log2(n / tile))`` launches, each of which reads and writes each item once; tiles are of 2,048
    items of up to 8 bytes. Temporary memory: n keys and values.
    """
    keys, values = _known(iterator_of(d_in_keys, "d_in_keys"), "d_in_keys"), pairs_of(d_in_values, d_out_values)
    out_keys, op = iterator_of(d_out_keys, "d_out_keys"), operator_of(op, 2)
    n = _count(
        num_items,
        ("d_in_keys", keys),
        ("d_out_keys", out_keys),
        ("d_in_values", values[0]),
        ("d_out_values", values[1]),
    )
    check_places(n, keys, out_keys, values)
    source, output = _together(keys, values[0]), _together(out_keys, values[1])
    return _sort(_by(op, source, values[0] is not None), source, output, n, Memory(temp_storage, stream_of(stream)))


def _count(value: Any, *sequences: Any) -> Count:
    return items_in(value, "num_items", *((name, it) for name, it in sequences if it is not None))


def check_places(n: Count, keys: Iterator, out_keys: Iterator, values: Any, **others: Iterator) -> None:
    reads = {"d_in_keys": keys, "d_in_values": values[0], **others}
    writes = {"d_out_keys": out_keys, "d_out_values": values[1]}
    separate(n.most, reads, writes, {("d_out_keys", "d_in_keys"), ("d_out_values", "d_in_values")})


def _by(op: Operator, source: Iterator, pairs: bool) -> _Items:
    dtype = source.value_type.dtype  # type: ignore[union-attr]
    function = ordering(op, dtype[0] if pairs else dtype).function
    less = (lambda a, b: bool(function(a[0], b[0]))) if pairs else (lambda a, b: bool(function(a, b)))
    return _Items(source.value_type, less, (op.key, source.value_type, pairs))  # type: ignore[arg-type]


def bits_of(array: Any, name: str = "d_in_keys") -> Any:
    """The array, or iterator, as keys whose bits have an order, and their dtype."""
    keys = _known(iterator_of(array, name), name)
    dtype: Any = keys.value_type.dtype  # type: ignore[union-attr]
    if dtype.kind in "mM":
        raise TypeError(
            f"{name} holds {dtype}; pass a view of int64, which has the same order, with NaT first, or use merge_sort "
            "with OpKind.LESS"
        )
    if dtype.kind not in "iufb" and dtype.name != "bfloat16" or dtype.itemsize > 8:
        raise TypeError(f"{name}: keys of {dtype} have no order of bits; use merge_sort with a comparison")
    return keys, dtype


def bits_out(array: Any, dtype: Any, name: str = "d_out_keys", of: str = "d_in_keys") -> Any:
    """The same of the array of sorted keys, which were of this dtype."""
    output, found = bits_of(array, name)
    if found != dtype:
        raise TypeError(f"{name} is of {found}, {of} of {dtype}; a sort by bits keeps the dtype")
    return output


def _in_order(dtype: Any, begin: int, end: int, descending: bool) -> Function:
    """The function of a kernel that turns the bits of a key into a number without a sign in the same order."""
    from ..cuda._device import reinterpreted

    width = dtype.itemsize * 8
    kind, signed = (numpy.dtype(f"{sign}{dtype.itemsize}").type for sign in "ui")
    top, last = kind(1 << width - 1), kind(width - 1)
    mask, shift = kind((1 << end - begin) - 1), kind(begin)
    is_float, is_signed = dtype.kind == "f" or dtype.name == "bfloat16", dtype.kind == "i"
    every = kind((1 << width) - 1)

    def bits(key: Any) -> Any:
        return kind(key) if dtype.kind in "ub" else reinterpreted(key, kind)

    def ordered(key: Any) -> Any:
        v = bits(key)
        if is_float:
            if v == top:
                v = kind(0)  # -0.0 and 0.0 are equal
            v = kind(v ^ (kind(signed(v) >> signed(last)) | top))  # all bits of a negative one, else the first
        elif is_signed:
            v = kind(v ^ top)
        if descending:
            v = kind(v ^ every)
        return kind(kind(v >> shift) & mask)

    return ordered


@algorithm
def radix_sort(
    *, d_in_keys: Any, d_out_keys: Any = None, d_in_values: Any = None, d_out_values: Any = None, num_items: int,
    order: SortOrder = SortOrder.ASCENDING, begin_bit: int | None = None, end_bit: int | None = None,
    stream: Any = None, temp_storage: Any = POOL,
) -> Any:  # fmt: skip
    """Sorts numbers by their value, or by some of their bits.

    Parameters
    ----------
    d_in_keys : array, iterator or DoubleBuffer
        Whole numbers, floats or bools. NaN come last, negative ones first; -0.0 and 0.0 are equal.
    d_out_keys : array
        Of the same dtype; may be that which is sorted. None with a `DoubleBuffer`.
    d_in_values, d_out_values : array or DoubleBuffer, optional
        Go where their keys go.
    num_items : int, or array of a device
        See `merge_sort`.
    order : SortOrder
    begin_bit, end_bit : int, optional
        Only these bits of a key count, from `begin_bit` to before `end_bit`, of the number in the order of which they
        are sorted.
    stream, temp_storage
        As for `merge_sort`.

    Notes
    -----
    Stable, also descending. By digits of eight bits. On a CPU items are read once, and once or twice and written once
    for each digit in which keys differ; those that are in order are only copied. On a GPU they are read once, and read
    and written once for each digit. Temporary memory: n keys and values; on a CPU 19 kilobytes for each core, on a GPU
    a byte for each item of up to 8, more for greater ones.

    On a CPU with AVX-512 arrays of NumPy whose keys have 4 or 8 bytes are sorted by comparisons of vectors instead, by
    one thread, if up to four would share the work; values must have 4 or 8 bytes and keep their dtype, and keys with
    them 4 bytes; all bits must count, and `temp_storage` must be left out. About ``n log2(n)`` comparisons. Temporary
    memory: 8 bytes for each pair, and a copy of values that are sorted in place; of keys alone a copy if they are
    floats that are sorted in place, else none.
    """
    keys, out_keys, values = buffers_of(d_in_keys, d_out_keys, d_in_values, d_out_values)
    source, dtype = bits_of(keys)
    output = bits_out(out_keys, dtype)
    n = _count(
        num_items,
        ("d_in_keys", source),
        ("d_out_keys", output),
        ("d_in_values", values[0]),
        ("d_out_values", values[1]),
    )
    check_places(n, source, output, values)
    digits = digits_of(dtype, begin_bit, end_bit, order)
    memory = Memory(temp_storage, stream_of(stream))
    arrays = arrays_to_sort(source, output, *values) if digits.width == dtype.itemsize * 8 else None
    if arrays and temp_storage is POOL and n.kind is None and on_cpu():
        sort_arrays(memory.stream, n.most, order == SortOrder.DESCENDING, arrays)
        switch(d_in_keys, d_in_values)
        return None
    if values[0] is not None:
        digits = of_field(digits, 0)
    unsorted, sorted_ = _together(source, values[0]), _together(output, values[1])
    found = memory.take(*memory_for(unsorted, sorted_, n.most))
    if found is None:
        return memory.nbytes
    if n.most:
        by_digits(digits, unsorted, sorted_, n, memory.stream, found)
    switch(d_in_keys, d_in_values)
    return None


def arrays_to_sort(keys: Iterator, out_keys: Iterator, values: Iterator | None, out_values: Iterator | None) -> Any:
    """The arrays that `sort_arrays` takes; None where it does not take them, or values change their dtype."""
    its = [keys, out_keys] if values is None or out_values is None else [keys, out_keys, values, out_values]
    arrays = [plain_array(it, (4, 8)) for it in its]
    if any(array is None for array in arrays):
        return None
    fits = values is None or arrays[0].itemsize == 4 and arrays[2].dtype == arrays[3].dtype
    return arrays if fits else None


def buffers_of(d_in_keys: Any, d_out_keys: Any, d_in_values: Any, d_out_values: Any) -> tuple[Any, Any, Any]:
    if isinstance(d_in_keys, DoubleBuffer):
        d_in_keys, d_out_keys = d_in_keys.current(), d_in_keys.alternate()
    if isinstance(d_in_values, DoubleBuffer):
        d_in_values, d_out_values = d_in_values.current(), d_in_values.alternate()
    if d_out_keys is None:
        raise ValueError("d_out_keys is missing; only with a DoubleBuffer it may be left out")
    return d_in_keys, d_out_keys, pairs_of(d_in_values, d_out_values)


def switch(*buffers: Any) -> None:
    for buffer in buffers:
        if isinstance(buffer, DoubleBuffer):
            buffer.selector = 1 - buffer.selector


def digits_of(dtype: Any, begin_bit: Any, end_bit: Any, order: Any) -> Digits:
    """Some bits of keys of this dtype, in an order."""
    width = dtype.itemsize * 8
    begin = 0 if begin_bit is None else count_of(begin_bit, "begin_bit")
    end = width if end_bit is None else count_of(end_bit, "end_bit")
    if not 0 <= begin <= end <= width:
        raise ValueError(f"bits {begin} to {end} are not among the {width} bits of a {dtype}")
    ordered = functools.partial(_in_order, dtype, begin, end, SortOrder(order) is SortOrder.DESCENDING)
    return Digits(end - begin, functools.cache(ordered), ("bits", dtype, begin, end, int(order)))


def of_field(digits: Digits, field: int) -> Digits:
    """The same of one field of items with several."""

    def of_item() -> Function:
        bits = digits.bits
        return lambda item: bits(item[field])

    return Digits(digits.width, functools.cache(of_item), (digits.key, field))


def memory_for(source: Iterator, output: Iterator, n: int) -> list[tuple[Any, int]]:
    """What `by_digits` takes of temporary memory; the first are counters."""
    return _radix.memory_of(output, n) if on_cpu() else _onesweep.memory_of(source, output, n)


def by_digits(*given: Any) -> None:
    """Sorts by digits, see `_radix.sortby_digits`."""
    _radix.sort_by_digits(*given) if on_cpu() else _onesweep.sort_in_sweeps(*given)
