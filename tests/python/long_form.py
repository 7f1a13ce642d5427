# SPDX-License-Identifier: Apache-2.0
"""What only `make test-long` runs of tests with many cases."""

import os

__all__ = ["LONG", "unless_short"]

LONG = bool(os.environ.get("TESSERA_TEST_LONG"))


def unless_short(short, rest):
    """The cases that are always run, and in the long form the others."""
    return (*short, *rest) if LONG else tuple(short)
