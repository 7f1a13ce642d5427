# SPDX-License-Identifier: Apache-2.0
"""Classes of the user's as values of kernels, as numba.core.extending declares them: a type with a struct as its data
model, names for the members, and a function that puts a struct together.

    register_model(PointType)         class PointModel(models.StructModel): members x, y
    make_attribute_wrapper            p.x
    type_callable, lower_builtin      Point(1, 2) in a kernel
    lower_constant                    a Point that a kernel names

Such a type is a frozen dataclass here, made of the members. What ``lower_builtin`` registers hands out LLVM IR: it is
called once for each use, with stand-ins that only know how to fill a struct (``cgutils.create_struct_proxy``). One that
does more is refused.
"""

from __future__ import annotations

import dataclasses
from typing import Any, NamedTuple, NoReturn

from ._errors import LoweringError
from ._overloads import Registered, add
from ._places import local_like, shared_like

__all__ = ["StructModel", "constant_of", "create_struct_proxy", "layout_of", "lower_builtin", "make_attribute_wrapper",
           "record_of", "register_model", "type_callable"]  # fmt: skip

HELP = "overload() gives a function of Python for the types of its arguments; a frozen dataclass is a value of kernels"
_models: dict[Any, Any] = {}  # class of types -> its model
_attributes: dict[tuple[type, str], str] = {}  # class of types, member -> name in Python
_records: dict[Any, Any] = {}


class _Made(NamedTuple):
    """A callable (kept alive), its typing functions, and its implementations with the types of their arguments."""

    function: Any
    typings: list[Any]
    lowerings: list[tuple[tuple[Any, ...], Any]]


_made: dict[int, _Made] = {}


class StructModel:
    """A data model of named members, ``(name, type)`` each."""

    def __init__(self, dmm: Any, fe_type: Any, members: Any) -> None:
        self._members = [(name, type_) for name, type_ in members]


def register_model(cls: type) -> Any:
    """Decorator of the data model of a class of types."""

    def decorate(model: Any) -> Any:
        _models[cls] = model
        return model

    return decorate


def _members(type_: Any) -> list[tuple[str, Any]] | None:
    model = _models.get(type(type_))
    if not (isinstance(model, type) and issubclass(model, StructModel)):
        return None
    make: Any = model
    found: list[tuple[str, Any]] = make(None, type_)._members
    return found


def _names(type_: Any, members: list[tuple[str, Any]]) -> list[str]:
    """What the members are called in Python."""
    return [_attributes.get((type(type_), member), member) for member, _ in members]


def record_of(type_: Any) -> Any:
    """The frozen dataclass of a type whose model is a struct; None of others."""
    members = _members(type_)
    if members is None:
        return None
    if type_ not in _records:
        made = _records[type_] = dataclasses.make_dataclass(type_.name, _names(type_, members), frozen=True)
        _keep(made, type_, _blank(type_))
    return _records[type_]


def _keep(record: Any, type_: Any, blank: Any) -> None:
    """Tells ``cuda.local.array(n, type)`` and ``cuda.shared.array`` how values are kept."""

    def local_places(shape):  # type: ignore[no-untyped-def]
        return local_like(shape, blank)

    def shared_places(shape):  # type: ignore[no-untyped-def]
        return shared_like(shape, blank)

    record.__tessera_type__ = type_  # what overloads see of a value
    record.__local_places__, record.__shared_places__ = staticmethod(local_places), staticmethod(shared_places)


def layout_of(type_: Any) -> Any:
    """The NumPy dtype of a value: of a struct a record as C lays it out."""
    import numpy

    from ._typeof import as_dtype

    members = _members(type_)
    if members is None:
        return as_dtype(type_)
    of = (layout_of(of) for _, of in members)
    return numpy.dtype(list(zip(_names(type_, members), of)), align=True)


def _blank(type_: Any) -> Any:
    """A value of the type: zeros."""
    from ._typeof import as_dtype

    members = _members(type_)
    return as_dtype(type_).type(0) if members is None else record_of(type_)(*(_blank(of) for _, of in members))


def constant_of(obj: Any) -> Any:
    """The value of kernels that an instance of the user's class stands for, or None."""
    from ._typeof import registered

    found = next((registered[cls] for cls in type(obj).__mro__ if cls in registered), None)
    type_ = found and found(obj, None)
    members = _members(type_)
    if members is None:
        return None
    from ._typeof import as_dtype

    values = []
    for member, of in members:
        value = getattr(obj, _attributes.get((type(type_), member), member))
        values.append(constant_of(value) if _members(of) else as_dtype(of).type(value))
    return record_of(type_)(*values)


# ---- putting a struct together -----------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class _Argument:
    """A value of LLVM IR that is an argument."""

    at: int


@dataclasses.dataclass(frozen=True)
class _Constant:
    value: Any


@dataclasses.dataclass(frozen=True)
class _Struct:
    members: dict[str, Any]


