# SPDX-License-Identifier: Apache-2.0
"""Filters of an image whose Fourier transform is given: products with what a filter has for each frequency."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy

from ... import numeric as tn
from ._windows import array_of, axes_of, per_axis

__all__ = ["fourier_gaussian", "fourier_shift", "fourier_uniform"]


def _filtered(
    input: Any, values: Any, n: int, axis: int, output: Any, is_complex: bool, response: Callable[[Any, Any], Any],
) -> Any:  # fmt: skip
    """``response(frequency, value)`` along each axis, times the input; frequencies go from -1/2 to 1/2."""
    x = array_of(input)
    if not x.ndim:
        raise RuntimeError("input must have rank > 0")
    axis = axes_of(x.ndim, axis)[0]
    values = per_axis(values, x.ndim)
    keeps = "c8 c16" if is_complex else "f4 f8 c8 c16"
    kept = any(x.dtype == kind for kind in keeps.split())
    dtype = x.dtype if kept else numpy.dtype("c16" if is_complex else "f8")
    if output is not None:
        dtype = output.dtype if isinstance(output, tn.ndarray) else numpy.dtype(output)
        if not any(dtype == kind for kind in keeps.split()):
            raise RuntimeError("output type not supported")
        if x.dtype.kind == "c" and dtype.kind != "c":
            raise RuntimeError("output must have complex dtype")
    made = x.astype("c16" if is_complex or x.dtype.kind == "c" else "f8", copy=False)
    for k, value in enumerate(values):
        if x.shape[k] == 1:
            continue
        is_half = k == axis and n >= 0  # of a transform of real numbers
        length = n if is_half else x.shape[k]
        places = numpy.arange(x.shape[k]) if is_half else numpy.fft.ifftshift(numpy.arange(length) - length // 2)
        with numpy.errstate(divide="ignore", invalid="ignore"):  # a transform of no length has no frequencies but NaN
            frequencies = tn.asarray(places / numpy.float64(length), device=x.device)
        shape = [1] * x.ndim
        shape[k] = x.shape[k]
        made = made * response(frequencies, float(value)).reshape(shape)
    if isinstance(output, tn.ndarray):
        if output.shape != x.shape:
            raise RuntimeError("output shape not correct")
        output[...] = made.astype(dtype, copy=False)
        return output
    return made.astype(dtype, copy=False)


def fourier_gaussian(input: Any, sigma: Any, n: int = -1, axis: int = -1, output: Any = None) -> Any:
    """The transform of an image that the bell curve smooths; ``n``: its length along ``axis``, of a real transform."""
    return _filtered(
        input, sigma, n, axis, output, False, lambda f, s: tn.exp(-2 * (math.pi * s) ** 2 * f * f)
    )


def fourier_uniform(input: Any, size: Any, n: int = -1, axis: int = -1, output: Any = None) -> Any:
    """The transform of an image whose windows of a size have their means."""

    def response(f: Any, s: float) -> Any:  # of a window of no size nothing is left but the sum
        first = tn.arange(f.size) == 0
        return tn.where(first, 1.0, tn.sinc(f * s) if s else 0.0)

    return _filtered(input, size, n, axis, output, False, response)


def fourier_shift(input: Any, shift: Any, n: int = -1, axis: int = -1, output: Any = None) -> Any:
    """The transform of an image that is moved."""
    return _filtered(
        input, shift, n, axis, output, True, lambda f, s: tn.exp(-2j * math.pi * s * f)
    )
