# SPDX-License-Identifier: Apache-2.0
"""numpy.linalg's programs on what cuSOLVER computes, with a stand-in for the library on memory of the host: it takes
the arguments that the library's functions have, and answers by NumPy."""

from __future__ import annotations

import contextlib
import ctypes
from typing import Any

import numpy
import pytest
import tessera.numeric as np
from tessera.numeric import _cusolver, _numpys
from tessera.numeric._numpys import adopt

DTYPES = {1: numpy.dtype("d"), 5: numpy.dtype("D")}


def value(x: Any) -> Any:
    return getattr(x, "value", x)


def matrix(pointer: Any, kind: int, rows: Any, columns: Any, leading: Any) -> Any:
    """The library's matrix, column by column, as NumPy's in the same memory."""
    rows, columns, leading, dtype = value(rows), value(columns), value(leading), DTYPES[kind]
    assert leading >= max(rows, 1)
    if not rows * columns:
        return numpy.empty((rows, columns), dtype)
    memory = (ctypes.c_char * (leading * columns * dtype.itemsize)).from_address(value(pointer))
    return numpy.frombuffer(memory, dtype).reshape(columns, leading)[:, :rows].T


def vector(pointer: Any, dtype: str, n: Any) -> Any:
    memory = (ctypes.c_char * (value(n) * numpy.dtype(dtype).itemsize)).from_address(value(pointer))
    return numpy.frombuffer(memory, dtype)


def xgetrf(m, n, kind, a, lda, pivots, *rest):
    a, pivots, status = matrix(a, kind, m, n, lda), vector(pivots, "i8", n), vector(rest[-1], "i4", 1)
    for k in range(value(n)):
        at = k + int(abs(a[k:, k]).argmax())
        pivots[k] = at + 1
        a[[k, at]] = a[[at, k]]
        if a[k, k] == 0:
            status[0] = status[0] or k + 1
            continue
        a[k + 1 :, k] /= a[k, k]
        a[k + 1 :, k + 1 :] -= numpy.outer(a[k + 1 :, k], a[k, k + 1 :])


def xgetrs(trans, n, columns, kind, a, lda, pivots, kind_b, b, ldb, info):
    a, b, n = matrix(a, kind, n, n, lda), matrix(b, kind_b, n, columns, ldb), value(n)
    for k, at in enumerate(vector(pivots, "i8", n)):
        b[[k, at - 1]] = b[[at - 1, k]]
    lower = numpy.tril(a, -1) + numpy.eye(n)
    if not a.diagonal().all():
        return
    b[...] = numpy.linalg.solve(numpy.triu(a), numpy.linalg.solve(lower, b))


def xpotrf(half, n, kind, a, lda, *rest):
    a, status = matrix(a, kind, n, n, lda), vector(rest[-1], "i4", 1)
    try:
        made = numpy.linalg.cholesky(a, upper=half == 1)
        a[...] = numpy.where(made == 0, a, made)
    except numpy.linalg.LinAlgError:
        status[0] = 1


def xgeqrf(m, n, kind, a, lda, kind_tau, tau, *rest):
    a = matrix(a, kind, m, n, lda)
    h, factors = numpy.linalg.qr(a, "raw")
    a[...] = h.T
    vector(tau, DTYPES[kind].char, len(factors))[...] = factors


def orgqr(m, n, k, a, lda, tau, *rest, kind=1):
    a, factors, q = matrix(a, kind, m, n, lda), vector(tau, DTYPES[kind].char, k), numpy.eye(m, n, dtype=DTYPES[kind])
    for i in reversed(range(k)):
        v = numpy.concatenate([numpy.zeros(i), [1], a[i + 1 :, i]])
        q = q - factors[i] * numpy.outer(v, v.conj() @ q)
    a[...] = q


def xsyevd(vectors, half, n, kind, a, lda, kind_w, w, *rest):
    a = matrix(a, kind, n, n, lda)
    values, made = numpy.linalg.eigh(a, "LU"[half])
    vector(w, "d", n)[...] = values
    a[...] = made if vectors else numpy.nan


