# SPDX-License-Identifier: Apache-2.0
"""Layer norm (Ba, Kiros & Hinton, 2016) and RMS norm (Zhang & Sennrich, 2019). A block, or for long
rows the blocks of a cluster, reads some short rows or one long row once; mean and variance are
taken by two passes over registers, not over memory. Rows that do not fit are read again for each
pass.
"""

from __future__ import annotations

import math
from typing import Any

import tessera.tile as ct

from . import _check as check
from . import next_power_of_two, rows_tile
from ._rows import launch_shared, share_of
from ._rules import accept, is_accepted


def _load(array: Any, index: Any, shape: Any) -> Any:
    """A tile in float32, zero behind the end."""
    t = ct.load(array, index=index, shape=shape, padding_mode=ct.PaddingMode.ZERO)
    return ct.astype(t, ct.float32)


def _layer_norm(t: Any, n: Any, eps: Any, COLS: Any, WHOLE: Any) -> Any:
    """Rows of n elements in tiles of COLS, without weight and bias; WHOLE: n is COLS."""
    centred = t - ct.sum(t, axis=1, keepdims=True) / n
    if not WHOLE:  # columns behind the end are no zeros now
        inside = ct.expand_dims(ct.arange(COLS, dtype=ct.int32), 0) < n
        centred = ct.where(inside, centred, 0.0)
    return centred * ct.rsqrt(ct.sum(centred * centred, axis=1, keepdims=True) / n + eps)


@ct.kernel
def layer_norm_kernel(
    x, weight, bias, out, eps: float, ROWS: ct.Constant[int], COLS: ct.Constant[int],
    WHOLE: ct.Constant[bool],
):  # fmt: skip
    """ROWS whole rows."""
    row = ct.bid(0)
    t = _load(x, (row, 0), (ROWS, COLS))
    if ROWS > 1 and COLS >= 16384:  # a cluster's: weights are on their way while it sums up
        w = ct.load(weight, index=(0,), shape=(COLS,), padding_mode=ct.PaddingMode.ZERO)
        b = ct.load(bias, index=(0,), shape=(COLS,), padding_mode=ct.PaddingMode.ZERO)
        y = _layer_norm(t, x.shape[1], eps, COLS, WHOLE)
        y = y * ct.astype(w, ct.float32) + ct.astype(b, ct.float32)
    else:
        y = _layer_norm(t, x.shape[1], eps, COLS, WHOLE)
        y = y * _load(weight, (0,), (COLS,)) + _load(bias, (0,), (COLS,))
    ct.store(out, index=(row, 0), tile=ct.astype(y, out.dtype))


@ct.kernel
def layer_norm_stream_kernel(
    x, weight, bias, out, eps: float, COLS: ct.Constant[int], WHOLE: ct.Constant[bool]
):
    """Every num_blocks-th row, one after the other."""
    step, rows, pad = ct.num_blocks(0), x.shape[0], ct.PaddingMode.ZERO
    ahead = ct.load(x, index=(ct.bid(0), 0), shape=(1, COLS), padding_mode=pad)
    for row in range(ct.bid(0), rows, step):
        t = ct.astype(ahead, ct.float32)  # the next row is on its way while this one is computed
        ahead = ct.load(x, index=(min(row + step, rows - 1), 0), shape=(1, COLS), padding_mode=pad)
        y = _layer_norm(t, x.shape[1], eps, COLS, WHOLE)
        y = y * _load(weight, (0,), (COLS,)) + _load(bias, (0,), (COLS,))
        ct.store(out, index=(row, 0), tile=ct.astype(y, out.dtype))


@ct.kernel
def layer_norm_long_kernel(x, weight, bias, out, eps: float, COLS: ct.Constant[int]):
    """A row in chunks of COLS, read for its mean, for its variance and for the results."""
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


def _rms_norm(t: Any, n: Any, weight: Any, eps: Any, COLS: Any) -> Any:
    """Rows of n elements in tiles of COLS: zeros behind the end add nothing."""
    scale = ct.rsqrt(ct.sum(t * t, axis=1, keepdims=True) / n + eps)
    return t * scale * _load(weight, (0,), (COLS,))


@ct.kernel
def rms_norm_kernel(x, weight, out, eps: float, ROWS: ct.Constant[int], COLS: ct.Constant[int]):
    """ROWS whole rows."""
    row = ct.bid(0)
    y = _rms_norm(_load(x, (row, 0), (ROWS, COLS)), x.shape[1], weight, eps, COLS)
    ct.store(out, index=(row, 0), tile=ct.astype(y, out.dtype))


