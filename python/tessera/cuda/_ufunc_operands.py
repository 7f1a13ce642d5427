# SPDX-License-Identifier: Apache-2.0
"""Operands of ufuncs: arrays of the host and of devices where a kernel can read them, and what the caller gets."""

from __future__ import annotations

from typing import Any

import numpy

from ..core._place import CUDA
from ._device_array import (
    DeviceNDArrayBase,
    as_device_array,
    is_cuda_array,
)

__all__ = ["cast_to", "elements_of", "flattened", "given_back", "like", "operand_of", "squeezed"]


def squeezed(shape: Any) -> tuple[int, ...]:
    return tuple(extent for extent in shape if extent != 1)


def operand_of(given: Any, number: int, stream: Any) -> Any:
    """An input where the kernel can read it: a NumPy array on the CPU device, a device array on a GPU."""
    if is_cuda_array(given):
        return as_device_array(given)
    host = numpy.asarray([_host(item) for item in given]) if _has_device_items(given) else numpy.asarray(given)
    if any(s < 0 for s in host.strides):  # launches take none
        host = numpy.ascontiguousarray(host)
    if number < CUDA:
        return host
    from ._arrays import placed

    return placed(host, stream)


def _has_device_items(given: Any) -> bool:
    return isinstance(given, (tuple, list)) and any(is_cuda_array(item) for item in given)


def _host(item: Any) -> Any:
    return as_device_array(item).copy_to_host() if is_cuda_array(item) else item


def elements_of(array: Any) -> Any:
    return array._elements if isinstance(array, DeviceNDArrayBase) else array


def like(array: Any, view: Any) -> Any:
    return array._with(view) if isinstance(array, DeviceNDArrayBase) else view


def cast_to(array: Any, dtype: Any, elementwise: bool) -> Any:
    """With another dtype; elementwise kernels cast each element themselves."""
    if array.dtype == dtype or (elementwise and array.dtype.kind in "biufc"):
        return array
    if isinstance(array, DeviceNDArrayBase):
        from ._arrays import placed

        return placed(array.copy_to_host().astype(dtype), array.stream)
    return array.astype(dtype)


def flattened(array: Any, n_core: int, count: int) -> Any:
    """With one loop dimension, as a view; None where that is not possible."""
    elements = elements_of(array)
    split = elements.ndim - n_core
    loop, core = elements.shape[:split], elements.shape[split:]
    strides, step = elements.strides[:split], None
    for extent, stride in zip(reversed(loop), reversed(strides)):
        if extent == 1:
            continue
        if step is not None and stride != step:
            return None
        step = stride * extent
    inner = next((s for n, s in zip(reversed(loop), reversed(strides)) if n != 1), 0)
    shape, steps = (count, *core), (inner, *elements.strides[split:])
    return like(array, numpy.lib.stride_tricks.as_strided(elements, shape, steps))


def given_back(result: Any, to: Any, host: bool, stream: Any) -> Any:
    """What the caller gets: the array that was given, filled, or a new one; a number of no dimensions."""
    if to is not None:
        if to is result or (is_cuda_array(to) and isinstance(result, DeviceNDArrayBase)
                            and elements_of(as_device_array(to)) is elements_of(result)):  # fmt: skip
            return to
        values = result.copy_to_host(stream=stream) if isinstance(result, DeviceNDArrayBase) else result
        if is_cuda_array(to):
            if as_device_array(to)._address != getattr(result, "_address", None):
                as_device_array(to)[...] = values.astype(to.dtype)
        else:
            to[...] = values
        return to
    if host and isinstance(result, DeviceNDArrayBase):
        result = result.copy_to_host(stream=stream)
    return result[()] if isinstance(result, numpy.ndarray) and result.ndim == 0 else result
