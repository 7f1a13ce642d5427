# SPDX-License-Identifier: Apache-2.0
"""Loads of lanes that lie a few elements apart, on the CPU device: in whole vectors, and nothing else is read."""

from __future__ import annotations

import pathlib
import subprocess
import sys

import numpy as np
import pytest

from tessera import cuda


@pytest.mark.parametrize("dtype", ["f4", "f8", "i1", "u2", "?", "f2"])
@pytest.mark.parametrize("step", [1, 2, 3, 4, 5])
def test_lanes_a_few_elements_apart(dtype: str, step: int) -> None:
    """Whole warps and the last one, of which some threads are left out; indices that may be negative, too."""

    @cuda.jit
    def kernel(x, out, back):
        i = cuda.grid(1)
        if i < out.size:
            out[i] = x[step * i]
            for k in range(step):
                back[i] += x[step * (i - out.size) + k] * (k + 1)

    for n in (1, 31, 64, 100):
        x = (np.arange(step * n) * 7 % 100).astype(dtype)
        out, back = np.zeros(n, dtype), np.zeros(n)
        kernel[(n + 63) // 64, 64](x, out, back)
        np.testing.assert_array_equal(out, x[::step])
        np.testing.assert_array_equal(back, x.reshape(n, step).astype("f8") @ np.arange(1, step + 1))


GUARDED = """
import ctypes, mmap
import numpy as np
from tessera import cuda

@cuda.jit
def kernel(x, out, step):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = x[2 * i] + x[2 * i + 1] if step == 2 else x[4 * i + 3]

page = mmap.PAGESIZE
memory = mmap.mmap(-1, 2 * page)
base = ctypes.addressof(ctypes.c_char.from_buffer(memory))
assert ctypes.CDLL(None).mprotect(ctypes.c_void_p(base + page), ctypes.c_size_t(page), 0) == 0
for dtype in ("f4", "u1", "f8"):
    for step in (2, 4):
        n = 128
        bytes_ = step * n * np.dtype(dtype).itemsize
        x = np.frombuffer(memory, dtype, step * n, page - bytes_)
        x[:] = np.arange(step * n) % 50
        out = np.zeros(n, dtype)
        kernel[2, 64](x, out, step)
        wanted = x[::2] + x[1::2] if step == 2 else x[3::4]
        assert (out == wanted).all()
print("fine", flush=True)
import os
os._exit(0)
"""


def test_nothing_is_read_behind_the_last_lane(tmp_path: pathlib.Path) -> None:
    """The array ends where a page without access begins."""
    script = tmp_path / "guarded.py"
    script.write_text(GUARDED)
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True)
    assert done.stdout == "fine\n", done.stderr
