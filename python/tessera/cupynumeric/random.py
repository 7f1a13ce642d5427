# SPDX-License-Identifier: Apache-2.0
"""Random numbers: those of `tessera.numeric.random`. cuPyNumeric's generators are NumPy's PCG64 here, of the same
seed another stream than cuRAND's."""

from __future__ import annotations

from typing import Any

from ..numeric import random as _random

__all__ = ["MRG32k3a", "PHILOX4_32_10", "XORWOW"]


class XORWOW(_random.PCG64):  # type: ignore[misc, name-defined]
    """A generator of bits; ``forceBuild`` is accepted."""

    def __init__(self, seed: Any = None, forceBuild: bool = False) -> None:  # noqa: N803
        super().__init__(seed)


class MRG32k3a(XORWOW):
    """A generator of bits."""


class PHILOX4_32_10(XORWOW):  # noqa: N801
    """A generator of bits."""


def __dir__() -> list[str]:
    return sorted({*__all__, *dir(_random)})


def __getattr__(name: str) -> Any:
    return getattr(_random, name)
