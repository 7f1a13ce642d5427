# SPDX-License-Identifier: Apache-2.0
"""SurfaceObject: through which kernels read and write a CUDA array."""

from __future__ import annotations

from typing import Any

from ...bindings import driver
from ._closing import Closing
from ._texture import ResourceDescriptor

__all__ = ["SurfaceObject"]


class SurfaceObject(Closing):
    """Made by ``device.create_surface_object(resource=...)``; ``handle`` is a kernel's argument."""

    __slots__ = ("device", "resource")
    device: Any
    resource: ResourceDescriptor

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        raise RuntimeError(
            "SurfaceObject cannot be instantiated directly. Please use "
            "Device.create_surface_object()."
        )

    @classmethod
    def _init(cls, device: Any, resource: Any) -> SurfaceObject:
        if not isinstance(resource, ResourceDescriptor):
            raise TypeError(f"resource must be a ResourceDescriptor, not {type(resource).__name__}")
        if resource.kind != "array":
            raise ValueError(
                f"a surface needs an array-backed resource, not one of {resource.kind}"
            )
        if not resource.source.is_surface_load_store:
            raise ValueError("the array must be made with is_surface_load_store=True")
        self = object.__new__(cls)
        self.resource, self.device = resource, device
        self._handle = int(driver.checked.cuSurfObjectCreate(resource._made()))
        self._end = driver.checked.cuSurfObjectDestroy
        return self

    def __repr__(self) -> str:
        return f"SurfaceObject(handle={self._handle:#x})"
