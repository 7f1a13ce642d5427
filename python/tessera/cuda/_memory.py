# SPDX-License-Identifier: Apache-2.0
"""Device memory of arrays: where it comes from (pools of Tessera, the driver, or a memory manager of the user), and
when it goes back.

Arrays that a user makes on a GPU are allocated by the driver one by one, as numba's are, because any of them may be
asked for what another process opens it with (``get_ipc_handle``): pools do not share single pieces so. Copies for
launches, results of ufuncs and what algorithms keep come out of Tessera's pool."""

from __future__ import annotations

import contextlib
import ctypes
import weakref
from collections.abc import Iterator
from typing import Any

from .. import _core
from ..bindings._errors import CUDAError
from ..core._place import CUDA, in_context
from . import config
from ._errors import CudaDriverError, CudaSupportError

__all__ = ["Deallocations", "Memory", "allocate", "deallocations", "defer_cleanup", "of_address"]


DISABLED = (
    "CUDA is disabled due to setting NUMBA_DISABLE_CUDA=1 in the environment, or cuda.config.DISABLE_CUDA; without it "
    "the GPU is used"
)
FORKED = (
    "CUDA initialized before forking: the NVIDIA driver does not work in the child of a process that has used it; "
    "start processes by spawn"
)


class Deallocations:
    """Memory that nobody uses any more and that was not given back yet: ten pieces at most, or a part of the device."""

    def __init__(self) -> None:
        self._pending: list[Any] = []
        self._size = self._deferred = 0

    def __len__(self) -> int:
        return len(self._pending)

    @property
    def _max_pending_bytes(self) -> int:
        return int(total_bytes() * config.CUDA_DEALLOCS_RATIO)

    def add(self, memory: Any, size: int) -> None:
        """Takes memory that nobody uses any more."""
        self._pending.append(memory)
        self._size += size
        if len(self._pending) > config.CUDA_DEALLOCS_COUNT or self._size > self._max_pending_bytes:
            self.clear()

    def clear(self) -> None:
        """Gives everything back, unless that is put off."""
        if not self._deferred:
            pending, self._pending, self._size = self._pending, [], 0
            del pending

    @contextlib.contextmanager
    def disable(self) -> Iterator[None]:
        """Nothing is given back in the block."""
        self._deferred += 1
        try:
            yield
        finally:
            self._deferred -= 1

    @property
    def is_locked(self) -> bool:
        """Whether giving back is put off."""
        return self._deferred > 0


deallocations = Deallocations()


def total_bytes() -> int:
    """Bytes of memory of the current device."""
    return memory_info()[1]


def memory_info() -> tuple[int, int]:
    """(free, total) bytes of the current device."""
    number = _core._current_device()
    if number >= CUDA:
        from ..bindings import driver
        with in_context(number & 255):
            free, total = driver.checked.cuMemGetInfo()
        return int(free), int(total)
    import os

    page = os.sysconf("SC_PAGE_SIZE")
    return os.sysconf("SC_AVPHYS_PAGES") * page, os.sysconf("SC_PHYS_PAGES") * page


class Memory:
    """A piece of memory: an address, a number of bytes, and what keeps it.

    Attributes
    ----------
    array : Array
        The bytes, as an array of uint8.
    size : int
    device_ctypes_pointer : ctypes.c_size_t
    """

    def __init__(self, array: Any, size: int, owner: Any = None, counted: bool = False) -> None:
        self.array, self.size, self.owner = array, size, owner
        self._of: Memory | None = None
        self._views: weakref.WeakSet[Memory] = weakref.WeakSet()
        self.address = array.ptr if owner is None else owner_address(owner, array)
        if counted:
            weakref.finalize(self, deallocations.add, array, size).atexit = False

    @property
    def device_ctypes_pointer(self) -> ctypes.c_size_t:
        return ctypes.c_size_t(self.address)

    @property
    def device_pointer_value(self) -> int:
        return int(self.address)

    device_pointer = device_pointer_value

    @property
    def handle(self) -> int:
        return int(self.address)

    def free(self) -> None:
        """Lets the memory go; arrays in it keep it."""

    def own(self) -> Memory:
        return self

    def view(self, start: int, stop: int | None = None) -> Memory:
        """Part of it, by offsets in bytes; ``owner`` of the part is the memory itself."""
        stop = self.size if stop is None else stop
        if not 0 <= start <= stop <= self.size:
            raise RuntimeError(f"size cannot be negative: bytes {start} to {stop} of {self.size}")
        made = Memory(self.array[start:stop], stop - start)
        made._of = made.owner = self if self._of is None else self._of
        made._of._views.add(made)
        return made

    @property
    def refct(self) -> int:
        """How many use the memory: this and its views."""
        return 1 + len(self._views)

    def __int__(self) -> int:
        return int(self.address)


