# SPDX-License-Identifier: Apache-2.0
"""Every row of src/table/math.def as a user has it: the evaluator of tiles, the threads of a GPU and the code for this
processor give the same bits. How near they are to the true value: tests/math/ulp.c."""

import re

import numpy as np
import pytest
import tessera.tile as ct
from lower import ROOT, run

ROWS = re.findall(
    r"^TS_MATH\((\w+), (\w+)", (ROOT / "src/table/math.def").read_text(), re.MULTILINE
)
SPECIAL = [0.0, -0.0, 1, -1, 0.5, -0.5, 2, 3, 10, 1e-3, 1e-30, 1e30, 1e-40, np.inf, -np.inf, np.nan]
N = 256


def kernel_of(name, kind):
    function = getattr(ct, name)
    if kind in ("X", "XB"):

        def one(x, y, out):
            ct.store(out, 0, ct.astype(function(ct.load(x, 0, N)), out.dtype))

        return one

    def two(x, y, out):
        ct.store(out, 0, function(ct.load(x, 0, N), ct.load(y, 0, N)))

    return two


def operands(kind, dtype):
    rng = np.random.default_rng(5)
    with np.errstate(over="ignore"):
        x = np.concatenate([rng.uniform(-4, 4, N // 2), np.array(SPECIAL * (N // 32))]).astype(
            dtype
        )
        y = rng.permutation(x)
    return x, rng.integers(-50, 50, N).astype(np.int32) if kind == "XN" else y


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
@pytest.mark.parametrize(("name", "kind"), ROWS)
def test_evaluator_gpu_threads_and_cpu_give_the_same_bits(name, kind, dtype):
    kernel = kernel_of(name, kind)
    x, y = operands(kind, dtype)
    out = [np.zeros(N, dtype) for _ in range(3)]
    run(kernel, x, y, out[0])
    run(kernel, x, y, out[1], target=90)
    ct.launch(None, (1,), ct.kernel(kernel), (x, y, out[2]))
    for other in out[1:]:
        np.testing.assert_array_equal(np.isnan(out[0]), np.isnan(other))
        whole = ~np.isnan(other)
        np.testing.assert_array_equal(
            out[0][whole].view(f"i{other.itemsize}"), other[whole].view(f"i{other.itemsize}")
        )


def test_integers_become_float32_and_exponents_must_be_integers():
    def kernel(x, out):
        tile = ct.load(x, 0, 16)
        ct.store(out, 0, ct.copysign(ct.ldexp(tile, 3), -1))

    x, out = np.arange(16, dtype=np.int32), np.zeros(16, np.float32)
    run(kernel, x, out)
    np.testing.assert_array_equal(out, -8.0 * x)

    def wrong(x, out):
        ct.store(out, 0, ct.ldexp(ct.load(x, 0, 16), 0.5))

    with pytest.raises(Exception, match="an integer or a tile of integers"):
        run(wrong, out, out)
