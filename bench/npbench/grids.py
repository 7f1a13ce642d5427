# SPDX-License-Identifier: Apache-2.0
"""Kernels on grids: stencils, sweeps, flows. `np` is set by who loads this file (__init__.py)."""

from __future__ import annotations

import numpy as np

from bench.npbench.kernel import kernel


def _sweep(old, new, p, q, a, b, d):
    """Half a step of the alternating direction: lines of `new` one after the other, implicit along them."""
    n = old.shape[0]
    new[0, 1:-1] = 1.0
    p[0, 1:-1] = 0.0
    q[0, 1:-1] = new[0, 1:-1]
    for j in range(1, n - 1):
        p[j, 1:-1] = -a / (a * p[j - 1, 1:-1] + b)
        q[j, 1:-1] = (
            -d * old[j, :-2] + (1.0 + 2.0 * d) * old[j, 1:-1] - d * old[j, 2:] - a * q[j - 1, 1:-1]
        ) / (a * p[j - 1, 1:-1] + b)
    new[-1, 1:-1] = 1.0
    for j in range(n - 2, 0, -1):
        new[j, 1:-1] = p[j, 1:-1] * new[j + 1, 1:-1] + q[j, 1:-1]


@kernel((6, 100, 400, 1000), lambda r, n: (r(n, n), 5), traced=False)
def adi(u, steps):
    v, p, q = np.zeros_like(u), np.zeros_like(u), np.zeros_like(u)
    n = u.shape[0]
    step = 1.0 / steps * n * n
    a, b = -step, 1.0 + 2.0 * step
    d, e = -step / 2.0, 1.0 + step
    for _ in range(steps):
        _sweep(u, v, p, q, a, b, d)
        _sweep(v.T, u.T, p, q, d, e, a)


def _velocities(u, v, p, dt, dx, dy, density, viscosity, force):
    """Inner velocities of an incompressible flow after a step."""
    mu, mv, mp = u[1:-1, 1:-1], v[1:-1, 1:-1], p[1:-1, 1:-1]
    west, south = dt / dx, dt / dy
    spread_x, spread_y = viscosity * dt / dx**2, viscosity * dt / dy**2
    new_u = (
        mu - mu * west * (mu - u[1:-1, :-2]) - mv * south * (mu - u[:-2, 1:-1])
        - west / (2 * density) * (p[1:-1, 2:] - p[1:-1, :-2])
        + spread_x * (u[1:-1, 2:] - 2 * mu + u[1:-1, :-2]) + spread_y * (u[2:, 1:-1] - 2 * mu + u[:-2, 1:-1])
        + force * dt
    )  # fmt: skip
    new_v = (
        mv - mu * west * (mv - v[1:-1, :-2]) - mv * south * (mv - v[:-2, 1:-1])
        - south / (2 * density) * (p[2:, 1:-1] - p[:-2, 1:-1])
        + spread_x * (v[1:-1, 2:] - 2 * mv + v[1:-1, :-2]) + spread_y * (v[2:, 1:-1] - 2 * mv + v[:-2, 1:-1])
    )  # fmt: skip
    return new_u, new_v


def _divergence(u, v, dt, dx, dy, density):
    """The right side of the equation of the pressure."""
    ux, vy = (u[1:-1, 2:] - u[1:-1, :-2]) / (2 * dx), (v[2:, 1:-1] - v[:-2, 1:-1]) / (2 * dy)
    uy, vx = (u[2:, 1:-1] - u[:-2, 1:-1]) / (2 * dy), (v[1:-1, 2:] - v[1:-1, :-2]) / (2 * dx)
    return density * ((ux + vy) / dt - ux**2 - 2 * uy * vx - vy**2)


def _pressure(p, b, dx, dy):
    """Inner pressures after a step of Jacobi."""
    x2, y2 = dx**2, dy**2
    flow = (p[1:-1, 2:] + p[1:-1, :-2]) * y2 + (p[2:, 1:-1] + p[:-2, 1:-1]) * x2
    return flow / (2 * (x2 + y2)) - x2 * y2 / (2 * (x2 + y2)) * b


