# SPDX-License-Identifier: Apache-2.0
"""Results that there are more of than an output has room for, and numbers that a dtype cannot hold."""

import numpy as np
import pytest

from tessera import compute

N = 1000
KEYS = np.arange(N, dtype=np.int32) // 2
EVEN = np.arange(0, N, 2, dtype=np.int32)
SAME = compute.OpKind.EQUAL_TO

# Each: the call, the numbers of results that it must count, and what its outputs begin with.
CALLS = {
    "select": (lambda o, n: compute.select(d_in=KEYS, d_out=o, d_num_selected_out=n, cond=lambda v: v >= 10,
                                           num_items=N), [N - 20], [KEYS[20:]]),
    "remove_if": (lambda o, n: compute.remove_if(d_in=KEYS, d_out=o, d_num_selected_out=n, cond=lambda v: v < 10,
                                                 num_items=N), [N - 20], [KEYS[20:]]),
    "select_flagged": (lambda o, n: compute.select_flagged(d_in=KEYS, d_out=o, d_num_selected_out=n, num_items=N,
                                                           d_flags=np.ones(N, np.int8)), [N], [KEYS]),
    "unique": (lambda o, n: compute.unique(d_in=KEYS, d_out=o, d_num_selected_out=n, op=SAME, num_items=N), [N // 2],
               [KEYS[::2]]),
    "partition": (lambda o, r, n: compute.partition(d_in=KEYS, d_out=o, d_rest_out=r, d_num_selected_out=n,
                                                    cond=lambda v: v % 2 == 0, num_items=N), [N // 2],
                  [KEYS[KEYS % 2 == 0], KEYS[KEYS % 2 == 1]]),
    "three_way_partition": (lambda a, b, c, n: compute.three_way_partition(
        d_in=KEYS, d_first_part_out=a, d_second_part_out=b, d_unselected_out=c, d_num_selected_out=n, num_items=N,
        select_first_part_op=lambda v: v < 200, select_second_part_op=lambda v: v >= 400), [400, 200],
        [KEYS[:400], KEYS[800:], KEYS[400:800]]),
    "unique_by_key": (lambda o, i, n: compute.unique_by_key(
        d_in_keys=KEYS, d_in_items=KEYS, d_out_keys=o, d_out_items=i, d_out_num_selected=n, op=SAME, num_items=N),
        [N // 2], [KEYS[::2], KEYS[::2]]),
    "reduce_by_key": (lambda o, v, n: compute.reduce_by_key(
        d_in_keys=KEYS, d_in_values=KEYS, d_out_keys=o, d_out_values=v, d_num_runs_out=n, op=compute.OpKind.PLUS,
        num_items=N), [N // 2], [KEYS[::2], KEYS[::2] * 2]),
    "run_length_encode": (lambda o, v, n: compute.run_length_encode(
        d_in=KEYS, d_unique_out=o, d_lengths_out=v, d_num_runs_out=n, num_items=N), [N // 2],
        [KEYS[::2], np.full(N // 2, 2)]),
    **{name: (lambda o, n, name=name, delta=delta: getattr(compute, name)(
        d_in1=EVEN, num_items1=N // 2, d_in2=EVEN + delta, num_items2=N // 2, d_out=o, d_num_out=n), [len(wanted)],
        [wanted])
        for name, delta, wanted in [
            ("set_intersection", 0, EVEN), ("set_difference", 1, EVEN), ("set_union", 1, np.arange(N)),
            ("set_symmetric_difference", 1, np.arange(N))]
    },
}  # fmt: skip


@pytest.mark.parametrize("name", CALLS)
def test_results_without_room_are_lost_and_counted(name):
    call, numbers, wanted = CALLS[name]
    for room in (5, 5, 5, 0):  # the third call goes the short way
        whole = [np.full(64, -1, np.int32) for _ in wanted]
        counts = np.full(len(numbers), -1, np.int64)
        call(*(out[:room] for out in whole), counts)
        assert list(counts) == numbers
        for out, expected in zip(whole, wanted):
            np.testing.assert_array_equal(out[:room], expected[:room])
            assert (out[room:] == -1).all()


@pytest.mark.parametrize("name", CALLS)
def test_counts_are_whole_numbers_that_fit(name):
    call, numbers, wanted = CALLS[name]
    outs = [np.full(N, -1, np.int32) for _ in wanted]
    with pytest.raises(TypeError, match=r"d_\w+ holds float64; give an array of whole numbers"):
        call(*outs, np.zeros(2))
    with pytest.raises(ValueError, match=r"d_\w+ holds uint8, which ends at 255, and numbers up to 1?\d00 may come"):
        call(*outs, np.zeros(2, np.uint8))
    with pytest.raises(ValueError, match=r"number of results is \d, d_\w+ has \d elements"):
        call(*outs, np.zeros(len(numbers) - 1, np.int64))
    assert all((out == -1).all() for out in outs)


def test_lengths_are_whole_numbers_that_fit():
    count, out = np.zeros(1, np.int64), np.zeros(N, np.int32)
    for dtype, kind in ((np.float32, TypeError), (np.int8, ValueError)):
        with pytest.raises(kind, match=f"d_lengths_out holds {np.dtype(dtype)}"):
            compute.run_length_encode(
                d_in=KEYS, d_unique_out=out, d_lengths_out=np.zeros(N, dtype), d_num_runs_out=count, num_items=N
            )


def test_a_result_of_one_needs_room():
    nothing = np.zeros(0, np.int64)
    for name, more in (("find_if", {"cond": bool}), ("argmin", {}), ("argmax", {}), ("count_if", {"cond": bool})):
        with pytest.raises(ValueError, match="number of results is 1, d_out has 0 elements"):
            getattr(compute, name)(d_in=KEYS, d_out=nothing, num_items=N, **more)


def test_places_fit_what_takes_them():
    for dtype, kind in ((np.uint8, ValueError), (np.float32, TypeError)):
        with pytest.raises(kind, match=f"d_out holds {np.dtype(dtype)}"):
            compute.argmax(d_in=KEYS, d_out=np.zeros(1, dtype), num_items=N)


def test_offsets_of_parts_are_whole_numbers():
    out, ends = np.zeros(N, np.int32), np.array([500.0, 1000.0])
    parts = {"num_segments": 2, "start_offsets_in": np.array([0, 500]), "end_offsets_in": ends}
    add = {"op": compute.OpKind.PLUS, **parts}
    for call in (
        lambda: compute.segmented_sort(d_in_keys=KEYS, d_out_keys=out, num_items=N, **parts),
        lambda: compute.segmented_top_k(d_in_keys=KEYS, d_out_keys=out, num_items=N, k=2, **parts),
        lambda: compute.segmented_reduce(d_in=KEYS, d_out=out, h_init=np.int32(0), **add),
        lambda: compute.segmented_inclusive_scan(d_in=KEYS, d_out=out, num_items=N, **add),
    ):
        with pytest.raises(TypeError, match="end_offsets_in holds float64; give an array of whole numbers"):
            call()


def test_parts_outside_of_the_items_are_cut():
    items, out = np.arange(N, dtype=np.int32)[::-1].copy(), np.zeros(N, np.int32)
    starts, ends = np.array([-5, 990]), np.array([10, 2000])
    compute.segmented_sort(
        d_in_keys=items, d_out_keys=out, num_items=N, num_segments=2, start_offsets_in=starts, end_offsets_in=ends
    )
    wanted = np.concatenate([np.sort(items[:10]), items[10:990], np.sort(items[990:])])
    np.testing.assert_array_equal(out, wanted)
