# SPDX-License-Identifier: Apache-2.0
"""``python -m tessera tour | doctor | run script.py | report script.py | tileir file | cache``."""

from __future__ import annotations

import sys

from ._errors import did_you_mean

USAGE = """usage: python -m tessera COMMAND

commands:
  tour [--device cpu|cuda]   run, check and time real kernels on this machine
  doctor                     what was found here: driver, GPU, LLVM, caches, what is missing
  doctor [--numpy] [--json FILE] SCRIPT [ARGS...]
                             run a script; of each line what its arrays did, what that cost, and what to do about it
  run [--strict] [--numpy] SCRIPT [ARGS...]
                             run a script written for `cuda.tile`, `cuda.bindings`, `cuda.core`, `cuda.compute`, `cupy`,
                             `cupynumeric`, `numba.cuda`, `nvmath`, `pycuda` (`run --help` names all) on Tessera, with
                             --numpy one for `numpy`; `-m MODULE` instead of SCRIPT runs a module
  report [--target T] SCRIPT [ARGS...]
                             run a script; of each kernel it launches, what it costs and what bounds it
  tileir FILE [--to ir|sm_90] [--run ARGUMENTS... --grid N]
                             print, check, convert or run Tile IR bytecode
  cache [list | clear]       the compiled kernels on disk
"""


def main(arguments: list[str] | None = None) -> int:
    """The command line."""
    words = sys.argv[1:] if arguments is None else arguments
    if words[:1] == ["tour"]:
        from .tour import main as tour

        return tour(words[1:])
    if words[:1] == ["doctor"]:
        from ._doctor import main as doctor

        return doctor(words[1:])
    if words[:1] == ["run"]:
        from ._run import main as run

        return run(words[1:])
    if words[:1] == ["report"]:
        from ._report import main as report

        return report(words[1:])
    if words[:1] == ["tileir"]:
        from ._tileir import main as tileir

        return tileir(words[1:])
    if words[:1] == ["cache"]:
        from ._cache_command import main as cache

        return cache(words[1:])
    if words == ["--version"]:
        from . import __version__

        print(__version__)
        return 0
    if words and not words[0].startswith("-"):
        known = ["tour", "doctor", "run", "report", "tileir", "cache"]
        hint = did_you_mean(words[0], known)
        print(f"tessera: there is no command {words[0]!r}{hint}", file=sys.stderr)
    asked = words[:1] in (["-h"], ["--help"])
    print(USAGE, end="", file=sys.stdout if asked else sys.stderr)
    return 0 if asked else 2


if __name__ == "__main__":
    sys.exit(main())
