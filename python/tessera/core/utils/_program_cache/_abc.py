# SPDX-License-Identifier: Apache-2.0
"""What every cache of compiled code does."""

from __future__ import annotations

import abc
from collections.abc import Iterable, Mapping
from typing import Any, Union

from ..._object_code import ObjectCode

__all__ = ["ProgramCacheResource", "code_bytes", "key_bytes"]

Key = Union[str, bytes]


def key_bytes(key: Any) -> bytes:
    """A key as bytes; a str stands for its UTF-8."""
    if isinstance(key, str):
        return key.encode()
    if isinstance(key, bytes):
        return key
    raise TypeError(f"a cache's key is bytes or str, not {type(key).__name__}")


def code_bytes(value: Any) -> bytes:
    """The code to be kept, of bytes or an ObjectCode, whose file is read now."""
    if isinstance(value, (bytes, bytearray, memoryview)):
        return bytes(value)
    if not isinstance(value, ObjectCode):
        raise TypeError(
            f"a cache takes bytes-like or ObjectCode values, not {type(value).__name__}"
        )
    try:
        return bytes(value)
    except FileNotFoundError as error:
        raise FileNotFoundError(
            f"cannot cache a path-backed ObjectCode: its file {value.code!r} is not there any more"
        ) from error


class ProgramCacheResource(abc.ABC):
    """A mapping from keys (bytes or str) to compiled code (bytes).

    ``cache[key]`` gives bytes or raises KeyError; values are bytes or ObjectCode, of which the code
    is kept. There is no ``in``: another process may drop an entry between the question and the
    read, so use ``get``.
    """

    @abc.abstractmethod
    def __getitem__(self, key: Key) -> bytes:
        """The code of a key; KeyError if there is none."""

    @abc.abstractmethod
    def __setitem__(self, key: Key, value: Any) -> None:
        """Keeps the code of bytes or an ObjectCode."""

    @abc.abstractmethod
    def __delitem__(self, key: Key) -> None:
        """Drops an entry; KeyError if there is none."""

    @abc.abstractmethod
    def __len__(self) -> int:
        """The number of entries."""

    @abc.abstractmethod
    def clear(self) -> None:
        """Drops all entries."""

    def get(self, key: Key, default: Any = None) -> Any:
        """The code of a key, or the default."""
        try:
            return self[key]
        except KeyError:
            return default

    def update(self, items: Mapping[Key, Any] | Iterable[tuple[Key, Any]]) -> None:
        """Keeps every entry of a mapping or of pairs."""
        for key, value in items.items() if isinstance(items, Mapping) else items:
            self[key] = value

    def close(self) -> None:
        """Gives back what the cache holds; by default nothing."""

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
