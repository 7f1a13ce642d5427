# SPDX-License-Identifier: Apache-2.0
"""``python -m tessera run script.py``: a script's ``import cuda.tile`` gives ``tessera.tile``, and
so on.

Only names are redirected, in this process and its children; nothing is installed and no other
package is touched. A real ``cuda`` package that is installed keeps its other submodules, unless
``--strict``.
"""

from __future__ import annotations

import builtins
import contextlib
import importlib
import importlib.abc
import importlib.machinery
import os
import runpy
import sys
import types
from collections.abc import Iterator, Sequence
from typing import Any

from ._errors import did_you_mean

__all__ = ["install", "main"]

ALIASES = {
    "cuda.tile": "tessera.tile",
    "cuda.tiles": "tessera.tiles",
    "cuda.bindings": "tessera.bindings",
    "cuda.coop": "tessera.coop",
    "cuda.cooperative": "tessera.coop._old",
    "cuda.cccl.cooperative": "tessera.coop._old",
    "cuda.cccl.parallel": "tessera.compute._old",
    "cuda.parallel": "tessera.compute._old",
    "cuda.compute": "tessera.compute",
    "cuda.core.experimental": "tessera.core",  # before 1.0
    "cuda.core": "tessera.core",
    "cuda.jit": "tessera.cuda._auto",
    "cuda.pathfinder": "tessera.pathfinder",
    "cuda.profiler": "tessera.profiler",
    "cupy.numeric": "tessera.numeric",
    "cupy": "tessera.cupy",
    "cupynumeric.fft": "tessera.numeric.fft",
    "cupynumeric": "tessera.cupynumeric",
    "cupyx": "tessera.cupyx",
    "numba.cuda.cudadrv": "tessera.cuda._cudadrv",
    "numba.cuda": "tessera.cuda",
    "nvmath.random": "tessera.numeric.random",
    "nvmath": "tessera.nvmath",
    "pycuda": "tessera.pycuda",
}
# Packages under the alias's own name, so that modules which others add to them are found, too.
PACKAGES = {"numba.cuda.cudadrv"}
# Packages that others may have, and the module that answers where they do not. `cuda` is a package without a file
# (CUDA Python's parts share the name): ours then has the folders of the others.
PARENTS = {
    "cuda": "tessera.cuda._package",
    "cuda.cccl": "tessera._cccl",
    "numba": "tessera.cuda._numba",
    "numba.core": "tessera.cuda._numba_core",
    "numba.core.cgutils": "tessera.cuda.cgutils",
    "numba.core.extending": "tessera.cuda.extending",
    "numba.core.imputils": "tessera.cuda.extending",
    "numba.extending": "tessera.cuda.extending",
}
# Tells child processes what to do; _alias/sitecustomize.py reads it.
VARIABLE = "TESSERA_ALIASES"
USAGE = """usage: python -m tessera run [--strict] [--numpy] [--doctor] [--json FILE] (SCRIPT | -m MODULE) [ARGS...]

The script's `cuda.tile`, `cuda.tiles`, `cuda.bindings`, `cuda.compute`, `cuda.coop`, `cuda.core`, `cuda.jit`,
`cuda.pathfinder`, `cuda.profiler`, `cupy`, `cupynumeric`, `cupyx`, `numba.cuda`, `nvmath` and `pycuda` are Tessera's,
in child processes too. Other parts of an installed `cuda` or `numba` package stay importable, unless --strict. With
--numpy the script's own `import numpy` gives `tessera.numeric`; what it imports has NumPy. With --doctor a report
follows: what the arrays of `tessera.numeric` and `cupy` did at each line, and what it cost; --json writes it to a
file."""
NOTHING_SEEN = """tessera: no array of `tessera.numeric` or `cupy` did anything. NumPy's own arrays are not watched:
with --numpy a script's `import numpy` gives `tessera.numeric`."""
OPTIONS = ("--strict", "--numpy", "--doctor")
# Modules of cuda-python 11, and where their names are since.
RETIRED = {
    "cuda.cuda": "cuda.bindings.driver",
    "cuda.cudart": "cuda.bindings.runtime",
    "cuda.nvrtc": "cuda.bindings.nvrtc",
}


