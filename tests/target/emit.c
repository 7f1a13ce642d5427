/* SPDX-License-Identifier: Apache-2.0
 *
 * The PTX emitter (src/target/ptx/emit*.c): every operation of the thread level is written for every
 * architecture that has it and assembled by ptxas, whose C75xx remarks count as failures; registers are
 * shared where they must be. Without ptxas the assembling is skipped and counted.
 */
#include "target/ptx/emit.h"
#include "assemble.h"
#include "check.h"
#include <dirent.h>

/* ---- a kernel under construction ---------------------------------------------------------------- */

typedef struct kit {
    ts_arena arena;
    ts_module *m;
    ts_fn *fn;
    ts_builder b;
    ts_plan plan;
    ts_text text;
    ts_val in, out; /* pointers to f32 */
    int n_out;
} kit;

static void kit_begin(kit *k, uint32_t target)
{
    memset(k, 0, sizeof *k);
    ts__arena_init(&k->arena, NULL);
    ts__text_init(&k->text, NULL);
    k->m = ts__module_create(&k->arena);
    k->fn = ts_fn_create(k->m, "k", TS_LEVEL_S);
    k->fn->entry = true;
    ts__builder_init(&k->b, k->fn);
    k->plan.target = target;
    k->plan.threads = 128;
    k->in = ts_fn_param(&k->b, ts_type_ptr(k->m, TS_T_f32, TS_GLOBAL));
    k->out = ts_fn_param(&k->b, ts_type_ptr(k->m, TS_T_f32, TS_GLOBAL));
}

static void kit_end(kit *k)
{
    ts__text_deinit(&k->text);
    ts__arena_deinit(&k->arena);
}

static ts_val at(kit *k, ts_val base, ts_type type, int64_t bytes)
{
    ts_val moved = ts_emit(&k->b, TS_OP_ptr_add, ts_type_of(k->fn, base), 2,
                           (ts_val[]){base, ts_int(&k->b, TS_T_i64, bytes)}, 0, 0);
    return ts_emit(&k->b, TS_OP_ptr_to_ptr, ts_type_ptr(k->m, type, TS_GLOBAL), 1, &moved, 0, 0);
}

/* A value of the type that nobody can fold. */
static ts_val value(kit *k, ts_type type)
{
    ts_val p = at(k, k->in, type, 8 * (k->n_out % 16));
    return ts_emit_multi(&k->b, TS_OP_ld, 1, &p, TS_S(0, 1, 0), 0, 1, &type) + 1;
}

static void sink(kit *k, ts_val v)
{
    ts_val opnds[] = {at(k, k->out, ts_type_of(k->fn, v), 8 * k->n_out++), v};
    ts_emit(&k->b, TS_OP_st, TS_T_none, 2, opnds, TS_S(0, 1, 0), 0);
}

static ts_val shared(kit *k, ts_type type, uint32_t offset)
{
    k->plan.shared_bytes = 65536;
    return ts_emit(&k->b, TS_OP_shared, ts_type_ptr(k->m, type, TS_SHARED), 0, NULL, offset, 0);
}

static ts_val op0(kit *k, ts_op op, ts_type type, uint32_t aux)
{
    return ts_emit(&k->b, op, type, 0, NULL, aux, 0);
}

/* ---- ptxas ----------------------------------------------------------------------------------------- */

static bool covered[TS_OP_COUNT];

/* A signed max or min whose second operand a neg.s32 wrote, or a lop3 that reads one register twice. */
static bool negates_second_or_reads_twice(const char *line, const char *text)
{
    char op[16], to[16], x[16], y[16], written[32];
    if (sscanf(line, "%15s %15[^,], %15[^,], %15[^,;]", op, to, x, y) != 4)
        return false;
    snprintf(written, sizeof written, "neg.s32 %s,", y);
    bool minmax = !strcmp(op, "max.s32") || !strcmp(op, "min.s32");
    return minmax ? strstr(text, written) != NULL : !strcmp(op, "lop3.b32") && !strcmp(x, y);
}

/* No line is of a kind that ptxas 13.0 gets wrong; emit_alu.c says how. */
static bool avoids_mistakes(const char *text)
{
    for (const char *line = text, *end; (end = strchr(line, '\n')); line = end + 1) {
        bool by_minus_one = end - line > 4 && !strncmp(end - 4, " -1;", 4);
        if (!strncmp(line, "abs.s", 5) || !strncmp(line, "not.b", 5) ||
            (!strncmp(line, "xor.b32", 7) && by_minus_one) || negates_second_or_reads_twice(line, text)) {
            fprintf(stderr, "ptxas gets this wrong: %.*s\n", (int)(end - line), line);
            return false;
        }
    }
    return true;
}

static void emit(kit *k)
{
    ts_error err;
    ts_term(&k->b, TS_OP_return, 0, NULL);
    CHECK_OK(ts_builder_status(&k->b, &err));
    CHECK_OK(ts__ptx_emit(k->fn, &k->plan, &k->text, &err));
    CHECK(avoids_mistakes(ts__text_get(&k->text)));
    for (uint32_t v = 1; v < k->fn->inst.n; v++)
        covered[ts_at(k->fn, v)->op] = true;
}

static void emit_and_assemble(kit *k)
{
    emit(k);
    if (has_assembler())
        CHECK(assembles(ts__text_get(&k->text), ts__sm_find(k->plan.target)->name, true));
    else
        check_skipped++;
}

static bool has(const kit *k, const char *what)
{
    return strstr(ts__text_get(&k->text), what) != NULL;
}

/* ---- every operation assembles ------------------------------------------------------------------------ */

static const ts_type floats[] = {TS_T_f16, TS_T_bf16, TS_T_f32, TS_T_f64};
static const ts_type ints[] = {TS_T_i1, TS_T_i8, TS_T_i16, TS_T_i32, TS_T_i64};

static bool is_math(ts_op op)
{
    return ts__ops[op].flags & TS_WRITTEN;
}

static void every_float_op(kit *k, ts_op op)
{
    static const uint32_t attrs[] = {0, TS_RZ, TS_RM, TS_RP, TS_A_FTZ, TS_A_NAN, TS_APPROX, TS_FULL,
                                     TS_A_UNORDERED | TS_A_PRED(TS_NE), TS_A_PRED(TS_GE)};
    const ts_op_info *info = &ts__ops[op];
    for (size_t i = 0; i < TS_COUNT(floats); i++)
        for (size_t j = 0; j < TS_COUNT(attrs); j++) {
            ts_val x = value(k, floats[i]), y = value(k, floats[i]), z = value(k, floats[i]);
            if (op == TS_OP_fma && j >= 1 && j <= 3 && i < 2)
                continue; /* 16-bit fma rounds to nearest only */
            sink(k, info->n_opnd == 1   ? ts_op1(&k->b, op, x, attrs[j])
                    : info->n_opnd == 2 ? ts_op2(&k->b, op, x, y, attrs[j])
                                        : ts_op3(&k->b, op, x, y, z, attrs[j]));
            sink(k, info->n_opnd == 2 ? ts_op2(&k->b, op, x, ts_float(&k->b, floats[i], 2.5), attrs[j]) : x);
        }
}

