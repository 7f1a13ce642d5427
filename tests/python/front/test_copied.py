# SPDX-License-Identifier: Apache-2.0
"""Products on wgmma whose operands TMA cannot bring (src/gpu/plan/copied.c), run as thread code for sm_90: places that
are loaded, arrays out of lists, either order in memory, edges; what keeps such a product on mma.sync."""

import shutil

import numpy as np
import pytest
import tessera
import tessera.tile as ct
from lower import Const, run
from tessera import _core, _report

ZERO = ct.PaddingMode.ZERO


def at_places(a, b, c, at, TM: ct.Constant[int], TN: ct.Constant[int], TK: ct.Constant[int]):
    """Rows of tiles in an order that is loaded."""
    m, n = ct.load(at, index=(ct.bid(0),), shape=(1,)).item(), ct.bid(1)
    acc = ct.zeros((TM, TN), dtype=c.dtype)
    for k in range(ct.cdiv(a.shape[1], TK)):
        x = ct.load(a, index=(m, k), shape=(TM, TK), padding_mode=ZERO, allow_tma=False)
        y = ct.load(b, index=(k, n), shape=(TK, TN), padding_mode=ZERO, allow_tma=False)
        acc = ct.mma(x, y, acc)
    ct.store(c, index=(m, n), tile=acc)


def small(random, shape, dtype, turned):
    """Integers that any sum of them holds exactly; with ``turned`` the first axis is contiguous."""
    x = random.integers(-4, 5, shape[::-1] if turned else shape).astype(dtype)
    return x.T if turned else x


