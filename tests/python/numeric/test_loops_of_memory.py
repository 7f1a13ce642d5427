# SPDX-License-Identifier: Apache-2.0
"""What goes through host memory by a loop in C, of random arrays against NumPy's: a place in order, bits, parts that
are repeated, left out, put between or rolled, sums of products of stretches, maxima without NaN."""

from __future__ import annotations

import warnings

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


def _check(name, x, *args, **options):
    """The same values, dtype and shape as NumPy's, or its error."""
    try:
        wanted = getattr(numpy, name)(x, *args, **options)
    except (ValueError, IndexError, TypeError) as error:
        with pytest.raises(type(error)):
            getattr(np, name)(np.asarray(x), *args, **options)
        return
    made = getattr(np, name)(np.asarray(x), *args, **options)
    assert made.dtype == wanted.dtype and made.shape == wanted.shape
    numpy.testing.assert_array_equal(numpy.asarray(made), wanted)


def test_bits_are_packed_and_unpacked():
    rng = numpy.random.default_rng(1)
    for _ in range(200):
        shape = tuple(rng.integers(0, 80, rng.integers(1, 3)))
        options = {"axis": [None, 0, -1][rng.integers(0, 3)], "bitorder": ["big", "little"][rng.integers(0, 2)]}
        truths, numbers = rng.random(shape) < 0.5, rng.integers(0, 256, shape).astype("u1")
        truths = (truths.view("u1") * 3).view(bool) if rng.random() < 0.3 else truths  # other bytes than 1 are true
        if rng.random() < 0.3:
            truths, numbers = truths[..., ::-1], numbers[..., ::-2]
        _check("packbits", truths, **options)
        _check("packbits", numbers.astype("i4"), **options)
        _check("unpackbits", numbers, **options)
        _check("unpackbits", numbers, **options, count=-int(rng.integers(0, 20)))


def _random_parts(rng):
    x = rng.normal(size=tuple(rng.integers(1, 6, rng.integers(1, 4)))).astype(rng.choice(["d", "f", "c16", "i1", "?"]))
    x = x.T if rng.random() < 0.3 else x
    axis = [None, 0, -1][rng.integers(0, 3)]
    return x, axis, x.size if axis is None else x.shape[axis]


@pytest.mark.filterwarnings("ignore")
def test_parts_are_left_out_and_put_between():
    rng = numpy.random.default_rng(2)
    for _ in range(150):
        x, axis, n = _random_parts(rng)
        for key in (int(rng.integers(-n, n)), [int(rng.integers(-n, n))], slice(0, 1), slice(None), [0, -n], [n + 1]):
            _check("delete", x, key, axis=axis)
            _check("insert", x, key, 1, axis=axis)
            _check("insert", x, key, [2], axis=axis)
        _check("insert", x, rng.integers(-n, n + 1, 3), 1, axis=axis)


def test_parts_are_repeated():
    rng = numpy.random.default_rng(3)
    for _ in range(150):
        x, axis, n = _random_parts(rng)
        _check("repeat", x, int(rng.integers(-1, 4)), axis=axis)
        _check("repeat", x, rng.integers(0, 4, n), axis=axis)
        _check("repeat", x, rng.integers(-1, 4, n), axis=axis)
        _check("repeat", x[..., :0], 2, axis=axis)
    ours = np.ones(1)
    assert not numpy.shares_memory(numpy.asarray(np.repeat(ours, 1)), numpy.asarray(ours))


def test_long_rows_are_taken():
    rng = numpy.random.default_rng(4)
    for _ in range(30):
        x = rng.normal(size=(50, int(rng.integers(1, 900))))
        i = rng.integers(-50, 50, 60)
        numpy.testing.assert_array_equal(numpy.asarray(np.asarray(x)[np.asarray(i)]), x[i])
        with pytest.raises(IndexError):
            np.asarray(x)[np.asarray(numpy.append(i, 50))].copy()


@pytest.mark.parametrize("name", ["nanmax", "nanmin"])
def test_extremes_leave_nan_out(name):
    rng = numpy.random.default_rng(5)
    for _ in range(200):
        shape = tuple(rng.integers(0, 5, rng.integers(0, 4)))
        x = rng.normal(size=shape).astype(rng.choice(["f", "d", "i", "c16", "M8[s]", "m8[s]", "e", "?"]))
        if x.dtype.kind in "fcmM" and x.size:
            x[rng.random(shape) < 0.5] = "NaT" if x.dtype.kind in "mM" else numpy.nan
        options = {"axis": int(rng.integers(-2, 2))} if rng.random() < 0.6 else {}
        options |= {"keepdims": True} if rng.random() < 0.3 else {}
        if x.dtype.kind == "f" and rng.random() < 0.2:
            options |= {"initial": 0.5, "where": rng.random(shape) < 0.5}
        told = []
        for module in (numpy, np):
            with warnings.catch_warnings(record=True) as seen:
                warnings.simplefilter("always")
                try:
                    made = getattr(module, name)(module.asarray(x), **options)
                    told.append((made.dtype, made.shape, {str(each.message) for each in seen}, numpy.asarray(made)))
                except (ValueError, TypeError) as error:
                    told.append((type(error), None, None, None))
        assert told[0][:3] == told[1][:3]
        numpy.testing.assert_array_equal(told[0][3], told[1][3])


