# SPDX-License-Identifier: Apache-2.0
"""Norms and powers of matrices against NumPy; what is missing says so."""

from __future__ import annotations

import numpy as np
import pytest
import tessera.numeric as tn

X = np.random.default_rng(0).standard_normal((4, 3, 3))


@pytest.mark.parametrize("order", [None, 0, 1, 2, 3.5, np.inf, -np.inf])
def test_norms_of_vectors(order):
    for x in (X[0, 0], X[0, 0] + 1j, np.arange(4)):
        np.testing.assert_allclose(
            tn.linalg.norm(tn.array(x), order), np.linalg.norm(x, order), rtol=1e-14
        )
    ours = tn.linalg.norm(tn.array(X), order, axis=1, keepdims=True)
    np.testing.assert_allclose(
        np.asarray(ours), np.linalg.norm(X, order, axis=1, keepdims=True), rtol=1e-14
    )


@pytest.mark.parametrize("order", [None, "fro", 1, -1, np.inf, -np.inf])
def test_norms_of_matrices(order):
    ours = tn.linalg.norm(tn.array(X), order, axis=(1, 2))
    np.testing.assert_allclose(np.asarray(ours), np.linalg.norm(X, order, axis=(1, 2)), rtol=1e-14)


def test_powers_of_matrices():
    for n in (0, 1, 2, 5):
        ours = tn.linalg.matrix_power(tn.array(X), n)
        np.testing.assert_allclose(
            np.asarray(ours), np.linalg.matrix_power(X, n), rtol=1e-12, atol=1e-13
        )
    with pytest.raises(np.linalg.LinAlgError):
        tn.linalg.matrix_power(tn.ones((2, 3)), 2)


@pytest.mark.parametrize("shape", [(60, 70, 80), (1, 100, 400), (200, 3, 100)])
@pytest.mark.parametrize("dtype", ["f4", "f8", "f2", "i4", "c16", "?"])
def test_large_products(shape, dtype):
    m, k, n = shape
    rng = np.random.default_rng(1)
    x, y = (rng.integers(-3, 4, s).astype(dtype) for s in ((m, k), (k, n)))
    np.testing.assert_array_equal(np.asarray(tn.array(x) @ tn.array(y)), x @ y)
    np.testing.assert_array_equal(
        np.asarray(tn.array(y.T.copy()).T[:, ::-1].T @ tn.array(x.T)), y[:, ::-1].T @ x.T
    )


def test_what_is_missing_says_so():
    with pytest.raises(NotImplementedError, match="linalg.svd"):
        tn.linalg.svd(tn.eye(2))
