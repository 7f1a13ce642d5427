# SPDX-License-Identifier: Apache-2.0
"""The one kernel on which everything stands that moves items to places that conditions decide.

    n items --> tiles, as in _scan.py, in which neighbouring lanes look at neighbouring items
            --> ballots: how many items of each class stand before a lane's own in its warp; then the warps of the block
            --> how many were chosen in the tiles before (_lookback.py)
            --> each item goes to its place in the output of its class

One launch, stable. An item is read once and kept while counts are put together; what a warp writes stands side by side.
On a CPU one class is listed chunk by chunk, two are scanned (_chunks.py).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy

from . import types
from ._chunks import Chosen, choose_in_chunks
from ._engine import THREADS, Count, Memory, kernel_of, on_cpu
from ._lookback import before_tile, ended, memory_of
from ._scan import Scanned, over_tiles, run_scan
from .op import may_raise
from .struct import gpu_struct
from .types import TypeDescriptor

__all__ = ["PAIR", "Choice", "add_pairs", "choice_memory", "launch_choice", "run_choice"]

Function = Callable[..., Any]
_ITEM_BYTES = 128  # of the items of a thread, about
_RESIDENT = 3  # blocks of a multiprocessor that there are registers for, at least
PAIR = gpu_struct({"first": numpy.int64, "second": numpy.int64}, "Counts")
_PAIR: TypeDescriptor = PAIR.__tessera_type__
_CLASS = 2  # low bits of a number that says an item's class; above them is its rank in the warp
_CODE = 16  # bits of that number
_NOWHERE = 3  # the class of what is not there


def add_pairs(a: Any, b: Any) -> Any:
    return PAIR(a.first + b.first, a.second + b.second)


class Choice(NamedTuple):
    """What is chosen, and where it goes: functions of a kernel."""

    load: Function  # load(ins, i): item i
    flags: Function  # flags(ins, i, item): a tuple of one or two bools, whether item i is of class 0, of class 1
    moves: tuple[Function, ...]  # of each class, perhaps also of the rest: move(outs, ins, to, i, item)
    finish: Function  # finish(outs, counts): a tuple of the items of each class
    meets: Function | None = None  # meets(ins, i, before, item): the same as flags, with the item before at hand


def _items(size: int) -> int:
    """Items of a thread."""
    return max(1, min(32, _ITEM_BYTES // size))


def _counts(classes: int) -> tuple[TypeDescriptor, Function, Function]:
    """What is published by tiles: a count for each class. Its type, how it is made of the counts, and its sum."""
    if classes == 1:
        return types.int64, lambda counts: numpy.int64(counts[0]), lambda a, b: a + b
    return _PAIR, _PAIR.cast, add_pairs


def _choosing(what: Choice, classes: int, items: int, number: Function, waits: bool) -> Callable[..., None]:
    from ..cuda import ballot_sync, lanemask_lt, popc, shared, syncthreads, threadIdx

    load, flags, moves, finish = what[:4]
    (edge_of, before_of), meets = _before(load, what.meets is not None), _meeting(what)
    has_rest = len(moves) > classes
    kind, together, add = _counts(classes)
    end, before = ended(kind), before_tile(kind, add, True, waits)
    each, each_class, per_tile, warps = tuple(range(items)), tuple(range(classes)), items * THREADS, THREADS // 32

    def lanes(mask: Any) -> Any:
        return numpy.int32(popc(numpy.uint32(mask)))

    def ranked(flag: Any, is_there: Any, counts: Any, rest: Any) -> Any:
        """The class of an item with its rank in the warp, and the counts of the warp with it; ``rest`` is its rank in
        the rest if nothing was chosen before it."""
        ups: Any = ()
        more: Any = ()
        for c in each_class:
            mask = ballot_sync(0xFFFFFFFF, is_there and flag[c])
            ups += (counts[c] + lanes(numpy.uint32(mask) & lanemask_lt()),)
            more += (counts[c] + lanes(mask),)
            rest -= ups[c]
        code = coded(rest, classes) if has_rest else numpy.int32(_NOWHERE)
        for c in each_class:
            code = coded(ups[c], c) if flag[c] else code
        return code if is_there else numpy.int32(_NOWHERE), more

    def coded(rank: Any, cls: Any) -> Any:
        return numpy.int32(rank) << numpy.int32(_CLASS) | numpy.int32(cls)

    def looked(ins: Any, first: Any, mine: Any, here: Any, is_full: bool) -> Any:
        """The thread's items, their classes and ranks, and how many of each class the warp has."""
        places = tuple(first + mine + 32 * j if is_full else first + min(mine + 32 * j, here - 1) for j in each)
        kept = tuple(load(ins, i) for i in places)
        edge = edge_of(ins, first + mine, kept)
        codes: Any = ()  # of two items each
        counts = tuple(numpy.int32(0) for _ in each_class)
        first_of_two = numpy.int32(0)
        for j in each:
            is_there = is_full or mine + 32 * j < here
            flag = meets(ins, places[j], before_of(edge, kept, j), kept[j])
            code, counts = ranked(flag, is_there, counts, threadIdx.x % 32 + 32 * j)
            if j % 2 == 0:
                first_of_two = numpy.int32(code)
            if j % 2 == 1 or j == items - 1:
                codes += (numpy.int32(first_of_two | code << _CODE if j % 2 else code),)
        return kept, codes, counts

    def of_block(counts: Any, warp: Any) -> Any:
        """For each class, how many the warps before this one have, and how many the block."""
        partial = tuple(shared.array(warps, numpy.int32) for _ in each_class)
        if threadIdx.x % 32 == 0:
            for c in each_class:
                partial[c][warp] = counts[c]
        syncthreads()
        ups: Any = ()
        sums: Any = ()
        for c in each_class:
            up = total = numpy.int32(0)
            for w in tuple(range(warps)):
                up = total if w == warp else up
                total = numpy.int32(total + partial[c][w])
            ups += (up,)
            sums += (total,)
        return ups, sums

    def choose(tile: Any, tiles: Any, ins: Any, n: Any, outs: Any, init: Any, words: Any) -> None:
        t, first = threadIdx.x, tile * per_tile
        here, mine = numpy.int32(min(n - first, per_tile)), t // 32 * (32 * items) + t % 32
        if here == per_tile:
            kept, codes, counts = looked(ins, first, mine, here, True)
        else:
            kept, codes, counts = looked(ins, first, mine, here, False)
        ups, sums = of_block(counts, t // 32)
        outside = before(tile, tiles, together(sums), together((0,) * classes), words)
        if waits:
            end(words, tile, tiles)
        outside = (outside,) if classes == 1 else (outside[0], outside[1])
        rest: Any = first + t // 32 * (32 * items)
        starts: Any = ()  # where the warp's items of each class, and the rest, go
        for c in each_class:
            starts += (outside[c] + ups[c],)
            rest -= outside[c] + ups[c]
        starts += (rest,)
        for j in each:
            code = numpy.uint32(codes[j // 2]) >> _CODE * (j % 2) & numpy.uint32((1 << _CODE) - 1)
            for c in tuple(range(len(moves))):
                if code & _NOWHERE == c:
                    to = starts[c] + numpy.int32(code >> _CLASS)
                    if numpy.uint64(to) < numpy.uint64(n):  # counts are anything after an operator has raised
                        moves[c](outs, ins, to, first + mine + 32 * j, kept[j])
        if t == 0 and tile == tiles - 1:
            finish(outs, tuple(outside[c] + sums[c] for c in each_class))

    return over_tiles(choose, lambda outs: finish(outs, (0,) * classes), number, waits, per_tile)


def _meeting(what: Choice) -> Function:
    flags, meets = what.flags, what.meets
    return (lambda ins, i, before, item: flags(ins, i, item)) if meets is None else meets


def _before(load: Function, wanted: bool) -> tuple[Function, Function]:
    """Functions of a kernel: what stands before a warp's items, and the item before a thread's j-th one. The lane
    before holds it; the first lane has the last one's of the row before."""
    from ..cuda import shfl_sync, threadIdx

    def edge_of(ins: Any, at: Any, kept: Any) -> Any:
        return load(ins, max(at - 1, 0)) if wanted else kept[0]

    def before(edge: Any, kept: Any, j: int) -> Any:
        if not wanted:
            return edge
        lane = threadIdx.x % 32
        up = shfl_sync(0xFFFFFFFF, kept[max(j - 1, 0)] if lane == 31 else kept[j], (lane + 31) % 32)
        if j == 0:
            up = edge if lane == 0 else up
        return up

    return edge_of, before


def _listed(what: Choice) -> Chosen:
    """One class, as chunks of a CPU take it."""
    load, flags, moves, finish = what[:4]
    move, move_rest = moves[0], moves[-1]

    def put(outs: Any, ins: Any, to: Any, i: Any) -> None:
        move(outs, ins, to, i, load(ins, i))

    def put_rest(outs: Any, ins: Any, to: Any, i: Any) -> None:
        move_rest(outs, ins, to, i, load(ins, i))

    return Chosen(
        lambda ins, i: flags(ins, i, load(ins, i))[0], put, put_rest if len(moves) > 1 else None,
        lambda outs, number: finish(outs, (number,)),
    )  # fmt: skip


def _scanned(what: Choice) -> Scanned:
    """Two classes, as a scan of counts, whose ``ins`` are those of the choice, and how many items there may be."""
    load, flags, moves, finish = what[:4]
    first, second, rest, has_rest = moves[0], moves[1], moves[-1], len(moves) > 2

    def counts(ins: Any, i: Any) -> Any:
        flag = flags(ins[0], i, load(ins[0], i))
        return PAIR(1 if flag[0] else 0, 1 if flag[1] else 0)

    def emit(outs: Any, ins: Any, i: Any, before: Any, after: Any) -> None:
        item, n, to = load(ins[0], i), ins[1], i - after.first - after.second
        if after.first != before.first:  # counts are anything after an operator has raised
            if 0 <= before.first < n:
                first(outs, ins[0], before.first, i, item)
        elif after.second != before.second:
            if 0 <= before.second < n:
                second(outs, ins[0], before.second, i, item)
        elif has_rest:
            if 0 <= to < n:
                rest(outs, ins[0], to, i, item)

    def finish_both(outs: Any, total: Any) -> None:
        finish(outs, (total.first, total.second))

    return Scanned(_PAIR, counts, add_pairs, emit, finish_both, lambda state: PAIR(0, 0), (0, 0))


def run_choice(
    make: Callable[[], Choice], classes: int, has_rest: bool, size: int, key: Any, n: Count, ins: Any, outs: Any,
    memory: Memory,
) -> int | None:  # fmt: skip
    """Moves n items of about ``size`` bytes: ``make`` says where, and is called once for a key. What a condition that
    raises ends is as in `launch_scan`.

    Returns
    -------
    int or None
        The bytes of temporary memory, if the caller only asks.
    """
    if on_cpu():
        if classes == 1:
            return choose_in_chunks(lambda: _listed(make()), (key, n.kind), n, ins, outs, memory, has_rest)
        none = numpy.int32(0)
        return run_scan(lambda: _scanned(make()), _PAIR, key, n, (ins, n.most), outs, none, memory, True)
    found = memory.take(choice_memory(classes, size, n.most))
    if found is None:
        return memory.nbytes
    launch_choice(make, classes, size, key, n, ins, outs, memory.stream, found[0])
    return None


def _tiles(size: int, n: int) -> int:
    return max(1, -(-n // (_items(size) * THREADS)))


def choice_memory(classes: int, size: int, n: int) -> tuple[Any, int]:
    """What `launch_choice` takes of temporary memory, which are counters."""
    return memory_of(_counts(classes)[0], _tiles(size, n))


def launch_choice(
    make: Callable[[], Choice], classes: int, size: int, key: Any, n: Count, ins: Any, outs: Any, stream: Any,
    words: Any,
) -> None:  # fmt: skip
    """`run_choice` on a GPU in memory that was taken."""
    items, waits = _items(size), not may_raise(key)
    bounds = (THREADS, _RESIDENT)
    kernel = kernel_of(_choosing, (key, n.kind), lambda: (make(), classes, items, n.load(), waits), bounds)
    blocks = _tiles(size, n.most) if waits else 1
    kernel[blocks, THREADS, stream](ins, n.state, outs, numpy.int32(0), words, blocks)
