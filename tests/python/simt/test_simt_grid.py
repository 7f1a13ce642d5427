# SPDX-License-Identifier: Apache-2.0
"""Barriers of all blocks of a launch, by the reference interpreter: as written, and as the counter that a GPU gets."""

from __future__ import annotations

import numpy as np
import pytest
from simt_run import LowerError, cuda, ir, message, run


def shift(x, out, rounds):
    i = cuda.grid(1)
    n = cuda.gridsize(1)
    g = cuda.cg.this_grid()
    for _ in range(rounds):
        v = x[(i + 33) % n]
        g.sync()
        x[i] = v + 1
        g.sync()
    out[i] = x[n - 1 - i]


def parted(x, out):
    t = cuda.grid(1)
    x[t] = t
    if cuda.blockIdx.x < 2:
        cuda.cg.this_grid().sync()
        out[t] = x[cuda.gridsize(1) - 1 - t] if cuda.blockIdx.x == 0 else x[t]
    else:
        cuda.cg.this_grid().sync()
        out[t] = x[0]


@pytest.mark.parametrize("schedule", [0, 1, 7])
@pytest.mark.parametrize("target", [0, 90])
def test_all_blocks_wait_for_each_other(target: int, schedule: int) -> None:
    x, out = np.arange(5 * 40), np.zeros(5 * 40, "i8")
    wanted = np.roll(x, -33 * 3) + 3
    run(shift, x, out, 3, grid=(5,), block=(40,), target=target, schedule=schedule)
    np.testing.assert_array_equal(out, wanted[::-1])


@pytest.mark.parametrize("target", [0, 90])
def test_blocks_may_meet_at_different_places(target: int) -> None:
    x, out = np.zeros(96, "i8"), np.zeros(96, "i8")
    run(parted, x, out, grid=(3,), block=(32,), target=target)
    np.testing.assert_array_equal(out, [*range(95, 63, -1), *range(32, 64), *[0] * 32])


def named_only(out):
    cuda.cg.this_grid()
    out[cuda.grid(1)] = 1


def test_the_group_alone_waits_for_nothing() -> None:
    out = np.zeros(64)
    run(named_only, out, grid=(2,), block=(32,), target=90)
    assert out.all() and "grid_sync asks" in ir(named_only, out)


def in_clusters(x, out):
    g = cuda.cg.this_cluster()
    n = g.num_blocks()
    i = cuda.grid(1)
    x[i] = 100 * g.block_rank() + n
    g.sync()
    first = (cuda.blockIdx.x // n) * n * cuda.blockDim.x
    out[i] = x[first + (i - first + cuda.blockDim.x) % (n * cuda.blockDim.x)]


@pytest.mark.parametrize("size", [1, 2, 4])
@pytest.mark.parametrize("target", [0, 90])
def test_blocks_of_a_cluster_wait_for_each_other(target: int, size: int) -> None:
    x, out = np.zeros(8 * 40, "i8"), np.zeros(8 * 40, "i8")
    run(in_clusters, x, out, grid=(8,), block=(40,), target=target, cluster=(size, 1, 1))
    rank = np.arange(8) % size
    wanted = 100 * ((rank + 1) % size) + size
    np.testing.assert_array_equal(out.reshape(8, 40), np.broadcast_to(wanted[:, None], (8, 40)))


def test_refusals() -> None:
    def not_a_group(x):
        cuda.cg.GridGroup.sync(x)

    def of_a_grid(x):
        x[0] = cuda.cg.this_grid().block_rank()

    def no_such_method(x):
        cuda.cg.this_grid().size()

    x = np.zeros(2)
    assert "a group of threads" in message(not_a_group, x)
    assert "the group of a cluster" in message(of_a_grid, x)
    assert "a group of threads has no attribute 'size'" in message(no_such_method, x)
    with pytest.raises(LowerError, match="up to 256 of them together"):
        run(named_only, np.zeros(300), grid=(300,))
