# SPDX-License-Identifier: Apache-2.0
"""What the tools that write files of this tree share: files are written, or with --check proved fresh."""

from __future__ import annotations

import pathlib
import sys
from collections.abc import Mapping

ROOT = pathlib.Path(__file__).resolve().parent.parent


def settle(texts: Mapping[pathlib.Path, str]) -> int:
    """Writes every file that does not hold its text, or with --check among the arguments says what is stale. The exit
    status: 1 where --check found something stale."""
    tool, n_stale = f"tools/{pathlib.Path(sys.argv[0]).name}", 0
    for path, text in texts.items():
        is_fresh = path.exists() and path.read_text(encoding="utf-8") == text
        n_stale += not is_fresh
        name = path.relative_to(ROOT) if path.is_relative_to(ROOT) else path
        if "--check" in sys.argv:
            print(end="" if is_fresh else f"  {name} is stale: run {tool}\n")
        elif not is_fresh:
            path.write_text(text, encoding="utf-8")
            print(f"{name} is written")
    if "--check" not in sys.argv:
        return 0
    print(f"  {tool}: {len(texts) - n_stale} of {len(texts)} files are fresh")
    return int(n_stale > 0)
