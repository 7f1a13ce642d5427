# SPDX-License-Identifier: Apache-2.0
"""The base of all nodes, and how nodes are added: a definition adds roots, a node what depends on it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, MutableSet
from typing import TYPE_CHECKING, Any

from ...bindings import driver
from .._errors import CUDAError
from ._condition import GraphCondition, condition_of
from ._operand import copy_of, fill_args, fill_of, function_of, memory_type
from ._state import Info, State, nodes_alive

if TYPE_CHECKING:
    from ._definition import GraphDefinition

__all__ = ["Adder", "GraphNode"]


class Adder:
    """The methods that add a node; of GraphDefinition and GraphNode."""

    __slots__ = ()

    def _place(self) -> tuple[GraphDefinition, list[int]]:
        """The graph, and what a new node depends on."""
        raise NotImplementedError

    def _made(
        self, kind: str, handle: int, attrs: dict[str, Any], keep: Any = None, graphs: Any = ()
    ) -> Any:
        """The object of a node that was just added; without it if what it needs cannot be kept."""
        from . import _nodes

        definition, _ = self._place()
        state = definition._state
        info = state.nodes[handle] = Info(getattr(_nodes, kind), attrs)
        info.children = [State(state.backend, graph) for graph in graphs]
        if keep is not None:
            try:
                state.attach(handle, keep)
            except BaseException:
                state.backend.remove(handle)
                state.forget(handle)
                raise
        return definition._node(handle)

    def empty(self) -> Any:
        """Adds a node that does nothing."""
        return self.join()

    def join(self, *nodes: GraphNode) -> Any:
        """Adds a node that does nothing, after this node and the given ones."""
        definition, deps = self._place()
        deps = [*deps, *(_checked(node) for node in nodes)]
        return self._made("EmptyNode", definition._backend.add_empty(definition._live, deps), {})

    def launch(self, config: Any, kernel: Any, *args: Any) -> Any:
        """Adds a launch, with clusters and all other attributes of the configuration.

        The kernel and its arguments live as long as the graph and its executables. Parameters as for
        ``tessera.core.launch``.
        """
        definition, deps = self._place()
        handle = definition._backend.add_kernel(definition._live, deps, config, kernel, args)
        attrs = {"config": config, "kernel": kernel}
        return self._made("KernelNode", handle, attrs, (kernel, args))

    def memcpy(
        self, dst: Any, src: Any, size: int, *, dst_owner: Any = None, src_owner: Any = None
    ) -> Any:
        """Adds a copy of ``size`` bytes.

        Parameters
        ----------
        dst, src : Buffer or int
            A Buffer's memory is kept; an address must stay valid, or be kept by its owner.
        dst_owner, src_owner : object, optional
            What keeps the memory at an address.
        """
        definition, deps = self._place()
        attrs, keep = copy_of(definition._on_device, dst, src, size, (dst_owner, src_owner))
        handle = definition._backend.add_memcpy(definition._live, deps, *attrs["sides"], size)
        return self._made("MemcpyNode", handle, attrs, keep)

    def memset(
        self,
        dst: Any,
        value: Any,
        width: int,
        height: int = 1,
        pitch: int = 0,
        *,
        dst_owner: Any = None,
    ) -> Any:
        """Adds a fill of ``height`` rows of ``width`` elements.

        Parameters
        ----------
        dst : Buffer or int
        value : int, bytes or NumPy scalar
            An int is one byte; anything else has 1, 2 or 4 bytes, which are the size of an element.
        pitch : int
            Bytes from row to row; ignored for one row.
        dst_owner : object, optional
            What keeps the memory at an address.
        """
        definition, deps = self._place()
        attrs, keep = fill_of(dst, value, (width, height, pitch), dst_owner)
        handle = definition._backend.add_memset(definition._live, deps, *fill_args(attrs))
        return self._made("MemsetNode", handle, attrs, keep)

    def allocate(
        self, size: int, *, device: Any = None, memory_type: Any = None, peer_access: Any = None
    ) -> Any:
        """Adds an allocation; its address is known at once.

        Parameters
        ----------
        size : int
            Bytes.
        device : Device or int, optional
        memory_type : str
            ``"device"``, ``"host"`` or ``"managed"``.
        peer_access : sequence of Device or int, optional
            Devices that use the memory too.
        """
        definition, deps = self._place()
        kind = _memory_type(memory_type)
        own = definition._backend.device
        ordinal = int(getattr(own if device is None else device, "device_id", device))
        peers = [int(getattr(peer, "device_id", peer)) for peer in peer_access or ()]
        handle, address = definition._backend.add_alloc(
            definition._live, deps, size, ordinal, kind, peers
        )
        attrs = {"dptr": address, "bytesize": size, "device_id": ordinal}
        attrs |= {"memory_type": kind, "peer_access": tuple(peers)}
        return self._made("AllocNode", handle, attrs)

    def deallocate(self, dptr: Any) -> Any:
        """Adds the end of an allocation of a graph."""
        definition, deps = self._place()
        handle = definition._backend.add_free(definition._live, deps, int(dptr))
        return self._made("FreeNode", handle, {"dptr": int(dptr)})

    def embed(self, child: GraphDefinition) -> Any:
        """Adds a copy of another graph as one node."""
        from ._definition import GraphDefinition

        if not isinstance(child, GraphDefinition):
            raise TypeError(f"expected a GraphDefinition, not {type(child).__name__}")
        definition, deps = self._place()
        handle, copy = definition._backend.add_child(definition._live, deps, child._live)
        node = self._made("ChildGraphNode", handle, {}, graphs=[copy])
        definition._state.nodes[handle].children[0].adopt(child._state)
        return node

    def record(self, event: Any) -> Any:
        """Adds a record of an event, which the graph keeps."""
        definition, deps = self._place()
        handle = definition._backend.add_record(definition._live, deps, event)
        return self._made("EventRecordNode", handle, {"event": event}, event)

    def wait(self, event: Any) -> Any:
        """Adds a wait for an event, which the graph keeps."""
        definition, deps = self._place()
        handle = definition._backend.add_wait(definition._live, deps, event)
        return self._made("EventWaitNode", handle, {"event": event}, event)

    def callback(self, fn: Any, *, user_data: Any = None) -> Any:
        """Adds a call on the host.

        Parameters
        ----------
        fn : callable or ctypes function of type ``void(void *)``
            Must not call CUDA. An exception goes to ``sys.unraisablehook``; the graph goes on.
        user_data : int or bytes, optional
            The argument of a ctypes function; bytes are copied.
        """
        definition, deps = self._place()
        function, data, keep = function_of(fn, user_data)
        handle = definition._backend.add_host(definition._live, deps, function, data)
        return self._made("HostCallbackNode", handle, {"callback": fn}, keep)

    # ---- conditionals

    def _conditional(self, cls: str, kind: str, condition: GraphCondition, count: int) -> Any:
        definition, deps = self._place()
        value = int(condition_of(condition))
        handle, graphs = definition._backend.add_conditional(
            definition._live, deps, value, kind, count
        )
        return self._made(cls, handle, {"condition": condition, "kind": kind}, graphs=graphs)

    def if_then(self, condition: GraphCondition) -> Any:
        """Adds a node whose graph ``then`` runs if the condition is not 0."""
        return self._conditional("IfNode", "if", condition, 1)

    def if_else(self, condition: GraphCondition) -> Any:
        """Adds a node whose graph ``then`` runs if the condition is not 0, else its graph ``else_``."""
        return self._conditional("IfElseNode", "if", condition, 2)

    def while_loop(self, condition: GraphCondition) -> Any:
        """Adds a node whose graph ``body`` runs as long as the condition is not 0."""
        return self._conditional("WhileNode", "while", condition, 1)

    def switch(self, condition: GraphCondition, count: int) -> Any:
        """Adds a node that runs the one of its ``count`` graphs whose number the condition is, if any."""
        return self._conditional("SwitchNode", "switch", condition, count)


_memory_type = memory_type  # the method's parameter has this name


def _checked(node: Any) -> int:
    """The handle of a node that exists."""
    if not isinstance(node, GraphNode):
        raise TypeError(f"expected a GraphNode, not {type(node).__name__}")
    if not node._valid or node._handle is None:
        code = driver.CUresult.CUDA_ERROR_INVALID_VALUE
        raise CUDAError("graph", code, "the node was destroyed")
    return node._handle


class GraphNode(Adder):
    """A node of a graph. Nodes that are added to it depend on it.

    There is one object for a node as long as somebody holds it.
    """

    __slots__ = ("__weakref__", "_graph", "_handle", "_info", "_valid")
    _copied_as: str | None = None  # class name in copies of the graph, where it is another

    def __init__(self, *args: object, **kwargs: object) -> None:
        from .._errors import no_constructor

        no_constructor(type(self).__name__, "the methods of GraphDefinition and GraphNode")

    @classmethod
    def _of(cls, graph: GraphDefinition, handle: int | None, info: Info | None) -> GraphNode:
        self = cls.__new__(cls)
        self._graph, self._handle, self._valid = graph, handle, True
        self._info = info or Info(cls, {})
        if handle is not None:
            nodes_alive[handle] = self
        return self

    def _place(self) -> tuple[GraphDefinition, list[int]]:
        return self._graph, [] if self._handle is None else [_checked(self)]

    @property
    def _known(self) -> dict[str, Any]:
        return self._info.attrs

    @property
    def graph(self) -> GraphDefinition:
        """The graph it belongs to."""
        return self._graph

    @property
    def handle(self) -> Any:
        """The driver's node (on the CPU an identity); None once destroyed."""
        if self._handle is None or not self._valid:
            return None
        return driver.CUgraphNode(self._handle)

    @property
    def is_valid(self) -> bool:
        """False once the node, or a node that contained its graph, was destroyed."""
        return self._valid and self._handle is not None

    @property
    def type(self) -> Any:
        """A member of CUgraphNodeType; None once destroyed."""
        return self._graph._backend.node_type(self._handle) if self.is_valid else None

    @property
    def pred(self) -> MutableSet[GraphNode]:
        """The nodes that come before; a view through which edges are added and removed."""
        return Neighbours(self, after=False)

    @pred.setter
    def pred(self, nodes: Iterable[GraphNode]) -> None:
        Neighbours(self, after=False)._replace(set(nodes))

    @property
    def succ(self) -> MutableSet[GraphNode]:
        """The nodes that depend on this one; a view through which edges are added and removed."""
        return Neighbours(self, after=True)

    @succ.setter
    def succ(self, nodes: Iterable[GraphNode]) -> None:
        Neighbours(self, after=True)._replace(set(nodes))

    def destroy(self) -> None:
        """Takes the node and its edges out of the graph. Executables made before keep it."""
        if not self.is_valid:
            return
        assert self._handle is not None
        state = self._graph._state
        state.backend.remove(self._handle)
        handle, self._valid = self._handle, False
        state.forget(handle)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, GraphNode):
            return NotImplemented
        if self._handle is None:
            return other._handle is None and self._graph == other._graph
        return self is other

    def __hash__(self) -> int:
        return hash(("entry", self._graph)) if self._handle is None else id(self) >> 4

    def _details(self) -> str:
        return ""

    def __repr__(self) -> str:
        if self._handle is None:
            return "<GraphNode entry>"
        if not self._valid:
            return f"<{type(self).__name__} destroyed>"
        is_known = bool(self._known or self._info.children) or not self._graph._backend.is_cpu
        details = self._details() if is_known else ""
        return f"<{type(self).__name__} handle={self._handle:#x}{details}>"


