# SPDX-License-Identifier: Apache-2.0
"""What the tests share: the mock driver of tests/mock, compiled here."""

from __future__ import annotations

import pathlib
import shutil
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def mock_library(tmp_path_factory: pytest.TempPathFactory) -> str:
    compiler = shutil.which("cc") or pytest.skip("no C compiler to build the mock driver with")
    path = tmp_path_factory.mktemp("mock") / "libcuda_mock.so"
    sources = [
        str(ROOT / "tests" / "mock" / name) for name in ("libcuda_mock.c", "mock_bindings.c")
    ]
    folders = [f"-I{ROOT / name}" for name in ("src", "include")]
    subprocess.run(
        [compiler, "-shared", "-fPIC", "-D_GNU_SOURCE", *folders, *sources, "-o", str(path)],
        check=True,
    )
    return str(path)
