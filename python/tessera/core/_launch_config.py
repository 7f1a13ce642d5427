# SPDX-License-Identifier: Apache-2.0
"""How a kernel is launched: grid, block, clusters and all attributes that the driver has."""

from __future__ import annotations

import operator
from typing import Any

from .._core import LaunchConfig as _Packed
from ..bindings import driver
from ._device import Device
from ._errors import CUDAError, cpu_cannot, shown
from ._options import guesses

__all__ = ["LaunchConfig"]

# Field -> (member of CUlaunchAttributeID without its prefix, how the value is written).
_SIMPLE = {
    "is_cooperative": "COOPERATIVE",
    "programmatic_stream_serialization": "PROGRAMMATIC_STREAM_SERIALIZATION",
    "priority": "PRIORITY",
    "shared_memory_carveout": "PREFERRED_SHARED_MEMORY_CARVEOUT",
    "nvlink_util_centric_scheduling": "NVLINK_UTIL_CENTRIC_SCHEDULING",
    "portable_cluster_size_mode": "PORTABLE_CLUSTER_SIZE_MODE",
}


def _dim3(value: Any, name: str) -> tuple[int, int, int]:
    """An int or up to three as three, each 1 or more."""
    given = value if isinstance(value, (tuple, list)) else (value,)
    if not 1 <= len(given) <= 3:
        raise ValueError(f"{name} must be an int or 1 to 3 ints, not {value!r}")
    try:
        numbers = [int(n.__index__()) for n in given]
    except AttributeError:
        raise TypeError(f"{name} must be ints, not {value!r}") from None
    if any(n < 1 or n >= 2**32 for n in numbers):
        raise ValueError(f"each of {name} must be 1 to {2**32 - 1}, not {value!r}")
    x, y, z = numbers + [1] * (3 - len(numbers))
    return x, y, z


def _bytes(value: Any) -> int:
    if not hasattr(value, "__index__"):
        raise TypeError(f"shmem_size must be an int, not {type(value).__name__}")
    if not 0 <= operator.index(value) < 2**32:
        raise ValueError(f"shmem_size must be 0 or more bytes, not {value}")
    return operator.index(value)


