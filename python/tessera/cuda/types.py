# SPDX-License-Identifier: Apache-2.0
"""Types of values in kernels: ``int32``, ``float32[:, ::1]``, ``Tuple((int32, float32))``, and signatures made of
them: ``void(float32[:], int32)``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ._object_types import *
from ._object_types import __all__ as _objects
from ._scalar_types import *
from ._scalar_types import Type
from ._scalar_types import __all__ as _scalars

__all__ = [
    *_scalars,
    *_objects,
    "Array",
    "CPointer",
    "DType",
    "Dataclass",
    "EnumMember",
    "IntEnumMember",
    "NamedTuple",
    "NamedUniTuple",
    "NestedArray",
    "Optional",
    "Record",
    "StarArgTuple",
    "Tuple",
    "Type",
    "UniTuple",
    "UnicodeCharSeq",
    "CharSeq",
]


class Array(Type):
    """An array by dtype, number of dimensions and layout: ``C`` (row-major), ``F`` or ``A`` (any strides)."""

    def __init__(
        self,
        dtype: Type,
        ndim: int,
        layout: str,
        readonly: bool = False,
        name: str | None = None,
        aligned: bool = True,
    ) -> None:
        if layout not in ("C", "F", "A"):
            raise ValueError(f"an array's layout is 'C', 'F' or 'A', not {layout!r}")
        self.dtype, self.ndim, self.layout = dtype, int(ndim), layout
        self.mutable, self.aligned = not readonly, aligned
        flags = ("" if self.mutable else "readonly ") + ("" if aligned else "unaligned ")
        super().__init__(name or f"{flags}array({dtype}, {ndim}d, {layout})")

    def __repr__(self) -> str:
        return f"Array({self.dtype!r}, {self.ndim}, {self.layout!r}, {not self.mutable}, aligned={self.aligned})"

    def __str__(self) -> str:
        return self.name

    @property
    def key(self) -> Any:
        return self.dtype, self.ndim, self.layout, self.mutable, self.aligned

    @property
    def readonly(self) -> bool:
        return not self.mutable

    @property
    def is_c_contig(self) -> bool:
        return self.layout == "C" or (self.ndim <= 1 and self.layout in "CF")

    @property
    def is_f_contig(self) -> bool:
        return self.layout == "F" or (self.ndim <= 1 and self.layout in "CF")

    @property
    def is_contig(self) -> bool:
        return self.layout in "CF"

    def copy(
        self,
        dtype: Type | None = None,
        ndim: int | None = None,
        layout: str | None = None,
        readonly: bool | None = None,
    ) -> Array:
        """The same with some things changed."""
        return Array(
            dtype or self.dtype,
            self.ndim if ndim is None else ndim,
            layout or self.layout,
            not self.mutable if readonly is None else readonly,
            aligned=self.aligned,
        )


def array_of(dtype: Type, index: Any) -> Array:
    """``dtype[:, ::1]``."""
    dims = index if isinstance(index, tuple) else (index,)
    if not all(isinstance(dim, slice) and (dim.start, dim.stop) == (None, None) for dim in dims):
        raise KeyError(f"array types are float32[:], float32[:, ::1] or float32[::1, :]; found {index!r}")
    steps = [dim.step for dim in dims]
    if any(step not in (None, 1) for step in steps) or steps.count(1) > 1:
        raise KeyError(f"one dimension at most can be ::1, the first or the last; found {index!r}")
    if 1 not in steps:
        return Array(dtype, len(dims), "A")
    if steps[-1] == 1:
        return Array(dtype, len(dims), "C")
    if steps[0] == 1:
        return Array(dtype, len(dims), "F")
    raise KeyError(f"::1 must be the first or the last dimension; found {index!r}")


class _Sequence(Type):
    types: tuple[Type, ...]

    def __iter__(self) -> Any:
        return iter(self.types)

    def __len__(self) -> int:
        return len(self.types)

    def __getitem__(self, index: Any) -> Any:
        return self.types[index]

    @property
    def count(self) -> int:
        return len(self.types)


class Tuple(_Sequence):
    """A tuple by the types of its items; ``Tuple((int32, int32))`` is ``UniTuple(int32, 2)``."""

    def __new__(cls, types: Sequence[Type] = ()) -> Any:
        items = tuple(types)
        if cls is Tuple and items and all(t == items[0] for t in items):
            return UniTuple(items[0], len(items))
        return super().__new__(cls)

    def __init__(self, types: Sequence[Type] = ()) -> None:
        self.types = tuple(types)
        super().__init__(f"Tuple({', '.join(map(str, self.types))})")


class UniTuple(_Sequence):
    """A tuple of ``count`` items of one type."""

    def __init__(self, dtype: Type, count: int) -> None:
        self.dtype, self.types = dtype, (dtype,) * count
        super().__init__(f"UniTuple({dtype} x {count})")


class NamedTuple(_Sequence):
    """A named tuple by the types of its items and its class."""

    def __init__(self, types: Sequence[Type], cls: type) -> None:
        self.types, self.instance_class, self.fields = tuple(types), cls, tuple(cls._fields)  # type: ignore[attr-defined]
        super().__init__(f"{cls.__name__}({', '.join(map(str, self.types))})")


class NamedUniTuple(NamedTuple):
    """A named tuple of items of one type."""

    def __init__(self, dtype: Type, count: int, cls: type) -> None:
        super().__init__((dtype,) * count, cls)
        self.dtype = dtype


class StarArgTuple(Tuple):
    """The rest of the arguments of a function with ``*args``."""

    def __new__(cls, types: Sequence[Type] = ()) -> Any:
        return object.__new__(cls)


class Dataclass(_Sequence):
    """A frozen dataclass by the types of its fields and its class."""

    def __init__(self, types: Sequence[Type], cls: type) -> None:
        self.types, self.instance_class = tuple(types), cls
        super().__init__(f"{cls.__name__}({', '.join(map(str, self.types))})")


class Optional(Type):
    """A value, or None."""

    def __init__(self, type_: Type) -> None:
        self.type = type_
        super().__init__(f"OptionalType({type_})")


class CPointer(Type):
    """A pointer of C."""

    def __init__(self, dtype: Type, addrspace: int | None = None) -> None:
        self.dtype, self.addrspace = dtype, addrspace
        super().__init__(f"{dtype}*")


class DType(Type):
    """The type of a dtype object."""

    def __init__(self, dtype: Type) -> None:
        self.dtype = dtype
        super().__init__(f"dtype({dtype})")


class _Element(Type):
    """What is no number: kernels know it by its NumPy dtype."""

    @property
    def __tessera_element__(self) -> Any:
        from ._typeof import as_dtype

        return as_dtype(self)


class CharSeq(_Element):
    """Bytes of a fixed length, as elements of arrays."""

    def __init__(self, count: int) -> None:
        self.count = count
        super().__init__(f"[char x {count}]")


class UnicodeCharSeq(_Element):
    """Text of a fixed length, as elements of arrays."""

    def __init__(self, count: int) -> None:
        self.count = count
        super().__init__(f"[unichr x {count}]")


class EnumMember(Type):
    """A member of an Enum."""

    def __init__(self, cls: type, dtype: Type) -> None:
        self.instance_class, self.dtype = cls, dtype
        super().__init__(f"{type(self).__name__}<{dtype}>({cls.__name__})")


class IntEnumMember(EnumMember):
    """A member of an IntEnum."""


class NestedArray(Array):
    """An array inside a record."""

    def __init__(self, dtype: Type, shape: Sequence[int]) -> None:
        self.shape = tuple(shape)
        super().__init__(dtype, len(self.shape), "C", name=f"nestedarray({dtype}, {self.shape})")

    @property
    def key(self) -> Any:
        return self.dtype, self.shape


class Record(_Element):
    """A record by its fields: ``(name, type, offset)`` of each."""

    def __init__(self, fields: Sequence[tuple[str, Any]], size: int, aligned: bool) -> None:
        self.fields, self.size, self.aligned = dict(fields), size, aligned
        text = ", ".join(f"{name}[type={f[0]};offset={f[1]}]" for name, f in self.fields.items())
        super().__init__(f"Record({text};{size};{aligned})")

    @classmethod
    def make_c_struct(cls, name_types: Sequence[tuple[str, Any]]) -> Record:
        """The record that C lays out for these fields."""
        import numpy

        from ._typeof import as_dtype, from_dtype

        made: Any = from_dtype(numpy.dtype([(name, as_dtype(t)) for name, t in name_types], align=True))
        return made  # type: ignore[no-any-return]

    @property
    def dtype(self) -> Any:
        from ._typeof import as_dtype

        return as_dtype(self)

    def __len__(self) -> int:
        return len(self.fields)

    def typeof(self, name: str) -> Type:
        """The type of a field."""
        found: Type = self.fields[name][0]
        return found

    def offset(self, name: str) -> int:
        """Where a field begins."""
        return int(self.fields[name][1])


if TYPE_CHECKING:

    def __getattr__(name: str) -> Any: ...  # the names that _scalar_types makes of its tables
