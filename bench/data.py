# SPDX-License-Identifier: Apache-2.0
"""Fresh random inputs of a question, on the host and on the device, and the rows that are checked."""

from __future__ import annotations

import os
from typing import Any

import numpy as np


class Data:
    """``sources`` are host float32 arrays (float64 for that ``dtype``) rounded to ``dtype``; ``arrays`` what
    Tessera gets."""

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
        self.sources = [self._random(s, low, high) for s in shapes]
        if device == "cuda":
            import torch

            self.torch_dtype = getattr(torch, dtype)
            self.arrays = [torch.from_numpy(a).cuda().to(self.torch_dtype) for a in self.sources]
            self.sources = [self.host(a) for a in self.arrays]
        else:
            self.arrays = list(self.sources)

    def _random(self, shape: Any, low: float, high: float) -> np.ndarray:
        x = self.rng.random(shape, self.host_dtype)
        x *= self.host_dtype(high - low)
        x += self.host_dtype(low)
        return x

    def empty(self) -> Any:
        """A poisoned output."""
        if self.device == "cuda":
            import torch

            return torch.full(self.out_shape, float("nan"), dtype=self.torch_dtype, device="cuda")
        return np.full(self.out_shape, np.nan, self.host_dtype)

    def host(self, array: Any) -> np.ndarray:
        if isinstance(array, np.ndarray):
            return array
        return (array.double() if self.dtype == "float64" else array.float()).cpu().numpy()

    def rows(self) -> np.ndarray:
        """Sorted places along the first axis that are compared with float64."""
        n = self.out_shape[0]
        return np.sort(
            self.rng.choice(n, min(n, 1 << 16 if len(self.out_shape) == 1 else 64), replace=False)
        )

    def sampled(self, rows: np.ndarray, name: str) -> list[np.ndarray]:
        """The inputs that give those rows of the result."""
        if name == "transpose":
            return [self.sources[0][:, rows]]
        full = self.out_shape
        return [a[rows] if a.shape == full else a for a in self.sources]
