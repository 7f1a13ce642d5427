# SPDX-License-Identifier: Apache-2.0
"""The algorithms as releases before 0.7 had them: arguments by place, and older names of some.

from cuda.cccl.parallel.experimental import reduce_into
reduce_into(d_in, d_out, op, num_items, h_init)
"""

from __future__ import annotations

import functools
from typing import Any

from ... import *  # noqa: F403
from ... import __dict__ as _all
from ..._made import MAKERS

# The order of arguments by place. What follows them is given by name.
ORDERS = {
    "binary_transform": "d_in1 d_in2 d_out op num_items stream",
    "exclusive_scan": "d_in d_out op init_value num_items stream",
    "histogram_even": "d_samples d_histogram num_output_levels lower_level upper_level num_samples stream",
    "inclusive_scan": "d_in d_out op init_value num_items stream",
    "lower_bound": "d_data d_values d_out num_items num_values comp stream",
    "merge_sort": "d_in_keys d_in_values d_out_keys d_out_values op num_items stream",
    "radix_sort": "d_in_keys d_out_keys d_in_values d_out_values order num_items begin_bit end_bit stream",
    "reduce_into": "d_in d_out op num_items h_init stream",
    "segmented_reduce": "d_in d_out start_offsets_in end_offsets_in op h_init num_segments stream",
    "segmented_sort": "d_in_keys d_out_keys d_in_values d_out_values num_items num_segments start_offsets_in "
    "end_offsets_in order stream",
    "select": "d_in d_out d_num_selected_out cond num_items stream",
    "three_way_partition": "d_in d_first_part_out d_second_part_out d_unselected_out d_num_selected_out "
    "select_first_part_op select_second_part_op num_items stream",
    "unary_transform": "d_in d_out op num_items stream",
    "unique_by_key": "d_in_keys d_in_items d_out_keys d_out_items d_out_num_selected op num_items stream",
    "upper_bound": "d_data d_values d_out num_items num_values comp stream",
}
RENAMED = {
    "exclusive_scan": {"h_init": "init_value"},
    "inclusive_scan": {"h_init": "init_value"},
    "merge_sort": {"d_in_items": "d_in_values", "d_out_items": "d_out_values"},
}


def named(name: str, args: tuple[Any, ...], given: dict[str, Any]) -> dict[str, Any]:
    """Arguments by place as arguments by name."""
    order, renamed = ORDERS[name].split(), RENAMED.get(name, {})
    if len(args) > len(order):
        raise TypeError(f"{name}() takes {len(order)} arguments by place, found {len(args)}: {', '.join(order)}")
    found = {renamed.get(word, word): value for word, value in given.items()}
    twice = found.keys() & set(order[: len(args)])
    if twice:
        raise TypeError(f"{name}() got multiple values for argument '{min(twice)}'")
    return {**dict(zip(order, args)), **found}


def _by_place(name: str) -> Any:
    function = _all[name]

    @functools.wraps(function)
    def call(*args: Any, **given: Any) -> Any:
        return function(**named(name, args, given))

    return call


def _maker_by_place(name: str) -> Any:
    make = MAKERS[f"make_{name}"]

    @functools.wraps(make)
    def call(*args: Any, **given: Any) -> Any:
        return make(**{k: v for k, v in named(name, args, given).items() if k != "stream"})

    return call


globals().update({name: _by_place(name) for name in ORDERS})
globals().update({f"make_{name}": _maker_by_place(name) for name in ORDERS})
