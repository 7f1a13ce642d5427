# SPDX-License-Identifier: Apache-2.0
"""Elements and few rows of host memory that are read and written without a kernel; products of vectors and matrices."""

import numpy as np
import pytest
from seeds import random_numbers

import tessera.numeric as tn
from tessera import _core

DTYPES = ["?", "i1", "u2", "i4", "i8", "u8", "f2", "f4", "f8", "c8", "c16"]
VALUES = [True, 0, 7, -3, 2**40, 0.5, 3.25, float("inf"), float("nan"), 1e300, 1 + 2j, np.float32(0.1), np.int8(-2),
          np.float64(1e-300), np.int64(300), np.uint8(200), np.int16(-129), np.uint64(2**63)]  # fmt: skip


def _outcome(module, array, key, value):
    a = module.array(array)
    with np.errstate(all="ignore"):
        try:
            a[key] = value
        except (TypeError, ValueError, OverflowError, IndexError, np.exceptions.ComplexWarning) as e:
            return type(e)
    return np.asarray(a)


@pytest.mark.filterwarnings("error::numpy.exceptions.ComplexWarning")
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("key", [(1, 2), (-1, -4), ([0, 2],)])
def test_numbers_become_elements_as_numpys_do(dtype, key):
    array = np.ones((3, 4), dtype)
    for value in VALUES:
        theirs = _outcome(np, array, key if isinstance(key[0], int) else np.array(key[0]), value)
        ours = _outcome(tn, array, key if isinstance(key[0], int) else tn.array(key[0]), value)
        if isinstance(value, float) and not abs(value) < 2**63 and array.dtype.kind in "iu":
            continue  # NumPy's result depends on the processor
        if isinstance(theirs, type):
            assert ours is theirs, (dtype, value, ours)
        else:
            np.testing.assert_array_equal(ours, theirs, err_msg=f"{dtype} {value}")


@pytest.mark.parametrize("dtype", ["i1", "u1", "i8", "u8", "f4"])
@pytest.mark.parametrize("value", ["np.int64(300)", "np.uint64(2**63)", "np.int8(-1)", "np.array(300)", "300"])
def test_integers_of_numpy_must_fit_where_they_must_in_numpy(dtype, value):
    for write in ("a[0] = v", "a[1:] = v", "a[...] = v", "a[[0, 1]] = v", "a[m.arange(3) > 1] = v", "a[0, ...] = v",
                  "a.fill(v)", "a[:2] = [v, v]", "a.flat[0] = v", "a.flat[:2] = v", "a = m.full(3, v, a.dtype)",
                  "m.copyto(a, v, casting='unsafe')", "m.put(a, 0, v)", "m.fill_diagonal(a.reshape(3, 1), v)",
                  "a = m.asarray(v, a.dtype)", "a = m.zeros((), a.dtype); a[()] = v"):  # fmt: skip
        found = []
        for module in (np, tn):
            names = {"m": module, "a": module.zeros(3, dtype), "v": eval(value)}
            try:
                exec(write, names)
                found.append(np.asarray(names["a"]).tolist())
            except (OverflowError, ValueError) as error:
                found.append(type(error))
        assert found[0] == found[1], write


def test_random_rows_are_numpys():
    rng = np.random.default_rng(5)
    for _ in range(300):
        shape = tuple(rng.integers(1, 6, rng.integers(1, 4)))
        x = rng.integers(-99, 99, shape).astype(rng.choice(DTYPES[2:]))
        places = rng.integers(-shape[0], shape[0], tuple(rng.integers(0, 5, rng.integers(1, 3))))
        turned = rng.random() < 0.3
        a, b = (m.array(x).T.copy().T if turned else m.array(x) for m in (np, tn))
        np.testing.assert_array_equal(np.asarray(b[tn.array(places)]), a[places])
        values = rng.integers(0, 9, places.shape + shape[1:]).astype(rng.choice([x.dtype.str, "i4"]))
        values = values if rng.random() < 0.7 else 3
        a[places] = values
        b[tn.array(places)] = values if isinstance(values, int) else tn.array(values)
        np.testing.assert_array_equal(np.asarray(b), a)


