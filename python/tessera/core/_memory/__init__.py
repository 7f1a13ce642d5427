# SPDX-License-Identifier: Apache-2.0
"""Memory: buffers, and the resources that they come from."""

from __future__ import annotations

import importlib
from typing import Any

# Public name -> module of it in this package.
_NAMES = {
    "Buffer": "_buffer",
    "MemoryResource": "_buffer",
    "DeviceMemoryResource": "_pool",
    "DeviceMemoryResourceOptions": "_pool",
}
__all__ = list(_NAMES)


def __getattr__(name: str) -> Any:
    if name in _NAMES:
        return getattr(importlib.import_module(f"{__name__}.{_NAMES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