def xgesvd(job, job_v, m, n, kind, a, lda, kind_s, s, kind_u, u, ldu, kind_v, v, ldv, *rest):
    assert value(m) >= value(n) and job == job_v
    made = numpy.linalg.svd(matrix(a, kind, m, n, lda), full_matrices=chr(job) == "A", compute_uv=True)
    vector(s, "d", n)[...] = made[1]
    if chr(job) != "N":
        matrix(u, kind, m, made[0].shape[1], ldu)[...] = made[0]
        matrix(v, kind, n, n, ldv)[...] = made[2]


def xgeev(left, right, n, kind, a, lda, kind_w, w, kind_l, vl, ldl, kind_r, vr, ldr, *rest):
    values, vectors = numpy.linalg.eig(matrix(a, kind, n, n, lda))
    vector(w, "D", n)[...] = values
    if right:
        if kind == 1:  # of two conjugate values one column is the real part, the next the imaginary one
            vectors = numpy.where(values.imag < 0, numpy.roll(vectors.imag, 1, -1), vectors.real)
        matrix(vr, kind, n, n, ldr)[...] = vectors


class Fake:
    def has(self, name: str) -> bool:
        return True

    def call(self, name: str, handle: Any, *args: Any) -> None:
        name = name.removeprefix("cusolverDn")
        if name.endswith("_bufferSize"):
            for size in args[-2:]:
                if hasattr(size, "_obj"):
                    size._obj.value = 24
        elif name.startswith("X"):
            globals()[name.lower()](*args[1:])
        else:
            orgqr(*args, kind={"D": 1, "Z": 5}[name[0]])


@pytest.fixture
def linalg(monkeypatch):
    """numpy.linalg on our arrays and the stand-in."""
    monkeypatch.setattr(_cusolver, "library", lambda name: Fake())
    monkeypatch.setattr(_cusolver, "_handle", lambda device: (None, None))
    monkeypatch.setattr(_cusolver, "on_device", lambda a: contextlib.nullcontext())
    monkeypatch.setattr(_numpys._host, "away", lambda args: True)
    return adopt("numpy.linalg._linalg")


def given(rng: Any, dtype: str, *shape: int) -> Any:
    made = rng.standard_normal(shape)
    return (made + 1j * rng.standard_normal(shape) if dtype in "FD" else made).astype(dtype)


def close(made: Any, wanted: Any, dtype: str) -> None:
    made, wanted = numpy.asarray(made), numpy.asarray(wanted)
    assert made.shape == wanted.shape and made.dtype == wanted.dtype
    assert numpy.allclose(made, wanted, atol=1e-4 if dtype in "fF" else 1e-9)


@pytest.mark.parametrize("dtype", "fdFD")
@pytest.mark.parametrize("shape", [(4, 4), (2, 3, 5, 5), (0, 3, 3), (1, 1)])
def test_square_matrices(linalg, dtype: str, shape: tuple[int, ...]) -> None:
    rng = numpy.random.default_rng(1)
    x = given(rng, dtype, *shape)
    h = x @ numpy.swapaxes(x, -1, -2).conj() + numpy.eye(shape[-1], dtype=dtype)
    a, n = np.asarray(x), numpy.linalg
    b = given(rng, dtype, *shape[:-1], 2)
    close(linalg["solve"](a, np.asarray(b)), n.solve(x, b), dtype)
    vector = given(rng, dtype, shape[-1])
    close(linalg["solve"](a, np.asarray(vector)), n.solve(x, vector), dtype)
    close(linalg["inv"](a), n.inv(x), dtype)
    close(linalg["det"](a), n.det(x), dtype)
    for made, wanted in zip(linalg["slogdet"](a), n.slogdet(x), strict=True):
        close(made, wanted, dtype)
    for upper in (False, True):
        close(linalg["cholesky"](np.asarray(h), upper=upper), n.cholesky(h, upper=upper), dtype)
        half = "UL"[upper]
        close(linalg["eigvalsh"](np.asarray(h), half), n.eigvalsh(h, half), dtype)
        values, vectors = (numpy.asarray(y) for y in linalg["eigh"](np.asarray(h), half))
        assert numpy.allclose(h @ vectors, values[..., None, :] * vectors, atol=1e-3)
    values, vectors = (numpy.asarray(y) for y in linalg["eig"](a))
    assert numpy.allclose(x @ vectors, values[..., None, :] * vectors, atol=1e-3)
    close(linalg["eigvals"](a), n.eigvals(x), dtype)


