# SPDX-License-Identifier: Apache-2.0
"""Reductions: sums, extremes, means, with NumPy's signatures."""

from __future__ import annotations

import builtins
import math
import operator
from typing import Any

import numpy

from .. import _core
from . import _host, _items, _meanings
from ._functions import asarray, empty, normalize, normalize_many, ravel
from ._meanings import has_meaning, truth
from ._ndarray import ndarray
from ._setup import (
    ALL_FAULTS, ITEMS, NO_VALUE, OWN, HostDtype, dtype_of, is_held, loop_of, memory, named_dtype, stored_as, told_as,
    user_level, warn_of_lost_parts,
)  # fmt: skip
from ._ufunc import FUNCTIONS, copy_of

INNER = ("fold", "reduced_axes", "accumulate", "into", "scalar_of")
_divide, _multiply, _sqrt = FUNCTIONS["divide"], FUNCTIONS["multiply"], FUNCTIONS["sqrt"]
_combine = {
    "sum": "add",
    "prod": "multiply",
    "max": "maximum",
    "min": "minimum",
    "all": "logical_and",
    "any": "logical_or",
}


def axis_number(axis: Any) -> int:
    """The number that an axis of a reduction is given as: NumPy takes no bools here."""
    if isinstance(axis, (bool, numpy.bool)):
        raise TypeError(f"an integer is required for the axis, found {axis!r}")
    return operator.index(axis)


def _axes(a: ndarray, axis: Any) -> tuple[int, ...]:
    if axis is None:
        return tuple(range(a.ndim))
    return normalize_many(tuple(map(axis_number, axis if isinstance(axis, tuple) else (axis,))), a.ndim)


def reduced_axes(a: ndarray, axis: Any) -> tuple[int, ...]:
    """The axes of a reduction; 0 and -1 are some of arrays without axes, too, as NumPy has it."""
    is_one = not a.ndim and axis is not None and not isinstance(axis, tuple)
    return () if is_one and axis_number(axis) in (0, -1) else _axes(a, axis)


def scalar_of(made: ndarray) -> Any:
    """NumPy's scalar where it would give one."""
    return made if made.ndim or isinstance(made, numpy.generic) else made._scalar()


def into(made: ndarray, out: Any, casting: str = "same_kind") -> Any:
    """A result, in the array that out= names, by itself or in a tuple, where it names one."""
    if isinstance(out, tuple):
        (out,) = out
        if out is ...:
            raise TypeError("must use `...` as `out=...` and not per-operand/in a tuple")
    if out is None:
        return scalar_of(made)
    if out is ...:
        return made
    if not isinstance(out, (ndarray, numpy.ndarray)):
        raise TypeError("return arrays must be of ArrayType")
    if casting != "unsafe" and not numpy.can_cast(made.dtype, out.dtype, casting):
        raise TypeError(f"Cannot cast the result from {made.dtype!r} to {out.dtype!r}, the dtype of out=, with casting "
                        f"rule {casting!r}")  # fmt: skip
    if out.shape != made.shape:
        copy_of(made, empty(made.shape, out.dtype), casting=casting)  # whose errors come first
        raise ValueError(f"the output array has the wrong shape: {out.shape}, but the result has {made.shape}")
    if isinstance(out, ndarray):
        return copy_of(made, out, casting=casting)
    numpy.copyto(out, made.__array__(), casting=casting)  # type: ignore[arg-type]
    return out


def named_out(out: Any) -> Any:
    """What ``out=`` of a method of ufuncs names, by itself or in a tuple; functions take no tuples."""
    if not isinstance(out, tuple):
        return _plain_out(out)
    if len(out) != 1:
        raise ValueError(f"the tuple of out= must have one entry for the one result, found {len(out)}")
    if out[0] is None:
        raise TypeError("return arrays must be of ArrayType")
    if out[0] is ...:
        raise TypeError("must use `...` as `out=...` and not per-operand/in a tuple")
    return checked_out(out[0])


def checked_out(out: Any) -> Any:
    """What ``out=`` names, which must be an array."""
    if out is not None and not isinstance(out, (ndarray, numpy.ndarray)):
        raise TypeError("return arrays must be of ArrayType")
    return out


