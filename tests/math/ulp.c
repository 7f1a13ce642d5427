/* SPDX-License-Identifier: Apache-2.0
 *
 * Measures every function of src/math in ulps and fails above the documented bound.
 *
 *     test_math_ulp                      all f16 and bf16 values, a seeded sample of f32 and f64 (2^19, 2^17)
 *     test_math_ulp name ...             the same of these functions with four times the sample, to measure
 *     test_math_ulp --every [name] ...   every f32 value of the one-argument functions (minutes each)
 *     test_math_ulp --every=61 [name] .. every 61st
 *
 * tests/math/measured.txt is what it printed, of which tools/gen_language.py makes the page; `| python
 * tools/gen_language.py --measured` puts new lines there in place of the old ones.
 *
 * The rows, their references in long double (64-bit significand) and bounds are those of table/math.def. Where long
 * double is no wider than double the f64 rows are skipped and counted.
 */
#include "math/flat.h"
#include "math/rows.h"
#include "check.h"
#include "pass/pass.h"
#include <float.h>
#include <pthread.h>

/* ---- one function on one type -----------------------------------------------------------------------*/

typedef struct ulp_job {
    const math_case *row;
    ts_type type;
    ts_arena arena, scratch;
    flat run;
} ulp_job;

/* param x [, y]; z = op; stored, so that nothing is dead; then the pass. */
static bool ulp_prepare(ulp_job *job, const math_case *row, ts_type type)
{
    static const ts_hints hints = {0};
    ts_error err = {0};
    job->row = row;
    job->type = type;
    ts__arena_init(&job->arena, ts_alloc_default());
    ts__arena_init(&job->scratch, ts_alloc_default());
    ts_module *m = ts__module_create(&job->arena);
    ts_fn *fn = ts_fn_create(m, "f", TS_LEVEL_T);
    ts_builder b;
    ts__builder_init(&b, fn);
    bool two = math_operands(row) == 2;
    ts_val x = ts_fn_param(&b, type), y = two ? ts_fn_param(&b, math_second(row, type)) : 0;
    ts_val p = ts_fn_param(&b, ts_type_ptr(m, type, TS_GLOBAL));
    ts_val z = math_build_float(&b, row, x, y);
    ts_emit(&b, TS_OP_store_ptr_tko, TS_T_token, 2, (ts_val[]){p, z}, 0, 0);
    ts_term(&b, TS_OP_return, 0, NULL);
    ts_pass_env env = {&job->scratch, TS_TARGET_CPU, &hints, NULL};
    CHECK_OK(ts__pass_math(fn, &env, &err));
    for (ts_val v = 1; v < fn->inst.n; v++)
        if (ts_at(fn, v)->op == TS_OP_store_ptr_tko)
            flat_init(&job->run, fn, ts_opnd(fn, v, 1));
    return job->run.fn != NULL;
}

static void ulp_release(ulp_job *job)
{
    flat_deinit(&job->run);
    ts__arena_deinit(&job->arena);
    ts__arena_deinit(&job->scratch);
}

/* ---- measuring ----------------------------------------------------------------------------------------*/

typedef struct ulp_worst {
    double ulp;
    uint64_t x, y, n;
    bool special; /* a NaN, infinity or sign of zero is wrong at x */
} ulp_worst;

typedef struct ulp_format {
    int mant, min_exp; /* bits of the significand; exponent of the least subnormal */
    int max_exp;       /* 2^max_exp is the first number too great */
} ulp_format;

static ulp_format ulp_format_of(ts_type type)
{
    switch (type) {
    case TS_T_f16:
        return (ulp_format){11, -24, 16};
    case TS_T_bf16:
        return (ulp_format){8, -133, 128};
    case TS_T_f32:
        return (ulp_format){24, -149, 128};
    default:
        return (ulp_format){53, -1074, 1024};
    }
}

/* Distance of `got` from `want` in units of the last place of `want`, or of `least` where `want` is smaller; huge when
 * they differ in kind. */
static double ulp_distance(ulp_format f, ts_real got, ts_real want, ts_real least)
{
    if (isnan(want) || isnan(got))
        return isnan(want) && isnan(got) ? 0 : INFINITY;
    if (want == 0 && got == 0)
        return signbit(want) == signbit(got) ? 0 : INFINITY;
    if (isinf(want) && isinf(got))
        return signbit(want) == signbit(got) ? 0 : INFINITY;
    ts_real top = ldexpl(1, f.max_exp);
    got = isinf(got) ? copysignl(top, got) : got;
    want = fabsl(want) > top ? copysignl(top, want) : want;
    int e;
    frexpl(fmaxl(fabsl(want), least), &e);
    e = TS_MAX(TS_MIN(e, f.max_exp) - f.mant, f.min_exp);
    return (double)(fabsl(got - want) / ldexpl(1, e));
}

