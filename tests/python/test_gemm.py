# SPDX-License-Identifier: Apache-2.0
"""The library's matrix product on the CPU: results of awkward shapes, and the tile picked for them."""

import numpy as np
import pytest
from tessera.lib import gemm

SHAPES = [(1, 1, 1), (1, 100, 300), (17, 33, 65), (300, 10, 70), (257, 129, 40), (64, 500, 33)]


def random(rows: int, cols: int) -> np.ndarray:
    return np.random.default_rng(rows + cols).uniform(-1, 1, (rows, cols)).astype(np.float32)


@pytest.mark.parametrize("m, n, k", SHAPES)
def test_product_of_any_shape_equals_float64(m: int, n: int, k: int) -> None:
    a, b, found = random(m, k), random(k, n), np.full((m, n), np.nan, np.float32)
    gemm.gemm(a, b, found)
    wanted = a.astype(np.float64) @ b.astype(np.float64)
    assert np.abs(found - wanted).max() < 1e-6 * (k + 8)


def test_tiles_give_the_same_bits() -> None:
    a, b = random(100, 90), random(90, 70)
    found = [np.empty((100, 70), np.float32) for _ in range(3)]
    for c, tile in zip(found, [(256, 256, 256), (16, 64, 32), (4, 16, 64)], strict=True):
        gemm.gemm(a, b, c, tile=tile)
    assert all(np.array_equal(c.view(np.int32), found[0].view(np.int32)) for c in found)


def test_picked_tile_pads_little() -> None:
    for m, n, k in [(300, 300, 300), (16, 1024, 1024), (1024, 100, 1024), (777, 1333, 555)]:
        tile = gemm.cpu_tile(m, n, k)
        padded = np.prod([-(-extent // t) * t for extent, t in zip((m, n, k), tile, strict=True)])
        assert padded <= 1.4 * m * n * k, (m, n, k, tile)


def test_large_products_get_the_large_tile() -> None:
    assert gemm.cpu_tile(1 << 16, 1 << 16, 1 << 16) == (256, 256, 256)
