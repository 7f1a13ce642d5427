# SPDX-License-Identifier: Apache-2.0
"""Operators of dataclasses, order of tuples, isinstance and type, max and min of constants: as Python has them."""

import enum
import math
import operator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import pytest
import tessera.tile as ct
from lower import LowerError, run


def check(condition):
    ct.static_assert(condition)


class Mixin:
    pass


@dataclass(frozen=True)
class Vector(Mixin):
    x: Any
    y: Any
    name: str = field(default="", compare=False)

    def __add__(self, other):
        if not isinstance(other, Vector):
            return NotImplemented
        return Vector(self.x + other.x, self.y + other.y)

    def __radd__(self, other):
        return Vector(other + self.x, other + self.y)

    def __mul__(self, factor):
        return Vector(self.x * factor, self.y * factor)

    def __neg__(self):
        return Vector(-self.x, -self.y)

    def __abs__(self):
        return self.x * self.x + self.y * self.y

    def __len__(self):
        return 2

    def __contains__(self, item):
        return item == self.x or item == self.y

    def __getitem__(self, i):
        return (self.x, self.y)[i]


@dataclass(frozen=True)
class Named(Vector):
    def __bool__(self):
        return self.x > 0


@dataclass(frozen=True, order=True)
class Version:
    major: int
    minor: int = 0


@dataclass(frozen=True, eq=False)
class Plain:
    x: int


@dataclass(frozen=True)
class Own:
    x: int

    def __eq__(self, other):
        return self.x == other

    def __lt__(self, other):
        return self.x < other


@dataclass(frozen=True)
class Masked:
    """A number that may be missing; comparisons give another one."""

    value: Any
    valid: Any

    def __gt__(self, other):
        return Masked(self.value > other, self.valid)

    def __bool__(self):
        return self.valid and self.value


class Pair(NamedTuple):
    a: Any
    b: Any


class Level(enum.IntEnum):
    LOW = 1


class Color(enum.Enum):
    RED = 1


class Access(enum.IntFlag):
    READ = 1
    WRITE = 2


def test_operators_of_dataclasses_are_their_methods():
    def kernel(out, n):
        v = Vector(1, 2) + Vector(n, 4) * 2
        w = sum((v, -v, Vector(5, 6)))
        for i, x in enumerate((v.x, v.y, w[0], abs(w), len(v), (3 + v).x, 1 if 2 in Vector(1, 2) else 0)):
            ct.scatter(out, i, x)
        v += Vector(1, 1)
        ct.scatter(out, 7, v.x)

    out = np.zeros(8, np.int32)
    run(kernel, out, 3)
    assert out.tolist() == [7, 10, 5, 61, 2, 10, 1, 8]


def test_a_comparison_gives_what_the_method_gives():
    def kernel(out, n):
        m = Masked(n, n != 5)
        above = m > 3
        ct.scatter(out, 0, ct.where(above.value, 1, 0) + ct.where(above.valid, 10, 0))
        if m > 3:
            ct.scatter(out, 1, 1)
        if 9 < m > 3:
            ct.scatter(out, 2, 1)

    for n, wanted in ((2, [10, 0, 0]), (4, [11, 1, 0]), (5, [1, 0, 0]), (7, [11, 1, 0])):
        out = np.zeros(3, np.int32)
        run(kernel, out, n)
        assert out.tolist() == wanted


def test_dataclasses_are_equal_by_their_fields():
    def kernel(out, n):
        check(Vector(1, 2) == Vector(1, 2.0, "other") and Vector(1, 2) != Vector(1, 3))
        check(Vector(1, 2) != Named(1, 2) and Vector(1, 2) != (1, 2) and Vector(1, 2) != "text")
        check(Version(1, 2) < Version(1, 3) and Version(2) >= Version(1, 9) and not Version(1) > Version(1))
        check(Own(3) == 3 and 3 == Own(3) and Own(3) != 4 and Own(3) < 4 and 5 > Own(3))
        check(Vector(1, 2) in (3, Vector(1, 2)) and {Vector(1, 2): 5}[Vector(1, 2)] == 5)
        ct.scatter(out, 0, ct.where(Vector(n, 1) == Vector(3, 1), 1, 0))

    for n in (3, 4):
        out = np.zeros(1, np.int32)
        run(kernel, out, n)
        assert out[0] == (n == 3)


