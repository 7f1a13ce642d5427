# SPDX-License-Identifier: Apache-2.0
"""Collectives under the names of ``cuda.coop``: ``coop.block.make_sum(int32, 128)`` gives a primitive, which kernels
call.

A primitive is a function in the language of kernels, made of those of this folder for one dtype and shape. Nothing is
linked (``files`` is empty), and memory of the block that a kernel passes first is accepted and not used: each
collective has its own.
"""

from __future__ import annotations

import enum
import operator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..cuda import types
from . import _block_reduce, _block_scan, _memory, _merge_sort, _radix_sort, _warp_items, _warp_scan
from ._asked import asked, check_initial, comparison_of, number_of, one_of, operator_of, size_of, type_of, whole_number
from ._items import is_array
from ._values import Places, own, threads_of

__all__ = [
    "BlockExchangeType", "Primitive", "StatefulFunction", "block_exchange", "block_load", "block_merge_sort_keys",
    "block_radix_sort_keys", "block_radix_sort_keys_descending", "block_reduce", "block_scan", "block_store",
    "block_sum", "exclusive_scan", "exclusive_sum", "inclusive_scan", "inclusive_sum", "warp_exclusive_sum",
    "warp_merge_sort_keys", "warp_reduce", "warp_sum",
]  # fmt: skip

class BlockExchangeType(enum.Enum):
    """What `make_exchange` brings items from, and to."""

    StripedToBlocked = "striped_to_blocked"
    BlockedToStriped = "blocked_to_striped"
    WarpStripedToBlocked = "warp_striped_to_blocked"
    BlockedToWarpStriped = "blocked_to_warp_striped"


class StatefulFunction:
    """A prefix callback with a state: ``op(state, aggregate)``, a function or a class whose ``__call__`` it is, and the
    type of what the kernel passes as state, an array of one."""

    def __init__(self, op: Any, dtype: Any, name: str | None = None) -> None:
        function = vars(op).get("__call__") if isinstance(op, type) else op
        if not callable(function):
            raise ValueError(f"StatefulFunction() takes a function, or a class with __call__, not {op!r}")
        self.op, self.dtype, self.function = op, dtype, function
        self.name = name or getattr(op, "__name__", "op")


@dataclass(frozen=True)
class Primitive:
    """What kernels call.

    Attributes
    ----------
    files : list
        Empty: there is nothing to link.
    temp_storage_bytes, temp_storage_alignment : int
        Of the memory that a kernel may pass first.
    """

    name: str
    function: Any
    temp_storage_bytes: int
    temp_storage_alignment: int
    files: Any

    def __call__(self, *args: Any) -> Any:
        return self.function(*args)

    def __repr__(self) -> str:
        return f"<{self.name} of kernels>"


def primitive(name: str, function: Any, dtype: Any, places: int, alignment: int = 1) -> Primitive:
    """The function as a primitive with room for so many values of the type; ``alignment``: at least."""
    function.__name__ = function.__qualname__ = name  # for messages
    size, own_alignment = size_of(dtype)
    return Primitive(name, function, size * places, max(alignment, own_alignment), [])


# ---- in kernels ------------------------------------------------------------------------------------------


def one(x: Any, dtype: Any) -> Any:
    """A value of the primitive's dtype; None: it has many numbers, and comes as it is."""
    return own(x) if dtype is None else dtype(x)


def taken(x: Any, dtype: Any, items: int) -> Any:
    """A value, or items, of the primitive's dtype."""
    return tuple(one(x[i], dtype) for i in range(items)) if is_array(x) else one(x, dtype)


def put(target: Any, items: Any) -> None:
    for i in tuple(range(len(items))):
        target[i] = items[i]


def is_storage(x: Any, items: int) -> bool:
    """Whether it is memory of the block, not the thread's items."""
    return is_array(x) and not isinstance(x, Places) and x.dtype == np.uint8 and len(x) != items


