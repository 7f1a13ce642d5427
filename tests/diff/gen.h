/* SPDX-License-Identifier: Apache-2.0
 *
 * Random tile programs for differential tests: chains of elementwise operations in every arithmetic type,
 * reshapes, reductions, scans, matrix products, loops, branches, gathers and atomics, over views of a ragged
 * array. The same seed gives the same program. Results do not depend on the order of additions: sums are of
 * integers, or of small whole floats.
 */
#ifndef TS_TESTS_DIFF_GEN_H
#define TS_TESTS_DIFF_GEN_H

#include "diff.h"
#include "op_list.h"

#ifndef GEN_FUNCTIONS
#define GEN_FUNCTIONS 0 /* functions that the kernel and later ones may call; 0 = no calls in the programs */
#endif
enum { GEN_POOL = 96, GEN_PLANES = 6 };

typedef struct gen {
    ts_arena arena;
    ts_module *m;
    ts_fn *fn;
    ts_builder b;
    uint64_t state;
    int64_t rows, cols;       /* of a tile */
    ts_val pool[GEN_POOL];    /* tiles of rows x cols */
    uint32_t n, depth;
    ts_val row, col;          /* tile coordinates of the block */
    ts_val in_f32, in_i32;    /* partition views */
    ts_val ptr_f32, ptr_i32, ptr_sum, n_elems, grid_cols;
    ts_fn *callee[GEN_FUNCTIONS + 1]; /* functions of the module: two tiles in, two out */
    uint32_t n_callees;
    bool in_function;
    bool with_math;           /* sin, exp, ... too: the caller runs the math pass first */
} gen;

static inline uint32_t gen_pick(gen *g, uint32_t n)
{
    return (uint32_t)(diff_random(&g->state) >> 7) % n;
}

static inline ts_type gen_tile(gen *g, ts_type elem)
{
    return ts_type_tile(g->m, elem, 2, (int64_t[]){g->rows, g->cols});
}

static inline ts_type gen_elem(gen *g, ts_val v)
{
    return ts_type_elem(g->m, ts_type_of(g->fn, v));
}

static inline ts_val gen_add(gen *g, ts_val v)
{
    if (g->n < GEN_POOL)
        g->pool[g->n++] = v;
    else
        g->pool[gen_pick(g, GEN_POOL)] = v;
    return v;
}

static const ts_type gen_floats[] = {TS_T_f32, TS_T_f32, TS_T_f32, TS_T_f16, TS_T_bf16, TS_T_f64};
static const ts_type gen_ints[] = {TS_T_i32, TS_T_i32, TS_T_i32, TS_T_i8, TS_T_i16, TS_T_i64};

/* ---- conversions ------------------------------------------------------------------------------------- */

/* v in another element type. */
static inline ts_val gen_to(gen *g, ts_val v, ts_type to)
{
    ts_type from = gen_elem(g, v);
    bool ff = ts__float_format_of(from), tf = ts__float_format_of(to);
    uint32_t sign = gen_pick(g, 2) ? TS_A_UNSIGNED : 0;
    if (from == to)
        return v;
    if (ff && tf)
        return ts_cast(&g->b, TS_OP_ftof, v, to, 0);
    if (ff)
        return to == TS_T_i1 ? ts_cmp(&g->b, TS_OP_cmpf, TS_LT, v, ts_float(&g->b, ts_type_of(g->fn, v), 0.5), 0)
                             : ts_cast(&g->b, TS_OP_ftoi, v, to, TS_RZI | sign);
    if (tf)
        return ts_cast(&g->b, TS_OP_itof, v, to, from == TS_T_i1 ? TS_A_UNSIGNED : sign);
    bool wider = ts__scalar_bits(to) > ts__scalar_bits(from);
    return ts_cast(&g->b, wider ? TS_OP_exti : TS_OP_trunci, v, to, wider ? sign : 0);
}

/* Some tile of the given element type. */
static inline ts_val gen_any(gen *g, ts_type elem)
{
    uint32_t start = gen_pick(g, g->n);
    for (uint32_t i = 0; i < g->n; i++)
        if (gen_elem(g, g->pool[(start + i) % g->n]) == elem)
            return g->pool[(start + i) % g->n];
    return gen_to(g, g->pool[start], elem);
}

/* ---- elementwise ---------------------------------------------------------------------------------------- */

