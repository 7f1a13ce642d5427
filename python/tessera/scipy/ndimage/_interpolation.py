# SPDX-License-Identifier: Apache-2.0
"""Between the elements: splines of order 0 to 5 at any places, and images that are moved, turned and scaled.

    value(t) = sum over k of c[i + k] * w[k](t)       i: the first of the order + 1 elements around t

The coefficients c are the image itself for the orders 0 and 1; for the others a filter along each axis gives them.
"""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy

from ... import numeric as tn
from ._filters import _host, correlate1d
from ._windows import array_of, axes_of, finish, padded, per_axis

__all__ = ["affine_transform", "map_coordinates", "rotate", "shift", "spline_filter", "spline_filter1d", "zoom"]

_POLES = {
    2: (math.sqrt(8) - 3,),
    3: (math.sqrt(3) - 2,),
    4: (math.sqrt(664 - math.sqrt(438976)) + math.sqrt(304) - 19,
        math.sqrt(664 + math.sqrt(438976)) - math.sqrt(304) - 19),
    5: (math.sqrt(67.5 - math.sqrt(4436.25)) + math.sqrt(26.25) - 6.5,
        math.sqrt(67.5 + math.sqrt(4436.25)) - math.sqrt(26.25) - 6.5),
}  # fmt: skip
_MODES = ("reflect", "grid-mirror", "constant", "grid-constant", "nearest", "mirror", "grid-wrap", "wrap")
_ENDS = {"reflect": "reflect", "grid-mirror": "reflect", "nearest": "reflect", "grid-wrap": "wrap"}
EDGE = 12  # elements around an image whose own end a spline must not see


def _check(order: int, mode: str) -> None:
    if not 0 <= order <= 5:
        raise RuntimeError("spline order not supported")
    if mode not in _MODES:
        raise RuntimeError(f"boundary mode not supported: {mode!r}; there are {', '.join(_MODES)}")


# -- coefficients ---------------------------------------------------------------------------------------------


def _end_of(mode: str) -> str:
    """What a spline takes to lie beyond the ends."""
    return _ENDS.get(mode, "mirror")


def spline_filter1d(
    input: Any, order: int = 3, axis: int = -1, output: Any = numpy.float64, mode: str = "mirror"
) -> Any:
    """The coefficients of the spline through the elements along an axis.

    Each pole of the filter is a sum of elements times its powers, up to those that double precision does not see.
    """
    _check(order, mode)
    x = array_of(input)
    made = x.astype("c16" if x.dtype.kind == "c" else "f8", copy=False)
    axis = axes_of(x.ndim, axis)[0]
    for pole in _POLES.get(order, ()) if x.shape[axis] > 1 else ():
        reach = math.ceil(math.log(1e-17) / math.log(-pole))
        gain = (1 - pole) * (1 - 1 / pole) * -pole / (1 - pole * pole)
        weights = gain * pole ** numpy.abs(numpy.arange(-reach, reach + 1))
        made = correlate1d(made, weights, axis, None, _end_of(mode))
    return finish(made, x, _wide(x, output))


def _wide(x: Any, output: Any) -> Any:
    """The dtype of coefficients, complex where the image is."""
    if isinstance(output, tn.ndarray) or x.dtype.kind != "c":
        return output
    return numpy.result_type(output, "c8")


def spline_filter(
    input: Any, order: int = 3, output: Any = numpy.float64, mode: str = "mirror"
) -> Any:
    """The coefficients of the spline through all elements."""
    if order < 2 or order > 5:
        raise RuntimeError("spline order not supported")
    x = array_of(input)
    made = x.astype("c16" if x.dtype.kind == "c" else "f8", copy=False)
    for axis in range(x.ndim):
        made = spline_filter1d(made, order, axis, made.dtype, mode)
    return finish(made, x, _wide(x, output))


# -- values ---------------------------------------------------------------------------------------------------


def _mapped(t: Any, n: int, mode: str) -> Any:
    """A place on an axis of n elements, as a place between its ends; beyond them where ``mode`` has them."""
    if mode == "nearest":
        return tn.clip(t, 0, n - 1)
    if mode in ("constant", "grid-constant"):
        return t
    if n == 1:
        return tn.zeros_like(t)
    if mode == "grid-wrap":
        return tn.remainder(t, n)
    if mode == "wrap":
        return tn.where((t < 0) | (t > n - 1), tn.remainder(t, n - 1), t)
    if mode == "mirror":
        t = tn.remainder(tn.abs(t), 2 * n - 2)
        return tn.where(t > n - 1, 2 * n - 2 - t, t)
    t = tn.remainder(tn.where(t < -0.5, -1 - t, t), 2 * n)  # reflect: the ends lie half a step beyond
    return tn.where(t > n - 0.5, 2 * n - 1 - t, t)


