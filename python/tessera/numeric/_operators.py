# SPDX-License-Identifier: Apache-2.0
"""Functions that are made of a few calls: rounding, comparing whole arrays, parts of complex numbers, grids."""

from __future__ import annotations

import builtins
import math
import operator
import warnings
from typing import Any

import numpy

from . import _functions as f
from . import _reduce as r
from ._joining import concatenate
from ._meanings import has_meaning
from ._ndarray import is_derived, ndarray
from ._setup import ALL_FAULTS, CLIP, NO_VALUE, told_as
from ._ufunc import FUNCTIONS, select

INNER = ("power_operator",)
_power = FUNCTIONS["power"]
_SQUARE = FUNCTIONS["square"]
# Of floats, as NumPy has it.
_POWERS = {(int, 2): _SQUARE, (float, 2.0): _SQUARE, (float, 0.5): FUNCTIONS["sqrt"],
           (int, -1): FUNCTIONS["reciprocal"]}  # fmt: skip
_maximum, _minimum, _isnan = FUNCTIONS["maximum"], FUNCTIONS["minimum"], FUNCTIONS["isnan"]


def power_operator(x: Any, y: Any, out: Any = None) -> Any:
    """``x ** y`` and ``x **= y``."""
    kinds = {int: "biufc", float: "fc"}.get(type(y), "")
    if isinstance(x, ndarray) and x.dtype.kind in kinds:
        short = _POWERS.get((type(y), y)) if x.dtype.kind in "fc" or y == 2 else None
        if short is not None:
            return short(x, out)
    return _power(x, y, out)


# -- numbers -------------------------------------------------------------------------------------------


def clip(a: Any, a_min: Any = NO_VALUE, a_max: Any = NO_VALUE, out: Any = None, *, min: Any = NO_VALUE,
         max: Any = NO_VALUE, **kwargs: Any) -> Any:  # fmt: skip
    """Elements brought between two limits."""
    if a_min is NO_VALUE and a_max is NO_VALUE:
        a_min, a_max = None if min is NO_VALUE else min, None if max is NO_VALUE else max
    elif a_min is NO_VALUE:
        raise TypeError("clip() missing 1 required positional argument: 'a_min'")
    elif a_max is NO_VALUE:
        raise TypeError("clip() missing 1 required positional argument: 'a_max'")
    elif min is not NO_VALUE or max is not NO_VALUE:
        raise ValueError(
            "Passing `min` or `max` keyword argument when `a_min` and `a_max` are provided is forbidden."
        )
    given, a = a, f.asarray(a)
    if a.dtype.kind in "iu":  # limits that every number of the dtype keeps
        span = numpy.iinfo(a.dtype)
        a_min = None if type(a_min) is int and a_min <= span.min else a_min
        a_max = None if type(a_max) is int and a_max >= span.max else a_max
    if a_min is None and a_max is None:
        return FUNCTIONS["positive"](a, out, **kwargs)
    if a_min is None:
        return _minimum(a, a_max, out, **kwargs)
    if a_max is None:
        return _maximum(a, a_min, out, **kwargs)
    bounds = [x if type(x) in (int, float, complex) else f.asarray(x) for x in (a_min, a_max)]
    kept = {"f": (int, float), "c": (int, float, complex)}.get(a.dtype.kind, (int,))  # bounds that change no dtype
    is_mixed = a.dtype.kind in "biufc" and builtins.any(type(x) not in kept for x in bounds)
    asked = {key: kwargs[key] for key in ("dtype", "signature", "casting") if key in kwargs}
    if is_mixed and "dtype" not in kwargs:
        kwargs["dtype"] = f.result_type(a, *bounds)  # of all three at once
    try:
        if not is_derived(out) and "dtype" not in asked:
            return _minimum(_maximum(a, a_min, **kwargs), a_max, out, **kwargs)
        if not is_derived(out):  # NumPy casts one axis before its loop, which tells of no elements that it casts itself
            is_silent = a.ndim > 1 and (out is None or f.can_cast(numpy.dtype(asked["dtype"]), out.dtype, "safe"))
            faults = 0 if is_silent else ALL_FAULTS
            return told_as("cast", faults, lambda: _minimum(_maximum(a, a_min, **kwargs), a_max, out, **kwargs))
        _minimum(_maximum(a, a_min, **kwargs), a_max, f.as_class(out, None), **kwargs)
    except (TypeError, ValueError):
        if not has_meaning(a) and (out is None or isinstance(out, ndarray)):
            from ._ufunc_methods import fail_first

            fail_first("clip", (given, a_min, a_max), (out,), **asked)
        raise
    return out.__array_wrap__(out, (CLIP, (given, a_min, a_max, out), 0), False)  # which asks all three for masks


