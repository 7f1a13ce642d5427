# SPDX-License-Identifier: Apache-2.0
"""Gradients of attention (Dao, 2023): probabilities are computed anew from the log-sum-exp of each row.

With ``p`` the probabilities, ``dp = dout v^T`` and ``delta = rowsum(dout * out)``:
``ds = p * (dp - delta)``, ``dq = ds k``, ``dk = ds^T q``, ``dv = p^T dout``.
One kernel walks over the keys of a tile of queries, one over the queries of a tile of keys, so
that every sum stays on chip and comes out the same in every run.
"""

from __future__ import annotations

import math
from typing import Any

import tessera.tile as ct

from . import _check as check
from . import next_power_of_two, on_gpu
from ._rules import accept, is_accepted
from .attention import (
    LOG2_E, _blocks_cut, _check, _exp2, _kv_head, _put, _put_column, _rows, _scale, _split_head,
)  # fmt: skip


def _column(x, batch, head, i, ROWS: ct.Constant[int]):
    """Rows ``i * ROWS ..`` of an array without the last axis, as a column; zeros behind the end."""
    zero = ct.PaddingMode.ZERO
    if x.ndim == 3:
        t = ct.load(x, index=(batch, head, i), shape=(1, 1, ROWS), padding_mode=zero)
    else:
        t = ct.load(x, index=(head, i), shape=(1, ROWS), padding_mode=zero)
    return ct.reshape(t, (ROWS, 1))


@ct.kernel
def attention_delta_kernel(
    out, dout, delta, ROWS: ct.Constant[int], D: ct.Constant[int]
):  # fmt: skip
    i, head, batch = ct.bid(0), ct.bid(1), 0
    if out.ndim == 4:
        batch, head = _split_head(out, head)
    x = ct.astype(_rows(out, batch, head, i, ROWS, D), ct.float32)
    y = ct.astype(_rows(dout, batch, head, i, ROWS, D), ct.float32)
    _put_column(delta, batch, head, i, ct.sum(x * y, axis=1, keepdims=True), ROWS)


@ct.kernel
def attention_dq_kernel(
    q, k, v, dout, lse, delta, dq, scale: float, CAUSAL: ct.Constant[bool],
    MASKED: ct.Constant[int], TM: ct.Constant[int], TN: ct.Constant[int], D: ct.Constant[int],
    FAST: ct.Constant[bool],
):  # fmt: skip
    m, head, batch = ct.num_blocks(0) - 1 - ct.bid(0), ct.bid(1), 0
    if q.ndim == 4:
        batch, head = _split_head(q, head)
    kv = _kv_head(head, q, k)
    keys = k.shape[-2]
    shift = keys - q.shape[-2]
    qt, dot = _rows(q, batch, head, m, TM, D), _rows(dout, batch, head, m, TM, D)
    log_sum = _column(lse, batch, head, m, TM) * LOG2_E
    dt = _column(delta, batch, head, m, TM)
    rows = ct.expand_dims(m * TM + ct.arange(TM, dtype=ct.int32), 1) + shift
    acc = ct.zeros((TM, D), dtype=ct.float32)
    last = min(keys, (m + 1) * TM + shift) if CAUSAL else keys
    blocks = ct.cdiv(last, TN)
    for step in range(blocks):
        j = blocks - 1 - step
        kt, vt = _rows(k, batch, kv, j, TN, D), _rows(v, batch, kv, j, TN, D)
        s = ct.mma(qt, ct.transpose(kt), ct.zeros((TM, TN), dtype=ct.float32))
        dp = ct.mma(dot, ct.transpose(vt), ct.zeros((TM, TN), dtype=ct.float32))
        p = _exp2(s * (scale * LOG2_E) - log_sum, FAST)
        if step < MASKED:
            cols = ct.expand_dims(j * TN + ct.arange(TN, dtype=ct.int32), 0)
            seen = cols < keys
            if CAUSAL:
                seen = seen & (cols <= rows)
            p = ct.where(seen, p, 0.0)
        acc = ct.mma(ct.astype(p * (dp - dt), k.dtype), kt, acc)
    _put(dq, batch, head, m, acc * scale, TM, D)


