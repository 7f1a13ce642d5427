# SPDX-License-Identifier: Apache-2.0
"""What the factories of primitives are asked for: types, shapes, operators, checked on the host."""

from __future__ import annotations

import inspect
import operator
from typing import Any

import numpy as np

from ..cuda import types
from ._values import local_like

__all__ = ["OPERATORS", "asked", "check_initial", "comparison_of", "number_of", "one_of", "operator_of", "size_of",
           "type_of", "whole_number"]  # fmt: skip

NAMED = {
    operator.add: "+ add plus", operator.mul: "* mul multiplies", min: "min minimum", max: "max maximum",
    operator.and_: "& bit_and", operator.or_: "| bit_or", operator.xor: "^ bit_xor",
}  # fmt: skip
OPERATORS: dict[Any, Any] = {name: op for op, names in NAMED.items() for name in names.split()}
OPERATOR_NAMES = [repr(name) for name in OPERATORS]
OPERATORS |= {op: op for op in NAMED} | {
    np.add: operator.add, np.multiply: operator.mul, np.minimum: min, np.maximum: max, np.bitwise_and: operator.and_,
    np.bitwise_or: operator.or_, np.bitwise_xor: operator.xor,
}  # fmt: skip


def type_of(dtype: Any) -> Any:
    """The type of values in kernels."""
    from ..cuda._of_numba import own
    from ..cuda._typeof import from_dtype

    found = own(dtype)
    if isinstance(found, types.Type):
        return found
    try:
        return from_dtype(np.dtype(found))
    except (TypeError, NotImplementedError) as e:
        raise ValueError(f"dtype={dtype!r} is no type of kernels: pass numba.int32, np.float32 or their like") from e


def size_of(dtype: Any) -> tuple[int, int]:
    """Bytes and alignment of a value."""
    from ..cuda._models import layout_of

    found = layout_of(dtype)
    return found.itemsize, max(found.alignment // (2 if found.kind == "c" else 1), 1)


def whole_number(name: str, value: Any, least: int = 1, most: int | None = None) -> int:
    is_int = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
    if not is_int or value < least or (most is not None and value > most):
        limit = f"{least} or more" if most is None else f"{least} to {most}"
        raise ValueError(f"{name} must be an integer, {limit}, not {value!r}")
    return int(value)


def shape_of(threads: Any) -> Any:
    """The threads of a block: an int, or a tuple of two or three."""
    if isinstance(threads, (tuple, list)) and 1 <= len(threads) <= 3:
        shape = tuple(whole_number("threads_per_block", extent) for extent in threads)
        whole_number("threads_per_block", int(np.prod(shape)), 1, 1024)
        return shape
    return whole_number("threads_per_block", threads, 1, 1024)


def asked(dtype: Any, threads_per_block: Any, items_per_thread: Any) -> tuple[Any, Any, int]:
    """What every factory of a block is asked for."""
    items = whole_number("items_per_thread", items_per_thread)
    return type_of(dtype), shape_of(threads_per_block), items


def one_of(name: str, value: Any, known: Any) -> Any:
    if value not in tuple(known):
        raise ValueError(f"{name} must be one of {', '.join(map(repr, known))}, not {value!r}")
    return value


def is_plain(dtype: Any) -> bool:
    """A number that operators get as it is; others come through pointers."""
    return isinstance(dtype, (types.Number, types.Boolean)) and not isinstance(dtype, types.Complex)


def arity(function: Any) -> int | None:
    try:
        return len(inspect.signature(getattr(function, "py_func", function)).parameters)
    except (TypeError, ValueError):
        return None


def number_of(dtype: Any) -> Any:
    """The type, where values are single numbers; else None."""
    return dtype if isinstance(dtype, (types.Number, types.Boolean)) else None


def operator_of(op: Any, name: str = "binary_op") -> Any:
    """An operator of two values: what is known by a name, or a function; through pointers, ``op(result, a, b)``."""
    try:
        if op in OPERATORS:
            return OPERATORS[op]
    except TypeError:  # not hashable
        pass
    if not callable(op):
        raise ValueError(f"{name} must be a function or one of {', '.join(OPERATOR_NAMES)}, not {op!r}")
    n = arity(op)
    if n == 3:

        def through_pointers(a, b):  # type: ignore[no-untyped-def]
            result = local_like(1, a)
            op(result, (a,), (b,))
            return result[0]

        return through_pointers
    if n not in (2, None):
        raise ValueError(f"{name} takes two values, or result and two values as pointers; {op!r} takes {n}")
    return op


def comparison_of(op: Any, dtype: Any) -> Any:
    """``op(a, b)``; of values that are no plain numbers with pointers to them."""
    if not callable(op) or arity(op) not in (2, None):
        raise ValueError(f"compare_op must be a function of two values, not {op!r}")
    if is_plain(dtype):
        return op
    return lambda a, b: op((a,), (b,))


def check_initial(items: int, initial: Any, op: Any, inclusive: bool, prefix: Any, number: Any) -> None:
    """Where an initial value may stand, and where it has to."""
    if items == 1 and initial is not None and inclusive:
        raise ValueError("initial_value is not supported for inclusive scans with items_per_thread == 1")
    if items == 1 and initial is not None and prefix is not None:
        raise ValueError(
            "initial_value is not supported for exclusive scans with items_per_thread == 1 and a block prefix "
            "callback operator"
        )
    if items > 1 and initial is None and prefix is None and number is None:
        raise ValueError(
            "initial_value is required for both inclusive and exclusive scans when items_per_thread > 1 and no block "
            "prefix callback operator has been supplied"
        )
    if initial is not None and op is operator.add:
        raise ValueError("initial_value is not supported for inclusive and exclusive sums")
