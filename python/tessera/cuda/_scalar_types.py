# SPDX-License-Identifier: Apache-2.0
"""Scalar types under all their names, and what every type can do."""

from __future__ import annotations

from typing import Any


class Type:
    """A type. Equal types have equal ``name`` and ``key``; ``t(a, b)`` is the signature of a function that returns it,
    ``t[:]`` an array of it."""

    name: str

    def __init__(self, name: str) -> None:
        self.name = name

    @property
    def key(self) -> Any:
        return self.name

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)

    def __repr__(self) -> str:
        return self.name

    __str__ = __repr__

    def __call__(self, *args: Any) -> Any:
        from ._signature import Signature

        if len(args) == 1 and not isinstance(args[0], Type):
            return self.cast_python_value(args[0])
        return Signature(self, args)

    def __getitem__(self, index: Any) -> Any:
        from .types import array_of

        return array_of(self, index)

    def cast_python_value(self, value: Any) -> Any:
        """A number of Python as this type holds it."""
        raise NotImplementedError(f"{self} takes no value on the host")

    def is_precise(self) -> bool:
        """Whether it is known whole: all types here are."""
        return True


class Number(Type):
    """A type of numbers: integers, floats, complex numbers and, here, truth values."""

    dtype_name: str

    def __init__(self, name: str, bits: int) -> None:
        super().__init__(name)
        self.bitwidth = bits
        self.__tessera_dtype__ = "bool_" if name == "bool" else name

    def cast_python_value(self, value: Any) -> Any:
        from ._typeof import as_dtype

        return as_dtype(self).type(value)

    def __reduce__(self) -> Any:
        return _named, (self.name,)


class Boolean(Number):
    """True or False, in one byte."""


class Integer(Number):
    """An integer of 8 to 64 bits."""

    @property
    def signed(self) -> bool:
        return self.name[0] == "i"

    @property
    def maxval(self) -> int:
        return (1 << (self.bitwidth - self.signed)) - 1

    @property
    def minval(self) -> int:
        return -(1 << (self.bitwidth - 1)) if self.signed else 0


class Float(Number):
    """A float of 16 to 64 bits."""


class NarrowFloat(Number):
    """A float of 8 bits, which converts and is stored; it has no operators."""


class Complex(Number):
    """Two floats."""

    @property
    def underlying_float(self) -> Type:
        return _named(f"float{self.bitwidth // 2}")


class RawPointer(Type):
    """An address without a type."""


class NoneType(Type):
    """The type of None: no value."""


class Opaque(Type):
    """A type of which nothing is known but its name."""


class _Time(Type):
    @property
    def __tessera_element__(self) -> Any:
        from ._typeof import as_dtype

        return as_dtype(self)


class NPDatetime(_Time):
    """A date, counted in ``unit``."""

    def __init__(self, unit: str = "") -> None:
        self.unit = unit
        super().__init__(f"datetime64[{unit}]")


class NPTimedelta(_Time):
    """A span of time, counted in ``unit``."""

    def __init__(self, unit: str = "") -> None:
        self.unit = unit
        super().__init__(f"timedelta64[{unit}]")


boolean = Boolean("bool", 8)
int8, int16, int32, int64 = (Integer(f"int{n}", n) for n in (8, 16, 32, 64))
uint8, uint16, uint32, uint64 = (Integer(f"uint{n}", n) for n in (8, 16, 32, 64))
float16, float32, float64 = (Float(f"float{n}", n) for n in (16, 32, 64))
bfloat16 = Float("bfloat16", 16)
float8_e4m3fn, float8_e5m2, float8_e8m0fnu = (
    NarrowFloat(f"float8_{name}", 8) for name in ("e4m3fn", "e5m2", "e8m0fnu")
)
complex64, complex128 = (Complex(f"complex{n}", n) for n in (64, 128))
none = void = NoneType("none")
voidptr = RawPointer("void*")
pyobject, undefined = Opaque("pyobject"), Opaque("undefined")

# Every other spelling, as numba has them on 64-bit Linux.
_ALIASES: dict[str, Type] = {
    "bool_": boolean, "b1": boolean, "bool": boolean, "byte": uint8, "b": int8,
    "i1": int8, "i2": int16, "i4": int32, "i8": int64, "u1": uint8, "u2": uint16, "u4": uint32, "u8": uint64,
    "f2": float16, "f4": float32, "f8": float64, "c8": complex64, "c16": complex128,
    "char": int8, "uchar": uint8, "short": int16, "ushort": uint16, "int_": int64, "uint": uint64,
    "intc": int32, "uintc": uint32, "intp": int64, "uintp": uint64, "long_": int64, "ulong": uint64,
    "longlong": int64, "ulonglong": uint64, "size_t": uint64, "ssize_t": int64,
    "float_": float32, "double": float64, "long": int64,
}  # fmt: skip
globals().update({name: t for name, t in _ALIASES.items() if name not in ("bool", "long", "b")})

signed_domain = frozenset((int8, int16, int32, int64))
unsigned_domain = frozenset((uint8, uint16, uint32, uint64))
integer_domain = signed_domain | unsigned_domain
real_domain = frozenset((float32, float64))
complex_domain = frozenset((complex64, complex128))
number_domain = real_domain | integer_domain | complex_domain

_PLAIN = [boolean, int8, int16, int32, int64, uint8, uint16, uint32, uint64, float16, float32, float64, bfloat16,
          complex64, complex128, float8_e4m3fn, float8_e5m2, float8_e8m0fnu]  # fmt: skip
SCALARS: dict[str, Type] = {
    **{t.name: t for t in _PLAIN}, "boolean": boolean, "none": none, "void": none, "voidptr": voidptr, **_ALIASES
}  # fmt: skip


def _named(name: str) -> Type:
    return SCALARS[name]


__all__ = [
    "SCALARS", "Boolean", "Complex", "Float", "Integer", "NPDatetime", "NPTimedelta", "NarrowFloat", "NoneType",
    "Number", "Opaque", "RawPointer", "boolean", "none", "void", "voidptr", "pyobject", "undefined",
    "signed_domain", "unsigned_domain", "integer_domain", "real_domain", "complex_domain", "number_domain",
    *(t.name for t in _PLAIN if t is not boolean),
    *(name for name in _ALIASES if name not in ("bool", "long", "b")),
]  # fmt: skip
