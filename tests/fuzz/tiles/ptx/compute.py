# SPDX-License-Identifier: Apache-2.0
"""What instructions calculate: functions of NumPy arrays, by the parts of the instruction's name.

A `Rule` gives the types of the operands, the type of the result and the function. Roundings are exact:
what float64 cannot hold is first rounded to odd there, after which the second rounding is the only one
that counts. Approximations (ex2.approx, ...) are the exact functions; whoever compares grants them error.
"""

from __future__ import annotations

import ctypes
import ctypes.util
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np

F64: Any = np.float64
TYPES: dict[str, Any] = {
    **{f"{k}{b}": np.dtype(f"{n}{b}") for k, n in
       (("s", "int"), ("u", "uint"), ("b", "uint")) for b in (8, 16, 32, 64)},
    "pred": np.dtype(bool), "f16": np.dtype(np.float16), "f32": np.dtype(np.float32),
    "f64": np.dtype(F64), "bf16": np.dtype(ml_dtypes.bfloat16),
}  # fmt: skip
FLOATS = ("f16", "bf16", "f32", "f64")
ROUNDINGS = {"rn", "rz", "rm", "rp"}


@dataclass(frozen=True)
class Rule:
    reads: tuple[str, ...]
    writes: str
    fn: Callable[..., Any]


# ---- rounding -----------------------------------------------------------------------------------


def odd_sum(a: Any, b: Any) -> Any:
    """a + b of float64, rounded to odd: cut off, and the last bit set where anything was lost."""
    s = a + b
    c = s - a
    lost = (a - (s - c)) + (b - c)
    bits = s.view(np.int64)
    fix = (lost != 0) & np.isfinite(s) & ((bits & 1) == 0)
    return np.where(fix, bits + np.where((lost > 0) == (s > 0), 1, -1), bits).view(F64)


def odd_single(x: Any) -> Any:
    """float64 as float32, rounded to odd."""
    f = x.astype(np.float32)
    back = f.astype(F64)
    bits = f.view(np.int32)
    cut = (bits - (np.abs(back) > np.abs(x))) | 1
    return np.where((back != x) & (x == x), cut, bits).astype(np.int32).view(np.float32)


def narrow(x: Any, to: str, how: str = "rn") -> Any:
    """float64, exact or rounded to odd, as another type."""
    if to == "f64":
        return x
    y = (odd_single(x) if to == "bf16" else x).astype(TYPES[to])
    if how == "rn":
        return y
    z = y.astype(F64)
    too_far = {"rz": np.abs(z) > np.abs(x), "rm": z > x, "rp": z < x}[how]
    goal = {"rz": 0.0, "rm": -np.inf, "rp": np.inf}[how]
    return np.where(too_far, np.nextafter(y, np.array(goal, y.dtype)), y)


def flushed(x: Any) -> Any:
    return np.where(np.abs(x) < np.float32(2.0**-126), np.copysign(np.float32(0), x), x)


# ---- floats ---------------------------------------------------------------------------------------

LIBM = ctypes.CDLL(ctypes.util.find_library("m"))
LIBM.fma.restype = ctypes.c_double
LIBM.fma.argtypes = [ctypes.c_double] * 3


def fma(t: str, how: str) -> Callable[..., Any]:
    if t == "f64":
        return lambda a, b, c: np.fromiter(
            map(LIBM.fma, a.tolist(), b.tolist(), c.tolist()), F64, len(a)
        )
    return lambda a, b, c: narrow(odd_sum(a.astype(F64) * b.astype(F64), c.astype(F64)), t, how)


def directed(stem: str, t: str, how: str) -> Callable[..., Any] | None:
    """Sums and products that are not rounded to nearest."""
    if t == "f64" or stem not in ("add", "sub", "mul"):
        return None
    if stem == "mul":
        return lambda a, b: narrow(a.astype(F64) * b.astype(F64), t, how)
    sign = -1.0 if stem == "sub" else 1.0
    return lambda a, b: narrow(odd_sum(a.astype(F64), sign * b.astype(F64)), t, how)


def least(a: Any, b: Any) -> Any:
    first = (a < b) | (b != b) | ((a == b) & np.signbit(a))
    return np.where(first, a, b)


def greatest(a: Any, b: Any) -> Any:
    first = (a > b) | (b != b) | ((a == b) & ~np.signbit(a))
    return np.where(first, a, b)


def with_nan(fn: Callable[..., Any]) -> Callable[..., Any]:
    return lambda a, b: np.where((a != a) | (b != b), a.dtype.type(np.nan), fn(a, b))