def _target(name: str) -> str | None:
    """tessera.bindings.driver for cuda.bindings.driver; None for names that are not ours."""
    for alias, target in ALIASES.items():
        if name == alias or name.startswith(alias + "."):
            return target + name[len(alias) :]
    return None


def _exists(name: str) -> bool:
    """Whether there is a module of ours, also below one that there is not."""
    try:
        return importlib.util.find_spec(name) is not None
    except ModuleNotFoundError:
        return False


class _Loader(importlib.abc.Loader):
    """Gives the module of Tessera itself, not a copy: classes under both names are the same."""

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> types.ModuleType:
        module = importlib.import_module(_target(spec.name) or PARENTS.get(spec.name) or spec.name)
        self.spec: Any = module.__spec__
        if spec.submodule_search_locations is not None and self.spec.submodule_search_locations is None:
            self.spec.submodule_search_locations = []  # others who look for parts of it are told that it has parts
        return module

    def exec_module(self, module: types.ModuleType) -> None:
        module.__spec__ = self.spec  # the import system has put the alias's spec there


class _Package(importlib.abc.Loader):
    """Gives a package without code."""

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> None:
        return None

    def exec_module(self, module: types.ModuleType) -> None:
        pass


class _Finder(importlib.abc.MetaPathFinder):
    """Finds the aliased modules, and their parents where there are no real ones."""

    def __init__(self, strict: bool) -> None:
        self.strict = strict

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: types.ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if name in PACKAGES:
            return importlib.machinery.ModuleSpec(name, _Package(), is_package=True)
        ours = _target(name)
        if ours and _exists(ours):
            return importlib.machinery.ModuleSpec(name, _Loader())
        if name in PARENTS:
            return self._parent(name, path, target)
        if name in RETIRED and (self.strict or not self._is_installed(name, path, target)):
            # Not a ModuleNotFoundError: `from cuda import cuda` would swallow that.
            raise ImportError(f"there is no {name}: import {RETIRED[name]} instead", name=name)
        return None

    def _parent(
        self, name: str, path: Sequence[str] | None, target: types.ModuleType | None
    ) -> importlib.machinery.ModuleSpec | None:
        """Our package, unless there is a real one with code of its own."""
        found = None if self.strict else self._installed(name, path, target)
        if found is not None and found.origin is not None:
            return None
        spec = importlib.machinery.ModuleSpec(name, _Loader(), is_package=True)
        spec.submodule_search_locations = list((found and found.submodule_search_locations) or ())
        return spec

    def _is_installed(
        self, name: str, path: Sequence[str] | None, target: types.ModuleType | None
    ) -> bool:
        return self._installed(name, path, target) is not None

    def _installed(
        self, name: str, path: Sequence[str] | None, target: types.ModuleType | None
    ) -> importlib.machinery.ModuleSpec | None:
        others = [f for f in sys.meta_path if f is not self and hasattr(f, "find_spec")]
        return next(filter(None, (f.find_spec(name, path, target) for f in others)), None)


def install(strict: bool = False) -> None:
    """Makes the peers' module names importable in this process."""
    importlib.import_module("importlib.util")
    sys.meta_path[:] = [_Finder(strict), *(f for f in sys.meta_path if not isinstance(f, _Finder))]


def _tell_children(strict: bool) -> None:
    """Child processes of Python start with _alias/sitecustomize.py, which installs the same
    names."""
    package = os.path.dirname(os.path.abspath(__file__))
    folders = [os.path.join(package, "_alias"), os.path.dirname(package)]
    given = [
        p for p in os.environ.get("PYTHONPATH", "").split(os.pathsep) if p and p not in folders
    ]
    os.environ["PYTHONPATH"] = os.pathsep.join([*folders, *given])
    os.environ[VARIABLE] = "strict" if strict else "1"


