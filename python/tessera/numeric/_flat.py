# SPDX-License-Identifier: Apache-2.0
"""``a.flat``: the elements along one axis, row-major, to read and to write."""

from __future__ import annotations

import operator
from typing import Any

import numpy

from . import _functions as f
from ._ndarray import ndarray
from ._setup import on


class flatiter:
    """The elements of an array in row-major order: indexed as an array of one axis, and an iterator."""

    __module__ = "tessera.numeric"

    def __init__(self, array: ndarray) -> None:
        self._array, self._next = array, 0

    @property
    def base(self) -> ndarray:
        """The array."""
        return self._array

    @property
    def index(self) -> int:
        """The place of the next element."""
        return self._next

    @property
    def coords(self) -> tuple[int, ...]:
        """The indices of the next element."""
        return tuple(map(int, numpy.unravel_index(self._next, self._array.shape)))

    def __len__(self) -> int:
        return self._array.size

    def __iter__(self) -> flatiter:
        return self

    def __next__(self) -> Any:
        if self._next >= self._array.size:
            raise StopIteration
        self._next += 1
        return self[self._next - 1]

    def _key(self, key: Any) -> Any:
        if isinstance(key, tuple):
            if len(key) > 1:
                raise IndexError("unsupported iterator index")
            key = key[0] if key else ...
        if key is None or (isinstance(key, (float, numpy.floating))):
            raise IndexError("unsupported iterator index")
        if hasattr(key, "__index__") and not hasattr(key, "__len__") and not isinstance(key, (bool, numpy.bool)):
            key = operator.index(key)
            if not -len(self) <= key < len(self):
                raise IndexError(f"index {key} is out of bounds for size {len(self)}")
        return key

    def __getitem__(self, key: Any) -> Any:
        key = self._key(key)
        if isinstance(key, int) and not isinstance(key, bool):  # one element: no copy of the others
            return self._array[tuple(map(int, numpy.unravel_index(key % len(self), self._array.shape)))]
        places = on(self._array.device, self._places, key)
        if places is not None:
            return self._array[places]
        made = f.ravel(self._array)[key]
        return made.copy() if isinstance(made, ndarray) else made

    def _places(self, key: Any) -> tuple[Any, ...] | None:
        """The index along each axis of the elements that a slice or integers name; None: the key is another one, or the
        elements lie along one axis already."""
        a = self._array
        if a.flags.c_contiguous or not a.ndim or not a.size:
            return None
        if isinstance(key, slice):
            chosen = f.arange(*key.indices(a.size))
        elif isinstance(key, (list, numpy.ndarray, ndarray)) and f.asarray(key).dtype.kind in "iu":
            chosen = f.asarray(key)
            for end in (int(chosen.min()), int(chosen.max())) if chosen.size else ():
                if not -a.size <= end < a.size:
                    raise IndexError(f"index {end} is out of bounds for size {a.size}")
            chosen = f.asarray(chosen.astype("i8") % a.size)
        else:
            return None
        places = []
        for extent in reversed(a.shape):
            places.append(f.asarray(chosen % extent))
            chosen = f.asarray(chosen // extent)
        return tuple(places[::-1])

    def __setitem__(self, key: Any, value: Any) -> None:
        key = self._key(key)
        if not self._array.flags.writeable:
            raise ValueError("underlying array is read-only")
        values = f.ravel(value)
        places = on(self._array.device, self._places, key)
        if places is not None and values.size:
            n = places[0].size
            self._array[places] = self._in_turn(values, n).reshape(places[0].shape) if n else values[:0]
            return
        line = f.ravel(self._array)
        n = f.asarray(f.arange(line.size)[key]).size
        if not n:
            return
        if not values.size:
            raise ValueError("cannot copy from an empty array")
        values = self._in_turn(values, n)
        one = not f.asarray(line[key]).ndim
        if one and f.asarray(value).ndim:
            raise ValueError("Error setting single item of array.")
        line[key] = values[0] if one else values
        if not f.may_share_memory(line, self._array):
            self._array[...] = line.reshape(self._array.shape)

    @staticmethod
    def _in_turn(values: ndarray, n: int) -> ndarray:
        """So many values, one or each again and again."""
        if values.size in (1, n):
            return values if values.size == n else f.broadcast_to(values, (n,))
        from ._index import take

        return take(values, f.asarray(f.arange(n) % values.size))

    def copy(self) -> ndarray:
        """The elements as an array of one axis."""
        return self._array.flatten()

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return numpy.asarray(self.copy(), dtype)

    def __eq__(self, other: object) -> Any:
        return self.copy() == other

    def __ne__(self, other: object) -> Any:
        return self.copy() != other

    def __lt__(self, other: Any) -> Any:
        return self.copy() < other

    def __le__(self, other: Any) -> Any:
        return self.copy() <= other

    def __gt__(self, other: Any) -> Any:
        return self.copy() > other

    def __ge__(self, other: Any) -> Any:
        return self.copy() >= other

    __hash__ = None  # type: ignore[assignment]
