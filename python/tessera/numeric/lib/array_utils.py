# SPDX-License-Identifier: Apache-2.0
"""Helpers for axes and memory."""

from __future__ import annotations

from typing import Any

from numpy.lib.array_utils import (
    normalize_axis_index,  # noqa: F401
    normalize_axis_tuple,  # noqa: F401
)


def byte_bounds(a: Any) -> tuple[int, int]:
    """The addresses of the first byte of an array and of the one behind its last."""
    on_gpu = getattr(a, "device", "cpu") != "cpu"
    address = low = a._address() if on_gpu else a.__array_interface__["data"][0]
    high = address + a.itemsize
    for n, step in zip(a.shape, a.strides, strict=True):
        reach = (n - 1) * step
        low, high = low + min(reach, 0), high + max(reach, 0)
    return low, high
