# SPDX-License-Identifier: Apache-2.0
"""What is known of compiled kernels: registers, memory, where the code came from."""

from __future__ import annotations

import re
from collections.abc import Callable
from math import prod
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ._dispatcher import Dispatcher
    from ._overload import Overload

__all__ = ["block_of", "fact_of", "resident_blocks", "stats_of"]

# The driver's numbers of these attributes (CU_FUNC_ATTRIBUTE_*).
_ATTRIBUTES = {
    "max_threads_per_block": 0,
    "shared_mem_per_block": 1,
    "const_mem_size": 2,
    "local_mem_per_thread": 3,
    "regs_per_thread": 4,
}


_LOCAL = re.compile(r"= local bytes=(\d+)")
_TEXT, _ESCAPE = re.compile(r'\bprintf "((?:[^"\\]|\\.)*)"'), re.compile(r"\\(?:x[0-9a-f]{2}|.)")
_CONSTANT = re.compile(r"^constant @.* : tile<((?:\d+x)*)[a-z]+(\d+)", re.MULTILINE)


def _constant_bytes(overload: Overload) -> int:
    """Of the arrays and texts that are compiled in: they lie in global memory, which the driver does not count."""
    ir = overload.inspect_ir()
    arrays = _CONSTANT.findall(ir)
    texts = (_ESCAPE.sub("_", text) for text in _TEXT.findall(ir))
    return sum(prod(map(int, extents.split("x")[:-1])) * max(int(bits), 8) // 8 for extents, bits in arrays) + sum(
        len(text.encode()) + 1 for text in texts
    )


def _threads(overload: Overload) -> int:
    return int(overload.code(_target())[1]["threads"]) or 1024


# What a kernel asks for by itself: known without a GPU.
_ASKED: dict[str, Callable[[Overload], int]] = {
    "shared_mem_per_block": lambda overload: int(overload.code(_target())[1]["shared_bytes"]),
    "local_mem_per_thread": lambda overload: sum(map(int, _LOCAL.findall(overload.inspect_ir()))),
    "const_mem_size": _constant_bytes,
    "max_threads_per_block": _threads,
}


def _target() -> int:
    from ._overload import target_of_device

    return target_of_device()


def _loaded(overload: Overload, target: int) -> tuple[Any, dict[str, Any]]:
    """The driver's kernel, with the code that is linked to it, and what a launch must know of it."""
    from ..core import ObjectCode

    (code, plan), links = overload.code(target), overload._links()
    if links:
        from ._linking import linked

        return ObjectCode.from_cubin(linked(code, links)).get_kernel(plan["name"]), plan
    return ObjectCode.from_ptx(code).get_kernel(plan["name"]), plan


def fact_of(overload: Overload, name: str) -> int:
    """A number of the code of one signature, as the driver tells it. On the CPU device what the kernel asks for by
    itself (its arrays, its bounds); DeviceError for registers, which only a GPU has."""
    from ..core import Device

    device = Device()
    if name == "shared_mem_per_block" or (device.device_id < 0 and name in _ASKED):
        return _ASKED[name](overload)
    if device.device_id < 0:
        from ..core._errors import cpu_cannot

        raise cpu_cannot("registers to ask for")
    from ..bindings import driver

    kernel, _ = _loaded(overload, int(device.arch))
    attribute = driver.CUfunction_attribute(_ATTRIBUTES[name])
    found = int(driver.checked.cuKernelGetAttribute(attribute, kernel.handle, device.device_id))
    return found + _constant_bytes(overload) if name == "const_mem_size" else found


def resident_blocks(overload: Overload, blockdim: Any, shared_bytes: int) -> int:
    """How many blocks of a kernel the current device runs at once."""
    from .. import _core
    from ..core import Device

    device = Device()
    if device.device_id < 0:
        return int(_core.CPU_COOPERATIVE_BLOCKS)
    kernel, plan = _loaded(overload, int(device.arch))
    threads = prod(blockdim) if isinstance(blockdim, (tuple, list)) else int(blockdim)
    each = kernel.occupancy.max_active_blocks_per_multiprocessor(threads, plan["shared_bytes"] + shared_bytes)
    return each * int(device.properties.multiprocessor_count)


def block_of(blockdim: Any) -> tuple[int, int, int]:
    """Threads along x, y and z."""
    given = tuple(blockdim) if isinstance(blockdim, (tuple, list)) else (blockdim,)
    if len(given) > 3 or not all(isinstance(n, int) and n > 0 for n in given) or prod(given) > 1024:
        raise ValueError(f"a block has 1 to 1024 threads, an int or a tuple of up to three, not {blockdim!r}")
    x, y, z = (*given, 1, 1)[:3]
    return x, y, z


class _Stats(dict):  # type: ignore[type-arg]
    """``stats.cache_hits`` and ``stats["cache_hits"]``."""

    def __getattr__(self, name: str) -> Any:
        return self[name]


def stats_of(kernel: Dispatcher) -> Any:
    """Counts of code that was found in the cache and code that was compiled."""
    from .._cache import folder

    found = kernel._stats()
    return _Stats(
        cache_path=str(folder() or ""),
        cache_hits={"all": found["from_disk"] + found["from_memory"]},
        cache_misses={"all": found["compiled"]},
    )
