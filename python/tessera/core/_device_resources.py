# SPDX-License-Identifier: Apache-2.0
"""What of a GPU can be divided among green contexts: its SMs and its work queues."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..bindings import driver
from ._errors import CUDAError, no_constructor
from ._options import options_of
from .typing import WorkqueueSharingScopeType

if TYPE_CHECKING:
    from ._context import Context
    from ._device import Device

__all__ = [
    "DeviceResources",
    "SMResource",
    "SMResourceOptions",
    "WorkqueueResource",
    "WorkqueueResourceOptions",
]


@dataclass
class SMResourceOptions:
    """How SMs are split into groups. Sequences give a value for each group.

    Attributes
    ----------
    count : int or sequence of int, optional
        SMs of each group; None: one group with as many as can be.
    coscheduled_sm_count, preferred_coscheduled_sm_count : int or sequence of int, optional
        SMs that run blocks of one cluster together (drivers from CUDA 13.1).
    backfill : bool or sequence of bool
        Whether SMs that cannot work together may fill a group up.
    """

    count: int | Sequence[int] | None = None
    coscheduled_sm_count: int | Sequence[int] | None = None
    preferred_coscheduled_sm_count: int | Sequence[int] | None = None
    backfill: bool | Sequence[bool] = False


@dataclass
class WorkqueueResourceOptions:
    """How the work queues are shared.

    Attributes
    ----------
    sharing_scope : "device_ctx" or "green_ctx_balanced", optional
    concurrency_limit : int, optional
        Streams that are expected to work at the same time.
    """

    sharing_scope: WorkqueueSharingScopeType | str | None = None
    concurrency_limit: int | None = None

    def __post_init__(self) -> None:
        if self.sharing_scope is not None:
            self.sharing_scope = WorkqueueSharingScopeType(self.sharing_scope)
        if self.concurrency_limit is not None and self.concurrency_limit < 1:
            raise ValueError(f"concurrency_limit must be >= 1, not {self.concurrency_limit}")


class SMResource:
    """SMs of a GPU or of a context. Made by ``device.resources.sm`` and ``split``."""

    __slots__ = ("_is_dry", "_resource")
    _resource: Any  # CUdevResource
    _is_dry: bool

    def __init__(self, *args: object, **kwargs: object) -> None:
        no_constructor("SMResource", "Device.resources.sm or SMResource.split()")

    @classmethod
    def _of(cls, resource: Any, is_dry: bool = False) -> SMResource:
        self = object.__new__(cls)
        self._resource, self._is_dry = resource, is_dry
        return self

    @property
    def handle(self) -> int:
        """The address of the CUdevResource."""
        return int(self._resource.getPtr())

    @property
    def sm_count(self) -> int:
        """SMs in it."""
        return int(self._resource.sm.smCount)

    @property
    def min_partition_size(self) -> int:
        """The fewest SMs of a group."""
        return int(self._resource.sm.minSmPartitionSize)

    @property
    def coscheduled_alignment(self) -> int:
        """What the SMs of a group are a multiple of."""
        return int(self._resource.sm.smCoscheduledAlignment)

    @property
    def flags(self) -> int:
        """Flags of the driver; 0 before CUDA 13.1."""
        return 0

    def split(self, options: Any, *, dry_run: bool = False) -> tuple[list[SMResource], SMResource]:
        """Divides the SMs.

        Parameters
        ----------
        options : SMResourceOptions or dict
        dry_run : bool
            Only tells what would come out; contexts cannot be made of it.

        Returns
        -------
        list of SMResource, SMResource
            The groups, and what is left.
        """
        counts, is_backfilled = _checked(options_of(SMResourceOptions, options))
        if counts is None:
            step = max(self.coscheduled_alignment, 1)
            counts = [max(self.sm_count // step * step, self.min_partition_size)]
        flag = driver.CUdevSmResourceSplit_flags.CU_DEV_SM_RESOURCE_SPLIT_IGNORE_SM_COSCHEDULING
        groups: list[Any] = []
        rest = self._resource
        for count, n in _runs(counts):
            made, rest = _split(rest, n, count, int(flag) if is_backfilled else 0)
            groups += made
        return [SMResource._of(group, dry_run) for group in groups], SMResource._of(rest, dry_run)


def _checked(o: SMResourceOptions) -> tuple[list[int] | None, bool]:
    """(SMs of each group or None, whether groups are filled up); ValueError for options that do not
    fit."""
    is_scalar = o.count is None or isinstance(o.count, int)
    n = 1 if is_scalar else len(o.count)  # type: ignore[arg-type]
    for name in ("coscheduled_sm_count", "preferred_coscheduled_sm_count", "backfill"):
        value = getattr(o, name)
        if not isinstance(value, Sequence):
            continue
        if is_scalar:
            raise ValueError(f"count is scalar, so {name} must be one too, not {value!r}")
        if len(value) != n:
            raise ValueError(f"{name} has {len(value)} entries, expected {n}: one for each count")
    counts = None if o.count is None else [o.count] if is_scalar else list(o.count)  # type: ignore[list-item,arg-type]
    if counts is not None and any(count < 0 for count in counts):
        raise ValueError(f"count must be non-negative, not {o.count!r}")
    if o.coscheduled_sm_count is not None or o.preferred_coscheduled_sm_count is not None:
        raise RuntimeError("co-scheduled SM counts need the interfaces of CUDA 13.1")
    fills = list(o.backfill) if isinstance(o.backfill, Sequence) else [o.backfill]
    return counts, any(fills)


def _runs(counts: list[int]) -> list[tuple[int, int]]:
    """(count, how often it follows itself): groups of one size are one call."""
    found: list[tuple[int, int]] = []
    for count in counts:
        if found and found[-1][0] == count:
            found[-1] = count, found[-1][1] + 1
        else:
            found.append((count, 1))
    return found


def _split(resource: Any, n: int, count: int, flags: int) -> tuple[list[Any], Any]:
    found, _, rest = driver.checked.cuDevSmResourceSplitByCount(n, resource, flags, count)
    groups = list(found)
    if len(groups) < n:
        code = driver.CUresult.CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION
        text = f"the SMs give {len(groups)} groups of {count}, not {n}"
        raise CUDAError("cuDevSmResourceSplitByCount", code, text)
    return groups, rest


class WorkqueueResource:
    """The work queues of a GPU or of a context; needs the interfaces of CUDA 13.1."""

    __slots__ = ()

    def __init__(self, *args: object, **kwargs: object) -> None:
        no_constructor("WorkqueueResource", "Device.resources.workqueue")


class DeviceResources:
    """What of a GPU, or of a context of it, can be divided."""

    __slots__ = ("_ask",)

    def __init__(self, *args: object, **kwargs: object) -> None:
        no_constructor("DeviceResources", "Device.resources or Context.resources")

    @classmethod
    def _of(cls, ask: Any) -> DeviceResources:
        self = object.__new__(cls)
        self._ask = ask
        return self

    @classmethod
    def _init(cls, device: Device) -> DeviceResources:
        return cls._of(lambda kind: driver.checked.cuDeviceGetDevResource(device.device_id, kind))

    @classmethod
    def _init_from_context(cls, context: Context) -> DeviceResources:
        if context.is_green:
            return cls._of(
                lambda kind: driver.checked.cuGreenCtxGetDevResource(context._green_handle, kind)
            )
        return cls._of(lambda kind: driver.checked.cuCtxGetDevResource(context.handle, kind))

    @property
    def sm(self) -> SMResource:
        """The SMs."""
        return SMResource._of(self._ask(driver.CUdevResourceType.CU_DEV_RESOURCE_TYPE_SM))

    @property
    def workqueue(self) -> WorkqueueResource:
        """The work queues; RuntimeError before CUDA 13.1."""
        raise RuntimeError("work queues as resources need the interfaces of CUDA 13.1")


def describe(resources: Any, device: Device) -> Any:
    """The CUdevResourceDesc of what a context may use."""
    listed = list(resources)
    if not listed:
        raise ValueError("resources must be provided: what part of the GPU the context may use")
    for resource in listed:
        if not isinstance(resource, SMResource):
            raise TypeError(f"resources must be SMResource objects, not {type(resource).__name__}")
        if resource._is_dry:
            raise ValueError(
                "a dry-run SMResource cannot be used for a context; split again without dry_run"
            )
    return driver.checked.cuDevResourceGenerateDesc([r._resource for r in listed], len(listed))
