# SPDX-License-Identifier: Apache-2.0
"""Which CUDA driver a test process has: none, the mock of tests/mock, or that of the machine. See conftest.py."""

from __future__ import annotations

import contextlib
import functools
import os
import pathlib
import subprocess
import sys
from collections.abc import Iterator

VARIABLE = "TESSERA_CUDA_DRIVER"
GIVEN = "TESSERA_TESTS_GIVEN_DRIVER"  # what VARIABLE was before the tests
KIND = os.environ.get("TESSERA_TESTS_ON", "")  # "mock" or "gpu" in a process that `run_file` started
NOWHERE = "/no/driver/for/tests"


def hide() -> None:
    """This process and those it starts find no driver, unless it was started for one."""
    if not KIND and GIVEN not in os.environ:
        os.environ[GIVEN] = os.environ.get(VARIABLE, "")
        os.environ[VARIABLE] = NOWHERE


@contextlib.contextmanager
def named(path: str) -> Iterator[None]:
    """The driver that is opened here, if none was before."""
    before = os.environ[VARIABLE]
    os.environ[VARIABLE] = path
    try:
        yield
    finally:
        os.environ[VARIABLE] = before


def of_machine() -> dict[str, str]:
    """The environment of a process that finds the driver of this machine."""
    environment = dict(os.environ)
    given = environment.pop(GIVEN, "")
    environment.pop(VARIABLE, None)
    return environment | ({VARIABLE: given} if given else {})


@functools.cache
def gpu_name() -> str | None:
    """The first GPU of this machine; None where there is none."""
    code = "import tessera; print(tessera.device_info('cuda')['name'])"
    environment = dict(os.environ) if KIND else of_machine()
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False
    )
    return done.stdout.strip() or None


def is_driver(name: str) -> bool:
    return name.startswith("libcuda") and not name.startswith("libcudart")


def opened() -> set[str]:
    """The drivers that this process has opened, by what it has mapped."""
    maps = pathlib.Path("/proc/self/maps")
    files = {line.split()[-1] for line in maps.read_text().splitlines()} if maps.exists() else set()
    return {file for file in files if is_driver(pathlib.Path(file).name)}


def check() -> None:
    """Raises if this process has opened another driver than its tests are for."""
    is_mock = {path: pathlib.Path(path).name.startswith("libcuda_mock") for path in opened()}
    wrong = [path for path, mock in is_mock.items() if mock == (KIND == "gpu")]
    assert not wrong, f"tests {f'on {KIND}' if KIND else 'without a GPU'} opened the driver {', '.join(wrong)}"


def run_file(file: pathlib.Path, kind: str, environment: dict[str, str], *options: str) -> str:
    """Runs a test file in a process of its own and gives what it said."""
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *options, str(file)]
    extra = {"TESSERA_TESTS_ON": kind, "TESSERA_CACHE_DIR": "off"}
    run = subprocess.run(
        command, env=environment | extra, capture_output=True, text=True, timeout=600, check=False
    )
    assert run.returncode == 0, run.stdout[-6000:] + run.stderr[-2000:]
    return run.stdout
