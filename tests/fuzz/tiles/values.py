# SPDX-License-Identifier: Apache-2.0
"""Tiles of the second reading of the language: values with error bounds, arithmetic, conversions.

A `Tile` holds values, their dtype, and a bound `e` on how far each value may be off (None: exact; inf:
unknown). Floats are kept in float64, rounded to their dtype after each operation. What the language
leaves open (fused multiply-add, the order of a sum, padding without a mode) widens `e`; comparing
`|got - v| <= e` is then exact where nothing is open. Unknown elements are not compared; control flow on
one raises Unknown. Nothing here uses the compiler. Read next: shapes.py, memory.py, language.py.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np


class Unknown(Exception):
    """Control flow, an index or a trap hangs on a value that the language leaves open."""


FLOATS = {
    "float16": (11, -14, 15),
    "bfloat16": (8, -126, 127),
    "float32": (24, -126, 127),
    "float64": (53, -1022, 1023),
}
COMPLEX = {"complex64": "float32", "complex128": "float64"}  # the dtype of their parts
INTS = {f"{u}int{b}": np.dtype(f"{u}int{b}") for u in ("", "u") for b in (8, 16, 32, 64)}
BITS = {
    "bool_": 8,
    "float16": 16,
    "bfloat16": 16,
    "float32": 32,
    "float64": 64,
    "complex64": 64,
    "complex128": 128,
    **{n: d.itemsize * 8 for n, d in INTS.items()},
}


def is_float(dt: str) -> bool:
    return dt in FLOATS


def is_complex(dt: str) -> bool:
    return dt in COMPLEX


def is_int(dt: str) -> bool:
    return dt in INTS


def signed(dt: str) -> bool:
    return dt.startswith("int")


def biggest(dt: str) -> float:
    p, _, top = FLOATS[dt]
    return (2.0 - 2.0 ** (1 - p)) * 2.0**top


def quantum(dt: str, x: Any) -> Any:
    """The distance of neighbours at |x| in a dtype."""
    p, low, _ = FLOATS[dt]
    _, e = np.frexp(np.where(np.isfinite(x), x, 1.0))
    e = np.where(x == 0, low, np.maximum(e - 1, low))
    return np.ldexp(1.0, e - (p - 1))


def rounded(dt: str, x: Any) -> Any:
    if dt in ("float64", "complex128"):
        return x
    if dt == "complex64":
        return x.astype(np.complex64).astype(np.complex128)
    if dt == "float32":
        return x.astype(np.float32).astype(np.float64)
    if dt == "float16":
        return x.astype(np.float16).astype(np.float64)
    q = quantum(dt, x)
    r = np.where(np.isfinite(x), np.rint(x / q) * q, x)
    return np.where(np.abs(r) > biggest(dt), np.copysign(np.inf, r), r)


def lowbit(x: Any) -> Any:
    """The lowest set bit of each finite nonzero value (inf of the others)."""
    m, e = np.frexp(np.where(np.isfinite(x), x, 0.0))
    i = (m * 2.0**53).astype(np.int64)
    return np.where(i == 0, np.inf, (i & -i).astype(np.float64) * np.ldexp(1.0, e - 53))


def promote(a: str, b: str) -> str:
    if a == b:
        return a
    if a == "bool_" or b == "bool_":
        return b if a == "bool_" else a
    if is_complex(a) or is_complex(b):
        return "complex128" if {a, b} & {"complex128", "float64"} else "complex64"
    if is_float(a) != is_float(b):
        return a if is_float(a) else b
    if is_float(a):
        assert BITS[a] != BITS[b], "float16 with bfloat16"
    else:
        assert signed(a) == signed(b), "signed with unsigned"
    return a if BITS[a] > BITS[b] else b


def literal_dtype(x: Any, other: str) -> str:
    if isinstance(x, bool) or is_complex(other):
        return other
    if isinstance(x, complex):
        return "complex128" if other == "float64" else "complex64"
    if isinstance(x, int):
        return "int32" if other == "bool_" else other
    return other if is_float(other) else "float32"


class Tile:
    __slots__ = ("dt", "e", "v")
    __array_ufunc__ = None
    if TYPE_CHECKING:  # set below, and in language.py
        __add__: Any
        __radd__: Any
        __sub__: Any
        __mul__: Any
        __floordiv__: Any
        __matmul__: Any
        __neg__: Any
        __pos__: Any
        __invert__: Any
        __getitem__: Any

    def __init__(self, v: Any, dt: str, e: Any = None) -> None:
        self.dt = dt
        v = np.asarray(v)
        self.v = (
            v.astype(np.float64 if is_float(dt) else np.complex128)
            if is_float(dt) or is_complex(dt)
            else v.astype(np.bool_ if dt == "bool_" else INTS[dt])
        )
        if e is not None:
            e = np.broadcast_to(np.asarray(e, np.float64), self.v.shape)
            e = np.where(np.isnan(e), np.inf, e)
            if not is_float(dt) and not is_complex(dt):
                e = np.where(e > 0, np.inf, 0.0)
            if not e.any():
                e = None
        self.e = e

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.v.shape)

    @property
    def err(self) -> Any:
        return np.zeros(self.v.shape) if self.e is None else self.e

    @property
    def dtype(self) -> str:
        return self.dt

    def __bool__(self) -> bool:
        assert self.shape == (), self.shape
        if self.e is not None:
            raise Unknown
        return bool(self.v)

    def __index__(self) -> int:
        assert self.shape == ()
        if self.e is not None:
            raise Unknown
        return int(self.v)

    def like(self, f: Callable[[Any], Any]) -> Tile:
        """The same rearrangement of values and bounds."""
        return Tile(f(self.v), self.dt, None if self.e is None else f(self.e))


def known(t: Tile, what: str = "an index") -> Tile:
    if t.e is not None:
        raise Unknown(what)
    return t


def pair(x: Any, y: Any) -> tuple[Tile, Tile, str]:
    if isinstance(x, Tile) and isinstance(y, Tile):
        d = promote(x.dt, y.dt)
    elif isinstance(x, Tile):
        d = literal_dtype(y, x.dt)
        y = Tile(y, d)
        d = promote(x.dt, d)
    else:
        d = literal_dtype(x, y.dt)
        x = Tile(x, d)
        d = promote(y.dt, d)
    return astype(x, d), astype(y, d), d


def either(a: Tile, b: Tile) -> Any:
    return np.where((a.err > 0) | (b.err > 0), np.inf, 0.0)


# -- floats ------------------------------------------------------------------------------------


def settle(dt: str, r: Any, e: Any, exact: Any, finite: Any = True, k: float = 1.0) -> Tile:
    """A float result: rounded, with k units of the last place where it is not exact; overflow is unknown."""
    v = rounded(dt, r)
    e = e + np.where(exact & (v == r) & (e == 0), 0.0, k * quantum(dt, v))
    e = np.where(finite & (~np.isfinite(v) | (np.abs(v) + e > biggest(dt))), np.inf, e)
    return Tile(v, dt, e)


def both_finite(a: Tile, b: Tile) -> Any:
    return np.isfinite(a.v) & np.isfinite(b.v)


def f_add(a: Tile, b: Tile, d: str, sign: float = 1.0) -> Tile:
    bv = sign * b.v
    r = a.v + bv
    t = r - a.v
    rest = (a.v - (r - t)) + (bv - t)
    return settle(d, r, a.err + b.err, (rest == 0) | ~np.isfinite(r), both_finite(a, b))


def split(x: Any) -> tuple[Any, Any]:
    c = 134217729.0 * x
    h = c - (c - x)
    return h, x - h


def f_mul(a: Tile, b: Tile, d: str) -> Tile:
    r = a.v * b.v
    ah, al = split(a.v)
    bh, bl = split(b.v)
    rest = ((ah * bh - r) + ah * bl + al * bh) + al * bl
    e = np.where(
        (a.err == 0) & (b.err == 0), 0.0, np.abs(a.v) * b.err + np.abs(b.v) * a.err + a.err * b.err
    )
    return settle(d, r, e, (rest == 0) | ~np.isfinite(r), both_finite(a, b))


def f_div(a: Tile, b: Tile, d: str) -> Tile:
    r = a.v / b.v
    safe = np.abs(b.v) - b.err
    e = np.where(
        (a.err == 0) & (b.err == 0),
        0.0,
        (a.err + np.abs(r) * b.err) / np.where(safe > 0, safe, np.nan),
    )
    e = np.where(b.v == 0, np.inf, e)  # the sign of a zero is not tracked
    return settle(d, r, e, (a.err == 0) & (b.err == 0), both_finite(a, b))


def f_floordiv(a: Tile, b: Tile, d: str) -> Tile:
    q = f_div(a, b, d)
    return whole(q, np.floor)


def whole(q: Tile, f: Callable[[Any], Any]) -> Tile:
    lo, hi = f(q.v - q.err), f(q.v + q.err)
    e = np.where(q.err == 0, 0.0, np.maximum(np.abs(hi - f(q.v)), np.abs(f(q.v) - lo)))
    return Tile(f(q.v), q.dt, e)


def f_mod(a: Tile, b: Tile, d: str) -> Tile:
    r = np.fmod(a.v, b.v)
    fix = (r != 0) & ((r < 0) != (b.v < 0))
    e = np.where((a.err > 0) | (b.err > 0) | ~both_finite(a, b) | (b.v == 0), np.inf, 0.0)
    return settle(d, np.where(fix, r + b.v, r), e, ~fix)


# -- binary ------------------------------------------------------------------------------------


def i_floordiv(a: Tile, b: Tile) -> tuple[Any, Any]:
    return np.floor_divide(a.v, b.v), np.remainder(a.v, b.v)


def complexes() -> Any:
    """The arithmetic of complex numbers, which is made of this file."""
    from . import complexes as found

    return found


def binary(op: str, x: Any, y: Any) -> Tile:
    a, b, d = pair(x, y)
    if d == "bool_" and op in "+-*":
        raise AssertionError("arithmetic of bools is not generated")
    if is_complex(d):
        return complexes().arithmetic(op, a, b, d)
    if is_float(d):
        return {
            "+": lambda: f_add(a, b, d),
            "-": lambda: f_add(a, b, d, -1.0),
            "*": lambda: f_mul(a, b, d),
            "/": lambda: f_div(a, b, d),
            "//": lambda: f_floordiv(a, b, d),
            "%": lambda: f_mod(a, b, d),
        }[op]()
    if op == "/":
        return binary("/", astype(a, "float32"), astype(b, "float32"))
    e = either(a, b)
    if op in ("//", "%"):
        q, r = i_floordiv(a, b)
        return Tile(q if op == "//" else r, d, e)
    if op in ("<<", ">>"):
        n = b.v.astype(np.uint64) & np.uint64(2 ** BITS[d] - 1)
        over = n >= BITS[d]
        small = np.where(over, 0, n).astype(a.v.dtype)
        if op == "<<":
            return Tile(np.where(over, a.v.dtype.type(0), np.left_shift(a.v, small)), d, e)
        r = np.right_shift(a.v, small)
        sign = np.where(a.v < 0, a.v.dtype.type(-1 if signed(d) else 0), a.v.dtype.type(0))
        return Tile(np.where(over, sign, r), d, e)
    f = {
        "+": np.add,
        "-": np.subtract,
        "*": np.multiply,
        "&": np.bitwise_and,
        "|": np.bitwise_or,
        "^": np.bitwise_xor,
    }[op]
    return Tile(f(a.v, b.v), d, e)


def compare(f: Callable[[Any, Any], Any], x: Any, y: Any) -> Tile:
    a, b, d = pair(x, y)
    e = either(a, b)
    if is_float(d) or is_complex(d):
        far = np.abs(a.v - b.v) > a.err + b.err
        e = np.where((e > 0) & ~far, np.inf, 0.0)
    return Tile(f(a.v, b.v), "bool_", e)


for name, op in (
    ("add", "+"),
    ("sub", "-"),
    ("mul", "*"),
    ("truediv", "/"),
    ("floordiv", "//"),
    ("mod", "%"),
    ("and", "&"),
    ("or", "|"),
    ("xor", "^"),
    ("lshift", "<<"),
    ("rshift", ">>"),
):
    setattr(Tile, f"__{name}__", lambda x, y, op=op: binary(op, x, y))
    setattr(Tile, f"__r{name}__", lambda x, y, op=op: binary(op, y, x))
for name, f in (
    ("lt", np.less),
    ("le", np.less_equal),
    ("gt", np.greater),
    ("ge", np.greater_equal),
    ("eq", np.equal),
    ("ne", np.not_equal),
):
    setattr(Tile, f"__{name}__", lambda x, y, f=f: compare(f, x, y))
Tile.__hash__ = None  # type: ignore[assignment, method-assign]
Tile.__neg__ = lambda x: negative(x)
Tile.__pow__ = lambda x, n: complexes().power(x, n)  # type: ignore[attr-defined]
Tile.__pos__ = lambda x: x
Tile.__invert__ = lambda x: Tile(~x.v, x.dt, x.e)


def extreme(x: Any, y: Any, big: bool, propagate_nan: bool) -> Tile:
    a, b, d = pair(x, y)
    f: Any = np.maximum if big else np.minimum
    if is_float(d) and not propagate_nan:
        f = np.fmax if big else np.fmin
    if d == "bool_":
        f = np.logical_or if big else np.logical_and
    e = np.maximum(a.err, b.err) if is_float(d) else either(a, b)
    if is_float(d):
        e = np.where((e > 0) & (np.isnan(a.v) | np.isnan(b.v)), np.inf, e)
    return Tile(f(a.v, b.v), d, e)


# -- unary -------------------------------------------------------------------------------------


def negative(x: Tile) -> Tile:
    return Tile(-x.v, x.dt, x.e)


def absolute(x: Tile) -> Tile:
    if is_complex(x.dt):
        return complexes().size(x)
    return Tile(np.abs(x.v), x.dt, x.e)


def smooth(f: Callable[[Any], Any], x: Tile, k: float = 4.0, slope: float | None = None) -> Tile:
    """A function with k units of error; `slope` bounds its derivative, else it is monotone."""
    if not is_float(x.dt):
        x = astype(x, "float32")
    r = f(x.v)
    if slope is None:
        spread = np.maximum(np.abs(f(x.v + x.err) - r), np.abs(f(x.v - x.err) - r))
    else:
        spread = slope * x.err
    spread = np.where(np.isinf(x.err), np.inf, spread)  # even NaN
    e = np.where(x.err == 0, 0.0, spread)
    return settle(x.dt, r, e, np.isnan(r) | np.isinf(x.v), np.isfinite(x.v) & np.isfinite(r), k)


def sqrt(x: Tile) -> Tile:
    r = np.sqrt(x.v)
    if x.e is None:
        return Tile(rounded(x.dt, r), x.dt)
    return smooth(np.sqrt, x, 1.0)


def astype(x: Any, dt: str) -> Tile:
    if isinstance(x, (bool, int, float)):
        x = Tile(
            x, "bool_" if isinstance(x, bool) else "int32" if isinstance(x, int) else "float32"
        )
    assert isinstance(x, Tile)
    if x.dt == dt:
        return x
    if is_complex(dt) or is_complex(x.dt):
        return complexes().convert(x, dt)
    if is_float(dt):
        r = x.v.astype(np.float64)
        v = rounded(dt, r)
        if is_float(x.dt):
            wide = BITS[dt] > BITS[x.dt] and dt != "float16"
            e = (
                x.err
                if wide
                else x.err + np.where(v == r, 0.0, np.where(x.err > 0, quantum(dt, v), 0.0))
            )
            e = np.where(np.isfinite(x.v) & ~np.isfinite(v) & (x.err > 0), np.inf, e)
            if not wide:  # a sum kept wider before it is rounded is not allowed for; conversions are exact roundings
                e = np.where((x.err > 0) & (np.abs(v) + e > biggest(dt)), np.inf, e)
        else:
            e = x.err
            if x.dt.endswith("64"):
                if dt == "float32":
                    v = x.v.astype(np.float32).astype(np.float64)
                else:
                    e = np.where(
                        np.abs(r) > 2.0**53,
                        np.maximum(e, quantum(dt, v) if dt != "float64" else 0.0),
                        e,
                    )
        return Tile(v, dt, e)
    if dt == "bool_":
        e = np.where((x.err > 0) & (np.abs(x.v.astype(np.float64)) <= x.err), np.inf, 0.0)
        return Tile(x.v != 0, dt, e)
    if is_float(x.dt):

        def cut(v: Any) -> Any:
            info = np.iinfo(INTS[dt])
            t = np.trunc(np.where(np.isnan(v), 0.0, v))
            low, high = t <= float(info.min), t >= float(info.max)
            return np.where(
                low, info.min, np.where(high, info.max, np.where(low | high, 0, t).astype(INTS[dt]))
            )

        e = np.where(
            (x.err > 0) & ((cut(x.v - x.err) != cut(x.v + x.err)) | np.isnan(x.v)), np.inf, 0.0
        )
        return Tile(cut(x.v).astype(INTS[dt]), dt, e)
    return Tile(x.v.astype(INTS[dt]), dt, x.e)


def to_bits(t: Tile) -> Any:
    """The stored bytes of a tile's values as an array of its bits' dtype."""
    if t.dt == "bfloat16":
        return (t.v.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)
    return t.v.astype(
        {
            "bool_": np.bool_,
            **INTS,
            "float16": np.float16,
            "float32": np.float32,
            "float64": np.float64,
        }[t.dt]
    )


def from_bits(raw: Any, dt: str, e: Any = None) -> Tile:
    if dt == "bfloat16":
        return Tile((raw.view(np.uint16).astype(np.uint32) << 16).view(np.float32), dt, e)
    return Tile(raw, dt, e)


def bitcast(x: Tile, dt: str) -> Tile:
    bad = np.where((x.err > 0), np.inf, 0.0)
    if is_float(x.dt):
        bad = np.where(np.isnan(x.v) | (x.v == 0), np.inf, bad)
    raw = np.ascontiguousarray(to_bits(x))
    raw = raw.view({8: np.uint8, 16: np.uint16, 32: np.uint32, 64: np.uint64}[BITS[dt]])
    if dt != "bfloat16":
        raw = raw.view(np.dtype(dt))
    return from_bits(raw.reshape(x.shape), dt, bad)
