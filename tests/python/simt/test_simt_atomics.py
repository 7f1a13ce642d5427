# SPDX-License-Identifier: Apache-2.0
"""Atomics of threads on the CPU device: every operation in shared and in global memory, for all threads and for some,
many at one address, and what was there before."""

from __future__ import annotations

import numpy as np
import pytest

from tessera import cuda

INTS = ["int32", "uint32", "int64", "uint64"]
OPS = {
    "add": np.add, "max": np.maximum, "min": np.minimum, "and_": np.bitwise_and, "or_": np.bitwise_or,
    "xor": np.bitwise_xor,
}  # fmt: skip


def kernel_of(op: object, dtype: np.dtype, shared: bool, some: bool) -> cuda.Dispatcher:
    def kernel(x, at, out, old):
        s = cuda.shared.array(8, dtype)
        t = cuda.threadIdx.x
        if shared:
            if t < 8:
                s[t] = out[t]
            cuda.syncthreads()
            if not some or t % 3 == 1:
                old[t] = op(s, at[t], x[t])
            cuda.syncthreads()
            if t < 8:
                out[t] = s[t]
        elif not some or t % 3 == 1:
            old[t] = op(out, at[t], x[t])

    return cuda.jit(kernel)


@pytest.mark.parametrize("some", [False, True])
@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize(
    "name, dtype",
    [(o, d) for o in OPS for d in INTS] + [(o, d) for o in ("add", "max", "min") for d in ("float32", "float64")],
)  # fmt: skip
def test_operations(name: str, dtype: str, shared: bool, some: bool) -> None:
    rng = np.random.default_rng(7)
    n, d = 96, np.dtype(dtype)
    x = (rng.integers(0, 2**31, n) - (0 if d.kind == "u" else 2**30)).astype(d)
    at, out, old = rng.integers(0, 8, n), rng.integers(0, 2**20, 8).astype(d), np.zeros(n, d)
    wanted, before = out.copy(), np.zeros(n, d)
    for t in range(n):
        if not some or t % 3 == 1:
            before[t] = wanted[at[t]]
            wanted[at[t]] = OPS[name](wanted[at[t]], x[t])
    kernel_of(getattr(cuda.atomic, name), d, shared, some)[1, n](x, at, out, old)
    np.testing.assert_array_equal(out, wanted)
    np.testing.assert_array_equal(old, before)


@pytest.mark.parametrize("dtype", ["int32", "int64", "uint64"])
def test_exchange_and_compare(dtype: str) -> None:
    @cuda.jit
    def kernel(out, old, got):
        t = cuda.threadIdx.x
        old[t] = cuda.atomic.exch(out, 0, t + 1)
        if t % 2:
            got[t] = cuda.atomic.cas(out, 1, t - 1, t + 1)

    out, old, got = np.zeros(2, dtype), np.zeros(40, dtype), np.full(40, 99, dtype)
    kernel[1, 40](out, old, got)
    assert out.tolist() == [40, 40]
    np.testing.assert_array_equal(old, np.arange(40))
    np.testing.assert_array_equal(got, [99 if t % 2 == 0 else t - 1 for t in range(40)])


@pytest.mark.parametrize("shared", [False, True])
def test_counts_of_all_blocks(shared: bool) -> None:
    @cuda.jit
    def kernel(x, out):
        s = cuda.shared.array(16, np.int32)
        t = cuda.threadIdx.x
        if shared:
            if t < 16:
                s[t] = 0
            cuda.syncthreads()
            for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
                cuda.atomic.add(s, x[i], 1)
            cuda.syncthreads()
            if t < 16:
                cuda.atomic.add(out, t, s[t])
        else:
            for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
                cuda.atomic.add(out, x[i], 1)

    x, out = np.random.default_rng(3).integers(0, 16, 5001), np.zeros(16, np.int32)
    kernel[7, 100](x, out)
    np.testing.assert_array_equal(out, np.bincount(x, minlength=16))
