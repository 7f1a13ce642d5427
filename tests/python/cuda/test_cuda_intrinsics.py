# SPDX-License-Identifier: Apache-2.0
"""Every intrinsic of kernels of threads, walked by tables: on the CPU device it computes what Python or NumPy does, for
each type and kind of memory that it takes; and its PTX assembles for every GPU."""

from __future__ import annotations

import itertools
import math
import operator
import pathlib
import re
import shutil
import subprocess
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from tessera import cuda
from tessera._core import TARGETS

INTS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
WORDS = ["int32", "uint32", "int64", "uint64"]
FLOATS = ["float32", "float64"]
ROOT = pathlib.Path(__file__).parents[3]
rng = np.random.default_rng(11)
COMPILED: list[Any] = []  # kernels that ran, for ptxas


def numbers(dtype: str, n: int) -> np.ndarray:
    """Numbers of all sizes, the ends of the dtype among them."""
    if np.dtype(dtype).kind == "f":
        x = np.array([0.0, -0.0, 1.5, -2.25, 1e10, 3.0, -7.0, 0.125])
        return np.resize(x, n).astype(dtype)
    info = np.iinfo(dtype)
    some = [0, 1, info.max, info.min, info.max - 1, info.max >> 1, 12, 80 & info.max]
    rest = rng.integers(info.min, info.max, n, dtype, endpoint=True)
    rest[: min(n, len(some))] = some[:n]
    return rest


def jitted(kernel: Callable[..., None]) -> Any:
    made = cuda.jit(kernel)
    COMPILED.append(made)
    return made


# ---- one number in, one out ------------------------------------------------------------------------

def elementwise(function: Any, n_args: int) -> Any:
    if n_args == 1:

        def kernel(out, x):
            i = cuda.grid(1)
            if i < x.size:
                out[i] = function(x[i])

    elif n_args == 2:

        def kernel(out, x, y):
            i = cuda.grid(1)
            if i < x.size:
                out[i] = function(x[i], y[i])

    else:

        def kernel(out, x, y, z):
            i = cuda.grid(1)
            if i < x.size:
                out[i] = function(x[i], y[i], z[i])

    return jitted(kernel)


def bits(v: Any) -> str:
    return np.binary_repr(int(v), np.dtype(type(v)).itemsize * 8)


def clz(v: Any) -> int:
    return len(bits(v)) - len(bits(v).lstrip("0"))


def ffs(v: Any) -> int:
    return 0 if v == 0 else len(bits(v)) - len(bits(v).rstrip("0")) + 1


def brev(v: Any) -> int:
    return int(bits(v)[::-1], 2)


SCALARS = [
    ("popc", INTS, None, lambda v: bits(v).count("1")),
    ("clz", INTS, None, clz),
    ("ffs", INTS, "uint32", ffs),
    ("brev", ["uint32", "uint64", "int32", "int64"], "unsigned", brev),
    ("cbrt", FLOATS, None, lambda v: math.copysign(float(abs(np.float64(v))) ** (1 / 3), v)),
]


@pytest.mark.parametrize("name,dtype,result,oracle", [(n, d, r, o) for n, ds, r, o in SCALARS for d in ds])
def test_functions_of_one_number(name: str, dtype: str, result: str | None, oracle: Any) -> None:
    x = numbers(dtype, 40)
    kind = dtype if result is None else "u" + dtype.lstrip("u") if result == "unsigned" else result
    out = np.zeros(40, kind)
    elementwise(getattr(cuda, name), 1)[2, 32](out, x)
    wanted = np.array([oracle(v) for v in x], "f8" if name == "cbrt" else object).astype(kind)
    np.testing.assert_allclose(out, wanted, rtol=1e-6 if dtype == "float32" else 1e-15)
    if name != "cbrt":
        np.testing.assert_array_equal(out, wanted)


@pytest.mark.parametrize("dtype", FLOATS)
def test_fma_rounds_once(dtype: str) -> None:
    x, y, z = (rng.standard_normal(64).astype(dtype) for _ in range(3))
    z[:32] = -(x[:32] * y[:32])
    out = np.zeros(64, dtype)
    elementwise(cuda.fma, 3)[2, 32](out, x, y, z)
    exact = [Fraction(float(a)) * Fraction(float(b)) + Fraction(float(c)) for a, b, c in zip(x, y, z)]
    if dtype == "float64":
        wanted = np.array([float(v) for v in exact])
    else:  # rounded once: the float32 nearest to the fraction
        near = np.array([float(v) for v in exact]).astype("f4")
        around = [[np.nextafter(v, np.float32(-np.inf)), v, np.nextafter(v, np.float32(np.inf))] for v in near]
        wanted = np.array([min(c, key=lambda g, v=v: abs(Fraction(float(g)) - v)) for c, v in zip(around, exact)])
    np.testing.assert_array_equal(out, wanted)


