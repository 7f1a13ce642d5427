# SPDX-License-Identifier: Apache-2.0
"""Definitions of graphs of the CPU, by handles that are ints.

A node that does something holds recorded pieces of work (tessera/graph.h).
"""

from __future__ import annotations

import ctypes
import itertools
import threading
import weakref
from collections.abc import Sequence
from typing import Any, NoReturn

from ... import _core
from ...bindings.driver import CUgraphNodeType, CUresult
from .._errors import CUDAError

__all__ = ["Definitions", "graphs", "handles", "nodes_by_handle", "refuse", "values"]

handles = itertools.count(0x1000, 16)
graphs: dict[int, Graph] = {}
nodes_by_handle: dict[int, Node] = {}
_own = threading.local()


class Cell(ctypes.c_uint32):
    """The value of a condition."""


values: weakref.WeakValueDictionary[int, Cell] = weakref.WeakValueDictionary()


class Node:
    """One node."""

    def __init__(self, graph: Graph, kind: str, pieces: Sequence[Any] = ()) -> None:
        self.graph, self.kind, self.pieces = graph, kind, list(pieces)
        self.pred: dict[int, None] = {}
        self.succ: dict[int, None] = {}
        self.children: list[int] = []  # graphs
        self.condition = 0
        self.source = 0  # the node this is a copy of
        self.memory: Any = None


class Graph:
    """One graph: its nodes in the order in which they were added, and what it keeps."""

    def __init__(self) -> None:
        self.nodes: dict[int, Node] = {}
        self.keep: dict[int, Any] = {}
        self.defaults: dict[int, int] = {}  # conditions with a value at each launch


def refuse(function: str, why: str, code: str = "INVALID_VALUE") -> NoReturn:
    raise CUDAError(function, CUresult[f"CUDA_ERROR_{code}"], why)


