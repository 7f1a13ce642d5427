# SPDX-License-Identifier: Apache-2.0
"""The kernel that puts the values of runs of equal keys together on a GPU.

    n keys, n values --> tiles, as in _scan.py, with the same trees, so that floats have the same bits
                     --> lanes look at neighbouring keys: a bit for each item that begins a run; each thread takes the
                         bits of its own items, which are neighbours
                     --> what threads, and then tiles (_lookback.py), have: a count of runs and a value
                     --> in shared memory the values of runs that end in the tile, and where runs begin, side by side
                     --> neighbours are written by neighbouring lanes

One launch. Of a run that goes on in the next tile that one writes the value.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy

from ._arguments import Count
from ._engine import Memory, kernel_of
from ._lookback import before_tile, ended
from ._scan import over_tiles, scan_memory, tile_of
from .types import TypeDescriptor

__all__ = ["Runs", "reduce_runs"]

Function = Callable[..., Any]
_RESIDENT = 5  # blocks of a multiprocessor that there are registers for, at least
_MOST_ITEMS = 1 << 48


class Runs(NamedTuple):
    """What is put together, and what becomes of it: functions of a kernel."""

    pair: TypeDescriptor  # of a count of runs and a value
    kind: TypeDescriptor  # of a value
    key_of: Function  # key_of(ins, i): key i
    is_equal: Function  # of two keys
    load: Function  # load(ins, i): value i
    op: Function  # of two values
    joined: Function  # of two pairs
    put_key: Function  # put_key(outs, ins, to, i): the key of run ``to`` is that of item i
    put_value: Function  # put_value(outs, to, value)
    finish: Function  # finish(outs, number of runs)


def _flags(what: Runs, items: int, per_tile: int) -> tuple[Function, Function]:
    """Functions of a kernel: the thread's keys of a tile, side by side in neighbouring lanes; which of the thread's own
    items, which are neighbours, begin a run, and after which a run ends, as bits."""
    from ..cuda import ballot_sync, shfl_sync, threadIdx

    key_of, is_equal, each, every = what.key_of, what.is_equal, tuple(range(items)), 0xFFFFFFFF

    def keys_of(ins: Any, first: Any, here: Any) -> Any:
        """Also the key before those of the warp, for its first lane, and after them, for its last."""
        lane, warp = threadIdx.x % 32, threadIdx.x // 32 * (32 * items)
        if here == per_tile:
            keys = tuple(key_of(ins, first + warp + 32 * j + lane) for j in each)
        else:
            keys = tuple(key_of(ins, first + min(warp + 32 * j + lane, here - 1)) for j in each)
        return keys, key_of(ins, max(first + min(warp, here - 1) - 1, 0))

    def flags(ins: Any, keys: Any, edge: Any, first: Any, here: Any, n: Any) -> Any:
        t, lane, warp = threadIdx.x, threadIdx.x % 32, threadIdx.x // 32 * (32 * items)
        mine, row = numpy.uint32(0), lane * items // 32
        for j in each:
            up = shfl_sync(every, keys[max(j - 1, 0)] if lane == 31 else keys[j], (lane + 31) % 32)
            if j == 0:
                up = edge if lane == 0 else up
            begun = not is_equal(up, keys[j])
            if j == 0:
                begun = begun or first + warp + lane == 0
            votes = numpy.uint32(ballot_sync(every, begun))
            mine = votes if row == j else mine
        mine = numpy.uint32(mine >> numpy.uint32(lane * items % 32) & numpy.uint32((1 << items) - 1))
        left = here - t * items  # items from the thread's first on
        if left < items:
            mine &= numpy.uint32((1 << max(left, 0)) - 1)
        following = shfl_sync(every, mine, (lane + 1) % 32) & numpy.uint32(1)
        after = warp + 32 * items  # the item after those of the warp
        if lane == 31:
            following = numpy.uint32(0)
            if first + after < n and not is_equal(keys[items - 1], key_of(ins, first + after)):
                following = numpy.uint32(1)
        ends = numpy.uint32(mine >> numpy.uint32(1) | numpy.uint32(following) << numpy.uint32(items - 1))
        if first + here == n and 0 < left and left <= items:
            ends |= numpy.uint32(numpy.uint32(1) << numpy.uint32(left - 1))
        return mine, ends

    return keys_of, flags


def _reducing(what: Runs, number: Function) -> Callable[..., None]:
    from ..coop._block_scan import scan_threads
    from ..coop._memory import slot, slots
    from ..cuda import shared, syncthreads, syncthreads_or, syncwarp, threadIdx
    from ..cuda._places import shared_like

    items, threads = tile_of(what.pair)
    pair, cast, op, joined, load = what.pair.cast, what.kind.cast, what.op, what.joined, what.load
    put_key, put_value, finish = what.put_key, what.put_value, what.finish
    each, per_tile = tuple(range(items)), items * threads
    end, before = ended(what.pair), before_tile(what.pair, joined, False, True)
    keys_of, flags = _flags(what, items, per_tile)

    def loaded(ins: Any, first: Any, here: Any) -> Any:
        mine = threadIdx.x // 32 * (32 * items) + threadIdx.x % 32
        if here == per_tile:
            return tuple(cast(load(ins, first + mine + 32 * j)) for j in each)
        return tuple(cast(load(ins, first + min(mine + 32 * j, here - 1))) for j in each)

    def turned(striped: Any, place: Any) -> Any:
        t = threadIdx.x
        for j in each:
            place[slot(t // 32 * (32 * items) + t % 32) + 33 * j] = striped[j]
        syncwarp()
        return tuple(place[slot(t * items) + j] for j in each)

    def reduce(tile: Any, tiles: Any, ins: Any, n: Any, outs: Any, init: Any, words: Any) -> None:
        t, first = threadIdx.x, min(max(tile * per_tile, 0), _MOST_ITEMS)
        here, at = numpy.int32(min(n - first, per_tile)), t * items
        striped = loaded(ins, first, here)
        keys, edge = keys_of(ins, first, here)
        begun, done = flags(ins, keys, edge, first, here, n)
        place, places = shared_like(slots(per_tile + 1) + 1, striped[0], True), shared.array(per_tile, numpy.uint16)
        values = turned(striped, place)
        count, value = numpy.int32(begun & numpy.uint32(1)), values[0]
        for j in each[1:]:
            is_first = begun >> numpy.uint32(j) & numpy.uint32(1)
            value = values[j] if is_first != 0 else cast(op(value, values[j]))
            count = numpy.int32(count + numpy.int32(is_first))
        starts_here = syncthreads_or(t == 0 and begun & numpy.uint32(1) != 0)
        left = here - at
        goes_on = syncthreads_or(0 < left and left <= items and done >> numpy.uint32(left - 1) & numpy.uint32(1) == 0)
        _, up, whole = scan_threads(pair((count, value)), joined, threads)
        outside = before(tile, tiles, whole, whole, words)
        end(words, tile, tiles)
        has, running = tile > 0, outside
        if t > 0:
            running = pair(joined(outside, up)) if has else up
            has = True
        begun_before = min(max(numpy.int64(outside[0]) if tile > 0 else 0, 0), _MOST_ITEMS)
        to = numpy.uint32(running[0] - begun_before) if t > 0 else numpy.uint32(0)  # runs of the tile begun so far
        value = running[1]
        for j in each:
            bit = numpy.uint32(1 << j)
            if begun & bit != 0:
                places[to] = numpy.uint16(at + j)
                to += numpy.uint32(1)
                value = values[j]
            else:
                value = cast(op(value, values[j]))
            if done & bit != 0:
                place[_slot(to)] = value
        syncthreads()
        count = numpy.int32(whole[0])
        for k in range(t, count, threads):
            put_key(outs, ins, begun_before + k, first + numpy.int32(places[numpy.uint32(k)]))
        low, high = (1 if starts_here != 0 else 0), (count if goes_on != 0 else count + 1)
        for k in range(low + t, high, threads):  # number 0 has begun before the tile
            put_value(outs, begun_before + k - 1, place[_slot(numpy.uint32(k))])
        if t == 0 and tile == tiles - 1:
            finish(outs, begun_before + count)

    return over_tiles(reduce, lambda outs: finish(outs, 0), number, True, per_tile)


def _slot(i: Any) -> Any:
    return numpy.uint32(i + (i >> numpy.uint32(5)))


def reduce_runs(
    make: Callable[[], Runs], pair: TypeDescriptor, key: Any, n: Count, ins: Any, outs: Any, memory: Memory
) -> int | None:
    """Puts the values of n items together: ``make`` says how, and is called once for a key.

    Returns
    -------
    int or None
        The bytes of temporary memory, if the caller only asks.
    """
    found = memory.take(scan_memory(pair, n.most))
    if found is None:
        return memory.nbytes
    items, threads = tile_of(pair)
    bounds = (threads, _RESIDENT) if pair.size <= 16 else ()
    kernel = kernel_of(_reducing, (key, n.kind), lambda: (make(), n.load()), bounds)
    blocks = max(1, -(-n.most // (items * threads)))
    kernel[blocks, threads, memory.stream](ins, n.state, outs, numpy.int32(0), found[0], blocks)
    return None
