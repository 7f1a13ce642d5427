# SPDX-License-Identifier: Apache-2.0
"""What collectives are made of: values of any kind in memory, positions of threads, items of one thread.

A *value* is a number (complex and narrow ones, too), a named tuple or a frozen dataclass of values. *Items* of a thread
are a tuple or an array of values; a plain tuple is always items.
"""

from __future__ import annotations

from typing import Any

from numpy import int32

from ..cuda import _device as cuda
from ..cuda._device import known, parts, refuse, whole
from ..cuda._places import Places, local_like, shared_like

__all__ = ["ALL", "Places", "block_size", "counted", "linear", "local_like", "own", "shared_like", "threads_of",
"typed"]

ALL = 0xFFFFFFFF  # lanes


def own(x: Any) -> Any:
    """The value with numbers of its own dtypes: a literal is one, too."""
    return whole(x, parts(x))


def typed(x: Any, result: Any) -> Any:
    """What an operator gave, of the dtypes of ``x``: int32 + int32 is int64 in kernels, and int32 again here."""
    return whole(x, parts(result))


def counted(x: Any) -> Any:
    """What a sum adds for x: a bool, also as an item of a tuple, is counted as an int32."""
    if isinstance(x, tuple) and not hasattr(x, "_fields"):
        return tuple(_count(item) for item in x)
    return _count(x)


def _count(x: Any) -> Any:
    if hasattr(x, "dtype") and not hasattr(x, "strides"):
        if x.dtype.kind == "b":  # noqa: SIM102
            return int32(x)
    return x


def threads_of(shape: Any) -> Any:
    """How many threads a shape of a block has."""
    n: Any = shape
    if isinstance(shape, tuple):
        n = 1
        for extent in shape:
            n *= extent
    return n


def block_size(threads: Any) -> Any:
    """How many threads a shape of a block has, which a kernel gives."""
    n = threads_of(known(threads, "threads"))
    if n < 1 or n > 1024:
        refuse(f"threads={threads}: a block has 1 to 1024 threads")
    return n


def linear(threads: Any) -> Any:
    """The number of the thread in its block, x fastest; of a block of one axis just threadIdx.x."""
    if not isinstance(threads, tuple) or len(threads) == 1:
        return cuda.threadIdx.x
    if len(threads) == 2:
        return cuda.threadIdx.x + cuda.threadIdx.y * threads[0]
    return cuda.threadIdx.x + (cuda.threadIdx.y + cuda.threadIdx.z * threads[1]) * threads[0]