APPROXIMATE: dict[str, Callable[[Any], Any]] = {
    "sin": np.sin,
    "cos": np.cos,
    "tanh": np.tanh,
    "lg2": np.log2,
    "ex2": np.exp2,
    "rsqrt": lambda x: 1 / np.sqrt(x),
    "rcp": lambda x: 1 / x,
}
BINARY: dict[str, Callable[..., Any]] = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "div": np.divide,
}


def of_float(stem: str, mods: set[str], t: str) -> Rule | None:
    """Arithmetic of floats."""
    how = next(iter(mods & ROUNDINGS), "rn")
    fn: Callable[..., Any] | None = None
    reads: tuple[str, ...] = (t,)
    if stem in BINARY:
        fn = BINARY[stem] if how == "rn" else directed(stem, t, how)
        reads = (t, t)
    elif stem == "fma":
        fn, reads = fma(t, how), (t, t, t)
    elif stem in ("min", "max"):
        fn = least if stem == "min" else greatest
        fn, reads = with_nan(fn) if "NaN" in mods else fn, (t, t)
    elif stem in ("abs", "neg"):
        fn = np.abs if stem == "abs" else np.negative
    elif stem == "sqrt" and how == "rn":
        fn = np.sqrt
    elif stem in APPROXIMATE:
        wide = APPROXIMATE[stem]
        fn = lambda x: narrow(wide(x.astype(F64)), t)  # noqa: E731
    if fn and "ftz" in mods:
        exact = fn
        fn = lambda *a: flushed(exact(*(flushed(x) for x in a)))  # noqa: E731
    return Rule(reads, t, fn) if fn else None


# ---- integers -------------------------------------------------------------------------------------


def quotient(a: Any, b: Any) -> Any:
    """Towards zero; of a division by zero all bits are one, which no program may see."""
    some = np.where(b == 0, b.dtype.type(1), b)
    q = (a - np.fmod(a, some)) // some if a.dtype.kind == "i" else a // some
    return np.where(b == 0, np.array(-1).astype(b.dtype), q)


def remainder(a: Any, b: Any) -> Any:
    some = np.where(b == 0, b.dtype.type(1), b)
    return np.where(b == 0, np.array(-1).astype(b.dtype), np.fmod(a, some))


def high_half(a: Any, b: Any) -> Any:
    """The upper half of the product."""
    bits = a.dtype.itemsize * 8
    if bits < 64:
        wide = np.dtype(f"{a.dtype.kind}{bits // 4}")
        return (a.astype(wide) * b.astype(wide) >> bits).astype(a.dtype)
    pairs = zip(a.tolist(), b.tolist(), strict=True)
    return np.array([(x * y >> 64) & (2**64 - 1) for x, y in pairs], np.uint64).view(a.dtype)


def shift(fn: Callable[..., Any]) -> Callable[..., Any]:
    """Counts are clamped: all bits are shifted out, or the sign remains."""

    def run(a: Any, n: Any) -> Any:
        bits = a.dtype.itemsize * 8
        over = n >= bits
        by = np.where(over, 0, n).astype(a.dtype)
        rest = a >> (bits - 1) if fn is np.right_shift and a.dtype.kind == "i" else a.dtype.type(0)
        return np.where(over, rest, fn(a, by))

    return run


def permuted(a: Any, b: Any, selector: Any) -> Any:
    """prmt: four bytes chosen among eight."""
    both = a.astype(np.uint64) | b.astype(np.uint64) << np.uint64(32)
    out = np.zeros_like(a)
    for k in range(4):
        s = selector >> np.uint32(4 * k)
        byte = both >> ((s & 7) * 8).astype(np.uint64) & np.uint64(255)
        sign = np.where(byte & np.uint64(128), 255, 0).astype(np.uint64)
        byte = np.where(s & 8, sign, byte).astype(np.uint32)
        out = out | byte << np.uint32(8 * k)
    return out


def by_table(a: Any, b: Any, c: Any, table: Any) -> Any:
    """lop3: each bit of three operands picks one of the table's eight."""
    out = np.zeros_like(a)
    for k in range(8):
        here = (a if k & 4 else ~a) & (b if k & 2 else ~b) & (c if k & 1 else ~c)
        out = out | np.where(table >> np.uint32(k) & np.uint32(1), here, np.uint32(0))
    return out


def ones(x: Any) -> Any:
    return np.bitwise_count(x).astype(np.uint32)


