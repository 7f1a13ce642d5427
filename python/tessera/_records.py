# SPDX-License-Identifier: Apache-2.0
"""Dataclasses and named tuples as the packer sees them: their fields, what keeps kernels from making one, and the
attributes of a class that its user wrote.

Only built-in modules are imported: what a class was made with is in memory already.
"""

from __future__ import annotations

import sys
from types import FunctionType
from typing import Any, NamedTuple

__all__ = ["SPECIAL", "TUPLE", "Record", "context_manager", "is_record", "member_of", "record_of"]

TUPLE, REPR, EQ, ORDER = 1, 2, 4, 8  # TS_RECORD_*
COMPARE, KEYWORD = 4, 2  # TS_FIELD_*; TS_FIELD_REPR is 1

#: Methods that the language calls by itself.
_NUMERIC = "add sub mul truediv floordiv mod pow matmul lshift rshift or xor and"
SPECIAL = (
    "__call__", "__getitem__", "__setitem__", "__post_init__", "__str__", "__repr__", "__format__", "__len__",
    "__bool__", "__contains__", "__neg__", "__pos__", "__invert__", "__abs__", "__int__", "__float__", "__index__",
    "__stored__", "__isnat__", "__local_places__", "__shared_places__",
    "__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__",
    *(f"__{side}{name}__" for name in _NUMERIC.split() for side in ("", "r")),
)  # fmt: skip


class Record(NamedTuple):
    """One class: TS_RECORD_* flags, why kernels cannot make one ("" where they can), and for each field its name,
    whether it has a default, the default, and TS_FIELD_* flags."""

    flags: int
    problem: str
    fields: list[tuple[str, bool, Any, int]]


def is_record(cls: Any) -> bool:
    """Whether it is a class of dataclasses or of named tuples."""
    return isinstance(cls, type) and (hasattr(cls, "__dataclass_fields__") or _is_named_tuple(cls))


def _is_named_tuple(cls: type) -> bool:
    return issubclass(cls, tuple) and isinstance(getattr(cls, "_fields", None), tuple)


def _written(found: Any) -> bool:
    """Whether a function stands in a file of the user's, not made by the modules of such classes."""
    if not isinstance(found, FunctionType):
        return True
    file = found.__code__.co_filename
    makers = [sys.modules.get(name) for name in ("dataclasses", "collections", "typing")]
    return file != "<string>" and file not in [getattr(m, "__file__", None) for m in makers]


def member_of(cls: type, name: str) -> tuple[bool, Any]:
    """Whether the class or one above it has the attribute, by its user's hand, and what stands there."""
    for base in cls.__mro__:
        if base not in (object, tuple) and name in base.__dict__:
            found = base.__dict__[name]
            if name.startswith("__") and not _written(found):
                return False, None
            return True, found
    return False, None


def record_of(cls: type) -> Record:
    """What the packer writes of a class."""
    if not hasattr(cls, "__dataclass_fields__"):
        return _named_tuple(cls)
    dataclasses: Any = sys.modules["dataclasses"]
    params: Any = cls.__dataclass_params__  # type: ignore[attr-defined]
    fields = []
    for field in dataclasses.fields(cls):
        has = field.default is not dataclasses.MISSING
        flags = field.repr + KEYWORD * bool(getattr(field, "kw_only", False)) + COMPARE * bool(field.compare)
        fields.append((field.name, has, field.default if has else None, flags))
    flags = REPR * params.repr + EQ * params.eq + ORDER * params.order
    return Record(flags, _problem(cls, params, dataclasses), fields)


def _problem(cls: type, params: Any, dataclasses: Any) -> str:
    name = cls.__name__
    if "__dataclass_fields__" not in cls.__dict__:
        return f"'{name}' is derived from a dataclass and not one itself; decorate it with @dataclass(frozen=True)"
    if not params.frozen:
        return f"only frozen dataclasses are values of kernels; decorate '{name}' with @dataclass(frozen=True)"
    if cls.__new__ is not object.__new__:
        return f"'{name}' has a __new__ of its own; write a function that makes the instance"
    if not params.init or _written(cls.__dict__.get("__init__")):
        return f"'{name}' has no generated __init__; leave it to @dataclass, and use __post_init__ or a function"
    for field in cls.__dataclass_fields__.values():  # type: ignore[attr-defined]
        if field._field_type is dataclasses._FIELD_INITVAR:
            return f"field '{field.name}' of '{name}' is an InitVar; make it a field"
        if not field.init and field._field_type is dataclasses._FIELD:
            return f"field '{field.name}' of '{name}' has init=False; give it a property of that name"
        if field.default_factory is not dataclasses.MISSING:
            return f"field '{field.name}' of '{name}' has a default_factory; give it a default that is a value"
    return ""


def _named_tuple(cls: Any) -> Record:
    defaults = getattr(cls, "_field_defaults", {})
    fields = [(name, name in defaults, defaults.get(name), 1 + COMPARE) for name in cls._fields]
    base = next(b for b in cls.__mro__ if "_fields" in b.__dict__)
    problem = ""
    if any("__new__" in b.__dict__ or "__init__" in b.__dict__ for b in cls.__mro__[: cls.__mro__.index(base)]):
        problem = f"'{cls.__name__}' has a __new__ or __init__ of its own; write a function that makes the instance"
    return Record(TUPLE + REPR + EQ, problem, fields)


def context_manager(fn: FunctionType) -> FunctionType | None:
    """The function that contextlib.contextmanager made ``fn`` of; None where it is another."""
    wrapped = getattr(fn, "__wrapped__", None)
    library = sys.modules.get("contextlib")
    if not isinstance(wrapped, FunctionType) or library is None or wrapped.__code__.co_flags & 0x280:
        return None  # 0x280: a coroutine or an asynchronous generator
    code = fn.__code__
    return wrapped if code.co_name == "helper" and code.co_filename == library.__file__ else None
