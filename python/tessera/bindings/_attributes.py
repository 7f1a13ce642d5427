# SPDX-License-Identifier: Apache-2.0
"""Functions that read or write an attribute: the type of the value follows the attribute's
number."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

from .. import _bindings as core

if TYPE_CHECKING:
    from collections.abc import Callable

    from ._api import Api

__all__ = ["DRIVER", "RUNTIME", "decode", "input_names", "like", "room"]

_MOST = 1 << 28  # bytes of one output; a larger one is a mistake (ext/bindings/function.c too)


def input_names(raw: Any) -> tuple[str, ...]:
    """The names of a C function's parameters that the caller gives."""
    words = raw.__doc__.partition("(")[2].partition(")")[0]
    return tuple(words.split(", ")) if words else ()


def like(
    raw: Any,
    function: Callable[..., Any],
    returns: str = "(status,)",
    keep: slice | tuple[int, ...] = slice(None),
    note: str = "",
) -> Callable[..., Any]:
    """A Python function under the name of the C function, whose inputs `keep` it takes, by position
    and by the names they have in C; `note` says more of them."""
    names = input_names(raw)
    names = names[keep] if isinstance(keep, slice) else tuple(names[i] for i in keep)

    def call(*args: Any, **kwargs: Any) -> Any:
        return function(*args, *_by_name(call, names, len(args), kwargs)) if kwargs else function(*args)

    call.__name__ = call.__qualname__ = raw.__name__
    call.__module__ = raw.__module__
    call.__doc__ = "\n".join(
        [f"{raw.__name__}({', '.join(names)})", "", *([note] if note else []), f"Returns {returns}."]
    )
    return call


def _by_name(
    call: Any, names: tuple[str, ...], n: int, given: dict[str, Any]
) -> list[Any]:
    """The values of the parameters after the first n; those at the end may be left out."""
    unknown = [name for name in given if name not in names[n:]]
    wanted = names[n : n + len(given)]
    if unknown or set(wanted) != set(given):
        raise TypeError(f"{call.__name__}() does not take {', '.join(given)} here: {call.__doc__}")
    return [given[name] for name in wanted]


def room(function: str, count: Any, size: int = 1) -> bytearray:
    """Zeroed memory for `count` entries that a C function writes."""
    n = operator.index(count)
    if not 0 <= n * size <= _MOST:
        raise ValueError(f"{function} cannot give {n} entries")
    return bytearray(n * size)


def decode(api: Api, kind: str, data: bytes | bytearray) -> Any:
    """The Python value of `kind` (a type of the table, bool, text or list of i32) in memory."""
    if kind == "text":
        return bytes(data).split(b"\0")[0]
    if kind == "list":
        return [
            int.from_bytes(data[i : i + 4], "little", signed=True)
            for i in range(0, len(data) - 3, 4)
        ]
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
            raise TypeError(
                f"the value of this attribute must be bytes, not {type(value).__name__}"
            )
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
    return (
        "text" if name.endswith(("_FILE", "_PIPE")) else "i32" if name.endswith("FLAGS") else "flag"
    )


def _coredump_size(kind: str) -> int:
    return {"text": 1024, "flag": 1}.get(kind, 4)


def _range_kind(attribute: Any) -> str:
    name = _name(attribute).lower().replace("_", "")
    return (
        "list" if name.endswith("accessedby") else "bool" if name.endswith("readmostly") else "i32"
    )


def _name(attribute: Any) -> str:
    if not hasattr(attribute, "name"):
        raise TypeError(f"an attribute must be a member of its enum, not {attribute!r}")
    return str(attribute.name)


def _cell(kind: str) -> str:
    """cuuint64_t is a class of the driver only."""
    return "u64" if kind == "cuuint64_t" else kind


def _getter(kind_of: Callable[[Any], str], at: int) -> Any:
    """f(object, attribute) of a C function that writes its value to its last parameter, or to
    its first (at=0). The core calls it directly, with the type of the value by the attribute."""

    def make(api: Api, raw: Any) -> Any:
        names = input_names(raw)
        value, attribute = (names[-1], names[-2]) if at else (names[0], names[1])
        enum = api[api.parameters(raw.__name__)[attribute]]

        def type_of(number: int) -> Any:
            kind = kind_of(enum(number))
            return api.type(kind if kind == "bool" or kind in api.entries else _cell(kind))

        return api.function(raw.__name__, typed=(value, attribute, type_of))

    return make


