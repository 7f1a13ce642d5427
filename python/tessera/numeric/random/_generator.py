# SPDX-License-Identifier: Apache-2.0
"""The Generator: numbers of every distribution from a stream of bits."""

from __future__ import annotations

import math
from typing import Any

import numpy

from .. import _functions as f
from .._host import call
from .._ndarray import ndarray
from ._bits import PCG64, lock_of, of_pickle
from ._drawn import DOCS, drawn, shuffle

_MANY = 1 << 13  # numbers that are drawn by all of a device at once
_random, _uniform = (drawn(numpy.random.Generator, name) for name in ("random", "uniform"))


class Generator:
    """Draws from a bit generator, such as ``PCG64(seed)``: the numbers of NumPy's Generator."""

    _poisson_lam_max = numpy.random.Generator._poisson_lam_max

    def __init__(self, bit_generator: Any) -> None:
        self._stream = numpy.random.Generator(bit_generator)

    @property
    def bit_generator(self) -> Any:
        """The stream of bits, an object of NumPy's."""
        return self._stream.bit_generator

    def spawn(self, n_children: int) -> list[Generator]:
        """Generators of streams of their own, by the seed of this one."""
        with lock_of(self._stream):
            return [Generator(each.bit_generator) for each in self._stream.spawn(n_children)]

    def _parallel(self, size: Any, dtype: Any) -> ndarray | None:
        """Numbers drawn by all of a device at once; None: NumPy is to draw them."""
        if size is None or (isinstance(size, int) and size < _MANY):
            return None
        from . import _parallel

        with lock_of(self._stream):
            return _parallel.random(self.bit_generator, size, dtype)

    def random(self, size: Any = None, dtype: Any = numpy.float64, out: Any = None) -> Any:
        """Numbers in [0, 1), all equally likely."""
        if out is None and (size is None or (type(size) is int and size < _MANY)):
            return _random(self, size, dtype)
        if isinstance(out, ndarray) and out.shape != () and (size is None or size == out.shape):
            fits = out.dtype == numpy.dtype(dtype) and out.flags.c_contiguous
            shape: Any = out.shape if fits else None
        else:
            shape = size if out is None else None
        made = self._parallel(shape, dtype)
        if made is None:
            return _random(self, size, dtype, out)
        return made if out is None else f.copy_of(made, out)

    def uniform(self, low: Any = 0.0, high: Any = 1.0, size: Any = None) -> Any:
        """Numbers from low on, below high, all equally likely."""
        made = None
        if isinstance(low, (int, float)) and isinstance(high, (int, float)) and low <= high:
            reach = float(high) - float(low)
            if math.isfinite(reach):
                made = self._parallel(size, numpy.float64)
        if made is None:
            return _uniform(self, low, high, size)
        return f.asarray(made * reach + float(low))

    def shuffle(self, x: Any, axis: int = 0) -> None:
        """Puts the elements of x along an axis in random order, in place."""
        shuffle(self._stream, x, axis)

    def permuted(self, x: Any, *, axis: Any = None, out: Any = None) -> Any:
        """A copy of x whose lines along an axis are in random order, each in its own."""
        x = f.asarray(x)
        with lock_of(self._stream):
            made = call("random.permuted", self._stream.permuted, x, axis=axis)
        if out is None:
            return made
        if not isinstance(out, ndarray):
            raise TypeError("out= is an array of tessera.numeric")
        if out.shape != made.shape:
            raise ValueError("out must have the same shape as x")
        return f.copy_of(made, out)

    def __repr__(self) -> str:
        return f"{self} at 0x{id(self):X}"

    def __str__(self) -> str:
        return f"{type(self).__name__}({type(self.bit_generator).__name__})"

    def __reduce__(self) -> Any:
        return _restored, (self.bit_generator,), None


def _restored(bits: Any = "MT19937") -> Generator:
    return Generator(of_pickle(bits))


Generator.random.__signature__ = _random.__signature__  # type: ignore[attr-defined]
Generator.uniform.__signature__ = _uniform.__signature__  # type: ignore[attr-defined]
for _name in dir(numpy.random.Generator):
    if _name in DOCS and not hasattr(Generator, _name):
        setattr(Generator, _name, drawn(numpy.random.Generator, _name))


def default_rng(seed: Any = None) -> Generator:
    """A Generator of this seed, on PCG64; a bit generator or a Generator is taken as it is."""
    if isinstance(seed, Generator):
        return seed
    seed = getattr(seed, "_bit_generator", getattr(seed, "bit_generator", seed))
    return Generator(seed if hasattr(seed, "capsule") else PCG64(seed))