def leading_zeros(x: Any) -> Any:
    bits = x.dtype.itemsize * 8
    for k in (1, 2, 4, 8, 16, 32)[: bits.bit_length() - 1]:
        x = x | x >> x.dtype.type(k)
    return (bits - np.bitwise_count(x).astype(np.int64)).astype(np.uint32)


def reversed_bits(x: Any) -> Any:
    bits = x.dtype.itemsize * 8
    out = np.zeros_like(x)
    for k in range(bits):
        out |= (x >> x.dtype.type(k) & x.dtype.type(1)) << x.dtype.type(bits - 1 - k)
    return out


def field_taken(a: Any, at: Any, n: Any) -> Any:
    """bfe of unsigned 32 bits."""
    wide = a.astype(np.uint64) >> np.minimum(at & 255, 63).astype(np.uint64)
    mask = (np.uint64(1) << np.minimum(n & 255, 32).astype(np.uint64)) - np.uint64(1)
    return (wide & mask).astype(a.dtype)


def field_put(a: Any, b: Any, at: Any, n: Any) -> Any:
    """bfi of 32 bits: the low n bits of a over those of b."""
    mask = (np.uint64(1) << np.minimum(n & 255, 32).astype(np.uint64)) - np.uint64(1)
    by = np.minimum(at & 255, 63).astype(np.uint64)
    kept = b.astype(np.uint64) & ~(mask << by)
    return (kept | (a.astype(np.uint64) & mask) << by).astype(np.uint32)


INTEGER: dict[str, tuple[int, Callable[..., Any]]] = {
    "add": (2, np.add), "sub": (2, np.subtract), "div": (2, quotient), "rem": (2, remainder),
    "min": (2, np.minimum), "max": (2, np.maximum), "and": (2, np.bitwise_and),
    "or": (2, np.bitwise_or), "xor": (2, np.bitwise_xor), "not": (1, np.invert),
    "abs": (1, np.abs), "neg": (1, np.negative), "brev": (1, reversed_bits),
}  # fmt: skip


def doubled(t: str) -> str:
    return f"{t[0]}{int(t[1:]) * 2}"


def of_product(stem: str, mods: set[str], t: str) -> Rule | None:
    third = (t,) if stem == "mad" else ()
    if "wide" in mods:
        wide = TYPES[doubled(t)]
        third = (doubled(t),) if third else ()
        whole = lambda a, b: a.astype(wide) * b.astype(wide)  # noqa: E731
        writes = doubled(t)
    elif "lo" in mods or "hi" in mods:
        whole, writes = np.multiply if "lo" in mods else high_half, t
    else:
        return None
    fn = (lambda a, b, c: whole(a, b) + c) if third else whole
    return Rule((t, t, *third), writes, fn)


def of_integer(stem: str, mods: set[str], t: str) -> Rule | None:
    if stem in INTEGER:
        n, fn = INTEGER[stem]
        return Rule((t,) * n, t, fn)
    if stem in ("mul", "mad"):
        return of_product(stem, mods, t)
    if stem in ("shl", "shr"):
        return Rule((t, "u32"), t, shift(np.left_shift if stem == "shl" else np.right_shift))
    rows: dict[str, Rule] = {
        "prmt": Rule(("b32",) * 3, "b32", permuted),
        "lop3": Rule(("b32",) * 4, "b32", by_table),
        "popc": Rule((t,), "u32", ones),
        "clz": Rule((t,), "u32", leading_zeros),
        "bfe": Rule((t, "u32", "u32"), t, field_taken),
        "bfi": Rule((t, t, "u32", "u32"), t, field_put),
    }
    known = {"bfe": t == "u32", "bfi": t == "b32", "prmt": "b4e" not in mods}
    return rows.get(stem) if known.get(stem, True) else None


# ---- comparison, selection, conversion --------------------------------------------------------------

COMPARED: dict[str, Callable[..., Any]] = {
    "eq": np.equal, "ne": lambda a, b: (a != b) & (a == a) & (b == b), "lt": np.less,
    "le": np.less_equal, "gt": np.greater, "ge": np.greater_equal,
}  # fmt: skip


