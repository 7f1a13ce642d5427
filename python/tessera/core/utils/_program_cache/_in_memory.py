# SPDX-License-Identifier: Apache-2.0
"""A cache in this process's memory."""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import Any

from ._abc import Key, ProgramCacheResource, code_bytes, key_bytes

__all__ = ["InMemoryProgramCache"]


def checked_size(max_size_bytes: int | None) -> int | None:
    if max_size_bytes is not None and max_size_bytes <= 0:
        raise ValueError(f"max_size_bytes must be positive or None, not {max_size_bytes}")
    return max_size_bytes


class InMemoryProgramCache(ProgramCacheResource):
    """Compiled code in memory; beyond ``max_size_bytes`` what was used longest ago goes.
    Thread-safe."""

    def __init__(self, *, max_size_bytes: int | None = None) -> None:
        self._max_size_bytes = checked_size(max_size_bytes)
        self._entries: OrderedDict[bytes, bytes] = OrderedDict()
        self._total_bytes = 0
        self._lock = threading.Lock()

    def __getitem__(self, key: Key) -> bytes:
        name = key_bytes(key)
        with self._lock:
            self._entries.move_to_end(name)
            return self._entries[name]

    def __setitem__(self, key: Key, value: Any) -> None:
        name, code = key_bytes(key), code_bytes(value)
        with self._lock:
            self._total_bytes += len(code) - len(self._entries.pop(name, b""))
            self._entries[name] = code
            while self._max_size_bytes is not None and self._total_bytes > self._max_size_bytes:
                self._total_bytes -= len(self._entries.popitem(last=False)[1])

    def __delitem__(self, key: Key) -> None:
        name = key_bytes(key)
        with self._lock:
            self._total_bytes -= len(self._entries.pop(name))

    def __len__(self) -> int:
        return len(self._entries)

    def clear(self) -> None:
        with self._lock:
            self._entries.clear()
            self._total_bytes = 0
