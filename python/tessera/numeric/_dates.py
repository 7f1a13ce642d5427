# SPDX-License-Identifier: Apache-2.0
"""Dates and spans of time: datetime64 and timedelta64 of every unit, stored as int64 with NaT as the least.

Which loop a function takes, in which units, and what is refused, NumPy's own ufunc says (``resolve_dtypes``); here is
what computes the loop. A unit is changed by a factor, or, between months or years and days, by the calendar; both are
functions of elements and fuse with the rest.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy

from .._units import MONTHS, SIZES, UNITS
from . import _functions as f
from . import _host
from ._meanings import has_meaning, meant, plain
from ._ndarray import ndarray
from ._setup import fitted, of_numpy, to_numpy
from ._ufunc import FUNCTIONS, copy_of, select, ufunc

NAT = -(1 << 63)
INT, FLOAT, BOOL = numpy.dtype(numpy.int64), numpy.dtype(numpy.float64), numpy.dtype(bool)

# -- units ---------------------------------------------------------------------------------------------

_ERA = 146097  # days of 400 years, which a span in months or years is measured by
_ROOM = 1 << 56  # NumPy refuses factors from here on


def unit_of(dtype: Any) -> tuple[str, int]:
    """The unit and how many of it one step is; "generic": none yet."""
    unit, steps = numpy.datetime_data(dtype)[:2]
    return ("us" if unit == "μs" else unit), steps


def _factor(coarse: str, fine: str) -> int:
    """How many of a fine unit one of a coarse one has, from weeks on."""
    return SIZES[coarse] // SIZES[fine]


def _between(coarse: str, fine: str) -> tuple[int, int]:
    """How many of a fine unit a coarse one has, as a fraction."""
    if fine in MONTHS:
        return MONTHS[coarse] // MONTHS[fine], 1
    measured = coarse in MONTHS  # by the days of an era, where months have no length of their own
    times = 1 if measured and fine == "W" else _factor("D" if measured else coarse, fine)
    if times >= _ROOM:
        raise OverflowError(
            f"Integer overflow while computing the conversion factor between NumPy datetime units {coarse} and {fine}"
        )
    if not measured:
        return times, 1
    return _ERA * times, 4800 // MONTHS[coarse] * (7 if fine == "W" else 1)


@functools.lru_cache(1024)
def _scale(source: Any, target: Any) -> tuple[int, int]:
    """What a count is multiplied with and divided by where its unit is changed."""
    (one, steps), (other, other_steps) = unit_of(source), unit_of(target)
    if one == "generic":
        return 1, 1
    if other == "generic":
        raise ValueError("Cannot convert from specific units to generic units in NumPy datetimes or timedeltas")
    turned = UNITS.index(one) > UNITS.index(other)
    up, down = _between(other, one) if turned else _between(one, other)
    if turned:
        up, down = down, up
    up, down = _wrapped(up * steps, 64), _wrapped(down * other_steps, 64)
    common = math.gcd(up, down)
    return _wrapped(up // common), _wrapped(down // common)


def _wrapped(x: int, bits: int = 63) -> int:
    """The int64 of the same bits; with bits=64 the uint64."""
    x &= (1 << 64) - 1
    return x - (1 << 64) if bits == 63 and x >> 63 else x


def _scaled(x: Any, up: int, down: int) -> Any:
    return x if up == down == 1 else _time["scale"](x, up, down)


def _by_calendar(x: Any, source: Any, target: Any) -> Any:
    """Dates where one of the units is months or years: by the day on which they begin."""
    (one, steps), (other, other_steps) = unit_of(source), unit_of(target)
    if one in MONTHS and other in MONTHS:
        up, down = (12 if unit == "Y" and one != other else 1 for unit in (one, other))
        return _scaled(x, steps * up, other_steps * down)
    if one in MONTHS:
        days = _time["days_of_years" if one == "Y" else "days_of_months"](x, steps)
        if other == "W":
            return _scaled(days, 1, 7 * other_steps)
        return _scaled(days, _factor("D", other), other_steps)
    days = _scaled(x, 7 * steps, 1) if one == "W" else _scaled(x, steps, _factor("D", one))
    return _scaled(_time["years_of_days" if other == "Y" else "months_of_days"](days), 1, other_steps)


# -- casts ---------------------------------------------------------------------------------------------


def of_floats(x: Any) -> Any:
    """Floats as counts, rounded towards zero; NaT where int64 does not hold one."""
    x = f.asarray(x, FLOAT)
    fits = FUNCTIONS["absolute"](x) < 2.0**63
    whole = copy_of(f.asarray(select(fits, x, 0.0)), dtype=INT, casting="unsafe")
    return select(fits, whole, NAT)


def counted(x: Any, dtype: Any) -> Any:
    """The numbers that an operand is stored as in a dtype: an array, or a number of Python's or NumPy's."""
    if isinstance(x, numpy.generic) and x.dtype.kind not in "mM":
        x = x.real.item()
    if isinstance(x, int):
        return int(x)
    if isinstance(x, float):
        return int(x) if abs(x) < 2.0**63 else NAT
    source = x.dtype
    if source.kind not in "mM":
        if source.kind in "fc":
            return of_floats(x.real)
        return x if source == INT else copy_of(x, dtype=INT, casting="unsafe")
    numbers = plain(x)
    if source.kind != dtype.kind or source == dtype:
        return numbers
    up, down = _scale(source, dtype)
    units = unit_of(source)[0], unit_of(dtype)[0]
    if source.kind == "M" and "generic" not in units and (units[0] in MONTHS or units[1] in MONTHS):
        return _by_calendar(numbers, source, dtype)
    return _scaled(numbers, up, down)


def operand(x: Any, dtype: Any) -> Any:
    """An operand as a loop takes it: what it is stored as in the loop's dtype."""
    if dtype.kind in "mM":
        return counted(x, dtype)
    if isinstance(x, ndarray) and has_meaning(x):
        return plain(x) if dtype == INT else copy_of(plain(x), dtype=dtype, casting="unsafe")
    return x


