# SPDX-License-Identifier: Apache-2.0
"""What NVML's functions raise: a class for each status, all of them NvmlError."""

from __future__ import annotations

from ...bindings import nvml

NvmlError = nvml.NvmlError
globals().update({kind.__name__: kind for kind in nvml.ERRORS.values()})

__all__ = ["NvmlError", *(kind.__name__ for kind in nvml.ERRORS.values())]
