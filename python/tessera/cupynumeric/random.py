# SPDX-License-Identifier: Apache-2.0
"""Random numbers: those of `tessera.numeric.random`. cuPyNumeric's generators are NumPy's PCG64 here, of the same
seed another stream than cuRAND's. Distributions take ``dtype`` behind ``size``, as cuPyNumeric's."""

from __future__ import annotations

import functools
import inspect
from typing import Any

from .. import numeric as _numeric
from ..numeric import random as _random

__all__ = ["MRG32k3a", "PHILOX4_32_10", "XORWOW", "Generator", "default_rng"]


class XORWOW(_random.PCG64):  # type: ignore[misc, name-defined]
    """A generator of bits; ``forceBuild`` is accepted."""

    def __init__(self, seed: Any = None, forceBuild: bool = False) -> None:  # noqa: N803
        super().__init__(seed)

    def random_raw(self, shape: Any = None) -> Any:
        """Bits as integers."""
        return super().random_raw(shape)


class MRG32k3a(XORWOW):
    """A generator of bits."""


class PHILOX4_32_10(XORWOW):  # noqa: N801
    """A generator of bits."""


def _typed(theirs: Any) -> Any:
    """A distribution that takes ``dtype``, behind all other arguments, and ``ntrials`` for ``n``."""
    most = len(inspect.signature(theirs).parameters)

    @functools.wraps(theirs)
    def call(*args: Any, dtype: Any = None, **options: Any) -> Any:
        if len(args) == most + 1:
            args, dtype = args[:-1], args[-1]
        if "ntrials" in options:
            options["n"] = options.pop("ntrials")
        made = theirs(*args, **options)
        return made if dtype is None else _numeric.asarray(made).astype(dtype)

    return call


def _is_typed(theirs: Any) -> bool:
    """Whether it is a distribution, whose size is its last argument."""
    try:
        names = list(inspect.signature(theirs).parameters)
    except (TypeError, ValueError):
        return False
    return names[-1:] == ["size"]


class Generator(_random.Generator):
    """Draws from a bit generator; distributions take ``dtype``."""

    def cauchy(self, x0: Any = 0.0, gamma: Any = 1.0, size: Any = None, dtype: Any = None) -> Any:
        """Numbers of Lorentz's distribution around ``x0``, half as likely at ``gamma`` from it."""
        made = x0 + gamma * self.standard_cauchy(size)
        return made if dtype is None else _numeric.asarray(made).astype(dtype)


for _name in dir(_random.Generator):
    if not _name.startswith("_") and _is_typed(getattr(_random.Generator, _name)):
        setattr(Generator, _name, _typed(getattr(_random.Generator, _name)))


def default_rng(seed: Any = None) -> Generator:
    """A Generator of this seed; a bit generator or a Generator is taken as it is."""
    return seed if isinstance(seed, Generator) else Generator(_random.default_rng(seed).bit_generator)


def __dir__() -> list[str]:
    return sorted({*__all__, *dir(_random)})


def __getattr__(name: str) -> Any:
    found = getattr(_random, name)
    return _typed(found) if not isinstance(found, type) and callable(found) and _is_typed(found) else found