def _setter(kind_of: Callable[[Any], str]) -> Any:
    """f(object, attribute, value)."""

    def make(_api: Api, raw: Any) -> Any:
        def put(object: Any, attr: Any, value: Any) -> Any:  # noqa: A002
            return raw(object, attr, _encode(kind_of(attr), value))

        return like(raw, put)

    return make


def _pointer_setter(_api: Api, raw: Any) -> Any:
    def put(value: Any, attribute: Any, ptr: Any) -> Any:
        return raw(_encode(_cell(_pointer_kind(attribute)), value), attribute, ptr)

    return like(raw, put)


def _addresses(rooms: list[bytearray]) -> bytes:
    """A C array of pointers to the rooms, which must stay alive."""
    import ctypes

    return b"".join(
        ctypes.addressof((ctypes.c_char * len(r)).from_buffer(r)).to_bytes(8, "little")
        for r in rooms
    )


def _pointer_attributes(api: Api, raw: Any) -> Any:
    def get(numAttributes: int, attributes: Any, ptr: Any) -> tuple[Any, Any]:  # noqa: N803
        rooms = [bytearray(64) for _ in attributes]
        (status,) = raw(numAttributes, attributes, _addresses(rooms), ptr)
        kinds = [_pointer_kind(a) for a in attributes]
        pairs = list(zip(kinds, rooms, strict=True))[:numAttributes]
        return status, None if status else [decode(api, kind, room) for kind, room in pairs]

    return like(raw, get, "(status, values)", (0, 1, 3))


def _range_attribute(api: Api, raw: Any) -> Any:
    def get(dataSize: int, attribute: Any, devPtr: Any, count: int) -> tuple[Any, Any]:  # noqa: N803
        data = room(raw.__name__, dataSize)
        (status,) = raw(data, dataSize, attribute, devPtr, count)
        return status, None if status else decode(api, _range_kind(attribute), data)

    return like(raw, get, "(status, value or list of devices)", slice(1, None))


def _range_attributes(api: Api, raw: Any) -> Any:
    def get(dataSizes: Any, attributes: Any, numAttributes: int, devPtr: Any, count: int) -> Any:  # noqa: N803
        rooms = [room(raw.__name__, size) for size in dataSizes]
        (status,) = raw(_addresses(rooms), dataSizes, attributes, numAttributes, devPtr, count)
        pairs = zip(attributes, rooms, strict=True)
        return status, None if status else [decode(api, _range_kind(a), room) for a, room in pairs]

    return like(raw, get, "(status, values)", slice(1, None))


def _coredump_getter(api: Api, raw: Any) -> Any:
    def get(attrib: Any) -> tuple[Any, Any]:
        kind = _coredump_kind(attrib)
        data = bytearray(_coredump_size(kind))
        status, _ = raw(attrib, data, len(data))
        return status, None if status else decode(api, kind, data)

    return like(raw, get, "(status, value)", slice(1))


def _coredump_setter(_api: Api, raw: Any) -> Any:
    def put(attrib: Any, value: Any) -> tuple[Any]:
        kind = _coredump_kind(attrib)
        data = _encode(kind, value)
        return (raw(attrib, data, len(data) if kind == "text" else _coredump_size(kind))[0],)

    return like(raw, put, keep=slice(2))


def _exporter(api: Api, raw: Any) -> Any:
    """For functions that write an OS handle: a file descriptor or a fabric handle."""

    def export(handle: Any, handleType: Any, flags: int) -> tuple[Any, Any]:  # noqa: N803
        data = bytearray(64)
        (status,) = raw(data, handle, handleType, flags)
        fabric = "CUmemFabricHandle" if _name(handleType).upper().endswith("FABRIC") else ""
        kind = fabric if fabric in api.entries else "i32"
        return status, None if status else decode(api, kind, data)

    return like(raw, export, "(status, handle)", slice(1, None))


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
}
RUNTIME: dict[str, Any] = {
    "cudaMemPoolGetAttribute": _getter(_pool_kind, 1),
    "cudaMemPoolSetAttribute": _setter(_pool_kind),
    "cudaDeviceGetGraphMemAttribute": _getter(_graph_memory_kind, 1),
    "cudaDeviceSetGraphMemAttribute": _setter(_graph_memory_kind),
    "cudaMemRangeGetAttribute": _range_attribute,
    "cudaMemRangeGetAttributes": _range_attributes,
    "cudaMemPoolExportToShareableHandle": _exporter,
}