def check(extents, tile, dtype="float16", turned=(False, False), schedule=0):
    random = np.random.default_rng(sum(extents))
    (m, n, k), wide = extents, np.int32 if dtype == "int8" else np.float32
    a, b = small(random, (m, k), dtype, turned[0]), small(random, (k, n), dtype, turned[1])
    blocks = -(-m // tile[0]), -(-n // tile[1])
    c, at = np.full((m, n), 7, wide), np.arange(blocks[0], dtype=np.int32)[::-1].copy()
    run(at_places, a, b, c, at, *map(Const, tile), grid=(*blocks, 1), target=90, facts=True, schedule=schedule)
    assert np.array_equal(c, a.astype(wide) @ b.astype(wide))


@pytest.mark.parametrize("turned", [(False, False), (False, True), (True, False), (True, True)])
@pytest.mark.parametrize("case", [((130, 136, 200), (128, 64, 32)), ((72, 64, 8), (64, 64, 64)),
                                  ((200, 264, 104), (64, 128, 16))])  # fmt: skip
def test_either_order_in_memory_and_edges(case, turned):
    check(*case, turned=turned)


@pytest.mark.parametrize("schedule", range(4))
def test_no_stage_is_filled_while_a_product_reads_it(schedule):
    """Ten steps round a ring of five, in other orders of the warps."""
    check((128, 64, 320), (128, 64, 32), schedule=schedule)


def test_integers_along_k():
    check((64, 64, 160), (64, 64, 32), "int8", (False, True))


def in_place(x, y, T: ct.Constant[int]):
    """Rows of x times y, into the first columns of x and then into the next, which the second product reads."""
    for step in range(2):
        acc = ct.zeros((T, T), dtype=ct.float32)
        for k in range(ct.cdiv(x.shape[1], T)):
            acc = ct.mma(ct.load(x, index=(0, k), shape=(T, T)), ct.load(y, index=(k, 0), shape=(T, T)), acc)
        ct.store(x, index=(0, step), tile=acc.astype(x.dtype))


@pytest.mark.parametrize("schedule", range(3))
def test_copies_stay_between_the_stores_around_their_loop(schedule):
    random = np.random.default_rng(schedule)
    x = random.integers(-1, 2, (64, 320)).astype(np.float16)
    y = (random.integers(-1, 2, (320, 64)) * (random.random((320, 64)) < 0.1)).astype(np.float16)
    wanted = x.astype(np.float64)
    for step in range(2):
        wanted[:, 64 * step : 64 * step + 64] = wanted @ y.astype(np.float64)
    run(in_place, x, y, Const(64), target=90, schedule=schedule, facts=True)
    assert np.array_equal(x.astype(np.float64), wanted)


def chained(q, keys, pages, out, T: ct.Constant[int], D: ct.Constant[int]):
    """Both products of attention without its exponential, over pages in an order that is loaded."""
    x, acc = ct.load(q, index=(0, 0), shape=(T, D)), ct.zeros((T, D), dtype=ct.float32)
    first = ct.load(pages, index=(0,), shape=(1,)).item()
    for j in range(first, keys.shape[0] // T):
        kt = ct.load(keys, index=(j, 0), shape=(T, D), allow_tma=False)
        s = ct.mma(x, ct.transpose(kt), ct.zeros((T, T), dtype=ct.float32))
        vt = ct.load(keys, index=(j, 0), shape=(T, D), allow_tma=False)
        acc = ct.mma(s.astype(q.dtype), vt, acc)
    ct.store(out, index=(0, 0), tile=acc + x.astype(ct.float32))


def test_two_products_share_a_ring():
    random = np.random.default_rng(3)
    q, keys = small(random, (64, 64), "float16", False), small(random, (384, 64), "float16", False)
    q, keys = q / 4, keys / 4
    out = np.zeros((64, 64), np.float32)
    run(chained, q, keys, np.array([1], np.int32), out, Const(64), Const(64), target=90, facts=True)
    kept = keys[64:].astype(np.float32)
    s = (q.astype(np.float32) @ kept.T).astype(np.float16).astype(np.float32)
    np.testing.assert_allclose(out, s @ kept + q, rtol=1e-5, atol=1e-3)


def grouped(a, b, c, TM: ct.Constant[int], TN: ct.Constant[int], TK: ct.Constant[int]):
    """The tiles of all products are counted through and dealt out to the blocks."""
    tile, first = ct.bid(0), 0
    for g in range(len(a)):
        x, y, z = a[g], b[g], c[g]
        cols = ct.cdiv(z.shape[1], TN)
        tiles = ct.cdiv(z.shape[0], TM) * cols
        while tile >= first and tile < first + tiles:
            m, n = (tile - first) // cols, (tile - first) % cols
            acc = ct.zeros((TM, TN), dtype=ct.float32)
            for k in range(ct.cdiv(x.shape[1], TK)):
                xt = ct.load(x, index=(m, k), shape=(TM, TK), padding_mode=ZERO)
                yt = ct.load(y, index=(k, n), shape=(TK, TN), padding_mode=ZERO)
                acc = ct.mma(xt, yt, acc)
            ct.store(z, index=(m, n), tile=ct.astype(acc, z.dtype))
            tile += ct.num_blocks(0)
        first += tiles


@pytest.mark.parametrize("blocks", [1, 3])
def test_arrays_out_of_lists(blocks):
    random = np.random.default_rng(blocks)
    sizes = [(128, 64, 96), (64, 128, 40), (8, 72, 200)]
    a = [small(random, (m, k), "float16", False) for m, _, k in sizes]
    b = [small(random, (k, n), "float16", False) for _, n, k in sizes]
    c = [np.full((m, n), 7, np.float16) for m, n, _ in sizes]
    run(grouped, a, b, c, Const(64), Const(64), Const(32), grid=(blocks, 1, 1), target=90, facts=True)
    for x, y, z in zip(a, b, c, strict=True):
        assert np.array_equal(z.astype(np.float32), x.astype(np.float32) @ y.astype(np.float32))


def lists(rows=512):
    return tuple([tessera.zeros((rows, 256), "float16"), tessera.zeros((256, 256), "float16")] for _ in range(3))


def test_the_report_says_how_operands_travel_and_a_hint_turns_it_off():
    report = tessera.cost_report(ct.kernel(grouped), (*lists(), 128, 128, 64), (4,), target="sm_90")
    assert report.notes("product", "wgmma") and not report.notes("missed", "wgmma")
    assert report.notes("pipeline", "cp.async")[0]["text"] == "5 stages of 32768 bytes"
    assert report.notes("missed", "tma")
    report = tessera.cost_report(ct.kernel(grouped, num_stages=2), (*lists(), 128, 128, 64), (4,), target="sm_90")
    assert report.notes("product", "mma.sync") and report.notes("missed", "wgmma")


@pytest.mark.skipif(not shutil.which("ptxas"), reason="ptxas is not installed")
@pytest.mark.parametrize("tile", [(128, 128, 64), (64, 128, 32), (128, 256, 64)])
def test_ptxas_keeps_products_asynchronous(tile):
    logs = []

    def assemble(code, target):
        logs.append(_report._assemble(code, target))
        return logs[-1]

    _core.report(None, (4, 1, 1), ct.kernel(grouped), (*lists(), *tile), 90, assemble, None)
    assert " 0 bytes spill stores" in logs[0] and "wgmma" not in logs[0]
