# SPDX-License-Identifier: Apache-2.0
"""Random kernels of threads, as IR text: the interpreter of the text as it is written is compared with the
interpreter of what the passes made of it, with the reader of the PTX that came out, and with a GPU.

The reader shares no code with the compiler; both runs must give the same bits. So the programs hold only what
has one answer: atomics on common places commute and their results are not read, what threads exchange
through shared memory lies between barriers, products that a sum could take in have a rounding of their own.
"""

from __future__ import annotations

import ctypes
import math
import os
import pathlib
import random
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from . import cpu, gpu, ptx
from .program import FRONT, Outcome

MATH = pathlib.Path(__file__).resolve().parents[3] / "src" / "table" / "math.def"
IN = 64  # elements of the input arrays
PLACES = 8  # common places of atomics
INTS = ("i8", "i16", "i32", "i64")
FLOATS = ("f16", "f32", "f64")
PARTS = {"c64": "f32", "c128": "f64"}  # of complex numbers, which are carried, called with and kept in memory
BYTES = {"i8": 1, "i16": 2, "i32": 4, "i64": 8, "f16": 2, "f32": 4, "f64": 8, "c64": 8, "c128": 16}
BLOCKS = [(32, 1, 1), (64, 1, 1), (8, 4, 2), (16, 2, 3), (4, 4, 4), (2, 48, 1), (1, 1, 64), (96, 1, 1)]
INPUTS = [("i32", "%ai"), ("i64", "%al"), ("f32", "%af"), ("f64", "%ad")]
COMMUTE = ("add", "and", "or", "xor", "max", "min", "umax", "umin")


def functions() -> list[tuple[str, int]]:
    """Names of the math functions of one and two floats, and how many they take."""
    rows = []
    for line in MATH.read_text().splitlines():
        if line.startswith("TS_MATH("):
            name, kind = (part.strip() for part in line[8:].split(",")[:2])
            if kind in ("X", "XX"):
                rows.append((name, len(kind)))
    return rows


