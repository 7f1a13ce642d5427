/* SPDX-License-Identifier: Apache-2.0
 *
 * The builder: appends instructions to a function, and the questions asked of single instructions.
 *
 * Out of memory is sticky in the module's arena; builders return value 0 and go on, and
 * ts_builder_status tells at the end. With `fold` on, integer constants are folded as they are
 * built and a pure instruction equal to one that dominates it is reused: a table of numbered
 * instructions with one scope per open region (entries are undone when the region closes).
 * The full rewrites are passes (src/pass/fold.c); this one keeps address arithmetic small at birth.
 */
#include "ir/float.h"

/* A mistake of the caller. After out of memory values and types are 0 and mean nothing; nobody will read them. */
#define build_assert(b, condition) ts_assert(ts__module_failed((b)->fn->module) || (condition))

/* ---- functions ----------------------------------------------------------------------------------*/

ts_fn *ts__fn_create_like(const ts_fn *like)
{
    ts_fn *fn = TS_NEW(like->module->arena, ts_fn);
    if (!fn)
        return NULL;
    *fn = *like;
    fn->n_params = 0;
    memset(&fn->inst, 0, sizeof fn->inst);
    memset(&fn->loc, 0, sizeof fn->loc);
    memset(&fn->pool, 0, sizeof fn->pool);
    memset(&fn->text_at, 0, sizeof fn->text_at);
    if (!TS_PUSH(fn->module->arena, &fn->inst, (ts_inst){.op = TS_OP_none}) ||
        !TS_PUSH(fn->module->arena, &fn->loc, 0))
        return NULL;
    return fn;
}

ts_fn *ts_fn_create(ts_module *module, const char *name, ts_level level)
{
    ts_assert(level >= TS_LEVEL_T && level <= TS_LEVEL_B);
    ts_fn like = {.module = module,
                  .name = ts_intern(module, name, strlen(name)),
                  .entry = true,
                  .level = (uint8_t)level};
    ts_fn *fn = ts__fn_create_like(&like);
    return fn && TS_PUSH(module->arena, &module->fns, fn) ? fn : NULL;
}

ts_fn *ts__fn_find(const ts_module *module, ts_str name)
{
    for (uint32_t i = 0; i < module->fns.n; i++)
        if (module->fns.at[i]->name == name)
            return module->fns.at[i];
    return NULL;
}

void ts_fn_set_results(ts_fn *fn, uint32_t n, const ts_type *types)
{
    ts_assert(!fn->n_results && (types || !n));
    ts_type *copy = TS_NEW_N(fn->module->arena, ts_type, n + 1);
    fn->entry = false;
    if (!copy)
        return;
    if (n)
        memcpy(copy, types, n * sizeof *copy);
    fn->n_results = n;
    fn->result = copy;
}

void ts_fn_set_warps(ts_fn *fn, uint32_t warps)
{
    fn->num_warps = (uint8_t)TS_MIN(warps, 255u); /* the verifier refuses more than 32 */
}

void ts__fn_replace(ts_fn *old, ts_fn *with)
{
    ts_assert(old->module == with->module && old->name == with->name);
    *old = *with;
}

ts_type ts_val_type(const ts_fn *fn, ts_val v)
{
    return v < fn->inst.n ? ts_type_of(fn, v) : TS_T_none;
}

/* ---- operand roles ------------------------------------------------------------------------------*/

/* Optional operands are the last ones, in the order mask, padding, token. */
uint32_t ts__opnd_token(const ts_inst *inst)
{
    return inst->flags & TS_F_TOKEN ? inst->n_opnd - 1u : TS_NO;
}

uint32_t ts__opnd_pad(const ts_inst *inst)
{
    return inst->flags & TS_F_PAD ? inst->n_opnd - 1u - !!(inst->flags & TS_F_TOKEN) : TS_NO;
}

uint32_t ts__opnd_mask(const ts_inst *inst)
{
    return inst->flags & TS_F_MASK
               ? inst->n_opnd - 1u - !!(inst->flags & TS_F_TOKEN) - !!(inst->flags & TS_F_PAD)
               : TS_NO;
}

/* ---- constants ----------------------------------------------------------------------------------*/

bool ts__const_bits(const ts_fn *fn, ts_val v, uint64_t *bits)
{
    const ts_inst *inst = ts_at(fn, v);
    if (inst->op != TS_OP_constant || inst->aux)
        return false;
    *bits = inst->opnd[0] | (uint64_t)inst->opnd[1] << 32;
    return true;
}

bool ts__const_as_int(const ts_fn *fn, ts_val v, int64_t *value)
{
    uint64_t bits;
    if (!ts_type_is_int(fn->module, ts_type_of(fn, v)) || !ts__const_bits(fn, v, &bits))
        return false;
    *value = (int64_t)bits;
    return true;
}

