# SPDX-License-Identifier: Apache-2.0
"""Versions as tuples ``(major, minor, patch)``."""

from __future__ import annotations

import functools

__all__ = ["binding_version", "driver_version"]


def _triple(version: int) -> tuple[int, int, int]:
    """(13, 0, 0) of 13000."""
    return version // 1000, version % 1000 // 10, version % 10


@functools.cache
def binding_version() -> tuple[int, int, int]:
    """The CUDA whose headers the bindings were made from."""
    from ...bindings import driver

    return _triple(driver.CUDA_VERSION)


@functools.cache
def driver_version() -> tuple[int, int, int]:
    """The newest CUDA that the installed driver speaks; raises where there is no driver."""
    from ...bindings import driver

    return _triple(driver.checked.cuDriverGetVersion())
