# SPDX-License-Identifier: Apache-2.0
"""Programs, linkers and object codes without a GPU: NVRTC, nvJitLink and libNVVM where they are
installed, Tessera's compiler always."""

from __future__ import annotations

import io
import pickle
from typing import Any

import numpy as np
import pytest

import tessera.tile as ct
from tessera import pathfinder
from tessera.bindings import CUDAError, NVRTCError
from tessera.bindings._errors import nvJitLinkError, nvvmError
from tessera.core import Kernel, Linker, LinkerOptions, ObjectCode, Program, ProgramOptions

SAXPY = """
extern "C" __global__ void saxpy(float a, const float *x, float *y, size_t n)
{
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = a * x[i] + y[i];
}
"""
IR = """
target triple = "nvptx64-nvidia-cuda"
target datalayout =
"e-p:64:64:64-i1:8:8-i8:8:8-i16:16:16-i32:32:32-i64:64:64-i128:128:128-f32:32:32-f64:64:64-\
v16:16:16-v32:32:32-v64:64:64-v128:128:128-n16:32:64" define void @kernel() {
  ret void
}
!nvvm.annotations = !{!0}
!0 = !{void ()* @kernel, !"kernel", i32 1}
!nvvmir.version = !{!1}
!1 = !{i32 2, i32 0, i32 3, i32 1}
"""


def need(*names: str) -> None:
    for name in names:
        if not pathfinder.find_nvidia_dynamic_lib(name):
            pytest.skip(f"{name} is not installed")


def compiled(code: str, target: str = "ptx", **options: Any) -> ObjectCode:
    need("nvrtc")
    return Program(code, "c++", ProgramOptions(arch="sm_90", **options)).compile(target)


# ---- options


@pytest.mark.parametrize(
    ("options", "flags"),
    [
        ({"ftz": True, "fma": False}, ["--ftz=true", "--fmad=false"]),
        ({"debug": True, "lineinfo": False}, ["--device-debug"]),
        ({"define_macro": [("A", "1"), "B"]}, ["--define-macro=A=1", "--define-macro=B"]),
        ({"include_path": ("/a", "/b")}, ["--include-path=/a", "--include-path=/b"]),
        ({"diag_suppress": 20}, ["--diag-suppress=20"]),
        (
            {"ptxas_options": ["-v"], "max_register_count": 32},
            ["--ptxas-options=-v", "--maxrregcount=32"],
        ),
        ({"std": "c++20", "flags": "--x"}, ["--std=c++20", "--x"]),
    ],
)
def test_options_become_flags(options: dict[str, Any], flags: list[str]) -> None:
    made = ProgramOptions(arch="sm_80", **options).as_bytes("NVRTC")
    assert [word.decode() for word in made] == ["-arch=sm_80", *flags]


def test_nvvm_has_its_own_words_and_refuses_the_rest() -> None:
    options = ProgramOptions(arch="sm_80", ftz=True, device_code_optimize=False)
    assert options.as_bytes("nvvm", "ltoir") == [
        b"-arch=compute_80",
        b"-opt=0",
        b"-ftz=1",
        b"-gen-lto",
    ]
    with pytest.raises(CUDAError, match="not supported by NVVM backend: lineinfo, std"):
        ProgramOptions(arch="sm_80", lineinfo=True, std="c++17").as_bytes("nvvm")


def test_an_unknown_option_is_named_with_the_likely_one() -> None:
    with pytest.raises(TypeError, match="did you mean 'max_register_count'"):
        Program("", "c++", {"max_registers_count": 1})


# ---- CUDA C++


def test_headers_are_found_by_default() -> None:
    if not pathfinder.find_cuda_include_dirs():
        pytest.skip("no CUDA headers are installed")
    source = (
        "#include <cuda_fp16.h>\n#include <cuda/std/type_traits>\n"
        'extern "C" __global__ void k(__half *) {}'
    )
    assert b".entry k(" in compiled(source).code
    with pytest.raises(NVRTCError, match="could not open source file|cannot open source file"):
        compiled(source, default_includes=False)


def test_an_error_holds_the_log_and_says_where_headers_are_looked_for() -> None:
    with pytest.raises(NVRTCError, match="(?s)compilation log.*identifier .nonsense. is undefined"):
        compiled("__global__ void f() { nonsense; }")
    with pytest.raises(NVRTCError, match="(?s)no_such.h.*eaders"):
        compiled('#include "no_such.h"')
    with pytest.raises(NVRTCError, match="architectures of this NVRTC: .*90"):
        Program("", "c++", ProgramOptions(arch="sm_1")).compile("ptx")


