# SPDX-License-Identifier: Apache-2.0
"""What the tests share: which driver a process has, and the mock driver of tests/mock, compiled here.

A process opens a driver once, so tests that want another one run in a process of their own:

    tests            driver                    process
    all others       none; the mock, where a test asks for the fixture `mock`     pytest's own
    */on_mock/*      the mock                  one for each file, by test_on_mock.py
    */on_gpu/*       that of the machine       one for each file, by test_on_gpu.py
    marked `gpu`     that of the machine       started by the test, with `drivers.of_machine()`

So tests do the same on a machine with a GPU as on one without. After each file it is checked that the process has
opened no other driver.
"""

from __future__ import annotations

import ctypes
import os
import pathlib
import shutil
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import drivers
import pytest
from mock_driver import MockState

drivers.hide()  # before anything looks for one
os.environ.setdefault("TESSERA_TIERS", "0")  # each kernel is compiled once; tests of tiers say otherwise
os.environ.setdefault("TESSERA_LEND", "0")  # functions are ours on few elements, too; test_lent.py says otherwise

from tessera.bindings import driver  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tools"))  # gen_language reads the tables of the languages
collect_ignore_glob = [f"*/on_{kind}*" for kind in ("mock", "gpu") if kind != drivers.KIND]


def pytest_configure(config: Any) -> None:
    config.addinivalue_line("markers", "gpu: runs programs on the GPU of this machine")


def pytest_collection_modifyitems(items: list[Any]) -> None:
    marked = [item for item in items if item.get_closest_marker("gpu")]
    if marked and drivers.gpu_name() is None:
        for item in marked:
            item.add_marker(pytest.mark.skip(reason="no GPU"))


def pytest_terminal_summary(terminalreporter: Any) -> None:
    if drivers.KIND != "mock":
        name = drivers.gpu_name()
        terminalreporter.write_line(f"GPU tests ran on {name}" if name else "GPU tests were skipped: no GPU")


@pytest.fixture(scope="module", autouse=True)
def _no_other_driver() -> Iterator[None]:
    yield
    drivers.check()


def _build(folder: pathlib.Path, *names: str) -> str:
    compiler = shutil.which("cc") or pytest.skip("no C compiler to build the mock driver with")
    path = str(folder / names[0].replace(".c", ".so"))
    options = [
        "-shared",
        "-fPIC",
        "-D_GNU_SOURCE",
        *(f"-I{ROOT / name}" for name in ("src", "include")),
    ]
    sources = [str(ROOT / "tests" / "mock" / name) for name in names]
    subprocess.run([compiler, *options, *sources, "-o", path], check=True)
    return path


@pytest.fixture(scope="session")
def mock_library(tmp_path_factory: pytest.TempPathFactory) -> str:
    return _build(tmp_path_factory.mktemp("mock"), "libcuda_mock.c", "mock_bindings.c")


@pytest.fixture(scope="session")
def mock_core_library(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The driver of tessera.core's tests, which has graphs, arrays and textures."""
    names = ("mock_bindings.c", "mock_core.c", "mock_graph.c", "mock_capture.c", "mock_pools.c")
    return _build(tmp_path_factory.mktemp("mock"), "libcuda_mock.c", *names)


@pytest.fixture(scope="session")
def mock_nvml_library(tmp_path_factory: pytest.TempPathFactory) -> str:
    return _build(tmp_path_factory.mktemp("mock"), "libnvml_mock.c")


@pytest.fixture(scope="session")
def opened(mock_library: str) -> MockState:
    with drivers.named(mock_library):
        assert driver.cuInit(0) == (driver.CUresult.CUDA_SUCCESS,)
    drivers.check()
    return MockState.in_dll(ctypes.CDLL(mock_library), "mock_state_data")


@pytest.fixture
def mock(opened: MockState) -> MockState:
    """The state of the mock driver, with a current context."""
    status, _ = driver.cuCtxCreate(None, 0, 0)
    assert not status
    opened.alloc_failures = opened.sticky = opened.init_result = opened.load_result = 0
    return opened
