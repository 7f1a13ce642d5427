# SPDX-License-Identifier: Apache-2.0
"""``python -m tessera doctor``: what was found on this machine, and what each missing part would give.

With a script it is the doctor of its arrays (tessera/numeric/_doctor.py).
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import platform
import shutil

from . import __version__, _cache, _core

__all__ = ["main", "report"]

USAGE = """usage: python -m tessera doctor [--strict] [--numpy] [--json FILE] [SCRIPT | -m MODULE] [ARGS...]

Without a script: what was found on this machine, and what each missing part would give. With one: runs it as
`python -m tessera run --doctor` does, and reports what the arrays of `tessera.numeric` and `cupy` did at each line and
what it cost. A script that says `import numpy` has such arrays with --numpy; --json writes the report to a file."""
GOOD, NOTE, BAD = "ok", "--", "!!"
Line = tuple[str, str, str]


def _cpu() -> list[Line]:
    info = _core.device_info("cpu")
    gib = info["memory_bytes"] / 2**30
    return [(GOOD, "CPU", f"{info['name']}, {info['units']} threads, {gib:.0f} GiB")]


def _llvm() -> list[Line]:
    found = _core.llvm_info()
    if found["path"]:
        return [(GOOD, "LLVM", f"{found['version'] or 'version unknown'}, {found['path']}")]
    return [(BAD, "LLVM", f"{found['error']} Without it kernels do not run on the CPU device.")]


def _gpus() -> list[Line]:
    try:
        count = _core.device_count("cuda")
        if not count:
            _core.device_info("cuda")
    except Exception as error:
        return [
            (
                NOTE,
                "GPU",
                f"{error}. With it the same programs run on the GPU; nothing else is needed.",
            )
        ]
    lines: list[Line] = []
    for i in range(count):
        try:
            info = _core.device_info(f"cuda:{i}")
        except Exception as error:
            lines.append((BAD, f"GPU {i}", str(error)))
            continue
        major, minor = info["compute_capability"]
        driver = info["driver_version"]
        lines.append((
            GOOD, f"GPU {i}",
            f"{info['name']}, compute capability {major}.{minor}, {info['memory_bytes'] / 2**30:.0f} GiB, "
            f"driver for CUDA {driver // 1000}.{driver % 1000 // 10}",
        ))  # fmt: skip
        if driver < 12000:
            lines.append(
                (
                    BAD,
                    f"GPU {i}",
                    "the driver is older than CUDA 12.0, which Tessera needs: update it",
                )
            )
    return lines


def _tools() -> list[Line]:
    lines: list[Line] = []
    gives = {
        "ptxas": "the tests assemble every kernel for every architecture",
        "compute-sanitizer": "race and memory checks of GPU kernels",
    }
    for name, gift in gives.items():
        path = shutil.which(name)
        lines.append((GOOD, name, path) if path else (NOTE, name, f"not found; with it {gift}"))
    return lines


def _compilers() -> list[Line]:
    from .pathfinder import find_nvidia_dynamic_lib
    from .pathfinder._catalog import WHEELS

    gives = {
        "nvrtc": "CUDA C++ (tessera.core.Program, tessera.pycuda)",
        "nvJitLink": "links without the driver (tessera.core.Linker)",
        "nvvm": "NVVM IR",
        "cudart": "tessera.bindings.runtime",
    }
    lines: list[Line] = []
    for name, gift in gives.items():
        path = find_nvidia_dynamic_lib(name)
        absent = f"not found; `pip install {WHEELS[name]}` would give {gift}"
        lines.append((GOOD, name, path) if path else (NOTE, name, absent))
    return lines


def _packages() -> list[Line]:
    lines: list[Line] = []
    gives = {
        "numpy": "arrays from lists, .numpy(), the tour",
        "ml_dtypes": "bfloat16 and narrow floats in NumPy",
        "torch": "torch tensors as kernel arguments",
        "cupy": "CuPy arrays as kernel arguments",
        "matplotlib": "the tour's report",
    }
    for name, gift in gives.items():
        if importlib.util.find_spec(name) is None:
            lines.append((NOTE, name, f"not installed; it would give {gift}"))
            continue
        try:
            lines.append((GOOD, name, importlib.metadata.version(name)))
        except importlib.metadata.PackageNotFoundError:
            lines.append((GOOD, name, "installed"))
    return lines


def _caches() -> list[Line]:
    folder = _cache.folder()
    if problem := _core.cache_problem():
        return [(BAD, "cache", problem)]
    if folder is None:
        return [(NOTE, "cache", "switched off by TESSERA_CACHE_DIR; every process compiles anew")]
    if not folder.exists():
        return [(GOOD, "cache", f"{folder} (empty)")]
    sizes = [f.stat().st_size for f in (folder / _cache.CODE).rglob("*") if f.is_file()]
    if not os.access(folder, os.W_OK):
        return [(BAD, "cache", f"{folder} is not writable: every process compiles anew")]
    return [(GOOD, "cache", f"{folder}, {len(sizes)} files, {sum(sizes) / 2**20:.1f} MiB")]


def report() -> list[Line]:
    """Lines of (mark, what, text); the mark "!!" is something that should be mended."""
    python = (
        f"{platform.python_implementation()} {platform.python_version()} on {platform.platform()}"
    )
    lines: list[Line] = [(GOOD, "Tessera", __version__), (GOOD, "Python", python)]
    for part in (_cpu, _llvm, _gpus, _tools, _compilers, _packages, _caches):
        lines += part()
    return lines


def main(arguments: list[str]) -> int:
    """Prints the report; 1 if something should be mended. With a script: runs it, and reports what its arrays did."""
    if arguments[:1] in (["-h"], ["--help"]):
        print(USAGE)
        return 0
    if arguments:
        from ._run import main as run

        return run(["--doctor", *arguments])
    lines = report()
    for mark, what, text in lines:
        print(f"{mark}  {what:<18} {text}")
    return 1 if any(mark == BAD for mark, _, _ in lines) else 0