@pytest.mark.parametrize("dtype", [*INTS, *FLOATS, "float16", "bool"])
def test_selp(dtype: str) -> None:
    p = np.arange(40) % 3 == 0
    x, y = p if dtype == "bool" else np.arange(40).astype(dtype), np.ones(40, dtype)
    x[:8] = x[:8] if dtype in ("bool", "float16") else numbers(dtype, 8)
    out = np.zeros(40, dtype)
    elementwise(cuda.selp, 3)[2, 32](out, p, x, y)
    np.testing.assert_array_equal(out, np.where(p, x, y))


# ---- where a thread stands ---------------------------------------------------------------------------


@jitted
def positions(out):
    x, y, z = cuda.grid(3)
    sx, sy, sz = cuda.gridsize(3)
    at = x + sx * (y + sy * z)
    out[at, 0] = cuda.threadIdx.x + 100 * cuda.threadIdx.y + 10000 * cuda.threadIdx.z
    out[at, 1] = cuda.blockIdx.x + 100 * cuda.blockIdx.y + 10000 * cuda.blockIdx.z
    out[at, 2] = cuda.blockDim.x + 100 * cuda.blockDim.y + 10000 * cuda.blockDim.z
    out[at, 3] = cuda.gridDim.x + 100 * cuda.gridDim.y + 10000 * cuda.gridDim.z
    out[at, 4] = cuda.laneid
    out[at, 5] = cuda.warpsize
    out[at, 6] = cuda.lanemask_lt()
    out[at, 7] = cuda.grid(1) + cuda.gridsize(1) * 1000
    a, b = cuda.grid(2)
    c, d = cuda.gridsize(2)
    out[at, 8] = a + 100 * b + 10000 * (c + 100 * d)
    out[at, 9] = cuda.activemask()


SHAPES = [((3,), (40,)), ((2, 2), (8, 4)), ((1, 2, 3), (3, 5, 2)), ((2,), (1, 1, 33)), ((1,), (32, 2))]


@pytest.mark.parametrize("grid,block", SHAPES)
def test_positions(grid: tuple[int, ...], block: tuple[int, ...]) -> None:
    g, b = (*grid, 1, 1)[:3], (*block, 1, 1)[:3]
    total = [g[i] * b[i] for i in range(3)]
    out, wanted = np.zeros((math.prod(total), 10), "i8"), np.zeros((math.prod(total), 10), "i8")
    threads = math.prod(b)
    for block_at in itertools.product(*map(range, g)):
        for thread in itertools.product(*map(range, b)):
            p = [block_at[i] * b[i] + thread[i] for i in range(3)]
            number = thread[0] + b[0] * (thread[1] + b[1] * thread[2])
            lane, left = number % 32, threads - number // 32 * 32
            weights = (1, 100, 10000)
            wanted[p[0] + total[0] * (p[1] + total[1] * p[2])] = [
                np.dot(thread, weights), np.dot(block_at, weights), np.dot(b, weights), np.dot(g, weights), lane, 32,
                (1 << lane) - 1, p[0] + total[0] * 1000, p[0] + 100 * p[1] + 10000 * (total[0] + 100 * total[1]),
                (1 << min(left, 32)) - 1,
            ]  # fmt: skip
    positions[grid, block](out)
    np.testing.assert_array_equal(out, wanted)


# ---- barriers and fences -------------------------------------------------------------------------------


@jitted
def barriers(p, out):
    t = cuda.threadIdx.x + cuda.blockDim.x * cuda.threadIdx.y
    at = t + cuda.blockIdx.x * cuda.blockDim.x * cuda.blockDim.y
    out[at, 0] = cuda.syncthreads_count(p[at])
    out[at, 1] = cuda.syncthreads_and(p[at])
    out[at, 2] = cuda.syncthreads_or(p[at] * 2)


def predicates(kind: str, n: int) -> np.ndarray:
    some = {"none": np.zeros(n), "all": np.full(n, 7), "some": rng.integers(0, 2, n)}
    return some[kind].astype("i4")


