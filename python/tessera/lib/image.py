# SPDX-License-Identifier: Apache-2.0
"""Two filters of image processing: separable Gaussian blur and Sobel edges. Pixels outside the
picture repeat its edge.
"""

from __future__ import annotations

from typing import Any

import tessera.tile as ct

from . import _check as check


def _places(axis: int, block: Any, size: int) -> Any:
    """Row or column numbers of a block's pixels, shaped to broadcast to (rows, columns)."""
    return ct.expand_dims(block * size + ct.arange(size, dtype=ct.int32), 1 - axis)


def _clamp(i: Any, n: Any) -> Any:
    return ct.minimum(ct.maximum(i, 0), n - 1)


@ct.kernel
def blur_kernel(
    image,
    weights,
    out,
    RADIUS: ct.Constant[int],
    AXIS: ct.Constant[int],
    TH: ct.Constant[int],
    TW: ct.Constant[int],
):
    h, w = image.shape
    r = _places(0, ct.bid(0), TH)
    c = _places(1, ct.bid(1), TW)
    acc = ct.zeros((TH, TW), dtype=ct.float32)
    for tap in range(2 * RADIUS + 1):
        shift = tap - RADIUS
        row = _clamp(r + shift, h) if AXIS == 0 else r
        col = _clamp(c + shift, w) if AXIS == 1 else c
        acc = acc + ct.gather(image, (row, col)) * ct.gather(weights, tap)
    ct.store(out, index=(ct.bid(0), ct.bid(1)), tile=acc)


@ct.kernel
def sobel_kernel(image, out, TH: ct.Constant[int], TW: ct.Constant[int]):
    h, w = image.shape
    r = _places(0, ct.bid(0), TH)
    c = _places(1, ct.bid(1), TW)
    up, down = _clamp(r - 1, h), _clamp(r + 1, h)
    left, right = _clamp(c - 1, w), _clamp(c + 1, w)
    nw, n, ne = (
        ct.gather(image, (up, left)),
        ct.gather(image, (up, c)),
        ct.gather(image, (up, right)),
    )
    west, east = ct.gather(image, (r, left)), ct.gather(image, (r, right))
    sw, s, se = (
        ct.gather(image, (down, left)),
        ct.gather(image, (down, c)),
        ct.gather(image, (down, right)),
    )
    gx = (ne + 2.0 * east + se) - (nw + 2.0 * west + sw)
    gy = (sw + 2.0 * s + se) - (nw + 2.0 * n + ne)
    ct.store(out, index=(ct.bid(0), ct.bid(1)), tile=ct.sqrt(gx * gx + gy * gy))


def _grid(image: Any, tile: tuple[int, int]) -> tuple[int, int, int]:
    return (ct.cdiv(image.shape[0], tile[0]), ct.cdiv(image.shape[1], tile[1]), 1)


def blur(
    image: Any,
    weights: Any,
    scratch: Any,
    out: Any,
    stream: Any = None,
    tile: tuple[int, int] = (8, 128),
) -> None:
    """Convolves a (rows, columns) float32 picture with ``weights`` along both axes.

    ``weights`` has odd length; ``scratch`` and ``out`` have the picture's shape.
    """
    check.rank("blur", "image", image, 2)
    check.same_shape("blur", image=image, scratch=scratch, out=out)
    (taps,) = check.rank("blur", "weights", weights, 1)
    if taps % 2 == 0:
        raise ValueError(f"blur: weights has {taps} elements, wanted an odd number")
    radius = taps // 2
    grid = _grid(image, tile)
    ct.launch(stream, grid, blur_kernel, (image, weights, scratch, radius, 1, *tile))
    ct.launch(stream, grid, blur_kernel, (scratch, weights, out, radius, 0, *tile))


def sobel(image: Any, out: Any, stream: Any = None, tile: tuple[int, int] = (8, 128)) -> None:
    """Gradient magnitude of a (rows, columns) float32 picture by the 3 x 3 Sobel operator."""
    check.rank("sobel", "image", image, 2)
    check.same_shape("sobel", image=image, out=out)
    ct.launch(stream, _grid(image, tile), sobel_kernel, (image, out, *tile))