class Definitions:
    """Graphs, their nodes and edges, and what they keep."""

    is_cpu = True

    def __init__(self, device: Any) -> None:
        self.device = device

    # ---- graphs

    def create(self) -> int:
        handle = next(handles)
        graphs[handle] = Graph()
        return handle

    def destroy(self, graph: int) -> None:
        gone = graphs.pop(graph, None)
        for handle, node in gone.nodes.items() if gone else ():
            nodes_by_handle.pop(handle, None)
            for child in node.children:
                self.destroy(child)

    def nodes(self, graph: int) -> list[int]:
        return list(graphs[graph].nodes)

    def edges(self, graph: int) -> list[tuple[int, int]]:
        return [(h, after) for h, node in graphs[graph].nodes.items() for after in node.succ]

    def dot(self, graph: int, path: str, _flags: int) -> None:
        names = {h: f'"{nodes_by_handle[h].kind} {h:#x}"' for h in self.nodes(graph)}
        lines = [f"{name};" for name in names.values()]
        lines += [f"{names[a]} -> {names[b]};" for a, b in self.edges(graph)]
        with open(path, "w", encoding="utf-8") as file:
            file.write("digraph tessera {\n" + "\n".join(lines) + "\n}\n")

    # ---- nodes

    def node_type(self, node: int) -> Any:
        return CUgraphNodeType[f"CU_GRAPH_NODE_TYPE_{nodes_by_handle[node].kind}"]

    def pred(self, node: int) -> list[int]:
        return list(nodes_by_handle[node].pred)

    def succ(self, node: int) -> list[int]:
        return list(nodes_by_handle[node].succ)

    def connect(self, graph: int, before: Sequence[int], after: Sequence[int]) -> None:
        own = graphs[graph].nodes
        for a, b in zip(before, after, strict=True):
            if a not in own or b not in own or a == b:
                refuse("graph", "an edge joins two different nodes of one graph")
        for a, b in zip(before, after, strict=True):
            own[a].succ[b] = own[b].pred[a] = None

    def disconnect(self, graph: int, before: Sequence[int], after: Sequence[int]) -> None:
        own = graphs[graph].nodes
        for a, b in zip(before, after, strict=True):
            own[a].succ.pop(b, None)
            own[b].pred.pop(a, None)

    def remove(self, node: int) -> None:
        gone = nodes_by_handle.pop(node)
        del gone.graph.nodes[node]
        for other in gone.pred:
            nodes_by_handle[other].succ.pop(node, None)
        for other in gone.succ:
            nodes_by_handle[other].pred.pop(node, None)
        for child in gone.children:
            self.destroy(child)

    def _add(self, graph: int, deps: Sequence[int], kind: str, pieces: Sequence[Any] = ()) -> int:
        handle = next(handles)
        own = graphs[graph]
        nodes_by_handle[handle] = own.nodes[handle] = Node(own, kind, pieces)
        unique = list(dict.fromkeys(deps))
        try:
            self.connect(graph, unique, [handle] * len(unique))
        except CUDAError:
            self.remove(handle)
            raise
        return handle

    def record(self, work: Any) -> list[Any]:
        """The pieces of what `work` gives to a stream."""
        stream = getattr(_own, "stream", None)
        if stream is None:
            stream = _own.stream = self.device.create_stream()
        _core.record_begin(stream)
        try:
            work(stream)
        finally:
            pieces = _core.record_end(stream)
        return pieces  # type: ignore[no-any-return]

    def add_empty(self, graph: int, deps: list[int]) -> int:
        return self._add(graph, deps, "EMPTY")

    def _launch(self, config: Any, kernel: Any, args: tuple[Any, ...]) -> list[Any]:
        from .._launcher import launch

        return self.record(lambda stream: launch(stream, config, kernel, *args))

    def add_kernel(self, graph: int, deps: list[int], config: Any, kernel: Any, args: Any) -> int:
        return self._add(graph, deps, "KERNEL", self._launch(config, kernel, args))

    def kernel_params(self, node: int) -> list[Any]:
        return nodes_by_handle[node].pieces

    def set_kernel(self, node: int, pieces: list[Any]) -> None:
        nodes_by_handle[node].pieces = list(pieces)

    def is_device(self, _address: int) -> bool:
        return True

    def _memcpy(self, dst: Any, src: Any, size: int) -> list[Any]:
        return self.record(lambda stream: _core.graph_submit(stream, dst[0], src[0], size))

    def add_memcpy(self, graph: int, deps: list[int], dst: Any, src: Any, size: int) -> int:
        return self._add(graph, deps, "MEMCPY", self._memcpy(dst, src, size))

    def set_memcpy(self, node: int, dst: Any, src: Any, size: int) -> None:
        nodes_by_handle[node].pieces = self._memcpy(dst, src, size)

    def _memset(self, dst: int, value: int, element: int, shape: Any) -> list[Any]:
        width, height, pitch = shape

        def fill(stream: Any) -> None:
            for row in range(height):
                _core.graph_submit(stream, dst + row * pitch, value, element, width)

        return self.record(fill)

    def add_memset(
        self, graph: int, deps: list[int], dst: int, value: int, element: int, shape: Any
    ) -> int:
        return self._add(graph, deps, "MEMSET", self._memset(dst, value, element, shape))

    def set_memset(self, node: int, dst: int, value: int, element: int, shape: Any) -> None:
        nodes_by_handle[node].pieces = self._memset(dst, value, element, shape)

    def add_alloc(
        self, graph: int, deps: list[int], size: int, _device: int, _kind: str, _peers: Any
    ) -> tuple[int, int]:
        """The memory is there from now on, as long as the graph and its executables."""
        if size < 1:
            refuse("allocate", "an allocation has at least one byte")
        handle = self._add(graph, deps, "MEM_ALLOC")
        memory = self.device.allocate(size, stream=self.device.default_stream)
        nodes_by_handle[handle].memory = graphs[graph].keep[handle] = memory
        return handle, int(memory.handle)

    def add_free(self, graph: int, deps: list[int], address: int) -> int:
        if not address:
            refuse("deallocate", "address 0 is no allocation of a graph")
        return self._add(graph, deps, "MEM_FREE")

    def _copy(self, graph: int) -> int:
        """A copy of a graph and the graphs in it."""
        handle = self.create()
        source, copy = graphs[graph], graphs[handle]
        copy.keep, copy.defaults = dict(source.keep), dict(source.defaults)
        new = {}
        for old, node in source.nodes.items():
            new[old] = made = self._add(
                handle, [new[p] for p in node.pred if p in new], node.kind, node.pieces
            )
            twin = nodes_by_handle[made]
            twin.condition, twin.source, twin.memory = node.condition, old, node.memory
            twin.children = [self._copy(child) for child in node.children]
        late = [
            (new[a], new[b])
            for a, b in self.edges(graph)
            if new[b] not in nodes_by_handle[new[a]].succ
        ]
        self.connect(handle, [a for a, _ in late], [b for _, b in late])
        return handle

    def add_child(self, graph: int, deps: list[int], child: int) -> tuple[int, int]:
        copy = self._copy(child)
        handle = self._add(graph, deps, "GRAPH")
        nodes_by_handle[handle].children = [copy]
        return handle, copy

    def child_of(self, node: int) -> int:
        return nodes_by_handle[node].children[0]

    def find_clone(self, node: int, clone: int) -> int | None:
        twins = (h for h, other in graphs[clone].nodes.items() if other.source == node)
        return next(twins, None)

    def _record(self, event: Any) -> list[Any]:
        return self.record(lambda stream: stream.record(event))

    def add_record(self, graph: int, deps: list[int], event: Any) -> int:
        return self._add(graph, deps, "EVENT_RECORD", self._record(event))

    def set_record(self, node: int, event: Any) -> None:
        nodes_by_handle[node].pieces = self._record(event)

    def _wait(self, event: Any) -> list[Any]:
        return self.record(lambda stream: stream.wait(event))

    def add_wait(self, graph: int, deps: list[int], event: Any) -> int:
        return self._add(graph, deps, "WAIT_EVENT", self._wait(event))

    def set_wait(self, node: int, event: Any) -> None:
        nodes_by_handle[node].pieces = self._wait(event)

    def _host(self, function: int, data: int) -> list[Any]:
        return self.record(lambda stream: _core.graph_submit(stream, function, data))

    def add_host(self, graph: int, deps: list[int], function: int, data: int) -> int:
        return self._add(graph, deps, "HOST", self._host(function, data))

    def set_host(self, node: int, function: int, data: int) -> None:
        nodes_by_handle[node].pieces = self._host(function, data)

    def create_condition(self, graph: int, default: int | None) -> int:
        handle = next(handles)
        values[handle] = graphs[graph].keep[handle] = Cell(default or 0)
        graphs[graph].defaults[handle] = default  # type: ignore[assignment]
        return handle

    def set_condition(self, condition: int, value: int) -> None:
        values[condition].value = value

    def add_conditional(
        self, graph: int, deps: list[int], condition: int, kind: str, count: int
    ) -> tuple[int, list[int]]:
        if condition not in graphs[graph].defaults or count < 1:
            refuse(kind, "the condition is of another graph, or there is no branch")
        handle = self._add(graph, deps, "CONDITIONAL")
        node = nodes_by_handle[handle]
        node.condition, node.pieces = condition, [kind]
        node.children = [self.create() for _ in range(count)]
        return handle, node.children

    # ---- what a graph keeps

    def retain(self, graph: int, objects: Any) -> int:
        handle = next(handles)
        graphs[graph].keep[handle] = objects
        return handle

    def release(self, graph: int, kept: int) -> None:
        if graph in graphs:
            graphs[graph].keep.pop(kept, None)
