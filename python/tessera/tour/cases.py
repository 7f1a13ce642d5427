# SPDX-License-Identifier: Apache-2.0
"""What the tour runs: one Case for each kernel, with its data, its float64 reference on sampled rows,
the same work in NumPy, and the bytes and flops that the roofline counts.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import lib
from ..lib import attention, elementwise, gemm, norm, softmax, transpose

__all__ = ["Case", "cases"]


@dataclass
class Case:
    """One kernel of the tour.

    ``inputs`` are host arrays; ``run(inputs, out)`` launches on device arrays; ``reference(inputs,
    rows)`` gives float64 rows of the result; ``numpy(inputs)`` is the yardstick; ``bytes`` and
    ``flops`` are of one run. ``tolerance`` is the greatest allowed ``|found - wanted| / (1 + |wanted|)``.
    """

    name: str
    inputs: list[np.ndarray]
    out_shape: tuple[int, ...]
    out_dtype: str
    run: Callable[..., None]
    reference: Callable[[list[np.ndarray], np.ndarray], np.ndarray]
    numpy: Callable[[list[np.ndarray]], Any]
    bytes: float
    flops: float
    tolerance: float

    @property
    def bound_by_memory(self) -> bool:
        return self.flops / self.bytes < 20


def _uniform(
    rng: np.random.Generator, shape: Any, low: float = -1.0, high: float = 1.0
) -> np.ndarray:
    return rng.uniform(low, high, shape).astype(np.float32)


def _vector_add(rng: np.random.Generator, n: int) -> Case:
    inputs = [_uniform(rng, n), _uniform(rng, n)]
    return Case(
        "vector add", inputs, (n,), "float32",
        lambda x, out: elementwise.vector_add(*x, out),
        lambda x, rows: x[0][rows].astype(np.float64) + x[1][rows],
        lambda x: x[0] + x[1],
        12.0 * n, 1.0 * n, 1e-6,
    )  # fmt: skip


def _chain_reference(x: list[np.ndarray], rows: np.ndarray) -> np.ndarray:
    a, b, c = (v[rows].astype(np.float64) for v in x)
    return np.sqrt(np.sin(a) * np.cos(b) + np.exp(-c * c) + np.log(a + 1.0))


def _chain_numpy(x: list[np.ndarray]) -> np.ndarray:
    a, b, c = x
    return np.sqrt(np.sin(a) * np.cos(b) + np.exp(-c * c) + np.log(a + np.float32(1)))


def _chain(rng: np.random.Generator, n: int) -> Case:
    inputs = [_uniform(rng, n, 0, 3), _uniform(rng, n, 0, 1), _uniform(rng, n)]
    return Case(
        "fused chain", inputs, (n,), "float32",
        lambda x, out: elementwise.chain(*x, out),
        _chain_reference, _chain_numpy, 16.0 * n, 20.0 * n, 2e-6,
    )  # fmt: skip


def _softmax_numpy(x: np.ndarray) -> np.ndarray:
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def _softmax(rng: np.random.Generator, rows: int, cols: int) -> Case:
    inputs = [_uniform(rng, (rows, cols), -8, 8)]
    return Case(
        "row softmax", inputs, (rows, cols), "float32",
        lambda x, out: softmax.softmax(x[0], out),
        lambda x, at: _softmax_numpy(x[0][at].astype(np.float64)),
        lambda x: _softmax_numpy(x[0]),
        8.0 * rows * cols, 5.0 * rows * cols, 1e-5,
    )  # fmt: skip


def _norm_numpy(x: np.ndarray, w: np.ndarray, b: np.ndarray) -> np.ndarray:
    centred = x - x.mean(axis=-1, keepdims=True)
    return centred / np.sqrt((centred * centred).mean(axis=-1, keepdims=True) + 1e-5) * w + b


def _layer_norm(rng: np.random.Generator, rows: int, cols: int) -> Case:
    inputs = [_uniform(rng, (rows, cols), -3, 5), _uniform(rng, cols), _uniform(rng, cols)]
    return Case(
        "layer norm", inputs, (rows, cols), "float32",
        lambda x, out: norm.layer_norm(*x, out),
        lambda x, at: _norm_numpy(x[0][at].astype(np.float64), x[1], x[2]),
        lambda x: _norm_numpy(*x),
        8.0 * rows * cols, 8.0 * rows * cols, 1e-5,
    )  # fmt: skip


def _transpose(rng: np.random.Generator, n: int) -> Case:
    inputs = [_uniform(rng, (n, n))]
    return Case(
        "transpose", inputs, (n, n), "float32",
        lambda x, out: transpose.transpose(x[0], out),
        lambda x, at: x[0].T[at].astype(np.float64),
        lambda x: np.ascontiguousarray(x[0].T),
        8.0 * n * n, 0.0, 0.0,
    )  # fmt: skip


def _gemm(rng: np.random.Generator, n: int, dtype: str) -> Case:
    inputs = [_cast(_uniform(rng, (n, n)), dtype), _cast(_uniform(rng, (n, n)), dtype)]
    item = 4 if dtype == "float32" else 2
    return Case(
        f"GEMM {n} {dtype}", inputs, (n, n), dtype,
        lambda x, out: gemm.gemm(*x, out),
        lambda x, at: x[0][at].astype(np.float64) @ x[1].astype(np.float64),
        lambda x: x[0].astype(np.float32) @ x[1].astype(np.float32),
        3.0 * item * n * n, 2.0 * n**3, 1e-4 if dtype == "float32" else 1e-2,
    )  # fmt: skip


def _attention_rows(q: np.ndarray, k: np.ndarray, v: np.ndarray, heads: np.ndarray) -> np.ndarray:
    n, d = q.shape[1], q.shape[2]
    out = []
    for h in heads:
        s = q[h].astype(np.float64) @ k[h].astype(np.float64).T / math.sqrt(d)
        s[np.triu_indices(n, 1)] = -np.inf
        out.append(_softmax_numpy(s) @ v[h].astype(np.float64))
    return np.array(out)


def _attention_numpy(x: list[np.ndarray]) -> np.ndarray:
    q, k, v = (a.astype(np.float32) for a in x)
    s = q @ k.transpose(0, 2, 1) / np.float32(math.sqrt(q.shape[2]))
    s += np.triu(np.full(s.shape[1:], -np.inf, np.float32), 1)
    return _softmax_numpy(s) @ v


def _attention(
    rng: np.random.Generator, heads: int, n: int, d: int, dtype: str, tile: tuple[int, int]
) -> Case:
    inputs = [_cast(_uniform(rng, (heads, n, d)), dtype) for _ in range(3)]
    item = 4 if dtype == "float32" else 2
    return Case(
        f"causal attention {dtype}", inputs, (heads, n, d), dtype,
        lambda x, out: attention.attention(*x, out, causal=True, tile=tile),
        lambda x, at: _attention_rows(*x, at),
        _attention_numpy,
        4.0 * item * heads * n * d, 2.0 * heads * n * n * d, 1e-5 if dtype == "float32" else 2e-2,
    )  # fmt: skip


def _cast(x: np.ndarray, dtype: str) -> np.ndarray:
    from .._array import numpy_dtype

    return x.astype(numpy_dtype(dtype))


def cases(gpu: bool, small: bool, seed: int) -> list[Callable[[], Case]]:
    """Makers of the tour's cases, so that only one case's data exists at a time."""
    rng = np.random.default_rng(seed)
    size = lib.next_power_of_two
    if small:
        n, rows, side, product, heads, half = size(1 << 18), 256, 512, 256, 2, "float32"
    elif gpu:
        n, rows, side, product, heads, half = size(1 << 27), 16384, 16384, 8192, 64, "float16"
    else:
        n, rows, side, product, heads, half = size(1 << 24), 4096, 4096, 1024, 8, "float32"
    cols = 1024 if small else 8192 if gpu else 4096
    length = 256 if small else 4096 if gpu else 1024
    return [
        lambda: _vector_add(rng, n),
        lambda: _chain(rng, n // 2),
        lambda: _softmax(rng, rows, cols),
        lambda: _layer_norm(rng, rows, cols),
        lambda: _transpose(rng, side),
        lambda: _gemm(rng, product, half if gpu else "float32"),
        lambda: _attention(rng, heads, length, 64, half, (128, 64) if gpu else (64, 64)),
    ]
