# SPDX-License-Identifier: Apache-2.0
"""Exceptions of drivers and compilers."""

from __future__ import annotations

from .._errors import (
    CCSupportError,
    CudaAPIError,
    CudaDriverError,
    CudaSupportError,
    DeadMemoryError,
    LinkerError,
    NvrtcCompilationError,
    NvrtcError,
    NvrtcSupportError,
    NvvmError,
    NvvmSupportError,
)

__all__ = [
    "CCSupportError", "CudaAPIError", "CudaDriverError", "CudaSupportError", "DeadMemoryError", "LinkerError",
    "NvrtcCompilationError", "NvrtcError", "NvrtcSupportError", "NvvmError", "NvvmSupportError",
]  # fmt: skip
