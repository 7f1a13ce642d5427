# SPDX-License-Identifier: Apache-2.0
"""Parts of floats, divisors, bits, sorting by several keys; flat, shape and resize of arrays: against NumPy."""

from __future__ import annotations

import ctypes
import inspect

import numpy as np
import pytest
import tessera.numeric as tn
from tessera.numeric import _sort

SPECIAL = [0.0, -0.0, np.inf, -np.inf, np.nan, 1, -1.5, 0.5, 5e-324, 1e-310, 3.7e300, -2.0**-1030, 6e-8, 1e-40]


def same(made, wanted):
    assert np.asarray(made).dtype == np.asarray(wanted).dtype
    assert isinstance(made, tn.ndarray) == isinstance(wanted, np.ndarray)
    np.testing.assert_array_equal(np.asarray(made), wanted)


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "i4", "u1"])
def test_parts_of_floats_to_the_bit(dtype):
    x = np.array(SPECIAL).astype(dtype) if dtype[0] == "f" else np.arange(0, 9).astype(dtype)
    for name in ("frexp", "modf"):
        for made, wanted in zip(getattr(tn, name)(tn.array(x)), getattr(np, name)(x), strict=True):
            same(made, wanted)
            assert (np.signbit(np.asarray(made)) == np.signbit(wanted)).all()
    for n in (0, 1, -1, 30, -30, 1100, -1100, 5000, -5000):
        same(tn.ldexp(tn.array(x), n), np.ldexp(x, n))
    out = tn.empty(x.shape, "f8"), tn.empty(x.shape, "i8")
    made = tn.frexp(tn.array(x), *out)
    assert made[0] is out[0] and made[1] is out[1]
    same(tn.frexp(2.5)[0], np.frexp(2.5)[0])


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8"])
def test_parts_report_no_faults_of_what_is_discarded(dtype):
    x = np.array([np.finfo(dtype).max, np.inf, -np.inf, np.nan, np.finfo(dtype).smallest_subnormal, 0, 1.5], dtype)
    with np.errstate(all="raise"):
        for name in ("frexp", "modf"):
            for made, wanted in zip(getattr(tn, name)(tn.array(x)), getattr(np, name)(x), strict=True):
                same(made, wanted)


def test_ldexp_rounds_once():
    rng = np.random.default_rng(0)
    x = np.concatenate([np.full(8, 11 * 5e-324), 5e-324 * rng.integers(1, 99, 500), rng.uniform(-4, 4, 1500)])
    n = np.concatenate([np.arange(-8, 0), rng.integers(-9, 2, 500), rng.integers(-1080, -960, 1500)]).astype("i4")
    same(tn.ldexp(tn.array(x), tn.array(n)), np.ldexp(x, n))
    same(tn.ldexp(tn.array(x), tn.array(-2 * n)), np.ldexp(x, -2 * n))
    y, n = rng.uniform(-4, 4, 1000).astype("f4"), rng.integers(-152, -120, 1000).astype("i4")
    same(tn.ldexp(tn.array(y), tn.array(n)), np.ldexp(y, n))


@pytest.mark.parametrize("dtype", ["i1", "i2", "i8"])
def test_divisors_of_the_least_integer(dtype):
    x = np.array([np.iinfo(dtype).min, np.iinfo(dtype).max, 6, 0, -1, -96], dtype)
    for name in ("gcd", "lcm"):
        same(getattr(tn, name).outer(tn.array(x), tn.array(x)), getattr(np, name).outer(x, x))


@pytest.mark.parametrize("dtype", ["i1", "i4", "u8", "i8"])
def test_divisors_and_bits(dtype):
    rng = np.random.default_rng(0)
    x, y = (rng.integers(0 if dtype[0] == "u" else -60, 100, 200).astype(dtype) for _ in range(2))
    a, b = tn.array(x), tn.array(y)
    same(tn.gcd(a, b), np.gcd(x, y))
    same(tn.lcm(a, b), np.lcm(x, y))
    same(tn.bitwise_count(a), np.bitwise_count(x))
    same(tn.gcd.reduce(a[:5] * 6), np.gcd.reduce(x[:5] * 6))
    same(tn.gcd.outer(a[:3], b[:4]), np.gcd.outer(x[:3], y[:4]))
    same(tn.lexsort((a % 5, b % 5)), np.lexsort((x % 5, y % 5)))
    with pytest.raises(TypeError):
        tn.gcd(a, 1.5)
    for name in ("gcd", "frexp", "bitwise_count"):
        assert str(inspect.signature(getattr(tn, name))) == str(inspect.signature(getattr(np, name)))