static inline void gen_float_op(gen *g)
{
    op_list ops = op_list_of(OP_FLOATS, false);
    ts_type elem = gen_floats[gen_pick(g, TS_COUNT(gen_floats))];
    ts_op op = ops.at[gen_pick(g, ops.n)];
    uint32_t attr = 0;
    bool rounds = op == TS_OP_addf || op == TS_OP_subf || op == TS_OP_mulf || op == TS_OP_divf ||
                  op == TS_OP_fma || op == TS_OP_sqrt;
    if (rounds && gen_pick(g, 6) == 0)
        attr = 1 + gen_pick(g, 3);
    if (elem == TS_T_f32 && (rounds || op == TS_OP_maxf) && gen_pick(g, 8) == 0)
        attr |= TS_A_FTZ;
    if ((op == TS_OP_maxf || op == TS_OP_minf) && gen_pick(g, 2))
        attr |= TS_A_NAN;
    ts_val x[3] = {gen_any(g, elem), gen_any(g, elem), gen_any(g, elem)};
    gen_add(g, ts_emit(&g->b, op, ts_type_of(g->fn, x[0]), (uint32_t)ts__ops[op].n_opnd, x, attr, 0));
}

static inline void gen_math_op(gen *g)
{
    op_list ops = op_list_of(OP_FLOATS, true);
    ts_op op = ops.at[gen_pick(g, ops.n)];
    ts_type elem = gen_pick(g, 3) ? TS_T_f32 : TS_T_f16;
    ts_val x[2] = {gen_any(g, elem), gen_any(g, elem)};
    gen_add(g, ts_emit(&g->b, op, ts_type_of(g->fn, x[0]), (uint32_t)ts__ops[op].n_opnd, x, 0, 0));
}

static inline void gen_int_op(gen *g)
{
    op_list ops = op_list_of(OP_INTS, false);
    ts_type elem = gen_ints[gen_pick(g, TS_COUNT(gen_ints))];
    ts_op op = ops.at[gen_pick(g, ops.n)];
    bool signs = op == TS_OP_divi || op == TS_OP_remi || op == TS_OP_maxi || op == TS_OP_mini || op == TS_OP_shri;
    uint32_t attr = signs && gen_pick(g, 2) ? TS_A_UNSIGNED : 0;
    ts_val x[2] = {gen_any(g, elem), gen_any(g, elem)};
    if (op == TS_OP_divi)
        attr |= attr ? TS_RZ : (uint32_t[]){TS_RZ, TS_RM, TS_RP}[gen_pick(g, 3)];
    if (op == TS_OP_divi || op == TS_OP_remi) /* never by zero */
        x[1] = gen_pick(g, 2) ? ts_int(&g->b, ts_type_of(g->fn, x[0]), 1 + gen_pick(g, 100))
                              : ts_op2(&g->b, TS_OP_ori, x[1], ts_int(&g->b, ts_type_of(g->fn, x[1]), 1), 0);
    if ((op == TS_OP_shli || op == TS_OP_shri) && gen_pick(g, 2))
        x[1] = ts_int(&g->b, ts_type_of(g->fn, x[0]), gen_pick(g, 9));
    gen_add(g, ts_emit(&g->b, op, ts_type_of(g->fn, x[0]), (uint32_t)ts__ops[op].n_opnd, x, attr, 0));
}

static inline void gen_choose(gen *g)
{
    bool is_float = gen_pick(g, 2);
    ts_type elem = is_float ? gen_floats[gen_pick(g, 6)] : gen_ints[gen_pick(g, 6)];
    uint32_t attr = !is_float ? (gen_pick(g, 2) ? TS_A_UNSIGNED : 0) : gen_pick(g, 2) ? TS_A_UNORDERED : 0;
    ts_val c = ts_cmp(&g->b, is_float ? TS_OP_cmpf : TS_OP_cmpi, (ts_pred)gen_pick(g, 6),
                      gen_any(g, elem), gen_any(g, elem), attr);
    ts_type what = gen_pick(g, 2) ? TS_T_f32 : TS_T_i32;
    gen_add(g, c);
    gen_add(g, ts_select(&g->b, c, gen_any(g, what), gen_any(g, what)));
}

static inline void gen_convert(gen *g)
{
    ts_type to = gen_pick(g, 2) ? gen_floats[gen_pick(g, 6)] : gen_ints[gen_pick(g, 6)];
    gen_add(g, gen_to(g, g->pool[gen_pick(g, g->n)], to));
}

