# SPDX-License-Identifier: Apache-2.0
"""Random expressions of constants: a kernel's compile-time value against CPython's, by their repr().

Each program has some expressions over the constants below, in one kernel that asserts what Python got for each. What
Python raises for is left out; a refusal of the compiler is skipped and counted by its message, another value is wrong.
"""

from __future__ import annotations

import dataclasses
import enum
import linecache
import random
import time
import warnings
from typing import Any

from .program import Outcome

MOST_BITS = 100  # of integers: the language computes exactly up to there


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 5


class Color(enum.Enum):
    RED = "r"
    BLUE = 2


class Access(enum.IntFlag):
    READ = 1
    WRITE = 2


@dataclasses.dataclass(frozen=True, order=True)
class Point:
    x: Any
    y: Any = 2

    def __add__(self, other: Any) -> Any:
        return Point(self.x + other.x, self.y) if isinstance(other, Point) else NotImplemented

    def __len__(self) -> int:
        return 2


NAMES: dict[str, Any] = {
    "I": 7, "J": -3, "F": 2.5, "G": -0.0, "H": 1e20, "T": True, "S": "text", "E": "", "P": (1, 2.5, "a"), "Q": (),
    "D": {"a": 1, 2: "b"}, "V": Point(1), "W": Point(3, 4), "N": None, "Level": Level, "Color": Color,
    "Access": Access, "Point": Point,
}  # fmt: skip
NUMBERS = ("I", "J", "F", "G", "H", "T", "0", "1", "3", "2.5", "100.0", "1e-5", "Level.HIGH", "True")
TEXTS = ("S", "E", "'x'", '"it\'s"')
TUPLES = ("P", "Q", "(1,)", "(I, F)", "(1, 2, 3)")
OTHERS = ("V", "W", "N", "Color.RED", "Color.BLUE", "Level.LOW")
SPECS = ("", ">6", "<8", "^7", ".2f", "05", "+", "x", ".3", "e", ",")


class Expressions:
    def __init__(self, seed: int) -> None:
        self.r = random.Random(seed)

    def number(self, depth: int) -> str:
        r, kind = self.r, self.r.randrange(12) if depth > 0 else 0
        if kind < 2:
            return r.choice(NUMBERS)
        a, b = self.number(depth - 1), self.number(depth - 1)
        if kind < 6:
            return f"({a} {r.choice('+ - * / // %'.split())} {b})"
        if kind == 6:
            return f"({a} {r.choice('| & ^ << >>'.split())} {b})"
        if kind == 7:
            return f"{r.choice('min max divmod'.split())}({a}, {b})" + r.choice(["", "[0]"])
        if kind == 8:
            return f"{r.choice(['abs', 'int', 'float', 'bool', '-', 'not ', '+'])}({a})".join("()")
        if kind == 9:
            return f"({a} if {self.truth(depth - 1)} else {b})"
        if kind == 10:
            return f"({a} {r.choice(['and', 'or'])} {b})"
        return f"len({self.text(depth - 1) if r.random() < 0.5 else self.tuple(depth - 1)})"

    def text(self, depth: int) -> str:
        r, kind = self.r, self.r.randrange(5) if depth > 0 else 0
        if kind == 0:
            return r.choice(TEXTS)
        if kind == 1:
            return f"({self.text(depth - 1)} + {self.text(depth - 1)})"
        if kind == 2:
            return f"{r.choice(['str', 'repr'])}({self.any(depth - 1)})"
        conversion = r.choice(["", "", "!r", "!s"])
        spec = r.choice(SPECS) if r.random() < 0.6 else ""
        name = r.choice([*NUMBERS[:7], "S", *OTHERS])
        return f"f'<{{{name}{conversion}{':' + spec if spec else ''}}}>'"

    def tuple(self, depth: int) -> str:
        r, kind = self.r, self.r.randrange(6) if depth > 0 else 0
        if kind == 0:
            return r.choice(TUPLES)
        a, b = self.tuple(depth - 1), self.any(depth - 1)
        return (f"({b}, *{a})", f"({a} + {self.tuple(depth - 1)})", f"({a} * {r.randrange(-1, 3)})",
                f"{a}[{r.choice(['1:', ':1', '::-1', '-2:'])}]", f"tuple(reversed({a}))")[kind - 1]  # fmt: skip

    def truth(self, depth: int) -> str:
        r, kind = self.r, self.r.randrange(7) if depth > 0 else 0
        if kind < 3:
            return f"({self.number(depth - 1)} {r.choice('< <= == != > >='.split())} {self.number(depth - 1)})"
        if kind == 3:
            return f"({self.tuple(depth - 1)} {r.choice('< == != >='.split())} {self.tuple(depth - 1)})"
        if kind == 4:
            return f"({self.any(depth - 1)} {r.choice(['==', '!=', 'in', 'not in'])} {self.tuple(depth - 1)})"
        if kind == 5:
            classes = r.choice(["int", "float", "str", "(tuple, bool)", "Point", "Level"])
            return f"isinstance({self.any(depth - 1)}, {classes})"
        return f"({self.text(depth - 1)} {r.choice(['in', '<', '=='])} {self.text(depth - 1)})"

    def other(self) -> str:
        return self.r.choice([*OTHERS, "(V + W)", "(V < W)", "V.x", "W.y", "len(V)", "(V == W)", "Color.RED.value",
                              "Level.LOW.name", "D['a']", "D[2]", "D.get(3, I)", "(Access.READ in Access.WRITE)",
                              "Color('r')", "Level(5)", "dict_keys"]).replace("dict_keys", "tuple(D.keys())")  # fmt: skip

    def any(self, depth: int) -> str:
        if depth < 1:
            return self.r.choice([*NUMBERS, *TEXTS, *TUPLES, *OTHERS])
        make = self.r.choice([self.number, self.number, self.text, self.tuple, self.truth])
        return make(depth) if self.r.random() < 0.85 else self.other()


