# SPDX-License-Identifier: Apache-2.0
"""What only `make test-long` runs of tests with many cases."""

import itertools
import os

import pytest

__all__ = ["LONG", "every_other", "unless_short"]

LONG = bool(os.environ.get("TESSERA_TEST_LONG"))


def unless_short(short, rest):
    """The cases of a test that are always run, and the others, which the short form skips."""
    skipped = pytest.mark.skipif(not LONG, reason="a case of `make test-long`")
    return (*short, *(pytest.param(case, marks=skipped) for case in rest))


def every_other(*lists):
    """Cases of several parameters: all combinations in the long form; else every other one, as the squares of one
    colour lie on a chessboard, so that each value meets half of the other parameters' values.
    """
    cases = itertools.product(*map(enumerate, lists))
    return [tuple(x for _, x in case) for case in cases if LONG or sum(i for i, _ in case) % 2 == 0]
