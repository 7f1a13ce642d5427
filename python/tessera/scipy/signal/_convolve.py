# SPDX-License-Identifier: Apache-2.0
"""Convolution and correlation, by sums of shifted views or by Fourier's transform; ranks of windows."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy

from ... import numeric as tn
from ..ndimage import rank_filter
from ..ndimage._windows import axes_of, folded, padded, per_axis

__all__ = [
    "choose_conv_method", "convolve", "convolve2d", "correlate", "correlate2d", "correlation_lags", "fftconvolve",
    "medfilt", "medfilt2d", "oaconvolve", "order_filter", "wiener",
]  # fmt: skip

MOST_SHIFTS = 64  # elements up to which an array is multiplied one by one
MOST_WINDOWS = 1 << 24  # elements of all windows up to which they are one reduction
EXACT = 2.0**46  # up to which sums of integers come out of a transform exactly: it errs by some 2**-49 of the greatest


# -- the whole ------------------------------------------------------------------------------------------------


def _valid(x: Any, y: Any) -> Any:
    """Sums of products where all of y lies in x, y turned round."""
    shape = tuple(n - m + 1 for n, m in zip(x.shape, y.shape, strict=True))
    dtype = numpy.result_type(x.dtype, y.dtype)
    if dtype == bool:
        return _valid(x.astype("i8"), y.astype("i8")) != 0
    x, y = x.astype(dtype, copy=False), y.astype(dtype, copy=False)
    back = tn.flip(y)
    if MOST_SHIFTS < y.size and y.size * math.prod(shape) <= MOST_WINDOWS:
        around = tn.lib.stride_tricks.sliding_window_view(x, y.shape)
        return (around * back).sum(axis=tuple(range(x.ndim, 2 * x.ndim)), dtype=dtype)
    places = itertools.product(*map(range, y.shape))
    parts = (x[tuple(slice(p, p + n) for p, n in zip(at, shape, strict=True))] * back[at] for at in places)
    made = folded(itertools.islice(parts, MOST_SHIFTS), tn.add)
    for _ in range(MOST_SHIFTS, y.size, MOST_SHIFTS):
        made += folded(itertools.islice(parts, MOST_SHIFTS), tn.add)
    return made


def _direct(x: Any, y: Any) -> Any:
    """All sums of products that are not empty."""
    if y.size > x.size:
        x, y = y, x
    around = tn.pad(x, [(m - 1, m - 1) for m in y.shape])
    return _valid(around, y)


def _by_transform(x: Any, y: Any, axes: tuple[int, ...]) -> Any:
    shape = [x.shape[a] + y.shape[a] - 1 for a in axes]
    wide = [_fast(n) for n in shape]
    is_real = x.dtype.kind != "c" and y.dtype.kind != "c"
    there, back = (tn.fft.rfftn, tn.fft.irfftn) if is_real else (tn.fft.fftn, tn.fft.ifftn)
    made = back(there(x, wide, axes) * there(y, wide, axes), wide, axes)
    cut = [slice(None)] * made.ndim
    for a, n in zip(axes, shape, strict=True):
        cut[a] = slice(n)
    return made[tuple(cut)]


def _fast(n: int) -> int:
    """A length whose transform is quick: the next product of 2, 3 and 5."""
    best = 1 << max(0, n - 1).bit_length()
    five = 1
    while five < best:
        three = five
        while three < best:
            best = min(best, three << max(0, -(-n // three) - 1).bit_length())
            three *= 3
        five *= 5
    return best


# -- the part that is asked for ---------------------------------------------------------------------------------


def _cut(whole: Any, x: Any, y: Any, mode: str, axes: Any) -> Any:
    if mode == "full":
        return whole
    parts = [slice(None)] * whole.ndim
    for a in axes:
        n, m = x.shape[a], y.shape[a]
        start, length = (min(n, m) - 1, abs(n - m) + 1) if mode == "valid" else ((m - 1) // 2, n)
        parts[a] = slice(start, start + length)
    return whole[tuple(parts)].copy()


def _pair(in1: Any, in2: Any, mode: str, axes: Any = None) -> tuple[Any, Any]:
    x, y = tn.asarray(in1), tn.asarray(in2)
    if x.ndim != y.ndim:
        raise ValueError("in1 and in2 should have the same dimensionality")
    if mode not in ("full", "same", "valid"):
        raise ValueError(f"acceptable mode flags are 'valid', 'same', or 'full'; found {mode!r}")
    axes = range(x.ndim) if axes is None else axes
    larger = [x.shape[a] >= y.shape[a] for a in axes]
    smaller = [x.shape[a] <= y.shape[a] for a in axes]
    if mode == "valid" and not (all(larger) or all(smaller)):
        raise ValueError("For 'valid' mode, one must be at least as large as the other in every dimension")
    return x, y


def choose_conv_method(in1: Any, in2: Any, mode: str = "full", measure: bool = False) -> Any:
    """"direct" where an array is small, and for integers whose sums a transform may not give exactly; else "fft"."""
    x, y = _pair(in1, in2, mode)
    chosen = "direct" if min(x.size, y.size) <= MOST_SHIFTS or not _fits(x, y) else "fft"
    return (chosen, {}) if measure else chosen


def _fits(x: Any, y: Any) -> bool:
    """Whether a transform is as exact as their dtypes: sums of integers stay far below 2**53."""
    if "b" in (x.dtype.kind, y.dtype.kind):
        return False
    if x.dtype.kind in "fc" or y.dtype.kind in "fc":
        return True
    most = [max(abs(float(v.max())), abs(float(v.min()))) for v in (x, y)]
    return most[0] * most[1] * min(x.size, y.size) < EXACT


def convolve(in1: Any, in2: Any, mode: str = "full", method: str = "auto") -> Any:
    """The convolution of two arrays.

    Parameters
    ----------
    in1, in2 : array_like
        Of as many axes.
    mode : {"full", "same", "valid"}
        All sums, as many as the first array has elements, or those of whole overlap.
    method : {"auto", "direct", "fft"}
    """
    x, y = _pair(in1, in2, mode)
    if not x.ndim:
        return x * y
    if not x.size or not y.size:
        return tn.zeros(0, numpy.result_type(x.dtype, y.dtype))
    if method not in ("auto", "direct", "fft"):
        raise ValueError("Acceptable method flags are 'auto', 'direct', or 'fft'.")
    method = choose_conv_method(x, y, mode) if method == "auto" else method
    axes = tuple(range(x.ndim))
    if method == "direct":
        return _cut(_direct(x, y), x, y, mode, axes)
    dtype = numpy.result_type(x.dtype, y.dtype)
    made = _cut(_by_transform(x, y, axes), x, y, mode, axes)
    made = tn.rint(made) if dtype.kind in "iu" else made
    return made.astype(dtype, copy=False)


def fftconvolve(in1: Any, in2: Any, mode: str = "full", axes: Any = None) -> Any:
    """The convolution of two arrays along axes, by Fourier's transform; along others they are broadcast."""
    if tn.ndim(in1) == tn.ndim(in2) == 0:
        return tn.asarray(in1) * tn.asarray(in2)
    chosen = axes_of(tn.ndim(in1), axes)
    x, y = _pair(in1, in2, mode, chosen)
    if not x.size or not y.size:
        return tn.zeros(0)
    for a in set(range(x.ndim)) - set(chosen):
        if x.shape[a] != y.shape[a] and 1 not in (x.shape[a], y.shape[a]):
            raise ValueError(f"incompatible shapes for in1 and in2: {x.shape} and {y.shape}")
    return _cut(_by_transform(x, y, tuple(chosen)), x, y, mode, chosen)


