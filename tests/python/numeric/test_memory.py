# SPDX-License-Identifier: Apache-2.0
"""Loops of statements leave no memory behind, and chains of large arrays need no more of it than NumPy's."""

from __future__ import annotations

import gc
import os
import pathlib
import subprocess
import sys

import pytest
import tessera.numeric as tn
from tessera import _core

STATM = pathlib.Path("/proc/self/statm")
pytestmark = pytest.mark.skipif(not STATM.exists(), reason="what a process holds is read from /proc")


def resident():
    return int(STATM.read_text().split()[1]) * 4096


def grows_by(statement, n):
    for _ in range(1000):
        statement()
    gc.collect()
    before = resident()
    for _ in range(n):
        statement()
    _core.numeric_flush()
    return resident() - before


def test_statements_in_a_loop_leave_nothing():
    a, z = tn.ones((10, 10), "f4"), tn.ones(2000, "f4")
    held = [z]

    def waiting():
        held[0] = held[0] * 1.0000001

    for statement in (lambda: (a * 2 + 1) - a, lambda: a.__iadd__(1), lambda: a[1:, 0].sum(), lambda: a[a > 0],
                      lambda: float(a[0, 0]), lambda: z.copy(), waiting):  # fmt: skip
        assert grows_by(statement, 10_000) < 1 << 20


def test_a_long_chain_holds_few_arrays():
    n = 1 << 20
    x = tn.ones(n, "f4")

    def chain():
        y = x * 2
        for _ in range(40):
            y = y * 0.5 - x * 0.25 + x
        return float(y[0])

    assert chain() == chain() == 1.5  # kernels, and what a step allocates, are there from now on
    before = resident()
    chain()
    assert resident() - before < 3 * 4 * n


def test_objects_that_are_kept_end_as_their_class_wants():
    """Python's own checks of memory find nothing when the interpreter ends."""
    program = "import tessera.numeric as tn; a = [tn.ones(3) + 1 for _ in range(9)]; del a"
    env = {**os.environ, "PYTHONMALLOC": "malloc_debug"}
    done = subprocess.run([sys.executable, "-c", program], env=env, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr[-600:]
