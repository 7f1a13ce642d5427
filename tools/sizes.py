# SPDX-License-Identifier: Apache-2.0
"""Figures of the house style: file and function sizes.

With --check the exit status tells whether a file passes 1,200 lines, or a function 100 lines (unless it is marked
/* dispatch */).
"""

from __future__ import annotations

import pathlib
import re
import statistics
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
FUNCTION = re.compile(
    r"^(?!typedef|struct|enum|union|#|static const|extern)[A-Za-z_][^;=]*\)\n\{\n", re.MULTILINE
)


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


def main() -> int:
    complaints, lengths, lines = [], [], 0
    for path in sorted([*ROOT.glob("src/**/*.[ch]"), *ROOT.glob("ext/**/*.[ch]")]):
        text = path.read_text()
        n = text.count("\n")
        lines += n
        if n > 1200:
            complaints.append(f"{path.relative_to(ROOT)}: {n} lines, more than 1,200")
        for name, length, dispatch in functions(text):
            lengths.append(length)
            if length > 100 and not dispatch:
                complaints.append(f"{path.relative_to(ROOT)}: {length} lines in {name.strip()}")
    lengths.sort()
    p95 = lengths[int(len(lengths) * 0.95)] if lengths else 0
    print(
        f"  {lines} lines of C, {len(lengths)} functions: median {statistics.median(lengths or [0]):.0f}, "
        f"p95 {p95}, longest {lengths[-1] if lengths else 0}"
    )
    for complaint in complaints:
        print(f"  {complaint}")
    return 1 if complaints and "--check" in sys.argv else 0


if __name__ == "__main__":
    sys.exit(main())
