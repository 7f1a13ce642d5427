# SPDX-License-Identifier: Apache-2.0
"""Functions whose arguments depend on each other in ways a table does not say.

Each entry takes the module's table and the function as C sees it, and gives the function as Python
sees it: lists that are asked for twice, callbacks, logs that a linker writes later; _attributes.py
has the attributes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .. import _bindings as core
from . import _attributes
from ._attributes import decode, like, room
from ._programs import guarded

if TYPE_CHECKING:
    from ._api import Api

__all__ = ["DRIVER", "NVJITLINK", "NVML", "NVRTC", "NVVM", "RUNTIME"]


# ---- lists that are asked for by their count -----------------------------------------------------


def _array(api: Api, kind: str, data: bytes | bytearray, n: int) -> list[Any]:
    size = api.type(kind).size
    return [decode(api, kind, data[i * size : (i + 1) * size]) for i in range(n)]


def _counted(*kinds: str) -> Any:
    """f(graph, n=0): up to n entries of each list, and how many there are. With n=0 only the
    number."""

    def make(api: Api, raw: Any) -> Any:
        def get(graph: Any, n: int = 0) -> tuple[Any, ...]:
            rooms = [room(raw.__name__, n, api.type(kind).size) or None for kind in kinds]
            status, found = raw(graph, *rooms, n)
            if status:
                return status, *([None] * len(kinds)), None
            lists = (
                _array(api, kind, data or b"", min(n, found))
                for kind, data in zip(kinds, rooms, strict=True)
            )
            return status, *lists, found

        note = "The count is 0 when left out; then only the number is asked for."
        return like(raw, get, "(status, lists of up to so many entries, their number)", (0, -1), note)

    return make


def _capture_info(node: str, edge: str) -> Any:
    def make(api: Api, raw: Any) -> Any:
        def get(hStream: Any) -> tuple[Any, ...]:  # noqa: N803
            import ctypes

            status, capture, id_, graph, nodes, edges, n = raw(hStream)
            if status:
                return status, *([None] * 6)
            lists = [
                _array(api, kind, ctypes.string_at(at, n * api.type(kind).size), n)
                if at and n
                else []
                for kind, at in ((node, nodes), (edge, edges))
            ]
            return status, capture, id_, graph, *lists, n

        return like(raw, get, "(status, capture status, id, graph, nodes, edges, their number)")

    return make


def _split(api: Api, raw: Any) -> Any:
    def split(nbGroups: int, input_: Any, flags: int, minCount: int) -> tuple[Any, ...]:  # noqa: N803
        data = room(raw.__name__, nbGroups, api.type("CUdevResource").size) or None
        status, found, remaining = raw(data, nbGroups, input_, flags, minCount)
        if status:
            return status, None, None, None
        return (
            status,
            _array(api, "CUdevResource", data or b"", min(nbGroups, found)),
            found,
            remaining,
        )

    return like(raw, split, "(status, groups, number, remaining)", slice(1, None))


def _exec_update(api: Api, raw: Any) -> Any:
    """The information is what explains a failure, so it is given then too."""
    kinds = "CUresult hGraphExec:CUgraphExec hGraph:CUgraph info:*CUgraphExecUpdateResultInfo"
    api.entries["_cuGraphExecUpdate"] = ["fn", raw.__name__, f"cuGraphExecUpdate@12000 {kinds}"]
    fill = api.function("_cuGraphExecUpdate")

    def update(hGraphExec: Any, hGraph: Any) -> tuple[Any, Any]:  # noqa: N803
        info = api["CUgraphExecUpdateResultInfo"]()
        (status,) = fill(hGraphExec, hGraph, info)
        return status, info

    doc = f"{raw.__name__}(hGraphExec, hGraph)\n\nReturns (status, result information), also when it failed."
    return like(raw, update, doc)


def _supported_archs(api: Api, raw: Any) -> Any:
    def get() -> tuple[Any, Any]:
        status, n = api["nvrtcGetNumSupportedArchs"]()
        data = bytearray(4 * (n or 0))
        if not status:
            (status,) = raw(data)
        return status, None if status else decode(api, "list", data)

    return like(raw, get, "(status, list of architectures)", ())


# ---- callbacks -----------------------------------------------------------------------------------


def _callback(is_stream: bool) -> Any:
    """A Python function may stand where C wants a function; then userData is the object it is
    called with."""

    def make(_api: Api, raw: Any) -> Any:
        def call(hStream: Any, fn: Any, userData: Any, *flags: Any) -> Any:  # noqa: N803
            if not callable(fn) or isinstance(fn, core.Handle):
                return raw(hStream, fn, userData, *flags)
            address, data = core.hook(is_stream, fn, userData)
            answer = (True,)
            try:
                answer = raw(hStream, address, data, *flags)
            finally:
                core.unhook(data, not answer[0])
            return answer

        note = (
            "The function is the address of a C function, or a Python callable that is called with\n"
            "userData on a thread of the driver; it must not call CUDA."
        )
        return like(raw, call, note=note)

    return make


# ---- linking: the driver writes into option values after the call --------------------------------

_links: dict[int, Any] = {}


def _option_cell(value: Any) -> tuple[int, Any]:
    """(what goes into the array, what must stay alive for it)."""
    import ctypes

    if value is None or isinstance(value, int):
        return int(value or 0), None
    if isinstance(value, bytes):
        return ctypes.cast(ctypes.c_char_p(value), ctypes.c_void_p).value or 0, value
    try:
        view = (ctypes.c_char * memoryview(value).nbytes).from_buffer(value)
    except TypeError:
        raise TypeError(
            f"an option's value must be an int, None or a buffer, not {type(value).__name__}"
        ) from None
    return ctypes.addressof(view), view


def _link_create(_api: Api, raw: Any) -> Any:
    def create(numOptions: int, options: Any, optionValues: Any) -> tuple[Any, Any]:  # noqa: N803
        options, values = list(options or ()), list(optionValues or ())
        if numOptions > min(len(options), len(values)):
            raise ValueError(
                f"cuLinkCreate: {numOptions} options asked for, {len(options)} with {len(values)} values given"
            )
        cells = [_option_cell(value) for value in values]
        numbers = bytearray(b"".join(int(option).to_bytes(4, "little") for option in options))
        table = bytearray(b"".join((cell % 2**64).to_bytes(8, "little") for cell, _ in cells))
        status, state = raw(numOptions, numbers or None, table or None)
        if not status:
            _links[int(state)] = (numbers, table, cells)
        return status, state

    return like(raw, create, "(status, state)")


def _link_destroy(_api: Api, raw: Any) -> Any:
    def destroy(state: Any) -> Any:
        answer = raw(state)
        _links.pop(int(state or 0), None)
        return answer

    return like(raw, destroy)


def _channel_desc(api: Api, raw: Any) -> Any:
    def create(x: int, y: int, z: int, w: int, f: Any) -> tuple[Any, Any]:
        return api["cudaError_t"](0), api["cudaChannelFormatDesc"](x=x, y=y, z=z, w=w, f=f)

    return like(raw, create, "(status, desc)")


def _module_adder(_api: Api, raw: Any) -> Any:
    def add(prog: int, buffer: Any, size: int, name: Any) -> None:
        if buffer is None:
            raise ValueError(
                f"{raw.__name__}: buffer must be an object with the buffer protocol, not None"
            )
        raw(prog, buffer, size, name)

    return like(raw, add, "None")


def _context_create(api: Api, raw: Any) -> Any:
    def create(*args: Any) -> Any:
        """With a context to write to, cuCtxCreate(&context, flags, device), as C has it before CUDA 13."""
        if len(args) == 3 and isinstance(args[0], api["CUcontext"]):
            return raw(args[0], None, *args[1:])
        return raw(*args)

    made = like(raw, create)
    made.__doc__ = raw.__doc__
    return made


DRIVER: dict[str, Any] = {
    **_attributes.DRIVER,
    "cuCtxCreate": _context_create,
    "cuGraphGetNodes": _counted("CUgraphNode"),
    "cuGraphGetRootNodes": _counted("CUgraphNode"),
    "cuGraphGetEdges": _counted("CUgraphNode", "CUgraphNode", "CUgraphEdgeData"),
    "cuGraphNodeGetDependencies": _counted("CUgraphNode", "CUgraphEdgeData"),
    "cuGraphNodeGetDependentNodes": _counted("CUgraphNode", "CUgraphEdgeData"),
    "cuStreamGetCaptureInfo": _capture_info("CUgraphNode", "CUgraphEdgeData"),
    "cuDevSmResourceSplitByCount": _split,
    "cuLaunchHostFunc": _callback(False),
    "cuStreamAddCallback": _callback(True),
    "cuGraphExecUpdate": _exec_update,
    "cuLinkCreate": _link_create,
    "cuLinkDestroy": _link_destroy,
}

RUNTIME: dict[str, Any] = {
    **_attributes.RUNTIME,
    "cudaGraphGetNodes": _counted("cudaGraphNode_t"),
    "cudaGraphGetRootNodes": _counted("cudaGraphNode_t"),
    "cudaGraphGetEdges": _counted("cudaGraphNode_t", "cudaGraphNode_t", "cudaGraphEdgeData"),
    "cudaGraphNodeGetDependencies": _counted("cudaGraphNode_t", "cudaGraphEdgeData"),
    "cudaGraphNodeGetDependentNodes": _counted("cudaGraphNode_t", "cudaGraphEdgeData"),
    "cudaStreamGetCaptureInfo": _capture_info("cudaGraphNode_t", "cudaGraphEdgeData"),
    "cudaLaunchHostFunc": _callback(False),
    "cudaStreamAddCallback": _callback(True),
    "cudaCreateChannelDesc": _channel_desc,
}

NVML: dict[str, Any] = {}

NVRTC: dict[str, Any] = {
    "nvrtcGetSupportedArchs": _supported_archs,
    **guarded(
        "nvrtcCreateProgram",
        "nvrtcDestroyProgram",
        "nvrtcGetPTX nvrtcGetCUBIN nvrtcGetLTOIR nvrtcGetOptiXIR nvrtcGetProgramLog",
        "nvrtcGetPTXSize nvrtcGetCUBINSize nvrtcGetLTOIRSize nvrtcGetOptiXIRSize "
        "nvrtcGetProgramLogSize nvrtcCompileProgram nvrtcAddNameExpression nvrtcGetLoweredName "
        "nvrtcGetPCHCreateStatus nvrtcGetPCHHeapSizeRequired nvrtcSetFlowCallback",
    ),
}
NVJITLINK: dict[str, Any] = guarded(
    "create",
    "destroy",
    "get_linked_cubin get_linked_ptx get_linked_ltoir get_error_log get_info_log",
    "get_linked_cubin_size get_linked_ptx_size get_linked_ltoir_size get_error_log_size "
    "get_info_log_size add_data add_file complete",
)


def _text_of_status(_api: Api, raw: Any) -> Any:
    def get(result: Any) -> str:
        return raw(result).decode()  # type: ignore[no-any-return]

    return like(raw, get, "a str")


_NVVM = guarded(
    "create_program",
    "destroy_program",
    "get_compiled_result get_program_log",
    "get_compiled_result_size get_program_log_size add_module_to_program "
    "lazy_add_module_to_program compile_program verify_program",
)


def _adder_of_program(api: Api, raw: Any) -> Any:
    return _NVVM[raw.__name__](api, _module_adder(api, raw))


NVVM: dict[str, Any] = {
    **_NVVM,
    "add_module_to_program": _adder_of_program,
    "lazy_add_module_to_program": _adder_of_program,
    "get_error_string": _text_of_status,
}
