# SPDX-License-Identifier: Apache-2.0
"""Runs each file of a folder on_gpu/ in a process of its own, where the driver is that of the machine."""

from __future__ import annotations

import pathlib

import drivers
import pytest

ROOT = pathlib.Path(__file__).parent
FILES = sorted(ROOT.rglob("on_gpu/test_*.py"))
pytestmark = pytest.mark.gpu


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_on_the_gpu(file: pathlib.Path) -> None:
    said = drivers.run_file(file, "gpu", drivers.of_machine())
    assert f"GPU tests ran on {drivers.gpu_name()}" in said
    if " passed" not in said:
        pytest.skip("what its tests need is not installed")