def _plain_out(out: Any) -> Any:
    """What ``out=`` of a function names, which may be ``...``, too: the result is an array."""
    return out if out is ... else checked_out(out)


def sum_dtype(dtype: Any) -> Any:
    """What sums and products of a dtype are computed in: at least the platform's integer."""
    if dtype.kind in "bi" and dtype.itemsize < 8:
        return numpy.dtype(numpy.int64)
    return numpy.dtype(numpy.uint64) if dtype.kind == "u" and dtype.itemsize < 8 else dtype


def mask_of(where: Any) -> Any:
    """What ``where=`` is given as an array of bools: arrays must be of bools, other things are cast."""
    if not isinstance(where, (ndarray, numpy.ndarray)):
        return asarray(where, bool)
    if where.dtype != bool:
        raise TypeError(f"Cannot cast array data from {where.dtype!r} to dtype('bool') according to the rule 'safe'")
    return where


def given_mask(where: Any) -> Any:
    """The mask that a reduction is given, which NumPy looks at before axes and shapes; None: there is none."""
    return None if where is True or where is NO_VALUE else asarray(mask_of(where))


def fitting_mask(a: ndarray, where: Any) -> Any:
    """The same, which must broadcast to the elements."""
    mask = given_mask(where)
    if mask is not None and mask.shape != a.shape and (
        mask.ndim > a.ndim
        or builtins.any(n not in (1, m) for n, m in zip(mask.shape[::-1], a.shape[::-1], strict=False))
    ):
        raise ValueError(f"where= of shape {mask.shape} cannot be broadcast to an array of shape {a.shape}")
    return mask


def dtype_into(a: ndarray, out: Any) -> Any:
    """The dtype that holds the elements of ``a`` and those of an array that out= names: NumPy computes in it; None:
    nothing is named, or not numbers."""
    if not isinstance(out, ndarray) or not (_is_of_numbers(a) and _is_of_numbers(out)):
        return None
    return numpy.promote_types(out.dtype, a.dtype)


def _is_of_numbers(a: ndarray) -> bool:
    return a.dtype.kind in "biufc" and not has_meaning(a)


def _in_loop(a: ndarray, dtype: Any, begins: tuple[int, ...] | None = None) -> ndarray:
    """The elements in a dtype that a call names, in the machine's byte order; one that only NumPy has is the host's.
    ``begins``: the axes of a reduction that begins with its first elements."""
    dtype = loop_of(dtype)
    if not is_held(dtype):
        raise HostDtype(f"tessera.numeric has no arrays of dtype {dtype}")
    if begins is not None and tell_of_first(a, begins, dtype):
        return _cast(a, dtype, "reduce", 0)
    return _cast(a, dtype, "reduce")


def tell_of_first(a: ndarray, axes: tuple[int, ...], dtype: Any) -> bool:
    """Tells of what is lost of the first elements of a reduction, which NumPy casts before all others. Whether no more
    is told of: loops of floats for extremes forget it."""
    if a.size and a.dtype != dtype:
        if not a.ndim:  # which NumPy casts before, too
            _cast(a, dtype, "cast")
        _cast(a[tuple(slice(0, 1) if d in axes else slice(None) for d in range(a.ndim))], dtype, "cast")
    return dtype.kind in "fc" and dtype.itemsize > 2 and math.prod(a.shape[d] for d in axes) > 1


def start_of(initial: Any, dtype: Any) -> ndarray:
    """What a reduction begins with: one element, which must fit."""
    is_scalar = isinstance(initial, (numpy.integer, numpy.floating)) and dtype.kind == "i"  # NumPy's are cast else
    if is_scalar or (type(initial) is float and dtype.kind == "u"):
        initial = int(initial)
    made = asarray(initial, dtype)
    if made.ndim:
        raise ValueError("setting an array element with a sequence.")
    return made


def warn_of_parts(a: ndarray, dtype: Any, times: int = 1) -> None:
    """Tells of parts that are lost where complex elements are computed in a real dtype: twice where NumPy casts both
    the first ones, which a reduction begins with, and the others."""
    if a.dtype.kind == "c" and dtype is not None and numpy.dtype(dtype).kind in "iuf":
        for _ in range(times):
            warn_of_lost_parts(user_level())


