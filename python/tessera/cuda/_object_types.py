# SPDX-License-Identifier: Apache-2.0
"""Types of what is no number and no array: literals, functions, iterators, and containers that can be named though
kernels do not hold them. Overloads (``cuda.extending``) ask for them with ``isinstance``."""

from __future__ import annotations

from typing import Any

from ._scalar_types import SCALARS, Boolean, Integer, Opaque, Type

__all__ = [
    "BooleanLiteral", "Bytes", "DictType", "Dispatcher", "EllipsisType", "EnumerateType", "Function", "FunctionType",
    "IntegerLiteral", "List", "ListType", "Literal", "Module", "NumberClass", "Omitted", "RangeIteratorType",
    "RangeType", "Set", "SliceLiteral", "SliceType", "StringLiteral", "TypeRef", "UnicodeType", "UniTupleIter",
    "ZipType", "ellipsis", "literal", "range_iter32_type", "range_iter64_type", "range_state32_type",
    "range_state64_type", "slice2_type", "slice3_type", "string", "unicode_type", "unknown", "unliteral",
    "unsigned_range_iter64_type", "unsigned_range_state64_type",
]  # fmt: skip


# ---- values that are part of the type ----------------------------------------------------------------


class Literal(Type):
    """A value that is part of the type; ``literal(value)`` makes the right one."""

    def __init__(self, value: Any) -> None:
        self._take(value)
        Type.__init__(self, f"Literal[{type(value).__name__}]({value!r})")

    def _take(self, value: Any) -> None:
        self.literal_value = value

    @property
    def key(self) -> Any:
        return type(self.literal_value), repr(self.literal_value)

    @property
    def literal_type(self) -> Type:
        """The type without the value."""
        from ._typeof import typeof

        return typeof(self.literal_value)

    def __reduce__(self) -> Any:
        return literal, (self.literal_value,)


class IntegerLiteral(Literal, Integer):
    """An int that is known."""

    def _take(self, value: Any) -> None:
        self.literal_value = value
        self.bitwidth = 64

    @property
    def signed(self) -> bool:
        return bool(self.literal_type.signed)  # type: ignore[attr-defined]

    @property
    def literal_type(self) -> Type:
        return SCALARS["int64" if self.literal_value < 1 << 63 else "uint64"]


class BooleanLiteral(Literal, Boolean):
    """A bool that is known."""

    bitwidth = 8


class StringLiteral(Literal):
    """A text that is known."""

    @property
    def literal_type(self) -> Type:
        return unicode_type


class SliceLiteral(Literal):
    """A slice whose ends are known."""

    @property
    def literal_type(self) -> Type:
        return slice2_type if self.literal_value.step is None else slice3_type


_LITERALS = {bool: BooleanLiteral, int: IntegerLiteral, str: StringLiteral, slice: SliceLiteral}


def literal(value: Any) -> Literal:
    """The literal type of an int, bool, str or slice."""
    found = _LITERALS.get(type(value))
    if found is None:
        from ._errors import NumbaTypeError

        raise NumbaTypeError(f"{type(value).__name__} cannot be a literal: those are of int, bool, str and slice")
    made: Literal = found(value)
    return made


def unliteral(type_: Type) -> Type:
    """A type without its value."""
    return type_.literal_type if isinstance(type_, Literal) else type_


class Omitted(Opaque):
    """An argument that was left out, with its default."""

    def __init__(self, value: Any) -> None:
        self._value = value
        super().__init__(f"omitted(default={value!r})")

    @property
    def key(self) -> Any:
        return type(self._value), repr(self._value)

    @property
    def value(self) -> Any:
        """The default."""
        return self._value


# ---- what can be called ------------------------------------------------------------------------------


class Function(Opaque):
    """A function by itself."""

    def __init__(self, function: Any) -> None:
        self.typing_key = function
        super().__init__(f"Function({function!r})")

    @property
    def key(self) -> Any:
        return self.typing_key


class Dispatcher(Function):
    """A function that ``jit`` has made."""

    @property
    def dispatcher(self) -> Any:
        return self.typing_key


