# SPDX-License-Identifier: Apache-2.0
"""``make_..``: algorithms as objects, made for kinds of arguments and called as often as wanted."""

from __future__ import annotations

import hashlib
import inspect
import json
import threading
from types import CodeType
from typing import Any

from . import _histogram, _reduce, _scan, _search, _segmented, _segments, _select, _sort, _transform
from ._engine import again, keep
from .iterators import iterator_like
from .op import operator_of
from .types import TypeDescriptor, type_of

__all__ = ["MAKERS", "deserialize", "serialize"]

# The algorithm, and its operators with the number of their arguments.
_ROWS: dict[str, tuple[Any, dict[str, int]]] = {
    "binary_transform": (_transform.binary_transform, {"op": 2}),
    "exclusive_scan": (_scan.exclusive_scan, {"op": 2}),
    "histogram_even": (_histogram.histogram_even, {}),
    "inclusive_scan": (_scan.inclusive_scan, {"op": 2}),
    "lower_bound": (_search.lower_bound, {"comp": 2}),
    "merge_sort": (_sort.merge_sort, {"op": 2}),
    "radix_sort": (_sort.radix_sort, {}),
    "reduce_into": (_reduce.reduce_into, {"op": 2}),
    "segmented_reduce": (_segmented.segmented_reduce, {"op": 2}),
    "segmented_sort": (_segments.segmented_sort, {}),
    "select": (_select.select, {"cond": 1}),
    "three_way_partition": (_select.three_way_partition, {"select_first_part_op": 1, "select_second_part_op": 1}),
    "unary_transform": (_transform.unary_transform, {"op": 1}),
    "unique_by_key": (_select.unique_by_key, {"op": 2}),
    "upper_bound": (_search.upper_bound, {"comp": 2}),
}
_COUNTS = ("num_items", "num_segments", "num_values", "num_samples", "stream", "temp_storage", "max_segment_size")


class Made:
    """An algorithm for arguments of certain kinds, which is called with arguments of these kinds as often as wanted.

    Parameters
    ----------
    name : str
        Of the algorithm.
    function
        The algorithm.
    operators
        Its parameters that are operators, and the number of their arguments.
    kinds
        The kinds of arguments that are checked, as `kind_text` writes them.
    two_phases : bool
        Whether it is first asked for the bytes that it needs, with ``temp_storage=None``.
    """

    def __init__(
        self, name: str, function: Any, operators: dict[str, int], kinds: dict[str, str], two_phases: bool
    ) -> None:
        self.name, self.kinds = name, kinds
        self._function, self._operators, self._two_phases = function, operators, two_phases

    def __call__(self, *storage: Any, **given: Any) -> Any:
        if self._two_phases:
            given["temp_storage"] = storage[0] if storage else given.get("temp_storage")
        return again(self, self._checked, given)

    def _checked(self, **given: Any) -> Any:
        for name, kind in self.kinds.items():
            if name in given and kind_text(self._operators, name, given[name]) != kind:
                raise TypeError(
                    f"{name} is of another kind than make_{self.name} was called with, found {given[name]!r:.80}; make "
                    "one for arguments of that kind"
                )
        return self._function(**given)

    def __repr__(self) -> str:
        return f"<{self.name} for {', '.join(self.kinds)}>"


def kind_text(operators: dict[str, int], name: str, value: Any) -> str:
    """A text that is equal for arguments of one kind, in all processes."""
    if value is None:
        return "none"
    if name in operators:
        op = operator_of(value, operators[name], name)
        code = getattr(op.function, "__code__", None)  # what it captures may differ from call to call
        return _digest(op.key if op.known is not None or code is None else code)
    if name.startswith(("h_", "init_value")):
        return _digest(type_of(value))
    if name.startswith("d_") or name.endswith("_offsets_in"):
        return _digest(iterator_like(getattr(value, "d_current", value), name).kind)
    return _digest(value)


def _digest(kind: Any) -> str:
    if isinstance(kind, TypeDescriptor):
        kind = kind.dtype
    if isinstance(kind, tuple):
        return f"({','.join(map(_digest, kind))})"
    if isinstance(kind, CodeType):
        constants = tuple(c for c in kind.co_consts)
        return _digest((kind.co_code, constants, kind.co_names, kind.co_freevars))
    if isinstance(kind, bytes):
        return hashlib.sha256(kind).hexdigest()[:16]
    return f"{type(kind).__name__} {kind}"


_made: dict[Any, Made] = {}  # objects may be used by one thread at a time, so each thread has its own


def _maker(name: str) -> Any:
    function, operators = _ROWS[name]
    parameters = inspect.signature(function).parameters
    phases = "temp_storage" in parameters

    def make(**given: Any) -> Made:
        given.pop("compute_capability", None)
        unknown = [word for word in given if word not in parameters]
        if unknown:
            raise TypeError(f"make_{name}() got an unexpected keyword argument '{unknown[0]}'")
        levels = [given[word] for word in ("h_lower_level", "h_upper_level") if word in given]
        if len({getattr(level, "dtype", None) for level in levels}) > 1:
            raise TypeError("h_lower_level and h_upper_level must be of one dtype")
        kinds = {k: kind_text(operators, k, v) for k, v in given.items() if k not in _COUNTS}
        key = (name, threading.get_ident(), *sorted(kinds.items()))
        return keep(_made, key, Made(name, function, operators, kinds, phases))

    make.__name__ = make.__qualname__ = f"make_{name}"
    made = (
        "is called as often as wanted, first with ``temp_storage=None`` for the bytes that it needs"
        if phases
        else "is called as often as wanted"
    )
    make.__doc__ = f"`{name}` for arguments of these kinds: the object {made}, and otherwise as `{name}`."
    return make


MAKERS = {f"make_{name}": _maker(name) for name in _ROWS}

_MAGIC, _VERSION = b"tessera.compute\0", 1


def serialize(obj: Any) -> bytes:
    """What ``make_..`` gave, as bytes for another process.

    Parameters
    ----------
    obj
        What ``make_..`` gave.

    Returns
    -------
    bytes
        The algorithm and the kinds of its arguments. Compiled code is not part of it: it is in the cache on disk, or
        made again in milliseconds. They are for this version of Tessera.
    """
    if not isinstance(obj, Made):
        raise TypeError(f"a {type(obj).__name__} is nothing that make_.. gives: {obj!r:.80}")
    return _MAGIC + json.dumps({"version": _VERSION, "name": obj.name, "kinds": obj.kinds}).encode()


def deserialize(blob: bytes) -> Made:
    """The object that `serialize` made the bytes of.

    Raises
    ------
    ValueError
        For other bytes, or those of another version.
    """
    if not isinstance(blob, (bytes, bytearray, memoryview)):
        raise TypeError(f"blob is a {type(blob).__name__}; give the bytes that serialize() returned")
    data = bytes(blob)
    if not data.startswith(_MAGIC):
        raise ValueError("these bytes are not what serialize() gives")
    try:
        found = json.loads(data[len(_MAGIC) :])
        version, name, kinds = found["version"], found["name"], dict(found["kinds"])
        function, operators = _ROWS[name]
    except (ValueError, KeyError, TypeError):
        raise ValueError("these bytes are damaged: they begin as what serialize() gives") from None
    if version != _VERSION:
        raise ValueError(f"these bytes are of version {version}; this Tessera reads version {_VERSION}")
    return Made(name, function, operators, kinds, "temp_storage" in inspect.signature(function).parameters)
