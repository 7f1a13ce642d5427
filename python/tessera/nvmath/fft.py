# SPDX-License-Identifier: Apache-2.0
"""Fourier transforms with nvmath-python's signatures and meaning, by those of `tessera.numeric.fft`.

They differ from NumPy's of the same names: each goes along all axes unless ``axes`` says otherwise, and the inverse is
not divided by the number of elements, ``ifft(fft(x))`` is ``x.size * x``. Lines are transformed in host memory;
``execution`` may say "cpu". The functions of NumPy are those of `tessera.numeric.fft`.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping, Sequence
from typing import Any

from numpy.lib.array_utils import normalize_axis_tuple

from ..numeric import asarray
from ..numeric import fft as _fft
from ..numeric.fft import fftfreq, fftshift, ifftshift, rfftfreq
from ._given import refuse

__all__ = ["FFTDirection", "fft", "fftfreq", "fftshift", "ifft", "ifftshift", "irfft", "rfft", "rfftfreq"]

_PARITIES = ("even", "odd")


class FFTDirection(enum.IntEnum):
    """Which way :func:`fft` goes."""

    FORWARD = -1
    INVERSE = 1


def fft(
    operand: Any,
    /,
    *,
    axes: Sequence[int] | None = None,
    direction: Any = None,
    options: Any = None,
    execution: Any = None,
    prolog: Any = None,
    epilog: Any = None,
    stream: Any = None,
) -> Any:
    """The transform along several axes, all if none are given. Real operands, which nvmath-python refuses, are taken
    as complex ones. ``direction``: an :class:`FFTDirection`, or its name."""
    refuse("fft.fft", options=options, execution=execution, prolog=prolog, epilog=epilog, stream=stream)
    x = asarray(operand)
    if _direction("fft.fft", direction, FFTDirection.FORWARD) == FFTDirection.INVERSE:
        return _fft.ifftn(x, axes=_axes(x, axes), norm="forward")
    return _fft.fftn(x, axes=_axes(x, axes))


def ifft(
    operand: Any,
    /,
    *,
    axes: Sequence[int] | None = None,
    direction: Any = None,
    options: Any = None,
    execution: Any = None,
    prolog: Any = None,
    epilog: Any = None,
    stream: Any = None,
) -> Any:
    """The inverse of :func:`fft` times the number of elements along the axes."""
    refuse("fft.ifft", options=options, execution=execution, prolog=prolog, epilog=epilog, stream=stream)
    return fft(operand, axes=axes, direction=_direction("fft.ifft", direction, FFTDirection.INVERSE))


def rfft(
    operand: Any,
    /,
    *,
    axes: Sequence[int] | None = None,
    options: Any = None,
    execution: Any = None,
    prolog: Any = None,
    epilog: Any = None,
    stream: Any = None,
) -> Any:
    """The transform of real numbers along several axes, all if none are given; of the last one half is stored."""
    refuse("fft.rfft", options=options, execution=execution, prolog=prolog, epilog=epilog, stream=stream)
    x = asarray(operand)
    return _fft.rfftn(x, axes=_axes(x, axes))


def irfft(
    operand: Any,
    /,
    *,
    axes: Sequence[int] | None = None,
    options: Any = None,
    execution: Any = None,
    prolog: Any = None,
    epilog: Any = None,
    stream: Any = None,
) -> Any:
    """The inverse of :func:`rfft` times the number of real elements along the axes. Along the last axis an even number
    of them is made; with ``options={"last_axis_parity": "odd"}`` an odd one."""
    refuse("fft.irfft", execution=execution, prolog=prolog, epilog=epilog, stream=stream)
    parity = _parity(options)
    x = asarray(operand)
    along = _axes(x, axes)
    sizes = [x.shape[axis] for axis in along]
    sizes[-1] = 2 * sizes[-1] - 2 + _PARITIES.index(parity)
    return _fft.irfftn(x, s=sizes, axes=along, norm="forward")


def _axes(x: Any, axes: Sequence[int] | None) -> tuple[int, ...]:
    """The axes of a transform, as places from the front."""
    along = range(x.ndim) if axes is None else normalize_axis_tuple(axes, x.ndim, "axes")
    if not along:
        raise ValueError(f"nvmath.fft: at least one axis is wanted, found axes={axes!r} of an operand with {x.ndim}")
    return tuple(along)


def _direction(function: str, given: Any, default: FFTDirection) -> FFTDirection:
    if given is None:
        return default
    try:
        return FFTDirection[given.upper()] if isinstance(given, str) else FFTDirection(given)
    except (KeyError, ValueError):
        raise ValueError(f'nvmath.{function}: direction is "forward" or "inverse", found {given!r}') from None


def _parity(options: Any) -> str:
    if options is None:
        return _PARITIES[0]
    if not isinstance(options, Mapping) or set(options) - {"last_axis_parity"}:
        raise NotImplementedError(
            f'nvmath.fft.irfft: options={options!r} is not taken; it may be {{"last_axis_parity": "odd"}}'
        )
    parity = options.get("last_axis_parity", _PARITIES[0])
    if parity not in _PARITIES:
        raise ValueError(f'nvmath.fft.irfft: last_axis_parity is "even" or "odd", found {parity!r}')
    return str(parity)


def __dir__() -> list[str]:
    return [*__all__]


def __getattr__(name: str) -> Any:
    way = f"use tessera.numeric.fft.{name}" if name in _fft.__all__ else f"it has {', '.join(__all__)}"
    raise AttributeError(f"module 'nvmath.fft' has no attribute {name!r}; {way}")