class FunctionType(Type):
    """A function by its signature."""

    def __init__(self, signature: Any) -> None:
        self.signature = signature
        super().__init__(f"FunctionType[{signature}]")


class NumberClass(Opaque):
    """A class of numbers, such as ``numpy.float32``, as a value."""

    def __init__(self, instance_type: Type) -> None:
        self.instance_type = self.dtype = instance_type
        super().__init__(f"class({instance_type})")


class TypeRef(Opaque):
    """A type as a value."""

    def __init__(self, instance_type: Type) -> None:
        self.instance_type = instance_type
        super().__init__(f"typeref[{instance_type}]")


class Module(Opaque):
    """A module."""

    def __init__(self, pymod: Any) -> None:
        self.pymod = pymod
        super().__init__(f"Module({pymod})")


# ---- what is iterated --------------------------------------------------------------------------------


class _Of(Type):
    """A type made of another one."""

    word, form = "", "{}({})"

    def __init__(self, dtype: Type) -> None:
        self.dtype = self.yield_type = dtype
        super().__init__(self.form.format(self.word, dtype))


class RangeType(_Of):
    """A ``range`` of integers."""

    word, form = "range_state", "{}_{}"

    @property
    def iterator_type(self) -> Type:
        return RangeIteratorType(self.dtype)


class RangeIteratorType(_Of):
    """What iterates over a ``range``."""

    word, form = "range_iter", "{}_{}"


class UniTupleIter(_Of):
    """What iterates over a tuple of items of one type."""

    word = "iter"

    def __init__(self, container: Any) -> None:
        super().__init__(container.dtype)
        self.container = container


class EnumerateType(_Of):
    """``enumerate`` of something."""

    word = "enumerate"


class ZipType(Type):
    """``zip`` of some things."""

    def __init__(self, iterable_types: Any) -> None:
        self.source_types = tuple(iterable_types)
        super().__init__(f"zip({', '.join(map(str, self.source_types))})")


class SliceType(Type):
    """A slice with two or three parts."""

    def __init__(self, name: str, members: int) -> None:
        self.members, self.has_step = members, members == 3
        super().__init__(name)


class EllipsisType(Opaque):
    """The type of ``...``."""


# ---- what kernels do not hold ------------------------------------------------------------------------


class List(_Of):
    """A list; kernels take tuples and arrays."""

    word = "list"

    def __init__(self, dtype: Type, reflected: bool = False) -> None:
        super().__init__(dtype)
        self.reflected = reflected


class Set(_Of):
    """A set; kernels take tuples."""

    word = "set"


class ListType(_Of):
    """numba's typed list; kernels take arrays."""

    word = "ListType"

    def __init__(self, dtype: Type) -> None:
        super().__init__(dtype)
        self.item_type = dtype


class DictType(Type):
    """numba's typed dict; kernels take named tuples."""

    def __init__(self, keyty: Type, valty: Type) -> None:
        self.key_type, self.value_type = keyty, valty
        super().__init__(f"DictType[{keyty},{valty}]")


class Bytes(Type):
    """A bytes object."""

    def __init__(self, dtype: Type, ndim: int = 1, layout: str = "C") -> None:
        self.dtype, self.ndim, self.layout = dtype, ndim, layout
        super().__init__(f"Bytes({dtype}, {ndim}, {layout})")


class UnicodeType(Type):
    """A text."""


unicode_type = string = UnicodeType("unicode_type")
ellipsis, unknown = EllipsisType("..."), Opaque("unknown")
slice2_type, slice3_type = SliceType("slice<a:b>", 2), SliceType("slice<a:b:c>", 3)
range_state32_type, range_state64_type, unsigned_range_state64_type = (
    RangeType(SCALARS[name]) for name in ("int32", "int64", "uint64")
)
range_iter32_type, range_iter64_type, unsigned_range_iter64_type = (
    RangeIteratorType(SCALARS[name]) for name in ("int32", "int64", "uint64")
)
