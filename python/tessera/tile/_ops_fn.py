# SPDX-License-Identifier: Apache-2.0
"""Math functions, by tools/gen_math.py from src/table/math.def. Do not edit."""

from __future__ import annotations

from typing import Any

from ._op import op

__all__ = [
    "copysign",
    "isfinite",
    "isinf",
    "ldexp",
    "nextafter",
    "rint",
    "round",
    "trunc",
]


@op
def copysign(x: Any, y: Any, /) -> Any:
    """The magnitude of ``x`` with the sign of ``y``."""


@op
def isfinite(x: Any, /) -> Any:
    """Where a float is neither infinite nor NaN."""


@op
def isinf(x: Any, /) -> Any:
    """Where a float is infinite."""


@op
def ldexp(x: Any, n: Any, /) -> Any:
    """``x * 2**n`` for an integer ``n``, rounded once."""


@op
def nextafter(x: Any, y: Any, /) -> Any:
    """The next number after ``x`` in its dtype towards ``y``."""


@op
def rint(x: Any, /) -> Any:
    """The nearest integer as a float, halves to even."""


@op
def round(x: Any, /) -> Any:
    """The nearest integer as a float, halves away from zero as C's (NumPy's ``round`` is
    ``rint``).
    """


@op
def trunc(x: Any, /) -> Any:
    """The integer next to ``x`` towards zero, as a float."""
