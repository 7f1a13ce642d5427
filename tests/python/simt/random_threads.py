# SPDX-License-Identifier: Apache-2.0
"""Random kernels of threads as Python text, and what they compute: the same text run as plain Python on numbers that
have numba's dtypes (numba_rules). Variables keep their dtype by a cast in each assignment."""

from __future__ import annotations

import ast
import math
import operator
import random
from typing import Any

import numba_rules as rules
import numpy as np

MASK = (1 << 64) - 1
PYTHON = {"+": operator.add, "-": operator.sub, "*": operator.mul}


def bits_of(dtype: str) -> int:
    return int(dtype.lstrip("uint"))


def wrapped(value: int, dtype: str) -> int:
    if dtype == "bool":
        return int(value != 0)
    bits = bits_of(dtype)
    value &= (1 << bits) - 1
    return value - (1 << bits) if not dtype.startswith("u") and value >> (bits - 1) else value


def saturated(value: float, dtype: str, narrow: bool = False) -> int:
    """As a GPU converts: the nearest end; of a NaN the least integer, or 0 from a ``narrow`` float to a narrow one."""
    bits = bits_of(dtype)
    if math.isnan(value):
        return 0 if narrow and bits < 64 else wrapped(1 << bits - 1, dtype)
    low, high = (0, (1 << bits) - 1) if dtype.startswith("u") else (-(1 << bits - 1), (1 << bits - 1) - 1)
    return high if value >= high else low if value <= low else int(value)


class Num:
    """A number with a dtype; ``value`` is an int, or a NumPy float or complex number of the dtype."""

    def __init__(self, value: Any, dtype: str) -> None:
        if dtype in (*rules.FLOATS, *rules.COMPLEX):
            with np.errstate(all="ignore"):
                self.value = np.dtype(dtype).type(value)
        elif isinstance(value, np.complexfloating):
            assert dtype == "bool"
            self.value = int(value != 0)
        elif isinstance(value, (float, np.floating)):
            narrow = isinstance(value, (np.float16, np.float32))
            self.value = int(bool(value)) if dtype == "bool" else saturated(float(value), dtype, narrow)
        else:
            self.value = wrapped(int(value), dtype)
        self.dtype = dtype

    def __bool__(self) -> bool:
        return bool(self.value)

    def __index__(self) -> int:
        return int(self.value)

    real = property(lambda self: Num(self.value.real, self.value.real.dtype.name))
    imag = property(lambda self: Num(self.value.imag, self.value.imag.dtype.name))


def number(x: Any) -> Num:
    if isinstance(x, Num):
        return x
    kinds = {bool: "bool", int: "int64", float: "float64", complex: "complex128"}
    return Num(x, kinds[type(x)])


def complex_op(op: str, x: Any, y: Any) -> complex:
    """By parts, as they are defined."""
    a, b, c, d = x.real, x.imag, y.real, y.imag
    if op == "*":
        return complex(a * c - b * d, a * d + b * c)
    return complex(PYTHON[op](a, c), PYTHON[op](b, d))


def float_divmod(a: Any, b: Any) -> tuple[Any, Any]:
    """CPython's algorithm in the dtype of both."""
    if b == 0:
        return a / b, a * np.nan
    rest = np.fmod(a, b)
    whole = (a - rest) / b
    if rest != 0 and (rest < 0) != (b < 0):
        rest, whole = rest + b, whole - 1
    elif rest == 0:
        rest = np.copysign(rest, b)
    down = np.floor(whole)
    down = down + 1 if whole - down > 0.5 else down
    return (np.copysign(whole * 0, a / b) if whole == 0 else down), rest


def int_op(op: str, a: int, b: int) -> int:
    if op in PYTHON:
        return int(PYTHON[op](a, b))
    if op in "//%":
        overflows = a == -(2**63) and b == -1
        return 0 if b == 0 or overflows else a // b if op == "//" else a % b
    if op == "**":
        return pow(a, b)
    if op in ("<<", ">>"):
        return (0 if op == "<<" else -(a < 0)) if not 0 <= b < 64 else a << b if op == "<<" else a >> b
    return a & b if op == "&" else a | b if op == "|" else a ^ b


def binary(op: str, x: Any, y: Any) -> Num:
    x, y = number(x), number(y)
    dtype = rules.result(op, x.dtype, y.dtype)
    assert dtype
    with np.errstate(all="ignore"):
        if dtype in rules.FLOATS:
            a, b = Num(x.value, dtype).value, Num(y.value, dtype).value
            if op in ("//", "%"):
                return Num(float_divmod(a, b)[op == "%"], dtype)
            return Num(a / b if op == "/" else PYTHON[op](a, b), dtype)
        if dtype in rules.COMPLEX:
            return Num(complex_op(op, Num(x.value, dtype).value, Num(y.value, dtype).value), dtype)
    return Num(int_op(op, Num(x.value, dtype).value, wrapped(int(y.value), dtype)), dtype)


