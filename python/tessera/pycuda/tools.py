# SPDX-License-Identifier: Apache-2.0
"""Contexts by default, memory pools, names of dtypes, helpers for tests, occupancy."""

from __future__ import annotations

import contextlib
import functools
import math
import os
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from . import _memory, driver
from ._call import Error, LogicError, MemoryError  # noqa: A004
from ._context import Context, Device
from ._dtypes import (
    ScalarArg, VectorArg, dtype_to_ctype, get_or_register_dtype, parse_c_arg, register_dtype,
)  # fmt: skip
from ._memory import HostPointer, PointerHolderBase

__all__ = [
    "DebugMemoryPool", "DeviceData", "DeviceMemoryPool", "OccupancyRecord", "PageLockedAllocator",
    "PageLockedMemoryPool", "PooledDeviceAllocation", "PooledHostAllocation", "ScalarArg",
    "VectorArg", "bitlog2", "clear_context_caches", "context_dependent_memoize",
    "dtype_to_ctype", "get_default_device", "get_or_register_dtype",
    "init_cuda_context_fixture", "make_default_context", "mark_cuda_test", "parse_c_arg",
    "register_dtype",
]  # fmt: skip


def bitlog2(n: int) -> int:
    """The number of the highest bit that is set."""
    return max(0, int(n).bit_length() - 1)


# ---- contexts ------------------------------------------------------------------------------------


def _chosen() -> int | None:
    """The device that CUDA_DEVICE or ~/.cuda_device names."""
    word = os.environ.get("CUDA_DEVICE")
    if word is None:
        with contextlib.suppress(OSError):
            with open(os.path.expanduser("~/.cuda_device"), encoding="utf-8") as file:
                word = file.read().strip()
    if not word:
        return None
    try:
        return int(word)
    except ValueError:
        raise LogicError(f"CUDA_DEVICE or ~/.cuda_device names no number: {word!r}") from None


def get_default_device(default: int = 0) -> Device:
    """The device that CUDA_DEVICE or ~/.cuda_device names, else `default`."""
    chosen = _chosen()
    return Device(default if chosen is None else chosen)


def make_default_context(ctx_maker: Callable[[Device], Context] | None = None) -> Context:
    """A current context: the primary one of the chosen device, else of the first that works."""
    chosen, count = _chosen(), Device.count()
    if not count:
        raise driver.RuntimeError("there is no CUDA device")
    errors = []
    for number in range(count) if chosen is None else [chosen]:
        try:
            if ctx_maker:
                return ctx_maker(Device(number))
            context = Device(number).retain_primary_context()
            context.push()
            return context
        except Error as error:
            errors.append(f"device {number}: {error}")
    raise driver.RuntimeError("no context could be made; " + "; ".join(errors))


def context_dependent_memoize(func: Callable[..., Any]) -> Callable[..., Any]:
    """Remembers results per context and arguments."""

    @functools.wraps(func)
    def call(*args: Any, **kwargs: Any) -> Any:
        cache = Context.get_current()._cache
        key = (func, args, tuple(sorted(kwargs.items())))
        if key not in cache:
            cache[key] = func(*args, **kwargs)
        return cache[key]

    return call


def clear_context_caches() -> None:
    """Forgets what was compiled and remembered in all contexts."""
    for context in list(Context._known.values()):
        context._cache.clear()
        context._compiled.clear()


def init_cuda_context_fixture() -> Iterator[None]:
    """The body of a pytest fixture: a context is current while the test runs."""
    driver.init()
    context = make_default_context()
    try:
        yield
    finally:
        context.detach()


def mark_cuda_test(func: Callable[..., Any]) -> Callable[..., Any]:
    """Runs a test with a current context, marked ``cuda`` for pytest."""

    @functools.wraps(func)
    def call(*args: Any, **kwargs: Any) -> None:
        for _ in init_cuda_context_fixture():
            func(*args, **kwargs)

    try:
        import pytest
    except ImportError:
        return call
    return pytest.mark.cuda(call)  # type: ignore[no-any-return]


# ---- pools ---------------------------------------------------------------------------------------


