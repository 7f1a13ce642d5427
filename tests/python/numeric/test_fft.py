# SPDX-License-Identifier: Apache-2.0
"""Transforms against NumPy's: lengths of every kind, axes, norms, places in memory, both precisions, mistakes."""

from __future__ import annotations

import inspect
from collections import OrderedDict

import numpy as np
import pytest
import tessera.numeric as tn
from tessera import _core

RNG = np.random.default_rng(0)
LENGTHS = [*range(1, 68), 74, 128, 243, 1000, 1009, 1024, 2 * 1009, 31 * 32, 37 * 37]


def numbers(shape, dtype="D"):
    x = RNG.standard_normal(shape)
    return (x + 1j * RNG.standard_normal(shape) if dtype in "FD" else x).astype(dtype)


def close(ours, theirs, ulps=8):
    assert isinstance(ours, tn.ndarray)
    found = np.asarray(ours)
    assert found.dtype == theirs.dtype and found.shape == theirs.shape
    tiny = np.finfo(theirs.dtype).eps * (np.abs(theirs).max() if theirs.size else 1)
    assert np.abs(found - theirs).max(initial=0) <= ulps * tiny


@pytest.mark.parametrize("n", LENGTHS)
def test_every_length(n):
    z, x = numbers((2, n)), numbers((2, n), "d")
    close(tn.fft.fft(tn.array(z)), np.fft.fft(z))
    close(tn.fft.ifft(tn.array(z)), np.fft.ifft(z))
    close(tn.fft.rfft(tn.array(x)), np.fft.rfft(x))
    half = z[:, : n // 2 + 1]
    close(tn.fft.irfft(tn.array(half), n), np.fft.irfft(half, n))
    close(tn.fft.hfft(tn.array(half), n), np.fft.hfft(half, n))
    close(tn.fft.ihfft(tn.array(x)), np.fft.ihfft(x))


@pytest.mark.parametrize("name", ["fft", "ifft", "rfft", "irfft", "hfft", "ihfft"])
@pytest.mark.parametrize("norm", [None, "backward", "ortho", "forward"])
def test_axes_lengths_and_norms(name, norm):
    ours, theirs = getattr(tn.fft, name), getattr(np.fft, name)
    x = numbers((4, 5, 6), "d" if name in ("rfft", "ihfft") else "D")
    for axis in (0, 1, -1):
        for n in (None, 1, 3, 4, 9):
            close(ours(tn.array(x), n, axis, norm), theirs(x, n, axis, norm))
    view = tn.array(x)[::-1, ::2].swapaxes(0, 2)
    close(ours(view, None, 0, norm), theirs(x[::-1, ::2].swapaxes(0, 2), None, 0, norm))


@pytest.mark.parametrize("n", [1024, 1296, 2 * 1023, 4096, 10000, 17 * 61, 127 * 9, 131 * 16, 9973, 19946])
@pytest.mark.parametrize("shape", [(), (3,), (11,)])
def test_long_lines(n, shape):
    z, x = numbers((*shape, n)), numbers((n, *shape), "d")
    close(tn.fft.fft(tn.array(z)), np.fft.fft(z))
    close(tn.fft.ifft(tn.array(z), axis=0), np.fft.ifft(z, axis=0))
    close(tn.fft.rfft(tn.array(x), axis=0), np.fft.rfft(x, axis=0))
    close(tn.fft.rfft(tn.array(z.real), n - 3), np.fft.rfft(z.real, n - 3))
    close(tn.fft.rfft(tn.array(z.real), n + 3), np.fft.rfft(z.real, n + 3))
    close(tn.fft.irfft(tn.array(z), n), np.fft.irfft(z, n))
    close(tn.fft.irfft(tn.array(z[..., ::-2].astype("F"))), np.fft.irfft(z[..., ::-2].astype("F")))


@pytest.mark.parametrize("lines", [1, 2, 7, 8, 9, 17])
@pytest.mark.parametrize("n", [6, 79, 316])
def test_lines_side_by_side(lines, n):
    z = numbers((n, lines))
    for name in ("fft", "ifft", "irfft", "hfft"):
        close(getattr(tn.fft, name)(tn.array(z), axis=0), getattr(np.fft, name)(z, axis=0))
        close(getattr(tn.fft, name)(tn.array(z.T)), getattr(np.fft, name)(z.T))
    close(tn.fft.rfft(tn.array(z.real), axis=0), np.fft.rfft(z.real, axis=0))
    close(tn.fft.rfft(tn.array(z.imag.T)), np.fft.rfft(z.imag.T))


@pytest.mark.parametrize("dtype", "?bHiqefdFD")
def test_dtypes(dtype):
    x = RNG.integers(0, 2, (3, 12)).astype(dtype)
    close(tn.fft.fft(tn.array(x)), np.fft.fft(x))
    close(tn.fft.irfft(tn.array(x)), np.fft.irfft(x))
    if dtype not in "FD":
        close(tn.fft.rfft(tn.array(x)), np.fft.rfft(x))


@pytest.mark.parametrize("name", ["fftn", "ifftn", "rfftn", "irfftn", "fft2", "ifft2", "rfft2", "irfft2"])  # fmt: skip
def test_several_axes(name):
    ours, theirs = getattr(tn.fft, name), getattr(np.fft, name)
    x = numbers((4, 5, 6), "d" if name[0] == "r" else "D")
    for options in ({}, {"axes": (0, 1)}, {"s": (3, 8), "axes": (2, 0)}, {"s": (-1, 2), "axes": (1, -1)},
                    {"norm": "ortho"}):  # fmt: skip
        close(ours(tn.array(x), **options), theirs(x, **options))
    with pytest.warns(DeprecationWarning):
        close(ours(tn.array(x), s=(4, 4), axes=None), theirs(x, s=(4, 4), axes=(-2, -1)))


def test_into_an_array():
    x = numbers((3, 8))
    out = tn.empty((3, 8), complex)
    assert tn.fft.fft(tn.array(x), out=out) is out
    close(out, np.fft.fft(x))
    both = tn.array(x)
    assert tn.fft.fft(both, axis=0, out=both) is both
    close(both, np.fft.fft(x, axis=0))
    made = tn.empty((5, 4, 5), complex)
    close(tn.fft.rfftn(tn.ones((5, 4, 8)), out=made), np.fft.rfftn(np.ones((5, 4, 8))))
    with pytest.raises(ValueError, match="wrong shape"):
        tn.fft.fft(tn.array(x), out=tn.empty((3, 9), complex))


def test_waiting_values_and_empty_arrays():
    x = numbers((1000, 8))
    close(tn.fft.fft(tn.array(x) * 2 + 1) - 1, np.fft.fft(x * 2 + 1) - 1)
    close(tn.fft.fft(tn.empty((0, 4))), np.fft.fft(np.empty((0, 4))))


def test_mistakes():
    for bad, error in (
        ({"n": 0}, ValueError),
        ({"norm": "other"}, ValueError),
        ({"axis": 3}, np.exceptions.AxisError),
    ):
        with pytest.raises(error):
            tn.fft.fft(tn.ones(4), **bad)
    with pytest.raises(TypeError, match="real"):
        tn.fft.rfft(tn.ones(4, complex))
    with pytest.raises(ValueError, match="different lengths"):
        tn.fft.fftn(tn.ones((4, 4)), s=(4,), axes=(0, 1))


@pytest.mark.parametrize("n", [1, 2, 9, 10])
def test_frequencies_and_shifts(n):
    np.testing.assert_array_equal(np.asarray(tn.fft.fftfreq(n, 0.3)), np.fft.fftfreq(n, 0.3))
    np.testing.assert_array_equal(np.asarray(tn.fft.rfftfreq(n, 0.3)), np.fft.rfftfreq(n, 0.3))
    x = np.arange(3 * n).reshape(3, n)
    for axes in (None, 0, 1, (0, 1), (1,)):
        for name in ("fftshift", "ifftshift"):
            ours = getattr(tn.fft, name)(tn.array(x), axes)
            np.testing.assert_array_equal(np.asarray(ours), getattr(np.fft, name)(x, axes))


@pytest.mark.parametrize("name", tn.fft.__all__)
def test_signatures_are_numpys(name):
    ours, theirs = (inspect.signature(getattr(m.fft, name)).parameters for m in (tn, np))
    ours = {name: p for name, p in ours.items() if name != "dtype"}  # of the array API
    assert list(ours) == list(theirs)
    assert [p.default for p in ours.values()] == [p.default for p in theirs.values()]


@pytest.mark.parametrize(
    ("real", "inverse", "source", "target", "length"),
    [
        (False, False, "D", "F", 8),
        (False, False, "F", "D", 8),
        (False, False, "d", "D", 8),
        (False, True, "D", "d", 8),
        (True, False, "D", "D", 5),
        (True, True, "d", "d", 8),
        (False, False, ">c16", "D", 8),
        (False, False, "D", ">c16", 8),
        (False, False, "D", "D", 7),
        (True, False, "d", "D", 4),
        (True, True, "D", "d", 5),
    ],
)
def test_a_plan_refuses_arrays_that_it_would_overrun(real, inverse, source, target, length):
    plan = _core.fft_plan(8, real)
    with pytest.raises(TypeError, match="one precision"):
        _core.fft_run(plan, np.zeros((2, 8), source), np.zeros((2, length), target), inverse, 1.0)


def kept_bytes() -> int:
    return sum(map(_core.fft_bytes, tn.fft._kept.values()))


def test_plans_are_kept_by_their_bytes(monkeypatch):
    monkeypatch.setattr(tn.fft, "_kept", OrderedDict())
    monkeypatch.setattr(tn.fft, "_MOST_BYTES", 1 << 20)
    tn.fft.fft(np.zeros(1 << 17))
    tn.fft.rfft(np.zeros(1 << 10))
    plan = tn.fft._kept[1 << 17, False]
    tn.fft.fft(np.zeros(1 << 17))  # used again, so it stays longer
    assert [*tn.fft._kept] == [(1 << 10, True), (1 << 17, False)] and tn.fft._kept[1 << 17, False] is plan
    for n in (5003, 5009, 5011, 5021, 5023):  # some 300 kB each
        tn.fft.fft(np.zeros(n))
        assert kept_bytes() <= 1 << 20 and [*tn.fft._kept][-1] == (n, False)
    assert (5003, False) not in tn.fft._kept
    tn.fft.fft(np.zeros(65521))  # a prime number: 3 MB, kept until another one is wanted
    assert [*tn.fft._kept] == [(65521, False)]
    tn.fft.fft(np.zeros(8))
    assert [*tn.fft._kept] == [(8, False)]
    for n in range(1, 100):
        tn.fft.fft(np.zeros(n))
    assert [n for n, _ in tn.fft._kept] == [*range(36, 100)]


def test_long_plans_of_prime_lengths_are_not_all_kept():
    for n in (1048573, 1048571, 1048559, 1048549):  # 52 MB each
        tn.fft._plan(n, False)
        assert 0 < kept_bytes() <= 1 << 27
