# SPDX-License-Identifier: Apache-2.0
"""Every function of cuda.libdevice beside NumPy, Python's math or exact fractions: the right function, of the right
types, by the reference interpreter, as it is written and as a GPU's thread IR has it. How near the math functions are
to the true value: tests/math/ulp.c."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from statistics import NormalDist
from typing import Any

import gen_language
import numpy as np
import pytest
from simt_run import LowerError, run

from tessera import cuda
from tessera.cuda import libdevice

ROWS = {row[0]: row for row in gen_language.rows_of(gen_language.LIBDEVICE, "TS_LIBDEVICE")}
DTYPES = {letter: np.dtype(name) for letter, name in gen_language.LIBDEVICE_DTYPES.items()}
MODES = ("rn", "rz", "rd", "ru")

FLOATS = [0.0, -0.0, 1, -1, 0.5, 1.5, -2.5, 3, 0.1, -0.3, 7.75, 12.3, -40.7, 1e-30, 3e9, -5e18]
FLOATS += [np.inf, -np.inf, np.nan]
INTS = [0, 1, -1, 2, 7, -8, 100, 12345678, -87654321, 0x40302010, 2**31 - 1, -(2**31), 5, 31, -77]
LONGS = [*INTS, 2**63 - 1, -(2**63), 2**53 + 1, -(2**40) - 3, 2**24 + 1, 0x123456789ABCDEF]
HALVES = [0, 0x3C00, -0x4000, 0x7C00, 1, 0x3555]
INPUTS = {"f": FLOATS, "d": [*FLOATS, 1e300, 1e-310], "i": INTS, "l": LONGS, "h": HALVES}


def kernel_of(name: str) -> Callable[..., None]:
    """All results for all arguments; those of two results into two arrays."""
    function = getattr(libdevice, name)
    results, arguments = ROWS[name][2].split(":")
    if len(results) > 1:
        if len(arguments) == 1:

            def two(x, out, more):
                for i in range(x.size):
                    a, b = function(x[i])
                    out[i] = a
                    more[i] = b

            return two

        def two_of_two(x, y, out, more):
            for i in range(x.size):
                a, b = function(x[i], y[i])
                out[i] = a
                more[i] = b

        return two_of_two

    def one(x, out):
        for i in range(x.size):
            out[i] = function(x[i])

    def of_two(x, y, out):
        for i in range(x.size):
            out[i] = function(x[i], y[i])

    def of_three(x, y, z, out):
        for i in range(x.size):
            out[i] = function(x[i], y[i], z[i])

    return (one, of_two, of_three)[len(arguments) - 1]


def arguments_of(name: str) -> list[np.ndarray]:
    """Columns of the values of each type, in all pairs for two arguments; integer orders and exponents are small."""
    letters = ROWS[name][2].split(":")[1]
    columns = [np.array(INPUTS[letter], DTYPES[letter]) for letter in letters]
    if set(letters) & set("fd"):
        small = np.array([0, 1, 2, 3, -1, 5, 8, 20], np.int32)
        columns = [small if c.dtype == np.int32 and len(letters) > 1 else c for c in columns]
    if len(columns) == 2:
        return [c.ravel() for c in np.meshgrid(*columns)]
    return [np.roll(c, 3 * i) for i, c in enumerate(columns)]


def call(name: str, columns: list[np.ndarray], target: int) -> list[np.ndarray]:
    """The results; 0 for NaN as an integer, which thread IR has from legalize on."""
    out = [np.zeros(columns[0].size, DTYPES[letter]) for letter in ROWS[name][2].split(":")[0]]
    run(kernel_of(name), *columns, *out, target=target)
    if target == 0 and columns[0].dtype.kind == "f" and out[0].dtype.kind == "i" and ROWS[name][3] == "to_int":
        out[0][np.isnan(columns[0])] = 0
    return out


# ---- what they should give -----------------------------------------------------------------------------


def each(f: Callable[..., float]) -> Callable[..., np.ndarray]:
    """A function of Python floats; NaN where it is not defined, infinite where it is too great."""

    def one(*x: float) -> float:
        try:
            return f(*x)
        except (ValueError, ZeroDivisionError, ArithmeticError) as e:
            return math.inf if isinstance(e, OverflowError) else math.nan

    return lambda *x: np.vectorize(one, otypes=[np.float64])(*x)


def bessel_j(n: Any, x: Any) -> np.ndarray:
    """Bessel's integral, a sum over one period."""
    t = (np.arange(400) + 0.5) * np.pi / 400
    return np.cos(np.multiply.outer(n, t) - np.multiply.outer(x, np.sin(t))).mean(axis=-1)


