# SPDX-License-Identifier: Apache-2.0
"""Filters: weights, derivatives, the least and greatest of a window, ranks in it.

Sums are taken in float64 (complex128), whatever the dtypes are, and then converted, as SciPy does.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

import numpy

from ... import numeric as tn
from ._windows import array_of, axes_of, finish, folded, per_axis, surrounded, views

__all__ = [
    "convolve", "convolve1d", "correlate", "correlate1d", "gaussian_filter", "gaussian_filter1d",
    "gaussian_gradient_magnitude", "gaussian_laplace", "generic_gradient_magnitude", "generic_laplace", "laplace",
    "maximum_filter", "maximum_filter1d", "median_filter", "minimum_filter", "minimum_filter1d", "percentile_filter",
    "prewitt", "rank_filter", "sobel", "uniform_filter", "uniform_filter1d",
]  # fmt: skip

MOST_SHIFTS = 64  # weights up to which a sum is a chain of shifted views; more are summed as an axis of windows


# -- weights ------------------------------------------------------------------------------------------------


def _weighted(x: Any, weights: Any, origins: Any, modes: Any, cval: Any) -> Any:
    """The sum over a window of elements times weights, in double precision."""
    is_complex = x.dtype.kind == "c" or weights.dtype.kind == "c"
    wide = numpy.dtype("c16" if is_complex else "f8")
    x = x.astype(wide, copy=False)
    places = [p for p in itertools.product(*map(range, weights.shape)) if weights[p] != 0]
    if not places:
        return tn.zeros_like(x)
    if len(places) > MOST_SHIFTS:
        return _summed(x, weights.astype(wide), origins, modes, cval)
    shifted = views(x, weights.shape, origins, modes, cval, places)
    return folded(
        (view * weights[p].item() for p, view in zip(places, shifted, strict=True)), tn.add
    )


def _summed(x: Any, weights: Any, origins: Any, modes: Any, cval: Any) -> Any:
    """As one reduction over the axes of windows."""
    around = surrounded(x, weights.shape, origins, modes, cval)
    windows = tn.lib.stride_tricks.sliding_window_view(around, weights.shape)
    return (windows * tn.asarray(weights)).sum(axis=tuple(range(x.ndim, 2 * x.ndim)))


def _host(weights: Any) -> Any:
    """Weights as NumPy's array: how many there are decides which kernel is made."""
    return numpy.asarray(weights.get() if hasattr(weights, "get") else weights)


def _spread(weights: Any, axes: tuple[int, ...], ndim: int) -> Any:
    """Weights of some axes as weights of all; theirs are in the order of the input's."""
    if weights.ndim != len(axes):
        raise RuntimeError(
            f"filter weights array has incorrect shape: {weights.ndim} axes for the {len(axes)} of the input"
        )
    shape = [1] * ndim
    for axis, n in zip(sorted(axes), weights.shape, strict=True):
        shape[axis] = n
    return weights.reshape(shape)


def _for_all(values: Any, axes: tuple[int, ...], ndim: int, other: Any) -> list[Any]:
    """A value for each axis, from those of some."""
    made = [other] * ndim
    for axis, value in zip(axes, values, strict=True):
        made[axis] = value
    return made


def _correlated(
    input: Any, weights: Any, output: Any, mode: Any, cval: Any, origin: Any, axes: Any, turned: bool,
) -> Any:  # fmt: skip
    x, weights = array_of(input), _host(weights)
    axes = axes_of(x.ndim, axes)
    if not weights.size:
        raise RuntimeError("filter weights array must have elements")
    origins = per_axis(origin, len(axes), "origin")
    if turned:
        weights = weights[(slice(None, None, -1),) * weights.ndim]
        if len(weights.shape) == len(origins):
            origins = tuple(-o - (1 - n % 2) for o, n in zip(origins, weights.shape, strict=True))
    whole = _spread(weights, axes, x.ndim)
    modes = _for_all(per_axis(mode, len(axes), "mode"), axes, x.ndim, "nearest")
    made = _weighted(x, whole, _for_all(origins, axes, x.ndim, 0), modes, cval)
    if output is None and x.dtype.kind != "c" and weights.dtype.kind == "c":
        output = numpy.result_type(x.dtype, "c8")
    return finish(made, x, output)