def too_wide(value: Any) -> bool:
    if isinstance(value, tuple):
        return any(map(too_wide, value))
    return isinstance(value, int) and value.bit_length() > MOST_BITS


@dataclasses.dataclass
class Constants:
    seed: int
    lines: list[tuple[str, str]]  # expression and repr of its value

    def source(self) -> str:
        head = ["def check(condition):", "    ct.static_assert(condition)", ""]  # a call: the host is not asked
        lines = [f"    check(repr({text}) == {want!r})" for text, want in self.lines]
        return "\n".join([*head, "def kernel(out):", *lines, ""])

    def describe(self) -> str:
        return self.source()

    def run(self, device: str) -> Outcome:
        started = time.monotonic()
        refused = ""
        if self.compiled().kind == "passed":
            return Outcome("passed", str(len(self.lines)), time.monotonic() - started)
        for text, want in self.lines:
            outcome = Constants(self.seed, [(text, want)]).compiled()
            if outcome.kind in ("wrong", "error"):
                return outcome
            refused = refused or outcome.text
        kind = "skipped" if refused else "passed"
        return Outcome(kind, refused, time.monotonic() - started)

    def compiled(self) -> Outcome:
        import numpy as np
        import tessera.tile as ct

        name, space = f"<constants {id(self)}>", {**NAMES, "ct": ct}
        linecache.cache[name] = (len(self.source()), None, self.source().splitlines(True), name)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                exec(compile(self.source(), name, "exec"), space)
            ct.launch(None, (1,), ct.kernel(space["kernel"]), (np.zeros(1, np.int32),))
        except ct.TileStaticAssertionError:
            return Outcome("wrong", f"{self.lines[0][0]} is {self.lines[0][1]}")
        except ct.TileError as error:
            return Outcome("skipped", str(error).splitlines()[0].split(": ", 1)[-1][:60])
        except Exception as error:
            return Outcome("error", f"{self.lines[0][0]}: {type(error).__name__}: {error}")
        finally:
            del linecache.cache[name]
        return Outcome("passed")


def generate(seed: int) -> Constants:
    made, lines = Expressions(seed), []
    while len(lines) < 8:
        text = made.any(3)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                value = eval(text, dict(NAMES))
        except (TypeError, ValueError, ArithmeticError, IndexError, KeyError, AttributeError, RecursionError):
            continue
        if not too_wide(value) and len(repr(value)) < 400:
            lines.append((text, repr(value)))
    return Constants(seed, lines)