def of_setp(mods: set[str], t: str) -> Rule | None:
    name = next((m for m in mods if m[:2] in COMPARED or m in ("nan", "num")), "")
    fn: Callable[..., Any]
    if name == "nan":
        fn = lambda a, b: (a != a) | (b != b)  # noqa: E731
    elif name in COMPARED:
        fn = COMPARED[name]
    elif name[2:] == "u" and t in FLOATS:
        ordered = COMPARED[name[:2]]
        fn = lambda a, b: ordered(a, b) | (a != a) | (b != b)  # noqa: E731
    else:
        return None
    if mods - {name, "ftz"}:
        return None
    if "ftz" in mods:
        exact = fn
        fn = lambda a, b: exact(flushed(a), flushed(b))  # noqa: E731
    return Rule((t, t), "pred", fn)


WHOLE = {"rni": np.rint, "rzi": np.trunc, "rmi": np.floor, "rpi": np.ceil}


def to_integer(to: str, how: str) -> Callable[[Any], Any]:
    """Saturates; NaN is 0."""
    info = np.iinfo(TYPES[to])

    def run(x: Any) -> Any:
        whole = WHOLE[how](x.astype(F64))
        low, high = whole < float(info.min), whole >= float(info.max)
        some = np.where(low | high | np.isnan(whole), 0.0, whole).astype(TYPES[to])
        return np.where(low, info.min, np.where(high, info.max, some)).astype(TYPES[to])

    return run


def from_integer(to: str, how: str) -> Callable[[Any], Any]:
    def run(x: Any) -> Any:
        if x.dtype.itemsize < 8:
            return narrow(x.astype(F64), to, how)
        high = (x >> x.dtype.type(16)).astype(F64) * 65536.0  # exact in two halves
        low = (x & x.dtype.type(0xFFFF)).astype(F64)
        return (high + low) if to == "f64" else narrow(odd_sum(high, low), to, how)

    return run


def of_cvt(mods: set[str], to: str, source: str) -> Rule | None:
    how = next(iter(mods & ROUNDINGS), "rn")
    whole = next(iter(mods & set(WHOLE)), "")
    if mods - ROUNDINGS - set(WHOLE) - {"ftz"}:
        return None
    fn: Callable[..., Any]
    if source in FLOATS and to in FLOATS:
        if whole:
            fn = lambda x: narrow(WHOLE[whole](x.astype(F64)), to)  # noqa: E731
        else:
            fn = lambda x: narrow(x.astype(F64), to, how)  # noqa: E731
    elif source in FLOATS:
        fn = to_integer(to, whole)
    elif to in FLOATS:
        if to == "f64" and how != "rn":
            return None
        fn = from_integer(to, how)
    else:
        fn = lambda x: x.astype(TYPES[to])  # noqa: E731
    return Rule((source,), to, fn)


def of_pair(mods: set[str], to: str) -> Rule | None:
    """cvt of two f32 into one register, the first as the upper half."""
    half, how = to.removesuffix("x2"), next(iter(mods & ROUNDINGS), "rn")
    if half not in FLOATS or mods - ROUNDINGS:
        return None

    def run(high: Any, low: Any) -> Any:
        parts = [narrow(x.astype(F64), half, how) for x in (low, high)]
        return np.stack(parts, 1).view(np.uint32)[:, 0]

    return Rule(("f32", "f32"), "b32", run)


def to_tf32(mods: set[str]) -> Rule:
    """Ten bits of fraction; halves away from zero (rna) or to even (rn)."""

    def run(x: Any) -> Any:
        bits = x.view(np.uint32)
        even = np.uint32(4096) if "rna" in mods else np.uint32(4095) + (bits >> 13 & 1)
        return np.where(np.isfinite(x), (bits + even) & np.uint32(0xFFFFE000), bits)

    return Rule(("f32",), "b32", run)


def rule(parts: tuple[str, ...]) -> Rule | None:
    """What an instruction calculates; None: this is not one that only calculates, or is not known."""
    stem, mods, t = parts[0], set(parts[1:-1]), parts[-1]
    if stem == "cvt" and parts[-2:] == ("tf32", "f32"):
        return to_tf32(mods)
    if stem == "cvt" and parts[-2].endswith("x2") and t == "f32":
        return of_pair(mods - {parts[-2]}, parts[-2])
    if t not in TYPES or (stem == "cvt" and parts[-2] not in TYPES):
        return None
    if stem == "cvt":
        return of_cvt(set(parts[1:-2]), parts[-2], t)
    if stem == "setp":
        return of_setp(mods, t)
    if stem == "selp":
        return Rule((t, t, "pred"), t, lambda a, b, c: np.where(c, a, b))
    if mods - ROUNDINGS - {"lo", "hi", "wide", "ftz", "NaN", "approx", "full"}:
        return None
    return of_float(stem, mods, t) if t in FLOATS else of_integer(stem, mods, t)
