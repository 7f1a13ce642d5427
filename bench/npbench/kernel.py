# SPDX-License-Identifier: Apache-2.0
"""How a kernel of the set says its name, its sizes and its data."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

PRESETS = ("tiny", "S", "M", "L")  # tiny: for tests; S and M take NumPy about 10 and 100 ms
_Sizes = tuple[int, int, int, int]


class Rng:
    """Random arguments: ``r(2, 3)`` are floats of [0, 1)."""

    def __init__(self) -> None:
        self.generator = np.random.default_rng(42)

    def __call__(self, *shape: int) -> np.ndarray:
        return self.generator.random(shape)

    def complex(self, *shape: int) -> np.ndarray:
        return self(*shape) + 1j * self(*shape)

    def ints(self, low: int, high: int, *shape: int) -> np.ndarray:
        return self.generator.integers(low, high, shape)


def kernel(sizes: _Sizes, make: Callable[[Rng, int], tuple[Any, ...]], traced: bool = True) -> Callable[[Any], Any]:
    """Marks a function as a kernel: ``make(r, n)`` gives its arguments for each of the sizes. ``traced``: JAX may try,
    since the function has no loop that would be written out thousands of times."""

    def mark(function: Any) -> Any:
        function.sizes, function.make, function.traced = dict(zip(PRESETS, sizes, strict=True)), make, traced
        return function

    return mark
