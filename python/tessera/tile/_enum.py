# SPDX-License-Identifier: Apache-2.0
"""Enumerations of the tile language, light enough to cost nothing at import.

Members have ``name`` and ``value`` and compare by identity; the ``enum`` module, which takes
milliseconds to import, is not needed for that.
"""

from __future__ import annotations

from typing import Any

__all__ = ["MemoryOrder", "MemoryScope", "PaddingMode", "RoundingMode"]


class _Meta(type):
    def __new__(mcs, name: str, bases: tuple[type, ...], space: dict[str, Any]) -> Any:
        values = {k: v for k, v in space.items() if not k.startswith("_") and isinstance(v, str)}
        cls = super().__new__(mcs, name, bases, {k: v for k, v in space.items() if k not in values})
        members: dict[str, Any] = {}
        for key, value in values.items():
            member = object.__new__(cls)
            member.name = key
            member.value = value
            members[key] = member
            type.__setattr__(cls, key, member)
        cls.__members__ = members
        return cls

    def __iter__(cls) -> Any:
        return iter(cls.__members__.values())

    def __len__(cls) -> int:
        return len(cls.__members__)

    def __call__(cls, value: Any) -> Any:
        for member in cls:
            if value is member or member.value == value:
                return member
        raise ValueError(
            f"{value!r} is not a valid {cls.__name__}; it has {', '.join(cls.__members__)}"
        )

    def __getitem__(cls, key: str) -> Any:
        return cls.__members__[key]


class _Enum(metaclass=_Meta):
    __members__: dict[str, Any] = {}
    name: str
    value: str

    def __repr__(self) -> str:
        return f"{type(self).__name__}.{self.name}"

    def __reduce__(self) -> Any:
        return getattr, (type(self), self.name)


class PaddingMode(_Enum):
    """What a load gives for elements outside the array. All but UNDETERMINED and ZERO need floats. UNDETERMINED
    is zero; in checked mode NaN, or bytes 0x55 where the dtype has none, to find what depends on it."""

    UNDETERMINED = "undetermined"
    ZERO = "zero"
    NEG_ZERO = "neg_zero"
    NAN = "nan"
    POS_INF = "pos_inf"
    NEG_INF = "neg_inf"


class MemoryOrder(_Enum):
    """How a memory access is ordered with those of other blocks."""

    WEAK = "weak"
    RELAXED = "relaxed"
    ACQUIRE = "acquire"
    RELEASE = "release"
    ACQ_REL = "acq_rel"


class MemoryScope(_Enum):
    """Among whom a memory order holds."""

    NONE = "none"
    BLOCK = "block"
    DEVICE = "device"
    SYS = "sys"


class RoundingMode(_Enum):
    """How a result is rounded: to nearest even, towards zero, minus or plus infinity, away from zero;
    FULL and APPROX allow the errors stated for them."""

    RN = "rn"
    RZ = "rz"
    RM = "rm"
    RP = "rp"
    RA = "ra"
    FULL = "full"
    APPROX = "approx"
    RZI = "rzi"
