# SPDX-License-Identifier: Apache-2.0
"""``python -m tessera cache``: the compiled kernels that are kept on disk, newest use first, and how to be rid of them.
``cutile-cache log`` is the same list under the peer's name."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from . import _cache, _core
from ._errors import did_you_mean

__all__ = ["main", "peer"]

USAGE = """usage: python -m tessera cache [list | clear]

  list    the compiled kernels on disk, those used last first (the default)
  clear   deletes them; kernels are compiled again when they are launched
"""
PEER_USAGE = """usage: cutile-cache log

  log     the compiled kernels on disk, those used last first
"""
TARGETS = {number: name for name, number in _core.TARGETS.items()}


class Entry(NamedTuple):
    path: Path
    kernel: str
    target: str
    code_bytes: int
    file_bytes: int
    used: float

    def __str__(self) -> str:
        used = time.strftime("%Y-%m-%d %H:%M", time.localtime(self.used))
        size = f"{self.code_bytes:,} bytes of code, {self.file_bytes:,} on disk"
        return f"{used}  {self.target:7}  {self.kernel}\n    {self.path.parent.name}{self.path.name}: {size}"


def _files(folder: Path) -> Iterator[Path]:
    for path in folder.glob("[0-9a-f][0-9a-f]/*"):
        if len(path.name) == 30 and set(path.name) <= set("0123456789abcdef"):
            yield path


def entries(folder: Path) -> list[Entry]:
    """What this build of the library can read, those used last first."""
    found = []
    for path in _files(folder):
        try:
            kernel, target, code_bytes = _core.cache_entry(_cache.read(path))
            status = path.stat()
        except (OSError, ValueError):  # of another version, another's, or gone meanwhile
            continue
        name = TARGETS.get(target, str(target)) if target else "source"  # what _core.cache_keep was given
        found.append(Entry(path, kernel, name, code_bytes, status.st_size, status.st_mtime))
    return sorted(found, key=lambda entry: -entry.used)


def _show(folder: Path) -> int:
    found = entries(folder)
    for entry in found:
        print(entry)
    print(f"{len(found)} kernels, {sum(e.file_bytes for e in found):,} bytes in {folder}")
    return 0


def _clear(folder: Path) -> int:
    n = 0
    for path in _files(folder):
        try:
            os.unlink(path)
            n += 1
        except OSError as error:
            print(f"tessera cache: {path} stays: {error.strerror}", file=sys.stderr)
    print(f"deleted {n} kernels in {folder}")
    return 0


def _run(name: str, usage: str, words: list[str], known: dict[str, object]) -> int:
    if words in (["-h"], ["--help"]):
        print(usage, end="")
        return 0
    if len(words) != 1 or words[0] not in known:
        hint = did_you_mean(words[0], known) if words else ""
        print(f"{name}: takes {' or '.join(known)}, not {' '.join(words)!r}{hint}\n{usage}", end="", file=sys.stderr)
        return 2
    base = _cache.folder()
    problem = _core.cache_problem()
    if base is None or problem:
        print(f"{name}: {problem or 'no compiled code is kept (TESSERA_CACHE_DIR is off)'}", file=sys.stderr)
        return 1
    try:
        return known[words[0]](base / _cache.CODE)  # type: ignore[operator,no-any-return]
    except BrokenPipeError:
        return 0


def main(arguments: list[str]) -> int:
    """``python -m tessera cache``."""
    return _run("tessera cache", USAGE, arguments or ["list"], {"list": _show, "clear": _clear})


def peer() -> int:
    """``cutile-cache``."""
    return _run("cutile-cache", PEER_USAGE, sys.argv[1:], {"log": _show})
