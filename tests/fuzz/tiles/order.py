# SPDX-License-Identifier: Apache-2.0
"""Random programs about the order of memory: one block that loads, stores, gathers, scatters and
updates arrays, some of them windows of one buffer, with shapes changed between and loops and ifs around.

Every element is compared with program order. Places that one operation writes twice are avoided: the
indices of a scatter are a permutation of the lanes, moved or stretched.
"""

from __future__ import annotations

import math
import random
from dataclasses import dataclass

from .program import Array, Program

DTYPES = ["int32"] * 5 + ["float32"] * 4 + ["int64", "int8", "uint8", "int16", "uint32"]
DTYPES += ["float16", "bfloat16", "float64"]
ATOMIC = ("int32", "int64", "uint32", "uint64")
INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
DEEPEST = 3


@dataclass(frozen=True)
class Variable:
    name: str
    dtype: str
    shape: tuple[int, ...]

    @property
    def size(self) -> int:
        return math.prod(self.shape)


@dataclass(frozen=True)
class Place:
    """An array that a program may use, with what generating indices needs to know."""

    array: Array
    reach: int  # elements of the buffer from the first one on; 0: raw memory is not used

    @property
    def name(self) -> str:
        return self.array.name

    @property
    def shape(self) -> tuple[int, ...]:
        return self.array.shape


