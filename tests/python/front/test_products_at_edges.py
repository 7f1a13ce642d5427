# SPDX-License-Identifier: Apache-2.0
"""Products on the CPU whose operands stick out of their arrays: the zeros beyond are left out, and nobody can tell."""

from __future__ import annotations

import numpy as np
import pytest

import tessera.tile as ct

ConstInt = ct.Constant[int]
ZERO = ct.PaddingMode.ZERO


@ct.kernel
def looped(a, b, c, TM: ConstInt, TN: ConstInt, TK: ConstInt, KIND: ConstInt):
    """All of the tile is stored; KIND 0: from +0, 1: from -0, 2: from what is in c."""
    if KIND == 0:
        acc = ct.zeros((TM, TN), dtype=a.dtype)
    elif KIND == 1:
        acc = ct.full((TM, TN), -0.0, dtype=a.dtype)
    else:
        acc = ct.load(c, index=(ct.bid(0), ct.bid(1)), shape=(TM, TN))
    for k in range(ct.cdiv(a.shape[1], TK)):
        x = ct.load(a, index=(ct.bid(0), k), shape=(TM, TK), padding_mode=ZERO)
        y = ct.load(b, index=(k, ct.bid(1)), shape=(TK, TN), padding_mode=ZERO)
        acc = ct.mma(x, y, acc)
    ct.store(c, index=(ct.bid(0), ct.bid(1)), tile=acc)


@ct.kernel
def shifted(a, b, c, I: ConstInt, K: ConstInt, TM: ConstInt, TN: ConstInt, TK: ConstInt):
    """One step, of a tile that may begin before the arrays."""
    x = ct.load(a, index=(I, K), shape=(TM, TK), padding_mode=ZERO)
    y = ct.load(b, index=(K, 0), shape=(TK, TN), padding_mode=ZERO)
    acc = ct.zeros((TM, TN), dtype=a.dtype)
    ct.store(c, index=(0, 0), tile=ct.mma(x, y, acc))


def padded(x: np.ndarray, rows: int, cols: int) -> np.ndarray:
    out = np.zeros((rows, cols), x.dtype)
    out[: x.shape[0], : x.shape[1]] = x
    return out


