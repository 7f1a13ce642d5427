# SPDX-License-Identifier: Apache-2.0
"""Blocks of one thread on the CPU: indices are computed in 64 bits, which LLVM knows loops by."""

import os
import subprocess
import sys

SCRIPT = """
import numpy as np
from tessera import cuda

@cuda.jit
def shift(x, out):
    for i in range(x.size - 3):
        out[i] = x[np.uint64(i + 3)]

x = np.arange(100, dtype=np.float32)
out = np.zeros(100, np.float32)
shift[1, BLOCK](x, out)
assert (out[:97] == x[3:]).all()
"""


def test_no_index_is_cut_and_extended_again(tmp_path):
    path = tmp_path / "script.py"
    env = {**os.environ, "TESSERA_CACHE_DIR": "off", "TESSERA_DUMP_LLVM": "1", "CUDA_VISIBLE_DEVICES": ""}
    for block, cuts in ((1, False), (32, True)):
        path.write_text(SCRIPT.replace("BLOCK", str(block)))
        done = subprocess.run([sys.executable, path], env=env, capture_output=True, text=True, check=True)
        assert "define void" in done.stderr and ("trunc i64" in done.stderr) == cuts
