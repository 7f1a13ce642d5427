# SPDX-License-Identifier: Apache-2.0
"""Dates and spans of time, by NumPy."""

from __future__ import annotations

import operator
import pickle

import numpy as np
import pytest

import tessera.numeric as tn

UNITS = ["Y", "M", "W", "D", "h", "m", "s", "ms", "us", "ns", "ps", "fs", "as"]


def numbers(rng, n=40, reach=10**4):
    """Counts, some of them NaT."""
    made = rng.integers(-reach, reach, n)
    made[rng.random(n) < 0.15] = np.iinfo(np.int64).min
    return made


def same(got, want):
    """Both have the same dtype and the same bits."""
    got = np.asarray(got)
    assert got.dtype == want.dtype and got.shape == want.shape, (got, want)
    np.testing.assert_array_equal(got.view("i8") if got.dtype.kind in "mM" else got,
                                  want.view("i8") if want.dtype.kind in "mM" else want)  # fmt: skip


def test_views_and_elements_keep_the_unit():
    want = np.array(["2000-01-01", "NaT", "1999-12-31", "2024-02-29"], "M8[D]").reshape(2, 2)
    got = tn.array(want)
    assert got.dtype == want.dtype and got[0, 0] == want[0, 0] and type(got[1, 1]) is np.datetime64
    for view in (lambda a: a.T, lambda a: a[:, 1:], lambda a: a[a == a], lambda a: a[[1, 0]], lambda a: a.ravel(),
                 lambda a: a.copy(), lambda a: a.view("i8"), lambda a: a.view("m8[s]"), lambda a: a.astype("M8")):  # fmt: skip
        same(view(got), view(want))
    assert repr(got) == repr(want) and got.tolist() == want.tolist()
    same(pickle.loads(pickle.dumps(got)), want)
    with pytest.raises(ValueError):
        memoryview(got)
    with pytest.raises(BufferError):
        got.__dlpack__()


@pytest.mark.parametrize("kind", "mM")
def test_casts_between_units(kind):
    rng = np.random.default_rng(0)
    values = numbers(rng)
    for source in [*UNITS, "25s", "3M", "2Y", "7D"]:
        want = values.view(f"{kind}8[{source}]")
        for target in [*UNITS, "10m", "5Y", "2W", "7M"]:
            try:
                wanted = want.astype(f"{kind}8[{target}]")
            except OverflowError:
                with pytest.raises(OverflowError):
                    tn.array(want).astype(f"{kind}8[{target}]")
                continue
            same(tn.array(want).astype(f"{kind}8[{target}]"), wanted)


def test_arithmetic():
    rng = np.random.default_rng(1)
    days, seconds = numbers(rng).view("M8[D]"), numbers(rng).view("m8[5s]")
    other, counts, floats = numbers(rng).view("m8[D]"), rng.integers(-3, 4, 40), rng.normal(0, 3, 40)
    with np.errstate(all="ignore"):
        for function in (lambda d, s, o, i, x: d + s, lambda d, s, o, i, x: s + d, lambda d, s, o, i, x: d - d[::-1],
                         lambda d, s, o, i, x: d - o, lambda d, s, o, i, x: s * i, lambda d, s, o, i, x: i * s,
                         lambda d, s, o, i, x: s * x, lambda d, s, o, i, x: s / i, lambda d, s, o, i, x: s / x,
                         lambda d, s, o, i, x: s / o, lambda d, s, o, i, x: s // o, lambda d, s, o, i, x: s % o,
                         lambda d, s, o, i, x: s // i, lambda d, s, o, i, x: abs(s), lambda d, s, o, i, x: -s):  # fmt: skip
            args = (days, seconds, other, counts, floats)
            same(function(*map(tn.array, args)), function(*args))
    for compare in (operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne):
        same(compare(tn.array(seconds), tn.array(other)), compare(seconds, other))
        same(compare(tn.array(days), days[3]), compare(days, days[3]))
    for refused in (lambda d: d + d, lambda d: d * 2, lambda d: -d, lambda d: d.sum(), lambda d: d < 3):
        with pytest.raises(TypeError):
            refused(tn.array(days))
