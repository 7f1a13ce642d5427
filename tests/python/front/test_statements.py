# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: PLW0120
"""Statements beyond branches and loops: with, match, assert, else of loops, := and what a break leaves bound. Each
program runs as Python too: the kernel's calls of `note` are its trace."""

from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
import tessera.tile as ct
from lower import LowerError, lower, run
from lower import array as array_spec

ROOM = 200


def note(out, value):
    i = ct.gather(out, 0) + 1
    ct.scatter(out, 0, i)
    ct.scatter(out, i, value)


def trace(kernel, *args):
    """What the kernel notes, in order; the same as when Python runs it with `note` as list.append."""
    out = np.zeros(ROOM, np.int32)
    run(kernel, out, *args)
    seen = out[1 : out[0] + 1].tolist()
    assert seen == host_trace(kernel, *args)
    return seen


def host_trace(kernel, *args):
    seen: list[int] = []
    scope = globals()
    device, scope["note"] = note, lambda out, value: seen.append(int(value))
    try:
        kernel(seen, *args)
    finally:
        scope["note"] = device
    return seen


# ---- with --------------------------------------------------------------------------------------------


@contextmanager
def around(out, first, last):
    n = first + 1
    note(out, first)
    yield n
    n = n + last
    note(out, n)


@contextmanager
def twice(out, a):
    with around(out, a, 1) as n, around(out, n, 2) as m:
        note(out, 77)
        yield m
        if a > 3:
            note(out, 78)
    note(out, 79)


def test_with_runs_what_stands_around_the_yield():
    def kernel(out, n):
        with around(out, n, 1) as v, twice(out, v) as w:
            note(out, w)
        note(out, 99)

    assert trace(kernel, 5) == [5, 6, 7, 77, 8, 78, 10, 8, 79, 7, 99]


@pytest.mark.parametrize("n", [0, 1, 2, 3, 9])
def test_break_continue_and_return_end_every_with_they_leave(n):
    def kernel(out, n):
        i = 0
        with around(out, 50, 0):
            while i < 4:
                i = i + 1
                with twice(out, i), around(out, 20, i):
                    if i == n:
                        break
                    if i == n - 1:
                        continue
                    note(out, 30)
                    for k in range(3):
                        with around(out, 60, k):
                            if k + i == 4:
                                break
                            if i + n == 12:
                                return
                note(out, 40)
            note(out, i)
        note(out, 90)

    trace(kernel, n)


@pytest.mark.parametrize("n", [0, 1, 2])
def test_return_in_a_branch_ends_the_with_once(n):
    def helper(out, n):
        with around(out, n, 1) as v:
            if n == 1:
                return v
            elif n == 2:
                note(out, 11)
            else:
                return 40
            with around(out, 5, 2) as w:
                note(out, w)
        return n + 30

    def kernel(out, n):
        note(out, helper(out, n))

    trace(kernel, n)


@contextmanager
def closing(out, a):
    def now():
        note(out, a)

    yield now
    a = a + 1
    note(out, 5)


@pytest.mark.parametrize("n", [0, 1])
def test_a_closure_of_a_generator_sees_its_variables(n):
    def kernel(out, n):
        with closing(out, 10 + n) as now:
            now()
            if n > 0:
                note(out, 3)
        now()

    trace(kernel, n)


@contextmanager
def no_yield(out):
    note(out, 1)


@contextmanager
def two_yields(out):
    yield
    yield


@contextmanager
def yield_in_loop(out):
    for _ in range(3):
        yield


@contextmanager
def returns(out):
    if ct.bid(0) == 1:
        return
    yield


def plain(out):
    yield


@pytest.mark.parametrize(("manager", "status", "text"), [
    (no_yield, "TILETYPE", "no 'yield' that can be reached"), (two_yields, "TILETYPE", "must have one 'yield'"),
    (yield_in_loop, "TILETYPE", "outside of loops and branches"), (returns, "SYNTAX", "has a 'return'"),
    (plain, "SYNTAX", "decorate the function with contextlib.contextmanager")])  # fmt: skip
def test_generators_that_are_no_context_managers(manager, status, text):
    def kernel(out):
        with manager(out):
            note(out, 1)

    with pytest.raises(LowerError, match=text) as caught:
        lower(kernel, array_spec("int32"))
    assert caught.value.status == status


# ---- else of loops, := -----------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [0, 1, 2, 3, 4, 5])
def test_else_of_loops_runs_without_break(n):
    def find(out, n):
        for i in range(4):
            if i == n:
                break
        else:
            note(out, 100)
            return 7
        note(out, 101)
        return 8

    def kernel(out, n):
        note(out, find(out, n))
        k = 0
        while k < n:
            for j in range(k):
                if j + k == 4:
                    note(out, j)
                    break
            else:
                k = k + 1
                if k == 3:
                    continue
                note(out, 20 + k)
                if k == 4:
                    break
            k = k + 1
        else:
            note(out, 55)
        for m in range(2):
            note(out, m)
        else:
            note(out, 66)

    trace(kernel, n)


@pytest.mark.parametrize("n", [0, 1, 2, 5])
def test_assignment_expressions(n):
    def kernel(out, n):
        i = 0
        while (k := i * 2) < n:
            i = i + 1
        note(out, k)
        if (m := n + 1) > 2 or (m := m + 10) > 5:
            note(out, m)
        note(out, m)
        p = (q := n) + q
        note(out, p)

    trace(kernel, n)


def test_an_assignment_expression_in_a_comprehension_is_refused():
    def kernel(out):
        note(out, tuple((last := i) + last for i in ct.static_iter(range(3)))[0])

    with pytest.raises(LowerError, match="in a comprehension is not part") as caught:
        lower(kernel, array_spec("int32"))
    assert caught.value.status == "SYNTAX"


