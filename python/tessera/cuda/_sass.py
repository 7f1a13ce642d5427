# SPDX-License-Identifier: Apache-2.0
"""Machine code as text, by ptxas and nvdisasm where they are installed."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile

from ..pathfinder import find_nvidia_binary_utility

__all__ = ["sass_of"]


def _tool(name: str) -> str:
    found = find_nvidia_binary_utility(name) or shutil.which(name)
    if not found:
        raise RuntimeError(f"{name} was not found: install CUDA's binary utilities, or put {name} on PATH")
    return str(found)


def sass_of(ptx: str) -> str:
    """What the GPU runs for this PTX. RuntimeError where a tool is missing."""
    arch = re.search(r"\.target\s+(sm_\w+)", ptx)
    assembler, disassembler = _tool("ptxas"), _tool("nvdisasm")
    with tempfile.TemporaryDirectory() as folder:
        source, cubin = os.path.join(folder, "kernel.ptx"), os.path.join(folder, "kernel.cubin")
        with open(source, "w") as file:
            file.write(ptx)
        assemble = [assembler, f"-arch={arch[1] if arch else 'sm_80'}", "-o", cubin, source]
        for command in (assemble, [disassembler, cubin]):
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode:
                raise RuntimeError(f"{command[0]} failed:\n{done.stdout}{done.stderr}")
    return done.stdout
