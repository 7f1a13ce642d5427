# SPDX-License-Identifier: Apache-2.0
"""Kernels of loops (src/numeric/loop.c): rows of lengths around a round and a block, in every way that they lie."""

from __future__ import annotations

import numpy
import pytest

from tessera import numeric as np

LENGTHS = [1, 2, 15, 16, 17, 31, 32, 33, 63, 64, 65, 100, 127, 129, 513]


def _same(f, *arrays):
    """The same bits as NumPy, and nothing beside the result is written."""
    ours, theirs = f(*map(np.array, arrays)), f(*arrays)
    numpy.testing.assert_array_equal(np.asnumpy(ours), theirs)
    assert ours.dtype == theirs.dtype


@pytest.mark.parametrize("dtype", ["f4", "f8", "c16", "i1", "?"])
def test_rows_of_every_length(dtype):
    for n in LENGTHS:
        x = numpy.arange(3 * n).reshape(3, n).astype(dtype)
        _same(lambda x: x[1] * x[2], x)
        _same(lambda x: x[:, ::-1] + x[:, :], x)
        _same(lambda x: x[:, ::2] == x[:1, ::2], x)
        _same(lambda x: x.T * x.T[:1], x)


def test_what_lies_beside_a_row_stays():
    for n in LENGTHS:
        x = numpy.zeros((5, n + 2))

        def put(x, n=n):
            x[1:4, 1 : n + 1] += 1
            x[2, 1 : n + 1] *= 3
            x[1:4:2, 1 : n + 1 : 3] = 7
            return x

        _same(put, x)


def test_blocks_meet_without_gaps():
    """More elements than one block has, along a row and over rows."""
    for shape in [(2**14 + 1,), (3, 2**14 + 5), (700, 50), (7, 9, 11, 33), (40_000, 1)]:
        x = numpy.arange(numpy.prod(shape)).reshape(shape).astype("f4")
        _same(lambda x: x * 2 + x[..., :1], x)
        _same(lambda x: (x[1:] - x[:-1]) * x[:1], x)


def test_what_lies_still_is_read_for_each_row():
    x, column, row = numpy.arange(60.0).reshape(3, 4, 5), numpy.arange(4.0)[:, None] + 2, numpy.arange(5.0)
    _same(lambda x, c, r: x * c + r, x, column, row)
    _same(lambda x, c, r: (x > c) | (r < 3), x, column, row)
    _same(lambda x, c, r: x[:, :, :1] + c * (1 + 2j), x, column, row)


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_rows_longer_than_the_caches_are_changed_in_place(dtype):
    """They are loops, too, where no result needs memory of its own."""
    x = numpy.random.default_rng(0).random(2**21 + 77).astype(dtype)

    def change(a):
        a = a + 0
        a += a
        a -= a * a
        a *= 3
        a += a[::-1]
        return a

    _same(change, x)
