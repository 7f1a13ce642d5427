# SPDX-License-Identifier: Apache-2.0
"""Loops that threads leave one by one and that change many variables: as many as fit the operands of one instruction
of the IR run on the CPU device, more are refused by name. Branches of kernels of all lengths."""

from __future__ import annotations

import pathlib
from typing import Any

import numpy as np
import pytest
import simt_run
from tessera import cuda
from tessera.cuda import errors


def kernel_of(path: pathlib.Path, n: int, loop: str) -> Any:
    names = [f"v{i}" for i in range(n)]
    text = "def k(count, out):\n    i = cuda.grid(1)\n    if i < out.size:\n"
    text += "".join(f"        {name} = {k}.0\n" for k, name in enumerate(names))
    text += loop + "".join(f"            {name} += j * {k % 3}\n" for k, name in enumerate(names))
    text += f"        out[i] = {' + '.join(names)}\n"
    path.write_text(text)
    scope: dict[str, Any] = {"cuda": cuda}
    exec(compile(text, str(path), "exec"), scope)
    return cuda.jit(scope["k"])


FOR = "        for j in range(count[i]):\n"
BREAK = "        for j in range(9):\n            if j == count[i]:\n                break\n"


@pytest.mark.parametrize(("n", "loop"), [(100, FOR), (115, FOR), (90, BREAK)])
def test_many_variables(n: int, loop: str, tmp_path: pathlib.Path) -> None:
    count, out = np.array([0, 3, 1, 8, 5]), np.zeros(5)
    kernel_of(tmp_path / "many.py", n, loop)[1, 32](count, out)
    steps = count * (count - 1) / 2
    np.testing.assert_array_equal(out, n * (n - 1) / 2 + steps * sum(k % 3 for k in range(n)))


def test_too_many_variables_are_refused(tmp_path: pathlib.Path) -> None:
    with pytest.raises(errors.LoweringError, match="more than [0-9]+ values are carried"):
        kernel_of(tmp_path / "more.py", 300, FOR)[1, 32](np.array([1]), np.zeros(1))


def test_results_of_branches_stay_where_code_grows(tmp_path: pathlib.Path) -> None:
    """Whatever number of instructions is before: memory of the code may move while a branch is written."""
    head = "def pair(k):\n    if k <= 0:\n        return k, 6\n    return k, 2\n"
    head += "def kernel(out):\n    i = cuda.grid(1)\n    x = i\n"
    for n in range(70):
        text = head + "    x = x * i\n" * n + "    a, b = pair(i)\n    out[i] = a * 1000 + b + x * 0\n"
        path, scope, out = tmp_path / f"grows{n}.py", {"cuda": simt_run.cuda}, np.zeros(3, np.int64)
        path.write_text(text)
        exec(compile(text, str(path), "exec"), scope)
        simt_run.run(scope["kernel"], out, block=(3,), target=0)
        assert out.tolist() == [6, 1002, 2002], n
