# SPDX-License-Identifier: Apache-2.0
"""Kernels of threads in Python under CuPy's names: those of `tessera.cuda`, on GPUs and on the CPU.

Types are those of tessera.cuda (docs/guide/threads.md): sums of integers have 64 bits.
"""

from __future__ import annotations

import builtins
from typing import Any

import numpy

from .. import cuda
from ..cuda import (
    atomic,
    blockDim,
    blockIdx,
    grid,
    gridDim,
    gridsize,
    laneid,
    shared,
    shfl_down_sync,
    shfl_sync,
    shfl_up_sync,
    shfl_xor_sync,
    syncthreads,
    syncwarp,
    threadIdx,
    warpsize,
)

__all__ = [
    "atomic_add", "atomic_and", "atomic_cas", "atomic_dec", "atomic_exch", "atomic_inc", "atomic_max", "atomic_min",
    "atomic_or", "atomic_sub", "atomic_xor", "blockDim", "blockIdx", "grid", "gridDim", "gridsize", "laneid", "range",
    "rawkernel", "shared_memory", "shfl_down_sync", "shfl_sync", "shfl_up_sync", "shfl_xor_sync", "syncthreads",
    "syncwarp",
    "threadIdx", "warpsize",
]  # fmt: skip

_range = builtins.range
_NOTHING: Any = object()


def range(start: Any, stop: Any = None, step: Any = None, *, unroll: Any = None) -> Any:
    """Python's. ``unroll`` is a hint for CuPy's compiler; Tessera's decides by itself what to unroll."""
    if step is not None:
        return _range(start, stop, step)
    return _range(start) if stop is None else _range(start, stop)


def shared_memory(dtype: Any, size: Any) -> Any:
    """Memory of the block: ``size`` elements."""
    return shared.array(size, dtype)


def atomic_add(array: Any, index: Any, value: Any) -> Any:
    """``array[index] += value``, undivided; gives what it was."""
    return atomic.add(array, index, value)


def atomic_sub(array: Any, index: Any, value: Any) -> Any:
    """``array[index] -= value``, undivided; gives what it was."""
    return atomic.sub(array, index, value)


def atomic_exch(array: Any, index: Any, value: Any) -> Any:
    """``array[index] = value``, undivided; gives what it was."""
    return atomic.exch(array, index, value)


def atomic_min(array: Any, index: Any, value: Any) -> Any:
    """The least of an element and a value, undivided; gives what it was."""
    return atomic.min(array, index, value)


def atomic_max(array: Any, index: Any, value: Any) -> Any:
    """The greatest of an element and a value, undivided; gives what it was."""
    return atomic.max(array, index, value)


def atomic_inc(array: Any, index: Any, value: Any) -> Any:
    """One more, 0 behind ``value``, undivided; gives what it was."""
    return atomic.inc(array, index, value)


def atomic_dec(array: Any, index: Any, value: Any) -> Any:
    """One less, ``value`` before 0, undivided; gives what it was."""
    return atomic.dec(array, index, value)


def atomic_cas(array: Any, index: Any, value: Any, alt_value: Any) -> Any:
    """``alt_value`` where the element is ``value``, undivided; gives what it was."""
    return atomic.cas(array, index, value, alt_value)


def atomic_and(array: Any, index: Any, value: Any) -> Any:
    """``array[index] &= value``, undivided; gives what it was."""
    return atomic.and_(array, index, value)


def atomic_or(array: Any, index: Any, value: Any) -> Any:
    """``array[index] |= value``, undivided; gives what it was."""
    return atomic.or_(array, index, value)


def atomic_xor(array: Any, index: Any, value: Any) -> Any:
    """``array[index] ^= value``, undivided; gives what it was."""
    return atomic.xor(array, index, value)


_WAYS = (
    "is launched by {0}((blocks,), (threads,), (x, y)), its arguments in one tuple, or by {0}[blocks, threads](x, y)"
)


class _Kernel:
    """A kernel: ``f((blocks,), (threads,), args)`` or ``f[blocks, threads](*args)``."""

    def __init__(self, function: Any) -> None:
        self._kernel = cuda.jit(function)
        self.__name__, self.__doc__ = function.__name__, function.__doc__

    def __call__(
        self, grid: Any = _NOTHING, block: Any = _NOTHING, args: Any = _NOTHING, shared_mem: Any = 0,
        stream: Any = None, *more: Any,
    ) -> None:  # fmt: skip
        """Launches, on a stream or on the current one."""
        from ..cupy.cuda._stream import before_launch, get_current_stream

        if args is _NOTHING or more or not isinstance(args, (tuple, list)):
            raise TypeError(f"kernel {self.__name__!r} {_WAYS.format(self.__name__)}")
        order = get_current_stream() if stream is None else stream
        if order._is_null:
            self._kernel[grid, block, 0, shared_mem](*map(_number, args))
            return
        before_launch(order)
        self._kernel[grid, block, order._stream, shared_mem](*map(_number, args))
        order._rejoin()

    def __getitem__(self, shape: Any) -> Any:
        if not isinstance(shape, tuple) or len(shape) != 2:
            raise TypeError(
                f"kernel {self.__name__!r} {_WAYS.format(self.__name__)}; found {self.__name__}[{shape!r}]"
            )
        blocks, threads = shape

        def launch(*args: Any) -> None:
            self(_three(blocks), _three(threads), args)

        return launch


def _three(value: Any) -> tuple[int, ...]:
    return tuple(map(int, value)) if isinstance(value, (tuple, list)) else (int(value),)


def _number(x: Any) -> Any:
    """NumPy's arrays are no arguments."""
    if isinstance(x, numpy.ndarray):
        raise TypeError(
            f"Unsupported type {type(x)}: a kernel takes cupy.ndarray; use cupy.asarray(x)"
        )
    return x


def rawkernel(*, mode: str = "cuda", device: bool = False) -> Any:
    """``@jit.rawkernel()``: the function is a kernel; with ``device=True`` one that kernels call."""
    if mode not in ("cuda", "numpy"):
        raise ValueError(f"mode is 'cuda' or 'numpy', found {mode!r}")
    return cuda.jit(device=True) if device else _Kernel