def test_names_of_templates_are_mapped() -> None:
    need("nvrtc")
    program = Program(
        "template <class T> __global__ void f(T *x) { *x = 2; }", "c++", {"arch": "sm_90"}
    )
    first = program.compile("cubin", ["f<int>"])
    again = program.compile("cubin", ["f<float>"])
    assert first.symbol_mapping == {"f<int>": b"_Z1fIiEvPT_"}
    assert again.symbol_mapping == {"f<float>": b"_Z1fIfEvPT_"}
    assert first.code.startswith(b"\x7fELF")


def test_the_log_is_written_to_logs() -> None:
    need("nvrtc")
    logs = io.StringIO()
    Program('#warning "heard"', "c++", {"arch": "sm_90"}).compile("ptx", logs=logs)
    assert "heard" in logs.getvalue()


def test_a_file_name_tells_the_language_and_flags_may_be_a_list() -> None:
    need("nvrtc")
    program = Program(SAXPY, "saxpy.cu")
    with pytest.raises(AttributeError, match="after compile"):
        program.saxpy  # noqa: B018
    code = program.compile(["--gpu-architecture=compute_90", b"--fmad=false"])
    assert (code.code_type, code.name) == ("ptx", "saxpy.cu")
    assert b"fma.rn" not in code.code and b".entry saxpy(" in code.code


def test_a_closed_program_says_so() -> None:
    need("nvrtc")
    with Program(SAXPY, "c++", {"arch": "sm_90"}) as program:
        assert (program.backend, program.pch_status) == ("NVRTC", None)
    program.close()
    with pytest.raises(RuntimeError, match="closed"):
        program.compile("ptx")


def test_a_precompiled_header_is_created(tmp_path: Any) -> None:
    need("nvrtc")
    program = Program(SAXPY, "c++", {"arch": "sm_90", "create_pch": str(tmp_path / "a.pch")})
    program.compile("ptx")
    assert program.pch_status in ("created", "not_attempted")


# ---- other languages


def test_ptx_becomes_a_cubin_twice() -> None:
    need("nvJitLink")
    program = Program(compiled(SAXPY).code.decode(), "ptx", {"arch": "sm_90", "name": "a"})
    first, again = program.compile("cubin"), program.compile("cubin")
    assert (program.backend, first.name, first.code) == ("nvJitLink", "a", again.code)
    with pytest.raises(nvJitLinkError, match="(?s)linker log:.*PTX"):
        Program("nonsense", "ptx", {"arch": "sm_90"})


def test_nvvm_compiles_ir_and_shows_its_log() -> None:
    need("nvvm")
    program = Program(IR, "nvvm", ProgramOptions(arch="sm_90"))
    assert b".visible .entry kernel" in program.compile("ptx").code
    assert program.compile("ltoir").code_type == "ltoir"
    with pytest.raises(nvvmError, match="(?s)compilation log:.*expected top-level entity"):
        Program("nonsense", "nvvm").compile("ptx")


@ct.kernel
def _add(x, y, z, T: ct.Constant[int]):  # type: ignore[no-untyped-def]  # noqa: N803
    i = ct.bid(0)
    ct.store(z, (i,), ct.load(x, (i,), (T,)) + ct.load(y, (i,), (T,)))


def test_tile_kernels_and_tile_ir_are_programs() -> None:
    from tessera import _core

    x = np.zeros(1024, np.float32)
    program = Program(_add, "tile", ProgramOptions(arch="sm_89", arguments=(x, x, x, 256)))
    assert b".target sm_89" in program.compile("ptx").code and program.backend == "tessera"
    text = _core.lower_text(_add._prepare(), (x, x, x, 256))
    assert b".entry _add(" in Program(text, "tileir", {"arch": "sm_90a"}).compile("ptx").code
    with pytest.raises(ValueError, match="sm_80 and newer"):
        Program(text, "tileir", {"arch": "sm_75"}).compile("ptx")
    with pytest.raises(ValueError, match="arguments="):
        Program(_add, "tile")


@pytest.mark.parametrize("target", ["object", "exe"])
def test_an_impossible_target_is_refused(target: str) -> None:
    with pytest.raises(ValueError, match=f'Unsupported target_type="{target}"'):
        Program("", "tileir").compile(target)


