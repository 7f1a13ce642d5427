# SPDX-License-Identifier: Apache-2.0
"""Text that a kernel prints on the CPU device. It goes to file descriptor 1, past sys.stdout, so every
test runs a script of its own and compares the whole of what that wrote."""

import os
import subprocess
import sys

import pytest

HEAD = """
import sys
import numpy as np, tessera, tessera.tile as ct
"""


def printed(tmp_path, body, **env):
    path = tmp_path / "script.py"
    path.write_text(HEAD + body)
    env = {**os.environ, "TESSERA_CACHE_DIR": str(tmp_path / "cache"), **env}
    done = subprocess.run([sys.executable, path], env=env, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout


def one_kernel(statement, grid=1):
    return f"""
@ct.kernel
def talk(x, n):
    tile = ct.load(x, index=(0,), shape=(4,))
    {statement}

ct.launch(None, ({grid},), talk, (np.arange(4, dtype=np.float32), 3))
tessera.synchronize()
"""


TILE = "[0.000000, 1.000000, 2.000000, 3.000000]"


@pytest.mark.parametrize(
    "statement, text",
    [
        ('print("n", n)', "n 3\n"),
        ("print(n, n + 1, 2.5)", "3 4 2.5\n"),
        ('ct.printf("only %d\\n", n)', "only 3\n"),
        ('ct.printf("%5.1f|%x\\n", 2.25, n + 252)', "  2.2|ff\n"),
        ('print("tile", tile)', f"tile {TILE}\n"),
        ('print("mask", tile > 1)', "mask [0, 0, 1, 1]\n"),
        ('ct.printf("%.1f\\n", ct.reshape(tile, (2, 2)))', "[[0.0, 1.0], [2.0, 3.0]]\n"),
        ('print(f"n={n} tile={tile}")', f"n=3 tile={TILE}\n"),
        ('print("nothing to convert")', "nothing to convert\n"),
    ],
)
def test_kernel_prints(tmp_path, statement, text):
    assert printed(tmp_path, one_kernel(statement)) == text


def test_statements_print_in_program_order(tmp_path):
    body = one_kernel('print("first", n)\n    ct.printf("second\\n")\n    print(f"third {n}")')
    assert printed(tmp_path, body) == "first 3\nsecond\nthird 3\n"


@pytest.mark.parametrize("blocks", [2, 100])
def test_blocks_print_in_order(tmp_path, blocks):
    body = one_kernel('print("block", ct.bid(0))', grid=blocks)
    assert printed(tmp_path, body) == "".join(f"block {i}\n" for i in range(blocks))


def test_print_under_a_condition_and_in_a_loop(tmp_path):
    body = one_kernel(
        """
    for i in range(n):
        if i != 1:
            print("i", i)
"""
    )
    assert printed(tmp_path, body) == "i 0\ni 2\n"


def test_a_warm_cache_prints_the_same(tmp_path):
    body = one_kernel('print("n", n)', grid=2)
    cold = printed(tmp_path, body)
    assert any((tmp_path / "cache").rglob("*"))
    assert cold == printed(tmp_path, body) == "n 3\nn 3\n"


def test_a_second_launch_prints_again(tmp_path):
    body = one_kernel('print("n", n)') + "\nct.launch(None, (1,), talk, (np.zeros(4, np.float32), 5))\n"
    assert printed(tmp_path, body) == "n 3\nn 5\n"


def test_prints_on_a_stream_come_before_synchronize_returns(tmp_path):
    body = """
@ct.kernel
def talk(n):
    print("n", n)

stream = tessera.Stream()
ct.launch(stream, (1,), talk, (7,))
stream.synchronize()
print("after")
"""
    assert printed(tmp_path, body) == "n 7\nafter\n"


def test_text_of_python_and_of_a_kernel_keep_their_order(tmp_path):
    body = 'print("before")\n' + one_kernel('print("n", n)') + 'print("after")\n'
    assert printed(tmp_path, body) == "before\nn 3\nafter\n"
