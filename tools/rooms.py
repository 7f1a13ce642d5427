# SPDX-License-Identifier: Apache-2.0
"""The floors of the house: which folder of src/ may use which, judged by includes and by the symbols of a build.

    python tools/rooms.py --check [BUILD]

Names tell inside from outside: a function that begins with ts_ is declared by a public header, ts__ is ours.

A room stands in the table after everything that it may use, so there is no cycle. The extension (ext/) may use what the
public headers declare and nothing else. Exits with 1 and names file and symbol where that is not so.
"""

from __future__ import annotations

import pathlib
import re
import subprocess
import sys
from collections.abc import Iterator

ROOT = pathlib.Path(__file__).resolve().parent.parent

# Folder of src/: what it may use besides itself and the public headers.
ROOMS = {
    "base": "",
    "table": "base",
    "fft": "base",
    "ir": "base table",
    "math": "base table ir",
    "tileir": "base table ir",
    "eval": "base table ir math",
    "pass": "base table ir math",
    "runtime": "base table ir",
    "target/ptx": "base table ir pass",
    "target/llvm": "base table ir pass runtime",
    "gpu/layout": "base",
    "gpu/plan": "base table ir pass gpu/layout",
    "gpu/lower": "base table ir pass gpu/layout gpu/plan",
    "gpu/schedule": "base table ir pass gpu/layout gpu/plan gpu/lower",
    "gpu": "base table ir pass target/ptx gpu/plan gpu/schedule",
    "lang": "base table ir math",
    "compile": "base table ir eval pass lang gpu target/llvm target/ptx",
    "device": "base table",
    "device/cpu": "base table runtime device",
    "device/cuda": "base table device",
    "registry": "base table device device/cpu device/cuda",
    "array": "base table device registry",
    "run": "base table ir compile target/llvm device registry array",
    "lib": "base table device registry array run",
    "numeric": "base table ir math runtime device registry array run",
}


def room_of(path: str) -> str:
    """The room of a file by its path below src/."""
    return max((r for r in ROOMS if path.startswith(f"{r}/")), key=len, default=path.split("/")[0])


def order() -> Iterator[str]:
    """Rooms that use what stands behind them."""
    seen: set[str] = set()
    for room, uses in ROOMS.items():
        seen.add(room)
        for other in uses.split():
            if other not in seen:
                yield f"tools/rooms.py: {room} may use {other}, which stands after it"


def includes() -> Iterator[str]:
    for path in sorted([*ROOT.glob("src/**/*.[ch]"), *ROOT.glob("src/**/*.def")]):
        name = str(path.relative_to(ROOT / "src"))
        room = room_of(name)
        if room not in ROOMS:
            yield f"src/{name}: the folder is in no row of tools/rooms.py"
            continue
        for other in re.findall(r'^#include "([\w./]+)"', path.read_text(), re.MULTILINE):
            if "/" not in other or other.startswith("tessera/"):
                continue
            if room_of(other) not in (room, *ROOMS[room].split()):
                yield f"src/{name}: {room} must not include {other}"


def symbols(*files: pathlib.Path, defined: bool) -> set[str]:
    kind = "--defined-only" if defined else "--undefined-only"
    done = subprocess.run(["nm", "-g", kind, *files], capture_output=True, text=True, check=True)
    return {
        line.split()[-1]
        for line in done.stdout.splitlines()
        if re.search(r" [A-TV-Zu] ", line) or not defined
    }


def objects(build: pathlib.Path, folder: str, glob: str) -> dict[str, pathlib.Path]:
    """Source path below `folder` -> its object file."""
    found = {}
    sources = {str(p.relative_to(ROOT)): p for p in (ROOT / folder).rglob("*.c")}
    for source in sources:
        name = source.replace("/", "_") + ".o"
        for path in build.glob(f"{glob}/{name}"):
            found[source.removeprefix(f"{folder}/")] = path
    return found


def links(build: pathlib.Path) -> Iterator[str]:
    """What the symbols of a build say."""
    core = objects(build, "src", "libtessera_core.a.p")
    if not core:
        yield f"{build}: holds no objects of the core; build it first"
    home = {s: name for name, path in core.items() for s in symbols(path, defined=True)}
    for name, path in core.items():
        room = room_of(name)
        for symbol in sorted(symbols(path, defined=False) & home.keys()):
            other = room_of(home[symbol])
            if other not in (room, *ROOMS[room].split()):
                yield f"src/{name}: {room} must not use {symbol} of src/{home[symbol]}"
    public = "\n".join(p.read_text() for p in ROOT.glob("include/tessera/*.h"))
    for symbol, name in sorted(home.items()):
        if re.match("ts_(?!_)", symbol) and not re.search(rf"\b{symbol}\b", public):
            yield f"src/{name}: {symbol} is in no public header: an internal name begins with ts__"
    for name, path in objects(build, "ext", "_core.*.p").items():
        for symbol in sorted(symbols(path, defined=False) & home.keys()):
            if not re.search(rf"\b{symbol}\b", public):
                yield f"ext/{name}: uses {symbol} of src/{home[symbol]}, which no public header declares"


def main() -> int:
    complaints = [*order(), *includes()]
    builds = [a for a in sys.argv[1:] if not a.startswith("-")]
    for build in builds:
        complaints += links(ROOT / build)
    for complaint in complaints:
        print(f"  {complaint}")
    by = "includes and symbols" if builds else "includes"
    print(f"  {len(ROOMS)} rooms by {by}: {len(complaints)} against the arrows")
    return int(bool(complaints) and "--check" in sys.argv)


if __name__ == "__main__":
    sys.exit(main())
