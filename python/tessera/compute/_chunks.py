# SPDX-License-Identifier: Apache-2.0
"""Scans and selections on a CPU: one block for each core, of one thread, and the blocks wait for each other.

    n items --> rounds of a chunk for each block, so small that it stays in the cache of a core
    a round --> each block puts the items of its chunk together --> all meet
            --> each block goes through its chunk again, after what comes before it

Items come from memory once, and blocks meet once a round. Where the order of steps does not count (whole numbers), a
chunk is one loop. Where it does, a chunk is tiles as GPUs have them, put together in the same trees as there (see
`_scan.py`, `_lookback.py`), so that floats have the same bits.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy

from ._engine import Count, Memory, cores_for, kernel_of
from .types import TypeDescriptor

__all__ = ["Chosen", "choose_in_chunks", "launch_chunks", "memory_of_chunks", "trees"]

Function = Callable[..., Any]
_CHUNK = 1 << 15  # items of a block in a round, at most
_TILES = 8  # of a chunk, at most
_LEAST = 1 << 13  # items that are worth a core
_WIDTH = 32
_MOST_ITEMS = 1 << 48


def _rounds() -> tuple[Function, Function]:
    """Functions of a kernel: the part of a block in a round; what comes before a part, and before the next round."""

    def chunk_of(start: Any, part: Any, chunk: Any, n: Any) -> Any:
        """Both are seen to be no negative numbers, which arrays would count from their end."""
        first = min(max(min(start + part * chunk, n), 0), _MOST_ITEMS)
        return first, min(max(min(first + chunk, n), 0), _MOST_ITEMS)

    def count_before(totals: Any, side: Any, part: Any, parts: Any, running: Any) -> Any:
        mine = running
        for p in range(parts):
            if p == part:
                mine = running
            running += totals[side + p]
        return mine, running

    return chunk_of, count_before


def _same(init: Any) -> Any:
    return init


def _ending(what: Any) -> Function:
    """The function of a kernel that says the total of no items."""
    finish, none, cast = what.finish, what.none, what.kind.cast

    def end_of_none(outs: Any, part: Any) -> None:
        if finish is not None:
            if part == 0:
                finish(outs, cast(none))

    return end_of_none


def _scanning(what: Any, number: Function) -> Callable[..., None]:
    """Where the order of steps does not count."""
    from ..cuda import blockIdx, cg, gridDim

    load, op, emit, finish, init_of = what.load, what.op, what.emit, what.finish, what.init or _same
    get, put, cast = what.kind.get, what.kind.put, what.kind.cast
    has_init = what.init is not None
    chunk_of, _ = _rounds()
    end_of_none = _ending(what)

    def total_of(ins: Any, first: Any, last: Any) -> Any:
        total = cast(load(ins, first))
        for i in range(first + 1, last):
            total = cast(op(total, cast(load(ins, i))))
        return total

    def scan(ins: Any, count: Any, outs: Any, init: Any, totals: Any, chunk: Any) -> None:
        part, parts, grid = numpy.int64(blockIdx.x), numpy.int64(gridDim.x), cg.this_grid()
        n, side = number(count), numpy.int64(0)
        if n == 0:
            end_of_none(outs, part)
            return
        running = cast(init_of(init)) if has_init else cast(load(ins, 0))
        for start in range(0, n, parts * chunk):
            first, last = chunk_of(start, part, chunk, n)
            if parts > 1:
                if first < last:
                    put(totals, side + part, total_of(ins, first, last))
                grid.sync()
            before, has, mine = running, has_init or start > 0, has_init or start > 0
            if parts > 1:
                for p in range(min(parts, (n - start + (chunk - 1)) // chunk)):
                    if p == part:
                        before, mine = running, has
                    total = get(totals, side + p)
                    running = cast(op(running, total)) if has else total
                    has = True
            side = parts - side
            if first < last:
                if not mine:
                    after = cast(load(ins, first))
                    emit(outs, ins, first, before, after)
                    before = after
                    first += 1
                for i in range(first, last):
                    after = cast(op(before, cast(load(ins, i))))
                    emit(outs, ins, i, before, after)
                    before = after
                if finish is not None:
                    if last == n:
                        finish(outs, before)
                if parts == 1:
                    running = before

    return scan


def trees(kind: TypeDescriptor, op: Function) -> tuple[Function, Function]:
    """Functions of a kernel that put values together in pairs, pairs of pairs, and so on, five times: each 32 values
    become one. The first takes any number of values and leaves them where they are; the second a multiple of 32 that is
    known, and leaves them in ``other``.
    """
    get, put, cast = kind.get, kind.put, kind.cast

    def in_pairs(s: Any, m: Any) -> None:
        for _ in range(5):
            half = m // 2
            for t in range(half):
                put(s, t, cast(op(get(s, 2 * t), get(s, 2 * t + 1))))
            if m > 2 * half:
                put(s, half, get(s, m - 1))
            m -= half

    def halved(s: Any, other: Any, half: Any) -> None:
        for t in range(half):
            put(other, t, cast(op(get(s, 2 * t), get(s, 2 * t + 1))))

    def in_full_pairs(s: Any, other: Any, m: Any) -> None:
        halved(s, other, m // 2)
        halved(other, s, m // 4)
        halved(s, other, m // 8)
        halved(other, s, m // 16)
        halved(s, other, m // 32)

    return in_pairs, in_full_pairs


def _tiles(what: Any, items: int, threads: int, asks_all: bool) -> tuple[Function, Function]:
    """Functions of a kernel: what the items of each thread of a tile give, and all of a full tile; the items of a tile
    after what comes before it."""
    kind, load, op, emit = what.kind, what.load, what.op, what.emit
    get, put, cast = kind.get, kind.put, kind.cast
    _, in_full_pairs = trees(kind, op)
    per_tile = items * threads

    def total_of(ins: Any, first: Any, n: Any, sums: Any, at: Any, s: Any, other: Any) -> Any:
        for t in range((min(first + per_tile, n) - first) // items):
            total = cast(load(ins, first + t * items))
            for j in range(1, items):
                total = cast(op(total, cast(load(ins, first + t * items + j))))
            put(sums, at + t, total)
            put(s, t, total)
        if first + per_tile > n:
            return get(s, 0)  # of the last tile, which nothing comes after
        in_full_pairs(s, other, threads)
        total = get(other, 0)
        for w in range(1, threads // _WIDTH):
            total = cast(op(total, get(other, w)))
        return total

    def step(s: Any, other: Any, d: Any, full: Any) -> None:
        for w in range(0, threads, _WIDTH):
            for lane in range(d):
                put(other, w + lane, get(s, w + lane))
            for lane in range(d, _WIDTH if asks_all else min(full - w, _WIDTH)):
                put(other, w + lane, cast(op(get(s, w + lane - d), get(s, w + lane))))

    def scanned(s: Any, other: Any, full: Any) -> None:
        """Each value after those before it among its 32, from ``s`` into ``other``: of threads that have all items."""
        step(s, other, 1, full)
        step(other, s, 2, full)
        step(s, other, 4, full)
        step(other, s, 8, full)
        step(s, other, 16, full)

    def scan_tile(
        ins: Any, first: Any, n: Any, outs: Any, sums: Any, at: Any, s: Any, other: Any, before: Any, has: Any
    ) -> Any:
        last = min(first + per_tile, n)
        used = (last - first + (items - 1)) // items
        for t in range(threads):
            put(s, t, get(sums, at + min(t, used - 1)))
        scanned(s, other, (last - first) // items)
        of_warp = get(other, 0)
        after = before
        for t in range(used):
            running = before
            if t > 0:
                up = get(other, t - 1)
                if t % _WIDTH == 0:
                    of_warp = up if t == _WIDTH else cast(op(of_warp, up))
                    up = of_warp
                elif t > _WIDTH:
                    up = cast(op(of_warp, up))
                running = cast(op(running, up)) if has else up
            at_item, last_of_before = first + t * items, after
            after = cast(load(ins, at_item))
            if has or t > 0:
                after = cast(op(running, after))
            emit(outs, ins, at_item, last_of_before, after)
            if at_item + items <= last:
                for j in range(1, items):
                    running = after
                    after = cast(op(running, cast(load(ins, at_item + j))))
                    emit(outs, ins, at_item + j, running, after)
            else:
                for i in range(at_item + 1, last):
                    running = after
                    after = cast(op(running, cast(load(ins, i))))
                    emit(outs, ins, i, running, after)
        return after

    return total_of, scan_tile


def _scanning_tiles(
    what: Any, number: Function, items: int, threads: int, asks_all: bool = True
) -> Callable[..., None]:
    """Where the order of steps counts; ``asks_all`` is as in `_scan._scanning`."""
    from ..cuda import blockIdx, cg, gridDim, local

    kind, op, finish, init_of = what.kind, what.op, what.finish, what.init or _same
    dtype, get, put, cast = kind.dtype, kind.get, kind.put, kind.cast
    has_init, load = what.init is not None, what.load
    total_of, scan_tile = _tiles(what, items, threads, asks_all)
    in_pairs, _ = trees(kind, op)
    chunk_of, _ = _rounds()
    end_of_none = _ending(what)
    per_tile = items * threads

    def tree(values: Any, m: Any, s: Any) -> Any:
        for t in range(m):
            put(s, t, get(values, t))
        in_pairs(s, m)
        return get(s, 0)

    def scan(ins: Any, count: Any, outs: Any, init: Any, totals: Any, chunk: Any) -> None:
        part, parts, grid = numpy.int64(blockIdx.x), numpy.int64(gridDim.x), cg.this_grid()
        n = number(count)
        if n == 0:
            end_of_none(outs, part)
            return
        sums, s, other = local.array(_TILES * threads, dtype), local.array(threads, dtype), local.array(threads, dtype)
        tiles, groups = local.array(_WIDTH, dtype), local.array(_WIDTH, dtype)  # those of this group, of this span
        side = numpy.int64(0)
        span, has_span = cast(init_of(init)) if has_init else cast(load(ins, 0)), has_init
        for start in range(0, n, parts * chunk):
            first, last = chunk_of(start, part, chunk, n)
            for at in range(first, last, per_tile):
                mine = (at - first) // per_tile
                put(totals, side + (at - start) // per_tile, total_of(ins, at, n, sums, mine * threads, s, other))
            if parts > 1:
                grid.sync()
            for at in range(start, min(start + parts * chunk, n), per_tile):
                tile = at // per_tile
                n_tiles, n_groups = tile % _WIDTH, tile // _WIDTH % _WIDTH
                if at >= first and at < last:
                    before, has = span, has_span
                    if n_groups > 0:
                        of_groups = tree(groups, n_groups, s)
                        before = cast(op(before, of_groups)) if has else of_groups
                        has = True
                    if n_tiles > 0:
                        of_tiles = tree(tiles, n_tiles, s)
                        before = cast(op(before, of_tiles)) if has else of_tiles
                        has = True
                    after = scan_tile(
                        ins, at, n, outs, sums, (at - first) // per_tile * threads, s, other, before, has
                    )
                    if finish is not None:
                        if at + per_tile >= n:
                            finish(outs, after)
                total = get(totals, side + (at - start) // per_tile)
                if n_tiles < _WIDTH - 1:
                    put(tiles, n_tiles, total)
                else:
                    of_group = cast(op(tree(tiles, _WIDTH - 1, s), total))
                    if n_groups < _WIDTH - 1:
                        put(groups, n_groups, of_group)
                    else:
                        of_span = cast(op(tree(groups, _WIDTH - 1, s), of_group))
                        span = cast(op(span, of_span)) if has_span else of_span
                        has_span = True
            side = parts * (chunk // per_tile) - side

    return scan


def memory_of_chunks(kind: TypeDescriptor, n: int) -> tuple[Any, int]:
    """What `launch_chunks` takes of temporary memory: totals of tiles, of this round and of the one before."""
    return kind.dtype, 2 * _TILES * cores_for(n, _LEAST)


def launch_chunks(
    make: Callable[[], Any], key: Any, n: Count, tile: tuple[int, int] | None, waits: bool, asks_all: bool,
    stream: Any, given: tuple[Any, ...], ready: Callable[[], str | None] | None = None,
) -> None:  # fmt: skip
    """`launch_scan` on a CPU.

    Parameters
    ----------
    tile
        The items of a thread and the threads of a tile; None: the order of steps does not count.
    waits : bool
        Whether blocks may wait for each other.
    asks_all : bool
        Whether the operator may be asked of what stands for items that are not there.
    given
        The arguments of the kernel, but for the last one.
    """
    per_tile = 1 if tile is None else tile[0] * tile[1]
    parts = cores_for(n.most, max(_LEAST, per_tile)) if waits else 1
    most = min(_CHUNK if tile is None else _TILES, max(1, _CHUNK // per_tile))
    chunk = per_tile * min(most, max(1, -(-n.most // (parts * per_tile))))
    if tile is None:
        kernel = kernel_of(_scanning, key, lambda: (make(), n.load()), ready=ready)
    else:
        kernel = kernel_of(_scanning_tiles, key, lambda: (make(), n.load(), *tile, asks_all), ready=ready)
    kernel[parts, 1, stream](*given, chunk)


class Chosen(NamedTuple):
    """What is chosen: functions of a kernel."""

    flag: Function  # flag(ins, i): whether item i is
    put: Function  # put(outs, ins, to, i): item i is the chosen one number ``to``
    put_rest: Function | None  # the same for the others
    finish: Function  # finish(outs, number)


def _bits_of_bytes() -> tuple[Any, Any]:
    """Of each byte the places of its bits, and then anything, as eight bytes; and how many bits it has."""
    bits = numpy.unpackbits(numpy.arange(256, dtype=numpy.uint8)[:, None], axis=1, bitorder="little")
    return numpy.argsort(1 - bits, axis=1, kind="stable").astype(numpy.uint8).reshape(-1), bits.sum(1, numpy.uint8)


def _places(flag: Function) -> tuple[Function, Function]:
    """Functions of a kernel: which of up to 64 items are chosen, a bit for each; writes the places of bits, from
    ``base`` on, to ``here[k]`` and after, and says where they end. Eight numbers more than that may be written."""
    places, counts = _bits_of_bytes()

    def word_of(ins: Any, first: Any, last: Any) -> Any:
        word = numpy.uint64(0)
        if first + 64 <= last:
            for j in range(64):
                word |= numpy.uint64(1 if flag(ins, first + j) else 0) << numpy.uint64(j)
        else:
            for j in range(last - first):
                word |= numpy.uint64(1 if flag(ins, first + j) else 0) << numpy.uint64(j)
        return word

    def put_places(word: Any, base: Any, here: Any, k: Any) -> Any:
        for q in (0, 1, 2, 3, 4, 5, 6, 7):
            byte = numpy.uint32(word >> numpy.uint64(8 * q)) & numpy.uint32(255)
            found = tuple(places[numpy.uint32(8) * byte + numpy.uint32(j)] for j in (0, 1, 2, 3, 4, 5, 6, 7))
            to = min(max(k, 0), _MOST_ITEMS)  # as `chunk_of` says; and so that LLVM sees eight neighbours
            for j in (0, 1, 2, 3, 4, 5, 6, 7):
                here[to + j] = numpy.uint16(base + numpy.uint16(8 * q) + found[j])
            k += counts[byte]
        return k

    return word_of, put_places


def _choosing(what: Chosen, number: Function) -> Callable[..., None]:
    from ..cuda import blockIdx, cg, gridDim

    flag, put, put_rest, finish = what
    chunk_of, count_before = _rounds()
    word_of, put_places = _places(flag)

    def choose(ins: Any, count: Any, outs: Any, totals: Any, here: Any, there: Any, chunk: Any) -> None:
        part, parts, grid = numpy.int64(blockIdx.x), numpy.int64(gridDim.x), cg.this_grid()
        mine, side, running = min(max(part * (chunk + 64), 0), _MOST_ITEMS), numpy.int64(0), numpy.int64(0)
        n = number(count)
        for start in range(0, n, parts * chunk):
            first, last = chunk_of(start, part, chunk, n)
            k = mine
            r = mine
            for at in range(first, last, 64):
                word, base = word_of(ins, at, last), numpy.uint16(at - first)
                k = put_places(word, base, here, k)
                if put_rest is not None:
                    r = put_places(~word, base, there, r)
            k -= mine
            totals[side + part] = k
            if parts > 1:
                grid.sync()
            before, running = count_before(totals, side, part, parts, running)
            side = parts - side
            before = min(max(before, 0), first)
            if k == last - first:
                for j in range(numpy.int32(k)):
                    put(outs, ins, before + j, first + j)
            else:
                for j in range(numpy.int32(k)):
                    put(outs, ins, before + j, first + here[mine + j])
                if put_rest is not None:
                    for j in range(numpy.int32(last - first - k)):
                        put_rest(outs, ins, first - before + j, first + there[mine + j])
        if part == 0:
            finish(outs, running)

    return choose


def choose_in_chunks(
    make: Callable[[], Chosen], key: Any, n: Count, ins: Any, outs: Any, memory: Memory, has_rest: bool,
    ready: Callable[[], str | None] | None = None,
) -> int | None:  # fmt: skip
    """`run_choice` of one class on a CPU."""
    parts = cores_for(n.most, _LEAST)
    chunk = 64 * min(_CHUNK // 64, max(1, -(-n.most // (64 * parts))))
    room = parts * (chunk + 64)
    found = memory.take(
        (numpy.int64, 2 * parts), (numpy.uint16, room), (numpy.uint16, room if has_rest else parts), counters=0
    )
    if found is None:
        return memory.nbytes
    kernel = kernel_of(_choosing, key, lambda: (make(), n.load()), ready=ready)
    kernel[parts, 1, memory.stream](ins, n.state, outs, *found, chunk)
    return None
