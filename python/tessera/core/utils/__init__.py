# SPDX-License-Identifier: Apache-2.0
"""Caches of compiled programs, views of other libraries' arrays, operations on many buffers."""

from __future__ import annotations

import importlib
from typing import Any

# Public name -> module.
_NAMES = {
    "FileStreamProgramCache": "._program_cache",
    "InMemoryProgramCache": "._program_cache",
    "ProgramCacheResource": "._program_cache",
    "StridedMemoryView": ".._memoryview",
    "args_viewable_as_strided_memory": ".._memoryview",
    "discard_batch": ".._memory._managed",
    "discard_prefetch_batch": ".._memory._managed",
    "make_program_cache_key": "._program_cache",
    "prefetch_batch": ".._memory._managed",
}

__all__ = list(_NAMES)


def __getattr__(name: str) -> Any:
    if name not in _NAMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(_NAMES[name], __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
