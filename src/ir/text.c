/* SPDX-License-Identifier: Apache-2.0
 *
 * The words of the text form: for each kind of attribute a list of bit fields with their names, and
 * the bounds-checked access that printer and verifier use. See text.h; then print.c and read.c.
 */
#include "ir/text.h"

/* ---- names by value -------------------------------------------------------------------------- */

static const char *const text_round[] = {"rn", "rz", "rm", "rp", "approx", "full", "rzi", "ra"};
static const char *const text_pred[] = {"eq", "ne", "lt", "le", "gt", "ge"};
static const char *const text_order[] = {"weak", "relaxed", "acquire", "release", "acq_rel"};
static const char *const text_scope[] = {NULL, "block", "device", "sys"};
static const char *const text_rmw[] = {"and", "or",   "xor",  "add",  "addf", "max",
                                       "min", "umax", "umin", "xchg", "cas"};
static const char *const text_tma[] = {NULL, "tma", "no_tma"};
static const char *const text_sreg[] = {
    "tid.x",    "tid.y",        "tid.z",      "ctaid.x",  "ctaid.y", "ctaid.z",    "nctaid.x",
    "nctaid.y", "nctaid.z",     "ntid.x",     "ntid.y",   "ntid.z",  "laneid",     "warpid",
    "smid",     "cluster_rank", "cluster_id", "ncluster", "clock64", "lanemask_lt",
    "shared_bytes", "cluster_size"};
static const char *const text_cache[] = {NULL,      "nc",      "l2", "stream", "volatile",
                                         "relaxed", "acquire", "release"};
static const char *const text_shfl[] = {"idx", "up", "down", "bfly"};
static const char *const text_vote[] = {"any", "all", "ballot", "active"};
static const char *const text_fence[] = {"cta", "gpu", "sys", "proxy_async", "mbar_init"};
static const char *const text_mma[] = {
#define TS_MMA(name, m, n, k, a, b, c, ra, rb, rc, sm) #name,
#include "tessera/mma.def"
};
static const char *const text_math[] = {
#define TS_MATH(name, ...) #name,
#include "table/math.def"
};
static const char *const text_elem[] = {
    NULL,
#define TS_SCALAR(name, bits, class, tag) #name,
#include "tessera/type.def"
};
_Static_assert(TS_COUNT(text_rmw) == TS_RMW_CAS + 1, "one word for each atomic");
_Static_assert(TS_COUNT(text_sreg) == TS_SREG_CLUSTER_SIZE + 1,
               "one word for each special register");
_Static_assert(TS_COUNT(text_cache) == TS_CACHE_RELEASE + 1, "one word for each cache kind");
_Static_assert(TS_COUNT(text_fence) == TS_FENCE_MBAR_INIT + 1, "one word for each fence");

/* clang-format off */
#define NAMED(label, names, shift, width, always) {label, names, TS_COUNT(names), shift, width, always}
#define BIT(word, shift) {word, (const char *const[]){NULL, word}, 2, shift, 1, false}
#define NUMBER(label, shift, width) {label, NULL, 0, shift, width, false}
#define KIND(names) NAMED("kind", names, 0, 8, true)
/* clang-format on */

/* ---- fields by attribute --------------------------------------------------------------------- */

#define ARITH_FIELDS                                                                               \
    NAMED("round", text_round, 0, 3, false), BIT("ftz", 3), BIT("nan", 4), BIT("unsigned", 5),     \
        BIT("unsigned_b", 6), BIT("nsw", 7), BIT("nuw", 8), BIT("unordered", 12),                  \
        BIT("fast_acc", 13), BIT("sat", 14), BIT("exact", 15)
#define MEM_FIELDS                                                                                 \
    NAMED("order", text_order, 0, 3, false), NAMED("scope", text_scope, 3, 2, false),              \
        NUMBER("latency", 9, 4), NAMED("tma", text_tma, 13, 2, false), NUMBER("inbounds", 16, 8)

static const ts__field text_arith[] = {NAMED("pred", text_pred, 9, 3, false), ARITH_FIELDS};
static const ts__field text_cmp[] = {NAMED("pred", text_pred, 9, 3, true), ARITH_FIELDS};
static const ts__field text_cvt_pack[] = {NAMED("elem", text_elem, 16, 8, true), ARITH_FIELDS};
static const ts__field text_mem[] = {NAMED("mode", text_rmw, 5, 4, false), MEM_FIELDS};
static const ts__field text_atomic[] = {NAMED("mode", text_rmw, 5, 4, true), MEM_FIELDS};
static const ts__field text_fns[] = {NAMED("fn", text_math, 0, 16, true)};
static const ts__field text_axis[] = {{"axis", NULL, 0, 0, 32, true}};
static const ts__field text_wgmma[] = {NAMED("shape", text_mma, 0, 8, true),
                                       NUMBER("n", 8, 16),
                                       BIT("a_regs", 24),
                                       BIT("trans_a", 25),
                                       BIT("trans_b", 26),
                                       BIT("u_a", 27),
                                       BIT("u_b", 28)};

