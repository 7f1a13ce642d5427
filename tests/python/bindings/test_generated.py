# SPDX-License-Identifier: Apache-2.0
"""The tables are what tools/gen_bindings.py writes, and their layouts are the compiler's."""

from __future__ import annotations

import importlib
import pathlib
import re
import shutil
import subprocess
import sys
from typing import Any

import pytest

from tessera.bindings import driver, runtime

ROOT = pathlib.Path(__file__).resolve().parents[3]
TOOLS = ROOT / "tools"
TABLES = ROOT / "python" / "tessera" / "bindings"


@pytest.fixture(scope="module")
def include() -> pathlib.Path:
    sys.path.insert(0, str(TOOLS))
    try:
        folders = importlib.import_module("gen_bindings").folders([])
    finally:
        sys.path.remove(str(TOOLS))
    if not shutil.which("cc"):
        pytest.skip("no C compiler")
    for folder in folders:
        header = folder / "cuda.h"
        if header.exists() and "#define CUDA_VERSION 13000" in header.read_text(errors="replace"):
            return folder
    pytest.skip("no headers of CUDA 13.0 here")


def test_the_tables_are_fresh(include: pathlib.Path) -> None:
    done = subprocess.run(
        [
            sys.executable,
            str(TOOLS / "gen_bindings.py"),
            "--include",
            str(include),
            "--only-these",
            "--check",
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


CHECKS = """
#include <stddef.h>
#define CHECK(t, s, a) static_assert(sizeof(t) == s && alignof(t) == a, #t);
#define AT(t, f, o) static_assert(offsetof(t, f) == o, #t "." #f);
"""


@pytest.mark.parametrize(
    ("module", "headers"),
    [(driver, ["cuda.h"]), (runtime, ["cuda_runtime_api.h", "driver_types.h"])],
)
def test_layouts_are_those_of_the_compiler(
    include: pathlib.Path, tmp_path: pathlib.Path, module: Any, headers: list[str]
) -> None:
    words = set(
        re.findall(r"\w+", "".join((include / h).read_text(errors="replace") for h in headers))
    )
    table = (TABLES / f"{module.__name__.rpartition('.')[2]}.api").read_text().replace("\n ", " ")
    lines = [f"#include <{headers[0]}>", CHECKS]
    for line in table.splitlines():
        _, name, layout, *fields = [*line.split(), "", ""]
        if not line.startswith("struct ") or name not in words or name.startswith("CUstreamMemOp"):
            continue  # members of other structs have no name of their own
        lines.append(f"CHECK({name}, {layout.replace('/', ', ')})")
        lines += [f"AT({name}, {f.split(':')[0]}, {f.rpartition('@')[2]})" for f in fields if f]
    source = tmp_path / "layout.cc"
    source.write_text("\n".join(lines) + "\n")
    command = ["cc", "-x", "c++", "-std=c++17", "-fsyntax-only", f"-I{include}", str(source)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[:3000]
    assert len(lines) > 400


def test_every_function_of_the_header_is_there() -> None:
    assert len(driver.checked.__all__) == 477 + 3  # of OpenGL, EGL and VDPAU too; and the profiler
    assert len(runtime.checked.__all__) == 315 + 2
