# SPDX-License-Identifier: Apache-2.0
"""Functions of the elements of arrays: ``cumath.sin(a)``, also of complex numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ._array import GPUArray, apply, empty_like
from ._context import Stream
from ._dtypes import VectorArg
from .elementwise import ElementwiseKernel

__all__ = [
    "acos", "asin", "atan", "atan2", "ceil", "cos", "cosh", "exp", "fabs", "floor", "fmod", "frexp",
    "ldexp", "log", "log10", "modf", "sin", "sinh", "sqrt", "tan", "tanh",
]  # fmt: skip


def _unary(name: str) -> Callable[..., GPUArray]:
    def function(
        array: GPUArray, stream_or_out: Any = None, out: Any = None, stream: Any = None
    ) -> GPUArray:
        if isinstance(stream_or_out, Stream):
            stream = stream_or_out
        elif stream_or_out is not None:
            out = stream_or_out
        return apply(name, (array,), out, stream)  # type: ignore[no-any-return]

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"{name}(array, *, out=None, stream=None): ``{name}`` of every element."
    return function


globals().update({
    name: _unary(name)
    for name in ("fabs", "ceil", "floor", "exp", "log", "log10", "sqrt", "sin", "cos", "tan",
                 "asin", "acos", "atan", "sinh", "cosh", "tanh")
})  # fmt: skip


def fmod(arg: Any, mod: Any, stream: Any = None) -> GPUArray:
    """The remainder with the sign of `arg`."""
    return apply("fmod", (arg, mod), None, stream)  # type: ignore[no-any-return]


def atan2(y: Any, x: Any, stream: Any = None) -> GPUArray:
    """The angle of the points (x, y)."""
    return apply("atan2", (y, x), None, stream)  # type: ignore[no-any-return]


_kernels: dict[Any, ElementwiseKernel] = {}


def _run(name: str, text: str, arrays: dict[str, GPUArray], stream: Any) -> None:
    """A statement over named arrays of one shape."""
    key = (name, *(a.dtype for a in arrays.values()))
    if key not in _kernels:
        arguments = [VectorArg(a.dtype, n) for n, a in arrays.items()]
        _kernels[key] = ElementwiseKernel(arguments, text, f"{name}_kernel")
    first = next(iter(arrays.values()))
    if first.size:
        _kernels[key](*arrays.values(), stream=stream, shape=first.shape)


def _floats(array: GPUArray) -> GPUArray:
    return array if array.dtype in (np.float32, np.float64) else array.astype(np.float64)


def frexp(arg: GPUArray, stream: Any = None) -> tuple[GPUArray, GPUArray]:
    """(significands, exponents), both in the dtype of `arg`."""
    x = _floats(arg)
    significand, exponent = empty_like(x), empty_like(x)
    arrays = {"s": significand, "e": exponent, "x": x}
    _run("frexp", "int e_; s[i] = ::frexp(x[i], &e_); e[i] = e_", arrays, stream)
    return significand, exponent


def ldexp(significand: GPUArray, exponent: GPUArray, stream: Any = None) -> GPUArray:
    """significand times two to the whole part of the exponent."""
    x = _floats(significand)
    out = empty_like(x)
    _run("ldexp", "z[i] = ::ldexp(x[i], (int)y[i])", {"z": out, "x": x, "y": exponent}, stream)
    return out


def modf(arg: GPUArray, stream: Any = None) -> tuple[GPUArray, GPUArray]:
    """(parts behind the point, whole parts)."""
    x = _floats(arg)
    fraction, whole = empty_like(x), empty_like(x)
    text = "w[i] = ::trunc(x[i]); f[i] = ::copysign(x[i] - w[i], x[i])"
    _run("modf", text, {"f": fraction, "w": whole, "x": x}, stream)
    return fraction, whole
