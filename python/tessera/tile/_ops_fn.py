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
def atan2(y: Any, x: Any, /) -> Any:
    """Angle of the point (x, y) in radians, -pi to pi."""


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
def cos(x: Any, /) -> Any:
    """Cosine of radians, any argument."""


@op
def cosh(x: Any, /) -> Any:
    """Hyperbolic cosine."""


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
def erfcinv(x: Any, /) -> Any:
    """The y with ``erfc(y) == x``; infinite at 0 and 2, NaN beyond."""


@op
def erfcx(x: Any, /) -> Any:
    """``exp(x*x) * erfc(x)``, which stays far from 0 where ``erfc`` does not."""


@op
def erfinv(x: Any, /) -> Any:
    """The y with ``erf(y) == x``; infinite at -1 and 1, NaN beyond."""


@op
def exp(x: Any, /, *, rounding_mode: Any = None) -> Any:
    """e to the x."""


@op
def exp10(x: Any, /) -> Any:
    """10 to the x."""


@op
def exp2(x: Any, /, *, flush_to_zero: bool = False, rounding_mode: Any = None) -> Any:
    """2 to the x. With ``flush_to_zero`` a GPU uses its own instruction, good to 2 ulps."""


@op
def expm1(x: Any, /) -> Any:
    """``exp(x) - 1``, right to the last places near 0."""


@op
def fdim(x: Any, y: Any, /) -> Any:
    """``x - y`` where that is positive, else 0."""


@op
def fmod(x: Any, y: Any, /) -> Any:
    """Remainder of ``x / y`` rounded towards zero, as C's."""


@op
def frexp(x: Any, /) -> Any:
    """A part of magnitude 1/2 to 1 and an ``int32`` exponent with ``x == part * 2**exponent``;
    0, infinities and NaN with exponent 0.
    """


@op
def hypot(x: Any, y: Any, /) -> Any:
    """``sqrt(x*x + y*y)`` without overflow on the way; infinite if one is, even beside NaN."""


@op
def ilogb(x: Any, /) -> Any:
    """The exponent of ``x`` as an ``int32``; of 0 and NaN -2147483648, of infinities 2147483647."""


@op
def isfinite(x: Any, /) -> Any:
    """Where a float is neither infinite nor NaN."""


@op
def isinf(x: Any, /) -> Any:
    """Where a float is infinite."""


@op
def j0(x: Any, /) -> Any:
    """Bessel function of the first kind, order 0. From 8 on the error is in ulps of ``sqrt(2 /
    (pi * x))``.
    """


@op
def j1(x: Any, /) -> Any:
    """Bessel function of the first kind, order 1; the error as of ``j0``."""


@op
def ldexp(x: Any, n: Any, /) -> Any:
    """``x * 2**n`` for an integer ``n``, rounded once."""


@op
def lgamma(x: Any, /) -> Any:
    """Logarithm of the magnitude of the gamma function. Between its zeros below -2 the error is
    absolute.
    """


@op
def log(x: Any, /) -> Any:
    """Natural logarithm."""


@op
def log10(x: Any, /) -> Any:
    """Logarithm to base 10."""


@op
def log1p(x: Any, /) -> Any:
    """``log(1 + x)``, right to the last places near 0."""


@op
def log2(x: Any, /) -> Any:
    """Logarithm to base 2."""


@op
def logb(x: Any, /) -> Any:
    """The exponent of ``x`` as a float: ``floor(log2(abs(x)))``; of 0 minus infinity."""


@op
def modf(x: Any, /) -> Any:
    """The fraction ``x - trunc(x)`` with the sign of ``x``, and ``trunc(x)``."""


@op
def nextafter(x: Any, y: Any, /) -> Any:
    """The next number after ``x`` in its dtype towards ``y``."""


@op
def normcdf(x: Any, /) -> Any:
    """Probability that a standard normal number is below ``x``."""


@op
def normcdfinv(x: Any, /) -> Any:
    """The y with ``normcdf(y) == x``, the quantile of the normal distribution; infinite at 0 and
    1, NaN beyond.
    """


@op
def pow(x: Any, y: Any, /) -> Any:
    """``x ** y`` of floats; an int exponent is allowed."""


@op
def rcbrt(x: Any, /) -> Any:
    """``1 / cbrt(x)``."""


@op
def remainder(x: Any, y: Any, /) -> Any:
    """Remainder of ``x / y`` rounded to nearest (IEEE 754). NumPy's ``remainder`` is ``mod``."""


@op
def rhypot(x: Any, y: Any, /) -> Any:
    """``1 / hypot(x, y)``; 0 if one is infinite, even beside NaN."""


@op
def rint(x: Any, /) -> Any:
    """The nearest integer as a float, halves to even."""


@op
def round_away(x: Any, /) -> Any:
    """The nearest integer as a float, halves away from zero as C's ``round``."""


@op
def rsqrt(x: Any, /, *, flush_to_zero: bool = False) -> Any:
    """1 / sqrt(x)."""


@op
def signbit(x: Any, /) -> Any:
    """Where the sign is minus: of negative numbers, of -0 and of NaN with that sign."""


@op
def sin(x: Any, /) -> Any:
    """Sine of radians, any argument."""


@op
def sincos(x: Any, /) -> Any:
    """``sin(x)`` and ``cos(x)``."""


@op
def sincospi(x: Any, /) -> Any:
    """``sin(pi * x)`` and ``cos(pi * x)``."""


@op
def sinh(x: Any, /) -> Any:
    """Hyperbolic sine."""


@op
def sinpi(x: Any, /) -> Any:
    """``sin(pi * x)``; exact at multiples of a half."""


@op
def tan(x: Any, /) -> Any:
    """Tangent of radians."""


@op
def tanh(x: Any, /, *, rounding_mode: Any = None) -> Any:
    """Hyperbolic tangent."""


@op
def tgamma(x: Any, /) -> Any:
    """Gamma function; infinite at 0, NaN at the negative integers."""


@op
def trunc(x: Any, /) -> Any:
    """The integer next to ``x`` towards zero, as a float."""


@op
def y0(x: Any, /) -> Any:
    """Bessel function of the second kind, order 0; minus infinity at 0, NaN below; the error as
    of ``j0``.
    """


@op
def y1(x: Any, /) -> Any:
    """Bessel function of the second kind, order 1; minus infinity at 0, NaN below; the error as
    of ``j0``.
    """
