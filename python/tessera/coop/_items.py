# SPDX-License-Identifier: Apache-2.0
"""Items of one thread: a tuple of values, or an array of one dimension whose extent is a constant. Collectives read
both as tuples, and give the form that they got."""

from __future__ import annotations

from typing import Any

from ..cuda._device import alike
from ._values import Places, own

__all__ = ["are_items", "given_back", "is_array", "items_of"]


def is_array(x: Any) -> bool:
    """Whether it is an array, not a value."""
    return isinstance(x, Places) or (hasattr(x, "strides") and x.ndim > 0)


def are_items(x: Any) -> bool:
    """Whether it is items: an array, or a tuple without names."""
    return is_array(x) or (isinstance(x, tuple) and not hasattr(x, "_fields"))


def items_of(x: Any) -> Any:
    """A tuple of values: the items, all of the same dtypes, or the one value."""
    if is_array(x):
        return tuple(x[i] for i in range(len(x)))
    if are_items(x):
        return alike(x)
    return (own(x),)


def given_back(x: Any, items: Any, out: Any = None) -> Any:
    """The items in the form of ``x``: an array is written to, ``out`` or itself."""
    if is_array(x):
        target = x if out is None else out
        for i in range(len(items)):
            target[i] = items[i]
        return target
    return items if are_items(x) else items[0]
