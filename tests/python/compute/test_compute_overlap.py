# SPDX-License-Identifier: Apache-2.0
"""Results in memory that is read, or of each other: every algorithm is right in place, or refuses, and says so."""

import numpy as np
import pytest

from tessera import compute
from tessera.compute import OpKind, PermutationIterator, TransformIterator, ZipIterator

N = 40
COUNT = np.zeros(2, np.int64)
STARTS, ENDS = np.arange(0, N, 4), np.arange(4, N + 1, 4)
PARTS = {"num_segments": 10, "start_offsets_in": STARTS, "end_offsets_in": ENDS}
ALL = {"num_items": N}


def room():
    return np.arange(3 * N)


def calls():
    """Calls with two of their arrays in one place: what is to be said, the function, its arguments."""
    x, a, b = room(), np.arange(N), np.zeros(N, np.int64)
    keys = {"d_in_keys": a, "d_in_values": a}
    one, two = x[:N], x[N - 4 : 2 * N - 4]  # the last four of one are the first four of the other
    both = "d_out_values shares memory with d_out_keys, and both are written"
    for name, more in (
        ("radix_sort", {}), ("merge_sort", {"op": OpKind.LESS}), ("segmented_sort", PARTS), ("top_k", {"k": N}),
        ("segmented_top_k", {"k": 4, **PARTS}),
    ):  # fmt: skip
        yield both, name, keys | ALL | more | {"d_out_keys": one, "d_out_values": two}
    for name, more in (("radix_sort", {}), ("merge_sort", {"op": OpKind.LESS}), ("segmented_sort", PARTS)):
        given = ALL | more | {"d_in_keys": one, "d_in_values": a, "d_out_keys": b, "d_out_values": two}
        yield "d_out_values shares memory with d_in_keys", name, given
        moved = ALL | more | {"d_in_keys": x[:N], "d_out_keys": x[1 : N + 1]}
        yield "d_out_keys shares memory with d_in_keys, but not item by item", name, moved
    yield "d_out_keys shares memory with start_offsets_in", "segmented_sort", ALL | {
        "d_in_keys": a, "d_out_keys": one, **PARTS, "start_offsets_in": x[:10]
    }  # fmt: skip
    odd = lambda v: v % 2 == 1  # noqa: E731
    chosen = {"d_in": a, "cond": odd, **ALL}
    yield "d_rest_out shares memory with d_out", "partition", chosen | {
        "d_out": one, "d_rest_out": two, "d_num_selected_out": COUNT
    }  # fmt: skip
    yield "d_num_selected_out shares memory with d_out", "select", chosen | {
        "d_out": one, "d_num_selected_out": x[5:6]
    }  # fmt: skip
    yield "d_num_selected_out shares memory with d_in", "select", chosen | {"d_out": b, "d_num_selected_out": a[5:6]}
    yield "d_out shares memory with d_flags", "select_flagged", {
        "d_in": a, "d_flags": one, "d_out": two, "d_num_selected_out": COUNT, **ALL
    }  # fmt: skip
    unique = {"d_in_keys": a, "d_in_items": one, "op": OpKind.EQUAL_TO, "d_out_num_selected": COUNT, **ALL}
    yield "d_out_items shares memory with d_in_items", "unique_by_key", unique | {"d_out_keys": b, "d_out_items": two}
    runs = {"d_num_runs_out": COUNT, **ALL}
    yield "d_lengths_out shares memory with d_unique_out", "run_length_encode", runs | {
        "d_in": a, "d_unique_out": one, "d_lengths_out": two
    }  # fmt: skip
    yield "d_unique_out shares memory with d_in", "run_length_encode", runs | {
        "d_in": one, "d_unique_out": one, "d_lengths_out": b
    }  # fmt: skip
    yield "d_out_values shares memory with d_in_values", "reduce_by_key", runs | {
        "d_in_keys": a, "d_in_values": one, "d_out_keys": b, "d_out_values": one, "op": OpKind.PLUS
    }  # fmt: skip
    yield "d_out_values shares memory with d_in_keys", "inclusive_scan_by_key", ALL | {
        "d_in_keys": one, "d_in_values": a, "d_out_values": one, "op": OpKind.PLUS
    }  # fmt: skip
    yield "d_out shares memory with the indices of d_out", "scatter", ALL | {"d_in": a, "d_indices": one, "d_out": one}
    yield "d_histogram shares memory with d_samples", "histogram_even", {
        "d_samples": one, "d_histogram": two, "num_output_levels": 5, "lower_level": np.int64(0),
        "upper_level": np.int64(4), "num_samples": N,
    }  # fmt: skip
    yield "d_out shares memory with d_in", "find_if", ALL | {"d_in": one, "d_out": x[3:4], "cond": odd}
    yield "d_out shares memory with d_in", "nth_element", ALL | {"d_in": one, "d_out": x[3:4], "n": 3}
    sums = {"op": OpKind.PLUS, "h_init": np.int64(0), **PARTS}
    yield "d_out shares memory with d_in", "segmented_reduce", {"d_in": one, "d_out": x[:10], **sums}
    sets = {"d_in1": a, "num_items1": N, "num_items2": N, "d_num_out": COUNT}
    for name in ("set_union", "set_intersection", "set_difference", "set_symmetric_difference"):
        yield "d_out shares memory with d_in2", name, sets | {"d_in2": two, "d_out": x}
        yield "d_num_out shares memory with d_out", name, sets | {"d_in2": b, "d_out": x, "d_num_out": x[4:5]}
    doubled = TransformIterator(one, lambda v: v * 2)
    yield "d_out shares memory with d_in", "adjacent_difference", ALL | {"d_in": doubled, "d_out": one}


