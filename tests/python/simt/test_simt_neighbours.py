# SPDX-License-Identifier: Apache-2.0
"""Accesses beside each other: addresses made from those of neighbours, and wide ones, against the kernel as it is
written; how wide they are is read in the PTX."""

from __future__ import annotations

import re

import numpy as np
import pytest
from simt_run import cuda, ir, run

from tessera import _core

F = np.float32


def aligned(a: np.ndarray, beyond: int = 0) -> np.ndarray:
    """A copy that begins `beyond` bytes after a multiple of 64."""
    room = np.zeros(a.nbytes + 128, np.uint8)
    at = -room.ctypes.data % 64 + beyond
    copy = room[at : at + a.nbytes].view(a.dtype).reshape(a.shape)
    copy[...] = a
    return copy


def ptx(kernel, *args: object) -> str:
    return _core.compile_text(ir(kernel, *args, facts=True), _core.TARGETS["sm_90"]).decode()


def same_as_written(kernel, arrays: list[np.ndarray], threads: int, beyond: int = 0) -> None:
    wanted = [a.copy() for a in arrays]
    run(kernel, *wanted, block=(threads,))
    for target in (80, 90):
        found = [aligned(a, beyond) for a in arrays]
        run(kernel, *found, block=(threads,), target=target, facts=True)
        for x, y in zip(found, wanted, strict=True):
            np.testing.assert_array_equal(x, y, err_msg=str(target))


def quads(dtype, n: int):
    def kernel(x, out):
        i = cuda.threadIdx.x
        for k in range(n):
            out[n * i + n - 1 - k] = x[n * i + k]

    return kernel


@pytest.mark.parametrize(
    ("dtype", "n", "wide"),
    [
        ("float32", 4, "v4.f32"), ("float32", 2, "v2.f32"), ("float64", 2, "v2.f64"), ("int64", 4, "v2.b64"),
        ("int16", 2, "b32"), ("float16", 4, "v2.b32"), ("uint8", 4, "b32"), ("uint8", 16, "v4.b32"),
        ("float32", 8, "v4.f32"),
    ],
)  # fmt: skip
def test_neighbours_are_one_access(dtype: str, n: int, wide: str) -> None:
    x, out = aligned(np.arange(32 * n).astype(dtype)), aligned(np.zeros(32 * n, dtype))
    same_as_written(quads(dtype, n), [x, out], 32)
    text = ptx(quads(dtype, n), x, out)
    accesses = re.findall(r"(?:ld\.global\.nc|st\.global)\.(\S+)", text)
    assert set(accesses) == {wide}


def test_an_array_that_begins_elsewhere_is_read_one_by_one() -> None:
    x, out = aligned(np.arange(128.0).astype(F), 4), aligned(np.zeros(128, F))
    same_as_written(quads(F, 4), [x, out], 32, 4)
    text = ptx(quads(F, 4), x, out)
    assert "ld.global.nc.v" not in text
    assert "st.global.v4.f32" in text


def test_rows_of_four() -> None:
    """Points of an array (n, 4): the stride is known to be a multiple of 16 bytes."""

    def kernel(points, out):
        i = cuda.threadIdx.x
        total = points[i, 0] + points[i, 1] + points[i, 2]
        out[i] = total + points[i, 3]

    points, out = aligned(np.random.default_rng(1).random((32, 4), F)), aligned(np.zeros(32, F))
    same_as_written(kernel, [points, out], 32)
    assert "ld.global.nc.v4.f32" in ptx(kernel, points, out)


def test_writes_between_keep_their_order() -> None:
    def kernel(x, k):
        i = 4 * cuda.threadIdx.x
        a = x[i]
        x[i + k[0]] = a + F(1)
        b = x[i + 1]
        x[i + 2] = b
        x[i + 3] = x[i + 2] + a
        x[i + 2] = F(7)

    same_as_written(kernel, [np.arange(128.0).astype(F), np.array([1], np.int32)], 32)


def test_a_barrier_between_keeps_its_place() -> None:
    def kernel(out):
        t = cuda.threadIdx.x
        shared = cuda.shared.array(64, np.float32)
        shared[2 * t] = F(t)
        cuda.syncthreads()
        a = shared[(2 * t + 2) % 64]
        cuda.syncthreads()
        shared[2 * t + 1] = a
        cuda.syncthreads()
        out[2 * t] = shared[2 * t]
        out[2 * t + 1] = shared[2 * t + 1]

    same_as_written(kernel, [np.zeros(64, F)], 32)


def stencil(steps: list[tuple[int, int]], reverse: bool):
    def kernel(x, out):
        j, i = cuda.threadIdx.x % 8 + 2, cuda.threadIdx.x // 8 + 2
        view = x[::-1, :] if reverse else x
        total = F(0)
        for di, dj in steps:
            total += view[i + di, j + dj]
        if total > F(50):
            total -= view[i - 1, j] * view[i + 1, j - 1]
        out[i, j] = total
        out[i - 2, j + 1] = total

    return kernel


