# SPDX-License-Identifier: Apache-2.0
"""Random operations on tiles: the expressions of the random kernels (kernels.py).

Each `op_...` takes a variable and gives (source, dtype, shape) of one operation on it and on others, or
None where none fits.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from typing import Any, NamedTuple

from .functions import PAIRS, RESULTS, ROWS
from .values import BITS, promote

INT = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
FLOAT = ["float16", "bfloat16", "float32", "float64"]
ALL = ["bool_", *INT, *FLOAT]
MOST = 2048  # elements of a tile
INT_UNARY = ["-{}", "ct.abs({})", "~{}", "+{}"]  # the last two for unsigned ones too
FLOAT_UNARY = [
    "-{}", "ct.abs({})", "ct.floor({})", "ct.ceil({})", "ct.sqrt(ct.abs({}))", "ct.exp(ct.minimum({}, 3))",
    "ct.exp2({} * 0.5)", "ct.sin({})", "ct.cos({})", "ct.tanh({})", "ct.log(ct.abs({}) + 1)",
    "ct.log2(ct.abs({}) + 0.5)", "ct.rsqrt(ct.abs({}) + 1)", "ct.sinh(ct.minimum(ct.maximum({}, -4), 4))",
]  # fmt: skip
FOLDS = [("lambda p, q: p + q", "0"), ("lambda p, q: p ^ q", "0"), ("lambda p, q: p * q", "1")]
# Associative functions of pairs that do not commute: affine maps, and a sum that a flag starts anew.
ORDERED = [
    "lambda a, b, c, d: (a * c, b * c + d), (1, 0)",
    "lambda a, b, c, d: (a | c, ct.where(c != 0, d, b + d)), (0, 0)",
]
PRODUCTS = [
    ("float16", "float32"), ("bfloat16", "float32"), ("float32", "float32"), ("float64", "float64"),
    ("int8", "int32"), ("uint8", "int32"), ("float16", "float16"),
]  # fmt: skip
HELPERS = [
    ["    if k > 1:", "        return x + y", "    return x"],
    ["    t = x", "    for i in range(k):", "        t = t + y", "    return t"],
    ["    f = lambda z: z * 2", "    return f(x) + f(y)"],
]
CHOICES = (
    "binary binary binary binary binary binary compare compare unary unary unary astype astype where where "
    "reduce reduce reduce fold fold running reshape permute expand broadcast cat part part bits "
    "make mma helper isnan function function"
).split()
Shape = tuple[int, ...]
Expression = tuple[str, str, Any] | None


class Variable(NamedTuple):
    name: str
    dtype: str
    shape: Shape


def size(shape: Any) -> int:
    return math.prod(shape)


def joint(a: Shape, b: Shape) -> Shape | None:
    """The shape of two that broadcast."""
    n = max(len(a), len(b))
    a, b = (1,) * (n - len(a)) + a, (1,) * (n - len(b)) + b
    if any(i != j and 1 not in (i, j) for i, j in zip(a, b, strict=True)):
        return None
    out = tuple(max(i, j) for i, j in zip(a, b, strict=True))
    return out if size(out) <= MOST else None


def lowest(dt: str) -> str:
    """The identity of a maximum."""
    return "-1e999" if dt in FLOAT else "0" if dt[0] == "u" else str(-(2 ** (int(dt[3:]) - 1)))


class Expressions:
    """What the expressions of one kernel are made of."""

    r: random.Random
    dtypes: list[str]
    vars: list[Variable]
    prefix: list[str]  # functions beside the kernel
    helpers: list[str]

    def load(self, dt: str, shape: Shape) -> Variable:
        raise NotImplementedError

    def shape(self, rank: int | None = None, most: int = 1024) -> Shape:
        r = self.r
        rank = r.choice([1, 1, 2, 2, 2, 3, 4]) if rank is None else rank
        while True:
            s = tuple(2 ** r.choice([0, 1, 2, 3, 3, 4, 5, 6, 7]) for _ in range(rank))
            if size(s) <= most:
                return s

    def pick(self, where: Callable[[Variable], Any] = lambda v: True) -> Variable | None:
        found = [v for v in self.vars if where(v)]
        return self.r.choice(found[-8:] if self.r.random() < 0.7 else found) if found else None

    def literal(self, dt: str) -> str:
        r = self.r
        if dt == "bool_":
            return r.choice(["True", "False"])
        if dt in FLOAT:
            return r.choice(["0.5", "-1.0", "2", "3", "-0.25", "1.5", "0.0", "-4", "7.0"])
        low = 0 if dt[0] == "u" else -(2 ** (int(dt[3:]) - 1))
        high = 2 ** int(dt.split("int")[1]) - 1 + low
        return str(r.choice([0, 1, 2, 3, 5, 7, 63, 100, high, low, high // 3, -1 if low else 6]))

    def fit(self, v: Variable, dt: str) -> str:
        return v.name if v.dtype == dt else f"ct.astype({v.name}, ct.{dt})"

    def beside(self, x: Variable) -> tuple[Variable, Shape]:
        """A variable that broadcasts with x, and the shape of both."""
        y = self.pick(lambda v: joint(x.shape, v.shape) is not None) or x
        return y, joint(x.shape, y.shape) or x.shape

    def reversed(self, chance: float = 0.4) -> str:
        return ", reverse=True" if self.r.random() < chance else ""

    # -- arithmetic ----------------------------------------------------------------------------

    def op_binary(self, x: Variable) -> Expression:
        r = self.r
        name, dt, _ = x
        if dt != "bool_" and r.random() < 0.3:
            return self.op_literal(x)
        y, out = self.beside(x)
        if dt == "bool_":
            return f"{name} {r.choice('&|^')} {self.fit(y, 'bool_')}", "bool_", out
        if r.random() < 0.25 and y.dtype not in (dt, "bool_"):  # by promotion
            try:
                return f"{name} {r.choice('+-*')} {y.name}", promote(dt, y.dtype), out
            except AssertionError:  # signed with unsigned: not a program
                pass
        other = self.fit(y, dt)
        return self.op_ints(x, other, out) if dt in INT else self.op_floats(x, other, out)

    def op_literal(self, x: Variable) -> Expression:
        r = self.r
        name, dt, shape = x
        y = self.literal(dt)
        op = r.choice(["+", "-", "*", "+", "*"] + (["&", "|", "^"] if dt in INT else ["/"]))
        if dt in INT and r.random() < 0.4:
            op = r.choice(["//", "%", "<<", ">>", "/"])
            signed = dt[0] != "u" and op in ("//", "%")
            y = str(r.choice([1, 2, 3, 5, 7, 8, 100] + ([-1, -3, -128] if signed else [])))
        if r.random() < 0.15 and op in "+-*" and y[0] != "-":
            return f"{y} {op} {name}", dt, shape
        return f"{name} {op} {y}", "float32" if op == "/" and dt in INT else dt, shape

    def op_ints(self, x: Variable, y: str, out: Shape) -> Expression:
        r = self.r
        op = r.choice(["+", "-", "*", "&", "|", "^", "+", "*", "<<", ">>", "//", "%", "/"])
        if op == "/":
            return f"{x.name} / {y}", "float32", out
        if r.random() < 0.1:
            return f"ct.{r.choice(['maximum', 'minimum'])}({x.name}, {y})", x.dtype, out
        y = f"({y} | 1)" if op in ("//", "%") and r.random() < 0.7 else y  # else 0 now and then
        return f"{x.name} {op} {y}", x.dtype, out

    def op_floats(self, x: Variable, y: str, out: Shape) -> Expression:
        r = self.r
        op = r.choice(["+", "-", "*", "+", "*", "/", "max", "fma", "//", "%"])
        if op == "max":
            nan = r.choice(["", ", propagate_nan=True"])
            return f"ct.{r.choice(['maximum', 'minimum'])}({x.name}, {y}{nan})", x.dtype, out
        if op == "fma":
            z = self.pick(lambda v: v.dtype == x.dtype and v.shape in (x.shape, out, ()))
            return f"{x.name} * {y} {r.choice('+-')} {z.name if z else '1.5'}", x.dtype, out
        return f"{x.name} {op} {y}", x.dtype, out

    def op_compare(self, x: Variable) -> Expression:
        y, out = self.beside(x)
        op = self.r.choice(["<", "<=", ">", ">=", "==", "!="])
        if self.r.random() < 0.4 and x.dtype != "bool_":
            return f"{x.name} {op} {self.literal(x.dtype)}", "bool_", x.shape
        return f"{x.name} {op} {self.fit(y, x.dtype)}", "bool_", out

    def op_unary(self, x: Variable) -> Expression:
        texts = ["~{}"] if x.dtype == "bool_" else FLOAT_UNARY if x.dtype in FLOAT else INT_UNARY
        text = self.r.choice(texts[2:] if x.dtype[0] == "u" else texts)
        return text.format(x.name), x.dtype, x.shape

    def op_function(self, x: Variable) -> Expression:
        """A row of src/table/math.def, or one of two results."""
        r = self.r
        if x.dtype not in FLOAT:
            return None
        name = r.choice([*ROWS, *PAIRS])
        if name in PAIRS:
            part = r.randrange(2)
            return f"ct.{name}({x.name})[{part}]", "int32" if name == "frexp" and part else x.dtype, x.shape
        kind = ROWS[name].kind
        if kind == "XX":
            y, out = self.beside(x)
            return f"ct.{name}({x.name}, {self.fit(y, x.dtype)})", x.dtype, out
        if kind == "XN":
            return f"ct.{name}({x.name}, {r.choice(['3', '-2', '100', '-20'])})", x.dtype, x.shape
        return f"ct.{name}({x.name})", RESULTS.get(kind, x.dtype), x.shape

    def op_isnan(self, x: Variable) -> Expression:
        return (f"ct.isnan({x.name})", "bool_", x.shape) if x.dtype in FLOAT else self.op_unary(x)

    def op_astype(self, x: Variable) -> Expression:
        dt = self.r.choice([*self.dtypes, "int32", "float32"])
        method = self.r.random() < 0.3
        return (
            f"{x.name}.astype(ct.{dt})" if method else f"ct.astype({x.name}, ct.{dt})",
            dt,
            x.shape,
        )

    def op_where(self, x: Variable) -> Expression:
        y, out = self.beside(x)
        c = self.pick(lambda v: v.dtype == "bool_" and v.shape in (out, ()))
        plain = x.name if x.dtype == "bool_" else f"({x.name} != {self.literal(x.dtype)})"
        text = f"ct.where({c.name if c else plain}, {x.name}, {self.fit(y, x.dtype)})"
        return text, x.dtype, out

    # -- reductions ----------------------------------------------------------------------------

    def op_reduce(self, x: Variable) -> Expression:
        r = self.r
        name, dt, shape = x
        if not shape:
            return None
        f = r.choice(["sum", "max", "min", "argmax", "argmin", "sum", "prod"])
        f = "sum" if f == "prod" and dt in FLOAT else f
        rank = len(shape)
        axis: Any = r.choice([None, r.randrange(rank), r.randrange(rank) - rank])
        gone = list(range(rank)) if axis is None else [axis % rank]
        if f not in ("argmax", "argmin") and rank > 1 and r.random() < 0.25:
            axis = tuple(gone := r.sample(range(rank), 2))
        keep = r.random() < 0.4
        out = tuple(1 if k in gone else n for k, n in enumerate(shape) if keep or k not in gone)
        counts = f.startswith("arg") or (dt == "bool_" and f in ("sum", "prod"))
        extra = ", keepdims=True" if keep else ""
        if f in ("max", "min") and dt in FLOAT and r.random() < 0.3:
            extra += ", propagate_nan=True"
        return f"ct.{f}({name}, {axis}{extra})", "int32" if counts else dt, out

    def op_fold(self, x: Variable) -> Expression:
        """`ct.reduce` or `ct.scan` with a function of our own."""
        r = self.r
        name, dt, shape = x
        if not shape or dt == "bool_" or max(shape) > 64:
            return None
        axis, scan = r.randrange(len(shape)), r.random() < 0.5
        rest = shape[:axis] + shape[axis + 1 :]
        f, start = r.choice([*FOLDS, ("lambda p, q: ct.maximum(p, q)", "")])
        if dt in FLOAT or not start:
            f, start = "lambda p, q: ct.maximum(p, q)", lowest(dt)
        elif r.random() < 0.4:  # these keep the order of their elements, and so must the reduction
            y = self.pick(lambda v: v.dtype == dt and v.shape == shape) or x
            text = f"({name}, {y.name}), {axis}, {r.choice(ORDERED)}"
            kind = f"scan({text}{self.reversed()})" if scan else f"reduce({text})"
            return f"ct.{kind}[{r.randrange(2)}]", dt, shape if scan else rest
        if scan:
            return f"ct.scan({name}, {axis}, {f}, {start}{self.reversed()})", dt, shape
        keep = r.random() < 0.3
        text = f"ct.reduce({name}, {axis}, {f}, {start}{', keepdims=True' if keep else ''})"
        return text, dt, (*shape[:axis], 1, *shape[axis + 1 :]) if keep else rest

    def op_running(self, x: Variable) -> Expression:
        if not x.shape:
            return None
        f = "cumsum" if x.dtype in FLOAT or self.r.random() < 0.6 else "cumprod"
        text = f"ct.{f}({x.name}, {self.r.randrange(len(x.shape))}{self.reversed()})"
        return text, "int32" if x.dtype == "bool_" else x.dtype, x.shape

    # -- shapes --------------------------------------------------------------------------------

    def op_reshape(self, x: Variable) -> Expression:
        r = self.r
        n = size(x.shape)
        out: list[int] = []
        while n > 1 and len(out) < 3:
            out.append(2 ** r.randrange(n.bit_length()))
            n //= out[-1]
        out.append(n)
        r.shuffle(out)
        k = r.randrange(len(out)) if r.random() < 0.3 else None
        wanted = tuple(-1 if j == k else d for j, d in enumerate(out))
        return f"ct.reshape({x.name}, {wanted})", x.dtype, out

    def op_permute(self, x: Variable) -> Expression:
        axes = list(range(len(x.shape)))
        if len(axes) < 2:
            return None
        if len(axes) == 2 and self.r.random() < 0.5:
            return f"ct.transpose({x.name})", x.dtype, x.shape[::-1]
        self.r.shuffle(axes)
        return f"ct.permute({x.name}, {tuple(axes)})", x.dtype, [x.shape[k] for k in axes]

    def op_expand(self, x: Variable) -> Expression:
        rank = len(x.shape)
        if rank > 3:
            return None
        k = self.r.randrange(rank + 1)
        if rank and k in (0, rank) and self.r.random() < 0.5:
            parts = [":"] * rank
            parts.insert(k, "None")
            return f"{x.name}[{', '.join(parts)}]", x.dtype, (*x.shape[:k], 1, *x.shape[k:])
        return f"ct.expand_dims({x.name}, {k})", x.dtype, (*x.shape[:k], 1, *x.shape[k:])

    def op_broadcast(self, x: Variable) -> Expression:
        out = [n if n > 1 else 2 ** self.r.randrange(4) for n in x.shape]
        if self.r.random() < 0.3 and len(out) < 4:
            out = [2 ** self.r.randrange(3), *out]
        return (f"ct.broadcast_to({x.name}, {tuple(out)})", x.dtype, out) if out else None

    def op_cat(self, x: Variable) -> Expression:
        if not x.shape:
            return None
        k = self.r.randrange(len(x.shape))
        y = self.pick(lambda v: v.shape == x.shape) or x
        out = [n * 2 if j == k else n for j, n in enumerate(x.shape)]
        return f"ct.cat(({x.name}, {self.fit(y, x.dtype)}), {k})", x.dtype, out

    def op_part(self, x: Variable) -> Expression:
        """`extract`, or `insert` of a constant."""
        r = self.r
        if not x.shape:
            return None
        part = tuple(2 ** r.randrange(n.bit_length()) for n in x.shape)
        counts = [n // p for n, p in zip(x.shape, part, strict=True)]
        at = ", ".join(str(r.randrange(n)) if r.random() < 0.85 else f"b0 % {n}" for n in counts)
        if r.random() < 0.5:
            return f"ct.extract({x.name}, ({at},), {part})", x.dtype, part
        value = f"ct.full({part}, {self.literal(x.dtype)}, ct.{x.dtype})"
        return f"ct.insert({x.name}, ({at},), {value})", x.dtype, x.shape

    def op_bits(self, x: Variable) -> Expression:
        """`bitcast`, or the way through bytes."""
        dt, total = x.dtype, size(x.shape) * BITS[x.dtype]
        if dt == "bool_":
            return None
        if self.r.random() < 0.5 or not x.shape or size(x.shape) > 256:
            to = self.r.choice([d for d in INT + FLOAT if BITS[d] == BITS[dt]])
            return f"ct.bitcast({x.name}, ct.{to})", to, x.shape
        to = self.r.choice([d for d in INT + FLOAT if BITS[d] <= total])
        text = f"ct.unpack_from_bytes(ct.pack_to_bytes({x.name}), ct.{to})"
        return text, to, (total // BITS[to],)

    # -- others --------------------------------------------------------------------------------

    def op_make(self, x: Variable) -> Expression:
        r = self.r
        dt = r.choice(self.dtypes)
        if r.random() < 0.5 and dt != "bool_":
            n, more = 2 ** r.randrange(8), ""
            if dt == "int32" and r.random() < 0.5:
                more = f", start={r.choice(['b0', '3'])}, step={r.choice(['2', '1', '3'])}"
            return f"ct.arange({n}, dtype=ct.{dt}{more})", dt, (n,)
        s = self.shape(most=256)
        full = f"ct.full({s}, {self.literal(dt)}, ct.{dt})"
        return r.choice([f"ct.zeros({s}, ct.{dt})", f"ct.ones({s}, ct.{dt})", full]), dt, s

    def op_mma(self, x: Variable) -> Expression:
        r = self.r
        m, n, k = (2 ** r.randrange(6) for _ in range(3))
        dt, acc = r.choice(PRODUCTS)
        batch = (2,) if r.random() < 0.2 else ()
        left, right, out = (*batch, m, k), (*batch, k, n), (*batch, m, n)
        a = self.pick(lambda v: v.dtype == dt and v.shape == left) or self.load(dt, left)
        b = self.load(dt, right)
        if r.random() < 0.25 and dt in FLOAT:
            return f"{a.name} @ {b.name}", dt, out
        c = self.pick(lambda v: v.dtype == acc and v.shape == out)
        text = f"ct.mma({a.name}, {b.name}, {c.name if c else f'ct.zeros({out}, ct.{acc})'})"
        return text, acc, out

    def op_helper(self, x: Variable) -> Expression:
        """A call of a function beside the kernel."""
        r = self.r
        if x.dtype == "bool_":
            return None
        if not self.helpers or r.random() < 0.4:
            name = f"h{len(self.helpers)}"
            self.helpers.append(name)
            self.prefix += [f"def {name}(x, y, k=2):", *r.choice(HELPERS)]
        y = self.pick(lambda v: v.dtype == x.dtype and v.shape == x.shape) or x
        more = r.choice(["", ", 3", ", k=1"])
        return f"{r.choice(self.helpers)}({x.name}, {y.name}{more})", x.dtype, x.shape

    def expression(self) -> tuple[str, str, Shape]:
        for _ in range(20):
            x = self.pick()
            assert x
            name = self.r.choice(CHOICES)
            got = getattr(self, f"op_{name}")(x)
            if got and size(got[2]) <= MOST and len(got[2]) <= 5:
                return got[0], got[1], tuple(got[2])
        assert x
        text, dt, shape = self.op_unary(x) or ("", "", ())
        return text, dt, shape
