# SPDX-License-Identifier: Apache-2.0
"""A cache in a directory, shared by processes.

An entry is a file with the code and nothing else, so that cuobjdump and nvdisasm read it::

    path/entries/ab/cdef...   the code; the name is the digest of the key
    path/tmp/entry-...        being written; moved to its place when it is whole

Another process may replace or remove a file at any moment: before one is removed or its time of
access is set, it must still be the file that was looked at.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from ._abc import Key, ProgramCacheResource, code_bytes, key_bytes
from ._in_memory import checked_size

__all__ = ["FileStreamProgramCache"]

_IS_WINDOWS = os.name == "nt"
_UTIME_SUPPORTS_FD = os.utime in os.supports_fd
_SHARING_VIOLATION_WINERRORS = (5, 32, 33)  # denied, shared, locked: some other process reads it
_SHARING_RETRIES = (0.001, 0.005, 0.01, 0.05, 0.1)  # seconds
_TMP_STALE_AGE_SECONDS = 3600


def _default_cache_dir() -> Path:
    """The user's own cache directory."""
    if _IS_WINDOWS:
        local = os.environ.get("LOCALAPPDATA")
        root = Path(local) if local else Path.home() / "AppData" / "Local"
    else:
        given = os.environ.get("XDG_CACHE_HOME")
        root = Path(given) if given else Path.home() / ".cache"
    return root / "cuda-python" / "program-cache"


def _is_windows_sharing_violation(error: OSError) -> bool:
    """Whether a file cannot be touched only because another process has it open just now."""
    if not _IS_WINDOWS:
        return False
    number = getattr(error, "winerror", None)
    return error.errno == errno.EACCES if number is None else number in _SHARING_VIOLATION_WINERRORS


def _with_sharing_retry(act: Callable[[], Any]) -> None:
    """Tries again for a fifth of a second where another process is in the way."""
    for pause in _SHARING_RETRIES:
        try:
            act()
            return
        except PermissionError as error:
            if not _is_windows_sharing_violation(error):
                raise
        time.sleep(pause)
    act()


def _unlink_with_sharing_retry(path: Path) -> None:
    _with_sharing_retry(path.unlink)


def _identity(stat: os.stat_result) -> tuple[int, int, int]:
    return stat.st_ino, stat.st_size, stat.st_mtime_ns


def _prune_if_stat_unchanged(path: Path, seen: os.stat_result) -> bool:
    """Removes a file unless it was replaced since; whether it is gone."""
    try:
        if _identity(path.stat()) != _identity(seen):
            return False
        _unlink_with_sharing_retry(path)
    except FileNotFoundError:
        return True
    except PermissionError as error:
        if not _is_windows_sharing_violation(error):
            raise
        return False
    return True


def _touch_atime(path: Path, seen: os.stat_result) -> None:
    """Notes that an entry was used, unless it was replaced since; failing is no harm."""
    with contextlib.suppress(OSError):
        if _UTIME_SUPPORTS_FD:
            fd = os.open(path, os.O_RDONLY)
            try:
                _set_atime(fd, os.fstat(fd), seen)
            finally:
                os.close(fd)
        else:
            _set_atime(path, path.stat(), seen)


def _set_atime(where: Any, now: os.stat_result, seen: os.stat_result) -> None:
    if _identity(now) == _identity(seen):
        os.utime(where, ns=(time.time_ns(), now.st_mtime_ns))