static void every_int_op(kit *k, ts_op op)
{
    static const uint32_t attrs[] = {0, TS_A_UNSIGNED, TS_RM, TS_RP, TS_RP | TS_A_UNSIGNED, TS_A_PRED(TS_LT),
                                     TS_A_PRED(TS_GE) | TS_A_UNSIGNED};
    for (size_t i = 0; i < TS_COUNT(ints); i++)
        for (size_t j = 0; j < TS_COUNT(attrs); j++) {
            ts_val x = value(k, ints[i]), y = value(k, ints[i]);
            bool one = ts__ops[op].n_opnd == 1;
            sink(k, one ? ts_op1(&k->b, op, x, attrs[j]) : ts_op2(&k->b, op, x, y, attrs[j]));
            sink(k, one ? x : ts_op2(&k->b, op, x, ts_int(&k->b, ints[i], 3), attrs[j]));
            sink(k, one ? y : ts_op2(&k->b, op, x, ts_int(&k->b, ints[i], -1), attrs[j]));
            sink(k, one ? x : ts_op2(&k->b, op, x, ts_op1(&k->b, TS_OP_negi, y, 0), attrs[j]));
            ts_val inverse = ts_op2(&k->b, TS_OP_xori, x, ts_int(&k->b, ints[i], -1), 0);
            sink(k, one ? y : ts_op2(&k->b, op, x, inverse, attrs[j]));
        }
}

static void arithmetic_assembles(uint32_t target)
{
    kit k;
    kit_begin(&k, target);
    for (int op = 0; op < TS_OP_COUNT; op++) {
        const ts_op_info *info = &ts__ops[op];
        bool is_float = info->rule == TS_RULE_UNF || info->rule == TS_RULE_BINF || info->rule == TS_RULE_TERF ||
                        info->rule == TS_RULE_CMPF;
        bool is_int = info->rule == TS_RULE_UNI || info->rule == TS_RULE_BINI || info->rule == TS_RULE_CMPI;
        if (is_float && !is_math((ts_op)op))
            every_float_op(&k, (ts_op)op);
        if (is_int)
            every_int_op(&k, (ts_op)op);
    }
    emit_and_assemble(&k);
    kit_end(&k);
}

static void approximate_math_assembles(uint32_t target)
{
    static const ts_op ops[] = {TS_OP_cos, TS_OP_sin, TS_OP_tan, TS_OP_tanh, TS_OP_log, TS_OP_log2, TS_OP_exp,
                                TS_OP_exp2, TS_OP_rsqrt};
    kit k;
    kit_begin(&k, target);
    for (size_t i = 0; i < TS_COUNT(ops); i++)
        for (size_t t = 0; t < 3; t++) {
            sink(&k, ts_op1(&k.b, ops[i], value(&k, floats[t]), TS_APPROX));
            sink(&k, ts_op1(&k.b, ops[i], value(&k, floats[t]), TS_APPROX | TS_A_FTZ));
        }
    sink(&k, ts_op2(&k.b, TS_OP_pow, value(&k, TS_T_f32), value(&k, TS_T_f32), TS_APPROX));
    emit_and_assemble(&k);
    kit_end(&k);
}

static void casts_between(kit *k, ts_op op, ts_type from, ts_type to)
{
    sink(k, ts_cast(&k->b, op, value(k, from), to, 0));
    sink(k, ts_cast(&k->b, op, value(k, from), to, TS_A_UNSIGNED));
}

static void conversions_assemble(uint32_t target)
{
    kit k;
    kit_begin(&k, target);
    for (size_t i = 0; i < TS_COUNT(ints); i++)
        for (size_t j = 0; j < TS_COUNT(ints); j++)
            if (i != j)
                casts_between(&k, i < j ? TS_OP_exti : TS_OP_trunci, ints[i], ints[j]);
    for (size_t i = 0; i < TS_COUNT(ints); i++)
        for (size_t j = 0; j < TS_COUNT(floats); j++) {
            casts_between(&k, TS_OP_itof, ints[i], floats[j]);
            casts_between(&k, TS_OP_ftoi, floats[j], ints[i]);
        }
    for (size_t i = 0; i < TS_COUNT(floats); i++)
        for (size_t j = 0; j < TS_COUNT(floats); j++)
            casts_between(&k, TS_OP_ftof, floats[i], floats[j]);
    casts_between(&k, TS_OP_bitcast, TS_T_i32, TS_T_f32);
    casts_between(&k, TS_OP_bitcast, TS_T_f64, TS_T_i64);
    casts_between(&k, TS_OP_bitcast, TS_T_f16, TS_T_i16);
    sink(&k, ts_cast(&k.b, TS_OP_ftof, value(&k, TS_T_f32), TS_T_tf32, TS_RN));
    sink(&k, ts_cast(&k.b, TS_OP_ftof, value(&k, TS_T_f32), TS_T_tf32, TS_RA));
    casts_between(&k, TS_OP_ftof, TS_T_tf32, TS_T_f32);
    if (target >= 89)
        for (size_t j = 0; j < TS_COUNT(floats); j++) {
            casts_between(&k, TS_OP_ftof, floats[j], TS_T_f8E4M3FN);
            casts_between(&k, TS_OP_ftof, TS_T_f8E5M2, floats[j]);
        }
    emit_and_assemble(&k);
    kit_end(&k);
}

