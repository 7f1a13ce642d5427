# SPDX-License-Identifier: Apache-2.0
"""Functions on top of the others: inserting and deleting, blocks, indices of triangles and diagonals."""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy

from .. import _core
from . import _functions as f
from . import _numpys
from . import _reduce as r
from ._index import flatnonzero, take, unravel_index
from ._joining import concatenate, end_to_end, stack, tile
from ._ndarray import ndarray
from ._operators import diff
from ._setup import to_numpy
from ._sort import sort
from ._ufunc import FUNCTIONS

INNER: tuple[str, ...] = ()
METHODS: dict[str, Any] = {}


# -- grids ---------------------------------------------------------------------------------------------


def meshgrid(
    *xi: Any, copy: bool = True, sparse: bool = False, indexing: str = "xy"
) -> tuple[ndarray, ...]:
    """Coordinates along axes as arrays of a grid."""
    if indexing not in ("xy", "ij"):
        raise ValueError("Valid values for `indexing` are 'xy' and 'ij'.")
    rank = len(xi)
    made = [
        f.ravel(x).reshape([-1 if k == d else 1 for k in range(rank)]) for d, x in enumerate(xi)
    ]
    if indexing == "xy" and rank > 1:
        made = [f.swapaxes(x, 0, 1) for x in made]
    if not sparse:
        made = list(f.broadcast_arrays(*made))
    return tuple(x.copy() for x in made) if copy else tuple(made)


# -- differences ---------------------------------------------------------------------------------------


def ediff1d(ary: Any, to_end: Any = None, to_begin: Any = None) -> ndarray:
    """Differences of neighbours along one axis, with others before and behind."""
    a = f.ravel(ary)
    parts = [f.asarray(a[1:] - a[:-1])]  # of bools an error, other than diff
    if to_end is None and to_begin is None:
        return parts[0]
    for given, place in ((to_begin, 0), (to_end, 2)):
        if given is None:
            continue
        part = f.ravel(given)
        if not f.can_cast(part.dtype, a.dtype, "same_kind"):
            name = "to_begin" if place == 0 else "to_end"
            raise TypeError(
                f"dtype of `{name}` must be compatible with input `ary` under the `same_kind` rule."
            )
        parts.insert(place, part.astype(a.dtype, copy=False))
    return concatenate(parts)


def cov(m: Any, y: Any = None, rowvar: bool = True, bias: bool = False, ddof: Any = None, fweights: Any = None,
        aweights: Any = None, *, dtype: Any = None) -> Any:  # fmt: skip
    """Covariances of rows, or of columns. Those of a matrix of floats on a GPU are made without a wait for it."""
    others = y is not None or fweights is not None or aweights is not None or dtype is not None
    if others or type(m) is not ndarray or m.device == "cpu" or m.ndim != 2 or m.dtype.char not in "fd":
        return _cov(m, y, rowvar, bias, ddof, fweights, aweights, dtype=dtype)
    x = m if rowvar else m.T
    less = ddof if ddof is not None else int(bias == 0)
    if type(less) is not int or x.shape[1] - less <= 0 or x.shape[0] < 2:  # NumPy warns, or has another shape
        return _cov(m, y, rowvar, bias, ddof)
    return _cov_of(x, x.shape[1] - less)


def _cov_of(x: ndarray, n: int) -> ndarray:
    x = x.astype(numpy.float64, copy=False)
    away = x - r.mean(x, axis=1, keepdims=True)
    return away @ away.T * (1 / n)


def _cov(*args: Any, **options: Any) -> Any:
    return _numpys.adopt("numpy.lib._function_base_impl")["cov"](*args, **options)


# -- inserting and deleting ------------------------------------------------------------------------------