def correlate(
    input: Any, weights: Any, output: Any = None, mode: Any = "reflect", cval: Any = 0.0, origin: Any = 0, *,
    axes: Any = None,
) -> Any:  # fmt: skip
    """The sum of the elements around each one, times weights.

    Parameters
    ----------
    input : array_like
    weights : array_like
        With as many axes as the input.
    output : array or dtype, optional
        What is filled, or the dtype of the result; the input's by itself.
    mode : str
        What lies beyond the ends: "reflect" (d c b a | a b c d), "mirror" (d c b | a b c d), "nearest", "constant",
        "wrap", also with "grid-".
    cval : number
        What lies there with "constant".
    origin : int or sequence
        How far the window is moved, along each axis.
    axes : tuple of int, optional
        The axes that are filtered.
    """
    return _correlated(input, weights, output, mode, cval, origin, axes, False)


def convolve(
    input: Any, weights: Any, output: Any = None, mode: Any = "reflect", cval: Any = 0.0, origin: Any = 0, *,
    axes: Any = None,
) -> Any:  # fmt: skip
    """As `correlate`, with the weights turned round."""
    return _correlated(input, weights, output, mode, cval, origin, axes, True)


def _line(weights: Any) -> Any:
    weights = _host(weights)
    if weights.ndim != 1 or not weights.size:
        raise RuntimeError("no filter weights given")
    return weights


def correlate1d(
    input: Any, weights: Any, axis: int = -1, output: Any = None, mode: str = "reflect", cval: Any = 0.0,
    origin: int = 0,
) -> Any:  # fmt: skip
    """`correlate` along one axis."""
    return _correlated(input, _line(weights), output, mode, cval, origin, axis, False)


def convolve1d(
    input: Any, weights: Any, axis: int = -1, output: Any = None, mode: str = "reflect", cval: Any = 0.0,
    origin: int = 0,
) -> Any:  # fmt: skip
    """`convolve` along one axis."""
    return _correlated(input, _line(weights), output, mode, cval, origin, axis, True)


# -- one axis after another -----------------------------------------------------------------------------------


def _between(x: Any, output: Any) -> Any:
    """The dtype in which steps are rounded, as SciPy's are: that of the result."""
    if isinstance(output, tn.ndarray):
        return output.dtype
    return x.dtype if output is None else numpy.dtype(output)


def _in_turn(x: Any, steps: Any, output: Any) -> Any:
    """Filters of one axis, each on the result of the one before. SciPy's arrays of bools hold any byte in between."""
    dtype = _between(x, output)
    if dtype.kind == "b":
        dtype = numpy.dtype("u1")
    made = x
    for step in steps:
        made = step(made, dtype)
    return finish(made, x, output)


def uniform_filter1d(
    input: Any, size: int, axis: int = -1, output: Any = None, mode: str = "reflect", cval: Any = 0.0, origin: int = 0,
) -> Any:  # fmt: skip
    """The mean of a window along an axis."""
    if size < 1:
        raise RuntimeError("incorrect filter size")
    x = array_of(input)
    ones = numpy.ones(size, "c16" if x.dtype.kind == "c" else "f8")
    total = correlate1d(x, ones, axis, ones.dtype, mode, cval, origin)
    return finish(total / size, x, output)


def uniform_filter(
    input: Any, size: Any = 3, output: Any = None, mode: Any = "reflect", cval: Any = 0.0, origin: Any = 0, *,
    axes: Any = None,
) -> Any:  # fmt: skip
    """The mean of a window."""
    x = array_of(input)
    axes = axes_of(x.ndim, axes)
    parts = zip(axes, *(per_axis(v, len(axes)) for v in (size, mode, origin)), strict=True)
    steps = [
        lambda y, dtype, a=a, n=n, m=m, o=o: uniform_filter1d(y, int(n), a, dtype, m, cval, o)
        for a, n, m, o in parts if n > 1
    ]  # fmt: skip
    return _in_turn(x, steps, output)


