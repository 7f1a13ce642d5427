# SPDX-License-Identifier: Apache-2.0
"""Collectives of a warp: all of its lanes call them."""

from __future__ import annotations

from ._warp_items import exchange, load, merge_sort, store
from ._warp_scan import exclusive_scan, exclusive_sum, inclusive_scan, inclusive_sum, reduce, sum

__all__ = [
    "exchange", "exclusive_scan", "exclusive_sum", "inclusive_scan", "inclusive_sum", "load", "merge_sort", "reduce",
    "store", "sum",
]  # fmt: skip
