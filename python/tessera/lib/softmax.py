# SPDX-License-Identifier: Apache-2.0
"""Row softmax: a block, or for long rows the blocks of a cluster, reads some short rows or one long
row once, keeps them on chip and writes them once. Rows that do not fit are read twice, with a
running maximum (Milakov & Gimelshein, "Online normalizer calculation for softmax", 2018).
"""

from __future__ import annotations

from typing import Any

import tessera.tile as ct

from . import _check as check
from . import multiprocessors, next_power_of_two, on_gpu, rows_tile
from ._rows import launch_shared, share_of
from ._rules import accept, is_accepted


def _exp(x: Any, FAST: Any) -> Any:
    """e to the x; FAST: as the GPU's special function unit has it."""
    return ct.exp(x, rounding_mode=ct.RoundingMode.APPROX) if FAST else ct.exp(x)


@ct.kernel
def softmax_kernel(x, out, ROWS: ct.Constant[int], COLS: ct.Constant[int], FAST: ct.Constant[bool]):
    """ROWS whole rows. Columns behind the end are -inf, whose exponential adds nothing."""
    row = ct.bid(0)
    t = ct.load(x, index=(row, 0), shape=(ROWS, COLS), padding_mode=ct.PaddingMode.NEG_INF)
    t = ct.astype(t, ct.float32)
    e = _exp(t - ct.max(t, axis=1, keepdims=True), FAST)
    y = e * (1.0 / ct.sum(e, axis=1, keepdims=True))
    ct.store(out, index=(row, 0), tile=ct.astype(y, out.dtype))


@ct.kernel
def softmax_stream_kernel(x, out, COLS: ct.Constant[int], FAST: ct.Constant[bool]):
    """Every num_blocks-th row, one after the other."""
    step, rows = ct.num_blocks(0), x.shape[0]
    pad = ct.PaddingMode.NEG_INF
    ahead = ct.load(x, index=(ct.bid(0), 0), shape=(1, COLS), padding_mode=pad)
    for row in range(ct.bid(0), rows, step):
        t = ct.astype(ahead, ct.float32)  # the next row is on its way while this one is computed
        ahead = ct.load(x, index=(min(row + step, rows - 1), 0), shape=(1, COLS), padding_mode=pad)
        e = _exp(t - ct.max(t, axis=1, keepdims=True), FAST)
        y = e * (1.0 / ct.sum(e, axis=1, keepdims=True))
        ct.store(out, index=(row, 0), tile=ct.astype(y, out.dtype))


@ct.kernel
def softmax_long_kernel(
    x, out, COLS: ct.Constant[int], OUTER: ct.Constant[int], INNER: ct.Constant[int],
    FAST: ct.Constant[bool],
):  # fmt: skip
    """A row in chunks of COLS: once for its maximum and its sum, kept by each thread for its own
    columns and rescaled when the maximum grows, and once more for the results."""
    row, chunks = ct.bid(0), ct.cdiv(x.shape[1], COLS)
    shape = (OUTER, COLS // OUTER // INNER, INNER)  # the middle axis is spread over threads
    top = ct.full((1, shape[1], 1), -3.0e38, dtype=ct.float32)
    total = ct.zeros((1, shape[1], 1), dtype=ct.float32)
    for i in range(chunks):
        t = ct.load(x, index=(row, i), shape=(1, COLS), padding_mode=ct.PaddingMode.NEG_INF)
        t = ct.reshape(ct.astype(t, ct.float32), shape)
        new = ct.maximum(top, ct.max(t, axis=(0, 2), keepdims=True))
        new_total = ct.sum(_exp(t - new, FAST), axis=(0, 2), keepdims=True)
        total = total * _exp(top - new, FAST) + new_total
        top = new
    most = ct.max(top, keepdims=True)
    scale = 1.0 / ct.sum(total * _exp(top - most, FAST), keepdims=True)
    most, scale = ct.reshape(most, (1, 1)), ct.reshape(scale, (1, 1))
    for k in range(chunks):
        i = chunks - 1 - k  # what was read last is nearest
        t = ct.load(x, index=(row, i), shape=(1, COLS), padding_mode=ct.PaddingMode.NEG_INF)
        y = _exp(ct.astype(t, ct.float32) - most, FAST) * scale
        ct.store(out, index=(row, i), tile=ct.astype(y, out.dtype))


_stream = softmax_stream_kernel.replace_hints(num_worker_warps=16)
_long = softmax_long_kernel.replace_hints(num_worker_warps=32)


def softmax(x: Any, out: Any, stream: Any = None) -> None:
    """``exp(x - max(x)) / sum(exp(x - max(x)))`` of each row.

    Parameters
    ----------
    x, out : array (rows, columns)
        Of any floating-point dtypes; computed in float32. ``out`` may be ``x``.
    stream : stream, optional

    Raises
    ------
    ValueError
        When shapes do not fit, or ``out`` shares memory with ``x`` without being ``x``.
    TypeError
        For dtypes without fractions.

    Notes
    -----
    Results of 16 bits use the GPU's approximate exponential, whose error is far below their
    rounding. A row of -inf alone gives NaN.
    """
    if not is_accepted("softmax", x, out):
        check.rank("softmax", "x", x, 2)
        check.same_shape("softmax", x=x, out=out)
        accept("softmax", x, out)
    if 0 in tuple(x.shape):
        return
    fast = "float16" in str(out.dtype)
    rows, cols = rows_tile(x)
    share = share_of("softmax", x)
    if share:
        kernels, constants = (
            (softmax_kernel, softmax_stream_kernel),
            (next_power_of_two(x.shape[1]), fast),
        )
        launch_shared(share, kernels, (x, out), constants, stream)
    elif not rows:
        inner = 16 // x.dtype.itemsize
        shape = (cols, cols // (1024 * inner), inner)
        ct.launch(stream, (x.shape[0], 1, 1), _long, (x, out, *shape, fast))
    elif on_gpu(x) and cols * x.dtype.itemsize == 1 << 16:
        blocks = min(x.shape[0], 3 * multiprocessors())
        ct.launch(stream, (blocks, 1, 1), _stream, (x, out, cols, fast))
    else:
        grid = (ct.cdiv(x.shape[0], rows), 1, 1)
        ct.launch(stream, grid, softmax_kernel, (x, out, rows, cols, fast))
