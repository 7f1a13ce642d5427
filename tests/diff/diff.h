/* SPDX-License-Identifier: Apache-2.0
 *
 * Differential tests: a tile function is run by the interpreter as it is, and again after a transformation
 * (passes, GPU lowering run by the thread-level interpreter, CPU code), on the same inputs; outputs are compared.
 *
 *     diff_case c;                          a function, its buffers, numbers and grid
 *     diff_check(&c, &way)                  runs both, compares, says where they differ
 *
 * A buffer holds elements of one type. Floats compare equal when both are NaN, else by bits, or within `ulps`.
 */
#ifndef TS_TESTS_DIFF_H
#define TS_TESTS_DIFF_H

#include "eval/eval.h"
#include "ir/float.h"
#include "ir/scalar.h"
#include "pass/pass.h"
#include "gpu/schedule/schedule.h"
#include "check.h"
#include <math.h>

enum { DIFF_BUFFERS = 8, DIFF_INTS = 8 };

typedef struct diff_buffer {
    ts_type elem;
    size_t n;          /* elements */
    uint64_t seed;     /* contents; 0 = zeros */
    bool whole;        /* floats get small whole numbers, so that sums are exact in any order */
    bool special;      /* floats are NaN, infinite, zeros, and around the ends of the integers */
    bool output;       /* compared afterwards */
    const int64_t *values; /* integers: contents in place of random ones */
} diff_buffer;

typedef struct diff_case {
    const char *name;
    ts_fn *fn;         /* tile level; left as it was */
    uint32_t n_buffers, n_ints;
    diff_buffer buffer[DIFF_BUFFERS]; /* pointer parameters, in order */
    int64_t ints[DIFF_INTS];          /* the i32 parameters after them */
    uint32_t grid[3];
    double tolerance;  /* relative to the greatest magnitude of the output; 0 = bit for bit */
} diff_case;

typedef enum diff_kind { DIFF_TILE, DIFF_SIMT, DIFF_CPU } diff_kind;

/* What is done to the function before its second run. */
typedef struct diff_way {
    diff_kind kind;
    ts_target target;
    const char *passes; /* run first; "" none */
    uint32_t schedule;  /* SIMT: see ts_eval_env */
    const char *after;  /* SIMT: passes at thread level; NULL none */
    uint8_t ctas;       /* SIMT: thread blocks that share a tile block; 0 as the function says */
} diff_way;

/* One run's memory. Buffers are 64-byte aligned. */
typedef struct diff_memory {
    void *at[DIFF_BUFFERS];
    size_t bytes[DIFF_BUFFERS];
    uint64_t params[DIFF_BUFFERS + DIFF_INTS + 1];
    ts_eval_range range[DIFF_BUFFERS + 1];
    ts_fault fault;
} diff_memory;

static inline uint64_t diff_random(uint64_t *state)
{
    *state = ts_hash_mix(*state, 0x9E3779B97F4A7C15u);
    return *state >> 11;
}

/* A float that conversions and comparisons treat apart. */
static inline double diff_special(uint64_t r)
{
    static const double values[] = {NAN, INFINITY, -INFINITY, 0.0, -0.0, 0.5, -0.5, 1, -1, 1.75, -1.75, 1e300, -1e300};
    uint64_t end = r / 64 % 8; /* near 2^7, 2^8, 2^15, .. */
    double edge = ldexp(r & 1 ? 1 : -1, (8 << end / 2) - (int)(end & 1)) + (double)(r / 2 % 3) - 1;
    return r / 8 % 8 < 5 ? values[r / 1024 % TS_COUNT(values)] : edge;
}

/* Element i of a buffer: floats in [-2, 2) or whole numbers in [-4, 4), integers in [0, 64). */
static inline uint64_t diff_element(const diff_buffer *b, uint64_t *state)
{
    uint64_t r = diff_random(state);
    if (!b->seed)
        return 0;
    if (!ts__float_format_of(b->elem))
        return r % 64;
    double x = b->special ? diff_special(r) : b->whole ? (double)(r % 8) - 4 : (double)(r % 4096) / 1024 - 2;
    return ts__float_from_f64(b->elem, x, TS_RN);
}

