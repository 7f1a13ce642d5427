/* SPDX-License-Identifier: Apache-2.0
 *
 * Lines through a plan: some lines at a time are read side by side, transformed and stored.
 *
 * A real line x of even n is read as n / 2 complex numbers z[k] = x[2k] + i x[2k + 1]; the transforms of its even and
 * odd elements are the two symmetric parts of the transform Z, and X[k] = E[k] + exp(-2 pi i k / n) O[k].
 */
#include "fft/fft.h"

#define RUN_LANES 8            /* lines at a time, at most */
#define RUN_NUMBERS (1 << 13)  /* numbers of lines that are read together: what stays in the second cache */

/* ---- transforms ------------------------------------------------------------------------------------- */

static fft_planes run_passes(const ts_fft *plan, int64_t lanes, fft_planes x, fft_planes y)
{
    if (plan->sides.columns) {
        ts_assert(lanes == 1);
        ts__fft_matrix(plan, x, y);
        return y;
    }
    int64_t step = lanes;
    for (int i = 0; i < plan->n_passes; i++) {
        ts__fft_pass(&plan->passes[i], step, x, y);
        step *= plan->passes[i].radix;
        fft_planes t = x;
        x = y, y = t;
    }
    return x;
}

/* to[k] = from[k] * w[k], or its conjugate, for k below n. */
static void run_times(fft_planes from, fft_planes to, const double *w, int64_t n, int64_t lanes, bool conjugate)
{
    for (int64_t k = 0; k < n; k++)
        for (int64_t l = k * lanes; l < (k + 1) * lanes; l++) {
            double re = from.re[l] * w[2 * k] - from.im[l] * w[2 * k + 1];
            double im = from.re[l] * w[2 * k + 1] + from.im[l] * w[2 * k];
            to.re[l] = re, to.im[l] = conjugate ? -im : im;
        }
}

static fft_planes run_convolution(const ts_fft *plan, int64_t lanes, fft_planes x, fft_planes y)
{
    int64_t length = plan->inner->length;
    size_t used = (size_t)(plan->length * lanes), all = (size_t)(length * lanes);
    run_times(x, x, plan->chirp, plan->length, lanes, false);
    memset(x.re + used, 0, (all - used) * sizeof(double));
    memset(x.im + used, 0, (all - used) * sizeof(double));
    fft_planes z = run_passes(plan->inner, lanes, x, y);
    fft_planes other = z.re == x.re ? y : x;
    run_times(z, z, plan->filter, length, lanes, true); /* the inverse is the transform of conjugates */
    z = run_passes(plan->inner, lanes, z, other);
    for (size_t i = 0; i < used; i++)
        z.im[i] = -z.im[i];
    run_times(z, z, plan->chirp, plan->length, lanes, false);
    return z;
}

fft_planes ts__fft_transform(const ts_fft *plan, int64_t lanes, fft_planes x, fft_planes y)
{
    return plan->inner ? run_convolution(plan, lanes, x, y) : run_passes(plan, lanes, x, y);
}

/* ---- reading and storing ----------------------------------------------------------------------------- */

typedef struct run_line {
    const char *from;
    char *to;
} run_line;

typedef struct run_job {
    const ts_fft *plan;
    const ts_fft_lines *lines;
    run_line at[RUN_LANES];
    int64_t lanes, index[TS_FFT_RANK];
    fft_planes x, y;
} run_job;

static inline double run_get(const ts_fft_lines *lines, const char *from, int part)
{
    return lines->single ? ((const float *)(const void *)from)[part] : ((const double *)(const void *)from)[part];
}

static inline void run_put(const ts_fft_lines *lines, char *to, int part, double value)
{
    if (lines->single)
        ((float *)(void *)to)[part] = (float)(value * lines->factor);
    else
        ((double *)(void *)to)[part] = value * lines->factor;
}

static void run_zero(fft_planes x, int64_t from, int64_t to)
{
    if (from < to) {
        memset(x.re + from, 0, (size_t)(to - from) * sizeof(double));
        memset(x.im + from, 0, (size_t)(to - from) * sizeof(double));
    }
}

