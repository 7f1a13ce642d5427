# SPDX-License-Identifier: Apache-2.0
"""Random numbers on the device.

All generators here draw by counter (Philox 4x32-10, ``include/tessera/philox.hpp``), also those
that have the names of other algorithms: programs run unchanged, with other numbers of the same
distributions. A generator remembers its key and how many arrays it has filled; nothing is kept on
the device, and what it gives does not depend on the GPU. The Sobol classes therefore give
independent numbers, no quasi-random ones.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from typing import Any

import numpy as np

from ._array import GPUArray, to_gpu
from ._dtypes import ScalarArg, VectorArg, dtype_to_ctype
from .elementwise import ElementwiseKernel

__all__ = [
    "MRG32k3aRandomNumberGenerator", "PhiloxRandomNumberGenerator",
    "ScrambledSobol32RandomNumberGenerator", "ScrambledSobol64RandomNumberGenerator",
    "Sobol32RandomNumberGenerator", "Sobol64RandomNumberGenerator",
    "XORWOWRandomNumberGenerator", "direction_vector_set", "generate_direction_vectors",
    "generate_scramble_constants32", "generate_scramble_constants64", "get_curand_version", "rand",
    "seed_getter_uniform", "seed_getter_unique",
]  # fmt: skip

# Distribution -> C of one value of type {T} by the generator g; a and b are its numbers.
_DRAWS = {
    "uniform": "tessera::draw<{T}>::uniform(g, false)",
    "rand": "tessera::draw<{T}>::uniform(g, true)",
    "normal": "tessera::normal<{T}>(g)",
    "log_normal": "::exp(({T})a + ({T})b * tessera::normal<{T}>(g))",
    "poisson": "({T})tessera::poisson(g, a)",
    "poisson_of": "({T})tessera::poisson(g, (double)z[i])",
}


def get_curand_version() -> tuple[int, int, int]:
    """The version of cuRAND whose generators have their names here."""
    return 10, 0, 0


@functools.lru_cache(maxsize=None)
def draw_kernel(what: str, dtype: np.dtype[Any]) -> ElementwiseKernel:
    """Fills an array with a distribution of the table."""
    floats = ("rand", "normal", "log_normal")
    if what == "uniform":
        is_known = dtype.kind in "iu" or dtype in (np.float32, np.float64)
    elif what in floats:
        is_known = dtype in (np.float32, np.float64) or (what == "rand" and dtype.kind in "iu")
    else:
        is_known = dtype.kind in "iu" or dtype in (np.float32, np.float64)
    if not is_known:
        raise TypeError(f"there are no {what} numbers of {dtype}")
    arguments = [
        VectorArg(dtype, "z"), ScalarArg(np.uint64, "key"), ScalarArg(np.uint64, "call"),
        ScalarArg(np.float64, "a"), ScalarArg(np.float64, "b"),
    ]  # fmt: skip
    value = _DRAWS[what].format(T=dtype_to_ctype(dtype))
    text = f"tessera::philox g(key, i, call); z[i] = {value}"
    return ElementwiseKernel(
        arguments, text, f"{what}_kernel", preamble="#include <tessera/philox.hpp>"
    )


class _Generator:
    """What all generators share; `_tag` keeps the streams of different classes apart."""

    _tag = 0
    has_box_muller = True

    def __init__(self, seed_getter: Callable[[int], Any] | None = None, offset: int = 0) -> None:
        seeds = (seed_getter or seed_getter_uniform)(2)
        words = (seeds.get() if isinstance(seeds, GPUArray) else np.asarray(seeds)).ravel()
        key = int.from_bytes(words[:2].astype(np.int64).tobytes(), "little")
        self._start(key, offset)

    def _start(self, key: int, offset: int) -> None:
        self._key = (key ^ key >> 64 ^ self._tag * 0x9E3779B97F4A7C15) % 2**64
        self._call = int(offset)
        self.generators_per_block, self.block_count = 256, 1

    def _fill(self, what: str, data: GPUArray, stream: Any, a: float = 0, b: float = 0) -> None:
        key, call = self._key, self._call % 2**56
        self._call += 1
        if data.size:
            draw_kernel(what, data.dtype)(data, key, call, a, b, stream=stream)

    def _gen(self, what: str, shape: Any, dtype: Any, stream: Any, *numbers: float) -> GPUArray:
        data = GPUArray(shape, dtype)
        self._fill(what, data, stream, *numbers)
        return data

    def fill_uniform(self, data: GPUArray, stream: Any = None) -> None:
        """Numbers in (0, 1]; whole numbers of every bit."""
        self._fill("uniform", data, stream)

    def gen_uniform(self, shape: Any, dtype: Any, stream: Any = None) -> GPUArray:
        """An array of ``fill_uniform``."""
        return self._gen("uniform", shape, dtype, stream)

    def fill_normal(self, data: GPUArray, stream: Any = None) -> None:
        """Normal numbers of mean 0 and deviation 1."""
        self._fill("normal", data, stream)

    def gen_normal(self, shape: Any, dtype: Any, stream: Any = None) -> GPUArray:
        """An array of ``fill_normal``."""
        return self._gen("normal", shape, dtype, stream)

    def fill_log_normal(
        self, data: GPUArray, mean: float = 0.0, stddev: float = 1.0, stream: Any = None
    ) -> None:
        """exp of normal numbers with this mean and deviation."""
        self._fill("log_normal", data, stream, mean, stddev)

    def gen_log_normal(
        self, shape: Any, dtype: Any, mean: float, stddev: float, stream: Any = None
    ) -> GPUArray:
        """An array of ``fill_log_normal``."""
        return self._gen("log_normal", shape, dtype, stream, mean, stddev)

    def fill_poisson(
        self, data: GPUArray, lambda_value: float | None = None, stream: Any = None
    ) -> None:
        """Poisson numbers; without a mean, each element is the mean of what replaces it."""
        if lambda_value is None:
            self._fill("poisson_of", data, stream)
        else:
            self._fill("poisson", data, stream, lambda_value)

    def gen_poisson(
        self, shape: Any, dtype: Any, lambda_value: float, stream: Any = None
    ) -> GPUArray:
        """An array of ``fill_poisson``."""
        return self._gen("poisson", shape, dtype, stream, lambda_value)

    def call_skip_ahead(self, i: int, stream: Any = None) -> None:
        """Leaves out the next `i` fills."""
        del stream
        self._call += int(i)

    def call_skip_ahead_array(self, i: Any, stream: Any = None) -> None:
        """Leaves out as many fills as the largest number of an array."""
        self.call_skip_ahead(int(i.get().max()), stream)

    def call_skip_ahead_sequence(self, i: int, stream: Any = None) -> None:
        """Goes to another sequence, `i` further on."""
        del stream
        self._key = (self._key + int(i) * 0xD1342543DE82EF95) % 2**64

    def call_skip_ahead_sequence_array(self, i: Any, stream: Any = None) -> None:
        """Goes further on by the largest number of an array."""
        self.call_skip_ahead_sequence(int(i.get().max()), stream)


def seed_getter_uniform(N: int) -> np.ndarray[Any, Any]:  # noqa: N803
    """N times one seed of the operating system's."""
    return np.full(N, np.frombuffer(os.urandom(8), np.int64)[0])


