# SPDX-License-Identifier: Apache-2.0
"""The host as a place for memory, or one NUMA node of it."""

from __future__ import annotations

from typing import Any

__all__ = ["Host"]


class Host:
    """``Host()`` is the host, ``Host(numa_id=1)`` a NUMA node, ``Host.numa_current()`` the node of
    the calling thread. There is one object of each; they cannot be changed."""

    __slots__ = ("__weakref__", "_is_numa_current", "_numa_id")
    _known: dict[tuple[int | None, bool], Host] = {}  # noqa: RUF012 - the one table of all
    _numa_id: int | None
    _is_numa_current: bool

    def __new__(cls, numa_id: int | None = None, is_numa_current: bool = False) -> Host:
        if numa_id is not None and (
            isinstance(numa_id, bool) or not isinstance(numa_id, int) or numa_id < 0
        ):
            raise ValueError(f"numa_id must be a non-negative int, not {numa_id!r}")
        if numa_id is not None and is_numa_current:
            raise ValueError("numa_id and is_numa_current are mutually exclusive")
        key = numa_id, bool(is_numa_current)
        if key not in cls._known:
            self = object.__new__(cls)
            object.__setattr__(self, "_numa_id", numa_id)
            object.__setattr__(self, "_is_numa_current", bool(is_numa_current))
            cls._known.setdefault(key, self)
        return cls._known[key]

    @classmethod
    def numa_current(cls) -> Host:
        """The NUMA node of the calling thread, whichever that is when it is used."""
        return cls(is_numa_current=True)

    @property
    def numa_id(self) -> int | None:
        """The NUMA node, or None for the host as a whole."""
        return self._numa_id

    @property
    def is_numa_current(self) -> bool:
        """Whether the calling thread's NUMA node is meant."""
        return self._is_numa_current

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a Host cannot be changed ({name!r})")

    def __reduce__(self) -> tuple[Any, ...]:
        return Host, (self._numa_id, self._is_numa_current)

    def __repr__(self) -> str:
        if self._is_numa_current:
            return "Host.numa_current()"
        return "Host()" if self._numa_id is None else f"Host(numa_id={self._numa_id})"
