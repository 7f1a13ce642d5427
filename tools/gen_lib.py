# SPDX-License-Identifier: Apache-2.0
"""Packs the kernels of python/tessera/lib that include/tessera/lib.h lists, for programs without Python.

python tools/gen_lib.py            writes src/lib/packs.def
python tools/gen_lib.py --check    says whether it is fresh
"""

from __future__ import annotations

import importlib
import pathlib
import re
import struct
import sys
from collections.abc import Iterator

import generated
from generated import ROOT

PYTHON = ROOT / "python"
HEADER = ROOT / "include/tessera/lib.h"
OUT = ROOT / "src/lib/packs.def"
if any((PYTHON / "tessera").glob("_core*.so")):  # else the installed package, of the same sources
    sys.path.insert(0, str(PYTHON))

from tessera import _core, _pack
from tessera.tile._kernel import _DEFAULTS

PACKAGES = pathlib.Path(_pack.__file__).parent.parent  # where the sources lie that are packed

TEXT = 4000  # bytes of a C string; compilers need not take more than 4095


class Portable(_pack._Packer):
    """A packer whose files are named from python/ on: a pack is the same on every machine."""

    def text(self, value: str) -> int:
        return super().text(self.portable(value))

    @staticmethod
    def portable(value: str) -> str:
        return value.removeprefix(f"{PACKAGES}/")


def rows() -> list[tuple[str, str, str]]:
    """Name, module and arrays of each kernel, in the order of the header."""
    table = HEADER.read_text().split("#define TS_LIB_KERNELS(X)", 1)[1].split("\n\n", 1)[0]
    return re.findall(r'X\((\w+), (\w+), "([\w ]*)"\)', table)


def text_of(blob: bytes) -> str:
    """A C string; NUL in octal, which a digit may not follow."""
    signs = {0: "\\000", 10: "\\n", 34: '\\"', 92: "\\\\"}
    return "".join(signs.get(c) or (chr(c) if 32 <= c < 127 else f"\\{c:03o}") for c in blob)


def wrapped(words: tuple[int, ...]) -> Iterator[str]:
    line = ""
    for word in words:
        if len(line) > 110:
            yield line
            line = ""
        line += f"{word},"
    yield line


def parts(blob: bytes) -> Iterator[bytes]:
    """Pieces that end in NUL, as the strings of C do."""
    while len(blob) > TEXT:
        end = blob.rindex(b"\0", 0, TEXT) + 1
        yield blob[:end]
        blob = blob[end:]
    yield blob


def packed(name: str, module: str, arrays: str) -> Iterator[str]:
    """The lines of one kernel."""
    kernel = getattr(importlib.import_module(f"tessera.lib.{module}"), f"{name}_kernel")
    _, _, _, params, hints, host = kernel._prepare()
    if host.asks:
        raise SystemExit(f"{name}_kernel has expressions that Python evaluates, which clients in C cannot")
    if hints != ((0, tuple(_DEFAULTS.get(hint, 0) for hint in _core.HINTS)),):
        raise SystemExit(
            f"{name}_kernel has hints of its own, which kernel.c does not know: {hints}"
        )
    if any(any(p[5:]) for p in params):
        raise SystemExit(f"{name}_kernel has annotations that the rows below do not carry: {params}")
    if [p.name for p in params][: len(arrays.split())] != arrays.split():
        raise SystemExit(
            f"{name}_kernel takes {params}, but lib.h says that its arrays are {arrays}"
        )
    packer = Portable()
    packer.object(kernel._function)
    pack = packer.bytes()
    n_bytes = struct.unpack_from("<8I", pack)[7]
    words = struct.unpack_from(f"<{(len(pack) - n_bytes) // 4}I", pack)
    texts = [*parts(pack[-n_bytes:])]
    yield f"\n#define LIB_BYTES_{name} {len(pack)}\nstatic const ts_param lib_params_{name}[] = {{"
    yield from (f'    {{"{p.name}", {", ".join(map(str, p[1:5]))}}},' for p in params)
    yield f"}};\nstatic const struct {{\n    uint32_t words[{len(words)}];"
    yield from (f"    char text{i}[{len(text)}];" for i, text in enumerate(texts))
    yield f"}} lib_pack_{name} = {{\n{{"
    yield from wrapped(words)
    yield "},"
    for text in texts:
        lines = text_of(text[:-1]).replace("\\n", '\\n"\n"')
        yield f'"{lines}",'
    yield "};"


def table() -> str:
    lines = [
        "/* SPDX-License-Identifier: Apache-2.0",
        " *",
        " * The library's kernels as packs (src/lang/pack.h), written by tools/gen_lib.py from python/tessera/lib.",
        " */",
    ]
    for row in rows():
        lines += packed(*row)
    return "\n".join([*lines, ""])


if __name__ == "__main__":
    sys.exit(generated.settle({OUT: table()}))
