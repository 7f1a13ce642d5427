# SPDX-License-Identifier: Apache-2.0
"""NumPy's exceptions and warnings."""

from typing import Any

import numpy.exceptions


def __getattr__(name: str) -> Any:
    return getattr(numpy.exceptions, name)


def __dir__() -> list[str]:
    return dir(numpy.exceptions)
