# SPDX-License-Identifier: Apache-2.0
"""What a user of the CPU device writes in the tile language, for bench/cpu.py."""

from __future__ import annotations

from typing import Any

import numpy as np

import tessera.tile as ct

ConstInt = ct.Constant[int]


@ct.kernel
def histogram(x, counts, N: ConstInt):
    """Counts of the values 0 .. counts.shape[0] - 1; others, the -1 behind the end too, are left out."""
    i = ct.bid(0) * N + ct.arange(N, dtype=ct.int32)
    value = ct.astype(ct.load(x, index=(ct.bid(0),), shape=(N,)), ct.int32)
    ct.atomic_add(counts, ct.where(i < x.shape[0], value, -1), 1)


@ct.kernel
def small_products(a, b, c, EACH: ConstInt):
    """EACH products of a batch; matrices smaller than the tile are filled up with zeros."""
    zero, shape = ct.PaddingMode.ZERO, (EACH, 16, 16)
    x = ct.load(a, index=(ct.bid(0), 0, 0), shape=shape, padding_mode=zero)
    y = ct.load(b, index=(ct.bid(0), 0, 0), shape=shape, padding_mode=zero)
    ct.store(c, index=(ct.bid(0), 0, 0), tile=ct.matmul(x, y))


@ct.kernel
def matrix_vector(a, x, out, ROWS: ConstInt, COLS: ConstInt):
    """ROWS elements of a @ x."""
    acc = ct.zeros((ROWS,), dtype=ct.float32)
    for k in range(ct.cdiv(a.shape[1], COLS)):
        m = ct.load(a, index=(ct.bid(0), k), shape=(ROWS, COLS), padding_mode=ct.PaddingMode.ZERO)
        v = ct.load(x, index=(k,), shape=(COLS,), padding_mode=ct.PaddingMode.ZERO)
        acc = acc + ct.sum(m * ct.expand_dims(v, 0), axis=1)
    ct.store(out, index=(ct.bid(0),), tile=acc)


@ct.kernel
def lookup(table, indices, out, N: ConstInt):
    """out[i] = table[indices[i]]"""
    i = ct.load(indices, index=(ct.bid(0),), shape=(N,))
    ct.store(out, index=(ct.bid(0),), tile=ct.gather(table, ct.astype(i, ct.int32)))


@ct.kernel
def row_sums(x, out, ROWS: ConstInt, COLS: ConstInt):
    """Sums of whole rows, as a tile."""
    t = ct.load(x, index=(ct.bid(0), 0), shape=(ROWS, COLS))
    ct.store(out, index=(ct.bid(0),), tile=ct.sum(t, axis=1))


@ct.kernel
def row_places(x, out, ROWS: ConstInt, COLS: ConstInt):
    """The place of each row's greatest element."""
    t = ct.load(x, index=(ct.bid(0), 0), shape=(ROWS, COLS))
    ct.store(out, index=(ct.bid(0),), tile=ct.argmax(t, axis=1))


@ct.function
def dft(w_re, w_im, re, im):
    """A matrix of roots of unity times a batch of matrices, complex."""
    return (
        ct.matmul(w_re, re) - ct.matmul(w_im, im),
        ct.matmul(w_im, re) + ct.matmul(w_re, im),
    )


@ct.kernel
def fft_rows(x, w, t, out, BATCH: ConstInt, F: ConstInt):
    """FFT of rows of F * F complex numbers, which lie as pairs of float32: DFTs of F along the columns of an F x F
    matrix, a twiddle factor for each element, DFTs of F along its rows; the result is the transpose."""
    row, shape = ct.bid(0), (BATCH, F, F)
    pairs = ct.load(x, index=(row, 0, 0), shape=(BATCH, F * F, 2))
    re = ct.reshape(ct.extract(pairs, index=(0, 0, 0), shape=(BATCH, F * F, 1)), shape)
    im = ct.reshape(ct.extract(pairs, index=(0, 0, 1), shape=(BATCH, F * F, 1)), shape)
    w_re = ct.broadcast_to(ct.load(w, index=(0, 0, 0), shape=(1, F, F)), shape)
    w_im = ct.broadcast_to(ct.load(w, index=(1, 0, 0), shape=(1, F, F)), shape)
    t_re = ct.load(t, index=(0, 0, 0), shape=(1, F, F))
    t_im = ct.load(t, index=(1, 0, 0), shape=(1, F, F))
    re, im = dft(w_re, w_im, re, im)
    re, im = re * t_re - im * t_im, re * t_im + im * t_re
    re, im = ct.matmul(re, w_re) - ct.matmul(im, w_im), ct.matmul(re, w_im) + ct.matmul(im, w_re)
    re = ct.reshape(ct.permute(re, (0, 2, 1)), (BATCH, F * F, 1))
    im = ct.reshape(ct.permute(im, (0, 2, 1)), (BATCH, F * F, 1))
    ct.store(out, index=(row, 0, 0), tile=ct.cat((re, im), 2))


def fft_tables(f: int) -> tuple[np.ndarray, np.ndarray]:
    """The roots of unity of order f as an f x f matrix, and the twiddle factors; real and imaginary parts."""
    at = np.outer(np.arange(f), np.arange(f))
    roots, twiddles = np.exp(-2j * np.pi * at / f), np.exp(-2j * np.pi * at / f**2)

    def parts(z: np.ndarray) -> np.ndarray:
        return np.stack((z.real, z.imag)).astype(np.float32)

    return parts(roots), parts(twiddles)


def run(kernel: Any, blocks: int, *args: Any) -> None:
    ct.launch(None, (blocks, 1, 1), kernel, args)
