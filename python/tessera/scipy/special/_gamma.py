# SPDX-License-Identifier: Apache-2.0
"""Functions of numbers about the gamma function: its derivatives, zeta, its incomplete integrals and their inverses.

    gammainc(a, x)    x < a + 1: a series; else 1 - a continued fraction; Temme's expansion where a is above 10^6
    gammaincc(a, x)   the rest; a series of its own where a is small
    the inverses      Newton's steps for log(x), between bounds that halve where a step would leave them
"""

from __future__ import annotations

import math

from ... import cuda

EULER = 0.57721566490153286061
# zeta(k) - 1, from k = 2 on
ZETAS = (
    0.6449340668482264, 0.2020569031595943, 0.08232323371113819, 0.03692775514336993, 0.01734306198444914,
    0.008349277381922827, 0.004077356197944339, 0.0020083928260822143, 0.0009945751278180854, 0.0004941886041194646,
    0.00024608655330804832, 0.00012271334757848915, 6.124813505870482e-05, 3.0588236307020493e-05,
    1.5282259408651871e-05, 7.637197637899762e-06,
)  # fmt: skip
MOST = 100000  # terms of a series: those of gammainc are some 10 sqrt(a), where a is at most 10^6
LARGE = 1e6  # from where on Temme's expansion needs four terms


@cuda.jit
def psi(x: float) -> float:
    """The derivative of log(gamma)."""
    made = 0.0
    if x == 0:
        return math.copysign(math.inf, -x)
    if x < 0:
        part = x - math.floor(x)
        if part == 0 or x == -math.inf:
            return math.nan
        made = -math.pi / math.tan(math.pi * part)
        x = 1 - x
    while x < 10:
        made -= 1 / x
        x += 1
    y = 1 / (x * x)
    tail = y * (1 / 252 - y * (1 / 240 - y * (1 / 132 - y * (691 / 32760 - y / 12))))
    return made + math.log(x) - 0.5 / x - y * (1 / 12 - y * (1 / 120 - tail))


@cuda.jit
def _zeta_tail(s: float, q: float) -> float:
    """The sum of (q + k)**-s from k = 0 on, by Euler and Maclaurin, for q of 9 and more."""
    power = math.pow(q, -s)
    made = power * q / (s - 1) + 0.5 * power
    term = power * s / q
    y = 1 / (q * q)
    made += term / 12
    term *= (s + 1) * (s + 2) * y
    made -= term / 720
    term *= (s + 3) * (s + 4) * y
    made += term / 30240
    term *= (s + 5) * (s + 6) * y
    made -= term / 1209600
    term *= (s + 7) * (s + 8) * y
    made += term / 47900160
    term *= (s + 9) * (s + 10) * y
    made -= term * 691 / 1307674368000
    term *= (s + 11) * (s + 12) * y
    made += term / 74724249600
    term *= (s + 13) * (s + 14) * y
    made -= term * 3617 / 10670622842880000
    return made


@cuda.jit
def hurwitz(s: float, q: float) -> float:
    """The sum of (q + k)**-s from k = 0 on."""
    if s == 1:
        return math.inf
    if s < 1:
        return math.nan
    if q <= 0:
        if q == math.floor(q):
            return math.inf
        if s != math.floor(s):
            return math.nan
    if math.isnan(s) or math.isnan(q):
        return math.nan
    if s == math.inf:
        return math.inf if q < 1 else 1.0 if q == 1 else 0.0
    if q == math.inf:
        return 0.0
    if q > 1e8:
        return (1 / (s - 1) + 0.5 / q) * math.pow(q, 1 - s)
    made = 0.0
    while q < 10 + s:  # from there on the expansion holds
        term = math.pow(q, -s)
        made += term
        q += 1
        if q > 1 and abs(term) <= 1e-18 * abs(made):
            return made
    return made + _zeta_tail(s, q)


