# SPDX-License-Identifier: Apache-2.0
"""Device arrays of other processes, by handles of the driver."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator
from typing import Any

import numpy

from .. import _core
from ..core._errors import cpu_cannot
from ..core._place import CUDA, in_context
from ._device_array import DeviceNDArray, _prepared_shape, row_major
from ._managers import IpcHandle
from ._pieces import pieces

__all__ = ["IpcArrayHandle", "closed", "handle_of", "handle_of_memory", "open_ipc_array", "opened"]


def _ordinal() -> int:
    number = _core._current_device()
    if number < CUDA:
        raise cpu_cannot("memory that other processes can open")
    return int(number & 255)


def handle_of_memory(address: int, size: int) -> IpcHandle:
    """What another process opens memory with.

    Raises
    ------
    RuntimeError
        The memory came out of a pool.
    """
    from ..bindings import driver

    with in_context(_ordinal()):
        base, _ = driver.checked.cuMemGetAddressRange(address)
        status, found = driver.cuIpcGetMemHandle(address)
    if status:
        raise RuntimeError(
            f"other processes cannot open the memory at {address:#x} ({status.name}): it is part of a pool or of no "
            "GPU; copy it into an array of cuda.to_device() or cuda.device_array()"
        )
    pieces.tell(int(base))
    return IpcHandle(None, bytes(memoryview(found)), size, None, address - int(base))


class IpcArrayHandle:
    """An array as another process can open it; travels by pickle. ``with handle as array: ...``"""

    def __init__(self, ipc_handle: IpcHandle, array_desc: dict[str, Any]) -> None:
        self._ipc_handle, self._array_desc = ipc_handle, array_desc

    def open(self) -> DeviceNDArray:
        """The array. RuntimeError in the process that made it; ValueError where it is open."""
        return self._ipc_handle.open_array(None, **self._array_desc)

    def close(self) -> None:
        """Closes what ``open`` opened."""
        self._ipc_handle.close()

    def __enter__(self) -> DeviceNDArray:
        return self.open()

    def __exit__(self, *error: object) -> None:
        self.close()

    def __reduce__(self) -> Any:
        return IpcArrayHandle, (self._ipc_handle, self._array_desc)


def opened(handle: bytes) -> int:
    """The address of another process's memory."""
    from ..bindings import driver

    with in_context(_ordinal()):
        record = driver.CUipcMemHandle()
        memoryview(record)[:] = handle
        return int(driver.checked.cuIpcOpenMemHandle(record, 1))


def closed(address: int) -> None:
    """Ends what ``opened`` began."""
    from ..bindings import driver

    with in_context(_ordinal()):
        driver.checked.cuIpcCloseMemHandle(address)


def handle_of(array: Any) -> IpcArrayHandle:
    """``array.get_ipc_handle()``."""
    memory = handle_of_memory(array._address, array.gpu_data.size)
    return IpcArrayHandle(memory, {"shape": array.shape, "strides": array.strides, "dtype": array.dtype})


@contextlib.contextmanager
def open_ipc_array(
    handle: Any, shape: Any, dtype: Any, strides: Any = None, offset: int = 0
) -> Iterator[DeviceNDArray]:
    """An array of another process by the bytes of a handle of the driver."""
    found, extents = numpy.dtype(dtype), _prepared_shape(shape)
    strides = row_major(extents, found.itemsize) if strides is None else strides
    memory = IpcHandle(None, bytes(handle), found.itemsize * math.prod(extents), None, offset)
    with IpcArrayHandle(memory, {"shape": extents, "strides": strides, "dtype": found}) as array:
        yield array