def compare(op: str, x: Any, y: Any) -> Num:
    x, y = number(x), number(y)
    whole = all(n.dtype in ("bool", *rules.INTS) for n in (x, y))
    a, b = x.value, y.value
    if not whole:
        common = rules.result("+", x.dtype, y.dtype)
        a, b = Num(a, str(common)).value, Num(b, str(common)).value
    name = {"<": "lt", "<=": "le", "==": "eq", "!=": "ne", ">": "gt", ">=": "ge"}[op]
    return Num(bool(getattr(operator, name)(a, b)), "bool")


def _fill() -> None:
    for name, op in {"add": "+", "sub": "-", "mul": "*", "truediv": "/", "floordiv": "//", "mod": "%", "pow": "**",
                     "and": "&", "or": "|", "xor": "^", "lshift": "<<", "rshift": ">>"}.items():  # fmt: skip
        setattr(Num, f"__{name}__", lambda x, y, op=op: binary(op, x, y))
        setattr(Num, f"__r{name}__", lambda x, y, op=op: binary(op, y, x))
    for name, op in {"lt": "<", "le": "<=", "eq": "==", "ne": "!=", "gt": ">", "ge": ">="}.items():
        setattr(Num, f"__{name}__", lambda x, y, op=op: compare(op, x, y))


def negated(x: Num) -> Num:
    if x.dtype in (*rules.FLOATS, *rules.COMPLEX):
        return Num(-x.value, x.dtype)
    own = "int64" if x.dtype == "bool" else x.dtype
    return Num(Num(-x.value, own).value, rules.wide(own, own))


def inverted(x: Num) -> Num:
    if x.dtype == "bool":
        return Num(not x.value, "bool")
    return Num(Num(~x.value, x.dtype).value, rules.wide(x.dtype, x.dtype))


_fill()
Num.__neg__ = negated  # type: ignore[attr-defined]
Num.__invert__ = inverted  # type: ignore[attr-defined]
Num.__hash__ = None  # type: ignore[assignment]


class Array:
    """A NumPy array whose items are numbers with its dtype."""

    def __init__(self, data: np.ndarray) -> None:
        self.data = data
        self.size = Num(data.size, "int64")

    def __getitem__(self, i: Any) -> Num:
        return Num(self.data[int(number(i).value)], self.data.dtype.name)

    def __setitem__(self, i: Any, x: Any) -> None:
        self.data[int(number(i).value)] = Num(number(x).value, self.data.dtype.name).value


class _Module:
    def __init__(self, **names: Any) -> None:
        self.__dict__.update(names)


class _Literals(ast.NodeTransformer):
    """Literals are numbers with a dtype, too."""

    def visit_Constant(self, node: ast.Constant) -> ast.expr:
        return ast.Call(ast.Name("number", ast.Load()), [node], [])


def oracle(text: str, args: list[np.ndarray], threads: int) -> None:
    """Runs the kernel named k for each thread, one after the other."""
    here = {"i": 0}

    def counted(*bounds: Any) -> Any:
        return (Num(i, "int64") for i in range(*(int(number(b).value) for b in bounds)))

    space: dict[str, Any] = {
        "np": _Module(**{t + "_" * (t == "bool"): (lambda x, t=t: Num(number(x).value, t)) for t in rules.ALL}),
        "cuda": _Module(grid=lambda n: Num(here["i"], "int64")),
        "range": counted,
    }
    space["number"] = number
    exec(compile(ast.fix_missing_locations(_Literals().visit(ast.parse(text))), "<oracle>", "exec"), space)
    for here["i"] in range(threads):
        space["k"](*map(Array, args))


