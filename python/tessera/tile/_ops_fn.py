# SPDX-License-Identifier: Apache-2.0
"""Math functions, by tools/gen_language.py from src/table/math.def. Do not edit."""

from __future__ import annotations

from typing import Any

from ._op import op


@op
def acos(x: Any, /) -> Any:
    """Inverse cosine, 0 to pi; NaN beyond -1 and 1."""


@op
def acosh(x: Any, /) -> Any:
    """Inverse hyperbolic cosine; NaN below 1."""


@op
def asin(x: Any, /) -> Any:
    """Inverse sine, -pi/2 to pi/2; NaN beyond -1 and 1."""


@op
def asinh(x: Any, /) -> Any:
    """Inverse hyperbolic sine."""


@op
def atan(x: Any, /) -> Any:
    """Inverse tangent, -pi/2 to pi/2."""


@op
def atanh(x: Any, /) -> Any:
    """Inverse hyperbolic tangent; NaN beyond -1 and 1."""


@op
def cbrt(x: Any, /) -> Any:
    """Cube root, of negative numbers too."""


@op
def copysign(x: Any, y: Any, /) -> Any:
    """The magnitude of ``x`` with the sign of ``y``."""


@op
def cospi(x: Any, /) -> Any:
    """``cos(pi * x)``; exact at multiples of a half."""


@op
def erf(x: Any, /) -> Any:
    """Error function."""


@op
def erfc(x: Any, /) -> Any:
    """``1 - erf(x)``, right to the last places where it is small."""


@op
def exp10(x: Any, /) -> Any:
    """10 to the x."""


@op
def expm1(x: Any, /) -> Any:
    """``exp(x) - 1``, right to the last places near 0."""


@op
def fmod(x: Any, y: Any, /) -> Any:
    """Remainder of ``x / y`` rounded towards zero, as C's."""


@op
def hypot(x: Any, y: Any, /) -> Any:
    """``sqrt(x*x + y*y)`` without overflow on the way; infinite if one is, even beside NaN."""


@op
def isfinite(x: Any, /) -> Any:
    """Where a float is neither infinite nor NaN."""


@op
def isinf(x: Any, /) -> Any:
    """Where a float is infinite."""


@op
def ldexp(x: Any, n: Any, /) -> Any:
    """``x * 2**n`` for an integer ``n``, rounded once."""


@op
def log10(x: Any, /) -> Any:
    """Logarithm to base 10."""


@op
def log1p(x: Any, /) -> Any:
    """``log(1 + x)``, right to the last places near 0."""


@op
def nextafter(x: Any, y: Any, /) -> Any:
    """The next number after ``x`` in its dtype towards ``y``."""


@op
def rcbrt(x: Any, /) -> Any:
    """``1 / cbrt(x)``."""


@op
def remainder(x: Any, y: Any, /) -> Any:
    """Remainder of ``x / y`` rounded to nearest (IEEE 754). NumPy's ``remainder`` is ``mod``."""


@op
def rint(x: Any, /) -> Any:
    """The nearest integer as a float, halves to even."""


@op
def round(x: Any, /) -> Any:
    """The nearest integer as a float, halves away from zero as C's (NumPy's ``round`` is
    ``rint``).
    """


@op
def sinpi(x: Any, /) -> Any:
    """``sin(pi * x)``; exact at multiples of a half."""


@op
def trunc(x: Any, /) -> Any:
    """The integer next to ``x`` towards zero, as a float."""
