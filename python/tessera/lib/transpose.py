# SPDX-License-Identifier: Apache-2.0
"""Matrix transpose, tile by tile: coalesced on both sides."""

from __future__ import annotations

from typing import Any

import tessera.tile as ct


@ct.kernel
def transpose_kernel(x, out, TM: ct.Constant[int], TN: ct.Constant[int]):
    i, j = ct.bid(0), ct.bid(1)
    t = ct.load(x, index=(i, j), shape=(TM, TN))
    ct.store(out, index=(j, i), tile=ct.transpose(t))


def transpose(x: Any, out: Any, stream: Any = None, tile: tuple[int, int] = (64, 64)) -> None:
    """``out[j, i] = x[i, j]`` for two-dimensional arrays of one dtype."""
    rows, cols = x.shape
    grid = (ct.cdiv(rows, tile[0]), ct.cdiv(cols, tile[1]), 1)
    ct.launch(stream, grid, transpose_kernel, (x, out, *tile))