def seed_getter_unique(N: int) -> np.ndarray[Any, Any]:  # noqa: N803
    """N seeds of the operating system's."""
    return np.frombuffer(os.urandom(8 * N), np.int64).copy()


class PhiloxRandomNumberGenerator(_Generator):
    """The generator under its own name."""


class XORWOWRandomNumberGenerator(_Generator):
    """Philox under this name; see the module."""

    _tag = 1


class MRG32k3aRandomNumberGenerator(_Generator):
    """Philox under this name; see the module."""

    _tag = 2


class direction_vector_set:  # noqa: N801
    """Which direction vectors: they only seed the Sobol classes here."""

    VECTOR_32, SCRAMBLED_VECTOR_32, VECTOR_64, SCRAMBLED_VECTOR_64 = range(4)


def generate_direction_vectors(count: int, direction: int = 0) -> GPUArray:
    """Numbers to hand to a Sobol class."""
    dtype = np.uint32 if direction < 2 else np.uint64
    bits = 32 if direction < 2 else 64
    return to_gpu(np.arange(1, count * bits + 1, dtype=dtype).reshape(count, bits))


def generate_scramble_constants32(count: int) -> GPUArray:
    """Numbers to hand to a scrambled Sobol class."""
    return to_gpu(np.frombuffer(os.urandom(4 * count), np.uint32).copy())


def generate_scramble_constants64(count: int) -> GPUArray:
    """Numbers to hand to a scrambled Sobol class."""
    return to_gpu(np.frombuffer(os.urandom(8 * count), np.uint64).copy())


class _Sobol(_Generator):
    """Direction and scramble vectors make the key, so that the same ones give the same numbers."""

    def __init__(self, dir_vector: Any = None, *scramble: Any, offset: int = 0) -> None:
        key = self._tag
        given = [v for v in (dir_vector, *scramble) if isinstance(v, GPUArray)]
        offset = next((int(v) for v in scramble if isinstance(v, int)), offset)
        for vector in given:
            for word in vector.get().ravel()[:64]:
                key = (key * 6364136223846793005 + int(word) + 1) % 2**64
        self._start(key, offset)


class Sobol32RandomNumberGenerator(_Sobol):
    """Philox under this name; see the module."""

    _tag = 3


class ScrambledSobol32RandomNumberGenerator(_Sobol):
    """Philox under this name; see the module."""

    _tag = 4


class Sobol64RandomNumberGenerator(_Sobol):
    """Philox under this name; see the module."""

    _tag = 5


class ScrambledSobol64RandomNumberGenerator(_Sobol):
    """Philox under this name; see the module."""

    _tag = 6


def rand(shape: Any, dtype: Any = np.float32, stream: Any = None) -> GPUArray:
    """An array of numbers in [0, 1), or of whole numbers of every bit."""
    data = GPUArray(shape, dtype)
    key = int.from_bytes(os.urandom(8), "little")
    if data.size:
        draw_kernel("rand", data.dtype)(data, key, 0, 0, 0, stream=stream)
    return data
