# SPDX-License-Identifier: Apache-2.0
"""Attention against float64 on the CPU device: masks, groups of heads, odd lengths, both ranks."""

import math
import shutil

import numpy as np
import pytest
import tessera.tile as ct
from tessera.lib import attention, attention_backward


def reference(q, k, v, causal, scale=None):
    """Output and log-sum-exp in float64, heads repeated."""
    q, k, v = (x.astype(np.float64) for x in (q, k, v))
    group = q.shape[-3] // k.shape[-3]
    k, v = np.repeat(k, group, axis=-3), np.repeat(v, group, axis=-3)
    s = q @ np.swapaxes(k, -1, -2) * (scale or 1.0 / math.sqrt(q.shape[-1]))
    if causal:
        seen = np.tril(np.ones(s.shape[-2:], bool), k.shape[-2] - q.shape[-2])
        s = np.where(seen, s, -np.inf)
    top = s.max(axis=-1, keepdims=True)
    p = np.exp(s - top)
    total = p.sum(axis=-1, keepdims=True)
    return p / total @ v, (top + np.log(total))[..., 0]


def draw(rng, *shape):
    return rng.uniform(-1, 1, shape).astype(np.float32)


SHAPES = [  # batch and heads of queries, heads of keys, queries, keys, D, tile
    ((2,), 2, 64, 64, 32, (32, 32)),
    ((4,), 2, 100, 100, 16, (32, 16)),
    ((2, 4), 2, 70, 131, 32, (32, 32)),
    ((1, 2), 1, 33, 96, 16, (16, 32)),
    ((3,), 1, 1, 130, 24, (16, 64)),
    ((1, 2), 2, 128, 128, 64, None),
]


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_equals_the_formula(shape, causal):
    lead, kv_heads, length, keys, d, tile = shape
    rng = np.random.default_rng(0)
    q = draw(rng, *lead, length, d)
    k, v = (draw(rng, *lead[:-1], kv_heads, keys, d) for _ in range(2))
    out, lse = np.full_like(q, np.nan), np.full(q.shape[:-1], np.nan, np.float32)
    attention.attention(q, k, v, out, causal=causal, tile=tile, lse=lse)
    wanted, wanted_lse = reference(q, k, v, causal)
    np.testing.assert_allclose(out, wanted, atol=2e-6)
    np.testing.assert_allclose(lse, wanted_lse, atol=2e-6)


def test_large_scores_and_scale():
    rng = np.random.default_rng(1)
    q, k, v = (draw(rng, 1, 64, 16) * 100 for _ in range(3))
    out = np.empty_like(q)
    attention.attention(q, k, v, out, scale=3.0, tile=(32, 32))
    np.testing.assert_allclose(out, reference(q, k, v, False, 3.0)[0], rtol=1e-3, atol=1e-2)


def test_rows_that_see_no_key_are_zero():
    rng = np.random.default_rng(2)
    q, k, v = draw(rng, 1, 48, 16), draw(rng, 1, 16, 16), draw(rng, 1, 16, 16)
    out = np.full_like(q, np.nan)
    attention.attention(q, k, v, out, causal=True, tile=(16, 16))
    assert (out[:, :32] == 0).all()
    np.testing.assert_allclose(out[:, 32:], reference(q[:, 32:], k, v, True)[0], atol=2e-6)


def test_arrays_in_torch_order():
    rng = np.random.default_rng(3)
    q, k, v = (draw(rng, 2, 40, 3, 16).transpose(0, 2, 1, 3) for _ in range(3))
    out = np.empty((2, 3, 40, 16), np.float32)
    attention.attention(q, k, v, out, causal=True, tile=(16, 16))
    np.testing.assert_allclose(out, reference(q, k, v, True)[0], atol=2e-6)


@pytest.mark.parametrize(
    "change, message",
    [
        ({"scale": -1.0}, "scale must be positive"),
        ({"k": (3, 8, 4), "v": (3, 8, 4)}, "multiple"),
        ({"v": (2, 9, 4)}, "agree"),
        ({"q": (8, 4)}, "wanted"),
    ],
)
def test_mistakes_are_named(change, message):
    shapes = {"q": (2, 8, 4), "k": (2, 8, 4), "v": (2, 8, 4), "out": (2, 8, 4)}
    scale = change.pop("scale", None)
    arrays = [np.zeros(s, np.float32) for s in {**shapes, **change}.values()]
    with pytest.raises(ValueError, match=message):
        attention.attention(*arrays, scale=scale)


@pytest.mark.parametrize("name", ["q", "v", "out", "lse", "dk", "delta"])
def test_lists_are_no_arrays(name):
    names = ["q", "k", "v", "out", "lse", "dout", "dq", "dk", "dv", "delta"]
    shapes = [(2, 8) if n in ("lse", "delta") else (2, 8, 4) for n in names]
    a = {n: np.zeros(s, np.float32) for n, s in zip(names, shapes, strict=True)}
    a[name] = a[name].tolist()
    with pytest.raises(TypeError, match=f"attention_backward: {name} is a list; pass an array"):
        attention_backward.attention_backward(*a.values())
    if name in names[:5]:
        with pytest.raises(TypeError, match=f"attention: {name} is a list; pass an array"):
            attention.attention(a["q"], a["k"], a["v"], a["out"], lse=a["lse"])


