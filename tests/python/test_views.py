# SPDX-License-Identifier: Apache-2.0
"""Tiled views whose tiles are single elements, views that loops and branches choose, products of batches."""

import subprocess
import sys

import ml_dtypes
import numpy as np
import pytest
import tessera.tile as ct


@ct.kernel
def every_element(x, out, steps: ct.Constant[tuple]):
    ones = x.tiled_view(()) if steps is None else x.tiled_view((), traversal_steps=steps)
    to = out.tiled_view(())
    ct.static_assert(ones.tile_shape == () and ones.dtype == x.dtype)
    ct.static_assert(ones.traversal_steps == ((1, 1) if steps is None else steps))
    for i in range(ones.num_tiles(0)):
        for j in range(ones.num_tiles(1)):
            one = ones.load((i, j))
            ct.static_assert(one.shape == ())
            to.store((i, j), one)


@pytest.mark.parametrize("dtype", [np.float32, np.int8, np.bool_, np.complex64])
@pytest.mark.parametrize("steps", [(1, 1), (2, 3), (3, 1), (5, 5)])
@pytest.mark.parametrize("shape", [(4, 6), (1, 1), (5, 3)])
def test_a_tile_without_dimensions_is_one_element(shape, steps, dtype):
    r = np.random.default_rng(shape[0])
    x = np.asfortranarray(r.integers(0, 5, shape)).astype(dtype)
    wanted = x[:: steps[0], :: steps[1]]
    out = np.zeros(wanted.shape, dtype)
    ct.launch(None, (), every_element, (x, out, steps))
    assert np.array_equal(out, wanted)


@ct.kernel
def add_elements(x, out):
    out.tiled_view(()).atomic_store_add((ct.bid(0), 1), x.tiled_view(()).load(1))
    out.tiled_view((2, 2)).atomic_store_add((0, 0), x.tiled_view(()).load(0))


def test_atomic_updates_of_elements():
    out = np.zeros((3, 4), np.float32)
    ct.launch(None, (3,), add_elements, (np.array([1, 10], np.float32), out))
    wanted = np.zeros((3, 4), np.float32)
    wanted[:, 1] = 10
    wanted[:2, :2] += 3
    assert np.array_equal(out, wanted)


@ct.kernel
def store_tile(x):
    x.tiled_view(()).store(0, ct.ones((2,), x.dtype))


@ct.kernel
def divide_nothing(x):
    x.tiled_view(())


@pytest.mark.parametrize(
    ("kernel", "shape", "text"),
    [
        (store_tile, (4,), r"does not fit the view's"),
        (divide_nothing, (), "no dimensions to divide into tiles"),
    ],
)
def test_what_does_not_fit_a_view_of_elements(kernel, shape, text):
    with pytest.raises(ct.TileTypeError, match=text):
        ct.launch(None, (1,), kernel, (np.zeros(shape),))


@ct.kernel
def alternate(x, y, out, n):
    view, to = x.tiled_view(4), out.tiled_view(4)
    for i in range(n):
        to.store(i, view.load(0))
        view = y.tiled_view(4)
    if n == 3:
        view = x.tiled_view(4)
    to.store(n, view.load(0))


@pytest.mark.parametrize("n", [0, 2, 3])
def test_views_that_loops_and_branches_choose(n):
    out = np.zeros(16)
    ct.launch(None, (1,), alternate, (np.ones(4), np.full(4, 2.0), out, n))
    wanted = [1, 2, 2][:n] + [1 if n in (0, 3) else 2] + [0] * (3 - n)
    assert out[::4].tolist() == wanted


@ct.kernel
def views_of_two_kinds(x, n):
    view = x.tiled_view(4)
    if n == 3:
        view = x.tiled_view(2)
    view.load(0)


def test_views_of_two_tile_shapes_do_not_join():
    with pytest.raises(ct.TileTypeError, match="view"):
        ct.launch(None, (1,), views_of_two_kinds, (np.zeros(4), 3))


@ct.kernel
def raw_dtype(x, out):
    raw = x.get_raw_memory()
    ct.scatter(out, 0, raw.load_offset(0) + raw.dtype(1))


def test_raw_memory_has_a_dtype():
    out = np.zeros(1, np.int16)
    ct.launch(None, (1,), raw_dtype, (np.full(4, 6, np.int16), out))
    assert out[0] == 7


def first_tile(x, shape):
    return ct.load(x, (0, 0) if x.ndim == 2 else (0, 0, 0), shape)


@ct.kernel
def scaled(x, xs, y, ys, out, shapes: ct.Constant[tuple]):
    a, b = first_tile(x, shapes[0]), first_tile(y, shapes[2])
    a_scale, b_scale = first_tile(xs, shapes[1]), first_tile(ys, shapes[3])
    acc = ct.zeros((2, 16, 16), ct.float32)
    ct.store(out, (0, 0, 0), ct.mma_scaled(a, a_scale, b, b_scale, acc))


@pytest.mark.parametrize("batches", [(0, 2, 2, 2), (2, 2, 0, 0), (0, 0, 2, 0), (2, 0, 1, 2), (2, 2, 2, 2)])
def test_batches_of_scaled_products_broadcast(batches):
    r = np.random.default_rng(7)
    lead = [(n,) if n else () for n in batches]
    shapes = (lead[0] + (16, 128), lead[1] + (16, 4), lead[2] + (128, 16), lead[3] + (4, 16))
    e4, e8 = ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e8m0fnu
    arrays = [r.standard_normal(s).astype(e4) if i % 2 == 0 else r.random(s).astype(e8) for i, s in enumerate(shapes)]
    out = np.zeros((2, 16, 16), np.float32)
    ct.launch(None, (1,), scaled, (*arrays, out, shapes))
    x, xs, y, ys = (a.astype(np.float64) for a in arrays)
    wanted = (x * np.repeat(xs, 32, -1)) @ (y * np.repeat(ys, 32, -2))
    np.testing.assert_allclose(out, np.broadcast_to(wanted, out.shape), rtol=1e-5, atol=1e-5)


FAILS = """
import numpy as np, tessera.tile as ct
@ct.kernel
def k(x):
    ct.assert_(ct.gather(x, 0) > 0, "x is not positive")
print("before")
try:
    ct.launch(None, (1,), k, (np.zeros(1),))
except RuntimeError as e:
    print(e)
"""


def test_what_an_assert_says_is_printed_and_raised(tmp_path):
    file = tmp_path / "fails.py"
    file.write_text(FAILS)
    done = subprocess.run([sys.executable, file], capture_output=True, text=True, check=True)
    lines = done.stdout.splitlines()
    assert lines[0] == "before" and len(lines) == 3
    assert lines[1] == lines[2] and lines[1].endswith("assertion failed: x is not positive")
