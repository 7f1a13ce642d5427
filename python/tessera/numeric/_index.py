# SPDX-License-Identifier: Apache-2.0
"""Indexing by arrays."""

from __future__ import annotations

from typing import Any

from ._ndarray import ndarray

INNER = ("get_item", "set_item")


def get_item(a: ndarray, key: Any) -> Any:
    """``a[key]`` where the key is more than integers and slices."""
    raise NotImplementedError("tessera.numeric: indexing by arrays is not there yet")


def set_item(a: ndarray, key: Any, value: Any) -> None:
    """``a[key] = value`` where the key is more than integers and slices."""
    raise NotImplementedError("tessera.numeric: indexing by arrays is not there yet")


METHODS: dict[str, Any] = {}
