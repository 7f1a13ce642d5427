/* SPDX-License-Identifier: Apache-2.0
 *
 * The thread level's own rules: registers, shared memory, barriers, shuffles, copies and
 * tensor-core instructions. Simple ones are rows of verify_simt_sigs (operand classes and result
 * class); the rest have a function. Called by verify.c with operands that are known to be values.
 */
#include "ir/format.h"
#include "ir/verify.h"
#include "tessera/compile.h"

/* ---- classes --------------------------------------------------------------------------------- */

/* A letter of a signature stands for a class of scalar types. */
static bool vs_is(const ts_module *m, ts_type t, char class)
{
    bool scalar = ts_type_is_scalar(t);
    switch (class) {
    case '1':
        return t == TS_T_i1;
    case 'i':
        return t == TS_T_i32;
    case 'l':
        return t == TS_T_i64;
    case 'w': /* i32 or i64 */
        return t == TS_T_i32 || t == TS_T_i64;
    case 'f':
        return t == TS_T_f32;
    case 'b': /* any 32 bits that are no pointer */
        return scalar && ts_type_bits(m, t) == 32;
    case 'n': /* a number that registers hold, of 16 bits and more */
        return scalar && ts_type_bits(m, t) >= 16;
    case 's':
        return ts__is_ptr_to(m, t, TS_SHARED);
    case 'g':
        return ts__is_ptr_to(m, t, TS_GLOBAL);
    case 'p':
        return ts_type_kind(m, t) == TS_KIND_PTR;
    default:
        return false;
    }
}

static const char *vs_class_name(char class)
{
    static const char *const names[128] = {['1'] = "an i1",
                                           ['i'] = "an i32",
                                           ['l'] = "an i64",
                                           ['w'] = "an i32 or i64",
                                           ['f'] = "an f32",
                                           ['b'] = "a 32-bit number",
                                           ['n'] = "a number of 16, 32 or 64 bits",
                                           ['s'] = "a shared pointer",
                                           ['g'] = "a global pointer",
                                           ['p'] = "a pointer"};
    return names[class & 127] ? names[class & 127] : "another type";
}

static ts_status vs_opnd(const ts__verify *c, uint32_t i, char class)
{
    TS__WANT_TYPE(c, vs_is(c->m, ts__verify_opnd(c, i), class), ts__verify_opnd(c, i), "operand %u is not %s", i,
                  vs_class_name(class));
    return TS_OK;
}

/* Operands by class, then ':' and the result's class; '=' repeats operand 0's type. */
static const struct {
    uint16_t op;
    const char *sig;
} vs_sigs[] = {
    {TS_OP_prmt, "ii:i"},     {TS_OP_popc, "w:i"},       {TS_OP_clz, "w:i"},
    {TS_OP_brev, "w:="},      {TS_OP_redux, "i:="},      {TS_OP_elect, ":1"},       {TS_OP_ptr_add, "pw:="},
    {TS_OP_mapa, "si:="},     {TS_OP_mbar_inval, "s"},   {TS_OP_mbar_arrive, "s"},
    {TS_OP_mbar_expect, "si"}, {TS_OP_mbar_wait, "si"},  {TS_OP_shared, ":s"},
    {TS_OP_prefetch, "g"},    {TS_OP_bulk_load, "ssgi"}, {TS_OP_bulk_store, "gsi"},
};

static ts_status vs_signature(const ts__verify *c)
{
    const char *sig = "";
    for (size_t i = 0; i < TS_COUNT(vs_sigs); i++)
        if (vs_sigs[i].op == c->inst->op)
            sig = vs_sigs[i].sig;
    uint32_t i = 0, n = (uint32_t)strcspn(sig, ":");
    TS__WANT(c, c->n == n, "%s takes %u operands, not %u", ts_info(c->inst)->name, n, c->n);
    for (; *sig && *sig != ':'; sig++)
        TS_TRY(vs_opnd(c, i++, *sig));
    if (*sig == ':' && sig[1] == '=')
        TS__SAME_TYPE(c, c->type, ts__verify_opnd(c, 0), "the result has another type than operand 0");
    else if (*sig == ':')
        TS__WANT_TYPE(c, vs_is(c->m, c->type, sig[1]), c->type, "the result is not %s", vs_class_name(sig[1]));
    return TS_OK;
}