def bessel_y(n: Any, x: Any) -> np.ndarray:
    """Its second kind, both parts by Gauss and Legendre."""
    t, weights = np.polynomial.legendre.leggauss(400)
    s, u = np.pi * (t + 1) / 2, 6 * (t + 1)
    first = np.sin(np.multiply.outer(x, np.sin(s)) - np.multiply.outer(n, s)) @ weights / 2
    grow = np.multiply.outer(n, u)
    sign = np.expand_dims(np.where(n % 2, -1.0, 1.0), -1)
    decay = np.exp(np.minimum(grow - np.multiply.outer(x, np.sinh(u)), 700)) + sign * np.exp(
        -grow - np.multiply.outer(x, np.sinh(u))
    )
    return first - decay @ weights * 6 / np.pi


def quantile(p: float) -> float:
    return NormalDist().inv_cdf(p) if 0 < p < 1 else math.copysign(math.inf, p - 0.5) if p in (0, 1) else math.nan


def half_away(x: Any) -> np.ndarray:
    return np.copysign(np.floor(np.abs(x)) + (np.abs(x) - np.floor(np.abs(x)) >= 0.5), x)


def sinpi(x: Any, quarters: float = 0.0) -> np.ndarray:
    return np.sin(np.pi * (np.fmod(x, 2) + quarters))


def logb(x: Any) -> np.ndarray:
    return np.where(x == 0, -np.inf, np.where(np.isfinite(x), np.frexp(x)[1] - 1, np.abs(x)))


def ilogb(x: Any) -> np.ndarray:
    odd = np.where(np.isinf(x), 2**31 - 1, -(2**31))
    return np.where(np.isfinite(x) & (x != 0), np.frexp(x)[1] - 1, odd)


MATH: dict[str, Callable[..., Any]] = {
    **{name: getattr(np, name) for name in "sin cos tan sinh cosh tanh exp exp2 expm1 log log2 log10 log1p sqrt cbrt "
       "hypot fmax fmin fmod copysign ceil floor trunc rint fabs frexp modf isnan".split()},
    **{f"a{name}": getattr(np, f"arc{name}") for name in "sin cos tan tan2 sinh cosh tanh".split()},
    "nearbyint": np.rint, "pow": np.power, "ldexp": np.ldexp, "scalbn": np.ldexp,
    "powi": lambda x, n: np.power(x, n.astype(x.dtype)), "exp10": lambda x: 10.0**x,
    "sinpi": sinpi, "cospi": lambda x: sinpi(x, 0.5), "sincos": lambda x: (np.sin(x), np.cos(x)),
    "sincospi": lambda x: (sinpi(x), sinpi(x, 0.5)), "logb": logb, "ilogb": ilogb,
    "rsqrt": lambda x: 1 / np.sqrt(x), "rcbrt": lambda x: 1 / np.cbrt(x), "round": half_away,
    "fdim": lambda x, y: np.where(x > y, x - y, np.where(x <= y, 0, np.nan)),
    "remainder": each(math.remainder), "nextafter": np.nextafter,
    "isinf": np.isinf, "isfinite": np.isfinite, "signbit": np.signbit,
    "erf": each(math.erf), "erfc": each(math.erfc), "erfcx": each(lambda x: math.exp(x * x) * math.erfc(x)),
    "erfinv": each(lambda x: quantile((x + 1) / 2) / math.sqrt(2)),
    "erfcinv": each(lambda x: -quantile(x / 2) / math.sqrt(2)), "normcdfinv": each(quantile),
    "normcdf": each(lambda x: math.erfc(-x / math.sqrt(2)) / 2),
    "lgamma": each(math.lgamma), "tgamma": each(math.gamma),
    "j0": lambda x: bessel_j(0, x), "j1": lambda x: bessel_j(1, x), "jn": bessel_j,
    "y0": lambda x: bessel_y(0, x), "y1": lambda x: bessel_y(1, x), "yn": bessel_y,
}  # fmt: skip
# Where Python's answers, or these formulas, are of use.
DOMAIN: dict[str, Callable[..., Any]] = {
    **dict.fromkeys(("j0", "j1"), lambda x: np.abs(x) < 50),
    **dict.fromkeys(("y0", "y1"), lambda x: (x > 0.05) & (x < 50)),
    "jn": lambda n, x: (n >= 0) & (np.abs(x) < 50),
    "yn": lambda n, x: (n >= 0) & (x > 0.4) & (x < 50),
    "tgamma": lambda x: np.isfinite(x) & (x != 0) & ((x > 0) | (x != np.floor(x))),
    "lgamma": lambda x: np.isfinite(x) & ((x > 0) | (x != np.floor(x))),
    "erfcx": lambda x: np.abs(x) < 5, "normcdfinv": lambda x: x >= 0,
    "erfcinv": lambda x: (x > 1e-20) | (x == 0), "erfinv": lambda x: np.abs(x) > 1e-9,
    **dict.fromkeys(("sinpi", "cospi", "sincospi"), lambda x: np.abs(x) < 1e6),
    "remainder": lambda x, y: np.isfinite(x) & (y != 0),
    **dict.fromkeys(("sin", "cos", "tan", "sincos"), lambda x: np.abs(x) < 1e20),
}  # fmt: skip


