# SPDX-License-Identifier: Apache-2.0
"""Mutated IR text through the reader, the verifier and the code generators of all targets.

There is no right result to compare with: the text compiles or is refused by an exception of the usual
kinds. What is looked for are crashes, reports of a sanitizer, and compiles that do not end.
"""

from __future__ import annotations

import functools
import pathlib
import random
import time

from .program import Outcome

GOLDEN = pathlib.Path(__file__).resolve().parents[2] / "golden"
TARGETS = [1, 1, 80, 90, 90, 100, 120, 0, 7, -1]  # numbers of compile_text, some of them wrong
WORDS = [
    "0", "1", "-1", "2147483648", "4294967295", "9223372036854775807", "18446744073709551616",
    "9" * 30, "i1", "i8", "i64", "f16", "bf16", "f64", "f8E4M3FN", "tile<4xf32>",
    "tile<16777216xf32>", "tile<1x1x1x1x1x1x1x1x1xi8>", "tile<0xf32>", "tile<3xi32>",
    "tile<-1xf32>", "ptr<f32>", "ptr<ptr<f32>>", "token", "?", "{", "}", "(", ")", "[", "]", "nan",
    "inf", "0x7fc00000", 'dense "00"', '"', "%1", "%2", "@k", "axis=7", "axis=-1", "n=4294967295",
    'loc("a":1:1-1:1)', "return", "yield", "continue", "break", "unsigned", "ftz", "//", "\0", "\xff",
]  # fmt: skip
GROWN = [
    ("{", "{", [2, 1000, 20000]),
    ("ptr<", "ptr<", [2, 1000, 50000]),
    ("@k", "@k", [200, 100000]),
    ("return", "%q = if %2 {\n", [3, 3000]),
    ("%1", "%9", [1000]),
]
USUAL = (
    TypeError,
    ValueError,
    OverflowError,
    RuntimeError,
    NotImplementedError,
    MemoryError,
    LookupError,
)


@functools.cache
def seeds() -> list[str]:
    return [path.read_text() for path in sorted(GOLDEN.rglob("*.tsir"))]


def mutated(r: random.Random, text: str) -> str:
    """One change: words put in, taken out, exchanged, lines repeated, a byte, or much of one thing."""
    kind, at = r.randrange(8), r.randrange(len(text) + 1)
    if kind == 0:
        return text[:at] + r.choice(WORDS) + text[at:]
    if kind == 1:
        return text[:at] + text[at + r.randrange(30) :]
    if kind < 5:
        words = text.split(" ")
        words[r.randrange(len(words))] = r.choice(WORDS + words if r.random() < 0.8 else words)
        return " ".join(words)
    if kind == 5:
        lines = text.split("\n")
        lines.insert(r.randrange(len(lines)), r.choice(lines))
        return "\n".join(lines)
    if kind == 6 and r.random() < 0.1:
        old, new, times = r.choice(GROWN)
        return text.replace(old, new * r.choice(times), 1)
    return text[:at] + chr(r.randrange(256)) + text[at + 1 :]


class IrText:
    """One mutated text for one target."""

    def __init__(self, seed: int) -> None:
        r = random.Random(seed)
        self.text = r.choice(seeds())
        for _ in range(r.choice([1, 1, 2, 4, 8])):
            self.text = mutated(r, self.text)
        self.target = r.choice(TARGETS)
        self.entry = [r.choice(["k", "x", "", "k" * 1000])] if r.random() < 0.2 else []

    def run(self, device: str) -> Outcome:
        """Compiles the text; `device` plays no part, nothing is run."""
        import tessera
        from tessera import _core

        start = time.process_time()
        try:
            _core.compile_text(self.text, self.target, *self.entry)
        except (*USUAL, tessera.TileError):
            pass
        return Outcome("passed", "", time.process_time() - start)

    def describe(self) -> str:
        return f"{self.text}\n# target {self.target}, entry {self.entry}"


def generate(seed: int) -> IrText:
    return IrText(seed)
