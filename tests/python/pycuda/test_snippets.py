# SPDX-License-Identifier: Apache-2.0
"""Every kernel that can be generated compiles, for the oldest and a new architecture. NVRTC is
needed, a GPU is not."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from tessera import pathfinder
from tessera.pycuda import _array_kernels as kernels
from tessera.pycuda import _operators as operators
from tessera.pycuda import curandom
from tessera.pycuda._call import CompileError
from tessera.pycuda._dtypes import vec
from tessera.pycuda.compiler import compile
from tessera.pycuda.scan import ExclusiveScanKernel, InclusiveScanKernel

pytestmark = pytest.mark.skipif(
    pathfinder.find_nvidia_dynamic_lib("nvrtc") is None, reason="NVRTC is not installed"
)
DTYPES = [np.dtype(code) for code in "? i1 u2 i4 i8 u8 f2 f4 f8 c8 c16".split()]
PLAIN = [dtype for dtype in DTYPES if dtype.char != "e"]
ARCHITECTURES = ["sm_80", "sm_90"]


def binary() -> Iterator[str]:
    for name, (function, text) in {**operators.BINARY, **operators.COMPARE}.items():
        for dtype in DTYPES:
            try:
                z = operators._dtype(function, (dtype, dtype))
            except TypeError:
                continue
            common = operators._dtype(np.add, (dtype, dtype)) if name in operators.COMPARE else z
            kernel = operators._kernel(name, text, common, z, ((dtype, True), (dtype, True)))
            yield kernel.source(0)
        if name not in ("and", "or", "xor", "lshift", "rshift"):
            mixed = ((np.dtype("i4"), True), (np.dtype("f8"), False))
            kernel = operators._kernel(name, text, np.dtype("f8"), np.dtype("f8"), mixed)
            yield from (kernel.source(3), kernel.source(0, True))


def unary() -> Iterator[str]:
    for name, (function, text) in operators.UNARY.items():
        for dtype in DTYPES:
            try:
                z = operators._dtype(function, (dtype,))
            except TypeError:
                continue
            yield operators._kernel(name, text, z, z, ((dtype, True),)).source(0)


def conversions() -> Iterator[str]:
    for z, x in itertools.product(DTYPES, repeat=2):
        yield operators.assign_kernel(z, x, True).source(2)
    for dtype in (*DTYPES, vec.float3):
        yield operators.assign_kernel(dtype, dtype, True).source(1)
        yield operators.assign_kernel(dtype, dtype, False).source(0)


def arrays() -> Iterator[str]:
    for dtype in PLAIN:
        if dtype.kind == "c":
            yield kernels.part(dtype, np.dtype(f"f{dtype.itemsize // 2}"), "imag").source(2)
        if dtype.kind != "b":
            yield kernels.axpby(dtype, dtype, dtype).source(0)
            yield kernels.arange(dtype).source(0)
        truth = np.dtype(bool)
        yield kernels.choose("tessera::to<bool>({c})", dtype, truth, dtype, dtype, True, False).source(1)
        yield kernels.move(dtype, np.dtype("u4"), np.dtype("i8")).source(0)
        yield kernels.move(dtype, None, np.dtype("i8")).source(1)


def reductions() -> Iterator[str]:
    for dtype, name, prefix in itertools.product(PLAIN, kernels._REDUCTIONS, ("", "subset_")):
        if name in ("max", "min") and dtype.kind == "c":
            continue
        dtypes = [np.dtype("i4")] * bool(prefix) + [dtype] * (1 + (name == "dot"))
        out = np.dtype(bool) if name in ("any", "all") else dtype
        kernel = kernels.reduction(prefix + name, out, *dtypes)
        yield from (kernel.source(0), kernel.source(2), kernel.second())


def random_numbers() -> Iterator[str]:
    for what, dtype in itertools.product(curandom._DRAWS, DTYPES):
        try:
            yield curandom.draw_kernel(what, dtype).source(0)
        except TypeError:
            assert what == "uniform" or dtype.kind not in "f" or dtype.itemsize == 2


def scans() -> Iterator[str]:
    for code in ("i4", "u1", "f8", "c16"):
        yield InclusiveScanKernel(code, "a+b").source()
        yield ExclusiveScanKernel(code, "a+b", "0").source()


def together(sources: Iterator[str]) -> tuple[str, int]:
    """One program of many kernels: each in a namespace, under a name of its own."""
    head: dict[str, None] = {"#include <tessera/ops.hpp>": None}
    parts, n = [], 0
    for n, source in enumerate(sources, 1):
        head |= dict.fromkeys(re.findall(r"^#include .*$", source, re.M))
        text = re.sub(r"^#include .*$", "", source, flags=re.M)
        text = re.sub(r'(extern "C" __global__ void \w+)', rf"\1_{n}", text)
        text = text.replace("#define TESSERA_ROOM", "#undef TESSERA_ROOM\n#define TESSERA_ROOM")
        parts.append(f"namespace n{n} {{\n{text}\n}}")
    return "\n".join([*head, *parts]), n


FAMILIES: dict[str, tuple[Any, int]] = {
    "binary": (binary, 200), "unary": (unary, 120), "conversions": (conversions, 140),
    "arrays": (arrays, 50), "reductions": (reductions, 300), "random": (random_numbers, 15),
    "scans": (scans, 8),
}  # fmt: skip


@pytest.mark.parametrize("arch", ARCHITECTURES)
@pytest.mark.parametrize("family", FAMILIES)
def test_every_kernel_compiles(family: str, arch: str) -> None:
    make, least = FAMILIES[family]
    source, n = together(make())
    assert n >= least
    assert compile(source, arch=arch, no_extern_c=True, cache_dir=False).startswith(b"\x7fELF")


TEXTURES = """
#include <pycuda-helpers.hpp>
texture<{tex}, 2, cudaReadModeElementType> t2;
texture<{tex}, 3, cudaReadModeElementType> t3;
texture<unsigned char, 2, cudaReadModeNormalizedFloat> bytes;
surface<void, cudaSurfaceType3D> s3;
__global__ void k({c} *out)
{{
    {c} v;
    fp_surf3Dread(&v, s3, 1, 2, 3, cudaBoundaryModeClamp);
    fp_surf3Dwrite(v, s3, 3, 2, 1, cudaBoundaryModeClamp);
    out[0] = fp_tex2D(t2, 1, 2);
    out[1] = fp_tex3D(t3, 1, 2, 3);
    *(float *)(out + 2) = tex2D(bytes, 0.5f, 0.5f);
}}
"""


@pytest.mark.parametrize(
    ("tex", "c"),
    [("short", "short"), ("float", "float"), ("fp_tex_double", "double"),
     ("fp_tex_cfloat", "pycuda::complex<float>"), ("fp_tex_cdouble", "pycuda::complex<double>")],
)  # fmt: skip
def test_references_of_old_sources(tex: str, c: str) -> None:
    assert compile(TEXTURES.format(tex=tex, c=c), arch="sm_90", cache_dir=False)


def test_host_headers_out_of_habit() -> None:
    source = """
