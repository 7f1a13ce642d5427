# SPDX-License-Identifier: Apache-2.0
"""Types and signatures of an installed numba, in signatures and in kernels."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tessera import cuda
from tessera.cuda import types
from tessera.cuda._of_numba import own

numba = pytest.importorskip("numba")
RECORD = np.dtype([("x", "i4"), ("y", "f8")], align=True)


def pairs() -> list[Any]:
    n = numba.types
    return [
        (n.float64, types.float64), (n.boolean, types.boolean), (n.void, types.none), (n.uint16, types.uint16),
        (n.complex64, types.complex64), (n.float32[:, ::1], types.float32[:, ::1]),
        (n.int8[::1, :], types.int8[::1, :]),
        (n.UniTuple(n.int64, 2), types.UniTuple(types.int64, 2)),
        (n.Tuple((n.int64, n.float32)), types.Tuple((types.int64, types.float32))),
        (n.Optional(n.int32), types.Optional(types.int32)), (numba.from_dtype(RECORD), cuda.from_dtype(RECORD)),
        (numba.from_dtype(RECORD)[:], cuda.from_dtype(RECORD)[:]), (n.CharSeq(3), types.CharSeq(3)),
        ((n.int8, [n.float32]), (types.int8, [types.float32])), ("as it is", "as it is"),
    ]  # fmt: skip


@pytest.mark.parametrize("i", range(15))
def test_types_have_ones_of_ours(i: int) -> None:
    found, wanted = pairs()[i]
    assert own(found) == wanted


def test_types_that_kernels_have_not_are_named() -> None:
    with pytest.raises(TypeError, match="no type that is numba's unicode_type"):
        own(numba.types.unicode_type)


def test_signatures_and_names_in_kernels() -> None:
    float32, record = numba.float32, numba.from_dtype(RECORD)

    @cuda.jit(numba.void(numba.float64[:], numba.int32))
    def kernel(a: Any, n: Any) -> None:
        i = cuda.grid(1)
        shared = cuda.shared.array(32, float32)
        local = cuda.local.array(1, record)
        shared[i] = float32(i) / n
        local[0].y = shared[i]
        if i < a.size:
            a[i] = local[0].y

    a = np.zeros(5)
    kernel[1, 32](a, 3)
    np.testing.assert_array_equal(a, np.float32(np.arange(5, dtype="f4") / 3))
    assert kernel.signatures == [(types.float64[:], types.int32)]

    @cuda.vectorize([numba.float64(numba.float64, numba.float64)])
    def add(x: Any, y: Any) -> Any:
        return x + y

    np.testing.assert_array_equal(add(np.arange(3.0), 1.0), np.arange(3.0) + 1)