/* ---- helpers --------------------------------------------------------------------------------- */

static ts_status vs_pred(const ts__verify *c)
{
    uint32_t mask = ts__opnd_mask(c->inst);
    if (mask != TS_NO)
        TS__SAME_TYPE(c, ts__verify_opnd(c, mask), TS_T_i1, "the predicate must be one i1");
    return TS_OK;
}

static ts_type vs_res(const ts__verify *c, uint32_t i)
{
    return i < c->n_res[c->v] ? ts_type_of(c->fn, c->first_res[c->v] + i) : TS_T_none;
}

static bool vs_is_vector(uint32_t n, uint32_t most)
{
    return ts_is_pow2(n) && n <= most;
}

static ts_status vs_kind(const ts__verify *c, uint32_t n)
{
    TS__WANT(c, TS_S_KIND(c->inst->aux) < n, "kind %u of %s does not exist",
             TS_S_KIND(c->inst->aux), ts_info(c->inst)->name);
    return TS_OK;
}

/* ---- registers and memory -------------------------------------------------------------------- */

static ts_status vs_sreg(const ts__verify *c)
{
    TS_TRY(vs_kind(c, TS_SREG_CLUSTER_SIZE + 1));
    bool wide = TS_S_KIND(c->inst->aux) == TS_SREG_CLOCK64;
    TS__SAME_TYPE(c, c->type, wide ? TS_T_i64 : TS_T_i32, "the result has another type than this register");
    return TS_OK;
}

static ts_status vs_ld(const ts__verify *c)
{
    uint32_t n = TS_S_NUMBER(c->inst->aux), pad = ts__opnd_pad(c->inst);
    TS_TRY(vs_kind(c, TS_CACHE_RELEASE));
    TS__WANT(c, c->n == 1, "ld takes one pointer");
    TS_TRY(vs_opnd(c, 0, 'p'));
    TS__WANT(c, vs_is_vector(n, 16) && n == c->n_res[c->v], "ld n=%u has %u results", n,
             c->n_res[c->v]);
    ts_type type = vs_res(c, 0);
    TS__WANT(c, ts_type_is_scalar(type) && n * ts_type_bits(c->m, type) <= 256,
             "ld gives numbers, at most 32 bytes");
    for (uint32_t i = 1; i < n; i++)
        TS__SAME_TYPE(c, vs_res(c, i), type, "results of ld have one type");
    TS__WANT(c, pad == TS_NO || (ts__opnd_mask(c->inst) != TS_NO && ts__verify_opnd(c, pad) == type),
             "padding needs a predicate and has the results' type");
    TS__WANT(c, pad == TS_NO || !ts_type_is_complex(c->m, type), "ld of complex numbers takes no padding");
    return vs_pred(c);
}

static ts_status vs_st(const ts__verify *c)
{
    uint32_t n = TS_S_NUMBER(c->inst->aux);
    TS_TRY(vs_kind(c, TS_CACHE_RELEASE + 1));
    TS_TRY(vs_opnd(c, 0, 'p'));
    TS__WANT(c, vs_is_vector(n, 16) && c->n == 1 + n, "st n=%u takes a pointer and as many values",
             n);
    ts_type type = ts__verify_opnd(c, 1);
    TS__WANT(c, ts_type_is_scalar(type) && n * ts_type_bits(c->m, type) <= 256,
             "st takes numbers, at most 32 bytes");
    for (uint32_t i = 2; i < c->n; i++)
        TS__SAME_TYPE(c, ts__verify_opnd(c, i), type, "values of st have one type");
    return vs_pred(c);
}

