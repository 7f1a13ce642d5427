# SPDX-License-Identifier: Apache-2.0
"""``gpu_struct``: classes of structs, for arrays of structured dtypes and for operators."""

from __future__ import annotations

import keyword
import operator
import typing
from typing import Any

import numpy

from .types import StructTypeDescriptor, TypeDescriptor, type_of

__all__ = ["gpu_struct"]


class _Class(type):
    """Makes instances on the host; kernels make them as any named tuple."""

    def __call__(cls: Any, *args: Any, **named: Any) -> Any:
        fields = cls._fields
        if len(args) == 1 and not named and (len(fields) != 1 or isinstance(args[0], (dict, numpy.void, tuple))):
            args, named = cls._taken_apart(args[0])
        if named:
            unknown = [name for name in named if name not in fields]
            if unknown or len(args) + len(named) > len(fields):
                raise TypeError(
                    f"{cls.__name__} has the fields {', '.join(fields)}, found {', '.join(unknown or named)}"
                )
            args = (*args, *(named[name] for name in fields[len(args) :] if name in named))
        if len(args) != len(fields):
            raise TypeError(f"{cls.__name__} has {len(fields)} fields ({', '.join(fields)}), found {len(args)} values")
        return tuple.__new__(cls, (kind.host(v) for kind, v in zip(cls._types.values(), args)))

    def _taken_apart(cls: Any, one: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
        if isinstance(one, dict):
            return (), one
        if isinstance(one, numpy.ndarray) and one.size == 1:
            one = one.reshape(-1)[0]
        if isinstance(one, (tuple, list, numpy.void)):
            return tuple(one), {}
        return (one,), {}


def _array_interface(self: Any) -> Any:
    return numpy.array(tuple(self), self.dtype).__array_interface__


def _repr(self: Any) -> str:
    return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in zip(self._fields, self))})"


def gpu_struct(field_dict: Any, name: str = "AnonymousStruct") -> Any:
    """A class of structs.

    Parameters
    ----------
    field_dict : dict, numpy.dtype or class
        Names of the fields and their types: dtypes, other structs, or dicts for nested ones. A class names its fields
        by annotations (``@gpu_struct``).
    name : str
        The name of the class.

    Returns
    -------
    type
        Instances are made of values in order, by name, or of one dict or tuple; fields are read by name or index, in
        operators as on the host. ``.dtype`` is the structured dtype of arrays, laid out as C does; that of a dtype that
        was given stays as it is.

    Raises
    ------
    ValueError
        For a name of a field that is no identifier.
    TypeError
        For a type of a field that kernels have not.
    """
    dtype = None
    if isinstance(field_dict, numpy.dtype):
        dtype, field_dict = field_dict, {n: field_dict.fields[n][0] for n in field_dict.names or ()}
    elif isinstance(field_dict, type):
        name, module = field_dict.__name__, field_dict
        field_dict = _annotations(module)
    for field in field_dict:
        if not isinstance(field, str) or not field.isidentifier() or keyword.iskeyword(field):
            raise ValueError(f"{field!r} cannot be a field of '{name}': fields are named by identifiers of Python")
    types = {field: _type_of_field(name, field, kind) for field, kind in field_dict.items()}
    space = {field: property(operator.itemgetter(i)) for i, field in enumerate(types)}
    space |= {"__slots__": (), "_fields": tuple(types), "_types": types, "__repr__": _repr}
    cls = _Class(name, (tuple,), {**space, "__array_interface__": property(_array_interface)})
    made: Any = cls
    made.dtype = dtype or numpy.dtype([(field, kind.dtype) for field, kind in types.items()], align=True)
    made.__tessera_type__ = StructTypeDescriptor(made)
    return made


def _annotations(cls: type) -> dict[str, Any]:
    try:
        return typing.get_type_hints(cls)
    except NameError:
        found = dict(cls.__annotations__)
        if any(isinstance(hint, str) for hint in found.values()):
            raise
        return found


def _type_of_field(name: str, field: str, kind: Any) -> TypeDescriptor:
    if isinstance(kind, dict):
        return gpu_struct(kind, f"{name}_{field}").__tessera_type__  # type: ignore[no-any-return]
    try:
        return type_of({bool: numpy.bool_, int: numpy.int64, float: numpy.float64}.get(kind, kind))
    except TypeError as error:
        raise TypeError(f"field '{field}' of '{name}': {error}") from None
