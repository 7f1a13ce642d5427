# SPDX-License-Identifier: Apache-2.0
"""Complex sums and products, running ones of all numbers, in host memory: NumPy's, of any layout."""

from __future__ import annotations

import numpy as np
import pytest
import tessera.numeric as tn

RUNNING = "?bBhHiIqQfdFD"


def random_numbers(rng, dtype, shape):
    dtype = np.dtype(dtype)
    if dtype.kind == "b":
        return rng.random(shape) < 0.5
    if dtype.kind in "iu":
        return rng.integers(0, 1 << 7, shape).astype(dtype)
    x = 1 + 0.1 * rng.standard_normal(shape)
    return (x + 0.1j * rng.standard_normal(shape) if dtype.kind == "c" else x).astype(dtype)


def random_layout(rng, x):
    """The same view of two arrays: axes in another order, steps, some of them back, or an axis again and again."""
    a = tn.array(x)
    axes = tuple(rng.permutation(x.ndim))
    key = tuple(slice(None, None, int(rng.choice([-2, -1, 1, 1, 1, 2]))) for _ in axes)
    x, a = x.transpose(axes)[key], a.transpose(axes)[key]
    if rng.random() < 0.2:
        shape = (3, *x.shape)
        x, a = np.broadcast_to(x, shape), tn.broadcast_to(a, shape)
    return x, a


def check(ours, wanted, exact=False):
    ours, wanted = np.asarray(ours), np.asarray(wanted)
    assert ours.dtype == wanted.dtype and ours.shape == wanted.shape
    if exact or wanted.dtype.kind in "iu":
        np.testing.assert_array_equal(ours, wanted)
    else:
        tolerance = 2e-4 if wanted.dtype.char in "fF" else 1e-11
        scale = np.abs(wanted).max() if wanted.size else 0
        np.testing.assert_allclose(ours, wanted, rtol=tolerance, atol=tolerance * scale)


@pytest.mark.parametrize("dtype", "FD")
@pytest.mark.parametrize("seed", range(60))
def test_complex_sums_and_products_of_any_layout(dtype, seed):
    rng = np.random.default_rng([seed, ord(dtype)])
    shape = tuple(int(n) for n in rng.choice([1, 2, 3, 7, 40, 300], int(rng.integers(1, 4))))
    x, a = random_layout(rng, random_numbers(rng, dtype, shape))
    n_axes = int(rng.integers(0, x.ndim + 1))
    axis = tuple(int(d) for d in rng.permutation(x.ndim)[:n_axes]) if rng.random() < 0.8 else None
    keeps = bool(rng.integers(2))
    for name in ("sum", "mean"):
        wanted = getattr(np, name)(x, axis=axis, keepdims=keeps)
        check(getattr(tn, name)(a, axis=axis, keepdims=keeps), wanted)
        check(getattr(tn, name)(a + 0, axis=axis, keepdims=keeps), wanted)  # a value that waits
    few, ours = x[..., :9], a[..., :9]
    few, ours = (few[:9], ours[:9]) if few.ndim > 1 else (few, ours)
    check(tn.prod(ours, axis=axis), np.prod(few, axis=axis))


@pytest.mark.parametrize("dtype", RUNNING)
@pytest.mark.parametrize("seed", range(25))
def test_running_sums_are_numpys_bit_by_bit(dtype, seed):
    rng = np.random.default_rng([seed, ord(dtype)])
    shape = tuple(int(n) for n in rng.choice([0, 1, 2, 5, 33, 1100], int(rng.integers(1, 4))))
    shape = shape if np.prod(shape) < 200_000 else (33, 5, 33)
    x, a = random_layout(rng, random_numbers(rng, dtype, shape))
    axis = int(rng.integers(-x.ndim, x.ndim))
    with np.errstate(all="ignore"):
        for name in ("cumsum", "cumprod"):
            check(
                getattr(tn, name)(a, axis=axis),
                getattr(np, name)(x, axis=axis),
                exact=dtype not in "FD",
            )
        check(tn.cumsum(a), np.cumsum(x), exact=True)
        wanted = np.cumsum(x, axis=axis, dtype="i4" if dtype in "bhi" else None)
        check(tn.cumsum(a, axis=axis, dtype="i4" if dtype in "bhi" else None), wanted, exact=True)


