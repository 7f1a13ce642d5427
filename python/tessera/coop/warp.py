# SPDX-License-Identifier: Apache-2.0
"""Collectives of a warp: all of its lanes call them."""

from __future__ import annotations

from ._warp_scan import exclusive_scan, exclusive_sum, inclusive_scan, inclusive_sum, reduce, sum

__all__ = ["exclusive_scan", "exclusive_sum", "inclusive_scan", "inclusive_sum", "reduce", "sum"]
