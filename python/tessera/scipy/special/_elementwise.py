# SPDX-License-Identifier: Apache-2.0
"""A function of numbers as one of arrays: a kernel with a thread for each element, in double precision."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy

from ... import cuda
from ... import numeric as tn
from .._missing import of_module

__all__ = ["elementwise"]

BLOCK = 128  # threads of a block
_PYTHON = (bool, int, float)  # numbers of Python have no dtype of their own beside arrays


def _kernel(function: Any, n_operands: int) -> Any:
    """The kernel that calls a function of one to four numbers."""

    @cuda.jit
    def one(n: int, a: Any, made: Any) -> None:
        i = cuda.grid(1)
        if i < n:
            made[i] = function(a[i])

    @cuda.jit
    def two(n: int, a: Any, b: Any, made: Any) -> None:
        i = cuda.grid(1)
        if i < n:
            made[i] = function(a[i], b[i])

    @cuda.jit
    def three(n: int, a: Any, b: Any, c: Any, made: Any) -> None:
        i = cuda.grid(1)
        if i < n:
            made[i] = function(a[i], b[i], c[i])

    return (one, two, three)[n_operands - 1]


def dtype_of(arrays: list[Any], args: tuple[Any, ...], small: str) -> Any:
    """The dtype of a result: float32 or float64.

    ``small`` is that of float16 and of integers that float32 holds; "whole": float32 of float16, float64 where the
    first operand is whole, for which SciPy has a loop of longs.
    """
    typed = [x.dtype for x, arg in zip(arrays, args, strict=True) if type(arg) not in _PYTHON]
    found = numpy.result_type(*(typed or [numpy.float64]))
    if small == "whole":
        small = "f8" if found.kind in "biu" or (arrays[0].dtype.kind in "iu" and type(args[0]) is not int) else "f4"
        return numpy.dtype("f8" if found.char == "d" else small)
    if found.char == "d" or (found.char == "f" and (small == "f4" or all(t.char == "f" for t in typed))):
        return found
    python = {type(x) for x in args} & {*_PYTHON}
    if (found.kind != "f" and float in python) or (found.kind == "b" and int in python):
        return numpy.dtype("f8")  # of Python's numbers beside others
    return numpy.dtype(small if numpy.can_cast(found, "f4") else "f8")


def elementwise(function: Any, n_operands: int, name: str, doc: str, small: str = "f8") -> Callable[..., Any]:
    """A function of numbers, compiled when it is first called, as one of arrays, which are broadcast.

    Complex numbers are SciPy's, on the host (`of_module`).
    """
    kernels: list[Any] = []

    def call(*args: Any, out: Any = None) -> Any:
        if len(args) == n_operands + 1:
            *given, out = args
            args = tuple(given)
        if len(args) != n_operands:
            raise TypeError(f"{name}() takes {n_operands} operands, found {len(args)}")
        arrays = [tn.asarray(x) for x in args]
        if any(x.dtype.kind == "c" for x in arrays):
            made = of_module("special")(name)(*args)
            if out is not None:
                out[...] = made
            return made if out is None else out
        if any(x.dtype.kind not in "biuf" for x in arrays):
            raise TypeError(f"{name}() takes real numbers, found {', '.join(str(x.dtype) for x in arrays)}")
        dtype = dtype_of(arrays, args, small)
        shape = numpy.broadcast_shapes(*(x.shape for x in arrays))
        wide = [x.astype("f8", copy=False) for x in arrays]
        n = math.prod(shape)
        made = tn.empty(n, "f8", device=arrays[0].device)
        if n:
            flat = [tn.ascontiguousarray(tn.broadcast_to(x, shape)).reshape(-1) for x in wide]
            if not kernels:
                kernels.append(_kernel(function, n_operands))
            kernels[0][-(-n // BLOCK), BLOCK](n, *flat, made)
        made = made.reshape(shape).astype(dtype, copy=False)
        if out is None:
            return made if shape else made[()]
        out[...] = made
        return out

    call.__name__ = call.__qualname__ = name
    call.__doc__, call.__module__ = doc, "tessera.scipy.special"
    return call