def _places(obj: Any, extent: int) -> Any:
    """The places that slices, masks and integers mean, as NumPy's array: they say how large the result is."""
    if isinstance(obj, slice):
        return numpy.arange(*obj.indices(extent))
    found = numpy.asarray(to_numpy(obj, True) if isinstance(obj, ndarray) else obj)
    if found.dtype == bool:
        if found.shape != (extent,):
            raise ValueError(
                f"boolean array argument obj to delete must be one dimensional and match the axis length of {extent}"
            )
        return numpy.flatnonzero(found)
    if found.size == 0 and not isinstance(obj, (numpy.ndarray, ndarray)):
        found = found.astype(numpy.intp)
    if found.dtype.kind not in "iu":
        raise IndexError("arrays used as indices must be of integer (or boolean) type")
    if ((found < -extent) | (found >= extent)).any():
        bad = found[(found < -extent) | (found >= extent)].flat[0]
        raise IndexError(f"index {bad} is out of bounds for axis 0 with size {extent}")
    return found % max(extent, 1)


def _with_room(a: ndarray, extent: int, axis: int) -> ndarray:
    """A new array like another one, of another extent along an axis."""
    shape = [extent if d == axis else n for d, n in enumerate(a.shape)]
    return f.empty(shape, a.dtype, "F" if a.flags.fnc else "C", device=a.device)


def _without(a: ndarray, begin: int, end: int, axis: int) -> ndarray:
    """A copy without what lies between two places."""
    if a.ndim == 1:
        return end_to_end(a, (a[:begin], a[end:]))
    made, key = _with_room(a, a.shape[axis] - (end - begin), axis), (slice(None),) * axis
    made[(*key, slice(begin))] = a[(*key, slice(begin))]
    made[(*key, slice(begin, None))] = a[(*key, slice(end, None))]
    return made


def delete(arr: Any, obj: Any, axis: Any = None) -> ndarray:
    """A copy without the elements at places along an axis."""
    a = f.asarray(arr)
    if axis is None:
        a, axis = a if a.ndim == 1 else f.ravel(a), 0
    axis = f.normalize(axis, a.ndim)
    if type(obj) is int and -a.shape[axis] <= obj < a.shape[axis]:
        at = obj % a.shape[axis]
        return _without(a, at, at + 1, axis)
    places = _places(obj, a.shape[axis])
    if places.size == 1:
        at = int(places.flat[0])
        return _without(a, at, at + 1, axis)
    keep = numpy.ones(a.shape[axis], bool)
    keep[places] = False
    if a.ndim == 1 and a.device == "cpu":  # a GPU would be asked how many there are
        return a[f.asarray(keep, device=a.device)]
    return f.array(take(a, numpy.flatnonzero(keep), axis), order="F" if a.flags.fnc else "C", copy=None)


