# SPDX-License-Identifier: Apache-2.0
"""Search order, overrides, errors and version checks, on folders made for the test."""

from __future__ import annotations

import os
import pathlib
import shutil
import subprocess
import warnings
from typing import Any

import pytest

from tessera import pathfinder
from tessera.pathfinder import _check, _search


class Machine:
    """A machine with nothing on it: wheels, conda, loader and toolkits are folders under `root`."""

    def __init__(self, root: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.root, self.patch = root, monkeypatch
        self.site = root / "site-packages"
        self.site.mkdir()
        for name in (
            "CUDA_PATH",
            "CUDA_HOME",
            "CONDA_PREFIX",
            "LD_LIBRARY_PATH",
            "TESSERA_CUDA_DRIVER",
        ):
            monkeypatch.delenv(name, raising=False)
        for name in [n for n in os.environ if n.startswith("TESSERA_PATH_")]:
            monkeypatch.delenv(name)
        monkeypatch.setattr(_search, "_site_packages", lambda: [str(self.site)])
        monkeypatch.setattr(_search, "_loader_cache", dict)
        monkeypatch.setattr(_search, "_last_toolkits", lambda: iter(()))
        self.forget()

    def forget(self) -> None:
        cached = [
            f
            for m in (pathfinder, _search, _check)
            for f in vars(m).values()
            if hasattr(f, "cache_clear")
        ]
        for function in cached:
            function.cache_clear()

    def add(self, path: str, text: str = "") -> str:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        return str(file)


@pytest.fixture
def machine(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    made = Machine(tmp_path, monkeypatch)
    yield made
    made.forget()


def test_places_in_their_order(machine: Machine) -> None:
    steps = [
        ("CUDA_PATH", machine.add("home/lib64/libnvrtc.so.13"), ("CUDA_PATH", "home")),
        ("system-search", machine.add("ld/libnvrtc.so.12"), ("LD_LIBRARY_PATH", "ld")),
        ("conda", machine.add("conda/lib/libnvrtc.so.12"), ("CONDA_PREFIX", "conda")),
    ]
    for via, path, (variable, folder) in steps:
        machine.patch.setenv(variable, str(machine.root / folder))
        machine.forget()
        found = pathfinder.locate_nvidia_dynamic_lib("nvrtc")
        assert (found.found_via, found.abs_path) == (via, path)
    wheel = machine.add("site-packages/nvidia/cu13/lib/libnvrtc.so.13")
    machine.forget()
    assert pathfinder.locate_nvidia_dynamic_lib("nvrtc") == pathfinder.LocatedDynamicLib(
        "nvrtc", wheel, "site-packages"
    )
    machine.patch.setenv("TESSERA_PATH_NVRTC", machine.add("mine/libnvrtc.so"))
    machine.forget()
    assert pathfinder.locate_nvidia_dynamic_lib("nvrtc").found_via == "TESSERA_PATH_NVRTC"


def test_newer_wheels_come_first(machine: Machine) -> None:
    machine.add("site-packages/nvidia/cu12/lib/libcublas.so.12")
    machine.add("site-packages/nvidia/cublas/lib/libcublas.so.12")
    newest = machine.add("site-packages/nvidia/cu13/lib/libcublas.so.13")
    assert pathfinder.find_nvidia_dynamic_lib("cublas") == newest


def test_answers_are_remembered(machine: Machine) -> None:
    path = machine.add("site-packages/nvidia/cu13/lib/libcudart.so.13")
    first = pathfinder.locate_nvidia_dynamic_lib("cudart")
    pathlib.Path(path).unlink()
    assert pathfinder.locate_nvidia_dynamic_lib("cudart") is first


def test_a_library_that_is_nowhere(machine: Machine) -> None:
    machine.add("site-packages/nvidia/cu13/lib/other.so")
    assert pathfinder.find_nvidia_dynamic_lib("nvfatbin") is None
    with pytest.raises(pathfinder.DynamicLibNotFoundError) as caught:
        pathfinder.load_nvidia_dynamic_lib("nvfatbin")
    for words in (
        "libnvfatbin.so.13 or libnvfatbin.so.12",
        "pip install nvidia-nvfatbin",
        "TESSERA_PATH_NVFATBIN",
        "cu13/lib",
    ):
        assert words in str(caught.value)


def test_unknown_names(machine: Machine) -> None:
    with pytest.raises(pathfinder.DynamicLibUnknownError, match="Known names"):
        pathfinder.load_nvidia_dynamic_lib("nvrtx")
    with pytest.raises(pathfinder.DynamicLibUnknownError):
        pathfinder.find_nvidia_dynamic_lib("nvrtx")
    with pytest.raises(RuntimeError, match="UNKNOWN"):
        pathfinder.find_nvidia_header_directory("x")
    with pytest.raises(ValueError, match="device"):
        pathfinder.find_bitcode_lib("x")
    with pytest.raises(ValueError, match="cudadevrt"):
        pathfinder.find_static_lib("x")
    with pytest.raises(pathfinder.UnsupportedBinaryError, match="nvcc, ptxas"):
        pathfinder.find_nvidia_binary_utility("gcc")


def test_an_override_that_does_not_exist_is_a_mistake(machine: Machine) -> None:
    machine.patch.setenv("TESSERA_PATH_NVVM", "/does/not/exist")
    with pytest.raises(
        pathfinder.DynamicLibNotFoundError, match="TESSERA_PATH_NVVM names '/does/not/exist'"
    ):
        pathfinder.locate_nvidia_dynamic_lib("nvvm")


def test_the_driver_is_only_where_the_system_looks(machine: Machine) -> None:
    machine.add("site-packages/nvidia/cu13/lib/libcuda.so.1")
    assert pathfinder.find_nvidia_dynamic_lib("cuda") is None
    machine.patch.setenv("LD_LIBRARY_PATH", str(machine.root / "ld"))
    path = machine.add("ld/libcuda.so.1")
    machine.forget()
    assert pathfinder.find_nvidia_dynamic_lib("cuda") == path


def test_headers_bitcode_archives_and_programs(machine: Machine) -> None:
    root = machine.root / "home"
    machine.patch.setenv("CUDA_HOME", str(root))
    machine.add("home/include/cuda_runtime.h")
    machine.add("home/include/cccl/cuda/std/version")
    bitcode, archive = (
        machine.add("home/nvvm/libdevice/libdevice.10.bc"),
        machine.add("home/lib64/libcudadevrt.a"),
    )
    nvcc = machine.add("home/bin/nvcc")
    assert pathfinder.find_nvidia_header_directory("cudart") == str(root / "include")
    assert pathfinder.find_cuda_include_dirs() == [
        str(root / "include"),
        str(root / "include" / "cccl"),
    ]
    assert pathfinder.locate_bitcode_lib("device").abs_path == bitcode
    assert pathfinder.locate_static_lib("cudadevrt").abs_path == archive
    assert pathfinder.find_nvidia_binary_utility("nvcc") is None  # it cannot be executed
    pathlib.Path(nvcc).chmod(0o755)
    machine.forget()
    assert pathfinder.find_nvidia_binary_utility("nvcc") == nvcc


def test_what_is_nowhere_besides_libraries(machine: Machine) -> None:
    assert pathfinder.find_nvidia_header_directory("cublas") is None
    assert pathfinder.find_nvidia_binary_utility("nvcc") is None
    with pytest.raises(pathfinder.BitcodeLibNotFoundError, match="nvidia-nvvm"):
        pathfinder.find_bitcode_lib("device")
    with pytest.raises(pathfinder.StaticLibNotFoundError, match="libcudadevrt.a"):
        pathfinder.find_static_lib("cudadevrt")


def test_cuda_path_beats_cuda_home_with_a_warning(machine: Machine) -> None:
    machine.patch.setenv("CUDA_HOME", "/a")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert pathfinder.get_cuda_path_or_home() == "/a"
    machine.patch.setenv("CUDA_PATH", "/b")
    machine.forget()
    with pytest.warns(UserWarning, match="CUDA_PATH"):
        assert pathfinder.get_cuda_path_or_home() == "/b"


def test_loading_brings_what_is_needed_and_remembers(machine: Machine) -> None:
    compiler = shutil.which("cc") or pytest.skip("no C compiler")
    folder = machine.site / "nvidia" / "cu13" / "lib"
    folder.mkdir(parents=True)
    for name in ("libcufft.so.12", "libcufftw.so.12"):
        command = [
            compiler,
            "-shared",
            "-x",
            "c",
            "-",
            f"-Wl,-soname,{name}",
            "-o",
            str(folder / name),
        ]
        subprocess.run(command, input=b"int f;", check=True)
    loaded = pathfinder.load_nvidia_dynamic_lib("cufftw")
    assert (
        loaded.abs_path == str(folder / "libcufftw.so.12")
        and not loaded.was_already_loaded_from_elsewhere
    )
    assert str(folder / "libcufft.so.12") in pathlib.Path("/proc/self/maps").read_text()
    machine.forget()
    again = pathfinder.load_nvidia_dynamic_lib("cufftw")
    assert again.was_already_loaded_from_elsewhere and again.abs_path == loaded.abs_path


def part(name: str, *version: int) -> _check.Part:
    return _check.Part(name, f"/x/{name}", version, "CUDA_PATH")


@pytest.mark.parametrize(
    ("parts", "problem"),
    [
        ([("nvrtc", 13, 0), ("nvJitLink", 13, 0), ("headers", 13, 0), ("driver", 13, 1)], ""),
        (
            [("nvrtc", 13, 0), ("cudart", 12, 9)],
            "nvrtc is 13.0 (/x/nvrtc), cudart is 12.9 (/x/cudart): they are of",
        ),
        ([("nvrtc", 13, 2), ("nvJitLink", 13, 0)], "a linker must not be older"),
        ([("nvrtc", 13, 2), ("headers", 13, 0)], "NVRTC reads the headers of its own version"),
        ([("nvrtc", 13, 0), ("driver", 12, 8)], "install a newer driver"),
        ([("nvrtc",), ("driver", 12, 8)], ""),
    ],
)
def test_versions_that_clash(parts: list[Any], problem: str) -> None:
    problems = _check._problems([part(*p) for p in parts])
    assert (problem in problems[0]) if problem else problems == []


def test_check_reads_versions_from_files(machine: Machine) -> None:
    machine.patch.setenv("CUDA_PATH", str(machine.root / "home"))
    machine.patch.setattr(_check, "_driver_version", tuple)
    machine.add("home/include/cuda_runtime.h")
    machine.add("home/include/cuda.h", "#define CUDA_VERSION 12090\n")
    machine.add("home/lib64/libcudart.so.12")
    machine.add("home/lib64/libnvrtc.so.13.0.48")
    (machine.root / "home/lib64/libnvrtc.so.13").symlink_to("libnvrtc.so.13.0.48")
    report = pathfinder.check()
    versions = {p.name: p.version for p in report.parts}
    assert versions == {"cudart": (12, 9), "nvrtc": (13, 0), "headers": (12, 9)}
    assert not report.ok and len(report.problems) == 2 and "problem: nvrtc is 13.0" in str(report)


def test_supported_tables() -> None:
    assert (
        "nvJitLink" in pathfinder.SUPPORTED_NVIDIA_LIBNAMES
        and "cutensor" not in pathfinder.SUPPORTED_NVIDIA_LIBNAMES
    )
    assert pathfinder.SUPPORTED_HEADERS_CTK["nvrtc"] == "nvrtc.h"
    assert pathfinder.SUPPORTED_STATIC_LIBS == ("cudadevrt",)
    assert set(pathfinder.SUPPORTED_BITCODE_LIBS) >= {"device"}


def test_check_lists_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    def nowhere(name: str) -> Any:
        error = pathfinder.DynamicLibNotFoundError(name)
        error.tried = ("/a", "/b")
        raise error

    found = lambda name: None if name == "nvrtc" else "/lib/x.so"  # noqa: E731
    monkeypatch.setattr(pathfinder, "find_nvidia_dynamic_lib", found)
    monkeypatch.setattr(pathfinder, "locate_nvidia_dynamic_lib", nowhere)
    (line,) = _check._missing()
    assert line == "nvrtc: `pip install nvidia-cuda-nvrtc` brings it; looked in\n    /a\n    /b"
    report = pathfinder.Report((), (), (line,))
    assert report.ok and f"missing: {line}" in str(report)


def test_a_missing_library_is_told_in_one_line() -> None:
    text = pathfinder._not_found("libnvrtc.so.13", ["/a", "/b", "/a"], "nvrtc")
    assert "\n" not in text and "pip install nvidia-cuda-nvrtc" in text and "2 places" in text
    assert pathfinder._not_found("x", ["/a"], "cublas").endswith("Looked in:\n  /a")


@pytest.mark.parametrize(
    ("header", "folders", "words"),
    [
        ("curand_kernel.h", ["/inc"], "`pip install nvidia-curand` brings curand_kernel.h\n"),
        ("cub/cub.cuh", ["/inc"], "nvidia-cuda-cccl` brings cub/cub.cuh"),
        ("mine.h", ["/inc"], "looked for in include_dirs, then in /inc"),
        ("mine.h", [], "No headers of CUDA are installed here"),
    ],
)
def test_a_missing_header_names_its_package(
    monkeypatch: pytest.MonkeyPatch, header: str, folders: list[str], words: str
) -> None:
    from tessera.pathfinder._headers import missing_header

    monkeypatch.setattr(pathfinder, "find_cuda_include_dirs", lambda: folders)
    log = f'k.cu(1): catastrophic error: cannot open source file "{header}"'
    assert words in missing_header(log, "include_dirs")
    assert missing_header("error: expected a ;", "include_dirs") == ""
