# SPDX-License-Identifier: Apache-2.0
"""at, reduceat, reductions in order, types and signatures of functions, against NumPy."""

from __future__ import annotations

import inspect

import numpy as np
import pytest
import tessera.numeric as tn

OTHERS = ["subtract", "bitwise_and", "bitwise_xor", "fmax", "hypot", "floor_divide", "logaddexp", "power"]
NAMES = [name for name, thing in vars(tn).items() if isinstance(thing, tn.ufunc)]


def both(call, *arrays):
    try:
        wanted = call(np, *(x.copy() for x in arrays))
    except (ValueError, TypeError, IndexError) as error:
        with pytest.raises(type(error)):
            call(tn, *map(tn.array, arrays))
        return
    made = call(tn, *map(tn.array, arrays))
    assert np.asarray(made).dtype == np.asarray(wanted).dtype and np.shape(made) == np.shape(wanted)
    np.testing.assert_allclose(np.asarray(made), wanted, rtol=1e-6)


def in_place(name, *given):
    def call(m, a):
        getattr(m, name).at(a, *given)
        return a

    return call


@pytest.mark.parametrize("dtype", ["f8", "i4", "u1"])
@pytest.mark.parametrize(
    "key", [[0, 0, 1, -1], [[0, 3], [3, 3]], slice(1, 4), ..., ([1, 1, 2], [0, 0, 3]), [9], True]
)
def test_at_counts_every_time_that_an_index_occurs(dtype, key):
    x = np.arange(1, 25).reshape(6, 4).astype(dtype)
    for name in ("add", "multiply", "maximum", "subtract"):
        both(in_place(name, key, 3), x)
        both(in_place(name, key), x)
    both(in_place("negative", key), x.astype("i4"))
    both(in_place("negative", key, 3), x)
    both(in_place("add", key, 1.5), x)
    both(in_place("divide", key, np.float32(2)), x)


def test_at_with_many_of_one_index():
    rng = np.random.default_rng(0)
    x, places, values = np.zeros(5), rng.integers(0, 5, 100), rng.standard_normal(100)
    both(in_place("add", places, values), x)
    both(lambda m, a: in_place("add", [0, 1, 2], a[2:])(m, a), np.arange(5.0))
    with pytest.raises(TypeError, match="first operand must be array"):
        tn.add.at([1, 2], [0], 1)


@pytest.mark.parametrize("axis", [0, 1, -1, None, (0, 1)])
@pytest.mark.parametrize("name", OTHERS)
def test_reductions_of_other_functions(name, axis):
    x = np.arange(1, 25).reshape(6, 4)[:, ::-1] % 7 + 1
    both(lambda m, a: getattr(m, name).reduce(a, axis=axis), x)
    both(lambda m, a: getattr(m, name).reduce(a, axis=axis, keepdims=True), x)
    both(lambda m, a: getattr(m, name).reduce(a[:0], axis=axis), x)
    if axis in (0, 1):
        both(lambda m, a: getattr(m, name).accumulate(a, axis=axis), x % 3)


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("indices", [[0, 2, 3], [3, 1, 1], [0], [], [5, 0], [7]])
def test_reduceat(indices, axis):
    x = np.arange(24.0).reshape(4, 6)
    for name in ("add", "maximum", "subtract", "multiply"):
        both(lambda m, a, name=name: getattr(m, name).reduceat(a, indices, axis), x)


@pytest.mark.parametrize("name", NAMES)
def test_attributes_are_numpys(name):
    ours, theirs = getattr(tn, name), getattr(np, name)
    assert str(inspect.signature(ours)) == str(inspect.signature(theirs))
    for attribute in ("nin", "nout", "nargs", "identity"):
        assert getattr(ours, attribute) == getattr(theirs, attribute)
    assert ours.ntypes == len(ours.types) and set(ours.types) & set(theirs.types)
    if name != "float_power":  # narrow floats stay so where NumPy has float64
        assert set(ours.types) <= set(theirs.types)
