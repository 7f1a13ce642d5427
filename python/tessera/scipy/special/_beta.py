# SPDX-License-Identifier: Apache-2.0
"""Functions of numbers about the beta function: its incomplete integral and the inverse, binomials, distributions."""

from __future__ import annotations

import math

from ... import cuda
from ._gamma import MOST, gammainc, gammaincc, gammainccinv, log1p_less, stirling

FAR = 1e8  # ratio from where on beta's integral is nearly a gamma distribution's
NORMAL = 1e7  # from where on, of both, beta's integral is nearly a normal distribution's


@cuda.jit
def gamma_ratio(x: float, more: float) -> float:
    """log(gamma(x + more) / gamma(x)), for positive numbers."""
    if x < 10 or x + more < 10:
        return math.lgamma(x + more) - math.lgamma(x)
    return (x - 0.5) * math.log1p(more / x) + more * (math.log(x + more) - 1) + stirling(x + more) - stirling(x)


@cuda.jit
def _over_mean(a: float, b: float, x: float, rest: float) -> float:
    """x less a / (a + b), from the smaller of x and rest."""
    return x - a / (a + b) if x < rest else b / (a + b) - rest


@cuda.jit
def _exponent(a: float, b: float, over: float) -> float:
    """The logarithm of x**a rest**b less that at the mean of x, which is the greatest."""
    n = a + b
    return a * log1p_less(over / (a / n)) + b * log1p_less(-over / (b / n))


@cuda.jit
def _power(a: float, b: float, x: float, rest: float) -> float:
    """x**a rest**b / beta(a, b), where rest is 1 - x."""
    if a >= 10 and b >= 10:
        n = a + b
        made = _exponent(a, b, _over_mean(a, b, x, rest)) + stirling(n) - stirling(a) - stirling(b)
        return math.exp(made) * math.sqrt(a / n * b / (2 * math.pi))
    made = a * math.log(x) + b * (math.log1p(-x) if x < rest else math.log(rest))
    return math.exp(made + gamma_ratio(max(a, b), min(a, b)) - math.lgamma(min(a, b)))


@cuda.jit
def _fraction(a: float, b: float, x: float) -> float:
    c = 1.0
    d = 1 - (a + b) * x / (a + 1)
    d = 1 / (d if abs(d) > 1e-300 else 1e-300)
    made = d
    for k in range(1, MOST):
        for odd in range(2):
            if odd == 0:
                step = k / (a + 2 * k - 1) * ((b - k) * x / (a + 2 * k))
            else:
                step = -(a + k) / (a + 2 * k) * ((a + b + k) * x / (a + 2 * k + 1))
            d = 1 + step * d
            d = 1 / (d if abs(d) > 1e-300 else 1e-300)
            c = 1 + step / c
            c = c if abs(c) > 1e-300 else 1e-300
            made *= d * c
        if abs(d * c - 1) < 1e-16:
            break
    return made


@cuda.jit
def _normal(a: float, b: float, over: float) -> float:
    """Temme's uniform expansion: a normal distribution and its first correction, 1 / eta - s / over."""
    n = a + b
    s = math.sqrt(a / n) * math.sqrt(b / n)
    half = -_exponent(a, b, over)
    eta = math.copysign(math.sqrt(2 * half / n), over)
    if half < 1e-4:  # the difference would cancel
        first = (b / n - a / n) / (3 * s) - over / s * (1 - s * s) / (12 * s * s)
    else:
        first = 1 / eta - s / over
    rest = first / math.sqrt(2 * math.pi * n) * math.exp(-half)
    return 0.5 * math.erfc(-math.copysign(math.sqrt(half), over)) + rest


