# SPDX-License-Identifier: Apache-2.0
"""Arrays joined, split and repeated. Signatures are NumPy's."""

from __future__ import annotations

import itertools
import operator
from typing import Any

import numpy

from .. import _core
from ._functions import (
    as_class,
    asanyarray,
    asarray,
    atleast_1d,
    atleast_2d,
    atleast_3d,
    can_cast,
    copy,
    empty,
    empty_like,
    expand_dims,
    moveaxis,
    normalize,
    normalize_many,
    priority,
    ravel,
    reshape,
    result_type,
)
from ._ndarray import ndarray
from ._setup import WEAK_KINDS, dtype_of, place, warn_of_lost_parts


def _ranking(arrays: Any) -> Any:
    """The array in whose class arrays are joined: of the highest rank above 0; None: that is ndarray."""
    derived = [a for a in arrays if isinstance(a, ndarray) and type(a) is not ndarray and priority(a) > 0]
    return max(derived, key=priority) if derived else None


def concatenate(arrays: Any, /, axis: Any = 0, out: Any = None, *, dtype: Any = None,
                casting: str = "same_kind") -> ndarray:  # fmt: skip
    """Arrays behind each other along an axis that all have."""
    if out is None and dtype is None and type(axis) is int:
        joined = _core.numeric_join(arrays, axis)
        if joined is not None:
            return joined
    kinds = [a if axis is None and type(a) in (int, float, complex) else None for a in arrays]
    parts, like = [asarray(a) for a in arrays], _ranking(arrays) if out is None else None
    if not parts:
        raise ValueError("need at least one array to concatenate")
    if axis is None:
        parts, axis = [ravel(a) for a in parts], 0
    if not parts[0].ndim:
        raise ValueError("zero-dimensional arrays cannot be concatenated")
    axis = normalize(axis, parts[0].ndim)
    for i, a in enumerate(parts):
        if a.ndim != parts[0].ndim:
            raise ValueError(
                "all the input arrays must have same number of dimensions, but the array at index 0 has "
                f"{parts[0].ndim} dimension(s) and the array at index {i} has {a.ndim} dimension(s)"
            )
        for d in range(a.ndim):
            if d != axis and a.shape[d] != parts[0].shape[d]:
                raise ValueError(
                    "all the input array dimensions except for the concatenation axis must match exactly, but along "
                    f"dimension {d}, the array at index 0 has size {parts[0].shape[d]} and the array at index {i} has "
                    f"size {a.shape[d]}"
                )
    shape = [*parts[0].shape]
    shape[axis] = sum(a.shape[axis] for a in parts)
    if out is None:
        given = (a if n is None else n for a, n in zip(parts, kinds, strict=True))
        found = result_type(*given) if dtype is None else dtype_of(dtype)
        columns = all(a.flags.fnc for a in parts)
        out = empty(shape, found, "F" if columns else "C", device=parts[0].device)
    elif dtype is not None:
        raise TypeError(
            "concatenate() only takes `out` or `dtype` as an argument, but both were provided."
        )
    elif out.shape != tuple(shape):
        raise ValueError("Output array is the wrong shape")
    at = 0
    for a, number in zip(parts, kinds, strict=True):
        if out.dtype.kind in WEAK_KINDS.get(type(number), ""):
            a = asarray(numpy.asarray(number).astype(out.dtype)).reshape(1)  # which may wrap
        if not can_cast(a, out.dtype, casting):
            raise TypeError(
                f"Cannot cast array data from {a.dtype!r} to {out.dtype!r} according to the rule '{casting}'"
            )
        if a.dtype.kind == "c" and out.dtype.kind != "c":
            warn_of_lost_parts()
        key = (slice(None),) * axis + (slice(at, at + a.shape[axis]),)
        out[key] = a
        at += a.shape[axis]
    return out if like is None else as_class(out, like)


concat = concatenate


def _listed_arrays(arrays: Any) -> Any:
    """Arrays to join, of a sequence."""
    if not hasattr(arrays, "__getitem__"):
        raise TypeError('arrays to stack must be passed as a "sequence" type such as list or tuple.')
    if any(isinstance(a, ndarray) and not a.ndim for a in arrays):  # they take part where the others lie, as numbers do
        where = next((a.device for a in arrays if isinstance(a, ndarray) and a.ndim), None)
        return [place(a, where) if isinstance(a, ndarray) and not a.ndim and where else a for a in arrays]
    return arrays


