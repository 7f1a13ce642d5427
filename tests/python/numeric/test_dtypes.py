# SPDX-License-Identifier: Apache-2.0
"""Dtypes of results against NumPy's own answers."""

from __future__ import annotations

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


def test_what_has_no_arrays_is_refused_by_name():
    with pytest.raises(TypeError, match="object"):
        tn.array([object()])
    with pytest.raises(TypeError, match=r"has no arrays of dtype dtype\(\[\('x', 'O'\)\]\)"):
        tn.zeros(3, [("x", "O")])
