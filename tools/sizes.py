# SPDX-License-Identifier: Apache-2.0
"""Figures of the house style: file and function sizes, line width, asserts.

With --check the exit status tells whether a file passes 1,200 lines, a function 100 lines (unless it is marked
/* dispatch */), a line 120 columns (docs/style.md 4), or a room has too few asserts.
"""

from __future__ import annotations

import pathlib
import re
import statistics
import sys
from collections.abc import Iterator

ROOT = pathlib.Path(__file__).resolve().parent.parent
FUNCTION = re.compile(
    r"^(?!typedef|struct|enum|union|#|static const|extern)[A-Za-z_][^;=]*\)\n\{\n", re.MULTILINE
)
ASSERT = re.compile(r"^(?!#).*\b(?!_Static_)\w*_assert\(", re.MULTILINE)

WIDTH = 120  # of C and Python, comments for tools at the end of a line not counted
C = ["src", "ext", "include", "bench", "tests", "examples"]
PYTHON = ["python", "bench", "tests", "tools"]
# Tables that are aligned by hand are exempt: .def files, and what stands between fences for the formatters.
FENCE = re.compile(r"\b(?:fmt:|clang-format) off\b")
UNFENCE = re.compile(r"\b(?:fmt:|clang-format) on\b")
PRAGMA = re.compile(r"  # (?:fmt: skip|noqa|type: ignore).*")
# Room of src/: its least number of asserts in 1,000 lines; 0 is only printed.
ASSERTS = {"ir": 5, "gpu/layout": 5, "gpu/lower": 5, "gpu/schedule": 5}


def functions(text: str) -> list[tuple[str, int, bool]]:
    """(first line, lines, marked as dispatch) of each function of a C file."""
    found = []
    for match in FUNCTION.finditer(text):
        end = text.find("\n}\n", match.end() - 1)
        body = text[match.start() : end]
        found.append(
            (match.group().splitlines()[0], body.count("\n") + 2, "/* dispatch */" in body)
        )
    return found


def sources() -> list[pathlib.Path]:
    """Every C and Python file; generated stubs (.pyi) are not read as sources."""
    c = [p for folder in C for p in ROOT.glob(f"{folder}/**/*.[ch]")]
    return sorted(c + [p for folder in PYTHON for p in ROOT.glob(f"{folder}/**/*.py")])


def wide(texts: dict[pathlib.Path, str]) -> Iterator[str]:
    """Lines past the width."""
    for path, text in texts.items():
        fenced = False
        for n, line in enumerate(text.splitlines(), 1):
            fenced = (fenced or bool(FENCE.search(line))) and not UNFENCE.search(line)
            columns = len(PRAGMA.sub("", line))
            if columns > WIDTH and not fenced:
                yield f"{path.relative_to(ROOT)}:{n}: {columns} columns, more than {WIDTH}"


def asserts(texts: dict[pathlib.Path, str]) -> Iterator[str]:
    """Rooms with fewer asserts than ASSERTS says."""
    figures = []
    for room, least in ASSERTS.items():
        room_texts = [t for p, t in texts.items() if p.is_relative_to(ROOT / "src" / room)]
        n = sum(len(ASSERT.findall(t)) for t in room_texts)
        rate = 1000 * n / max(1, sum(t.count("\n") for t in room_texts))
        figures.append(f"{room} {rate:.1f}")
        if rate < least:
            yield f"src/{room}: {rate:.1f} asserts in 1,000 lines, fewer than {least}"
    print(f"  asserts in 1,000 lines: {', '.join(figures)}")


def sizes(texts: dict[pathlib.Path, str]) -> Iterator[str]:
    """Files and functions that are too long."""
    lengths, lines = [], 0
    for path, text in texts.items():
        name = path.relative_to(ROOT)
        if path.suffix not in (".c", ".h") or name.parts[0] not in ("src", "ext"):
            continue
        n = text.count("\n")
        lines += n
        if n > 1200:
            yield f"{name}: {n} lines, more than 1,200"
        for function, length, dispatch in functions(text):
            lengths.append(length)
            if length > 100 and not dispatch:
                yield f"{name}: {length} lines in {function.strip()}"
    lengths.sort()
    p95 = lengths[int(len(lengths) * 0.95)] if lengths else 0
    print(
        f"  {lines} lines of C, {len(lengths)} functions: median {statistics.median(lengths or [0]):.0f}, "
        f"p95 {p95}, longest {lengths[-1] if lengths else 0}"
    )


def main() -> int:
    texts = {path: path.read_text() for path in sources()}
    complaints = [*sizes(texts), *asserts(texts), *wide(texts)]
    for complaint in complaints:
        print(f"  {complaint}")
    return 1 if complaints and "--check" in sys.argv else 0


if __name__ == "__main__":
    sys.exit(main())