def math_name(name: str) -> str:
    """sin of sinf and fast_sinf; isinf of isinfd."""
    special = {"finitef": "isfinite", "isfinited": "isfinite", "signbitd": "signbit", "isnand": "isnan"}
    name = name.removeprefix("fast_")
    if name in special or name == "isinfd":
        return special.get(name, "isinf")
    return name if name in MATH else name[:-1]


MATH_NAMES = [name for name in ROWS if math_name(name) in MATH]


@pytest.mark.parametrize("name", MATH_NAMES)
def test_math_functions_are_those_of_numpy(name: str) -> None:
    columns = arguments_of(name)
    of = math_name(name)
    single = "f" in ROWS[name][2]
    with np.errstate(all="ignore"):
        inside = np.broadcast_to(DOMAIN.get(of, lambda *x: True)(*columns), columns[0].shape)
        if name.startswith("fast_"):
            inside = inside & np.all([(c > 0) & (np.abs(c) < 30) for c in columns], axis=0)
        columns = [c[inside] for c in columns]
        exact = of in ("nextafter", "ldexp", "scalbn", "frexp", "powi")
        wide = columns if exact else [c.astype("f8") if c.dtype.kind == "f" else c for c in columns]
        wanted = MATH[of](*wide)
        wanted = wanted if isinstance(wanted, tuple) else (wanted,)
        for target in (0, 90):
            for got, value in zip(call(name, columns, target), wanted, strict=True):
                value = np.asarray(value).astype(got.dtype)
                close = {"rtol": 2e-6, "atol": 1e-6} if single else {"rtol": 1e-12, "atol": 1e-13}
                np.testing.assert_allclose(got, value, err_msg=f"{name} {columns}", **close)


# ---- rounding ------------------------------------------------------------------------------------------


def rounded(v: Fraction, dtype: np.dtype, mode: str) -> Any:
    """The neighbour of an exact number in a float type."""
    f = dtype.type(float(v))
    if not np.isfinite(f):
        f = np.copysign(np.finfo(dtype).max, f)
    low, high = (f if Fraction(float(f)) <= v else np.nextafter(f, dtype.type(-np.inf))), (
        f if Fraction(float(f)) >= v else np.nextafter(f, dtype.type(np.inf)))  # fmt: skip
    if mode == "rn":
        return dtype.type(float(v)) if dtype == np.float64 else nearest(v, low, high)
    down = mode == "rd" or (mode == "rz" and v > 0)
    return low if down else high


def nearest(v: Fraction, low: Any, high: Any) -> Any:
    if np.isinf(low) or np.isinf(high):
        return low.dtype.type(float(v))
    below, above = v - Fraction(float(low)), Fraction(float(high)) - v
    even = low if int(np.abs(low).view("i4")) % 2 == 0 else high
    return low if below < above else high if above < below else even


def root(x: Fraction) -> Fraction:
    """To 200 bits after the point, with one more set where it is not exact."""
    scaled = x * 4**200
    r = math.isqrt(int(scaled))
    return Fraction(2 * r + (r * r != scaled), 2**201)


EXACT = {
    "add": lambda x, y: x + y, "sub": lambda x, y: x - y, "mul": lambda x, y: x * y, "div": lambda x, y: x / y,
    "fma": lambda x, y, z: x * y + z, "rcp": lambda x: 1 / x, "sqrt": root,
}  # fmt: skip
ARITHMETIC = [(name, op, mode) for name in ROWS for op in EXACT for mode in MODES
              if name in (f"d{op}_{mode}", f"f{op}_{mode}", f"{op}_{mode}", f"{op}f_{mode}")]  # fmt: skip
