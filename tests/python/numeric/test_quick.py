# SPDX-License-Identifier: Apache-2.0
"""Small calls that look like one before go a short way (src/numeric/quick.c): the same results, bits and warnings."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import tessera.numeric as tn
from long_form import LONG
from tessera import _core

DTYPES = ["?", "i1", "i4", "f4", "f8", "c8"]
NUMBERS = [2, -1, 1.5, True, 2j, np.float32(3), 2**40]
CALLS = {
    "add": lambda m, x, y: x + y, "same": lambda m, x, y: x + x, "number": lambda m, x, y: x * y,
    "compare": lambda m, x, y: x < y, "where": lambda m, x, y: m.where(x > 1, x, y), "divide": lambda m, x, y: x / y,
    "floor": lambda m, x, y: x // y, "sine": lambda m, x, y: m.sin(x) - y, "hypot": lambda m, x, y: m.hypot(y, x),
    "and": lambda m, x, y: x & y, "absolute": lambda m, x, y: abs(x), "twice": lambda m, x, y: (x + y) + (x + y),
}  # fmt: skip


def outcome(call, m, *operands):
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        try:
            made = call(m, *operands)
        except (TypeError, OverflowError) as mistake:
            return type(mistake), None
    told = {str(each.message) for each in seen if each.category is RuntimeWarning}
    return np.asarray(made), {text.split(" encountered")[0] for text in told}


@pytest.mark.parametrize("name", CALLS)
def test_calls_that_look_alike_are_numpys(name):
    rng = np.random.default_rng(len(name))
    for _ in range(48 if LONG else 10):
        shape = [(100,), (10, 10), (2,), (129,), (5, 1, 7), (1,), ()][rng.integers(7)]
        dtype, other = rng.choice(DTYPES, 2)
        x = rng.integers(0, 6, shape).astype(dtype)
        y = rng.integers(0, 6, shape).astype(other) if rng.random() < 0.6 else NUMBERS[rng.integers(len(NUMBERS))]
        a = tn.array(x)
        b = tn.array(y) if isinstance(y, np.ndarray) else y
        if x.ndim and rng.random() < 0.2:
            x, a = x[::-1], a[::-1]
        found, told = outcome(CALLS[name], tn, a, b)
        wanted, wanted_told = outcome(CALLS[name], np, x, y)
        if isinstance(found, type) or isinstance(wanted, type):
            assert found is wanted or issubclass(found, NotImplementedError)
            continue
        assert found.dtype == wanted.dtype and found.shape == wanted.shape
        np.testing.assert_allclose(found, wanted, rtol=1e-5)
        if wanted.dtype.kind in "fc":
            assert told == wanted_told


def test_the_same_bits_as_the_long_way():
    rng = np.random.default_rng(0)
    for dtype in ("f4", "f8", "c16", "i4"):
        a, b = (tn.array(rng.integers(1, 9, (9, 11)).astype(dtype)) for _ in range(2))
        for call in (lambda x, y: x / y, lambda x, y: tn.exp(x) - y, lambda x, y: x * 3 + y):
            quick = [np.asarray(call(a, b)) for _ in range(3)]
            small = _core.numeric_small(0)
            long = np.asarray(call(a, b))
            _core.numeric_small(small)
            for each in quick:
                np.testing.assert_array_equal(each, long)


def test_each_call_is_counted():
    a, b = tn.ones(100, "f4"), tn.ones(100, "f4")
    for operands, read in (((a, b), 2), ((a, a), 1), ((a, 2), 1)):
        for _ in range(3):
            before = _core.numeric_stats()
            tn.add(*operands)
            after = _core.numeric_stats()
            moved = {name: after[name] - before[name] for name in ("launched", "nodes", "bytes")}
            assert moved == {"launched": 1, "nodes": 1, "bytes": (read + 1) * 400}


def test_what_waits_is_computed_first():
    a = tn.ones((600, 2), "f8")
    part = (a * 2).sum(0)  # waits: a fold along short rows
    for _ in range(3):
        assert list(np.asarray(part + 1)) == [1201.0, 1201.0]


INTO = {
    "number": lambda m, x, y: x.__iadd__(2), "array": lambda m, x, y: x.__imul__(y),
    "itself": lambda m, x, y: x.__isub__(x),
    "pole": lambda m, x, y: m.divide(x, y - y, out=x), "far": lambda m, x, y: m.multiply(x, 1e30, out=y),
    "other": lambda m, x, y: m.add(x, x, out=y), "shifted": lambda m, x, y: m.add(x[1:], x[:-1], out=x[1:]),
    "part": lambda m, x, y: x.__setitem__(slice(2, 5), 7), "all": lambda m, x, y: y.__setitem__(..., x),
    "reversed": lambda m, x, y: x.__setitem__(..., x[::-1]), "cast": lambda m, x, y: x.__setitem__(..., 2.75),
    "half": lambda m, x, y: x.__setitem__(slice(3, None), y[3:]), "true": lambda m, x, y: m.less(x, y, out=x == y),
}  # fmt: skip


@pytest.mark.parametrize("dtype", ["f4", "f8", "i4"])
def test_writes_that_look_alike_are_numpys(dtype):
    rng = np.random.default_rng(4)
    x, y = rng.integers(1, 5, (2, 12)).astype(dtype)
    a, b = tn.array(x), tn.array(y)
    for _ in range(150):
        name = rng.choice(list(INTO))
        if dtype == "i4" and name in ("pole", "far"):
            continue
        found, told = outcome(INTO[name], tn, a, b)
        wanted, wanted_told = outcome(INTO[name], np, x, y)
        assert told == wanted_told and (isinstance(wanted, type) or wanted.shape == found.shape)
        np.testing.assert_array_equal(np.asarray(tn.array(a)), x)
        np.testing.assert_array_equal(np.asarray(tn.array(b)), y)
        if not (np.isfinite(x).all() and np.isfinite(y).all() and np.abs(x).max() < 1e6):
            x[...], y[...] = rng.integers(1, 5, (2, 12))
            a[...], b[...] = x, y


def test_what_may_not_be_written_is_refused_each_time():
    a = tn.ones(9, "f4")
    a += 1
    a += 1
    a.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        a += 1
    assert float(a[0]) == 3


def test_what_is_made_and_copied_without_python_is_numpys():
    shapes = [3, 0, (), (2, 3), (4, 1, 2), np.int64(2), [2, 2], -1, (2, -3), 2.0, "3", (1,) * 65]
    dtypes = [None, "f4", "i2", int, bool, complex, np.float16, np.dtype("u1"), "no such dtype"]
    for name in ("zeros", "ones", "empty"):
        for shape in shapes:
            for dtype in dtypes:
                for arguments, options in (((shape, dtype), {}), ((shape,), {"dtype": dtype})):
                    try:
                        wanted = getattr(np, name)(*arguments, **options)
                    except (TypeError, ValueError) as mistake:
                        with pytest.raises(type(mistake)):
                            getattr(tn, name)(*arguments, **options)
                        continue
                    made = getattr(tn, name)(*arguments, **options)
                    assert (made.shape, made.dtype) == (wanted.shape, wanted.dtype)
                    assert name == "empty" or (np.asarray(made) == wanted).all()
    x = np.random.default_rng(5).random((6, 5))
    for view in (lambda a: a, lambda a: a.T, lambda a: a[::-2], lambda a: a[1:1], lambda a: a[0, :1]):
        for call in (
            lambda m, a: a.copy(), lambda m, a: m.copy(a), lambda m, a: a.copy("F"), lambda m, a: a.mean(),
            lambda m, a: a.mean(0), lambda m, a: m.mean(a, axis=-1, keepdims=True), lambda m, a: a.astype("f4"),
            lambda m, a: a.astype(int), lambda m, a: a.astype("f4").mean(), lambda m, a: (a * 9).astype("i4").mean(),
            lambda m, a: (a + 1j).astype("c8"), lambda m, a: a.astype("f8", copy=False),
        ):  # fmt: skip
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                found, wanted = call(tn, view(tn.array(x))), call(np, view(x))
            assert (found.shape, found.dtype, type(found) is np.float64) == (
                wanted.shape, wanted.dtype, type(wanted) is np.float64)  # fmt: skip
            if wanted.ndim and min(wanted.shape) > 1:
                assert found.strides == wanted.strides
            np.testing.assert_allclose(np.asarray(found), wanted, rtol=1e-6)


def test_copies_are_of_the_time_of_the_call():
    a = tn.ones(4, "f4")
    b, c = a.copy(), a.astype("f8")
    a[...] = 5
    assert list(np.asarray(b)) == [1, 1, 1, 1] and list(np.asarray(c)) == [1, 1, 1, 1] and b.base is None
    a[0] = np.nan
    with pytest.warns(RuntimeWarning, match="invalid value encountered in cast"):
        a.astype(int)


@pytest.mark.parametrize("dtype", ["?", "i1", "u2", "i4", "u8", "f2", "f4", "f8", "c8", "c16", "bfloat16"])
def test_elements_are_numpys_scalars(dtype):
    if dtype == "bfloat16":
        dtype = pytest.importorskip("ml_dtypes").bfloat16
    x = np.array([[1, 0, 3], [2, 5, 7]]).astype(dtype)
    a = tn.array([[1, 0, 3], [2, 5, 7]]).astype(dtype)
    for key in [(0, 0), (1, -1), (-2, 2), (np.int64(1), 0)]:
        found, wanted = a[key], x[key]
        assert type(found) is type(wanted) and found == wanted and repr(found) == repr(wanted)
        assert hash(found) == hash(wanted) and (found + found).tobytes() == (wanted + wanted).tobytes()
    for key in [(2, 0), (0, -4), (0, 0, 0), (2**70, 0), (0.5, 0), ("a", 0)]:
        with pytest.raises(IndexError):
            a[key]
    assert a[True, 1, 1].shape == x[True, 1, 1].shape and a[1].shape == (3,)


def test_results_that_are_not_finite_leave_no_note_of_other_calls():
    # a call whose result is not finite goes the long way; what is noted then must be of that call
    inf, nan = np.inf, np.nan
    pairs = [
        ([inf, 0], [1, inf]), ([inf, -inf], [1, 0]), ([inf, inf], [1, -inf]), ([inf, inf], [1, 0]),
        ([-inf, 0], [inf, 0]), ([nan, 0], [nan, 0]), ([2e-8], [0]), ([1], [1 + 3e-5]),
    ]  # fmt: skip
    with np.errstate(all="ignore"):
        for function in ("allclose", "isclose"):
            for a, b in pairs:
                for _ in range(3):
                    made = np.asarray(getattr(tn, function)(a, b))
                    assert (made == getattr(np, function)(a, b)).all(), (function, a, b)


def test_columns_and_strides_are_numpys():
    """Calls on arrays of one axis with any strides, again and again, among them parts of one matrix."""
    rng = np.random.default_rng(3)

    def part(m):
        i, n = int(rng.integers(0, 6)), 12
        return [m[i, :n], m[:n, i], m[:n, i][::-1], m[i, : 2 * n : 2], m[i, 3 : n + 3]][rng.integers(0, 5)]

    for dtype in ("f8", "i4", "c16"):
        x = rng.integers(-9, 9, (30, 30)).astype(dtype)
        a, b = x.copy(), tn.array(x)
        for step in range(120):
            state = rng.bit_generator.state
            parts = [part(a) for _ in range(3)]
            rng.bit_generator.state = state
            ours = [part(b) for _ in range(3)]
            kind = rng.integers(0, 4)
            if kind == 0:
                parts[2][:] = parts[0] + parts[1]  # NumPy alone is wrong where some of these overlap
                tn.add(ours[0], ours[1], ours[2])
            elif kind == 1:
                np.testing.assert_array_equal(tn.asnumpy(ours[0] * 2 - ours[1]), parts[0] * 2 - parts[1])
            elif kind == 2:
                parts[0][:], ours[0][:] = parts[1].copy(), ours[1]
            else:
                parts[0][1:] -= parts[1][:-1].copy()
                ours[0][1:] -= ours[1][:-1]
            if step % 10 == 0:
                a[:] = x
                b[:] = tn.array(x)
            np.testing.assert_array_equal(tn.asnumpy(b), a, err_msg=f"{dtype} {step} {kind}")


def test_faults_of_strided_calls_are_told():
    a = tn.array(np.arange(1.0, 101).reshape(10, 10))
    for i in range(3):
        a[:, i] /= 2.0
    with pytest.warns(RuntimeWarning, match="divide by zero"):
        a[:, 4] /= tn.zeros(10)
    assert np.isinf(tn.asnumpy(a)[:, 4]).all() and np.isfinite(tn.asnumpy(a)[:, 3]).all()


def test_faults_of_calls_that_are_known_are_told_each_time():
    x, y = tn.array([1.0, 2.0]), tn.array([1.0, 0.0])
    for _ in range(3):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert (x / tn.ones(2)).tolist() == [1.0, 2.0]
        with pytest.warns(RuntimeWarning, match="divide by zero"):
            assert (x / y).tolist() == [1.0, np.inf]
        with np.errstate(divide="raise"), pytest.raises(FloatingPointError):
            x / y
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("error")
            assert (x / y).tolist() == [1.0, np.inf]


def test_operands_of_one_memory_are_numpys():
    rng = np.random.default_rng(5)
    for _ in range(200 if LONG else 40):
        memory = rng.integers(1, 9, 64).astype(rng.choice(["f8", "f4", "i8"]))
        ours = tn.array(memory)
        size = int(rng.integers(2, 12))
        shape = [(size,), (1, size), (size, 1)][rng.integers(3)]
        begin = rng.integers(0, 64 - size, 3)
        if rng.random() < 0.3:
            begin[1] = begin[0]
        parts = [[m[i : i + size].reshape(shape) for i in begin] for m in (memory, ours)]
        for x, y, out in parts:
            np.add(x, y, out=out)
            out -= y
        np.testing.assert_array_equal(ours, memory)


@pytest.mark.parametrize("dtype", ["f8", "f4", "f2", "i8", "i4", "i2", "u8", "?", "c8", "c16"])
def test_scalars_of_numpy_are_operands(dtype):
    x = np.arange(1, 4).astype(dtype)
    a = tn.array(x)
    for kind in ("f8", "f4", "i8", "i4", "i1", "u8", "?", "c16"):
        number = np.dtype(kind).type(3)
        found, wanted = outcome(lambda m, x, y: m.add(x, y), tn, a, number), np.add(x, number)
        assert found[0].dtype == wanted.dtype
        np.testing.assert_array_equal(found[0], wanted)
        np.testing.assert_array_equal(number + a, number + x)


def test_objects_of_arrays_that_ended_are_new_ones():
    class Named(tn.ndarray):
        pass

    kept = [tn.arange(3) + i for i in range(40)]
    for i in range(40):
        view = kept[i][1:]
        assert view.base is kept[i] and view.tolist() == [i + 1, i + 2]
        named = kept[i].view(Named)
        named.name = i
        assert (named + 1).tolist() == [i + 1, i + 2, i + 3] and not hasattr(kept[i] + 1, "name")
        del view, named
    assert [each.tolist() for each in kept] == [[i, i + 1, i + 2] for i in range(40)]


def test_functions_are_called_without_a_tuple():
    assert type(tn.add).__flags__ >> 11 & 1  # Py_TPFLAGS_HAVE_VECTORCALL, which classes inherit from Python 3.12 on


@pytest.mark.parametrize("dtype", ["f8", "f4", "i8", "i2", "c16"])
def test_elements_in_place_are_those_of_the_moment(dtype):
    a = tn.arange(2000).astype(dtype)
    x = np.arange(2000).astype(dtype)
    waits, wanted = a + a, x + x
    for i in (5, -3, 700):
        a[i] = x[i] = 1
        assert a[i] == x[i] and type(a[i]) is type(x[i])
    np.testing.assert_array_equal(waits, wanted)
    a += 1
    x += np.ones(1, dtype)
    assert a[5] == x[5]
    a[6] = x[6] = 0
    np.testing.assert_array_equal(a, x)