def warn_of_out(loop: Any, out: Any) -> None:
    """Tells of parts that are lost where a reduction of complex numbers is written to a real array: NumPy casts what it
    begins with, and what it gives."""
    to = out[0] if isinstance(out, tuple) and out else out
    if loop.kind == "c" and isinstance(to, ndarray) and to.dtype.kind in "iuf":
        for _ in range(2):
            warn_of_lost_parts(user_level())


def _cast(a: ndarray, dtype: Any, told: str, faults: int = ALL_FAULTS) -> ndarray:
    """The elements in a dtype, of which is told what is lost."""
    from ._index import in_dtype

    if a.dtype == dtype or dtype is None:
        return a
    return asarray(told_as(told, faults, in_dtype, a, dtype)).astype(dtype, copy=False)


def _starts(a: ndarray, axes: Any, initial: Any, dtype: Any, keeps: bool) -> ndarray:
    """What a reduction of no elements gives: its start, in each place of the result."""
    shape = [1 if d in axes else n for d, n in enumerate(a.shape)]
    made = asarray(numpy.full(shape, numpy.asarray(start_of(initial, dtype)), dtype))
    return made if keeps else made.reshape([n for d, n in enumerate(a.shape) if d not in axes])


def _is_numpys(a: ndarray, dtype: Any) -> bool:
    """Whether a reduction is NumPy's: of texts and records, or in a dtype that no kernel computes in."""
    if _items.is_items(a):
        return True
    dtype = None if dtype is None else dtype_of(dtype)
    return dtype is not None and dtype not in OWN and is_held(dtype)


def _by_numpy(name: str, method: str, a: ndarray, axis: Any, dtype: Any, out: Any, **options: Any) -> Any:
    """A reduction of NumPy's, or its refusal."""
    function = getattr(numpy, _combine[name])
    dtype = bool if dtype is None and name in ("all", "any") else dtype
    given = {key: x for key, x in options.items() if x is not NO_VALUE and (key != "where" or x is not True)}
    made = _host.call(function.__name__, getattr(function, method), a, axis=axis, dtype=dtype, out=out, **given)
    return made if out is None or out is ... else out


def fold(
    name: str, a: Any, axis: Any, dtype: Any, out: Any, keepdims: Any, initial: Any, where: Any
) -> Any:
    """One of the C library's reductions, with everything that NumPy's take."""
    a, where = _items.numbers(asarray(a)), given_mask(where)
    where = True if where is None else where
    out = _plain_out(out)
    if _is_numpys(a, dtype):
        return _by_numpy(name, "reduce", a, axis, dtype, out, keepdims=keepdims, initial=initial, where=where)
    if has_meaning(a):
        start = None if initial is NO_VALUE else initial

        def run(name: str, numbers: Any, initial: Any) -> Any:
            return fold(name, numbers, axis, None, None, keepdims, NO_VALUE if initial is None else initial, where)

        return into(_meanings.fold(name, a, dtype, start, run), out)
    axes = reduced_axes(a, axis)
    mask = fitting_mask(a, where)
    if name in ("sum", "prod"):
        target = out.dtype if dtype is None and isinstance(out, ndarray) else None
        dtype = loop_of(dtype) if dtype is not None else target or sum_dtype(a.dtype)
        if target is None or target.kind == "b" or a.dtype.kind != "c":
            warn_of_parts(a, dtype, 2 if initial is None else 1)
        warn_of_out(a.dtype if target is not None else dtype, out)
        if dtype.kind == "b":  # sums of bools are bools where a bool is asked for
            return fold(
                "any" if name == "sum" else "all", a, axis, None, out, keepdims, initial, where
            )
        if target is not None:
            dtype = dtype_into(a, out) or sum_dtype(a.dtype)
        a = _cast(a, dtype, "reduce" if a.ndim else "cast") if dtype.kind in "iu" or dtype.itemsize < a.itemsize else a
    else:
        dtype = dtype_into(a, out) if dtype is None else dtype
        begins = name in ("max", "min") and (initial is None or initial is NO_VALUE)
        warn_of_parts(a, dtype, 2 if begins else 1)
        if name in ("max", "min"):
            warn_of_out(dtype_of(dtype) if dtype is not None else a.dtype, out)
        a = a if dtype is None else _in_loop(a, dtype, axes if begins else None)
    no_start = initial is None or initial is NO_VALUE
    has_first = initial is not None and not (no_start and name in ("max", "min"))  # a start, or a neutral element
    if not has_first and mask is not None:
        raise ValueError(
            f"reduction operation '{_combine[name]}' does not have an identity, so to use a where mask one has to "
            "specify 'initial'"
        )
    if not has_first and not a.size and not math.prod(a.shape[d] for d in axes):
        raise ValueError(f"zero-size array to reduction operation {_combine[name]} which has no identity")
    if a.size == 0 and not no_start and name not in ("all", "any"):
        made = _starts(a, axes, initial, dtype if name in SCANS else a.dtype, keepdims is True)
        return into(made, out, "unsafe")
    made = _core.numeric_fold(
        name, a, axes, dtype, keepdims is not NO_VALUE and bool(keepdims), mask
    )
    if not no_start:
        start = start_of(initial, made.dtype)
        if mask is not None and name == "prod" and made.dtype.kind == "c":  # infinities times 1 are none
            made = begun(FUNCTIONS["multiply"], start, made, a, axes, mask, keepdims)
        else:
            made = asarray(FUNCTIONS[_combine[name]](made, start))
        if name == "sum" and made.dtype.kind in "fc" and not start.ndim:
            made = _with_signs_of_zero(made, a, axes, start._scalar(), mask, keepdims)
    elif initial is None and name == "sum" and dtype.kind in "fc":  # NumPy's begin with the first element then
        made = _with_signs_of_zero(made, a, axes, -dtype.type(0), mask, keepdims)
    return into(made, out, "unsafe")  # as NumPy's


