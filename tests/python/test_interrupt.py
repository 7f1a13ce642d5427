# SPDX-License-Identifier: Apache-2.0
"""Ctrl-C and other signals while kernels run on the CPU. Each case is a process: a failure would hang."""

import os
import pathlib
import subprocess
import sys

import pytest

SETUP = """
import os, signal, threading, time
signal.signal(signal.SIGINT, signal.default_int_handler)  # a parent may ignore it
import numpy as np
import tessera
import tessera.tile as ct

@ct.kernel
def endless(x, out):
    i = ct.bid(0)
    t = ct.load(x, index=(i,), shape=(16,))
    while True:
        t = t * 0.5
        if ct.sum(t) < -1.0:
            break
    ct.store(out, index=(i,), tile=t)

@ct.kernel
def slow(x, out, n):
    i = ct.bid(0)
    t = ct.load(x, index=(i,), shape=(16,))
    for k in range(n):
        t = ct.exp(t) * 0.3
    ct.store(out, index=(i,), tile=t)

@ct.kernel
def waits(x, out):
    while ct.gather(x, 0) == 0.0:
        pass
    ct.store(out, index=(ct.bid(0),), tile=ct.full((16,), 7.0, ct.float32))

@ct.kernel
def add(x, out):
    i = ct.bid(0)
    ct.store(out, index=(i,), tile=ct.load(x, index=(i,), shape=(16,)) + 1)

@ct.kernel
def large(x, N: ct.Constant[int]):
    t = ct.load(x, index=(0,), shape=(16,))
    for i in ct.static_iter(range(N)):
        for j in ct.static_iter(range(N)):
            t = ct.load(x, index=(i,), shape=(16,)) * t + j
            ct.store(x, index=(i,), tile=t)

x, out = np.zeros(16 * 4096, np.float32), np.zeros(16 * 4096, np.float32)

def press():
    threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT)).start()

def interrupted(run):
    press()
    try:
        run()
    except KeyboardInterrupt:
        ct.launch(None, (4096,), add, (x, out))
        assert (out == 1).all()
        return
    raise AssertionError("not interrupted")
"""

CASES = {
    "one block": "interrupted(lambda: ct.launch(None, (1,), endless, (x, out)))",
    "a loop without effect": """
def run():
    try:
        ct.launch(None, (1,), waits, (x, out))
    finally:
        assert (out == 0).all()
interrupted(run)
""",
    "a for in one block": "interrupted(lambda: ct.launch(None, (1,), slow, (x, out, 2**31 - 1)))",
    "all threads": "interrupted(lambda: ct.launch(None, (8,), endless, (x, out)))",
    "between blocks": "interrupted(lambda: ct.launch(None, (4096,), slow, (x, out, 10**6)))",
    "stream with host arrays": """
s = tessera.Stream("cpu")
interrupted(lambda: ct.launch(s, (8,), endless, (x, out)))
assert s.done
""",
    "stream": """
s = tessera.Stream("cpu")
a, b = tessera.asarray(x), tessera.asarray(out)
ct.launch(s, (8,), endless, (a, b))
ct.launch(s, (4096,), add, (a, b))
interrupted(s.synchronize)
assert float(np.asarray(b)[0]) == 0
ct.launch(s, (4096,), add, (a, b))
s.synchronize()
assert (np.asarray(b) == 1).all()
""",
    "device": """
s = tessera.Stream("cpu")
a, b = tessera.asarray(x), tessera.asarray(out)
ct.launch(s, (8,), endless, (a, b))
interrupted(tessera.synchronize)
""",
    "pool held by a stream": """
s = tessera.Stream("cpu")
a, b = tessera.asarray(x), tessera.asarray(out)
ct.launch(s, (8,), endless, (a, b))
press()
try:
    ct.launch(None, (4096,), add, (x, out))
except KeyboardInterrupt:
    pass
interrupted(s.synchronize)
""",
    "stream destroyed": """
s = tessera.Stream("cpu")
a, b = tessera.asarray(x), tessera.asarray(out)
ct.launch(s, (8,), endless, (a, b))
del s  # had it waited, nothing would end it
interrupted(lambda: tessera._core.synchronize("cpu"))
""",
    "an alarm that raises": """
class Late(Exception):
    pass
def late(*_):
    raise Late
signal.signal(signal.SIGALRM, late)
signal.setitimer(signal.ITIMER_REAL, 0.3)
try:
    ct.launch(None, (8,), endless, (x, out))
except Late:
    ct.launch(None, (4096,), add, (x, out))
    assert (out == 1).all()
else:
    raise AssertionError("not interrupted")
""",
    "a handler that returns, launches and forks": """
seen = []
def tick(*_):
    y = np.zeros(16 * 8, np.float32)
    ct.launch(None, (8,), add, (y, y))
    child = os.fork()
    if child == 0:
        os._exit(7)
    seen.append((float(y[0]), os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])))
signal.signal(signal.SIGALRM, tick)
n = 10
ct.launch(None, (64,), slow, (x, out, n))  # compiles, which may take longer than what is timed below
start = time.monotonic()
while time.monotonic() - start < 1:
    n *= 2
    start = time.monotonic()
    ct.launch(None, (64,), slow, (x, out, n))
expected = out[:16 * 64].copy()
signal.setitimer(signal.ITIMER_REAL, 0.2, 0.2)
ct.launch(None, (64,), slow, (x, out, n))
signal.setitimer(signal.ITIMER_REAL, 0)
assert (1.0, 7) in seen, seen
assert np.array_equal(out[:16 * 64], expected)
""",
    "compiling": """
def run():
    start = time.process_time()
    try:
        ct.launch(None, (1,), large, (x, 200))  # many seconds of work before the assembler begins
    finally:
        assert time.process_time() - start < 2, time.process_time() - start
interrupted(run)
interrupted(run)
ct.launch(None, (1,), large, (x, 1))
""",
    "a handler that launches the kernel that is compiled": """
seen = []
def tick(*_):
    y = np.zeros(16, np.float32)
    ct.launch(None, (1,), large, (y, 1))
    seen.append(y)
    if len(seen) == 3:
        raise KeyboardInterrupt
signal.signal(signal.SIGALRM, tick)
signal.setitimer(signal.ITIMER_REAL, 0.2, 0.2)
try:
    ct.launch(None, (1,), large, (x, 200))
except KeyboardInterrupt:
    signal.setitimer(signal.ITIMER_REAL, 0)
    assert len(seen) == 3
else:
    raise AssertionError("not interrupted")
""",
}


@pytest.mark.parametrize("threads", ["1", "2"])
@pytest.mark.parametrize("case", CASES)
def test_signals_reach_python_while_kernels_run(
    case: str, threads: str, tmp_path: pathlib.Path
) -> None:
    script = tmp_path / "script.py"
    script.write_text(SETUP + CASES[case])
    environment = {**os.environ, "TESSERA_NUM_THREADS": threads}
    done = subprocess.run(
        [sys.executable, str(script)],
        env=environment,
        timeout=60,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
