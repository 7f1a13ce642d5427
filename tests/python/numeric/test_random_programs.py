# SPDX-License-Identifier: Apache-2.0
"""Random programs on arrays, statement by statement on NumPy too: views, writes in place, overlap, mixed dtypes, NaN,
zeros of both signs, empty arrays and arrays of no axes. Each program runs with small arrays at once and with everything
waiting. Errors are of NumPy's classes. Statements are exact ones, so results are the same to the bit; what IEEE 754
leaves open (which of two zeros is the greater) is not looked at."""

from __future__ import annotations

import os

import numpy as np
import pytest
import tessera.numeric as tn
from tessera import _core

PROGRAMS, STATEMENTS = int(os.environ.get("TESSERA_NUMERIC_PROGRAMS", "24")), 24
SHAPES = [(), (1,), (5,), (3, 4), (4, 3), (3, 1), (1, 4), (2, 3, 4), (0, 3), (17,)]
DTYPES = "?bBiqQfd"
BINARY = [
    *("add", "subtract", "multiply", "maximum", "minimum", "equal", "less", "logical_and", "floor_divide"),
    *("remainder", "bitwise_xor", "not_equal", "greater_equal", "divide", "copysign", "left_shift"),
]  # fmt: skip
UNARY = [
    "negative",
    "absolute",
    "square",
    "floor",
    "isnan",
    "logical_not",
    "invert",
    "sqrt",
    "sign",
    "signbit",
]
FOLDS = ["max", "min", "any", "all", "argmax", "argmin"]
NUMBERS = [0, 1, -1, 3, 2.5, -0.0, True, float("nan"), 300]


