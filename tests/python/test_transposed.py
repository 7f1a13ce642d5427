# SPDX-License-Identifier: Apache-2.0
"""Transposed views as operands and results on the CPU: whole tiles, and tiles that stick out of the array."""

import numpy as np
import pytest
from tessera.lib import gemm

import tessera.tile as ct


@ct.kernel
def copy_kernel(x, out):
    i, j = ct.bid(0), ct.bid(1)
    ct.store(out, index=(i, j), tile=ct.load(x, index=(i, j), shape=(32, 64)))


@ct.kernel
def sum_kernel(x, out, PAD: ct.Constant[int]):
    i = ct.bid(0)
    if PAD:
        tile = ct.load(x, index=(i, 0), shape=(16, 64), padding_mode=ct.PaddingMode.NEG_INF)
        ct.store(out, index=(i,), tile=ct.max(tile, axis=1))
    else:
        tile = ct.load(x, index=(i, 0), shape=(16, 64), padding_mode=ct.PaddingMode.ZERO)
        ct.store(out, index=(i,), tile=ct.sum(tile, axis=1))


def random(rows: int, cols: int, dtype: str = "float32") -> np.ndarray:
    return (np.random.default_rng(rows * cols).uniform(-9, 9, (rows, cols))).astype(dtype)


@pytest.mark.parametrize("dtype", ["float32", "int32", "float64", "float16", "int8"])
@pytest.mark.parametrize(
    "rows, cols", [(32, 64), (64, 128), (33, 65), (31, 63), (1, 5), (50, 3), (97, 70)]
)
def test_copy_of_transposed_views(rows: int, cols: int, dtype: str) -> None:
    x, out = random(cols, rows, dtype), np.zeros((cols + 1, rows + 2), dtype)
    grid = (ct.cdiv(rows, 32), ct.cdiv(cols, 64))
    ct.launch(None, grid, copy_kernel, (x.T, out[:cols, 2:].T))
    np.testing.assert_array_equal(out[:cols, 2:], x)
    assert not out[cols:].any() and not out[:, :2].any()


@pytest.mark.parametrize("rows, cols", [(16, 64), (19, 33), (3, 2)])
def test_padding_of_transposed_views(rows: int, cols: int) -> None:
    x, out = random(cols, rows), np.zeros(rows, np.float32)
    ct.launch(None, (ct.cdiv(rows, 16),), sum_kernel, (x.T, out, 1))
    np.testing.assert_array_equal(out, x.max(axis=0))
    ct.launch(None, (ct.cdiv(rows, 16),), sum_kernel, (x.T, out, 0))
    np.testing.assert_allclose(out, x.sum(axis=0, dtype=np.float64), atol=1e-3)


@pytest.mark.parametrize("m, n, k", [(64, 64, 64), (65, 33, 17), (100, 300, 70)])
def test_product_of_transposed_operands(m: int, n: int, k: int) -> None:
    a, b = random(m, k), random(k, n)
    wanted, found = np.zeros((m, n), np.float32), np.zeros((m, n), np.float32)
    gemm.gemm(a, b, wanted)
    for x, y in ((a.T.copy().T, b), (a, b.T.copy().T), (a.T.copy().T, b.T.copy().T)):
        gemm.gemm(x, y, found)
        np.testing.assert_array_equal(found, wanted)
