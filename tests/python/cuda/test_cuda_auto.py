# SPDX-License-Identifier: Apache-2.0
"""Kernels that are launched over their arrays, launches that are awaited, and shapes that are measured."""

from __future__ import annotations

import asyncio
import pathlib
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
import tessera
from tessera import cuda, profiler
from tessera.cuda._auto import Shape

PACKAGE = str(pathlib.Path(tessera.__file__).resolve().parents[1])


@cuda.kernel
def add(x, y, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = x[i] + y[i]


@cuda.kernel
def multiply(a, b, c):
    i, j = cuda.grid(2)
    if i < c.shape[0] and j < c.shape[1]:
        total = 0.0
        for k in range(a.shape[1]):
            total += a[i, k] * b[k, j]
        c[i, j] = total


@cuda.kernel
def by_hand(x):
    i = cuda.threadIdx.x + cuda.blockIdx.x * cuda.blockDim.x
    j = cuda.threadIdx.y + cuda.blockIdx.y * cuda.blockDim.y
    k = cuda.threadIdx.z + cuda.blockIdx.z * cuda.blockDim.z
    if i < x.shape[0] and j < x.shape[1] and k < x.shape[2]:
        x[i, j, k] += i * 100 + j * 10 + k


@cuda.kernel
def strided(x, factor=2.0):
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        x[i] *= factor


@cuda.kernel
def histogram(values, counts):
    i = cuda.grid(1)
    if i < values.size:
        cuda.atomic.add(counts, values[i], 1)


@cuda.kernel
def of_block(x):
    i = cuda.grid(1)
    if i < x.size:
        x[i] = cuda.blockDim.x


def test_a_kernel_covers_its_arrays() -> None:
    x, y = np.arange(1001.0), np.ones(1001)
    out = np.zeros(1001)
    add(x, y, out=out)
    assert (out == x + 1).all()


def test_axes_are_read_from_the_kernel() -> None:
    rng = np.random.default_rng(0)
    a, b, c = rng.random((37, 5)), rng.random((5, 71)), np.zeros((37, 71))
    multiply(a, b, c)
    assert np.allclose(c, a @ b)
    x = np.zeros((3, 5, 7), np.int64)
    by_hand(x)
    i, j, k = np.indices(x.shape)
    assert (x == i * 100 + j * 10 + k).all()
    assert (add.facts.axes, multiply.facts.axes, by_hand.facts.axes) == (1, 2, 3)


def test_an_array_without_elements_runs_nothing() -> None:
    add(np.zeros(0), np.zeros(0), np.zeros(0))


def test_defaults_and_launch_configurations_stay() -> None:
    x = np.ones(100)
    strided(x)
    strided[2, 32](x, 3.0)
    assert (x == 6).all()


def test_a_kernel_without_an_array_of_its_axes_is_refused() -> None:
    with pytest.raises(ValueError, match=r"goes over 2 axes, but no argument is an array.*multiply\[blocks, threads\]"):
        multiply(np.ones(3), np.ones(3), np.ones(3))


def test_an_awaited_kernel_gives_what_it_wrote() -> None:
    async def main() -> None:
        x, y, out = np.arange(100.0), np.ones(100), np.zeros(100)
        assert await add.async_call(x, y, out) is out and (out == x + 1).all()
        counts = np.zeros(4, np.int64)
        assert await histogram.async_call(np.arange(10) % 4, counts) is counts
        assert counts.tolist() == [3, 3, 2, 2]
        stream = tessera.core.Stream()
        with stream:
            await strided.async_call(x, stream=stream)
        assert (x == np.arange(100.0) * 2).all()

    asyncio.run(main())


def test_a_launch_of_any_kernel_is_awaited() -> None:
    @cuda.jit
    def double(x):
        i = cuda.grid(1)
        if i < x.size:
            x[i] *= 2

    @cuda.jit("void(float64[::1])")
    def triple(x):
        i = cuda.grid(1)
        if i < x.size:
            x[i] *= 3

    async def main() -> None:
        x, y = np.ones(64), np.ones(64, np.float32)
        device = cuda.to_device(np.ones(64))
        await asyncio.gather(
            double[2, 32].async_call(x), double[2, 32].async_call(x=y), double[2, 32].async_call(device)
        )
        await triple[2, 32].async_call(x)
        assert (x == 6).all() and (y == 2).all() and (device.copy_to_host() == 2).all()

    asyncio.run(main())


def test_what_does_not_compile_arrives_at_the_await() -> None:
    @cuda.jit
    def wrong(x):
        x[0] = x.nonsense

    async def main() -> None:
        await wrong[1, 32].async_call(np.zeros(8))

    with pytest.raises(cuda.errors.TypingError, match="nonsense"):
        asyncio.run(main())


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"target": "gpus"}, "target must be one of 'auto', 'gpu', 'cpu', not 'gpus'; did you mean 'gpu'"),
        ({"optimize": "most"}, "optimize must be one of 'none', 'default', 'aggressive', not 'most'"),
    ],
)
def test_words_of_compile_kernel_are_checked(options: Any, text: str) -> None:
    with pytest.raises(ValueError, match=text):
        cuda.compile_kernel(**options)


