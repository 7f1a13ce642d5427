# SPDX-License-Identifier: Apache-2.0
"""The kernels as they are made for a GPU: taken by ptxas where it is installed, and run thread by thread by the
reference interpreter in several orders of threads, against NumPy."""

import numpy as np
import pytest
from compute_as_gpu import interpret, not_again, small_leaves
from long_form import unless_short

from tessera import compute, cuda
from tessera.compute import _choose, _histogram, _onesweep, _scan, _segmented

N = 4500  # two tiles of a scan, five leaves of a reduction


@pytest.fixture(params=unless_short((7,), (0,)))
def interpreted(request, monkeypatch):
    small_leaves(monkeypatch)
    interpret(monkeypatch, request.param)


@pytest.fixture
def rng(request):
    return np.random.default_rng(3)


Pair = compute.gpu_struct({"s": np.int64, "t": np.int64}, "Pair")


@pytest.mark.usefixtures("interpreted")
def test_reductions_and_scans(rng):
    x = rng.integers(0, 9, N).astype(np.int32)
    one, out = np.zeros(1, np.int32), np.zeros(N, np.int32)
    compute.reduce_into(d_in=x, d_out=one, num_items=N, op=compute.OpKind.PLUS, h_init=np.int32(3))
    assert one[0] == x.sum() + 3
    compute.reduce_into(d_in=x, d_out=one, num_items=N, op=lambda a, b: b, h_init=np.int32(3))
    assert one[0] == x[-1]
    compute.exclusive_scan(d_in=x, d_out=out, num_items=N, op=lambda a, b: a + b, init_value=np.int32(3))
    assert np.array_equal(out, np.cumsum(x) - x + 3)


@pytest.mark.usefixtures("interpreted")
def test_structs(rng):
    x, out = np.zeros(2500, Pair.dtype), np.zeros(2500, Pair.dtype)
    x["s"], x["t"] = 1, rng.integers(0, 9, 2500)
    compute.inclusive_scan(d_in=x, d_out=out, num_items=2500, op=lambda a, b: Pair(a.s * b.s, a.t * b.s + b.t))
    assert np.array_equal(out["t"], np.cumsum(x["t"]))


@pytest.mark.usefixtures("interpreted")
def test_selections_and_runs(rng):
    x, out, n = np.sort(rng.integers(0, 900, N)), np.zeros(N, np.int64), np.zeros(1, np.int64)
    compute.select(d_in=x, d_out=out, d_num_selected_out=n, cond=lambda v: v % 3 == 0, num_items=N)
    assert np.array_equal(out[: n[0]], x[x % 3 == 0])
    keys, sums = np.zeros(N, np.int64), np.zeros(N, np.int64)
    compute.reduce_by_key(
        d_in_keys=x, d_in_values=np.arange(N), d_out_keys=keys, d_out_values=sums, d_num_runs_out=n, num_items=N,
        op=compute.OpKind.PLUS,
    )  # fmt: skip
    assert np.array_equal(sums[: n[0]], np.bincount(x, np.arange(N))[np.unique(x)])


def test_results_without_room_are_lost_and_counted(monkeypatch):
    interpret(monkeypatch, 0)
    x, n = np.arange(N, dtype=np.int32) // 3, np.zeros(1, np.int64)
    first, second = np.full(9, -1, np.int32), np.full(9, -1, np.int32)
    compute.run_length_encode(d_in=x, d_unique_out=first[:5], d_lengths_out=second[:3], d_num_runs_out=n, num_items=N)
    assert (first.tolist(), second.tolist()) == ([0, 1, 2, 3, 4, *[-1] * 4], [3, 3, 3, *[-1] * 6])
    assert n[0] == x[-1] + 1
    compute.reduce_by_key(
        d_in_keys=x, d_in_values=x, d_out_keys=first[:2], d_out_values=second[:4], d_num_runs_out=n, num_items=N,
        op=compute.OpKind.MAXIMUM,
    )  # fmt: skip
    assert (first.tolist(), second.tolist()) == ([0, 1, 2, 3, 4, *[-1] * 4], [0, 1, 2, 3, *[-1] * 5])
    assert n[0] == x[-1] + 1
    compute.select(d_in=x, d_out=first[:7], d_num_selected_out=n, cond=lambda v: v >= 7, num_items=N)
    assert first.tolist() == [*x[21:28], -1, -1]
    assert n[0] == N - 21


