# SPDX-License-Identifier: Apache-2.0
"""Linear algebra against NumPy: products, norms, powers, factorizations of matrices and stacks of them, mistakes."""

from __future__ import annotations

import inspect
import itertools

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


CALLS = {
    "cholesky": [{}, {"upper": True}],
    "cond": [{}, {"p": 1}, {"p": "fro"}, {"p": -2}],
    "det": [{}],
    "eigh": [{}, {"UPLO": "U"}],
    "eigvalsh": [{}],
    "inv": [{}],
    "matrix_rank": [{}, {"tol": 0.5}, {"rtol": 0.1}, {"hermitian": True}],
    "pinv": [{}, {"rcond": 0.1}, {"rtol": None}, {"hermitian": True}],
    "qr": [{}, {"mode": "complete"}, {"mode": "r"}],
    "slogdet": [{}],
    "svd": [{}, {"full_matrices": False}, {"compute_uv": False}],
    "svdvals": [{}],
}


def same(found, wanted):
    if isinstance(wanted, tuple):
        assert type(found) is type(wanted)
        for one, other in zip(found, wanted, strict=True):
            same(one, other)
        return
    assert isinstance(found, tn.ndarray) == isinstance(wanted, np.ndarray)
    assert np.asarray(found).dtype == np.asarray(wanted).dtype
    scale = np.abs(wanted).max() if np.size(wanted) else 1
    limit = (
        200 * (np.finfo(wanted.dtype).eps if np.asarray(wanted).dtype.kind in "fc" else 0) * scale
    )
    np.testing.assert_allclose(np.asarray(found), wanted, rtol=0, atol=limit)


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("dtype", "fdFDi")
def test_factorizations(name, dtype):
    rng = np.random.default_rng(3)
    x = rng.integers(-4, 5, (5, 4, 4))
    x = (x @ x.swapaxes(-1, -2) + 4 * np.eye(4)).astype(dtype)
    if dtype in "FD":
        x += 1j * np.array([[0, 1, 0, 0], [-1, 0, 0, 0], [0, 0, 0, 2], [0, 0, -2, 0]], dtype)
    for options in CALLS[name]:
        if dtype == "i" and "rtol" in options:  # NumPy asks for the precision of integers
            continue
        ours, theirs = getattr(tn.linalg, name), getattr(np.linalg, name)
        same(ours(tn.array(x), **options), theirs(x, **options))
        same(ours(tn.array(x[0].T.copy()).T, **options), theirs(x[0], **options))


def test_eigenvalues_of_any_matrix():
    x = np.array([[1.0, 2.0], [-3.0, 0.5]])
    values, vectors = tn.linalg.eig(tn.array(x))
    np.testing.assert_allclose(np.asarray(tn.array(x) @ vectors - vectors * values), 0, atol=1e-14)
    same(tn.linalg.eigvals(tn.array(np.triu(X))), np.linalg.eigvals(np.triu(X)))


def test_solutions():
    rng = np.random.default_rng(5)
    a, b = rng.standard_normal((3, 4, 4)), rng.standard_normal((4, 2))
    same(tn.linalg.solve(tn.array(a), tn.array(b)), np.linalg.solve(a, b))
    same(tn.linalg.solve(a[0], tn.array(b[:, 0]) * 1), np.linalg.solve(a[0], b[:, 0]))
    for ours, theirs in zip(
        tn.linalg.lstsq(tn.array(a[0][:, :2]), tn.array(b)),
        np.linalg.lstsq(a[0][:, :2], b),
        strict=True,
    ):
        same(ours, theirs) if isinstance(theirs, np.ndarray) else None
    t = rng.standard_normal((2, 3, 6))
    same(
        tn.linalg.tensorinv(tn.array(t.reshape(6, 2, 3)), 1),
        np.linalg.tensorinv(t.reshape(6, 2, 3), 1),
    )
    same(
        tn.linalg.tensorsolve(tn.array(t), tn.array(b[:2, 0:1]).repeat(3, 1)),
        np.linalg.tensorsolve(t, b[:2, 0:1].repeat(3, 1)),
    )
    same(tn.linalg.matrix_power(tn.array(a), -2), np.linalg.matrix_power(a, -2))