/* atom and red: pointer, value; cas puts the compared value before it. */
static ts_status vs_atom(const ts__verify *c)
{
    bool cas = TS_M_GET_MODE(c->inst->aux) == TS_RMW_CAS;
    TS__WANT(c, c->n == 2u + cas, "%s takes %d operands, not %u", ts_info(c->inst)->name, 2 + cas,
             c->n);
    TS__WANT(c, !cas || c->inst->op == TS_OP_atom, "red does not compare and swap: it gives no result to compare "
             "with; use atom cas");
    TS_TRY(vs_opnd(c, 0, 'p'));
    ts_type value = ts__verify_opnd(c, 1);
    TS__WANT(c, ts_type_is_scalar(value) && (!cas || ts__verify_opnd(c, 2) == value),
             "values of an atomic are numbers of one type");
    TS__WANT(c, c->inst->op == TS_OP_red || c->type == value,
             "an atomic gives the type of its value");
    TS__WANT(c, TS_M_GET_ORDER(c->inst->aux) <= TS_ACQ_REL, "memory order %d does not exist",
             (int)TS_M_GET_ORDER(c->inst->aux));
    if (!cas)
        TS_TRY(ts__verify_rmw(c, value));
    return vs_pred(c);
}

static ts_status vs_mul_wide(const ts__verify *c)
{
    ts_type x = ts__verify_opnd(c, 0);
    TS__WANT(c,
             x == ts__verify_opnd(c, 1) &&
                 ((x == TS_T_i32 && c->type == TS_T_i64) || (x == TS_T_i16 && c->type == TS_T_i32)),
             "mul_wide multiplies two i32 to i64 or two i16 to i32");
    TS__WANT(c, !(c->inst->aux & ~(uint32_t)TS_A_UNSIGNED), "mul_wide only knows unsigned");
    return TS_OK;
}

static ts_status vs_cvt_pack(const ts__verify *c)
{
    TS_TRY(vs_opnd(c, 0, 'f'));
    TS_TRY(vs_opnd(c, 1, 'f'));
    ts_type elem = TS_A_GET_ELEM(c->inst->aux);
    bool fp8 = elem == TS_T_f8E4M3FN || elem == TS_T_f8E5M2;
    TS__WANT(c, fp8 || elem == TS_T_f16 || elem == TS_T_bf16,
             "cvt_pack makes f16, bf16, f8E4M3FN or f8E5M2");
    TS__WANT(c, c->type == (fp8 ? TS_T_i16 : TS_T_i32), "two %s make an %s", ts_scalar_name(elem),
             fp8 ? "i16" : "i32");
    return TS_OK;
}

static ts_status vs_pack2(const ts__verify *c)
{
    ts_type x = ts__verify_opnd(c, 0), y = ts__verify_opnd(c, 1);
    bool sizes = ts_type_is_scalar(x) && ts_type_is_scalar(y) && ts_type_is_scalar(c->type) &&
                 ts_type_bits(c->m, x) == ts_type_bits(c->m, y) &&
                 ts_type_bits(c->m, c->type) == 2 * ts_type_bits(c->m, x);
    TS__WANT(c, sizes, "pack2 joins two equal halves of its result");
    return TS_OK;
}

static ts_status vs_unpack2(const ts__verify *c)
{
    ts_type x = ts__verify_opnd(c, 0);
    TS__WANT(c,
             c->n_res[c->v] == 2 && ts_type_is_scalar(x) && ts_type_is_scalar(vs_res(c, 0)) &&
                 ts_type_is_scalar(vs_res(c, 1)),
             "unpack2 cuts a number into two");
    TS__WANT(c,
             2 * ts_type_bits(c->m, vs_res(c, 0)) == ts_type_bits(c->m, x) &&
                 ts_type_bits(c->m, vs_res(c, 0)) == ts_type_bits(c->m, vs_res(c, 1)),
             "the results of unpack2 are halves of its operand");
    return TS_OK;
}

/* ---- warps and barriers ---------------------------------------------------------------------- */

