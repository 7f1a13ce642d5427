/* SPDX-License-Identifier: Apache-2.0
 * The interpreter at thread level (src/eval/simt*.c). Fragment and descriptor tests place their data by
 * the formulas of the PTX ISA's pictures, written here anew, not through the interpreter's own. */
#include "eval/eval.h"
#include "ir/float.h"
#include "ir/scalar.h"
#include "check.h"

static bool sk_seen[TS_OP_COUNT];
static ts_error err;

/* A kernel under construction: parameter 0 is the output, 1 the input. */
typedef struct sk {
    ts_arena arena;
    ts_module *m;
    ts_fn *fn;
    ts_builder b;
    ts_val out, in, tid;
    ts_plan plan;
    ts_eval_env env;
} sk;

static ts_val sk_i32(sk *k, int64_t x)
{
    return ts_int(&k->b, TS_T_i32, x);
}

static ts_val sk_op(sk *k, ts_op op, ts_type type, uint32_t n, const ts_val *opnds, uint32_t aux)
{
    return ts_emit(&k->b, op, type, n, opnds, aux, 0);
}

static void sk_do(sk *k, ts_op op, uint32_t n, const ts_val *opnds, uint32_t aux)
{
    sk_op(k, op, TS_T_none, n, opnds, aux);
}

static void sk_begin(sk *k, uint32_t threads, uint32_t shared)
{
    *k = (sk){0};
    ts__arena_init(&k->arena, NULL);
    k->m = ts__module_create(&k->arena);
    k->fn = ts_fn_create(k->m, "kernel", TS_LEVEL_S);
    ts__builder_init(&k->b, k->fn);
    k->plan = (ts_plan){.threads = threads, .shared_bytes = shared, .n_params = 2};
    k->out = ts_fn_param(&k->b, ts_type_ptr(k->m, TS_T_i32, TS_GLOBAL));
    k->in = ts_fn_param(&k->b, ts_type_ptr(k->m, TS_T_i32, TS_GLOBAL));
    k->tid = sk_op(k, TS_OP_sreg, TS_T_i32, 0, NULL, TS_S(TS_SREG_TID, 0, 0));
}

/* Pointer plus index * bytes. */
static ts_val sk_at(sk *k, ts_val base, ts_val index, int64_t bytes)
{
    ts_val scaled = ts_op2(&k->b, TS_OP_muli, index, sk_i32(k, bytes), 0);
    return sk_op(k, TS_OP_ptr_add, ts_type_of(k->fn, base), 2, (ts_val[]){base, scaled}, 0);
}

static ts_val sk_ld(sk *k, ts_val pointer, ts_type type)
{
    return ts_emit_multi(&k->b, TS_OP_ld, 1, &pointer, TS_S(0, 1, 0), 0, 1, &type) + 1;
}

static void sk_st(sk *k, ts_val pointer, ts_val value)
{
    sk_do(k, TS_OP_st, 2, (ts_val[]){pointer, value}, TS_S(0, 1, 0));
}

/* out[tid * n + i] = value; 32-bit values. */
static void sk_give(sk *k, ts_val value, int64_t n, int64_t i)
{
    ts_val index = ts_op2(&k->b, TS_OP_addi, ts_op2(&k->b, TS_OP_muli, k->tid, sk_i32(k, n), 0), sk_i32(k, i), 0);
    sk_st(k, sk_at(k, k->out, index, 4), value);
}

static ts_val sk_shared(sk *k, ts_type elem, uint32_t offset)
{
    return sk_op(k, TS_OP_shared, ts_type_ptr(k->m, elem, TS_SHARED), 0, NULL, offset);
}

static void sk_bar(sk *k)
{
    sk_do(k, TS_OP_bar_sync, 0, NULL, TS_S(0, 0, 0));
}

static ts_status sk_run(sk *k, void *out, const void *in, uint32_t blocks)
{
    uint64_t params[] = {(uint64_t)(uintptr_t)out, (uint64_t)(uintptr_t)in};
    uint32_t grid[3] = {blocks, 1, 1};
    sk_do(k, TS_OP_return, 0, NULL, 0);
    for (uint32_t v = 0; v < k->fn->inst.n; v++)
        sk_seen[k->fn->inst.at[v].op] = true;
    ts_status status = ts_builder_status(&k->b, &err);
    if (!status)
        status = ts__eval_simt(k->fn, &k->plan, params, 2, grid, &k->env, &err);
    return status;
}

static ts_status sk_end(sk *k, void *out, const void *in)
{
    ts_status status = sk_run(k, out, in, 1);
    ts__arena_deinit(&k->arena);
    return status;
}

/* The first warp's elected lane does what is emitted until sk_end_if. */
static ts_val sk_if_first(sk *k)
{
    ts_val o = ts_if_begin(&k->b, ts_cmp(&k->b, TS_OP_cmpi, TS_EQ, k->tid, sk_i32(k, 0), 0));
    return o;
}

static void sk_end_if(sk *k, ts_val o)
{
    ts_term(&k->b, TS_OP_yield, 0, NULL);
    ts_else(&k->b);
    ts_term(&k->b, TS_OP_yield, 0, NULL);
    ts_end(&k->b, o, 0, NULL);
}

/* All threads copy `bytes` of the input to shared memory. */
static void sk_fill_shared(sk *k, uint32_t bytes)
{
    ts_val o = ts_for_begin(&k->b, k->tid, sk_i32(k, bytes / 4), sk_i32(k, k->plan.threads), 0, NULL, 0);
    ts_val i = ts_region_arg(k->fn, o, 0);
    sk_st(k, sk_at(k, sk_shared(k, TS_T_i32, 0), i, 4), sk_ld(k, sk_at(k, k->in, i, 4), TS_T_i32));
    ts_term(&k->b, TS_OP_continue, 0, NULL);
    ts_end(&k->b, o, 0, NULL);
    sk_do(k, TS_OP_fence, 0, NULL, TS_S(TS_FENCE_PROXY_ASYNC, 0, 0));
    sk_bar(k);
}

/* ---- control flow ------------------------------------------------------------------------------------ */

/* Each lane loops its own number of times, skips odd steps, and lane 5 returns early. */
static void lanes_diverge_and_meet_again(void)
{
    sk k;
    int32_t out[64];
    memset(out, 0xFF, sizeof out);
    sk_begin(&k, 64, 0);
    ts_builder *b = &k.b;
    ts_val zero = sk_i32(&k, 0), one = sk_i32(&k, 1);
    ts_val gone = ts_if_begin(b, ts_cmp(b, TS_OP_cmpi, TS_EQ, k.tid, sk_i32(&k, 5), 0));
    ts_term(b, TS_OP_return, 0, NULL);
    ts_else(b);
    ts_term(b, TS_OP_yield, 0, NULL);
    ts_end(b, gone, 0, NULL);
    ts_val o = ts_for_begin(b, zero, k.tid, one, 1, &zero, 0);
    ts_val i = ts_region_arg(k.fn, o, 0), sum = ts_region_arg(k.fn, o, 1);
    ts_val odd = ts_cmp(b, TS_OP_cmpi, TS_EQ, ts_op2(b, TS_OP_andi, i, one, 0), one, 0);
    ts_val skip = ts_if_begin(b, odd);
    ts_term(b, TS_OP_continue, 1, &sum);
    ts_else(b);
    ts_term(b, TS_OP_yield, 0, NULL);
    ts_end(b, skip, 0, NULL);
    ts_val big = ts_if_begin(b, ts_cmp(b, TS_OP_cmpi, TS_GT, i, sk_i32(&k, 20), 0));
    ts_val far = ts_op2(b, TS_OP_addi, sum, sk_i32(&k, 1000), 0);
    ts_term(b, TS_OP_yield, 1, &far);
    ts_else(b);
    ts_val more = ts_op2(b, TS_OP_addi, sum, i, 0);
    ts_term(b, TS_OP_yield, 1, &more);
    ts_end(b, big, 1, (ts_type[]){TS_T_i32});
    ts_val next = ts_res(b, big, 0);
    ts_term(b, TS_OP_continue, 1, &next);
    ts_end_like(b, o);
    sk_give(&k, ts_res(b, o, 0), 1, 0);
    CHECK_OK(sk_end(&k, out, NULL));
    for (int32_t t = 0; t < 64; t++) {
        int32_t wanted = t == 5 ? -1 : 0;
        for (int32_t n = 0; n < t && t != 5; n++) {
            if (n & 1)
                continue;
            wanted += n > 20 ? 1000 : n;
        }
        CHECK_INT(out[t], wanted);
    }
}

static void loop_and_cold_work_per_lane(void)
{
    sk k;
    int32_t out[64];
    sk_begin(&k, 32, 0);
    ts_builder *b = &k.b;
    ts_val zero = sk_i32(&k, 0);
    ts_val o = ts_loop_begin(b, 1, &zero);
    ts_val n = ts_region_arg(k.fn, o, 0);
    ts_val full = ts_if_begin(b, ts_cmp(b, TS_OP_cmpi, TS_GE, ts_op2(b, TS_OP_muli, n, n, 0), k.tid, 0));
    ts_term(b, TS_OP_break, 1, &n);
    ts_else(b);
    ts_term(b, TS_OP_yield, 0, NULL);
    ts_end(b, full, 0, NULL);
    ts_val next = ts_op2(b, TS_OP_addi, n, sk_i32(&k, 1), 0);
    ts_term(b, TS_OP_continue, 1, &next);
    ts_end_like(b, o);
    sk_give(&k, ts_res(b, o, 0), 2, 0);
    ts_val c = ts_cold_begin(b, ts_cmp(b, TS_OP_cmpi, TS_GT, k.tid, sk_i32(&k, 29), 0), 1, &k.tid);
    ts_val minus = ts_op1(b, TS_OP_negi, k.tid, 0);
    ts_term(b, TS_OP_yield, 1, &minus);
    ts_end_like(b, c);
    sk_give(&k, ts_res(b, c, 0), 2, 1);
    CHECK_OK(sk_end(&k, out, NULL));
    CHECK(out[0] == 0 && out[2 * 1] == 1 && out[2 * 4] == 2 && out[2 * 17] == 5 && out[2 * 31] == 6);
    CHECK(out[1] == 0 && out[2 * 29 + 1] == 29 && out[2 * 30 + 1] == -30 && out[2 * 31 + 1] == -31);
}

/* ---- leaves and bits ------------------------------------------------------------------------------------ */

static void special_registers_tell_the_place(void)
{
    static const ts_sreg kinds[] = {TS_SREG_TID_Y, TS_SREG_CTAID, TS_SREG_NCTAID, TS_SREG_NTID, TS_SREG_LANEID,
                                    TS_SREG_WARPID, TS_SREG_LANEMASK_LT, TS_SREG_SHARED_BYTES};
    sk k;
    int32_t out[64 * 8];
    sk_begin(&k, 64, 0);
    for (uint32_t i = 0; i < 8; i++)
        sk_give(&k, sk_op(&k, TS_OP_sreg, TS_T_i32, 0, NULL, TS_S(kinds[i], 0, 0)), 8, i);
    CHECK_OK(sk_run(&k, out, NULL, 3));
    ts__arena_deinit(&k.arena);
    const int32_t *last = out + 63 * 8;
    CHECK(last[0] == 0 && last[1] == 2 && last[2] == 3 && last[3] == 64 && last[4] == 31 && last[5] == 1 &&
          last[6] == 0x7FFFFFFF && last[7] == 0);
}