#include <cstdio>
#include <stdint.h>
#include <math.h>
#include <cfloat>
#include <limits.h>
__global__ void k(uint32_t *p) { p[0] = INT_MAX; printf("%f %f\\n", M_PI, FLT_MAX); }
"""
    assert compile(source, arch="sm_80", cache_dir=False)


def test_an_error_names_the_users_line() -> None:
    with pytest.raises(CompileError, match=r"kernel.cu\(2\).*nowhere") as caught:
        compile("__global__ void k(int *p)\n{ p[0] = nowhere; }", arch="sm_90", cache_dir=False)
    assert "nowhere" in caught.value.stderr and "nvrtc" in caught.value.command_line


def test_the_cache_keeps_and_looks_into_includes(tmp_path: Any) -> None:
    folder, cache = tmp_path / "include", tmp_path / "cache"
    folder.mkdir()
    source = '#include "value.h"\n__global__ void k(int *p) { p[0] = VALUE; }'
    how = {"arch": "sm_90", "cache_dir": str(cache), "include_dirs": [str(folder)]}

    def build(value: int) -> bytes:
        (folder / "value.h").write_text(f"#define VALUE {value}\n")
        return compile(source, **how)

    first = build(12345)
    assert build(12345) == first and len(list(cache.iterdir())) == 1
    assert build(54321) != first and len(list(cache.iterdir())) == 2
    for file in cache.iterdir():  # what is broken is made anew
        file.write_bytes(file.read_bytes()[:-9])
    assert build(12345) == first


def test_ptx_on_request() -> None:
    assert b".target sm_80" in compile("__global__ void k() {}", arch="compute_80", cache_dir=False)
    with pytest.raises(ValueError, match="target"):
        compile("", target="exe")