def of_any(value: Any, dtype: Any) -> Any:
    """Anything as an array of ours; what NumPy reads by the dtype (strings, datetime's objects), as that."""
    if isinstance(value, ndarray):
        return value
    made = numpy.asarray(value)
    if made.dtype.kind in "OSUT":
        made = made.astype(dtype)
    return of_numpy(made, private=True)


def assigned(value: Any, dtype: Any) -> ndarray:
    """A value as assignment converts it to a dtype."""
    value = to_numpy(value) if isinstance(value, ndarray) and not value.ndim else value
    if not isinstance(value, (ndarray, numpy.ndarray, list, tuple)) or numpy.ndim(value) == 0:
        made = numpy.empty(1, dtype)
        made[...] = value  # NumPy converts a single value by rules of its own
        return of_numpy(made, private=True).reshape(())
    value = of_any(value, dtype)
    if dtype.kind not in "mM":
        return f.asarray(operand(value, dtype))
    return meant(f.asarray(counted(value, dtype)), dtype)


# -- loops ---------------------------------------------------------------------------------------------

_TIME = """
    add subtract multiply divide floor_divide remainder equal not_equal less less_equal greater greater_equal
    maximum fmin scale days_of_years days_of_months years_of_days months_of_days
"""
_time = {name: ufunc(f"time_{name}") for name in _TIME.split()}


def _is_nat(x: Any) -> Any:
    return FUNCTIONS["equal"](x, NAT)


def _of_product(x: Any, y: Any) -> Any:
    return of_floats(FUNCTIONS["multiply"](_float(x), y))


def _of_quotient(x: Any, y: Any) -> Any:
    return of_floats(FUNCTIONS["divide"](_float(x), y))


def _float(x: Any) -> Any:
    """Counts as floats, NaN for NaT."""
    return select(_is_nat(x), math.nan, copy_of(f.asarray(x), dtype=FLOAT, casting="unsafe"))


def _ratio(x: Any, y: Any) -> Any:
    return FUNCTIONS["divide"](_float(x), _float(y))


