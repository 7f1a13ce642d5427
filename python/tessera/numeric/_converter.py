# SPDX-License-Identifier: Apache-2.0
"""What NumPy's programs read their arguments with (`_array_converter` of its C code), for arrays of ours."""

from __future__ import annotations

from typing import Any

from .. import _core
from . import _functions as f
from ._ndarray import ndarray

_NUMBERS = (int, float, complex)


class Converter:
    """Arguments of a function as arrays, and its results as what such arguments give."""

    def __init__(self, *given: Any) -> None:
        self._given = given
        self._arrays = tuple(map(f.asanyarray, given))
        self.scalar_input = tuple(
            not isinstance(x, ndarray) and not a.ndim for x, a in zip(given, self._arrays, strict=True)
        )

    def __len__(self) -> int:
        return len(self._arrays)

    def __getitem__(self, place: Any) -> Any:
        return self._arrays[place]

    def as_arrays(self, *, subok: bool = True, pyscalars: str = "convert_if_no_array") -> tuple[Any, ...]:
        """The arguments as arrays; numbers of Python's stay what they are beside others, or where pyscalars says so."""
        is_number = [type(x) in _NUMBERS for x in self._given]
        keeps = pyscalars == "preserve" or (pyscalars == "convert_if_no_array" and not all(is_number))
        arrays = self._arrays if subok else map(f.asarray, self._arrays)
        return tuple(
            x if keeps and number else a for x, a, number in zip(self._given, arrays, is_number, strict=True)
        )

    def result_type(self, extra_dtype: Any = None, ensure_inexact: bool = False) -> Any:
        """The dtype that all of them have a place in, and with ensure_inexact fractions, too."""
        more = [] if extra_dtype is None else [extra_dtype]
        more += [1.0] if ensure_inexact else []
        return f.result_type(*self.as_arrays(pyscalars="preserve"), *more)

    def wrap(self, made: Any, /, *, to_scalar: bool | None = None) -> Any:
        """A result in the class of the arguments; one without axes is a number where all of them were."""
        scalar = all(self.scalar_input) if to_scalar is None else to_scalar
        like = _core.numeric_derived(self._arrays)
        if like is not None:
            return like.__array_wrap__(f.asarray(made), None, scalar)
        return made._scalar() if scalar and isinstance(made, ndarray) and not made.ndim else made
