# SPDX-License-Identifier: Apache-2.0
"""Fourier transforms of lines on a GPU, by cuFFT where it is installed."""

from __future__ import annotations

import ctypes
import functools
import math
from typing import Any

import numpy

from . import _functions as f
from ._libraries import address, library, lock, on_device, scratch
from ._ndarray import ndarray

_FORWARD, _INVERSE = -1, 1
# of a plan, by the dtypes of both sides: its number and the function that runs it
_KINDS = {
    "FF": (0x29, "cufftExecC2C"), "fF": (0x2A, "cufftExecR2C"), "Ff": (0x2C, "cufftExecC2R"),
    "DD": (0x69, "cufftExecZ2Z"), "dD": (0x6A, "cufftExecD2Z"), "Dd": (0x6C, "cufftExecZ2D"),
}  # fmt: skip
_KEPT = 64


def is_there() -> bool:
    """Whether cuFFT is installed."""
    return library("cufft") is not None


class _Plan:
    """A plan for n elements in each of many lines that lie behind each other."""

    def __init__(self, n: int, kind: str, lines: int) -> None:
        self.cufft: Any = library("cufft")
        self.handle = ctypes.c_int()
        size, length = ctypes.c_size_t(), (ctypes.c_longlong * 1)(n)
        self.cufft.call("cufftCreate", ctypes.byref(self.handle))
        self.cufft.call("cufftSetAutoAllocation", self.handle, 0)
        self.cufft.call(
            "cufftMakePlanMany64", self.handle, 1, length, None, ctypes.c_longlong(1), ctypes.c_longlong(0), None,
            ctypes.c_longlong(1), ctypes.c_longlong(0), _KINDS[kind][0], ctypes.c_longlong(lines), ctypes.byref(size),
        )  # fmt: skip
        self.size = size.value

    def __del__(self) -> None:
        if self.handle.value:
            self.cufft.functions.cufftDestroy(self.handle)


@functools.lru_cache(_KEPT)
def _plan(n: int, kind: str, lines: int, device: str) -> _Plan:
    return _Plan(n, kind, lines)


def _fitted(a: ndarray, length: int, own: bool) -> ndarray:
    """Lines along the last axis, as long as wanted: cut, or with zeros behind; own: a copy that may be written to."""
    if a.shape[-1] >= length:
        made = f.array(a[..., :length], order="C", copy=own or None)
        is_aligned = address(made) % (2 * made.real.itemsize) == 0  # to complex numbers, as cuFFT demands of both sides
        return made if is_aligned else f.array(made, copy=True)
    made = f.zeros((*a.shape[:-1], length), a.dtype, device=a.device)
    made[..., : a.shape[-1]] = a
    return made


def transform(a: ndarray, n: int, dtype: Any, inverse: bool, factor: float) -> ndarray:
    """The transforms of n elements of lines along the last axis, to a dtype; one of the two may be real."""
    dtype = numpy.dtype(dtype)
    reals_from, reals_to = a.dtype.kind == "f", dtype.kind == "f"
    source = _fitted(a, n // 2 + 1 if reals_to else n, reals_to)
    if reals_to:  # the transform is of numbers whose ends are real
        source[..., 0].imag = 0
        if n % 2 == 0:
            source[..., -1].imag = 0
    made = f.empty((*a.shape[:-1], n // 2 + 1 if reals_from else n), dtype, device=a.device)
    lines, kind = math.prod(a.shape[:-1]), a.dtype.char + dtype.char
    if lines:
        with lock, on_device(a):
            plan = _plan(n, kind, lines, a.device)
            work = scratch(plan.size, a.device)
            plan.cufft.call("cufftSetWorkArea", plan.handle, ctypes.c_void_p(address(work)))
            way = () if reals_from or reals_to else (_INVERSE if inverse else _FORWARD,)
            plan.cufft.call(
                _KINDS[kind][1], plan.handle, ctypes.c_void_p(address(source)), ctypes.c_void_p(address(made)), *way
            )
    return made if factor == 1 else made * made.real.dtype.type(factor)