class Program:
    """One program: statements are drawn from a generator and done on both sides."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        self.theirs: list = []
        self.ours: list = []

    def pick(self, items):
        return items[self.rng.integers(len(items))]

    def some(self):
        i = self.rng.integers(len(self.theirs))
        return self.theirs[i], self.ours[i]

    def keep(self, theirs, ours) -> None:
        if isinstance(theirs, np.ndarray):
            self.theirs.append(theirs)
            self.ours.append(ours)

    def make(self) -> None:
        dtype, shape = self.pick(DTYPES), self.pick(SHAPES)
        x = np.asarray(self.rng.integers(-5, 6, shape)).astype(dtype)
        if dtype in "fd" and x.size and x.ndim:
            x.flat[0] = self.pick([np.nan, -0.0, np.inf, 0.5])
        self.keep(x, tn.array(x))

    def key(self, shape):
        kinds = [
            slice(None),
            slice(1, None),
            slice(None, None, -1),
            slice(None, None, 2),
            0,
            -1,
            ...,
            None,
        ]
        return tuple(self.pick(kinds) for _ in range(self.rng.integers(0, len(shape) + 1)))

    def statement(self):
        """A function of the module and of the operands on its side."""
        kind = self.rng.integers(12)
        (x, a), (y, b) = self.some(), self.some()
        if kind < 3:
            name = self.pick(BINARY)
            return lambda m, u, v: getattr(m, name)(u, v), (x, y), (a, b)
        if kind == 3:
            name, number = self.pick(BINARY), self.pick(NUMBERS)
            return lambda m, u: getattr(m, name)(u, number), (x,), (a,)
        if kind == 4:
            name = self.pick(UNARY)
            return lambda m, u: getattr(m, name)(u), (x,), (a,)
        if kind == 5:
            key = self.key(x.shape)
            return lambda m, u: u[key], (x,), (a,)
        if kind == 6:
            key, number = self.key(x.shape), self.pick(NUMBERS[:7])
            return lambda m, u: u.__setitem__(key, number), (x,), (a,)
        if kind == 7:
            key = self.key(x.shape)
            if not x.ndim or (
                x.dtype.kind in "iu" and y.dtype.kind == "f"
            ):  # what NaN becomes depends on the processor
                return self.statement()
            return lambda m, u, v: u.__setitem__(key, v), (x, y), (a, b)
        if kind == 8:
            name = self.pick(["__iadd__", "__imul__", "__isub__", "__iand__"])
            return lambda m, u, v: getattr(u, name)(v), (x, y), (a, b)
        if kind == 9:
            name = self.pick(FOLDS)
            axis = self.pick([None, *range(-x.ndim, x.ndim)])
            return lambda m, u: getattr(m, name)(u, axis=axis), (x,), (a,)
        if kind == 10:
            name = self.pick(["T", "ravel", "copy", "reverse", "square_part"])
            other = {"T": lambda m, u: u.T, "ravel": lambda m, u: u.ravel(), "copy": lambda m, u: u.copy(),
                     "reverse": lambda m, u: m.flip(u), "square_part": lambda m, u: u[::2] * u[::2]}[name]  # fmt: skip
            return other, (x,), (a,)
        return lambda m, u, v: m.where(u > v, u, v), (x, y), (a, b)

    def step(self) -> str:
        run, theirs, ours = self.statement()
        with np.errstate(all="ignore"):
            wanted = outcome(run, np, theirs)
            got = outcome(run, tn, ours)
        same(wanted, got)
        self.keep(wanted, got)
        return ""

    def check(self) -> None:
        for x, a in zip(self.theirs, self.ours, strict=True):
            same(x, a)


def outcome(run, module, operands):
    try:
        return run(module, *operands)
    except Exception as error:  # noqa: BLE001  its class is compared
        return error


def same(wanted, got) -> None:
    if isinstance(wanted, Exception) or isinstance(got, Exception):
        assert isinstance(wanted, Exception) and isinstance(got, Exception), (wanted, got)
        assert isinstance(got, type(wanted)) or isinstance(wanted, type(got)), (wanted, got)
        return
    if wanted is None:
        return
    assert isinstance(got, tn.ndarray) == isinstance(wanted, np.ndarray), (type(wanted), type(got))
    found = np.asarray(got)
    assert found.dtype == wanted.dtype and found.shape == wanted.shape, (wanted, found)
    np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("small", [8192, 0], ids=["at once", "waiting"])
@pytest.mark.parametrize("seed", range(PROGRAMS))
def test_programs_do_what_numpys_do(seed, small):
    before = _core.numeric_small(small)
    try:
        program = Program(seed)
        for _ in range(6):
            program.make()
        for _ in range(STATEMENTS):
            program.step()
        program.check()
    finally:
        _core.numeric_small(before)


# Large kernels take long to compile: few values by default, all that one launch can take in the long run.
WIDE, WIDE_VALUES = (8, 200) if os.environ.get("TESSERA_TEST_LONG") else (2, 24)


@pytest.mark.parametrize("seed", range(WIDE))
def test_wide_programs_do_what_numpys_do(seed):
    """Many values wait at once, of many arrays: what they need becomes more than one kernel can take."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(20, WIDE_VALUES))
    shapes = [(60, 50), (5, 20, 30), (3, 4, 5, 6, 10), (60, 1), (50,), (60, 50)][: rng.integers(1, 7)]
    theirs = []
    for _ in range(n):
        shape = shapes[rng.integers(len(shapes))]
        x = rng.integers(-5, 6, shape).astype("bhiqfdFD"[rng.integers(8)])
        theirs.append(x if rng.integers(3) else np.repeat(x, 2, axis=-1)[..., ::2])
    ours = [tn.array(x) if x.flags.c_contiguous else tn.array(np.repeat(x, 2, axis=-1))[..., ::2] for x in theirs]
    before = _core.numeric_small(0)
    try:
        for _ in range(1 + (WIDE_VALUES > 24)):
            wanted, got = [], []
            for i in range(n):
                k = int(rng.integers(n))
                k = k if theirs[k].shape == theirs[i].shape else i
                number = [2, -1, 0.5, 1 + 2j][rng.integers(4)]
                for values, made in ((theirs, wanted), (ours, got)):
                    made.append(values[i] * number + values[k] - 1)
            theirs, ours = wanted, got
        for i in rng.permutation(n):
            same(theirs[i], ours[i])
    finally:
        _core.numeric_small(before)
