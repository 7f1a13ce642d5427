# SPDX-License-Identifier: Apache-2.0
"""Attention and batched products as users write them, one tile a block, as thread code for sm_90: blocks that walk over
the grid, long blocks first, loops divided where a mask begins, hints that cannot be met."""

import math
import shutil

import numpy as np
import pytest
import tessera.tile as ct
from long_form import every_other
from lower import Const, run


def attention(
    q, k, v, out, scale: float, HEADS: ct.Constant[int], TM: ct.Constant[int], TN: ct.Constant[int],
    D: ct.Constant[int], CAUSAL: ct.Constant[bool],
):  # fmt: skip
    m, batch, head = ct.bid(0), ct.bid(1) // HEADS, ct.bid(1) % HEADS
    rows = (m * TM + ct.arange(TM, dtype=ct.int32))[:, None]
    top = ct.full((TM, 1), -math.inf, dtype=ct.float32)
    total = ct.zeros((TM, 1), dtype=ct.float32)
    acc = ct.zeros((TM, D), dtype=ct.float32)
    qt = ct.load(q, index=(batch, head, m, 0), shape=(1, 1, TM, D)).reshape((TM, D))
    keys = k.shape[2]
    last = min((m + 1) * TM, keys) if CAUSAL else keys
    cut = m * TM // TN if CAUSAL else keys // TN
    for j in range(ct.cdiv(last, TN)):
        kt = ct.load(k, index=(batch, head, 0, j), shape=(1, 1, D, TN), order=(0, 1, 3, 2))
        s = ct.mma(qt, kt.reshape((D, TN)), ct.zeros((TM, TN), dtype=ct.float32))
        if j >= cut:
            cols = (j * TN + ct.arange(TN, dtype=ct.int32))[None, :]
            seen = cols < keys
            if CAUSAL:
                seen = seen & (rows >= cols)
            s += ct.where(seen, 0.0, -math.inf)
        new = max(top, ct.max(s, axis=-1, keepdims=True) * scale)
        p = ct.exp2(s * scale - new, flush_to_zero=True)
        shrink = ct.exp2(top - new, flush_to_zero=True)
        total = total * shrink + ct.sum(p, axis=-1, keepdims=True)
        acc = acc * shrink
        vt = ct.load(v, index=(batch, head, j, 0), shape=(1, 1, TN, D)).reshape((TN, D))
        acc = ct.mma(p.astype(q.dtype), vt, acc)
        top = new
    acc = (acc / total).reshape((1, 1, TM, D)).astype(out.dtype)
    ct.store(out, index=(batch, head, m, 0), tile=acc)


def batched(a, b, c, TM: ct.Constant[int], TN: ct.Constant[int], TK: ct.Constant[int]):
    i, m, n = ct.bid(0), ct.bid(1), ct.bid(2)
    acc = ct.zeros((TM, TN), dtype=ct.float32)
    for k in range(ct.cdiv(a.shape[2], TK)):
        x = ct.load(a, index=(i, m, k), shape=(1, TM, TK), padding_mode=ct.PaddingMode.ZERO)
        y = ct.load(b, index=(i, k, n), shape=(1, TK, TN), padding_mode=ct.PaddingMode.ZERO)
        acc = ct.mma(x.reshape((TM, TK)), y.reshape((TK, TN)), acc)
    ct.store(c, index=(i, m, n), tile=acc.reshape((1, TM, TN)).astype(c.dtype))


def heads(*shape):
    return np.random.default_rng(len(shape)).standard_normal(shape).astype(np.float16)


def wanted(q, k, v, causal):
    q, k, v = (x.astype(np.float64) for x in (q, k, v))
    s = q @ np.swapaxes(k, -1, -2) / math.sqrt(q.shape[-1])
    if causal:
        s = np.where(np.arange(q.shape[2])[:, None] >= np.arange(k.shape[2]), s, -np.inf)
    p = np.exp(s - s.max(-1, keepdims=True))
    return p / p.sum(-1, keepdims=True) @ v