@pytest.mark.parametrize("seed", range(8))
def test_stencils(seed: int) -> None:
    """Steps at random, in order and out of it, of arrays and of views that run backwards."""
    rng = np.random.default_rng(seed)
    steps = [(int(i), int(j)) for i, j in rng.integers(-2, 3, (int(rng.integers(2, 9)), 2))]
    kernel = stencil(steps, seed % 2 == 1)
    same_as_written(kernel, [rng.integers(0, 99, (8, 12)).astype(F), np.zeros((8, 12), F)], 32)


def test_the_centre_of_a_stencil_gives_its_neighbours() -> None:
    def kernel(x, out):
        j, i = cuda.threadIdx.x % 8 + 2, cuda.threadIdx.x // 8 + 2
        out[i, j] = x[i, j] + x[i, j - 1] + x[i, j + 1] + x[i - 1, j]

    x, out = np.zeros((8, 12), F), np.zeros((8, 12), F)
    text = ptx(kernel, x, out)
    assert "+-4]" in text and "+4]" in text
    assert text.count("mul.wide") == 3


def orders(steps: tuple[tuple[int, int, int], ...]):
    def kernel(x, y):
        i = cuda.threadIdx.x
        s = F(0)
        for kind, k, j in steps:
            if kind == 0:
                s += x[8 * i + k]
            elif kind == 1:
                x[8 * i + k] = s + F(j)
            elif kind == 2:
                y[8 * i + k] = s
            elif kind == 3:
                s += y[8 * i + k]
            elif kind == 4:
                if s > F(20 * j):
                    x[8 * i + k] = y[8 * i + j] + F(1)
            else:
                s -= x[i * 8 + (k + 1) % 8] + x[i * 8 + j]

    return kernel


@pytest.mark.parametrize("seed", range(40))
def test_reads_and_writes_at_random(seed: int) -> None:
    """Of two arrays, that begin anywhere, in any order, some under conditions."""
    rng = np.random.default_rng(seed)
    steps = [(int(rng.integers(6)), int(rng.integers(8)), int(rng.integers(8))) for _ in range(rng.integers(4, 18))]
    arrays = [rng.integers(0, 9, 256).astype(F) for _ in range(2)]
    same_as_written(orders(tuple(steps)), arrays, 32, 4 * int(rng.integers(4)))


def test_a_loop_carries_the_index_that_its_counter_multiplies() -> None:
    def rows(x, out, first):
        i = cuda.threadIdx.x
        total = F(0)
        for r in range(x.shape[0]):
            if first + r >= 0:  # the index of what is not looked at may be far outside
                total += x[first + r, i]
        for r in range(max(first, -9), x.shape[0], 3):
            if r >= 0:
                out[r, i] = total + x[r, i]

    x = np.random.default_rng(0).standard_normal((7, 32)).astype(F)
    for first in (0, -2, -(2**40)):
        same_as_written_with(rows, [x, np.zeros_like(x)], first)
    loops = ptx(rows, x, x, -2).split("\nL")[1:]
    assert loops and not any("mul.lo" in loop.split("bra L")[0] for loop in loops)


def same_as_written_with(kernel, arrays: list[np.ndarray], number: int) -> None:
    wanted, found = ([aligned(a) for a in arrays] for _ in range(2))
    run(kernel, *wanted, number, block=(32,))
    run(kernel, *found, number, block=(32,), target=90, facts=True)
    for x, y in zip(found, wanted, strict=True):
        np.testing.assert_array_equal(x, y)


def test_short_choices_are_selected() -> None:
    def edits(one, two, out):
        row = cuda.local.array(9, np.int32)
        for k in range(9):
            row[k] = out[k]
        for k in range(8):
            row[k + 1] = row[0] if one[0] == two[k] else min(row[0], row[k + 1], row[k]) + 1
        for k in range(9):
            out[k] = row[k]

    rng = np.random.default_rng(1)
    one, two, row = (rng.integers(0, 3, n).astype(dtype) for n, dtype in ((1, "u1"), (8, "u1"), (9, "i4")))
    same_as_written(edits, [one, two, row], 1)
    text = ptx(edits, one, two, row)
    assert text.count("selp") == 8 and "bra" not in text


def test_twice_a_number_is_a_sum() -> None:
    def doubled(x, out):
        i = cuda.threadIdx.x
        out[i] = x[i] * F(2)

    x = np.array([1.5, -0.0, 0.0, 1e-45, -3e38, 3e38, np.inf, -np.inf, np.nan] + [1] * 23, F)
    with np.errstate(over="ignore"):
        same_as_written(doubled, [x, np.zeros_like(x)], 32)
    assert "add.rn.f32" in ptx(doubled, x, x) and "mul.rn" not in ptx(doubled, x, x)
