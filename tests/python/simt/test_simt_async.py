# SPDX-License-Identifier: Apache-2.0
"""What the hardware copies and counts by itself: cp.async, mbarriers, bulk copies, matrices of shared memory, accesses
to neighbours, shared memory of other blocks, PTX. On the reference interpreter as written and as compiled for a GPU, on
the CPU device, watched, and as PTX that assembles."""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys

import drivers
import ml_dtypes
import numpy as np
import pytest
from long_form import every_other
from simt_run import LowerError, assemble, message, needs_ptxas, run

from tessera import cuda

F, H = np.float32, np.float16


def everywhere(kernel, *args: object, grid: tuple[int, ...] = (1,), block: tuple[int, ...] = (32,)) -> list:
    """The arrays after the kernel, which are the same wherever it runs."""

    def after(launch) -> list:
        mine = [a.copy() if isinstance(a, np.ndarray) else a for a in args]
        launch(mine)
        return mine

    wanted = after(lambda a: run(kernel, *a, grid=grid, block=block))
    others = {
        "for a GPU": lambda a: run(kernel, *a, grid=grid, block=block, target=90),
        "CPU": lambda a: cuda.jit(kernel)[grid, block](*a),
        "checked": lambda a: cuda.jit(kernel, checked=True)[grid, block](*a),
        "watched": lambda a: cuda.jit(kernel, checked="races")[grid, block](*a),
    }
    for name, launch in others.items():
        for mine, other in zip(after(launch), wanted, strict=True):
            np.testing.assert_array_equal(mine, other, err_msg=name)
    return wanted


def watched(kernel, *args: object, block: int = 32) -> str:
    with pytest.raises(RuntimeError) as caught:
        cuda.jit(kernel, checked="races")[1, block](*args)
    return str(caught.value)


# ---- neighbours --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["f4", "i1", "?", "f2", "u8", "i4"])
@pytest.mark.parametrize("n", [1, 2, 4])
def test_vectors_move_neighbours(dtype: str, n: int) -> None:
    if n * np.dtype(dtype).itemsize > 16:
        return

    def kernel(x, y):
        shared = cuda.shared.array((32, n), x.dtype)
        t = cuda.threadIdx.x
        cuda.prefetch(x, n * t)
        cuda.store_vector(shared, (t, 0), cuda.load_vector(x, n * t, n))
        cuda.syncthreads()
        cuda.store_vector(y, n * t, cuda.load_vector(shared, (31 - t, 0), n))

    x = (np.arange(32 * n) % 7 - (dtype != "u8") * (dtype != "?")).astype(dtype)
    _, y = everywhere(kernel, x, np.zeros_like(x))
    np.testing.assert_array_equal(y, x.reshape(32, n)[::-1].ravel())


def vectors(x, y):
    i = 4 * cuda.grid(1)
    a, b, c, d = cuda.load_vector(x, i, 4)
    cuda.store_vector(y, i, (d, c, b, a))


def test_vectors_are_one_access(tmp_path: pathlib.Path) -> None:
    text, _ = cuda.compile_ptx(vectors, "void(float32[::1], float32[::1])", cc=(8, 0))
    assert "ld.global.v4.f32" in text and "st.global.v4.f32" in text


def test_checked_vectors() -> None:
    x, y = np.zeros(36, F), np.zeros(36, F)
    with pytest.raises(IndexError, match="index 36 is out of bounds"):
        cuda.jit(vectors, checked=True)[1, 10](x, y)

    def odd(x, y):
        cuda.store_vector(y, 1, cuda.load_vector(x, 2, 2))

    with pytest.raises(ValueError, match="do not begin at a multiple of 8 bytes"):
        cuda.jit(odd, checked=True)[1, 1](x, y)


# ---- cp.async ----------------------------------------------------------------------------------------------------