class _Pool:
    """Keeps freed blocks by their size, in bins of four per power of two."""

    _waste_bits = 2

    def __init__(self) -> None:
        self._bins: dict[int, list[Any]] = {}
        self._holds = True
        self.held_blocks = self.active_blocks = self.managed_bytes = self.active_bytes = 0

    @classmethod
    def bin_number(cls, size: int) -> int:
        """The bin of a size."""
        size = max(1, int(size))
        exponent, bits = bitlog2(size), cls._waste_bits
        shift = exponent - bits
        return exponent << bits | ((size >> shift if shift > 0 else size << -shift) & (1 << bits) - 1)

    @classmethod
    def alloc_size(cls, bin_nr: int) -> int:
        """The largest size of a bin, which is what its blocks have."""
        bits = cls._waste_bits
        exponent, mantissa = bin_nr >> bits, bin_nr & (1 << bits) - 1
        head, shift = 1 << bits | mantissa, exponent - bits
        return (head + 1 << shift) - 1 if shift >= 0 else head >> -shift

    def _make(self, size: int) -> Any:
        raise NotImplementedError

    def _take(self, size: int) -> tuple[Any, int]:
        """(block, bin): a kept one or a new one."""
        bin_nr = self.bin_number(size)
        kept = self._bins.get(bin_nr)
        if kept:
            self.held_blocks -= 1
            block = kept.pop()
        else:
            block = self._grow(self.alloc_size(bin_nr))
            self.managed_bytes += self.alloc_size(bin_nr)
        self.active_blocks += 1
        self.active_bytes += size
        return block, bin_nr

    def _grow(self, size: int) -> Any:
        try:
            return _memory.with_collection(self._make, size)
        except MemoryError:
            self.free_held()
            return self._make(size)

    def _give(self, block: Any, bin_nr: int, size: int) -> None:
        self.active_blocks -= 1
        self.active_bytes -= size
        if self._holds:
            self._bins.setdefault(bin_nr, []).append(block)
            self.held_blocks += 1
        else:
            self.managed_bytes -= self.alloc_size(bin_nr)
            block.free()

    def free_held(self) -> None:
        """Gives all kept blocks back to the driver."""
        bins, self._bins = self._bins, {}
        for bin_nr, blocks in bins.items():
            self.held_blocks -= len(blocks)
            self.managed_bytes -= len(blocks) * self.alloc_size(bin_nr)
            for block in blocks:
                block.free()

    def stop_holding(self) -> None:
        """Keeps nothing any more: blocks go back to the driver when they are freed."""
        self._holds = False
        self.free_held()


class _Pooled:
    """A block of a pool; goes back to it with the object, or by ``free()``."""

    def __init__(self, pool: _Pool, size: int) -> None:
        self._pool, self.size = pool, int(size)
        self._block: Any = None
        self._block, self._bin = pool._take(self.size)

    def free(self) -> None:
        """Gives the block back to the pool."""
        block, self._block = self._block, None
        if block is not None:
            self._pool._give(block, self._bin, self.size)

    def __len__(self) -> int:
        return self.size

    def __del__(self) -> None:
        with contextlib.suppress(Exception):  # at exit the driver may be gone before the object
            self.free()


class PooledDeviceAllocation(_Pooled, PointerHolderBase):
    """Device memory of a pool."""

    def get_pointer(self) -> int:
        """The address; an error after ``free()``."""
        if self._block is None:
            raise LogicError("this memory was freed")
        return int(self._block)


class DeviceMemoryPool(_Pool):
    """Device memory that is kept when it is freed: ``allocator=pool.allocate``."""

    def _make(self, size: int) -> Any:
        return driver.DeviceAllocation(driver.cu.cuMemAlloc(size))

    def allocate(self, size: int) -> PooledDeviceAllocation:
        """A block of at least `size` bytes."""
        return PooledDeviceAllocation(self, size)


class DebugMemoryPool(DeviceMemoryPool):
    """A pool that says what it does on `logfile`, or prints it."""

    def __init__(self, interactive: bool = True, logfile: Any = None) -> None:
        super().__init__()
        del interactive
        self.logfile = logfile

    def allocate(self, size: int) -> PooledDeviceAllocation:
        """A block of at least `size` bytes."""
        text = f"[pool] {size} bytes; {self.active_bytes} active, {self.managed_bytes} managed"
        print(text, file=self.logfile)
        return super().allocate(size)


