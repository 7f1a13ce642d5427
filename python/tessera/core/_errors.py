# SPDX-License-Identifier: Apache-2.0
"""What the host objects raise: the exceptions of the bindings, and a warning for destructors."""

from __future__ import annotations

from ..bindings import CUDAError, NVRTCError

__all__ = ["CUDAError", "CUDAWarning", "NVRTCError"]


class CUDAWarning(RuntimeWarning):
    """Something failed where nothing can be raised: in a destructor or a callback."""
