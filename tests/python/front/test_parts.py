# SPDX-License-Identifier: Apache-2.0
"""Parts of tiles that threads have in registers, and operands that stay in shared memory for the next product: complex
products of pairs, as thread code."""

import numpy as np
import pytest
import tessera.tile as ct
from lower import Const, run

TARGETS = [80, 90, 120]


def pairs(x, real, imag, N: ct.Constant[int]):
    t = ct.load(x, index=(ct.bid(0), 0, 0), shape=(1, N, 2))
    ct.store(real, index=(ct.bid(0), 0), tile=ct.reshape(ct.extract(t, index=(0, 0, 0), shape=(1, N, 1)), (1, N)))
    ct.store(imag, index=(ct.bid(0), 0), tile=ct.reshape(ct.extract(t, index=(0, 0, 1), shape=(1, N, 1)), (1, N)))


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int8"])
@pytest.mark.parametrize("n", [2, 32, 256, 2048])
def test_parts_of_pairs(n, dtype):
    x = np.random.default_rng(n).integers(-99, 99, (2, n, 2)).astype(dtype)
    real, imag = np.zeros((2, n), dtype), np.zeros((2, n), dtype)
    run(pairs, x, real, imag, Const(n), grid=(2, 1, 1), target=90, facts=True)
    assert np.array_equal(real, x[:, :, 0]) and np.array_equal(imag, x[:, :, 1])


def quarters(x, out, ROW: ct.Constant[int], COL: ct.Constant[int]):
    t = ct.load(x, index=(0, 0), shape=(64, 64))
    ct.store(out, index=(0, 0), tile=ct.extract(t * 2, index=(ROW, COL), shape=(16, 8)))


@pytest.mark.parametrize("row", range(4))
@pytest.mark.parametrize("col", [0, 1, 5, 7])
def test_parts_along_several_axes(row, col):
    x = np.arange(4096, dtype=np.float32).reshape(64, 64)
    out = np.zeros((16, 8), np.float32)
    run(quarters, x, out, Const(row), Const(col), target=90, facts=True)
    assert np.array_equal(out, 2 * x[16 * row : 16 * row + 16, 8 * col : 8 * col + 8])


def complex_product(w, x, y, M: ct.Constant[int], N: ct.Constant[int]):
    """y = w @ x of pairs, in four products of which each two share an operand."""
    a = ct.load(w, index=(0, 0, 0), shape=(M, M, 2))
    b = ct.load(x, index=(ct.bid(0), 0, 0, 0), shape=(1, M, N, 2))
    ar = ct.reshape(ct.extract(a, index=(0, 0, 0), shape=(M, M, 1)), (1, M, M))
    ai = ct.reshape(ct.extract(a, index=(0, 0, 1), shape=(M, M, 1)), (1, M, M))
    br = ct.reshape(ct.extract(b, index=(0, 0, 0, 0), shape=(1, M, N, 1)), (1, M, N))
    bi = ct.reshape(ct.extract(b, index=(0, 0, 0, 1), shape=(1, M, N, 1)), (1, M, N))
    real, imag = ct.matmul(ar, br) - ct.matmul(ai, bi), ct.matmul(ai, br) + ct.matmul(ar, bi)
    both = ct.cat((ct.reshape(real, (1, M, N, 1)), ct.reshape(imag, (1, M, N, 1))), axis=-1)
    ct.store(y, index=(ct.bid(0), 0, 0, 0), tile=both.astype(y.dtype))


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("m, n", [(16, 16), (16, 64), (32, 32), (16, 256)])
@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_products_that_share_operands(m, n, dtype, target):
    random = np.random.default_rng(m * n)
    w, x = (random.integers(-4, 5, shape).astype(dtype) for shape in ((m, m, 2), (2, m, n, 2)))
    y = np.zeros((2, m, n, 2), np.float32)
    run(complex_product, w, x, y, Const(m), Const(n), grid=(2, 1, 1), target=target, facts=True)
    wanted = (w[..., 0] + 1j * w[..., 1]) @ (x[..., 0] + 1j * x[..., 1])
    assert np.array_equal(y[..., 0] + 1j * y[..., 1], wanted)


def powers(x, out, N: ct.Constant[int]):
    """The same tile on both sides, then on one, then behind a branch."""
    t = ct.load(x, index=(0, 0), shape=(N, N))
    square = ct.matmul(t, t)
    cube = ct.matmul(square.astype(t.dtype), t)
    if ct.bid(0) == 0:
        cube = cube + ct.matmul(t, t).astype(cube.dtype)
    ct.store(out, index=(ct.bid(0), 0, 0), tile=ct.reshape(cube.astype(out.dtype), (1, N, N)))


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("schedule", range(3))
def test_one_tile_in_several_products(target, schedule):
    x = np.random.default_rng(1).integers(-2, 3, (32, 32)).astype(np.float16)
    out = np.zeros((2, 32, 32), np.float32)
    run(powers, x, out, Const(32), grid=(2, 1, 1), target=target, facts=True, schedule=schedule)
    t = x.astype(np.float32)
    assert np.array_equal(out, [t @ t @ t + t @ t, t @ t @ t])
