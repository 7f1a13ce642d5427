/* SPDX-License-Identifier: Apache-2.0
 *
 * Transforms against sums in long double: every length up to 80, some with large primes and some that are matrices,
 * both directions, real lines, short and long ones, lines in place, steps of any sign, and no memory.
 */
#include "../check.h"
#include "../failing.h"
#include "tessera/fft.h"
#include <math.h>

#define LONGEST 3200

static ts_error err;
static double x[2 * LONGEST], y[2 * LONGEST], wanted[2 * LONGEST];

static double noise(void)
{
    static uint64_t state = 1;
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (double)(state >> 33) / (double)(1u << 30) - 1;
}

static void slow(const double *in, int n_in, int n, double *out, bool inverse)
{
    const long double turn = 6.28318530717958647692528676655900577L;
    for (int k = 0; k < n; k++) {
        long double re = 0, im = 0;
        for (int j = 0; j < n_in && j < n; j++) {
            long double angle = turn * (long double)((int64_t)j * k % n) / n, c = cosl(angle), s = sinl(angle);
            s = inverse ? s : -s;
            re += (long double)in[2 * j] * c - (long double)in[2 * j + 1] * s;
            im += (long double)in[2 * j] * s + (long double)in[2 * j + 1] * c;
        }
        out[2 * k] = (double)re, out[2 * k + 1] = (double)im;
    }
}

static double worst(int n_numbers)
{
    double off = 0, size = 0;
    for (int i = 0; i < n_numbers; i++) {
        off = fmax(off, fabs(y[i] - wanted[i]));
        size = fmax(size, fabs(wanted[i]));
    }
    return off / (size > 0 ? size : 1) / 2.220446049250313e-16;
}

static void check_complex(int n, int n_in, bool inverse)
{
    ts_fft *plan = NULL;
    CHECK_OK(ts_fft_create(NULL, n, false, &plan, &err));
    slow(x, n_in, n, wanted, inverse);
    ts_fft_lines lines = {.inverse = inverse, .factor = 1, .n_in = n_in, .from = x, .to = y, .from_step = 16,
                          .to_step = 16};
    CHECK_OK(ts_fft_run(plan, &lines, &err));
    CHECK(worst(2 * n) < 8);
    ts_fft_destroy(plan);
}

static void check_real(int n)
{
    double pairs[2 * LONGEST];
    ts_fft *plan = NULL;
    CHECK_OK(ts_fft_create(NULL, n, true, &plan, &err));
    for (int i = 0; i < n; i++)
        pairs[2 * i] = x[i], pairs[2 * i + 1] = 0;
    slow(pairs, n, n, wanted, false);
    ts_fft_lines lines = {.factor = 1, .n_in = n, .from = x, .to = y, .from_step = 8, .to_step = 16};
    CHECK_OK(ts_fft_run(plan, &lines, &err));
    CHECK(worst(2 * (n / 2 + 1)) < 8);
    ts_fft_lines back = {.inverse = true, .factor = 1.0 / n, .n_in = n / 2 + 1, .from = wanted, .to = y,
                         .from_step = 16, .to_step = 8};
    CHECK_OK(ts_fft_run(plan, &back, &err));
    memcpy(wanted, x, (size_t)n * sizeof *x);
    CHECK(worst(n) < 8);
    ts_fft_destroy(plan);
}

/* Two rows read backwards into themselves, in single precision. */
static void check_lines(void)
{
    float rows[2][6][2], before[2][6][2];
    ts_fft *plan = NULL;
    CHECK_OK(ts_fft_create(NULL, 6, false, &plan, &err));
    for (int i = 0; i < 24; i++)
        ((float *)rows)[i] = (float)noise();
    memcpy(before, rows, sizeof rows);
    ts_fft_lines lines = {.single = true, .factor = 2, .n_in = 6, .from = rows[1][5], .to = rows[1][5],
                          .from_step = -8, .to_step = -8, .rank = 1, .shape = {2}, .from_strides = {-48},
                          .to_strides = {-48}};
    CHECK_OK(ts_fft_run(plan, &lines, &err));
    for (int r = 0; r < 2; r++) {
        for (int k = 0; k < 12; k++)
            x[k] = before[r][5 - k / 2][k % 2], y[k] = rows[r][5 - k / 2][k % 2] / 2;
        slow(x, 6, 6, wanted, false);
        CHECK(worst(12) < 1e9);
    }
    ts_fft_destroy(plan);
}

/* Every allocation that can fail, of a length with passes, of a prime one and of a real one. */
static void check_memory(void)
{
    static const struct {
        int n;
        bool real;
    } cases[] = {{30, false}, {131, false}, {30, true}, {131, true}, {1024, false}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++)
        for (int at = 0, failed = 1; failed; at++) {
            failing f = {.fail_at = at};
            ts_alloc alloc = {failing_resize, &f};
            ts_fft *plan;
            ts_fft_lines lines = {.factor = 1, .n_in = cases[c].n, .from = x, .to = y, .from_step = 16, .to_step = 16};
            ts_status status = ts_fft_create(&alloc, cases[c].n, cases[c].real, &plan, &err);
            if (status == TS_OK) {
                CHECK_INT(ts_fft_bytes(plan), f.bytes);
                status = ts_fft_run(plan, &lines, &err);
            }
            failed = status != TS_OK;
            CHECK(status == (failed ? TS_NOMEM : TS_OK));
            ts_fft_destroy(plan);
            CHECK_INT(f.bytes, 0);
        }
}

int main(void)
{
    for (int i = 0; i < 2 * LONGEST; i++)
        x[i] = noise();
    static const int large[] = {101, 128, 211, 243, 256, 343, 360, 509, 512, 593, 1024, 1110, 1037};
    for (int n = 1; n <= 80; n++) {
        check_complex(n, n, n & 1);
        check_real(n);
    }
    for (size_t i = 0; i < sizeof large / sizeof *large; i++) {
        check_complex(large[i], large[i], i & 1);
        check_real(large[i]);
    }
    check_complex(12, 7, false);
    check_complex(7, 12, true);
    check_complex(37, 40, true);
    check_complex(101, 5, false);
    check_lines();
    check_memory();
    ts_fft *plan;
    CHECK(ts_fft_create(NULL, 0, false, &plan, &err) == TS_VALUE && !plan);
    CHECK(ts_fft_create(NULL, INT64_MAX, false, &plan, &err) == TS_VALUE && !plan);
    return check_done();
}
