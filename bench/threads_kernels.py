# SPDX-License-Identifier: Apache-2.0
"""What users of `tessera.cuda` write, for bench/threads_cpu.py: one function for each thread."""

from __future__ import annotations

import math

import numpy as np

from tessera import cuda

F = np.float32
TILE, BLOCK = 16, 256  # extents of shared arrays


@cuda.jit(device=True)
def normal_below(d):
    """The share of a normal distribution below d: Abramowitz and Stegun 26.2.17, as in the samples of CUDA."""
    k = F(1.0) / (F(1.0) + F(0.2316419) * abs(d))
    p = F(1.330274429)
    p = p * k + F(-1.821255978)
    p = p * k + F(1.781477937)
    p = p * k + F(-0.356563782)
    p = p * k + F(0.31938153)
    half = F(-0.5)
    tail = F(0.39894228040143267794) * math.exp(half * d * d) * (k * p)
    return F(1.0) - tail if d > F(0.0) else tail


@cuda.jit
def black_scholes(price, strike, years, call, put, rate, volatility):
    i = cuda.grid(1)
    if i < price.size:
        root = math.sqrt(years[i])
        half = F(0.5)
        d1 = (
            math.log(price[i] / strike[i]) + (rate + half * volatility * volatility) * years[i]
        ) / (volatility * root)
        d2 = d1 - volatility * root
        n1, n2 = normal_below(d1), normal_below(d2)
        later = strike[i] * math.exp(-rate * years[i])
        call[i] = price[i] * n1 - later * n2
        put[i] = later * (F(1.0) - n2) - price[i] * (F(1.0) - n1)


@cuda.jit
def mandelbrot(out, left, top, step, most):
    x, y = cuda.grid(2)
    if y < out.shape[0] and x < out.shape[1]:
        cr, ci = left + F(x) * step, top + F(y) * step
        zr = F(0.0)
        zi = F(0.0)
        n = 0
        while n < most and zr * zr + zi * zi <= F(4.0):
            zr, zi = zr * zr - zi * zi + cr, zr * zi + zr * zi + ci
            n += 1
        out[y, x] = n


@cuda.jit
def n_body(x, y, z, mass, ax, ay, az, soft):
    i = cuda.grid(1)
    if i < x.size:
        sx = F(0.0)
        sy = F(0.0)
        sz = F(0.0)
        for j in range(x.size):
            dx, dy, dz = x[j] - x[i], y[j] - y[i], z[j] - z[i]
            r2 = dx * dx + dy * dy + dz * dz + soft
            w = mass[j] / (r2 * math.sqrt(r2))
            sx += dx * w
            sy += dy * w
            sz += dz * w
        ax[i] = sx
        ay[i] = sy
        az[i] = sz


@cuda.jit
def jacobi(u, out):
    """A step of Laplace's equation in two dimensions."""
    x, y = cuda.grid(2)
    if 0 < y < u.shape[0] - 1 and 0 < x < u.shape[1] - 1:
        out[y, x] = F(0.25) * (u[y - 1, x] + u[y + 1, x] + u[y, x - 1] + u[y, x + 1])


@cuda.jit
def heat(u, out, alpha):
    """A step of the heat equation in three dimensions."""
    x, y, z = cuda.grid(3)
    if 0 < z < u.shape[0] - 1 and 0 < y < u.shape[1] - 1 and 0 < x < u.shape[2] - 1:
        here = u[z, y, x]
        around = u[z - 1, y, x] + u[z + 1, y, x] + u[z, y - 1, x] + u[z, y + 1, x]
        around += u[z, y, x - 1] + u[z, y, x + 1]
        out[z, y, x] = here + alpha * (around - F(6.0) * here)


@cuda.jit
def product(a, b, c):
    """a @ b by tiles in shared memory, square and of whole tiles."""
    sa = cuda.shared.array((TILE, TILE), F)
    sb = cuda.shared.array((TILE, TILE), F)
    x, y = cuda.grid(2)
    i, j = cuda.threadIdx.x, cuda.threadIdx.y
    total = F(0.0)
    for k in range(a.shape[1] // TILE):
        sa[j, i] = a[y, k * TILE + i]
        sb[j, i] = b[k * TILE + j, x]
        cuda.syncthreads()
        for n in range(TILE):
            total += sa[j, n] * sb[n, i]
        cuda.syncthreads()
    c[y, x] = total


@cuda.jit
def block_sums(x, out):
    """The sum of each block's elements, by halves in shared memory."""
    part = cuda.shared.array(BLOCK, F)
    i = cuda.threadIdx.x
    at = cuda.grid(1)
    part[i] = x[at] if at < x.size else F(0.0)
    cuda.syncthreads()
    half = BLOCK // 2
    while half > 0:
        if i < half:
            part[i] += part[i + half]
        cuda.syncthreads()
        half //= 2
    if i == 0:
        out[cuda.blockIdx.x] = part[0]


@cuda.jit
def block_scans(x, out):
    """The running sums of each block's elements (Hillis and Steele)."""
    part = cuda.shared.array(BLOCK, F)
    i = cuda.threadIdx.x
    at = cuda.grid(1)
    part[i] = x[at] if at < x.size else F(0.0)
    cuda.syncthreads()
    step = 1
    while step < BLOCK:
        more = part[i - step] if i >= step else F(0.0)
        cuda.syncthreads()
        part[i] += more
        cuda.syncthreads()
        step *= 2
    if at < x.size:
        out[at] = part[i]
