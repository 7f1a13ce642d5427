# SPDX-License-Identifier: Apache-2.0
"""Every public header compiles alone and beside every other, as C17 and as C++17; every internal header compiles alone,
and all headers of the core, public and internal, together. Exits with 1 and shows the compiler's words where that is
not so.
"""

from __future__ import annotations

import itertools
import os
import pathlib
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
    "the core": ["cc", "-x", "c", "-std=gnu17", "-D_GNU_SOURCE", "-Wall", "-Werror", "-Wno-unused", "-Iinclude", "-Isrc"],
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
    print(f"  headers: {len(cases) - len(wrong)} of {len(cases)} sets of headers compile")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
