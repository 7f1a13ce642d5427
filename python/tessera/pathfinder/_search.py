# SPDX-License-Identifier: Apache-2.0
"""Where a part of the CUDA platform is, in a fixed order; nothing is loaded to find it.

Order: an override variable, wheels in site-packages, a conda environment, the system's loader
(dynamic libraries only), CUDA_PATH or CUDA_HOME, the toolkit that a cudart found by the system
belongs to, and at last the toolkit of the ``nvcc`` on PATH and /usr/local/cuda.
"""

from __future__ import annotations

import functools
import glob
import os
import platform
import shutil
import site
import subprocess
import sys
import warnings
from collections.abc import Iterator

__all__ = ["Found", "get_cuda_path_or_home", "override", "search"]

Found = tuple[str, str]  # path, found via
_TARGET = {"x86_64": "x86_64-linux", "aarch64": "sbsa-linux"}.get(
    platform.machine(), "x86_64-linux"
)


@functools.cache
def get_cuda_path_or_home() -> str | None:
    """The toolkit that CUDA_PATH or CUDA_HOME names; CUDA_PATH wins, with a warning when they
    differ."""
    path, home = os.environ.get("CUDA_PATH"), os.environ.get("CUDA_HOME")
    if path and home and os.path.realpath(path) != os.path.realpath(home):
        warnings.warn(
            f"CUDA_PATH ({path}) and CUDA_HOME ({home}) name different toolkits; CUDA_PATH is used",
            UserWarning,
            stacklevel=2,
        )
    return path or home or None


def override(name: str) -> str:
    """The variable that names a part's file or directory: TESSERA_PATH_NVRTC for nvrtc."""
    return "TESSERA_PATH_" + name.upper().replace("-", "_")


def _site_packages() -> list[str]:
    user = [site.getusersitepackages()] if site.ENABLE_USER_SITE else []
    found = [*user, *site.getsitepackages(), *(p for p in sys.path if p.endswith("-packages"))]
    return list(dict.fromkeys(found))


@functools.cache
def _wheel_roots() -> tuple[str, ...]:
    """The directories of NVIDIA's wheels, newest toolkit first."""
    roots: list[str] = []
    for folder in _site_packages():
        toolkits = sorted(glob.glob(os.path.join(folder, "nvidia", "cu[0-9]*")), reverse=True)
        roots += [
            *toolkits,
            *sorted(set(glob.glob(os.path.join(folder, "nvidia", "*"))) - set(toolkits)),
        ]
        roots += [os.path.join(folder, name) for name in ("cutensor", "cuquantum", "nvpl")]
    return tuple(root for root in roots if os.path.isdir(root))


def _toolkit_of_library(path: str) -> str | None:
    """/opt/cuda for /opt/cuda/targets/x86_64-linux/lib/libcudart.so.13: the nearest folder with
    nvvm or bin/nvcc."""
    folder = os.path.dirname(os.path.realpath(path))
    for _ in range(4):
        if os.path.isdir(os.path.join(folder, "nvvm")) or os.path.exists(
            os.path.join(folder, "bin", "nvcc")
        ):
            return folder
        folder = os.path.dirname(folder)
    return None


@functools.cache
def _loader_cache() -> dict[str, str]:
    """soname -> path, as the system's loader has it."""
    tool = shutil.which("ldconfig") or "/sbin/ldconfig"
    try:
        done = subprocess.run([tool, "-p"], capture_output=True, text=True, timeout=10, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return {}
    known: dict[str, str] = {}
    for line in done.stdout.splitlines():
        name, _, path = line.partition(" => ")
        known.setdefault(name.split(" ")[0].strip(), path.strip())
    return known


def system_library(soname: str) -> str | None:
    """Where dlopen would find a soname: LD_LIBRARY_PATH, then the loader's cache."""
    for folder in os.environ.get("LD_LIBRARY_PATH", "").split(":"):
        path = os.path.join(folder, soname)
        if folder and os.path.exists(path):
            return path
    path = _loader_cache().get(soname, "")
    return path if path and os.path.exists(path) else None


def _last_toolkits() -> Iterator[str]:
    cudart = next((p for v in (13, 12) if (p := system_library(f"libcudart.so.{v}"))), None)
    root = cudart and _toolkit_of_library(cudart)
    if root:
        yield root
    nvcc = shutil.which("nvcc")
    root = nvcc and _toolkit_of_library(nvcc)
    if root:
        yield root
    if os.path.isdir("/usr/local/cuda"):
        yield "/usr/local/cuda"


def search(
    folders: tuple[str, ...], files: tuple[str, ...], use_loader: bool = False
) -> tuple[Found | None, list[str]]:
    """The first of `files` in one of `folders` of each place, and every path that was tried in
    vain."""
    tried: list[str] = []
    for root, via in _places(use_loader):
        for file in files:
            if root is None:
                path = system_library(file)
                tried.append("the system's search (LD_LIBRARY_PATH, ldconfig)")
                if path:
                    return (path, via), tried
                continue
            for folder in folders:
                path = os.path.normpath(os.path.join(root, folder.format(target=_TARGET), file))
                if os.path.exists(path):
                    return (path, via), tried
                tried.append(os.path.dirname(path))
    return None, tried


def _places(use_loader: bool) -> Iterator[tuple[str | None, str]]:
    """(root, found via); None stands for the system's loader."""
    for root in _wheel_roots():
        yield root, "site-packages"
    conda = os.environ.get("CONDA_PREFIX")
    if conda:
        yield conda, "conda"
    if use_loader:
        yield None, "system-search"
    home = get_cuda_path_or_home()
    if home:
        yield home, "CUDA_PATH"
    for root in _last_toolkits():
        yield root, "system-ctk-root"
