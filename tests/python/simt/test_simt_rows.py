# SPDX-License-Identifier: Apache-2.0
"""Kernels of threads on the CPU device whose blocks lie across rows of arrays: every thread runs once, with its own
numbers, whatever the shapes of block and grid; bounds of what they compare; neighbours in guarded stencils."""

from __future__ import annotations

import numpy as np
import pytest

from tessera import cuda

SHAPES = [
    ((32, 8), (3, 5)), ((16, 16), (5, 2)), ((8, 4), (7, 3)), ((64, 4), (2, 3)), ((5, 13), (6, 4)), ((1, 70), (9, 2)),
    ((32, 2, 3), (2, 3, 4)), ((4, 4, 8), (300, 1, 2)), ((33, 3), (2, 2)), ((256,), (5,)),
]  # fmt: skip


@cuda.jit
def numbers(out):
    at = (cuda.blockIdx.z * cuda.gridDim.y + cuda.blockIdx.y) * cuda.gridDim.x + cuda.blockIdx.x
    t = (cuda.threadIdx.z * cuda.blockDim.y + cuda.threadIdx.y) * cuda.blockDim.x + cuda.threadIdx.x
    cuda.atomic.add(out, (at, t), at * 10000 + t)


@pytest.mark.parametrize("block, grid", SHAPES)
def test_threads_run_once(block: tuple[int, ...], grid: tuple[int, ...]) -> None:
    out = np.zeros((np.prod(grid), np.prod(block)), np.int64)
    numbers[grid, block](out)
    wanted = np.arange(out.shape[0])[:, None] * 10000 + np.arange(out.shape[1])
    np.testing.assert_array_equal(out, wanted)


@cuda.jit
def compare(n, out):
    x, y = cuda.grid(2)
    if y < out.shape[1] and x < out.shape[2]:
        out[0, y, x] = x < n
        out[1, y, x] = x <= n
        out[2, y, x] = n < x
        out[3, y, x] = x >= n
        out[4, y, x] = x - 40 > n
        out[5, y, x] = n >= 7 - x + y
        out[6, y, x] = np.int32(x) + np.int32(3) == n


@pytest.mark.parametrize(
    "n", [0, 1, 31, 32, 33, 63, 64, 100, -1, -9, 2**31, 2**62, -(2**62), 2**63 - 1, -(2**63)]
)
@pytest.mark.parametrize("block", [(32, 4), (64, 2), (16, 4)])
def test_comparisons(n: int, block: tuple[int, int]) -> None:
    out = np.full((7, 9, 100), -1, np.int8)
    compare[(-(-100 // block[0]), -(-9 // block[1])), block](n, out)
    x, y = np.arange(100)[None, :].repeat(9, 0), np.arange(9)[:, None]
    wanted = [x < n, x <= n, n < x, x >= n, x - 40 > n, n >= 7 - x + y, x + 3 == n]
    np.testing.assert_array_equal(out, np.stack(wanted).astype(np.int8))


@cuda.jit
def guarded(u, out):
    x, y = cuda.grid(2)
    if 0 < y < u.shape[0] - 1 and 0 < x < u.shape[1] - 1:
        out[y, x] = u[y - 1, x] + 2 * u[y + 1, x] + 3 * u[y, x - 1] + 4 * u[y, x + 1]


@cuda.jit
def returning(u, out):
    x, y = cuda.grid(2)
    if x < 1 or y < 1 or x >= u.shape[1] - 1 or y >= u.shape[0] - 1:
        return
    out[y, x] = u[y - 1, x] + 2 * u[y + 1, x] + 3 * u[y, x - 1] + 4 * u[y, x + 1]


@cuda.jit
def around(u, out):
    """Without a guard: indices below 0 count from the end."""
    x, y = cuda.grid(2)
    if y < u.shape[0] - 1 and x < u.shape[1] - 1:
        out[y, x] = u[y - 1, x] + 2 * u[y + 1, x] + 3 * u[y, x - 1] + 4 * u[y, x + 1]


@pytest.mark.parametrize("kernel", [guarded, returning, around])
@pytest.mark.parametrize("shape", [(70, 100), (9, 32), (33, 257), (3, 3), (2, 40)])
@pytest.mark.parametrize("block", [(32, 8), (16, 4), (128, 1)])
def test_neighbours(
    kernel: cuda.Dispatcher, shape: tuple[int, int], block: tuple[int, int]
) -> None:
    u = np.arange(shape[0] * shape[1], dtype=np.int64).reshape(shape) ** 2 % 1009
    out = np.full(shape, -1, np.int64)
    kernel[(-(-shape[1] // block[0]), -(-shape[0] // block[1])), block](u, out)
    wanted = np.full(shape, -1, np.int64)
    first = 0 if kernel is around else 1
    for y in range(first, shape[0] - 1):
        for x in range(first, shape[1] - 1):
            wanted[y, x] = u[y - 1, x] + 2 * u[y + 1, x] + 3 * u[y, x - 1] + 4 * u[y, x + 1]
    np.testing.assert_array_equal(out, wanted)


@cuda.jit
def leaves_early(out, most):
    x, y = cuda.grid(2)
    n = 0
    while True:
        n += 1
        if n > x + y:
            break
        if n >= most:
            out[y, x] = -n
            return
    out[y, x] = n


def test_loops_and_returns_in_rows() -> None:
    out = np.zeros((16, 64), np.int64)
    leaves_early[(2, 2), (32, 8)](out, 40)
    n = np.arange(64)[None, :] + np.arange(16)[:, None] + 1
    np.testing.assert_array_equal(out, np.where(n > 40, -40, n))
