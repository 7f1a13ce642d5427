# SPDX-License-Identifier: Apache-2.0
"""Types and signatures of an installed numba as those of ``tessera.cuda``: programs that take ``float64`` from
``numba`` beside ``numba.cuda`` mean the same by it. numba is not imported here."""

from __future__ import annotations

from typing import Any

from .._foreign import is_of_numba
from . import types

__all__ = ["own"]


def _array(found: Any) -> types.Type:
    return types.Array(own(found.dtype), found.ndim, found.layout, not found.mutable, aligned=found.aligned)


def _record(found: Any) -> types.Type:
    from ._typeof import from_dtype

    return from_dtype(found.dtype)


_CLASSES: dict[str, Any] = {
    "Array": _array,
    "Record": _record,
    "NestedArray": lambda found: types.NestedArray(own(found.dtype), found.shape),
    "UniTuple": lambda found: types.UniTuple(own(found.dtype), found.count),
    "Tuple": lambda found: types.Tuple([own(t) for t in found.types]),
    "NamedTuple": lambda found: types.NamedTuple([own(t) for t in found.types], found.instance_class),
    "NamedUniTuple": lambda found: types.NamedUniTuple(own(found.dtype), found.count, found.instance_class),
    "Optional": lambda found: types.Optional(own(found.type)),
    "CPointer": lambda found: types.CPointer(own(found.dtype)),
    "CharSeq": lambda found: types.CharSeq(found.count),
    "UnicodeCharSeq": lambda found: types.UnicodeCharSeq(found.count),
    "NPDatetime": lambda found: types.NPDatetime(found.unit),
    "NPTimedelta": lambda found: types.NPTimedelta(found.unit),
}


def own(given: Any) -> Any:
    """The type or signature of ours; tuples and lists of them item by item; anything else as it is.

    Raises
    ------
    TypeError
        A type that kernels of threads do not have.
    """
    if type(given) in (tuple, list):
        return type(given)(own(item) for item in given)
    if not is_of_numba(given):
        return given
    if hasattr(given, "args") and hasattr(given, "return_type"):
        from ._signature import Signature

        return Signature(own(given.return_type), own(tuple(given.args)))
    if type(given).__name__ in _CLASSES:
        return _CLASSES[type(given).__name__](given)
    found = types.SCALARS.get(str(getattr(given, "name", "")))
    if found is None:
        raise TypeError(f"kernels of threads have no type that is numba's {given}")
    return found
