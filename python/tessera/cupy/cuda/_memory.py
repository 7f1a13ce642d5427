# SPDX-License-Identifier: Apache-2.0
"""Memory by address: arrays of bytes of `tessera.numeric` under CuPy's names.

Arrays take their memory from Tessera's own pool (docs/guide/arrays.md). A pool here counts what was taken from it by
hand.
"""

from __future__ import annotations

import contextlib
import ctypes
import operator
import weakref
from collections.abc import Iterator
from typing import Any

import numpy

from ... import _core
from ... import numeric as tn
from .. import _boundary
from .._boundary import Base
from ._device import Device, has_gpu

__all__ = [
    "ManagedMemory", "Memory", "MemoryAsyncPool", "MemoryPointer", "MemoryPool", "PinnedMemory", "PinnedMemoryPointer",
    "PinnedMemoryPool", "UnownedMemory", "alloc", "alloc_pinned_memory", "get_allocator", "malloc_async",
    "malloc_managed",
    "set_allocator", "set_pinned_memory_allocator", "using_allocator",
]  # fmt: skip


class Memory:
    """Bytes of the current device."""

    def __init__(self, size: Any) -> None:
        if not isinstance(size, tn.ndarray):
            n = operator.index(size)
            if n < 0:
                raise ValueError(f"memory of {n} bytes is asked for; a size is 0 or more")
            size = _boundary.placed(lambda: tn.empty(max(n, 1), "u1"))
        self._bytes: Any = size
        self.size = int(self._bytes.nbytes)

    @property
    def ptr(self) -> int:
        """The address."""
        return int(self._bytes._address())

    @property
    def device(self) -> Device:
        """Where it is."""
        return Device._of_name(self._bytes._as(Base).device)

    @property
    def device_id(self) -> int:
        return self.device.id

    def __int__(self) -> int:
        return self.ptr


class UnownedMemory(Memory):
    """Memory of others, by its address; ``owner`` stays alive with it."""

    def __init__(self, ptr: int, size: int, owner: Any, device_id: int = -1) -> None:
        super().__init__(
            _over(ptr, size, owner, f"cuda:{max(device_id, 0)}" if has_gpu() else "cpu")
        )


class ManagedMemory(Memory):
    """Memory that the host and a GPU see; here a GPU's own, or the host's where there is none."""


def _over(ptr: int, size: int, owner: Any, place: str) -> Any:
    """An array of bytes over memory of others."""
    return _core.numeric_wrap(
        ptr, size, owner, 0, numpy.dtype("u1"), (size,), (1,), 0, _core.numeric_place(place)
    )


class MemoryPointer:
    """A place in memory: ``pointer + 64`` is another one."""

    def __init__(self, mem: Memory, offset: int) -> None:
        self.mem, self._offset = mem, offset

    @property
    def ptr(self) -> int:
        """The address."""
        return self.mem.ptr + self._offset

    @property
    def device(self) -> Device:
        """Where it is."""
        return self.mem.device

    @property
    def device_id(self) -> int:
        return self.mem.device_id

    def __int__(self) -> int:
        return self.ptr

    def __add__(self, offset: int) -> MemoryPointer:
        return MemoryPointer(self.mem, self._offset + offset)

    __radd__ = __add__

    def __sub__(self, offset: int) -> MemoryPointer:
        return MemoryPointer(self.mem, self._offset - offset)

    def _whole(self) -> Any:
        """The array that the pointer's offset counts from."""
        return self.mem._bytes

    def _array(self, dtype: Any, shape: Any, strides: Any) -> Any:
        low, high = _boundary.ends_of(shape, strides, dtype)
        before, behind = self._whole()._room
        if self._offset + low < -before or self._offset + high > behind:
            raise ValueError(
                f"bytes {low} to {high} from the pointer on are asked for; there are {-before - self._offset} to "
                f"{behind - self._offset}"
            )
        return self._whole()._as(Base)._view(self._offset, dtype, shape, strides)

    def _part(self, size: int) -> Any:
        return self._array(numpy.dtype("u1"), (size,), (1,))

    def copy_from_device(self, src: Any, size: int) -> None:
        """Copies from memory of a device."""
        self._part(size)[...] = src._part(size)

    def copy_from_host(self, mem: Any, size: int) -> None:
        """Copies from an address of the host."""
        source = (ctypes.c_char * size).from_address(_host_address(mem))
        self._part(size)[...] = numpy.frombuffer(memoryview(source), "u1").copy()

    def copy_from(self, mem: Any, size: int) -> None:
        """Copies from a MemoryPointer, or from an address of the host."""
        (self.copy_from_device if isinstance(mem, MemoryPointer) else self.copy_from_host)(
            mem, size
        )

    def copy_to_host(self, mem: Any, size: int) -> None:
        """Copies to an address of the host."""
        ctypes.memmove(_host_address(mem), tn.asnumpy(self._part(size)).ctypes.data, size)

    def memset(self, value: int, size: int) -> None:
        """Makes every byte ``value``."""
        self._part(size)[...] = numpy.uint8(value)

    def copy_from_device_async(self, src: Any, size: int, stream: Any = None) -> None:
        """As `copy_from_device`."""
        self.copy_from_device(src, size)

    def copy_from_host_async(self, mem: Any, size: int, stream: Any = None) -> None:
        """As `copy_from_host`."""
        self.copy_from_host(mem, size)

    def copy_from_async(self, mem: Any, size: int, stream: Any = None) -> None:
        """As `copy_from`."""
        self.copy_from(mem, size)

    def copy_to_host_async(self, mem: Any, size: int, stream: Any = None) -> None:
        """As `copy_to_host`."""
        self.copy_to_host(mem, size)

    def memset_async(self, value: int, size: int, stream: Any = None) -> None:
        """As `memset`."""
        self.memset(value, size)


