# SPDX-License-Identifier: Apache-2.0
"""The kernels that draw streams, as they are made for a GPU: run thread by thread by the reference interpreter, and
taken by ptxas where it is installed."""

from __future__ import annotations

import shutil

import numpy as np
import pytest
import tessera
import tessera.numeric as tn
from lower import Const, run
from tessera.numeric.random import _parallel


def pcg64(n, dtype):
    bits = tn.random.PCG64(7)
    inner = bits.state["state"]
    state = np.array([[inner["state"] >> 64, inner["state"] & _parallel.WORD]], np.uint64)
    tables = [np.asarray(each) for each in _parallel._tables(inner["inc"], "cpu")]
    words = -(-n // (2 if dtype == "f4" else 1))
    blocks = -(-words // (_parallel.LANES * _parallel.TILES))
    constants = _parallel.LANES, _parallel.TILES, blocks.bit_length()
    return _parallel.pcg64_kernel, (np.empty(n, dtype), state, *tables), constants, blocks


def philox(n, dtype):
    inner = tn.random.Philox(7).state["state"]
    state = np.concatenate([np.asarray(inner["counter"]), np.asarray(inner["key"])])[None]
    state[0, 0] += 1
    words = -(-n // (2 if dtype == "f4" else 1))
    constants = (_parallel.COUNTERS,)
    return (
        _parallel.philox_kernel,
        (np.empty(n, dtype), state),
        constants,
        -(-words // (4 * _parallel.COUNTERS)),
    )


@pytest.mark.parametrize("made", [pcg64, philox])
@pytest.mark.parametrize("dtype", ["f8", "f4"])
def test_streams_run_as_thread_code(made, dtype):
    kernel, arrays, constants, blocks = made(20000 if made is pcg64 else 3000, dtype)
    run(kernel.__wrapped__, *arrays, *map(Const, constants), grid=(blocks, 1, 1), target=90)
    name = "PCG64" if made is pcg64 else "Philox"
    wanted = np.random.Generator(getattr(np.random, name)(7)).random(len(arrays[0]), dtype)
    np.testing.assert_array_equal(arrays[0], wanted)


@pytest.mark.skipif(not shutil.which("ptxas"), reason="ptxas is not installed")
@pytest.mark.parametrize("made", [pcg64, philox])
@pytest.mark.parametrize("target", ["sm_80", "sm_90", "sm_100", "sm_120"])
def test_streams_assemble_without_spills(made, target):
    kernel, arrays, constants, blocks = made(1 << 16, "f8")
    report = tessera.cost_report(kernel, (*arrays, *constants), (blocks,), target=target)
    assert "0 bytes spilled" in str(report)
