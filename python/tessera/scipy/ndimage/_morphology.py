# SPDX-License-Identifier: Apache-2.0
"""Morphology: erosion and dilation, of bool and of grey, and what is made of the two."""

from __future__ import annotations

import operator
from typing import Any

import numpy

from ... import numeric as tn
from ._filters import _for_all, _host, _spread, _window, extreme
from ._windows import array_of, axes_of, finish, folded, per_axis, views

__all__ = [
    "binary_closing", "binary_dilation", "binary_erosion", "binary_fill_holes", "binary_hit_or_miss", "binary_opening",
    "binary_propagation", "black_tophat", "generate_binary_structure", "grey_closing", "grey_dilation", "grey_erosion",
    "grey_opening", "iterate_structure", "morphological_gradient", "morphological_laplace", "white_tophat",
]  # fmt: skip


def structure_of(rank: int, connectivity: int) -> Any:
    """What `generate_binary_structure` gives, as NumPy's array."""
    if rank < 1:
        return numpy.array(True)
    away = numpy.abs(numpy.indices([3] * rank) - 1).sum(axis=0)
    return away <= max(connectivity, 1)


def generate_binary_structure(rank: int, connectivity: int) -> Any:
    """The neighbours of an element that are no more than so many steps along axes away, in a window of 3."""
    return tn.asarray(structure_of(rank, connectivity))


