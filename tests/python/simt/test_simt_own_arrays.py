# SPDX-License-Identifier: Apache-2.0
"""Arrays of a thread in blocks of one thread: what LLVM is told of them, so that it can keep them in registers."""

import os
import re
import subprocess
import sys

import pytest

SCRIPT = """
import numpy as np
from tessera import cuda

@cuda.jit
def columns(x, out, n):
    s = cuda.local.array(64, np.float32)
    for t in range(64):
        s[t] = x[t]
    for row in range(1, 32):
        for t in range(64):
            s[t] += x[row * 64 + t]
    for t in range(64):
        out[t] = s[t]

@cuda.jit
def rows(x, out, n):
    for i in range(n):
        out[i] = x[i]
        for t in range(4):
            out[i] += x[t]

x = np.random.default_rng(0).random(32 * 64, np.float32)
out = np.zeros(64, np.float32)
columns[1, 1](x, out, 64)
total = x[:64].copy()
for row in x.reshape(32, 64)[1:]:
    total += row
assert (out == total).all()
rows[1, 1](x, out, 64)
"""


@pytest.fixture(scope="module")
def texts(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    path = tmp_path_factory.mktemp("own") / "script.py"
    path.write_text(SCRIPT)
    env = {**os.environ, "TESSERA_CACHE_DIR": "off", "TESSERA_DUMP_LLVM": "1", "CUDA_VISIBLE_DEVICES": ""}
    done = subprocess.run([sys.executable, path], env=env, capture_output=True, text=True, check=True)
    return done.stderr.split("define void")[1:]


def test_an_array_of_a_thread_is_apart_from_arguments(texts: list[str]) -> None:
    loads = re.findall(r"= load float, ptr .*", texts[0])
    assert any("!alias.scope" in line for line in loads)
    assert all("!noalias" in line for line in loads)


def test_loops_of_few_turns_do_not_ask_whether_to_end(texts: list[str]) -> None:
    assert "call i32 @ts__rt_look" not in texts[0]
    assert "call i32 @ts__rt_look" in texts[1]