@guesses
class LaunchConfig(_Packed):
    """The shape of a launch and how the driver runs it; equal configurations are interchangeable.

    Parameters
    ----------
    grid : int or up to 3 ints
        Blocks along each axis; with ``cluster``, clusters.
    cluster : int or up to 3 ints, optional
        Blocks of a cluster along each axis (compute capability 9.0 or newer).
    block : int or up to 3 ints
        Threads of a block along each axis.
    shmem_size : int
        Bytes of dynamic shared memory of a block.
    is_cooperative : bool
        Whether the whole grid runs at once and may wait for itself; checked at the launch.
    programmatic_stream_serialization : bool
        Whether the kernel may begin before the one ahead of it in the stream has ended.
    priority : int, optional
        Of the kernel, instead of the stream's.
    preferred_cluster : int or up to 3 ints, optional
        A larger cluster to use where it fits; a multiple of ``cluster``.
    shared_memory_carveout : int, optional
        Preferred share of shared memory of the L1 cache in percent.
    attributes : mapping, optional
        Any other attributes: member of ``CUlaunchAttributeID`` -> value (an int, or for struct
        values a function that fills the attribute's ``value``).
    """

    __slots__ = (
        "__weakref__", "_block", "_cluster", "_grid", "_options", "_preferred", "_shmem_size",
    )  # fmt: skip

    def __init__(
        self,
        grid: Any = None,
        cluster: Any = None,
        block: Any = None,
        shmem_size: int | None = None,
        is_cooperative: bool = False,
        programmatic_stream_serialization: bool = False,
        priority: int | None = None,
        *,
        preferred_cluster: Any = None,
        shared_memory_carveout: int | None = None,
        attributes: Any = None,
    ) -> None:
        if grid is None:
            raise ValueError("LaunchConfig needs a grid")
        self._grid = _dim3(grid, "LaunchConfig.grid")
        self._block = _dim3(1 if block is None else block, "LaunchConfig.block")
        self._cluster = None if cluster is None else _dim3(cluster, "LaunchConfig.cluster")
        self._preferred = (
            None if preferred_cluster is None else _dim3(preferred_cluster, "preferred_cluster")
        )
        self._shmem_size = 0 if shmem_size is None else _bytes(shmem_size)
        self._options = {
            "is_cooperative": bool(is_cooperative),
            "programmatic_stream_serialization": bool(programmatic_stream_serialization),
            "priority": priority,
            "shared_memory_carveout": shared_memory_carveout,
            **dict(attributes or {}),
        }
        if (cluster is not None or is_cooperative) and Device()._is_cpu:
            named = "is_cooperative" if cluster is None else "cluster"
            raise cpu_cannot(f"launches with LaunchConfig.{named}")
        if cluster is not None and Device().compute_capability < (9, 0):
            _unsupported("thread block clusters are not supported before compute capability 9.0")
        if is_cooperative and not Device().properties.cooperative_launch:
            _unsupported("cooperative kernels are not supported on this device")
        self._repack()

    def _repack(self) -> None:
        """Writes what the driver reads; after every change."""
        factor = self._cluster or (1, 1, 1)
        blocks = tuple(n * c for n, c in zip(self._grid, factor, strict=True))
        if any(n >= 2**32 for n in blocks):
            raise ValueError(f"a grid of {blocks} blocks is more than the driver takes")
        attributes = self._attributes()
        data = b"".join(bytes(memoryview(a)) for a in attributes)
        self._pack(
            blocks, self._block, self._shmem_size, data, bool(self._options["is_cooperative"])
        )

    def _given(self) -> dict[Any, Any]:
        """The options that are told to the driver: 0 is one, None and False are not."""
        return {k: v for k, v in self._options.items() if v is not None and v is not False}

    def _attributes(self) -> list[Any]:
        """The CUlaunchAttributes of this launch."""
        rows = self._given().items()
        made = [_attribute(_SIMPLE.get(str(name), name), value) for name, value in rows]
        for name, dims in (
            ("CLUSTER_DIMENSION", self._cluster),
            ("PREFERRED_CLUSTER_DIMENSION", self._preferred),
        ):
            if dims is not None:
                made.append(_attribute(name, dims))
        return made

    def _check(self, kernel: Any) -> None:
        """ValueError where a cooperative grid cannot be resident at once; called by ``launch``."""
        blocks = self._grid[0] * self._grid[1] * self._grid[2]
        threads = self._block[0] * self._block[1] * self._block[2]
        resident = driver.checked.cuOccupancyMaxActiveBlocksPerMultiprocessor(
            kernel._address, threads, self._shmem_size
        )
        room = resident * Device(kernel._device & 255).properties.multiprocessor_count
        if blocks > room:
            raise ValueError(
                f"the grid of {blocks} blocks is too large for a cooperative launch: "
                f"{room} blocks of {threads} threads can be resident at once"
            )

    def _identity(self) -> tuple[Any, ...]:
        options = tuple(sorted(((str(k), v) for k, v in self._given().items()), key=str))
        return self._grid, self._cluster, self._block, self._shmem_size, self._preferred, options

    def __eq__(self, other: object) -> bool:
        return (
            self._identity() == other._identity()
            if isinstance(other, LaunchConfig)
            else NotImplemented
        )

    def __hash__(self) -> int:
        return hash(self._identity())

    def __repr__(self) -> str:
        others = {k: v for k, v in self._given().items() if k != "is_cooperative"}
        options = "".join(f", {k}={v!r}" for k, v in others.items())
        return (
            f"LaunchConfig(grid={self._grid}, cluster={self._cluster}, block={self._block}, "
            f"shmem_size={self._shmem_size}, is_cooperative={self.is_cooperative}{options})"
        )