def _part(rng, shape):
    """A random key of ints and slices, of which one at least is a slice."""
    bounds = [sorted(int(i) for i in rng.integers(0, n + 1, 2)) for n in shape]
    steps = [int(s) for s in rng.choice([1, 1, 2, -1], len(shape))]
    slices = [slice(a, b, s) if s > 0 else slice(b, a or None, s) for (a, b), s in zip(bounds, steps, strict=True)]
    picks = [int(rng.integers(n)) if i and rng.integers(4) == 0 else s
             for i, (n, s) in enumerate(zip(shape, slices, strict=True))]  # fmt: skip
    return tuple(picks)


def test_random_parts_are_numpys():
    rng = np.random.default_rng(11)
    for _ in range(400):
        shape = tuple(rng.integers(1, 7, rng.integers(1, 4)))
        x = rng.integers(-99, 99, shape).astype(rng.choice(DTYPES))
        a, b = np.array(x), tn.array(x)
        key, other = _part(rng, shape), _part(rng, shape)
        kind = rng.integers(5)
        if kind == 0:  # of the array itself, perhaps overlapping
            value, mine = (a[other], b[other]) if a[other].shape == a[key].shape else (a[key], b[key])
        elif kind == 1:  # the part itself
            value, mine = a[key], b[key]
        else:
            fits = [n if rng.integers(4) else 1 for n in a[key].shape][rng.integers(2) if a[key].ndim > 1 else 0:]
            value = rng.integers(-9, 9, fits).astype(x.dtype if kind > 2 else "i2")
            value = value.T.copy().T if kind == 3 else value
            mine = tn.array(value)
        a[key] = value
        b[key] = mine
        np.testing.assert_array_equal(np.asarray(b), a, err_msg=f"{x.dtype} {shape} {key} {value!r}")


def test_parts_are_written_between_reads_that_wait_and_launch_nothing():
    a, b = tn.ones(3000), tn.arange(3000.0)
    twice = a * 2
    a[1:4] = b[:3]
    assert float(twice.sum()) == 6000 and a[:5].tolist() == [1, 0, 1, 2, 1]
    waits = b * 2
    a[:] = waits
    a[3:5] = waits[:2]
    assert a[:6].tolist() == [0, 2, 4, 0, 2, 10]
    u, v = tn.ones(100), tn.arange(100.0)
    mask = v > 5
    u[2:5] = v[:3]
    before = _core.numeric_stats()["launched"]
    for i in range(20):
        u[i : i + 3] = v[7:10]
        u[mask] = 4.0
        u[i:] = u[i:]
    assert _core.numeric_stats()["launched"] == before
    assert u[:8].tolist() == [7] * 6 + [4, 4]


@pytest.mark.parametrize("dtype", DTYPES)
def test_places_of_several_arrays_are_numpys(dtype):
    rng = np.random.default_rng(12)
    for _ in range(60):
        shape = tuple(rng.integers(1, 6, rng.integers(1, 5)))
        x, many = rng.integers(-99, 99, shape).astype(dtype), tuple(rng.integers(1, 4, rng.integers(1, 3)))
        x = x.T.copy().T if rng.integers(3) == 0 else x
        part = slice(*rng.choice([None, 0, 1, -1], 2), int(rng.choice([1, -1])))
        key = [rng.integers(-n, n, many) if rng.integers(2) else part for n in shape]
        if rng.integers(3) == 0:
            at = rng.integers(len(key) + 1)
            key[at : at + int(rng.integers(3))] = [...]
        ours = tuple(tn.array(k) if isinstance(k, np.ndarray) else k for k in key)
        key = tuple(key)
        a, b = np.array(x, order="K"), tn.array(x)
        np.testing.assert_array_equal(np.asarray(b[ours]), a[key])
        fits = [n if rng.integers(4) else 1 for n in a[key].shape]
        value = rng.integers(-9, 9, fits).astype(dtype) if rng.integers(3) else 3
        a[key] = value
        b[ours] = value if isinstance(value, int) else tn.array(value)
        np.testing.assert_array_equal(np.asarray(b), a, err_msg=f"{shape} {key}")