static inline void diff_fill(const diff_case *c, diff_memory *m)
{
    memset(m, 0, sizeof *m);
    for (uint32_t i = 0; i < c->n_buffers; i++) {
        const diff_buffer *b = &c->buffer[i];
        uint64_t state = b->seed;
        m->bytes[i] = (b->n * ts_type_bits(c->fn->module, b->elem) + 7) / 8;
        m->at[i] = aligned_alloc(64, (m->bytes[i] + 127) / 64 * 64);
        memset(m->at[i], 0, m->bytes[i]);
        for (size_t e = 0; e < b->n; e++)
            ts__scalar_store(NULL, b->elem, m->at[i], (int64_t)e,
                            b->values ? (uint64_t)b->values[e] : diff_element(b, &state));
        m->params[i] = (uint64_t)(uintptr_t)m->at[i];
        m->range[i] = (ts_eval_range){m->at[i], m->bytes[i]};
    }
    for (uint32_t i = 0; i < c->n_ints; i++)
        m->params[c->n_buffers + i] = (uint64_t)c->ints[i];
    m->params[c->n_buffers + c->n_ints] = (uint64_t)(uintptr_t)&m->fault;
    m->range[c->n_buffers] = (ts_eval_range){&m->fault, sizeof m->fault};
}

static inline void diff_free(diff_memory *m)
{
    for (uint32_t i = 0; i < DIFF_BUFFERS; i++)
        free(m->at[i]);
}

/* An equal function, to be transformed. */
static inline ts_fn *diff_clone(const ts_fn *fn)
{
    ts_builder b;
    ts_fn *to = ts__fn_create_like(fn);
    ts_val *map = TS_NEW_N(fn->module->arena, ts_val, fn->inst.n);
    ts__builder_init(&b, to);
    for (ts_val v = 1; v < fn->inst.n; v++)
        ts__copy(&b, fn, v, map);
    return to;
}

static inline ts_eval_env diff_env(const diff_case *c, diff_memory *m, const diff_way *way)
{
    return (ts_eval_env){.ranges = m->range, .n_ranges = c->n_buffers + 1u, .max_steps = 50000000,
                         .check_races = way != NULL, .schedule = way ? way->schedule : 0};
}

static inline void diff_show(const ts_fn *fn, const char *title)
{
    ts_text text;
    ts__text_init(&text, NULL);
    ts__fn_print(fn, &text);
    fprintf(stderr, "---- %s\n%s", title, ts__text_get(&text));
    ts__text_deinit(&text);
}

/* The largest magnitude among the numbers of an output, for the tolerance. */
static inline double diff_scale(const diff_buffer *b, const void *at)
{
    double scale = 0;
    for (size_t i = 0; i < b->n && ts__float_format_of(b->elem); i++) {
        double x = fabs(ts__float_to_f64(b->elem, ts__scalar_load(NULL, b->elem, at, (int64_t)i)));
        scale = x > scale && !isinf(x) ? x : scale;
    }
    return scale;
}

static inline bool diff_near(const diff_buffer *b, uint64_t x, uint64_t y, double allowed)
{
    if (ts__scalar_same(b->elem, x, y))
        return true;
    if (!ts__float_format_of(b->elem) || allowed == 0)
        return false;
    return fabs(ts__float_to_f64(b->elem, x) - ts__float_to_f64(b->elem, y)) <= allowed;
}

/* Number of elements that differ; the first is printed. */
static inline size_t diff_compare(const diff_case *c, const diff_memory *wanted,
                                  const diff_memory *found, const char *what)
{
    size_t wrong = 0;
    for (uint32_t i = 0; i < c->n_buffers; i++) {
        const diff_buffer *b = &c->buffer[i];
        double allowed = c->tolerance * diff_scale(b, wanted->at[i]);
        for (size_t e = 0; e < b->n && b->output; e++) {
            uint64_t x = ts__scalar_load(NULL, b->elem, wanted->at[i], (int64_t)e);
            uint64_t y = ts__scalar_load(NULL, b->elem, found->at[i], (int64_t)e);
            if (diff_near(b, x, y, allowed))
                continue;
            if (!wrong++)
                fprintf(stderr, "%s, %s: buffer %u element %zu (%s) is 0x%llx, wanted 0x%llx\n", c->name, what, i, e,
                        ts_scalar_name(b->elem), (unsigned long long)y, (unsigned long long)x);
        }
    }
    return wrong;
}

