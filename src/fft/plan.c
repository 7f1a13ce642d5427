/* SPDX-License-Identifier: Apache-2.0
 *
 * Plans: the factors of a length, and tables of roots of unity. Roots are rounded once, from long double.
 */
#include "fft/fft.h"
#include <math.h>

#define FFT_LONGEST ((int64_t)1 << 40)

static void *plan_get(const ts_alloc *alloc, size_t bytes)
{
    return alloc->resize(alloc->user, NULL, 0, bytes ? bytes : 1);
}

static void plan_free(const ts_alloc *alloc, void *block, size_t bytes)
{
    if (block)
        alloc->resize(alloc->user, block, bytes ? bytes : 1, 0);
}

/* exp(-2 pi i k / n), the angle brought into an eighth of a turn first, so that equal values are equal to the bit. */
static void plan_exact_root(int64_t k, int64_t n, long double out[2])
{
    const long double turn = 6.28318530717958647692528676655900577L;
    int64_t eighths = 8 * k / n;
    int64_t part = eighths & 1 ? (eighths + 1) * n - 8 * k : 8 * k - eighths * n; /* in eighths of a turn, times n */
    long double angle = turn / 8 * ((long double)part / (long double)n);
    long double c = cosl(angle), s = sinl(angle);
    bool swaps = eighths == 1 || eighths == 2 || eighths == 5 || eighths == 6;
    long double re = swaps ? s : c, im = swaps ? c : s;
    out[0] = eighths >= 2 && eighths < 6 ? -re : re;
    out[1] = eighths < 4 ? -im : im;
}

bool ts__fft_roots_begin(fft_roots *roots, const ts_alloc *alloc, int64_t n)
{
    int64_t step = 1;
    while (step * step < n)
        step *= 2;
    int64_t n_coarse = n / step + 1;
    *roots = (fft_roots){.alloc = alloc, .n = n, .step = step, .fine_bytes = (size_t)step * 2 * sizeof(long double),
                         .coarse_bytes = (size_t)n_coarse * 2 * sizeof(long double)};
    roots->shift = __builtin_ctzll((uint64_t)step);
    roots->fine = plan_get(alloc, roots->fine_bytes);
    roots->coarse = plan_get(alloc, roots->coarse_bytes);
    if (!roots->fine || !roots->coarse) {
        ts__fft_roots_end(roots);
        return false;
    }
    for (int64_t i = 0; i < step; i++)
        plan_exact_root(i % n, n, roots->fine + 2 * i);
    for (int64_t i = 0; i < n_coarse; i++)
        plan_exact_root(i * step % n, n, roots->coarse + 2 * i);
    return true;
}

void ts__fft_roots_end(fft_roots *roots)
{
    plan_free(roots->alloc, roots->fine, roots->fine_bytes);
    plan_free(roots->alloc, roots->coarse, roots->coarse_bytes);
    roots->fine = roots->coarse = NULL;
}

void ts__fft_root(const fft_roots *roots, int64_t k, double out[2])
{
    k = k < roots->n ? k : k % roots->n;
    const long double *a = roots->coarse + 2 * (k >> roots->shift), *b = roots->fine + 2 * (k & (roots->step - 1));
    out[0] = (double)(a[0] * b[0] - a[1] * b[1]);
    out[1] = (double)(a[0] * b[1] + a[1] * b[0]);
}

/* Factors of n, 4 before 2, in `out`; their number, or -1: one is larger than a pass takes. */
static int plan_factors(int64_t n, int64_t out[FFT_FACTORS])
{
    int count = 0;
    for (; n % 4 == 0; n /= 4)
        out[count++] = 4;
    for (int64_t f = 2; f <= FFT_PRIME; f++)
        for (; n % f == 0; n /= f)
            out[count++] = f;
    return n == 1 ? count : -1;
}

