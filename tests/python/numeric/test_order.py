# SPDX-License-Identifier: Apache-2.0
"""Numbers of host memory in order, without a kernel: against NumPy, and against what many numbers become."""

import numpy as np
import pytest

import tessera.numeric as tn
from tessera import _core

DTYPES = ["?", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f2", "f4", "f8"]


def _numbers(rng, shape, dtype):
    x = rng.integers(-9 if dtype[0] in "if" else 0, 9, shape).astype(dtype)
    if dtype[0] == "f":
        odd = np.array([0.0, -0.0, np.nan, -np.nan, np.inf, -np.inf, 1e-8, np.finfo(dtype).max], dtype)
        x = np.where(rng.random(shape) < 0.4, rng.choice(odd, shape), x)
    elif dtype[0] in "iu":
        ends = np.array([np.iinfo(dtype).min, np.iinfo(dtype).max], dtype)
        x = np.where(rng.random(shape) < 0.2, rng.choice(ends, shape), x)
    return x


@pytest.mark.parametrize("dtype", DTYPES)
def test_rows_in_order_are_numpys(dtype):
    rng = np.random.default_rng(5)
    for n in (1, 2, 11, 12, 13, 25, 100, 1024, 1025):
        x = _numbers(rng, n, dtype)
        for order in (x, np.repeat(x[::-1], 2)[::2]) if n < 1025 or dtype == "i8" else ():
            a = tn.asarray(order)
            np.testing.assert_array_equal(tn.sort(a), np.sort(order))
            np.testing.assert_array_equal(tn.argsort(a), np.argsort(order, kind="stable"))
            np.testing.assert_array_equal(tn.unique(a), np.unique(order))
            places = tn.argsort(a, descending=True)
            np.testing.assert_array_equal(np.sort(order)[::-1], order[np.asarray(places)])
    for _ in range(30):
        x = _numbers(rng, tuple(rng.integers(1, 6, rng.integers(1, 4))), dtype)
        a, axis = tn.array(x.T).T if rng.integers(2) else tn.array(x), int(rng.integers(-x.ndim, x.ndim))
        np.testing.assert_array_equal(tn.sort(a, axis), np.sort(x, axis))
        np.testing.assert_array_equal(tn.argsort(a, axis=axis), np.argsort(x, axis=axis, kind="stable"))
        b = tn.array(x)
        b.sort(axis)
        np.testing.assert_array_equal(b, np.sort(x, axis))


def _kinds(rng, shape, dtype):
    """Numbers that lead to each way through digits: apart by few bits, by many, by their last ones alone; alike."""
    near = rng.integers(-2, 3, shape) * (rng.random(shape) < 0.01)
    for x in (rng.standard_normal(shape) * 100, rng.integers(0, 3, shape), rng.integers(-(2**62), 2**62, shape),
              rng.integers(0, 40, shape) + near * 2**61, rng.random(shape) + near * 1e30, np.sort(rng.random(shape))):  # fmt: skip
        if dtype[0] == "f":
            x = np.where(rng.random(shape) < 0.01, rng.choice([0.0, -0.0, np.nan, -np.nan, np.inf], shape), x)
        yield (x > 0) if dtype == "?" else x.astype(dtype) if dtype[0] == "f" else x.astype("i8").astype(dtype)


@pytest.mark.parametrize("dtype", DTYPES)
def test_long_rows_in_order_are_numpys(dtype):
    rng = np.random.default_rng(7)
    for shape, axis in (((2, 2000), -1), ((49,), 0), ((300, 3), 0), ((20000,), 0)):
        with np.errstate(all="ignore"):
            for x in _kinds(rng, shape, dtype):
                a, places = tn.array(x), np.argsort(x, axis, kind="stable")
                np.testing.assert_array_equal(tn.argsort(a, axis), places)
                assert np.asarray(tn.sort(a, axis)).tobytes() == np.take_along_axis(x, places, axis).tobytes()
                down = np.asarray(tn.argsort(a, axis, descending=True))  # equal ones in their order
                np.testing.assert_array_equal(down, np.flip(x.shape[axis] - 1 - np.argsort(
                    np.flip(x, axis), axis, kind="stable"), axis))  # fmt: skip


def _sorted(x, axis, descending):
    """Sorted with equal ones in their order, and where they come from."""
    places = np.argsort(x, axis, kind="stable")
    if descending:
        places = np.flip(x.shape[axis] - 1 - np.argsort(np.flip(x, axis), axis, kind="stable"), axis)
    return np.take_along_axis(x, places, axis), places


@pytest.mark.parametrize("dtype", DTYPES)
def test_rows_side_by_side_are_sorted_as_one_by_one(dtype):
    """Blocks of rows: whole and not, turned and not, of rows that vectors hold and longer ones, along each axis."""
    rng = np.random.default_rng(9)
    for shape in ((37, 7), (5, 33), (16, 100), (4, 129), (3, 17, 9), (2, 3, 40, 5), (1030, 21), (9, 1025), (70, 3),
                  (6, 1, 50)):  # fmt: skip
        x = _numbers(rng, shape, dtype) if rng.integers(2) else next(_kinds(rng, shape, dtype))
        given = tn.array(x)
        for a, b in ((x, given), (x.T, given.T), (x[::-1, ..., ::2], given[::-1, ..., ::2])):
            axis, descending = int(rng.integers(a.ndim)), bool(rng.integers(2))
            values, places = _sorted(a, axis, descending)
            np.testing.assert_array_equal(tn.argsort(b, axis, descending=descending), places)
            assert np.asarray(tn.sort(b, axis, descending=descending)).tobytes() == values.tobytes()
            rows, found = _core.numeric_order(b, True, descending)
            values, places = _sorted(a, -1, descending)
            np.testing.assert_array_equal(found, places)
            assert np.asarray(rows).tobytes() == values.tobytes()


@pytest.mark.parametrize("dtype", ["i1", "u2", "f2", "f4"])
def test_many_narrow_numbers_are_counted(dtype):
    x = np.random.default_rng(3).integers(-500, 500, 70000).astype(dtype)
    for descending in (False, True):
        made, wanted = tn.sort(tn.array(x), descending=descending), _sorted(x, 0, descending)[0]
        assert np.asarray(made).tobytes() == wanted.tobytes()


@pytest.mark.parametrize("dtype", ["f4", "i8"])
def test_many_rows_are_sorted_a_part_at_a_time(dtype, monkeypatch):
    from tessera.numeric import _sort

    rng, direct = np.random.default_rng(7), _core.numeric_order
    monkeypatch.setattr(_sort, "_TOGETHER", 10)
    monkeypatch.setattr(_core, "numeric_order", lambda a, *more: direct(a, *more) if a.size < 11 else None)
    x = _numbers(rng, (3, 2, 4), dtype)
    np.testing.assert_array_equal(tn.argsort(tn.array(x), kind="stable"), np.argsort(x, kind="stable"))
    np.testing.assert_array_equal(tn.sort(tn.array(x), kind="stable"), np.sort(x, kind="stable"))
    x = _numbers(rng, (2, 12), dtype)
    np.testing.assert_array_equal(tn.sort(tn.array(x), 1, "stable"), np.sort(x, 1, kind="stable"))


@pytest.mark.parametrize("dtype", DTYPES)
def test_places_in_what_is_sorted_are_numpys(dtype):
    rng = np.random.default_rng(6)
    for n, m in ((1, 1), (5, 40), (40, 5), (3000, 20)):
        x, keys = np.sort(_numbers(rng, n, dtype)), _numbers(rng, m, dtype)
        for side in ("left", "right"):
            found = tn.searchsorted(tn.array(x), tn.array(keys), side)
            np.testing.assert_array_equal(found, np.searchsorted(x, keys, side))
            assert tn.searchsorted(tn.array(x), keys[0], side) == np.searchsorted(x, keys[0], side)


def test_few_numbers_in_order_launch_nothing():
    a, waits = tn.arange(50.0)[::-1], tn.arange(5000.0) * 2
    calls = (tn.sort, tn.argsort, tn.unique, lambda x: tn.searchsorted(x, x), lambda x: tn.take(x, places),
             lambda x: tn.partition(x, 3), lambda x: tn.argpartition(x, 3))  # fmt: skip
    places = tn.array([3, -1])
    for call in calls:
        call(a)
    before = _core.numeric_stats()["launched"]
    for call in calls:
        call(a)
    assert _core.numeric_stats()["launched"] == before
    np.testing.assert_array_equal(tn.sort((waits + 1)[:10]), np.arange(10) * 2 + 1)


def test_functions_at_few_places_are_numpys():
    rng = np.random.default_rng(8)
    for dtype in ("f4", "f8", "i4", "u1", "c16"):
        x = rng.integers(1, 9, (5, 4)).astype(dtype)
        for key in (2, (3, -1), (0, 0), np.array([0, -2, 3]), np.array([1, 1, -4]), np.array([], int), -5):
            for name, *given in (("add", 3), ("multiply", 1.5), ("subtract", np.arange(4)), ("negative",)):
                found = []
                for m in (np, tn):
                    a = m.array(x)
                    places = m.array(key) if isinstance(key, np.ndarray) else key
                    try:
                        getattr(m, name).at(a, places, *(m.array(v) if np.ndim(v) else v for v in given))
                    except (TypeError, ValueError) as error:
                        a = TypeError if isinstance(error, TypeError) else ValueError
                    found.append(np.asarray(a).tolist() if not isinstance(a, type) else a)
                assert found[0] == found[1], (dtype, key, name)
    with pytest.raises(IndexError):
        tn.add.at(tn.ones(3), tn.array([3]), 1)


def test_mistakes_of_order_are_numpys():
    a = tn.arange(6).reshape(2, 3)
    for call in (lambda m, x: m.sort(x, 2), lambda m, x: m.argsort(x, -3), lambda m, x: m.partition(x, 3),
                 lambda m, x: m.argpartition(x, -4), lambda m, x: m.sort(x[0, 0]),
                 lambda m, x: m.take(x[0], m.array([3])), lambda m, x: m.searchsorted(x[0], x[1], "middle"),
                 lambda m, x: m.searchsorted(x, x[0])):  # fmt: skip
        found = []
        for module, x in ((np, np.asarray(a)), (tn, a)):
            with pytest.raises((ValueError, IndexError)) as error:
                call(module, x)
            found.append(type(error.value))
        assert found[0] is found[1]


def test_bools_are_equal_whatever_byte_is_true():
    for m in (np, tn):
        truths = m.array([0, 2, 255, 1, 0], "u1").view("?")
        assert m.unique(truths).tolist() == [False, True]
        assert m.sort(truths).tolist() == [False, False, True, True, True]


def test_bools_are_no_places_to_partition_at():
    for m in (np, tn):
        for name in ("partition", "argpartition"):
            for kth in (True, [False, True]):
                with pytest.raises(ValueError, match="Booleans unacceptable"):
                    getattr(m, name)(m.arange(5), kth)


def test_long_sorts_let_other_threads_run():
    import sys
    import threading

    x = tn.array(np.random.default_rng(0).random(1 << 20))
    places, edges = tn.array(np.arange(1 << 20) % 99), tn.array(np.linspace(0, 1, 999))
    interval, began, ran = sys.getswitchinterval(), threading.Event(), []
    calls = [lambda: tn.sort(x), lambda: tn.argsort(x), lambda: tn.searchsorted(edges, x), lambda: tn.bincount(places)]
    sys.setswitchinterval(1000)  # a thread runs where another one drops the interpreter's lock, and not else
    try:
        for call in calls:
            for _ in range(20):  # a machine may start no thread meanwhile
                began.clear()
                ran.clear()
                thread = threading.Thread(target=lambda: (began.wait(), ran.append(1)))
                thread.start()
                began.set()
                call()
                ended = [*ran]
                thread.join()
                if ended:
                    break
            assert ended
    finally:
        sys.setswitchinterval(interval)


def test_threads_that_sort_and_compute_give_what_one_gives():
    import threading

    x = tn.array(np.random.default_rng(1).random(1 << 16))
    wanted, found = float(np.sort(np.asarray(x))[7]), []

    def work():
        for _ in range(8):
            y = tn.sort(x + 0.0)
            found.append(float(y[7]) + float(tn.sum(tn.zeros(9))))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [wanted] * 32


@pytest.mark.parametrize("dtype", ["f8", "f4", "i8", "u8", "i2", "?"])
@pytest.mark.parametrize("values", [3, 10**9])
def test_places_of_one_element_in_order_divide_the_others(dtype, values):
    rng = np.random.default_rng(values)
    for n in (1, 2, 511, 512, 513, 3000):
        x = rng.integers(0, values, n).astype(dtype)
        if dtype[0] == "f":
            odd = rng.choice([1, -1, np.nan, 0], n, p=[0.5, 0.4, 0.05, 0.05])
            x = ((x + rng.integers(0, 2, n) * 1e-7) * odd).astype(dtype)
        for y in (x, x[::-2]):
            for k in {0, y.size // 2, y.size - 1}:
                found = np.asarray(tn.argpartition(tn.array(y), k))
                assert sorted(found) == [*range(y.size)]
                ordered = np.sort(y)
                np.testing.assert_array_equal(y[found[k]], ordered[k])
                np.testing.assert_array_equal(np.sort(y[found[:k]]), ordered[:k])
