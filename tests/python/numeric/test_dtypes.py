# SPDX-License-Identifier: Apache-2.0
"""Dtypes of results against NumPy's own answers."""

from __future__ import annotations

import warnings

import itertools

import numpy as np
import pytest
import tessera.numeric as tn

DTYPES = [np.dtype(c) for c in "?bBhHiIqQefdFD"]
NUMBERS = [True, 3, -3, 2.5, 1j]


@pytest.mark.parametrize("a", DTYPES, ids=str)
def test_promotion_of_every_pair_is_numpys(a):
    for b in DTYPES:
        assert tn.promote_types(a, b) == np.promote_types(a, b), (a, b)
        assert tn.result_type(tn.zeros(1, a), b) == np.result_type(np.zeros(1, a), b), (a, b)


@pytest.mark.parametrize("casting", ["no", "equiv", "safe", "same_kind", "unsafe"])
def test_casting_of_every_pair_is_numpys(casting):
    for a, b in itertools.product(DTYPES, DTYPES):
        assert tn.can_cast(a, b, casting) == np.can_cast(a, b, casting), (a, b)


@pytest.mark.parametrize(
    "name", ["add", "divide", "power", "arctan2", "equal", "floor_divide", "bitwise_and", "maximum"]
)
def test_python_numbers_give_way_as_numpys(name):
    for dtype, number in itertools.product(DTYPES, NUMBERS):
        ours, theirs = getattr(tn, name), getattr(np, name)
        x = np.ones(2, dtype)
        try:
            with np.errstate(all="ignore"):
                wanted = theirs(x, number).dtype
        except (TypeError, OverflowError, ValueError) as error:
            with pytest.raises(type(error)):
                ours(tn.array(x), number)
            continue
        if wanted.kind == "c" and name in ("power",):
            continue  # no complex loop yet
        assert ours(tn.array(x), number).dtype == wanted, (dtype, number)


def test_numpy_scalars_and_arrays_of_no_axes_do_not_give_way():
    x = tn.ones(3, "f4")
    assert (x + np.float64(1)).dtype == np.float64
    assert (x + tn.array(1.0)).dtype == np.float64
    assert (x + 1.0).dtype == np.float32


def test_an_integer_that_does_not_fit_raises_and_compares():
    x = tn.array([1, 255], "u1")
    with pytest.raises(OverflowError, match="300 out of bounds for uint8"):
        x + 300
    with pytest.raises(OverflowError):
        x - (-1)
    assert (x < 300).tolist() == [True, True]
    assert (x > -5).tolist() == [True, True]
    assert (x == 10**30).tolist() == [False, False]
    assert (10**30 > x).tolist() == [True, True]


FAR = [2**64, -(2**64), 2**64 + 1, 10**400, 2**63, 2**64 - 1, -(2**63) - 1, -1, 5]


@pytest.mark.parametrize("name", ["equal", "not_equal", "less", "less_equal", "greater", "greater_equal"])
def test_integers_of_any_size_compare_as_pythons(name):
    for x in FAR:
        for y in FAR:
            made = getattr(tn, name)(x, y)
            assert type(made) is np.bool and made == getattr(np, name)(x, y), (x, y)
    out = tn.zeros(3, bool)
    getattr(tn, name)(2**64, 2**64, out=out)
    assert out.tolist() == [bool(getattr(np, name)(0, 0))] * 3


@pytest.mark.parametrize(("values", "source", "target"), [
    ([0.1], "f8", "f4"), ([2**63 - 1], "i8", "f8"), ([2**53 + 1], "i8", "f8"), ([2**53], "i8", "f8"),
    ([1 + 1j], "c16", "f8"), ([2], "i8", "?"), ([-1], "i8", "u8"), ([2**64 - 1], "u8", "i8"), ([-0.0], "f8", "i4"),
    ([float("nan")], "f8", "?"), ([float("nan"), float("inf")], "f8", "f2"), ([float("nan")], "f8", "i8"),
    ([1e-300], "f8", "f4"), ([3.0], "f4", "c8"),
    ([float("inf")], "f4", "i4"), ([2.5], "f2", "u1"), ([300], "i4", "u1"), ([7, 200], "i4", "u1"),
])  # fmt: skip
def test_casts_that_keep_the_value(values, source, target):
    wanted, got = (outcome(lambda m=m: m.array(values, source).astype(target, casting="same_value")) for m in (np, tn))
    assert wanted == got


def outcome(program):
    try:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore", np.exceptions.ComplexWarning)
            made = program()
        return str(made.dtype), np.asarray(made).tolist().__repr__()
    except ValueError as error:
        return type(error)


@pytest.mark.parametrize("rule", ["no", "equiv"])
def test_strict_casting_of_pythons_numbers(rule):
    for kind in ("?", "i4", "u1", "f4", "f8", "F"):
        for number in (1, 1.5, 1j, True, 300, np.float32(1)):
            made = []
            for m in (np, tn):
                try:
                    result = m.add(m.ones(2, kind), number, casting=rule)
                    made.append((result.dtype.str, result.tolist()))
                except (TypeError, OverflowError) as error:
                    made.append(str(error) if rule == "no" else "refused")
            assert made[0] == made[1]


@pytest.mark.parametrize(
    "name", ["less", "equal", "not_equal", "greater_equal", "logical_or", "logical_and", "logical_xor"]
)
def test_integers_beyond_all_dtypes_are_compared_where_numpy_does(name):
    """3 comes first: what is kept of that call must not serve those of integers that are refused."""
    for dtype, number in itertools.product(DTYPES, [3, 2**63, 2**64, 2**70, -(2**63) - 1, 10**400, 2**62]):
        for n, first in itertools.product([3, 2000], [True, False]):
            answers = []
            for module in (np, tn):
                x = module.ones(n, dtype)
                try:
                    answers.append(bool(getattr(module, name)(*((x, number) if first else (number, x)))[0]))
                except OverflowError as error:
                    answers.append(str(error))
            assert answers[0] == answers[1], (dtype, number, n, first)