static void bit_operations_have_their_ptx_meaning(void)
{
    sk k;
    int32_t out[12];
    sk_begin(&k, 1, 0);
    ts_builder *b = &k.b;
    ts_val x = sk_i32(&k, 0x03020100), y = sk_i32(&k, (int32_t)0x87060504), m = sk_i32(&k, -1);
    sk_give(&k, sk_op(&k, TS_OP_prmt, TS_T_i32, 2, (ts_val[]){x, y}, TS_S(0, 0xF740, 0)), 12, 0);
    sk_give(&k, sk_op(&k, TS_OP_popc, TS_T_i32, 1, &y, 0), 12, 1);
    sk_give(&k, sk_op(&k, TS_OP_clz, TS_T_i32, 1, &x, 0), 12, 2);
    sk_give(&k, sk_op(&k, TS_OP_brev, TS_T_i32, 1, &x, 0), 12, 3);
    ts_val wide = sk_op(&k, TS_OP_mul_wide, TS_T_i64, 2, (ts_val[]){m, m}, TS_A_UNSIGNED);
    ts_val halves = ts_emit_multi(b, TS_OP_unpack2, 1, &wide, 0, 0, 2, (ts_type[]){TS_T_i32, TS_T_i32});
    sk_give(&k, halves + 1, 12, 4);
    sk_give(&k, halves + 2, 12, 5);
    ts_val again = sk_op(&k, TS_OP_pack2, TS_T_i64, 2, (ts_val[]){halves + 2, halves + 1}, 0);
    sk_give(&k, ts_cast(b, TS_OP_trunci, again, TS_T_i32, 0), 12, 6);
    ts_val floats[] = {ts_float(b, TS_T_f32, 1), ts_float(b, TS_T_f32, -2)};
    sk_give(&k, sk_op(&k, TS_OP_cvt_pack, TS_T_i32, 2, floats, TS_A_ELEM(TS_T_bf16)), 12, 7);
    ts_val fp8 = sk_op(&k, TS_OP_cvt_pack, TS_T_i16, 2, floats, TS_A_ELEM(TS_T_f8E4M3FN));
    sk_give(&k, ts_cast(b, TS_OP_exti, fp8, TS_T_i32, TS_A_UNSIGNED), 12, 8);
    ts_val signed_wide = sk_op(&k, TS_OP_mul_wide, TS_T_i64, 2, (ts_val[]){m, m}, 0);
    sk_give(&k, ts_cast(b, TS_OP_trunci, signed_wide, TS_T_i32, 0), 12, 9);
    CHECK_OK(sk_end(&k, out, NULL));
    CHECK(out[0] == (int32_t)0xFF870400 && out[1] == 9 && out[2] == 6 && out[3] == 0x008040C0);
    CHECK(out[4] == 1 && out[5] == -2 && out[6] == -2 && out[7] == (int32_t)0xC0003F80 && out[8] == 0xC038 &&
          out[9] == 1);
}

static void promises_locals_and_globals_exist_per_thread(void)
{
    static const int32_t table[] = {70, 71};
    sk k;
    int32_t out[32];
    sk_begin(&k, 32, 0);
    ts_builder *b = &k.b;
    ts_str name = ts_intern(k.m, "table", 5);
    (void)!TS_PUSH(&k.arena, &k.m->dense, ((ts_dense){table, sizeof table}));
    (void)!TS_PUSH(&k.arena, &k.m->globals,
                   ((ts_global){name, ts_type_tile(k.m, TS_T_i32, 1, (int64_t[]){2}), 1, 4, true}));
    ts_val global = sk_op(&k, TS_OP_get_global, ts_type_ptr(k.m, TS_T_i32, TS_GLOBAL), 0, NULL, name);
    ts_val local =
        sk_op(&k, TS_OP_local, ts_type_ptr(k.m, TS_T_i32, TS_LOCAL), 0, NULL, ts_pool_add(b, 3, (uint32_t[]){8, 4, 0}));
    uint32_t bounds[] = {TS_ASSUME_BOUNDED, 1, 0, 0, 1, 31, 0};
    ts_val tid = sk_op(&k, TS_OP_assume, TS_T_i32, 1, &k.tid, ts_pool_add(b, 7, bounds));
    sk_st(&k, sk_at(&k, local, sk_i32(&k, 1), 4), tid);
    ts_val x = sk_ld(&k, sk_at(&k, local, sk_i32(&k, 1), 4), TS_T_i32);
    ts_val parity = ts_op2(b, TS_OP_andi, x, sk_i32(&k, 1), 0);
    sk_give(&k, ts_op2(b, TS_OP_addi, x, sk_ld(&k, sk_at(&k, global, parity, 4), TS_T_i32), 0), 1, 0);
    CHECK_OK(sk_end(&k, out, NULL));
    CHECK(out[0] == 70 && out[1] == 72 && out[31] == 102);
}

/* ---- warps ------------------------------------------------------------------------------------------------- */

static void shuffles_read_other_lanes(void)
{
    static const struct {
        ts_shfl kind;
        uint32_t word, by;
    } rows[] = {{TS_SHFL_IDX, 31, 3}, {TS_SHFL_UP, 0, 1}, {TS_SHFL_DOWN, 31, 2}, {TS_SHFL_BFLY, 31, 16},
                {TS_SHFL_BFLY, 0x1C1F, 1}, {TS_SHFL_IDX, 0x181F, 2}};
    sk k;
    int32_t out[32 * 6];
    sk_begin(&k, 32, 0);
    for (uint32_t i = 0; i < 6; i++) {
        ts_val opnds[] = {k.tid, sk_i32(&k, rows[i].by)};
        sk_give(&k, sk_op(&k, TS_OP_shfl, TS_T_i32, 2, opnds, TS_S(rows[i].kind, rows[i].word, 0)), 6, i);
    }
    CHECK_OK(sk_end(&k, out, NULL));
    for (int32_t t = 0; t < 32; t++) {
        const int32_t *o = out + t * 6;
        CHECK(o[0] == 3 && o[1] == (t ? t - 1 : 0) && o[2] == (t < 30 ? t + 2 : t) && o[3] == (t ^ 16));
        CHECK(o[4] == (t ^ 1) && o[5] == (t & 24) + 2);
    }
}

static void votes_and_matches_combine_lanes(void)
{
    sk k;
    int32_t out[32 * 9];
    sk_begin(&k, 32, 0);
    ts_builder *b = &k.b;
    ts_val low = ts_cmp(b, TS_OP_cmpi, TS_LT, k.tid, sk_i32(&k, 4), 0),
        group = ts_op2(b, TS_OP_andi, k.tid, sk_i32(&k, 3), 0);
    ts_val any = sk_op(&k, TS_OP_vote, TS_T_i1, 1, &low, TS_S(TS_VOTE_ANY, 0, 0));
    ts_val all = sk_op(&k, TS_OP_vote, TS_T_i1, 1, &low, TS_S(TS_VOTE_ALL, 0, 0));
    sk_give(&k, ts_cast(b, TS_OP_exti, any, TS_T_i32, TS_A_UNSIGNED), 9, 0);
    sk_give(&k, ts_cast(b, TS_OP_exti, all, TS_T_i32, TS_A_UNSIGNED), 9, 1);
    sk_give(&k, sk_op(&k, TS_OP_vote, TS_T_i32, 1, &low, TS_S(TS_VOTE_BALLOT, 0, 0)), 9, 2);
    sk_give(&k, sk_op(&k, TS_OP_redux, TS_T_i32, 1, &k.tid, TS_S(TS_RMW_ADD, 0, 0)), 9, 3);
    sk_give(&k, sk_op(&k, TS_OP_redux, TS_T_i32, 1, &k.tid, TS_S(TS_RMW_MAX, 0, 0)), 9, 4);
    sk_give(&k, sk_op(&k, TS_OP_redux, TS_T_i32, 1, &k.tid, TS_S(TS_RMW_XOR, 0, 0)), 9, 5);
    sk_give(&k, sk_op(&k, TS_OP_match, TS_T_i32, 1, &group, 0), 9, 6);
    sk_give(&k, ts_cast(b, TS_OP_exti, sk_op(&k, TS_OP_elect, TS_T_i1, 0, NULL, 0), TS_T_i32, TS_A_UNSIGNED), 9, 7);
    sk_do(&k, TS_OP_warp_sync, 0, NULL, 0);
    CHECK_OK(sk_end(&k, out, NULL));
    const int32_t *o = out + 9 * 5;
    CHECK(o[0] == 1 && o[1] == 0 && o[2] == 15 && o[3] == 496 && o[4] == 31 && o[5] == 0);
    CHECK(o[6] == 0x22222222 && o[7] == 0 && out[7] == 1);
}

static void a_shuffle_in_divergent_code_is_an_error(void)
{
    sk k;
    sk_begin(&k, 32, 0);
    ts_val o = sk_if_first(&k);
    sk_op(&k, TS_OP_shfl, TS_T_i32, 2, (ts_val[]){k.tid, k.tid}, TS_S(TS_SHFL_IDX, 31, 0));
    sk_end_if(&k, o);
    CHECK_INT(sk_end(&k, NULL, NULL), TS_LAUNCH);
    CHECK(strstr(err.text, "divergent") && strstr(err.text, "00000001 of ffffffff"));
}

/* ---- memory ----------------------------------------------------------------------------------------------------- */

static void vectors_move_with_predicate_and_pad(void)
{
    sk k;
    int32_t out[32 * 4], in[32 * 4];
    for (int32_t i = 0; i < 128; i++) {
        in[i] = i;
        out[i] = -7;
    }
    sk_begin(&k, 32, 0);
    ts_builder *b = &k.b;
    ts_val few = ts_cmp(b, TS_OP_cmpi, TS_LT, k.tid, sk_i32(&k, 30), 0),
        not_zero = ts_cmp(b, TS_OP_cmpi, TS_NE, k.tid, sk_i32(&k, 0), 0);
    ts_type four[] = {TS_T_i32, TS_T_i32, TS_T_i32, TS_T_i32};
    ts_val opnds[] = {sk_at(&k, k.in, k.tid, 16), few, sk_i32(&k, 99)};
    ts_val x = ts_emit_multi(b, TS_OP_ld, 3, opnds, TS_S(0, 4, 0), TS_F_MASK | TS_F_PAD, 4, four);
    ts_val st[] = {sk_at(&k, k.out, k.tid, 16), x + 4, x + 3, x + 2, x + 1, not_zero};
    ts_emit(b, TS_OP_st, TS_T_none, 6, st, TS_S(0, 4, 0), TS_F_MASK);
    CHECK_OK(sk_end(&k, out, in));
    CHECK(out[0] == -7 && out[4] == 7 && out[7] == 4 && out[29 * 4] == 119 && out[30 * 4] == 99);
}

static void bad_addresses_are_named(void)
{
    sk k;
    int32_t memory[8];
    ts_eval_range range = {memory, sizeof memory};
    sk_begin(&k, 1, 64);
    k.env = (ts_eval_env){.ranges = &range, .n_ranges = 1};
    sk_st(&k, sk_at(&k, k.out, sk_i32(&k, 8), 4), sk_i32(&k, 1));
    CHECK_INT(sk_end(&k, memory, NULL), TS_INDEX);
    sk_begin(&k, 1, 64);
    sk_st(&k, sk_at(&k, k.out, sk_i32(&k, 2), 1), sk_i32(&k, 1));
    CHECK_INT(sk_end(&k, memory, NULL), TS_LAUNCH);
    CHECK(strstr(err.text, "not aligned") != NULL);
    sk_begin(&k, 1, 64);
    sk_st(&k, sk_shared(&k, TS_T_i32, 64), sk_i32(&k, 1));
    CHECK_INT(sk_end(&k, memory, NULL), TS_INDEX);
    CHECK(strstr(err.text, "0x440") != NULL);
}

