# SPDX-License-Identifier: Apache-2.0
"""Kernels of linear algebra, statistics and dynamic programming. `np` is set by who loads this file (__init__.py)."""

from __future__ import annotations

import numpy as np

from bench.npbench.kernel import kernel


def _spd(r, n):
    """A symmetric matrix with a heavy diagonal, which needs no pivots."""
    a = r(n, n)
    return (a + a.T) / 2 + n * np.eye(n)


@kernel((8, 400, 1500, 4000), lambda r, n: (r(n, n), r(n)))
def atax(a, x):
    return (a @ x) @ a


@kernel((8, 400, 1500, 4000), lambda r, n: (r(n, n), r(n), r(n)))
def bicg(a, p, q):
    return q @ a, a @ p


@kernel((8, 100, 300, 700), lambda r, n: (_spd(r, n),), traced=False)
def cholesky(a):
    a[0, 0] = np.sqrt(a[0, 0])
    for i in range(1, a.shape[0]):
        for j in range(i):
            a[i, j] -= np.dot(a[i, :j], a[j, :j])
            a[i, j] /= a[j, j]
        a[i, i] -= np.dot(a[i, :i], a[i, :i])
        a[i, i] = np.sqrt(a[i, i])


@kernel((8, 200, 600, 2000), lambda r, n: (_spd(r, n),))
def cholesky2(a):
    a[:] = np.linalg.cholesky(a) + np.triu(a, 1)


@kernel((8, 120, 400, 1200), lambda r, n: (r(n + 20, n),), traced=False)
def correlation(data):
    n, m = data.shape
    mean = np.mean(data, axis=0)
    std = np.std(data, axis=0)
    std[std <= 0.1] = 1.0
    data -= mean
    data /= np.sqrt(n) * std
    corr = np.eye(m)
    for i in range(m - 1):
        corr[i + 1 : m, i] = corr[i, i + 1 : m] = data[:, i] @ data[:, i + 1 : m]
    return corr


@kernel((8, 120, 400, 1200), lambda r, n: (r(n + 20, n),), traced=False)
def covariance(data):
    n, m = data.shape
    data -= np.mean(data, axis=0)
    cov = np.zeros((m, m))
    for i in range(m):
        cov[i:m, i] = cov[i, i:m] = data[:, i] @ data[:, i:m] / (n - 1.0)
    return cov


@kernel((8, 200, 700, 2000), lambda r, n: (r(n + 20, n),))
def covariance2(data):
    return np.cov(np.transpose(data))


@kernel((4, 40, 90, 200), lambda r, n: (r(n, n, n), r(n, n)))
def doitgen(a, c4):
    n, q, p = a.shape
    a[:] = np.reshape(np.reshape(a, (n, q, 1, p)) @ c4, (n, q, p))


@kernel((8, 1000, 6000, 20000), lambda r, n: (r(n) / n,), traced=False)
def durbin(r):
    y = np.empty_like(r)
    alpha, beta = -r[0], 1.0
    y[0] = -r[0]
    for k in range(1, r.shape[0]):
        beta *= 1.0 - alpha * alpha
        alpha = -(r[k] + np.dot(np.flip(r[:k]), y[:k])) / beta
        y[:k] += alpha * np.flip(y[:k])
        y[k] = alpha
    return y


@kernel((8, 100, 250, 600), lambda r, n: (r(n, n),), traced=False)
def floyd_warshall(path):
    for k in range(path.shape[0]):
        path[:] = np.minimum(path[:], np.add.outer(path[:, k], path[k, :]))


@kernel((8, 200, 700, 2000), lambda r, n: (1.5, 1.2, r(n, n), r(n, n), r(n, n)))
def gemm(alpha, beta, c, a, b):
    c[:] = alpha * a @ b + beta * c


@kernel((8, 400, 1500, 4000), lambda r, n: (1.5, 1.2, r(n, n), *(r(n) for _ in range(8))))
def gemver(alpha, beta, a, u1, v1, u2, v2, w, x, y, z):
    a += np.outer(u1, v1) + np.outer(u2, v2)
    x += beta * y @ a + z
    w += alpha * a @ x


@kernel((8, 400, 1500, 4000), lambda r, n: (1.5, 1.2, r(n, n), r(n, n), r(n)))
def gesummv(alpha, beta, a, b, x):
    return alpha * a @ x + beta * b @ x


@kernel((8, 80, 250, 600), lambda r, n: (r(n + 10, n),), traced=False)
def gramschmidt(a):
    q = np.zeros_like(a)
    r = np.zeros((a.shape[1], a.shape[1]))
    for k in range(a.shape[1]):
        r[k, k] = np.sqrt(np.dot(a[:, k], a[:, k]))
        q[:, k] = a[:, k] / r[k, k]
        for j in range(k + 1, a.shape[1]):
            r[k, j] = np.dot(q[:, k], a[:, j])
            a[:, j] -= q[:, k] * r[k, j]
    return q, r


