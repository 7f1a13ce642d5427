# SPDX-License-Identifier: Apache-2.0
"""Filters of signals: by differences (a kernel of threads, a thread for each signal), there and back, by pieces of
polynomials, by Fourier's transform."""

from __future__ import annotations

import math
from typing import Any

import numpy

from ... import cuda
from ... import numeric as tn
from ..ndimage._windows import axes_of
from .windows import get_window

__all__ = [
    "detrend", "filtfilt", "hilbert", "lfilter", "lfilter_zi", "lfiltic", "resample",
    "savgol_coeffs", "savgol_filter", "sosfilt", "sosfilt_zi", "sosfiltfilt",
]  # fmt: skip


def _host(x: Any) -> Any:
    """Coefficients as NumPy's array: they are few."""
    return numpy.atleast_1d(numpy.asarray(x.get() if hasattr(x, "get") else x))


# -- differences ----------------------------------------------------------------------------------------------


@cuda.jit
def _differences(b: Any, a: Any, x: Any, state: Any, y: Any) -> None:
    """y of a[0] y[i] + a[1] y[i - 1] + .. = b[0] x[i] + b[1] x[i - 1] + .., each row of x for itself."""
    row = cuda.grid(1)
    if row < x.shape[0]:
        order = state.shape[1] - 1
        for i in range(x.shape[1]):
            value = x[row, i]
            made = b[0] * value + state[row, 0]
            y[row, i] = made
            for k in range(order):
                state[row, k] = b[k + 1] * value - a[k + 1] * made + state[row, k + 1]


def _coefficients(b: Any, a: Any) -> tuple[Any, Any]:
    b, a = _host(b), _host(a)
    if b.ndim != 1 or a.ndim != 1:
        raise ValueError("object of too small depth for desired array: b and a are vectors")
    if not a.size or a[0] == 0:
        raise ValueError("a[0] must not be zero")
    n = max(a.size, b.size)
    made = [numpy.concatenate([v, numpy.zeros(n - v.size, v.dtype)]) / a[0] for v in (b, a)]
    return made[0], made[1]


def _dtype(*parts: Any) -> Any:
    found = numpy.result_type(*(p.dtype for p in parts), "f4")
    return found if found.kind in "fc" else numpy.dtype("f8")


