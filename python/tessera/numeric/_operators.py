# SPDX-License-Identifier: Apache-2.0
"""Operators and functions that are made of several calls."""

from __future__ import annotations

from typing import Any

from ._functions import asarray
from ._ndarray import ndarray
from ._ufunc import FUNCTIONS, select

INNER = ("matmul_operator", "power_operator")
_power, _square = FUNCTIONS["power"], FUNCTIONS["square"]


def power_operator(x: Any, y: Any, out: Any = None) -> Any:
    """``x ** y`` and ``x **= y``."""
    if type(y) in (int, float) and y == 2 and isinstance(x, ndarray) and x.dtype.kind in "iufc":
        if type(y) is int or x.dtype.kind in "fc":
            return _square(x, out)
    return _power(x, y, out)


def matmul_operator(x: Any, y: Any, out: Any = None) -> Any:
    """``x @ y``."""
    raise NotImplementedError("tessera.numeric.matmul is not there yet")


METHODS: dict[str, Any] = {}
