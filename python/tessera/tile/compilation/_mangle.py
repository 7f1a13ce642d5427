# SPDX-License-Identifier: Apache-2.0
"""Names of exported kernels: the function's name, ``_K``, and all that its parameters are compiled for.

    matmul_Kt1_A2f16_1v8_3l0_2t1_p16_I64
    |      |   |  |  |   |   |   |   the constant 64
    |      |   |  |  |   |   |   the address is a multiple of 16
    |      |   |  |  axes of a mask (hexadecimal) and what holds for them: see AXIS
    |      |   |  dtype
    |      |   an array of 2 axes
    |      calling convention

The letters are those of cuTile Python, so that names of kernels agree.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Sequence
from typing import Any

from .. import _dtype
from ._signature import (
    ArrayConstraint,
    CallingConvention,
    ConstantConstraint,
    KernelSignature,
    ListConstraint,
    ScalarConstraint,
    TupleConstraint,
    walk,
)

DTYPE_OBJECTS: Any = _dtype
DTYPES = {
    "bool_": "b8", "uint8": "u8", "uint16": "u16", "uint32": "u32", "uint64": "u64", "int8": "i8", "int16": "i16",
    "int32": "i32", "int64": "i64", "float16": "f16", "float32": "f32", "float64": "f64", "bfloat16": "bf16",
    "tfloat32": "tf32", "float8_e4m3fn": "f8m3fn", "float8_e5m2": "f8m2", "float8_e8m0fnu": "f8m0fnu",
}  # fmt: skip
CODES = {code: name for name, code in DTYPES.items()}
# What may be said of axes, in the order of the name: letter, field, what says nothing.
AXIS = (
    ("s", "shape_constant", None),
    ("i", "shape_divisible_by", 1),
    ("t", "stride_constant", None),
    ("v", "stride_divisible_by", 1),
    ("l", "stride_lower_bound_incl", None),
)
INDEX = {"int32": "", "uint32": "u", "int64": "w"}


# ---- to a name ---------------------------------------------------------------------------------------


def _int(value: int) -> str:
    return f"_{-value}" if value < 0 else str(value)


def _dtype_code(dtype: Any) -> str:
    code = DTYPES.get(dtype.name)
    if code is None:
        raise ValueError(f"dtype {dtype.name} has no code in mangled names; it has {', '.join(DTYPES)}")
    return code


def _group_codes(groups: Sequence[str], numbers: dict[str, int]) -> str:
    return "".join(f"g{n:x}" for n in sorted(numbers[g] for g in groups))


def _axes(array: ArrayConstraint) -> str:
    """What is said of axes: equal words of several axes once, with the mask of those."""
    masks: dict[str, int] = {}
    for letter, field, nothing in AXIS:
        for axis, value in enumerate(getattr(array, field)):
            if value != nothing:
                word = letter + _int(value)
                masks[word] = masks.get(word, 0) | 1 << axis
    words: dict[int, str] = {}
    for word, mask in masks.items():
        words[mask] = words.get(mask, "") + word
    return "".join(f"_{mask:x}{words[mask]}" for mask in sorted(words))


def _array(array: ArrayConstraint, numbers: dict[str, int]) -> str:
    base = array.base_addr_divisible_by
    tail = f"p{_int(base)}" if base != 1 else ""
    tail += _group_codes(array.alias_groups, numbers) + ("i" if array.may_alias_internally else "")
    tail += INDEX[array.index_dtype.name]
    return f"A{array.ndim}{_dtype_code(array.dtype)}{_axes(array)}{'_' + tail if tail else ''}"


def _constant(value: Any) -> str:
    if value is None:
        return "Cn_"
    if isinstance(value, bool):
        return f"B{int(value)}"
    if isinstance(value, int):
        return f"I{_int(value)}"
    return f"F{struct.unpack('<Q', struct.pack('<d', value))[0]:016x}"


def _mangle(constraint: Any, numbers: dict[str, int]) -> str:
    if isinstance(constraint, ArrayConstraint):
        return _array(constraint, numbers)
    if isinstance(constraint, ListConstraint):
        inner = "i" if constraint.elements_may_alias else ""
        return f"L{_group_codes(constraint.alias_groups, numbers)}{inner}{_mangle(constraint.element, numbers)}"
    if isinstance(constraint, TupleConstraint):
        return f"T{len(constraint.items)}" + "".join(_mangle(x, numbers) for x in constraint.items)
    if isinstance(constraint, ScalarConstraint):
        return f"S{_dtype_code(constraint.dtype)}"
    return _constant(constraint.value)


def mangle_kernel_name(function_name: str, kernel_signature: KernelSignature) -> str:
    """The name that tells the function and what its parameters are compiled for.

    Parameters
    ----------
    function_name : str
    kernel_signature : KernelSignature
    """
    numbers: dict[str, int] = {}
    for constraint in walk(kernel_signature.parameters):
        for group in getattr(constraint, "alias_groups", ()):
            numbers.setdefault(group, len(numbers))
    words = (_mangle(p, numbers) for p in kernel_signature.parameters)
    return "_".join([f"{function_name}_K{kernel_signature.calling_convention.code}", *words])


# ---- from a name -------------------------------------------------------------------------------------


class _Reader:
    """A place in a name."""

    def __init__(self, name: str, at: int) -> None:
        self.name, self.at = name, at
        self.groups = 0  # numbers of alias groups come in their order

    def fail(self, problem: str, at: int | None = None) -> ValueError:
        at = self.at if at is None else at
        return ValueError(
            f"Invalid mangled name '{self.name}'. At offset #{at}, near '{self.name[at : at + 20]}': {problem}"
        )

    def sees(self, pattern: str) -> bool:
        return re.compile(pattern, re.ASCII).match(self.name, self.at) is not None

    def take(self, pattern: str, wanted: str = "") -> str | None:
        """The text of a pattern that comes next; None, or the error, where it does not."""
        found = re.compile(pattern, re.ASCII).match(self.name, self.at)
        if found is None:
            if wanted:
                raise self.fail(f"Expected {wanted}")
            return None
        self.at = found.end()
        return found.group(0)

    def need(self, pattern: str, wanted: str) -> str:
        return self.take(pattern, wanted) or ""

    def signed(self) -> int:
        sign = -1 if self.take("_") else 1
        return sign * int(self.need("[0-9]{1,40}", "a decimal integer"))


def _read_dtype(r: _Reader) -> Any:
    at = r.at
    code = r.need("[a-z0-9]+", "a dtype")
    if code not in CODES:
        raise r.fail(f"Unknown dtype name `{code}`", at)
    return getattr(DTYPE_OBJECTS, CODES[code])


def _read_groups(r: _Reader) -> list[str]:
    groups: list[int] = []
    while r.take("g"):
        at = r.at
        digits = r.need("[0-9a-f]{1,8}", "a hexadecimal alias group")
        number = int(digits, 16)
        if len(digits) > 1 and digits[0] == "0":
            raise r.fail("Leading zero in alias group ID", at)
        if number > r.groups:
            raise r.fail("Invalid alias group ID", at)
        if groups and number <= groups[-1]:
            raise r.fail("Alias group IDs are not strictly increasing", at)
        r.groups = max(r.groups, number + 1)
        groups.append(number)
    return [f"group{n}" for n in groups]


def _read_axes(r: _Reader, fields: dict[str, Any], ndim: int) -> bool:
    """One mask and its words."""
    at = r.at
    mask = int((r.take("_[0-9a-f]{1,8}") or "_0")[1:], 16)
    if not mask:
        r.at = at
        return False
    if mask.bit_length() > ndim:
        raise r.fail(f"Axis mask {mask:x} has more bits ({mask.bit_length()}) than array ndim ({ndim})", at)
    for letter, field, nothing in AXIS:
        if not r.take(letter):
            continue
        value = r.signed()
        if nothing == 1 and value <= 1:
            raise r.fail("Divisibility must be greater than 1", at)
        for axis in range(ndim):
            if mask >> axis & 1:
                if fields[field][axis] != nothing:
                    raise r.fail(f"{field} specified more than once for axis #{axis}", at)
                fields[field][axis] = value
    return True


def _read_array(r: _Reader) -> ArrayConstraint:
    at = r.at
    ndim = int(r.need("[0-9]{1,3}", "the number of axes"))
    dtype = _read_dtype(r)
    fields: dict[str, Any] = {field: [nothing] * ndim for _, field, nothing in AXIS}
    while _read_axes(r, fields, ndim):
        pass
    tail: dict[str, Any] = {"alias_groups": (), "may_alias_internally": False, "index_dtype": DTYPE_OBJECTS.int32}
    if r.sees("_[a-z]"):
        r.take("_")
        if r.take("p"):
            tail["base_addr_divisible_by"] = r.signed()
        tail["alias_groups"] = _read_groups(r)
        tail["may_alias_internally"] = bool(r.take("i"))
        tail["index_dtype"] = {"u": DTYPE_OBJECTS.uint32, "w": DTYPE_OBJECTS.int64, None: DTYPE_OBJECTS.int32}[
            r.take("[uw]")
        ]
    for i, stride in enumerate(fields["stride_constant"]):
        if stride is not None and (
            fields["stride_divisible_by"][i] != 1 or fields["stride_lower_bound_incl"][i] is not None
        ):
            raise r.fail(f"a static stride with other promises about axis {i}", at)
    try:
        return ArrayConstraint(dtype, ndim, **fields, **tail)
    except (TypeError, ValueError) as error:
        raise r.fail(str(error), at) from None


def _read(r: _Reader, depth: int = 0) -> Any:
    at = r.at
    letter = r.need("[ABFILST]|Cn_", "a parameter, which begins with a capital letter")
    if depth > 64:
        raise r.fail("tuples deeper than 64", at)
    if letter == "A":
        return _read_array(r)
    if letter == "S":
        return ScalarConstraint(_read_dtype(r))
    if letter == "T":
        return TupleConstraint([_read(r, depth + 1) for _ in range(int(r.need("[0-9]{1,4}", "the number of items")))])
    if letter == "L":
        groups, inner = _read_groups(r), bool(r.take("i"))
        r.need("A", "an array")
        return ListConstraint(_read_array(r), alias_groups=groups, elements_may_alias=inner)
    if letter == "B":
        return ConstantConstraint(r.need("[01]", "0 or 1") == "1")
    if letter == "I":
        return ConstantConstraint(r.signed())
    if letter == "F":
        bits = int(r.need("[0-9a-f]{16}", "16 hexadecimal digits"), 16)
        return ConstantConstraint(struct.unpack("<d", struct.pack("<Q", bits))[0])
    return ConstantConstraint(None)


def demangle_kernel_name(symbol: str) -> tuple[str, KernelSignature]:
    """Function name and signature of a name that ``mangle_kernel_name`` made; alias groups are called group0 and so on.

    Parameters
    ----------
    symbol : str

    Raises
    ------
    ValueError
        The name is not mangled, or its parts contradict each other.
    """
    at = symbol.rfind("_K")
    if at < 0:
        raise ValueError(f"`{symbol}` is not a mangled kernel name")
    r = _Reader(symbol, at + 2)
    convention = CallingConvention.from_code(r.need("[^_]+", "a calling convention code after _K"))
    parameters = []
    while r.at < len(symbol):
        r.need("_", "an underscore")
        parameters.append(_read(r))
    return symbol[:at], KernelSignature(parameters, convention, symbol)
