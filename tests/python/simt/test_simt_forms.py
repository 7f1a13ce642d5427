# SPDX-License-Identifier: Apache-2.0
"""reshape, ravel, view, copy, fill and item of arrays in kernels of threads, beside NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from simt_run import LowerError, cuda, message, run

TARGETS = pytest.mark.parametrize("target", [0, 90])


def reshaped(x, shape, out):
    y = x.reshape(shape)
    for i in range(y.shape[0]):
        for j in range(y.shape[1]):
            out[i, j] = y[i, j]
    y[0, 1] = -1


@TARGETS
@pytest.mark.parametrize("shape", [(2, 6), (3, 4), (12, 1), (-1, 3), (4, -1)])
@pytest.mark.parametrize("of", [(12,), (3, 4), (2, 3, 2)])
def test_reshape_to_a_shape_of_run_time(of: tuple[int, ...], shape: tuple[int, int], target: int) -> None:
    x = np.arange(12.0).reshape(of)
    known = tuple(np.arange(12).reshape(shape).shape)
    wanted, out = x.reshape(shape).copy(), np.zeros(known)
    run(reshaped, x, shape, out, target=target)
    np.testing.assert_array_equal(out, wanted)
    assert x.reshape(known)[0, 1 % known[1]] == -1 or known[1] == 1


def forms(x, out):
    out[0] = x.reshape(2, 3).shape[1]
    out[1] = x.reshape((-1, 2))[2, 1]
    out[2] = x[::2].reshape(3, 1)[2, 0]
    out[3] = x.reshape(3, -1).ravel()[4]
    out[4] = np.reshape(x, (6, 1))[5, 0]
    out[5] = x.reshape(2, 3).T[1, 1]
    out[6] = x.reshape(1, 6, 1)[0, -2, 0]
    out[7] = x.reshape(2, 3).reshape(6).reshape(3, 2)[1, 0]


@TARGETS
def test_forms_of_reshape(target: int) -> None:
    x, out = np.arange(6.0), np.zeros(8)
    run(forms, x, out, target=target)
    np.testing.assert_array_equal(out, [3, 5, 4, 4, 5, 4, 4, 2])


def views(x, out):
    out[0] = x[4:8].view(np.int32)[0]
    out[1] = x.view(np.int16).size
    out[2] = x.view(np.int16)[1]
    y = x.reshape(2, 8)[:, 4:]
    z = y.view(np.uint32)
    out[3] = z.shape[1] + 10 * z.shape[0]
    out[4] = z[1, 0]
    out[5] = x.view(np.int8)[15]
    w = x.view(np.float32)
    w[3] = 1.0
    out[6] = x[15]


@TARGETS
def test_views_of_other_dtypes(target: int) -> None:
    x, out = np.arange(100, 116, dtype="u1"), np.zeros(7, "i8")
    word = x.view("u4").copy()
    wanted = [word[1], 8, x.view("i2")[1], 21, word[3], x[15], 0x3F]
    run(views, x, out, target=target)
    assert out.tolist() == wanted
    wide, out = np.arange(4, dtype="i8") << 32, np.zeros(2, "i8")

    def halves(x, out):
        out[0] = x.view(np.int32)[5]
        out[1] = x.view(np.int32).size

    run(halves, wide, out, target=target)
    assert out.tolist() == [2, 8]


TABLE = np.array([1, 2, 3])[::-1]
GRID = np.arange(6.0).reshape(2, 3)


def copies(out):
    a = TABLE.copy()
    a[0] += 10
    for i in range(len(out)):
        out[i] = a[i] + GRID.shape[1]
    s = cuda.local.array((2, 2), np.float32)
    s.fill(3)
    t = s.copy()
    t[1, 1] = 4
    out[2] = s[1, 1] + 10 * t[1, 1] + GRID[1:, 1:].size + GRID.T[2, 1] * 100 + GRID.max() * 1000


@TARGETS
def test_copies_are_of_the_thread(target: int) -> None:
    out = np.zeros(3)
    run(copies, out, target=target)
    assert out.tolist() == [16, 5, 3 + 40 + 2 + 500 + 5000]


def items(x, out):
    out[0] = x[2:3].item()
    out.fill(out[0] + 1)


def test_item_and_fill() -> None:
    x, out = np.arange(5.0), np.zeros(3)
    run(items, x, out)
    assert out.tolist() == [3, 3, 3]


def test_what_does_not_fit_ends_the_kernel() -> None:
    def gaps(x, out):
        out[0] = x[:, :2].reshape(4)[1]

    def too_few(x, n, out):
        out[0] = x.reshape(n)[0]

    def odd(x, out):
        out[0] = x[:, 1:].view(np.int64)[0, 0]

    x, out = np.zeros((2, 4), "i4"), np.zeros(1)
    for kernel, args in ((gaps, (x, out)), (too_few, (x, 5, out)), (odd, (x, out))):
        with pytest.raises(LowerError, match="trap"):
            run(kernel, *args)


def test_refusals() -> None:
    def sizes(x):
        x.reshape(2, 2, -1, -1)

    def negative(x):
        x.reshape(-2, 2)

    def text(x):
        x.reshape("a")

    def of_run_time(x):
        x.copy()

    def known(x):
        a = cuda.local.array((2, 3), np.float32)
        x[0] = a.reshape(5)[0]

    def order(x):
        a = cuda.local.array((2, 3), np.float32)
        x[0] = a.T.ravel()[0]

    x = np.zeros(4)
    assert "one extent of a shape may be -1" in message(sizes, x)
    assert "one extent of a shape may be -1" in message(negative, x)
    assert "a shape is made of integers" in message(text, x)
    assert "its extents must be known at compile time" in message(of_run_time, x)
    assert "another number of elements: 6 and 5" in message(known, x)
    assert "has gaps or another order" in message(order, x)
