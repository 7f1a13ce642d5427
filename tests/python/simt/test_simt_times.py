# SPDX-License-Identifier: Apache-2.0
"""Dates and spans of time in kernels of threads against NumPy, all pairs of units."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from tessera import cuda
from tessera.cuda import types
from tessera.cuda.errors import TypingError

DATES = ["Y", "M", "W", "D", "h", "s", "ns"]
DAY = types.NPDatetime("D")
EPOCH = np.datetime64("2024-02-29")


def dates(unit: str, seed: int, n: int = 40) -> np.ndarray:
    rng = np.random.default_rng(seed)
    days = rng.integers(-40000, 40000, n).astype("M8[D]")
    found = days.astype(f"M8[{unit}]")
    found[::9] = "NaT"
    return found


def spans(unit: str, seed: int, n: int = 40) -> np.ndarray:
    found = np.random.default_rng(seed).integers(-500, 500, n).astype(f"m8[{unit}]")
    found[::7], found[3::11] = "NaT", 0
    return found


@cuda.jit
def of_dates(a, b, less, order):
    i = cuda.grid(1)
    if i < a.size:
        less[i] = a[i] - b[i]
        order[i, 0] = (a[i] < b[i]) + 2 * (a[i] <= b[i]) + 4 * (a[i] > b[i]) + 8 * (a[i] >= b[i])
        order[i, 1] = (a[i] == b[i]) + 2 * (a[i] != b[i]) + 4 * np.isnat(a[i])


@pytest.mark.parametrize(("u", "v"), itertools.product(DATES, DATES))
def test_dates(u: str, v: str) -> None:
    a, b = dates(u, 1), dates(v, 2)
    b[5:15] = a[5:15].astype(b.dtype)
    wanted, order = a - b, np.zeros((a.size, 2), "i4")
    less = np.zeros_like(wanted)
    of_dates[2, 32](a, b, less, order)
    np.testing.assert_array_equal(less, wanted)
    np.testing.assert_array_equal(order[:, 0], (a < b) + 2 * (a <= b) + 4 * (a > b) + 8 * (a >= b))
    np.testing.assert_array_equal(order[:, 1], (a == b) + 2 * (a != b) + 4 * np.isnat(a))


@cuda.jit
def moved(a, d, more, less):
    i = cuda.grid(1)
    if i < a.size:
        more[i] = d[i] + a[i]
        less[i] = a[i] - d[i]


@pytest.mark.parametrize(
    ("u", "v"), [("Y", "M"), ("M", "D"), ("D", "D"), ("D", "h"), ("ns", "W"), ("s", "m"), ("M", "s")]
)
def test_dates_move_by_spans(u: str, v: str) -> None:
    a, d = dates(u, 3), spans(v, 4)
    more = np.zeros_like(a + d)
    less = np.zeros_like(more)
    moved[2, 32](a, d, more, less)
    np.testing.assert_array_equal(more, a + d)
    np.testing.assert_array_equal(less, a - d)


@cuda.jit
def of_spans(a, b, n, x, out, ratio, whole):
    i = cuda.grid(1)
    if i < a.size:
        out[i, 0] = a[i] + b[i]
        out[i, 1] = a[i] - b[i]
        out[i, 2] = a[i] % b[i]
        out[i, 3] = a[i] * n[i]
        out[i, 4] = x[i] * a[i]
        out[i, 5] = a[i] / n[i]
        out[i, 6] = a[i] / x[i]
        out[i, 7] = a[i] // n[i]
        out[i, 8] = abs(-a[i])
        ratio[i] = a[i] / b[i]
        whole[i] = a[i] // b[i]


@pytest.mark.parametrize(("u", "v"), [("D", "D"), ("h", "D"), ("W", "s"), ("Y", "M"), ("ms", "us")])
def test_spans(u: str, v: str) -> None:
    a, b = spans(u, 5), spans(v, 6)
    n = np.array([2, -3, 0, 7] * 10)
    x = np.array([0.5, -1.5, 0.0, np.inf, np.nan] * 8)
    out, ratio, whole = np.zeros((40, 9), (a + b).dtype), np.zeros(40), np.zeros(40, "i8")
    of_spans[2, 32](a, b, n, x, out, ratio, whole)
    with np.errstate(all="ignore"):
        wanted = [a + b, a - b, a % b, a * n, x * a, a / n, a / x, a // n, abs(a)]
        for column, value in enumerate(wanted):
            np.testing.assert_array_equal(out[:, column], value, err_msg=str(column))
        np.testing.assert_array_equal(ratio, a / b)
        np.testing.assert_array_equal(whole, a // b)


def test_arguments_constants_shared_arrays_and_records() -> None:
    @cuda.jit
    def kernel(date, step, records, out):
        tile = cuda.shared.array(32, DAY)
        i = cuda.threadIdx.x
        tile[i] = date + step * i
        cuda.syncthreads()
        records[i].when = tile[31 - i]
        out[i] = records[i].when - EPOCH

    records, out = np.zeros(32, [("x", "i4"), ("when", "M8[s]")]), np.zeros(32, "m8[s]")
    start, step = np.datetime64("2020-01-01"), np.timedelta64(3, "D")
    kernel[1, 32](start, step, records, out)
    when = (start + step * np.arange(32))[::-1]
    np.testing.assert_array_equal(records["when"], when)
    np.testing.assert_array_equal(out, when - EPOCH)


def test_guvectorize() -> None:
    date, span = (types.NPDatetime("D"), types.NPTimedelta("D"))

    @cuda.guvectorize([(date, date, span[:])], "(),()->()")
    def between(a, b, out):
        out[0] = b - a

    a, b = dates("D", 7), dates("D", 8)
    np.testing.assert_array_equal(between(a, b), b - a)


def adds(a, out):
    out[0] = a[0] + a[1]


def stores_coarser(a, out):
    out[0] = a[0]


def multiplies(a, out):
    out[0] = a[0] * 2


@pytest.mark.parametrize(
    ("kernel", "dtype", "text"),
    [(adds, "M8[D]", "cannot add"), (multiplies, "M8[D]", "cannot multiply"), (stores_coarser, "i8", "number"),
     (stores_coarser, "m8[h]", "stored")],
)  # fmt: skip
def test_mistakes_are_named(kernel: object, dtype: str, text: str) -> None:
    with pytest.raises(TypingError, match=text):
        cuda.jit(kernel)[1, 1](np.zeros(2, "M8[s]" if dtype == "m8[h]" else "M8[D]"), np.zeros(2, dtype))


def test_steps_of_several_units_are_refused() -> None:
    with pytest.raises(TypeError, match=r"not datetime64\[2D\]"):
        cuda.jit(multiplies)[1, 1](np.zeros(2, "M8[2D]"), np.zeros(2, "M8[2D]"))


def test_it_becomes_ptx() -> None:
    fine = types.NPDatetime("s")[:]
    args = (types.NPDatetime("D")[:], types.NPTimedelta("s")[:], fine, fine)
    text, _ = cuda.compile_ptx(moved.py_func, args, cc=(9, 0))
    assert ".entry" in text


@cuda.jit
def in_other_units(a, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = a[i] + a[i]


def test_arrays_of_a_device_keep_their_units() -> None:
    a, out = np.arange(5).astype("m8[s]"), cuda.to_device(np.zeros(5, "m8[ms]"))
    in_other_units[1, 32](cuda.to_device(a), out)
    assert np.array_equal(out.copy_to_host(), (a + a).astype("m8[ms]"))
