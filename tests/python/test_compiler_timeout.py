# SPDX-License-Identifier: Apache-2.0
"""ct.compiler_timeout: a compilation beyond its time is an error, and the kernel can be compiled later."""

import numpy as np
import pytest
import tessera.tile as ct
from tessera import _core


def kernel():
    @ct.kernel
    def unrolled(x):
        total = ct.zeros((16,), x.dtype)
        for i in ct.static_iter(range(200)):
            total = total * 1.5 + ct.load(x, (i,), (16,))
        ct.store(x, (0,), total)

    return unrolled


def test_a_compilation_beyond_its_time_is_an_error():
    x, k = np.ones(16), kernel()
    message = "'unrolled' was not compiled within"
    with ct.compiler_timeout(1e-7), pytest.raises(ct.TileCompilerTimeoutError, match=message):
        ct.launch(None, (1,), k, (x,))
    assert _core.compile_limit(0) == 0 and (x == 1).all()
    with ct.compiler_timeout(1000):
        ct.launch(None, (1,), k, (x,))
    assert (x != 1).all()


def test_a_long_step_of_the_compiler_ends_in_time_too():
    @ct.kernel
    def sorts(x, N: ct.Constant[int]):
        ct.store(x, (0,), ct.sort(ct.load(x, (0,), (N,))))

    x = np.ones(1 << 16, np.float32)
    with ct.compiler_timeout(0.02), pytest.raises(ct.TileCompilerTimeoutError, match="within 0.02 s"):
        ct.launch(None, (1,), sorts, (x, x.size))


def test_limits_nest():
    with ct.compiler_timeout(50):
        with pytest.raises(ZeroDivisionError), ct.compiler_timeout(20):
            raise ZeroDivisionError
        assert _core.compile_limit(50) == pytest.approx(50)
    assert _core.compile_limit(0) == 0


@pytest.mark.parametrize(
    ("seconds", "kind"),
    [*((s, ValueError) for s in (0, -1, float("nan"))), *((s, TypeError) for s in ("5", None, True))],
)
def test_times_that_mean_nothing(seconds, kind):
    with pytest.raises(kind, match="compiler_timeout"), ct.compiler_timeout(seconds):
        pass