def lfilter(b: Any, a: Any, x: Any, axis: int = -1, zi: Any = None) -> Any:
    """A signal through a filter of differences.

    Parameters
    ----------
    b, a : vector
        Weights of what comes in, and of what has gone out.
    x : array_like
    axis : int
    zi : array_like, optional
        What the filter holds at the beginning, one less than the longer of ``b`` and ``a`` along ``axis``; with it
        the result is a pair: what goes out, and what the filter holds at the end.
    """
    x = tn.asarray(x)
    axis = axes_of(x.ndim, axis)[0]
    given = [_host(b), _host(a), x] + ([] if zi is None else [tn.asarray(zi)])
    dtype = _dtype(*given)
    b, a = (v.astype(dtype) for v in _coefficients(b, a))
    rows = tn.moveaxis(x, axis, -1).astype(dtype)
    shape, order = rows.shape, b.size - 1
    rows = tn.ascontiguousarray(rows).reshape(math.prod(shape[:-1]), shape[-1])
    state = tn.zeros((rows.shape[0], order + 1), dtype)
    if zi is not None:
        held = tn.moveaxis(tn.asarray(zi).astype(dtype), axis, -1) if tn.ndim(zi) == x.ndim else tn.asarray(zi)
        if held.shape[-1:] != (order,) or (held.ndim == x.ndim and any(
            h not in (1, n) for h, n in zip(held.shape[:-1], shape[:-1], strict=True)
        )):  # fmt: skip
            raise ValueError(f"Unexpected shape for zi: expected {(*shape[:-1], order)}, found {tuple(held.shape)}.")
        state[:, :order] = tn.broadcast_to(held, (*shape[:-1], order)).reshape(rows.shape[0], order)
    made = tn.empty_like(rows)
    if made.size:
        wanted = [tn.asarray(v, device=rows.device) for v in (b, a)]
        _differences[-(-rows.shape[0] // 32), 32](*wanted, rows, state, made)
    made = tn.moveaxis(made.reshape(shape), -1, axis)
    if zi is None:
        return made
    return made, tn.moveaxis(state[:, :order].reshape(*shape[:-1], order), -1, axis)


def lfilter_zi(b: Any, a: Any) -> Any:
    """What a filter holds that a one has gone into for ever."""
    b, a = _coefficients(b, a)
    n = b.size
    dtype = numpy.result_type(a, b)
    companion = numpy.zeros((n - 1, n - 1), dtype)
    companion[0] = -a[1:]
    companion[numpy.arange(1, n - 1), numpy.arange(n - 2)] = 1
    left = numpy.eye(n - 1, dtype=dtype) - companion.T
    return tn.asarray(numpy.linalg.solve(left, b[1:] - a[1:] * b[0]) if n > 1 else numpy.zeros(0, dtype))


def lfiltic(b: Any, a: Any, y: Any, x: Any = None) -> Any:
    """What a filter holds after some of what went out (and in), the newest first."""
    y = _host(y)
    b, a = _coefficients(b, a)
    n = a.size - 1
    y = numpy.concatenate([y, numpy.zeros(max(0, n - y.size))])
    x = numpy.zeros(n) if x is None else numpy.concatenate([_host(x), numpy.zeros(n)])
    made = [sum(b[m + 1 :] * x[: n - m]) - sum(a[m + 1 :] * y[: n - m]) for m in range(n)]
    return tn.asarray(numpy.array(made, _dtype(b, a, y)))


def _sections(sos: Any) -> Any:
    sos = numpy.atleast_2d(_host(sos))
    if sos.ndim != 2 or sos.shape[1] != 6:
        raise ValueError("sos array must be shape (n_sections, 6)")
    if not (sos[:, 3] == 1).all():
        raise ValueError("sos[:, 3] should be all ones")
    return sos


def sosfilt(sos: Any, x: Any, axis: int = -1, zi: Any = None) -> Any:
    """A signal through filters of order two, one after the other."""
    x, sos = tn.asarray(x), _sections(sos)
    axis = axes_of(x.ndim, axis)[0]
    shape = [len(sos), *x.shape]
    shape[axis + 1] = 2
    held = tn.zeros(shape, _dtype(sos, x)) if zi is None else tn.asarray(zi)
    if held.shape != tuple(shape):
        raise ValueError(f"Invalid zi shape. With axis={axis}, an input with shape {x.shape}, and an sos array with "
                         f"{len(sos)} sections, zi must have shape {tuple(shape)}, got {held.shape}.")  # fmt: skip
    x = x.astype(_dtype(sos, x, *([] if zi is None else [held])))
    left = []
    for section, state in zip(sos, held, strict=True):
        x, state = lfilter(section[:3], section[3:], x, axis, state)
        left.append(state)
    return x if zi is None else (x, tn.stack(left))


def sosfilt_zi(sos: Any) -> Any:
    """What filters of order two hold that a one has gone into for ever."""
    made, gain = [], 1.0
    for section in _sections(sos):
        made.append(gain * lfilter_zi(section[:3], section[3:]))
        gain *= section[:3].sum() / section[3:].sum()
    return tn.stack(made)


# -- there and back -------------------------------------------------------------------------------------------


def _extended(x: Any, axis: int, padtype: Any, padlen: int) -> Any:
    """A signal with its ends mirrored (in a point for "odd"), or kept ("constant")."""
    if padtype not in ("odd", "even", "constant", None):
        raise ValueError(f"padtype must be 'even', 'odd', 'constant' or None, found {padtype!r}")
    if padtype is None or not padlen:
        return x, 0
    if x.shape[axis] <= padlen:
        raise ValueError(f"The length of the input vector x must be greater than padlen, which is {padlen}.")
    widths = [(0, 0)] * x.ndim
    widths[axis] = (padlen, padlen)
    if padtype == "constant":
        return tn.pad(x, widths, mode="edge"), padlen
    return tn.pad(x, widths, mode="reflect", reflect_type=padtype), padlen


def _there_and_back(x: Any, axis: int, padtype: Any, padlen: int, once: Any) -> Any:
    """``once(x, first)``: a signal through a filter that holds what ``first`` would have left there for ever."""
    around, edge = _extended(x, axis, padtype, padlen)
    for _ in range(2):
        around = once(around, tn.take(around, tn.asarray([0]), axis=axis))
        around = tn.flip(around, axis)
    cut = [slice(None)] * x.ndim
    cut[axis] = slice(edge, edge + x.shape[axis])
    return around[tuple(cut)].copy()


def _held(zi: Any, ndim: int, axis: int) -> Any:
    shape = [1] * ndim
    shape[axis] = zi.shape[-1]
    return zi.reshape(*zi.shape[:-1], *shape)


def filtfilt(
    b: Any, a: Any, x: Any, axis: int = -1, padtype: Any = "odd", padlen: int | None = None, method: str = "pad",
    irlen: Any = None,
) -> Any:  # fmt: skip
    """A signal through a filter there and back, so that nothing is late."""
    if method != "pad":
        raise NotImplementedError(f"filtfilt: method is 'pad', found {method!r}")
    x = tn.asarray(x)
    axis = axes_of(x.ndim, axis)[0]
    zi = _held(lfilter_zi(b, a), x.ndim, axis)
    edge = 3 * max(_host(a).size, _host(b).size) if padlen is None else padlen
    return _there_and_back(x, axis, padtype, edge, lambda y, first: lfilter(b, a, y, axis, zi * first)[0])


def sosfiltfilt(
    sos: Any, x: Any, axis: int = -1, padtype: Any = "odd", padlen: int | None = None
) -> Any:
    """A signal through filters of order two there and back."""
    x, sos = tn.asarray(x), _sections(sos)
    axis = axes_of(x.ndim, axis)[0]
    zi = _held(sosfilt_zi(sos), x.ndim, axis)
    unused = min(int((sos[:, 2] == 0).sum()), int((sos[:, 5] == 0).sum()))
    edge = 3 * (2 * len(sos) + 1 - unused) if padlen is None else padlen
    return _there_and_back(x, axis, padtype, edge, lambda y, first: sosfilt(sos, y, axis, zi * first)[0])


# -- lines and polynomials --------------------------------------------------------------------------------------


def detrend(
    data: Any, axis: int = -1, type: str = "linear", bp: Any = 0, overwrite_data: bool = False
) -> Any:
    """A signal less its mean ("constant") or less the line nearest to it, from each place in ``bp`` on another."""
    x = tn.asarray(data)
    x = x if x.dtype.kind in "fc" else x.astype("f8")
    axis = axes_of(x.ndim, axis)[0]
    if type in ("constant", "c"):
        return x - x.mean(axis=axis, keepdims=True)
    if type not in ("linear", "l"):
        raise ValueError("Trend type must be 'linear' or 'constant'.")
    n = x.shape[axis]
    ends = numpy.unique(numpy.concatenate([[0], _host(bp), [n]])).astype(int)
    if (ends > n).any():
        raise ValueError("Breakpoints must be less than length of data along given axis.")
    rows = tn.moveaxis(x, axis, -1)
    made = []
    for start, end in zip(ends[:-1], ends[1:], strict=True):
        part = rows[..., start:end]
        t = tn.arange(1, end - start + 1, dtype="f8") / (end - start)
        away = t - t.mean()
        middle = part.mean(axis=-1, keepdims=True)
        square = float((away * away).sum())
        slope = ((part - middle) * away).sum(axis=-1, keepdims=True) / (square or 1.0)
        made.append(part - middle - slope * away)
    return tn.moveaxis(tn.concatenate(made, axis=-1), -1, axis).astype(x.dtype, copy=False)


def savgol_coeffs(
    window_length: int, polyorder: int, deriv: int = 0, delta: float = 1.0, pos: float | None = None, use: str = "conv",
) -> Any:  # fmt: skip
    """The weights by which a polynomial through a window gives its value, or a derivative."""
    if polyorder >= window_length:
        raise ValueError("polyorder must be less than window_length.")
    half, rest = divmod(window_length, 2)
    pos = (half if rest else half - 0.5) if pos is None else pos
    if not 0 <= pos < window_length:
        raise ValueError("pos must be nonnegative and less than window_length.")
    if use not in ("conv", "dot"):
        raise ValueError("`use` must be 'conv' or 'dot'")
    if deriv > polyorder:
        return tn.zeros(window_length)
    at = numpy.arange(-pos, window_length - pos, dtype=float)
    at = at[::-1] if use == "conv" else at
    powers = at ** numpy.arange(polyorder + 1)[:, None]
    wanted = numpy.zeros(polyorder + 1)
    wanted[deriv] = math.factorial(deriv) / delta**deriv
    return tn.asarray(numpy.linalg.lstsq(powers, wanted, rcond=None)[0])


def savgol_filter(
    x: Any, window_length: int, polyorder: int, deriv: int = 0, delta: float = 1.0, axis: int = -1,
    mode: str = "interp", cval: float = 0.0,
) -> Any:  # fmt: skip
    """The value, or a derivative, of the polynomial nearest to a window; "interp": at the ends of the last ones."""
    from ..ndimage import convolve1d

    if mode not in ("mirror", "constant", "nearest", "interp", "wrap"):
        raise ValueError("mode must be 'mirror', 'constant', 'nearest', 'wrap' or 'interp'.")
    x = tn.asarray(x)
    x = x if any(x.dtype == kind for kind in ("f4", "f8")) else x.astype("f8")
    axis = axes_of(x.ndim, axis)[0]
    weights = savgol_coeffs(window_length, polyorder, deriv, delta)
    if mode != "interp":
        return convolve1d(x, weights, axis, mode=mode, cval=cval)
    if window_length > x.shape[axis]:
        raise ValueError("If mode is 'interp', window_length must be less than or equal to the size of x.")
    made = tn.moveaxis(convolve1d(x, weights, axis, mode="constant"), axis, -1)
    rows, half = tn.moveaxis(x, axis, -1), window_length // 2
    last = x.shape[axis] - window_length
    for start, places in ((0, range(half)), (last, range(window_length - half, window_length))):
        window = rows[..., start : start + window_length]
        for at in places:
            one = savgol_coeffs(window_length, polyorder, deriv, delta, pos=at, use="dot")
            made[..., start + at] = (window * one).sum(axis=-1)
    return tn.moveaxis(made, -1, axis)


# -- by Fourier's transform -------------------------------------------------------------------------------------


def hilbert(x: Any, N: int | None = None, axis: int = -1) -> Any:
    """The signal and, as its imaginary part, what lies a quarter of each wave behind it."""
    x = tn.asarray(x)
    if x.dtype.kind == "c":
        raise ValueError("x must be real.")
    axis = axes_of(x.ndim, axis)[0]
    n = x.shape[axis] if N is None else N
    if n <= 0:
        raise ValueError("N must be positive.")
    factors = numpy.zeros(n, "f4" if x.dtype.itemsize < 8 and x.dtype.kind == "f" else "f8")
    factors[0] = 1
    factors[1 : (n + 1) // 2] = 2
    if n % 2 == 0:
        factors[n // 2] = 1
    shape = [1] * x.ndim
    shape[axis] = n
    return tn.fft.ifft(tn.fft.fft(x, n, axis=axis) * tn.asarray(factors.reshape(shape)), axis=axis)


def resample(
    x: Any, num: int, t: Any = None, axis: int = 0, window: Any = None, domain: str = "time"
) -> Any:
    """A periodic signal at ``num`` places, by its Fourier transform."""
    if domain not in ("time", "freq"):
        raise ValueError(f"Parameter domain='{domain}' not in ('time', 'freq')!")
    x = tn.asarray(x)
    axis = axes_of(x.ndim, axis)[0]
    n = x.shape[axis]
    rows = tn.moveaxis(x, axis, -1)
    found = rows if domain == "freq" else tn.fft.fft(rows)
    if window is not None:
        shape = window(tn.fft.fftfreq(n)) if callable(window) else (
            tn.fft.ifftshift(get_window(window, n)) if isinstance(window, (str, tuple, float)) else tn.asarray(window)
        )  # fmt: skip
        found = found * shape
    m = min(num, n)
    wide = tn.zeros((*rows.shape[:-1], num), found.dtype)
    half = (m + 1) // 2
    wide[..., :half] = found[..., :half]
    if half > 1 or m > 2:
        wide[..., num - (m - half) :] = found[..., n - (m - half) :]
    if m % 2 == 0:  # the frequency that both ends share
        if num < n:
            wide[..., num - m // 2] = found[..., m // 2] + found[..., n - m // 2]
        elif n < num:
            wide[..., m // 2] = wide[..., num - m // 2] = found[..., m // 2] / 2
    made = tn.fft.ifft(wide) * (num / n)
    made = made if x.dtype.kind == "c" else made.real
    made = tn.moveaxis(made, -1, axis)
    if t is None:
        return made
    t = tn.asarray(t)
    return made, tn.arange(num) * (t[1] - t[0]) * n / float(num) + t[0]
