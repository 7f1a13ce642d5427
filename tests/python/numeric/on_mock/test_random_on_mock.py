# SPDX-License-Identifier: Apache-2.0
"""Random statements on arrays of a GPU, whose kernels the reader of PTX runs on the mock's memory (on_mock.py of
tests/fuzz/arrays): values, dtypes and what was written are NumPy's."""

from __future__ import annotations

import os
import pathlib
import sys

import tessera.numeric as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "fuzz"))

from arrays import on_mock, program  # noqa: E402

LONG = bool(os.environ.get("TESSERA_TEST_LONG"))
FAMILIES = ("elements", "written", "read", "made", "products", "masked", "strides", "fold")


def test_programs_do_what_numpys_do(mock):
    wrong, statements, launching = [], 0, 0
    with on_mock.Reader() as reader, np.device("cuda"):
        for number in range(300 if LONG else 6):
            one = program.Program(6, number, False, FAMILIES)
            for _ in range(8):
                launched, unread = reader.counts["launched"], reader.counts["unread"]
                text, found = one.step()
                statements, launching = statements + 1, launching + (reader.counts["launched"] > launched)
                if reader.counts["unread"] > unread:
                    break
                wrong += [(number, text, found)] if found else []
    assert not wrong, wrong
    assert 3 * launching > statements, (launching, statements)
    assert reader.counts["launched"] > 50 * reader.counts["unread"]