/* Through a type that only holds numbers, and back. */
static inline void gen_narrow(gen *g)
{
    static const ts_type types[] = {TS_T_tf32,     TS_T_f8E4M3FN,  TS_T_f8E5M2,
                                    TS_T_f4E2M1FN, TS_T_f8E8M0FNU, TS_T_f8E5M3FNU};
    ts_type type = types[gen_pick(g, TS_COUNT(types))];
    ts_round round = type == TS_T_f8E8M0FNU ? (gen_pick(g, 2) ? TS_RZ : TS_RP) : TS_RN;
    ts_val x = gen_any(g, gen_pick(g, 2) ? TS_T_f32 : TS_T_f16);
    ts_val y = ts_cast(&g->b, TS_OP_ftof, x, type, round);
    gen_add(g, ts_cast(&g->b, TS_OP_ftof, y, TS_T_f32, 0));
}

/* ---- shapes ------------------------------------------------------------------------------------------------ */

static inline void gen_shape(gen *g)
{
    ts_val x = g->pool[gen_pick(g, g->n)];
    ts_type elem = gen_elem(g, x), turned = ts_type_tile(g->m, elem, 2, (int64_t[]){g->cols, g->rows});
    switch (gen_pick(g, 4)) {
    case 0: /* there and back through the transpose, with a reshape between */
        x = ts_reshape(&g->b, ts_permute(&g->b, x, (uint32_t[]){1, 0}), gen_tile(g, elem));
        break;
    case 1:
        x = ts_permute(&g->b, ts_reshape(&g->b, x, turned), (uint32_t[]){1, 0});
        break;
    case 2: { /* halves exchanged */
        ts_type half = ts_type_tile(g->m, elem, 2, (int64_t[]){g->rows, g->cols / 2});
        ts_val zero = ts_int(&g->b, TS_T_i32, 0), one = ts_int(&g->b, TS_T_i32, 1);
        ts_val low = ts_emit(&g->b, TS_OP_extract, half, 3, (ts_val[]){x, zero, zero}, 0, 0);
        ts_val high = ts_emit(&g->b, TS_OP_extract, half, 3, (ts_val[]){x, zero, one}, 0, 0);
        x = ts_emit(&g->b, TS_OP_cat, gen_tile(g, elem), 2, (ts_val[]){high, low}, 1, 0);
        break;
    }
    default: { /* one row for all */
        ts_type row = ts_type_tile(g->m, elem, 2, (int64_t[]){1, g->cols});
        ts_val index = ts_int(&g->b, TS_T_i32, gen_pick(g, (uint32_t)g->rows)), zero = ts_int(&g->b, TS_T_i32, 0);
        x = ts_broadcast(&g->b,
                         ts_emit(&g->b, TS_OP_extract, row, 3, (ts_val[]){x, index, zero}, 0, 0),
                         gen_tile(g, elem));
    }
    }
    gen_add(g, x);
}

/* Integer sums and any maximum do not depend on the order. NaN is handed on: -inf is no identity of a maximum
 * that ignores it. */
static inline void gen_reduce(gen *g)
{
    static const ts_op ops[] = {TS_OP_addi, TS_OP_maxi, TS_OP_xori, TS_OP_maxf, TS_OP_minf};
    static const uint64_t identity[] = {0, (uint64_t)INT32_MIN, 0, 0xFF800000, 0x7F800000};
    uint32_t which = gen_pick(g, TS_COUNT(ops)), axis = gen_pick(g, 2);
    bool scan = gen_pick(g, 3) == 0;
    ts_val x = gen_any(g, which < 3 ? TS_T_i32 : TS_T_f32);
    ts_val o = ts_reduce_begin(&g->b, scan ? TS_OP_scan : TS_OP_reduce, axis,
                               scan && gen_pick(g, 2), 1, &x, &identity[which]);
    ts_val y =
        ts_op2(&g->b, ops[which], ts_region_arg(g->fn, o, 0), ts_region_arg(g->fn, o, 1), which < 3 ? 0 : TS_A_NAN);
    ts_term(&g->b, TS_OP_yield, 1, &y);
    ts_end_like(&g->b, o);
    ts_val res = ts_res(&g->b, o, 0);
    if (!scan) {
        int64_t kept[2] = {axis ? g->rows : 1, axis ? 1 : g->cols};
        res = ts_reshape(&g->b, res, ts_type_tile(g->m, gen_elem(g, res), 2, kept));
        res = ts_broadcast(&g->b, res, gen_tile(g, gen_elem(g, res)));
    }
    gen_add(g, res);
}