static void packs_and_selects_assemble(uint32_t target)
{
    kit k;
    kit_begin(&k, target);
    ts_builder *b = &k.b;
    ts_val f = value(&k, TS_T_f32), i = value(&k, TS_T_i32), c = value(&k, TS_T_i1), h = value(&k, TS_T_f16);
    sink(&k, ts_op2(b, TS_OP_cvt_pack, f, ts_float(b, TS_T_f32, 1), TS_A_ELEM(TS_T_bf16)));
    sink(&k, ts_op2(b, TS_OP_cvt_pack, f, f, TS_A_ELEM(TS_T_f16)));
    if (target >= 89)
        sink(&k, ts_emit(b, TS_OP_cvt_pack, TS_T_i16, 2, (ts_val[]){f, f}, TS_A_ELEM(TS_T_f8E4M3FN), 0));
    sink(&k, ts_op2(b, TS_OP_pack2, h, h, 0));
    ts_val pair = ts_emit_multi(b, TS_OP_unpack2, 1, &i, 0, 0, 2, (ts_type[]){TS_T_bf16, TS_T_bf16});
    sink(&k, pair + 2);
    sink(&k, ts_op2(b, TS_OP_prmt, i, i, TS_S(0, 0x5410, 0)));
    sink(&k, ts_op2(b, TS_OP_mul_wide, i, ts_int(b, TS_T_i32, 12), TS_A_UNSIGNED));
    for (size_t t = 0; t < TS_COUNT(ints); t++) {
        sink(&k, ts_select(b, c, value(&k, ints[t]), ts_int(b, ints[t], 1)));
        if (ints[t] == TS_T_i1)
            continue;
        sink(&k, ts_op1(b, TS_OP_popc, value(&k, ints[t]), 0));
        sink(&k, ts_op1(b, TS_OP_clz, value(&k, ints[t]), 0));
        sink(&k, ts_op1(b, TS_OP_brev, value(&k, ints[t]), 0));
    }
    for (size_t t = 0; t < TS_COUNT(floats); t++)
        sink(&k, ts_select(b, c, value(&k, floats[t]), ts_float(b, floats[t], 1)));
    emit_and_assemble(&k);
    kit_end(&k);
}

static void memory_assembles(uint32_t target)
{
    static const ts_type types[] = {TS_T_i1, TS_T_i8, TS_T_f16, TS_T_i32, TS_T_f32, TS_T_i64, TS_T_f64};
    kit k;
    kit_begin(&k, target);
    ts_builder *b = &k.b;
    ts_val c = value(&k, TS_T_i1), i = value(&k, TS_T_i32);
    for (size_t t = 0; t < TS_COUNT(types); t++)
        for (uint32_t n = 1; n <= 16; n *= 2)
            for (uint32_t masked = 0; masked < 3; masked++) {
                ts_type r[16];
                ts_val from[3] = {at(&k, k.in, types[t], 256), c, value(&k, types[t])}, to[18];
                for (int j = 0; j < 16; j++)
                    r[j] = types[t];
                uint32_t flags = masked == 2 ? TS_F_MASK | TS_F_PAD : masked ? TS_F_MASK : 0;
                ts_val v = ts_emit_multi(b, TS_OP_ld, 1 + masked, from, TS_S(TS_CACHE_NC, n, 0), flags, n, r);
                to[0] = at(&k, k.out, types[t], 512);
                for (uint32_t j = 0; j < n; j++)
                    to[1 + j] = v + 1 + j;
                to[1 + n] = c;
                ts_emit(b, TS_OP_st, TS_T_none, 1 + n + !!masked, to, TS_S(0, n, 0), masked ? TS_F_MASK : 0);
            }
    for (uint32_t cache = TS_CACHE_NONE; cache <= TS_CACHE_ACQUIRE; cache++) {
        ts_type f32 = TS_T_f32;
        sink(&k, ts_emit_multi(b, TS_OP_ld, 1, &k.in, TS_S(cache, 1, 0), 0, 1, &f32) + 1);
    }
    ts_val s = shared(&k, TS_T_f32, 128);
    ts_emit(b, TS_OP_st, TS_T_none, 2, (ts_val[]){s, ts_float(b, TS_T_f32, 1)}, TS_S(0, 1, 0), 0);
    ts_val moved = ts_emit(b, TS_OP_ptr_add, ts_type_of(k.fn, s), 2, (ts_val[]){s, i}, 0, 0);
    ts_emit(b, TS_OP_st, TS_T_none, 2, (ts_val[]){moved, ts_float(b, TS_T_f32, 1)}, TS_S(0, 1, 0), 0);
    uint32_t room = ts_pool_add(b, 3, (uint32_t[]){64, 8, 0});
    ts_val local = op0(&k, TS_OP_local, ts_type_ptr(k.m, TS_T_i32, TS_LOCAL), room);
    ts_emit(b, TS_OP_st, TS_T_none, 2, (ts_val[]){local, i}, TS_S(0, 1, 0), 0);
    sink(&k, ts_emit(b, TS_OP_offset, ts_type_of(k.fn, k.in), 2, (ts_val[]){k.in, i}, 0, 0));
    ts_val address = ts_cast(b, TS_OP_ptr_to_int, k.in, TS_T_i64, 0);
    sink(&k, ts_op2(b, TS_OP_addi, address, ts_int(b, TS_T_i64, 8), 0));
    sink(&k, ts_emit(b, TS_OP_int_to_ptr, ts_type_of(k.fn, k.in), 1, &address, 0, 0));
    emit_and_assemble(&k);
    kit_end(&k);
}

static void atomics_assemble(uint32_t target)
{
    kit k;
    kit_begin(&k, target);
    ts_val c = value(&k, TS_T_i1);
    for (size_t t = 1; t < TS_COUNT(ints) + TS_COUNT(floats); t++) {
        ts_type type = t < TS_COUNT(ints) ? ints[t] : floats[t - TS_COUNT(ints)];
        for (int mode = 0; mode <= TS_RMW_CAS; mode++) {
            bool is_float = t >= TS_COUNT(ints), bits = mode == TS_RMW_XCHG || mode == TS_RMW_CAS;
            if (!bits && is_float != (mode == TS_RMW_ADDF))
                continue;
            ts_val p = at(&k, k.in, type, 64), x = value(&k, type), y = value(&k, type);
            uint32_t attr = TS_M_MODE(mode) | TS_M_ORDER(mode % 5) | TS_M_SCOPE(mode % 4), cas = mode == TS_RMW_CAS;
            sink(&k, ts_emit(&k.b, TS_OP_atom, type, 2 + cas, (ts_val[]){p, x, y}, attr, 0));
            if (cas)
                continue;
            ts_emit(&k.b, TS_OP_red, TS_T_none, 3, (ts_val[]){p, x, c}, attr, TS_F_MASK);
            p = shared(&k, type, 16);
            ts_emit(&k.b, TS_OP_red, TS_T_none, 2, (ts_val[]){p, x}, attr, 0);
        }
    }
    emit_and_assemble(&k);
    kit_end(&k);
}