ARITHMETIC += [("frsqrt_rn", "rsqrt", "rn"), ("fma", "fma", "rn"), ("fmaf", "fma", "rn")]


@pytest.mark.parametrize(("name", "op", "mode"), ARITHMETIC)
def test_arithmetic_is_rounded_as_named(name: str, op: str, mode: str) -> None:
    n = len(ROWS[name][2].split(":")[1])
    dtype = DTYPES[ROWS[name][2][0]]
    rng = np.random.default_rng(7)
    columns = [(rng.uniform(0.1, 9, 24) * rng.choice([1, 1e-9, 1e6], 24)).astype(dtype) for _ in range(n)]
    if op not in ("sqrt", "rsqrt"):
        columns = [c * rng.choice([-1, 1], 24).astype(dtype) for c in columns]
    exact = EXACT.get(op, lambda x: root(1 / x))
    wanted = [rounded(exact(*(Fraction(float(v)) for v in row)), dtype, mode) for row in zip(*columns, strict=True)]
    for target in (0, 90):
        np.testing.assert_array_equal(call(name, columns, target)[0], np.array(wanted, dtype))


KINDS = {"int": (np.int32, "i"), "uint": (np.uint32, "i"), "ll": (np.int64, "l"), "ull": (np.uint64, "l"),
         "float": (np.float32, "f"), "double": (np.float64, "d")}  # fmt: skip
CONVERSIONS = [(f"{a}2{b}_{mode}", a, b, mode) for a in KINDS for b in KINDS for mode in MODES
               if f"{a}2{b}_{mode}" in ROWS]  # fmt: skip


def whole(v: Fraction, mode: str) -> int:
    if mode == "rn":
        return round(v)
    return math.trunc(v) if mode == "rz" else math.floor(v) if mode == "rd" else math.ceil(v)


@pytest.mark.parametrize(("name", "of", "to", "mode"), CONVERSIONS)
def test_conversions_are_rounded_as_named(name: str, of: str, to: str, mode: str) -> None:
    columns = arguments_of(name)
    dtype = np.dtype(KINDS[to][0])
    wanted = []
    for v in columns[0].view(KINDS[of][0]):
        if dtype.kind in "iu":
            limits = np.iinfo(dtype)
            n = 0 if np.isnan(v) else 2**64 * int(np.sign(v)) if np.isinf(v) else whole(Fraction(float(v)), mode)
            wanted.append(min(max(n, int(limits.min)), int(limits.max)))
        elif np.isfinite(v):
            exact = Fraction(int(v)) if np.dtype(KINDS[of][0]).kind in "iu" else Fraction(float(v))
            wanted.append(rounded(exact, dtype, mode) if exact else dtype.type(v))
        else:
            wanted.append(dtype.type(v))
    for target in (0, 90):
        np.testing.assert_array_equal(call(name, columns, target)[0].view(dtype), np.array(wanted, dtype))


# ---- integers and bits -----------------------------------------------------------------------------------


def signed(v: int, bits: int) -> int:
    return (v + 2 ** (bits - 1)) % 2**bits - 2 ** (bits - 1)


def byte_perm(x: int, y: int, s: int) -> int:
    both = (y % 2**32) << 32 | x % 2**32
    return sum((both >> 8 * (s >> 4 * i & 7) & 255) << 8 * i for i in range(4))


def unsigned(f: Callable[..., int], bits: int = 32) -> Callable[..., int]:
    return lambda *x: f(*(v % 2**bits for v in x))


def reversed_bits(bits: int) -> Callable[[int], int]:
    return lambda x: int(f"{x % 2**bits:0{bits}b}"[::-1], 2)


