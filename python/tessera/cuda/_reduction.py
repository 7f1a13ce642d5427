# SPDX-License-Identifier: Apache-2.0
"""``cuda.reduce``: an array of one dimension put together by a function of two arguments.

    n elements --> each of at most THREADS * BLOCKS threads puts every so many elements together --> as many parts
               --> one block does the same --> THREADS parts --> one thread --> the result
"""

from __future__ import annotations

import pickle
from typing import Any

import numpy

from .. import _core
from ..core._place import CUDA
from ._device_array import DeviceNDArray, as_device_array, is_cuda_array
from ._options import options_of
from ._pickle import dumped, found_as

__all__ = ["Reduce", "reduce"]

THREADS, BLOCKS = 256, 256
_SOURCE = """def kernel(x, n, step, parts):
    i = grid(1)
    if i < step:
        total = x[i]
        for j in range(i + step, n, step):
            total = core(total, x[j])
        parts[i] = total
"""
_FIRST = """def kernel(x, init, result):
    if grid(1) == 0:
        result[0] = core(init, x[0])
"""


def _check_arity(functor: Any) -> None:
    """A reduction calls its function with two values: another number of parameters is seen here, not in its kernel."""
    code = getattr(functor, "__code__", None)
    if code is None or code.co_flags & 0x04:  # *args
        return
    least = code.co_argcount - len(functor.__defaults__ or ())
    if not least <= 2 <= code.co_argcount:
        raise TypeError(
            f"a reduction puts two elements together, but {functor.__name__}() ({code.co_filename}, line "
            f"{code.co_firstlineno}) takes {code.co_argcount} argument{'s' if code.co_argcount != 1 else ''}; write "
            f"def {functor.__name__}(a, b)"
        )


class Reduce:
    """``@cuda.reduce def add(a, b): return a + b``; then ``add(array)``."""

    def __init__(self, functor: Any) -> None:
        self._functor = getattr(functor, "py_func", functor)
        _check_arity(self._functor)
        self.__name__, self.__doc__ = self._functor.__name__, self._functor.__doc__
        self.__qualname__, self.__module__ = self._functor.__qualname__, self._functor.__module__
        self._kernels: tuple[Any, Any] | None = None

    def __reduce__(self) -> Any:
        if found_as(self) is self:
            return self.__qualname__
        return _again, (dumped(self._functor),)

    def _made(self) -> tuple[Any, Any]:
        if self._kernels is None:
            self._kernels = self._kernel(_SOURCE), self._kernel(_FIRST)
        return self._kernels

    def _kernel(self, source: str) -> Any:
        from ._device import grid
        from ._dispatcher import kernel_around

        space: dict[str, Any] = {"__name__": __name__, "grid": grid, "core": self._functor}
        exec(compile(source, f"<reduction by {self.__name__}>", "exec"), space)  # noqa: S102
        return kernel_around(space["kernel"], options_of({}), source, own_grid=True)

    def __call__(self, arr: Any, size: int | None = None, res: Any = None, init: Any = 0, stream: Any = 0) -> Any:
        """Puts the elements together.

        Parameters
        ----------
        arr : array
            Of one dimension, on the host or a device.
        size : int, optional
            How many elements, from the first; None: all.
        res : device array, optional
            Its first element becomes the result, and the call does not wait.
        init : number
            What everything begins with: the result of no elements.
        stream : Stream, optional

        Raises
        ------
        TypeError
            The array has not one dimension.
        """
        if not hasattr(arr, "ndim"):
            found = type(arr).__name__
            raise TypeError(f"{self.__name__}() takes an array, found a {found}; pass numpy.asarray(value)")
        if arr.ndim != 1:
            raise TypeError(f"only support 1D array, not one of {arr.ndim} dimensions")
        n = arr.size if size is None else size
        if not 0 <= n <= arr.size:
            raise ValueError(f"size is {n}; the array has {arr.size} elements")
        if n == 0:
            if res is not None:
                res[0] = init
            return None if res is not None else numpy.dtype(arr.dtype).type(init)
        made = self._run(_placed(arr, n, stream), n, init, stream)
        if res is None:
            self._made()[0]._wait_for(stream)
            return made.copy_to_host(stream=stream)[0]
        as_device_array(res)[:1] = made
        return None

    def _run(self, x: Any, n: int, init: Any, stream: Any) -> DeviceNDArray:
        fold, first = self._made()
        while n > 1:
            step = min(THREADS * BLOCKS, n // 2) if n > THREADS * 16 else min(THREADS, (n + 1) // 2)
            if n <= 32:
                step = 1
            parts = DeviceNDArray((step,), (x.dtype.itemsize,), x.dtype, stream)
            fold[-(-step // THREADS), THREADS, stream](x, n, step, parts)
            x, n = parts, step
        result = DeviceNDArray((1,), (x.dtype.itemsize,), x.dtype, stream)
        first[1, 1, stream](x, x.dtype.type(init), result)
        return result


def _placed(arr: Any, n: int, stream: Any) -> Any:
    """The elements where a kernel can read them."""
    if is_cuda_array(arr):
        return as_device_array(arr)
    if _core._current_device() < CUDA:
        return arr
    from ._arrays import placed

    return placed(numpy.asarray(arr)[:n], stream)


def _again(data: bytes) -> Reduce:
    """The reduction of a pickle."""
    return Reduce(pickle.loads(data))


def reduce(functor: Any) -> Reduce:
    """As ``Reduce``, as a decorator."""
    return Reduce(functor)
