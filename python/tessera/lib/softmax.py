# SPDX-License-Identifier: Apache-2.0
"""Row softmax: one block reads a row once, keeps it on chip and writes it once."""

from __future__ import annotations

from typing import Any

import tessera.tile as ct

from . import next_power_of_two


@ct.kernel
def softmax_kernel(x, out, COLS: ct.Constant[int]):
    row = ct.bid(0)
    t = ct.load(x, index=(row, 0), shape=(1, COLS), padding_mode=ct.PaddingMode.NEG_INF)
    t = ct.astype(t, ct.float32)
    e = ct.exp(t - ct.max(t, axis=1, keepdims=True))
    y = e * (1.0 / ct.sum(e, axis=1, keepdims=True))
    ct.store(out, index=(row, 0), tile=ct.astype(y, out.dtype))


def softmax(x: Any, out: Any, stream: Any = None) -> None:
    """Softmax over the last axis of a (rows, columns) array; computed in float32."""
    rows, cols = x.shape
    ct.launch(stream, (rows, 1, 1), softmax_kernel, (x, out, next_power_of_two(cols)))
