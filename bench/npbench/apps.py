# SPDX-License-Identifier: Apache-2.0
"""Kernels of applications: physics, learning, signals. `np` is set by who loads this file (__init__.py)."""

from __future__ import annotations

import numpy as np

from bench.npbench.kernel import kernel


@kernel((64, 100_000, 1_000_000, 10_000_000), lambda r, n: (r(n), r(n), r(n), r(n)))
def arc_distance(theta_1, phi_1, theta_2, phi_2):
    inner = np.sin((theta_2 - theta_1) / 2) ** 2 + np.cos(theta_1) * np.cos(theta_2) * np.sin((phi_2 - phi_1) / 2) ** 2
    return 2 * np.arctan2(np.sqrt(inner), np.sqrt(1 - inner))


@kernel((500, 100_000, 1_000_000, 10_000_000), lambda r, n: (r(n), r(n), 100))
def azimint_hist(data, radius, bins):
    counts = np.histogram(radius, bins)[0]
    sums = np.histogram(radius, bins, weights=data)[0]
    return sums / counts


@kernel((500, 10_000, 100_000, 1_000_000), lambda r, n: (r(n), r(n), 100))
def azimint_naive(data, radius, bins):
    most = radius.max()
    result = np.zeros(bins)
    for i in range(bins):
        inside = np.logical_and(most * i / bins <= radius, radius < most * (i + 1) / bins)
        result[i] = data[inside].mean()
    return result


@kernel((8, 500, 2000, 6000), lambda r, n: (r.ints(0, 1000, n, n), r.ints(0, 1000, n, n), 4, 3, 9))
def compute(array_1, array_2, a, b, c):
    return np.clip(array_1, 2, 10) * a + array_2 * b + c


