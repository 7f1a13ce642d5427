# SPDX-License-Identifier: Apache-2.0
"""Fourier transforms with SciPy's arguments, and those of cosines and sines: one Fourier transform of twice the length.

A sum of x[n] cos(pi (2 n + 1) k / (2 N)) is the real part of exp(-i pi k / (2 N)) F[k], where F is the transform of x
and as many zeros; the other types turn x before it, or the result behind it, by other angles.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from typing import Any

import numpy

from .. import numeric as tn
from ._missing import of_module

__all__ = [
    "dct", "dctn", "dst", "dstn", "fft", "fft2", "fftfreq", "fftn", "fftshift", "hfft", "hfft2", "hfftn", "idct",
    "idctn", "idst", "idstn", "ifft", "ifft2", "ifftn", "ifftshift", "ihfft", "ihfft2", "ihfftn", "irfft", "irfft2",
    "irfftn", "next_fast_len", "rfft", "rfft2", "rfftfreq", "rfftn",
]  # fmt: skip

fftshift, ifftshift, fftfreq, rfftfreq = tn.fft.fftshift, tn.fft.ifftshift, tn.fft.fftfreq, tn.fft.rfftfreq
_NORMS = ("backward", "ortho", "forward")


def _operand(x: Any) -> Any:
    x = tn.asarray(x)
    return x.astype("f4") if x.dtype == "e" else x


def _line(name: str) -> Any:
    ours = getattr(tn.fft, name)

    def transform(
        x: Any, n: Any = None, axis: int = -1, norm: Any = None, overwrite_x: bool = False, workers: Any = None, *,
        plan: Any = None,
    ) -> Any:  # fmt: skip
        return ours(_operand(x), n, axis, norm)

    transform.__name__, transform.__doc__ = name, ours.__doc__
    return transform


def _places(x: Any, s: Any, axes: Any) -> tuple[Any, list[int]]:
    """Lengths (None: those that are there) and their axes, which are different ones."""
    lengths = None if s is None else [s] if numpy.ndim(s) == 0 else list(s)
    if axes is None:
        if lengths is not None and len(lengths) > x.ndim:
            raise ValueError("shape requires more axes than are present")
        axes = range(x.ndim) if lengths is None else range(x.ndim - len(lengths), x.ndim)
    axes = [axes] if numpy.ndim(axes) == 0 else list(axes)
    if lengths is not None and len(lengths) != len(axes):
        raise ValueError("when given, axes and shape arguments have to be of the same length")
    if any(not -x.ndim <= axis < x.ndim for axis in axes):
        raise ValueError("axes exceeds dimensionality of input")
    if len({axis % x.ndim for axis in axes}) != len(axes):
        raise ValueError("all axes must be unique")
    return lengths, axes


def _axes(name: str, default: Any) -> Any:
    ours = getattr(tn.fft, name)

    def transform(
        x: Any, s: Any = None, axes: Any = default, norm: Any = None, overwrite_x: bool = False, workers: Any = None,
        *, plan: Any = None,
    ) -> Any:  # fmt: skip
        x = _operand(x)
        return ours(x, *_places(x, s, axes), norm)

    transform.__name__, transform.__doc__ = name, ours.__doc__
    return transform


fft, ifft, rfft, irfft = _line("fft"), _line("ifft"), _line("rfft"), _line("irfft")
hfft, ihfft = _line("hfft"), _line("ihfft")
fft2, ifft2, rfft2, irfft2 = (_axes(name, (-2, -1)) for name in ("fft2", "ifft2", "rfft2", "irfft2"))
fftn, ifftn, rfftn, irfftn = (_axes(name, None) for name in ("fftn", "ifftn", "rfftn", "irfftn"))


_OTHER = {"backward": "forward", "forward": "backward", "ortho": "ortho", None: "forward"}


def _hermitian(name: str, default: Any, is_inverse: bool, doc: str) -> Any:
    def transform(
        x: Any, s: Any = None, axes: Any = default, norm: Any = None, overwrite_x: bool = False, workers: Any = None,
        *, plan: Any = None,
    ) -> Any:  # fmt: skip
        if norm not in _OTHER:
            raise ValueError(f'Invalid norm value {norm!r}; should be "backward", "ortho" or "forward".')
        if is_inverse:
            return tn.conj(rfftn(x, s, axes, _OTHER[norm]))
        return irfftn(tn.conj(tn.asarray(x)), s, axes, _OTHER[norm])

    transform.__name__, transform.__doc__ = name, doc
    return transform


hfft2, hfftn = (_hermitian(name, axes, False, "The transform of what is symmetric along several axes, which is real.")
                for name, axes in (("hfft2", (-2, -1)), ("hfftn", None)))  # fmt: skip
ihfft2, ihfftn = (_hermitian(name, axes, True, "The inverse of `hfftn`.")
                  for name, axes in (("ihfft2", (-2, -1)), ("ihfftn", None)))  # fmt: skip


def next_fast_len(target: int, real: bool = False) -> int:
    """The least length from ``target`` on whose prime factors are at most 11, for real numbers at most 5."""
    n = operator.index(target)
    if n < 0:
        raise ValueError(f"Target length must be positive, found {n}")
    return smooth(n, (2, 3, 5) if real else (2, 3, 5, 7, 11))


def smooth(n: int, factors: Sequence[int]) -> int:
    """The least number from ``n`` on that is a product of factors; 0 for 0."""
    while n:
        rest = n
        for factor in factors:
            while rest % factor == 0:
                rest //= factor
        if rest == 1:
            break
        n += 1
    return n


# -- cosines and sines ------------------------------------------------------------------------------------------


def _turns(n: int, first: float, period: float) -> Any:
    """exp(-i pi (k + first) / period), for k from 0 on."""
    return tn.exp(-1j * math.pi * (tn.arange(n) + first) / period)


def _cosines(x: Any, kind: int) -> Any:
    """Along the last axis, without a scale."""
    n = x.shape[-1]
    if kind == 1:
        signs = tn.where(tn.arange(n) % 2 == 0, 1.0, -1.0)
        whole = tn.fft.fft(x, 2 * (n - 1))[..., :n].real
        return 2 * whole - x[..., :1] - signs * x[..., -1:]
    if kind == 2:
        return 2 * (_turns(n, 0, 2 * n) * tn.fft.fft(x, 2 * n)[..., :n]).real
    if kind == 3:
        return 2 * tn.fft.fft(x * _turns(n, 0, 2 * n), 2 * n)[..., :n].real - x[..., :1]
    return 2 * (_turns(n, 0.5, 2 * n) * tn.fft.fft(x * _turns(n, 0, 2 * n), 2 * n)[..., :n]).real


def _sines(x: Any, kind: int) -> Any:
    """Along the last axis, without a scale."""
    n = x.shape[-1]
    first = tn.zeros_like(x[..., :1])
    if kind == 1:
        return -2 * tn.fft.fft(tn.concatenate([first, x], -1), 2 * (n + 1))[..., 1 : n + 1].imag
    if kind == 2:
        return -2 * (_turns(n, 1, 2 * n) * tn.fft.fft(x, 2 * n)[..., 1 : n + 1]).imag
    if kind == 3:
        half = tn.where(tn.arange(n) == n - 1, 0.5, 1.0)
        turned = tn.concatenate([first, x * half], -1) * _turns(n + 1, 0, 2 * n)
        return -2 * tn.fft.fft(turned, 2 * n)[..., :n].imag
    return -2 * (_turns(n, 0.5, 2 * n) * tn.fft.fft(x * _turns(n, 0, 2 * n), 2 * n)[..., :n]).imag


def _ends(x: Any, factor: float, places: tuple[int, ...]) -> Any:
    """The first (0) or last (-1) element of each line, multiplied."""
    n = x.shape[-1]
    scale = numpy.ones(n)
    for place in places:
        scale[place] *= factor
    return x * tn.asarray(scale)


def _transform(x: Any, options: Any) -> Any:
    """Along the last axis, in double precision."""
    is_sine, is_inverse, kind, norm, orthogonal = options
    n = x.shape[-1]
    kind = {2: 3, 3: 2}.get(kind, kind) if is_inverse else kind
    if kind == 1 and not is_sine and n < 2:
        raise RuntimeError("zero-length FFT requested: a DCT of type 1 takes two elements or more")
    places = {(1, False): (0, -1), (2, False): (0,), (3, False): (0,), (2, True): (-1,), (3, True): (-1,)}
    ends = places.get((kind, is_sine), ()) if orthogonal else ()
    if kind in (1, 3) and ends:
        x = _ends(x, math.sqrt(2), ends)
    made = (_sines if is_sine else _cosines)(x, kind)
    if kind in (1, 2) and ends:
        made = _ends(made, math.sqrt(0.5), ends)
    length = 2 * (n + 1 if is_sine else n - 1) if kind == 1 else 2 * n
    if norm == "ortho":
        return made / math.sqrt(length)
    return made / length if (norm == "backward") == is_inverse else made


def _along(x: Any, n: Any, axis: int, options: Any) -> Any:
    """Along an axis, whose length becomes n."""
    lines = tn.moveaxis(x, axis, -1)
    n = lines.shape[-1] if n is None else int(n)
    if n < 1:
        raise ValueError(f"invalid number of data points ({n}) specified")
    lines = lines[..., :n]
    if lines.shape[-1] < n:
        lines = tn.concatenate([lines, tn.zeros((*lines.shape[:-1], n - lines.shape[-1]), lines.dtype)], -1)
    return tn.ascontiguousarray(tn.moveaxis(_transform(lines, options), -1, axis))


def _checked(x: Any, kind: int, norm: Any, orthogonalize: Any, is_sine: bool, is_inverse: bool) -> tuple[Any, Any]:
    if kind not in (1, 2, 3, 4):
        raise ValueError(f"invalid type {kind!r}: it is 1, 2, 3 or 4")
    norm = "backward" if norm is None else norm
    if norm not in _NORMS:
        raise ValueError(f'Invalid norm value {norm!r}; should be "backward", "ortho" or "forward".')
    orthogonal = norm == "ortho" if orthogonalize is None else orthogonalize
    return tn.asarray(x), (is_sine, is_inverse, kind, norm, orthogonal)


def _each(x: Any, axes: Sequence[tuple[int, Any]], options: Any) -> Any:
    """Along axes, each with its length, in the precision of the input."""
    if x.dtype.kind == "c":
        return _each(x.real, axes, options) + 1j * _each(x.imag, axes, options)
    wanted = "f4" if x.dtype.char in "ef" else "f8"
    made = x.astype("f8")
    for axis, n in axes:
        made = _along(made, n, axis, options)
    return made.astype(wanted, copy=False)


def _one(name: str, is_sine: bool, is_inverse: bool, doc: str) -> Any:
    def transform(
        x: Any, type: int = 2, n: Any = None, axis: int = -1, norm: Any = None, overwrite_x: bool = False,
        workers: Any = None, orthogonalize: Any = None,
    ) -> Any:  # fmt: skip
        x, options = _checked(x, type, norm, orthogonalize, is_sine, is_inverse)
        return _each(x, [(axis, n)], options)

    transform.__name__, transform.__doc__ = name, doc
    return transform


def _many(name: str, is_sine: bool, is_inverse: bool, doc: str) -> Any:
    def transform(
        x: Any, type: int = 2, s: Any = None, axes: Any = None, norm: Any = None, overwrite_x: bool = False,
        workers: Any = None, *, orthogonalize: Any = None,
    ) -> Any:  # fmt: skip
        x, options = _checked(x, type, norm, orthogonalize, is_sine, is_inverse)
        lengths, axes = _places(x, s, axes)
        return _each(x, list(zip(axes, lengths or [None] * len(axes), strict=True)), options)

    transform.__name__, transform.__doc__ = name, doc
    return transform


dct = _one("dct", False, False, "Sums of cosines along an axis, of type 1, 2, 3 or 4.")
idct = _one("idct", False, True, "The inverse of `dct`.")
dst = _one("dst", True, False, "Sums of sines along an axis, of type 1, 2, 3 or 4.")
idst = _one("idst", True, True, "The inverse of `dst`.")
dctn = _many("dctn", False, False, "`dct` along several axes, one after the other.")
idctn = _many("idctn", False, True, "The inverse of `dctn`.")
dstn = _many("dstn", True, False, "`dst` along several axes, one after the other.")
idstn = _many("idstn", True, True, "The inverse of `dstn`.")

__getattr__ = of_module("fft")
