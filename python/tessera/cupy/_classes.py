# SPDX-License-Identifier: Apache-2.0
"""Classes of NumPy's that hold arrays, with CuPy's arrays in them."""

from __future__ import annotations

from typing import Any

import numpy

from .. import numeric as tn
from ._boundary import Base, give, placed, take
from ._ndarray import ndarray

__all__ = ["broadcast", "flatiter", "poly1d"]


class broadcast:
    """Several arrays in one shape: ``values``, ``shape``, ``size``, ``nd``."""

    def __init__(self, *arrays: Any) -> None:
        held: list[Any] = []
        taken = [take(a, held, False) for a in arrays]
        self.shape = tuple(
            tn.broadcast_shapes(
                *(a.shape if isinstance(a, Base) else numpy.shape(a) for a in taken)
            )
        )
        self.values = tuple(
            give(tn.broadcast_to(t, self.shape)) if isinstance(a, ndarray) else a
            for a, t in zip(arrays, taken, strict=True)
        )
        self.nd = self.ndim = len(self.shape)
        self.size = int(numpy.prod(self.shape, dtype=numpy.int64))


class flatiter:
    """The elements of an array along one axis: indexed, and an iterator."""

    __hash__ = None  # type: ignore[assignment]

    def __init__(self, array: ndarray) -> None:
        self._array, self._inner = array, tn.flatiter(array._as(Base))

    @property
    def base(self) -> ndarray:
        """The array."""
        return self._array

    def __getitem__(self, key: Any) -> Any:
        return give(self._inner[take(key, [], False)])

    def __setitem__(self, key: Any, value: Any) -> None:
        self._inner[take(key, [], False)] = take(value, [], True)

    def __iter__(self) -> flatiter:
        return self

    def __next__(self) -> Any:
        return give(next(self._inner))

    def __len__(self) -> int:
        return len(self._inner)

    def copy(self) -> Any:
        """The elements as an array of one axis."""
        return give(self._inner.copy())


class poly1d:
    """A polynomial: NumPy's, with coefficients of CuPy's."""

    __hash__ = None  # type: ignore[assignment]
    __array_ufunc__ = None

    def __init__(self, c_or_r: Any, r: bool = False, variable: Any = None) -> None:
        if isinstance(c_or_r, tn.poly1d):
            self._inner = c_or_r
        elif isinstance(c_or_r, poly1d):
            self._inner = tn.poly1d(c_or_r._inner, r, variable)
        else:
            given = take(c_or_r, [], False)
            if isinstance(given, numpy.poly1d):
                variable, given = variable or given.variable, given.coeffs
            self._inner = placed(lambda: tn.poly1d(given, r, variable))

    def __call__(self, val: Any) -> Any:
        """Its value."""
        return give(placed(lambda: self._inner(take(val, [], False))))

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        inner = object.__getattribute__(self, "_inner")
        found = placed(lambda: getattr(inner, name))
        if not callable(found) or isinstance(found, tn.poly1d):
            return give(found)
        return lambda *args, **options: give(placed(lambda: found(*[take(x, [], False) for x in args], **options)))

    def __len__(self) -> int:
        return len(self._inner)

    def __getitem__(self, key: int) -> Any:
        return give(tn.asarray(self._inner[key]))

    def __setitem__(self, key: int, value: Any) -> None:
        self._inner[key] = take(value, [], True)

    def __iter__(self) -> Any:
        return iter(self.coeffs)

    def __str__(self) -> str:
        return str(self._inner)

    def __repr__(self) -> str:
        return repr(self._inner)

    def get(self, stream: Any = None, out: Any = None) -> Any:
        """NumPy's polynomial."""
        return numpy.poly1d(self.coeffs.get(), variable=self._inner.variable)

    def set(self, polyin: Any, stream: Any = None) -> None:
        """Becomes a polynomial of NumPy's."""
        self._inner = placed(lambda: tn.poly1d(tn.asarray(polyin.coeffs), variable=polyin.variable))


def _operator(name: str) -> Any:
    def call(self: poly1d, *others: Any) -> Any:
        made = placed(lambda: getattr(self._inner, name)(*[take(x, [], True) for x in others]))
        return made if made is NotImplemented else give(made)

    call.__name__ = name
    return call


for _name in [
    "neg",
    "pos",
    "mul",
    "rmul",
    "add",
    "radd",
    "sub",
    "rsub",
    "truediv",
    "rtruediv",
    "pow",
    "eq",
    "ne",
]:
    setattr(poly1d, f"__{_name}__", _operator(f"__{_name}__"))
