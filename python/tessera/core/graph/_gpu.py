# SPDX-License-Identifier: Apache-2.0
"""Graphs of the driver, by handles that are ints: what the classes of this package ask for.

The same functions for the CPU are in ``_cpu.py``.
"""

from __future__ import annotations

import threading
from typing import Any

from ...bindings import driver
from ...bindings.driver import checked
from .._errors import CUDAError
from ._gpu_nodes import Definitions, ints

__all__ = ["Gpu"]

_own = threading.local()  # streams for capturing single launches, by context
_RELAXED = driver.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_RELAXED
_MODES = {
    "global": driver.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_GLOBAL,
    "thread_local": driver.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_THREAD_LOCAL,
    "relaxed": _RELAXED,
}
_SET = driver.CUstreamUpdateCaptureDependencies_flags.CU_STREAM_SET_CAPTURE_DEPENDENCIES


class Gpu(Definitions):
    """Graphs on one GPU."""

    # ---- capture

    def add_kernel(
        self, graph: int, deps: list[int], config: Any, kernel: Any, args: tuple[Any, ...]
    ) -> int:
        """The launch is captured into the graph, so that it is what the same launch on a stream would be:
        its arguments are checked and converted alike, and clusters and attributes stay."""
        from .._launcher import launch

        stream = self._stream()
        checked.cuStreamBeginCaptureToGraph(
            stream._address, graph, deps or None, None, len(deps), _RELAXED
        )
        try:
            launch(stream, config, kernel, *args)
            tail = self.tail(stream)
        finally:
            driver.cuStreamEndCapture(stream._address)
        return tail[0]

    def _stream(self) -> Any:
        key = int(self.context)
        streams = _own.__dict__.setdefault("streams", {})
        if key not in streams:
            streams[key] = self.device.create_stream()
        return streams[key]

    def begin(self, stream: Any, graph: int, mode: str) -> None:
        checked.cuStreamBeginCaptureToGraph(stream._address, graph, None, None, 0, _MODES[mode])

    def end(self, stream: Any) -> None:
        checked.cuStreamEndCapture(stream._address)

    def abandon(self, stream: Any) -> None:
        driver.cuStreamEndCapture(stream._address)

    def leave(self, stream: Any) -> None:
        """A branch that was joined: the driver has nothing to end."""

    def tail(self, stream: Any) -> list[int]:
        """The nodes that the stream's next work would depend on."""
        return ints(checked.cuStreamGetCaptureInfo(stream._address)[3])

    def set_tail(self, stream: Any, nodes: list[int]) -> None:
        checked.cuStreamUpdateCaptureDependencies(stream._address, nodes, None, len(nodes), _SET)

    def fork(self, stream: Any, others: list[Any]) -> None:
        """Others continue from where the stream is."""
        event = checked.cuEventCreate(driver.CUevent_flags.CU_EVENT_DISABLE_TIMING)
        try:
            checked.cuEventRecord(event, stream._address)
            for other in others:
                checked.cuStreamWaitEvent(other._address, event, 0)
        finally:
            driver.cuEventDestroy(event)

    def host_call(self, stream: Any, function: int, data: int) -> None:
        checked.cuLaunchHostFunc(stream._address, driver.CUhostFn(function), data)

    # ---- executables

    def instantiate(self, graph: int, options: Any) -> int:
        params = driver.CUDA_GRAPH_INSTANTIATE_PARAMS()
        params.flags = (
            bool(options.auto_free_on_launch)
            | bool(options.upload_stream) << 1
            | bool(options.device_launch) << 2
            | bool(options.use_node_priority) << 3
        )
        if options.upload_stream:
            params.hUploadStream = _stream_address(options.upload_stream)
        status, made = driver.cuGraphInstantiateWithParams(graph, params)
        if status:
            why = f"the graph cannot be made executable: {params.result_out.name}"
            raise CUDAError("cuGraphInstantiateWithParams", status, why)
        return int(made)

    def exec_destroy(self, exec_: int) -> None:
        driver.cuGraphExecDestroy(exec_)

    def exec_launch(self, exec_: int, stream: Any) -> None:
        checked.cuGraphLaunch(exec_, _stream_address(stream))

    def exec_upload(self, exec_: int, stream: Any) -> None:
        checked.cuGraphUpload(exec_, _stream_address(stream))

    def exec_update(self, exec_: int, graph: int) -> None:
        status, info = driver.cuGraphExecUpdate(exec_, graph)
        if status:
            why = _UPDATE.get(info.result.name, "for a reason that the status tells")
            raise CUDAError("Graph update failed", status, f"{why} ({info.result.name})")

    def exec_set_enabled(self, exec_: int, node: int, enabled: bool) -> None:
        checked.cuGraphNodeSetEnabled(exec_, node, int(enabled))

    def exec_is_enabled(self, exec_: int, node: int) -> bool:
        return bool(checked.cuGraphNodeGetEnabled(exec_, node))

    def exec_set_kernel(self, exec_: int, node: int, params: Any) -> None:
        checked.cuGraphExecKernelNodeSetParams(exec_, node, params)

    def exec_set_memcpy(self, exec_: int, node: int, dst: Any, src: Any, size: int) -> None:
        params = self._memcpy(dst, src, size)
        checked.cuGraphExecMemcpyNodeSetParams(exec_, node, params, self.context)

    def exec_set_memset(
        self, exec_: int, node: int, dst: int, value: int, element: int, shape: Any
    ) -> None:
        params = self._memset(dst, value, element, shape)
        checked.cuGraphExecMemsetNodeSetParams(exec_, node, params, self.context)


_UPDATE = {
    "CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED": "the graphs differ in nodes or edges",
    "CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED": "a node has another type",
    "CU_GRAPH_EXEC_UPDATE_ERROR_FUNCTION_CHANGED": "a kernel cannot be replaced by this one",
    "CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED": "a parameter changed that cannot",
    "CU_GRAPH_EXEC_UPDATE_ERROR_NOT_SUPPORTED": "a node is of a kind that cannot be updated",
    "CU_GRAPH_EXEC_UPDATE_ERROR_UNSUPPORTED_FUNCTION_CHANGE": "a kernel cannot be replaced by this one",
    "CU_GRAPH_EXEC_UPDATE_ERROR_ATTRIBUTES_CHANGED": "attributes of a kernel changed that cannot",
}


def _stream_address(stream: Any) -> int:
    from .._stream import Stream_accept

    return Stream_accept(stream)._address
