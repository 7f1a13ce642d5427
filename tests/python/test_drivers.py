# SPDX-License-Identifier: Apache-2.0
"""Which driver a test process opens, on a machine that has one: here the mock under the name of the real one."""

from __future__ import annotations

import pathlib
import shutil
import subprocess
import sys

import drivers
import pytest

HERE = pathlib.Path(__file__).parent


@pytest.fixture
def machine(mock_library: str, tmp_path: pathlib.Path) -> dict[str, str]:
    """The environment on a machine with a GPU."""
    shutil.copy(mock_library, tmp_path / "libcuda.so.1")
    environment = drivers.of_machine() | {"LD_LIBRARY_PATH": str(tmp_path)}
    environment.pop(drivers.VARIABLE, None)
    return environment


def python(environment: dict[str, str], *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *words], env=environment, cwd=HERE, capture_output=True, text=True, check=False
    )


def test_tests_take_the_mock_beside_a_driver(machine: dict[str, str]) -> None:
    file = str(HERE / "bindings" / "test_special.py")
    done = python(machine, "-m", "pytest", "-p", "no:cacheprovider", file, "-k", "arguments_by_name")
    assert done.returncode == 0 and "1 passed" in done.stdout, done.stdout
    assert "GPU tests ran on Mock GPU" in done.stdout


@pytest.mark.parametrize(("kind", "name"), [("", "libcuda.so.1"), ("mock", "libcuda.so.1"), ("gpu", "libcuda_mock.so")])
def test_another_driver_is_noticed(machine: dict[str, str], mock_library: str, kind: str, name: str) -> None:
    path = mock_library if kind == "gpu" else str(pathlib.Path(machine["LD_LIBRARY_PATH"]) / name)
    code = f"import ctypes, drivers; ctypes.CDLL({path!r}); drivers.check()"
    done = python(machine | {"TESSERA_TESTS_ON": kind}, "-c", code)
    assert done.returncode == 1 and f"opened the driver {path}" in done.stderr
