# SPDX-License-Identifier: Apache-2.0
"""Folds along rows and what uses them become one kernel: softmax, norms, centered rows. Sums have the same bits however
they were used."""

from __future__ import annotations

import numpy as np
import pytest
import tessera.numeric as tn
from tessera import _core

SHAPES = [
    ((64, 100), 1), ((30, 1024), 1), ((3, 4096), 1), ((4, 9000), 1), ((2, 20000), 1), ((5, 6, 7, 80), 3), ((60, 50), 0),
    ((4, 9, 33), (0, 1)), ((70, 1), 0), ((6, 1), 1),
]  # fmt: skip


@pytest.fixture(autouse=True)
def settled():
    before = _core.numeric_small(0)
    _core.numeric_flush()
    yield
    _core.numeric_small(before)


def launches(function, *operands):
    _core.numeric_flush()
    before = _core.numeric_stats()["launched"]
    made = function(tn, *operands)
    _core.numeric_flush()
    return made, _core.numeric_stats()["launched"] - before


def softmax(m, x, axis):
    e = m.exp(x - x.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


def norm(m, x, axis):
    middle = m.expand_dims(x.mean(axis=axis), axis)
    away = m.expand_dims(x.var(axis=axis), axis)
    return (x - middle) / m.sqrt(away + 1e-5)


def norms(m, x, axis):
    s = m.sqrt((x * x).sum(axis=axis))
    s += 1
    s *= s
    return s


def data(shape, dtype="f8"):
    return np.random.default_rng(len(shape)).standard_normal(shape).astype(dtype)


@pytest.mark.parametrize("function", [softmax, norm, norms])
@pytest.mark.parametrize("shape, axis", SHAPES)
def test_rows_are_numpys_in_one_kernel(function, shape, axis):
    x = data(shape)
    made, n = launches(function, tn.array(x), axis)
    wanted = function(np, x, axis)
    assert made.shape == wanted.shape and made.dtype == wanted.dtype
    np.testing.assert_allclose(np.asarray(made), wanted, rtol=1e-11, atol=1e-13)
    row = np.prod([shape[d] for d in np.atleast_1d(axis)])
    assert n == 1 or row > 16384 or row == x.size or row == 1  # longer or single rows are folded by themselves


@pytest.mark.parametrize("dtype", ["f2", "f4", "i4", "u1", "c16", "?"])
@pytest.mark.parametrize("name", ["sum", "prod", "max", "min", "all", "any"])
def test_every_fold_and_dtype(name, dtype):
    x = np.random.default_rng(3).integers(0, 2 if dtype == "?" else 3, (40, 37)).astype(dtype)
    if dtype == "c16" and name in ("max", "min"):
        pytest.skip("NumPy orders complex numbers, we do not yet")
    for axis in (0, 1):
        made = getattr(tn, name)(tn.array(x), axis=axis, keepdims=True) == tn.array(x)
        wanted = getattr(np, name)(x, axis=axis, keepdims=True) == x
        assert (np.asarray(made) == wanted).all()


@pytest.mark.parametrize("n", [1000, 1024, 3000, 4096, 30000])
def test_sums_have_the_same_bits_fused_or_not(n):
    x = tn.array(data((10, n), "f4"))
    alone = np.asarray(x.sum(1))
    s = x.sum(1, keepdims=True)
    used = x - s
    _core.numeric_flush()
    assert (np.asarray(s)[:, 0] == alone).all()
    assert (np.asarray(used) == np.asarray(x) - alone[:, None]).all()
    small = _core.numeric_small(1 << 30)
    assert (np.asarray(x.sum(1)) == alone).all()
    _core.numeric_small(small)


def test_rows_along_two_axes_one_after_the_other():
    x = data((50, 60))
    a = tn.array(x)
    made = softmax(tn, softmax(tn, a, 1), 0)
    np.testing.assert_allclose(np.asarray(made), softmax(np, softmax(np, x, 1), 0), rtol=1e-12)


def test_narrow_values_meet_arrays_of_all_kinds():
    x, row, column = data((40, 50)), data((50,)), data((40, 1))
    a, b, c = tn.array(x), tn.array(row), tn.array(column)
    for function in (
        lambda m, x, r, c: x.sum(1, keepdims=True) * c + x,
        lambda m, x, r, c: m.where(x.max(1, keepdims=True) > 1, x, r),
        lambda m, x, r, c: (x - x.mean(1, keepdims=True)).sum(),
        lambda m, x, r, c: m.cumsum(x / x.sum(1, keepdims=True), 1),
        lambda m, x, r, c: x.sum(1)[:40:2] + c[::2, 0],
        lambda m, x, r, c: (x.sum(1)[:, None] + x).max(0),
        lambda m, x, r, c: m.broadcast_to(x.sum(1, keepdims=True), (3, 40, 50)) + r,
        lambda m, x, r, c: x.sum(1, keepdims=True).T + x.sum(1, keepdims=True),
        lambda m, x, r, c: x[x.max(1) > 2],
        lambda m, x, r, c: (x * (x == x.max(1, keepdims=True))).sum(1).astype("f4").sum(),
    ):
        np.testing.assert_allclose(
            np.asarray(function(tn, a, b, c)), function(np, x, row, column), rtol=1e-9, atol=1e-12
        )


def test_writes_come_after_folds_that_wait():
    x = data((40, 50))
    a = tn.array(x)
    s = a.sum(1)
    a[0] = 100
    m = a.max(1, keepdims=True)
    a *= 2
    a -= m
    x2 = x.copy()
    x2[0] = 100
    np.testing.assert_allclose(np.asarray(s), x.sum(1), rtol=1e-12)
    np.testing.assert_allclose(np.asarray(a), x2 * 2 - x2.max(1, keepdims=True), rtol=1e-12)


@pytest.mark.parametrize(
    "shape", [(3000, 8, 4), (700, 3, 2), (50, 40, 5), (2000, 7), (5000, 1, 3), (33, 20, 4, 3), (9, 300, 2)]
)
def test_tiles_go_over_several_short_axes(shape):
    rng = np.random.default_rng(len(shape))
    x, c = rng.integers(-9, 9, shape).astype("f4"), rng.integers(-9, 9, shape[-1]).astype("f4")
    made, wanted = tn.array(x) * tn.array(c) + 1, x * c + 1
    assert (np.asarray(made) == wanted).all()
    for axis in range(len(shape)):
        for name in ("sum", "max", "argmax"):
            assert (np.asarray(getattr(tn, name)(made, axis)) == getattr(np, name)(wanted, axis)).all()