_MOST_DECIMALS = 308  # of float64, beyond which a power of 10 is infinite


def round(a: Any, decimals: int = 0, out: Any = None) -> Any:
    """Elements rounded to decimals, halves to even."""
    a, decimals = f.asarray(a), operator.index(decimals)
    rint = FUNCTIONS["rint"]
    if out is not None and not isinstance(out, (ndarray, numpy.ndarray)):
        raise TypeError("output must be an array")
    if out is not None and out.size != a.size:
        raise ValueError(f"invalid output shape: {out.shape}, but the result has {a.shape}")
    if a.dtype.kind in "iu" and decimals >= 0:
        if out is None:
            return r.scalar_of(f.copy(a))
        f.copyto(out, a)
        return out
    if a.dtype.kind == "b":
        if decimals:
            raise TypeError("bools are rounded to no decimals: round(a, 0), or a.astype(float)")
        a = a.astype(numpy.float16)
    if a.dtype.kind == "c" and (decimals or out is not None):
        made = f.empty(a.shape, a.dtype) if out is None else out
        made.real, made.imag = round(a.real, decimals), round(a.imag, decimals)  # of real numbers there is no imag
        return r.scalar_of(made) if out is None else out
    if decimals == 0:
        return rint(a, out)
    by = 10.0 ** builtins.abs(decimals) if builtins.abs(decimals) <= _MOST_DECIMALS else math.inf
    if out is not None:  # whose dtype each step has
        first, last = ("multiply", "divide") if decimals > 0 else ("divide", "multiply")
        FUNCTIONS[first](a, by, out)
        return FUNCTIONS[last](rint(out, out), by, out)
    if a.dtype.kind in "iu":
        return r.scalar_of(f.asarray(rint(f.asarray(a / by)) * by).astype(a.dtype))
    return rint(a * by) / by if decimals > 0 else rint(a / by) * by


around = round


def fix(x: Any, out: Any = None) -> Any:
    """Elements without their fraction."""
    return FUNCTIONS["trunc"](x, out)


def nan_to_num(
    x: Any, copy: bool = True, nan: Any = 0.0, posinf: Any = None, neginf: Any = None
) -> Any:
    """NaN and infinities replaced by numbers."""
    x = f.array(x, copy=copy or None)
    if x.dtype.kind not in "fc":
        return r.scalar_of(x)
    parts = (x.real, x.imag) if x.dtype.kind == "c" else (x,)
    for part in parts:
        info = numpy.finfo(part.dtype)
        high, low = info.max if posinf is None else posinf, info.min if neginf is None else neginf
        found = _isnan(part), part == math.inf, part == -math.inf  # before any is replaced
        for value, where in zip((nan, high, low), found, strict=True):
            f.copyto(part, value, where=where)
    return r.scalar_of(x)


def _has_parts(x: Any) -> bool:
    return hasattr(x, "real") and not isinstance(x, numpy.ndarray)


def real(val: Any) -> Any:
    """The real part."""
    return val.real if _has_parts(val) else f.asarray(val).real


def imag(val: Any) -> Any:
    """The imaginary part."""
    return val.imag if _has_parts(val) else f.asarray(val).imag


def angle(z: Any, deg: bool = False) -> Any:
    """Angles of complex numbers."""
    z = f.asarray(z)
    made = (
        FUNCTIONS["arctan2"](z.imag, z.real)
        if z.dtype.kind == "c"
        else FUNCTIONS["arctan2"](0, z)  # not z * 0, whose sign is z's
    )
    return made * (180 / math.pi) if deg else made


def iscomplexobj(x: Any) -> bool:
    """Whether the dtype is complex."""
    return f.asarray(x).dtype.kind == "c"


def isrealobj(x: Any) -> bool:
    """Whether the dtype is not complex."""
    return not iscomplexobj(x)


def iscomplex(x: Any) -> Any:
    """Whether the imaginary part is not 0."""
    x = f.asarray(x)
    return x.imag != 0 if x.dtype.kind == "c" else r.scalar_of(f.zeros(x.shape, bool))


