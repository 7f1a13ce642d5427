# SPDX-License-Identifier: Apache-2.0
"""What kernels name: barriers, exchanges within a warp, atomics, shared and local memory, bits; by the reference
interpreter as written and as compiled for a GPU."""

from __future__ import annotations

import pathlib
import re
from typing import NamedTuple

import numpy as np
import pytest
from simt_run import LowerError, cuda, message, run

from tessera.cuda import bf16
from tessera.cuda._device import parts, whole

ROOT = pathlib.Path(__file__).parents[3]
TARGETS = pytest.mark.parametrize("target", [0, 90])


def test_every_operation_has_a_stub() -> None:
    table = (ROOT / "src/lang/simt/simt_op.def").read_text()
    rows = re.findall(r"^TS_SIMT_OP\((\w+),", table, re.MULTILINE)
    halves = re.findall(r"^HALF\((\w+),", table, re.MULTILINE)
    rows += ["fp16_" + name for name in halves]
    assert all(getattr(bf16, name).__tessera_op__ == "bf16_" + name for name in halves)
    modules = [*(ROOT / "python/tessera/cuda").glob("_device*.py"), ROOT / "python/tessera/cuda/_linking.py"]
    stubs = "".join(path.read_text() for path in modules)
    ops = re.findall(r'(?:_op|_Value)\("(\w+)"', stubs)
    assert {row for row in rows if row != "print" and not row.startswith(("array_", "number_"))} == set(ops)
    assert all(hasattr(cuda, name) for name in cuda.__all__)


def reduce_block(x, out):
    s = cuda.shared.array(64, np.float32)
    t = cuda.threadIdx.x
    s[t] = x[cuda.grid(1)]
    cuda.syncthreads()
    step = 32
    while step > 0:
        if t < step:
            s[t] += s[t + step]
        cuda.syncthreads()
        step //= 2
    if t == 0:
        out[cuda.blockIdx.x] = s[0]


@TARGETS
def test_shared_memory(target: int) -> None:
    x, out = np.arange(128, dtype="f4"), np.zeros(2, "f4")
    run(reduce_block, x, out, grid=(2,), block=(64,), target=target)
    np.testing.assert_array_equal(out, x.reshape(2, 64).sum(1))


def dynamic(x, out):
    n = x.size
    a = cuda.shared.array(0, np.float32)[:n]
    b = cuda.shared.array(0, np.float32)[n : 2 * n]
    t = cuda.threadIdx.x
    a[t] = x[t]
    b[n - 1 - t] = x[t]
    cuda.syncthreads()
    out[t] = a[t] - b[t]


@TARGETS
def test_dynamic_shared_memory(target: int) -> None:
    x, out = np.arange(8, dtype="f4") ** 2, np.zeros(8, "f4")
    run(dynamic, x, out, block=(8,), shared=64, target=target)
    np.testing.assert_array_equal(out, x - x[::-1])


def dynamic_size(out):
    fixed = cuda.shared.array(5, np.float32)
    a = cuda.shared.array(0, np.int16)
    t = cuda.threadIdx.x
    fixed[t] = t
    a[t] = t
    a[-1] = 7
    cuda.syncthreads()
    out[t] = a.size
    if t == 1:
        out[1] = a[19]


@TARGETS
def test_the_size_of_dynamic_shared_memory(target: int) -> None:
    out = np.zeros(4, "i8")
    run(dynamic_size, out, block=(4,), shared=40, target=target)
    assert list(out) == [20, 7, 20, 20]


def local_memory(x, out):
    a = cuda.local.array((2, 3), np.int32)
    i = cuda.threadIdx.x
    for r in range(2):
        for c in range(3):
            a[r, c] = x[i] * (r + 1) + c
    out[i] = a[1, 2] + a[-1, -3]


@TARGETS
def test_local_memory(target: int) -> None:
    x, out = np.arange(4), np.zeros(4, "i8")
    run(local_memory, x, out, block=(4,), target=target)
    np.testing.assert_array_equal(out, 2 * x + 2 + 2 * x)


