# SPDX-License-Identifier: Apache-2.0
"""Writes the __init__.pyi of packages that import a public name only when it is used, for type
checkers and editors, from the package's own table of names.

    python tools/gen_packages.py [--check]
"""

from __future__ import annotations

import importlib
import sys
import types
from collections.abc import Iterator

import generated

ROOT = generated.ROOT / "python"
PACKAGES = ["tessera.core", "tessera.core.utils", "tessera.core.system"]
HEAD = "# The names of this package, by tools/gen_packages.py. Do not edit.\n"


def _places(module: types.ModuleType) -> Iterator[tuple[str, str]]:
    """(name, module of it) of all public names."""
    if hasattr(module, "_NAMES"):
        yield from module._NAMES.items()
        return
    for part in ("_system", *module._MODULES):
        place = "...bindings.nvml" if part == "exceptions" else f".{part}"
        found = importlib.import_module(f"{module.__name__}.{part}")
        yield from ((name, place) for name in found.__all__)


def stub(package: str) -> str:
    """One import a name, in the form that makes it public."""
    module = importlib.import_module(package)
    names = {name: place if place[0] == "." else f".{place}" for name, place in _places(module)}
    lines = [f"from {place} import {name} as {name}" for name, place in sorted(names.items())]
    modules = [name for name in getattr(module, "_MODULES", ()) if name[0] != "_"]
    lines += [f"from . import {name} as {name}" for name in sorted(modules)]
    return HEAD + "\n".join(lines) + "\n"


def main() -> int:
    """Writes the stubs, or with --check tells which are stale."""
    sys.path.append(str(ROOT))  # an installed package goes first: it has its extension
    return generated.settle(
        {ROOT / package.replace(".", "/") / "__init__.pyi": stub(package) for package in PACKAGES}
    )


if __name__ == "__main__":
    sys.exit(main())
