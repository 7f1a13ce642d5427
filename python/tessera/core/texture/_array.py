# SPDX-License-Identifier: Apache-2.0
"""OpaqueArray: a CUDA array."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from ...bindings import driver
from .._memory._transfers import host_memory
from .._options import options_of
from ._closing import Shaped, address_of
from ._format import array_format, channels, descriptor, element_bytes, shape_of

__all__ = ["OpaqueArray", "OpaqueArrayOptions"]


@dataclass
class OpaqueArrayOptions:
    """Shape (width first), element format (a word or a dtype), 1, 2 or 4 channels, and whether
    surfaces may write it."""

    shape: Any
    format: Any
    num_channels: int = 1
    is_surface_load_store: bool = False

    def __post_init__(self) -> None:
        self.format = array_format(self.format)
        self.shape = shape_of(self.shape)
        channels(self.num_channels)


class OpaqueArray(Shaped):
    """A CUDA array, made by ``device.create_opaque_array(OpaqueArrayOptions(...))``."""

    __slots__ = ("_owner",)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        raise RuntimeError(
            "OpaqueArray cannot be instantiated directly. Please use Device.create_opaque_array()."
        )

    @classmethod
    def _init(cls, device: Any, options: Any) -> OpaqueArray:
        told = options_of(OpaqueArrayOptions, options)
        handle = int(driver.checked.cuArray3DCreate(descriptor(told)))
        return cls._of(device, told, handle, driver.checked.cuArrayDestroy, None)

    @classmethod
    def _of(cls, device: Any, options: Any, handle: int, end: Any, owner: Any) -> OpaqueArray:
        self = object.__new__(cls)
        self._device, self._options, self._handle, self._end = device, options, handle, end
        self._owner = owner
        return self

    @property
    def element_bytes(self) -> int:
        """Bytes of an element, all channels."""
        return element_bytes(self._options)

    @property
    def size_bytes(self) -> int:
        """Bytes of all elements."""
        return math.prod(self.shape) * self.element_bytes

    def copy_from(self, src: Any, *, stream: Any) -> None:
        """Fills the array from a Buffer or from host memory (buffer protocol), row by row, width
        innermost; with host memory the stream must be waited for before that is used again."""
        self._copy(src, stream, into=True)

    def copy_to(self, dst: Any, *, stream: Any) -> Any:
        """Copies the elements to a Buffer or to writable host memory; gives that back."""
        self._copy(dst, stream, into=False)
        return dst

    def _copy(self, other: Any, stream: Any, into: bool) -> None:
        from .._stream import Stream_accept

        handle = Stream_accept(stream).handle
        made = driver.CUDA_MEMCPY3D()
        _linear(made, "src" if into else "dst", other, self, writable=not into)
        side = "dst" if into else "src"
        setattr(made, f"{side}MemoryType", driver.CUmemorytype.CU_MEMORYTYPE_ARRAY)
        setattr(made, f"{side}Array", driver.CUarray(self._live))
        width, height, depth = (*self.shape, 1, 1)[:3]
        made.WidthInBytes, made.Height, made.Depth = width * self.element_bytes, height, depth
        driver.checked.cuMemcpy3DAsync(made, handle)

    def __repr__(self) -> str:
        return (
            f"OpaqueArray(shape={self.shape}, format={self.format}, "
            f"num_channels={self.num_channels}, handle={self._handle:#x})"
        )


def _linear(made: Any, side: str, memory: Any, array: OpaqueArray, writable: bool) -> None:
    """The side of a copy that is ordinary memory."""
    from .. import Buffer

    is_buffer = isinstance(memory, Buffer)
    if is_buffer:
        size, address = memory.size, address_of(memory)
        kind, field = driver.CUmemorytype.CU_MEMORYTYPE_UNIFIED, "Device"
    else:
        address, size = host_memory(memory, writable)
        kind, field = driver.CUmemorytype.CU_MEMORYTYPE_HOST, "Host"
    if size < array.size_bytes:
        raise ValueError(
            f"the memory of {size} bytes is smaller than the array extent of {array.size_bytes} "
            f"bytes"
        )
    setattr(made, f"{side}MemoryType", kind)
    setattr(made, side + field, address)
    setattr(made, f"{side}Pitch", array.shape[0] * array.element_bytes)
    setattr(made, f"{side}Height", array.shape[1] if len(array.shape) > 1 else 1)
