# SPDX-License-Identifier: Apache-2.0
"""Fresh random inputs of a question, on the host and on the device, and the rows that are checked."""

from __future__ import annotations

import functools
import os
from typing import Any

import numpy as np


class Data:
    """``arrays`` are what Tessera gets, on a GPU made there; ``sources`` the same numbers on the host, as
    float32 (float64 for that ``dtype``)."""

    def __init__(
        self,
        shapes: list[Any],
        out_shape: tuple[int, ...],
        dtype: str,
        device: str,
        low: float,
        high: float,
    ) -> None:
        self.rng = np.random.default_rng(int.from_bytes(os.urandom(8), "little"))
        self.dtype, self.device, self.out_shape = dtype, device, out_shape
        self.out_size = int(np.prod(out_shape))
        self.host_dtype = np.float64 if dtype == "float64" else np.float32
        if device == "cuda":
            import torch

            self.torch = torch
            torch.manual_seed(int(self.rng.integers(2**62)))
        self.arrays = [self._random(s, low, high) for s in shapes]

    @functools.cached_property
    def sources(self) -> list[np.ndarray]:
        return [self.host(a) for a in self.arrays]

    def _random(self, shape: Any, low: float, high: float) -> Any:
        if self.device == "cuda":
            wide = self.torch.float64 if self.dtype == "float64" else self.torch.float32
            x = self.torch.rand(shape, device="cuda", dtype=wide)
            return x.mul_(high - low).add_(low).to(getattr(self.torch, self.dtype))
        x = self.rng.random(shape, self.host_dtype)
        x *= self.host_dtype(high - low)
        x += self.host_dtype(low)
        return x

    def empty(self) -> Any:
        """A poisoned output."""
        if self.device == "cuda":
            dtype = getattr(self.torch, self.dtype)
            return self.torch.full(self.out_shape, float("nan"), dtype=dtype, device="cuda")
        return np.full(self.out_shape, np.nan, self.host_dtype)

    def host(self, array: Any, at: Any = ...) -> np.ndarray:
        """The elements ``at`` of an array of any library; only they leave the device."""
        part = array[at]
        if hasattr(part, "cpu"):
            part = (part.double() if self.dtype == "float64" else part.float()).cpu()
        elif hasattr(part, "get"):
            part = part.get()
        return np.asarray(part)

    def rows(self) -> np.ndarray:
        """Sorted places along the first axis that are compared with float64."""
        n = self.out_shape[0]
        return np.sort(
            self.rng.choice(n, min(n, 1 << 16 if len(self.out_shape) == 1 else 64), replace=False)
        )

    def sampled(self, rows: np.ndarray, name: str) -> list[np.ndarray]:
        """The inputs that give those rows of the result."""
        if name == "transpose":
            return [self.host(self.arrays[0], (slice(None), rows))]
        return [
            self.host(a, rows if tuple(a.shape) == self.out_shape else ...) for a in self.arrays
        ]
