# SPDX-License-Identifier: Apache-2.0
"""Functions whose arguments depend on each other in ways a table does not say.

Each entry takes the module's table and the function as C sees it, and gives the function as Python sees it:
attributes whose type follows their number, lists that are asked for twice, callbacks, logs that a linker
writes later.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .. import _bindings as core

if TYPE_CHECKING:
    from collections.abc import Callable

    from ._api import Api

__all__ = ["DRIVER", "NVJITLINK", "NVRTC", "NVVM", "RUNTIME"]


def _like(raw: Any, function: Callable[..., Any], doc: str) -> Callable[..., Any]:
    """Gives a Python function the name of the C function, and its own signature as documentation."""
    function.__name__ = function.__qualname__ = raw.__name__
    function.__module__ = raw.__module__
    function.__doc__ = doc
    return function


# ---- values whose type depends on an attribute -------------------------------------------------------------


def _decode(api: Api, kind: str, data: bytes | bytearray) -> Any:
    """The Python value of `kind` (a type of the table, bool, text or list of i32) in memory."""
    if kind == "text":
        return bytes(data).split(b"\0")[0]
    if kind == "list":
        return [int.from_bytes(data[i : i + 4], "little", signed=True) for i in range(0, len(data) - 3, 4)]
    if kind in ("bool", "flag"):  # as an int or as one byte
        return any(data[:4])
    type_ = api.type(kind)
    if type_.cls is not None and issubclass(type_.cls, core.Record):
        return _record(type_.cls, data)
    value = int.from_bytes(data[: type_.size], "little", signed=kind.startswith("i"))
    return value if type_.cls is None else type_.cls(value)


def _record(cls: Any, data: bytes | bytearray) -> Any:
    record = cls()
    memoryview(record)[:] = data[: cls._type.size]
    return record


def _encode(kind: str, value: Any) -> bytearray:
    if kind == "text":
        if not isinstance(value, (bytes, bytearray)):
            raise TypeError(f"the value of this attribute must be bytes, not {type(value).__name__}")
        return bytearray(bytes(value) + b"\0")
    size = 8 if kind in ("u64", "cuuint64_t", "size") else 4
    return bytearray((int(value) % 2 ** (8 * size)).to_bytes(8, "little"))


_POINTER_KINDS = {
    "CONTEXT": "CUcontext", "MEMORY_TYPE": "CUmemorytype", "DEVICE_POINTER": "CUdeviceptr",
    "HOST_POINTER": "u64", "P2P_TOKENS": "CUDA_POINTER_ATTRIBUTE_P2P_TOKENS", "SYNC_MEMOPS": "bool",
    "BUFFER_ID": "u64", "IS_MANAGED": "bool", "DEVICE_ORDINAL": "i32", "IS_LEGACY_CUDA_IPC_CAPABLE": "bool",
    "RANGE_START_ADDR": "CUdeviceptr", "RANGE_SIZE": "size", "MAPPED": "bool", "ALLOWED_HANDLE_TYPES": "u64",
    "IS_GPU_DIRECT_RDMA_CAPABLE": "bool", "ACCESS_FLAGS": "u32", "MEMPOOL_HANDLE": "CUmemoryPool",
    "MAPPING_SIZE": "size", "MAPPING_BASE_ADDR": "CUdeviceptr", "MEMORY_BLOCK_ID": "u64",
    "IS_HW_DECOMPRESS_CAPABLE": "bool",
}  # fmt: skip


def _pointer_kind(attribute: Any) -> str:
    return _POINTER_KINDS.get(_name(attribute).removeprefix("CU_POINTER_ATTRIBUTE_"), "u64")


def _pool_kind(attribute: Any) -> str:
    return "i32" if "REUSE" in _name(attribute).upper() else "cuuint64_t"


def _graph_memory_kind(attribute: Any) -> str:
    del attribute
    return "cuuint64_t"


def _coredump_kind(attribute: Any) -> str:
    name = _name(attribute)
    return "text" if name.endswith(("_FILE", "_PIPE")) else "i32" if name.endswith("FLAGS") else "flag"


def _coredump_size(kind: str) -> int:
    return {"text": 1024, "flag": 1}.get(kind, 4)


def _range_kind(attribute: Any) -> str:
    name = _name(attribute).lower().replace("_", "")
    return "list" if name.endswith("accessedby") else "bool" if name.endswith("readmostly") else "i32"


def _name(attribute: Any) -> str:
    if not hasattr(attribute, "name"):
        raise TypeError(f"an attribute must be a member of its enum, not {attribute!r}")
    return str(attribute.name)


def _cell(kind: str) -> str:
    """cuuint64_t is a class of the driver only."""
    return "u64" if kind == "cuuint64_t" else kind


def _getter(kind_of: Callable[[Any], str], at: int) -> Any:
    """f(object, attribute) of a C function with a `void *value` as its last parameter, or its first (at=0)."""

    def make(api: Api, raw: Any) -> Any:
        def get(first: Any, second: Any) -> tuple[Any, Any]:
            attribute = first if at == 0 else second
            kind = kind_of(attribute)
            data = bytearray(64)
            (status,) = raw(data, first, second) if at == 0 else raw(first, second, data)
            known = kind if kind in api.entries else _cell(kind)
            return status, None if status else _decode(api, known, data)

        names = "attribute, ptr" if at == 0 else "object, attr"
        return _like(raw, get, f"{raw.__name__}({names})\n\nReturns (status, value); its type follows the attribute.")

    return make


def _setter(kind_of: Callable[[Any], str]) -> Any:
    """f(object, attribute, value)."""

    def make(_api: Api, raw: Any) -> Any:
        def put(object: Any, attr: Any, value: Any) -> Any:  # noqa: A002
            return raw(object, attr, _encode(kind_of(attr), value))

        return _like(raw, put, f"{raw.__name__}(object, attr, value)\n\nReturns (status,).")

    return make


def _pointer_setter(_api: Api, raw: Any) -> Any:
    def put(value: Any, attribute: Any, ptr: Any) -> Any:
        return raw(_encode(_cell(_pointer_kind(attribute)), value), attribute, ptr)

    return _like(raw, put, "cuPointerSetAttribute(value, attribute, ptr)\n\nReturns (status,).")


def _addresses(rooms: list[bytearray]) -> bytes:
    """A C array of pointers to the rooms, which must stay alive."""
    import ctypes

    return b"".join(ctypes.addressof((ctypes.c_char * len(r)).from_buffer(r)).to_bytes(8, "little") for r in rooms)


def _pointer_attributes(api: Api, raw: Any) -> Any:
    def get(numAttributes: int, attributes: Any, ptr: Any) -> tuple[Any, Any]:  # noqa: N803
        rooms = [bytearray(64) for _ in attributes]
        (status,) = raw(numAttributes, attributes, _addresses(rooms), ptr)
        kinds = [_pointer_kind(a) for a in attributes]
        pairs = list(zip(kinds, rooms, strict=True))[:numAttributes]
        return status, None if status else [_decode(api, kind, room) for kind, room in pairs]

    return _like(raw, get, "cuPointerGetAttributes(numAttributes, attributes, ptr)\n\nReturns (status, values).")


def _range_attribute(api: Api, raw: Any) -> Any:
    def get(dataSize: int, attribute: Any, devPtr: Any, count: int) -> tuple[Any, Any]:  # noqa: N803
        data = bytearray(dataSize)
        (status,) = raw(data, dataSize, attribute, devPtr, count)
        return status, None if status else _decode(api, _range_kind(attribute), data)

    doc = f"{raw.__name__}(dataSize, attribute, devPtr, count)\n\nReturns (status, value or list of devices)."
    return _like(raw, get, doc)


def _range_attributes(api: Api, raw: Any) -> Any:
    def get(dataSizes: Any, attributes: Any, numAttributes: int, devPtr: Any, count: int) -> Any:  # noqa: N803
        rooms = [bytearray(size) for size in dataSizes]
        (status,) = raw(_addresses(rooms), dataSizes, attributes, numAttributes, devPtr, count)
        pairs = zip(attributes, rooms, strict=True)
        return status, None if status else [_decode(api, _range_kind(a), room) for a, room in pairs]

    doc = f"{raw.__name__}(dataSizes, attributes, numAttributes, devPtr, count)\n\nReturns (status, values)."
    return _like(raw, get, doc)


def _coredump_getter(api: Api, raw: Any) -> Any:
    def get(attrib: Any) -> tuple[Any, Any]:
        kind = _coredump_kind(attrib)
        data = bytearray(_coredump_size(kind))
        status, _ = raw(attrib, data, len(data))
        return status, None if status else _decode(api, kind, data)

    return _like(raw, get, f"{raw.__name__}(attrib)\n\nReturns (status, value).")


def _coredump_setter(_api: Api, raw: Any) -> Any:
    def put(attrib: Any, value: Any) -> tuple[Any]:
        kind = _coredump_kind(attrib)
        data = _encode(kind, value)
        return (raw(attrib, data, len(data) if kind == "text" else _coredump_size(kind))[0],)

    return _like(raw, put, f"{raw.__name__}(attrib, value)\n\nReturns (status,).")


def _exporter(api: Api, raw: Any) -> Any:
    """For functions that write an OS handle: a file descriptor or a fabric handle."""

    def export(handle: Any, handleType: Any, flags: int) -> tuple[Any, Any]:  # noqa: N803
        data = bytearray(64)
        (status,) = raw(data, handle, handleType, flags)
        fabric = "CUmemFabricHandle" if _name(handleType).upper().endswith("FABRIC") else ""
        kind = fabric if fabric in api.entries else "i32"
        return status, None if status else _decode(api, kind, data)

    return _like(raw, export, f"{raw.__name__}(handle, handleType, flags)\n\nReturns (status, handle).")


# ---- lists that are asked for by their count ---------------------------------------------------------------


def _array(api: Api, kind: str, data: bytes | bytearray, n: int) -> list[Any]:
    size = api.type(kind).size
    return [_decode(api, kind, data[i * size : (i + 1) * size]) for i in range(n)]


def _counted(*kinds: str) -> Any:
    """f(graph, n=0): up to n entries of each list, and how many there are. With n=0 only the number."""

    def make(api: Api, raw: Any) -> Any:
        def get(graph: Any, n: int = 0) -> tuple[Any, ...]:
            if n < 0:
                raise ValueError(f"{raw.__name__} cannot give {n} entries")
            rooms = [bytearray(n * api.type(kind).size) if n else None for kind in kinds]
            status, found = raw(graph, *rooms, n)
            if status:
                return status, *([None] * len(kinds)), None
            lists = (_array(api, kind, room or b"", min(n, found)) for kind, room in zip(kinds, rooms, strict=True))
            return status, *lists, found

        doc = f"{raw.__name__}(graph, n=0)\n\nReturns (status, lists of up to n entries, the number there is)."
        return _like(raw, get, doc)

    return make


def _capture_info(node: str, edge: str) -> Any:
    def make(api: Api, raw: Any) -> Any:
        def get(hStream: Any) -> tuple[Any, ...]:  # noqa: N803
            import ctypes

            status, capture, id_, graph, nodes, edges, n = raw(hStream)
            if status:
                return status, *([None] * 6)
            lists = [
                _array(api, kind, ctypes.string_at(at, n * api.type(kind).size), n) if at and n else []
                for kind, at in ((node, nodes), (edge, edges))
            ]
            return status, capture, id_, graph, *lists, n

        doc = f"{raw.__name__}(hStream)\n\nReturns (status, capture status, id, graph, nodes, edges, their number)."
        return _like(raw, get, doc)

    return make


def _split(api: Api, raw: Any) -> Any:
    def split(nbGroups: int, input_: Any, flags: int, minCount: int) -> tuple[Any, ...]:  # noqa: N803
        data = bytearray(nbGroups * api.type("CUdevResource").size) if nbGroups else None
        status, found, remaining = raw(data, nbGroups, input_, flags, minCount)
        if status:
            return status, None, None, None
        return status, _array(api, "CUdevResource", data or b"", min(nbGroups, found)), found, remaining

    doc = f"{raw.__name__}(nbGroups, input_, flags, minCount)\n\nReturns (status, groups, number, remaining)."
    return _like(raw, split, doc)


def _supported_archs(api: Api, raw: Any) -> Any:
    def get() -> tuple[Any, Any]:
        status, n = api["nvrtcGetNumSupportedArchs"]()
        data = bytearray(4 * (n or 0))
        if not status:
            (status,) = raw(data)
        return status, None if status else _decode(api, "list", data)

    return _like(raw, get, "nvrtcGetSupportedArchs()\n\nReturns (status, list of architectures).")


# ---- callbacks ---------------------------------------------------------------------------------------------


def _callback(is_stream: bool) -> Any:
    """A Python function may stand where C wants a function; then userData is the object it is called with."""

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

        tail = ", flags" if is_stream else ""
        doc = (
            f"{raw.__name__}(hStream, fn, userData{tail})\n\n"
            "fn is the address of a C function, or a Python callable that is called with userData\n"
            "on a thread of the driver; it must not call CUDA. Returns (status,)."
        )
        return _like(raw, call, doc)

    return make


# ---- linking: the driver writes into option values after the call ------------------------------------------

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
        raise TypeError(f"an option's value must be an int, None or a buffer, not {type(value).__name__}") from None
    return ctypes.addressof(view), view


def _link_create(_api: Api, raw: Any) -> Any:
    def create(numOptions: int, options: Any, optionValues: Any) -> tuple[Any, Any]:  # noqa: N803
        options, values = list(options or ()), list(optionValues or ())
        if numOptions > min(len(options), len(values)):
            raise RuntimeError(f"cuLinkCreate: {numOptions} options asked for, {len(options)} with {len(values)} values given")
        cells = [_option_cell(value) for value in values]
        numbers = bytearray(b"".join(int(option).to_bytes(4, "little") for option in options))
        table = bytearray(b"".join((cell % 2**64).to_bytes(8, "little") for cell, _ in cells))
        status, state = raw(numOptions, numbers or None, table or None)
        if not status:
            _links[int(state)] = (numbers, table, cells)
        return status, state

    return _like(raw, create, "cuLinkCreate(numOptions, options, optionValues)\n\nReturns (status, state).")


def _link_destroy(_api: Api, raw: Any) -> Any:
    def destroy(state: Any) -> Any:
        answer = raw(state)
        _links.pop(int(state or 0), None)
        return answer

    return _like(raw, destroy, "cuLinkDestroy(state)\n\nReturns (status,).")


def _channel_desc(api: Api, raw: Any) -> Any:
    def create(x: int, y: int, z: int, w: int, f: Any) -> tuple[Any, Any]:
        return api["cudaError_t"](0), api["cudaChannelFormatDesc"](x=x, y=y, z=z, w=w, f=f)

    return _like(raw, create, "cudaCreateChannelDesc(x, y, z, w, f)\n\nReturns (status, desc).")


def _module_adder(_api: Api, raw: Any) -> Any:
    def add(prog: int, buffer: Any, size: int, name: Any) -> None:
        if buffer is None:
            raise ValueError(f"{raw.__name__}: buffer must be an object with the buffer protocol, not None")
        raw(prog, buffer, size, name)

    return _like(raw, add, f"{raw.__name__}(prog, buffer, size, name)")


DRIVER: dict[str, Any] = {
    "cuPointerGetAttribute": _getter(_pointer_kind, 0),
    "cuPointerSetAttribute": _pointer_setter,
    "cuPointerGetAttributes": _pointer_attributes,
    "cuMemPoolGetAttribute": _getter(_pool_kind, 1),
    "cuMemPoolSetAttribute": _setter(_pool_kind),
    "cuDeviceGetGraphMemAttribute": _getter(_graph_memory_kind, 1),
    "cuDeviceSetGraphMemAttribute": _setter(_graph_memory_kind),
    "cuMemRangeGetAttribute": _range_attribute,
    "cuMemRangeGetAttributes": _range_attributes,
    "cuCoredumpGetAttribute": _coredump_getter,
    "cuCoredumpGetAttributeGlobal": _coredump_getter,
    "cuCoredumpSetAttribute": _coredump_setter,
    "cuCoredumpSetAttributeGlobal": _coredump_setter,
    "cuMemExportToShareableHandle": _exporter,
    "cuMemPoolExportToShareableHandle": _exporter,
    "cuGraphGetNodes": _counted("CUgraphNode"),
    "cuGraphGetRootNodes": _counted("CUgraphNode"),
    "cuGraphGetEdges": _counted("CUgraphNode", "CUgraphNode", "CUgraphEdgeData"),
    "cuGraphNodeGetDependencies": _counted("CUgraphNode", "CUgraphEdgeData"),
    "cuGraphNodeGetDependentNodes": _counted("CUgraphNode", "CUgraphEdgeData"),
    "cuStreamGetCaptureInfo": _capture_info("CUgraphNode", "CUgraphEdgeData"),
    "cuDevSmResourceSplitByCount": _split,
    "cuLaunchHostFunc": _callback(False),
    "cuStreamAddCallback": _callback(True),
    "cuLinkCreate": _link_create,
    "cuLinkDestroy": _link_destroy,
}

RUNTIME: dict[str, Any] = {
    "cudaMemPoolGetAttribute": _getter(_pool_kind, 1),
    "cudaMemPoolSetAttribute": _setter(_pool_kind),
    "cudaDeviceGetGraphMemAttribute": _getter(_graph_memory_kind, 1),
    "cudaDeviceSetGraphMemAttribute": _setter(_graph_memory_kind),
    "cudaMemRangeGetAttribute": _range_attribute,
    "cudaMemRangeGetAttributes": _range_attributes,
    "cudaMemPoolExportToShareableHandle": _exporter,
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

NVRTC: dict[str, Any] = {"nvrtcGetSupportedArchs": _supported_archs}
NVJITLINK: dict[str, Any] = {}
def _text_of_status(_api: Api, raw: Any) -> Any:
    def get(result: Any) -> str:
        return raw(result).decode()  # type: ignore[no-any-return]

    return _like(raw, get, f"{raw.__name__}(result) -> str")


NVVM: dict[str, Any] = {
    "add_module_to_program": _module_adder,
    "lazy_add_module_to_program": _module_adder,
    "get_error_string": _text_of_status,
}
