# SPDX-License-Identifier: Apache-2.0
"""Histograms: how many samples fall into each of many bins.

Each block counts in shared memory and adds its bins to the result at its end: few bins in several copies, so that warps
do not wait for each other; many in counters of 16 bits, two of them in a word, each of which gives half of what it
holds to the result before it is full. With more bins than fit there, or few samples for each, it adds to the result at
once. Two launches; each sample is read once.

On a CPU a block is a thread of a core, with bins of its own, several of each where there are few: neighbours are often
equal, and one number cannot be added to twice in a turn. Then the blocks meet and put together what they have. Samples
of one byte are counted by their values; which bins these are in is asked once for each value. One launch.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy

from ..cuda.libdevice import umul64hi
from ._arguments import checked_count, count_of, items_in, stream_of
from ._engine import POOL, THREADS, Memory, algorithm, cores_for, kernel_of, on_cpu
from ._overlap import separate
from .iterators import Iterator, iterator_of

__all__ = ["histogram_even", "histogram_range"]

Function = Callable[..., Any]
ITEMS = 16  # of a thread in each round
_FEW, _SOME, _MOST_SHARED = 256, 1024, 8192  # bins in shared memory: with 8 copies, with 2, with 1
_ROUNDS, _BLOCKS = 16, 1024  # rounds of a block, at most; blocks, about
_EACH = 32  # samples of a bin, for which counters of blocks are worth it
_PACKED_THREADS = 1024
_LEAST = 1 << 15  # samples that are worth a core
_COPIES, _MOST_COPIED = 4, 1024  # of each bin on a CPU, with at most so many bins
_FOUND = 64  # samples whose bins are found at once on a CPU
_VALUES, _VALUE_COPIES = 256, 8  # of a byte, and copies of their counts


def _zeroing() -> Callable[..., None]:
    from ..cuda import grid

    def zero(out: Any, n: Any) -> None:
        i = grid(1)
        if i < n:
            out[i] = 0

    return zero


class _Bins(NamedTuple):
    """How the bin of a sample is found."""

    key: Any
    make: Callable[[], Function]  # gives bin_of(v, levels, bins), for kernels: less than 0 for a sample in none
    levels: Any  # what it needs
    n: int
    on_device: Any = None  # levels that are read when it runs


def _copies(bins: int) -> int:
    """Copies of the bins that a block has in shared memory, each for some of its warps; 0: there is none."""
    return 0 if bins > _MOST_SHARED else 8 if bins <= _FEW else 2 if bins <= _SOME else 1


def _counting(load: Function, bin_of: Function, count: Any, copies: int, number: Function) -> Callable[..., None]:
    from ..cuda import atomic, blockIdx, shared, syncthreads, threadIdx

    per_copy = THREADS // max(1, copies)  # threads
    size = {8: _FEW, 2: _SOME, 1: _MOST_SHARED, 0: 1}[copies]

    def histogram(samples: Any, n_: Any, levels: Any, out: Any, bins: Any, rounds: Any) -> None:
        n, s = number(n_), shared.array(max(1, copies) * size, numpy.int32)
        t = threadIdx.x
        row = t // per_copy * size

        def add(v: Any) -> None:
            b = bin_of(v, levels, bins)
            if b >= 0:
                if copies:
                    atomic.add(s, row + b, 1)
                else:
                    atomic.add(out, b, count(1))

        if copies:
            for b in range(t, bins if copies == 1 else copies * size, THREADS):
                s[b] = 0
            syncthreads()
        at = numpy.int64(blockIdx.x) * rounds * (THREADS * ITEMS) + t
        last = min(n, at - t + rounds * (THREADS * ITEMS))
        while at + (ITEMS - 1) * THREADS < last:
            for v in tuple(load(samples, at + j * THREADS) for j in range(ITEMS)):
                add(v)
            at += ITEMS * THREADS
        while at < last:
            add(load(samples, at))
            at += THREADS
        if copies:
            syncthreads()
            for b in range(t, bins, THREADS):
                total = s[b]
                for c in range(1, copies):
                    total += s[c * size + b]
                if total != 0:
                    atomic.add(out, b, count(total))

    return histogram


def _counting_packed(load: Function, bin_of: Function, count: Any, number: Function) -> Callable[..., None]:
    from ..cuda import atomic, blockDim, blockIdx, gridDim, shared, syncthreads, threadIdx

    word, half = numpy.uint32, 1 << 15
    each = tuple(range(ITEMS))

    def histogram(samples: Any, n_: Any, levels: Any, out: Any, bins: Any) -> None:
        n, s, t, threads = number(n_), shared.array(0, word), threadIdx.x, blockDim.x

        def add(v: Any) -> None:
            b = bin_of(v, levels, bins)
            if b >= 0:
                at, shift = word(b) >> word(1), (word(b) & word(1)) << word(4)
                before = atomic.add(s, at, word(1) << shift)
                if before >> shift & word(0xFFFF) == word(half - 1):  # one thread sees that
                    atomic.sub(s, at, word(half) << shift)
                    atomic.add(out, b, count(half))

        for w in range(t, (bins + 1) // 2, threads):
            s[w] = 0
        syncthreads()
        at = numpy.int64(blockIdx.x) * threads * ITEMS + t
        while at + (ITEMS - 1) * threads < n:
            for v in tuple(load(samples, at + j * threads) for j in each):
                add(v)
            at += gridDim.x * threads * ITEMS
        for j in each:
            if at + j * threads < n:
                add(load(samples, at + j * threads))
        syncthreads()
        for b in range(t, bins, threads):
            total = s[b // 2] >> word(16 * (b % 2)) & word(0xFFFF)
            if total != 0:
                atomic.add(out, b, count(total))

    return histogram


def _processors() -> int:
    from ..cuda import get_current_device

    return int(get_current_device().MULTIPROCESSOR_COUNT)


def _most_packed() -> int:
    """Bins that a block of a device has room for in counters of 16 bits."""
    from ..cuda import get_current_device

    return int(get_current_device().MAX_SHARED_MEMORY_PER_BLOCK_OPTIN) // 4 * 2


def _is_packed(bins: int, n: int) -> bool:
    return bins > _MOST_SHARED and n >= _EACH * bins and bins <= _most_packed()


def _counting_in_chunks(
    load: Function, bin_of: Function, count: Any, copies: int, number: Function
) -> Callable[..., None]:
    from ..cuda import blockIdx, cg, gridDim, local

    each = tuple(range(copies))

    def histogram(samples: Any, n_: Any, levels: Any, out: Any, bins: Any, counts: Any) -> None:
        n = number(n_)
        part, parts, row = numpy.int64(blockIdx.x), numpy.int64(gridDim.x), bins + 1  # the first is of samples in none
        mine, first, last = part * copies * row, n * part // parts, n * (part + 1) // parts
        for b in range(mine, mine + copies * row):
            counts[b] = 0
        whole, places = first + (last - first) // _FOUND * _FOUND, local.array(_FOUND, numpy.int64)
        for at in range(first, whole, _FOUND):
            for j in range(_FOUND):
                places[j] = mine + 1 + bin_of(load(samples, at + j), levels, bins)
            for j in range(0, _FOUND, copies):
                for c in each:
                    counts[numpy.uint64(c * row + places[j + c])] += 1
        for i in range(whole, last):
            counts[numpy.uint64(mine + 1 + bin_of(load(samples, i), levels, bins))] += 1
        if parts > 1:
            cg.this_grid().sync()
        for b in range(bins * part // parts, bins * (part + 1) // parts):
            total = numpy.int64(0)
            for c in range(parts * copies):
                total += counts[c * row + 1 + b]
            out[b] = count(total)

    return histogram


def _counting_bytes(
    load: Function, bin_of: Function, count: Any, dtype: Any, whole: Any, number: Function
) -> Callable[..., None]:
    """The same of samples of one byte, counted by their values in an array of the thread."""
    from ..cuda import blockIdx, cg, gridDim, local
    from ..cuda._device import reinterpreted

    each, is_bool = tuple(range(_VALUE_COPIES)), dtype.kind == "b"

    def value_of(b: Any) -> Any:
        return b != 0 if is_bool else reinterpreted(numpy.uint8(b), dtype)

    def byte_of(v: Any) -> Any:
        return numpy.uint64(numpy.uint8(v) if is_bool else reinterpreted(v, numpy.uint8))

    def histogram(samples: Any, n_: Any, levels: Any, out: Any, bins: Any, counts: Any) -> None:
        n, part, parts = number(n_), numpy.int64(blockIdx.x), numpy.int64(gridDim.x)
        mine, first, last = local.array(_VALUE_COPIES * _VALUES, whole), n * part // parts, n * (part + 1) // parts
        for b in range(_VALUE_COPIES * _VALUES):
            mine[b] = 0
        end = first + (last - first) // _VALUE_COPIES * _VALUE_COPIES
        for i in range(first, end, _VALUE_COPIES):
            for c in each:
                mine[numpy.uint64(c * _VALUES) + byte_of(load(samples, i + c))] += 1
        for i in range(end, last):
            mine[byte_of(load(samples, i))] += 1
        for b in range(_VALUES):
            total = mine[b]
            for c in range(1, _VALUE_COPIES):
                total += mine[c * _VALUES + b]
            counts[part * _VALUES + b] = total
        for b in range(bins * part // parts, bins * (part + 1) // parts):
            out[b] = 0
        if parts > 1:
            cg.this_grid().sync()
        if part == 0:
            for b in range(2 if is_bool else _VALUES):
                total, place = numpy.int64(0), bin_of(value_of(b), levels, bins)
                for p in range(parts):
                    total += counts[p * _VALUES + b]
                if place >= 0:
                    out[place] += count(total)

    return histogram


def _even_floats(cast: Function, whole: Function) -> Function:
    """The bin of a float: where it would be by its value, moved by one where rounding has put it past an edge."""

    def bin_of(v: Any, levels: Any, bins: Any) -> Any:
        low, high, step = levels
        x = cast(v)
        is_inside = (x >= low) & (x < high)  # no branches: many are found at once
        return min(whole((x - low if is_inside else low - low) * step), bins - 1) if is_inside else -1

    return bin_of


def _above(v: Any, low: Any, width: Any) -> Any:
    """How far a sample is above the first edge, modulo 2^64; the width or more where it is in no bin."""
    is_long = v.dtype.kind == "u" and v.dtype.itemsize == 8
    if low.dtype.kind == "u":  # from 2^63 on
        return numpy.uint64(v) - low if is_long and numpy.uint64(v) >= low else width
    if is_long and low < 0:
        end = numpy.int64(width) + low
        return numpy.uint64(v) - numpy.uint64(low) if end > 0 and v < numpy.uint64(end) else width
    return numpy.uint64(numpy.int64(v) - low)


def _even_ints(v: Any, levels: Any, bins: Any) -> Any:
    """Divides by what 2^64 is divided by the width, which is one less than the quotient at most."""
    low, width, inverse = levels
    above = _above(v, low, width)
    if above >= width:
        return -1
    scaled = above * numpy.uint64(bins)
    quotient = numpy.uint64(umul64hi(scaled, inverse))
    if scaled - quotient * width >= width:
        quotient += numpy.uint64(1)
    return numpy.int64(quotient)


def _wide_ints(v: Any, levels: Any, bins: Any) -> Any:
    """Where the width times the bins has more than 64 bits: the quotient as a float says it, put right by products of
    128 bits."""
    low, width, share = levels
    above, count, one = _above(v, low, width), numpy.uint64(bins), numpy.uint64(1)
    if above >= width:
        return -1
    high, rest = umul64hi(above, count), above * count
    b = min(numpy.uint64(numpy.float64(above) * share), count - one)
    while _is_more(b, width, high, rest):
        b -= one
    while not _is_more(b + one, width, high, rest):
        b += one
    return numpy.int64(b)


def _is_more(a: Any, b: Any, high: Any, low: Any) -> Any:
    """Whether a product has more than a number of 128 bits."""
    top = umul64hi(a, b)
    return top > high or (top == high and a * b > low)


def _each_int(v: Any, levels: Any, bins: Any) -> Any:
    """Where bins are of one number each."""
    low, width, _ = levels
    above = _above(v, low, width)
    return -1 if above >= width else numpy.int64(above)


def _even_powers(v: Any, levels: Any, bins: Any) -> Any:
    """The bin of an integer where each bin has a power of two of them."""
    low, width, shift = levels
    above = _above(v, low, width)
    return -1 if above >= width else numpy.int64(above >> shift)


def _range(load: Function) -> Function:
    def bin_of(v: Any, levels: Any, bins: Any) -> Any:
        low, high = 0, bins + 1
        while low < high:
            mid = (low + high) // 2
            if load(levels, mid) <= v:
                low = mid + 1
            else:
                high = mid
        return -1 if low > bins else low - 1

    return bin_of


def _scalar(value: Any, name: str) -> Any:
    found = numpy.asarray(value)
    if found.size != 1:
        raise ValueError(f"{name} has {found.size} elements; give one")
    return found.reshape(-1)[0]


@algorithm
def histogram_even(
    *, d_samples: Any, d_histogram: Any, num_output_levels: int | None = None, lower_level: Any = None,
    upper_level: Any = None, num_samples: int, stream: Any = None, h_num_output_levels: Any = None,
    h_lower_level: Any = None, h_upper_level: Any = None, temp_storage: Any = POOL,
) -> Any:  # fmt: skip
    """How many samples are in each of ``num_output_levels - 1`` bins of equal width.

    Parameters
    ----------
    d_samples : array or iterator
    d_histogram : array of whole numbers of 4 or 8 bytes
    num_output_levels : int
        Edges of bins: one more than bins.
    lower_level, upper_level : numpy.number
        Of one dtype; samples below the first, or not below the second, and NaN are not counted.
    num_samples : int, or array of a device
        Of an array the first element counts, as it is when the histogram is made.
    h_num_output_levels, h_lower_level, h_upper_level
        The same three as arrays of one element.
    stream, temp_storage
        As for `select`.
    """
    levels = count_of(
        _scalar(num_output_levels if h_num_output_levels is None else h_num_output_levels, "num_output_levels"),
        "num_output_levels",
    )
    samples = _numbers(d_samples)
    low = _scalar(lower_level if h_lower_level is None else h_lower_level, "lower_level")
    high = _scalar(upper_level if h_upper_level is None else h_upper_level, "upper_level")
    if low.dtype != high.dtype:
        raise TypeError(f"lower_level is {low.dtype}, upper_level {high.dtype}; they must be of one dtype")
    if levels < 2:
        raise ValueError(f"num_output_levels is {levels}; a bin has two")
    if not low < high:
        raise ValueError(f"lower_level {low} must be less than upper_level {high}")
    if not math.isfinite(float(high) - float(low)):
        raise ValueError(f"levels from {low} to {high} have no finite width; bins of equal width need one")
    bins = levels - 1
    of = samples.value_type and samples.value_type.dtype
    if of is not None and of.kind in "iub" and low.dtype.kind in "iu":
        width = numpy.uint64(int(high) - int(low))
        step, odd = divmod(int(width), bins)
        is_power = not odd and step & step - 1 == 0
        key, made = ("each int", lambda: _each_int) if int(width) == bins else ("ints", lambda: _even_ints)
        more: Any = numpy.uint64(((1 << 64) - 1) // int(width))
        if is_power and step > 1:
            key, made, more = "powers", lambda: _even_powers, numpy.uint64(step.bit_length() - 1)
        elif int(width) * bins >= 1 << 64:
            key, made, more = "wide ints", lambda: _wide_ints, numpy.float64(bins / int(width))
        first = numpy.uint64(low) if int(low) >> 63 > 0 else numpy.int64(low)
        rule = _Bins(key, made, (first, width, more), bins)
        return _histogram(rule, samples, d_histogram, num_samples, stream, temp_storage)
    kind = numpy.dtype(numpy.result_type(low.dtype, of if of is not None else low.dtype))
    if kind.kind != "f" or kind.itemsize < 4:
        kind = numpy.dtype(numpy.float64 if kind.kind != "f" else numpy.float32)
    step = kind.type(bins) / (kind.type(high) - kind.type(low))
    edges = (kind.type(low), kind.type(high), kind.type(step))
    whole = numpy.int32 if bins < 1 << 31 else numpy.int64
    rule = _Bins(("floats", kind, whole), lambda: _even_floats(kind.type, whole), edges, bins)
    return _histogram(rule, samples, d_histogram, num_samples, stream, temp_storage)


@algorithm
def histogram_range(
    *, d_samples: Any, d_histogram: Any, d_levels: Any, num_output_levels: int, num_samples: int, stream: Any = None,
    temp_storage: Any = POOL,
) -> Any:  # fmt: skip
    """How many samples are in each bin: bin i holds those from ``d_levels[i]`` to before ``d_levels[i + 1]``.

    Parameters
    ----------
    d_levels : array or iterator
        Ascending.
    d_samples, d_histogram, num_output_levels, num_samples, stream, temp_storage
        As for `histogram_even`.
    """
    levels = iterator_of(d_levels, "d_levels")
    count = checked_count(num_output_levels, "num_output_levels", ("d_levels", levels))
    if count < 2:
        raise ValueError(f"num_output_levels is {count}; a bin has two")
    rule = _Bins(("range", levels.kind), lambda: _range(levels.load()), levels.state, count - 1, levels)
    return _histogram(rule, iterator_of(d_samples, "d_samples"), d_histogram, num_samples, stream, temp_storage)


def _numbers(d_samples: Any) -> Iterator:
    """The samples: no dates, which have no bins."""
    samples = iterator_of(d_samples, "d_samples")
    dtype = samples.value_type and samples.value_type.dtype
    if dtype is not None and dtype.kind in "mM":
        raise TypeError(f"d_samples holds {dtype}; pass a view of int64, and levels in its unit as numbers")
    return samples


def _histogram(rule: _Bins, samples: Any, d_histogram: Any, num_samples: Any, stream: Any, storage: Any) -> Any:
    output, stream, bins = iterator_of(d_histogram, "d_histogram"), stream_of(stream), rule.n
    n = items_in(num_samples, "num_samples", ("d_samples", samples))
    checked_count(bins, "the number of bins", ("d_histogram", output))
    separate(max(n.most, bins + 1), {"d_samples": samples, "d_levels": rule.on_device}, {"d_histogram": output})
    is_in_a_row = getattr(output, "is_in_a_row", False)
    if output.value_type is None or output.value_type.dtype.kind not in "iu" or not is_in_a_row:
        raise TypeError("d_histogram must be an array of whole numbers")
    if output.value_type.dtype.itemsize < 4:
        raise TypeError(
            f"d_histogram holds {output.value_type.dtype}, and GPUs count in numbers of 4 or 8 bytes only; give an "
            "array of numpy.int32"
        )
    cast, copies = output.value_type.cast, _copies(bins)
    if on_cpu():
        parts, copies = cores_for(n.most, max(_LEAST, bins)), _COPIES if bins <= _MOST_COPIED else 1
        dtype = samples.value_type and samples.value_type.dtype
        is_bytes = dtype is not None and dtype.kind in "iub" and dtype.itemsize == 1
        memory = Memory(storage, stream)
        counts = numpy.int32 if n.most < 1 << 31 else numpy.int64
        found = memory.take((counts, parts * (_VALUES if is_bytes else copies * (bins + 1))), counters=0)
        if found is None:
            return memory.nbytes
        key = (rule.key, samples.kind, output.kind, copies, n.kind)
        if is_bytes:
            of_bytes = lambda: (samples.load(), rule.make(), cast, dtype, counts, n.load())  # noqa: E731
            kernel = kernel_of(_counting_bytes, (*key, counts), of_bytes)
        else:
            of_chunks = lambda: (samples.load(), rule.make(), cast, copies, n.load())  # noqa: E731
            kernel = kernel_of(_counting_in_chunks, key, of_chunks)
        kernel[parts, 1, stream](samples.state, n.state, rule.levels, output.state[0], bins, found[0])
        return None
    if storage is None:
        return 1
    kernel_of(_zeroing, output.kind, tuple)[-(-bins // THREADS), THREADS, stream](output.state[0], bins)
    if _is_packed(bins, n.most):
        key = (rule.key, samples.kind, output.kind, "packed", n.kind)
        kernel = kernel_of(_counting_packed, key, lambda: (samples.load(), rule.make(), cast, n.load()))
        blocks = min(_processors(), -(-n.most // (_PACKED_THREADS * ITEMS)))
        kernel[blocks, _PACKED_THREADS, stream, (bins + 1) // 2 * 4](
            samples.state, n.state, rule.levels, output.state[0], bins
        )
    elif n.most:
        key = (rule.key, samples.kind, output.kind, copies, n.kind)
        kernel = kernel_of(_counting, key, lambda: (samples.load(), rule.make(), cast, copies, n.load()))
        rounds = max(1, min(_ROUNDS, n.most // (THREADS * ITEMS * _BLOCKS)))
        blocks = -(-n.most // (THREADS * ITEMS * rounds))
        kernel[blocks, THREADS, stream](samples.state, n.state, rule.levels, output.state[0], bins, rounds)
    return None