CALLS = list(calls())


@pytest.mark.parametrize(("said", "name", "given"), CALLS, ids=[f"{name}-{i}" for i, (_, name, _) in enumerate(CALLS)])
def test_what_would_be_wrong_is_refused(said, name, given):
    before = {key: value.copy() for key, value in given.items() if isinstance(value, np.ndarray)}
    with pytest.raises(ValueError, match=said):
        getattr(compute, name)(**given)
    assert all(np.array_equal(given[key], value) for key, value in before.items())


def test_a_call_made_again_asks_again():
    x, a, values = room(), np.arange(N)[::-1].copy(), np.arange(N)
    given = {"d_in_keys": a, "d_in_values": values, "num_items": N}
    for _ in range(4):
        compute.radix_sort(**given, d_out_keys=x[:N], d_out_values=x[N : 2 * N])
    with pytest.raises(ValueError, match="d_out_values shares memory with d_out_keys"):
        compute.radix_sort(**given, d_out_keys=x[:N], d_out_values=x[N - 1 : 2 * N - 1])
    compute.radix_sort(**given, d_out_keys=x[:N], d_out_values=x[N : 2 * N])
    assert np.array_equal(x[:N], np.arange(N)) and np.array_equal(x[N : 2 * N], np.arange(N)[::-1])


def test_in_place_where_it_is_right():
    rng = np.random.default_rng(3)
    for sort, more in ((compute.radix_sort, {}), (compute.merge_sort, {"op": OpKind.LESS})):
        keys, values = rng.integers(0, 9, 5000), np.arange(5000)
        order = np.argsort(keys, kind="stable")
        wanted = keys[order]
        sort(d_in_keys=keys, d_out_keys=keys, d_in_values=values, d_out_values=values, num_items=5000, **more)
        assert np.array_equal(keys, wanted) and np.array_equal(values, order)
    keys, values = rng.integers(0, 99, 5000), np.arange(5000)
    wanted = np.argsort(-keys, kind="stable")[:30]
    greatest = keys[wanted]
    compute.top_k(d_in_keys=keys, d_out_keys=keys, d_in_values=values, d_out_values=values, k=30, num_items=5000)
    assert np.array_equal(keys[:30], greatest) and np.array_equal(values[:30], wanted)
    x = rng.integers(0, 9, 5000)
    wanted = x.sum()
    compute.reduce_into(d_in=x, d_out=x, num_items=5000, op=OpKind.PLUS, h_init=np.int64(0))
    assert x[0] == wanted


def test_neighbours_in_one_array_and_shared_indices_are_fine():
    """Keys and values item by item in one array; one array of places for two results."""
    x, a = np.zeros(2 * N, np.int64), np.arange(N)[::-1].copy()
    compute.radix_sort(d_in_keys=a, d_out_keys=x[::2], d_in_values=a, d_out_values=x[1::2], num_items=N)
    assert np.array_equal(x[::2], np.arange(N)) and np.array_equal(x[1::2], np.arange(N))
    to, one, two = np.arange(N)[::-1].copy(), np.zeros(N, np.int64), np.zeros(N, np.int64)
    outs = ZipIterator(PermutationIterator(one, to), PermutationIterator(two, to))
    compute.unary_transform(d_in=ZipIterator(a, a), d_out=outs, op=lambda v: v, num_items=N)
    assert np.array_equal(one, np.arange(N)) and np.array_equal(two, np.arange(N))
