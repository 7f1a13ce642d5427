# SPDX-License-Identifier: Apache-2.0
"""Tile kernels in JAX programs, eager and traced; skipped where JAX is not installed."""

import math

import numpy as np
import pytest
import tessera.tile as ct
from tessera.tile.jax import InputOutput, OutputPlaceholder, cutile_call

jax = pytest.importorskip("jax")


@ct.kernel
def scale(x, y, c: ct.Constant, TILE: ct.Constant):
    ct.store(y, ct.bid(0), ct.load(x, ct.bid(0), TILE) * c)


@ct.kernel
def halve(x, TILE: ct.Constant):
    ct.store(x, ct.bid(0), ct.load(x, ct.bid(0), TILE) / 2)


@ct.kernel
def sines(x, out, TILE: ct.Constant):
    ct.store(out[0], ct.bid(0), ct.sin(ct.load(x, ct.bid(0), TILE)))
    ct.store(out[1], ct.bid(0), ct.cos(ct.load(x, ct.bid(0), TILE)))


def program(x, c, tile):
    grid = (ct.cdiv(x.shape[0], tile),)
    place = OutputPlaceholder(x.shape, x.dtype)
    y = cutile_call(grid, scale, (x, place, c, tile))
    z = cutile_call(grid, halve, (InputOutput(y), tile))
    sine, cosine = cutile_call(grid, sines, (z, (place, place), tile))
    return y, z, sine + cosine


@pytest.mark.parametrize("traced", [False, True])
def test_a_program_of_three_kernels(traced):
    run = jax.jit(program, static_argnums=(1, 2)) if traced else program
    x = jax.numpy.arange(10, dtype="float32")
    for c, tile in ((math.pi, 4), (2.0, 8)):
        y, z, sums = run(x, c, tile)
        np.testing.assert_allclose(y, np.asarray(x) * np.float32(c), rtol=1e-6)
        np.testing.assert_allclose(z, np.asarray(y) / 2, rtol=1e-6)
        np.testing.assert_allclose(sums, np.sin(z) + np.cos(z), atol=1e-5)
    assert np.asarray(x).tolist() == list(range(10))


@pytest.mark.parametrize(
    ("kernel", "args", "text"),
    [
        (scale, (1.0, 2.0, 3, 4), "nothing would come out"),
        (print, (1,), "decorated with @ct.kernel"),
        (halve, ([1], OutputPlaceholder((1,), "float32")), "not a list"),
    ],
)
def test_calls_that_mean_nothing(kernel, args, text):
    with pytest.raises(TypeError, match=text):
        cutile_call((1,), kernel, args)
