# SPDX-License-Identifier: Apache-2.0
"""What items of arrays and iterators are: numbers of a dtype, or structs of such.

Each type has, for kernels, the functions that convert a value to it, and that read and write an element of an array of
it, whatever the array's memory is:

    cast(v)       the value v as this type
    get(a, i)     element i of the array a, as a value
    put(a, i, v)  writes the value v, which is of this type already
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy

from ._text import written

__all__ = [
    "StructTypeDescriptor", "TypeDescriptor", "bfloat16", "boolean", "complex64", "complex128", "float16", "float32",
    "float64", "from_numpy_dtype", "int8", "int16", "int32", "int64", "pointer", "signature_from_annotations", "struct",
    "uint8", "uint16", "uint32", "uint64",
]  # fmt: skip


class TypeDescriptor:
    """The type of an item.

    Attributes
    ----------
    dtype : numpy.dtype
    cast, get, put
        Functions for kernels, see the module.
    """

    def __init__(self, dtype: Any) -> None:
        self.dtype = numpy.dtype(dtype)
        self.cast, self.get, self.put = _number(self.dtype)

    @property
    def size(self) -> int:
        """Bytes of an item."""
        return self.dtype.itemsize

    @property
    def alignment(self) -> int:
        """Bytes that its address is a multiple of."""
        return self.dtype.alignment

    def pointer(self) -> TypeDescriptor:
        """The type of the address of such an item."""
        return pointer(self)

    def host(self, value: Any) -> Any:
        """A value of the host as launches take it."""
        return self.dtype.type(value)

    @property
    def zero(self) -> Any:
        """The value of the host all whose bits are 0."""
        return self.host(numpy.zeros((), self.dtype)[()])

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and other.dtype == self.dtype  # type: ignore[attr-defined]

    def __hash__(self) -> int:
        return hash(self.dtype)

    def __repr__(self) -> str:
        return f"TypeDescriptor({self.dtype})"


class StructTypeDescriptor(TypeDescriptor):
    """The type of structs: a class that `gpu_struct` made."""

    def __init__(self, cls: Any) -> None:
        self.cls, self.dtype = cls, cls.dtype

    @functools.cached_property
    def _functions(self) -> tuple[Callable[..., Any], ...]:
        return _struct_functions(self.cls)  # where kernels are made only: it takes long

    cast = property(lambda self: self._functions[0])  # type: ignore[assignment]
    get = property(lambda self: self._functions[1])  # type: ignore[assignment]
    put = property(lambda self: self._functions[2])  # type: ignore[assignment]

    @property
    def name(self) -> str:
        """The name of the class."""
        return str(self.cls.__name__)

    @property
    def fields(self) -> dict[str, TypeDescriptor]:
        """The types of the fields by name."""
        return dict(self.cls._types)

    def host(self, value: Any) -> Any:
        return value if isinstance(value, self.cls) else self.cls(value)

    def __repr__(self) -> str:
        return f"StructTypeDescriptor({self.name}, {self.dtype})"


def _number(dtype: numpy.dtype[Any]) -> tuple[Callable[..., Any], ...]:
    kind = dtype.type if dtype.kind not in "mM" else None

    def cast(v: Any) -> Any:
        return kind(v)  # type: ignore[misc]

    def same(v: Any) -> Any:
        return v

    def get(a: Any, i: Any) -> Any:
        return a[i]

    def put(a: Any, i: Any, v: Any) -> None:
        a[i] = v

    return (same if kind is None else cast), get, put


def _words(cls: Any) -> str:
    fields = ", ".join(cls._fields)
    return f"a value of {cls.__name__} ({fields}) has {len(cls._fields)} fields, and what the operator gave has not"


def _struct_functions(cls: Any) -> tuple[Callable[..., Any], ...]:
    """``cast``, ``get`` and ``put`` of structs, written out field by field."""
    from ..cuda._device import refuse

    space: dict[str, Any] = {"refuse": refuse}

    def make(of: Any, leaf: Callable[[Any, str], str], path: str) -> str:
        """A construction of the struct ``of`` out of what ``leaf`` gives for each number below ``path``."""
        name = f"C{len(space)}"
        space[name] = of
        items = []
        for i, (field, kind) in enumerate(of._types.items()):
            below = leaf("step", f"{path}|{field}|{i}")
            nested = isinstance(kind, StructTypeDescriptor)
            items.append(make(kind.cls, leaf, below) if nested else leaf(_named(space, kind), below))
        return f"{name}({', '.join(items)})"

    def by_index(what: str, path: str) -> str:
        if what == "step":
            value, _, i = path.split("|")
            return f"{value}[{i}]"
        return f"{what}({path})"

    def by_name(what: str, path: str) -> str:
        if what == "step":
            value, field, _ = path.split("|")
            return f"{value}.{field}"
        return path

    puts = []

    def write(of: Any, target: str, value: str) -> None:
        for i, (field, kind) in enumerate(of._types.items()):
            if isinstance(kind, StructTypeDescriptor):
                write(kind.cls, f"{target}.{field}", f"{value}[{i}]")
            else:
                puts.append(f"    {target}.{field} = {value}[{i}]")

    write(cls, "r", "v")
    check = f"    if len(v) != {len(cls._fields)}:\n        refuse({_words(cls)!r})"
    text = "\n".join([
        f"def cast(v):\n{check}\n    return {make(cls, by_index, 'v')}",
        f"def get(a, i):\n    r = a[i]\n    return {make(cls, by_name, 'r')}",
        "def put(a, i, v):\n    r = a[i]", *(puts or ["    pass"]), "",
    ])  # fmt: skip
    written(text, space, f"struct {cls.__name__}")
    return space["cast"], space["get"], space["put"]


def _named(space: dict[str, Any], kind: TypeDescriptor) -> str:
    name = f"T{len(space)}"
    space[name] = kind.cast
    return name


@functools.cache
def _of_dtype(dtype: numpy.dtype[Any]) -> TypeDescriptor:
    if dtype.names is not None:
        from .struct import gpu_struct

        return StructTypeDescriptor(gpu_struct(dtype))
    if dtype.subdtype is not None or dtype.kind in "OSU" or not dtype.itemsize:
        raise TypeError(f"items of {dtype} are not handled: numbers, dates and structs of such are")
    return TypeDescriptor(dtype)


def from_numpy_dtype(dtype: Any) -> TypeDescriptor:
    """The type of items of a dtype; a structured one gives a struct.

    Raises
    ------
    TypeError
        For texts, objects and sub-arrays.
    """
    return _of_dtype(numpy.dtype(dtype))


def struct(fields: dict[str, Any], name: str = "AnonymousStruct") -> StructTypeDescriptor:
    """The type of structs with these fields, laid out as C does."""
    from .struct import gpu_struct

    return gpu_struct(fields, name).__tessera_type__  # type: ignore[no-any-return]


def pointer(pointee: TypeDescriptor) -> TypeDescriptor:
    """The type of addresses of such items, which is uint64."""
    return uint64


def type_of(what: Any) -> TypeDescriptor:
    """The type that a class of structs, a type, a dtype or something with a dtype stands for."""
    if isinstance(what, TypeDescriptor):
        return what
    found = getattr(what, "__tessera_type__", None)
    if found is not None:
        return found  # type: ignore[no-any-return]
    return from_numpy_dtype(what if isinstance(what, type) else getattr(what, "dtype", what))


def signature_from_annotations(function: Any) -> tuple[list[TypeDescriptor | None], TypeDescriptor | None]:
    """The annotated types of the parameters and of what is returned; None where nothing that names a type is there."""
    import inspect
    import typing

    try:
        hints = typing.get_type_hints(function)
    except Exception:  # names that exist in the user's function only
        hints = dict(getattr(function, "__annotations__", {}))

    def known(hint: Any) -> TypeDescriptor | None:
        if hint is None or isinstance(hint, str):
            return None
        try:
            return type_of({bool: numpy.bool_, int: numpy.int64, float: numpy.float64}.get(hint, hint))
        except TypeError:
            return None

    names = list(inspect.signature(function).parameters)
    return [known(hints.get(name)) for name in names], known(hints.get("return"))


int8, int16, int32, int64 = map(_of_dtype, map(numpy.dtype, ("i1", "i2", "i4", "i8")))
uint8, uint16, uint32, uint64 = map(_of_dtype, map(numpy.dtype, ("u1", "u2", "u4", "u8")))
float16, float32, float64 = map(_of_dtype, map(numpy.dtype, ("f2", "f4", "f8")))
complex64, complex128 = map(_of_dtype, map(numpy.dtype, ("c8", "c16")))
boolean = _of_dtype(numpy.dtype("?"))


def __getattr__(name: str) -> Any:
    if name == "bfloat16":
        import ml_dtypes

        return from_numpy_dtype(ml_dtypes.bfloat16)
    raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