class FileStreamProgramCache(ProgramCacheResource):
    """Compiled code in files, for every process of the user.

    Parameters
    ----------
    path : str or path, optional
        The directory; ``~/.cache/cuda-python/program-cache`` by default, as the peer has it.
    max_size_bytes : int, optional
        Beyond this what was used longest ago goes. Writers of several processes may exceed it for a
        moment.
    """

    def __init__(self, path: Any = None, *, max_size_bytes: int | None = None) -> None:
        self._max_size_bytes = checked_size(max_size_bytes)
        self._root = Path(path) if path is not None else _default_cache_dir()
        self._entries, self._tmp = self._root / "entries", self._root / "tmp"
        self._lock = threading.Lock()
        self._entries.mkdir(parents=True, exist_ok=True)
        self._tmp.mkdir(parents=True, exist_ok=True)
        self._sweep_stale_tmp_files()
        self._tracked_size_bytes = self._measured() if self._max_size_bytes is not None else 0

    def _path_for_key(self, key: Key) -> Path:
        digest = hashlib.sha256(key_bytes(key)).hexdigest()
        return self._entries / digest[:2] / digest[2:]

    # ---- what is on disk

    def _iter_entry_paths(self) -> Iterator[Path]:
        with contextlib.suppress(FileNotFoundError, NotADirectoryError):
            for shard in sorted(self._entries.iterdir()):
                if shard.is_dir():
                    yield from (path for path in shard.iterdir() if path.is_file())

    def _iter_tmp_entries(self) -> Iterator[tuple[Path, os.stat_result]]:
        with contextlib.suppress(FileNotFoundError):
            for path in list(self._tmp.iterdir()):
                with contextlib.suppress(FileNotFoundError):
                    yield path, path.stat()

    def _sum_tmp_sizes(self) -> int:
        return sum(stat.st_size for _, stat in self._iter_tmp_entries())

    def _scan(self) -> list[tuple[Path, os.stat_result]]:
        found = []
        for path in self._iter_entry_paths():
            with contextlib.suppress(FileNotFoundError):
                found.append((path, path.stat()))
        return found

    def _measured(self) -> int:
        return sum(stat.st_size for _, stat in self._scan()) + self._sum_tmp_sizes()

    def _sweep_stale_tmp_files(self) -> None:
        """Removes what a writer left that died an hour ago or more."""
        oldest = time.time() - _TMP_STALE_AGE_SECONDS
        for path, stat in self._iter_tmp_entries():
            if stat.st_mtime < oldest:
                _prune_if_stat_unchanged(path, stat)

    # ---- the size

    def _track(self, change: int) -> bool:
        """Whether the cache is over its size now. Never below zero: a scan in between may have seen
        the change already."""
        if self._max_size_bytes is None:
            return False
        with self._lock:
            self._tracked_size_bytes = max(0, self._tracked_size_bytes + change)
            return self._tracked_size_bytes > self._max_size_bytes

    def _enforce_size_cap(self) -> None:
        """Removes what was used longest ago until the rest fits; counts anew what there is."""
        if self._max_size_bytes is None:
            return
        found = sorted(self._scan(), key=lambda item: item[1].st_atime_ns)
        total = sum(stat.st_size for _, stat in found) + self._sum_tmp_sizes()
        for path, stat in found:
            if total <= self._max_size_bytes:
                break
            if _prune_if_stat_unchanged(path, stat):
                total -= stat.st_size
        with self._lock:
            self._tracked_size_bytes = total

    # ---- the mapping

    def __getitem__(self, key: Key) -> bytes:
        path = self._path_for_key(key)
        try:
            seen = path.stat()
            code = path.read_bytes()
        except FileNotFoundError:
            raise KeyError(key) from None
        _touch_atime(path, seen)
        return code

    def __setitem__(self, key: Key, value: Any) -> None:
        path, code = self._path_for_key(key), code_bytes(value)
        replaced = 0
        if self._max_size_bytes is not None:
            with contextlib.suppress(FileNotFoundError):
                replaced = path.stat().st_size
        if self._write(path, code) and self._track(len(code) - replaced):
            self._enforce_size_cap()

    def _write(self, path: Path, code: bytes) -> bool:
        """Writes beside and moves into place; whether it could be moved."""
        path.parent.mkdir(parents=True, exist_ok=True)
        self._tmp.mkdir(parents=True, exist_ok=True)
        fd, name = tempfile.mkstemp(prefix="entry-", dir=self._tmp)
        try:
            with os.fdopen(fd, "wb") as file:
                file.write(code)
            _with_sharing_retry(lambda: os.replace(name, path))
        except BaseException as error:
            with contextlib.suppress(OSError):
                os.unlink(name)
            if isinstance(error, PermissionError) and _named_sharing_violation(error):
                return False
            raise
        return True

    def __delitem__(self, key: Key) -> None:
        path = self._path_for_key(key)
        try:
            size = path.stat().st_size
            _unlink_with_sharing_retry(path)
        except FileNotFoundError:
            raise KeyError(key) from None
        self._track(-size)

    def __len__(self) -> int:
        return sum(1 for _ in self._iter_entry_paths())

    def clear(self) -> None:
        for path, stat in self._scan():
            _prune_if_stat_unchanged(path, stat)
        self._sweep_stale_tmp_files()
        if self._max_size_bytes is not None:
            with self._lock:
                self._tracked_size_bytes = self._measured()


def _named_sharing_violation(error: PermissionError) -> bool:
    """Windows said that another process keeps the old entry open: that one stays."""
    return _IS_WINDOWS and getattr(error, "winerror", None) in _SHARING_VIOLATION_WINERRORS
