/* SPDX-License-Identifier: Apache-2.0
 *
 * The kernels of bench/threads_text.py in CUDA C: the same algorithms, as C is written. bench/threads_gpu.py compiles this text
 * with NVRTC. Parameters are those of the Python kernels, arrays as pointers; extents that Python takes from the
 * arrays come last.
 */
#define FULL 0xFFFFFFFFu
#define TILE 32
#define BLOCK 256
#define WARPS 8
#define BODIES 256
#define WORDS 32
#define STEPS 256
#define SORTED 1024
#define KERNEL extern "C" __global__ void
#define IN const float *__restrict__
#define OUT float *__restrict__
typedef unsigned char byte;
typedef unsigned long long u64;

/* ---- streams ------------------------------------------------------------------------------------- */

KERNEL vector_add(IN x, IN y, OUT out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = x[i] + y[i];
}

KERNEL saxpy(float a, IN x, OUT y, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        y[i] = a * x[i] + y[i];
}

KERNEL narrow_add(const byte *__restrict__ x, const byte *__restrict__ y, byte *__restrict__ out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = x[i] + y[i];
}

KERNEL transpose(IN x, OUT out, int rows, int columns)
{
    __shared__ float tile[TILE][TILE + 1];
    int tx = threadIdx.x, ty = threadIdx.y;
    int column = blockIdx.x * TILE + tx, row = blockIdx.y * TILE + ty;
    for (int k = 0; k < TILE; k += 8)
        if (row + k < rows && column < columns)
            tile[ty + k][tx] = x[(row + k) * columns + column];
    __syncthreads();
    column = blockIdx.y * TILE + tx;
    row = blockIdx.x * TILE + ty;
    for (int k = 0; k < TILE; k += 8)
        if (row + k < columns && column < rows)
            out[(row + k) * rows + column] = tile[tx][ty + k];
}

/* ---- products ------------------------------------------------------------------------------------ */

KERNEL matmul(IN a, IN b, OUT c, int m, int n, int depth)
{
    __shared__ float left[TILE][TILE], right[TILE][TILE];
    int tx = threadIdx.x, ty = threadIdx.y;
    int row = blockIdx.y * TILE + ty, column = blockIdx.x * TILE + tx;
    float total = 0;
    for (int k = 0; k < depth; k += TILE) {
        left[ty][tx] = row < m && k + tx < depth ? a[row * depth + k + tx] : 0;
        right[ty][tx] = k + ty < depth && column < n ? b[(k + ty) * n + column] : 0;
        __syncthreads();
        for (int i = 0; i < TILE; i++)
            total += left[ty][i] * right[i][tx];
        __syncthreads();
    }
    if (row < m && column < n)
        c[row * n + column] = total;
}

/* ptr[0], ptr[1]: two numbers of 16 bits. */
static __device__ unsigned pair(const unsigned short *ptr)
{
    return *(const unsigned *)ptr;
}