@pytest.mark.parametrize("dtype", "FD")
def test_a_long_complex_sum_keeps_the_bits_of_pairs(dtype):
    """10^6 equal numbers one after the other would be 10^6 roundings away; pairs are some."""
    x = np.full(1_000_000, 0.1 - 0.3j, dtype)
    exact = complex(x[0]) * x.size
    error = abs(complex(tn.sum(tn.array(x))) - exact) / abs(exact)
    assert error < 20 * np.finfo(dtype).eps


def test_signs_of_zero_infinities_and_nan():
    for x in (
        [-0.0 - 0j, -0.0 - 0j],
        [np.inf + 1j, 1 - np.inf * 1j],
        [np.nan + 1j, 2],
        [0j],
        [-0.0],
    ):
        x = np.array(x, "D")
        with np.errstate(all="ignore"):
            for name in ("sum", "cumsum", "cumprod"):
                ours, wanted = np.asarray(getattr(tn, name)(tn.array(x))), getattr(np, name)(x)
                np.testing.assert_array_equal(ours, wanted)
                np.testing.assert_array_equal(np.isnan(ours.real), np.isnan(wanted.real))


@pytest.mark.parametrize("n", [63, 64, 65, 128, 2111, 2112, 2113, 40_000])
def test_the_first_truth_wherever_it_is(n):
    for place in {0, 1, 62, min(63, n - 1), n // 2, n - 1}:
        x = np.zeros((3, n), bool)
        x[1, place] = True
        for y in (x, ~x):
            a = tn.array(y)
            for name in ("argmax", "argmin", "any", "all"):
                check(getattr(tn, name)(a, axis=1), getattr(np, name)(y, axis=1), exact=True)


@pytest.mark.parametrize("dtype", "bBhHiIqQfd")
def test_the_greatest_beyond_many_blocks(dtype):
    rng = np.random.default_rng(ord(dtype))
    x = random_numbers(rng, dtype, 70_001)
    for place in (0, 32_767, 32_768, 70_000):
        y = x.copy()
        y[place] = 127
        if dtype in "fd" and place:
            y[place // 2] = np.nan
        for name in ("max", "min", "argmax", "argmin"):
            check(getattr(tn, name)(tn.array(y)), getattr(np, name)(y))


@pytest.mark.parametrize("dtype", "FD")
@pytest.mark.parametrize("seed", range(20))
def test_complex_numbers_in_order(dtype, seed):
    rng = np.random.default_rng([seed, ord(dtype)])
    n = int(rng.choice([8, 63, 64, 65, 300, 5000]))
    x = (rng.integers(0, 9, (4, n)) + 1j * rng.integers(0, 9, (4, n))).astype(dtype)
    if rng.random() < 0.5:
        x[1, rng.integers(n)] = complex(np.nan, 1) if rng.random() < 0.5 else complex(1, np.nan)
    x[2] = 0
    for a in (tn.array(x), tn.array(x) + 0):
        for name in ("max", "min", "argmax", "argmin", "any", "all"):
            for axis in (None, 1):
                check(getattr(tn, name)(a, axis=axis), getattr(np, name)(x, axis=axis), exact=True)


@pytest.mark.parametrize("dtype", "?bBhHiIqQ")
@pytest.mark.parametrize("to", [None, "b", "H", "i", "Q", "f"])
def test_sums_of_whole_numbers_wrap(dtype, to):
    rng = np.random.default_rng(ord(dtype))
    x = rng.integers(0, 256, (5, 40_008), dtype=np.uint8).view(dtype if dtype != "?" else "b")
    x = x > 0 if dtype == "?" else x
    for y, a in ((x, tn.array(x)), (x[::-2], tn.array(x)[::-2])):
        for axis in (None, 0, 1):
            ours, wanted = tn.sum(a, axis=axis, dtype=to), np.sum(y, axis=axis, dtype=to)
            if to == "f":
                np.testing.assert_allclose(
                    np.asarray(ours), wanted, rtol=1e-3, atol=np.abs(wanted).max() * 1e-3
                )
            else:
                check(ours, wanted, exact=True)
