# SPDX-License-Identifier: Apache-2.0
"""Tables of bytes read by bytes (src/target/llvm/lookup.c): the values are NumPy's, however short the table is and
wherever it lies in its page, and nothing behind a page is touched."""

from __future__ import annotations

import ctypes
import mmap
import pathlib
from typing import Any

import numpy as np
import pytest
import tessera.tile as ct
from tessera import cuda
from test_counts import dumped

N = 128
PAGE = mmap.PAGESIZE


@ct.kernel
def lookup(table, indices, out, pad: ct.Constant[int], N: ct.Constant[int]):
    i = ct.astype(ct.load(indices, (ct.bid(0),), (N,)), ct.int32)
    t = ct.gather(table, i, padding_value=ct.astype(pad, table.dtype))
    ct.store(out, (ct.bid(0),), tile=t)


@ct.kernel
def lookup_some(table, indices, wanted, out, N: ct.Constant[int]):
    """Only where `wanted`; the other elements become 7."""
    i = ct.astype(ct.load(indices, (ct.bid(0),), (N,)), ct.int64)
    t = ct.gather(table, i, mask=ct.load(wanted, (ct.bid(0),), (N,)), padding_value=7)
    ct.store(out, (ct.bid(0),), tile=t)


@cuda.jit
def lookup_of_threads(table: Any, indices: Any, out: Any) -> None:
    i = cuda.grid(1)
    if i < out.size:
        out[i] = table[indices[i]]


@pytest.fixture
def pages():
    """Two pages of which only the first may be touched."""
    memory = mmap.mmap(-1, 2 * PAGE)
    room = np.frombuffer(memory, np.uint8)
    libc, address = ctypes.CDLL(None), room.ctypes.data
    room[:PAGE] = np.random.default_rng(5).integers(0, 256, PAGE)
    assert libc.mprotect(ctypes.c_void_p(address + PAGE), PAGE, 0) == 0
    yield room
    assert libc.mprotect(ctypes.c_void_p(address + PAGE), PAGE, 3) == 0


@pytest.mark.parametrize("size", [1, 100, 255, 256])
@pytest.mark.parametrize("dtype", ["uint8", "int8", "bool"])
def test_tables_anywhere_in_a_page(pages, size, dtype):
    indices = np.random.default_rng(size).integers(0, 256, 5 * N + 3).astype(np.uint8)
    inside = indices < size
    for start in (0, 1, 64, PAGE - 256, PAGE - size):
        table = pages[start : start + size]
        table = (table & 1).view(bool) if dtype == "bool" else table.view(dtype)
        out = np.zeros(indices.size, dtype)
        ct.launch(None, (6, 1, 1), lookup, (table, indices, out, 1, N))
        wanted = np.where(inside, table[np.where(inside, indices, 0)], np.ones(1, dtype))
        np.testing.assert_array_equal(out, wanted)


def test_signed_bytes_count_from_the_end_as_elsewhere():
    """An index that may be negative is no byte of the table."""
    table = np.arange(256, dtype=np.uint8)
    indices = np.random.default_rng(1).integers(-128, 128, N).astype(np.int8)
    out = np.zeros(N, np.uint8)
    ct.launch(None, (1, 1, 1), lookup, (table, indices, out, 9, N))
    np.testing.assert_array_equal(out, np.where(indices >= 0, indices.view(np.uint8), 9))


def test_masks(pages):
    rng = np.random.default_rng(2)
    indices, mask = rng.integers(0, 256, 4 * N).astype(np.uint8), rng.integers(0, 2, 4 * N) > 0
    mask[N : 2 * N] = False
    out, table = np.zeros(4 * N, np.uint8), pages[:256]
    ct.launch(None, (4, 1, 1), lookup_some, (table, indices, mask, out, N))
    np.testing.assert_array_equal(out, np.where(mask, table[indices], 7))


def test_an_empty_table():
    out = np.zeros(N, np.uint8)
    ct.launch(None, (1, 1, 1), lookup, (out[:0], np.arange(N, dtype=np.uint8), out, 3, N))
    np.testing.assert_array_equal(out, 3)


def test_threads():
    rng = np.random.default_rng(3)
    table, indices = (rng.integers(0, 256, n).astype(np.uint8) for n in (256, 1000))
    out = np.zeros(1000, np.uint8)
    lookup_of_threads[8, 128](table, indices, out)
    np.testing.assert_array_equal(out, table[indices])


BYTES = """
import numpy as np
from test_lookup import lookup
import tessera.tile as ct
x = np.zeros(256, np.uint8)
ct.launch(None, (1, 1, 1), lookup, (x, x, x.copy(), 0, 128))
"""


@pytest.mark.skipif(
    "avx512vbmi" not in pathlib.Path("/proc/cpuinfo").read_text().split(), reason="needs AVX-512 VBMI"
)
def test_registers_are_taken_where_there_are_some(tmp_path):
    assert "vpermi2var" in dumped(BYTES, tmp_path)