bool ts__const_as_float(const ts_fn *fn, ts_val v, double *value)
{
    uint64_t bits;
    if (!ts__const_bits(fn, v, &bits))
        return false;
    switch (ts_type_elem(fn->module, ts_type_of(fn, v))) {
    case TS_T_f64:
        memcpy(value, &bits, 8);
        return true;
    case TS_T_f32:
    case TS_T_tf32: {
        float single;
        memcpy(&single, &bits, 4);
        *value = single;
        return true;
    }
    case TS_T_f16:
        *value = ts__f16_to_f64((uint16_t)bits);
        return true;
    case TS_T_bf16:
        *value = ts__bf16_to_f64((uint16_t)bits);
        return true;
    default:
        return false;
    }
}

/* An integer cut to its type and sign-extended again; i1 is 0 or 1. */
static int64_t build_wrap(ts_type elem, int64_t value)
{
    switch (elem) {
    case TS_T_i1:
        return value & 1;
    case TS_T_i4:
        return (int64_t)((uint64_t)value << 60) >> 60;
    case TS_T_i8:
        return (int8_t)value;
    case TS_T_i16:
        return (int16_t)value;
    case TS_T_i32:
        return (int32_t)value;
    default:
        return value;
    }
}

ts_val ts_bits(ts_builder *b, ts_type type, uint64_t payload)
{
    build_assert(b, type != TS_T_none && type != TS_T_token);
    ts_val v = ts_emit(b, TS_OP_constant, type, 0, (ts_val[]){(ts_val)payload, (ts_val)(payload >> 32)}, 0, 0);
    return v;
}

ts_val ts_int(ts_builder *b, ts_type type, int64_t value)
{
    return ts_bits(b, type, (uint64_t)build_wrap(ts_type_elem(b->fn->module, type), value));
}

ts_val ts_float(ts_builder *b, ts_type type, double value)
{
    ts_type elem = ts_type_elem(b->fn->module, type);
    build_assert(b, ts__float_format_of(elem));
    return ts_bits(b, type, ts__float_format_of(elem) ? ts__float_written(elem, value) : 0);
}

ts_val ts_dense_const(ts_builder *b, ts_type type, const void *bytes, size_t n_bytes)
{
    ts_module *m = b->fn->module;
    build_assert(b, n_bytes * 8 >= (size_t)ts_type_count(m, type) * ts_type_bits(m, ts_type_elem(m, type)));
    char *copy = ts__arena_get(m->arena, n_bytes);
    if (!copy)
        return 0;
    memcpy(copy, bytes, n_bytes);
    if (!TS_PUSH(m->arena, &m->dense, ((ts_dense){copy, n_bytes})))
        return 0;
    return ts_emit(b, TS_OP_constant, type, 0, NULL, m->dense.n, 0);
}

/* ---- numbering ----------------------------------------------------------------------------------*/

typedef struct build_entry {
    ts_val value;
    uint32_t next;
    uint64_t hash;
} build_entry;

enum { BUILD_BUCKETS = 1024 };
struct ts_numbering {
    uint32_t *bucket; /* index + 1 of the newest entry */
    uint32_t n_buckets;
    TS_VEC(build_entry) entry;
    TS_VEC(uint32_t) scope; /* entry count at each open region */
};

void ts__builder_init(ts_builder *b, ts_fn *fn)
{
    *b = (ts_builder){.fn = fn};
}

ts_status ts_builder_create(ts_fn *fn, ts_builder **out, ts_error *err)
{
    TS_NEED(err, out);
    *out = NULL;
    const ts_alloc *alloc = fn ? fn->module->arena->alloc : NULL;
    *out = alloc ? alloc->resize(alloc->user, NULL, 0, sizeof **out) : NULL;
    if (!*out)
        return ts_fail(err, TS_NOMEM, "out of memory for a builder");
    **out = (ts_builder){.fn = fn, .alloc = alloc};
    return TS_OK;
}

void ts_builder_destroy(ts_builder *b)
{
    if (b)
        b->alloc->resize(b->alloc->user, b, sizeof *b, 0);
}

void ts_builder_reset(ts_builder *b, ts_fn *fn)
{
    *b = (ts_builder){.fn = fn, .alloc = b->alloc};
}

void ts_builder_at(ts_builder *b, ts_loc loc)
{
    b->loc = loc;
}

void ts_builder_fold(ts_builder *b, bool fold)
{
    b->fold = fold;
}

ts_status ts_builder_status(const ts_builder *b, ts_error *err)
{
    TS_NEED(err, b);
    if (b->too_many)
        return ts_fail(err, TS_TILEVALUE, "an operation of more than %d values (a print, or what a loop or branch "
                       "changes); divide it", TS_MAX_OPNDS);
    if (!b->fn || ts__module_failed(b->fn->module))
        return ts_fail(err, TS_NOMEM, "out of memory while building a function");
    return TS_OK;
}

