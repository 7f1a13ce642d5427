# SPDX-License-Identifier: Apache-2.0
"""Eight threads on the same things at once: one kernel before its first launch, one list of arrays that another thread
changes, functions of tessera.lib, one directory of compiled code, streams, events and buffers that others close. Each
case is a process of its own; where Python can do without its lock (3.13t), it runs without."""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys

import pytest

COMMON = """
import gc, random, sys, threading
import numpy as np, tessera, tessera.tile as ct
from tessera import core

if "t" in sys.abiflags:  # a Python that can do without its lock: importing tessera must not turn it on
    assert not sys._is_gil_enabled()
sys.setswitchinterval(1e-5)
THREADS, bad = 8, []

def at_once(work):
    gate = threading.Barrier(THREADS)
    def run(seed):
        try:
            gate.wait()
            work(seed, random.Random(seed))
        except BaseException as e:
            bad.append(repr(e))
    threads = [threading.Thread(target=run, args=(seed,)) for seed in range(THREADS)]
    [t.start() for t in threads], [t.join() for t in threads]
    assert not bad, bad[:3]

def scale(x, out, n: ct.Constant):
    ct.store(out, (ct.bid(0),), ct.load(x, (ct.bid(0),), (64,)) * n)

def total(arrays, out):
    sums = ct.zeros((64,), ct.float32)
    for i in range(len(arrays)):
        sums = sums + ct.load(arrays[i], (0,), (64,))
    ct.store(out, (0,), sums)

x = np.arange(256, dtype=np.float32)
"""

CASES = {
    "one kernel, prepared and specialised by all": """
for round in range(6):
    kernel = ct.kernel(scale)
    def work(seed, r):
        for i in range(20):
            n, out = (seed + i) % 10 + 2, np.zeros_like(x)
            ct.launch(None, (4,), kernel, (x, out, n))
            assert (out == x * n).all()
    at_once(work)
    assert kernel._stats()["specialised"] == 10, kernel._stats()
""",
    "one list of arrays, which one thread changes": """
kernel = ct.kernel(total)
ones = [np.full(64, 2.0 ** i, np.float32) for i in range(4)]
arrays = list(ones)
def work(seed, r):
    out = np.zeros(64, np.float32)
    for i in range(60):
        if seed == 0:
            arrays[:] = ones[: 1 + i % 4]
        ct.launch(None, [1], kernel, [arrays, out])
        assert (out == out[0]).all() and out[0] in (1, 3, 7, 15), out[:3]
at_once(work)
""",
    "kernels whose expressions launch each other": """
def one_more(kernel, n):  # a number that launches of the kernels, each compiled inside the other, count
    out = np.full(1, -1, np.int32)
    if n:
        ct.launch(None, (1,), kernels[kernel], (out, n - 1))
    return int(out[0]) + 1

def first(out, n: ct.Constant):
    ct.scatter(out, 0, ct.static_eval(one_more(1, n)))

def second(out, n: ct.Constant):
    ct.scatter(out, 0, ct.static_eval(one_more(0, n)))

def alone(out, n: ct.Constant):
    ct.scatter(out, 0, ct.static_eval(one_more(2, n)))

for round in range(8):
    kernels = [ct.kernel(first), ct.kernel(second), ct.kernel(alone)]
    def work(seed, r):
        out = np.full(1, -1, np.int32)
        ct.launch(None, (1,), kernels[seed % 3], (out, 5))
        assert out[0] == 5, out
    at_once(work)
    assert [k._stats()["specialised"] for k in kernels] == [6, 6, 6], [k._stats() for k in kernels]
""",
    "functions of the library": """
from tessera.lib.gemm import gemm
from tessera.lib.softmax import softmax
def work(seed, r):
    for i in range(6):
        rows = 2 + (seed + i) % 3
        a = np.random.default_rng(seed).standard_normal((rows, 70)).astype(np.float32)
        b, out, product = a.T.copy(), np.zeros_like(a), np.zeros((rows, rows), np.float32)
        wide = a.astype(np.float64)
        e = np.exp(wide - wide.max(axis=1, keepdims=True))
        softmax(a, out)
        np.testing.assert_allclose(out, e / e.sum(axis=1, keepdims=True), rtol=2e-5, atol=1e-7)
        gemm(a, b, product)
        np.testing.assert_allclose(product, wide @ wide.T, rtol=1e-3, atol=1e-3)
at_once(work)
""",
    "one directory of compiled code": """
def work(seed, r):
    for i in range(12):
        kernel, out = ct.kernel(scale), np.zeros_like(x)
        ct.launch(None, (4,), kernel, (x, out, i + 2))
        assert (out == x * (i + 2)).all()
at_once(work)
""",
    "streams and events that others close": """
kernel = ct.kernel(scale)
shared = {"stream": tessera.Stream(), "event": tessera.Event()}
def work(seed, r):
    out = np.zeros_like(x)
    for i in range(60):
        stream, event = shared["stream"], shared["event"]
        try:
            if r.random() < 0.2:
                shared["stream"], shared["event"] = tessera.Stream(), tessera.Event()
                stream.close(), event.close()
            ct.launch(stream, (4,), kernel, (x, out, 3))
            event.record(stream)
            event.sync(), stream.sync()
            stream.done, event.done, stream.handle
            stream.wait(event)
            assert (out == x * 3).all()
        except RuntimeError as e:
            assert "closed" in str(e), e
at_once(work)
gc.collect()
""",
    "buffers that are lent, copied and closed": """
shared = [core.Device("cpu").allocate(256)]
def work(seed, r):
    own = core.Device("cpu").allocate(256)
    own.fill(seed)
    for i in range(80):
        buffer = shared[0]
        try:
            if r.random() < 0.1:
                shared[0] = core.Device("cpu").allocate(256)
                buffer.close()
            view = memoryview(buffer)
            assert view.nbytes == 256
            buffer.copy_to(own), buffer.fill(7)
            buffer.memory_resource, buffer.handle, buffer.size
            np.from_dlpack(buffer)
        except RuntimeError as e:
            assert "closed" in str(e), e
        buffer = view = None
at_once(work)
gc.collect()
""",
    "arrays, views and exports": """
shared = tessera.array(x)
def work(seed, r):
    for i in range(60):
        view = shared[seed: 64 + seed]
        lent = np.from_dlpack(view)
        assert lent[0] == seed and view.copy().shape == (64,)
        again = tessera.from_dlpack(lent.copy())
        other = tessera.zeros((8, 8), "float32")
        assert np.asarray(other.reshape(64).T).sum() == 0
        if r.random() < 0.3:
            other.free()
        del lent, view
at_once(work)
""",
}


@pytest.mark.parametrize("name", CASES)
def test_threads_at_once(name: str, tmp_path: pathlib.Path) -> None:
    program = tmp_path / "program.py"  # kernels need a source
    program.write_text(COMMON + CASES[name], encoding="utf-8")
    env = {**os.environ, "TESSERA_CACHE_DIR": str(tmp_path / "cache"), "PYTHONFAULTHANDLER": "1"}
    done = subprocess.run(
        [sys.executable, str(program)],
        env=env,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