def begun(function: Any, start: ndarray, made: Any, a: ndarray, axes: Any, mask: ndarray, keepdims: Any) -> ndarray:
    """The function of a start and of what a reduction has made; the start itself where a mask leaves no elements."""
    from ._functions import broadcast_to

    some = asarray(fold("any", broadcast_to(mask, a.shape), axes, None, None, keepdims, NO_VALUE, True))
    room = broadcast_to(start, some.shape).copy()
    function(start, made, out=room, where=some)
    return room


def _with_signs_of_zero(made: ndarray, a: ndarray, axes: Any, start: Any, mask: Any, keepdims: Any) -> ndarray:
    """Sums that begin with -0, for the library's begin with 0: -0 where all elements are."""
    for part in ("real", "imag") if made.dtype.kind == "c" else ("real",):
        first, x = getattr(start, part), getattr(a, part)
        if first == 0 and numpy.signbit(first) and x.dtype.kind == "f":
            zeros = FUNCTIONS["signbit"](x) & (x == 0)
            alike = fold("all", zeros, axes, None, None, keepdims, NO_VALUE, True if mask is None else mask)
            made = made if isinstance(made, ndarray) else asarray(made)
            copy_of(first, getattr(made, part), where=asarray(alike))
    return made


def sum(a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = NO_VALUE,
        initial: Any = NO_VALUE, where: Any = NO_VALUE) -> Any:  # fmt: skip
    """Sums along axes."""
    return fold("sum", a, axis, dtype, out, keepdims, initial, where)


def prod(a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = NO_VALUE,
         initial: Any = NO_VALUE, where: Any = NO_VALUE) -> Any:  # fmt: skip
    """Products along axes."""
    return fold("prod", a, axis, dtype, out, keepdims, initial, where)


def max(a: Any, axis: Any = None, out: Any = None, keepdims: Any = NO_VALUE, initial: Any = NO_VALUE,
        where: Any = NO_VALUE) -> Any:  # fmt: skip
    """The greatest along axes; NaN where one is."""
    return fold("max", a, axis, None, out, keepdims, initial, where)


def min(a: Any, axis: Any = None, out: Any = None, keepdims: Any = NO_VALUE, initial: Any = NO_VALUE,
        where: Any = NO_VALUE) -> Any:  # fmt: skip
    """The least along axes; NaN where one is."""
    return fold("min", a, axis, None, out, keepdims, initial, where)


