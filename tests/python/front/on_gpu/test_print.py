# SPDX-License-Identifier: Apache-2.0
"""Lines that many blocks print at the same time come out whole."""

from __future__ import annotations

import pathlib
import subprocess
import sys

import pytest

SCRIPT = """
import numpy as np
import tessera
import tessera.tile as ct

@ct.kernel
def kernel(x, n: ct.Constant):
    t = ct.load(x, (0,), (n,))
    ct.printf("block[%d]:%d\\n", ct.bid(0), t)

x = tessera.array(np.arange(COUNT, dtype=np.int32), device="cuda")
ct.launch(None, (100,), kernel, (x, COUNT))
tessera.synchronize()
"""


@pytest.mark.parametrize("n", [8, 64])
def test_lines_of_many_blocks_are_whole(tmp_path: pathlib.Path, n: int) -> None:
    path = tmp_path / "prints.py"
    path.write_text(SCRIPT.replace("COUNT", str(n)))
    done = subprocess.run([sys.executable, str(path)], capture_output=True, text=True, check=True, timeout=120)
    values = ", ".join(map(str, range(n)))
    assert sorted(done.stdout.splitlines()) == sorted(f"block[{i}]:[{values}]" for i in range(100))
