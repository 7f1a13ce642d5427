# SPDX-License-Identifier: Apache-2.0
"""Scans, and the one kernel on which everything stands that puts items where a scan says.

    n items --> tiles of THREADS * items, numbered in the order in which blocks begin
            --> load(ins, i) of each, striped, then turned so that a thread has neighbours
            --> threads' totals, scanned in the block
            --> what comes before the tile (_lookback.py)
            --> turned back --> emit(outs, ins, i, before, after) for each item, neighbours by neighbouring lanes

One launch, which reads and writes each item once. A plain scan stores ``after`` or ``before``; others do with them what
they like. On a CPU chunks are scanned (_chunks.py).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy

from . import types
from ._arguments import Count, init_of, items_in, stream_of
from ._chunks import launch_chunks, memory_of_chunks
from ._engine import POOL, THREADS, Memory, algorithm, kernel_of, on_cpu, plain_array, sum_arrays
from ._lookback import before_tile, clearing, ended, memory_of, next_tile
from ._overlap import separate
from ._ready import combine_choices, words_of
from .iterators import Iterator, iterator_of
from .op import OpKind, Operator, may_raise, names_arrays, operator_of
from .types import TypeDescriptor

__all__ = ["Scanned", "exclusive_scan", "inclusive_scan", "launch_scan", "over_tiles", "run_scan", "scan_memory",
"tile_of"]

Function = Callable[..., Any]
_SHARED = 32768  # bytes of the items of a tile, at most


class Scanned(NamedTuple):
    """What is scanned, and what is done with it: functions of a kernel."""

    kind: TypeDescriptor  # of the values that are put together
    load: Function  # load(ins, i): the value of item i
    op: Function
    emit: Function  # emit(outs, ins, i, before, after, ..): done for item i; before is not there for the first
    finish: Function | None = None  # finish(outs, total): done once, at the end
    init: Function | None = None  # init(state): the initial value; None: the first item starts
    none: Any = 0  # the total of no items, for `finish`
    look: Function | None = None  # look(ins, i): the last argument of `emit`, read for many items at once


def _items(kind: TypeDescriptor) -> int:
    """Items of a thread, a power of two."""
    most = max(1, min(32, _SHARED // (THREADS * kind.size)))
    return 1 << most.bit_length() - 1


def _threads(kind: TypeDescriptor) -> int:
    return THREADS if kind.size <= 64 else 128


def _scanning(what: Scanned, number: Function, waits: bool, asks_all: bool = True) -> Callable[..., None]:
    """With ``asks_all`` the operator is asked of what stands for items behind the last one, too, and never used: the
    last tile is as fast as the others, and code that names no arrays cannot tell."""
    from ..coop._memory import slot, slots
    from ..coop._values import shared_like
    from ..cuda import syncthreads, syncwarp, threadIdx
    from ..cuda._device import is_quick

    kind, load, op, finish, look = what.kind, what.load, what.op, what.finish, what.look
    cast, done = kind.cast, _emitting(what)
    items, threads, has_init = _items(kind), _threads(kind), what.init is not None
    initial = what.init if what.init is not None else _nothing
    end, before = ended(kind), before_tile(kind, op, has_init, waits)
    each, per_tile = tuple(range(items)), items * threads
    scanned = _scanning_threads(kind, op, threads, asks_all)

    def read(ins: Any, first: Any, mine: Any, here: Any) -> Any:
        """Items of a warp, striped, in shared memory; of the last tile, whose items end early, the last one again and
        again."""
        one = cast(load(ins, first + min(mine, here - 1)))
        place = shared_like(slots(per_tile + 1) + 1, one, True)
        place[slot(mine)] = one
        if here == per_tile and not is_quick():
            striped = tuple(cast(load(ins, first + mine + 32 * j)) for j in each[1:])
            for j in each[1:]:
                place[slot(mine) + 33 * j] = striped[j - 1]
        else:
            j = 1
            while j < items:
                place[slot(mine) + 33 * j] = cast(load(ins, first + min(mine + 32 * j, here - 1)))
                j += 1
        return place

    def held(place: Any, at: Any) -> Any:
        """The thread's items; in quick code the first one, which the thread before writes over."""
        if is_quick():
            return (place[slot(at)],)
        return tuple(place[slot(at) + j] for j in each)

    def together(place: Any, at: Any, here: Any, blocked: Any) -> Any:
        total = blocked[0]
        if is_quick():
            for j in range(1, items):
                if asks_all or at + j < here:
                    total = cast(op(total, place[slot(at) + j]))
        else:
            for j in each[1:]:
                if asks_all or at + j < here:
                    total = cast(op(total, blocked[j]))
        return total

    def spread(place: Any, at: Any, here: Any, blocked: Any, after: Any) -> None:
        """Puts what comes before an item into its place, and what comes after the last one behind it; ``after``: the
        first item."""
        if is_quick():
            for j in range(1, items):
                item = place[slot(at) + j]
                place[slot(at) + j] = after
                if asks_all or at + j < here:
                    after = cast(op(after, item))
        else:
            for j in each[1:]:
                place[slot(at) + j] = after
                if asks_all or at + j < here:
                    after = cast(op(after, blocked[j]))
        place[slot(at + items)] = after

    def saw(ins: Any, first: Any, at: Any, here: Any) -> Any:
        return 0 if look is None else look(ins, first + min(at, here - 1))

    def give(outs: Any, ins: Any, first: Any, mine: Any, j: Any, here: Any, place: Any, seen: Any) -> None:
        """The item at a place has what comes before it there, and what comes after it one further on."""
        previous, after = place[slot(mine) + 33 * j], place[slot(mine + 1) + 33 * j]
        if mine + 32 * j < here:
            done(outs, ins, first + mine + 32 * j, previous, after, seen)

    def scan(tile: Any, tiles: Any, ins: Any, n: Any, outs: Any, init: Any, words: Any) -> None:
        t, first = threadIdx.x, tile * per_tile
        here = numpy.int32(min(n - first, per_tile))
        mine, at = t // 32 * (32 * items) + t % 32, t * items  # of the first item: striped in the warp, and blocked
        place = read(ins, first, mine, here)
        syncwarp()
        blocked = held(place, at)
        total = together(place, at, here, blocked)
        up, whole = scanned(total, at < here)
        running = before(tile, tiles, whole, initial(init), words)
        if waits:
            end(words, tile, tiles)
        has = has_init or tile > 0
        if t == 0:
            place[0] = running
        else:
            running = cast(op(running, up)) if has else up
            has = True
        after = blocked[0]
        if has and (asks_all or at < here):
            after = cast(op(running, after))
        spread(place, at, here, blocked, after)
        syncthreads()
        if is_quick():
            for j in range(items):
                give(outs, ins, first, mine, j, here, place, saw(ins, first, mine + 32 * j, here))
        else:
            seen = tuple(saw(ins, first, mine + 32 * j, here) for j in each)
            for j in each:
                give(outs, ins, first, mine, j, here, place, seen[j])
        if finish is not None:
            if t == 0 and tile == tiles - 1:
                finish(outs, place[slot(here)])

    return over_tiles(scan, _finishing_none(what), number, waits, per_tile)


