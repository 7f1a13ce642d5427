# SPDX-License-Identifier: Apache-2.0
"""Random kernels of threads against their text run as plain Python on numbers with numba's dtypes."""

from __future__ import annotations

import importlib.util
import os
import pathlib

import numpy as np
import pytest
from random_threads import Generator, oracle
from simt_run import cuda, run

from tessera import cuda as device

PROGRAMS = int(os.environ.get("TESSERA_RANDOM_PROGRAMS", "150"))
THREADS = 6


def kernel_of(path: pathlib.Path, text: str) -> object:
    path.write_text("import numpy as np\n" + text)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    module.cuda = cuda  # type: ignore[attr-defined]
    spec.loader.exec_module(module)
    return module.k


def data(dtype: str, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    if dtype.startswith("complex"):
        return (rng.choice([0, 1.5, -2.25, 1e10], THREADS) + 1j * rng.choice([0, 3, -0.5], THREADS)).astype(dtype)
    if dtype == "float16":
        return rng.choice([0.0, 1.5, -2.25, 3.0, 1e4, -0.5], THREADS).astype(dtype)
    if dtype.startswith("float"):
        return rng.choice([0.0, 1.5, -2.25, 3.0, 1e10, -0.5], THREADS).astype(dtype)
    return rng.integers(-120, 120, THREADS).astype(dtype)


@pytest.mark.parametrize("part", range(5))
def test_random_programs(part: int, tmp_path: pathlib.Path) -> None:
    for seed in range(part, PROGRAMS, 5):
        program = Generator(seed)
        x, y = data(program.x, seed), data(program.y, seed + 1)
        wanted, out = np.zeros(THREADS, program.out), np.zeros(THREADS, program.out)
        oracle(program.text, [x.copy(), y.copy(), wanted], THREADS)
        kernel = kernel_of(tmp_path / f"program{seed}.py", program.text)
        targets = (0, 90) if program.whole else (0,)  # a GPU may fuse a product and a sum of floats
        for target in targets:
            out[:] = 0
            run(kernel, x, y, out, block=(8,), target=target)
            parts = np.dtype(out.real.dtype)  # a NaN beside a number is no NaN
            what = f"seed {seed}, target {target}, {program.x} {program.y}:\n{program.text}"
            np.testing.assert_array_equal(out.view(parts), wanted.view(parts), err_msg=what)


def test_the_cpu_device_gives_the_bits_of_a_gpu(tmp_path: pathlib.Path) -> None:
    for seed in range(0, PROGRAMS, 10):
        program = Generator(seed)
        x, y = data(program.x, seed), data(program.y, seed + 1)
        found, wanted = np.zeros(THREADS, program.out), np.zeros(THREADS, program.out)
        kernel = kernel_of(tmp_path / f"program{seed}.py", program.text)
        run(kernel, x, y, wanted, block=(8,), target=90)
        kernel.__globals__["cuda"] = device  # type: ignore[attr-defined]
        for blocks, threads in ((1, 8), (8, 1)):
            found[:] = 0
            device.jit(kernel)[blocks, threads](x, y, found)
            parts, what = np.dtype(found.real.dtype), f"seed {seed}, {threads} threads:\n{program.text}"
            np.testing.assert_array_equal(found.view(parts), wanted.view(parts), err_msg=what)


def test_a_watched_launch_gives_what_a_launch_gives(tmp_path: pathlib.Path) -> None:
    for seed in range(3, PROGRAMS, 12):
        program = Generator(seed)
        x, y = data(program.x, seed), data(program.y, seed + 1)
        found, wanted = np.zeros(THREADS, program.out), np.zeros(THREADS, program.out)
        kernel = kernel_of(tmp_path / f"program{seed}.py", program.text)
        try:
            device.jit(kernel, checked=True)[1, 8](x, y, wanted)
        except ZeroDivisionError:
            with pytest.raises(ZeroDivisionError):
                device.jit(kernel, checked="races")[1, 8](x, y, found)
            continue
        device.jit(kernel, checked="races")[1, 8](x, y, found)
        parts = np.dtype(found.real.dtype)
        np.testing.assert_array_equal(found.view(parts), wanted.view(parts), err_msg=f"seed {seed}:\n{program.text}")


def test_exceptions_change_nothing_for_threads_that_raise_none(tmp_path: pathlib.Path) -> None:
    """With exceptions and checked indices a thread gives what it gives without them, or it raised and gives nothing."""
    raised = 0
    for seed in range(1, PROGRAMS, 4):
        program = Generator(seed)
        x, y = data(program.x, seed), data(program.y, seed + 1)
        plain, out = np.zeros(THREADS, program.out), np.zeros(THREADS, program.out)
        kernel = kernel_of(tmp_path / f"program{seed}.py", program.text)
        device.jit(kernel)[1, 8](x, y, plain)
        failed = False
        try:
            device.jit(kernel, debug=True, opt=False, boundscheck=True)[1, 8](x, y, out)
        except ZeroDivisionError:
            failed = True
        raised += failed
        parts = np.dtype(out.real.dtype)
        same = out.view(parts) == plain.view(parts)
        same |= np.isnan(out.view(parts)) & np.isnan(plain.view(parts))
        what = f"seed {seed}, {program.x} {program.y}:\n{program.text}\n{out}\n{plain}"
        assert (same | (failed & (out.view(parts) == 0))).all(), what
    assert 0 < raised < PROGRAMS // 4
