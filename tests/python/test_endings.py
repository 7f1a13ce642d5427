# SPDX-License-Identifier: Apache-2.0
"""Processes under stress: threads that launch and compile, arrays freed in flight, fork, exit with work in
flight, signals, little memory. Each runs in a process of its own, which must end well."""

import os
import subprocess
import sys

import pytest

COMMON = """
import gc, os, random, resource, signal, sys, threading, time
import linecache
import numpy as np, tessera, tessera.tile as ct

def make(i):
    lines = ["def k(a, o, n):", "    t = ct.load(a, ct.bid(0), 64)", "    for j in range(n):",
             f"        t = t * 3 + {i}", "    ct.store(o, ct.bid(0), t)", ""]
    text = chr(10).join(lines)
    linecache.cache[f"<k{i}>"] = (len(text), None, text.splitlines(True), f"<k{i}>")
    space = {"ct": ct}
    exec(compile(text, f"<k{i}>", "exec"), space)
    return ct.kernel(space["k"])

def want(a, n, i):
    for _ in range(n):
        a = a * np.int32(3) + np.int32(i)
    return a

a = np.arange(3200, dtype=np.int32)
o = np.zeros_like(a)
"""
CASES = {
    "threads": """
kernels, bad = [make(i) for i in range(4)], []
def work(seed):
    r = random.Random(seed)
    for _ in range(12):
        i = r.randrange(4) if r.random() < 0.8 else r.randrange(4, 12)
        out, n = np.zeros_like(a), r.randrange(5)
        stream = r.choice([None, tessera.Stream()])
        ct.launch(stream, (50,), kernels[i] if i < 4 else make(i), (a, out, n))
        if not (out == want(a, n, i)).all():
            bad.append((seed, i, n))
        if r.random() < 0.1:
            gc.collect()
threads = [threading.Thread(target=work, args=(seed,)) for seed in range(16)]
[t.start() for t in threads], [t.join() for t in threads]
assert not bad, bad
""",
    "freed in flight": """
k, streams = make(1), [tessera.Stream() for _ in range(4)]
shared = tessera.zeros(2560, "int32")
def work(seed):
    r = random.Random(seed)
    for _ in range(60):
        x, y = tessera.zeros(2560, "int32"), tessera.zeros(2560, "int32")
        try:
            ct.launch(r.choice(streams), (40,), k, (r.choice([x, shared]), y, 100))
            (x if r.random() < 0.5 else y).free()
        except BufferError:
            pass
threads = [threading.Thread(target=work, args=(seed,)) for seed in range(6)]
[t.start() for t in threads]
shared.free()
[t.join() for t in threads]
tessera.synchronize()
""",
    "fork": """
k = make(2)
ct.launch(None, (50,), k, (a, o, 3))
ct.launch(tessera.Stream(), (50,), k, (tessera.zeros(3200, "int32"), tessera.zeros(3200, "int32"), 2000))
children = []
for _ in range(3):
    child = os.fork()
    if child == 0:
        ct.launch(None, (50,), k, (a, o, 3))
        good = (o == want(a, 3, 2)).all()
        ct.launch(tessera.Stream(), (50,), make(77), (a, o, 3))
        tessera.synchronize()
        os._exit(0 if good and (o == want(a, 3, 77)).all() else 5)
    children.append(child)
assert [os.waitstatus_to_exitcode(os.waitpid(c, 0)[1]) for c in children] == [0] * 3
""",
    "exit with work in flight": """
k, stream = make(3), tessera.Stream()
for _ in range(20):
    ct.launch(stream, (200,), k, (tessera.zeros(12800, "int32"), tessera.zeros(12800, "int32"), 3000))
def work():
    while True:
        ct.launch(None, (50,), k, (np.zeros(3200, np.int32), np.zeros(3200, np.int32), 200))
for _ in range(4):
    threading.Thread(target=work, daemon=True).start()
time.sleep(0.1)
sys.exit(0)
""",
    "signals": """
k, hits, armed = make(4), 0, False
def hit(*_):
    global hits, armed
    hits += 1
    if armed and hits % 7 == 0:
        armed = False  # until the round that was left begins anew
        raise TimeoutError
signal.signal(signal.SIGALRM, hit)
signal.setitimer(signal.ITIMER_REAL, 0.003, 0.003)
end, number = time.time() + 1, 100
while time.time() < end:
    try:
        armed = True
        ct.launch(None, (50,), k, (a, np.zeros_like(a), 300))
        number += 1
        ct.launch(None, (50,), make(number), (a, np.zeros_like(a), 2))
        stream = tessera.Stream()  # a signal while the last one ends
        ct.launch(stream, (50,), k, (tessera.zeros(3200, "int32"), tessera.zeros(3200, "int32"), 3000))
        armed = False
    except TimeoutError:
        pass
signal.setitimer(signal.ITIMER_REAL, 0)
ct.launch(None, (50,), k, (a, o, 2))
assert (o == want(a, 2, 4)).all()
""",
    "little memory": """
k, errors, kept = make(5), 0, []
ct.launch(None, (50,), k, (a, o, 2))
free = (resource.RLIM_INFINITY,) * 2
for i, more in enumerate([0, 1, 4, 16, 64] * 3):
    pages = int(open("/proc/self/statm").read().split()[0])
    resource.setrlimit(resource.RLIMIT_AS, (pages * 4096 + more * 2**20, resource.RLIM_INFINITY))
    try:
        ct.launch(None, (50,), make(1000 + i), (a, o, 2))
        kept.append(tessera.zeros(10**6, "int32"))
        assert (o == want(a, 2, 1000 + i)).all()
    except MemoryError:
        errors += 1
    resource.setrlimit(resource.RLIMIT_AS, free)
assert errors >= 3, errors
ct.launch(None, (50,), make(2000), (a, o, 2))
assert (o == want(a, 2, 2000)).all()
""",
}


