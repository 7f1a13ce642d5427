# SPDX-License-Identifier: Apache-2.0
"""What is known of a graph beside what its device tells, and who destroys it.

GraphDefinition -> Root (owns the outermost graph)
               '-> State of this graph -> Info of a node -> States of the graphs inside the node
"""

from __future__ import annotations

import sys
import weakref
from typing import Any

from ... import _core

__all__ = ["Info", "Root", "State", "nodes_alive"]

# Handle of a living node -> its object, so that each node has one object while somebody holds it.
nodes_alive: weakref.WeakValueDictionary[int, Any] = weakref.WeakValueDictionary()


class Info:
    """Of one node: its class, what it was made with, the user objects that it holds, and its graphs."""

    __slots__ = ("attrs", "children", "cls", "keep")

    def __init__(self, cls: Any, attrs: dict[str, Any]) -> None:
        self.cls, self.attrs = cls, attrs
        self.keep: list[int] = []
        self.children: list[State] = []


class State:
    """Of one graph; dead once a node that contained it was destroyed."""

    __slots__ = ("__weakref__", "alive", "backend", "handle", "nodes")

    def __init__(self, backend: Any, handle: int) -> None:
        self.backend, self.handle, self.alive = backend, handle, True
        self.nodes: dict[int, Info] = {}

    def kill(self) -> None:
        """The graph is gone, and with it every graph in it."""
        self.alive = False
        for handle, info in self.nodes.items():
            drop_node(handle)
            for child in info.children:
                child.kill()
        self.nodes.clear()

    def attach(self, node: int, objects: Any) -> None:
        """Lets the graph keep objects as long as the node, or an executable made of it, needs them."""
        self.nodes[node].keep.append(self.backend.retain(self.handle, objects))

    def forget(self, node: int) -> None:
        """After the node was removed: what it held goes, except from executables made before."""
        info = self.nodes.pop(node, None)
        drop_node(node)
        for kept in info.keep if info else ():
            self.backend.release(self.handle, kept)
        for child in info.children if info else ():
            child.kill()

    def adopt(self, source: State) -> None:
        """This graph is a copy of another: what is known of that one's nodes holds here too."""
        here, there = self.backend.nodes(self.handle), self.backend.nodes(source.handle)
        by_order = dict(zip(there, here, strict=False)) if len(here) == len(there) else {}
        for old, info in source.nodes.items():
            new = self.backend.find_clone(old, self.handle) or by_order.get(old)
            if new is None:
                continue
            copy = self.nodes[new] = Info(info.cls, dict(info.attrs))
            copy.keep = list(info.keep)
            if info.cls.__name__ == "ChildGraphNode":
                child = State(self.backend, self.backend.child_of(new))
                copy.children = [child]
                child.adopt(info.children[0])


def drop_node(handle: int) -> None:
    """The object of a node that was destroyed says so from now on."""
    node = nodes_alive.pop(handle, None)
    if node is not None:
        node._valid = False


class Root:
    """Destroys the outermost graph with the last view of it or of a graph inside."""

    __slots__ = ("__weakref__", "state")

    def __init__(self, state: State) -> None:
        self.state = state

    def __del__(self) -> None:
        if sys is None or sys.is_finalizing():
            return
        self.state.backend.destroy(self.state.handle)
        _core.graph_sweep()