def stack(
    arrays: Any, axis: int = 0, out: Any = None, *, dtype: Any = None, casting: str = "same_kind"
) -> ndarray:
    """Arrays of one shape side by side along a new axis."""
    parts = [asanyarray(a) for a in _listed_arrays(arrays)]
    if not parts:
        raise ValueError("need at least one array to stack")
    if len({a.shape for a in parts}) != 1:
        raise ValueError("all input arrays must have the same shape")
    axis = normalize(axis, parts[0].ndim + 1)
    key = (slice(None),) * axis + (None,)  # which derived classes may take otherwise
    parts = [expand_dims(a, axis) if type(a) is ndarray else a[key] for a in parts]
    return concatenate(parts, axis, out, dtype=dtype, casting=casting)


def vstack(tup: Any, *, dtype: Any = None, casting: str = "same_kind") -> ndarray:
    """Arrays one below the other."""
    parts = atleast_2d(*_listed_arrays(tup))
    return concatenate(
        parts if isinstance(parts, tuple) else [parts], 0, dtype=dtype, casting=casting
    )


def hstack(tup: Any, *, dtype: Any = None, casting: str = "same_kind") -> ndarray:
    """Arrays side by side."""
    parts = tup if type(tup) in (list, tuple) else _listed_arrays(tup)
    if not (len(parts) and all(type(a) is ndarray and a.ndim for a in parts)):
        parts = atleast_1d(*_listed_arrays(tup))
        parts = parts if isinstance(parts, tuple) else (parts,)
    return concatenate(
        parts, 0 if len(parts) and parts[0].ndim == 1 else 1, dtype=dtype, casting=casting
    )


def dstack(tup: Any) -> ndarray:
    """Arrays behind each other along the third axis."""
    parts = atleast_3d(*_listed_arrays(tup))
    return concatenate(parts if isinstance(parts, tuple) else [parts], 2)


def column_stack(tup: Any) -> ndarray:
    """Vectors as columns, matrices as they are."""
    return concatenate([a if a.ndim > 1 else atleast_2d(a).T for a in map(asanyarray, _listed_arrays(tup))], 1)


def unstack(x: Any, /, *, axis: int = 0) -> tuple[ndarray, ...]:
    """The arrays along an axis."""
    x = asarray(x)
    if not x.ndim:
        raise ValueError("Input array must be at least 1-d.")
    return tuple(moveaxis(x, axis, 0))


def array_split(ary: Any, indices_or_sections: Any, axis: int = 0) -> list[ndarray]:
    """Views of parts along an axis: before and between indices, or so many of about one size."""
    a = asarray(ary)
    n = a.shape[axis]
    try:
        bounds = [0, *map(operator.index, indices_or_sections), n]
    except TypeError:
        parts = operator.index(indices_or_sections)
        if parts <= 0:
            raise ValueError("number sections must be larger than 0.") from None
        each, extra = divmod(n, parts)
        bounds = [0]
        for i in range(parts):
            bounds.append(bounds[-1] + each + (i < extra))
    key = (slice(None),) * normalize(axis, a.ndim)
    return [a[(*key, slice(i, j))] for i, j in itertools.pairwise(bounds)]


def split(ary: Any, indices_or_sections: Any, axis: int = 0) -> list[ndarray]:
    """Views of parts along an axis, of one size if a number is given."""
    try:
        len(indices_or_sections)
    except TypeError:
        if asarray(ary).shape[axis] % indices_or_sections:
            raise ValueError("array split does not result in an equal division") from None
    return array_split(ary, indices_or_sections, axis)


def hsplit(ary: Any, indices_or_sections: Any) -> list[ndarray]:
    """Parts along the second axis; of a vector along its own."""
    a = asarray(ary)
    if not a.ndim:
        raise ValueError("hsplit only works on arrays of 1 or more dimensions")
    return split(a, indices_or_sections, 1 if a.ndim > 1 else 0)


def vsplit(ary: Any, indices_or_sections: Any) -> list[ndarray]:
    """Parts along the first axis."""
    if asarray(ary).ndim < 2:
        raise ValueError("vsplit only works on arrays of 2 or more dimensions")
    return split(ary, indices_or_sections, 0)


def dsplit(ary: Any, indices_or_sections: Any) -> list[ndarray]:
    """Parts along the third axis."""
    if asarray(ary).ndim < 3:
        raise ValueError("dsplit only works on arrays of 3 or more dimensions")
    return split(ary, indices_or_sections, 2)


