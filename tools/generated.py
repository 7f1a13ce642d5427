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
    tool, is_stale = f"tools/{pathlib.Path(sys.argv[0]).name}", False
    for path, text in texts.items():
        is_fresh = path.exists() and path.read_text(encoding="utf-8") == text
        is_stale |= not is_fresh
        name = path.relative_to(ROOT) if path.is_relative_to(ROOT) else path
        if "--check" in sys.argv:
            print(f"{name} is fresh" if is_fresh else f"{name} is stale: run {tool}")
        elif not is_fresh:
            path.write_text(text, encoding="utf-8")
            print(f"{name} is written")
    return int(is_stale and "--check" in sys.argv)
