# SPDX-License-Identifier: Apache-2.0
"""Device memory of arrays: where it comes from (pools of Tessera, the driver, or a memory manager of the user), and
when it goes back.

Arrays that a user makes on a GPU are allocated by the driver one by one, as numba's are, because any of them may be
asked for what another process opens it with (``get_ipc_handle``): pools do not share single pieces so. _pieces.py keeps
those that nobody uses any more. Copies for launches, results of ufuncs and what algorithms keep come out of Tessera's
pool."""

from __future__ import annotations

import contextlib
import ctypes
import functools
import sys
import weakref
from collections.abc import Callable, Iterator
from typing import Any

from .. import _core
from ..core._place import CUDA, in_context
from . import config
from ._errors import CudaSupportError

__all__ = ["Deallocations", "Memory", "allocate", "deallocations", "defer_cleanup", "of_address"]


DISABLED = (
    "CUDA is disabled due to setting NUMBA_DISABLE_CUDA=1 in the environment, or cuda.config.DISABLE_CUDA; without it "
    "the GPU is used"
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
        too_much = len(self._pending) > config.CUDA_DEALLOCS_COUNT or self._size > self._max_pending_bytes
        if too_much and not self._deferred:
            self._release()

    def clear(self) -> None:
        """Gives everything back, unless that is put off; on a GPU to its driver."""
        if not self._deferred:
            self._release()
            flush_pieces()

    def _release(self) -> None:
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


def flush_pieces() -> None:
    """Gives back to the driver what is kept for further arrays."""
    found = sys.modules.get(f"{__package__}._pieces")
    if found is not None:
        found.pieces.flush()


@functools.cache
def _total_of(number: int) -> int:
    return memory_info()[1]


def total_bytes() -> int:
    """Bytes of memory of the current device."""
    return _total_of(_core._current_device())


def memory_info() -> tuple[int, int]:
    """(free, total) bytes of the current device; what is kept for further arrays is free."""
    number = _core._current_device()
    if number >= CUDA:
        from ..bindings import driver
        from ._pieces import pieces

        with in_context(number & 255):
            free, total = driver.checked.cuMemGetInfo()
        return min(int(free) + pieces.bytes(number & 255), int(total)), int(total)
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
        self._views: weakref.WeakSet[Memory] | None = None
        self._counted = counted
        self.address = array.ptr if owner is None else owner_address(owner, array)

    def __del__(self, gone: Deallocations = deallocations, ends: Callable[[], bool] = sys.is_finalizing) -> None:
        if self._counted and not ends():
            gone.add(self.array, self.size)

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
        whole = made._of = made.owner = self if self._of is None else self._of
        if whole._views is None:
            whole._views = weakref.WeakSet()
        whole._views.add(made)
        return made

    @property
    def refct(self) -> int:
        """How many use the memory: this and its views."""
        return 1 + len(self._views or ())

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


def _shareable(nbytes: int) -> Any:
    from ._pieces import Piece

    ordinal = _core._current_device() & 255
    owner = Piece(nbytes, ordinal)
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