static void atomics_return_the_old_value(void)
{
    sk k;
    int32_t memory[40] = {0};
    sk_begin(&k, 32, 16);
    ts_builder *b = &k.b;
    uint32_t add = TS_M_MODE(TS_RMW_ADD), cas = TS_M_MODE(TS_RMW_CAS), max = TS_M_MODE(TS_RMW_MAX);
    ts_val one = sk_i32(&k, 1), cell = sk_at(&k, k.out, sk_i32(&k, 32), 4);
    ts_val old = sk_op(&k, TS_OP_atom, TS_T_i32, 2, (ts_val[]){cell, one}, add);
    sk_give(&k, old, 1, 0);
    sk_do(&k, TS_OP_red, 2, (ts_val[]){sk_at(&k, k.out, sk_i32(&k, 33), 4), k.tid}, max);
    ts_val few = ts_cmp(b, TS_OP_cmpi, TS_GT, k.tid, sk_i32(&k, 20), 0);
    ts_val swap[] = {sk_at(&k, k.out, sk_i32(&k, 34), 4), sk_i32(&k, 0), k.tid, few};
    ts_emit(b, TS_OP_atom, TS_T_i32, 4, swap, cas, TS_F_MASK);
    ts_val shared = sk_shared(&k, TS_T_i32, 4);
    sk_st(&k, shared, sk_i32(&k, 5));
    sk_do(&k, TS_OP_red, 2, (ts_val[]){shared, one}, add);
    sk_st(&k, sk_at(&k, k.out, sk_i32(&k, 35), 4), sk_ld(&k, shared, TS_T_i32));
    CHECK_OK(sk_end(&k, memory, NULL));
    CHECK(memory[0] == 0 && memory[31] == 31 && memory[32] == 32 && memory[33] == 31 && memory[34] == 21 &&
          memory[35] == 37);
}

/* ---- barriers ----------------------------------------------------------------------------------------------- */

/* Every thread writes its slot and reads the slot of the opposite one. */
static ts_status sk_exchange(bool barrier, bool check_races, uint32_t schedule, int32_t out[128])
{
    sk k;
    sk_begin(&k, 128, 512);
    k.env.check_races = check_races;
    k.env.schedule = schedule;
    ts_val shared = sk_shared(&k, TS_T_i32, 0), other = ts_op2(&k.b, TS_OP_subi, sk_i32(&k, 127), k.tid, 0);
    sk_st(&k, sk_at(&k, shared, k.tid, 4), k.tid);
    if (barrier)
        sk_bar(&k);
    sk_give(&k, sk_ld(&k, sk_at(&k, shared, other, 4), TS_T_i32), 1, 0);
    return sk_end(&k, out, NULL);
}

static void a_barrier_orders_warps_and_its_lack_is_a_race(void)
{
    int32_t out[128];
    for (uint32_t schedule = 0; schedule < 6; schedule++) {
        CHECK_OK(sk_exchange(true, true, schedule, out));
        CHECK(out[0] == 127 && out[127] == 0);
        CHECK_INT(sk_exchange(false, true, schedule, out), TS_LAUNCH);
        CHECK(strstr(err.text, "race: warp") != NULL);
    }
    CHECK_OK(sk_exchange(false, false, 0, out));
    CHECK(out[0] != 127);
}

/* Every thread stores to its word of global memory, then touches the opposite one. */
static ts_status sk_exchange_global(bool barrier, bool write, int32_t out[128])
{
    sk k;
    sk_begin(&k, 128, 0);
    k.env.check_races = true;
    ts_val other = ts_op2(&k.b, TS_OP_subi, sk_i32(&k, 127), k.tid, 0);
    sk_st(&k, sk_at(&k, k.out, k.tid, 4), k.tid);
    if (barrier)
        sk_bar(&k);
    if (write)
        sk_st(&k, sk_at(&k, k.out, other, 4), sk_i32(&k, 7));
    else
        sk_ld(&k, sk_at(&k, k.out, other, 4), TS_T_i32);
    return sk_end(&k, out, NULL);
}

static void global_memory_is_looked_at_too(void)
{
    for (int write = 0; write < 2; write++) {
        int32_t good[128] = {0}, bad[128] = {0};
        CHECK_OK(sk_exchange_global(true, write, good));
        CHECK_INT(sk_exchange_global(false, write, bad), TS_LAUNCH);
        CHECK(strstr(err.text, write ? "wrote with no barrier between" : "with no barrier between") != NULL);
    }
}

static void named_barriers_join_arrivals_and_waits(void)
{
    sk k;
    int32_t out[64] = {0};
    sk_begin(&k, 64, 128);
    k.env.check_races = true;
    ts_builder *b = &k.b;
    ts_val shared = sk_shared(&k, TS_T_i32, 0);
    ts_val o = ts_if_begin(b, ts_cmp(b, TS_OP_cmpi, TS_LT, k.tid, sk_i32(&k, 32), 0));
    sk_do(&k, TS_OP_bar_sync, 0, NULL, TS_S(3, 64, 0));
    sk_give(&k, sk_ld(&k, sk_at(&k, shared, k.tid, 4), TS_T_i32), 1, 0);
    ts_term(b, TS_OP_yield, 0, NULL);
    ts_else(b);
    ts_val lane = ts_op2(b, TS_OP_subi, k.tid, sk_i32(&k, 32), 0);
    sk_st(&k, sk_at(&k, shared, lane, 4), k.tid);
    sk_do(&k, TS_OP_bar_arrive, 0, NULL, TS_S(3, 64, 0));
    ts_term(b, TS_OP_yield, 0, NULL);
    ts_end(b, o, 0, NULL);
    CHECK_OK(sk_end(&k, out, NULL));
    CHECK(out[0] == 32 && out[31] == 63);
}

/* Warps 0 and 1 meet at barrier 1, warps 2 and 3 at barrier 2; each hands the other its words. */
static void a_barrier_may_be_chosen_at_run_time(void)
{
    sk k;
    int32_t out[128] = {0};
    sk_begin(&k, 128, 512);
    k.env.check_races = true;
    ts_builder *b = &k.b;
    ts_val shared = sk_shared(&k, TS_T_i32, 0);
    sk_st(&k, sk_at(&k, shared, k.tid, 4), k.tid);
    ts_val id = ts_op2(b, TS_OP_addi, ts_op2(b, TS_OP_shri, k.tid, sk_i32(&k, 6), TS_A_UNSIGNED), sk_i32(&k, 1), 0);
    sk_do(&k, TS_OP_bar_sync, 1, &id, TS_S(0, 64, 0));
    ts_val other = ts_op2(b, TS_OP_xori, k.tid, sk_i32(&k, 32), 0);
    sk_give(&k, sk_ld(&k, sk_at(&k, shared, other, 4), TS_T_i32), 1, 0);
    CHECK_OK(sk_end(&k, out, NULL));
    CHECK(out[0] == 32 && out[32] == 0 && out[127] == 95);
}

static void a_warp_left_alone_is_a_deadlock_with_names(void)
{
    sk k;
    sk_begin(&k, 64, 0);
    ts_val o = ts_if_begin(&k.b, ts_cmp(&k.b, TS_OP_cmpi, TS_LT, k.tid, sk_i32(&k, 32), 0));
    sk_do(&k, TS_OP_bar_sync, 0, NULL, TS_S(1, 64, 0));
    sk_end_if(&k, o);
    CHECK_INT(sk_end(&k, NULL, NULL), TS_LAUNCH);
    CHECK(strstr(err.text, "deadlock; warp 0 of CTA 0 waits at a barrier") != NULL);
    CHECK(strstr(err.text, "warp 1") == NULL);
}

/* Two CTAs: each writes a word into the other's shared memory. */
static void clusters_share_memory_and_a_barrier(void)
{
    sk k;
    int32_t out[2] = {0};
    sk_begin(&k, 1, 16);
    k.plan.cluster = 2;
    ts_builder *b = &k.b;
    ts_val rank = sk_op(&k, TS_OP_sreg, TS_T_i32, 0, NULL, TS_S(TS_SREG_CLUSTER_RANK, 0, 0)),
        shared = sk_shared(&k, TS_T_i32, 8);
    ts_val other = ts_op2(b, TS_OP_xori, rank, sk_i32(&k, 1), 0);
    ts_val remote = sk_op(&k, TS_OP_mapa, ts_type_of(k.fn, shared), 2, (ts_val[]){shared, other}, 0);
    sk_st(&k, remote, ts_op2(b, TS_OP_addi, rank, sk_i32(&k, 40), 0));
    sk_do(&k, TS_OP_cluster_arrive, 0, NULL, 0);
    sk_do(&k, TS_OP_cluster_wait, 0, NULL, 0);
    sk_st(&k, sk_at(&k, k.out, rank, 4), sk_ld(&k, shared, TS_T_i32));
    CHECK_OK(sk_run(&k, out, NULL, 2));
    ts__arena_deinit(&k.arena);
    CHECK(out[0] == 41 && out[1] == 40);
}

/* Three blocks: each writes its number, and after the barrier reads its neighbour's; twice. */
static void all_blocks_of_a_grid_meet(void)
{
    sk k;
    int32_t out[6] = {0};
    sk_begin(&k, 64, 0);
    ts_builder *b = &k.b;
    ts_val block = sk_op(&k, TS_OP_sreg, TS_T_i32, 0, NULL, TS_S(TS_SREG_CTAID, 0, 0));
    ts_val next = ts_op2(b, TS_OP_remi, ts_op2(b, TS_OP_addi, block, sk_i32(&k, 1), 0), sk_i32(&k, 3), 0);
    ts_val behind = ts_op2(b, TS_OP_addi, block, sk_i32(&k, 3), 0), v = ts_op2(b, TS_OP_addi, block, sk_i32(&k, 7), 0);
    sk_do(&k, TS_OP_grid_sync, 0, NULL, 1);
    ts_val first = sk_if_first(&k);
    sk_st(&k, sk_at(&k, k.out, block, 4), v);
    sk_end_if(&k, first);
    sk_do(&k, TS_OP_grid_sync, 0, NULL, 0);
    ts_val theirs = sk_ld(&k, sk_at(&k, k.out, next, 4), TS_T_i32);
    sk_do(&k, TS_OP_grid_sync, 0, NULL, 0);
    first = sk_if_first(&k);
    sk_st(&k, sk_at(&k, k.out, behind, 4), theirs);
    sk_end_if(&k, first);
    CHECK_OK(sk_run(&k, out, NULL, 3));
    ts__arena_deinit(&k.arena);
    CHECK(out[0] == 7 && out[1] == 8 && out[2] == 9 && out[3] == 8 && out[4] == 9 && out[5] == 7);
}

