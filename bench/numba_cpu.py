# SPDX-License-Identifier: Apache-2.0
"""numba's versions of the memory-bound kernels, as its users write them: parallel, fastmath off."""

from __future__ import annotations

import math
from typing import Any

import numba
import numpy as np


@numba.njit(parallel=True)
def vector_add(x: Any, y: Any, out: Any) -> None:
    for i in numba.prange(x.size):
        out[i] = x[i] + y[i]


@numba.njit(parallel=True)
def chain(x: Any, y: Any, z: Any, out: Any) -> None:
    for i in numba.prange(x.size):
        out[i] = math.sqrt(
            math.sin(x[i]) * math.cos(y[i])
            + math.exp(-z[i] * z[i])
            + math.log(x[i] + np.float32(1))
        )


@numba.njit(parallel=True)
def softmax(x: Any, out: Any) -> None:
    for r in numba.prange(x.shape[0]):
        biggest = x[r].max()
        total = np.float32(0)
        for c in range(x.shape[1]):
            out[r, c] = math.exp(x[r, c] - biggest)
            total += out[r, c]
        scale = np.float32(1) / total
        for c in range(x.shape[1]):
            out[r, c] *= scale


@numba.njit(parallel=True)
def layer_norm(x: Any, w: Any, b: Any, out: Any) -> None:
    n = x.shape[1]
    for r in numba.prange(x.shape[0]):
        mean = x[r].sum() / np.float32(n)
        var = np.float32(0)
        for c in range(n):
            var += (x[r, c] - mean) * (x[r, c] - mean)
        scale = np.float32(1) / np.sqrt(var / np.float32(n) + np.float32(1e-5))
        for c in range(n):
            out[r, c] = (x[r, c] - mean) * scale * w[c] + b[c]


@numba.njit(parallel=True)
def transpose(x: Any, out: Any) -> None:
    n, m = x.shape
    for ib in numba.prange((n + 31) // 32):
        for jb in range(0, m, 32):
            for i in range(ib * 32, min(n, ib * 32 + 32)):
                for j in range(jb, min(m, jb + 32)):
                    out[j, i] = x[i, j]


KERNELS = {
    "vector add": vector_add,
    "fused chain": chain,
    "softmax": softmax,
    "layer norm": layer_norm,
    "transpose": transpose,
}