def _add_head(
    q, dout, lse, delta, batch, head, kt, vt, rows, first, blocks, acc_k, acc_v, scale,
    MASKED: ct.Constant[int], TM: ct.Constant[int], TN: ct.Constant[int], D: ct.Constant[int],
    FAST: ct.Constant[bool], DK: ct.Constant[bool], DV: ct.Constant[bool],
):  # fmt: skip
    """Adds what one head of queries gives to dk and dv of a tile of keys.

    The products stand in the order in which they should run: each is waited for where it is read. From 128
    columns on dp runs beside the exponential, while the registers of s are free for it, so that dk may run
    into the next step. Up to 64 columns the loop is rotated, where dp beside s was 3 to 6 % slower on an H200.
    """
    for step in range(blocks):
        m = first + step
        qt, dot = _rows(q, batch, head, m, TM, D), _rows(dout, batch, head, m, TM, D)
        s = ct.mma(kt, ct.transpose(qt), ct.zeros((TN, TM), dtype=ct.float32))
        log_sum = ct.transpose(_column(lse, batch, head, m, TM)) * LOG2_E
        x = s * (scale * LOG2_E) - log_sum
        if DK and D > 64:
            dp = ct.mma(vt, ct.transpose(dot), ct.zeros((TN, TM), dtype=ct.float32))
        p = _exp2(x, FAST)
        if MASKED > 0:
            if step < MASKED:
                cols = ct.expand_dims(m * TM + ct.arange(TM, dtype=ct.int32), 0)
                p = ct.where(rows <= cols, p, 0.0)
        if DV:
            acc_v = ct.mma(ct.astype(p, q.dtype), dot, acc_v)
        if DK:
            dt = ct.transpose(_column(delta, batch, head, m, TM))
            if D <= 64:
                dp = ct.mma(vt, ct.transpose(dot), ct.zeros((TN, TM), dtype=ct.float32))
            acc_k = ct.mma(ct.astype(p * (dp - dt), q.dtype), qt, acc_k)
    return acc_k, acc_v


@ct.kernel
def attention_dkv_kernel(
    q, k, v, dout, lse, delta, dk, dv, scale: float, CAUSAL: ct.Constant[bool],
    MASKED: ct.Constant[int], TM: ct.Constant[int], TN: ct.Constant[int], D: ct.Constant[int],
    FAST: ct.Constant[bool], REPEAT: ct.Constant[int], DK: ct.Constant[bool], DV: ct.Constant[bool],
):  # fmt: skip
    # transposed: rows are keys, so that p^T and ds^T are left operands in registers
    n, kv, batch = ct.bid(0), ct.bid(1), 0
    if k.ndim == 4:
        batch, kv = _split_head(k, kv)
    length = q.shape[-2]
    shift = k.shape[-2] - length
    kt, vt = _rows(k, batch, kv, n, TN, D), _rows(v, batch, kv, n, TN, D)
    rows = ct.expand_dims(n * TN + ct.arange(TN, dtype=ct.int32), 1) - shift
    acc_k = ct.zeros((TN, D), dtype=ct.float32)
    acc_v = ct.zeros((TN, D), dtype=ct.float32)
    first = max(n * TN - shift, 0) // TM if CAUSAL else 0
    blocks = max(ct.cdiv(length, TM) - first, 0)
    if REPEAT == 1:
        acc_k, acc_v = _add_head(
            q, dout, lse, delta, batch, kv, kt, vt, rows, first, blocks, acc_k, acc_v, scale,
            MASKED, TM, TN, D, FAST, DK, DV,
        )  # fmt: skip
    else:
        for head in range(kv * REPEAT, (kv + 1) * REPEAT):
            acc_k, acc_v = _add_head(
                q, dout, lse, delta, batch, head, kt, vt, rows, first, blocks, acc_k, acc_v, scale,
                MASKED, TM, TN, D, FAST, DK, DV,
            )  # fmt: skip
    if DK:
        _put(dk, batch, kv, n, acc_k * scale, TN, D)
    if DV:
        _put(dv, batch, kv, n, acc_v, TN, D)


