# SPDX-License-Identifier: Apache-2.0
"""Dataclasses and named tuples as arguments of kernels."""

import collections
import dataclasses
import random
import typing
from typing import Any

import numpy as np
import pytest
import tessera
import tessera.tile as ct


@dataclasses.dataclass(frozen=True)
class Inner:
    a: int
    idx: Any = ()

    def twice(self):
        return self.a * 2

    @property
    def last(self):
        return self.idx[-1]


@dataclasses.dataclass(frozen=True)
class Outer:
    x: Any
    inner: Any
    scale: float = 1.0


class Pair(typing.NamedTuple):
    first: Any
    second: Any


Point = collections.namedtuple("Point", ["x", "y"])
ORIGIN = Point(0, 0)


@dataclasses.dataclass
class Thawed:
    a: int


@dataclasses.dataclass(frozen=True)
class Sized:
    """Fields that arrays have, too."""

    shape: int
    dtype: Any


@dataclasses.dataclass(frozen=True)
class Annotated:
    x: ct.Array
    size: "ct.Constant[int]"
    big: ct.ScalarInt64
    point: Point = ORIGIN
    next: "Annotated" = None


def out_of(kernel, *args, n=4):
    out = np.zeros(n, np.float32)
    ct.launch(None, (1,), kernel, (out, *args))
    return out.tolist()


@ct.kernel
def nested(out, p, q):
    ct.scatter(out, 0, p.first.inner.twice() + p.first.inner.last + p.first.scale)
    ct.scatter(out, 1, ct.gather(p.first.x, q[0].a))
    outer, text = p
    ct.scatter(out, 2, len(p) + text)
    ct.scatter(out, 3, dataclasses.replace(outer.inner, a=9).a)


def test_nested_records_with_arrays_numbers_and_tuples():
    x = np.arange(8, dtype=np.float32)
    args = Pair(Outer(x, Inner(5, (1, 2)), 0.5), 7), (Inner(3),)
    assert out_of(nested, *args) == [12.5, 3, 9, 9]


def test_values_make_no_new_version_but_classes_do():
    @ct.kernel
    def kernel(out, p):
        ct.scatter(out, 0, p[0] - p[1])

    assert [out_of(kernel, p)[0] for p in (Pair(5, 3), Pair(9, 1))] == [2, 8]
    assert kernel._stats()["specialised"] == 1
    assert [out_of(kernel, p)[0] for p in (Point(7, 3), (4, 3))] == [4, 1]
    assert kernel._stats()["specialised"] == 3


def test_two_classes_of_equal_fields_have_their_own_methods():
    def class_of(sign):
        @dataclasses.dataclass(frozen=True)
        class Number:
            n: int

            def get(self):
                return self.n * sign

        return Number

    @ct.kernel
    def kernel(out, a, b):
        ct.scatter(out, 0, a.get())
        ct.scatter(out, 1, b.get())

    up, down = class_of(1), class_of(-1)
    assert out_of(kernel, up(3), down(4))[:2] == [3, -4]
    assert out_of(kernel, down(3), up(4))[:2] == [-3, 4]


def test_arrays_of_fields_are_written_and_lists_of_arrays_too():
    @ct.kernel
    def kernel(d):
        ct.scatter(d.arrays[0], (), d.val)
        ct.scatter(d.arrays[1], (), d.val * 2)

    Arg = dataclasses.make_dataclass("Arg", ["arrays", "val"], frozen=True)
    x, y = np.zeros((), np.float32), np.zeros((), np.float32)
    ct.launch(None, (1,), kernel, (Arg([x, y], 2.5),))
    assert (x[()], y[()]) == (2.5, 5)


def test_static_eval_sees_instances():
    seen = []

    @ct.kernel
    def kernel(out, p):
        ct.static_eval(seen.append((type(p).__name__, p.idx)))
        ct.scatter(out, 0, p.a)

    assert out_of(kernel, Inner(4, ()))[0] == 4
    assert seen == [("Inner", ())]