def _scanning_threads(kind: TypeDescriptor, op: Function, threads: int, asks_all: bool) -> Function:
    """The function of a kernel that gives what the threads before this one have, and all; ``is_there``: whether it has
    something."""
    from ..coop._block_scan import scan_threads

    def scanned(total: Any, is_there: Any) -> Any:
        _, up, whole = scan_threads(total, op, threads)
        return up, whole

    if asks_all:
        return scanned
    cast, cls = kind.cast, types.struct({"there": types.int32, "value": kind}, "Maybe").cls

    def joined(a: Any, b: Any) -> Any:
        if b.there == 0:
            return a
        return cls(1, cast(op(a.value, b.value)))

    def scanned_some(total: Any, is_there: Any) -> Any:
        _, up, whole = scan_threads(cls(1 if is_there else 0, total), joined, threads)
        return up.value, whole.value

    return scanned_some


def _emitting(what: Scanned) -> Function:
    emit, look = what.emit, what.look
    if look is not None:
        return emit
    return lambda outs, ins, i, before, after, seen: emit(outs, ins, i, before, after)


def _looking(what: Scanned) -> Scanned:
    """The same without ``look``: ``emit`` looks by itself."""
    emit, look = what.emit, what.look
    if look is None:
        return what

    def emit_seen(outs: Any, ins: Any, i: Any, before: Any, after: Any) -> None:
        emit(outs, ins, i, before, after, look(ins, i))

    return what._replace(emit=emit_seen, look=None)


def _finishing_none(what: Scanned) -> Function:
    none, finish, cast = what.none, what.finish, what.kind.cast

    def finish_none(outs: Any) -> None:
        if finish is not None:
            finish(outs, cast(none))

    return finish_none


