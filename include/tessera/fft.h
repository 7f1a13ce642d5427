/* SPDX-License-Identifier: Apache-2.0
 *
 * Discrete Fourier transforms of lines in host memory: any length, complex or real, float32 or float64.
 *
 *     ts_fft *plan;
 *     ts_fft_create(NULL, 1000, false, &plan, &err);
 *     ts_fft_lines lines = {.n_in = 1000, .from = x, .from_step = 16, .to = y, .to_step = 16, .factor = 1};
 *     ts_fft_run(plan, &lines, &err);                                 y[k] = sum of x[j] * exp(-2 pi i j k / 1000)
 *     ts_fft_destroy(plan);
 *
 * A plan holds what depends on the length alone (factors, twiddles); it never changes, so threads may share one.
 * Everything is computed in float64; float32 is rounded once, when it is stored.
 */
#ifndef TESSERA_FFT_H
#define TESSERA_FFT_H

#include "tessera/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A plan for lines of n elements. real: the lines of one side are real, those of the other complex and n / 2 + 1 long,
 * since the rest would be conjugates; such a plan does half the work.
 * Owns: *out is the caller's, ended by ts_fft_destroy. Errors: TS_VALUE for n < 1 or too large, TS_NOMEM. */
typedef struct ts_fft ts_fft;
TS_API TS_CHECKED ts_status ts_fft_create(const ts_alloc *alloc, int64_t n, bool real, ts_fft **out, ts_error *err);
/* Ends a plan that no call uses any more; NULL: nothing to do. */
TS_API void ts_fft_destroy(ts_fft *plan);
/* Whether the plan is real, and the elements of a line that a call of it writes: n, or n / 2 + 1 of a real plan that is
 * not inverse. */
TS_API bool ts_fft_is_real(const ts_fft *plan);
TS_API int64_t ts_fft_result(const ts_fft *plan, bool inverse);
/* The bytes of a plan: 1 to 17 for each element, but some 50 where a prime factor of the length is large. */
TS_API size_t ts_fft_bytes(const ts_fft *plan);

/* The most axes that lines may lie along. */
#define TS_FFT_RANK 64

/* The lines of one call: shape[rank] of them, whose first elements are from_strides and to_strides bytes apart.
 * Elements of a line are from_step and to_step bytes apart; all strides may have any sign. A line is as long as the
 * plan's: it reads n_in elements and zeros behind them, or leaves out what is more. Lines may be written where they are
 * read if both lie alike. */
typedef struct ts_fft_lines {
    bool inverse;  /* exp(+2 pi i j k / n). Of a real plan: complex lines to real ones */
    bool single;   /* elements are float32 and pairs of them, else float64 */
    double factor; /* what every result is multiplied by */
    int64_t n_in;
    const void *from;
    void *to;
    int64_t from_step, to_step;
    int rank;
    int64_t shape[TS_FFT_RANK], from_strides[TS_FFT_RANK], to_strides[TS_FFT_RANK];
} ts_fft_lines;

/* Transforms every line of a call; the work is done when it returns. Threads: safe. Errors: TS_NOMEM. */
TS_API TS_CHECKED ts_status ts_fft_run(const ts_fft *plan, const ts_fft_lines *lines, ts_error *err);

#ifdef __cplusplus
}
#endif
#endif
