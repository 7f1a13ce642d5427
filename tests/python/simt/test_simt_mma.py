# SPDX-License-Identifier: Apache-2.0
"""cuda.mma: products by warps, on the reference interpreter as written and as compiled for GPUs, on the CPU device, and
as PTX that assembles; beside exact sums of products, an oracle of its own."""

from __future__ import annotations

from fractions import Fraction

import ml_dtypes
import numpy as np
import pytest
from simt_run import assemble, message, needs_ptxas, run

from tessera import cuda

F = np.float32
ROWS = [
    (np.float16, (16, 8, 16), F), (np.float16, (16, 8, 8), F), (ml_dtypes.bfloat16, (16, 8, 16), F),
    (ml_dtypes.bfloat16, (16, 8, 8), F), (F, (16, 8, 8), F), (F, (16, 8, 4), F), (np.int8, (16, 8, 32), np.int32),
    (np.uint8, (16, 8, 32), np.int32), (np.int8, (16, 8, 16), np.int32), (np.float64, (8, 8, 4), np.float64),
    (np.float64, (16, 8, 8), np.float64), (np.float64, (16, 8, 4), np.float64),
]  # fmt: skip
NAMES = [f"{np.dtype(dtype).name}-{'x'.join(map(str, shape))}" for dtype, shape, _ in ROWS]


def numbers(rng: np.random.Generator, dtype: type, shape: tuple[int, ...]) -> np.ndarray:
    if np.dtype(dtype).kind in "iu":
        return rng.integers(np.iinfo(dtype).min, np.iinfo(dtype).max, shape, dtype, endpoint=True)
    return rng.standard_normal(shape).astype(dtype)


def tf32(x: np.ndarray) -> np.ndarray:
    """To 10 bits of fraction, to nearest even."""
    bits = x.view(np.uint32).astype(np.uint64)
    return ((bits + 0xFFF + (bits >> 13 & 1)) & 0xFFFFE000).astype(np.uint32).view(F)


def step(x: Fraction, acc: np.generic) -> np.generic:
    """The exact number rounded once to the accumulator's type; half-way cases as Python rounds them."""
    if acc.dtype == np.float64:
        return np.float64(x.numerator / x.denominator)
    near = F(x.numerator / x.denominator)
    some = sorted({near, np.nextafter(near, F(np.inf)), np.nextafter(near, F(-np.inf))})
    return min(some, key=lambda y: (abs(Fraction(float(y)) - x), int(y.view(np.uint32)) & 1))


def product(x: np.ndarray, y: np.ndarray, c: np.ndarray) -> np.ndarray:
    """c + x @ y, k ascending, one rounding for each."""
    if c.dtype == np.int32:
        return c + x.astype(np.int32) @ y.astype(np.int32)
    if x.dtype == F:
        x, y = tf32(x), tf32(y)
    out = c.copy()
    for i, j in np.ndindex(out.shape):
        for k in range(x.shape[1]):
            term = Fraction(float(x[i, k])) * Fraction(float(y[k, j]))
            out[i, j] = step(Fraction(float(out[i, j])) + term, out[i, j])
    return out


def by_warps(shape: tuple[int, int, int], trips: int):
    """A warp for each m rows of x and of out."""
    m, _, k = shape

    def kernel(x, y, out):
        row = cuda.threadIdx.x // 32 * m
        c = cuda.mma.load_c(out, (row, 0), shape)
        for i in range(0, trips * k, k):
            c = cuda.mma.sync(cuda.mma.load_a(x, (row, i), shape), cuda.mma.load_b(y, (i, 0), shape), c)
        cuda.mma.store(out, (row, 0), c, shape)

    return kernel


def arrays(row: tuple, warps: int, trips: int, seed: int = 3) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    dtype, (m, n, k), acc = row
    rng = np.random.default_rng(seed)
    x, y = numbers(rng, dtype, (m * warps, trips * k)), numbers(rng, dtype, (trips * k, n))
    return x, y, rng.integers(-9, 9, (m * warps, n)).astype(acc)


@pytest.mark.parametrize("row", ROWS, ids=NAMES)
def test_sums_are_those_of_fused_steps(row: tuple) -> None:
    """The interpreter, as written and as compiled for an sm_90, and the CPU device: the same bits."""
    kernel = by_warps(row[1], 2)
    x, y, c = arrays(row, 1, 2)
    wanted = product(x, y, c)
    for target in (0, 90):
        out = c.copy()
        run(kernel, x, y, out, block=(32,), target=target)
        np.testing.assert_array_equal(out, wanted, err_msg=str(target))
    cuda.jit(kernel)[1, 32](x, y, c)
    np.testing.assert_array_equal(c, wanted)


@pytest.mark.parametrize("row", [ROWS[0], ROWS[5], ROWS[7], ROWS[9]], ids=lambda row: np.dtype(row[0]).name)
def test_warps_of_a_block(row: tuple) -> None:
    """A number of warps that is no power of two; strides of all kinds."""
    kernel = by_warps(row[1], 1)
    x, y, c = arrays(row, 3, 1)
    wanted = product(x, y, c)
    wide = np.zeros((c.shape[0], 2 * c.shape[1]), c.dtype)
    wide[:, ::2] = c
    cuda.jit(kernel)[1, 96](np.asfortranarray(x), y.T.copy().T, wide[:, ::2])
    np.testing.assert_array_equal(wide[:, ::2], wanted)


