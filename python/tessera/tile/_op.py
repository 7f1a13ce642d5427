# SPDX-License-Identifier: Apache-2.0
"""What makes a stub an operation of the tile language."""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any, TypeVar

__all__ = ["like", "op"]

F = TypeVar("F", bound=Callable[..., Any])


def op(fn: F, known_as: str | None = None) -> F:
    """Marks ``fn`` as the operation of its name, or of ``known_as``: the compiler knows it. On the host it raises, but
    for expressions of ``ct.static_eval`` and its like, where it adds code to the kernel."""
    name, path = known_as or fn.__name__, fn.__qualname__

    def outside(*args: Any, **kwargs: Any) -> Any:
        from .._host import current

        here = current()
        if here is not None:
            return here.call(name, args, kwargs)
        raise RuntimeError(
            f"ct.{path}() is part of the tile language: it works inside a function decorated with @ct.kernel, "
            "not on the host"
        )

    outside.__name__, outside.__qualname__ = fn.__name__, path
    outside.__doc__ = fn.__doc__
    outside.__module__ = "tessera.tile"
    outside.__wrapped__ = fn  # type: ignore[attr-defined]
    outside.__tessera_op__ = name  # type: ignore[attr-defined]
    return outside  # type: ignore[return-value]


def like(fn: F, name: str, doc: str, mark: Callable[[F], F] = op) -> F:
    """Another operation that is called as the operation ``fn`` is; ``mark`` makes a stub one."""
    stub = fn.__wrapped__  # type: ignore[attr-defined]
    made = types.FunctionType(stub.__code__, stub.__globals__, name, stub.__defaults__)
    made.__kwdefaults__, made.__annotations__ = stub.__kwdefaults__, stub.__annotations__
    made.__doc__ = doc
    made.__qualname__ = stub.__qualname__.rpartition(".")[0] + "." * ("." in stub.__qualname__) + name
    return mark(made)  # type: ignore[arg-type]
