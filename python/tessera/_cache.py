# SPDX-License-Identifier: Apache-2.0
"""Where compiled code and tuning results are kept (src/device/cache.c has the same rule)."""

from __future__ import annotations

import os
from pathlib import Path

__all__ = ["folder"]


def folder() -> Path | None:
    """The cache's directory, which may not exist yet; None when it is switched off."""
    place = os.environ.get("TESSERA_CACHE_DIR", "")
    if place in ("0", "off", "none"):
        return None
    if place:
        return Path(place)
    xdg = os.environ.get("XDG_CACHE_HOME", "")
    if xdg.startswith("/"):
        return Path(xdg) / "tessera"
    home = os.environ.get("HOME", "")
    return Path(home) / ".cache" / "tessera" if home.startswith("/") else None