class ArrayPointer(MemoryPointer):
    """``a.data``: a place in the memory of an array, which stays while this does."""

    def __init__(self, array: Any, offset: int) -> None:
        self._of, self._offset = array, offset

    @property
    def mem(self) -> Any:  # type: ignore[override]
        """The memory that the array is a part of."""
        whole = self._of if self._of.base is None else self._of.base
        return Memory(whole) if isinstance(whole, Base) else Memory(self._of)

    @property
    def ptr(self) -> int:
        """The address; 0 where there are no elements."""
        return int(self._of._address()) + self._offset if self._of.size else 0

    def __add__(self, offset: int) -> MemoryPointer:
        return ArrayPointer(self._of, self._offset + offset)

    __radd__ = __add__

    def __sub__(self, offset: int) -> MemoryPointer:
        return ArrayPointer(self._of, self._offset - offset)

    def _whole(self) -> Any:
        return self._of


def _host_address(mem: Any) -> int:
    return int(getattr(mem, "value", mem)) if not hasattr(mem, "ptr") else int(mem.ptr)


class MemoryPool:
    """Device memory. Blocks go back to Tessera's pool when nobody has them any more.

    ``set_limit`` holds for what this pool gives by ``malloc``.
    """

    def __init__(self, allocator: Any = None) -> None:
        self._blocks: weakref.WeakSet[Memory] = weakref.WeakSet()
        self._limit = 0

    def malloc(self, size: int) -> MemoryPointer:
        """A new block."""
        rounded = -(-size // 512) * 512
        if self._limit and self.used_bytes() + rounded > self._limit:
            raise MemoryError(
                f"Out of memory allocating {rounded:,} bytes (allocated so far: {self.used_bytes():,} bytes, limit set "
                f"to: {self._limit:,} bytes)."
            )
        memory = Memory(rounded)
        self._blocks.add(memory)
        return MemoryPointer(memory, 0)

    def used_bytes(self) -> int:
        """Bytes of blocks that somebody has."""
        return sum(block.size for block in self._blocks)

    def free_bytes(self) -> int:
        """Bytes that nobody has: those are in Tessera's pool."""
        return 0

    def total_bytes(self) -> int:
        """Both."""
        return self.used_bytes() + self.free_bytes()

    def n_free_blocks(self) -> int:
        """Blocks that nobody has."""
        return 0

    def free_all_blocks(self, stream: Any = None) -> None:
        """Gives memory that nobody has back to the device."""
        import gc

        gc.collect()

    def free_all_free(self) -> None:
        """As `free_all_blocks`."""
        self.free_all_blocks()

    def set_limit(self, size: int | None = None, fraction: float | None = None) -> None:
        """The most bytes, or the most as a fraction of the device's memory; 0: any."""
        if size is not None and fraction is not None:
            raise ValueError("size and fraction cannot be specified at one time")
        if fraction is not None:
            if not 0 <= fraction <= 1:
                raise ValueError(f"memory limit fraction out of range: {fraction}")
            from . import runtime

            size = int(runtime.memGetInfo()[1] * fraction)
        if (size or 0) < 0:
            raise ValueError(f"memory limit size out of range: {size}")
        self._limit = size or 0

    def get_limit(self) -> int:
        """The most bytes; 0: any."""
        return self._limit


class _DefaultPool(MemoryPool):
    """The pool of arrays."""

    def used_bytes(self) -> int:
        """Bytes of all arrays on the current device."""
        return int(_boundary.placed(_core.numeric_stats)["bytes"])


class MemoryAsyncPool(MemoryPool):
    """As MemoryPool: Tessera's pool is in the order of streams anyway."""

    def __init__(self, pool_handles: Any = "current") -> None:
        super().__init__()


class PinnedMemory:
    """Memory of the host that a GPU copies from fastest: page-locked where there is a GPU."""

    def __init__(self, size: int, flags: int = 0) -> None:
        from ... import cuda

        self._array = (
            cuda.pinned_array(max(size, 1), numpy.uint8)
            if has_gpu()
            else numpy.empty(max(size, 1), "u1")
        )
        self.size = size
        self.ptr = int(self._array.ctypes.data)


class PinnedMemoryPointer:
    """A place in page-locked memory; its buffer is the memory behind it."""

    def __init__(self, mem: PinnedMemory, offset: int) -> None:
        self.mem, self._offset = mem, offset
        self.ptr = mem.ptr + offset

    def size(self) -> int:
        """Bytes behind it."""
        return self.mem.size - self._offset

    def __int__(self) -> int:
        return self.ptr

    def __add__(self, offset: int) -> PinnedMemoryPointer:
        return PinnedMemoryPointer(self.mem, self._offset + offset)

    @property
    def array(self) -> Any:
        """The bytes as NumPy's array."""
        return self.mem._array[self._offset : self.mem.size]

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return self.array

    def __buffer__(self, flags: int) -> memoryview:  # asked for by Python 3.12 and newer
        return memoryview(self.array)

    def as_array(self, shape: tuple[int, ...], dtype: Any, strides: tuple[int, ...]) -> Any:
        """NumPy's array over the memory, whose base this is (of records: the base of its base).

        Strides are in elements.
        """
        if dtype.hasobject:
            raise ValueError(f"page-locked memory holds numbers, texts and records of them, no objects; found {dtype}")
        shown = _Shown(self.mem, self._offset)
        shown.__array_interface__ = {
            "data": (self.ptr, False), "shape": shape, "version": 3, "typestr": dtype.str,
            "strides": tuple(s * dtype.itemsize for s in strides),
        }  # fmt: skip
        made = numpy.asarray(shown)
        return made if made.dtype == dtype else made.view(dtype)


class _Shown(PinnedMemoryPointer):
    """A place as one array has it."""

    __array_interface__: Any


class PinnedMemoryPool:
    """Page-locked memory."""

    def __init__(self, allocator: Any = None) -> None:
        pass

    def malloc(self, size: int) -> PinnedMemoryPointer:
        """A new block."""
        return PinnedMemoryPointer(PinnedMemory(size), 0)

    def n_free_blocks(self) -> int:
        """Blocks that nobody has."""
        return 0

    def free_all_blocks(self) -> None:
        """Gives memory that nobody has back."""


POOL, PINNED = _DefaultPool(), PinnedMemoryPool()
_allocator: Any = POOL.malloc
_pinned_allocator: Any = PINNED.malloc


def alloc(size: int) -> MemoryPointer:
    """Bytes of the current device, by the current allocator."""
    return _allocator(size)  # type: ignore[no-any-return]


def malloc_managed(size: int) -> MemoryPointer:
    """Bytes, as `alloc`."""
    return MemoryPointer(ManagedMemory(size), 0)


def malloc_async(size: int) -> MemoryPointer:
    """Bytes, as `alloc`."""
    return MemoryPointer(Memory(size), 0)


def alloc_pinned_memory(size: int) -> Any:
    """Page-locked bytes, by the current allocator."""
    return _pinned_allocator(size)


def set_allocator(allocator: Any = None) -> None:
    """What `alloc` calls; arrays keep to Tessera's pool."""
    global _allocator
    _allocator = POOL.malloc if allocator is None else allocator


def get_allocator() -> Any:
    """What `alloc` calls."""
    return _allocator


def set_pinned_memory_allocator(allocator: Any = None) -> None:
    """What `alloc_pinned_memory` calls."""
    global _pinned_allocator
    _pinned_allocator = PINNED.malloc if allocator is None else allocator


@contextlib.contextmanager
def using_allocator(allocator: Any = None) -> Iterator[None]:
    """What `alloc` calls inside."""
    before = get_allocator()
    set_allocator(allocator)
    try:
        yield
    finally:
        set_allocator(before)