def pipelined(x, y, out):
    """Rows of x times rows of y, tiles of 32 columns, three stages of them under way."""
    left = cuda.shared.array((3, 32, 32), np.float32)
    right = cuda.shared.array((3, 32, 32), np.float32)
    t, row, column = cuda.threadIdx.x, cuda.blockIdx.y * 32, cuda.blockIdx.x * 32
    r, c, tiles = t // 8, t % 8 * 4, (x.shape[1] + 31) // 32
    total = cuda.local.array(4, np.float32)
    total[:] = 0
    for ahead in range(2):
        if ahead < tiles:
            cuda.cp_async(left, (ahead, r, c), x, (row + r, ahead * 32 + c), 4, x.shape[1] - ahead * 32 - c)
            cuda.cp_async(right, (ahead, r, c), y, (column + r, ahead * 32 + c), 4, y.shape[1] - ahead * 32 - c)
        cuda.cp_async_commit()
    for tile in range(tiles):
        cuda.cp_async_wait(1)
        cuda.syncthreads()
        stage, k = (tile + 2) % 3, (tile + 2) * 32 + c
        if tile + 2 < tiles:
            cuda.cp_async(left, (stage, r, c), x, (row + r, k), 4, x.shape[1] - k)
            cuda.cp_async(right, (stage, r, c), y, (column + r, k), 4, y.shape[1] - k)
        cuda.cp_async_commit()
        for i in range(32):
            for j in range(4):
                total[j] += left[tile % 3, r, i] * right[tile % 3, c + j, i]
    for j in range(4):
        out[row + r, column + c + j] = total[j]


def test_a_pipelined_product() -> None:
    rng = np.random.default_rng(3)
    x, y = rng.integers(-3, 4, (32, 100)).astype(F), rng.integers(-3, 4, (64, 100)).astype(F)
    *_, out = everywhere(pipelined, x, y, np.zeros((32, 64), F), grid=(2, 1), block=(256,))
    np.testing.assert_array_equal(out, x @ y.T)


@pytest.mark.parametrize("dtype", ["f4", "f2", "u1", "f8"])
def test_copies_of_a_part_end_in_zeros(dtype: str) -> None:
    n = 16 // np.dtype(dtype).itemsize

    def kernel(x, y, valid):
        shared = cuda.shared.array((32, n), x.dtype)
        t = cuda.threadIdx.x
        cuda.cp_async(shared, (t, 0), x, t * n, n, valid - t * n)
        cuda.cp_async_commit()
        cuda.cp_async_wait()
        for i in range(n):
            y[t * n + i] = shared[t, i]

    for valid in (0, 3, 5 * n + 1, 32 * n + 9):
        x = (np.arange(max(2, min(32 * n, valid))) % 100 + 1).astype(dtype)
        _, y, _ = everywhere(kernel, x, np.ones(32 * n, dtype), valid)
        np.testing.assert_array_equal(y[:valid], x[:valid])
        assert not y[valid:].any()


def test_a_copy_without_its_wait_is_found() -> None:
    def early(x, y):
        shared = cuda.shared.array(128, np.float32)
        t = cuda.threadIdx.x
        cuda.cp_async(shared, 4 * t, x, 4 * t, 4)
        y[t] = shared[4 * t]

    def alone(x, y):
        shared = cuda.shared.array(128, np.float32)
        t = cuda.threadIdx.x
        cuda.cp_async(shared, 4 * t, x, 4 * t, 4)
        cuda.cp_async_commit()
        cuda.cp_async_wait(0)
        y[t] = shared[124 - 4 * t]

    x, y = np.ones(128, F), np.zeros(32, F)
    with pytest.raises(LowerError, match=r"a cp.async without its wait"):
        run(early, x, y, block=(32,))
    assert "a cp.async without its wait" in watched(early, x, y)
    assert "race" in watched(alone, x, y)