def over_tiles(
    body: Function, finish_none: Function, number: Function, waits: bool, per_tile: int
) -> Callable[..., None]:
    """The kernel that calls ``body(tile, tiles, ins, n, outs, init, words)``, once the number of items is known: by a
    block for each tile, or, where blocks must not wait for each other, by one."""
    from ..cuda import syncthreads, threadIdx

    ticket, clear = next_tile(), clearing()

    def take_one(ins: Any, count: Any, outs: Any, init: Any, words: Any, blocks: Any) -> None:
        n, tile = number(count), ticket(words, blocks)
        if tile * per_tile < n:
            body(tile, (n + (per_tile - 1)) // per_tile, ins, n, outs, init, words)
        elif tile == 0:
            if threadIdx.x == 0:
                finish_none(outs)

    def take_all(ins: Any, count: Any, outs: Any, init: Any, words: Any, blocks: Any) -> None:
        n = number(count)
        tiles = (n + (per_tile - 1)) // per_tile
        for tile in range(tiles):
            body(tile, tiles, ins, n, outs, init, words)
            syncthreads()
        if n == 0:
            if threadIdx.x == 0:
                finish_none(outs)
        clear(words)

    return take_one if waits else take_all


def _nothing(init: Any) -> Any:
    return init


def tile_of(kind: TypeDescriptor) -> tuple[int, int]:
    """The items of a thread and the threads of a tile: what the bits of floats depend on."""
    return _items(kind), _threads(kind)


def _tiles(kind: TypeDescriptor, n: int) -> int:
    return max(1, -(-n // (_items(kind) * _threads(kind))))


def scan_memory(kind: TypeDescriptor, n: int) -> tuple[Any, int]:
    """What `launch_scan` takes of temporary memory, which on a GPU are counters."""
    if on_cpu():
        return memory_of_chunks(kind, n)
    return memory_of(kind, _tiles(kind, n))


def run_scan(
    make: Callable[[], Scanned], kind: TypeDescriptor, key: Any, n: Count, ins: Any, outs: Any, init: Any,
    memory: Memory, exact: bool = False, library_words: Callable[[str], str | None] | None = None,
) -> int | None:  # fmt: skip
    """Scans n items: ``make`` says what, and is called once for a key.

    Parameters
    ----------
    exact : bool
        The result is the same in any order of steps: of whole numbers, for example.
    library_words
        Gives words for the kernel of a name in the library, if it may be there.

    Returns
    -------
    int or None
        The bytes of temporary memory, if the caller only asks.
    """
    found = memory.take(scan_memory(kind, n.most), counters=0 if on_cpu() else 1)
    if found is None:
        return memory.nbytes
    launch_scan(make, kind, key, n, ins, outs, init, memory.stream, found[0], exact, library_words)
    return None


def launch_scan(
    make: Callable[[], Scanned], kind: TypeDescriptor, key: Any, n: Count, ins: Any, outs: Any, init: Any, stream: Any,
    words: Any, exact: bool = False, library_words: Callable[[str], str | None] | None = None,
) -> None:  # fmt: skip
    """`run_scan` in memory that was taken. An operator that raises may end any block, so no other one may wait for it:
    then one block takes all tiles, with the same bits."""
    waits = not may_raise(key)
    asks_all = waits and not names_arrays(key)
    if on_cpu():
        tile = None if exact else tile_of(kind)
        given = ins, n.state, outs, init, words
        in_library = library_words and (lambda: library_words("scan_ints_cpu" if exact else "scan_tiles_cpu"))
        launch_chunks(lambda: _looking(make()), (key, n.kind), n, tile, waits, asks_all, stream, given, in_library)
        return
    # blocks of a multiprocessor that there are registers for, at least: on an H200 four take 681 us, three 823
    threads = _threads(kind)
    bounds = (threads, 4 if kind.size <= 4 else 3) if kind.size <= 16 else ()
    in_library = library_words and (lambda: library_words("scan_gpu"))
    kernel = kernel_of(_scanning, (key, n.kind), lambda: (make(), n.load(), waits, asks_all), bounds, in_library)
    blocks = _tiles(kind, n.most) if waits else 1
    kernel[blocks, threads, stream](ins, n.state, outs, init, words, blocks)


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
    separate(n.most, {"d_in": source}, {"d_out": output}, {("d_out", "d_in")})
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

    if inclusive and where is None and storage is POOL and n.kind is None and on_cpu():
        arrays = _arrays_to_sum(kind, op, source, output)
        if arrays is not None:
            sum_arrays(memory.stream, n.most, arrays, () if init_value is None else (init,))
            return None

    def library_words(kernel: str) -> str | None:
        choices = combine_choices(op, kind_) if output.value_type == kind_ and where is None else None
        flags = {"initial": int(init_value is not None), "exclusive": int(not inclusive)}
        return choices and words_of(kernel, n, source, output, **choices, **flags)

    return run_scan(make, kind, key, n, source.state, output.state, init, memory, op.is_exact(kind), library_words)


def _arrays_to_sum(kind: TypeDescriptor, op: Operator, source: Iterator, output: Iterator) -> list[Any] | None:
    """The arrays of NumPy whose sums the library makes by vectors, with the same bits; None where it does not."""
    arrays = [plain_array(it, (4, 8)) for it in (source, output)]
    are_floats = all(array is not None and array.dtype.kind == "f" and array.dtype == kind.dtype for array in arrays)
    return arrays if are_floats and op.known is OpKind.PLUS else None


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
