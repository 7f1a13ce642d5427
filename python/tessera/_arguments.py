# SPDX-License-Identifier: Apache-2.0
"""Arguments of tile kernels: which are arrays, and on which device they lie."""

from __future__ import annotations

import sys
from typing import Any

from ._records import record_of

__all__ = ["array_args", "device_of", "flat", "is_array"]


def is_array(value: Any) -> bool:
    """Whether kernels take it as an array."""
    if isinstance(value, (bytearray, memoryview)):
        return True
    numpy = sys.modules.get("numpy")
    if numpy is not None and isinstance(value, numpy.generic):
        return False
    if hasattr(type(value), "__dataclass_fields__"):  # a field may be called shape
        return hasattr(value, "__dlpack__") or hasattr(value, "__cuda_array_interface__")
    return hasattr(value, "shape") and hasattr(value, "dtype")


def array_args(args: Any) -> list[Any]:
    """Arrays among arguments, those in tuples and dataclasses too, and lists of arrays as lists, in order."""
    found: list[Any] = []
    for value in args:
        if isinstance(value, tuple):
            found += array_args(value)
        elif isinstance(value, list) or is_array(value):
            found.append(value)
        elif hasattr(type(value), "__dataclass_fields__"):
            found += array_args(getattr(value, name) for name, *_ in record_of(type(value)).fields)
    return found


def flat(args: Any) -> list[Any]:
    """The arrays among arguments, those of tuples and lists too, in order."""
    return [a for item in array_args(args) for a in (item if isinstance(item, list) else [item])]


def device_of(args: Any) -> str:
    """``"cpu"`` or ``"cuda:N"``, of the first array that is not on the host."""
    for value in flat(args):
        text = str(getattr(value, "device", "cpu"))
        if "cuda" in text.lower() or hasattr(value, "__cuda_array_interface__"):
            digits = "".join(c for c in text if c.isdigit())
            return f"cuda:{digits or 0}"
    return "cpu"