/* Two CTAs: each sends its rank + 40 to the other, which waits for the bytes (or not). */
static ts_status send_async(bool wait, uint32_t expect, int32_t out[2])
{
    sk k;
    sk_begin(&k, 1, 32);
    k.plan.cluster = 2;
    ts_builder *b = &k.b;
    ts_val rank = sk_op(&k, TS_OP_sreg, TS_T_i32, 0, NULL, TS_S(TS_SREG_CLUSTER_RANK, 0, 0));
    ts_val bar = sk_shared(&k, TS_T_i64, 8), word = sk_shared(&k, TS_T_i32, 16),
        other = ts_op2(b, TS_OP_xori, rank, sk_i32(&k, 1), 0);
    ts_val first = sk_if_first(&k);
    sk_do(&k, TS_OP_mbar_init, 1, &bar, TS_S(0, 1, 0));
    sk_do(&k, TS_OP_mbar_expect, 2, (ts_val[]){bar, sk_i32(&k, (int32_t)expect)}, 0);
    sk_end_if(&k, first);
    sk_do(&k, TS_OP_cluster_arrive, 0, NULL, TS_S(1, 0, 0));
    sk_do(&k, TS_OP_cluster_wait, 0, NULL, 0);
    ts_val there = sk_op(&k, TS_OP_mapa, ts_type_of(k.fn, word), 2, (ts_val[]){word, other}, 0);
    ts_val count = sk_op(&k, TS_OP_mapa, ts_type_of(k.fn, bar), 2, (ts_val[]){bar, other}, 0);
    first = sk_if_first(&k);
    sk_do(&k, TS_OP_st_async, 3, (ts_val[]){there, ts_op2(b, TS_OP_addi, rank, sk_i32(&k, 40), 0), count}, 0);
    sk_end_if(&k, first);
    if (wait)
        sk_do(&k, TS_OP_mbar_wait, 2, (ts_val[]){bar, sk_i32(&k, 0)}, 0);
    sk_st(&k, sk_at(&k, k.out, rank, 4), sk_ld(&k, word, TS_T_i32));
    ts_status status = sk_run(&k, out, NULL, 2);
    ts__arena_deinit(&k.arena);
    return status;
}

static void blocks_wait_for_what_is_sent_to_them(void)
{
    int32_t out[2] = {0};
    CHECK_OK(send_async(true, 4, out));
    CHECK(out[0] == 41 && out[1] == 40);
    CHECK_INT(send_async(true, 8, out), TS_LAUNCH); /* bytes that nobody sends */
    CHECK(strstr(err.text, "deadlock") != NULL);
    CHECK_INT(send_async(false, 4, out), TS_LAUNCH);
}

/* ---- cp.async ----------------------------------------------------------------------------------------------- */

static ts_status sk_copy_async(bool wait, int32_t out[4])
{
    sk k;
    int32_t in[4] = {1, 2, 3, 4};
    sk_begin(&k, 1, 64);
    ts_val shared = sk_shared(&k, TS_T_i32, 16);
    ts_val opnds[] = {shared, k.in, sk_i32(&k, 8)};
    ts_emit(&k.b, TS_OP_cp_async, TS_T_none, 3, opnds, TS_S(0, 16, 0), TS_F_SRC);
    sk_do(&k, TS_OP_cp_async_commit, 0, NULL, 0);
    sk_do(&k, TS_OP_cp_async_commit, 0, NULL, 0);
    sk_do(&k, TS_OP_cp_async_wait, 0, NULL, TS_S(0, wait ? 1 : 2, 0));
    for (uint32_t i = 0; i < 4; i++)
        sk_give(&k, sk_ld(&k, sk_at(&k, shared, sk_i32(&k, i), 4), TS_T_i32), 4, i);
    return sk_end(&k, out, in);
}

static void cp_async_arrives_at_its_wait(void)
{
    int32_t out[4];
    CHECK_OK(sk_copy_async(true, out));
    CHECK(out[0] == 1 && out[1] == 2 && out[2] == 0 && out[3] == 0);
    CHECK_INT(sk_copy_async(false, out), TS_LAUNCH);
    CHECK(strstr(err.text, "cp.async without its wait") != NULL);
}

/* ---- bulk copies -------------------------------------------------------------------------------------------- */

/* Four numbers to shared memory and, behind a wait for `phase`, back. */
static ts_status sk_bulk(int32_t bytes, bool wait, int32_t out[4])
{
    sk k;
    _Alignas(16) int32_t in[4] = {1, 2, 3, 4};
    sk_begin(&k, 1, 64);
    ts_val shared = sk_shared(&k, TS_T_i32, 16), bar = sk_shared(&k, TS_T_i64, 0), n = sk_i32(&k, bytes);
    sk_do(&k, TS_OP_prefetch, 1, &k.in, 0);
    sk_do(&k, TS_OP_mbar_init, 2, (ts_val[]){bar, sk_i32(&k, 1)}, 0);
    sk_do(&k, TS_OP_mbar_expect, 2, (ts_val[]){bar, n}, 0);
    sk_do(&k, TS_OP_bulk_load, 4, (ts_val[]){shared, bar, k.in, n}, 0);
    if (wait)
        sk_do(&k, TS_OP_mbar_wait, 2, (ts_val[]){bar, sk_i32(&k, 0)}, 0);
    sk_do(&k, TS_OP_bulk_store, 3, (ts_val[]){k.out, shared, n}, 0);
    sk_do(&k, TS_OP_bulk_commit, 0, NULL, 0);
    sk_do(&k, TS_OP_bulk_wait, 0, NULL, 0);
    return sk_end(&k, out, in);
}

static void bulk_copies_arrive_at_their_barrier(void)
{
    _Alignas(16) int32_t out[4] = {0};
    CHECK_OK(sk_bulk(16, true, out));
    CHECK(out[0] == 1 && out[1] == 2 && out[2] == 3 && out[3] == 4);
    CHECK_INT(sk_bulk(16, false, out), TS_LAUNCH);
    CHECK(strstr(err.text, "without its mbarrier wait") != NULL);
    CHECK_INT(sk_bulk(12, true, out), TS_LAUNCH);
    CHECK(strstr(err.text, "multiples of 16") != NULL);
}

/* ---- mbarriers and TMA -------------------------------------------------------------------------------------- */

/* Warp 1 produces four numbers through a one-slot ring, warp 0 consumes them; `full` and `empty` barriers. */
static ts_status sk_ring(uint32_t schedule, bool forget_empty, int32_t out[4])
{
    sk k;
    sk_begin(&k, 64, 64);
    k.env.schedule = schedule;
    k.env.check_races = true;
    ts_builder *b = &k.b;
    ts_val slot = sk_shared(&k, TS_T_i32, 0), full = sk_shared(&k, TS_T_i64, 16), empty = sk_shared(&k, TS_T_i64, 24);
    ts_val first = sk_if_first(&k);
    sk_do(&k, TS_OP_mbar_init, 1, &full, TS_S(0, 32, 0));
    sk_do(&k, TS_OP_mbar_init, 1, &empty, TS_S(0, 1, 0));
    sk_do(&k, TS_OP_fence, 0, NULL, TS_S(TS_FENCE_MBAR_INIT, 0, 0));
    sk_end_if(&k, first);
    sk_bar(&k);
    ts_val zero = sk_i32(&k, 0), one = sk_i32(&k, 1), four = sk_i32(&k, 4);
    ts_val role = ts_if_begin(b, ts_cmp(b, TS_OP_cmpi, TS_GE, k.tid, sk_i32(&k, 32), 0));
    ts_val o = ts_for_begin(b, zero, four, one, 0, NULL, 0);
    ts_val i = ts_region_arg(k.fn, o, 0), parity = ts_op2(b, TS_OP_andi, i, one, 0);
    sk_do(&k, TS_OP_mbar_wait, 2, (ts_val[]){empty, ts_op2(b, TS_OP_xori, parity, one, 0)}, 0);
    sk_st(&k, slot, ts_op2(b, TS_OP_muli, i, i, 0));
    sk_do(&k, TS_OP_mbar_arrive, 1, &full, 0);
    ts_term(b, TS_OP_continue, 0, NULL);
    ts_end(b, o, 0, NULL);
    ts_term(b, TS_OP_yield, 0, NULL);
    ts_else(b);
    o = ts_for_begin(b, zero, four, one, 0, NULL, 0);
    i = ts_region_arg(k.fn, o, 0);
    parity = ts_op2(b, TS_OP_andi, i, one, 0);
    sk_do(&k, TS_OP_mbar_wait, 2, (ts_val[]){full, parity}, 0);
    sk_st(&k, sk_at(&k, k.out, i, 4), sk_ld(&k, slot, TS_T_i32));
    ts_val is_first = ts_cmp(b, TS_OP_cmpi, TS_EQ, k.tid, zero, 0);
    if (!forget_empty)
        ts_emit(b, TS_OP_mbar_arrive, TS_T_none, 2, (ts_val[]){empty, is_first}, 0, TS_F_MASK);
    ts_term(b, TS_OP_continue, 0, NULL);
    ts_end(b, o, 0, NULL);
    ts_term(b, TS_OP_yield, 0, NULL);
    ts_end(b, role, 0, NULL);
    sk_bar(&k);
    first = sk_if_first(&k);
    sk_do(&k, TS_OP_mbar_inval, 1, &full, 0);
    sk_end_if(&k, first);
    return sk_end(&k, out, NULL);
}

static void mbarriers_hand_a_slot_to_and_fro(void)
{
    int32_t out[4];
    for (uint32_t schedule = 0; schedule < 5; schedule++) {
        memset(out, 0, sizeof out);
        CHECK_OK(sk_ring(schedule, false, out));
        CHECK(out[0] == 0 && out[1] == 1 && out[2] == 4 && out[3] == 9);
        CHECK_INT(sk_ring(schedule, true, out), TS_LAUNCH);
        CHECK(strstr(err.text, "deadlock") && strstr(err.text, "waits at an mbarrier"));
    }
}

enum { TMA_NO_WAIT = 1, TMA_NO_FENCE = 2, TMA_NO_BULK_WAIT = 4, TMA_REDUCE = 8, TMA_PLAIN = 16 };

/* Loads an 8 x 64 bf16 box at (16, -1) of a 10 x 72 array with 128-byte swizzle, gives the shared bytes to
 * out, then stores the box to array `out2` (in the same buffer, 1024 bytes on) at (0, 0). */
static ts_status sk_tma(uint32_t flags, uint16_t out[1024], const uint16_t *in)
{
    sk k;
    sk_begin(&k, 32, 2048);
    k.plan.n_tmaps = 2;
    ts_plan_tmap map = {.base = 1, .dtype = 9, .rank = 2, .swizzle = flags & TMA_PLAIN ? 0 : 3, .elem_bytes = 2,
                        .box = {64, 8}, .step = {1, 1},
                        .dim = {{72, -1}, {10, -1}}, .stride = {{1, -1}, {80, -1}}};
    k.plan.tmap[0] = map;
    map.base = 0;
    map.dim[0].value = 64;
    map.dim[1].value = 16;
    map.stride[1].value = 64;
    k.plan.tmap[1] = map;
    ts_val bar = sk_shared(&k, TS_T_i64, 1024), tile = sk_shared(&k, TS_T_i32, 0), zero = sk_i32(&k, 0);
    ts_val first = sk_if_first(&k);
    sk_do(&k, TS_OP_tma_prefetch, 0, NULL, TS_S(0, 0, 0));
    sk_do(&k, TS_OP_mbar_init, 1, &bar, TS_S(0, 1, 0));
    sk_do(&k, TS_OP_mbar_expect, 2, (ts_val[]){bar, sk_i32(&k, 1024)}, 0);
    sk_do(&k, TS_OP_tma_load, 4, (ts_val[]){tile, bar, sk_i32(&k, 16), sk_i32(&k, -1)}, TS_S(0, 2, 0));
    sk_end_if(&k, first);
    sk_bar(&k);
    if (!(flags & TMA_NO_WAIT))
        sk_do(&k, TS_OP_mbar_wait, 2, (ts_val[]){bar, zero}, 0);
    ts_val o = ts_for_begin(&k.b, k.tid, sk_i32(&k, 256), sk_i32(&k, 32), 0, NULL, 0);
    ts_val i = ts_region_arg(k.fn, o, 0), word = sk_ld(&k, sk_at(&k, tile, i, 4), TS_T_i32);
    sk_st(&k, sk_at(&k, k.out, i, 4), word);
    sk_st(&k, sk_at(&k, tile, i, 4), word);
    ts_term(&k.b, TS_OP_continue, 0, NULL);
    ts_end(&k.b, o, 0, NULL);
    if (!(flags & TMA_NO_FENCE))
        sk_do(&k, TS_OP_fence, 0, NULL, TS_S(TS_FENCE_PROXY_ASYNC, 0, 0));
    sk_bar(&k);
    first = sk_if_first(&k);
    sk_do(&k, flags & TMA_REDUCE ? TS_OP_tma_reduce : TS_OP_tma_store, 3, (ts_val[]){tile, zero, sk_i32(&k, 8)},
          TS_S(1, 2, flags & TMA_REDUCE ? TS_RMW_ADD : 0));
    sk_do(&k, TS_OP_bulk_commit, 0, NULL, 0);
    if (!(flags & TMA_NO_BULK_WAIT))
        sk_do(&k, TS_OP_bulk_wait, 0, NULL, TS_S(0, 0, 1));
    sk_st(&k, tile, zero);
    sk_end_if(&k, first);
    return sk_end(&k, out, in);
}

