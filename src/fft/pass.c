/* SPDX-License-Identifier: Apache-2.0
 *
 * One pass for each factor r of a line of length r * rest, `step` numbers side by side:
 *
 *     y[q + step * (r * p + j)] = w(r * rest, j * p) * sum over k of w(r, j * k) * x[q + step * (p + rest * k)]
 *
 * for p below rest, j below r, q below step, w(n, m) = exp(-2 pi i m / n). Each is written once, for one number and for
 * eight side by side.
 */
#include "fft/fft.h"

#define PASS_PLANES                                                              \
    const double *xr = x.re, *xi = x.im;                                         \
    double *yr = y.re, *yi = y.im;                                               \
    int64_t m = pass->rest
#define PASS_GET(number, name, at)                                               \
    number name##_r = *(const number *)(xr + (at)), name##_i = *(const number *)(xi + (at))
#define PASS_PUT(number, to, re, im) (*(number *)(yr + (to)) = (re), *(number *)(yi + (to)) = (im))
/* (re, im) times twiddle w. */
#define PASS_TURN(number, to, re, im, w)                                         \
    do {                                                                         \
        number re_ = (re), im_ = (im);                                           \
        PASS_PUT(number, to, re_ * (w)[0] - im_ * (w)[1], re_ * (w)[1] + im_ * (w)[0]); \
    } while (0)

