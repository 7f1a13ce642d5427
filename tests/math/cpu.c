/* SPDX-License-Identifier: Apache-2.0
 *
 * Same bits on every target: each function compiled for this processor against the interpreter of
 * flat.h (IEEE operations one by one), on the specials, huge and random arguments, bit for bit. The GPU
 * side of the promise is measured on a GPU; here vectors of 64, 32 and 16 bytes stand in for machines.
 */
#include "../target/llvm_run.h"
#include "math/flat.h"
#include "math/rows.h"
#include "pass/pass.h"

enum { CPU_N = 1 << 14, CPU_TILE = 256 };

/* Whole blocks of ordinary numbers, so that cold paths are also not taken, then blocks of anything. */
static uint64_t cpu_argument(ts_type type, int i, uint64_t *state)
{
    static const double special[] = {0,    -0.0, 1,     -1,     0.5, 88,       -88,       1e5,
                                     -1e9, 1e30, 1e-40, -1e-42, 710, INFINITY, -INFINITY, NAN};
    uint64_t r = math_random(state), mask = ts_type_bits(NULL, type) == 64
                                               ? UINT64_MAX
                                               : ((uint64_t)1 << ts_type_bits(NULL, type)) - 1;
    if (type == TS_T_i32)
        return i % 2 ? r & mask : (r % 801 - 400) & mask;
    if (i < CPU_N / 4)
        return ts__float_from_f64(type, (double)(int64_t)(r % 20001) / 1000 - 10, TS_RN);
    if (i % 8 == 0)
        return ts__float_from_f64(type, special[r % TS_COUNT(special)], TS_RN);
    return i % 2 ? r & mask : ts__float_from_f64(type, (double)(int64_t)r * 0x1p-52, TS_RN);
}

static void cpu_fill(run *r, uint32_t a)
{
    uint64_t state = 77 + a;
    for (int i = 0; i < CPU_N; i++)
        ts__scalar_store(NULL, r->array[a].elem, r->array[a].cpu, i, cpu_argument(r->array[a].elem, i, &state));
}

static void cpu_passes(ts_fn *fn)
{
    static const ts_hints hints = {0};
    ts_error err = {0};
    ts_arena scratch;
    ts__arena_init(&scratch, ts_alloc_default());
    ts_pass_env env = {&scratch, TS_TARGET_CPU, &hints, NULL};
    CHECK_OK(ts__pass_math(fn, &env, &err));
    CHECK_OK(ts__pass_legalize(fn, &env, &err));
    CHECK_OK(ts_fn_verify(fn, &err));
    ts__arena_deinit(&scratch);
}

/* out[i] = op(x[i] [, y[i]]) compiled: arrays x, [y], out. */
static bool cpu_compiled(run *r, const math_case *c, ts_type type)
{
    int64_t n = CPU_N, tile = CPU_TILE;
    ts_val x[3] = {0}, p[3];
    uint32_t args = math_operands(c);
    for (uint32_t i = 0; i <= args; i++)
        p[i] = run_array(r, i == 1 && args == 2 ? math_second(c, type) : type, n);
    ts_val id = run_id(r, 0);
    for (uint32_t i = 0; i < args; i++) {
        cpu_fill(r, i);
        memcpy(r->array[i].eval, r->array[i].cpu, run_bytes(r->array[i].elem, CPU_N));
        ts_type elem = r->array[i].elem;
        x[i] = run_load(r, run_view(r, p[i], elem, 1, &n, &tile), run_tile(r, elem, 1, &tile), 1, &id);
    }
    run_store(r, run_view(r, p[args], type, 1, &n, &tile), math_build_float(&r->b, c, x[0], x[1]), 1, &id);
    ts_term(&r->b, TS_OP_return, 0, NULL);
    r->grid[0] = CPU_N / CPU_TILE;
    if (c->op == TS_OP_fn) /* of operations the evaluator asks libm */
        CHECK(run_eval(r));
    cpu_passes(r->fn);
    return run_cpu(r) && (c->op != TS_OP_fn || run_same(r, c->name));
}

/* The same function of scalars for the interpreter. */
static void cpu_interpreted(flat *f, ts_arena *arena, const math_case *c, ts_type type)
{
    ts_module *m = ts__module_create(arena);
    ts_fn *fn = ts_fn_create(m, "f", TS_LEVEL_T);
    ts_builder b;
    ts__builder_init(&b, fn);
    ts_val x = ts_fn_param(&b, type), y = math_operands(c) == 2 ? ts_fn_param(&b, math_second(c, type)) : 0;
    ts_val p = ts_fn_param(&b, ts_type_ptr(m, type, TS_GLOBAL)), z = math_build_float(&b, c, x, y);
    ts_emit(&b, TS_OP_store_ptr_tko, TS_T_token, 2, (ts_val[]){p, z}, 0, 0);
    ts_term(&b, TS_OP_return, 0, NULL);
    cpu_passes(fn);
    for (ts_val v = 1; v < fn->inst.n; v++)
        if (ts_at(fn, v)->op == TS_OP_store_ptr_tko)
            flat_init(f, fn, ts_opnd(fn, v, 1));
}

static uint64_t cpu_differences(run *r, flat *f, const math_case *c, ts_type type)
{
    uint32_t args = math_operands(c);
    uint64_t differ = 0;
    for (int base = 0; base < CPU_N; base += FLAT_N) {
        for (uint32_t a = 0; a < args; a++)
            for (int i = 0; i < FLAT_N; i++)
                flat_put(flat_param(f, a), r->array[a].elem, i,
                         ts__scalar_load(NULL, r->array[a].elem, r->array[a].cpu, base + i));
        const void *want = flat_run(f);
        for (int i = 0; i < FLAT_N; i++) {
            uint64_t got = ts__scalar_load(NULL, type, r->array[args].cpu, base + i);
            if (!ts__scalar_same(type, got, flat_get(want, type, i)) && !differ++)
                fprintf(stderr, "%s %s of %llx: compiled %llx, interpreted %llx\n", c->name,
                        ts_scalar_name(type),
                        (unsigned long long)ts__scalar_load(NULL, type, r->array[0].cpu, base + i),
                        (unsigned long long)got, (unsigned long long)flat_get(want, type, i));
        }
    }
    return differ;
}

static void compiled_and_interpreted_functions_agree(const math_case *c, ts_type type)
{
    run r;
    flat f = {0};
    ts_arena arena;
    ts__arena_init(&arena, ts_alloc_default());
    run_begin(&r);
    CHECK(cpu_compiled(&r, c, type));
    cpu_interpreted(&f, &arena, c, type);
    CHECK_INT(cpu_differences(&r, &f, c, type), 0);
    flat_deinit(&f);
    run_end(&r);
    ts__arena_deinit(&arena);
}

int main(void)
{
    static const ts_type types[] = {TS_T_f32, TS_T_f64, TS_T_f16, TS_T_bf16};
    static const uint32_t widths[] = {64, 32, 16};
    for (size_t w = 0; w < TS_COUNT(widths); w++)
        for (size_t o = 0; o < TS_COUNT(math_cases); o += check_step(5))
            for (size_t t = 0; t < (w ? 1 : TS_COUNT(types)); t++) {
                run_vector_bytes = widths[w];
                compiled_and_interpreted_functions_agree(&math_cases[o], types[t]);
            }
    return check_done();
}
