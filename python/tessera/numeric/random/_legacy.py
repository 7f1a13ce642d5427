# SPDX-License-Identifier: Apache-2.0
"""RandomState, whose streams are frozen, and the module's functions, which are the methods of one of them."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy

from .._host import give, take
from ._bits import MT19937, lock_of, of_pickle
from ._drawn import DOCS, drawn, shuffle


class RandomState:
    """The legacy generator: the numbers of NumPy's RandomState."""

    _poisson_lam_max = numpy.random.RandomState._poisson_lam_max

    def __init__(self, seed: Any = None) -> None:
        if not hasattr(seed, "capsule"):
            bits = MT19937()
            bits._legacy_seeding(seed)
            seed = bits
        self._stream = numpy.random.RandomState(seed)

    @property
    def _bit_generator(self) -> Any:
        return self._stream._bit_generator

    def seed(self, seed: Any = None) -> None:
        """Begins the stream of this seed."""
        with lock_of(self._stream):
            self._stream.seed(take(seed))

    def get_state(self, legacy: bool = True) -> Any:
        """The state of the stream: a tuple, or a dict."""
        with lock_of(self._stream):
            return give(self._stream.get_state(legacy))

    def set_state(self, state: Any) -> None:
        """Goes on from a state that get_state gave."""
        with lock_of(self._stream):
            self._stream.set_state(take(state))

    def shuffle(self, x: Any) -> None:
        """Puts the elements of x along the first axis in random order, in place."""
        shuffle(self._stream, x)

    def __repr__(self) -> str:
        return f"{self} at 0x{id(self):X}"

    def __str__(self) -> str:
        return f"{type(self).__name__}({type(self._bit_generator).__name__})"

    def __reduce__(self) -> Any:
        return _restored, (self._bit_generator,), self.get_state(False)

    def __setstate__(self, state: Any) -> None:
        self.set_state(state)


def _restored(bits: Any = "MT19937") -> RandomState:
    return RandomState(of_pickle(bits))


for _name in dir(numpy.random.RandomState):
    if _name in DOCS and not hasattr(RandomState, _name):
        setattr(RandomState, _name, drawn(numpy.random.RandomState, _name))

_global = RandomState()


def _function(name: str) -> Callable[..., Any]:
    method = getattr(_global, name)

    def function(*args: Any, **options: Any) -> Any:
        return method(*args, **options)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = method.__doc__
    function.__signature__ = inspect.signature(getattr(_global._stream, name))  # type: ignore[attr-defined]
    return function


FUNCTIONS = {
    name: _function(name)
    for name in numpy.random.__all__
    if hasattr(RandomState, name) and not isinstance(getattr(numpy.random, name), type)
}


def seed(seed: Any = None) -> None:
    """Begins the stream of this seed, of the bit generator that the module's functions draw from."""
    bits = _global._bit_generator
    if isinstance(bits, numpy.random.MT19937):
        _global.seed(seed)
    else:
        state = type(bits)(seed).state
        with lock_of(bits):
            bits.state = state


FUNCTIONS["seed"] = seed
FUNCTIONS["ranf"] = FUNCTIONS["sample"] = FUNCTIONS["random_sample"]


def get_bit_generator() -> Any:
    """The bit generator of the module's functions."""
    return _global._bit_generator


def set_bit_generator(bitgen: Any) -> None:
    """Makes the module's functions draw from another bit generator."""
    _ = bitgen.capsule  # what is not a bit generator is refused as NumPy does, not taken as a seed
    _global._stream = numpy.random.RandomState(bitgen)


FUNCTIONS.update(get_bit_generator=get_bit_generator, set_bit_generator=set_bit_generator)
