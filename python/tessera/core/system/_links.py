# SPDX-License-Identifier: Apache-2.0
"""Parts of a GPU that are counted: its fans and its NVLinks."""

from __future__ import annotations

import warnings
from typing import Any

from ...bindings import nvml
from . import typing as words
from ._nvml_context import ask, record

__all__ = ["FanInfo", "NvlinkInfo"]


class FanInfo:
    """A fan: speeds are percents of the most that noise allows, and may exceed 100."""

    __slots__ = ("_fan", "_handle")

    def __init__(self, handle: Any, fan: int) -> None:
        self._handle, self._fan = handle, fan

    def _ask(self, function: str, *args: Any) -> Any:
        return ask(function, self._handle, self._fan, *args)

    @property
    def speed(self) -> int:
        """The speed that is meant; setting it needs permission and makes the policy manual."""
        return int(self._ask("DeviceGetFanSpeed_v2"))

    @speed.setter
    def speed(self, speed: int) -> None:
        self._ask("DeviceSetFanSpeed_v2", speed)

    @property
    def speed_rpm(self) -> int:
        """The speed in rotations a minute."""
        told = record(
            "DeviceGetFanSpeedRPM", self._handle, of="FanSpeedInfo_v1_t", version=1, fan=self._fan
        )
        return int(told.speed)

    @property
    def target_speed(self) -> int:
        """The speed that the driver is after."""
        return int(self._ask("DeviceGetTargetFanSpeed"))

    @property
    def min_max_speed(self) -> tuple[int, int]:
        """The slowest and the fastest that can be set."""
        slow, fast = ask("DeviceGetMinMaxFanSpeed", self._handle)
        return int(slow), int(fast)

    @property
    def control_policy(self) -> Any:
        """A FanControlPolicy: by temperature or by hand."""
        number = int(self._ask("DeviceGetFanControlPolicy_v2"))
        return words.word_of(words.FanControlPolicy, number)  # type: ignore[attr-defined]

    def set_default_speed(self) -> None:
        """Gives the fan back to the driver."""
        self._ask("DeviceSetDefaultFanSpeed_v2")


class _Links(type):
    @property
    def max_links(cls) -> int:
        """Deprecated: NVML's constant; a device knows its own number."""
        warnings.warn(
            "max_links is deprecated; use Device.get_nvlink_count()", DeprecationWarning, 2
        )
        return int(nvml.NVML_NVLINK_MAX_LINKS)


class NvlinkInfo(metaclass=_Links):
    """A link."""

    __slots__ = ("_handle", "_link")

    def __init__(self, device: Any, link: int) -> None:
        self._handle, self._link = device._handle, link

    @property
    def version(self) -> tuple[int, int]:
        """(4, 0); RuntimeError for a version that this library does not know."""
        number = int(ask("DeviceGetNvLinkVersion", self._handle, self._link))
        names = {int(member): member.name for member in nvml.nvmlNvlinkVersion_t}
        major, _, minor = names.get(number, "").removeprefix("NVML_NVLINK_VERSION_").partition("_")
        if not minor.isdigit():
            raise RuntimeError(f"NVML tells an unknown version of NVLink, {number}")
        return int(major), int(minor)

    @property
    def state(self) -> bool:
        """Whether it is up."""
        return bool(int(ask("DeviceGetNvLinkState", self._handle, self._link)))
