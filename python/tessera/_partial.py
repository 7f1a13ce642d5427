# SPDX-License-Identifier: Apache-2.0
"""``functools.partial`` in kernels: a function of the language that calls the one behind it."""

from __future__ import annotations

from types import FunctionType
from typing import Any

__all__ = ["function_of"]


def function_of(made: Any) -> FunctionType:
    """A plain function that does what a ``functools.partial`` does; its source is below."""
    function, given, named = made.func, made.args, dict(made.keywords)

    def partial(*args, **more):  # type: ignore[no-untyped-def]
        return function(*given, *args, **{**named, **more})

    return partial  # type: ignore[no-any-return]