amax, amin = max, min
_ROW, _ROWS = 1 << 12, 1 << 20  # elements that one kernel finds both ends of; from how many on they are divided so


def ends(a: ndarray) -> tuple[Any, Any]:
    """The least and the greatest element, as numbers of NumPy. Many of a GPU are read once for both."""
    few = a.device == "cpu" or a.size < _ROWS or not a.flags.c_contiguous
    return (min(a), max(a)) if few else _ends_by_rows(a)


def _ends_by_rows(a: ndarray) -> tuple[Any, Any]:
    flat = a.reshape(-1)
    n = flat.size // _ROW * _ROW
    rows = flat[:n].reshape(-1, _ROW)
    low, high = min(rows, axis=1), max(rows, axis=1)
    _core.numeric_settle(high)
    if n < flat.size:
        rest = flat[n:]
        return numpy.minimum(min(low), min(rest)), numpy.maximum(max(high), max(rest))
    return min(low), max(high)


def all(
    a: Any, axis: Any = None, out: Any = None, keepdims: Any = NO_VALUE, *, where: Any = NO_VALUE
) -> Any:
    """Whether all are true along axes."""
    return fold("all", a, axis, None, out, keepdims, NO_VALUE, where)


def any(
    a: Any, axis: Any = None, out: Any = None, keepdims: Any = NO_VALUE, *, where: Any = NO_VALUE
) -> Any:
    """Whether one is true along axes."""
    if a is None:  # NumPy's programs ask for what they have not computed
        return None
    return fold("any", a, axis, None, out, keepdims, NO_VALUE, where)


def _place(name: str, a: Any, axis: Any, out: Any, keepdims: Any) -> Any:
    a = asarray(a)
    a = _meanings.module_of(a.dtype).placed(name, a) if has_meaning(a) else a
    keeps = keepdims is not NO_VALUE and bool(keepdims)
    rank = a.ndim
    if axis is None:
        a, axis = ravel(a), 0
    if not rank:
        a = a.reshape(1)
    axis = normalize(axis_number(axis), a.ndim)
    if not a.shape[axis]:
        raise ValueError(f"attempt to get {name} of an empty sequence")
    made = _core.numeric_fold(name, a, (axis,), None, keeps and a.ndim == rank, None)
    if keeps and made.ndim != rank:
        made = made.reshape((1,) * rank)
    if not isinstance(out, ndarray):
        return into(made, _plain_out(out))
    if out.shape != made.shape:
        raise ValueError(f"output array does not match result of np.{name}: {out.shape}, not {made.shape}")
    if not numpy.can_cast(out.dtype, numpy.intp, "safe"):
        raise TypeError(f"Cannot cast array data from {out.dtype!r} to dtype('int64') according to the rule 'safe'")
    return copy_of(made, out, casting="unsafe")


def argmax(a: Any, axis: Any = None, out: Any = None, *, keepdims: Any = NO_VALUE) -> Any:
    """The place of the greatest, the first of equal ones, along an axis."""
    return _place("argmax", a, axis, out, keepdims)


def argmin(a: Any, axis: Any = None, out: Any = None, *, keepdims: Any = NO_VALUE) -> Any:
    """The place of the least, the first of equal ones, along an axis."""
    return _place("argmin", a, axis, out, keepdims)


def _count(a: ndarray, axis: Any, where: Any, keeps: bool) -> Any:
    """How many elements a mean is of."""
    axes = _axes(a, axis)
    if fitting_mask(a, where) is None:
        n = 1
        for d in axes:
            n *= a.shape[d]
        return n
    from ._functions import broadcast_to

    return sum(broadcast_to(where, a.shape), axes, numpy.int64, keepdims=keeps)


def _float_of(a: ndarray, dtype: Any) -> tuple[Any, Any]:
    """The dtypes in which a mean is computed and given."""
    if dtype is not None:
        return named_dtype(dtype), named_dtype(dtype)
    if has_meaning(a):
        return None, a.dtype
    if a.dtype.kind in "biu":
        return numpy.dtype(float), numpy.dtype(float)
    return (numpy.dtype(numpy.float32) if a.dtype == numpy.float16 else a.dtype), a.dtype


