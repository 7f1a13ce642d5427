# SPDX-License-Identifier: Apache-2.0
"""cuda.tma: boxes of arrays, at their edges and outside, as written, by tensor maps, and by rows on the CPU."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import simt_run
from simt_run import cuda, run

from tessera import cuda as host

WAYS = (0, 90, "cpu")


def copies(box: tuple[int, ...], dtype: Any) -> Any:
    """A kernel that moves the box from ``at`` in x to ``to`` in y, by thread 3."""
    size = int(np.prod(box))
    nbytes = size * np.dtype(dtype).itemsize

    def kernel(x, y, at, to):
        tile = cuda.shared.array(size, dtype)
        bars = cuda.shared.array(1, np.uint64)
        t = cuda.threadIdx.x
        if t == 3:
            cuda.mbarrier.init(bars, 0, 1)
            cuda.mbarrier.fence()
        cuda.syncthreads()
        if t == 3:
            cuda.mbarrier.expect(bars, 0, nbytes)
            cuda.tma.load(tile, 0, x, at, box, bars, 0)
        cuda.mbarrier.wait(bars, 0, 0)
        if t == 3:
            cuda.tma.store(y, to, tile, 0, box)
            cuda.bulk.commit()
            cuda.bulk.wait()

    return kernel


def ran(kernel: Any, args: tuple[Any, ...], how: Any, block: int = 32) -> None:
    if how == "cpu":
        host.jit(kernel)[1, block](*args)
    else:
        run(kernel, *args, block=(block,), target=how)


def aligned(shape: tuple[int, ...], dtype: Any) -> Any:
    """An array that begins where TMA wants it, with rows of 16 bytes' multiples; any contents."""
    room = np.zeros(int(np.prod(shape)) * np.dtype(dtype).itemsize + 16, np.uint8)
    start = -room.ctypes.data % 16
    return room[start : room.size - 16 + start].view(dtype).reshape(shape)


def box_of(x: Any, at: tuple[int, ...], box: tuple[int, ...]) -> Any:
    wide = np.pad(x, [(300, 300)] * x.ndim) if x.ndim < 3 else np.pad(x, [(12, 12)] * x.ndim)
    pad = 300 if x.ndim < 3 else 12
    return wide[tuple(slice(pad + a, pad + a + n) for a, n in zip(at, box, strict=True))]


def put(y: Any, at: tuple[int, ...], values: Any) -> None:
    for index in np.ndindex(values.shape):
        place = tuple(a + i for a, i in zip(at, index, strict=True))
        if all(0 <= p < n for p, n in zip(place, y.shape, strict=True)):
            y[place] = values[index]


CASES = [  # shape, box, dtype
    ((100,), (16,), np.float32),
    ((12, 32), (4, 8), np.float32),
    ((40, 48), (8, 16), np.float16),
    ((9, 64), (3, 32), np.int8),
    ((7, 6), (2, 2), np.float64),
    ((5, 6, 8), (2, 3, 4), np.int32),
    ((3, 4, 5, 8), (1, 2, 2, 8), np.uint32),
    ((2, 3, 2, 3, 4), (2, 1, 2, 2, 4), np.float32),
]