@pytest.mark.parametrize("name", ["lse", "delta", "dout", "dq", "dv"])
def test_gradients_have_the_shapes_of_their_arrays(name):
    names = ["q", "k", "v", "out", "lse", "dout", "dq", "dk", "dv", "delta"]
    shapes = {n: (2, 8) if n in ("lse", "delta") else (2, 8, 4) for n in names}
    shapes[name] = (2, 9, *shapes[name][2:])
    arrays = [np.zeros(s, np.float32) for s in shapes.values()]
    with pytest.raises(ValueError, match=rf"attention_backward: {name} has shape \(2, 9"):
        attention_backward.attention_backward(*arrays)


def reference_gradients(q, k, v, dout, causal):
    """dq, dk, dv in float64 by the chain rule."""
    q, k, v, dout = (x.astype(np.float64) for x in (q, k, v, dout))
    group, scale = q.shape[-3] // k.shape[-3], 1.0 / math.sqrt(q.shape[-1])
    kk, vv = np.repeat(k, group, axis=-3), np.repeat(v, group, axis=-3)
    out, lse = reference(q, k, v, causal)
    p = np.exp(q @ np.swapaxes(kk, -1, -2) * scale - lse[..., None])
    if causal:
        p = np.tril(p, k.shape[-2] - q.shape[-2])
    ds = p * (dout @ np.swapaxes(vv, -1, -2) - (dout * out).sum(-1, keepdims=True)) * scale
    dk, dv = np.swapaxes(ds, -1, -2) @ q, np.swapaxes(p, -1, -2) @ dout
    fold = (*k.shape[:-3], k.shape[-3], group, *k.shape[-2:])
    return ds @ kk, dk.reshape(fold).sum(-3), dv.reshape(fold).sum(-3)


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_gradients_equal_the_formula(shape, causal):
    lead, kv_heads, length, keys, d, tile = shape
    rng = np.random.default_rng(4)
    q, dout = (draw(rng, *lead, length, d) for _ in range(2))
    k, v = (draw(rng, *lead[:-1], kv_heads, keys, d) for _ in range(2))
    out, lse, delta = np.empty_like(q), *(np.empty(q.shape[:-1], np.float32) for _ in range(2))
    attention.attention(q, k, v, out, causal=causal, lse=lse)
    found = [np.full_like(x, np.nan) for x in (q, k, v)]
    attention_backward.attention_backward(
        q, k, v, out, lse, dout, *found, delta, causal=causal,
        tiles=tile and (tile, tile[::-1]),
    )  # fmt: skip
    for x, wanted in zip(found, reference_gradients(q, k, v, dout, causal), strict=True):
        np.testing.assert_allclose(x, wanted, atol=1e-5)


@pytest.mark.skipif(shutil.which("ptxas") is None, reason="no ptxas")
@pytest.mark.parametrize("heads", [1, 4])
@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("d", [64, 128])
def test_gradients_fit_the_registers_of_hopper(d, causal, heads):
    def array(n, *rest):
        return np.empty((n, *rest), np.float16 if len(rest) > 1 else np.float32)

    q, dout = (array(heads, 512, d) for _ in range(2))
    k, v, dk, dv = (array(1, 512, d) for _ in range(4))  # outputs apart, as the report compiles for these arrays
    lse, delta = (array(heads, 512) for _ in range(2))
    args = (
        q, k, v, dout, lse, delta, dk, dv, 0.1, causal, 2 if causal else 0, 64, 128, d, True, heads,
        True, True,
    )  # fmt: skip
    kernel = attention_backward.attention_dkv_kernel
    report = kernel.report(*args, grid=(4, 1, 1), target="sm_90")
    spilled = report["resources"]["spill_store_bytes"]
    assert spilled <= 4 and not report["resources"]["serialised"]


def test_few_blocks_walk_over_all_tiles():
    rng = np.random.default_rng(5)
    q, k, v = (draw(rng, 3, 100, 16) for _ in range(3))
    out = np.full_like(q, np.nan)
    args = (q, k, v, out, out, 0.25 * attention.LOG2_E, True, 1, 32, 32, 16, 2, False, False, True)
    ct.launch(None, (5, 1, 1), attention.attention_kernel, args)
    np.testing.assert_allclose(out, reference(q, k, v, True)[0], atol=2e-6)


@pytest.mark.parametrize("heads, length, d", [(256, 1024, 128), (64, 4096, 128), (9, 300, 64)])
def test_walks_are_balanced_or_not_taken(heads, length, d):
    blocks, group = attention._walk(heads, length, length, True, (128, 128), d, 132)
    tiles = -(-length // 128)
    work = tuple(m + 1.0 for m in range(tiles))
    assert blocks == heads * tiles or attention._balance(heads, work, group, blocks) > 0.85