/* After n operands the lanes that take part, an i32, or nothing. */
static ts_status vs_lanes(const ts__verify *c, uint32_t n)
{
    TS__WANT(c, c->n == n || c->n == n + 1, "%s takes %u operands and perhaps its lanes, not %u",
             ts_info(c->inst)->name, n, c->n);
    return c->n == n ? TS_OK : vs_opnd(c, n, 'i');
}

static ts_status vs_shfl(const ts__verify *c)
{
    TS_TRY(vs_kind(c, TS_SHFL_BFLY + 1));
    TS_TRY(vs_lanes(c, 2));
    TS_TRY(vs_opnd(c, 0, 'n'));
    TS_TRY(vs_opnd(c, 1, 'i'));
    TS__SAME_TYPE(c, c->type, ts__verify_opnd(c, 0), "the result has another type than operand 0");
    return TS_OK;
}

static ts_status vs_match(const ts__verify *c)
{
    TS_TRY(vs_lanes(c, 1));
    TS_TRY(vs_opnd(c, 0, 'w'));
    TS__SAME_TYPE(c, c->type, TS_T_i32, "the result is not an i32");
    return TS_OK;
}

static ts_status vs_warp_sync(const ts__verify *c)
{
    return vs_lanes(c, 0);
}

static ts_status vs_nanosleep(const ts__verify *c)
{
    TS__WANT(c, c->n <= 1 && (!c->n || ts__verify_opnd(c, 0) == TS_T_i32), "nanosleep takes one i32 or nothing");
    TS__WANT(c, !c->n || !c->inst->aux, "nanosleep: the time is given twice; leave one out");
    return TS_OK;
}

static ts_status vs_vote(const ts__verify *c)
{
    TS_TRY(vs_kind(c, TS_VOTE_ACTIVE + 1));
    TS_TRY(vs_lanes(c, 1));
    TS_TRY(vs_opnd(c, 0, '1'));
    bool ballot = TS_S_KIND(c->inst->aux) >= TS_VOTE_BALLOT;
    TS__SAME_TYPE(c, c->type, ballot ? TS_T_i32 : TS_T_i1, "this vote gives another type");
    return TS_OK;
}

static ts_status vs_redux(const ts__verify *c)
{
    uint32_t kind = TS_S_KIND(c->inst->aux);
    TS__WANT(c, kind != TS_RMW_ADDF && kind <= TS_RMW_UMIN,
             "redux knows and, or, xor, add, max, min, umax and umin");
    return vs_signature(c);
}

static ts_status vs_bar(const ts__verify *c)
{
    uint32_t threads = TS_S_NUMBER(c->inst->aux);
    TS__WANT(c, TS_S_KIND(c->inst->aux) < 16, "%s id=%u: a block has 16 barriers, 0 to 15", ts_info(c->inst)->name,
             TS_S_KIND(c->inst->aux));
    TS__WANT(c, c->n <= 1 && (!c->n || ts__verify_opnd(c, 0) == TS_T_i32), "%s takes one i32, the barrier, or nothing",
             ts_info(c->inst)->name);
    TS__WANT(c, !c->n || !TS_S_KIND(c->inst->aux), "%s: the barrier is given twice, as id=%u and as an operand; "
             "leave one out",
             ts_info(c->inst)->name, TS_S_KIND(c->inst->aux));
    TS__WANT(c, threads % 32 == 0 && threads <= TS_BLOCK_THREADS,
             "%s of %u threads: the number must be a multiple of 32, at most %d", ts_info(c->inst)->name, threads,
             TS_BLOCK_THREADS);
    TS__WANT(c, threads || c->inst->op == TS_OP_bar_sync, "bar_arrive needs a number of threads");
    return TS_OK;
}

static ts_status vs_fence(const ts__verify *c)
{
    return vs_kind(c, TS_FENCE_MBAR_INIT + 1);
}

/* Operands by class, and perhaps a predicate. */
static ts_status vs_with_pred(const ts__verify *c)
{
    TS_TRY(vs_signature(c));
    return vs_pred(c);
}

