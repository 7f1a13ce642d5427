# SPDX-License-Identifier: Apache-2.0
"""Tile kernels in JAX programs, eager and traced; skipped where JAX is not installed."""

import math
import subprocess
import sys

import numpy as np
import pytest
import tessera.tile as ct
from tessera.tile.jax import InputOutput, OutputPlaceholder, cutile_call

jax = pytest.importorskip("jax")
pytest.importorskip("jax.export")


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


def test_a_traced_program_holds_its_calls():
    text = str(jax.jit(program, static_argnums=(1, 2)).lower(jax.numpy.zeros(16, "float32"), 2.0, 8).as_text())
    assert text.count("@cutile_launch") == 3


@ct.kernel
def weighted(x, y, *, factors: tuple[float, float], TILE: ct.Constant):
    ct.store(y, ct.bid(0), ct.load(x, ct.bid(0), TILE) * factors[0] + factors[1])


def test_parameters_by_name_alone_take_the_last_arguments():
    x = jax.numpy.arange(16, dtype="float32")
    y = cutile_call((2,), weighted, (x, OutputPlaceholder(x.shape, x.dtype), (2.0, 1.0), 8))
    np.testing.assert_array_equal(y, 2 * x + 1)


def test_a_tuple_that_does_not_fit_is_refused_at_once():
    x = jax.numpy.zeros(16, "float32")
    with pytest.raises(TypeError, match="argument 'factors' expects a tuple of length 2, got 3"):
        cutile_call((2,), weighted, (x, OutputPlaceholder(x.shape, x.dtype), (2.0, 1.0, 0.0), 8))


RUNNER = """
import sys
import numpy as np
import tessera.tile.jax
from jax import export
x = np.arange(16, dtype=np.float32)
y = export.deserialize(open(sys.argv[1], "rb").read()).call(x)
np.testing.assert_array_equal(np.asarray(y), 3 * x)
"""


def exported(kernel, *constants):
    pytest.importorskip("flatbuffers")

    def run(x):
        return cutile_call((2,), kernel, (x, OutputPlaceholder(x.shape, x.dtype), *constants))

    known = (jax.export.DisabledSafetyCheck.custom_call("cutile_launch"),)
    return jax.export.export(jax.jit(run), disabled_checks=known)(jax.ShapeDtypeStruct((16,), "float32"))


def test_an_exported_program_runs_in_another_process(tmp_path):
    for kernel, *constants in ((scale, 3.0, 8), (weighted, (3.0, 0.0), 8)):
        path = tmp_path / kernel.__name__
        path.write_bytes(exported(kernel, *constants).serialize())
        subprocess.run([sys.executable, "-c", RUNNER, str(path)], check=True, timeout=120)


@ct.kernel
def evaluated(x, y, TILE: ct.Constant):
    ct.store(y, ct.bid(0), ct.load(x, ct.bid(0), TILE) * ct.static_eval(math.factorial(3)))


def test_a_kernel_that_evaluates_python_stays_in_its_process(tmp_path):
    x = jax.numpy.arange(16, dtype="float32")
    made = exported(evaluated, 8)
    np.testing.assert_array_equal(made.call(x), 6 * x)
    path = tmp_path / "program"
    path.write_bytes(made.serialize())
    done = subprocess.run([sys.executable, "-c", RUNNER, str(path)], capture_output=True, text=True, timeout=120)
    assert done.returncode
    assert "only in the process that made it" in done.stderr


@ct.kernel
def misread(x, y):
    ct.store(y, (0, 0), ct.load(x, (0,), (4,)))


def test_an_error_of_the_kernel_reaches_the_caller():
    x = jax.numpy.zeros(4, "float32")
    with pytest.raises(Exception, match=r"TileTypeError: .*test_jax\.py:\d+"):
        cutile_call((1,), misread, (x, OutputPlaceholder((4,), "float32"))).block_until_ready()
