# SPDX-License-Identifier: Apache-2.0
"""NumPy's assertions about CuPy's arrays, and arrays to test with."""

from __future__ import annotations

import functools
from typing import Any

import numpy

from .. import cupy
from ._boundary import Base

__all__ = [
    "assert_allclose", "assert_array_almost_equal", "assert_array_almost_equal_nulp", "assert_array_equal",
    "assert_array_less",
    "assert_array_list_equal", "assert_array_max_ulp", "shaped_arange", "shaped_random", "shaped_reverse_arange",
]  # fmt: skip


def _host(x: Any) -> Any:
    if isinstance(x, (list, tuple)):
        return type(x)(map(_host, x))
    return cupy.asnumpy(x) if isinstance(x, Base) else x


def _assertion(name: str) -> Any:
    theirs = getattr(numpy.testing, name)

    @functools.wraps(theirs)
    def check(*args: Any, **options: Any) -> Any:
        return theirs(*map(_host, args), **options)

    return check


assert_allclose = _assertion("assert_allclose")
assert_array_almost_equal = _assertion("assert_array_almost_equal")
assert_array_almost_equal_nulp = _assertion("assert_array_almost_equal_nulp")
assert_array_equal = _assertion("assert_array_equal")
assert_array_less = _assertion("assert_array_less")
assert_array_max_ulp = _assertion("assert_array_max_ulp")


def assert_array_list_equal(
    xlist: Any, ylist: Any, err_msg: str = "", verbose: bool = True
) -> None:
    """Raises unless two lists hold equal arrays."""
    assert len(xlist) == len(ylist), (
        f"List size is different: {len(xlist)} and {len(ylist)}. {err_msg}"
    )
    for x, y in zip(xlist, ylist, strict=True):
        assert_array_equal(x, y, err_msg=err_msg, verbose=verbose)


def _module(xp: Any) -> Any:
    return cupy if xp is None else xp


def shaped_arange(shape: Any, xp: Any = None, dtype: Any = numpy.float32, order: str = "C") -> Any:
    """The numbers from 1 on, in a shape."""
    dtype = numpy.dtype(dtype)
    a = numpy.arange(1, int(numpy.prod(shape)) + 1)
    made = a % 2 == 0 if dtype == "?" else a + a * 1j if dtype.kind == "c" else a
    return _module(xp).array(made.astype(dtype).reshape(shape), order=order)


def shaped_reverse_arange(shape: Any, xp: Any = None, dtype: Any = numpy.float32) -> Any:
    """The numbers down to 1, in a shape."""
    size = int(numpy.prod(shape))
    a = numpy.arange(size, 0, -1)
    made = a % 2 == 0 if numpy.dtype(dtype) == "?" else a
    return _module(xp).array(made.astype(dtype).reshape(shape))


def shaped_random(
    shape: Any, xp: Any = None, dtype: Any = numpy.float32, scale: float = 10, seed: int = 0
) -> Any:
    """Uniform random numbers of [0, scale), in a shape."""
    random, dtype = numpy.random.RandomState(seed), numpy.dtype(dtype)
    if dtype == "?":
        return _module(xp).array(random.randint(2, size=shape).astype(dtype))
    made = random.rand(*shape) * scale
    if dtype.kind == "c":
        made = made + 1j * random.rand(*shape) * scale
    return _module(xp).array(made.astype(dtype))