# ---- primitives of a block -------------------------------------------------------------------------------


def block_load(dtype: Any, threads_per_block: Any, items_per_thread: int = 1, algorithm: str = "direct") -> Primitive:
    """Makes a primitive, called ``load(source, items)``: `coop.block.load` into an array."""
    made, threads, items = asked(dtype, threads_per_block, items_per_thread)
    one_of("algorithm", algorithm, _memory.ALGORITHMS)

    def function(*args):  # type: ignore[no-untyped-def]
        source, target = args[len(args) - 2 :]
        put(target, _memory.load(source, items, threads=threads, algorithm=algorithm))

    return primitive("block_load", function, made, items * threads_of(threads))


def block_store(dtype: Any, threads_per_block: Any, items_per_thread: int = 1, algorithm: str = "direct") -> Primitive:
    """Makes a primitive, called ``store(target, items)``: `coop.block.store` of an array."""
    made, threads, items = asked(dtype, threads_per_block, items_per_thread)
    one_of("algorithm", algorithm, _memory.ALGORITHMS)

    def function(*args):  # type: ignore[no-untyped-def]
        target, source = args[len(args) - 2 :]
        given = tuple(source[i] for i in range(items))
        _memory.store(target, given, threads=threads, algorithm=algorithm)

    return primitive("block_store", function, made, items * threads_of(threads))


def block_exchange(
    block_exchange_type: Any, dtype: Any, threads_per_block: Any, items_per_thread: int,
    warp_time_slicing: bool = False, methods: Any = None,
) -> Primitive:  # fmt: skip
    """Makes a primitive, called ``exchange(items)`` or ``exchange(items, out)``: `coop.block.exchange`."""
    if not isinstance(block_exchange_type, BlockExchangeType):
        raise ValueError(f"block_exchange_type must be a member of BlockExchangeType, not {block_exchange_type!r}")
    made, threads, items = asked(dtype, threads_per_block, items_per_thread)
    how = block_exchange_type.value

    def function(*args):  # type: ignore[no-untyped-def]
        given = args[1:] if is_storage(args[0], items) else args
        source = tuple(given[0][i] for i in range(items))
        put(given[len(given) - 1], _memory.exchange(source, how, threads=threads))

    return primitive("block_exchange", function, made, 2 * items * threads_of(threads))


