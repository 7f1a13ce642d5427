# SPDX-License-Identifier: Apache-2.0
"""``a.flat``: the elements along one axis, row-major, to read and to write."""

from __future__ import annotations

import inspect
import itertools
import math
import operator
import warnings
from typing import Any

import numpy

from .. import _core
from . import _functions as f
from ._ndarray import ndarray
from ._setup import on


class flatiter(_core.NumericFlat):
    """The elements of an array in row-major order: indexed as an array of one axis, and an iterator."""

    __module__ = "tessera.numeric"
    __slots__ = ()

    def _key(self, key: Any) -> Any:
        if isinstance(key, tuple):
            if len(key) > 1:
                raise IndexError("too many indices for flat iterator: flat iterator is 1-dimensional, "
                                 f"but {len(key)} were indexed")  # fmt: skip
            key = key[0] if key else ...
        if isinstance(key, bool) or (isinstance(key, (numpy.ndarray, ndarray)) and not key.ndim and key.dtype == bool):
            warnings.warn("Indexing flat iterators with a 0-dimensional boolean index is deprecated.",
                          DeprecationWarning, stacklevel=3)  # fmt: skip
            key = 0 if key else slice(0)
        if isinstance(key, (float, complex, numpy.inexact)):
            warnings.warn("Invalid non-array indices for iterator objects are deprecated.",
                          DeprecationWarning, stacklevel=3)  # fmt: skip
            key = int(numpy.asarray(key).astype(numpy.intp))
        if key is None or isinstance(key, (str, bytes, numpy.bool)):
            raise IndexError("only integers, slices (`:`), ellipsis (`...`) and integer or boolean arrays are "
                             "valid indices")  # fmt: skip
        if isinstance(key, (list, numpy.ndarray, ndarray)):
            return self._array_key(key)
        if hasattr(key, "__index__") and not hasattr(key, "__len__"):
            key = operator.index(key)
            if not -len(self) <= key < len(self):
                raise IndexError(f"index {key} is out of bounds for size {len(self)}")
        return key

    def _array_key(self, key: Any) -> Any:
        chosen = f.asarray(key)
        if isinstance(key, list) and chosen.dtype.kind not in "iu":
            if chosen.dtype == bool:
                raise IndexError("boolean indices for iterators are not supported because they are not arrays")
            if key:
                warnings.warn("Invalid non-array indices for iterator objects are deprecated.",
                              DeprecationWarning, stacklevel=4)  # fmt: skip
            return chosen.astype(numpy.intp)
        if chosen.dtype == bool and chosen.shape != (len(self),):
            raise IndexError("boolean index did not match indexed flat iterator along dimension 0; "
                             f"dimension is {len(self)} but boolean index has shape {chosen.shape}")  # fmt: skip
        if chosen.dtype.kind not in "iub":
            raise IndexError("arrays used as indices must be of integer (or boolean) type")
        return key if chosen.ndim else self._key(chosen.item())

    def _taken(self, key: Any) -> Any:
        """The elements that a key names which is another one than the place of an element."""
        key = self._key(key)
        plain = f.as_class(self._array, None)
        if isinstance(key, int):  # one element: no copy of the others
            return plain[tuple(map(int, numpy.unravel_index(key % len(self), plain.shape)))]
        places = on(plain.device, self._places, key)
        made = f.ravel(plain)[key].copy() if places is None else plain[places]
        return f.as_class(made, self._array)  # of a derived class, which may give it more axes

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

    def _written(self, key: Any, value: Any) -> None:
        """The same, of assignments."""
        if not self._array.flags.writeable:
            raise ValueError("underlying array is read-only")
        if isinstance(key, tuple) and not key:
            raise IndexError("Assigning to a flat iterator with a 0-D index is not supported")
        key = key[0] if isinstance(key, tuple) and len(key) == 1 else key
        if self._assigned_in_place(key, value):
            return
        key = self._key(key)  # whose mistakes come first
        if isinstance(key, int):
            self._set_one(key, value)
            return
        values = f.ravel(self._cast(value))
        places = on(self._array.device, self._places, key)
        if places is not None and values.size:
            n = places[0].size
            self._array[places] = self._in_turn(values, n).reshape(places[0].shape) if n else values[:0]
            return
        line = f.ravel(self._array)
        places = f.asarray(f.arange(line.size)[key])
        n = places.size
        if not n or not values.size:
            return
        values = self._in_turn(values, n)
        line[key] = values.reshape(places.shape)
        if not f.may_share_memory(line, self._array):
            self._array[...] = line.reshape(self._array.shape)

    def _set_one(self, key: int, value: Any) -> None:
        """One element; NumPy has one error for all that cannot be one."""
        plain = f.as_class(self._array, None)
        try:
            if plain.dtype == bool and isinstance(value, (ndarray, numpy.ndarray)):
                value = bool(value)  # of one element, whatever its axes
            elif getattr(value, "ndim", 0):
                raise ValueError("more than one element")
            plain[tuple(map(int, numpy.unravel_index(key % len(self), plain.shape)))] = value
        except (OverflowError, TypeError, ValueError) as error:
            raise ValueError("Error setting single item of array.") from error

    def _cast(self, value: Any) -> ndarray:
        """A value's elements, all of them as those of the array, which tells of what is lost."""
        dtype = self._array.dtype
        made = f.assigned(value, dtype)
        is_cast = made.dtype != dtype and made.dtype.kind in "biufc" and dtype.kind in "biufc"
        return f.astype_as(made, dtype, "K") if is_cast else made

    def _assigned_in_place(self, key: Any, value: Any) -> bool:
        """Values that lie in the array's own memory are read one by one, after those before them are written."""
        a = self._array
        if not isinstance(value, ndarray) or value.dtype != a.dtype or value.device != "cpu" or a.device != "cpu":
            return False
        if not value.ndim or not f.may_share_memory(a, value):
            return False
        numpy.asarray(a).flat[numpy.asarray(key) if isinstance(key, ndarray) else key] = numpy.asarray(value)
        return True

    @staticmethod
    def _in_turn(values: ndarray, n: int) -> ndarray:
        """So many values, one or each again and again."""
        if values.size in (1, n):
            return values if values.size == n else f.broadcast_to(values, (n,))
        from ._index import take

        return take(values, f.asarray(f.arange(n, device=values.device) % values.size))

    def copy(self, /) -> ndarray:
        """The elements as an array of one axis."""
        return self._array.flatten()

    def __array__(self, dtype: Any = None, /, *, copy: bool | None = None) -> Any:
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