@kernel((8, 31, 101, 401), lambda r, n: (np.zeros((n, n)), np.zeros((n, n)), np.zeros((n, n)), 10, 20), traced=False)
def cavity_flow(u, v, p, steps, rounds):
    d = 2.0 / (u.shape[0] - 1)
    dt = d / 100
    for _ in range(steps):
        b = _divergence(u, v, dt, d, d, 1.0)
        for _ in range(rounds):
            p[1:-1, 1:-1] = _pressure(p, b, d, d)
            p[:, -1] = p[:, -2]
            p[0, :] = p[1, :]
            p[:, 0] = p[:, 1]
            p[-1, :] = 0.0
        new_u, new_v = _velocities(u, v, p, dt, d, d, 1.0, 0.1, 0.0)
        u[1:-1, 1:-1] = new_u
        v[1:-1, 1:-1] = new_v
        u[-1, :] = 1.0


def _around(x):
    """The columns with their neighbours across the periodic border."""
    return np.concatenate((x[:, -1:], x, x[:, :1]), axis=1)


@kernel((8, 31, 101, 401), lambda r, n: (np.zeros((n, n)), np.zeros((n, n)), np.ones((n, n)), 20), traced=False)
def channel_flow(u, v, p, rounds):
    d = 2.0 / (u.shape[0] - 1)
    dt = d / 100
    change = 1.0
    while change > 0.08:
        before = u.sum()
        wide_u, wide_v = _around(u), _around(v)
        b = _divergence(wide_u, wide_v, dt, d, d, 1.0)
        for _ in range(rounds):
            p[1:-1, :] = _pressure(_around(p), b, d, d)
            p[-1, :] = p[-2, :]
            p[0, :] = p[1, :]
        new_u, new_v = _velocities(wide_u, wide_v, _around(p), dt, d, d, 1.0, 0.1, 1.0)
        u[1:-1, :] = new_u
        v[1:-1, :] = new_v
        change = (u.sum() - before) / u.sum()


def _recursion(x, a, b, c1, c2):
    """A second-order recursion down the first axis: y[i] = a x[i] + b x[i-1] + c1 y[i-1] + c2 y[i-2]."""
    y = np.zeros_like(x)
    y[0] = a * x[0]
    y[1] = a * x[1] + b * x[0] + c1 * y[0]
    for i in range(2, x.shape[0]):
        y[i] = a * x[i] + b * x[i - 1] + c1 * y[i - 1] + c2 * y[i - 2]
    return y


def _both_ways(x, a1, a2, a3, a4, c1, c2):
    """The recursion down and, over the elements behind, up."""
    back = np.zeros_like(x)
    back[1:] = x[::-1][:-1]
    return _recursion(x, a1, a2, c1, c2) + _recursion(back, a3, a4, c1, c2)[::-1]


@kernel((8, 150, 500, 1500), lambda r, n: (0.25, r(n, n)), traced=False)
def deriche(alpha, image):
    decay = np.exp(-alpha)
    k = (1.0 - decay) ** 2 / (1.0 + alpha * decay * 2.0 - decay**2)
    a1, a2 = k, k * decay * (alpha - 1.0)
    a3, a4 = k * decay * (alpha + 1.0), -k * decay**2
    c1, c2 = 2.0 * decay, -(decay**2)
    columns = _both_ways(image.T, a1, a2, a3, a4, c1, c2).T
    return _both_ways(columns, a1, a2, a3, a4, c1, c2)


@kernel((8, 120, 400, 1000), lambda r, n: (r(n, n), r(n, n), r(n, n), r(20)), traced=False)
def fdtd_2d(ex, ey, hz, source):
    for t in range(source.shape[0]):
        ey[0, :] = source[t]
        ey[1:, :] -= 0.5 * (hz[1:, :] - hz[:-1, :])
        ex[:, 1:] -= 0.5 * (hz[:, 1:] - hz[:, :-1])
        hz[:-1, :-1] -= 0.7 * (ex[:-1, 1:] - ex[:-1, :-1] + ey[1:, :-1] - ey[:-1, :-1])


