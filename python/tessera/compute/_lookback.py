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

A value is published as words of 64 bits: 32 bits of it, and a 1 above them which says that they are there. So no fence
stands between a value and a flag, and a wait is as long as one load takes. Each word that is published is awaited by a
tile of one span; the tile of that span that ends last makes them zero again for the next launch.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy

from .types import TypeDescriptor

__all__ = ["before_tile", "clearing", "ended", "in_words", "memory_of", "next_tile", "words_in"]

_WIDTH = 32
_SPAN = _WIDTH * _WIDTH
_TICKET = 0  # words: tiles that have begun; for each span, tiles that have ended; then those of tiles, groups, spans
_THERE = 1 << 32


def words_in(dtype: numpy.dtype[Any]) -> int:
    """The words that a value is published as: each number of it by itself."""
    if dtype.names is not None:
        return sum(words_in(dtype[name]) for name in dtype.names)
    return -(-dtype.itemsize // 4)


def memory_of(kind: TypeDescriptor, tiles: int) -> tuple[Any, int]:
    """The temporary memory of a scan, for `Memory.take`."""
    spans = -(-tiles // _SPAN)
    return numpy.int64, 1 + spans + (tiles + -(-tiles // _WIDTH) + spans) * words_in(kind.dtype)


def _places(tiles: Any) -> Any:
    """Where the words of tiles, groups and spans begin, in values after those that count; and how many spans there
    are. In kernels."""
    groups = tiles
    spans = groups + (tiles + (_WIDTH - 1)) // _WIDTH
    return groups, spans, (tiles + (_SPAN - 1)) // _SPAN


def next_tile() -> Callable[..., Any]:
    """The function of a kernel that gives a block the number of its tile, and takes how many blocks there are."""
    from ..cuda import atomic, shared, syncthreads, threadIdx

    def ticket(words: Any, blocks: Any) -> Any:
        s = shared.array(1, numpy.int64)
        if threadIdx.x == 0:
            s[0] = atomic.add(words, _TICKET, 1)
            if s[0] == blocks - 1:
                words[_TICKET] = 0
        syncthreads()
        return s[0]

    return ticket


def ended(kind: TypeDescriptor) -> Callable[..., Any]:
    """The function of a kernel that the block calls once it knows what comes before its tile: the last one of a span
    makes what was published for it zero again."""
    from ..cuda import atomic, shfl_sync, threadIdx

    pieces = words_in(kind.dtype)

    def clear(words: Any, first: Any, n: Any) -> None:
        i = numpy.int64(threadIdx.x)
        while i < n * pieces:  # seldom called, and small: a `for` would be unrolled
            words[first * pieces + i] = 0
            i += _WIDTH

    def end(words: Any, tile: Any, tiles: Any) -> None:
        if threadIdx.x < _WIDTH:
            groups, spans, n_spans = _places(tiles)
            span, done = tile // _SPAN, tile * 0
            here = min(tiles - span * _SPAN, _SPAN)
            if threadIdx.x == 0:
                done = atomic.add(words, 1 + span, 1) + 1
            done = shfl_sync(0xFFFFFFFF, done, 0)
            if done == here:
                values = words[1 + n_spans :]
                clear(values, span * _SPAN, here)
                clear(values, groups + span * _WIDTH, (here + (_WIDTH - 1)) // _WIDTH)
                clear(values, spans + span, 1)
                if threadIdx.x == 0:
                    words[1 + span] = 0

    return end


def clearing() -> Callable[..., Any]:
    """The function of a kernel of one block that makes all words zero."""
    from ..cuda import blockDim, threadIdx

    def clear(words: Any) -> None:
        for i in range(threadIdx.x, words.shape[0], blockDim.x):
            words[i] = 0

    return clear


def in_pieces() -> tuple[Callable[..., Any], Callable[..., Any]]:
    """Functions of a kernel: one gives a value as pieces of 32 bits, one the value, like another, that such are of."""
    from ..cuda._device import parts, reinterpreted, whole

    bits_of = {1: numpy.uint8, 2: numpy.uint16, 4: numpy.uint32, 8: numpy.uint64}

    def cut(x: Any) -> Any:
        """A number as pieces of 32 bits."""
        if x.dtype.kind == "c":
            return cut(x.real) + cut(x.imag)
        if x.dtype.kind == "b":
            return (numpy.uint32(x),)
        size = x.dtype.itemsize
        bits = reinterpreted(x, bits_of[size])
        if size == 8:
            return numpy.uint32(bits), numpy.uint32(bits >> numpy.uint64(32))
        return (numpy.uint32(bits),)

    def joined(like: Any, some: Any) -> Any:
        """The number that such pieces are of."""
        if like.dtype.kind == "c":
            half = len(some) // 2
            return like.dtype(joined(like.real, some[:half]) + joined(like.imag, some[half:]) * 1j)
        if like.dtype.kind == "b":
            return some[0] != 0
        size = like.dtype.itemsize
        if size == 8:
            return reinterpreted(numpy.uint64(some[0]) | numpy.uint64(some[1]) << numpy.uint64(32), like.dtype)
        return reinterpreted(bits_of[size](some[0]), like.dtype)

    def pieces_of(value: Any) -> Any:
        pieces: Any = ()
        for number in parts(value):
            pieces += cut(number)
        return pieces

    def value_of(like: Any, found: Any) -> Any:
        numbers: Any = ()
        k = 0
        for number in parts(like):
            m = len(cut(number))
            numbers += (joined(number, tuple(numpy.uint32(word) for word in found[k : k + m])),)
            k += m
        return whole(like, numbers)

    return pieces_of, value_of


def in_words(kind: TypeDescriptor) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """``get(words, i, like)`` and ``put(words, i, value)`` of a kernel: value i of a type, of which ``like`` is one, in
    an array of uint32. An array of structs would say what these are to one process only."""
    pieces_of, value_of = in_pieces()
    cast, n = kind.cast, words_in(kind.dtype)

    def get(words: Any, i: Any, like: Any) -> Any:
        return value_of(cast(like), tuple(words[i * n + k] for k in range(n)))

    def put(words: Any, i: Any, value: Any) -> None:
        pieces = pieces_of(cast(value))
        for k in tuple(range(n)):
            words[i * n + k] = pieces[k]

    return get, put


def _published(waits: bool) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """Functions of a kernel: one publishes a value at a place, one waits for that of a place."""
    from ..cuda import atomic, ldcv

    pieces_of, value_of = in_pieces()

    def publish(values: Any, at: Any, value: Any) -> None:
        pieces = pieces_of(value)
        for k in tuple(range(len(pieces))):
            atomic.exch(values, at * len(pieces) + k, numpy.int64(pieces[k]) | _THERE)

    def read(values: Any, at: Any, n: Any) -> Any:
        return tuple(ldcv(values, at * n + k) for k in range(n))

    def awaited(values: Any, at: Any, like: Any) -> Any:
        n = len(pieces_of(like))
        found = tuple(numpy.int64(0) for _ in range(n)) if waits else read(values, at, n)
        while waits and missing(found):
            found = read(values, at, n)
        return value_of(like, found)

    def missing(found: Any) -> Any:
        there = found[0]
        for word in found[1:]:
            there &= word
        return there < _THERE

    return publish, awaited


def before_tile(kind: TypeDescriptor, op: Callable[..., Any], has_init: bool, waits: bool) -> Callable[..., Any]:
    """The function of a kernel that publishes the total of a tile and gives what comes before it, to all threads;
    something, for the first tile without an initial value.

    It takes ``tile, tiles, total, init, words``. All threads call it, 64 or more. With ``waits=False`` one block takes
    all tiles, in their order, so that nothing is waited for.
    """
    from ..coop._values import shared_like
    from ..coop._warp_scan import reduce_lanes
    from ..cuda import syncthreads, threadIdx

    cast = kind.cast
    publish, awaited = _published(waits)

    def publish_tile(values: Any, tile: Any, total: Any, tiles: Any) -> None:
        if tile % _WIDTH < _WIDTH - 1 and tile != tiles - 1:  # or else there is none that it comes before
            publish(values, tile, total)

    def publish_group(values: Any, tile: Any, before: Any, total: Any, tiles: Any) -> None:
        if tile % _WIDTH == _WIDTH - 1 and tile % _SPAN != _SPAN - 1 and tile != tiles - 1:
            publish(values, tiles + tile // _WIDTH, cast(op(before, total)))

    def by_lanes(values: Any, tile: Any, tiles: Any, total: Any) -> Any:
        """What the tiles of the group before this one have, what the groups of the span have, and what comes before the
        span."""
        t, found, part, lane = threadIdx.x, shared_like(3, total), total, threadIdx.x % _WIDTH
        if t < 2 * _WIDTH:  # one warp for the tiles, one for the groups, whose last lane asks what is before the span
            if t == 0:
                publish_tile(values, tile, total, tiles)
            groups, spans, _ = _places(tiles)
            of_tiles = t < _WIDTH
            n = numpy.int32(tile if of_tiles else tile // _WIDTH) % _WIDTH
            at = (tile if of_tiles else groups + tile // _WIDTH) - n + lane
            is_there = lane < n
            if t == 2 * _WIDTH - 1 and tile >= _SPAN:
                at, is_there = spans + tile // _SPAN, True
            if is_there:
                part = awaited(values, at, total)
            if t == 2 * _WIDTH - 1:
                found[2] = part
            part = reduce_lanes(part, op, _WIDTH, n)
            if lane == 0:
                found[t // _WIDTH] = part
            if t == 0:
                publish_group(values, tile, part, total, tiles)
        syncthreads()
        return found

    def before(tile: Any, tiles: Any, total: Any, init: Any, words: Any) -> Any:
        span, has_tiles, has_groups = tile // _SPAN, tile % _WIDTH > 0, tile // _WIDTH % _WIDTH > 0
        _, spans, n_spans = _places(tiles)
        values = words[1 + n_spans :]
        found = by_lanes(values, tile, tiles, total)
        here, has = total, has_init or span > 0
        if span > 0:
            here = found[2]
        elif has_init:
            here = cast(init)
        if threadIdx.x == 0 and tile % _SPAN == _SPAN - 1 and tile != tiles - 1:
            of_span = cast(op(found[1], cast(op(found[0], total))))
            publish(values, spans + span + 1, cast(op(here, of_span)) if has else of_span)
        if has_groups:
            here = cast(op(here, found[1])) if has else found[1]
        if has_tiles:
            here = cast(op(here, found[0])) if has or has_groups else found[0]
        return here

    return before