def rounded(n: int, step: int) -> int:
    return -(-n // step) * step


def summed(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
    """Step by step; operands are small whole numbers, so roundings do not matter."""
    c = c.copy()
    with np.errstate(invalid="ignore"):
        for k in range(a.shape[1]):
            c = c + a[:, k : k + 1] * b[k : k + 1]
    return c


def same_bits(found: np.ndarray, wanted: np.ndarray) -> None:
    np.testing.assert_array_equal(found, wanted)
    both = ~np.isnan(wanted)
    np.testing.assert_array_equal(np.signbit(found[both]), np.signbit(wanted[both]))


def whole(rng: np.random.Generator, dtype: str, *shape: int) -> np.ndarray:
    return rng.integers(-4, 5, shape).astype(dtype)


SHAPES = [
    (1, 1, 1), (3, 130, 5), (129, 65, 7), (70, 129, 33), (128, 128, 64), (5, 200, 66), (131, 1, 129), (127, 190, 31),
    (66, 257, 258),
]  # fmt: skip


@pytest.mark.parametrize("m, n, k", SHAPES)
@pytest.mark.parametrize(
    "tile",
    [(128, 128, 32), (8, 128, 64), (64, 256, 16), (4, 32, 8), (1, 16, 4), (64, 256, 128), (16, 128, 256)],
)
@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("kind", [0, 1, 2])
def test_odd_shapes(
    m: int, n: int, k: int, tile: tuple[int, int, int], dtype: str, kind: int
) -> None:
    rng = np.random.default_rng(m + n + k)
    tm, tn, tk = tile
    a, b = whole(rng, dtype, m, k), whole(rng, dtype, k, n)
    rows, cols, deep = rounded(m, tm), rounded(n, tn), rounded(k, tk)
    c = whole(rng, dtype, rows, cols)
    start = {0: np.zeros_like(c), 1: -np.zeros_like(c), 2: c.copy()}[kind]
    ct.launch(None, (rows // tm, cols // tn, 1), looped, (a, b, c, *tile, kind))
    same_bits(c, summed(padded(a, rows, deep), padded(b, deep, cols), start))


@pytest.mark.parametrize("value", [np.inf, -np.inf, np.nan, -0.0])
@pytest.mark.parametrize("where", ["a", "b", "both"])
@pytest.mark.parametrize("kind", [0, 1, 2])
@pytest.mark.parametrize("tile", [(64, 128, 32), (64, 256, 32), (16, 256, 128)])
def test_values_that_zeros_do_not_hide(
    value: float, where: str, kind: int, tile: tuple[int, int, int]
) -> None:
    rng = np.random.default_rng(1)
    m, n, k = 70, 150, 40 if tile[2] == 32 else 140
    rows, cols, deep = rounded(m, tile[0]), rounded(n, tile[1]), rounded(k, tile[2])
    a, b = whole(rng, "f4", m, k), whole(rng, "f4", k, n)
    if where != "b":
        a[[0, 66, 69], [1, 33, 39]] = value
    if where != "a":
        b[[2, 30, 39], [5, 130, 149]] = value
    c = whole(rng, "f4", rows, cols)
    start = {0: np.zeros_like(c), 1: -np.zeros_like(c), 2: c.copy()}[kind]
    ct.launch(None, (rows // tile[0], cols // tile[1], 1), looped, (a, b, c, *tile, kind))
    same_bits(c, summed(padded(a, rows, deep), padded(b, deep, cols), start))


@pytest.mark.parametrize("i, k", [(0, 0), (-1, 0), (0, -1), (-1, -1), (1, 0), (0, 2), (-3, 9)])
def test_tiles_beyond_the_arrays(i: int, k: int) -> None:
    rng = np.random.default_rng(2)
    a, b, c = whole(rng, "f4", 37, 41), whole(rng, "f4", 41, 70), np.full((32, 128), np.nan, "f4")
    ct.launch(None, (1, 1, 1), shifted, (a, b, c, i, k, 32, 128, 16))
    wide, high = np.zeros((400, 400), "f4"), np.zeros((400, 400), "f4")
    wide[100 : 100 + 37, 100 : 100 + 41] = a
    high[100 : 100 + 41, 100 : 100 + 70] = b
    x = wide[100 + 32 * i : 132 + 32 * i, 100 + 16 * k : 116 + 16 * k]
    same_bits(c, summed(x, high[100 + 16 * k : 116 + 16 * k, 100:228], np.zeros_like(c)))


@ct.kernel
def overwritten(a, b, c, TM: ConstInt, TN: ConstInt, TK: ConstInt):
    """What is multiplied was read before a was written."""
    x = ct.load(a, index=(0, 0), shape=(TM, TK), padding_mode=ZERO)
    y = ct.load(b, index=(0, 0), shape=(TK, TN), padding_mode=ZERO)
    ct.store(a, index=(0, 0), tile=ct.full((TM, TK), 9.0, dtype=a.dtype))
    ct.store(b, index=(0, 0), tile=ct.full((TK, TN), 9.0, dtype=b.dtype))
    ct.store(c, index=(0, 0), tile=ct.mma(x, y, ct.zeros((TM, TN), dtype=a.dtype)))


@pytest.mark.parametrize("m, n, k", [(37, 70, 15), (128, 128, 64)])
def test_stores_between_load_and_product(m: int, n: int, k: int) -> None:
    rng = np.random.default_rng(3)
    a, b, c = whole(rng, "f4", m, k), whole(rng, "f4", k, n), np.zeros((128, 128), "f4")
    wanted = summed(padded(a, 128, 64), padded(b, 64, 128), np.zeros_like(c))
    ct.launch(None, (1, 1, 1), overwritten, (a, b, c, 128, 128, 64))
    same_bits(c, wanted)
    assert (a == 9).all() and (b == 9).all()