/* Small whole numbers from an integer tile, so that products add up exactly. */
static inline ts_val gen_whole(gen *g, ts_type elem)
{
    ts_val x = gen_any(g, TS_T_i32);
    x = ts_op2(&g->b, TS_OP_andi, x, ts_int(&g->b, ts_type_of(g->fn, x), 3), 0);
    x = ts_op2(&g->b, TS_OP_subi, x, ts_int(&g->b, ts_type_of(g->fn, x), 1), 0);
    return elem == TS_T_i8 ? ts_cast(&g->b, TS_OP_trunci, x, elem, 0) : ts_cast(&g->b, TS_OP_itof, x, elem, 0);
}

static inline void gen_mma(gen *g)
{
    static const ts_type ins[] = {TS_T_f16, TS_T_bf16, TS_T_f32, TS_T_i8};
    ts_type in = ins[gen_pick(g, 4)], acc = in == TS_T_i8 ? TS_T_i32 : TS_T_f32;
    ts_type square = ts_type_tile(g->m, acc, 2, (int64_t[]){g->rows, g->rows});
    ts_val a = gen_whole(g, in), b = ts_permute(&g->b, gen_whole(g, in), (uint32_t[]){1, 0});
    ts_val c = acc == TS_T_i32 ? ts_int(&g->b, square, 5) : ts_float(&g->b, square, 5);
    ts_val d = ts_emit(&g->b, acc == TS_T_i32 ? TS_OP_mmai : TS_OP_mmaf, square, 3, (ts_val[]){a, b, c}, 0, 0);
    uint64_t lowest = acc == TS_T_i32 ? (uint64_t)INT32_MIN : 0xFF800000;
    ts_val o = ts_reduce_begin(&g->b, TS_OP_reduce, 1, false, 1, &d, &lowest);
    ts_val y = ts_op2(&g->b, acc == TS_T_i32 ? TS_OP_maxi : TS_OP_maxf, ts_region_arg(g->fn, o, 0),
                      ts_region_arg(g->fn, o, 1), 0); /* never NaN */
    ts_term(&g->b, TS_OP_yield, 1, &y);
    ts_end_like(&g->b, o);
    ts_val rows = ts_reshape(&g->b, ts_res(&g->b, o, 0), ts_type_tile(g->m, acc, 2, (int64_t[]){g->rows, 1}));
    gen_add(g, ts_broadcast(&g->b, rows, gen_tile(g, acc)));
}

/* ---- memory ---------------------------------------------------------------------------------------------------- */

static inline ts_val gen_load(gen *g, bool is_float, ts_val row, ts_val col)
{
    ts_val view = is_float ? g->in_f32 : g->in_i32;
    return ts_emit(&g->b, TS_OP_load_view_tko, gen_tile(g, is_float ? TS_T_f32 : TS_T_i32), 3,
                   (ts_val[]){view, row, col}, 0, 0);
}

/* Rows by number, some of them outside; or windows that overlap. */
static inline void gen_other_view(gen *g)
{
    bool sparse = gen_pick(g, 2);
    int64_t tile[] = {g->rows, g->cols}, steps[] = {1 + gen_pick(g, 5), 1 + gen_pick(g, 9)};
    int32_t map[] = {0, 1};
    ts_type tensor = ts_type_of(g->fn, ts_opnd(g->fn, g->in_f32, 0));
    ts_type_info info = {.kind = sparse ? TS_KIND_GATHER_SCATTER_VIEW : TS_KIND_STRIDED_VIEW,
                         .rank = 2,
                         .elem = tensor,
                         .dims = tile,
                         .padding = gen_pick(g, 2) ? TS_PAD_ZERO : TS_PAD_NEG_INF};
    if (!sparse) {
        info.strides = steps;
        info.dim_map = map;
    }
    ts_val index[2] = {g->row, g->col}, base = ts_opnd(g->fn, g->in_f32, 0);
    ts_val view = ts_emit(&g->b, sparse ? TS_OP_make_gather_scatter_view : TS_OP_make_strided_view,
                          ts_type_make(g->m, &info), 1, &base, 0, 0);
    if (sparse) {
        ts_type line = ts_type_tile(g->m, TS_T_i32, 1, &g->rows);
        ts_val iota = ts_emit(&g->b, TS_OP_iota, line, 0, NULL, 0, 0);
        index[0] = ts_op2(&g->b, TS_OP_muli, iota, ts_int(&g->b, line, 1 + gen_pick(g, 3)), 0);
        index[1] = ts_int(&g->b, TS_T_i32, gen_pick(g, (uint32_t)g->cols));
    }
    gen_add(g, ts_emit(&g->b, TS_OP_load_view_tko, gen_tile(g, TS_T_f32), 3,
                       (ts_val[]){view, index[0], index[1]}, 0, 0));
}

