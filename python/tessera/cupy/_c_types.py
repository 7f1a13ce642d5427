# SPDX-License-Identifier: Apache-2.0
"""C's numbers: names of types, what operands become, literals, constants."""

from __future__ import annotations

import re
from typing import Any

import numpy

__all__ = [
    "CONSTANTS",
    "Type",
    "common",
    "complex_of",
    "is_complex",
    "is_float",
    "literal",
    "named",
    "part_of",
    "promoted",
]

Type = Any  # numpy.dtype

_D = numpy.dtype
BOOL: Any = _D("?")
INT: Any = _D("i4")
LONG: Any = _D("i8")
FLOAT: Any = _D("f4")
DOUBLE: Any = _D("f8")
# Words in alphabetical order.
_NAMES = {
    "bool": "?", "char": "i1", "char signed": "i1", "char unsigned": "u1", "short": "i2", "int short": "i2",
    "short unsigned": "u2", "int short unsigned": "u2", "int": "i4", "signed": "i4", "int signed": "i4",
    "unsigned": "u4",
    "int unsigned": "u4", "long": "i8", "int long": "i8", "long long": "i8", "int long long": "i8", "long signed": "i8",
    "long long signed": "i8", "long unsigned": "u8", "int long unsigned": "u8", "long long unsigned": "u8",
    "int long long unsigned": "u8", "float": "f4", "double": "f8", "size_t": "u8", "ptrdiff_t": "i8", "half": "f2",
    "int8_t": "i1", "int16_t": "i2", "int32_t": "i4", "int64_t": "i8", "uint8_t": "u1", "uint16_t": "u2",
    "uint32_t": "u4", "uint64_t": "u8", "int8": "i1", "int16": "i2", "int32": "i4", "int64": "i8", "uint8": "u1",
    "uint16": "u2", "uint32": "u4", "uint64": "u8", "float16": "f2", "float32": "f4", "float64": "f8",
    "complex64": "c8", "complex128": "c16",
}  # fmt: skip
CONSTANTS: dict[str, tuple[float, Any]] = {
    "M_PI": (numpy.pi, DOUBLE), "M_E": (numpy.e, DOUBLE), "M_PI_2": (numpy.pi / 2, DOUBLE),
    "M_PI_4": (numpy.pi / 4, DOUBLE),
    "M_SQRT2": (2**0.5, DOUBLE), "M_SQRT1_2": (0.5**0.5, DOUBLE), "M_LN2": (float(numpy.log(2)), DOUBLE),
    "M_1_PI": (1 / numpy.pi, DOUBLE), "M_2_PI": (2 / numpy.pi, DOUBLE), "M_LN10": (float(numpy.log(10)), DOUBLE),
    "INFINITY": (numpy.inf, FLOAT), "NAN": (numpy.nan, FLOAT), "HUGE_VAL": (numpy.inf, DOUBLE),
    "CUDART_INF": (numpy.inf, DOUBLE),
    "CUDART_INF_F": (numpy.inf, FLOAT), "CUDART_NAN": (numpy.nan, DOUBLE), "CUDART_NAN_F": (numpy.nan, FLOAT),
    "FLT_MAX": (float(numpy.finfo("f4").max), FLOAT), "DBL_MAX": (float(numpy.finfo("f8").max), DOUBLE),
    "FLT_MIN": (float(numpy.finfo("f4").tiny), FLOAT), "DBL_MIN": (float(numpy.finfo("f8").tiny), DOUBLE),
    "FLT_EPSILON": (float(numpy.finfo("f4").eps), FLOAT), "DBL_EPSILON": (float(numpy.finfo("f8").eps), DOUBLE),
    "INT_MAX": (2**31 - 1, INT), "INT_MIN": (-(2**31), INT), "UINT_MAX": (2**32 - 1, _D("u4")),
    "LLONG_MAX": (2**63 - 1, LONG),
    "LONG_MAX": (2**63 - 1, LONG), "LLONG_MIN": (-(2**63), LONG), "LONG_MIN": (-(2**63), LONG),
    "ULLONG_MAX": (2**64 - 1, _D("u8")),
    "true": (True, BOOL), "false": (False, BOOL),
}  # fmt: skip


def named(words: tuple[str, ...], types: dict[str, Any]) -> Any:
    """The dtype of a type's words, None if there is none of that name; ``types``: placeholders and typedefs."""
    if words[0] == "complex":
        return complex_of(named(words[1:], types))
    if len(words) == 1 and words[0] in types:
        found = types[words[0]]
        return named(found, types) if isinstance(found, tuple) else found
    found = _NAMES.get(" ".join(sorted(words)))
    return None if found is None else numpy.dtype(found)


def is_float(t: Any) -> bool:
    return bool(t.kind == "f")


def is_complex(t: Any) -> bool:
    return bool(t.kind == "c")


def complex_of(t: Any) -> Any:
    """The complex type of a part's."""
    return numpy.dtype("c16" if t == DOUBLE else "c8")


def part_of(t: Any) -> Any:
    """The type of a complex number's parts."""
    return numpy.dtype("f8" if t.itemsize == 16 else "f4") if is_complex(t) else t


def promoted(t: Any) -> Any:
    """What an operand becomes by itself: at least an int, a float."""
    if t.kind == "b" or (t.kind in "iu" and t.itemsize < 4):
        return INT
    return FLOAT if t == _D("f2") else t


def common(a: Any, b: Any) -> Any:
    """What two operands become."""
    a, b = promoted(a), promoted(b)
    if is_complex(a) or is_complex(b):
        parts = [part_of(t) for t in (a, b) if t.kind in "fc"]
        return complex_of(max(parts, key=lambda t: t.itemsize))
    if is_float(a) or is_float(b):
        return max((t for t in (a, b) if is_float(t)), key=lambda t: t.itemsize)
    if a.kind == b.kind:
        return a if a.itemsize >= b.itemsize else b
    signed, unsigned = (a, b) if a.kind == "i" else (b, a)
    return signed if signed.itemsize > unsigned.itemsize else unsigned


def literal(text: str) -> tuple[Any, Any]:
    """The value and the type of a number as it is written."""
    is_hex = text[:2] in ("0x", "0X")
    if not is_hex and re.search(r"[.eE]|[fF]$", text):
        single = text[-1] in "fF"
        return float(text.rstrip("fFlL")), FLOAT if single else DOUBLE
    suffix = re.search(r"[uUlL]*$", text)[0].lower()  # type: ignore[index]
    digits = text[: len(text) - len(suffix)]
    octal = not is_hex and len(digits) > 1 and digits[0] == "0"
    value = int(digits, 16 if is_hex else 8 if octal else 10)
    if "u" in suffix:
        return value, _D("u8" if "l" in suffix or value >= 2**32 else "u4")
    if "l" in suffix or value >= 2**31:
        if (is_hex or octal) and 2**31 <= value < 2**32 and "l" not in suffix:
            return value, _D("u4")
        return value, LONG if value < 2**63 else _D("u8")
    return value, INT