static const ts__field text_simt[] = {NUMBER("kind", 0, 8), NUMBER("number", 8, 16),
                                      NUMBER("extra", 24, 8)};
static const ts__field text_sregs[] = {KIND(text_sreg)};
static const ts__field text_shared[] = {{"offset", NULL, 0, 0, 32, true}};
static const ts__field text_access[] = {NAMED("cache", text_cache, 0, 8, false),
                                        NUMBER("n", 8, 16), BIT("any", 24)};
static const ts__field text_shfls[] = {KIND(text_shfl), NUMBER("clamp", 8, 16)};
static const ts__field text_votes[] = {KIND(text_vote)};
static const ts__field text_redux[] = {KIND(text_rmw)};
static const ts__field text_bar[] = {NUMBER("id", 0, 8), NUMBER("threads", 8, 16)};
static const ts__field text_cluster[] = {BIT("relaxed", 0)};
static const ts__field text_grid[] = {BIT("asks", 0)};
static const ts__field text_fences[] = {KIND(text_fence)};
static const ts__field text_bytes[] = {NUMBER("bytes", 8, 16)};
static const ts__field text_pending[] = {NUMBER("pending", 8, 16), BIT("read", 24)};
static const ts__field text_count[] = {NUMBER("count", 8, 16)};
static const ts__field text_map[] = {NUMBER("map", 0, 8), NUMBER("rank", 8, 16)};
static const ts__field text_map_load[] = {NUMBER("map", 0, 8), NUMBER("rank", 8, 16), NUMBER("blocks", 24, 8)};
static const ts__field text_map_reduce[] = {NAMED("mode", text_rmw, 24, 8, true),
                                            NUMBER("map", 0, 8), NUMBER("rank", 8, 16)};
static const ts__field text_matrix[] = {NUMBER("n", 8, 16), BIT("trans", 24)};
static const ts__field text_prmt[] = {NUMBER("selector", 8, 16)};
static const ts__field text_maxnreg[] = {NUMBER("regs", 8, 16), BIT("inc", 24)};
static const ts__field text_depth[] = {{"depth", NULL, 0, 0, 32, true}};
static const ts__field text_outer[] = {NUMBER("outer", 0, 8)};
static const ts__field text_sleep[] = {NUMBER("ns", 8, 16)};

/* clang-format off */
#define LIST(fields) {fields, TS_COUNT(fields)}
static const struct {
    ts_op op;
    ts__fields fields;
} text_by_op[] = {
    {TS_OP_sreg, LIST(text_sregs)},          {TS_OP_shared, LIST(text_shared)},
    {TS_OP_ld, LIST(text_access)},           {TS_OP_st, LIST(text_access)},
    {TS_OP_shfl, LIST(text_shfls)},          {TS_OP_vote, LIST(text_votes)},
    {TS_OP_redux, LIST(text_redux)},         {TS_OP_bar_sync, LIST(text_bar)},
    {TS_OP_bar_arrive, LIST(text_bar)},      {TS_OP_fence, LIST(text_fences)},
    {TS_OP_cluster_arrive, LIST(text_cluster)}, {TS_OP_grid_sync, LIST(text_grid)},
    {TS_OP_cp_async, LIST(text_bytes)},      {TS_OP_cp_async_wait, LIST(text_pending)},
    {TS_OP_wgmma_wait, LIST(text_pending)},  {TS_OP_bulk_wait, LIST(text_pending)},
    {TS_OP_mbar_init, LIST(text_count)},     {TS_OP_tma_load, LIST(text_map_load)},
    {TS_OP_tma_store, LIST(text_map)},       {TS_OP_tma_prefetch, LIST(text_map)},
    {TS_OP_tma_reduce, LIST(text_map_reduce)}, {TS_OP_ldmatrix, LIST(text_matrix)},
    {TS_OP_stmatrix, LIST(text_matrix)},     {TS_OP_prmt, LIST(text_prmt)},
    {TS_OP_setmaxnreg, LIST(text_maxnreg)},  {TS_OP_nanosleep, LIST(text_sleep)},
    {TS_OP_atomic_rmw_tko, LIST(text_atomic)}, {TS_OP_atomic_red_view_tko, LIST(text_atomic)},
    {TS_OP_atom, LIST(text_atomic)},         {TS_OP_red, LIST(text_atomic)},
    {TS_OP_cvt_pack, LIST(text_cvt_pack)},   {TS_OP_cmpf, LIST(text_cmp)},
    {TS_OP_cmpi, LIST(text_cmp)},            {TS_OP_recursion, LIST(text_depth)},
    {TS_OP_recur, LIST(text_outer)},
};
/* clang-format on */