def iterate_structure(structure: Any, iterations: int, origin: Any = None) -> Any:
    """A structure dilated with itself."""
    host = _host(structure).astype(bool)
    if iterations < 2:
        return tn.asarray(host)
    around = [(iterations - 1) * (n // 2) for n in host.shape]
    whole = numpy.pad(host, [(w, w) for w in around])
    made = binary_dilation(tn.asarray(whole), host, iterations=iterations - 1)
    if origin is None:
        return made
    return made, [iterations * o for o in per_axis(origin, host.ndim)]


# -- bool -----------------------------------------------------------------------------------------------------


class _Step:
    """One erosion or dilation, ready to be done again."""

    def __init__(
        self, x: Any, structure: Any, origin: Any, border: Any, axes: Any, widens: bool
    ) -> None:
        axes = axes_of(x.ndim, axes)
        window = structure_of(len(axes), 1) if structure is None else _host(structure).astype(bool)
        if window.size < 1:
            raise RuntimeError("structure must not be empty")
        window = _spread(window, axes, x.ndim)
        self.origins = _for_all(per_axis(origin, len(axes), "origin"), axes, x.ndim, 0)
        if widens:
            window = window[(slice(None, None, -1),) * window.ndim]
            self.origins = [-o - (1 - n % 2) for o, n in zip(self.origins, window.shape, strict=True)]
        self.shape, self.border = window.shape, bool(border)
        self.places = [tuple(map(int, p)) for p in numpy.argwhere(window)]
        self.join = tn.logical_or if widens else tn.logical_and
        self.widens = widens

    def of(self, x: Any, mask: Any) -> Any:
        if not self.places:
            made = tn.zeros_like(x) if self.widens else tn.ones_like(x)
        else:
            around = views(x, self.shape, self.origins, ["constant"] * x.ndim, self.border, self.places)
            made = folded(around, self.join)
        return made if mask is None else tn.where(mask, made, x)


def _repeated(
    input: Any, structure: Any, iterations: Any, mask: Any, output: Any, border: Any, origin: Any, axes: Any,
    widens: bool,
) -> Any:  # fmt: skip
    x = array_of(input)
    if x.dtype.kind == "c":
        raise TypeError("Complex type not supported")
    iterations = operator.index(iterations)
    mask = None if mask is None else array_of(mask).astype(bool, copy=False)
    step = _Step(x, structure, origin, border, axes, widens)
    made = x.astype(bool) if x.dtype != bool else x
    for _ in range(iterations):
        made = step.of(made, mask)
    while iterations < 1:  # until nothing changes
        before, made = made, step.of(made, mask)
        if tn.array_equal(before, made):
            break
    return finish(made + False, tn.zeros(0, bool), output)


def binary_erosion(
    input: Any, structure: Any = None, iterations: int = 1, mask: Any = None, output: Any = None, border_value: int = 0,
    origin: Any = 0, brute_force: bool = False, *, axes: Any = None,
) -> Any:  # fmt: skip
    """Where all elements of a structure are true. ``iterations`` below 1: until nothing changes."""
    return _repeated(input, structure, iterations, mask, output, border_value, origin, axes, False)


def binary_dilation(
    input: Any, structure: Any = None, iterations: int = 1, mask: Any = None, output: Any = None, border_value: int = 0,
    origin: Any = 0, brute_force: bool = False, *, axes: Any = None,
) -> Any:  # fmt: skip
    """Where any element of a structure is true. ``iterations`` below 1: until nothing changes."""
    return _repeated(input, structure, iterations, mask, output, border_value, origin, axes, True)


def binary_opening(
    input: Any, structure: Any = None, iterations: int = 1, output: Any = None, origin: Any = 0, mask: Any = None,
    border_value: int = 0, brute_force: bool = False, *, axes: Any = None,
) -> Any:  # fmt: skip
    """Erosion, then dilation."""
    rest = mask, None, border_value, origin
    made = binary_erosion(input, structure, iterations, *rest, axes=axes)
    return binary_dilation(made, structure, iterations, mask, output, border_value, origin, axes=axes)


def binary_closing(
    input: Any, structure: Any = None, iterations: int = 1, output: Any = None, origin: Any = 0, mask: Any = None,
    border_value: int = 0, brute_force: bool = False, *, axes: Any = None,
) -> Any:  # fmt: skip
    """Dilation, then erosion."""
    rest = mask, None, border_value, origin
    made = binary_dilation(input, structure, iterations, *rest, axes=axes)
    return binary_erosion(made, structure, iterations, mask, output, border_value, origin, axes=axes)


def binary_hit_or_miss(
    input: Any, structure1: Any = None, structure2: Any = None, output: Any = None, origin1: Any = 0,
    origin2: Any = None, *, axes: Any = None,
) -> Any:  # fmt: skip
    """Where one structure lies in what is true and another in what is not."""
    x = array_of(input)
    rank = len(axes_of(x.ndim, axes))
    first = structure_of(rank, 1) if structure1 is None else _host(structure1).astype(bool)
    second = ~first if structure2 is None else _host(structure2)
    hit = binary_erosion(x, first, origin=origin1, axes=axes)
    miss = binary_dilation(x, second[(slice(None, None, -1),) * second.ndim], origin=_turned(
        origin1 if origin2 is None else origin2, second.shape), axes=axes)  # fmt: skip
    return finish(hit & ~miss, hit, output)


def _turned(origin: Any, shape: Any) -> list[int]:
    """The origin with which a dilation by the turned structure looks where an erosion does."""
    return [-o - (1 - n % 2) for o, n in zip(per_axis(origin, len(shape)), shape, strict=True)]


def binary_propagation(
    input: Any, structure: Any = None, mask: Any = None, output: Any = None, border_value: int = 0, origin: Any = 0, *,
    axes: Any = None,
) -> Any:  # fmt: skip
    """Dilation inside a mask, until nothing changes."""
    return binary_dilation(input, structure, -1, mask, output, border_value, origin, axes=axes)


def binary_fill_holes(
    input: Any, structure: Any = None, output: Any = None, origin: Any = 0, *, axes: Any = None
) -> Any:
    """What is true, and what no way leads to from outside."""
    x = array_of(input)
    mask = tn.logical_not(x)
    outside = binary_dilation(tn.zeros(x.shape, bool), structure, -1, mask, None, 1, origin, axes=axes)
    return finish(tn.logical_not(outside), outside, output)


# -- grey -----------------------------------------------------------------------------------------------------


def _grey(
    input: Any, size: Any, footprint: Any, structure: Any, output: Any, mode: Any, cval: Any, origin: Any, axes: Any,
    widens: bool,
) -> Any:  # fmt: skip
    if size is None and footprint is None and structure is None:
        raise ValueError("size, footprint, or structure must be specified")
    x = array_of(input)
    axes = axes_of(x.ndim, axes)
    heights = None if structure is None else _spread(_host(structure), axes, x.ndim)
    if footprint is None and heights is not None:
        window = numpy.ones(heights.shape, bool)
    else:
        window = _window(x, size, footprint, axes)
    return extreme(x, window, heights, output, mode, cval, origin, axes, widens, turned=widens)


def grey_erosion(
    input: Any, size: Any = None, footprint: Any = None, structure: Any = None, output: Any = None,
    mode: Any = "reflect", cval: Any = 0.0, origin: Any = 0, *, axes: Any = None,
) -> Any:  # fmt: skip
    """The least of a window, the structure taken from its elements."""
    return _grey(input, size, footprint, structure, output, mode, cval, origin, axes, False)


def grey_dilation(
    input: Any, size: Any = None, footprint: Any = None, structure: Any = None, output: Any = None,
    mode: Any = "reflect", cval: Any = 0.0, origin: Any = 0, *, axes: Any = None,
) -> Any:  # fmt: skip
    """The greatest of a window, the structure added to its elements."""
    return _grey(input, size, footprint, structure, output, mode, cval, origin, axes, True)


def _both(first: Any, second: Any) -> Any:
    """Erosion and dilation one after the other, under the arguments that all of these have."""

    def call(
        input: Any, size: Any = None, footprint: Any = None, structure: Any = None, output: Any = None,
        mode: Any = "reflect", cval: Any = 0.0, origin: Any = 0, *, axes: Any = None,
    ) -> Any:  # fmt: skip
        made = first(input, size, footprint, structure, None, mode, cval, origin, axes=axes)
        return second(made, size, footprint, structure, output, mode, cval, origin, axes=axes)

    return call


grey_opening, grey_closing = _both(grey_erosion, grey_dilation), _both(grey_dilation, grey_erosion)
grey_opening.__name__, grey_opening.__doc__ = "grey_opening", "Erosion, then dilation."
grey_closing.__name__, grey_closing.__doc__ = "grey_closing", "Dilation, then erosion."


def _combined(name: str, doc: str, make: Any) -> Any:
    """A function of the image and of what is made of it, ``make(x, f)``, where ``f`` calls with the same window."""

    def call(
        input: Any, size: Any = None, footprint: Any = None, structure: Any = None, output: Any = None,
        mode: Any = "reflect", cval: Any = 0.0, origin: Any = 0, *, axes: Any = None,
    ) -> Any:  # fmt: skip
        x = array_of(input)
        made = make(
            x, lambda f: f(x, size, footprint, structure, None, mode, cval, origin, axes=axes)
        )
        return finish(made, x, output)

    call.__name__, call.__doc__ = name, doc
    return call


def _minus(a: Any, b: Any) -> Any:
    return a ^ b if a.dtype == bool else a - b


morphological_gradient = _combined(
    "morphological_gradient", "Dilation less erosion.", lambda x, f: f(grey_dilation) - f(grey_erosion)
)
morphological_laplace = _combined(
    "morphological_laplace", "Dilation and erosion, less the image twice.",
    lambda x, f: f(grey_dilation) + f(grey_erosion) - x - x,
)  # fmt: skip
white_tophat = _combined(
    "white_tophat", "The image less its opening.", lambda x, f: _minus(x, f(grey_opening))
)
black_tophat = _combined(
    "black_tophat", "The closing less the image.", lambda x, f: _minus(f(grey_closing), x)
)
