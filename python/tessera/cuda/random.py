# SPDX-License-Identifier: Apache-2.0
"""Random numbers in kernels: xoroshiro128+, with numba's states and draws bit for bit.

A generator has 128 bits of state; those of neighbouring threads are 2**64 steps apart. A step is linear over bits, so
many steps at once are a table of 128 images, and images of a byte at a time are looked up.

Kernels draw with ``xoroshiro128p_uniform_float32(states, i)`` and its like, where ``states`` is an array of records
that ``create_xoroshiro128p_states`` made and ``i`` the thread's own place in it.
"""

from __future__ import annotations

import math
from typing import Any

import numpy

from ._jit import jit

__all__ = [
    "create_xoroshiro128p_states", "init_xoroshiro128p_state", "init_xoroshiro128p_states", "xoroshiro128p_dtype",
    "xoroshiro128p_jump", "xoroshiro128p_next", "xoroshiro128p_normal_float32", "xoroshiro128p_normal_float64",
    "xoroshiro128p_uniform_float32", "xoroshiro128p_uniform_float64",
]  # fmt: skip

xoroshiro128p_dtype = numpy.dtype([("s0", numpy.uint64), ("s1", numpy.uint64)], align=True)

_MASK = (1 << 64) - 1
_JUMP = (0xBEAC0467EBA5FACB, 0xD86B048B86AA9922)  # the polynomial of 2**64 steps


def _seeded(seed: int) -> int:
    """A well mixed word of a seed, by SplitMix64."""
    z = (seed + 0x9E3779B97F4A7C15) & _MASK
    z = ((z ^ z >> 30) * 0xBF58476D1CE4E5B9) & _MASK
    z = ((z ^ z >> 27) * 0x94D049BB133111EB) & _MASK
    return z ^ z >> 31


def _rotated(x: Any, k: int) -> Any:
    return x << numpy.uint64(k) | x >> numpy.uint64(64 - k)


def _stepped(s0: Any, s1: Any) -> tuple[Any, Any]:
    s1 = s1 ^ s0
    return _rotated(s0, 55) ^ s1 ^ s1 << numpy.uint64(14), _rotated(s1, 36)


def _jump_images() -> Any:
    """Where 2**64 steps take each of the 128 states with one bit: (128, 2) words."""
    bits = numpy.uint64(1) << numpy.arange(64, dtype=numpy.uint64)
    zero = numpy.zeros(64, numpy.uint64)
    s0, s1 = numpy.concatenate([bits, zero]), numpy.concatenate([zero, bits])
    t0, t1 = numpy.zeros_like(s0), numpy.zeros_like(s1)
    for word in _JUMP:
        for bit in range(64):
            if word >> bit & 1:
                t0, t1 = t0 ^ s0, t1 ^ s1
            s0, s1 = _stepped(s0, s1)
    return numpy.stack([t0, t1], 1)


def _tables(images: Any) -> Any:
    """For each of the 16 bytes of a state, the images of its 256 values."""
    tables = numpy.zeros((16, 256, 2), numpy.uint64)
    for byte in range(16):
        for bit in range(8):
            tables[byte, 1 << bit : 2 << bit] = tables[byte, : 1 << bit] ^ images[8 * byte + bit]
    return tables


