# SPDX-License-Identifier: Apache-2.0
"""Small helpers around the bindings."""

from __future__ import annotations

import re
from typing import Any

from ... import _bindings as core
from ._nvvm import check_nvvm_compiler_options
from ._version_check import warn_if_cuda_major_version_mismatch

__all__ = [
    "check_nvvm_compiler_options",
    "get_cuda_native_handle",
    "get_minimal_required_cuda_ver_from_ptx_ver",
    "get_ptx_ver",
    "warn_if_cuda_major_version_mismatch",
]

# Minor versions of CUDA 9 to 13 by version of the PTX language they brought.
_CUDA_OF_PTX = {
    **{f"6.{i}": v for i, v in enumerate([9000, 9010, 9020, 10000, 10010, 10020])},
    **{f"7.{i}": 11000 + 10 * i for i in range(9)},
    **{f"8.{i}": 12000 + 10 * i for i in range(6)},
    **{"8.6": 12070, "8.7": 12080, "8.8": 12090, "9.0": 13000, "9.1": 13010},
}


def get_cuda_native_handle(obj: Any) -> int:
    """The value of a handle object of the bindings, as an int."""
    if not isinstance(obj, core.Handle):
        raise TypeError(f"a handle of tessera.bindings is needed, not {type(obj).__name__}")
    return int(obj)


def get_ptx_ver(ptx: str) -> str:
    """The version that a text of PTX states: ``"8.8"``."""
    found = re.search(r"^\s*\.version\s+(\d+\.\d+)", ptx, re.M)
    if not found:
        raise ValueError("there is no .version line in this PTX")
    return found.group(1)


def get_minimal_required_cuda_ver_from_ptx_ver(ptx_version: str) -> int:
    """The oldest CUDA that reads a version of PTX: 12090 for ``"8.8"``."""
    if ptx_version not in _CUDA_OF_PTX:
        raise ValueError(
            f"PTX version {ptx_version} is not known; {list(_CUDA_OF_PTX)[0]} to 9.1 are"
        )
    return _CUDA_OF_PTX[ptx_version]
