# SPDX-License-Identifier: Apache-2.0
"""Layer norm: mean and variance of a row by two passes over registers, not over memory."""

from __future__ import annotations

from typing import Any

import tessera.tile as ct

from . import next_power_of_two


@ct.kernel
def layer_norm_kernel(x, weight, bias, out, eps: float, COLS: ct.Constant[int]):
    row = ct.bid(0)
    n = x.shape[1]
    t = ct.load(x, index=(row, 0), shape=(1, COLS), padding_mode=ct.PaddingMode.ZERO)
    t = ct.astype(t, ct.float32)
    inside = ct.expand_dims(ct.arange(COLS, dtype=ct.int32), 0) < n
    mean = ct.sum(t, axis=1, keepdims=True) / n
    centred = ct.where(inside, t - mean, 0.0)
    variance = ct.sum(centred * centred, axis=1, keepdims=True) / n
    scale = ct.rsqrt(variance + eps)
    w = ct.load(weight, index=(0,), shape=(COLS,), padding_mode=ct.PaddingMode.ZERO)
    b = ct.load(bias, index=(0,), shape=(COLS,), padding_mode=ct.PaddingMode.ZERO)
    y = centred * scale * ct.astype(w, ct.float32) + ct.astype(b, ct.float32)
    ct.store(out, index=(row, 0), tile=ct.astype(y, out.dtype))


def layer_norm(
    x: Any, weight: Any, bias: Any, out: Any, eps: float = 1e-5, stream: Any = None
) -> None:
    """``(x - mean) / sqrt(var + eps) * weight + bias`` over the last axis of (rows, columns)."""
    rows, cols = x.shape
    tile = next_power_of_two(cols)
    ct.launch(stream, (rows, 1, 1), layer_norm_kernel, (x, weight, bias, out, eps, tile))
