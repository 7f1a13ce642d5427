# SPDX-License-Identifier: Apache-2.0
"""tessera.tiles: programs by example against NumPy, and what they say of mistakes."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest
from tessera import tiles


@tiles.tile_kernel(tile_size=(16, 16))
def product(a: Any, b: Any, out: Any) -> None:
    tiles.store(out, tiles.compute(tiles.load_shared(a) @ tiles.load_shared(b)))


@tiles.tile_kernel(tile_size=(16, 32, 16))
def layer(a: Any, b: Any, bias: Any, scale: Any, out: Any, factor: float = 0.5) -> None:
    y = tiles.load(a) @ tiles.load(b) + tiles.load(bias)
    tiles.store(out, 1 - (-y) * tiles.load(scale) / factor)


@tiles.tile_kernel()
def nothing(a: Any) -> None:
    tiles.load(a)


@pytest.mark.parametrize("m,k,n", [(1, 1, 1), (16, 16, 16), (100, 70, 33), (3, 500, 2)])
def test_products_are_those_of_numpy(m: int, k: int, n: int) -> None:
    rng = np.random.default_rng(m)
    a, b = rng.random((m, k), dtype=np.float32), rng.random((k, n), dtype=np.float32)
    out = np.zeros((m, n), np.float32)
    product(a, b, out)
    assert np.allclose(out, a.astype(np.float64) @ b, rtol=1e-5)


def test_rows_columns_and_numbers_are_broadcast() -> None:
    rng = np.random.default_rng(1)
    a, b = rng.random((40, 24)), rng.random((24, 50))
    bias, scale = rng.random((1, 50)), rng.random((40, 1))
    out = np.zeros((40, 50))
    layer(a, b, bias, scale, out)
    assert np.allclose(out, 1 - -(a @ b + bias) * scale / 0.5)


def test_infinite_numbers_and_lambdas() -> None:
    a, out = np.ones((3, 5), np.float32), np.zeros((3, 5), np.float32)
    tiles.tile_kernel()(lambda a, out: tiles.store(out, tiles.load(a) * float("-inf")))(a, out)
    assert (out == -np.inf).all()
    tiles.tile_kernel()(lambda a, out: tiles.store(out, tiles.load(a) + float("nan")))(a, out)
    assert np.isnan(out).all()


def test_whole_numbers_are_summed_exactly() -> None:
    a = np.arange(-60, 60, dtype=np.int8).reshape(10, 12)
    out = np.zeros((10, 10), np.int32)
    product(a, a.T.copy(), out)
    assert (out == a.astype(np.int32) @ a.T.astype(np.int32)).all()


def test_threads_trace_for_themselves() -> None:
    a = np.eye(32, dtype=np.float32)
    outs = [np.zeros((32, 32), np.float32) for _ in range(8)]
    threads = [threading.Thread(target=product, args=(a * (i + 1), a, out)) for i, out in enumerate(outs)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all((out == a * (i + 1)).all() for i, out in enumerate(outs))


def test_mistakes_are_named() -> None:
    a, out = np.ones((4, 4), np.float32), np.zeros((4, 4), np.float32)
    with pytest.raises(RuntimeError, match="decorated with tiles.tile_kernel"):
        tiles.load(a)
    with pytest.raises(ValueError, match=r"shapes \(4, 4\) and \(3, 4\) do not fit for '@'"):
        product(a, a[:3], out)
    with pytest.raises(ValueError, match=r"nothing\(\) stores nothing"):
        nothing(a)
    with pytest.raises(ValueError, match=r"shape \(4,\), wanted 2 axes"):
        product(a[0], a, out)
    with pytest.raises(ValueError, match="does not fit an array of shape"):
        product(a, a, out[:2])
    square = np.ones((4, 4), np.float32)
    with pytest.raises(ValueError, match="shares memory with an operand of '@'"):
        product(square, a, square)
    with pytest.raises(ValueError, match="shares memory with an operand of '@'"):
        product(square.T, a, square)
    with pytest.raises(TypeError, match="neither true nor false"):
        tiles.tile_kernel()(lambda a, out: tiles.store(out, tiles.load(a) if tiles.load(a) else 1))(a, out)
    with pytest.raises(TypeError, match="does not support"):
        tiles.tile_kernel()(lambda a, out: tiles.store(out, tiles.load(a) * np.ones(4)))(a, out)
    with pytest.raises(TypeError, match="tile_size is the function 'total'; write @tiles.tile_kernel"):

        @tiles.tile_kernel
        def total(a, out):
            tiles.store(out, tiles.load(a))

    with pytest.raises(ValueError, match="tile_size"):
        tiles.tile_kernel(tile_size=(12, 16))

    @tiles.tile_kernel()
    def deep(a: Any, out: Any) -> None:
        tiles.store(out, (tiles.load(a) @ tiles.load(a)) @ tiles.load(a))

    with pytest.raises(ValueError, match="takes two loaded tiles"):
        deep(a, out)