static inline ts_status diff_run_simt(const diff_case *c, ts_fn *fn, ts_pass_env *env,
                                      const diff_way *way, diff_memory *m, ts_error *err)
{
    ts_text messages;
    fn->num_ctas = way->ctas ? way->ctas : fn->num_ctas;
    ts__text_init(&messages, NULL);
    ts_status status = ts__lower_run(fn, env, &messages, err);
    ts__text_deinit(&messages);
    if (!status && way->after)
        status = ts__run_passes(fn, way->after, env, err);
    ts_eval_env eval = diff_env(c, m, way);
    size_t n = c->n_buffers + c->n_ints + (env->plan->error_param ? 1u : 0u);
    for (size_t i = 0; i < n; i++)
        env->plan->param_bytes[i] = i < c->n_buffers || i == c->n_buffers + c->n_ints ? 8 : 4;
    env->plan->n_params = (uint32_t)n;
    uint32_t grid[3] = {c->grid[0] * (env->plan->cluster ? env->plan->cluster : 1), c->grid[1], c->grid[2]};
    return status ? status : ts__eval_simt(fn, env->plan, m->params, n, grid, &eval, err);
}

#ifdef DIFF_WITH_CPU
static ts_status diff_run_cpu(const diff_case *c, ts_fn *fn, ts_pass_env *env, diff_memory *m, ts_error *err);
#endif

static inline ts_status diff_run_way(const diff_case *c, ts_fn *fn, const diff_way *way, diff_memory *m, ts_error *err)
{
    static const ts_hints none;
    ts_arena scratch;
    ts_plan plan = {.target = (uint32_t)way->target};
    ts__arena_init(&scratch, NULL);
    ts_pass_env env = {&scratch, way->target, &none, &plan};
    strcpy(plan.name, ts_str_get(fn->module, fn->name));
    const char *passes = getenv("TS_DIFF_PASSES"); /* to find the pass that a failure needs */
    ts_status status = ts__run_passes(fn, passes ? passes : way->passes, &env, err);
    ts_eval_env eval = diff_env(c, m, way);
    if (!status && way->kind == DIFF_TILE)
        status = ts__eval_grid(fn, m->params, c->n_buffers + c->n_ints, c->grid, &eval, err);
    if (!status && way->kind == DIFF_SIMT)
        status = diff_run_simt(c, fn, &env, way, m, err);
#ifdef DIFF_WITH_CPU
    if (!status && way->kind == DIFF_CPU)
        status = diff_run_cpu(c, fn, &env, m, err);
#endif
    ts__arena_deinit(&scratch);
    return status;
}

/* Runs the function and its transformation and compares. Counts as one check. TS_DIFF=1 prints a failing one. */
static inline bool diff_check(const diff_case *c, const diff_way *way, const char *what)
{
    diff_memory wanted, found;
    ts_error err = {0};
    diff_fill(c, &wanted);
    diff_fill(c, &found);
    ts_eval_env env = diff_env(c, &wanted, NULL);
    ts_fn *fn = diff_clone(c->fn);
    ts_status status = ts__eval_grid(c->fn, wanted.params, c->n_buffers + c->n_ints, c->grid, &env, &err);
    if (status)
        fprintf(stderr, "%s as it is: %s: %s\n", c->name, ts_status_name(status), err.text);
    ts_status after = status ? status : diff_run_way(c, fn, way, &found, &err);
    if (after && !status)
        fprintf(stderr, "%s, %s: %s: %s\n", c->name, what, ts_status_name(after), err.text);
    bool same = !after && diff_compare(c, &wanted, &found, what) == 0;
    if (!same && getenv("TS_DIFF")) {
        diff_show(c->fn, "before");
        diff_show(fn, "after");
    }
    CHECK(same);
    diff_free(&wanted);
    diff_free(&found);
    return same;
}

#endif