def runs_of(lengths, rng):
    """Sums of runs of these lengths, of which neighbours have other keys, as bytes."""
    n, runs = sum(lengths), np.arange(len(lengths)) % 3
    x, out, sums, number = rng.random(n, np.float32), np.zeros(n, np.int16), np.zeros(n, np.float32), np.zeros(1, int)
    compute.reduce_by_key(
        d_in_keys=np.repeat(runs, lengths).astype(np.int16), d_in_values=x, d_out_keys=out, d_out_values=sums,
        d_num_runs_out=number, num_items=n, op=lambda a, b: a + b,
    )  # fmt: skip
    assert number[0] == len(runs) and np.array_equal(out[: len(runs)], runs) and not sums[len(runs) :].any()
    return sums.tobytes()


def test_sums_of_runs_have_the_same_bits_on_a_cpu(monkeypatch):
    """Runs that end where a tile of 4,096 ends, go on in others, or are tiles of their own; the last tile is full."""
    mixes = ([1] * 99, [4095, 1], [4096, 1, 5000, 3], [1] * 4097 + [4095], [4000, 90, 7, 3, 4092])
    not_again(monkeypatch)
    on_a_cpu = [runs_of(lengths, np.random.default_rng(3)) for lengths in mixes]
    interpret(monkeypatch, 7)
    assert [runs_of(lengths, np.random.default_rng(3)) for lengths in mixes] == on_a_cpu


Wide = compute.gpu_struct({"a": np.int64, "b": np.float64, "c": np.int32}, "Wide")


def test_choices_of_all_kinds(rng, monkeypatch):
    """Tiles of 1,024 items and less: of one byte, of 16, of more than goes through shared memory; several outputs."""
    interpret(monkeypatch, 7)
    monkeypatch.setattr(_choose, "_ITEM_BYTES", 16)
    n, number = 2100, np.zeros(2, np.int64)
    x, at = np.sort(rng.integers(0, 99, n)).astype(np.int8), np.arange(n)
    out, rest, last = (np.zeros(n, np.int8) for _ in range(3))
    some = {"d_num_selected_out": number, "num_items": n}
    compute.partition(d_in=x, d_out=out, d_rest_out=rest, cond=lambda v: v % 3 == 0, **some)
    assert np.array_equal(np.append(out[: number[0]], rest[: n - number[0]]), x[np.argsort(x % 3 != 0, kind="stable")])
    compute.three_way_partition(
        d_in=x, d_first_part_out=out, d_second_part_out=rest, d_unselected_out=last,
        select_first_part_op=lambda v: v < 9, select_second_part_op=lambda v: v % 2 == 0, **some,
    )  # fmt: skip
    found = np.concatenate((out[: number[0]], rest[: number[1]], last[: n - number.sum()]))
    assert np.array_equal(found, x[np.argsort(np.where(x < 9, 0, 1 + x % 2), kind="stable")])
    firsts, lengths = np.unique(x, return_index=True)[1], np.zeros(n, np.int32)
    compute.run_length_encode(d_in=x, d_unique_out=out, d_lengths_out=lengths, d_num_runs_out=number, num_items=n)
    assert number[0] == len(firsts) and np.array_equal(out[: number[0]], x[firsts])
    assert np.array_equal(lengths[: number[0]], np.diff(np.append(firsts, n)))
    wide, kept = np.zeros(n, Wide.dtype), np.zeros(n, Wide.dtype)
    wide["a"], wide["c"] = x, at
    compute.unique_by_key(
        d_in_keys=x, d_in_items=wide, d_out_keys=out, d_out_items=kept, d_out_num_selected=number, num_items=n,
        op=compute.OpKind.EQUAL_TO,
    )  # fmt: skip
    assert np.array_equal(kept[: number[0]]["c"], firsts) and np.array_equal(out[: number[0]], x[firsts])
    compute.unique(d_in=wide, d_out=kept, d_num_selected_out=number, num_items=n, op=lambda a, b: a.a == b.a)
    assert np.array_equal(kept[: number[0]]["c"], firsts)
    pairs, kept = np.zeros(n, Pair.dtype), np.zeros(n, Pair.dtype)
    pairs["s"], pairs["t"] = x, at
    for low, high in ((0, n), (n, n), (n - 1, n), (5, 1500)):  # all, none, the last one, some
        compute.select(d_in=pairs, d_out=kept, cond=lambda v: low <= v.t and v.t < high, **some)  # noqa: B023
        assert np.array_equal(kept[: number[0]], pairs[max(low, 0) : high])


