# SPDX-License-Identifier: Apache-2.0
"""NumPy's version, whose names and meaning the functions have."""

from typing import Any

import numpy.version


def __getattr__(name: str) -> Any:
    return getattr(numpy.version, name)


def __dir__() -> list[str]:
    return dir(numpy.version)
