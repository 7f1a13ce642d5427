# SPDX-License-Identifier: Apache-2.0
"""Arrays of records and records as arguments of launches on a GPU: what the driver is given."""

from __future__ import annotations

import warnings
from typing import Any

import numpy
import pytest
from tessera import cuda

from tests.python.mock_driver import MockState

RECORD = numpy.dtype([("x", "i4"), ("y", "f8")], align=True)


@cuda.jit
def of_array(a):
    a[cuda.grid(1)].y = 1


@cuda.jit
def of_record(r):
    r.y = r.x


def test_device_arrays_and_their_records_are_passed_as_they_are(mock: MockState) -> None:
    mock.n_values = 3
    a = cuda.device_array(100, RECORD)
    allocated = mock.n_alloc
    of_array[128, 32](a)
    assert mock.n_alloc == allocated and mock.values[0] == a._address and mock.values[1] == 100
    assert mock.values[2] == 16  # strides count bytes
    of_array[128, 32](a[10::2])
    assert mock.values[0] == a._address + 160 and mock.values[1] == 45 and mock.values[2] == 32
    mock.n_values = 1
    of_record[128, 32](a[3])
    assert mock.values[0] == a._address + 48


@pytest.mark.parametrize("hint", [lambda a: a, cuda.In, cuda.Out, cuda.InOut])
def test_host_records_are_copied_in_and_out(mock: MockState, hint: Any) -> None:
    a = numpy.array([(1, 2.5), (3, 4.5)], RECORD)
    mock.n_values = 1
    for kernel, value in ((of_array, a), (of_record, a[1]), (of_record, a[1].copy())):
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always")
            kernel[128, 32](hint(value))
        assert bool(found) == (hint(a) is a)
        assert mock.values[0] not in (0, value.__array_interface__["data"][0])
        assert a.tolist() == [(1, 2.5), (3, 4.5)]  # the mock computes nothing


def test_numbers_at_odd_bytes_are_copied(mock: MockState) -> None:
    packed = numpy.zeros(4, [("p", "u1"), ("y", "f8")])

    @cuda.jit
    def kernel(a: Any) -> None:
        a[0] = 1

    mock.n_values = 1
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        kernel[128, 32](packed["y"])
    kernel[128, 32](cuda.to_device(packed)["y"])
    assert mock.values[0] % 8 == 1
