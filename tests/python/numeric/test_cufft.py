# SPDX-License-Identifier: Apache-2.0
"""Fourier transforms by what cuFFT computes, with a stand-in for the library on memory of the host: it takes the
arguments that the library's functions have, wants what it wants of them, and answers by NumPy."""

from __future__ import annotations

import contextlib
import ctypes
from typing import Any

import numpy
import pytest
import tessera.numeric as np
from tessera.numeric import _cufft

TYPES = {0x29: "FF", 0x2A: "fF", 0x2C: "Ff", 0x69: "DD", 0x6A: "dD", 0x6C: "Dd"}


class Fake:
    def __init__(self) -> None:
        self.plans: dict[int, tuple[int, str, int]] = {}
        self.functions = self

    def cufftDestroy(self, handle: Any) -> None:  # noqa: N802  the library's name
        del self.plans[handle.value]

    def call(self, name: str, *args: Any) -> None:
        if name == "cufftCreate":
            args[0]._obj.value = max(self.plans, default=0) + 1
            self.plans[args[0]._obj.value] = (0, "", 0)
        elif name == "cufftMakePlanMany64":
            self.plans[args[0].value] = args[2][0], TYPES[args[9]], args[10].value
            args[11]._obj.value = 64
        elif name.startswith("cufftExec"):
            self.run(*self.plans[args[0].value], *args[1:])

    def run(self, n: int, kind: str, lines: int, source: Any, target: Any, way: int = 0) -> None:
        lengths = [n // 2 + 1 if kind in halves else n for halves in (("Ff", "Dd"), ("fF", "dD"))]
        sides = []
        for place, char, length in zip((source, target), kind, lengths, strict=True):
            dtype = numpy.dtype(char)
            assert place.value % numpy.dtype(kind.upper()[0]).itemsize == 0  # or cuFFT says that a value is invalid
            memory = (ctypes.c_char * (lines * length * dtype.itemsize)).from_address(place.value)
            sides.append(numpy.frombuffer(memory, dtype).reshape(lines, length))
        x, y = sides
        if kind in ("Ff", "Dd"):
            assert (x[:, 0].imag == 0).all()
            y[...] = numpy.fft.irfft(x, n, norm="forward")
        elif kind in ("fF", "dD"):
            y[...] = numpy.fft.rfft(x)
        else:
            y[...] = numpy.fft.fft(x) if way == -1 else numpy.fft.ifft(x, norm="forward")


@pytest.fixture(autouse=True)
def library(monkeypatch):
    fake = Fake()
    monkeypatch.setattr(_cufft, "library", lambda name: fake)
    monkeypatch.setattr(_cufft, "on_device", lambda a: contextlib.nullcontext())
    yield
    _cufft._plan.cache_clear()


@pytest.mark.parametrize("dtype", "fdFD")
@pytest.mark.parametrize("n", [1, 2, 7, 8])
def test_lines(dtype: str, n: int) -> None:
    rng = numpy.random.default_rng(n)
    x = rng.standard_normal((3, n + 1)).astype(dtype)
    tolerance = 1e-5 if dtype in "fF" else 1e-12
    for a in (np.asarray(x)[:, 1:], np.asarray(x)[:, :-1], np.asarray(x)[0, 1:], np.asarray(x)[:0, 1:]):
        for m in (n, max(1, n - 1), n + 2):
            for inverse in (False, True):
                source = a.astype(dtype.upper())
                made = _cufft.transform(source, m, dtype.upper(), inverse, 1 / m if inverse else 1)
                wanted = (numpy.fft.ifft if inverse else numpy.fft.fft)(numpy.asarray(source), m)
                assert made.dtype == wanted.dtype and numpy.allclose(made, wanted, atol=tolerance)
            if dtype in "fd":
                made = _cufft.transform(a, m, dtype.upper(), False, 1)
                assert numpy.allclose(made, numpy.fft.rfft(numpy.asarray(a), m), atol=tolerance)
            else:
                made = _cufft.transform(a, m, dtype.lower(), True, 1 / m)
                assert numpy.allclose(made, numpy.fft.irfft(numpy.asarray(a), m), atol=tolerance)


def test_views_between_complex_numbers_are_copied() -> None:
    for dtype in "fd":
        a = np.arange(9, dtype=dtype)[1:]
        assert numpy.allclose(_cufft.transform(a, 8, dtype.upper(), False, 1), numpy.fft.rfft(numpy.arange(1.0, 9)))
        z = np.arange(17, dtype=dtype)[1:].view(dtype.upper())
        assert numpy.allclose(_cufft.transform(z, 8, dtype.upper(), False, 1), numpy.fft.fft(numpy.asarray(z)))
