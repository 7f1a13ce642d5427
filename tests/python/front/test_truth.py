# SPDX-License-Identifier: Apache-2.0
"""`and`, `or` and `not` of values that the kernel computes: the value of one side, as in Python."""

import itertools

import numpy as np
import pytest
import tessera.tile as ct
from lower import LowerError, run

VALUES = (0, 1, 5)


def floats(kernel, *args, n=8):
    """What a kernel writes into an array of float32 zeros."""
    out = np.zeros(n, np.float32)
    run(kernel, out, *args)
    return out.tolist()


@pytest.mark.parametrize("n, m", list(itertools.product(VALUES, VALUES)))
def test_and_and_or_give_the_value_of_one_side(n, m):
    x = n / 2

    def kernel(out, n, m, x):
        values = (n or m, n and m, n and 7, 0 or m, n or m or 9, n and x, x or n, (n > 1) or m)
        for i, v in enumerate(values):
            ct.scatter(out, i, ct.astype(v, ct.float32))

    found = [n or m, n and m, n and 7, 0 or m, n or m or 9, n and x, x or n, (n > 1) or m]
    assert floats(kernel, n, m, x) == [float(v) for v in found]


def test_the_right_side_runs_only_where_it_is_needed():
    def kernel(out, n):
        def seen(i):
            ct.scatter(out, i, 1.0)
            return i

        ct.scatter(out, 7, ct.astype(n or seen(1), ct.float32))
        ct.scatter(out, 6, ct.astype(n and seen(2), ct.float32))

    assert floats(kernel, 3) == [0, 0, 1, 0, 0, 0, 2, 3]
    assert floats(kernel, 0) == [0, 1, 0, 0, 0, 0, 0, 1]


@pytest.mark.parametrize("n, x", [(0, 0.5), (2, 0.0), (2, 0.5)])
def test_where_only_the_truth_is_wanted_sides_may_differ(n, x):
    def kernel(out, n, x, t):
        if n and x and ("text" or t[0]):
            ct.scatter(out, 0, 1.0)
        ct.scatter(out, 1, 1.0 if not (n and x) else 2.0)
        while n and x:
            n -= 1
        ct.scatter(out, 2, ct.astype(n, ct.float32))

    both = bool(n and x)
    assert floats(kernel, n, x, (1, 2))[:3] == [both, 2 if both else 1, 0 if both else n]


def test_sides_of_other_types_are_named():
    def kernel(out, n):
        ct.scatter(out, 0, n and None)

    text = "values of 'and' or 'or' differ in type\n(.*\n)+.*None and int32 scalar\n.*bool"
    with pytest.raises(LowerError, match=text):
        floats(kernel, 1)
