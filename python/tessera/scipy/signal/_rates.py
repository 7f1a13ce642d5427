# SPDX-License-Identifier: Apache-2.0
"""Signals at other rates, and the filters that let only frequencies through which the other rate can hold."""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy

from ... import numeric as tn
from ._convolve import convolve
from ._filter import _dtype, _host, sosfilt, sosfiltfilt
from .windows import get_window

__all__ = ["decimate", "firwin", "resample_poly", "upfirdn"]


def upfirdn(
    h: Any, x: Any, up: int = 1, down: int = 1, axis: int = -1, mode: str = "constant", cval: float = 0
) -> Any:
    """Zeros put between the elements, a filter, and each so-manieth element of that."""
    if up < 1 or down < 1:
        raise ValueError("Both up and down must be >= 1")
    if mode != "constant" or cval:
        raise NotImplementedError("upfirdn: mode is 'constant' and cval 0")
    x, h = tn.asarray(x), tn.asarray(h)
    if h.ndim != 1 or not h.size:
        raise ValueError("h must be 1-D with non-zero length")
    rows = tn.moveaxis(x, axis, -1)
    wide = tn.zeros((*rows.shape[:-1], (rows.shape[-1] - 1) * up + 1), _dtype(x, h))
    wide[..., ::up] = rows
    made = convolve(wide, h.reshape((1,) * (x.ndim - 1) + (h.size,)))[..., ::down]
    return tn.moveaxis(made, -1, axis).copy("C")


def _kaiser_beta(fall: float) -> float:
    """The parameter of Kaiser's window that a fall in decibels wants."""
    if fall > 50:
        return 0.1102 * (fall - 8.7)
    return 0.5842 * (fall - 21) ** 0.4 + 0.07886 * (fall - 21) if fall > 21 else 0.0


def firwin(
    numtaps: int, cutoff: Any, *, width: float | None = None, window: Any = "hamming", pass_zero: Any = True,
    scale: bool = True, fs: float | None = None,
) -> Any:  # fmt: skip
    """The weights of a filter that lets bands of frequencies through, by a window of the ideal one."""
    nyquist = 0.5 * (2.0 if fs is None else float(fs))
    ends = _host(cutoff).astype(float) / nyquist
    if not ends.size:
        raise ValueError("At least one cutoff frequency must be given.")
    if ends.min() <= 0 or ends.max() >= 1:
        raise ValueError("Invalid cutoff frequency: frequencies must be greater than 0 and less than fs/2.")
    if (numpy.diff(ends) <= 0).any():
        raise ValueError("Invalid cutoff frequencies: the frequencies must be strictly increasing.")
    if width is not None:
        fall = 2.285 * (numtaps - 1) * math.pi * float(width) / nyquist + 7.95
        window = ("kaiser", _kaiser_beta(fall))
    if isinstance(pass_zero, str):
        kinds = {"lowpass": True, "bandstop": True, "highpass": False, "bandpass": False}
        if pass_zero not in kinds:
            raise ValueError('pass_zero must be True, False, "bandpass", "lowpass", "highpass", or "bandstop"')
        if (ends.size == 1) != (pass_zero in ("lowpass", "highpass")):
            raise ValueError(f"cutoff has {ends.size} elements, which pass_zero={pass_zero!r} does not fit")
        pass_zero = kinds[pass_zero]
    passes_top = bool(ends.size & 1) ^ bool(pass_zero)
    if passes_top and numtaps % 2 == 0:
        raise ValueError("a filter with an even number of weights lets nothing through at half the rate")
    bands = numpy.concatenate([[0.0] * bool(pass_zero), ends, [1.0] * passes_top]).reshape(-1, 2)
    at = numpy.arange(numtaps) - 0.5 * (numtaps - 1)
    made = sum(right * numpy.sinc(right * at) - left * numpy.sinc(left * at) for left, right in bands)
    made = made * _host(get_window(window, numtaps, fftbins=False))
    if scale:
        left, right = bands[0]
        middle = 0.0 if left == 0 else 1.0 if right == 1 else 0.5 * (left + right)
        made /= (made * numpy.cos(math.pi * at * middle)).sum()
    return tn.asarray(made)


