# SPDX-License-Identifier: Apache-2.0
"""Signatures, and the reader of signature strings: ``"void(float32[:, ::1], int32)"``. Nothing is evaluated."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, NoReturn

from . import types

__all__ = ["Signature", "normalize", "signature"]


class Signature:
    """Argument types and the type of the result."""

    def __init__(self, return_type: types.Type | None, args: Sequence[types.Type], recvr: Any = None) -> None:
        for arg in (*args, *(() if return_type is None else (return_type,))):
            if not isinstance(arg, types.Type):
                raise TypeError(f"invalid type in signature: expected a type instance, got {arg!r}")
        self.return_type, self.args, self.recvr = return_type, tuple(args), recvr

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Signature):
            return NotImplemented
        return self.args == other.args and self.return_type == other.return_type

    def __hash__(self) -> int:
        return hash(self.args)

    def __repr__(self) -> str:
        return f"({', '.join(map(str, self.args))}) -> {self.return_type}"


def signature(return_type: types.Type, *args: types.Type) -> Signature:
    """``signature(void, int32)`` is ``void(int32)``."""
    return Signature(return_type, args)


_TOKEN = re.compile(r"\s*(?:([A-Za-z_][A-Za-z_0-9.]*)|(\d+)|('[^']*'|\"[^\"]*\")|(::1|[()\[\]:,=]))")


class _Reader:
    """Recursive descent over ``type(type, ...)``, ``(type, ...)`` and ``type[...]``."""

    def __init__(self, text: str) -> None:
        self.text, self.at, self.tokens = text, 0, []
        end = len(text.rstrip())
        at = 0
        while at < end:
            match = _TOKEN.match(text, at)
            if match is None:
                raise self.wrong(f"unexpected {text[at:].strip()[0]!r}")
            self.tokens.append(match.group().strip())
            at = match.end()

    def refuse(self, why: str) -> NoReturn:
        raise self.wrong(why)

    def wrong(self, why: str) -> TypeError:
        return TypeError(f"invalid signature {self.text!r}: {why}; it is written as 'void(float32[:, ::1], int32)'")

    @property
    def next(self) -> str:
        return self.tokens[self.at] if self.at < len(self.tokens) else ""

    def take(self, wanted: str = "") -> str:
        found = self.next
        if not found or (wanted and found != wanted):
            self.refuse(f"{wanted or 'a type'!r} expected, found {found or 'the end'!r}")
        self.at += 1
        return found

    def whole(self) -> Any:
        value = self.value()
        if self.next:
            self.refuse(f"{self.next!r} after its end")
        return value

    def value(self) -> Any:
        if self.next == "(":
            made: Any = self.items()
        elif self.next.isdigit():
            return int(self.take())
        elif self.next[:1] in ("'", '"'):
            return self.take()[1:-1]
        else:
            made = self.name()
        while self.next in ("[", "("):
            made = self.array(made) if self.next == "[" else self.call(made)
        return made

    def name(self) -> Any:
        word = self.take()
        last = word.rpartition(".")[2]
        found = types.SCALARS.get(last) or getattr(types, last, None)
        if found is None:
            from .._errors import did_you_mean

            self.refuse(f"there is no type {word!r}{did_you_mean(last, types.SCALARS)}")
        return found

    def items(self) -> tuple[Any, ...]:
        """What stands between parentheses."""
        self.take("(")
        found = []
        while self.next != ")":
            found.append(self.value())
            if self.next != ")":
                self.take(",")
        self.take(")")
        return tuple(found)

    def call(self, made: Any) -> Any:
        items = self.items()
        if isinstance(made, tuple) or isinstance(made, Signature):
            self.refuse("a signature is not called")
        return made(*items)

    def array(self, dtype: Any) -> Any:
        if not isinstance(dtype, types.Type):
            self.refuse("only a type has array dimensions")
        self.take("[")
        dims = []
        while self.next != "]":
            word = self.take()
            if word not in (":", "::1"):
                self.refuse(f"a dimension is ':' or '::1', not {word!r}")
            dims.append(slice(None, None, 1 if word == "::1" else None))
            if self.next != "]":
                self.take(",")
        self.take("]")
        try:
            return dtype[tuple(dims)] if dims else types.Array(dtype, 0, "C")
        except KeyError as error:
            self.refuse(error.args[0])


def normalize(given: Any) -> Signature:
    """A signature string, a tuple of types or a Signature as a Signature; without a result, None is returned."""
    from ._of_numba import own

    if isinstance(given, str):
        given = _Reader(given).whole()
    given = own(given)
    if isinstance(given, types.Type) and not isinstance(given, types.Tuple):
        given = Signature(given, ())
    if isinstance(given, Signature):
        return given
    if isinstance(given, (tuple, list)):
        return Signature(None, tuple(given))
    raise TypeError(
        f"invalid signature: {given!r} (a {type(given).__name__}); it is a string such as 'void(float32[:])', a tuple "
        "of types, or void(float32[:])"
    )