static void warp_ops_assemble(uint32_t target)
{
    static const ts_type types[] = {TS_T_i1, TS_T_i8, TS_T_bf16, TS_T_i32, TS_T_f32, TS_T_i64, TS_T_f64};
    kit k;
    kit_begin(&k, target);
    ts_builder *b = &k.b;
    ts_val i = value(&k, TS_T_i32), c = value(&k, TS_T_i1);
    for (int s = 0; s <= TS_SREG_SHARED_BYTES; s++)
        if (target >= 90 || s < TS_SREG_CLUSTER_RANK || s > TS_SREG_NCLUSTER)
            sink(&k, op0(&k, TS_OP_sreg, s == TS_SREG_CLOCK64 ? TS_T_i64 : TS_T_i32, TS_S(s, 0, 0)));
    for (size_t t = 0; t < TS_COUNT(types); t++)
        for (uint32_t mode = 0; mode < 4; mode++)
            sink(&k, ts_emit(b, TS_OP_shfl, types[t], 2, (ts_val[]){value(&k, types[t]), ts_int(b, TS_T_i32, 1)},
                             TS_S(mode, mode == TS_SHFL_UP ? 0 : 31, 0), 0));
    sink(&k, ts_emit(b, TS_OP_vote, TS_T_i1, 1, &c, TS_S(TS_VOTE_ANY, 0, 0), 0));
    sink(&k, ts_emit(b, TS_OP_vote, TS_T_i32, 1, &c, TS_S(TS_VOTE_BALLOT, 0, 0), 0));
    for (uint32_t mode = 0; mode <= TS_RMW_UMIN; mode++)
        if (mode != TS_RMW_ADDF)
            sink(&k, ts_emit(b, TS_OP_redux, TS_T_i32, 1, &i, TS_S(mode, 0, 0), 0));
    sink(&k, ts_emit(b, TS_OP_match, TS_T_i32, 1, &i, 0, 0));
    sink(&k, op0(&k, TS_OP_elect, TS_T_i1, 0));
    op0(&k, TS_OP_bar_sync, TS_T_none, TS_S(0, 0, 0));
    op0(&k, TS_OP_bar_sync, TS_T_none, TS_S(1, 64, 0));
    ts_emit(b, TS_OP_bar_sync, TS_T_none, 1, &i, TS_S(0, 64, 0), 0);
    op0(&k, TS_OP_bar_arrive, TS_T_none, TS_S(2, 64, 0));
    op0(&k, TS_OP_warp_sync, TS_T_none, 0);
    for (uint32_t f = 0; f <= (target >= 90 ? TS_FENCE_MBAR_INIT : TS_FENCE_SYS); f++)
        op0(&k, TS_OP_fence, TS_T_none, TS_S(f, 0, 0));
    op0(&k, TS_OP_nanosleep, TS_T_none, TS_S(0, 100, 0));
    ts_emit(b, TS_OP_printf, TS_T_none, 3, (ts_val[]){i, value(&k, TS_T_bf16), value(&k, TS_T_i64)},
            ts_intern(k.m, "%d %f %lld\n", 11), 0);
    ts_val choice = ts_if_begin(b, c);
    op0(&k, TS_OP_trap, TS_T_none, 0);
    ts_term(b, TS_OP_yield, 0, NULL);
    ts_else(b);
    ts_term(b, TS_OP_yield, 0, NULL);
    ts_end(b, choice, 0, NULL);
    emit_and_assemble(&k);
    kit_end(&k);
}

static void copies_assemble(uint32_t target)
{
    kit k;
    kit_begin(&k, target);
    ts_builder *b = &k.b;
    ts_val i = value(&k, TS_T_i32), s = shared(&k, TS_T_i32, 1024), bar = shared(&k, TS_T_i64, 0),
           c = value(&k, TS_T_i1);
    for (uint32_t bytes = 4; bytes <= 16; bytes *= 2) {
        ts_emit(b, TS_OP_cp_async, TS_T_none, 2, (ts_val[]){s, k.in}, TS_S(0, bytes, 0), 0);
        ts_emit(b, TS_OP_cp_async, TS_T_none, 3, (ts_val[]){s, k.in, i}, TS_S(0, bytes, 0), TS_F_SRC);
    }
    op0(&k, TS_OP_cp_async_commit, TS_T_none, 0);
    op0(&k, TS_OP_cp_async_wait, TS_T_none, TS_S(0, 1, 0));
    ts_emit(b, TS_OP_mbar_init, TS_T_none, 1, &bar, TS_S(0, 128, 0), 0);
    ts_emit(b, TS_OP_mbar_init, TS_T_none, 2, (ts_val[]){bar, i}, 0, 0);
    ts_emit(b, TS_OP_prefetch, TS_T_none, 1, &k.in, 0, 0);
    ts_emit(b, TS_OP_mbar_arrive, TS_T_none, 1, &bar, 0, 0);
    ts_emit(b, TS_OP_mbar_wait, TS_T_none, 2, (ts_val[]){bar, ts_int(b, TS_T_i32, 0)}, 0, 0);
    ts_val x = ts_emit_multi(b, TS_OP_ldmatrix, 1, &s, TS_S(0, 4, 1), 0, 4,
                             (ts_type[]){TS_T_i32, TS_T_i32, TS_T_i32, TS_T_i32});
    sink(&k, x + 3);
    if (target >= 90) {
        ts_emit(b, TS_OP_stmatrix, TS_T_none, 3, (ts_val[]){s, x + 1, x + 2}, TS_S(0, 2, 0), 0);
        ts_emit(b, TS_OP_mbar_expect, TS_T_none, 3, (ts_val[]){bar, ts_int(b, TS_T_i32, 70000), c}, 0, TS_F_MASK);
        ts_emit(b, TS_OP_bulk_load, TS_T_none, 5, (ts_val[]){s, bar, k.in, ts_int(b, TS_T_i32, 64), c}, 0, TS_F_MASK);
        ts_emit(b, TS_OP_bulk_load, TS_T_none, 4, (ts_val[]){s, bar, k.in, i}, 0, 0);
        ts_emit(b, TS_OP_bulk_store, TS_T_none, 3, (ts_val[]){k.in, s, i}, 0, 0);
        ts_emit(b, TS_OP_mbar_inval, TS_T_none, 1, &bar, 0, 0);
    }
    emit_and_assemble(&k);
    kit_end(&k);
}