def _gaussian(sigma: float, order: int, radius: int) -> Any:
    """The weights of a derivative of the bell curve: it times a polynomial, whose coefficients a recurrence gives."""
    if order < 0:
        raise ValueError("order must be non-negative")
    at = numpy.arange(-radius, radius + 1)
    bell = numpy.exp(-0.5 / (sigma * sigma) * at**2)
    bell /= bell.sum()
    factors = numpy.zeros(order + 1)
    factors[0] = 1
    for _ in range(order):
        risen = numpy.concatenate([[0], factors[:-1]]) / (-sigma * sigma)
        factors = numpy.concatenate([factors[1:] * numpy.arange(1, order + 1), [0]]) + risen
    return numpy.polynomial.polynomial.polyval(at, factors) * bell if order else bell


def gaussian_filter1d(
    input: Any, sigma: float, axis: int = -1, order: int = 0, output: Any = None, mode: str = "reflect",
    cval: Any = 0.0, truncate: float = 4.0, *, radius: int | None = None,
) -> Any:  # fmt: skip
    """The bell curve of width ``sigma``, or a derivative of it, along an axis."""
    sigma = float(sigma)
    reach = int(truncate * sigma + 0.5) if radius is None else radius
    if not isinstance(reach, (int, numpy.integer)) or reach < 0:
        raise ValueError("Radius must be a nonnegative integer.")
    return correlate1d(input, _gaussian(sigma, order, reach)[::-1], axis, output, mode, cval, 0)


def gaussian_filter(
    input: Any, sigma: Any, order: Any = 0, output: Any = None, mode: Any = "reflect", cval: Any = 0.0,
    truncate: float = 4.0, *, radius: Any = None, axes: Any = None,
) -> Any:  # fmt: skip
    """The bell curve of width ``sigma`` along each axis."""
    x = array_of(input)
    axes = axes_of(x.ndim, axes)
    parts = zip(axes, *(per_axis(v, len(axes)) for v in (sigma, order, mode, radius)), strict=True)
    steps = [
        lambda y, dtype, a=a, s=s, o=o, m=m, r=r: gaussian_filter1d(
            y, s, a, o, dtype, m, cval, truncate, radius=r
        )
        for a, s, o, m, r in parts if s > 1e-15
    ]  # fmt: skip
    return _in_turn(x, steps, output)


# -- derivatives ----------------------------------------------------------------------------------------------


def _edges(
    input: Any, axis: int, output: Any, mode: Any, cval: Any, smooth: Sequence[int]
) -> Any:
    """The difference along an axis, smoothed along the others."""
    x = array_of(input)
    axis = axes_of(x.ndim, axis)[0]
    modes = per_axis(mode, x.ndim)
    steps = [lambda y, dtype: correlate1d(y, [-1, 0, 1], axis, dtype, modes[axis], cval)]
    steps += [
        lambda y, dtype, a=a: correlate1d(y, smooth, a, dtype, modes[a], cval)
        for a in range(x.ndim) if a != axis
    ]  # fmt: skip
    return _in_turn(x, steps, output)


def prewitt(
    input: Any, axis: int = -1, output: Any = None, mode: Any = "reflect", cval: Any = 0.0
) -> Any:
    """Prewitt's filter."""
    return _edges(input, axis, output, mode, cval, (1, 1, 1))


def sobel(
    input: Any, axis: int = -1, output: Any = None, mode: Any = "reflect", cval: Any = 0.0
) -> Any:
    """Sobel's filter."""
    return _edges(input, axis, output, mode, cval, (1, 2, 1))


def generic_laplace(
    input: Any, derivative2: Any, output: Any = None, mode: Any = "reflect", cval: Any = 0.0,
    extra_arguments: Any = (), extra_keywords: Any = None, *, axes: Any = None,
) -> Any:  # fmt: skip
    """The sum of ``derivative2(input, axis, output, mode, cval, ...)`` over the axes."""
    x = array_of(input)
    axes, given = axes_of(x.ndim, axes), extra_keywords or {}
    dtype = _between(x, output)
    parts = (
        array_of(derivative2(x, axis, dtype, m, cval, *extra_arguments, **given))
        for axis, m in zip(axes, per_axis(mode, len(axes)), strict=True)
    )
    return finish(folded(parts, tn.add) if axes else x, x, output)


