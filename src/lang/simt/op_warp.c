/* SPDX-License-Identifier: Apache-2.0
 *
 * What threads do together: barriers, fences, exchanges and votes of the lanes of a warp that a mask names. Part of the
 * front end (lower.h); rows in simt_op.def.
 *
 *     syncthreads_count(p)    a word of shared memory: cleared by one thread, counted up by atomics, read by all
 */
#include "lang/simt/op.h"

ts_status fr_simt_barrier(fr *f, const fr_call *c, fr_value *out)
{
    (void)c;
    ts_barrier(&f->b);
    *out = fr_none();
    return TS_OK;
}

static ts_val warp_sreg(fr *f, uint32_t kind)
{
    return ts_emit(&f->b, TS_OP_sreg, TS_T_i32, 0, NULL, TS_S(kind, 0, 0), 0);
}

static ts_val warp_threads(fr *f)
{
    ts_val n = ts_op2(&f->b, TS_OP_muli, warp_sreg(f, TS_SREG_NTID), warp_sreg(f, TS_SREG_NTID_Y), 0);
    return ts_op2(&f->b, TS_OP_muli, n, warp_sreg(f, TS_SREG_NTID_Z), 0);
}

static ts_val warp_is_first(fr *f)
{
    ts_val any = ts_op2(&f->b, TS_OP_ori, warp_sreg(f, TS_SREG_TID), warp_sreg(f, TS_SREG_TID_Y), 0);
    any = ts_op2(&f->b, TS_OP_ori, any, warp_sreg(f, TS_SREG_TID_Z), 0);
    return ts_cmp(&f->b, TS_OP_cmpi, TS_EQ, any, ts_int(&f->b, TS_T_i32, 0), 0);
}

ts_status fr_simt_barrier_count(fr *f, const fr_call *c, fr_value *out)
{
    ts_builder *b = &f->b;
    ts_val p, word = ts_shared_array(b, TS_T_i32, 1, 0), zero = ts_int(b, TS_T_i32, 0), one = ts_int(b, TS_T_i32, 1);
    TS_TRY(fr_simt_truth(f, &c->arg[0], &p));
    ts_store_if(b, word, zero, warp_is_first(f), TS_CACHE_NONE);
    ts_barrier(b);
    ts_emit(b, TS_OP_red, TS_T_none, 3, (ts_val[]){word, one, p},
            TS_M_MODE(TS_RMW_ADD) | TS_M_ORDER(TS_RELAXED) | TS_M_SCOPE(TS_SCOPE_BLOCK), TS_F_MASK);
    ts_barrier(b);
    ts_val n = ts_load(b, word, TS_CACHE_NONE);
    ts_barrier(b); /* before the word is cleared again */
    if (c->op->x == FR_BLOCK_AND)
        n = ts_select(b, ts_cmp(b, TS_OP_cmpi, TS_EQ, n, warp_threads(f), 0), one, zero);
    if (c->op->x == FR_BLOCK_OR)
        n = ts_select(b, ts_cmp(b, TS_OP_cmpi, TS_NE, n, zero, 0), one, zero);
    *out = fr_tile(TS_DTYPE_int32, n);
    return TS_OK;
}

/* With the group alone the launch is a cooperative one already. */
ts_status fr_simt_this_grid(fr *f, const fr_call *c, fr_value *out)
{
    (void)c;
    ts_emit(&f->b, TS_OP_grid_sync, TS_T_none, 0, NULL, 1, 0);
    *out = (fr_value){.kind = FR_GROUP};
    return TS_OK;
}

ts_status fr_simt_this_cluster(fr *f, const fr_call *c, fr_value *out)
{
    (void)f;
    (void)c;
    *out = (fr_value){.kind = FR_GROUP, .n = FR_GROUP_CLUSTER};
    return TS_OK;
}

static ts_status warp_group(fr *f, const fr_call *c, uint32_t group)
{
    if (c->arg[0].kind == FR_GROUP && c->arg[0].n == group)
        return TS_OK;
    return fr_arg_error(f, c, 0, group == FR_GROUP_GRID ? "a group of threads, cuda.cg.this_grid()"
                                                        : "the group of a cluster, cuda.cg.this_cluster()");
}

