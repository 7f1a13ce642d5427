# SPDX-License-Identifier: Apache-2.0
"""In which order axes of results lie in memory, and in which values are written to equal places: as NumPy's, which goes
by all operands."""

from __future__ import annotations

import numpy as np
import pytest
import tessera.numeric as tn
from tessera import _core

COUNT = 300


def laid_out(rng, shape):
    """An array of NumPy's and ours whose axes lie in a random order, some backwards, some of one element or none."""
    axes = rng.permutation(len(shape))
    whole = np.ones([shape[d] for d in axes], "ilfd"[rng.integers(4)])
    key = tuple(slice(None, None, int(rng.choice([1, -1]))) for _ in shape)
    back = [int(i) for i in np.argsort(axes)]
    cut = tuple(slice(0, 1) if rng.integers(5) == 0 else slice(None) for _ in shape)
    first = int(rng.integers(len(shape))) if rng.integers(4) == 0 else 0
    made = [x[key].transpose(back)[cut] for x in (whole, tn.array(whole))]
    return [x[(0,) * first] if all(x.shape[:first]) else x for x in made]


def steps(x):
    return [step for step, n in zip(x.strides, x.shape, strict=True) if n > 1]


@pytest.mark.parametrize("small", [8192, 0], ids=["at once", "waiting"])
def test_axes_of_results_lie_as_numpys(small):
    rng, before = np.random.default_rng(5), _core.numeric_small(small)
    calls = (lambda m, a, b, c: m.negative(a), lambda m, a, b, c: a + b, lambda m, a, b, c: m.where(a, b, c),
             lambda m, a, b, c: m.less(b, a), lambda m, a, b, c: a * 2, lambda m, a, b, c: m.array(a))  # fmt: skip
    try:
        for _ in range(COUNT):
            shape = [int(n) for n in rng.integers(1, 4, rng.integers(1, 5))]
            operands = [laid_out(rng, shape) for _ in range(3)]
            call = calls[rng.integers(len(calls))]
            wanted, found = (call(m, *each) for m, each in zip((np, tn), zip(*operands, strict=True), strict=True))
            assert wanted.size < 2 or steps(wanted) == steps(found), [(x.shape, x.strides) for x, _ in operands]
    finally:
        _core.numeric_small(before)


def lies(rng, x, dtype=None):
    """The same elements as NumPy's array or ours, whose axes lie in a random order, some backwards."""
    axes = rng.permutation(x.ndim)
    key = tuple(slice(None, None, int(rng.choice([1, 1, -1]))) for _ in axes)
    whole = np.ascontiguousarray(x.astype(dtype or x.dtype).transpose(axes)[key])
    back = [int(i) for i in np.argsort(axes)]
    return lambda m: m.array(whole)[key].transpose(back)


def write(rng):
    """A random write of many values to few places, for a module."""
    shape, size = [int(n) for n in rng.integers(1, 4, rng.integers(1, 4))], [1, 1, 2, 3, 5, 9, 12]
    whole = tuple(int(n) for n in rng.choice(size, rng.integers(1, 4)))
    a = lies(rng, np.zeros(shape, int))
    keys = [lies(rng, rng.integers(-shape[d], shape[d], [n if rng.integers(5) else 1 for n in whole]),
                 rng.choice(["i8", "i8", "i4"])) for d in range(rng.integers(1, len(shape) + 1))]  # fmt: skip
    at = np.zeros(shape, int)[tuple(key(np) for key in keys)].shape
    values = rng.integers(0, 1000, at)
    v = lies(rng, values, rng.choice(["i8", "i8", "i4"])) if rng.integers(4) else (lambda m: values.tolist())
    return a, lambda m: tuple(key(m) for key in keys), v


@pytest.mark.parametrize("lends", [False, True])
def test_the_last_of_equal_places_is_numpys(lends):
    rng, before = np.random.default_rng(7), _core.numeric_lends(lends)
    calls = (lambda m, a, key, v: a.__setitem__(key, v), lambda m, a, key, v: a.__setitem__(key[0], v),
             lambda m, a, key, v: m.put(a, key[0], v), lambda m, a, key, v: m.putmask(a, a == 0, v),
             lambda m, a, key, v: a.flat.__setitem__(m.ravel(key[0]), m.ravel(v)),
             lambda m, a, key, v: a.__setitem__(a == 0, a[a == 0] + 1))  # fmt: skip
    try:
        for i in range(5 * COUNT):
            a, key, v = write(rng)
            call, made = calls[0 if i % 2 else rng.integers(len(calls))], []
            for m in (np, tn):
                x = a(m)
                try:
                    call(m, x, key(m), v(m))
                    made.append(np.asarray(x).tolist())
                except (IndexError, ValueError) as mistake:  # values of another key
                    made.append(type(mistake))
            assert made[0] == made[1], (i, [k.strides for k in key(np)], getattr(v(np), "strides", None))
    finally:
        _core.numeric_lends(before)


def test_equal_places_along_many_axes_are_written_in_order():
    values, order = np.arange(512).reshape((2,) * 9), (3, 1, 8, 0, 2, 7, 6, 4, 5)
    for back in (order, order[::-1]):
        made = []
        for m in (np, tn):
            a = m.zeros(5, int)
            a[m.array(values % 5).transpose(order)] = m.array(values).transpose(back)
            made.append(a.tolist())
        assert made[0] == made[1]
