# SPDX-License-Identifier: Apache-2.0
"""Short programs of arrays, each of which makes a picture: ``python -m tessera.tour.gallery.heat --device cuda``.

Each module has a function of its own name with sizes that have defaults. It gives the picture, rows of numbers from 0
to 1; the module's `COLORS` names matplotlib's colours for it.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import pathlib
from typing import Any

import numpy

__all__ = ["PROGRAMS", "by_numpy", "main", "run", "write"]

PROGRAMS = ("heat", "mandelbrot", "life", "galaxy", "deblur", "reaction")


def run(name: str, device: str, **sizes: Any) -> numpy.ndarray[Any, Any]:
    """The picture of a program, computed on a device."""
    import tessera.numeric

    module = importlib.import_module(f"{__name__}.{name}")
    with tessera.numeric.device(device):
        return numpy.asarray(getattr(module, name)(**sizes), numpy.float32)


def by_numpy(name: str, **sizes: Any) -> numpy.ndarray[Any, Any]:
    """The picture of a program as NumPy computes it: the same module with another ``np``."""
    spec: Any = importlib.util.find_spec(f"{__name__}.{name}")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.np = numpy  # type: ignore[attr-defined]
    return numpy.asarray(getattr(module, name)(**sizes), numpy.float32)


def write(name: str, picture: numpy.ndarray[Any, Any], path: pathlib.Path) -> None:
    """Writes a picture of a program, in its colours, as a PNG of at most 256 of them."""
    from matplotlib import colormaps
    from PIL import Image

    colors = colormaps[importlib.import_module(f"{__name__}.{name}").COLORS]
    pixels = (colors(numpy.clip(picture, 0, 1))[..., :3] * 255).round().astype(numpy.uint8)
    Image.fromarray(pixels).quantize(64).save(path, optimize=True)


def main(name: str) -> None:
    """The command line of a program."""
    parser = argparse.ArgumentParser(prog=f"tessera.tour.gallery.{name}")
    parser.add_argument("--device", default="cpu", help="cpu, cuda, cuda:1")
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path(f"{name}.png"))
    options = parser.parse_args()
    write(name, run(name, options.device), options.out)
    print(options.out)
