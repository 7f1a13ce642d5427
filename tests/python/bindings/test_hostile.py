# SPDX-License-Identifier: Apache-2.0
"""Bad input, as a new user would give it: a clear exception, and nothing reaches the driver."""

from __future__ import annotations

import ctypes
import enum
import os
import subprocess
import sys
from typing import Any

import drivers
import pytest

from tessera.bindings import driver, nvml, nvrtc, nvvm, runtime


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: driver.cuMemAlloc(-1), OverflowError, "cuMemAlloc: bytesize is -1, out of range"),
        (lambda: driver.cuMemAlloc(2**64), OverflowError, "bytesize"),
        (lambda: driver.cuMemAlloc(1.5), TypeError, "bytesize must be an int, not float"),
        (lambda: driver.cuMemAlloc("12"), TypeError, "bytesize must be an int, not str"),
        (lambda: driver.cuInit(2**32), OverflowError, "Flags is 4294967296"),
        (lambda: driver.cuMemsetD8(0, 256, 1), OverflowError, "uc is 256"),
        (lambda: driver.cuDeviceGet(2**31), OverflowError, "ordinal is 2147483648"),
        (lambda: driver.cuMemAlloc(), TypeError, r"takes 1 arguments, not 0: cuMemAlloc\(bytesize\)"),
        (lambda: driver.cuMemAlloc(1, 2), TypeError, "takes 1 arguments, not 2"),
        (lambda: driver.cuMemAlloc(size=1), TypeError, "there is no argument 'size'"),
        (lambda: driver.cuDeviceGetName(3, length=3), TypeError, "twice the argument 'length'"),
        (lambda: driver.cuCtxSetCurrent("ctx"), TypeError, "must be a CUcontext, an int or None, not str"),
        (lambda: driver.cuCtxSetCurrent(driver.CUstream(1)), TypeError, "must be a CUcontext, not a CUstream"),
        (lambda: driver.cuDeviceGetAttribute(None, 0), TypeError, "must be a member of CUdevice_attribute, not None"),
        (lambda: driver.cuDeviceGetAttribute("x", 0), TypeError, "not str"),
        (lambda: driver.cuMemcpyHtoD(1, "text", 4), TypeError, "srcHost must be an address"),
        (lambda: driver.cuMemcpyHtoD(1, b"abc", 4), ValueError, "srcHost has 3 bytes, but 4 are to be copied"),
        (lambda: driver.cuMemcpyDtoH(bytearray(3), 1, 4), ValueError, "dstHost has 3 bytes, but 4"),
        (lambda: driver.cuModuleGetFunction(1, 3), TypeError, "name must be bytes, str or None, not int"),
        (lambda: driver.cuModuleGetFunction(1, b"a\0b"), ValueError, "name has a NUL byte at 1"),
        (lambda: driver.cuMemcpy2D(5), TypeError, "pCopy must be a CUDA_MEMCPY2D or None"),
        (lambda: driver.cuMemcpy2D(driver.CUDA_MEMCPY3D()), TypeError, "pCopy must be a"),
        (lambda: driver.cuMemPrefetchAsync(0, 0, None, 0, 0), TypeError,
            "location must be a CUmemLocation, not NoneType"),
        (lambda: driver.cuGraphAddDependencies(1, [1], [2], None, 2), ValueError,
            "from_ has 1 entries, but 2 are asked"),
        (lambda: driver.cuGraphAddDependencies(1, 7, [2], None, 1), TypeError,
            "from_ must be a list or tuple of CUgraphNode"),
        (lambda: driver.cuGraphAddDependencies(1, ["x"], [2], None, 1), TypeError, "from_ must be a CUgraphNode"),
        (lambda: driver.cuDeviceGetName(-1, 0), ValueError, "cannot have -1 entries"),
        (lambda: driver.cuDeviceGetName(2**30, 0), ValueError, "cannot have 1073741824 entries"),
        (lambda: driver.cuGraphGetNodes(1, -1), ValueError, "-1 entries"),
        (lambda: driver.cuTexRefSetMipmapLevelBias(1, "x"), TypeError, "bias must be a float, not str"),
        (lambda: driver.cuStreamAddCallback(0, "f", None, 0), TypeError, "callback must be a CUstreamCallback"),
        (lambda: driver.cuLinkCreate(2, [driver.CUjit_option(0)], [1]), ValueError, "2 options asked for"),
        (lambda: driver.cuPointerGetAttribute(3, 0), TypeError, "an attribute must be a member of its enum"),
        (lambda: nvrtc.nvrtcCompileProgram(0, 2, [b"-a"]), ValueError, "options has 1 entries, but 2"),
        (lambda: nvrtc.nvrtcCompileProgram(0, 1, [b"-a\0b"]), ValueError, "NUL byte"),
        (lambda: nvvm.create_program(1), TypeError, "takes 0 arguments"),
    ],
)  # fmt: skip
def test_a_bad_argument_is_named(
    opened: Any, call: Any, error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words):
        call()


