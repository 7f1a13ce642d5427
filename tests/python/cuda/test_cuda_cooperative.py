# SPDX-License-Identifier: Apache-2.0
"""Kernels whose blocks wait for each other, on the CPU device."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from tessera import cuda

MOST = 1024  # blocks at once


@cuda.jit(launch_bounds=256)
def rows(m):
    """Each row is made of the one before, turned around; as the example of numba's documentation."""
    col = cuda.grid(1)
    g = cuda.cg.this_grid()
    n = m.shape[1]
    for row in range(1, m.shape[0]):
        m[row, col] = m[row - 1, n - 1 - col] + col
        g.sync()


def rows_of(n_rows: int, n: int) -> np.ndarray:
    m = np.zeros((n_rows, n), "i8")
    for row in range(1, n_rows):
        m[row] = m[row - 1, ::-1] + np.arange(n)
    return m


@pytest.mark.parametrize("blocks,threads", [(1, 96), (3, 32), (12, 8), (2, 48), (96, 1)])
def test_rows(blocks: int, threads: int) -> None:
    m = np.zeros((20, 96), "i8")
    rows[blocks, threads](m)
    np.testing.assert_array_equal(m, rows_of(20, 96))


@cuda.jit
def sums(x, part, out):
    """A tree in each block's shared memory, and one over the blocks, in one launch."""
    s = cuda.shared.array(64, np.float64)
    t = cuda.threadIdx.x
    s[t] = x[cuda.grid(1)]
    cuda.syncthreads()
    step = 32
    while step:
        if t < step:
            s[t] += s[t + step]
        cuda.syncthreads()
        step //= 2
    if t == 0:
        part[cuda.blockIdx.x] = s[0]
    cuda.cg.this_grid().sync()
    if t < 2:
        total = 0.0
        for i in range(cuda.gridDim.x):
            total += part[i]
        out[cuda.blockIdx.x, t] = total + s[0]


def test_shared_memory_stays_over_the_barrier_and_values_too() -> None:
    x, part, out = np.arange(7 * 64.0), np.zeros(7), np.zeros((7, 2))
    sums[7, 64](x, part, out)
    own = x.reshape(7, 64).sum(1)
    np.testing.assert_array_equal(out, (own + x.sum())[:, None].repeat(2, 1))


@cuda.jit
def leaves_early(x, out):
    b = cuda.blockIdx.x
    if b >= x.size:
        return
    x[b] = b + 1
    cuda.cg.this_grid().sync()
    out[b] = x[(b + 1) % x.size]


def test_blocks_that_end_are_not_waited_for() -> None:
    x, out = np.zeros(5), np.zeros(5)
    leaves_early[9, 1](x, out)
    np.testing.assert_array_equal(out, [2, 3, 4, 5, 1])


@cuda.jit
def prints():
    print("block", cuda.blockIdx.x)
    cuda.cg.this_grid().sync()


def test_prints_come_in_the_order_of_blocks(capfd: pytest.CaptureFixture[str]) -> None:
    prints[4, 1]()
    cuda.synchronize()
    assert capfd.readouterr().out == "".join(f"block {i}\n" for i in range(4))


def test_streams_and_threads_launch_side_by_side() -> None:
    results: dict[int, np.ndarray] = {}

    def work(i: int) -> None:
        m = cuda.to_device(np.zeros((30, 64), "i8"))
        stream = cuda.stream()
        rows[4, 16, stream](m)
        stream.synchronize()
        results[i] = m.copy_to_host()

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for m in results.values():
        np.testing.assert_array_equal(m, rows_of(30, 64))
    assert len(results) == 4


def test_more_blocks_than_run_at_once_are_refused() -> None:
    with pytest.raises(ValueError, match=rf"runs {MOST} of them at once, not 1025 x 1 x 1; launch fewer"):
        rows[MOST + 1, 1](np.zeros((2, MOST + 1), "i8"))


@cuda.jit
def in_clusters(x, out):
    g = cuda.cg.this_cluster()
    t = cuda.threadIdx.x
    x[cuda.grid(1)] = t + g.block_rank()
    g.sync()
    out[cuda.grid(1)] = x[cuda.blockIdx.x * cuda.blockDim.x + cuda.blockDim.x - 1 - t] * g.num_blocks()


def test_a_block_is_a_cluster_on_the_cpu() -> None:
    x, out = np.zeros(3 * 70), np.zeros(3 * 70)
    in_clusters[3, 70](x, out)
    np.testing.assert_array_equal(out.reshape(3, 70), np.broadcast_to(np.arange(70)[::-1], (3, 70)))


@cuda.jit
def plain(out):
    out[cuda.grid(1)] = 1


def test_what_is_known_of_such_kernels() -> None:
    rows[1, 4](np.zeros((2, 4), "i8"))
    plain[1, 4](np.zeros(4))
    assert all(overload.cooperative for overload in rows.overloads.values())
    assert not any(overload.cooperative for overload in plain.overloads.values())
    overload = next(iter(rows.overloads.values()))
    assert overload.max_cooperative_grid_blocks(256) == overload.max_cooperative_grid_blocks((16, 4, 4)) == MOST