@kernel((8, 40, 120, 256), lambda r, n: (r(n + 4, n + 4, 64), r(n, n, 64)))
def hdiff(x, coefficient):
    lap = 4.0 * x[1:-1, 1:-1] - (x[2:, 1:-1] + x[:-2, 1:-1] + x[1:-1, 2:] + x[1:-1, :-2])
    along_x, along_y = lap[1:, 1:-1] - lap[:-1, 1:-1], lap[1:-1, 1:] - lap[1:-1, :-1]
    flux_x = np.where(along_x * (x[2:-1, 2:-2] - x[1:-2, 2:-2]) > 0, 0.0, along_x)
    flux_y = np.where(along_y * (x[2:-2, 2:-1] - x[2:-2, 1:-2]) > 0, 0.0, along_y)
    return x[2:-2, 2:-2] - coefficient * (flux_x[1:] - flux_x[:-1] + flux_y[:, 1:] - flux_y[:, :-1])


def _heat(x):
    middle = x[1:-1, 1:-1, 1:-1]
    return middle + 0.125 * (
        x[2:, 1:-1, 1:-1] + x[:-2, 1:-1, 1:-1] + x[1:-1, 2:, 1:-1] + x[1:-1, :-2, 1:-1]
        + x[1:-1, 1:-1, 2:] + x[1:-1, 1:-1, :-2] - 6.0 * middle
    )  # fmt: skip


@kernel((6, 25, 70, 150), lambda r, n: (r(n, n, n), r(n, n, n), 10), traced=False)
def heat_3d(a, b, steps):
    for _ in range(steps):
        b[1:-1, 1:-1, 1:-1] = _heat(a)
        a[1:-1, 1:-1, 1:-1] = _heat(b)


@kernel((16, 3000, 30000, 300000), lambda r, n: (r(n), r(n), 200), traced=False)
def jacobi_1d(a, b, steps):
    for _ in range(steps):
        b[1:-1] = 0.33333 * (a[:-2] + a[1:-1] + a[2:])
        a[1:-1] = 0.33333 * (b[:-2] + b[1:-1] + b[2:])


def _cross(x):
    return 0.2 * (x[1:-1, 1:-1] + x[1:-1, :-2] + x[1:-1, 2:] + x[2:, 1:-1] + x[:-2, 1:-1])


@kernel((8, 100, 350, 1200), lambda r, n: (r(n, n), r(n, n), 20), traced=False)
def jacobi_2d(a, b, steps):
    for _ in range(steps):
        b[1:-1, 1:-1] = _cross(a)
        a[1:-1, 1:-1] = _cross(b)


@kernel((8, 40, 120, 300), lambda r, n: (r(n, n), 4), traced=False)
def seidel_2d(a, steps):
    n = a.shape[0]
    for _ in range(steps):
        for i in range(1, n - 1):
            a[i, 1:-1] += (
                a[i - 1, :-2] + a[i - 1, 1:-1] + a[i - 1, 2:] + a[i, 2:] + a[i + 1, :-2] + a[i + 1, 1:-1] + a[i + 1, 2:]
            )
            for j in range(1, n - 1):
                a[i, j] = (a[i, j] + a[i, j - 1]) / 9.0


def _columns(r, n):
    return r(n, n, 40), r(n, n, 40), r(n + 1, n, 40), r(n, n, 40), r(n, n, 40)


@kernel((6, 40, 100, 200), _columns, traced=False)
def vadv(tendency, u, w, position, forcing):
    """Vertical advection: a tridiagonal system in each column."""
    rate, depth = 3.0 / 20.0, u.shape[2]
    upper, right = np.zeros_like(u), np.zeros_like(u)
    flow = 0.125 * (w[1:] + w[:-1])
    for k in range(depth):
        known = rate * position[:, :, k] + forcing[:, :, k] + tendency[:, :, k]
        diagonal = rate * np.ones_like(known)
        if k < depth - 1:
            upper[:, :, k] = flow[:, :, k + 1]
            known -= flow[:, :, k + 1] * (u[:, :, k + 1] - u[:, :, k])
            diagonal -= flow[:, :, k + 1]
        if k > 0:
            known += flow[:, :, k] * (u[:, :, k - 1] - u[:, :, k]) + flow[:, :, k] * right[:, :, k - 1]
            diagonal += flow[:, :, k] + flow[:, :, k] * upper[:, :, k - 1]
        upper[:, :, k] /= diagonal
        right[:, :, k] = known / diagonal
    for k in range(depth - 2, -1, -1):
        right[:, :, k] -= upper[:, :, k] * right[:, :, k + 1]
    tendency[:] = rate * (right - position)
