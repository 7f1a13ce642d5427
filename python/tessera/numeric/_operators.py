# SPDX-License-Identifier: Apache-2.0
"""Operators and functions that are made of several calls."""

from __future__ import annotations

from typing import Any

from ._ndarray import ndarray
from ._ufunc import FUNCTIONS

INNER = ("matmul_operator", "power_operator")
_power, _square = FUNCTIONS["power"], FUNCTIONS["square"]


def power_operator(x: Any, y: Any, out: Any = None) -> Any:
    """``x ** y`` and ``x **= y``."""
    kinds = {int: "iufc", float: "fc"}.get(type(y), "")
    if isinstance(x, ndarray) and x.dtype.kind in kinds and y == 2:
        return _square(x, out)
    return _power(x, y, out)


def matmul_operator(x: Any, y: Any, out: Any = None) -> Any:
    """``x @ y``."""
    raise NotImplementedError("tessera.numeric.matmul is not there yet")


METHODS: dict[str, Any] = {}
