# SPDX-License-Identifier: Apache-2.0
"""Indexing by arrays: places are computed as any other array, in the kernel that reads or writes the elements."""

from __future__ import annotations

import builtins
import contextlib
import math
import operator
from typing import Any, NamedTuple

import numpy

from .. import _core
from . import _functions as f
from . import _items
from ._joining import stack
from ._meanings import cast, has_meaning, truth
from ._ndarray import is_derived, ndarray
from ._reduce import ends as _ends
from ._reduce import scalar_of
from ._reduce import sum as _sum_of
from ._reduce import warn_of_parts
from ._setup import HostDtype, to_numpy, warn_of_lost_parts
from ._ufunc import FUNCTIONS, select, ufunc

INNER = ("check_target", "get_item", "set_item")
_MOST_INDICES = 64  # NumPy's NPY_MAXARGS
_LOOKED_AT = 1 << 12  # indices on a GPU from which on the kernel that reads elements looks at them itself
_place = ufunc("part_place")
_any, _all = builtins.any, builtins.all


# -- keys ----------------------------------------------------------------------------------------------


def _item(item: Any) -> Any:
    """One item of a key: None, Ellipsis, a slice, or an array of integers or bools."""
    if item is None or item is Ellipsis or isinstance(item, slice):
        return item
    if isinstance(item, (list, tuple)) and not item:
        return f.empty((0,), numpy.intp)
    if not isinstance(item, (ndarray, numpy.ndarray, numpy.generic, list, tuple, int)) and hasattr(
        item, "__index__"
    ):
        item = operator.index(item)
    try:
        made = _items.numbers(f.asarray(item))
    except (TypeError, ValueError) as error:
        if "inhomogeneous" in str(error):  # a list of lists, and of numbers or slices beside them
            raise
        raise _bad_key() from error
    if made.dtype.kind not in "iub":
        if made.size == 0 and isinstance(item, (list, tuple)):
            return made.astype(numpy.intp)
        raise _bad_key()
    return made


def _bad_key() -> IndexError:
    return IndexError(
        "only integers, slices (`:`), ellipsis (`...`), numpy.newaxis (`None`) and integer or boolean arrays are valid "
        "indices"
    )


class _Look(NamedTuple):
    """Indices that a kernel looks at, and what numeric_missed() said before there was such a kernel. The kernel tells
    of one out of bounds to whoever reads a value next, in any thread, which moves that count."""

    index: ndarray
    extent: int
    axis: int
    missed: int


def bounded(index: ndarray, extent: int, axis: int) -> ndarray:
    """Indices of an axis as places along it; an error where one is out of bounds."""
    if index.size:
        low, high = map(int, _ends(index))
        bad = low if low < -extent else high
        if low < -extent or high >= extent:
            raise IndexError(f"index {bad} is out of bounds for axis {axis} with size {extent}")
        index = index.astype(numpy.intp, copy=False)
        return f.asarray(select(index < 0, index + extent, index)) if low < 0 else index
    return index.astype(numpy.intp, copy=False)


def _spread(key: Any, ndim: int) -> tuple[list[Any], int | None]:
    """The items of a key for all axes of an array, and where its dots stood."""
    items = [_item(item) for item in (key if isinstance(key, tuple) else (key,))]
    used = sum((1 if item.dtype.kind != "b" else item.ndim) if isinstance(item, ndarray) else item is not None
               and item is not Ellipsis for item in items)  # fmt: skip
    dots = [i for i, item in enumerate(items) if item is Ellipsis]
    if len(dots) > 1:
        raise IndexError("an index can only have a single ellipsis ('...')")
    if used > ndim:
        raise IndexError(f"too many indices for array: array is {ndim}-dimensional, but {used} were indexed")
    at = dots[0] if dots else len(items)
    items[at : at + 1] = [slice(None)] * (ndim - used)
    return items, at if dots else None


