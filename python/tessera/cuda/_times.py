# SPDX-License-Identifier: Apache-2.0
"""Dates and spans of time (NumPy's datetime64 and timedelta64) in kernels of threads: a count of units, of which the
least int64 is NaT, with operators in the kernels' own language. The compiler knows them as dataclasses
(``__stored__`` is what it calls for a value that is stored in an array of them).

Units are those of NumPy: years and months count months, all others attoseconds. Two units meet in the finer one; a
date in months becomes one in days by the calendar, a span does not. NaT is equal to nothing, and what is computed of
it is NaT.
"""

from __future__ import annotations

import dataclasses
import math
from typing import Any

from .._units import MONTHS, SIZES, UNITS
from ._scalar_types import float64, int64

__all__ = ["Date", "Span", "class_of", "instance_of", "value_of"]

NAT = -(1 << 63)

def _factors(unit: str) -> dict[str, int]:
    """How many of each unit that is not coarser one of this unit has, where 64 bits hold that."""
    sizes = MONTHS if unit in MONTHS else SIZES
    factors = {other: sizes[unit] // size for other, size in sizes.items() if size <= sizes[unit]}
    return {other: factor for other, factor in factors.items() if factor < 1 << 63}


def _days(month: Any) -> Any:
    """The days from 1970-01-01 to the first day of a month counted from 1970-01: years of 400 begin in March."""
    year, m = 1970 + month // 12, month % 12
    year = year - (1 if m < 2 else 0)
    era, of_era = year // 400, year % 400
    return era * 146097 + of_era * 365 + of_era // 4 - of_era // 100 + (153 * ((m + 10) % 12) + 2) // 5 - 719468


def _count(time: Any, other: Any) -> Any:
    """The count of a time in the unit of another one, which is not coarser."""
    value = time.value
    if time.months and not other.months:
        days = _days(value * time.factors["M"])
        days = days // 7 if other.unit == "W" else days * other.day_factors[other.unit]
        return NAT if value == NAT else days
    return NAT if value == NAT else value * time.factors[other.unit]


class _Time:
    """What dates and spans have in common."""

    value: Any
    like: Any  # its class
    meets: Any  # whether the other one can be compared
    months: bool  # whether the unit counts them
    rank: int  # of the unit: the finer, the greater
    unit: str
    factors: dict[str, int]
    day_factors = _factors("D")

    def __eq__(self, other: Any) -> Any:
        if not self.meets(other):
            return NotImplemented
        a, b = self.counts(other)
        return a == b and a != NAT

    def __ne__(self, other: Any) -> Any:
        if not self.meets(other):
            return NotImplemented
        a, b = self.counts(other)
        return a != b or a == NAT

    def __lt__(self, other: Any) -> Any:
        if not self.meets(other):
            return NotImplemented
        a, b = self.counts(other)
        return a < b and a != NAT and b != NAT

    def __le__(self, other: Any) -> Any:
        if not self.meets(other):
            return NotImplemented
        a, b = self.counts(other)
        return a <= b and a != NAT and b != NAT

    def __gt__(self, other: Any) -> Any:
        if not self.meets(other):
            return NotImplemented
        a, b = self.counts(other)
        return a > b and a != NAT and b != NAT

    def __ge__(self, other: Any) -> Any:
        if not self.meets(other):
            return NotImplemented
        a, b = self.counts(other)
        return a >= b and a != NAT and b != NAT

    def counts(self, other: Any) -> Any:
        """Both counts in the finer unit."""
        if self.is_finer(other):
            return self.value, _count(other, self)
        return _count(self, other), other.value

    def is_finer(self, other: Any) -> Any:
        """Whether its unit is at most as long as the other's."""
        return self.rank >= other.rank

    def __isnat__(self) -> Any:
        """Whether it is NaT."""
        return self.value == NAT


class Date(_Time):
    """A date."""

    span: Any

    def meets(self, other: Any) -> Any:
        """Whether the other one is a date."""
        return isinstance(other, Date)

    def __stored__(self, other: Any) -> Any:
        if not isinstance(other, Date) or not self.is_finer(other):
            return NotImplemented
        return self.like(_count(other, self))

    def __sub__(self, other: Any) -> Any:
        if isinstance(other, Date):
            a, b = self.counts(other)
            missing = a == NAT or b == NAT
            finer = self if self.is_finer(other) else other
            return finer.span(NAT if missing else a - b)
        if isinstance(other, Span):
            return self.__add__(-other)
        return NotImplemented

    def __add__(self, other: Any) -> Any:
        if not isinstance(other, Span) or other.months and not self.months:
            return NotImplemented
        a, b = self.counts(other)
        missing = a == NAT or b == NAT
        total = NAT if missing else a + b
        return self.like(total) if self.is_finer(other) else other.date(total)

    def __radd__(self, other: Any) -> Any:
        return self.__add__(other)


class Span(_Time):
    """A span of time."""

    date: Any

    def meets(self, other: Any) -> Any:
        """Whether the other one is a span that can be compared."""
        return isinstance(other, Span) and self.months == other.months

    def __stored__(self, other: Any) -> Any:
        if not self.meets(other) or not self.is_finer(other):
            return NotImplemented
        return self.like(_count(other, self))

    def __neg__(self) -> Any:
        return self.like(NAT if self.value == NAT else -self.value)

    def __pos__(self) -> Any:
        return self

    def __abs__(self) -> Any:
        return self.like(-self.value if self.value < 0 and self.value != NAT else self.value)

    def __add__(self, other: Any) -> Any:
        if not self.meets(other):
            return NotImplemented
        a, b = self.counts(other)
        missing = a == NAT or b == NAT
        total = NAT if missing else a + b
        return self.like(total) if self.is_finer(other) else other.like(total)

    def __sub__(self, other: Any) -> Any:
        if not self.meets(other):
            return NotImplemented
        return self + -other

    def __mul__(self, other: Any) -> Any:
        if isinstance(other, _Time):
            return NotImplemented
        if isinstance(other, float):
            wide = self.value * float64(other)
            return self.like(NAT if self.value == NAT or not math.isfinite(wide) else int64(wide))
        return self.like(NAT if self.value == NAT else self.value * int64(other))

    def __rmul__(self, other: Any) -> Any:
        return self * other

    def __truediv__(self, other: Any) -> Any:
        if isinstance(other, Date):
            return NotImplemented
        if isinstance(other, Span):
            if not self.meets(other):
                return NotImplemented
            a, b = self.counts(other)
            return math.nan if a == NAT or b == NAT else float64(a) / float64(b)
        if isinstance(other, float):
            wide = self.value / float64(other)
            return self.like(NAT if self.value == NAT or not math.isfinite(wide) else int64(wide))
        n = int64(other)
        cut = self.value // n + (1 if self.value % n != 0 and (self.value < 0) != (n < 0) else 0)
        return self.like(NAT if self.value == NAT or n == 0 else cut)

    def __floordiv__(self, other: Any) -> Any:
        if not isinstance(other, _Time):
            return self / other  # NumPy cuts off, too
        if not self.meets(other):
            return NotImplemented
        a, b = self.counts(other)
        return int64(0) if a == NAT or b == NAT else a // b

    def __mod__(self, other: Any) -> Any:
        if not self.meets(other):
            return NotImplemented
        a, b = self.counts(other)
        rest = NAT if a == NAT or b == NAT or b == 0 else a % b
        return self.like(rest) if self.is_finer(other) else other.like(rest)


def _made(unit: str) -> tuple[Any, Any]:
    namespace = {"months": unit in MONTHS, "rank": UNITS.index(unit), "unit": unit, "factors": _factors(unit)}
    made = []
    for base, name in ((Date, "datetime64"), (Span, "timedelta64")):
        fields = [("value", int)]
        made.append(
            dataclasses.make_dataclass(
                f"{name}[{unit}]", fields, bases=(base,), frozen=True, eq=False, namespace=dict(namespace)
            )
        )
    date: Any
    span: Any
    date, span = made
    date.like, date.span, span.like, span.date = date, span, span, date
    return date, span


_CLASSES: dict[str, tuple[Any, Any]] = {}


def class_of(dtype: Any) -> Any:
    """The class of a NumPy dtype.

    Raises
    ------
    TypeError
        It has no unit, or one of several steps.
    """
    import numpy

    unit, steps = numpy.datetime_data(dtype)
    if unit not in UNITS or steps != 1:
        kind = dtype.kind
        raise TypeError(f"kernels take dates and spans with a unit, not {dtype}: write array.astype('{kind}8[s]')")
    if unit not in _CLASSES:
        _CLASSES[unit] = _made(unit)
    return _CLASSES[unit][dtype.kind == "m"]


def instance_of(value: Any) -> Any:
    """A scalar of NumPy as what kernels take."""
    return class_of(value.dtype)(int(value.view("i8")))


def value_of(time: Any) -> Any:
    """The scalar of NumPy of a date or span."""
    import numpy

    return (numpy.datetime64 if isinstance(time, Date) else numpy.timedelta64)(time.value, time.unit)