class PooledHostAllocation(_Pooled, HostPointer):
    """Page-locked memory of a pool; the array's ``base``."""

    def __init__(self, pool: _Pool, size: int) -> None:
        _Pooled.__init__(self, pool, size)
        HostPointer.__init__(self, self._block._address)

    free = _Pooled.free  # type: ignore[assignment]
    __del__ = _Pooled.__del__


class PageLockedAllocator:
    """Makes page-locked memory with flags."""

    def __init__(self, flags: int = 0) -> None:
        self.flags = flags

    def __call__(self, size: int) -> Any:
        return _memory._locked(size, self.flags)


class PageLockedMemoryPool(_Pool):
    """Page-locked memory that is kept when it is freed."""

    def __init__(self, allocator: Callable[[int], Any] | None = None) -> None:
        super().__init__()
        self._make = allocator or PageLockedAllocator()  # type: ignore[method-assign]

    def allocate(self, shape: Any, dtype: Any, order: str = "C") -> np.ndarray[Any, Any]:
        """An array of it; its ``base`` is the block."""
        dims, dtype = _memory._shape(shape), np.dtype(dtype)
        block = PooledHostAllocation(self, max(1, math.prod(dims) * dtype.itemsize))
        return block._array(dims, dtype, order)


# ---- occupancy -----------------------------------------------------------------------------------


class DeviceData:
    """Figures of a device that decide how many blocks run at once."""

    def __init__(self, dev: Device | None = None) -> None:
        device = dev or Context.get_device()
        self.max_threads = device.max_threads_per_block
        self.warp_size = device.warp_size
        self.warps_per_mp = device.max_threads_per_multiprocessor // self.warp_size
        self.thread_blocks_per_mp = device.max_blocks_per_multiprocessor
        self.registers = device.max_registers_per_multiprocessor
        self.shared_memory = device.max_shared_memory_per_multiprocessor
        self.smem_alloc_granularity = self.smem_granularity = 128
        self.register_granularity = 256  # of a warp

    def align(self, bytes: int, word_size: int = 4) -> int:  # noqa: A002
        """Bytes rounded up so that rows of words begin at 64-byte segments."""
        step = self.align_bytes(word_size)
        return -(-bytes // step) * step

    def align_dtype(self, elements: int, dtype_size: int) -> int:
        """Elements rounded up to whole segments."""
        return self.align(elements * dtype_size, min(16, dtype_size)) // dtype_size

    def align_words(self, word_size: int) -> int:
        """Words of a segment."""
        return self.align_bytes(word_size) // word_size

    def align_bytes(self, word_size: int = 4) -> int:
        """Bytes of a segment, for words of 4, 8 or 16 bytes."""
        if word_size not in (4, 8, 16):
            raise ValueError(f"a word has 4, 8 or 16 bytes, not {word_size}")
        return 64 if word_size == 4 else 128

    @staticmethod
    def make_valid_tex_channel_count(size: int) -> int:
        """Channels of a texture that hold so many values."""
        if not 1 <= size <= 4:
            raise ValueError(f"a texture has 1 to 4 channels, not {size}")
        return {1: 1, 2: 2, 3: 4, 4: 4}[size]


class OccupancyRecord:
    """How many blocks of a kernel run at once on a multiprocessor, and what limits them."""

    def __init__(
        self, devdata: DeviceData, threads: int, shared_mem: int = 0, registers: int = 0
    ) -> None:
        if threads > devdata.max_threads:
            raise ValueError(f"{threads} threads are more than a block's {devdata.max_threads}")
        warps = -(-threads // devdata.warp_size)
        step, unit = devdata.smem_alloc_granularity, devdata.register_granularity
        per_warp = -(-registers * devdata.warp_size // unit) * unit
        limits = [
            (devdata.thread_blocks_per_mp, "device"),
            (devdata.warps_per_mp // warps, "warps"),
        ]
        if registers:
            limits.append((devdata.registers // (per_warp * warps), "regs"))
        if shared_mem:
            limits.append((devdata.shared_memory // (-(-shared_mem // step) * step), "smem"))
        self.tb_per_mp, self.limited_by = min(limits)
        self.warps_per_mp = self.tb_per_mp * warps
        self.occupancy = self.warps_per_mp / devdata.warps_per_mp
