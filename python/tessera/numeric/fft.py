# SPDX-License-Identifier: Apache-2.0
"""Discrete Fourier transforms: NumPy's functions, any length, complex and real, along any axes.

Lines are transformed in host memory by the library's own code (``include/tessera/fft.h``), in float64; what comes in
single precision is given in single precision. On a GPU they are cuFFT's, in the precision of their elements; where that
is not installed they are copied to the host and back, which ``tessera.numeric.host_calls()`` counts.
"""

from __future__ import annotations

import math
import operator
import warnings
from collections import OrderedDict
from typing import Any

import numpy

from .. import _core
from . import _cufft
from . import _functions as f
from ._fallback import by_host
from ._host import count
from ._joining import roll
from ._meanings import has_meaning
from ._ndarray import ndarray
from ._reduce import into
from ._setup import FUNCTION, of_numpy, place, to_numpy
from ._ufunc import FUNCTIONS

__all__ = [
    "fft",
    "fft2",
    "fftfreq",
    "fftn",
    "fftshift",
    "hfft",
    "ifft",
    "ifft2",
    "ifftn",
    "ifftshift",
    "ihfft",
    "irfft",
    "irfft2",
    "irfftn",
    "rfft",
    "rfft2",
    "rfftfreq",
    "rfftn",
]
_conjugate = FUNCTIONS["conjugate"]

# Plans that are kept for the next call, by length and whether they are real; those used longest ago go first, never
# the last one. Where a prime factor of the length is large a plan has 50 bytes for each element, and to make it takes
# twice the time of its transform, else both are little.
_kept: OrderedDict[tuple[int, bool], Any] = OrderedDict()
_MOST_PLANS = 64
_MOST_BYTES = 1 << 27


def _plan(n: int, real: bool) -> Any:
    plan = _kept.get((n, real))
    if plan is None:
        return _new_plan(n, real)
    try:
        _kept.move_to_end((n, real))
    except KeyError:  # another thread let it go just now
        _kept[n, real] = plan
    return plan


def _new_plan(n: int, real: bool) -> Any:
    _kept[n, real] = plan = _core.fft_plan(n, real)
    while len(keys := list(_kept)) > 1 and (  # by single operations of a dict: other threads may do the same
        len(keys) > _MOST_PLANS or sum(_core.fft_bytes(each) for each in list(_kept.values())) > _MOST_BYTES
    ):
        _kept.pop(keys[0], None)
    return plan


# norm: the power of the length by which a transform and its inverse are divided
_POWERS = {None: (0, 1), "backward": (0, 1), "ortho": (0.5, 0.5), "forward": (1, 0)}
_SWAPPED = {None: "forward", "backward": "forward", "ortho": "ortho", "forward": "backward"}


def _checked_norm(norm: Any) -> Any:
    if norm not in _POWERS:
        raise ValueError(f'Invalid norm value {norm}; should be "backward", "ortho" or "forward".')
    return norm


def _factor(n: int, norm: Any, inverse: bool, dtype: Any) -> float:
    power = _POWERS[_checked_norm(norm)][inverse]
    if dtype == numpy.float16 and power:  # as NumPy rounds it, but not the elements
        by = numpy.sqrt(n, dtype=dtype) if power < 1 else n
        return float(numpy.reciprocal(by, dtype=dtype))
    return {0: 1.0, 0.5: 1 / math.sqrt(n), 1: 1 / n}[power]


def _source(a: ndarray, to_complex: bool) -> ndarray:
    """The array in the dtype that is transformed: single precision stays what it is."""
    single = a.dtype in (numpy.float16, numpy.float32, numpy.complex64)
    if to_complex:
        return a.astype(numpy.complex64 if single else numpy.complex128, copy=False)
    return a.astype(numpy.float32 if single else numpy.float64, copy=False)