def test_truth_of_dataclasses_is_their_bool_or_len():
    def kernel(out, n):
        check(bool(Vector(0, 0)) and not Named(0, 1) and bool(Named(1, 0)))
        check((Named(0, 1) or 5) == 5 and (Named(1, 0) and 5) == 5)
        if Named(n, 1):
            ct.scatter(out, 0, 1)

    for n in (0, 2):
        out = np.zeros(1, np.int32)
        run(kernel, out, n)
        assert out[0] == (n > 0)


def test_isinstance_and_type():
    def kernel(out, n):
        v, w = Vector(1, 2), Named(1, 2)
        check(isinstance(v, Vector) and isinstance(w, Vector) and isinstance(w, (int, Mixin)))
        check(not isinstance(v, Named))
        check(isinstance(1, int) and isinstance(True, int) and not isinstance(1.0, int) and isinstance("a", (str, int)))
        check(isinstance(Pair(1, 2), tuple) and isinstance(Pair(1, 2), Pair) and not isinstance((1, 2), Pair))
        check(isinstance(Level.LOW, int) and isinstance(Level.LOW, Level) and not isinstance(Color.RED, (int, Level)))
        check(isinstance(out, ct.Array) and isinstance(n, int) and isinstance(ct.zeros((2,), ct.int8), ct.Tile))
        check(type(v) is Vector and type(w) is not Vector and type(Color.RED) is Color and type(1) is int)
        check(type((1,)) is tuple and type(1.5) is float and type("") is str)
        check(hasattr(v, "x") and not hasattr(v, "z"))

    run(kernel, np.zeros(1, np.int32), 1)


@pytest.mark.parametrize("op", [operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne])
def test_tuples_of_constants_have_an_order(op):
    tuples = [(), (1,), (1, 2), (1, 2.0), (1, 3), (2,), ("a", 1), ("b", 0), ((1, 2), 3), ((1, 3), 0)]
    pairs = []
    for x in tuples:
        for y in tuples:
            try:
                pairs.append((x, y, op(x, y)))
            except TypeError:
                continue

    def kernel(out):
        for x, y, want in pairs:
            check(op(x, y) == want)

    run(kernel, np.zeros(1, np.int32))
    assert len(pairs) > 50


def test_text_is_searched_and_flags_hold_flags():
    def kernel(out):
        check("ab" in "cabd" and "x" not in "abc" and "" in "")
        check(Access.READ in (Access.READ | Access.WRITE) and Access.READ not in Access.WRITE)
        check((Access.READ | Access.WRITE) == 3 and (Access.READ & Access.WRITE) == 0 and not Access(1) & Access.WRITE)

    run(kernel, np.zeros(1, np.int32))


def test_max_and_min_of_constants_with_nan():
    nan = math.nan

    def kernel(out):
        values = (max(nan, 1.0), max(1.0, nan), min(nan, 1), min(2, nan), max(ct.float32(nan), 1.0), max(1, nan, 3.0),
                  ct.maximum(nan, 1.0), ct.minimum(1.0, nan), ct.maximum(1.0, nan, propagate_nan=True))  # fmt: skip
        for i, v in enumerate(values):
            ct.scatter(out, i, v)

    out = np.zeros(9, np.float32)
    run(kernel, out)
    np.testing.assert_array_equal(out, [nan, 1, nan, 2, nan, 3, 1, 1, nan])


def no_order():
    return Vector(1, 2) < Vector(1, 3)


def no_equality():
    return Plain(1) == Plain(1)


def no_operator():
    return Version(1) + 1


def no_class():
    return isinstance(1, 2)


@pytest.mark.parametrize(("body", "text"), [
    (no_order, "its class has no order"), (no_equality, "eq=False"), (no_operator, "cannot add instance of 'Version'"),
    (no_class, "takes a class or a tuple of classes")])  # fmt: skip
def test_what_dataclasses_lack(body, text):
    def kernel(out):
        body()

    with pytest.raises(LowerError, match=text):
        run(kernel, np.zeros(1, np.int32))


def test_constants_of_other_kinds_are_unequal_and_zeros_have_signs():
    def kernel(out):
        check(not (1 == (1,)) and (1,) != "a" and 5 != "5" and 2 not in ("a", (2,)))
        check(repr(0.0 % -2.5) == "-0.0" and repr(-0.0 % 2.5) == "0.0" and repr(abs(True)) == "1")

    run(kernel, np.zeros(1, np.int32))
