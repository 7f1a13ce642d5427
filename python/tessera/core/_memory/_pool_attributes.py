# SPDX-License-Identifier: Apache-2.0
"""What a pool of the driver, or the pool of graphs, tells of itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...bindings import driver

__all__ = ["GraphMemoryResourceAttributes", "PoolAttributes"]


class _Attributes:
    """Named numbers that the driver is asked for each time."""

    __slots__ = ("_keep", "_object")
    _members: dict[str, str] = {}  # noqa: RUF012 - constants of the subclasses
    _object: int
    _keep: Any

    def __init__(self, *args: object, **kwargs: object) -> None:
        raise RuntimeError(
            f"{type(self).__name__} cannot be instantiated directly. "
            "Please use the attributes of a memory resource."
        )

    @classmethod
    def _of(cls, object_: int, keep: Any = None) -> Any:
        self = object.__new__(cls)
        self._object, self._keep = object_, keep
        return self

    def __repr__(self) -> str:
        pairs = ", ".join(f"{name}={getattr(self, name)}" for name in sorted(self._members))
        return f"{type(self).__name__}({pairs})"


def _property(
    name: str, get: Callable[[Any], Any], put: Callable[[Any, Any], None] | None
) -> property:
    def refuse(self: _Attributes, value: object) -> None:
        kind = type(self).__name__
        raise AttributeError(f"attribute '{name}' of '{kind}' objects is not writable")

    return property(get, put or refuse, doc=f"{name.replace('_', ' ')}; bytes or a bool")


class PoolAttributes(_Attributes):
    """What a pool holds and how it uses freed memory again. ``release_threshold``, ``reuse_*`` can
    be set, and the ``*_high`` marks reset to 0."""

    __slots__ = ()
    _members = {  # noqa: RUF012
        name: f"CU_MEMPOOL_ATTR_{name.upper()}"
        for name in ("reuse_follow_event_dependencies", "reuse_allow_opportunistic",
                     "reuse_allow_internal_dependencies", "release_threshold", "reserved_mem_current",
                     "reserved_mem_high", "used_mem_current", "used_mem_high")
    }  # fmt: skip


class GraphMemoryResourceAttributes(_Attributes):
    """What the graphs of a GPU hold; the ``*_high`` marks can be reset to 0."""

    __slots__ = ()
    _members = {  # noqa: RUF012
        name: f"CU_GRAPH_MEM_ATTR_{name.upper()}"
        for name in (
            "reserved_mem_current",
            "reserved_mem_high",
            "used_mem_current",
            "used_mem_high",
        )
    }


def _add_pool(name: str, member: str) -> None:
    kind = bool if name.startswith("reuse") else int

    def get(self: PoolAttributes) -> Any:
        return kind(
            int(
                driver.checked.cuMemPoolGetAttribute(
                    self._object, driver.CUmemPool_attribute[member]
                )
            )
        )

    def put(self: PoolAttributes, value: int) -> None:
        driver.checked.cuMemPoolSetAttribute(
            self._object, driver.CUmemPool_attribute[member], int(value)
        )

    setattr(PoolAttributes, name, _property(name, get, None if name.endswith("_current") else put))


def _add_graph(name: str, member: str) -> None:
    def get(self: GraphMemoryResourceAttributes) -> int:
        return int(
            driver.checked.cuDeviceGetGraphMemAttribute(
                self._object, driver.CUgraphMem_attribute[member]
            )
        )

    def put(self: GraphMemoryResourceAttributes, value: int) -> None:
        if value != 0:
            raise AttributeError(f"Attribute '{name}' may only be set to zero (got {value}).")
        driver.checked.cuDeviceSetGraphMemAttribute(
            self._object, driver.CUgraphMem_attribute[member], 0
        )

    setattr(
        GraphMemoryResourceAttributes,
        name,
        _property(name, get, None if name.endswith("_current") else put),
    )


for _name, _member in PoolAttributes._members.items():
    _add_pool(_name, _member)
for _name, _member in GraphMemoryResourceAttributes._members.items():
    _add_graph(_name, _member)
