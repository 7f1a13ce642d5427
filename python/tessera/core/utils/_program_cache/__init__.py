# SPDX-License-Identifier: Apache-2.0
"""Caches for ``Program.compile(cache=...)``: in memory, or a directory of files."""

from __future__ import annotations

from . import _file_stream, _keys  # noqa: F401 (programs reach for them)
from ._abc import ProgramCacheResource
from ._file_stream import FileStreamProgramCache
from ._in_memory import InMemoryProgramCache
from ._keys import make_program_cache_key

__all__ = [
    "FileStreamProgramCache",
    "InMemoryProgramCache",
    "ProgramCacheResource",
    "make_program_cache_key",
]