def test_places_of_several_arrays_launch_nothing_and_may_be_wrong():
    a, i = tn.arange(100.0).reshape(10, 10), tn.array([1, -2])
    before = _core.numeric_stats()["launched"]
    a[i, i], a[:, i], a[..., i, :]
    a[i, i] = 5.0
    a[:, i] = a[:, i]
    assert _core.numeric_stats()["launched"] == before
    assert a[1, 1] == a[8, 8] == 5 and a[1, 8] == 18
    for key in ((i, tn.array([0, 10])), (slice(None), tn.array([-11]))):
        with pytest.raises(IndexError, match="out of bounds for axis 1 with size 10"):
            a[key]
        with pytest.raises(IndexError, match="out of bounds for axis 1 with size 10"):
            a[key] = 1
    waits = tn.ones((100, 100))
    later = waits * 2
    waits[i, i] = 9.0
    assert float(later.sum()) == 20000 and waits[1, 1] == 9


@pytest.mark.parametrize("dtype", DTYPES)
def test_masks_take_numbers_and_arrays(dtype):
    rng = np.random.default_rng(3)
    for n in (1, 31, 32, 33, 64, 1000):
        x, mask = rng.integers(0, 9, n).astype(dtype), rng.random(n) < rng.choice([0.02, 0.5, 1])
        for value in (1, True, np.array(1, dtype), np.arange(mask.sum()).astype(dtype)):
            a, b = np.array(x), tn.array(x)
            a[mask] = value
            b[tn.array(mask)] = tn.array(value) if np.ndim(value) else value
            np.testing.assert_array_equal(np.asarray(b), a)
    waits = tn.ones(2000)
    later = waits + 1
    waits[later > 1] = 5
    assert float(later.sum()) == 4000 and float(waits.sum()) == 10000


def test_numpys_arrays_without_axes_count_as_their_scalars():
    for module in (np, tn):
        x = module.arange(4, dtype="f4")
        for left in (np.float64(1.5), np.array(1.5), np.float32(1.5), np.int64(1)):
            assert (left < x).tolist() == [left < i for i in range(4)]
            assert (left * x).dtype == (np.float32 if left.dtype == "f4" else np.float64)
            assert module.add(left, x).tolist() == [left + i for i in range(4)]
        with pytest.raises(TypeError):
            module.add(np.array("text"), x)


def test_places_out_of_range_and_readonly_arrays():
    a, wrong = tn.arange(5), tn.array([0, 5])
    for read in (lambda: a[wrong], lambda: a.__setitem__(wrong, 1), lambda: a[tn.array([-6])]):
        with pytest.raises(IndexError, match="out of bounds for axis 0 with size 5"):
            read()
    a.flags.writeable = False
    for key in (1, tn.array([1])):
        with pytest.raises(ValueError, match="read-only"):
            a[key] = 1
    np.testing.assert_array_equal(np.asarray(a), np.arange(5))


def test_arrays_without_axes_have_no_rows():
    for value in (1.0, [1.0], [[1.0, 2.0]]):
        a = tn.zeros(())
        with pytest.raises(IndexError, match="too many indices"):
            a[tn.array([0])] = tn.array(value)
        assert float(a) == 0
    a = tn.zeros(3)
    a[tn.array(1)] = tn.array(2.0)
    assert a.tolist() == [0, 2, 0]


def test_writes_come_after_reads_that_wait():
    a = tn.ones(5000)
    twice, thrice = a * 2, a * 3
    a[3] = 7.0
    a[tn.array([1, 2])] = 9.0
    assert float(twice.sum()) == 10000 and float(thrice.sum()) == 15000
    assert list(np.asarray(a)[:5]) == [1, 9, 9, 7, 1]


def test_rows_that_overlap_are_read_first():
    a, b = np.arange(6), tn.arange(6)
    a[np.array([1, 2, 3])] = a[:3]
    b[tn.array([1, 2, 3])] = b[:3]
    np.testing.assert_array_equal(np.asarray(b), a)
    a[a] = 0
    b[b] = 0
    np.testing.assert_array_equal(np.asarray(b), a)


def test_elements_and_rows_launch_nothing():
    a, places = tn.ones(100), tn.array([1, 5, 7])
    a[3], _ = 2.0, a[places]
    before = _core.numeric_stats()["launched"]
    for i in range(20):
        a[i] = float(i)
        a[places] = a[places]
        a[places] = 4.0
    assert _core.numeric_stats()["launched"] == before