@cuda.jit
def _part(a: float, b: float, x: float, rest: float) -> float:
    """The part of beta's integral below x, where rest is 1 - x."""
    if x <= 0:
        return 0.0
    if rest <= 0:
        return 1.0
    if a > NORMAL and b > NORMAL:
        return _normal(a, b, _over_mean(a, b, x, rest))
    if b > FAR * max(a, 1.0):  # a gamma distribution's integral, by Wise
        return gammainc(a, (b + 0.5 * (a - 1)) * -(math.log1p(-x) if x < rest else math.log(rest)))
    if a > FAR * max(b, 1.0):
        return gammaincc(b, (a + 0.5 * (b - 1)) * -(math.log1p(-rest) if rest < x else math.log(x)))
    power = _power(a, b, x, rest)
    if x < (a + 1) / (a + b + 2):
        return power * _fraction(a, b, x) / a
    return 1 - power * _fraction(b, a, rest) / b


@cuda.jit
def betainc(a: float, b: float, x: float) -> float:
    """The part of beta's integral below x."""
    if math.isnan(a) or math.isnan(b) or math.isnan(x) or a < 0 or b < 0 or x < 0 or x > 1:
        return math.nan
    if (a == 0 and b == 0) or (a == math.inf and b == math.inf):
        return math.nan
    if a == 0 or b == math.inf:
        return 1.0 if x > 0 else 0.0
    if b == 0 or a == math.inf:
        return 0.0 if x < 1 else 1.0
    return _part(a, b, x, 1 - x)


@cuda.jit
def _found(a: float, b: float, p: float, turned: bool) -> float:
    """x whose part is p, at most a half; turned: 1 - x."""
    low = -745.0
    high = 745.0
    t = (math.log(p * a) + math.lgamma(a) - gamma_ratio(b, a)) / a
    t = min(max(t, low), 0.0)
    last = False
    x = 0.0
    rest = 1.0
    for _ in range(200):
        grown = math.exp(-abs(t))  # x is exp(t) / (1 + exp(t)): small ones keep their digits
        x = grown / (1 + grown) if t < 0 else 1 / (1 + grown)
        rest = 1 / (1 + grown) if t < 0 else grown / (1 + grown)
        part = _part(a, b, x, rest)
        slope = _power(a, b, x, rest)
        if last:
            step = x * rest * (part - p) / slope if slope > 0 and x > 1e-290 and rest > 1e-290 else 0.0
            return rest + step if turned else x - step
        if part > p:
            high = t
        else:
            low = t
        after = t - math.log(part / p) * part / slope if part > 0 and slope > 0 else math.nan
        if not (after > low and after < high):
            after = 0.5 * (low + high)
        last = abs(after - t) < 1e-11 * max(1.0, abs(t)) or high - low < 1e-11 * abs(t)
        t = after
        if abs(t) > 744.5:
            return 0.0 if (t < 0) != turned else 1.0
    return rest if turned else x


@cuda.jit
def betaincinv(a: float, b: float, p: float) -> float:
    """x of betainc(a, b, x) = p."""
    if math.isnan(a) or math.isnan(b) or math.isnan(p) or p < 0 or p > 1:
        return math.nan
    if a <= 0 or b <= 0 or (a == math.inf and b == math.inf):
        return math.nan
    if p == 0 or p == 1:
        return p
    if a == math.inf or b == math.inf:
        return 1.0 if a == math.inf else 0.0
    turned = p > 0.5
    return _found(b if turned else a, a if turned else b, 1 - p if turned else p, turned)


@cuda.jit
def _pole(x: float) -> bool:
    """Whether gamma is infinite."""
    return x <= 0 and x == math.floor(x)


@cuda.jit
def betaln(a: float, b: float) -> float:
    """The logarithm of the magnitude of beta; at a pole the limit along the other, if that is whole, or infinity."""
    if a == -math.inf or b == -math.inf:
        return math.inf
    if _pole(a) or _pole(b):
        whole = a == math.floor(a) and b == math.floor(b)
        if not whole or a + b >= 1:
            return math.inf
        first = a if _pole(a) else b
        other = b if _pole(a) else a
        if _pole(other):
            return math.inf
        return math.lgamma(1 - a - b) + math.lgamma(other) - math.lgamma(1 - first)
    if math.isnan(a) or math.isnan(b):
        return math.nan
    small = min(a, b)
    big = max(a, b)
    if big == math.inf:
        return math.nan if small == math.inf or math.isnan(small) else -math.inf if small > 0 else math.inf
    if small >= 10:
        return _large(small, big)
    if small > 0 or a + b >= 10:
        return math.lgamma(small) - gamma_ratio(big, small)
    return math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)


