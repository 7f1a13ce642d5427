# SPDX-License-Identifier: Apache-2.0
"""Graphs that can be launched, and what can be changed in them."""

from __future__ import annotations

import sys
from typing import Any

from ... import _core
from ...bindings import driver
from ._node import GraphNode
from ._nodes import KernelNode, MemcpyNode, MemsetNode, _scratch
from ._operand import copy_of, fill_args, fill_of

__all__ = [
    "ExecutableKernelNode",
    "ExecutableMemcpyNode",
    "ExecutableMemsetNode",
    "ExecutableNode",
    "Graph",
]


class Graph:
    """A graph that can be launched; made by ``GraphBuilder.complete`` and ``GraphDefinition.instantiate``.

    It keeps what its nodes need, also while a launch is running. ``graph[node]`` is the executable form
    of a node of its definition, which can be changed without making the graph again.
    """

    __slots__ = ("__weakref__", "_backend", "_handle", "_keep")

    def __init__(self, *args: object, **kwargs: object) -> None:
        from .._errors import no_constructor

        no_constructor("Graph", "GraphBuilder.complete() or GraphDefinition.instantiate()")

    @classmethod
    def _of(cls, backend: Any, handle: int) -> Graph:
        self = cls.__new__(cls)
        self._backend, self._handle = backend, handle
        self._keep: dict[int, Any] = {}  # node -> what its update needs
        return self

    @property
    def _live(self) -> int:
        if not self._handle:
            raise RuntimeError("the graph is closed")
        return self._handle

    @property
    def handle(self) -> Any:
        """The driver's executable graph (on the CPU an identity); 0 once closed."""
        return driver.CUgraphExec(self._handle)

    def launch(self, stream: Any) -> None:
        """Runs the graph in the order of a stream."""
        self._backend.exec_launch(self._live, stream)

    def upload(self, stream: Any) -> None:
        """Brings the graph to the device, in the order of a stream, so that the first launch is quick."""
        self._backend.exec_upload(self._live, stream)

    def update(self, source: Any) -> None:
        """Makes this the graph that `source` describes, which has the same nodes and edges with other
        parameters.

        Parameters
        ----------
        source : GraphBuilder or GraphDefinition

        Raises
        ------
        CUDAError
            The graphs differ too much; this one is as it was.
        """
        from ._builder import GraphBuilder
        from ._definition import GraphDefinition

        if isinstance(source, GraphBuilder):
            handle = source._finished()
        elif isinstance(source, GraphDefinition):
            handle = source._live
        else:
            kind = type(source).__name__
            raise TypeError(f"expected GraphBuilder or GraphDefinition, not {kind}")
        self._backend.exec_update(self._live, handle)
        self._keep.clear()
        _core.graph_sweep()

    def __getitem__(self, node: GraphNode) -> ExecutableNode:
        """The executable form of a node of the definition."""
        if not isinstance(node, GraphNode):
            raise TypeError(f"a graph is indexed by a GraphNode, not {type(node).__name__}")
        for kind, view in _VIEWS.items():
            if isinstance(node, kind):
                return view(self, node)
        return ExecutableNode(self, node)

    def close(self) -> None:
        """Ends the graph once the launches that run are done; does not wait. Again: nothing."""
        handle, self._handle = self._handle, 0
        if handle:
            self._backend.exec_destroy(handle)
            self._keep.clear()
            _core.graph_sweep()

    def __del__(self) -> None:
        if sys is not None and not sys.is_finalizing():
            self.close()

    def __repr__(self) -> str:
        return f"<Graph handle={self._handle:#x}>"


class ExecutableNode:
    """A node in a graph that can be launched: changes hold from the next launch on."""

    __slots__ = ("_graph", "_node")

    def __init__(self, graph: Graph, node: GraphNode) -> None:
        self._graph, self._node = graph, node

    @property
    def graph(self) -> Graph:
        """The graph it belongs to."""
        return self._graph

    @property
    def node(self) -> GraphNode:
        """The node of the definition."""
        return self._node

    def _where(self) -> tuple[Any, int, int]:
        handle = self._node._handle
        if handle is None or not self._node.is_valid:
            raise RuntimeError("the node of the definition was destroyed")
        return self._graph._backend, self._graph._live, handle

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {self._node!r}>"


class _Switchable(ExecutableNode):
    __slots__ = ()

    @property
    def is_enabled(self) -> bool:
        """False: the node does nothing."""
        backend, exec_, node = self._where()
        return bool(backend.exec_is_enabled(exec_, node))

    def enable(self) -> None:
        """Lets the node run again."""
        backend, exec_, node = self._where()
        backend.exec_set_enabled(exec_, node, True)

    def disable(self) -> None:
        """Lets the node do nothing; what depends on it runs."""
        backend, exec_, node = self._where()
        backend.exec_set_enabled(exec_, node, False)


class ExecutableKernelNode(_Switchable):
    """A launch in a graph that can be launched."""

    __slots__ = ()

    def update(self, config: Any, kernel: Any, *args: Any) -> None:
        """Makes it another launch."""
        backend, exec_, node = self._where()
        with _scratch(backend, config, kernel, args) as params:
            backend.exec_set_kernel(exec_, node, params)
        self._graph._keep[node] = (kernel, args)


class ExecutableMemcpyNode(_Switchable):
    """A copy in a graph that can be launched."""

    __slots__ = ()

    def update(
        self, dst: Any, src: Any, size: int, *, dst_owner: Any = None, src_owner: Any = None
    ) -> None:
        """Makes it another copy; parameters as for ``memcpy`` of a node."""
        backend, exec_, node = self._where()
        on_device = self._node._graph._on_device
        attrs, keep = copy_of(on_device, dst, src, size, (dst_owner, src_owner))
        backend.exec_set_memcpy(exec_, node, *attrs["sides"], size)
        self._graph._keep[node] = keep


class ExecutableMemsetNode(_Switchable):
    """A fill in a graph that can be launched."""

    __slots__ = ()

    def update(
        self,
        dst: Any,
        value: Any,
        width: int,
        height: int = 1,
        pitch: int = 0,
        *,
        dst_owner: Any = None,
    ) -> None:
        """Makes it another fill; parameters as for ``memset`` of a node."""
        backend, exec_, node = self._where()
        attrs, keep = fill_of(dst, value, (width, height, pitch), dst_owner)
        backend.exec_set_memset(exec_, node, *fill_args(attrs))
        self._graph._keep[node] = keep


_VIEWS: dict[type, type[ExecutableNode]] = {
    KernelNode: ExecutableKernelNode,
    MemcpyNode: ExecutableMemcpyNode,
    MemsetNode: ExecutableMemsetNode,
}
