# SPDX-License-Identifier: Apache-2.0
"""Tiles of short rows that stick out of their array are read and written row by row under masks on the CPU
(src/target/llvm/edge.c); small products read such tiles where they are (mma.c)."""

from __future__ import annotations

import numpy as np
import pytest
import tessera.tile as ct
from tessera.lib import gemm


@ct.kernel
def shift(x, out, i: ct.Constant[int], j: ct.Constant[int], ROWS: ct.Constant[int], COLS: ct.Constant[int],
          PAD: ct.Constant[int]):  # fmt: skip
    """A tile of x, wherever it lies, as a tile of out that sticks out as much."""
    pad = (
        ct.PaddingMode.ZERO
        if PAD == 0
        else ct.PaddingMode.NAN
        if PAD == 1
        else ct.PaddingMode.NEG_INF
    )
    t = ct.load(x, index=(ct.bid(0), i, j), shape=(2, ROWS, COLS), padding_mode=pad)
    ct.store(out, index=(0, 0, 0), tile=t)


@ct.kernel
def products(a, b, c, T: ct.Constant[int]):
    zero = ct.PaddingMode.ZERO
    x = ct.load(a, index=(ct.bid(0), 0, 0), shape=(1, T, T), padding_mode=zero)
    y = ct.load(b, index=(ct.bid(0), 0, 0), shape=(1, T, T), padding_mode=zero)
    ct.store(c, index=(ct.bid(0), 0, 0), tile=ct.matmul(x, y))


@ct.kernel
def product_kept(a, c, T: ct.Constant[int]):
    """The accumulator is not zero, and what is multiplied is overwritten afterwards."""
    x = ct.load(a, index=(0, 0), shape=(T, T), padding_mode=ct.PaddingMode.ZERO)
    acc = ct.mma(x, x, ct.full((T, T), 0.5, dtype=ct.float32))
    ct.store(a, index=(0, 0), tile=acc)
    ct.store(c, index=(0, 0), tile=x + acc)


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "uint64"])
@pytest.mark.parametrize("size", [(3, 5, 7), (2, 16, 13), (1, 1, 1), (4, 40, 70)])
@pytest.mark.parametrize("place", [(0, 0), (0, 1), (1, 0), (3, 3), (-1, 0), (0, -1)])
def test_parts_of_tiles(dtype, size, place):
    rng = np.random.default_rng(3)
    rows, cols = 8, 16
    x = rng.integers(1, 100, size).astype(dtype)
    for number, pad in enumerate([0, np.nan, -np.inf] if "float" in dtype else [0]):
        whole = np.full((2, rows, cols), pad, dtype)
        for k, r, c in np.ndindex(whole.shape):
            at = k, place[0] * rows + r, place[1] * cols + c
            if all(0 <= a < s for a, s in zip(at, size, strict=True)):
                whole[k, r, c] = x[at]
        for extent in ((2, rows, cols), (1, 5, 11), (2, 8, 9)):
            out = np.full(extent, 77, dtype)
            ct.launch(None, (1, 1, 1), shift, (x, out, *place, rows, cols, number))
            np.testing.assert_array_equal(out, whole[: extent[0], : extent[1], : extent[2]])


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
@pytest.mark.parametrize("n", [1, 5, 13, 16, 31, 64])
def test_small_products(dtype, n):
    rng = np.random.default_rng(n)
    a, b = (rng.integers(-9, 9, (7, n, n)).astype(dtype) for _ in range(2))
    wide = "float32" if dtype == "float16" else dtype
    c, d, e = (np.zeros((7, n, n), wide) for _ in range(3))
    ct.launch(None, (7, 1, 1), products, (a, b, c, max(2, 1 << (n - 1).bit_length())))
    gemm.batched_gemm(a, b, d)
    gemm.gemm(a[3], b[3].copy().T, e[3])
    wanted = a.astype("float64") @ b.astype("float64")
    np.testing.assert_array_equal(c, wanted)
    np.testing.assert_array_equal(d, wanted)
    np.testing.assert_array_equal(e[3], a[3].astype("float64") @ b[3].T.astype("float64"))


@pytest.mark.parametrize("n", [5, 16, 32])
def test_what_is_multiplied_is_read_first(n):
    a = np.random.default_rng(n).integers(-5, 5, (n, n)).astype(np.float32)
    was, c = a.copy(), np.zeros_like(a)
    ct.launch(None, (1, 1, 1), product_kept, (a, c, 1 << (n - 1).bit_length()))
    np.testing.assert_array_equal(a, was @ was + 0.5)
    np.testing.assert_array_equal(c, was + a)


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "int8"])
@pytest.mark.parametrize("shape", [(1, 1), (3, 0), (5, 17), (130, 4096), (7, 9001)])
def test_matrix_times_column(dtype, shape):
    rng = np.random.default_rng(7)
    a, b = (rng.integers(-3, 3, s).astype(dtype) for s in (shape, (shape[1], 1)))
    c = np.full((shape[0], 1), 9, {"float16": "float32", "int8": "int32"}.get(dtype, dtype))
    gemm.gemm(a, b, c)
    np.testing.assert_array_equal(c, a.astype("float64") @ b.astype("float64"))
    long = np.zeros((3 * len(b), 1), dtype)
    long[::3], c[:] = b, 9
    gemm.gemm(a, long[::3], c)
    np.testing.assert_array_equal(c, a.astype("float64") @ b.astype("float64"))