@cuda.jit
def _large(a: float, b: float) -> float:
    """log(beta(a, b)) by Stirling, for a of 10 and more and b that is not less."""
    n = a + b
    corrections = stirling(a) + stirling(b) - stirling(n)
    made = (a - 0.5) * math.log(a / n) - b * math.log1p(a / b) - 0.5 * math.log(b)
    return made + corrections + 0.5 * math.log(2 * math.pi)


@cuda.jit
def beta(a: float, b: float) -> float:
    """gamma(a) gamma(b) / gamma(a + b)."""
    made = math.exp(betaln(a, b))
    if _pole(a) or _pole(b):
        odd = math.fmod(b if _pole(a) else a, 2.0) != 0
        whole = a == math.floor(a) and b == math.floor(b) and a + b < 1
        return -made if whole and odd and abs(a) < math.inf and abs(b) < math.inf else made
    return made * _sign(a) * _sign(b) * _sign(a + b)


@cuda.jit
def _sign(x: float) -> float:
    """The sign of gamma, also where it is infinite."""
    return 1.0 if x > 0 or math.fmod(math.floor(x), 2.0) == 0 else -1.0


@cuda.jit
def poch(a: float, m: float) -> float:
    """gamma(a + m) / gamma(a)."""
    if math.isnan(a) or math.isnan(m):
        return math.nan
    made = 1.0
    while m >= 1 and m < 20:
        if a + m == 1:
            break
        m -= 1
        made *= a + m
    while m <= -1 and m > -20:
        if a + m == 0:
            break
        made /= a + m
        m += 1
    if m == 0:
        return made
    if a >= 10 and a + m >= 10:
        return made * math.exp(gamma_ratio(a, m))
    if a + m <= 0 and a + m == math.floor(a + m):
        return math.inf if not (a <= 0 and a == math.floor(a)) else _poles(a, m) * made
    if a <= 0 and a == math.floor(a):
        return 0.0
    return made * math.exp(math.lgamma(a + m) - math.lgamma(a)) * _sign(a + m) * _sign(a)


@cuda.jit
def _poles(a: float, m: float) -> float:
    """gamma(a + m) / gamma(a) where both have poles."""
    made = math.exp(math.lgamma(1 - a) - math.lgamma(1 - a - m))
    return made if math.fmod(m, 2.0) == 0 else -made


# -- distributions --------------------------------------------------------------------------------------------


@cuda.jit
def bdtr(k: float, n: float, p: float) -> float:
    """The chance of at most k successes in n trials, each with a chance of p."""
    k = math.floor(k)
    if math.isnan(p) or p < 0 or p > 1 or not (n >= k) or k < 0:
        return math.nan
    return 1.0 if k == n else betainc(n - k, k + 1, 1 - p)


@cuda.jit
def bdtrc(k: float, n: float, p: float) -> float:
    """The chance of more than k successes in n trials, each with a chance of p."""
    k = math.floor(k)
    if math.isnan(p) or p < 0 or p > 1 or not (n >= k):
        return math.nan
    return 1.0 if k < 0 else 0.0 if k == n else betainc(k + 1, n - k, p)


@cuda.jit
def bdtri(k: float, n: float, y: float) -> float:
    """The chance p of a trial for which bdtr(k, n, p) is y."""
    k = math.floor(k)
    if math.isnan(y) or y < 0 or y > 1 or k < 0 or not (n > k):
        return math.nan
    return 1 - betaincinv(n - k, k + 1, y)


