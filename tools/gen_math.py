#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes what follows from the rows of src/table/math.def; --check proves it fresh.

python tools/gen_math.py            python/tessera/tile/_ops_fn.py and the table of docs/reference/math.md
python tools/gen_math.py --check
"""

from __future__ import annotations

import pathlib
import re
import sys
from collections.abc import Iterator
from typing import NamedTuple

ROOT = pathlib.Path(__file__).resolve().parent.parent
TABLE = ROOT / "src/table/math.def"
STUBS = ROOT / "python/tessera/tile/_ops_fn.py"
PAGE = ROOT / "docs/reference/math.md"
BEGIN, END = "<!-- made by tools/gen_math.py from src/table/math.def -->", "<!-- end -->"
ARGUMENTS = {"X": "x", "XB": "x", "XX": "x y", "XN": "x n"}


class Row(NamedTuple):
    name: str
    kind: str
    f32: str
    f64: str
    doc: str


def rows() -> list[Row]:
    """The functions of the table in its order."""
    word = r"\s*([\w.]+)\s*,"
    found = re.findall(
        rf'^TS_MATH\({word}{word}\s*\w+\s*,{word}{word}[^"]*((?:"[^"]*"\s*)+)\)$',
        TABLE.read_text(),
        re.MULTILINE,
    )
    return [Row(*row[:4], "".join(re.findall('"([^"]*)"', row[4]))) for row in found]


def stubs() -> Iterator[str]:
    table = sorted(rows())
    yield '# SPDX-License-Identifier: Apache-2.0\n"""Math functions, by tools/gen_math.py from src/table/math.def. Do not edit."""\n'
    yield "from __future__ import annotations\n\nfrom typing import Any\n\nfrom ._op import op\n"
    yield "__all__ = ["
    yield from (f'    "{row.name}",' for row in table)
    yield "]\n"
    for row in table:
        names = "".join(f"{word}: Any, " for word in ARGUMENTS[row.kind].split())
        lines = wrapped(row.doc)
        text = lines[0] if len(lines) == 1 else "\n    ".join([*lines, ""])
        yield f'\n@op\ndef {row.name}({names}/) -> Any:\n    """{text}"""\n'


def wrapped(text: str) -> list[str]:
    """Lines of at most 90 characters."""
    lines = [""]
    for word in text.split():
        if lines[-1] and len(lines[-1]) + len(word) >= 90:
            lines.append("")
        lines[-1] += f" {word}" if lines[-1] else word
    return lines


def table() -> Iterator[str]:
    def bound(text: str) -> str:
        return "exact" if float(text) == 0 else text

    yield from ("| function | f32 bound | f64 bound | meaning |", "|---|---|---|---|")
    for row in sorted(rows()):
        arguments = ", ".join(ARGUMENTS[row.kind].split())
        yield f"| `{row.name}({arguments})` | {bound(row.f32)} | {bound(row.f64)} | {row.doc.replace('``', '`')} |"


def page() -> str:
    text = PAGE.read_text()
    head, rest = text.split(BEGIN, 1)
    return "\n".join([head + BEGIN, "", *table(), "", END + rest.split(END, 1)[1]])


def main() -> int:
    stale = False
    for path, text in ((STUBS, "\n".join(stubs())), (PAGE, page())):
        if "--check" not in sys.argv:
            path.write_text(text)
            continue
        fresh = path.exists() and path.read_text() == text
        print(
            f"{path.relative_to(ROOT)} is " + ("fresh" if fresh else "stale: run tools/gen_math.py")
        )
        stale |= not fresh
    return stale


if __name__ == "__main__":
    sys.exit(main())
