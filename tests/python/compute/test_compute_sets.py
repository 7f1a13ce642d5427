# SPDX-License-Identifier: Apache-2.0
"""Merges and sets of sorted sequences, against counters of Python: on the CPU, and as they are made for a GPU."""

from collections import Counter

import numpy as np
import pytest
from compute_as_gpu import interpret

from tessera import compute
from tessera.compute import _merge_tiles

SETS = {
    "set_union": lambda a, b: a | b, "set_intersection": lambda a, b: a & b, "set_difference": lambda a, b: a - b,
    "set_symmetric_difference": lambda a, b: (a - b) + (b - a),
}  # fmt: skip


def check(first, second, names=tuple(SETS), comp=None):
    """What stays of items that are equal by ``comp`` is told by where they come from."""
    out, count = np.zeros(first.size + second.size, np.result_type(first, second)), np.zeros(1, np.int64)
    two = {"d_in1": first, "num_items1": first.size, "d_in2": second, "num_items2": second.size, "comp": comp}
    compute.merge(**two, d_out=out)
    falling = comp is compute.OpKind.GREATER
    wanted = np.sort(np.concatenate((first, second)))
    assert np.array_equal(out, wanted[::-1] if falling else wanted)
    for name in names:
        getattr(compute, name)(**two, d_out=out, d_num_out=count)
        found = SETS[name](Counter(first.tolist()), Counter(second.tolist()))
        assert out[: count[0]].tolist() == sorted(found.elements(), reverse=falling), name


@pytest.mark.parametrize("top", (1, 3, 900, 1 << 30))
def test_multisets(top):
    """Runs that cross tiles, and sequences of which one ends long before the other."""
    rng = np.random.default_rng(top)
    for n, m in ((2048, 2048), (5000, 1), (1, 5000), (3000, 5100)):
        check(*(np.sort(rng.integers(0, top, size).astype(np.int32)) for size in (n, m)))


def test_order_and_types():
    rng = np.random.default_rng(5)
    first, second = np.sort(rng.integers(0, 500, 3000)), np.sort(rng.integers(0, 500, 2500).astype(np.int32))
    check(first, second)
    check(first[::-1].copy(), second[::-1].copy(), comp=compute.OpKind.GREATER)
    none = np.zeros(0, np.int32)
    check(none, second)
    check(second, none)
    check(none, none)


def test_equal_items_are_those_of_the_first():
    """Of items that a comparison takes for equal the first ones of the first sequence, as C++'s sets have them."""
    a, b = np.array([10, 11, 12, 20]), np.array([13, 14, 21, 22, 23, 30])
    out, count = np.zeros(10, np.int64), np.zeros(1, np.int64)
    given = {"d_in1": a, "num_items1": 4, "d_in2": b, "num_items2": 6, "comp": lambda v, w: v // 10 < w // 10}
    for name, wanted in {
        "set_intersection": [10, 11, 20], "set_difference": [12], "set_union": [10, 11, 12, 20, 22, 23, 30],
        "set_symmetric_difference": [12, 22, 23, 30],
    }.items():  # fmt: skip
        getattr(compute, name)(**given, d_out=out, d_num_out=count)
        assert out[: count[0]].tolist() == wanted, name


@pytest.mark.parametrize("schedule", (0, 7))
def test_as_made_for_a_gpu(monkeypatch, schedule):
    interpret(monkeypatch, schedule)
    rng = np.random.default_rng(schedule)
    first, second = (np.sort(rng.integers(0, 700, size).astype(np.int32)) for size in (1500, 2200))
    check(first, second, ("set_union", "set_intersection"))


def test_merges_of_few_items_have_smaller_tiles(monkeypatch):
    """On a GPU, below a number of items in all, with the same results."""
    tiles, per_thread = [], _merge_tiles.per_thread
    interpret(monkeypatch, 0)
    monkeypatch.setattr(_merge_tiles, "FEW", 2000)
    noted = lambda *given: tiles.append(per_thread(*given)) or tiles[-1]  # noqa: E731
    monkeypatch.setattr("tessera.compute._sets.per_thread", noted)
    first, second = np.sort(np.arange(1000, dtype=np.int32) % 60), np.arange(1000, dtype=np.int32) // 9
    for size in (999, 1000):
        check(first, second[:size], ("set_union",))
    assert tiles == 2 * [_merge_tiles.FEW_ITEMS] + 2 * [_merge_tiles.ITEMS]


def test_merges_of_few_items_on_a_cpu_have_great_tiles():
    array = compute.ZipIterator(np.zeros(1, np.int32))
    assert _merge_tiles.per_thread(2, array) == _merge_tiles.ITEMS


def test_a_comparison_that_is_no_order_does_no_harm():
    """Whatever comes out, nothing is written outside."""
    rng = np.random.default_rng(1)
    first, second, out = rng.random(3000), rng.random(4000), np.full(7100, -1.0)
    two = {"d_in1": first, "num_items1": 3000, "d_in2": second, "num_items2": 4000, "d_out": out[:7000]}
    compute.merge(**two, comp=lambda a, b: a * 7 % 1 < b)
    assert (out[7000:] == -1).all()
    compute.set_union(**two, comp=lambda a, b: a != b, d_num_out=np.zeros(1, np.int64))
    assert (out[7000:] == -1).all()