# ---- matrices ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [H, np.int8, F, np.uint8, np.int16])
@pytest.mark.parametrize("count", [1, 2, 4])
def test_matrices_of_shared_memory(dtype: type, count: int) -> None:
    """Thread t has of matrix i the 32 bits from t % 4 * 4 bytes on in row t // 4; stored they are what they were."""
    width, per = 16 // np.dtype(dtype).itemsize, 4 // np.dtype(dtype).itemsize

    def kernel(x, y, z):
        shared = cuda.shared.array((32, width), x.dtype)
        back = cuda.shared.array((32, width), x.dtype)
        t = cuda.threadIdx.x
        for i in range(width):
            shared[t, i] = x[t, i]
        cuda.syncwarp()
        part = cuda.mma.ldmatrix(shared, (t, 0), count)
        for i in range(count * per):
            y[t, i] = part[i]
        cuda.mma.stmatrix(back, (t, 0), part)
        cuda.syncwarp()
        if t < 8 * count:
            for i in range(width):
                z[t, i] = back[t, i]

    x = np.arange(32 * width).reshape(32, width).astype(dtype)
    _, y, z = everywhere(kernel, x, np.zeros((32, count * per), dtype), np.zeros_like(x))
    np.testing.assert_array_equal(z[: 8 * count], x[: 8 * count])
    for t, i in np.ndindex(32, count * per):
        assert y[t, i] == x[i // per * 8 + t // 4, t % 4 * per + i % per]


def tensor_product(x, y, out):
    """Fragments by ldmatrix, as its documentation says, beside those of load_a and load_b."""
    left = cuda.shared.array((16, 16), np.float16)
    right = cuda.shared.array((16, 8), np.float16)
    t = cuda.threadIdx.x
    for i in range(8):
        left[t // 2, t % 2 * 8 + i] = x[t // 2, t % 2 * 8 + i]
    for i in range(4):
        right[t // 2, t % 2 * 4 + i] = y[t // 2, t % 2 * 4 + i]
    cuda.syncwarp()
    a = cuda.mma.ldmatrix(left, (t % 16, t // 16 * 8), 4)
    b = cuda.mma.ldmatrix(right, (t % 16, 0), 2, True)
    plain_a, plain_b = cuda.mma.load_a(left, (0, 0), (16, 8, 16)), cuda.mma.load_b(right, (0, 0), (16, 8, 16))
    same = True
    for i in range(8):
        same = same and a[i] == plain_a[i]
    for i in range(4):
        same = same and b[i] == plain_b[i]
    if cuda.all_sync(0xFFFFFFFF, same):
        cuda.mma.store(out, (0, 0), cuda.mma.sync(a, b, (0, 0, 0, 0)), (16, 8, 16))


def test_fragments_by_ldmatrix() -> None:
    rng = np.random.default_rng(4)
    x, y = rng.integers(-4, 5, (16, 16)).astype(H), rng.integers(-4, 5, (16, 8)).astype(H)
    *_, out = everywhere(tensor_product, x, y, np.zeros((16, 8), F))
    np.testing.assert_array_equal(out, x.astype(F) @ y.astype(F))


# ---- products by four warps ---------------------------------------------------------------------------------------

M16 = {1: (16, 8, 32), 2: (16, 8, 16), 4: (16, 8, 8)}


def by_warpgroups(dtype: type, n: int, k: int, how: str = "shared"):
    """x @ y.T, 64 rows of x for each four warps; how: a fragment, or an early end of other threads, which makes one
    tile of the block on a CPU."""
    each = 16 // np.dtype(dtype).itemsize
    acc = np.int32 if np.dtype(dtype).kind in "iu" else F
    registers, ends = how == "registers", how == "ends"

    def kernel(x, y, out):
        if ends and cuda.threadIdx.x >= x.shape[0] * 2:
            return
        a = cuda.shared.array((k // each, 128, each), x.dtype, 128)
        b = cuda.shared.array((k // each, n, each), x.dtype, 128)
        t, rows = cuda.threadIdx.x, x.shape[0]
        for i in range(t, rows * k, 2 * rows):
            a[i % k // each, i // k, i % each] = x[i // k, i % k]
        for i in range(t, n * k, 2 * rows):
            b[i % k // each, i // k, i % each] = y[i // k, i % k]
        cuda.bulk.fence()
        cuda.syncthreads()
        c = (acc(1),) * (n // 2)
        cuda.wgmma.fence()
        for chunk in range(0, k // each, 2):
            if registers:
                mine = cuda.mma.load_a(x, (t // 32 * 16, chunk * each), M16[x.dtype.itemsize])
                c = cuda.wgmma.mma(mine, None, b, (chunk, 0), c)
            else:
                c = cuda.wgmma.mma(a, (chunk, t // 128 * 64), b, (chunk, 0), c, chunk > 0)
        cuda.wgmma.commit()
        cuda.wgmma.wait()
        row, column = t // 32 * 16 + t % 32 // 4, t % 4 * 2
        for i, v in enumerate(c):
            out[row + i // 2 % 2 * 8, i // 4 * 8 + column + i % 2] = v

    return kernel


WARPGROUP_DTYPES = [H, ml_dtypes.bfloat16, F, np.int8, np.uint8, ml_dtypes.float8_e5m2]
WARPGROUP_WAYS = ["shared", "registers", "ends"]


@pytest.mark.parametrize("dtype, how", every_other(WARPGROUP_DTYPES, WARPGROUP_WAYS))
def test_products_by_four_warps(dtype: type, how: str) -> None:
    if how == "registers" and np.dtype(dtype).kind == "V" and np.dtype(dtype).itemsize == 1:
        return  # mma.load_a has no float8
    n, k, rows = (16, 64, 64) if how == "registers" else (24, 64, 128)
    rng = np.random.default_rng(5)
    least, most = (0, 256) if dtype is np.uint8 else (-4, 5)
    x, y = rng.integers(least, most, (rows, k)), rng.integers(least, most, (n, k))
    acc = np.int32 if np.dtype(dtype).kind in "iu" else F
    kernel, block = by_warpgroups(dtype, n, k, how), (384 if how == "ends" else 2 * rows,)
    *_, out = everywhere(kernel, x.astype(dtype), y.astype(dtype), np.zeros((rows, n), acc), block=block)
    np.testing.assert_array_equal(out, x @ y.T + (how == "registers"))


def test_products_of_what_was_not_fenced_are_found() -> None:
    def kernel(x):
        a = cuda.shared.array((2, 64, 8), np.float16, 128)
        b = cuda.shared.array((2, 8, 8), np.float16, 128)
        a[0, cuda.threadIdx.x % 64, 0] = x[0]
        cuda.syncthreads()
        cuda.wgmma.fence()
        cuda.wgmma.mma(a, (0, 0), b, (0, 0), (x[0],) * 4)
        cuda.wgmma.commit()
        cuda.wgmma.wait()

    assert "without fence" in watched(kernel, np.ones(1, F), block=128)
    with pytest.raises(ValueError, match="a multiple of 128 threads"):
        cuda.jit(kernel)[1, 64](np.ones(1, F))


@needs_ptxas
def test_products_by_four_warps_assemble(tmp_path: pathlib.Path) -> None:
    for dtype in (H, F, np.uint8):
        args = np.zeros((128, 64), dtype), np.zeros((64, 64), dtype), np.zeros((128, 64), F)
        kernels = [by_warpgroups(dtype, 64, 64, how) for how in ("shared", "registers")]
        for kernel in kernels:
            assert "wgmma.mma_async.sync.aligned.m64n64k" in assemble(kernel, args, 90, tmp_path)
    with pytest.raises(Exception, match="wgmma exists on sm_90a only"):
        assemble(kernels[0], args, 100, tmp_path)


# ---- mbarriers, bulk copies --------------------------------------------------------------------------------------


def rows(x, y):
    """Rows of 128 numbers through two stages: loaded two ahead, doubled, stored."""
    stage = cuda.shared.array((2, 128), np.float32)
    done = cuda.shared.array((2, 128), np.float32)
    bars = cuda.shared.array(2, np.uint64)
    t = cuda.threadIdx.x
    if t == 0:
        cuda.mbarrier.init(bars, 0, 1)
        cuda.mbarrier.init(bars, 1, 1)
        cuda.mbarrier.fence()
    cuda.syncthreads()
    for row in range(x.shape[0] + 1):
        if t == 0 and row < x.shape[0]:
            cuda.mbarrier.expect(bars, row % 2, 512)
            cuda.bulk.load(stage, (row % 2, 0), x, (row, 0), 128, bars, row % 2)
        if row > 0:
            now = row - 1
            cuda.mbarrier.wait(bars, now % 2, now // 2)
            done[now % 2, t] = stage[now % 2, 127 - t] * 2
            cuda.bulk.fence()
            cuda.syncthreads()
            if t == 0:
                cuda.bulk.store(y, (now, 0), done, (now % 2, 0), 128)
                cuda.bulk.commit()
                cuda.bulk.wait(1, read=True)
            cuda.syncthreads()
    if t == 0:
        cuda.bulk.wait()
        cuda.mbarrier.invalidate(bars, 0)
        cuda.mbarrier.invalidate(bars, 1)


def test_bulk_copies() -> None:
    x = np.arange(5 * 128, dtype=F).reshape(5, 128)
    _, y = everywhere(rows, x, np.zeros_like(x), block=(128,))
    np.testing.assert_array_equal(y, 2 * x[:, ::-1])


def arrivals(x, y):
    """All threads arrive, do something else, and then wait."""
    shared = cuda.shared.array(64, np.int32)
    bars = cuda.shared.array(1, np.uint64)
    t = cuda.threadIdx.x
    if t == 0:
        cuda.mbarrier.init(bars, 0, cuda.blockDim.x)
    cuda.syncthreads()
    for turn in range(3):
        shared[t] = x[t] + turn
        cuda.mbarrier.arrive(bars, 0)
        mine = x[t] * turn
        cuda.mbarrier.wait(bars, 0, turn)
        y[t] += shared[63 - t] * mine
        cuda.syncthreads()


def test_arrivals() -> None:
    x = np.arange(64, dtype=np.int32)
    _, y = everywhere(arrivals, x, np.zeros(64, np.int64), block=(64,))
    np.testing.assert_array_equal(y, sum((x[::-1] + turn) * x * turn for turn in range(3)))


def test_waits_of_some_threads_are_refused_on_the_cpu() -> None:
    def kernel(x, y):
        bars = cuda.shared.array(1, np.uint64)
        if cuda.threadIdx.x == 0:
            cuda.mbarrier.init(bars, 0, 1)
        cuda.syncthreads()
        if cuda.threadIdx.x < 32:
            cuda.mbarrier.wait(bars, 0, 0)

    with pytest.raises(Exception, match=r"line \d+: threads wait for an mbarrier where not all of the block come"):
        cuda.jit(kernel)[1, 64](np.zeros(1), np.zeros(1))


def test_a_bulk_copy_without_its_wait_is_found() -> None:
    def kernel(x, y):
        stage = cuda.shared.array(32, np.float32)
        bars = cuda.shared.array(1, np.uint64)
        t = cuda.threadIdx.x
        if t == 0:
            cuda.mbarrier.init(bars, 0, 1)
            cuda.mbarrier.expect(bars, 0, 128)
            cuda.bulk.load(stage, 0, x, 0, 32, bars, 0)
        cuda.syncthreads()
        y[t] = stage[t]

    assert "a TMA load without its mbarrier wait" in watched(kernel, np.ones(32, F), np.zeros(32, F))


# ---- clusters ----------------------------------------------------------------------------------------------------


def neighbours(x, y):
    cluster = cuda.cg.this_cluster()
    shared = cuda.shared.array(32, np.float32)
    t, other = cuda.threadIdx.x, (cluster.block_rank() + 1) % cluster.num_blocks()
    shared[t] = x[cuda.grid(1)]
    cluster.sync()
    theirs = cluster.map_shared(shared, other)
    y[cuda.grid(1)] = theirs[31 - t]
    cluster.sync()
    cuda.atomic.add(theirs, t, np.float32(other))
    cluster.sync()
    y[cuda.grid(1)] += shared[t]


def test_shared_memory_of_other_blocks() -> None:
    x = np.arange(128, dtype=F)
    for target in (0, 90):
        y = np.zeros_like(x)
        run(neighbours, x, y, grid=(4,), block=(32,), cluster=(2, 1, 1), target=target)
        pairs = x.reshape(2, 2, 32)
        wanted = pairs[:, ::-1, ::-1] + pairs + np.array([0, 1], F)[:, None]
        np.testing.assert_array_equal(y, wanted.ravel(), err_msg=str(target))
    y = np.zeros_like(x)
    cuda.jit(neighbours)[4, 32](x, y)  # a block is a cluster
    blocks = x.reshape(4, 32)
    np.testing.assert_array_equal(y, (blocks[:, ::-1] + blocks).ravel())


# ---- PTX ---------------------------------------------------------------------------------------------------------


def ptx(x, y):
    shared = cuda.shared.array(32, np.float32)
    t = cuda.grid(1)
    high = cuda.asm("mul.hi.u32 $0, $1, $2;", np.uint32, np.uint32(t), np.uint32(7))
    a, less, half = cuda.asm(
        ".version 7.8\nsetp.lt.f32 $1, $3, $4; add.f32 $0, $3, 0f3F800000; cvt.rn.f16.f32 $2, $3; // $$",
        (np.float32, np.bool_, np.float16), x[0], y[t],
    )  # fmt: skip
    if less:
        y[0] = a + half + high
    cuda.asm("st.global.f32 [$0], $1; st.shared.f32 [$2], $1;", None, y, x[1], shared)
    y[t] = shared[t]


def test_ptx_is_refused_on_the_cpu() -> None:
    with pytest.raises(Exception, match=r"line \d+: asm\(.mul.hi.u32 .*is PTX, which is for GPUs"):
        cuda.jit(ptx)[1, 32](np.zeros(32, F), np.zeros(32, F))


@needs_ptxas
@pytest.mark.parametrize("target", [80, 89, 90, 100, 120])
def test_it_assembles(target: int, tmp_path: pathlib.Path) -> None:
    x, m = np.zeros(32, F), np.zeros((32, 32), F)
    kernels = [(vectors, (x, x)), (pipelined, (m, m, m)), (arrivals, (x, x)), (ptx, (x, x))]
    if target >= 90:
        kernels += [(rows, (m, m)), (neighbours, (x, x))]
    for kernel, args in kernels:
        text = assemble(kernel, args, target, tmp_path)
        if kernel is ptx:
            assert "mul.hi.u32 %r" in text and "// $\n" in text
        if kernel is neighbours:
            assert "ld.shared::cluster.f32" in text and "st.shared.f32" in text


# ---- on the device of the machine ------------------------------------------------------------------------------------

MACHINE = """
import numpy as np
import test_simt_async as t
from tessera import core, cuda

rng, gpu = np.random.default_rng(8), core.system.get_num_devices() > 0
hopper, f32 = cuda.get_current_device().compute_capability == (9, 0), np.float32

def ran(kernel, grid, block, *args, cluster=None):
    config = (grid, block, 0, 0, cluster) if cluster else (grid, block)
    cuda.jit(kernel)[config](*args)
    cuda.synchronize()
    return args[-1]

x = np.arange(256, dtype=f32)
assert (ran(t.vectors, 2, 32, x, np.zeros_like(x)).reshape(-1, 4) == x.reshape(-1, 4)[:, ::-1]).all()
x, y = rng.integers(-3, 4, (32, 100)).astype(f32), rng.integers(-3, 4, (64, 100)).astype(f32)
assert (ran(t.pipelined, (2, 1), 256, x, y, np.zeros((32, 64), f32)) == x @ y.T).all()
x, y = rng.integers(-4, 5, (16, 16)).astype(np.float16), rng.integers(-4, 5, (16, 8)).astype(np.float16)
assert (ran(t.tensor_product, 1, 32, x, y, np.zeros((16, 8), f32)) == x.astype(f32) @ y.astype(f32)).all()
x = np.arange(64, dtype=np.int32)
wanted = sum((x[::-1] + turn) * x * turn for turn in range(3))
assert (ran(t.arrivals, 1, 64, x, np.zeros(64, np.int64)) == wanted).all()

def three(x, out):
    i = cuda.grid(1)
    high, odd = cuda.asm(
        "{ .reg .b32 low; and.b32 low, $2, 1; setp.ne.s32 $1, low, 0; lop3.b32 $0, $2, $3, $4, 0x96; }",
        (np.uint32, np.bool_), x[i], np.uint32(5), np.uint32(9),
    )
    out[i] = high if odd else x[i]

if gpu:
    x = np.arange(64, dtype=np.uint32)
    assert (ran(three, 2, 32, x, np.zeros_like(x)) == np.where(x % 2, x ^ 5 ^ 9, x)).all()
if hopper:
    x = np.arange(5 * 128, dtype=f32).reshape(5, 128)
    assert (ran(t.rows, 1, 128, x, np.zeros_like(x)) == 2 * x[:, ::-1]).all()
    for dtype in (np.float16, np.int8, f32):
        for how in ("shared", "registers", "ends"):
            n, k, rows = 24, 64, 128
            x, y = rng.integers(-4, 5, (rows, k)).astype(dtype), rng.integers(-4, 5, (n, k)).astype(dtype)
            acc = np.int32 if dtype is np.int8 else f32
            kernel, block = t.by_warpgroups(dtype, n, k, how), 384 if how == "ends" else 256
            out = ran(kernel, 1, block, x, y, np.zeros((rows, n), acc))
            assert (out == x.astype(int) @ y.astype(int).T + (how == "registers")).all(), (dtype, how)
if hopper and gpu:
    x = np.arange(128, dtype=f32)
    pairs = x.reshape(2, 2, 32)
    wanted = pairs[:, ::-1, ::-1] + pairs + np.array([0, 1], f32)[:, None]
    assert (ran(t.neighbours, 4, 32, x, np.zeros_like(x), cluster=(2, 1, 1)) == wanted.ravel()).all()
print("fine")
"""


@pytest.mark.parametrize("where", ["cpu", pytest.param("gpu", marks=pytest.mark.gpu)])
def test_on_the_device_of_the_machine(where: str, tmp_path: pathlib.Path) -> None:
    script = tmp_path / "machine.py"
    script.write_text(MACHINE)
    environment = dict(drivers.of_machine()) if where == "gpu" else dict(os.environ)
    folders = [str(pathlib.Path(__file__).parent), *sys.path, environment.get("PYTHONPATH", "")]
    environment["PYTHONPATH"] = os.pathsep.join(folders)
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, env=environment)
    assert done.stdout == "fine\n", done.stderr


# ---- mistakes ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda x, s, b: cuda.load_vector(x, 0, 3), "1, 2, 4, 8 or 16 elements, of 16 bytes at most"),
        (lambda x, s, b: cuda.load_vector(x, 0, x.size), "a constant, how many elements"),
        (lambda x, s, b: cuda.store_vector(x, 0, (1.0,) * 8), "found: 8 of 4 bytes each"),
        (lambda x, s, b: cuda.load_vector(x[::2], 0, 2), "elements that lie side by side along the last axis"),
        (lambda x, s, b: cuda.load_vector(cuda.local.array(4, np.float32), 0, 2), "the thread's registers"),
        (lambda x, s, b: cuda.cp_async(s, 0, x, 0, 3), "a thread copies 4, 8 or 16 bytes at once"),
        (lambda x, s, b: cuda.cp_async(x, 0, x, 0, 4), "an array in shared memory"),
        (lambda x, s, b: cuda.cp_async(s, 0, s, 0, 4), "an array in global memory"),
        (lambda x, s, b: cuda.cp_async(b, 0, x, 0, 2), "give arrays of one dtype"),
        (lambda x, s, b: cuda.cp_async_wait(9), "a constant from 0 to 7"),
        (lambda x, s, b: cuda.mbarrier.init(s, 0, 1), "barriers: an array of uint64 in shared memory"),
        (lambda x, s, b: cuda.mbarrier.init(b, 0, 0), "at least 1"),
        (lambda x, s, b: cuda.mbarrier.wait(b, 0, 0.5), "the phase, an integer"),
        (lambda x, s, b: cuda.bulk.load(s, 0, x, 0, 3, b, 0), "copies multiples of 16 bytes"),
        (lambda x, s, b: cuda.bulk.store(s, 0, x, 0, 4), "an array in global memory"),
        (lambda x, s, b: cuda.mma.ldmatrix(x, 0, 4), "an array in shared memory"),
        (lambda x, s, b: cuda.mma.ldmatrix(s, 0, 3), "1, 2 or 4 matrices"),
        (lambda x, s, b: cuda.mma.ldmatrix(s, 0, 1, True), "only matrices of 16 bits are transposed"),
        (lambda x, s, b: cuda.mma.stmatrix(s, 0, (1.0,) * 3), "1, 2 or 4 numbers"),
        (lambda x, s, b: cuda.mma.ldmatrix(b, 0, 1), "an array of numbers of 8, 16 or 32 bits"),
        (lambda x, s, b: cuda.wgmma.mma(s, (0, 0), s, (0, 0), (x[0],) * 4), "(chunks, rows, numbers of 16 bytes)"),
        (lambda x, s, b: cuda.wgmma.mma(x, (0, 0), b, (0, 0), (x[0],) * 4), "no tensor core multiplies such operands"),
        (lambda x, s, b: cuda.wgmma.mma(s, (0, 0), s, (0, 0), (x[0],) * 3), "a tuple of n / 2 numbers of float32"),
        (lambda x, s, b: cuda.asm("mov.b32 $0, $2;", np.int32, np.int32(1)), "$2, but there are 1 result and 1 value"),
        (lambda x, s, b: cuda.asm("", np.int8), "registers hold bool and numbers of 16, 32 and 64 bits"),
        (lambda x, s, b: cuda.asm("", None, "text"), "takes numbers and arrays"),
        (lambda x, s, b: cuda.asm(x, None), "a constant text, PTX"),
        (lambda x, s, b: cuda.cg.this_cluster().map_shared(x, 0), "an array in shared memory"),
        (lambda x, s, b: cuda.cg.this_grid().map_shared(s, 0), "a cluster"),
    ],
)
def test_refusals(call, says: str) -> None:
    function = cuda.jit(device=True)(call)

    def kernel(x):
        function(x, cuda.shared.array(64, np.float32), cuda.shared.array(2, np.uint64))

    assert says in message(kernel, np.zeros(64, F))
