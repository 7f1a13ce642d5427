# SPDX-License-Identifier: Apache-2.0
"""Row softmax: a block reads some short rows or one long row once, keeps them on chip and writes them once.
Rows that fit no block are read twice.
"""

from __future__ import annotations

from typing import Any

import tessera.tile as ct

from . import rows_tile


def _exp(x: Any, FAST: Any) -> Any:
    return ct.exp(x, rounding_mode=ct.RoundingMode.APPROX) if FAST else ct.exp(x)


@ct.kernel
def softmax_kernel(x, out, ROWS: ct.Constant[int], COLS: ct.Constant[int], FAST: ct.Constant[bool]):
    row = ct.bid(0)
    t = ct.load(x, index=(row, 0), shape=(ROWS, COLS), padding_mode=ct.PaddingMode.NEG_INF)
    t = ct.astype(t, ct.float32)
    e = _exp(t - ct.max(t, axis=1, keepdims=True), FAST)
    y = e * (1.0 / ct.sum(e, axis=1, keepdims=True))
    ct.store(out, index=(row, 0), tile=ct.astype(y, out.dtype))


@ct.kernel
def softmax_long_kernel(x, out, COLS: ct.Constant[int], FAST: ct.Constant[bool]):
    row, chunks = ct.bid(0), ct.cdiv(x.shape[1], COLS)
    top = ct.full((1, COLS), -3.0e38, dtype=ct.float32)
    total = ct.zeros((1, COLS), dtype=ct.float32)
    for i in range(chunks):
        t = ct.load(x, index=(row, i), shape=(1, COLS), padding_mode=ct.PaddingMode.NEG_INF)
        t = ct.astype(t, ct.float32)
        new = ct.maximum(top, t)
        total = total * _exp(top - new, FAST) + _exp(t - new, FAST)
        top = new
    most = ct.max(top, axis=1, keepdims=True)
    scale = 1.0 / ct.sum(total * _exp(top - most, FAST), axis=1, keepdims=True)
    for i in range(chunks):
        t = ct.astype(ct.load(x, index=(row, i), shape=(1, COLS)), ct.float32)
        y = _exp(t - most, FAST) * scale
        ct.store(out, index=(row, i), tile=ct.astype(y, out.dtype))


_kernels = {n: softmax_kernel.replace_hints(num_ctas=n) for n in (1, 8)}


def softmax(x: Any, out: Any, stream: Any = None) -> None:
    """Softmax over the last axis of a (rows, columns) array; computed in float32.

    Results of 16 bits use the GPU's approximate exponential, whose error is far below their rounding.
    """
    if 0 in tuple(x.shape):
        return
    fast = "float16" in str(out.dtype)
    tile, blocks = rows_tile(x)
    if blocks:
        grid = (ct.cdiv(x.shape[0], tile[0]), 1, 1)
        ct.launch(stream, grid, _kernels[blocks], (x, out, *tile, fast))
    else:
        ct.launch(stream, (x.shape[0], 1, 1), softmax_long_kernel, (x, out, tile[1], fast))
