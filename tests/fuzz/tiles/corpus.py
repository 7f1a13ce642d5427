# SPDX-License-Identifier: Apache-2.0
"""Programs that were once wrong, as files: each begins with why it is kept and with its arguments.

# why: bool tiles that a loop carries did not assemble on the GPU
# program: {"seed": 116, "arrays": [...], ...}
def kernel(...):
"""

from __future__ import annotations

import dataclasses
import functools
import json
import pathlib

from .program import Array, Program

FOLDER = pathlib.Path(__file__).resolve().parent / "corpus"
WHY, ARGUMENTS = "# why: ", "# program: "


@functools.cache
def files() -> list[pathlib.Path]:
    return sorted(FOLDER.glob("*.txt"))


def parse(file: str) -> Program:
    """The program of a file's text."""
    why, arguments, source = file.split("\n", 2)
    if not why.startswith(WHY) or not arguments.startswith(ARGUMENTS):
        raise ValueError(f"wanted lines '{WHY}' and '{ARGUMENTS}' first, found {why[:60]!r}")
    known = json.loads(arguments[len(ARGUMENTS) :])
    arrays = [
        Array(**{**a, "shape": tuple(a["shape"]), "window": a.get("window") and tuple(a["window"])})
        for a in known.pop("arrays", [])
    ]
    known["scalars"] = [tuple(s) for s in known.get("scalars", [])]
    known["grid"] = tuple(known["grid"])
    known["buffers"] = {n: tuple(b) for n, b in known.get("buffers", {}).items()}
    return Program(source=source, arrays=arrays, **known)


def text(program: Program, why: str) -> str:
    """The file of a program; arguments that have their usual values are left out."""
    usual = {f.name: f.default for f in dataclasses.fields(Array)}
    known = dataclasses.asdict(program)
    source = known.pop("source")
    known["arrays"] = [
        {k: v for k, v in a.items() if k not in usual or v != usual[k]} for a in known["arrays"]
    ]
    known = {k: v for k, v in known.items() if k == "grid" or v not in (None, [], {})}
    return f"{WHY}{why}\n{ARGUMENTS}{json.dumps(known)}\n{source}"


def generate(seed: int) -> Program:
    """The program of a file by its number, from 1."""
    return parse(files()[seed - 1].read_text())
