# SPDX-License-Identifier: Apache-2.0
"""What is asked about a kernel: attributes of its code, and occupancy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from ..bindings import driver

if TYPE_CHECKING:
    from ._kernel import Kernel

__all__ = ["KernelAttributes", "KernelOccupancy", "MaxPotentialBlockSizeOccupancyResult"]

# Attribute -> (what CUDA calls it, type, whether it can be set).
_ATTRIBUTES: dict[str, tuple[str, type, bool]] = {
    "max_threads_per_block": ("MAX_THREADS_PER_BLOCK", int, False),
    "shared_size_bytes": ("SHARED_SIZE_BYTES", int, False),
    "const_size_bytes": ("CONST_SIZE_BYTES", int, False),
    "local_size_bytes": ("LOCAL_SIZE_BYTES", int, False),
    "num_regs": ("NUM_REGS", int, False),
    "ptx_version": ("PTX_VERSION", int, False),
    "binary_version": ("BINARY_VERSION", int, False),
    "cache_mode_ca": ("CACHE_MODE_CA", bool, False),
    "max_dynamic_shared_size_bytes": ("MAX_DYNAMIC_SHARED_SIZE_BYTES", int, True),
    "preferred_shared_memory_carveout": ("PREFERRED_SHARED_MEMORY_CARVEOUT", int, True),
    "cluster_size_must_be_set": ("CLUSTER_SIZE_MUST_BE_SET", bool, False),
    "required_cluster_width": ("REQUIRED_CLUSTER_WIDTH", int, True),
    "required_cluster_height": ("REQUIRED_CLUSTER_HEIGHT", int, True),
    "required_cluster_depth": ("REQUIRED_CLUSTER_DEPTH", int, True),
    "non_portable_cluster_size_allowed": ("NON_PORTABLE_CLUSTER_SIZE_ALLOWED", bool, True),
    "cluster_scheduling_policy_preference": ("CLUSTER_SCHEDULING_POLICY_PREFERENCE", int, True),
}


class MaxPotentialBlockSizeOccupancyResult(NamedTuple):
    """The block that fills a device best, and the grid that does it with such blocks."""

    min_grid_size: int
    max_block_size: int


def _attribute(name: str) -> property:
    word, kind, is_settable = _ATTRIBUTES[name]

    def get(self: KernelAttributes) -> Any:
        which = driver.CUfunction_attribute[f"CU_FUNC_ATTRIBUTE_{word}"]
        return kind(
            driver.checked.cuKernelGetAttribute(which, self._kernel.handle, self._ordinal())
        )

    def put(self: KernelAttributes, value: int) -> None:
        which = driver.CUfunction_attribute[f"CU_FUNC_ATTRIBUTE_{word}"]
        driver.checked.cuKernelSetAttribute(which, int(value), self._kernel.handle, self._ordinal())

    return property(get, put if is_settable else None, doc=f"CU_FUNC_ATTRIBUTE_{word}")


class KernelAttributes:
    """What the compiler and the driver say about a kernel on a device.

    ``kernel.attributes.num_regs`` is that of the current device, ``kernel.attributes[1].num_regs``
    of device 1. Beyond the peer, those that CUDA lets be set can be set:
    ``kernel.attributes.max_dynamic_shared_size_bytes = 100_000`` opts in to more than 48 KiB.
    """

    __slots__ = ("_device", "_kernel")

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> int: ...  # each of _ATTRIBUTES

        def __setattr__(self, name: str, value: Any) -> None: ...

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        raise RuntimeError(
            "KernelAttributes cannot be instantiated directly. Please use Kernel.attributes."
        )

    @classmethod
    def _of(cls, kernel: Kernel, device: int | None = None) -> KernelAttributes:
        self = object.__new__(cls)
        self._kernel, self._device = kernel, device
        return self

    def _ordinal(self) -> int:
        return int(driver.checked.cuCtxGetDevice()) if self._device is None else self._device

    def __getitem__(self, device: Any) -> KernelAttributes:
        """The attributes on a Device or the device of an ordinal."""
        from . import Device

        ordinal = Device(device).device_id
        return KernelAttributes._of(self._kernel, ordinal)

    def __dir__(self) -> list[str]:
        return sorted([*object.__dir__(self), *_ATTRIBUTES])


for _name in _ATTRIBUTES:
    setattr(KernelAttributes, _name, _attribute(_name))


def _launch_config(config: Any, stream: Any) -> Any:
    """A CUlaunchConfig for questions about a LaunchConfig."""
    from . import Stream

    handle = stream.handle if hasattr(stream, "handle") else Stream._init(stream).handle
    cluster = config.cluster
    grid = [n * (cluster[i] if cluster else 1) for i, n in enumerate(config.grid)]
    made = driver.CUlaunchConfig()
    made.gridDimX, made.gridDimY, made.gridDimZ = grid
    made.blockDimX, made.blockDimY, made.blockDimZ = config.block
    made.sharedMemBytes, made.hStream = config.shmem_size, handle
    if cluster:
        row = driver.CUlaunchAttribute()
        row.id = driver.CUlaunchAttributeID.CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION
        row.value.clusterDim.x, row.value.clusterDim.y, row.value.clusterDim.z = cluster
        made.attrs, made.numAttrs = [row], 1
    return made


def _callback_address(callback: Any) -> int:
    """The C function: the value of ``CUoccupancyB2DSize(address)``; programs of the peer write
    ``CUoccupancyB2DSize(_ptr=address)`` for it."""
    where = callback.getPtr()
    is_own = id(callback) <= where < id(callback) + type(callback).__basicsize__
    return int(callback) if is_own else int(where)


class KernelOccupancy:
    """How many blocks and clusters of a kernel a device holds at a time."""

    __slots__ = ("_kernel",)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        raise RuntimeError(
            "KernelOccupancy cannot be instantiated directly. Please use Kernel.occupancy."
        )

    @classmethod
    def _of(cls, kernel: Kernel) -> KernelOccupancy:
        self = object.__new__(cls)
        self._kernel = kernel
        return self

    def _function(self) -> Any:
        return driver.CUfunction(int(self._kernel.handle))

    def max_active_blocks_per_multiprocessor(
        self, block_size: int, dynamic_shared_memory_size: int
    ) -> int:
        """Blocks of ``block_size`` threads that one multiprocessor runs at a time."""
        return int(
            driver.checked.cuOccupancyMaxActiveBlocksPerMultiprocessor(
                self._function(), block_size, dynamic_shared_memory_size
            )
        )

    def max_potential_block_size(
        self, dynamic_shared_memory_needed: Any, block_size_limit: int
    ) -> MaxPotentialBlockSizeOccupancyResult:
        """The block that fills the device best, with a constant number of bytes of shared memory or
        a CUoccupancyB2DSize that tells them for a block; a limit of 0 is none."""
        needed = dynamic_shared_memory_needed
        if isinstance(needed, driver.CUoccupancyB2DSize):
            function, size = driver.CUoccupancyB2DSize(_callback_address(needed)), 0
        elif isinstance(needed, int):
            function, size = None, needed
        else:
            raise TypeError(
                "dynamic_shared_memory_needed must be an int or a CUoccupancyB2DSize, "
                f"not {type(needed).__name__}"
            )
        found = driver.checked.cuOccupancyMaxPotentialBlockSize(
            self._function(), function, size, block_size_limit
        )
        return MaxPotentialBlockSizeOccupancyResult(*map(int, found))

    def available_dynamic_shared_memory_per_block(
        self, num_blocks_per_multiprocessor: int, block_size: int
    ) -> int:
        """Bytes that each of so many blocks on one multiprocessor can have."""
        return int(
            driver.checked.cuOccupancyAvailableDynamicSMemPerBlock(
                self._function(), num_blocks_per_multiprocessor, block_size
            )
        )

    def max_potential_cluster_size(self, config: Any, *, stream: Any) -> int:
        """The largest cluster that a launch could have."""
        made = _launch_config(config, stream)
        return int(driver.checked.cuOccupancyMaxPotentialClusterSize(self._function(), made))

    def max_active_clusters(self, config: Any, *, stream: Any) -> int:
        """Clusters of a launch that the device runs at a time."""
        made = _launch_config(config, stream)
        return int(driver.checked.cuOccupancyMaxActiveClusters(self._function(), made))
