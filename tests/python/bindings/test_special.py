# SPDX-License-Identifier: Apache-2.0
"""Functions written by hand on top of the table: names of arguments, callables, overrides."""

from __future__ import annotations

import ctypes
import inspect
import os
import subprocess
import sys
from typing import Any

import pytest

from tessera import pathfinder
from tessera.bindings import driver, runtime
from tessera.bindings._attributes import input_names

OK = driver.CUresult.CUDA_SUCCESS


@pytest.mark.parametrize("module", [driver, runtime])
def test_every_function_tells_the_names_of_c(module: Any) -> None:
    for name in module._api.specials:
        names = set(module._api.parameters(name))
        assert set(input_names(getattr(module, name))) <= names, name


def test_arguments_by_name(mock: Any) -> None:
    kind = driver.CUpointer_attribute.CU_POINTER_ATTRIBUTE_MEMORY_TYPE
    memory = driver.checked.cuMemAlloc(8)
    assert driver.cuPointerGetAttribute(attribute=kind, ptr=memory)[0] is OK
    assert driver.cuPointerGetAttribute(kind, ptr=memory)[1] is driver.CUmemorytype(2)
    _, nodes, n = driver.cuGraphGetNodes(hGraph=1, numNodes=2)
    assert (len(nodes), n) == (2, 3) and driver.cuGraphGetNodes(hGraph=1)[-1] == 3
    with pytest.raises(TypeError, match=r"does not take graph.*cuGraphGetNodes\(hGraph, numNodes\)"):
        driver.cuGraphGetNodes(graph=1)
    seen: list[Any] = []
    assert driver.cuLaunchHostFunc(hStream=0, fn=seen.append, userData="x")[0] is OK
    assert seen == ["x"]


def test_a_context_is_written_to_where_one_is_given(mock: Any) -> None:
    """As C has it before CUDA 13, without parameters of creation."""
    context = driver.CUcontext()
    status, *found = driver.cuCtxCreate(context, 0, driver.CUdevice(0))
    assert status == driver.CUresult.CUDA_SUCCESS and int(context) and [int(c) for c in found] == [int(context)]
    with pytest.raises(TypeError, match="ctxCreateParams"):
        driver.cuCtxCreate(driver.CUstream(), 0, 0)


def test_a_callable_as_a_c_function(mock: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Any] = []
    function = driver.CUhostFn(seen.append)
    assert int(driver.CUhostFn(seen.append)) == int(function) != 0
    assert driver.cuLaunchHostFunc(0, function, 77)[0] is OK and seen == [77]
    node = driver.CUDA_HOST_NODE_PARAMS(fn=function, userData=5)
    ctypes.CFUNCTYPE(None, ctypes.c_void_p)(int(node.fn))(5)
    assert seen == [77, 5]
    reported: list[Any] = []
    monkeypatch.setattr(sys, "unraisablehook", reported.append)
    assert driver.cuLaunchHostFunc(0, driver.CUhostFn(lambda _: 1 // 0), 1)[0] is OK
    assert reported[0].exc_type is ZeroDivisionError
    with pytest.raises(TypeError, match="address of a C function"):
        driver.CUasyncCallback(print)


def run(code: str, **variables: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code], env=os.environ | variables, capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    assert done.returncode != 0
    return done.stderr.splitlines()[-1]


def test_a_driver_that_is_not_there_names_its_variable() -> None:
    code = "from tessera.bindings import driver; driver.cuInit(0)"
    said = run(code, TESSERA_CUDA_DRIVER="/nope")
    assert "TESSERA_CUDA_DRIVER names '/nope', which does not exist" in said


@pytest.mark.parametrize(
    ("call", "variable"),
    [
        ("find_nvidia_dynamic_lib('nvrtc')", "TESSERA_PATH_NVRTC"),
        ("find_nvidia_header_directory('cudart')", "TESSERA_PATH_CUDART_INCLUDE"),
        ("find_bitcode_lib('device')", "TESSERA_PATH_DEVICE"),
        ("find_static_lib('cudadevrt')", "TESSERA_PATH_CUDADEVRT"),
        ("find_nvidia_binary_utility('ptxas')", "TESSERA_PATH_PTXAS"),
        ("find_nvidia_dynamic_lib('cuda')", "TESSERA_CUDA_DRIVER"),
    ],
)
def test_an_override_of_nothing_is_no_silence(call: str, variable: str) -> None:
    said = run(f"from tessera import pathfinder; pathfinder.{call}", **{variable: "/nope"})
    assert f"{variable} names '/nope', which does not exist" in said


def test_quick_functions_are_in_the_table() -> None:
    from tessera.bindings._api import QUICK

    assert set(driver._api.entries) >= QUICK
    assert inspect.signature(driver.cuCtxGetCurrent).parameters == {}
    assert issubclass(pathfinder._OverrideError, pathfinder.DynamicLibNotFoundError)
