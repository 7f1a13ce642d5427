# SPDX-License-Identifier: Apache-2.0
"""The tour's real input: a photograph through a Gaussian blur and a Sobel filter, and a picture by a program of arrays.

The picture is Grace Hopper's portrait that comes with matplotlib (U.S. Navy photograph, 1984, public
domain), loaded from the package, not from the network.
"""

from __future__ import annotations

import pathlib
from typing import Any

import numpy as np

import tessera
from tessera import _array
from tessera.lib import image

from . import gallery

__all__ = ["CREDIT", "filter_photo", "react"]

CREDIT = "Grace Hopper, U.S. Navy photograph (public domain), as shipped with matplotlib"


def _photo() -> np.ndarray:
    import matplotlib
    from PIL import Image

    path = pathlib.Path(matplotlib.get_data_path()) / "sample_data" / "grace_hopper.jpg"
    return np.asarray(Image.open(path).convert("RGB"), dtype=np.float32) / np.float32(255)


def gaussian(radius: int, sigma: float) -> np.ndarray:
    """Normalised weights of 2 * radius + 1 taps."""
    x = np.arange(-radius, radius + 1)
    w = np.exp(-0.5 * (x / sigma) ** 2)
    return (w / w.sum()).astype(np.float32)


def _blur_reference(plane: np.ndarray, weights: np.ndarray) -> np.ndarray:
    result = plane.astype(np.float64)
    radius = len(weights) // 2
    for axis in (1, 0):
        width = [(0, 0), (0, 0)]
        width[axis] = (radius, radius)
        padded = np.pad(result, width, mode="edge")
        taps = np.lib.stride_tricks.sliding_window_view(padded, len(weights), axis)
        result = taps @ weights.astype(np.float64)
    return result


def _sobel_reference(plane: np.ndarray) -> np.ndarray:
    p = np.pad(plane.astype(np.float64), 1, mode="edge")
    gx = (p[:-2, 2:] + 2 * p[1:-1, 2:] + p[2:, 2:]) - (p[:-2, :-2] + 2 * p[1:-1, :-2] + p[2:, :-2])
    gy = (p[2:, :-2] + 2 * p[2:, 1:-1] + p[2:, 2:]) - (p[:-2, :-2] + 2 * p[:-2, 1:-1] + p[:-2, 2:])
    return np.sqrt(gx * gx + gy * gy)


def _on(device: str, plane: np.ndarray) -> Any:
    return _array.array(np.ascontiguousarray(plane), device=device)


def react(device: str, folder: pathlib.Path, small: bool) -> tuple[pathlib.Path, float]:
    """Writes reaction.png, by a program of arrays; gives its path and the greatest error of its first steps."""
    found, wanted = gallery.run("reaction", device, steps=20), gallery.by_numpy("reaction", steps=20)
    path = folder / "reaction.png"
    gallery.write("reaction", gallery.run("reaction", device, steps=100 if small else 4000), path)
    return path, float(np.abs(found - wanted).max())


def filter_photo(device: str, folder: pathlib.Path) -> tuple[list[pathlib.Path], float]:
    """Writes photo.png, blur.png and edges.png; gives their paths and the greatest error."""
    from PIL import Image

    photo = _photo()
    weights = gaussian(9, 3.0)
    taps = _on(device, weights)
    blurred, worst = [], 0.0
    for channel in range(3):
        plane = _on(device, photo[:, :, channel])
        scratch = tessera.empty(plane.shape, "float32", device)
        out = tessera.empty(plane.shape, "float32", device)
        image.blur(plane, taps, scratch, out)
        blurred.append(out.numpy())
        worst = max(
            worst, float(np.abs(blurred[-1] - _blur_reference(photo[:, :, channel], weights)).max())
        )
    grey = np.ascontiguousarray(photo @ np.array([0.299, 0.587, 0.114], np.float32))
    edges = tessera.empty(grey.shape, "float32", device)
    image.sobel(_on(device, grey), edges)
    worst = max(worst, float(np.abs(edges.numpy() - _sobel_reference(grey)).max()))
    pictures = {
        "photo": photo,
        "blur": np.stack(blurred, axis=2),
        "edges": edges.numpy() / edges.numpy().max(),
    }
    paths = []
    for name, pixels in pictures.items():
        paths.append(folder / f"{name}.png")
        Image.fromarray((np.clip(pixels, 0, 1) * 255 + 0.5).astype(np.uint8)).save(paths[-1])
    return paths, worst