def owner_address(owner: Any, array: Any) -> int:
    return int(getattr(owner, "device_pointer_value", None) or array.ptr)


def device_text(number: int | None = None) -> str:
    """The current device as arrays name theirs."""
    number = _core._current_device() if number is None else number
    return "cpu" if number < CUDA else f"cuda:{number & 255}"


def allocate(nbytes: int, shared: bool = False) -> Memory:
    """New memory of the current device.

    Parameters
    ----------
    nbytes : int
    shared : bool
        Other processes may open it: on a GPU it comes from the driver itself, which takes longer than a pool.
    """
    from ._managers import chosen

    manager = chosen()
    if manager is not None:
        pointer = manager.memalloc(nbytes)
        return of_address(int(pointer.device_pointer_value), nbytes, pointer)
    if config.DISABLE_CUDA and _core._current_device() >= CUDA:
        raise CudaSupportError(DISABLED)
    make = _shareable if shared and nbytes and _core._current_device() >= CUDA else _pooled
    try:
        array = make(nbytes)
    except MemoryError:
        deallocations.clear()
        array = make(nbytes)
    return Memory(array, nbytes, counted=True)


def _pooled(nbytes: int) -> Any:
    return _core.empty(max(nbytes, 1), "uint8", device_text())


class _Allocated:
    """Memory of a GPU that the driver hands out by itself, outside of pools: other processes can open it."""

    def __init__(self, nbytes: int, ordinal: int) -> None:
        from ..bindings import driver

        status, *_ = driver.cuInit(0)
        if status == driver.CUresult.CUDA_ERROR_NOT_INITIALIZED:
            raise CudaDriverError(FORKED)
        with in_context(ordinal):
            status, address = driver.cuMemAlloc(nbytes)
        if status == driver.CUresult.CUDA_ERROR_OUT_OF_MEMORY:
            raise MemoryError(f"the GPU has no room for {nbytes} bytes")
        if status:
            raise CUDAError("cuMemAlloc", status, f"{nbytes} bytes")
        self.address = int(address)
        weakref.finalize(self, _freed, self.address, ordinal, _token(ordinal)).atexit = False


_tokens: dict[int, Any] = {}


def _token(ordinal: int) -> Any:
    """An array of the GPU that a reset makes invalid."""
    if ordinal not in _tokens or _is_lost(_tokens[ordinal]):
        _tokens[ordinal] = _core.empty(1, "uint8", f"cuda:{ordinal}")
    return _tokens[ordinal]


def _is_lost(array: Any) -> bool:
    try:
        return not array.ptr
    except BufferError:
        return True


def _freed(address: int, ordinal: int, token: Any) -> None:
    from ..bindings import driver

    if not _is_lost(token):  # a reset has freed it, and the address may be another's since
        with contextlib.suppress(CUDAError), in_context(ordinal):
            driver.cuMemFree(address)


def _shareable(nbytes: int) -> Any:
    ordinal = _core._current_device() & 255
    owner = _Allocated(nbytes, ordinal)
    return _array_at(owner.address, nbytes, owner, ordinal)


class _OnDevice:
    """Memory that a GPU uses, wherever it lies, for ``from_dlpack``."""

    def __init__(self, buffer: Any, ordinal: int) -> None:
        self._buffer, self._ordinal = buffer, ordinal

    def __dlpack_device__(self) -> tuple[int, int]:
        return 2, self._ordinal

    def __dlpack__(self, max_version: Any = None, **options: Any) -> Any:
        return self._buffer._dlpack(2, self._ordinal, max_version is not None)


def _array_at(address: int, nbytes: int, owner: Any, ordinal: int) -> Any:
    """Bytes that a GPU uses, as an array of it; host memory that is mapped, too."""
    from ..core import Buffer

    return _core.from_dlpack(_OnDevice(Buffer.from_handle(address, nbytes, owner=owner), ordinal)).view("uint8")


def of_address(address: int, nbytes: int, owner: Any) -> Memory:
    """Memory of others by its address; ``owner`` is kept."""
    number = _core._current_device()
    if nbytes == 0:
        return Memory(_core.empty(1, "uint8", device_text()), 0)
    if number < CUDA:
        import numpy

        block: Any = (ctypes.c_ubyte * nbytes).from_address(address)
        block._owner = owner
        return Memory(_core.from_dlpack(numpy.frombuffer(block, numpy.uint8)), nbytes, owner)
    return Memory(_array_at(address, nbytes, owner, number & 255), nbytes, owner)


@contextlib.contextmanager
def defer_cleanup() -> Iterator[None]:
    """No memory is given back in the block: giving back may wait for the device."""
    from ._managers import chosen

    manager = chosen()
    with manager.defer_cleanup() if manager is not None else deallocations.disable():
        yield