@cuda.jit
def zetac(x: float) -> float:
    """Riemann's zeta, less 1."""
    if math.isnan(x):
        return x
    if x == -math.inf:
        return math.nan
    if x == 1:
        return math.inf
    if x >= 1:
        return hurwitz(x, 2.0)
    if x > -0.01:  # the expansion holds below 1, too
        made = 0.0
        for k in range(2, 12):
            made += math.pow(k * 1.0, -x)
        return made + _zeta_tail(x, 12.0)
    turn = math.sin(0.5 * math.pi * math.fmod(x, 4.0))
    half = math.pow(2 * math.pi, 0.5 * x)
    return half * math.gamma(1 - x) * half * turn / math.pi * hurwitz(1 - x, 1.0) - 1


@cuda.jit
def zeta(x: float) -> float:
    """Riemann's zeta."""
    return hurwitz(x, 1.0) if x >= 1 else zetac(x) + 1


@cuda.jit
def polygamma(n: float, x: float) -> float:
    """The derivative n of psi."""
    if n == 0:
        return psi(x)
    sign = math.nan
    if n == math.floor(n):
        sign = -1.0 if math.fmod(n, 2.0) == 0 else 1.0
    return sign * math.gamma(n + 1) * hurwitz(n + 1, x)


@cuda.jit
def gammaln(x: float) -> float:
    """The logarithm of the magnitude of gamma."""
    return math.lgamma(x)


@cuda.jit
def gammasgn(x: float) -> float:
    """The sign of gamma."""
    if math.isnan(x):
        return x
    if x > 0:
        return 1.0
    if x == 0:
        return math.copysign(1.0, x)
    if x == -math.inf or x == math.floor(x):
        return math.nan
    return 1.0 if math.fmod(math.floor(x), 2.0) == 0 else -1.0


# -- incomplete gamma -----------------------------------------------------------------------------------------


@cuda.jit
def stirling(x: float) -> float:
    """log(gamma(x)) less Stirling's (x - 1/2) log(x) - x + log(2 pi) / 2, for x of 10 and more."""
    y = 1 / (x * x)
    return (1 / 12 - y * (1 / 360 - y * (1 / 1260 - y * (1 / 1680 - y * (1 / 1188 - y * 691 / 360360))))) / x


@cuda.jit
def log1p_less(x: float) -> float:
    """log(1 + x) - x."""
    if abs(x) > 0.3:
        return math.log1p(x) - x
    r = x / (2 + x)
    y = r * r
    made = 0.0
    for k in range(14, 0, -1):
        made = (made + 1 / (2 * k + 1)) * y
    return r * (2 * made - x)


@cuda.jit
def lgamma1p(a: float) -> float:
    """log(gamma(1 + a)), also where a is small."""
    if a > 0.2:
        return math.lgamma(1 + a)
    made = 0.0  # the sum of (-a)**k (zeta(k) - 1) / k
    for k in range(15, -1, -1):
        made = ZETAS[k] / (k + 2) - made * a
    return a * (1 - EULER) - math.log1p(a) + made * a * a


@cuda.jit
def _power(a: float, x: float) -> float:
    """x**a exp(-x) / gamma(a + 1)."""
    if a < 10:
        return math.exp(a * math.log(x) - x - lgamma1p(a))
    mu = (x - a) / a
    spread = a * log1p_less(mu) if abs(mu) < 0.5 else a * math.log(x / a) + (a - x)
    return math.exp(spread - stirling(a)) / math.sqrt(2 * math.pi * a)


@cuda.jit
def _series(a: float, x: float) -> float:
    made = 1.0
    term = 1.0
    k = a
    for _ in range(MOST):
        k += 1
        term *= x / k
        made += term
        if term < 1e-17 * made:
            break
    return made * _power(a, x)


@cuda.jit
def _fraction(a: float, x: float) -> float:
    b = x + 1 - a
    c = 1e300
    d = 1 / b
    made = d
    for k in range(1, MOST):
        step = -k * (k - a)
        b += 2
        d = step * d + b
        d = 1 / (d if abs(d) > 1e-300 else 1e-300)
        c = b + step / c
        c = c if abs(c) > 1e-300 else 1e-300
        made *= d * c
        if abs(d * c - 1) < 1e-16:
            break
    return made * a * _power(a, x)