@pytest.mark.parametrize(
    ("change", "error", "words"),
    [
        ({"gridDimX": -1}, OverflowError, "CUlaunchConfig.gridDimX is -1"),
        ({"gridDimX": "3"}, TypeError, "CUlaunchConfig.gridDimX must be an int"),
        ({"gridX": 3}, AttributeError, "gridX"),
        ({"hStream": driver.CUcontext(1)}, TypeError, "CUlaunchConfig.hStream must be a CUstream"),
        ({"attrs": [3]}, TypeError, "CUlaunchConfig.attrs must be a CUlaunchAttribute"),
        ({"attrs": 3}, TypeError, "CUlaunchConfig.attrs must be a list or tuple"),
    ],
)
def test_a_bad_field_is_named(change: dict[str, Any], error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        driver.CUlaunchConfig(**change)


def test_bytes_of_the_wrong_length() -> None:
    with pytest.raises(ValueError, match=r"CUuuid.bytes has room for 16 bytes, not 15"):
        driver.CUuuid(bytes=bytes(15))
    with pytest.raises(ValueError, match=r"CUtensorMap.opaque must be a list of 16 values"):
        driver.CUtensorMap(opaque=[1])


def test_a_count_beyond_its_list(opened: Any) -> None:
    config = driver.CUlaunchConfig(attrs=[driver.CUlaunchAttribute()], numAttrs=3)
    with pytest.raises(ValueError, match="CUlaunchConfig.attrs has 1 entries, but its count is 3"):
        driver.cuLaunchKernelEx(config, 0, None, 0)


@pytest.mark.parametrize(
    ("params", "words"),
    [
        (((1, 2), (ctypes.c_int,)), "two tuples of one length"),
        ((1, 2, 3), "must be .values, types."),
        (((1,), (int,)), "no type of a parameter"),
        (((1,), (None,)), "say its C type"),
        ((("x",), (ctypes.c_int,)), "kernelParams must be an int"),
        (((object(),), (ctypes.c_void_p,)), "kernelParams must be an address"),
        ("abc", "kernelParams must be an address"),
    ],
)
def test_bad_kernel_params(opened: Any, params: Any, words: str) -> None:
    with pytest.raises(TypeError, match=words):
        driver.cuLaunchKernel(0, 1, 1, 1, 1, 1, 1, 0, 0, params, 0)


def test_a_kernel_parameter_out_of_range(opened: Any) -> None:
    with pytest.raises(OverflowError, match="kernelParams is 256"):
        driver.cuLaunchKernel(0, 1, 1, 1, 1, 1, 1, 0, 0, ((256,), (ctypes.c_ubyte,)), 0)
    far = enum.IntEnum("far", {"AWAY": 2**32 + 1}).AWAY  # type: ignore[attr-defined]
    with pytest.raises(OverflowError, match="kernelParams is .*AWAY.* out of range"):
        driver.cuLaunchKernel(0, 1, 1, 1, 1, 1, 1, 0, 0, ((far,), (None,)), 0)


def test_a_number_beyond_an_enum_is_not_cut() -> None:
    with pytest.raises(OverflowError, match="CUmemLocation.type is 4294967297, out of range"):
        driver.CUmemLocation(type=2**32 + 1)


def test_a_field_belongs_to_its_class() -> None:
    field = vars(driver.CUmemLocation)["id"]
    for other in (3, driver.CUuuid(), driver.CUdeviceptr(1)):
        with pytest.raises(TypeError, match="CUmemLocation.id is no field of a"):
            field.__get__(other)
        with pytest.raises(TypeError, match="CUmemLocation.id is no field of a"):
            field.__set__(other, 1)


def test_a_character_beyond_64_bits_is_named() -> None:
    with pytest.raises(OverflowError, match="CUdevprop_st|CUipcEventHandle.reserved is"):
        driver.CUipcEventHandle(reserved=[2**70] + [0] * 63)


def test_base_classes_cannot_be_made() -> None:
    from tessera import _bindings

    for base in (_bindings.Handle, _bindings.Record):
        with pytest.raises((TypeError, AttributeError)):
            base()


def python(code: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | environment, capture_output=True, text=True, check=False,
    )  # fmt: skip


def test_without_a_driver_the_first_call_says_so() -> None:
    code = """
from tessera.bindings import driver
import tessera.pathfinder as p
if p.find_nvidia_dynamic_lib("cuda"):
    raise SystemExit(3)
try:
    driver.cuInit(0)
except p.DynamicLibNotFoundError as error:
    print(error)
"""
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=drivers.of_machine(), capture_output=True, text=True, check=False,
    )  # fmt: skip
    if done.returncode == 3:
        pytest.skip("there is a driver here")
    assert "libcuda.so.1 was not found" in done.stdout, done.stderr