static inline ts_val gen_splat(gen *g, ts_val scalar)
{
    return ts_broadcast(&g->b, scalar, gen_tile(g, ts_type_of(g->fn, scalar)));
}

/* Pointers base + |x| mod n. */
static inline ts_val gen_pointers(gen *g, ts_val base, int64_t n)
{
    ts_val x = gen_any(g, TS_T_i32);
    ts_val in = ts_op2(&g->b, TS_OP_remi, x,
                       n ? ts_int(&g->b, ts_type_of(g->fn, x), n) : gen_splat(g, g->n_elems),
                       TS_A_UNSIGNED);
    return ts_op2(&g->b, TS_OP_offset, gen_splat(g, base), in, 0);
}

static inline void gen_gather(gen *g)
{
    bool is_float = gen_pick(g, 2);
    ts_type type = gen_tile(g, is_float ? TS_T_f32 : TS_T_i32);
    ts_val opnds[] = {gen_pointers(g, is_float ? g->ptr_f32 : g->ptr_i32, 0), gen_any(g, TS_T_i1),
                      gen_any(g, gen_elem(g, g->pool[0]))};
    opnds[2] = gen_any(g, is_float ? TS_T_f32 : TS_T_i32);
    gen_add(g, ts_emit(&g->b, TS_OP_load_ptr_tko, type, 3, opnds, 0, TS_F_MASK | TS_F_PAD));
}

/* A commutative atomic on a small table, its result unused. */
static inline void gen_atomic(gen *g)
{
    static const ts_rmw modes[] = {TS_RMW_ADD, TS_RMW_XOR};
    ts_val opnds[] = {gen_pointers(g, g->ptr_sum, 16), gen_any(g, TS_T_i32), gen_any(g, TS_T_i1)};
    uint32_t mode = modes[0]; /* one mode in a program: ADD and XOR do not commute with each other */
    uint32_t mem = TS_M_ORDER(TS_RELAXED) | TS_M_SCOPE(TS_SCOPE_DEVICE) | TS_M_MODE(mode);
    ts_emit(&g->b, TS_OP_atomic_rmw_tko, gen_tile(g, TS_T_i32), 3, opnds, mem, TS_F_MASK);
}

/* ---- regions ----------------------------------------------------------------------------------------------------- */

static inline void gen_step(gen *g);

/* Values made inside a region may not be used after it. */
enum { GEN_STEPS_ON_TILES = 11 };
static inline void gen_inside(gen *g, uint32_t steps)
{
    g->depth++;
    for (uint32_t i = 0; i < steps; i++)
        gen_step(g);
    g->depth--;
}

static inline void gen_for(gen *g)
{
    ts_val inits[2] = {gen_any(g, TS_T_f32), gen_any(g, TS_T_i32)};
    ts_val zero = ts_int(&g->b, TS_T_i32, 0), one = ts_int(&g->b, TS_T_i32, 1);
    ts_val upper = gen_pick(g, 2) ? g->grid_cols : ts_int(&g->b, TS_T_i32, gen_pick(g, 4));
    ts_val saved[GEN_POOL];
    uint32_t n = g->n;
    memcpy(saved, g->pool, sizeof saved);
    ts_val o = ts_for_begin(&g->b, zero, upper, one, 2, inits, 0);
    gen_add(g, ts_region_arg(g->fn, o, 1));
    gen_add(g, ts_region_arg(g->fn, o, 2));
    gen_add(g, gen_load(g, true, g->row, ts_region_arg(g->fn, o, 0)));
    gen_inside(g, 1 + gen_pick(g, 4));
    ts_val last = g->pool[g->n - 1];
    ts_val next[2] = {gen_to(g, last, TS_T_f32), gen_any(g, TS_T_i32)};
    if (gen_pick(g, 3) == 0) { /* skip a turn now and then */
        ts_val odd = ts_op2(&g->b, TS_OP_andi, ts_region_arg(g->fn, o, 0), one, 0);
        ts_val i = ts_if_begin(&g->b, ts_cmp(&g->b, TS_OP_cmpi, TS_EQ, odd, one, 0));
        ts_term(&g->b, TS_OP_continue, 2, (ts_val[]){ts_region_arg(g->fn, o, 1), next[1]});
        ts_else(&g->b);
        ts_term(&g->b, TS_OP_yield, 0, NULL);
        ts_end(&g->b, i, 0, NULL);
    }
    ts_term(&g->b, TS_OP_continue, 2, next);
    ts_end_like(&g->b, o);
    ts_val res[2] = {ts_res(&g->b, o, 0), ts_res(&g->b, o, 1)};
    memcpy(g->pool, saved, sizeof saved);
    g->n = n;
    gen_add(g, res[0]);
    gen_add(g, res[1]);
}

