# SPDX-License-Identifier: Apache-2.0
"""Ranges whose step is a number of threads or of blocks: counted without a division, and their numbers are seen not to
be negative, so that arrays are read as neighbours."""

from __future__ import annotations

import numpy as np
import pytest
from simt_run import ir, run

from tessera import cuda

MOST = 2**63 - 1


def stride(x, n, out):
    total = 0
    for i in range(cuda.grid(1), n, cuda.gridsize(1)):
        total += x[i]
    out[cuda.grid(1)] = total


def tiles(x, n, out):
    t = cuda.threadIdx.x
    s = cuda.shared.array(32, np.int64)
    for tile in range(cuda.blockIdx.x, n // 32, cuda.gridDim.x):
        s[t] = x[tile * 32 + t]
        cuda.syncthreads()
        out[tile * 32 + t] = s[31 - t]
        cuda.syncthreads()


@pytest.mark.parametrize("kernel", [stride, tiles])
def test_is_counted_without_a_division(kernel: object) -> None:
    x = np.zeros(64, np.int64)
    text = ir(kernel, x, 64, x)
    assert "for unsigned" in text and "divi rz unsigned" not in text


def test_no_index_counts_from_the_end() -> None:
    x = np.zeros(64, np.int64)
    assert "select" not in ir(stride, x, 64, x)


@pytest.mark.parametrize("block", [(1, 1), (32, 1), (96, 1)])
@pytest.mark.parametrize("n", [-5, 0, 1, 31, 64, 1000])
def test_sums(n: int, block: tuple[int, int]) -> None:
    x, out = np.arange(1000) ** 2, np.zeros(2 * block[0], np.int64)
    wanted = [x[i : max(n, 0) : out.size].sum() for i in range(out.size)]
    cuda.jit(stride)[2, block](x, n, out)
    np.testing.assert_array_equal(out, wanted)
    out[:] = 0
    run(stride, x, n, out, grid=(2,), block=block)
    np.testing.assert_array_equal(out, wanted)


def test_tiles() -> None:
    x, out = np.arange(7 * 32), np.zeros(7 * 32, np.int64)
    cuda.jit(tiles)[3, 32](x, x.size, out)
    np.testing.assert_array_equal(out, x.reshape(7, 32)[:, ::-1].ravel())


def last(first, stop, out):
    """Ends at the greatest numbers of 64 bits, where a step past the stop is beyond them."""
    for i in range(first & 0x7FFFFFFFFFFFFFFF, stop, cuda.gridsize(1)):
        if cuda.grid(1) == 0:
            out[0] += 1
            out[1] = i


def last_left(first, stop, out):
    for i in range(first & 0x7FFFFFFFFFFFFFFF, stop, cuda.gridsize(1)):
        if out[0] == 50:
            break
        if cuda.grid(1) == 0:
            out[0] += 1
            out[1] = i


@pytest.mark.parametrize("kernel", [last, last_left])
@pytest.mark.parametrize("stop", [MOST, MOST - 1, -MOST - 1, 2**62])
@pytest.mark.parametrize("target", [0, 90, None])
def test_ends_at_the_greatest_number(kernel: object, stop: int, target: int | None) -> None:
    first, out = MOST - 130, np.zeros(2, np.int64)
    turns = range(first, stop, 64)
    if target is None:
        cuda.jit(kernel)[2, 32](first, stop, out)
    else:
        run(kernel, first, stop, out, grid=(2,), block=(32,), target=target)
    assert out.tolist() == [len(turns), turns[-1] if turns else 0]
