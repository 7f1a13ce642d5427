# SPDX-License-Identifier: Apache-2.0
"""Items of one thread that are of different dtypes; what has to be known while a kernel is compiled, and is not."""

from __future__ import annotations

import numpy as np
import pytest

from tessera import coop, cuda

PAIRS = [("i4", "f8"), ("f4", "i2"), ("u1", "i8"), ("?", "f4"), ("i8", "c8"), ("f2", "f4"), ("u4", "i4")]


def numbers(dtype: str, n: int, seed: int) -> np.ndarray:
    x = np.random.default_rng(seed).integers(0, 50, n)
    return (x % 2 if dtype == "?" else x + (0.5 if np.dtype(dtype).kind in "fc" else 0)).astype(dtype)


@pytest.mark.parametrize(("left", "right"), PAIRS)
def test_items_become_of_the_dtype_that_holds_them(left: str, right: str) -> None:
    """Sums, scans and exchanges of a pair of items: as NumPy's of one array of the promoted dtype."""
    wanted_dtype = np.result_type(np.dtype(left), np.dtype(right))

    @cuda.jit
    def kernel(x, y, out, moved):
        t = cuda.threadIdx.x
        a, b = coop.block.inclusive_sum((x[t], y[t]), threads=64)
        out[2 * t], out[2 * t + 1] = a, b
        a, b = coop.block.exchange((x[t], y[t]), "blocked_to_striped", threads=64)
        moved[t], moved[t + 64] = a, b

    x, y = numbers(left, 64, 1), numbers(right, 64, 2)
    both = np.stack([x.astype(wanted_dtype), y.astype(wanted_dtype)], 1).ravel()
    out, moved = np.zeros(128, wanted_dtype), np.zeros(128, wanted_dtype)
    kernel[1, 64](x, y, out, moved)
    np.testing.assert_array_equal(moved, both)
    np.testing.assert_array_equal(out, np.cumsum(both))


def test_sorts_of_mixed_items() -> None:
    @cuda.jit
    def kernel(x, y, out):
        t = cuda.threadIdx.x
        a, b = coop.block.radix_sort((x[t], y[t]), threads=64)
        out[0, 2 * t], out[0, 2 * t + 1] = a, b
        a, b = coop.block.merge_sort((x[t], y[t]), lambda p, q: p > q, threads=64)
        out[1, 2 * t], out[1, 2 * t + 1] = a, b

    x, y, out = numbers("i4", 64, 3), numbers("f8", 64, 4), np.zeros((2, 128))
    kernel[1, 64](x, y, out)
    rising = np.sort(np.concatenate([x, y]))
    np.testing.assert_array_equal(out, [rising, rising[::-1]])


def test_a_literal_takes_the_dtype_of_the_others() -> None:
    @cuda.jit
    def kernel(x, out):
        t = cuda.threadIdx.x
        parts = coop.block.exchange((0, x[t], 2.0), "blocked_to_striped", threads=32)
        out[t] = parts[0].dtype.itemsize

    out = np.zeros(32)
    kernel[1, 32](np.zeros(32, np.float32), out)
    assert (out == 4).all()
    kernel[1, 32](np.zeros(32, np.int16), out)  # 2.0 is no int16
    assert (out == 8).all()


def test_items_of_two_kinds_are_refused() -> None:
    @cuda.jit
    def kernel(x):
        coop.block.exchange((x[0], (x[0], x[1])), "blocked_to_striped", threads=32)

    with pytest.raises(Exception, match="items of a thread are values of one kind"):
        kernel[1, 32](np.zeros(32))


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda x, n: coop.block.sum(x[0], threads=n), "threads= must be an integer known while the kernel"),
        (lambda x, n: coop.block.sum(x[0], threads=cuda.blockDim.x), "found: int32 scalar"),
        (lambda x, n: coop.block.sum(x[0], threads=(32, 1.5)), "threads= must be an integer"),
        (lambda x, n: coop.block.load(x, n, threads=32), "items= must be an integer"),
        (lambda x, n: coop.warp.sum(x[0], width=n), "width= must be an integer"),
        (lambda x, n: coop.warp.load(x, n), "items= must be an integer"),
        (lambda x, n: coop.block.sum(x[0], threads=32, algorithm="fast"), "has warp_reductions, raking, raking_comm"),
        (lambda x, n: coop.block.inclusive_sum(x[0], threads=32, algorithm="fast"), "scan() has warp_scans, raking"),
        (lambda x, n: coop.block.load(x, 2, threads=32, algorithm="fast"), "load() and store() have direct, striped"),
        (lambda x, n: coop.block.exchange((x[0],), "back", threads=32), "exchange() has blocked_to_striped, blocked"),
        (lambda x, n: coop.block.scatter((x[0],), (n,), threads=32, to="up"), "to='up': blocked, striped, warp_str"),
    ],
)
def test_refusals_say_what_there_is(call, says: str) -> None:
    function = cuda.jit(device=True)(call)

    @cuda.jit
    def kernel(x, n):
        function(x, n)

    with pytest.raises(Exception) as caught:
        kernel[1, 32](np.zeros(64), 32)
    assert says in str(caught.value)
