# SPDX-License-Identifier: Apache-2.0
"""Reductions: all items put together by an operator.

    n items --> leaves of LEAF items, a few by each block, in a fixed order --> one part per leaf
            --> the block that ends last of GROUP puts their parts together --> one part per group
            --> the block that ends last of all puts these together         --> init op parts --> the result

One launch, which reads each item once. The order in which items are combined depends on their number alone, so the bits
of the result are the same on every GPU and on the CPU, each time. Operators that are known to be commutative take items
in the order in which threads load them; all others in the order of the items.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy

from ._arguments import checked_count, init_of, items_in, stream_of
from ._chunks import trees
from ._engine import POOL, THREADS, Memory, algorithm, cores_for, kernel_of, on_cpu
from ._overlap import separate
from ._ready import combine_choices, words_of
from .determinism import Determinism
from .iterators import iterator_of
from .op import Operator, operator_of
from .types import TypeDescriptor

__all__ = ["reduce_into"]

Function = Callable[..., Any]

ITEMS = 32  # of a thread, in a leaf
LEAF = THREADS * ITEMS
WARPS = THREADS // 32
GROUP = THREADS  # leaves
_CORE = 4  # leaves that are worth a core
_ROWS = 16  # items of a thread that are read at once
_NARROW = 2  # bytes of an item of which a thread takes neighbours
_AT_ONCE, _AT_ONCE_BYTES = 8, 1 << 13  # full leaves whose values are put together at once on a CPU; bytes of these
_RUN, _FULL = 4, 1 << 12  # leaves of a block where there are more leaves than fill a GPU


class Combining(NamedTuple):
    """An operator: functions of a kernel."""

    op: Function  # of two values
    of_next: Function  # the same of a value of some items and an item that stands behind them


def combining(op: Operator) -> Combining:
    return Combining(op.function, op.of_next or op.function)


def _reducing(
    load: Function, store: Function, by: Combining, kind: TypeDescriptor, out_cast: Function, in_order: bool,
    has_init: bool, number: Function,
) -> Callable[..., None]:  # fmt: skip
    from ..coop import block
    from ..cuda import atomic, blockIdx, gridDim, shared, syncthreads, threadfence, threadIdx
    from ..cuda._device import is_quick

    get, put, cast, zero = kind.get, kind.put, kind.cast, kind.zero
    (op, of_next), (step, width) = by, (1, ITEMS) if in_order else (THREADS, 1)
    each, at_once = tuple(range(ITEMS)), min(ITEMS, _ROWS)
    rows = tuple(tuple(range(max(k, 1), k + at_once)) for k in range(0, ITEMS, at_once))  # behind the first item
    finish = _finishing(store, op, cast, out_cast, has_init)

    def quotient(a: Any, b: Any) -> Any:
        return numpy.int64(numpy.uint32(a) // numpy.uint32(b))

    def leaf_of(src: Any, first: Any, n: Any) -> Any:
        """A thread's part of a leaf, and how many threads have one. Neighbours are read at once, in wide words."""
        at = first + threadIdx.x * width
        total = cast(load(src, min(at, n - 1)))
        if first + LEAF <= n and not is_quick():
            if in_order:
                items = tuple(load(src, at + j) for j in each)
                total = cast(items[0])
                for j in each[1:]:
                    total = cast(of_next(total, cast(items[j])))
            else:
                for row in rows:
                    items = tuple(load(src, at + j * step) for j in row)
                    for item in items:
                        total = cast(of_next(total, cast(item)))
            return total, numpy.int64(THREADS)
        for i in range(at + step, min(at + LEAF // THREADS * step, n), step):
            total = cast(of_next(total, cast(load(src, i))))
        return total, min((n - first + (width - 1)) // width, THREADS)

    def together(parts: Any, at: Any, m: Any) -> Any:
        """The same of the m parts from one on."""
        run = numpy.int32(m + (THREADS - 1)) // THREADS
        first = threadIdx.x * run
        total = get(parts, at + min(first, m - 1))
        for j in range(first + 1, min(first + run, m)):
            total = cast(op(total, get(parts, at + j)))
        return total, quotient(m + (run - 1), run)

    def is_last(counters: Any, counter: Any, blocks: Any) -> Any:
        """Whether this block is the last of some, which makes their counter zero again; it sees what they have put."""
        last = shared.array(1, numpy.int32)
        if threadIdx.x == 0:
            threadfence()
            last[0] = atomic.add(counters, counter, 1) == blocks - 1
            if last[0] != 0:
                counters[counter] = 0
        syncthreads()
        is_it = last[0] != 0
        if is_it:
            threadfence()
            syncthreads()
        return is_it

    def reduce(src: Any, count: Any, out: Any, init: Any, parts: Any, counters: Any, most: Any, run: Any) -> None:
        t, n, leaf, total = threadIdx.x, number(count), blockIdx.x * run, cast(zero)
        leaves = (n + (LEAF - 1)) // LEAF
        last, group, groups = min(leaf + run, leaves), leaf // GROUP, (most + (GROUP - 1)) // GROUP
        here, at, level, goes_on = last - leaf, group * GROUP, 0, True
        while goes_on:  # leaf by leaf, then the parts of a group, then those of all groups
            if here > 0:
                if level == 0:
                    total, m = leaf_of(src, leaf * LEAF, n)
                else:
                    total, m = together(parts, at, here)
                total = block.reduce(total, op, threads=THREADS, num_valid=m)
                if t == 0 and level < 2:
                    put(parts, leaf if level == 0 else most + group, total)
            leaf, here = leaf + 1, here - 1
            if level > 0 or here <= 0:
                counter, blocks, goes_on = 1 + group, numpy.int64(groups), False
                if level == 0:
                    each = quotient(GROUP, run)
                    here, blocks = min(leaves - at, GROUP), min(gridDim.x - group * each, each)
                else:
                    here, at, counter = (leaves + (GROUP - 1)) // GROUP, most, numpy.int64(0)
                if (gridDim.x if level == 0 else groups) > 1 and level < 2:
                    goes_on = is_last(counters, counter, blocks)
                elif t == 0:
                    finish(out, init, total, n)
                level += 1

    return reduce


def _finishing(store: Function, op: Function, cast: Function, out_cast: Function, has_init: bool) -> Function:
    """The function of a kernel that stores the result."""

    def finish(out: Any, init: Any, total: Any, n: Any) -> None:
        if n > 0:
            if has_init:
                total = cast(op(cast(init), total))
            store(out, 0, out_cast(total))
        elif has_init:
            store(out, 0, out_cast(cast(init)))

    return finish


def _leaves(load: Function, by: Combining, kind: TypeDescriptor, in_order: bool) -> tuple[Function, ...]:
    """Functions of a kernel of one thread, with the bits of `_reducing`: a leaf, as THREADS of a GPU put it together;
    a few that have all items, not in order; and m values as `coop.block.reduce` puts those of as many threads
    together."""
    get, put, cast, (op, of_next) = kind.get, kind.put, kind.cast, by
    in_pairs, in_full_pairs = trees(kind, op)

    def of_warps(s: Any, at: Any, m: Any) -> Any:
        total = get(s, at)
        for w in range(1, (m + 31) // 32):
            total = cast(op(total, get(s, at + w)))
        return total

    def together(s: Any, m: Any) -> Any:
        in_pairs(s, m)
        return of_warps(s, 0, m)

    def in_order_of(src: Any, s: Any, first: Any, last: Any) -> Any:
        m = (last - first + (ITEMS - 1)) // ITEMS
        for t in range(m):
            total = cast(load(src, first + t * ITEMS))
            for i in range(first + t * ITEMS + 1, min(first + t * ITEMS + ITEMS, last)):
                total = cast(of_next(total, cast(load(src, i))))
            put(s, t, total)
        return m

    def in_rows_of(src: Any, s: Any, first: Any, last: Any) -> Any:
        m = min(last - first, THREADS)
        for t in range(m):
            put(s, t, cast(load(src, first + t)))
        for row in range(first + THREADS, last, THREADS):
            for t in range(min(last - row, THREADS)):
                put(s, t, cast(of_next(get(s, t), cast(load(src, row + t)))))
        return m

    def full_rows(src: Any, s: Any, base: Any, first: Any) -> None:
        """The same of a full leaf, whose counts LLVM knows: it keeps the values of a row in registers. Row by row: many
        rows at once come slowly from memory."""
        for t in range(THREADS):
            put(s, base + t, cast(load(src, first + t)))
        for row in range(1, ITEMS):
            for t in range(THREADS):
                put(s, base + t, cast(of_next(get(s, base + t), cast(load(src, first + row * THREADS + t)))))

    def full_leaves_of(src: Any, s: Any, other: Any, first: Any, m: Any, parts: Any, leaf: Any) -> None:
        """The parts of m full leaves. Their values are put together at once: what one step waits for, others do not."""
        for k in range(m):
            full_rows(src, s, k * THREADS, first + k * LEAF)
        in_full_pairs(s, other, m * THREADS)
        for k in range(m):
            put(parts, leaf + k, of_warps(other, k * WARPS, THREADS))

    def leaf_of(src: Any, s: Any, first: Any, n: Any) -> Any:
        last = min(first + LEAF, n)
        return together(s, in_order_of(src, s, first, last) if in_order else in_rows_of(src, s, first, last))

    return leaf_of, full_leaves_of, together


def _reducing_in_chunks(
    load: Function, store: Function, by: Combining, kind: TypeDescriptor, out_cast: Function, in_order: bool,
    has_init: bool, number: Function,
) -> Callable[..., None]:  # fmt: skip
    """The same for a CPU, with the same bits: one block of one thread for each core, which does leaf by leaf."""
    from ..cuda import blockIdx, cg, gridDim, local

    dtype, get, put, cast, zero = kind.dtype, kind.get, kind.put, kind.cast, kind.zero
    op, finish = by.op, _finishing(store, by.op, cast, out_cast, has_init)
    leaf_of, full_leaves_of, together = _leaves(load, by, kind, in_order)
    at_once = 1 if in_order else max(1, min(_AT_ONCE, _AT_ONCE_BYTES // (THREADS * kind.size)))

    def run_of(parts: Any, at: Any, s: Any, m: Any) -> Any:
        """The m parts from one on, as a block of a GPU puts them together."""
        each = (m + (THREADS - 1)) // THREADS
        threads = (m + (each - 1)) // each
        for t in range(threads):
            part = get(parts, at + t * each)
            for j in range(t * each + 1, min(t * each + each, m)):
                part = cast(op(part, get(parts, at + j)))
            put(s, t, part)
        return together(s, threads)

    def reduce(src: Any, count: Any, out: Any, init: Any, parts: Any) -> None:
        s, other, n = local.array(at_once * THREADS, dtype), local.array(at_once * THREADS, dtype), number(count)
        block, blocks = numpy.int64(blockIdx.x), numpy.int64(gridDim.x)
        leaves = (n + (LEAF - 1)) // LEAF
        leaf, last = leaves * block // blocks, leaves * (block + 1) // blocks
        full = leaf if in_order else min(n // LEAF, last)
        while leaf < full:
            m = min(full - leaf, at_once)
            full_leaves_of(src, s, other, leaf * LEAF, m, parts, leaf)
            leaf += m
        while leaf < last:
            put(parts, leaf, leaf_of(src, s, leaf * LEAF, n))
            leaf += 1
        if blocks > 1:
            cg.this_grid().sync()
        if block > 0:
            return
        groups, total = (leaves + (GROUP - 1)) // GROUP, cast(zero)
        for group in range(groups):
            put(parts, leaves + group, run_of(parts, group * GROUP, s, min(leaves - group * GROUP, GROUP)))
        if groups > 0:
            total = run_of(parts, leaves, s, groups)
        finish(out, init, total, n)

    return reduce


@algorithm
def reduce_into(
    *, d_in: Any, d_out: Any, num_items: int, op: Any, h_init: Any = None, stream: Any = None,
    determinism: Any = Determinism.RUN_TO_RUN, temp_storage: Any = POOL,
) -> Any:  # fmt: skip
    """``d_out[0] = h_init op d_in[0] op d_in[1] ..``

    Parameters
    ----------
    d_in : array or iterator
    d_out : array or iterator
        Its first item is written; with no items and no `h_init` nothing is.
    num_items : int, or array of a device
        Of an array the first element counts, as it is when the reduction runs.
    op : function or OpKind
        Associative, of two values of the type of `h_init` (without one: of the items). It need not be commutative.
    h_init : numpy.ndarray of one element, number of NumPy or struct, optional
    stream
        None, or any object with ``__cuda_stream__``.
    determinism : Determinism
        Whatever it is, the bits of the result depend on the items and their number only.
    temp_storage
        Memory of the caller; None: nothing is done, and the bytes that would be needed are returned.

    Returns
    -------
    int or None
        The bytes, if asked for.

    Notes
    -----
    One pass over the items in one launch; about 1 value of temporary memory for each 8,192 items.
    """
    source, output, op = iterator_of(d_in, "d_in"), iterator_of(d_out, "d_out"), operator_of(op, 2)
    if h_init is None and Determinism(determinism) is Determinism.NOT_GUARANTEED:
        raise ValueError("h_init cannot be None where determinism is NOT_GUARANTEED")
    n, stream = items_in(num_items, "num_items", ("d_in", source)), stream_of(stream)
    checked_count(1, "the number of results", ("d_out", output))
    separate(1, {}, {"d_out": output})
    kind: Any
    kind, init = (source.value_type or output.value_type, 0) if h_init is None else init_of(h_init, "h_init")
    _same_structs(h_init, source, output, kind)
    memory = Memory(temp_storage, stream)
    leaves = max(1, -(-n.most // LEAF))
    groups = -(-leaves // GROUP)
    found = memory.take((numpy.int32, 1 + groups), (kind.dtype, leaves + groups), counters=0 if on_cpu() else 1)
    if found is None:
        return memory.nbytes
    out_cast = (output.value_type or kind).cast
    key = (source.kind, output.kind, op.key, kind, h_init is None, n.kind)
    is_narrow = not on_cpu() and takes_neighbours(op, source.value_type, kind)

    def pieces() -> tuple[Any, ...]:
        in_order = not op.commutative or is_narrow
        return source.load(), output.store(), combining(op), kind, out_cast, in_order, h_init is not None, n.load()

    def library_words(name: str) -> str | None:
        choices = combine_choices(op, kind) if output.value_type == kind and not is_narrow else None
        return choices and words_of(name, n, source, output, **choices, initial=int(h_init is not None))

    given = (source.state, n.state, output.state, init, found[1])
    if on_cpu():
        kernel = kernel_of(_reducing_in_chunks, key, pieces, library_words=lambda: library_words("reduce_cpu"))
        kernel[cores_for(leaves, _CORE), 1, stream](*given)
    else:
        run = 1 if leaves < _FULL else _RUN
        kernel = kernel_of(_reducing, key, pieces, library_words=lambda: library_words("reduce_gpu"))
        kernel[-(-leaves // run), THREADS, stream](*given, found[0], leaves, run)
    return None


def takes_neighbours(op: Operator, items: TypeDescriptor | None, kind: TypeDescriptor) -> bool:
    """Whether a thread of a GPU takes items in their order though it need not: narrow whole numbers, of which whatever
    order gives the same, so that they are read in wide words."""
    is_exact = op.known is not None and items is not None and items.dtype.kind in "iu" and kind.dtype.kind in "iu"
    return is_exact and items.size <= _NARROW  # type: ignore[union-attr]


def _same_structs(h_init: Any, source: Any, output: Any, kind: TypeDescriptor) -> None:
    """Arrays of structs must be of the struct that is computed with."""
    if h_init is None or kind.dtype.names is None:
        return
    for name, it in (("d_in", source), ("d_out", output)):
        if it.kind[0] == "array" and it.value_type.dtype != kind.dtype:
            raise TypeError(
                f"{name} holds items of {it.value_type.dtype}, h_init is a {kind.dtype}; they must be the same"
            )
