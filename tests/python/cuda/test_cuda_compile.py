# SPDX-License-Identifier: Apache-2.0
"""Kernels as PTX, code of others, random states: what needs no kernel to run."""

from __future__ import annotations

import math
import pathlib
import re
import shutil
import subprocess
from typing import Any

import numpy
import pytest
from tessera import cuda
from tessera._core import TARGETS
from tessera.cuda import launchconfig, types


def fill(x: Any, value: Any) -> None:
    i = cuda.grid(1)
    if i < x.size:
        x[i] = value


@pytest.mark.parametrize(("cc", "target"), [((8, 0), "sm_80"), ((9, 0), "sm_90"), ((8, 7), "sm_86")])
def test_kernels_become_ptx(cc: Any, target: str) -> None:
    ptx, result = cuda.compile_ptx(fill, "void(float32[::1], float32)", cc=cc)
    assert f".target {target}" in ptx and ".visible .entry fill" in ptx and result == types.void
    assert cuda.compile(fill, "(float32[:], float32)", device=False, abi="numba", cc=cc)[0].count("entry") == 1


@pytest.mark.parametrize(
    ("options", "error", "text"),
    [
        ({"abi": "fortran"}, NotImplementedError, "Unsupported ABI: fortran"),
        ({"output": "sass"}, NotImplementedError, "Unsupported output type: sass"),
        ({"device": False}, NotImplementedError, "The C ABI is not supported for kernels"),
        ({"output": "ltoir"}, NotImplementedError, "LTO-IR is not made"),
        ({"abi_info": {"abi_name": "a b"}}, ValueError, "'a b' is no name of a function in PTX"),
        ({"forceinline": True}, ValueError, "forced inlining in LTO-IR"),
        ({"device": False, "abi": "numba", "cc": (7, 5)}, cuda.errors.CCSupportError, "the oldest is 8.0"),
        ({"device": False, "abi": "numba", "launch_bounds": (1, 2, 3, 4)}, ValueError, "Got 4 launch bounds"),
    ],
)
def test_what_is_not_compiled(options: dict[str, Any], error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        cuda.compile(fill, "void(float32[:], float32)", **options)


def test_mistakes_are_found_when_a_signature_is_compiled() -> None:
    def wrong(x: Any) -> None:
        x[0] = no_such_name  # noqa: F821

    with pytest.raises(cuda.errors.NumbaError, match="no_such_name"):
        cuda.jit("void(float32[:])")(wrong)
    with pytest.raises(TypeError, match="void return type"):
        cuda.compile_ptx(fill, "float32(float32[:], float32)")


def test_kernels_for_several_signatures() -> None:
    kernel = cuda.jit(["(int64[::1], int64)", "(float64[::1], float64)"])(fill)
    for dtype, value in (("i8", 3), ("f8", 2.5)):
        x = numpy.zeros(4, dtype)
        kernel[1, 32](x, value)
        assert (x == value).all()
    with pytest.raises(TypeError, match="No matching definition"):
        kernel[1, 32](numpy.zeros(4, "f4"), 1.0)
    with pytest.raises(RuntimeError, match="Compilation disabled"):
        kernel.compile("(float32[::1], float32)")
    ambiguous = cuda.jit(["(float64[::1], float32)", "(float64[::1], float16)"])(fill)
    with pytest.raises(TypeError, match=r"Ambiguous overloading for .*aligned=True\), float64\):\n\(Array"):
        ambiguous[1, 1](numpy.zeros(4), 1.0)


def test_specializing() -> None:
    kernel = cuda.jit(fill)
    one = kernel.specialize(types.float32[::1], types.float32)
    assert one is kernel.specialize(types.float32[::1], types.float32) and len(kernel.specializations) == 1
    assert kernel.specialize(types.float32[:], types.float32) is not one and one.specialized
    with pytest.raises(RuntimeError, match="already specialized"):
        one.specialize(types.float64[::1], types.float64)
    x = numpy.zeros(4, "f4")
    one[1, 32](x, 2)
    assert (x == 2).all()
    assert "fill" in one.inspect_asm()[(types.float32[::1], types.float32)]


def test_overloads_hold_what_was_launched() -> None:
    kernel = cuda.jit(fill)
    for x, value in ((numpy.zeros(4), 1.0), (numpy.zeros(4, "i4"), 1), (numpy.zeros(4), 2.0)):
        kernel[1, 32](x, value)
    assert [str(t) for args in kernel.signatures for t in args] == [
        "array(float64, 1d, C)", "float64", "array(int32, 1d, C)", "int64",
    ]  # fmt: skip
    assert "entry" in kernel.inspect_ir(kernel.signatures[0])
    with pytest.raises(KeyError, match="not compiled for"):
        kernel.inspect_asm("(int8,)")
    with pytest.raises(NotImplementedError, match="inspect_ir"):
        kernel.inspect_llvm()


def test_the_launch_is_known_while_a_kernel_is_compiled_for_it() -> None:
    kernel = cuda.jit(fill)
    with launchconfig.capture_compile_config(kernel) as captured:
        kernel[2, 32](numpy.zeros(4), 1.0)
    assert captured["config"].griddim == (2, 1, 1) and captured["config"].dispatcher is kernel
    assert launchconfig.current_launch_config() is None
    with pytest.raises(RuntimeError, match="No launch config set"):
        launchconfig.ensure_current_launch_config()


def lines_of(ptx: str) -> list[str]:
    """The texts of the lines that .loc names, without repetitions."""
    source = pathlib.Path(__file__).read_text().splitlines()
    assert f'.file 1 "{__file__}"' in ptx and ".file 2" not in ptx
    found = [source[int(line) - 1].strip() for line in re.findall(r"^\.loc 1 (\d+) \d+$", ptx, re.MULTILINE)]
    return list(dict.fromkeys(found))


@pytest.mark.parametrize("target", sorted(t for t in TARGETS.values() if t >= 80))
@pytest.mark.parametrize("option", ["lineinfo", "debug", "none"])
def test_lines_of_the_source_are_in_the_ptx(option: str, target: int, tmp_path: pathlib.Path) -> None:
    options: dict[str, Any] = {} if option == "none" else {option: True, "opt": option != "debug"}
    ptx, _ = cuda.compile_ptx(fill, "void(float32[::1], float32)", cc=divmod(target, 10), **options)
    assert (".loc" in ptx, ".debug_info" in ptx, ", debug" in ptx) == {
        "none": (False, False, False), "lineinfo": (True, False, False), "debug": (True, True, True),
    }[option]  # fmt: skip
    if options:
        assert {"i = cuda.grid(1)", "if i < x.size:", "x[i] = value"} <= set(lines_of(ptx))
    if not shutil.which("ptxas"):
        pytest.skip("ptxas is not installed")
    (tmp_path / "k.ptx").write_text(ptx)
    arch = re.search(r"\.target (\w+)", ptx)[1]  # type: ignore[index]
    for flag in {"none": ([],), "lineinfo": ([], ["-lineinfo"]), "debug": ([], ["-g"])}[option]:
        subprocess.run(["ptxas", "-arch", arch, *flag, str(tmp_path / "k.ptx"), "-o", str(tmp_path / "k")], check=True)


def test_functions_without_a_file_have_no_lines_to_show() -> None:
    space: dict[str, Any] = {}
    exec("def nothing():\n    pass\n", space)
    with pytest.warns(cuda.errors.NumbaDebugInfoWarning, match="Could not find source for function: <function nothing"):
        cuda.jit("void()", lineinfo=True)(space["nothing"])


def threads_of_block(x: Any) -> Any:
    """Of the launch that the kernel is compiled for."""


@cuda.extending.overload(threads_of_block)
def typed_threads_of_block(x: Any) -> Any:
    config = launchconfig.ensure_current_launch_config()
    assert config.args is not None and config.args[0].size == 2
    config.dispatcher.mark_launch_config_sensitive()
    threads = config.blockdim[0]
    return lambda x: threads


def test_code_may_depend_on_its_launch() -> None:
    @cuda.jit
    def kernel(x):
        x[0], x[1] = threads_of_block(x), cuda.blockDim.x

    for threads in (32, 64, 32, 1):
        x = numpy.zeros(2, "i8")
        launch = kernel[1, threads]
        launch(x)
        assert x.tolist() == [threads, threads] and launch.args is None
    assert next(iter(kernel.overloads.values())).launch_config_sensitive
    assert launchconfig.current_launch_config() is None


def test_compiling_may_be_watched() -> None:
    kernel, seen = cuda.jit(fill), []
    own = kernel._compile_for_args

    def watched(*args: Any) -> Any:
        seen.append((args[1], launchconfig.ensure_current_launch_config().args[1]))
        return own(*args)

    kernel._compile_for_args = watched
    for value in (1, 2, 2.5):
        kernel[1, 32](numpy.zeros(4), value)
    assert seen == [(1, 1), (2.5, 2.5)] and len(kernel.overloads) == 2


def test_code_of_files(tmp_path: pathlib.Path) -> None:
    for ending, cls in (("ptx", cuda.PTXSource), ("cu", cuda.CUSource), ("o", cuda.Object), ("a", cuda.Archive)):
        file = tmp_path / f"code.{ending}"
        file.write_bytes(b"text")
        found = cuda.LinkableCode.from_path(file)
        assert type(found) is cls and found.data == b"text" and found.name == str(file)
    with pytest.raises(RuntimeError, match="no extension"):
        cuda.LinkableCode.from_path("code")
    with pytest.raises(RuntimeError, match=r"extension \.cuh"):
        cuda.LinkableCode.from_path("code.cuh")
    with pytest.raises(TypeError, match="must be callable"):
        cuda.PTXSource(b"", setup_callback=3)


def test_declared_functions_name_their_result() -> None:
    found = cuda.declare_device("bar", "int32(int32)", link=cuda.PTXSource(b""))
    assert found.sig.return_type == types.int32 and len(found.link) == 1
    with pytest.raises(TypeError, match="Return type must be provided"):
        cuda.declare_device("bar", "(int32,)")
    with pytest.raises(NotImplementedError, match="kernels call it"):
        found(1)


MASK = (1 << 64) - 1


def stepped(s0: int, s1: int) -> tuple[int, int]:
    s1 ^= s0
    return ((s0 << 55 | s0 >> 9) & MASK) ^ s1 ^ ((s1 << 14) & MASK), (s1 << 36 | s1 >> 28) & MASK


def jumped(s0: int, s1: int) -> tuple[int, int]:
    t0 = t1 = 0
    for word in (0xBEAC0467EBA5FACB, 0xD86B048B86AA9922):
        for bit in range(64):
            if word >> bit & 1:
                t0, t1 = t0 ^ s0, t1 ^ s1
            s0, s1 = stepped(s0, s1)
    return t0, t1


@pytest.mark.parametrize("seed", [0, 42, -1, 1 << 63])
def test_random_states_are_jumps_apart(seed: int) -> None:
    states = cuda.random.create_xoroshiro128p_states(70, seed).copy_to_host()
    wanted = (int(states["s0"][0]),) * 2
    for found in states:
        assert (int(found["s0"]), int(found["s1"])) == wanted
        wanted = jumped(*wanted)
    later = cuda.random.create_xoroshiro128p_states(7, seed, subsequence_start=60).copy_to_host()
    assert (later == states[60:67]).all()


def test_seeds_are_mixed_by_splitmix64() -> None:
    assert cuda.random.create_xoroshiro128p_states(1, 42).copy_to_host()["s0"] == 13679457532755275413


@pytest.mark.parametrize(
    ("options", "lines"),
    [
        ({"launch_bounds": 256}, [".maxntid 256, 1, 1"]),
        ({"launch_bounds": (100,)}, [".maxntid 128, 1, 1"]),
        ({"launch_bounds": (128, 4)}, [".maxntid 128, 1, 1", ".minnctapersm 4"]),
        ({"max_registers": 40}, [".maxnreg 40"]),
        ({}, []),
    ],
)
def test_bounds_are_in_the_ptx(options: Any, lines: list[str]) -> None:
    @cuda.jit("void(float32[::1])", **options)
    def kernel(x):
        x[cuda.grid(1)] = 1

    text = next(iter(kernel.inspect_asm().values()))
    assert [line for line in text.splitlines() if line.startswith((".maxn", ".minn"))] == lines


@pytest.mark.parametrize(
    ("options", "error", "text"),
    [
        ({"max_registers": 0}, ValueError, "max_registers must be an integer from 1 to 255, not 0"),
        ({"max_registers": "many"}, TypeError, "max_registers must be an integer"),
        ({"launch_bounds": 2048}, ValueError, "at most 1024 threads of a block"),
        ({"launch_bounds": (32, 64)}, ValueError, "32 blocks of a multiprocessor"),
    ],
)
def test_bounds_that_no_gpu_has_are_refused(options: Any, error: Any, text: str) -> None:
    with pytest.raises(error, match=text):
        cuda.jit(**options)


def test_a_launch_beyond_its_bounds_is_refused() -> None:
    @cuda.jit(launch_bounds=64)
    def kernel(x):
        x[cuda.grid(1)] += 1

    x = numpy.zeros(128)
    kernel[2, 64](x)
    assert (x == 1).all()
    with pytest.raises(ValueError, match="promises blocks of at most 64 threads"):
        kernel[1, 128](x)


# ---- functions for other code ------------------------------------------------------------------------------


def add(x: Any, y: Any) -> Any:
    return x + y


def least(p: Any, n: Any) -> Any:
    found = p[0]
    for i in range(1, n):
        if p[i] < found:
            found = p[i]
    return found


def same(x: Any, y: Any) -> Any:
    return x == y


def scaled(x: Any) -> None:
    x[0] *= 2


FUNCTIONS = [
    (add, "float32(float32, float32)", types.float32, "b32"),
    (add, (types.float32, types.float32), types.float32, "b32"),
    (add, (types.int32, types.int32), types.int64, "b64"),
    (add, types.int16(types.int16, types.int16), types.int16, "b32"),
    (add, (types.float64, types.int8), types.float64, "b64"),
    (add, (types.float16, types.float16), types.float16, "b32"),
    (same, (types.uint64, types.uint64), types.boolean, "b32"),
    (least, (types.CPointer(types.uint8), types.int32), types.uint8, "b32"),
    (scaled, (types.float32[::1],), types.void, ""),
]


def assembled(text: str, tmp_path: pathlib.Path) -> None:
    if shutil.which("ptxas"):
        (tmp_path / "x.ptx").write_text(text)
        subprocess.run(["ptxas", "-c", "-arch=sm_80", "-o", tmp_path / "x.cubin", tmp_path / "x.ptx"], check=True)


@pytest.mark.parametrize(("function", "sig", "result", "bits"), FUNCTIONS)
def test_functions_become_ptx(function: Any, sig: Any, result: Any, bits: str, tmp_path: pathlib.Path) -> None:
    text, found = cuda.compile(function, sig, cc=(8, 0))
    given = rf"\(\.param \.{bits} func_retval0\) " if bits else ""
    assert found == result and re.search(rf"\.visible \.func {given}{function.__name__}\(", text)
    assert ".entry" not in text and "global" not in text  # pointers lead anywhere
    assembled(text, tmp_path)
    text, found = cuda.compile_ptx(function, sig, device=True, cc=(8, 0), abi_info={"abi_name": "_Z1fv"})
    assert found == result
    assert re.search(r"\.func \(\.param \.b32 func_retval0\) _Z1fv\(\s*\.param \.b64 result,", text)
    assembled(text, tmp_path)


def test_a_lambda_gets_a_name() -> None:
    double = lambda x: x * 2  # noqa: E731
    text, found = cuda.compile_ptx(double, (cuda.float32,), device=True, cc=(8, 0), abi_info={"abi_name": "double"})
    assert found == cuda.float64 and re.search(r"\.func .* double\(", text)


@pytest.mark.parametrize("abi", ["c", "numba"])
@pytest.mark.parametrize("type_", ["float32", "int8", "bool_", "float64", "uint64"])
def test_callers_find_what_they_declare(abi: str, type_: str, tmp_path: pathlib.Path) -> None:
    kind = getattr(types, type_)
    declared = cuda.declare_device("add", kind(kind, kind), abi=abi)

    def kernel(x: Any) -> None:
        x[0] = declared(x[1], x[2])

    caller, _ = cuda.compile_ptx(kernel, (kind[::1],), cc=(8, 0))
    code, _ = cuda.compile(add, kind(kind, kind), cc=(8, 0), abi=abi)
    assert (".extern .func (.param .b64" in caller) == (abi == "c" and kind.bitwidth == 64)
    assembled(code + re.sub(r"^\.(version|target|address|extern).*$", "", caller, flags=re.M), tmp_path)


def wide(x: Any) -> Any:
    return x, x


def named_i(x: Any) -> Any:
    return x + x


def sharing(x: Any) -> Any:
    s = cuda.shared.array(32, types.float32)
    s[cuda.threadIdx.x] = x
    cuda.syncthreads()
    return s[31 - cuda.threadIdx.x]


@pytest.mark.parametrize(
    ("function", "type_", "text"),
    [
        (wide, types.float32, "returns a real number or nothing, found tuple"),
        (named_i, types.complex64, "found complex64 scalar"),
        (sharing, types.float32, "has no shared memory"),
    ],
)
def test_functions_that_other_code_cannot_call(function: Any, type_: Any, text: str) -> None:
    with pytest.raises(cuda.errors.NumbaError, match=text):
        cuda.compile(function, (type_,))


def test_fastmath_is_seen_in_ptx() -> None:
    def quick(x: Any, y: Any, z: Any) -> Any:
        return math.sqrt((x * y + z) / y)

    arguments = (types.float32,) * 3
    exact, _ = cuda.compile(quick, arguments)
    assert all(word in exact for word in ("fma.rn.f32", "div.rn.f32", "sqrt.rn.f32")) and "ftz" not in exact
    fast, _ = cuda.compile(quick, arguments, fastmath=True)
    assert all(word in fast for word in ("fma.rn.ftz.f32", "div.approx.ftz.f32", "sqrt.approx.ftz.f32"))
