# SPDX-License-Identifier: Apache-2.0
"""Annotations: NumPy's ``ArrayLike`` and ``DTypeLike``, and ``NDArray`` of our arrays."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy
from numpy.typing import ArrayLike, DTypeLike

from ._ndarray import ndarray

__all__ = ["ArrayLike", "DTypeLike", "NDArray"]

_Scalar = TypeVar("_Scalar", bound=numpy.generic)
NDArray = ndarray[tuple[Any, ...], numpy.dtype[_Scalar]]  # type: ignore[type-arg]


def __getattr__(name: str) -> Any:
    return getattr(numpy.typing, name)


def __dir__() -> list[str]:
    return dir(numpy.typing)
