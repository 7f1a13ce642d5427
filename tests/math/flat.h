/* SPDX-License-Identifier: Apache-2.0
 *
 * Runs scalar elementwise IR over blocks of inputs, one C loop per instruction, for tests that need
 * many millions of evaluations. Common operations have loops that the C compiler vectorises; all others
 * go through ir/scalar.h element by element, which also is what the fast loops are checked against.
 *
 * i1, i8, i16, i32, f16, bf16 and f32 lie in 32-bit lanes, i64 and f64 in 64-bit lanes.
 */
#ifndef TS_TESTS_MATH_FLAT_H
#define TS_TESTS_MATH_FLAT_H

#include "ir/ir.h"
#include "ir/float.h"
#include "ir/scalar.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define FLAT_N 512 /* elements of a block */

/* Clones are chosen while the program is linked, which ThreadSanitizer is not ready for. */
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_THREAD__)
#define FLAT_FAST __attribute__((target_clones("avx512f", "arch=haswell", "default"), optimize("O3")))
#else
#define FLAT_FAST
#endif

typedef struct flat {
    const ts_fn *fn;
    uint32_t *end;      /* opener -> its end */
    uint64_t **slot;    /* per value, FLAT_N lanes of 8 bytes */
    ts_val out;         /* the value to read */
    uint32_t n_generic; /* blocks that needed the slow way */
} flat;

static inline bool flat_is_wide(ts_type t)
{
    return t == TS_T_i64 || t == TS_T_f64;
}

static inline uint64_t flat_get(const void *slot, ts_type t, int i)
{
    return flat_is_wide(t) ? ((const uint64_t *)slot)[i] : ts__scalar_wrap(t, ((const uint32_t *)slot)[i]);
}

static inline void flat_put(void *slot, ts_type t, int i, uint64_t payload)
{
    if (flat_is_wide(t))
        ((uint64_t *)slot)[i] = payload;
    else
        ((uint32_t *)slot)[i] = (uint32_t)payload;
}

/* ---- loops -----------------------------------------------------------------------------------------*/

#define FLAT_LOOP(name, R, A, expression)                                                          \
    FLAT_FAST static void name(void *restrict vr, const void *va, const void *vb, const void *vc)  \
    {                                                                                              \
        R *restrict r = vr;                                                                        \
        const A *a = va, *b = vb, *c = vc;                                                         \
        for (int i = 0; i < FLAT_N; i++)                                                           \
            r[i] = (R)(expression);                                                                \
        (void)b;                                                                                   \
        (void)c;                                                                                   \
    }