def isreal(x: Any) -> Any:
    """Whether the imaginary part is 0."""
    return f.asarray(x).imag == 0


def _is_infinity(x: Any, which: float, out: Any) -> Any:
    x = f.asarray(x)
    if x.dtype.kind == "c":
        raise TypeError(f"infinities have no sign in complex numbers, found an array of {x.dtype}")
    return FUNCTIONS["equal"](x, which, out)


def isposinf(x: Any, out: Any = None) -> Any:
    """Whether it is positive infinity."""
    return _is_infinity(x, math.inf, out)


def isneginf(x: Any, out: Any = None) -> Any:
    """Whether it is negative infinity."""
    return _is_infinity(x, -math.inf, out)


def sinc(x: Any) -> Any:
    """sin(pi x) / (pi x); 1 at 0."""
    x = f.asarray(x) * math.pi
    y = f.asarray(select(x == 0, numpy.finfo(x.dtype).eps if x.dtype.kind == "f" else 1e-20, x))
    return FUNCTIONS["sin"](y) / y


# -- whole arrays --------------------------------------------------------------------------------------


def isclose(a: Any, b: Any, rtol: Any = 1e-05, atol: Any = 1e-08, equal_nan: bool = False) -> Any:
    """Whether elements are nearly equal."""
    numbers = (int, float, complex)  # which take the dtype of arrays
    a, b, rtol, atol = (x if type(x) in numbers else f.asarray(x) for x in (a, b, rtol, atol))
    if not builtins.all(builtins.bool(r.all(FUNCTIONS["isfinite"](x))) for x in (rtol, atol)):
        warnings.warn(f"One of rtol or atol is not valid, atol: {atol}, rtol: {rtol}", RuntimeWarning, stacklevel=2)
    if isinstance(b, ndarray) and b.dtype.kind != "m":
        b = b.astype(f.result_type(b, 1.0), copy=False)
    elif type(b) is int:
        b = float(b)
    with numpy.errstate(invalid="ignore"):
        near = builtins.abs(a - b) <= atol + rtol * builtins.abs(b)
        made = f.asarray(near) & FUNCTIONS["isfinite"](b) | f.asarray(a == b)
        return made | (_isnan(a) & _isnan(b)) if equal_nan else made


def allclose(
    a: Any, b: Any, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False
) -> bool:
    """Whether all elements are nearly equal."""
    return builtins.bool(r.all(isclose(a, b, rtol, atol, equal_nan)))


def array_equal(a1: Any, a2: Any, equal_nan: bool = False) -> bool:
    """Whether shapes and all elements are equal."""
    a, b = f.asarray(a1), f.asarray(a2)
    if a.shape != b.shape:
        return False
    same = a == b
    if equal_nan and a.dtype.kind in "fcmM" and b.dtype.kind in "fcmM":
        same = same | (_isnan(a) & _isnan(b))
    return builtins.bool(r.all(same))


def array_equiv(a1: Any, a2: Any) -> bool:
    """Whether all elements are equal after broadcasting."""
    a, b = f.asarray(a1), f.asarray(a2)
    try:
        numpy.broadcast_shapes(a.shape, b.shape)
    except ValueError:
        return False
    return builtins.bool(r.all(a == b))


def diff(
    a: Any, n: int = 1, axis: int = -1, prepend: Any = NO_VALUE, append: Any = NO_VALUE
) -> ndarray:
    """Differences of neighbours, n times."""
    if n == 0:
        return a
    a = f.asarray(a)
    if n < 0:
        raise ValueError(f"order must be non-negative but got {n!r}")
    if not a.ndim:
        raise ValueError("diff requires input that is at least one dimensional")
    axis = f.normalize(axis, a.ndim)
    parts = [a]
    for given, place in ((prepend, 0), (append, len(parts) + 1)):
        if given is not NO_VALUE:
            part = f.asarray(given)
            if not part.ndim:
                part = f.broadcast_to(part, [1 if d == axis else m for d, m in enumerate(a.shape)])
            parts.insert(place, part)
    if len(parts) > 1:
        a = concatenate(parts, axis)
    less = FUNCTIONS["not_equal"] if a.dtype == bool else FUNCTIONS["subtract"]
    key = (slice(None),) * axis
    for _ in range(n):
        a = f.asarray(less(a[(*key, slice(1, None))], a[(*key, slice(None, -1))]))
    return a


