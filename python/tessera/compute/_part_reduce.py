# SPDX-License-Identifier: Apache-2.0
"""Reductions of many parts of a sequence, each by a group of neighbouring threads, for operators that are commutative.

    parts --> one group each, of 1 to 256 threads as the mean length asks for: thread t takes items t, t + group, ..,
              then the threads of the group put theirs together
          --> parts that are too long for that are listed, in pieces of PIECE items or more: blocks that have no parts
              wait until all others have ended, then take piece by piece, and who ends the last one of a part puts its
              pieces together

How a part is put together depends on its length, the number of parts and that of items only, so the bits of
floats are the same on all devices. One launch. There are fewer blocks that wait than a GPU holds at once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from numpy import int32, int64

from ._engine import THREADS, Memory, cores_for, kernel_of, on_cpu
from .iterators import Iterator
from .op import Operator
from .types import TypeDescriptor

__all__ = ["Plan", "plan_of", "reduce_parts", "takes"]

Function = Callable[..., Any]


class Plan(NamedTuple):
    """How parts are taken."""

    group: int  # threads of a part
    most: int  # items that they take, at most


# Up to a mean length; us of 2^24 items on an H100 by groups of 1, 4, 8, 32: of 8 items 48, 90, 130, -; of 32 -, 43, 54,
# 129; of 1,000 -, -, 39, 54.
_PLANS = (
    (16, Plan(1, 128)), (64, Plan(4, 512)), (512, Plan(8, 2048)), (2048, Plan(16, 4096)), (8192, Plan(32, 8192)),
    (1 << 62, Plan(THREADS, 1 << 14)),
)  # fmt: skip
_FILLED = 1 << 17  # threads that keep a GPU busy
PIECE = 1 << 13  # items of a piece, at least, and
MOST_PIECES = 2048  # of a part
_AT_ONCE = 8  # items of a thread that are read at once
_MOST_BYTES = 16  # of a value: a thread has one
_RESIDENT, _WAITING = 8, 4  # blocks of a multiprocessor: that there are registers for, that wait
_CORE = 1 << 15  # items that are worth a core of a CPU
_FEW_AT_ONCE = 64  # parts whose pieces cores share before these are put together
_ENDED, _USED, _PIECES, _LISTED, _TAKEN, _LEFT, _COUNTERS = range(7)  # blocks that ended, places of values that
# were asked for, pieces that have one, listed parts, pieces that are taken, waiting blocks that have ended
_PART, _FROM, _DONE, _FIELDS = range(4)  # of a listed part: its number, where its values begin, pieces that are done


def plan_of(items: int, parts: int) -> Plan:
    """The plan for so many parts of so many items in all, or about: of few parts the groups are greater."""
    mean = items // max(1, parts)
    return next(
        plan for k, (most, plan) in enumerate(_PLANS)
        if mean <= most and (parts * plan.group >= _FILLED or mean < _PLANS[min(k + 1, len(_PLANS) - 1)][1].group)
        or k == len(_PLANS) - 1
    )  # fmt: skip


def takes(op: Operator, kind: TypeDescriptor) -> bool:
    """Whether parts are reduced by groups."""
    return op.commutative and kind.size <= _MOST_BYTES


def _room(plan: Plan, items: int) -> int:
    """How many pieces may be listed: all there are, unless parts overlap."""
    return 2 * (items // min(plan.most, PIECE)) + 2


def _needs(plan: Plan, items: int, parts: int, kind: TypeDescriptor) -> list[tuple[Any, int]]:
    """Temporary memory; on a GPU the first two are counters."""
    if on_cpu():
        return [(kind.dtype, MOST_PIECES * min(parts, _FEW_AT_ONCE) if plan.group == THREADS else 1)]
    room = _room(plan, items)
    return [(int64, _COUNTERS), (int64, _FIELDS * room), (int32, room), (kind.dtype, room)]


def reduce_parts(
    source: Iterator, starts: Iterator, ends: Iterator, output: Iterator, op: Operator, kind: TypeDescriptor, init: Any,
    parts: int, memory: Memory,
) -> int | None:  # fmt: skip
    """Reduces parts of a sequence whose length is known.

    Returns
    -------
    int or None
        The bytes of temporary memory, if the caller only asks.
    """
    items: Any = source.length
    plan = plan_of(items, parts)
    found = memory.take(*_needs(plan, items, parts, kind), counters=0 if on_cpu() else 2)
    if found is None:
        return memory.nbytes
    if not parts:
        return None
    are_few, cast_out = plan.group == THREADS, (output.value_type or kind).cast
    make = (_few_on_cpu if are_few else _by_groups_on_cpu) if on_cpu() else _by_groups
    kernel = kernel_of(
        make, (source.kind, starts.kind, ends.kind, output.kind, op.key, kind, plan),
        lambda: (source.load(), starts.load(), ends.load(), output.store(), op.function, kind, cast_out, plan),
        () if on_cpu() else (THREADS, _RESIDENT),
    )  # fmt: skip
    given = source.state, starts.state, ends.state, parts, output.state, init
    if on_cpu():
        more = (found[0], min(parts, _FEW_AT_ONCE)) if are_few else ()
        kernel[cores_for(items, _CORE), 1, memory.stream](*given, *more)
        return None
    owners = -(-parts * plan.group // THREADS)
    blocks = owners + max(1, min(_waiting(), items // plan.most))
    kernel[blocks, THREADS, memory.stream](*given, *found, _room(plan, items), owners)
    return None


def _waiting() -> int:
    from ..cuda import get_current_device

    return _WAITING * int(get_current_device().MULTIPROCESSOR_COUNT)


def _pieces(m: Any) -> Any:
    """In kernels: how many pieces a part of m items has, and items of a piece."""
    number = max(min((m + (PIECE - 1)) // PIECE, MOST_PIECES), 1)
    each = ((m + (number - 1)) // number + (THREADS - 1)) // THREADS * THREADS
    return int32((m + (each - 1)) // max(each, 1)), each


def _finishing(store: Function, op: Function, cast: Function, cast_out: Function) -> Function:
    def finish(out: Any, part: Any, init: Any, total: Any) -> None:
        store(out, part, cast_out(cast(op(cast(init), total))))

    return finish


def _of_lane(load: Function, op: Function, cast: Function, zero: Any, group: int) -> Function:
    """The function of a kernel that gives what a lane of a group has of the n items from one on."""
    from ..cuda._device import is_quick

    each = tuple(range(_AT_ONCE))

    def guarded(src: Any, first: Any, n: Any, i: Any, total: Any) -> Any:
        items = tuple(load(src, first + min(i + k * group, n - 1)) for k in each)
        for k in each:
            if i + k * group < n:
                total = cast(op(total, cast(items[k])))
        return total

    def of_lane(src: Any, first: Any, n: Any, lane: Any) -> Any:
        total = cast(zero)
        if n > 0:
            total, i = cast(load(src, first + min(lane, n - 1))), int32(lane + group)
            if is_quick():
                for j in range(i, n, group):
                    total = cast(op(total, cast(load(src, first + j))))
            else:
                for _ in range((n - group) // (group * _AT_ONCE)):
                    at = first + i
                    items = tuple(load(src, at + k * group) for k in each)
                    for item in items:
                        total = cast(op(total, cast(item)))
                    i = int32(i + group * _AT_ONCE)
                if i - lane < n:
                    total = guarded(src, first, n, i, total)
        return total

    return of_lane


def _together(op: Function, group: int) -> Function:
    """The function of a kernel that puts together what the first ``n`` lanes of each group have; the first gets it."""
    from ..coop import block
    from ..coop._warp_scan import reduce_lanes

    def of_block(x: Any, n: Any) -> Any:
        return block.reduce(x, op, threads=THREADS, num_valid=max(min(n, THREADS), 1))

    def of_lanes(x: Any, n: Any) -> Any:
        return reduce_lanes(x, op, group, min(n, group))

    return of_block if group > 32 else of_lanes


def _of_thread() -> Function:
    """The function of a kernel that gives all threads of a block what thread t has."""
    from ..coop._values import shared_like
    from ..cuda import syncthreads, threadIdx

    def of_thread(x: Any, t: Any) -> Any:
        place = shared_like(1, x)
        syncthreads()
        if threadIdx.x == t:
            place[0] = x
        syncthreads()
        return place[0]

    return of_thread


class _Block(NamedTuple):
    """Functions of a kernel by which a block reduces a piece, whose items are loaded, or the values of pieces."""

    of_items: Function
    of_values: Function


def _of_block(load: Function, op: Function, kind: TypeDescriptor) -> _Block:
    from ..cuda import threadIdx

    get, together = kind.get, _together(op, THREADS)

    def maker(load: Function) -> Function:
        of_lane = _of_lane(load, op, kind.cast, kind.zero, THREADS)
        return lambda src, first, n: together(of_lane(src, first, n, threadIdx.x), n)

    return _Block(maker(load), maker(lambda values, i: get(values, i)))


def _taking_pieces(load: Function, bounds: Function, op: Function, kind: TypeDescriptor, finish: Function) -> Function:
    """The function of a kernel by which a block takes pieces of listed parts, as long as there are some."""
    from ..cuda import atomic, ldcv, syncthreads, threadfence, threadIdx

    (of_items, of_values), put, of_thread = _of_block(load, op, kind), kind.put, _of_thread()

    def take(
        src: Any, starts: Any, ends: Any, out: Any, init: Any, counters: Any, list_: Any, where: Any, values: Any
    ) -> None:
        listed, goes_on = ldcv(counters, _PIECES), True
        while goes_on:
            at = int64(0)
            if threadIdx.x == 0:
                at = atomic.add(counters, _TAKEN, 1)
            at = of_thread(at, 0)
            goes_on = at < listed
            if goes_on:
                place = int64(ldcv(where, at)) * _FIELDS
                part, base = ldcv(list_, place + _PART), ldcv(list_, place + _FROM)
                first, m = bounds(starts, ends, part)
                number, each = _pieces(m)
                c, done = at - base, int64(0)
                total = of_items(src, first + c * each, int32(min(each, m - c * each)))
                if threadIdx.x == 0:
                    put(values, at, total)
                    threadfence()
                    done = atomic.add(list_, place + _DONE, 1) + 1
                if of_thread(done, 0) == number:
                    threadfence()
                    total = of_values(values, base, number)
                    if threadIdx.x == 0:
                        finish(out, part, init, total)
                        for k in range(_FIELDS):
                            list_[place + k] = 0
                syncthreads()

    return take


def _listing(load: Function, bounds: Function, op: Function, kind: TypeDescriptor, finish: Function) -> Function:
    """The function of a kernel by which threads list long parts. What there is no room for their block reduces itself,
    as others would put it together."""
    from ..cuda import atomic, syncthreads_or, threadIdx

    (of_items, _), of_thread, cast, zero, together = (
        _of_block(load, op, kind), _of_thread(), kind.cast, kind.zero, _together(op, THREADS)
    )  # fmt: skip

    def enlist(counters: Any, list_: Any, where: Any, room: Any, part: Any, number: Any) -> Any:
        at = atomic.add(counters, _USED, int64(number))
        if at + number > room:
            return False
        place = atomic.add(counters, _LISTED, 1)
        atomic.add(counters, _PIECES, int64(number))
        list_[place * _FIELDS + _PART] = part
        list_[place * _FIELDS + _FROM] = at
        for c in range(number):
            where[at + c] = int32(place)
        return True

    def alone(src: Any, starts: Any, ends: Any, out: Any, init: Any, part: Any) -> None:
        t, so_far = threadIdx.x, cast(zero)
        first, m = bounds(starts, ends, part)
        number, each = _pieces(m)
        for c in range(number):
            there = of_thread(of_items(src, first + c * each, int32(min(each, m - c * each))), 0)
            if t == c % THREADS:
                so_far = cast(op(so_far, there)) if c >= THREADS else there
        so_far = together(so_far, number)
        if t == 0:
            finish(out, part, init, so_far)

    def list_parts(
        src: Any, starts: Any, ends: Any, parts: Any, out: Any, init: Any, counters: Any, list_: Any, where: Any,
        room: Any, at: Any, n: Any, most: Any,
    ) -> None:  # fmt: skip
        """Of the n parts from ``at`` on those of more than ``most`` items."""
        t, is_left = threadIdx.x, False
        if t < n and at + t < parts:
            _, m = bounds(starts, ends, at + t)
            if m > most:
                number, _ = _pieces(m)
                is_left = not enlist(counters, list_, where, room, at + t, number)
        if syncthreads_or(is_left) != 0:
            for k in range(n):
                if of_thread(int32(1 if is_left else 0), k) != 0:
                    alone(src, starts, ends, out, init, at + k)

    return list_parts


def _by_groups(
    load: Function, start: Function, end: Function, store: Function, op: Function, kind: TypeDescriptor,
    cast_out: Function, plan: Plan,
) -> Callable[..., None]:  # fmt: skip
    """The kernel for a GPU, of THREADS threads a block."""
    from ..cuda import atomic, blockIdx, gridDim, ldcv, syncthreads, syncthreads_or, threadfence, threadIdx

    cast, (group, most) = kind.cast, plan
    per_block, of_lane, together = THREADS // group, _of_lane(load, op, cast, kind.zero, group), _together(op, group)
    finish = _finishing(store, op, cast, cast_out)

    def bounds(starts: Any, ends: Any, part: Any) -> Any:
        first = start(starts, part)
        return first, end(ends, part) - first

    take, list_parts = _taking_pieces(load, bounds, op, kind, finish), _listing(load, bounds, op, kind, finish)

    def short_part(src: Any, starts: Any, ends: Any, parts: Any, out: Any, init: Any) -> Any:
        """A group reduces its part; gives whether it is too long for that."""
        lane, part = threadIdx.x % group, int64(blockIdx.x) * per_block + threadIdx.x // group
        first, m = int64(0), int64(0)
        if part < parts:
            first, m = bounds(starts, ends, part)
        n, is_long = int32(max(m, 0) if m <= most else 0), m > most
        total = together(of_lane(src, first, n, lane), n)
        if lane == 0 and part < parts:
            if n > 0:
                finish(out, part, init, total)
            elif not is_long:
                store(out, part, cast_out(cast(init)))
        return is_long

    def leave(counters: Any, owners: Any) -> None:
        """The last block that waited makes the counters zero again."""
        if threadIdx.x == 0:
            threadfence()
            if atomic.add(counters, _LEFT, 1) == gridDim.x - owners - 1:
                for k in range(_COUNTERS):
                    counters[k] = 0

    def reduce(
        src: Any, starts: Any, ends: Any, parts: Any, out: Any, init: Any, counters: Any, list_: Any, where: Any,
        values: Any, room: Any, owners: Any,
    ) -> None:  # fmt: skip
        if blockIdx.x < owners:
            is_long = short_part(src, starts, ends, parts, out, init)
            if syncthreads_or(is_long) != 0:
                at = int64(blockIdx.x) * per_block
                list_parts(
                    src, starts, ends, parts, out, init, counters, list_, where, room, at, per_block, most
                )
                syncthreads()
            if threadIdx.x == 0:
                threadfence()
                atomic.add(counters, _ENDED, 1)
            return
        if threadIdx.x == 0:
            while ldcv(counters, _ENDED) < owners:
                pass
            threadfence()
        syncthreads()
        take(src, starts, ends, out, init, counters, list_, where, values)
        leave(counters, owners)

    return reduce


# ---- on a CPU ------------------------------------------------------------------------------------------------------


def _pieces_on_cpu(op: Function, kind: TypeDescriptor, group: int) -> Callable[[Function], Function]:
    """The maker of a function of a kernel that reduces the n items from one on as a group does; ``s`` has room for what
    its lanes have."""
    cast, get, put, halvings = kind.cast, kind.get, kind.put, min(group, 32).bit_length() - 1

    def together(s: Any, m: Any) -> Any:
        lanes = m
        for _ in range(halvings):
            half = m // 2
            for t in range(half):
                put(s, t, cast(op(get(s, 2 * t), get(s, 2 * t + 1))))
            if m > 2 * half:
                put(s, half, get(s, m - 1))
            m -= half
        total = get(s, 0)
        for w in range(1, (lanes + 31) // 32):
            total = cast(op(total, get(s, w)))
        return total

    def maker(load: Function) -> Function:
        def piece(src: Any, first: Any, n: Any, s: Any) -> Any:
            lanes, full = min(n, group), n // group * group
            for t in range(lanes):
                put(s, t, cast(load(src, first + t)))
            for row in range(group, full, group):
                for t in range(group):
                    put(s, t, cast(op(get(s, t), cast(load(src, first + row + t)))))
            if full >= group:
                for t in range(n - full):
                    put(s, t, cast(op(get(s, t), cast(load(src, first + full + t)))))
            return together(s, lanes)

        def one_by_one(src: Any, first: Any, n: Any, s: Any) -> Any:
            total = cast(load(src, first))
            for i in range(first + 1, first + n):
                total = cast(op(total, cast(load(src, i))))
            return total

        return piece if group > 1 else one_by_one

    return maker


def _by_groups_on_cpu(
    load: Function, start: Function, end: Function, store: Function, op: Function, kind: TypeDescriptor,
    cast_out: Function, plan: Plan,
) -> Callable[..., None]:  # fmt: skip
    """The same for a CPU, with the same bits: each block, of one thread, takes neighbouring parts."""
    from ..cuda import blockIdx, gridDim, local

    cast, dtype, get, put = kind.cast, kind.dtype, kind.get, kind.put
    finish = _finishing(store, op, cast, cast_out)
    short, of_block = _pieces_on_cpu(op, kind, plan.group)(load), _pieces_on_cpu(op, kind, THREADS)
    piece, of_values = of_block(load), of_block(lambda values, i: get(values, i))

    def long(src: Any, first: Any, m: Any, s: Any, values: Any) -> Any:
        number, each = _pieces(m)
        for c in range(number):
            put(values, c, piece(src, first + c * each, min(each, m - c * each), s))
        return of_values(values, 0, number, s)

    def reduce(src: Any, starts: Any, ends: Any, parts: Any, out: Any, init: Any) -> None:
        s, values = local.array(THREADS, dtype), local.array(MOST_PIECES, dtype)
        b, blocks = int64(blockIdx.x), int64(gridDim.x)
        for part in range(parts * b // blocks, parts * (b + 1) // blocks):
            first = start(starts, part)
            m = end(ends, part) - first
            if m <= 0:
                store(out, part, cast_out(cast(init)))
            elif m <= plan.most:
                finish(out, part, init, short(src, first, m, s))
            else:
                finish(out, part, init, long(src, first, m, s, values))

    return reduce


def _few_on_cpu(
    load: Function, start: Function, end: Function, store: Function, op: Function, kind: TypeDescriptor,
    cast_out: Function, plan: Plan,
) -> Callable[..., None]:  # fmt: skip
    """The same where parts are few: blocks that wait for each other share the pieces of each part."""
    from ..cuda import blockIdx, cg, gridDim, local

    cast, dtype, get, put = kind.cast, kind.dtype, kind.get, kind.put
    finish = _finishing(store, op, cast, cast_out)
    of_block = _pieces_on_cpu(op, kind, THREADS)
    piece, of_values = of_block(load), of_block(lambda values, i: get(values, i))

    def cut(m: Any) -> Any:
        """A part that is short is one piece."""
        number, each = _pieces(m)
        return (int32(1), m) if 0 < m <= plan.most else (number, each)

    def reduce(
        src: Any, starts: Any, ends: Any, parts: Any, out: Any, init: Any, values: Any, at_once: Any
    ) -> None:
        """``values`` has room for those of ``at_once`` parts."""
        s, b, blocks = local.array(THREADS, dtype), int64(blockIdx.x), int64(gridDim.x)
        for low in range(0, parts, at_once):
            high = min(low + at_once, parts)
            for part in range(low, high):
                first = start(starts, part)
                m = end(ends, part) - first
                number, each = cut(m)
                for c in range((b + (blocks - part % blocks)) % blocks, number if m > 0 else 0, blocks):
                    n = min(each, m - c * each)
                    put(values, (part - low) * MOST_PIECES + c, piece(src, first + c * each, n, s))
            if blocks > 1:
                cg.this_grid().sync()
            for part in range(low + b, high, blocks):
                m = end(ends, part) - start(starts, part)
                number, _ = cut(m)
                if m > 0:
                    finish(out, part, init, of_values(values, (part - low) * MOST_PIECES, number, s))
                else:
                    store(out, part, cast_out(cast(init)))
            if blocks > 1:
                cg.this_grid().sync()

    return reduce
