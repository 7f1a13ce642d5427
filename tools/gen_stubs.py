# SPDX-License-Identifier: Apache-2.0
"""Type stubs of the binding modules, from the text of their tables; called by gen_bindings.py."""

from __future__ import annotations

import pathlib
import re
from typing import Protocol

ROOT = pathlib.Path(__file__).resolve().parent.parent
SPECIAL = [
    ROOT / "python" / "tessera" / "bindings" / name for name in ("_special.py", "_attributes.py")
]
SCALARS = {"f32": "float", "f64": "float"} | dict.fromkeys(
    "i8 u8 i16 u16 i32 u32 i64 u64 size".split(), "int"
)
HEAD = """# Type stubs, by tools/gen_bindings.py. Do not edit.
from collections.abc import Sequence
from enum import IntEnum
from typing import Any, SupportsInt

from ._types import CUDAError, Handle, KernelParams, Pointer, Record, Text
from ._types import nvJitLinkError, nvvmError

"""
RUNTIME = [
    "def getLocalRuntimeVersion() -> tuple[cudaError_t, int]: ...",
    "def make_cudaPitchedPtr(d: Pointer, p: int, xsz: int, ysz: int) -> cudaPitchedPtr: ...",
    "def make_cudaPos(x: int, y: int, z: int) -> cudaPos: ...",
    "def make_cudaExtent(w: int, h: int, d: int) -> cudaExtent: ...",
]
NVML = [
    "ERRORS: dict[int, type[NvmlError]]",
    "def struct_version(struct: type[Record], number: int) -> int: ...",
    "class NvmlError(RuntimeError):",
    "    status: int",
    "# The peer's names: device_get_name, PciInfo, ComputeMode ... and an error of each status.",
    "def __getattr__(name: str) -> Any: ...",
]


class Named(Protocol):
    name: str
    snake: bool


def stub_text(module: Named, table: str) -> str:
    """The .pyi file of a module."""
    return _Stub(module, table).text()


class _Stub:
    def __init__(self, module: Named, table: str) -> None:
        self.module = module
        entries = [
            (line + "  ").split(" ", 2)
            for line in table.replace("\n ", " ").splitlines()
            if line[0] != "#"
        ]
        self.entries = {name: (kind, rest.strip()) for kind, name, rest in entries}
        self.special = set(
            re.findall(r'^    "(\w+)": ', "".join(p.read_text() for p in SPECIAL), re.M)
        )

    def kind_of(self, name: str) -> str:
        kind, rest = self.entries.get(name, ("", ""))
        return self.kind_of(rest) if kind == "alias" else kind

    # ---- types -----------------------------------------------------------------------------------

    def given(self, kind: str) -> str:
        """The type of an argument."""
        if kind.startswith("["):
            return f"Sequence[{self.given(re.split('[#]', kind[1:])[0])}] | None"
        base = kind.lstrip("&?").partition("#")[0]
        if base in ("*", "buffer"):
            return "Pointer"
        if base == "text":
            return "Text"
        if base == "params":
            return "KernelParams"
        if base.startswith("*"):
            return (
                f"{base[1:]} | None"
                if self.kind_of(base[1:]) == "struct"
                else f"Sequence[{self.given(base[1:])}] | None"
            )
        if base in SCALARS:
            return SCALARS[base]
        return (
            f"{base} | SupportsInt | None"
            if self.kind_of(base) in ("handle", "int", "callback")
            else base
        )

    def taken(self, kind: str) -> str:
        """The type of a result."""
        base = kind.lstrip(">&")
        if base.startswith("["):
            return f"list[{self.taken(base[1:].partition(':')[0])}]"
        if base.startswith("bytes") or base == "text":
            return "bytes"
        return "int" if base == "*" else SCALARS.get(base, base)

    def member(self, kind: str) -> str:
        """The type of a struct's field."""
        base, _, count = kind.partition("[") if not kind.startswith("[") else (kind, "", "")
        if kind.startswith("["):
            return f"list[{self.taken(kind[1:].partition('#')[0])}]"
        if count:
            return "bytes" if base in ("i8", "u8") else f"list[{self.taken(base)}]"
        if base in ("*", "**", "params"):
            return "Any"
        if base.startswith("*"):
            return f"{base[1:]} | None"
        return (
            "Any"
            if self.kind_of(base) in ("handle", "int", "callback")
            else SCALARS.get(base, base)
        )

    # ---- declarations ----------------------------------------------------------------------------

    def declaration(self, name: str) -> list[str]:
        kind, rest = self.entries[name]
        if kind == "const":
            return [f"{name}: int"]
        if kind == "alias":
            return [f"{name} = {rest}"]
        if kind == "enum":
            return [
                f"class {name}(IntEnum):",
                *(f"    {w.replace('=', ' = ')}" for w in rest.split()),
            ]
        if kind in ("handle", "int", "callback"):
            return [f"class {name}(Handle): ..."]
        if kind == "struct":
            words = [w.split(":", 1) for w in rest.split()[1:]]
            return [
                f"class {name}(Record):",
                *(f"    {f}: {self.member(k.rpartition('@')[0])}" for f, k in words),
            ]
        return []

    def function(self, name: str, raising: bool) -> str:
        _, result, *words = self.entries[name][1].split()
        if name in self.special:
            return f"def {name}(*args: Any, **kwargs: Any) -> Any: ..."
        params = [w.split(":", 1) for w in words]
        inputs = ", ".join(f"{p}: {self.given(k)}" for p, k in params if not k.startswith(">"))
        outputs = [self.taken(k) for _, k in params if k[0] in ">&"]
        if raising:
            answer = {0: "None", 1: outputs[0] if outputs else ""}.get(
                len(outputs), f"tuple[{', '.join(outputs)}]"
            )
        elif result == "text":
            answer = f"tuple[{next(n for n, (k, _) in self.entries.items() if k == 'enum')}, bytes]"
        else:
            answer = f"tuple[{', '.join([result, *outputs])}]"
        return f"def {name}({inputs}) -> {answer}: ..."

    def text(self) -> str:
        functions = [name for name, (kind, _) in self.entries.items() if kind == "fn"]
        lines = [line for name in self.entries for line in self.declaration(name)]
        lines += [self.function(name, self.module.snake) for name in functions]
        if not self.module.snake:
            lines += ["def sizeof(objType: type) -> int: ...", "", "class checked:"]
            for name in functions:
                lines += ["    @staticmethod", "    " + self.function(name, True)]
        if self.module.name == "runtime":
            lines += RUNTIME
        if self.module.name == "nvml":
            lines += NVML
        return HEAD + "\n".join(lines) + "\n"