def average(
    a: Any,
    axis: Any = None,
    weights: Any = None,
    returned: bool = False,
    *,
    keepdims: Any = NO_VALUE,
) -> Any:
    """Means, of elements by weights."""
    a = f.asarray(a)
    if weights is None:
        made = r.mean(a, axis, keepdims=keepdims)
        total = a.dtype.type(0) + a.size / f.asarray(made).size
    else:
        w = f.asarray(weights)
        if w.shape != a.shape:
            if axis is None:
                raise TypeError("Axis must be specified when shapes of a and weights differ.")
            places = f.normalize_many(axis, a.ndim, "axis")
            if w.shape != tuple(a.shape[d] for d in places):
                raise ValueError(
                    "Shape of weights must be consistent with shape of a along specified axis."
                )
            w = w.transpose([places.index(d) for d in sorted(places)])
            w = w.reshape([n if d in places else 1 for d, n in enumerate(a.shape)])
        dtype = f.result_type(a, w, numpy.float64) if a.dtype.kind in "biu" else f.result_type(a, w)
        total = r.sum(f.broadcast_to(w, a.shape), axis, dtype, keepdims=keepdims)
        if builtins.bool(r.any(f.asarray(total) == 0)):
            raise ZeroDivisionError("Weights sum to zero, can't be normalized")
        made = r.sum(FUNCTIONS["multiply"](a, w, dtype=dtype), axis, keepdims=keepdims) / total
    if not returned:
        return made
    return made, f.broadcast_to(total, f.asarray(made).shape).copy() if f.asarray(
        made
    ).ndim else total


def _without_nan(a: Any, value: Any) -> tuple[ndarray, Any]:
    a = f.asarray(a)
    if a.dtype.kind not in "fc":
        return a, None
    mask = _isnan(a)
    return f.asarray(select(mask, value, a)), mask


def nansum(a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = NO_VALUE,
           initial: Any = NO_VALUE, where: Any = NO_VALUE) -> Any:  # fmt: skip
    """Sums without NaN."""
    return r.sum(_without_nan(a, 0)[0], axis, dtype, out, keepdims, initial, where)


def nanprod(a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = NO_VALUE,
            initial: Any = NO_VALUE, where: Any = NO_VALUE) -> Any:  # fmt: skip
    """Products without NaN."""
    return r.prod(_without_nan(a, 1)[0], axis, dtype, out, keepdims, initial, where)