/* Registers of each kind, in and out; the values' own registers stay as they are. */
static void text_of_the_user_assembles(uint32_t target)
{
    static const char text[] = ".version 7.8\n.reg .pred q; setp.lt.f32 q, $6, 0f00000000; mov.b16 $0, $5;"
                               " mov.b32 $1, $7; mov.f32 $2, $6; mov.f64 $3, $8; mov.pred $4, q;"
                               " add.f32 $6, $6, $6; // $$";
    static const ts_type types[] = {TS_T_f16, TS_T_i32, TS_T_f32, TS_T_f64, TS_T_i1};
    kit k;
    kit_begin(&k, target);
    ts_val x[] = {value(&k, TS_T_i16), value(&k, TS_T_f32), value(&k, TS_T_i32), value(&k, TS_T_f64)};
    ts_val v = ts_emit_multi(&k.b, TS_OP_asm, 4, x, ts_intern(k.m, text, sizeof text - 1), 0, 5, types);
    for (uint32_t i = 0; i < 5; i++)
        sink(&k, v + 1 + i);
    sink(&k, x[1]);
    emit_and_assemble(&k);
    kit_end(&k);
}

static void mma_assembles(uint32_t target)
{
    static const struct {
        ts_type a, b, c;
        uint8_t ra, rb, rc, sm;
        uint16_t m;
    } rows[] = {
#define TS_MMA(name, m, n, k, a, b, c, ra, rb, rc, sm) {TS_T_##a, TS_T_##b, TS_T_##c, ra, rb, rc, sm, m},
#include "tessera/mma.def"
    };
    kit k;
    kit_begin(&k, target);
    for (uint32_t row = 0; row < TS_MMA_COUNT; row++) {
        ts_val opnds[16];
        ts_type results[4];
        uint32_t n = 0;
        if (rows[row].m == 64 || rows[row].sm > target)
            continue;
        ts_type ab = rows[row].a == TS_T_f64 ? TS_T_f64 : rows[row].a == TS_T_tf32 ? TS_T_f32 : TS_T_i32;
        for (uint32_t i = 0; i < (uint32_t)rows[row].ra + rows[row].rb; i++)
            opnds[n++] = value(&k, ab);
        for (uint32_t i = 0; i < rows[row].rc; i++)
            opnds[n++] = value(&k, results[i] = rows[row].c);
        ts_val v = ts_emit_multi(&k.b, TS_OP_mma_sync, n, opnds, TS_MMA_ATTR(row, 0, 0), 0, rows[row].rc, results);
        sink(&k, v + 1);
    }
    emit_and_assemble(&k);
    kit_end(&k);
}

static void clusters_and_tma_assemble(uint32_t target)
{
    kit k;
    kit_begin(&k, target);
    ts_builder *b = &k.b;
    k.plan.n_tmaps = 2;
    k.plan.cluster = 2;
    ts_val i = value(&k, TS_T_i32), s = shared(&k, TS_T_i32, 1024), bar = shared(&k, TS_T_i64, 0),
           c = value(&k, TS_T_i1);
    op0(&k, TS_OP_cluster_arrive, TS_T_none, 0);
    op0(&k, TS_OP_cluster_wait, TS_T_none, 0);
    ts_val far = ts_emit(b, TS_OP_mapa, ts_type_of(k.fn, bar), 2, (ts_val[]){bar, ts_int(b, TS_T_i32, 1)}, 0, 0);
    ts_emit(b, TS_OP_mbar_arrive, TS_T_none, 2, (ts_val[]){far, c}, 0, TS_F_MASK);
    op0(&k, TS_OP_cluster_arrive, TS_T_none, TS_S(1, 0, 0));
    static const ts_type sent[] = {TS_T_i32, TS_T_f32, TS_T_i64, TS_T_f64};
    for (uint32_t n = 0; n < 2 * TS_COUNT(sent); n++)
        ts_emit(b, TS_OP_st_async, TS_T_none, 3 + n % 2, (ts_val[]){far, value(&k, sent[n / 2]), far, c}, 0,
                n % 2 ? TS_F_MASK : 0);
    op0(&k, TS_OP_tma_prefetch, TS_T_none, TS_S(1, 0, 0));
    for (uint32_t rank = 1; rank <= 5; rank++) {
        ts_emit(b, TS_OP_tma_load, TS_T_none, 2 + rank, (ts_val[]){s, bar, i, i, i, i, i, c}, TS_S(0, rank, 0), 0);
        ts_emit(b, TS_OP_tma_store, TS_T_none, 1 + rank, (ts_val[]){s, i, i, i, i, i, i}, TS_S(1, rank, 0), 0);
    }
    ts_emit(b, TS_OP_tma_load, TS_T_none, 5, (ts_val[]){s, bar, i, i, c}, TS_S(0, 2, 0), TS_F_MASK);
    ts_emit(b, TS_OP_tma_reduce, TS_T_none, 3, (ts_val[]){s, i, i}, TS_S(1, 2, TS_RMW_ADD), 0);
    op0(&k, TS_OP_bulk_commit, TS_T_none, 0);
    op0(&k, TS_OP_bulk_wait, TS_T_none, TS_S(0, 0, 1));
    op0(&k, TS_OP_gdc_wait, TS_T_none, 0);
    op0(&k, TS_OP_gdc_launch_dependents, TS_T_none, 0);
    emit_and_assemble(&k);
    kit_end(&k);
}

/* ---- control flow and shared registers ------------------------------------------------------------------ */

/* Lines beginning with `what` between the first "L<n>:" and the branch back to it. */
static int count_in_loop(const kit *k, const char *what)
{
    const char *start = strstr(ts__text_get(&k->text), ".pragma"), *end = start ? strstr(start, "bra L") : NULL;
    int n = 0;
    for (const char *at = start; at && at < end; at = strchr(at, '\n') + 1)
        n += !strncmp(at, what, strlen(what));
    return start ? n : -1;
}

static void loop_carried_value_keeps_its_register(void)
{
    kit k;
    kit_begin(&k, 90);
    ts_builder *b = &k.b;
    ts_val zero = ts_int(b, TS_T_i32, 0), n = value(&k, TS_T_i32), acc = ts_float(b, TS_T_f32, 0);
    ts_val loop = ts_for_begin(b, zero, n, ts_int(b, TS_T_i32, 1), 1, &acc, 0);
    acc = ts_op3(b, TS_OP_fma, value(&k, TS_T_f32), value(&k, TS_T_f32), ts_region_arg(k.fn, loop, 1), 0);
    ts_term(b, TS_OP_continue, 1, &acc);
    ts_end_like(b, loop);
    sink(&k, ts_res(b, loop, 0));
    emit_and_assemble(&k);
    CHECK_INT(count_in_loop(&k, "mov"), 0);
    CHECK(has(&k, "fma.rn.f32 %f1, "));
    kit_end(&k);
}

