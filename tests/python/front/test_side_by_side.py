# SPDX-License-Identifier: Apache-2.0
"""Products as thread code for sm_90, as the library's kernels write them: tiles side by side that share instructions,
results that are stored transposed or into rows that no copy of 16 bytes begins at."""

import numpy as np
import pytest
import tessera
import tessera.tile as ct
from lower import Const, LowerError, array, lower, run
from tessera.lib import gemm

PLAIN, WIDE, SLENDER = gemm.gemm_kernel, gemm.wide_gemm_kernel, gemm.slender_gemm_kernel
CONSTANTS = {PLAIN: (64, 8, False, False, 1), WIDE: (64, 8, False, False), SLENDER: (64, 8, False, False)}


def whole(rng: np.random.Generator, rows: int, cols: int) -> np.ndarray:
    """Small whole numbers, whose sums are exact; rows begin at multiples of 16 bytes."""
    room = rng.integers(-2, 3, (rows, -(-cols // 8) * 8)).astype(np.float16)
    return room[:, :cols]


def operands(shape: tuple[int, int, int], order: str) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(sum(shape))
    m, n, k = shape
    a = whole(rng, k, m).T if order[0] == "T" else whole(rng, m, k)
    b = whole(rng, n, k).T if order[1] == "T" else whole(rng, k, n)
    return a, b


CASES = [
    # kernel, tile, shape, order, columns from row to row of c, transposed, blocks
    (WIDE, (64, 64, 48), (70, 200, 72), "NT", 200, False, 2),  # lines along K: 112 columns at once
    (WIDE, (64, 64, 32), (70, 90, 72), "TN", 96, False, 2),  # along N: the last tile fills no panel
    (WIDE, (64, 64, 16), (70, 90, 72), "TN", 91, True, 2),
    (WIDE, (128, 32, 16), (75, 130, 40), "NN", 131, True, 2),
    (WIDE, (64, 32, 16), (135, 75, 40), "NN", 136, True, 3),
    (PLAIN, (64, 128), (75, 135, 40), "NN", 136, True, 2),
    (PLAIN, (64, 128), (75, 135, 40), "NN", 135, True, 2),
    (PLAIN, (64, 16), (37, 65, 40), "NT", 72, True, 3),
    (PLAIN, (128, 32), (61, 130, 40), "NT", 134, True, 3),
    (SLENDER, (128, 64), (61, 130, 40), "NT", 136, True, 4),
    (PLAIN, (64, 64), (75, 70, 40), "NN", 80, False, 3),
    (WIDE, (64, 32, 16), (75, 90, 40), "NN", 96, False, 2),  # nothing beside the array is written
]


@pytest.mark.parametrize("case", CASES, ids=lambda c: f"{c[0].__name__}-{c[1]}-{c[3]}-{c[4]}-{'T' * c[5]}")
def test_results_are_exact_and_nothing_beside_them_is_written(case) -> None:
    kernel, tile, shape, order, line, transposed, blocks = case
    a, b = operands(shape, order)
    room = np.full((shape[0], line), np.nan, np.float16)
    c = room[:, : shape[1]]
    arrays = (b.T, a.T, c.T) if transposed else (a, b, c)
    constants = [Const(x) for x in (*tile, *CONSTANTS[kernel])]
    run(kernel._function, *arrays, *constants, grid=(blocks, 1, 1), target=90, facts=True, schedule=1)
    np.testing.assert_array_equal(c, a.astype(np.float64) @ b.astype(np.float64))
    assert np.isnan(room[:, shape[1] :]).all()


def test_many_narrow_tiles_share_an_instruction() -> None:
    def kernel(a, b, c):
        s0 = s1 = s2 = s3 = s4 = ct.full((64, 16), 0.0, ct.float32)
        for k in range(ct.cdiv(a.shape[1], 64)):
            x = ct.load(a, (0, k), (64, 64))
            s0 = ct.mma(x, ct.load(b, (0, k), (16, 64)).permute((1, 0)), s0)
            s1 = ct.mma(x, ct.load(b, (1, k), (16, 64)).permute((1, 0)), s1)
            s2 = ct.mma(x, ct.load(b, (2, k), (16, 64)).permute((1, 0)), s2)
            s3 = ct.mma(x, ct.load(b, (3, k), (16, 64)).permute((1, 0)), s3)
            s4 = ct.mma(x, ct.load(b, (4, k), (16, 64)).permute((1, 0)), s4)
        ct.store(c, (0, 0), s0)
        ct.store(c, (0, 1), s1)
        ct.store(c, (0, 2), s2)
        ct.store(c, (0, 3), s3)
        ct.store(c, (0, 4), s4)

    rng = np.random.default_rng(2)
    a, b, c = whole(rng, 64, 192), whole(rng, 80, 192), np.zeros((64, 80), np.float32)
    run(kernel, a, b, c, grid=(1, 1, 1), target=90, facts=True)
    np.testing.assert_array_equal(c, a.astype(np.float64) @ b.T)
    code = bytes(tessera._core.compile(ct.kernel(kernel)._prepare(), (a, b, c), 90))
    assert code.count(b"wgmma.mma_async") == code.count(b".m64n80k16") == 4


def test_pieces_of_tiles_side_by_side_add_up() -> None:
    a, b = operands((70, 150, 136), "NT")
    parts = np.full((2, 128, 224), np.nan, np.float32)
    constants = [Const(x) for x in (64, 64, 48, 64, 2, False, False)]
    run(gemm.wide_split_gemm_kernel._function, a, b, parts, *constants, grid=(4, 2, 1), target=90, facts=True)
    np.testing.assert_array_equal(parts.sum(0)[:70, :150], a.astype(np.float64) @ b)


def off(rng: np.random.Generator, rows: int, cols: int, step: int) -> np.ndarray:
    """As whole(), but rows begin at multiples of `step` elements, of 8 in no row but the first."""
    line = -(-cols // step) * step
    line += step * (line % 8 == 0)
    room = np.zeros(rows * line + 8, np.float16)
    room = room[-room.ctypes.data // 2 % 8 :][: rows * line].reshape(rows, line)
    room[...] = rng.integers(-2, 3, room.shape)
    return room[:, :cols]


@pytest.mark.parametrize(
    ("tile", "shape", "steps", "pieces"),
    [
        ((32, 64, 32), (50, 70, 75), (2, 2), 0),
        ((64, 32, 64), (51, 35, 131), (1, 4), 0),
        ((16, 64, 64), (14, 70, 200), (2, 4), 2),
    ],
)
def test_rows_off_16_bytes_are_read_by_copies(tile, shape, steps, pieces) -> None:
    rng, (m, n, k) = np.random.default_rng(7), shape
    a, b = off(rng, m, k, steps[0]), off(rng, n, k, steps[1]).T
    rows, cols = -(-m // tile[0]), -(-n // tile[1])
    room = np.full((max(1, pieces), rows * tile[0], cols * tile[1]), np.nan, np.float32)
    kernel, out = (gemm.raw_split_gemm_kernel, room) if pieces else (gemm.raw_gemm_kernel, room[0, :m, :n])
    constants = [Const(x) for x in (*tile, pieces or 8, *steps)]
    run(kernel._function, a, b, out, *constants, grid=(rows * cols, max(1, pieces), 1), target=90, facts=True)
    np.testing.assert_array_equal(room.sum(0)[:m, :n], a.astype(np.float64) @ b)


@pytest.mark.parametrize(("step", "copies"), [(1, 0), (2, 4), (4, 8)])
def test_copies_are_as_wide_as_was_promised(step: int, copies: int) -> None:
    c = np.zeros((70, 70), np.float16)
    line = np.zeros(70 * 100 + 8, np.float16)
    a = line[-line.ctypes.data // 2 % 8 :][: 70 * 100].reshape(70, 100)
    args = (a, a.T, c, 32, 64, 32, 8, step, step)
    code = bytes(tessera._core.compile(gemm.raw_gemm_kernel._prepare(), args, 90))
    found = {w for w in (4, 8, 16) if b"], %d, " % w in code or b"], %d;" % w in code}
    assert found == ({copies} if copies else set())


def test_strides_of_an_array_are_promised() -> None:
    def kernel(x):
        y = ct.assume_divisible_by(x, 4)
        ct.store(y, index=(0, 0), tile=ct.load(y, index=(0, 0), shape=(4, 4)))

    assert "assume div_by(4)" in lower(kernel, array(rank=2, stride_div16=0))
    fixed = array(rank=2, stride_div16=0, static_stride=1)
    fixed[0].strides[0] = 6
    with pytest.raises(LowerError, match="stride of axis 0 is 6, no multiple of 4"):
        lower(kernel, fixed)


def code_of(kernel, tile: tuple[int, ...], order: str, transposed: bool = False) -> bytes:
    a, b, c = (np.zeros((256, 256), np.float16) for _ in range(3))
    a, b = (x.T if o == "T" else x for x, o in zip((a, b), order, strict=True))
    arrays = (b.T, a.T, c.T) if transposed else (a, b, c)
    return bytes(tessera._core.compile(kernel._prepare(), (*arrays, *tile, *CONSTANTS[kernel]), 90))


@pytest.mark.parametrize(
    ("tile", "order", "columns"),
    [
        ((128, 128, 32), "NT", [160]),
        ((128, 128, 48), "NT", [176]),
        ((256, 128, 64), "NN", [192]),
        ((128, 128, 96), "TN", [224]),
        ((128, 64, 16), "TN", [80]),
        ((128, 128, 48), "TN", [160, 16]),  # two tiles that fill no panel are not one
        ((128, 256, 32), "NT", [256, 32]),  # more than an instruction has
        ((64, 512, 32), "NT", [256, 16]),  # each warpgroup makes half of the columns
    ],
)
def test_tiles_side_by_side_share_instructions(tile, order, columns) -> None:
    code = code_of(WIDE, tile, order)
    found = {n for n in range(8, 257, 8) if b"wgmma.mma_async.sync.aligned.m64n%dk16" % n in code}
    assert found == set(columns)
    assert code.count(b"wgmma.commit_group") == len(columns)


@pytest.mark.parametrize("kernel", [PLAIN, SLENDER])
def test_transposed_results_go_through_shared_memory(kernel) -> None:
    code = code_of(kernel, (128, 128), "NN", transposed=True)
    assert code.count(b".trans.shared.b16") == 8 and b"st.global" not in code
    assert code.count(b"cp.async.bulk.tensor.2d.global.shared::cta") > 0