def tile(A: Any, reps: Any) -> ndarray:
    """The array repeated along its axes."""
    a = asarray(A)
    reps = tuple(reps) if hasattr(reps, "__iter__") else (reps,)
    rank = max(a.ndim, len(reps))
    reps = (1,) * (rank - len(reps)) + reps
    a = a.reshape((1,) * (rank - a.ndim) + a.shape)
    if not a.size and reps != (1,) * rank:  # a view, as NumPy's
        return a.reshape([n * r for n, r in zip(a.shape, reps, strict=True)])
    made = empty([n * r for n, r in zip(a.shape, reps, strict=True)], a.dtype)
    pairs = [m for n, r in zip(a.shape, reps, strict=True) for m in (r, n)]
    spread = a.reshape([m for n in a.shape for m in (1, n)])
    made.reshape(pairs)[...] = spread
    return made


def end_to_end(like: ndarray, parts: Any, axis: int = 0) -> ndarray:
    """Arrays behind each other as items of one of them: in its byte order, which `concatenate` makes the machine's."""
    return concatenate(parts, axis, dtype=None if like.dtype.isnative else like.dtype)


def _rolled(a: ndarray, shifts: dict[int, int]) -> ndarray:
    """Elements moved along axes, in a new array: for each axis what comes in, and what stays."""
    if len(shifts) == 1 and (a.ndim == 1 or a.flags.c_contiguous):
        ((d, by),) = shifts.items()
        by = by % a.shape[d] if a.shape[d] else 0
        if not by:
            return copy(a)
        if not d:
            return end_to_end(a, (a[-by:], a[:-by]))
        key = (slice(None),) * d
        return end_to_end(a, (a[(*key, slice(-by, None))], a[(*key, slice(None, -by))]), d)
    made, parts = empty_like(a), []
    for d, n in enumerate(a.shape):
        by = shifts.get(d, 0) % n if n else 0
        stays = (slice(by, None), slice(None, n - by))
        parts.append([stays, (slice(None, by), slice(n - by, None))] if by else [stays])
    for part in itertools.product(*parts):
        made[tuple(to for to, _ in part)] = a[tuple(at for _, at in part)]
    return made


def roll(a: Any, shift: Any, axis: Any = None) -> ndarray:
    """Elements moved along axes; those that leave come in on the other side."""
    a = asarray(a)
    if axis is None:
        flat = a if a.ndim == 1 else ravel(a)
        made = _rolled(flat, {0: shift}) if type(shift) is int else roll(flat, shift, 0)
        return made if a.ndim == 1 else reshape(made, a.shape)
    axes = normalize_many(axis, a.ndim, allow_duplicate=True)
    pairs = numpy.broadcast(shift, axes)
    if pairs.ndim > 1:
        raise ValueError("'shift' and 'axis' should be scalars or 1D sequences")
    sums: dict[int, int] = {}
    for by, d in pairs:
        sums[int(d)] = sums.get(int(d), 0) + int(by)
    return _rolled(a, sums) if sums else copy(a)


def append(arr: Any, values: Any, axis: Any = None) -> ndarray:
    """Values behind an array."""
    if axis is None:
        return concatenate((ravel(arr), ravel(values)))
    return concatenate((arr, values), axis)


def _pairs(width: Any, rank: int) -> list[tuple[int, int]] | None:
    """How many elements come before and behind each axis; None: it is said in another way."""
    if type(width) is int:
        pairs = [(width, width)] * rank
    elif type(width) in (tuple, list) and len(width) == 2 and type(width[0]) is type(width[1]) is int:
        pairs = [(width[0], width[1])] * rank
    else:
        return None
    return pairs if min(pairs[0]) >= 0 else None


def pad(array: Any, pad_width: Any, mode: Any = "constant", **kwargs: Any) -> Any:
    """An array with elements around it: zeros, or what a mode says."""
    pairs = _pairs(pad_width, array.ndim) if type(array) is ndarray and array.ndim else None
    if pairs is None or mode != "constant" or kwargs or array.dtype.kind not in "biufc":
        from ._numpys import program_of

        return program_of("pad")(array, pad_width, mode, **kwargs)
    shape = [before + n + behind for (before, behind), n in zip(pairs, array.shape, strict=True)]
    if array.ndim == 1:
        zeros = empty(max(pairs[0]), array.dtype, device=array.device)
        zeros[...] = 0
        return end_to_end(array, (zeros[: pairs[0][0]], array, zeros[: pairs[0][1]]))
    made = empty(shape, array.dtype, "F" if array.flags.fnc else "C", device=array.device)
    inner = [slice(before, before + n) for (before, _), n in zip(pairs, array.shape, strict=True)]
    made[tuple(inner)] = array
    for d, (before, behind) in enumerate(pairs):  # what lies beside the axes before is written already
        key = [slice(None)] * d
        made[(*key, slice(before))] = 0
        made[(*key, slice(shape[d] - behind, None))] = 0
    return made
