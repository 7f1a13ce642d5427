# SPDX-License-Identifier: Apache-2.0
"""Random functions that call themselves and each other, for kernels and for Python, which is the oracle. Numbers stay
below 1,009, so that int64 and Python's int are the same."""

from __future__ import annotations

import random
from typing import Any


class Program:
    """The text of functions ``f(n, a, b)``, ``g`` and ``h``, or fewer, which end where n is 0 or less."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.pairs = self.random.random() < 0.3  # functions give two numbers
        self.names = self.random.choice(("f", "f", "fg", "fg", "fgh"))
        self.calls = 0
        self.text = "".join(self.function(name) for name in self.names)

    def number(self, names: tuple[str, ...]) -> str:
        one = self.random.choice((*names, str(self.random.randrange(9))))
        two = self.random.choice((*names, str(self.random.randrange(1, 9))))
        sign = self.random.choice("+-*")
        return self.random.choice((one, f"({one} {sign} {two}) % 1009", f"({one} + {two}) // 3"))

    def test(self, names: tuple[str, ...]) -> str:
        return f"{self.number(names)} % {self.random.randrange(2, 4)} == {self.random.randrange(2)}"

    def call(self, names: tuple[str, ...]) -> str:
        self.calls += 1
        name = self.random.choice(self.names)
        passed = "b" if self.random.random() < 0.4 else self.number(names)
        less = self.random.choice((1, 1, 2))
        text = f"{name}(n - {less}, {self.number(names)}, {passed})"
        return f"{text}[{self.random.randrange(2)}]" if self.pairs else text

    def result(self, names: tuple[str, ...]) -> str:
        return f"{self.number(names)}, {self.number(names)}" if self.pairs else self.number(names)

    def statement(self, names: tuple[str, ...], depth: int, loop: bool) -> list[str]:
        kind = self.random.random()
        if kind < 0.35 and self.calls < 3:
            return [f"c = {self.call(names)}", f"a = (a + c * {self.random.randrange(1, 4)}) % 1009"]
        if kind < 0.5 and depth:
            body, other = self.block(names, depth - 1, loop), self.block(names, depth - 1, loop)
            return [f"if {self.test(names)}:", *indented(body), "else:", *indented(other)]
        if kind < 0.65 and depth:
            head = self.random.choice(("for i in range(2):", f"for i in range({self.random.choice('ab')} % 3):"))
            return [head, *indented(self.block((*names, "i"), depth - 1, True))]
        if kind < 0.72:
            return [f"if {self.test(names)}:", f"    return {self.result(names)}"]
        if kind < 0.78 and loop:
            return [f"if {self.test(names)}:", f"    {self.random.choice(('break', 'continue'))}"]
        return [f"{self.random.choice('ab')} = {self.number(names)}"]

    def block(self, names: tuple[str, ...], depth: int, loop: bool) -> list[str]:
        count = self.random.randrange(1, 4)
        return [line for _ in range(count) for line in self.statement(names, depth, loop)]

    def function(self, name: str) -> str:
        self.calls, names = 0, ("n", "a", "b")
        body = ["if n <= 0:", f"    return {self.result(names)}", *self.block(names, 2, False)]
        if not self.calls:
            body.append(f"a = {self.call(names)}")
        last = self.result(names)
        if not self.pairs and self.random.random() < 0.4:
            last = f"({last} + {self.call(names)}) % 1009"
        return "\n".join((f"def {name}(n, a, b):", *indented([*body, f"return {last}"]), ""))

    def functions(self) -> dict[str, Any]:
        space: dict[str, Any] = {}
        exec(self.text, space)  # noqa: S102
        return space


def indented(lines: list[str]) -> list[str]:
    return ["    " + line for line in lines]
