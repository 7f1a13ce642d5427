# SPDX-License-Identifier: Apache-2.0
"""The kinds of nodes."""

from __future__ import annotations

from typing import Any

from ...bindings import driver
from ..typing import GraphConditionalType
from ._definition import GraphDefinition
from ._node import GraphNode
from ._operand import copy_of, fill_args, fill_of, function_of

__all__ = [
    "AllocNode",
    "ChildGraphNode",
    "ConditionalNode",
    "EmptyNode",
    "EventRecordNode",
    "EventWaitNode",
    "FreeNode",
    "HostCallbackNode",
    "IfElseNode",
    "IfNode",
    "KernelNode",
    "MemcpyNode",
    "MemsetNode",
    "SwitchNode",
    "WhileNode",
    "class_of",
]


def known(name: str, doc: str) -> Any:
    """A property that tells what the node was made with."""

    def get(self: GraphNode) -> Any:
        if name not in self._known and self._graph._backend.is_cpu:
            raise RuntimeError(f"{name} is not known of a node that was recorded on the CPU")
        self._recover()  # type: ignore[attr-defined]
        return self._known[name]

    return property(get, doc=doc)


class _Node(GraphNode):
    __slots__ = ()

    def _recover(self) -> None:
        """Asks the driver about a node that was captured or that other code has made."""


class EmptyNode(_Node):
    """Does nothing; ties others together."""

    __slots__ = ()


class KernelNode(_Node):
    """A launch of a kernel."""

    __slots__ = ()
    config = known("config", "The LaunchConfig.")
    kernel = known("kernel", "The kernel.")

    def _recover(self) -> None:
        if "config" in self._known:
            return
        from .._launch_config import LaunchConfig
        from .._module import Kernel

        p = self._graph._backend.kernel_params(self._handle)
        grid, block = (p.gridDimX, p.gridDimY, p.gridDimZ), (p.blockDimX, p.blockDimY, p.blockDimZ)
        self._known["kernel"] = Kernel.from_handle(int(p.kern) or int(p.func))
        self._known["config"] = LaunchConfig(grid=grid, block=block, shmem_size=p.sharedMemBytes)

    @property
    def grid(self) -> tuple[int, int, int]:
        """Blocks along each axis (with clusters, clusters)."""
        return self.config.grid  # type: ignore[no-any-return]

    @property
    def block(self) -> tuple[int, int, int]:
        """Threads of a block along each axis."""
        return self.config.block  # type: ignore[no-any-return]

    @property
    def shmem_size(self) -> int:
        """Bytes of dynamic shared memory of a block."""
        return self.config.shmem_size  # type: ignore[no-any-return]

    def update(self, config: Any, kernel: Any, *args: Any) -> None:
        """Makes it another launch; executables made before stay as they are."""
        backend, state = self._graph._backend, self._graph._state
        with _scratch(backend, config, kernel, args) as params:
            backend.set_kernel(self._handle, params)
        self._known.update(config=config, kernel=kernel)
        _replace_kept(state, self, (kernel, args))

    def _details(self) -> str:
        handle = getattr(self.kernel, "handle", None)  # kernels written in Python have none
        return f" kernel={self.kernel!r}" if handle is None else f" kernel={int(handle):#x}"


class MemcpyNode(_Node):
    """A copy of bytes."""

    __slots__ = ()
    dst = known("dst", "Where to.")
    src = known("src", "Where from.")
    size = known("size", "How many bytes.")

    def _recover(self) -> None:
        if "size" in self._known:
            return
        p = driver.checked.cuGraphMemcpyNodeGetParams(self._handle)
        sides = _side(p, "dst"), _side(p, "src")
        size = p.WidthInBytes * p.Height * p.Depth
        self._known.update(dst=sides[0][0], src=sides[1][0], size=size, sides=sides)

    def update(
        self, dst: Any, src: Any, size: int, *, dst_owner: Any = None, src_owner: Any = None
    ) -> None:
        """Makes it another copy; parameters as for ``memcpy``."""
        attrs, keep = copy_of(self._graph._on_device, dst, src, size, (dst_owner, src_owner))
        self._graph._backend.set_memcpy(self._handle, *attrs["sides"], size)
        self._known.update(attrs)
        _replace_kept(self._graph._state, self, keep)

    def _details(self) -> str:
        self._recover()
        to, origin = ("D" if side[1] else "H" for side in self._known["sides"])
        return f" dst={self.dst:#x}({to}) src={self.src:#x}({origin}) size={self.size}"


