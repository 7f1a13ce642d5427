/* SPDX-License-Identifier: Apache-2.0
 *
 * One pass for each factor r of a line of length r * rest, `step` numbers side by side:
 *
 *     y[q + step * (r * p + j)] = w(r * rest, j * p) * sum over k of w(r, j * k) * x[q + step * (p + rest * k)]
 *
 * for p below rest, j below r, q below step, w(n, m) = exp(-2 pi i m / n).
 */
#include "fft/fft.h"

/* (re, im) times twiddle w, into y at `to`. */
#define PUT(to, re, im, w)                              \
    do {                                                \
        double re_ = (re), im_ = (im);                  \
        yr[to] = re_ * (w)[0] - im_ * (w)[1];           \
        yi[to] = re_ * (w)[1] + im_ * (w)[0];           \
    } while (0)
#define PLANES                                                      \
    const double *restrict xr = x.re, *restrict xi = x.im;          \
    double *restrict yr = y.re, *restrict yi = y.im;                \
    int64_t m = pass->rest

static void pass_2(const fft_pass *pass, int64_t s, fft_planes x, fft_planes y)
{
    PLANES;
    for (int64_t p = 0; p < m; p++) {
        const double *w = pass->twiddle + 2 * p;
        for (int64_t q = 0; q < s; q++) {
            int64_t a = q + s * p, b = a + s * m, to = q + s * 2 * p;
            yr[to] = xr[a] + xr[b];
            yi[to] = xi[a] + xi[b];
            PUT(to + s, xr[a] - xr[b], xi[a] - xi[b], w);
        }
    }
}

static void pass_3(const fft_pass *pass, int64_t s, fft_planes x, fft_planes y)
{
    PLANES;
    const double sine = 0.86602540378443864676; /* of a third of a turn */
    for (int64_t p = 0; p < m; p++) {
        const double *w = pass->twiddle + 4 * p;
        for (int64_t q = 0; q < s; q++) {
            int64_t a = q + s * p, b = a + s * m, c = b + s * m, to = q + s * 3 * p;
            double sum_r = xr[b] + xr[c], sum_i = xi[b] + xi[c];
            double mid_r = xr[a] - 0.5 * sum_r, mid_i = xi[a] - 0.5 * sum_i;
            double off_r = sine * (xi[b] - xi[c]), off_i = -sine * (xr[b] - xr[c]);
            yr[to] = xr[a] + sum_r;
            yi[to] = xi[a] + sum_i;
            PUT(to + s, mid_r + off_r, mid_i + off_i, w);
            PUT(to + 2 * s, mid_r - off_r, mid_i - off_i, w + 2);
        }
    }
}

static void pass_4(const fft_pass *pass, int64_t s, fft_planes x, fft_planes y)
{
    PLANES;
    for (int64_t p = 0; p < m; p++) {
        const double *w = pass->twiddle + 6 * p;
        for (int64_t q = 0; q < s; q++) {
            int64_t a = q + s * p, b = a + s * m, c = b + s * m, d = c + s * m, to = q + s * 4 * p;
            double ac_r = xr[a] + xr[c], ac_i = xi[a] + xi[c], a_c_r = xr[a] - xr[c], a_c_i = xi[a] - xi[c];
            double bd_r = xr[b] + xr[d], bd_i = xi[b] + xi[d], b_d_r = xr[b] - xr[d], b_d_i = xi[b] - xi[d];
            yr[to] = ac_r + bd_r;
            yi[to] = ac_i + bd_i;
            PUT(to + s, a_c_r + b_d_i, a_c_i - b_d_r, w);
            PUT(to + 2 * s, ac_r - bd_r, ac_i - bd_i, w + 2);
            PUT(to + 3 * s, a_c_r - b_d_i, a_c_i + b_d_r, w + 4);
        }
    }
}

