# SPDX-License-Identifier: Apache-2.0
"""Runs each file of on_mock/ in a process of its own, where the driver is the mock."""

from __future__ import annotations

import os
import pathlib
import shutil
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[3]
FILES = sorted((ROOT / "tests" / "python" / "core" / "on_mock").glob("test_*.py"))


@pytest.fixture(scope="session")
def mock_driver(tmp_path_factory: pytest.TempPathFactory) -> str:
    compiler = shutil.which("cc") or pytest.skip("no C compiler to build the mock driver with")
    path = tmp_path_factory.mktemp("mock") / "libcuda_mock.so"
    sources = [str(ROOT / "tests/mock" / name) for name in ("libcuda_mock.c", "mock_bindings.c")]
    folders = [f"-I{ROOT / name}" for name in ("src", "include")]
    options = [compiler, "-shared", "-fPIC", "-D_GNU_SOURCE", *folders]
    subprocess.run([*options, *sources, "-o", str(path)], check=True)
    return str(path)


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_on_the_mock(file: pathlib.Path, mock_driver: str) -> None:
    extra = {"TESSERA_CUDA_DRIVER": mock_driver, "TESSERA_MOCK": "1", "TESSERA_CACHE_DIR": "off"}
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", str(file)]
    run = subprocess.run(
        command, env=os.environ | extra, capture_output=True, text=True, timeout=300
    )
    assert run.returncode == 0, run.stdout[-6000:] + run.stderr[-2000:]
