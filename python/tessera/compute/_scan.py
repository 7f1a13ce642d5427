# SPDX-License-Identifier: Apache-2.0
"""Scans, and the one kernel on which everything stands that puts items where a scan says.

    n items --> tiles of THREADS * items, numbered in the order in which blocks begin
            --> load(ins, i) of each, into shared memory --> threads' totals, scanned in the block
            --> what comes before the tile (_lookback.py)
            --> emit(outs, i, before, after) for each item, in the order of the items

One launch, which reads and writes each item once. A plain scan stores ``after`` or ``before``; a selection scans counts
and stores the items themselves where the counts say. On a CPU chunks are scanned (_chunks.py).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy

from ._chunks import launch_chunks, memory_of_chunks
from ._engine import POOL, THREADS, Count, Memory, algorithm, init_of, items_in, kernel_of, on_cpu, stream_of
from ._lookback import before_tile, ended, memory_of, next_tile
from .iterators import Iterator, iterator_of
from .op import may_raise, operator_of
from .types import TypeDescriptor

__all__ = ["Scanned", "exclusive_scan", "inclusive_scan", "launch_scan", "run_scan", "scan_memory"]

Function = Callable[..., Any]
_SHARED = 32768  # bytes of the items of a tile, at most


class Scanned(NamedTuple):
    """What is scanned, and what is done with it: functions of a kernel."""

    kind: TypeDescriptor  # of the values that are put together
    load: Function  # load(ins, i): the value of item i
    op: Function
    emit: Function  # emit(outs, ins, i, before, after): what is done for item i; before is not there for the first
    finish: Function | None = None  # finish(outs, total): done once, at the end
    init: Function | None = None  # init(state): the initial value; None: the first item starts
    none: Any = 0  # the total of no items, for `finish`


def _items(kind: TypeDescriptor) -> int:
    """Items of a thread."""
    return max(1, min(16, _SHARED // (THREADS * kind.size)))


def _threads(kind: TypeDescriptor) -> int:
    return THREADS if kind.size <= 64 else 128


def _scanning(what: Scanned, number: Function, waits: bool) -> Callable[..., None]:
    """The kernel: a block for each tile, or, where blocks must not wait for each other, one for all."""
    from ..coop._block_scan import scan_threads
    from ..coop._memory import slot, slots
    from ..cuda import shared, syncthreads, threadIdx

    kind, load, op, emit, finish = what.kind, what.load, what.op, what.emit, what.finish
    get, put, cast, dtype = kind.get, kind.put, kind.cast, kind.dtype
    items, threads, has_init = _items(kind), _threads(kind), what.init is not None
    initial = what.init if what.init is not None else _nothing
    ticket, end, before = next_tile(), ended(), before_tile(kind, op, has_init, waits)
    per_tile, each = items * threads, tuple(range(items))

    def scan_tile(
        s: Any, tile: Any, ins: Any, n: Any, outs: Any, init: Any, flags: Any, values: Any, tiles: Any
    ) -> None:
        t, first = threadIdx.x, tile * per_tile
        here, mine = min(n - first, per_tile), threadIdx.x * items
        if here == per_tile:  # all loads are under way at once
            loaded = tuple(cast(load(ins, first + t + j * threads)) for j in each)
            for j in each:
                put(s, slot(j * threads + t), loaded[j])
        else:  # after the last item stand others like it, and what they give is never used
            for j in range(items):
                put(s, slot(j * threads + t), cast(load(ins, min(first + (j * threads + t), n - 1))))
        syncthreads()
        total = get(s, slot(mine))
        for j in each[1:]:
            if waits or mine + j < here:
                total = cast(op(total, get(s, slot(mine + j))))
        _, up, whole = scan_threads(total, op, threads)
        start = before(tile, tiles, whole, initial(init), flags, values)
        running, has = start, has_init or tile > 0
        if t > 0:
            running = cast(op(start, up)) if has else up
            has = True
        for j in each:
            after = get(s, slot(mine + j))
            if has and (waits or mine + j < here):
                after = cast(op(running, after))
            put(s, slot(mine + j), after)
            running, has = after, True
        syncthreads()
        for j in each:  # neighbours by neighbours, so that what is stored side by side is stored at once
            i = j * threads + t
            if i < here:
                after = get(s, slot(i))
                emit(outs, ins, first + i, start if i == 0 else get(s, slot(max(i - 1, 0))), after)
                if finish is not None:
                    if first + i == n - 1:
                        finish(outs, after)

    def scan_of(s: Any, tile: Any, ins: Any, n: Any, outs: Any, init: Any, flags: Any, values: Any, tiles: Any) -> None:
        if tile * per_tile < n:
            scan_tile(s, tile, ins, n, outs, init, flags, values, tiles)
        elif tile == 0 and finish is not None:
            if threadIdx.x == 0:
                finish(outs, cast(what.none))

    def scan(ins: Any, n: Any, outs: Any, init: Any, flags: Any, values: Any, tiles: Any) -> None:
        s, word = shared.array(slots(per_tile), dtype), shared.array(1, numpy.int32)
        tile = ticket(flags, word)
        scan_of(s, tile, ins, number(n), outs, init, flags, values, tiles)
        end(flags, tiles, word)

    def scan_alone(ins: Any, n: Any, outs: Any, init: Any, flags: Any, values: Any, tiles: Any) -> None:
        s, word = shared.array(slots(per_tile), dtype), shared.array(1, numpy.int32)
        for tile in range(tiles):
            scan_of(s, tile, ins, number(n), outs, init, flags, values, tiles)
            syncthreads()
        end(flags, 1, word)

    return scan if waits else scan_alone


def _nothing(init: Any) -> Any:
    return init


def _tiles(kind: TypeDescriptor, n: int) -> int:
    return max(1, -(-n // (_items(kind) * _threads(kind))))


def scan_memory(kind: TypeDescriptor, n: int) -> tuple[tuple[Any, int], tuple[Any, int]]:
    """What `launch_scan` takes of temporary memory: counters, and values."""
    if on_cpu():
        return (numpy.int32, 1), memory_of_chunks(kind, n)
    return memory_of(kind, _tiles(kind, n))


def run_scan(
    make: Callable[[], Scanned], kind: TypeDescriptor, key: Any, n: Count, ins: Any, outs: Any, init: Any,
    memory: Memory, exact: bool = False,
) -> int | None:  # fmt: skip
    """Scans n items: ``make`` says what, and is called once for a key.

    Parameters
    ----------
    exact : bool
        The result is the same in any order of steps: of whole numbers, for example.

    Returns
    -------
    int or None
        The bytes of temporary memory, if the caller only asks.
    """
    found = memory.take(*scan_memory(kind, n.most), counters=0 if on_cpu() else 1)
    if found is None:
        return memory.nbytes
    launch_scan(make, kind, key, n, ins, outs, init, memory.stream, found, exact)
    return None


def launch_scan(
    make: Callable[[], Scanned], kind: TypeDescriptor, key: Any, n: Count, ins: Any, outs: Any, init: Any, stream: Any,
    taken: list[Any], exact: bool = False,
) -> None:  # fmt: skip
    """`run_scan` in memory that was taken. An operator that raises may end any block, so no other one may wait for it:
    then one block takes all tiles, with the same bits."""
    waits = not may_raise(key)
    if on_cpu():
        tile = None if exact else (_items(kind), _threads(kind))
        launch_chunks(make, (key, n.kind), n, tile, waits, stream, (ins, n.state, outs, init, taken[1]))
        return
    kernel = kernel_of(_scanning, (key, n.kind), lambda: (make(), n.load(), waits))
    tiles = _tiles(kind, n.most)
    kernel[tiles if waits else 1, _threads(kind), stream](ins, n.state, outs, init, *taken, tiles)


def _initial(value: Any, name: str) -> tuple[TypeDescriptor, Any, Iterator | None]:
    """Type and state of an initial value, and the array of a device that it is read from when the scan runs."""
    if hasattr(value, "__cuda_array_interface__") or isinstance(value, Iterator):
        it = iterator_of(value, name)
        if it.value_type is None:
            raise TypeError(f"{name}: the type of its items is not known; give value_type")
        return it.value_type, it.state, it
    kind, found = init_of(value, name)
    return kind, found, None


def _scan(
    name: str,
    inclusive: bool,
    d_in: Any,
    d_out: Any,
    op: Any,
    init_value: Any,
    num_items: Any,
    stream: Any,
    storage: Any,
) -> Any:
    source, output, op = iterator_of(d_in, "d_in"), iterator_of(d_out, "d_out"), operator_of(op, 2)
    n = items_in(num_items, "num_items", ("d_in", source), ("d_out", output))
    where: Iterator | None
    if init_value is None:
        kind, init, where = source.value_type or output.value_type, numpy.int32(0), None
        if kind is None:
            raise TypeError(f"{name}: the type of the items is not known; give value_type to the iterator")
    else:
        kind, init, where = _initial(init_value, "init_value")
    cast = (output.value_type or kind).cast
    kind_ = kind

    def make() -> Scanned:
        load, store = source.load(), output.store()

        def emit(outs: Any, ins: Any, i: Any, before: Any, after: Any) -> None:
            store(outs, i, cast(after if inclusive else before))

        read: Function | None = None
        if init_value is not None:
            read = _nothing if where is None else _first(where.load())
        return Scanned(kind_, load, op.function, emit, None, read)

    key = (name, source.kind, output.kind, op.key, kind, init_value is None, where and where.kind)
    memory = Memory(storage, stream_of(stream))
    if n.most == 0 and storage is not None:
        return None
    return run_scan(make, kind, key, n, source.state, output.state, init, memory, op.is_exact(kind))


def _first(load: Function) -> Function:
    return lambda state: load(state, 0)


@algorithm
def exclusive_scan(
    *, d_in: Any, d_out: Any, op: Any, init_value: Any, num_items: int, stream: Any = None, temp_storage: Any = POOL
) -> Any:
    """``d_out[i] = init_value op d_in[0] op .. op d_in[i - 1]``

    Parameters
    ----------
    d_in, d_out : array or iterator
        May be the same array.
    op : function or OpKind
        Associative, of two values of the type of `init_value`; it need not be commutative.
    init_value : numpy.ndarray of one element, number of NumPy, struct, or array of a device
        Of an array of a device the first element counts, as it is when the scan runs.
    num_items : int, or array of a device
        Of an array the first element counts, as it is when the scan runs.
    stream
        None, or any object with ``__cuda_stream__``.
    temp_storage
        Memory of the caller; None: nothing is done, and the bytes that would be needed are returned.

    Notes
    -----
    One launch, which reads and writes each item once; the bits of floats are the same each time and on all devices.
    """
    if init_value is None:
        raise ValueError("exclusive_scan needs an init_value, which is the first item of the result")
    return _scan("exclusive_scan", False, d_in, d_out, op, init_value, num_items, stream, temp_storage)


@algorithm
def inclusive_scan(
    *,
    d_in: Any,
    d_out: Any,
    op: Any,
    init_value: Any = None,
    num_items: int,
    stream: Any = None,
    temp_storage: Any = POOL,
) -> Any:
    """``d_out[i] = init_value op d_in[0] op .. op d_in[i]``; without `init_value` the first item starts.

    See `exclusive_scan`.
    """
    return _scan("inclusive_scan", True, d_in, d_out, op, init_value, num_items, stream, temp_storage)
