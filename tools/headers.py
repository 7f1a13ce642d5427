# SPDX-License-Identifier: Apache-2.0
"""Every public header compiles alone and beside every other, as C17 and as C++17; every internal header compiles alone,
and all headers of the core, public and internal, together; at least half of every public header is prose. Exits with 1
and says what is wrong where that is not so.
"""

from __future__ import annotations

import itertools
import os
import pathlib
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

ROOT = pathlib.Path(__file__).resolve().parent.parent
PUBLIC = sorted(f"tessera/{p.name}" for p in ROOT.glob("include/tessera/*.h"))
INTERNAL = sorted(str(p.relative_to(ROOT / "src")) for p in ROOT.glob("src/**/*.h"))
STRICT = ["-Wall", "-Wextra", "-Wpedantic", "-Werror", "-Iinclude"]
DIALECTS = {
    "C17": ["cc", "-x", "c", "-std=c17", *STRICT],
    "C++17": ["c++", "-x", "c++", "-std=c++17", *STRICT],
    "the core": ["cc", "-x", "c", "-std=gnu17", "-D_GNU_SOURCE", "-Wall", "-Werror", "-Wno-unused", "-Iinclude",
                 "-Isrc"],
}  # fmt: skip


def compiled(case: tuple[str, tuple[str, ...]]) -> str:
    """What the compiler says of these headers in this order; nothing when they are right."""
    dialect, headers = case
    source = "".join(f'#include "{h}"\n' for h in headers)
    command = [*DIALECTS[dialect], "-fsyntax-only", "-"]
    done = subprocess.run(
        command, input=source, cwd=ROOT, capture_output=True, text=True, check=False
    )
    return f"{' + '.join(headers)} as {dialect}:\n{done.stderr}" if done.returncode else ""


PROSE = 50  # per cent of the lines of a public header that must be comments, those behind code counted half


def prose(text: str) -> float:
    """Per cent of the lines that are comments; blank lines and rows of tables, X(...), do not count."""
    comments = code = 0.0
    within = False
    for line in text.splitlines():
        words = line.strip()
        if not words or words.startswith("X("):
            continue
        if within or words.startswith("/*"):
            comments += 1
            within = "*/" not in words
        elif re.search(r"/\*", words):
            comments += 0.5
            code += 0.5
            within = "*/" not in words
        else:
            code += 1
    return 100 * comments / max(1.0, comments + code)


def main() -> int:
    sets = [(h,) for h in PUBLIC] + list(itertools.permutations(PUBLIC, 2))
    cases = [(d, s) for d in ("C17", "C++17") for s in sets]
    cases += [("the core", (h,)) for h in INTERNAL]
    cases.append(("the core", tuple(INTERNAL + PUBLIC)))
    cases.append(("the core", tuple(PUBLIC + INTERNAL[::-1])))
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        wrong = [text for text in pool.map(compiled, cases) if text]
    for text in wrong[:5]:
        print(text)
    shares = {name: prose((ROOT / "include" / name).read_text()) for name in PUBLIC}
    wrong += [f"{n}: {s:.0f} % prose, less than {PROSE}" for n, s in shares.items() if s < PROSE]
    print("  headers: " + ", ".join(f"{n.removeprefix('tessera/')} {s:.0f} %" for n, s in shares.items()) + " prose")
    print(f"  headers: {len(cases) - len(wrong)} of {len(cases)} sets of headers compile")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
