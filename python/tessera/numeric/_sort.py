# SPDX-License-Identifier: Apache-2.0
"""Sorting and what stands on it, by the algorithms of tessera.compute."""

from __future__ import annotations

import builtins
import math
import warnings
from typing import Any, NamedTuple

import numpy

from .. import _core
from . import _functions as f
from . import _host, _items, _numpys
from ._index import flatnonzero, take, take_along_axis
from ._joining import concatenate
from ._meanings import has_meaning, module_of, plain
from ._ndarray import ndarray
from ._reduce import any as _any_of
from ._reduce import cumsum, ends, scalar_of
from ._reduce import max as _max_of
from ._reduce import min as _min_of
from ._setup import memory
from ._ufunc import FUNCTIONS, select

INNER = ("ordered",)
_isnan = FUNCTIONS["isnan"]


_BLOCK = 65536  # numbers whose weights are summed before they are added to those before, as NumPy's are
_COUNTERS = 1 << 24  # numbers that are counted side by side, on devices whose memory is not the host's
_INT32 = (1 << 31) - 1
_NEAR = 1 << 16  # bins of which a product rounded to float32 finds one beside the right one at worst
_TOGETHER = 1 << 22  # elements that are sorted without a kernel in host memory; ORDER_MOST of src/numeric/order.c
_MANY = 1 << 18  # elements of a GPU whose keys are made as they are read: one pass less


def _keys(a: ndarray) -> ndarray:
    """Keys that radix sort orders as NumPy does: every NaN last."""
    if a.dtype.kind == "f":
        a = f.asarray(select(_isnan(a), numpy.array(numpy.nan, a.dtype), a))
    return a


def _are_made_as_read(n: int, rows: int) -> bool:
    """Whether the sort makes its keys by itself. Then nothing is noted of the call, so the host takes longer for it."""
    from tessera.compute._engine import on_cpu

    return rows == 1 and n >= _MANY and not on_cpu()


def _key_of(v: Any) -> Any:
    """A key in a kernel."""
    return v if v == v else v.dtype(numpy.nan)  # noqa: PLR0124


def _ordered_complex(a: ndarray, descending: bool) -> tuple[ndarray, ndarray]:
    """Rows of complex numbers: by real, then imaginary parts; those with NaN last, in imaginary parts before real."""
    last = _isnan(a.real).astype("i1") * 2 + _isnan(a.imag)
    places = f.broadcast_to(f.arange(a.shape[-1]), a.shape).copy()
    for key in (a.imag, a.real, f.asarray(last)):
        _, step = ordered(take_along_axis(key, places, -1).copy(), True, descending)
        places = take_along_axis(places, step, -1)
    return take_along_axis(a, places, -1), places


