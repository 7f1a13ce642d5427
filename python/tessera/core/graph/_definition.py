# SPDX-License-Identifier: Apache-2.0
"""A graph that is built node by node."""

from __future__ import annotations

from typing import Any

from ...bindings import driver
from .._errors import CUDAError
from .._options import options_of
from ._condition import GraphCondition
from ._node import Adder, GraphNode
from ._options import GraphCompleteOptions, dot_flags
from ._state import Root, State, nodes_alive

__all__ = ["GraphDefinition", "backend_of"]


def backend_of(device: Any) -> Any:
    """The graphs of a device."""
    if device._is_cpu:
        from ._cpu import Cpu

        return Cpu(device)
    from ._gpu import Gpu

    return Gpu(device)


class GraphDefinition(Adder):
    """A graph under construction: its methods add nodes that depend on nothing.

    Parameters
    ----------
    device : Device, int or str, optional
        Where it will run; the current device.

    Notes
    -----
    Views of one graph are equal. A graph inside a node keeps the graph around it alive.
    """

    __slots__ = ("__weakref__", "_root", "_state")

    def __init__(self, device: Any = None) -> None:
        from .._device import Device

        backend = backend_of(Device(device))
        self._state = State(backend, backend.create())
        self._root = Root(self._state)

    @classmethod
    def _view(cls, root: Root, state: State) -> GraphDefinition:
        self = cls.__new__(cls)
        self._root, self._state = root, state
        return self

    def _place(self) -> tuple[GraphDefinition, list[int]]:
        return self, []

    @property
    def _backend(self) -> Any:
        return self._state.backend

    @property
    def _live(self) -> int:
        """The handle, for a call; CUDAError once the node around this graph was destroyed."""
        if not self._state.alive:
            code = driver.CUresult.CUDA_ERROR_INVALID_HANDLE
            raise CUDAError("graph", code, "the node that contained this graph was destroyed")
        return self._state.handle

    def _on_device(self, address: int) -> bool:
        """Whether an address is the device's; allocations of graphs are before the driver maps them."""
        if self._backend.is_device(address):
            return True
        return any(start <= address < start + n for start, n in _allocations(self._root.state))

    def _node(self, handle: int) -> GraphNode:
        """The one object of a node."""
        node = nodes_alive.get(handle)
        if node is not None:
            return node  # type: ignore[no-any-return]
        from ._nodes import class_of

        info = self._state.nodes.get(handle)
        cls = info.cls if info else class_of(self._backend, handle)
        return cls._of(self, handle, info)  # type: ignore[no-any-return]

    @property
    def _entry(self) -> GraphNode:
        return GraphNode._of(self, None, None)

    @property
    def handle(self) -> Any:
        """The driver's graph (on the CPU an identity); 0 once the node around it was destroyed."""
        return driver.CUgraph(self._state.handle if self._state.alive else 0)

    def nodes(self) -> set[GraphNode]:
        """All nodes."""
        return {self._node(handle) for handle in self._backend.nodes(self._live)}

    def edges(self) -> set[tuple[GraphNode, GraphNode]]:
        """All edges, as (before, after)."""
        edges = self._backend.edges(self._live)
        return {(self._node(before), self._node(after)) for before, after in edges}

    def create_condition(self, default_value: int | None = None) -> GraphCondition:
        """A condition for a node of this graph.

        Parameters
        ----------
        default_value : int, optional
            What it is at the beginning of each launch; left out, it stays as it was.
        """
        value = None if default_value is None else int(default_value)
        return GraphCondition._of(self._backend, self._backend.create_condition(self._live, value))

    def instantiate(self, options: Any = None) -> Any:
        """Makes a Graph, which can be launched, of the nodes as they are now.

        Parameters
        ----------
        options : GraphCompleteOptions or mapping, optional
        """
        from ._exec import Graph

        options = options_of(GraphCompleteOptions, options)
        return Graph._of(self._backend, self._backend.instantiate(self._live, options))

    def debug_dot_print(self, path: str, options: Any = None) -> None:
        """Writes the graph to a file in the language of Graphviz."""
        self._backend.dot(self._live, path, dot_flags(options))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, GraphDefinition):
            return NotImplemented
        return self._state is other._state

    def __hash__(self) -> int:
        return id(self._state) >> 4

    def __repr__(self) -> str:
        return f"<GraphDefinition handle={int(self.handle):#x}>"


def _allocations(state: State) -> Any:
    """(address, bytes) of every allocation known in a graph and the graphs in it."""
    for info in state.nodes.values():
        if "bytesize" in info.attrs:
            yield info.attrs["dptr"], info.attrs["bytesize"]
        for child in info.children:
            yield from _allocations(child)
