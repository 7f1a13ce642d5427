# SPDX-License-Identifier: Apache-2.0
"""Graphs of the CPU, by handles that are ints: the same functions as ``_gpu.py`` has for the driver.

A node that does something holds recorded pieces of work (tessera/graph.h). An executable is a script of
the pieces in an order that the edges allow.
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
from .._errors import CUDAError, cpu_cannot
from ._script import Writer

__all__ = ["Cpu", "Node"]

_handles = itertools.count(0x1000, 16)
_graphs: dict[int, Graph] = {}
_nodes: dict[int, Node] = {}
_execs: dict[int, Exec] = {}
_own = threading.local()
_PIECES = {1: "KERNEL", 2: "MEMCPY", 3: "MEMSET", 4: "HOST", 5: "EVENT_RECORD", 6: "WAIT_EVENT"}


class Cell(ctypes.c_uint32):
    """The value of a condition."""


_values: weakref.WeakValueDictionary[int, Cell] = weakref.WeakValueDictionary()


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


class Recording:
    """A stream that records a graph: what its next work depends on."""

    def __init__(self, graph: int, tail: list[int]) -> None:
        self.graph, self.tail = graph, tail


_recordings: dict[int, Recording] = {}  # by the stream's address


class Exec:
    """An executable: how it was made, and its script."""

    def __init__(self, graph: int) -> None:
        self.graph = graph
        self.pieces: dict[int, list[Any]] = {}
        self.disabled: set[int] = set()
        self.nodes: list[int] = []
        self.shape: Any = None
        self.script: Any = None
        self.writer: Any = None


def _refuse(function: str, why: str, code: str = "INVALID_VALUE") -> NoReturn:
    raise CUDAError(function, CUresult[f"CUDA_ERROR_{code}"], why)


class Cpu:
    """Graphs on the CPU."""

    is_cpu = True

    def __init__(self, device: Any) -> None:
        self.device = device

    # ---- graphs

    def create(self) -> int:
        handle = next(_handles)
        _graphs[handle] = Graph()
        return handle

    def destroy(self, graph: int) -> None:
        gone = _graphs.pop(graph, None)
        for handle, node in gone.nodes.items() if gone else ():
            _nodes.pop(handle, None)
            for child in node.children:
                self.destroy(child)

    def nodes(self, graph: int) -> list[int]:
        return list(_graphs[graph].nodes)

    def edges(self, graph: int) -> list[tuple[int, int]]:
        return [(h, after) for h, node in _graphs[graph].nodes.items() for after in node.succ]

    def dot(self, graph: int, path: str, _flags: int) -> None:
        names = {h: f'"{_nodes[h].kind} {h:#x}"' for h in self.nodes(graph)}
        lines = [f"{name};" for name in names.values()]
        lines += [f"{names[a]} -> {names[b]};" for a, b in self.edges(graph)]
        with open(path, "w", encoding="utf-8") as file:
            file.write("digraph tessera {\n" + "\n".join(lines) + "\n}\n")

    # ---- nodes

    def node_type(self, node: int) -> Any:
        return CUgraphNodeType[f"CU_GRAPH_NODE_TYPE_{_nodes[node].kind}"]

    def pred(self, node: int) -> list[int]:
        return list(_nodes[node].pred)

    def succ(self, node: int) -> list[int]:
        return list(_nodes[node].succ)

    def connect(self, graph: int, before: Sequence[int], after: Sequence[int]) -> None:
        own = _graphs[graph].nodes
        for a, b in zip(before, after, strict=True):
            if a not in own or b not in own or a == b:
                _refuse("graph", "an edge joins two different nodes of one graph")
        for a, b in zip(before, after, strict=True):
            own[a].succ[b] = own[b].pred[a] = None

    def disconnect(self, graph: int, before: Sequence[int], after: Sequence[int]) -> None:
        own = _graphs[graph].nodes
        for a, b in zip(before, after, strict=True):
            own[a].succ.pop(b, None)
            own[b].pred.pop(a, None)

    def remove(self, node: int) -> None:
        gone = _nodes.pop(node)
        del gone.graph.nodes[node]
        for other in gone.pred:
            _nodes[other].succ.pop(node, None)
        for other in gone.succ:
            _nodes[other].pred.pop(node, None)
        for child in gone.children:
            self.destroy(child)

    def _add(self, graph: int, deps: Sequence[int], kind: str, pieces: Sequence[Any] = ()) -> int:
        handle = next(_handles)
        own = _graphs[graph]
        _nodes[handle] = own.nodes[handle] = Node(own, kind, pieces)
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
        return _nodes[node].pieces

    def set_kernel(self, node: int, pieces: list[Any]) -> None:
        _nodes[node].pieces = list(pieces)

    def is_device(self, _address: int) -> bool:
        return True

    def _memcpy(self, dst: Any, src: Any, size: int) -> list[Any]:
        return self.record(lambda stream: _core.graph_submit(stream, dst[0], src[0], size))

    def add_memcpy(self, graph: int, deps: list[int], dst: Any, src: Any, size: int) -> int:
        return self._add(graph, deps, "MEMCPY", self._memcpy(dst, src, size))

    def set_memcpy(self, node: int, dst: Any, src: Any, size: int) -> None:
        _nodes[node].pieces = self._memcpy(dst, src, size)

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
        _nodes[node].pieces = self._memset(dst, value, element, shape)

    def add_alloc(
        self, graph: int, deps: list[int], size: int, _device: int, _kind: str, _peers: Any
    ) -> tuple[int, int]:
        """The memory is there from now on, as long as the graph and its executables."""
        if size < 1:
            _refuse("allocate", "an allocation has at least one byte")
        handle = self._add(graph, deps, "MEM_ALLOC")
        memory = self.device.allocate(size, stream=self.device.default_stream)
        _nodes[handle].memory = _graphs[graph].keep[handle] = memory
        return handle, int(memory.handle)

    def add_free(self, graph: int, deps: list[int], address: int) -> int:
        if not address:
            _refuse("deallocate", "address 0 is no allocation of a graph")
        return self._add(graph, deps, "MEM_FREE")

    def _copy(self, graph: int) -> int:
        """A copy of a graph and the graphs in it."""
        handle = self.create()
        source, copy = _graphs[graph], _graphs[handle]
        copy.keep, copy.defaults = dict(source.keep), dict(source.defaults)
        new = {}
        for old, node in source.nodes.items():
            new[old] = made = self._add(
                handle, [new[p] for p in node.pred if p in new], node.kind, node.pieces
            )
            twin = _nodes[made]
            twin.condition, twin.source, twin.memory = node.condition, old, node.memory
            twin.children = [self._copy(child) for child in node.children]
        late = [(new[a], new[b]) for a, b in self.edges(graph) if new[b] not in _nodes[new[a]].succ]
        self.connect(handle, [a for a, _ in late], [b for _, b in late])
        return handle

    def add_child(self, graph: int, deps: list[int], child: int) -> tuple[int, int]:
        copy = self._copy(child)
        handle = self._add(graph, deps, "GRAPH")
        _nodes[handle].children = [copy]
        return handle, copy

    def child_of(self, node: int) -> int:
        return _nodes[node].children[0]

    def find_clone(self, node: int, clone: int) -> int | None:
        twins = (h for h, other in _graphs[clone].nodes.items() if other.source == node)
        return next(twins, None)

    def _record(self, event: Any) -> list[Any]:
        return self.record(lambda stream: stream.record(event))

    def add_record(self, graph: int, deps: list[int], event: Any) -> int:
        return self._add(graph, deps, "EVENT_RECORD", self._record(event))

    def set_record(self, node: int, event: Any) -> None:
        _nodes[node].pieces = self._record(event)

    def _wait(self, event: Any) -> list[Any]:
        return self.record(lambda stream: stream.wait(event))

    def add_wait(self, graph: int, deps: list[int], event: Any) -> int:
        return self._add(graph, deps, "WAIT_EVENT", self._wait(event))

    def set_wait(self, node: int, event: Any) -> None:
        _nodes[node].pieces = self._wait(event)

    def _host(self, function: int, data: int) -> list[Any]:
        return self.record(lambda stream: _core.graph_submit(stream, function, data))

    def add_host(self, graph: int, deps: list[int], function: int, data: int) -> int:
        return self._add(graph, deps, "HOST", self._host(function, data))

    def set_host(self, node: int, function: int, data: int) -> None:
        _nodes[node].pieces = self._host(function, data)

    def create_condition(self, graph: int, default: int | None) -> int:
        handle = next(_handles)
        _values[handle] = _graphs[graph].keep[handle] = Cell(default or 0)
        _graphs[graph].defaults[handle] = default  # type: ignore[assignment]
        return handle

    def set_condition(self, condition: int, value: int) -> None:
        _values[condition].value = value

    def add_conditional(
        self, graph: int, deps: list[int], condition: int, kind: str, count: int
    ) -> tuple[int, list[int]]:
        if condition not in _graphs[graph].defaults or count < 1:
            _refuse(kind, "the condition is of another graph, or there is no branch")
        handle = self._add(graph, deps, "CONDITIONAL")
        node = _nodes[handle]
        node.condition, node.pieces = condition, [kind]
        node.children = [self.create() for _ in range(count)]
        return handle, node.children

    # ---- what a graph keeps

    def retain(self, graph: int, objects: Any) -> int:
        handle = next(_handles)
        _graphs[graph].keep[handle] = objects
        return handle

    def release(self, graph: int, kept: int) -> None:
        if graph in _graphs:
            _graphs[graph].keep.pop(kept, None)

    # ---- recording

    def begin(self, stream: Any, graph: int, _mode: str) -> None:
        _core.record_begin(stream)
        _recordings[stream._address] = Recording(graph, [])

    def _flush(self, stream: Any, go_on: bool = True) -> Recording:
        """What was recorded since the last call becomes nodes, each after the one before."""
        recording = _recordings[stream._address]
        for piece in _core.record_end(stream):
            if piece.kind in _PIECES:
                kind = _PIECES[piece.kind]
                recording.tail = [self._add(recording.graph, recording.tail, kind, [piece])]
            elif recording.tail:  # memory that was freed meanwhile: it ends with the node before
                _nodes[recording.tail[0]].pieces.append(piece)
        if go_on:
            _core.record_begin(stream)
        return recording

    def end(self, stream: Any) -> None:
        self._flush(stream, go_on=False)
        del _recordings[stream._address]

    def abandon(self, stream: Any) -> None:
        if _recordings.pop(stream._address, None) is not None:
            _core.record_end(stream)

    leave = abandon  # a branch that was joined

    def tail(self, stream: Any) -> list[int]:
        return list(self._flush(stream).tail)

    def set_tail(self, stream: Any, nodes: list[int]) -> None:
        self._flush(stream).tail = list(nodes)

    def fork(self, stream: Any, others: list[Any]) -> None:
        """Others continue from where the stream is; those that record already, also from where they are."""
        here = self._flush(stream)
        for other in others:
            if other._address not in _recordings:
                self.begin(other, here.graph, "")
            there = self._flush(other)
            there.tail = list(dict.fromkeys([*there.tail, *here.tail]))

    def host_call(self, stream: Any, function: int, data: int) -> None:
        _core.graph_submit(stream, function, data)

    # ---- executables

    def instantiate(self, graph: int, options: Any) -> int:
        if options.device_launch:
            raise cpu_cannot("launch of graphs from kernels")
        made = Exec(graph)
        self._write(made, graph)
        handle = next(_handles)
        _execs[handle] = made
        return handle

    def _write(self, exec_: Exec, graph: int) -> None:
        writer = Writer(_graphs, _values, exec_.pieces, exec_.disabled)
        writer.graph(graph)
        exec_.script = _core.Script(writer.finish(), tuple(writer.keep))
        exec_.nodes, exec_.shape = writer.order, writer.shape
        exec_.writer = writer

    def _rewrite(self, exec_: Exec) -> None:
        """After a change: the same steps with other pieces."""
        steps = exec_.writer.finish(exec_.pieces, exec_.disabled)
        exec_.script = _core.Script(steps, (*exec_.writer.keep, exec_.script))

    def exec_destroy(self, exec_: int) -> None:
        _execs.pop(exec_, None)

    def exec_launch(self, exec_: int, stream: Any) -> None:
        from .._stream import Stream_accept

        _execs[exec_].script.launch(Stream_accept(stream))

    def exec_upload(self, exec_: int, stream: Any) -> None:
        """Nothing has to be brought anywhere."""

    def exec_update(self, exec_: int, graph: int) -> None:
        made, new = _execs[exec_], Exec(graph)
        self._write(new, graph)
        if new.shape != made.shape:
            why = (
                "the graphs differ in nodes or edges (CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED)"
            )
            _refuse("Graph update failed", why, "GRAPH_EXEC_UPDATE_FAILURE")
        _execs[exec_] = new

    def _node_of(self, exec_: int, node: int) -> Exec:
        made = _execs[exec_]
        if node not in made.nodes:
            _refuse("graph[node]", "the executable was not made of a graph with this node")
        return made

    def exec_set_enabled(self, exec_: int, node: int, enabled: bool) -> None:
        made = self._node_of(exec_, node)
        (made.disabled.discard if enabled else made.disabled.add)(node)
        self._rewrite(made)

    def exec_is_enabled(self, exec_: int, node: int) -> bool:
        return node not in self._node_of(exec_, node).disabled

    def exec_set_kernel(self, exec_: int, node: int, pieces: list[Any]) -> None:
        made = self._node_of(exec_, node)
        made.pieces[node] = list(pieces)
        self._rewrite(made)

    def exec_set_memcpy(self, exec_: int, node: int, dst: Any, src: Any, size: int) -> None:
        self.exec_set_kernel(exec_, node, self._memcpy(dst, src, size))

    def exec_set_memset(
        self, exec_: int, node: int, dst: int, value: int, element: int, shape: Any
    ) -> None:
        self.exec_set_kernel(exec_, node, self._memset(dst, value, element, shape))