@pytest.mark.parametrize("dtype", "fD")
@pytest.mark.parametrize("shape", [(5, 3), (3, 5), (2, 4, 3), (2, 3, 4), (0, 3), (3, 0), (0, 2, 3)])
def test_matrices_of_any_extents(linalg, dtype: str, shape: tuple[int, ...]) -> None:
    x = given(numpy.random.default_rng(2), dtype, *shape)
    a = np.asarray(x)
    for mode in ("reduced", "complete", "r"):
        made, wanted = linalg["qr"](a, mode), numpy.linalg.qr(x, mode)
        for m, w in zip(made, wanted, strict=True) if mode != "r" else [(made, wanted)]:
            close(m, w, dtype)
    close(linalg["svdvals"](a), numpy.linalg.svdvals(x), dtype)
    for full in (False, True):
        u, s, vh = (numpy.asarray(y) for y in linalg["svd"](a, full))
        wanted = numpy.linalg.svd(x, full)
        assert (u.shape, vh.shape) == (wanted[0].shape, wanted[2].shape)
        k = s.shape[-1]
        assert numpy.allclose((u[..., :k] * s[..., None, :]) @ vh[..., :k, :], x, atol=1e-4)
    if len(shape) == 2 and x.size:
        b = given(numpy.random.default_rng(3), dtype, shape[0], 2)
        for made, wanted in zip(linalg["lstsq"](a, np.asarray(b)), numpy.linalg.lstsq(x, b), strict=True):
            close(made, wanted, dtype)


def test_errors(linalg) -> None:
    with pytest.raises(numpy.linalg.LinAlgError, match="Singular matrix"):
        linalg["inv"](np.zeros((2, 2)))
    with pytest.raises(numpy.linalg.LinAlgError, match="positive definite"):
        linalg["cholesky"](-np.eye(3))
    with pytest.raises(numpy.linalg.LinAlgError):
        linalg["solve"](np.ones((2, 3)), np.ones(2))
    for rows in ((1, 0, 3), (3, 1), (0,)):
        with pytest.raises(ValueError, match="rows of b"):
            linalg["solve"](np.ones((2, 2, 2)), np.ones(rows))
    assert float(linalg["det"](np.zeros((3, 3)))) == 0
    sign, log = linalg["slogdet"](np.zeros((3, 3)))
    assert float(sign) == 0 and float(log) == -numpy.inf


@pytest.mark.parametrize("dtype", "dD")
def test_matrices_of_a_stack_that_have_no_answer(linalg, dtype: str) -> None:
    """Where the program ignores invalid values, they alone are NaN."""
    x = given(numpy.random.default_rng(4), dtype, 2, 3, 4, 4)
    x[0, 1] = x[1, 2] = 0
    b = given(numpy.random.default_rng(5), dtype, 2, 3, 4, 2)
    x[1, 0, :, 2:] = 0
    with numpy.errstate(invalid="ignore"):
        close_or_nan(_cusolver.inv(np.asarray(x), 2 * dtype), numpy.linalg._umath_linalg.inv(x), dtype)
        made = _cusolver.solve(np.asarray(x), np.asarray(b), 3 * dtype)
        close_or_nan(made, numpy.linalg._umath_linalg.solve(x, b), dtype)
    for order in (1, -1, numpy.inf, "fro"):
        close_or_nan(linalg["cond"](np.asarray(x), order), numpy.linalg.cond(x, order), "d")


def close_or_nan(made: Any, wanted: Any, dtype: str) -> None:
    made, wanted = numpy.asarray(made), numpy.asarray(wanted)
    assert (numpy.isnan(made) == numpy.isnan(wanted)).all()
    if numpy.iscomplexobj(wanted):
        assert (numpy.isnan(made.imag) == numpy.isnan(wanted.imag)).all()
    close(numpy.nan_to_num(made), numpy.nan_to_num(wanted), dtype)
