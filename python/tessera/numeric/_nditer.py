# SPDX-License-Identifier: Apache-2.0
"""NumPy's iterator over elements, on arrays of ours in host memory."""

from __future__ import annotations

from typing import Any

import numpy

from ._host import count, give
from ._ndarray import ndarray
from ._setup import to_numpy


class nditer:
    """NumPy's iterator: elements, chunks and buffers are NumPy's arrays in the memory of ours, written to in place.

    Arrays on a GPU can be read. Arguments and attributes are those of `numpy.nditer`.
    """

    __module__ = "tessera.numeric"
    __slots__ = ("_given", "_theirs")

    def __init__(self, op: Any, *args: Any, **options: Any) -> None:
        are_several = isinstance(op, (tuple, list)) and any(x is None or isinstance(x, ndarray) for x in op)
        lent = [_lent(x) for x in op] if are_several else _lent(op)
        count("nditer")
        object.__setattr__(self, "_given", list(op) if are_several else [op])
        object.__setattr__(self, "_theirs", numpy.nditer(lent, *args, **options))

    @property
    def operands(self) -> tuple[Any, ...]:
        """The arrays: those that were given, and what the iterator made."""
        theirs = self._theirs.operands
        given = self._given if len(self._given) == len(theirs) else [None] * len(theirs)
        return tuple(x if isinstance(x, ndarray) else give(made) for x, made in zip(given, theirs, strict=True))

    def copy(self) -> nditer:
        """Another iterator at the same place."""
        made = object.__new__(nditer)
        object.__setattr__(made, "_given", self._given)
        object.__setattr__(made, "_theirs", self._theirs.copy())
        return made

    def __getattr__(self, name: str) -> Any:
        return getattr(self._theirs, name)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self._theirs, name, value)

    def __iter__(self) -> nditer:  # noqa: PYI034  no Self in Python 3.10
        return self

    def __next__(self) -> Any:
        return next(self._theirs)

    def __len__(self) -> int:
        return len(self._theirs)

    def __getitem__(self, key: Any) -> Any:
        return self._theirs[key]

    def __setitem__(self, key: Any, value: Any) -> None:
        self._theirs[key] = value

    def __enter__(self) -> nditer:  # noqa: PYI034
        self._theirs.__enter__()
        return self

    def __exit__(self, *exception: object) -> None:
        self._theirs.__exit__(*exception)


def _lent(x: Any) -> Any:
    return to_numpy(x) if isinstance(x, ndarray) else x
