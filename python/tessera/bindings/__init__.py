# SPDX-License-Identifier: Apache-2.0
"""The CUDA platform's own interfaces, one to one: ``driver``, ``runtime``, ``nvrtc``,
``nvjitlink``, ``nvvm``.

Each module is made of a table (``driver.api``) that a program in ``tools/`` writes from NVIDIA's
headers, and of one interpreter in C. Nothing is loaded at import: classes and functions are made
when they are first named, and a library is opened at the first call. Calls return ``(status,
results...)``; ``driver.checked`` has the same functions raising ``CUDAError`` instead.
"""

from __future__ import annotations

from ._errors import CUDAError, FunctionNotFoundError, NVRTCError

__all__ = ["CUDAError", "FunctionNotFoundError", "NVRTCError"]