def test_a_driver_file_that_is_none() -> None:
    done = python(
        "from tessera.bindings import driver; driver.cuInit(0)", TESSERA_CUDA_DRIVER=__file__
    )
    assert done.returncode == 1 and "OSError" in done.stderr and "invalid ELF header" in done.stderr


def test_a_function_newer_than_the_driver(mock_library: str) -> None:
    done = python(
        "from tessera.bindings import driver; driver.cuGraphCreate(0)",
        TESSERA_CUDA_DRIVER=mock_library,
    )
    assert "FunctionNotFoundError: function cuGraphCreate is not found" in done.stderr


def test_importing_touches_no_library() -> None:
    code = """
import sys
from tessera.bindings import driver, runtime, nvrtc, nvvm, nvjitlink
maps = open("/proc/self/maps").read()
assert not any(name in maps for name in ("libcuda.so", "libcudart", "libnvrtc")), maps
assert "ctypes" not in sys.modules and "numpy" not in sys.modules
"""
    done = python(code, TESSERA_CUDA_DRIVER="/does/not/exist")
    assert done.returncode == 0, done.stderr


def test_a_child_process_may_call_after_fork(opened: Any) -> None:
    child = os.fork()
    if child == 0:
        os._exit(0 if driver.cuDeviceGetCount()[1] == 2 else 1)
    assert os.waitpid(child, 0)[1] == 0


def test_shutdown_with_callbacks_alive(mock_library: str) -> None:
    code = """
import atexit
from tessera.bindings import driver
driver.cuInit(0)
atexit.register(lambda: driver.cuLaunchHostFunc(0, print, "at exit"))
held = [driver.CUlaunchConfig(attrs=[driver.CUlaunchAttribute()]), driver.cuMemAlloc,
driver.checked]
"""
    done = python(code, TESSERA_CUDA_DRIVER=mock_library)
    assert (done.returncode, done.stdout, done.stderr) == (0, "at exit\n", "")


@pytest.mark.parametrize(
    ("owner", "name", "meant"),
    [
        (driver, "cuMemAloc", "cuMemAlloc"),
        (driver.checked, "cuMemAloc", "cuMemAlloc"),
        (driver.CUresult, "CUDA_SUCESS", "CUDA_SUCCESS"),
        (nvml, "nvmlInit_v2", "nvmlInit"),
    ],
)
def test_a_mistyped_name_is_answered(owner: Any, name: str, meant: str) -> None:
    with pytest.raises(AttributeError, match=f"'{name}'; did you mean '{meant}'") as caught:
        getattr(owner, name)
    assert caught.value.name == name
    assert not hasattr(owner, "_nothing") and not hasattr(owner, "zzz")


def test_the_runtime_says_that_there_is_no_driver(monkeypatch: pytest.MonkeyPatch) -> None:
    from tessera import pathfinder

    def nowhere(_name: str) -> Any:
        raise pathfinder.DynamicLibNotFoundError("libcuda.so.1 was not found")

    monkeypatch.setattr(pathfinder, "locate_nvidia_dynamic_lib", lambda _name: None)
    assert runtime._no_driver() == ""
    monkeypatch.setattr(pathfinder, "locate_nvidia_dynamic_lib", nowhere)
    assert runtime._no_driver() == ": libcuda.so.1 was not found"
