# SPDX-License-Identifier: Apache-2.0
"""Operations written in Tessera's own tile language: the kernels that the tour shows, the benchmarks
time and later layers call. Each module holds the kernel, as a user would write it, and a function that
picks tile sizes and launches it.
"""

from __future__ import annotations


def next_power_of_two(n: int) -> int:
    """The smallest power of two that is at least ``n`` (1 for ``n`` below 2)."""
    return 1 << max(0, n - 1).bit_length()


def on_gpu(array: object) -> bool:
    """Whether ``array`` lives in GPU memory (decides tile sizes, nothing else)."""
    if hasattr(array, "__cuda_array_interface__"):
        return True
    device = getattr(array, "device", None)
    return "cuda" in str(device)
