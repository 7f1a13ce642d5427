# SPDX-License-Identifier: Apache-2.0
"""Loops over arrays, enumerate, zip, reversed and ranges of run time: the same as Python's own, as written and as
compiled for a GPU."""

from __future__ import annotations

import numpy as np
import pytest
from simt_run import message, run

TARGETS = pytest.mark.parametrize("target", [0, 90])


def same(kernel, *args, size: int = 40, target: int = 0) -> None:
    """The kernel appends numbers to its first argument; Python runs the same text."""
    got, want = np.zeros(size), np.zeros(size)
    kernel(want, *args)
    run(kernel, got, *args, target=target)
    np.testing.assert_array_equal(got, want)


def counted(out, a):
    for i, v in enumerate(a):
        out[i] = v * 10 + i


def counted_from(out, a, first):
    k = 0
    for i, v in enumerate(a, first):
        out[k] = v + 100 * i
        k += 1


def zipped(out, a, b):
    k = 0
    for x, y in zip(a, b):
        out[k] = x - y
        k += 1
    out[k] = k


def nested(out, a, b):
    for i, (x, (j, y)) in enumerate(zip(a, enumerate(b, 5))):
        out[2 * i] = x + j
        out[2 * i + 1] = y


def backwards(out, a, n):
    k = 0
    for i, v in enumerate(reversed(a)):
        out[k] = v + i
        k += 1
    for i in reversed(range(2, n, 3)):
        out[k] = i
        k += 1


def rows(out, a):
    k = 0
    for i, row in enumerate(a):
        for x in row:
            out[k] = x + 1000 * i
            k += 1


def leaves(out, a):
    k = 0
    for i, v in enumerate(a):
        if i == 1:
            continue
        if i == 4:
            break
        out[k] = v
        k += 1
    else:
        out[k] = -1


@TARGETS
def test_arrays(target: int) -> None:
    a, b = np.array([3.0, 1, 4, 1, 5, 9]), np.array([2.0, 7, 1, 8])
    same(counted, a, target=target)
    same(counted_from, a, -3, target=target)
    same(zipped, a, b, target=target)
    same(zipped, b, a, target=target)
    same(nested, a, b, target=target)
    same(backwards, a, 20, target=target)
    same(rows, a.reshape(2, 3), target=target)
    same(leaves, a, target=target)
    same(leaves, b[:3], target=target)
    same(counted, np.zeros(0))


def ranges(out, start, stop, step):
    k = 0
    for i, v in enumerate(range(start, stop, step)):
        out[k] = v * 100 + i
        k += 1
    for v, w in zip(range(start, stop, step), range(stop)):
        out[k] = v * 100 + w
        k += 1
    for v in reversed(range(start, stop, step)):
        out[k] = v
        k += 1


@TARGETS
@pytest.mark.parametrize("bounds", [(0, 5, 1), (5, 0, -2), (3, 3, 1), (9, 2, 4), (-4, 9, 5), (7, -8, -7), (0, 1, 100)])
def test_ranges(bounds: tuple[int, int, int], target: int) -> None:
    same(ranges, *bounds, target=target)


def tuples(out, a):
    k = 0
    for t, x in zip((10, 20, 30), a):
        out[k] = t + x
        k += 1
    for t in (1, 2, 3, 4):
        if t == 2:
            continue
        if t == 4:
            break
        out[k] = t
        k += 1
    for i, t in enumerate((7, 8)):
        out[k] = t * i
        k += 1


TABLE = np.arange(100, 150)


def table(out, n):
    for i, x in zip(range(n), TABLE):
        out[i] = x
    s = 0
    for x in TABLE:
        s += x
    out[n] = s


@TARGETS
def test_tuples_and_arrays_of_the_host(target: int) -> None:
    same(tuples, np.array([0.5, 1.5, 2.5, 3.5]), target=target)
    same(table, 7, target=target)


def kept(out, a, which):
    if which > 0:
        for i, v in enumerate(a):
            out[i] = v
    s = zip(a, range(1, which))
    for x, y in s:
        out[y] = x * y


def test_a_sequence_in_a_variable() -> None:
    same(kept, np.array([1.0, 2, 3]), 3)


def test_refusals() -> None:
    def numbers(out, a):
        for x, y in zip(a, 3):
            out[0] = x + y

    def mixed(out, a):
        for x, y in zip(a, (1, "two")):
            out[0] = x

    out, a = np.zeros(3), np.zeros(3)
    assert "a loop over constant 3, which has no items" in message(numbers, out, a)
    assert "known at compile time" in message(mixed, out, a)
