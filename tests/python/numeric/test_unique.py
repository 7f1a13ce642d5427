# SPDX-License-Identifier: Apache-2.0
"""The different elements of random arrays of host memory, and whether elements are among others, against NumPy's."""

from __future__ import annotations

import numpy
import pytest
from seeds import random_numbers

import tessera.numeric as np

DTYPES = "? b B h H i I l L e f d".split()


def _random(rng, dtype, n):
    x = rng.normal(size=n) * 10.0 ** rng.choice([0, 1, 3, 12])
    if dtype in "efd" and n > 5:
        x[rng.integers(0, n, 5)] = numpy.nan, 0.0, -0.0, numpy.inf, numpy.nan
    with numpy.errstate(all="ignore"):
        x = x.astype(dtype)
    x = x[::-2] if rng.random() < 0.3 else x
    return x.reshape(2, -1) if rng.random() < 0.2 and x.size % 2 == 0 else x


@pytest.mark.parametrize("dtype", DTYPES)
def test_unique_gives_what_numpys_does(dtype):
    rng = numpy.random.default_rng(DTYPES.index(dtype))
    for _ in range(80):
        x = _random(rng, dtype, int(rng.choice([0, 1, 2, 5, 30, 300, 5000])))
        options = {name: bool(rng.integers(0, 2)) for name in ("return_index", "return_inverse", "return_counts")}
        made, wanted = np.unique(np.asarray(x), **options), numpy.unique(x, **options)
        if type(wanted) is not tuple:
            made, wanted = (made,), (wanted,)
        for ours, theirs in zip(made, wanted, strict=True):
            assert ours.dtype == theirs.dtype and ours.shape == theirs.shape
            numpy.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize("dtype", "e f d".split())
def test_each_nan_is_one_where_they_are_not_equal(dtype):
    x = numpy.array([numpy.nan, 1, numpy.nan, -0.0, 0.0, 1] * 40, dtype)
    for options in ({"return_counts": True}, {"return_index": True, "return_inverse": True}):
        made, wanted = np.unique(np.asarray(x), equal_nan=False, **options), numpy.unique(x, equal_nan=False, **options)
        for ours, theirs in zip(made, wanted, strict=True):
            assert ours.shape == theirs.shape
        numpy.testing.assert_array_equal(made[0], wanted[0])
    numpy.testing.assert_array_equal(made[0][made[2]], x)
    assert np.unique_counts(np.asarray(x)).counts.tolist() == numpy.unique_counts(x).counts.tolist()


@pytest.mark.parametrize("dtype", DTYPES)
def test_elements_are_among_others_as_numpys(dtype):
    rng = numpy.random.default_rng(DTYPES.index(dtype) + 50)
    for _ in range(40):
        x, others = (_random(rng, dtype, int(rng.choice([0, 1, 7, 300, 4000]))) for _ in range(2))
        inverted = bool(rng.integers(0, 2))
        made = np.isin(np.asarray(x), np.asarray(others), invert=inverted)
        numpy.testing.assert_array_equal(made, numpy.isin(x, others, invert=inverted))


def test_numbers_are_looked_for_as_arrays_of_one_are():
    for x, keys in ((numpy.arange(9.0), (2.5, -1.0, 3, numpy.nan)), (numpy.arange(9), (3, -2, 2.5, 10**30))):
        for key in keys:
            for side in ("left", "right"):
                try:
                    wanted = numpy.searchsorted(x, key, side)
                except (TypeError, ValueError) as error:
                    with pytest.raises(type(error)):
                        np.searchsorted(np.asarray(x), key, side)
                    continue
                made = np.searchsorted(np.asarray(x), key, side)
                assert made == wanted and type(made) is type(wanted)


@pytest.mark.parametrize("dtype", ["f4", "f8", "i4", "u1", "c16", "?", "f2", "M8[D]", "m8[s]", "S3", "U2"])
@pytest.mark.parametrize("n", [0, 1, 2, 7, 3000, 30_000])
def test_what_finds_different_elements_on_other_devices(dtype, n):
    from tessera.numeric import _sort

    x = random_numbers().integers(0, max(n // 3, 2), n)
    x = x.astype(dtype)
    if x.dtype.kind in "fc" and n > 3:
        x[::3], x[1::5] = numpy.nan, -0.0
    if x.dtype.kind in "mM" and n > 3:
        x[::3] = "NaT"
    for equal_nan in (True, False):
        found = _sort._unique_sorted(np.array(x), equal_nan, True, True, True)
        for one, other in zip(found, numpy.unique(x, True, True, True, equal_nan=equal_nan), strict=True):
            assert one.dtype == other.dtype
            numpy.testing.assert_array_equal(np.asnumpy(one), other)


@pytest.mark.parametrize("dtype", ["f8", "f4", "f2", "i8", "u2"])
@pytest.mark.parametrize("n", [1, 2, 65, 5000, 20000])
def test_runs_of_equal_elements_give_their_first(dtype, n):
    rng = numpy.random.default_rng(n)
    x = (rng.integers(-40, 40, n) * 10**4).astype(dtype) if dtype != "f2" else rng.integers(-40, 40, n).astype(dtype)
    if dtype[0] == "f":
        x[rng.random(n) < 0.1] = numpy.nan
        x[x == 0] *= -1
    wanted = numpy.unique(x, True, True, True)
    for found, want in zip(np.unique(np.array(x), True, True, True), wanted, strict=True):
        numpy.testing.assert_array_equal(numpy.asarray(found), want)
    numpy.testing.assert_array_equal(numpy.asarray(np.unique(np.array(x))), wanted[0])
    counts = np.unique(np.array(x), return_counts=True, equal_nan=False)[1]
    numpy.testing.assert_array_equal(numpy.asarray(counts), numpy.unique(x, return_counts=True, equal_nan=False)[1])
