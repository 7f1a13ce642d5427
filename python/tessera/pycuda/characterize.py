# SPDX-License-Identifier: Apache-2.0
"""Questions to the device and its compiler."""

from __future__ import annotations

import numpy as np

from . import driver as drv
from .compiler import SourceModule
from .tools import context_dependent_memoize

__all__ = ["has_double_support", "has_stack", "sizeof"]


def has_double_support() -> bool:
    """Whether the device computes in double precision: all that are supported do."""
    return drv.Context.get_device().compute_capability() >= (1, 3)


def has_stack() -> bool:
    """Whether functions of a kernel may recurse."""
    return drv.Context.get_device().compute_capability() >= (2, 0)


@context_dependent_memoize
def sizeof(type_name: str, preamble: str = "") -> int:
    """Bytes of a C type on the device."""
    module = SourceModule(
        f'{preamble}\nextern "C" __global__ void size(unsigned long long *out) '
        f"{{ *out = sizeof({type_name}); }}",
        no_extern_c=True,
    )
    out = np.zeros(1, np.uint64)
    module.get_function("size")(drv.Out(out), block=(1, 1, 1))
    return int(out[0])
