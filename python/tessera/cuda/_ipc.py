# SPDX-License-Identifier: Apache-2.0
"""Device arrays of other processes, by handles of the driver."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import numpy

from .. import _core
from ..core._errors import cpu_cannot
from ..core._place import CUDA, in_context
from ._device_array import DeviceNDArray, row_major
from ._managers import IpcHandle
from ._memory import of_address

__all__ = ["IpcArrayHandle", "handle_of", "handle_of_memory", "open_ipc_array"]


def _ordinal() -> int:
    number = _core._current_device()
    if number < CUDA:
        raise cpu_cannot("memory that other processes can open")
    return int(number & 255)


def handle_of_memory(address: int, size: int) -> IpcHandle:
    """What another process opens memory with."""
    from ..bindings import driver

    with in_context(_ordinal()):
        base, _ = driver.checked.cuMemGetAddressRange(address)
        handle = bytes(memoryview(driver.checked.cuIpcGetMemHandle(address)))
    return IpcHandle(None, handle, size, None, address - int(base))


class IpcArrayHandle:
    """An array as another process can open it; travels by pickle. ``with handle as array: ...``"""

    def __init__(self, ipc_handle: IpcHandle, array_desc: dict[str, Any]) -> None:
        self._ipc_handle, self._array_desc = ipc_handle, array_desc
        self._opened: Any = None

    def open(self) -> DeviceNDArray:
        """The array. RuntimeError in the process that made it."""
        from ..bindings import driver

        with in_context(_ordinal()):
            record = driver.CUipcMemHandle()
            memoryview(record)[:] = self._ipc_handle.handle
            address = int(driver.checked.cuIpcOpenMemHandle(record, 1))
        self._opened = address
        memory = of_address(address + self._ipc_handle.offset, self._ipc_handle.size, self)
        return DeviceNDArray(**self._array_desc, gpu_data=memory)

    def close(self) -> None:
        """Closes what ``open`` opened."""
        if self._opened is not None:
            from ..bindings import driver

            driver.checked.cuIpcCloseMemHandle(self._opened)
            self._opened = None

    def __enter__(self) -> DeviceNDArray:
        return self.open()

    def __exit__(self, *error: object) -> None:
        self.close()

    def __reduce__(self) -> Any:
        handle = self._ipc_handle
        return _again, (handle.handle, handle.size, handle.offset, self._array_desc)


def _again(handle: bytes, size: int, offset: int, desc: dict[str, Any]) -> IpcArrayHandle:
    return IpcArrayHandle(IpcHandle(None, handle, size, None, offset), desc)


def handle_of(array: Any) -> IpcArrayHandle:
    """``array.get_ipc_handle()``."""
    memory = handle_of_memory(array._address, array.alloc_size)
    return IpcArrayHandle(memory, {"shape": array.shape, "strides": array.strides, "dtype": array.dtype})


@contextlib.contextmanager
def open_ipc_array(
    handle: Any, shape: Any, dtype: Any, strides: Any = None, offset: int = 0
) -> Iterator[DeviceNDArray]:
    """An array of another process by the bytes of a handle of the driver."""
    dtype = numpy.dtype(dtype)
    strides = row_major(tuple(shape), dtype.itemsize) if strides is None else strides
    size = dtype.itemsize * int(numpy.prod(shape))
    with _again(bytes(handle), size, offset, {"shape": shape, "strides": strides, "dtype": dtype}) as array:
        yield array