def test_products_of_several():
    rng = np.random.default_rng(6)
    for extents in ([3, 4], [10, 2, 8, 3], [2, 30, 4, 6, 5]):
        parts = [rng.standard_normal(s) for s in itertools.pairwise(extents)]
        if len(parts) < 2:
            with pytest.raises(ValueError, match="at least two"):
                tn.linalg.multi_dot(list(map(tn.array, parts)))
            continue
        same(tn.linalg.multi_dot(list(map(tn.array, parts))), np.linalg.multi_dot(parts))
        rows = [parts[0][0], *parts[1:-1], parts[-1][:, 0]]
        same(tn.linalg.multi_dot(list(map(tn.array, rows))), np.linalg.multi_dot(rows))


@pytest.mark.parametrize("order", [None, "fro", "nuc", 1, -1, 2, -2, np.inf, -np.inf])
def test_matrix_norms(order):
    for x in (X, X.astype("f4"), X + 1j):
        for keep in (False, True):
            if order is not None:
                same(
                    tn.linalg.matrix_norm(tn.array(x), ord=order, keepdims=keep),
                    np.linalg.matrix_norm(x, ord=order, keepdims=keep),
                )
            same(
                tn.linalg.norm(tn.array(x), order, (0, 2), keep),
                np.linalg.norm(x, order, (0, 2), keep),
            )


def test_mistakes_are_numpys():
    bad = {
        "solve": (tn.zeros((2, 2)), tn.ones(2)), "inv": (tn.zeros((2, 2)),), "cholesky": (-tn.eye(2),),
        "det": (tn.ones((2, 3)),), "svd": (tn.ones(3),), "tensorsolve": (tn.ones((2, 3)), tn.ones(2)),
        "multi_dot": ([tn.ones((2, 2)), tn.ones((2, 2, 2)), tn.ones(2)],), "matrix_power": (tn.ones(3), 2),
    }  # fmt: skip
    for name, arguments in bad.items():
        with pytest.raises(tn.linalg.LinAlgError):
            getattr(tn.linalg, name)(*arguments)
    with pytest.raises(TypeError, match="float16"):
        tn.linalg.inv(tn.ones((2, 2), "e"))


def test_what_the_host_computes_is_counted():
    before = tn.host_calls()
    tn.linalg.svd(tn.eye(2))
    tn.linalg.norm(tn.eye(2))
    after = tn.host_calls()
    assert after["linalg.svd"] == before.get("linalg.svd", 0) + 1
    assert after.get("linalg.norm") == before.get("linalg.norm")


@pytest.mark.parametrize("name", tn.linalg.__all__)
def test_signatures_are_numpys(name):
    if name != "LinAlgError":
        ours, theirs = (inspect.signature(getattr(m.linalg, name)).parameters for m in (tn, np))
        assert [(p.name, p.kind, p.default) for p in ours.values()] == [
            (p.name, p.kind, p.default) for p in theirs.values()
        ]


def test_small_products_of_shared_memory_are_computed_at_once():
    x = np.arange(9.0).reshape(3, 3)
    wanted = x @ x
    a = tn.asarray(x)
    made = a @ a
    x[...] = 0
    assert (np.asarray(made) == wanted).all()


@pytest.mark.parametrize(
    "name", ["trace", "diagonal", "inv", "svdvals", "matrix_transpose", "vector_norm", "det"]
)
def test_functions_of_numpy_with_our_arrays(name):
    x = np.arange(18.0).reshape(2, 3, 3) ** 1.5 + np.eye(3)
    made = getattr(np.linalg, name)(tn.array(x))
    assert isinstance(made, (tn.ndarray, np.generic))
    np.testing.assert_allclose(np.asarray(made), getattr(np.linalg, name)(x), rtol=1e-9)