@pytest.mark.parametrize("dtype", DTYPES[1:])
def test_products_of_vectors_and_matrices(dtype):
    rng = np.random.default_rng(2)
    for m, k, n in ((3, 4, 5), (1, 7, 1), (20, 30, 2), (2, 3, 1100)):
        a, b = (rng.integers(0, 4, s).astype(dtype) for s in ((m, k), (k, n)))
        for x, y in ((a, b), (a[0], b), (a, b[:, 0]), (a[0], b[:, -1]), (a.T, a), (a[:, ::-1], b[::-1])):
            ours = [tn.array(x) @ tn.array(y), tn.dot(tn.array(x), tn.array(y)), tn.matmul(tn.array(x), tn.array(y))]
            for found in (*ours, tn.array(x).dot(tn.array(y))):
                assert type(found) is type(ours[0]) and found.dtype == (x @ y).dtype
                np.testing.assert_array_equal(np.asarray(found), x @ y)


def _random_view(rng, shape, dtype):
    """Random numbers of a shape, whose axes lie in any order, with steps, backwards or all at one place."""
    shape, steps = list(shape), [rng.choice([1, 1, 1, 2, -1, -3]) for _ in shape]
    whole = [n * abs(int(s)) for n, s in zip(shape, steps, strict=True)]
    x = rng.standard_normal(whole).astype(dtype)
    x = np.array(x, order=rng.choice(["C", "F"]))[tuple(slice(None, None, int(s)) for s in steps)]
    return np.broadcast_to(x[:1], shape) if rng.integers(8) == 0 else x


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_products_with_vectors_as_they_lie(dtype):
    rng = np.random.default_rng(7)
    extents = [1, 2, 3, 7, 8, 9, 16, 31, 33, 70, 100, 513, 1030]
    for _ in range(60):
        m, k = (int(n) for n in rng.choice(extents, 2))
        x, v = _random_view(rng, (m, k), dtype), _random_view(rng, (k,), dtype)
        ours, w = tn.asarray(x), tn.asarray(v)
        wanted, bound = x.astype("f8") @ v.astype("f8"), np.abs(x).astype("f8") @ np.abs(v).astype("f8")
        for found in (ours @ w, w @ ours.T, tn.matmul(ours, w[:, None])[:, 0], tn.matmul(w[None], ours.T)[0]):
            assert found.dtype == x.dtype and found.shape == (m,)
            assert (np.abs(np.asarray(found) - wanted) <= bound * np.finfo(dtype).eps * 8).all()
        assert type(ours[0] @ w) is x.dtype.type and ours[0] @ w == (ours[:1] @ w)[0]


def test_products_with_vectors_have_nan_where_numpy_has_and_launch_nothing():
    x = np.ones((40, 70))
    x[3, 5], x[4, 69], x[5, 0], x[5, 1] = np.nan, np.inf, np.inf, -np.inf
    v = np.ones(70)
    v[7] = 0
    x[6, 7] = np.inf
    a, b, c = tn.array(x), tn.array(v), tn.array(x.T)
    before = _core.numeric_stats()["launched"]
    with np.errstate(invalid="ignore"):
        for found, wanted in ((a @ b, x @ v), (b @ a.T, x @ v), (c.T @ b, x @ v), (a[3:5] @ b, x[3:5] @ v)):
            np.testing.assert_array_equal(np.asarray(found), wanted)
    assert _core.numeric_stats()["launched"] == before
    for shape in ((0, 4), (4, 0)):
        np.testing.assert_array_equal(tn.zeros(shape) @ tn.ones(shape[1]), np.zeros(shape) @ np.ones(shape[1]))
    assert tn.zeros(0) @ tn.zeros(0) == 0
    waits = tn.arange(2000.0).reshape(20, 100) + 1
    np.testing.assert_array_equal((waits * 2) @ (waits[0] * 2), ((np.arange(2000.0) + 1) * 2).reshape(20, 100) @ (
        (np.arange(100.0) + 1) * 2))  # fmt: skip


