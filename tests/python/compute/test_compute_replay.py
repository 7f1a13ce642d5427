# SPDX-License-Identifier: Apache-2.0
"""Calls that are made again without finding out anew what to launch: only where nothing else could happen."""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from tessera import compute, cuda
from tessera.compute import _engine, _replay

PLUS = compute.OpKind.PLUS
long_ways: list[str] = []
factor = np.float32(2)


@pytest.fixture(autouse=True)
def counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Counts what takes the long way."""
    long_ways.clear()
    plain = _engine._called

    def called(key: Any, function: Callable[..., Any], given: dict[str, Any]) -> Any:
        long_ways.append(function.__name__)
        return plain(key, function, given)

    monkeypatch.setattr(_engine, "_called", called)
    _engine.clear_all_caches()


def total(x: Any, init: Any = np.float32(0), **more: Any) -> float:
    out = np.zeros(1, np.float32)
    compute.reduce_into(d_in=x, d_out=out, num_items=len(x), op=more.pop("op", PLUS), h_init=init, **more)
    return float(out[0])


def ways(call: Callable[[], Any]) -> int:
    before = len(long_ways)
    call()
    return len(long_ways) - before


def test_the_third_call_and_those_after_it_take_the_short_way() -> None:
    for turn in range(5):
        x = np.full(1000, turn, np.float32)
        assert total(x) == 1000 * turn
    assert long_ways == ["reduce_into"] * 2


def test_other_arguments_take_the_long_way() -> None:
    x = np.ones(1000, np.float32)
    for _ in range(3):
        total(x)
    assert ways(lambda: total(x)) == 0
    assert ways(lambda: total(x, np.float32(-0.0))) == 1
    assert ways(lambda: total(x, np.float64(0))) == 1
    assert ways(lambda: total(x[:999])) == 1
    assert ways(lambda: total(x.astype(np.float64))) == 1
    assert ways(lambda: total(x, op=compute.OpKind.MAXIMUM)) == 1
    assert ways(lambda: total(x.reshape(500, 2).T[0])) == 1
    with pytest.raises(ValueError, match="has 999 elements"):
        compute.reduce_into(d_in=x[:999], d_out=x, num_items=1000, op=PLUS, h_init=np.float32(0))


def test_views_with_strides_are_summed_right() -> None:
    x = np.arange(2000, dtype=np.float32)
    for _ in range(3):
        total(x[:1000])
    assert total(x[::2]) == x[::2].sum()
    assert total(x[999::-1]) == x[:1000].sum()


def test_the_initial_value_and_the_number_count() -> None:
    x = np.ones(100, np.float32)
    for _ in range(3):
        assert total(x, np.float32(1)) == 101
        assert total(x, np.float32(2)) == 102
    out = np.zeros(1, np.float32)
    for n in (10, 10, 10, 20, 10):
        compute.reduce_into(d_in=x, d_out=out, num_items=n, op=PLUS, h_init=np.float32(0))
        assert out[0] == n


def test_numbers_are_alike_by_their_bits() -> None:
    x = np.zeros(10, np.float32)
    for zero in (np.float32(0), np.float32("nan")):
        for _ in range(3):
            total(x, zero)
        assert ways(lambda zero=zero: total(x, np.float32(zero))) == 0
    assert ways(lambda: total(x, np.float32(-0.0))) == 1 and ways(lambda: total(x, np.float16(0))) == 1
    assert ways(lambda: total(x, np.int32(0))) == 1


def test_functions_of_one_code_may_have_other_defaults() -> None:
    x, out = np.ones(10, np.float32), np.zeros(10, np.float32)

    def call(v: Any, w: Any = 1) -> Any:
        return v + w

    def without(v: Any) -> Any:
        return v + 1

    for _ in range(4):
        for op in (call, without):
            compute.unary_transform(d_in=x, d_out=out, num_items=10, op=op)
            assert (out == 2).all()
    assert ways(lambda: compute.unary_transform(d_in=x, d_out=out, num_items=10, op=without)) == 0
    without.__defaults__ = (np.float32(5),)
    compute.unary_transform(d_in=x, d_out=out, num_items=10, op=without)
    assert (out == 2).all()


def test_an_initial_value_in_an_array_of_the_host_is_read_each_time() -> None:
    x, out, init = np.ones(10, np.float32), np.zeros(1, np.float32), np.zeros(1, np.float32)
    for turn in range(6):
        init[0] = turn // 3
        compute.reduce_into(d_in=x, d_out=out, num_items=10, op=PLUS, h_init=init)
        assert out[0] == 10 + turn // 3


def test_objects_and_memory_of_the_caller_take_the_short_way() -> None:
    x, out = np.arange(5000, dtype=np.int32), np.zeros(5000, np.int32)
    scan = compute.make_inclusive_scan(d_in=x, d_out=out, op=PLUS, init_value=None)
    given = {"d_in": x, "d_out": out, "op": PLUS, "init_value": None, "num_items": 5000}
    storage = np.zeros(scan(None, **given), np.uint8)
    for _ in range(3):
        scan(storage, **given)
    assert ways(lambda: scan(storage.copy(), **given)) == 0
    np.testing.assert_array_equal(out, np.cumsum(x))
    assert scan(None, **given) == storage.size
    with pytest.raises(ValueError, match="are needed"):
        scan(storage[:-1], **given)
    with pytest.raises(TypeError, match="another kind"):
        scan(storage, **{**given, "d_in": x.astype(np.float64)})


def test_an_operator_that_names_a_number_sees_its_change() -> None:
    x, out = np.ones(10, np.float32), np.zeros(10, np.float32)
    global factor
    for turn in range(4):
        factor = np.float32(turn)
        compute.unary_transform(d_in=x, d_out=out, num_items=10, op=lambda v: v * factor)
        assert (out == turn).all()
    for turn in range(4):
        compute.unary_transform(d_in=x, d_out=out, num_items=10, op=lambda v: v * turn)  # noqa: B023
        assert (out == turn).all()


def below(limit: Any) -> Callable[[Any], Any]:
    return lambda v: v < limit


def test_an_operator_that_captures_numbers_takes_the_short_way() -> None:
    x, out, count = np.arange(100.0), np.zeros(100), np.zeros(1, np.int64)

    def call(limit: Any) -> int:
        compute.select(d_in=x, d_out=out, d_num_selected_out=count, cond=below(limit), num_items=100)
        return int(count[0])

    for _ in range(3):
        assert call(np.float32(50)) == 50 and call(20) == 20
    assert ways(lambda: call(np.float32(50))) == 0 and ways(lambda: call(20)) == 0
    assert ways(lambda: call(20.0)) == 1 and call(np.float32(30)) == 30
    table = np.zeros(3)
    for turn in range(3):  # an array is no constant
        table[0] = turn
        compute.unary_transform(d_in=x, d_out=out, num_items=100, op=lambda v: v + table[0])  # noqa: B023
        assert out[1] == 1 + turn


def test_much_temporary_memory_is_taken_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_engine, "_MOST_KEPT", 1 << 20)
    rng, n = np.random.default_rng(0), 300_000
    assert 4 * n > _engine._MOST_KEPT
    for _ in range(4):
        x, out = rng.integers(0, 1 << 32, n, np.uint32), np.zeros(n, np.uint32)
        compute.radix_sort(d_in_keys=x, d_out_keys=out, num_items=n)
        np.testing.assert_array_equal(out, np.sort(x))
    assert len(long_ways) == 2 and not _engine._kept


def test_an_operator_whose_names_change_their_meaning() -> None:
    x, out = np.full(10, 3, np.float32), np.zeros(10, np.float32)
    space: dict[str, Any] = {"np": np}
    exec("op = lambda v: abs(v) + np.float32(1)", space)

    def call() -> float:
        compute.unary_transform(d_in=x, d_out=out, num_items=10, op=space["op"])
        return float(out[0])

    for _ in range(3):
        assert call() == 4
    assert ways(call) == 0
    space["abs"] = lambda v: v * 2
    assert call() == 7


def test_arrays_that_share_memory_are_refused_still() -> None:
    x, count = np.arange(100.0), np.zeros(1, np.int64)

    def call(out: Any) -> None:
        compute.select(d_in=x, d_out=out, d_num_selected_out=count, cond=lambda v: v > 50, num_items=100)

    for _ in range(3):
        call(np.zeros(100))
    assert ways(lambda: call(np.zeros(100))) == 0
    with pytest.raises(ValueError, match="shares memory"):
        call(x)


def test_calls_made_again_ask_where_arrays_are() -> None:
    x, out = np.arange(10), np.zeros(10, np.int64)
    given = {"op": PLUS, "num_items": 9}
    for _ in range(4):
        compute.inclusive_scan(d_in=x[:9], d_out=out[1:], **given)
    with pytest.raises(ValueError, match="but not item by item"):
        compute.inclusive_scan(d_in=x[:9], d_out=x[1:], **given)
    assert len(long_ways) == 3 and np.array_equal(x, np.arange(10))
    for _ in range(4):
        compute.inclusive_scan(d_in=out[:9], d_out=out[:9], **given)
    with pytest.raises(ValueError, match="but not item by item"):
        compute.inclusive_scan(d_in=out[:9], d_out=out[8::-1], **given)
    assert len(long_ways) == 5  # two views of one place are as one array
    two = {"d_in1": x[1:], "d_in2": x[:9], "d_out": out, **given}
    for _ in range(4):
        compute.binary_transform(**two)
    assert len(long_ways) == 7  # inputs may share memory


def test_places_of_parts_that_share_memory_take_the_short_way() -> None:
    x, places = np.arange(100, dtype=np.int16)[::-1].copy(), np.arange(0, 101, 10)  # no keys that vectors sort

    def call(starts: Any, ends: Any) -> list[int]:
        out = np.zeros(100, np.int16)
        compute.segmented_sort(
            d_in_keys=x, d_out_keys=out, num_items=100, num_segments=10, start_offsets_in=starts, end_offsets_in=ends
        )
        sums = np.zeros(10, np.int64)
        compute.segmented_reduce(
            d_in=out, d_out=sums, num_segments=10, start_offsets_in=starts, end_offsets_in=ends, op=PLUS,
            h_init=np.int64(0),
        )  # fmt: skip
        for s, e in zip(starts, ends):
            assert np.array_equal(out[s:e], np.sort(x[s:e]))
        return list(sums)

    right = [int(x[i : i + 10].sum()) for i in range(0, 100, 10)]
    for _ in range(3):
        assert call(places[:-1], places[1:]) == right
    again = places.copy()
    assert ways(lambda: call(again[:-1], again[1:])) == 0
    assert ways(lambda: call(places[1:], places[1:])) > 0  # all parts are empty
    assert ways(lambda: call(places[:-1].copy(), places[1:])) > 0


@pytest.mark.parametrize("turn_to_gaps", [False, True])
def test_arrays_that_the_host_reads_are_compared(turn_to_gaps: bool) -> None:
    x, out = np.arange(1000, dtype=np.float32), np.zeros(10, np.int32)
    low, high = np.zeros(2, np.float32), np.full(2, 1000, np.float32)

    def call() -> np.ndarray:
        out[:] = 0
        compute.histogram_even(
            d_samples=x, d_histogram=out, h_num_output_levels=np.array([11]), h_lower_level=low[:1],
            h_upper_level=high[::-1][:1] if turn_to_gaps else high[:1], num_samples=1000,
        )  # fmt: skip
        return out

    for _ in range(4):
        assert (call() == 100).all()
    assert ways(call) == 0
    high[:] = 2000
    assert ways(call) == 1 and list(call()) == [200] * 5 + [0] * 5
    high[:] = 1000
    assert (call() == 100).all()


def test_a_sort_in_place_is_another_call() -> None:
    x = np.random.default_rng(0).random(50000)
    out = np.zeros_like(x)
    for _ in range(3):
        compute.radix_sort(d_in_keys=x.view(np.uint64), d_out_keys=out.view(np.uint64), num_items=x.size)
    keys = x.view(np.uint64).copy()
    compute.radix_sort(d_in_keys=keys, d_out_keys=keys, num_items=keys.size)
    np.testing.assert_array_equal(keys.view(np.float64), np.sort(x))


def test_floats_are_sorted_as_bits_of_the_array_at_hand() -> None:
    rng = np.random.default_rng(0)
    for _ in range(4):
        x = rng.random(1000)
        out = np.zeros_like(x)
        compute.radix_sort(d_in_keys=x, d_out_keys=out, num_items=1000)
        np.testing.assert_array_equal(out, np.sort(x))
    assert len(long_ways) == 2


def test_arrays_of_a_device() -> None:
    for turn in range(4):
        x, out = cuda.to_device(np.full(100, turn, np.int32)), cuda.device_array(100, np.int32)
        compute.inclusive_scan(d_in=x, d_out=out, num_items=100, op=PLUS)
        np.testing.assert_array_equal(out.copy_to_host(), turn * np.arange(1, 101))
    assert len(long_ways) == 2


def test_arrays_of_a_device_that_may_not_share_memory() -> None:
    for turn in range(4):
        x = cuda.to_device(np.arange(100, dtype=np.float32) + turn)
        out, n = cuda.device_array(100, np.float32), cuda.device_array(1, np.int64)
        compute.select(d_in=x, d_out=out, d_num_selected_out=n, cond=lambda v: v > 50, num_items=100)
        assert n.copy_to_host()[0] == 49 + turn and out.copy_to_host()[0] == 51
    assert len(long_ways) == 2
    with pytest.raises(ValueError, match="shares memory"):
        compute.select(d_in=x, d_out=x[:], d_num_selected_out=n, cond=lambda v: v > 50, num_items=100)


def test_where_arrays_begin_and_end() -> None:
    x = np.zeros(20, np.int16)
    start = x.__array_interface__["data"][0]
    of_torch = types.SimpleNamespace(
        data_ptr=lambda: start + 8, stride=lambda axis: 2, element_size=lambda: 2, shape=(4,)
    )
    interface = {"shape": (3,), "strides": (-4,), "typestr": "<i2", "data": (start + 30, False), "version": 3}
    of_others = types.SimpleNamespace(__cuda_array_interface__=interface, shape=(3,))
    ours = cuda.to_device(x)[3::4]
    address = ours.__cuda_array_interface__["data"][0]
    assert _replay._ends(x) == (start, start + 40) and _replay._ends(of_torch) == (start + 8, start + 22)
    assert _replay._ends(of_others) == (start + 22, start + 32) and _replay._ends(ours) == (address, address + 34)
    assert not _replay._share(of_torch, of_others) and _replay._share(x, of_torch) and not _replay._share(x[:0], ours)


def test_calls_of_ever_other_lengths_are_not_noted(monkeypatch: pytest.MonkeyPatch) -> None:
    x = np.ones(100, np.float32)
    monkeypatch.setattr(_engine, "recorded", None)  # would be called
    for n in range(1, 20):
        total(x[:n])


def test_a_call_within_a_call_is_part_of_it() -> None:
    x, out = np.ones(100, np.int32), np.zeros(1, np.int64)
    for _ in range(3):
        compute.count_if(d_in=x, d_out=out, cond=lambda v: v > 0, num_items=100)
        assert out[0] == 100
        x[0] = 1
    x[:50] = 0
    compute.count_if(d_in=x, d_out=out, cond=lambda v: v > 0, num_items=100)
    assert out[0] == 50


def test_other_threads_remember_for_themselves() -> None:
    import threading

    found: list[float] = []

    def work() -> None:
        x = np.ones(5000, np.float32)
        found.extend(total(x) for _ in range(20))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [5000.0] * 80


def test_clearing_caches_forgets_calls() -> None:
    x = np.ones(100, np.float32)
    for _ in range(3):
        total(x)
    compute.clear_all_caches()
    assert ways(lambda: total(x)) == 1


def kinds_of_replays() -> set[type]:
    return {type(replay) for replays in _replay._known.replays.values() for replay in replays}


def test_calls_are_asked_and_made_in_c() -> None:
    x, out, n = np.arange(3000, dtype=np.float32), np.zeros(3000, np.float32), np.zeros(1, np.int64)
    for turn in range(4):
        assert total(x, np.float32(turn % 2)) == x.sum() + turn % 2
        compute.select(d_in=x, d_out=out, d_num_selected_out=n, cond=lambda v: v > 999, num_items=3000)
        assert n[0] == 2000 and np.array_equal(out[:2000], x[1000:])
        compute.radix_sort(d_in_keys=x[::-1].copy(), d_out_keys=out, num_items=3000)
        assert np.array_equal(out, x)
    assert kinds_of_replays() == {_replay._core.Replay}
    assert ways(lambda: compute.radix_sort(d_in_keys=out, d_out_keys=out, num_items=3000)) == 1  # in place


def test_arrays_of_structs_are_passed_by_their_kernels() -> None:
    """Those of the caller, and temporary memory of pairs."""
    Pair = compute.gpu_struct({"s": np.int64, "t": np.int64}, "Pair")
    keys, values, n = np.arange(3000) // 7, np.ones(3000, np.int64), np.zeros(1, np.int64)
    pairs, out = np.ones(3000, Pair.dtype), np.zeros(3000, np.int64)
    for _ in range(4):
        compute.reduce_by_key(
            d_in_keys=keys, d_in_values=values, d_out_keys=np.zeros_like(keys), d_out_values=out, d_num_runs_out=n,
            num_items=3000, op=PLUS,
        )  # fmt: skip
        assert n[0] == 429 and (out[:428] == 7).all() and out[428] == 4
        sums = np.zeros(3000, Pair.dtype)
        compute.inclusive_scan(d_in=pairs, d_out=sums, num_items=3000, op=lambda a, b: (a.s + b.s, b.t))
        assert np.array_equal(sums["s"], np.arange(1, 3001))


def test_a_replay_asks_its_questions_in_order() -> None:
    asked: list[Any] = []

    def ask(value: Any) -> bool:
        asked.append(value)
        return bool(value == 3)

    def replay_of(*questions: Any) -> Any:
        names = tuple("abcdefgh"[: len(questions)])
        return _replay._core.Replay(names, questions, (), (), _replay._era, _replay._era[0], None, None)

    replay = replay_of((0, None), (1, 1 << 70), (3, ask), (3, ask, "kept"), (2, np.zeros(3)))
    assert replay({"a": None, "b": 1 << 70, "c": 3, "d": "kept", "e": np.ones(3)}) is True
    assert asked == [3]
    fitting = {"a": None, "b": 1 << 70, "c": 3, "d": 3, "e": np.ones(3)}
    assert replay(fitting) is True
    for name, other in (
        ("a", 0), ("b", 1), ("b", True), ("b", 1.0), ("c", 2), ("d", "other"), ("e", np.zeros(4)), ("e", [1, 2, 3]),
        ("e", np.zeros(3, np.float32)), ("e", np.zeros((3, 1))), ("e", np.zeros(3, ">f8")),
    ):  # fmt: skip
        assert replay({**fitting, name: other}) is False
    assert replay({"a": None}) is replay({**fitting, "f": 1}) is False
    assert replay({**dict.fromkeys("bacde"), **fitting, "a": None}) is False  # another order is another call
    with pytest.raises(TypeError, match="as one dict"):
        replay(**fitting)
    with pytest.raises(TypeError, match="arrays of one axis"):
        replay_of((2, np.zeros((2, 2))))
    with pytest.raises(TypeError, match="at most 16 names"):
        _replay._core.Replay(("a",), (), (), (), [0], 0, None, None)


def test_what_a_replay_is_asked_of_may_raise() -> None:
    def ask(value: Any) -> bool:
        raise KeyError("mine")

    replay = _replay._core.Replay(("a",), ((3, ask),), (), (), [0], 0, None, None)
    with pytest.raises(KeyError, match="mine"):
        replay({"a": 1})


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.bool_, np.float32])
def test_calls_without_items_are_made_again(dtype: Any) -> None:
    """What the host has read is an array too, which may lie apart from others."""
    start, out = np.zeros(1, np.int32), np.zeros(1, dtype)
    for _ in range(4):
        compute.segmented_top_k(
            d_in_keys=np.zeros(0, dtype), d_out_keys=out, num_items=0, k=1, num_segments=1, start_offsets_in=start,
            end_offsets_in=start,
        )  # fmt: skip


def test_arrays_with_gaps_go_another_way() -> None:
    """The library sorts arrays without gaps only, which are made again; others are sorted by kernels."""
    rng, n = np.random.default_rng(2), 5000
    ends = np.sort(rng.integers(0, n, 12)).astype(np.int32)
    out, moved, places = np.zeros(n, np.uint32), np.zeros(n, np.int32), np.arange(n, dtype=np.int32)
    for step in (1, 1, 1, 1, -2, -1, 2, 1, -2):
        keys = rng.integers(0, 100, n * abs(step), dtype=np.uint32)[::step]
        compute.segmented_sort(
            d_in_keys=keys, d_out_keys=out, d_in_values=places, d_out_values=moved, num_items=n, num_segments=11,
            start_offsets_in=ends[:-1], end_offsets_in=ends[1:],
        )  # fmt: skip
        for start, end in zip(ends, ends[1:]):
            order = np.argsort(keys[start:end], kind="stable")
            assert (out[start:end] == keys[start:end][order]).all() and (moved[start:end] == start + order).all()