/* The least length from n on that has no factors but 2, 3 and 5. */
static int64_t plan_good_length(int64_t n)
{
    int64_t best = 1;
    while (best < n)
        best *= 2;
    for (int64_t five = 1; five < best; five *= 5)
        for (int64_t three = five; three < best; three *= 3) {
            int64_t two = three;
            while (two < n)
                two *= 2;
            best = two < best ? two : best;
        }
    return best;
}

static bool plan_fill(ts_fft *plan, const int64_t *factors, int n_factors)
{
    size_t pairs = 0;
    int64_t rest = plan->length;
    for (int i = 0; i < n_factors; i++) {
        rest /= factors[i];
        pairs += (size_t)((factors[i] - 1) * rest + (factors[i] > 5 ? factors[i] : 0));
    }
    fft_roots roots;
    plan->table_bytes = pairs * 2 * sizeof(double);
    plan->table = plan_get(plan->alloc, plan->table_bytes);
    if (!plan->table || !ts__fft_roots_begin(&roots, plan->alloc, plan->length))
        return false;
    double *at = plan->table;
    rest = plan->length;
    for (int i = 0; i < n_factors; i++) {
        int64_t r = factors[i], whole = rest;
        rest /= r;
        fft_pass *pass = &plan->passes[plan->n_passes++];
        *pass = (fft_pass){.radix = r, .rest = rest, .twiddle = at};
        for (int64_t p = 0; p < rest; p++)
            for (int64_t j = 1; j < r; j++, at += 2)
                ts__fft_root(&roots, j * p * (plan->length / whole), at);
        pass->roots = r > 5 ? at : NULL;
        for (int64_t j = 0; j < (r > 5 ? r : 0); j++, at += 2)
            ts__fft_root(&roots, j * (plan->length / r), at);
    }
    ts__fft_roots_end(&roots);
    return true;
}

/* Bluestein's: j * k = (j * j + k * k - (k - j) * (k - j)) / 2, so a transform is a convolution with
 * exp(pi i j j / n); the filter is its transform, divided by the length of the convolution. */
static ts_status plan_chirp(ts_fft *plan, ts_error *err)
{
    int64_t n = plan->length, room = plan_good_length(2 * n - 1);
    TS_TRY(ts_fft_create(plan->alloc, room, false, &plan->inner, err));
    plan->room = plan->inner->room;
    plan->chirp_bytes = (size_t)n * 2 * sizeof(double);
    plan->filter_bytes = (size_t)room * 2 * sizeof(double);
    plan->chirp = plan_get(plan->alloc, plan->chirp_bytes);
    plan->filter = plan_get(plan->alloc, plan->filter_bytes);
    size_t plane = (size_t)plan->room, work_bytes = 4 * plane * sizeof(double);
    double *work = plan_get(plan->alloc, work_bytes);
    fft_roots roots;
    if (!plan->chirp || !plan->filter || !work || !ts__fft_roots_begin(&roots, plan->alloc, 2 * n)) {
        plan_free(plan->alloc, work, work_bytes);
        return ts_fail(err, TS_NOMEM, "out of memory for a transform of length %lld", (long long)n);
    }
    memset(work, 0, work_bytes);
    fft_planes x = {work, work + plane}, y = {work + 2 * plane, work + 3 * plane};
    for (int64_t k = 0, square = 0; k < n; square = (square + 2 * k + 1) % (2 * n), k++) {
        double *c = plan->chirp + 2 * k;
        ts__fft_root(&roots, square, c);
        x.re[k] = x.re[(room - k) % room] = c[0] / (double)room;
        x.im[k] = x.im[(room - k) % room] = -c[1] / (double)room;
    }
    ts__fft_roots_end(&roots);
    x = ts__fft_transform(plan->inner, 1, x, y);
    for (int64_t k = 0; k < room; k++) {
        plan->filter[2 * k] = x.re[k];
        plan->filter[2 * k + 1] = x.im[k];
    }
    plan_free(plan->alloc, work, work_bytes);
    return TS_OK;
}

