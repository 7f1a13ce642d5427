# SPDX-License-Identifier: Apache-2.0
"""The base of all enums of the bindings; apart, so that importing a module does not need
``enum``."""

from __future__ import annotations

from enum import EnumMeta, IntEnum
from typing import Any

__all__ = ["Enum"]


class _EnumClass(EnumMeta):
    def __getattr__(cls, name: str) -> Any:
        from .._errors import did_you_mean

        if name.startswith("_"):
            raise AttributeError(name)
        if name in cls._member_map_:  # up to Python 3.11 members are nowhere else
            return cls._member_map_[name]
        hint = did_you_mean(name, cls._member_map_)
        raise AttributeError(f"{cls.__name__} has no member {name!r}{hint}", name=name)


class Enum(IntEnum, metaclass=_EnumClass):
    """An int with a name, shown with both: ``<CUresult.CUDA_SUCCESS: 0>``."""

    __str__ = IntEnum.__repr__

    def __format__(self, spec: str) -> str:
        return format(int(self), spec) if spec else repr(self)
