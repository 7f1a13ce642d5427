# SPDX-License-Identifier: Apache-2.0
"""Elementwise functions: one object for each row of numeric.def, and NumPy's other names for them."""

from __future__ import annotations

from typing import Any

import numpy

from .. import _core
from ._setup import METHOD, NO_VALUE

# Rows that are no functions of NumPy: what others are made of, also parts of numbers (_parts.py), and functions of
# times (_dates.py) and of integers that no dtype holds both of.
INNER = ("copy", "select", "gather", "iota", "always", "never",
         *(name for name in _core.NUMERIC_FUNCTIONS if name.startswith(("time_", "mixed_", "part_"))))  # fmt: skip

ALIASES = {
    "abs": "absolute",
    "acos": "arccos",
    "acosh": "arccosh",
    "asin": "arcsin",
    "asinh": "arcsinh",
    "atan": "arctan",
    "atan2": "arctan2",
    "atanh": "arctanh",
    "bitwise_invert": "invert",
    "bitwise_left_shift": "left_shift",
    "bitwise_not": "invert",
    "bitwise_right_shift": "right_shift",
    "conj": "conjugate",
    "deg2rad": "radians",
    "mod": "remainder",
    "pow": "power",
    "rad2deg": "degrees",
    "true_divide": "divide",
}

# Functions whose reduction is one of the C library's folds, and the neutral element.
FOLDS = {
    "add": ("sum", 0),
    "multiply": ("prod", 1),
    "maximum": ("max", None),
    "minimum": ("min", None),
    "logical_and": ("all", True),
    "logical_or": ("any", False),
}


class Made:
    """Functions of elements that are made of others (_parts.py): ufuncs, too."""

    __module__ = "tessera.numeric"


class _Kind(type):
    def __instancecheck__(cls, x: Any) -> bool:
        return type.__instancecheck__(cls, x) or isinstance(x, Made)


class ufunc(_core.NumericFunction, metaclass=_Kind):
    """A function of elements: ``f(x, out=None, *, where=True, casting="same_kind", order="K", dtype=None)``."""

    __slots__ = ()
    __module__ = "tessera.numeric"
    nout = 1

    @property
    def nargs(self) -> int:
        """Operands and results."""
        return self.nin + 1

    @property
    def identity(self) -> Any:
        """The neutral element of its reduction; None: it has none."""
        from ._ufunc_methods import IDENTITIES

        return FOLDS.get(self.__name__, (None, IDENTITIES.get(self.__name__)))[1]

    @property
    def types(self) -> list[str]:
        """Its loops, as ``"ff->f"`` by letters of dtypes."""
        from ._ufunc_methods import types, types_of_times

        return types(self._loops, self._result, self.nin) + types_of_times(self.__name__)

    @property
    def ntypes(self) -> int:
        """How many loops it has."""
        return len(self.types)

    @property
    def __signature__(self) -> Any:
        from ._ufunc_methods import signature

        return signature(self.nin)

    @property
    def signature(self) -> None:
        """None: it works on elements."""
        return None

    @property
    def __doc__(self) -> str:  # type: ignore[override]
        return self._doc

    def __repr__(self) -> str:
        return f"<ufunc '{self.__name__}'>"

    def __reduce__(self) -> str:
        return self.__name__

    def reduce(self, array: Any, axis: Any = 0, dtype: Any = None, out: Any = None, keepdims: bool = False,
               initial: Any = NO_VALUE, where: Any = True) -> Any:  # fmt: skip
        """The function of all elements along axes."""
        from . import _functions, _reduce

        if self.nin != 2:
            raise ValueError("reduce only supported for binary functions")
        if dtype is not None:
            _reduce.reduced_axes(_functions.asarray(array), axis)  # which NumPy looks at before loops
            self._check_loop(dtype)
        out = _reduce.named_out(out)
        if self.__name__ not in FOLDS:
            from . import _ufunc_methods

            return _ufunc_methods.reduce(self, array, axis, dtype, out, keepdims, initial, where)
        return _reduce.fold(
            FOLDS[self.__name__][0], array, axis, dtype, out, keepdims, initial, where
        )

    def resolve_dtypes(self, dtypes: Any, *, signature: Any = None, casting: Any = None,
                       reduction: bool = False) -> Any:  # fmt: skip
        """The dtypes that operands and results of a call have, one for each; None for a result: any."""
        given = {"signature": signature, "casting": casting}
        named = {key: value for key, value in given.items() if value is not None}
        return getattr(numpy, self.__name__).resolve_dtypes(dtypes, reduction=reduction, **named)

    def outer(self, A: Any, B: Any, /, **options: Any) -> Any:
        """The function of every element of A with every element of B."""
        from ._ufunc_methods import outer_operands

        if self.nin != 2:
            raise ValueError("outer product only supported for binary functions")
        a, b = outer_operands(A, B)
        return self(a[(...,) + (None,) * b.ndim], b, **options)

    def accumulate(self, array: Any, axis: int = 0, dtype: Any = None, out: Any = None) -> Any:
        """The reduction of the first elements, for each number of them."""
        from . import _reduce

        if self.nin != 2:
            raise ValueError("accumulate only supported for binary functions")
        from ._functions import asarray
        from ._ufunc_methods import accumulate, one_axis

        if self.__name__ not in FOLDS:
            return accumulate(self, array, axis, dtype, out)
        array = asarray(array)
        axis = one_axis(array, axis, "accumulate")
        if dtype is not None:
            self._check_loop(dtype)
        return _reduce.accumulate(FOLDS[self.__name__][0], array, axis, dtype, _reduce.named_out(out))

    def _check_loop(self, dtype: Any) -> None:
        from ._ufunc_methods import check_loop

        check_loop(self, dtype)

    def reduceat(
        self, array: Any, indices: Any, axis: int = 0, dtype: Any = None, out: Any = None
    ) -> Any:
        """Reductions of the slices that indices begin; of one element where the next index is not greater."""
        from . import _ufunc_methods

        if self.nin != 2:
            raise ValueError("reduceat only supported for binary functions")
        return _ufunc_methods.reduceat(self, array, indices, axis, dtype, out)

    def at(self, a: Any, indices: Any, *b: Any) -> None:
        """``a[indices] = f(a[indices], b)``, once for each time that an index occurs, in order."""
        from . import _ufunc_methods
        from ._setup import on

        on(getattr(a, "device", None), _ufunc_methods.at, self, a, indices, *b)


for _name in ("reduce", "resolve_dtypes", "outer", "accumulate", "reduceat", "at"):
    setattr(ufunc, _name, _core.NumericRoutine(getattr(ufunc, _name), ufunc.__module__, False, METHOD))

FUNCTIONS: dict[str, ufunc] = {
    name: ufunc(name)
    for name in _core.NUMERIC_FUNCTIONS
    if name not in INNER
}
FUNCTIONS.update({alias: FUNCTIONS[name] for alias, name in ALIASES.items()})
copy_of, select = ufunc("copy"), ufunc("select")
