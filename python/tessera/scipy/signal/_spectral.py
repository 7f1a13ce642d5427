# SPDX-License-Identifier: Apache-2.0
"""Spectra: a signal in overlapping pieces, each less its trend, times a window, transformed; powers and their means."""

from __future__ import annotations

from typing import Any

import numpy

from ... import numeric as tn
from ..ndimage._windows import axes_of
from ._filter import detrend as _detrend
from .windows import get_window

__all__ = ["coherence", "csd", "periodogram", "spectrogram", "welch"]


class _Pieces:
    """What windows, lengths and rates say, once for all of a call's signals."""

    def __init__(
        self, n: int, fs: float, window: Any, nperseg: Any, noverlap: Any, nfft: Any, detrend: Any, onesided: bool,
        scaling: str, dtype: Any,
    ) -> None:  # fmt: skip
        if isinstance(window, (str, tuple)):
            nperseg = min(256 if nperseg is None else int(nperseg), n)
            self.window = get_window(window, nperseg)
        else:
            self.window = tn.asarray(window)
            if self.window.ndim != 1:
                raise ValueError("window must be 1-D")
            nperseg = self.window.size if nperseg is None else int(nperseg)
            if nperseg != self.window.size:
                raise ValueError("value specified for nperseg is different from length of window")
        if nperseg < 1:
            raise ValueError("nperseg must be a positive integer")
        self.window = self.window.astype(dtype, copy=False)
        self.length = nperseg
        self.nfft = nperseg if nfft is None else int(nfft)
        if self.nfft < nperseg:
            raise ValueError("nfft must be greater than or equal to nperseg.")
        overlap = nperseg // 2 if noverlap is None else int(noverlap)
        if overlap >= nperseg:
            raise ValueError("noverlap must be less than nperseg.")
        self.step, self.fs, self.detrend, self.onesided = nperseg - overlap, fs, detrend, onesided
        if scaling not in ("density", "spectrum"):
            raise ValueError(f"Unknown scaling: {scaling!r}")
        w = self.window
        self.scale = 1 / (fs * (w * w).sum()) if scaling == "density" else 1 / w.sum() ** 2

    def transforms(self, x: Any) -> Any:
        """One row for each piece of each signal along the last axis."""
        if x.shape[-1] < self.length:
            x = tn.pad(x, [(0, 0)] * (x.ndim - 1) + [(0, self.length - x.shape[-1])])
        pieces = tn.lib.stride_tricks.sliding_window_view(x, self.length, axis=-1)[..., :: self.step, :]
        if callable(self.detrend):
            pieces = self.detrend(pieces)
        elif self.detrend:
            pieces = _detrend(pieces, type=self.detrend)
        rows = pieces * self.window
        return tn.fft.rfft(rows, self.nfft) if self.onesided else tn.fft.fft(rows, self.nfft)

    def powers(self, x: Any, y: Any) -> Any:
        """conj(x) y, one-sided ones with both halves."""
        fx = self.transforms(x)
        made = fx.conj() * (fx if y is x else self.transforms(y)) * self.scale
        if self.onesided:
            end = made.shape[-1] if self.nfft % 2 else made.shape[-1] - 1
            made[..., 1:end] *= 2
        return made.real if y is x else made

    def frequencies(self) -> Any:
        return (tn.fft.rfftfreq if self.onesided else tn.fft.fftfreq)(self.nfft, 1 / self.fs)


def _float(x: Any) -> Any:
    x = tn.asarray(x)
    return x if x.dtype.kind in "fc" else x.astype("f8")