@ct.kernel
def rms_norm_stream_kernel(x, weight, out, eps: float, COLS: ct.Constant[int]):
    """Every num_blocks-th row, one after the other."""
    step, rows, pad = ct.num_blocks(0), x.shape[0], ct.PaddingMode.ZERO
    ahead = ct.load(x, index=(ct.bid(0), 0), shape=(1, COLS), padding_mode=pad)
    for row in range(ct.bid(0), rows, step):
        t = ct.astype(ahead, ct.float32)
        ahead = ct.load(x, index=(min(row + step, rows - 1), 0), shape=(1, COLS), padding_mode=pad)
        y = _rms_norm(t, x.shape[1], weight, eps, COLS)
        ct.store(out, index=(row, 0), tile=ct.astype(y, out.dtype))


@ct.kernel
def rms_norm_long_kernel(x, weight, out, eps: float, COLS: ct.Constant[int]):
    """A row in chunks of COLS, read for its sum of squares and for the results."""
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


_layer_norm_kernels = (
    layer_norm_kernel,
    layer_norm_stream_kernel,
    layer_norm_long_kernel.replace_hints(num_worker_warps=32),
)
_rms_norm_kernels = (
    rms_norm_kernel,
    rms_norm_stream_kernel,
    rms_norm_long_kernel.replace_hints(num_worker_warps=32),
)


def _launch(operation: str, kernels: Any, arguments: tuple[Any, ...], stream: Any) -> None:
    """Of three kernels (whole rows, row after row, rows in chunks) the one for these rows."""
    x, eps = arguments[0], arguments[-1]
    if not 0.0 <= check.real(operation, "eps", eps) < math.inf:
        raise ValueError(f"{operation}: eps is {eps}, wanted a finite number that is not negative")
    if 0 in tuple(x.shape):
        return
    rows, cols = rows_tile(x)
    share, padded = share_of(operation, x), next_power_of_two(x.shape[1])
    whole = (padded == x.shape[1],) if operation == "layer_norm" else ()
    if share:
        launch_shared(share, kernels[:2], arguments, (padded, *whole), stream)
    elif rows:
        grid = (ct.cdiv(x.shape[0], rows), 1, 1)
        ct.launch(stream, grid, kernels[0], (*arguments, rows, cols, *whole))
    else:
        ct.launch(stream, (x.shape[0], 1, 1), kernels[2], (*arguments, cols))


def layer_norm(
    x: Any, weight: Any, bias: Any, out: Any, eps: float = 1e-5, stream: Any = None
) -> None:
    """``(x - mean) / sqrt(var + eps) * weight + bias`` for each row.

    Parameters
    ----------
    x, out : array (rows, columns)
        Of any floating-point dtypes; computed in float32. ``out`` may be ``x``.
    weight, bias : array (columns,)
    eps : float
        Keeps the root from zero.
    stream : stream, optional

    Raises
    ------
    ValueError
        When shapes do not fit, or ``out`` shares memory with another array without being ``x``.
    TypeError
        For dtypes without fractions.

    Notes
    -----
    ``var`` is the mean square of ``x - mean``, divided by ``columns`` (not one less).
    """
    if not is_accepted("layer_norm", x, weight, bias, out):
        columns = check.rank("layer_norm", "x", x, 2)[1:]
        check.shape("layer_norm", "weight", weight, columns)
        check.shape("layer_norm", "bias", bias, columns)
        check.same_shape("layer_norm", x=x, out=out)
        accept("layer_norm", x, weight, bias, out)
    _launch("layer_norm", _layer_norm_kernels, (x, weight, bias, out, eps), stream)


def rms_norm(x: Any, weight: Any, out: Any, eps: float = 1e-6, stream: Any = None) -> None:
    """``x / sqrt(mean(x**2) + eps) * weight`` for each row.

    Parameters
    ----------
    x, out : array (rows, columns)
        Of any floating-point dtypes; computed in float32. ``out`` may be ``x``.
    weight : array (columns,)
    eps : float
        Keeps the root from zero.
    stream : stream, optional

    Raises
    ------
    ValueError
        When shapes do not fit, or ``out`` shares memory with another array without being ``x``.
    TypeError
        For dtypes without fractions.
    """
    if not is_accepted("rms_norm", x, weight, out):
        columns = check.rank("rms_norm", "x", x, 2)[1:]
        check.shape("rms_norm", "weight", weight, columns)
        check.same_shape("rms_norm", x=x, out=out)
        accept("rms_norm", x, weight, out)
    _launch("rms_norm", _rms_norm_kernels, (x, weight, out, eps), stream)
