# SPDX-License-Identifier: Apache-2.0
"""Graphs of the CPU: the same functions as ``_gpu.py`` has for the driver.

Recording makes nodes of what streams are given. An executable is a script of the pieces of its nodes
in an order that the edges allow.
"""

from __future__ import annotations

from typing import Any

from ... import _core
from .._errors import cpu_cannot
from ._cpu_nodes import Definitions, graphs, handles, nodes_by_handle, refuse, values
from ._script import Writer

__all__ = ["Cpu"]

_execs: dict[int, Exec] = {}
_PIECES = {
    _core.PIECE_KERNEL: "KERNEL", _core.PIECE_COPY: "MEMCPY", _core.PIECE_FILL: "MEMSET",
    _core.PIECE_HOST: "HOST", _core.PIECE_RECORD: "EVENT_RECORD", _core.PIECE_WAIT: "WAIT_EVENT",
}  # fmt: skip


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


class Cpu(Definitions):
    """Graphs on the CPU."""

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
                nodes_by_handle[recording.tail[0]].pieces.append(piece)
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
        handle = next(handles)
        _execs[handle] = made
        return handle

    def _write(self, exec_: Exec, graph: int) -> None:
        writer = Writer(graphs, values, exec_.pieces, exec_.disabled)
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

        accepted = Stream_accept(stream)
        if accepted._address in _recordings:
            raise RuntimeError(
                "a graph of the CPU cannot be launched on a stream that is recording a graph; embed() "
                "of the GraphBuilder adds what another builder has recorded"
            )
        _execs[exec_].script.launch(accepted)

    def exec_upload(self, exec_: int, stream: Any) -> None:
        """Nothing has to be brought anywhere."""

    def exec_update(self, exec_: int, graph: int) -> None:
        made, new = _execs[exec_], Exec(graph)
        self._write(new, graph)
        if new.shape != made.shape:
            why = (
                "the graphs differ in nodes or edges (CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED)"
            )
            refuse("Graph update failed", why, "GRAPH_EXEC_UPDATE_FAILURE")
        _execs[exec_] = new

    def _node_of(self, exec_: int, node: int) -> Exec:
        made = _execs[exec_]
        if node not in made.nodes:
            refuse("graph[node]", "the executable was not made of a graph with this node")
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