/* n pairs side by side, to two planes. */
TS_INLINE void run_split_loops(const double *from, double *re, double *im, int64_t n)
{
    int64_t k = 0;
    for (; k + FFT_LANES <= n; k += FFT_LANES) {
        fft_vector a = *(const fft_vector *)(from + 2 * k), b = *(const fft_vector *)(from + 2 * k + FFT_LANES);
        *(fft_vector *)(re + k) = __builtin_shufflevector(a, b, 0, 2, 4, 6, 8, 10, 12, 14);
        *(fft_vector *)(im + k) = __builtin_shufflevector(a, b, 1, 3, 5, 7, 9, 11, 13, 15);
    }
    for (; k < n; k++)
        re[k] = from[2 * k], im[k] = from[2 * k + 1];
}
TS_WIDTHS(run_split, (const double *from, double *re, double *im, int64_t n), (from, re, im, n))

/* The other way round, times a factor. */
TS_INLINE void run_join_loops(const double *re, const double *im, double factor, double *to, int64_t n)
{
    int64_t k = 0;
    for (; k + FFT_LANES <= n; k += FFT_LANES) {
        fft_vector a = *(const fft_vector *)(re + k) * factor, b = *(const fft_vector *)(im + k) * factor;
        *(fft_vector *)(to + 2 * k) = __builtin_shufflevector(a, b, 0, 8, 1, 9, 2, 10, 3, 11);
        *(fft_vector *)(to + 2 * k + FFT_LANES) = __builtin_shufflevector(a, b, 4, 12, 5, 13, 6, 14, 7, 15);
    }
    for (; k < n; k++)
        to[2 * k] = re[k] * factor, to[2 * k + 1] = im[k] * factor;
}
TS_WIDTHS(run_join, (const double *re, const double *im, double factor, double *to, int64_t n),
           (re, im, factor, to, n))

/* Whether so many doubles make an element and lie side by side: along a line of its own, or from line to line. */
static bool run_is_along(const run_job *job, int64_t step, int doubles)
{
    return !job->lines->single && job->lanes == 1 && step == doubles * (int64_t)sizeof(double);
}

static bool run_is_across(const run_job *job, bool is_to)
{
    bool is_across = !job->lines->single && job->lanes > 1;
    for (int64_t l = 1; l < job->lanes && is_across; l++) {
        ptrdiff_t step = is_to ? job->at[l].to - job->at[l - 1].to : job->at[l].from - job->at[l - 1].from;
        is_across = step == 2 * (ptrdiff_t)sizeof(double);
    }
    return is_across;
}

/* Complex lines: parts exchanged where the transform is the inverse one. */
static void run_read_complex(run_job *job)
{
    const ts_fft_lines *s = job->lines;
    int64_t lanes = job->lanes, n = TS_MIN(s->n_in, job->plan->n);
    double *re = s->inverse ? job->x.im : job->x.re, *im = s->inverse ? job->x.re : job->x.im;
    const char *at = job->at[0].from;
    run_zero(job->x, n * lanes, job->plan->n * lanes);
    if (run_is_along(job, s->from_step, 2)) {
        run_split((const double *)(const void *)at, re, im, n);
        return;
    }
    if (run_is_across(job, false)) {
        for (int64_t k = 0; k < n; k++, at += s->from_step)
            run_split((const double *)(const void *)at, re + k * lanes, im + k * lanes, lanes);
        return;
    }
    for (int64_t k = 0; k < n; k++)
        for (int64_t l = 0; l < lanes; l++) {
            re[k * lanes + l] = run_get(s, job->at[l].from + k * s->from_step, 0);
            im[k * lanes + l] = run_get(s, job->at[l].from + k * s->from_step, 1);
        }
}

static void run_store_complex(run_job *job, fft_planes z, int64_t n)
{
    const ts_fft_lines *s = job->lines;
    int64_t lanes = job->lanes;
    const double *re = s->inverse ? z.im : z.re, *im = s->inverse ? z.re : z.im;
    char *at = job->at[0].to;
    if (run_is_along(job, s->to_step, 2)) {
        run_join(re, im, s->factor, (double *)(void *)at, n);
        return;
    }
    if (run_is_across(job, true)) {
        for (int64_t k = 0; k < n; k++, at += s->to_step)
            run_join(re + k * lanes, im + k * lanes, s->factor, (double *)(void *)at, lanes);
        return;
    }
    for (int64_t k = 0; k < n; k++)
        for (int64_t l = 0; l < lanes; l++) {
            run_put(s, job->at[l].to + k * s->to_step, 0, re[k * lanes + l]);
            run_put(s, job->at[l].to + k * s->to_step, 1, im[k * lanes + l]);
        }
}