static void swapped_values_go_through_a_third_register(void)
{
    kit k;
    kit_begin(&k, 80);
    ts_builder *b = &k.b;
    ts_val init[2] = {value(&k, TS_T_i32), value(&k, TS_T_i32)};
    init[1] = ts_op2(b, TS_OP_addi, init[1], init[0], 0);
    ts_val loop = ts_for_begin(b, ts_int(b, TS_T_i32, 0), value(&k, TS_T_i32), ts_int(b, TS_T_i32, 1), 2, init, 0);
    ts_term(b, TS_OP_continue, 2, (ts_val[]){ts_region_arg(k.fn, loop, 2), ts_region_arg(k.fn, loop, 1)});
    ts_end_like(b, loop);
    ts_val first = ts_res(b, loop, 0);
    sink(&k, first);
    sink(&k, first + 1);
    emit_and_assemble(&k);
    CHECK_INT(count_in_loop(&k, "mov.b32"), 3);
    kit_end(&k);
}

static void value_needed_after_its_copy_is_moved(void)
{
    kit k;
    kit_begin(&k, 80);
    ts_builder *b = &k.b;
    ts_val x = value(&k, TS_T_f32);
    ts_val loop = ts_for_begin(b, ts_int(b, TS_T_i32, 0), value(&k, TS_T_i32), ts_int(b, TS_T_i32, 1), 1, &x, 0);
    ts_val y = ts_op2(b, TS_OP_addf, ts_region_arg(k.fn, loop, 1), x, 0);
    ts_term(b, TS_OP_continue, 1, &y);
    ts_end_like(b, loop);
    sink(&k, ts_res(b, loop, 0));
    emit_and_assemble(&k);
    CHECK(has(&k, "mov.f32 %f2, %f1;"));
    CHECK(has(&k, "add.rn.f32 %f2, %f2, %f1;"));
    kit_end(&k);
}

static void if_without_else_has_one_branch(void)
{
    kit k;
    kit_begin(&k, 80);
    ts_val c = value(&k, TS_T_i1), choice = ts_if_begin(&k.b, c);
    sink(&k, value(&k, TS_T_f32));
    ts_term(&k.b, TS_OP_yield, 0, NULL);
    ts_else(&k.b);
    ts_term(&k.b, TS_OP_yield, 0, NULL);
    ts_end(&k.b, choice, 0, NULL);
    emit_and_assemble(&k);
    CHECK(has(&k, "bra E"));
    CHECK(!has(&k, "X"));
    kit_end(&k);
}

static void loop_leaves_by_break_and_return(void)
{
    kit k;
    kit_begin(&k, 80);
    ts_builder *b = &k.b;
    ts_val c = value(&k, TS_T_i1), i = ts_int(b, TS_T_i32, 0), type = TS_T_i32;
    ts_val loop = ts_loop_begin(b, 1, &i);
    ts_val arg = ts_region_arg(k.fn, loop, 0), next = ts_op2(b, TS_OP_addi, arg, ts_int(b, TS_T_i32, 3), 0);
    ts_val done = ts_cmp(b, TS_OP_cmpi, TS_GE, next, value(&k, TS_T_i32), 0);
    ts_val choice = ts_if_begin(b, done);
    ts_term(b, TS_OP_break, 1, &arg);
    ts_else(b);
    ts_val other = ts_if_begin(b, c);
    ts_term(b, TS_OP_return, 0, NULL);
    ts_else(b);
    ts_term(b, TS_OP_yield, 0, NULL);
    ts_end(b, other, 0, NULL);
    ts_term(b, TS_OP_yield, 0, NULL);
    ts_end(b, choice, 0, NULL);
    ts_term(b, TS_OP_continue, 1, &next);
    ts_end(b, loop, 1, &type);
    sink(&k, ts_res(b, loop, 0));
    emit_and_assemble(&k);
    CHECK(has(&k, "ret;\n"));
    kit_end(&k);
}

static void cold_path_is_branched_around(void)
{
    kit k;
    kit_begin(&k, 80);
    ts_val x = value(&k, TS_T_f32), cold = ts_cold_begin(&k.b, value(&k, TS_T_i1), 1, &x);
    ts_val y = ts_op2(&k.b, TS_OP_divf, ts_float(&k.b, TS_T_f32, 1), x, 0);
    ts_term(&k.b, TS_OP_yield, 1, &y);
    ts_end_like(&k.b, cold);
    sink(&k, ts_res(&k.b, cold, 0));
    emit_and_assemble(&k);
    CHECK(has(&k, "bra E"));
    kit_end(&k);
}

static void constant_offsets_fold_into_addresses(void)
{
    kit k;
    kit_begin(&k, 80);
    ts_type f32 = TS_T_f32;
    ts_val p = at(&k, at(&k, k.in, TS_T_f32, 16), TS_T_f32, 4), s = shared(&k, TS_T_f32, 32);
    sink(&k, ts_emit_multi(&k.b, TS_OP_ld, 1, &p, TS_S(0, 1, 0), 0, 1, &f32) + 1);
    sink(&k, ts_emit_multi(&k.b, TS_OP_ld, 1, &s, TS_S(0, 1, 0), 0, 1, &f32) + 1);
    emit_and_assemble(&k);
    CHECK(has(&k, "[%rd1+20]"));
    CHECK(has(&k, "[smem+32]"));
    CHECK(!has(&k, "add."));
    kit_end(&k);
}

static ts_val descriptor(kit *k, uint32_t offset)
{
    ts_val low = ts_op2(&k->b, TS_OP_addi, value(k, TS_T_i32), ts_int(&k->b, TS_T_i32, offset), 0);
    return ts_emit(&k->b, TS_OP_pack2, TS_T_i64, 2, (ts_val[]){low, ts_int(&k->b, TS_T_i32, 0x40000040)}, 0, 0);
}