class MemsetNode(_Node):
    """A fill of rows of elements."""

    __slots__ = ()
    dptr = known("dptr", "Where to.")
    value = known("value", "The pattern of an element.")
    element_size = known("element_size", "Bytes of an element: 1, 2 or 4.")
    width = known("width", "Elements of a row.")
    height = known("height", "Rows.")
    pitch = known("pitch", "Bytes from row to row; means nothing for one row.")

    def _recover(self) -> None:
        if "dptr" in self._known:
            return
        p = driver.checked.cuGraphMemsetNodeGetParams(self._handle)
        self._known.update(dptr=int(p.dst), value=p.value, element_size=p.elementSize)
        self._known.update(width=p.width, height=p.height, pitch=p.pitch)

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
        """Makes it another fill; parameters as for ``memset``."""
        attrs, keep = fill_of(dst, value, (width, height, pitch), dst_owner)
        self._graph._backend.set_memset(self._handle, *fill_args(attrs))
        self._known.update(attrs)
        _replace_kept(self._graph._state, self, keep)

    def _details(self) -> str:
        return f" dptr={self.dptr:#x} value={self.value}"


class AllocNode(_Node):
    """An allocation of the graph."""

    __slots__ = ()
    dptr = known("dptr", "The address.")
    bytesize = known("bytesize", "Bytes.")
    device_id = known("device_id", "The device it is on.")
    memory_type = known("memory_type", "``'device'``, ``'host'`` or ``'managed'``.")
    peer_access = known("peer_access", "Other devices that use it.")

    def _recover(self) -> None:
        if "dptr" in self._known:
            return
        p = driver.checked.cuGraphMemAllocNodeGetParams(self._handle)
        self._known.update(dptr=int(p.dptr), bytesize=p.bytesize, device_id=p.poolProps.location.id)
        peers = tuple(access.location.id for access in p.accessDescs)
        self._known.update(memory_type=_memory_kind(p.poolProps), peer_access=peers)

    def _details(self) -> str:
        return f" dptr={self.dptr:#x} size={self.bytesize}"


class FreeNode(_Node):
    """The end of an allocation of a graph."""

    __slots__ = ()
    dptr = known("dptr", "The address.")

    def _recover(self) -> None:
        if "dptr" not in self._known:
            self._known["dptr"] = int(driver.checked.cuGraphMemFreeNodeGetParams(self._handle))

    def _details(self) -> str:
        return f" dptr={self.dptr:#x}"


class ChildGraphNode(_Node):
    """A graph as one node."""

    __slots__ = ()

    @property
    def child_graph(self) -> GraphDefinition:
        """The graph inside: a copy of the one that was embedded."""
        from ._state import State

        backend = self._graph._backend
        if not self._info.children:
            self._info.children = [State(backend, backend.child_of(self._handle))]
            self._graph._state.nodes[self._handle] = self._info  # type: ignore[index]
        return GraphDefinition._view(self._graph._root, self._info.children[0])

    def _details(self) -> str:
        return f" child={int(self.child_graph.handle):#x}"


class _EventNode(_Node):
    __slots__ = ()
    event = known("event", "The event.")
    _get = ""

    def _recover(self) -> None:
        if "event" not in self._known:
            self._known["event"] = getattr(driver.checked, self._get)(self._handle)

    def update(self, event: Any) -> None:
        """Makes it another event's."""
        getattr(self._graph._backend, self._set)(self._handle, event)  # type: ignore[attr-defined]
        self._known["event"] = event
        _replace_kept(self._graph._state, self, event)

    def _details(self) -> str:
        return f" event={int(self.event.handle):#x}"


class EventRecordNode(_EventNode):
    """A record of an event."""

    __slots__ = ()
    _get, _set = "cuGraphEventRecordNodeGetEvent", "set_record"


class EventWaitNode(_EventNode):
    """A wait for an event."""

    __slots__ = ()
    _get, _set = "cuGraphEventWaitNodeGetEvent", "set_wait"


