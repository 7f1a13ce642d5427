# SPDX-License-Identifier: Apache-2.0
"""Programs in PTX: a link of one input."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ._linker import Linker
from ._object_code import ObjectCode
from ._program_options import ProgramOptions
from .typing import CompilerBackendType

__all__ = ["Ptx"]


class Ptx:
    """A Program's PTX and the linker of it."""

    def __init__(self, code: Any, options: ProgramOptions) -> None:
        if not isinstance(code, str):
            raise TypeError(f"PTX must be a str, not {type(code).__name__}")
        if options.extra_sources is not None:
            raise ValueError("extra_sources is not supported by the PTX backend; use a Linker")
        self.options = options
        self.code = ObjectCode.from_ptx(code.encode().rstrip(b"\0"), name=options.name or "")
        self.linker: Linker | None = self.create()
        self.is_used = False

    def create(self) -> Linker:
        return Linker(self.code, options=self.options._linker_options())

    @property
    def backend(self) -> CompilerBackendType:
        return Linker.which_backend()

    @property
    def handle(self) -> Any:
        return self.linker.handle if self.linker else 0

    def check_target(self, target: str) -> None:
        if target not in ("cubin", "ptx"):
            raise ValueError(f'Unsupported target_type="{target}" for PTX ("cubin", "ptx")')

    def take_flags(self, flags: list[str]) -> tuple[str, str]:
        raise ValueError("flags as a list are for CUDA C++; PTX takes ProgramOptions")

    def compile(self, target: str, names: Sequence[Any], logs: Any) -> ObjectCode:
        if self.is_used:  # a link ends once
            self.close()
            self.linker = self.create()
        self.is_used = True
        assert self.linker is not None
        made = self.linker.link(target)
        if logs is not None:
            logs.write(self.linker.get_info_log())
            logs.write(self.linker.get_error_log())
        made.name = self.options.name or ""
        return made

    def close(self) -> None:
        linker, self.linker = self.linker, None
        if linker is not None:
            linker.close()