INTEGERS: dict[str, Callable[..., int]] = {
    "abs": abs, "llabs": abs, "max": max, "min": min, "llmax": max, "llmin": min,
    "umax": unsigned(max), "umin": unsigned(min), "ullmax": unsigned(max, 64), "ullmin": unsigned(min, 64),
    "mulhi": lambda x, y: x * y >> 32, "mul64hi": lambda x, y: x * y >> 64,
    "umulhi": unsigned(lambda x, y: x * y >> 32), "umul64hi": unsigned(lambda x, y: x * y >> 64, 64),
    "mul24": lambda x, y: signed(x, 24) * signed(y, 24), "umul24": lambda x, y: x % 2**24 * (y % 2**24),
    "sad": lambda x, y, z: abs(x - y) + z, "usad": unsigned(lambda x, y, z: abs(x - y) + z),
    "hadd": lambda x, y: x + y >> 1, "rhadd": lambda x, y: x + y + 1 >> 1,
    "uhadd": unsigned(lambda x, y: x + y >> 1), "urhadd": unsigned(lambda x, y: x + y + 1 >> 1),
    "byte_perm": byte_perm, "brev": reversed_bits(32), "brevll": reversed_bits(64),
    "clz": lambda x: 32 - (x % 2**32).bit_length(), "clzll": lambda x: 64 - (x % 2**64).bit_length(),
    "ffs": lambda x: (x & -x).bit_length() if x >= 0 else (x % 2**32 & -(x % 2**32)).bit_length(),
    "ffsll": lambda x: (x % 2**64 & -(x % 2**64)).bit_length(),
    "popc": unsigned(lambda x: x.bit_count()), "popcll": unsigned(lambda x: x.bit_count(), 64),
}  # fmt: skip


@pytest.mark.parametrize("name", INTEGERS)
def test_integer_functions(name: str) -> None:
    columns = arguments_of(name)
    dtype = DTYPES[ROWS[name][2][0]]
    wanted = [signed(INTEGERS[name](*map(int, row)), 8 * dtype.itemsize) for row in zip(*columns, strict=True)]
    for target in (0, 90):
        np.testing.assert_array_equal(call(name, columns, target)[0], np.array(wanted, dtype))


BITS: dict[str, Callable[..., Any]] = {
    "float_as_int": lambda x: x.view("i4"), "int_as_float": lambda x: x.view("f4"),
    "double_as_longlong": lambda x: x.view("i8"), "longlong_as_double": lambda x: x.view("f8"),
    "double2hiint": lambda x: x.view("i4")[1::2], "double2loint": lambda x: x.view("i4")[::2],
    "hiloint2double": lambda x, y: (x.astype("i8") << 32 | y.astype("i8") & 0xFFFFFFFF).view("f8"),
    "float2half_rn": lambda x: x.astype("f2").view("i2"), "half2float": lambda x: x.view("f2").astype("f4"),
    "llrint": lambda x: integral(np.rint(x)), "llround": lambda x: integral(half_away(x)),
    "llrintf": lambda x: integral(np.rint(x)), "llroundf": lambda x: integral(half_away(x)),
    "saturatef": lambda x: np.clip(np.nan_to_num(x, nan=0), 0, 1), "fast_fdividef": lambda x, y: x / y,
}  # fmt: skip


def integral(x: np.ndarray) -> np.ndarray:
    return np.array([0 if np.isnan(v) else int(np.clip(float(v), -(2.0**63), 2.0**63 - 1024)) for v in x], "i8")


@pytest.mark.parametrize("name", BITS)
def test_bits_and_the_rest(name: str) -> None:
    columns = arguments_of(name)
    with np.errstate(all="ignore"):
        wanted = BITS[name](*columns)
    if wanted.dtype == np.int64:
        wanted = np.where((columns[0] >= 2.0**63) & name.startswith("ll"), 2**63 - 1, wanted)
    for target in (0, 90):
        got = call(name, columns, target)[0]
        assert got.dtype == wanted.dtype
        np.testing.assert_array_equal(got, wanted)


@pytest.mark.parametrize("name", ["remquo", "remquof"])
def test_remquo_has_the_lowest_bits_of_the_quotient(name: str) -> None:
    x, y = arguments_of(name)
    good = np.isfinite(x) & np.isfinite(y) & (y != 0)
    x, y = x[good], y[good]
    for target in (0, 90):
        rest, quotient = call(name, [x, y], target)
        for a, b, r, q in zip(x, y, rest, quotient, strict=True):
            n = round(Fraction(float(a)) / Fraction(float(b)))
            assert r == math.remainder(a, b) and abs(q) == abs(n) % 8 and int(q) * n >= 0, (a, b, r, q, n)


# One of each kind of row, and all compositions.
ON_CPU = (
    "sin powf sinpif sincos frexp jn yn j0 y1f rcbrt remquo frsqrt_rn frcp_ru saturatef "
    "dadd_rz dmul_rd ddiv_ru dsqrt_rz fma_rd fsub_ru llround float2ull_ru double2int_rn ull2float_rd ll2double_rz "
    "double2float_rd float2half_rn half2float float_as_int double2hiint hiloint2double isnanf isinfd signbitd powi abs "
    "mul64hi umulhi mul24 umul24 sad usad hadd urhadd byte_perm brevll clzll ffsll popcll"
).split()


