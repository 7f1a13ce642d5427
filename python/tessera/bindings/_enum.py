# SPDX-License-Identifier: Apache-2.0
"""The base of all enums of the bindings; apart, so that importing a module does not need
``enum``."""

from __future__ import annotations

from enum import IntEnum

__all__ = ["Enum"]


class Enum(IntEnum):
    """An int with a name, shown with both: ``<CUresult.CUDA_SUCCESS: 0>``."""

    __str__ = IntEnum.__repr__

    def __format__(self, spec: str) -> str:
        return format(int(self), spec) if spec else repr(self)
