# SPDX-License-Identifier: Apache-2.0
"""Makes the pictures of docs/gallery anew, from the programs of tessera.tour.gallery; names choose some of them."""

from __future__ import annotations

import pathlib
import sys

from tessera.tour import gallery

FOLDER = pathlib.Path(__file__).resolve().parent.parent / "docs/gallery"

for name in sys.argv[1:] or gallery.PROGRAMS:
    gallery.write(name, gallery.run(name, "cpu"), FOLDER / f"{name}.png")
