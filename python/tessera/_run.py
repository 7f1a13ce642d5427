# SPDX-License-Identifier: Apache-2.0
"""``python -m tessera run script.py``: a script's ``import cuda.tile`` gives ``tessera.tile``.

Only names are redirected, in this process; nothing is installed and no other package is touched. A real
``cuda`` package that is installed keeps its other submodules.
"""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.machinery
import os
import runpy
import sys
import types
from collections.abc import Sequence

__all__ = ["install", "main"]

ALIASES = {"cuda.tile": "tessera.tile", "cuda.tile.tune": "tessera.tile.tune"}


class _Loader(importlib.abc.Loader):
    def create_module(self, spec: importlib.machinery.ModuleSpec) -> types.ModuleType:
        return importlib.import_module(ALIASES[spec.name])

    def exec_module(self, module: types.ModuleType) -> None:
        pass


class _Finder(importlib.abc.MetaPathFinder):
    """Finds the aliased modules, and an empty ``cuda`` package where there is no real one."""

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: types.ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if name in ALIASES:
            return importlib.machinery.ModuleSpec(name, _Loader())
        if name == "cuda":
            others = [f for f in sys.meta_path if f is not self and hasattr(f, "find_spec")]
            if any(f.find_spec(name, path, target) for f in others):
                return None
            return importlib.machinery.ModuleSpec(name, None, is_package=True)
        return None


def install() -> None:
    """Makes the peers' module names importable in this process."""
    if not any(isinstance(f, _Finder) for f in sys.meta_path):
        sys.meta_path.insert(0, _Finder())


def main(arguments: list[str]) -> int:
    """Runs the script as ``__main__`` with the rest of the line as its arguments."""
    if not arguments:
        print("usage: python -m tessera run SCRIPT [ARGS...]", file=sys.stderr)
        return 2
    if not os.path.isfile(arguments[0]):
        print(f"tessera run: there is no file {arguments[0]!r}", file=sys.stderr)
        return 2
    install()
    sys.argv = arguments
    sys.path.insert(0, str(importlib.import_module("pathlib").Path(arguments[0]).resolve().parent))
    runpy.run_path(arguments[0], run_name="__main__")
    return 0
