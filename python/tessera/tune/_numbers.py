# SPDX-License-Identifier: Apache-2.0
"""Numbers that a search is given: each is looked at before anything is compiled."""

from __future__ import annotations

import math
from numbers import Integral, Real
from typing import Any

__all__ = ["count", "seconds"]


LONGEST_S = 1e6  # waits of 25 days and more are refused by systems


def seconds(name: str, value: Any, *, least: float | None = None, endless: bool = False) -> float:
    """A time: above 0, or at least ``least``; ``endless``: may be inf, and is beyond `LONGEST_S`."""
    wanted = "a finite number" if not endless else "a number"
    wanted += " above 0" if least is None else f" of at least {least:g}"
    if isinstance(value, bool) or not isinstance(value, Real):
        raise TypeError(f"{name} is {value!r}, wanted {wanted}")
    given = float(value)
    low = given > 0 if least is None else given >= least
    if not low or (math.isinf(given) and not endless):
        raise ValueError(f"{name} is {value!r}, wanted {wanted}")
    return math.inf if endless and given > LONGEST_S else given


def count(name: str, value: Any) -> int:
    """A whole number from 1."""
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise TypeError(f"{name} is {value!r}, wanted an int of at least 1")
    if value < 1:
        raise ValueError(f"{name} is {value!r}, wanted an int of at least 1")
    return int(value)