def oaconvolve(in1: Any, in2: Any, mode: str = "full", axes: Any = None) -> Any:
    """`fftconvolve`, of the whole at once."""
    return fftconvolve(in1, in2, mode, axes)


def correlate(in1: Any, in2: Any, mode: str = "full", method: str = "auto") -> Any:
    """The correlation of two arrays: the convolution with the second one turned round and conjugated."""
    y = tn.asarray(in2)
    return convolve(in1, tn.flip(y).conj() if y.ndim else y.conj(), mode, method)


def correlation_lags(in1_len: int, in2_len: int, mode: str = "full") -> Any:
    """How far the second of two arrays is moved for each element of their correlation."""
    lags = tn.arange(-in2_len + 1, in1_len)
    if mode == "same":
        start = lags.size // 2 - in1_len // 2
        return lags[start : start + in1_len]
    return _cut(lags, tn.empty(in1_len), tn.empty(in2_len), mode, (0,))


_BOUNDARIES = {"fill": "constant", "pad": "constant", "wrap": "wrap", "circular": "wrap", "symm": "reflect",
               "symmetric": "reflect"}  # fmt: skip


def convolve2d(
    in1: Any, in2: Any, mode: str = "full", boundary: str = "fill", fillvalue: Any = 0
) -> Any:
    """The convolution of two matrices; ``boundary``: "fill", "wrap" or "symm" is what lies around the first one."""
    x, y = _pair(in1, in2, mode)
    if x.ndim != 2:
        raise ValueError("convolve2d inputs must both be 2-D arrays")
    if boundary not in _BOUNDARIES:
        raise ValueError("Acceptable boundary flags are 'fill', 'circular' (or 'wrap'), and 'symmetric' (or 'symm').")
    if mode == "valid" and any(n < m for n, m in zip(x.shape, y.shape, strict=True)):
        x, y = y, x
    around = x
    if mode != "valid":
        around = padded(x, [(m - 1, m - 1) for m in y.shape], [_BOUNDARIES[boundary]] * 2, fillvalue)
    made = _valid(around, y)
    return _cut(made, x, y, "same", (0, 1)) if mode == "same" else made


