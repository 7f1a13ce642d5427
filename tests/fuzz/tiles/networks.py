# SPDX-License-Identifier: Apache-2.0
"""Random networks of many stages: butterflies, sorting networks, shuffles, chains that use a value twice.

Each stage takes parts of a tile and puts them together anew (`extract`, `cat`, `reshape`, `permute`). A
compiler that works out each element through all stages needs time that doubles with each stage; these
programs have a limit of time besides their result. Between stages stand reductions, loops, values that
are kept alive, and results that are not used.
"""

from __future__ import annotations

import random

from .program import Array, Program

DTYPES = ["int32", "int32", "int64", "uint8", "int16", "uint32", "float32"]
SECONDS = 10.0  # of processor time, for compiling and running


class Network:
    """Makes one network over a tile of n = 2**bits elements."""

    def __init__(self, seed: int) -> None:
        self.r = random.Random(seed)
        r = self.r
        self.bits = r.choice([4, 5, 6, 7, 8, 9, 10, 11])
        self.n = 2**self.bits
        self.dtype = r.choice(DTYPES)
        self.count, self.depth = 0, 1
        self.body: list[str] = []
        self.kept: list[str] = []  # values that stay alive to the end
        self.outs: list[Array] = []
        self.paired = False  # a second tile w exists
        self.line(f"v = ct.load(a, (ct.bid(0),), ({self.n},))")
        self.line(f"lane = ct.arange({self.n}, dtype=ct.int32)")
        self.stages(r.randrange(3, 15))
        self.finish()
        grid = (r.choice([1, 1, 2]), 1)
        arrays = [Array("a", self.dtype, (self.n * 2,))]
        arrays += [Array(o.name, o.dtype, (self.n * grid[0],), "out") for o in self.outs]
        header = f"def kernel({', '.join(a.name for a in arrays)}, s):"
        self.program = Program(
            seed,
            "\n".join([header, *self.body]) + "\n",
            arrays,
            [("s", "int32", r.randrange(4))],
            grid=grid,
            limit=SECONDS,
        )

    def line(self, text: str) -> None:
        self.body.append("    " * self.depth + text)

    def new(self) -> str:
        self.count += 1
        return f"v{self.count}"

    def stages(self, n: int) -> None:
        """n stages of one kind or of many."""
        r = self.r
        kinds = [
            "butterfly",
            "butterfly",
            "sort",
            "shuffle",
            "turn",
            "moved",
            "twice",
            "lanes",
            "pair",
        ]
        some = [r.choice(["butterfly", "sort", "pair"])] if r.random() < 0.4 else kinds
        for k in range(n):
            getattr(self, r.choice(some))(k % self.bits)
            if r.random() < 0.25:
                self.beside()

    # -- stages: each makes a new v of v -------------------------------------------------------

    def halves(self, bit: int, tile: str = "v") -> tuple[str, str, str]:
        """The elements whose index has this bit clear, those where it is set, and their shape."""
        high, low = 2 ** (self.bits - 1 - bit), 2**bit
        a, b, w = self.new(), self.new(), self.new()
        shape = f"({high}, 1, {low})"
        self.line(f"{w} = {tile}.reshape(({high}, 2, {low}))")
        self.line(f"{a} = ct.extract({w}, (0, 0, 0), {shape})")
        self.line(f"{b} = ct.extract({w}, (0, 1, 0), {shape})")
        return a, b, shape

    def butterfly(self, bit: int) -> None:
        a, b, shape = self.halves(bit)
        if self.r.random() < 0.3:
            self.line(f"{b} = {b} + {self.r.randrange(4)}")
        pair = self.r.choice([f"{a} + {b}, {a} - {b}", f"{a} - {b}, {b}", f"{b}, {a} + {b}"])
        self.line(f"v = ct.cat(({pair}), 1).reshape(({self.n},))")

    def sort(self, bit: int) -> None:
        """Compares and exchanges; the direction hangs on another bit of the index."""
        a, b, shape = self.halves(bit)
        up, mask = self.new(), 2 ** self.r.randrange(self.bits)
        whole = (2 ** (self.bits - 1 - bit), 2, 2**bit)
        self.line(f"{up} = ct.extract((lane & {mask}).reshape({whole}), (0, 0, 0), {shape}) == 0")
        self.line(f"{a}, {b} = ct.minimum({a}, {b}), ct.maximum({a}, {b})")
        pair = f"ct.where({up}, {a}, {b}), ct.where({up}, {b}, {a})"
        self.line(f"v = ct.cat(({pair}), 1).reshape(({self.n},))")

    def shuffle(self, bit: int) -> None:
        """A transpose of the index bits."""
        rows = 2 ** self.r.randrange(1, self.bits)
        text = f"ct.transpose(v.reshape(({rows}, {self.n // rows}))).reshape(({self.n},))"
        self.line(f"v = {text}" if self.r.random() < 0.5 else f"v = v + {text}")

    def turn(self, bit: int) -> None:
        """The two halves change places, or quarters do."""
        parts = self.r.choice([2, 4]) if self.bits > 4 else 2
        names = [f"ct.extract(v, ({k},), ({self.n // parts},))" for k in range(parts)]
        self.r.shuffle(names)
        text = f"ct.cat(({names[0]}, {names[1]}), 0)"
        if parts == 4:
            text = f"ct.cat(({text}, ct.cat(({names[2]}, {names[3]}), 0)), 0)"
        self.line(f"v = {text}" if self.r.random() < 0.5 else f"v = v - {text}")

    def pair(self, bit: int) -> None:
        """A butterfly of v and a second tile: each of both is used twice for each, as in an FFT."""
        if not self.paired:
            self.line("w = v + 1")
            self.paired = True
        a, b, _ = self.halves(bit)
        c, d, _ = self.halves(bit, "w")
        scale = self.r.randrange(2, 5)
        self.line(f"{d}, {b} = {b} * {scale} - {d}, {d} * {scale} + {b}")
        self.line(f"v = ct.cat(({a} + {b}, {a} - {b}), 1).reshape(({self.n},))")
        self.line(f"w = ct.cat(({c} + {d}, {c} - {d}), 1).reshape(({self.n},))")

    def moved(self, bit: int) -> None:
        """A permutation of three groups of index bits."""
        r = self.r
        high = r.randrange(1, self.bits - 1)
        middle = r.randrange(1, self.bits - high)
        shape = (2**high, 2**middle, 2 ** (self.bits - high - middle))
        axes = r.choice([(2, 1, 0), (1, 0, 2), (0, 2, 1), (1, 2, 0), (2, 0, 1)])
        self.line(f"v = ct.permute(v.reshape({shape}), {axes}).reshape(({self.n},))")

    def twice(self, bit: int) -> None:
        """A value used more than once, and once more behind another one."""
        w = self.new()
        self.line(f"{w} = v + ct.where(lane < {self.r.randrange(self.n)}, v, lane.astype(v.dtype))")
        self.line(f"v = ct.maximum({w}, v) - ct.minimum({w}, v)")

    def lanes(self, bit: int) -> None:
        """Something by lane, and a running sum."""
        self.line(f"v = v + (lane & {2**bit}).astype(v.dtype)")
        if self.r.random() < 0.3:
            self.line("v = ct.cumsum(v, 0)")

    # -- beside the stages ---------------------------------------------------------------------

    def beside(self) -> None:
        r = self.r
        kind = r.choice(["keep", "keep", "dead", "loop", "if", "memory", "sum"])
        if kind == "keep":
            name = self.new()
            self.line(f"{name} = v + {r.randrange(4)}")
            self.kept.append(name)
        elif kind == "dead":
            f = r.choice(["argmax", "argmin", "sum", "max", "cumsum"])
            self.line(f"{self.new()} = ct.{f}(v, 0)  # not used")
        elif kind == "sum" and self.dtype != "float32":
            rows = 2 ** r.randrange(1, self.bits)
            shape = f"({rows}, {self.n // rows})"
            total = f"ct.{r.choice(['sum', 'max', 'min'])}(v.reshape({shape}), 1, keepdims=True)"
            self.line(f"v = (v.reshape({shape}) + {total}).reshape(({self.n},))")
        elif kind == "memory" and len(self.outs) < 3:
            out = self.output()
            self.line(f"ct.store({out}, (ct.bid(0),), v)")
            self.line(f"v = ct.load({out}, (ct.bid(0),), ({self.n},))")
        elif self.depth < 3:
            self.line("for i in range(s):" if kind == "loop" else f"if s > {r.randrange(3)}:")
            self.depth += 1
            for _ in range(r.choice([1, 2])):
                getattr(self, r.choice(["butterfly", "turn", "shuffle"]))(r.randrange(self.bits))
            self.depth -= 1

    def output(self) -> str:
        self.outs.append(Array(f"o{len(self.outs)}", self.dtype, ()))
        return self.outs[-1].name

    def finish(self) -> None:
        self.line(f"ct.store({self.output()}, (ct.bid(0),), v)")
        if self.paired:
            self.line(f"ct.store({self.output()}, (ct.bid(0),), w)")
        if self.kept:
            self.line(f"ct.store({self.output()}, (ct.bid(0),), {' - '.join(self.kept)})")


def generate(seed: int) -> Program:
    return Network(seed).program