static double ulp_value(ts_type type, uint64_t bits)
{
    if (type == TS_T_f64 || type == TS_T_f32)
        return type == TS_T_f64 ? ts_f64_of_bits(bits) : (double)ts_f32_of_bits(bits);
    double x = type == TS_T_f16 ? ts__f16_to_f64((uint16_t)bits) : ts__bf16_to_f64((uint16_t)bits);
    return isnan(x) && bits >> 15 ? -fabs(x) : x; /* a NaN keeps its sign */
}

static ts_real ulp_operand(ts_type type, uint64_t bits)
{
    return type == TS_T_i32 ? (int32_t)bits : (ts_real)ulp_value(type, bits);
}

static double ulp_one(const ulp_job *job, ulp_format f, uint64_t xb, uint64_t yb, uint64_t zb)
{
    ts_real x = ulp_value(job->type, xb), y = ulp_operand(math_second(job->row, job->type), yb);
    return ulp_distance(f, ulp_value(job->type, zb), job->row->want(job->type, x, y), job->row->least(x));
}

/* Runs one block of n inputs (given as bits) and folds the errors into *worst. */
static void ulp_block(ulp_job *job, const uint64_t *x, const uint64_t *y, int n, ulp_worst *worst)
{
    ulp_format f = ulp_format_of(job->type);
    for (int i = 0; i < FLAT_N; i++) {
        flat_put(flat_param(&job->run, 0), job->type, i, x[i < n ? i : 0]);
        if (math_operands(job->row) == 2)
            flat_put(flat_param(&job->run, 1), math_second(job->row, job->type), i, y[i < n ? i : 0]);
    }
    const void *out = flat_run(&job->run);
    for (int i = 0; i < n; i++) {
        uint64_t yb = math_operands(job->row) == 2 ? y[i] : 0;
        double ulp = ulp_one(job, f, x[i], yb, flat_get(out, job->type, i));
        if (ulp > worst->ulp)
            *worst = (ulp_worst){ulp, x[i], yb, worst->n, isinf(ulp)};
    }
    worst->n += (uint64_t)n;
}

/* ---- inputs -------------------------------------------------------------------------------------------*/

/* A third any bits, a third of moderate exponent, a sixth next to a power of two, a sixth special. */
static uint64_t ulp_common(ts_type type, uint64_t *state)
{
    bool wide = type == TS_T_f64;
    int mant = wide ? 52 : 23;
    uint64_t r = math_random(state), bits = wide ? r : r & 0xFFFFFFFF, sign = r >> 63 << (wide ? 63 : 31);
    uint64_t low = ((uint64_t)1 << mant) - 1, bias = wide ? 1023 : 127, kind = math_random(state) % 6;
    if (kind < 2)
        return bits;
    if (kind < 4)
        return sign | (bias - 16 + (r >> 40) % 28) << mant | (bits & low);
    if (kind == 4)
        return sign | ((((r >> 40) % (2 * bias) + 1) << mant) + (r >> 60) % 5 - 2);
    static const double special[] = {0, 1, 2, 3, 4, 5, 10, 100, 0.5, 0.25, 1.5, 2.5, 1e10, 1e30, INFINITY, NAN};
    double x = special[(r >> 40) % TS_COUNT(special)];
    return sign ^ (wide ? ts_bits_of_f64(x) : ts_bits_of_f32((float)x));
}

/* A quarter from where the function is most interesting; half of the integers small. */
static uint64_t ulp_input(const math_case *c, ts_type type, uint64_t *state)
{
    uint64_t r = c->lo < c->hi || type == TS_T_i32 ? math_random(state) : 0;
    if (type == TS_T_i32)
        return r >> 63 ? r & 0xFFFFFFFF : (uint32_t)((int32_t)(r % 801) - 400);
    double x = c->lo + (c->hi - c->lo) * ((double)(r >> 11) * 0x1p-53);
    if (r & 1 && r & 2)
        return type == TS_T_f64 ? ts_bits_of_f64(x) : ts_bits_of_f32((float)x);
    return ulp_common(type, state);
}

static void ulp_sample(ulp_job *job, uint64_t n, ulp_worst *worst)
{
    uint64_t state = 20240229, x[FLAT_N], y[FLAT_N];
    for (uint64_t done = 0; done < n; done += FLAT_N) {
        for (int i = 0; i < FLAT_N; i++) {
            x[i] = ulp_input(job->row, job->type, &state);
            y[i] = math_operands(job->row) == 2 ? ulp_input(job->row, math_second(job->row, job->type), &state) : 0;
        }
        ulp_block(job, x, y, FLAT_N, worst);
    }
}

/* Every step-th bit pattern from `from` to below `to`. */
static void ulp_every(ulp_job *job, uint64_t from, uint64_t to, uint64_t step, ulp_worst *worst)
{
    uint64_t x[FLAT_N];
    while (from < to) {
        int n = 0;
        for (; n < FLAT_N && from < to; from += step)
            x[n++] = from;
        ulp_block(job, x, x, n, worst);
    }
}

