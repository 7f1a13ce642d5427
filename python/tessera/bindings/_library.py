# SPDX-License-Identifier: Apache-2.0
"""Opens NVIDIA's libraries and looks functions up, at the first call that needs them."""

from __future__ import annotations

import os
from _thread import allocate_lock
from typing import Any

from ._errors import FunctionNotFoundError

__all__ = ["Library", "per_thread_stream"]


def per_thread_stream() -> bool:
    """Whether the default stream is one per thread:
    CUDA_PYTHON_CUDA_PER_THREAD_DEFAULT_STREAM=1."""
    return os.environ.get("CUDA_PYTHON_CUDA_PER_THREAD_DEFAULT_STREAM", "0").strip().lower() in (
        "1",
        "true",
        "yes",
    )


class Library:
    """One shared library by pathfinder's name; ``find`` gives the address of a table's symbol."""

    def __init__(self, name: str, override: str = "") -> None:
        self.name, self.override = name, override
        self.handle: Any = None
        self.lock = allocate_lock()

    def open(self) -> Any:
        with self.lock:
            if self.handle is None:
                import ctypes

                path = self.path()
                try:
                    self.handle = ctypes.CDLL(path)
                except OSError as error:
                    self.unloadable(path, error)
        return self.handle

    def unloadable(self, path: str, error: OSError) -> None:
        from tessera.pathfinder import DynamicLibNotFoundError

        is_given = self.override and os.environ.get(self.override) == path
        named = f", named by {self.override}," if is_given else ""
        raise DynamicLibNotFoundError(f"{path}{named} cannot be loaded: {error}") from error

    def path(self) -> str:
        given = os.environ.get(self.override, "") if self.override else ""
        if given and "/" in given and not os.path.exists(given):
            from tessera.pathfinder import DynamicLibNotFoundError

            raise DynamicLibNotFoundError(f"{self.override} names {given!r}, which does not exist")
        if given:
            return given
        from tessera.pathfinder import load_nvidia_dynamic_lib

        return load_nvidia_dynamic_lib(self.name).abs_path or self.name

    def symbol(self, name: str) -> int:
        """The address of an exported symbol, or 0."""
        import ctypes

        try:
            return ctypes.cast(getattr(self.open(), name), ctypes.c_void_p).value or 0
        except AttributeError:
            return 0

    def find(self, symbol: str) -> int:
        """The address of a function; its per-thread form where that was asked for."""
        forms = [f"{symbol}_ptsz", f"{symbol}_ptds", symbol] if per_thread_stream() else [symbol]
        return next((a for form in forms if (a := self.symbol(form))), 0) or self.missing(symbol)

    def missing(self, symbol: str) -> int:
        raise FunctionNotFoundError(
            f"function {symbol} is not found: the installed {self.name} library is older than CUDA 13.0"
        )


class DriverLibrary(Library):
    """The driver answers by name and version (cuGetProcAddress)."""

    PER_THREAD = 2  # CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM

    def find(self, symbol: str) -> int:
        import ctypes

        name, _, version = symbol.partition("@")
        entry = self.symbol("cuGetProcAddress_v2")
        if not entry:
            raise FunctionNotFoundError(
                f"function {name} is not found: the NVIDIA driver is older than CUDA 12.0"
            )
        prototype = ctypes.CFUNCTYPE(
            ctypes.c_int,
            ctypes.c_char_p,
            ctypes.c_void_p,
            ctypes.c_int,
            ctypes.c_uint64,
            ctypes.c_void_p,
        )
        found, status = ctypes.c_void_p(), ctypes.c_int()
        flags = self.PER_THREAD if per_thread_stream() else 0
        call = prototype(entry)
        call(name.encode(), ctypes.addressof(found), int(version), flags, ctypes.addressof(status))
        return found.value or self.missing(name)
