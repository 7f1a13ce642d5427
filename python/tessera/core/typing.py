# SPDX-License-Identifier: Apache-2.0
"""The words that options and attributes are written in, as enums of str, and types for annotations.

``SourceCodeType.PTX == "ptx"``: a plain str is taken wherever one of these is.
"""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, Any, Literal, Protocol, Union, runtime_checkable

if TYPE_CHECKING:
    from tessera.bindings.driver import CUdeviceptr

__all__ = [
    "AddressModeType", "ArrayFormatType", "CompilerBackendType", "DevicePointerType", "FilterModeType",
    "GraphConditionalType", "GraphMemoryType", "IsStreamType", "ManagedMemoryLocationType",
    "ObjectCodeFormatType", "PCHStatusType", "ProcessStateType", "ReadModeType", "SourceCodeType",
    "StrEnum", "VirtualMemoryAccessType", "VirtualMemoryAllocationType", "VirtualMemoryGranularityType",
    "VirtualMemoryHandleType", "VirtualMemoryLocationType", "WorkqueueSharingScopeType",
]  # fmt: skip

DevicePointerType = Union["CUdeviceptr", int, None]
ProcessStateType = Literal["running", "locked", "checkpointed", "failed"]


@runtime_checkable
class IsStreamType(Protocol):
    """Anything that says which stream it is: ``(version, address)``."""

    def __cuda_stream__(self) -> tuple[int, int]: ...


class StrEnum(str, Enum):
    """An enum whose members are text: they print as their value. (enum.StrEnum needs Python 3.11.)"""

    __str__ = str.__str__
    __format__ = str.__format__

    @classmethod
    def _missing_(cls, value: object) -> Any:
        known = ", ".join(repr(member.value) for member in cls)
        raise ValueError(f"{value!r} is not a valid {cls.__name__}. Must be one of {known}")

    @staticmethod
    def _generate_next_value_(name: str, *_: Any) -> str:
        return name.lower()


class SourceCodeType(StrEnum):
    """What a Program is written in."""

    CXX = "c++"
    PTX = "ptx"
    NVVM = "nvvm"
    TILE = "tile"
    TILEIR = "tileir"


class ObjectCodeFormatType(StrEnum):
    """What a Program is compiled to, and what an ObjectCode holds."""

    PTX = "ptx"
    CUBIN = "cubin"
    LTOIR = "ltoir"
    FATBIN = "fatbin"
    OBJECT = "object"
    LIBRARY = "library"


class CompilerBackendType(StrEnum):
    """Who compiles or links."""

    NVRTC = "NVRTC"
    NVVM = "NVVM"
    NVJITLINK = "nvJitLink"
    DRIVER = "driver"
    TESSERA = "tessera"


class PCHStatusType(StrEnum):
    """What became of a precompiled header."""

    CREATED = "created"
    NOT_ATTEMPTED = "not_attempted"
    FAILED = "failed"


class GraphConditionalType(StrEnum):
    """Kinds of conditional graph nodes."""

    IF = "if"
    WHILE = "while"
    SWITCH = "switch"


class GraphMemoryType(StrEnum):
    """Where a graph's allocation lives."""

    DEVICE = "device"
    HOST = "host"
    MANAGED = "managed"


class ManagedMemoryLocationType(StrEnum):
    """Where managed memory is preferred to live."""

    DEVICE = "device"
    HOST = "host"
    HOST_NUMA = "host_numa"


class VirtualMemoryHandleType(StrEnum):
    """How virtual memory is shared with another process."""

    POSIX_FD = "posix_fd"
    WIN32_KMT = "win32_kmt"
    FABRIC = "fabric"


class VirtualMemoryLocationType(StrEnum):
    """Where the memory behind virtual addresses lives."""

    DEVICE = "device"
    HOST = "host"
    HOST_NUMA = "host_numa"
    HOST_NUMA_CURRENT = "host_numa_current"


class VirtualMemoryGranularityType(StrEnum):
    """Which granularity sizes are rounded up to."""

    MINIMUM = "minimum"
    RECOMMENDED = "recommended"


class VirtualMemoryAccessType(StrEnum):
    """What a device may do with virtual memory."""

    READ_WRITE = "rw"
    READ = "r"


class VirtualMemoryAllocationType(StrEnum):
    """Kinds of memory behind virtual addresses."""

    PINNED = "pinned"
    MANAGED = "managed"


class ArrayFormatType(StrEnum):
    """Element types of CUDA arrays that NumPy has too."""

    UINT8 = "uint8"
    UINT16 = "uint16"
    UINT32 = "uint32"
    INT8 = "int8"
    INT16 = "int16"
    INT32 = "int32"
    FLOAT16 = "float16"
    FLOAT32 = "float32"


class AddressModeType(StrEnum):
    """What a texture gives outside of its extent."""

    WRAP = "wrap"
    CLAMP = "clamp"
    MIRROR = "mirror"
    BORDER = "border"


class FilterModeType(StrEnum):
    """How a texture is sampled between its elements."""

    POINT = "point"
    LINEAR = "linear"


class ReadModeType(StrEnum):
    """Whether integers of a texture are read as they are or as fractions of their range."""

    ELEMENT_TYPE = "element_type"
    NORMALIZED_FLOAT = "normalized_float"


class WorkqueueSharingScopeType(StrEnum):
    """Who shares a device's work queues."""

    DEVICE_CTX = "device_ctx"
    GREEN_CTX_BALANCED = "green_ctx_balanced"
