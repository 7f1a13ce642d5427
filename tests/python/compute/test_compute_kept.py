# SPDX-License-Identifier: Apache-2.0
"""What is kept from call to call: kernels for operators, and temporary memory."""

import subprocess
import sys

import numpy as np
import pytest

from tessera import compute
from tessera.compute import _engine

X = np.arange(3000) % 7


def scan(op=lambda a, b: a + b):
    out = np.zeros_like(X)
    compute.exclusive_scan(d_in=X, d_out=out, op=op, init_value=np.int64(0), num_items=len(X))
    return out


def sums():
    return np.cumsum(X) - X


def twice(x):
    return 2 * x


def after(x):
    return x + 1


def composed(f, g, h):
    return lambda x: f(g(h(x)))


def test_operators_that_name_a_function_again():
    """Which one is named a second time is part of the key of the kernel."""
    for inner in (twice, after):
        out = np.zeros_like(X)
        op = composed(twice, after, inner)
        compute.unary_transform(d_in=X, d_out=out, op=op, num_items=len(X))
        assert np.array_equal(out, op(X)), inner


LOST = """
import numpy as np
from tessera import _core, compute
for _ in range(2):
    out = np.zeros(9000, np.int64)
    compute.inclusive_scan(d_in=np.ones(9000, np.int64), d_out=out, op=compute.OpKind.PLUS, num_items=9000)
    assert np.array_equal(out, np.arange(1, 9001))
    _core.reset("cpu")
"""


def test_memory_that_was_lost():
    """In a process of its own: the arrays of other tests would be lost, too."""
    done = subprocess.run([sys.executable, "-c", LOST], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_memory_of_a_kernel_that_failed(monkeypatch):
    """Its counters may not be zero, so the next call takes others."""

    def fails(stream):
        raise RuntimeError("as a launch that fails")

    compute.clear_all_caches()
    scan()
    assert _engine._kept
    with monkeypatch.context() as patch, pytest.raises(RuntimeError, match="as a launch"):
        patch.setattr("tessera.cuda._dispatcher._wait", fails)
        scan()
    assert not _engine._kept
    assert np.array_equal(scan(), sums())


def test_watched_scans(monkeypatch):
    """Nothing reads what nobody wrote, nor races, where threads are watched."""
    monkeypatch.setenv("TESSERA_CHECKED", "races")
    compute.clear_all_caches()
    try:
        assert np.array_equal(scan(lambda a, b: b + a), sums())
    finally:
        compute.clear_all_caches()