def _backward_tiles(q: Any, d: int) -> tuple[tuple[int, int], tuple[int, int]]:
    """Queries and keys of one step: for dq, and for dk and dv."""
    if not on_gpu(q) or d > 128:
        return (64, 64), (64, 64)
    return (128, 64 if d > 64 else 128), (64, 128)


def _given_tiles(function: str, given: Any) -> list[tuple[int, ...]]:
    if not isinstance(given, (tuple, list)) or len(given) != 2:
        raise ValueError(f"{function}: tiles is {given!r}, wanted two pairs of powers of two")
    return [check.tile(function, "tiles", pair, 2) for pair in given]


def _key_blocks_cut(causal: bool, length: int, keys: int, tm: int, tn: int) -> int:
    """How many of the first query blocks of a key tile the causal mask can cut."""
    if not causal:
        return 0
    aligned = (keys - length) % tm == 0 and tn % tm == 0
    return tn // tm if aligned else (tn + 2 * tm - 3) // tm


def attention_backward(
    q: Any, k: Any, v: Any, out: Any, lse: Any, dout: Any, dq: Any, dk: Any, dv: Any, delta: Any,
    causal: bool = False, scale: float | None = None, stream: Any = None,
    tiles: tuple[tuple[int, int], tuple[int, int]] | None = None,
) -> None:  # fmt: skip
    """Gradients of `attention` for the gradient ``dout`` of its output.

    Parameters
    ----------
    q, k, v, out, lse : array
        As given to `attention` and filled by it.
    dout : array
        Of the shape and dtype of ``out``.
    dq, dk, dv : array
        Take the gradients; of the shapes of ``q``, ``k`` and ``v`` and floating-point dtypes.
    delta : array of float32, the shape of ``lse``
        Scratch: the row sums of ``dout * out``.
    causal, scale, stream
        As for `attention`.
    tiles : ((int, int), (int, int))
        Queries and keys of one step, for dq, and for dk and dv; powers of two.

    Raises
    ------
    TypeError
        For what is no array, and for other dtypes.
    ValueError
        When shapes do not fit, or arrays share memory.

    Notes
    -----
    Three or four launches, one after the other on the stream. Sums are kept in float32.
    """
    function = "attention_backward"
    if not is_accepted(function, q, k, v, out, dout, lse, dq, dk, dv, delta):
        _check(function, q, k, v, out)
        check.same_shape(function, q=q, dout=dout, dq=dq)
        check.same_shape(function, k=k, dk=dk, dv=dv)
        for name, x in (("lse", lse), ("delta", delta)):
            check.shape(function, name, x, tuple(q.shape[:-1]))
        accept(function, q, k, v, out, dout, lse, dq, dk, dv, delta)
    length, d = q.shape[-2:]
    keys, heads, kv_heads = k.shape[-2], math.prod(q.shape[:-2]), math.prod(k.shape[:-2])
    scale = _scale(function, scale, d)
    fast, size = "float16" in str(q.dtype), next_power_of_two(d)
    (qm, qn), (km, kn) = _backward_tiles(q, d) if tiles is None else _given_tiles(function, tiles)
    args: tuple[Any, ...] = (out, dout, delta, 32, size)
    ct.launch(stream, (ct.cdiv(length, 32), heads, 1), attention_delta_kernel, args)
    cut = _blocks_cut(causal, length, keys, qm, qn)
    args = (q, k, v, dout, lse, delta, dq, scale, causal, cut, qm, qn, size, fast)
    ct.launch(stream, (ct.cdiv(length, qm), heads, 1), attention_dq_kernel, args)
    cut = _key_blocks_cut(causal, length, keys, km, kn)
    for part in [(True, False), (False, True)] if size > 128 else [(True, True)]:
        args = (
            q, k, v, dout, lse, delta, dk, dv, scale, causal, cut, km, kn, size, fast,
            heads // kv_heads, *part,
        )  # fmt: skip
        ct.launch(stream, (ct.cdiv(keys, kn), kv_heads, 1), attention_dkv_kernel, args)
