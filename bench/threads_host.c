/* SPDX-License-Identifier: Apache-2.0
 *
 * The kernels of bench/threads_kernels.py as strict C with OpenMP, for bench/threads_cpu.py, which compiles this file
 * with -O3 -march=native -fopenmp: no fast math.
 */
#include <math.h>
#include <stdint.h>

static inline float normal_below(float d)
{
    float k = 1.0f / (1.0f + 0.2316419f * fabsf(d)), p = 1.330274429f;
    p = p * k + -1.821255978f;
    p = p * k + 1.781477937f;
    p = p * k + -0.356563782f;
    p = p * k + 0.31938153f;
    float tail = 0.39894228040143267794f * expf(-0.5f * d * d) * (k * p);
    return d > 0.0f ? 1.0f - tail : tail;
}

void black_scholes(int64_t n, const float *restrict price, const float *restrict strike, const float *restrict years,
                   float *restrict call, float *restrict put, float rate, float volatility)
{
#pragma omp parallel for simd
    for (int64_t i = 0; i < n; i++) {
        float root = sqrtf(years[i]);
        float d1 = (logf(price[i] / strike[i]) + (rate + 0.5f * volatility * volatility) * years[i]) /
                   (volatility * root);
        float d2 = d1 - volatility * root, n1 = normal_below(d1), n2 = normal_below(d2);
        float later = strike[i] * expf(-rate * years[i]);
        call[i] = price[i] * n1 - later * n2;
        put[i] = later * (1.0f - n2) - price[i] * (1.0f - n1);
    }
}

/* 64 points at a time, those that are done under masks: what a compiler can put into vectors. */
void mandelbrot(int64_t rows, int64_t cols, int32_t *restrict out, float left, float top, float step, int32_t most)
{
    enum { WIDTH = 64 };
#pragma omp parallel for schedule(dynamic)
    for (int64_t y = 0; y < rows; y++)
        for (int64_t first = 0; first < cols; first += WIDTH) {
            float zr[WIDTH], zi[WIDTH], cr[WIDTH], ci = top + (float)y * step;
            int32_t n[WIDTH];
            for (int x = 0; x < WIDTH; x++)
                zr[x] = zi[x] = 0.0f, n[x] = 0, cr[x] = left + (float)(first + x) * step;
            for (int32_t turn = 0, active = 1; turn < most && active; turn++) {
                active = 0;
                for (int x = 0; x < WIDTH; x++) {
                    int32_t in = zr[x] * zr[x] + zi[x] * zi[x] <= 4.0f;
                    float r = zr[x] * zr[x] - zi[x] * zi[x] + cr[x], i = zr[x] * zi[x] + zr[x] * zi[x] + ci;
                    zr[x] = in ? r : zr[x];
                    zi[x] = in ? i : zi[x];
                    n[x] += in;
                    active |= in;
                }
            }
            for (int64_t x = 0; x < WIDTH && first + x < cols; x++)
                out[y * cols + first + x] = n[x];
        }
}

void n_body(int64_t n, const float *restrict x, const float *restrict y, const float *restrict z,
            const float *restrict mass, float *restrict ax, float *restrict ay, float *restrict az, float soft)
{
    enum { WIDTH = 64 };
#pragma omp parallel for
    for (int64_t first = 0; first < n; first += WIDTH) {
        float sx[WIDTH] = {0}, sy[WIDTH] = {0}, sz[WIDTH] = {0};
        for (int64_t j = 0; j < n; j++)
            for (int k = 0; k < WIDTH; k++) { /* n is a multiple of WIDTH */
                float dx = x[j] - x[first + k], dy = y[j] - y[first + k], dz = z[j] - z[first + k];
                float r2 = dx * dx + dy * dy + dz * dz + soft, w = mass[j] / (r2 * sqrtf(r2));
                sx[k] += dx * w;
                sy[k] += dy * w;
                sz[k] += dz * w;
            }
        for (int k = 0; k < WIDTH; k++)
            ax[first + k] = sx[k], ay[first + k] = sy[k], az[first + k] = sz[k];
    }
}

void jacobi(int64_t rows, int64_t cols, const float *restrict u, float *restrict out)
{
#pragma omp parallel for
    for (int64_t y = 1; y < rows - 1; y++) {
        const float *p = u + y * cols;
        for (int64_t x = 1; x < cols - 1; x++)
            out[y * cols + x] = 0.25f * (p[x - cols] + p[x + cols] + p[x - 1] + p[x + 1]);
    }
}

void heat(int64_t n, const float *restrict u, float *restrict out, float alpha)
{
#pragma omp parallel for
    for (int64_t z = 1; z < n - 1; z++)
        for (int64_t y = 1; y < n - 1; y++) {
            const float *p = u + (z * n + y) * n;
            for (int64_t x = 1; x < n - 1; x++) {
                float around = p[x - n * n] + p[x + n * n] + p[x - n] + p[x + n];
                around += p[x - 1] + p[x + 1];
                out[(z * n + y) * n + x] = p[x] + alpha * (around - 6.0f * p[x]);
            }
        }
}
