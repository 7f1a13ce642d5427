# SPDX-License-Identifier: Apache-2.0
"""Two checks under the names that programs reach into the peer for."""

from __future__ import annotations

from typing import Any, NoReturn

__all__ = ["assert_type_str_or_bytes_like", "raise_code_path_meant_to_be_unreachable"]


def assert_type_str_or_bytes_like(obj: Any) -> None:
    """TypeError for what is neither text nor bytes."""
    if not isinstance(obj, (str, bytes, bytearray)):
        raise TypeError(f"Expected type str or bytes or bytearray, but got {type(obj).__name__}")


def raise_code_path_meant_to_be_unreachable() -> NoReturn:
    """RuntimeError."""
    raise RuntimeError("This code path is meant to be unreachable.")
