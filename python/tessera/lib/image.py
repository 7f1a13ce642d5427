# SPDX-License-Identifier: Apache-2.0
"""Two filters of image processing: a separable blur and Sobel edges. Pixels outside the picture
repeat its edge, so neighbours are gathered by clamped coordinates instead of loaded as tiles.
"""

from __future__ import annotations

from typing import Any

import tessera.tile as ct

from . import _check as check
from ._rules import accept, is_accepted

TILE = (8, 128)


def _places(axis: int, block: Any, size: int) -> Any:
    """Row or column numbers of a block's pixels, shaped to broadcast to (rows, columns)."""
    return ct.expand_dims(block * size + ct.arange(size, dtype=ct.int32), 1 - axis)


def _clamp(i: Any, n: Any) -> Any:
    """The nearest of 0 .. n - 1."""
    return ct.minimum(ct.maximum(i, 0), n - 1)


@ct.kernel
def blur_kernel(
    image, weights, out, RADIUS: ct.Constant[int], AXIS: ct.Constant[int],
    ROWS: ct.Constant[int], COLS: ct.Constant[int],
):  # fmt: skip
    """A tile of the picture convolved with 2 * RADIUS + 1 weights along one axis."""
    height, width = image.shape
    row = _places(0, ct.bid(0), ROWS)
    col = _places(1, ct.bid(1), COLS)
    acc = ct.zeros((ROWS, COLS), dtype=ct.float32)
    for tap in range(2 * RADIUS + 1):
        shift = tap - RADIUS
        y = _clamp(row + shift, height) if AXIS == 0 else row
        x = _clamp(col + shift, width) if AXIS == 1 else col
        acc = acc + ct.gather(image, (y, x)) * ct.gather(weights, tap)
    ct.store(out, index=(ct.bid(0), ct.bid(1)), tile=acc)


def _across(image: Any, row: Any, left: Any, col: Any, right: Any) -> Any:
    """A row of pixels: those on the left, in the middle and on the right."""
    return (
        ct.gather(image, (row, left)), ct.gather(image, (row, col)), ct.gather(image, (row, right)),
    )  # fmt: skip


@ct.kernel
def sobel_kernel(image, out, ROWS: ct.Constant[int], COLS: ct.Constant[int]):
    """A tile of gradients, from the eight neighbours of each pixel."""
    height, width = image.shape
    row = _places(0, ct.bid(0), ROWS)
    col = _places(1, ct.bid(1), COLS)
    up, down = _clamp(row - 1, height), _clamp(row + 1, height)
    left, right = _clamp(col - 1, width), _clamp(col + 1, width)
    nw, n, ne = _across(image, up, left, col, right)
    west, east = ct.gather(image, (row, left)), ct.gather(image, (row, right))
    sw, s, se = _across(image, down, left, col, right)
    gx = (ne + 2.0 * east + se) - (nw + 2.0 * west + sw)
    gy = (sw + 2.0 * s + se) - (nw + 2.0 * n + ne)
    ct.store(out, index=(ct.bid(0), ct.bid(1)), tile=ct.sqrt(gx * gx + gy * gy))


def _grid(function: str, image: Any, tile: tuple[int, int]) -> tuple[int, int, int]:
    """A block for each tile."""
    if tile is not TILE:
        check.tile(function, "tile", tile, 2)
    return (ct.cdiv(image.shape[0], tile[0]), ct.cdiv(image.shape[1], tile[1]), 1)


def blur(
    image: Any, weights: Any, scratch: Any, out: Any,
    stream: Any = None, tile: tuple[int, int] = TILE,
) -> None:  # fmt: skip
    """Convolves a picture with ``weights`` along both axes, first along rows.

    Parameters
    ----------
    image, out : array (H, W) of float32
    weights : array (2 R + 1,) of float32
        The middle one belongs to the pixel itself. A Gaussian's sum to 1.
    scratch : array (H, W) of float32
        Takes the picture blurred along rows.
    stream : stream, optional
    tile : (int, int)
        Rows and columns of a block, powers of two.

    Raises
    ------
    ValueError
        When shapes do not fit, ``weights`` have no middle, or arrays share memory; but ``out`` may
        be ``image``.
    TypeError
        For other dtypes.
    """
    if not is_accepted("blur", image, weights, out, scratch):
        check.rank("blur", "image", image, 2)
        check.same_shape("blur", image=image, scratch=scratch, out=out)
        (taps,) = check.rank("blur", "weights", weights, 1)
        if taps % 2 == 0:
            raise ValueError(f"blur: weights has {taps} elements, wanted an odd number")
        accept("blur", image, weights, out, scratch)
    radius = weights.shape[0] // 2
    grid = _grid("blur", image, tile)
    ct.launch(stream, grid, blur_kernel, (image, weights, scratch, radius, 1, *tile))
    ct.launch(stream, grid, blur_kernel, (scratch, weights, out, radius, 0, *tile))


def sobel(image: Any, out: Any, stream: Any = None, tile: tuple[int, int] = TILE) -> None:
    """Magnitude of a picture's gradient by the 3 x 3 Sobel operator: 8 times the slope per pixel.

    Parameters
    ----------
    image, out : array (H, W) of float32
    stream : stream, optional
    tile : (int, int)
        Rows and columns of a block, powers of two.

    Raises
    ------
    ValueError
        When shapes do not fit, or ``out`` shares memory with ``image``.
    TypeError
        For other dtypes.
    """
    if not is_accepted("sobel", image, out):
        check.rank("sobel", "image", image, 2)
        check.same_shape("sobel", image=image, out=out)
        accept("sobel", image, out)
    ct.launch(stream, _grid("sobel", image, tile), sobel_kernel, (image, out, *tile))
