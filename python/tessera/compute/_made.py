# SPDX-License-Identifier: Apache-2.0
"""``make_..``: algorithms as objects, made for kinds of arguments and called as often as wanted."""

from __future__ import annotations

import inspect
from typing import Any

from . import _histogram, _reduce, _scan, _search, _segmented, _select, _sort, _transform
from ._engine import Made

__all__ = ["MAKERS"]

# The algorithm, and its operators with the number of their arguments.
_ROWS: dict[str, tuple[Any, dict[str, int]]] = {
    "binary_transform": (_transform.binary_transform, {"op": 2}),
    "exclusive_scan": (_scan.exclusive_scan, {"op": 2}),
    "histogram_even": (_histogram.histogram_even, {}),
    "inclusive_scan": (_scan.inclusive_scan, {"op": 2}),
    "lower_bound": (_search.lower_bound, {"comp": 2}),
    "merge_sort": (_sort.merge_sort, {"op": 2}),
    "radix_sort": (_sort.radix_sort, {}),
    "reduce_into": (_reduce.reduce_into, {"op": 2}),
    "segmented_reduce": (_segmented.segmented_reduce, {"op": 2}),
    "segmented_sort": (_sort.segmented_sort, {}),
    "select": (_select.select, {"cond": 1}),
    "three_way_partition": (_select.three_way_partition, {"select_first_part_op": 1, "select_second_part_op": 1}),
    "unary_transform": (_transform.unary_transform, {"op": 1}),
    "unique_by_key": (_select.unique_by_key, {"op": 2}),
    "upper_bound": (_search.upper_bound, {"comp": 2}),
}
_COUNTS = ("num_items", "num_segments", "num_values", "num_samples", "stream", "temp_storage", "max_segment_size")


def _maker(name: str) -> Any:
    function, operators = _ROWS[name]
    parameters = inspect.signature(function).parameters
    phases = "temp_storage" in parameters

    def make(**given: Any) -> Made:
        given.pop("compute_capability", None)
        unknown = [word for word in given if word not in parameters]
        if unknown:
            raise TypeError(f"make_{name}() got an unexpected keyword argument '{unknown[0]}'")
        return Made(function, operators, {k: v for k, v in given.items() if k not in _COUNTS}, phases)

    make.__name__ = make.__qualname__ = f"make_{name}"
    made = "is called as often as wanted, first with ``temp_storage=None`` for the bytes that it needs" if phases else "is called as often as wanted"
    make.__doc__ = f"`{name}` for arguments of these kinds: the object {made}, and otherwise as `{name}`."
    return make


MAKERS = {f"make_{name}": _maker(name) for name in _ROWS}