def test_fields_follow_their_annotations():
    @ct.kernel
    def kernel(out, a: Annotated):
        ct.scatter(out, 0, ct.sum(ct.load(a.x, (0,), (a.size,))))
        ct.scatter(out, 1, ct.astype(a.big // 2**32, ct.float32))
        ct.scatter(out, 2, a.point.y)

    x = np.arange(8, dtype=np.float32)
    assert out_of(kernel, Annotated(x, 4, 2**33, Point(1, 2)))[:3] == [6, 2, 2]
    assert out_of(kernel, Annotated(x, 8, 2**34, Point(1, 3)))[:3] == [28, 4, 3]
    with pytest.raises(TypeError, match="argument 'a': is annotated with a dataclass .* but is a tuple; pass"):
        out_of(kernel, (x, 4, 5, Point(0, 0), None))
    with pytest.raises(TypeError, match=r"argument 'a.x': is a str"):
        out_of(kernel, Annotated("x", 4, 5))


def test_constants_stay_whole():
    @ct.kernel
    def kernel(out, c: ct.Constant, t: tuple[ct.Constant[Inner], Any]):
        ct.scatter(out, 0, c.first + len(c.second))
        ct.scatter(out, 1, ct.sum(ct.full((t[0].a,), 1.0, ct.float32)) + t[1].a)

    assert out_of(kernel, Pair(4, "abc"), (Inner(8), Inner(2)))[:2] == [7, 10]
    assert out_of(kernel, Pair(4, "ab"), (Inner(16), Inner(3)))[:2] == [6, 19]


def test_fields_that_arrays_have_too():
    @ct.kernel
    def kernel(out, s):
        ct.scatter(out, 0, s.shape)

    assert out_of(kernel, Sized(3, 4))[0] == 3
    assert kernel.report(np.zeros(4, np.float32), Sized(3, 4), grid=1)


REFUSED = [
    (Inner(object()), TypeError, r"argument 'p\.a': is an object; a kernel takes arrays"),
    (Inner(1, (0, "text")), TypeError, r"argument 'p\.idx\[1\]': is a str"),
    (Inner(1, Pair(0, "x")), TypeError, r"argument 'p\.idx\.second': is a str"),
    (Pair(1 << 40, 2), OverflowError, r"argument 'p\.first': 1099511627776 does not fit int32"),
    (Thawed(1), TypeError, r"argument 'p': is a Thawed, a dataclass that is not frozen; decorate it with "),
    ((1, Thawed(1)), TypeError, r"argument 'p\[1\]': is a Thawed"),
    (Pair(1, [Inner(1)]), TypeError, "item 0 of the list is not an array"),
    (Inner(1, tuple(range(130))), TypeError, "at most 128 arguments"),
    (Inner(1, (Inner(1, (Inner, 2)), 3)), TypeError, r"argument 'p\.idx\[0\]\.idx\[0\]': is a type"),
]


@pytest.mark.parametrize(("value", "error", "text"), REFUSED)
def test_messages_name_the_field(value, error, text):
    @ct.kernel
    def kernel(out, p):
        ct.scatter(out, 0, 1)

    with pytest.raises(error, match=f"kernel 'kernel', .*{text}"):
        out_of(kernel, value)


def test_prepare_and_written_arrays():
    @ct.kernel
    def kernel(d):
        ct.scatter(d.x, 0, ct.gather(d.inner[1].x, 0))

    args = (Outer(np.zeros(4, np.float32), (3, Outer(np.ones(4, np.float32), None))),)
    assert tessera._core.prepare(None, kernel, args)["written"] == [True, False]
    from tessera._arguments import array_args

    assert [a[0] for a in array_args(args)] == [0, 1]


def test_arrays_live_until_a_stream_has_run():
    from tessera.core import Device

    device = Device("cpu")
    stream = device.create_stream()
    x = tessera.zeros((4,), "float32", device="cpu")

    @ct.kernel
    def kernel(d):
        ct.scatter(d.x, 0, d.scale)

    ct.launch(stream, (1,), kernel, (Outer(x, None, 3.0),))
    stream.sync()
    assert np.asarray(x)[0] == 3


# ---- random arguments, against the same walk in Python -----------------------------------------------


class Maker:
    """Nested values of tuples, records, numbers and arrays; and where each number of them is."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.leaves = 0

    def value(self, depth):
        kind = self.random.choice(["number", "array", "tuple", "point", "inner", "outer"] if depth else ["number"])
        self.leaves += kind in ("number", "array")
        if kind == "number" or self.leaves > 30:
            return self.random.choice([self.random.randrange(100), self.random.randrange(100) / 2, True])
        if kind == "array":
            return np.full(self.random.randrange(1, 4), self.random.randrange(100), np.float32)
        if kind == "tuple":
            return tuple(self.value(depth - 1) for _ in range(self.random.randrange(4)))
        parts = [self.value(depth - 1) for _ in range(3)]
        return {"point": Point(*parts[:2]), "inner": Inner(*parts[:2]), "outer": Outer(*parts)}[kind]


def paths(value, text):
    """Source texts that read each leaf of the value, and what they give."""
    if isinstance(value, (Point, Inner, Outer)):
        names = value._fields if isinstance(value, Point) else [f.name for f in dataclasses.fields(value)]
        return [found for n in names for found in paths(getattr(value, n), f"{text}.{n}")]
    if isinstance(value, tuple):
        return [found for i, item in enumerate(value) for found in paths(item, f"{text}[{i}]")]
    if isinstance(value, np.ndarray):
        return [(f"ct.gather({text}, {len(value) - 1})", float(value[-1]))]
    return [(f"ct.astype({text}, ct.float32)", float(value))]


@pytest.mark.parametrize("seed", range(12))
def test_random_values(seed):
    make = Maker(seed)
    args = [make.value(3) for _ in range(3)]
    leaves = [leaf for name, arg in zip("abc", args, strict=True) for leaf in paths(arg, name)]
    lines = [f"    ct.scatter(out, {i}, {text})" for i, (text, _) in enumerate(leaves)]
    source = "\n".join(["import tessera.tile as ct", "", "def kernel(out, a, b, c):", *lines, ""])
    space = {}
    exec(source, space)
    out = out_of(ct.kernel(source=source)(space["kernel"]), *args, n=len(leaves))
    assert out == [value for _, value in leaves]