def insert(arr: Any, obj: Any, values: Any, axis: Any = None) -> ndarray:
    """A copy with values before places along an axis."""
    a = f.asarray(arr)
    if axis is None:
        a, axis = a if a.ndim == 1 else f.ravel(a), 0
    axis = f.normalize(axis, a.ndim)
    extent, new = a.shape[axis], None
    if type(obj) is int and a.ndim == 1 and -extent <= obj <= extent:
        new = f.asarray(f.array(values, a.dtype, copy=None, ndmin=1), device=a.device)
        if new.ndim == 1:
            at = obj + extent if obj < 0 else obj
            return end_to_end(a, (a[:at], new, a[at:]))
    is_number = not isinstance(obj, slice) and (obj.ndim if isinstance(obj, ndarray) else numpy.ndim(obj)) == 0
    if isinstance(obj, slice):
        places = _places(obj, extent)
    elif getattr(obj, "dtype", None) == bool:
        if obj.ndim != 1:
            raise ValueError("boolean array argument 'obj' to insert must be one-dimensional")
        places = numpy.flatnonzero(to_numpy(obj, True) if isinstance(obj, ndarray) else obj)
    else:
        places = numpy.atleast_1d(
            numpy.asarray(to_numpy(obj, True) if isinstance(obj, ndarray) else obj)
        )
        if places.size == 0 and not isinstance(obj, (numpy.ndarray, ndarray)):
            places = places.astype(numpy.intp)
        if places.ndim > 1:
            raise ValueError("index array argument obj to insert must be one dimensional or scalar")
        if places.dtype.kind not in "iu":
            kind = TypeError if places.size == 1 else IndexError
            raise kind("arrays used as indices must be of integer (or boolean) type")
        if ((places < -extent) | (places > extent)).any():
            raise IndexError(
                f"index {places.flat[0]} is out of bounds for axis {axis} with size {extent}"
            )
        places = numpy.where(places < 0, places + extent, places)
    if new is None:
        new = f.asarray(f.array(values, a.dtype, copy=None, ndmin=a.ndim), device=a.device)
    if is_number:
        new = f.moveaxis(new, 0, axis)
    is_one = places.size == 1
    n = new.shape[axis] if is_one else places.size
    made, key = _with_room(a, extent + n, axis), (slice(None),) * axis
    if is_one:
        at = int(places[0])
        made[(*key, slice(at))] = a[(*key, slice(at))]
        made[(*key, slice(at, at + n))] = new
        made[(*key, slice(at + n, None))] = a[(*key, slice(at, None))]
        return made
    at = places.copy()
    order = numpy.argsort(at, kind="stable")
    at[order] += numpy.arange(n)
    old = numpy.ones(extent + n, bool)
    old[at] = False
    if made.ndim == 1 and a.device == "cpu":  # a GPU would be asked how many there are
        made[f.asarray(old, device=a.device)] = a
    else:
        made[(*key, numpy.flatnonzero(old))] = a
    made[(*key, f.asarray(at, device=a.device))] = new
    return made


_FEW_TIMES = 8  # copies that are joined sooner than repeated


