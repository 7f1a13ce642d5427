# SPDX-License-Identifier: Apache-2.0
"""What textures, surfaces and their arrays have in common: a handle that ends, a shape and a format."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from ..typing import ArrayFormatType

__all__ = ["Closing", "Shaped", "address_of"]


class Closing:
    """A handle of the driver that ends with ``close``, the ``with`` block, or the object."""

    __slots__ = ("__weakref__", "_end", "_handle")

    _end: Callable[[int], Any] | None
    _handle: int

    @property
    def handle(self) -> int:
        """The driver's handle as an int; 0 once closed."""
        return self._handle

    @property
    def _live(self) -> int:
        """The handle, for a call; RuntimeError once closed."""
        if not self._handle:
            raise RuntimeError(f"the {type(self).__name__} is closed")
        return self._handle

    def close(self) -> None:
        """Gives the handle back. Again does nothing."""
        handle, self._handle = getattr(self, "_handle", 0), 0
        if handle and self._end is not None:
            self._end(handle)

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __del__(self) -> None:
        if sys is not None and not sys.is_finalizing():
            self.close()


def address_of(buffer: Any) -> int:
    """Where a Buffer is; RuntimeError once closed."""
    address = int(buffer.handle)
    if not address:
        raise RuntimeError("the Buffer is closed")
    return address


class Shaped(Closing):
    """Elements of one format, in one to three extents."""

    __slots__ = ("_device", "_options")

    @property
    def device(self) -> Any:
        """The Device it is on."""
        return self._device

    @property
    def shape(self) -> tuple[int, ...]:
        """(width,), (width, height) or (width, height, depth); of several levels, the largest one's."""
        return self._options.shape  # type: ignore[no-any-return]

    @property
    def format(self) -> ArrayFormatType:
        """The type of a channel."""
        return self._options.format  # type: ignore[no-any-return]

    @property
    def num_channels(self) -> int:
        """Channels of an element."""
        return int(self._options.num_channels)

    @property
    def is_surface_load_store(self) -> bool:
        """Whether surfaces may write it."""
        return bool(self._options.is_surface_load_store)