def test_the_block_as_one_tile() -> None:
    """A barrier that threads which returned do not come to: on a CPU all warps are one tile."""
    shape = (16, 8, 16)

    def kernel(x, y, out):
        if cuda.threadIdx.x >= 64:
            return
        shared = cuda.shared.array((32, 16), np.float16)
        t = cuda.threadIdx.x
        for i in range(8):
            shared[t // 2, t % 2 * 8 + i] = x[t // 2, t % 2 * 8 + i]
        cuda.syncthreads()
        row = 16 - t // 32 * 16
        c = cuda.mma.sync(
            cuda.mma.load_a(shared, (row, 0), shape), cuda.mma.load_b(y, (0, 0), shape), (0, 0, 0, 0)
        )
        cuda.mma.store(out, (row, 0), c, shape)

    x, y, c = arrays(ROWS[0], 2, 1)
    wanted = product(x, y, np.zeros_like(c))
    cuda.jit(kernel)[1, 96](x, y, c)
    np.testing.assert_array_equal(c, wanted)


def test_a_matrix_product_through_shared_memory() -> None:
    """Four warps of a block, tiles of 32 x 32, beside float64."""
    shape = (16, 8, 16)

    @cuda.jit
    def kernel(x, y, out):
        left = cuda.shared.array((32, 32), np.float16)
        right = cuda.shared.array((32, 32), np.float16)
        t, warp = cuda.threadIdx.x, cuda.threadIdx.x // 32
        row, column = cuda.blockIdx.y * 32, cuda.blockIdx.x * 32
        m, n = warp // 2 * 16, warp % 2 * 16
        c0 = c1 = (np.float32(0),) * 4
        for k in range(0, x.shape[1], 32):
            for i in range(t, 1024, 128):
                left[i // 32, i % 32] = x[row + i // 32, k + i % 32]
                right[i // 32, i % 32] = y[k + i // 32, column + i % 32]
            cuda.syncthreads()
            for i in range(0, 32, 16):
                a = cuda.mma.load_a(left, (m, i), shape)
                c0 = cuda.mma.sync(a, cuda.mma.load_b(right, (i, n), shape), c0)
                c1 = cuda.mma.sync(a, cuda.mma.load_b(right, (i, n + 8), shape), c1)
            cuda.syncthreads()
        cuda.mma.store(out, (row + m, column + n), c0, shape)
        cuda.mma.store(out, (row + m, column + n + 8), c1, shape)

    rng = np.random.default_rng(5)
    x, y = rng.standard_normal((64, 96)).astype(np.float16), rng.standard_normal((96, 128)).astype(np.float16)
    out = np.zeros((64, 128), F)
    kernel[(4, 2), 128](x, y, out)
    np.testing.assert_allclose(out, x.astype(np.float64) @ y.astype(np.float64), atol=1e-4)


@needs_ptxas
@pytest.mark.parametrize("target", [80, 89, 90, 100, 120])
def test_it_assembles(target: int, tmp_path) -> None:
    for row in ROWS:
        if row[1] in ((16, 8, 8), (16, 8, 4)) and row[0] is np.float64 and target < 90:
            continue
        text = assemble(by_warps(row[1], 2), arrays(row, 1, 2), target, tmp_path)
        assert f"mma.sync.aligned.m{row[1][0]}n{row[1][1]}k{row[1][2]}.row.col" in text


def test_blocks_of_parts_of_warps_are_refused() -> None:
    kernel = cuda.jit(by_warps((16, 8, 16), 1))
    x, y, c = arrays(ROWS[0], 1, 1)
    for block in (1, 16, (8, 6)):
        with pytest.raises(ValueError, match="a multiple of 32 threads"):
            kernel[1, block](x, y, c)


X = np.zeros((16, 16), np.float16)


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda x: cuda.mma.sync(1, 2, 3), "a fragment: a tuple of numbers"),
        (lambda x: cuda.mma.sync((x[0, 0],) * 3, (x[0, 0],) * 4, (0,) * 4), "no tensor core multiplies such fragments"),
        (lambda x: cuda.mma.sync((x[0, 0],) * 8, (x[0, 0],) * 4, (x[0, 0],) * 4), "c is float32"),
        (lambda x: cuda.mma.sync((x[0, 0], np.float32(1)), (x[0, 0],), (0,) * 4), "all of one dtype"),
        (lambda x: cuda.mma.load_a(x, (0, 0), (16, 16, 16)), "the shapes are (16, 8, 16) of float16"),
        (lambda x: cuda.mma.load_a(x, (0, 0), 16), "the shape (m, n, k) of a product"),
        (lambda x: cuda.mma.load_a(x[0], (0, 0), (16, 8, 16)), "an array of numbers with two axes"),
        (lambda x: cuda.mma.load_b(x, 0, (16, 8, 16)), "the index of the first element, (row, column)"),
        (lambda x: cuda.mma.store(x, (0, 0), (0, 0), (16, 8, 16)), "the fragment has 2 numbers, a lane of this shape"),
    ],
)
def test_refusals(call, says: str) -> None:
    function = cuda.jit(device=True)(call)

    def kernel(x):
        function(x)

    assert says in message(kernel, X)


def test_lanes_that_count_from_the_end() -> None:
    """Half of the lanes have negative indices in the loop around the product: all of them take part in it."""

    def kernel(x, out, trips):
        lane = cuda.threadIdx.x
        c = cuda.mma.load_c(out, (0, 0), (8, 8, 4))
        for i in range(trips):
            part = x[lane - 16 + i]
            c = cuda.mma.sync((part,), (part,), c)
        cuda.mma.store(out, (0, 0), c, (8, 8, 4))

    x = np.random.default_rng(5).standard_normal(64)
    wanted, out = np.zeros((8, 8)), np.zeros((8, 8))
    run(kernel, x, wanted, 3, block=(32,))
    cuda.jit(kernel)[1, 32](x, out, 3)
    np.testing.assert_array_equal(out, wanted)
