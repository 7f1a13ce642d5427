# SPDX-License-Identifier: Apache-2.0
"""Names of functions as compilers of C++ write them (Itanium C++ ABI, chapter 5.1): ``declare_device`` calls a C++
function without ``extern "C"`` by such a name."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from . import types

__all__ = [
    "escape_string", "mangle", "mangle_abi_tag", "mangle_args", "mangle_identifier", "mangle_type",
    "mangle_type_or_value", "mangle_value",
]  # fmt: skip

_LETTERS = {
    "boolean": "b", "bool": "b", "int8": "a", "uint8": "h", "int16": "s", "uint16": "t", "int32": "i", "uint32": "j",
    "int64": "x", "uint64": "y", "float16": "Dh", "float32": "f", "float64": "d", "complex64": "Cf", "complex128": "Cd",
    "none": "v", "void": "v",
}  # fmt: skip


def escape_string(text: str) -> str:
    """``text`` with each byte of its UTF-8 that no identifier has as ``_`` and two hexadecimal digits."""
    return re.sub(rb"[^A-Za-z0-9_]", lambda found: b"_%02x" % found[0][0], text.encode()).decode()


_escape_string = escape_string


def mangle_identifier(ident: str, template_params: Sequence[Any] = (), *, abi_tags: Sequence[str] = ()) -> str:
    """An identifier, ``a.b`` within its namespaces, with arguments of a template (types or numbers)."""
    tags = "".join(map(mangle_abi_tag, abi_tags))
    arguments = f"I{''.join(map(mangle_type_or_value, template_params))}E" if template_params else ""
    parts = [_with_length(escape_string(part)) for part in ident.split(".")]
    whole = f"{''.join(parts)}{tags}{arguments}"
    return whole if len(parts) == 1 else f"N{whole}E"


def _with_length(escaped: str) -> str:
    """An identifier begins with no digit."""
    name = f"_{escaped}" if escaped[:1].isdigit() else escaped
    return f"{len(name)}{name}"


def mangle_abi_tag(abi_tag: str) -> str:
    """``[[gnu::abi_tag("..")]]`` of a function."""
    return "B" + _with_length(escape_string(abi_tag))


def mangle_type(typ: Any) -> str:
    """A type: C++'s letter where it has the type, a pointer for a ``CPointer``, else its name here."""
    letter = _LETTERS.get(str(typ))
    if letter is not None:
        return letter
    if isinstance(typ, types.CPointer):
        return "P" + mangle_type(typ.dtype)
    return _with_length(escape_string(str(typ)))


def mangle_value(val: Any) -> str:
    """A constant: an int as ``Li123E``, others by their text."""
    if isinstance(val, int):
        return f"Li{val}E" if val >= 0 else f"Lin{-val}E"
    return _with_length(escape_string(str(val)))


def mangle_type_or_value(typ: Any) -> str:
    """An argument of a template."""
    return mangle_type(typ) if isinstance(typ, types.Type) else mangle_value(typ)


def mangle_args(argtys: Sequence[Any]) -> str:
    """The types of parameters; of none, that of ``f(void)``."""
    return "".join(map(mangle_type_or_value, argtys)) or "v"


def mangle(ident: str, argtys: Sequence[Any], *, abi_tags: Sequence[str] = ()) -> str:
    """The symbol of a C++ function.

    Parameters
    ----------
    ident : str
        ``"norm"``, or ``"space.norm"`` for ``space::norm``.
    argtys : sequence of types

    Examples
    --------
    >>> from tessera.cuda import float32, int32, itanium_mangler
    >>> itanium_mangler.mangle("scale", [float32, int32])
    '_Z5scalefi'
    """
    return f"_Z{mangle_identifier(ident, abi_tags=abi_tags)}{mangle_args(argtys)}"
