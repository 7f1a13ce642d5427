# SPDX-License-Identifier: Apache-2.0
"""Graphs recorded from what is given to a builder as to a stream."""

from __future__ import annotations

import sys
import weakref
from typing import Any

from ... import _core
from .._options import options_of
from ._condition import GraphCondition, condition_of
from ._definition import GraphDefinition, backend_of
from ._exec import Graph
from ._operand import function_of, kept_of
from ._options import GraphCompleteOptions, dot_flags
from ._state import Info, Root, State

__all__ = ["GraphBuilder"]

_NEW, _BUILDING, _ENDED, _CLOSED = "new", "building", "ended", "closed"
_MODES = ("relaxed", "global", "thread_local")


class GraphBuilder:
    """Records a graph: work given to the builder, wherever a stream is expected, becomes its nodes.

    Made by ``Device.create_graph_builder`` and ``Stream.create_graph_builder``; ``split`` and the
    conditionals give more of them, for branches.
    """

    __slots__ = (
        "__weakref__",
        "_backend",
        "_ended",
        "_key",
        "_kind",
        "_owned",
        "_phase",
        "_root",
        "_state",
        "_stream",
    )

    def __init__(self, *args: object, **kwargs: object) -> None:
        from .._errors import no_constructor

        no_constructor(
            "GraphBuilder", "Device.create_graph_builder() or Stream.create_graph_builder()"
        )

    @classmethod
    def _init(cls, stream: Any, is_stream_owner: bool = False) -> GraphBuilder:
        return cls._make(backend_of(stream.device), stream, is_stream_owner, "primary")

    @classmethod
    def _make(cls, backend: Any, stream: Any, owned: bool, kind: str) -> GraphBuilder:
        self = cls.__new__(cls)
        self._backend, self._stream, self._owned, self._kind = backend, stream, owned, kind
        self._phase = _NEW
        self._key = 0  # the stream in _core.builders, while it records
        self._root: Root | None = None
        self._state: State | None = None
        return self

    # ---- what it is

    @property
    def stream(self) -> Any:
        """The stream that records; None once closed."""
        return self._stream

    @property
    def is_building(self) -> bool:
        """Whether work given to it is recorded."""
        return self._phase is _BUILDING

    @property
    def is_join_required(self) -> bool:
        """Whether it came from ``split`` and has to be joined before the graph can end."""
        return self._kind == "forked"

    def __cuda_stream__(self) -> tuple[int, int]:
        return 0, self._stream._address

    def _open(self) -> None:
        if self._phase is _CLOSED:
            raise RuntimeError("Graph builder has been closed.")

    def _building(self, what: str) -> State:
        self._open()
        if self._phase is not _BUILDING:
            raise RuntimeError(f"Graph builder must be building before {what}.")
        assert self._state is not None
        return self._state

    def _finished(self) -> int:
        """The graph, for an update."""
        if self._phase is _CLOSED:
            raise ValueError("Source graph builder has been closed.")
        if self._phase is not _ENDED or self._state is None:
            raise ValueError("Graph has not finished building.")
        return self._state.handle

    # ---- begin and end

    def begin_building(self, mode: str = "relaxed") -> GraphBuilder:
        """Begins to record.

        Parameters
        ----------
        mode : str
            Which calls that would wait for the device are refused meanwhile: ``"global"`` those of all
            threads, ``"thread_local"`` those of this one, ``"relaxed"`` none.
        """
        self._open()
        if self._phase is _BUILDING:
            raise RuntimeError("Graph builder is already building.")
        if self._phase is _ENDED:
            raise RuntimeError("Cannot resume building after building has ended.")
        if mode not in _MODES:
            raise ValueError(f"Unsupported build mode: {str(mode)[:200]}; it is one of {', '.join(_MODES)}")
        if self._state is None:
            self._state = State(self._backend, self._backend.create())
            self._root = Root(self._state)
        self._backend.begin(self._stream, self._state.handle, mode)
        self._begin()
        return self

    def _begin(self) -> None:
        self._phase = _BUILDING
        self._key = self._stream._address
        _core.builders[self._key] = weakref.ref(self)

    def _end(self, phase: str) -> None:
        self._phase = phase
        _core.builders.pop(self._key, None)

    def end_building(self) -> GraphBuilder:
        """Ends the recording; builders from ``split`` have been joined before."""
        self._building("it can end")
        if self._kind == "forked":
            raise RuntimeError("a forked graph builder cannot end the building; join it first")
        self._end(_ENDED)
        self._backend.end(self._stream)
        return self

    def complete(self, options: Any = None) -> Graph:
        """Makes a Graph, which can be launched, of what was recorded.

        Parameters
        ----------
        options : GraphCompleteOptions or mapping, optional
        """
        self._open()
        if self._phase is not _ENDED or self._state is None:
            raise RuntimeError("Graph has not finished building.")
        options = options_of(GraphCompleteOptions, options)
        return Graph._of(self._backend, self._backend.instantiate(self._state.handle, options))

    def debug_dot_print(self, path: str, options: Any = None) -> None:
        """Writes the graph to a file in the language of Graphviz."""
        self._open()
        if self._phase is not _ENDED or self._state is None:
            raise RuntimeError("Graph has not finished building.")
        self._backend.dot(self._state.handle, path, dot_flags(options))

    @property
    def graph_definition(self) -> GraphDefinition:
        """The graph node by node: after ``end_building``, or of a conditional's branch instead of it."""
        if self._phase is _CLOSED:
            raise RuntimeError("Graph builder has been closed.")
        if self._kind == "forked":
            raise RuntimeError(
                "a forked graph builder has no graph of its own; ask the one it came from"
            )
        if self._phase is _BUILDING:
            raise RuntimeError("graph_definition cannot be had while a capture is in progress")
        if self._state is None or self._root is None:
            raise RuntimeError("graph_definition cannot be had before begin_building()")
        return GraphDefinition._view(self._root, self._state)

    # ---- branches

    def split(self, count: int) -> tuple[GraphBuilder, ...]:
        """Goes on in several branches, of which this builder is the first.

        The others have to be joined again.
        """
        self._open()
        if self._phase is not _BUILDING:
            raise RuntimeError("Graph builder must be building before it can be split.")
        if count < 2:
            raise ValueError(f"Invalid split count: expecting >= 2, got {count}")
        others = [self._sibling("forked") for _ in range(count - 1)]
        for other in others:
            other._root, other._state = self._root, self._state
            other._begin()
        self._backend.fork(self._stream, [other._stream for other in others])
        return (self, *others)

    def _sibling(self, kind: str) -> GraphBuilder:
        stream = self._backend.device.create_stream()
        return self._make(self._backend, stream, True, kind)

    @staticmethod
    def join(*graph_builders: GraphBuilder) -> GraphBuilder:
        """Goes on after several branches, in one of them; the other builders are closed."""
        if len(graph_builders) < 2:
            raise ValueError("Must join with at least two graph builders")
        for builder in graph_builders:
            builder._building("it can be joined")
        first = min(graph_builders, key=lambda builder: builder._kind == "forked")
        for other in graph_builders:
            if other is first:
                continue
            first._backend.fork(other._stream, [first._stream])
            other.close()
        return first

    # ---- nodes beside those of ordinary work

    def _node(self, kind: str, handle: int, attrs: dict[str, Any]) -> Info:
        """Notes a node and makes later work of this builder depend on it."""
        from . import _nodes

        assert self._state is not None
        info = self._state.nodes[handle] = Info(getattr(_nodes, kind), attrs)
        self._backend.set_tail(self._stream, [handle])
        return info

    def create_condition(self, default_value: int | None = None) -> GraphCondition:
        """A condition for ``if_then`` and the others; see ``GraphDefinition.create_condition``."""
        state = self._building("it can have a condition")
        value = None if default_value is None else int(default_value)
        return GraphCondition._of(
            self._backend, self._backend.create_condition(state.handle, value)
        )

    def _conditional(
        self, cls: str, kind: str, condition: GraphCondition, count: int
    ) -> tuple[GraphBuilder, ...]:
        state = self._building("it can have a conditional node")
        value = int(condition_of(condition))
        tail = self._backend.tail(self._stream)
        handle, graphs = self._backend.add_conditional(state.handle, tail, value, kind, count)
        info = self._node(cls, handle, {"condition": condition, "kind": kind})
        info.children = [State(self._backend, graph) for graph in graphs]
        builders = tuple(self._sibling("conditional") for _ in graphs)
        for builder, child in zip(builders, info.children, strict=True):
            builder._root, builder._state = self._root, child
        return builders

    def if_then(self, condition: GraphCondition) -> GraphBuilder:
        """A builder of what runs if the condition is not 0."""
        return self._conditional("IfNode", "if", condition, 1)[0]

    def if_else(self, condition: GraphCondition) -> tuple[GraphBuilder, GraphBuilder]:
        """Builders of what runs if the condition is not 0, and of what runs else."""
        then, else_ = self._conditional("IfElseNode", "if", condition, 2)
        return then, else_

    def while_loop(self, condition: GraphCondition) -> GraphBuilder:
        """A builder of what runs as long as the condition is not 0."""
        return self._conditional("WhileNode", "while", condition, 1)[0]

    def switch(self, condition: GraphCondition, count: int) -> tuple[GraphBuilder, ...]:
        """Builders of ``count`` branches; the one whose number the condition is runs, if there is one."""
        return self._conditional("SwitchNode", "switch", condition, count)

    def embed(self, child: GraphBuilder) -> None:
        """Adds a copy of what another builder has recorded as one node."""
        if not isinstance(child, GraphBuilder):
            raise TypeError(f"expected a GraphBuilder, not {type(child).__name__}")
        state = self._building("a graph can be embedded")
        child._open()
        if child._phase is not _ENDED or child._state is None:
            raise ValueError("Child graph has not finished building.")
        tail = self._backend.tail(self._stream)
        handle, copy = self._backend.add_child(state.handle, tail, child._state.handle)
        info = self._node("ChildGraphNode", handle, {})
        info.children = [State(self._backend, copy)]
        info.children[0].adopt(child._state)

    def callback(self, fn: Any, *, user_data: Any = None) -> None:
        """Adds a call on the host; parameters as for ``GraphDefinition.callback``."""
        state = self._building("a callback can be added")
        function, data, keep = function_of(fn, user_data)
        kept = self._backend.retain(state.handle, keep)
        try:
            self._backend.host_call(self._stream, function, data)
        except BaseException:
            self._backend.release(state.handle, kept)
            raise
        self._attach("HostCallbackNode", {"callback": fn}, kept)

    def _attach(self, kind: str, attrs: dict[str, Any], kept: int) -> None:
        """What was kept belongs to the node that was recorded last."""
        from . import _nodes

        assert self._state is not None
        handle = self._backend.tail(self._stream)[0]
        info = self._state.nodes.setdefault(handle, Info(getattr(_nodes, kind), attrs))
        info.keep.append(kept)

    def _launched(self, config: Any, kernel: Any, args: tuple[Any, ...]) -> None:
        """Called by ``launch`` after it has recorded a launch: what it used lives as long as the graph."""
        state = self._building("a launch can be recorded")
        kept = self._backend.retain(state.handle, (kernel, kept_of(args)))
        self._attach("KernelNode", {"config": config, "kernel": kernel}, kept)

    def _uses(self, objects: tuple[Any, ...]) -> None:
        """Called after other work that uses them was recorded: they live as long as the graph."""
        state = self._building("work can be recorded")
        self._backend.retain(state.handle, kept_of(objects))

    # ---- the end

    def close(self) -> None:
        """Ends the builder; what was recorded but not ended is dropped. Again: nothing."""
        phase = self._phase
        if phase is _CLOSED:
            return
        self._end(_CLOSED)
        if phase is _BUILDING:
            leave = self._backend.leave if self._kind == "forked" else self._backend.abandon
            leave(self._stream)
        stream, self._stream = self._stream, None
        self._state = self._root = None
        self._ended = stream  # a thread that has just read it may be about to use it
        if self._owned:
            stream.close()
        _core.graph_sweep()

    def __del__(self) -> None:
        if sys is not None and not sys.is_finalizing() and hasattr(self, "_phase"):
            self.close()

    def __repr__(self) -> str:
        return f"<GraphBuilder {self._kind} {self._phase}>"