static bool build_numbered(const ts_inst *inst)
{
    const ts_op_info *info = ts_info(inst);
    if (!(info->flags & TS_PURE) || info->flags & TS_REGION || info->n_result != 1 || inst->n_opnd > 3)
        return false;
    if (inst->op == TS_OP_param || inst->op == TS_OP_arg || inst->op == TS_OP_res || ts__is_clock(inst))
        return false;
    return info->attr != TS_ATTR_INTS && info->attr != TS_ATTR_ASSUME && info->attr != TS_ATTR_ALLOCA;
}

/* Buckets filled in the order of the entries: closing a scope undoes them from the newest on. */
static void build_buckets(ts_arena *arena, struct ts_numbering *n, uint32_t count)
{
    uint32_t *bucket = TS_NEW_N(arena, uint32_t, count);
    if (!bucket)
        return;
    n->bucket = bucket;
    n->n_buckets = count;
    for (uint32_t i = 0; i < n->entry.n; i++) {
        uint32_t *head = &bucket[n->entry.at[i].hash % count];
        n->entry.at[i].next = *head;
        *head = i + 1;
    }
}

static struct ts_numbering *build_numbering(ts_builder *b)
{
    ts_arena *arena = b->fn->module->arena;
    if (!b->numbering && (b->numbering = TS_NEW(arena, struct ts_numbering)))
        build_buckets(arena, b->numbering, BUILD_BUCKETS);
    return b->numbering && b->numbering->bucket ? b->numbering : NULL;
}

static void build_scope_open(ts_builder *b)
{
    struct ts_numbering *n = build_numbering(b);
    if (n)
        (void)TS_PUSH(b->fn->module->arena, &n->scope, n->entry.n);
}

static void build_scope_close(ts_builder *b)
{
    struct ts_numbering *n = build_numbering(b);
    if (!n || !n->scope.n)
        return;
    uint32_t keep = n->scope.at[--n->scope.n];
    build_assert(b, keep <= n->entry.n);
    while (n->entry.n > keep) {
        build_entry *e = &n->entry.at[--n->entry.n];
        n->bucket[e->hash % n->n_buckets] = e->next;
    }
}

/* The value of an equal instruction in scope, or 0 after remembering that `value` will be one. */
static ts_val build_number(ts_builder *b, const ts_inst *inst, ts_val value)
{
    struct ts_numbering *n = build_numbering(b);
    if (!n)
        return 0;
    ts_assert(n->n_buckets && value == b->fn->inst.n);
    uint64_t hash = ts__hash(inst, sizeof *inst, 3);
    uint32_t *bucket = &n->bucket[hash % n->n_buckets];
    for (uint32_t i = *bucket; i; i = n->entry.at[i - 1].next)
        if (memcmp(ts_at(b->fn, n->entry.at[i - 1].value), inst, sizeof *inst) == 0)
            return n->entry.at[i - 1].value;
    if (TS_PUSH(b->fn->module->arena, &n->entry, ((build_entry){value, *bucket, hash})))
        *bucket = n->entry.n;
    if (n->entry.n > 2 * n->n_buckets)
        build_buckets(b->fn->module->arena, n, 4 * n->n_buckets);
    return 0;
}

/* ---- integer folding ----------------------------------------------------------------------------*/

static bool build_fold_pair(ts_op op, uint32_t attr, int64_t x, int64_t y, int64_t *z)
{
    uint64_t ux = (uint64_t)x, uy = (uint64_t)y;
    switch ((int)op) {
    case TS_OP_addi:
        *z = (int64_t)(ux + uy);
        return true;
    case TS_OP_subi:
        *z = (int64_t)(ux - uy);
        return true;
    case TS_OP_muli:
        *z = (int64_t)(ux * uy);
        return true;
    case TS_OP_andi:
        *z = x & y;
        return true;
    case TS_OP_ori:
        *z = x | y;
        return true;
    case TS_OP_xori:
        *z = x ^ y;
        return true;
    case TS_OP_shli:
        *z = (int64_t)(ux << (uy & 63));
        return y >= 0 && y < 32;
    case TS_OP_mini:
    case TS_OP_maxi:
        *z = (x < y) == (op == TS_OP_mini) ? x : y;
        return !(attr & TS_A_UNSIGNED);
    default:
        return false;
    }
}

