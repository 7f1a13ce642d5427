/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside transforms. A plan is a list of passes, one for each factor of the length (Stockham's: every pass writes its
 * results where the next one reads them, so nothing is reversed at the end). A length with a large prime factor is a
 * convolution with a chirp instead (Bluestein's), by the plan of a good length.
 *
 * Several lines are transformed at once: element j of line l lies at [j * lanes + l], so that the inner loops of all
 * passes walk along memory. Real and imaginary parts lie apart; exchanging them makes a transform the inverse one.
 */
#ifndef TS_FFT_FFT_H
#define TS_FFT_FFT_H

#include "tessera/fft.h"
#include "base/base.h"

#define FFT_FACTORS 64
#define FFT_PRIME 31 /* the largest factor that has a pass */

typedef struct fft_pass {
    int64_t radix, rest; /* rest: length of the line / product of the factors so far, this one included */
    const double *twiddle; /* [rest][radix - 1] pairs */
    const double *roots;   /* [radix] pairs; NULL: the radix has a pass of its own */
} fft_pass;

struct ts_fft {
    const ts_alloc *alloc;
    int64_t n;       /* of the lines */
    int64_t length;  /* of the complex transform: n, or n / 2 of a real plan of even n */
    int64_t room;    /* elements of a lane's buffer */
    bool real;
    bool halves;     /* a real line is transformed as n / 2 complex numbers */
    int n_passes;
    fft_pass passes[FFT_FACTORS];
    double *table;   /* memory of what the passes point at */
    size_t table_bytes;
    double *split;   /* halves: [length / 2 + 1] pairs, exp(-2 pi i k / n) */
    size_t split_bytes;
    ts_fft *inner;   /* Bluestein's: the plan of the convolution, the chirp [length] and its transform [room] pairs */
    double *chirp, *filter;
    size_t chirp_bytes, filter_bytes;
};

typedef struct fft_planes {
    double *re, *im;
} fft_planes;

/* exp(-2 pi i k / n) for the k of one n: two tables of about sqrt(n) entries, multiplied. */
typedef struct fft_roots {
    const ts_alloc *alloc;
    int64_t n, step;
    long double *fine, *coarse;
    size_t fine_bytes, coarse_bytes;
} fft_roots;
bool ts__fft_roots_begin(fft_roots *roots, const ts_alloc *alloc, int64_t n);
void ts__fft_roots_end(fft_roots *roots);
void ts__fft_root(const fft_roots *roots, int64_t k, double out[2]);

/* The complex transform of a plan on `lanes` lines in x; y is scratch, of as much room. The result lies in what is
 * returned, x or y. */
fft_planes ts__fft_transform(const ts_fft *plan, int64_t lanes, fft_planes x, fft_planes y);
void ts__fft_pass(const fft_pass *pass, int64_t step, fft_planes x, fft_planes y);

#endif
