# SPDX-License-Identifier: Apache-2.0
"""Older names of the factories, and of their parameters."""

from __future__ import annotations

import functools
from typing import Any

__all__ = ["without_make"]


def _with_old_parameters(factory: Any) -> Any:
    @functools.wraps(factory)
    def made(*args: Any, **named: Any) -> Any:
        if "threads_in_block" in named:
            named["threads_per_block"] = named.pop("threads_in_block")
        return factory(*args, **named)

    return made


def without_make(module: Any) -> dict[str, Any]:
    """``sum`` for ``make_sum``, and so on."""
    found = {name[5:]: getattr(module, name) for name in module.__all__ if name.startswith("make_")}
    kept = {name: getattr(module, name) for name in module.__all__ if name == "BlockExchangeType"}
    return {name: _with_old_parameters(factory) for name, factory in found.items()} | kept