def _import_of_numpy(name: str, globals: Any = None, locals: Any = None, fromlist: Any = (), level: int = 0) -> Any:
    """``__import__`` of a script whose NumPy is `tessera.numeric`. C code that imports while a frame of the script
    runs, as NumPy's does for its own parts, comes here too: by PyImport_Import(), which asks for an empty list of
    names. An import of the script's text asks for None or a tuple."""
    of_c = isinstance(fromlist, list) and not fromlist
    if of_c or level or name.partition(".")[0] != "numpy":
        return builtins.__import__(name, globals, locals, fromlist, level)
    package = importlib.import_module("tessera.numeric")
    module: Any = package
    for part in name.split(".")[1:]:
        module = getattr(module, part)
    return module if fromlist else package


def _script_globals(numpy: bool) -> dict[str, Any]:
    if not numpy:
        return {}
    return {"__builtins__": {**vars(builtins), "__import__": _import_of_numpy}}


def main(arguments: list[str]) -> int:
    """Runs a script or module as ``__main__`` with the rest of the line as its arguments."""
    words, options, json = _options(arguments)
    strict, given = "--strict" in options, _script_globals("--numpy" in options)
    is_module = words[:1] == ["-m"]
    if words[:1] in (["-h"], ["--help"]):
        print(USAGE)
        return 0
    if words and words[0].startswith("-") and not is_module:
        hint = did_you_mean(words[0], [*OPTIONS, "--json", "--help", "-m"])
        print(f"tessera run: there is no option {words[0]!r}{hint}\n{USAGE}", file=sys.stderr)
        return 2
    if len(words) < 1 + is_module:
        print(USAGE, file=sys.stderr)
        return 2
    if not is_module and not os.path.isfile(words[0]):
        print(f"tessera run: there is no file {words[0]!r}", file=sys.stderr)
        return 2
    install(strict)
    _tell_children(strict)
    try:
        with _doctor(json) if json or "--doctor" in options else contextlib.nullcontext():
            if is_module:
                sys.argv = words[1:]
                sys.path.insert(0, os.getcwd())
                runpy.run_module(words[1], given, run_name="__main__", alter_sys=True)
            else:
                sys.argv = words
                sys.path.insert(0, os.path.dirname(os.path.realpath(words[0])))
                runpy.run_path(words[0], given, run_name="__main__")
    except SystemExit as exc:
        if exc.code:
            raise
    return _left_faults()


def _options(arguments: list[str]) -> tuple[list[str], set[str], str]:
    """The script and its arguments, the options before it, and the file of --json."""
    words, options, json = arguments, set(), ""
    while words and (words[0] in OPTIONS or (words[0] == "--json" and len(words) > 1)):
        options.add(words[0])
        if words[0] == "--json":
            json = words[1]
        words = words[2 if words[0] == "--json" else 1 :]
    return words, options, json


@contextlib.contextmanager
def _doctor(json: str) -> Iterator[None]:
    """Watches arrays meanwhile; then prints what it saw, or writes it to a file."""
    doctor = importlib.import_module("tessera.numeric").doctor()
    try:
        with doctor:
            yield
    finally:
        if json:
            with open(json, "w", encoding="utf-8") as file:
                file.write(doctor.json() + "\n")
        else:
            print(doctor, file=sys.stderr)
        if not doctor.findings:
            print(NOTHING_SEEN, file=sys.stderr)


def _left_faults() -> int:
    """1 where a kernel of the script failed and the script did not wait for it. The CPU device's work is waited for, as
    at the end of any process; of a GPU, which may hang, only what has ended counts."""
    from . import _core, _errors

    try:
        _core.synchronize("cpu")
    except _errors.KernelError as exc:
        print(f"tessera: a kernel failed, and nothing waited for it: {exc}", file=sys.stderr)
        return 1
    return int(_core._tell_faults() > 0)
