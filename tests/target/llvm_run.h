/* SPDX-License-Identifier: Apache-2.0
 *
 * Runs one tile function on the CPU target and in the evaluator, on copies of the same arrays, and
 * compares the arrays element by element.
 */
#ifndef TS_TESTS_TARGET_LLVM_RUN_H
#define TS_TESTS_TARGET_LLVM_RUN_H

#include "check.h"
#include "eval/eval.h"
#include "ir/float.h"
#include "ir/ir.h"
#include "ir/scalar.h"
#include "target/llvm/emit.h"
#include "pass/pass.h"

#include <math.h>
#include <sys/mman.h>

enum { RUN_ARRAYS = 8, RUN_PARAMS = 64 };

typedef struct run {
    ts_arena arena;
    ts_module *m;
    ts_fn *fn;
    ts_builder b;
    uint32_t n_params, n_arrays;
    uint64_t param[RUN_PARAMS];
    struct {
        ts_type elem;
        int64_t n;
        void *cpu, *eval;
        uint32_t param;
    } array[RUN_ARRAYS];
    ts_llvm_host host;
    uint32_t grid[3];
    double tolerance; /* relative; 0 = same bits */
    ts_error err;
    char printed[2][4096];
    ts_fault fault[2];
} run;

static uint32_t run_vector_bytes = 64; /* of the processor that is compiled for */

static inline void run_begin(run *r)
{
    memset(r, 0, sizeof *r);
    ts__arena_init(&r->arena, ts_alloc_default());
    r->m = ts__module_create(&r->arena);
    r->fn = ts_fn_create(r->m, "kernel", TS_LEVEL_T);
    ts__builder_init(&r->b, r->fn);
    ts__host_detect(&r->host);
    ts__host_limit(&r->host, run_vector_bytes);
    r->grid[0] = r->grid[1] = r->grid[2] = 1;
}

static inline size_t run_bytes(ts_type elem, int64_t n)
{
    uint32_t bits = ts_type_bits(NULL, elem);
    return ((size_t)n * bits + 7) / 8;
}

/* Memory that ends where an unmapped page begins: code that reads past an array dies. */
static inline void *run_guarded(size_t bytes)
{
    size_t page = 4096, whole = (bytes + page - 1) / page * page;
    char *at = mmap(NULL, whole + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED || mprotect(at + whole, page, PROT_NONE) != 0)
        abort();
    return at + whole - bytes;
}
static inline void run_unguard(void *at, size_t bytes)
{
    size_t page = 4096, whole = (bytes + page - 1) / page * page;
    munmap((char *)at + bytes - whole, whole + page);
}

/* A parameter that points at n elements, filled with small varied numbers. */
static inline ts_val run_array(run *r, ts_type elem, int64_t n)
{
    uint32_t a = r->n_arrays++;
    size_t bytes = run_bytes(elem, n);
    r->array[a].elem = elem;
    r->array[a].n = n;
    r->array[a].param = r->n_params;
    r->array[a].cpu = run_guarded(bytes);
    r->array[a].eval = calloc(1, bytes + 64);
    for (int64_t i = 0; i < n; i++) {
        int64_t k = (i * 37 + (int64_t)a * 11) % 61;
        uint64_t x = ts_type_is_float(NULL, elem) ? ts__float_from_f64(elem, (double)k / 8 - 3, TS_RN) : (uint64_t)k;
        if (elem == TS_T_i1)
            x = k % 3 == 0;
        ts__scalar_store(NULL, elem, r->array[a].cpu, i, x);
    }
    memcpy(r->array[a].eval, r->array[a].cpu, bytes);
    r->n_params++;
    return ts_fn_param(&r->b, ts_type_ptr(r->m, elem, TS_GLOBAL));
}

static inline ts_val run_scalar(run *r, ts_type type, uint64_t bits)
{
    r->param[r->n_params++] = bits;
    return ts_fn_param(&r->b, type);
}