ts_status fr_simt_group_sync(fr *f, const fr_call *c, fr_value *out)
{
    bool cluster = c->arg[0].kind == FR_GROUP && c->arg[0].n == FR_GROUP_CLUSTER;
    TS_TRY(warp_group(f, c, cluster ? FR_GROUP_CLUSTER : FR_GROUP_GRID));
    if (cluster) {
        ts_emit(&f->b, TS_OP_cluster_arrive, TS_T_none, 0, NULL, 0, 0);
        ts_emit(&f->b, TS_OP_cluster_wait, TS_T_none, 0, NULL, 0, 0);
    } else {
        ts_emit(&f->b, TS_OP_grid_sync, TS_T_none, 0, NULL, 0, 0);
    }
    *out = fr_strict(TS_DTYPE_int32, 0);
    return TS_OK;
}

ts_status fr_simt_cluster_sreg(fr *f, const fr_call *c, fr_value *out)
{
    TS_TRY(warp_group(f, c, FR_GROUP_CLUSTER));
    *out = fr_tile(TS_DTYPE_int32, warp_sreg(f, c->op->x));
    return TS_OK;
}

ts_status fr_simt_fence(fr *f, const fr_call *c, fr_value *out)
{
    ts_memory_fence(&f->b, (ts_fence)c->op->x);
    *out = fr_none();
    return TS_OK;
}

ts_status fr_simt_nanosleep(fr *f, const fr_call *c, fr_value *out)
{
    int64_t ns = -1;
    ts_val time = 0;
    ts_dtype dtype = TS_DTYPE_NONE;
    *out = fr_none();
    if (fr_is_int(&c->arg[0], &ns) && ns < 0)
        return fr_error(f, c->at[0], TS_TILEVALUE, "nanosleep(%lld): a time is not negative", (long long)ns);
    if (fr_simt_is_number(&c->arg[0]))
        TS_TRY(fr_simt_dtype(f, &c->arg[0], &dtype));
    if (!fr_dtype_is_int(dtype))
        return fr_arg_error(f, c, 0, "an integer, nanoseconds");
    if (ns < 0 || ns > 0xFFFF)
        TS_TRY(fr_simt_cast(f, &c->arg[0], TS_DTYPE_uint32, &time));
    ts_emit(&f->b, TS_OP_nanosleep, TS_T_none, time != 0, &time, time ? 0 : TS_S(0, ns, 0), 0);
    return TS_OK;
}

/* ---- lanes that take part -------------------------------------------------------------------------- */

/* The mask as an i32; 0 where it names all lanes, which needs no operand. */
static ts_status warp_mask(fr *f, const fr_call *c, uint32_t i, ts_val *out)
{
    const fr_value *v = &c->arg[i];
    bool is_int = (v->kind == FR_NUMBER && v->cat == FR_INT) ||
                  (v->kind == FR_TILE && fr_dtype_is_int((ts_dtype)v->dtype));
    *out = 0;
    if (!fr_given(c, i))
        return TS_OK;
    if (!is_int)
        return fr_error(f, c->at[i], TS_TILETYPE,
                        "%s(): Mask type must be an integer\n  found: %s\n  help: it has a bit for each lane that "
                        "takes part, such as 0xffffffff", fr_op_name(c), fr_say(f, v));
    if (v->kind == FR_NUMBER && (uint32_t)v->as.i == UINT32_MAX)
        return TS_OK;
    return fr_simt_cast(f, v, TS_DTYPE_int32, out);
}

static uint32_t warp_with(ts_val *opnds, uint32_t n, ts_val mask)
{
    opnds[n] = mask;
    return n + (mask != 0);
}

ts_status fr_simt_syncwarp(fr *f, const fr_call *c, fr_value *out)
{
    ts_val mask;
    TS_TRY(warp_mask(f, c, 0, &mask));
    ts_emit(&f->b, TS_OP_warp_sync, TS_T_none, mask != 0, &mask, 0, 0);
    *out = fr_none();
    return TS_OK;
}

static bool warp_is_word(ts_dtype dtype)
{
    bool number = fr_dtype_is_int(dtype) || fr_dtype_is_float(dtype);
    return number && fr_dtype_bits(dtype) >= 32;
}

