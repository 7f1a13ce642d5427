# SPDX-License-Identifier: Apache-2.0
"""Frozen dataclasses and named tuples: making, fields, methods, replace, branches and loops, what is refused."""

import dataclasses
from collections import namedtuple
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
import pytest
import tessera.tile as ct
from lower import LowerError, lower, run
from lower import array as array_spec


def ints(kernel, *args, n=8):
    """What a kernel writes into an array of int32 zeros."""
    out = np.zeros(n, np.int32)
    run(kernel, out, *args)
    return out.tolist()


@dataclass(frozen=True)
class Point:
    x: Any
    y: Any = 7
    scale: Any = dataclasses.field(default=3, kw_only=True)
    SIZE: ClassVar[int] = 11

    @property
    def area(self):
        return self.x * self.y

    def moved(self, by, times=1):
        return dataclasses.replace(self, x=self.x + by * times)

    @staticmethod
    def double(n):
        return 2 * n

    @classmethod
    def of(cls, n):
        return cls(n, n + 1)

    def __getitem__(self, i):
        return self.x + i

    def __call__(self, n):
        return self.area + n


@dataclass(frozen=True)
class Longer(Point):
    z: Any = 5

    @property
    def area(self):
        return self.x + self.y + self.z


Pair = namedtuple("Pair", "first second", defaults=[40])


class Row(NamedTuple):
    left: int
    right: int = 9

    def total(self):
        return self.left + self.right


def test_fields_by_position_name_and_default():
    def kernel(out, n):
        p, q = Point(n, scale=4), Point(y=2, x=1)
        values = (p.x, p.y, p.scale, q.x, q.y, q.scale, Point.SIZE, p.SIZE)
        for i, v in ct.static_iter(enumerate(values)):
            ct.scatter(out, i, v)

    assert ints(kernel, 5) == [5, 7, 4, 1, 2, 3, 11, 11]


def test_methods_properties_and_the_class():
    def kernel(out, n):
        p = Point(n)
        values = (p.area, p.moved(2).x, p.moved(2, times=3).x, p.double(4), Point.double(5), Point.of(n).y, p[1], p(1))
        for i, v in ct.static_iter(enumerate(values)):
            ct.scatter(out, i, v)

    assert ints(kernel, 5) == [35, 7, 11, 8, 10, 6, 6, 36]


def test_a_derived_class_has_the_fields_of_its_base_and_its_own_methods():
    def kernel(out, n):
        p = Longer(n, 1, 2)
        q = p.moved(10)
        values = (p.x, p.y, p.z, p.scale, p.area, p(1), q.area, q.z)
        for i, v in ct.static_iter(enumerate(values)):
            ct.scatter(out, i, v)

    assert ints(kernel, 5) == [5, 1, 2, 3, 8, 9, 18, 2]


def test_instances_go_through_branches_and_loops():
    def kernel(out, n):
        p, row = Point(1, y=(1, 2)), Row(0)
        for i in range(n):
            p = dataclasses.replace(p, x=p.x + i, y=(p.y[1], p.y[0]))
            row = row._replace(left=row.left + 2)
        if n > 3:
            p = Point(p.x * 2, p.y)
        ct.scatter(out, 0, p.x)
        ct.scatter(out, 1, p.y[0])
        ct.scatter(out, 2, row.total())
        ct.scatter(out, 3, p.scale)

    assert ints(kernel, 3, n=4) == [4, 2, 15, 3]
    assert ints(kernel, 4, n=4) == [14, 1, 17, 3]


def test_a_conflict_of_classes_is_found_where_it_is_read():
    def kernel(out, n):
        p = Point(1)
        if n > 3:
            p = Longer(1)
        ct.scatter(out, 0, p.x)

    with pytest.raises(LowerError, match="instance of 'Longer' in one branch, instance of 'Point' in the other"):
        ints(kernel, 3)


def test_named_tuples_are_tuples_with_names():
    def kernel(out, n):
        p, row = Pair(n), Row(right=n, left=1)
        first, second = p
        values = (first, second, p.second, p[0], len(row), row.left, row.total(), Row(1, 2) == (1, 2))
        for i, v in ct.static_iter(enumerate(values)):
            ct.scatter(out, i, v)

    assert ints(kernel, 5) == [5, 40, 40, 5, 2, 1, 6, 1]


made = Point((1, 2), Row(3))


def test_instances_of_the_host_are_constants():
    def kernel(out):
        ct.scatter(out, 0, ct.sum(ct.full((made.y.left + 1,), made.x[1], ct.int32)))
        ct.scatter(out, 1, made.y.total())
        ct.scatter(out, 2, made.moved((3,)).x[2] if False else made.scale)

    assert ints(kernel, n=3) == [8, 12, 3]


def test_post_init_runs_once_for_every_instance():
    @dataclass(frozen=True)
    class Noted:
        out: Any
        at: Any

        def __post_init__(self):
            ct.atomic_add(self.out, self.at, 1)

    def kernel(out):
        first = Noted(out, 0)
        dataclasses.replace(first, at=1)

    assert ints(kernel, n=3) == [1, 1, 0]


def test_setitem_stores():
    @dataclass(frozen=True)
    class Writer:
        out: Any

        def __setitem__(self, i, value):
            ct.scatter(self.out, i, value + 1)

    def kernel(out):
        writer = Writer(out)
        writer[2] = 4

    assert ints(kernel, n=3) == [0, 0, 5]


@dataclass
class Soft:
    x: int


@dataclass(frozen=True)
class Factory:
    x: Any = dataclasses.field(default_factory=tuple)


@dataclass(frozen=True)
class NoInit:
    x: int = dataclasses.field(init=False, default=1)


@dataclass(frozen=True)
class Written:
    x: int

    def __init__(self):
        pass


class Plain(Point):
    pass


@pytest.mark.parametrize(("cls", "why"), [
    (Soft, "only frozen dataclasses"), (Factory, "default_factory"), (NoInit, "init=False"),
    (Written, "no generated __init__"), (Plain, "derived from a dataclass")])  # fmt: skip
def test_classes_that_kernels_cannot_make_say_why(cls, why):
    def kernel(out):
        cls(1)

    with pytest.raises(LowerError, match=why) as caught:
        lower(kernel, array_spec())
    assert caught.value.status == "TILETYPE"


def misses():
    Point()


def twice():
    Point(1, x=2)


def unknown():
    Point(1, w=2)


def many():
    Row(1, 2, 3)


def replaces():
    dataclasses.replace(Point(1), w=2)


def attribute():
    return Point(1).scales


def calls():
    Longer(1, 2)(1)(2)


@pytest.mark.parametrize(("body", "text"), [
    (misses, r"Point\(\) misses its argument 'x'"), (twice, r"Point\(\) got 'x' twice"),
    (unknown, "'Point' has no field 'w'"), (many, r"Row\(\) takes at most 2 arguments by position, got 3"),
    (replaces, "'Point' has no field 'w'"), (attribute, "did you mean 'scale'"),
    (calls, "cannot be called")])  # fmt: skip
def test_mistakes_name_class_and_field(body, text):
    def kernel(out):
        body()

    with pytest.raises(LowerError, match=text):
        lower(kernel, array_spec())
