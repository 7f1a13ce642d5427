# SPDX-License-Identifier: Apache-2.0
"""Programs of NVRTC and libNVVM, and nvJitLink's linkers: what these libraries believe without a look.

They write a result of any length to where they are told, and follow any address that is said to be
a program. So a result's size is asked for before it is fetched, and the programs that live are known.
"""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

from .. import _bindings as core
from ._attributes import input_names, like

if TYPE_CHECKING:
    from ._api import Api

__all__ = ["guarded"]


_MOST = 1 << 30  # bytes of a result that may be more than are needed


def _same(raw: Any, call: Any) -> Any:
    """`call` under the name and the documentation of `raw`."""
    made = like(raw, call)
    made.__doc__ = raw.__doc__
    return made


def _address(class_: type, handle: Any) -> int:
    """The number of a handle; 0 for what the table's conversion refuses."""
    if isinstance(handle, core.Handle):
        return int(handle) if isinstance(handle, class_) else 0
    try:
        return operator.index(handle)
    except TypeError:
        return 0


def _room(where: str, buffer: Any, size: int) -> Any:
    """A buffer of `size` bytes at least."""
    if buffer is None:
        return buffer
    try:
        view = memoryview(buffer)
    except TypeError:
        return buffer  # the table's conversion says what is wrong
    if view.nbytes < size:
        raise ValueError(f"{where} has {view.nbytes} bytes, but {size} are to be written")
    if isinstance(buffer, bytes):
        # All bytes objects of one byte are one object: the end of an empty text does not go there.
        return bytearray(size) if len(buffer) <= 1 else buffer
    if view.readonly:
        raise ValueError(f"{where} is read-only")
    return buffer


class _Programs:
    """The programs of one library that were made and not destroyed yet."""

    def __init__(self, create: str) -> None:
        self.create = create
        self.live: set[int] = set()

    def maker(self, api: Api, raw: Any) -> Any:
        def create(*args: Any) -> Any:
            made = raw(*args)
            handle = made if api.raising else made[1]
            if handle is not None:
                self.live.add(int(handle))
            return made

        return _same(raw, create)

    def check(self, where: str, class_: type, handle: Any) -> int:
        address = _address(class_, handle)
        if address and address not in self.live:
            raise ValueError(
                f"{where} is {address:#x}, which {self.create} did not make or which was destroyed"
            )
        return address

    def taker(self, api: Api, raw: Any, before: Any = lambda address: None) -> Any:
        """A function whose first argument is a program; `before` is told its address."""
        name, kind = next(iter(api.parameters(raw.__name__).items()))
        kind = kind.lstrip("?")
        class_ = api[kind] if kind in api.entries else core.Handle
        where = f"{raw.__name__}: {name}"

        def take(*args: Any) -> Any:
            before(self.check(where, class_, args[0]) if args else 0)
            return raw(*args)

        return _same(raw, take)

    def destroyer(self, api: Api, raw: Any) -> Any:
        # Forgotten first: once it is destroyed another thread may get the same address.
        return self.taker(api, raw, self.live.discard)

    def getter(self, api: Api, raw: Any) -> Any:
        """A function that writes all of a result whose size another function tells; given a size in the place of
        memory, it gives the bytes as well."""
        size_name = next(n for s in ("Size", "_size") if (n := raw.__name__ + s) in api.entries)
        size_of = api[size_name]
        where = f"{raw.__name__}: {input_names(raw)[1]}"

        def get(*args: Any) -> Any:
            if len(args) != 2:
                return raw(*args)  # says how many it takes
            if api.raising:
                return raw(args[0], _room(where, args[1], size_of(args[0])))
            status, size = size_of(args[0])
            if type(args[1]) is int:
                return (status, None) if status else into_bytes(args[0], args[1], size)
            return (status,) if status else raw(args[0], _room(where, args[1], size))

        def into_bytes(program: Any, given: int, size: int) -> tuple[Any, bytes | None]:
            if not size <= given <= max(size, _MOST):
                raise ValueError(f"{where}={given}: a size in bytes must be {size} at least, as {size_name} tells")
            data = bytearray(given)
            (status,) = raw(program, _room(where, data, size))
            return status, None if status else bytes(data)

        return _same(raw, get)


def guarded(create: str, destroy: str, getters: str, takers: str) -> dict[str, Any]:
    """The functions of one library that make, end, read and take its programs."""
    programs = _Programs(create)
    return {
        create: programs.maker,
        destroy: programs.destroyer,
        **dict.fromkeys(getters.split(), programs.getter),
        **dict.fromkeys(takers.split(), programs.taker),
    }