def laplace(
    input: Any, output: Any = None, mode: Any = "reflect", cval: Any = 0.0, *, axes: Any = None
) -> Any:
    """The sum of the second differences."""

    def second(x: Any, axis: int, output: Any, mode: str, cval: Any) -> Any:
        return correlate1d(x, [1, -2, 1], axis, output, mode, cval, 0)

    return generic_laplace(input, second, output, mode, cval, axes=axes)


def _derivative(order: int, rest: int = 0) -> Any:
    def along(x: Any, axis: int, output: Any, mode: str, cval: Any, sigma: Any, **options: Any) -> Any:
        orders = [rest] * x.ndim
        orders[axis] = order
        return gaussian_filter(x, sigma, orders, output, mode, cval, **options)

    return along


def gaussian_laplace(
    input: Any, sigma: Any, output: Any = None, mode: Any = "reflect", cval: Any = 0.0, **options: Any
) -> Any:
    """The sum of the second derivatives of the bell curve."""
    return generic_laplace(input, _derivative(2), output, mode, cval, (sigma,), options)


def generic_gradient_magnitude(
    input: Any, derivative: Any, output: Any = None, mode: Any = "reflect", cval: Any = 0.0,
    extra_arguments: Any = (), extra_keywords: Any = None, *, axes: Any = None,
) -> Any:  # fmt: skip
    """The root of the sum of the squares of ``derivative(input, axis, output, mode, cval, ...)``."""

    def squared(x: Any, *args: Any, **options: Any) -> Any:
        made = derivative(x, *args, **options)
        return made * made

    x = array_of(input)
    total = generic_laplace(x, squared, output, mode, cval, extra_arguments, extra_keywords, axes=axes)
    made = tn.sqrt(total if total.dtype.kind in "fc" else total.astype("f8"))
    return finish(made, x, output)


def gaussian_gradient_magnitude(
    input: Any, sigma: Any, output: Any = None, mode: Any = "reflect", cval: Any = 0.0, **options: Any
) -> Any:
    """The length of the gradient of the bell curve."""
    return generic_gradient_magnitude(input, _derivative(1), output, mode, cval, (sigma,), options)


# -- order ----------------------------------------------------------------------------------------------------


def _window(x: Any, size: Any, footprint: Any, axes: tuple[int, ...]) -> Any:
    """The places of a window that count, as an array of bool with an axis for each of the input's."""
    if footprint is None:
        if size is None:
            raise RuntimeError("no footprint provided")
        sizes = [int(n) for n in per_axis(size, len(axes))]
        if min(sizes, default=1) < 1:
            raise RuntimeError("incorrect filter size")
        return numpy.ones(_for_all(sizes, axes, x.ndim, 1), bool)
    made = _host(footprint).astype(bool)
    if not made.any():
        raise ValueError("All-zero footprint is not supported.")
    return _spread(made, axes, x.ndim)


def _around(x: Any, window: Any, origins: Any, modes: Any, cval: Any) -> Any:
    """The elements of a window, a view for each."""
    return views(x, window.shape, origins, modes, cval, [tuple(map(int, p)) for p in numpy.argwhere(window)])


def _set(mode: Any, origin: Any, axes: tuple[int, ...], ndim: int) -> tuple[Any, Any]:
    """Origins and modes of all axes."""
    origins = _for_all(per_axis(origin, len(axes), "origin"), axes, ndim, 0)
    return origins, _for_all(per_axis(mode, len(axes), "mode"), axes, ndim, "nearest")


def extreme(
    input: Any, window: Any, structure: Any, output: Any, mode: Any, cval: Any, origin: Any, axes: Any, greatest: bool,
    turned: bool = False,
) -> Any:  # fmt: skip
    """The least or greatest of a window, with a structure added to its elements (taken from them for the least)."""
    x = array_of(input)
    join = tn.maximum if greatest else tn.minimum
    origins, modes = _set(mode, origin, axes, x.ndim)
    if turned:
        back = (slice(None, None, -1),) * window.ndim
        window, structure = window[back], None if structure is None else structure[back]
        origins = [-o - (1 - n % 2) for o, n in zip(origins, window.shape, strict=True)]
    if structure is None and window.all():
        made = x
        for axis, n in enumerate(window.shape):  # of a box: axis by axis
            shape, moved = [1] * x.ndim, [0] * x.ndim
            shape[axis], moved[axis] = n, origins[axis]
            made = made if n == 1 else folded(_around(made, numpy.ones(shape, bool), moved, modes, cval), join)
        return finish(made, x, output)
    items = _around(x, window, origins, modes, cval)
    if structure is not None:
        heights = structure[window].tolist()
        items = (v + h if greatest else v - h for v, h in zip(items, heights, strict=True))
    return finish(folded(items, join), x, output)


