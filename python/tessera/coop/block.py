# SPDX-License-Identifier: Apache-2.0
"""Collectives of a block: all of its threads call them."""

from __future__ import annotations

from ._block_reduce import reduce, sum
from ._block_scan import exclusive_scan, exclusive_sum, inclusive_scan, inclusive_sum, scan

__all__ = ["exclusive_scan", "exclusive_sum", "inclusive_scan", "inclusive_sum", "reduce", "scan", "sum"]
