# SPDX-License-Identifier: Apache-2.0
"""The functions of src/table/math.def in the second reading: values of libm and NumPy in float64, bounds of the rows.

Every row is tried: one without an entry in `ORACLES` gives unknown values, which are not compared.
"""

from __future__ import annotations

import math
import pathlib
import sys
from collections.abc import Callable
from statistics import NormalDist
from typing import Any

import numpy as np

from .values import Tile, astype, is_float, quantum, rounded, settle

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "tools"))
import gen_language

ROWS = {row.name: row for row in gen_language.math_rows()}
RESULTS = {"XB": "bool_", "XI": "int32"}  # dtype of the result by kind, where it is not that of the argument
PAIRS = [name for name, *_ in gen_language.math_pairs()]
# Functions that never turn: what the argument may be off widens the result to what its ends give.
MONOTONE = frozenset(
    "exp10 expm1 log10 log1p acosh asinh atanh acos asin atan cbrt erf erfc erfcx normcdf erfinv erfcinv normcdfinv "
    "trunc rint round_away".split()
)


def each(f: Callable[[float], float]) -> Callable[[Any], Any]:
    """A function of one number on arrays: NaN where it is not defined, infinite where it is too great."""

    def one(x: float) -> float:
        try:
            return f(x)
        except ValueError:
            return math.nan
        except OverflowError:
            return math.inf

    return lambda x: np.vectorize(one, otypes=[np.float64])(x)


def sinpi(x: Any, quarters: int = 0) -> Any:
    r = np.fmod(np.abs(x), 2)
    n = np.rint(2 * np.where(np.isfinite(x), r, 0)).astype(np.int64)
    r, n = math.pi * (r - n / 2), n + quarters
    y = np.where(n & 1, np.cos(r), np.sin(r)) * np.where(n & 2, -1, 1)
    return y if quarters else np.copysign(1, x) * y


def remainder(x: float, y: float) -> float:
    return math.nan if math.isnan(x + y) or math.isinf(x) or y == 0 else math.remainder(x, y)


def erfcx(x: float) -> float:
    if x < 25:
        return math.exp(x * x) * math.erfc(x)
    total = term = 1 / (x * math.sqrt(math.pi))
    for k in range(1, 12):  # the asymptotic series
        term *= -(2 * k - 1) / (2 * x * x)
        total += term
    return total


def erfinv(x: float) -> float:
    if abs(x) >= 1:
        return math.copysign(math.inf, x) if abs(x) == 1 else math.nan
    if abs(x) > 0.5:
        return math.copysign(erfcinv(1 - abs(x)), x)
    y = x * math.sqrt(math.pi) / 2
    for _ in range(30):  # Newton
        y -= (math.erf(y) - x) * math.exp(y * y) * math.sqrt(math.pi) / 2
    return y


def erfcinv(x: float) -> float:
    if 0.5 <= x <= 1.5:
        return erfinv(1 - x)
    if not 0 < x < 2:
        return math.inf if x == 0 else -math.inf if x == 2 else math.nan
    return -NormalDist().inv_cdf(x / 2) / math.sqrt(2) if x < 1 else -erfcinv(2 - x)


def rhypot(x: Any, y: Any) -> Any:
    """1 / sqrt(x * x + y * y), also where the root is beyond the range of floats."""
    half = np.maximum(np.abs(x), np.abs(y)) > 1e300
    return np.where(half, 0.5 / np.hypot(x / 2, y / 2), 1 / np.hypot(x, y))


def lgamma(x: float) -> float:
    return math.inf if x <= 0 and x == math.floor(x) else math.lgamma(x)


def tgamma(x: float) -> float:
    return math.copysign(math.inf, x) if x == 0 else math.gamma(x)