def _ordered_in_parts(a: ndarray, places: bool, descending: bool) -> tuple[ndarray, ndarray | None]:
    """Many rows of host memory: as many at once as are sorted without a kernel, longer ones one by one."""
    rows = a.reshape(-1, a.shape[-1])
    step = max(1, _TOGETHER // rows.shape[1])
    made, found = f.empty(rows.shape, a.dtype), f.empty(rows.shape if places else 0, numpy.int64)
    for first in range(0, rows.shape[0], step):
        part = rows[first : first + step]
        made[first : first + step], came_from = ordered(part if step > 1 else part[0], places, descending)
        if places:
            found[first : first + step] = came_from
    return made.reshape(a.shape), found.reshape(a.shape) if places else None


def _ordered_items(a: ndarray, places: bool, descending: bool) -> tuple[ndarray, ndarray | None]:
    """Rows of texts or records, which NumPy compares: here where they are given as lists."""
    turned = a[..., ::-1] if descending else a
    found = f.asarray(_host.call("argsort", numpy.argsort, turned, -1, "stable"))
    found = f.asarray(a.shape[-1] - 1 - found[..., ::-1]) if descending else found
    return take_along_axis(a, found, -1), found if places else None


def ordered(a: ndarray, places: bool, descending: bool = False) -> tuple[ndarray, ndarray | None]:
    """Rows of a (.., n) sorted, stable; with the places where elements came from."""
    from tessera import compute
    from tessera.compute._engine import on_cpu

    a = _items.numbers(a)
    if a._is_items:
        return _ordered_items(a, places, descending)
    if has_meaning(a):
        module = module_of(a.dtype)
        made, found = ordered(module.above(a), places, descending)
        return module.from_above(made, a.dtype), found
    if a.dtype.kind == "c":
        return _ordered_complex(a, descending)
    few = _core.numeric_order(a, places, descending)
    if few is not None:
        return few
    n, rows = a.shape[-1], a.size // max(a.shape[-1], 1)
    if rows > 1 and a.size > _TOGETHER and on_cpu():
        return _ordered_in_parts(a, places, descending)
    as_read = a.dtype.kind == "f" and _are_made_as_read(n, rows)
    keys = a if as_read else _keys(a)
    keys = keys if keys.flags.c_contiguous else keys.copy("C")
    made = f.empty(a.shape, a.dtype)
    if not a.size:
        return made, f.empty(a.shape, numpy.int64) if places else None
    items = memory(keys.reshape(-1), True)
    if as_read:
        items = compute.TransformIterator(items, _key_of, compute.types.from_numpy_dtype(a.dtype))
    options: dict[str, Any] = {
        "d_in_keys": items,
        "d_out_keys": memory(made.reshape(-1), True),
    }
    found = None
    if places:
        # half the bytes to move on a GPU, where a sort does nothing else
        place = numpy.int32 if a.device != "cpu" and n <= _INT32 else numpy.int64
        found = f.empty(a.shape, place)
        along = f.broadcast_to(f.arange(n, dtype=place), a.shape).copy()
        options |= {
            "d_in_values": memory(along.reshape(-1), True),
            "d_out_values": memory(found.reshape(-1), True),
        }
    options["order"] = compute.SortOrder.DESCENDING if descending else compute.SortOrder.ASCENDING
    options["num_items"] = a.size
    if rows == 1:
        compute.radix_sort(**options)
    else:
        bounds = memory(f.arange(0, (rows + 1) * n, n), True)
        compute.segmented_sort(
            **options, num_segments=rows, start_offsets_in=bounds[:-1], end_offsets_in=bounds[1:]
        )
    return made, None if found is None else found.astype(numpy.int64, copy=False)


def _along(a: Any, axis: Any, kind: Any, order: Any, stable: Any, least: int = 0) -> tuple[ndarray, int]:
    """The array and the axis of it to sort along; `least`: the axes that an array without one is taken to have."""
    if order is not None:
        raise ValueError("Cannot specify order when the array has no fields.")
    if kind is not None and stable is not None:
        raise ValueError("`kind` and keyword parameters can't be provided at the same time.")
    if kind is not None and not isinstance(kind, str):
        raise TypeError(f"sort kind must be str, not {type(kind).__name__}")
    if kind is not None and kind.lower()[:1] not in tuple("qmhs"):
        raise ValueError(f"sort kind must be one of 'quick', 'heap', or 'stable' (got {kind!r})")
    a = f.asarray(a)
    if axis is None:
        return f.ravel(a), 0
    return a, f.normalize(axis, a.ndim or least)


def sort(
    a: Any, axis: Any = -1, kind: Any = None, order: Any = None, *, stable: Any = None, descending: Any = False
) -> ndarray:
    """A sorted copy, NaN last. `descending` is of the array standard, not NumPy's: the greatest first, after NaN."""
    a, axis = _along(a, axis, kind, order, stable)
    made, _ = ordered(f.moveaxis(a, axis, -1), False, bool(descending))
    return f.moveaxis(made, -1, axis).copy() if axis != a.ndim - 1 else made


def argsort(
    a: Any, axis: Any = -1, kind: Any = None, order: Any = None, *, stable: Any = None, descending: Any = False
) -> ndarray:
    """Places of elements in sorted order, or in `descending` order; equal ones stay in order."""
    a, axis = _along(a, axis, kind, order, stable, 1)
    if not a.ndim:
        return f.zeros(1, numpy.int64)
    _, made = ordered(f.moveaxis(a, axis, -1), True, bool(descending))
    assert made is not None
    return f.moveaxis(made, -1, axis).copy() if axis != a.ndim - 1 else made


def _check_places(a: ndarray, kth: Any, axis: Any) -> None:
    if numpy.asarray(kth).dtype.kind not in "iub":
        raise TypeError("Partition index must be integer")
    extent = a.size if axis is None else a.shape[f.normalize(axis, a.ndim)]
    if numpy.asarray(kth).dtype == bool:
        raise ValueError("Booleans unacceptable as partition index")
    if a.size and any(not -extent <= int(k) < extent for k in numpy.atleast_1d(numpy.asarray(kth))):
        raise ValueError(f"kth(={kth}) out of bounds ({extent})")


def partition(
    a: Any, kth: Any, axis: Any = -1, kind: str = "introselect", order: Any = None
) -> ndarray:
    """A copy with the elements at the places kth where sorting would put them."""
    a = f.asarray(a)
    _check_places(a, kth, axis)
    if not a.size:
        return f.ravel(a).copy() if axis is None else a.copy()
    return sort(a, axis)


def argpartition(
    a: Any, kth: Any, axis: Any = -1, kind: str = "introselect", order: Any = None
) -> ndarray:
    """Places of elements as `partition` puts them."""
    a = f.asarray(a)
    a = a if a.ndim else a.reshape(1)
    _check_places(a, kth, axis)
    return argsort(a, axis)


def searchsorted(a: Any, v: Any, side: str = "left", sorter: Any = None) -> Any:
    """Where elements of v would be put into sorted a."""
    from tessera import compute

    if side not in ("left", "right"):
        raise ValueError(f"search side must be 'left' or 'right' (got {side!r})")
    a, v = f.asarray(a), f.asarray(v)  # numbers do not give way here
    if a.ndim != 1:
        raise ValueError(f"searchsorted: a must have one axis, found an array of shape {a.shape}")
    if sorter is not None:
        sorter = f.asarray(sorter)
        if sorter.dtype.kind not in "iu":
            raise TypeError("sorter must only contain integers")
        if sorter.ndim != 1:
            raise TypeError(f"could not parse sorter argument: it has one axis, found shape {sorter.shape}")
        if sorter.shape != a.shape:
            raise ValueError(f"sorter.size must equal a.size, found {sorter.size} and {a.size}")
        if sorter.size and (bool(_min_of(sorter) < 0) or bool(_max_of(sorter) >= a.size)):
            raise ValueError(f"Sorter index out of range: {a.size} elements have places 0 to {a.size - 1}")
        a = take(a, sorter)
    dtype = f.result_type(a, v)
    if not _items.is_number(dtype):
        return _host.call("searchsorted", numpy.searchsorted, a, v, side)
    if has_meaning(dtype):
        for given in (a.dtype, v.dtype):
            if not f.can_cast(given, dtype):
                raise TypeError(
                    f"Cannot cast array data from {given!r} to {dtype!r} according to the rule 'safe'"
                )
        above = module_of(dtype).above
        return searchsorted(above(a.astype(dtype, copy=False)), above(v.astype(dtype, copy=False)), side)
    a, v = a.astype(dtype, copy=False), v.astype(dtype, copy=False)
    few = _core.numeric_search(a, v, side == "right")
    if few is not None:
        return few
    if dtype.kind in "fc":
        return _search_floats(a, v, side)
    data, keys = (x.astype(dtype).copy("C") for x in (a, v))
    made = f.empty(keys.shape, numpy.uintp)
    search = compute.lower_bound if side == "left" else compute.upper_bound
    if keys.size:
        search(d_data=memory(data, True), num_items=data.size, d_values=memory(keys.reshape(-1), True),
               num_values=keys.size, d_out=memory(made.reshape(-1), True))  # fmt: skip
    return scalar_of(made.astype(numpy.int64))


def _search_floats(a: ndarray, v: ndarray, side: str) -> Any:
    """The same of floats: NaN is above all numbers, so those are searched, and NaN has its own answer."""
    from tessera import compute

    if a.dtype.kind == "c":
        return _search_complex(a, v, side)
    data, keys = a.copy("C"), v.copy("C")
    n = data.size - int(f.asarray(_isnan(data)).sum())
    made = f.empty(keys.shape, numpy.uintp)
    search = compute.lower_bound if side == "left" else compute.upper_bound
    if keys.size:
        search(d_data=memory(data, True), num_items=n, d_values=memory(keys.reshape(-1), True), num_values=keys.size,
               d_out=memory(made.reshape(-1), True))  # fmt: skip
    made = made.astype(numpy.int64)
    return scalar_of(f.asarray(select(_isnan(keys), n if side == "left" else data.size, made)))


def _search_complex(a: ndarray, v: ndarray, side: str) -> Any:
    """The same of complex numbers, which have an order but no key: both are sorted together, equals of v first or
    last."""
    keys = f.ravel(v)
    parts = [keys, a] if side == "left" else [a, keys]
    _, places = ordered(concatenate(parts).reshape(1, -1), True)
    order = f.ravel(f.asarray(places))
    is_of_a = order >= keys.size if side == "left" else order < a.size
    before = f.empty(order.shape, numpy.int64)
    before[order] = cumsum(f.asarray(is_of_a))
    found = before[: keys.size] if side == "left" else before[a.size :]
    return scalar_of(found.reshape(v.shape))


# -- sets ----------------------------------------------------------------------------------------------


class UniqueAllResult(NamedTuple):
    values: ndarray
    indices: ndarray
    inverse_indices: ndarray
    counts: ndarray


class UniqueCountsResult(NamedTuple):
    values: ndarray
    counts: ndarray


class UniqueInverseResult(NamedTuple):
    values: ndarray
    inverse_indices: ndarray


def _unique(a: ndarray, equal_nan: bool, first: bool, inverse: bool, counts: bool) -> tuple[ndarray, ...]:
    """Values and, as they are wanted, first places, which value each element is, how often each occurs."""
    flat = f.ravel(a)
    made: Any = _core.numeric_unique(flat, equal_nan, first, inverse, counts)
    return tuple(made) if made is not None else _unique_sorted(flat, equal_nan, first, inverse, counts)


def _unique_sorted(a: ndarray, equal_nan: bool, first: bool, inverse: bool, counts: bool) -> tuple[ndarray, ...]:
    """The same by a sort; only first places and inverses need to know where elements came from."""
    keys, places = ordered(a, first or inverse)
    n = keys.size
    along = _core.numeric_iota(n)
    if keys._is_items:
        before = concatenate([keys[:1], keys[:-1]])
    else:  # in the kernels that read it
        before = _core.numeric_gather(keys, along - (along > 0)) if n else keys
    same = keys == before
    if equal_nan and has_meaning(keys):
        same = f.asarray(plain(keys) == plain(before))
    if equal_nan and keys.dtype.kind in "fc":
        same = same | ((keys != keys) & (before != before))
    new = f.asarray(~same | (along == 0))
    made = [f.asarray(keys[new])]
    if first:
        made.append(f.asarray(places[new]))
    if inverse:
        made.append(f.empty(n, numpy.int64))
        if n:
            _core.numeric_scatter(made[-1], places, cumsum(new) - 1, True)
    if counts:
        begins = flatnonzero(new)
        made.append(concatenate([begins[1:], f.array([n])]) - begins)
    return tuple(made)


def unique(ar: Any, return_index: bool = False, return_inverse: bool = False, return_counts: bool = False,
           axis: Any = None, *, equal_nan: bool = True, sorted: bool = True) -> Any:  # fmt: skip
    """The different elements, sorted; with first places, which each one is, and how many."""
    a = f.asarray(ar)
    if isinstance(axis, float):
        raise TypeError("integer argument expected, got float")
    if axis is not None:
        axis = f.normalize(axis, a.ndim)
    wants = bool(return_index), bool(return_inverse), bool(return_counts)
    if axis is not None and a.ndim != 1:
        values, *others = _unique_slices(a, axis)
        made = [values, *(each for each, wanted in zip(others, wants, strict=True) if wanted)]
    else:
        made = [*_unique(a, bool(equal_nan), *wants)]
        if a.dtype.kind == "c" and a.device == "cpu" and equal_nan and not any(wants):
            made[0] = _with_first_nan(made[0], a)
        if return_inverse:
            made[1 + wants[0]] = made[1 + wants[0]].reshape(a.shape)
    return made[0] if len(made) == 1 else tuple(made)


def _with_first_nan(values: ndarray, a: ndarray) -> ndarray:
    """Complex values of which NaN are one: the first of the array, not of those in order."""
    if values.size and bool(FUNCTIONS["isnan"](values[-1])):
        line = f.ravel(a)
        values[-1] = line[flatnonzero(FUNCTIONS["isnan"](line))[0]]
    return values


def _unique_slices(a: ndarray, axis: int) -> tuple[ndarray, ndarray, ndarray, ndarray]:
    """The same of slices along an axis: they are ordered by their first elements, then by the next; no NaN equals
    another."""
    moved = f.moveaxis(a, axis, 0)
    rows = moved.reshape(a.shape[axis], -1 if a.size else 0)
    n = rows.shape[0]
    places = f.arange(n)
    for k in range(rows.shape[1] - 1, -1, -1):
        _, step = ordered(rows[:, k][places].reshape(1, -1), True)
        places = places[f.ravel(f.asarray(step))]
    new = f.ones(n, bool)
    new[1:] = _any_of(f.asarray(rows[places[1:]] != rows[places[:-1]]), 1) if n else False
    first = flatnonzero(new)
    inverse = f.empty(n, numpy.int64)
    inverse[places] = cumsum(new) - 1
    counts = concatenate([first[1:], f.array([n])]) - first if n else first
    chosen = places[first]
    return f.moveaxis(moved[chosen], 0, axis), chosen, inverse, counts


def unique_all(x: Any) -> UniqueAllResult:
    """The different elements with everything that is known of them; no NaN equals another."""
    x = f.asarray(x)
    values, first, inverse, counts = _unique(x, False, True, True, True)
    return UniqueAllResult(values, first, inverse.reshape(x.shape), counts)


def unique_counts(x: Any) -> UniqueCountsResult:
    """The different elements and how many of each there are; no NaN equals another."""
    return UniqueCountsResult(*_unique(f.asarray(x), False, False, False, True))


def unique_inverse(x: Any) -> UniqueInverseResult:
    """The different elements and which each one is; no NaN equals another."""
    x = f.asarray(x)
    values, inverse = _unique(x, False, False, True, False)
    return UniqueInverseResult(values, inverse.reshape(x.shape))


def unique_values(x: Any) -> ndarray:
    """The different elements; no NaN equals another."""
    return _unique(f.asarray(x), False, False, False, False)[0]


def isin(element: Any, test_elements: Any, assume_unique: bool = False, invert: bool = False, *,
         kind: Any = None) -> Any:  # fmt: skip
    """Whether elements are among others."""
    element = f.asarray(element)
    if not isinstance(test_elements, ndarray):
        test_elements = f.asarray(test_elements, device=element.device)
    others = f.ravel(test_elements)
    if kind not in (None, "sort", "table"):
        raise ValueError(f"Invalid kind: '{kind}'. Please use None, 'sort' or 'table'.")
    if kind == "table" and not (element.dtype.kind in "biu" and others.dtype.kind in "biu"):
        raise ValueError("The 'table' method is only supported for boolean or integer arrays. "
                         "Please select 'sort' or None for kind.")  # fmt: skip
    if kind == "table" and others.size and others.dtype.kind in "iu":
        reach = int(others.max()) - int(others.min())
        if reach > numpy.iinfo(others.dtype).max:
            raise RuntimeError(f"kind='table': the elements span {reach}, more than the greatest {others.dtype}; "
                               "use kind=None or 'sort'")  # fmt: skip
    try:
        dtype = f.result_type(element, others)
        comparable = {element.dtype.kind, others.dtype.kind} != {"M", "m"}
    except numpy.exceptions.DTypePromotionError:
        comparable = False
    if not comparable:  # nothing is equal
        return f.full(element.shape, bool(invert), device=element.device)
    element, others = element.astype(dtype, copy=False), others.astype(dtype, copy=False)
    found = _core.numeric_among(element, others)
    if found is None:
        found = _are_among(element, others)
    return f.asarray(FUNCTIONS["logical_not"](found)) if invert else found


def _are_among(element: ndarray, others: ndarray) -> ndarray:
    """Whether elements are among others of their dtype, by places in them sorted."""
    others = sort(others)
    if not others.size:
        return f.zeros(element.shape, bool, device=element.device)
    places = FUNCTIONS["minimum"](searchsorted(others, element), others.size - 1)
    return f.asarray(take(others, places) == element)


def union1d(ar1: Any, ar2: Any) -> ndarray:
    """The different elements of both, sorted."""
    return unique(concatenate([ar1, ar2], None))


def _common(a: ndarray, b: ndarray, first: ndarray, other: ndarray, return_indices: bool) -> Any:
    """What both have in a dtype that does not hold all of their integers, of which some become equal."""
    every = concatenate([a, b])
    order = argsort(every, kind="stable")
    every = every[order]
    both = flatnonzero(every[1:] == every[:-1])
    values = every[both]
    return (values, first[order[both]], other[order[both + 1] - a.size]) if return_indices else values


def intersect1d(
    ar1: Any, ar2: Any, assume_unique: bool = False, return_indices: bool = False
) -> Any:
    """The different elements that are in both, sorted; with their first places."""
    a, first = unique(ar1, return_index=True)
    b, other = unique(ar2, return_index=True)
    dtype = f.result_type(a, b)
    if dtype.kind in "fc" and any(x.dtype.kind in "iu" and x.itemsize == 8 for x in (a, b)):
        return _common(a, b, first, other, return_indices)
    both = f.asarray(isin(a, b))
    values = f.shown_as(a[both].astype(dtype, copy=False), dtype)
    return values if not return_indices else (values, first[both], other[f.asarray(isin(b, a))])


def setdiff1d(ar1: Any, ar2: Any, assume_unique: bool = False) -> ndarray:
    """Elements of the first that are not in the second."""
    a = f.ravel(ar1) if assume_unique else unique(ar1)
    return a[f.asarray(isin(a, ar2, invert=True))]


def setxor1d(ar1: Any, ar2: Any, assume_unique: bool = False) -> ndarray:
    """The different elements that are in one of them, sorted."""
    if not assume_unique:
        return sort(concatenate([setdiff1d(ar1, ar2), setdiff1d(ar2, ar1)]))
    both = sort(concatenate([f.ravel(ar1), f.ravel(ar2)]))
    if not both.size:
        return both
    differs, end = f.asarray(both[1:] != both[:-1]), f.ones(1, bool)
    return both[concatenate([end, differs]) & concatenate([differs, end])]


def bincount(x: Any, /, weights: Any = None, minlength: int = 0) -> ndarray:
    """How often each whole number occurs."""
    given, x = x, f.empty(0, numpy.intp) if isinstance(x, (list, tuple)) and not x else f.asarray(x)
    if x.ndim == 1 and x.dtype.kind not in "iub" and isinstance(given, (list, tuple)):
        warnings.warn("bincount() of numbers that are not integers is deprecated, and cuts them off: convert them",
                      DeprecationWarning, stacklevel=2)  # fmt: skip
        x = f.asarray(numpy.array(given, numpy.intp))
    if x.ndim != 1:
        raise ValueError(
            "object too deep for desired array"
            if x.ndim
            else "object of too small depth for desired array"
        )
    if x.dtype.kind not in "iub":
        raise TypeError(
            f"Cannot cast array data from {x.dtype!r} to dtype('int64') according to the rule 'safe'"
        )
    if minlength < 0:
        raise ValueError("'minlength' must not be negative")
    x = x.astype(numpy.int64, copy=False)
    if weights is not None and x.size:
        return _weighted(x, f.asarray(weights), minlength)
    counted = _core.numeric_count(x, None, minlength)
    if counted is not None:
        return counted
    n = _extent_of(x, minlength)
    if n <= _COUNTERS:
        return _counted(x, n)
    values, counts = _unique(x, True, False, False, True)
    made = f.zeros(n, numpy.int64)
    if values.size:
        made[values] = counts
    return made


def _extent_of(x: ndarray, minlength: int) -> int:
    """How many counts there are of whole numbers, which must not be negative."""
    if not x.size:
        return minlength
    if bool(_min_of(x) < 0):
        raise ValueError("'list' argument must have no negative elements")
    return builtins.max(minlength, int(_max_of(x)) + 1)


def _counted(x: ndarray, n: int) -> ndarray:
    """How often each of n whole numbers occurs; others do not count."""
    from tessera import compute

    made = f.zeros(n, numpy.int64)
    if x.size and n:
        compute.histogram_even(
            d_samples=memory(x if x.flags.c_contiguous else x.copy("C"), True), d_histogram=memory(made, True),
            num_output_levels=n + 1, lower_level=numpy.int64(0), upper_level=numpy.int64(n), num_samples=x.size,
        )  # fmt: skip
    return made


def _summed(x: ndarray, weights: ndarray, n: int) -> ndarray:
    """The sum of the weights of each of n whole numbers: those of one number lie together after a stable sort."""
    from tessera import compute

    keys, along = x.astype(numpy.uint32 if n <= 1 << 32 else numpy.uint64), weights.copy("C")
    by_key, sorted_weights, made = f.empty_like(keys), f.empty_like(along), f.empty(n, weights.dtype)
    compute.radix_sort(
        d_in_keys=memory(keys, True), d_out_keys=memory(by_key, True), d_in_values=memory(along, True),
        d_out_values=memory(sorted_weights, True), order=compute.SortOrder.ASCENDING, num_items=x.size,
    )  # fmt: skip
    ends = cumsum(_counted(x, n))
    begins = ends - _counted(x, n)
    compute.segmented_reduce(
        d_in=memory(sorted_weights, True), d_out=memory(made, True), num_segments=n,
        start_offsets_in=memory(begins, True), end_offsets_in=memory(ends, True), op=compute.OpKind.PLUS,
        h_init=numpy.zeros(1, weights.dtype),
    )  # fmt: skip
    return made


def _weighted(x: ndarray, weights: ndarray, minlength: int) -> ndarray:
    """The sum of the weights of each whole number."""
    if weights.shape != x.shape:
        raise ValueError("The weights and list don't have the same length.")
    if not f.can_cast(weights.dtype, numpy.float64, "safe"):
        raise TypeError(
            f"Cannot cast array data from {weights.dtype!r} to dtype('float64') according to the rule 'safe'"
        )
    if not x.size:
        return f.zeros(minlength, numpy.int64)
    counted = _core.numeric_count(x, weights.astype(numpy.float64, copy=False), minlength)
    if counted is not None:
        return counted
    n = _extent_of(x, minlength)
    if n <= _COUNTERS:
        return _summed(x, weights.astype(numpy.float64), n)
    made = f.zeros(n, numpy.float64)
    FUNCTIONS["add"].at(made, x, weights.astype(numpy.float64))
    return made


def _bins_of(x: ndarray, edges: ndarray, width: float, dtype: Any = numpy.int64) -> ndarray:
    """The bin of each number as `numeric_bins` finds it (src/numeric/count.c), by kernels."""
    n = edges.size - 1
    first, last = edges[0], edges[n]
    whole = width or float(last) - float(first)
    by_one = n / whole if whole and n <= _NEAR else math.inf
    if 1e-30 < by_one < 1e30:  # a bin to the left or to the right is corrected by edges
        at = (x - first) * x.dtype.type(by_one)
    else:
        at = (x - first) / (numpy.float64(width) if width else last - first) * n
    inside = (x >= first) & (x <= last)
    bin = FUNCTIONS["minimum"](FUNCTIONS["maximum"](select(inside, at, 0), 0), n - 1).astype(numpy.int64)
    bin = bin - ((bin > 0) & (x < _core.numeric_gather(edges, bin)))
    bin = bin + ((bin != n - 1) & (x >= _core.numeric_gather(edges, bin + 1)))
    return f.asarray(select(inside, bin, n)).astype(dtype)


def _binned(x: ndarray, edges: ndarray, width: float) -> ndarray:
    """How many numbers lie in each bin."""
    n = edges.size - 1
    places = _core.numeric_bins(x, edges, width)
    if places is not None:
        return bincount(places, None, n + 1)[:n]
    small = n < numpy.iinfo(numpy.uint16).max  # few bytes to write and to read again
    return _counted(_bins_of(x, edges.to_device(x.device), width, numpy.uint16 if small else numpy.int64), n)


def _is_binned(a: Any, bins: Any, range: Any, weights: Any) -> bool:
    """Whether the bins are even and numbers are compared with edges of their own dtype."""
    if type(a) is not ndarray or a.dtype.char not in "fd" or not isinstance(bins, (int, str)):
        return False
    if range is not None:  # numbers of Python, which no dtype rounds
        if not isinstance(range, (tuple, list)) or len(range) != 2:
            return False
        if not all(type(each) in (int, float) and abs(each) < 2**53 for each in range):
            return False
    return weights is None or (
        type(weights) is ndarray and weights.dtype.kind in "fiu" and f.can_cast(weights.dtype, numpy.float64, "safe")
    )


def _width_of(first: float, last: float) -> float:
    """Between the edges of a range; of one number it reaches half a unit to both sides."""
    return float(last) - float(first) or (first + 0.5) - (first - 0.5)


def histogram(a: Any, bins: Any = 10, range: Any = None, density: Any = None, weights: Any = None) -> Any:
    """How many numbers lie in each bin, or the sum of their weights; and the edges."""
    program = _numpys.adopt("numpy.lib._histograms_impl")
    if not _is_binned(a, bins, range, weights):
        return program["histogram"](a, bins, range, density, weights)
    x = a.reshape(-1)
    between = range
    if range is None and isinstance(bins, int) and x.size and x.device != "cpu":
        found = ends(x)
        between = found if numpy.isfinite(found).all() else None  # else the error is of elements, not of a range
    edges = program["histogram_bin_edges"](a, bins, between, weights)
    n = edges.size - 1
    if edges.dtype != x.dtype or not x.size:
        return program["histogram"](a, bins, range, density, weights)
    width = 0.0 if range is None else _width_of(*range)
    if weights is None:
        made = _binned(x, edges, width)
        return (made / (edges[1:] - edges[:-1]).astype(float) / made.sum() if density else made), edges
    places = _core.numeric_bins(x, edges, width)
    if places is None:
        places = _bins_of(x, edges.to_device(x.device), width)
    if x.device != "cpu":  # another order of sums than NumPy's
        made = bincount(places, weights.reshape(-1), n + 1)[:n].astype(weights.dtype, copy=False)
    else:
        made, w = f.zeros(n, weights.dtype), weights.reshape(-1)
        for i in builtins.range(0, x.size, _BLOCK):
            made += bincount(places[i : i + _BLOCK], w[i : i + _BLOCK], n + 1)[:n].astype(w.dtype)
    if density:
        return made / (edges[1:] - edges[:-1]).astype(float) / made.sum(), edges
    return made, edges


def _sort_in_place(
    self: ndarray, axis: int = -1, kind: Any = None, order: Any = None, *, stable: Any = None
) -> None:
    """Sorts the array."""
    self[...] = sort(self, axis, kind, order, stable=stable)


def _argsort(
    self: ndarray, axis: Any = -1, kind: Any = None, order: Any = None, *, stable: Any = None
) -> ndarray:
    """Places of elements in sorted order."""
    return argsort(self, axis, kind, order, stable=stable)


def _searchsorted(self: ndarray, v: Any, side: str = "left", sorter: Any = None) -> Any:
    """Where elements of v would be put into this array."""
    return searchsorted(self, v, side, sorter)


def _partition(
    self: ndarray, kth: Any, axis: int = -1, kind: str = "introselect", order: Any = None
) -> None:
    """Puts the elements that sorting would put at places kth there, lesser ones before them."""
    self[...] = partition(self, kth, axis, kind, order)


def _argpartition(
    self: ndarray, kth: Any, axis: Any = -1, kind: str = "introselect", order: Any = None
) -> ndarray:
    """Places of elements in an order that `partition` makes."""
    return argpartition(self, kth, axis, kind, order)


for _method in (_sort_in_place, _partition):
    _method.is_in_place = True  # type: ignore[attr-defined] # it is not the function of its name

METHODS = {
    "sort": _sort_in_place,
    "argsort": _argsort,
    "searchsorted": _searchsorted,
    "partition": _partition,
    "argpartition": _argpartition,
}
