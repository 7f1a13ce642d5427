# SPDX-License-Identifier: Apache-2.0
"""Runs each file of on_mock/ in a process of its own, where the driver is the mock."""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[3]
FILES = sorted((ROOT / "tests" / "python" / "core" / "on_mock").glob("test_*.py"))


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_on_the_mock(file: pathlib.Path, mock_core_library: str, mock_nvml_library: str) -> None:
    extra = {
        "TESSERA_CUDA_DRIVER": mock_core_library,
        "TESSERA_PATH_NVML": mock_nvml_library,
        "TESSERA_MOCK": "1",
        "TESSERA_CACHE_DIR": "off",
    }
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", str(file)]
    run = subprocess.run(
        command, env=os.environ | extra, capture_output=True, text=True, timeout=300
    )
    assert run.returncode == 0, run.stdout[-6000:] + run.stderr[-2000:]
