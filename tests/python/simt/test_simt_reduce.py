# SPDX-License-Identifier: Apache-2.0
"""Reductions of an array by one thread, beside NumPy: methods and functions, NaN at every place, arrays that are views,
constants or empty."""

from __future__ import annotations

import numpy as np
import pytest
from simt_run import cuda, message, run

FUNCTIONS = [
    np.sum, np.prod, np.min, np.max, np.mean, np.var, np.std, np.all, np.any, np.argmin, np.argmax, np.count_nonzero,
    np.nansum, np.nanprod, np.nanmin, np.nanmax, np.nanmean, np.nanvar, np.nanstd,
]  # fmt: skip
METHODS = ["sum", "prod", "min", "max", "mean", "var", "std", "all", "any", "argmin", "argmax"]


def by_function(function):
    def kernel(x, out):
        out[0] = function(x)

    return kernel


def cases(dtype: str) -> list[np.ndarray]:
    rng = np.random.default_rng(7)
    kind = np.dtype(dtype).kind
    if kind == "f":
        x = rng.standard_normal((3, 4)).astype(dtype)
        nan, inf = dtype_of(dtype, np.nan), dtype_of(dtype, np.inf)
        return [
            x, x[::2, ::2], np.array([nan, 1, nan, -3], dtype), np.array([2, nan], dtype), np.array([nan, nan], dtype),
            np.array([inf, 1], dtype), np.array([-inf, -1], dtype), np.array([-0.0, 0.0], dtype),
        ]  # fmt: skip
    if kind == "b":
        return [np.array([True, False]), np.array([[True, True]]), np.array([False])]
    top = np.iinfo(dtype).max
    return [rng.integers(0, 5, (2, 3, 2)).astype(dtype), np.array([top, top, 0], dtype), np.array([top], dtype)]


def dtype_of(dtype: str, value: float) -> np.generic:
    return np.dtype(dtype).type(value)


def close(got: object, want: object, dtype: str) -> None:
    np.testing.assert_allclose(got, want, rtol=1e-5 if dtype in ("f4", "f2") else 1e-14)


@pytest.mark.parametrize("dtype", ["f8", "f4", "i1", "u2", "i8", "u8", "?"])
@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
@pytest.mark.filterwarnings("ignore")
def test_functions_give_what_numpy_gives(function, dtype: str) -> None:
    exact = function in (np.argmin, np.argmax, np.all, np.any, np.count_nonzero)
    for x in cases(dtype):
        want = function(x)
        if dtype == "?" and "mean var std".find(function.__name__.removeprefix("nan")) >= 0:
            want = function(x.astype("f8"))
        out = np.zeros(1, "f8" if np.asarray(want).dtype.kind == "f" else np.asarray(want).dtype)
        run(by_function(function), x, out)
        if exact:
            assert out[0] == want, (x, out[0], want)
        else:
            close(out[0], want, dtype)


@pytest.mark.parametrize("target", [0, 90])
@pytest.mark.parametrize("function", [np.nansum, np.nanmax, np.argmax, np.nanmean], ids=lambda f: f.__name__)
def test_compiled_for_a_gpu(function, target: int) -> None:
    x, out = np.array([[1.5, np.nan, -4], [2, 8.25, np.nan]]), np.zeros(1)
    run(by_function(function), x, out, target=target)
    assert out[0] == (3 if function is np.argmax else 7.75 / 4 if function is np.nanmean else function(x)) or (
        function is np.argmax and out[0] == np.argmax(x)
    )


def test_methods() -> None:
    x = np.array([[3.0, 1.0], [2.0, 7.0]])

    def kernel(x, out):
        out[0] = x.sum()
        out[1] = x.prod()
        out[2] = x.min()
        out[3] = x.max()
        out[4] = x.mean()
        out[5] = x.var()
        out[6] = x.std()
        out[7] = x.all()
        out[8] = x.any()
        out[9] = x.argmin()
        out[10] = x.argmax()

    out = np.zeros(len(METHODS))
    run(kernel, x, out)
    np.testing.assert_allclose(out, [getattr(x, name)() for name in METHODS], rtol=1e-15)


def test_extremes_of_nothing_do_not_read() -> None:
    def kernel(x, out):
        out[0] = np.min(x)
        out[1] = np.argmin(x)
        out[2] = np.nanmax(x)
        out[3] = x.sum()

    out = np.zeros(4)
    run(kernel, np.zeros(0), out)
    assert out[0] == np.inf and out[1] == 0 and np.isnan(out[2]) and out[3] == 0


ROWS = (np.float64([1.0, np.nan, -2.0]), np.float64([[5.0, 2.0], [0.5, 4.0]])[::-1], np.int32([7, 9]))


def test_arrays_of_the_host_are_unrolled() -> None:
    def kernel(out):
        i = 0
        for row in cuda.literal_unroll(ROWS):
            out[i, 0] = np.nansum(row)
            out[i, 1] = np.argmax(row)
            i += 1

    out = np.zeros((3, 2))
    run(kernel, out)
    np.testing.assert_array_equal(out, [[np.nansum(r), np.argmax(r)] for r in ROWS])


def test_refusals() -> None:
    def not_a_tuple(x):
        for v in cuda.literal_unroll(x):
            x[0] = v

    def not_a_literal(x):
        x[0] = cuda.literally(x[0])

    def not_an_array(x):
        x[0] = np.sum(x[0])

    x = np.zeros(2)
    assert "a tuple" in message(not_a_tuple, x)
    assert "known at compile time" in message(not_a_literal, x)
    assert "numpy.sum" in message(not_an_array, x)
