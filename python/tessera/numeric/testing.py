# SPDX-License-Identifier: Apache-2.0
"""NumPy's ``testing``: its assertions, which take arrays of ours as they are."""

from __future__ import annotations

import types
from typing import Any

import numpy.testing

from ._numpys import lent

__all__ = list(numpy.testing.__all__)
globals().update(
    {
        _name: lent(_thing, False) if isinstance(_thing, types.FunctionType) else _thing
        for _name in __all__
        for _thing in [getattr(numpy.testing, _name)]
    }
)


def __getattr__(name: str) -> Any:
    return getattr(numpy.testing, name)
