# SPDX-License-Identifier: Apache-2.0
"""Numbers of items that stand in arrays of a device, and are not known to the host."""

import collections

import numpy as np
import pytest
from long_form import unless_short

from tessera import compute, cuda

N = 9000
COUNTS = unless_short((0, 257, 4097, N + 5, -3), (1, 4096, N))  # more than there are, less than none count as these


@pytest.fixture(params=COUNTS)
def given(request):
    """The count on a device, and what it stands for."""
    return cuda.to_device(np.array([request.param], np.int32)), min(max(request.param, 0), N)


X = np.random.default_rng(0).integers(0, 50, N)
ADD = compute.OpKind.PLUS


def test_reductions(given):
    count, n = given
    out = np.full(2, -7)
    compute.reduce_into(d_in=X, d_out=out, num_items=count, op=ADD, h_init=np.int64(3))
    assert out[0] == X[:n].sum() + 3
    compute.reduce_into(d_in=X, d_out=out, num_items=count, op=lambda a, b: b)
    assert out[0] == (X[n - 1] if n else 3)
    compute.argmax(d_in=X, d_out=out, num_items=count)
    assert not n or out[0] == np.argmax(X[:n])
    compute.minmax(d_in=X, d_out=out, num_items=count)
    assert not n or tuple(out) == (X[:n].min(), X[:n].max())


def test_float_sums_have_the_bits_of_known_numbers(given):
    count, n = given
    x = np.random.default_rng(1).random(N).astype(np.float32)
    one, two = np.zeros(1, np.float32), np.zeros(1, np.float32)
    compute.reduce_into(d_in=x, d_out=one, num_items=count, op=ADD, h_init=np.float32(0))
    compute.reduce_into(d_in=x, d_out=two, num_items=n, op=ADD, h_init=np.float32(0))
    assert one.tobytes() == two.tobytes()


def test_scans_and_transforms(given):
    count, n = given
    out = np.full(N, -7)
    compute.inclusive_scan(d_in=X, d_out=out, num_items=count, op=ADD)
    assert np.array_equal(out[:n], np.cumsum(X[:n])) and (out[n:] == -7).all()
    compute.exclusive_scan(d_in=X, d_out=out, num_items=count, op=ADD, init_value=np.int64(2))
    assert np.array_equal(out[:n], np.cumsum(X[:n]) - X[:n] + 2) and (out[n:] == -7).all()
    compute.unary_transform(d_in=X, d_out=out, num_items=count, op=lambda v: v + 1)
    assert np.array_equal(out[:n], X[:n] + 1) and (out[n:] == -7).all()


def test_selections_and_runs(given):
    count, n = given
    out, rest, found = np.full(N, -7), np.full(N, -7), np.full(2, -7)
    compute.select(d_in=X, d_out=out, d_num_selected_out=found, cond=lambda v: v < 9, num_items=count)
    want = X[:n][X[:n] < 9]
    assert found[0] == want.size and np.array_equal(out[: want.size], want) and (out[want.size :] == -7).all()
    compute.partition(
        d_in=X, d_out=out, d_rest_out=rest, d_num_selected_out=found, cond=lambda v: v < 9, num_items=count
    )
    assert found[0] == want.size and np.array_equal(rest[: n - want.size], X[:n][X[:n] >= 9])
    keys = np.sort(X[:n])
    runs, lengths = np.unique(keys, return_counts=True)
    compute.run_length_encode(
        d_in=np.append(keys, np.zeros(N - n, np.int64)), d_unique_out=out, d_lengths_out=rest, d_num_runs_out=found,
        num_items=count,
    )  # fmt: skip
    assert found[0] == runs.size and np.array_equal(out[: runs.size], runs)
    assert np.array_equal(rest[: runs.size], lengths)
    if n and count.copy_to_host()[0] <= N:
        compute.set_difference(
            d_in1=keys, num_items1=count, d_in2=np.arange(10), num_items2=np.array([5]), d_out=out, d_num_out=found
        )
        want = np.delete(keys, [np.searchsorted(keys, v) for v in range(5) if v in keys])
        assert found[0] == want.size and np.array_equal(out[: want.size], want)


def test_searches(given):
    count, n = given
    place = np.zeros(1, np.int64)
    compute.find_if(d_in=X, d_out=place, cond=lambda v: v == 77, num_items=count)
    assert place[0] == n
    compute.count_if(d_in=X, d_out=place, cond=lambda v: v == 7, num_items=count)
    assert place[0] == (X[:n] == 7).sum()


