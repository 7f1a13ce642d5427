# SPDX-License-Identifier: Apache-2.0
"""Values of a kernel that exist only while it runs, as expressions of Python see them (``_host.py``)."""

from __future__ import annotations

from typing import Any

__all__ = ["PROXIES", "Array", "Callable", "Nothing", "Proxy", "Tile"]


class Proxy:
    """A value that exists only while the kernel runs, inside an expression of Python."""

    __slots__ = ("_compilation", "_number", "_what")

    def __init__(self, compilation: Any, number: int, what: str) -> None:
        self._compilation, self._number, self._what = compilation, number, what

    def __getattr__(self, name: str) -> Any:
        from ._errors import TileError

        if name.startswith("__"):
            raise AttributeError(name)
        try:
            return self._compilation.attribute(self, name)
        except TileError:
            raise AttributeError(f"{self!r} has no attribute {name!r}") from None

    def __repr__(self) -> str:
        return f"<{self._what}>"


def _name(dtype: Any) -> str:
    return getattr(dtype, "name", None) or str(dtype)


class Array(Proxy):
    """An array of the kernel: ``shape``, ``strides``, ``dtype``, ``ndim`` and its methods as values."""

    __slots__ = ()

    def __repr__(self) -> str:
        shape = ", ".join("?" if isinstance(n, Proxy) else str(n) for n in self.shape)
        return f"<array[{_name(self.dtype)}, ({shape})]>"


class Tile(Proxy):
    """A tile or run-time scalar: ``shape``, ``dtype``, ``ndim``; operators add code to the kernel."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"<tile[{_name(self.dtype)}, {self.shape}]>"

    def __hash__(self) -> int:
        return hash(self._number)

    def _no_value(self, *_: Any) -> Any:
        raise ValueError(
            f"{self!r} is known only while the kernel runs: it is no number, text or truth for Python"
        )

    __bool__ = __int__ = __float__ = __index__ = __complex__ = _no_value

    def __format__(self, spec: str) -> str:
        return repr(self)


def _operator(op: str, swapped: bool = False) -> Any:
    def method(self: Any, *others: Any) -> Any:
        if any(isinstance(other, (str, bytes, list, dict, tuple)) for other in others):
            return NotImplemented
        return self._compilation.apply(op, (*others, self) if swapped else (self, *others), ())

    return method


_BINARY = {
    "add": "add", "sub": "sub", "mul": "mul", "truediv": "truediv", "floordiv": "floordiv", "mod": "mod", "pow": "pow",
    "and": "bitwise_and", "or": "bitwise_or", "xor": "bitwise_xor", "lshift": "bitwise_lshift",
    "rshift": "bitwise_rshift", "matmul": "matmul", "divmod": "divmod",
}  # fmt: skip
_OTHERS = {
    "lt": "less", "le": "less_equal", "gt": "greater", "ge": "greater_equal", "eq": "equal", "ne": "not_equal",
    "neg": "negative", "invert": "bitwise_not", "abs": "abs",
}  # fmt: skip
for _method, _op in {**_BINARY, **_OTHERS}.items():
    setattr(Tile, f"__{_method}__", _operator(_op))
for _method, _op in _BINARY.items():
    setattr(Tile, f"__r{_method}__", _operator(_op, swapped=True))


class Callable(Proxy):
    """A function that the kernel defines, or a method of a tile or an array: it may be handed on, not called."""

    __slots__ = ()

    def __call__(self, *_: Any, **__: Any) -> Any:
        from ._errors import TileStaticEvalError
        from ._host import current

        here = current()
        raise TileStaticEvalError(
            f"a {self._what} of the kernel cannot be called inside {here.site.kind if here else 'Python'}\n"
            "  help: call it outside, and give the result to the expression"
        )


class Nothing(Proxy):
    """A variable without a value on this path."""

    __slots__ = ()

    def __getattribute__(self, name: str) -> Any:
        raise NameError("a variable of the kernel has no value here")


PROXIES = {"tile": Tile, "array": Array, "function": Callable, "method": Callable, "nothing": Nothing}
