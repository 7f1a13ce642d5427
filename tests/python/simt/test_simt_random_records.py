# SPDX-License-Identifier: Apache-2.0
"""Random kernels over random record dtypes against NumPy: by the reference interpreter, as made for a GPU, and on the
CPU device."""

from __future__ import annotations

import importlib.util
import os
import pathlib
from typing import Any

import numpy as np
import pytest
from random_records import Generator, oracle
from simt_run import run

from tessera import cuda

PROGRAMS = int(os.environ.get("TESSERA_RANDOM_RECORDS", "12"))
THREADS = 5


def kernel_of(path: pathlib.Path, program: Generator) -> Any:
    path.write_text(program.text)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    module.cuda, module.T = cuda, program.dtype  # type: ignore[attr-defined]
    spec.loader.exec_module(module)
    return module.k


@pytest.mark.parametrize("part", range(4))
def test_random_records(part: int, tmp_path: pathlib.Path) -> None:
    for seed in range(part, PROGRAMS, 4):
        program = Generator(seed)
        kernel = kernel_of(tmp_path / f"records{seed}.py", program)
        x, y, wanted = program.data(THREADS, seed), program.data(THREADS, seed + 1), np.zeros(THREADS)
        expected = x.copy()
        oracle(program.text, program.dtype, [expected, y, wanted], THREADS)
        for target in (0, 90, "cpu"):
            got, out = program.data(THREADS, seed), np.zeros(THREADS)
            if target == "cpu":
                cuda.jit(kernel)[1, 8](got, y, out)
            else:
                run(kernel, got, y, out, block=(8,), target=target)
            told = f"seed {seed}, {target}, {program.dtype}:\n{program.text}"
            np.testing.assert_array_equal(out, wanted, err_msg=told)
            np.testing.assert_array_equal(got, expected, err_msg=told)