typedef struct warp_exchange {
    uint32_t kind;      /* ts_shfl */
    ts_val lane, mask;  /* mask: 0 all lanes */
} warp_exchange;

static ts_val warp_exchange_word(fr *f, const warp_exchange *x, ts_val v)
{
    ts_val opnds[3] = {v, x->lane};
    uint32_t n = warp_with(opnds, 2, x->mask), clamp = x->kind == TS_SHFL_UP ? 0 : 31;
    return ts_emit(&f->b, TS_OP_shfl, ts_type_of(f->b.fn, v), n, opnds, TS_S(x->kind, clamp, 0), 0);
}

/* What is narrower than 16 bits goes as the word that memory has for it, widened. */
static ts_status warp_exchange_real(fr *f, const warp_exchange *x, const fr_value *v, fr_value *out)
{
    ts_dtype dtype;
    ts_val bits;
    TS_TRY(fr_simt_dtype(f, v, &dtype));
    TS_TRY(fr_simt_cast(f, v, dtype, &bits));
    if (fr_dtype_bits(dtype) >= 16) {
        *out = fr_tile(dtype, warp_exchange_word(f, x, bits));
        return TS_OK;
    }
    bool truth = dtype == TS_DTYPE_bool_, is_float = fr_dtype_is_float(dtype);
    if (is_float)
        bits = ts_cast(&f->b, TS_OP_bitcast, bits, TS_T_i8, 0);
    bits = warp_exchange_word(f, x, ts_cast(&f->b, TS_OP_exti, bits, TS_T_i32, TS_A_UNSIGNED));
    bits = ts_cast(&f->b, TS_OP_trunci, bits, truth ? TS_T_i1 : TS_T_i8, 0);
    *out = fr_tile(dtype, is_float ? ts_cast(&f->b, TS_OP_bitcast, bits, fr_ir(dtype), 0) : bits);
    return TS_OK;
}

static ts_status warp_exchange_number(fr *f, const warp_exchange *x, const fr_value *v, fr_value *out)
{
    fr_value part[2];
    ts_dtype dtype;
    if (!fr_is_complex(v))
        return warp_exchange_real(f, x, v, out);
    TS_TRY(fr_simt_dtype(f, v, &dtype));
    TS_TRY(fr_simt_convert(f, v, dtype, out));
    TS_TRY(fr_complex_parts(f, out, &part[0], &part[1]));
    for (uint32_t i = 0; i < 2; i++)
        TS_TRY(warp_exchange_real(f, x, &part[i], &part[i]));
    *out = fr_complex_join(f, dtype, part[0].as.v, part[1].as.v);
    return TS_OK;
}

/* Numbers, and tuples and records of them number by number. */
ts_status fr_simt_shuffle(fr *f, const fr_call *c, fr_value *out)
{
    warp_exchange x = {.kind = c->op->x};
    fr_value *leaves;
    uint32_t n;
    TS_TRY(fr_simt_numbers(f, c, 1, &n, &leaves));
    TS_TRY(warp_mask(f, c, 0, &x.mask));
    TS_TRY(fr_simt_cast(f, &c->arg[2], TS_DTYPE_int32, &x.lane));
    for (uint32_t i = 0; i < n; i++)
        TS_TRY(warp_exchange_number(f, &x, &leaves[i], &leaves[i]));
    const fr_value *next = leaves;
    return fr_rebuild(f, &c->arg[1], &next, out);
}

static ts_val warp_ballot(fr *f, ts_val cond, ts_val mask)
{
    ts_val opnds[2] = {cond};
    return ts_emit(&f->b, TS_OP_vote, TS_T_i32, warp_with(opnds, 1, mask), opnds, TS_S(TS_VOTE_BALLOT, 0, 0), 0);
}

static ts_val warp_equals(fr *f, ts_val x, ts_val y)
{
    return ts_cmp(&f->b, TS_OP_cmpi, TS_EQ, x, y, 0);
}

static bool warp_is_real(const fr_value *v)
{
    return v->kind == FR_NUMBER ? v->cat > FR_INT : fr_dtype_cat((ts_dtype)v->dtype) > FR_INT;
}

