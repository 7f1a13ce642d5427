# SPDX-License-Identifier: Apache-2.0
"""Annotations of kernel parameters, and the tree that the launch reads arguments by.

``parameter(name, annotation)`` makes one node of that tree, a row in the order of ``ts_param`` (launch.h). A tuple
annotated item by item has a node for each item, so ``tuple[ct.Constant[int], int]`` compiles the first number in and
passes the second one at run time. A dataclass or named tuple as annotation has a node for each of its fields, by the
annotation of the field.
"""

from __future__ import annotations

import sys
from typing import Annotated, Any, ForwardRef, NamedTuple, TypeVar, get_args, get_origin

from .. import _core, _records
from ._dtype import DTYPES, float64, int32, int64

__all__ = [
    "ArrayAnnotation",
    "Constant",
    "ConstantAnnotation",
    "IndexedWithInt64",
    "ListAnnotation",
    "Parameter",
    "ScalarAnnotation",
    "ScalarFloat64",
    "ScalarInt64",
    "annotations_of",
    "parameter",
]

T = TypeVar("T")

# ---- what users write ------------------------------------------------------------------------------


class _Annotation:
    """Metadata of ``typing.Annotated``: values that compare and print by their fields."""

    __slots__: tuple[str, ...] = ()

    def _fields(self) -> tuple[Any, ...]:
        return tuple(getattr(self, name) for name in self.__slots__)

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and self._fields() == other._fields()

    def __hash__(self) -> int:
        return hash((type(self).__name__, self._fields()))

    def __repr__(self) -> str:
        fields = ", ".join(f"{name}={getattr(self, name)!r}" for name in self.__slots__)
        return f"{type(self).__name__}({fields})"


class ConstantAnnotation(_Annotation):
    """Marks a parameter whose value is compiled in: ``Annotated[int, ct.ConstantAnnotation()]`` is
    ``ct.Constant[int]``."""


class ScalarAnnotation(_Annotation):
    """The dtype that a number is passed as: ``Annotated[int, ScalarAnnotation(dtype=ct.int64)]`` is
    ``ct.ScalarInt64``. A dtype as annotation says the same."""

    __slots__ = ("dtype",)

    def __init__(self, *, dtype: Any) -> None:
        self.dtype = dtype


def _axes_of(name: str, axes: Any) -> tuple[int, ...]:
    if not isinstance(axes, tuple):
        raise TypeError(f"{name} must be a tuple of axes, such as (0,), not {axes!r}")
    for i, axis in enumerate(axes):
        if isinstance(axis, bool) or not isinstance(axis, int):
            raise TypeError(f"{name}[{i}] must be int, not {axis!r}")
    return axes


class ArrayAnnotation(_Annotation):
    """Details of an array parameter, for ``Annotated[ct.Array, ct.ArrayAnnotation(...)]``.

    Parameters
    ----------
    index_dtype : dtype
        ``ct.int32`` or ``ct.int64``: type of extents and strides inside the kernel. An array that int32 cannot
        index has int64 in any case.
    static_shape_dims, static_stride_dims : tuple of int
        Axes whose extent or stride is compiled in; -1 is the last one. Where some stride is named, a stride of 1
        on another axis is not compiled in.

    Raises
    ------
    TypeError, ValueError
        For axes that are not ints, or another ``index_dtype``. An axis that the array lacks, or that is named
        twice, raises ValueError at the launch.
    """

    __slots__ = ("index_dtype", "static_shape_dims", "static_stride_dims")

    def __init__(
        self,
        *,
        index_dtype: Any = int32,
        static_shape_dims: tuple[int, ...] = (),
        static_stride_dims: tuple[int, ...] = (),
    ) -> None:
        if index_dtype not in (int32, int64):
            raise ValueError(f"index_dtype must be ct.int32 or ct.int64, not {index_dtype!r}")
        self.index_dtype = index_dtype
        self.static_shape_dims = _axes_of("static_shape_dims", static_shape_dims)
        self.static_stride_dims = _axes_of("static_stride_dims", static_stride_dims)


