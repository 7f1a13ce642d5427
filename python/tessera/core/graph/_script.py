# SPDX-License-Identifier: Apache-2.0
"""From a graph of the CPU to the steps of its script (tessera/graph.h)."""

from __future__ import annotations

import ctypes
from typing import Any

from ... import _core
from ...bindings.driver import CUresult
from .._errors import CUDAError

__all__ = ["Writer", "order_of"]



def order_of(nodes: dict[int, Any]) -> list[int]:
    """The nodes so that each comes after those it depends on; else as they were added."""
    left = {handle: len(node.pred) for handle, node in nodes.items()}
    ready = [handle for handle, n in left.items() if n == 0]
    order = []
    while ready:
        handle = ready.pop(0)
        order.append(handle)
        for after in nodes[handle].succ:
            left[after] -= 1
            if left[after] == 0:
                ready.append(after)
    if len(order) < len(nodes):
        code = CUresult.CUDA_ERROR_INVALID_VALUE
        raise CUDAError("instantiate", code, "the edges of the graph form a cycle")
    return order


class Writer:
    """Writes the steps of a graph and of those inside it.

    ``rows`` holds steps, or the handle of a node whose pieces stand there.
    """

    def __init__(self, graphs: Any, values: Any, pieces: Any, disabled: Any) -> None:
        self.graphs, self.values, self.pieces, self.disabled = graphs, values, pieces, disabled
        self.sets: list[Any] = []  # at the beginning of each launch
        self.rows: list[Any] = []
        self.labels: list[int] = []  # label -> row
        self.keep: list[Any] = []
        self.order: list[int] = []
        self.shape: list[Any] = []
        self.nodes: dict[int, list[Any]] = {}

    def label(self) -> int:
        self.labels.append(len(self.rows))
        return len(self.labels) - 1

    def jump(self, op: int, label: int, condition: int = 0, value: int = 0) -> None:
        at = ctypes.addressof(self.values[condition]) if condition else 0
        self.rows.append((op, label, value, at, None))

    def graph(self, handle: int) -> None:
        """A graph: its conditions get their values, then its nodes run."""
        graph = self.graphs[handle]
        self.keep.append(tuple(graph.keep.values()))
        for condition, value in graph.defaults.items():
            self.keep.append(self.values[condition])
            if value is not None:
                at = ctypes.addressof(self.values[condition])
                self.sets.append((_core.STEP_SET, 0, value, at, None))
        order = order_of(graph.nodes)
        place = {node: i for i, node in enumerate(order)}
        edges = [sorted(place[p] for p in graph.nodes[node].pred) for node in order]
        self.shape.append(([graph.nodes[node].kind for node in order], edges))
        for node in order:
            self.order.append(node)
            self.node(node, graph.nodes[node])

    def node(self, handle: int, node: Any) -> None:
        if node.kind == "CONDITIONAL":
            getattr(self, f"write_{node.pieces[0]}")(node.condition, node.children)
        elif node.kind == "GRAPH":
            self.graph(node.children[0])
        elif node.pieces:
            self.nodes[handle] = list(node.pieces)
            self.rows.append(handle)

    def write_if(self, condition: int, graphs: list[int]) -> None:
        other, end = self.later(), self.later()
        self.jump(_core.STEP_JUMP_IF, other, condition, 0)
        self.graph(graphs[0])
        self.jump(_core.STEP_JUMP, end)
        self.here(other)
        if len(graphs) > 1:
            self.graph(graphs[1])
        self.here(end)

    def write_while(self, condition: int, graphs: list[int]) -> None:
        end, again = self.later(), self.label()
        self.jump(_core.STEP_JUMP_IF, end, condition, 0)
        self.graph(graphs[0])
        self.jump(_core.STEP_JUMP, again)
        self.here(end)

    def write_switch(self, condition: int, graphs: list[int]) -> None:
        end = self.later()
        for i, graph in enumerate(graphs):
            other = self.later()
            self.jump(_core.STEP_JUMP_UNLESS, other, condition, i)
            self.graph(graph)
            self.jump(_core.STEP_JUMP, end)
            self.here(other)
        self.here(end)

    def later(self) -> int:
        return self.label()

    def here(self, label: int) -> None:
        self.labels[label] = len(self.rows)

    def finish(self, pieces: Any = None, disabled: Any = ()) -> list[Any]:
        """The steps, with the pieces of nodes in their places."""
        steps, starts = list(self.sets), []
        for row in self.rows:
            starts.append(len(steps))
            if isinstance(row, tuple):
                steps.append(row)
            elif row not in disabled:
                found = (pieces or {}).get(row, self.nodes[row])
                steps += [(_core.STEP_RUN, 0, 0, 0, piece) for piece in found]
        starts.append(len(steps))
        jumps = (_core.STEP_JUMP, _core.STEP_JUMP_IF, _core.STEP_JUMP_UNLESS)
        return [
            (op, starts[self.labels[target]] if op in jumps else 0, *rest)
            for op, target, *rest in steps
        ]