ts__fields ts__fields_of(ts_op op)
{
    static const ts__fields by_attr[] = {
        [TS_ATTR_ARITH] = LIST(text_arith), [TS_ATTR_AXIS] = LIST(text_axis),
        [TS_ATTR_MEM] = LIST(text_mem),     [TS_ATTR_MMA] = LIST(text_wgmma),
        [TS_ATTR_SIMT] = LIST(text_simt),   [TS_ATTR_FN] = LIST(text_fns),
    };
    for (size_t i = 0; i < TS_COUNT(text_by_op); i++)
        if (text_by_op[i].op == op)
            return text_by_op[i].fields;
    return by_attr[ts__ops[op].attr];
}

uint32_t ts__fields_mask(ts__fields fields)
{
    uint64_t mask = 0;
    for (uint32_t i = 0; i < fields.n; i++)
        mask |= (((uint64_t)1 << fields.at[i].width) - 1) << fields.at[i].shift;
    return (uint32_t)mask;
}

/* ---- checked access -------------------------------------------------------------------------- */

const ts__role ts__roles[TS__N_ROLES] = {
    {"mask", TS_F_MASK}, {"pad", TS_F_PAD}, {"src", TS_F_SRC}, {"token", TS_F_TOKEN}};

const char *const ts__paddings[] = {"undef", "zero", "neg_zero", "nan", "pos_inf", "neg_inf"};
const char *const ts__spaces[] = {"global", "shared", "local"};

static bool text_in_pool(const ts_fn *fn, uint32_t at, uint64_t n)
{
    return at + n <= fn->pool.n;
}

const uint32_t *ts__opnds_checked(const ts_fn *fn, const ts_inst *inst)
{
    if (inst->n_opnd <= 3)
        return inst->opnd;
    return text_in_pool(fn, inst->opnd[0], inst->n_opnd) ? fn->pool.at + inst->opnd[0] : NULL;
}

/* Length of the attribute when its first `have` words may be read. */
static uint64_t text_attr_length(uint8_t attr, const uint32_t *w, uint32_t have)
{
    switch (attr) {
    case TS_ATTR_INTS:
        return have < 1 ? UINT64_MAX : (uint64_t)w[0] + 1;
    case TS_ATTR_REDUCE:
        return have < 3 ? UINT64_MAX : 3 + 2 * (uint64_t)w[2];
    case TS_ATTR_ALLOCA:
        return 3;
    case TS_ATTR_ASSUME:
        if (have < 2 || w[0] > TS_ASSUME_BOUNDED)
            return UINT64_MAX;
        return w[0] == TS_ASSUME_SAME ? 2 + (uint64_t)w[1] : w[0] == TS_ASSUME_DIV_BY ? 6 : 7;
    default:
        return 0;
    }
}

uint32_t ts__attr_words(const ts_fn *fn, const ts_inst *inst)
{
    if (inst->op >= TS_OP_COUNT)
        return TS_NO;
    uint32_t have = inst->aux < fn->pool.n ? fn->pool.n - inst->aux : 0;
    uint64_t n =
        text_attr_length(ts__ops[inst->op].attr, have ? fn->pool.at + inst->aux : NULL, have);
    if (n == 0)
        return 0;
    return n <= have ? (uint32_t)n : TS_NO;
}

uint32_t ts__n_plain(const ts_inst *inst)
{
    uint32_t roles = 0;
    for (int i = 0; i < TS__N_ROLES; i++)
        roles += (inst->flags & ts__roles[i].flag) != 0;
    return roles <= inst->n_opnd ? inst->n_opnd - roles : TS_NO;
}

bool ts__type_known(const ts_module *m, ts_type type)
{
    return type < TS_T_FIRST_COMPOSITE || type - TS_T_FIRST_COMPOSITE < m->type.n;
}

/* ---- numbers --------------------------------------------------------------------------------- */

double ts__decimal(int64_t mantissa, int exponent10)
{
    double power = 1;
    for (int i = 0; i < (exponent10 < 0 ? -exponent10 : exponent10); i++)
        power *= 10; /* exact up to 10^22 */
    return exponent10 < 0 ? (double)mantissa / power : (double)mantissa * power;
}

uint64_t ts__float_payload(ts_type elem, double value)
{
    uint64_t bits = 0;
    float single = (float)value;
    if (elem == TS_T_f64)
        memcpy(&bits, &value, 8);
    else if (elem == TS_T_f16)
        bits = ts__f16_from_f64(value);
    else if (elem == TS_T_bf16)
        bits = ts__bf16_from_f64(value);
    else
        memcpy(&bits, &single, 4);
    return bits;
}
