# SPDX-License-Identifier: Apache-2.0
"""Blocks of one thread on the CPU device: programs with loops, which LLVM optimises as such."""

from __future__ import annotations

import numpy as np
import pytest

from tessera import cuda


@cuda.jit
def shifted(x, first, stop, by, out):
    """Indices below 0 count from the end, in some turns or in all."""
    for i in range(first, stop):
        out[i - first] = x[i + by] + x[2 * i]


@pytest.mark.parametrize("first, stop", [(0, 100), (-60, 40), (-90, -5), (3, 3), (7, 2)])
@pytest.mark.parametrize("by", [0, 5, -3])
def test_indices_of_both_signs(first: int, stop: int, by: int) -> None:
    x, out = np.arange(200) ** 2, np.zeros(100, np.int64)
    shifted[1, 1](x, first, stop, by, out)
    wanted = [x[i + by] + x[2 * i] for i in range(first, stop)]
    np.testing.assert_array_equal(out[: len(wanted)], wanted)
    assert not out[len(wanted) :].any()


@cuda.jit
def warps(x, first, stop, out):
    t = cuda.threadIdx.x
    total = 0
    for i in range(first, stop):
        total += x[i * 3 + t - 16]
    out[t] = total


@pytest.mark.parametrize("block", [1, 16, 32, 70])
@pytest.mark.parametrize("first, stop", [(0, 9), (6, 20), (-20, 3)])
def test_indices_of_lanes(first: int, stop: int, block: int) -> None:
    x, out = np.arange(200) ** 2, np.zeros(block, np.int64)
    warps[1, block](x, first, stop, out)
    np.testing.assert_array_equal(out, [sum(x[i * 3 + t - 16] for i in range(first, stop)) for t in range(block)])


@cuda.jit
def rows(x, n, m, out):
    total = 0
    for i in range(n):
        for j in range(m):
            if (i + j) % 5 == 3:
                continue
            total += x[i, j] * x[i - 1, m - 1 - j]
    out[0] = total


def test_loops_in_loops() -> None:
    x, out = np.arange(12 * 70).reshape(12, 70) % 13, np.zeros(1, np.int64)
    rows[1, 1](x, 12, 70, out)
    i, j = np.indices(x.shape)
    wanted = x * np.roll(x, 1, 0)[:, ::-1]
    assert out[0] == wanted[(i + j) % 5 != 3].sum()


@cuda.jit
def counted(start, stop, step, out):
    last = 0
    for i in range(start, stop, step):
        out[0] += 1
        last = i
    out[1] = last


@pytest.mark.parametrize(
    "bounds",
    [(0, 65536, 1), (0, 65537, 1), (5, 200_003, 1), (-70_000, 70_000, 1), (0, 300_000, 7), (200_000, 3, -1),
     (2**63 - 66_000, 2**63 - 1, 1), (-(2**63), -(2**63) + 66_000, 1), (2**63 - 1, -(2**63), 1), (4, 4, 1)],
)  # fmt: skip
def test_many_turns(bounds: tuple[int, int, int]) -> None:
    """More than those that are made at once between two looks at whether the kernel is to end."""
    out, turns = np.zeros(2, np.int64), range(*bounds)
    counted[1, 1](*bounds, out)
    assert out.tolist() == [len(turns), turns[-1] if turns else 0]


@cuda.jit
def fixed(n, out):
    for i in range(3, n, 5):
        out[0] += i
    for j in range(n, 3, -5):
        out[1] += j


@pytest.mark.parametrize("n", [0, 4, 99, 327_682, 400_000])
def test_fixed_steps(n: int) -> None:
    out = np.zeros(2, np.int64)
    fixed[1, 1](n, out)
    assert out.tolist() == [sum(range(3, n, 5)), sum(range(n, 3, -5))]


@cuda.jit
def search(x, wanted, out):
    c = cuda.blockIdx.x
    for i in range(x.shape[1]):
        if x[c, i] == wanted:
            out[c] = i
            return
    k = 0
    while True:
        k += 1
        if k >= 100_000 + c:
            break
    out[c] = -k


def test_returns_and_breaks_out_of_loops() -> None:
    x, out = np.zeros((3, 70_000), np.int32), np.zeros(3, np.int64)
    x[0, 69_999] = x[2, 3] = 7
    search[3, 1](x, 7, out)
    assert out.tolist() == [69_999, -100_001, 3]


@cuda.jit
def memories(x, out, counts):
    own = cuda.local.array(8, np.int32)
    s = cuda.shared.array(8, np.int32)
    c = cuda.blockIdx.x
    for j in range(8):
        own[j] = 0
        s[j] = 0
    cuda.syncthreads()
    for i in range(c, x.size, cuda.gridDim.x):
        own[x[i]] += 1
        cuda.atomic.add(s, x[i], 2)
        cuda.atomic.max(counts, 0, cuda.atomic.add(counts, 1, 1))
    cuda.syncthreads()
    for j in range(8):
        cuda.atomic.add(out, (0, j), own[j])
        cuda.atomic.add(out, (1, j), s[j])
    if cuda.laneid == 0 and cuda.atomic.cas(counts, 2, c, c + 1) == c:
        cuda.atomic.exch(counts, 3, c)


def test_memories() -> None:
    x, out, counts = np.arange(5000) ** 2 % 8, np.zeros((2, 8), np.int32), np.zeros(4, np.int64)
    memories[3, 1](x, out, counts)
    np.testing.assert_array_equal(out, np.bincount(x, minlength=8) * [[1], [2]])
    assert counts[:2].tolist() == [4999, 5000]


@cuda.jit
def compact(x, out, n):
    k = 0
    for i in range(x.size):
        if x[i] < 0.5:
            out[k] = x[i]
            k += 1
    n[0] = k


def test_compaction() -> None:
    x = np.random.default_rng(5).random(70_001).astype("f4")
    out, n = np.zeros_like(x), np.zeros(1, np.int64)
    compact[1, 1](x, out, n)
    wanted = x[x < 0.5]
    assert n[0] == wanted.size
    np.testing.assert_array_equal(out[: wanted.size], wanted)


@cuda.jit
def running(x, out):
    total = np.float32(0)
    for i in range(x.size):
        total += x[i]
        out[i] = total


def test_no_sum_of_floats_changes_its_order() -> None:
    x = np.random.default_rng(6).random(1000).astype("f4")
    out = np.zeros_like(x)
    running[1, 1](x, out)
    np.testing.assert_array_equal(out, np.add.accumulate(x))


@cuda.jit
def stepping(x, n, out):
    """Counted by `while`, by threads and by one."""
    i = cuda.grid(1)
    turns = 0
    total = 0
    while i < n:
        total += x[i]
        turns += 1
        i += cuda.gridsize(1)
    j = n
    while x.size - 4 > j:
        total += 1000 * x[j - n]
        j += 3
    out[cuda.grid(1)] = total + 1_000_000 * turns


@pytest.mark.parametrize("block", [1, 32, 45])
@pytest.mark.parametrize("n", [-4, 0, 1, 77, 500])
def test_counting_by_while(block: int, n: int) -> None:
    x, out = np.arange(500), np.zeros(2 * block, np.int64)
    stepping[2, block](x, n, out)
    for t in range(out.size):
        own = range(t, n, out.size)
        rest = sum(x[j - n] for j in range(n, x.size - 4, 3))
        assert out[t] == sum(own) + 1000 * rest + 1_000_000 * len(own)