static inline void run_print(void *user, const char *text, size_t n)
{
    char *to = user;
    size_t at = strlen(to);
    if (at + n < 4096) {
        memcpy(to + at, text, n);
        to[at + n] = 0;
    }
}

static inline bool run_cpu(run *r)
{
    ts_plan plan = {0};
    ts_code code = {.alloc = ts_alloc_default()};
    ts_arena scratch;
    ts__arena_init(&scratch, ts_alloc_default());
    ts_pass_env env = {&scratch, TS_TARGET_CPU, NULL, &plan};
    ts_llvm_options options = {.level = 2, .verify = true};
    ts_cpu_env cpu = {&r->fault[0], run_print, r->printed[0], &(_Atomic uint32_t){0}, NULL};
    ts_cpu_entry *entry = NULL;
    void *image = NULL;
    size_t n = 0;
    ts_status status = ts__llvm_target(r->fn, &env, &r->host, &options, &code, &r->err);
    if (status == TS_OK)
        status = ts__object_load(code.bytes, code.n_bytes, "kernel", &image, &n, &entry, &r->err);
    if (status == TS_OK) {
        uint64_t param[RUN_PARAMS];
        void *memory = aligned_alloc(64, plan.scratch_bytes + 64);
        memset(memory, 0xCD, plan.scratch_bytes + 64);
        memcpy(param, r->param, sizeof param);
        for (uint32_t a = 0; a < r->n_arrays; a++)
            param[r->array[a].param] = (uint64_t)(uintptr_t)r->array[a].cpu;
        entry(param, r->grid, 0, (int64_t)r->grid[0] * r->grid[1] * r->grid[2], memory, &cpu);
        free(memory);
    }
    if (status == TS_OK && r->printed[0][0] && !plan.uses_print)
        status = ts_fail(&r->err, TS_INTERNAL, "the kernel prints and its plan does not say so");
    ts__object_unload(image, n);
    free(code.bytes);
    free(code.messages);
    ts__arena_deinit(&scratch);
    if (status != TS_OK)
        fprintf(stderr, "%s: %s\n", ts_status_name(status), r->err.text);
    return status == TS_OK;
}

static inline bool run_eval(run *r)
{
    uint64_t param[RUN_PARAMS];
    ts_eval_env env = {.print = run_print, .print_user = r->printed[1], .fault = &r->fault[1]};
    memcpy(param, r->param, sizeof param);
    for (uint32_t a = 0; a < r->n_arrays; a++)
        param[r->array[a].param] = (uint64_t)(uintptr_t)r->array[a].eval;
    ts_status status = ts__eval_grid(r->fn, param, r->n_params, r->grid, &env, &r->err);
    if (status != TS_OK)
        fprintf(stderr, "eval: %s: %s\n", ts_status_name(status), r->err.text);
    return status == TS_OK;
}

static inline bool run_close(const run *r, ts_type elem, uint64_t x, uint64_t y)
{
    if (ts__scalar_same(elem, x, y))
        return true;
    if (!ts_type_is_float(NULL, elem) || r->tolerance == 0)
        return false;
    double a = ts__float_to_f64(elem, x), b = ts__float_to_f64(elem, y);
    return fabs(a - b) <= r->tolerance * (1 + fabs(b));
}

/* True when every array is the same on both; says where it is not. */
static inline bool run_same(run *r, const char *what)
{
    for (uint32_t a = 0; a < r->n_arrays; a++)
        for (int64_t i = 0; i < r->array[a].n; i++) {
            uint64_t x = ts__scalar_load(NULL, r->array[a].elem, r->array[a].cpu, i);
            uint64_t y = ts__scalar_load(NULL, r->array[a].elem, r->array[a].eval, i);
            if (run_close(r, r->array[a].elem, x, y))
                continue;
            fprintf(stderr, "%s: array %u element %lld: cpu %llx (%g), eval %llx (%g)\n", what, a, (long long)i,
                    (unsigned long long)x, ts__float_to_f64(r->array[a].elem, x), (unsigned long long)y,
                    ts__float_to_f64(r->array[a].elem, y));
            return false;
        }
    return strcmp(r->printed[0], r->printed[1]) == 0 && r->fault[0].code == r->fault[1].code &&
           r->fault[0].index == r->fault[1].index && r->fault[0].extent == r->fault[1].extent;
}