@pytest.mark.parametrize("how", WAYS)
@pytest.mark.parametrize("case", range(len(CASES)))
def test_boxes_inside_and_across_edges(case: int, how: Any) -> None:
    shape, box, dtype = CASES[case]
    rng = np.random.default_rng(case)
    kernel = copies(box, dtype)
    for turn in range(3):
        x, y = aligned(shape, dtype), aligned(shape, dtype)
        x[...], y[...] = rng.integers(1, 100, shape), rng.integers(1, 100, shape)
        low = [0 if turn == 0 else -n for n in box]
        at, to = (tuple(int(rng.integers(a, n + 1)) for a, n in zip(first, shape)) for first in (low, [0] * len(box)))
        unit = max(16 // np.dtype(dtype).itemsize, 1)
        at, to = ((*p[:-1], p[-1] // unit * unit) for p in (at, to))
        want = y.copy()
        put(want, to, box_of(x, at, box))
        ran(kernel, (x, y, at if len(at) > 1 else at[0], to if len(to) > 1 else to[0]), how)
        np.testing.assert_array_equal(y, want, err_msg=f"{at} {to}")


def doubled(x, y):
    """Two tiles are on their way, and each block stores its part of the edges."""
    tile = cuda.shared.array((2, 8, 32), np.float32)
    bars = cuda.shared.array(2, np.uint64)
    t = cuda.threadIdx.x
    row, steps = cuda.blockIdx.x * 8, (x.shape[1] + 31) // 32
    if t == 0:
        cuda.mbarrier.init(bars, 0, 1)
        cuda.mbarrier.init(bars, 1, 1)
        cuda.mbarrier.fence()
    cuda.syncthreads()
    for step in range(steps + 1):
        if t == 0 and step < steps:
            cuda.bulk.wait(0, True)
            cuda.mbarrier.expect(bars, step % 2, 1024)
            cuda.tma.load(tile, (step % 2, 0, 0), x, (row, step * 32), (8, 32), bars, step % 2)
        if step > 0:
            last = step - 1
            cuda.mbarrier.wait(bars, last % 2, last // 2)
            for i in range(t, 256, cuda.blockDim.x):
                tile[last % 2, i // 32, i % 32] *= 2
            cuda.bulk.fence()
            cuda.syncthreads()
            if t == 0:
                cuda.tma.store(y, (row, last * 32), tile, (last % 2, 0, 0), (8, 32))
                cuda.bulk.commit()
    cuda.bulk.wait()


@pytest.mark.parametrize("how", WAYS)
def test_a_pipeline(how: Any) -> None:
    x, y = aligned((20, 100), np.float32), aligned((20, 100), np.float32)
    x[...] = np.arange(2000).reshape(20, 100)
    if how == "cpu":
        host.jit(doubled)[3, 64](x, y)
        np.testing.assert_array_equal(y, 2 * x)
        y[...] = 0
        host.jit(checked="races")(doubled)[3, 64](x, y)
    else:
        run(doubled, x, y, grid=(3,), block=(64,), target=how)
    np.testing.assert_array_equal(y, 2 * x)


@pytest.mark.parametrize("how", WAYS)
def test_a_box_begins_at_16_bytes(how: Any) -> None:
    x, y = aligned((12, 32), np.float32), aligned((12, 32), np.float32)
    with pytest.raises((simt_run.LowerError, ValueError), match=r"load\(\): the box begins at a multiple of 4"):
        ran(copies((4, 8), np.float32), (x, y, (0, 3), (0, 0)), how)


@pytest.mark.parametrize("how", WAYS)
def test_a_box_is_not_written_before_the_array(how: Any) -> None:
    x, y = aligned((12, 32), np.float32), aligned((12, 32), np.float32)
    x[...] = 1
    with pytest.raises((simt_run.LowerError, ValueError), match=r"store\(\): the box to be written begins before"):
        ran(copies((4, 8), np.float32), (x, y, (0, 0), (-1, 0)), how)
    assert not y.any()


@simt_run.needs_ptxas
def test_barriers_lie_in_lines_of_their_own(tmp_path: Any) -> None:
    x = np.zeros(100, np.float32)
    text = simt_run.assemble(copies((16,), np.float32), (x, x, 1, 1), 90, tmp_path)
    assert "mbarrier.init.shared.b64 [smem+128], 1;" in text


@simt_run.needs_ptxas
@pytest.mark.parametrize("target", [90, 100, 120])
def test_ptxas_takes_it(target: int, tmp_path: Any) -> None:
    x = np.zeros((20, 100), np.float32)
    text = simt_run.assemble(doubled, (x, x), target, tmp_path)
    assert text.count(".param .align 64 .b8 tm") == 2 and "cp.async.bulk.tensor.2d" in text


def test_a_gpu_without_tma_refuses_by_name() -> None:
    def kernel(x):
        tile = cuda.shared.array((8, 32), np.float32)
        cuda.tma.store(x, (0, 0), tile, (0, 0), (8, 32))

    with pytest.raises(host.errors.LoweringError, match="needs sm_90 or later, the target is sm_80"):
        host.compile_ptx(kernel, "void(float32[:, ::1])", cc=(8, 0))


def one_copy(body: str) -> Any:
    text = "def kernel(x, n):\n    tile = cuda.shared.array((8, 32), np.float32)\n"
    text += "    bars = cuda.shared.array(1, np.uint64)\n    " + body + "\n"
    space: dict[str, Any] = {"cuda": cuda, "np": np}
    exec(text, space)  # noqa: S102
    return space["kernel"]


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("cuda.tma.store(x, (0, 0), tile, (0, 0), (8, n))", "constants from 1 to 256"),
        ("cuda.tma.store(x, (0, 0), tile, (0, 0), (300, 4))", "constants from 1 to 256"),
        ("cuda.tma.store(x, (0, 0), tile, (0, 0), (8, 3))", "a multiple of 16 bytes(.|\n)*3 elements of 4 bytes"),
        ("cuda.tma.store(x, (0, 0), tile, (0, 0), (8,))", "a tuple of 2 constants"),
        ("cuda.tma.store(x, 0, tile, (0, 0), (8, 32))", "2 integers, where the box begins"),
        ("cuda.tma.store(x, (0, 0.5), tile, (0, 0), (8, 32))", "integers, where the box begins"),
        ("cuda.tma.store(tile, (0, 0), x, (0, 0), (8, 32))", "an array in global memory"),
        ("cuda.tma.store(x.T, (0, 0), tile, (0, 0), (8, 32))", "side by side along the last axis"),
        ("cuda.tma.store(x, (0, 0), tile.view(np.int32), (0, 0), (8, 32))", "one dtype"),
        ("cuda.tma.load(tile, (0, 0), x, (0, 0), (8, 32), tile, (0, 0))", "barriers: an array of uint64"),
    ],
)
def test_mistakes(body: str, words: str) -> None:
    with pytest.raises(simt_run.LowerError, match=words):
        run(one_copy(body), np.zeros((16, 64), np.float32), 8)


def test_a_slice_is_no_argument() -> None:
    kernel = one_copy("cuda.tma.store(x[n:], (0, 0), tile, (0, 0), (8, 32))")
    with pytest.raises(host.errors.LoweringError, match="boxes of arrays that are arguments of the kernel"):
        host.compile_ptx(kernel, "void(float32[:, ::1], int64)", cc=(9, 0))


def from_row(room: Any, row: Any = None) -> Any:
    """A kernel that moves a box of 4 x 8 by a shared array, from a row of it on: a constant, or ``at``."""

    def kernel(x, y, at):
        tile = cuda.shared.array(room, np.float32)
        bars = cuda.shared.array(1, np.uint64)
        first = at if row is None else row
        if cuda.threadIdx.x == 0:
            cuda.mbarrier.init(bars, 0, 1)
            cuda.mbarrier.fence()
            cuda.mbarrier.expect(bars, 0, 128)
            cuda.tma.load(tile, (first, 0), x, (0, 0), (4, 8), bars, 0)
        cuda.mbarrier.wait(bars, 0, 0)
        if cuda.threadIdx.x == 0:
            cuda.tma.store(y, (0, 0), tile, (first, 0), (4, 8))
            cuda.bulk.commit()
            cuda.bulk.wait()

    return kernel


@pytest.mark.parametrize("how", WAYS)
def test_a_box_ends_in_the_shared_array(how: Any) -> None:
    x, y = aligned((4, 8), np.float32), aligned((4, 8), np.float32)
    x[...] = np.arange(32).reshape(4, 8)
    ran(from_row((12, 8)), (x, y, 8), how)
    np.testing.assert_array_equal(y, x)
    for wrong in (12, 100):
        with pytest.raises((simt_run.LowerError, ValueError), match=r"the box of 32 elements goes beyond the shared"):
            ran(from_row((12, 8)), (x, y, wrong), how)


def test_a_box_that_has_no_room_does_not_compile() -> None:
    x, y = aligned((4, 8), np.float32), aligned((4, 8), np.float32)
    for room, row, left in (((2, 8), 0, 16), ((2, 8), None, 16), ((12, 8), 9, 24), ((12, 8), -2, 16)):
        with pytest.raises(host.errors.ConstantError, match=f"box of 32 elements in a shared array that has {left} "):
            host.jit(from_row(room, row))[1, 32](x, y, 0)


def test_a_box_in_shared_memory_of_the_launch() -> None:
    x, y = aligned((4, 8), np.float32), aligned((4, 8), np.float32)
    x[...] = np.arange(32).reshape(4, 8)

    def kernel(x, y, at):
        tile = cuda.shared.array(0, np.float32)
        bars = cuda.shared.array(1, np.uint64)
        if cuda.threadIdx.x == 0:
            cuda.mbarrier.init(bars, 0, 1)
            cuda.mbarrier.fence()
            cuda.mbarrier.expect(bars, 0, 128)
            cuda.tma.load(tile, at, x, (0, 0), (4, 8), bars, 0)
        cuda.mbarrier.wait(bars, 0, 0)
        y[cuda.threadIdx.x // 8, cuda.threadIdx.x % 8] = tile[at + cuda.threadIdx.x]

    host.jit(kernel)[1, 32, 0, 256](x, y, 32)
    np.testing.assert_array_equal(y, x)
    with pytest.raises(ValueError, match="goes beyond"):
        host.jit(kernel)[1, 32, 0, 256](x, y, 64)


def test_places_within_the_bound_of_their_bits_are_not_looked_at() -> None:
    x, y = aligned((20, 100), np.float32), aligned((20, 100), np.float32)
    assert "goes beyond" not in simt_run.ir(doubled, x, y)