/* ---- real lines -------------------------------------------------------------------------------------- */

static void run_read_real(run_job *job)
{
    const ts_fft_lines *s = job->lines;
    int64_t lanes = job->lanes, n = TS_MIN(s->n_in, job->plan->n), step = s->from_step;
    bool halves = job->plan->halves;
    fft_planes x = job->x;
    run_zero(x, (halves ? n >> 1 : n) * lanes, job->plan->length * lanes);
    if (halves && run_is_along(job, step, 1)) {
        run_split((const double *)(const void *)job->at[0].from, x.re, x.im, n >> 1);
    } else if (halves) {
        for (int64_t k = 0; k < n >> 1; k++)
            for (int64_t l = 0; l < lanes; l++) {
                x.re[k * lanes + l] = run_get(s, job->at[l].from + 2 * k * step, 0);
                x.im[k * lanes + l] = run_get(s, job->at[l].from + (2 * k + 1) * step, 0);
            }
    } else {
        for (int64_t k = 0; k < n; k++)
            for (int64_t l = 0; l < lanes; l++)
                x.re[k * lanes + l] = run_get(s, job->at[l].from + k * step, 0);
        memset(x.im, 0, (size_t)(job->plan->length * lanes) * sizeof(double));
    }
    for (int64_t l = 0; l < lanes && halves && n & 1; l++)
        x.re[(n >> 1) * lanes + l] = run_get(s, job->at[l].from + (n - 1) * step, 0);
}

/* The transform of a real line from that of its halves; stored as n / 2 + 1 numbers. */
static void run_store_halves(run_job *job, fft_planes z)
{
    const ts_fft_lines *s = job->lines;
    int64_t lanes = job->lanes, h = job->plan->length;
    for (int64_t l = 0; l < lanes; l++)
        for (int64_t k = 0; k <= h - k; k++) {
            int64_t a = k * lanes + l, b = (h - k) % h * lanes + l;
            const double *w = job->plan->split + 2 * k;
            double even_r = 0.5 * (z.re[a] + z.re[b]), even_i = 0.5 * (z.im[a] - z.im[b]);
            double odd_r = 0.5 * (z.im[a] + z.im[b]), odd_i = -0.5 * (z.re[a] - z.re[b]);
            double t_r = odd_r * w[0] - odd_i * w[1], t_i = odd_r * w[1] + odd_i * w[0];
            char *low = job->at[l].to + k * s->to_step, *high = job->at[l].to + (h - k) * s->to_step;
            run_put(s, low, 0, even_r + t_r);
            run_put(s, low, 1, k ? even_i + t_i : 0);
            if (k == h - k)
                continue;
            run_put(s, high, 0, even_r - t_r);
            run_put(s, high, 1, k ? t_i - even_i : 0);
        }
}

/* Element k of a line's n / 2 + 1; the imaginary parts of the first and, of even n, the last one do not count. */
static void run_get_half(const run_job *job, int64_t l, int64_t k, double out[2])
{
    const ts_fft_lines *s = job->lines;
    bool is_real = k == 0 || 2 * k == job->plan->n;
    out[0] = k < s->n_in ? run_get(s, job->at[l].from + k * s->from_step, 0) : 0;
    out[1] = k < s->n_in && !is_real ? run_get(s, job->at[l].from + k * s->from_step, 1) : 0;
}

/* Complex lines of n / 2 + 1 numbers, as what gives the real line: its halves, or all n with their conjugates. Parts
 * are exchanged. */
static void run_read_halves(run_job *job)
{
    int64_t lanes = job->lanes, h = job->plan->length;
    double *re = job->x.im, *im = job->x.re, a[2], b[2];
    for (int64_t l = 0; l < lanes; l++)
        for (int64_t k = 0; k <= h - k; k++) {
            const double *w = job->plan->split + 2 * k;
            run_get_half(job, l, k, a);
            run_get_half(job, l, h - k, b);
            double even_r = a[0] + b[0], even_i = a[1] - b[1], off_r = a[0] - b[0], off_i = a[1] + b[1];
            double odd_r = off_r * w[0] + off_i * w[1], odd_i = off_i * w[0] - off_r * w[1];
            re[k * lanes + l] = even_r - odd_i;
            im[k * lanes + l] = even_i + odd_r;
            if (!k || k == h - k)
                continue;
            re[(h - k) * lanes + l] = even_r + odd_i;
            im[(h - k) * lanes + l] = odd_r - even_i;
        }
}

