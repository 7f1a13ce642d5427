# SPDX-License-Identifier: Apache-2.0
"""Scans, selections, reductions and histograms as CPUs run them: the bits of the code for GPUs, however many cores."""

from __future__ import annotations

import os
import pathlib
import re
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from long_form import unless_short
from tessera import compute
from tessera.compute import _choose, _engine, _reduce, _scan
from tessera.cuda._options import options_of

PLUS = compute.OpKind.PLUS
LENGTHS = (1, 33, 4095, 4097, 20000, 140000)


def scaled(a: Any, b: Any) -> Any:
    return a + b * np.float32(1)


@pytest.fixture(params=[1, 3])
def cores(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    monkeypatch.setattr(_engine, "_cores", lambda: request.param)
    monkeypatch.setattr(_engine, "replayed", lambda key, given: False)
    monkeypatch.setattr(_engine, "wanted", lambda key, given: None)
    return int(request.param)


def as_for_gpus(monkeypatch: pytest.MonkeyPatch, call: Callable[[], Any]) -> Any:
    """What it gives with the code for GPUs, on the CPU device, compiled quickly."""
    with monkeypatch.context() as patch:
        patch.setattr(_engine, "_options", lambda bounds: options_of({"opt": False, "launch_bounds": bounds}))
        for module in (_scan, _choose, _reduce):
            patch.setattr(module, "on_cpu", lambda: False)
        return call()


def floats(n: int) -> np.ndarray:
    return (np.random.default_rng(n).random(n, np.float32) - np.float32(0.5)) * np.float32(1000)


@pytest.mark.parametrize("op", [PLUS, scaled])
def test_scans_of_floats_have_the_bits_of_gpus(op: Any, cores: int, monkeypatch: pytest.MonkeyPatch) -> None:
    for n in LENGTHS:
        x = floats(n)

        def both(x: np.ndarray = x, n: int = n) -> bytes:
            a, b = np.empty_like(x), np.empty_like(x)
            compute.inclusive_scan(d_in=x, d_out=a, op=op, num_items=n)
            compute.exclusive_scan(d_in=x, d_out=b, op=op, num_items=n, init_value=np.float32(3))
            return a.tobytes() + b.tobytes()

        assert both() == as_for_gpus(monkeypatch, both), n


@pytest.mark.parametrize("group", [_reduce.GROUP, 4])
@pytest.mark.parametrize("op", [PLUS, scaled])
def test_reductions_of_floats_have_the_bits_of_gpus(
    op: Any, group: int, cores: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_reduce, "GROUP", group)
    monkeypatch.setattr(_engine, "_kernels", {})
    for n in LENGTHS:
        x = floats(n)

        def total(x: np.ndarray = x, n: int = n) -> bytes:
            out = np.empty(1, np.float32)
            compute.reduce_into(d_in=x, d_out=out, op=op, num_items=n, h_init=np.float32(1))
            return out.tobytes()

        assert total() == as_for_gpus(monkeypatch, total), n


def test_a_scan_is_the_same_beyond_a_span_of_tiles(cores: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_scan, "_SHARED", 1024)  # tiles of 256 items, spans of 262,144
    _engine.clear_all_caches()
    x = floats(600_000)

    def scanned() -> bytes:
        out = np.empty_like(x)
        compute.inclusive_scan(d_in=x, d_out=out, op=scaled, num_items=x.size)
        return out.tobytes()

    assert scanned() == as_for_gpus(monkeypatch, scanned)
    _engine.clear_all_caches()


@pytest.mark.parametrize("dtype", unless_short((np.int8,), (np.uint32, np.int64)))
def test_scans_of_whole_numbers(dtype: Any, cores: int) -> None:
    for n in LENGTHS:
        x = np.random.default_rng(n).integers(0, 100, n, np.int64).astype(dtype)
        out = np.empty_like(x)
        compute.inclusive_scan(d_in=x, d_out=out, op=PLUS, num_items=n)
        np.testing.assert_array_equal(out, np.cumsum(x, dtype=dtype))
        compute.exclusive_scan(d_in=x, d_out=x, op=PLUS, num_items=n, init_value=dtype(7))  # in place
        np.testing.assert_array_equal(x[1:], out[:-1] + dtype(7))
        assert x[0] == 7


def test_runs_of_whole_numbers(cores: int) -> None:
    for n in LENGTHS:
        keys = np.sort(np.random.default_rng(n).integers(0, n // 3 + 1, n)).astype(np.int32)
        ones, out_keys = np.ones(n, np.int64), np.empty_like(keys)
        out, count = np.empty(n, np.int64), np.empty(1, np.int64)
        compute.reduce_by_key(
            d_in_keys=keys, d_in_values=ones, d_out_keys=out_keys, d_out_values=out, d_num_runs_out=count, op=PLUS,
            num_items=n,
        )  # fmt: skip
        wanted, counts = np.unique(keys, return_counts=True)
        assert count[0] == wanted.size
        np.testing.assert_array_equal(out_keys[: wanted.size], wanted)
        np.testing.assert_array_equal(out[: wanted.size], counts)


@pytest.mark.parametrize("share", [0.0, 0.02, 0.5, 1.0])
def test_selections_and_partitions(share: float, cores: int) -> None:
    for n in (*LENGTHS, 63, 64, 65, 128):
        x = np.random.default_rng(n).random(n)
        out, rest, count = np.full(n, -1.0), np.full(n, -1.0), np.empty(1, np.int64)
        chosen = x < share
        x[~chosen] += 1  # so that one kernel serves all shares
        k = int(chosen.sum())
        compute.select(d_in=x, d_out=out, d_num_selected_out=count, cond=lambda v: v < 1, num_items=n)
        assert count[0] == k
        np.testing.assert_array_equal(out[:k], x[chosen])
        np.testing.assert_array_equal(out[k:], -1.0)  # nothing more is written
        compute.partition(
            d_in=x, d_out=out, d_rest_out=rest, d_num_selected_out=count, cond=lambda v: v < 1, num_items=n
        )
        np.testing.assert_array_equal(out[:k], x[chosen])
        np.testing.assert_array_equal(rest[: n - k], x[~chosen])
        np.testing.assert_array_equal(rest[n - k :], -1.0)


LEVELS = [(0, 256, 256), (-5, 100, 105), (-100, 100, 7), (0, 1 << 31, 1000), (-(1 << 62), 1 << 62, 1), (3, 3004, 3001)]


@pytest.mark.parametrize("dtype", unless_short(("u1", "i1", "?", "i4", "u8"), ("i8",)))
def test_histograms_of_whole_numbers(dtype: str, cores: int) -> None:
    rng = np.random.default_rng(0)
    for low, high, bins in LEVELS:
        for n in (0, 5, 1001, 30001):
            x = rng.integers(0, 256, (n, 8), np.uint8).view(np.int64).reshape(-1)
            x[n // 2 :] %= 300
            x = x.astype(dtype)
            out = np.full(bins, 7, np.int64)
            levels = {"num_output_levels": bins + 1, "lower_level": np.int64(low), "upper_level": np.int64(high)}
            compute.histogram_even(d_samples=x, d_histogram=out, num_samples=n, **levels)
            places = [(v - low) * bins // (high - low) for v in map(int, x) if low <= v < high]
            np.testing.assert_array_equal(out, np.bincount(places, minlength=bins) if places else 0)


def test_temporary_memory_of_the_caller_suffices(cores: int) -> None:
    x = floats(100_000)
    out, count = np.empty_like(x), np.empty(1, np.int64)
    given = {"d_in": x, "d_out": out, "num_items": x.size}
    for call in (
        lambda t: compute.inclusive_scan(op=PLUS, temp_storage=t, **given),
        lambda t: compute.reduce_into(op=PLUS, h_init=np.float32(0), temp_storage=t, **given),
        lambda t: compute.select(cond=lambda v: v > 0, d_num_selected_out=count, temp_storage=t, **given),
    ):
        n = call(None)
        call(np.empty(n, np.uint8))
        with pytest.raises(ValueError, match="are needed"):
            call(np.empty(n - 1, np.uint8))


def test_no_launch_clears_counters(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(memory: Any, counters: list[Any]) -> None:
        assert not counters

    monkeypatch.setattr(_engine.Memory, "_clear", refuse)
    x = np.arange(1000, dtype=np.int32)
    compute.inclusive_scan(d_in=x, d_out=x, op=PLUS, num_items=1000)
    compute.reduce_into(d_in=x, d_out=x, op=PLUS, num_items=1000)


SCRIPT = """
import numpy as np
from tessera import cuda

@cuda.jit
def copy(x, out, n):
    for i in range(n):
        out[i] = x[i]

copy[1, 1](np.arange(4.0), np.empty(4), np.int64(4))
"""


def test_an_index_of_64_bits_is_used_whole(tmp_path: pathlib.Path) -> None:
    """LLVM sees how it moves then, which it does not of 32 bits that might wrap."""
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    environment = {**os.environ, "TESSERA_DUMP_LLVM": "1", "TESSERA_CACHE_DIR": str(tmp_path / "cache")}
    done = subprocess.run(
        [sys.executable, str(script)], env=environment, timeout=60, capture_output=True, text=True, check=True
    )
    narrowed = set(re.findall(r"(%v\d+) = trunc i64", done.stderr))
    assert "define void" in done.stderr
    assert not narrowed & set(re.findall(r"sext i32 (%v\d+) to i64", done.stderr))