/* loop: doubles until a bound, leaves by break. */
static inline void gen_loop(gen *g)
{
    ts_val init[2] = {ts_int(&g->b, TS_T_i32, gen_pick(g, 3)), gen_any(g, TS_T_f32)}, saved[GEN_POOL];
    uint32_t n = g->n;
    memcpy(saved, g->pool, sizeof saved);
    ts_val o = ts_loop_begin(&g->b, 2, init);
    ts_val i =
        ts_if_begin(&g->b, ts_cmp(&g->b, TS_OP_cmpi, TS_GE, ts_region_arg(g->fn, o, 0), ts_int(&g->b, TS_T_i32, 3), 0));
    ts_term(&g->b, TS_OP_break, 2, (ts_val[]){ts_region_arg(g->fn, o, 0), ts_region_arg(g->fn, o, 1)});
    ts_else(&g->b);
    ts_term(&g->b, TS_OP_yield, 0, NULL);
    ts_end(&g->b, i, 0, NULL);
    gen_add(g, ts_region_arg(g->fn, o, 1));
    gen_inside(g, 1 + gen_pick(g, 3));
    ts_val next[2] = {ts_op2(&g->b, TS_OP_addi, ts_region_arg(g->fn, o, 0), ts_int(&g->b, TS_T_i32, 1), 0),
                      gen_any(g, TS_T_f32)};
    ts_term(&g->b, TS_OP_continue, 2, next);
    ts_end_like(&g->b, o);
    ts_val res = ts_res(&g->b, o, 1);
    memcpy(g->pool, saved, sizeof saved);
    g->n = n;
    gen_add(g, res);
}

static inline void gen_if(gen *g)
{
    ts_val odd = ts_op2(&g->b, TS_OP_andi, ts_op2(&g->b, TS_OP_addi, g->row, g->col, 0), ts_int(&g->b, TS_T_i32, 1), 0);
    ts_val saved[GEN_POOL];
    uint32_t n = g->n;
    memcpy(saved, g->pool, sizeof saved);
    ts_val i = ts_if_begin(&g->b, ts_cmp(&g->b, TS_OP_cmpi, TS_EQ, odd, ts_int(&g->b, TS_T_i32, 0), 0));
    for (uint32_t side = 0; side < 2; side++) {
        gen_inside(g, 1 + gen_pick(g, 3));
        ts_val y[2] = {gen_to(g, g->pool[g->n - 1], TS_T_f32), gen_any(g, TS_T_i32)};
        ts_term(&g->b, TS_OP_yield, 2, y);
        memcpy(g->pool, saved, sizeof saved);
        g->n = n;
        if (!side)
            ts_else(&g->b);
    }
    ts_end(&g->b, i, 2, (ts_type[]){gen_tile(g, TS_T_f32), gen_tile(g, TS_T_i32)});
    ts_val res[2] = {ts_res(&g->b, i, 0), ts_res(&g->b, i, 1)};
    gen_add(g, res[0]);
    gen_add(g, res[1]);
}

static inline void gen_call(gen *g)
{
    const ts_fn *callee = g->callee[gen_pick(g, g->n_callees)];
    ts_val first = ts_call(&g->b, callee, (ts_val[]){gen_any(g, TS_T_f32), gen_any(g, TS_T_i32)}) + 1;
    gen_add(g, first);
    gen_add(g, first + 1);
}

static inline void gen_step(gen *g)
{
    static void (*const steps[])(gen *) = {
        gen_float_op, gen_float_op, gen_float_op,   gen_int_op, gen_int_op, gen_int_op,
        gen_choose,   gen_convert,  gen_narrow,     gen_shape,  gen_reduce, gen_gather,
        gen_mma,      gen_atomic,   gen_other_view, gen_for,    gen_if,     gen_loop};
    uint32_t n = g->depth < 2 ? TS_COUNT(steps) : TS_COUNT(steps) - 3;
    if (g->in_function)
        n = GEN_STEPS_ON_TILES; /* the others use what only the kernel has */
    if (g->n_callees && gen_pick(g, 6) == 0)
        gen_call(g);
    else if (g->with_math && gen_pick(g, 6) == 0)
        gen_math_op(g);
    else
        steps[gen_pick(g, n)](g);
}

/* ---- the whole program ------------------------------------------------------------------------------------------- */

