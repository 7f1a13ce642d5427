# SPDX-License-Identifier: Apache-2.0
"""Dtype objects of the tile language. Inside a kernel a dtype is callable: ``ct.int16(5)``."""

from __future__ import annotations

from typing import Any

__all__ = [
    "DType",
    "bfloat16",
    "bool_",
    "float16",
    "float32",
    "float4_e2m1fn",
    "float64",
    "float8_e4m3fn",
    "float8_e5m2",
    "float8_e5m3fnu",
    "float8_e8m0fnu",
    "int16",
    "int32",
    "int64",
    "int8",
    "tfloat32",
    "uint16",
    "uint32",
    "uint64",
    "uint8",
]


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

    def __repr__(self) -> str:
        return f"tessera.{self.name}"

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


bool_ = DType("bool_", 8)
int8 = DType("int8", 8)
int16 = DType("int16", 16)
int32 = DType("int32", 32)
int64 = DType("int64", 64)
uint8 = DType("uint8", 8)
uint16 = DType("uint16", 16)
uint32 = DType("uint32", 32)
uint64 = DType("uint64", 64)
float16 = DType("float16", 16)
bfloat16 = DType("bfloat16", 16)
float32 = DType("float32", 32)
float64 = DType("float64", 64)
tfloat32 = DType("tfloat32", 32, restricted=True)
float8_e4m3fn = DType("float8_e4m3fn", 8, restricted=True)
float8_e5m2 = DType("float8_e5m2", 8, restricted=True)
float8_e8m0fnu = DType("float8_e8m0fnu", 8, restricted=True)
float4_e2m1fn = DType("float4_e2m1fn", 4, restricted=True)
float8_e5m3fnu = DType("float8_e5m3fnu", 8, restricted=True)
