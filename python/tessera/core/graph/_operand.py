# SPDX-License-Identifier: Apache-2.0
"""Operands of nodes: addresses and what keeps their memory, fill values, callables, kinds of memory."""

from __future__ import annotations

import ctypes
from typing import Any

from ... import _core
from ..typing import GraphMemoryType

__all__ = ["copy_of", "fill_args", "fill_of", "function_of", "hold", "kept_of", "memory_type"]


def hold(buffer: Any) -> Any:
    """What keeps a Buffer's memory, also when the Buffer is closed: one of its exports."""
    return buffer.__dlpack__(stream=-1) if buffer.size else buffer


def kept_of(value: Any) -> Any:
    """What a graph keeps for recorded work: the memory of Buffers also when they are closed, but for
    those that are given back in the order of a recording, as a part of a graph."""
    if isinstance(value, (tuple, list)):
        return tuple(map(kept_of, value))
    if not _is_buffer(value) or value._closed:
        return value
    return value if getattr(value._stream, "_address", 0) in _core.builders else hold(value)


def _is_buffer(value: Any) -> bool:
    from .._memory import Buffer

    return isinstance(value, Buffer)


def _live(buffer: Any, name: str) -> Any:
    try:
        if int(buffer.handle or 0):
            return buffer
    except (RuntimeError, ValueError, BufferError):
        pass
    raise ValueError(f"{name} Buffer has no active allocation; it was closed")


def address_of(value: Any, owner: Any, name: str) -> tuple[int, Any]:
    """The address of an operand, and what must be kept for it (None: nothing).

    Parameters
    ----------
    value : Buffer or int
    owner : object
        What keeps the memory of a raw address.
    name : str
        Of the operand, for messages.
    """
    if _is_buffer(value):
        if owner is not None:
            raise ValueError(f"{name}_owner cannot be used when {name} is a Buffer")
        return int(_live(value, name).handle), hold(value)
    if _is_buffer(owner):
        owner = hold(_live(owner, f"{name}_owner"))
    return int(value), owner


def _check_fits(name: str, value: Any, n: int) -> None:
    """ValueError where a Buffer is smaller than what a node reads or writes of it."""
    if n < 0:
        raise ValueError(f"{name}: a node takes 0 or more bytes, not {n}")
    if _is_buffer(value) and n > value.size:
        raise ValueError(f"{name} Buffer has {value.size} bytes, but the node takes {n}")


def fill_value(value: Any) -> tuple[int, int]:
    """The pattern of a memset and its bytes: an int of one byte, or something of 1, 2 or 4 bytes."""
    if isinstance(value, int):
        if not 0 <= value <= 255:
            raise OverflowError(
                f"a memset value given as an int is one byte, 0 to 255, not {value}; give bytes or a "
                "NumPy scalar for 2 or 4 bytes"
            )
        return value, 1
    data = bytes(memoryview(value).cast("B") if not isinstance(value, bytes) else value)
    if len(data) not in (1, 2, 4):
        raise ValueError(f"a memset value has 1, 2 or 4 bytes, not {len(data)}")
    return int.from_bytes(data, "little"), len(data)


def copy_of(
    on_device: Any, dst: Any, src: Any, size: int, owners: tuple[Any, Any]
) -> tuple[dict[str, Any], Any]:
    """What a copy is, and what it needs."""
    to, to_keep = address_of(dst, owners[0], "dst")
    origin, from_keep = address_of(src, owners[1], "src")
    _check_fits("dst", dst, size)
    _check_fits("src", src, size)
    sides = (to, on_device(to)), (origin, on_device(origin))
    keep = None if to_keep is None and from_keep is None else (to_keep, from_keep)
    return {"dst": to, "src": origin, "size": size, "sides": sides}, keep


def fill_of(
    dst: Any, value: Any, shape: tuple[int, int, int], owner: Any
) -> tuple[dict[str, Any], Any]:
    """What a fill is, and what it needs."""
    to, keep = address_of(dst, owner, "dst")
    pattern, element = fill_value(value)
    width, height, pitch = shape
    if width < 0 or height < 1:
        raise ValueError(f"a fill has 1 or more rows of 0 or more elements, not {height} of {width}")
    _check_fits("dst", dst, (height - 1) * pitch + width * element)
    attrs = {"dptr": to, "value": pattern, "element_size": element}
    return attrs | dict(zip(("width", "height", "pitch"), shape, strict=True)), keep


def fill_args(attrs: dict[str, Any]) -> tuple[Any, ...]:
    """A fill as the devices take it: address, pattern, bytes of an element, shape."""
    shape = (attrs["width"], attrs["height"], attrs["pitch"])
    return attrs["dptr"], attrs["value"], attrs["element_size"], shape


def function_of(fn: Any, user_data: Any) -> tuple[int, int, Any]:
    """The C function of a host node, its argument, and what must be kept for both.

    Parameters
    ----------
    fn : callable or ctypes function of type ``void(void *)``
    user_data : int, bytes or None
        The argument of a ctypes function; bytes are copied.
    """
    if isinstance(fn, ctypes._CFuncPtr):
        address = ctypes.cast(fn, ctypes.c_void_p).value or 0
        if user_data is None or isinstance(user_data, int):
            return address, user_data or 0, fn
        room = ctypes.create_string_buffer(bytes(user_data), max(len(user_data), 1))
        return address, ctypes.addressof(room), (fn, room)
    if not callable(fn):
        raise TypeError(f"callback takes a callable, not {type(fn).__name__}")
    if user_data is not None:
        raise ValueError(
            "user_data is only supported with ctypes functions; a Python callable can hold its data"
        )
    return _core.graph_call_address(), id(fn), fn


def memory_type(value: Any) -> str:
    """A member of GraphMemoryType, as text."""
    try:
        return str(GraphMemoryType("device" if value is None else value))
    except ValueError:
        names = ", ".join(repr(str(member)) for member in GraphMemoryType)
        raise ValueError(
            f"{value!r} is not a valid GraphMemoryType. Must be one of {names}"
        ) from None