static inline ts_val gen_view(gen *g, ts_val base, ts_type elem, ts_val rows, ts_val cols)
{
    int64_t dims[] = {TS_DYNAMIC, TS_DYNAMIC}, strides[] = {TS_DYNAMIC, 1}, tile[] = {g->rows, g->cols};
    int32_t map[] = {0, 1};
    ts_type tensor = ts_type_make(g->m, &(ts_type_info){.kind = TS_KIND_TENSOR_VIEW,
                                                        .rank = 2,
                                                        .elem = elem,
                                                        .dims = dims,
                                                        .strides = strides});
    ts_type tiled = ts_type_make(g->m, &(ts_type_info){.kind = TS_KIND_PARTITION_VIEW,
                                                       .rank = 2,
                                                       .elem = tensor,
                                                       .dims = tile,
                                                       .dim_map = map,
                                                       .padding = TS_PAD_ZERO});
    ts_val view = ts_emit(&g->b, TS_OP_make_tensor_view, tensor, 4, (ts_val[]){base, rows, cols, cols}, 0, 0);
    return ts_emit(&g->b, TS_OP_make_partition_view, tiled, 1, &view, 0, 0);
}

/* Writes up to GEN_PLANES of the newest tiles, converted to the element type of the output. */
static inline void gen_outputs(gen *g, ts_val base, ts_type elem, ts_val rows, ts_val cols)
{
    uint32_t plane = 0;
    for (uint32_t i = g->n; i-- > 0 && plane < GEN_PLANES;) {
        ts_type from = gen_elem(g, g->pool[i]);
        if ((ts__float_format_of(from) != NULL) != (ts__float_format_of(elem) != NULL))
            continue;
        ts_val x = g->pool[i];
        if (elem == TS_T_i32 && from == TS_T_i64) /* both halves count */
            x = ts_op2(&g->b, TS_OP_xori, x,
                       ts_op2(&g->b, TS_OP_shri, x, ts_int(&g->b, ts_type_of(g->fn, x), 32),
                              TS_A_UNSIGNED),
                       0);
        ts_val first = ts_op2(&g->b, TS_OP_muli, g->n_elems, ts_int(&g->b, TS_T_i32, plane++), 0);
        ts_val view = gen_view(g, ts_op2(&g->b, TS_OP_offset, base, first, 0), elem, rows, cols);
        ts_emit(&g->b, TS_OP_store_view_tko, TS_T_token, 4, (ts_val[]){view, gen_to(g, x, elem), g->row, g->col}, 0, 0);
    }
}

/* Functions of tiles, each of which may call those before it. */
static inline void gen_functions(gen *g)
{
    ts_fn *kernel = g->fn;
    ts_builder b = g->b;
    g->in_function = true;
    for (uint32_t i = 0; i != GEN_FUNCTIONS; i++) {
        char name[] = {'f', (char)('0' + i), 0};
        ts_type types[] = {gen_tile(g, TS_T_f32), gen_tile(g, TS_T_i32)};
        g->fn = ts_fn_create(g->m, name, TS_LEVEL_T);
        ts__builder_init(&g->b, g->fn);
        g->n = 0;
        gen_add(g, ts_fn_param(&g->b, types[0]));
        gen_add(g, ts_fn_param(&g->b, types[1]));
        gen_inside(g, 1 + gen_pick(g, 4));
        if (i == 0) /* a loop that calls a loop that calls .. takes long */
            gen_loop(g);
        ts_val y[2] = {gen_any(g, TS_T_f32), gen_any(g, TS_T_i32)};
        ts_term(&g->b, TS_OP_return, 2, y);
        ts_fn_set_results(g->fn, 2, types);
        g->callee[g->n_callees++] = g->fn;
    }
    g->in_function = false;
    g->fn = kernel;
    g->b = b;
    g->n = 0;
}

