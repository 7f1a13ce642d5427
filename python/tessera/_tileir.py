# SPDX-License-Identifier: Apache-2.0
"""``python -m tessera tileir FILE``: Tile IR bytecode printed, checked, converted, run."""

from __future__ import annotations

import argparse
import os
import re
import sys
from typing import Any

from . import _core, tileir
from ._errors import did_you_mean

__all__ = ["main"]

DTYPES = {"bf16": "bfloat16", "f16": "float16", "f32": "float32", "f64": "float64", "i1": "bool", "i8": "int8",
          "i16": "int16", "i32": "int32", "i64": "int64"}  # fmt: skip
EPILOG = """\
an argument of --run is
  x.npy              an array that a file holds
  f32[64,8]=out.npy  an array of zeros, written to the file afterwards
  i32:5, f32:0.5     a number
"""


def _parser() -> argparse.ArgumentParser:
    p = argparse.ArgumentParser(
        prog="python -m tessera tileir",
        description="Reads Tile IR bytecode, checks it, and prints it.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    p.add_argument("file")
    p.add_argument("--to", metavar="FORM", help="ir: print Tessera's own; sm_80 and so on: print PTX; 13.3: write")
    p.add_argument("--output", metavar="FILE", help="where to write bytecode of another version")
    p.add_argument("--kernel", help="the kernel to convert or run; by default the first")
    p.add_argument("--run", nargs="*", metavar="ARGUMENT", help="run the kernel on the CPU")
    p.add_argument("--grid", default="1", help="blocks to run, as 8 or 4,2")
    return p


def _argument(word: str) -> tuple[Any, str | None]:
    """An argument of the launch, and the file that it is written to."""
    import numpy as np

    number, array = re.fullmatch(r"(\w+):(.+)", word), re.fullmatch(r"(\w+)\[([\d,]*)\](?:=(.+))?", word)
    found = number or array
    if not found and not os.path.isfile(word):
        raise ValueError(f"argument {word!r} is not a file; --run takes x.npy, f32[64,8], i32:5 or f32:0.5")
    if not found:
        return np.load(word), None
    if found[1] not in DTYPES:
        raise ValueError(f"{found[1]!r} is not an element type{did_you_mean(found[1], DTYPES)}")
    dtype: Any = DTYPES[found[1]]
    if dtype == "bfloat16":
        import ml_dtypes

        dtype = ml_dtypes.bfloat16
    if number:
        try:
            return np.dtype(dtype).type(float(found[2]) if "f" in found[1] else int(found[2])), None
        except ValueError:
            wanted = "a number" if "f" in found[1] else "an integer"
            raise ValueError(f"argument {word!r}: {found[2]!r} is not {wanted} for {found[1]}") from None
    shape = [int(n) for n in found[2].split(",") if n]
    return np.zeros(shape, dtype), found[3]


def _run(module: tileir.Module, options: argparse.Namespace) -> None:
    import numpy as np

    given = [_argument(word) for word in options.run]
    grid = tuple(int(n) for n in options.grid.split(","))
    _core.launch(None, grid, module.kernel(options.kernel), tuple(value for value, _ in given))
    for value, file in given:
        if file:
            np.save(file, value)


def _convert(module: tileir.Module, options: argparse.Namespace) -> str:
    from ._report import target_number

    versions = {f"13.{n % 10}": n for n in range(_core.TILEIR_OLDEST, _core.TILEIR_NEWEST + 1)}
    if options.to in versions:
        if not options.output:
            raise ValueError("bytecode is written to a file: give --output FILE")
        with open(options.output, "wb") as file:
            file.write(_core.tileir_rewrite(module.bytecode, versions[options.to]))
        return ""
    if options.to == "ir":
        return module.ir(options.kernel)
    number = target_number(options.to)
    code: bytes = _core.compile_text(module.ir(options.kernel or module.kernels[0]), number)
    return code.rstrip(b"\0 \n").decode() + "\n"


def main(arguments: list[str]) -> int:
    """The command."""
    options = _parser().parse_args(arguments)
    if not os.path.isfile(options.file):
        print(f"tessera tileir: there is no file {options.file!r}", file=sys.stderr)
        return 2
    try:
        module = tileir.read(options.file)
        if options.run is not None:
            _run(module, options)
        else:
            print(_convert(module, options) if options.to else str(module), end="")
    except Exception as error:  # of the file, of a conversion, of a launch: its text says it all
        print(f"tessera tileir: {error}", file=sys.stderr)
        return 1
    return 0