/* x op c where the constant changes nothing, or the answer is the constant. 0 = no such identity. */
static ts_val build_identity(ts_op op, ts_val x, ts_val cv, int64_t c)
{
    switch ((int)op) {
    case TS_OP_addi:
    case TS_OP_subi:
    case TS_OP_ori:
    case TS_OP_xori:
    case TS_OP_shli:
    case TS_OP_shri:
        return c == 0 ? x : 0;
    case TS_OP_muli:
        return c == 1 ? x : c == 0 ? cv : 0;
    case TS_OP_divi:
        return c == 1 ? x : 0;
    case TS_OP_andi:
        return c == -1 ? x : c == 0 ? cv : 0;
    default:
        return 0;
    }
}

static ts_val build_fold2(ts_builder *b, ts_op op, ts_val x, ts_val y, uint32_t attr)
{
    int64_t cx, cy, z;
    ts_type type = ts_type_of(b->fn, x);
    bool has_x = ts__const_as_int(b->fn, x, &cx), has_y = ts__const_as_int(b->fn, y, &cy);
    if (has_x && has_y && build_fold_pair(op, attr, cx, cy, &z))
        return ts_int(b, type, z);
    if (has_y && build_identity(op, x, y, cy))
        return build_identity(op, x, y, cy);
    if (has_x && (ts__ops[op].flags & TS_COMM) && build_identity(op, y, x, cx))
        return build_identity(op, y, x, cx);
    /* (a + c) + d = a + (c + d): keeps address offsets in one immediate */
    if (has_y && op == TS_OP_addi && ts_at(b->fn, x)->op == TS_OP_addi &&
        ts__const_as_int(b->fn, ts_opnd(b->fn, x, 1), &cx) && !(ts_at(b->fn, x)->aux | attr))
        return ts_op2(b, op, ts_opnd(b->fn, x, 0), ts_int(b, type, (int64_t)((uint64_t)cx + (uint64_t)cy)), attr);
    return 0;
}

/* ---- emitting -----------------------------------------------------------------------------------*/

uint32_t ts_pool_add(ts_builder *b, uint32_t n, const uint32_t *words)
{
    ts_fn *fn = b->fn;
    uint32_t at = fn->pool.n;
    ts_assert(n == 0 || words);
    if (!TS_RESERVE(fn->module->arena, &fn->pool, (uint64_t)fn->pool.n + n))
        return 0;
    if (n)
        memcpy(fn->pool.at + at, words, n * sizeof *words);
    fn->pool.n += n;
    return at;
}

static void build_scopes(ts_builder *b, ts_op op)
{
    if (ts__ops[op].flags & TS_REGION)
        build_scope_open(b);
    else if (op == TS_OP_end)
        build_scope_close(b);
    else if (op == TS_OP_else) {
        build_scope_close(b);
        build_scope_open(b);
    }
}

ts_val ts_emit(ts_builder *b, ts_op op, ts_type type, uint32_t n, const ts_val *opnds, uint32_t aux, uint32_t flags)
{
    ts_fn *fn = b->fn;
    ts_assert(op > TS_OP_none && op < TS_OP_COUNT);
    ts_assert(n == 0 || opnds);
    ts_inst inst = {.op = op, .n_opnd = n & 0x3FFF, .flags = flags & 255, .type = type, .aux = aux};
    if (op == TS_OP_constant && opnds)
        memcpy(inst.opnd, opnds, 2 * sizeof *opnds);
    else if (n <= 3 && n)
        memcpy(inst.opnd, opnds, n * sizeof *opnds);
    else if (n > 3)
        inst.opnd[0] = ts_pool_add(b, n, opnds);
    if (b->fold && build_numbered(&inst)) {
        ts_val known = build_number(b, &inst, fn->inst.n);
        if (known)
            return known;
    }
    if (n > TS_MAX_OPNDS)
        b->too_many = fn->module->arena->failed = true;
    if (!TS_PUSH(fn->module->arena, &fn->inst, inst) || !TS_PUSH(fn->module->arena, &fn->loc, b->loc))
        return 0;
    if (b->fold)
        build_scopes(b, op);
    fn->n_params += op == TS_OP_param;
    return fn->inst.n - 1;
}

ts_val ts_emit_multi(ts_builder *b, ts_op op, uint32_t n, const ts_val *opnds, uint32_t aux, uint32_t flags,
                     uint32_t n_results, const ts_type *types)
{
    build_assert(b, ts__ops[op].n_result == TS_N);
    ts_val v = ts_emit(b, op, TS_T_none, n, opnds, aux, flags);
    for (uint32_t i = 0; i < n_results; i++)
        ts_emit(b, TS_OP_res, types[i], 1, &v, i, 0);
    return v;
}

ts_val ts_call(ts_builder *b, const ts_fn *callee, const ts_val *args)
{
    ts_assert(callee->module == b->fn->module && !callee->entry);
    return ts_emit_multi(b, TS_OP_call, callee->n_params, args, callee->name, 0, callee->n_results, callee->result);
}

