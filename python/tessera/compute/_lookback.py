# SPDX-License-Identifier: Apache-2.0
"""What comes before a tile of a scan, while other tiles are under way: decoupled look-back in a fixed order.

    tiles    0 1 .. 31 | 32 .. 63 | ..      each publishes the total of its items
    groups   of 32 tiles                    the last tile of a group publishes the total of the group
    spans    of 32 groups                   the last tile of a span publishes all that comes before the next span

    before tile i = span op (groups of its span before its own) op (tiles of its group before it)

Each of the two brackets is put together as a tree whose shape depends on i only, so the bits of a scan of floats are
the same each time, where look-back as published (Merrill and Garland, "Single-pass parallel prefix scan with decoupled
look-back", 2016) adds what it happens to find. A span is 1,024 tiles, so only that many tiles apart does one wait for
another's sum to be carried on. Tiles are numbered by a counter in the order in which blocks start, so what a tile waits
for is under way.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy

from .types import TypeDescriptor

__all__ = ["Counts", "before_tile", "ended", "memory_of", "next_tile"]

_WIDTH = 32
_START, _END = 0, 1  # counters: blocks that have begun, blocks that have ended; then words of tiles, groups, spans
_COUNTERS = 2


class Counts(TypeDescriptor):
    """The type of numbers of items: whole, not less than 0, and less than 2**62."""

    def __init__(self) -> None:
        super().__init__(numpy.int64)


def memory_of(kind: TypeDescriptor, tiles: int) -> tuple[tuple[Any, int], tuple[Any, int]]:
    """The temporary memory of a scan, for `Memory.take`: counters and words, and the published values."""
    n = tiles + -(-tiles // _WIDTH) + -(-tiles // _WIDTH**2) + 1
    if _words(kind) is not None:
        return (numpy.int64, n + _COUNTERS), (numpy.int8, 1)
    return (numpy.int32, n + _COUNTERS), (kind.dtype, n)


def _words(kind: TypeDescriptor) -> tuple[Callable[..., Any], Callable[..., Any]] | None:
    """The functions of a kernel that make one word of a value, not 0, and the value of a word; None: it is too great,
    and what is published is a flag beside the value."""
    from ..cuda._device import reinterpreted

    if isinstance(kind, Counts):
        return lambda value: 2 * value + 1, lambda word: word >> 1
    if kind.size != 4 or kind.dtype.kind not in "iuf":
        return None
    dtype = kind.dtype.type

    def word_of(value: Any) -> Any:
        return numpy.int64(reinterpreted(value, numpy.uint32)) + (1 << 32)

    def value_of(word: Any) -> Any:
        return reinterpreted(numpy.uint32(word), dtype)

    return word_of, value_of


def next_tile() -> Callable[..., Any]:
    """The function of a kernel that gives a block the number of its tile; ``s`` is a shared array of one int32."""
    from ..cuda import atomic, syncthreads, threadIdx

    def ticket(flags: Any, s: Any) -> Any:
        if threadIdx.x == 0:
            s[0] = atomic.add(flags, _START, 1)
        syncthreads()
        return numpy.int64(numpy.uint32(s[0]))  # so the compiler knows that no index is negative

    return ticket


def ended() -> Callable[..., Any]:
    """The function of a kernel that the block calls last: the last of all makes counters and flags zero again."""
    from ..cuda import atomic, blockDim, syncthreads, threadIdx

    def end(flags: Any, tiles: Any, s: Any) -> None:
        syncthreads()
        if threadIdx.x == 0:
            s[0] = atomic.add(flags, _END, 1) == tiles - 1
        syncthreads()
        if s[0] != 0:
            for i in range(threadIdx.x, flags.shape[0], blockDim.x):
                flags[i] = 0

    return end


def before_tile(kind: TypeDescriptor, op: Callable[..., Any], has_init: bool, waits: bool) -> Callable[..., Any]:
    """The function of a kernel that publishes the total of a tile and gives what comes before it, to all threads;
    something, for the first tile without an initial value.

    It takes ``tile, tiles, total, init, flags, values``. All threads call it, 96 or more. With ``waits=False`` one
    block takes all tiles, in their order, so that nothing is waited for.
    """
    from ..coop._values import shared_like
    from ..coop._warp_scan import reduce_lanes
    from ..cuda import syncthreads, threadIdx

    cast, (publish, awaited) = kind.cast, _talking(kind, waits)

    def before(tile: Any, tiles: Any, total: Any, init: Any, flags: Any, values: Any) -> Any:
        t = threadIdx.x
        group, span = tile // _WIDTH, tile // _WIDTH**2
        n_tiles, n_groups = tile % _WIDTH, group % _WIDTH
        groups = tiles
        spans = groups + (tiles + (_WIDTH - 1)) // _WIDTH
        found = shared_like(4, total)
        if t == 0:
            publish(flags, values, tile, total)
        if t < 2 * _WIDTH:
            part, lane = total, t % _WIDTH
            if t < n_tiles:
                part = awaited(flags, values, tile - n_tiles + t)
            elif t >= _WIDTH and lane < n_groups:
                part = awaited(flags, values, groups + group - n_groups + lane)
            part = reduce_lanes(part, op, _WIDTH, n_tiles if t < _WIDTH else n_groups)
            if lane == 0:
                found[t // _WIDTH] = part
        elif t == 2 * _WIDTH and span > 0:
            found[3] = awaited(flags, values, spans + span)
        syncthreads()
        if t == 0:
            here, has = total, has_init or span > 0
            if span > 0:
                here = found[3]
            elif has_init:
                here = cast(init)
            if n_tiles == _WIDTH - 1:
                of_group = cast(op(found[0], total))
                publish(flags, values, groups + group, of_group)
                if n_groups == _WIDTH - 1:
                    of_span = cast(op(found[1], of_group))
                    publish(flags, values, spans + span + 1, cast(op(here, of_span)) if has else of_span)
            if n_groups > 0:
                here = cast(op(here, found[1])) if has else found[1]
            if n_tiles > 0:
                here = cast(op(here, found[0])) if has or n_groups > 0 else found[0]
            found[2] = here
        syncthreads()
        return found[2]

    return before


def _talking(kind: TypeDescriptor, waits: bool) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """The functions of a kernel that publish a value, and wait for one. A value that fits goes with its flag in one
    word: then nothing has to be written before another thing, and it is there with one read."""
    from ..cuda import atomic, ldcv, threadfence

    get, put, words = kind.get, kind.put, _words(kind)
    if words is not None:
        word_of, value_of = words

    def publish_word(flags: Any, values: Any, at: Any, value: Any) -> None:
        atomic.exch(flags, _COUNTERS + at, word_of(value))

    def awaited_word(flags: Any, values: Any, at: Any) -> Any:
        word = ldcv(flags, _COUNTERS + at)
        while waits and word == 0:
            word = ldcv(flags, _COUNTERS + at)
        return value_of(word)

    def publish(flags: Any, values: Any, at: Any, value: Any) -> None:
        put(values, at, value)
        if waits:
            threadfence()
            atomic.exch(flags, _COUNTERS + at, 1)

    def awaited(flags: Any, values: Any, at: Any) -> Any:
        if waits:
            while ldcv(flags, _COUNTERS + at) == 0:
                pass
            threadfence()
        return get(values, at)

    return (publish, awaited) if words is None else (publish_word, awaited_word)
