# SPDX-License-Identifier: Apache-2.0
"""Reductions of many parts of a sequence, each by itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numpy import int64

from ._engine import POOL, THREADS, algorithm, checked_count, init_of, kernel_of, stream_of
from .iterators import iterator_of
from .op import operator_of
from .types import TypeDescriptor

__all__ = ["segmented_reduce"]

Function = Callable[..., Any]


def _by_blocks(
    load: Function,
    start: Function,
    end: Function,
    store: Function,
    op: Function,
    kind: TypeDescriptor,
    cast_out: Function,
) -> Callable[..., None]:
    from ..coop import block
    from ..cuda import blockIdx, threadIdx

    cast = kind.cast

    def reduce(src: Any, starts: Any, ends: Any, out: Any, init: Any) -> None:
        t = threadIdx.x
        first, last = int64(start(starts, blockIdx.x)), int64(end(ends, blockIdx.x))
        n = max(last - first, 0)
        run = (n + (THREADS - 1)) // THREADS
        at = first + t * run
        whole = cast(init)
        if t * run < n:
            total = cast(load(src, at))
            for i in range(at + 1, min(at + run, last)):
                total = cast(op(total, cast(load(src, i))))
            whole = total
        whole = block.reduce(whole, op, threads=THREADS, num_valid=(n + run - 1) // max(run, 1))
        if t == 0:
            total = cast(init)
            if n > 0:
                total = cast(op(total, whole))
            store(out, blockIdx.x, cast_out(total))

    return reduce


def _by_threads(
    load: Function,
    start: Function,
    end: Function,
    store: Function,
    op: Function,
    kind: TypeDescriptor,
    cast_out: Function,
) -> Callable[..., None]:
    from ..cuda import grid

    cast = kind.cast

    def reduce(src: Any, starts: Any, ends: Any, out: Any, init: Any, segments: Any) -> None:
        t = grid(1)
        if t < segments:
            total = cast(init)
            for i in range(int64(start(starts, t)), int64(end(ends, t))):
                total = cast(op(total, cast(load(src, i))))
            store(out, t, cast_out(total))

    return reduce


@algorithm
def segmented_reduce(
    *, d_in: Any, d_out: Any, num_segments: int, start_offsets_in: Any, end_offsets_in: Any, op: Any, h_init: Any,
    max_segment_size: int | None = None, stream: Any = None, temp_storage: Any = POOL,
) -> Any:  # fmt: skip
    """``d_out[s] = h_init op d_in[start[s]] op .. op d_in[end[s] - 1]`` for each part s.

    Parameters
    ----------
    d_in, d_out : array or iterator
    num_segments : int
    start_offsets_in, end_offsets_in : array or iterator
        Where a part begins, and before which item it ends. Parts may overlap and leave gaps; an empty one gives
        `h_init`.
    op : function or OpKind
        Associative, of two values of the type of `h_init`; it need not be commutative.
    h_init : numpy.ndarray of one element, number of NumPy or struct
    max_segment_size : int, optional
        A hint: no part is longer. Short ones are then put together by one thread each.
    stream, temp_storage
        As for `reduce_into`; no temporary memory is needed.
    """
    source, output, op = iterator_of(d_in, "d_in"), iterator_of(d_out, "d_out"), operator_of(op, 2)
    starts, ends = iterator_of(start_offsets_in, "start_offsets_in"), iterator_of(end_offsets_in, "end_offsets_in")
    if num_segments > 2**31 - 1:
        raise RuntimeError(f"{num_segments} segments are more than the 2147483647 that are possible")
    segments = checked_count(
        num_segments, "num_segments", ("start_offsets_in", starts), ("end_offsets_in", ends), ("d_out", output)
    )
    kind, init = init_of(h_init, "h_init")
    stream = stream_of(stream)
    if temp_storage is None:
        return 1
    if not segments:
        return None
    short = max_segment_size is not None and max_segment_size <= 64
    key = (source.kind, starts.kind, ends.kind, output.kind, op.key, kind)
    cast_out = (output.value_type or kind).cast

    def parts() -> tuple[Any, ...]:
        return source.load(), starts.load(), ends.load(), output.store(), op.function, kind, cast_out

    kernel = kernel_of(_by_threads if short else _by_blocks, key, parts)
    given = (source.state, starts.state, ends.state, output.state, init)
    if short:
        kernel[-(-segments // THREADS), THREADS, stream](*given, segments)
    else:
        kernel[segments, THREADS, stream](*given)
    return None
