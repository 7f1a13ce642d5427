# SPDX-License-Identifier: Apache-2.0
"""Dtype objects of the tile language. Inside a kernel a dtype is callable: ``ct.int16(5)``."""

from __future__ import annotations

from typing import Any

from .._core import DTYPES

__all__ = ["DType", "foreign_pointer_dtype", *(name for name, *_ in DTYPES)]


class DType:
    """An element type.

    Attributes
    ----------
    name : str
        As in NumPy, ``"float32"``.
    bitwidth : int
        Bits of one element; ``bool_`` takes 8 in memory.
    restricted : bool
        Whether the type is for load, store, conversion and ``mma`` only.
    """

    __slots__ = ("__tessera_dtype__", "bitwidth", "name", "restricted")

    def __init__(self, name: str, bitwidth: int, restricted: bool = False) -> None:
        self.name = name
        self.bitwidth = bitwidth
        self.restricted = restricted
        self.__tessera_dtype__ = name

    @property
    def itemsize(self) -> int:
        """Bytes of one element in an array, as NumPy's dtypes have it."""
        return (self.bitwidth + 7) // 8

    def __call__(self, value: Any) -> Any:
        raise RuntimeError(
            f"ct.{self.name}(...) makes a typed constant inside a kernel; on the host use numpy.{self.name}"
        )

    @property
    def __name__(self) -> str:
        """The same as ``name``."""
        return self.name

    def __repr__(self) -> str:
        return f"tessera.{self.name}"

    def __str__(self) -> str:
        return self.name

    def __reduce__(self) -> str:
        return self.name

    def __eq__(self, other: object) -> bool:
        if isinstance(other, DType):
            return self is other
        name = getattr(other, "name", None) or getattr(other, "__name__", None) or str(other)
        name = str(name).rpartition(".")[2]
        return self.name in (name, name + "_")

    def __hash__(self) -> int:
        return hash(self.name)


_foreign: dict[str, DType] = {}


def foreign_pointer_dtype(pointee_dtype: DType) -> DType:
    """The dtype of pointers to elements of a dtype, as ``array.foreign_pointer`` gives them.

    Raises
    ------
    TypeError
        For what is not a dtype, or is a pointer's dtype itself.
    """
    if not isinstance(pointee_dtype, DType):
        raise TypeError(f"pointee_dtype must be a dtype such as ct.float32, not {pointee_dtype!r}")
    if pointee_dtype in _foreign.values():
        raise TypeError(f"{pointee_dtype} is a pointer's dtype already; pointers to pointers do not exist")
    name = f"foreign_pointer[{pointee_dtype.name}]"
    return _foreign.setdefault(name, DType(name, 64, restricted=True))


for _name, _bits, _kind, _ in DTYPES:  # rows of include/tessera/dtype.def
    globals()[_name] = DType(_name, _bits, restricted=_kind == "r")