def _unsupported(text: str) -> None:
    raise CUDAError("LaunchConfig", driver.CUresult.CUDA_ERROR_NOT_SUPPORTED, text)


def _attribute(name: Any, value: Any) -> Any:
    """One CUlaunchAttribute. ``value``: an int, three ints, or a function that fills the union."""
    member = _member(name)
    made = driver.CUlaunchAttribute()
    made.id = member
    union = made.value
    if callable(value):
        value(union)
    elif isinstance(value, tuple):
        field = union.clusterDim if "PREFERRED" not in member.name else union.preferredClusterDim
        field.x, field.y, field.z = value
    else:
        memoryview(made)[8:12] = _word(member, value)
    return made


def _member(name: Any) -> Any:
    """The attribute's number by its name, whole or without CU_LAUNCH_ATTRIBUTE_."""
    if not isinstance(name, str):
        return driver.CUlaunchAttributeID(name)
    prefix, known = "CU_LAUNCH_ATTRIBUTE_", driver.CUlaunchAttributeID.__members__
    word = prefix + name.upper().removeprefix(prefix)
    if word not in known:
        raise ValueError(f"no launch attribute is called {shown(name)}; see CUlaunchAttributeID")
    return known[word]


def _word(member: Any, value: Any) -> bytes:
    """An attribute's value of 4 bytes."""
    if not -(2**31) <= int(value) < 2**32:
        raise ValueError(f"{member.name}: {value} does not fit 4 bytes")
    return int(value).to_bytes(4, "little", signed=int(value) < 0)


def _field(name: str, read: Any, doc: str, convert: Any = None) -> property:
    """A field that repacks when it is set."""

    def put(self: LaunchConfig, value: Any) -> None:
        before = getattr(self, f"_{name}")
        setattr(self, f"_{name}", convert(value) if convert and value is not None else value)
        try:
            self._repack()
        except Exception:
            setattr(self, f"_{name}", before)
            raise

    return property(read, put, doc=doc)


def _option(name: str, doc: str) -> property:
    def put(self: LaunchConfig, value: Any) -> None:
        before = self._options[name]
        self._options[name] = value
        try:
            self._repack()
        except Exception:
            self._options[name] = before
            raise

    return property(lambda self: self._options[name], put, doc=doc)


def _add_fields() -> None:
    for name, doc in (("grid", "Blocks, or clusters, along each axis."), ("block", "Threads along each axis."),
                      ("cluster", "Blocks of a cluster along each axis, or None.")):  # fmt: skip

        def read(self: LaunchConfig, name: str = name) -> Any:
            return getattr(self, f"_{name}")

        def three(value: Any, name: str = name) -> Any:
            return _dim3(value, f"LaunchConfig.{name}")

        setattr(LaunchConfig, name, _field(name, read, doc, three))
    shmem = _field(
        "shmem_size", lambda self: self._shmem_size, "Bytes of dynamic shared memory.", _bytes
    )
    LaunchConfig.shmem_size = shmem  # type: ignore[attr-defined]
    for name in (
        "is_cooperative",
        "programmatic_stream_serialization",
        "priority",
        "shared_memory_carveout",
    ):
        setattr(LaunchConfig, name, _option(name, f"See the parameter {name}."))


_add_fields()


def _to_native_launch_config(config: LaunchConfig) -> driver.CUlaunchConfig:
    """What the driver is told, as a struct of the bindings."""
    native = driver.CUlaunchConfig()
    factor = config._cluster or (1, 1, 1)
    native.gridDimX, native.gridDimY, native.gridDimZ = (
        n * c for n, c in zip(config._grid, factor, strict=True)
    )
    native.blockDimX, native.blockDimY, native.blockDimZ = config._block
    native.sharedMemBytes = config._shmem_size
    native.attrs = attributes = config._attributes()
    native.numAttrs = len(attributes)
    return native
