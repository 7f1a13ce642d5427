# SPDX-License-Identifier: Apache-2.0
"""NumPy's classes of dtypes."""

from typing import Any

import numpy.dtypes


def __getattr__(name: str) -> Any:
    return getattr(numpy.dtypes, name)


def __dir__() -> list[str]:
    return dir(numpy.dtypes)
