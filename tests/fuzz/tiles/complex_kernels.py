# SPDX-License-Identifier: Apache-2.0
"""Random kernels of complex numbers: arithmetic with each other and with real ones, their parts, sizes and powers,
conversions, comparisons, shapes, sums, control flow, and every way to load and store them.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable

from .expressions import Shape, Variable, joint
from .program import Array, Program
from .values import COMPLEX, is_complex, promote

REAL = ["float32", "float64"]
LITERALS = ["2", "0.5", "-1.5", "1j", "(1 - 2j)", "(0.5 + 0.25j)", "-3j"]
STATEMENTS = (
    "binary binary binary binary binary literal literal power unary unary parts parts join astype where compare sum "
    "shape shape part load load gather store branch loop"
).split()
DEEPEST = 2


class ComplexKernel:
    """Makes one kernel of tiles of few elements."""

    def __init__(self, seed: int) -> None:
        self.r = r = random.Random(seed ^ 0xC0)
        self.body: list[str] = []
        self.vars: list[Variable] = []
        self.arrays: list[Array] = []
        self.depth, self.count = 1, 0
        self.grid = r.choice([(1, 1), (2, 1)])  # blocks write places of their own
        self.line("p0, p1 = ct.bid(0), ct.bid(1)")
        for _ in range(3):
            self.load()
        for _ in range(r.choice([2, 5, 10, 20])):
            self.statement()
        for v in self.vars[-3:]:
            self.store(v)
        header = f"def kernel({', '.join(a.name for a in self.arrays)}, s):"
        source = "\n".join([header, *self.body]) + "\n"
        scalars = [("s", "int32", r.randrange(4))]
        self.program = Program(seed, source, self.arrays, scalars, grid=self.grid, small=r.random() < 0.7)

    # -- what statements are made of ------------------------------------------------------------

    def line(self, text: str) -> None:
        self.body.append("    " * self.depth + text)

    def new(self) -> str:
        self.count += 1
        return f"v{self.count}"

    def add(self, text: str, dt: str, shape: Shape) -> None:
        name = self.new()
        self.line(f"{name} = {text}")
        self.vars.append(Variable(name, dt, tuple(shape)))

    def pick(self, where: Callable[[Variable], bool] = lambda v: v.dtype != "bool_") -> Variable | None:
        found = [v for v in self.vars if where(v)]
        return self.r.choice(found[-6:]) if found else None

    def number(self) -> Variable:
        """A complex one mostly."""
        found = self.pick(lambda v: is_complex(v.dtype)) if self.r.random() < 0.8 else None
        return found or self.pick() or self.vars[0]

    def dtype(self) -> str:
        return self.r.choice([*COMPLEX, *COMPLEX, *REAL])

    def shape(self) -> Shape:
        r = self.r
        return tuple(2 ** r.choice([0, 1, 2, 3, 4]) for _ in range(r.choice([1, 1, 2, 2, 3])))

    def array(self, dt: str, extents: Shape, kind: str) -> str:
        """An array that is some tiles and a part of one along each axis."""
        r = self.r
        sizes = tuple(max(1, n * r.randrange(1, 3) - r.choice([0, 0, 1, 3])) for n in extents)
        layout = r.choice(["C", "C", "F", "step", "shift"])
        self.arrays.append(Array(f"a{len(self.arrays)}", dt, sizes, kind, layout))
        return self.arrays[-1].name

    def index(self, shape: Shape) -> str:
        return ", ".join(["p0", "p1", "0"][: len(shape)])

    # -- memory ----------------------------------------------------------------------------------

    def load(self) -> None:
        dt, shape = self.dtype(), self.shape()
        a = self.array(dt, shape, "in")
        how = self.r.random()
        if how < 0.2:
            mode = "padding_mode=ct.PaddingMode.ZERO"
            return self.add(f"{a}.tiled_view({shape}, {mode}).load(({self.index(shape)},))", dt, shape)
        return self.add(
            f"ct.load({a}, ({self.index(shape)},), {shape}, padding_mode=ct.PaddingMode.ZERO)", dt, shape
        )

    def places(self, n: int) -> str:
        """Indices of a one-dimensional array, some of them outside."""
        step, first = self.r.choice([1, 1, 2, 3]), self.r.choice(["p0", "0", "-2", "3"])
        return f"ct.arange({n}, dtype=ct.int32) * {step} + {first}"

    def gather(self) -> None:
        dt, n = self.dtype(), 2 ** self.r.randrange(1, 6)
        a = self.array(dt, (n,), "in")
        extra = self.r.choice(["", "", ", padding_value=2", ", padding_value=1 + 2j" if is_complex(dt) else ""])
        if self.r.random() < 0.3:
            extra += f", mask=ct.arange({n}, dtype=ct.int32) < {self.r.randrange(n + 1)}"
        self.add(f"ct.gather({a}, ({self.places(n)},){extra})", dt, (n,))

    def store(self, v: Variable | None = None) -> None:
        v = v or self.number()
        if v.dtype == "bool_" or not v.shape or len(v.shape) > 3:
            return
        a = self.array(v.dtype, v.shape, "out")
        if len(v.shape) == 1 and self.grid == (1, 1) and self.r.random() < 0.5:
            self.line(f"ct.scatter({a}, ({self.places(v.shape[0])},), {v.name})")
        else:
            self.line(f"ct.store({a}, ({self.index(v.shape)},), {v.name})")

    # -- arithmetic --------------------------------------------------------------------------------

    def binary(self) -> None:
        x = self.number()
        y = self.pick(lambda v: v.dtype != "bool_" and joint(x.shape, v.shape) is not None) or x
        op = self.r.choice(["+", "-", "*", "*", "/"] if is_complex(promote(x.dtype, y.dtype)) else "+-*")
        self.add(f"{x.name} {op} {y.name}", promote(x.dtype, y.dtype), joint(x.shape, y.shape) or x.shape)

    def literal(self) -> None:
        x, y = self.number(), self.r.choice(LITERALS)
        wide = "complex128" if x.dtype.endswith(("128", "float64")) else "complex64"
        dt = wide if "j" in y else x.dtype
        op = self.r.choice("+-*/" if is_complex(dt) else "+-*")
        first, second = (y, x.name) if self.r.random() < 0.3 else (x.name, y)
        self.add(f"{first} {op} {second}", dt, x.shape)

    def power(self) -> None:
        x = self.pick(lambda v: is_complex(v.dtype))
        if x:
            self.add(f"{x.name} ** {self.r.randrange(5)}", x.dtype, x.shape)

    def unary(self) -> None:
        x = self.number()
        self.add(self.r.choice(["-{}", "ct.conj({})", "ct.negative({})", "+{}"]).format(x.name), x.dtype, x.shape)

    def parts(self) -> None:
        x = self.number()
        self.add(f"ct.{self.r.choice(['real', 'imag', 'abs'])}({x.name})", COMPLEX.get(x.dtype, x.dtype), x.shape)

    def join(self) -> None:
        x = self.pick(lambda v: v.dtype in REAL)
        y = x and self.pick(lambda v: v.dtype == x.dtype and v.shape == x.shape)
        if x and y:
            dt = "complex128" if x.dtype == "float64" else "complex64"
            self.add(f"ct.complex({x.name}, {y.name})", dt, x.shape)

    def astype(self) -> None:
        x, dt = self.number(), self.r.choice([*COMPLEX])
        self.add(f"ct.astype({x.name}, ct.{dt})", dt, x.shape)

    def compare(self) -> None:
        x = self.number()
        y = self.pick(lambda v: v.dtype != "bool_" and v.shape == x.shape) or x
        self.add(f"{x.name} {self.r.choice(['==', '!='])} {y.name}", "bool_", x.shape)

    def where(self) -> None:
        x = self.number()
        y = self.pick(lambda v: v.dtype == x.dtype and v.shape == x.shape) or x
        c = self.pick(lambda v: v.dtype == "bool_" and v.shape == x.shape)
        text = c.name if c else f"ct.abs({x.name}) < {self.r.choice([1, 3, 10])}"
        self.add(f"ct.where({text}, {x.name}, {self.r.choice([y.name, '0.5'])})", x.dtype, x.shape)

    def sum(self) -> None:
        x = self.number()
        if x.shape:
            k, keep = self.r.randrange(len(x.shape)), self.r.random() < 0.4
            out = (*x.shape[:k], 1, *x.shape[k + 1 :]) if keep else x.shape[:k] + x.shape[k + 1 :]
            self.add(f"ct.sum({x.name}, {k}{', keepdims=True' if keep else ''})", x.dtype, out)

    # -- shapes ------------------------------------------------------------------------------------

    def shape_of(self, x: Variable) -> tuple[str, Shape]:
        r, n = self.r, math.prod(x.shape)
        kind = r.choice(["reshape", "permute", "expand", "broadcast", "cat"])
        if kind == "permute" and len(x.shape) > 1:
            axes = r.sample(range(len(x.shape)), len(x.shape))
            return f"ct.permute({x.name}, {tuple(axes)})", tuple(x.shape[k] for k in axes)
        if kind == "expand" and len(x.shape) < 3:
            k = r.randrange(len(x.shape) + 1)
            return f"ct.expand_dims({x.name}, {k})", (*x.shape[:k], 1, *x.shape[k:])
        if kind == "broadcast" and x.shape:
            wide = tuple(e if e > 1 else 2 ** r.randrange(3) for e in x.shape)
            return f"ct.broadcast_to({x.name}, {wide})", wide
        if kind == "cat" and x.shape and n <= 512:
            k = r.randrange(len(x.shape))
            y = self.pick(lambda v: v.dtype == x.dtype and v.shape == x.shape) or x
            return f"ct.cat(({x.name}, {y.name}), {k})", tuple(e * 2 if j == k else e for j, e in enumerate(x.shape))
        rows = 2 ** r.randrange(n.bit_length())
        return f"ct.reshape({x.name}, ({rows}, {n // rows}))", (rows, n // rows)

    def part(self) -> None:
        x, r = self.number(), self.r
        if not x.shape:
            return
        part = tuple(2 ** r.randrange(n.bit_length()) for n in x.shape)
        at = tuple(r.randrange(n // p) for n, p in zip(x.shape, part, strict=True))
        if r.random() < 0.5:
            self.add(f"ct.extract({x.name}, {at}, {part})", x.dtype, part)
        else:
            value = r.choice([f"ct.full({part}, 1.5, ct.{x.dtype})", f"ct.zeros({part}, ct.{x.dtype})"])
            self.add(f"ct.insert({x.name}, {at}, {value})", x.dtype, x.shape)

    # -- statements --------------------------------------------------------------------------------

    def change(self) -> None:
        """Assigns a variable anew with the same type."""
        x = self.number()
        y = self.pick(lambda v: v.dtype == x.dtype and v.shape == x.shape) or x
        texts = [f"{x.name} + {y.name}", f"{x.name} * 0.5", f"ct.conj({x.name})", f"{y.name} - {x.name}"]
        self.line(f"{x.name} = {self.r.choice(texts)}")

    def block(self, opener: str) -> None:
        kept = len(self.vars)
        self.line(opener)
        self.depth += 1
        for _ in range(self.r.randrange(2)):
            self.statement()
        self.change()
        self.depth -= 1
        del self.vars[kept:]

    def statement(self) -> None:
        kind = self.r.choice(STATEMENTS)
        if kind == "shape":
            x = self.number()
            text, shape = self.shape_of(x)
            self.add(text, x.dtype, shape)
        elif kind in ("branch", "loop"):
            if self.depth <= DEEPEST:
                self.block("for i in range(s):" if kind == "loop" else f"if s > {self.r.randrange(4)}:")
        else:
            getattr(self, kind)()


def generate(seed: int) -> Program:
    return ComplexKernel(seed).program