/* Four wgmmas a step, waited for one step late, accumulators carried: the main loop of a GEMM. */
static void wgmma_loop(kit *k, uint32_t n)
{
    ts_val acc[128], operands[132];
    ts_type types[128];
    ts_builder *b = &k->b;
    for (uint32_t i = 0; i < n / 2; i++) {
        acc[i] = ts_float(b, TS_T_f32, 0);
        types[i] = TS_T_f32;
    }
    ts_val a = descriptor(k, 0), d = descriptor(k, 1024), upper = value(k, TS_T_i32);
    ts_val loop = ts_for_begin(b, ts_int(b, TS_T_i32, 0), upper, ts_int(b, TS_T_i32, 1), n / 2, acc, 0);
    op0(k, TS_OP_wgmma_fence, TS_T_none, 0);
    for (uint32_t i = 0; i < n / 2; i++)
        operands[i] = ts_region_arg(k->fn, loop, 1 + i);
    for (uint32_t step = 0; step < 4; step++) {
        operands[n / 2] = ts_op2(b, TS_OP_addi, a, ts_int(b, TS_T_i64, 2 * step), 0);
        operands[n / 2 + 1] = ts_op2(b, TS_OP_addi, d, ts_int(b, TS_T_i64, 2 * step), 0);
        operands[n / 2 + 2] = ts_int(b, TS_T_i1, 1);
        ts_val v = ts_emit_multi(b, TS_OP_wgmma, n / 2 + 3, operands,
                                 TS_MMA_ATTR(TS_MMA_m64k16_bf16, n, 0), 0, n / 2, types);
        for (uint32_t i = 0; i < n / 2; i++)
            operands[i] = v + 1 + i;
    }
    op0(k, TS_OP_wgmma_commit, TS_T_none, 0);
    op0(k, TS_OP_wgmma_wait, TS_T_none, TS_S(0, 1, 0));
    ts_term(b, TS_OP_continue, n / 2, operands);
    ts_end_like(b, loop);
    ts_val result = ts_res(b, loop, 0);
    op0(k, TS_OP_wgmma_wait, TS_T_none, TS_S(0, 0, 0));
    for (uint32_t i = 0; i < n / 2; i++)
        sink(k, result + i);
}

static void wgmma_accumulators_are_never_moved(void)
{
    kit k;
    kit_begin(&k, 90);
    wgmma_loop(&k, 256);
    emit_and_assemble(&k);
    CHECK_INT(count_in_loop(&k, "mov"), 0);
    CHECK_INT(count_in_loop(&k, "wgmma.mma_async"), 4);
    kit_end(&k);
}

static void every_wgmma_row_assembles(void)
{
    static const struct {
        uint32_t row, flags, n_acc;
        ts_type acc;
    } rows[] = {
        {TS_MMA_m64k16_f16, 0, 32, TS_T_f32},          {TS_MMA_m64k16_f16_f16, 0, 16, TS_T_i32},
        {TS_MMA_m64k16_bf16, TS_MMA_TRANS_A | TS_MMA_TRANS_B, 32, TS_T_f32},
        {TS_MMA_m64k16_bf16, TS_MMA_A_REGS | TS_MMA_TRANS_B, 32, TS_T_f32},
        {TS_MMA_m64k8_tf32, 0, 32, TS_T_f32},          {TS_MMA_m64k32_e4m3, 0, 32, TS_T_f32},
        {TS_MMA_m64k32_e5m2, TS_MMA_A_REGS, 32, TS_T_f32}, {TS_MMA_m64k32_s8, TS_MMA_U_A | TS_MMA_U_B, 32, TS_T_i32},
    };
    for (size_t r = 0; r < TS_COUNT(rows); r++) {
        kit k;
        ts_val opnds[40];
        ts_type types[32];
        uint32_t n = 0;
        kit_begin(&k, 90);
        for (; n < rows[r].n_acc; n++)
            opnds[n] = value(&k, types[n] = rows[r].acc);
        for (uint32_t i = 0; i < (rows[r].flags & TS_MMA_A_REGS ? 4u : 1u); i++)
            opnds[n++] = rows[r].flags & TS_MMA_A_REGS ? value(&k, TS_T_i32) : descriptor(&k, 0);
        opnds[n++] = descriptor(&k, 64);
        opnds[n++] = ts_int(&k.b, TS_T_i1, 0);
        op0(&k, TS_OP_wgmma_fence, TS_T_none, 0);
        ts_val v = ts_emit_multi(&k.b, TS_OP_wgmma, n, opnds, TS_MMA_ATTR(rows[r].row, 64, rows[r].flags), 0,
                                 rows[r].n_acc, types);
        op0(&k, TS_OP_wgmma_commit, TS_T_none, 0);
        op0(&k, TS_OP_wgmma_wait, TS_T_none, 0);
        sink(&k, v + 1);
        emit_and_assemble(&k);
        kit_end(&k);
    }
}

static void register_reallocation_names_a_cap(void)
{
    kit k;
    kit_begin(&k, 90);
    k.plan.threads = 384;
    op0(&k, TS_OP_setmaxnreg, TS_T_none, TS_S(0, 232, 1));
    emit_and_assemble(&k);
    CHECK(has(&k, ".minnctapersm 1"));
    kit_end(&k);
}

static void missing_feature_is_named(void)
{
    kit k;
    ts_error err;
    kit_begin(&k, 80);
    op0(&k, TS_OP_wgmma_fence, TS_T_none, 0);
    ts_term(&k.b, TS_OP_return, 0, NULL);
    CHECK_INT(ts__ptx_emit(k.fn, &k.plan, &k.text, &err), TS_UNSUPPORTED);
    CHECK_STR(err.text, "wgmma_fence needs sm_90 or later, the target is sm_80");
    k.plan.target = 70;
    CHECK_INT(ts__ptx_emit(k.fn, &k.plan, &k.text, &err), TS_VALUE);
    kit_end(&k);
}

static void globals_are_declared(void)
{
    kit k;
    float data[3] = {1, 2, 3};
    kit_begin(&k, 80);
    ts_val dense = ts_dense_const(&k.b, ts_type_tile(k.m, TS_T_f32, 1, (int64_t[]){3}), data, sizeof data);
    ts_global g = {.name = ts_intern(k.m, "table", 5), .type = ts_type_of(k.fn, dense), .data = k.m->dense.n};
    CHECK(TS_PUSH(k.m->arena, &k.m->globals, g));
    k.fn->inst.n--; /* the constant itself is a tile */
    k.fn->loc.n--;
    ts_type f32 = TS_T_f32;
    ts_val p = op0(&k, TS_OP_get_global, ts_type_ptr(k.m, TS_T_f32, TS_GLOBAL), g.name);
    sink(&k, ts_emit_multi(&k.b, TS_OP_ld, 1, &p, TS_S(0, 1, 0), 0, 1, &f32) + 1);
    emit_and_assemble(&k);
    CHECK(has(&k, "g_table[12] = {0,0,128,63,0,0,0,64"));
    kit_end(&k);
}

/* Gives memory `left` times. */
static void *meter(void *user, void *block, size_t old_bytes, size_t new_bytes)
{
    size_t *left = user;
    (void)old_bytes;
    if (!new_bytes) {
        free(block);
        return NULL;
    }
    return *left ? --*left, realloc(block, new_bytes) : NULL;
}