def mean(a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = NO_VALUE, *,
         where: Any = NO_VALUE) -> Any:  # fmt: skip
    """Means along axes."""
    a, out = asarray(a), _plain_out(out)
    inner, outer = _float_of(a, dtype)
    keeps = keepdims is not NO_VALUE and bool(keepdims)
    n = _count(a, axis, where, keeps)
    if _is_few(a, n, 0):
        _warn_empty("Mean of empty slice")
    total = sum(a, axis, inner, keepdims=keeps, where=where)
    if inner is not None:
        warn_of_out(inner, out)
    given = outer if out is None or inner is None else inner  # of float16 into an array: not rounded before
    return into(_quotient(total, n, given), out, "unsafe")


def _quotient(total: Any, n: Any, dtype: Any) -> Any:
    """A quotient in a dtype; of arrays NumPy casts as it divides."""

    def made() -> Any:
        return _divide(total, n).astype(dtype, copy=False)

    return told_as("divide", ALL_FAULTS, made) if dtype.kind in "iu" and numpy.ndim(total) else made()


def _is_few(a: ndarray, n: Any, most: Any) -> bool:
    """Whether a mean is of so few elements; counts of many elements of a GPU are not read for it."""
    if type(n) is int:
        return builtins.bool(numpy.any(n <= numpy.asarray(most)))
    return (a.device == "cpu" or a.size <= _core.ND_LOOKED_AT) and builtins.bool(any(n <= most))


def _warn_empty(text: str) -> None:
    import warnings

    warnings.warn(text, RuntimeWarning, stacklevel=3)


HELD = (64, 1 << 15)  # elements that one kernel holds whole (ADR 0028, rows): along other axes than the last, along it


def _is_read_once(a: ndarray, axis: Any, inner: Any, n: int) -> bool:
    """Whether a spread is folded in one pass: on a GPU, where no kernel holds whole rows."""
    return a.device != "cpu" and inner.kind == "f" and n > HELD[a.ndim - 1 in _axes(a, axis)]


def _spread(a: ndarray, axes: tuple[int, ...], inner: Any, keeps: bool) -> ndarray:
    """The sum of squares of what elements differ from their mean by. What they differ from one of them by is as good
    and small where the mean is large, so that floats lose nothing."""
    one = a[tuple(slice(0, 1) if d in axes else slice(None) for d in range(a.ndim))]
    away = asarray(FUNCTIONS["subtract"](a, one, dtype=inner))
    return _core.numeric_fold("spread", away, axes, None, keeps, None)


def _squares(a: ndarray, axis: Any, inner: Any, is_asked: bool, keeps: bool, where: Any, mean: Any, n: Any) -> Any:
    """The same in two passes, of complex numbers and elements under a mask, too. A dtype that is asked for is that of
    sums and of the mean, not of what elements differ from it by."""
    middle = asarray(mean) if mean is not NO_VALUE else _quotient(
        sum(a, axis, inner, keepdims=True, where=where), n, inner
    )  # fmt: skip
    away = asarray(a - middle if is_asked else FUNCTIONS["subtract"](a, middle, dtype=inner))
    squares = _square(away) if a.dtype.kind == "c" else asarray(_multiply(away, away))
    return sum(squares, axis, inner if is_asked else None, keepdims=keeps, where=where)


def _square(x: ndarray) -> ndarray:
    """Squares of magnitudes."""
    return asarray(x.real * x.real + x.imag * x.imag if x.dtype.kind == "c" else _multiply(x, x))