class broadcast:
    """Arrays brought to one shape: that shape, and their elements side by side in row-major order."""

    __module__ = "tessera.numeric"
    __signature__ = inspect.Signature([inspect.Parameter("arrays", inspect.Parameter.VAR_POSITIONAL)])

    def __init__(self, *arrays: Any, **options: Any) -> None:
        if options:
            raise ValueError(f"broadcast() takes no keyword arguments, found {', '.join(options)}")
        parts = [x._arrays if isinstance(x, broadcast) else [f.asarray(x)] for x in arrays]
        self._arrays: list[ndarray] = [*itertools.chain.from_iterable(parts)]
        if len(self._arrays) > _MOST:
            raise ValueError(f"broadcast() takes at most {_MOST} arrays, found {len(self._arrays)}")
        self.shape = self._common_shape()
        self.index = 0

    def _common_shape(self) -> tuple[int, ...]:
        """The shape of all, or an error that names two which do not fit."""
        made: list[int] = []
        by: list[int] = []  # which array an extent is of
        for i, a in enumerate(self._arrays):
            grow = a.ndim - len(made)
            made, by = [1] * grow + made, [i] * grow + by
            for d, n in enumerate(a.shape, len(made) - a.ndim):
                if n != 1 and made[d] not in (1, n):
                    other = self._arrays[by[d]]
                    raise ValueError(
                        "shape mismatch: objects cannot be broadcast to a single shape.  Mismatch is between "
                        f"arg {by[d]} with shape {other.shape} and arg {i} with shape {a.shape}."
                    )
                if n != 1 and made[d] == 1:
                    made[d], by[d] = n, i
        return tuple(made)

    @property
    def nd(self) -> int:
        """Number of axes."""
        return len(self.shape)

    ndim = nd

    @property
    def size(self) -> int:
        """Number of elements."""
        return math.prod(self.shape)

    @property
    def numiter(self) -> int:
        """Number of arrays."""
        return len(self._arrays)

    @property
    def iters(self) -> tuple[flatiter, ...]:
        """An iterator of each array."""
        return tuple(map(flatiter, self._arrays))

    def reset(self, /) -> None:
        """Begins with the first elements again."""
        self.index = 0

    def __iter__(self) -> broadcast:
        return self

    def __next__(self) -> tuple[Any, ...]:
        if self.index >= self.size:
            raise StopIteration
        place = tuple(map(int, numpy.unravel_index(self.index, self.shape)))
        self.index += 1
        return tuple(f.broadcast_to(a, self.shape)[place] for a in self._arrays)


_MOST = 64  # arrays, as NumPy's
