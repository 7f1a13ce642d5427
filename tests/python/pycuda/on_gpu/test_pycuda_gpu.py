# SPDX-License-Identifier: Apache-2.0
"""Generated kernels against numpy, on a GPU."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from tessera import pathfinder
from tessera.pycuda import cumath, curandom, gpuarray, tools
from tessera.pycuda import driver as drv
from tessera.pycuda.compiler import SourceModule
from tessera.pycuda.elementwise import ElementwiseKernel
from tessera.pycuda.reduction import ReductionKernel
from tessera.pycuda.scan import ExclusiveScanKernel, InclusiveScanKernel


pytestmark = pytest.mark.skipif(
    pathfinder.find_nvidia_dynamic_lib("nvrtc") is None, reason="NVRTC is not installed"
)
RNG = np.random.default_rng(3)


@pytest.fixture(autouse=True)
def context() -> Iterator[None]:
    yield from tools.init_cuda_context_fixture()


def numbers(shape: Any, code: str) -> Any:
    kind = np.dtype(code).kind
    if kind == "b":
        return RNG.random(shape) > 0.5
    if kind in "iu":
        return RNG.integers(0 if kind == "u" else -40, 40, shape).astype(code)
    if kind == "c":
        return (RNG.normal(size=shape) + 1j * RNG.normal(size=shape)).astype(code)
    return RNG.normal(size=shape).astype(code)


def compare(found: Any, wanted: Any) -> None:
    found = found.get()
    assert (found.dtype, found.shape) == (wanted.dtype, wanted.shape)
    eps = np.finfo(wanted.dtype).eps if wanted.dtype.kind in "fc" else 0
    np.testing.assert_allclose(found, wanted, rtol=16 * eps, atol=16 * eps)


CODES = "? i1 u2 i4 u8 f2 f4 f8 c8 c16".split()
PYTHON = {
    "add": "+", "sub": "-", "mul": "*", "truediv": "/", "floordiv": "//", "mod": "%", "and": "&",
    "or": "|", "xor": "^", "eq": "==", "ne": "!=", "lt": "<", "ge": ">=",
}  # fmt: skip


@pytest.mark.parametrize("name", PYTHON)
@pytest.mark.parametrize("code", CODES)
def test_operators(name: str, code: str) -> None:
    a, b = numbers((7, 33), code), numbers((7, 33), code)
    if name in ("floordiv", "mod", "truediv") and a.dtype.kind in "iufb":
        b[b == 0] = 1
    for x, y in ((a, b), (a[:, ::2], b[:, ::2]), (a, b[0]), (a.T, b.T)):
        try:
            wanted = eval(f"x {PYTHON[name]} y")
        except TypeError:
            continue
        gx, gy = gpuarray.to_gpu(x), gpuarray.to_gpu(y)
        compare(eval(f"gx {PYTHON[name]} gy"), wanted)


def test_views_take_part() -> None:
    a = numbers((6, 8, 10), "f4")
    g = gpuarray.to_gpu(a)
    for index in (np.s_[::2, 1:, ::-1], np.s_[:, 3], np.s_[..., None, 2:4]):
        compare(g[index] * 2 + 1, a[index] * np.float32(2) + np.float32(1))
        compare(g[index].copy(), a[index])
        assert (g[index].get() == a[index]).all()
    compare(g.transpose((2, 0, 1)) - g[0, 0, 0], a.transpose((2, 0, 1)) - a[0, 0, 0])


def test_in_place_and_overlapping() -> None:
    a = numbers(1000, "f4")
    g, h = gpuarray.to_gpu(a), a.copy()
    g += 3
    h += 3
    g[1:] += g[:-1]
    h[1:] += h[:-1].copy()
    g[::2] = -1
    h[::2] = -1
    g[1::2] = g[::-2]
    h[1::2] = h[::-2].copy()
    compare(g, h)


@pytest.mark.parametrize("code", ["i4", "u8", "f4", "f8", "c8"])
@pytest.mark.parametrize("n", [1, 7, 8192, 8193, 300001])
def test_reductions(code: str, n: int) -> None:
    a = (numbers(n, code) / 8).astype(code)
    g = gpuarray.to_gpu(a)
    wanted = a.astype("c16" if code == "c8" else "f8" if code[0] == "f" else code).sum()
    tolerance = 1e-5 if code in ("f4", "c8") else 1e-12
    np.testing.assert_allclose(gpuarray.sum(g).get(), wanted, rtol=tolerance, atol=n * tolerance)
    if code != "c8":
        assert gpuarray.max(g).get() == a.max() and gpuarray.min(g).get() == a.min()
    assert bool(g.any()) == a.any() and bool(g.all()) == a.all()
    assert gpuarray.sum(g[::-1][: n // 2 + 1]).shape == ()


def test_reductions_of_views_and_nan() -> None:
    a = numbers((30, 40), "f8")
    np.testing.assert_allclose(gpuarray.sum(gpuarray.to_gpu(a)[::2, 3:]).get(), a[::2, 3:].sum())
    a[3, 4] = np.nan
    assert np.isnan(gpuarray.max(gpuarray.to_gpu(a)).get())
    with pytest.raises(ValueError, match="no elements"):
        gpuarray.max(gpuarray.zeros(0))


@pytest.mark.parametrize("n", [1, 2, 255, 2304, 2305, 70000, 3_000_001])
def test_scans(n: int) -> None:
    a = RNG.integers(-9, 9, n).astype(np.int64)
    out = gpuarray.empty(n, np.int64)
    InclusiveScanKernel(np.int64, "a+b")(gpuarray.to_gpu(a), out)
    assert (out.get() == a.cumsum()).all()
    ExclusiveScanKernel(np.int64, "a+b", "0")(gpuarray.to_gpu(a), out)
    assert (out.get() == a.cumsum() - a).all()
    running = InclusiveScanKernel(np.int64, "a > b ? a : b")(gpuarray.to_gpu(a))
    assert (running.get() == np.maximum.accumulate(a)).all()


def test_a_scan_keeps_the_order() -> None:
    """2x2 matrices under multiplication do not commute."""
    pair = np.dtype([("m", "u4"), ("b", "u4")])
    tools.register_dtype(pair, "tests_affine")
    preamble = "struct tests_affine { unsigned m, b; };"
    expression = "tests_affine{b.m * a.m, b.m * a.b + b.b}"
    a = np.zeros(10000, pair)
    a["m"], a["b"] = RNG.integers(1, 9, 10000), RNG.integers(0, 9, 10000)
    found = InclusiveScanKernel(pair, expression, preamble=preamble)(gpuarray.to_gpu(a)).get()
    m, b = 1, 0
    for i in range(10000):
        m, b = int(a["m"][i]) * m % 2**32, (int(a["m"][i]) * b + int(a["b"][i])) % 2**32
        assert (found["m"][i], found["b"][i]) == (m, b)


def test_functions() -> None:
    a = RNG.uniform(0.1, 0.9, (5, 50)).astype(np.float32)
    for name, numpys in [("exp", np.exp), ("asin", np.arcsin), ("tanh", np.tanh), ("log10", np.log10)]:
        compare(getattr(cumath, name)(gpuarray.to_gpu(a)), numpys(a))
        compare(getattr(cumath, name)(gpuarray.to_gpu(a)[:, ::3]), numpys(a[:, ::3]))
    z = numbers(500, "c16")
    for name in ("exp", "log", "sqrt", "sin", "cos", "tan", "sinh", "cosh", "tanh"):
        np.testing.assert_allclose(
            getattr(cumath, name)(gpuarray.to_gpu(z)).get(), getattr(np, name)(z), rtol=1e-12
        )
    for name, numpys in (("asin", np.arcsin), ("acos", np.arccos), ("atan", np.arctan)):
        np.testing.assert_allclose(
            getattr(cumath, name)(gpuarray.to_gpu(z)).get(), numpys(z), rtol=1e-9, atol=1e-11
        )


def test_gathering() -> None:
    a, indices = numbers(100, "f4"), RNG.permutation(100)[:40].astype(np.uint32)
    g, i = gpuarray.to_gpu(a), gpuarray.to_gpu(indices)
    compare(gpuarray.take(g, i), a[indices])
    out = gpuarray.zeros(100, np.float32)
    gpuarray.put(out, i, gpuarray.take(g, i))
    wanted = np.zeros(100, np.float32)
    wanted[indices] = a[indices]
    compare(out, wanted)
    compare(gpuarray.where(g > 0, g, -1.0), np.where(a > 0, a, np.float32(-1)))
    compare(gpuarray.concatenate([g, g[:3]]), np.concatenate([a, a[:3]]))


def test_distributions() -> None:
    n = 1 << 20
    generator = curandom.XORWOWRandomNumberGenerator(lambda count: np.arange(count))
    uniform = generator.gen_uniform(n, np.float64).get()
    assert abs(uniform.mean() - 0.5) < 2e-3 and abs(uniform.var() - 1 / 12) < 1e-3
    normal = generator.gen_normal(n, np.float32).get().astype(float)
    assert abs(normal.mean()) < 5e-3 and abs(normal.std() - 1) < 5e-3
    for mean in (0.7, 3.0, 13.0, 400.0):
        found = generator.gen_poisson(n, np.uint32, mean).get()
        assert abs(found.mean() / mean - 1) < 1e-2 and abs(found.var() / mean - 1) < 2e-2
    again = curandom.XORWOWRandomNumberGenerator(lambda count: np.arange(count))
    assert (again.gen_uniform(n, np.float64).get() == uniform).all()
    assert len(np.unique(curandom.rand(4096, np.uint64).get())) == 4096


def test_snippets() -> None:
    kernel = ElementwiseKernel("float a, float *x, float *z", "z[i] = a*x[i] + n", "axpn")
    x = numbers((20, 30), "f4")
    g = gpuarray.to_gpu(x)
    out = gpuarray.zeros_like(g)
    kernel(2, g, out)
    compare(out, np.float32(2) * x + np.float32(600))
    kernel(2, g[:, ::2], out[:, ::2])
    with pytest.raises(TypeError, match="z is an array of float32"):
        kernel(2, g, gpuarray.zeros((20, 30)))
    with pytest.raises(ValueError, match="z has 3 elements"):
        kernel(2, g, gpuarray.zeros(3, np.float32))
    dot = ReductionKernel(np.float64, "0", "a+b", "x[i]*y[i]", "float *x, float *y")
    y = numbers((20, 30), "f4")
    wanted = (x[::3] * y[::3]).astype(float).sum()
    np.testing.assert_allclose(dot(g[::3], gpuarray.to_gpu(y)[::3]).get(), wanted, rtol=1e-5, atol=1e-4)


def test_a_launch_is_checked() -> None:
    kernel = SourceModule("__global__ void k(int *p, int n) { p[0] = n; }").get_function("k")
    memory = drv.mem_alloc(4)
    with pytest.raises(drv.LogicError, match="takes 2 arguments, not 1"):
        kernel(memory, block=(1, 1, 1))
    with pytest.raises(drv.LogicError, match="4 bytes, the argument has 8"):
        kernel(memory, np.int64(7), block=(1, 1, 1))
    assert kernel(memory, np.int32(7), block=(1, 1, 1), time_kernel=True) > 0
    assert drv.from_device(memory, 1, np.int32)[0] == 7 and kernel.num_regs > 0


def test_dlpack_both_ways() -> None:
    torch = pytest.importorskip("torch")
    a = numbers((5, 6), "f4")
    tensor = torch.from_dlpack(gpuarray.to_gpu(a)[:, ::2])
    assert (tensor.cpu().numpy() == a[:, ::2]).all()
    tensor = torch.arange(12, device="cuda", dtype=torch.int64).reshape(3, 4)
    shared = gpuarray.from_dlpack(tensor)
    shared *= 2
    assert (tensor.cpu().numpy() == 2 * np.arange(12).reshape(3, 4)).all()