static bool plan_split(ts_fft *plan)
{
    fft_roots roots;
    plan->split_bytes = (size_t)(plan->length / 2 + 1) * 2 * sizeof(double);
    plan->split = plan_get(plan->alloc, plan->split_bytes);
    if (!plan->split || !ts__fft_roots_begin(&roots, plan->alloc, plan->n))
        return false;
    for (int64_t k = 0; k <= plan->length / 2; k++)
        ts__fft_root(&roots, k, plan->split + 2 * k);
    ts__fft_roots_end(&roots);
    return true;
}

/* The tables of a plan. by_passes: a long line is no matrix. */
static ts_status plan_tables(ts_fft *plan, bool by_passes, ts_error *err)
{
    int64_t factors[FFT_FACTORS];
    int n_factors = plan_factors(plan->length, factors);
    bool has_room = true;
    if (n_factors < 0)
        TS_TRY(plan_chirp(plan, err));
    else if (!by_passes && plan->length >= FFT_LONG)
        TS_TRY(ts__fft_sides_create(plan, err));
    else
        has_room = plan_fill(plan, factors, n_factors);
    if (has_room && (!plan->halves || plan_split(plan)))
        return TS_OK;
    return ts_fail(err, TS_NOMEM, "out of memory for a transform of length %lld", (long long)plan->n);
}

static ts_status plan_create(ts_fft as, bool by_passes, ts_fft **out, ts_error *err)
{
    *out = NULL;
    ts_fft *plan = plan_get(as.alloc, sizeof *plan);
    if (!plan)
        return ts_fail(err, TS_NOMEM, "out of memory for a transform of length %lld", (long long)as.n);
    *plan = as;
    plan->halves = as.real && as.n % 2 == 0;
    plan->room = plan->length = plan->halves ? as.n / 2 : as.n;
    ts_status status = plan_tables(plan, by_passes, err);
    if (status == TS_OK)
        *out = plan;
    else
        ts_fft_destroy(plan);
    return status;
}

ts_status ts__fft_passes_create(const ts_alloc *alloc, int64_t n, ts_fft **out, ts_error *err)
{
    return plan_create((ts_fft){.alloc = alloc, .n = n}, true, out, err);
}

ts_status ts_fft_create(const ts_alloc *alloc, int64_t n, bool real, ts_fft **out, ts_error *err)
{
    *out = NULL;
    if (n < 1 || n > FFT_LONGEST)
        return ts_fail(err, TS_VALUE, "a transform has 1 to %lld elements, not %lld", (long long)FFT_LONGEST,
                       (long long)n);
    return plan_create((ts_fft){.alloc = alloc ? alloc : ts_alloc_default(), .n = n, .real = real}, false, out, err);
}

void ts_fft_destroy(ts_fft *plan)
{
    if (!plan)
        return;
    ts_fft_destroy(plan->inner);
    ts__fft_sides_destroy(plan);
    plan_free(plan->alloc, plan->table, plan->table_bytes);
    plan_free(plan->alloc, plan->split, plan->split_bytes);
    plan_free(plan->alloc, plan->chirp, plan->chirp_bytes);
    plan_free(plan->alloc, plan->filter, plan->filter_bytes);
    plan_free(plan->alloc, plan, sizeof *plan);
}

bool ts_fft_is_real(const ts_fft *plan)
{
    return plan->real;
}

int64_t ts_fft_result(const ts_fft *plan, bool inverse)
{
    return plan->real && !inverse ? plan->n / 2 + 1 : plan->n;
}

size_t ts_fft_bytes(const ts_fft *plan)
{
    if (!plan)
        return 0;
    const fft_sides *sides = &plan->sides;
    return sizeof *plan + plan->table_bytes + plan->split_bytes + plan->chirp_bytes + plan->filter_bytes +
           sides->far_bytes + sides->near_bytes + ts_fft_bytes(plan->inner) + ts_fft_bytes(sides->columns) +
           ts_fft_bytes(sides->rows);
}
