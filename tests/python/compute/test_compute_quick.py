# SPDX-License-Identifier: Apache-2.0
"""Code that is quickly made for first launches (src/run/tier.c) gives the bits of the code that takes its place, as it
is made for a GPU and run by the reference interpreter."""

import numpy as np
import pytest
from compute_as_gpu import interpret, small_leaves

from tessera import compute

N = 2700  # some tiles, the last one not whole
RNG = np.random.default_rng(5)
PLUS = compute.OpKind.PLUS
FLOATS = RNG.random(N).astype(np.float32)
KEYS = RNG.integers(0, 300, N).astype(np.int32)


def zeros(*dtypes):
    return [np.zeros(N, dtype) for dtype in dtypes]


def summed():
    one, *_ = out = zeros(np.float32)
    compute.reduce_into(d_in=FLOATS, d_out=one, num_items=N, op=PLUS, h_init=np.float32(0.5))
    return out


def summed_in_order():
    one, *_ = out = zeros(np.float32)
    compute.reduce_into(d_in=FLOATS, d_out=one, num_items=N, op=lambda a, b: a + b / 2, h_init=np.float32(0.5))
    return out


def scanned():
    first, second = out = zeros(np.float32, np.float32)
    compute.inclusive_scan(d_in=FLOATS, d_out=first, num_items=N, op=PLUS)
    compute.exclusive_scan(d_in=FLOATS, d_out=second, num_items=N, op=PLUS, init_value=np.float32(0.1))
    return out


def in_place():
    x = FLOATS.copy()
    compute.inclusive_scan(d_in=x, d_out=x, num_items=N, op=PLUS)
    return (x,)


def summed_by_key():
    keys, sums, count = out = [*zeros(np.int32, np.float32), np.zeros(1, np.int64)]
    compute.reduce_by_key(
        d_in_keys=KEYS // 30, d_in_values=FLOATS, d_out_keys=keys, d_out_values=sums, d_num_runs_out=count,
        num_items=N, op=PLUS,
    )  # fmt: skip
    return out


def chosen():
    some, first, rest, counts = *zeros(np.float32, np.float32, np.float32), np.zeros(3, np.int64)
    compute.select(d_in=FLOATS, d_out=some, num_items=N, d_num_selected_out=counts[:1], cond=lambda v: v > 0.5)
    compute.partition(
        d_in=FLOATS, d_out=first, d_rest_out=rest, num_items=N, d_num_selected_out=counts[1:2], cond=lambda v: v < 0.2
    )
    return some, first, rest, counts


def in_three_parts():
    first, second, rest, counts = out = [*zeros(np.int32, np.int32, np.int32), np.zeros(2, np.int64)]
    compute.three_way_partition(
        d_in=KEYS, d_first_part_out=first, d_second_part_out=second, d_unselected_out=rest, num_items=N,
        d_num_selected_out=counts, select_first_part_op=lambda v: v < 100, select_second_part_op=lambda v: v > 200,
    )  # fmt: skip
    return out


def runs():
    keys, lengths, unique, counts = *zeros(np.int32, np.int32, np.int32), np.zeros(2, np.int64)
    x = KEYS // 100
    compute.run_length_encode(
        d_in=x, d_unique_out=keys, d_lengths_out=lengths, d_num_runs_out=counts[:1], num_items=N
    )
    compute.unique(d_in=x, d_out=unique, num_items=N, d_num_selected_out=counts[1:], op=compute.OpKind.EQUAL_TO)
    return keys, lengths, unique, counts


def sorted_(n):
    keys, values = out = zeros(np.int32, np.uint16)
    places, order = np.arange(N, dtype=np.uint16), compute.SortOrder.DESCENDING
    compute.radix_sort(
        d_in_keys=KEYS, d_out_keys=keys, d_in_values=places, d_out_values=values, num_items=n, order=order
    )
    return out


def sorted_by_sweeps():
    return sorted_(N)


def sorted_in_one_tile():
    return sorted_(1000)


def first_few():
    keys, *_ = out = zeros(np.float32)
    compute.top_k(d_in_keys=FLOATS, d_out_keys=keys, num_items=N, k=9)
    return out


def in_parts(dtype, ends):
    keys, values, sums = out = *zeros(dtype, np.uint16), np.zeros(len(ends), np.float32)
    places, starts = np.arange(N, dtype=np.uint16), np.append(0, ends[:-1])
    parts = {"num_segments": len(ends), "start_offsets_in": starts, "end_offsets_in": ends}
    compute.segmented_sort(
        d_in_keys=KEYS.astype(dtype), d_out_keys=keys, d_in_values=places, d_out_values=values, num_items=N, **parts
    )
    compute.segmented_reduce(d_in=FLOATS, d_out=sums, op=PLUS, h_init=np.float32(0.5), **parts)
    assert all(np.array_equal(keys[a:b], np.sort(KEYS[a:b])) for a, b in zip(starts, ends))
    return out


def in_short_and_long_parts():
    return in_parts(np.int32, np.array([3, 3, 40, 300, 301, N - 7]))


def in_parts_of_wide_keys():
    return in_parts(np.int64, np.arange(50, N + 1, 50))


CALLS = [summed, summed_in_order, scanned, in_place, summed_by_key, chosen, in_three_parts, runs, sorted_by_sweeps,
         sorted_in_one_tile, in_short_and_long_parts, in_parts_of_wide_keys, first_few]  # fmt: skip


@pytest.mark.parametrize("call", CALLS, ids=lambda call: call.__name__)
def test_quick_code_has_the_same_bits(call, monkeypatch):
    small_leaves(monkeypatch)
    found = []
    for opt_level in (0, 1):
        with monkeypatch.context() as patch:
            interpret(patch, 7, opt_level=opt_level)
            found.append(call())
    for usual, quick in zip(*found, strict=True):
        assert usual.any() and usual.tobytes() == quick.tobytes()