@pytest.mark.parametrize("n", [1, 3])
def test_what_every_break_has_bound_is_bound_after_the_loop(n):
    def kernel(out, n):
        i = 0
        while True:
            i = i + 1
            if i > n:
                found, pair = i * 2, (i, 1)
                break
            if i == 3:
                found, pair = 50, (2, i)
                break
        note(out, found)
        note(out, pair[0] * 10 + pair[1])

    trace(kernel, n)


def test_what_one_break_lacks_has_no_value_after_the_loop():
    def kernel(out, n):
        i = 0
        while True:
            if i > n:
                break
            found = i
            i = i + 1
            if i == 3:
                break
        note(out, found)

    with pytest.raises(LowerError, match="variable 'found' has no value here"):
        run(kernel, np.zeros(ROOM, np.int32), 3)


# ---- assert ------------------------------------------------------------------------------------------------


def test_assertions_hold_where_they_are_reached():
    def kernel(out, n):
        assert out is not None, "needs an array"
        if n > 100:
            assert False, "never"
        assert n < 50
        note(out, n)

    assert trace(kernel, 5) == [5]
    with pytest.raises(LowerError, match="assertion"):
        run(kernel, np.zeros(ROOM, np.int32), 60)


# ---- match -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Circle:
    r: Any


@dataclass(frozen=True)
class Box:
    w: Any
    h: Any = 3


def area(shape):
    match shape:
        case Circle(r):
            return 3 * r * r
        case Box(w, h=3):
            return w * 3
        case Box(w=w, h=h) if w == h:
            return 1000 + w
        case (x, y) | (x, _, y):
            return x * 100 + y
        case (first, *rest, last) if len(rest) > 1:
            return first + last + len(rest)
        case int(n) | float(n):
            return n
        case "unit" | "one":
            return 1
        case None:
            return 2
        case _:
            return 0


@pytest.mark.parametrize("n", [1, 2, 4])
def test_match_by_structure(n):
    def kernel(out, n):
        note(out, area(Circle(n)))
        note(out, area(Box(n)))
        note(out, area(Box(n, 4)))
        note(out, area((n, 7)))
        note(out, area((n, 8, 9)))
        note(out, area((n, 8, 9, 10)))
        note(out, area(n))
        note(out, area("one"))
        note(out, area("two"))
        note(out, area(None))

    trace(kernel, n)


@pytest.mark.parametrize("n", range(6))
def test_match_by_value(n):
    def kernel(out, n):
        kind = 0
        for i in range(3):
            match n + i, i:
                case 2, _:
                    kind = kind + 1
                case (3, 0 | 1) | (4, 2):
                    continue
                case (k, 2) if k > 6:
                    break
                case k, j:
                    note(out, k * 10 + j)
            note(out, kind)
        match n:
            case 1:
                return
            case 2 | 3:
                note(out, 500)
        note(out, 600)

    trace(kernel, n)


# ---- values that branches and loops keep -------------------------------------------------------------------


def adder(step):
    def add(x, more=3):
        return x + step + more

    def twice(x):
        return add(add(x))

    return twice


@pytest.mark.parametrize("n", [0, 1, 5])
def test_closures_of_one_function_meet_with_what_they_hold(n):
    def kernel(out, n):
        if n > 1:
            add = adder(n + 1)
        else:
            add = adder(40)
        for i in range(n):
            if i == 3:
                add = adder(add(i))
        note(out, add(2))

    trace(kernel, n)


@pytest.mark.parametrize("n", [0, 1])
def test_constants_that_all_paths_agree_on_stay_constants(n):
    def kernel(out, n):
        size = 1
        while True:
            if n == 0:
                size = 2
                break
            size = 2
            break
        pair = (n, 4)
        if n > 0:
            pair = (n + 1, 4)
        if out is not None:
            ct.full((size, pair[1]), pair[0], ct.int32)
        note(out, size)
        note(out, pair[0])

    out = np.zeros(ROOM, np.int32)
    run(kernel, out, n)
    assert out[:3].tolist() == [2, 2, n + (n > 0)]


@pytest.mark.parametrize("dtype", ["int32", "int64", "int8"])
def test_ranges_with_steps_of_run_time_run_as_in_python(dtype):
    low, high = (-128, 127) if dtype == "int8" else (np.iinfo(dtype).min, np.iinfo(dtype).max)
    cases = [(a, b, s) for a in (-3, 0, 5) for b in (-4, 0, 6) for s in (-7, -2, -1, 1, 3)]
    cases += [(low, high, high), (high, low, low), (high, low, -high), (low, low + 3, 1), (high, high - 3, -2)]

    def kernel(out, a, b, s, n):
        found = ct.int64(0)
        turns = 0
        for i in range(a, b, s):
            found = found * 31 + i
            turns = turns + 1
            if turns == n:
                break
        ct.scatter(out, 0, found)
        for i in range(a, b, s):
            ct.scatter(out, 1, ct.gather(out, 1) * 31 + i)

    for case in cases:
        out, wanted = np.zeros(2, np.int64), [0, 0]
        run(kernel, out, *(np.array(v, dtype)[()] for v in case), 2)
        for k, value in enumerate(range(*case)):
            wanted = [wanted[0] * 31 + value if k < 2 else wanted[0], wanted[1] * 31 + value]
        assert out.tolist() == [(w + 2**63) % 2**64 - 2**63 for w in wanted], case


def test_a_step_of_zero_runs_nothing():
    def kernel(out, s):
        for i in range(0, 5, s):
            note(out, i)

    out = np.zeros(ROOM, np.int32)
    run(kernel, out, 0)
    assert out[0] == 0
