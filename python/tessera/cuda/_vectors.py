# SPDX-License-Identifier: Apache-2.0
"""Vectors of one to four numbers for kernels: ``float32x4``, which is also ``float4``, and so on.

A vector is made of numbers and vectors whose members are as many as its own, in order (``float4(float2(1, 2), 3, 4)``),
or of one vector like it; they are converted to its dtype. Members are ``x``, ``y``, ``z``, ``w``; nothing changes them,
and there are no operators, as in numba.
"""

from __future__ import annotations

import dataclasses
from typing import Any

from . import types

_BASES = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32", "float64")
_ALIASES = {
    "char": "int8", "short": "int16", "int": "int32", "long": "int64", "longlong": "int64", "uchar": "uint8",
    "ushort": "uint16", "uint": "uint32", "ulong": "uint64", "ulonglong": "uint64", "float": "float32",
    "double": "float64",
}  # fmt: skip
_MEMBERS = "xyzw"


def _parts(thing: Any) -> Any:
    """The members of a vector, or a number as a tuple."""
    if hasattr(thing, "w"):
        return (thing.x, thing.y, thing.z, thing.w)
    if hasattr(thing, "z"):
        return (thing.x, thing.y, thing.z)
    if hasattr(thing, "y"):
        return (thing.x, thing.y)
    if hasattr(thing, "x"):
        return (thing.x,)
    return (thing,)


def _maker(cls: Any, base: Any) -> Any:
    def make(*parts: Any) -> Any:
        members: tuple[Any, ...] = ()
        for part in parts:
            for member in _parts(part):
                members = (*members, base(member))
        return cls(*members)

    return make


class VectorType:
    """A vector type: called in kernels.

    Attributes
    ----------
    name : str
    aliases : tuple of str
        Its names in CUDA C.
    base_type : Type
    num_elements : int
    """

    def __init__(self, base: str, n: int) -> None:
        self.name, self.num_elements = f"{base}x{n}", n
        self.base_type = types.SCALARS[base]
        self.aliases = tuple(f"{alias}{n}" for alias, of in _ALIASES.items() if of == base)
        self.value = dataclasses.make_dataclass(self.name, list(_MEMBERS[:n]), frozen=True)
        self.value.__module__, self.value.__qualname__ = __name__, f"{self.name}.value"  # as pickles find it
        self.__tessera_helper__ = _maker(self.value, self.base_type)

    def __reduce__(self) -> str:
        return self.name

    def __call__(self, *parts: Any) -> Any:
        """On the host: the vector as an argument of kernels."""
        from ._typeof import as_dtype

        members = [as_dtype(self.base_type).type(member) for part in parts for member in _parts(part)]
        return self.value(*members)

    def __repr__(self) -> str:
        return f"<vector type cuda.{self.name}>"


vector_types = {made.name: made for base in _BASES for made in (VectorType(base, n) for n in (1, 2, 3, 4))}
globals().update(vector_types)
globals().update({alias: made for made in vector_types.values() for alias in made.aliases})

__all__ = ["VectorType", "vector_types", *vector_types, *(a for made in vector_types.values() for a in made.aliases)]
