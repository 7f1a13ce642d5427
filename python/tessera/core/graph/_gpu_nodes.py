# SPDX-License-Identifier: Apache-2.0
"""Definitions of graphs of the driver, by handles that are ints."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ... import _core
from ...bindings import driver
from ...bindings.driver import checked
from .._errors import CUDAError
from .._place import context_of

__all__ = ["Definitions", "ints"]

_HOST, _DEVICE = (
    driver.CUmemorytype.CU_MEMORYTYPE_HOST,
    driver.CUmemorytype.CU_MEMORYTYPE_DEVICE,
)


def ints(handles: Any) -> list[int]:
    return [int(handle) for handle in handles or ()]


def _all(function: Any, handle: int, lists: int = 1) -> list[list[int]]:
    """The lists of handles that a function gives, asked for their length first."""
    *_, n = function(handle)
    found = function(handle, n) if n else [()] * lists
    return [ints(found[i]) for i in range(lists)]


class Definitions:
    """Graphs, their nodes and edges, and what they keep."""

    is_cpu = False

    def __init__(self, device: Any) -> None:
        self.device = device

    @property
    def context(self) -> Any:
        return context_of(self.device.device_id)

    # ---- graphs

    def create(self) -> int:
        return int(checked.cuGraphCreate(0))

    def destroy(self, graph: int) -> None:
        driver.cuGraphDestroy(graph)

    def nodes(self, graph: int) -> list[int]:
        return _all(checked.cuGraphGetNodes, graph)[0]

    def edges(self, graph: int) -> list[tuple[int, int]]:
        return list(zip(*_all(checked.cuGraphGetEdges, graph, 2), strict=True))

    def dot(self, graph: int, path: str, flags: int) -> None:
        checked.cuGraphDebugDotPrint(graph, str(path).encode(), flags)

    # ---- nodes

    def node_type(self, node: int) -> Any:
        return checked.cuGraphNodeGetType(node)

    def pred(self, node: int) -> list[int]:
        return _all(checked.cuGraphNodeGetDependencies, node)[0]

    def succ(self, node: int) -> list[int]:
        return _all(checked.cuGraphNodeGetDependentNodes, node)[0]

    def connect(self, graph: int, before: Sequence[int], after: Sequence[int]) -> None:
        checked.cuGraphAddDependencies(graph, list(before), list(after), None, len(before))

    def disconnect(self, graph: int, before: Sequence[int], after: Sequence[int]) -> None:
        checked.cuGraphRemoveDependencies(graph, list(before), list(after), None, len(before))

    def remove(self, node: int) -> None:
        checked.cuGraphDestroyNode(node)

    def add_empty(self, graph: int, deps: list[int]) -> int:
        return int(checked.cuGraphAddEmptyNode(graph, deps, len(deps)))

    def kernel_params(self, node: int) -> Any:
        return checked.cuGraphKernelNodeGetParams(node)

    def set_kernel(self, node: int, params: Any) -> None:
        checked.cuGraphKernelNodeSetParams(node, params)

    def is_device(self, address: int) -> bool:
        attribute = driver.CUpointer_attribute.CU_POINTER_ATTRIBUTE_MEMORY_TYPE
        status, kind = driver.cuPointerGetAttribute(attribute, address)
        return not status and int(kind) != int(_HOST)

    def _memcpy(self, dst: tuple[int, bool], src: tuple[int, bool], size: int) -> Any:
        params = driver.CUDA_MEMCPY3D()
        params.WidthInBytes, params.Height, params.Depth = size, 1, 1
        for name, (address, on_device) in (("dst", dst), ("src", src)):
            setattr(params, f"{name}MemoryType", _DEVICE if on_device else _HOST)
            setattr(params, name + ("Device" if on_device else "Host"), address)
        return params

    def add_memcpy(
        self, graph: int, deps: list[int], dst: tuple[int, bool], src: tuple[int, bool], size: int
    ) -> int:
        params = self._memcpy(dst, src, size)
        return int(checked.cuGraphAddMemcpyNode(graph, deps, len(deps), params, self.context))

    def set_memcpy(self, node: int, dst: Any, src: Any, size: int) -> None:
        checked.cuGraphMemcpyNodeSetParams(node, self._memcpy(dst, src, size))

    def _memset(self, dst: int, value: int, element: int, shape: tuple[int, int, int]) -> Any:
        params = driver.CUDA_MEMSET_NODE_PARAMS()
        params.dst, params.value, params.elementSize = dst, value, element
        params.width, params.height, params.pitch = shape
        return params

    def add_memset(
        self, graph: int, deps: list[int], dst: int, value: int, element: int, shape: Any
    ) -> int:
        params = self._memset(dst, value, element, shape)
        return int(checked.cuGraphAddMemsetNode(graph, deps, len(deps), params, self.context))

    def set_memset(self, node: int, dst: int, value: int, element: int, shape: Any) -> None:
        checked.cuGraphMemsetNodeSetParams(node, self._memset(dst, value, element, shape))

    def add_alloc(
        self, graph: int, deps: list[int], size: int, device: int, kind: str, peers: list[int]
    ) -> tuple[int, int]:
        params = driver.CUDA_MEM_ALLOC_NODE_PARAMS()
        params.poolProps = _pool(device, kind)
        params.bytesize = size
        params.accessDescs = [_access(peer) for peer in peers]
        params.accessDescCount = len(peers)
        node = int(checked.cuGraphAddMemAllocNode(graph, deps, len(deps), params))
        return node, int(params.dptr)

    def add_free(self, graph: int, deps: list[int], address: int) -> int:
        return int(checked.cuGraphAddMemFreeNode(graph, deps, len(deps), address))

    def add_child(self, graph: int, deps: list[int], child: int) -> tuple[int, int]:
        node = int(checked.cuGraphAddChildGraphNode(graph, deps, len(deps), child))
        return node, int(checked.cuGraphChildGraphNodeGetGraph(node))

    def child_of(self, node: int) -> int:
        return int(checked.cuGraphChildGraphNodeGetGraph(node))

    def find_clone(self, node: int, clone: int) -> int | None:
        """The node of a cloned graph that comes from `node`; None where the driver does not tell."""
        status, found = driver.cuGraphNodeFindInClone(node, clone)
        return None if status else int(found)

    def add_record(self, graph: int, deps: list[int], event: Any) -> int:
        return int(checked.cuGraphAddEventRecordNode(graph, deps, len(deps), event._address))

    def set_record(self, node: int, event: Any) -> None:
        checked.cuGraphEventRecordNodeSetEvent(node, event._address)

    def add_wait(self, graph: int, deps: list[int], event: Any) -> int:
        return int(checked.cuGraphAddEventWaitNode(graph, deps, len(deps), event._address))

    def set_wait(self, node: int, event: Any) -> None:
        checked.cuGraphEventWaitNodeSetEvent(node, event._address)

    def _host(self, function: int, data: int) -> Any:
        params = driver.CUDA_HOST_NODE_PARAMS()
        params.fn, params.userData = driver.CUhostFn(function), data
        return params

    def add_host(self, graph: int, deps: list[int], function: int, data: int) -> int:
        return int(checked.cuGraphAddHostNode(graph, deps, len(deps), self._host(function, data)))

    def set_host(self, node: int, function: int, data: int) -> None:
        checked.cuGraphHostNodeSetParams(node, self._host(function, data))

    def create_condition(self, graph: int, default: int | None) -> int:
        flags = 0 if default is None else 1  # CU_GRAPH_COND_ASSIGN_DEFAULT
        made = checked.cuGraphConditionalHandleCreate(graph, self.context, default or 0, flags)
        return int(made)

    def add_conditional(
        self, graph: int, deps: list[int], condition: int, kind: str, count: int
    ) -> tuple[int, list[int]]:
        kinds = driver.CUgraphConditionalNodeType
        params = driver.CUgraphNodeParams()
        params.type = driver.CUgraphNodeType.CU_GRAPH_NODE_TYPE_CONDITIONAL
        params.conditional.handle = condition
        params.conditional.type = kinds[f"CU_GRAPH_COND_TYPE_{kind.upper()}"]
        params.conditional.size = count
        params.conditional.ctx = self.context
        node = int(checked.cuGraphAddNode(graph, deps or None, None, len(deps), params))
        return node, ints(params.conditional.phGraph_out)

    # ---- what a graph keeps

    def retain(self, graph: int, objects: Any) -> int:
        """A user object of the graph that holds the objects; it goes with copies of the graph."""
        payload, end = _core.graph_keep(objects)
        try:
            made = int(checked.cuUserObjectCreate(payload, driver.CUhostFn(end), 1, 1))
        except CUDAError:
            _core.graph_unkeep(payload)
            raise
        try:
            checked.cuGraphRetainUserObject(graph, made, 1, 1)  # CU_GRAPH_USER_OBJECT_MOVE
        except CUDAError:
            driver.cuUserObjectRelease(made, 1)
            raise
        return made

    def release(self, graph: int, kept: int) -> None:
        driver.cuGraphReleaseUserObject(graph, kept, 1)


def _pool(device: int, kind: str) -> Any:
    pool = driver.CUmemPoolProps()
    kinds, places = driver.CUmemAllocationType, driver.CUmemLocationType
    pool.allocType = (
        kinds.CU_MEM_ALLOCATION_TYPE_MANAGED
        if kind == "managed"
        else kinds.CU_MEM_ALLOCATION_TYPE_PINNED
    )
    pool.location.type = (
        places.CU_MEM_LOCATION_TYPE_HOST if kind == "host" else places.CU_MEM_LOCATION_TYPE_DEVICE
    )
    pool.location.id = 0 if kind == "host" else device
    return pool


def _access(device: int) -> Any:
    access = driver.CUmemAccessDesc()
    access.location.type = driver.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE
    access.location.id = device
    access.flags = driver.CUmemAccess_flags.CU_MEM_ACCESS_FLAGS_PROT_READWRITE
    return access