def nancumsum(a: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
    """Sums of the first elements without NaN."""
    return r.cumsum(_without_nan(a, 0)[0], axis, dtype, out)


def nancumprod(a: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
    """Products of the first elements without NaN."""
    return r.cumprod(_without_nan(a, 1)[0], axis, dtype, out)


def nanmax(a: Any, axis: Any = None, out: Any = None, keepdims: Any = NO_VALUE, initial: Any = NO_VALUE,
           where: Any = NO_VALUE) -> Any:  # fmt: skip
    """Maxima without NaN."""
    return _nan_most(FUNCTIONS["fmax"], a, axis, out, keepdims, initial, where)


def nanmin(a: Any, axis: Any = None, out: Any = None, keepdims: Any = NO_VALUE, initial: Any = NO_VALUE,
           where: Any = NO_VALUE) -> Any:  # fmt: skip
    """Minima without NaN."""
    return _nan_most(FUNCTIONS["fmin"], a, axis, out, keepdims, initial, where)


def _nan_most(function: Any, a: Any, axis: Any, out: Any, keepdims: Any, initial: Any, where: Any) -> Any:
    if out is None and keepdims is initial is where is NO_VALUE and type(a) is ndarray and a.ndim == 1:
        made = function.reduce(a, 0 if axis is None else axis)  # without an interpreter's step
    else:
        options = {"keepdims": keepdims, "initial": initial, "where": where}
        a = f.asanyarray(a)  # objects are the host's
        made = function.reduce(a, axis=axis, out=out, **{k: x for k, x in options.items() if x is not NO_VALUE})
    is_nan = made != made if isinstance(made, numpy.generic) else _isnan(made)
    if bool(is_nan) if is_nan.ndim == 0 else bool(r.any(is_nan)):
        warnings.warn("All-NaN slice encountered", RuntimeWarning, stacklevel=3)
    return made


def nanmean(a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = NO_VALUE, *,
            where: Any = NO_VALUE) -> Any:  # fmt: skip
    """Means without NaN."""
    a = f.asarray(a)
    if a.dtype.kind not in "fc":
        return r.mean(a, axis, dtype, out, keepdims, where=where)
    for name, kind in (("dtype", None if dtype is None else f.dtype_of(dtype)), ("out", getattr(out, "dtype", None))):
        if kind is not None and kind.kind not in "fc":
            raise TypeError(f"If a is inexact, then {name} must be inexact")
    good = f.asarray(~_isnan(a))
    with numpy.errstate(divide="ignore", invalid="ignore"):  # NumPy tells of slices without elements in its own words
        return r.mean(a, axis, dtype, out, keepdims, where=good if where is NO_VALUE else good & where)


# -- making --------------------------------------------------------------------------------------------


def tri(
    N: int, M: int | None = None, k: int = 0, dtype: Any = float, *, like: Any = None
) -> ndarray:
    """Ones at and below a diagonal, zeros above it."""
    columns, first = N if M is None else M, int(-k)
    return f.asarray(f.arange(N)[:, None] >= f.arange(first, first + columns)).astype(dtype)


def tril(m: Any, k: int = 0) -> ndarray:
    """The elements at and below a diagonal."""
    m = f.asarray(m)
    return f.asarray(select(tri(*m.shape[-2:], k=k, dtype=bool), m, _zero_of(m)))


def _zero_of(m: ndarray) -> Any:
    """0 as an element of an array."""
    return numpy.zeros(1, m.dtype)[0]


def triu(m: Any, k: int = 0) -> ndarray:
    """The elements at and above a diagonal."""
    m = f.asarray(m)
    return f.asarray(select(tri(*m.shape[-2:], k=k - 1, dtype=bool), _zero_of(m), m))


def diag(v: Any, k: int = 0) -> ndarray:
    """A matrix with a diagonal, or the diagonal of a matrix."""
    v = f.asarray(v)
    if v.ndim == 2:
        return f.diagonal(v, k)
    if v.ndim != 1:
        raise ValueError("Input must be 1- or 2-d.")
    n = v.shape[0] + builtins.abs(k)
    made = f.zeros((n, n), v.dtype)
    f.diagonal(made, k, writeable=True)[...] = v
    return made


def diagflat(v: Any, k: int = 0) -> ndarray:
    """A matrix with all elements on a diagonal."""
    return diag(f.ravel(v), k)


def indices(dimensions: Any, dtype: Any = int, sparse: bool = False) -> Any:
    """The index along each axis, as arrays of a shape."""
    dimensions = tuple(dimensions)
    rank = len(dimensions)
    made = [
        f.arange(n, dtype=dtype).reshape([-1 if k == d else 1 for k in range(rank)])
        for d, n in enumerate(dimensions)
    ]
    if sparse:
        return tuple(made)
    whole = f.empty((rank, *dimensions), dtype)
    for d, x in enumerate(made):
        whole[d] = x
    return whole


def fromfunction(
    function: Any, shape: Any, *, dtype: Any = float, like: Any = None, **kwargs: Any
) -> Any:
    """A function of the indices of all elements."""
    return function(*indices(shape, dtype), **kwargs)


def vander(x: Any, N: int | None = None, increasing: bool = False) -> ndarray:
    """Powers of a vector's elements as columns."""
    x = f.asarray(x)
    if x.ndim != 1:
        raise ValueError("x must be a one-dimensional array or sequence.")
    n = x.shape[0] if N is None else N
    columns = f.ones((x.shape[0], n), f.result_type(x, numpy.int_))
    columns[:, 1:] = x[:, None]
    if n > 2:  # products begin with the elements: ones times infinities would be NaN
        columns[:, 1:] = r.cumprod(columns[:, 1:], 1)
    return columns if increasing else columns[:, ::-1].copy()


def isscalar(element: Any) -> bool:
    """Whether it is a number."""
    return numpy.isscalar(element)


def _clip(
    self: ndarray, min: Any = NO_VALUE, max: Any = NO_VALUE, out: Any = None, **options: Any
) -> Any:
    """Elements brought between two limits."""
    return clip(
        self, None if min is NO_VALUE else min, None if max is NO_VALUE else max, out, **options
    )


def _round(self: ndarray, decimals: int = 0, out: Any = None) -> Any:
    """Elements rounded to decimals."""
    return round(self, decimals, out)


METHODS: dict[str, Any] = {"clip": _clip, "round": _round}
