# SPDX-License-Identifier: Apache-2.0
"""A call of every algorithm, on ten items, with arrays that a function makes of NumPy's: on the host or on a device."""

import numpy as np

from tessera import compute

__all__ = ["NUMBERS", "calls"]

# The arguments that say how many items there are.
NUMBERS = ("num_items", "num_items1", "num_items2", "num_samples", "num_values", "num_segments", "k")


def calls(make):
    """Of each algorithm its function's name, and the arguments of a call that is right."""
    x, y, out, rest = (make(np.arange(10, dtype=np.int32)) for _ in range(4))
    places, few, one = make(np.zeros(10, np.uint64)), make(np.zeros(10, np.int64)), make(np.zeros(2, np.int64))
    starts, ends, op = make(np.zeros(10, np.int64)), make(np.zeros(10, np.int64)), compute.OpKind.PLUS
    n, io, selected = {"num_items": 10}, {"d_in": x, "d_out": out}, {"d_num_selected_out": one}
    init, cond, zero = {"h_init": np.int32(0)}, {"cond": bool}, {"init_value": np.int32(0)}
    parts = {"num_segments": 10, "start_offsets_in": starts, "end_offsets_in": ends}
    two, keys = {"d_in1": x, "d_in2": y}, {"d_in_keys": x, "d_out_keys": out}
    lists, by_key = {**two, "num_items1": 5, "num_items2": 5, "d_out": out}, {"d_in_keys": x, "d_in_values": y}
    runs = {"d_num_runs_out": one, **n}
    return {
        "reduce_into": {**io, **n, **init, "op": op},
        "transform_reduce": {**io, **n, **init, "op": op, "transform_op": abs},
        "inner_product": {**two, "d_out": out, **n, **init},
        "minmax": {**io, **n}, "argmin": {"d_in": x, "d_out": one, **n}, "argmax": {"d_in": x, "d_out": one, **n},
        "count_if": {"d_in": x, "d_out": one, **cond, **n}, "find_if": {"d_in": x, "d_out": one, **cond, **n},
        "equal": {**two, "d_out": one, **n}, "mismatch": {**two, "d_out": one, **n},
        "inclusive_scan": {**io, **n, "op": op}, "exclusive_scan": {**io, **n, **zero, "op": op},
        "inclusive_scan_by_key": {**by_key, "d_out_values": out, **n, "op": op},
        "exclusive_scan_by_key": {**by_key, "d_out_values": out, **n, **zero, "op": op},
        "reduce_by_key": {**by_key, "d_out_keys": rest, "d_out_values": out, **runs, "op": op},
        "run_length_encode": {"d_in": x, "d_unique_out": out, "d_lengths_out": rest, **runs},
        "unique": {**io, **n, **selected, "op": compute.OpKind.EQUAL_TO},
        "unique_by_key": {
            "d_in_keys": x, "d_in_items": y, "d_out_keys": out, "d_out_items": rest, "d_out_num_selected": one, **n,
            "op": compute.OpKind.EQUAL_TO,
        },
        "unary_transform": {**io, **n, "op": abs}, "binary_transform": {**two, "d_out": out, **n, "op": op},
        "transform": {"d_in": [x, y], "d_out": out, **n, "op": op}, "for_each": {"d_in": x, **n, "op": abs},
        "adjacent_difference": {**io, **n}, "copy": {**io, **n}, "reverse": {**io, **n}, "shuffle": {**io, **n},
        "replace_if": {**io, **n, **cond, "value": np.int32(1)}, "fill": {"d_out": out, "value": np.int32(1), **n},
        "sequence": {"d_out": out, **n}, "generate": {"d_out": out, "op": abs, **n},
        "gather": {**io, "d_indices": few, **n}, "scatter": {**io, "d_indices": few, **n},
        "select": {**io, **n, **selected, **cond}, "select_flagged": {**io, "d_flags": y, **n, **selected},
        "remove_if": {**io, **n, **selected, **cond}, "partition": {**io, "d_rest_out": rest, **n, **selected, **cond},
        "three_way_partition": {
            "d_in": x, "d_first_part_out": out, "d_second_part_out": rest, "d_unselected_out": y, **n, **selected,
            "select_first_part_op": bool, "select_second_part_op": bool,
        },
        "merge_sort": {**keys, **n, "op": compute.OpKind.LESS}, "radix_sort": {**keys, **n},
        "segmented_sort": {**keys, **n, **parts}, "top_k": {**keys, **n, "k": 5}, "nth_element": {**io, **n, "n": 3},
        "segmented_top_k": {**keys, **n, **parts, "k": 1},
        "segmented_reduce": {**io, **parts, **init, "op": op},
        "segmented_inclusive_scan": {**io, **n, **parts, "op": op},
        "segmented_exclusive_scan": {**io, **n, **parts, **zero, "op": op},
        "lower_bound": {"d_data": x, **n, "d_values": y, "num_values": 10, "d_out": places},
        "upper_bound": {"d_data": x, **n, "d_values": y, "num_values": 10, "d_out": places},
        "merge": lists,
        **{
            f"set_{name}": {**lists, "d_num_out": one}
            for name in ("union", "intersection", "difference", "symmetric_difference")
        },
        "histogram_even": {
            "d_samples": x, "d_histogram": out, "num_output_levels": 5, "lower_level": np.int32(0),
            "upper_level": np.int32(8), "num_samples": 10,
        },
        "histogram_range": {
            "d_samples": x, "d_levels": y, "d_histogram": out, "num_output_levels": 5, "num_samples": 10,
        },
    }  # fmt: skip
