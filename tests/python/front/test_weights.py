# SPDX-License-Identifier: Apache-2.0
"""Rows beside vectors of weights on the GPU, without one: rows that do not begin at multiples of 16 bytes live in other
places than the weights would, which are loaded there at once (src/gpu/plan/assign_vector.c)."""

import io

import numpy as np
import pytest
from lower import Const, run

import tessera.tile as ct


def scaled(x, w, b, y, N: ct.Constant[int]):
    row = ct.bid(0)
    for j in range(ct.cdiv(x.shape[1], N)):
        t = ct.load(x, index=(row, j), shape=(1, N), padding_mode=ct.PaddingMode.ZERO)
        weights = ct.load(w, index=(j,), shape=(N,), padding_mode=ct.PaddingMode.ZERO)
        bias = ct.load(b, index=(j,), shape=(N,), padding_mode=ct.PaddingMode.ZERO)
        ct.store(y, index=(row, j), tile=t * weights + 2 * bias)


def arrays(columns: int, dtype: str, rows: int = 3):
    rng = np.random.default_rng(columns)
    x, (w, b) = rng.integers(-8, 8, (rows, columns)).astype(dtype), rng.integers(-8, 8, (2, columns)).astype(dtype)
    return x, w, b, np.zeros_like(x)


@pytest.mark.parametrize("target", [80, 90])
@pytest.mark.parametrize("dtype", ["float32", "float16", "int8"])
@pytest.mark.parametrize("columns", [250, 256, 513])
def test_rows_and_weights(columns, dtype, target):
    for n in (64, 256, 1024):
        x, w, b, y = arrays(columns, dtype)
        run(scaled, x, w, b, y, Const(n), grid=(3, 1, 1), target=target, facts=True, schedule=n % 3)
        assert (y == x * w + 2 * b).all(), n


def biased(x, w, y, M: ct.Constant[int], N: ct.Constant[int]):
    for j in range(ct.cdiv(x.shape[1], N)):
        t = ct.load(x, index=(ct.bid(0), j), shape=(M, N), padding_mode=ct.PaddingMode.ZERO)
        ct.store(y, index=(ct.bid(0), j), tile=t + ct.load(w, index=(j,), shape=(N,), padding_mode=ct.PaddingMode.ZERO))


@pytest.mark.parametrize("dtype", ["float32", "float16", "int8"])
@pytest.mark.parametrize("columns", [250, 512])
def test_rows_that_share_a_bias(columns, dtype):
    x, w, _, y = arrays(columns, dtype, 40)
    for m, n in ((16, 64), (4, 256), (32, 128)):
        run(biased, x, w, y, Const(m), Const(n), grid=(-(-40 // m), 1, 1), target=90, facts=True, schedule=m % 3)
        assert (y == x + w).all(), (m, n)


@pytest.mark.parametrize(
    ("function", "columns", "dtype", "tile"),
    [(scaled, 250, "float32", (1024,)), (scaled, 4000, "float32", (1024,)), (biased, 4096, "float16", (16, 128))],
)
def test_weights_do_not_move_through_shared_memory(function, columns, dtype, tile):
    kernel = ct.kernel(function)
    convention = ct.compilation.CallingConvention.cutile_python_v2()
    x, w, b, y = arrays(columns, dtype)
    args = (x, w, *((b,) if function is scaled else ()), y, *tile)
    signature = ct.compilation.KernelSignature.from_kernel_args(kernel, args, convention)
    file = io.BytesIO()
    (made,) = ct.compilation.export_kernel(kernel, [signature], file, gpu_code="sm_90", output_format="ptx")
    assert made.shared_bytes == 0 and b"bar.sync" not in file.getvalue()
