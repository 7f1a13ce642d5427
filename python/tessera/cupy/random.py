# SPDX-License-Identifier: Apache-2.0
"""NumPy's generators with CuPy's arrays and its ``dtype=``: the same seeds give NumPy's numbers, not CuPy's."""

from __future__ import annotations

from typing import Any

import numpy

from .. import numeric as tn
from ._boundary import give, placed, take

__all__ = [
    "Generator",
    "RandomState",
    "default_rng",
    "get_random_state",
    "reset_states",
    "seed",
    "set_random_state",
]

# What a method draws where dtype= does not say: CuPy takes it for every one, NumPy for few.
_TAKE_DTYPE = frozenset({"randint", "integers", "random_integers"})
# How many arguments NumPy's distributions have by place; CuPy's have dtype= behind them.
_SIZES = {
    "beta": 3, "binomial": 3, "chisquare": 2, "dirichlet": 2, "exponential": 2, "f": 3, "gamma": 3, "geometric": 2,
    "gumbel": 3, "hypergeometric": 4, "laplace": 3, "logistic": 3, "lognormal": 3, "logseries": 2,
    "negative_binomial": 3,
    "noncentral_chisquare": 3, "noncentral_f": 4, "normal": 3, "pareto": 2, "poisson": 2, "power": 2, "rayleigh": 2,
    "standard_cauchy": 1, "standard_exponential": 1, "standard_gamma": 2, "standard_t": 2, "triangular": 4,
    "uniform": 3,
    "vonmises": 3, "wald": 3, "weibull": 2, "zipf": 2,
}  # fmt: skip
_OLD = {"ranf": "random_sample", "sample": "random_sample", "random": "random_sample"}


class _Drawing:
    """A generator of tessera.numeric's whose methods give CuPy's arrays."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        method = getattr(self._inner, name)
        if not callable(method):
            return method

        def draw(*args: Any, **options: Any) -> Any:
            return _drawn(name, method, args, options)

        draw.__name__, draw.__doc__ = name, method.__doc__
        return draw


def _drawn(name: str, method: Any, args: Any, options: dict[str, Any]) -> Any:
    """What a method draws, as an array: of no axes where NumPy gives a number."""
    held: list[Any] = []
    if len(args) > _SIZES.get(name, len(args)):
        *args, options["dtype"] = args
    options = {key: take(x, held, False) for key, x in options.items()}
    wanted = None if name in _TAKE_DTYPE else options.pop("dtype", None)
    made = placed(lambda: method(*[take(x, held, False) for x in args], **options))
    if isinstance(made, (int, float)) and not isinstance(made, bool):
        made = numpy.asarray(made)[()]
    made = give(made, held)
    return made if wanted is None or made is None else made.astype(_checked(wanted), copy=False)


def _checked(dtype: Any) -> Any:
    found = numpy.dtype(dtype)
    if found.kind not in "fiubc":
        raise TypeError(f"random numbers of dtype {found} are not there")
    return found


class RandomState(_Drawing):
    """NumPy's RandomState; ``method`` is taken and means nothing."""

    def __init__(self, seed: Any = None, method: Any = None) -> None:
        super().__init__(tn.random.RandomState(_seed(seed)))

    def seed(self, seed: Any = None) -> None:
        """Begins the stream of a seed."""
        self._inner.seed(_seed(seed))

    def rand(self, *size: int, **options: Any) -> Any:
        """Uniform numbers of [0, 1)."""
        return self.random_sample(size or None, **_only_dtype(options))

    def randn(self, *size: int, **options: Any) -> Any:
        """Normal numbers."""
        return self.standard_normal(size or None, **_only_dtype(options))

    def randint(self, low: Any, high: Any = None, size: Any = None, dtype: Any = int) -> Any:
        """Integers from low, 0 if there is no other bound, up to the one below high; fractions of bounds are cut."""
        low, high = (0, low) if high is None else (low, high)
        low, high = (int(x) if isinstance(x, (float, numpy.floating)) else x for x in (low, high))
        if isinstance(low, int) and isinstance(high, int) and low >= high:
            raise ValueError(f"low >= high: {low} >= {high}")
        return _drawn("randint", self._inner.randint, (low, high, size), {"dtype": dtype})

    def random_integers(self, low: Any, high: Any = None, size: Any = None) -> Any:
        """Integers from low, 1 if there is no other bound, up to high."""
        low, high = (1, low) if high is None else (low, high)
        return self.randint(low, high + 1, size)

    def random_sample(self, size: Any = None, dtype: Any = float) -> Any:
        """Uniform numbers of [0, 1)."""
        return _drawn("random_sample", self._inner.random_sample, (size,), {"dtype": dtype})

    def standard_normal(self, size: Any = None, dtype: Any = float) -> Any:
        """Normal numbers."""
        return _drawn("standard_normal", self._inner.standard_normal, (size,), {"dtype": dtype})


def _only_dtype(options: dict[str, Any]) -> dict[str, Any]:
    rest = sorted(options.keys() - {"dtype"})
    if rest:
        raise TypeError(f"got an unexpected keyword argument {rest[0]!r}")
    return options


def _seed(seed: Any) -> Any:
    return (
        None
        if seed is None
        else int(seed) & 0xFFFFFFFF
        if isinstance(seed, (int, numpy.integer, numpy.bool_))
        else numpy.asarray(seed)
    )


class Generator(_Drawing):
    """NumPy's Generator."""

    def __init__(self, bit_generator: Any) -> None:
        super().__init__(tn.random.Generator(bit_generator))

    @property
    def bit_generator(self) -> Any:
        """Where its bits come from."""
        return self._inner.bit_generator


def default_rng(seed: Any = None) -> Generator:
    """A Generator of a seed."""
    return Generator(tn.random.default_rng(seed).bit_generator)


BitGenerator = tn.random.BitGenerator
Philox4x3210 = tn.random.Philox
XORWOW = MRG32k3a = tn.random.PCG64
_state = RandomState()


def get_random_state() -> RandomState:
    """The state that the functions of this module use."""
    return _state


def set_random_state(state: RandomState) -> None:
    """Sets the state that the functions of this module use."""
    global _state
    if not isinstance(state, RandomState):
        raise TypeError(f"Random state must be an instance of RandomState. Actual: {type(state)}")
    _state = state


def seed(seed: Any = None) -> None:
    """Begins the stream of a seed."""
    _state.seed(seed)


def reset_states() -> None:
    """Begins a stream of no seed."""
    set_random_state(RandomState())


def __dir__() -> list[str]:
    return sorted({*__all__, *dir(tn.random)})


def __getattr__(name: str) -> Any:
    if name.startswith("_"):
        raise AttributeError(f"module 'cupy.random' has no attribute {name!r}")
    name = _OLD.get(name, name)
    if hasattr(RandomState, name) or hasattr(tn.random.RandomState, name):

        def draw(*args: Any, **options: Any) -> Any:
            return getattr(_state, name)(*args, **options)

        draw.__name__ = name
        return draw
    return getattr(tn.random, name)