@pytest.mark.parametrize("name", ON_CPU)
def test_a_cpu_gives_the_bits_of_a_gpu(name: str) -> None:
    columns = arguments_of(name)
    letters = ROWS[name][2].split(":")[0]
    out = [np.zeros(columns[0].size, DTYPES[letter]) for letter in letters]
    cuda.jit(kernel_of(name))[1, 1](*columns, *out)
    for got, wanted in zip(out, call(name, columns, 90), strict=True):
        number = ~np.isnan(wanted)
        np.testing.assert_array_equal(np.isnan(got), ~number)
        np.testing.assert_array_equal(got[number].view(f"i{got.itemsize}"), wanted[number].view(f"i{got.itemsize}"))


def test_every_name_is_ptx() -> None:
    for name, row in ROWS.items():
        arrays = [getattr(cuda, str(DTYPES[letter]))[::1] for letter in "".join(reversed(row[2].split(":")))]
        text, _ = cuda.compile_ptx(kernel_of(name), tuple(arrays), cc=(9, 0))
        assert "st.global" in text


def test_every_name_is_tested() -> None:
    tested = {*MATH_NAMES, *(row[0] for row in ARITHMETIC), *(row[0] for row in CONVERSIONS), *INTEGERS, *BITS}
    assert len(ROWS) == 317 and set(ROWS) - tested == {"remquo", "remquof"}
    assert set(libdevice.__all__) == set(ROWS)


def test_bessel_functions_of_any_order() -> None:
    orders, at = np.array([0, 1, 2, 10, 40, 100, -1], np.int32), np.array([0.0, 1e-3, 0.5, 9, 45, 200])
    n, x = (a.ravel() for a in np.meshgrid(orders, at))
    got = call("jn", [n, x], 0)[0]
    np.testing.assert_allclose(got, np.where(n < 0, np.nan, bessel_j(n, x)), atol=1e-14)
    got = call("yn", [n, x], 0)[0]
    j = [call("jn", [np.abs(n) + k, x], 0)[0] for k in (0, 1)]
    y = call("yn", [np.abs(n) + 1, x], 0)[0]
    with np.errstate(all="ignore"):
        assert np.isnan(got[n < 0]).all() and (got[(x == 0) & (n >= 0)] == -np.inf).all()
        both = (n >= 0) & (x > 0.4) & (np.abs(y) < 1e200)
        np.testing.assert_allclose((j[1] * got - j[0] * y)[both], (2 / (np.pi * x))[both], rtol=1e-11)


@pytest.mark.parametrize("target", [0, 90])
def test_what_rounds_to_nearest_rounds_by_itself(target: int) -> None:
    def kernel(a, b, c, out):
        i = cuda.grid(1)
        if i < out.shape[0]:
            out[i, 0] = libdevice.dmul_rn(a[i], b[i]) + c[i]
            out[i, 1] = libdevice.dadd_rn(a[i] * b[i], c[i])
            out[i, 2] = libdevice.dadd_rn(libdevice.dmul_rn(a[i], b[i]), c[i])
            out[i, 3] = a[i] * b[i] + c[i]

    a, b, c = np.array([1 + 2.0**-30]), np.array([1 - 2.0**-30]), np.array([-1.0])
    out = np.zeros((1, 4))
    run(kernel, a, b, c, out, target=target)
    joined = -(2.0**-60) if target else 0.0  # 1 - 2^-60, rounded or not
    assert out.tolist() == [[0.0, 0.0, 0.0, joined]]


def test_arguments_that_are_no_numbers() -> None:
    def kernel(x, out):
        out[0] = libdevice.sin(x)

    with pytest.raises(LowerError, match=r"\bsin\(\): 'x' must be a real number"):
        run(kernel, np.zeros(3), np.zeros(3))


def test_on_the_host_a_call_says_where_it_works() -> None:
    with pytest.raises(RuntimeError, match=r"cuda\.libdevice\.sinf\(\) works inside a function decorated"):
        libdevice.sinf(1.0)
    with pytest.raises(RuntimeError, match=r"cuda\.grid\(\) works inside a function decorated"):
        cuda.grid(1)