class _Parts:
    """What the items of a key say: a view by ``basic``, and places in it, ``arrays`` along its ``axes``."""

    def __init__(self, a: ndarray, items: list[Any], dots: int | None) -> None:
        self.shape, self.axis, self.place = a.shape, 0, 0  # the next axis of the array, and of the view
        self.basic: list[Any] = []
        self.arrays: list[ndarray] = []
        self.axes: list[int] = []
        self.unchecked: dict[int, int] = {}  # of those arrays that say places, the axis
        turns = []  # of items in turn: True where an array stands
        for i, item in enumerate(items):
            if i == dots:
                turns.append(False)  # dots part arrays, also where they stand for no axis
            turns.append(isinstance(item, ndarray))
            if not turns[-1]:
                self._add(item)
                self.axis += item is not None
            elif item.dtype.kind != "b":
                self._add_places(item)
            else:
                self._add_mask(item)
        if len(self.arrays) >= _MOST_INDICES:
            raise IndexError(f"too many advanced indices ({len(self.arrays)} given, limit is {_MOST_INDICES - 1})")
        first = turns.index(True) if True in turns else 0
        self.are_together = _all(turns[first : first + builtins.sum(turns)])

    def _add(self, item: Any, array: ndarray | None = None) -> None:
        if array is not None:
            self.arrays.append(array)
            self.axes.append(self.place)
        self.basic.append(item)
        self.place += 1

    def _add_places(self, item: ndarray) -> None:
        if item.ndim:
            self.unchecked[len(self.arrays)] = self.axis
        self._add(slice(None), item if item.ndim else bounded(item, self.shape[self.axis], self.axis))
        self.axis += 1

    def _add_mask(self, item: ndarray) -> None:
        for d, n in enumerate(item.shape):
            if n and self.shape[self.axis + d] != n:  # masks without elements fit
                raise IndexError(
                    f"boolean index did not match indexed array along axis {self.axis + d}; size of axis is "
                    f"{self.shape[self.axis + d]} but size of corresponding boolean axis is {n}"
                )
        if not item.ndim:
            self._add(None, f.zeros((1 if item else 0,), numpy.intp))
        for found in nonzero(item) if item.ndim else ():
            self._add(slice(None), found)
            self.axis += 1


def _shape_of(arrays: list[ndarray], checks: bool) -> tuple[int, ...]:
    try:
        return numpy.broadcast_shapes(*(each.shape for each in arrays))
    except ValueError:
        if not checks:
            raise
        shapes = " ".join(str(each.shape).replace(" ", "") for each in arrays)
        raise IndexError(
            f"shape mismatch: indexing arrays could not be broadcast together with shapes {shapes} "
        ) from None


def _steps(a: Any, shape: tuple[int, ...]) -> tuple[int, ...]:
    """Strides of an array that is broadcast to the last axes of a shape; 0 along an axis of one element."""
    first = builtins.max(a.ndim - len(shape), 0)
    steps = [0 if n == 1 else step for n, step in zip(a.shape[first:], a.strides[first:], strict=True)]
    return (0,) * (len(shape) - len(steps)) + tuple(steps)


def _is_inside(steps: list[tuple[int, ...]], axis: int, other: int) -> bool | None:
    """Whether an axis is walked inside one that is written behind it: if it is in all arrays that have strides along
    both. None: no array says it."""
    said = [abs(each[axis]) < abs(each[other]) for each in steps if each[axis] and each[other]]
    return _all(said) if said else None


def _walked(steps: list[tuple[int, ...]], rank: int) -> list[int]:
    """The axes in which NumPy's iterator walks arrays of such strides, the innermost one last."""
    axes: list[int] = []  # innermost first
    for axis in range(rank)[::-1]:
        at = len(axes)
        for i in range(len(axes))[::-1]:
            inside = _is_inside(steps, axis, axes[i])
            if inside is False:
                break
            at = i if inside else at
        axes.insert(at, axis)
    return axes[::-1]