/* A program and its inputs. `c` borrows from `g`; end with gen_end. */
static inline void gen_program(gen *g, uint64_t seed, bool with_math, diff_case *c)
{
    static const uint32_t tile_rows[] = {8, 16, 16, 32, 4}, tile_cols[] = {16, 32, 64, 16, 128};
    *g = (gen){.state = seed * 0x9E37 + 77, .with_math = with_math};
    ts__arena_init(&g->arena, NULL);
    g->m = ts__module_create(&g->arena);
    g->fn = ts_fn_create(g->m, "random", TS_LEVEL_T);
    ts__builder_init(&g->b, g->fn);
    g->rows = tile_rows[gen_pick(g, 5)];
    g->cols = tile_cols[gen_pick(g, 5)];
    static const ts_type elems[] = {TS_T_f32, TS_T_i32, TS_T_f64, TS_T_i32, TS_T_f32, TS_T_i32};
    ts_val ptr[6];
    for (int i = 0; i < 6; i++)
        ptr[i] = ts_fn_param(&g->b, ts_type_ptr(g->m, elems[i], TS_GLOBAL));
    ts_val rows = ts_fn_param(&g->b, TS_T_i32), cols = ts_fn_param(&g->b, TS_T_i32);
    int64_t n_rows = g->rows + 1 + gen_pick(g, (uint32_t)g->rows),
            n_cols = g->cols + 1 + gen_pick(g, (uint32_t)g->cols);
    g->row = ts_emit(&g->b, TS_OP_get_tile_block_id, TS_T_i32, 0, NULL, 1, 0);
    g->col = ts_emit(&g->b, TS_OP_get_tile_block_id, TS_T_i32, 0, NULL, 0, 0);
    g->grid_cols = ts_emit(&g->b, TS_OP_get_num_tile_blocks, TS_T_i32, 0, NULL, 0, 0);
    g->n_elems = ts_op2(&g->b, TS_OP_muli, rows, cols, 0);
    g->ptr_sum = ptr[3];
    g->ptr_f32 = ptr[4];
    g->ptr_i32 = ptr[5];
    gen_functions(g);
    g->in_f32 = gen_view(g, ptr[4], TS_T_f32, rows, cols);
    g->in_i32 = gen_view(g, ptr[5], TS_T_i32, rows, cols);
    gen_add(g, gen_load(g, true, g->row, g->col));
    gen_add(g, gen_load(g, false, g->row, g->col));
    const char *few = getenv("TS_DIFF_STEPS"); /* to find the step that a failure needs */
    for (uint32_t i = 0, n = 4 + gen_pick(g, 20); i < n && (!few || i < (uint32_t)atoi(few)); i++)
        gen_step(g);
    gen_outputs(g, ptr[0], TS_T_f32, rows, cols);
    gen_outputs(g, ptr[1], TS_T_i32, rows, cols);
    gen_outputs(g, ptr[2], TS_T_f64, rows, cols);
    ts_term(&g->b, TS_OP_return, 0, NULL);
    *c = (diff_case){.name = "random",
                     .fn = g->fn,
                     .n_buffers = 6,
                     .n_ints = 2,
                     .ints = {n_rows, n_cols},
                     .grid = {2, 2, 1}};
    for (uint32_t i = 0; i < 6; i++) {
        size_t n = i == 3 ? 16 : (size_t)(n_rows * n_cols) * (i < 3 ? GEN_PLANES : 1);
        c->buffer[i] = (diff_buffer){elems[i], n, i < 4 ? 0 : seed + i, false, i < 4};
    }
}

static inline void gen_end(gen *g)
{
    ts__arena_deinit(&g->arena);
}

/* Runs `count` programs from `first` on through each way (NULL-terminated names); TS_DIFF_SEED and
 * TS_DIFF_COUNT override. `pre`: passes that define the reference (math). */
static inline void gen_run_all(uint64_t first, uint32_t count, const char *pre,
                               const diff_way *ways, const char *const *names, size_t n_ways)
{
    const char *seed = getenv("TS_DIFF_SEED"), *number = getenv("TS_DIFF_COUNT");
    first = seed ? strtoull(seed, NULL, 10) : first;
    count = number ? (uint32_t)strtoul(number, NULL, 10) : seed ? 1 : (uint32_t)check_few(count);
    for (uint64_t s = first; s < first + count; s++) {
        gen g;
        diff_case c;
        char name[48];
        ts_error err = {0};
        gen_program(&g, s, pre != NULL, &c);
        snprintf(name, sizeof name, "program %llu", (unsigned long long)s);
        c.name = name;
        CHECK_OK(ts_builder_status(&g.b, &err));
        CHECK_OK(ts_fn_verify(g.fn, &err));
        static const ts_hints none;
        ts_plan plan = {0};
        ts_arena scratch;
        ts__arena_init(&scratch, NULL);
        ts_pass_env env = {&scratch, TS_TARGET_SM90, &none, &plan};
        if (getenv("TS_DIFF") && seed)
            diff_show(g.fn, "as made");
        if (pre)
            CHECK_OK(ts__run_passes(g.fn, pre, &env, &err));
        ts__arena_deinit(&scratch);
        for (size_t w = 0; w < n_ways; w++)
            diff_check(&c, &ways[w], names[w]);
        gen_end(&g);
    }
}

#endif
