# SPDX-License-Identifier: Apache-2.0
"""Operations that are written in the tile language (tile/_functions.py) against NumPy, by the interpreter of tiles and
of a GPU's threads."""

import ml_dtypes
import numpy as np
import pytest
import tessera.tile as ct
from lower import LowerError, lower, run
from lower import array as array_spec

TARGETS = [0, 90]  # tiles; threads of a GPU
DTYPES = ["bool", "int8", "uint8", "int32", "uint32", "int64", "uint64", "float16", "bfloat16", "float32", "float64"]


def dtype_of(name):
    return np.dtype(ml_dtypes.bfloat16 if name == "bfloat16" else name)


def sample(name, shape, seed):
    """Values with equal ones, extremes, infinities and NaN."""
    rng = np.random.default_rng(seed)
    dtype = dtype_of(name)
    if name == "bool":
        return rng.integers(0, 2, shape).astype(bool)
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        x = rng.integers(info.min, info.max, shape, dtype=dtype, endpoint=True)
        x.flat[::3] = rng.integers(0, 3, x.flat[::3].shape)
        return x
    x = rng.normal(size=shape).astype(dtype)
    x.flat[::3] = rng.integers(-2, 3, x.flat[::3].shape).astype(dtype)
    odd = x.flat[1 :: max(x.size // 4, 5)]
    x.flat[1 :: max(x.size // 4, 5)] = np.resize(np.array([np.nan, np.inf, -np.inf, -0.0], dtype), odd.shape)
    return x


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", DTYPES)
def test_sort_argsort_and_topk_are_numpys(name, target):
    x = sample(name, (4, 16), 1)
    if target and name != "float32" and name != "int64":
        pytest.skip("the dtypes differ in the front end only")

    def kernel(x, y, at, most, where_most):
        t = ct.load(x, (0, 0), (4, 16))
        ct.store(y, (0, 0), ct.sort(t))
        ct.store(at, (0, 0), ct.argsort(t, axis=0, descending=True))
        values, indices = ct.topk(t, 4)
        ct.store(most, (0, 0), values)
        ct.store(where_most, (0, 0), indices)

    y, at, most, indices = x.copy(), np.zeros((4, 16), np.int32), x[:, :4].copy(), np.zeros((4, 4), np.int32)
    run(kernel, x, y, at, most, indices, target=target)
    wide = x.astype(np.float32) if name in ("float16", "bfloat16") else x
    np.testing.assert_array_equal(y.astype(wide.dtype), np.sort(wide, axis=-1))
    np.testing.assert_array_equal(at, order(wide, 0))
    np.testing.assert_array_equal(indices, order(wide, 1, signed=True)[:, :4])
    np.testing.assert_array_equal(most.astype(wide.dtype), np.take_along_axis(wide, indices, 1))


def order(x, axis, signed=False):
    """Stable positions of the greatest first; NaN before all. With `signed` 0.0 is greater than -0.0."""

    def key(v):
        real = x.dtype.kind == "f"
        if real and np.isnan(float(v)):
            return False, 0, False
        return True, -float(v) if real else -int(v), bool(real and signed and v == 0 and np.signbit(v))

    rows = np.moveaxis(x, axis, -1)
    made = [sorted(range(len(row)), key=lambda i: (*key(row[i]), i)) for row in rows]
    return np.moveaxis(np.array(made, np.int32), -1, axis)


@pytest.mark.parametrize("shape", [(1,), (2,), (64,), (2, 4, 8), (8, 1)])
def test_sort_along_every_axis(shape):
    x = sample("float32", shape, 3)
    for axis in [None, *range(-len(shape), len(shape))]:
        wanted = np.sort(x, axis=axis)

        zeros, at = (0,) * x.ndim, (0,) * wanted.ndim

        def whole(x, y, shape=shape, axis=axis, zeros=zeros, at=at):
            ct.store(y, at, ct.sort(ct.load(x, zeros, shape), axis=axis))

        y = np.zeros_like(wanted)
        run(partial_of(whole), x, y)
        np.testing.assert_array_equal(y, wanted)


def partial_of(fn):
    """A kernel of the first two parameters of `fn`, whose others keep their defaults."""

    def kernel(x, y):
        fn(x, y)

    return kernel


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", ["int32", "float16", "float32", "float64"])
def test_means_and_variances_are_numpys(name, target):
    x = sample("int8", (8, 16), 4).astype(dtype_of(name))
    kind = np.float32 if name == "int32" else x.dtype

    def kernel(x, a, b, c, d):
        t = ct.load(x, (0, 0), (8, 16))
        ct.store(a, (0, 0), ct.mean(t, axis=1, keepdims=True))
        ct.store(b, (0,), ct.var(t, 0))
        ct.store(c, (0,), ct.reshape(ct.mean(t), (1,)))
        ct.store(d, (0,), ct.std(t, (0, 1), ddof=1).reshape((1,)))

    out = [np.zeros(s, kind) for s in ((8, 1), (16,), (1,), (1,))]
    run(kernel, x, *out, target=target)
    wide = x.astype(np.float64)
    wanted = [wide.mean(1, keepdims=True), wide.var(0), wide.mean(), wide.std(ddof=1)]
    for found, exact in zip(out, wanted, strict=True):
        np.testing.assert_allclose(found, np.broadcast_to(exact, found.shape), rtol=2e-3 if name == "float16" else 1e-6)


@pytest.mark.parametrize("ddof, wanted", [(3, 5), (3.5, 10), (4, np.inf), (5, np.inf)])
def test_the_divisor_of_a_variance_is_never_negative(ddof, wanted):
    def kernel(x, y, z):
        t = ct.load(x, (0,), (4,))
        ct.store(y, (0,), ct.var(t, ddof=ddof).reshape((1,)))
        ct.store(z, (0,), ct.std(t, ddof=ddof).reshape((1,)))

    y, z = np.zeros(1, np.float32), np.zeros(1, np.float32)
    run(kernel, np.arange(4, dtype=np.float32), y, z)
    np.testing.assert_allclose([y[0], z[0]], [wanted, wanted**0.5], rtol=1e-6)


def test_nan_goes_through_means_and_clips():
    def kernel(x, y):
        t = ct.load(x, (0,), (4,))
        ct.store(y, (0,), ct.clip(t, -1, 1))
        ct.store(y, (1,), ct.clip(t, max=0.5))
        ct.store(y, (2,), ct.full((4,), ct.mean(t), ct.float32))

    x, y = np.array([np.nan, -np.inf, 0.25, 3], np.float32), np.zeros(12, np.float32)
    run(kernel, x, y)
    np.testing.assert_array_equal(y, [*np.clip(x, -1, 1), *np.clip(x, None, 0.5), *[np.nan] * 4])


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", ["bool", "int32", "float32"])
def test_any_and_all_are_numpys(name, target):
    x = sample(name, (4, 8), 5)
    x[1], x[2] = 0, 1

    def kernel(x, y):
        t = ct.load(x, (0, 0), (4, 8))
        ct.store(y, (0, 0), ct.any(t, 1)[None, :])
        ct.store(y, (1, 0), ct.all(t, axis=1, keepdims=True).reshape((1, 4)))
        ct.store(y, (2, 0), ct.full((1, 4), ct.any(t), ct.bool_))

    y = np.zeros((3, 4), bool)
    run(kernel, x, y, target=target)
    np.testing.assert_array_equal(y, [x.any(1), x.all(1), [x.any()] * 4])


def test_mistakes_are_named():
    def bad_axis(x):
        ct.sort(ct.load(x, (0,), (4,)), axis=1)

    def bad_k(x):
        ct.topk(ct.load(x, (0,), (4,)), 8)

    def odd_k(x):
        ct.topk(ct.load(x, (0,), (8,)), 5)

    for kernel, text in ((bad_axis, "the axis is out of range"), (bad_k, "k is from 1 to the extent"),
                         (odd_k, "k is a power of two")):  # fmt: skip
        with pytest.raises(LowerError, match=text):
            lower(kernel, array_spec())


@pytest.mark.parametrize("name", ["float16", "float32", "float64"])
@pytest.mark.parametrize("target", TARGETS)
def test_round_takes_halves_to_even_and_round_away_does_not(name, target):
    halves = [-2.5, -1.5, -0.5, -0.0, 0.5, 1.5, 2.5, 3.5, 1.2, -1.7, np.inf, -np.inf, np.nan, 0.4995, 1023.5, -0.2]
    x = np.array(halves, name)

    def kernel(x, y):
        t = ct.load(x, (0,), (16,))
        ct.store(y, (0, 0), ct.round(t)[None, :])
        ct.store(y, (1, 0), ct.round_away(t)[None, :])

    y = np.zeros((2, 16), name)
    run(kernel, x, y, target=target)
    away = np.copysign(np.floor(np.abs(x) + 0.5), x)
    np.testing.assert_array_equal(y, [np.round(x), away])
    np.testing.assert_array_equal(np.signbit(y[:, :12]), np.signbit([np.round(x), away])[:, :12])
