# SPDX-License-Identifier: Apache-2.0
"""Products whose results are more than the registers of a block (src/gpu/plan/halve.c), made in parts as thread code
for sm_90: rows, columns, work behind the loop, edges; what stays whole."""

import numpy as np
import pytest
import tessera
import tessera.tile as ct
from lower import Const, run

ZERO = ct.PaddingMode.ZERO


def product(a, b, c, scale: float, TM: ct.Constant[int], TN: ct.Constant[int], TK: ct.Constant[int]):
    m, n = ct.bid(0), ct.bid(1)
    acc = ct.zeros((TM, TN), dtype=ct.float32)
    for k in range(ct.cdiv(a.shape[1], TK)):
        x = ct.load(a, index=(m, k), shape=(TM, TK), padding_mode=ZERO)
        y = ct.load(b, index=(k, n), shape=(TK, TN), padding_mode=ZERO)
        acc = ct.mma(x, y, acc)
    acc = ct.where(acc >= 0.0, acc, acc * scale) + 1.0
    ct.store(c, index=(m, n), tile=ct.astype(acc, c.dtype))


def batched(a, b, c, TM: ct.Constant[int], TN: ct.Constant[int], TK: ct.Constant[int]):
    i, m, n = ct.bid(0), ct.bid(1), ct.bid(2)
    acc = ct.zeros((TM, TN), dtype=ct.float32)
    for k in range(ct.cdiv(a.shape[2], TK)):
        x = ct.reshape(ct.load(a, index=(i, m, k), shape=(1, TM, TK), padding_mode=ZERO), (TM, TK))
        y = ct.reshape(ct.load(b, index=(i, k, n), shape=(1, TK, TN), padding_mode=ZERO), (TK, TN))
        acc = ct.mma(x, y, acc)
    ct.store(c, index=(i, m, n), tile=ct.reshape(ct.astype(acc, c.dtype), (1, TM, TN)))


def draw(seed, *shape):
    return np.random.default_rng(seed).integers(-3, 4, shape).astype(np.float16)


@pytest.mark.parametrize("extents", [(256, 256, 32), (264, 200, 40), (8, 512, 16)])
@pytest.mark.parametrize("tile", [(256, 256, 16), (128, 512, 16), (512, 128, 16)])
def test_a_result_in_parts_is_the_result(extents, tile):
    m, n, k = extents
    a, b, c = draw(1, m, k), draw(2, k, n), np.full((m, n), 7, np.float32)
    run(product, a, b, c, 0.5, *map(Const, tile), grid=(-(-m // tile[0]), -(-n // tile[1]), 1), target=90, facts=True)
    sums = a.astype(np.float32) @ b.astype(np.float32)
    assert np.array_equal(c, np.where(sums >= 0, sums, sums * np.float32(0.5)) + 1)


def test_batches():
    a, b, c = draw(3, 2, 264, 48), draw(4, 2, 48, 256), np.full((2, 264, 256), 7, np.float16)
    run(batched, a, b, c, Const(256), Const(256), Const(16), grid=(2, 2, 1), target=90, facts=True)
    assert np.array_equal(c.astype(np.float32), a.astype(np.float32) @ b.astype(np.float32))


def in_place(x, b, TM: ct.Constant[int], TK: ct.Constant[int]):
    """Writes what its loop loads: no part may be stored before the last load."""
    acc = ct.zeros((TM, TM), dtype=ct.float32)
    for k in range(ct.cdiv(x.shape[1], TK)):
        y = ct.load(b, index=(k, 0), shape=(TK, TM), padding_mode=ZERO)
        acc = ct.mma(ct.load(x, index=(0, k), shape=(TM, TK), padding_mode=ZERO), y, acc)
    ct.store(x, index=(0, 0), tile=ct.astype(acc, x.dtype))


def notes(kernel, tile, sizes=((1024, 512), (512, 1024), (1024, 1024)), **hints):
    arrays = tuple(tessera.zeros(s, "float16") for s in sizes)
    report = tessera.cost_report(ct.kernel(kernel, **hints), (*arrays, *tile), (4, 4), target="sm_90", assemble=False)
    return report.notes("pipeline", "parts"), report.notes("product", "wgmma")


def test_the_report_says_so_and_a_hint_turns_it_off():
    parts, wgmma = notes(product, (1.0, 256, 256, 64))
    assert parts[0]["text"].startswith("2 groups of rows") and wgmma
    assert notes(product, (1.0, 128, 512, 64))[0][0]["text"].startswith("2 groups of columns")
    assert notes(product, (1.0, 256, 256, 64), num_stages=1) == ([], [])
    assert notes(product, (1.0, 128, 256, 64))[0] == []


def test_a_product_in_place_stays_whole():
    assert notes(in_place, (256, 64), sizes=((1024, 512), (512, 1024))) == ([], [])


def rounded(a, b, c, TM: ct.Constant[int], TK: ct.Constant[int]):
    """Operands of tf32 with b along n, which wgmma does not take."""
    m, n = ct.bid(0), ct.bid(1)
    acc = ct.zeros((TM, TM), dtype=ct.float32)
    for k in range(ct.cdiv(a.shape[1], TK)):
        x = ct.astype(ct.load(a, index=(m, k), shape=(TM, TK), padding_mode=ZERO), ct.tfloat32)
        y = ct.astype(ct.load(b, index=(k, n), shape=(TK, TM), padding_mode=ZERO), ct.tfloat32)
        acc = ct.mma(x, y, acc)
    ct.store(c, index=(m, n), tile=acc)


def test_products_without_wgmma_are_made_in_parts_too():
    a, b, c = (draw(s, *shape).astype(np.float32) for s, shape in ((5, (264, 24)), (6, (24, 200)), (7, (264, 200))))
    run(rounded, a, b, c, Const(256), Const(16), grid=(2, 1, 1), target=90, facts=True)
    assert np.array_equal(c, a @ b)
    arrays = tuple(tessera.zeros((1024, 1024), "float32") for _ in range(3))
    report = tessera.cost_report(ct.kernel(rounded), (*arrays, 256, 64), (4, 4), target="sm_90", assemble=False)
    assert report.notes("pipeline", "parts") and not report.notes("product", "wgmma")