static inline void run_end(run *r)
{
    for (uint32_t a = 0; a < r->n_arrays; a++) {
        run_unguard(r->array[a].cpu, run_bytes(r->array[a].elem, r->array[a].n));
        free(r->array[a].eval);
    }
    ts__arena_deinit(&r->arena);
}

/* Ends the function, runs it both ways and checks that they agree. */
static inline void run_check(run *r, const char *what)
{
    ts_term(&r->b, TS_OP_return, 0, NULL);
    bool ok = run_eval(r) && run_cpu(r) && run_same(r, what);
    if (!ok)
        fprintf(stderr, "in case %s\n", what);
    CHECK(ok);
    run_end(r);
}

/* ---- building -----------------------------------------------------------------------------------*/

static inline ts_type run_tile(run *r, ts_type elem, uint32_t rank, const int64_t *dims)
{
    return ts_type_tile(r->m, elem, rank, dims);
}

/* A view of tiles over a dense row-major array with run-time extents and static unit last stride. */
static inline ts_val run_view(run *r, ts_val base, ts_type elem, uint32_t rank,
                              const int64_t *shape, const int64_t *tile)
{
    int64_t dims[TS_MAX_RANK], strides[TS_MAX_RANK], step = 1;
    int32_t map[TS_MAX_RANK];
    ts_val x[1 + 2 * TS_MAX_RANK] = {base};
    uint32_t n = 1;
    for (uint32_t k = 0; k < rank; k++) {
        dims[k] = TS_DYNAMIC;
        strides[k] = k + 1 < rank ? TS_DYNAMIC : 1;
        map[k] = (int32_t)k;
        x[n++] = ts_int(&r->b, TS_T_i64, shape[k]);
    }
    for (uint32_t k = 0; k + 1 < rank; k++) {
        step = 1;
        for (uint32_t j = k + 1; j < rank; j++)
            step *= shape[j];
        x[n++] = ts_int(&r->b, TS_T_i64, step);
    }
    ts_type tensor = ts_type_make(r->m, &(ts_type_info){.kind = TS_KIND_TENSOR_VIEW,
                                                        .rank = (uint8_t)rank,
                                                        .elem = elem,
                                                        .dims = dims,
                                                        .strides = strides});
    ts_val tv = ts_emit(&r->b, TS_OP_make_tensor_view, tensor, n, x, 0, 0);
    ts_type part = ts_type_make(r->m, &(ts_type_info){.kind = TS_KIND_PARTITION_VIEW,
                                                      .rank = (uint8_t)rank,
                                                      .elem = tensor,
                                                      .dims = tile,
                                                      .dim_map = map,
                                                      .padding = TS_PAD_ZERO});
    return ts_emit(&r->b, TS_OP_make_partition_view, part, 1, &tv, 0, 0);
}

static inline ts_val run_load(run *r, ts_val view, ts_type tile, uint32_t n, const ts_val *index)
{
    ts_val x[1 + TS_MAX_RANK] = {view};
    memcpy(x + 1, index, n * sizeof *index);
    return ts_emit(&r->b, TS_OP_load_view_tko, tile, n + 1, x, 0, 0);
}

static inline void run_store(run *r, ts_val view, ts_val tile, uint32_t n, const ts_val *index)
{
    ts_val x[2 + TS_MAX_RANK] = {view, tile};
    memcpy(x + 2, index, n * sizeof *index);
    ts_emit(&r->b, TS_OP_store_view_tko, TS_T_token, n + 2, x, 0, 0);
}

static inline ts_val run_id(run *r, uint32_t axis)
{
    return ts_emit(&r->b, TS_OP_get_tile_block_id, TS_T_i32, 0, NULL, axis, 0);
}

#endif
