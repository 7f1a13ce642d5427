# SPDX-License-Identifier: Apache-2.0
"""Arguments that all algorithms have: numbers of items, on the host or on a device, initial values, streams."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy

from .iterators import Iterator, iterator_of
from .types import TypeDescriptor, type_of

__all__ = [
    "Count", "becomes", "checked_count", "clamped", "count_of", "init_of", "is_read_later", "items_in", "setting",
    "stream_of",
    "whole_numbers",
]  # fmt: skip


def count_of(value: Any, name: str = "num_items") -> int:
    """A number of items.

    Raises
    ------
    TypeError, ValueError
        For what is no whole number, or less than 0.
    """
    try:
        found = value.__index__()
    except (AttributeError, TypeError):
        raise TypeError(f"{name} is a {type(value).__name__}: {value!r}; give a whole number") from None
    if found < 0:
        raise ValueError(f"{name} is {found}; it cannot be less than 0")
    return int(found)


def checked_count(value: Any, name: str, *sequences: tuple[str, Iterator]) -> int:
    """A number of items that arrays must have."""
    found = count_of(value, name)
    for what, it in sequences:
        length = it.length
        if length is not None and found > length:
            raise ValueError(f"{name} is {found}, {what} has {length} elements")
    return found


def whole_numbers(value: Any, name: str, most: int = 0, items: int = 0) -> Iterator:
    """The iterator of an argument whose items are whole numbers, with room for ``items`` of them up to ``most``.

    Raises
    ------
    TypeError, ValueError
        For items of another kind, of a dtype that ends before ``most``, or fewer of them.
    """
    it = iterator_of(value, name)
    dtype = None if it.value_type is None else it.value_type.dtype
    if dtype is not None and dtype.kind not in "iu":
        raise TypeError(f"{name} holds {dtype}; give an array of whole numbers")
    if dtype is not None and most > numpy.iinfo(dtype).max:
        raise ValueError(
            f"{name} holds {dtype}, which ends at {numpy.iinfo(dtype).max}, and numbers up to {most} may come; give "
            "an array of a wider dtype"
        )
    checked_count(items, "the number of results", (name, it))
    return it


def becomes(source: tuple[str, Iterator], output: tuple[str, Iterator]) -> None:
    """Refuses to write items to a sequence of another kind of type: what is a struct, or complex, stays one.

    Raises
    ------
    TypeError
        With both types.
    """
    (name, it), (what, to) = source, output
    if it.value_type is None or to.value_type is None:
        return
    found, wanted = it.value_type.dtype, to.value_type.dtype
    fields, room = found.names or (), wanted.names or ()
    if len(fields) != len(room) or (found.kind == "c" and wanted.kind != "c"):
        raise TypeError(f"{what} holds {wanted}, {name} {found}, which does not become one; give an array of {found}")


class Count(NamedTuple):
    """How many items an algorithm works on: a number, or one that stands in an array of a device when it runs."""

    most: int  # there are at most, which the host knows
    state: Any  # for kernels
    kind: Any  # of the state; None: a number

    def load(self) -> Callable[..., Any]:
        """The function of a kernel that gives the number out of the state."""
        return _number if self.kind is None else _number_there


def _number(n: Any) -> Any:
    return n


def _number_there(n: Any) -> Any:
    return clamped(n[0][0], n[1])


def clamped(n: Any, most: Any) -> Any:
    """A number of items on the device, of any dtype, as one from 0 to ``most``; for kernels."""
    if n.dtype.kind == "u":
        return numpy.int64(min(numpy.uint64(n), numpy.uint64(most)))
    return min(max(numpy.int64(n), 0), most)


def setting(number: Callable[..., Any]) -> Callable[..., None]:
    """The kernel that puts a `Count` into an array."""

    def set_(place: Any, value: Any) -> None:
        place[0] = number(value)

    return set_


def is_read_later(value: Any) -> bool:
    """Whether a number is an array, which is read when the algorithm runs."""
    return hasattr(value, "__cuda_array_interface__") or (isinstance(value, numpy.ndarray) and value.ndim > 0)


def items_in(value: Any, name: str, *sequences: tuple[str, Iterator]) -> Count:
    """A number of items that arrays must have; of a number on the device as many are taken as there are.

    Raises
    ------
    TypeError, ValueError
        For what is no whole number nor an array of one, less than 0, more than an array has, or without an end.
    """
    if not is_read_later(value):
        n = checked_count(value, name, *sequences)
        return Count(n, n, None)
    it: Any = iterator_of(value, name)
    if it.value_type.dtype.kind not in "iu" or it.length != 1:
        raise TypeError(f"{name} is an array of {it.length} {it.value_type.dtype}; give one whole number")
    lengths = [sequence.length for _, sequence in sequences if sequence.length is not None]
    if not lengths:
        raise ValueError(f"{name} is on the device, so the host must know how many there may be: give an array")
    return Count(min(lengths), (it.array, min(lengths)), it.kind)


def init_of(value: Any, name: str) -> tuple[TypeDescriptor, Any]:
    """The type of an initial value, and the value as a launch takes it."""
    if value is None:
        raise TypeError(f"{name} is None; give a number of NumPy: it is what no items give, and has the type of all")
    if isinstance(value, (bool, int, float, complex)) and not isinstance(value, numpy.generic):
        raise TypeError(f"{name} is {value!r}; give a number of NumPy, such as numpy.int32({value!r}): it has a type")
    kind = type_of(value)
    if isinstance(value, numpy.ndarray):
        if value.size != 1:
            raise ValueError(f"{name} has {value.size} elements; give one")
        value = value.reshape(-1)[0]
    elif hasattr(value, "__cuda_array_interface__"):
        raise ValueError(f"{name} is an array of a device; give a value of the host")
    return kind, kind.host(value)


def stream_of(stream: Any) -> Any:
    """What a launch takes for the argument `stream`.

    Raises
    ------
    TypeError
        For an object without the protocol of CUDA's streams, or one that does not keep to it.
    """
    if stream is None:
        return 0
    protocol = getattr(stream, "__cuda_stream__", None)
    if protocol is None:
        raise TypeError(f"stream argument {stream!r} does not implement the '__cuda_stream__' protocol")
    try:
        version, handle, *_ = protocol() if callable(protocol) else protocol
    except (TypeError, ValueError) as error:
        raise TypeError(
            f"could not obtain __cuda_stream__ protocol version and handle from {stream!r}: {error}"
        ) from error
    if version != 0:
        raise TypeError(f"unsupported __cuda_stream__ version {version} of {stream!r}; 0 is known")
    if not isinstance(handle, int):
        raise TypeError(f"invalid stream handle {handle!r} of {stream!r}; it must be an int")
    return stream