/* Result type of an elementwise operation from its rule; the rest takes its first operand's. */
static ts_type build_result(ts_builder *b, ts_op op, ts_val first, ts_val second)
{
    ts_type x = ts_type_of(b->fn, first);
    switch ((int)ts__ops[op].rule) {
    case TS_RULE_CMPF:
    case TS_RULE_CMPI:
        return ts_type_with_elem(b->fn->module, x, TS_T_i1);
    case TS_RULE_SELECT:
        return ts_type_of(b->fn, second);
    default:
        break;
    }
    switch ((int)op) {
    case TS_OP_mul_wide:
        return TS_T_i64;
    case TS_OP_cvt_pack:
    case TS_OP_pack2:
    case TS_OP_popc:
    case TS_OP_clz:
        return TS_T_i32;
    default:
        return x;
    }
}

ts_val ts_op1(ts_builder *b, ts_op op, ts_val x, uint32_t attr)
{
    build_assert(b, ts__ops[op].n_opnd == 1 && x && x < b->fn->inst.n);
    return ts_emit(b, op, build_result(b, op, x, x), 1, &x, attr, 0);
}

ts_val ts_op2(ts_builder *b, ts_op op, ts_val x, ts_val y, uint32_t attr)
{
    ts_val opnds[] = {x, y};
    build_assert(b, ts__ops[op].n_opnd == 2 || ts__ops[op].n_opnd == TS_N);
    build_assert(b, x && x < b->fn->inst.n && y && y < b->fn->inst.n);
    if (b->fold) {
        ts_val folded = build_fold2(b, op, x, y, attr);
        if (folded)
            return folded;
    }
    return ts_emit(b, op, build_result(b, op, x, y), 2, opnds, attr, 0);
}

ts_val ts_op3(ts_builder *b, ts_op op, ts_val x, ts_val y, ts_val z, uint32_t attr)
{
    ts_val opnds[] = {x, y, z};
    build_assert(b, ts__ops[op].n_opnd == 3 || ts__ops[op].n_opnd == TS_N);
    build_assert(b, x && x < b->fn->inst.n && y && y < b->fn->inst.n && z && z < b->fn->inst.n);
    return ts_emit(b, op, build_result(b, op, x, y), 3, opnds, attr, 0);
}

ts_val ts_math_call(ts_builder *b, uint32_t fn, ts_val x, ts_val y)
{
    ts_type type = ts_type_of(b->fn, x);
    if (fn >= TS_MATH_COUNT)
        return ts_emit(b, TS_OP_fn, type, 0, NULL, fn, 0); /* the verifier objects */
    ts_type elem = ts__math_result(fn, ts_type_elem(b->fn->module, type));
    type = ts_type_with_elem(b->fn->module, type, elem);
    return ts_emit(b, TS_OP_fn, type, ts__math_fns[fn].n_opnd, (ts_val[]){x, y}, fn, 0);
}

ts_val ts_cast(ts_builder *b, ts_op op, ts_val x, ts_type elem, uint32_t attr)
{
    build_assert(b, ts__ops[op].rule == TS_RULE_CASTA || ts__ops[op].rule == TS_RULE_CASTI);
    build_assert(b, ts_type_of(b->fn, x) != TS_T_none && elem != TS_T_none);
    return ts_emit(b, op, ts_type_with_elem(b->fn->module, ts_type_of(b->fn, x), elem), 1, &x, attr, 0);
}

ts_val ts_cmp(ts_builder *b, ts_op op, ts_pred pred, ts_val x, ts_val y, uint32_t attr)
{
    ts_assert(op == TS_OP_cmpi || op == TS_OP_cmpf);
    build_assert(b, ts_type_of(b->fn, x) == ts_type_of(b->fn, y));
    return ts_op2(b, op, x, y, attr | TS_A_PRED(pred));
}

ts_val ts_select(ts_builder *b, ts_val c, ts_val x, ts_val y)
{
    build_assert(b, ts_type_elem(b->fn->module, ts_type_of(b->fn, c)) == TS_T_i1);
    build_assert(b, ts_type_of(b->fn, x) == ts_type_of(b->fn, y));
    return ts_op3(b, TS_OP_select, c, x, y, 0);
}

ts_val ts_fn_param(ts_builder *b, ts_type type)
{
    return ts_emit(b, TS_OP_param, type, 0, NULL, b->fn->n_params, 0);
}

ts_val ts_broadcast(ts_builder *b, ts_val x, ts_type type)
{
    ts_module *m = b->fn->module;
    ts_type from = ts_type_of(b->fn, x);
    uint64_t bits;
    build_assert(b, ts_type_elem(m, from) == ts_type_elem(m, type));
    if (from == type)
        return x;
    if (ts__const_bits(b->fn, x, &bits))
        return ts_bits(b, type, bits);
    if (ts_type_rank(m, from) == 0) {
        int64_t ones[TS_MAX_RANK] = {1, 1, 1, 1, 1, 1, 1, 1};
        x = ts_reshape(b, x, ts_type_tile(m, from, ts_type_rank(m, type), ones));
        if (ts_type_of(b->fn, x) == type)
            return x;
    }
    return ts_emit(b, TS_OP_broadcast, type, 1, &x, 0, 0);
}