class Generator:
    """One program: ``text`` of a kernel k(x, y, out), for arrays of the dtypes ``x``, ``y``, ``out``."""

    def __init__(self, seed: int) -> None:
        self.r = random.Random(seed)
        pick = self.r.choice
        kind = self.r.choice(["whole", "whole", "real", "complex"])
        self.whole = kind == "whole"
        types = [t for t in rules.DTYPES if not self.whole or t not in rules.FLOATS]
        types += rules.COMPLEX * 4 if kind == "complex" else []
        self.x, self.y, self.out = pick(types[1:]), pick(types[1:]), pick(types[1:])
        self.types = types
        self.vars: dict[str, str] = {}
        self.lines = ["def k(x, y, out):", "    i = cuda.grid(1)", "    if i >= x.size:", "        return"]
        for n in range(3):
            self.vars[f"v{n}"] = pick(types)
            self.assign(f"v{n}", 1, first=n)
        self.block(1, 3)
        self.lines.append(f"    out[i] = {self.fitting(3, self.out)}")
        self.text = "\n".join(self.lines) + "\n"

    def leaf(self) -> tuple[str, str]:
        kind = self.r.randrange(5)
        if kind == 0:
            value = self.r.choice([0, 1, 2, 3, -1, 5, 100, 255, 1 << 40])
            return (f"({value})" if value < 0 else str(value)), "int64"
        if kind == 1 and not self.whole:
            return repr(self.r.choice([0.5, 2.0, 1.25, 0.1])), "float64"
        if kind == 2:
            return self.r.choice([("x[i]", self.x), ("y[i]", self.y), ("x[-1]", self.x), ("y[x.size - 1 - i]", self.y)])
        if kind == 3 and self.made:
            name = self.r.choice(self.made)
            return name, self.vars[name]
        return "i", "int64"

    @property
    def made(self) -> list[str]:
        return [name for name in self.vars if any(line.lstrip().startswith(f"{name} =") for line in self.lines)]

    def expr(self, depth: int) -> tuple[str, str]:
        if depth == 0 or self.r.random() < 0.15:
            return self.leaf()
        (a, s), kind = self.expr(depth - 1), self.r.random()
        if not any(map(str.isalpha, a)):  # expressions of numbers are Python's own: test_simt_folding.py
            a, s = "i", "int64"
        if s in rules.COMPLEX and kind < 0.1:
            return f"{a}.{self.r.choice(['real', 'imag'])}", rules.PARTS[s]
        if kind < 0.1 and s != "bool":
            return f"(-{a})", s if s not in rules.INTS else rules.wide(s, s)
        if kind < 0.18 and s in ("bool", *rules.INTS):
            return f"(~{a})", "bool" if s == "bool" else rules.wide(s, s)
        if kind < 0.22 and s in rules.INTS:
            return f"({a} ** {self.r.randrange(4)})", str(rules.result("**", s, "int64"))
        b, t = self.expr(depth - 1)
        is_complex = s in rules.COMPLEX or t in rules.COMPLEX
        if kind < 0.3:
            signs = ["==", "!="] if is_complex else ["<", "<=", "==", "!=", ">", ">="]
            return f"({a} {self.r.choice(signs)} {b})", "bool"
        if kind < 0.4:
            dtype = self.r.choice(self.types)
            a = f"{a}.real" if s in rules.COMPLEX and dtype not in rules.COMPLEX else a
            return f"np.{dtype}{'_' * (dtype == 'bool')}({a})", dtype
        ops = [op for op in ("+", "-", "*", "//", "%", "&", "|", "^", "<<", ">>", "/") if rules.result(op, s, t)]
        if self.whole or is_complex:  # NumPy's quotients of complex numbers are others
            ops.remove("/")
        op = self.r.choice(ops)
        return f"({a} {op} {b})", str(rules.result(op, s, t))

    def fitting(self, depth: int, dtype: str) -> str:
        """An expression that may become the dtype: of a complex number its real part."""
        text, found = self.expr(depth)
        return f"{text}.real" if found in rules.COMPLEX and dtype not in rules.COMPLEX else text

    def assign(self, name: str, level: int, first: int | None = None) -> None:
        dtype = self.vars[name]
        text = str(first) if first is not None else self.fitting(3, dtype)
        self.lines.append("    " * level + f"{name} = np.{dtype}{'_' * (dtype == 'bool')}({text})")

    def block(self, level: int, n: int, loop: bool = False) -> None:
        for _ in range(n):
            kind = self.r.random()
            if kind < 0.5 or level > 3:
                self.assign(self.r.choice(list(self.vars)), level)
            elif kind < 0.75:
                self.lines.append("    " * level + f"if {self.expr(2)[0]}:")
                self.block(level + 1, 2, loop)
                if loop and self.r.random() < 0.4:
                    self.lines.append("    " * (level + 1) + self.r.choice(["break", "continue"]))
                elif self.r.random() < 0.6:
                    self.lines.append("    " * level + "else:")
                    self.block(level + 1, 1, loop)
            else:
                bounds = self.r.choice(["4", "i, 5", "5, 0, -2", "1, 6, 3"])
                self.lines.append("    " * level + f"for j{level} in range({bounds}):")
                self.block(level + 1, 2, True)