class ListAnnotation(_Annotation):
    """Details of a list of arrays, for ``Annotated[list, ct.ListAnnotation(element=...)]``.

    Parameters
    ----------
    element : ArrayAnnotation, or an Annotated type that holds one
        What holds for each array of the list. An extent or stride that it compiles in must be the same in all.
    """

    __slots__ = ("element",)

    def __init__(self, *, element: Any) -> None:
        found = [m for m in (element, *getattr(element, "__metadata__", ())) if isinstance(m, ArrayAnnotation)]
        if len(found) != 1:
            raise TypeError(
                f"element of ListAnnotation must be one ArrayAnnotation, or an Annotated type with one, not {element!r}"
            )
        self.element = found[0]


Constant = Annotated[T, ConstantAnnotation()]
Constant.__doc__ = """``ct.Constant`` or ``ct.Constant[int]``: the argument is a compile-time constant; each
value makes its own version of the kernel."""

IndexedWithInt64 = Annotated[T, ArrayAnnotation(index_dtype=int64)]
IndexedWithInt64.__doc__ = "Annotation: extents and strides of the array are int64."

ScalarInt64 = Annotated[T, ScalarAnnotation(dtype=int64)]
ScalarInt64.__doc__ = "Annotation: an int is passed as int64 (a Python int as int32 otherwise)."

ScalarFloat64 = Annotated[T, ScalarAnnotation(dtype=float64)]
ScalarFloat64.__doc__ = "Annotation: a number is passed as float64 (a Python float as float32 otherwise)."


# ---- the tree ----------------------------------------------------------------------------------------


class Parameter(NamedTuple):
    """What the launch knows of a parameter, or of an item of one: ``ts_param`` of launch.h, member for member."""

    name: str | None
    flags: int = 0
    static_shape: int = 0
    static_stride: int = 0
    dtype: int = 0
    static_shape_end: int = 0
    static_stride_end: int = 0
    form: int = _core.PARAM_ANY
    items: tuple[Any, ...] = ()


NUMBERS = {int: _core.PARAM_INT, float: _core.PARAM_FLOAT}  # `bool` is taken as no annotation: ints stand for bools too
# The dtypes that numbers are passed as, with their numbers in the core.
NUMERIC = {name: number for number, (name, _, kind, _) in enumerate(DTYPES, 1) if kind in "biuf"}


def parameter(name: str, note: Any) -> Parameter:
    """The node of a parameter, whose annotation is ``note`` (None: it has none)."""
    return _node(name, note, False)._replace(name=name)


def _node(path: str, note: Any, constant: bool, inside: tuple[type, ...] = ()) -> Parameter:
    """``path`` names the parameter or item in messages; ``constant``: something around it is a Constant; ``inside``:
    the classes whose fields it is in."""
    extras = getattr(note, "__metadata__", ())
    if extras:
        note = note.__origin__
    if isinstance(note, ConstantAnnotation):
        extras, note = (note,), None
    constant = constant or any(e is ConstantAnnotation or isinstance(e, ConstantAnnotation) for e in extras)
    details = [e for e in extras if isinstance(e, (ArrayAnnotation, ListAnnotation, ScalarAnnotation))]
    if constant and details:
        raise TypeError(
            f"parameter '{path}': Constant cannot be combined with {details[0]!r}; a constant has its own dtype"
        )
    if len(details) > 1:
        raise TypeError(f"parameter '{path}': {details[0]!r} cannot be combined with {details[1]!r}")
    for detail in details:
        return _detailed(path, detail)
    if get_origin(note) in (tuple, list):
        return _items(path, note, constant, inside)
    if _records.is_record(note) and not constant and note not in inside:
        fields = [_node(f"{path}.{name}", of, False, (*inside, note)) for name, of in _fields_of(note)]
        return Parameter(None, form=_core.PARAM_RECORD, items=tuple(fields))
    return _constant(path, note) if constant else _number(path, note)


def _detailed(path: str, detail: Any) -> Parameter:
    if isinstance(detail, ListAnnotation):
        return Parameter(None, form=_core.PARAM_LIST_OF, items=(_detailed(path, detail.element),))
    if isinstance(detail, ScalarAnnotation):
        return _number(path, detail.dtype)
    shape = _masks(path, "static_shape_dims", detail.static_shape_dims)
    stride = _masks(path, "static_stride_dims", detail.static_stride_dims)
    flags = _core.PARAM_INDEX64 if detail.index_dtype == int64 else 0
    flags |= _core.PARAM_STATIC_STRIDES if detail.static_stride_dims else 0
    return Parameter(None, flags, shape[0], stride[0], 0, shape[1], stride[1])


