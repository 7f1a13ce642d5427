# SPDX-License-Identifier: Apache-2.0
"""Elements of device arrays written by a kernel, in the order of a stream and without a wait:
``array[key] = value``."""

from __future__ import annotations

import functools
from typing import Any

import numpy

from .. import _core
from ._device_array import DeviceNDArray, DeviceNDArrayBase, row_major
from ._ufunc_layout import places_of

__all__ = ["assign", "can_assign"]

THREADS, FEW = 256, 1024


def can_assign(to: Any, given: Any, stream: Any) -> bool:
    """Whether both are of numbers that kernels have, and a kernel is the better way: where it has a stream, or many
    elements of a GPU get a number or those of another array of it."""
    if any(a.dtype.kind not in "biufc" or a.dtype.itemsize > 16 for a in (to, given)):
        return False
    spares_a_copy = given.ndim == 0 or isinstance(given, DeviceNDArrayBase)
    return bool(stream) or (spares_a_copy and not to._on_host and to.size > FEW)


@functools.cache
def _kernel(n_loop: int, is_number: bool) -> Any:
    """``to[...] = value`` over so many dimensions; the value is a number, or an array of the same shape."""
    from ._device import grid
    from ._dispatcher import kernel_of

    place = ", ".join(f"k{d}" for d in range(n_loop))
    value = "value" if is_number else f"value[{place}]"
    lines = ["def assign(n, to, value):", *places_of(n_loop, "to"), f"        to[{place}] = {value}", ""]
    space: dict[str, Any] = {"__name__": __name__, "grid": grid}
    exec(compile("\n".join(lines), f"<assignment over {n_loop} dimensions>", "exec"), space)  # noqa: S102
    return kernel_of(space["assign"], "\n".join(lines))


def assign(to: Any, given: Any, stream: Any) -> None:
    """Writes the elements, after the work of a stream.

    Parameters
    ----------
    to : DeviceNDArray
    given : numpy.ndarray or DeviceNDArray
        Broadcasts to its shape.
    """
    is_number = given.ndim == 0 and not isinstance(given, DeviceNDArrayBase)
    if _moves(to, given):
        copy = DeviceNDArray(given.shape, row_major(given.shape, given.itemsize), given.dtype, stream)
        assign(copy, given, stream)
        given = copy
    if to.ndim == 0:
        to = to._with(to._elements.reshape(1))
    value = given.astype(to.dtype)[()] if is_number else _spread(to, given)
    kernel, blocks = _kernel(to.ndim, is_number), -(-to.size // THREADS)
    kernel[blocks, THREADS, stream](to.size, to, value)


def _moves(to: Any, given: Any) -> bool:
    """Whether a thread could write what another one is yet to read: both are in the same memory, at other places."""
    if not isinstance(given, DeviceNDArrayBase):
        return False
    is_itself = all(getattr(to, fact) == getattr(given, fact) for fact in ("_address", "shape", "strides", "dtype"))
    return not is_itself and bool(numpy.may_share_memory(to._elements, given._elements, max_work=1))


def _spread(to: Any, given: Any) -> Any:
    """An array as one of the shape that is wanted, where the kernel can read it; a copy of one of the host, whose
    elements the caller may change meanwhile."""
    if isinstance(given, DeviceNDArrayBase):
        return given._with(numpy.broadcast_to(given._elements, to.shape))
    whole = numpy.array(numpy.broadcast_to(given, to.shape), to.dtype, order="C")
    return whole if to._on_host else _core.copy_of(whole, str(to._memory.array.device))
