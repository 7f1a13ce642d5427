# SPDX-License-Identifier: Apache-2.0
# mypy: ignore-errors
# ruff: noqa: F821
"""Kernels of threads, in what numba.cuda and tessera.cuda both read. bench/threads_gpu.py executes this text once for
each of them, with ``cuda`` given; bench/threads.cu has the same algorithms in CUDA C."""

import math

import numpy as np

F = np.float32
ZERO, HALF, ONE, TWO, FOUR = F(0), F(0.5), F(1), F(2), F(4)
TILE, PADDED, BLOCK, WARPS = 32, 33, 256, 8
BODIES, WORDS, ROW, STEPS = 256, 32, 33, 256
SORTED = 1024


# ---- streams ----------------------------------------------------------------------------------------------------


@cuda.jit
def vector_add(x, y, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = x[i] + y[i]


@cuda.jit
def saxpy(a, x, y):
    start, step = cuda.grid(1), cuda.gridsize(1)
    for i in range(start, x.size, step):
        y[i] = a * x[i] + y[i]


@cuda.jit
def narrow_add(x, y, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = x[i] + y[i]


@cuda.jit
def transpose(x, out):
    tile = cuda.shared.array((TILE, PADDED), np.float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    column, row = cuda.blockIdx.x * TILE + tx, cuda.blockIdx.y * TILE + ty
    for k in range(0, TILE, 8):
        if row + k < x.shape[0] and column < x.shape[1]:
            tile[ty + k, tx] = x[row + k, column]
    cuda.syncthreads()
    column, row = cuda.blockIdx.y * TILE + tx, cuda.blockIdx.x * TILE + ty
    for k in range(0, TILE, 8):
        if row + k < out.shape[0] and column < out.shape[1]:
            out[row + k, column] = tile[tx, ty + k]


# ---- products ---------------------------------------------------------------------------------------------------


@cuda.jit
def matmul(a, b, c):
    """A tile of a and of b through shared memory, one element of c for each thread."""
    left = cuda.shared.array((TILE, TILE), np.float32)
    right = cuda.shared.array((TILE, TILE), np.float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    row, column = cuda.blockIdx.y * TILE + ty, cuda.blockIdx.x * TILE + tx
    total = ZERO
    for k in range(0, a.shape[1], TILE):
        left[ty, tx] = a[row, k + tx] if row < a.shape[0] and k + tx < a.shape[1] else ZERO
        right[ty, tx] = b[k + ty, column] if k + ty < b.shape[0] and column < b.shape[1] else ZERO
        cuda.syncthreads()
        for i in range(TILE):
            total += left[ty, i] * right[i, tx]
        cuda.syncthreads()
    if row < c.shape[0] and column < c.shape[1]:
        c[row, column] = total


MMA = (16, 8, 16)


@cuda.jit
def tensor_matmul(a, b, c):
    """float16 on tensor cores: 64 x 32 of c for four warps. What follows each other along k lies side by side in shared
    memory; rows are padded, so that warps read all banks. Only tessera.cuda has words for it."""
    left = cuda.shared.array((64, 40), np.float16)
    right = cuda.shared.array((32, 40), np.float16)
    t, warp = cuda.threadIdx.x, cuda.threadIdx.x // 32
    row, column = cuda.blockIdx.y * 64, cuda.blockIdx.x * 32
    m, n = warp // 2 * 32, warp % 2 * 16
    c00 = c01 = c10 = c11 = (ZERO, ZERO, ZERO, ZERO)
    for k in range(0, a.shape[1], 32):
        for i in range(16):
            left[t // 32 + 4 * i, t % 32] = a[row + t // 32 + 4 * i, k + t % 32]
        for i in range(8):
            right[t % 32, t // 32 + 4 * i] = b[k + t // 32 + 4 * i, column + t % 32]
        cuda.syncthreads()
        for i in range(0, 32, 16):
            a0, a1 = cuda.mma.load_a(left, (m, i), MMA), cuda.mma.load_a(left, (m + 16, i), MMA)
            b0, b1 = cuda.mma.load_b(right.T, (i, n), MMA), cuda.mma.load_b(right.T, (i, n + 8), MMA)
            c00, c01 = cuda.mma.sync(a0, b0, c00), cuda.mma.sync(a0, b1, c01)
            c10, c11 = cuda.mma.sync(a1, b0, c10), cuda.mma.sync(a1, b1, c11)
        cuda.syncthreads()
    cuda.mma.store(c, (row + m, column + n), c00, MMA)
    cuda.mma.store(c, (row + m, column + n + 8), c01, MMA)
    cuda.mma.store(c, (row + m + 16, column + n), c10, MMA)
    cuda.mma.store(c, (row + m + 16, column + n + 8), c11, MMA)


@cuda.jit
def spmv(starts, columns, values, x, out):
    """Rows of a compressed sparse matrix, a warp for each."""
    row, lane = cuda.grid(1) // 32, cuda.threadIdx.x % 32
    if row < out.size:
        total = ZERO
        for i in range(starts[row] + lane, starts[row + 1], 32):
            total += values[i] * x[columns[i]]
        offset = 16
        while offset > 0:
            total += cuda.shfl_down_sync(0xFFFFFFFF, total, offset)
            offset //= 2
        if lane == 0:
            out[row] = total


# ---- sums -------------------------------------------------------------------------------------------------------


@cuda.jit
def block_sum(x, out):
    """A tree in shared memory."""
    part = cuda.shared.array(BLOCK, np.float32)
    t = cuda.threadIdx.x
    total = ZERO
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        total += x[i]
    part[t] = total
    cuda.syncthreads()
    half = BLOCK // 2
    while half > 0:
        if t < half:
            part[t] += part[t + half]
        cuda.syncthreads()
        half //= 2
    if t == 0:
        cuda.atomic.add(out, 0, part[0])


@cuda.jit
def warp_sum(x, out):
    """Shuffles, and one atomic for each warp."""
    total = ZERO
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        total += x[i]
    offset = 16
    while offset > 0:
        total += cuda.shfl_down_sync(0xFFFFFFFF, total, offset)
        offset //= 2
    if cuda.laneid == 0:
        cuda.atomic.add(out, 0, total)


@cuda.jit(device=True)
def warp_scan(value, lane):
    offset = 1
    while offset < 32:
        other = cuda.shfl_up_sync(0xFFFFFFFF, value, offset)
        if lane >= offset:
            value += other
        offset *= 2
    return value


@cuda.jit
def scan_blocks(x, out, sums):
    """Running sums within blocks; the total of each."""
    part = cuda.shared.array(WARPS, np.float32)
    i, lane, warp = cuda.grid(1), cuda.threadIdx.x % 32, cuda.threadIdx.x // 32
    value = warp_scan(x[i] if i < x.size else ZERO, lane)
    if lane == 31:
        part[warp] = value
    cuda.syncthreads()
    if warp == 0:
        total = warp_scan(part[lane] if lane < WARPS else ZERO, lane)
        if lane < WARPS:
            part[lane] = total
    cuda.syncthreads()
    if warp > 0:
        value += part[warp - 1]
    if i < x.size:
        out[i] = value
    if cuda.threadIdx.x == BLOCK - 1:
        sums[cuda.blockIdx.x] = value


@cuda.jit
def scan_add(out, sums):
    i = cuda.grid(1)
    if i < out.size and cuda.blockIdx.x > 0:
        out[i] += sums[cuda.blockIdx.x - 1]


@cuda.jit
def histogram(x, out):
    counts = cuda.shared.array(256, np.int32)
    t = cuda.threadIdx.x
    counts[t] = 0
    cuda.syncthreads()
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        cuda.atomic.add(counts, x[i], 1)
    cuda.syncthreads()
    cuda.atomic.add(out, t, counts[t])


# ---- arithmetic -------------------------------------------------------------------------------------------------

A1, A2, A3 = F(0.31938153), F(-0.356563782), F(1.781477937)
A4, A5, ROOT = F(-1.821255978), F(1.330274429), F(0.39894228040143267794)
SLOPE = F(0.2316419)


@cuda.jit(device=True)
def normal_below(d):
    k = ONE / (ONE + SLOPE * abs(d))
    tail = ROOT * math.exp(-HALF * d * d) * (k * (A1 + k * (A2 + k * (A3 + k * (A4 + k * A5)))))
    return ONE - tail if d > ZERO else tail


@cuda.jit
def black_scholes(price, strike, years, rate, volatility, call, put):
    i = cuda.grid(1)
    if i < price.size:
        s, x, t = price[i], strike[i], years[i]
        root = math.sqrt(t)
        d1 = (math.log(s / x) + (rate + HALF * volatility * volatility) * t) / (volatility * root)
        d2 = d1 - volatility * root
        n1, n2 = normal_below(d1), normal_below(d2)
        discounted = x * math.exp(-rate * t)
        call[i] = s * n1 - discounted * n2
        put[i] = discounted * (ONE - n2) - s * (ONE - n1)


@cuda.jit
def mandelbrot(left, top, step, out):
    x, y = cuda.grid(2)
    if y < out.shape[0] and x < out.shape[1]:
        cr, ci = left + F(x) * step, top + F(y) * step
        zr, zi = ZERO, ZERO
        n = 0
        while n < STEPS and zr * zr + zi * zi <= FOUR:
            zr, zi = zr * zr - zi * zi + cr, TWO * zr * zi + ci
            n += 1
        out[y, x] = n


@cuda.jit
def bodies(x, y, z, mass, ax, ay, az, softening):
    """Accelerations of all by all, a block of them at a time through shared memory."""
    sx = cuda.shared.array(BODIES, np.float32)
    sy = cuda.shared.array(BODIES, np.float32)
    sz = cuda.shared.array(BODIES, np.float32)
    sm = cuda.shared.array(BODIES, np.float32)
    i, t = cuda.grid(1), cuda.threadIdx.x
    px, py, pz = x[i], y[i], z[i]
    fx, fy, fz = ZERO, ZERO, ZERO
    for first in range(0, x.size, BODIES):
        sx[t], sy[t], sz[t], sm[t] = x[first + t], y[first + t], z[first + t], mass[first + t]
        cuda.syncthreads()
        for k in range(BODIES):
            dx, dy, dz = sx[k] - px, sy[k] - py, sz[k] - pz
            inverse = ONE / math.sqrt(dx * dx + dy * dy + dz * dz + softening)
            pull = sm[k] * inverse * inverse * inverse
            fx += dx * pull
            fy += dy * pull
            fz += dz * pull
        cuda.syncthreads()
    ax[i], ay[i], az[i] = fx, fy, fz


@cuda.jit
def monte_carlo(seeds, inside, rounds):
    """Points in a square that are within a circle, from a shift register of 64 bits for each thread."""
    i = cuda.grid(1)
    if i < seeds.size:
        state = seeds[i]
        count = 0
        for _ in range(rounds):
            state ^= state << np.uint64(13)
            state ^= state >> np.uint64(7)
            state ^= state << np.uint64(17)
            x = F(np.uint32(state >> np.uint64(40))) * F(2.0**-24)
            y = F(np.uint32(state & np.uint64(0xFFFFFF))) * F(2.0**-24)
            if x * x + y * y < ONE:
                count += 1
        inside[i] = count


SPHERES = np.array([[0, 0, 3, 1], [1.5, 0.5, 4, 0.8], [-1.5, 0.25, 3.5, 0.6], [0, -101, 3, 100]], np.float32)


@cuda.jit(device=True)
def distance(px, py, pz, spheres):
    nearest = F(1e9)
    for k in range(4):
        dx, dy, dz = px - spheres[k, 0], py - spheres[k, 1], pz - spheres[k, 2]
        nearest = min(nearest, math.sqrt(dx * dx + dy * dy + dz * dz) - spheres[k, 3])
    return nearest


@cuda.jit
def march(spheres, out):
    """How far a ray of each pixel goes until it meets a sphere."""
    x, y = cuda.grid(2)
    if y < out.shape[0] and x < out.shape[1]:
        dx = (F(x) + HALF) / F(out.shape[1]) * TWO - ONE
        dy = ONE - (F(y) + HALF) / F(out.shape[0]) * TWO
        scale = ONE / math.sqrt(dx * dx + dy * dy + ONE)
        dx, dy, dz = dx * scale, dy * scale, scale
        far = ZERO
        for _ in range(64):
            near = distance(dx * far, dy * far, dz * far, spheres)
            far += near
            if near < F(1e-3) or far > F(20):
                break
        out[y, x] = far


# ---- neighbours -------------------------------------------------------------------------------------------------

QUARTER = F(0.25)


@cuda.jit
def jacobi(x, out):
    j, i = cuda.grid(2)
    if 1 <= i < x.shape[0] - 1 and 1 <= j < x.shape[1] - 1:
        out[i, j] = QUARTER * (x[i - 1, j] + x[i + 1, j] + x[i, j - 1] + x[i, j + 1])


@cuda.jit
def heat(x, out, rate):
    """One step of the heat equation in three dimensions."""
    k, j, i = cuda.grid(3)
    if 1 <= i < x.shape[0] - 1 and 1 <= j < x.shape[1] - 1 and 1 <= k < x.shape[2] - 1:
        middle = x[i, j, k]
        around = x[i - 1, j, k] + x[i + 1, j, k] + x[i, j - 1, k] + x[i, j + 1, k] + x[i, j, k - 1] + x[i, j, k + 1]
        out[i, j, k] = middle + rate * (around - F(6) * middle)


@cuda.jit
def bitonic(x, out):
    """Sorts pieces of 1024 in shared memory."""
    piece = cuda.shared.array(SORTED, np.float32)
    t, first = cuda.threadIdx.x, cuda.blockIdx.x * SORTED
    piece[t] = x[first + t]
    piece[t + SORTED // 2] = x[first + t + SORTED // 2]
    size = 2
    while size <= SORTED:
        stride = size // 2
        while stride > 0:
            cuda.syncthreads()
            low = 2 * t - (t & (stride - 1))
            a, b = piece[low], piece[low + stride]
            if (a > b) == ((low & size) == 0):
                piece[low], piece[low + stride] = b, a
            stride //= 2
        size *= 2
    cuda.syncthreads()
    out[first + t] = piece[t]
    out[first + t + SORTED // 2] = piece[t + SORTED // 2]


@cuda.jit
def levenshtein(one, two, out):
    """Edit distances of pairs of words of 32 letters, one pair for each thread, columns of letters."""
    i = cuda.grid(1)
    if i < out.size:
        row = cuda.local.array(ROW, np.int32)
        for k in range(WORDS + 1):
            row[k] = k
        for r in range(WORDS):
            letter = one[r, i]
            corner = row[0]
            row[0] = r + 1
            for k in range(WORDS):
                above = row[k + 1]
                cost = corner if letter == two[k, i] else min(corner, above, row[k]) + 1
                corner = above
                row[k + 1] = cost
        out[i] = row[WORDS]


# ---- nothing ----------------------------------------------------------------------------------------------------


@cuda.jit
def empty0():
    pass


@cuda.jit
def empty3(a, b, c):
    pass


@cuda.jit
def empty16(a, b, c, d, e, f, g, h, i, j, k, m, n, o, p, q):
    pass
