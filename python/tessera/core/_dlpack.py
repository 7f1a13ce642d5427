# SPDX-License-Identifier: Apache-2.0
"""DLPack's numbers."""

from __future__ import annotations

from enum import IntEnum

__all__ = ["DLDeviceType"]


class DLDeviceType(IntEnum):
    """Where memory is, as far as CUDA reaches."""

    kDLCPU = 1  # noqa: N815
    kDLCUDA = 2  # noqa: N815
    kDLCUDAHost = 3  # noqa: N815
    kDLCUDAManaged = 13  # noqa: N815