static __device__ void multiply(float *c, const unsigned *a, const unsigned *b)
{
    asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

KERNEL tensor_matmul(const unsigned short *__restrict__ a, const unsigned short *__restrict__ b, OUT c, int m, int n,
                     int depth)
{
    __shared__ unsigned short left[64][40], right[32][40];
    int t = threadIdx.x, warp = t / 32, g = t % 32 / 4, l = 2 * (t % 4), row = blockIdx.y * 64, column = blockIdx.x * 32;
    int y = warp / 2 * 32, x = warp % 2 * 16;
    float sum[2][2][4] = {};
    for (int k = 0; k < depth; k += 32) {
        for (int i = 0; i < 16; i++)
            left[warp + 4 * i][t % 32] = a[(row + warp + 4 * i) * depth + k + t % 32];
        for (int i = 0; i < 8; i++)
            right[t % 32][warp + 4 * i] = b[(k + warp + 4 * i) * n + column + t % 32];
        __syncthreads();
        for (int i = 0; i < 32; i += 16) {
            unsigned p[2][4], q[2][2];
            for (int j = 0; j < 2; j++) {
                for (int h = 0; h < 4; h++)
                    p[j][h] = pair(&left[y + 16 * j + g + h % 2 * 8][i + l + h / 2 * 8]);
                for (int h = 0; h < 2; h++)
                    q[j][h] = pair(&right[x + 8 * j + g][i + l + h * 8]);
            }
            for (int j = 0; j < 4; j++)
                multiply(sum[j / 2][j % 2], p[j / 2], q[j % 2]);
        }
        __syncthreads();
    }
    for (int j = 0; j < 16; j++) {
        int r = row + y + j / 8 * 16 + g + j / 2 % 2 * 8, s = column + x + j / 4 % 2 * 8 + l + j % 2;
        c[r * n + s] = sum[j / 8][j / 4 % 2][j % 4];
    }
}

KERNEL spmv(const int *__restrict__ starts, const int *__restrict__ columns, IN values, IN x, OUT out, int n)
{
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (row >= n)
        return;
    float total = 0;
    for (int i = starts[row] + lane; i < starts[row + 1]; i += 32)
        total += values[i] * x[columns[i]];
    for (int offset = 16; offset > 0; offset /= 2)
        total += __shfl_down_sync(FULL, total, offset);
    if (lane == 0)
        out[row] = total;
}

/* ---- sums ---------------------------------------------------------------------------------------- */

KERNEL block_sum(IN x, OUT out, int n)
{
    __shared__ float part[BLOCK];
    int t = threadIdx.x;
    float total = 0;
    for (int i = blockIdx.x * blockDim.x + t; i < n; i += gridDim.x * blockDim.x)
        total += x[i];
    part[t] = total;
    __syncthreads();
    for (int half = BLOCK / 2; half > 0; half /= 2) {
        if (t < half)
            part[t] += part[t + half];
        __syncthreads();
    }
    if (t == 0)
        atomicAdd(out, part[0]);
}

KERNEL warp_sum(IN x, OUT out, int n)
{
    float total = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        total += x[i];
    for (int offset = 16; offset > 0; offset /= 2)
        total += __shfl_down_sync(FULL, total, offset);
    if (threadIdx.x % 32 == 0)
        atomicAdd(out, total);
}

static __device__ float warp_scan(float value, int lane)
{
    for (int offset = 1; offset < 32; offset *= 2) {
        float other = __shfl_up_sync(FULL, value, offset);
        if (lane >= offset)
            value += other;
    }
    return value;
}

KERNEL scan_blocks(IN x, OUT out, OUT sums, int n)
{
    __shared__ float part[WARPS];
    int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    float value = warp_scan(i < n ? x[i] : 0, lane);
    if (lane == 31)
        part[warp] = value;
    __syncthreads();
    if (warp == 0) {
        float total = warp_scan(lane < WARPS ? part[lane] : 0, lane);
        if (lane < WARPS)
            part[lane] = total;
    }
    __syncthreads();
    if (warp > 0)
        value += part[warp - 1];
    if (i < n)
        out[i] = value;
    if (threadIdx.x == BLOCK - 1)
        sums[blockIdx.x] = value;
}

KERNEL scan_add(OUT out, IN sums, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && blockIdx.x > 0)
        out[i] += sums[blockIdx.x - 1];
}

KERNEL histogram(const byte *__restrict__ x, int *__restrict__ out, int n)
{
    __shared__ int counts[256];
    int t = threadIdx.x;
    counts[t] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + t; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&counts[x[i]], 1);
    __syncthreads();
    atomicAdd(&out[t], counts[t]);
}

/* ---- arithmetic ---------------------------------------------------------------------------------- */

static __device__ float normal_below(float d)
{
    float k = 1.0f / (1.0f + 0.2316419f * fabsf(d));
    float tail = 0.39894228040143267794f * expf(-0.5f * d * d) *
                 (k * (0.31938153f + k * (-0.356563782f + k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f)))));
    return d > 0 ? 1.0f - tail : tail;
}

KERNEL black_scholes(IN price, IN strike, IN years, float rate, float volatility, OUT call, OUT put, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float s = price[i], x = strike[i], t = years[i], root = sqrtf(t);
    float d1 = (logf(s / x) + (rate + 0.5f * volatility * volatility) * t) / (volatility * root);
    float d2 = d1 - volatility * root, n1 = normal_below(d1), n2 = normal_below(d2);
    float discounted = x * expf(-rate * t);
    call[i] = s * n1 - discounted * n2;
    put[i] = discounted * (1.0f - n2) - s * (1.0f - n1);
}

KERNEL mandelbrot(float left, float top, float step, int *__restrict__ out, int rows, int columns)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y, n = 0;
    if (y >= rows || x >= columns)
        return;
    float cr = left + x * step, ci = top + y * step, zr = 0, zi = 0;
    while (n < STEPS && zr * zr + zi * zi <= 4.0f) {
        float next = zr * zr - zi * zi + cr;
        zi = 2.0f * zr * zi + ci;
        zr = next;
        n++;
    }
    out[y * columns + x] = n;
}