static void run_read_hermitian(run_job *job)
{
    int64_t lanes = job->lanes, n = job->plan->n;
    double *re = job->x.im, *im = job->x.re, a[2];
    for (int64_t l = 0; l < lanes; l++)
        for (int64_t k = 0; k <= n / 2; k++) {
            run_get_half(job, l, k, a);
            re[k * lanes + l] = a[0], im[k * lanes + l] = a[1];
            if (k)
                re[(n - k) * lanes + l] = a[0], im[(n - k) * lanes + l] = -a[1];
        }
}

/* Parts are exchanged. */
static void run_store_real(run_job *job, fft_planes z)
{
    const ts_fft_lines *s = job->lines;
    int64_t lanes = job->lanes, n = job->plan->n, step = s->to_step;
    if (job->plan->halves && run_is_along(job, step, 1)) {
        run_join(z.im, z.re, s->factor, (double *)(void *)job->at[0].to, n >> 1);
        return;
    }
    for (int64_t k = 0; k < n && !job->plan->halves; k++)
        for (int64_t l = 0; l < lanes; l++)
            run_put(s, job->at[l].to + k * step, 0, z.im[k * lanes + l]);
    for (int64_t k = 0; k < n >> 1 && job->plan->halves; k++)
        for (int64_t l = 0; l < lanes; l++) {
            run_put(s, job->at[l].to + 2 * k * step, 0, z.im[k * lanes + l]);
            run_put(s, job->at[l].to + (2 * k + 1) * step, 0, z.re[k * lanes + l]);
        }
}

/* ---- a call ------------------------------------------------------------------------------------------ */

static void run_some(run_job *job)
{
    const ts_fft *plan = job->plan;
    bool to_real = plan->real && job->lines->inverse;
    if (to_real)
        (plan->halves ? run_read_halves : run_read_hermitian)(job);
    else
        (plan->real ? run_read_real : run_read_complex)(job);
    fft_planes z = ts__fft_transform(plan, job->lanes, job->x, job->y);
    if (to_real)
        run_store_real(job, z);
    else if (plan->halves)
        run_store_halves(job, z);
    else
        run_store_complex(job, z, plan->real ? plan->n / 2 + 1 : plan->n);
}

/* The next line in row-major order; false: there is none. */
static bool run_next(run_job *job, run_line *line)
{
    const ts_fft_lines *s = job->lines;
    for (int d = s->rank - 1; d >= 0; d--) {
        line->from += s->from_strides[d];
        line->to += s->to_strides[d];
        if (++job->index[d] < s->shape[d])
            return true;
        line->from -= s->from_strides[d] * s->shape[d];
        line->to -= s->to_strides[d] * s->shape[d];
        job->index[d] = 0;
    }
    return false;
}

ts_status ts_fft_run(const ts_fft *plan, const ts_fft_lines *lines, ts_error *err)
{
    int64_t n_lines = 1;
    for (int d = 0; d < lines->rank; d++)
        n_lines *= lines->shape[d];
    if (n_lines == 0)
        return TS_OK;
    bool is_matrix = (plan->inner ? plan->inner : plan)->sides.columns;
    int64_t most = is_matrix ? 1 : TS_MIN(TS_MAX(RUN_NUMBERS / plan->room, 1), TS_MIN(n_lines, RUN_LANES));
    size_t plane = (size_t)FFT_WHOLE(plan->room * most), bytes = 4 * plane * sizeof(double) + FFT_ALIGN;
    char *room = plan->alloc->resize(plan->alloc->user, NULL, 0, bytes);
    if (!room)
        return ts_fail(err, TS_NOMEM, "out of memory for transforms of length %lld", (long long)plan->n);
    double *work = (double *)(void *)(room + (FFT_ALIGN - (uintptr_t)room % FFT_ALIGN));
    run_job job = {.plan = plan, .lines = lines, .x = {work, work + plane}, .y = {work + 2 * plane, work + 3 * plane}};
    run_line line = {lines->from, lines->to};
    for (bool more = true; more;) {
        for (job.lanes = 0; more && job.lanes < most; more = run_next(&job, &line))
            job.at[job.lanes++] = line;
        run_some(&job);
    }
    plan->alloc->resize(plan->alloc->user, room, bytes, 0);
    return TS_OK;
}