@pytest.mark.parametrize("dtype", ["f2", "bfloat16"])
def test_products_of_narrow_floats_are_rounded_once(dtype):
    """Products of elements overflow float16, and eight bits do not hold them: they are summed in float32."""
    if dtype == "bfloat16":
        dtype = pytest.importorskip("ml_dtypes").bfloat16
    x = np.array([[300, 300], [257, 3]]).astype(dtype)
    y = np.array([[300, 2], [-300, 1]]).astype(dtype)
    for a, b in ((x, y), (x[0], y), (x, y[:, 0]), (x[0], y[:, 0]), (x[:1], y), (np.stack([x, y]), np.stack([y, x]))):
        with np.errstate(over="ignore"):
            wanted = (a.astype("f4") @ b.astype("f4")).astype(dtype)
            found = [tn.array(a) @ tn.array(b)]
            if a.ndim <= 2:
                found += [tn.dot(tn.array(a), tn.array(b)), tn.tensordot(tn.array(a), tn.array(b), 1)]
        for made in found:
            assert made.dtype == wanted.dtype
            np.testing.assert_array_equal(np.asarray(tn.asarray(made).astype("f4")), wanted.astype("f4"))
    with np.errstate(over="ignore"):
        assert tn.convolve(tn.array(x[0]), tn.array(y[::-1, 0]), "valid").astype("f4").tolist() == [0]
        assert float(tn.vecdot(tn.array(x[0]), tn.array(y[:, 0]))) == 0


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_histograms_of_even_bins_are_numpys_to_the_bit(dtype):
    rng = np.random.default_rng(3)
    for i in range(40):
        n, bins = int(rng.choice([0, 1, 2, 17, 300])) if i else 70_000, int(rng.choice([1, 2, 3, 10, 777]))
        x = (rng.standard_normal(n) * 10.0 ** rng.integers(-3, 4)).astype(dtype)
        x = (np.round(x * 8) / 8 if rng.integers(3) == 0 else x).astype(dtype)
        limits = [None, (-0.7, 2 / 3), (0, 1), (-1, 0.1)][rng.integers(4)]
        if limits and n > 3:
            x[2] = np.nan
        elif n and rng.integers(7) == 0:
            x[:] = x[0]
        weights = rng.standard_normal(x.size).astype(rng.choice(["f4", "f8"])) if rng.integers(2) else None
        found = tn.histogram(tn.array(x), bins, limits, weights=None if weights is None else tn.array(weights))
        for ours, theirs in zip(found, np.histogram(x, bins, limits, weights=weights), strict=True):
            assert ours.dtype == theirs.dtype
            np.testing.assert_array_equal(np.asarray(ours), theirs)


def test_histograms_with_words_and_mistakes_of_numpy():
    x = np.random.default_rng(5).standard_normal(500)
    calls = [{"bins": "auto"}, {"bins": 7, "density": True}, {"bins": [0.0, 1, 2]}, {"bins": 4, "range": [-1, 1]}]
    for options in calls:
        for ours, theirs in zip(tn.histogram(tn.array(x), **options), np.histogram(x, **options), strict=True):
            np.testing.assert_allclose(np.asarray(ours), theirs, rtol=1e-14)
    mistakes = [{"bins": 0}, {"range": (1, 0)}, {"range": (0, np.inf)}, {"bins": "no"}, {"weights": np.ones(3)},
                {"bins": "auto", "weights": np.ones(500)}]  # fmt: skip
    for options in mistakes:
        with pytest.raises((ValueError, TypeError)) as theirs:
            np.histogram(x, **options)
        with pytest.raises(theirs.type) as ours:
            tn.histogram(tn.array(x), **{k: tn.array(v) if k == "weights" else v for k, v in options.items()})
        assert str(ours.value) == str(theirs.value)
    with pytest.raises(ValueError, match="autodetected range"):
        tn.histogram(tn.array([1.0, np.nan]))


def test_counts_of_numbers_launch_nothing():
    x, w = np.array([3, 1, 1, 0, 7, 1, 3]), np.array([0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7])
    a, b = tn.array(x), tn.array(w)
    before = _core.numeric_stats()["launched"]
    for ours, theirs in ((tn.bincount(a), np.bincount(x)), (tn.bincount(a, b), np.bincount(x, w)),
                         (tn.bincount(a[::-2], b[::2], 9), np.bincount(x[::-2], w[::2], 9)),
                         (tn.bincount(a[:0], None, 3), np.bincount(x[:0], None, 3))):  # fmt: skip
        assert ours.dtype == theirs.dtype
        np.testing.assert_array_equal(np.asarray(ours), theirs)
    assert _core.numeric_stats()["launched"] == before
    for weights in (None, b):
        with pytest.raises(ValueError, match="negative"):
            tn.bincount(a - 1, weights)


