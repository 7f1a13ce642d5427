# SPDX-License-Identifier: Apache-2.0
"""What only `make test-long` runs of tests with many cases."""

import os

import pytest

__all__ = ["LONG", "unless_short"]

LONG = bool(os.environ.get("TESSERA_TEST_LONG"))


def unless_short(short, rest):
    """The cases of a test that are always run, and the others, which the short form skips."""
    skipped = pytest.mark.skipif(not LONG, reason="a case of `make test-long`")
    return (*short, *(pytest.param(case, marks=skipped) for case in rest))