def resample_poly(
    x: Any, up: int, down: int, axis: int = 0, window: Any = ("kaiser", 5.0), padtype: str = "constant",
    cval: float | None = None,
) -> Any:  # fmt: skip
    """A signal at up / down times its rate, by `upfirdn`."""
    if padtype != "constant" or cval:
        raise NotImplementedError("resample_poly: padtype is 'constant' and cval 0")
    if int(up) != up or int(down) != down:
        raise ValueError("up and down must be integers")
    if up < 1 or down < 1:
        raise ValueError("up and down must be >= 1")
    x = tn.asarray(x)
    shared = math.gcd(int(up), int(down))
    up, down = int(up) // shared, int(down) // shared
    if up == down == 1:
        return x.copy()
    n = x.shape[axis]
    wanted = -(-n * up // down)
    if isinstance(window, (list, numpy.ndarray, tn.ndarray)):
        weights = _host(window)
        half = (weights.size - 1) // 2
    else:
        half = 10 * max(up, down)
        weights = _host(firwin(2 * half + 1, 1.0 / max(up, down), window=window))
    weights = weights * up
    before = down - half % down
    start = (half + before) // down
    after = 0
    while -(-(((n - 1) * up + weights.size + before + after)) // down) < wanted + start:
        after += 1
    weights = numpy.concatenate([numpy.zeros(before), weights, numpy.zeros(after)])
    made = tn.moveaxis(upfirdn(weights.astype(_dtype(x)), x, up, down, axis), axis, -1)
    return tn.moveaxis(made[..., start : start + wanted], -1, axis)


def _chebyshev(order: int, ripple: float, cutoff: float) -> Any:
    """Filters of order two which together let frequencies below ``cutoff`` (of half the rate) through, up to a ripple
    in decibels: Chebyshev's of the first kind. Its poles lie on an ellipse, all zeros at half the rate.
    """
    flat = math.asinh(1 / math.sqrt(10 ** (ripple / 10) - 1)) / order
    angles = math.pi / 2 * numpy.arange(1 - order, 1, 2) / order  # of half of the poles: the others are conjugates
    analog = -numpy.sinh(flat + 1j * angles) * math.tan(math.pi / 2 * cutoff)
    sections = []
    for pole, angle in zip((1 + analog) / (1 - analog), angles, strict=True):
        is_real = angle == 0
        zeros, poles = ([1, 1, 0], [1, -pole.real, 0]) if is_real else ([1, 2, 1], [1, -2 * pole.real, abs(pole) ** 2])
        sections.append([z * sum(poles) / sum(zeros) for z in zeros] + poles)  # 1 at frequency 0
    made = numpy.array(sections)
    made[0, :3] *= 1.0 if order % 2 else 10 ** (-ripple / 20)
    return made


def decimate(
    x: Any, q: int, n: int | None = None, ftype: str = "iir", axis: int = -1, zero_phase: bool = True
) -> Any:
    """Each q-th element, after a filter that takes out what would be seen as another frequency.

    Parameters
    ----------
    x : array_like
    q : int
    n : int, optional
        The filter's order; 8 ("iir"), or 20 * q ("fir"), by itself.
    ftype : {"iir", "fir"}
        Chebyshev's filter of differences, with a ripple of 0.05 dB, or weights by Hamming's window.
    axis : int
    zero_phase : bool
        Whether the filter's delay is taken back: by going there and back ("iir"), or by a shift ("fir").
    """
    x, q = tn.asarray(x), operator.index(q)
    if ftype == "iir":
        sos = _chebyshev(8 if n is None else operator.index(n), 0.05, 0.8 / q).astype(_precision(x))
        made = (sosfiltfilt if zero_phase else sosfilt)(sos, x, axis)
        return tn.moveaxis(tn.moveaxis(made, axis, -1)[..., ::q], -1, axis)
    if ftype != "fir":
        raise ValueError(f"decimate: ftype is 'iir' or 'fir', found {ftype!r}")
    weights = _host(firwin((20 * q if n is None else operator.index(n)) + 1, 1.0 / q)).astype(_precision(x))
    if zero_phase:
        return resample_poly(x, 1, q, axis, weights)
    wanted = -(-x.shape[axis] // q)
    made = tn.moveaxis(upfirdn(weights, x, 1, q, axis), axis, -1)
    return tn.moveaxis(made[..., :wanted], -1, axis)


def _precision(x: Any) -> Any:
    """The dtype of weights for a signal: that of its parts, float64 for integers and float16."""
    return numpy.dtype("f4" if x.dtype in (numpy.float32, numpy.complex64) else "f8")
