# SPDX-License-Identifier: Apache-2.0
"""Bad input, tried as a new user would: each is a clear exception, and what comes after it works. A fault on a GPU and
the reset after it: on_mock/test_cuda_faults.py."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import threading
from typing import Any

import numpy as np
import pytest
from tessera import bindings, cuda


@cuda.jit
def add_one(x):
    i = cuda.grid(1)
    if i < x.size:
        x[i] += 1


@cuda.jit
def unguarded(x):
    x[cuda.grid(1)] = 1


@cuda.jit(debug=True, opt=False)
def divided(x, y):
    i = cuda.grid(1)
    x[i] = x[i] // y[i]


@cuda.jit
def endless_recursion(x):
    x[0] = down(x[0])


def down(n):
    return down(n - 1) + 1


@cuda.jit
def much_shared(x):
    s = cuda.shared.array((8192, 1024), np.float64)
    s[0, 0] = 1
    x[0] = s[0, 0]


@cuda.jit("void(float32[:])")
def eager(x):
    x[0] = 1


@cuda.jit(debug=True, opt=False, boundscheck=True)
def checked(x):
    x[cuda.grid(1)] = 1


def returns(x):
    return x[0]


@cuda.jit
def no_extent(x):
    x[0] = cuda.local.array(-1, np.int64)[0]


def still_works() -> None:
    x = np.zeros(100, np.int64)
    add_one[1, 128](x)
    assert x.sum() == 100


X = np.ones(4, np.int64)
BAD: dict[str, tuple[Any, type[Exception], str]] = {
    "a block of more than 1,024 threads": (lambda: add_one[1, 2048](X), ValueError, "at most 1024"),
    "a block of many rows": (lambda: add_one[1, (1, 1, 65)](X), ValueError, "64 along z"),
    "a block of none": (lambda: add_one[1, 0](X), ValueError, "say how many threads a block has, 1 to 1024"),
    "too much dynamic shared memory": (lambda: add_one[1, 32, 0, 1 << 30](X), Exception, "shared memory"),
    "too much static shared memory": (lambda: much_shared[1, 32](X), Exception, "shared memory"),
    "another dtype than an eager signature has": (lambda: eager[1, 1](X), TypeError, "float32"),
    "a list": (lambda: add_one[1, 32]([1, 2, 3]), Exception, "list"),
    "a string": (lambda: add_one[1, 32]("text"), Exception, "str"),
    "nothing": (lambda: add_one[1, 32](), TypeError, "x"),
    "too many arguments": (lambda: add_one[1, 32](X, X), TypeError, "1 argument"),
    "a huge grid": (lambda: add_one[1 << 31, 32](X), ValueError, "x must be 1 to 2147483647, y and z 1 to 65535$"),
    "a huge grid along y": (lambda: add_one[(1, 70000), 32](X), ValueError, "65535"),
    "a grid below zero": (lambda: add_one[-1, 32](X), ValueError, "-1"),
    "a grid of nothing": (lambda: add_one[0, 32](X), ValueError, r"grid \(0, 1, 1\) has no blocks"),
    "a grid of nothing along z": (lambda: add_one[(1, 1, 0), 32](X), bindings.CUDAError, "INVALID_VALUE.*has no"),
    "a grid of text": (lambda: add_one["1", 32](X), TypeError, "sequence of integers"),
    "an index outside": (lambda: checked[1, 32](X.copy()), IndexError, r"tid=\[4, 0, 0\]|index 4"),
    "a division by zero": (lambda: divided[1, 4](X.copy(), X * 0), ZeroDivisionError, "tid="),
    "recursion without end": (lambda: endless_recursion[1, 1](X), cuda.errors.TypingError, "'down' calls itself"),
    "a device function that is launched": (lambda: cuda.jit(device=True)(down)[1, 1](X), Exception, "device function"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input(name: str) -> None:
    run, error, words = BAD[name]
    with pytest.raises(error, match=words):
        run()
    still_works()


def test_exceptions_have_public_names() -> None:
    found = []
    for wrong in (lambda: add_one[0, 32](X), lambda: no_extent[1, 1](X), lambda: cuda.jit(returns)[1, 1](X)):
        with pytest.raises(Exception) as raised:
            wrong()
        found.append(type(raised.value).__name__)
    assert found == ["LaunchError", "ConstantError", "ReturnedError"]
    assert all(issubclass(getattr(cuda.errors, name), Exception) for name in found)


PROGRAM = """
import numpy as np
from tessera import cuda

@cuda.jit
def double(x):
    i = cuda.grid(1)
    if i < x.size:
        x[i] *= 2

x = np.arange(5)
double[1, 32](x)
print(x.tolist())
"""


def _python(*args: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, *args], capture_output=True, text=True, timeout=120, check=False)


def test_kernels_of_python_c() -> None:
    done = _python("-c", PROGRAM)
    assert done.stdout == "[0, 2, 4, 6, 8]\n", done.stderr


def test_an_endless_kernel_is_interrupted_by_ctrl_c() -> None:
    program = """
import os, signal, threading
import numpy as np
from tessera import cuda
signal.signal(signal.SIGINT, signal.default_int_handler)

@cuda.jit
def endless(x):
    while x[0] == 0:
        x[1] += 1

@cuda.jit
def add_one(x):
    x[2] += 1

x = np.zeros(3, np.int64)
threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
try:
    endless[2, 32](x)
except KeyboardInterrupt:
    add_one[1, 1](x)
    print("interrupted", x[2])
"""
    done = _python("-c", program)
    assert done.stdout == "interrupted 1\n", done.stderr


def test_kernels_from_many_threads() -> None:
    arrays = [np.zeros(1000, np.int64) for _ in range(8)]
    failures: list[Exception] = []

    def work(x: np.ndarray) -> None:
        try:
            for _ in range(50):
                add_one[4, 256](x)
        except Exception as failure:
            failures.append(failure)

    threads = [threading.Thread(target=work, args=(x,)) for x in arrays]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    assert all((x == 50).all() for x in arrays)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_kernels_in_a_child_of_fork() -> None:
    program = PROGRAM + """
import os, sys
sys.stdout.flush()
child = os.fork()
double[1, 32](x)
os.write(1, f"{'parent' if child else 'child'} {x.tolist()}\\n".encode())
if child:
    os.waitpid(child, 0)
else:
    os._exit(0)
"""
    done = _python("-c", program)
    lines = sorted(done.stdout.splitlines())
    assert lines == ["[0, 2, 4, 6, 8]", "child [0, 4, 8, 12, 16]", "parent [0, 4, 8, 12, 16]"], done.stderr


def test_pickled_kernels() -> None:
    x = np.zeros(5, np.int64)
    pickle.loads(pickle.dumps(add_one))[1, 32](x)
    assert (x == 1).all()