def _weights(t: Any, order: int) -> tuple[Any, list[Any]]:
    """The first element that a place sees, and the weights of it and those behind it."""
    if order == 0:
        return tn.floor(t + 0.5).astype("i8"), [None]
    first = tn.floor(t) if order % 2 else tn.floor(t + 0.5)
    at = first.astype("i8") - order // 2
    return at, [_spline(t - (at + k), order) for k in range(order + 1)]


def _spline(t: Any, order: int) -> Any:
    """The basic spline of an order, by the powers of what lies beyond each of its knots."""
    t = tn.abs(t)
    if order == 1:
        return 1 - t
    made = 0
    for k in range(order // 2 + 1):  # the knots right of t
        factor = (-1) ** k * math.comb(order + 1, k) / math.factorial(order)
        made = made + factor * tn.maximum((order + 1) / 2 - k - t, 0) ** order
    return made


def _at(coefficients: Any, places: list[Any], order: int, mode: str, cval: Any, edge: int) -> Any:
    """The spline at places, an array for each axis."""
    axes, outside = [], None
    for t, n in zip(places, coefficients.shape, strict=True):
        inner = n - 2 * edge
        if mode == "constant":
            beyond = (t < 0) | (t > inner - 1)
            outside = beyond if outside is None else outside | beyond
        whole = mode == "nearest"  # what lies around the image counts as it
        at = _mapped(t + edge, n, mode) if whole else _mapped(t, inner, mode) + edge
        first, weights = _weights(at, order)
        axes.append([(_element(first + k, n, mode, cval), w) for k, w in enumerate(weights)])
    made = None
    for chosen in itertools.product(*axes):
        value = coefficients[tuple(at for (at, _), _ in chosen)]
        for (_, out), _ in chosen:
            value = value if out is None else tn.where(out, cval, value)
        for _, w in chosen:
            value = value if w is None else value * w
        made = value if made is None else made + value
    return made if outside is None else tn.where(outside, cval, made)


def _element(at: Any, n: int, mode: str, cval: Any) -> tuple[Any, Any]:
    """The place of an element, and whether it lies beyond the array where that counts."""
    if mode == "grid-constant":
        return tn.clip(at, 0, n - 1), (at < 0) | (at > n - 1)
    end = "nearest" if mode == "nearest" else {"reflect": "reflect", "wrap": "grid-wrap"}.get(_end_of(mode), "mirror")
    return _mapped(at, n, end).astype("i8", copy=False), None


def _sampled(
    input: Any, places: list[Any], output: Any, order: int, mode: str, cval: Any, prefilter: bool
) -> Any:
    _check(order, mode)
    x = array_of(input)
    if x.ndim < 1:
        raise RuntimeError("input and output rank must be > 0")
    edge = EDGE if prefilter and order > 1 and mode in ("nearest", "grid-constant") else 0
    made = x.astype("c16" if x.dtype.kind == "c" else "f8", copy=False)
    if edge:
        made = padded(made, [(edge, edge)] * x.ndim, [mode] * x.ndim, cval)
    if prefilter and order > 1:
        made = spline_filter(made, order, made.dtype, mode)
    return finish(_rounded(_at(made, places, order, mode, cval, edge), x, output), x, output)


def _rounded(made: Any, x: Any, output: Any) -> Any:
    """Integers are the nearest ones that there are."""
    dtype = x.dtype if output is None else getattr(output, "dtype", None) or numpy.dtype(output)
    if dtype.kind not in "iu" or made.dtype.kind == "c":
        return made
    ends = numpy.iinfo(dtype)
    return tn.clip(tn.trunc(made + tn.copysign(0.5, made)), float(ends.min), float(ends.max))


def map_coordinates(
    input: Any, coordinates: Any, output: Any = None, order: int = 3, mode: str = "constant", cval: Any = 0.0,
    prefilter: bool = True,
) -> Any:  # fmt: skip
    """The image at places.

    Parameters
    ----------
    input : array_like
    coordinates : array_like
        The first axis has a row for each axis of the image.
    output : array or dtype, optional
    order : int
        Of the spline, 0 to 5.
    mode : str
        What lies beyond the ends: "constant", "nearest", "mirror", "reflect", "wrap", also with "grid-".
    cval : number
    prefilter : bool
        Whether the input is an image; otherwise it is coefficients already.
    """
    at = array_of(coordinates)
    if at.dtype.kind == "c":
        raise TypeError("Complex type not supported")
    if at.ndim < 1 or at.shape[0] != array_of(input).ndim:
        raise RuntimeError("invalid shape for coordinate array")
    return _sampled(input, list(at.astype("f8", copy=False)), output, order, mode, cval, prefilter)


def affine_transform(
    input: Any, matrix: Any, offset: Any = 0.0, output_shape: Any = None, output: Any = None, order: int = 3,
    mode: str = "constant", cval: Any = 0.0, prefilter: bool = True,
) -> Any:  # fmt: skip
    """An image whose element o is the image's at ``matrix @ o + offset``; a vector is a diagonal, a matrix may have
    the offset as its last column."""
    x, m = array_of(input), _host(matrix).astype("f8")
    moved = numpy.array(per_axis(offset, x.ndim), "f8")
    if m.ndim == 2 and m.shape[1] == x.ndim + 1 and m.shape[0] in (x.ndim, x.ndim + 1):
        m, moved = m[: x.ndim, :-1], m[: x.ndim, -1]
    if m.shape not in ((x.ndim,), (x.ndim, x.ndim)):
        raise RuntimeError("affine matrix has wrong number of rows or columns")
    if output_shape is None:
        output_shape = output.shape if isinstance(output, tn.ndarray) else x.shape
    rows = numpy.diag(m) if m.ndim == 1 else m
    axes = [
        tn.arange(n, dtype="f8").reshape([-1 if k == j else 1 for j in range(x.ndim)])
        for k, n in enumerate(output_shape)
    ]
    places = []
    for row, start in zip(rows, moved, strict=True):
        at = tn.full((1,) * x.ndim, start)
        for factor, axis in zip(row, axes, strict=True):
            at = at + float(factor) * axis if factor else at
        places.append(at)
    places = [tn.broadcast_to(p, tuple(output_shape)) for p in places]
    return _sampled(x, places, output, order, mode, cval, prefilter)


def shift(
    input: Any, shift: Any, output: Any = None, order: int = 3, mode: str = "constant", cval: Any = 0.0,
    prefilter: bool = True,
) -> Any:  # fmt: skip
    """The image, moved along each axis."""
    x = array_of(input)
    back = [-float(s) for s in per_axis(shift, x.ndim)]
    return affine_transform(x, numpy.ones(x.ndim), back, None, output, order, mode, cval, prefilter)


def zoom(
    input: Any, zoom: Any, output: Any = None, order: int = 3, mode: str = "constant", cval: Any = 0.0,
    prefilter: bool = True, *, grid_mode: bool = False,
) -> Any:  # fmt: skip
    """The image, so many times as large along each axis."""
    x = array_of(input)
    shape = tuple(round(n * z) for n, z in zip(x.shape, per_axis(zoom, x.ndim), strict=True))
    if grid_mode:
        steps = [n / m if m else 1 for n, m in zip(x.shape, shape, strict=True)]
        start = [0.5 * s - 0.5 for s in steps]
    else:
        steps = [(n - 1) / (m - 1) if m > 1 else 1 for n, m in zip(x.shape, shape, strict=True)]
        start = [0.0] * x.ndim
    return affine_transform(x, numpy.array(steps), start, shape, output, order, mode, cval, prefilter)


def rotate(
    input: Any, angle: float, axes: Any = (1, 0), reshape: bool = True, output: Any = None, order: int = 3,
    mode: str = "constant", cval: Any = 0.0, prefilter: bool = True,
) -> Any:  # fmt: skip
    """The image, turned by an angle in degrees in the plane of two axes."""
    x = array_of(input)
    if x.ndim < 2:
        raise ValueError("input array should be at least 2D")
    if len(axes) != 2:
        raise ValueError("axes should contain exactly two values")
    plane = sorted(axes_of(x.ndim, tuple(axes)))
    turn = math.radians(angle % 360)
    c, s = (round(v) if angle % 90 == 0 else v for v in (math.cos(turn), math.sin(turn)))
    matrix = numpy.array([[c, s], [-s, c]], "f8")
    size = numpy.array([x.shape[a] for a in plane])
    wanted = size
    if reshape:
        corners = matrix @ numpy.array([[0, 0, size[0], size[0]], [0, size[1], 0, size[1]]])
        wanted = (numpy.ptp(corners, axis=1) + 0.5).astype(int)
    start = (size - 1) / 2 - matrix @ ((wanted - 1) / 2)
    whole, offset, shape = numpy.eye(x.ndim), numpy.zeros(x.ndim), list(x.shape)
    whole[numpy.ix_(plane, plane)] = matrix
    for k, a in enumerate(plane):
        offset[a], shape[a] = start[k], int(wanted[k])
    return affine_transform(x, whole, offset, shape, output, order, mode, cval, prefilter)
