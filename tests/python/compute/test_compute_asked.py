# SPDX-License-Identifier: Apache-2.0
"""What operators are asked of: items that are there, and neighbours only; conditions once of each item."""

import numpy as np
import pytest
from compute_as_gpu import interpret, not_again, small_leaves

from tessera import compute, cuda

N = 4500  # two tiles of a scan, the last of which is not full


@pytest.fixture
def rng():
    return np.random.default_rng(3)


@pytest.fixture(params=("cpu", "gpu"), autouse=True)
def device(request, monkeypatch):
    not_again(monkeypatch)
    if request.param == "gpu":
        small_leaves(monkeypatch)
        interpret(monkeypatch, 7)
    return request.param


def counted_calls(call):
    """How often a call asks the operator that it is given, of one argument or two."""
    calls = cuda.to_device(np.zeros(1, np.int64))

    def is_even(*items):
        cuda.atomic.add(calls, 0, 1)
        return items[-1] % 2 == 0

    call(is_even)
    return int(calls.copy_to_host()[0])


def test_conditions_are_asked_once_of_each_item(rng):
    """They may count their calls; the last tile is not full."""
    x, out, rest, n = rng.integers(0, 99, N), np.zeros(N, np.int64), np.zeros(N, np.int64), np.zeros(2, np.int64)
    to = {"d_in": x, "num_items": N}
    some = {"d_num_selected_out": n, **to}
    parts = {"d_first_part_out": out, "d_second_part_out": rest, "d_unselected_out": np.zeros(N, np.int64)}
    calls = {
        "select": lambda op: compute.select(d_out=out, cond=op, **some),
        "partition": lambda op: compute.partition(d_out=out, d_rest_out=rest, cond=op, **some),
        "first": lambda op: compute.three_way_partition(
            select_first_part_op=op, select_second_part_op=lambda v: v > 9, **parts, **some),
        "unique": lambda op: compute.unique(d_out=out, op=op, **some),
        "transform": lambda op: compute.unary_transform(d_out=out, op=op, **to),
        "replace": lambda op: compute.replace_if(d_out=out, cond=op, value=np.int64(0), **to),
        "count": lambda op: compute.count_if(d_out=n, cond=op, **to),
        "for each": lambda op: compute.for_each(op=op, **to),
        "find": lambda op: compute.find_if(d_in=2 * x + 1, d_out=n, cond=op, num_items=N),
    }  # fmt: skip
    for name, call in calls.items():
        assert counted_calls(call) == N - (name == "unique"), name


Run = compute.gpu_struct({"first": np.int32, "last": np.int32}, "Run")


def test_operators_are_asked_of_neighbours(device):
    """One puts runs of whole numbers together, and counts when it is asked of two that are none, or do not meet."""
    wrong = cuda.to_device(np.zeros(1, np.int64))

    def join(a, b):
        if a.last != b.first or a.first >= a.last or b.first >= b.last:
            cuda.atomic.add(wrong, 0, 1)
        return Run(a.first, b.last)

    for n in (1, 300, N):
        x, out, count, i = np.zeros(n, Run.dtype), np.zeros(n, Run.dtype), np.zeros(1, np.int64), np.arange(n)
        x["first"], x["last"], before, keys = i, i + 1, Run(-1, 0), i // 700
        one = {"d_in": x, "d_out": out, "num_items": n, "op": join}
        compute.reduce_into(h_init=before, **one)
        assert tuple(out[0]) == (-1, n)
        compute.exclusive_scan(init_value=before, **one)
        assert (out["first"] == -1).all() and np.array_equal(out["last"], i)
        compute.inclusive_scan(**one)
        assert (out["first"] == 0).all() and np.array_equal(out["last"], i + 1)
        if device == "gpu":  # on a CPU as scans
            runs = {"d_in_keys": keys, "d_in_values": x, "d_out_values": out, "num_items": n, "op": join}
            compute.reduce_by_key(d_out_keys=np.zeros(n, np.int64), d_num_runs_out=count, **runs)
            assert out["first"][: count[0]].tolist() == list(range(0, n, 700)) and out["last"][count[0] - 1] == n
        assert wrong.copy_to_host()[0] == 0


def test_comparisons_are_of_items_that_are_there(rng):
    """Items are 1,000 or more; what lies in shared memory before is not."""
    n = 2300
    x, out, places = rng.integers(1000, 2000, n), np.zeros(2 * n, np.int64), np.zeros(n, np.uint64)
    found, number = cuda.to_device(np.zeros(1, np.int64)), np.zeros(1, np.int64)

    def less(a, b):
        if not (1000 <= a and a < 2000 and 1000 <= b and b < 2000):
            cuda.atomic.add(found, 0, 1)
        return a < b

    def same(a, b):
        return not less(a, b) and not less(b, a)

    compute.merge_sort(d_in_keys=x, d_out_keys=out, num_items=n, op=less)
    assert np.array_equal(out[:n], np.sort(x))
    ordered = np.sort(x)
    compute.lower_bound(d_data=ordered, num_items=n, d_values=x, num_values=n, d_out=places, comp=less)
    assert np.array_equal(places, np.searchsorted(ordered, x))
    two = {"d_in1": ordered, "num_items1": n, "d_in2": ordered[::2].copy(), "num_items2": -(-n // 2), "comp": less}
    compute.merge(d_out=out, **two)
    assert np.array_equal(out[: n + -(-n // 2)], np.sort(np.append(ordered, ordered[::2])))
    compute.set_union(d_out=out, d_num_out=number, **two)
    assert np.array_equal(out[:n], ordered) and number[0] == n
    lengths = np.zeros(n, np.int64)
    runs = {"d_num_runs_out": number, "num_items": n, "equal": same}
    compute.run_length_encode(d_in=ordered, d_unique_out=out, d_lengths_out=lengths, **runs)
    values, counts = np.unique(x, return_counts=True)
    assert np.array_equal(out[: number[0]], values) and np.array_equal(lengths[: number[0]], counts)
    ones = {"d_in_values": np.ones(n, np.int64), "d_out_values": lengths, "op": compute.OpKind.PLUS}
    compute.reduce_by_key(d_in_keys=ordered, d_out_keys=out, **ones, **runs)
    assert np.array_equal(out[: number[0]], values) and np.array_equal(lengths[: number[0]], counts)
    assert found.copy_to_host()[0] == 0
