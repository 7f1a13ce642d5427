# SPDX-License-Identifier: Apache-2.0
"""Random record dtypes of NumPy and kernels of threads over arrays of them, as Python text. What they compute says
NumPy, which runs the same text with fields as items (``x[i]["f0"]``). Numbers stay small, so that every dtype holds
them."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from typing import Any

import numpy as np

NUMBERS = "i1 u1 i2 u2 i4 u4 i8 u8 f2 f4 f8 ? c8 c16".split()
WORDS = ["", "a", "bcd", "xyz", "longer than most"]
Path = tuple[str, Any]  # text behind a record, and the dtype that it reaches


class Generator:
    """One dtype, a kernel ``k(x, y, out)`` over arrays of it, and data."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.dtype = self.record(0)
        self.paths = list(self.reached("", self.dtype))
        self.lines: list[str] = []
        self.text = self.kernel()

    # ---- dtypes

    def field(self, depth: int) -> Any:
        kind = self.random.random()
        if kind < 0.2 and depth < 2:
            return self.record(depth + 1)
        if kind < 0.3:
            return self.random.choice("SU") + str(self.random.randint(1, 5))
        return self.random.choice(NUMBERS)

    def record(self, depth: int) -> np.dtype:
        fields: list[Any] = []
        for i in range(self.random.randint(1, 5 - depth)):
            of = self.field(depth)
            if self.random.random() < 0.25:
                of = of, tuple(self.random.randint(1, 3) for _ in range(self.random.randint(1, 2)))
            fields.append((f"f{i}", of))
        made = np.dtype([(n, *of) if isinstance(of, tuple) else (n, of) for n, of in fields],
                        align=self.random.random() < 0.5)  # fmt: skip
        return self.spread(made) if self.random.random() < 0.2 else made

    def spread(self, dtype: np.dtype) -> np.dtype:
        """The same fields in another order, with holes between them."""
        names, offsets, at = list(dtype.names or ()), {}, 0
        for name in self.random.sample(names, len(names)):
            at += self.random.randint(0, 3)
            offsets[name] = at
            at += dtype[name].itemsize
        return np.dtype({"names": names, "formats": [dtype[n] for n in names],
                         "offsets": [offsets[n] for n in names], "itemsize": at + 1})  # fmt: skip

    def reached(self, text: str, dtype: np.dtype) -> Iterator[Path]:
        """What can be named in a record, the record itself too; arrays whole and by element."""
        yield text, dtype
        if dtype.subdtype is not None:
            base, shape = dtype.subdtype
            index = ", ".join(self.random.choice([str(self.random.randrange(n)), f"i % {n}"]) for n in shape)
            yield from self.reached(f"{text}[{index}]", base)
        for name in dtype.names or ():
            yield from self.reached(text + (f".{name}" if self.random.random() < 0.5 else f'["{name}"]'), dtype[name])

    # ---- statements

    def some(self, wanted: Any) -> Path | None:
        found = [path for path in self.paths if wanted(path[1])]
        return self.random.choice(found) if found else None

    def number(self) -> str:
        path = self.some(lambda d: d.kind in "iufb")
        where = self.random.choice(["x[i]", "y[i]", "r"])
        return f"int({where}{path[0]})" if path else "3"

    def value(self) -> str:
        return f"({self.number()} * {self.random.randint(1, 3)} + {self.number()}) % 100"

    def store_number(self) -> Iterator[str]:
        path = self.some(lambda d: d.kind in "iufb")
        if path:
            yield f"{self.random.choice(['x[i]', 's[1]', 'r'])}{path[0]} = {self.value()}"

    def store_complex(self) -> Iterator[str]:
        path, other = self.some(lambda d: d.kind == "c"), self.some(lambda d: d.kind == "c")
        if path and other:
            yield f"x[i]{path[0]} = y[i]{other[0]} + {self.random.randint(0, 3)}j"
            yield f"out[i] += s[1]{path[0]}.imag + y[i]{other[0]}.real"

    def add_number(self) -> Iterator[str]:
        path = self.some(lambda d: d.kind == "f")
        if path:
            yield f"x[i]{path[0]} += {self.random.randint(1, 3)}"

    def copy_record(self) -> Iterator[str]:
        path = self.some(lambda d: d.names)
        if path:
            yield self.random.choice([f"x[i]{path[0]} = y[i]{path[0]}" if path[0] else "x[i] = y[i]", "s[0] = y[i]",
                                      "x[i] = s[1]"])  # fmt: skip

    def copy_array(self) -> Iterator[str]:
        path = self.some(lambda d: d.subdtype and d.subdtype[0].kind in "iufbc")
        if path:
            whole = ", ".join(":" * len(path[1].shape))
            yield self.random.choice([
                f"x[i]{path[0]}[{whole}] = y[i]{path[0]}", f"x[i]{path[0]}[{whole}] = {self.random.randint(0, 99)}",
                f"x[i]{path[0]}[::-1] = y[i]{path[0]}[{whole}]",
            ])  # fmt: skip

    def copy_text(self) -> Iterator[str]:
        path, other = self.some(lambda d: d.kind in "SU"), self.some(lambda d: d.kind in "SU")
        if path and other:
            b, word = "b" if path[1].kind == "S" else "", self.random.choice(WORDS)
            yield f"x[i]{path[0]} = {b}{word!r}"
            if path[1].kind == other[1].kind:
                yield f"x[i]{path[0]} = y[i]{other[0]}"
                yield f"out[i] += (x[i]{path[0]} {self.random.choice(['==', '!=', '<', '>='])} y[i]{other[0]})"
            yield f"out[i] += len(x[i]{path[0]}) + 10 * (y[i]{path[0]} == {b}{word!r})"

    def branch(self) -> Iterator[str]:
        yield f"if {self.number()} > {self.random.randint(0, 60)}:"
        yield from (f"    {line}" for line in self.statement(1))
        yield f"    out[i] += {self.value()}"

    def loop(self) -> Iterator[str]:
        path = self.some(lambda d: d.subdtype and len(d.shape) == 1 and d.base.kind in "iufb")
        if path:
            yield f"for j in range({path[1].shape[0]}):"
            yield f"    out[i] += int(y[i]{path[0]}[j])"
            yield f"    x[i]{path[0]}[j] = {self.value()}"

    def statement(self, depth: int = 0) -> Iterator[str]:
        kinds = [self.store_number, self.add_number, self.copy_record, self.copy_array, self.copy_text, self.loop,
                 self.store_complex]
        yield from self.random.choice(kinds if depth else [*kinds, self.branch])()

    def kernel(self) -> str:
        lines = ["r = x[i]", "s = cuda.local.array(2, T)", "s[0] = y[i]", "s[1] = r"]
        for _ in range(self.random.randint(2, 6)):
            lines += self.statement()
        lines.append(f"out[i] += {self.value()}")
        body = "".join(f"        {line}\n" for line in lines)
        return f"def k(x, y, out):\n    i = cuda.grid(1)\n    if i < x.shape[0]:\n{body}"

    # ---- data

    def fill(self, array: np.ndarray, rng: np.random.Generator) -> None:
        if array.dtype.names:
            for name in array.dtype.names:
                self.fill(array[name], rng)
        elif array.dtype.kind in "SU":
            array[...] = np.array(WORDS, array.dtype)[rng.integers(0, len(WORDS), array.shape)]
        else:
            array[...] = rng.integers(0, 100, array.shape)
        if array.dtype.kind == "c":
            array.imag = rng.integers(0, 100, array.shape)

    def data(self, n: int, seed: int) -> np.ndarray:
        """Elements one after another, every other one, or at odd bytes."""
        rng, size = np.random.default_rng(seed), self.dtype.itemsize
        memory = rng.integers(0, 256, 2 * n * size + 1, np.uint8)
        step = self.random.choice([1, 2])
        array = np.ndarray(n, self.dtype, memory, self.random.choice([0, 0, 1]), step * size)
        array[...] = np.zeros((), self.dtype)
        self.fill(array, rng)
        return array


def oracle(text: str, dtype: np.dtype, args: list[np.ndarray], threads: int) -> None:
    """Runs the text by NumPy, one thread after the other."""

    class Local:
        array = staticmethod(lambda n, of: np.zeros(n, of))

    class Cuda:
        local, thread = Local, 0

        @classmethod
        def grid(cls, _: int) -> int:
            return cls.thread

    scope: dict[str, Any] = {"cuda": Cuda, "T": dtype}
    exec(re.sub(r"\.(f\d+)", r'["\1"]', text), scope)
    for Cuda.thread in range(threads):
        scope["k"](*args)
