# SPDX-License-Identifier: Apache-2.0
"""Attention forward with the running softmax of Milakov & Gimelshein (2018), as used by
FlashAttention (Dao et al., 2022): scores never leave the chip.
"""

from __future__ import annotations

import math
from typing import Any

import tessera.tile as ct


@ct.kernel
def attention_kernel(
    q, k, v, out, scale: float, CAUSAL: ct.Constant[bool],
    TM: ct.Constant[int], TN: ct.Constant[int], D: ct.Constant[int],
):  # fmt: skip
    m, head = ct.bid(0), ct.bid(1)
    keys = k.shape[1]
    shift = keys - q.shape[1]  # causal masks are aligned at the last key
    qt = ct.reshape(
        ct.load(q, index=(head, m, 0), shape=(1, TM, D), padding_mode=ct.PaddingMode.ZERO), (TM, D)
    )
    rows = ct.expand_dims(m * TM + ct.arange(TM, dtype=ct.int32), 1) + shift
    biggest = ct.full((TM, 1), -3.0e38, dtype=ct.float32)
    total = ct.zeros((TM, 1), dtype=ct.float32)
    acc = ct.zeros((TM, D), dtype=ct.float32)
    last = min(keys, (m + 1) * TM + shift) if CAUSAL else keys
    for j in range(ct.cdiv(last, TN)):
        kt = ct.reshape(
            ct.load(k, index=(head, j, 0), shape=(1, TN, D), padding_mode=ct.PaddingMode.ZERO),
            (TN, D),
        )
        s = ct.mma(qt, ct.transpose(kt), ct.zeros((TM, TN), dtype=ct.float32)) * scale
        cols = ct.expand_dims(j * TN + ct.arange(TN, dtype=ct.int32), 0)
        seen = cols < keys
        if CAUSAL:
            seen = seen & (cols <= rows)
        s = ct.where(seen, s, -3.0e38)
        new = ct.maximum(biggest, ct.max(s, axis=1, keepdims=True))
        p = ct.exp2(s - new)
        shrink = ct.exp2(biggest - new)
        total = total * shrink + ct.sum(p, axis=1, keepdims=True)
        vt = ct.reshape(
            ct.load(v, index=(head, j, 0), shape=(1, TN, D), padding_mode=ct.PaddingMode.ZERO),
            (TN, D),
        )
        acc = ct.mma(ct.astype(p, v.dtype), vt, acc * shrink)
        biggest = new
    result = ct.astype(acc * (1.0 / total), out.dtype)
    ct.store(out, index=(head, m, 0), tile=ct.reshape(result, (1, TM, D)))


def attention(
    q: Any, k: Any, v: Any, out: Any, causal: bool = False, scale: float | None = None,
    stream: Any = None, tile: tuple[int, int] = (64, 64),
) -> None:  # fmt: skip
    """``softmax(q k^T * scale) v`` for (heads, length, D) arrays, D a power of two.

    ``scale`` is 1/sqrt(D) when not given. With ``causal`` a query sees the keys up to its own place,
    counted from the end.
    """
    heads, length, d = q.shape
    factor = (scale if scale is not None else 1.0 / math.sqrt(d)) * math.log2(math.e)
    grid = (ct.cdiv(length, tile[0]), heads, 1)
    ct.launch(stream, grid, attention_kernel, (q, k, v, out, factor, causal, *tile, d))