TILES = [(128, 32), (64, 64), (128, 128)]


@pytest.mark.parametrize("causal, tile, keys", every_other([False, True], TILES, [256, 200]))
def test_attention_is_right_as_threads(causal, tile, keys):
    batch, n, length, d = 2, 3, 256, 32
    q, k, v = heads(batch, n, length, d), heads(batch, n, keys, d), heads(batch, n, keys, d) / 2
    out = np.full_like(q, np.nan)
    scale = math.log2(math.e) / math.sqrt(d)
    constants = (Const(n), Const(tile[0]), Const(tile[1]), Const(d), Const(causal))
    for schedule in (0, 3):
        run(
            attention, q, k, v, out, scale, *constants, grid=(length // tile[0], batch * n, 1), target=90,
            schedule=schedule, facts=True,
        )  # fmt: skip
        np.testing.assert_allclose(out, wanted(q, k, v, causal), atol=3e-3)


@pytest.mark.parametrize(
    "tile", [(64, 64, 32), (128, 128, 64), (128, 256, 128), (128, 128, 256)], ids=str
)
@pytest.mark.parametrize("shape", [(3, 256, 256, 192), (2, 200, 264, 72)], ids=str)
def test_batched_products_are_right_as_threads(shape, tile):
    n, rows, cols, depth = shape
    a, b = heads(n, rows, depth), heads(n, depth, cols)
    c = np.full((n, rows, cols), np.nan, np.float16)
    grid = (n, -(-rows // tile[0]), -(-cols // tile[1]))
    run(batched, a, b, c, *(Const(t) for t in tile), grid=grid, target=90, schedule=2, facts=True)
    np.testing.assert_allclose(c, a.astype(np.float64) @ b, rtol=2e-3, atol=2e-2)


def report_of(tile, causal, d=128, **hints):
    q = [np.empty((4, 16, 4096, d), np.float16) for _ in range(4)]
    kernel = ct.kernel(attention, **hints)
    grid = (4096 // tile[0], 64, 1)
    return kernel.report(*q, 0.1, 16, *tile, d, causal, grid=grid, target="sm_90")


@pytest.mark.skipif(shutil.which("ptxas") is None, reason="no ptxas")
@pytest.mark.parametrize("d", [64, 128])
@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize(
    "tile, hints",
    [
        ((128, 128), {"occupancy": 2}), ((128, 64), {"occupancy": 2}), ((64, 64), {"occupancy": 4}),
        ((128, 128), {"num_ctas": 2, "occupancy": 2}), ((64, 32), {"occupancy": 8}),
    ],
    ids=str,
)  # fmt: skip
def test_attention_fits_the_registers_of_hopper(tile, hints, causal, d):
    found = report_of(tile, causal, d, **hints)["resources"]
    assert found["spill_store_bytes"] == 0 and not found["serialised"]


def test_a_number_of_blocks_that_does_not_fit_is_told():
    missed = report_of((128, 128), True, occupancy=2).notes("missed", "occupancy")
    assert len(missed) == 1 and "1 thread blocks of a multiprocessor, not 2" in missed[0]["text"]
    assert not report_of((64, 64), True, 64, occupancy=2).notes("missed", "occupancy")


@pytest.mark.parametrize("depth", [64, 128])
def test_long_steps_of_k_become_stages(depth):
    arrays = [np.empty((16, 1024, 1024), np.float16) for _ in range(3)]
    kernel, args = ct.kernel(batched), (*arrays, 128, 256, depth)
    report = kernel.report(*args, grid=(16, 8, 4), target="sm_90")
    assert report.notes("pipeline")[0]["text"].startswith("4 stages of 49152 bytes")
    two = kernel.replace_hints(num_stages=2).report(*args, grid=(16, 8, 4), target="sm_90")
    assert two.notes("pipeline")[0]["text"].startswith(f"2 stages of {768 * depth} bytes")