def resize(a: Any, new_shape: Any) -> ndarray:
    """The elements in another shape, repeated or cut."""
    new_shape = (new_shape,) if isinstance(new_shape, (int, numpy.integer)) else new_shape
    new_shape = tuple(map(operator.index, new_shape))
    if any(n < 0 for n in new_shape):
        raise ValueError("all elements of `new_shape` must be non-negative")
    a, n = f.ravel(a), math.prod(new_shape)
    if not n or not a.size:
        return f.zeros(new_shape, a.dtype)
    times = -(-n // a.size)
    whole = concatenate((a,) * times) if times <= _FEW_TIMES else tile(a, times)
    return f.reshape(whole[:n], new_shape)


def _extents(x: Any, axis: int, rank: int) -> list[int] | None:
    """The shape of nested lists of plain arrays of rows; None: others, or parts that do not fit."""
    if not isinstance(x, list):
        is_plain = type(x) is ndarray and x.flags.c_contiguous and x.ndim <= rank
        return [1] * (rank - x.ndim) + list(x.shape) if is_plain else None
    parts = [_extents(each, axis + 1, rank) for each in x]
    made = parts[0] and [*parts[0]]
    for part in parts[1:]:
        if made is None or part is None or any(m != n for d, (m, n) in enumerate(zip(made, part)) if d != axis):
            return None
        made[axis] += part[axis]
    return made


def _put_blocks(x: Any, axis: int, to: ndarray) -> None:
    """Each array of nested lists where it belongs."""
    if not isinstance(x, list):
        to[...] = x
        return
    at = 0
    for each in x:
        n = (_extents(each, axis + 1, to.ndim) or [])[axis]
        _put_blocks(each, axis + 1, to[(slice(None),) * axis + (slice(at, at + n),)])
        at += n


def _leaves(x: Any) -> list[Any]:
    return [leaf for each in x for leaf in _leaves(each)] if isinstance(x, list) else [x]


def block(arrays: Any) -> ndarray:
    """Nested lists of arrays as one array: the innermost lists along the last axis."""

    def depth(x: Any) -> int:
        if isinstance(x, tuple):
            raise TypeError("arrays is a tuple. Only lists can be used to arrange blocks, and np.block does not allow "
                            "implicit conversion from tuple to ndarray.")  # fmt: skip
        if not isinstance(x, list):
            return 0
        if not x:
            raise ValueError("List at arrays cannot be empty")
        depths = {depth(each) for each in x}
        if len(depths) > 1:
            raise ValueError("List depths are mismatched")
        return 1 + depths.pop()

    def rank(x: Any) -> int:
        return max(map(rank, x)) if isinstance(x, list) else f.asarray(x).ndim

    def join(x: Any, axis: int) -> ndarray:
        if not isinstance(x, list):
            part = f.asanyarray(x)
            return part.reshape((1,) * (whole - part.ndim) + part.shape)
        return concatenate([join(each, axis + 1) for each in x], axis)

    levels = depth(arrays)
    whole = max(levels, rank(arrays))
    shape = _extents(arrays, whole - levels, whole) if levels > 1 else None
    if shape is not None and len({leaf.device for leaf in _leaves(arrays)}) == 1:  # no part is moved twice
        leaves = _leaves(arrays)
        made = f.empty(shape, f.result_type(*leaves), device=leaves[0].device)
        _put_blocks(arrays, whole - levels, made)
        return made
    made = join(arrays, -levels)
    return made.copy() if not levels else made


def apply_along_axis(func1d: Any, axis: int, arr: Any, *args: Any, **kwargs: Any) -> ndarray:
    """A Python function of every line along an axis."""
    a = f.asarray(arr)
    axis = f.normalize(axis, a.ndim)
    lines = f.moveaxis(a, axis, -1)
    outer = lines.shape[:-1]
    if not math.prod(outer):
        raise ValueError("Cannot apply_along_axis when any iteration dimensions are 0")
    given = [func1d(lines[at], *args, **kwargs) for at in numpy.ndindex(*outer)]
    if isinstance(given[0], numpy.number) and all(type(x) is type(given[0]) for x in given):
        return f.array(numpy.array(given)).reshape(outer)
    made = [f.asarray(x) for x in given]
    made = [x.astype(made[0].dtype, copy=False) for x in made]  # the first says of which dtype all are
    whole = stack(made).reshape((*outer, *made[0].shape))
    inner = range(len(outer), whole.ndim)
    return f.moveaxis(whole, list(inner), [axis + i for i in range(len(inner))]).copy()


def apply_over_axes(func: Any, a: Any, axes: Any) -> ndarray:
    """A function of the array and an axis, for one axis after the other."""
    a = f.asarray(a)
    rank = a.ndim
    for axis in [axes] if not numpy.ndim(axes) else axes:
        axis = axis + rank if axis < 0 else axis
        made = func(a, axis)
        if numpy.ndim(made) != rank:
            made = f.expand_dims(made, axis)
        if numpy.ndim(made) != rank:
            raise ValueError("function is not returning an array of the correct shape")
        a = made
    return a


# -- indices -----------------------------------------------------------------------------------------------


def _triangle(mask: Any) -> tuple[ndarray, ...]:
    return unravel_index(flatnonzero(mask), mask.shape)


def tril_indices(n: int, k: int = 0, m: int | None = None) -> tuple[ndarray, ...]:
    """Places of the elements at and below a diagonal."""
    from ._operators import tri

    return _triangle(tri(n, m, k, bool))


def triu_indices(n: int, k: int = 0, m: int | None = None) -> tuple[ndarray, ...]:
    """Places of the elements at and above a diagonal."""
    from ._operators import tri

    return _triangle(f.asarray(FUNCTIONS["logical_not"](tri(n, m, k - 1, bool))))


def tril_indices_from(arr: Any, k: int = 0) -> tuple[ndarray, ...]:
    """Places of the elements of a matrix at and below a diagonal."""
    if arr.ndim != 2:
        raise ValueError("input array must be 2-d")
    return tril_indices(arr.shape[-2], k, arr.shape[-1])


def triu_indices_from(arr: Any, k: int = 0) -> tuple[ndarray, ...]:
    """Places of the elements of a matrix at and above a diagonal."""
    if arr.ndim != 2:
        raise ValueError("input array must be 2-d")
    return triu_indices(arr.shape[-2], k, arr.shape[-1])


def diag_indices(n: int, ndim: int = 2) -> tuple[ndarray, ...]:
    """Places of the diagonal of an array whose axes are all n long."""
    return (f.arange(n),) * ndim


def fill_diagonal(a: ndarray, val: Any, wrap: bool = False) -> None:
    """Makes the elements of the diagonal those of `val`, in turn."""
    if a.ndim < 2:
        raise ValueError("array must be at least 2-d")
    if a.ndim > 2 and len(set(a.shape)) != 1:
        raise ValueError("All dimensions of input must be of equal length")
    if not a.flags.writeable:
        raise ValueError("underlying array is read-only")
    if isinstance(val, ndarray) and f.may_share_memory(a, val):  # is read in turn with what is written
        end = a.shape[1] ** 2 if a.ndim == 2 and not wrap else None
        a.flat[: end : sum(math.prod(a.shape[d + 1 :]) for d in range(a.ndim))] = val
        return
    n = min(a.shape)
    if type(val) in (int, float) and not wrap and a.dtype.kind in "fc" and type(a) is ndarray:
        a._view(0, a.dtype, (n,), (sum(a.strides),))[...] = val
        return
    values = f.ravel(f.asarray(val, a.dtype))
    if not values.size:
        return  # as NumPy's a.flat[::step] = ()
    if wrap and a.ndim == 2 and a.shape[0] > a.shape[1] + 1:
        places = f.arange(0, a.size, a.shape[1] + 1)
        a[places // a.shape[1], places % a.shape[1]] = resize(values, places.size)
        return
    diagonal = a._view(0, a.dtype, (n,), (sum(a.strides),))
    diagonal[...] = values[:1] if values.size == 1 else resize(values, n)


def ix_(*args: Any) -> tuple[ndarray, ...]:
    """Vectors as indices of a grid."""
    made = []
    for d, each in enumerate(args):
        x = f.asarray(each)
        if x.ndim != 1:
            raise ValueError("Cross index must be 1 dimensional")
        if not x.size and not isinstance(each, (ndarray, numpy.ndarray)):
            x = x.astype(numpy.intp)  # of nothing, which has no dtype
        x = flatnonzero(x) if x.dtype == bool else x
        made.append(x[(None,) * d + (slice(None),) + (None,) * (len(args) - 1 - d)])
    return tuple(made)


def trapezoid(y: Any, x: Any = None, dx: Any = 1.0, axis: int = -1) -> Any:
    """The integral of points along an axis by trapezia."""
    y = f.asarray(y)
    axis = f.normalize(axis, y.ndim)
    step: Any = dx
    if x is not None:
        x = f.asarray(x)
        step = diff(x, axis=axis if x.ndim > 1 else -1)
        if x.ndim == 1:
            step = step.reshape([-1 if d == axis else 1 for d in range(y.ndim)])
    key = (slice(None),) * axis
    parts = step * (y[(*key, slice(1, None))] + y[(*key, slice(None, -1))]) / 2.0
    return r.sum(parts, axis)


def median(
    a: Any, axis: Any = None, out: Any = None, overwrite_input: bool = False, keepdims: bool = False
) -> Any:
    """The middle of sorted elements along axes; NaN where one is."""
    a = f.asarray(a)
    axes = tuple(range(a.ndim)) if axis is None else f.normalize_many(axis, a.ndim)
    kept = [d for d in range(a.ndim) if d not in axes]
    n = math.prod(a.shape[d] for d in axes)
    lines = a.transpose([*kept, *axes]).reshape([*(a.shape[d] for d in kept), n])
    if not n:
        return r.mean(a, axis, out=out, keepdims=keepdims)
    if overwrite_input and f.may_share_memory(a, lines):
        lines.partition([*range((n - 1) // 2, n // 2 + 1), *((-1,) if a.dtype.kind in "fcmM" else ())])
    ordered = sort(lines)
    middle = r.mean(ordered[..., (n - 1) // 2 : n // 2 + 1], -1)
    made = f.asarray(middle)
    last = f.asarray(ordered[..., -1])  # NaN and NaT are the last ones
    if a.dtype.kind == "m":
        made = f.asarray(FUNCTIONS["add"](made, last * 0))
    elif a.dtype.kind in "fc" and _has_nan(ordered):
        f.copyto(made, last, where=FUNCTIONS["isnan"](last))
    if keepdims:
        made = made.reshape([1 if d in axes else n for d, n in enumerate(a.shape)])
    return made if keepdims and out is None else r.into(made, out, "unsafe")


def _has_nan(ordered: ndarray) -> bool:
    return bool(r.any(FUNCTIONS["isnan"](ordered[..., -1])))


def digitize(x: Any, bins: Any, right: bool = False) -> Any:
    """Which of monotonic bins numbers lie in."""
    from ._sort import searchsorted

    edges = f.asarray(bins)
    if f.asarray(x).dtype.kind == "c":
        raise TypeError("x may not be complex")
    if edges.dtype.kind == "c":
        raise TypeError(f"Cannot cast array data from {edges.dtype!r} to dtype('float64') according to the rule 'safe'")
    for each in (f.asarray(x), edges):
        if each.dtype.kind in "mM":
            raise TypeError(
                f"Cannot cast array data from {each.dtype!r} to dtype('float64') according to the rule 'safe'"
            )
    if edges.dtype.kind == "f" and edges.size and bool(r.all(f.asarray(edges != edges))):
        return edges.size - searchsorted(edges[::-1], x, "left" if right else "right")
    before, after = edges[:-1], edges[1:]  # differences of numbers without a sign say nothing
    if not bool(r.any(f.asarray(before > after))):
        return searchsorted(edges, x, "left" if right else "right")
    if bool(r.any(f.asarray(before < after))):
        raise ValueError("bins must be monotonically increasing or decreasing")
    return edges.size - searchsorted(edges[::-1], x, "left" if right else "right")


def packbits(a: Any, /, axis: Any = None, bitorder: str = "big") -> ndarray:
    """Truths of elements as bits, eight to a byte along an axis; zeros fill the last one."""
    a = f.asarray(a)
    if a.dtype.kind not in "biu":
        raise TypeError("Expected an input array of integer or boolean data type")
    little = _is_little(bitorder)
    bits = a if a.dtype == bool else f.asarray(a != 0)
    bits = bits if bits.ndim else f.ravel(bits)
    if axis is None:
        bits, axis = bits if bits.ndim == 1 else f.ravel(bits), 0
    else:
        axis = f.normalize(axis, bits.ndim)
    bits = _with_last(bits, axis)
    made = _core.numeric_bits(bits, True, little)
    if made is not None:
        return made if axis == made.ndim - 1 else f.moveaxis(made, -1, axis)
    n = bits.shape[-1]
    n_bytes = -(-n // 8)
    flat = f.zeros((*bits.shape[:-1], 8 * n_bytes), numpy.uint8)
    flat[..., :n] = bits
    whole = flat.reshape((*bits.shape[:-1], n_bytes, 8))
    return f.moveaxis(f.asarray(r.sum(f.asarray(whole << _places_of_bits(little)), -1, numpy.uint8)), -1, axis)


def unpackbits(a: Any, /, axis: Any = None, count: Any = None, bitorder: str = "big") -> ndarray:
    """The bits of bytes along an axis, each an element; so many, zeros behind the last; all but so many if negative."""
    a = f.asarray(a)
    if a.dtype != numpy.uint8:
        raise TypeError("Expected an input array of unsigned byte data type")
    a = a if a.ndim else a.reshape(1)
    if axis is None:
        a, axis = a if a.ndim == 1 else f.ravel(a), 0
    else:
        axis = f.normalize(axis, a.ndim)
    a = _with_last(a, axis)
    little = _is_little(bitorder)
    bits = _core.numeric_bits(a, False, little)
    if bits is None:
        bits = f.asarray((a[..., None] >> _places_of_bits(little)) & 1).reshape((*a.shape[:-1], 8 * a.shape[-1]))
    if count is not None:
        n = operator.index(count)
        if n < -bits.shape[-1]:
            raise ValueError(f"-count larger than number of elements (expected at least {n}, got {-bits.shape[-1]})")
        n = n + bits.shape[-1] if n < 0 else n
        made = f.zeros((*a.shape[:-1], n), numpy.uint8)
        made[..., : bits.shape[-1]] = bits[..., :n]
        bits = made
    return bits if axis == bits.ndim - 1 else f.moveaxis(bits, -1, axis)


def _with_last(a: ndarray, axis: int) -> ndarray:
    """An array whose last axis is one of another's, row-major."""
    a = a if axis == a.ndim - 1 else f.moveaxis(a, axis, -1)
    return a if a.flags.c_contiguous else a.copy("C")


def _is_little(bitorder: Any) -> bool:
    if not isinstance(bitorder, str):
        raise TypeError(f"bitorder must be str, not {type(bitorder).__name__}")
    if bitorder not in ("big", "little"):
        raise ValueError("'order' must be either 'little' or 'big'")
    return bool(bitorder == "little")


def _places_of_bits(little: bool) -> ndarray:
    return f.array(range(8) if little else range(7, -1, -1), numpy.uint8)


def mask_indices(n: int, mask_func: Any, k: Any = 0) -> tuple[ndarray, ...]:
    """Places where a function of a matrix of ones is not 0."""
    return _triangle(f.asarray(mask_func(f.ones((n, n), int), k)) != 0)


def ravel_multi_index(multi_index: Any, dims: Any, mode: Any = "raise", order: str = "C") -> Any:
    """Places along each axis as places along one."""
    order = "C" if order is None else f.check_order(order, "CF")
    dims = tuple(map(operator.index, dims)) if hasattr(dims, "__iter__") else (operator.index(dims),)
    parts = [f.index_array(x).astype(numpy.intp, copy=False) for x in multi_index]
    if math.prod(dims) > numpy.iinfo(numpy.intp).max:
        raise ValueError(f"invalid dims: array size defined by dims {dims} is larger than the maximum possible size")
    modes = (mode,) * len(dims) if isinstance(mode, str) else tuple(mode)
    for how in modes:
        if how not in ("clip", "raise", "wrap"):
            raise ValueError(f"clipmode must be one of 'clip', 'raise', or 'wrap' (got {how!r})")
    if len(parts) != len(dims):
        raise ValueError(f"parameter multi_index must be a sequence of length {len(dims)}")
    total: Any = 0
    pairs = list(zip(parts, dims, modes, strict=True))
    for x, extent, how in pairs if order == "C" else pairs[::-1]:
        if not extent and x.size:
            raise ValueError("cannot ravel: an axis of dims has no elements")
        if how == "raise" and x.size and (int(r.min(x)) < 0 or int(r.max(x)) >= extent):
            raise ValueError("invalid entry in coordinates array")
        x = x % extent if how == "wrap" else x
        x = FUNCTIONS["minimum"](FUNCTIONS["maximum"](x, 0), extent - 1) if how == "clip" else x
        total = total * extent + x
    return total
