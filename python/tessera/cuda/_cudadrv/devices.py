# SPDX-License-Identifier: Apache-2.0
"""Devices and their contexts."""

from __future__ import annotations

from typing import Any

from .._devices import close as reset
from .._devices import current_context, gpus, require_context

__all__ = ["get_context", "gpus", "require_context", "reset"]


def get_context(devnum: int | None = None) -> Any:
    """The context of the current device, or of one by its number, which becomes the current one."""
    return current_context() if devnum is None else current_context(devnum)