class Neighbours(MutableSet[GraphNode]):
    """The edges of a node on one side, as a set of nodes."""

    def __init__(self, node: GraphNode, after: bool) -> None:
        self._node, self._after = node, after

    @classmethod
    def _from_iterable(cls, nodes: Iterable[GraphNode]) -> Any:
        return set(nodes)

    def _handles(self) -> list[int]:
        node = self._node
        if not node.is_valid:
            return []
        backend = node._graph._backend
        return list((backend.succ if self._after else backend.pred)(node._handle))

    def __iter__(self) -> Iterator[GraphNode]:
        return iter([self._node._graph._node(handle) for handle in self._handles()])

    def __len__(self) -> int:
        return len(self._handles())

    def __contains__(self, node: object) -> bool:
        return isinstance(node, GraphNode) and node.is_valid and node._handle in self._handles()

    def _change(self, nodes: list[GraphNode], add: bool) -> None:
        if not nodes:
            return
        own, others = [_checked(self._node)] * len(nodes), [_checked(node) for node in nodes]
        before, after = (own, others) if self._after else (others, own)
        definition = self._node._graph
        act = definition._backend.connect if add else definition._backend.disconnect
        act(definition._live, before, after)

    def add(self, node: GraphNode) -> None:
        self.update((node,))

    def discard(self, node: Any) -> None:
        if node in self:
            self._change([node], add=False)

    def update(self, *groups: Iterable[GraphNode]) -> None:
        """Adds all of them, or none."""
        present, new = set(self._handles()), {}
        for node in (node for group in groups for node in group):
            if _checked(node) not in present:
                new[node._handle] = node
        self._change(list(new.values()), add=True)

    def clear(self) -> None:
        self._change(list(self), add=False)

    def _replace(self, nodes: set[GraphNode]) -> None:
        now = set(self)
        for node in nodes:
            _checked(node)
        self._change(list(now - nodes), add=False)
        self._change(list(nodes - now), add=True)

    def __repr__(self) -> str:
        return f"{{{', '.join(map(repr, self))}}}" if len(self) else "set()"
