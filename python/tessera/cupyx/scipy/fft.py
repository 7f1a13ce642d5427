# SPDX-License-Identifier: Apache-2.0
"""Fourier transforms: those of `cupy.fft`, with SciPy's further arguments."""

from __future__ import annotations

from typing import Any

from ... import cupy
from .fftpack import get_fft_plan

__all__ = [
    "fft", "fft2", "fftfreq", "fftn", "fftshift", "get_fft_plan", "hfft", "ifft", "ifft2", "ifftn", "ifftshift",
    "ihfft", "irfft",
    "irfft2", "irfftn", "next_fast_len", "rfft", "rfft2", "rfftfreq", "rfftn",
]  # fmt: skip

fftshift, ifftshift, fftfreq, rfftfreq = (
    cupy.fft.fftshift,
    cupy.fft.ifftshift,
    cupy.fft.fftfreq,
    cupy.fft.rfftfreq,
)


def _line(name: str) -> Any:
    theirs = getattr(cupy.fft, name)

    def transform(
        x: Any,
        n: Any = None,
        axis: int = -1,
        norm: Any = None,
        overwrite_x: bool = False,
        *,
        plan: Any = None,
    ) -> Any:
        return theirs(x, n, axis, norm)

    transform.__name__, transform.__doc__ = name, theirs.__doc__
    return transform


def _axes(name: str, default: Any) -> Any:
    theirs = getattr(cupy.fft, name)

    def transform(
        x: Any,
        s: Any = None,
        axes: Any = default,
        norm: Any = None,
        overwrite_x: bool = False,
        *,
        plan: Any = None,
    ) -> Any:
        if s is not None and axes is None:
            axes = tuple(range(-len(s), 0))
        return theirs(x, s, axes, norm)

    transform.__name__, transform.__doc__ = name, theirs.__doc__
    return transform


fft, ifft, rfft, irfft = _line("fft"), _line("ifft"), _line("rfft"), _line("irfft")
hfft, ihfft = _line("hfft"), _line("ihfft")
fft2, ifft2, rfft2, irfft2 = (_axes(name, (-2, -1)) for name in ("fft2", "ifft2", "rfft2", "irfft2"))
fftn, ifftn, rfftn, irfftn = (_axes(name, None) for name in ("fftn", "ifftn", "rfftn", "irfftn"))


def next_fast_len(target: int, real: bool = False) -> int:
    """The least length from ``target`` on whose prime factors are 2, 3, 5 and 7."""
    n = max(int(target), 1)
    while True:
        rest = n
        for factor in (2, 3, 5, 7):
            while rest % factor == 0:
                rest //= factor
        if rest == 1:
            return n
        n += 1
