# SPDX-License-Identifier: Apache-2.0
"""Runs, searches, rearrangements, sets and questions about all items, against NumPy and counters of the library."""

from collections import Counter

import numpy as np
import pytest

from tessera import compute, cuda

LENGTHS = (0, 1, 5, 300, 4097, 9000)


def test_more_items_than_32_bits_count():
    one, n = np.zeros(1, np.int64), 2**31 + 5
    compute.reduce_into(
        d_in=compute.ConstantIterator(np.int64(1)), d_out=one, num_items=n, op=compute.OpKind.PLUS, h_init=np.int64(0)
    )
    assert one[0] == n


@pytest.fixture
def rng(request):
    return np.random.default_rng(sum(map(ord, request.node.name)))


def done(result):
    cuda.synchronize()
    return result


def runs(keys):
    starts = np.flatnonzero(np.r_[True, keys[1:] != keys[:-1]]) if len(keys) else np.array([], int)
    return starts, np.r_[starts[1:], len(keys)].astype(int)


@pytest.mark.parametrize("width", (1, 3, 3000))
def test_runs(rng, width):
    for n in LENGTHS:
        k = np.repeat(rng.integers(0, 5, n), rng.integers(1, width + 1, n))[:n].astype(np.int32)
        v, out_k, out_v, m = rng.integers(0, 9, n), np.zeros(n, np.int32), np.zeros(n, np.int64), np.zeros(1, np.int64)
        starts, ends = runs(k)
        add = compute.OpKind.PLUS
        compute.reduce_by_key(
            d_in_keys=k, d_in_values=v, d_out_keys=out_k, d_out_values=out_v, d_num_runs_out=m, op=add, num_items=n
        )
        done(None)
        assert m[0] == starts.size and np.array_equal(out_k[: m[0]], k[starts])
        assert out_v[: m[0]].tolist() == [v[a:b].sum() for a, b in zip(starts, ends)]
        compute.run_length_encode(d_in=k, d_unique_out=out_k, d_lengths_out=out_v, d_num_runs_out=m, num_items=n)
        done(None)
        assert m[0] == starts.size and np.array_equal(out_v[: m[0]], ends - starts)
        want = np.concatenate([np.zeros(0, np.int64), *(np.cumsum(v[a:b]) for a, b in zip(starts, ends))])
        compute.inclusive_scan_by_key(d_in_keys=k, d_in_values=v, d_out_values=out_v, op=add, num_items=n)
        assert np.array_equal(done(out_v), want)
        same = v.copy()
        compute.exclusive_scan_by_key(
            d_in_keys=k, d_in_values=same, d_out_values=same, op=add, init_value=np.int64(3), num_items=n
        )
        assert np.array_equal(done(same), want - v + 3)


def test_runs_keep_the_order_of_values(rng):
    k, v = np.repeat(np.arange(40), 100), rng.integers(0, 99, 4000)
    out_k, out_v, m = np.zeros(40, np.int64), np.zeros(40, np.int64), np.zeros(1, np.int64)
    compute.reduce_by_key(
        d_in_keys=k, d_in_values=v, d_out_keys=out_k, d_out_values=out_v, d_num_runs_out=m, op=lambda a, b: b,
        num_items=4000,
    )  # fmt: skip
    assert np.array_equal(done(out_v), v[99::100]) and m[0] == 40


