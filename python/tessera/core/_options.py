# SPDX-License-Identifier: Apache-2.0
"""Option objects: every ``options`` argument takes the dataclass, a dictionary of its fields, or None."""

from __future__ import annotations

import dataclasses
import difflib
import functools
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from ._errors import shown

__all__ = ["guesses", "options_of"]

T = TypeVar("T")


def _unknown(cls: type, known: Sequence[str], name: object) -> TypeError:
    close = difflib.get_close_matches(str(name)[:100], known, 1)
    hint = f"; did you mean {close[0]!r}?" if close else f"; it has {', '.join(known)}"
    return TypeError(f"{cls.__name__} has no option {shown(name)}{hint}")


def options_of(cls: type[T], value: Any) -> T:
    """``value`` as an instance of the dataclass ``cls``: itself, made of a mapping, or the defaults.

    Raises TypeError for another type and for a key that is no field.
    """
    if value is None:
        return cls()
    if isinstance(value, cls):
        return value
    if not isinstance(value, Mapping):
        kind = type(value).__name__
        raise TypeError(f"options must be {cls.__name__}, a dictionary or None, not {kind}")
    known = [field.name for field in dataclasses.fields(cls)]  # type: ignore[arg-type]
    for name in value:
        if name not in known:
            raise _unknown(cls, known, name)
    return cls(**value)


def guesses(cls: type[T]) -> type[T]:
    """Decorates a class whose arguments are options: one that it has not is told with the one that
    was meant."""
    make = cls.__init__
    code = make.__code__
    known = code.co_varnames[1 : code.co_argcount + code.co_kwonlyargcount]

    @functools.wraps(make)
    def init(self: T, *args: Any, **options: Any) -> None:
        try:
            make(self, *args, **options)
        except TypeError:
            for name in options:
                if name not in known:
                    raise _unknown(cls, known, name) from None
            raise

    cls.__init__ = init  # type: ignore[method-assign, assignment]
    return cls
