# SPDX-License-Identifier: Apache-2.0
"""Forks and the end of a process, also of one that is interrupted, while fast code is made (src/run/tier.c)."""

import os
import signal
import subprocess
import sys

import pytest

COMMON = """
import atexit, os, signal, sys

def scan(step):
    x, out = np.arange(999, dtype=np.int32), np.zeros(999, np.int32)
    compute.inclusive_scan(d_in=x, d_out=out, op=lambda a, b: a + b + step, num_items=999)
    return (out == np.cumsum(x) + step * np.arange(999)).all()

atexit.register(lambda: scan(77) or os._exit(3))  # after the handler of tessera.compute: with no code to come
import numpy as np
from tessera import compute
"""
CASES = {
    "fork": """
assert scan(1)
child = os.fork()
if child == 0:
    os._exit(0 if scan(1) and scan(2) else 5)
assert scan(3) and os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
""",
    "interrupt": """
scan(1)
os.kill(os.getpid(), signal.SIGINT)
scan(2)
""",
}


@pytest.mark.parametrize("name", CASES)
def test_processes_end_well_while_code_is_made(name, tmp_path):
    script = tmp_path / "ends.py"
    script.write_text(COMMON + CASES[name])
    env = os.environ | {"TESSERA_TIERS": "1", "TESSERA_CACHE_DIR": str(tmp_path / "cache")}
    done = subprocess.run([sys.executable, script], env=env, capture_output=True, text=True, check=False)
    interrupted = name == "interrupt" and "KeyboardInterrupt" in done.stderr
    assert done.returncode == (-signal.SIGINT if interrupted else 0), done.stderr
