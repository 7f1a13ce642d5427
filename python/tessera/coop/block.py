# SPDX-License-Identifier: Apache-2.0
"""Collectives of a block: all of its threads call them."""

from __future__ import annotations

from ._block_reduce import reduce, sum
from ._block_scan import exclusive_scan, exclusive_sum, inclusive_scan, inclusive_sum, scan
from ._counts import Runs, histogram, run_length_decoder
from ._memory import exchange, load, scatter, store
from ._merge_sort import merge_sort
from ._neighbours import down, flag_heads, flag_tails, offset, rotate, subtract_left, subtract_right, up
from ._radix_sort import radix_rank, radix_sort, top_k

__all__ = [
    "Runs", "down", "exchange", "exclusive_scan", "exclusive_sum", "flag_heads", "flag_tails", "histogram",
    "inclusive_scan", "inclusive_sum", "load", "merge_sort", "offset", "radix_rank", "radix_sort", "reduce", "rotate",
    "run_length_decoder", "scan", "scatter", "store", "subtract_left", "subtract_right", "sum", "top_k", "up",
]  # fmt: skip
