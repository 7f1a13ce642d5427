# SPDX-License-Identifier: Apache-2.0
"""Which items are the first few in the order of their keys: kernels of radix select.

    digits of eleven bits, from the greatest ones down:
        the digits of keys that agree with what is known are counted; the one at which as many keys as are wanted have
        been met is the next digit of the last key that is taken
    keys before that one are taken, and of those that are equal to it as many as are missing, in their order
    what was taken is sorted

(Alabi, Blanchard, Gordon and Steinbach, "Fast k-selection algorithms for graphics processing units", 2012.) Keys are
read once for each digit and once to be taken; nothing is put aside but the few. On a GPU each read is a launch, on a
CPU all of it is one, of a block of one thread for each core. There, where few are wanted, keys are read once: what may
be among the few is put aside, and the digits of that are counted.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy

from ._arguments import Count
from ._choose import Choice, choice_memory, launch_choice
from ._engine import THREADS, kernel_of, on_cpu
from ._radix import Digits, parts_of
from ._select import moves
from .iterators import Iterator

__all__ = ["Order", "needs_of", "take_few"]

Function = Callable[..., Any]
_BITS = 11
_VALUES = 1 << _BITS
_COUNTED = 16  # items of a thread of a GPU, in one round
_BLOCKS = 1024  # of a GPU, at most: each adds its counts to those of all
_LOOK = 64  # items that are looked at at once on a CPU
_MOST_ASIDE = 1 << 16  # so few are wanted that numbers are put aside
_TAKEN = 8  # bytes of a number, at most: of how many a thread keeps as many as fit


class Order(NamedTuple):
    """What is chosen: the least numbers, of how many bits, and how many of them."""

    digits: Digits
    n: Count
    few: Count

    @property
    def places(self) -> int:
        """How many digits a number has."""
        return max(1, -(-self.digits.width // _BITS))

    @property
    def word(self) -> Any:
        """The dtype of numbers."""
        return numpy.uint32 if self.digits.width <= 32 else numpy.uint64

    @property
    def key(self) -> Any:
        return self.digits.width, self.digits.key, self.n.kind, self.few.kind


def _numbers(order: Order, load: Function) -> tuple[Function, Function, Function]:
    """Functions of a kernel: the number of an item; whether the digits above a place are those of a prefix; a digit."""
    bits, word, top = order.digits.bits, order.word, order.places - 1

    def number(ins: Any, i: Any) -> Any:
        return word(bits(load(ins[0], i)))

    def agrees(v: Any, place: Any, prefix: Any) -> Any:
        return place == top or v >> word(_BITS * (place + 1)) == prefix

    def digit(v: Any, place: Any) -> Any:
        return numpy.int32(v >> word(_BITS * place)) & (_VALUES - 1)

    return number, agrees, digit


# ---- on a GPU ------------------------------------------------------------------------------------------------------


def _counting(order: Order, load: Function) -> Callable[..., None]:
    """The kernel that finds the digit of one place: of the last number, and how many are missing that begin like it."""
    from ..coop.block import exclusive_sum
    from ..cuda import atomic, blockIdx, gridDim, shared, syncthreads, threadfence, threadIdx

    items_of, few_of, word, top = order.n.load(), order.few.load(), order.word, order.places - 1
    (number, agrees, digit), each = _numbers(order, load), tuple(range(_VALUES // THREADS))
    rounds, per_round = tuple(range(_COUNTED)), THREADS * _COUNTED

    def choose(counts: Any, last: Any, prefix: Any, left: Any) -> None:
        t, total = threadIdx.x, numpy.int64(0)
        for j in each:
            total += counts[1 + t * len(each) + j]
        before = exclusive_sum(total, threads=THREADS)
        if before < left and left <= before + total:
            d = t * len(each)
            while before + counts[1 + d] < left:
                before += counts[1 + d]
                d += 1
            last[0] = numpy.int64(word(prefix << word(_BITS)) | word(d))
            last[1] = left - before
        elif left == 0 and t == 0:
            last[0] = 0
            last[1] = 0
        syncthreads()
        for j in each:
            counts[1 + j * THREADS + t] = 0
        if t == 0:
            counts[0] = 0

    def count(ins: Any, n_: Any, few_: Any, place: Any, counts: Any, last: Any, taken: Any) -> None:
        s, is_last = shared.array(_VALUES, numpy.int32), shared.array(1, numpy.int32)
        t, n = threadIdx.x, items_of(n_)
        few, prefix, left = min(few_of(few_), n), word(0), min(few_of(few_), n)
        if place < top:
            prefix, left = word(last[0]), last[1]
        for j in each:
            s[j * THREADS + t] = 0
        syncthreads()
        for first in range(numpy.int64(blockIdx.x) * per_round, n, gridDim.x * per_round):
            at, here = first + t, numpy.int32(min(n - first, per_round))
            if here == per_round:
                found = tuple(number(ins, at + j * THREADS) for j in rounds)
            else:
                found = tuple(number(ins, first + min(t + j * THREADS, here - 1)) for j in rounds)
            for j in rounds:
                if t + j * THREADS < here and agrees(found[j], place, prefix):
                    atomic.add(s, digit(found[j], place), 1)
        syncthreads()
        for j in each:
            if s[j * THREADS + t] != 0:
                atomic.add(counts, 1 + j * THREADS + t, numpy.int64(s[j * THREADS + t]))
        threadfence()
        syncthreads()
        if t == 0:
            is_last[0] = atomic.add(counts, 0, numpy.int64(1)) == gridDim.x - 1
        syncthreads()
        if is_last[0] != 0:
            threadfence()
            if t == 0:
                taken[0] = few
            choose(counts, last, prefix, left)

    return count


def _taking(order: Order, load: Function, put: Function) -> Choice:
    """What is taken goes where as many stand before it: with ``put(outs, ins, to, few, i)``."""
    number, word = _numbers(order, load)[0], order.word

    def compared(ins: Any, i: Any, v: Any) -> Any:
        last = word(ins[-2][0])
        return v < last, v == last

    def put_less(outs: Any, ins: Any, to: Any, i: Any, v: Any) -> None:
        put(outs, ins, to, ins[-1][0], i)

    def put_equal(outs: Any, ins: Any, to: Any, i: Any, v: Any) -> None:
        few, left = ins[-1][0], ins[-2][1]
        if to < left:
            put(outs, ins, few - left + to, few, i)

    def finish(outs: Any, counts: Any) -> None:
        pass

    return Choice(number, compared, (put_less, put_equal), finish)


def _gpu_needs(n: int) -> list[tuple[Any, int]]:
    return [choice_memory(2, _TAKEN, n), (numpy.int64, 1 + _VALUES), (numpy.int64, 2)]


def _take_on_gpu(
    order: Order, load: Function, put: Any, key: Any, ins: Any, outs: Any, stream: Any, found: list[Any], taken: Any
) -> None:
    words, counts, last = found
    n, few = order.n, order.few
    counting = kernel_of(_counting, (key, order.key), lambda: (order, load))
    blocks = min(-(-n.most // (THREADS * _COUNTED)), _BLOCKS)
    for place in reversed(range(order.places)):
        counting[blocks, THREADS, stream](ins, n.state, few.state, place, counts, last, taken)
    launch_choice(
        lambda: _taking(order, load, put()), 2, _TAKEN, ("top", key, order.key), n, (*ins, last, taken), outs, stream,
        words,
    )  # fmt: skip


# ---- on a CPU ------------------------------------------------------------------------------------------------------


def _selecting(order: Order) -> tuple[Function, Function, Function]:
    """Functions of a kernel: counts the digits of some numbers, ``at(s, j)`` each; the digit at which ``left`` have
    been met, and how many have before it; the number that begins like a prefix with one digit more."""
    _, agrees, digit = _numbers(order, lambda ins, i: i)
    word, top = order.word, order.places - 1

    def count(at: Any, s: Any, first: Any, last: Any, place: Any, prefix: Any, mine: Any) -> None:
        for d in range(_VALUES):
            mine[d] = 0
        for j in range(first, last):
            v = at(s, j)
            if agrees(v, place, prefix):
                mine[digit(v, place)] += 1

    def chosen(counts: Any, part: Any, end: Any, left: Any) -> Any:
        before = numpy.int64(0)
        for d in range(_VALUES):
            here = numpy.int64(0)
            for p in range(part, end):
                here += counts[p, d]
            if before + here >= left:
                return d, before
            before += here
        return _VALUES - 1, before

    def longer(prefix: Any, place: Any, d: Any) -> Any:
        return word(d) if place == top else word(prefix << word(_BITS)) | word(d)

    return count, chosen, longer


def _number_aside(numbers: Any, j: Any) -> Any:
    return numbers[j]


def _filtering(order: Order, load: Function) -> Function:
    """The function of a kernel that puts numbers of a part aside, and their places: those that may be among the first
    few. Whenever there is no more room, what is behind the first few of these is dropped, and so is from then on what
    is not before the last of them. It says how many there are."""
    number, word = _numbers(order, load)[0], order.word
    count, chosen, longer = _selecting(order)
    places_of = tuple(reversed(range(order.places)))

    def shrunk(numbers: Any, places: Any, m: Any, few: Any, counts: Any, part: Any) -> Any:
        last, left, k = word(0), few, numpy.int64(0)
        for place in places_of:
            count(_number_aside, numbers, 0, m, place, last, counts[part])
            d, before = chosen(counts, part, part + 1, left)
            left -= before
            last = longer(last, place, d)
        for j in range(m):
            v = numbers[j]
            if v < last or (v == last and left > 0):
                if v == last:
                    left -= 1
                numbers[k] = v
                places[k] = places[j]
                k += 1
        return k, last

    def is_met(ins: Any, at: Any, limit: Any) -> Any:
        """Whether one of so many items comes no later than a limit; one by one would take five times as long."""
        met = 0
        for j in range(_LOOK):
            met += 1 if number(ins, at + j) <= limit else 0
        return met > 0

    def put_aside(
        ins: Any, first: Any, last: Any, few: Any, numbers: Any, places: Any, counts: Any, part: Any
    ) -> Any:
        m, limit, at = numpy.int64(0), ~word(0), first if few > 0 else last
        while at < last:
            end = min(at + _LOOK, last)
            if end < at + _LOOK or is_met(ins, at, limit):
                for i in range(at, end):
                    v = number(ins, i)
                    numbers[m] = v
                    places[m] = i
                    m += 1 if v <= limit else 0
                if m + _LOOK > numbers.shape[0]:
                    m, limit = shrunk(numbers, places, m, few, counts, part)
                    if limit == 0:
                        return m
                    limit -= word(1)
            at = end
        return m

    return put_aside


def _choosing(order: Order, load: Function, put: Function, filters: bool) -> Callable[..., None]:
    from ..cuda import blockIdx, cg, gridDim

    items_of, few_of, word = order.n.load(), order.few.load(), order.word
    number = _numbers(order, load)[0]
    count, chosen, longer = _selecting(order)
    put_aside = _filtering(order, load)
    places_of = tuple(reversed(range(order.places)))
    at, is_aside = (_number_aside, True) if filters else (number, False)

    def take(
        s: Any, places: Any, ins: Any, outs: Any, first: Any, last: Any, key: Any, few: Any, to: Any, equal: Any
    ) -> None:
        for j in range(first, last):
            v = at(s, j)
            if v < key:
                put(outs, ins, to, few, places[j] if is_aside else j)
                to += 1
            elif v == key and equal < few:
                put(outs, ins, equal, few, places[j] if is_aside else j)
                equal += 1

    def choose_of(
        s: Any, places: Any, ins: Any, first: Any, last: Any, few: Any, outs: Any, counts: Any, shares: Any, part: Any
    ) -> None:
        parts, grid, mine = numpy.int64(gridDim.x), cg.this_grid(), counts[part]
        prefix, less, equal, left = word(0), numpy.int64(0), numpy.int64(0), few
        for place in places_of:
            count(at, s, first, last, place, prefix, mine)
            grid.sync()
            d, before = chosen(counts, 0, parts, left)
            for e in range(d):
                less += mine[e]
            equal, left = mine[d], left - before
            prefix = longer(prefix, place, d)
            grid.sync()
        shares[part, 0] = less
        shares[part, 1] = equal
        grid.sync()
        to, equal = numpy.int64(0), few - left
        for p in range(part):
            to += shares[p, 0]
            equal += shares[p, 1]
        take(s, places, ins, outs, first, last, prefix, few, to, equal)

    def choose(
        ins: Any, n_: Any, few_: Any, outs: Any, counts: Any, shares: Any, numbers: Any, places: Any, taken: Any
    ) -> None:
        part, parts, n = numpy.int64(blockIdx.x), numpy.int64(gridDim.x), items_of(n_)
        first, last, few = n * part // parts, n * (part + 1) // parts, min(few_of(few_), n)
        if part == 0:
            taken[0] = few
        if is_aside:
            here, there = numbers[part], places[part]
            m = put_aside(ins, first, last, few, here, there, counts, part)
            choose_of(here, there, ins, numpy.int64(0), m, few, outs, counts, shares, part)
        else:
            choose_of(ins, 0, ins, first, last, few, outs, counts, shares, part)

    return choose


def _room_aside(order: Order) -> int:
    """How many numbers a part has room for; 0: so many of its items are wanted that nothing is put aside."""
    few, n = order.few.most, order.n.most
    return 2 * few + _VALUES + _LOOK if few <= min(n // parts_of(n) // 16, _MOST_ASIDE) else 0


def _cpu_needs(order: Order) -> list[tuple[Any, int]]:
    parts, room = parts_of(order.n.most), _room_aside(order)
    return [(numpy.int32, 1), (numpy.int64, 1), (numpy.int64, parts * _VALUES), (numpy.int64, parts * 2),
            (order.word, parts * room), (numpy.int64, parts * room)]  # fmt: skip


def _take_on_cpu(
    order: Order, load: Function, put: Any, key: Any, ins: Any, outs: Any, stream: Any, found: list[Any], taken: Any
) -> None:
    n, few, parts, room = order.n, order.few, parts_of(order.n.most), _room_aside(order)
    _, _, counts, shares, numbers, places = found
    kernel = kernel_of(_choosing, ("top", key, order.key, room > 0), lambda: (order, load, put(), room > 0))
    rows = (numbers.reshape(parts, room), places.reshape(parts, room)) if room else (numbers, places)
    kernel[parts, 1, stream](
        ins, n.state, few.state, outs, counts.reshape(parts, _VALUES), shares.reshape(parts, 2), *rows, taken
    )


# ---- on either -----------------------------------------------------------------------------------------------------


def needs_of(order: Order) -> list[tuple[Any, int]]:
    """What `take_few` takes of temporary memory, the first two are counters; then a number of type int64."""
    return [*(_cpu_needs(order) if on_cpu() else _gpu_needs(order.n.most)), (numpy.int64, 1)]


def take_few(
    order: Order, sources: list[Iterator], outputs: list[Iterator], only_last: bool, stream: Any, found: list[Any]
) -> None:
    """Moves the first few items of the sources, of which the first has the keys; with ``only_last`` the last of these.
    """
    load = sources[0].load()

    def put() -> Function:
        move = moves(tuple(it.load() for it in sources), outputs, 0)

        def put_there(outs: Any, ins: Any, to: Any, few: Any, i: Any) -> None:
            if not only_last:
                move(outs, ins, to, i, load(ins[0], i))
            elif to == few - 1:
                move(outs, ins, 0, i, load(ins[0], i))

        return put_there

    *found, taken = found
    take = _take_on_cpu if on_cpu() else _take_on_gpu
    key = (only_last, tuple(it.kind for it in sources), tuple(it.kind for it in outputs))
    states = tuple(it.state for it in sources), tuple(it.state for it in outputs)
    take(order, load, put, key, *states, stream, found, taken)