def _begun(
    x: Any, y: Any, fs: float, window: Any, nperseg: Any, noverlap: Any, nfft: Any, detrend: Any, onesided: bool,
    scaling: str, axis: int,
) -> Any:  # fmt: skip
    same = y is x
    x = _float(x)
    y = x if same else _float(y)
    axis = axes_of(x.ndim, axis)[0]
    x, moved = tn.moveaxis(x, axis, -1), tn.moveaxis(y, axis, -1)
    onesided = onesided and x.dtype.kind != "c" and moved.dtype.kind != "c"
    if not same and x.shape[-1] != moved.shape[-1]:
        n = max(x.shape[-1], moved.shape[-1])
        x, moved = (tn.pad(v, [(0, 0)] * (v.ndim - 1) + [(0, n - v.shape[-1])]) for v in (x, moved))
    dtype = "f4" if numpy.result_type(x.dtype, moved.dtype, "c8") == "c8" else "f8"  # of windows, as SciPy's
    pieces = _Pieces(x.shape[-1], fs, window, nperseg, noverlap, nfft, detrend, onesided, scaling, dtype)
    return pieces, x, x if same else moved, axis


def csd(
    x: Any, y: Any, fs: float = 1.0, window: Any = "hann", nperseg: Any = None, noverlap: Any = None, nfft: Any = None,
    detrend: Any = "constant", return_onesided: bool = True, scaling: str = "density", axis: int = -1,
    average: str = "mean",
) -> Any:  # fmt: skip
    """Frequencies, and what two signals have of each in common, as the mean of pieces."""
    if average != "mean":
        raise NotImplementedError(f"average is 'mean', found {average!r}")
    pieces, x, y, axis = _begun(
        x, y, fs, window, nperseg, noverlap, nfft, detrend, return_onesided, scaling, axis
    )
    return pieces.frequencies(), tn.moveaxis(pieces.powers(x, y).mean(axis=-2), -1, axis)


def welch(x: Any, fs: float = 1.0, *args: Any, **options: Any) -> Any:
    """Frequencies and the power of each, as the mean of pieces; arguments as of `csd`."""
    x = _float(x)
    return csd(x, x, fs, *args, **options)


def periodogram(
    x: Any, fs: float = 1.0, window: Any = "boxcar", nfft: Any = None, detrend: Any = "constant",
    return_onesided: bool = True, scaling: str = "density", axis: int = -1,
) -> Any:  # fmt: skip
    """Frequencies and the power of each, of the whole signal."""
    x = _float(x)
    axis = axes_of(x.ndim, axis)[0]
    n = x.shape[axis]
    window = "boxcar" if window is None else window
    if nfft is not None and nfft < n:
        x, n = tn.moveaxis(tn.moveaxis(x, axis, -1)[..., :nfft], -1, axis), nfft
    return csd(x, x, fs, window, n, 0, nfft, detrend, return_onesided, scaling, axis)


def coherence(x: Any, y: Any, fs: float = 1.0, *args: Any, **options: Any) -> Any:
    """Frequencies and how far two signals go together in each, from 0 to 1; arguments as of `csd`."""
    x, y = _float(x), _float(y)
    frequencies, own = welch(x, fs, *args, **options)
    other = welch(y, fs, *args, **options)[1]
    both = csd(x, y, fs, *args, **options)[1]
    return frequencies, tn.abs(both) ** 2 / own / other


def spectrogram(
    x: Any, fs: float = 1.0, window: Any = ("tukey", 0.25), nperseg: Any = None, noverlap: Any = None, nfft: Any = None,
    detrend: Any = "constant", return_onesided: bool = True, scaling: str = "density", axis: int = -1,
    mode: str = "psd",
) -> Any:  # fmt: skip
    """Frequencies, times, and the power of each frequency in each piece."""
    if mode != "psd":
        raise NotImplementedError(f"spectrogram: mode is 'psd', found {mode!r}")
    x = _float(x)
    n = x.shape[axis]
    length = min(256 if nperseg is None else nperseg, n)
    if noverlap is None and isinstance(window, (str, tuple)):
        noverlap = length // 8
    elif noverlap is None:
        noverlap = numpy.size(window) // 8
    pieces, rows, _, axis = _begun(
        x, x, fs, window, nperseg, noverlap, nfft, detrend, return_onesided, scaling, axis
    )
    made = pieces.powers(rows, rows)
    times = (tn.arange(made.shape[-2]) * pieces.step + pieces.length / 2) / fs
    return pieces.frequencies(), times, tn.moveaxis(tn.swapaxes(made, -1, -2), -2, axis)