def block_reduce(
    dtype: Any, threads_per_block: Any, binary_op: Any, items_per_thread: int = 1, algorithm: str = "warp_reductions",
    methods: Any = None,
) -> Primitive:  # fmt: skip
    """Makes a primitive, called ``reduce(item)``, ``reduce(items)``, ``reduce(item, num_valid)``: `coop.block.reduce`,
    whose result is in thread 0."""
    made, threads, items = asked(dtype, threads_per_block, items_per_thread)
    one_of("algorithm", algorithm, _block_reduce.ALGORITHMS)
    op, number = operator_of(binary_op), number_of(made)

    def function(*args):  # type: ignore[no-untyped-def]
        given = args[1:] if len(args) > 1 and is_array(args[0]) else args
        valid = given[1] if len(given) > 1 else None
        return _block_reduce.reduce(taken(given[0], number, items), op, threads=threads, num_valid=valid)

    return primitive("block_reduce", function, made, (threads_of(threads) + 31) // 32)


def block_sum(
    dtype: Any, threads_per_block: Any, items_per_thread: int = 1, algorithm: str = "warp_reductions",
    methods: Any = None,
) -> Primitive:  # fmt: skip
    """As `make_reduce`, with ``+``."""
    return block_reduce(dtype, threads_per_block, operator.add, items_per_thread, algorithm, methods)


def block_scan(
    dtype: Any, threads_per_block: Any, items_per_thread: int, initial_value: Any = None, mode: str = "exclusive",
    scan_op: Any = "+", block_prefix_callback_op: Any = None, algorithm: str = "raking", methods: Any = None,
) -> Primitive:  # fmt: skip
    """Makes a primitive, called ``y = scan(x)`` for one item, ``scan(items, out)`` for more, with the state of the
    prefix callback behind: `coop.block.scan`. The first result of an exclusive scan without an initial value is 0."""
    made, threads, items = asked(dtype, threads_per_block, items_per_thread)
    one_of("mode", mode, ("exclusive", "inclusive"))
    one_of("algorithm", algorithm, _block_scan.ALGORITHMS)
    op, number, inclusive = operator_of(scan_op, "scan_op"), number_of(made), mode == "inclusive"
    check_initial(items, initial_value, op, inclusive, block_prefix_callback_op, number)
    prefix = block_prefix_callback_op
    callback = getattr(prefix, "function", prefix)
    initial = number(initial_value) if number and initial_value is not None else None
    n_values = (1 if items == 1 else 2) + (prefix is not None) + (number is None and initial_value is not None)

    def function(*args):  # type: ignore[no-untyped-def]
        given = args[1:] if len(args) > n_values else args
        start = initial if number is not None else given[len(given) - 1] if initial_value is not None else None
        before = None
        if prefix is not None:
            state = given[len(given) - 1]
            before = lambda all_: callback(state, all_)  # noqa: E731
        x = taken(given[0], number, items)
        result = _block_scan.scan_block(x, op, threads, inclusive, start, before, False, None, True)
        if items == 1:
            return result[0] if is_array(given[0]) else result
        put(given[1], result)

    return primitive("block_scan", function, made, (threads_of(threads) + 31) // 32 + 1, 16)


def exclusive_sum(
    dtype: Any, threads_per_block: Any, items_per_thread: int, prefix_op: Any = None, algorithm: str = "raking",
    methods: Any = None,
) -> Primitive:  # fmt: skip
    """As `make_scan`: an exclusive one with ``+``."""
    return block_scan(
        dtype, threads_per_block, items_per_thread, None, "exclusive", "+", prefix_op, algorithm, methods
    )


def inclusive_sum(
    dtype: Any, threads_per_block: Any, items_per_thread: int, prefix_op: Any = None, algorithm: str = "raking",
    methods: Any = None,
) -> Primitive:  # fmt: skip
    """As `make_scan`: an inclusive one with ``+``."""
    return block_scan(
        dtype, threads_per_block, items_per_thread, None, "inclusive", "+", prefix_op, algorithm, methods
    )


def exclusive_scan(
    dtype: Any, threads_per_block: Any, scan_op: Any, items_per_thread: int, initial_value: Any = None,
    prefix_op: Any = None, algorithm: str = "raking", methods: Any = None,
) -> Primitive:  # fmt: skip
    """As `make_scan`: an exclusive one."""
    return block_scan(
        dtype, threads_per_block, items_per_thread, initial_value, "exclusive", scan_op, prefix_op, algorithm, methods
    )


def inclusive_scan(
    dtype: Any, threads_per_block: Any, scan_op: Any, items_per_thread: int, initial_value: Any = None,
    prefix_op: Any = None, algorithm: str = "raking", methods: Any = None,
) -> Primitive:  # fmt: skip
    """As `make_scan`: an inclusive one."""
    return block_scan(
        dtype, threads_per_block, items_per_thread, initial_value, "inclusive", scan_op, prefix_op, algorithm, methods
    )


def block_merge_sort_keys(
    dtype: Any, threads_per_block: Any, items_per_thread: int, compare_op: Any, methods: Any = None
) -> Primitive:
    """Makes a primitive, called ``sort(items)``: `coop.block.merge_sort` in place."""
    made, threads, items = asked(dtype, threads_per_block, items_per_thread)
    compare = comparison_of(compare_op, made)

    def function(*args):  # type: ignore[no-untyped-def]
        keys = args[len(args) - 1]
        put(keys, _merge_sort.merge_sort(tuple(keys[i] for i in range(items)), compare, threads=threads))

    return primitive("block_merge_sort", function, made, 2 * items * threads_of(threads))


def radix_sort_of(dtype: Any, threads_per_block: Any, items_per_thread: int, descending: bool) -> Primitive:
    made, threads, items = asked(dtype, threads_per_block, items_per_thread)
    if number_of(made) is None or isinstance(made, types.Complex):
        raise ValueError(f"radix sort takes integers, floats and bools, not {dtype}")

    def function(*args):  # type: ignore[no-untyped-def]
        given = args[1:] if len(args) % 2 == 0 else args
        keys = tuple(given[0][i] for i in range(items))
        if len(given) == 1:
            keys = _radix_sort.radix_sort(keys, threads=threads, descending=descending)
        else:
            keys = _radix_sort.radix_sort(
                keys, threads=threads, descending=descending, begin_bit=given[1], end_bit=given[2]
            )
        put(given[0], keys)

    return primitive("block_radix_sort", function, made, 2 * items * threads_of(threads))


def block_radix_sort_keys(dtype: Any, threads_per_block: Any, items_per_thread: int) -> Primitive:
    """Makes a primitive, called ``sort(items)`` or ``sort(items, begin_bit, end_bit)``: `coop.block.radix_sort` in
    place."""
    return radix_sort_of(dtype, threads_per_block, items_per_thread, False)


def block_radix_sort_keys_descending(dtype: Any, threads_per_block: Any, items_per_thread: int) -> Primitive:
    """As `make_radix_sort_keys`, the greatest first."""
    return radix_sort_of(dtype, threads_per_block, items_per_thread, True)


# ---- primitives of a warp --------------------------------------------------------------------------------


def warp_reduce(dtype: Any, binary_op: Any, threads_in_warp: int = 32, methods: Any = None) -> Primitive:
    """Makes a primitive, called ``reduce(item)``: `coop.warp.reduce`, whose result is in the first lane."""
    made, width = type_of(dtype), whole_number("threads_in_warp", threads_in_warp, 1, 32)
    op, number = operator_of(binary_op), number_of(made)

    def function(*args):  # type: ignore[no-untyped-def]
        return _warp_scan.reduce(one(args[len(args) - 1], number), op, width=width)

    return primitive("warp_reduce", function, made, width)


def warp_sum(dtype: Any, threads_in_warp: int = 32) -> Primitive:
    """As `make_reduce`, with ``+``."""
    return warp_reduce(dtype, operator.add, threads_in_warp)


def warp_exclusive_sum(dtype: Any, threads_in_warp: int = 32) -> Primitive:
    """Makes a primitive, called ``scan(item)``: `coop.warp.exclusive_sum`."""
    made, width = type_of(dtype), whole_number("threads_in_warp", threads_in_warp, 1, 32)
    number = number_of(made)

    def function(*args):  # type: ignore[no-untyped-def]
        return _warp_scan.exclusive_sum(one(args[len(args) - 1], number), width=width)

    return primitive("warp_exclusive_sum", function, made, width)


def warp_merge_sort_keys(
    dtype: Any, items_per_thread: int, compare_op: Any, threads_in_warp: int = 32, methods: Any = None
) -> Primitive:
    """Makes a primitive, called ``sort(items)``: `coop.warp.merge_sort` in place."""
    made, width = type_of(dtype), whole_number("threads_in_warp", threads_in_warp, 1, 32)
    items, compare = whole_number("items_per_thread", items_per_thread), comparison_of(compare_op, made)
    one_of("threads_in_warp", width, (1, 2, 4, 8, 16, 32))

    def function(*args):  # type: ignore[no-untyped-def]
        keys = args[len(args) - 1]
        put(keys, _warp_items.merge_sort(tuple(keys[i] for i in range(items)), compare, width=width))

    return primitive("warp_merge_sort", function, made, items * width)
