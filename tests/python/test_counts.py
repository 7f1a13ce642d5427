# SPDX-License-Identifier: Apache-2.0
"""Atomic additions whose old values nobody takes: each worker adds them up for itself (src/target/llvm/tally.c).
The sums are those of NumPy, wherever the elements lie, and what a kernel reads of them is up to date."""

from __future__ import annotations

import os
import pathlib
import re
import subprocess
import sys

import numpy as np
import pytest
import tessera.tile as ct

N = 256


def dumped(script: str, cache: pathlib.Path) -> str:
    """What a process that runs the script gives to LLVM."""
    here = str(pathlib.Path(__file__).parent)
    path = os.pathsep.join([here, *filter(None, sys.path)])
    env = os.environ | {"TESSERA_DUMP_LLVM": "1", "TESSERA_CACHE_DIR": str(cache), "PYTHONPATH": path}
    done = subprocess.run([sys.executable, "-c", script], env=env, capture_output=True, text=True, check=True)
    return done.stderr


@ct.kernel
def count(values, counts, by, N: ct.Constant[int]):
    i = ct.bid(0) * N + ct.arange(N, dtype=ct.int32)
    value = ct.gather(values, i, padding_value=-1)
    ct.atomic_add(counts, value, ct.astype(ct.gather(by, i), counts.dtype))


@ct.kernel
def count_ones(values, counts, N: ct.Constant[int]):
    for k in range(2):
        i = (2 * ct.bid(0) + k) * N + ct.arange(N, dtype=ct.int32)
        ct.atomic_add(counts, ct.gather(values, i, padding_value=-1), 1)


@ct.kernel
def count_pairs(rows, cols, counts, sums, N: ct.Constant[int]):
    """Two arrays at once, one of two axes; tiles of two axes."""
    i = ct.bid(0) * N + ct.reshape(ct.arange(N, dtype=ct.int32), (N // 64, 64))
    r, c = ct.gather(rows, i, padding_value=-1), ct.gather(cols, i, padding_value=-1)
    ct.atomic_add(counts, (r, c), 1)
    ct.atomic_add(sums, r, c)


@ct.kernel
def count_and_read(values, counts, seen, N: ct.Constant[int]):
    ct.atomic_add(counts, ct.gather(values, ct.arange(N, dtype=ct.int32)), 1)
    ct.store(seen, (0,), ct.gather(counts, ct.arange(N, dtype=ct.int32)))


@ct.kernel
def count_and_take(values, counts, old, N: ct.Constant[int]):
    i = ct.arange(N, dtype=ct.int32)
    ct.atomic_add(counts, ct.gather(values, i), 1)
    ct.scatter(old, i, ct.atomic_add(counts, i, 1))


@pytest.mark.parametrize("tile", [64, N, 4096])  # of which runs are made: less than one, one, several
@pytest.mark.parametrize("dtype", ["int32", "uint32", "int64"])
@pytest.mark.parametrize("bins", [1, 256, 4096, 4097, 100_000])
def test_counts(dtype, bins, tile):
    rng = np.random.default_rng(bins)
    n = 50 * N + 77
    values = rng.integers(-3, bins + 3, n).astype(np.int32)
    by = rng.integers(-1000 if dtype != "uint32" else 0, 1000, n).astype(np.int32)
    counts = rng.integers(0, 9, bins).astype(dtype)
    wanted = counts.copy()
    inside = (values >= 0) & (values < bins)
    np.add.at(wanted, values[inside], by[inside].astype(dtype))
    ct.launch(None, (ct.cdiv(n, tile), 1, 1), count, (values, counts, by, tile))
    np.testing.assert_array_equal(counts, wanted)
    counts[:] = 0
    ct.launch(None, (ct.cdiv(n, 2 * tile), 1, 1), count_ones, (values, counts, tile))
    np.testing.assert_array_equal(counts, np.bincount(values[inside], minlength=bins))


def test_every_second_element():
    values = np.random.default_rng(1).integers(0, 3000, 10 * N).astype(np.int32)
    room = np.zeros(6000, np.int32)
    ct.launch(None, (10, 1, 1), count, (values, room[::2], np.ones_like(values), N))
    np.testing.assert_array_equal(room[::2], np.bincount(values, minlength=3000))
    assert not room[1::2].any()


def test_two_axes():
    rng = np.random.default_rng(2)
    rows, cols = (rng.integers(-1, 70, 9 * N).astype(np.int32) for _ in range(2))
    counts, sums = np.zeros((64, 65), np.int32), np.zeros(64, np.int32)
    ct.launch(None, (9, 1, 1), count_pairs, (rows, cols, counts, sums, N))
    wanted, wanted_sums = np.zeros_like(counts), np.zeros_like(sums)
    inside = (rows >= 0) & (rows < 64)
    np.add.at(wanted_sums, rows[inside], cols[inside])
    inside &= (cols >= 0) & (cols < 65)
    np.add.at(wanted, (rows[inside], cols[inside]), 1)
    np.testing.assert_array_equal(counts, wanted)
    np.testing.assert_array_equal(sums, wanted_sums)


def test_what_is_read_is_up_to_date():
    values = np.random.default_rng(3).integers(0, N, N).astype(np.int32)
    counts, seen = np.zeros(N, np.int32), np.zeros(N, np.int32)
    ct.launch(None, (1, 1, 1), count_and_read, (values, counts, seen, N))
    np.testing.assert_array_equal(seen, np.bincount(values, minlength=N))
    counts[:], old = 0, np.zeros(N, np.int32)
    ct.launch(None, (1, 1, 1), count_and_take, (values, counts, old, N))
    np.testing.assert_array_equal(old, np.bincount(values, minlength=N))
    np.testing.assert_array_equal(counts, old + 1)


def test_the_values_are_the_counts():
    """One array as both arguments: block after block reads what the one before has left."""
    both = np.arange(N, dtype=np.int32)
    ct.launch(None, (1, 1, 1), count_ones, (both, both, N // 2))
    np.testing.assert_array_equal(both, np.arange(N) + 1)


PLACES = """
import numpy as np
from test_counts import count_ones
import tessera.tile as ct
ct.launch(None, (1, 1, 1), count_ones, (np.zeros(512, np.int32), np.zeros(300, np.int32), 256))
"""


def test_places_are_made_of_indices_and_not_of_addresses(tmp_path):
    text = dumped(PLACES, tmp_path)
    assert "ts__rt_tally_begin" in text
    assert not re.search(r"(sub|lshr|icmp ult) <\d+ x i64>", text)
