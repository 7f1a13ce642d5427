# SPDX-License-Identifier: Apache-2.0
"""Elements where a mask is true, read, written and counted, and rows at places: lengths around vectors, masks of all
kinds, against NumPy."""

import warnings

import numpy as np
import pytest
import tessera.numeric as tn

LENGTHS = [0, 1, 7, 8, 15, 16, 17, 63, 64, 65, 127, 200, 1000, 4099]
MANY = 150_001  # elements that all threads read and write
DTYPES = ["?", "i1", "u2", "f2", "i4", "f4", "i8", "f8", "c8", "c16"]


@pytest.fixture(autouse=True)
def draws():
    """Each test draws the same, whichever ran before."""
    global RNG
    RNG = np.random.default_rng(5)


def masks(n):
    yield np.zeros(n, bool)
    yield np.ones(n, bool)
    for share in (0.02, 0.5, 0.95):
        yield RNG.random(n) < share
    yield RNG.integers(0, 3, n, np.uint8).view(bool)  # bytes other than 1, which are true


def numbers(dtype, n):
    x = RNG.integers(0, 3, n).astype(dtype)
    if x.dtype.kind in "fc" and n > 3:
        x[::5], x[1::7] = np.nan, -0.0
    if x.dtype.kind == "c" and n > 3:
        x[2::6] = complex(0, 1)
        x[3::6] = complex(-0.0, -0.0)
    return x


@pytest.mark.parametrize("dtype", DTYPES)
def test_elements_of_a_mask_are_numpys(dtype):
    for n in [*LENGTHS, MANY]:
        for mask in masks(n):
            x = numbers(dtype, n)
            a, m = tn.array(x), tn.array(mask)
            is_true = mask.view(np.uint8) != 0
            assert np.asarray(a[m]).tobytes() == x[is_true].tobytes()
            assert np.array_equal(np.asarray(tn.flatnonzero(m)), np.flatnonzero(is_true))
            for function in (tn.compress, tn.extract):
                assert np.asarray(function(m, a)).tobytes() == x[is_true].tobytes()


@pytest.mark.parametrize("dtype", DTYPES)
def test_elements_of_a_mask_are_written_as_numpy_does(dtype):
    for n in [*LENGTHS, MANY]:
        for mask in masks(n):
            is_true = mask.view(np.uint8) != 0
            x, values = numbers(dtype, n), numbers(dtype, int(is_true.sum()))
            a, m = tn.array(x), tn.array(mask)
            a[m] = tn.array(values)
            x[is_true] = values
            assert np.asarray(a).tobytes() == x.tobytes()
            a[m] = 1
            x[is_true] = 1
            assert np.asarray(a).tobytes() == x.tobytes()


@pytest.mark.parametrize("dtype", DTYPES)
def test_counts_of_what_is_not_zero_are_numpys(dtype):
    for n in LENGTHS:
        x = numbers(dtype, n)
        assert tn.count_nonzero(tn.array(x)) == np.count_nonzero(x)
        assert tn.count_nonzero(tn.array(x)[::-2]) == np.count_nonzero(x[::-2])
    square = numbers(dtype, 60).reshape(6, 10)
    for axis in (None, 0, 1, (0, 1)):
        wanted = np.count_nonzero(square, axis=axis, keepdims=True)
        assert np.array_equal(np.asarray(tn.count_nonzero(tn.array(square), axis=axis, keepdims=True)), wanted)
        wanted = np.count_nonzero(square.T, axis=axis)
        assert np.array_equal(np.asarray(tn.count_nonzero(tn.array(square).T, axis=axis)), wanted)


def test_bytes_other_than_one_are_true():
    bytes_ = np.array([0, 2, 255, 1, 128, 0], np.uint8)
    assert tn.count_nonzero(tn.array(bytes_).view("bool")) == 4
    assert np.array_equal(np.asarray(tn.nonzero(tn.array(bytes_).view("bool"))[0]), [1, 2, 3, 4])


def test_a_condition_of_another_length_takes_as_numpy_does():
    x = np.arange(6)
    for condition in ([True, False, True], [False] * 6):
        assert np.array_equal(np.asarray(tn.compress(condition, tn.array(x))), np.compress(condition, x))
    with pytest.raises(IndexError):
        tn.compress([True] * 7, tn.array(x))
    square = x.reshape(2, 3)
    wanted = np.compress([True] * 6, square)
    assert np.array_equal(np.asarray(tn.compress([True] * 6, tn.array(square))), wanted)
    assert np.array_equal(np.asarray(tn.extract(square > 2, tn.array(square).T)), np.extract(square > 2, square.T))


@pytest.mark.parametrize("dtype", [*DTYPES, "3f4", "5i1"])
def test_rows_at_places_are_numpys(dtype):
    for n in (1, 9, 1000, 20_000):
        x = np.zeros(n, dtype) if dtype in ("3f4", "5i1") else numbers(dtype, n)
        shape = np.dtype(dtype).shape
        x = RNG.integers(0, 9, (n, *shape)).astype(np.dtype(dtype).base) if shape else x
        places = RNG.integers(-n, n, n)
        assert np.asarray(tn.array(x)[tn.array(places)]).tobytes() == x[places].tobytes()
        a, values = tn.array(x), x[::-1].copy()
        a[tn.array(places)] = tn.array(values)
        x[places] = values
        assert np.asarray(a).tobytes() == x.tobytes()
        for outside in (n, -n - 1, 1 << 62, -(1 << 62)):
            wrong = tn.array(np.append(places, outside))
            with pytest.raises(IndexError):
                a[wrong].tobytes()
            with pytest.raises(IndexError):
                a[wrong] = 0


@pytest.mark.parametrize("out", [False, True])
def test_a_mask_without_out_warns_before_it_is_refused(out: bool) -> None:
    def told(m, where) -> tuple[list[type], str]:
        more = {"out": m.zeros(3)} if out else {}
        with warnings.catch_warnings(record=True) as said, pytest.raises(TypeError) as refused:
            warnings.simplefilter("always")
            m.add(m.ones(3), 1, where=where, **more)
        return [each.category for each in said], str(refused.value)

    assert told(tn, np.ones(3)) == told(np, np.ones(3)) == told(tn, tn.ones(3))