class Writer:
    """Appends instructions to one function; knows which values of which type are in scope."""

    def __init__(self, r: random.Random, names: list[tuple[str, int]]) -> None:
        self.r, self.functions = r, names
        self.lines: list[str] = []
        self.n, self.depth = 0, 1
        self.scope: list[dict[str, list[str]]] = [{}]
        self.callable: list[tuple[str, list[str], list[str]]] = []

    # ---- values ---------------------------------------------------------------------------------

    def line(self, text: str) -> None:
        self.lines.append("  " * self.depth + text)

    def name(self) -> str:
        self.n += 1
        return f"%v{self.n}"

    def known(self, type_: str, value: str) -> str:
        self.scope[-1].setdefault(type_, []).append(value)
        return value

    def emit(self, text: str, type_: str) -> str:
        value = self.name()
        self.line(f"{value} = {text} : {type_}")
        return self.known(type_, value)

    def constant(self, type_: str, value: object) -> str:
        """A number; it is not taken for what `any` gives, or all that follows would be known."""
        name = self.name()
        self.line(f"{name} = constant {value} : {type_}")
        return name

    def any(self, type_: str) -> str:
        """A value of the type: one in scope, the newest ones more often, or a constant."""
        found = [v for scope in self.scope for v in scope.get(type_, [])]
        if found and self.r.random() < 0.95:
            return self.r.choice(found[-4:] if self.r.random() < 0.6 else found)
        if type_ == "i1":
            return self.constant("i1", self.r.choice(["true", "false"]))
        if type_ in PARTS:
            part = PARTS[type_]
            return self.emit(f"make_complex {self.any(part)}, {self.any(part)}", type_)
        if type_ in FLOATS:
            return self.constant(type_, self.r.choice(["0.0", "1.0", "-1.5", "3.0", "-0.0", "1000.0"]))
        bits = int(type_[1:])
        edge = [0, 1, -1, 2, 3, 7, 10, 2 ** (bits - 1) - 1, -(2 ** (bits - 1))]
        return self.constant(type_, self.r.choice(edge))

    def below(self, most: int, value: str | None = None) -> str:
        """An i32 from 0 to most - 1, a power of two."""
        return self.emit(f"andi {value or self.any('i32')}, {self.constant('i32', most - 1)}", "i32")

    # ---- expressions ------------------------------------------------------------------------------

    def integer(self, t: str) -> str:
        r, x, y = self.r, self.any(t), self.any(t)
        kind = r.randrange(12)
        if kind < 5:
            op = r.choice(["addi", "subi", "muli", "andi", "ori", "xori", "maxi", "mini"])
            how = "unsigned " if op in ("maxi", "mini") and r.random() < 0.5 else ""
            return self.emit(f"{op} {how}{x}, {y}", t)
        if kind == 5:
            bits = int(t[1:])
            by = self.emit(f"andi {y}, {self.constant(t, bits - 1)}", t)
            op = r.choice(["shli", "shri", "shri unsigned"])
            return self.emit(f"{op} {x}, {by}", t)
        if kind == 6:  # divisors of 1 to 16, or a constant
            by = self.emit(f"andi {y}, {self.constant(t, 15)}", t)
            by = self.emit(f"addi {by}, {self.constant(t, 1)}", t)
            if r.random() < 0.6:
                by = self.constant(t, r.choice([1, 2, 3, 5, 7, 8, 10, 100, -3, -7]))
            op = r.choice(["divi", "divi rm", "divi rp", "divi unsigned", "remi", "remi unsigned"])
            return self.emit(f"{op} {x}, {by}", t)
        if kind == 7:
            return self.emit(f"{r.choice(['absi', 'negi'])} {x}", t)
        if kind == 8:
            return self.emit(f"select {self.any('i1')}, {x}, {y}", t)
        if kind == 9 and t in ("i32", "i64"):
            return self.emit(f"mulhii {x}, {y}", t) if r.random() < 0.5 else self.emit(f"brev {x}", t)
        if kind == 10 and t == "i32":
            wide = r.choice(["i32", "i64"])
            return self.emit(f"{r.choice(['popc', 'clz'])} {self.any(wide)}", t)
        return self.converted(t)

    def converted(self, t: str) -> str:
        """From a number of another type; floats are first made small, so that all are in range."""
        r = self.r
        other = r.choice([u for u in INTS if u != t])
        if r.random() < 0.7 or t == "i8":
            op = "exti" if BYTES[other] < BYTES[t] else "trunci"
            how = "unsigned " if op == "exti" and r.random() < 0.5 else ""
            return self.emit(f"{op} {how}{self.any(other)}", t)
        f = r.choice(["f32", "f64"])
        x = self.emit(f"minf {self.any(f)}, {self.constant(f, '100.0')}", f)
        x = self.emit(f"maxf {x}, {self.constant(f, '-100.0')}", f)
        return self.emit(f"ftoi {x}", t)

    def floating(self, t: str) -> str:
        r, x, y = self.r, self.any(t), self.any(t)
        kind = r.randrange(10)
        if kind < 3:
            return self.emit(f"{r.choice(['addf', 'subf', 'minf', 'maxf'])} {x}, {y}", t)
        if kind == 3 and t == "f32":
            return self.emit(f"mulf {r.choice(['rz', 'rm', 'rp'])} {x}, {y}", t)
        if kind == 3:
            return self.emit(f"fma {x}, {y}, {self.any(t)}", t)
        if kind == 4:
            return self.emit(f"{r.choice(['absf', 'negf', 'floor', 'ceil'])} {x}", t)
        if kind == 5:
            return self.emit(f"select {self.any('i1')}, {x}, {y}", t)
        if kind == 6 and t != "f16":
            by = f"divf {self.constant(t, '1.0') if r.random() < 0.4 else x}, {y}"
            return self.emit(by if r.random() < 0.6 else f"sqrt {x}", t)
        if kind == 7 and t != "f16":
            name, n = r.choice(self.functions)
            return self.emit(f"fn {name} {x}{f', {y}' if n == 2 else ''}", t)
        if kind == 8:
            return self.emit(f"itof {self.any(r.choice(['i16', 'i32', 'i64']))}", t)
        other = r.choice([u for u in FLOATS if u != t])
        return self.emit(f"ftof {self.any(other)}", t)

    def complex(self, t: str) -> str:
        """Made of parts, chosen, or taken apart."""
        kind, part = self.r.randrange(4), PARTS[t]
        if kind == 0:
            return self.emit(f"make_complex {self.any(part)}, {self.any(part)}", t)
        if kind == 1:
            return self.emit(f"select {self.any('i1')}, {self.any(t)}, {self.any(t)}", t)
        return self.emit(f"{self.r.choice(['real', 'imag'])} {self.any(t)}", part)

    def truth(self) -> str:
        r = self.r
        if r.random() < 0.3:
            return self.emit(f"{r.choice(['andi', 'ori', 'xori'])} {self.any('i1')}, {self.any('i1')}", "i1")
        how = r.choice(["eq", "ne", "lt", "le", "gt", "ge"])
        if r.random() < 0.7:
            t = r.choice(INTS)
            sign = " unsigned" if r.random() < 0.4 else ""
            return self.emit(f"cmpi {how}{sign} {self.any(t)}, {self.any(t)}", "i1")
        t = r.choice(["f32", "f64"])
        return self.emit(f"cmpf {how} {self.any(t)}, {self.any(t)}", "i1")

    def expression(self) -> str:
        kind = self.r.random()
        if kind < 0.06:
            return self.complex(self.r.choice([*PARTS]))
        if kind < 0.5:
            return self.integer(self.r.choice(["i32", *INTS]))
        return self.floating(self.r.choice(["f32", *FLOATS])) if kind < 0.85 else self.truth()

    # ---- regions ----------------------------------------------------------------------------------

    def region(self, opener: str, body: Callable[[], None]) -> None:
        self.line(opener)
        self.scope.append({})
        self.depth += 1
        body()
        self.depth -= 1
        self.scope.pop()

    def results(self, types: list[str]) -> list[str]:
        return [self.name() for _ in types]

    def branch(self, inside: Callable[[], object]) -> None:
        types = [self.r.choice([*INTS, *FLOATS, *PARTS]) for _ in range(self.r.randrange(3))]
        names, cond = self.results(types), self.any("i1")

        def arm() -> None:
            inside()
            self.line(" ".join(["yield", ", ".join(self.any(t) for t in types)]).rstrip())

        head = f"{', '.join(names)} = " if names else ""
        tail = f" : {', '.join(types)}" if names else ""
        self.region(f"{head}if {cond}{tail} {{", arm)
        self.region("} else {", arm)
        self.line("}")
        for t, v in zip(types, names, strict=True):
            self.known(t, v)

    def counted(self, inside: Callable[[], object], trips: str) -> None:
        values = self.carried()
        zero, one = self.constant("i32", 0), self.constant("i32", 1)
        self.repeated(inside, values, f"{zero}, {trips}, {one}")

    def strided(self, inside: Callable[[], object], first: str, trips: int) -> None:
        """As the loop over a grid: each thread begins at a place of its own."""
        values = self.carried()
        step = self.r.choice([1, 3, 32, 64])
        last, step_ = self.constant("i32", trips * step + self.r.randrange(8)), self.constant("i32", step)
        self.repeated(inside, values, f"{first}, {last}, {step_}")

    def carried(self) -> list[tuple[str, str]]:
        """Types and first values of what a loop hands on."""
        types = [self.r.choice([*INTS, *FLOATS, *PARTS]) for _ in range(self.r.randrange(3))]
        return [(t, self.any(t)) for t in types]

    def repeated(self, inside: Callable[[], object], values: list[tuple[str, str]], bounds: str) -> None:
        """A loop over ``bounds`` (first, last, step) that hands ``values`` on."""
        types = [t for t, _ in values]
        names, args, i = self.results(types), self.results(types), self.name()

        def body() -> None:
            self.known("i32", i)
            for t, v in zip(types, args, strict=True):
                self.known(t, v)
            inside()
            self.line(" ".join(["continue", ", ".join(self.any(t) for t in types)]).rstrip())

        head = f"{', '.join(names)} = " if names else ""
        carried = ", ".join(f"{a} = {v}" for a, (_, v) in zip(args, values, strict=True))
        tail = f" iter({carried}) : {', '.join(types)}" if names else ""
        self.region(f"{head}for {i} in ({bounds}){tail} {{", body)
        self.line("}")
        for t, v in zip(types, names, strict=True):
            self.known(t, v)

    def searched(self, inside: Callable[[], object], leaves: bool) -> None:
        """A loop that threads leave one by one, after eight turns at most; some go on early, or return."""
        r = self.r
        types = [r.choice([*INTS, *FLOATS, *PARTS]) for _ in range(r.randrange(3))]
        gives = [r.choice([*INTS, *FLOATS, *PARTS]) for _ in range(r.randrange(1, 3))]
        first, args, names = [self.any(t) for t in types], self.results(types), self.results(gives)
        turn, next_ = self.name(), self.name()
        zero, one, most = self.constant("i32", 0), self.constant("i32", 1), self.constant("i32", 8)

        def jump(word: str, own: list[str], kinds: list[str]) -> None:
            self.line(f"{word} {', '.join([*own, *(self.any(t) for t in kinds)])}".rstrip())

        def under(cond: str, jump_: Callable[[], None]) -> None:
            def taken() -> None:
                if r.random() < 0.4:
                    self.expression()
                jump_()

            self.region(f"if {cond} {{", taken)
            self.region("} else {", lambda: self.line("yield"))
            self.line("}")

        def body() -> None:
            for t, v in zip(["i32", *types], [turn, *args], strict=True):
                self.known(t, v)
            self.line(f"{next_} = addi {turn}, {one} : i32")
            many = self.emit(f"cmpi ge {turn}, {most}", "i1")
            under(self.emit(f"ori {many}, {self.any('i1')}", "i1"), lambda: jump("break", [], gives))
            inside()
            if r.random() < 0.5:
                under(self.truth(), lambda: jump("continue", [next_], types))
            if r.random() < 0.5:
                under(self.truth(), lambda: jump("break", [], gives))
            if leaves and r.random() < 0.5:
                under(self.truth(), lambda: self.line("return"))
            jump("continue", [next_], types)

        carried = ", ".join(f"{a} = {v}" for a, v in zip([turn, *args], [zero, *first], strict=True))
        self.region(f"{', '.join(names)} = loop iter({carried}) : {', '.join(gives)} {{", body)
        self.line("}")
        for t, v in zip(gives, names, strict=True):
            self.known(t, v)

    def call(self) -> None:
        if not self.callable:
            self.expression()
            return
        callee, params, gives = self.r.choice(self.callable)
        names = self.results(gives)
        args = ", ".join(self.any(t) for t in params)
        self.line(f"{', '.join(names)} = call @{callee} {args} : {', '.join(gives)}")
        for t, v in zip(gives, names, strict=True):
            self.known(t, v)


