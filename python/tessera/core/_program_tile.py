# SPDX-License-Identifier: Apache-2.0
"""Programs of Tessera's own: tile kernels and Tile IR text, to PTX or cubin.

The parameters of the entry are those of docs/reference: an array is its pointer, then its extents,
then its strides in elements. What uses TMA (from sm_90 on) takes tensor maps before them, which
``tessera.tile.launch`` makes; compile for sm_80 where another launcher is to run it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from .. import _core
from ._flags import current_arch
from ._linker import Linker
from ._object_code import ObjectCode
from ._program_options import ProgramOptions
from .typing import CompilerBackendType

__all__ = ["Tile", "TileIR"]


def _target(arch: str) -> int:
    """The newest target that an architecture runs: 89 for sm_89, 90 for sm_90a."""
    found = re.fullmatch(r"(?:sm_|compute_)?(\d+)[a-z]?", arch)
    gpus = [number for name, number in _core.TARGETS.items() if name.startswith("sm_")]
    fitting = [target for target in gpus if found and target <= int(found.group(1))]
    if not fitting:
        raise ValueError(f"arch={arch!r} is not supported; Tessera compiles for sm_80 and newer")
    return fitting[-1]


class _Own:
    """What both languages share."""

    backend = CompilerBackendType.TESSERA
    handle = None

    def __init__(self, options: ProgramOptions) -> None:
        self.options = options

    def check_target(self, target: str) -> None:
        if target not in ("ptx", "cubin"):
            raise ValueError(f'Unsupported target_type="{target}" for Tessera ("ptx", "cubin")')

    def take_flags(self, flags: list[str]) -> tuple[str, str]:
        raise ValueError("flags as a list are for CUDA C++; Tessera takes ProgramOptions")

    def ptx(self, target: int) -> bytes:
        raise NotImplementedError

    def compile(self, target: str, names: Sequence[Any], logs: Any) -> ObjectCode:
        arch = self.options.arch or current_arch()
        if arch is None:
            raise ValueError(
                "there is no GPU here to compile for; give ProgramOptions(arch='sm_90')"
            )
        name = self.options.name or ""
        made = ObjectCode._init(self.ptx(_target(arch)).rstrip(b"\0"), "ptx", name=name)
        return made if target == "ptx" else self.assembled(made)

    def assembled(self, code: ObjectCode) -> ObjectCode:
        told = self.options._linker_options()
        found = re.search(rb"^\.target\s+(\w+)", bytes(code), re.M)
        told.arch = found.group(1).decode() if found else told.arch
        return Linker(code, options=told).link("cubin")

    def close(self) -> None:
        """There is nothing to give back."""


class TileIR(_Own):
    """A Program of Tile IR text."""

    def __init__(self, code: Any, options: ProgramOptions) -> None:
        super().__init__(options)
        if not isinstance(code, str):
            raise TypeError(f"Tile IR must be a str, not {type(code).__name__}")
        self.code = code

    def ptx(self, target: int) -> bytes:
        return _core.compile_text(self.code, target)  # type: ignore[no-any-return]


class Tile(_Own):
    """A Program of a tile kernel and the arguments that it is compiled for."""

    def __init__(self, code: Any, options: ProgramOptions) -> None:
        from ..tile import kernel

        super().__init__(options)
        if not isinstance(code, kernel):
            raise TypeError(f"a tile Program takes a @tile.kernel, not {type(code).__name__}")
        if options.arguments is None:
            raise ValueError(
                "a tile Program needs ProgramOptions(arguments=(...)): arrays, numbers and "
                "constants such as the kernel will be launched with"
            )
        self.code = code

    def ptx(self, target: int) -> bytes:
        arguments = self.code._complete(tuple(self.options.arguments or ()), {})
        return _core.compile(self.code._prepare(), arguments, target)  # type: ignore[no-any-return]
