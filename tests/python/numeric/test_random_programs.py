# SPDX-License-Identifier: Apache-2.0
"""Random programs on arrays, statement by statement on NumPy too (tests/fuzz/arrays): views, writes in place, overlap,
mixed dtypes, NaN, zeros of both signs, empty arrays and arrays of no axes. Of each three programs one has everything
waiting, the others compute small arrays at once. Values, dtypes, what was written to, classes of exceptions and numbers
of warnings are NumPy's."""

from __future__ import annotations

import os
import pathlib
import sys

import numpy as np
import pytest
import tessera.numeric as tn
from tessera import _core

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "fuzz"))

from arrays import program, statements  # noqa: E402

PROGRAMS = 3000 if os.environ.get("TESSERA_TEST_LONG") else 30


def same(wanted, got) -> None:
    found = program.difference(wanted, got, program.EXACT)
    assert not found, found


def differing(share, hears=True):
    """(number, statement, what differs) of a sixth of the programs."""
    return [(number, *each) for number in range(share, PROGRAMS, 6) for each in program.run(0, number, hears)]


@pytest.mark.parametrize("share", range(6))
def test_programs_do_what_numpys_do(share):
    wrong = differing(share)
    assert not wrong, wrong


def test_a_seed_always_makes_the_same_program():
    texts = [[program.Program(5, 1).step()[0] for _ in range(2)] for _ in range(2)]
    assert texts[0] == texts[1]


def test_differences_are_found():
    x = np.array([1.0, 0.0, np.nan])
    for other in (x + 1, x.astype("f4"), x[:2], x * -1, ValueError("one")):
        assert program.difference(x, other if isinstance(other, Exception) else tn.array(other), program.EXACT)
    assert not program.difference(x, tn.array(x), program.EXACT)
    assert program.difference(ValueError("one"), TypeError("other"), program.EXACT)


# What NumPy refuses, always.
REFUSED = ["m.{two}({x})", "m.{two}({x}, {o}, {z}, {z})", "m.broadcast_to({x}, (2, *{x}.shape)).__setitem__(0, 1)",
           "{x}.newbyteorder()", "m.{two}({x}, Refuses())", "round({x}, {0|1})",
           "m.linspace(m.timedelta64(0, 's'), m.timedelta64(9, 's'), 3)"]  # fmt: skip


@pytest.mark.parametrize("table", [statements.EXACT, statements.NEAR], ids=["exact", "near"])
def test_each_template_is_a_statement_that_numpy_takes(table, monkeypatch):
    """Of many numbers of each one, some; `outcome` raises faults of their text itself."""
    for family, text in [(family, text) for family in table for text in table[family]]:
        monkeypatch.setattr(statements, "EXACT", {family: [text]})
        monkeypatch.setattr(statements, "NEAR", {})
        made = (program.Program(3, number, True, [family]) for number in range(200))
        taken = (program.outcome(one.source.statement()[0], np, one.theirs)[0] for one in made)
        assert (text in REFUSED) != any(not isinstance(each, Exception) for each in taken), text


def test_what_is_left_out_reads_what_the_statement_reads():
    arrays = {"a": np.ones(()), "b": np.ones(3), "c": np.ones((0, 3)), "d": np.ones(4), "e": np.ones(2, "f2")}
    for text, is_out in (
        ("m.concatenate([a, a], axis=None, out=a[::-1])", False),
        ("m.add.accumulate(b, axis=0, out=d)", True),
        ("m.add.accumulate(d, axis=0, out=b)", False),
        ("m.add.accumulate(a, axis=0, out=b)", False),
        ("m.cumsum(c, axis=None, out=b)", True),
        ("m.cumsum(c, axis=0, out=c)", True),
        ("m.cumsum(b, axis=0, out=c[:0])", True),
        ("m.cumsum(b, axis=0, out=b)", False),
        ("m.take(b, [0], out=c, mode='wrap')", False),
        ("m.take(b[:0], [0], mode='wrap')", True),
    ):
        assert program.is_left_out(text, arrays) == is_out, text
    assert program.step_of("m.exp(e, out=b)", arrays) > 0
    for text in ("m.hypot(e, b, out=d)", "m.mean(e, out=b)"):
        assert program.step_of(text, arrays) == 0, text