@cuda.jit
def _small(a: float, x: float) -> float:
    """The upper part for small a and x: 1 - x**a / gamma(1 + a) (1 + a sum of (-x)**n / ((a + n) n!))."""
    made = 0.0
    term = 1.0
    for n in range(1, 60):
        term *= -x / n
        made += term / (a + n)
    log_power = a * math.log(x) - lgamma1p(a)
    return -math.expm1(log_power) - a * math.exp(log_power) * made


@cuda.jit
def _temme(a: float, x: float, upper: bool) -> float:
    """Temme's uniform expansion: a is large, so that the parts are 0 and 1 to rounding but where x is near."""
    mu = (x - a) / a
    if abs(mu) > 0.05:
        return 1.0 if (mu < 0) == upper else 0.0
    half = -log1p_less(mu)
    eta = math.copysign(math.sqrt(2 * half), mu)
    first = -1 / 3 + eta * (1 / 12 - eta * (2 / 135 - eta * (1 / 864 + eta * (1 / 2835 - eta * 139 / 777600))))
    second = -1 / 540 - eta * (1 / 288 - eta * (1 / 378 - eta * 77 / 77760))
    rest = math.exp(-a * half) / math.sqrt(2 * math.pi * a) * (first + second / a)
    root = eta * math.sqrt(a / 2)
    return 0.5 * math.erfc(root) + rest if upper else 0.5 * math.erfc(-root) - rest


@cuda.jit
def _part(a: float, x: float, upper: bool) -> float:
    if math.isnan(a) or math.isnan(x) or a < 0 or x < 0:
        return math.nan
    if a == 0:
        return math.nan if x == 0 else 0.0 if upper else 1.0
    if x == 0:
        return 1.0 if upper else 0.0
    if a == math.inf:
        return math.nan if x == math.inf else 1.0 if upper else 0.0
    if x == math.inf:
        return 0.0 if upper else 1.0
    if a > LARGE:
        return _temme(a, x, upper)
    if upper and a < 0.5 and x < 1.1:
        return _small(a, x)
    if x < a + 1:
        made = _series(a, x)
        return 1 - made if upper else made
    made = _fraction(a, x)
    return made if upper else 1 - made


@cuda.jit
def gammainc(a: float, x: float) -> float:
    """The part of gamma's integral below x."""
    return _part(a, x, False)


@cuda.jit
def gammaincc(a: float, x: float) -> float:
    """The part of gamma's integral above x."""
    return _part(a, x, True)


@cuda.jit
def _found(a: float, p: float, upper: bool) -> float:
    """x whose part is p."""
    if math.isnan(a) or math.isnan(p) or a < 0 or p < 0 or p > 1:
        return math.nan
    if a == 0:
        return 0.0
    if p == 0 or p == 1:
        return math.inf if upper == (p == 0) else 0.0
    if p > 0.5:  # of the other part more digits are left
        p = 1 - p
        upper = not upper
    low = -745.0
    high = 709.0
    t = math.log(a) if a > 1 else ((math.log1p(-p) if upper else math.log(p)) + lgamma1p(a)) / a
    t = min(max(t, low), high)
    x = math.exp(t)
    last = False
    for _ in range(200):
        part = _part(a, x, upper)
        slope = a * _power(a, x)
        slope = -slope if upper else slope
        if last:
            return x - x * (part - p) / slope if slope != 0 and x > 1e-290 else x
        if (part > p) == upper:
            low = t
        else:
            high = t
        after = t - math.log(part / p) * part / slope if part > 0 and slope != 0 else math.nan
        if not (after > low and after < high):
            after = 0.5 * (low + high)
        last = abs(after - t) < 1e-11 * max(1.0, abs(t)) or high - low < 1e-11 * abs(t)
        t = after
        x = math.exp(t)
        if t < -744.5:
            return 0.0
    return x


@cuda.jit
def gammaincinv(a: float, p: float) -> float:
    """x of gammainc(a, x) = p."""
    return _found(a, p, False)


@cuda.jit
def gammainccinv(a: float, p: float) -> float:
    """x of gammaincc(a, x) = p."""
    return _found(a, p, True)