def test_products_whose_shapes_do_not_fit():
    a = tn.ones((3, 4))
    for x, y in ((a, a), (a, tn.ones(3)), (tn.ones(2), a), (tn.ones(2), tn.ones(3))):
        with pytest.raises(ValueError):
            x @ y
        with pytest.raises(ValueError):
            tn.dot(x, y)


def test_copies_of_one_dtype_tell_nothing():
    a = tn.array([1.0, np.nan, np.inf] * 400)
    with np.errstate(all="raise"):
        b = tn.zeros(1200)
        b[:] = a
        b[1:] = a[:-1]
    np.testing.assert_array_equal(np.asarray(b)[1:], np.asarray(a)[:-1])


def test_dates_stay_dates():
    a, b = (m.array(["2020-01-01", "2021-02-03", "2022-03-04"], "M8[D]") for m in (np, tn))
    a[np.array([0, 2])], b[tn.array([0, 2])] = a[np.array([1, 1])], b[tn.array([1, 1])]
    a[1], b[1] = np.datetime64("1999-12-31"), np.datetime64("1999-12-31")
    assert b[tn.array([-1])].dtype == a.dtype
    np.testing.assert_array_equal(tn.asnumpy(b), a)
    with pytest.raises(ValueError, match="Could not convert"):
        b[0] = 1.5


@pytest.mark.parametrize("dtype", ["f4", "i8", "c16", "?"])
def test_values_for_a_mask_are_numpys(dtype):
    rng = np.random.default_rng(4)
    for n in (1, 7, 3000):
        x, mask = rng.integers(0, 9, (n, 3)).astype(dtype), rng.random((n, 3)) < 0.4
        a, b = x.copy(), tn.array(x)
        twice = b + b
        values = rng.integers(0, 9, mask.sum()).astype(dtype)
        a[mask], b[tn.array(mask)] = values, tn.array(values)
        np.testing.assert_array_equal(np.asarray(b), a)
        np.testing.assert_array_equal(np.asarray(twice), x + x)
        for wrong in (values[:0].repeat(2), np.append(values, values[:1]), np.append(values, values)):
            if wrong.size not in (1, values.size):
                with pytest.raises(ValueError, match="mask is true"):
                    b[tn.array(mask)] = tn.array(wrong)
        b[tn.array(mask)] = b[tn.array(mask)]
        np.testing.assert_array_equal(np.asarray(b), a)


def test_stacks_of_matrices_by_one_matrix():
    rng = np.random.default_rng(6)
    for shape in ((2, 3, 4), (3, 20, 1, 40), (0, 3, 4), (2, 0, 4)):
        a, b = rng.random(shape), rng.random((shape[-1], 30))
        np.testing.assert_allclose(tn.asnumpy(tn.array(a) @ tn.array(b)), a @ b, rtol=1e-13)


def test_scalars_of_numpy_before_arrays():
    a = np.arange(5.0)
    for scalar in (np.float64(2.5), np.float32(0.5), np.int8(3)):
        for _ in range(2):  # the second call is known
            found = [scalar * tn.array(a), scalar - tn.array(a), scalar < tn.array(a), np.add(scalar, tn.array(a))]
            for x, y in zip(found, [scalar * a, scalar - a, scalar < a, np.add(scalar, a)], strict=True):
                assert type(x) is tn.ndarray and x.dtype == y.dtype
                np.testing.assert_array_equal(tn.asnumpy(x), y)


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("bins", [1, 7, 256])
@pytest.mark.parametrize("width", [0.0, 5.3])
def test_what_counts_on_other_devices_finds_the_same_bins(dtype, bins, width):
    from tessera.numeric import _sort

    rng = np.random.default_rng(bins)
    x = rng.standard_normal(3000).astype(dtype)
    edges = np.histogram_bin_edges(x, bins).astype(dtype)
    odd = [edges, np.nextafter(edges, np.array(9, dtype)), np.array([np.nan, np.inf, -np.inf], dtype)]
    numbers = tn.array(np.concatenate([x, *odd]))
    places = _sort._bins_of(numbers, tn.array(edges), width)
    assert (np.asarray(places) == np.asarray(_core.numeric_bins(numbers, tn.array(edges), width))).all()
    weights = rng.integers(0, 9, places.size).astype("f8")
    found = np.asarray(places)
    assert (np.asarray(_sort._counted(places, bins + 1)) == np.bincount(found, None, bins + 1)).all()
    summed = _sort._summed(places, tn.array(weights), bins + 1)
    assert (np.asarray(summed) == np.bincount(found, weights, bins + 1)).all()


