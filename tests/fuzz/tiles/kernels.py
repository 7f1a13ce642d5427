# SPDX-License-Identifier: Apache-2.0
"""Random tile kernels: arrays of many layouts, expressions of all kinds, loops and ifs, several blocks.

Every loop ends soon: what bounds it is taken modulo a few. The blocks write to places of their own, each
output once. So a program that does not end, and a result that differs, are always defects.
"""

from __future__ import annotations

import random
from typing import Any

from .expressions import ALL, FLOAT, INT, Expressions, Shape, Variable
from .program import Array, Program

DEEPEST = 4
LAYOUTS = ["C", "C", "C", "F", "step", "shift"]
SCALARS: dict[str, list[Any]] = {
    "int32": list(range(-2, 6)),
    "float32": [0.5, -1.0, 2.0, 3.25],
    "bool_": [False, True],
}


class Kernel(Expressions):
    """Makes one kernel."""

    def __init__(self, seed: int) -> None:
        self.r = random.Random(seed)
        r = self.r
        self.count, self.depth = 0, 1
        self.body: list[str] = []
        self.vars, self.prefix, self.helpers = [], [], []
        self.arrays: list[Array] = []
        self.scalars: list[tuple[str, str, Any]] = []
        self.grid = (r.choice([1, 2, 3, 5]), r.choice([1, 1, 2, 3]))
        self.dtypes = [*r.sample(ALL, r.choice([1, 2, 3, 5])), "int32"]
        if r.random() < 0.3:
            self.dtypes = [r.choice(FLOAT), "int32"]
        small = r.random() < 0.6  # values for which arithmetic is mostly exact
        self.constant = r.choice([None, r.choice([1, 2, 4, 8])])
        self.fill(r.choice([4, 8, 14, 22]))
        self.program = Program(
            seed, self.source(), self.arrays, self.scalars, self.constant, self.grid, small
        )

    def fill(self, budget: int) -> None:
        """The body: arguments, statements, and the stores of what is left."""
        r = self.r
        for k in range(r.choice([0, 1, 2, 3])):
            dt = r.choice(["int32", "int32", "float32", "bool_"])
            self.scalars.append((f"s{k}", dt, r.choice(SCALARS[dt])))
            if dt != "bool_":
                self.vars.append(Variable(f"s{k}", dt, ()))
        self.line("p0, p1 = ct.bid(0), ct.bid(1)  # where this block may write; never changed")
        self.line("b0 = ct.bid(0)")
        self.line("b1 = ct.bid(1)")
        self.vars += [Variable("b0", "int32", ()), Variable("b1", "int32", ())]
        self.load(self.dtypes[0])
        first = len(self.vars) - 1
        for _ in range(budget):
            self.statement()
        ends = r.sample(self.vars[first:], min(3, len(self.vars) - first))
        if self.vars[-1] not in ends:
            ends.append(self.vars[-1])
        for v in ends:
            self.store(v)

    def source(self) -> str:
        names = [a.name for a in self.arrays] + [s[0] for s in self.scalars]
        names += ["C: ct.Constant[int]"] if self.constant else []
        return "\n".join([*self.prefix, f"def kernel({', '.join(names)}):", *self.body]) + "\n"

    # -- small things --------------------------------------------------------------------------

    def new(self) -> str:
        self.count += 1
        return f"v{self.count}"

    def line(self, text: str) -> None:
        self.body.append("    " * self.depth + text)

    def add(self, source: str, dt: str, shape: Any) -> Variable:
        v = Variable(self.new(), dt, tuple(shape))
        self.line(f"{v.name} = {source}")
        self.vars.append(v)
        return v

    def scalar(self) -> str:
        """An int32 scalar expression that is known."""
        options = ["b0", "b1", "(b0 + b1)", str(self.r.randrange(4))]
        options += [s[0] for s in self.scalars if s[1] == "int32"]
        return self.r.choice(options)

    def few(self) -> str:
        """A scalar from 0 to a few, fewer the deeper the loop: variables may have become large."""
        return f"{self.scalar()} % {(9, 6, 4, 3)[min(3, self.depth - 1)]}"

    def condition(self) -> str:
        r = self.r
        c = f"{self.scalar()} {r.choice(['<', '>', '==', '!=', '<=', '>='])} {r.randrange(4)}"
        if r.random() < 0.25:
            other = f"{self.scalar()} % {r.choice([2, 3])} == {r.randrange(2)}"
            c = f"{c} {r.choice(['and', 'or'])} {other}"
        v = self.pick(lambda v: v.dtype in INT) if r.random() < 0.15 else None
        if v:
            return f"ct.max({v.name}) {r.choice(['<', '>', '=='])} {self.literal(v.dtype)}"
        return f"not ({c})" if r.random() < 0.1 else c

    def array(self, dt: str, shape: Any, kind: str = "in", layout: str | None = None) -> str:
        name = f"{'a' if kind == 'in' else 'o'}{len(self.arrays)}"
        layout = layout or self.r.choice(LAYOUTS)
        self.arrays.append(Array(name, dt, tuple(shape), kind, layout))
        return name

    def ragged(self, n: int, chance: float) -> int:
        """An extent of n, or of somewhat less."""
        return max(1, n - self.r.randrange(n)) if self.r.random() < chance else n

    # -- memory --------------------------------------------------------------------------------

    def load(self, dt: str | None = None, shape: Shape | None = None) -> Variable:
        r = self.r
        dt, shape = dt or r.choice(self.dtypes), shape or self.shape()
        rank = len(shape)
        axes = list(range(rank))
        order = ""
        if rank > 1 and r.random() < 0.25:
            r.shuffle(axes)
            back = axes == list(range(rank))[::-1] and r.random() < 0.5
            order = ', order="F"' if back else f", order={tuple(axes)}"
        at, extents, over = [], [0] * rank, False
        for k, n in enumerate(shape):
            index = r.choice(["0", "b0", "b1", "b0 % 2", str(r.randrange(3)), self.scalar()])
            index = "-1" if r.random() < 0.02 else index
            extents[axes[k]] = max(1, self.ragged(n, 0.4) + n * r.randrange(3))
            over = over or index != "0" or extents[axes[k]] < n
            at.append(index)
        kept = [a for a in self.arrays if a.kind == "in" and a.dtype == dt and len(a.shape) == rank]
        if kept and r.random() < 0.3:
            name, over = r.choice(kept).name, True
        else:
            name = self.array(dt, extents)
        pads = ["ZERO"] * 6 + (["NEG_INF", "POS_INF", "NAN"] if dt in FLOAT else [])
        pad = (
            f", padding_mode=ct.PaddingMode.{r.choice(pads)}" if over and r.random() < 0.85 else ""
        )
        return self.add(self.loading(name, at, shape, order, pad), dt, shape)

    def loading(self, name: str, at: list[str], shape: Shape, order: str, pad: str) -> str:
        """`ct.load(...)` or the load of a view."""
        r = self.r
        index = f"({', '.join(at)},)"
        if r.random() < 0.1 and not order:
            steps = tuple(r.randrange(1, n + 2) for n in shape)
            some = f", traversal_steps={steps}" if r.random() < 0.7 else ""
            return f"{name}.tiled_view({shape}{pad}{some}).load({index})"
        index = at[0] if len(shape) == 1 and r.random() < 0.5 else index
        wanted = shape[0] if len(shape) == 1 and r.random() < 0.5 else shape
        return f"ct.load({name}, {index}, {wanted}{order}{pad})"

    def places(self, shape: Shape, whole: bool) -> str:
        """Indices for a gather: lanes stretched and moved, so that some lie outside."""
        r, n = self.r, shape[-1]
        step, start = r.choice([1, 2, 3, -1, 7]), r.choice(["b0", "-2", "0", "5"])
        text = f"(ct.arange({n}, dtype=ct.int32) * {step} + {start})"
        if len(shape) > 1:
            text += f".reshape({(1,) * (len(shape) - 1) + (n,)})"
        return f"ct.broadcast_to({text}, {shape})" if whole else text

    def gather(self) -> Variable:
        r = self.r
        dt, rank = r.choice(self.dtypes), r.choice([1, 1, 2])
        name = self.array(dt, [r.randrange(1, 50) for _ in range(rank)])
        shape = self.shape(rank=r.choice([1, 2]), most=256)
        parts = []
        for _ in range(rank):
            v = self.pick(
                lambda v: v.dtype in ("int32", "int64", "int8", "int16") and v.shape == shape
            )
            if v and r.random() < 0.6:
                parts.append(v.name)
            else:
                whole = rank > 1 or r.random() < 0.5
                parts.append(self.places(shape, whole))
                shape = shape if whole else (1,) * (len(shape) - 1) + shape[-1:]
        extra = ""
        m = self.pick(lambda v: v.dtype == "bool_" and v.shape == shape)
        if m and r.random() < 0.4:
            extra += f", mask={m.name}"
        if r.random() < 0.5:
            extra += f", padding_value={self.literal(dt)}"
        index = parts[0] if rank == 1 else f"({', '.join(parts)},)"
        return self.add(f"ct.gather({name}, {index}{extra})", dt, shape)

    def store(self, v: Variable | None) -> None:
        """Each output array is written once, every block to its own place."""
        r = self.r
        assert v
        name, dt, shape = v
        if not shape:
            self.line(f"ct.store({self.array(dt, self.grid, 'out')}, (p0, p1), {name})")
        elif len(shape) <= 2 and r.random() < 0.6:
            self.store_beside(v)
        elif len(shape) <= 3 and r.random() < 0.15:
            out = self.array(dt, self.grid + tuple(self.ragged(n, 0.3) for n in shape), "out")
            axes = list(range(len(shape) + 2))
            r.shuffle(axes)
            tile = f"ct.permute({name}.reshape({(1, 1, *shape)}), {tuple(axes)})"
            at = ["p0", "p1"] + ["0"] * len(shape)
            index = ", ".join(at[k] for k in axes)
            self.line(f"ct.store({out}, ({index}), {tile}, order={tuple(axes)})")
        else:
            out = self.array(dt, self.grid + tuple(self.ragged(n, 0.3) for n in shape), "out")
            tile = f"{name}.reshape({(1, 1, *shape)})"
            self.line(f"ct.store({out}, (p0, p1{', 0' * len(shape)}), {tile})")

    def store_beside(self, v: Variable) -> None:
        """Tiles of the blocks lie beside each other in an array of the tile's rank."""
        r = self.r
        name, dt, shape = v
        flat = f"p0 * {self.grid[1]} + p1" if self.grid[1] > 1 else "p0"
        blocks: tuple[int, ...]
        if len(shape) == 1:
            blocks, at = (self.grid[0] * self.grid[1],), f"({flat},)"
        else:
            blocks, at = self.grid, "(p0, p1)"
        extents = [
            max(1, n * g - (r.randrange(n) if r.random() < 0.4 else 0))
            for n, g in zip(shape, blocks, strict=True)
        ]
        out = self.array(dt, extents, "out")
        if len(shape) == 1 and r.random() < 0.15:
            index = f"ct.arange({shape[0]}, dtype=ct.int32) + ({flat}) * {shape[0]}"
            self.line(f"ct.scatter({out}, {index}, {name})")
        else:
            self.line(f"ct.store({out}, {at}, {name})")

    def atomic(self) -> None:
        r = self.r
        dt = r.choice(["int32", "int64", "uint32", "uint64"])
        v = self.pick(lambda v: v.dtype == dt and len(v.shape) == 1) or self.load(dt, self.shape(1))
        out = self.array(dt, (r.choice([1, 3, 8, 17]),), "out", "C")
        lane = f"ct.arange({v.shape[0]}, dtype=ct.int32)"
        index = r.choice([f"{lane} % {r.choice([1, 2, 3, 8])}", f"{lane} - {r.randrange(9)}"])
        f = r.choice(["add", "max", "min", "and", "or", "xor"])
        update = v.name if r.random() < 0.8 else self.literal(dt)
        self.line(f"ct.atomic_{f}({out}, {index}, {update})")

    # -- statements ----------------------------------------------------------------------------

    def change(self, v: Variable) -> None:
        """Assigns a variable anew with the same type."""
        name, dt, shape = v
        r = self.r
        if dt == "bool_":
            self.line(f"{name} = {r.choice([f'~{name}', f'{name} ^ {name}', name])}")
            return
        y = self.pick(lambda w: w.shape in (shape, ()) and w.dtype != "bool_")
        other = self.fit(y, dt) if y else "1"
        op = r.choice(["+", "-", "+"] + (["^", "&", "|"] if dt in INT else []))
        op = "*" if dt in INT and r.random() < 0.15 else op
        self.line(f"{name} {op}= {other}" if r.random() < 0.3 else f"{name} = {name} {op} {other}")

    def block(self, n: int, targets: list[Variable]) -> None:
        kept = len(self.vars)
        self.depth += 1
        for _ in range(n):
            if self.r.random() < 0.3:
                self.statement(nested=True)
        for v in targets:
            self.change(v)
        self.depth -= 1
        del self.vars[kept:]

    def targets(self, most: int) -> list[Variable]:
        return self.r.sample(self.vars, min(len(self.vars), self.r.randrange(1, most + 1)))

    def statement(self, nested: bool = False) -> None:
        kind = self.r.random()
        deep = self.depth >= DEEPEST
        if kind < 0.10:
            self.load()
        elif kind < 0.14:
            self.gather()
        elif kind < 0.17 and not nested:
            self.atomic()
        elif kind < 0.24 and not deep:
            self.branch()
        elif kind < 0.31 and not deep:
            self.counted()
        elif kind < 0.34 and not deep:
            self.until()
        elif kind < 0.36 and not nested:
            self.line(f"if {self.condition()}:")
            self.depth += 1
            self.store(self.pick())
            self.line("return")
            self.depth -= 1
        elif kind < 0.42 and not nested:
            self.store(self.pick())
        else:
            self.add(*self.expression())

    def branch(self) -> None:
        r, targets = self.r, self.targets(2)
        self.line(f"if {self.condition()}:")
        self.block(2, targets)
        if r.random() < 0.6:
            if r.random() < 0.3:
                self.line(f"elif {self.condition()}:")
                self.block(1, targets[:1])
            self.line("else:")
            self.block(1, r.sample(targets, 1))

    def counted(self) -> None:
        """A `for` over a range, or over constants."""
        r, targets, i = self.r, self.targets(3), self.new()
        if r.random() < 0.15:
            self.line(f"for {i} in ct.static_iter(({r.randrange(3)}, {r.randrange(5)})):")
            return self.block(1, targets)
        few = self.few()
        bounds = ["3", "0", "1, 4", few, f"{few}, 5, 2", f"{few} - 2", "p0, p0 + 2"]
        self.line(f"for {i} in range({r.choice(bounds)}):")
        self.depth += 1
        if r.random() < 0.2:
            self.line(f"if {i} == {r.randrange(3)}:")
            self.line(f"    {r.choice(['break', 'continue'])}")
        t = r.choice(self.vars)
        if r.random() < 0.4 and t.dtype != "bool_":
            self.line(f"{t.name} = {t.name} + ct.astype({i}, ct.{t.dtype})")
        self.depth -= 1
        return self.block(2, targets)

    def until(self) -> None:
        """A `while` whose counter goes down."""
        r, n = self.r, self.new()
        targets = self.targets(1)
        self.line(f"{n} = {self.few()} + 0 * p0")
        self.line(f"while {n} > 0:")
        self.depth += 1
        self.line(f"{n} = {n} {r.choice(['- 1', '// 2', '- 2'])}")
        if r.random() < 0.2:
            self.line(f"if {n} == 1:")
            self.line("    break")
        self.depth -= 1
        self.block(1, targets)


class FunctionKernel(Kernel):
    """A kernel of math functions of loaded tiles, where the second reading knows most values."""

    def fill(self, budget: int) -> None:
        self.dtypes = [self.r.choice(FLOAT)]
        self.line("p0, p1 = ct.bid(0), ct.bid(1)")
        self.line("b0 = ct.bid(0)")
        self.line("b1 = ct.bid(1)")
        self.vars += [Variable("b0", "int32", ()), Variable("b1", "int32", ())]
        for _ in range(self.r.choice([2, 4, 6])):
            got = self.op_function(self.load(self.dtypes[0]))
            if got:
                self.store(self.add(*got))


def generate(seed: int) -> Program:
    return Kernel(seed).program


def generate_functions(seed: int) -> Program:
    return FunctionKernel(seed).program
