# SPDX-License-Identifier: Apache-2.0
"""Filters of images: those of `tessera.scipy.ndimage`, and one with many images and many weights."""

from __future__ import annotations

from typing import Any

from .. import numeric as tn
from ..scipy import ndimage as _ndimage
from ..scipy.ndimage import convolve

__all__ = ["batched_convolve", "convolve", "fourier_gaussian", "fourier_uniform"]

fourier_gaussian, fourier_uniform = _ndimage.fourier_gaussian, _ndimage.fourier_uniform


def batched_convolve(
    input: Any, weights: Any, output: Any = None, mode: str = "reflect", cval: Any = 0.0, origin: Any = 0
) -> Any:
    """The convolution of each image ``input[n]`` with each of ``weights[m]``, as ``result[n, m]``."""
    x, w = tn.asarray(input), tn.asarray(weights)
    if x.ndim < 2 or w.ndim < 2:
        raise ValueError("input and weights must include batch and spatial dimensions")
    if x.ndim != w.ndim:
        raise ValueError("input and weights must have the same dimensions")
    shape = (x.shape[0], w.shape[0], *x.shape[1:])
    if output is not None and (output.shape != shape or output.dtype != x.dtype):
        raise ValueError(
            f"output array of shape {output.shape} and dtype {output.dtype} does not match {shape} and {x.dtype}"
        )
    axes = tuple(range(1, x.ndim))
    made = tn.empty(shape, x.dtype) if output is None else output
    for m, one in enumerate(w.astype(x.dtype, copy=False)):
        made[:, m] = convolve(x, one, None, mode, cval, origin, axes=axes)
    return made


def __dir__() -> list[str]:
    return sorted({*__all__, *dir(_ndimage)})


def __getattr__(name: str) -> Any:
    return getattr(_ndimage, name)
