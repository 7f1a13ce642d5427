# SPDX-License-Identifier: Apache-2.0
"""Which sequences share memory: results that are written in memory that is still to be read are refused."""

from __future__ import annotations

import math
from collections.abc import Collection
from typing import Any, NamedTuple

import numpy

from ._replay import compares, looks_at_addresses
from .iterators import Iterator

__all__ = ["range_of", "separate"]


def separate(
    n: int, inputs: dict[str, Any], outputs: dict[str, Any], in_place: Collection[tuple[str, str]] = ()
) -> None:
    """Refuses results of up to n items in memory that is read, as what is read may be written already, or in that of
    other results. ``in_place``: of an output and an input, which may be the same, item by item. None is no sequence."""
    there = {name: it for name, it in inputs.items() if it is not None and it.is_input_iterator}  # else loads say so
    reads = [(name, place) for name, it in there.items() for place in _places(it, n, 1)]
    results = {name: it for name, it in outputs.items() if it is not None}
    for what, it in results.items():
        _check_writable(what, it)
        reads += [(f"the indices of {what}", place) for under in _read_to_write(it) for place in _places(under, n, 1)]
    writes: list[tuple[str, _Place]] = []
    for what, it in results.items():
        mine = [(what, to) for to in _places(it, n, 1, True)]
        for _, to in mine:
            for name, place in reads:
                compares(place.array, to.array)
                if (what, name) in in_place:
                    _check_in_place(what, to, name, place, n)
                elif _share(place, to):
                    raise ValueError(
                        f"{what} shares memory with {name}, which is read while it is written; give another array"
                    )
            for name, place in writes:
                compares(place.array, to.array)
                if _share(place, to):
                    raise ValueError(f"{what} shares memory with {name}, and both are written; give another array")
        writes += mine


def _check_writable(what: str, it: Iterator) -> None:
    array = getattr(it, "array", None)
    if array is not None and _interface(array)["data"][1]:
        raise ValueError(f"{what} is read-only; give an array that can be written")
    for under, _ in it._stands_on():
        if not any(under is one for one in it._only_read()):
            _check_writable(what, under)


def _check_in_place(what: str, to: _Place, name: str, place: _Place, n: int) -> None:
    if n > 1 and _meets(place, to):
        raise ValueError(
            f"{what} shares memory with {name}, but not item by item: it begins {to.first - place.first} bytes after "
            f"it, with items {_apart_by(to)}, those of {name} {_apart_by(place)}; give {name} itself, or another array"
        )


class _Place(NamedTuple):
    """Where n items of a sequence are, in one of the arrays that it stands on."""

    array: Any
    first: int  # address of the first one
    step: Any  # bytes from one to the next; what is equal for the same order of several axes; None: any order
    size: int  # bytes of an item
    low: int  # the addresses from which on, and before which, they are
    high: int


def _places(it: Iterator, n: int, order: int, written: bool = False) -> Any:
    """All of a sequence whose items are taken in their order (1), backwards (-1) or in any order (0); of one that is
    written not what is only read."""
    array: Any = getattr(it, "array", None)
    if order == 1 and it.length is not None:
        n = min(n, it.length)
    if array is not None and n and 0 not in array.shape:
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
        if not written or not any(under is one for one in it._only_read()):
            yield from _places(under, n, order * how, written)


def _read_to_write(it: Iterator) -> list[Iterator]:
    """The sequences that say where a sequence is written."""
    return [*it._only_read(), *(one for under, _ in it._stands_on() for one in _read_to_write(under))]


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


def _share(a: _Place, b: _Place) -> bool:
    """Whether an item of one shares memory with any item of the other."""
    if a.low >= b.high or b.low >= a.high:
        return False
    if type(a.step) is not int or type(b.step) is not int or abs(a.step) != abs(b.step):
        return True
    step, by = abs(a.step), b.first - a.first
    return step < max(a.size, b.size) or by % step < a.size or step - by % step < b.size


def _interface(array: Any) -> Any:
    return array.__array_interface__ if isinstance(array, numpy.ndarray) else array.__cuda_array_interface__


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