static ts_status vs_mbar_init(const ts__verify *c)
{
    bool counted = TS_S_NUMBER(c->inst->aux) > 0;
    TS__WANT(c, c->n == 1 || c->n == 2, "mbar_init takes a barrier and perhaps its arrivals, not %u operands", c->n);
    TS__WANT(c, counted != (c->n == 2), "a barrier waits for at least one arrival: count=1 or more, or an operand");
    TS_TRY(vs_opnd(c, 0, 's'));
    return c->n == 2 ? vs_opnd(c, 1, 'i') : TS_OK;
}

static ts_status vs_st_async(const ts__verify *c)
{
    TS__WANT(c, c->n == 3, "st_async takes a pointer, a value and a barrier, not %u operands", c->n);
    TS_TRY(vs_opnd(c, 0, 's'));
    TS_TRY(vs_opnd(c, 2, 's'));
    uint32_t bits = ts_type_bits(c->m, ts__verify_opnd(c, 1));
    TS__WANT(c, ts_type_kind(c->m, ts__verify_opnd(c, 1)) == TS_KIND_SCALAR && (bits == 32 || bits == 64),
             "st_async stores 32 or 64 bits");
    return vs_pred(c);
}

/* ---- copies ---------------------------------------------------------------------------------- */

static ts_status vs_cp_async(const ts__verify *c)
{
    uint32_t bytes = TS_S_NUMBER(c->inst->aux);
    TS__WANT(c, c->n == 2, "cp_async takes two pointers");
    TS_TRY(vs_opnd(c, 0, 's'));
    TS_TRY(vs_opnd(c, 1, 'g'));
    TS__WANT(c, bytes == 4 || bytes == 8 || bytes == 16, "cp_async copies 4, 8 or 16 bytes, not %u",
             bytes);
    if (c->inst->flags & TS_F_SRC)
        TS_TRY(vs_opnd(c, 2, 'i'));
    return TS_OK;
}

static ts_status vs_tma(const ts__verify *c)
{
    uint32_t rank = TS_S_NUMBER(c->inst->aux), first = c->inst->op == TS_OP_tma_load ? 2 : 1;
    TS__WANT(c, rank >= 1 && rank <= 5, "a tensor copy has 1 to 5 dimensions, not %u", rank);
    TS__WANT(c, c->n == first + rank, "%s rank=%u takes %u operands, not %u",
             ts_info(c->inst)->name, rank, first + rank, c->n);
    for (uint32_t i = 0; i < c->n; i++)
        TS_TRY(vs_opnd(c, i, i < first ? 's' : 'i'));
    TS__WANT(c, c->inst->op != TS_OP_tma_reduce || TS_S_EXTRA(c->inst->aux) <= TS_RMW_UMIN,
             "tma_reduce: %u is not a reduction; give one of add, and, or, xor, min, max, umin and umax",
             TS_S_EXTRA(c->inst->aux));
    return vs_pred(c);
}

static ts_status vs_tensor(const ts__verify *c)
{
    const uint32_t *box = ts_pool(c->fn, c->inst);
    uint32_t rank = box[0], first = c->inst->op == TS_OP_tensor_load ? 3 : 2;
    TS__WANT(c, rank >= 1 && rank <= 5, "a box has 1 to 5 axes, not %u", rank);
    TS__WANT(c, c->n == first + 3 * rank - 1, "%s of %u axes takes %u operands, not %u", ts_info(c->inst)->name, rank,
             first + 3 * rank - 1, c->n);
    TS_TRY(vs_opnd(c, 0, first == 3 ? 's' : 'g'));
    TS_TRY(vs_opnd(c, 1, 's'));
    if (first == 3)
        TS_TRY(vs_opnd(c, 2, 'g'));
    for (uint32_t i = first; i < c->n; i++)
        TS_TRY(vs_opnd(c, i, i < first + 2 * rank - 1 ? 'l' : 'i'));
    for (uint32_t d = 1; d <= rank; d++)
        TS__WANT(c, box[d] >= 1 && box[d] <= 256, "a box of %u elements along an axis; 1 to 256 are possible", box[d]);
    return TS_OK;
}