ORACLES: dict[str, Callable[..., Any]] = {
    "isfinite": np.isfinite, "isinf": np.isinf, "copysign": np.copysign, "trunc": np.trunc, "rint": np.rint,
    "rhypot": rhypot,
    "round_away": lambda x: np.copysign(np.floor(np.abs(x)) + (np.abs(x) - np.floor(np.abs(x)) >= 0.5), x),
    "ldexp": lambda x, n: np.ldexp(x, np.clip(n, -5000, 5000).astype(np.int32)),
    "exp10": lambda x: 10.0**x, "expm1": np.expm1, "log10": np.log10, "log1p": np.log1p,
    "acosh": np.arccosh, "asinh": np.arcsinh, "atanh": np.arctanh,
    "acos": np.arccos, "asin": np.arcsin, "atan": np.arctan,
    "cbrt": np.cbrt, "rcbrt": lambda x: 1 / np.cbrt(x), "hypot": np.hypot, "fmod": np.fmod,
    "remainder": lambda x, y: np.vectorize(remainder, otypes=[float])(x, y),
    "cospi": lambda x: sinpi(x, 1), "sinpi": sinpi,
    "erf": each(math.erf), "erfc": each(math.erfc), "erfcx": each(erfcx),
    "normcdf": each(lambda x: math.erfc(-x / math.sqrt(2)) / 2), "erfinv": each(erfinv), "erfcinv": each(erfcinv),
    "normcdfinv": each(lambda x: -math.sqrt(2) * erfcinv(2 * x)), "tgamma": each(tgamma), "lgamma": each(lgamma),
}  # fmt: skip
# What the oracle itself may be off in float64, in units of the last place: an argument rounded in erfc or exp.
SLACK: dict[str, Callable[[Any], Any]] = {
    "erfcx": lambda x: 4 + 2 * x * x,
    "normcdf": lambda x: 4 + 2 * x * x,
    **dict.fromkeys(("erfinv", "erfcinv", "normcdfinv"), lambda x: 8.0),
    **dict.fromkeys(("tgamma", "lgamma"), lambda x: 16.0),
}


def units(name: str, dt: str, x: Any) -> Any:
    """How far the result of a row may be from the rounded value of its oracle, in units of the last place."""
    row = ROWS[name]
    bound = float(row.f64 if dt == "float64" else row.f32)
    if bound == 0:
        return 0.0
    return bound + 1 + SLACK.get(name, lambda x: 1.0)(x) if dt == "float64" else bound + 0.5 if dt == "float32" else 1.0


def unknown(x: Tile, r: Any, e: Any) -> Any:
    """Where an argument is off, so is what is not monotone."""
    return np.where(np.broadcast_to(x.err, np.shape(r)) > 0, np.inf, e)


def called(name: str, *given: Any) -> Tile:
    """A row of math.def on tiles."""
    x, *others = (v if isinstance(v, Tile) else Tile(v, "float32" if isinstance(v, float) else "int32") for v in given)
    x = x if is_float(x.dt) else astype(x, "float32")
    oracle, kind = ORACLES.get(name), ROWS[name].kind
    shape = np.broadcast_shapes(x.shape, *(o.shape for o in others))
    if oracle is None:
        return Tile(np.zeros(shape), RESULTS.get(kind, x.dt), np.full(shape, np.inf))
    r = oracle(x.v, *(o.v for o in others))
    if kind == "XB":
        return Tile(r, "bool_", np.where(x.err > 0, np.inf, 0.0))
    e = np.zeros(shape)
    if not others and name in MONOTONE:
        e = np.maximum(np.abs(oracle(x.v + x.err) - r), np.abs(oracle(x.v - x.err) - r))
        e = np.where(x.err == 0, 0.0, np.where(np.isinf(x.err), np.inf, e))
    else:
        for tile in (x, *others):
            e = unknown(tile, r, e)
    if name == "copysign":  # the sign of NaN is left open
        e = np.where(np.isnan(others[0].v), np.inf, e)
    k = units(name, x.dt, x.v)
    if name == "lgamma":  # in units of 1: below -2, and the oracle itself
        e = e + np.where((x.v < -2) | (x.dt == "float64"), (k + 1) * quantum(x.dt, np.ones(shape)), 0.0)
    finite = np.isfinite(r) & np.isfinite(x.v)
    return settle(x.dt, r, e, np.isnan(r) | ~np.isfinite(x.v) | (np.asarray(k) == 0), finite, k)


def pair(name: str, x: Tile) -> tuple[Tile, Tile]:
    """A function with two results."""
    off = np.where(x.err > 0, np.inf, 0.0)
    if name == "sincos":
        return Tile(np.sin(x.v), x.dt, off + 4 * quantum(x.dt, np.sin(x.v))), Tile(
            np.cos(x.v), x.dt, off + 4 * quantum(x.dt, np.cos(x.v)))  # fmt: skip
    if name == "sincospi":
        return called("sinpi", x), called("cospi", x)
    first, second = np.frexp(x.v) if name == "frexp" else np.modf(x.v)
    return Tile(rounded(x.dt, first), x.dt, off), Tile(second, "int32" if name == "frexp" else x.dt, off)


FUNCTIONS: dict[str, Any] = {
    **{name: lambda *x, name=name: called(name, *x) for name in ROWS},
    **{name: lambda x, name=name: pair(name, x) for name in PAIRS},
}
