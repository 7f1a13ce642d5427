# SPDX-License-Identifier: Apache-2.0
"""Products of groups of rows on the CPU: groups of any size, rows that belong to none, what is refused; the tile a GPU
would be given."""

import numpy as np
import pytest
from tessera.lib._gemm_plan import make_plan
from tessera.lib.grouped_gemm import KERNELS, grouped_gemm

GROUPS = [
    ((5, 70, 50, 100), (3, 40, 40, 77, 100)),
    ((1, 64, 64, 64), (64,)),
    ((4, 33, 17, 50), (0, 0, 20, 30)),  # rows are left over
    ((3, 40, 300, 200), (200, 200, 200)),
]


def operands(groups: int, k: int, n: int, m: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(m)
    a = rng.standard_normal((m, k), dtype=np.float32)
    b = rng.standard_normal((groups, k, n), dtype=np.float32)
    return a, b, np.full((m, n), np.nan, np.float32)


def product(a: np.ndarray, b: np.ndarray, ends: tuple[int, ...]) -> np.ndarray:
    """In float64; NaN in rows of no group."""
    wanted = np.full((a.shape[0], b.shape[2]), np.nan)
    for i, (start, end) in enumerate(zip((0, *ends), ends, strict=False)):
        wanted[start:end] = a[start:end].astype(np.float64) @ b[i]
    return wanted


@pytest.mark.parametrize("shape, ends", GROUPS)
def test_each_group_has_its_matrix(shape: tuple[int, ...], ends: tuple[int, ...]) -> None:
    a, b, c = operands(*shape)
    grouped_gemm(a, b, np.array(ends, np.int32), c)
    wanted = product(a, b, ends)
    assert np.array_equal(np.isnan(c), np.isnan(wanted))
    assert np.nanmax(np.abs(c - wanted)) < 1e-4


def test_matrices_may_be_transposed() -> None:
    a, b, c = operands(3, 40, 24, 30)
    turned = np.ascontiguousarray(b.transpose(0, 2, 1)).transpose(0, 2, 1)
    grouped_gemm(a, turned, np.array([10, 11, 30], np.int32), c)
    assert np.abs(c - product(a, b, (10, 11, 30))).max() < 1e-4


def test_an_offset_beyond_the_rows_counts_as_their_end_and_one_that_falls_as_the_one_before() -> (
    None
):
    a, b, c = operands(3, 16, 8, 20)
    grouped_gemm(a, b, np.array([12, 5, 99], np.int32), c)
    assert np.abs(c - product(a, b, (12, 12, 20))).max() < 1e-4


def test_no_rows_and_no_groups_are_nothing() -> None:
    a, b, c = operands(0, 16, 8, 4)
    grouped_gemm(a, b, np.empty(0, np.int32), c)
    assert np.isnan(c).all()
    a, b, c = operands(2, 16, 8, 0)
    grouped_gemm(a, b, np.zeros(2, np.int32), c)


def test_what_does_not_fit_is_refused() -> None:
    a, b, c = operands(3, 16, 8, 20)
    ends = np.array([1, 2, 20], np.int32)
    with pytest.raises(ValueError, match=r"b has shape \(3, 15, 8\), wanted \(3, 16, 8\)"):
        grouped_gemm(a, b[:, 1:], ends, c)
    with pytest.raises(ValueError, match=r"offsets has shape \(2,\), wanted \(3,\)"):
        grouped_gemm(a, b, ends[1:], c)
    with pytest.raises(ValueError, match=r"c has shape \(20, 7\), wanted \(20, 8\)"):
        grouped_gemm(a, b, ends, c[:, 1:])
    with pytest.raises(TypeError, match="offsets is of int64, wanted int32"):
        grouped_gemm(a, b, ends.astype(np.int64), c)


def tile_of(rows: int, n: int, dtype: str) -> tuple[int, ...]:
    """What an H200 takes for a group of so many rows."""
    a, b, c = (np.zeros(s, dtype) for s in ((rows, 16), (1, 16, n), (rows, n)))
    plan = make_plan(KERNELS, a, b, c, machine=(90, 132))
    assert plan.grid == (264 if dtype == "float64" else 132, 1, 1)
    return plan.constants[:3]


def test_small_groups_get_low_tiles() -> None:
    assert tile_of(512, 14336, "float16") == (128, 256, 64)
    assert tile_of(16, 4096, "float16")[0] == 64
    assert tile_of(512, 4096, "float64") == (128, 64, 16)