ts_status fr_simt_vote(fr *f, const fr_call *c, fr_value *out)
{
    ts_builder *b = &f->b;
    ts_val mask, p, opnds[2];
    TS_TRY(warp_mask(f, c, 0, &mask));
    if (!fr_simt_is_number(&c->arg[1]) || warp_is_real(&c->arg[1]))
        return fr_error(f, c->at[1], TS_TILETYPE, "%s(): Predicate must be an integer or boolean\n  found: %s\n  help: "
                        "compare it, such as with x != 0", fr_op_name(c), fr_say(f, &c->arg[1]));
    TS_TRY(fr_simt_truth(f, &c->arg[1], &p));
    opnds[0] = p;
    uint32_t n = warp_with(opnds, 1, mask);
    if (c->op->x == FR_VOTE_BALLOT) {
        *out = fr_tile(TS_DTYPE_int32, warp_ballot(f, p, mask));
        return TS_OK;
    }
    ts_val any = 0, all = 0;
    if (c->op->x != FR_VOTE_ALL)
        any = ts_emit(b, TS_OP_vote, TS_T_i1, n, opnds, TS_S(TS_VOTE_ANY, 0, 0), 0);
    if (c->op->x != FR_VOTE_ANY)
        all = ts_emit(b, TS_OP_vote, TS_T_i1, n, opnds, TS_S(TS_VOTE_ALL, 0, 0), 0);
    *out = fr_tile(TS_DTYPE_bool_, c->op->x == FR_VOTE_EQUAL ? warp_equals(f, any, all) : any ? any : all);
    return TS_OK;
}

/* The bits of a number of 32 or 64 bits; narrower ones are widened. */
static ts_status warp_bits(fr *f, const fr_call *c, uint32_t i, ts_val *out)
{
    ts_dtype dtype;
    if (!fr_simt_is_number(&c->arg[i]))
        return fr_arg_error(f, c, i, "a number");
    TS_TRY(fr_simt_dtype(f, &c->arg[i], &dtype));
    if (!warp_is_word(dtype))
        return fr_arg_error(f, c, i, "a number of 32 or 64 bits; convert it, such as with int(x)");
    TS_TRY(fr_simt_cast(f, &c->arg[i], dtype, out));
    if (fr_dtype_is_float(dtype))
        *out = ts_cast(&f->b, TS_OP_bitcast, *out, fr_dtype_bits(dtype) == 64 ? TS_T_i64 : TS_T_i32, 0);
    return TS_OK;
}

ts_status fr_simt_match(fr *f, const fr_call *c, fr_value *out)
{
    ts_val mask, opnds[2];
    TS_TRY(warp_mask(f, c, 0, &mask));
    TS_TRY(warp_bits(f, c, 1, &opnds[0]));
    ts_val same = ts_emit(&f->b, TS_OP_match, TS_T_i32, warp_with(opnds, 1, mask), opnds, 0, 0);
    *out = fr_tile(TS_DTYPE_int32, same);
    if (!c->op->x)
        return TS_OK;
    ts_val here = warp_ballot(f, ts_int(&f->b, TS_T_i1, 1), mask), all = warp_equals(f, same, here);
    fr_value pair[] = {fr_tile(TS_DTYPE_int32, ts_select(&f->b, all, same, ts_int(&f->b, TS_T_i32, 0))),
                       fr_tile(TS_DTYPE_bool_, all)};
    return fr_tuple(f, 2, pair, out);
}

ts_status fr_simt_activemask(fr *f, const fr_call *c, fr_value *out)
{
    ts_val yes = ts_int(&f->b, TS_T_i1, 1);
    (void)c;
    *out = fr_tile(TS_DTYPE_uint32, ts_emit(&f->b, TS_OP_vote, TS_T_i32, 1, &yes, TS_S(TS_VOTE_ACTIVE, 0, 0), 0));
    return TS_OK;
}

ts_status fr_simt_lanemask(fr *f, const fr_call *c, fr_value *out)
{
    (void)c;
    *out = fr_tile(TS_DTYPE_uint32, warp_sreg(f, TS_SREG_LANEMASK_LT));
    return TS_OK;
}