def test_kernels_take_functions() -> None:
    with pytest.raises(TypeError, match="cuda.kernel\\(\\) takes a Python function, not 3"):
        cuda.kernel(3)
    with pytest.raises(ValueError, match="cuda.jit\\(device=True\\)"):
        cuda.kernel(device=True)


# ---- measured shapes -------------------------------------------------------------------------------------


@pytest.fixture
def quick(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> profiler.ProfileGuidedOptimizer:
    monkeypatch.setenv("TESSERA_CACHE_DIR", str(tmp_path))
    return profiler.ProfileGuidedOptimizer(rounds=3, seconds=0.05)


@pytest.mark.parametrize("make", [np.copy, cuda.to_device, tessera.array], ids=["numpy", "device", "tessera"])
def test_a_measured_kernel_computes_the_same(quick: profiler.ProfileGuidedOptimizer, make: Any) -> None:
    sample = make(np.ones(5000, np.float32))
    fast = quick.optimize(strided, (sample, 3.0))
    assert isinstance(fast._shape, Shape) and fast._shape in quick.report and len(quick.report) > 5
    assert (np.asarray(sample.copy_to_host() if hasattr(sample, "copy_to_host") else sample) == 1).all()
    x = np.ones(777, np.float32)
    fast(x, 3.0)
    assert (x == 3).all()


def test_a_measured_shape_is_kept(quick: profiler.ProfileGuidedOptimizer) -> None:
    sample = np.ones(5000, np.float32)
    first = quick.optimize(strided, (sample, 3.0))
    again = quick.optimize(strided, (np.ones(4500, np.float32), 3.0))  # of the same class
    assert again._shape == first._shape and quick.report == {}
    assert quick.optimize(strided, (np.ones(50, np.float32), 3.0)) and quick.report


def test_values_that_hang_on_the_block_are_found(quick: profiler.ProfileGuidedOptimizer) -> None:
    with pytest.raises(RuntimeError, match="gives other values in blocks of"):
        quick.optimize(of_block, (np.zeros(100),))


def test_the_optimizer_takes_kernels_of_arrays(quick: profiler.ProfileGuidedOptimizer) -> None:
    with pytest.raises(TypeError, match="takes a kernel of cuda.kernel or cuda.compile_kernel"):
        quick.optimize(cuda.jit(lambda x: None), (np.zeros(1),))
    with pytest.raises(TypeError, match="the arguments as a tuple"):
        quick.optimize(add, np.zeros(1))


# ---- the names of tutorials ------------------------------------------------------------------------------


def test_tutorials_find_their_names(tmp_path: pathlib.Path) -> None:
    script = tmp_path / "script.py"
    script.write_text("""
import numpy as np
import cuda, cuda.core, cuda.profiler
from cuda.jit import compile_kernel

@compile_kernel(target="gpu", optimize="aggressive")
def one(x):
    i = cuda.threadIdx.x + cuda.blockIdx.x * cuda.blockDim.x
    if i < x.size:
        x[i] = 1

@cuda.core.kernel
def two(x):
    i = cuda.core.grid(1)
    if i < x.size:
        x[i] += 2

x = np.zeros(1000)
one(x)
two(x)
assert (x == 3).all() and cuda.profiler.ProfileGuidedOptimizer
try:
    cuda.nonsense
except AttributeError as error:
    print(error)
""")
    for options in ([], ["--strict"]):
        command = [sys.executable, "-m", "tessera", "run", *options, str(script)]
        done = subprocess.run(command, env={"PYTHONPATH": PACKAGE}, capture_output=True, text=True, check=False)
        assert done.stdout.startswith("module 'cuda' has no attribute 'nonsense'"), done.stderr


def test_parts_of_a_real_package_stay_importable(tmp_path: pathlib.Path) -> None:
    (tmp_path / "real" / "cuda" / "other").mkdir(parents=True)
    (tmp_path / "real" / "cuda" / "other" / "__init__.py").write_text("name = 'real'")
    script = tmp_path / "script.py"
    script.write_text("import cuda.other, cuda.core\nprint(cuda.other.name, cuda.core.__name__, cuda.grid)")
    command = [sys.executable, "-m", "tessera", "run", str(script)]
    env = {"PYTHONPATH": f"{PACKAGE}:{tmp_path / 'real'}"}
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    assert done.stdout.startswith("real tessera.core <"), done.stderr