@pytest.mark.parametrize("dtype", ["f", "d", "i4", "u8", "i2", "c16"])
def test_vectors_slide_along_others(dtype):
    rng = numpy.random.default_rng(6)
    for n, m in [(1, 1), (5, 200), (200, 5), (90, 90), (400, 70), (33, 1)]:
        a, v = ((rng.normal(size=k) * 9).astype(dtype) for k in (n, m))
        if dtype in "fd":
            v[rng.integers(0, m)], a[rng.integers(0, n)] = numpy.inf, numpy.nan
        a = a[::-1] if m == 70 else a
        for name in ("convolve", "correlate"):
            for mode in ("valid", "same", "full"):
                with numpy.errstate(all="ignore"):
                    made, wanted = (getattr(k, name)(k.asarray(a), k.asarray(v), mode) for k in (np, numpy))
                assert made.dtype == wanted.dtype and made.shape == wanted.shape
                numpy.testing.assert_allclose(numpy.asarray(made), wanted, 1e-5 if dtype == "f" else 1e-11, 1e-3)


@pytest.mark.parametrize("dtype", ["f", "d", "i4", "c16"])
def test_many_elements_are_taken_and_put(dtype):
    rng = numpy.random.default_rng(7)
    for n in (40_000, 70_001):
        x = (rng.normal(size=n) * 99).astype(dtype)
        i = rng.integers(-n, n, n + 3)
        numpy.testing.assert_array_equal(numpy.asarray(np.asarray(x)[np.asarray(i)]), x[i])
        for bad in (n, -n - 1):
            i[rng.integers(0, n)] = bad
            ours = np.asarray(x.copy())
            with pytest.raises(IndexError, match=f"index {bad} is out of bounds for axis 0 with size {n}"):
                ours[np.asarray(i)].copy()
            with pytest.raises(IndexError, match=f"index {bad} is out of bounds"):
                ours[np.asarray(i)] = 0
            numpy.testing.assert_array_equal(numpy.asarray(ours), x)
            i %= n


def test_elements_are_rolled_along_axes():
    rng = numpy.random.default_rng(8)
    for _ in range(200):
        x, axis, _ = _random_parts(rng)
        by = [int(k) for k in rng.integers(-9, 9, 3)]
        for shift, along in [(by[0], axis), (tuple(by), (0, -1, 0)), (by[0], (0, -1)), (tuple(by[:1]), 0)]:
            made, wanted = (k.roll(k.asarray(x), shift, along) for k in (np, numpy))
            assert made.dtype == wanted.dtype and made.flags.f_contiguous == wanted.flags.f_contiguous
            numpy.testing.assert_array_equal(numpy.asarray(made), wanted)


@pytest.mark.parametrize("name", ["bitwise_or", "bitwise_and", "bitwise_xor", "fmax", "fmin"])
def test_whole_rows_are_reduced(name):
    rng = numpy.random.default_rng(9)
    for _ in range(150):
        x = _random(rng, rng.choice(list("bBhHiIqQ" + ("fd" if name[0] == "f" else ""))), int(rng.integers(1, 300)))
        made, wanted = (getattr(k, name).reduce(k.asarray(x), -1) for k in (np, numpy))
        assert made.dtype == wanted.dtype
        numpy.testing.assert_array_equal(numpy.asarray(made), wanted)


@pytest.mark.parametrize("dtype", ["f", "d", "i4", "i8", "c16", "?"])
def test_diagonals_are_summed(dtype):
    x = (numpy.random.default_rng(10).normal(size=(7, 7)) * 9).astype(dtype)
    calls = [lambda k, a: k.trace(a), lambda k, a: a.trace(), lambda k, a: k.trace(a[:3], 1),
             lambda k, a: k.trace(a[2:]), lambda k, a: k.einsum("ii", a), lambda k, a: k.einsum("ii->", a)]  # fmt: skip
    for call in calls:
        made, wanted = (call(k, k.asarray(x)) for k in (np, numpy))
        assert type(made) is type(wanted)
        numpy.testing.assert_allclose(made, wanted, 1e-5)


@pytest.mark.parametrize("dtype", ["f", "d", "i4", "u1", "c16", "?"])
def test_values_are_placed_in_turn_and_turned_at_places(dtype):
    rng = numpy.random.default_rng(11)
    for n in (0, 1, 3, 40):
        shape = (7, int(rng.integers(1, 9)))
        x, mask = (rng.normal(size=shape) * 9).astype(dtype), rng.random(shape) < rng.choice([0.2, 0.8])
        values, at = (rng.normal(size=n) * 9).astype("i4" if n == 3 else dtype), rng.integers(-7, 7, 30)
        for call in (lambda k, a: k.place(a, k.asarray(mask), k.asarray(values)),
                     lambda k, a: k.place(a[:, ::-1], k.asarray(mask), k.asarray(values)),
                     lambda k, a: k.negative.at(a, k.asarray(at))):  # fmt: skip
            made = []
            for module in (np, numpy):
                a = module.asarray(x.copy())
                try:
                    call(module, a)
                    made.append(numpy.asarray(a))
                except (TypeError, ValueError) as error:
                    made.append(type(error))
            numpy.testing.assert_equal(*made)