static void memory_may_run_out_anywhere(void)
{
    kit k;
    ts_error err;
    size_t left, tries = 0;
    const ts_alloc alloc = {meter, &left}, *real;
    kit_begin(&k, 90);
    wgmma_loop(&k, 64);
    ts_term(&k.b, TS_OP_return, 0, NULL);
    real = k.arena.alloc;
    k.arena.alloc = &alloc;
    ts_status status = TS_NOMEM;
    for (; status != TS_OK && tries < 1000; tries++) {
        left = tries;
        status = ts__ptx_emit(k.fn, &k.plan, &k.text, &err);
        CHECK(status == TS_OK || status == TS_NOMEM);
    }
    CHECK(tries > 3 && tries < 1000);
    k.arena.alloc = real;
    kit_end(&k);
}

/* A guard that holds is not written; one that does not is loaded before the line that it guards. */
static void constant_guards_assemble(uint32_t target)
{
    for (int holds = 0; holds < 2; holds++) {
        kit k;
        kit_begin(&k, target);
        ts_val p = ts_fn_param(&k.b, ts_type_ptr(k.m, TS_T_f32, TS_GLOBAL));
        ts_val guard = ts_int(&k.b, TS_T_i1, holds), pad = ts_float(&k.b, TS_T_f32, 1);
        ts_val ld = ts_emit_multi(&k.b, TS_OP_ld, 3, (ts_val[]){p, guard, pad}, TS_S(TS_CACHE_NONE, 1, 0),
                                  TS_F_MASK | TS_F_PAD, 1, (ts_type[]){TS_T_f32});
        ts_emit(&k.b, TS_OP_st, 0, 3, (ts_val[]){p, ld + 1, guard}, TS_S(TS_CACHE_NONE, 1, 0), TS_F_MASK);
        ts_emit(&k.b, TS_OP_red, 0, 3, (ts_val[]){p, ld + 1, guard},
                TS_M_MODE(TS_RMW_ADDF) | TS_M_ORDER(TS_RELAXED) | TS_M_SCOPE(TS_SCOPE_DEVICE), TS_F_MASK);
        emit_and_assemble(&k);
        CHECK(has(&k, "@%p") == !holds);
        kit_end(&k);
    }
}

/* ---- whole kernels of threads ------------------------------------------------------------------------ */

/* The input of a golden file, compiled whole for every architecture. */
static void thread_kernel_assembles(const char *path)
{
    static char text[1 << 16];
    ts_error err;
    FILE *file = fopen(path, "rb");
    size_t n = file ? fread(text, 1, sizeof text - 1, file) : 0;
    text[n] = 0;
    char *expect = strstr(text, "// EXPECT");
    CHECK(file && n < sizeof text - 1 && expect);
    if (file)
        fclose(file);
#define TS_SM(number, ...) number,
    static const uint32_t rows[] = {
#include "table/sm.def"
    };
    for (size_t i = 0; i < TS_COUNT(rows) && expect; i++) {
        ts_code code;
        CHECK_OK(ts_compile_text(text, (size_t)(expect - text), NULL, (ts_target)rows[i], NULL, &code, &err));
        CHECK(avoids_mistakes((char *)code.bytes));
        if (has_assembler())
            CHECK(assembles((char *)code.bytes, ts__sm_find(rows[i])->name, true));
        else
            check_skipped++;
        ts_code_deinit(&code);
    }
}

static void thread_kernels_assemble(void)
{
    struct dirent **entry;
    int n = scandir("tests/golden/threads", &entry, NULL, alphasort), files = 0;
    for (int i = 0; i < n; i++) {
        char path[512];
        snprintf(path, sizeof path, "tests/golden/threads/%s", entry[i]->d_name);
        if (strstr(path, ".tsir")) {
            thread_kernel_assembles(path);
            files++;
        }
        free(entry[i]);
    }
    if (n >= 0)
        free(entry);
    CHECK(files >= 4);
}

/* The table answers for every operation that may reach it; nearly all were assembled above. */
static void every_thread_level_op_has_a_row(void)
{
    for (int op = 0; op < TS_OP_COUNT; op++) {
        bool taken = op == TS_OP_call || op == TS_OP_shared_alloc || op == TS_OP_fault || op == TS_OP_grid_sync ||
                     op == TS_OP_recursion || op == TS_OP_recur ||
                     op == TS_OP_tensor_load || op == TS_OP_tensor_store ||
                     op == TS_OP_make_complex || op == TS_OP_real || op == TS_OP_imag; /* by passes before */
        bool thread = ts__ops[op].level != TS_LEVEL_T && !taken;
        if (thread && !ts__ptx_rows[op].emit)
            fprintf(stderr, "%s has no row in emit.def\n", ts__ops[op].name);
        CHECK(!thread || ts__ptx_rows[op].emit);
        bool elsewhere = is_math((ts_op)op) || op == TS_OP_assume || op == TS_OP_none ||
                         op == TS_OP_foreign; /* tests/python/cuda/test_cuda_linking.py: it wants something to link */
        if (thread && !covered[op] && !elsewhere)
            fprintf(stderr, "%s was never assembled\n", ts__ops[op].name);
        CHECK(!thread || covered[op] || elsewhere);
    }
}

int main(void)
{
    static const uint32_t targets[] = {
#define X(name, number, text) number,
        TS_TARGETS(X)
#undef X
    };
    for (size_t i = 0; i < TS_COUNT(targets); i++) {
        if (targets[i] == TS_TARGET_CPU)
            continue;
        CHECK(ts__sm_find(targets[i]));
        arithmetic_assembles(targets[i]);
        approximate_math_assembles(targets[i]);
        conversions_assemble(targets[i]);
        packs_and_selects_assemble(targets[i]);
        memory_assembles(targets[i]);
        atomics_assemble(targets[i]);
        warp_ops_assemble(targets[i]);
        copies_assemble(targets[i]);
        text_of_the_user_assembles(targets[i]);
        mma_assembles(targets[i]);
        constant_guards_assemble(targets[i]);
        if (targets[i] >= 90)
            clusters_and_tma_assemble(targets[i]);
    }
    loop_carried_value_keeps_its_register();
    swapped_values_go_through_a_third_register();
    value_needed_after_its_copy_is_moved();
    if_without_else_has_one_branch();
    loop_leaves_by_break_and_return();
    cold_path_is_branched_around();
    constant_offsets_fold_into_addresses();
    wgmma_accumulators_are_never_moved();
    every_wgmma_row_assembles();
    register_reallocation_names_a_cap();
    missing_feature_is_named();
    globals_are_declared();
    memory_may_run_out_anywhere();
    thread_kernels_assemble();
    every_thread_level_op_has_a_row();
    return check_done();
}
