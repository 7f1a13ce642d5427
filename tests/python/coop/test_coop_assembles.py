# SPDX-License-Identifier: Apache-2.0
"""Random collectives as code for GPUs, taken by ptxas where it is installed, without a stack."""

from __future__ import annotations

import pathlib
import shutil
import subprocess
from typing import Any

import numpy as np
import pytest
import random_collectives
import random_items

from tessera import cuda

ASSEMBLER = shutil.which("ptxas")


@pytest.mark.skipif(ASSEMBLER is None, reason="no ptxas")
@pytest.mark.parametrize("kind", (*random_collectives.KINDS, *random_items.KINDS), ids=lambda kind: kind.__name__)
def test_assembles(kind: Any, tmp_path: pathlib.Path) -> None:
    for seed, cc in enumerate([(8, 0), (9, 0)]):
        case = kind(np.random.default_rng([77, seed]))
        signature = tuple(cuda.typeof(argument) for argument in case.arguments)
        text, _ = cuda.compile_ptx(case.kernel, signature, cc=cc)
        source = tmp_path / f"{seed}.ptx"
        source.write_text(text)
        arch = f"sm_{cc[0]}{cc[1]}" + ("a" if cc == (9, 0) else "")
        done = subprocess.run(
            [str(ASSEMBLER), f"-arch={arch}", "-v", "-o", str(tmp_path / "out.cubin"), str(source)],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, f"{case.says}\n{done.stderr}"
        assert "0 bytes stack frame" in done.stderr, f"{case.says}\n{done.stderr}"