def _lines(
    a: Any, n: Any, axis: Any, norm: Any, out: Any, inverse: bool, reals: str | None = None
) -> ndarray:
    """Transforms along an axis; reals: which side is real ("from", "to"), None for neither."""
    a = f.asarray(a)
    if n is None:
        axis = f.normalize(axis, a.ndim)
        n = 2 * (a.shape[axis] - 1) if reals == "to" else a.shape[axis]
    n = operator.index(n)
    if n < 1:
        raise ValueError(f"Invalid number of FFT data points ({n}) specified.")
    factor, axis = _factor(n, norm, inverse, a.dtype), f.normalize(axis, a.ndim)
    if reals == "from" and a.dtype.kind == "c":
        raise TypeError(f"a transform of real numbers cannot take {a.dtype}: use fft, or give it the real part")
    if a._is_items or has_meaning(a):  # texts, dates: NumPy's error
        {None: numpy.fft.fft, "from": numpy.fft.rfft, "to": numpy.fft.irfft}[reals](numpy.zeros(2, a.dtype))
    if a.device != "cpu":
        if _cufft.is_there():
            return into(_by_cufft(a, n, axis, inverse, factor, reals), out)
        count("fft")
        with by_host("fft", a.nbytes):
            return _lines(place(a, "cpu"), n, axis, norm, out, inverse, reals)
    source = to_numpy(_source(a, reals != "from"), True)
    dtype = source.dtype if reals is None else _other(source.dtype)
    extent = n // 2 + 1 if reals == "from" else n
    shape = tuple(extent if d == axis else m for d, m in enumerate(a.shape))
    made = numpy.empty(shape, dtype, "F" if a.flags.fnc else "C")
    plan = _plan(n, reals is not None)
    _core.fft_run(
        plan, numpy.moveaxis(source, axis, -1), numpy.moveaxis(made, axis, -1), inverse, factor
    )
    given = of_numpy(made, private=True)
    if reals == "to" and a.dtype == numpy.float16:  # NumPy keeps that real dtype
        given = given.astype(a.dtype)
    return into(given, out)


def _by_cufft(
    a: ndarray, n: int, axis: int, inverse: bool, factor: float, reals: str | None
) -> ndarray:
    source = f.moveaxis(_source(a, reals != "from"), axis, -1)
    dtype = source.dtype if reals is None else _other(source.dtype)
    made = f.moveaxis(_cufft.transform(source, n, dtype, inverse, factor), -1, axis)
    kept = reals == "to" and a.dtype == numpy.float16  # NumPy keeps that real dtype
    return f.array(made, a.dtype if kept else dtype, order="F" if a.flags.fnc else "C", copy=None)


def _other(dtype: Any) -> numpy.dtype[Any]:
    """The real dtype of a complex one and the other way round."""
    single = dtype in (numpy.float32, numpy.complex64)
    if dtype.kind == "c":
        return numpy.dtype(numpy.float32 if single else numpy.float64)
    return numpy.dtype(numpy.complex64 if single else numpy.complex128)


# -- along one axis ------------------------------------------------------------------------------------


def fft(a: Any, n: Any = None, axis: int = -1, norm: Any = None, out: Any = None) -> ndarray:
    """The transform along an axis, of n elements: zeros are added or elements left out."""
    return _lines(a, n, axis, norm, out, False)


def ifft(a: Any, n: Any = None, axis: int = -1, norm: Any = None, out: Any = None) -> ndarray:
    """The inverse of :func:`fft`."""
    return _lines(a, n, axis, norm, out, True)


def rfft(a: Any, n: Any = None, axis: int = -1, norm: Any = None, out: Any = None) -> ndarray:
    """The transform of real numbers along an axis: its first n // 2 + 1 elements, the others are their conjugates."""
    return _lines(a, n, axis, norm, out, False, "from")


def irfft(a: Any, n: Any = None, axis: int = -1, norm: Any = None, out: Any = None) -> ndarray:
    """The inverse of :func:`rfft`: n real numbers (an even number if not given)."""
    return _lines(a, n, axis, norm, out, True, "to")


def hfft(a: Any, n: Any = None, axis: int = -1, norm: Any = None, out: Any = None) -> ndarray:
    """The real transform of the n // 2 + 1 first elements of numbers whose others are their conjugates."""
    a = f.asarray(a)
    return irfft(_conjugate(a), n, axis, _SWAPPED[_checked_norm(norm)], out)


def ihfft(a: Any, n: Any = None, axis: int = -1, norm: Any = None, out: Any = None) -> ndarray:
    """The inverse of :func:`hfft`."""
    made = rfft(a, n, axis, _SWAPPED[_checked_norm(norm)], out)
    return _conjugate(made, made)


# -- along several axes --------------------------------------------------------------------------------


def _sizes(a: ndarray, s: Any, axes: Any, to_real: bool = False) -> tuple[list[int], list[int]]:
    """Lengths and axes of a transform along several."""
    if s is None:
        chosen = list(range(a.ndim)) if axes is None else list(axes)
        s = [a.shape[d] for d in chosen]
        if to_real and s:
            s[-1] = 2 * (s[-1] - 1)
        return s, chosen
    s = list(s)
    if axes is None:
        warnings.warn(
            "`axes` should not be `None` if `s` is not `None`: NumPy 2.0 has deprecated it; name the axes",
            DeprecationWarning,
            stacklevel=4,
        )
        axes = range(-len(s), 0)
    chosen = list(axes)
    if len(s) != len(chosen):
        raise ValueError("Shape and axes have different lengths.")
    if None in s:
        warnings.warn(
            "Passing an array containing `None` values to `s` is deprecated in NumPy 2.0; -1 means all elements",
            DeprecationWarning,
            stacklevel=4,
        )
    return [a.shape[d] if n in (None, -1) else n for n, d in zip(s, chosen, strict=True)], chosen


