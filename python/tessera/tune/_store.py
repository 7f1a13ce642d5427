# SPDX-License-Identifier: Apache-2.0
"""Best configurations kept on disk, one small file each under ``tune/`` of the cache directory.

The name is the hash of device, kernel and shape class. A file holds the key itself and a
checksum: one that is damaged, or of another key, is as if it were not there. Files are written
whole and renamed, so processes may tune at the same time; the last one to finish stays.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from typing import Any

from .. import __version__, _cache

__all__ = ["forget", "key_of", "load", "save"]

_memory: dict[str, dict[str, Any]] = {}


def key_of(kernel: Any, device: str, shapes: str) -> str:
    """The key of a result: version, device, content of the kernel with its annotations, shape
    class."""
    _, _, pack, rows, hints, _ = kernel._prepare()
    content = hashlib.sha256(pack + repr((rows, hints)).encode()).hexdigest()
    return f"{__version__}|{device}|{kernel.__qualname__}|{content}|{shapes}"


def _path(key: str) -> str | None:
    folder = _cache.folder()
    if folder is None:
        return None
    return str(folder / "tune" / (hashlib.sha256(key.encode()).hexdigest()[:40] + ".json"))


def _sum(key: str, entry: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps([key, entry], sort_keys=True).encode()).hexdigest()


def load(key: str) -> dict[str, Any] | None:
    """The entry of a key (``config`` as text, ``mean_us``), or None."""
    path = _path(key)
    if path is None:
        return _memory.get(key)
    try:
        found = json.loads(_cache.read(path))
        entry = found["entry"]
        good = found["key"] == key and found["sum"] == _sum(key, entry)
        good = good and isinstance(entry["config"], str) and float(entry["mean_us"]) >= 0
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return entry if good else None


def save(key: str, entry: dict[str, Any]) -> None:
    """Keeps an entry. Trouble with files is no error: then the result is not kept."""
    path = _path(key)
    if path is None:
        _memory[key] = entry
        return
    text = json.dumps({"key": key, "entry": entry, "sum": _sum(key, entry)})
    try:
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        handle, fresh = tempfile.mkstemp(dir=os.path.dirname(path), prefix="tmp.")
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                file.write(text)
            os.replace(fresh, path)
        except BaseException:
            os.unlink(fresh)
            raise
    except OSError:
        pass


def forget(key: str) -> None:
    """Drops an entry."""
    _memory.pop(key, None)
    path = _path(key)
    if path is not None:
        try:
            os.unlink(path)
        except OSError:
            pass