static ts_status vs_matrix(const ts__verify *c)
{
    uint32_t n = TS_S_NUMBER(c->inst->aux);
    bool load = c->inst->op == TS_OP_ldmatrix;
    TS_TRY(vs_opnd(c, 0, 's'));
    TS__WANT(c, vs_is_vector(n, 4) && n == (load ? c->n_res[c->v] : c->n - 1),
             "%s n=%u moves 1, 2 or 4 registers", ts_info(c->inst)->name, n);
    for (uint32_t i = 0; i < n; i++)
        TS__SAME_TYPE(c, load ? vs_res(c, i) : ts__verify_opnd(c, i + 1), TS_T_i32,
                      "register %u has another type than those of %s", i, ts_info(c->inst)->name);
    return TS_OK;
}

/* ---- tensor cores ---------------------------------------------------------------------------- */

typedef struct vs_mma_row {
    uint8_t m, n, k, a, b, c, ra, rb, rc;
} vs_mma_row;
static const vs_mma_row vs_mmas[] = {
#define TS_MMA(name, m, n, k, a, b, c, ra, rb, rc, sm)                                             \
    {m, n, k, TS_T_##a, TS_T_##b, TS_T_##c, ra, rb, rc},
#include "tessera/mma.def"
};

/* What a register of these elements looks like: narrow ones and i8 travel packed in i32. */
static bool vs_is_register(ts_type elem, ts_type found)
{
    if (elem == TS_T_f64 || elem == TS_T_i32)
        return found == elem;
    if (elem == TS_T_f32 || elem == TS_T_tf32)
        return found == TS_T_f32 || found == TS_T_tf32 || (elem == TS_T_tf32 && found == TS_T_i32);
    return found == TS_T_i32;
}

static ts_status vs_registers(const ts__verify *c, uint32_t first, uint32_t n, ts_type elem)
{
    for (uint32_t i = first; i < first + n; i++)
        TS__WANT_TYPE(c, vs_is_register(elem, ts__verify_opnd(c, i)), ts__verify_opnd(c, i),
                      "operand %u is not a register of %s", i, ts_scalar_name(elem));
    return TS_OK;
}

static ts_status vs_mma_sync(const ts__verify *c)
{
    TS__WANT(c, TS_MMA_ROW(c->inst->aux) < TS_MMA_COUNT && vs_mmas[TS_MMA_ROW(c->inst->aux)].n,
             "mma_sync does not have this shape; those with n are its shapes (tessera/mma.def), as m16n8k16_f16");
    const vs_mma_row *r = &vs_mmas[TS_MMA_ROW(c->inst->aux)];
    TS__WANT(c, c->n == (uint32_t)r->ra + r->rb + r->rc && c->n_res[c->v] == r->rc,
             "this mma takes %d + %d + %d registers (a, b, c) and gives %d; found %u and %u", r->ra, r->rb, r->rc,
             r->rc,
             c->n, c->n_res[c->v]);
    TS_TRY(vs_registers(c, 0, r->ra, r->a));
    TS_TRY(vs_registers(c, r->ra, r->rb, r->b));
    TS_TRY(vs_registers(c, (uint32_t)r->ra + r->rb, r->rc, r->c));
    for (uint32_t i = 0; i < r->rc; i++)
        TS__SAME_TYPE(c, vs_res(c, i), ts__verify_opnd(c, (uint32_t)r->ra + r->rb + i),
                      "result %u has another type than its accumulator", i);
    return TS_OK;
}

static ts_status vs_wgmma(const ts__verify *c)
{
    TS__WANT(c, TS_MMA_ROW(c->inst->aux) < TS_MMA_COUNT && !vs_mmas[TS_MMA_ROW(c->inst->aux)].n,
             "wgmma does not have this shape; those without n are its shapes (tessera/mma.def), as m64k16_f16");
    const vs_mma_row *r = &vs_mmas[TS_MMA_ROW(c->inst->aux)];
    uint32_t n = TS_MMA_N(c->inst->aux), regs = r->c == TS_T_f16 ? n / 4 : n / 2;
    uint32_t a = TS_MMA_FLAGS(c->inst->aux) & TS_MMA_A_REGS ? r->ra : 1;
    TS__WANT(c, n >= 8 && n <= 256 && n % 8 == 0, "n=%u is not a multiple of 8 up to 256", n);
    TS__WANT(c, c->n == regs + a + 2 && c->n_res[c->v] == regs,
             "this wgmma takes %u accumulators, %u for a, b and scale-d, and gives %u; found %u and %u", regs, a, regs,
             c->n, c->n_res[c->v]);
    TS_TRY(vs_registers(c, 0, regs, r->c));
    for (uint32_t i = 0; i < regs; i++)
        TS__SAME_TYPE(c, vs_res(c, i), ts__verify_opnd(c, i), "result %u has another type than its accumulator", i);
    if (TS_MMA_FLAGS(c->inst->aux) & TS_MMA_A_REGS)
        TS_TRY(vs_registers(c, regs, a, r->a));
    else
        TS_TRY(vs_opnd(c, regs, 'l'));
    TS_TRY(vs_opnd(c, regs + a, 'l'));
    return vs_opnd(c, regs + a + 1, '1');
}

/* "c f", "numba f", "c void f", "numba void f" */
static bool vs_foreign_name(const char *text, bool *is_void)
{
    bool is_abi = strncmp(text, "c ", 2) == 0 || strncmp(text, "numba ", 6) == 0;
    const char *name = is_abi ? strchr(text, ' ') + 1 : "";
    *is_void = strncmp(name, "void ", 5) == 0;
    name += *is_void ? 5 : 0;
    return *name && strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_$") == strlen(name);
}

static bool vs_is_passed(const ts__verify *c, ts_type type)
{
    bool is_float = type == TS_T_f32 || type == TS_T_f64;
    return is_float || type == TS_T_i1 || ts_type_kind(c->m, type) == TS_KIND_PTR ||
           (type >= TS_T_i8 && type <= TS_T_i64);
}

static ts_status vs_foreign(const ts__verify *c)
{
    bool is_void;
    const char *text = ts_str_get(c->m, c->inst->aux);
    TS__WANT(c, vs_foreign_name(text, &is_void), "foreign names a function as \"c f\" or \"numba f\", with \"void\" "
             "before the name where it gives nothing; found \"%s\"", text);
    TS__WANT(c, vs_is_passed(c, c->type) && (!is_void || c->type == TS_T_i32),
             "foreign gives a number or pointer; one that gives nothing has the type i32");
    for (uint32_t i = 0; i < c->n; i++)
        TS__WANT(c, vs_is_passed(c, ts__verify_opnd(c, i)),
                 "foreign takes i1, i8 to i64, f32, f64 and pointers; value %u is none", i);
    return TS_OK;
}

static bool vs_is_asm(const ts__verify *c, ts_type type)
{
    return type == TS_T_i1 || vs_is(c->m, type, 'n');
}

static ts_status vs_asm(const ts__verify *c)
{
    const char *text = ts_str_get(c->m, c->inst->aux);
    uint32_t n = c->n_res[c->v] + c->n, number;
    for (uint32_t i = 0; i < n; i++) {
        bool result = i < c->n_res[c->v];
        ts_type type = result ? vs_res(c, i) : ts__verify_opnd(c, i - c->n_res[c->v]);
        TS__WANT_TYPE(c, vs_is_asm(c, type), type, "asm takes and gives i1 and numbers of 16, 32 or 64 bits");
    }
    for (const char *at = strchr(text, '$'); at; at = strchr(at, '$')) {
        at += ts__asm_place(at, &number);
        TS__WANT(c, number == TS_NO || number < n, "asm: $%u in a text of %u results and %u values", number,
                 c->n_res[c->v], c->n);
    }
    return TS_OK;
}

static ts_status vs_setmaxnreg(const ts__verify *c)
{
    uint32_t n = TS_S_NUMBER(c->inst->aux);
    TS__WANT(c, n >= 24 && n <= 256 && n % 8 == 0,
             "%u registers is not a multiple of 8 from 24 to 256", n);
    return TS_OK;
}

const ts__verify_rule ts__verify_simt[TS_OP_COUNT] = {
    [TS_OP_sreg] = {vs_sreg, 0},
    [TS_OP_shared] = {vs_signature, 0},
    [TS_OP_ptr_add] = {vs_signature, 0},
    [TS_OP_ld] = {vs_ld, TS_F_MASK | TS_F_PAD},
    [TS_OP_st] = {vs_st, TS_F_MASK},
    [TS_OP_atom] = {vs_atom, TS_F_MASK},
    [TS_OP_red] = {vs_atom, TS_F_MASK},
    [TS_OP_mul_wide] = {vs_mul_wide, 0},
    [TS_OP_cvt_pack] = {vs_cvt_pack, 0},
    [TS_OP_pack2] = {vs_pack2, 0},
    [TS_OP_unpack2] = {vs_unpack2, 0},
    [TS_OP_prmt] = {vs_signature, 0},
    [TS_OP_popc] = {vs_signature, 0},
    [TS_OP_clz] = {vs_signature, 0},
    [TS_OP_brev] = {vs_signature, 0},
    [TS_OP_shfl] = {vs_shfl, 0},
    [TS_OP_vote] = {vs_vote, 0},
    [TS_OP_redux] = {vs_redux, 0},
    [TS_OP_match] = {vs_match, 0},
    [TS_OP_warp_sync] = {vs_warp_sync, 0},
    [TS_OP_nanosleep] = {vs_nanosleep, 0},
    [TS_OP_elect] = {vs_signature, 0},
    [TS_OP_bar_sync] = {vs_bar, 0},
    [TS_OP_bar_arrive] = {vs_bar, 0},
    [TS_OP_fence] = {vs_fence, 0},
    [TS_OP_cp_async] = {vs_cp_async, TS_F_SRC},
    [TS_OP_prefetch] = {vs_signature, 0},
    [TS_OP_mbar_init] = {vs_mbar_init, 0},
    [TS_OP_mbar_inval] = {vs_signature, 0},
    [TS_OP_mbar_arrive] = {vs_with_pred, TS_F_MASK},
    [TS_OP_mbar_expect] = {vs_with_pred, TS_F_MASK},
    [TS_OP_mbar_wait] = {vs_signature, 0},
    [TS_OP_bulk_load] = {vs_with_pred, TS_F_MASK},
    [TS_OP_bulk_store] = {vs_with_pred, TS_F_MASK},
    [TS_OP_mapa] = {vs_signature, 0},
    [TS_OP_st_async] = {vs_st_async, TS_F_MASK},
    [TS_OP_tma_load] = {vs_tma, TS_F_MASK},
    [TS_OP_tma_store] = {vs_tma, TS_F_MASK},
    [TS_OP_tma_reduce] = {vs_tma, TS_F_MASK},
    [TS_OP_tensor_load] = {vs_tensor, 0},
    [TS_OP_tensor_store] = {vs_tensor, 0},
    [TS_OP_ldmatrix] = {vs_matrix, 0},
    [TS_OP_stmatrix] = {vs_matrix, 0},
    [TS_OP_mma_sync] = {vs_mma_sync, 0},
    [TS_OP_wgmma] = {vs_wgmma, 0},
    [TS_OP_setmaxnreg] = {vs_setmaxnreg, 0},
    [TS_OP_printf] = {ts__verify_format, 0},
    [TS_OP_foreign] = {vs_foreign, 0},
    [TS_OP_asm] = {vs_asm, 0},
};