def test_copies_along_other_axes_are_numpys():
    rng = np.random.default_rng(17)
    for _ in range(300):
        shape = tuple(int(n) for n in rng.choice([1, 2, 3, 4, 5, 7, 8, 9, 31, 33, 40], rng.integers(2, 5)))
        if np.prod(shape) > 1 << 14:
            continue
        x = rng.integers(-99, 99, shape).astype(rng.choice([*DTYPES, "c8", "c16", "f2"]))
        axes = tuple(int(d) for d in rng.permutation(len(shape)))
        key = tuple(slice(None, None, int(rng.choice([1, 1, 1, 2, -1]))) for _ in shape)
        a, b = x[key].transpose(axes), tn.array(x)[key].transpose(axes)
        for call in (lambda m, y: y.copy(), lambda m, y: m.copy(y), lambda m, y: m.ascontiguousarray(y),
                     lambda m, y: y.astype("c16"), lambda m, y: y.flatten(), lambda m, y: y.copy("F")):  # fmt: skip
            wanted, made = call(np, a), call(tn, b)
            np.testing.assert_array_equal(np.asarray(made), wanted)
            assert made.strides == wanted.strides or 1 in a.shape, (shape, axes, key)
        part = tn.zeros(a.shape, a.dtype)
        part[...] = b
        np.testing.assert_array_equal(np.asarray(part), a)


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("bounds", [(-1.3, 2.1), (0.1, 0.9), (-4, 4), (1, 1), (0, 0.25)])
def test_histograms_of_a_range_are_numpys(dtype, bounds):
    rng = random_numbers()
    for bins in (1, 10, 97):
        edges = np.histogram_bin_edges(np.zeros(1, dtype), bins, bounds).astype(dtype)
        x = np.concatenate([rng.standard_normal(5000).astype(dtype), edges, [np.nan, np.inf]]).astype(dtype)
        for density in (False, True):
            found = tn.histogram(tn.array(x), bins, bounds, density)
            for one, other in zip(found, np.histogram(x, bins, bounds, density), strict=True):
                assert one.dtype == other.dtype
                np.testing.assert_array_equal(tn.asnumpy(one), other)


def test_numbers_of_kernels_are_those_of_arange():
    from tessera.numeric import _functions

    rng = random_numbers()
    for _ in range(60):
        start, stop = sorted(int(x) for x in rng.integers(-(10**6), 10**6, 2))
        step = int(rng.integers(1, 9)) * (1 if rng.random() < 0.5 else -1)
        given = [start, stop, step] if step > 0 else [stop, start, step]
        if rng.random() < 0.5:
            given = [x / 3 if rng.random() < 0.7 else x for x in given]
        dtype = rng.choice([None, "f4", "f8", "i8", "i4"])
        dtype = None if dtype is None else np.dtype(dtype)
        made = _functions._arange_there(*given, dtype)
        if made is not None:
            wanted = np.arange(*given, dtype=dtype)
            assert made.dtype.char == wanted.dtype.char
            assert tn.asnumpy(made).tobytes() == wanted.tobytes()
    for given in [(-3.7, 25436.3, 3, np.dtype("f4")), (-0.0, 8405.0, 1, None), (1e-3, 9000, 1, None)]:
        made = tn.asnumpy(_functions._arange_there(*given))
        assert made.tobytes() == np.arange(*given[:3], dtype=given[3]).tobytes()
    assert _functions._arange_there(0, 1, 1e-320, None) is None  # as many as NumPy refuses
    assert _functions._arange_there(0, 5000, 1, None).sum() == 4999 * 2500
    assert _functions._arange_there(5000, None, 1, np.dtype("u1")) is None  # numbers that wrap