def test_reversed_merged_searched_and_neighbours(given):
    count, n = given
    out, places = np.full(2 * N, -7), np.full(9, 7, np.uint64)
    compute.reverse(d_in=X, d_out=out, num_items=count)
    assert np.array_equal(out[:n], X[:n][::-1]) and (out[n:] == -7).all()
    compute.adjacent_difference(d_in=X, d_out=out, num_items=count, right=True)
    assert n == 0 or np.array_equal(out[:n], np.append(X[: n - 1] - X[1:n], X[n - 1]))
    keys = np.sort(X)
    out[:] = -7
    compute.merge(d_in1=keys, num_items1=count, d_in2=keys, num_items2=5, d_out=out)
    assert np.array_equal(out[: n + 5], np.sort(np.append(keys[:n], keys[:5]))) and (out[n + 5 :] == -7).all()
    values = np.arange(0, 54, 6)
    compute.upper_bound(d_data=keys, num_items=count, d_values=values, num_values=np.array([8]), d_out=places)
    assert np.array_equal(places[:8], np.searchsorted(keys[:n], values[:8], "right")) and places[8] == 7


@pytest.mark.parametrize("dtype", (np.uint8, np.int64, np.float32))
def test_histograms(given, dtype):
    count, n = given
    out, x = np.full(10, -7), X.astype(dtype)
    levels = {"num_output_levels": 11, "lower_level": dtype(5), "upper_level": dtype(45)}
    compute.histogram_even(d_samples=x, d_histogram=out, num_samples=count, **levels)
    inside = X[:n][(X[:n] >= 5) & (X[:n] < 45)]
    assert np.array_equal(out, np.bincount((inside - 5) // 4, minlength=10))


def test_shuffles_and_sets(given):
    count, n = given
    out, want, found = np.full(2 * N, -7), np.full(N, -7), np.zeros(1, np.int64)
    compute.shuffle(d_in=X, d_out=out, num_items=count, seed=5)
    compute.shuffle(d_in=X, d_out=want, num_items=n, seed=5)
    assert np.array_equal(out[:N], want) and np.array_equal(np.sort(out[:n]), np.sort(X[:n]))
    one, other = np.sort(X), np.arange(40, 60)
    lists = {"d_in1": one, "num_items1": count, "d_in2": other, "num_items2": np.array([15]), "d_num_out": found}
    first, second = collections.Counter(one[:n].tolist()), collections.Counter(other[:15].tolist())
    for call, wanted in (
        (compute.set_union, first | second),
        (compute.set_symmetric_difference, (first - second) + (second - first)),
        (compute.set_intersection, first & second),
    ):
        call(**lists, d_out=out)
        assert out[: found[0]].tolist() == sorted(wanted.elements()), call.__name__


def test_parts(given):
    """Offsets behind the last item that counts are in no part."""
    count, n = given
    cuts = np.array([0, 3, 3, 4000, 8990, N, N + 99, 1])
    parts = {"num_segments": 7, "start_offsets_in": cuts[:-1], "end_offsets_in": cuts[1:], "num_items": count}
    bounds = [(min(a, n), min(b, n)) for a, b in zip(cuts, cuts[1:])]
    out, want, few = np.full(N, -7), np.full(N, -7), np.full(14, -7)
    compute.segmented_inclusive_scan(d_in=X, d_out=out, op=ADD, **parts)
    for a, b in bounds:
        want[a:b] = np.cumsum(X[a:b])
    assert np.array_equal(out, want)
    out[:], want[:n] = -7, X[:n]
    compute.segmented_sort(d_in_keys=X, d_out_keys=out, **parts)
    for a, b in bounds:
        want[a:b] = np.sort(X[a:b])
    assert np.array_equal(out[:n], want[:n]) and (out[n:] == -7).all()
    compute.segmented_top_k(d_in_keys=X, d_out_keys=few, k=2, **parts)
    wanted = [list(np.sort(X[a:b])[::-1][:2]) for a, b in bounds]
    assert few.tolist() == sum(([*some, -7, -7][:2] for some in wanted), [])


def test_one_algorithm_counts_for_the_next():
    """Nothing is waited for between them."""
    x, out, total = cuda.to_device(X), cuda.device_array(N, np.int64), cuda.device_array(1, np.int64)
    count = cuda.device_array(1, np.int64)
    compute.select(d_in=x, d_out=out, d_num_selected_out=count, cond=lambda v: v % 7 == 0, num_items=N)
    compute.reduce_into(d_in=out, d_out=total, num_items=count, op=ADD, h_init=np.int64(0))
    assert total.copy_to_host()[0] == X[X % 7 == 0].sum()


def test_mistakes():
    counting = compute.CountingIterator(np.int64(0))
    with pytest.raises(TypeError, match="num_items is an array of 2 int64; give one whole number"):
        compute.for_each(d_in=X, op=abs, num_items=np.zeros(2, np.int64))
    with pytest.raises(TypeError, match="num_items is an array of 1 float64; give one whole number"):
        compute.for_each(d_in=X, op=abs, num_items=np.zeros(1))
    with pytest.raises(ValueError, match="the host must know how many there may be"):
        compute.for_each(d_in=counting, op=abs, num_items=np.zeros(1, np.int64))
    with pytest.raises(TypeError, match="k is an array of 1 float64; give one whole number"):
        compute.segmented_top_k(
            d_in_keys=X, d_out_keys=X, num_items=9, k=np.zeros(1), num_segments=1, start_offsets_in=X,
            end_offsets_in=X,
        )  # fmt: skip