def _turned(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda x, y, *rest, **options: function(y, x, *rest, **options)


def _of_both(name: str) -> dict[str, Any]:
    """The loops of a function that takes dates as well as spans."""
    return {f"{kind}{kind}": _time[name] for kind in "mM"}


# By NumPy's name and the kinds of a loop's operands: one function of elements; below, what is made of some.
LOOPS: dict[str, dict[str, Any]] = {
    "add": dict.fromkeys(("mm", "Mm", "mM"), _time["add"]),
    "subtract": dict.fromkeys(("mm", "Mm", "MM"), _time["subtract"]),
    "multiply": {"mi": _time["multiply"], "im": _turned(_time["multiply"])},
    "divide": {"mi": _time["divide"]},
    "floor_divide": {"mi": _time["divide"], "mm": _time["floor_divide"]},
    "remainder": {"mm": _time["remainder"]},
    **{name: {"m": FUNCTIONS[name]} for name in ("negative", "positive", "absolute", "sign")},  # as of numbers
    **{name: _of_both(name) for name in ("equal", "not_equal", "less", "less_equal", "greater", "greater_equal")},
    "maximum": _of_both("maximum"),
    "fmin": _of_both("fmin"),
    **{name: dict.fromkeys(("mm", "MM"), FUNCTIONS[name]) for name in ("minimum", "fmax")},
}
MADE: dict[str, dict[str, Any]] = {
    "multiply": {"mf": _of_product, "fm": _turned(_of_product)},
    "divide": {"mf": _of_quotient, "mm": _ratio},
    "floor_divide": {"mf": _of_quotient},
    **{name: dict.fromkeys("mM", _is_nat) for name in ("isnat", "isnan")},
    "isfinite": dict.fromkeys("mM", lambda x: FUNCTIONS["not_equal"](x, NAT)),
    "isinf": dict.fromkeys("mM", lambda x: FUNCTIONS["isinf"](x)),
}


@functools.lru_cache(4096)
def _resolved(name: str, given: tuple[Any, ...], casting: Any, signature: Any) -> tuple[Any, ...]:
    """The dtypes of the loop that NumPy takes for operands of these dtypes."""
    options = {} if casting is None else {"casting": casting}
    if signature is not None:
        options["signature"] = signature
    return getattr(numpy, name).resolve_dtypes(given, **options)


@functools.lru_cache(4096)
def _plan(name: str, given: tuple[Any, ...], casting: Any, signature: Any) -> tuple[Any, Any, Any]:
    """The dtypes of a loop, and the function of elements that computes it, or what makes it of several."""
    loop, n = _resolved(name, given, casting, signature), len(given) - 1
    kinds = "".join("i" if dtype.kind in "iu" else dtype.kind for dtype in loop[:n])
    function, made = LOOPS.get(name, {}).get(kinds), MADE.get(name, {}).get(kinds)
    if name == "sign" and loop[-1].kind == "f":  # since NumPy 2.5
        function, made = None, lambda x: FUNCTIONS["sign"](_float(x))
    if function is None and made is None and not {"m", "M"} & set(kinds):  # as logical functions, of truth
        function = FUNCTIONS[name]
    if function is None and made is None:
        raise TypeError(f"ufunc '{name}' not supported for the input types {', '.join(map(str, loop[:n]))}")
    return loop, function, made


def _kind(x: Any) -> Any:
    """What an operand counts as: its dtype, or a type of Python's numbers."""
    if isinstance(x, (ndarray, numpy.generic)):
        return x.dtype
    return BOOL if isinstance(x, bool) else type(x)


def _class_of(dtype: Any) -> Any:
    """What dtype= asks for: only which dtype, no unit."""
    if isinstance(dtype, type) and issubclass(dtype, numpy.dtype):
        return dtype
    dtype = numpy.dtype(dtype)
    if dtype.kind in "mM" and unit_of(dtype)[0] != "generic":
        raise TypeError(
            "The `dtype` and `signature` arguments to ufuncs only select the general DType and not details such as "
            "the byte order or time unit. You can avoid this error by using the scalar types `np.float64` or the "
            "dtype string notation."
        )
    return type(dtype) if dtype.kind in "mM" else dtype


def call(name: str, operands: tuple[Any, ...], out: Any, options: dict[str, Any]) -> Any:
    """An elementwise function of operands of which one is a date or a span: arrays of ours and scalars."""
    if name == "copy":
        return _copied(operands[0], out, options)
    if name == "select":
        return _selected(*operands)
    signature, casting = None, None
    if options:
        signature = options.pop("signature", options.pop("sig", None))
        dtype, casting = options.pop("dtype", None), options.pop("casting", None)
        if dtype is not None:
            signature = (None,) * len(operands) + (_class_of(dtype),)
    given = (*map(_kind, operands), None if out is None else out.dtype)
    loop, function, made = _plan(name, given, casting, signature)
    taken = [operand(x, dtype) for x, dtype in zip(operands, loop, strict=False)]
    if function is not None:
        return _direct(function, taken, loop[-1], out, options)
    made = made(*taken)
    made = meant(made, loop[-1], True) if loop[-1].kind in "mM" else made
    return made if out is None and not options else copy_of(made, out, **options)


def _direct(function: Any, taken: list[Any], result: Any, out: Any, options: dict[str, Any]) -> Any:
    """A loop that is one function of elements, which writes to `out` itself where that is of the loop's dtype."""
    if result.kind not in "mM":
        if out is None or out.dtype.kind not in "mM":
            made = function(*taken, out, **options)
            return made if out is not None or result.char != "q" else _as_longlong(made, result)
        return copy_of(f.asarray(function(*taken)), out, casting="unsafe", **options)
    if out is None:
        return meant(function(*taken, **options), result, True)
    if out.dtype == result:
        function(*taken, plain(out), **options)
        return out
    return copy_of(meant(f.asarray(function(*taken)), result), out, casting="unsafe", **options)


def _as_longlong(made: Any, dtype: Any) -> Any:
    """Quotients of spans, which are NumPy's longlong, as arrays and scalars show."""
    return f.shown_as(made, dtype) if isinstance(made, ndarray) else dtype.type(made)


def _copied(x: Any, out: Any, options: dict[str, Any]) -> Any:
    """The elements in another dtype, of a new array or in `out`."""
    casting = options.pop("casting", "same_kind")
    dtype = options.pop("dtype", None)
    target = numpy.dtype(dtype) if dtype is not None else x.dtype if out is None else out.dtype
    source = numpy.dtype(_kind(x))
    if out is None:
        target = fitted(source, target)
    if not numpy.can_cast(source, target, casting):
        raise TypeError(
            f"Cannot cast array data from {source!r} to {target!r} according to the rule '{casting}'"
        )
    numbers = operand(x, target)
    if target.kind not in "mM":
        return copy_of(numbers, out, casting="unsafe", **options) if out is not None else copy_of(
            f.asarray(numbers), dtype=target, casting="unsafe", **options)  # fmt: skip
    if out is not None:
        copy_of(numbers, plain(out), casting="unsafe", **options)
        return out
    return meant(copy_of(f.asarray(numbers), dtype=INT, **options), target)


def _selected(condition: Any, x: Any, y: Any) -> Any:
    """Elements of x where a condition holds, else of y, in the dtype that holds both."""
    dtype = f.result_type(x, y)
    if dtype.kind not in "mM":
        return select(condition, operand(x, dtype), operand(y, dtype))
    if isinstance(condition, ndarray) and has_meaning(condition):
        condition = operand(condition, BOOL)
    return meant(select(condition, counted(x, dtype), counted(y, dtype)), dtype)


# -- order and reductions ------------------------------------------------------------------------------


def above(a: ndarray) -> ndarray:
    """Numbers in the order of an array's dates or spans with NaT as the greatest."""
    return f.asarray(plain(a) - 1)


def from_above(made: Any, dtype: Any) -> Any:
    """Dates or spans of such numbers."""
    if not isinstance(made, ndarray):  # NumPy's scalar, which would tell of the overflow
        return meant(numpy.int64(_wrapped(int(made) + 1)), dtype)
    return meant(made + 1, dtype)


def placed(name: str, a: ndarray) -> ndarray:
    """Numbers whose greatest (argmax) or least is where that of the array is: the first NaT."""
    return above(a) if name == "argmax" else plain(a)


def _check_loop(name: str, dtype: Any) -> None:
    _resolved(name, (dtype, dtype, None), None, None)


def fold(name: str, a: ndarray, dtype: Any, initial: Any, run: Callable[..., Any]) -> Any:
    """A reduction, or a running one, by those of numbers: ``run(name, numbers, initial)``."""
    if dtype is not None:
        _class_of(dtype)  # which has no unit, so the array's remains
    if name in ("all", "any"):
        return run(name, operand(a, BOOL), initial)
    _check_loop({"sum": "add", "prod": "multiply", "max": "maximum", "min": "minimum"}[name], a.dtype)
    if initial is not None:
        initial = int(numpy.asarray(to_numpy(initial) if isinstance(initial, ndarray) else initial, a.dtype).view(INT))
    if name == "min":
        return meant(run(name, plain(a), initial), a.dtype)
    if name == "max":
        return from_above(run(name, above(a), None if initial is None else _wrapped(initial - 1)), a.dtype)
    numbers = plain(a)
    total = run("sum", numbers, initial)
    none = run("any", f.asarray(_is_nat(numbers)), initial is not None and initial == NAT)
    return meant(select(none, NAT, total), a.dtype)


# -- functions that NumPy's C code computes ------------------------------------------------------------


def _lent(name: str) -> Any:
    return _host.on_host(name, getattr(numpy, name), getattr(numpy, name).__doc__.split("\n\n")[1].strip())


HOSTED = {
    name: _lent(name) for name in ("busday_count", "busday_offset", "datetime_as_string", "is_busday")
}
