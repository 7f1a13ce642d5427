# SPDX-License-Identifier: Apache-2.0
"""Array programs on a GPU against NumPy: the random programs of the CPU, and what has a path of its own there."""

from __future__ import annotations

import numpy
import pytest
import tessera.numeric as np
from seeds import random_numbers

from tests.python import test_gallery
from tests.python.numeric import test_random_dates, test_random_programs


@pytest.fixture(autouse=True)
def on_the_gpu():
    np.default_device("cuda")
    yield
    np.default_device("cpu")


@pytest.mark.parametrize("share", range(6))
def test_random_programs_are_numpys(share: int) -> None:
    wrong = test_random_programs.differing(share, hears=False)
    assert not wrong, wrong


@pytest.mark.parametrize("extent", [7, 4000, 10**6, 3 * 10**8])
@pytest.mark.parametrize("count", [2, 100, 5000, 300_000])
def test_the_last_of_values_for_one_place_stays(extent: int, count: int) -> None:
    rng = random_numbers()
    places, values = rng.integers(0, extent, count), rng.integers(0, 100, count).astype("i1")
    places[: count // 2] = places[count // 2 : count // 2 * 2]
    expected = numpy.zeros(extent, "i1")
    expected[places] = values
    a = np.zeros(extent, "i1")
    a[np.array(places)] = np.array(values)
    numpy.testing.assert_array_equal(np.asnumpy(a), expected)
    a[:] = 0
    np.put(a, np.array(places), np.array(values))
    numpy.testing.assert_array_equal(np.asnumpy(a), expected)


@pytest.mark.parametrize("dtype", ["f4", "f8", "i4", "i8"])
@pytest.mark.parametrize("n", [1 << 15, 100003])
def test_long_rows_are_folded_in_pieces(dtype: str, n: int) -> None:
    x = numpy.random.default_rng(n).integers(-50, 50, n).astype(dtype)
    a = np.asarray(x)
    assert a.argmax() == x.argmax() and a.argmin() == x.argmin()
    assert (numpy.asarray(np.cumsum(a)) == numpy.cumsum(x)).all()
    assert (numpy.asarray(np.sort(a)) == numpy.sort(x)).all() and (a[a > 3].get() == x[x > 3]).all()
    assert a.sum() == x.sum() and a.max() == x.max()


@pytest.mark.parametrize("name", ["fmax", "fmin", "subtract", "divide", "bitwise_or", "logical_xor", "hypot"])
def test_functions_that_have_no_fold_are_reduced(name: str) -> None:
    x = numpy.random.default_rng(3).integers(1, 50, (7, 5)).astype("i8" if "bitwise" in name else "f8")
    f, g = getattr(np, name), getattr(numpy, name)
    units = 4 if name == "hypot" else 0  # whose last bits are those of the device's square roots

    def compare(found: object, wanted: numpy.ndarray) -> None:
        numpy.testing.assert_allclose(numpy.asarray(found), wanted, units * 2.3e-16)

    for axis in (0, 1):
        compare(f.reduce(np.asarray(x), axis), g.reduce(x, axis))
        compare(f.accumulate(np.asarray(x), axis), g.accumulate(x, axis))
    compare(f.reduce(np.asarray(x[0])), g.reduce(x[0]))
    assert np.nanmax(np.asarray(x[0])) == x[0].max()


@pytest.mark.parametrize("small", [512, 0], ids=["at once", "waiting"])
def test_statements_on_dates_are_numpys(small: int) -> None:
    test_random_dates.test_statements_are_numpys(small)


@pytest.mark.parametrize("name", test_gallery.SMALL)
def test_programs_of_the_gallery_are_numpys(name: str) -> None:
    test_gallery.test_a_program_is_numpys(name, "cuda")


@pytest.mark.parametrize("name", ["exp", "exp2"])
def test_exponentials_of_all_halves(name):
    """NaN of any bits stays NaN; a GPU's has others than the interpreter's."""
    x = numpy.arange(1 << 16).astype(numpy.uint16).view(numpy.float16)
    made = getattr(np, name)(np.asarray(x, device="cuda")).get()
    with numpy.errstate(all="ignore"):
        wanted = getattr(numpy, name)(x.astype(numpy.float64)).astype(numpy.float16)
    assert numpy.array_equal(numpy.isnan(made), numpy.isnan(wanted))
    ordinary = ~numpy.isnan(wanted)
    assert (abs(made[ordinary].view("i2").astype(int) - wanted[ordinary].view("i2")) <= 1).all()