#define PASS_OF(number)                                                                                             \
    TS_INLINE void number##_2(const fft_pass *pass, int64_t s, int64_t p, int64_t q, fft_planes x, fft_planes y)    \
    {                                                                                                               \
        PASS_PLANES;                                                                                                \
        const double *w = pass->twiddle + 2 * p;                                                                    \
        int64_t to = q + s * 2 * p;                                                                                 \
        PASS_GET(number, a, q + s * p);                                                                             \
        PASS_GET(number, b, q + s * (p + m));                                                                       \
        PASS_PUT(number, to, a_r + b_r, a_i + b_i);                                                                 \
        PASS_TURN(number, to + s, a_r - b_r, a_i - b_i, w);                                                         \
    }                                                                                                               \
    TS_INLINE void number##_3(const fft_pass *pass, int64_t s, int64_t p, int64_t q, fft_planes x, fft_planes y)    \
    {                                                                                                               \
        PASS_PLANES;                                                                                                \
        const double sine = 0.86602540378443864676; /* of a third of a turn */                                      \
        const double *w = pass->twiddle + 4 * p;                                                                    \
        int64_t to = q + s * 3 * p;                                                                                 \
        PASS_GET(number, a, q + s * p);                                                                             \
        PASS_GET(number, b, q + s * (p + m));                                                                       \
        PASS_GET(number, c, q + s * (p + 2 * m));                                                                   \
        number sum_r = b_r + c_r, sum_i = b_i + c_i;                                                                \
        number mid_r = a_r - 0.5 * sum_r, mid_i = a_i - 0.5 * sum_i;                                                \
        number off_r = sine * (b_i - c_i), off_i = -sine * (b_r - c_r);                                             \
        PASS_PUT(number, to, a_r + sum_r, a_i + sum_i);                                                             \
        PASS_TURN(number, to + s, mid_r + off_r, mid_i + off_i, w);                                                 \
        PASS_TURN(number, to + 2 * s, mid_r - off_r, mid_i - off_i, w + 2);                                         \
    }                                                                                                               \
    TS_INLINE void number##_4(const fft_pass *pass, int64_t s, int64_t p, int64_t q, fft_planes x, fft_planes y)    \
    {                                                                                                               \
        PASS_PLANES;                                                                                                \
        const double *w = pass->twiddle + 6 * p;                                                                    \
        int64_t to = q + s * 4 * p;                                                                                 \
        PASS_GET(number, a, q + s * p);                                                                             \
        PASS_GET(number, b, q + s * (p + m));                                                                       \
        PASS_GET(number, c, q + s * (p + 2 * m));                                                                   \
        PASS_GET(number, d, q + s * (p + 3 * m));                                                                   \
        number ac_r = a_r + c_r, ac_i = a_i + c_i, a_c_r = a_r - c_r, a_c_i = a_i - c_i;                            \
        number bd_r = b_r + d_r, bd_i = b_i + d_i, b_d_r = b_r - d_r, b_d_i = b_i - d_i;                            \
        PASS_PUT(number, to, ac_r + bd_r, ac_i + bd_i);                                                             \
        PASS_TURN(number, to + s, a_c_r + b_d_i, a_c_i - b_d_r, w);                                                 \
        PASS_TURN(number, to + 2 * s, ac_r - bd_r, ac_i - bd_i, w + 2);                                             \
        PASS_TURN(number, to + 3 * s, a_c_r - b_d_i, a_c_i + b_d_r, w + 4);                                         \
    }                                                                                                               \
    TS_INLINE void number##_5(const fft_pass *pass, int64_t s, int64_t p, int64_t q, fft_planes x, fft_planes y)    \
    {                                                                                                               \
        PASS_PLANES;                                                                                                \
        const double c1 = 0.30901699437494742410, c2 = -0.80901699437494742410; /* of one and two fifths of a turn */\
        const double s1 = 0.95105651629515357212, s2 = 0.58778525229247312917;                                      \
        const double *w = pass->twiddle + 8 * p;                                                                    \
        int64_t to = q + s * 5 * p;                                                                                 \
        PASS_GET(number, a, q + s * p);                                                                             \
        PASS_GET(number, b, q + s * (p + m));                                                                       \
        PASS_GET(number, c, q + s * (p + 2 * m));                                                                   \
        PASS_GET(number, d, q + s * (p + 3 * m));                                                                   \
        PASS_GET(number, e, q + s * (p + 4 * m));                                                                   \
        number be_r = b_r + e_r, be_i = b_i + e_i, b_e_r = b_r - e_r, b_e_i = b_i - e_i;                            \
        number cd_r = c_r + d_r, cd_i = c_i + d_i, c_d_r = c_r - d_r, c_d_i = c_i - d_i;                            \
        number u_r = a_r + c1 * be_r + c2 * cd_r, u_i = a_i + c1 * be_i + c2 * cd_i;                                \
        number v_r = a_r + c2 * be_r + c1 * cd_r, v_i = a_i + c2 * be_i + c1 * cd_i;                                \
        number f_r = s1 * b_e_i + s2 * c_d_i, f_i = -(s1 * b_e_r + s2 * c_d_r);                                     \
        number g_r = s2 * b_e_i - s1 * c_d_i, g_i = -(s2 * b_e_r - s1 * c_d_r);                                     \
        PASS_PUT(number, to, a_r + be_r + cd_r, a_i + be_i + cd_i);                                                 \
        PASS_TURN(number, to + s, u_r + f_r, u_i + f_i, w);                                                         \
        PASS_TURN(number, to + 2 * s, v_r + g_r, v_i + g_i, w + 2);                                                 \
        PASS_TURN(number, to + 3 * s, v_r - g_r, v_i - g_i, w + 4);                                                 \
        PASS_TURN(number, to + 4 * s, u_r - f_r, u_i - f_i, w + 6);                                                 \
    }                                                                                                               \
    /* Any odd radix: elements k and r - k together, since their roots are conjugates. */                           \
    TS_INLINE void number##_odd(const fft_pass *pass, int64_t s, int64_t p, int64_t q, fft_planes x, fft_planes y)  \
    {                                                                                                               \
        enum { HALF = FFT_PRIME / 2 + 1 };                                                                          \
        PASS_PLANES;                                                                                                \
        number sum_r[HALF], sum_i[HALF], off_r[HALF], off_i[HALF];                                                  \
        int64_t r = pass->radix, to = q + s * r * p;                                                                \
        const double *w = pass->twiddle + 2 * (r - 1) * p;                                                          \
        PASS_GET(number, a, q + s * p);                                                                             \
        number all_r = a_r, all_i = a_i;                                                                            \
        for (int64_t k = 1; k <= r / 2; k++) {                                                                      \
            PASS_GET(number, b, q + s * (p + m * k));                                                               \
            PASS_GET(number, c, q + s * (p + m * (r - k)));                                                         \
            sum_r[k] = b_r + c_r, sum_i[k] = b_i + c_i;                                                             \
            off_r[k] = b_r - c_r, off_i[k] = b_i - c_i;                                                             \
            all_r += sum_r[k], all_i += sum_i[k];                                                                   \
        }                                                                                                           \
        PASS_PUT(number, to, all_r, all_i);                                                                         \
        for (int64_t j = 1; j <= r / 2; j++) {                                                                      \
            number u_r = a_r, u_i = a_i, f_r = {0}, f_i = {0};                                                      \
            for (int64_t k = 1, turn = j; k <= r / 2; k++, turn = turn + j < r ? turn + j : turn + j - r) {         \
                const double *root = pass->roots + 2 * turn;                                                        \
                u_r += root[0] * sum_r[k], u_i += root[0] * sum_i[k];                                               \
                f_r -= root[1] * off_i[k], f_i += root[1] * off_r[k];                                               \
            }                                                                                                       \
            PASS_TURN(number, to + s * j, u_r + f_r, u_i + f_i, w + 2 * (j - 1));                                   \
            PASS_TURN(number, to + s * (r - j), u_r - f_r, u_i - f_i, w + 2 * (r - j - 1));                         \
        }                                                                                                           \
    }
PASS_OF(double)
PASS_OF(fft_vector)

#define PASS_ALL(radix)                                                          \
    for (int64_t p = 0; p < pass->rest; p++) {                                   \
        int64_t q = 0;                                                           \
        for (; q + FFT_LANES <= step; q += FFT_LANES)                            \
            fft_vector_##radix(pass, step, p, q, x, y);                          \
        for (; q < step; q++)                                                    \
            double_##radix(pass, step, p, q, x, y);                              \
    }                                                                            \
    break

TS_INLINE void passes_loops(const fft_pass *pass, int64_t step, fft_planes x, fft_planes y)
{
    switch (pass->radix) {
    case 2:
        PASS_ALL(2);
    case 3:
        PASS_ALL(3);
    case 4:
        PASS_ALL(4);
    case 5:
        PASS_ALL(5);
    default:
        PASS_ALL(odd);
    }
}
TS_WIDTHS(passes, (const fft_pass *pass, int64_t step, fft_planes x, fft_planes y), (pass, step, x, y))

void ts__fft_pass(const fft_pass *pass, int64_t step, fft_planes x, fft_planes y)
{
    passes(pass, step, x, y);
}