/* The 128-byte swizzle of the TMA pictures: 16-byte chunk c of row r lies at chunk c ^ (r & 7). */
static void tma_swizzles_fills_and_clips(void)
{
    uint16_t in[10 * 80], out[1024] = {0};
    for (uint16_t i = 0; i < 800; i++)
        in[i] = (uint16_t)(0x4000 + i);
    CHECK_OK(sk_tma(0, out, in));
    int wrong = 0, wrong_store = 0;
    for (uint32_t r = 0; r < 8; r++)
        for (uint32_t c = 0; c < 64; c++) {
            bool inside = r >= 1 && 16 + c < 72;
            uint16_t wanted = inside ? in[(r - 1) * 80 + 16 + c] : 0;
            wrong += out[r * 64 + ((c / 8) ^ (r & 7)) * 8 + c % 8] != wanted;
            wrong_store += out[(8 + r) * 64 + c] != wanted;
        }
    CHECK_INT(wrong, 0);
    CHECK_INT(wrong_store, 0);
}

static void tma_reduction_adds_in_the_maps_type(void)
{
    uint16_t in[800], out[1024];
    for (int i = 0; i < 800; i++)
        in[i] = 0x3F80; /* 1 */
    for (int i = 0; i < 1024; i++)
        out[i] = 0x4000; /* 2 */
    CHECK_OK(sk_tma(TMA_REDUCE, out, in));
    CHECK_INT(out[8 * 64], 0x4000);     /* row -1: zero was added */
    CHECK_INT(out[9 * 64], 0x4040);     /* 3 */
    CHECK_INT(out[9 * 64 + 60], 0x4000);
}

static void forgotten_waits_and_fences_are_reported(void)
{
    uint16_t in[800] = {0}, out[1024];
    CHECK_INT(sk_tma(TMA_NO_WAIT, out, in), TS_LAUNCH);
    CHECK(strstr(err.text, "TMA load without its mbarrier wait") != NULL);
    CHECK_INT(sk_tma(TMA_NO_FENCE, out, in), TS_LAUNCH);
    CHECK(strstr(err.text, "without fence (proxy async)") != NULL);
    CHECK_INT(sk_tma(TMA_NO_BULK_WAIT, out, in), TS_LAUNCH);
    CHECK(strstr(err.text, "may still read") != NULL);
}

/* ---- matrices ----------------------------------------------------------------------------------------------- */

/* Loads n registers a lane from the input, as 32-bit words or doubles. */
static void sk_registers(sk *k, uint32_t n, uint32_t first, uint32_t of, ts_type type, ts_val *regs)
{
    int64_t bytes = type == TS_T_f64 ? 8 : 4;
    for (uint32_t i = 0; i < n; i++) {
        ts_val index =
            ts_op2(&k->b, TS_OP_addi, ts_op2(&k->b, TS_OP_muli, k->tid, sk_i32(k, of), 0), sk_i32(k, first + i), 0);
        regs[i] = sk_ld(k, sk_at(k, k->in, index, bytes), type);
    }
}

static int32_t sk_entry(uint32_t i, uint32_t j, uint32_t seed)
{
    return (int32_t)((i * 5 + j * 3 + seed) % 7) - 3;
}

static bool sk_is_f64(ts_mma row)
{
    return row == TS_MMA_m16n8k8_f64 || row == TS_MMA_m16n8k4_f64 || row == TS_MMA_m8n8k4_f64;
}

/* Where the PTX ISA puts element i of a lane's fragment, one case for each picture. */
static void sk_picture(ts_mma row, char which, uint32_t lane, uint32_t i, uint32_t *r, uint32_t *c)
{
    uint32_t group = lane >> 2, in_group = lane % 4;
    bool k16 = row == TS_MMA_m16n8k16_f16 || row == TS_MMA_m16n8k16_bf16 || row == TS_MMA_m16n8k8_f16 ||
               row == TS_MMA_m16n8k8_bf16; /* 16 bits */
    bool whole = row == TS_MMA_m16n8k8_tf32 || row == TS_MMA_m16n8k4_tf32 || sk_is_f64(row); /* one in a register */
    if (which == 'c') {
        *r = i < 2 ? group : group + 8;
        *c = in_group * 2 + (i & 1);
    } else if (which == 'a') {
        *r = whole ? (i % 2 == 0 ? group : group + 8)
             : k16 ? (i < 2 || (i >= 4 && i < 6) ? group : group + 8)
                   : (i < 4 || (i >= 8 && i < 12) ? group : group + 8);
        *c = whole ? in_group + i / 2 * 4
             : k16 ? (i < 4 ? in_group * 2 + (i & 1) : in_group * 2 + (i & 1) + 8)
                   : (i < 8 ? in_group * 4 + (i & 3) : in_group * 4 + (i & 3) + 16);
    } else {
        *r = whole ? in_group + i * 4
             : k16 ? (i < 2 ? in_group * 2 + (i & 1) : in_group * 2 + (i & 1) + 8)
                   : (i < 4 ? in_group * 4 + (i & 3) : in_group * 4 + (i & 3) + 16);
        *c = group;
    }
}

static uint64_t sk_encode(ts_type type, int32_t x)
{
    return ts__float_format_of(type) ? ts__float_from_f64(type, x, TS_RN) : (uint64_t)(int64_t)x;
}

/* Packs one operand's elements into the registers of all lanes. */
static void sk_pack(uint8_t *image, ts_mma row, char which, uint32_t first, uint32_t regs, uint32_t of, ts_type type,
                    uint32_t seed)
{
    uint32_t bits = ts__scalar_bits(type), reg_bytes = type == TS_T_f64 ? 8 : 4, per = reg_bytes * 8 / bits;
    for (uint32_t lane = 0; lane < 32; lane++)
        for (uint32_t i = 0; i < regs * per; i++) {
            uint32_t r, c;
            sk_picture(row, which, lane, i, &r, &c);
            uint8_t *reg = image + (size_t)(lane * of + first) * reg_bytes;
            ts__scalar_write(reg, bits, i, sk_encode(type, sk_entry(r, c, seed)));
        }
}

static void sk_mma_case(ts_mma row, ts_type a, ts_type b, ts_type c, uint32_t kk, const uint32_t regs[3])
{
    sk k;
    uint8_t image[32 * 16 * 8];
    uint64_t out64[32 * 4] = {0};
    uint8_t *out = (uint8_t *)out64;
    uint32_t of = regs[0] + regs[1] + regs[2], bytes = c == TS_T_f64 ? 8 : 4;
    ts_val v[16];
    ts_type results[4] = {c, c, c, c};
    sk_pack(image, row, 'a', 0, regs[0], of, a, 1);
    sk_pack(image, row, 'b', regs[0], regs[1], of, b, 2);
    sk_pack(image, row, 'c', regs[0] + regs[1], regs[2], of, c, 3);
    sk_begin(&k, 32, 0);
    ts_type reg_type = c == TS_T_f64 ? TS_T_f64 : a == TS_T_tf32 ? TS_T_f32 : TS_T_i32;
    sk_registers(&k, regs[0] + regs[1], 0, of, reg_type, v);
    sk_registers(&k, regs[2], regs[0] + regs[1], of, c, v + regs[0] + regs[1]);
    ts_val mma = ts_emit_multi(&k.b, TS_OP_mma_sync, of, v, TS_MMA_ATTR(row, 0, 0), 0, regs[2], results);
    for (uint32_t i = 0; i < regs[2]; i++) {
        ts_val index =
            ts_op2(&k.b, TS_OP_addi, ts_op2(&k.b, TS_OP_muli, k.tid, sk_i32(&k, regs[2]), 0), sk_i32(&k, i), 0);
        sk_st(&k, sk_at(&k, k.out, index, bytes), mma + 1 + i);
    }
    CHECK_OK(sk_end(&k, out, image));
    for (uint32_t lane = 0; lane < 32; lane++)
        for (uint32_t i = 0; i < regs[2]; i++) {
            uint32_t r, col;
            sk_picture(row, 'c', lane, i, &r, &col);
            int32_t wanted = sk_entry(r, col, 3);
            for (uint32_t j = 0; j < kk; j++)
                wanted += sk_entry(r, j, 1) * sk_entry(j, col, 2);
            CHECK(ts__scalar_same(c, ts__scalar_load(NULL, c, out, lane * regs[2] + i), sk_encode(c, wanted)));
        }
}