ts_val ts_reshape(ts_builder *b, ts_val x, ts_type type)
{
    uint64_t bits;
    build_assert(b, ts_type_count(b->fn->module, ts_type_of(b->fn, x)) == ts_type_count(b->fn->module, type));
    if (ts_type_of(b->fn, x) == type)
        return x;
    if (ts__const_bits(b->fn, x, &bits))
        return ts_bits(b, type, bits);
    return ts_emit(b, TS_OP_reshape, type, 1, &x, 0, 0);
}

ts_val ts_permute(ts_builder *b, ts_val x, const uint32_t *axes)
{
    ts_module *m = b->fn->module;
    ts_type from = ts_type_of(b->fn, x);
    uint32_t rank = ts_type_rank(m, from), words[TS_MAX_RANK + 1] = {rank};
    int64_t dims[TS_MAX_RANK];
    for (uint32_t i = 0; i < rank; i++) {
        ts_assert(axes[i] < rank);
        words[i + 1] = axes[i];
        dims[i] = ts_type_dims(m, from)[axes[i]];
    }
    ts_type to = ts_type_tile(m, ts_type_elem(m, from), rank, dims);
    return ts_emit(b, TS_OP_permute, to, 1, &x, ts_pool_add(b, rank + 1, words), 0);
}

/* ---- regions ------------------------------------------------------------------------------------*/

static void build_arg(ts_builder *b, ts_type type, uint32_t i)
{
    ts_emit(b, TS_OP_arg, type, 0, NULL, i, 0);
}

ts_val ts_if_begin(ts_builder *b, ts_val cond)
{
    build_assert(b, ts_type_of(b->fn, cond) == TS_T_i1);
    return ts_emit(b, TS_OP_if, TS_T_none, 1, &cond, 0, 0);
}

void ts_else(ts_builder *b)
{
    ts_emit(b, TS_OP_else, TS_T_none, 0, NULL, 0, 0);
}

ts_val ts_for_begin(ts_builder *b, ts_val lower, ts_val upper, ts_val step, uint32_t n,
                    const ts_val *inits, uint32_t attr)
{
    build_assert(b, ts_type_of(b->fn, lower) == ts_type_of(b->fn, upper));
    build_assert(b, ts_type_of(b->fn, lower) == ts_type_of(b->fn, step));
    ts_val *opnds = TS_NEW_N(b->fn->module->arena, ts_val, n + 3);
    if (!opnds)
        return 0;
    opnds[0] = lower;
    opnds[1] = upper;
    opnds[2] = step;
    if (n)
        memcpy(opnds + 3, inits, n * sizeof *inits);
    ts_val opener = ts_emit(b, TS_OP_for, TS_T_none, n + 3, opnds, attr, 0);
    build_arg(b, ts_type_of(b->fn, lower), 0);
    for (uint32_t i = 0; i < n; i++)
        build_arg(b, ts_type_of(b->fn, inits[i]), i + 1);
    return opener;
}

ts_val ts_loop_begin(ts_builder *b, uint32_t n, const ts_val *inits)
{
    ts_val opener = ts_emit(b, TS_OP_loop, TS_T_none, n, inits, 0, 0);
    for (uint32_t i = 0; i < n; i++)
        build_arg(b, ts_type_of(b->fn, inits[i]), i);
    return opener;
}

ts_val ts_recursion_begin(ts_builder *b, uint32_t depth, uint32_t n, const ts_val *inits)
{
    ts_val opener = ts_emit(b, TS_OP_recursion, TS_T_none, n, inits, depth, 0);
    for (uint32_t i = 0; i < n; i++)
        build_arg(b, ts_type_of(b->fn, inits[i]), i);
    return opener;
}

ts_val ts_cold_begin(ts_builder *b, ts_val cond, uint32_t n, const ts_val *values)
{
    ts_val few[8] = {cond};
    build_assert(b, n && ts_type_elem(b->fn->module, ts_type_of(b->fn, cond)) == TS_T_i1);
    if (n >= TS_COUNT(few)) {
        b->fn->module->arena->failed = true;
        return 0;
    }
    memcpy(few + 1, values, n * sizeof *values);
    return ts_emit(b, TS_OP_cold, TS_T_none, n + 1, few, 0, 0);
}