def correlate2d(
    in1: Any, in2: Any, mode: str = "full", boundary: str = "fill", fillvalue: Any = 0
) -> Any:
    """The correlation of two matrices."""
    x, y = _pair(in1, in2, mode)
    if mode == "valid" and any(n < m for n, m in zip(x.shape, y.shape, strict=True)):
        return tn.flip(convolve2d(y, tn.flip(x).conj(), mode, boundary, fillvalue)).conj()
    if mode == "same":  # the middle of the second one, turned round
        whole = convolve2d(x, tn.flip(y).conj(), "full", boundary, fillvalue)
        return whole[tuple(slice(m // 2, m // 2 + n) for n, m in zip(x.shape, y.shape, strict=True))].copy()
    return convolve2d(x, tn.flip(y).conj(), mode, boundary, fillvalue)


# -- ranks ----------------------------------------------------------------------------------------------------


def order_filter(a: Any, domain: Any, rank: int) -> Any:
    """The element of a rank among those that a window of odd size marks; beyond the ends lie zeros."""
    x, window = tn.asarray(a), numpy.asarray(domain.get() if hasattr(domain, "get") else domain)
    if any(n % 2 != 1 for n in window.shape):
        raise ValueError("Each dimension of domain argument should have an odd number of elements.")
    return rank_filter(x, int(rank), footprint=window != 0, mode="constant")


def medfilt(volume: Any, kernel_size: Any = None) -> Any:
    """The middle one of a window of odd size; beyond the ends lie zeros."""
    x = tn.atleast_1d(tn.asarray(volume))
    sizes = per_axis(3 if kernel_size is None else kernel_size, x.ndim)
    if any(n % 2 != 1 for n in sizes):
        raise ValueError("Each element of kernel_size should be odd.")
    return rank_filter(x, math.prod(sizes) // 2, tuple(map(int, sizes)), mode="constant")


def medfilt2d(input: Any, kernel_size: Any = 3) -> Any:
    """`medfilt` of a matrix."""
    if tn.ndim(input) != 2:
        raise ValueError("medfilt2d takes a matrix")
    return medfilt(input, kernel_size)


def wiener(im: Any, mysize: Any = None, noise: Any = None) -> Any:
    """Wiener's filter: towards the mean of a window, where its variance is that of the noise."""
    x = tn.asarray(im)
    sizes = tuple(map(int, per_axis(3 if mysize is None else mysize, x.ndim)))
    n = math.prod(sizes)
    ones = tn.ones(sizes)
    middle = correlate(x, ones, "same") / n
    spread = correlate(x * x, ones, "same") / n - middle * middle
    noise = spread.mean() if noise is None else noise
    return tn.where(spread < noise, middle, (x - middle) * (1 - noise / spread) + middle)
