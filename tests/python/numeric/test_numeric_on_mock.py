# SPDX-License-Identifier: Apache-2.0
"""Runs each file of on_mock/ in a process of its own, where the driver is the mock."""

from __future__ import annotations

import os
import pathlib

import drivers
import pytest

FILES = sorted(pathlib.Path(__file__).parent.glob("on_mock/test_*.py"))


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_on_the_mock(file: pathlib.Path, mock_core_library: str) -> None:
    extra = {drivers.VARIABLE: mock_core_library}
    drivers.run_file(file, "mock", os.environ | extra, "-x")