def minimum_filter(
    input: Any, size: Any = None, footprint: Any = None, output: Any = None, mode: Any = "reflect", cval: Any = 0.0,
    origin: Any = 0, *, axes: Any = None,
) -> Any:  # fmt: skip
    """The least of a window."""
    x = array_of(input)
    axes = axes_of(x.ndim, axes)
    return extreme(x, _window(x, size, footprint, axes), None, output, mode, cval, origin, axes, False)


def maximum_filter(
    input: Any, size: Any = None, footprint: Any = None, output: Any = None, mode: Any = "reflect", cval: Any = 0.0,
    origin: Any = 0, *, axes: Any = None,
) -> Any:  # fmt: skip
    """The greatest of a window."""
    x = array_of(input)
    axes = axes_of(x.ndim, axes)
    return extreme(x, _window(x, size, footprint, axes), None, output, mode, cval, origin, axes, True)


def minimum_filter1d(
    input: Any, size: int, axis: int = -1, output: Any = None, mode: str = "reflect", cval: Any = 0.0, origin: int = 0,
) -> Any:  # fmt: skip
    """The least of a window along an axis."""
    return minimum_filter(input, size, None, output, mode, cval, origin, axes=axis)


def maximum_filter1d(
    input: Any, size: int, axis: int = -1, output: Any = None, mode: str = "reflect", cval: Any = 0.0, origin: int = 0,
) -> Any:  # fmt: skip
    """The greatest of a window along an axis."""
    return maximum_filter(input, size, None, output, mode, cval, origin, axes=axis)


def _ranked(
    input: Any, rank: Any, size: Any, footprint: Any, output: Any, mode: Any, cval: Any, origin: Any, axes: Any,
) -> Any:  # fmt: skip
    """The element of a rank, which is said by how many there are."""
    x = array_of(input)
    axes = axes_of(x.ndim, axes)
    window = _window(x, size, footprint, axes)
    n = int(window.sum())
    at = rank(n)
    if not 0 <= at < n:
        raise RuntimeError("rank not within filter footprint size")
    if n == 1 and window.size == 1:
        return finish(x, x, output)
    around = tn.stack(list(_around(x, window, *_set(mode, origin, axes, x.ndim), cval)), axis=-1)
    return finish(tn.sort(around, axis=-1)[..., at], x, output)


def rank_filter(
    input: Any, rank: int, size: Any = None, footprint: Any = None, output: Any = None, mode: Any = "reflect",
    cval: Any = 0.0, origin: Any = 0, *, axes: Any = None,
) -> Any:  # fmt: skip
    """The element of a window that is the ``rank``-th of them in order; less than 0: from the greatest."""

    def at(n: int) -> int:
        return rank + n if rank < 0 else rank

    return _ranked(input, at, size, footprint, output, mode, cval, origin, axes)


def median_filter(
    input: Any, size: Any = None, footprint: Any = None, output: Any = None, mode: Any = "reflect", cval: Any = 0.0,
    origin: Any = 0, *, axes: Any = None,
) -> Any:  # fmt: skip
    """The middle one of a window; of an even number the upper one."""
    return _ranked(input, lambda n: n // 2, size, footprint, output, mode, cval, origin, axes)


def percentile_filter(
    input: Any, percentile: float, size: Any = None, footprint: Any = None, output: Any = None, mode: Any = "reflect",
    cval: Any = 0.0, origin: Any = 0, *, axes: Any = None,
) -> Any:  # fmt: skip
    """The element of a window below which so many of a hundred lie."""
    part = percentile + 100 if percentile < 0 else percentile
    if not 0 <= part <= 100:
        raise RuntimeError("invalid percentile")

    def at(n: int) -> int:
        return n - 1 if part == 100 else math.floor(n * part / 100)

    return _ranked(input, at, size, footprint, output, mode, cval, origin, axes)
