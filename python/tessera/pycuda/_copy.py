# SPDX-License-Identifier: Apache-2.0
"""Copies and fills: plain, of arrays for textures, of two and three dimensions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..bindings import driver
from ._call import cu
from ._context import Context, stream_handle
from ._memory import host_span

__all__ = [
    "Memcpy2D", "Memcpy3D", "Memcpy3DPeer", "memcpy_atoa", "memcpy_atod", "memcpy_atoh",
    "memcpy_atoh_async", "memcpy_dtoa", "memcpy_dtod", "memcpy_dtod_async", "memcpy_dtoh",
    "memcpy_dtoh_async", "memcpy_htoa", "memcpy_htoa_async", "memcpy_htod", "memcpy_htod_async",
    "memcpy_peer", "memcpy_peer_async", "memset_d16", "memset_d16_async", "memset_d2d16",
    "memset_d2d16_async", "memset_d2d32", "memset_d2d32_async", "memset_d2d8",
    "memset_d2d8_async", "memset_d32", "memset_d32_async", "memset_d8", "memset_d8_async",
]  # fmt: skip


def memcpy_htod(dest: Any, src: Any) -> None:
    """Copies an array or buffer to device memory."""
    cu.cuMemcpyHtoD(int(dest), *host_span(src))


def memcpy_htod_async(dest: Any, src: Any, stream: Any = None) -> None:
    """Copies to device memory in a stream; the array must stay as it is until it is done."""
    cu.cuMemcpyHtoDAsync(int(dest), *host_span(src), stream_handle(stream))


def memcpy_dtoh(dest: Any, src: Any) -> None:
    """Copies device memory to an array or buffer."""
    address, size = host_span(dest, writable=True)
    cu.cuMemcpyDtoH(address, int(src), size)


def memcpy_dtoh_async(dest: Any, src: Any, stream: Any = None) -> None:
    """Copies device memory to an array in a stream."""
    address, size = host_span(dest, writable=True)
    cu.cuMemcpyDtoHAsync(address, int(src), size, stream_handle(stream))


def memcpy_dtod(dest: Any, src: Any, size: int) -> None:
    """Copies bytes within the device."""
    cu.cuMemcpyDtoD(int(dest), int(src), size)


def memcpy_dtod_async(dest: Any, src: Any, size: int, stream: Any = None) -> None:
    """Copies bytes within the device in a stream."""
    cu.cuMemcpyDtoDAsync(int(dest), int(src), size, stream_handle(stream))


def _peer(dest: Any, dest_context: Any, src: Any, src_context: Any, size: int) -> tuple[Any, ...]:
    contexts = [context or Context.get_current() for context in (dest_context, src_context)]
    return int(dest), contexts[0].handle, int(src), contexts[1].handle, size


def memcpy_peer(
    dest: Any, src: Any, size: int, dest_context: Any = None, src_context: Any = None
) -> None:
    """Copies bytes between contexts, and so between devices."""
    cu.cuMemcpyPeer(*_peer(dest, dest_context, src, src_context, size))


def memcpy_peer_async(
    dest: Any, src: Any, size: int, dest_context: Any = None, src_context: Any = None,
    stream: Any = None,
) -> None:  # fmt: skip
    """Copies bytes between contexts in a stream."""
    cu.cuMemcpyPeerAsync(
        *_peer(dest, dest_context, src, src_context, size), stream_handle(stream)
    )


def memcpy_dtoa(ary: Any, index: int, src: Any, len: int) -> None:  # noqa: A002
    """Copies device memory to an ``Array``; `index` and `len` in bytes."""
    cu.cuMemcpyDtoA(ary.handle, index, int(src), len)


def memcpy_atod(dest: Any, ary: Any, index: int, len: int) -> None:  # noqa: A002
    """Copies an ``Array`` to device memory; `index` and `len` in bytes."""
    cu.cuMemcpyAtoD(int(dest), ary.handle, index, len)


def memcpy_htoa(ary: Any, index: int, src: Any) -> None:
    """Copies an array of the host to an ``Array``; `index` in bytes."""
    cu.cuMemcpyHtoA(ary.handle, index, *host_span(src))


def memcpy_htoa_async(ary: Any, index: int, src: Any, stream: Any = None) -> None:
    """As ``memcpy_htoa``, in a stream."""
    cu.cuMemcpyHtoAAsync(ary.handle, index, *host_span(src), stream_handle(stream))


def memcpy_atoh(dest: Any, ary: Any, index: int) -> None:
    """Copies an ``Array`` to an array of the host; `index` in bytes."""
    address, size = host_span(dest, writable=True)
    cu.cuMemcpyAtoH(address, ary.handle, index, size)


def memcpy_atoh_async(dest: Any, ary: Any, index: int, stream: Any = None) -> None:
    """As ``memcpy_atoh``, in a stream."""
    address, size = host_span(dest, writable=True)
    cu.cuMemcpyAtoHAsync(address, ary.handle, index, size, stream_handle(stream))


def memcpy_atoa(dest: Any, dest_index: int, src: Any, src_index: int, len: int) -> None:  # noqa: A002
    """Copies between two ``Array``s; all numbers in bytes."""
    cu.cuMemcpyAtoA(dest.handle, dest_index, src.handle, src_index, len)


# ---- fills ---------------------------------------------------------------------------------------


def _fill(name: str, bits: int) -> Callable[..., None]:
    """memset_d32 and its like; the values of plain fills are given before the count."""
    symbol = "cuMemset" + name.removeprefix("memset_").replace("_async", "").upper()
    is_async, n = name.endswith("_async"), 5 if "d2d" in name else 3

    def fill(dest: Any, *args: Any, stream: Any = None) -> None:
        if len(args) == n and is_async:
            *args, stream = args  # type: ignore[assignment]
        if len(args) != n - 1:
            raise TypeError(f"{fill.__doc__} was called with {1 + len(args)} arguments")
        words = [int(arg) for arg in args]
        words[n == 5] %= 2**bits  # a negative value fills its bit pattern
        if is_async:
            getattr(cu, symbol + "Async")(int(dest), *words, stream_handle(stream))
        else:
            getattr(cu, symbol)(int(dest), *words)

    rest = "pitch, data, width, height" if n == 5 else "data, count"
    fill.__doc__ = f"{name}(dest, {rest}{', stream=None' if is_async else ''})"
    fill.__name__ = fill.__qualname__ = name
    return fill


_FILLS = [(f"memset_d{form}{bits}", bits) for form in ("", "2d") for bits in (8, 16, 32)]
globals().update(
    {name + end: _fill(name + end, bits) for name, bits in _FILLS for end in ("", "_async")}
)

# ---- copies of rectangles ------------------------------------------------------------------------

# Attribute of the Python class -> field of the driver's struct.
_SIDES = ("src", "dst")
_FIELDS_2D = {
    **{f"{s}_{n}": s + f for s in _SIDES
       for n, f in {"x_in_bytes": "XInBytes", "y": "Y", "pitch": "Pitch"}.items()},
    "width_in_bytes": "WidthInBytes", "height": "Height",
}  # fmt: skip
_FIELDS_3D = {
    **_FIELDS_2D,
    **{f"{s}_{n}": s + f for s in _SIDES
       for n, f in {"z": "Z", "lod": "LOD", "height": "Height"}.items()},
    "depth": "Depth",
}  # fmt: skip


class _Rectangle:
    """A struct of the driver under other names; what it points to is kept."""

    _struct, _fields = "", dict[str, str]()

    def __init__(self) -> None:
        object.__setattr__(self, "_record", getattr(driver, self._struct)())
        object.__setattr__(self, "_kept", {})

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name not in self._fields:
            raise AttributeError(f"{type(self).__name__} has no attribute {name!r}")
        return getattr(self._record, self._fields[name])

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in self._fields:
            raise AttributeError(f"{type(self).__name__} has no attribute {name!r}")
        setattr(self._record, self._fields[name], int(value))

    def _set(self, side: str, kind: str, field: str, value: int, kept: Any) -> None:
        type_ = getattr(driver.CUmemorytype, f"CU_MEMORYTYPE_{kind}")
        setattr(self._record, f"{side}MemoryType", type_)
        setattr(self._record, side + field, value)
        self._kept[side] = kept

    def set_src_host(self, buffer: Any) -> None:
        """The source is an array of the host."""
        self._set("src", "HOST", "Host", host_span(buffer)[0], buffer)

    def set_dst_host(self, buffer: Any) -> None:
        """The destination is an array of the host."""
        self._set("dst", "HOST", "Host", host_span(buffer, writable=True)[0], buffer)

    def set_src_device(self, devptr: Any) -> None:
        """The source is device memory."""
        self._set("src", "DEVICE", "Device", int(devptr), devptr)

    def set_dst_device(self, devptr: Any) -> None:
        """The destination is device memory."""
        self._set("dst", "DEVICE", "Device", int(devptr), devptr)

    def set_src_unified(self, buffer: Any) -> None:
        """The source is memory that the driver knows, wherever it is."""
        self._set("src", "UNIFIED", "Device", host_span(buffer)[0], buffer)

    def set_dst_unified(self, buffer: Any) -> None:
        """The destination is memory that the driver knows, wherever it is."""
        self._set("dst", "UNIFIED", "Device", host_span(buffer, writable=True)[0], buffer)

    def set_src_array(self, array: Any) -> None:
        """The source is an ``Array``."""
        self._set("src", "ARRAY", "Array", array.handle, array)

    def set_dst_array(self, array: Any) -> None:
        """The destination is an ``Array``."""
        self._set("dst", "ARRAY", "Array", array.handle, array)


class Memcpy2D(_Rectangle):
    """A copy of a rectangle: set its attributes, then call it."""

    _struct, _fields = "CUDA_MEMCPY2D", _FIELDS_2D

    def __call__(self, stream: Any = None, aligned: bool | None = None) -> None:
        """``copy()`` waits; ``copy(stream)`` does not; ``aligned=False`` takes any pitch."""
        if isinstance(stream, bool):
            stream, aligned = None, stream
        if stream is not None:
            cu.cuMemcpy2DAsync(self._record, stream_handle(stream))
        elif aligned:
            cu.cuMemcpy2D(self._record)
        else:
            cu.cuMemcpy2DUnaligned(self._record)


class Memcpy3D(_Rectangle):
    """A copy of a box: set its attributes, then call it, with a stream if it should not wait."""

    _struct, _fields, _call = "CUDA_MEMCPY3D", _FIELDS_3D, "cuMemcpy3D"

    def __call__(self, stream: Any = None) -> None:
        """``copy()`` waits; ``copy(stream)`` does not."""
        if stream is None:
            getattr(cu, self._call)(self._record)
        else:
            getattr(cu, self._call + "Async")(self._record, stream_handle(stream))


class Memcpy3DPeer(Memcpy3D):
    """A copy of a box between contexts."""

    _struct, _call = "CUDA_MEMCPY3D_PEER", "cuMemcpy3DPeer"

    def set_src_context(self, context: Context) -> None:
        """The context the source is in."""
        self._record.srcContext = context.handle

    def set_dst_context(self, context: Context) -> None:
        """The context the destination is in."""
        self._record.dstContext = context.handle