/* ---- reports --------------------------------------------------------------------------------------------*/

static void ulp_print(const ulp_job *job, const ulp_worst *worst, double bound)
{
    printf("%-11s %-5s bound %5.3f  measured %6.3f at %.9g", job->row->name,
           ts_scalar_name(job->type), bound, worst->ulp, ulp_value(job->type, worst->x));
    if (math_operands(job->row) == 2)
        printf(", %.9g", (double)ulp_operand(math_second(job->row, job->type), worst->y));
    printf("  (%" PRIu64 " values, %u instructions)%s\n", worst->n, flat_price(&job->run),
           worst->special ? " SPECIAL" : "");
    fflush(stdout);
}

/* f16 with two arguments: every x with a sample of y would be too many; all pairs of a grid. */
static void ulp_narrow_pairs(ulp_job *job, ulp_worst *worst)
{
    uint64_t state = 7, x[FLAT_N], y[FLAT_N];
    for (uint64_t block = 0; block < check_few(2048); block++) {
        for (int i = 0; i < FLAT_N; i++) {
            uint64_t r = math_random(&state);
            x[i] = r & 65535;
            y[i] = job->row->kind == TS_MATH_XN ? ulp_input(job->row, TS_T_i32, &state) : r >> 16 & 65535;
        }
        ulp_block(job, x, y, FLAT_N, worst);
    }
}

static void ulp_test(const math_case *row, ts_type type, uint64_t times)
{
    ulp_job job = {0};
    ulp_worst worst = {0};
    bool narrow = type == TS_T_f16 || type == TS_T_bf16;
    double bound = type == TS_T_f64 ? row->f64 : row->f32;
    bound = narrow && bound > 0 ? 0.51 : bound;
    if (type == TS_T_f64 && LDBL_MANT_DIG < 64) {
        check_skipped++;
        return;
    }
    CHECK(ulp_prepare(&job, row, type));
    if (narrow && math_operands(row) == 2)
        ulp_narrow_pairs(&job, &worst);
    else if (narrow)
        ulp_every(&job, 0, 65536, 1, &worst);
    else
        ulp_sample(&job, check_few((type == TS_T_f32 ? 1 << 19 : 1 << 17) * times), &worst);
    ulp_print(&job, &worst, bound);
    CHECK(worst.ulp <= bound);
    ulp_release(&job);
}

/* ---- every f32 ------------------------------------------------------------------------------------------*/

enum { ULP_THREADS = 16 };
typedef struct ulp_part {
    ulp_job job;
    ulp_worst worst;
    uint64_t from, to, step;
} ulp_part;

static void *ulp_thread(void *user)
{
    ulp_part *part = user;
    ulp_every(&part->job, part->from, part->to, part->step, &part->worst);
    return NULL;
}

static void ulp_exhaust(const math_case *row, uint64_t step)
{
    static ulp_part part[ULP_THREADS];
    pthread_t thread[ULP_THREADS];
    ulp_worst worst = {0};
    for (int i = 0; i < ULP_THREADS; i++) {
        part[i] = (ulp_part){.from = ((uint64_t)i << 28), .to = ((uint64_t)(i + 1) << 28), .step = step};
        CHECK(ulp_prepare(&part[i].job, row, TS_T_f32));
        pthread_create(&thread[i], NULL, ulp_thread, &part[i]);
    }
    for (int i = 0; i < ULP_THREADS; i++) {
        pthread_join(thread[i], NULL);
        uint64_t n = worst.n + part[i].worst.n;
        worst = part[i].worst.ulp > worst.ulp ? part[i].worst : worst;
        worst.n = n;
    }
    ulp_print(&part[0].job, &worst, row->f32);
    CHECK(worst.ulp <= row->f32);
    for (int i = 0; i < ULP_THREADS; i++)
        ulp_release(&part[i].job);
}

static bool ulp_chosen(const math_case *row, int argc, char **argv, int first)
{
    for (int i = first; i < argc; i++)
        if (strcmp(argv[i], row->name) == 0)
            return true;
    return first >= argc;
}

int main(int argc, char **argv)
{
    static const ts_type types[] = {TS_T_f16, TS_T_bf16, TS_T_f32, TS_T_f64};
    bool every = argc > 1 && strncmp(argv[1], "--every", 7) == 0;
    uint64_t step = every && argv[1][7] == '=' ? strtoull(argv[1] + 8, NULL, 10) : 1;
    for (size_t i = 0; i < TS_COUNT(math_cases); i++) {
        if (!ulp_chosen(&math_cases[i], argc, argv, every ? 2 : 1))
            continue;
        if (every && math_operands(&math_cases[i]) == 1)
            ulp_exhaust(&math_cases[i], TS_MAX(step, 1));
        for (size_t t = 0; !every && t < TS_COUNT(types); t++)
            ulp_test(&math_cases[i], types[t], argc > 1 ? 4 : 1);
    }
    return check_done();
}
