# SPDX-License-Identifier: Apache-2.0
"""Kernels and object codes, under the name that programs reach into the peer for."""

from __future__ import annotations

from ._kernel import Kernel, KernelAttributes, KernelOccupancy, ParamInfo
from ._object_code import ObjectCode

__all__ = ["Kernel", "KernelAttributes", "KernelOccupancy", "ObjectCode", "ParamInfo"]