class Threads(Writer):
    """One kernel with what it is launched with."""

    def __init__(self, seed: int) -> None:
        r = random.Random(seed)
        super().__init__(r, functions())
        self.seed, self.block = seed, r.choice(BLOCKS)
        self.grid = r.choice([(1, 1, 1), (2, 1, 1), (3, 2, 1), (1, 2, 2)])
        self.schedule, self.dynamic = r.randrange(100), r.choice([0, 0, 1])
        self.threads = math.prod(self.block)
        self.outputs: list[tuple[str, str]] = []  # parameter, type
        self.static = 0
        self.kept: list[tuple[str, str]] = []  # arrays with an element of each thread, written to no more
        self.locals: list[tuple[str, str]] = []  # written whole
        self.may_leave, self.left = r.random() < 0.3, False  # threads may return before the end; some have
        self.text = self.written()

    # ---- text -------------------------------------------------------------------------------------

    def written(self) -> str:
        functions = [self.function(k) for k in range(self.r.randrange(3))]
        body = self.kernel()
        params = "".join(f", {name}: ptr<{t}>" for name, t in self.outputs)
        inputs = "%ai: ptr<i32>, %al: ptr<i64>, %af: ptr<f32>, %ad: ptr<f64>, %sum: ptr<i32>, %suml: ptr<i64>"
        return f"thread entry @k({inputs}{params}) {{\n{body}\n}}\n" + "".join(functions)

    def function(self, k: int) -> str:
        """A device function of numbers alone; later ones call earlier ones."""
        part = Writer(self.r, self.functions)
        part.callable, part.n = list(self.callable), 0
        types = [self.r.choice([*INTS, *FLOATS, *PARTS]) for _ in range(self.r.randrange(1, 4))]
        params = [f"%p{i}" for i in range(len(types))]
        for t, p in zip(types, params, strict=True):
            part.known(t, p)
        for _ in range(self.r.randrange(1, 5)):
            part.branch(part.expression) if self.r.random() < 0.2 else part.expression()
        if self.r.random() < 0.4:
            part.call()
        gives = [self.r.choice([*INTS, *FLOATS, *PARTS]) for _ in range(self.r.randrange(1, 3))]
        part.line(f"return {', '.join(part.any(t) for t in gives)}")
        self.callable.append((f"f{k}", types, gives))
        level = self.r.choice(["both", "thread"])
        if any(" brev " in s or " popc " in s or " clz " in s for s in part.lines):
            level = "thread"
        if any("call @" in s for s in part.lines):
            level = "thread"
        listed = ", ".join(f"{p}: {t}" for p, t in zip(params, types, strict=True))
        lines = "\n".join(part.lines)
        return f"{level} func @f{k}({listed}) : {', '.join(gives)} {{\n{lines}\n}}\n"

    def kernel(self) -> str:
        registers = [f"{name}.{axis}" for name in ("tid", "ntid", "ctaid", "nctaid") for axis in "xyz"]
        ids = {name: self.emit(f"sreg {name}", "i32") for name in registers}
        lane, warp = self.emit("sreg laneid", "i32"), self.emit("sreg warpid", "i32")
        row = self.flat(ids["tid.z"], ids["ntid.y"], ids["tid.y"])
        self.t = self.flat(row, ids["ntid.x"], ids["tid.x"])
        row = self.flat(ids["ctaid.z"], ids["nctaid.y"], ids["ctaid.y"])
        place = self.flat(row, ids["nctaid.x"], ids["ctaid.x"])
        self.global_t = self.flat(place, self.constant("i32", self.threads), self.t)
        self.affine = [ids["tid.x"], lane, self.emit(f"muli {lane}, {self.constant('i32', 2)}", "i32")]
        self.scope = [{}]  # what differs little between threads is in the way
        for value in (lane, warp, self.global_t):
            self.known("i32", value)
        for t, array in INPUTS:
            at = self.emit(f"muli {self.global_t}, {self.constant('i32', self.r.choice([1, 3, 5, 7]))}", "i32")
            self.emit(f"ld n=1 {self.pointer(array, self.below(IN, at), f'ptr<{t}>')}", t)
        self.emit(f"trunci {self.any('i32')}", "i8")
        self.emit(f"trunci {self.any('i64')}", "i16")
        self.emit(f"ftof {self.any('f32')}", "f16")
        self.truth()
        for _ in range(self.r.randrange(6, 16)):
            self.statement(uniform=not self.left, depth=0)
        for t in INTS:
            self.give(t, self.mixed(t))
        for t, part in PARTS.items():
            for v in self.scope[0].get(t, [])[-2:]:
                self.emit(f"real {v}", part)
                self.emit(f"imag {v}", part)
        for t in FLOATS:
            for v in self.scope[0][t][-4:]:
                self.give(t, v)
        self.line("return")
        return "\n".join(self.lines)

    def flat(self, x: str, n: str, y: str) -> str:
        return self.emit(f"addi {self.emit(f'muli {x}, {n}', 'i32')}, {y}", "i32")

    def statement(self, *, uniform: bool, depth: int) -> None:
        """`uniform`: all threads of the block are here."""
        r = self.r

        def inner(all_here: bool) -> Callable[[], None]:
            def statements() -> None:
                for _ in range(r.randrange(1, 4)):
                    self.statement(uniform=all_here, depth=depth + 1)

            return statements

        kind = r.randrange(18)
        if kind == 0 and depth < 2:
            self.branch(inner(False))
        elif kind == 1 and depth < 2 and uniform:
            self.counted(inner(True), self.constant("i32", r.randrange(4)))
        elif kind == 2 and depth < 2:
            self.counted(inner(False), self.below(4))
        elif kind == 3 and uniform:
            self.exchange()
        elif kind in (4, 5) and uniform:
            self.together()
        elif kind == 6:
            self.atomic()
        elif kind == 7:
            self.load(*r.choice(INPUTS))
        elif kind == 8:
            self.call()
        elif kind == 9:
            self.private()
        elif kind == 10 and depth < 2:
            self.strided(inner(False), r.choice([self.t, self.global_t, *self.affine]), r.randrange(1, 4))
        elif kind in (11, 12) and depth < 2:
            self.searched(inner(False), self.left)
        elif kind == 13 and depth == 0 and self.may_leave:
            self.left = True
            self.region(f"if {self.any('i1')} {{", lambda: (self.expression(), self.line("return"))[1])
            self.region("} else {", lambda: self.line("yield"))
            self.line("}")
        else:
            for _ in range(r.randrange(1, 4)):
                self.expression()

    # ---- memory -----------------------------------------------------------------------------------

    def pointer(self, base: str, index: str, type_: str) -> str:
        value = self.name()
        self.line(f"{value} = offset {base}, {index} : {type_}")
        return value

    def load(self, t: str, array: str) -> None:
        p = self.pointer(array, self.below(IN), f"ptr<{t}>")
        if self.r.random() < 0.4:
            self.emit(f"ld n=1 {p} mask={self.any('i1')} pad={self.any(t)}", t)
        else:
            self.emit(f"ld {self.r.choice(['', 'nc '])}n=1 {p}", t)

    def mixed(self, t: str) -> str:
        """All values of an integer type in one, so that each of them is seen."""
        first, *rest = self.scope[0][t]
        three = self.constant(t, 3)
        for value in rest:
            first = self.emit(f"xori {self.emit(f'muli {first}, {three}', t)}, {value}", t)
        return first

    def give(self, t: str, value: str) -> None:
        """A value of each thread into an array of the results."""
        name = f"%out{len(self.outputs)}"
        self.outputs.append((name, t))
        p = self.pointer(name, self.global_t, f"ptr<{t}>")
        self.line(f"st n=1 {p}, {value}")

    def room(self, t: str, is_dynamic: bool) -> str:
        """Shared memory for an element of each thread; pieces of the dynamic memory overlap."""
        value, many = self.name(), BYTES[t] * self.threads
        if is_dynamic:
            self.line(f"{value} = shared offset={self.r.choice([0, 16, 64])} : ptr<{t}, shared>")
        else:
            align = self.r.choice([BYTES[t], 16, 128])
            self.line(f"{value} = shared_alloc bytes={many} align={align} : ptr<{t}, shared>")
            self.static += many + 128
        return value

    def exchange(self) -> None:
        """Every thread writes an element and reads one of another thread, between barriers."""
        t = self.r.choice([*INTS, *FLOATS, *PARTS])
        of, is_dynamic = t, bool(self.dynamic) and BYTES[t] <= 8 and self.r.random() < 0.5
        base, last = self.room(t, is_dynamic), self.constant("i32", self.threads - 1)
        mine = self.pointer(base, self.t, f"ptr<{t}, shared>")
        self.line("bar_sync")
        self.line(f"st n=1 {mine}, {self.any(t)}")
        if t in ("i32", "i64") and self.r.random() < 0.5:
            self.own_atomic(t, mine)
        self.line("bar_sync")
        other = self.emit(f"subi {last}, {self.t}", "i32")
        if self.r.random() < 0.5:
            moved = self.emit(f"addi {self.t}, {self.below(8)}", "i32")
            other = self.emit(f"remi {moved}, {self.constant('i32', self.threads)}", "i32")
        self.emit(f"ld n=1 {self.pointer(base, other, f'ptr<{t}, shared>')}", t)
        if self.kept and self.r.random() < 0.7:
            t, old = self.r.choice(self.kept)
            self.emit(f"ld n=1 {self.pointer(old, other, f'ptr<{t}, shared>')}", t)
        self.line("bar_sync")
        if self.depth == 1 and not is_dynamic:
            self.kept.append((of, base))

    def own_atomic(self, t: str, place: str) -> None:
        """At a place of this thread alone: what was there is known."""
        if self.r.random() < 0.3:
            self.emit(f"atom cas relaxed block {place}, {self.any(t)}, {self.any(t)}", t)
        else:
            mode = self.r.choice([*COMMUTE, "xchg"])
            self.emit(f"atom {mode} relaxed block {place}, {self.any(t)}", t)

    def atomic(self) -> None:
        """Common places: one mode for each place, so that any order gives the same."""
        t, array = self.r.choice([("i32", "%sum"), ("i64", "%suml")])
        k = self.r.randrange(PLACES)
        p = self.pointer(array, self.constant("i32", k), f"ptr<{t}>")
        mask = f" mask={self.any('i1')}" if self.r.random() < 0.4 else ""
        if self.r.random() < 0.5:
            self.line(f"red {COMMUTE[k]} relaxed device {p}, {self.any(t)}{mask}")
        else:
            self.line(f"{self.name()} = atom {COMMUTE[k]} relaxed device {p}, {self.any(t)}{mask} : {t}")

    def private(self) -> None:
        """An array of the thread's own."""
        t, base = self.r.choice([*INTS, *FLOATS, *PARTS]), self.name()
        self.line(f"{base} = local bytes={4 * BYTES[t]} align={BYTES[t]} : ptr<{t}, local>")
        for k in range(4):
            p = self.pointer(base, self.constant("i32", k), f"ptr<{t}, local>")
            self.line(f"st n=1 {p}, {self.any(t)}")
        self.line(f"st n=1 {self.pointer(base, self.below(4), f'ptr<{t}, local>')}, {self.any(t)}")
        self.emit(f"ld n=1 {self.pointer(base, self.below(4), f'ptr<{t}, local>')}", t)
        if self.locals:
            old, at = self.r.choice(self.locals)
            self.emit(f"ld n=1 {self.pointer(at, self.below(4), f'ptr<{old}, local>')}", old)
        if self.depth == 1:
            self.locals.append((t, base))

    # ---- warps ------------------------------------------------------------------------------------

    def together(self) -> None:
        r, kind = self.r, self.r.randrange(8)
        if kind < 4:
            t = r.choice(["i16", "i32", "i64", *FLOATS])
            mode = r.choice(["idx clamp=31", "up", "down clamp=31", "bfly clamp=31"])
            lane = self.constant("i32", r.choice([1, 2, 4, 8, 16])) if r.random() < 0.4 else self.below(32)
            self.emit(f"shfl {mode} {self.any(t)}, {lane}", t)
        elif kind == 4:
            mode = r.choice(["any", "all", "ballot"])
            self.emit(f"vote {mode} {self.any('i1')}", "i32" if mode == "ballot" else "i1")
        elif kind == 5:
            self.emit(f"redux {r.choice(COMMUTE)} {self.any('i32')}", "i32")
        elif kind == 6:
            self.emit(f"match {self.any(r.choice(['i32', 'i64']))}", "i32")
        else:
            self.line("warp_sync")

    # ---- running ----------------------------------------------------------------------------------

    def start(self) -> list[Any]:
        rng = np.random.default_rng(self.seed)
        whole = rng.integers(-100, 100, IN)
        whole[rng.random(IN) < 0.2] = rng.choice([0, 2**31 - 1, -(2**31)])
        long = np.where(rng.random(IN) < 0.2, rng.integers(-(2**63), 2**63 - 1, IN), whole)
        some = rng.integers(-64, 64, IN) / 8.0
        n = self.threads * math.prod(self.grid)
        dtypes = {**{f"i{b}": f"int{b}" for b in (8, 16, 32, 64)}, **{f"f{b}": f"float{b}" for b in (16, 32, 64)}}
        given = [whole.astype(np.int32), long.astype(np.int64), some.astype(np.float32), some * 1.1,
                 np.arange(PLACES, dtype=np.int32), np.arange(PLACES, dtype=np.int64)]  # fmt: skip
        return [*given, *(np.zeros(n, dtypes[t]) for _, t in self.outputs)]

    def dynamic_bytes(self) -> int:
        return (64 + 8 * self.threads) * self.dynamic

    def interpreted(self, target: int) -> list[Any]:
        """The arrays after the reference interpreter; `target` 0: of the text as it is written."""
        sys.path.append(str(FRONT))
        from lower import Error, Interpret, LowerError, library  # type: ignore[import-not-found]

        arrays, text, err = self.start(), self.text.encode(), Error()
        words = [a.ctypes.data for a in arrays]
        job = Interpret((ctypes.c_uint64 * len(words))(*words), len(words), (ctypes.c_uint32 * 3)(*self.grid),
                        max_steps=20_000_000, target=target, schedule=self.schedule,
                        block=(ctypes.c_uint32 * 3)(*self.block), shared_bytes=self.dynamic_bytes())  # fmt: skip
        status = library().ts_interpret_text(
            text, ctypes.c_size_t(len(text)), None, ctypes.byref(job), ctypes.byref(err)
        )
        if status:
            raise LowerError(status, err.text.decode())
        return arrays

    def on_cpu(self) -> list[Any]:
        """The arrays after the CPU device."""
        arrays = self.start()
        cpu.launched(self.text, self.grid, self.block, self.dynamic_bytes(), arrays)
        return arrays

    def read(self, target: int) -> list[Any]:
        """The arrays after the reader of PTX."""
        from tessera import _core

        start = self.start()
        memory = ptx.Memory(ptx.Memory.room([a.nbytes for a in start]))
        arrays = [memory.place(a) for a in start]
        entry = ptx.parsed(_core.compile_text(self.text, target).decode().rstrip("\0"))
        words = dict(zip(entry.params, (a.ctypes.data for a in arrays), strict=True))
        shared = self.static + 16 + self.dynamic_bytes()
        ptx.run(entry, ptx.Launch(self.grid, words, shared, self.schedule % 3, self.block), memory)
        return arrays

    def launched(self) -> list[Any]:
        """The arrays after the GPU of this machine."""
        from tessera import _core

        target = gpu.target()
        code = _core.compile_text(self.text, target)
        return gpu.launched(code, self.grid, self.block, self.static + 16 + self.dynamic_bytes(), self.start())

    def assembled(self, target: int) -> Outcome:
        from tessera import _core

        code = _core.compile_text(self.text, target).rstrip(b"\0")
        arch = f"sm_{target}" + ("a" if target >= 90 else "")
        done = subprocess.run(
            ["ptxas", f"-arch={arch}", "-o", os.devnull, "-"], input=code, capture_output=True, check=False
        )
        return Outcome("wrong", (done.stdout + done.stderr).decode()) if done.returncode else Outcome("passed")

    def run(self, device: str) -> Outcome:
        kind, target = device.rstrip("0123456789"), int(device.lstrip("abcdefghijklmnopqrstuvwxyz_") or 0)
        if device not in ("cuda", "cpu") and (kind not in ("eval", "ptx", "sm_") or not target):
            return Outcome("skipped", "kernels of threads are run by cpu, eval1, cuda, eval90, ptx90, sm_90")
        if kind == "sm_":
            return self.assembled(target)
        begin = time.process_time()
        try:
            want = self.interpreted(0)
            runs = {"eval": lambda: self.interpreted(target), "ptx": lambda: self.read(target), "cpu": self.on_cpu}
            got = runs.get(kind, self.launched)()
        except ptx.Unread as e:
            return Outcome("skipped", f"the reader of PTX does not know {e}")
        except ptx.Fault as e:
            return Outcome("wrong", f"PTX: {e}")
        return Outcome(*self.compared(want, got), time.process_time() - begin)

    def compared(self, want: list[Any], got: list[Any]) -> tuple[str, str]:
        names = ["%ai", "%al", "%af", "%ad", "%sum", "%suml", *(name for name, _ in self.outputs)]
        for name, w, g in zip(names, want, got, strict=True):
            bits = np.dtype(f"u{w.itemsize}")
            same = np.ascontiguousarray(w).view(bits) == np.ascontiguousarray(g).view(bits)
            if w.dtype.kind == "f":
                same |= np.isnan(w) & np.isnan(g)
            if not same.all():
                k = int(np.argmin(same))
                return "wrong", f"{name}[{k}]: got {g[k]!r}, want {w[k]!r}; {int((~same).sum())} of {w.size} differ"
        return "passed", ""

    def describe(self) -> str:
        return f"{self.text}// block {self.block}, grid {self.grid}, {self.dynamic_bytes()} bytes, {self.schedule}"


def generate(seed: int) -> Threads:
    return Threads(seed)
