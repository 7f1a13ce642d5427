# SPDX-License-Identifier: Apache-2.0
"""Collectives of a block: all of its threads call them."""

from __future__ import annotations

from ._block_reduce import reduce, sum
from ._block_scan import exclusive_scan, exclusive_sum, inclusive_scan, inclusive_sum, scan
from ._counts import Runs, histogram, run_length_decoder
from ._memory import exchange, load, scatter, store
from ._merge_sort import merge_sort
from ._neighbours import down, flag_heads, flag_tails, offset, rotate, subtract_left, subtract_right, up
from ._primitives import BlockExchangeType
from ._primitives import block_exchange as make_exchange
from ._primitives import block_load as make_load
from ._primitives import block_merge_sort_keys as make_merge_sort_keys
from ._primitives import block_radix_sort_keys as make_radix_sort_keys
from ._primitives import block_radix_sort_keys_descending as make_radix_sort_keys_descending
from ._primitives import block_reduce as make_reduce
from ._primitives import block_scan as make_scan
from ._primitives import block_store as make_store
from ._primitives import block_sum as make_sum
from ._primitives import exclusive_scan as make_exclusive_scan
from ._primitives import exclusive_sum as make_exclusive_sum
from ._primitives import inclusive_scan as make_inclusive_scan
from ._primitives import inclusive_sum as make_inclusive_sum
from ._radix_sort import radix_rank, radix_sort, top_k

__all__ = [
    "BlockExchangeType", "Runs", "down", "exchange", "exclusive_scan", "exclusive_sum", "flag_heads", "flag_tails",
    "histogram", "inclusive_scan", "inclusive_sum", "load", "make_exchange", "make_exclusive_scan",
    "make_exclusive_sum", "make_inclusive_scan", "make_inclusive_sum", "make_load", "make_merge_sort_keys",
    "make_radix_sort_keys", "make_radix_sort_keys_descending", "make_reduce", "make_scan", "make_store", "make_sum",
    "merge_sort", "offset", "radix_rank", "radix_sort", "reduce", "rotate", "run_length_decoder", "scan", "scatter",
    "store", "subtract_left", "subtract_right", "sum", "top_k", "up",
]  # fmt: skip