def test_functions_of_numpys_other_modules_with_our_arrays():
    x = np.array([-1.0, 4.0, 9.0, 2.0])
    for function in (
        np.fft.fft,
        np.fft.rfft,
        np.fft.fftshift,
        np.emath.sqrt,
        np.trace,
        np.lib.stride_tricks.sliding_window_view,
    ):
        arguments = (x.reshape(2, 2),) if function is np.trace else (x,)
        arguments += (2,) * (function is np.lib.stride_tricks.sliding_window_view)
        made = function(*(tn.array(a) if isinstance(a, np.ndarray) else a for a in arguments))
        assert isinstance(made, (tn.ndarray, np.generic)), function
        np.testing.assert_allclose(np.asarray(made), function(*arguments), rtol=1e-12)

    class Foreign:
        __module__, __name__ = "numpyish.linalg", "inv"

    assert tn.ones(3).__array_function__(Foreign(), (), (), {}) is NotImplemented


@pytest.mark.parametrize("shape", [(3, 0), (0, 3), (0, 2, 3), (2, 0, 3)])
def test_inverse_of_nothing_has_numpys_dtype(shape):
    for dtype in "idF":
        made, wanted = tn.linalg.pinv(tn.zeros(shape, dtype)), np.linalg.pinv(np.zeros(shape, dtype))
        assert (made.dtype, made.shape) == (wanted.dtype, wanted.shape)


CLASSES = {
    "cholesky": lambda m, a: m.cholesky(a), "eig": lambda m, a: m.eig(a), "eigh": lambda m, a: m.eigh(a),
    "eigvals": lambda m, a: m.eigvals(a), "inv": lambda m, a: m.inv(a=a), "qr": lambda m, a: m.qr(a),
    "qr_r": lambda m, a: m.qr(a, "r"), "qr_raw": lambda m, a: m.qr(a, "raw"), "det": lambda m, a: m.det(a),
    "solve": lambda m, a: m.solve(a, a[0]), "solve_plain": lambda m, a: m.solve(a, [1.0, 2.0]),
    "slogdet": lambda m, a: m.slogdet(a), "lstsq": lambda m, a: m.lstsq(a, a[0]), "svd": lambda m, a: m.svd(a),
    "values": lambda m, a: m.svd(a, compute_uv=False), "pinv": lambda m, a: m.pinv(a),
    "power": lambda m, a: m.matrix_power(a, -2), "nothing": lambda m, a: m.inv(a[:0, :0]),
    "tensorsolve": lambda m, a: m.tensorsolve(a, a[0]),
}  # fmt: skip


@pytest.mark.parametrize("name", CLASSES)
def test_classes_of_results_are_numpys(name):
    found = []
    for m in (np, tn):
        kind = type("Derived", (m.ndarray,), {})
        made = CLASSES[name](m.linalg, m.array([[4.0, 1.0], [1.0, 3.0]]).view(kind))
        parts = made if isinstance(made, tuple) else (made,)
        found.append([(type(x) is kind, np.asarray(x).round(12).tolist()) for x in parts])
    assert found[0] == found[1]


@pytest.mark.parametrize("dtype", ["f4", "f8", "c16", "i4"])
def test_lengths_and_chains_of_random_shapes(dtype):
    rng = np.random.default_rng(13)
    for _ in range(40):
        shape = tuple(rng.integers(1, 5, 3))
        a, b, c = ((rng.random(s) * 9 - 4).astype(dtype) for s in (shape, (shape[0], shape[1]), (shape[1], 4)))
        calls = [
            lambda m, a=a: m.linalg.norm(m.asarray(a)),
            lambda m, a=a: m.linalg.norm(m.asarray(a.T), keepdims=True),
            lambda m, a=a: m.linalg.norm(m.asarray(a[..., ::-1])),
            lambda m, a=a: m.tensordot(m.asarray(a), m.asarray(a), (1, 1)),
            lambda m, a=a, b=b: m.tensordot(m.asarray(b), m.asarray(a)),
            lambda m, b=b, c=c: m.linalg.multi_dot([m.asarray(b.T), m.asarray(b), m.asarray(c)]),
        ]
        for call in calls:
            made, wanted = call(tn), call(np)
            assert made.dtype == wanted.dtype and made.shape == wanted.shape
            assert isinstance(made, tn.ndarray) == isinstance(wanted, np.ndarray)
            np.testing.assert_allclose(np.asarray(made), wanted, 1e-5, 1e-5)