@pytest.mark.parametrize("block", [(1,), (31,), (64,), (100,), (16, 6), (5, 3)])
@pytest.mark.parametrize("kind", ["none", "all", "some"])
def test_barriers_that_ask(block: tuple[int, ...], kind: str) -> None:
    n = math.prod(block)
    p = predicates(kind, 2 * n)
    out = np.zeros((2 * n, 3), "i4")
    barriers[2, block](p, out)
    for b in range(2):
        own = p[b * n : b * n + n]
        wanted = [np.count_nonzero(own), own.all(), own.any()]
        np.testing.assert_array_equal(out[b * n : b * n + n], np.broadcast_to(wanted, (n, 3)))


@jitted
def fences(x, out):
    i = cuda.threadIdx.x
    s = cuda.shared.array(64, np.int32)
    s[i] = x[i]
    cuda.threadfence_block()
    cuda.syncwarp()
    cuda.syncthreads()
    x[i] = s[63 - i] + 1
    cuda.threadfence()
    cuda.nanosleep(20)
    cuda.nanosleep(cuda.uint32(x[0] & 7))
    cuda.syncthreads()
    cuda.threadfence_system()
    cuda.syncwarp(0xFFFFFFFF)
    out[i] = x[63 - i]


def test_fences_and_sleeps() -> None:
    x, out = np.arange(64, dtype="i4"), np.zeros(64, "i4")
    fences[1, 64](x, out)
    np.testing.assert_array_equal(out, np.arange(64) + 1)


# ---- within a warp ---------------------------------------------------------------------------------------

SHUFFLES = {
    "shfl_sync": lambda lane, a: a % 32,
    "shfl_up_sync": lambda lane, a: lane - a if lane >= a else lane,
    "shfl_down_sync": lambda lane, a: lane + a if lane + a < 32 else lane,
    "shfl_xor_sync": lambda lane, a: lane ^ a,
}


def shuffle(function: Any) -> Any:
    def kernel(x, by, out):
        i = cuda.grid(1)
        out[i] = function(0xFFFFFFFF, x[i], by[i])

    return jitted(kernel)


