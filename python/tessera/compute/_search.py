# SPDX-License-Identifier: Apache-2.0
"""Binary searches in a sorted array: one thread for each value."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ._arguments import items_in, stream_of, whole_numbers
from ._engine import THREADS, algorithm, kernel_of
from ._overlap import separate
from ._ready import words_of
from ._select import cast_of
from .iterators import dtypes_of, iterator_of
from .op import OpKind, operator_of, ordering

__all__ = ["lower_bound", "upper_bound"]

Function = Callable[..., Any]


def _searching(
    data: Function, value: Function, store: Function, cast: Function, before: Function, numbers: tuple[Function, ...]
) -> Callable[..., None]:
    from ..cuda import grid

    number_of_items, number_of_values = numbers

    def search(items: Any, n: Any, values: Any, m: Any, out: Any) -> None:
        t = grid(1)
        if t < number_of_values(m):
            v = value(values, t)
            low, high = 0, number_of_items(n)
            while low < high:
                mid = (low + high) // 2
                if before(data(items, mid), v):
                    low = mid + 1
                else:
                    high = mid
            store(out, t, cast(low))

    return search


def _search(
    upper: bool, d_data: Any, num_items: Any, d_values: Any, num_values: Any, d_out: Any, comp: Any, stream: Any
) -> None:
    data, values = iterator_of(d_data, "d_data"), iterator_of(d_values, "d_values")
    op, stream = operator_of(OpKind.LESS if comp is None else comp, 2, "comp"), stream_of(stream)
    n = items_in(num_items, "num_items", ("d_data", data))
    output = whole_numbers(d_out, "d_out", n.most)
    m = items_in(num_values, "num_values", ("d_values", values), ("d_out", output))
    reads = {"d_data": data, "d_values": values}
    separate(max(n.most, m.most), reads, {"d_out": output}, {("d_out", "d_values")})
    if m.most == 0:
        return

    def parts() -> tuple[Any, ...]:
        less = ordering(op, *dtypes_of(data, values)).function
        before = (lambda a, v: not less(v, a)) if upper else (lambda a, v: bool(less(a, v)))
        return data.load(), values.load(), output.store(), cast_of(output), before, (n.load(), m.load())

    def library_words() -> str | None:
        is_known = op.known is OpKind.LESS and data.value_type == values.value_type and m.kind is None
        return words_of("search", n, data, values, output, upper=int(upper)) if is_known else None

    key = upper, data.kind, values.kind, output.kind, op.key, n.kind, m.kind
    kernel = kernel_of(_searching, key, parts, library_words=library_words)
    kernel[-(-m.most // THREADS), THREADS, stream](data.state, n.state, values.state, m.state, output.state)


@algorithm
def lower_bound(
    *, d_data: Any, num_items: int, d_values: Any, num_values: int, d_out: Any, comp: Any = None, stream: Any = None
) -> None:
    """For each value the first place of a sorted array where it could stand: before all that is not less than it.

    Parameters
    ----------
    d_data : array or iterator
        Sorted by `comp`.
    num_items : int, or array of a device
        Of an array the first element counts, as it is when the search runs.
    d_values : array or iterator
    num_values : int, or array of a device
    d_out : array or iterator of whole numbers
        Of a dtype that `num_items` fits in. May be `d_values`.
    comp : function or OpKind, optional
        Whether one comes before another; without it ``a < b``, and NaNs come last.
    stream
        None, or any object with ``__cuda_stream__``.
    """
    _search(False, d_data, num_items, d_values, num_values, d_out, comp, stream)


@algorithm
def upper_bound(
    *, d_data: Any, num_items: int, d_values: Any, num_values: int, d_out: Any, comp: Any = None, stream: Any = None
) -> None:
    """For each value the last place of a sorted array where it could stand: after all that is not more than it; see
    `lower_bound`."""
    _search(True, d_data, num_items, d_values, num_values, d_out, comp, stream)