def _applied(images: Any, states: Any) -> Any:
    """The map of these images on (n, 2) words."""
    tables, found = _tables(images), numpy.zeros_like(states)
    for byte in range(16):
        values = states[:, byte // 8] >> numpy.uint64(8 * (byte % 8)) & numpy.uint64(255)
        found ^= tables[byte][values]
    return found


def _states(n: int, seed: int, subsequence_start: int) -> Any:
    word = _seeded(int(seed) & _MASK)
    states = numpy.full((1, 2), word, numpy.uint64)
    images, left = _jump_images(), int(subsequence_start)
    power = images
    while left:
        if left & 1:
            states = _applied(power, states)
        power, left = _applied(power, power), left >> 1
    while len(states) < n:  # twice as many each time
        states = numpy.concatenate([states, _applied(images, states)])
        images = _applied(images, images)
    found = numpy.empty(n, xoroshiro128p_dtype)
    found["s0"], found["s1"] = states[:n, 0], states[:n, 1]
    return found


def init_xoroshiro128p_states(states: Any, seed: int, subsequence_start: int = 0, stream: Any = 0) -> None:
    """Seeds a device array of states: state i begins ``subsequence_start + i`` times 2**64 steps after the seed's."""
    states.copy_to_device(_states(states.size, seed, subsequence_start), stream=stream)


def create_xoroshiro128p_states(n: int, seed: int, subsequence_start: int = 0, stream: Any = 0) -> Any:
    """A device array of ``n`` seeded states, one for each thread.

    Parameters
    ----------
    n : int
    seed : int
        The low 64 bits count.
    subsequence_start : int
        How many sequences of 2**64 numbers are left out.
    stream : Stream, optional
    """
    from ._arrays import device_array

    states = device_array(n, xoroshiro128p_dtype, stream=stream)
    init_xoroshiro128p_states(states, seed, subsequence_start, stream)
    return states


# ---- in kernels ------------------------------------------------------------------------------------


@jit(device=True)
def init_xoroshiro128p_state(states: Any, index: Any, seed: Any) -> None:
    """Seeds one state, in a kernel."""
    z = numpy.uint64(seed) + numpy.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> numpy.uint64(30))) * numpy.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> numpy.uint64(27))) * numpy.uint64(0x94D049BB133111EB)
    z = z ^ (z >> numpy.uint64(31))
    states[index]["s0"] = z
    states[index]["s1"] = z


@jit(device=True)
def xoroshiro128p_next(states: Any, index: Any) -> Any:
    """The next 64 random bits of a state, as uint64."""
    s0 = states[index]["s0"]
    s1 = states[index]["s1"]
    result = s0 + s1
    s1 = s1 ^ s0
    states[index]["s0"] = ((s0 << numpy.uint64(55)) | (s0 >> numpy.uint64(9))) ^ s1 ^ (s1 << numpy.uint64(14))
    states[index]["s1"] = (s1 << numpy.uint64(36)) | (s1 >> numpy.uint64(28))
    return result


@jit(device=True)
def xoroshiro128p_jump(states: Any, index: Any) -> None:
    """Moves a state 2**64 steps on."""
    s0 = numpy.uint64(0)
    s1 = numpy.uint64(0)
    for i in range(2):
        word = numpy.uint64(_JUMP[0]) if i == 0 else numpy.uint64(_JUMP[1])
        for bit in range(64):
            if (word >> numpy.uint64(bit)) & numpy.uint64(1):
                s0 = s0 ^ states[index]["s0"]
                s1 = s1 ^ states[index]["s1"]
            xoroshiro128p_next(states, index)
    states[index]["s0"] = s0
    states[index]["s1"] = s1


@jit(device=True)
def xoroshiro128p_uniform_float64(states: Any, index: Any) -> Any:
    """A float64 in [0, 1), a multiple of 2**-53."""
    return numpy.float64(xoroshiro128p_next(states, index) >> numpy.uint64(11)) * 2.0**-53


@jit(device=True)
def xoroshiro128p_uniform_float32(states: Any, index: Any) -> Any:
    """The float64 of the same draw, rounded to float32: in [0, 1]."""
    return numpy.float32(xoroshiro128p_uniform_float64(states, index))


@jit(device=True)
def xoroshiro128p_normal_float32(states: Any, index: Any) -> Any:
    """A float32 of the standard normal distribution: the first of the two numbers that Box and Muller's transform makes
    of two draws."""
    u1 = xoroshiro128p_uniform_float32(states, index)
    u2 = xoroshiro128p_uniform_float32(states, index)
    return math.sqrt(numpy.float32(-2.0) * math.log(u1)) * math.cos(numpy.float32(2 * math.pi) * u2)


@jit(device=True)
def xoroshiro128p_normal_float64(states: Any, index: Any) -> Any:
    """A float64 of the standard normal distribution, as numba makes it: of two draws that are rounded to float32."""
    u1 = xoroshiro128p_uniform_float32(states, index)
    u2 = xoroshiro128p_uniform_float32(states, index)
    return math.sqrt(-2.0 * math.log(u1)) * math.cos(2 * math.pi * u2)