def _masks(path: str, what: str, axes: tuple[int, ...]) -> tuple[int, int]:
    """Bits of the axes counted from the front, and of those counted from the end."""
    front = end = 0
    for axis in axes:
        if not -_core.ARRAY_RANK <= axis < _core.ARRAY_RANK:
            raise ValueError(
                f"parameter '{path}': {what} contains axis {axis}; arrays have at most {_core.ARRAY_RANK} axes"
            )
        bit = 1 << (axis if axis >= 0 else -1 - axis)
        if (front if axis >= 0 else end) & bit:
            raise ValueError(f"parameter '{path}': {what} contains a duplicate axis, {axis}")
        front, end = (front | bit, end) if axis >= 0 else (front, end | bit)
    return front, end


def _items(path: str, note: Any, constant: bool, inside: tuple[type, ...]) -> Parameter:
    inner = get_args(note)
    flags = _core.PARAM_CONSTANT if constant else 0
    if get_origin(note) is list:
        node = _node(f"{path}[...]", inner[0], constant, inside)
        return Parameter(None, flags, form=_core.PARAM_LIST_OF, items=(node,))
    if len(inner) == 2 and inner[1] is ...:
        node = _node(f"{path}[...]", inner[0], constant, inside)
        return Parameter(None, flags, form=_core.PARAM_TUPLE_OF, items=(node,))
    inner = () if inner == ((),) else inner  # tuple[()] before Python 3.11
    nodes = tuple(_node(f"{path}[{i}]", item, constant, inside) for i, item in enumerate(inner))
    return Parameter(None, flags, form=_core.PARAM_TUPLE, items=nodes)


def _constant(path: str, note: Any) -> Parameter:
    category = _core.PARAM_BOOL if note is bool else NUMBERS.get(note, 0) if isinstance(note, type) else 0
    return Parameter(None, _core.PARAM_CONSTANT | category)


def _number(path: str, note: Any) -> Parameter:
    """What an annotation says of a number; nothing where it names another type."""
    from .._foreign import dtype_name

    if note is int or note is float:
        return Parameter(None, NUMBERS[note])
    dtype = None if isinstance(note, str) else dtype_name(note)
    if dtype is None:
        return Parameter(None)
    if dtype not in NUMERIC:
        raise TypeError(
            f"parameter '{path}' is annotated {dtype}, which is a storage type; numbers are passed as "
            f"{', '.join(NUMERIC)}"
        )
    return Parameter(None, dtype=NUMERIC[dtype])


def _fields_of(cls: Any) -> list[tuple[str, Any]]:
    """Name and annotation of each field of a dataclass or named tuple."""
    of_dataclass = getattr(cls, "__dataclass_fields__", {})
    of_tuple = getattr(cls, "__annotations__", {})
    space = getattr(sys.modules.get(cls.__module__), "__dict__", {})
    notes = []
    for name, *_ in _records.record_of(cls).fields:
        note = of_dataclass[name].type if of_dataclass else of_tuple.get(name)
        notes.append((name, _evaluated(note.__forward_arg__ if isinstance(note, ForwardRef) else note, space, {})))
    return notes


def _evaluated(note: Any, space: dict[str, Any], local: dict[str, Any]) -> Any:
    """An annotation; one written as text is evaluated where that is possible."""
    if not isinstance(note, str):
        return note
    try:
        return eval(note, space, local)
    except Exception:  # a name that only type checkers see; what it says is plain where it is a Constant
        return Constant if "Constant" in note else note


def annotations_of(function: Any) -> dict[str, Any]:
    """The function's annotations with those written as text evaluated where that is possible."""
    local = {}
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or ()):
        try:
            local[name] = cell.cell_contents
        except ValueError:  # bound later
            continue
    notes = getattr(function, "__annotations__", {})
    return {name: _evaluated(note, function.__globals__, local) for name, note in notes.items()}
