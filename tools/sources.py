"""Prints the C sources under the folders given, sorted, one a line (for meson.build)."""

import pathlib
import sys

for folder in sys.argv[1:]:
    for path in sorted(pathlib.Path(__file__).parent.parent.joinpath(folder).rglob("*.c")):
        if not {"fuzz", "mock"} & set(path.parts):
            print(path.relative_to(pathlib.Path(__file__).parent.parent))
