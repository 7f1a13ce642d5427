# SPDX-License-Identifier: Apache-2.0
"""Every algorithm on a GPU: what cannot be done is refused before anything is launched."""

from __future__ import annotations

import numpy as np
import pytest
from compute_calls import NUMBERS, calls
from long_form import LONG

from tessera import compute, cuda
from tests.python.mock_driver import MockState

NAMES = tuple(calls(np.array))


@pytest.mark.parametrize("name", NAMES)
def test_every_algorithm(mock: MockState, name: str) -> None:
    function, given = getattr(compute, name), calls(cuda.to_device)[name]
    before = mock.n_launches
    for number in NUMBERS:
        if number in given:
            with pytest.raises(ValueError, match="21"):
                function(**{**given, number: 21})
    with pytest.raises(TypeError, match="__cuda_stream__"):
        function(**given, stream=5)
    assert mock.n_launches == before
    if LONG:
        function(**given)
        assert mock.n_launches > before


class Odd:
    """An array of a GPU at an odd address."""

    def __init__(self, n: int, dtype: type) -> None:
        self.memory, self.shape, self.dtype = cuda.device_array(n * 8 + 1, np.uint8), (n,), np.dtype(dtype)
        interface = dict(self.memory.__cuda_array_interface__)
        address = interface["data"][0] + 1, False
        self.__cuda_array_interface__ = {**interface, "data": address, "shape": (n,), "typestr": self.dtype.str}


def test_arrays_that_are_not_aligned_are_named(mock: MockState) -> None:
    x, out = Odd(99, np.float32), cuda.device_array(99, np.float32)
    before = mock.n_launches
    with pytest.raises(ValueError, match="d_in: the array at .* is not aligned to its items, of float32"):
        compute.inclusive_scan(d_in=x, d_out=out, op=compute.OpKind.PLUS, num_items=99)
    with pytest.raises(ValueError, match="d_out_keys: the array at .* is not aligned"):
        compute.radix_sort(d_in_keys=out, d_out_keys=x, num_items=99)
    assert mock.n_launches == before
    compute.inclusive_scan(d_in=Odd(99, np.uint8), d_out=out, op=compute.OpKind.PLUS, num_items=99)
    assert mock.n_launches > before


def test_stand_ins_for_arrays_lie_nowhere(mock: MockState) -> None:
    stand_in = compute.ProxyArray(np.int32)
    reducer = compute.make_reduce_into(
        d_in=stand_in, d_out=stand_in, op=compute.OpKind.PLUS, h_init=compute.ProxyValue(np.int32)
    )
    x, out, before = cuda.device_array(9, np.int32), cuda.device_array(1, np.int32), mock.n_launches
    given = {"d_in": x, "d_out": out, "op": compute.OpKind.PLUS, "num_items": 9, "h_init": np.int32(0)}
    memory = cuda.device_array(max(reducer(temp_storage=None, **given), 1), np.uint8)
    reducer(temp_storage=memory, **given)
    assert mock.n_launches > before
    with pytest.raises(RuntimeError, match="a ProxyArray has no data"):
        compute.reduce_into(d_in=stand_in, d_out=out, op=compute.OpKind.PLUS, num_items=1, h_init=np.int32(0))
