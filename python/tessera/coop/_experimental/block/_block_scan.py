# SPDX-License-Identifier: Apache-2.0
"""What programs take from ``cuda.coop._experimental.block._block_scan``."""

from __future__ import annotations

from typing import Any

from ..._asked import OPERATORS, operator_of

__all__ = ["ScanOp"]


class ScanOp:
    """An operator of a scan: whether it is known by a name, a sum, or a function of the user's."""

    def __init__(self, op: Any) -> None:
        self.op, self.function = op, operator_of(op, "scan_op")
        named = op if isinstance(op, str) else getattr(op, "__name__", "")
        self.is_sum = self.function is OPERATORS["+"]
        self.is_callable = self.function is op and op not in OPERATORS
        self.is_known = not self.is_callable and not self.is_sum
        self.name = named

    def __repr__(self) -> str:
        return f"ScanOp({self.op})"
