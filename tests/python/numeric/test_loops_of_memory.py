# SPDX-License-Identifier: Apache-2.0
"""What goes through host memory by a loop in C, of random arrays against NumPy's: a place in order, long rows."""

from __future__ import annotations

import numpy
import pytest

import tessera.numeric as np

NUMBERS = "? b B h H i I l L e f d".split()


def _random(rng, dtype, n):
    x = rng.normal(size=n) * 10.0 ** rng.choice([0, 1, 3, 12])
    if dtype in "efd" and n > 5:
        x[rng.integers(0, n, 5)] = numpy.nan, 0.0, -0.0, numpy.inf, numpy.nan
    x = numpy.round(x) if rng.random() < 0.3 else x
    with numpy.errstate(all="ignore"):
        x = x.astype(dtype)
    x[rng.random(n) < rng.choice([0, 0.5])] = x.min()
    x = x[::-2] if rng.random() < 0.3 else x
    return x.reshape(2, -1) if rng.random() < 0.3 and x.size % 2 == 0 else x


@pytest.mark.parametrize("dtype", NUMBERS)
def test_a_place_has_what_belongs_there(dtype):
    rng = numpy.random.default_rng(NUMBERS.index(dtype))
    for _ in range(50):
        x = _random(rng, dtype, int(rng.choice([1, 2, 5, 30, 300, 5000])))
        wide = x.astype("d") if dtype == "e" else x  # NumPy's sort of float16 loses elements on some processors
        kth = int(rng.integers(-x.shape[-1], x.shape[-1]))
        a, wanted, k = np.asarray(x), numpy.sort(wide, -1), kth % x.shape[-1]
        places = np.argpartition(a, kth)
        assert places.dtype == numpy.intp and np.partition(a, kth).dtype == x.dtype
        for made in (np.partition(a, kth), np.take_along_axis(a, places, -1)):
            made = numpy.asarray(made).astype(wide.dtype)
            numpy.testing.assert_array_equal(made[..., k], wanted[..., k])
            numpy.testing.assert_array_equal(numpy.sort(made[..., :k], -1), wanted[..., :k])
            numpy.testing.assert_array_equal(numpy.sort(made[..., k:], -1), wanted[..., k:])


def test_long_rows_are_taken():
    rng = numpy.random.default_rng(4)
    for _ in range(30):
        x = rng.normal(size=(50, int(rng.integers(1, 900))))
        i = rng.integers(-50, 50, 60)
        numpy.testing.assert_array_equal(numpy.asarray(np.asarray(x)[np.asarray(i)]), x[i])
        with pytest.raises(IndexError):
            np.asarray(x)[np.asarray(numpy.append(i, 50))].copy()