def test_find_count_compare(rng):
    for n in LENGTHS:
        x, y, one, yes = rng.integers(0, 50, n), rng.integers(0, 50, n), np.zeros(1, np.int64), np.zeros(1, np.bool_)
        compute.find_if(d_in=x, d_out=one, cond=lambda v: v == 17, num_items=n)
        where = np.flatnonzero(x == 17)
        assert done(one)[0] == (where[0] if where.size else n)
        z = x.copy()
        z[n // 2 : n // 2 + 1] += 1
        compute.mismatch(d_in1=x, d_in2=z, d_out=one, num_items=n)
        assert done(one)[0] == n // 2
        compute.equal(d_in1=x, d_in2=z, d_out=yes, num_items=n)
        assert done(yes)[0] == (n == 0)
        compute.count_if(d_in=x, d_out=one, cond=lambda v: v > 20, num_items=n)
        assert done(one)[0] == (x > 20).sum()
        compute.inner_product(d_in1=x, d_in2=y, d_out=one, num_items=n, h_init=np.int64(0))
        assert done(one)[0] == x @ y


@pytest.mark.parametrize("dtype", (np.int8, np.float32))
def test_least_and_greatest(rng, dtype):
    for n in LENGTHS[1:]:
        x, one, two = rng.integers(-50, 50, n).astype(dtype), np.zeros(1, np.int64), np.zeros(2, dtype)
        compute.argmin(d_in=x, d_out=one, num_items=n)
        assert done(one)[0] == np.argmin(x)
        compute.argmax(d_in=x, d_out=one, num_items=n)
        assert done(one)[0] == np.argmax(x)
        compute.minmax(d_in=x, d_out=two, num_items=n)
        assert done(two).tolist() == [x.min(), x.max()]
    if dtype is np.float32:
        x[n // 3 :: n // 3] = np.nan
        for arg, numpy_arg in ((compute.argmin, np.argmin), (compute.argmax, np.argmax)):
            arg(d_in=x, d_out=one, num_items=n)
            assert done(one)[0] == numpy_arg(x)
    with pytest.raises(ValueError, match="needs one"):
        compute.argmin(d_in=x, d_out=one, num_items=0)


def test_order_statistics(rng):
    for n in LENGTHS[1:]:
        x, one, k = rng.integers(0, 50, n), np.zeros(1, np.int64), min(n, 7)
        compute.nth_element(d_in=x, d_out=one, n=n // 3, num_items=n)
        assert done(one)[0] == np.sort(x)[n // 3]
        keys, places = np.zeros(k, np.int64), np.zeros(k, np.int64)
        compute.top_k(d_in_keys=x, d_out_keys=keys, num_items=n, k=k, d_in_values=np.arange(n), d_out_values=places)
        assert np.array_equal(done(places), np.argsort(-x, kind="stable")[:k]) and np.array_equal(keys, x[places])
        compute.top_k(d_in_keys=x, d_out_keys=keys, num_items=n, k=k, largest=False)
        assert np.array_equal(done(keys), np.sort(x)[:k])


@pytest.mark.parametrize("right", (False, True))
def test_adjacent_differences_in_place(rng, right):
    for n in LENGTHS:
        x = rng.integers(0, 50, n)
        want = x.copy()
        if right:
            want[:-1] -= x[1:]
        else:
            want[1:] -= x[:-1]
        compute.adjacent_difference(d_in=x, d_out=x, num_items=n, right=right)
        assert np.array_equal(done(x), want)


def test_sorted_sequences(rng):
    for n in LENGTHS:
        x, y = np.sort(rng.integers(0, 1 + n // 4, n)), np.sort(rng.integers(0, 1 + n // 4, n // 2))
        out, one = np.zeros(n + y.size, np.int64), np.zeros(1, np.int64)
        two = {"d_in1": x, "num_items1": n, "d_in2": y, "num_items2": y.size, "d_out": out}
        compute.merge(**two)
        assert np.array_equal(done(out), np.sort(np.r_[x, y]))
        a, b = Counter(x.tolist()), Counter(y.tolist())
        for name, want in {
            "set_intersection": a & b, "set_difference": a - b, "set_union": a | b,
            "set_symmetric_difference": (a - b) + (b - a),
        }.items():  # fmt: skip
            getattr(compute, name)(**two, d_num_out=one)
            assert done(out)[: one[0]].tolist() == sorted(want.elements()), (name, n)


def test_items_elsewhere(rng):
    for n in LENGTHS:
        x, p, out, one = rng.integers(0, 50, n), rng.permutation(n), np.zeros(n, np.int64), np.zeros(1, np.int64)
        compute.fill(d_out=out, value=np.int64(4), num_items=n)
        assert (done(out) == 4).all()
        compute.sequence(d_out=out, num_items=n, start=np.int64(3))
        assert np.array_equal(done(out), np.arange(3, n + 3))
        compute.generate(d_out=out, op=lambda i: i * i, num_items=n)
        assert np.array_equal(done(out), np.arange(n) ** 2)
        compute.copy(d_in=x, d_out=out, num_items=n)
        assert np.array_equal(done(out), x)
        compute.gather(d_in=x, d_indices=p, d_out=out, num_items=n)
        assert np.array_equal(done(out), x[p])
        compute.scatter(d_in=x, d_indices=p, d_out=out, num_items=n)
        assert np.array_equal(done(out)[p], x)
        compute.reverse(d_in=x, d_out=out, num_items=n)
        assert np.array_equal(done(out), x[::-1])
        compute.shuffle(d_in=x, d_out=out, num_items=n, seed=5)
        assert np.array_equal(np.sort(done(out)), np.sort(x)) and (n < 9 or not np.array_equal(out, x))
        compute.replace_if(d_in=x, d_out=out, cond=lambda v: v < 9, value=np.int64(-1), num_items=n)
        assert np.array_equal(done(out), np.where(x < 9, -1, x))
        compute.remove_if(d_in=x, d_out=out, d_num_selected_out=one, cond=lambda v: v < 9, num_items=n)
        assert np.array_equal(done(out)[: one[0]], x[x >= 9])


def test_keys_of_iterators_are_sorted(rng):
    x, out, places = rng.integers(-99, 99, 2000).astype(np.int32), np.zeros(2000, np.int32), np.zeros(2000, np.int64)
    keys = compute.TransformIterator(x, lambda v: -v, compute.types.int32)
    order = np.argsort(-x, kind="stable")
    compute.radix_sort(
        d_in_keys=keys, d_out_keys=out, d_in_values=compute.CountingIterator(np.int64(0)), d_out_values=places,
        num_items=2000,
    )  # fmt: skip
    assert np.array_equal(out, -x[order]) and np.array_equal(places, order)
    ends = np.array([0, 700, 2000])
    compute.segmented_sort(
        d_in_keys=keys, d_out_keys=out, num_items=2000, num_segments=2, start_offsets_in=ends[:-1],
        end_offsets_in=ends[1:],
    )  # fmt: skip
    assert np.array_equal(out, np.concatenate((np.sort(-x[:700]), np.sort(-x[700:]))))
    compute.top_k(d_in_keys=keys, d_out_keys=out[:5], num_items=2000, k=5)
    assert np.array_equal(out[:5], np.sort(-x)[::-1][:5])
    unknown = compute.TransformIterator(x, lambda v: -v)
    unknown.value_type = None
    with pytest.raises(TypeError, match="d_in_keys: the type of its items must be known to sort them; give value_type"):
        compute.radix_sort(d_in_keys=unknown, d_out_keys=out, num_items=2000)