def test_values_of_unknown_types_are_reported():
    assert program.difference(object(), object(), program.EXACT).startswith("unknown")


def program_of(text, is_exact):
    """A program of one array and one statement."""
    one = program.Program(0, 0)
    one.theirs, one.ours = {"a": np.ones(3)}, {"a": tn.ones(3)}
    one.source.statement = lambda: (text, is_exact)
    return one


def test_arrays_are_compared_after_a_statement_that_raises():
    _, found = program_of("run('a[...] = 1 if m is np else 2\\n1 / 0')", True).step()
    assert found.startswith("after")


def test_arrays_that_are_near_enough_become_equal():
    one = program_of("run('a[...] = 1 if m is np else 1 + 2.3e-16')", False)
    assert one.step()[1] == ""
    assert (np.asarray(one.ours["a"]) == 1).all()


def test_signs_of_zeros_count_but_in_extremes():
    for text, counts in (("m.add(a, b)", True), ("m.maximum(a, b)", False)):
        bounds = program.bounds_of(text, True, [], {})
        assert bool(program.difference(np.zeros(2), tn.array([0.0, -0.0]), bounds)) == counts


def test_results_are_as_near_as_their_dtype_lets_them_be():
    arrays = {"a": np.zeros(2), "b": np.zeros(2), "c": np.zeros(2, "f2"), "d": np.zeros(2, "i1")}
    for text, is_exact, x, y, counts in (
        ("m.add.reduce(a, axis=0, out=b)", False, [1.0, 100.0], [1.0, 106.0], True),
        ("m.exp(c, out=b)", False, [1.0, 100.0], [1.0, 100.1], False),
        ("m.exp(d, out=b)", False, [1.0, 100.0], [1.0, 100.1], False),
        ("m.exp(d, out=b)", False, [1.0, 100.0], [1.0, 101.0], True),
        ("m.exp(a, out=b, where=d)", False, [1.0, 100.0], [1.0, 100.1], True),
        ("plain(m.ma.array(d, mask=(d > 1)).mean())", False, [100.0], [100.1], True),
        ("plain(m.ma.array(c, mask=(c > 1)).mean())", False, [100.0], [100.1], False),
        ("m.exp(a)", False, [np.inf], [1.0], True),
        ("m.exp(a)", False, [np.inf], [np.inf], False),
        ("m.multiply(a, b, out=a)", True, [1 + 0j], [1.1 + 0j], True),
        ("a / b", True, [1 + 0j, 1e-14j], [1 + 0j, 0j], True),
        ("a / b", True, [1 + 1j], [1 + 1j + 2.0**-52], False),
        ("m.einsum('ij,jk->ik', a, b)", False, [np.inf], [np.nan], True),
        ("m.einsum('ij,jk->i', a, b)", False, [np.inf], [np.nan], False),
        ("m.einsum('ij->i', a)", False, [np.inf], [np.nan], True),
    ):
        bounds = program.bounds_of(text, is_exact, [], arrays)
        assert bool(program.difference(np.array(x), tn.array(y), bounds)) == counts, text


def test_halves_that_overflow_on_the_way_are_those_of_wider_floats():
    """NumPy's product along the first axis overflows."""
    for factor, counts in ((1, False), (2, True)):
        one = program_of(f"m.prod(a, axis=0, dtype='f2') * (1 if m is np else {factor})", False)
        one.theirs["a"] = np.array([[300.0, 1], [300, 1], [2**-10, 1]])
        one.ours["a"] = tn.array(one.theirs["a"])
        assert bool(one.step()[1]) == counts


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