static void mma_sync_multiplies_fragments_of_every_shape(void)
{
#define TS_MMA(name, m, n, k, a, b, c, ra, rb, rc, sm)                                             \
    if (n)                                                                                         \
        sk_mma_case(TS_MMA_##name, TS_T_##a, TS_T_##b, TS_T_##c, k, (const uint32_t[]){ra, rb, rc});
#include "tessera/mma.def"
}

/* A 16 x 16 matrix of 16-bit numbers 100 * row + column, rows of 32 bytes. */
static void ldmatrix_and_stmatrix_deal_out_rows(void)
{
    for (int trans = 0; trans < 2; trans++) {
        sk k;
        uint16_t image[256], out[256 + 256];
        for (uint32_t i = 0; i < 256; i++)
            image[i] = (uint16_t)(100 * (i / 16) + i % 16);
        sk_begin(&k, 32, 1024);
        ts_builder *b = &k.b;
        sk_fill_shared(&k, 512);
        ts_val row = ts_op2(b, TS_OP_andi, k.tid, sk_i32(&k, 15), 0),
            half = ts_op2(b, TS_OP_shri, k.tid, sk_i32(&k, 4), 0);
        ts_val address = sk_at(&k, sk_at(&k, sk_shared(&k, TS_T_i16, 0), row, 32), half, 16);
        ts_type four[] = {TS_T_i32, TS_T_i32, TS_T_i32, TS_T_i32};
        ts_val x = ts_emit_multi(b, TS_OP_ldmatrix, 1, &address, TS_S(0, 4, trans), 0, 4, four);
        ts_val back = sk_at(&k, sk_at(&k, sk_shared(&k, TS_T_i16, 512), row, 32), half, 16);
        sk_do(&k, TS_OP_stmatrix, 5, (ts_val[]){back, x + 1, x + 2, x + 3, x + 4}, TS_S(0, 4, 0));
        for (uint32_t i = 0; i < 4; i++)
            sk_give(&k, x + 1 + i, 4, i);
        sk_bar(&k);
        ts_val o = ts_for_begin(b, k.tid, sk_i32(&k, 128), sk_i32(&k, 32), 0, NULL, 0);
        ts_val n = ts_region_arg(k.fn, o, 0);
        sk_st(&k, sk_at(&k, sk_at(&k, k.out, n, 4), sk_i32(&k, 512), 1),
              sk_ld(&k, sk_at(&k, sk_shared(&k, TS_T_i32, 512), n, 4), TS_T_i32));
        ts_term(b, TS_OP_continue, 0, NULL);
        ts_end(b, o, 0, NULL);
        CHECK_OK(sk_end(&k, out, image));
        for (uint32_t lane = 0; lane < 32; lane++)
            for (uint32_t e = 0; e < 8; e++) { /* matrix e / 2: rows 0-7 or 8-15 first, then columns */
                uint32_t g = lane / 4, c = 2 * (lane % 4) + e % 2, r0 = 8 * (e / 2 % 2), c0 = 8 * (e / 4);
                uint32_t wanted = trans ? 100 * (r0 + c) + c0 + g : 100 * (r0 + g) + c0 + c;
                CHECK_INT(out[lane * 8 + e], wanted);
            }
        for (uint32_t i = 0; i < 256; i++) { /* each 8 x 8 block is transposed in its place, or not */
            uint32_t r = i / 16, c = i % 16, tr = (r & 8) + c % 8, tc = (c & 8) + r % 8;
            CHECK_INT(out[256 + i], trans ? 100 * tr + tc : 100 * r + c);
        }
    }
}

/* How an operand lies in shared memory. */
typedef struct sk_major {
    bool mn;       /* M or N contiguous */
    uint32_t span; /* swizzle bytes; 0 none */
} sk_major;

/* Byte of element (row of M or N, k) in an operand of `rows` x `depth`: panels of `span` bytes, each row (or
 * each k) `span` bytes long, 16-byte chunks exchanged by the row number as the swizzle pictures show. */
static uint32_t sk_byte(sk_major major, uint32_t rows, uint32_t depth, uint32_t row, uint32_t k, uint32_t elem)
{
    uint32_t line = major.mn ? k : row, along = (major.mn ? row : k) * elem, lines = major.mn ? depth : rows;
    if (!major.span) { /* core matrices of 8 lines x 16 bytes: lines blocks first, then along */
        uint32_t core = along / 16 * (lines / 8) + line / 8;
        return core * 128 + line % 8 * 16 + along % 16;
    }
    uint32_t chunk = along % major.span / 16,
        turn = major.span == 128 ? line & 7 : major.span == 64 ? line >> 1 & 3 : line >> 2 & 1;
    return along / major.span * lines * major.span + line * major.span + ((chunk ^ turn) << 4) + along % 16;
}

/* The descriptor for it, by the table of field meanings. `at` is the address of the first K step's start. */
static uint64_t sk_descriptor(sk_major major, uint32_t rows, uint32_t depth, uint32_t at)
{
    static const uint64_t mode[] = {0, 3, 2, 0, 1};
    uint32_t lines = major.mn ? depth : rows, panel = lines * major.span;
    uint32_t lbo = major.span ? (major.mn ? panel : 16) : 0, sbo = 8 * major.span;
    if (!major.span) { /* LBO: next core matrix along K; SBO: along M or N */
        uint32_t across = lines / 8 * 128, down = 128;
        lbo = major.mn ? down : across;
        sbo = major.mn ? across : down;
    }
    return (uint64_t)(at >> 4) | (uint64_t)(lbo >> 4) << 16 | (uint64_t)(sbo >> 4) << 32 | mode[major.span / 32] << 62;
}

/* How far K step s begins behind the first. */
static uint32_t sk_advance(sk_major major, uint32_t rows, uint32_t depth, uint32_t step, uint32_t elem)
{
    uint32_t k = step * 32 / elem;
    if (major.span && !major.mn)
        return k * elem / major.span * rows * major.span + k * elem % major.span;
    return sk_byte((sk_major){major.mn, 0}, rows, depth, 0, k, elem) * !major.span + (major.span ? k * major.span : 0);
}

typedef struct sk_wgmma {
    ts_mma row;
    ts_type in, acc;
    sk_major a, b;
    uint32_t n, depth;
    bool a_regs;
} sk_wgmma;

enum { WG_NO_WAIT = 1, WG_OVERWRITE = 2 };

static void sk_place(uint8_t *image, sk_major major, ts_type type, uint32_t rows, uint32_t depth, bool is_b)
{
    uint32_t elem = ts__scalar_bits(type) / 8;
    for (uint32_t r = 0; r < rows; r++)
        for (uint32_t k = 0; k < depth; k++) {
            uint64_t bits = sk_encode(type, is_b ? sk_entry(k, r, 2) : sk_entry(r, k, 1));
            ts__scalar_write(image + sk_byte(major, rows, depth, r, k, elem), elem * 8, 0, bits);
        }
}

/* D = A B over the whole depth from zero, then once more onto itself; out[thread][register]. */
static ts_status sk_wgmma_run(const sk_wgmma *c, uint32_t flags, void *out)
{
    sk k;
    static uint8_t image[65536];
    uint32_t elem = ts__scalar_bits(c->in) / 8, a_bytes = 64 * c->depth * elem,
        regs = c->acc == TS_T_f16 ? c->n / 4 : c->n / 2;
    uint32_t b_at = (a_bytes + 1023) & ~1023u, all = b_at + c->n * c->depth * elem;
    ts_type reg_type = c->acc == TS_T_f16 ? TS_T_i32 : c->acc, types[128];
    sk_place(image, c->a, c->in, 64, c->depth, false);
    sk_place(image + b_at, c->b, c->in, c->n, c->depth, true);
    sk_begin(&k, 128, all);
    sk_fill_shared(&k, all);
    ts_val acc[128 + 8], zero = c->acc == TS_T_f32 ? ts_float(&k.b, TS_T_f32, 0) : sk_i32(&k, 0),
        yes = ts_int(&k.b, TS_T_i1, 1);
    for (uint32_t i = 0; i < regs; i++) {
        acc[i] = zero;
        types[i] = reg_type;
    }
    uint32_t from_regs = c->a_regs ? TS_MMA_A_REGS : 0, a_trans = c->a.mn ? TS_MMA_TRANS_A : 0;
    uint32_t attr = TS_MMA_ATTR(c->row, c->n, from_regs | a_trans | (c->b.mn ? TS_MMA_TRANS_B : 0));
    sk_do(&k, TS_OP_wgmma_fence, 0, NULL, 0);
    for (uint32_t s = 0; s < 2 * c->depth * elem / 32; s++) {
        uint32_t step = s % (c->depth * elem / 32), n = regs;
        if (c->a_regs) {
            for (uint32_t i = 0; i < 4; i++)
                acc[n++] = sk_i32(&k, 0);
            ts_val row = ts_op2(&k.b, TS_OP_andi, k.tid, sk_i32(&k, 15), 0),
                warp = ts_op2(&k.b, TS_OP_shri, k.tid, sk_i32(&k, 5), 0);
            ts_val half = ts_op2(&k.b, TS_OP_andi, ts_op2(&k.b, TS_OP_shri, k.tid, sk_i32(&k, 4), 0), sk_i32(&k, 1), 0);
            ts_val line = ts_op2(&k.b, TS_OP_addi, row, ts_op2(&k.b, TS_OP_muli, warp, sk_i32(&k, 16), 0), 0);
            ts_val panel_row = ts_op2(&k.b, TS_OP_shri, line, sk_i32(&k, 3), 0);
            ts_val chunk = ts_op2(&k.b, TS_OP_andi, line, sk_i32(&k, 7), 0);
            ts_val at = sk_at(&k, sk_at(&k, sk_shared(&k, TS_T_i16, 0), panel_row, 128), chunk, 16);
            at = sk_at(&k, at, half, 1024);
            at = sk_at(&k, at, sk_i32(&k, step), 2048);
            ts_type four[] = {TS_T_i32, TS_T_i32, TS_T_i32, TS_T_i32};
            ts_val x = ts_emit_multi(&k.b, TS_OP_ldmatrix, 1, &at, TS_S(0, 4, 0), 0, 4, four);
            for (uint32_t i = 0; i < 4; i++)
                acc[regs + i] = x + 1 + i;
        } else {
            uint64_t desc = sk_descriptor(c->a, 64, c->depth, 0x400 + sk_advance(c->a, 64, c->depth, step, elem));
            acc[n++] = ts_bits(&k.b, TS_T_i64, desc);
        }
        acc[n++] = ts_bits(&k.b, TS_T_i64, sk_descriptor(c->b, c->n, c->depth,
                                                         0x400 + b_at + sk_advance(c->b, c->n, c->depth, step, elem)));
        acc[n++] = s == 0 ? ts_int(&k.b, TS_T_i1, 0) : yes;
        ts_val d = ts_emit_multi(&k.b, TS_OP_wgmma, n, acc, attr, 0, regs, types);
        for (uint32_t i = 0; i < regs; i++)
            acc[i] = d + 1 + i;
    }
    sk_do(&k, TS_OP_wgmma_commit, 0, NULL, 0);
    if (flags & WG_OVERWRITE)
        sk_st(&k, sk_at(&k, sk_shared(&k, TS_T_i32, b_at), k.tid, 4), k.tid);
    if (!(flags & WG_NO_WAIT))
        sk_do(&k, TS_OP_wgmma_wait, 0, NULL, TS_S(0, 0, 0));
    for (uint32_t i = 0; i < regs; i++)
        sk_give(&k, acc[i], regs, i);
    return sk_end(&k, out, image);
}

static void sk_wgmma_case(const sk_wgmma *c)
{
    static uint8_t out[128 * 128 * 4];
    CHECK_OK(sk_wgmma_run(c, 0, out));
    int wrong = 0;
    for (uint32_t thread = 0; thread < 128; thread++)
        for (uint32_t i = 0; i < c->n / 2; i++) {
            uint32_t lane = thread % 32, row = 16 * (thread / 32) + lane / 4 + (i % 4 >= 2 ? 8 : 0),
                col = i / 4 * 8 + lane % 4 * 2 + i % 2;
            int32_t wanted = 0;
            for (uint32_t k = 0; k < c->depth; k++)
                wanted += 2 * sk_entry(row, k, 1) * sk_entry(k, col, 2);
            uint64_t found = ts__scalar_load(NULL, c->acc, out, thread * (c->n / 2) + i);
            wrong += !ts__scalar_same(c->acc, found, sk_encode(c->acc, wanted));
        }
    if (wrong)
        fprintf(stderr, "wgmma row %d, n %u: %d elements wrong\n", (int)c->row, c->n, wrong);
    CHECK_INT(wrong, 0);
}

static void wgmma_reads_every_layout(void)
{
    static const sk_wgmma cases[] = {
        {TS_MMA_m64k16_bf16, TS_T_bf16, TS_T_f32, {false, 128}, {false, 128}, 64, 128, false},
        {TS_MMA_m64k16_f16, TS_T_f16, TS_T_f32, {false, 64}, {false, 32}, 8, 64, false},
        {TS_MMA_m64k16_bf16, TS_T_bf16, TS_T_f32, {false, 32}, {false, 64}, 24, 64, false},
        {TS_MMA_m64k16_bf16, TS_T_bf16, TS_T_f32, {false, 0}, {false, 0}, 32, 64, false},
        {TS_MMA_m64k16_bf16, TS_T_bf16, TS_T_f32, {true, 128}, {true, 128}, 128, 64, false},
        {TS_MMA_m64k16_bf16, TS_T_bf16, TS_T_f32, {true, 64}, {true, 32}, 64, 32, false},
        {TS_MMA_m64k16_f16, TS_T_f16, TS_T_f32, {true, 0}, {true, 0}, 64, 32, false},
        {TS_MMA_m64k16_f16, TS_T_f16, TS_T_f32, {false, 128}, {true, 128}, 256, 64, false},
        {TS_MMA_m64k16_f16_f16, TS_T_f16, TS_T_f16, {false, 128}, {false, 128}, 64, 64, false},
        {TS_MMA_m64k8_tf32, TS_T_tf32, TS_T_f32, {false, 128}, {false, 128}, 16, 32, false},
        {TS_MMA_m64k32_e4m3, TS_T_f8E4M3FN, TS_T_f32, {false, 128}, {false, 128}, 64, 128, false},
        {TS_MMA_m64k32_e5m2, TS_T_f8E5M2, TS_T_f32, {false, 64}, {false, 128}, 64, 128, false},
        {TS_MMA_m64k32_s8, TS_T_i8, TS_T_i32, {false, 128}, {false, 128}, 32, 128, false},
        {TS_MMA_m64k16_bf16, TS_T_bf16, TS_T_f32, {false, 0}, {false, 128}, 64, 64, true},
    };
    for (size_t i = 0; i < TS_COUNT(cases); i++)
        sk_wgmma_case(&cases[i]);
}

static void wgmma_results_need_the_wait(void)
{
    static uint8_t out[128 * 128 * 4];
    sk_wgmma c = {TS_MMA_m64k16_bf16, TS_T_bf16, TS_T_f32, {false, 128}, {false, 128}, 16, 64, false};
    CHECK_INT(sk_wgmma_run(&c, WG_NO_WAIT, out), TS_LAUNCH);
    CHECK(strstr(err.text, "a wgmma without its wait still writes") != NULL);
    CHECK_INT(sk_wgmma_run(&c, WG_OVERWRITE, out), TS_LAUNCH);
    CHECK(strstr(err.text, "may still read") != NULL);
}

/* ---- the rest ----------------------------------------------------------------------------------------------- */

static void sk_sink(void *user, const char *text, size_t n)
{
    ts__text_put(user, text, n);
}

static void a_fault_is_noted_and_its_threads_go_on(void)
{
    sk k;
    int32_t out[4] = {0};
    for (int noted = 0; noted < 2; noted++) {
        ts_fault fault = {0};
        sk_begin(&k, 4, 0);
        k.env.fault = noted ? &fault : NULL;
        ts_val zero = sk_i32(&k, 0), wide = ts_int(&k.b, TS_T_i64, 7);
        ts_val opnds[] = {sk_i32(&k, TS_FAULT_RAISE), wide, wide, k.tid, zero, zero};
        ts_val opener = ts_if_begin(&k.b, ts_cmp(&k.b, TS_OP_cmpi, TS_GE, k.tid, sk_i32(&k, 2), 0));
        sk_do(&k, TS_OP_fault, 6, opnds, ts_intern(k.m, "Error: text", 11));
        ts_if_end(&k.b, opener);
        sk_give(&k, k.tid, 1, 0);
        CHECK_INT(sk_end(&k, out, NULL), noted ? TS_OK : TS_LAUNCH);
        CHECK(noted || strstr(err.text, "Error: text"));
        CHECK(!noted || (fault.code == TS_FAULT_RAISE && fault.has_thread && fault.thread[0] == 2 && fault.index == 7));
    }
    CHECK_INT(out[3], 3);
}

static void printf_prints_each_lane_and_trap_stops(void)
{
    sk k;
    ts_text text;
    ts__text_init(&text, NULL);
    sk_begin(&k, 3, 0);
    k.env.print = sk_sink;
    k.env.print_user = &text;
    sk_do(&k, TS_OP_setmaxnreg, 0, NULL, TS_S(0, 40, 0));
    sk_do(&k, TS_OP_gdc_wait, 0, NULL, 0);
    sk_do(&k, TS_OP_gdc_launch_dependents, 0, NULL, 0);
    sk_do(&k, TS_OP_nanosleep, 0, NULL, TS_S(0, 20, 0));
    sk_do(&k, TS_OP_printf, 1, &k.tid, ts_intern(k.m, "t%d ", 4));
    sk_do(&k, TS_OP_trap, 0, NULL, 0);
    CHECK_INT(sk_end(&k, NULL, NULL), TS_LAUNCH);
    CHECK(strstr(err.text, "trap in warp 0") != NULL);
    CHECK_STR(ts__text_get(&text), "t0 t1 t2 ");
    ts__text_deinit(&text);
}

/* Lanes call from different branches and meet again; a barrier in the function joins the warps. */
static void divergent_lanes_call_one_function(void)
{
    sk k;
    int32_t out[64];
    ts_builder b;
    sk_begin(&k, 64, 64 * 4);
    ts_fn *fn = ts_fn_create(k.m, "swap", TS_LEVEL_S);
    ts__builder_init(&b, fn);
    ts_val at = ts_fn_param(&b, ts_type_ptr(k.m, TS_T_i32, TS_SHARED)), x = ts_fn_param(&b, TS_T_i32);
    ts_emit(&b, TS_OP_st, TS_T_none, 2, (ts_val[]){at, x}, TS_S(0, 1, 0), 0);
    ts_emit(&b, TS_OP_bar_sync, TS_T_none, 0, NULL, TS_S(0, 0, 0), 0);
    ts_val y = ts_emit_multi(&b, TS_OP_ld, 1, &at, TS_S(0, 1, 0), 0, 1, (ts_type[]){TS_T_i32}) + 1;
    ts_term(&b, TS_OP_return, 1, &y);
    ts_fn_set_results(fn, 1, (ts_type[]){TS_T_i32});
    ts_fn *twice = ts_fn_create(k.m, "twice", TS_LEVEL_B);
    ts__builder_init(&b, twice);
    ts_val v = ts_fn_param(&b, TS_T_i32), w = ts_op2(&b, TS_OP_addi, v, v, 0);
    ts_term(&b, TS_OP_return, 1, &w);
    ts_fn_set_results(twice, 1, (ts_type[]){TS_T_i32});
    ts_val odd = ts_op2(&k.b, TS_OP_andi, k.tid, sk_i32(&k, 1), 0);
    ts_val o = ts_if_begin(&k.b, ts_cmp(&k.b, TS_OP_cmpi, TS_EQ, odd, sk_i32(&k, 1), 0));
    ts_val once = ts_call(&k.b, twice, &k.tid) + 1;
    ts_term(&k.b, TS_OP_yield, 1, &once);
    ts_else(&k.b);
    ts_val two = ts_call(&k.b, twice, (ts_val[]){ts_call(&k.b, twice, &k.tid) + 1}) + 1;
    ts_term(&k.b, TS_OP_yield, 1, &two);
    ts_end(&k.b, o, 1, (ts_type[]){TS_T_i32});
    ts_val mine = ts_res(&k.b, o, 0), place = sk_at(&k, sk_shared(&k, TS_T_i32, 0), k.tid, 4);
    sk_give(&k, ts_call(&k.b, fn, (ts_val[]){place, mine}) + 1, 1, 0);
    CHECK_OK(sk_end(&k, out, NULL));
    for (int i = 0; i < 64; i++)
        CHECK_INT(out[i], i * (i & 1 ? 2 : 4));
}

/* A box of 2 x 4 that begins a row above the array, and ends two columns right of it. */
static void boxes_are_cut_at_the_edges_of_arrays(void)
{
    static const char text[] =
        "thread entry @k(%x: ptr<i32>, %y: ptr<i32>) {\n"
        "  %to = shared_alloc bytes=32 align=128 : ptr<i32, shared>\n"
        "  %bar = shared_alloc bytes=8 align=8 : ptr<i64, shared>\n"
        "  %n = constant 8 : i64\n  %rows = constant 2 : i64\n  %c = constant 6 : i32\n  %r = constant -1 : i32\n"
        "  %bytes = constant 32 : i32\n  %zero = constant 0 : i32\n"
        "  mbar_init count=1 %bar\n  mbar_expect %bar, %bytes\n"
        "  tensor_load [4, 2] %to, %bar, %x, %n, %rows, %n, %c, %r\n"
        "  mbar_wait %bar, %zero\n"
        "  tensor_store [4, 2] %y, %to, %n, %rows, %n, %zero, %zero\n"
        "  bulk_commit\n  bulk_wait\n  return\n}\n";
    _Alignas(16) int32_t x[16], y[16];
    ts_eval_env env = {.block_threads = {1, 1, 1}};
    for (int i = 0; i < 16; i++) {
        x[i] = i + 1;
        y[i] = -1;
    }
    ts_arena arena;
    ts_module *m;
    ts__arena_init(&arena, NULL);
    CHECK_OK(ts__module_read(&arena, text, sizeof text - 1, &m, &err));
    uint64_t params[] = {(uintptr_t)x, (uintptr_t)y};
    ts_plan plan = {.threads = 1, .n_params = 2, .param_bytes = {8, 8}};
    CHECK_OK(ts__eval_simt(m->fns.at[0], &plan, params, 2, (uint32_t[3]){1, 1, 1}, &env, &err));
    for (ts_val v = 1; v < m->fns.at[0]->inst.n; v++)
        sk_seen[ts_at(m->fns.at[0], v)->op] = true;
    static const int32_t wanted[16] = {0, 0, 0, 0, -1, -1, -1, -1, 7, 8, 0, 0, -1, -1, -1, -1};
    CHECK(memcmp(y, wanted, sizeof y) == 0);
    ts__arena_deinit(&arena);
}

/* Each run of the region has values of its own; lanes are at different depths. Too deep is a fault, and ends lanes. */
static void recursion_keeps_the_values_of_each_run(void)
{
    sk k;
    int32_t out[64];
    for (uint32_t depth = 8; depth >= 4; depth -= 4) {
        sk_begin(&k, 32, 0);
        ts_builder *b = &k.b;
        ts_val n = ts_op2(b, TS_OP_andi, k.tid, sk_i32(&k, 7), 0), one = sk_i32(&k, 1);
        ts_val of = ts_recursion_begin(b, depth, 1, &n), x = ts_region_arg(b->fn, of, 0);
        ts_val opener = ts_if_begin(b, ts_cmp(b, TS_OP_cmpi, TS_LT, x, sk_i32(&k, 2), 0));
        ts_term(b, TS_OP_yield, 1, &x);
        ts_else(b);
        ts_val sum = x, less = x;
        for (int i = 0; i < 2; i++) { /* x + f(x - 1) + f(x - 2) */
            less = ts_op2(b, TS_OP_subi, less, one, 0);
            ts_val v = ts_emit_multi(b, TS_OP_recur, 1, &less, 0, 0, 1, (ts_type[]){TS_T_i32}) + 1;
            sum = ts_op2(b, TS_OP_addi, sum, v, 0);
        }
        ts_term(b, TS_OP_yield, 1, &sum);
        ts_end(b, opener, 1, (ts_type[]){TS_T_i32});
        ts_term(b, TS_OP_yield, 1, (ts_val[]){ts_res(b, opener, 0)});
        ts_end(b, of, 1, (ts_type[]){TS_T_i32});
        sk_give(&k, ts_res(b, of, 0), 1, 0);
        if (depth == 8)
            CHECK_OK(sk_end(&k, out, NULL));
        else
            CHECK_INT(sk_end(&k, out, NULL), TS_LAUNCH);
    }
    CHECK(strstr(err.text, "RecursionError: more than 4 calls") != NULL);
    static const int32_t wanted[8] = {0, 1, 3, 7, 14, 26, 46, 79};
    for (int i = 0; i < 32; i++)
        CHECK_INT(out[i], wanted[i % 8]);
}

/* ---- kernels of threads ------------------------------------------------------------------------------- */

/* Text run with block (5, 3, 2), cluster and dynamic memory as given; parameter 0 is `out`. */
static ts_status sk_text(const char *text, int32_t *out, const uint32_t grid[3], const ts_eval_env *with)
{
    ts_arena arena;
    ts_module *m = NULL;
    ts_plan plan = {0};
    ts_eval_env env = *with;
    uint64_t params[] = {(uint64_t)(uintptr_t)out};
    ts__arena_init(&arena, NULL);
    ts_status status = ts__module_read(&arena, text, strlen(text), &m, &err);
    if (status == TS_OK) {
        for (ts_val v = 1; v < m->fns.at[0]->inst.n; v++)
            sk_seen[ts_at(m->fns.at[0], v)->op] = true;
        status = ts__eval_simt(m->fns.at[0], &plan, params, 1, grid, &env, &err);
    }
    ts__arena_deinit(&arena);
    return status;
}

static void blocks_and_clusters_have_three_dimensions(void)
{
    static const char text[] =
        "thread entry @k(%out: ptr<i32>) {\n"
        "  %x = sreg tid.x : i32\n  %y = sreg tid.y : i32\n  %z = sreg tid.z : i32\n"
        "  %nx = sreg ntid.x : i32\n  %ny = sreg ntid.y : i32\n  %nz = sreg ntid.z : i32\n"
        "  %bx = sreg ctaid.x : i32\n  %by = sreg ctaid.y : i32\n  %bz = sreg ctaid.z : i32\n"
        "  %gx = sreg nctaid.x : i32\n  %gy = sreg nctaid.y : i32\n  %rank = sreg cluster_rank : i32\n"
        "  %warp = sreg warpid : i32\n  %lane = sreg laneid : i32\n"
        "  %a = muli %z, %ny : i32\n  %b = addi %a, %y : i32\n  %c = muli %b, %nx : i32\n  %t = addi %c, %x : i32\n"
        "  %d = muli %bz, %gy : i32\n  %e = addi %d, %by : i32\n  %f = muli %e, %gx : i32\n  %g = addi %f, %bx : i32\n"
        "  %n = constant 30 : i32\n  %h = muli %g, %n : i32\n  %i = addi %h, %t : i32\n"
        "  %p = offset %out, %i : ptr<i32>\n"
        "  %k = constant 1000 : i32\n  %u = muli %rank, %k : i32\n"
        "  %w = constant 32 : i32\n  %v = muli %warp, %w : i32\n  %s = addi %v, %lane : i32\n"
        "  %o = addi %u, %s : i32\n  st n=1 %p, %o\n  return\n}\n";
    static int32_t out[4 * 2 * 2 * 30];
    ts_eval_env env = {.block_threads = {5, 3, 2}, .cluster = {2, 1, 2}};
    CHECK_OK(sk_text(text, out, (uint32_t[3]){4, 2, 2}, &env));
    for (int32_t block = 0, i = 0; block < 16; block++)
        for (int32_t t = 0; t < 30; t++, i++) {
            int32_t rank = block % 4 % 2 + 2 * (block / 8); /* x, then z of a cluster of 2 x 1 x 2 */
            CHECK_INT(out[i], 1000 * rank + t);
        }
    CHECK_INT(sk_text(text, out, (uint32_t[3]){3, 2, 2}, &env), TS_VALUE);
    CHECK(strstr(err.text, "3 blocks along axis 0 does not divide into clusters of 2"));
    env.block_threads[2] = 100;
    CHECK_INT(sk_text(text, out, (uint32_t[3]){4, 2, 2}, &env), TS_VALUE);
    CHECK(strstr(err.text, "a block of (5, 3, 100) threads"));
}

static void arrays_of_shared_memory_lie_apart(void)
{
    static const char text[] =
        "thread entry @k(%out: ptr<i32>) {\n"
        "  %a = shared_alloc bytes=20 align=4 : ptr<i32, shared>\n"
        "  %b = shared_alloc bytes=20 align=64 : ptr<i32, shared>\n"
        "  %c = shared offset=8 : ptr<i32, shared>\n"
        "  %x = sreg tid.x : i32\n  %seven = constant 7 : i32\n  %y = muli %x, %seven : i32\n"
        "  %pa = offset %a, %x : ptr<i32, shared>\n  %pb = offset %b, %x : ptr<i32, shared>\n"
        "  %pc = offset %c, %x : ptr<i32, shared>\n"
        "  st n=1 %pa, %x\n  st n=1 %pb, %y\n  st n=1 %pc, %seven\n"
        "  %va = ld n=1 %pa : i32\n  %vb = ld n=1 %pb : i32\n  %vc = ld n=1 %pc : i32\n"
        "  %s = addi %va, %vb : i32\n  %t = addi %s, %vc : i32\n"
        "  %p = offset %out, %x : ptr<i32>\n  st n=1 %p, %t\n  return\n}\n";
    int32_t out[6];
    ts_eval_env env = {.block_threads = {5, 1, 1}, .dynamic_bytes = 28};
    CHECK_OK(sk_text(text, out, (uint32_t[3]){1, 1, 1}, &env));
    for (int32_t i = 0; i < 5; i++)
        CHECK_INT(out[i], 8 * i + 7);
    env.block_threads[0] = 6;
    env.dynamic_bytes = 32;
    CHECK_INT(sk_text(text, out, (uint32_t[3]){1, 1, 1}, &env), TS_LAUNCH);
    CHECK(strstr(err.text, "which belongs to none of the arrays that shared_alloc made"));
    env.dynamic_bytes = 300000;
    CHECK_INT(sk_text(text, out, (uint32_t[3]){1, 1, 1}, &env), TS_VALUE);
}

/* `fn` is written out wherever it stands, in functions that are called, too. */
static void math_functions_run_in_threads(void)
{
    static const char text[] =
        "thread entry @k(%out: ptr<i32>) {\n"
        "  %x = sreg tid.x : i32\n  %f = itof %x : f32\n  %g = call @root %f : f32\n"
        "  %h = fn rint %g : f32\n  %i = ftoi %h : i32\n"
        "  %p = offset %out, %x : ptr<i32>\n  st n=1 %p, %i\n  return\n}\n"
        "thread func @root(%x: f32) : f32 {\n  %y = fn cbrt %x : f32\n  return %y\n}\n";
    int32_t out[64];
    ts_eval_env env = {.block_threads = {64, 1, 1}};
    CHECK_OK(sk_text(text, out, (uint32_t[3]){1, 1, 1}, &env));
    CHECK(out[0] == 0 && out[1] == 1 && out[8] == 2 && out[27] == 3 && out[42] == 3 && out[43] == 4 && out[63] == 4);
}

/* conj(z) twice as f64 and once as f32, through memory of the block and of the thread. */
static void complex_numbers_are_two(void)
{
    static const char text[] =
        "thread entry @k(%out: ptr<i32>) {\n"
        "  %t = sreg tid.x : i32\n  %f = itof %t : f64\n  %c = constant 2.5 : f64\n"
        "  %z = make_complex %f, %c : c128\n  %s = shared_alloc bytes=512 align=16 : ptr<c128, shared>\n"
        "  %l = local bytes=16 align=16 : ptr<c64, local>\n  %p = offset %s, %t : ptr<c128, shared>\n"
        "  st n=1 %p, %z\n  %w = ld n=1 %p : c128\n  %re = real %w : f64\n  %im = imag %w : f64\n"
        "  %a = ftof %re : f32\n  %b = ftof %im : f32\n  %v = make_complex %b, %a : c64\n"
        "  %one = constant 1 : i32\n  %q = offset %l, %one : ptr<c64, local>\n  st n=1 %q, %v\n"
        "  %u = ld n=1 %q : c64\n  %x = real %u : f32\n  %y = imag %u : f32\n  %d = subf %x, %y : f32\n"
        "  %two = constant 2.0 : f32\n  %e = mulf %d, %two : f32\n  %i = ftoi %e : i32\n"
        "  %o = offset %out, %t : ptr<i32>\n  st n=1 %o, %i\n  return\n}\n";
    int32_t out[32];
    ts_eval_env env = {.block_threads = {32, 1, 1}};
    CHECK_OK(sk_text(text, out, (uint32_t[3]){1, 1, 1}, &env));
    for (int32_t t = 0; t < 32; t++)
        CHECK_INT(out[t], 5 - 2 * t);
}

/* The interpreter has no other code. */
static void functions_of_other_code_are_refused(void)
{
    sk k;
    int32_t out[32] = {0};
    sk_begin(&k, 32, 0);
    ts_val x = sk_i32(&k, 3);
    sk_op(&k, TS_OP_foreign, TS_T_i32, 1, &x, ts_intern(k.m, "c twice", 7));
    CHECK_INT(sk_end(&k, out, NULL), TS_UNSUPPORTED);
    CHECK(strstr(err.text, "foreign") != NULL);
    sk_begin(&k, 32, 0);
    x = sk_i32(&k, 3);
    sk_op(&k, TS_OP_asm, TS_T_none, 1, &x, ts_intern(k.m, "// $0", 5));
    CHECK_INT(sk_end(&k, out, NULL), TS_UNSUPPORTED);
    CHECK(strstr(err.text, "does not run PTX") != NULL);
}

static void every_thread_op_was_run(void)
{
    for (int op = 1; op < TS_OP_COUNT; op++) {
        bool shared_with_tiles = ts__ops[op].flags & TS_ELEM; /* run by tests/eval/tile.c through the same code */
        if (!(ts__ops[op].level & TS_LEVEL_S) || sk_seen[op] || shared_with_tiles)
            continue;
        fprintf(stderr, "no test runs %s at thread level\n", ts__ops[op].name);
        CHECK(sk_seen[op]);
    }
}

int main(void)
{
    lanes_diverge_and_meet_again();
    loop_and_cold_work_per_lane();
    special_registers_tell_the_place();
    bit_operations_have_their_ptx_meaning();
    promises_locals_and_globals_exist_per_thread();
    shuffles_read_other_lanes();
    votes_and_matches_combine_lanes();
    a_shuffle_in_divergent_code_is_an_error();
    vectors_move_with_predicate_and_pad();
    bad_addresses_are_named();
    atomics_return_the_old_value();
    a_barrier_orders_warps_and_its_lack_is_a_race();
    global_memory_is_looked_at_too();
    named_barriers_join_arrivals_and_waits();
    a_barrier_may_be_chosen_at_run_time();
    a_warp_left_alone_is_a_deadlock_with_names();
    clusters_share_memory_and_a_barrier();
    all_blocks_of_a_grid_meet();
    blocks_wait_for_what_is_sent_to_them();
    cp_async_arrives_at_its_wait();
    bulk_copies_arrive_at_their_barrier();
    mbarriers_hand_a_slot_to_and_fro();
    tma_swizzles_fills_and_clips();
    tma_reduction_adds_in_the_maps_type();
    forgotten_waits_and_fences_are_reported();
    mma_sync_multiplies_fragments_of_every_shape();
    ldmatrix_and_stmatrix_deal_out_rows();
    wgmma_reads_every_layout();
    wgmma_results_need_the_wait();
    a_fault_is_noted_and_its_threads_go_on();
    printf_prints_each_lane_and_trap_stops();
    divergent_lanes_call_one_function();
    boxes_are_cut_at_the_edges_of_arrays();
    recursion_keeps_the_values_of_each_run();
    blocks_and_clusters_have_three_dimensions();
    arrays_of_shared_memory_lie_apart();
    math_functions_run_in_threads();
    complex_numbers_are_two();
    functions_of_other_code_are_refused();
    every_thread_op_was_run();
    return check_done();
}