class _StandIn:
    """A context or a builder, of which only constants are known."""

    def __init__(self, what: str) -> None:
        self._what = what

    def get_constant(self, type_: Any, value: Any) -> Any:
        return _Constant(value)

    def __getattr__(self, name: str) -> NoReturn:
        raise LoweringError(
            f"it uses {self._what}.{name}, which hands out LLVM IR; kernels are not compiled through that here\n"
            f"  help: {HELP}"
        )


class _StructProxy:
    """What fills a struct, member by member."""

    def __init__(self, type_: Any, value: Any) -> None:
        vars(self).update(_type=type_, _filled=dict(value.members) if isinstance(value, _Struct) else {})

    def __setattr__(self, name: str, value: Any) -> None:
        self._filled[name] = value

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name not in self._filled:
            raise AttributeError(name)
        return self._filled[name]

    def _getvalue(self) -> _Struct:
        return _Struct(dict(self._filled))


def create_struct_proxy(fe_type: Any, kind: str = "value") -> Any:
    """What numba's ``cgutils.create_struct_proxy`` gives: ``proxy(context, builder)`` has the members of the type's
    struct as attributes, and ``_getvalue()``."""
    if _members(fe_type) is None:
        raise LoweringError(f"{fe_type} has no struct as its model\n  help: {HELP}")
    return lambda context, builder, value=None, ref=None: _StructProxy(fe_type, value)


def _fits(declared: tuple[Any, ...], given: tuple[Any, ...]) -> bool:
    pairs = zip(declared, given, strict=False)
    return len(declared) == len(given) and all(
        isinstance(type_, of) if isinstance(of, type) else type_ == of for of, type_ in pairs
    )


def _source(value: Any, type_: Any) -> tuple[int, Any]:
    """Which argument a member is, and how it is converted; or -1 and a constant."""
    from ._typeof import as_dtype

    convert = None if _members(type_) else type_
    if isinstance(value, _Argument):
        return value.at, convert
    if isinstance(value, _Constant) and convert is not None:
        return -1, as_dtype(type_).type(value.value)
    raise LoweringError(f"a member of a struct is made by LLVM IR\n  help: {HELP}")


def _maker(known: _Made, type_: Any, given: tuple[Any, ...]) -> Any:
    """The function of the kernels' language that makes a value of the type of these arguments."""
    from ._signature import Signature

    lowered = next((f for declared, f in known.lowerings if _fits(declared, given)), None)
    members = _members(type_)
    if lowered is None or members is None:
        return None
    arguments = tuple(_Argument(i) for i in range(len(given)))
    made = lowered(_StandIn("context"), _StandIn("builder"), Signature(type_, given), arguments)
    if not isinstance(made, _Struct):
        raise LoweringError(f"it gives no struct of create_struct_proxy()\n  help: {HELP}")
    sources = tuple(_source(made.members.get(member, _Constant(0)), of) for member, of in members)
    record = record_of(type_)

    def make(*args):  # type: ignore[no-untyped-def]
        return record(*tuple(taken(args, at, convert) for at, convert in sources))

    return make


def taken(args: Any, at: int, convert: Any) -> Any:
    """A member of a struct, in a kernel."""
    if at < 0:
        return convert
    return args[at] if convert is None else convert(args[at])


def _known(function: Any, name: str) -> _Made:
    """What is registered of a callable; kernels that call it as something else than a struct are refused."""
    if id(function) in _made:
        return _made[id(function)]
    known = _made[id(function)] = _Made(function, [], [])

    def typing(*given: Any) -> Any:
        for typed in filter(None, (factory(None) for factory in known.typings)):
            type_ = typed(*given)
            made = None if type_ is None else _maker(known, type_, given)
            if made is not None:
                return made
        shown = getattr(function, "__name__", function)
        raise LoweringError(
            f"{shown}() is made by {name}, which hands out LLVM IR; kernels are not compiled through that here\n"
            f"  help: {HELP}"
        )

    add(function, Registered(typing, strict=False))
    return known


def type_callable(func: Any) -> Any:
    """Decorator of ``function(context)``, which gives a function from the types of arguments to that of ``func(..)``.

    Notes
    -----
    Kernels can call ``func`` where that type's model is a struct and `lower_builtin` fills it; others are refused.
    """

    def decorate(factory: Any) -> Any:
        _known(func, "type_callable()").typings.append(factory)
        return factory

    return decorate


def lower_builtin(func: Any = None, *argtys: Any, **options: Any) -> Any:
    """Decorator of what makes ``func(..)`` of arguments of these types, or classes of types, in LLVM IR: see
    `type_callable`."""

    def decorate(implementation: Any) -> Any:
        if callable(func):
            _known(func, "lower_builtin()").lowerings.append((argtys, implementation))
        return implementation

    return decorate


def make_attribute_wrapper(typeclass: type, struct_attr: str, python_attr: str) -> None:
    """``value.python_attr`` reads the member ``struct_attr`` of a type's struct."""
    _attributes[typeclass, struct_attr] = python_attr
