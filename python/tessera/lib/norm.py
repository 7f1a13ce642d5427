# SPDX-License-Identifier: Apache-2.0
"""Layer norm and RMS norm. A block reads some short rows or one long row once; mean and variance are taken
by two passes over registers, not over memory. Rows that fit no block are read again for each pass.
"""

from __future__ import annotations

from typing import Any

import tessera.tile as ct

from . import _check as check
from . import next_power_of_two, rows_tile


def _load(array: Any, index: Any, shape: Any) -> Any:
    t = ct.load(array, index=index, shape=shape, padding_mode=ct.PaddingMode.ZERO)
    return ct.astype(t, ct.float32)


@ct.kernel
def layer_norm_kernel(
    x, weight, bias, out, eps: float, ROWS: ct.Constant[int], COLS: ct.Constant[int]
):
    row = ct.bid(0)
    n = x.shape[1]
    t = _load(x, (row, 0), (ROWS, COLS))
    mean = ct.sum(t, axis=1, keepdims=True) / n
    inside = ct.expand_dims(ct.arange(COLS, dtype=ct.int32), 0) < n
    centred = ct.where(inside, t - mean, 0.0)
    variance = ct.sum(centred * centred, axis=1, keepdims=True) / n
    scale = ct.rsqrt(variance + eps)
    y = centred * scale * _load(weight, (0,), (COLS,)) + _load(bias, (0,), (COLS,))
    ct.store(out, index=(row, 0), tile=ct.astype(y, out.dtype))


@ct.kernel
def layer_norm_long_kernel(x, weight, bias, out, eps: float, COLS: ct.Constant[int]):
    row, n = ct.bid(0), x.shape[1]
    chunks = ct.cdiv(n, COLS)
    total = ct.zeros((1, COLS), dtype=ct.float32)
    for i in range(chunks):
        total += _load(x, (row, i), (1, COLS))
    mean = ct.sum(total, axis=1, keepdims=True) / n
    total = ct.zeros((1, COLS), dtype=ct.float32)
    for i in range(chunks):
        inside = ct.expand_dims(i * COLS + ct.arange(COLS, dtype=ct.int32), 0) < n
        centred = ct.where(inside, _load(x, (row, i), (1, COLS)) - mean, 0.0)
        total += centred * centred
    scale = ct.rsqrt(ct.sum(total, axis=1, keepdims=True) / n + eps)
    for i in range(chunks):
        y = (_load(x, (row, i), (1, COLS)) - mean) * scale
        y = y * _load(weight, (i,), (COLS,)) + _load(bias, (i,), (COLS,))
        ct.store(out, index=(row, i), tile=ct.astype(y, out.dtype))


@ct.kernel
def rms_norm_kernel(x, weight, out, eps: float, ROWS: ct.Constant[int], COLS: ct.Constant[int]):
    row = ct.bid(0)
    t = _load(x, (row, 0), (ROWS, COLS))
    scale = ct.rsqrt(ct.sum(t * t, axis=1, keepdims=True) / x.shape[1] + eps)
    y = t * scale * _load(weight, (0,), (COLS,))
    ct.store(out, index=(row, 0), tile=ct.astype(y, out.dtype))


@ct.kernel
def rms_norm_long_kernel(x, weight, out, eps: float, COLS: ct.Constant[int]):
    row, n = ct.bid(0), x.shape[1]
    chunks = ct.cdiv(n, COLS)
    total = ct.zeros((1, COLS), dtype=ct.float32)
    for i in range(chunks):
        t = _load(x, (row, i), (1, COLS))
        total += t * t
    scale = ct.rsqrt(ct.sum(total, axis=1, keepdims=True) / n + eps)
    for i in range(chunks):
        y = _load(x, (row, i), (1, COLS)) * scale * _load(weight, (i,), (COLS,))
        ct.store(out, index=(row, i), tile=ct.astype(y, out.dtype))


_shared = {k: k.replace_hints(num_ctas=8) for k in (layer_norm_kernel, rms_norm_kernel)}
_layer_norm_long = layer_norm_long_kernel.replace_hints(num_worker_warps=32)
_rms_norm_long = rms_norm_long_kernel.replace_hints(num_worker_warps=32)


def _launch(kernel: Any, long_kernel: Any, arguments: tuple[Any, ...], stream: Any) -> None:
    x = arguments[0]
    if 0 in tuple(x.shape):
        return
    rows, cols = rows_tile(x)
    if rows:
        ct.launch(stream, (ct.cdiv(x.shape[0], rows), 1, 1), kernel, (*arguments, rows, cols))
    elif cols < x.shape[1] <= 65536 and x.dtype.itemsize == 4:
        cols = next_power_of_two(x.shape[1])
        ct.launch(stream, (x.shape[0], 1, 1), _shared[kernel], (*arguments, 1, cols))
    else:
        ct.launch(stream, (x.shape[0], 1, 1), long_kernel, (*arguments, cols))


def layer_norm(
    x: Any, weight: Any, bias: Any, out: Any, eps: float = 1e-5, stream: Any = None
) -> None:
    """``(x - mean) / sqrt(var + eps) * weight + bias`` over the last axis of (rows, columns)."""
    columns = check.rank("layer_norm", "x", x, 2)[1:]
    check.shape("layer_norm", "weight", weight, columns)
    check.shape("layer_norm", "bias", bias, columns)
    check.same_shape("layer_norm", x=x, out=out)
    _launch(layer_norm_kernel, _layer_norm_long, (x, weight, bias, out, eps), stream)


def rms_norm(x: Any, weight: Any, out: Any, eps: float = 1e-6, stream: Any = None) -> None:
    """``x / sqrt(mean(x**2) + eps) * weight`` over the last axis of (rows, columns)."""
    columns = check.rank("rms_norm", "x", x, 2)[1:]
    check.shape("rms_norm", "weight", weight, columns)
    check.same_shape("rms_norm", x=x, out=out)
    _launch(rms_norm_kernel, _rms_norm_long, (x, weight, out, eps), stream)
