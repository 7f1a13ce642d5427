# SPDX-License-Identifier: Apache-2.0
"""Functions of numbers that integrals define: Bessel's of imaginary places, exponential ones, elliptic ones; angles.

K is the integral of exp(-x (cosh(t) - 1)) cosh(n t), for which the trapezoidal rule is exact to rounding: it errs by
exp(-pi**2 / h) or less, and where x is great by exp(-2 pi**2 / (x h**2)).
"""

from __future__ import annotations

import math

from ... import cuda
from ._gamma import EULER, psi


@cuda.jit
def _grown(n: int, x: float) -> float:
    """I of order 0 or 1 times exp(-abs(x)), for x of 0 and more."""
    if x == math.inf:
        return 0.0
    if x < 30:
        y = 0.25 * x * x
        term = 1.0 if n == 0 else 0.5 * x
        made = term
        for k in range(1, 200):
            term *= y / (k * (k + n))
            made += term
            if term < 1e-17 * made:
                break
        return made * math.exp(-x)
    term = 1.0
    made = 1.0
    for k in range(1, 40):
        odd = 2 * k - 1
        term *= (odd * odd - 4.0 * n) / (8 * k * x)
        made += term
        if abs(term) < 1e-17 * made:
            break
    return made / math.sqrt(2 * math.pi * x)


@cuda.jit
def i0e(x: float) -> float:
    """The modified Bessel function of order 0, times exp(-abs(x))."""
    return x if math.isnan(x) else _grown(0, abs(x))


@cuda.jit
def i1e(x: float) -> float:
    """The modified Bessel function of order 1, times exp(-abs(x))."""
    return x if math.isnan(x) else math.copysign(_grown(1, abs(x)), x)


@cuda.jit
def i0(x: float) -> float:
    """The modified Bessel function of order 0."""
    half = math.exp(0.5 * abs(x))
    return math.inf if math.isinf(x) else i0e(x) * half * half


@cuda.jit
def i1(x: float) -> float:
    """The modified Bessel function of order 1."""
    half = math.exp(0.5 * abs(x))
    return x if math.isinf(x) else i1e(x) * half * half


@cuda.jit
def _fallen(n: int, x: float) -> float:
    """K of order 0 or 1 times exp(x)."""
    if math.isnan(x) or x < 0:
        return math.nan
    if x == 0:
        return math.inf
    if x == math.inf:
        return 0.0
    if x < 1e-8:  # the first terms
        first = -math.log(0.5 * x) - EULER
        return (first if n == 0 else 1 / x + 0.5 * x * (-first - 0.5)) * math.exp(x)
    h = min(0.22, 0.7 / math.sqrt(x))
    made = 0.5
    t = 0.0
    while True:
        t += h
        grown = math.exp(t)
        lower = 1 / grown
        sinh = math.sinh(0.5 * t)
        term = math.exp(-2 * x * sinh * sinh)
        if n == 1:
            term *= 0.5 * (grown + lower)
        made += term
        if term < 1e-18 * made and x * grown > 2:
            return made * h


@cuda.jit
def k0e(x: float) -> float:
    """The modified Bessel function of the second kind, order 0, times exp(x)."""
    return _fallen(0, x)


@cuda.jit
def k1e(x: float) -> float:
    """The modified Bessel function of the second kind, order 1, times exp(x)."""
    return _fallen(1, x)


@cuda.jit
def k0(x: float) -> float:
    """The modified Bessel function of the second kind, order 0."""
    return _fallen(0, x) * math.exp(-x)


@cuda.jit
def k1(x: float) -> float:
    """The modified Bessel function of the second kind, order 1."""
    return _fallen(1, x) * math.exp(-x)


@cuda.jit
def exp1(x: float) -> float:
    """The integral of exp(-t) / t from x on."""
    return expn(1.0, x)


@cuda.jit
def expn(order: float, x: float) -> float:
    """The integral of exp(-x t) / t**n from 1 on."""
    n = math.floor(order)
    if math.isnan(x) or math.isnan(n) or n < 0 or x < 0:
        return math.nan
    if x == 0:
        return math.inf if n < 2 else 1 / (n - 1)
    if n == 0:
        return math.exp(-x) / x
    if x == math.inf:
        return 0.0
    if x > 1:
        return _fraction(n, x)
    power = 1.0  # (-x)**k / k!
    made = 0.0
    for k in range(40):
        if k > 0:
            power *= -x / k
        if k == n - 1:
            made += power * (psi(n) - math.log(x))
        else:
            made -= power / (k - n + 1)
    return made


@cuda.jit
def _fraction(n: float, x: float) -> float:
    """Of expn, for x above 1."""
    b = x + n
    c = 1e300
    d = 1 / b
    made = d
    for k in range(1, 500):
        step = -k * (n - 1 + k)
        b += 2
        d = 1 / (step * d + b)
        c = b + step / c
        made *= c * d
        if abs(c * d - 1) < 1e-16:
            break
    return made * math.exp(-x)


