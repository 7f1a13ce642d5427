# SPDX-License-Identifier: Apache-2.0
"""Random statements on dates, spans of time and numbers, on NumPy too: functions, reductions, casts, sorting, writes.
Results are of the same dtype and bits, errors of the same families of classes. They run at once, others waiting."""

from __future__ import annotations

import os

import numpy as np
import pytest
import tessera.numeric as tn
from tessera import _core

STATEMENTS = 20000 if os.environ.get("TESSERA_TEST_LONG") else 500
UNITS = "Y M W D h m s ms us ns ps fs as 25s 3M 2Y 7D".split()
SHAPES = [(6,), (6,), (2, 3), (), (0,), (1, 3)]
BINARY = """add subtract multiply divide floor_divide remainder equal not_equal less less_equal greater greater_equal
    maximum minimum fmax fmin logical_and logical_or power fmod""".split()
UNARY = "negative positive absolute sign isnat isnan isfinite isinf logical_not sqrt square".split()
FOLDS = "sum prod max min all any mean ptp argmax argmin cumsum cumprod median".split()
WHOLE = "sort argsort unique diff flatnonzero ravel ediff1d".split()
FAMILIES = (TypeError, ValueError, OverflowError, IndexError)


class Case:
    """A statement: what is called, on which arguments."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        self.args: list = [self.array()]
        self.name, self.run = self.statement()

    def pick(self, items):
        return items[self.rng.integers(len(items))]

    def dtype(self, kind):
        unit = self.pick([*UNITS, ""])
        return f"{kind}8[{unit}]" if unit else f"{kind}8"

    def array(self):
        kind, shape = self.pick("MMmmif"), self.pick(SHAPES)
        if kind == "i":
            return np.asarray(self.rng.integers(-5, 6, shape)).astype(self.pick(["i1", "i4", "i8"]))
        if kind == "f":
            return np.asarray(self.rng.normal(0, 3, shape)).astype(self.pick(["f4", "f8"]))
        reach = self.pick([3, 1000, 10**6, 10**9])
        made = np.asarray(self.rng.integers(-reach, reach + 1, shape))
        made = np.where(self.rng.random(shape) < 0.15, np.iinfo(np.int64).min, made)
        dtype = self.dtype(kind)
        return made.view("M8[s]" if dtype == "M8" else dtype)

    def other(self):
        """A second argument: an array that fits, a scalar, or a number."""
        made = self.array()
        if self.rng.random() < 0.2:
            return int(self.rng.integers(-4, 5))
        return made if made.shape in ((), self.args[0].shape) or not made.size else made.reshape(-1)[0]

    def statement(self):
        k = self.rng.integers(9)
        if k < 3:
            name = self.pick(BINARY)
            self.args.append(self.other())
            return name, lambda m, a, b: getattr(m, name)(a, b)
        if k == 3:
            name, axis = self.pick(FOLDS), self.pick([None, 0, -1])
            return f"{name} {axis}", lambda m, a: getattr(m, name)(a, axis=axis)
        if k == 4:
            name = self.pick(UNARY + WHOLE)
            return name, lambda m, a: getattr(m, name)(a)
        if k == 5:
            dtype = self.dtype(self.pick("mM")) if self.rng.random() < 0.7 else self.pick(["i8", "i4", "f8", "?"])
            casting = self.pick(["unsafe", "unsafe", "same_kind", "safe"])
            return f"astype {dtype} {casting}", lambda m, a: a.astype(dtype, casting=casting)
        if k == 6:
            self.args.append(self.rng.random(self.args[0].shape) < 0.5)
            self.args.append(self.other())
            return "where", lambda m, a, c, b: m.where(c, a, b)
        if k == 7:
            self.args.append(self.other())
            return "assign", assign
        self.args.append(self.other())
        return "in place", in_place


def assign(m, a, b):
    a = a.copy()
    a[..., ::-1] = b
    return a


def in_place(m, a, b):
    a = a.copy()
    a -= b
    return a


def outcome(m, case, args):
    try:
        with np.errstate(all="ignore"):
            return case.run(m, *args), None
    except FAMILIES as error:
        return None, error


def same(got, want):
    assert isinstance(got, tn.ndarray) == isinstance(want, np.ndarray)
    got, want = np.asarray(got), np.asarray(want)
    assert got.dtype == want.dtype and got.shape == want.shape
    if got.dtype.kind in "fc":
        np.testing.assert_allclose(got, want, rtol=1e-12)
    else:
        assert got.tobytes() == want.tobytes()


def is_open(case, want, error):
    """What is not compared: objects, and units that are too far apart, which NumPy refuses after other mistakes;
    values that no element takes, which NumPy does not convert."""
    if case.name == "assign" and not case.args[0].size:
        return True
    return isinstance(error, OverflowError) or (isinstance(want, np.ndarray) and want.dtype == object)


@pytest.mark.parametrize("small", [512, 0], ids=["at once", "waiting"])
def test_statements_are_numpys(small):
    before = _core.numeric_small(small)
    try:
        for seed in range(STATEMENTS * (small == 0), STATEMENTS * (1 + (small == 0))):
            case = Case(seed)
            if not any(isinstance(a, (np.ndarray, np.generic)) and a.dtype.kind in "mM" for a in case.args):
                continue
            want, error = outcome(np, case, case.args)
            ours = [tn.array(a) if isinstance(a, np.ndarray) else a for a in case.args]
            got, raised = outcome(tn, case, ours)
            if is_open(case, want, error) or is_open(case, want, raised):
                continue
            text = f"seed {seed}: {case.name} of {[a.dtype if hasattr(a, 'dtype') else a for a in case.args]}"
            text = f"{text}: {raised!r}, not {error!r}"
            assert (error is None) == (raised is None), text
            if error is None:
                try:
                    same(got, want)
                except AssertionError as wrong:
                    raise AssertionError(text) from wrong
            else:
                assert any(isinstance(error, c) and isinstance(raised, c) for c in FAMILIES), text
    finally:
        _core.numeric_small(before)