#define FLAT_FLOATS(s, F, U, fma_of, sqrt_of)                                                      \
    FLAT_LOOP(flat_add_##s, F, F, a[i] + b[i])                                                     \
    FLAT_LOOP(flat_sub_##s, F, F, a[i] - b[i])                                                     \
    FLAT_LOOP(flat_mul_##s, F, F, a[i] * b[i])                                                     \
    FLAT_LOOP(flat_div_##s, F, F, a[i] / b[i])                                                     \
    FLAT_LOOP(flat_fma_##s, F, F, fma_of(a[i], b[i], c[i]))                                        \
    FLAT_LOOP(flat_sqrt_##s, F, F, sqrt_of(a[i]))                                                  \
    FLAT_LOOP(flat_neg_##s, F, F, -a[i])                                                           \
    FLAT_LOOP(flat_lt_##s, uint32_t, F, a[i] < b[i])                                               \
    FLAT_LOOP(flat_le_##s, uint32_t, F, a[i] <= b[i])                                              \
    FLAT_LOOP(flat_gt_##s, uint32_t, F, a[i] > b[i])                                               \
    FLAT_LOOP(flat_ge_##s, uint32_t, F, a[i] >= b[i])                                              \
    FLAT_LOOP(flat_eq_##s, uint32_t, F, a[i] == b[i])                                              \
    FLAT_LOOP(flat_une_##s, uint32_t, F, a[i] != b[i])                                             \
    FLAT_LOOP(flat_uge_##s, uint32_t, F, !(a[i] < b[i]))                                           \
    FLAT_LOOP(flat_ult_##s, uint32_t, F, !(a[i] >= b[i]))                                          \
    FLAT_LOOP(flat_abs_##s, U, U, a[i] & ~((U)1 << (sizeof(U) * 8 - 1)))                           \
    FLAT_LOOP(flat_max_##s, F, F,                                                                  \
              a[i] < b[i] || b[i] != b[i] || (a[i] == b[i] && __builtin_signbit(a[i])) ? b[i]      \
                                                                                       : a[i])     \
    FLAT_LOOP(flat_min_##s, F, F,                                                                  \
              a[i] > b[i] || b[i] != b[i] || (a[i] == b[i] && __builtin_signbit(b[i])) ? b[i]      \
                                                                                       : a[i])     \
    FLAT_LOOP(flat_copy_##s, U, U, a[i])
#define FLAT_INTS(s, I, U)                                                                         \
    FLAT_LOOP(flat_addi_##s, U, U, a[i] + b[i])                                                    \
    FLAT_LOOP(flat_subi_##s, U, U, a[i] - b[i])                                                    \
    FLAT_LOOP(flat_muli_##s, U, U, a[i] * b[i])                                                    \
    FLAT_LOOP(flat_andi_##s, U, U, a[i] & b[i])                                                    \
    FLAT_LOOP(flat_ori_##s, U, U, a[i] | b[i])                                                     \
    FLAT_LOOP(flat_xori_##s, U, U, a[i] ^ b[i])                                                    \
    FLAT_LOOP(flat_shl_##s, U, U, b[i] < sizeof(U) * 8 ? a[i] << (b[i] & (sizeof(U) * 8 - 1)) : 0)       \
    FLAT_LOOP(flat_shr_##s, U, U, b[i] < sizeof(U) * 8 ? a[i] >> (b[i] & (sizeof(U) * 8 - 1)) : 0)       \
    FLAT_LOOP(flat_sar_##s, I, I, a[i] >> TS_MIN((U)b[i], sizeof(U) * 8 - 1))                      \
    FLAT_LOOP(flat_ieq_##s, uint32_t, U, a[i] == b[i])                                             \
    FLAT_LOOP(flat_ine_##s, uint32_t, U, a[i] != b[i])                                             \
    FLAT_LOOP(flat_ilt_##s, uint32_t, I, a[i] < b[i])                                              \
    FLAT_LOOP(flat_ige_##s, uint32_t, I, a[i] >= b[i])                                             \
    FLAT_LOOP(flat_iult_##s, uint32_t, U, a[i] < b[i])                                             \
    FLAT_LOOP(flat_iuge_##s, uint32_t, U, a[i] >= b[i])
FLAT_FLOATS(32, float, uint32_t, __builtin_fmaf, __builtin_sqrtf)
FLAT_FLOATS(64, double, uint64_t, __builtin_fma, __builtin_sqrt)
FLAT_INTS(32, int32_t, uint32_t)
FLAT_INTS(64, int64_t, uint64_t)
FLAT_LOOP(flat_itof_32_32, float, int32_t, a[i])
FLAT_LOOP(flat_itof_32_64, double, int32_t, a[i])
FLAT_LOOP(flat_itof_64_64, double, int64_t, a[i])
FLAT_LOOP(flat_trunc_64_32, uint32_t, uint64_t, a[i])
FLAT_LOOP(flat_sext_32_64, int64_t, int32_t, a[i])
FLAT_LOOP(flat_zext_32_64, uint64_t, uint32_t, a[i])
FLAT_LOOP(flat_ftof_32_64, double, float, a[i])
FLAT_LOOP(flat_ftof_64_32, float, double, a[i])

FLAT_FAST static void flat_select_32(uint32_t *restrict r, const uint32_t *c, const uint32_t *a, const uint32_t *b)
{
    for (int i = 0; i < FLAT_N; i++)
        r[i] = c[i] ? a[i] : b[i];
}
FLAT_FAST static void flat_select_64(uint64_t *restrict r, const uint32_t *c, const uint64_t *a, const uint64_t *b)
{
    for (int i = 0; i < FLAT_N; i++)
        r[i] = c[i] ? a[i] : b[i];
}

typedef void flat_loop(void *restrict, const void *, const void *, const void *);
typedef struct flat_row {
    uint16_t op;
    uint32_t attr; /* must be equal */
    ts_type from;
    ts_type to; /* 0: any */
    flat_loop *loop;
} flat_row;

#define FLAT_F_ROWS(s, T)                                                                          \
    {TS_OP_addf, 0, T, 0, flat_add_##s}, {TS_OP_subf, 0, T, 0, flat_sub_##s},                      \
        {TS_OP_mulf, 0, T, 0, flat_mul_##s}, {TS_OP_divf, 0, T, 0, flat_div_##s},                  \
        {TS_OP_fma, 0, T, 0, flat_fma_##s}, {TS_OP_sqrt, 0, T, 0, flat_sqrt_##s},                  \
        {TS_OP_negf, 0, T, 0, flat_neg_##s}, {TS_OP_absf, 0, T, 0, flat_abs_##s},                  \
        {TS_OP_maxf, TS_A_NAN, T, 0, flat_max_##s}, {TS_OP_minf, TS_A_NAN, T, 0, flat_min_##s},    \
        {TS_OP_cmpf, TS_A_PRED(TS_LT), T, 0, flat_lt_##s},                                         \
        {TS_OP_cmpf, TS_A_PRED(TS_LE), T, 0, flat_le_##s},                                         \
        {TS_OP_cmpf, TS_A_PRED(TS_GT), T, 0, flat_gt_##s},                                         \
        {TS_OP_cmpf, TS_A_PRED(TS_GE), T, 0, flat_ge_##s},                                         \
        {TS_OP_cmpf, TS_A_PRED(TS_EQ), T, 0, flat_eq_##s},                                         \
        {TS_OP_cmpf, TS_A_PRED(TS_NE) | TS_A_UNORDERED, T, 0, flat_une_##s},                       \
        {TS_OP_cmpf, TS_A_PRED(TS_GE) | TS_A_UNORDERED, T, 0, flat_uge_##s},                       \
        {TS_OP_cmpf, TS_A_PRED(TS_LT) | TS_A_UNORDERED, T, 0, flat_ult_##s}
#define FLAT_I_ROWS(s, T)                                                                          \
    {TS_OP_addi, 0, T, 0, flat_addi_##s}, {TS_OP_subi, 0, T, 0, flat_subi_##s},                    \
        {TS_OP_muli, 0, T, 0, flat_muli_##s}, {TS_OP_andi, 0, T, 0, flat_andi_##s},                \
        {TS_OP_ori, 0, T, 0, flat_ori_##s}, {TS_OP_xori, 0, T, 0, flat_xori_##s},                  \
        {TS_OP_shli, 0, T, 0, flat_shl_##s}, {TS_OP_shri, TS_A_UNSIGNED, T, 0, flat_shr_##s},      \
        {TS_OP_shri, 0, T, 0, flat_sar_##s}, {TS_OP_cmpi, TS_A_PRED(TS_EQ), T, 0, flat_ieq_##s},   \
        {TS_OP_cmpi, TS_A_PRED(TS_NE), T, 0, flat_ine_##s},                                        \
        {TS_OP_cmpi, TS_A_PRED(TS_LT), T, 0, flat_ilt_##s},                                        \
        {TS_OP_cmpi, TS_A_PRED(TS_GE), T, 0, flat_ige_##s},                                        \
        {TS_OP_cmpi, TS_A_PRED(TS_LT) | TS_A_UNSIGNED, T, 0, flat_iult_##s},                       \
        {TS_OP_cmpi, TS_A_PRED(TS_GE) | TS_A_UNSIGNED, T, 0, flat_iuge_##s}
static const flat_row flat_rows[] = {
    FLAT_F_ROWS(32, TS_T_f32),
    FLAT_F_ROWS(64, TS_T_f64),
    FLAT_I_ROWS(32, TS_T_i32),
    FLAT_I_ROWS(64, TS_T_i64),
    {TS_OP_bitcast, 0, TS_T_f32, TS_T_i32, flat_copy_32},
    {TS_OP_bitcast, 0, TS_T_i32, TS_T_f32, flat_copy_32},
    {TS_OP_bitcast, 0, TS_T_f64, TS_T_i64, flat_copy_64},
    {TS_OP_bitcast, 0, TS_T_i64, TS_T_f64, flat_copy_64},
    {TS_OP_itof, 0, TS_T_i32, TS_T_f32, flat_itof_32_32},
    {TS_OP_itof, 0, TS_T_i32, TS_T_f64, flat_itof_32_64},
    {TS_OP_itof, 0, TS_T_i64, TS_T_f64, flat_itof_64_64},
    {TS_OP_trunci, 0, TS_T_i64, TS_T_i32, flat_trunc_64_32},
    {TS_OP_exti, 0, TS_T_i32, TS_T_i64, flat_sext_32_64},
    {TS_OP_exti, TS_A_UNSIGNED, TS_T_i32, TS_T_i64, flat_zext_32_64},
    {TS_OP_ftof, 0, TS_T_f32, TS_T_f64, flat_ftof_32_64},
    {TS_OP_ftof, 0, TS_T_f64, TS_T_f32, flat_ftof_64_32},
};

static flat_loop *flat_find(const ts_inst *inst, ts_type from)
{
    for (size_t i = 0; i < TS_COUNT(flat_rows); i++) {
        const flat_row *r = &flat_rows[i];
        uint32_t attr = ts_info(inst)->attr == TS_ATTR_NONE ? 0 : inst->aux & ~(uint32_t)(TS_A_NSW | TS_A_NUW);
        if (r->op == inst->op && r->attr == attr && r->from == from && (!r->to || r->to == inst->type))
            return r->loop;
    }
    return NULL;
}

/* ---- running ---------------------------------------------------------------------------------------*/

static void flat_generic(flat *f, ts_val v)
{
    const ts_inst *inst = ts_at(f->fn, v);
    const uint32_t *opnds = ts_opnds(f->fn, inst);
    ts_type from = ts_type_of(f->fn, opnds[inst->op == TS_OP_select]);
    ts_scalar op;
    uint32_t attr = ts_info(inst)->attr == TS_ATTR_ARITH ? inst->aux : 0;
    if (!ts__scalar_prepare(&op, f->fn->module, (ts_op)inst->op, attr, from, inst->type)) {
        fprintf(stderr, "flat: no meaning for %s\n", ts_info(inst)->name);
        exit(2);
    }
    f->n_generic++;
    for (int i = 0; i < FLAT_N; i++) {
        uint64_t x[3] = {0};
        for (uint32_t k = 0; k < inst->n_opnd && k < 3; k++)
            x[k] = flat_get(f->slot[opnds[k]], ts_type_of(f->fn, opnds[k]), i);
        ts_scalar_fault fault = TS_SCALAR_OK;
        flat_put(f->slot[v], inst->type, i, ts__scalar_run(&op, x, &fault));
    }
}

static void flat_select(flat *f, ts_type type, void *r, const void *c, const void *a, const void *b)
{
    (void)f;
    if (flat_is_wide(type))
        flat_select_64(r, c, a, b);
    else
        flat_select_32(r, c, a, b);
}

static void flat_elem(flat *f, ts_val v)
{
    const ts_inst *inst = ts_at(f->fn, v);
    const uint32_t *x = ts_opnds(f->fn, inst);
    if (inst->op == TS_OP_select) {
        flat_select(f, inst->type, f->slot[v], f->slot[x[0]], f->slot[x[1]], f->slot[x[2]]);
        return;
    }
    flat_loop *loop = flat_find(inst, ts_type_of(f->fn, x[0]));
    if (loop)
        loop(f->slot[v], f->slot[x[0]], inst->n_opnd > 1 ? f->slot[x[1]] : NULL,
             inst->n_opnd > 2 ? f->slot[x[2]] : NULL);
    else
        flat_generic(f, v);
}

static bool flat_any(const uint32_t *mask)
{
    uint32_t any = 0;
    for (int i = 0; i < FLAT_N; i++)
        any |= mask[i];
    return any != 0;
}

static void flat_range(flat *f, ts_val from, ts_val to);

/* The region if any lane needs it, then the results. */
static ts_val flat_cold(flat *f, ts_val v)
{
    const ts_inst *inst = ts_at(f->fn, v);
    const uint32_t *x = ts_opnds(f->fn, inst);
    ts_val end = f->end[v], yield = end - 1;
    bool any = flat_any((const uint32_t *)f->slot[x[0]]);
    if (any)
        flat_range(f, v + 1, yield);
    for (uint32_t i = 0; i + 1 < inst->n_opnd; i++) {
        ts_val r = end + 1 + i, y = any ? ts_opnd(f->fn, yield, i) : x[i + 1];
        flat_select(f, ts_type_of(f->fn, r), f->slot[r], f->slot[x[0]], f->slot[y], f->slot[x[i + 1]]);
    }
    return end + inst->n_opnd - 1;
}

static void flat_range(flat *f, ts_val from, ts_val to)
{
    for (ts_val v = from; v < to; v++) {
        const ts_inst *inst = ts_at(f->fn, v);
        if (inst->op == TS_OP_cold)
            v = flat_cold(f, v);
        else if (ts_info(inst)->flags & TS_ELEM)
            flat_elem(f, v);
    }
}

/* Prepares to run a straight scalar function; `out` names the value wanted. */
static void flat_init(flat *f, const ts_fn *fn, ts_val out)
{
    uint32_t n = fn->inst.n, open[64], depth = 0;
    *f = (flat){fn, calloc(n, sizeof *f->end), calloc(n, sizeof *f->slot), out, 0};
    for (ts_val v = 1; v < n; v++) {
        const ts_inst *inst = ts_at(fn, v);
        uint64_t bits;
        if (inst->op == TS_OP_cold)
            open[depth++] = v;
        if (inst->op == TS_OP_end)
            f->end[open[--depth]] = v;
        f->slot[v] = aligned_alloc(64, FLAT_N * 8);
        if (ts__const_bits(fn, v, &bits))
            for (int i = 0; i < FLAT_N; i++)
                flat_put(f->slot[v], inst->type, i, bits);
    }
}

static void flat_deinit(flat *f)
{
    for (ts_val v = 1; v < f->fn->inst.n; v++)
        free(f->slot[v]);
    free(f->slot);
    free(f->end);
}

static void *flat_param(flat *f, uint32_t i) /* lanes to fill before flat_run */
{
    return f->slot[1 + i];
}

static const void *flat_run(flat *f) /* lanes of the result */
{
    flat_range(f, 1, f->fn->inst.n);
    return f->slot[f->out];
}

/* Instructions outside cold regions, without constants: the price of the common path. */
static inline uint32_t flat_price(const flat *f)
{
    uint32_t n = 0;
    for (ts_val v = 1; v < f->fn->inst.n; v++) {
        const ts_inst *inst = ts_at(f->fn, v);
        if (inst->op == TS_OP_cold)
            v = f->end[v];
        else if (ts_info(inst)->flags & TS_ELEM && inst->op != TS_OP_bitcast)
            n++;
    }
    return n;
}

#endif