@cuda.jit
def expi(x: float) -> float:
    """The integral of exp(t) / t up to x, its principal value."""
    if x < 0:
        return -expn(1.0, -x)
    if x == 0:
        return -math.inf
    if math.isnan(x) or x == math.inf:
        return x
    made = 0.0
    term = 1.0
    if x < 40:
        for k in range(1, 200):
            term *= x / k
            made += term / k
            if term / k < 1e-17 * made:
                break
        return EULER + math.log(x) + made
    made = 1.0
    for k in range(1, 60):
        term *= k / x
        if term < 1e-17 or k > x:
            break
        made += term
    half = math.exp(0.5 * x)
    return half / x * made * half


@cuda.jit
def ellipkm1(p: float) -> float:
    """The complete elliptic integral of the first kind of 1 - p."""
    if math.isnan(p) or p < 0:
        return math.nan
    if p == 0:
        return math.inf
    if p == math.inf:
        return 0.0
    a = 1.0
    b = math.sqrt(p)
    for _ in range(60):
        if abs(a - b) <= 4e-16 * a:
            break
        after = 0.5 * (a + b)
        b = math.sqrt(a * b)
        a = after
    return math.pi / (a + b)


@cuda.jit
def ellipk(m: float) -> float:
    """The complete elliptic integral of the first kind."""
    return ellipkm1(1 - m)


@cuda.jit
def log_ndtr(x: float) -> float:
    """The logarithm of the chance that a normal variable is at most x."""
    root = x * math.sqrt(0.5)
    if x < -1:
        return math.log(0.5 * cuda.libdevice.erfcx(-root)) - root * root
    return math.log1p(-0.5 * math.erfc(root))


@cuda.jit
def yn(order: float, x: float) -> float:
    """The Bessel function of the second kind, of a whole order."""
    n = abs(math.floor(order))
    sign = -1.0 if order < 0 and math.fmod(n, 2.0) == 1 else 1.0
    if math.isnan(x) or math.isnan(order) or x < 0:
        return math.nan
    low = cuda.libdevice.y0(x)
    if n == 0 or x == 0:
        return low * sign
    high = cuda.libdevice.y1(x)
    k = 1.0
    while k < n and high > -math.inf:
        after = 2 * k / x * high - low
        low = high
        high = after
        k += 1
    return high * sign


# -- angles in degrees ----------------------------------------------------------------------------------------


@cuda.jit
def _turned(x: float, quarters: float) -> float:
    """The sine of an angle and some quarters of a turn: exact where it is 0, a half or 1."""
    x = math.fmod(x, 360.0)
    near = math.floor(x / 90 + 0.5)
    angle = (x - 90 * near) * (math.pi / 180)
    k = int(near + quarters + 8) % 4
    made = math.sin(angle) if k % 2 == 0 else math.cos(angle)
    return -made if k >= 2 else made


@cuda.jit
def sindg(x: float) -> float:
    """The sine of degrees."""
    return math.nan if math.isnan(x) or math.isinf(x) else _turned(x, 0.0)


@cuda.jit
def cosdg(x: float) -> float:
    """The cosine of degrees."""
    return math.nan if math.isnan(x) or math.isinf(x) else _turned(x, 1.0)


@cuda.jit
def tandg(x: float) -> float:
    """The tangent of degrees."""
    if math.fmod(x, 180.0) == 0:
        return 0.0
    if math.fmod(x, 90.0) == 0:
        return math.inf
    if math.fmod(x, 45.0) == 0:
        turn = math.fmod(x, 180.0)
        turn = turn + 180 if turn < 0 else turn
        return 1.0 if turn < 90 else -1.0
    return sindg(x) / cosdg(x)


@cuda.jit
def cotdg(x: float) -> float:
    """The cotangent of degrees."""
    return tandg(90 - x)


@cuda.jit
def lpmv(order: float, degree: float, x: float) -> float:
    """The associated Legendre function of whole numbers, for x between -1 and 1."""
    if math.isnan(x) or abs(x) > 1 or math.isnan(order) or math.isnan(degree):
        return math.nan
    v = degree if degree >= 0 else -degree - 1
    m = abs(order)
    if m > v:
        return 0.0 if order > 0 else math.nan
    made = 1.0
    root = math.sqrt((1 - x) * (1 + x))
    k = 1.0
    while k <= m:
        made *= -(2 * k - 1) * root
        k += 1
    before = 0.0
    k = m
    while k < v:
        after = (x * (2 * k + 1) * made - (k + m) * before) / (k - m + 1)
        before = made
        made = after
        k += 1
    if order < 0:
        k = v - m + 1
        while k <= v + m:
            made /= k
            k += 1
        made = -made if math.fmod(m, 2.0) == 1 else made
    return made