@pytest.mark.parametrize("dtype", [*WORDS, *FLOATS])
@pytest.mark.parametrize("name", SHUFFLES)
def test_shuffles(name: str, dtype: str) -> None:
    x, out = numbers(dtype, 64), np.zeros(64, dtype)
    x[:] = np.arange(64) * 3 + 1
    by = rng.integers(0, 32, 64, "i4") if name == "shfl_sync" else np.repeat(rng.integers(0, 32, 2, "i4"), 32)
    shuffle(getattr(cuda, name))[1, 64](x, by, out)
    wanted = [x[i // 32 * 32 + SHUFFLES[name](i % 32, int(by[i]))] for i in range(64)]
    np.testing.assert_array_equal(out, wanted)


@jitted
def votes(mask, p, out):
    i = cuda.grid(1)
    lane = cuda.laneid
    if mask >> lane & 1:
        out[i, 0] = cuda.all_sync(mask, p[i])
        out[i, 1] = cuda.any_sync(mask, p[i])
        out[i, 2] = cuda.eq_sync(mask, p[i])
        out[i, 3] = cuda.uint32(cuda.ballot_sync(mask, p[i]))
        out[i, 4] = cuda.activemask()


@pytest.mark.parametrize("mask", [0xFFFFFFFF, 0x0000FFFF, 0x80000001, 0x55555555, 0x00010000])
@pytest.mark.parametrize("kind", ["none", "all", "some"])
def test_votes(mask: int, kind: str) -> None:
    p = predicates(kind, 64)
    out = np.full((64, 5), -1, "i8")
    votes[1, 64](np.uint32(mask), p, out)
    for i in range(64):
        own = [i // 32 * 32 + k for k in range(32) if mask >> k & 1]
        if i not in own:
            assert (out[i] == -1).all()
            continue
        told = p[own]
        ballot = sum(1 << j % 32 for j in own if p[j])
        wanted = [told.all(), told.any(), told.all() or not told.any(), ballot, mask]
        np.testing.assert_array_equal(out[i], wanted)


def matches() -> Any:
    def kernel(mask, x, out):
        i = cuda.grid(1)
        if mask >> cuda.laneid & 1:
            out[i, 0] = cuda.uint32(cuda.match_any_sync(mask, x[i]))
            same, all_alike = cuda.match_all_sync(mask, x[i])
            out[i, 1] = cuda.uint32(same)
            out[i, 2] = all_alike

    return jitted(kernel)


@pytest.mark.parametrize("dtype", [*WORDS, *FLOATS])
@pytest.mark.parametrize("mask,most", [(0xFFFFFFFF, 3), (0xFFFFFFFF, 0), (0x0F0F00F1, 2), (0x0F0F00F1, 0)])
def test_matches(dtype: str, mask: int, most: int) -> None:
    x = (rng.integers(0, most, 64, endpoint=True) - (np.dtype(dtype).kind != "u")).astype(dtype)
    out = np.full((64, 3), -1, "i8")
    matches()[1, 64](np.uint32(mask), x, out)
    for i in range(64):
        own = [i // 32 * 32 + k for k in range(32) if mask >> k & 1]
        if i not in own:
            assert (out[i] == -1).all()
            continue
        same = sum(1 << j % 32 for j in own if x[j] == x[i])
        np.testing.assert_array_equal(out[i], [same, mask if same == mask else 0, same == mask])


# ---- atomics -----------------------------------------------------------------------------------------------


def extreme(better: Any, numbers_win: bool) -> Any:
    def step(old: Any, v: Any) -> Any:
        if numbers_win and old != old:
            return v
        return v if better(v, old) else old

    return step


ATOMICS: dict[str, tuple[list[str], Any]] = {
    "add": ([*WORDS, *FLOATS], lambda old, v: old + v),
    "sub": ([*WORDS, *FLOATS], lambda old, v: old - v),
    "max": ([*WORDS, *FLOATS], extreme(operator.gt, False)),
    "min": ([*WORDS, *FLOATS], extreme(operator.lt, False)),
    "nanmax": ([*WORDS, *FLOATS], extreme(operator.gt, True)),
    "nanmin": ([*WORDS, *FLOATS], extreme(operator.lt, True)),
    "and_": (WORDS, lambda old, v: old & v),
    "or_": (WORDS, lambda old, v: old | v),
    "xor": (WORDS, lambda old, v: old ^ v),
    "exch": ([*WORDS, *FLOATS], lambda old, v: v),
    "inc": (["uint32", "uint64"], lambda old, v: type(old)(0) if old >= v else old + type(old)(1)),
    "dec": (["uint32", "uint64"], lambda old, v: v if old == 0 or old > v else old - type(old)(1)),
}
SPACES = ["global", "shared", "local"]


def atomic_kernel(function: Any, dtype: Any, space: str) -> Any:
    """One thread changes elements one after the other, and tells what was there."""

    def kernel(a, values, olds):
        if space == "shared":
            m = cuda.shared.array((2, 4), dtype)
        elif space == "local":
            m = cuda.local.array((2, 4), dtype)
        else:
            m = a
        for i in range(2):
            for j in range(4):
                m[i, j] = a[i, j]
        for k in range(values.size):
            olds[k] = function(m, (k % 2, -1 - k // 2 % 4), values[k])
        for i in range(2):
            for j in range(4):
                a[i, j] = m[i, j]

    return jitted(kernel)


def in_turn(step: Any, a: np.ndarray, values: np.ndarray) -> np.ndarray:
    olds = np.zeros_like(values)
    with np.errstate(all="ignore"):
        for k, v in enumerate(values):
            at = (k % 2, -1 - k // 2 % 4)
            olds[k] = a[at]
            a[at] = step(a[at], v)
    return olds


@pytest.mark.parametrize("space", SPACES)
@pytest.mark.parametrize("name,dtype", [(name, d) for name, (ds, _) in ATOMICS.items() for d in ds])
def test_atomics_one_after_the_other(name: str, dtype: str, space: str) -> None:
    values = numbers(dtype, 60)
    a = np.roll(numbers(dtype, 8), 3).reshape(2, 4)
    if dtype in FLOATS and name in ("max", "min", "nanmax", "nanmin"):
        values[7], values[20], a[0, 1], a[1, 3] = np.nan, np.nan, np.nan, np.nan
    wanted, olds = a.copy(), np.zeros(60, dtype)
    wanted_olds = in_turn(ATOMICS[name][1], wanted, values)
    atomic_kernel(getattr(cuda.atomic, name), np.dtype(dtype).type, space)[1, 1](a, values, olds)
    np.testing.assert_array_equal(a, wanted)
    np.testing.assert_array_equal(olds, wanted_olds)


def together(function: Any, dtype: Any, space: str) -> Any:
    """All threads change one element, and tell what was there."""

    def kernel(a, values, olds):
        i = cuda.grid(1)
        if space == "shared":
            m = cuda.shared.array(1, dtype)
            if cuda.threadIdx.x == 0:
                m[0] = a[0]
            cuda.syncthreads()
            olds[i] = function(m, 0, values[i])
            cuda.syncthreads()
            if cuda.threadIdx.x == 0:
                a[0] = m[0]
        else:
            olds[i] = function(a, 0, values[i])

    return jitted(kernel)


COMMUTE = [(name, d) for name in ("add", "max", "min", "and_", "or_", "xor", "inc") for d in ATOMICS[name][0]]


@pytest.mark.parametrize("space", ["global", "shared"])
@pytest.mark.parametrize("name,dtype", COMMUTE)
def test_atomics_of_all_threads_at_once(name: str, dtype: str, space: str) -> None:
    n, step = 96, ATOMICS[name][1]
    values = rng.integers(0, 50, n).astype(dtype) if name != "inc" else np.full(n, 40, dtype)
    a, olds = np.array([5], dtype), np.zeros(n, dtype)
    shape = (1, n) if space == "shared" else (3, n // 3)
    together(getattr(cuda.atomic, name), np.dtype(dtype).type, space)[shape](a, values, olds)
    final = np.dtype(dtype).type(5)
    for v in values:
        final = step(final, v)
    assert a[0] == final
    if name == "add":  # each found what the ones before it had made: the steps between them are the values
        found = np.append(np.sort(olds), final)
        assert sorted(np.diff(found)) == sorted(values)


def swap_kernel() -> Any:
    def kernel(a, old, new, found):
        for k in range(found.size):
            found[k] = cuda.atomic.cas(a, k % 3, old[k], new[k])
        found[0] += cuda.atomic.compare_and_swap(a, a[0], new[0])

    return jitted(kernel)


@pytest.mark.parametrize("dtype", WORDS)
def test_compare_and_swap(dtype: str) -> None:
    a, found = np.array([1, 2, 3], dtype), np.zeros(30, dtype)
    old, new = rng.integers(0, 4, 30).astype(dtype), rng.integers(0, 4, 30).astype(dtype)
    wanted, wanted_found = a.copy(), found.copy()
    for k in range(30):
        wanted_found[k] = wanted[k % 3]
        if wanted[k % 3] == old[k]:
            wanted[k % 3] = new[k]
    wanted_found[0] += wanted[0]
    wanted[0] = new[0]
    swap_kernel()[1, 1](a, old, new, found)
    np.testing.assert_array_equal(a, wanted)
    np.testing.assert_array_equal(found, wanted_found)


# ---- loads and stores with a hint, kinds of memory ---------------------------------------------------------------


def hinted(load: Any, store: Any) -> Any:
    def kernel(x, out):
        i = cuda.grid(1)
        if i < x.shape[1]:
            store(out, (0, i), load(x, (1, i)))
            store(out, (1, i), load(x, (0, i)))

    return jitted(kernel)


@pytest.mark.parametrize("dtype", [*INTS, *FLOATS, "bool"])
def test_hints_of_caches(dtype: str) -> None:
    loads = [cuda.ldca, cuda.ldcg, cuda.ldcs, cuda.ldlu, cuda.ldcv]
    stores = [cuda.stcg, cuda.stcs, cuda.stwb, cuda.stwt, cuda.stcg]
    x = np.arange(80).reshape(2, 40).astype(dtype)
    for load, store in zip(loads, stores):
        out = np.zeros((2, 40), dtype)
        hinted(load, store)[2, 32](x, out)
        np.testing.assert_array_equal(out, x[::-1])


def test_hints_that_name_the_cache_of_the_device() -> None:
    text, _ = cuda.compile_ptx(hinted(cuda.ldcg, cuda.stcg).py_func, "void(float32[:, ::1], float32[:, ::1])")
    assert "ld.global.cg.f32" in text and "st.global.cg.f32" in text


TABLE = np.arange(12.0).reshape(3, 4)


def memories(dtype: Any) -> Any:
    def kernel(x, out):
        t = cuda.threadIdx.x
        fixed = cuda.shared.array((4, 8), dtype)
        first = cuda.shared.array(0, dtype)[:32]
        second = cuda.shared.array(0, dtype)[32:64]
        own = cuda.local.array((2, 2), dtype)
        table = cuda.const.array_like(TABLE)
        fixed[t // 8, t % 8] = x[t]
        first[t] = x[31 - t]
        second[31 - t] = x[t]
        own[t % 2, 0] = x[t]
        own[1 - t % 2, 0] = x[0]
        cuda.syncthreads()
        out[0, t] = fixed[3 - t // 8, t % 8]
        out[1, t] = first[t]
        out[2, t] = second[t]
        out[3, t] = own[t % 2, 0]
        out[4, t] = own[1 - t % 2, 0]
        out[5, t] = table[t % 3, t % 4]

    return jitted(kernel)


@pytest.mark.parametrize("dtype", [*INTS, *FLOATS, "float16"])
def test_kinds_of_memory(dtype: str) -> None:
    x, out = np.arange(32).astype(dtype), np.zeros((6, 32), dtype)
    memories(np.dtype(dtype).type)[1, 32, 0, 64 * np.dtype(dtype).itemsize](x, out)
    t = np.arange(32)
    turned = x.reshape(4, 8)[::-1].ravel()
    wanted = [turned, x[::-1], x[::-1], x, np.full(32, x[0]), TABLE[t % 3, t % 4]]
    np.testing.assert_array_equal(out, np.array(wanted).astype(dtype))


# ---- as code for GPUs -----------------------------------------------------------------------------------------


def test_every_intrinsic_is_walked() -> None:
    files = (ROOT / f"tests/python/simt/test_simt_{name}.py" for name in ("async", "tensor"))
    text = "".join(path.read_text() for path in (pathlib.Path(__file__), *files))
    table = (ROOT / "src/lang/simt/simt_op.def").read_text().split("float16: op_half.c")
    rows = re.findall(r"^TS_SIMT_OP\((\w+),", table[0] + table[1].split("/* -- memory")[1], re.MULTILINE)
    elsewhere = ("mma_", "array_", "number_", "literal", "print", "cg_", "libdevice", "_foreign", "bound", "carray",
                 "from_buffer", "_pointer", "farray", "parts", "whole", "alike", "known", "refuse",
                 "_written", "is_quick")  # fmt: skip
    dotted = ("mbarrier_", "wgmma_", "bulk_", "shared_", "local_", "const_", "threadIdx_", "blockIdx_", "blockDim_",
              "gridDim_", "atomic_", "tma_")  # fmt: skip
    names = [row.split("_", 1)[1] if row.startswith(dotted) else row for row in rows if not row.startswith(elsewhere)]
    missing = [name for name in names if not re.search(rf"\b{name}\b", text)]
    assert not missing


@pytest.mark.skipif(not shutil.which("ptxas"), reason="ptxas is not installed")
@pytest.mark.parametrize("target", sorted(t for t in TARGETS.values() if t >= 80))
def test_all_that_ran_assembles(target: int, tmp_path: pathlib.Path) -> None:
    """One file with all kernels of this process, under names of their own."""
    overloads = [overload for kernel in COMPILED for overload in kernel.overloads.values()]
    texts = sorted({overload.code(target)[0].decode().rstrip("\0") for overload in overloads})
    if not texts:
        pytest.skip("no kernel ran in this process")
    head = [line for line in texts[0].splitlines() if line.startswith((".version", ".target", ".address_size"))]
    version = max(re.search(r"\.version (\S+)", text)[1] for text in texts)  # type: ignore[index]
    bodies = []
    for i, text in enumerate(texts):
        lines = [s for s in text.splitlines() if not s.startswith((".version", ".target", ".address_size", ".extern"))]
        own = re.sub(r"\.entry (\w+)\(", rf".entry k{i}_\1(", "\n".join(lines))
        bodies.append(re.sub(r"\b(g_constant|ts)(\d+)\b", rf"k{i}_\1\2", own))
    outside = sorted({line for text in texts for line in text.splitlines() if line.startswith(".extern")})
    path = tmp_path / "all.ptx"
    path.write_text("\n".join([f".version {version}", *head[1:], *outside, *bodies]) + "\n")
    arch = re.search(r"\.target (\w+)", texts[0])
    assert arch
    command = ["ptxas", f"-arch={arch[1]}", "-O0", "-o", "/dev/null", str(path)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
