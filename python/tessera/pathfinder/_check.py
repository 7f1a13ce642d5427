# SPDX-License-Identifier: Apache-2.0
"""Do the parts that are found belong together? Versions are read from files; nothing is loaded but
the driver."""

from __future__ import annotations

import functools
import os
import re
from dataclasses import dataclass

__all__ = ["CHECKED", "Part", "Report", "check"]

Version = tuple[int, ...]
CHECKED = ("cudart", "nvrtc", "nvJitLink", "nvvm")


@dataclass(frozen=True)
class Part:
    """One thing that was found; `version` is (major, minor), (major,) or () as far as it is
    known."""

    name: str
    path: str
    version: Version
    found_via: str

    def __str__(self) -> str:
        return (
            f"{self.name} {'.'.join(map(str, self.version)) or '?'} {self.path} ({self.found_via})"
        )


@dataclass(frozen=True)
class Report:
    """The parts, what is wrong with them together, and what is missing: nothing has to be there."""

    parts: tuple[Part, ...]
    problems: tuple[str, ...]
    missing: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether nothing was found to be wrong."""
        return not self.problems

    def __str__(self) -> str:
        lines = [str(part) for part in self.parts]
        return "\n".join(
            [
                *(lines or ["no part of CUDA was found"]),
                *(f"problem: {p}" for p in self.problems),
                *(f"missing: {p}" for p in self.missing),
            ]
        )


def _of_header(root: str) -> Version:
    """The CUDA_VERSION of root/include/cuda.h."""
    try:
        with open(os.path.join(root, "cuda.h"), encoding="utf-8", errors="replace") as file:
            found = re.search(r"#define CUDA_VERSION (\d+)", file.read())
    except OSError:
        return ()
    return (int(found.group(1)) // 1000, int(found.group(1)) % 1000 // 10) if found else ()


@functools.cache
def _wheel_versions() -> dict[str, Version]:
    """Path of every shared library or program of NVIDIA's wheels -> version of the wheel."""
    from importlib import metadata

    versions: dict[str, Version] = {}
    for wheel in metadata.distributions():
        if not (wheel.metadata["Name"] or "").lower().startswith("nvidia"):
            continue
        version = tuple(int(n) for n in re.findall(r"\d+", wheel.version)[:2])
        for file in wheel.files or ():
            versions[os.path.realpath(str(wheel.locate_file(file)))] = version
    return versions


def _of_file(path: str) -> Version:
    """From the wheel it belongs to, the full name of the file, or the toolkit around it."""
    real = os.path.realpath(path)
    if real in _wheel_versions():
        return _wheel_versions()[real]
    found = re.search(r"\.so\.(\d+)\.(\d+)\.\d+", os.path.basename(real))
    if found and "libnvvm" not in real:  # libnvvm counts versions of its own
        return int(found.group(1)), int(found.group(2))
    folder = os.path.dirname(real)
    for _ in range(4):
        folder = os.path.dirname(folder)
        version = _of_header(os.path.join(folder, "include"))
        if version:
            return version
    return ()


def _driver_version() -> Version:
    """(major, minor) of CUDA that the driver supports, without starting it; () where there is
    none."""
    from ..bindings import driver
    from . import DynamicLibNotFoundError

    try:
        status, version = driver.cuDriverGetVersion()
    except (DynamicLibNotFoundError, OSError, RuntimeError):
        return ()
    return () if status else (version // 1000, version % 1000 // 10)


def _parts() -> list[Part]:
    from . import (
        find_nvidia_binary_utility,
        find_nvidia_dynamic_lib,
        locate_nvidia_dynamic_lib,
        locate_nvidia_header_directory,
    )

    parts = []
    for name in CHECKED:
        if find_nvidia_dynamic_lib(name):
            found = locate_nvidia_dynamic_lib(name)
            parts.append(Part(name, found.abs_path, _of_file(found.abs_path), found.found_via))
    headers = locate_nvidia_header_directory("cudart")
    if headers and headers.abs_path:
        parts.append(
            Part("headers", headers.abs_path, _of_header(headers.abs_path), headers.found_via)
        )
    ptxas = find_nvidia_binary_utility("ptxas")
    if ptxas:
        parts.append(Part("ptxas", ptxas, _of_file(ptxas), "toolkit"))
    if driver := _driver_version():
        parts.append(
            Part(
                "driver", find_nvidia_dynamic_lib("cuda") or "libcuda.so.1", driver, "system-search"
            )
        )
    return parts


def _missing() -> list[str]:
    """Every library that is not here, what brings it, and where it was looked for."""
    from . import find_nvidia_dynamic_lib, locate_nvidia_dynamic_lib
    from ._catalog import WHEELS
    from ._errors import DynamicLibNotFoundError

    lines = []
    for name in (name for name in CHECKED if not find_nvidia_dynamic_lib(name)):
        try:
            locate_nvidia_dynamic_lib(name)
        except DynamicLibNotFoundError as error:
            places = "".join(f"\n    {path}" for path in error.tried)
            lines.append(f"{name}: `pip install {WHEELS[name]}` brings it; looked in{places}")
    return lines


def _problems(parts: list[Part]) -> list[str]:
    known = {part.name: part for part in parts if part.version}
    problems = []

    def compare(a: str, b: str, bad: bool, why: str) -> None:
        if bad:
            problems.append(f"{a} is {_text(known[a])}, {b} is {_text(known[b])}: {why}")

    def both(a: str, b: str) -> tuple[Version, Version] | None:
        return (known[a].version, known[b].version) if a in known and b in known else None

    for name in ("cudart", "nvJitLink", "nvvm", "headers", "ptxas"):
        if pair := both("nvrtc", name):
            compare("nvrtc", name, pair[0][0] != pair[1][0], "they are of different major versions")
    if pair := both("nvrtc", "nvJitLink"):
        compare("nvrtc", "nvJitLink", pair[0] > pair[1] and pair[0][0] == pair[1][0],
                "a linker must not be older than the compiler of its input")  # fmt: skip
    if pair := both("nvrtc", "headers"):
        compare("nvrtc", "headers", pair[0] != pair[1] and pair[0][0] == pair[1][0],
                "NVRTC reads the headers of its own version")  # fmt: skip
    for name in ("nvrtc", "ptxas", "cudart"):
        if pair := both(name, "driver"):
            compare(
                name,
                "driver",
                pair[0][0] > pair[1][0],
                "install a newer driver, or parts for this one",
            )
    return problems


def _text(part: Part) -> str:
    return f"{'.'.join(map(str, part.version))} ({part.path})"


@functools.cache
def check() -> Report:
    """The versions of compiler, linker, runtime, headers and driver that would be used here, and
    what clashes."""
    parts = _parts()
    return Report(tuple(parts), tuple(_problems(parts)), tuple(_missing()))
