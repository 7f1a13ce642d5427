/* SPDX-License-Identifier: Apache-2.0
 *
 * Every operation that legalize rewrites, before and after, on random and special operands: equal
 * payloads as ir/scalar.h defines them. Prints nothing but failures.
 */
#include "../math/flat.h"
#include "check.h"
#include "pass/pass.h"

static uint64_t legal_random(uint64_t *state) /* splitmix64 */
{
    uint64_t z = (*state += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

static uint64_t legal_float(ts_type type, uint64_t r, uint64_t kind)
{
    static const double special[] = {0, -0.0, 1, -1, 2, 3, 0.1, 448, 57344, 65504, 1e30, INFINITY, -INFINITY, NAN};
    const ts_float_format *f = ts__float_format_of(type);
    int mant = f->mant_bits + f->pad_bits;
    uint64_t bits = r & (f->bits == 64 ? UINT64_MAX : ((uint64_t)1 << f->bits) - 1), low = ((uint64_t)1 << mant) - 1;
    uint64_t sign = bits & ts__float_sign_mask(type);
    uint64_t bias = TS_MAX((uint64_t)f->bias, 12);
    if (kind % 8 < 3)
        return bits;
    if (kind % 8 < 5) /* moderate exponents, so that sums cancel and products stay */
        return sign | (bits & low) | (bias - 3 + (r >> 40) % 7) << mant;
    if (kind % 8 < 6) /* subnormal and the least normal */
        return sign | (bits & low) | ((r >> 40) % 3) << mant;
    if (kind % 8 < 7) /* greatest */
        return sign | (bits & low) | ((((uint64_t)1 << f->exp_bits) - 2) << mant);
    return ts__float_from_f64(type, special[(r >> 40) % TS_COUNT(special)], TS_RN);
}

static uint64_t legal_operand(ts_type type, uint64_t *state)
{
    uint64_t r = legal_random(state), kind = legal_random(state);
    if (ts__float_format_of(type) && type != TS_T_f4E2M1FN && ts__float_format_of(type)->bits > 8)
        return legal_float(type, r, kind);
    if (ts__float_format_of(type))
        return ts__scalar_wrap(type, r & (type == TS_T_f4E2M1FN ? 15 : 255));
    static const int64_t special[] = {0, 1, -1, 2, 7, INT64_MAX, INT64_MIN, INT32_MAX, INT32_MIN, 255, -128, 64};
    uint64_t bits = kind % 4 == 0 ? (uint64_t)special[r % TS_COUNT(special)] : r >> kind % 60;
    return ts__scalar_wrap(type, bits);
}

typedef struct legal_case {
    ts_op op;
    uint32_t attr, n;
    ts_type from, to;
    ts_target target;
    bool has_const; /* the last operand is the constant below */
    uint64_t constant;
} legal_case;

/* The case as a function after legalize, ready to run. */
static bool legal_build(const legal_case *c, ts_arena *arena, ts_arena *scratch, flat *run)
{
    static const ts_hints hints = {0};
    ts_error err = {0};
    ts_module *m = ts__module_create(arena);
    ts_fn *fn = ts_fn_create(m, "f", TS_LEVEL_T);
    ts_builder b;
    ts__builder_init(&b, fn);
    ts_val x[3] = {0};
    for (uint32_t i = 0; i < c->n; i++)
        x[i] = ts_fn_param(&b, c->from);
    ts_val p = ts_fn_param(&b, ts_type_ptr(m, c->to, TS_GLOBAL));
    if (c->has_const)
        x[c->n - 1] = ts_bits(&b, c->from, c->constant);
    ts_val z = ts_emit(&b, c->op, c->to, c->n, x, c->attr, 0);
    ts_emit(&b, TS_OP_store_ptr_tko, TS_T_token, 2, (ts_val[]){p, z}, 0, 0);
    ts_term(&b, TS_OP_return, 0, NULL);
    ts_pass_env env = {scratch, c->target, &hints, NULL};
    CHECK_OK(ts__pass_legalize(fn, &env, &err));
    CHECK_OK(ts_fn_verify(fn, &err));
    for (ts_val v = 1; v < fn->inst.n; v++)
        if (ts_at(fn, v)->op == TS_OP_store_ptr_tko)
            flat_init(run, fn, ts_opnd(fn, v, 1));
    return run->fn && !strstr(err.text, "breaks");
}

static int legal_changed; /* cases that the pass rewrote */

/* Runs blocks of operands through both forms; true when all are equal. */
static bool legal_compare(const legal_case *c, flat *run, int blocks)
{
    uint64_t state = c->attr + 77 * c->op + 1000 * c->from, in[FLAT_N][3];
    ts_scalar op;
    if (!ts__scalar_prepare(&op, run->fn->module, c->op, c->attr, c->from, c->to))
        return false;
    for (int block = 0; block < blocks; block++) {
        for (int i = 0; i < FLAT_N; i++)
            for (uint32_t k = 0; k < c->n; k++) {
                in[i][k] = c->has_const && k == c->n - 1 ? c->constant : legal_operand(c->from, &state);
                flat_put(flat_param(run, k), c->from, i, in[i][k]);
            }
        const void *out = flat_run(run);
        for (int i = 0; i < FLAT_N; i++) {
            ts_scalar_fault fault = TS_SCALAR_OK;
            uint64_t want = ts__scalar_run(&op, in[i], &fault), got = flat_get(out, c->to, i);
            if (fault == TS_SCALAR_OK && !ts__scalar_same(c->to, want, got)) {
                fprintf(stderr,
                        "%s attr %x %s -> %s target %d: x %" PRIx64 " y %" PRIx64 " z %" PRIx64
                        " gives %" PRIx64 ", wanted %" PRIx64 "\n",
                        ts__ops[c->op].name, c->attr, ts_scalar_name(c->from), ts_scalar_name(c->to),
                        c->target, in[i][0], c->n > 1 ? in[i][1] : 0, c->n > 2 ? in[i][2] : 0, got,
                        want);
                return false;
            }
        }
    }
    return true;
}

static void legal_test(const legal_case *c, int blocks)
{
    ts_arena arena, scratch;
    flat run = {0};
    ts__arena_init(&arena, ts_alloc_default());
    ts__arena_init(&scratch, ts_alloc_default());
    CHECK(legal_build(c, &arena, &scratch, &run));
    const ts_inst *out = ts_at(run.fn, run.out);
    legal_changed += out->op != c->op || out->aux != c->attr;
    CHECK(legal_compare(c, &run, blocks));
    flat_deinit(&run);
    ts__arena_deinit(&arena);
    ts__arena_deinit(&scratch);
}

static void directed_arithmetic_rounds_once_on_cpu(void)
{
    static const ts_type types[] = {TS_T_f16, TS_T_bf16, TS_T_f32, TS_T_f64};
    static const struct {
        ts_op op;
        uint32_t n;
    } ops[] = {{TS_OP_addf, 2}, {TS_OP_subf, 2}, {TS_OP_mulf, 2}, {TS_OP_divf, 2}, {TS_OP_sqrt, 1}, {TS_OP_fma, 3}};
    for (size_t t = 0; t < TS_COUNT(types); t++)
        for (size_t o = 0; o < TS_COUNT(ops); o++)
            for (uint32_t round = TS_RZ; round <= TS_RP; round++) {
                int blocks = types[t] == TS_T_f64 && ops[o].op == TS_OP_fma ? 8 : 20;
                legal_test(&(legal_case){ops[o].op, round, ops[o].n, types[t], types[t], TS_TARGET_CPU, 0, 0}, blocks);
                if (types[t] == TS_T_f32)
                    legal_test(&(legal_case){ops[o].op, round | TS_A_FTZ, ops[o].n, types[t],
                                             types[t], TS_TARGET_CPU, 0, 0},
                               10);
            }
}

static void directed_fma_of_narrow_floats_rounds_once_on_gpu(void)
{
    for (uint32_t round = TS_RZ; round <= TS_RP; round++) {
        legal_test(&(legal_case){TS_OP_fma, round, 3, TS_T_f16, TS_T_f16, TS_TARGET_SM90, 0, 0}, 20);
        legal_test(&(legal_case){TS_OP_fma, round, 3, TS_T_bf16, TS_T_bf16, TS_TARGET_SM90, 0, 0}, 20);
    }
}

static void directed_conversions_round_once_on_cpu(void)
{
    static const ts_type ints[] = {TS_T_i1, TS_T_i8, TS_T_i16, TS_T_i32, TS_T_i64};
    static const ts_type floats[] = {TS_T_f16, TS_T_bf16, TS_T_f32, TS_T_f64};
    for (uint32_t round = TS_RZ; round <= TS_RP; round++) {
        legal_test(&(legal_case){TS_OP_ftof, round, 1, TS_T_f64, TS_T_f32, TS_TARGET_CPU, 0, 0}, 40);
        for (size_t i = 0; i < TS_COUNT(ints); i++)
            for (size_t f = 0; f < TS_COUNT(floats); f++)
                for (uint32_t sign = 0; sign <= TS_A_UNSIGNED; sign += TS_A_UNSIGNED)
                    legal_test(&(legal_case){TS_OP_itof, round | sign, 1, ints[i], floats[f], TS_TARGET_CPU, 0, 0}, 10);
    }
}

static void small_floats_convert_by_integers_on_gpu(void)
{
    static const ts_type small[] = {TS_T_f8E4M3FN, TS_T_f8E5M2, TS_T_f8E8M0FNU, TS_T_f4E2M1FN, TS_T_f8E5M3FNU};
    static const ts_type big[] = {TS_T_f16, TS_T_bf16, TS_T_f32, TS_T_f64};
    for (size_t s = 0; s < TS_COUNT(small); s++)
        for (size_t t = 0; t < TS_COUNT(big); t++) {
            legal_test(&(legal_case){TS_OP_ftof, 0, 1, small[s], big[t], TS_TARGET_SM80, 0, 0}, 4);
            legal_test(&(legal_case){TS_OP_ftof, 0, 1, small[s], big[t], TS_TARGET_SM90, 0, 0}, 4);
            for (uint32_t round = TS_RN; round <= TS_RP; round++) {
                legal_test(&(legal_case){TS_OP_ftof, round, 1, big[t], small[s], TS_TARGET_SM80, 0, 0}, 20);
                legal_test(&(legal_case){TS_OP_ftof, round, 1, big[t], small[s], TS_TARGET_SM90, 0, 0}, 4);
            }
            legal_test(&(legal_case){TS_OP_ftof, TS_RA, 1, big[t], small[s], TS_TARGET_SM80, 0, 0}, 20);
        }
    for (size_t s = 0; s < TS_COUNT(small); s++)
        for (size_t t = 0; t < TS_COUNT(small); t++)
            legal_test(&(legal_case){TS_OP_ftof, 0, 1, small[s], small[t], TS_TARGET_SM80, 0, 0}, 2);
}

static void division_by_constants_is_exact_on_gpu(void)
{
    static const ts_type ints[] = {TS_T_i8, TS_T_i16, TS_T_i32, TS_T_i64};
    static const int64_t divisors[] = {1,
                                       2,
                                       3,
                                       5,
                                       7,
                                       10,
                                       11,
                                       16,
                                       48,
                                       64,
                                       100,
                                       127,
                                       128,
                                       255,
                                       641,
                                       1000,
                                       4096,
                                       32767,
                                       65535,
                                       65537,
                                       1000003,
                                       INT32_MAX,
                                       INT32_MIN,
                                       0x7FFFFFFFFFFFFFFF,
                                       1000000007LL * 1000003,
                                       -1,
                                       -3,
                                       -8,
                                       INT64_MIN,
                                       0};
    static const uint32_t attrs[] = {
        0, TS_RZ, TS_RM, TS_RP, TS_A_UNSIGNED, TS_A_UNSIGNED | TS_RM, TS_A_UNSIGNED | TS_RP};
    for (size_t i = 0; i < TS_COUNT(ints); i++)
        for (size_t a = 0; a < TS_COUNT(attrs); a++)
            for (size_t d = 0; d < TS_COUNT(divisors); d++)
                for (int op = 0; op < 2; op++) {
                    uint64_t divisor = ts__scalar_wrap(ints[i], (uint64_t)divisors[d]);
                    legal_test(&(legal_case){op ? TS_OP_remi : TS_OP_divi, attrs[a], 2, ints[i],
                                             ints[i], TS_TARGET_SM90, true, divisor},
                               2);
                }
}

static void remainders_round_as_asked_on_gpu(void)
{
    static const uint32_t attrs[] = {0, TS_RM, TS_RP, TS_A_UNSIGNED, TS_A_UNSIGNED | TS_RM, TS_A_UNSIGNED | TS_RP};
    for (ts_type t = TS_T_i8; t <= TS_T_i64; t++)
        for (size_t a = 0; a < TS_COUNT(attrs); a++) {
            legal_test(&(legal_case){TS_OP_remi, attrs[a], 2, t, t, TS_TARGET_SM90, 0, 0}, 20);
            legal_test(&(legal_case){TS_OP_divi, attrs[a], 2, t, t, TS_TARGET_SM90, 0, 0}, 20);
        }
}

static void wide_shift_counts_are_clamped_on_gpu(void)
{
    static const uint32_t attrs[] = {0, TS_A_UNSIGNED};
    for (size_t a = 0; a < TS_COUNT(attrs); a++)
        legal_test(&(legal_case){TS_OP_shri, attrs[a], 2, TS_T_i64, TS_T_i64, TS_TARGET_SM90, 0, 0}, 10);
    legal_test(&(legal_case){TS_OP_shli, 0, 2, TS_T_i64, TS_T_i64, TS_TARGET_SM90, 0, 0}, 10);
}

static void maximum_with_a_constant_keeps_nan_and_zero_rules(void)
{
    static const double constants[] = {0, -0.0, 1, -104.5, INFINITY, -INFINITY, NAN};
    for (size_t i = 0; i < TS_COUNT(constants); i++)
        for (uint32_t nan = 0; nan <= TS_A_NAN; nan += TS_A_NAN)
            for (int op = 0; op < 2; op++) {
                ts_op which = op ? TS_OP_minf : TS_OP_maxf;
                uint64_t c = ts_bits_of_f32((float)constants[i]), wide = ts_bits_of_f64(constants[i]);
                legal_test(&(legal_case){which, nan, 2, TS_T_f32, TS_T_f32, TS_TARGET_CPU, true, c}, 10);
                legal_test(&(legal_case){which, nan, 2, TS_T_f64, TS_T_f64, TS_TARGET_CPU, true, wide}, 10);
            }
}

/* q = (block number) / 24 needs no care for negative numbers: one multiplication, one shift. The same by a number that
 * is known at run time: one division and one remainder, both without a sign. */
static void known_signs_make_division_short_on_gpu(void)
{
    static const ts_hints hints = {0};
    ts_error err = {0};
    ts_arena arena, scratch;
    ts__arena_init(&arena, ts_alloc_default());
    ts__arena_init(&scratch, ts_alloc_default());
    ts_fn *fn = ts_fn_create(ts__module_create(&arena), "f", TS_LEVEL_T);
    ts_builder b;
    ts__builder_init(&b, fn);
    ts_val x = ts_emit(&b, TS_OP_get_tile_block_id, TS_T_i32, 0, NULL, 0, 0);
    ts_val y = ts_emit(&b, TS_OP_get_tile_block_id, TS_T_i32, 0, NULL, 0, 1);
    ts_op2(&b, TS_OP_divi, x, ts_int(&b, TS_T_i32, 24), 0);
    ts_op2(&b, TS_OP_divi, x, y, TS_RM);
    ts_op2(&b, TS_OP_remi, x, y, TS_RM);
    ts_term(&b, TS_OP_return, 0, NULL);
    ts_pass_env env = {&scratch, TS_TARGET_SM90, &hints, NULL};
    CHECK_OK(ts__pass_legalize(fn, &env, &err));
    uint32_t n[TS_OP_COUNT] = {0};
    for (ts_val v = 1; v < fn->inst.n; v++) {
        const ts_inst *inst = ts_at(fn, v);
        n[inst->op]++;
        if (inst->op == TS_OP_divi || inst->op == TS_OP_remi)
            CHECK_INT(inst->aux, TS_A_UNSIGNED | TS_RZ);
    }
    CHECK_INT(n[TS_OP_mulhii] + n[TS_OP_shri], 2);
    CHECK(n[TS_OP_divi] == 1 && n[TS_OP_remi] == 1);
    CHECK_INT(n[TS_OP_xori] + n[TS_OP_cmpi] + n[TS_OP_select], 0);
    ts__arena_deinit(&scratch);
    ts__arena_deinit(&arena);
}

int main(void)
{
    known_signs_make_division_short_on_gpu();
    directed_arithmetic_rounds_once_on_cpu();
    directed_fma_of_narrow_floats_rounds_once_on_gpu();
    directed_conversions_round_once_on_cpu();
    small_floats_convert_by_integers_on_gpu();
    division_by_constants_is_exact_on_gpu();
    remainders_round_as_asked_on_gpu();
    wide_shift_counts_are_clamped_on_gpu();
    maximum_with_a_constant_keeps_nan_and_zero_rules();
    CHECK(legal_changed > 500);
    return check_done();
}
