# SPDX-License-Identifier: Apache-2.0
"""SciPy's older transforms."""

from __future__ import annotations

from typing import Any

from ... import cupy

__all__ = ["fft", "fft2", "fftn", "get_fft_plan", "ifft", "ifft2", "ifftn", "irfft", "rfft"]


class Plan:
    """A transform that was prepared: nothing is prepared here, so ``with plan:`` changes nothing."""

    def __enter__(self) -> Plan:  # noqa: PYI034  no Self in Python 3.10
        return self

    def __exit__(self, *exception: object) -> None:
        pass


def get_fft_plan(a: Any, shape: Any = None, axes: Any = None, value_type: str = "C2C") -> Plan:
    """A plan for transforms of arrays as ``a``."""
    if value_type not in ("C2C", "R2C", "C2R"):
        raise ValueError(f"value_type is 'C2C', 'R2C' or 'C2R', found {value_type!r}")
    return Plan()


def fft(x: Any, n: Any = None, axis: int = -1, overwrite_x: bool = False, plan: Any = None) -> Any:
    """The transform along an axis."""
    return cupy.fft.fft(x, n, axis)


def ifft(x: Any, n: Any = None, axis: int = -1, overwrite_x: bool = False, plan: Any = None) -> Any:
    """The inverse transform along an axis."""
    return cupy.fft.ifft(x, n, axis)


def _several(name: str, default: Any) -> Any:
    theirs = getattr(cupy.fft, name)

    def transform(
        x: Any, shape: Any = None, axes: Any = default, overwrite_x: bool = False, plan: Any = None
    ) -> Any:
        if shape is not None and axes is None:
            axes = tuple(range(-len(shape), 0))
        return theirs(x, shape, axes)

    transform.__name__, transform.__doc__ = name, theirs.__doc__
    return transform


fft2, ifft2 = _several("fft2", (-2, -1)), _several("ifft2", (-2, -1))
fftn, ifftn = _several("fftn", None), _several("ifftn", None)


def rfft(x: Any, n: Any = None, axis: int = -1, overwrite_x: bool = False, plan: Any = None) -> Any:
    """The transform of real numbers, packed into as many: y0, Re y1, Im y1, Re y2, .."""
    made = cupy.moveaxis(cupy.fft.rfft(x, n, axis), axis, -1)
    length = x.shape[axis] if n is None else n
    pairs = cupy.stack([made.real, made.imag], axis=-1).reshape((*made.shape[:-1], -1))
    packed = cupy.concatenate([pairs[..., :1], pairs[..., 2 : length + 1]], axis=-1)
    return cupy.moveaxis(packed, -1, axis)


def irfft(
    x: Any, n: Any = None, axis: int = -1, overwrite_x: bool = False, plan: Any = None
) -> Any:
    """The inverse of `rfft`."""
    moved = cupy.moveaxis(x, axis, -1)
    length = moved.shape[-1] if n is None else n
    if length < moved.shape[-1]:
        moved = moved[..., :length]
    elif length > moved.shape[-1]:
        room = cupy.zeros((*moved.shape[:-1], length - moved.shape[-1]), moved.dtype)
        moved = cupy.concatenate([moved, room], axis=-1)
    zero = cupy.zeros_like(moved[..., :1])
    parts = [moved[..., :1], zero, moved[..., 1:]] + ([zero] if length % 2 == 0 else [])
    pairs = cupy.concatenate(parts, axis=-1)
    made = cupy.fft.irfft(pairs[..., 0::2] + 1j * pairs[..., 1::2], length, -1)
    return cupy.moveaxis(made, -1, axis)
