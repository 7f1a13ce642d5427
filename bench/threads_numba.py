# SPDX-License-Identifier: Apache-2.0
"""numba's versions of bench/threads_kernels.py for a CPU, as its users write them: parallel, fastmath off."""

from __future__ import annotations

import math
from typing import Any

import numba
import numpy as np

F = np.float32


@numba.njit
def normal_below(d: Any) -> Any:
    k = F(1.0) / (F(1.0) + F(0.2316419) * abs(d))
    p = F(1.330274429)
    p = p * k + F(-1.821255978)
    p = p * k + F(1.781477937)
    p = p * k + F(-0.356563782)
    p = p * k + F(0.31938153)
    tail = F(0.39894228040143267794) * math.exp(F(-0.5) * d * d) * (k * p)
    return F(1.0) - tail if d > F(0.0) else tail


@numba.njit(parallel=True)
def black_scholes(
    price: Any, strike: Any, years: Any, call: Any, put: Any, rate: Any, volatility: Any
) -> None:
    for i in numba.prange(price.size):
        root = math.sqrt(years[i])
        d1 = (
            math.log(price[i] / strike[i]) + (rate + F(0.5) * volatility * volatility) * years[i]
        ) / (volatility * root)
        d2 = d1 - volatility * root
        n1, n2 = normal_below(d1), normal_below(d2)
        later = strike[i] * math.exp(-rate * years[i])
        call[i] = price[i] * n1 - later * n2
        put[i] = later * (F(1.0) - n2) - price[i] * (F(1.0) - n1)


@numba.njit(parallel=True)
def mandelbrot(out: Any, left: Any, top: Any, step: Any, most: int) -> None:
    for y in numba.prange(out.shape[0]):
        for x in range(out.shape[1]):
            cr, ci = left + F(x) * step, top + F(y) * step
            zr = F(0.0)
            zi = F(0.0)
            n = 0
            while n < most and zr * zr + zi * zi <= F(4.0):
                zr, zi = zr * zr - zi * zi + cr, zr * zi + zr * zi + ci
                n += 1
            out[y, x] = n


@numba.njit(parallel=True)
def n_body(x: Any, y: Any, z: Any, mass: Any, ax: Any, ay: Any, az: Any, soft: Any) -> None:
    for i in numba.prange(x.size):
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


@numba.njit(parallel=True)
def jacobi(u: Any, out: Any) -> None:
    for y in numba.prange(1, u.shape[0] - 1):
        for x in range(1, u.shape[1] - 1):
            out[y, x] = F(0.25) * (u[y - 1, x] + u[y + 1, x] + u[y, x - 1] + u[y, x + 1])


@numba.njit(parallel=True)
def heat(u: Any, out: Any, alpha: Any) -> None:
    for z in numba.prange(1, u.shape[0] - 1):
        for y in range(1, u.shape[1] - 1):
            for x in range(1, u.shape[2] - 1):
                here = u[z, y, x]
                around = u[z - 1, y, x] + u[z + 1, y, x] + u[z, y - 1, x] + u[z, y + 1, x]
                around += u[z, y, x - 1] + u[z, y, x + 1]
                out[z, y, x] = here + alpha * (around - F(6.0) * here)


@numba.njit(parallel=True)
def block_sums(x: Any, out: Any) -> None:
    for b in numba.prange(out.size):
        total = F(0.0)
        for i in range(b * 256, min(x.size, b * 256 + 256)):
            total += x[i]
        out[b] = total


@numba.njit(parallel=True)
def block_scans(x: Any, out: Any) -> None:
    for b in numba.prange((x.size + 255) // 256):
        total = F(0.0)
        for i in range(b * 256, min(x.size, b * 256 + 256)):
            total += x[i]
            out[i] = total
