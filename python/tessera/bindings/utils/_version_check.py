# SPDX-License-Identifier: Apache-2.0
"""One warning a process when the driver is of an older major version than the bindings."""

from __future__ import annotations

import os
import warnings

__all__ = ["warn_if_cuda_major_version_mismatch"]

_major_version_compatibility_checked = False


def warn_if_cuda_major_version_mismatch() -> None:
    """Warns once; CUDA_PYTHON_DISABLE_MAJOR_VERSION_WARNING=1 keeps it silent."""
    global _major_version_compatibility_checked
    from .. import driver

    silent = os.environ.get("CUDA_PYTHON_DISABLE_MAJOR_VERSION_WARNING", "0") not in ("", "0")
    if _major_version_compatibility_checked or silent:
        return
    _major_version_compatibility_checked = True
    status, version = driver.cuDriverGetVersion()
    if status:
        raise RuntimeError(f"Failed to query CUDA driver version: {status!r}")
    built, supported = driver.CUDA_VERSION // 1000, version // 1000
    if built > supported:
        warnings.warn(
            f"cuda-bindings was built for CUDA major version {built}, but the NVIDIA driver only supports up "
            f"to CUDA {supported}. Functions newer than that raise FunctionNotFoundError; install a newer driver.",
            UserWarning,
            stacklevel=2,
        )
