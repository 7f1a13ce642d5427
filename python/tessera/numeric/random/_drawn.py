# SPDX-License-Identifier: Apache-2.0
"""Methods that draw from a stream of NumPy's: one function for each name, with NumPy's signature."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy

from ... import _core
from .. import _functions as f
from .._host import call, count
from .._ndarray import is_derived, ndarray
from .._setup import LIBRARIES, user_level
from .._ufunc import copy_of
from ._bits import lock_of

# What methods give, for their documentation.
DOCS = {
    "beta": "Numbers of the beta distribution of shapes a and b, in [0, 1].",
    "binomial": "How many of n trials succeed, each with probability p.",
    "bytes": "Random bytes.",
    "chisquare": "Sums of df squared normal numbers.",
    "choice": "Elements of a, or of range(a), with or without replacement, with probabilities p.",
    "dirichlet": "Vectors of numbers that sum to 1, of the Dirichlet distribution of parameters alpha.",
    "exponential": "Numbers of the exponential distribution with this mean.",
    "f": "Numbers of the F distribution.",
    "gamma": "Numbers of the gamma distribution.",
    "geometric": "How many trials it takes until one succeeds, each with probability p.",
    "gumbel": "Numbers of the Gumbel distribution.",
    "hypergeometric": "How many good ones are among nsample drawn from ngood and nbad.",
    "integers": "Integers from low on, below high (endpoint: up to high), all equally likely.",
    "laplace": "Numbers of the double exponential distribution.",
    "logistic": "Numbers of the logistic distribution.",
    "lognormal": "Numbers whose logarithms are normal.",
    "logseries": "Integers of the logarithmic series distribution.",
    "multinomial": "How often each of several outcomes comes up in n trials.",
    "multivariate_hypergeometric": "How many of each colour are among nsample drawn.",
    "multivariate_normal": "Vectors of normal numbers with this mean and covariance.",
    "negative_binomial": "How many trials fail until n succeed, each with probability p.",
    "noncentral_chisquare": "Numbers of the noncentral chi-square distribution.",
    "noncentral_f": "Numbers of the noncentral F distribution.",
    "normal": "Normal numbers of mean loc and standard deviation scale.",
    "pareto": "Numbers of the Pareto II distribution.",
    "permutation": "range(x), or a copy of x along an axis, in random order.",
    "permuted": "A copy of x whose lines along an axis are in random order, each in its own.",
    "poisson": "How many events happen when lam are expected.",
    "power": "Numbers in [0, 1] of density a * x ** (a - 1).",
    "rand": "Numbers in [0, 1), all equally likely, of the shape given by the arguments.",
    "randint": "Integers from low on, below high, all equally likely.",
    "randn": "Normal numbers of mean 0 and standard deviation 1, of the shape given by the arguments.",
    "random": "Numbers in [0, 1), all equally likely.",
    "random_integers": "Integers from low to high, all equally likely; deprecated, randint is what to use.",
    "random_sample": "Numbers in [0, 1), all equally likely.",
    "rayleigh": "Numbers of the Rayleigh distribution.",
    "standard_cauchy": "Numbers of the Cauchy distribution.",
    "standard_exponential": "Numbers of the exponential distribution with mean 1.",
    "standard_gamma": "Numbers of the gamma distribution with scale 1.",
    "standard_normal": "Normal numbers of mean 0 and standard deviation 1.",
    "standard_t": "Numbers of Student's t distribution.",
    "tomaxint": "Integers from 0 to the greatest there is.",
    "triangular": "Numbers of the triangular distribution.",
    "uniform": "Numbers from low on, below high, all equally likely.",
    "vonmises": "Angles of the von Mises distribution.",
    "wald": "Numbers of the inverse Gaussian distribution.",
    "weibull": "Numbers of the Weibull distribution.",
    "zipf": "Integers of Zipf's distribution.",
}


_NAMES = ("__float__", "__int__", "__index__")


def _argument(x: Any) -> Any:
    """An argument as NumPy's streams read it: numbers of derived classes by their own conversions, and what an object
    shows by ``__array__``, where that is an array of ours."""
    if isinstance(x, ndarray):
        if x.ndim or not is_derived(x):
            return x
        own = (getattr(type(x), name) for name in _NAMES if getattr(type(x), name) is not getattr(ndarray, name))
        convert = next(own, None)
        return x if convert is None else convert(x)
    if hasattr(type(x), "__array__") and not isinstance(x, (numpy.ndarray, numpy.generic)):
        return f.asarray(x)
    return x


def drawn(kind: type, name: str) -> Callable[..., Any]:
    """A method that has the object of `kind` in `_stream` draw; results go to out= if it is given."""
    theirs = getattr(kind, name)
    signature = inspect.signature(theirs)
    takes_out = "out" in signature.parameters
    path = f"random.{name}"

    def method(self: Any, *args: Any, **options: Any) -> Any:
        out = options.pop("out", None) if takes_out else None
        if takes_out and out is None and len(args) >= len(signature.parameters) - 1:
            *args, out = args  # type: ignore[assignment]
        stream = self._stream
        function = getattr(stream, name)
        if out is None:
            with lock_of(stream):
                made = _core.numeric_draw(function, path, False, *args, **options)
            if made is not NotImplemented:
                return made
        args = tuple(map(_argument, args))
        options = {key: _argument(each) for key, each in options.items()}
        if out is None:
            with lock_of(stream):
                return call(path, function, *args, **options)
        if not isinstance(out, ndarray):
            raise TypeError("out= is an array of tessera.numeric")
        with lock_of(stream):
            return _into(name, function, signature, out, args, options)

    method.__name__ = method.__qualname__ = name
    method.__doc__ = DOCS[name]
    method.__signature__ = signature  # type: ignore[attr-defined]
    return method


def _into(name: str, function: Any, signature: Any, out: ndarray, args: Any, options: Any) -> Any:
    """Draws as many numbers as `out` takes, checked as NumPy does on an array of this kind."""
    given = signature.bind(None, *args, **options).arguments
    given.pop("self")
    if not out.flags.forc or not out.flags.writeable:
        raise ValueError(
            "Supplied output array must be contiguous, writable, aligned, and in machine byte-order."
        )
    room = numpy.empty(out.shape, out.dtype, "F" if out.flags.fnc else "C")
    made = call(f"random.{name}", function, **given, out=room)
    return copy_of(made, out)


def shuffle(stream: Any, x: Any, *axis: int) -> None:
    """Puts the elements of x along an axis in random order, in place."""
    if isinstance(x, ndarray):
        if not x.ndim:
            raise TypeError("shuffle() takes an array with axes, found one of no axes")
        if not x.flags.writeable:
            raise ValueError("array is read-only")
        with lock_of(stream):
            if _core.numeric_draw(stream.shuffle, "random.shuffle", True, x, *axis) is None:
                return
        along = f.normalize(*axis, x.ndim) if axis else 0
        order = numpy.arange(x.shape[along] if axis else len(x))
        shuffle(stream, order)
        x[...] = x[(slice(None),) * along + (f.array(order, copy=None),)]
        return
    if isinstance(x, (numpy.ndarray, memoryview, Sequence)):
        _shuffle_by_numpy(stream, x, axis)
        return
    said = f"shuffle() takes sequences: elements of a {type(x).__name__!r} object may be lost or doubled"
    warnings.warn(said, UserWarning, stacklevel=user_level(LIBRARIES[:1]))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # NumPy's, which names the line below
        _shuffle_by_numpy(stream, x, axis)


def _shuffle_by_numpy(stream: Any, x: Any, axis: tuple[int, ...]) -> None:
    with lock_of(stream):
        count("random.shuffle")
        stream.shuffle(x, *axis)
