# SPDX-License-Identifier: Apache-2.0
"""Where compiled code and tuning results are kept (src/run/cache.c has the same rule), and how
a file of it is read: only if nobody else can have written it (src/run/cache_disk.c)."""

from __future__ import annotations

import os
import stat
from pathlib import Path

__all__ = ["CODE", "folder", "read"]

CODE = "tessera-code"  # the C library's own directory in it


def folder() -> Path | None:
    """The cache's directory, which may not exist yet; None when it is switched off or refused."""
    place, home = os.environ.get("TESSERA_CACHE_DIR", ""), os.environ.get("HOME", "")
    if place.lower() in ("0", "off", "none"):
        return None
    if place.startswith("~"):
        is_home = place[1:2] in ("", "/") and home.startswith("/")
        return Path(home + place[1:]) if is_home else None
    if place:
        return Path(place)
    xdg = os.environ.get("XDG_CACHE_HOME", "")
    if xdg.startswith("/"):
        return Path(xdg) / "tessera"
    return Path(home) / ".cache" / "tessera" if home.startswith("/") else None


def read(path: str | os.PathLike[str]) -> bytes:
    """The bytes of a plain file of this user that others cannot write to; else OSError, at once
    (a FIFO is not waited for, a link not followed)."""
    flags = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY
    with open(os.open(path, flags), "rb") as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode) or status.st_mode & 0o022:
            raise PermissionError(f"{path} is not a plain file that only its owner can write to")
        if status.st_uid != os.geteuid():
            raise PermissionError(f"{path} belongs to another user")
        return file.read()
