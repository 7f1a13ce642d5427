# SPDX-License-Identifier: Apache-2.0
"""MipmappedArray: a CUDA array with its smaller versions."""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from typing import Any

from ...bindings import driver
from .._options import options_of
from ._array import OpaqueArray, OpaqueArrayOptions
from ._closing import Shaped
from ._format import descriptor

__all__ = ["MipmappedArray", "MipmappedArrayOptions"]


@dataclass
class MipmappedArrayOptions(OpaqueArrayOptions):
    """As OpaqueArrayOptions, with the number of levels, each half as large as the one before."""

    num_levels: int = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.num_levels < 1:
            raise ValueError(f"num_levels must be >= 1, got {self.num_levels}")


class MipmappedArray(Shaped):
    """Made by ``device.create_mipmapped_array(MipmappedArrayOptions(...))``."""

    __slots__ = ("_levels",)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        raise RuntimeError(
            "MipmappedArray cannot be instantiated directly. Please use "
            "Device.create_mipmapped_array()."
        )

    @classmethod
    def _init(cls, device: Any, options: Any) -> MipmappedArray:
        self = object.__new__(cls)
        self._device, self._options = device, options_of(MipmappedArrayOptions, options)
        made = descriptor(self._options)
        owner = _Levels(int(driver.checked.cuMipmappedArrayCreate(made, self._options.num_levels)))
        self._handle, self._end = owner.handle, None
        self._levels: _Levels | None = owner
        return self

    def close(self) -> None:
        """Gives the memory back once no level is in use. Again does nothing."""
        self._handle, self._levels = 0, None

    @property
    def num_levels(self) -> int:
        """Number of levels."""
        return int(self._options.num_levels)

    def get_level(self, level: int) -> OpaqueArray:
        """One level as an array; it keeps the memory of all."""
        if level < 0:
            raise ValueError(f"level must be >= 0, got {level}")
        if level >= self.num_levels:
            raise ValueError(f"level must be < num_levels ({self.num_levels}), got {level}")
        handle = int(driver.checked.cuMipmappedArrayGetLevel(self._live, level))
        shape = tuple(max(1, extent >> level) for extent in self.shape)
        return OpaqueArray._of(
            self._device, replace(self._options, shape=shape), handle, None, self._levels
        )

    def __repr__(self) -> str:
        return (
            f"MipmappedArray(shape={self.shape}, format={self.format}, "
            f"num_channels={self.num_channels}, num_levels={self.num_levels})"
        )


class _Levels:
    """The memory of all levels."""

    def __init__(self, handle: int) -> None:
        self.handle, self.end = handle, driver.checked.cuMipmappedArrayDestroy

    def __del__(self) -> None:
        if sys is not None and not sys.is_finalizing():
            self.end(self.handle)