@pytest.mark.parametrize("dtype", "bBhHiIqQ")
def test_divisors_and_bits_of_random_integers(dtype):
    rng, limits = np.random.default_rng(ord(dtype)), np.iinfo(dtype)

    def integers(n):
        long = rng.integers(limits.min, limits.max, n, dtype, endpoint=True)
        few = rng.choice(np.array([limits.min, limits.max, 0, 1, 12, 18, 64], dtype), n)
        return np.where(rng.random(n) < 0.3, few, long >> rng.integers(0, limits.bits - 1, n).astype(dtype))

    for n in (0, 1, 2, 70, 1500):
        x, y = integers(n), integers(n)
        for a, b in [(x, y), (x[::-1], y), (x, np.dtype(dtype).type(6))]:
            for name in ("gcd", "lcm"):
                with np.errstate(all="ignore"):
                    wanted = getattr(np, name)(a, b)
                same(getattr(tn, name)(tn.asarray(a), tn.asarray(b) if b.ndim else b), wanted)
        same(tn.bitwise_count(tn.asarray(x)), np.bitwise_count(x))
        same(tn.gcd.reduce(tn.asarray(x)), np.gcd.reduce(x))
        same(tn.gcd.accumulate(tn.asarray(x // 6 * 6)), np.gcd.accumulate(x // 6 * 6))
    same(tn.gcd.reduce(tn.asarray(x.reshape(30, 50)), 0), np.gcd.reduce(x.reshape(30, 50), 0))
    same(tn.gcd.reduceat(tn.asarray(x), [0, 7, 3, 900]), np.gcd.reduceat(x, [0, 7, 3, 900]))


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("key", [0, -1, slice(1, 7, 2), [0, 3, 3], ..., np.array([True, False] * 6), [5]])
def test_flat_reads_and_writes_row_major(order, key):
    x = np.arange(12.0).reshape(3, 4).copy(order)
    a = tn.array(x)
    same(a.flat[key], x.flat[key])
    for value in (7, [1, 2], np.arange(12) * 10):
        if isinstance(key, int) and np.ndim(value):
            with pytest.raises(ValueError, match="single item"):
                a.flat[key] = value
            continue
        a.flat[key], x.flat[key] = value, value
        same(a, x)
    a.flat, x.flat = [1, 2, 3], [1, 2, 3]
    same(a, x)
    assert len(a.flat) == 12 and list(a.flat) == list(x.flat) and (a.flat.copy() == x.flat.copy()).all()
    it, theirs = a.flat, x.flat
    assert next(it) == next(theirs) and it.index == theirs.index and it.coords == theirs.coords and it.base is a
    for bad in (12, -13, (1, 2), "a"):
        with pytest.raises(IndexError):
            a.flat[bad]


LAYOUTS = {
    "rows": lambda a: a, "columns": lambda a: a.T, "back": lambda a: a[::-1, ::-2], "one": lambda a: a[1, 1, 1, ...],
    "empty": lambda a: a[:, :0], "again": lambda m: m[:, None, :1] * 1, "vector": lambda a: a[1, 0],
}  # fmt: skip


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", ["f8", "i2", "c16", "?", "M8[s]", "S3", ">f4", [("x", "i4"), ("y", "f8")]])
def test_flat_walks_as_numpys(layout, dtype):
    source = np.arange(36).reshape(3, 3, 4).astype("i4").astype(dtype)
    if layout == "again" and source.dtype.kind not in "fic":
        return
    theirs, ours = (LAYOUTS[layout](x) for x in (source, tn.asarray(source)))
    got, wanted = list(ours.flat), list(theirs.flat)
    assert list(map(type, got)) == list(map(type, wanted)) and got == wanted
    walks = theirs.flat, ours.flat
    for _ in wanted:
        one, other = walks
        assert (one.index, one.coords) == (other.index, other.coords) and next(one) == next(other)
    assert not wanted or [i for i, _ in tn.ndenumerate(ours)] == [i for i, _ in np.ndenumerate(theirs)]
    assert all(ours.flat[i] == theirs.flat[i] for i in range(-len(wanted), len(wanted)))
    for place in (len(wanted), -len(wanted) - 1, 2**70):
        with pytest.raises(IndexError):
            ours.flat[place]


@pytest.mark.parametrize("value", [1, 2.5, float("nan"), 300, -1, 10**30, 1j, "3", True, [1], [1, 2]])
@pytest.mark.parametrize("dtype", ["f8", "i1", "u8", "?", "c8", ">i2", "S3"])
@pytest.mark.filterwarnings("ignore")
def test_flat_elements_are_set_as_numpys(dtype, value):
    found = []
    for m in np, tn:
        a = m.asarray(np.zeros((3, 4), dtype))[:, ::-2]
        try:
            a.flat[-2] = value
            found.append(a.tolist())
        except (ValueError, TypeError, OverflowError) as error:
            found.append(type(error))
    assert repr(found[0]) == repr(found[1])


def test_flat_walks_see_what_is_written_meanwhile():
    for m in np, tn:
        a = m.arange(6.0).reshape(2, 3).T * 1
        seen = []
        for x in a.flat:
            seen.append(float(x))
            a += 10
        assert seen == [0, 13, 21, 34, 42, 55]
    walk = tn.arange(3).flat
    with pytest.raises(TypeError):
        del walk[0]
    assert iter(walk) is walk and len(walk) == 3 and walk.base.tolist() == [0, 1, 2]


def test_flat_steps_over_elements_and_not_over_copies(monkeypatch):
    x = np.arange(12.0).reshape(3, 4).copy("F")
    a, seen = tn.array(x), []
    monkeypatch.setattr("tessera.numeric._functions.ravel", None)
    for value in a.flat:
        seen.append(value)
        a[2, 3] = -1.0  # what is written meanwhile is seen
    assert seen == [*range(11), -1] and type(seen[0]) is np.float64
    assert a.flat[-2] == 10 and tn.array(3).flat[0] == 3
    with pytest.raises(IndexError):
        a.flat[12]


@pytest.mark.parametrize("n", [20, 6000])
@pytest.mark.parametrize("share", [np.asarray, memoryview, np.from_dlpack, lambda a: a._address()])
def test_resize_keeps_memory_that_others_share(n, share):
    a = tn.arange(float(n))
    shared = share(a)
    a.resize(10)
    others = [tn.full(n, -1.0) for _ in range(8)]  # which would be given the memory if it were free
    if isinstance(shared, int):
        shared = np.frombuffer((ctypes.c_double * n).from_address(shared))
    np.testing.assert_array_equal(shared, np.arange(float(n)))
    np.asarray(shared)[:] = 7
    assert all(float(x.max()) == -1 for x in others)
    same(a, np.arange(10.0))
    a.shape = (2, 5)
    assert a.shape == (2, 5)


def test_shape_and_resize_in_place():
    x = np.arange(12.0)
    a = tn.array(x)
    view = a[:3]
    a.shape = (3, -1)
    assert a.shape == (3, 4) and view.shape == (3,)
    a[0, 0] = 9
    assert view[0] == 9
    with pytest.raises(ValueError, match="cannot reshape"):
        a.shape = (5,)
    with pytest.raises(AttributeError, match="Incompatible shape"):
        a.T.shape = (12,)
    b = tn.array(x)
    b.resize(2, 8)
    x.resize((2, 8), refcheck=False)
    same(b, x)
    with pytest.raises(ValueError, match="does not own"):
        a[:2].resize(3)
    same(tn.array([1, 256], "i4").byteswap(), np.array([1, 256], "i4").byteswap())
    same(tn.ndarray((2, 2), "i4", np.arange(6, dtype="i4"), 4), np.ndarray((2, 2), "i4", np.arange(6, dtype="i4"), 4))
    m, n = tn.eye(3), np.eye(3)
    m @= m * 2
    n @= n * 2
    same(m, n)


def test_complex_numbers_are_sorted_by_real_then_imaginary_parts():
    rng = np.random.default_rng(1)
    x = (rng.integers(-2, 3, (4, 30)) + 1j * rng.integers(-2, 3, (4, 30))).astype("c8")
    x[1, 3], x[2, 4], x[3, 5:8] = np.nan, complex(1, np.nan), [complex(np.nan, 2), complex(np.nan, np.nan), np.inf]
    for axis in (0, 1):
        same(tn.sort(tn.array(x), axis), np.sort(x, axis))
        same(tn.argsort(tn.array(x), axis, stable=True), np.argsort(x, axis, stable=True))
    same(tn.sort(tn.array(x), None), np.sort(x, None))


def test_keys_that_a_sort_makes_put_every_nan_last(monkeypatch):
    """As large arrays of a GPU are sorted."""
    x = np.random.default_rng(3).standard_normal(3000).astype("f4")
    x[::100], x[5::100], x[7:11] = np.nan, -np.nan, [-0.0, 0.0, np.inf, -np.inf]
    monkeypatch.setattr(_sort, "_are_made_as_read", lambda n, rows: True)
    same(tn.sort(tn.array(x)), np.sort(x))
    same(tn.argsort(tn.array(x), stable=True), np.argsort(x, stable=True))


@pytest.mark.parametrize("dtype", ["u1", "i4", "f4", "f8", "c8"])
def test_descending_sorts_keep_equal_elements_in_order(dtype):
    x = np.random.default_rng(2).integers(0, 5, (4, 30)).astype(dtype)
    for axis in (0, 1):
        turned = np.flip(np.argsort(np.flip(x, axis), axis, stable=True), axis)
        places = x.shape[axis] - 1 - turned
        same(tn.argsort(tn.array(x), axis, descending=True), places)
        same(tn.sort(tn.array(x), axis, descending=True), np.take_along_axis(x, places, axis))
    same(tn.argsort(tn.array([0.0, -0.0, 1.0]), descending=True), np.array([2, 0, 1]))


def test_spacing_empty_partitions_and_memory_that_is_not_aligned():
    for dtype in ("f4", "f8"):  # of negative float16 NumPy gives the positive distance
        x = np.array([0.0, 1, -2, 1e-5, np.nan, 65504]).astype(dtype)
        same(tn.spacing(tn.array(x)), np.spacing(x))
    for axis in (0, 1, None):
        same(tn.partition(tn.zeros((3, 0)), 0, axis), np.partition(np.zeros((3, 0)), 0, axis))
    odd = np.frombuffer(bytes(range(33)), "u1")[1:].view("f8")
    assert (np.asarray(tn.asarray(odd) + 0) == odd).all()


@pytest.mark.parametrize("name", ["gcd", "lcm"])
def test_numbers_of_python_take_the_dtype_beside_them(name):
    for dtype in ("i1", "u2", "u8"):
        x = np.arange(1, 9).astype(dtype)
        for y in (6, True):
            made, wanted = getattr(tn, name)(tn.array(x), y), getattr(np, name)(x, y)
            assert made.dtype == wanted.dtype
            np.testing.assert_array_equal(np.asarray(made), wanted)
    with pytest.raises(OverflowError):
        getattr(tn, name)(tn.array([1, 2], "u1"), -3)


@pytest.mark.parametrize("name", ["ldexp", "gcd", "lcm", "frexp", "divmod", "modf"])
@pytest.mark.parametrize("mask", ["m.array([5, 5, 5])", "m.array([1.0, 0, 0])", "[5, 0, 5]", "m.arange(3) > 0"])
@pytest.mark.parametrize("is_writeable", [True, False])
@pytest.mark.parametrize("operand", [3, 4.5])
def test_masks_are_looked_at_after_results_and_before_loops(name, mask, is_writeable, operand):
    outcomes = []
    for m in (np, tn):
        ufunc = getattr(np, name)
        outs = tuple(m.zeros(3, dtype) for dtype in (["i8"] * 2 if name in ("gcd", "lcm") else ["f8", "f8"]))
        outs = (outs[0], m.zeros(3, "i4")) if name == "frexp" else outs[: ufunc.nout]
        outs[0].flags.writeable = is_writeable
        given = (m.full(3, 6 if name in ("gcd", "lcm") else 6.0), m.full(3, operand))[-ufunc.nin :]
        try:
            getattr(m, name)(*given, out=outs, where=eval(mask))
            outcomes.append([out.tolist() for out in outs])
        except (TypeError, ValueError) as mistake:
            is_of_mask = str(mistake).startswith("Cannot cast array data")
            outcomes.append((TypeError if isinstance(mistake, TypeError) else ValueError, is_of_mask))
    assert outcomes[0] == outcomes[1]
