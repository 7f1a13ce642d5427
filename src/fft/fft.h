/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside transforms. A plan is a list of passes, one for each factor of the length (Stockham's: every pass writes its
 * results where the next one reads them, so nothing is reversed at the end). A length with a large prime factor is a
 * convolution with a chirp instead (Bluestein's), by the plan of a good length.
 *
 * A long line is a matrix (sides.c): its columns are transformed, turned, then its rows, so that all passes find what
 * they read in a cache and have numbers that lie side by side.
 *
 * Several lines are transformed at once: element j of line l lies at [j * lanes + l], so that the inner loops of all
 * passes walk along memory. Real and imaginary parts lie apart; exchanging them makes a transform the inverse one.
 */
#ifndef TS_FFT_FFT_H
#define TS_FFT_FFT_H

#include "tessera/fft.h"
#include "base/base.h"
#include "base/widths.h"

#define FFT_FACTORS 64
#define FFT_PRIME 127 /* the largest factor that has a pass */
#define FFT_SIDE 16   /* columns or rows of a long line that are transformed together */
#define FFT_LONG 1024 /* length from which on a line is a matrix */

/* Eight numbers side by side. */
typedef double fft_vector __attribute__((vector_size(64), aligned(8), may_alias));
#define FFT_LANES 8
#define FFT_ALIGN 64 /* bytes: vectors that cross lines of the cache take twice the time */
#define FFT_WHOLE(n) (((n) + FFT_LANES - 1) / FFT_LANES * FFT_LANES)

typedef struct fft_pass {
    int64_t radix, rest; /* rest: length of the line / product of the factors so far, this one included */
    const double *twiddle; /* [rest][radix - 1] pairs */
    const double *roots;   /* [radix] pairs; NULL: the radix has a pass of its own */
} fft_pass;

/* Element j of a line is that of row j / n and column j % n, n the length of rows. Column c and row r after the first
 * transform are turned by w(length, c * r) = far[c / FFT_SIDE][r] * near[r][c % FFT_SIDE]. */
typedef struct fft_sides {
    ts_fft *columns, *rows; /* their plans; NULL: a line is no matrix */
    double *far, *near;     /* [.][columns->length] pairs; [columns->length][2] planes of FFT_SIDE */
    size_t far_bytes, near_bytes;
} fft_sides;

struct ts_fft {
    const ts_alloc *alloc;
    int64_t n;       /* of the lines */
    int64_t length;  /* of the complex transform: n, or n / 2 of a real plan of even n */
    int64_t room;    /* elements of a lane's buffer, with those that a matrix is transformed in */
    bool real;
    bool halves;     /* a real line is transformed as n / 2 complex numbers */
    int n_passes;
    fft_pass passes[FFT_FACTORS];
    double *table;   /* memory of what the passes point at */
    size_t table_bytes;
    double *split;   /* halves: [length / 2 + 1] pairs, exp(-2 pi i k / n) */
    size_t split_bytes;
    fft_sides sides;
    ts_fft *inner;   /* Bluestein's: the plan of the convolution, the chirp and its transform, in pairs */
    double *chirp, *filter;
    size_t chirp_bytes, filter_bytes;
};

typedef struct fft_planes {
    double *re, *im;
} fft_planes;

/* exp(-2 pi i k / n) for the k of one n: two tables of about sqrt(n) entries, multiplied. */
typedef struct fft_roots {
    const ts_alloc *alloc;
    int64_t n, step; /* step: 1 << shift */
    int shift;
    long double *fine, *coarse;
    size_t fine_bytes, coarse_bytes;
} fft_roots;
bool ts__fft_roots_begin(fft_roots *roots, const ts_alloc *alloc, int64_t n);
void ts__fft_roots_end(fft_roots *roots);
void ts__fft_root(const fft_roots *roots, int64_t k, double out[2]);

/* The complex transform of a plan on `lanes` lines in x; y is scratch, of as much room. The result lies in what is
 * returned, x or y. */
fft_planes ts__fft_transform(const ts_fft *plan, int64_t lanes, fft_planes x, fft_planes y);
/* The same of one line that is a matrix; the result lies in y. */
void ts__fft_matrix(const ts_fft *plan, fft_planes x, fft_planes y);
/* A plan of complex lines by passes, however long they are. */
ts_status ts__fft_passes_create(const ts_alloc *alloc, int64_t n, ts_fft **out, ts_error *err);
ts_status ts__fft_sides_create(ts_fft *plan, ts_error *err);
void ts__fft_sides_destroy(ts_fft *plan);
void ts__fft_pass(const fft_pass *pass, int64_t step, fft_planes x, fft_planes y);

#endif
