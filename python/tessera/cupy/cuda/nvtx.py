# SPDX-License-Identifier: Apache-2.0
"""Ranges for profilers; nothing here reads them, so they cost nothing."""

from __future__ import annotations

from typing import Any

__all__ = ["Mark", "MarkC", "RangePop", "RangePush", "RangePushC", "available"]

available = True


def Mark(message: str, id_color: int = -1) -> None:
    """Marks a point."""


def MarkC(message: str, color: int = 0) -> None:
    """Marks a point in a colour."""


def RangePush(message: str, id_color: int = -1) -> None:
    """Begins a range."""


def RangePushC(message: str, color: int = 0) -> None:
    """Begins a range in a colour."""


def RangePop(*args: Any) -> None:
    """Ends the last range."""
