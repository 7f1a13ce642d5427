# SPDX-License-Identifier: Apache-2.0
"""Scans and selections on a CPU: one block for each core, of one thread, and the blocks wait for each other.

    n items --> rounds of a chunk for each block, so small that it stays in the cache of a core
    a round --> each block puts the items of its chunk together --> all meet
            --> each block goes through its chunk again, after what comes before it

A selection puts the places of what is chosen aside, eight of a table at once, and then goes through these.

Items come from memory once, and blocks meet once a round. Where the order of steps does not count (whole numbers), a
chunk is one loop. Where it does, a chunk is tiles as GPUs have them, put together in the same trees as there (see
`_scan.py`, `_lookback.py`), so that floats have the same bits.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy

from ._arguments import Count
from ._engine import Memory, cores_for, kernel_of
from .types import TypeDescriptor

__all__ = ["Chosen", "choose_in_chunks", "launch_chunks", "memory_of_chunks", "trees"]

Function = Callable[..., Any]
_CHUNK = 1 << 15  # items of a block in a round, at most
_TILES = 8  # of a chunk, at most
_LEAST = 1 << 13  # items that are worth a core
_WIDTH = 32
_AT_ONCE = 2  # threads of a tile whose items are put together side by side; of four LLVM makes slow vectors
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
    become one. The first takes any number of values and leaves them where they are; the second a multiple of 32, and
    leaves them in ``other``.
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
    per_tile, some = items * threads, tuple(range(_AT_ONCE if kind.dtype.names is None else 1))

    def totals_of(ins: Any, first: Any) -> Any:
        """Of a few threads at once: what one waits for, the others do not."""
        totals = tuple(cast(load(ins, first + q * items)) for q in some)
        for j in range(1, items):
            totals = tuple(cast(op(totals[q], cast(load(ins, first + q * items + j)))) for q in some)
        return totals

    def total_of(ins: Any, first: Any, n: Any, sums: Any, at: Any, s: Any, other: Any) -> Any:
        full = (min(first + per_tile, n) - first) // items
        for t in range(0, full - len(some) + 1, len(some)):
            totals = totals_of(ins, first + t * items)
            for q in some:
                put(sums, at + t + q, totals[q])
                put(s, t + q, totals[q])
        for t in range(full // len(some) * len(some), full):
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
        for t in range(used):  # what comes before a thread, instead of its total
            running = before
            if t > 0:
                up = get(other, t - 1)
                if t % _WIDTH == 0:
                    of_warp = up if t == _WIDTH else cast(op(of_warp, up))
                    up = of_warp
                elif t > _WIDTH:
                    up = cast(op(of_warp, up))
                running = cast(op(running, up)) if has else up
            put(s, t, running)
        after, t, full = before, numpy.int64(0), (last - first) // items
        if full > 0:
            after = scan_one(ins, first, first + items, outs, before, before, has)
            t += 1
        while t + len(some) <= full:
            after = scan_some(ins, first + t * items, outs, s, t, after)
            t += len(some)
        while t < used:
            at_item = first + t * items
            after = scan_one(ins, at_item, min(at_item + items, last), outs, get(s, t), after, has or t > 0)
            t += 1
        return after

    def scan_one(ins: Any, at: Any, end: Any, outs: Any, running: Any, last_of_before: Any, has: Any) -> Any:
        after = cast(load(ins, at))
        if has:
            after = cast(op(running, after))
        emit(outs, ins, at, last_of_before, after)
        for i in range(at + 1, end):
            running = after
            after = cast(op(running, cast(load(ins, i))))
            emit(outs, ins, i, running, after)
        return after

    def scan_some(ins: Any, at: Any, outs: Any, s: Any, t: Any, last_of_before: Any) -> Any:
        """The items of a few threads at once, which all have something before them."""
        firsts = tuple(cast(op(get(s, t + q), cast(load(ins, at + q * items)))) for q in some)
        afters = firsts
        for j in range(1, items):
            befores = afters
            afters = tuple(cast(op(befores[q], cast(load(ins, at + q * items + j)))) for q in some)
            for q in some:
                emit(outs, ins, at + q * items + j, befores[q], afters[q])
        for q in some:
            emit(outs, ins, at + q * items, last_of_before if q == 0 else afters[q - 1], firsts[q])
        return afters[-1]

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
    stream: Any, given: tuple[Any, ...], library_words: Callable[[], str | None] | None = None,
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
        kernel = kernel_of(_scanning, key, lambda: (make(), n.load()), library_words=library_words)
    else:
        kernel = kernel_of(
            _scanning_tiles, key, lambda: (make(), n.load(), *tile, asks_all), library_words=library_words
        )
    kernel[parts, 1, stream](*given, chunk)


class Chosen(NamedTuple):
    """What is chosen: functions of a kernel."""

    load: Function  # load(ins, i): item i
    flag: Function  # flag(ins, i, item): whether it is
    put: Function  # put(outs, ins, to, i, item): it is the chosen one number ``to``
    put_rest: Function | None  # the same for the others
    finish: Function  # finish(outs, number)


def _bits_of_bytes() -> tuple[Any, Any]:
    """Of each byte the places of its bits, and then anything, as eight bytes; and how many bits it has."""
    bits = numpy.unpackbits(numpy.arange(256, dtype=numpy.uint8)[:, None], axis=1, bitorder="little")
    return numpy.argsort(1 - bits, axis=1, kind="stable").astype(numpy.uint8).reshape(-1), bits.sum(1, numpy.uint8)


_EACH = (0, 1, 2, 3, 4, 5, 6, 7)
_GATHER = 0x0102040810204080  # times eight bytes of 0 or 1: these are the bits of the highest byte


def _places(load: Function, flag: Function) -> tuple[Function, Function]:
    """Functions of a kernel: which of up to 64 items are chosen, a byte for each; writes the places of those among
    eight of them, from ``base`` on, to ``here[k]`` and after, and says where they end. Eight numbers more than that may
    be written."""
    places, counts = _bits_of_bytes()

    def look(ins: Any, first: Any, last: Any, flags: Any) -> None:
        if first + 64 <= last:
            for j in range(64):
                flags[j] = 1 if flag(ins, first + j, load(ins, first + j)) else 0
        else:
            for j in range(64):
                flags[j] = 0
            for j in range(last - first):
                flags[j] = 1 if flag(ins, first + j, load(ins, first + j)) else 0

    def put_places(byte: Any, base: Any, here: Any, k: Any) -> Any:
        found = tuple(places[numpy.uint32(8) * byte + numpy.uint32(j)] for j in _EACH)
        for j in _EACH:
            here[k + numpy.uint64(j)] = numpy.uint16(base + found[j])
        return k + numpy.uint64(counts[byte])

    return look, put_places


def _choosing(what: Chosen, number: Function) -> Callable[..., None]:
    from ..cuda import blockIdx, cg, gridDim, local

    load, flag, put, put_rest, finish = what
    chunk_of, count_before = _rounds()
    look, put_places = _places(load, flag)

    def move(outs: Any, ins: Any, to: Any, first: Any, here: Any, at: Any, k: Any) -> None:
        """Those of k places to neighbouring ones; eight at once where they are neighbours, too. Without a sign: what
        may be negative would be asked whether it is."""
        at, to, first = numpy.uint64(at), numpy.uint64(to), numpy.uint64(first)
        end, whole = at + numpy.uint64(k), numpy.uint64(k) // numpy.uint64(8)
        for _ in range(whole):
            i = first + numpy.uint64(here[at])
            if here[at + numpy.uint64(7)] == here[at] + 7:
                items = tuple(load(ins, i + numpy.uint64(e)) for e in _EACH)
                for e in _EACH:
                    put(outs, ins, to + numpy.uint64(e), i + numpy.uint64(e), items[e])
            else:
                for e in _EACH:
                    i = first + numpy.uint64(here[at + numpy.uint64(e)])
                    put(outs, ins, to + numpy.uint64(e), i, load(ins, i))
            at += numpy.uint64(8)
            to += numpy.uint64(8)
        while at < end:
            i = first + numpy.uint64(here[at])
            put(outs, ins, to, i, load(ins, i))
            at += numpy.uint64(1)
            to += numpy.uint64(1)

    def choose(ins: Any, count: Any, outs: Any, totals: Any, here: Any, there: Any, chunk: Any) -> None:
        part, parts, grid = numpy.int64(blockIdx.x), numpy.int64(gridDim.x), cg.this_grid()
        mine, side, running = min(max(part * (chunk + 64), 0), _MOST_ITEMS), numpy.int64(0), numpy.int64(0)
        n, flags = number(count), local.array(64, numpy.uint8)
        eights = flags.view(numpy.uint64)
        for start in range(0, n, parts * chunk):
            first, last = chunk_of(start, part, chunk, n)
            k = numpy.uint64(mine)
            r = numpy.uint64(mine)
            for at in range(first, last, 64):
                look(ins, at, last, flags)
                for q in _EACH:
                    byte = numpy.uint32(eights[q] * numpy.uint64(_GATHER) >> numpy.uint64(56))
                    base = numpy.uint16(at - first + 8 * q)
                    k = put_places(byte, base, here, k)
                    if put_rest is not None:
                        r = put_places(byte ^ numpy.uint32(255), base, there, r)
            k = numpy.int64(k) - mine
            totals[side + part] = k
            if parts > 1:
                grid.sync()
            before, running = count_before(totals, side, part, parts, running)
            side = parts - side
            before = min(max(before, 0), first)
            if k == last - first:
                for j in range(numpy.int32(k)):
                    put(outs, ins, before + j, first + j, load(ins, first + j))
            else:
                move(outs, ins, before, first, here, mine, k)
                if put_rest is not None:
                    for j in range(numpy.int32(last - first - k)):
                        i = first + there[mine + j]
                        put_rest(outs, ins, first - before + j, i, load(ins, i))
        if part == 0:
            finish(outs, running)

    return choose


def choose_in_chunks(
    make: Callable[[], Chosen], key: Any, n: Count, ins: Any, outs: Any, memory: Memory, has_rest: bool,
    library_words: Callable[[], str | None] | None = None,
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
    kernel = kernel_of(_choosing, key, lambda: (make(), n.load()), library_words=library_words)
    kernel[parts, 1, memory.stream](ins, n.state, outs, *found, chunk)
    return None