class Order:
    """Makes one program."""

    def __init__(self, seed: int) -> None:
        self.r = random.Random(seed)
        r = self.r
        self.n = r.choice([16, 32, 64, 64, 64, 128, 128, 256])  # elements of most tiles
        self.dtypes = r.sample(DTYPES, r.choice([1, 1, 1, 2]))
        self.buffers: dict[str, tuple[str, int]] = {}
        self.places: list[Place] = []
        self.body: list[str] = []
        self.depth, self.count = 1, 0
        self.variables: list[Variable] = []
        self.numbers: list[str] = []  # int32 scalars from 0 to 3
        self.scalars = [(f"s{k}", "int32", r.randrange(4)) for k in range(r.randrange(3))]
        self.numbers += [name for name, _, _ in self.scalars]
        for _ in range(r.choice([1, 1, 1, 2, 2, 3])):
            self.buffer()
        for _ in range(r.choice([1, 1, 2])):
            self.load()
        for _ in range(r.randrange(2, 9)):
            self.statement()
        self.finish()
        arrays = [p.array for p in self.places]
        header = f"def kernel({', '.join([p.name for p in self.places] + [s[0] for s in self.scalars])}):"
        source = "\n".join([header, *self.body]) + "\n"
        self.program = Program(
            seed,
            source,
            arrays,
            self.scalars,
            grid=(1, 1),
            small=True,
            buffers=self.buffers,
            limit=30,
        )

    # -- what there is -------------------------------------------------------------------------

    def line(self, text: str) -> None:
        self.body.append("    " * self.depth + text)

    def let(self, source: str, dtype: str, shape: tuple[int, ...]) -> Variable:
        self.count += 1
        v = Variable(f"v{self.count}", dtype, shape)
        self.line(f"{v.name} = {source}")
        self.variables.append(v)
        return v

    def buffer(self) -> None:
        """A buffer and the arrays that are windows of it."""
        r, name = self.r, f"b{len(self.buffers)}"
        length = self.n * r.choice([1, 2, 2, 4]) + r.choice([0, 0, 0, 3, 17])
        self.buffers[name] = (r.choice(self.dtypes), length)
        for _ in range(r.choice([1, 1, 2, 2, 3])):
            self.window(name)

    def window(self, buffer: str) -> None:
        r = self.r
        dtype, length = self.buffers[buffer]
        offset = r.choice([0, 0, 0, 1, 4, 8, self.n // 2])
        rest = length - offset
        kind = r.choice(["all", "all", "part", "step", "square", "square", "turned", "cut"])
        rows = 2 ** r.randrange(1, 4)
        cols = rest // rows
        shape: tuple[int, ...]
        if kind == "all":
            shape, text = (rest,), f"[{offset}:]"
        elif kind == "part":
            n = r.randrange(max(1, rest // 2), rest + 1)
            shape, text = (n,), f"[{offset}:{offset + n}]"
        elif kind == "step":
            step = r.choice([2, 3])
            shape, text = (len(range(offset, length, step)),), f"[{offset}::{step}]"
        elif kind == "square":
            shape = (rows, cols)
            text = f"[{offset}:{offset + rows * cols}].reshape({rows}, {cols})"
        elif kind == "turned":
            shape = (cols, rows)
            text = f"[{offset}:{offset + rows * cols}].reshape({rows}, {cols}).T"
        else:
            first, last = r.choice([(0, cols), (0, cols - 1), (1, cols)]) if cols > 1 else (0, 1)
            shape = (rows, last - first)
            text = f"[{offset}:{offset + rows * cols}].reshape({rows}, {cols})[:, {first}:{last}]"
        array = Array(f"a{len(self.places)}", dtype, shape, "inout", window=(buffer, text))
        self.places.append(Place(array, rest if kind in ("all", "part") else 0))

    def number(self, most: int = 4) -> str:
        """An int32 scalar from 0 to most - 1: a literal, an argument, or a loop's counter."""
        known = str(self.r.randrange(most))
        if not self.numbers or self.r.random() < 0.5:
            return known
        name = self.r.choice(self.numbers)
        return name if most >= 4 else f"{name} % {most}"

    # -- indices -------------------------------------------------------------------------------

    def lanes(self, m: int) -> str:
        """m different indices from 0 to m - 1: a permutation of the lanes."""
        r = self.r
        lane = f"ct.arange({m}, dtype=ct.int32)"
        kind = r.choice(["same", "back", "back", "turn", "odd", "flip"])
        if kind == "back":
            return f"({m - 1} - {lane})"
        if kind == "turn":
            return f"(({lane} + {r.choice([self.number(), str(r.randrange(m))])}) % {m})"
        if kind == "odd":
            return f"(({lane} * {r.choice([3, 5, 7, m - 1])} + {self.number()}) % {m})"
        if kind == "flip":
            return f"({lane} ^ {r.choice([self.number(), str(r.randrange(m))])})"
        return lane

    def spread(self, m: int, extent: int, inside: bool) -> str:
        """m different indices; with `inside`, all from 0 to extent - 1 (m is not above extent)."""
        r = self.r
        lanes = self.lanes(m)
        most = extent - m
        if inside:
            return f"{lanes} + {r.randrange(most + 1)}" if most and r.random() < 0.6 else lanes
        kind = r.random()
        if kind < 0.4:
            return lanes
        if kind < 0.6:
            return f"{lanes} + {r.choice([self.number(), str(r.randrange(-4, 5))])}"
        if kind < 0.8:
            return f"{lanes} * {r.choice([2, 3])} + {self.number()}"
        return f"{extent - 1} - {lanes}"

    def anywhere(self, m: int) -> str:
        """m indices that may be equal: for reading."""
        r = self.r
        data = [v for v in self.variables if v.size == m and v.dtype in ("int32", "int64", "int16")]
        if data and r.random() < 0.5:
            return f"({self.shaped(r.choice(data), (m,))} & {m - 1})"
        lane = f"ct.arange({m}, dtype=ct.int32)"
        return r.choice(
            [f"{lane} // 2", f"{lane} % 4", f"{lane} * {lane} % {m}", f"{lane} * 0 + 5"]
        )

    def elements(self, p: Place, m: int, reading: bool = False) -> str:
        """The index argument of a gather, scatter or atomic of m elements."""
        if len(p.shape) == 1:
            if reading and self.r.random() < 0.25:
                return self.anywhere(m)
            return self.spread(m, p.shape[0], inside=False)
        rows, cols = p.shape
        flat = self.spread(m, rows * cols, inside=False)
        if self.r.random() < 0.5:
            return f"(({flat}) // {cols}, ({flat}) % {cols})"
        return f"(({flat}) % {rows}, ({flat}) // {rows})"

    def mask(self, m: int) -> str:
        r = self.r
        if r.random() < 0.7:
            return ""
        v = [v for v in self.variables if v.size == m and v.dtype in INTEGERS]
        if v and r.random() < 0.5:
            return f", mask={self.shaped(r.choice(v), (m,))} > 0"
        return f", mask=ct.arange({m}, dtype=ct.int32) {r.choice(['<', '>='])} {r.randrange(m)}"

    # -- values --------------------------------------------------------------------------------

    def shaped(self, v: Variable, shape: tuple[int, ...]) -> str:
        return v.name if v.shape == shape else f"ct.reshape({v.name}, {shape})"

    def fitted(self, v: Variable, dtype: str, shape: tuple[int, ...]) -> str:
        text = self.shaped(v, shape)
        return text if v.dtype == dtype else f"ct.astype({text}, ct.{dtype})"

    def pick(self, size: int | None = None) -> Variable | None:
        found = [v for v in self.variables if size is None or v.size == size]
        return self.r.choice(found[-6:]) if found else None

    def split(self, m: int) -> tuple[int, int]:
        rows = 2 ** self.r.randrange(int(math.log2(m)) + 1)
        return rows, m // rows

    # -- memory --------------------------------------------------------------------------------

    def tile_at(self, p: Place, m: int) -> tuple[tuple[int, ...], str, str]:
        """The shape of a tile of m elements, its index, and `, order=...`."""
        r = self.r
        if len(p.shape) == 1:
            return (m,), f"({self.number(max(1, -(-p.shape[0] // m)))},)", ""
        shape = self.split(m)
        index = f"({self.number(2)}, {self.number(2)})" if r.random() < 0.5 else "(0, 0)"
        return shape, index, ", order=(1, 0)" if r.random() < 0.3 else ""

    def part(self, p: Place) -> str:
        """`a` or a slice of it; bounds of run time may lie outside and are moved into the array."""
        r = self.r
        if r.random() < 0.75:
            return p.name
        axis = r.randrange(len(p.shape))
        extent = p.shape[axis]
        start = r.choice([self.number(min(4, extent)), str(r.randrange(extent))])
        width = r.randrange(1, max(2, extent - 4))
        stop = f"{start} + {width}" if extent > width + 4 and not start.isdigit() else str(extent)
        if self.numbers and r.random() < 0.3:
            moved = r.choice([-3, -1, extent - 2, extent, extent + 5])
            start = f"{r.choice(self.numbers)} + {moved}"
            stop = r.choice([f"{r.choice(self.numbers)} + {moved}", str(extent), str(extent + 9)])
        return f"{p.name}.slice(axis={axis}, start={start}, stop={stop})"

    def load(self, p: Place | None = None) -> None:
        r = self.r
        p = p or r.choice(self.places)
        m = r.choice([self.n, self.n, self.n, self.n // 2])
        dtype, kind = p.array.dtype, r.random()
        if kind < 0.35:
            shape, index, order = self.tile_at(p, m)
            pad = "padding_mode=ct.PaddingMode.ZERO"
            self.let(f"ct.load({self.part(p)}, {index}, {shape}{order}, {pad})", dtype, shape)
        elif kind < 0.5:
            shape, index, _ = self.tile_at(p, m)
            self.let(f"{self.view(p, shape)}.load({index})", dtype, shape)
        elif kind < 0.6 and p.reach >= m:
            at = self.spread(m, p.reach, inside=True)
            text = f"{p.name}.get_raw_memory().load_offset({at}{self.mask(m)}, padding_value=0)"
            self.let(text, dtype, (m,))
        elif kind < 0.68 and len(p.shape) == 2:
            rows, cols = self.split(m)
            at = f"({self.spread(rows, p.shape[0], inside=False)}, ct.Slice({self.number()}, {cols}))"
            pad = "padding_mode=ct.PaddingMode.ZERO"
            self.let(f"ct.load_advanced_indexing({p.name}, {at}, {pad})", dtype, (rows, cols))
        else:
            pad = r.choice(["", f", padding_value={r.randrange(4)}"])
            text = f"ct.gather({p.name}, {self.elements(p, m, reading=True)}{self.mask(m)}{pad})"
            self.let(text, dtype, (m,))

    def view(self, p: Place, shape: tuple[int, ...]) -> str:
        steps = tuple(max(1, self.r.randrange(n + 2)) for n in shape)
        some = f", traversal_steps={steps}" if self.r.random() < 0.7 else ""
        return f"{self.part(p)}.tiled_view({shape}, padding_mode=ct.PaddingMode.ZERO{some})"

    def store(self, p: Place | None = None, v: Variable | None = None) -> None:
        r = self.r
        p, v = p or r.choice(self.places), v or self.pick()
        assert v
        m, dtype, kind = v.size, p.array.dtype, r.random()
        if kind < 0.35:
            shape, index, order = self.tile_at(p, m)
            self.line(f"ct.store({self.part(p)}, {index}, {self.fitted(v, dtype, shape)}{order})")
        elif kind < 0.5:
            shape, index, _ = self.tile_at(p, m)
            self.line(f"{self.view(p, shape)}.store({index}, {self.fitted(v, dtype, shape)})")
        elif kind < 0.6 and p.reach >= m:
            at = self.spread(m, p.reach, inside=True)
            value = self.fitted(v, dtype, (m,))
            self.line(f"{p.name}.get_raw_memory().store_offset({at}, {value}{self.mask(m)})")
        elif kind < 0.66 and len(p.shape) == 2:
            rows, cols = self.split(m)
            at = f"({self.spread(rows, p.shape[0], inside=False)}, ct.Slice({self.number()}, {cols}))"
            value = self.fitted(v, dtype, (rows, cols))
            self.line(f"ct.store_advanced_indexing({p.name}, {at}, {value})")
        else:
            value = self.fitted(v, dtype, (m,))
            self.line(f"ct.scatter({p.name}, {self.elements(p, m)}, {value}{self.mask(m)})")

    def atomic(self) -> None:
        """An atomic on different elements: what it gives is known; sometimes the result is dead."""
        r = self.r
        found = [p for p in self.places if p.array.dtype in ATOMIC]
        if not found:
            return self.store()
        p = r.choice(found)
        v = self.pick()
        assert v
        dtype, m = p.array.dtype, v.size
        value = self.fitted(v, dtype, (m,))
        f = r.choice(["add", "add", "max", "min", "and", "or", "xor", "xchg", "cas"])
        at = self.elements(p, m)
        text = f"ct.atomic_{f}({p.name}, {at}, {'1, ' if f == 'cas' else ''}{value})"
        if r.random() < 0.4:
            self.line(text)
        else:  # what a lane outside gets is open
            old = self.let(text, dtype, (m,))
            lane = f"ct.arange({m}, dtype=ct.int32)"
            self.line(f"{old.name} = ct.where({lane} >= 0, {old.name}, 0)")

    # -- tiles ---------------------------------------------------------------------------------

    def rearrange(self, v: Variable) -> None:
        """One operation on a tile (or two) that moves elements."""
        r, m = self.r, v.size
        kind = r.choice(["halves", "turn", "fold", "reshape", "extract", "insert", "cat", "where"])
        flat, dtype = self.shaped(v, (m,)), v.dtype
        if kind == "halves" and m > 1:
            low, high = (f"ct.extract({flat}, ({k},), ({m // 2},))" for k in (0, 1))
            self.let(f"ct.cat(({high}, {low}), 0)", dtype, (m,))
        elif kind == "turn":
            shape = self.split(m)
            text = f"ct.transpose({self.shaped(v, shape)})"
            self.let(text, dtype, shape[::-1])
        elif kind == "fold" and m >= 8:
            cube = (2, m // 4, 2)
            p = r.choice([(2, 1, 0), (0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1)])
            text = f"ct.permute({self.shaped(v, cube)}, {p})"
            self.let(text, dtype, tuple(cube[k] for k in p))
        elif kind == "reshape":
            shape = self.split(m)
            self.let(self.shaped(v, shape), dtype, shape)
        elif kind == "extract" and m > 16:
            text = f"ct.extract({flat}, ({self.number(2)},), ({m // 2},))"
            self.let(text, dtype, (m // 2,))
        elif kind == "insert" and (part := self.pick(m // 2)):
            value = self.fitted(part, dtype, (m // 2,))
            self.let(f"ct.insert({flat}, ({r.randrange(2)},), {value})", dtype, (m,))
        elif kind == "cat" and m < self.n and (other := self.pick(m)):
            pair = f"{flat}, {self.fitted(other, dtype, (m,))}"
            self.let(f"ct.cat(({pair}), 0)", dtype, (2 * m,))
        else:
            self.combine(v)

    def combine(self, v: Variable) -> None:
        """Arithmetic of two tiles, a reduction, or a running sum."""
        r, m = self.r, v.size
        other = self.pick(m) or v
        y = self.fitted(other, v.dtype, v.shape)
        lane = f"ct.reshape(ct.arange({m}, dtype=ct.int32), {v.shape})"
        axis = r.randrange(len(v.shape))
        kept = tuple(1 if k == axis else n for k, n in enumerate(v.shape))
        text = r.choice([
            f"{v.name} + {y}", f"{v.name} - {y}", f"ct.maximum({v.name}, {y})", f"{v.name} + 1",
            f"ct.where({lane} < {r.randrange(m)}, {v.name}, {y})",
            f"{v.name} + ct.sum({y}, {axis}, keepdims=True)",
            f"{y} - ct.max({v.name}, {axis}, keepdims=True)",
            f"ct.cumsum({v.name}, {axis})",
            f"ct.broadcast_to(ct.min({y}, {axis}, keepdims=True), {v.shape}) + {v.name}",
        ])  # fmt: skip
        assert kept
        self.let(text, v.dtype, v.shape)

    # -- statements ----------------------------------------------------------------------------

    def condition(self) -> str:
        r = self.r
        v = [v for v in self.variables if v.dtype in INTEGERS]
        if v and r.random() < 0.4:
            return f"ct.{r.choice(['max', 'min'])}({r.choice(v).name}) > {r.randrange(4)}"
        return f"{self.number()} {r.choice(['<', '>', '=='])} {r.randrange(3)}"

    def nested(self, counter: str | None = None) -> None:
        """The body of a loop or an if: statements, then variables from outside changed."""
        r = self.r
        kept, numbers = len(self.variables), list(self.numbers)
        self.depth += 1
        if counter:
            self.numbers += [counter] * 2
        start = len(self.body)
        for _ in range(r.choice([1, 2, 2, 3])):
            self.statement()
        for v in r.sample(self.variables[:kept], min(kept, r.randrange(3))):
            new = [w for w in self.variables if w.size == v.size]
            other = self.fitted(r.choice(new), v.dtype, v.shape)
            self.line(f"{v.name} = {r.choice([other, f'{v.name} + {other}'])}")
        if len(self.body) == start:
            self.line("pass")
        self.depth -= 1
        del self.variables[kept:]
        self.numbers = numbers

    def statement(self) -> None:
        r = self.r
        kind = r.random()
        if kind < 0.24:
            self.load()
        elif kind < 0.52:
            self.store()
        elif kind < 0.59:
            self.atomic()
        elif kind < 0.80 or self.depth > DEEPEST:
            v = self.pick()
            assert v
            self.rearrange(v)
        elif kind < 0.88:
            self.count += 1
            bounds = r.choice(["2", "3", "4", "1, 4", "0", self.number(), f"{self.number()}, 4"])
            self.line(f"for i{self.count} in range({bounds}):")
            self.nested(f"i{self.count}")
        elif kind < 0.92:
            self.swap()
        else:
            self.line(f"if {self.condition()}:")
            self.nested()
            if r.random() < 0.4:
                self.line("else:")
                self.nested()

    def swap(self) -> None:
        """Two parts of one array change places: what is read must be read before either store."""
        p = self.r.choice(self.places)
        self.load(p)
        self.load(p)
        first, second = self.variables[-2:]
        self.store(p, second)
        self.store(p, first)

    def finish(self) -> None:
        """Some values go to memory of their own; the others are dead."""
        r = self.r
        for k, v in enumerate(r.sample(self.variables, min(len(self.variables), r.randrange(3)))):
            name = f"o{k}"
            self.buffers[name] = (v.dtype, v.size)
            array = Array(name, v.dtype, (v.size,), "out", window=(name, "[:]"))
            self.places.append(Place(array, 0))
            self.line(f"ct.store({name}, (0,), {self.shaped(v, (v.size,))})")


def generate(seed: int) -> Program:
    return Order(seed).program