ts_val ts_reduce_begin(ts_builder *b, ts_op op, uint32_t axis, bool reverse, uint32_t n,
                       const ts_val *inputs, const uint64_t *identities)
{
    ts_assert(op == TS_OP_reduce || op == TS_OP_scan);
    build_assert(b, n && axis < ts_type_rank(b->fn->module, ts_type_of(b->fn, inputs[0])));
    uint32_t *words = TS_NEW_N(b->fn->module->arena, uint32_t, 3 + 2 * (size_t)n);
    if (!words)
        return 0;
    words[0] = axis;
    words[1] = reverse;
    words[2] = n;
    for (uint32_t i = 0; i < n; i++) {
        words[3 + 2 * i] = (uint32_t)identities[i];
        words[4 + 2 * i] = (uint32_t)(identities[i] >> 32);
    }
    ts_val opener = ts_emit(b, op, TS_T_none, n, inputs, ts_pool_add(b, 3 + 2 * n, words), 0);
    for (uint32_t i = 0; i < 2 * n; i++)
        build_arg(b, ts_type_elem(b->fn->module, ts_type_of(b->fn, inputs[i / 2])), i);
    return opener;
}

void ts_term(ts_builder *b, ts_op op, uint32_t n, const ts_val *values)
{
    ts_assert(ts__ops[op].flags & TS_TERM);
    ts_emit(b, op, TS_T_none, n, values, 0, 0);
}

void ts_end(ts_builder *b, ts_val opener, uint32_t n, const ts_type *types)
{
    build_assert(b, ts_info(ts_at(b->fn, opener))->flags & TS_REGION);
    ts_emit(b, TS_OP_end, TS_T_none, 0, NULL, 0, 0);
    for (uint32_t i = 0; i < n; i++)
        ts_emit(b, TS_OP_res, types[i], 1, &opener, i, 0);
}

void ts_if_end(ts_builder *b, ts_val opener)
{
    ts_term(b, TS_OP_yield, 0, NULL);
    ts_else(b);
    ts_term(b, TS_OP_yield, 0, NULL);
    ts_end(b, opener, 0, NULL);
}

/* The type of a reduction's result: the input without the reduced axis; a scan keeps it. */
static ts_type build_reduced(const ts_fn *fn, const ts_inst *inst, ts_type input)
{
    ts_module *m = fn->module;
    if (inst->op == TS_OP_scan)
        return input;
    int64_t dims[TS_MAX_RANK];
    uint32_t rank = ts_type_rank(m, input), axis = ts_pool(fn, inst)[0], n = 0;
    for (uint32_t i = 0; i < rank; i++)
        if (i != axis)
            dims[n++] = ts_type_dims(m, input)[i];
    return ts_type_tile(m, ts_type_elem(m, input), n, dims);
}

void ts_end_like(ts_builder *b, ts_val opener)
{
    ts_fn *fn = b->fn;
    build_assert(b, ts_info(ts_at(fn, opener))->flags & TS_REGION && ts_at(fn, opener)->op != TS_OP_if);
    ts_emit(b, TS_OP_end, TS_T_none, 0, NULL, 0, 0);
    uint32_t skip = ts_at(fn, opener)->op == TS_OP_for ? 3 : ts_at(fn, opener)->op == TS_OP_cold ? 1 : 0;
    for (uint32_t i = skip; i < ts_at(fn, opener)->n_opnd; i++) {
        ts_inst inst = *ts_at(fn, opener);
        ts_type type = ts_type_of(fn, ts_opnd(fn, opener, i));
        if (inst.op == TS_OP_reduce || inst.op == TS_OP_scan)
            type = build_reduced(fn, &inst, type);
        ts_emit(b, TS_OP_res, type, 1, &opener, i - skip, 0);
    }
}

ts_val ts_region_arg(const ts_fn *fn, ts_val opener, uint32_t i)
{
    return opener + 1 + i < fn->inst.n ? opener + 1 + i : 0;
}

ts_val ts_res(ts_builder *b, ts_val opener, uint32_t i)
{
    ts_val v = b->fn->inst.n;
    while (v > 1 && ts_at(b->fn, v - 1)->op == TS_OP_res && ts_at(b->fn, v - 1)->opnd[0] == opener)
        v--;
    return v + i < b->fn->inst.n ? v + i : 0;
}

/* ---- copying ------------------------------------------------------------------------------------*/

/* How many pool words the attribute of `inst` takes. */
static uint32_t build_attr_words(const ts_fn *fn, const ts_inst *inst)
{
    const uint32_t *w = inst->aux < fn->pool.n ? fn->pool.at + inst->aux : NULL;
    ts_assert(w || ts_info(inst)->attr < TS_ATTR_INTS || ts_info(inst)->attr == TS_ATTR_STR ||
              ts_info(inst)->attr == TS_ATTR_SYMBOL || ts_info(inst)->attr >= TS_ATTR_MMA);
    switch (ts_info(inst)->attr) {
    case TS_ATTR_INTS:
        return w[0] + 1;
    case TS_ATTR_REDUCE:
        return 3 + 2 * w[2];
    case TS_ATTR_ALLOCA:
        return 3;
    case TS_ATTR_ASSUME:
        return w[0] == TS_ASSUME_SAME ? 2 + w[1] : w[0] == TS_ASSUME_DIV_BY ? 6 : 7;
    default:
        return 0;
    }
}

