# SPDX-License-Identifier: Apache-2.0
"""Of numba's helpers for LLVM IR the one that kernels of threads can do without it: structs (``_models``)."""

from __future__ import annotations

from ._models import create_struct_proxy

__all__ = ["create_struct_proxy"]
