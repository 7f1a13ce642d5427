# SPDX-License-Identifier: Apache-2.0
"""Tables of lists of arrays: among the parameters of a launch where they fit, else copied to the GPU before it."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
import pytest
import tessera.tile as ct
from tessera import _report

from tests.python.mock_driver import MockState

WORDS = 1024 // 8  # of the room for tables


class Matrix:
    """An array on the GPU of the mock, which nobody reads."""

    def __init__(self, at: int, rows: int, columns: int) -> None:
        self.__cuda_array_interface__ = {
            "shape": (rows, columns), "typestr": "<f4", "data": (at, False), "version": 3,
        }  # fmt: skip


@ct.kernel
def both(a, b, out):
    """Sums of what two lists hold, out of one of them."""
    for i in range(len(a)):
        t = ct.load(a[i], index=(0, 0), shape=(4, 4)) + ct.load(b[i], index=(0, 0), shape=(4, 4))
        ct.store(out, index=(i, 0), tile=t)


def seen(mock: MockState, n: int, *arguments: Any) -> tuple[list[int], list[int], int]:
    """The n first parameters of a launch, the words of its tables, and how many allocations it made."""
    found: list[list[int]] = []

    @ctypes.CFUNCTYPE(None, ctypes.POINTER(ctypes.c_void_p), ctypes.c_void_p)
    def kernel(params: Any, user: Any) -> None:
        found.append([ctypes.c_uint64.from_address(params[i]).value for i in range(n)])
        found.append(list((ctypes.c_uint64 * WORDS).from_address(params[n])))

    before, mock.kernel = mock.n_alloc, ctypes.cast(kernel, ctypes.c_void_p)
    try:
        ct.launch(None, (1,), both, arguments)
    finally:
        mock.kernel = None
    return found[0], found[1], mock.n_alloc - before


def words(matrix: Matrix) -> list[int]:
    about = matrix.__cuda_array_interface__
    rows, columns = about["shape"]  # type: ignore[misc]
    return [about["data"][0], rows, columns, columns, 1]  # type: ignore[index]


def test_short_tables_are_parameters(mock: MockState) -> None:
    a, b = ([Matrix(0x10000 * (10 * k + i + 1), 4 + i, 16) for i in range(3)] for k in range(2))
    given, table, _ = seen(mock, 9, a, b, Matrix(0x900000, 64, 16))
    assert (given[0], given[2]) == (0, 15 * 8)  # their places, one behind the other
    assert [w & 0xFFFFFFFF for w in (given[1], given[3])] == [3, 3]
    assert table[:30] == sum(map(words, a + b), []) and not any(table[30:])


def test_what_does_not_fit_is_copied(mock: MockState) -> None:
    a, b = ([Matrix(0x10000 * (100 * k + i + 1), 4, 16) for i in range(13)] for k in range(2))
    given, table, _ = seen(mock, 9, a, b, Matrix(0x900000, 64, 16))
    assert given[2] - given[0] == 13 * 5 * 8 and given[0] >= 4096
    assert not any(table)


def test_code_for_others_has_no_room_for_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is exported, or only looked at, takes addresses alone."""
    codes: list[bytes] = []
    monkeypatch.setattr(_report, "_assemble", lambda code, target: codes.append(code))
    a = [np.zeros((4, 16), np.float32)]
    both.report(a, a, np.zeros((4, 16), np.float32), grid=(1,), target="sm_90")
    assert len(codes) == 1 and b".entry both" in codes[0] and b"tables" not in codes[0]
