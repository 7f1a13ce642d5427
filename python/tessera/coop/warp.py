# SPDX-License-Identifier: Apache-2.0
"""Collectives of a warp: all of its lanes call them."""

from __future__ import annotations

from ._primitives import warp_exclusive_sum as make_exclusive_sum
from ._primitives import warp_merge_sort_keys as make_merge_sort_keys
from ._primitives import warp_reduce as make_reduce
from ._primitives import warp_sum as make_sum
from ._warp_items import exchange, load, merge_sort, store
from ._warp_scan import exclusive_scan, exclusive_sum, inclusive_scan, inclusive_sum, reduce, sum

__all__ = [
    "exchange", "exclusive_scan", "exclusive_sum", "inclusive_scan", "inclusive_sum", "load", "make_exclusive_sum",
    "make_merge_sort_keys", "make_reduce", "make_sum", "merge_sort", "reduce", "store", "sum",
]  # fmt: skip