@cuda.jit
def fdtr(n: float, d: float, x: float) -> float:
    """The chance that a ratio of variances of n and d freedoms is at most x."""
    if math.isnan(x) or n <= 0 or d <= 0 or x < 0:
        return math.nan
    return 1.0 if x == math.inf else _part(0.5 * n, 0.5 * d, n * x / (d + n * x), d / (d + n * x))


@cuda.jit
def fdtrc(n: float, d: float, x: float) -> float:
    """The chance that a ratio of variances of n and d freedoms is more than x."""
    if math.isnan(x) or n <= 0 or d <= 0 or x < 0:
        return math.nan
    return 0.0 if x == math.inf else _part(0.5 * d, 0.5 * n, d / (d + n * x), n * x / (d + n * x))


@cuda.jit
def fdtri(n: float, d: float, p: float) -> float:
    """x of fdtr(n, d, x) = p."""
    if n <= 0 or d <= 0 or p < 0 or p > 1:
        return math.nan
    rest = betaincinv(0.5 * d, 0.5 * n, 1 - p)
    return d * (1 - rest) / (n * rest)


@cuda.jit
def gdtr(a: float, b: float, x: float) -> float:
    """The chance that a gamma variable of rate a and shape b is at most x."""
    return math.nan if x < 0 else gammainc(b, a * x)


@cuda.jit
def gdtrc(a: float, b: float, x: float) -> float:
    """The chance that a gamma variable of rate a and shape b is more than x."""
    return math.nan if x < 0 else gammaincc(b, a * x)


@cuda.jit
def nbdtr(k: float, n: float, p: float) -> float:
    """The chance of at most k failures before n successes."""
    k = math.floor(k)
    n = math.floor(n)
    return math.nan if p < 0 or p > 1 or k < 0 or n <= 0 else betainc(n, k + 1, p)


@cuda.jit
def nbdtrc(k: float, n: float, p: float) -> float:
    """The chance of more than k failures before n successes."""
    k = math.floor(k)
    n = math.floor(n)
    return math.nan if p < 0 or p > 1 or k < 0 or n <= 0 else betainc(k + 1, n, 1 - p)


@cuda.jit
def nbdtri(k: float, n: float, y: float) -> float:
    """The chance p of a success for which nbdtr(k, n, p) is y."""
    k = math.floor(k)
    n = math.floor(n)
    return math.nan if y < 0 or y > 1 or k < 0 else betaincinv(n, k + 1, y)


@cuda.jit
def pdtr(k: float, m: float) -> float:
    """The chance of at most k events where m are expected."""
    k = math.floor(k)
    return math.nan if math.isnan(k) or k < 0 or m < 0 else 1.0 if m == 0 else gammaincc(k + 1, m)


@cuda.jit
def pdtrc(k: float, m: float) -> float:
    """The chance of more than k events where m are expected."""
    k = math.floor(k)
    return math.nan if math.isnan(k) or k < 0 or m < 0 else 0.0 if m == 0 else gammainc(k + 1, m)


@cuda.jit
def pdtri(k: float, y: float) -> float:
    """m of pdtr(k, m) = y."""
    k = math.floor(k)
    if math.isnan(k) or k < 0 or not (y >= 0 and y < 1):
        return math.nan
    return gammainccinv(k + 1, y)


@cuda.jit
def chdtr(v: float, x: float) -> float:
    """The chance that a sum of v squares of normal variables is at most x."""
    return math.nan if x < 0 else gammainc(0.5 * v, 0.5 * x)


@cuda.jit
def chdtrc(v: float, x: float) -> float:
    """The chance that a sum of v squares of normal variables is more than x."""
    return math.nan if x < 0 else gammaincc(0.5 * v, 0.5 * x)


@cuda.jit
def chdtri(v: float, p: float) -> float:
    """x of chdtrc(v, x) = p."""
    return math.nan if p < 0 or p > 1 else 2 * gammainccinv(0.5 * v, p)
