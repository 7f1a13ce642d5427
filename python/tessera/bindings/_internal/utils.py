# SPDX-License-Identifier: Apache-2.0
"""What the peer raises where a library lacks a function."""

from __future__ import annotations

from .._errors import FunctionNotFoundError

__all__ = ["FunctionNotFoundError"]