def test_an_unknown_language_is_refused() -> None:
    with pytest.raises(
        RuntimeError, match="code_type='fortran'.*'c\\+\\+', 'ptx', 'nvvm', 'tile', 'tileir'"
    ):
        Program("", "FORTRAN")


# ---- linking


def test_object_codes_are_linked() -> None:
    need("nvJitLink")
    main = compiled("extern __device__ int two(); __global__ void f(int *x) { *x = two(); }",
                    relocatable_device_code=True)  # fmt: skip
    part = compiled("__device__ int two() { return 2; }", relocatable_device_code=True)
    linker = Linker(main, part, options=LinkerOptions(arch="sm_90", name="both"))
    made = linker.link("cubin")
    linker.close()
    assert (made.name, made.code_type, linker.get_error_log()) == ("both", "cubin", "")
    with pytest.raises(nvJitLinkError, match="(?s)linker log:.*two"):
        Linker(main, options={"arch": "sm_90"}).link("cubin")


def test_lto_gives_ptx() -> None:
    need("nvJitLink")
    code = compiled(SAXPY, "ltoir")
    options = LinkerOptions(arch="sm_90", link_time_optimization=True, ptx=True)
    assert b".entry saxpy(" in Linker(code, options=options).link("ptx").code


def test_the_driver_is_told_what_it_knows() -> None:
    options = LinkerOptions(arch="sm_80", optimization_level=2, no_cache=True, debug=False)
    values, keys = options._prepare_driver_options()
    assert [key.name for key in keys[4:]] == [
        "CU_JIT_TARGET",
        "CU_JIT_OPTIMIZATION_LEVEL",
        "CU_JIT_CACHE_MODE",
    ]
    assert values[4].name == "CU_TARGET_COMPUTE_80" and values[5] == 2
    with pytest.raises(ValueError, match="split_compile option is not supported by the driver API"):
        LinkerOptions(split_compile=0)._prepare_driver_options()
    with pytest.raises(ValueError, match="knows no arch 'sm_999'"):
        LinkerOptions(arch="sm_999")._prepare_driver_options()
    with pytest.warns(DeprecationWarning, match="ftz option is deprecated"):
        LinkerOptions(ftz=True)._prepare_driver_options()


# ---- object codes


def test_object_code_is_a_value() -> None:
    code = ObjectCode.from_cubin(b"\x7fELF", name="a", symbol_mapping={"f<int>": b"_Z1f"})
    again = pickle.loads(pickle.dumps(code))
    assert (again.code, again.code_type, again.name) == (b"\x7fELF", "cubin", "a")
    assert again.symbol_mapping == code.symbol_mapping
    with pytest.raises(RuntimeError, match="directly"):
        ObjectCode()
    with pytest.raises(RuntimeError, match='Unsupported code type "ltoir"'):
        ObjectCode.from_ltoir(b"x").get_kernel("f")
    with pytest.raises(TypeError, match="not int"):
        ObjectCode.from_ptx(1)  # type: ignore[arg-type]


def test_kernels_come_from_object_codes() -> None:
    with pytest.raises(RuntimeError, match="get_kernel"):
        Kernel()
    with pytest.raises(TypeError, match="must be an int"):
        Kernel.from_handle("x")  # type: ignore[arg-type]


def test_a_link_with_nothing_to_link_names_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    from tessera.core import _linker

    def nothing(*_args: Any) -> Any:
        raise pathfinder.DynamicLibNotFoundError("libcuda.so.1 was not found")

    monkeypatch.setattr(_linker._driver.checked, "cuLinkCreate", nothing, raising=False)
    monkeypatch.setattr(_linker, "_use_nvjitlink_backend", False)
    monkeypatch.setattr(_linker, "_nvjitlink_problem", lambda: "`pip install nvidia-nvjitlink`")
    code = ObjectCode.from_ptx(b".version 7.0\n.target sm_80\n")
    with pytest.raises(pathfinder.DynamicLibNotFoundError, match="nvidia-nvjitlink`. There is no"):
        Linker(code, options=LinkerOptions(arch="sm_80"))
    monkeypatch.setattr(_linker, "_nvjitlink_problem", lambda: "")
    with pytest.raises(pathfinder.DynamicLibNotFoundError, match="libcuda.so.1 was not found"):
        Linker(code, options=LinkerOptions(arch="sm_80"))
