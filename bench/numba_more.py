# SPDX-License-Identifier: Apache-2.0
"""numba's versions of the questions of bench/cpu.py, as its users write them: parallel, fastmath off."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np


@numba.njit(parallel=True)
def histogram(x: Any, bins: int) -> Any:
    workers = numba.get_num_threads()
    parts = np.zeros((workers, bins), np.int32)
    each = (x.size + workers - 1) // workers
    for w in numba.prange(workers):
        for i in range(w * each, min(x.size, (w + 1) * each)):
            parts[w, x[i]] += 1
    return parts.sum(0)


@numba.njit
def histogram_serial(x: Any, bins: int) -> Any:
    counts = np.zeros(bins, np.int32)
    for i in range(x.size):
        counts[x[i]] += 1
    return counts


@numba.njit(parallel=True)
def small_products(a: Any, b: Any, c: Any) -> None:
    rows, depth, cols = a.shape[1], a.shape[2], b.shape[2]
    for i in numba.prange(a.shape[0]):
        for m in range(rows):
            for n in range(cols):
                c[i, m, n] = 0
            for k in range(depth):
                for n in range(cols):
                    c[i, m, n] += a[i, m, k] * b[i, k, n]


@numba.njit(parallel=True)
def sums(x: Any, out: Any) -> None:
    outer, n, inner = x.shape
    if inner == 1:
        for o in numba.prange(outer):
            total = np.float32(0)
            for i in range(n):
                total += x[o, i, 0]
            out[o, 0] = total
        return
    for part in numba.prange(outer * 2):
        o, first = part // 2, part % 2 * (inner // 2)
        last = inner if part % 2 else inner // 2
        out[o, first:last] = x[o, 0, first:last]
        for i in range(1, n):
            for c in range(first, last):
                out[o, c] += x[o, i, c]


@numba.njit(parallel=True)
def places(x: Any, out: Any) -> None:
    outer, n, inner = x.shape
    for part in numba.prange(outer * 2 if inner > 1 else outer):
        o = part // 2 if inner > 1 else part
        first = part % 2 * (inner // 2) if inner > 1 else 0
        last = inner if inner == 1 or part % 2 else inner // 2
        best = x[o, 0, first:last].copy()
        for c in range(first, last):
            out[o, c] = 0
        for i in range(1, n):
            for c in range(first, last):
                if x[o, i, c] > best[c - first]:
                    best[c - first] = x[o, i, c]
                    out[o, c] = i


@numba.njit(parallel=True)
def matrix_vector(a: Any, x: Any, out: Any) -> None:
    for r in numba.prange(a.shape[0]):
        total = np.float32(0)
        for c in range(a.shape[1]):
            total += a[r, c] * x[c]
        out[r] = total


@numba.njit(parallel=True)
def lookup(table: Any, indices: Any, out: Any) -> None:
    for i in numba.prange(indices.size):
        out[i] = table[indices[i]]