def _several(one: Any, a: Any, s: Any, axes: Any, norm: Any, out: Any) -> ndarray:
    a = f.asarray(a)
    sizes, chosen = _sizes(a, s, axes)
    for i in reversed(range(len(chosen))):
        a = one(a, sizes[i], chosen[i], norm, out)
    return a


def fftn(a: Any, s: Any = None, axes: Any = None, norm: Any = None, out: Any = None) -> ndarray:
    """The transform along several axes, all if none are named, of sizes s."""
    return _several(fft, a, s, axes, norm, out)


def ifftn(a: Any, s: Any = None, axes: Any = None, norm: Any = None, out: Any = None) -> ndarray:
    """The inverse of :func:`fftn`."""
    return _several(ifft, a, s, axes, norm, out)


def fft2(a: Any, s: Any = None, axes: Any = (-2, -1), norm: Any = None, out: Any = None) -> ndarray:
    """The transform along two axes."""
    return _several(fft, a, s, axes, norm, out)


def ifft2(
    a: Any, s: Any = None, axes: Any = (-2, -1), norm: Any = None, out: Any = None
) -> ndarray:
    """The inverse of :func:`fft2`."""
    return _several(ifft, a, s, axes, norm, out)


def rfftn(a: Any, s: Any = None, axes: Any = None, norm: Any = None, out: Any = None) -> ndarray:
    """The transform of real numbers along several axes; the last of them is that of :func:`rfft`."""
    a = f.asarray(a)
    sizes, chosen = _sizes(a, s, axes)
    whole = len(chosen) == 1
    a = rfft(a, sizes[-1], chosen[-1], norm, out if whole else None)
    for i in reversed(range(len(chosen) - 1)):
        a = fft(a, sizes[i], chosen[i], norm, out if i == 0 else None)
    return a


def irfftn(a: Any, s: Any = None, axes: Any = None, norm: Any = None, out: Any = None) -> ndarray:
    """The inverse of :func:`rfftn`."""
    a = f.asarray(a)
    sizes, chosen = _sizes(a, s, axes, to_real=True)
    for n, d in zip(sizes[:-1], chosen[:-1], strict=True):
        a = ifft(a, n, d, norm)
    return irfft(a, sizes[-1], chosen[-1], norm, out)


def rfft2(
    a: Any, s: Any = None, axes: Any = (-2, -1), norm: Any = None, out: Any = None
) -> ndarray:
    """The transform of real numbers along two axes."""
    return rfftn(a, s, axes, norm, out)


def irfft2(
    a: Any, s: Any = None, axes: Any = (-2, -1), norm: Any = None, out: Any = None
) -> ndarray:
    """The inverse of :func:`rfft2`."""
    return irfftn(a, s, axes, norm, out)


# -- frequencies ---------------------------------------------------------------------------------------


def fftfreq(n: int, d: float = 1.0, device: Any = None, *, dtype: Any = None) -> ndarray:
    """The frequencies of the elements of a transform of n numbers that are d apart."""
    if not isinstance(n, (int, numpy.integer)):
        raise ValueError("n should be an integer")  # noqa: TRY004  as NumPy's
    places = f.arange(n, device=device)
    half = (n - 1) // 2 + 1
    places[half:] -= n
    return (places * (1.0 / (n * d))).astype(float if dtype is None else dtype, copy=False)


def rfftfreq(n: int, d: float = 1.0, device: Any = None, *, dtype: Any = None) -> ndarray:
    """The frequencies of the elements of a real transform of n numbers that are d apart."""
    if not isinstance(n, (int, numpy.integer)):
        raise ValueError("n should be an integer")  # noqa: TRY004  as NumPy's
    made = f.arange(n // 2 + 1, device=device) * (1.0 / (n * d))
    return made.astype(float if dtype is None else dtype, copy=False)


def _shifted(x: Any, axes: Any, towards: int) -> ndarray:
    x = f.asarray(x)
    if axes is None:
        axes = range(x.ndim)
    axes = (axes,) if isinstance(axes, (int, numpy.integer)) else tuple(axes)
    return roll(x, [towards * (x.shape[d] // 2) for d in axes], axes)


def fftshift(x: Any, axes: Any = None) -> ndarray:
    """The element of frequency 0 moved to the middle."""
    return _shifted(x, axes, 1)


def ifftshift(x: Any, axes: Any = None) -> ndarray:
    """The inverse of :func:`fftshift`."""
    return _shifted(x, axes, -1)


globals().update({_name: _core.NumericRoutine(globals()[_name], __name__, False, FUNCTION) for _name in __all__})