@kernel((8, 200, 600, 1600), lambda r, n: (1.5, 1.2, r(n, n), r(n, n), r(n, n), r(n, n)))
def k2mm(alpha, beta, a, b, c, d):
    d[:] = alpha * a @ b @ c + beta * d


@kernel((8, 200, 600, 1600), lambda r, n: (r(n, n), r(n, n), r(n, n), r(n, n)))
def k3mm(a, b, c, d):
    return a @ b @ c @ d


@kernel((8, 80, 250, 600), lambda r, n: (_spd(r, n),), traced=False)
def lu(a):
    for i in range(a.shape[0]):
        for j in range(i):
            a[i, j] -= a[i, :j] @ a[:j, j]
            a[i, j] /= a[j, j]
        for j in range(i, a.shape[0]):
            a[i, j] -= a[i, :i] @ a[:i, j]


@kernel((8, 80, 250, 600), lambda r, n: (_spd(r, n), r(n)), traced=False)
def ludcmp(a, b):
    n = a.shape[0]
    x, y = np.zeros_like(b), np.zeros_like(b)
    for i in range(n):
        for j in range(i):
            a[i, j] = (a[i, j] - a[i, :j] @ a[:j, j]) / a[j, j]
        for j in range(i, n):
            a[i, j] -= a[i, :i] @ a[:i, j]
    for i in range(n):
        y[i] = b[i] - a[i, :i] @ y[:i]
    for i in range(n - 1, -1, -1):
        x[i] = (y[i] - a[i, i + 1 :] @ x[i + 1 :]) / a[i, i]
    return x, y


@kernel((8, 400, 1500, 4000), lambda r, n: (r(n), r(n), r(n), r(n), r(n, n)))
def mvt(x1, x2, y1, y2, a):
    x1 += a @ y1
    x2 += y2 @ a


@kernel((8, 60, 160, 400), lambda r, n: (r.ints(0, 4, n),), traced=False)
def nussinov(bases):
    n = bases.shape[0]
    table = np.zeros((n, n), np.int32)
    for i in range(n - 1, -1, -1):
        for j in range(i + 1, n):
            table[i, j] = max(table[i, j], table[i, j - 1])
            table[i, j] = max(table[i, j], table[i + 1, j])
            if i < j - 1:
                pairs = 1 if bases[i] + bases[j] == 3 else 0
                table[i, j] = max(table[i, j], table[i + 1, j - 1] + pairs)
            else:
                table[i, j] = max(table[i, j], table[i + 1, j - 1])
            for k in range(i + 1, j):
                table[i, j] = max(table[i, j], table[i, k] + table[k + 1, j])
    return table


@kernel((8, 60, 180, 500), lambda r, n: (1.5, 1.2, r(n, n), r(n, n), r(n, n)), traced=False)
def symm(alpha, beta, c, a, b):
    temp = np.empty(c.shape[1])
    c *= beta
    for i in range(c.shape[0]):
        for j in range(c.shape[1]):
            c[:i, j] += alpha * b[i, j] * a[i, :i]
            temp[j] = b[:i, j] @ a[i, :i]
        c[i, :] += alpha * b[i, :] * a[i, i] + alpha * temp


@kernel((8, 60, 180, 500), lambda r, n: (1.5, 1.2, r(n, n), r(n, n), r(n, n)), traced=False)
def syr2k(alpha, beta, c, a, b):
    for i in range(a.shape[0]):
        c[i, : i + 1] *= beta
        for k in range(a.shape[1]):
            c[i, : i + 1] += a[: i + 1, k] * alpha * b[i, k] + b[: i + 1, k] * alpha * a[i, k]


@kernel((8, 60, 180, 500), lambda r, n: (1.5, 1.2, r(n, n), r(n, n)), traced=False)
def syrk(alpha, beta, c, a):
    for i in range(a.shape[0]):
        c[i, : i + 1] *= beta
        for k in range(a.shape[1]):
            c[i, : i + 1] += alpha * a[i, k] * a[: i + 1, k]


@kernel((8, 1000, 4000, 12000), lambda r, n: (_spd(r, n), r(n)), traced=False)
def trisolv(low, b):
    x = np.empty_like(b)
    for i in range(low.shape[0]):
        x[i] = (b[i] - low[i, :i] @ x[:i]) / low[i, i]
    return x


@kernel((8, 80, 250, 600), lambda r, n: (1.5, r(n, n), r(n, n)), traced=False)
def trmm(alpha, a, b):
    for i in range(b.shape[0]):
        for j in range(b.shape[1]):
            b[i, j] += np.dot(a[i + 1 :, i], b[i + 1 :, j])
    b *= alpha