def var(a: Any, axis: Any = None, dtype: Any = None, out: Any = None, ddof: Any = 0, keepdims: Any = NO_VALUE, *,
        where: Any = NO_VALUE, mean: Any = NO_VALUE, correction: Any = NO_VALUE) -> Any:  # fmt: skip
    """Variances along axes."""
    if correction is not NO_VALUE:
        if ddof != 0:
            raise ValueError("ddof and correction can't be provided simultaneously.")
        ddof = correction
    a, out = asarray(a), _plain_out(out)
    inner, outer = _float_of(a, dtype)
    if inner is None:
        raise TypeError(f"ufunc 'square' not supported for the input types, here {a.dtype}")
    keeps = keepdims is not NO_VALUE and bool(keepdims)
    n = _count(a, axis, where, True)
    if _is_few(a, n, ddof):
        _warn_empty("Degrees of freedom <= 0 for slice")
    if type(n) is int and dtype is None and mean is NO_VALUE and _is_read_once(a, axis, inner, n):
        total = _spread(a, _axes(a, axis), inner, keeps)
    else:
        total = _squares(a, axis, inner, dtype is not None, keeps, where, mean, n)
    n = n if type(n) is int or keeps else n.reshape(total.shape)
    rest = builtins.max(n - ddof, 0) if type(n) is int else FUNCTIONS["maximum"](n - ddof, 0)
    outer = outer if dtype is not None else numpy.empty(0, outer).real.dtype
    into_whole = out is not None and outer.kind in "biu"
    return into(_divide(total, rest) if into_whole else _quotient(total, rest, outer), out, "unsafe")


def std(a: Any, axis: Any = None, dtype: Any = None, out: Any = None, ddof: Any = 0, keepdims: Any = NO_VALUE, *,
        where: Any = NO_VALUE, mean: Any = NO_VALUE, correction: Any = NO_VALUE) -> Any:  # fmt: skip
    """Standard deviations along axes."""
    room = None if out is ... else out  # variances are in its dtype before their roots are
    made = var(a, axis, dtype, room, ddof, keepdims, where=where, mean=mean, correction=correction)
    if made.dtype.kind not in "biu":
        return into(_sqrt(made), out)
    if made.ndim or room is not None:
        raise TypeError(f"std cannot write square roots to integers: dtype={made.dtype!r} of the call")
    return into(asarray(_sqrt(made)).astype(made.dtype), out)


LONG = 1 << 15  # elements of one row, from which on a GPU scans its pieces side by side
SCANS = {"sum": "PLUS", "prod": "MULTIPLIES"}


def _is_long(a: ndarray, axis: int) -> bool:
    """Whether one row on a GPU is so long that one block should not walk it alone."""
    return a.size >= LONG and a.shape[axis] == a.size and a.device != "cpu"


def _scanned(name: str, a: ndarray, dtype: Any) -> ndarray:
    """A running reduction of one long row, by the scan of tessera.compute."""
    from tessera import compute


    made, row = empty(a.shape, dtype), ravel(a).astype(dtype, copy=False)
    row = row if row.flags.c_contiguous else row.copy()
    compute.inclusive_scan(
        d_in=memory(row, True),
        d_out=memory(made.reshape(-1), True),
        op=getattr(compute.OpKind, SCANS[name]),
        num_items=a.size,
    )
    return made


def accumulate(name: str, a: Any, axis: Any, dtype: Any, out: Any) -> ndarray:
    """One of the C library's reductions of the first elements, for each number of them."""
    a, out = _items.numbers(asarray(a)), None if out is ... else out  # it is an array anyway
    if axis is None:
        a, axis = ravel(a), 0
    if not a.ndim:
        a = a.reshape(1)
    axis = normalize(axis_number(axis), a.ndim)
    if dtype is not None and dtype_of(dtype).kind in "mM":
        return _by_numpy(name, "accumulate", a, axis, dtype, out)
    if _items.is_items(a) or (dtype is not None and stored_as(dtype_of(dtype)) is ITEMS and dtype_of(dtype).isnative):
        return _by_numpy(name, "accumulate", a, axis, dtype, out)
    if has_meaning(a):

        def run(name: str, numbers: Any, initial: Any) -> Any:
            return accumulate(name, numbers, axis, None, None)

        made = _meanings.fold(name, a, dtype, None, run)
        return made if out is None else copy_of(made, out, casting="unsafe")
    if name in ("sum", "prod"):
        asked = loop_of(dtype) if dtype is not None else None
        if asked is not None and asked.kind == "b":  # sums of bools are bools where a bool is asked for
            return accumulate("max" if name == "sum" else "min", a.astype(bool), axis, None, out)
        dtype = asked or dtype_into(a, out) or sum_dtype(a.dtype)
        if a.dtype.kind == "c" and dtype.kind in "iuf":
            warn_of_lost_parts(4)
        begins = dtype.kind == "c" and is_held(dtype)  # loops of complex products begin with the first element
        casts = begins or dtype.kind in "iu" or dtype.itemsize < a.itemsize
        a = _cast(a, dtype, "cast") if casts else a
    elif dtype is not None:
        warn_of_parts(a, dtype)
        a = _in_loop(a, dtype)
    if _is_long(a, axis) and name in SCANS and dtype is not None and dtype.char in "ilqfd":
        made = _scanned(name, a, dtype)
    else:
        made = _core.numeric_fold(name, a, (axis,), dtype, True, None, True)
    if out is None:
        return made
    if out.shape != made.shape:
        raise ValueError(
            f"provided out is the wrong size for the accumulation: {out.shape}, not {made.shape}"
        )
    warn_of_parts(made, out.dtype)
    return copy_of(made, out, casting="unsafe")


