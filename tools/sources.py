"""Prints the C sources under the folders given, sorted, one a line (for meson.build).

Programs of their own (tests/fuzz, tests/mock) are left out, wherever the checkout itself lies."""

import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent

for folder in sys.argv[1:]:
    for path in sorted(ROOT.joinpath(folder).rglob("*.c")):
        name = path.relative_to(ROOT)
        if not {"fuzz", "mock"} & set(name.parts):
            print(name)