KERNEL bodies(IN x, IN y, IN z, IN mass, OUT ax, OUT ay, OUT az, float softening, int n)
{
    __shared__ float sx[BODIES], sy[BODIES], sz[BODIES], sm[BODIES];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    float px = x[i], py = y[i], pz = z[i], fx = 0, fy = 0, fz = 0;
    for (int first = 0; first < n; first += BODIES) {
        sx[t] = x[first + t];
        sy[t] = y[first + t];
        sz[t] = z[first + t];
        sm[t] = mass[first + t];
        __syncthreads();
        for (int k = 0; k < BODIES; k++) {
            float dx = sx[k] - px, dy = sy[k] - py, dz = sz[k] - pz;
            float inverse = 1.0f / sqrtf(dx * dx + dy * dy + dz * dz + softening);
            float pull = sm[k] * inverse * inverse * inverse;
            fx += dx * pull;
            fy += dy * pull;
            fz += dz * pull;
        }
        __syncthreads();
    }
    ax[i] = fx;
    ay[i] = fy;
    az[i] = fz;
}

KERNEL monte_carlo(const u64 *__restrict__ seeds, int *__restrict__ inside, int rounds, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, count = 0;
    if (i >= n)
        return;
    u64 state = seeds[i];
    for (int k = 0; k < rounds; k++) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        float x = (unsigned)(state >> 40) * 0x1p-24f, y = (unsigned)(state & 0xFFFFFF) * 0x1p-24f;
        count += x * x + y * y < 1.0f;
    }
    inside[i] = count;
}

static __device__ float distance(float px, float py, float pz, IN spheres)
{
    float nearest = 1e9f;
    for (int k = 0; k < 4; k++) {
        float dx = px - spheres[4 * k], dy = py - spheres[4 * k + 1], dz = pz - spheres[4 * k + 2];
        nearest = fminf(nearest, sqrtf(dx * dx + dy * dy + dz * dz) - spheres[4 * k + 3]);
    }
    return nearest;
}

KERNEL march(IN spheres, OUT out, int rows, int columns)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (y >= rows || x >= columns)
        return;
    float dx = (x + 0.5f) / columns * 2.0f - 1.0f, dy = 1.0f - (y + 0.5f) / rows * 2.0f;
    float dz = 1.0f / sqrtf(dx * dx + dy * dy + 1.0f), far = 0;
    dx *= dz;
    dy *= dz;
    for (int k = 0; k < 64; k++) {
        float near = distance(dx * far, dy * far, dz * far, spheres);
        far += near;
        if (near < 1e-3f || far > 20.0f)
            break;
    }
    out[y * columns + x] = far;
}

/* ---- neighbours ---------------------------------------------------------------------------------- */

KERNEL jacobi(IN x, OUT out, int rows, int columns)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i < 1 || i >= rows - 1 || j < 1 || j >= columns - 1)
        return;
    const float *at = x + i * columns + j;
    out[i * columns + j] = 0.25f * (at[-columns] + at[columns] + at[-1] + at[1]);
}

KERNEL heat(IN x, OUT out, float rate, int n0, int n1, int n2)
{
    int k = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y,
        i = blockIdx.z * blockDim.z + threadIdx.z;
    if (i < 1 || i >= n0 - 1 || j < 1 || j >= n1 - 1 || k < 1 || k >= n2 - 1)
        return;
    int row = n2, plane = n1 * n2, here = i * plane + j * row + k;
    float middle = x[here], around = x[here - plane] + x[here + plane] + x[here - row] + x[here + row] + x[here - 1] + x[here + 1];
    out[here] = middle + rate * (around - 6.0f * middle);
}

KERNEL bitonic(IN x, OUT out)
{
    __shared__ float piece[SORTED];
    int t = threadIdx.x, first = blockIdx.x * SORTED;
    piece[t] = x[first + t];
    piece[t + SORTED / 2] = x[first + t + SORTED / 2];
    for (int size = 2; size <= SORTED; size *= 2)
        for (int stride = size / 2; stride > 0; stride /= 2) {
            __syncthreads();
            int low = 2 * t - (t & (stride - 1));
            float a = piece[low], b = piece[low + stride];
            if ((a > b) == ((low & size) == 0)) {
                piece[low] = b;
                piece[low + stride] = a;
            }
        }
    __syncthreads();
    out[first + t] = piece[t];
    out[first + t + SORTED / 2] = piece[t + SORTED / 2];
}

KERNEL levenshtein(const byte *__restrict__ one, const byte *__restrict__ two, int *__restrict__ out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, row[WORDS + 1];
    if (i >= n)
        return;
    for (int k = 0; k <= WORDS; k++)
        row[k] = k;
    for (int r = 0; r < WORDS; r++) {
        int letter = one[r * n + i], corner = row[0];
        row[0] = r + 1;
        for (int k = 0; k < WORDS; k++) {
            int above = row[k + 1];
            row[k + 1] = letter == two[k * n + i] ? corner : min(min(corner, above), row[k]) + 1;
            corner = above;
        }
    }
    out[i] = row[WORDS];
}