def _without_unit(dtype: Any) -> Any:
    """What ``dtype=`` of cumsum and cumprod names: NumPy reads no unit there."""
    named = None if dtype is None else dtype_of(dtype)
    return numpy.dtype(named.char) if named is not None and named.kind in "mM" else dtype


def cumsum(a: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> ndarray:
    """Sums of the first elements along an axis."""
    return accumulate("sum", a, axis, _without_unit(dtype), checked_out(out))


def cumprod(a: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> ndarray:
    """Products of the first elements along an axis."""
    return accumulate("prod", a, axis, _without_unit(dtype), checked_out(out))


def _cumulative(
    name: str, x: Any, axis: Any, dtype: Any, out: Any, include_initial: bool
) -> ndarray:
    from ._functions import full
    from ._joining import concatenate

    x = asarray(x)
    out = checked_out(out) if include_initial else named_out(out)
    if x.ndim == 0:
        x = x.reshape(1)
    if axis is None and x.ndim > 1:
        raise ValueError(
            "For arrays which have more than one dimension ``axis`` argument is required."
        )
    axis = normalize(0 if axis is None else axis, x.ndim)
    dtype = None if dtype is None else named_dtype(dtype)
    made = accumulate(name, x, axis, dtype, None if include_initial else out)
    if include_initial:
        shape = [1 if d == axis else n for d, n in enumerate(x.shape)]
        made = concatenate([full(shape, name == "prod", made.dtype), made], axis, out, casting="unsafe")
    return made


def cumulative_sum(x: Any, /, *, axis: Any = None, dtype: Any = None, out: Any = None,
                   include_initial: bool = False) -> ndarray:  # fmt: skip
    """Sums of the first elements along an axis; of none too if asked for."""
    return _cumulative("sum", x, axis, dtype, out, include_initial)


def cumulative_prod(x: Any, /, *, axis: Any = None, dtype: Any = None, out: Any = None,
                    include_initial: bool = False) -> ndarray:  # fmt: skip
    """Products of the first elements along an axis; of none too if asked for."""
    return _cumulative("prod", x, axis, dtype, out, include_initial)


def ptp(a: Any, axis: Any = None, out: Any = None, keepdims: Any = NO_VALUE) -> Any:
    """The greatest less the least along axes."""
    return into(
        asarray(
            FUNCTIONS["subtract"](max(a, axis, keepdims=keepdims), min(a, axis, keepdims=keepdims))
        ),
        _plain_out(out),
    )


def count_nonzero(a: Any, axis: Any = None, *, keepdims: bool = False) -> Any:
    """How many are not 0 along axes."""
    a = asarray(a)
    found = None if axis is not None or keepdims or has_meaning(a) else _core.numeric_count_nonzero(a)
    if found is not None:
        return numpy.int64(found)
    made = sum(truth(a), axis, numpy.int64, keepdims=keepdims)
    return made if isinstance(made, ndarray) else numpy.int64(made)


def _method(function: Any) -> Any:
    def method(self: ndarray, *args: Any, **options: Any) -> Any:
        return function(self, *args, **options)

    method.__name__, method.__doc__ = function.__name__, function.__doc__
    return method


METHODS = {
    f.__name__: _method(f)
    for f in (sum, prod, max, min, all, any, argmax, argmin, mean, var, std, cumsum, cumprod)
}