ts_val ts__copy(ts_builder *b, const ts_fn *from, ts_val v, ts_val *map)
{
    ts_assert(v && v < from->inst.n);
    ts_inst inst = *ts_at(from, v);
    ts_val few[16], *opnds = inst.n_opnd <= 16 ? few : TS_NEW_N(b->fn->module->arena, ts_val, inst.n_opnd);
    if (!opnds)
        return 0;
    for (uint32_t i = 0; i < inst.n_opnd; i++)
        opnds[i] = map[ts_opnds(from, ts_at(from, v))[i]];
    uint32_t words = build_attr_words(from, &inst), aux = inst.aux;
    if (words) {
        uint32_t *copy = TS_NEW_N(b->fn->module->arena, uint32_t, words);
        if (!copy)
            return 0;
        memcpy(copy, from->pool.at + inst.aux, words * sizeof *copy);
        aux = ts_pool_add(b, words, copy);
    }
    ts_loc old = b->loc;
    b->loc = from->loc.at[v];
    if (inst.op == TS_OP_constant && !inst.aux)
        map[v] = ts_emit(b, TS_OP_constant, inst.type, 0, inst.opnd, 0, 0);
    else
        map[v] = ts_emit(b, (ts_op)inst.op, inst.type, inst.n_opnd,
                         inst.op == TS_OP_constant ? NULL : opnds, aux, inst.flags);
    b->loc = old;
    return map[v];
}

/* ---- structure ----------------------------------------------------------------------------------*/

bool ts__shape_of(const ts_fn *fn, ts_arena *scratch, ts_shape *shape)
{
    uint32_t n = fn->inst.n, depth = 0;
    shape->end = TS_NEW_N(scratch, uint32_t, n);
    shape->other = TS_NEW_N(scratch, uint32_t, n);
    shape->parent = TS_NEW_N(scratch, uint32_t, n);
    shape->uses = TS_NEW_N(scratch, uint32_t, n);
    uint32_t *open = TS_NEW_N(scratch, uint32_t, n + 1);
    if (!shape->end || !shape->other || !shape->parent || !shape->uses || !open)
        return false;
    for (uint32_t v = 1; v < n; v++) {
        const ts_inst *inst = ts_at(fn, v);
        const uint32_t *opnds = ts_opnds(fn, inst);
        for (uint32_t i = 0; i < inst->n_opnd; i++) {
            ts_assert(opnds[i] < n);
            shape->uses[opnds[i]]++;
        }
        if (inst->op == TS_OP_end) {
            if (!depth)
                return false;
            uint32_t opener = open[--depth];
            shape->end[opener] = v;
            if (shape->other[opener])
                shape->end[shape->other[opener]] = v;
        }
        shape->parent[v] = depth ? open[depth - 1] : 0;
        if (inst->op == TS_OP_else && depth)
            shape->other[open[depth - 1]] = v;
        if (ts_info(inst)->flags & TS_REGION)
            open[depth++] = v;
    }
    return depth == 0;
}

bool ts__is_loop(uint32_t op)
{
    return op == TS_OP_for || op == TS_OP_loop;
}

bool ts__has_op(const ts_fn *fn, ts_op op)
{
    for (ts_val v = 1; v < fn->inst.n; v++)
        if (ts_at(fn, v)->op == op)
            return true;
    return false;
}

ts_val ts__recursion_of(const ts_fn *fn, const uint32_t *parent, ts_val v)
{
    uint32_t left = ts_at(fn, v)->aux + 1;
    ts_val opener = v;
    while (left && (opener = parent[opener]))
        left -= ts_at(fn, opener)->op == TS_OP_recursion;
    return opener;
}

uint32_t ts__n_res(const ts_fn *fn, ts_val v)
{
    uint32_t n = 0;
    while (v + 1 + n < fn->inst.n && ts_at(fn, v + 1 + n)->op == TS_OP_res)
        n++;
    return n;
}

ts_val ts__term_target(const ts_fn *fn, const ts_shape *shape, ts_val term)
{
    uint32_t op = ts_at(fn, term)->op;
    ts_val opener = op == TS_OP_return ? 0 : shape->parent[term];
    while (opener && op != TS_OP_yield && !ts__is_loop(ts_at(fn, opener)->op))
        opener = shape->parent[opener];
    return opener;
}
