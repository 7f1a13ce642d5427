/* SPDX-License-Identifier: Apache-2.0
 *
 * One pass for each factor r of a line of length r * rest, `step` numbers side by side:
 *
 *     y[q + step * (r * p + j)] = w(r * rest, j * p) * sum over k of w(r, j * k) * x[q + step * (p + rest * k)]
 *
 * for p below rest, j below r, q below step, w(n, m) = exp(-2 pi i m / n). Each is written once (radix.def), for one
 * number and for eight side by side.
 */
#include "fft/fft.h"

#define PASS_PLANES                                                              \
    const double *xr = x.re, *xi = x.im;                                         \
    double *yr = y.re, *yi = y.im;                                               \
    int64_t m = pass->rest
#define PASS_GET(name, at)                                                       \
    NUMBER name##_r = *(const NUMBER *)(xr + (at)), name##_i = *(const NUMBER *)(xi + (at))
#define PASS_PUT(to, re, im) (*(NUMBER *)(yr + (to)) = (re), *(NUMBER *)(yi + (to)) = (im))
/* (re, im) times twiddle w. */
#define PASS_TURN(to, re, im, w)                                                 \
    do {                                                                         \
        NUMBER re_ = (re), im_ = (im);                                           \
        PASS_PUT(to, re_ * (w)[0] - im_ * (w)[1], re_ * (w)[1] + im_ * (w)[0]);  \
    } while (0)
#define PASS_JOIN(number, radix) PASS_PASTE(number, radix)
#define PASS_PASTE(number, radix) number##_##radix

#define NUMBER double
#include "fft/radix.def"
#define NUMBER fft_vector
#include "fft/radix.def"

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