@pytest.mark.usefixtures("interpreted")
def test_sorts_and_segments(rng):
    x, places, out = rng.integers(-50, 50, N).astype(np.int16), np.zeros(N, np.int64), np.zeros(N, np.int16)
    compute.radix_sort(d_in_keys=x, d_out_keys=out, d_in_values=np.arange(N), d_out_values=places, num_items=N)
    assert np.array_equal(places, np.argsort(x, kind="stable")) and np.array_equal(out, x[places])
    cuts, sums = np.array([0, 0, 7, 300, N]), np.zeros(4, np.int64)
    compute.segmented_reduce(
        d_in=x, d_out=sums, num_segments=4, start_offsets_in=cuts[:-1], end_offsets_in=cuts[1:], h_init=np.int64(0),
        op=compute.OpKind.PLUS,
    )  # fmt: skip
    assert sums.tolist() == [x[a:b].sum(dtype=np.int64) for a, b in zip(cuts, cuts[1:])]


@pytest.mark.usefixtures("interpreted")
def test_histograms_and_searches(rng):
    x, counts, n = rng.integers(0, 90, N).astype(np.uint8), np.zeros(9, np.int32), np.zeros(1, np.int64)
    low, high = np.uint8(0), np.uint8(90)
    compute.histogram_even(
        d_samples=x, d_histogram=counts, num_output_levels=10, lower_level=low, upper_level=high, num_samples=N
    )
    assert np.array_equal(counts, np.bincount(x // 10, minlength=9))
    compute.find_if(d_in=x, d_out=n, cond=lambda v: v == 77, num_items=N)
    assert n[0] == np.flatnonzero(x == 77)[0]


def test_histograms_of_many_bins(rng, monkeypatch):
    """Counters of 16 bits, one of which is given away before it is full; an odd number of bins."""
    interpret(monkeypatch, 7)
    for name, value in {"_MOST_SHARED": 8, "_EACH": 1, "_PACKED_THREADS": 64, "ITEMS": 8}.items():
        monkeypatch.setattr(_histogram, name, value)
    monkeypatch.setattr(_histogram, "_most_packed", lambda: 100)
    x, counts = rng.integers(-3, 90, 40_000).astype(np.int32), np.zeros(85, np.int64)
    x[2000:37_000] = 4
    compute.histogram_even(
        d_samples=x, d_histogram=counts, num_output_levels=86, lower_level=np.int32(0), upper_level=np.int32(85),
        num_samples=x.size,
    )  # fmt: skip
    assert np.array_equal(counts, np.bincount(x[(x >= 0) & (x < 85)], minlength=85))


def sums_of(x):
    """Sums of floats of all kinds: whole, of the first items, of parts, of runs."""
    n, found = x.size, []
    add, zero = (lambda a, b: a + b * a.dtype(1)), x.dtype.type(1)
    for op in (compute.OpKind.PLUS, add):
        one = np.zeros(1, x.dtype)
        for k in (1, 257, 1025, n):
            compute.reduce_into(d_in=x, d_out=one, num_items=k, op=op, h_init=zero, determinism=GPU_TO_GPU)
            found.append(one.tobytes())
    out, runs, count = np.zeros_like(x), np.zeros(n, np.int64), np.zeros(1, np.int64)
    compute.inclusive_scan(d_in=x, d_out=out, num_items=n, op=compute.OpKind.PLUS)
    found.append(out.tobytes())
    cuts = np.array([0, 1, 1, 700, n])
    compute.segmented_reduce(
        d_in=x, d_out=out, num_segments=4, start_offsets_in=cuts[:-1], end_offsets_in=cuts[1:], h_init=zero, op=add
    )
    found.append(out[:4].tobytes())
    compute.reduce_by_key(
        d_in_keys=np.arange(n) // 900, d_in_values=x, d_out_keys=runs, d_out_values=out, d_num_runs_out=count, op=add,
        num_items=n,
    )  # fmt: skip
    return [*found, out[: count[0]].tobytes()]


GPU_TO_GPU = compute.Determinism.GPU_TO_GPU


@pytest.mark.parametrize(("dtype", "targets"), ((np.float16, (90,)), (np.float32, (80, 90, 100)), (np.float64, (90,))))
def test_sums_have_the_same_bits_on_a_cpu_and_all_gpus(rng, monkeypatch, dtype, targets):
    x = (rng.standard_normal(9000) * 10.0 ** rng.integers(-2, 2, 9000)).astype(dtype)
    monkeypatch.setattr(_segmented, "SPANS", 256)
    small_leaves(monkeypatch)
    not_again(monkeypatch)
    on_a_cpu = sums_of(x)
    for target in targets:
        with monkeypatch.context() as patch:
            interpret(patch, 7 if target == 80 else 1, target)
            assert sums_of(x) == on_a_cpu, target


@pytest.mark.parametrize("with_init", (False, True))
def test_scans_have_the_same_bits_on_a_cpu(rng, monkeypatch, with_init):
    """Tiles of 128 items: 34 of them are more than a group."""
    monkeypatch.setattr(_scan, "_items", lambda kind: 2)
    monkeypatch.setattr(_scan, "_threads", lambda kind: 64)
    monkeypatch.setattr(_scan, "_arrays_to_sum", lambda *_: None)  # by vectors: test_compute_by_vectors.py
    not_again(monkeypatch)
    lengths = (1, 63, 127, 129, 128 * 34 + 5)
    items = [(rng.random(n) * 10.0 ** rng.integers(-3, 3, n)).astype(np.float32) for n in lengths]
    init = {"init_value": np.float32(0.1)} if with_init else {}

    def sums():
        found = []
        for x in items:
            out = np.zeros_like(x)
            compute.inclusive_scan(d_in=x, d_out=out, num_items=x.size, op=compute.OpKind.PLUS, **init)
            found.append(out)
            if with_init:
                out = np.zeros_like(x)
                compute.exclusive_scan(d_in=x, d_out=out, num_items=x.size, op=compute.OpKind.PLUS, **init)
                found.append(out)
        cuda.synchronize()
        return [out.tobytes() for out in found]

    on_a_cpu = sums()
    interpret(monkeypatch, 0)
    assert sums() == on_a_cpu


@pytest.mark.usefixtures("interpreted")
@pytest.mark.parametrize("few", (0, 1 << 31))
def test_radix_sorts_in_sweeps(rng, monkeypatch, few):
    """Digits: of one place, an odd number of them in place, all of floats; tiles of 1,536, 2,048 and of 256 items;
    words and places of 64 and of 32 bits; a source that is no array like the output."""
    n = 2500
    x = rng.integers(0, 2**20, n).astype(np.uint32)
    out, places = x.copy(), np.arange(n, dtype=np.int32)
    compute.radix_sort(
        d_in_keys=out, d_out_keys=out, d_in_values=places, d_out_values=places, num_items=n, begin_bit=2, end_bit=19
    )
    assert np.array_equal(places, np.argsort(x >> 2 & 0x1FFFF, kind="stable")) and np.array_equal(out, x[places])
    small, found = rng.integers(-99, 99, 2049).astype(np.int8), np.zeros(2049, np.int8)
    compute.radix_sort(d_in_keys=small, d_out_keys=found, num_items=2049, order=compute.SortOrder.DESCENDING)
    assert np.array_equal(found, np.sort(small)[::-1])
    for name, value in {"NARROW": few, "SHORT": few, "SMALL": (), "FEW": 0}.items():
        monkeypatch.setattr(_onesweep, name, value)
    strided, kept = np.repeat(rng.integers(0, 2**30, 2500).astype(np.uint32), 2)[::2], np.zeros(2500, np.uint32)
    compute.radix_sort(d_in_keys=strided, d_out_keys=kept, num_items=2500)
    assert np.array_equal(kept, np.sort(strided))
    y, z = rng.standard_normal(400).astype(np.float32), np.zeros(400, np.float32)
    wide, kept = np.zeros((400, 9)), np.zeros((400, 9))
    wide[:] = np.arange(400)[:, None]
    kind = np.dtype([(f"f{i}", np.float64) for i in range(9)])
    compute.radix_sort(
        d_in_keys=y, d_out_keys=z, d_in_values=wide.view(kind)[:, 0], d_out_values=kept.view(kind)[:, 0], num_items=400
    )
    assert np.array_equal(z, np.sort(y)) and np.array_equal(kept[:, 8], np.argsort(y, kind="stable"))
    segments, cuts = np.zeros(400, np.float32), np.array([0, 3, 3, 300, 400])
    compute.segmented_sort(
        d_in_keys=y, d_out_keys=segments, num_items=400, num_segments=4, start_offsets_in=cuts[:-1],
        end_offsets_in=cuts[1:],
    )  # fmt: skip
    assert all(np.array_equal(segments[a:b], np.sort(y[a:b])) for a, b in zip(cuts, cuts[1:]))


@pytest.mark.usefixtures("interpreted")
def test_radix_sorts_that_need_fewer_sweeps(rng):
    """Digits in which all keys agree; what is in order, alike; one block; some also in place."""
    n = 2100
    low = rng.integers(0, 256, n).astype(np.uint32) << 8
    spread, one, same = low | rng.integers(0, 256, n).astype(np.uint32) << 24, low | 7, np.full(n, 9, np.uint32)
    for x in (spread, one, np.sort(spread), same, spread[:2048], one[:3]):
        n, want = x.size, np.argsort(x, kind="stable")
        out, places = np.zeros_like(x), np.zeros(n, np.int32)
        compute.radix_sort(
            d_in_keys=x, d_out_keys=out, d_in_values=np.arange(n, dtype=np.int32), d_out_values=places, num_items=n
        )
        assert np.array_equal(places, want) and np.array_equal(out, x[want])
        if x is spread or x is one or n < 9:
            compute.radix_sort(d_in_keys=x, d_out_keys=x, num_items=n)
            assert np.array_equal(x, out)


@pytest.mark.usefixtures("interpreted")
def test_numbers_of_items_on_the_device(rng):
    x = rng.integers(0, 900, N).astype(np.int32)
    for n in (0, 5, N):
        count, out, one = np.array([n]), np.full(N, -7, np.int32), np.full(1, -7, np.int32)
        compute.radix_sort(d_in_keys=x, d_out_keys=out, num_items=count)
        assert np.array_equal(out[:n], np.sort(x[:n])) and (out[n:] == -7).all()
        compute.merge_sort(d_in_keys=x, d_out_keys=out, num_items=count, op=lambda a, b: a > b)
        assert np.array_equal(out[:n], np.sort(x[:n])[::-1]) and (out[n:] == -7).all()
        compute.inclusive_scan(d_in=x, d_out=out, num_items=count, op=compute.OpKind.PLUS)
        assert np.array_equal(out[:n], np.cumsum(x[:n]))
        compute.reduce_into(d_in=x, d_out=one, num_items=count, op=compute.OpKind.PLUS, h_init=np.int32(3))
        assert one[0] == x[:n].sum() + 3


@pytest.mark.usefixtures("interpreted")
def test_parts_of_all_lengths(rng, monkeypatch):
    monkeypatch.setattr(_segmented, "SPANS", 256)
    x, lengths = rng.integers(0, 9, N), np.array([0] * 40 + [1] * 60 + [4000] + [3] * 100)
    cuts = np.append(0, np.cumsum(lengths))
    parts = {"num_segments": len(lengths), "start_offsets_in": cuts[:-1], "end_offsets_in": cuts[1:]}
    out, scanned = np.zeros(len(lengths), np.int64), np.zeros(N, np.int64)
    compute.segmented_reduce(d_in=x, d_out=out, op=lambda a, b: a + b, h_init=np.int64(0), **parts)
    sums = [x[a:b].sum() for a, b in zip(cuts, cuts[1:])]
    assert out.tolist() == sums
    order = rng.permutation(len(lengths))  # not in a row
    apart = {"num_segments": len(lengths), "start_offsets_in": cuts[:-1][order], "end_offsets_in": cuts[1:][order]}
    compute.segmented_reduce(d_in=x, d_out=out, op=lambda a, b: a + b, h_init=np.int64(0), **apart)
    assert out.tolist() == [sums[i] for i in order]
    compute.segmented_inclusive_scan(d_in=x, d_out=scanned, op=lambda a, b: b, num_items=N, **parts)
    assert np.array_equal(scanned[: cuts[-1]], x[: cuts[-1]])


@pytest.mark.parametrize("dtype", unless_short((np.int64,), (np.int8, np.float32)))
def test_sorts_of_parts(rng, monkeypatch, dtype):
    """Parts in any order, with gaps: short ones, some that a block sorts, and some of more items than it holds."""
    interpret(monkeypatch, 7)
    lengths = np.array([0, 3, 1, 700, 0, 2100, 40, 41, 2, 2060, 5, *rng.integers(0, 6, 40)])
    cuts = np.cumsum(lengths + rng.integers(0, 3, len(lengths)))
    starts, ends = cuts - lengths, cuts
    n, order = int(cuts[-1]) + 3, rng.permutation(len(lengths))
    x, want = rng.integers(-40, 40, n).astype(dtype), np.arange(n)
    for a, b in zip(starts, ends):
        want[a:b] = a + np.argsort(x[a:b], kind="stable")
    out, places = np.zeros(n, dtype), np.zeros(n, np.int32)
    parts = {"num_segments": len(order), "start_offsets_in": starts[order], "end_offsets_in": ends[order]}
    values = {"d_in_values": np.arange(n, dtype=np.int32), "d_out_values": places}
    compute.segmented_sort(d_in_keys=x, d_out_keys=out, num_items=n, **values, **parts)
    assert np.array_equal(places, want) and np.array_equal(out, x[want])
    if dtype == np.float32:
        compute.segmented_sort(d_in_keys=x, d_out_keys=x, num_items=n, **parts)
        assert np.array_equal(x, out)


@pytest.mark.usefixtures("interpreted")
def test_operators_that_raise_in_scans(rng):
    """One block takes all tiles."""

    def checked(a, b):
        assert b >= 0
        return a + b

    x, out = rng.integers(0, 9, N), np.zeros(N, np.int64)
    compute.inclusive_scan(d_in=x, d_out=out, op=checked, num_items=N)
    assert np.array_equal(out, np.cumsum(x))


@pytest.mark.usefixtures("interpreted")
def test_the_first_few(rng):
    """Of one place and of several; in one block; numbers on the device."""
    for x, k in (
        (rng.integers(0, 100, 2100).astype(np.int8), 7),
        (rng.standard_normal(N).astype(np.float32), 2500),
        (rng.integers(0, 2**60, 2100, dtype=np.uint64), np.array([33])),
        (rng.standard_normal(999), 40),
    ):
        out, at = np.zeros(2500, x.dtype), np.full(2500, -7)
        compute.top_k(
            d_in_keys=x, d_out_keys=out, d_in_values=np.arange(x.size), d_out_values=at, num_items=x.size, k=k
        )
        few = int(np.ravel(k)[0])
        want = (x.size - 1 - np.argsort(x[::-1], kind="stable")[::-1])[:few]
        assert np.array_equal(at[:few], want) and np.array_equal(out[:few], x[want]) and (at[few:] == -7).all()
        compute.nth_element(d_in=x, d_out=out, n=few, num_items=x.size)
        assert out[0] == np.sort(x)[few]


@pytest.mark.usefixtures("interpreted")
def test_views(rng):
    whole, out = rng.integers(0, 99, (30, 5, 80)), np.zeros((30, 3, 40), np.int64)
    compute.inclusive_scan(d_in=whole[:, 2, ::2], d_out=out[:, 1], num_items=1200, op=compute.OpKind.PLUS)
    assert np.array_equal(out[:, 1].ravel(), np.cumsum(whole[:, 2, ::2]))
    assert not out[:, 0].any() and not out[:, 2].any()