class HostCallbackNode(_Node):
    """A call on the host."""

    __slots__ = ()

    @property
    def callback(self) -> Any:
        """The callable; None where other code has made the node."""
        return self._known.get("callback")

    def update(self, fn: Any, *, user_data: Any = None) -> None:
        """Makes it another call; parameters as for ``callback``."""
        function, data, keep = function_of(fn, user_data)
        self._graph._backend.set_host(self._handle, function, data)
        self._known["callback"] = fn
        _replace_kept(self._graph._state, self, keep)

    def _details(self) -> str:
        name = getattr(self.callback, "__name__", type(self.callback).__name__)
        return f" callback={name if name.isidentifier() else 'callable'}"


class ConditionalNode(_Node):
    """Runs one of its graphs, or none, as a condition says."""

    __slots__ = ()

    @property
    def condition(self) -> Any:
        """The GraphCondition; None where it is not known."""
        return self._known.get("condition")

    @property
    def cond_type(self) -> Any:
        """A member of GraphConditionalType; None where it is not known."""
        kind = self._known.get("kind")
        return kind and GraphConditionalType(kind)

    @property
    def branches(self) -> tuple[GraphDefinition, ...]:
        """Its graphs."""
        root = self._graph._root
        return tuple(GraphDefinition._view(root, child) for child in self._info.children)

    def _details(self) -> str:
        return f" condition={int(self.condition):#x}" if self.condition else ""


class IfNode(ConditionalNode):
    """Runs ``then`` if the condition is not 0."""

    __slots__ = ()

    @property
    def then(self) -> GraphDefinition:
        """What runs if the condition is not 0."""
        return self.branches[0]


class IfElseNode(IfNode):
    """Runs ``then`` if the condition is not 0, else ``else_``."""

    __slots__ = ()

    @property
    def else_(self) -> GraphDefinition:
        """What runs if the condition is 0."""
        return self.branches[1]


class WhileNode(ConditionalNode):
    """Runs ``body`` as long as the condition is not 0."""

    __slots__ = ()

    @property
    def body(self) -> GraphDefinition:
        """What runs again and again."""
        return self.branches[0]


class SwitchNode(ConditionalNode):
    """Runs the branch whose number the condition is."""

    __slots__ = ()


# ---- helpers -------------------------------------------------------------------------------------

_BY_TYPE = {
    "KERNEL": KernelNode,
    "MEMCPY": MemcpyNode,
    "MEMSET": MemsetNode,
    "HOST": HostCallbackNode,
    "GRAPH": ChildGraphNode,
    "EMPTY": EmptyNode,
    "WAIT_EVENT": EventWaitNode,
    "EVENT_RECORD": EventRecordNode,
    "MEM_ALLOC": AllocNode,
    "MEM_FREE": FreeNode,
    "CONDITIONAL": ConditionalNode,
}


def class_of(backend: Any, handle: int) -> Any:
    """The class of a node that only the driver knows."""
    name = backend.node_type(handle).name.removeprefix("CU_GRAPH_NODE_TYPE_")
    return _BY_TYPE.get(name, _Node)


def _side(params: Any, name: str) -> tuple[int, bool]:
    host = getattr(params, f"{name}MemoryType") == driver.CUmemorytype.CU_MEMORYTYPE_HOST
    address = getattr(params, f"{name}{'Host' if host else 'Device'}")
    return int(address or 0), not host


def _memory_kind(pool: Any) -> str:
    if pool.allocType == driver.CUmemAllocationType.CU_MEM_ALLOCATION_TYPE_MANAGED:
        return "managed"
    on_device = pool.location.type == driver.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE
    return "device" if on_device else "host"


class _scratch:
    """The parameters of a launch as a node has them, from a graph that lives for the block."""

    def __init__(self, backend: Any, config: Any, kernel: Any, args: tuple[Any, ...]) -> None:
        self.backend, self.launch = backend, (config, kernel, args)

    def __enter__(self) -> Any:
        self.graph = self.backend.create()
        try:
            node = self.backend.add_kernel(self.graph, [], *self.launch)
            return self.backend.kernel_params(node)
        except BaseException:
            self.backend.destroy(self.graph)
            raise

    def __exit__(self, *_: object) -> None:
        self.backend.destroy(self.graph)


def _replace_kept(state: Any, node: GraphNode, keep: Any) -> None:
    """The node needs other objects from now on."""
    handle = node._handle
    state.nodes.setdefault(handle, node._info)
    old, node._info.keep = node._info.keep, []
    state.attach(handle, keep)
    for kept in old:
        state.backend.release(state.handle, kept)
