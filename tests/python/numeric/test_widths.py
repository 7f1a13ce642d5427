# SPDX-License-Identifier: Apache-2.0
"""Files of tests again, in processes whose vectors are narrower than the processor has them (src/base/widths.h)."""

from __future__ import annotations

import os
import pathlib

import drivers
import pytest
from long_form import unless_short

FOLDER = pathlib.Path(__file__).parent
SHORT = [("matrices", 32), ("masks", 32), ("loops_and_bits", 32), ("matrices", 16)]
NAMES = ("matrices", "masks", "loops_and_bits", "fft", "order", "unique", "loops_of_memory", "sums_in_host_memory",
         "reductions", "direct", "random_programs")  # fmt: skip
REST = [(name, width) for name in NAMES for width in (32, 16) if (name, width) not in SHORT]


@pytest.mark.parametrize("case", unless_short(SHORT, REST), ids=str)
def test_files_pass_with_narrower_vectors(case: tuple[str, int]) -> None:
    name, width = case
    narrow = {**os.environ, "TESSERA_VECTOR_BYTES": str(width)}
    narrow.pop("TESSERA_TEST_LONG", None)  # each file in its short form, also where all the widths are run
    drivers.run_file(FOLDER / f"test_{name}.py", drivers.KIND, narrow, "-q")
