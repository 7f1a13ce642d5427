# SPDX-License-Identifier: Apache-2.0
"""Which sequences share memory: results that are written in memory that is still to be read are refused."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy

from ._replay import compares, looks_at_addresses
from .iterators import Iterator

__all__ = ["apart", "not_shifted", "range_of"]


def apart(*sequences: tuple[str, Iterator]) -> None:
    """Refuses sequences that share memory with the first one, which is read while the others are written."""
    (name, source), *outputs = sequences
    reads = _ranges(source) if source.is_input_iterator else []  # where it is none, loads say so
    for what, it in outputs:
        if any(a < end and start < b for a, b in reads for start, end in _ranges(it)):
            raise ValueError(f"{what} shares memory with {name}, which is read while it is written; give another array")


def not_shifted(n: int, source: tuple[str, Iterator], *outputs: tuple[str, Iterator]) -> None:
    """Refuses a sequence that is written n items at a time in memory that another is read from, but not item by item:
    what is read may be written already. The same place is fine."""
    name = source[0]
    if n < 2:
        return
    reads = list(_places(source[1], n, 1)) if source[1].is_input_iterator else []
    for what, it in outputs:
        for to in _places(it, n, 1):
            for place in reads:
                compares(place.array, to.array)
                if _meets(place, to):
                    raise ValueError(
                        f"{what} shares memory with {name}, but not item by item: it begins {to.first - place.first} "
                        f"bytes after it, with items {_apart_by(to)}, those of {name} {_apart_by(place)}; give {name} "
                        "itself, or another array"
                    )


class _Place(NamedTuple):
    """Where n items of a sequence are, in one of the arrays that it stands on."""

    array: Any
    first: int  # address of the first one
    step: Any  # bytes from one to the next; what is equal for the same order of several axes; None: any order
    size: int  # bytes of an item
    low: int  # the addresses from which on, and before which, they are
    high: int


def _places(it: Iterator, n: int, order: int) -> Any:
    """All of a sequence whose items are taken in their order (1), backwards (-1) or in any order (0)."""
    array: Any = getattr(it, "array", None)
    if array is not None and 0 not in array.shape:
        interface = _interface(array)
        size, shape = numpy.dtype(interface["typestr"]).itemsize, interface["shape"]
        first, strides, offset = interface["data"][0], interface.get("strides"), getattr(it, "offset", 0)
        if order and len(shape) == 1:
            step = (strides[0] if strides else size) * order
            first, far = first + offset * step * order, (n - 1) * step
            yield _Place(array, first, step, size, first + min(0, far), first + max(0, far) + size)
        else:
            low, high = _ends(interface)
            yield _Place(array, first, (order, offset, shape, strides) if order else None, size, low, high)
    for under, how in it._stands_on():
        yield from _places(under, n, order * how)


def _apart_by(place: _Place) -> str:
    return f"{place.step} bytes apart" if type(place.step) is int else "in another order"


def _meets(a: _Place, b: _Place) -> bool:
    """Whether an item of one shares memory with another item of the other."""
    if a.low >= b.high or b.low >= a.high:
        return False
    if type(a.step) is not int or type(b.step) is not int:
        return a.step is None or (a.first, a.step, a.size) != (b.first, b.step, b.size)
    step, by = abs(a.step), b.first - a.first
    if by == 0 and a.step == b.step:
        return 0 < step < max(a.size, b.size)
    if step != abs(b.step) or step < max(a.size, b.size):
        return True
    return by % step < a.size or step - by % step < b.size


def _interface(array: Any) -> Any:
    return array.__array_interface__ if isinstance(array, numpy.ndarray) else array.__cuda_array_interface__


def _ranges(it: Iterator) -> list[tuple[int, int]]:
    """Those of all arrays that a sequence stands on."""
    array = getattr(it, "array", None)
    mine = None if array is None else range_of(array)
    found = [] if mine is None else [mine]
    return found + [one for under, _ in it._stands_on() for one in _ranges(under)]


def range_of(array: Any) -> tuple[int, int] | None:
    """The addresses from which on, and before which, the elements of an array are; None: there are none."""
    looks_at_addresses()
    return _ends(_interface(array))


def _ends(interface: Any) -> Any:
    size, shape, start = numpy.dtype(interface["typestr"]).itemsize, interface["shape"], interface["data"][0]
    if 0 in shape:
        return None
    if interface.get("strides") is None:
        return start, start + math.prod(shape) * size
    steps = [(extent - 1) * stride for extent, stride in zip(shape, interface["strides"])]
    return start + sum(min(0, step) for step in steps), start + sum(max(0, step) for step in steps) + size
