# SPDX-License-Identifier: Apache-2.0
"""Indexing by arrays against NumPy: reading, writing, wrong keys."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import tessera.numeric as tn
from tessera import _core
from tessera.numeric import _index

X = np.random.default_rng(1).integers(0, 100, (6, 7, 8))
KEYS = [
    np.array([0, 2, -1]),
    (np.array([1, 2]), np.array([3, 4])),
    (slice(1, 3), np.array([0, -1])),
    (np.array([0, 1]), slice(None), np.array([2, 3])),
    (0, np.array([1, 2])),
    (np.array([0, 1]), 0, slice(None), None),
    (..., np.array([[1, 2], [3, 4]])),
    [1, 2, 3],
    (None, np.array([1])),
    (np.array([[1], [2]]), np.array([3, 4, 5])),
    X > 50,
    X[:, :, 0] > 50,
    (slice(None), X[0] > 50),
    (0, X[0] > 30),
    ([0, 1], [1, 2], [2, 3]),
    [],
    (np.array([], int), 0),
    (slice(None, None, -2), np.array([3, 3])),
    True,
    False,
    (np.array([True] * 6), np.array([1] * 6)),
    (slice(None), [0, 1], ..., [0, 1]),
    ([0, 1], ..., [0, 1], [1, 1]),
    (..., [0, 1], slice(None), [0, 1]),
]


def ours(key):
    if isinstance(key, tuple):
        return tuple(map(ours, key))
    return tn.array(key) if isinstance(key, np.ndarray) else key


@pytest.mark.parametrize("number", range(len(KEYS)))
def test_reading_and_writing_is_numpys(number):
    key = KEYS[number]
    x, a = X.copy(), tn.array(X)
    wanted, got = x[key], a[ours(key)]
    np.testing.assert_array_equal(np.asarray(got), wanted)
    assert np.asarray(got).shape == wanted.shape
    x[key], a[ours(key)] = 7, 7
    np.testing.assert_array_equal(np.asarray(a), x)
    values = np.arange(wanted.size).reshape(wanted.shape)
    x[key], a[ours(key)] = values, values  # of duplicate places the last value stays
    np.testing.assert_array_equal(np.asarray(a), x)


@pytest.mark.parametrize(
    "key",
    [np.array([6]), np.array([-7]), np.array([1.5]), (np.array([0]),) * 4, np.zeros(5, bool),
     (np.array([1, 2]), np.array([1, 2, 3]))],
    ids=str,
)  # fmt: skip
def test_wrong_keys_are_index_errors(key):
    with pytest.raises(IndexError):
        tn.array(X)[ours(key)]
    with pytest.raises(IndexError):
        tn.array(X)[ours(key)] = 1


@pytest.mark.parametrize("key", [[[1, 2], [3]], [[1], 2], [[1], slice(1, 2)], (1, [1, [1]])], ids=str)
def test_lists_of_lists_and_others_are_value_errors(key):
    for x in (X, tn.array(X)):
        with pytest.raises(ValueError, match="inhomogeneous"):
            x[key]


def test_out_of_take_has_the_shape_and_a_dtype_of_the_array():
    for m in (np, tn):
        a = m.arange(3, dtype="i4")
        assert m.take(a, [2], out=m.zeros(1, "i2")).tolist() == [2]
        with pytest.raises(TypeError, match="according to the rule 'safe'"):
            m.take(a, [2], out=m.zeros(1, "f8"))
        with pytest.raises(ValueError, match="does not match"):
            m.take(a, [7], out=m.zeros(2, "i4"))


def _points(rng, shape):
    """A key of arrays of one shape, one for each axis: few places and many, counted from both ends, some equal."""
    places = tuple(int(n) for n in rng.choice([1, 2, 7, 40, 300], rng.integers(1, 3)))
    return tuple(rng.integers(-extent, extent, places) for extent in shape)


@pytest.mark.parametrize("dtype", ["?", "i2", "f4", "f8", "c16"])
def test_points_that_an_array_for_each_axis_names_are_numpys(dtype):
    rng = np.random.default_rng(11)
    for _ in range(60):
        shape = tuple(int(n) for n in rng.integers(1, 9, rng.integers(1, 6)))
        x = (rng.normal(size=shape) * 9).astype(dtype)
        a, cut = tn.array(x), tuple(slice(None, None, -1) for _ in shape)
        x, a = (x[cut], a[cut]) if rng.random() < 0.3 else (x, a)
        key = _points(rng, shape)
        wanted, made = x[key], a[ours(key)]
        assert made.dtype == wanted.dtype
        np.testing.assert_array_equal(np.asarray(made), wanted)
        values = (rng.normal(size=wanted.shape if rng.random() < 0.6 else wanted.shape[-1:]) * 9).astype(dtype)
        values = values[..., ::-1] if rng.random() < 0.3 else values
        x[key], a[ours(key)] = values, tn.array(values)  # of places that are equal the last value stays
        np.testing.assert_array_equal(np.asarray(a), x)
        x[key], a[ours(key)] = x.dtype.type(1), 1
        np.testing.assert_array_equal(np.asarray(a), x)
        key[-1].flat[-1] = shape[-1]
        for write in (False, True):
            with pytest.raises(IndexError, match="out of bounds"):
                a.__setitem__(ours(key), 1) if write else a[ours(key)]
        np.testing.assert_array_equal(np.asarray(a), x)


def test_values_that_do_not_fit_are_refused():
    a = tn.zeros((3, 4))
    with pytest.raises(ValueError, match="could not be broadcast"):
        a[tn.array([0, 1])] = tn.ones(3)
    with pytest.raises(ValueError, match="cannot assign 3 input values to the 12"):
        a[a == 0] = tn.ones(3)


def test_many_places_and_their_order():
    x = np.random.default_rng(2).integers(0, 1000, 50000)
    a, b = np.zeros(1000, int), tn.zeros(1000, int)
    a[x] = np.arange(50000)
    b[x] = np.arange(50000)
    np.testing.assert_array_equal(np.asarray(b), a)
    np.testing.assert_array_equal(np.asarray(tn.take(b, x + 0)), a[x])
    np.testing.assert_array_equal(np.asarray(tn.flatnonzero(b % 3)), np.flatnonzero(a % 3))


NAMES = [
    "take",
    "compress",
    "extract",
    "nonzero",
    "argwhere",
    "where",
    "repeat",
    "take_along_axis",
    "unravel_index",
    "put",
    "place",
    "putmask",
    "put_along_axis",
]


@pytest.mark.parametrize("name", NAMES)
def test_functions_are_numpys(name):
    x = X[0].copy()
    order = np.argsort(x, axis=1)
    calls = {
        "take": [
            (x, [0, -1]),
            (x, [[1, 2]], 1),
            (x, 70, None, None, "wrap"),
            (x, [99], 0, None, "clip"),
        ],
        "compress": [([0, 1, 1], x, 0), ([1, 0], x)],
        "extract": [(x > 50, x)],
        "nonzero": [(x > 50,)],
        "argwhere": [(x > 50,)],
        "where": [(x > 50, x, -1), (x > 50, 1.5, x[0])],
        "repeat": [(x, 2), (x, 3, 1), (x, np.arange(7), 0)],
        "take_along_axis": [(x, order, 1)],
        "unravel_index": [(np.array([3, 50]), (7, 8)), (5, (2, 3))],
        "put": [([0, -1, 3], [7, 8])],
        "place": [(x > 50, [1, 2])],
        "putmask": [(x > 50, [1, 2, 3])],
        "put_along_axis": [(order[:, :1], 99, 1)],
    }
    for args in calls[name]:
        if name in ("put", "place", "putmask", "put_along_axis"):
            wanted, got = x.copy(), tn.array(x)
            getattr(np, name)(wanted, *args)
            getattr(tn, name)(got, *args)
        else:
            wanted, got = getattr(np, name)(*args), getattr(tn, name)(*args)
        for one, other in zip(
            *((each,) if not isinstance(each, tuple) else each for each in (got, wanted)),
            strict=True,
        ):
            np.testing.assert_array_equal(np.asarray(one), other)
            assert np.asarray(one).dtype == np.asarray(other).dtype


@pytest.mark.parametrize("n", [0, 1, 1000, 1024, 40000])
@pytest.mark.parametrize("dtype", ["?", "i2", "f4", "f8", "c16"])
def test_masks_choose_elements_however_they_lie(n, dtype):
    rng = np.random.default_rng(n)
    x, mask = rng.integers(0, 5, (n, 3)).astype(dtype), rng.random((n, 3)) > 0.5
    for y, m in ((x, mask), (x.T, mask.T), (x[::-1], mask), (x[:, 1], mask[:, 2])):
        made = tn.asarray(y)[tn.asarray(m)]
        assert made.dtype == y.dtype and (np.asarray(made) == y[m]).all()
        for found, wanted in zip(tn.nonzero(tn.asarray(m)), np.nonzero(m), strict=True):
            assert found.dtype == wanted.dtype and (np.asarray(found) == wanted).all()


@pytest.mark.parametrize("mode", ["raise", "wrap", "clip"])
def test_choose(mode):
    places = np.array([[0, 2, 1], [1, 2, 0]]) + (0 if mode == "raise" else np.array([[5], [-4]]))
    choices = [np.arange(3), np.float32([[4], [5]]), 9]
    wanted = np.choose(places, [np.asarray(c) for c in choices], mode=mode)
    made = tn.choose(tn.array(places), choices, mode=mode)
    assert (np.asarray(made) == wanted).all()
    assert tn.array([0, 1]).choose([np.float32(1), 2.0]).dtype == np.float32
    with pytest.raises(ValueError, match="invalid entry"):
        tn.choose([0, 3], [1, 2])
    with pytest.raises(TypeError, match="integers are wanted"):
        tn.choose([0.5], [1, 2])


OVERLAPS = {
    "places": lambda m, a: (a, [-2, -2, -1], a[::-1].ravel()[::-1][::-1]), "turned": lambda m, a: (a, slice(None), a.T),
    "mask": lambda m, a: (a, m.arange(12) % 3 > 0, a), "reversed": lambda m, a: (a, slice(None, None, -1), a[:, ::-1]),
    "some": lambda m, a: (a, slice(3, None, 2), a[1]), "of a view": lambda m, a: (a[::-1, 1:], slice(1, 7), a[::2]),
    "again": lambda m, a: (a, slice(None), a[0, 1:3]), "array": lambda m, a: (a.T, m.array([3, -1, 0, 3]), a[:, 2]),
    "one": lambda m, a: (a, 3, a[1, 1:2]), "other dtype": lambda m, a: (a, slice(1, None), a.real.astype("i2")),
}  # fmt: skip


@pytest.mark.parametrize("name", OVERLAPS)
@pytest.mark.parametrize("dtype", ["f8", "i4", "f2", "c8"])
def test_values_in_the_same_memory_are_read_in_turn(name, dtype):
    """NumPy reads each value after those before it are written."""
    x = np.arange(12).reshape(3, 4).astype(dtype)
    outcomes = []
    for m in (np, tn):
        a = m.array(x)
        target, key, values = OVERLAPS[name](m, a)
        try:
            target.flat[key] = values
        except ValueError as error:
            outcomes.append(str(type(error)))
        outcomes.append(np.asarray(a).tolist())
    assert outcomes[: len(outcomes) // 2] == outcomes[len(outcomes) // 2 :]


def test_flat_keys():
    a = tn.arange(9).reshape(3, 3)
    with pytest.warns(DeprecationWarning, match="0-dimensional boolean"):
        assert a.flat[True] == 0
    with pytest.warns(DeprecationWarning, match="non-array indices"):
        a.flat[[1.0, 2.0]] = 20
    a.flat[np.array([[3, 4], [5, 6]])] = [[7, 8], [9, 10]]
    assert a.tolist() == [[0, 20, 20], [7, 8, 9], [10, 7, 8]]
    with pytest.raises(IndexError, match="boolean indices for iterators"):
        a.flat[[True, False]]
    with pytest.raises(IndexError, match="boolean index did not match"):
        a.flat[np.zeros(8, bool)]
    with pytest.raises(IndexError, match="1-dimensional, but 2"):
        a.flat[1, 2]
    assert [place for place, _ in tn.ndenumerate(a)] == [*np.ndindex(3, 3)]


@pytest.mark.parametrize("key", [slice(2, 6), slice(2, 2), [0, 1], ..., [], np.arange(8) < 3, 0, (-1,)], ids=str)
@pytest.mark.parametrize("value", [[], [[]], np.zeros((0, 3)), [1, 2]], ids=str)
def test_no_values_leave_flat_elements_alone(key, value):
    made = []
    for a in (np.arange(8.0).reshape(4, 2).T, tn.arange(8.0).reshape(4, 2).T):
        try:
            a.flat[key] = value
            made.append(np.asarray(a).tolist())
        except ValueError as error:
            made.append(str(error))
    assert made[0] == made[1]


EMPTY_KEYS = [
    ("vector", (3,), []), ("dots", (3,), ([], ...)), ("rows", (3, 4), []), ("pairs", (3, 4), ([], [])),
    ("row", (3, 4), (0, [])), ("two axes", (3, 4), [[]]), ("new axis", (2, 2), (None, [], [])),
    ("slice", (3, 4), (slice(0, 0), [])), ("mask of rows", (2, 2), [False, False]),
    ("mask", (3, 4), np.zeros((3, 4), bool)), ("cube", (2, 3, 4), []),
]  # fmt: skip


@pytest.mark.parametrize("name, shape, key", EMPTY_KEYS, ids=[each[0] for each in EMPTY_KEYS])
def test_no_values_to_no_places_are_of_numpys_shapes(name, shape, key):
    key = np.zeros((1, 0), int) if name == "two axes" else key
    extents = [(), (0,), (1,), (2,), *itertools.product((0, 1, 2, 4, 5), repeat=2)]
    extents += [(2, 3, 0), (2, 0, 4), (5, 0, 3, 4), (2, 0, 1), (0, 5, 0), (0, 1, 1), (5, 0, 2)]
    for extent in extents:
        made = []
        for m in (np, tn):
            a = m.ones(shape)
            try:
                a[key] = m.zeros(extent)
                made.append(bool((a == 1).all()))
            except (ValueError, TypeError) as error:
                made.append(type(error))
        assert made[0] == made[1], extent


def test_places_are_checked():
    for wrong in ((0.5, 1.0), ([], [])):
        with pytest.raises(TypeError):
            tn.ravel_multi_index(wrong, (2, 2))
    with pytest.raises(ValueError, match="array size"):
        tn.ravel_multi_index(([0], [0]), (2**62, 2))
    with pytest.raises(ValueError, match="no elements"):
        tn.ravel_multi_index(np.zeros((2, 1), int), (2, 0), mode="clip")
    with pytest.raises(ValueError, match="0d array"):
        tn.unravel_index([0], ())


def test_bounds_and_places_of_all_kinds_are_numpys():
    class Place:
        def __init__(self, at):
            self.at = at

        def __index__(self):
            return self.at

    rng = np.random.default_rng(11)
    x = np.arange(35).reshape(5, 7)
    a = tn.array(x)
    for _ in range(400):
        def number():
            at = int(rng.integers(-9, 9))
            return [at, at, np.int64(at), np.int32(at), Place(at), 10**30 * at, None][rng.integers(7)]

        def part():
            step = [None, None, 1, 2, -1, -3, np.int64(2), 10**30][rng.integers(8)]
            return slice(number(), number(), step)

        key = [part(), (part(), part()), (number(), part()), (part(), number()), (number(), number()), number()]
        key = key[rng.integers(6)]
        outcomes = []
        for m in (x, a):
            try:
                found = m[key]
                outcomes.append((np.asarray(found).tolist(), found.shape, type(found) is type(x[0, 0])))
            except (IndexError, OverflowError) as mistake:
                outcomes.append(type(mistake))
        assert outcomes[0] == outcomes[1], key


def test_choices_one_by_one():
    for m in (np, tn):
        a = m.array([0, 2, 1])
        assert a.choose(5, 6, 7).tolist() == a.choose([5, 6, 7]).tolist() == [5, 7, 6]
        assert a.choose(5, 6, mode="clip").tolist() == [5, 6, 6]


@pytest.mark.parametrize("dtype", ["i8", "i4", "u4", "i2"])
def test_places_of_indices_tell_of_those_out_of_bounds(dtype) -> None:
    """What kernels of a GPU do with indices (`_index.Places`), by the same function in host memory."""
    rng = np.random.default_rng(ord(dtype[0]) + int(dtype[1]))
    x, n = rng.random((40, 50)), 5000
    i = rng.integers(-40 if dtype[0] == "i" else 0, 40, n).astype(dtype)
    j = rng.integers(-50, 50, n)
    of_rows, of_columns = (_index._place(tn.asarray(k), length) for k, length in zip((i, j), x.shape, strict=True))
    a = tn.asarray(x)
    np.testing.assert_array_equal(a[of_rows, of_columns], x[i, j])
    np.testing.assert_array_equal(a[:, of_columns], x[:, j])
    i[rng.integers(n)] = 40
    made = _index._place(tn.asarray(i), 40)
    before = _core.numeric_missed()
    np.testing.assert_array_equal(made, np.where(i == 40, 0, i % 40))
    assert _core.numeric_missed() == before + 1


def test_arrays_are_reversed():
    assert list(reversed(tn.arange(3))) == [2, 1, 0]
    assert [row.tolist() for row in reversed(tn.arange(4).reshape(2, 2))] == [[2, 3], [0, 1]]
    assert list(reversed(tn.ma.array([1, 2], mask=[0, 1])))[1] == 1
    for module in (np, tn):
        with pytest.raises(TypeError):
            reversed(module.array(1.0))[0]
