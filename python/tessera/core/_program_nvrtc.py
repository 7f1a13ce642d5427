# SPDX-License-Identifier: Apache-2.0
"""Programs in CUDA C++, by NVRTC."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

from .. import pathfinder
from ..bindings import NVRTCError, nvrtc
from ..pathfinder._headers import missing_header
from ._object_code import ObjectCode
from ._program_options import ProgramOptions
from .typing import CompilerBackendType, PCHStatusType

__all__ = ["Nvrtc"]

_GETTERS = {"ptx": "PTX", "cubin": "CUBIN", "ltoir": "LTOIR"}
_PCH = ("pch", "create_pch")


def _read(what: str, program: Any) -> bytes:
    """PTX, CUBIN, LTOIR or ProgramLog of a program."""
    room = bytearray(getattr(nvrtc.checked, f"nvrtcGet{what}Size")(program))
    if room:
        getattr(nvrtc.checked, f"nvrtcGet{what}")(program, room)
    return bytes(room)


def default_includes(options: ProgramOptions) -> list[str]:
    """The toolkit's headers and those of CCCL, after the directories that the options name."""
    return pathfinder.find_cuda_include_dirs() if options.default_includes else []


def _hint(log: str, flags: list[str], code: Any) -> str:
    """What to do about the most frequent errors."""
    if hint := missing_header(log, "include_path"):
        return hint
    if code == nvrtc.nvrtcResult.NVRTC_ERROR_INVALID_OPTION:
        known = " ".join(str(arch) for arch in nvrtc.checked.nvrtcGetSupportedArchs())
        return f"\nflags: {' '.join(flags)}\narchitectures of this NVRTC: {known}"
    return ""


class Nvrtc:
    """A Program's source and NVRTC's handle for it."""

    backend = CompilerBackendType.NVRTC

    def __init__(self, code: Any, options: ProgramOptions) -> None:
        if not isinstance(code, str):
            raise TypeError(f"CUDA C++ must be a str, not {type(code).__name__}")
        if options.extra_sources is not None:
            raise ValueError(
                "extra_sources is not supported by the NVRTC backend; it is for NVVM IR"
            )
        self.code, self.options = code, options
        self.pch_status: PCHStatusType | None = None
        self.is_used = False
        self.handle: Any = None
        self.handle = self.create()

    def create(self) -> Any:
        name = self.options.name
        named = name.encode() if name else None
        return nvrtc.checked.nvrtcCreateProgram(self.code.encode(), named, 0, [], [])

    def check_target(self, target: str) -> None:
        if target not in _GETTERS:
            raise ValueError(
                f'Unsupported target_type="{target}" for NVRTC ("ptx", "cubin", "ltoir")'
            )

    def take_flags(self, flags: list[str]) -> tuple[str, str]:
        """Flags of the short form; (target, name)."""
        arch = [word.split("=", 1)[1] for word in flags if word.split("=")[0] in _ARCH]
        kept = [word for word in flags if word.split("=")[0] not in _ARCH]
        self.options = dataclasses.replace(
            self.options, flags=kept, arch=arch[-1] if arch else None
        )
        is_virtual = bool(arch) and arch[-1].startswith("compute_")
        return "ptx" if is_virtual else "cubin", self.options.name or ""

    def renew(self) -> None:
        """A program that was compiled takes no more name expressions."""
        if self.is_used:
            self.close()
            self.handle = self.create()
        self.is_used = True

    def compile(self, target: str, names: Sequence[Any], logs: Any) -> ObjectCode:
        flags = [word.decode() for word in self.options.as_bytes("nvrtc", target)]
        flags += [f"--include-path={path}" for path in default_includes(self.options)]
        self.run(flags, names)
        if self.wants_pch() and self.enlarge_pch_heap():
            self.run(flags, names)
        self.note_pch()
        code = self.result(target, flags)
        symbols = {
            name: nvrtc.checked.nvrtcGetLoweredName(self.handle, _text(name)) for name in names
        }
        self.tell(logs)
        if target == "ptx":
            from . import _program

            _program._warn_of_new_ptx()
        return ObjectCode._init(code, target, name=self.options.name or "", symbol_mapping=symbols)

    def run(self, flags: list[str], names: Sequence[Any]) -> None:
        self.renew()
        for name in names:
            nvrtc.checked.nvrtcAddNameExpression(self.handle, _text(name))
        words = [flag.encode() for flag in flags]
        (status,) = nvrtc.nvrtcCompileProgram(self.handle, len(words), words)
        if status:
            self.fail(status, flags)

    def fail(self, status: Any, flags: list[str]) -> None:
        log = self.log()
        _, text = nvrtc.nvrtcGetErrorString(status)
        hint = _hint(log, flags, status)
        raise NVRTCError(
            "nvrtcCompileProgram", status, f"{text.decode()}\ncompilation log:\n{log}{hint}"
        )

    def log(self) -> str:
        return _read("ProgramLog", self.handle).rstrip(b"\0").decode(errors="replace")

    def tell(self, logs: Any) -> None:
        if logs is not None and (text := self.log()):
            logs.write(text)

    def result(self, target: str, flags: list[str]) -> bytes:
        code = _read(_GETTERS[target], self.handle)
        if not code:
            raise ValueError(
                f"NVRTC made no {target} with these flags: {' '.join(flags)}"
                + ("; a cubin needs a real architecture such as sm_90" if target == "cubin" else "")
            )
        return code.rstrip(b"\0") if target == "ptx" else code

    # ---- precompiled headers

    def wants_pch(self) -> bool:
        return any(getattr(self.options, name) for name in _PCH)

    def enlarge_pch_heap(self) -> bool:
        """Whether the heap was too small for the header; it is made large enough then."""
        (status,) = nvrtc.nvrtcGetPCHCreateStatus(self.handle)
        if status != nvrtc.nvrtcResult.NVRTC_ERROR_PCH_CREATE_HEAP_EXHAUSTED:
            return False
        needed = nvrtc.checked.nvrtcGetPCHHeapSizeRequired(self.handle)
        nvrtc.checked.nvrtcSetPCHHeapSize(needed)
        return True

    def note_pch(self) -> None:
        self.pch_status = None
        if self.wants_pch():
            (status,) = nvrtc.nvrtcGetPCHCreateStatus(self.handle)
            self.pch_status = _PCH_WORDS.get(int(status), PCHStatusType.FAILED)

    def close(self) -> None:
        if self.handle is not None and int(self.handle):
            nvrtc.nvrtcDestroyProgram(self.handle)
        self.handle = None


_ARCH = ("--gpu-architecture", "-arch", "-gpu-architecture", "--arch")
_PCH_WORDS = {0: PCHStatusType.CREATED, 13: PCHStatusType.NOT_ATTEMPTED}


def _text(name: Any) -> bytes:
    if not isinstance(name, (str, bytes)):
        raise TypeError(f"name_expressions are str or bytes, not {type(name).__name__}")
    return name.encode() if isinstance(name, str) else name
