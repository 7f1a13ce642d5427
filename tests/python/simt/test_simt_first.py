# SPDX-License-Identifier: Apache-2.0
"""Kernels of threads, end to end: what they compute, by the reference interpreter and as PTX."""

from __future__ import annotations

import numpy as np
import pytest
import simt_run
from simt_run import cuda, message, run, value


def saxpy(a, x, y):
    i = cuda.grid(1)
    if i < x.size:
        y[i] += a * x[i]


@pytest.mark.parametrize("target", [0, 90])
@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "uint8"])
def test_saxpy(dtype: str, target: int) -> None:
    x, y = np.arange(100).astype(dtype), np.ones(100, dtype)
    run(saxpy, 3, x, y, grid=(4,), block=(32,), target=target)
    np.testing.assert_array_equal(y, (3 * x.astype("i8") + 1).astype(dtype))


def test_saxpy_indexes_in_32_bits() -> None:
    text = simt_run.ir(saxpy, 2.0, np.ones(4, "f4"), np.ones(4, "f4"))
    assert text.startswith("thread entry @saxpy(")
    inside = text[text.index("  if "):]
    assert "muli" in inside and ": i64" not in inside
    assert "select" not in text  # the index is seen not to be negative


def add_rows(x, out):
    i, j = cuda.grid(2)
    if i < x.shape[0] and j < x.shape[1]:
        out[i, j] = x[i, j] + x[i, -1]


def test_two_axes_and_negative_indices() -> None:
    x = np.arange(12.0).reshape(3, 4)
    out = np.zeros_like(x)
    run(add_rows, x, out, grid=(2, 2), block=(2, 2))
    np.testing.assert_array_equal(out, x + x[:, -1:])


def views(x, out):
    a = x[1:, ::2]
    for row in a:
        for v in row:
            out[0] += v
    out[1] = a.shape[0] * 10 + a.shape[1]
    out[2] = x[::-1][0, 0]
    x[:, 1] = 7


def test_views_and_loops_over_arrays() -> None:
    x, out = np.arange(20.0).reshape(4, 5), np.zeros(3)
    expected = x.copy()
    run(views, x, out)
    np.testing.assert_array_equal(out, [expected[1:, ::2].sum(), 33, expected[3, 0]])
    expected[:, 1] = 7
    np.testing.assert_array_equal(x, expected)


def loops(out, n):
    total = 0
    for i in range(n, 0, -2):
        if i == 5:
            continue
        total += i
    else:  # noqa: PLW0120
        total += 1000
    k = 0
    while True:
        k += 1
        if k > 10:
            break
    out[0] = total
    out[1] = k
    out[2] = i


@pytest.mark.parametrize("n", [0, 1, 9, 10])
def test_loops(n: int) -> None:
    out, wanted = np.zeros(3, "i8"), np.zeros(3, "i8")
    run(loops, out, n)
    if n:
        loops(wanted, n)
    else:
        wanted[:] = 1000, 11, 0
    np.testing.assert_array_equal(out, wanted)


def joined(x, out):
    if x[0] > 0:
        v = 1
    else:
        v = x[1]
    s = 0
    for i in range(3):
        s += x[i]
    out[0] = v / 2 + s


def test_paths_meet_in_the_common_dtype() -> None:
    for first in (1, -1):
        x, out = np.array([first, 0.25, 0.5], "f4"), np.zeros(1)
        run(joined, x, out)
        assert out[0] == (1 if first > 0 else 0.25) / 2 + x.sum()


def reductions(x, out):
    out[0] = x.sum()
    out[1] = x.prod()
    out[2] = np.mean(x)
    out[3] = x.min()
    out[4] = np.max(x)
    out[5] = x[0].argmin()
    out[6] = x[1].argmax()
    out[7] = x.any() + 2 * x.all()
    out[8] = np.count_nonzero(x)
    out[9] = x.std()
    out[10] = np.var(x[:, 1])


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "uint8", "int64"])
def test_reductions(dtype: str) -> None:
    x, out = np.array([[3, 1, 2], [0, 5, 4]], dtype), np.zeros(11)
    run(reductions, x, out)
    wanted = [15, 0, 2.5, 0, 5, 1, 1, 1, 5, x.std(dtype="f8"), np.var(x[:, 1].astype("f8"))]
    np.testing.assert_allclose(out, wanted, rtol=1e-15)


def repeated(x, out):
    out[:] = x


def test_axes_of_one_element_are_repeated_and_shorter_ones_end() -> None:
    for shape in ((1, 4), (3, 1), (1, 1), (4,), (1,)):
        x, out = np.arange(1, 1 + np.prod(shape), dtype="f4").reshape(shape), np.zeros((3, 4), "f4")
        run(repeated, x, out)
        np.testing.assert_array_equal(out, np.broadcast_to(x, (3, 4)))
    x, out = np.arange(1, 4, dtype="f4"), np.zeros(5, "f4")
    run(repeated, x, out)
    assert list(out) == [1, 2, 3, 3, 3]


# ---- recursion -----------------------------------------------------------------------------------------


def power(x, n):
    if n == 0:
        return 1.0
    return x * power(x, n - 1)


def runaway(n):
    return runaway(n)


def test_recursion_ends_while_the_kernel_is_compiled():
    def known(out, x):
        out[0] = power(x, 5)

    def endless(out, n):
        out[0] = runaway(n)

    assert value(known, 2.0) == 32
    assert "cannot type infer runaway recursion: 'runaway' calls itself" in message(endless, np.zeros(1), 3)


# ---- functions of NumPy with a place for the result ------------------------------------------------------


def into(x, y, s, out, flags):
    np.add(x, y, out)
    np.sin(out, out)
    np.hypot(y, s, out[1])
    np.less(x[0], s, flags)


@pytest.mark.parametrize("target", [0, 90])
def test_functions_of_numpy_into_arrays(target):
    x, y, out = np.arange(6.0).reshape(2, 3), np.arange(3, dtype=np.float32), np.zeros((2, 3))
    flags, want, marks = np.zeros(3, np.int32), np.zeros((2, 3)), np.zeros(3, bool)
    run(into, x, y, 1.5, out, flags, target=target)
    into(x, y, np.float64(1.5), want, marks)
    np.testing.assert_allclose(out, want, rtol=1e-15)
    np.testing.assert_array_equal(flags, marks)


def test_an_array_of_more_axes_does_not_fit():
    def k(x, out):
        np.sin(x, out)

    assert "an array of 2 axes does not fit in one of 1" in message(k, np.zeros((2, 2)), np.zeros(2))
