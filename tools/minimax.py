#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Minimax polynomials for src/math: Lawson's iteration in high precision, then coefficient by coefficient
rounding to the target format with a refit of the rest. Prints each table as C and its error.

    python3 tools/minimax.py            all tables
    python3 tools/minimax.py exp_f32    one

Needs mpmath. Run it when a table in src/math changes; the printed text is what the table holds.
"""

import functools
import sys

import mpmath as mp

mp.mp.dps = 60


LN2 = mp.log(2)


def round_to(value, bits):
    """Nearest number of `bits` significant bits (24 f32, 53 f64)."""
    if value == 0:
        return mp.mpf(0)
    with mp.workprec(bits):
        return +value


def fit(f, powers, lo, hi, weight, fixed=(), rounds=25):
    """Coefficients of sum c[k] x^powers[k] nearest to f where |weight * error| is greatest.

    Lawson's iteration: weighted least squares, points weighted up by their error. Robust where the
    weight vanishes inside the interval. `fixed` holds (power, coefficient) pairs subtracted first."""
    n, points = len(powers), 12 * len(powers) + 20
    grid = [lo + (hi - lo) * (1 - mp.cos(mp.pi * (i + 0.5) / points)) / 2 for i in range(points)]
    rows = [[x**p * weight(x) for p in powers] for x in grid]
    goal = [(f(x) - sum(c * x**p for p, c in fixed)) * weight(x) for x in grid]
    lawson, best, worst = [mp.mpf(1) / points] * points, None, mp.inf
    for _ in range(rounds):
        a, b = mp.matrix(n, n), mp.matrix(n, 1)
        for w, row, g in zip(lawson, rows, goal):
            for j in range(n):
                b[j] += w * row[j] * g
                for k in range(j, n):
                    a[j, k] += w * row[j] * row[k]
        for j in range(n):
            for k in range(j):
                a[j, k] = a[k, j]
        coefs = list(mp.lu_solve(a, b))
        errors = [abs(sum(c * r for c, r in zip(coefs, row)) - g) for row, g in zip(rows, goal)]
        if max(errors) < worst:
            best, worst = coefs, max(errors)
        lawson = [w * e for w, e in zip(lawson, errors)]
        total = sum(lawson)
        lawson = [w / total for w in lawson]
    return best, worst


def fit_rounded(f, powers, lo, hi, weight, bits, first=None):
    """The same with coefficients of `bits` bits; bits may be a list, one for each coefficient."""
    bits = bits if isinstance(bits, list) else [bits] * len(powers)
    fixed, left, left_bits = [], list(powers), list(bits)
    worst = None
    if first is not None:
        fixed.append((left.pop(0), mp.mpf(first)))
        left_bits.pop(0)
    while left:
        coefs, worst = fit(f, left, lo, hi, weight, fixed)
        fixed.append((left.pop(0), round_to(coefs[0], left_bits.pop(0))))
    g = lambda x: (sum(c * x**p for p, c in fixed) - f(x)) * weight(x)
    worst = max(abs(g(lo + (hi - lo) * i / 2000)) for i in range(2001))
    return [c for _, c in fixed], worst


def over(f, limit):
    """f with its removable singularity at 0 filled in."""
    return lambda x: mp.mpf(limit) if x == 0 else f(x)


def log1p_tail(x):
    return mp.mpf(-0.5) if abs(x) < mp.mpf(10) ** -20 else (mp.log1p(x) - x) / (x * x)


def sin_tail(z):
    """(sin d - d) / d^3 of z = d*d"""
    if z < mp.mpf(10) ** -18:
        return mp.mpf(-1) / 6
    d = mp.sqrt(z)
    return (mp.sin(d) - d) / (d * z)


def log2_tail(x):
    return log1p_tail(x) / LN2


def atanh_tail(w):
    """(2 atanh s - 2 s) / s^3 of w = s*s"""
    if w < mp.mpf(10) ** -18:
        return mp.mpf(2) / 3
    s = mp.sqrt(w)
    return (2 * mp.atanh(s) - 2 * s) / (s * w)


def tail(f, first, power):
    """(f(d) - first term) / d^power of z = d*d; the limit at 0 by a tiny argument"""

    def g(z):
        d = mp.sqrt(max(z, mp.mpf(10) ** -16))
        return (f(d) - first(d)) / d**power

    return g


def odd(f):
    """weight of z for an odd f written d + d^3 P(z): relative error of f"""
    return lambda z: z * mp.sqrt(z) / f(mp.sqrt(z)) if z else mp.mpf(0)


E_LO, E_HI = -LN2 / 2 * mp.mpf("1.002"), LN2 / 2 * mp.mpf("1.002")
H, T = mp.mpf("0.501"), mp.mpf(1) / 3
PI_2, PI_4, TAN8 = (
    mp.pi / 2 * mp.mpf("1.0001"),
    mp.pi / 4 * mp.mpf("1.0005"),
    mp.tan(mp.pi / 8) * mp.mpf("1.0001"),
)
exp_tail, exp_weight = over(lambda r: mp.expm1(r) / r, 1), lambda r: abs(r) / mp.exp(r)
expm1_tail, expm1_weight = over(lambda r: (mp.exp(r) - 1 - r) / r**2, 0.5), lambda r: r**2 / mp.exp(r)
exp2_tail, exp2_weight = over(lambda r: (2**r - 1) / r, LN2), lambda r: abs(r) * 2**-r
tan_tail, atan_tail = tail(mp.tan, lambda d: d, 3), tail(mp.atan, lambda d: d, 3)
sinh_tail, cosh_tail = tail(mp.sinh, lambda d: d, 3), tail(mp.cosh, lambda d: 1, 2)


def pow_tail(w):
    """(atanh s - s - s^3/3) / s^5 of w = s*s"""
    s = mp.sqrt(max(w, mp.mpf(10) ** -10))
    return (mp.atanh(s) - s - s**3 / 3) / s**5


asin_tail = tail(mp.asin, lambda d: d, 3)
sinpi_tail = tail(lambda d: mp.sin(mp.pi * d), lambda d: mp.pi * d, 3)
cospi_tail = tail(lambda d: mp.cos(mp.pi * d), lambda d: 1, 2)
erf_tail = tail(mp.erf, lambda d: d, 1)


def erfcx_mid(k):
    """(1 + 2x) exp(x^2) erfc x of t = (x - k) / (x + k), after Shepherd and Laframboise (1981)"""

    def g(t):
        if t > mp.mpf("0.999999"):
            return 2 / mp.sqrt(mp.pi)
        x = k * (1 + t) / (1 - t)
        if x > 1000:
            return (1 + 2 * x) * (1 - 1 / (2 * x * x) + 3 / (4 * x**4)) / (x * mp.sqrt(mp.pi))
        return (1 + 2 * x) * mp.exp(x * x) * mp.erfc(x)

    return g


@functools.cache
def erfinv_of(w):
    """erfinv y where 1 - y^2 = exp(-w)"""
    y = mp.sqrt(-mp.expm1(-w))
    if w < 30:
        return mp.erfinv(y)
    goal, x = -w - mp.log1p(y), mp.sqrt(w - mp.log(mp.pi * w) / 2)
    for _ in range(8):  # Newton on log erfc
        e = mp.erfc(x)
        x += (mp.log(e) - goal) * e * mp.exp(x * x) * mp.sqrt(mp.pi) / 2
    return x


def erfinv_near(w):
    """erfinv(y) / y"""
    w = max(w, mp.mpf(10) ** -18)
    return erfinv_of(w) / mp.sqrt(-mp.expm1(-w))


def mapped(f, k):
    """f of t = (x - k) / (x + k); f at infinity must be given by a great x"""
    return lambda t: f(k * (1 + t) / max(1 - t, mp.mpf(10) ** -16))


def towards(x, k):
    return (mp.mpf(x) - k) / (mp.mpf(x) + k)


def erfinv_far(u):
    """erfinv(y) / u of u^2 = w"""
    return erfinv_of(u * u) / u


@functools.cache
def stirling_rest(a):
    """a times what log gamma a has beyond (a - 1/2) log a - a + log(2 pi) / 2"""
    if a > 1000:
        return mp.mpf(1) / 12 - 1 / (360 * a**2) + 1 / (1260 * a**4)
    return a * (mp.loggamma(a) - (a - mp.mpf(0.5)) * mp.log(a) + a - mp.log(2 * mp.pi) / 2)


@functools.cache
def gamma_middle(y):
    """log gamma y / ((y - 1) (y - 2))"""
    y += mp.mpf(10) ** -20 if abs((y - 1) * (y - 2)) < mp.mpf(10) ** -20 else 0
    return mp.loggamma(y) / ((y - 1) * (y - 2))



# ---- Bessel functions (bessel.c) -------------------------------------------------------------------------------------

# Ends of the intervals of x near the zeros of y0 and y1.
BESSEL_ENDS = [[mp.mpf(end) for end in ends] for ends in (("0", "2.2", "5.5", "8"), ("0", "3.8", "7", "8"))]


@functools.cache
def bessel_zero(of, order, k):
    return (mp.besseljzero if of == "j" else mp.besselyzero)(order, k)


def beside(w, points):
    """w, or a number next to it where it is one of the points or 0"""
    tiny = mp.mpf(10) ** -20
    return w + tiny if any(abs(w - point) < tiny for point in [0, *points]) else w


@functools.cache
def bessel_j_rest(order, w):
    """j of w = x^2 without its factor x^order and its first three zeros"""
    zeros = [bessel_zero("j", order, k) ** 2 for k in (1, 2, 3)]
    w = beside(w, zeros)
    return mp.besselj(order, mp.sqrt(w)) / (mp.sqrt(w) ** order * mp.fprod(w - zero for zero in zeros))


def bessel_j(order):
    """the same of u = w / 32 - 1"""
    return lambda u: bessel_j_rest(order, 32 * (1 + u))


@functools.cache
def bessel_y_rest(order, k, w):
    """x^order (y - 2/pi log(x / zero) j) / (w - zero^2) of w = x^2 for the k-th zero, and x^order y / (w - zero^2)"""
    zero = bessel_zero("y", order, k)
    w = beside(w, [zero**2])
    x = mp.sqrt(w)
    y = mp.bessely(order, x)
    scale = x**order / (w - zero**2)
    return (y - 2 / mp.pi * mp.log(x / zero) * mp.besselj(order, x)) * scale, y * scale


def bessel_y(order, k, column):
    """one of the two, of u in [-1, 1] over the interval of the zero"""
    first, last = (end**2 for end in BESSEL_ENDS[order][k - 1 : k + 1])
    return lambda u: bessel_y_rest(order, k, (first + last) / 2 + (last - first) / 2 * u)[column]


@functools.cache
def bessel_far(order, s):
    """Modulus times sqrt(pi x / 2), and what the phase has beyond x - (order / 2 + 1 / 4) pi, times x; s = (8 / x)^2"""
    x = 8 / mp.sqrt(max(s, mp.mpf(10) ** -24))
    j, y, start = mp.besselj(order, x), mp.bessely(order, x), x - (mp.mpf(order) / 2 + mp.mpf(0.25)) * mp.pi
    c, d = mp.cos(start), mp.sin(start)
    return mp.sqrt((j * j + y * y) * mp.pi * x / 2), x * mp.atan2(y * c - j * d, j * c + y * d)


def bessel_tables():
    """Rows for TABLES."""
    one = mp.mpf(1)
    for type_, bits, near, far, middle in (("f32", 24, 10, 5, (8, 9)), ("f64", 53, 16, 13, (15, 15))):
        for order in (0, 1):
            j = bessel_j(order)
            yield f"j{order}_{type_}", (j, near, -one, one, lambda u, j=j: 1 / j(u), bits)
            for column, name in enumerate(("modulus", "phase")):
                f = lambda s, order=order, column=column: bessel_far(order, s)[column]
                yield f"{name}{order}_{type_}", (f, far, 0 * one, one, lambda s: 1, bits)
            for k in range(1, len(BESSEL_ENDS[order])):
                y, whole = bessel_y(order, k, 0), bessel_y(order, k, 1)
                yield f"y{order}_{k}_{type_}", (y, middle[order], -one, one, lambda u, f=whole: 1 / f(u), bits)


Q, S4 = mp.mpf("0.2505"), mp.mpf("0.251") ** 2
MID, K_GAMMA = (mp.mpf("4.75"), mp.mpf("3.75")), mp.mpf("1.375")

# name: (function, terms, lo, hi, weight of the error, bits of the coefficients)
TABLES = {
    "exp_f32": (exp_tail, 6, E_LO, E_HI, exp_weight, 24),
    "exp_f64": (exp_tail, 11, E_LO, E_HI, exp_weight, 53),
    "expm1_f32": (expm1_tail, 6, E_LO, E_HI, expm1_weight, 24),
    "expm1_f64": (expm1_tail, 11, E_LO, E_HI, expm1_weight, 53),
    "exp2_f32": (exp2_tail, 6, -H, H, exp2_weight, 24),
    "exp2_f64": (exp2_tail, 12, -H, H, exp2_weight, 53),
    "log_f32": (log1p_tail, 9, -T, T, lambda x: abs(x), 24),
    "log2_f32": (log2_tail, 9, -T, T, lambda x: abs(x), 24),
    "log_f64": (atanh_tail, 8, mp.mpf(0), mp.mpf("0.0401"), lambda w: w / 2, 53),
    "pow_f32": (pow_tail, 4, mp.mpf(0), mp.mpf("0.0401"), lambda w: w, 24),
    "pow_f64": (pow_tail, 9, mp.mpf(0), mp.mpf("0.0401"), lambda w: w, 53),
    "sin_f32": (sin_tail, 4, mp.mpf(0), PI_2**2, odd(mp.sin), 24),
    "sin_f64": (sin_tail, 9, mp.mpf(0), PI_2**2, odd(mp.sin), 53),
    "tan_f32": (tan_tail, 7, mp.mpf(0), PI_4**2, odd(mp.tan), 24),
    "tan_f64": (tan_tail, 15, mp.mpf(0), PI_4**2, odd(mp.tan), 53),
    "atan_f32": (atan_tail, 5, mp.mpf(0), TAN8**2, odd(mp.atan), 24),
    "atan_f64": (atan_tail, 12, mp.mpf(0), TAN8**2, odd(mp.atan), 53),
    "sinh_f32": (sinh_tail, 3, mp.mpf(0), E_HI**2, odd(mp.sinh), 24),
    "sinh_f64": (sinh_tail, 6, mp.mpf(0), E_HI**2, odd(mp.sinh), 53),
    "cosh_f32": (cosh_tail, 4, mp.mpf(0), E_HI**2, lambda z: z, 24),
    "cosh_f64": (cosh_tail, 7, mp.mpf(0), E_HI**2, lambda z: z, 53),
    "asin_f32": (asin_tail, 5, mp.mpf(0), Q, odd(mp.asin), 24),
    "asin_f64": (asin_tail, 12, mp.mpf(0), Q, odd(mp.asin), 53),
    "sinpi_f32": (sinpi_tail, 3, mp.mpf(0), S4, lambda z: z / 3, 24),
    "sinpi_f64": (sinpi_tail, 7, mp.mpf(0), S4, lambda z: z / 3, 53),
    "cospi_f32": (cospi_tail, 4, mp.mpf(0), S4, lambda z: z, 24),
    "cospi_f64": (cospi_tail, 8, mp.mpf(0), S4, lambda z: z, 53),
    "root_f32": (lambda d: (d + mp.mpf("1.5")) ** (-mp.mpf(1) / 3), 4, -mp.mpf("0.5"), mp.mpf("0.5"), lambda d: 1, 24),
    "root_f64": (lambda d: (d + mp.mpf("1.5")) ** (-mp.mpf(1) / 3), 6, -mp.mpf("0.5"), mp.mpf("0.5"), lambda d: 1, 53),
    "erf_f32": (erf_tail, 9, mp.mpf(0), mp.mpf(1), lambda z: 1, 24),
    "erf_f64": (erf_tail, 14, mp.mpf(0), mp.mpf(1), lambda z: 1, 53),
    "erfcx_f32": (erfcx_mid(2), 12, mp.mpf(-1), mp.mpf(1), lambda t: 1, 24),
    "erfcx_f64": (erfcx_mid(4), 25, mp.mpf(-1), mp.mpf(1), lambda t: 1, 53),
    "erfinv_f32": (erfinv_near, 11, mp.mpf(0), mp.mpf("5.01"), lambda w: 1, 24),
    "erfinv_f64": (erfinv_near, 22, mp.mpf(0), mp.mpf("5.01"), lambda w: 1, 53),
    "erfinv_mid_f32": (
        mapped(erfinv_far, MID[0]), 14, towards(2.23, MID[0]), towards(10.2, MID[0]), lambda t: 1, 24),
    "erfinv_mid_f64": (
        mapped(erfinv_far, MID[1]), 26, towards(2.23, MID[1]), towards(6.21, MID[1]), lambda t: 1, 53),
    "erfinv_far_f64": (mapped(erfinv_far, 13), 22, towards(6.19, 13), towards(27.4, 13), lambda t: 1, 53),
    "gamma_f32": (mapped(stirling_rest, 1), 9, mp.mpf(0), mp.mpf(1), lambda t: 12, 24),
    "gamma_f64": (mapped(stirling_rest, 1), 20, mp.mpf(0), mp.mpf(1), lambda t: 12, 53),
    "lgamma_f32": (
        mapped(gamma_middle, K_GAMMA), 10, towards(0.74, K_GAMMA), towards(2.51, K_GAMMA), lambda t: 2, 24),
    "lgamma_f64": (
        mapped(gamma_middle, K_GAMMA), 20, towards(0.74, K_GAMMA), towards(2.51, K_GAMMA), lambda t: 2, 53),
    **dict(bessel_tables()),
}


def show(name):
    f, terms, lo, hi, weight, bits = TABLES[name]
    coefs, worst = fit_rounded(f, list(range(terms)), mp.mpf(lo), mp.mpf(hi), weight, bits)
    print(f"/* {name}: error 2^{mp.nstr(mp.log(worst, 2), 4)} */")
    print(
        "    "
        + ", ".join(float(c).hex() if bits != 24 else "%.9g" % float(c) for c in coefs)
        + ",",
        flush=True,
    )


if __name__ == "__main__":
    for table in sys.argv[1:] or TABLES:
        show(table)