@kernel((8, 50, 150, 300), lambda r, n: (r.complex(3, n, n), r.complex(16), r.complex(n, n // 2)))
def contour_integral(terms, points, right):
    p0, p1 = np.zeros_like(right), np.zeros_like(right)
    for z in points:
        system = terms[0] / z + terms[1] + z * terms[2]
        x = np.linalg.solve(system, right)
        if abs(z) < 1.0:
            x = -x
        p0 = p0 + x
        p1 = p1 + z * x
    return p0, p1


def _conv(x, weights):
    """Images (N, H, W, C) with weights (K, K, C, D), each place of the result for itself."""
    k, n = weights.shape[0], x.shape[0]
    high, wide = x.shape[1] - k + 1, x.shape[2] - k + 1
    out = np.empty((n, high, wide, weights.shape[3]))
    flat = weights.reshape((-1, weights.shape[3]))
    for i in range(high):
        for j in range(wide):
            out[:, i, j, :] = x[:, i : i + k, j : j + k, :].copy().reshape((n, -1)) @ flat
    return out


@kernel((6, 24, 64, 128), lambda r, n: (r(8, n, n, 3), r(5, 5, 3, 16), r(16)), traced=False)
def conv2d_bias(x, weights, bias):
    return _conv(x, weights) + bias


@kernel((64, 3000, 30_000, 300_000), lambda r, n: (0x1021, [int(x) for x in r.ints(0, 256, n)]), traced=False)
def crc16(poly, data):
    crc = 0xFFFF
    for byte in data:
        crc ^= byte << 8
        for _ in range(8):
            crc = (crc << 1) ^ poly if crc & 0x8000 else crc << 1
        crc &= 0xFFFF
    return crc


@kernel((8, 1000, 4000, 12000), lambda r, n: (r(n, n),), traced=False)
def go_fast(a):
    trace = 0.0
    for i in range(a.shape[0]):
        trace += np.tanh(a[i, i])
    return a + trace


def _relu(x):
    return np.maximum(x, 0)


def _pooled(x):
    """The greatest of each 2 x 2."""
    out = np.maximum(x[:, 0::2, 0::2, :], x[:, 1::2, 0::2, :])
    return np.maximum(out, np.maximum(x[:, 0::2, 1::2, :], x[:, 1::2, 1::2, :]))


def _lenet_data(r, n):
    return (r(n, 28, 28, 1), r(5, 5, 1, 6), r(6), r(5, 5, 6, 16), r(16), r(256, 120), r(120), r(120, 84), r(84),
            r(84, 10), r(10))  # fmt: skip


@kernel((2, 8, 64, 256), _lenet_data, traced=False)
def lenet5(x, conv1, b1, conv2, b2, fc1, b3, fc2, b4, fc3, b5):
    x = _pooled(_relu(_conv(x, conv1) + b1))
    x = _pooled(_relu(_conv(x, conv2) + b2)).reshape((x.shape[0], -1))
    x = _relu(x @ fc1 + b3)
    x = _relu(x @ fc2 + b4)
    return x @ fc3 + b5


@kernel((8, 100, 300, 1000), lambda r, n: (-1.75, 0.25, -1.0, 1.0, n, n, 60, 2.0), traced=False)
def mandelbrot1(xmin, xmax, ymin, ymax, nx, ny, steps, horizon):
    x, y = np.linspace(xmin, xmax, nx), np.linspace(ymin, ymax, ny)
    c = x + y[:, None] * 1j
    n = np.zeros(c.shape, np.int64)
    z = np.zeros(c.shape, np.complex128)
    for i in range(steps):
        inside = np.less(abs(z), horizon)
        n[inside] = i
        z[inside] = z[inside] ** 2 + c[inside]
    n[n == steps - 1] = 0
    return n


@kernel((8, 100, 300, 1000), lambda r, n: (-1.75, 0.25, -1.0, 1.0, n, n, 60, 2.0), traced=False)
def mandelbrot2(xmin, xmax, ymin, ymax, nx, ny, steps, horizon):
    x, y = np.linspace(xmin, xmax, nx), np.linspace(ymin, ymax, ny)
    c = np.ravel(x + y[:, None] * 1j)
    places = np.arange(c.size)
    result = np.zeros(c.size, np.int64)
    z = np.zeros(c.size, np.complex128)
    for i in range(steps):
        z = z * z + c
        out = abs(z) > horizon
        result[places[out]] = i + 1
        stay = ~out
        places, z, c = places[stay], z[stay], c[stay]
    return result.reshape((ny, nx))


def _softmax(x):
    e = np.exp(x - np.max(x, axis=-1, keepdims=True))
    return e / np.sum(e, axis=-1, keepdims=True)


@kernel((4, 64, 256, 1024), lambda r, n: (r(n, 1000), r(1000, 800), r(800), r(800, 500), r(500), r(500, 100), r(100)))
def mlp(x, w1, b1, w2, b2, w3, b3):
    x = _relu(x @ w1 + b1)
    x = _relu(x @ w2 + b2)
    return _softmax(x @ w3 + b3)


def _pull(mass, position):
    """Accelerations of bodies by gravity."""
    x, y, z = position[:, 0:1], position[:, 1:2], position[:, 2:3]
    dx, dy, dz = x.T - x, y.T - y, z.T - z
    inverse = (dx**2 + dy**2 + dz**2 + 0.01) ** -1.5
    return np.hstack(((dx * inverse) @ mass, (dy * inverse) @ mass, (dz * inverse) @ mass))


@kernel((8, 60, 200, 500), lambda r, n: (r(n, 1), r(n, 3), r(n, 3), 30), traced=False)
def nbody(mass, position, velocity, steps):
    velocity -= np.mean(mass * velocity, axis=0) / np.mean(mass)
    pull = _pull(mass, position)
    kinetic = np.empty(steps)
    for i in range(steps):
        velocity += pull * 0.005
        position += velocity * 0.01
        pull = _pull(mass, position)
        velocity += pull * 0.005
        kinetic[i] = 0.5 * np.sum(mass * velocity**2)
    return kinetic


def _normed(x):
    mean = np.mean(x, axis=0, keepdims=True)
    std = np.std(x, axis=0, keepdims=True)
    return (x - mean) / np.sqrt(std + 1e-5)


@kernel((5, 12, 28, 56), lambda r, n: (r(8, n, n, 64), r(1, 1, 64, 16), r(3, 3, 16, 16), r(1, 1, 16, 64)), traced=False)
def resnet(x, conv1, conv2, conv3):
    wide = np.zeros((x.shape[0], x.shape[1] + 2, x.shape[2] + 2, conv1.shape[3]))
    wide[:, 1:-1, 1:-1, :] = _conv(x, conv1)
    y = _relu(_normed(wide))
    y = _relu(_normed(_conv(y, conv2)))
    return _relu(_normed(_conv(y, conv3)) + x)


def _scattering_data(r, n):
    nk, ne, nq, nw, na, nb, block = 2, n, 2, 2, 6, 2, 4
    return (r.ints(0, na, na, nb), r.complex(na, nb, 3, block, block), r.complex(nk, ne, na, block, block),
            r.complex(nq, nw, na, nb, 3, 3), np.zeros((nk, ne, na, block, block), np.complex128))  # fmt: skip


@kernel((2, 4, 8, 30), _scattering_data, traced=False)
def scattering_self_energies(neighbours, gradient, green, phonons, sigma):
    nk, ne, na = green.shape[:3]
    nq, nw, _, nb = phonons.shape[:4]
    for k in range(nk):
        for e in range(ne):
            for q in range(nq):
                for w in range(min(nw, e + 1)):
                    for i in range(3):
                        for j in range(3):
                            for a in range(na):
                                for b in range(nb):
                                    left = green[k, e - w, neighbours[a, b]] @ gradient[a, b, i]
                                    right = gradient[a, b, j] * phonons[q, w, a, b, i, j]
                                    sigma[k, e, a] += left @ right


@kernel((8, 40, 128, 256), lambda r, n: (r(8, 8, n, n),))
def softmax(x):
    return _softmax(x)


def _sparse_data(r, n):
    counts = r.ints(4, 24, n)
    rows = np.concatenate((np.zeros(1, np.int64), np.cumsum(counts)))
    return rows, r.ints(0, n, int(rows[-1])), r(int(rows[-1])), r(n)


@kernel((16, 2000, 20_000, 200_000), _sparse_data, traced=False)
def spmv(rows, columns, values, x):
    y = np.empty(rows.size - 1)
    for i in range(rows.size - 1):
        own = slice(rows[i], rows[i + 1])
        y[i] = values[own] @ x[columns[own]]
    return y


@kernel((3, 7, 9, 11), lambda r, n: (r.complex(4**n), 4))
def stockham_fft(x, radix):
    small = np.arange(radix)
    turn = np.exp(-2j * np.pi * np.outer(small, small) / radix)
    left, done = x.size, 1
    while left > 1:
        left //= radix
        y = (turn @ x.reshape((radix, left * done))).reshape((radix, left, done))
        twiddle = np.exp(-2j * np.pi * np.outer(small, np.arange(left)) / (left * radix))
        y = y * twiddle.reshape((radix, left, 1))
        x = np.transpose(y, (1, 0, 2)).copy().reshape(-1)
        done *= radix
    return x