def warp(x, out, b):
    t = cuda.threadIdx.x
    full = 0xFFFFFFFF
    out[t, 0] = cuda.shfl_sync(full, x[t], 3)
    out[t, 1] = cuda.shfl_up_sync(full, x[t], 1)
    out[t, 2] = cuda.shfl_down_sync(full, x[t], 2)
    out[t, 3] = cuda.shfl_xor_sync(full, x[t], 1)
    b[t, 0] = cuda.ballot_sync(full, x[t] > 10)
    b[t, 1] = cuda.match_any_sync(full, t // 8)
    m, p = cuda.match_all_sync(full, t // 32)
    b[t, 2] = m
    b[t, 3] = p
    b[t, 4] = cuda.any_sync(full, t == 3) + 2 * cuda.all_sync(full, t < 31) + 4 * cuda.eq_sync(full, t < 99)
    b[t, 5] = cuda.lanemask_lt()
    if t < 7:
        b[t, 6] = cuda.activemask()
    if t < 16:
        b[t, 7] = cuda.ballot_sync(0xFFFF, t & 1)
    cuda.syncwarp()
    b[t, 8] = cuda.laneid + cuda.warpsize


@TARGETS
@pytest.mark.parametrize("dtype", ["f4", "f8", "i4", "i8"])
def test_warps(dtype: str, target: int) -> None:
    x, out, b = np.arange(32).astype(dtype), np.zeros((32, 4), dtype), np.zeros((32, 9), "i8")
    run(warp, x, out, b, block=(32,), target=target)
    lane = np.arange(32)
    wanted = np.stack([np.full(32, 3), np.maximum(lane - 1, 0), np.where(lane < 30, lane + 2, lane), lane ^ 1], 1)
    np.testing.assert_array_equal(out, wanted)
    ballot = int(np.int32(np.uint32(0xFFFFF800)))
    assert set(b[:, 0]) == {ballot}
    np.testing.assert_array_equal(b[:, 1].astype("u4"), 0xFF << (lane // 8 * 8))
    assert set(b[:, 2]) == {-1} and set(b[:, 3]) == {1} and set(b[:, 4]) == {5}
    np.testing.assert_array_equal(b[:, 5], (1 << lane) - 1)
    assert set(b[:7, 6]) == {127} and set(b[:16, 7]) == {0xAAAA}
    np.testing.assert_array_equal(b[:, 8], lane + 32)


def halves(x, out):
    t = cuda.threadIdx.x
    mask = 0xFFFF if t < 16 else 0xFFFF0000
    out[t] = cuda.ballot_sync(mask, x[t])


def test_parts_of_a_warp_vote_for_themselves() -> None:
    x, out = np.arange(32) % 3, np.zeros(32, "i8")
    run(halves, x, out, block=(32,))
    bits = sum(1 << i for i in range(32) if x[i])
    assert set(out[:16]) == {bits & 0xFFFF} and set(out[16:].astype("u4")) == {bits & 0xFFFF0000}


def missing(x):
    if cuda.threadIdx.x < 8:
        x[0] = cuda.shfl_sync(0xFFFF, x[0], 0)


def test_missing_lanes_are_reported() -> None:
    with pytest.raises(LowerError, match="here for lanes 0000ffff"):
        run(missing, np.zeros(1), block=(32,))


def counted(x, out):
    t = cuda.threadIdx.x
    out[t, 0] = cuda.syncthreads_count(x[t] > 2)
    out[t, 1] = cuda.syncthreads_and(x[t] >= 0)
    out[t, 2] = cuda.syncthreads_or(x[t] > 100)


@TARGETS
def test_barriers_that_count(target: int) -> None:
    x, out = np.arange(64), np.zeros((64, 3), "i4")
    run(counted, x, out, block=(64,), target=target)
    assert (out == [61, 1, 0]).all()


def atomics(out, old, f, u):
    t = cuda.threadIdx.x
    cuda.atomic.add(out, 0, t)
    cuda.atomic.sub(out, 1, t)
    cuda.atomic.max(out, 2, t)
    cuda.atomic.min(out, -1, t)
    cuda.atomic.and_(out, 3, ~(1 << t))
    cuda.atomic.or_(out, 4, 1 << t)
    cuda.atomic.xor(out, 5, 1 << t)
    cuda.atomic.add(f, (0, 1), 0.5)
    cuda.atomic.max(f, (1, 0), t * 1.5)
    cuda.atomic.nanmin(f, (1, 1), t - 3)
    cuda.atomic.inc(u, 0, 9)
    cuda.atomic.dec(u, 1, 5)
    old[t] = cuda.atomic.cas(out, 6, t, t + 1)


@TARGETS
@pytest.mark.parametrize("dtype", ["i4", "i8", "u4", "u8"])
@pytest.mark.parametrize("real", ["f4", "f8"])
def test_atomics(dtype: str, real: str, target: int) -> None:
    out, old, f, u = np.zeros(8, dtype), np.zeros(8, "i8"), np.zeros((2, 2), real), np.zeros(2, "u4")
    out[3], out[7], f[1, 1] = 255, 100, np.nan
    run(atomics, out, old, f, u, block=(8,), target=target)
    wanted = np.array([28, 0, 7, 0, 255, 255, 8, 0], dtype)
    wanted[1] = np.array(-28).astype(dtype)
    np.testing.assert_array_equal(out, wanted)
    np.testing.assert_array_equal(old, np.arange(8))
    np.testing.assert_array_equal(f, [[0, 4], [10.5, -3]])
    assert list(u) == [8, 4]


TABLE = np.array([[1.5, 2.5, -3.0], [4.0, 5.0, 6.0]], "f4")
PRIMES = (2, 3, 5, 7)


def constants(out):
    i = cuda.threadIdx.x
    c = cuda.const.array_like(TABLE)
    out[i] = TABLE[i % 2, i % 3] + c[1, -1] * c.shape[1] + PRIMES[i % 4] + (i, 2 * i, 0.5)[i % 3] + len(TABLE)


@TARGETS
def test_arrays_of_the_host_and_tuples_with_an_index(target: int) -> None:
    out = np.zeros(12)
    run(constants, out, block=(12,), target=target)
    wanted = [TABLE[i % 2, i % 3] + 18 + PRIMES[i % 4] + (i, 2 * i, 0.5)[i % 3] + 2 for i in range(12)]
    np.testing.assert_array_equal(out, wanted)


def halves_by_name(x, y, out):
    i = cuda.threadIdx.x
    a, b = x[i], y[i]
    out[i, 0] = cuda.fp16.hadd(a, b)
    out[i, 1] = cuda.fp16.hdiv(a, b)
    out[i, 2] = cuda.fp16.hfma(a, b, a)
    out[i, 3] = cuda.fp16.hmax(a, b)
    out[i, 4] = cuda.fp16.hsqrt(cuda.fp16.habs(a))
    out[i, 5] = cuda.fp16.hlt(a, b)


@TARGETS
def test_float16_by_name(target: int) -> None:
    x, y = np.array([1.5, -2.25, 0.1, 100], "f2"), np.array([0.3, 4, -7, 60], "f2")
    out = np.zeros((4, 6), "f2")
    run(halves_by_name, x, y, out, block=(4,), target=target)
    fused = (x.astype("f8") * y.astype("f8") + x.astype("f8")).astype("f2")
    root = np.sqrt(np.abs(x).astype("f4")).astype("f2")
    np.testing.assert_array_equal(out, np.stack([x + y, x / y, fused, np.maximum(x, y), root, x < y], 1))


def bits(x, out):
    i = cuda.threadIdx.x
    out[i, 0] = cuda.popc(x[i])
    out[i, 1] = cuda.clz(x[i])
    out[i, 2] = cuda.ffs(x[i])


@TARGETS
@pytest.mark.parametrize("dtype", ["i1", "u1", "i2", "u4", "i4", "i8", "u8"])
def test_bits(dtype: str, target: int) -> None:
    x = np.array([0, 1, 6, 100, -1, -128]).astype(dtype)
    out, width = np.zeros((6, 3), "i8"), x.itemsize * 8
    run(bits, x, out, block=(6,), target=target)
    for v, row in zip(x, out, strict=True):
        n = int(v) & ((1 << width) - 1)
        assert list(row) == [n.bit_count(), width - n.bit_length(), (n & -n).bit_length()], v


def says(x):
    i = cuda.grid(1)
    print("x", i, x[i], x[i] > 1, (i, 2.5), "100%")


def test_print() -> None:
    text = run(says, np.array([1, 2], "i4"), block=(2,))
    assert sorted(text.splitlines()) == ["x 0 1 False (0, 2.500000) 100%", "x 1 2 True (1, 2.500000) 100%"]


class Pair(NamedTuple):
    left: object
    right: object


def exchange_values(x, out):
    t = cuda.threadIdx.x
    got = cuda.shfl_down_sync(0xFFFFFFFF, Pair((np.int8(t - 5), t > 3), np.complex64(x[t] + 1j * t)), 1)
    out[t, 0], out[t, 1], out[t, 2], out[t, 3] = got.left[0], got.left[1], got.right.real, got.right.imag
    again = tuple(2 * part for part in parts(got))
    out[t, 4] = whole(got, again).left[0]
    out[t, 5] = len(again)


@TARGETS
def test_values_of_several_numbers(target: int) -> None:
    x, out = np.arange(32, dtype="f4") / 2, np.zeros((32, 6), "f4")
    run(exchange_values, x, out, block=(32,), target=target)
    t = np.minimum(np.arange(32) + 1, 31)
    np.testing.assert_array_equal(out, np.stack([t - 5, t > 3, x[t], t, 2 * (t - 5), 0 * t + 3], 1))


@pytest.mark.parametrize(("call", "wanted"), [
    (lambda x: cuda.shared.array(x.size, np.float32), "known at compile time"),
    (lambda x: cuda.shared.array(4, "flaot32"), "Invalid NumPy dtype"),
    (lambda x: cuda.shared.array(4, np.float32, 12), "power of 2"),
    (lambda x: cuda.local.array(0, np.float32), "array length <= 0"),
    (lambda x: cuda.atomic.inc(x, 0, 1), "it takes uint32"),
    (lambda x: cuda.shfl_sync(-1, x, 1), "a number, or a tuple"),
    (lambda x: cuda.grid(4), "1, 2 or 3 axes"),
    (lambda x: cuda.all_sync(1.5, 1), "Mask type must be an integer"),
    (lambda x: np.float32(x[0] + 1j), "complex numbers are not yet"),
])  # fmt: skip
def test_refusals(call, wanted: str) -> None:
    def kernel(x):
        call(x)

    text = message(kernel, np.ones(4, "f4"))
    assert wanted in text and "ct." not in text and "^" in text