class Places:
    """A key applied to an array: a view of it, and element places in that view. ``words``: as many last axes are
    taken whole, whatever the key is: those of what an element is made of. ``looks``:
    gets those indices that the kernel that reads the elements looks at."""

    def __init__(self, a: ndarray, key: Any, words: int = 0, checks: bool = True,
                 looks: list[_Look] | None = None) -> None:  # fmt: skip
        items, dots = _spread(key, a.ndim - words)
        items += [slice(None)] * words
        masks = [isinstance(item, ndarray) and item.dtype == bool for item in items]
        self.is_mask = masks == [True] and items[0].ndim == a.ndim
        parts = _Parts(a, items, dots)
        arrays, axes = parts.arrays, parts.axes
        self.unique = True in masks and builtins.sum(isinstance(item, ndarray) for item in items) == 1
        self.looks = looks
        self.view = a[tuple(parts.basic)] if parts.basic else a
        self.shape = _shape_of(arrays, checks)
        self.steps = [_steps(each, self.shape) for each in arrays]
        for i, axis in parts.unchecked.items():  # no places of arrays without elements, nor of those that meet them
            is_checked = checks and 0 not in self.shape
            arrays[i] = self._wrap(arrays[i], a.shape[axis], axis) if is_checked else arrays[i].astype(numpy.intp)
        kept = [d for d in range(self.view.ndim) if d not in axes]
        self.rest = tuple(self.view.shape[d] for d in kept)
        self.before = len([d for d in kept if d < axes[0]]) if parts.are_together and axes else 0
        self.offsets = self._offsets(arrays, axes, kept)

    def _wrap(self, index: ndarray, extent: int, axis: int) -> ndarray:
        few = not extent or index.size < _LOOKED_AT or index.device == "cpu"
        if self.looks is None or few or index.dtype.char in "LQ":
            return bounded(index, extent, axis)
        self.looks.append(_Look(index, extent, axis, _core.numeric_missed()))
        return f.asarray(_place(index, extent))

    def in_turn(self, values: ndarray, given: Any) -> tuple[ndarray, ndarray]:
        """Offsets and values in the order in which NumPy writes them: as the arrays of places lie in memory, and the
        array that was given. Of equal places the last one stays."""
        rank, offsets = len(self.shape), self.offsets
        along = _steps(given, offsets.shape)
        steps = [*self.steps, along[self.before : self.before + rank]]
        axes = _walked(steps, rank)
        may_turn = len(self.steps) > 1 or rank > 1
        back = [may_turn and _all(each[d] <= 0 for each in steps) and _any(each[d] for each in steps) for d in axes]
        if axes == list(range(rank)) and not _any(back):
            return offsets, values
        order = [*range(self.before), *(self.before + d for d in axes), *range(self.before + rank, offsets.ndim)]
        key = (slice(None),) * self.before + tuple(slice(None, None, -1 if b else 1) for b in back)
        return offsets.transpose(order)[key], f.broadcast_to(values, offsets.shape).transpose(order)[key]

    def _offsets(self, arrays: list[ndarray], axes: list[int], kept: list[int]) -> ndarray:
        item = self.view.itemsize
        rank = self.before + len(self.shape) + len(kept) - self.before
        made: Any = None
        for d, extent in zip(kept, self.rest, strict=True):
            i = kept.index(d)
            at = i if i < self.before else i + len(self.shape)
            along = f.arange(extent, dtype=numpy.intp) * (self.view.strides[d] // item)
            along = along.reshape([extent if k == at else 1 for k in range(rank)])
            made = along if made is None else made + along
        for d, each in zip(axes, arrays, strict=True):
            along = f.asarray(each * (self.view.strides[d] // item))
            along = along.reshape([1] * (len(self.shape) - along.ndim) + [*along.shape])
            along = along.reshape(
                [1] * self.before + [*along.shape] + [1] * (len(kept) - self.before)
            )
            made = along if made is None else made + along
        whole = self.rest[: self.before] + self.shape + self.rest[self.before :]
        made = f.zeros((), numpy.intp) if made is None else f.asarray(made)
        return made if made.shape == whole else f.broadcast_to(made, whole)


def _look_at(looks: list[_Look]) -> None:
    for look in looks:
        bounded(look.index, look.extent, look.axis)


def get_item(a: ndarray, key: Any) -> Any:
    """``a[key]`` where the key is more than integers and slices."""
    if _items.is_field(key):
        return _items.field(a, key)
    items = a._is_items
    looks: list[_Look] = []
    try:
        places = Places(a._words(8) if items else a, key, items, looks=looks)
        made = _core.numeric_gather(places.view, places.offsets)
        del places  # whose offsets need not be stored
        if looks:
            _core.numeric_settle(made)
    except IndexError:  # of a later index: NumPy finds the first
        _look_at(looks)
        raise
    if looks and _core.numeric_missed() != looks[0].missed:
        _look_at(looks)
    made = _items.of_words(made, a.dtype) if items else made
    return made if made.ndim or (isinstance(key, tuple) and _any(each is ... for each in key)) else made._scalar()


def _assigned(value: Any, a: ndarray, key: Any = ...) -> ndarray:
    """What is written to elements of an array; a key that is none is told of first."""
    if isinstance(value, ndarray):
        return f.assigned(value, a.dtype)
    try:
        return cast(value, a.dtype) if has_meaning(a) else f.assigned(value, a.dtype)
    except (ArithmeticError, TypeError, ValueError):
        with contextlib.suppress(ValueError):  # of indices of other shapes is told later
            Places(a._words(8) if a._is_items else a, key, a._is_items, False)
        raise


def _check_parts(values: ndarray, a: ndarray) -> None:
    """NumPy's warning where complex numbers are written to real elements."""
    if values.dtype.kind == "c" and a.dtype.kind in "iuf":
        warn_of_lost_parts(4)


def _number(value: Any, dtype: Any) -> Any:
    """Python's number as NumPy's scalar of a dtype, which it must fit."""
    return numpy.array(value, dtype)[()]


def _may_fault(source: numpy.dtype[Any], dtype: numpy.dtype[Any]) -> bool:
    """Whether numbers may be lost that become those of a dtype: copies tell of that, the kernel that places elements
    does not."""
    loses = source.kind in "fc" or (dtype == numpy.float16 and source.kind in "iu")
    return loses and dtype.kind in "iufc" and not numpy.can_cast(source, dtype)


def in_dtype(a: ndarray, dtype: Any) -> ndarray:
    """Elements in a dtype that may lose some of them, by a copy, which tells of that; else as they are."""
    if a.dtype == dtype or not _may_fault(a.dtype, dtype):
        return a
    return f.asarray(f.copy_of(a, dtype=dtype, casting="unsafe"))


def _fits_places(values: ndarray, shape: tuple[int, ...]) -> bool:
    """Whether values broadcast to places of a shape."""
    extents = values.shape[max(values.ndim - len(shape), 0) :]
    if 0 not in shape or math.prod(extents):
        extents = values.shape  # more leading axes are ignored only of no values, and where no place is written
    up = len(shape) - len(extents)
    return up >= 0 and _all(n in (1, m) for n, m in zip(extents, shape[up:], strict=True))


def _check_values(values: ndarray, a: ndarray, key: Any, words: int) -> None:
    """An error where values do not fit places, of which one is out of bounds: NumPy looks at the shape before."""
    try:
        shape = Places(a, key, words, False).offsets.shape[: -1 if words else None]
    except (IndexError, ValueError):
        return
    while values.ndim > len(shape) and values.shape[0] == 1:
        values = values[0]
    if not _fits_places(values, shape):
        raise ValueError(
            f"shape mismatch: value array of shape {values.shape} could not be broadcast to indexing result of shape "
            f"{shape}"
        )


def set_item(a: ndarray, key: Any, value: Any) -> None:
    """``a[key] = value`` where the key is more than integers and slices."""
    if _items.is_field(key):
        _items.field(a, key)[...] = value
        return
    items = a._is_items
    if items:
        is_ours = isinstance(value, ndarray)
        value = _items.cast(value, a.dtype)
        value = value if is_ours else f.place(value)
        if _items.runs(a.dtype) is not None:
            for run, given in _items.runs_of(a, value):
                set_item(run, key, given)
            return
    if isinstance(key, (ndarray, numpy.ndarray)) and key.dtype == bool and key.shape == a.shape:
        if type(value) in (bool, int, float, complex) and not has_meaning(a):
            f.copy_of(_number(value, a.dtype), a, where=key, casting="unsafe")
            return
        value = _assigned(value, a, key)
        if not value.ndim:
            if value.dtype.kind == "c" and a.dtype.kind in "iuf" and f.asarray(key).any():
                _check_parts(value, a)
            f.copy_of(value, a, where=key, casting="unsafe")
            return
    values = _assigned(value, a, key)
    words, given = _items.words_of(a, values) if items else (a, values)
    try:
        places = Places(words, key, items)
    except IndexError:
        _check_values(values, words, key, items)
        raise
    if places.is_mask and values.ndim > 1:
        raise TypeError(
            "NumPy boolean array indexing assignment requires a 0 or 1-dimensional input, input has "
            f"{values.ndim} dimensions"
        )
    shape = places.offsets.shape[: -1 if items else None]
    if places.is_mask and values.ndim == 1 and not _fits_places(values, shape):
        raise ValueError(
            f"NumPy boolean array indexing assignment cannot assign {values.size} input values to the {shape[0]} "
            "output values where the mask is true"
        )
    while values.ndim > len(shape) and values.shape[0] == 1:
        values, given = values[0], given[0]
    if not _fits_places(values, shape):
        raise ValueError(
            f"shape mismatch: value array of shape {values.shape} could not be broadcast to indexing result of shape "
            f"{shape}"
        )
    if places.offsets.size or not places.is_mask:  # of what does not fit, or a mask leaves out, nothing is told
        _check_parts(values, a)
    if places.offsets.size:
        given = given if values.dtype is a.dtype or items else in_dtype(values, a.dtype)
        offsets = places.offsets
        is_single = math.prod(places.rest[: -1 if items else None]) == 1  # at each place, else NumPy goes by rows
        if not places.unique and places.shape and is_single and isinstance(value, (ndarray, numpy.ndarray)):
            offsets, given = places.in_turn(given, value)
        if not places.unique and offsets.ndim > 8:  # axes of a kernel, unless they lie as fewer
            offsets, given = (f.ascontiguousarray(f.broadcast_to(each, offsets.shape)) for each in (offsets, given))
        _core.numeric_scatter(places.view, offsets, given, places.unique)


# -- places of true elements ---------------------------------------------------------------------------


def flatnonzero(a: Any) -> ndarray:
    """Places of elements that are not 0, in the array along one axis."""
    return _core.numeric_compress(None, f.asarray(truth(f.asarray(a))))


def nonzero(a: Any) -> tuple[ndarray, ...]:
    """Places of elements that are not 0, an array for each axis."""
    a = f.asarray(a)
    if not a.ndim:
        raise ValueError(
            "Calling nonzero on 0d arrays is not allowed. Use np.atleast_1d(scalar).nonzero() instead."
        )
    places, made = flatnonzero(a), []
    for extent in a.shape[:0:-1]:
        made.append(places % extent)
        places = places // extent
    return (places, *made[::-1])


def argwhere(a: Any) -> ndarray:
    """Places of elements that are not 0, a row for each."""
    a = f.asarray(a)
    if not a.ndim:
        return f.zeros((int(bool(a)), 0), numpy.int64)
    return stack(nonzero(a), -1)


def where(condition: Any, x: Any = None, y: Any = None, /) -> Any:
    """Elements of x where the condition holds, else of y; without these its places."""
    if x is None and y is None:
        return nonzero(condition)
    if x is None or y is None:
        raise ValueError("either both or neither of x and y should be given")
    given = [each if type(each) is ndarray else f.asarray(each) if is_derived(each) else each
             for each in (condition, x, y)]  # fmt: skip
    try:
        made = select(*given)
    except OverflowError:  # an integer of Python's, which here is converted as an array's elements are
        dtype = f.result_type(x, y)
        made = select(given[0], *(numpy.asarray(each).astype(dtype)[()] if type(each) is int else each
                                  for each in given[1:]))  # fmt: skip
    return made if isinstance(made, ndarray) else f.asarray(made)


# -- functions that take indices -----------------------------------------------------------------------


def _take_places(a: ndarray, indices: Any, axis: Any, mode: str) -> tuple[ndarray, int, ndarray]:
    if mode not in ("raise", "wrap", "clip"):
        raise ValueError(f"clipmode not understood: {mode!r}")
    if isinstance(axis, (bool, numpy.bool)):
        raise TypeError("an integer is required for the axis")
    if axis is None:
        a, axis = f.ravel(a), 0
    a = a if a.ndim else a.reshape(1)
    axis = f.normalize(axis, a.ndim)
    if isinstance(indices, (bool, int, float, list, tuple)):  # Python's numbers become whole ones
        indices = numpy.array(indices, numpy.intp)
    places = _items.numbers(f.asarray(indices))
    if places.dtype.kind not in "iub":
        raise TypeError(
            f"Cannot cast array data from {places.dtype!r} to dtype('int64') according to the rule 'safe'"
        )
    places = places.astype(numpy.intp) if places.dtype == bool else places
    extent = a.shape[axis]
    if mode == "wrap" and extent:
        places = f.asarray(places % extent)
    if mode == "clip":
        places = f.asarray(FUNCTIONS["minimum"](FUNCTIONS["maximum"](places, 0), extent - 1))
    return a, axis, places


def take(a: Any, indices: Any, axis: Any = None, out: Any = None, mode: str = "raise") -> Any:
    """Elements at places along an axis."""
    a, axis, places = _take_places(f.asarray(a), indices, axis, mode)
    shape = (*a.shape[:axis], *places.shape, *a.shape[axis + 1 :])
    if out is not None and out.shape != shape:
        raise ValueError("output array does not match result of ndarray.take")
    if out is not None and not f.can_cast(out.dtype, a.dtype, "safe"):
        raise TypeError(
            f"Cannot cast array data from {out.dtype!r} to {a.dtype!r} according to the rule 'safe': take() gives "
            "the dtype of the array"
        )
    if not a.shape[axis] and math.prod(shape):
        raise IndexError("cannot do a non-empty take from an empty axes.")
    if out is None and (0 in a.shape[:axis] or (not a.shape[axis] and mode != "raise")):
        return f.empty(shape, a.dtype, device=a.device)  # NumPy looks at no index
    key = (slice(None),) * axis + (places,)
    made = a[key] if type(a) is ndarray else get_item(a, key)  # by loops, where there are some
    if out is not None:
        return f.copy_of(made, out, casting="unsafe")
    return made.copy() if made.ndim > 1 and not made.flags.c_contiguous else made  # few elements lie as a[key] of NumPy


def check_target(a: Any, what: str) -> None:
    """An array of ours is written to; NumPy's is by NumPy."""
    if isinstance(a, numpy.ndarray):
        raise HostDtype(f"{what} is an array of NumPy's")
    if not isinstance(a, ndarray):
        raise TypeError(f"{what} must be tessera.numeric.ndarray, not {type(a).__name__}")


def _check_writeable(a: Any) -> None:
    if isinstance(a, ndarray) and not a.flags.writeable:
        raise ValueError("output array is read-only")


def put(a: ndarray, ind: Any, v: Any, mode: str = "raise") -> None:
    """Values to places of the array along one axis."""
    check_target(a, "argument 1")
    _check_writeable(a)
    flat = f.arange(a.size).reshape(a.shape) if not a.flags.c_contiguous else None
    _, _, places = _take_places(a, ind, None, mode)
    places = f.ravel(places)
    if places.size and not a.size:
        raise IndexError("cannot replace elements of an empty array")
    values = f.ravel(_cast(v, a))
    # then NumPy writes to a copy, which is lost in an error
    is_shared = f.may_share_memory(a, values) or f.may_share_memory(a, places)
    if not places.size or not values.size:
        return
    if values.size != places.size:
        values = take(values, f.arange(places.size) % values.size)
    if flat is None and values.size == places.size and mode == "raise" and not is_shared and a.device == "cpu":
        try:
            f.reshape(a, -1)[places] = values  # which writes nothing where a place is out of bounds
        except IndexError:
            pass
        else:
            return
    if flat is None and mode == "raise" and not is_shared:
        n = _put_before(a, places, values)
        values, places = values[n:], places[n:]
    if flat is None:
        set_item(f.reshape(a, -1), places, values)
    else:
        places = bounded(places, a.size, 0)
        set_item(a, unravel_index(places, a.shape), values)


def _cast(value: Any, a: ndarray) -> ndarray:
    """What is written to elements of an array, all of it in their dtype, which tells of what is lost."""
    made = _assigned(value, a)
    is_cast = made.dtype != a.dtype and made.dtype.kind in "biufc" and a.dtype.kind in "biufc"
    return f.astype_as(made, a.dtype, "K") if is_cast else made


def _put_before(a: ndarray, places: ndarray, values: ndarray) -> int:
    """Writes the values before the first place that is out of bounds, as NumPy has when it meets that; how many."""
    low, high = map(int, _ends(places))
    if low >= -a.size and high < a.size:
        return 0
    n = int(((places < -a.size) | (places >= a.size)).argmax())
    if n:
        set_item(f.reshape(a, -1), places[:n], values[:n])
        return n
    return 0


def unravel_index(indices: Any, shape: Any, order: str = "C") -> tuple[Any, ...]:
    """Places along one axis as places along each of a shape."""
    shape = f.listed((shape,))
    if shape is None:
        raise TypeError("unravel_index: shape must be an integer or a tuple of integers, found None")
    order = f.check_order(order, "CF")
    places, made = f.index_array(indices).astype(numpy.intp, copy=False), []
    if not shape and places.ndim:
        raise ValueError("multiple indices are not supported for 0d array")
    if math.prod(shape) > numpy.iinfo(numpy.intp).max:
        raise ValueError("dimensions are too large; arrays and shapes with a total size greater than 'intp' are not "
                         "supported.")  # fmt: skip
    low, high = map(int, _ends(places)) if places.size else (0, -1)
    if low < 0 or high >= math.prod(shape):
        raise ValueError(f"index {low if low < 0 else high} is out of bounds for array with size {math.prod(shape)}")
    for extent in shape if order == "F" else shape[::-1]:
        made.append(places % extent)
        places = places // extent
    return tuple(made if order == "F" else made[::-1])


def take_along_axis(arr: Any, indices: Any, axis: Any = -1) -> ndarray:
    """Elements at places along an axis, other places as they are."""
    arr = f.asarray(arr)
    if axis is None:
        _check_flat(indices)
        arr, axis = f.ravel(arr), 0
    return arr[_along(arr, indices, axis)]


def put_along_axis(arr: ndarray, indices: Any, values: Any, axis: Any) -> None:
    """Values to places along an axis."""
    if axis is None:
        _check_flat(indices)
        a = f.asarray(arr)
        line = a.reshape(-1)
        line[_along(line, indices, 0)] = values
        if not a.flags.c_contiguous:
            a[...] = line.reshape(a.shape)
        return
    arr[_along(arr, indices, axis)] = values


def _check_flat(indices: Any) -> None:
    if f.asarray(indices).ndim != 1:
        raise ValueError("when axis=None, `indices` must have a single dimension.")


def _along(arr: ndarray, indices: Any, axis: int) -> tuple[Any, ...]:
    indices = _items.numbers(f.asarray(indices))
    if indices.dtype.kind not in "iu":
        raise IndexError("`indices` must be an integer array")
    if arr.ndim != indices.ndim:
        raise ValueError("`indices` and `arr` must have the same number of dimensions")
    axis = f.normalize(axis, arr.ndim)
    return tuple(
        indices if d == axis else f.arange(n).reshape([n if k == d else 1 for k in range(arr.ndim)])
        for d, n in enumerate(arr.shape)
    )


def compress(condition: Any, a: Any, axis: Any = None, out: Any = None) -> ndarray:
    """Slices along an axis where a condition holds."""
    condition = f.asarray(condition)
    if condition.ndim != 1:
        raise ValueError(f"condition must be a 1-d array, found one of shape {condition.shape}")
    found = None if axis is not None or out is not None else _elements(condition, a)
    return found if found is not None else take(a, flatnonzero(condition), axis, out)


def _elements(condition: Any, a: Any) -> ndarray | None:
    """Elements of numbers where a condition of as many elements holds; None: it is another case."""
    mask, a = f.asarray(condition), f.asarray(a)
    if type(mask) is not ndarray or type(a) is not ndarray or mask.ndim != 1 or mask.size != a.size:
        return None
    return None if _items.is_items(a) or _items.is_items(mask) else _core.numeric_compress(a, f.asarray(truth(mask)))


def extract(condition: Any, arr: Any) -> ndarray:
    """Elements where a condition holds."""
    found = _elements(f.ravel(f.asarray(condition)), arr)
    return found if found is not None else take(f.ravel(f.asarray(arr)), flatnonzero(condition))


def choose(a: Any, choices: Any, out: Any = None, mode: str = "raise") -> Any:
    """Of several arrays, for each element, that of the number which ``a`` has there."""
    kept = [x if type(x) in (int, float, complex) else f.asarray(x) for x in choices]
    if not kept:
        raise ValueError("choose: at least one array to choose from is wanted")
    if mode not in ("raise", "wrap", "clip"):
        raise ValueError(f"clipmode must be one of 'clip', 'raise', or 'wrap' (got {mode!r})")
    places, last = _items.numbers(f.asarray(a)), len(kept) - 1
    if not f.can_cast(places.dtype, numpy.intp, "same_kind"):
        raise TypeError(f"choose: integers are wanted to choose by, found {places.dtype}")
    shape = numpy.broadcast_shapes(places.shape, *map(numpy.shape, kept))
    if out is not None and out.shape != shape:
        raise TypeError(f"choose: invalid shape for output array: {out.shape}, but the result has {shape}")
    if mode == "raise" and places.size and not 0 <= int(places.min()) <= int(places.max()) <= last:
        if 0 not in shape:
            raise ValueError("invalid entry in choice array")
        mode = "clip"  # nothing is chosen
    if mode == "clip":
        places = f.asarray(FUNCTIONS["minimum"](FUNCTIONS["maximum"](places, 0), last))
    elif mode == "wrap":
        places = f.asarray(places % (last + 1))
    kind = f.result_type(*kept)
    kept = [numpy.asarray(x).astype(kind)[()] if type(x) is int else x for x in kept]  # which wrap here
    made = f.asarray(kept[0], kind)
    for i, other in enumerate(kept[1:], 1):
        made = f.asarray(select(f.asarray(places == i), f.asarray(other, kind), made))
    if not last:
        made = f.broadcast_to(made, shape).copy()
    if out is None:
        return scalar_of(made)
    warn_of_parts(made, out.dtype)
    return f.copy_of(made, out, casting="unsafe")


def repeat(a: Any, repeats: Any, axis: Any = None) -> ndarray:
    """Elements several times in turn."""
    a = f.asarray(a)
    if axis is None:
        a, axis = f.ravel(a), 0
    if not isinstance(repeats, (ndarray, numpy.ndarray)):  # numbers are cut off, elements of arrays are not
        repeats = numpy.asarray(repeats).astype(numpy.intp)
    counts = _items.numbers(f.asarray(repeats))
    a = a if a.ndim else a.reshape(1)
    axis = f.normalize(axis, a.ndim)
    n = a.shape[axis]
    if counts.ndim > 1:
        raise ValueError(f"object too deep for desired array: repeats have one axis or none, found {counts.shape}")
    if counts.size not in (1, n):
        raise ValueError(f"operands could not be broadcast together with shape ({n},) {counts.shape}: repeats are one "
                         f"number, or one for each of {n} elements along axis {axis}")  # fmt: skip
    if counts.size in (1, n):
        made = _core.numeric_repeat(f.asarray(a, order="C"), f.asarray(counts, order="C"), axis)
        if made is not None:
            return made
    places = numpy.repeat(numpy.arange(n), to_numpy(f.broadcast_to(counts, (n,)), True))
    return take(a, f.asarray(places), axis)


def _check_safe(values: Any, a: ndarray) -> None:
    """An error where values are an array whose dtype might lose something."""
    if isinstance(values, (ndarray, numpy.ndarray)) and not f.can_cast(values.dtype, a.dtype, "safe"):
        raise TypeError(
            f"Cannot cast array data from {values.dtype!r} to {a.dtype!r} according to the rule 'safe'"
        )


def place(arr: ndarray, mask: Any, vals: Any) -> None:
    """Values to where a mask holds, in turn."""
    _check_writeable(arr)
    mask = f.asarray(mask)
    if mask.size != arr.size:
        raise ValueError("place: mask and data must be the same size")
    values = f.ravel(_assigned(vals, arr))
    mask = f.asarray(truth(mask))
    _check_safe(vals, arr)
    if values.size and type(arr) is ndarray and arr.device == "cpu" and mask.shape == arr.shape:
        n = int(_sum_of(mask))
        if n:
            arr[mask] = values[:n] if values.size >= n else values[f.arange(n) % values.size]
        return
    found = flatnonzero(mask)
    if found.size and not values.size:
        raise ValueError("Cannot insert from an empty array!")
    if found.size:
        put(arr, found, values)


def putmask(a: ndarray, /, mask: Any, values: Any) -> None:
    """Values of the same places to where a mask holds; repeated if they are fewer."""
    check_target(a, "argument 1")
    _check_writeable(a)
    given, values = values, _assigned(values, a)
    if not values.size:
        return
    if values.shape != a.shape:
        values = take(f.ravel(values), f.arange(a.size) % values.size).reshape(a.shape)
    _check_safe(given, a)
    f.copyto(a, values, casting="unsafe", where=f.asarray(mask).astype(bool, copy=False))


def _method(function: Any) -> Any:
    def method(self: ndarray, *args: Any, **options: Any) -> Any:
        return function(self, *args, **options)

    method.__name__, method.__doc__ = function.__name__, function.__doc__
    return method


def _compress(self: ndarray, condition: Any, axis: Any = None, out: Any = None) -> ndarray:
    return compress(condition, self, axis, out)


def _choose(self: ndarray, *choices: Any, out: Any = None, mode: str = "raise") -> Any:
    """What the elements choose from arrays, given one by one or as one argument."""
    return choose(self, choices[0] if len(choices) == 1 else choices, out, mode)


METHODS = {g.__name__: _method(g) for g in (take, put, nonzero, repeat)} | {"compress": _compress, "choose": _choose}