@pytest.mark.parametrize("n", [500, 20_000])
def test_values_are_read_before_what_they_share_is_written(n):
    rng = np.random.default_rng(n)
    expected = rng.permutation(n)
    places = rng.permutation(n)
    statements = ["a[i] = a[::-1]", "a[i[:n // 4]] = a[:n // 4]", "a[i] = a", "a[i % 7] = a"]
    statements += ["a.reshape(-1, 100)[i % (n // 100), i % 100] = a", "put(a, i, a[::-1])", "a[a % n] = a"]
    for statement in statements:
        ours, theirs = tn.array(expected), expected.copy()
        exec(statement, {"a": ours, "i": tn.array(places), "n": n, "put": tn.put})
        exec(statement, {"a": theirs, "i": places, "n": n, "put": np.put})
        assert (tn.asnumpy(ours) == theirs).all(), statement
        ours, own = tn.array(expected), tn.array(expected)
        _core.numeric_scatter(ours, ours, ours[::-1], 0)
        _core.numeric_scatter(own, tn.array(expected), tn.array(expected[::-1].copy()), 0)
        assert (tn.asnumpy(ours) == tn.asnumpy(own)).all()


@pytest.mark.parametrize("dtype", ["f4", "c16", "?", "i1", "f2", "i8"])
def test_last_values_stay_where_all_blocks_write(dtype):
    rng = random_numbers()
    for _ in range(20):
        rank = int(rng.integers(1, 4))
        shape = tuple(rng.integers(1, [5000, 70, 18][rank - 1], rank))
        expected = rng.integers(0, 100, shape).astype(dtype)
        a = tn.array(expected)
        if rank == 2 and rng.random() < 0.5:
            a, expected = a[::-1, ::2], expected[::-1, ::2]
        drawn = tuple(rng.integers(1, 60, rng.integers(1, 3)))
        keys = [rng.integers(0, n, drawn) for n in expected.shape]
        offsets = sum(key * (step // expected.itemsize) for key, step in zip(keys, expected.strides, strict=True))
        values = rng.integers(0, 100, drawn).astype(dtype)
        _core.numeric_scatter(a, tn.array(offsets), tn.array(values), 2)
        for i in np.ndindex(*drawn):
            expected[tuple(key[i] for key in keys)] = values[i]
        np.testing.assert_array_equal(tn.asnumpy(a), expected)


@pytest.mark.parametrize("mode", ["full", "same", "valid"])
def test_complex_vectors_slide_as_numpys(mode):
    rng = random_numbers()
    for n, m in ((1, 1), (7, 3), (3, 40), (600, 600)):
        x, y = (rng.normal(size=size) + 1j * rng.normal(size=size) for size in (n, m))
        for name in ("convolve", "correlate"):
            for v in (y, y.real, y.astype("c8")):
                made, wanted = getattr(tn, name)(tn.array(x), tn.array(v), mode), getattr(np, name)(x, v, mode)
                np.testing.assert_allclose(tn.asnumpy(made), wanted, rtol=1e-10, atol=1e-11)


@pytest.mark.parametrize("dtype", ["f8", "f4", "i2", "u1", "D"])
def test_many_elements_are_picked_by_rows(dtype):
    rng = np.random.default_rng(3)
    x = (rng.random((160, 170, 2)) * 99).astype(dtype)
    index = rng.integers(-160, 160, 500)
    turned = [lambda v: v, lambda v: v[::-1, ::-2], lambda v: v.transpose(2, 1, 0), lambda v: v[..., 0]]
    for view in [*turned, lambda v: v[:, 0]]:
        a, y = view(tn.array(x)), view(x)
        for axis in range(y.ndim):
            at = index % y.shape[axis] - (index < 0) * y.shape[axis]
            key = (slice(None),) * axis + (at,)
            np.testing.assert_array_equal(np.asarray(a[key]), y[key])
            np.testing.assert_array_equal(np.asarray(tn.take(a, tn.array(at), axis)), np.take(y, at, axis))
            with pytest.raises(IndexError):
                a[(slice(None),) * axis + (tn.array([*at, y.shape[axis]]),)]


def test_put_writes_what_numpy_has_before_a_place_out_of_bounds():
    for places in ([1, 5, 9, 2], [1, 2, 3, -7], [0, -6, 5, 5]):
        x = np.arange(6.0)
        a = tn.array(x)
        outcomes = []
        for module, y in ((np, x), (tn, a)):
            try:
                module.put(y, module.array(places), module.array([10.0, 20.0, 30.0, 40.0]))
                outcomes.append(None)
            except IndexError as mistake:
                outcomes.append(type(mistake))
        assert outcomes[0] == outcomes[1]
        np.testing.assert_array_equal(np.asarray(a), x)