@pytest.mark.parametrize("case", CASES)
def test_a_process_ends_well(case):
    env = {**os.environ, "TESSERA_CACHE_DIR": "off"}
    done = subprocess.run(
        [sys.executable, "-c", COMMON + CASES[case]],
        env=env,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]


# ---- what failed and nothing waited for -------------------------------------------------------------------------

FAILS = """
import sys, time, tessera, tessera.tile as ct

@ct.kernel
def positive(x):
    ct.assert_(ct.load(x, 0, ()) > 0, "not positive")

x, stream = tessera.zeros(1, "float32"), tessera.Stream()
ct.launch(stream, (1,), positive, (x,))
"""
TELLS = "tessera: a kernel failed, and nothing waited for it: kernel 'positive'"
WAYS = {
    "in flight": ("", True),
    "ended": ("time.sleep(0.3)", True),
    "exits": ("sys.exit(0)", True),
    "stream dropped": ("del stream", True),
    "waited for": ("try: tessera.synchronize()\nexcept tessera.KernelError: pass", False),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("command", [[], ["-m", "tessera", "run"]], ids=["python", "tessera run"])
def test_a_failure_that_nothing_waited_for_is_told_at_the_end(way, command, tmp_path):
    more, tells = WAYS[way]
    script = tmp_path / "script.py"
    script.write_text(FAILS + more)
    done = subprocess.run([sys.executable, *command, str(script)], capture_output=True, text=True, check=False)
    assert done.stderr.count(TELLS) == tells, done.stderr
    assert ("not positive" in done.stderr) == tells
    assert done.returncode == (1 if tells and command else 0)


def test_the_exit_code_of_a_script_stays(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(FAILS + "sys.exit(7)")
    done = subprocess.run([sys.executable, "-m", "tessera", "run", str(script)], capture_output=True, text=True)
    assert done.returncode == 7 and TELLS in done.stderr