static void pass_5(const fft_pass *pass, int64_t s, fft_planes x, fft_planes y)
{
    PLANES;
    const double c1 = 0.30901699437494742410, c2 = -0.80901699437494742410; /* of one and two fifths of a turn */
    const double s1 = 0.95105651629515357212, s2 = 0.58778525229247312917;
    for (int64_t p = 0; p < m; p++) {
        const double *w = pass->twiddle + 8 * p;
        for (int64_t q = 0; q < s; q++) {
            int64_t a = q + s * p, b = a + s * m, c = b + s * m, d = c + s * m, e = d + s * m, to = q + s * 5 * p;
            double be_r = xr[b] + xr[e], be_i = xi[b] + xi[e], b_e_r = xr[b] - xr[e], b_e_i = xi[b] - xi[e];
            double cd_r = xr[c] + xr[d], cd_i = xi[c] + xi[d], c_d_r = xr[c] - xr[d], c_d_i = xi[c] - xi[d];
            double u_r = xr[a] + c1 * be_r + c2 * cd_r, u_i = xi[a] + c1 * be_i + c2 * cd_i;
            double v_r = xr[a] + c2 * be_r + c1 * cd_r, v_i = xi[a] + c2 * be_i + c1 * cd_i;
            double f_r = s1 * b_e_i + s2 * c_d_i, f_i = -(s1 * b_e_r + s2 * c_d_r);
            double g_r = s2 * b_e_i - s1 * c_d_i, g_i = -(s2 * b_e_r - s1 * c_d_r);
            yr[to] = xr[a] + be_r + cd_r;
            yi[to] = xi[a] + be_i + cd_i;
            PUT(to + s, u_r + f_r, u_i + f_i, w);
            PUT(to + 2 * s, v_r + g_r, v_i + g_i, w + 2);
            PUT(to + 3 * s, v_r - g_r, v_i - g_i, w + 4);
            PUT(to + 4 * s, u_r - f_r, u_i - f_i, w + 6);
        }
    }
}

/* Any odd radix: elements k and r - k together, since their roots are conjugates. */
static void pass_any(const fft_pass *pass, int64_t s, fft_planes x, fft_planes y)
{
    PLANES;
    int64_t r = pass->radix;
    double sum_r[FFT_PRIME / 2 + 1], sum_i[FFT_PRIME / 2 + 1], off_r[FFT_PRIME / 2 + 1], off_i[FFT_PRIME / 2 + 1];
    for (int64_t p = 0; p < m; p++)
        for (int64_t q = 0; q < s; q++) {
            const double *w = pass->twiddle + 2 * (r - 1) * p;
            int64_t a = q + s * p, to = q + s * r * p;
            double all_r = xr[a], all_i = xi[a];
            for (int64_t k = 1; k <= r / 2; k++) {
                int64_t b = a + s * m * k, c = a + s * m * (r - k);
                sum_r[k] = xr[b] + xr[c], sum_i[k] = xi[b] + xi[c];
                off_r[k] = xr[b] - xr[c], off_i[k] = xi[b] - xi[c];
                all_r += sum_r[k], all_i += sum_i[k];
            }
            yr[to] = all_r, yi[to] = all_i;
            for (int64_t j = 1; j <= r / 2; j++) {
                double u_r = xr[a], u_i = xi[a], f_r = 0, f_i = 0;
                for (int64_t k = 1; k <= r / 2; k++) {
                    const double *root = pass->roots + 2 * (j * k % r);
                    u_r += root[0] * sum_r[k], u_i += root[0] * sum_i[k];
                    f_r -= root[1] * off_i[k], f_i += root[1] * off_r[k];
                }
                PUT(to + s * j, u_r + f_r, u_i + f_i, w + 2 * (j - 1));
                PUT(to + s * (r - j), u_r - f_r, u_i - f_i, w + 2 * (r - j - 1));
            }
        }
}

void ts__fft_pass(const fft_pass *pass, int64_t step, fft_planes x, fft_planes y)
{
    static void (*const own[])(const fft_pass *, int64_t, fft_planes, fft_planes) = {
        [2] = pass_2, [3] = pass_3, [4] = pass_4, [5] = pass_5};
    (pass->radix < 6 ? own[pass->radix] : pass_any)(pass, step, x, y);
}
