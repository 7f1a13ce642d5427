# SPDX-License-Identifier: Apache-2.0
"""The page of the IR's operations, made of include/tessera/op.def; a part of reference.py."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from typing import NamedTuple

import generated

OPS = generated.ROOT / "include/tessera/op.def"
EXAMPLES = generated.ROOT / "tests/golden/ir/every_op.tsir"  # tests/ir/every_op.c reads and verifies it
TYPES = {"F": "f16, bf16, f32 or f64", "I": "i1 to i64", "A": "any"}
FORMS = {
    "UN": "x ({}) → as x",
    "BIN": "x, y ({}) → as x",
    "TER": "x, y, z ({}) → as x",
    "CMP": "x, y ({}) → i1 of their shape",
    "SELECT": "i1, x, y ({}) → as x",
}
LEVELS = {"B": "both", "T": "tiles", "S": "threads"}
PROPERTIES = {
    "PURE": "pure",
    "COMM": "operands may change places",
    "READ": "reads memory",
    "WRITE": "writes memory",
    "SIDE": "has other effects",
    "TERM": "ends a region",
    "REGION": "has a region",
    "ELEM": "by element",
    "MOVES": "complex numbers too",
}
# What has no line of its own stands in the line of another.
WRITTEN_IN = {"param": "func", "arg": "loop", "res": "call", "end": "if"}
HEAD = """\
# Operations of the IR

Made by `tools/reference.py` from `include/tessera/op.def`. Examples are lines of `tests/golden/ir/every_op.tsir`,
which a test reads and verifies. How the text is written, its words and its types: [the text of the
IR](../guide/ir.md). Where numbers are taken, tiles of them are, too, of one shape, unless the row says otherwise; [x]
may be left out; x.. is any number of them. What elementwise operations give at their limits (overflow, shifts beyond
the width, NaN) is the same on every target."""


class Row(NamedTuple):
    heading: str  # of the group that begins here
    name: str
    level: str
    rule: str
    flags: str
    takes: str
    doc: str


def rows() -> Iterator[Row]:
    """The rows of op.def in its order."""
    texts = r'((?:"[^"]*"\s*)+)'
    row = rf'^TS_OP\((\w+), +(\w), +\w+, +\w+, +(\w+), +\w+, +([\w|]+), +(?:"[^"]*"|0),\s*{texts},\s*{texts}\)$'
    heading = ""
    for m in re.finditer(rf"^/\* -- (.*?) -+ \*/$|{row}", OPS.read_text(), re.MULTILINE):
        if m[1]:
            heading = re.sub(r" \(.*\)$", "", m[1])
            continue
        takes, doc = ("".join(re.findall('"([^"]*)"', text)) for text in m.group(6, 7))
        yield Row(heading, *m.group(2, 3, 4, 5), takes, doc)
        heading = ""


def example(name: str, lines: list[str]) -> str:
    """The first line of every_op.tsir that has the operation."""
    start = rf"\s*(?:%[%\w, ]+ = |}} )?{WRITTEN_IN.get(name, name)}\b"
    found = next((line.strip() for line in lines if re.match(start, line)), "")
    if not found and name != "none":
        sys.exit(f"{EXAMPLES.relative_to(generated.ROOT)} has no line of {name}: add one")
    return f"`{found}`" if found else ""


def form(row: Row) -> str:
    """What it takes and gives: as its row says, or by its rule."""
    if row.takes or row.rule == "OWN":
        return row.takes.replace("->", "→")
    kind, types = ("SELECT", "A") if row.rule == "SELECT" else (row.rule[:-1], row.rule[-1])
    return FORMS[kind].format(f"{'' if kind == 'UN' else 'one type: '}{TYPES[types]}")


def page() -> Iterator[str]:
    """A table for each group of op.def."""
    lines = EXAMPLES.read_text().splitlines()
    yield HEAD
    for row in rows():
        if row.heading:
            yield f"\n## {row.heading[0].upper()}{row.heading[1:]}\n"
            yield "| operation | takes → gives | what it does | level | properties | example |"
            yield "|---" * 6 + "|"
        words = ", ".join(PROPERTIES[flag] for flag in row.flags.split("|") if flag in PROPERTIES)
        cells = [f"`{row.name}`", form(row), row.doc, LEVELS[row.level], words, example(row.name, lines)]
        yield f"| {' | '.join(cells)} |"
    yield ""
