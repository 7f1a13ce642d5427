# SPDX-License-Identifier: Apache-2.0
"""What the names of kernels of threads are on the host: stubs, which the compiler knows by ``__tessera_op__``, a row of
``src/lang/simt/simt_op.def``; a call of one raises.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])


def _op(name: str) -> Callable[[F], F]:
    """Marks a stub as the operation ``name``."""

    def mark(fn: F) -> F:
        module = fn.__module__.partition("._device")[0]

        def outside(*args: Any, **kwargs: Any) -> Any:
            raise RuntimeError(
                f"{module.removeprefix('tessera.')}.{fn.__qualname__}() works inside a function decorated with "
                "@cuda.jit, not on the host"
            )

        outside.__name__, outside.__qualname__, outside.__doc__ = fn.__name__, fn.__qualname__, fn.__doc__
        outside.__module__ = module
        outside.__wrapped__ = fn  # type: ignore[attr-defined]
        outside.__tessera_op__ = name  # type: ignore[attr-defined]
        return outside  # type: ignore[return-value]

    return mark


class _Value:
    """A name that kernels read and do not call."""

    def __init__(self, op: str, doc: str) -> None:
        self.__tessera_op__ = op
        self.__doc__ = doc

    def __repr__(self) -> str:
        return f"<cuda.{self.__tessera_op__.replace('_', '.')}, known inside kernels>"

    def _outside(self, *_: Any) -> Any:
        name = self.__tessera_op__.replace("_", ".")
        raise RuntimeError(f"cuda.{name} has a value inside a function decorated with @cuda.jit, not on the host")

    __index__ = __int__ = __float__ = __neg__ = __lt__ = __le__ = __gt__ = __ge__ = _outside
    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __mod__ = __rmod__ = _outside
    __floordiv__ = __rfloordiv__ = __truediv__ = __rtruediv__ = _outside
