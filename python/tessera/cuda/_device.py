# SPDX-License-Identifier: Apache-2.0
"""What kernels of threads name: indices, barriers, memory of the block, exchanges within a warp, atomics.

Each is a stub: the compiler knows it by its ``__tessera_op__`` (a row of ``src/lang/simt/simt_op.def``), and on the
host a call raises. Names, arguments and results are those of numba.cuda.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

__all__ = ["blockDim", "blockIdx", "grid", "gridDim", "gridsize", "laneid", "threadIdx", "warpsize"]

F = TypeVar("F", bound=Callable[..., Any])


def _op(name: str) -> Callable[[F], F]:
    """Marks a stub as the operation ``name``."""

    def mark(fn: F) -> F:
        def outside(*args: Any, **kwargs: Any) -> Any:
            raise RuntimeError(
                f"cuda.{fn.__qualname__}() works inside a function decorated with @cuda.jit, not on the host"
            )

        outside.__name__, outside.__qualname__, outside.__doc__ = fn.__name__, fn.__qualname__, fn.__doc__
        outside.__module__ = "tessera.cuda"
        outside.__wrapped__ = fn  # type: ignore[attr-defined]
        outside.__tessera_op__ = name  # type: ignore[attr-defined]
        return outside  # type: ignore[return-value]

    return mark


class _Value:
    """A name that kernels read and do not call."""

    def __init__(self, op: str, doc: str) -> None:
        self.__tessera_op__ = op
        self.__doc__ = doc

    def __repr__(self) -> str:
        return f"<cuda.{self.__tessera_op__.replace('_', '.')}, known inside kernels>"


class threadIdx:
    """Where the thread is in its block: ``.x``, ``.y``, ``.z``, each int32."""

    __tessera_names__ = True
    x = _Value("threadIdx_x", "Along the first axis.")
    y = _Value("threadIdx_y", "Along the second axis.")
    z = _Value("threadIdx_z", "Along the third axis.")


class blockIdx:
    """Where the block is in the grid: ``.x``, ``.y``, ``.z``, each int32."""

    __tessera_names__ = True
    x = _Value("blockIdx_x", "Along the first axis.")
    y = _Value("blockIdx_y", "Along the second axis.")
    z = _Value("blockIdx_z", "Along the third axis.")


class blockDim:
    """Threads of a block along each axis: ``.x``, ``.y``, ``.z``, each int32."""

    __tessera_names__ = True
    x = _Value("blockDim_x", "Along the first axis.")
    y = _Value("blockDim_y", "Along the second axis.")
    z = _Value("blockDim_z", "Along the third axis.")


class gridDim:
    """Blocks of the grid along each axis: ``.x``, ``.y``, ``.z``, each int32."""

    __tessera_names__ = True
    x = _Value("gridDim_x", "Along the first axis.")
    y = _Value("gridDim_y", "Along the second axis.")
    z = _Value("gridDim_z", "Along the third axis.")


laneid = _Value("laneid", "The thread's number in its warp, 0 to 31, int32.")
warpsize = _Value("warpsize", "Threads of a warp, 32, int32.")


@_op("grid")
def grid(ndim: int, /) -> Any:
    """The thread's position in the whole grid: an int64, or for 2 and 3 axes a tuple of them.

    Parameters
    ----------
    ndim : int
        Axes, 1 to 3, known at compile time.
    """


@_op("gridsize")
def gridsize(ndim: int, /) -> Any:
    """Threads of the whole grid along each of ``ndim`` axes: an int64, or a tuple of them."""
