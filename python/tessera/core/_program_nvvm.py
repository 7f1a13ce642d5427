# SPDX-License-Identifier: Apache-2.0
"""Programs in NVVM IR, by libNVVM."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any

from ..bindings._errors import nvvmError
from ._object_code import ObjectCode
from ._program_options import ProgramOptions
from .typing import CompilerBackendType

__all__ = ["Nvvm"]


class Nvvm:
    """A Program's modules and libNVVM's handle for them."""

    backend = CompilerBackendType.NVVM

    def __init__(self, code: Any, options: ProgramOptions) -> None:
        from . import _program

        if not isinstance(code, (str, bytes, bytearray)):
            raise TypeError(
                f"NVVM IR code must be provided as str, bytes, or bytearray, not "
                f"{type(code).__name__}"
            )
        self.api, self.options = _program._get_nvvm_module(), options
        self.lock = threading.Lock()
        self.handle: Any = self.api.create_program()
        main = (
            (options.name or "").encode(),
            code.encode() if isinstance(code, str) else bytes(code),
        )
        for name, text in [main, *(options._prepare_extra_sources_bytes() or [])]:
            self.guarded(self.api.add_module_to_program, text, len(text), name.decode())
        if options.use_libdevice:
            with open(_program._find_libdevice_path(), "rb") as file:
                library = file.read()
            self.guarded(self.api.lazy_add_module_to_program, library, len(library), "libdevice")

    def guarded(self, call: Callable[..., Any], *args: Any) -> None:
        """A call whose error tells what the compiler wrote."""
        try:
            call(self.handle, *args)
        except nvvmError as error:
            error.args = (f"{error}\ncompilation log:\n{self.log()}",)
            raise

    def log(self) -> str:
        room = bytearray(self.api.get_program_log_size(self.handle))
        self.api.get_program_log(self.handle, room)
        return bytes(room).rstrip(b"\0").decode(errors="replace")

    def check_target(self, target: str) -> None:
        if target not in ("ptx", "ltoir"):
            raise ValueError(f'Unsupported target_type="{target}" for NVVM ("ptx", "ltoir")')

    def take_flags(self, flags: list[str]) -> tuple[str, str]:
        raise ValueError("flags as a list are for CUDA C++; NVVM IR takes ProgramOptions")

    def compile(self, target: str, names: Sequence[Any], logs: Any) -> ObjectCode:
        words = [word.decode() for word in self.options.as_bytes("nvvm", target)]
        with self.lock:
            self.guarded(self.api.verify_program, len(words), words)
            self.guarded(self.api.compile_program, len(words), words)
            room = bytearray(self.api.get_compiled_result_size(self.handle))
            self.api.get_compiled_result(self.handle, room)
            if logs is not None and (text := self.log()):
                logs.write(text)
        code = bytes(room).rstrip(b"\0") if target == "ptx" else bytes(room)
        return ObjectCode._init(code, target, name=self.options.name or "")

    def close(self) -> None:
        handle, self.handle = self.handle, 0
        if handle:
            self.api.destroy_program(handle)
