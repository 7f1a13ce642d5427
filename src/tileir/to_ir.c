/* SPDX-License-Identifier: Apache-2.0
 *
 * From the structure of a file to our own IR. Most operations have the same name, operands and attributes on both sides
 * and go over by one rule (conv_plain); the others have a function each, in the table at the end. A tile of rank 0 is a
 * scalar here; the token of a load or atomic is an operation of its own, made where it is used. What comes out is
 * verified, so that whatever a file says is either a right module or an error.
 */
#include "ir/ir.h"
#include "tileir/tileir.h"

typedef struct conv {
    const ts_tileir *m;
    const tileir_fn *fn;
    ts_module *out;
    ts_builder *b;
    ts_arena *arena;
    ts_type *type;   /* of each type of the file; 0: not made yet */
    ts_val *value;   /* of each value of the function */
    uint32_t *uses;  /* of each value of the function */
    ts_error *err;
} conv;

static ts_status conv_nomem(const conv *c)
{
    return ts_fail(c->err, TS_NOMEM, "out of memory while converting Tile IR");
}

static ts_status conv_fail(const conv *c, const tileir_op *op, ts_status status, const char *text)
{
    ts_text shown;
    ts__text_init(&shown, c->m->arena.alloc);
    ts__tileir_print_op(c->m, c->fn, op, &shown);
    ts_fail(c->err, status, "Tile IR: kernel '%s': %s\n  %.600s", ts__tileir_str(c->m, c->fn->name), text,
            ts__text_get(&shown));
    ts__text_deinit(&shown);
    return status;
}

/* ---- types ---------------------------------------------------------------------------------------------- */

static ts_type conv_type(conv *c, uint32_t type);

static ts_type conv_view_type(conv *c, const tileir_type *t)
{
    int32_t map[TS_MAX_RANK];
    ts_type_info info = {.rank = (uint8_t)t->dims.n, .padding = t->padding, .elem = conv_type(c, t->elem),
                         .dims = t->dims.at};
    for (uint32_t d = 0; d < t->map.n && d < TS_MAX_RANK; d++)
        map[d] = (int32_t)t->map.at[d];
    info.kind = t->tag == TILEIR_TENSOR_VIEW      ? TS_KIND_TENSOR_VIEW
                : t->tag == TILEIR_PARTITION_VIEW ? TS_KIND_PARTITION_VIEW
                : t->tag == TILEIR_STRIDED_VIEW   ? TS_KIND_STRIDED_VIEW
                                                  : TS_KIND_GATHER_SCATTER_VIEW;
    if (info.kind == TS_KIND_TENSOR_VIEW || info.kind == TS_KIND_STRIDED_VIEW)
        info.strides = t->strides.at;
    if (info.kind == TS_KIND_GATHER_SCATTER_VIEW)
        info.sparse_dim = (uint8_t)t->sparse_dim;
    else if (info.kind != TS_KIND_TENSOR_VIEW)
        info.dim_map = map;
    return ts_type_make(c->out, &info);
}

/* Types lie in each other at most three deep (verify.c), so this ends. */
static ts_type conv_type(conv *c, uint32_t type)
{
    const tileir_type *t = ts__tileir_type(c->m, type);
    if (!t || t->tag == TILEIR_FUNCTION)
        return TS_T_none;
    if (c->type[type])
        return c->type[type];
    ts_type made = ts__tileir_scalar(t->tag);
    if (t->tag == TILEIR_TOKEN)
        made = TS_T_token;
    else if (t->tag == TILEIR_PTR)
        made = ts_type_ptr(c->out, conv_type(c, t->elem), TS_GLOBAL);
    else if (t->tag == TILEIR_TILE)
        made = ts_type_tile(c->out, conv_type(c, t->elem), t->dims.n, t->dims.at);
    else if (!made)
        made = conv_view_type(c, t);
    return c->type[type] = made;
}

static ts_type conv_value_type(conv *c, uint32_t value)
{
    return conv_type(c, c->fn->value.at[value]);
}

static ts_val conv_opnd(const conv *c, const tileir_op *op, uint32_t i)
{
    return i < op->n_opnds ? c->value[op->opnd[i]] : 0;
}

/* Sets the first result. */
static void conv_set(conv *c, const tileir_op *op, ts_val value)
{
    c->value[op->first_result] = value;
}

static ts_str conv_text(conv *c, const tileir_attr *a)
{
    uint32_t i = (uint32_t)a->value;
    return i < c->m->str.n ? ts_intern(c->out, c->m->str.at[i].at, c->m->str.at[i].n) : 0;
}

/* ---- attributes ------------------------------------------------------------------------------------------- */

static uint32_t conv_attr_bits(const tileir_attr *a, bool second)
{
    static const uint32_t overflow[] = {0, TS_A_NSW, TS_A_NUW, TS_A_NSW | TS_A_NUW};
    switch (a->kind) {
    case TILEIR_KIND_round:
        return (uint32_t)a->value;
    case TILEIR_KIND_sign:
        return a->value ? 0 : second ? TS_A_UNSIGNED_B : TS_A_UNSIGNED;
    case TILEIR_KIND_overflow:
        return overflow[a->value & 3];
    case TILEIR_KIND_pred:
        return TS_A_PRED((uint32_t)a->value);
    case TILEIR_KIND_ordering:
        return a->value ? 0 : TS_A_UNORDERED;
    default:
        return 0;
    }
}

/* The ARITH word that attributes and flags say. */
static uint32_t conv_arith(const tileir_op *op)
{
    uint32_t bits = 0, bit;
    const char *name;
    for (uint32_t i = 0; i < op->n_attrs; i++)
        bits |= conv_attr_bits(&op->attr[i], op->code == TILEIR_mmai && i > 0);
    for (uint32_t i = 0; bit = ts__tileir_arith_bit(i, &name), name; i++)
        bits |= ts__tileir_has_flag(op, name) ? bit : 0;
    return bits;
}

/* What hints say for any architecture: one says it for all. */
static uint32_t conv_hints(const conv *c, const tileir_attr *hints)
{
    uint32_t bits = 0;
    for (uint32_t i = 0; i < hints->n; i++) {
        const tileir_attr *arch = &hints->items[i];
        for (uint32_t j = 0; arch->kind == TILEIR_KIND_dict && j < arch->n; j++) {
            tileir_hint hint = ts__tileir_hint(ts__tileir_str(c->m, arch->names[j]));
            uint64_t value = arch->items[j].value;
            if (hint == TILEIR_HINT_LATENCY && value >= 1 && value <= 10)
                bits = (bits & ~TS_M_LATENCY(15u)) | TS_M_LATENCY(value);
            else if (hint == TILEIR_HINT_TMA)
                bits |= TS_M_TMA(value ? TS_TMA_ALLOWED : TS_TMA_FORBIDDEN);
        }
    }
    return bits;
}

static uint32_t conv_memory(const conv *c, const tileir_op *op)
{
    const tileir_attr *scope = ts__tileir_attr(op, "scope"), *inbounds = ts__tileir_attr(op, "inbounds");
    uint32_t order = (uint32_t)ts__tileir_attr(op, "order")->value, mask = 0;
    for (uint32_t i = 0; i < inbounds->n && i < TS_MAX_RANK; i++)
        mask |= (uint32_t)(inbounds->numbers[i] != 0) << i;
    return TS_M_ORDER(order) | TS_M_SCOPE(scope->kind && order != TS_WEAK ? scope->value + 1 : 0) |
           TS_M_MODE(ts__tileir_attr(op, "mode")->value) | conv_hints(c, ts__tileir_attr(op, "hints")) |
           TS_M_INBOUNDS(mask);
}

/* ---- values ------------------------------------------------------------------------------------------------ */

static const uint32_t *conv_opnds(conv *c, const tileir_op *op)
{
    uint32_t *at = TS_NEW_N(c->arena, uint32_t, op->n_opnds + 1);
    for (uint32_t i = 0; at && i < op->n_opnds; i++)
        at[i] = conv_opnd(c, op, i);
    return at;
}

/* The same operation: same operands, at most one result, attributes that are ARITH bits. */
static ts_status conv_plain(conv *c, const tileir_op *op)
{
    const char *name = ts__tileir_rows[op->code].name;
    ts_op ours = ts_op_find(name, strlen(name));
    const uint32_t *opnds = conv_opnds(c, op);
    if (!opnds)
        return conv_nomem(c);
    if (ours == TS_OP_COUNT)
        return conv_fail(c, op, TS_UNSUPPORTED, "this operation is not supported");
    uint32_t aux = ts__ops[ours].attr == TS_ATTR_ARITH ? conv_arith(op) : 0;
    uint32_t flags = ts__tileir_opnd(op, "token", 0) != UINT32_MAX && op->code != TILEIR_memory_fence_alias_tko
                         ? TS_F_TOKEN
                         : 0;
    ts_type type = op->n_results ? conv_value_type(c, op->first_result) : TS_T_none;
    ts_val made = ts_emit(c->b, ours, type, op->n_opnds, opnds, aux, flags);
    if (op->n_results)
        conv_set(c, op, made);
    return TS_OK;
}

static uint64_t conv_little(const char *at, uint32_t n)
{
    uint64_t value = 0;
    for (uint32_t i = 0; i < n && i < 8; i++)
        value |= (uint64_t)(unsigned char)at[i] << 8 * i;
    return value;
}

/* tf32 has 19 bits in a file and is an f32 in memory here. */
static uint64_t conv_payload(ts_type elem, const char *at, uint32_t n)
{
    uint64_t value = conv_little(at, n);
    return elem == TS_T_tf32 ? value << 13 : elem == TS_T_i1 ? value != 0 : value;
}

/* Elements of a file as they lie in memory here. */
static ts_val conv_dense(conv *c, ts_type type, const tileir_bytes *data)
{
    ts_type elem = ts_type_elem(c->out, type);
    uint32_t count = (uint32_t)ts_type_count(c->out, type), bits = ts_type_bits(c->out, type);
    uint32_t each = elem == TS_T_tf32 ? 3 : (bits + 7) / 8;
    size_t n = ((uint64_t)count * bits + 7) / 8;
    char *bytes = ts__arena_get(c->arena, n + 8);
    for (uint32_t i = 0; bytes && i < count; i++) {
        uint64_t value = elem == TS_T_i1 ? (unsigned char)data->at[i / 8] >> i % 8 & 1u
                                         : conv_payload(elem, data->at + (size_t)i * each, each);
        for (uint32_t k = 0; k < bits / 8; k++)
            bytes[(size_t)i * (bits / 8) + k] = (char)(value >> 8 * k);
        if (bits == 4)
            bytes[i / 2] = (char)(bytes[i / 2] | (char)((value & 15) << 4 * (i % 2)));
    }
    return bytes ? ts_dense_const(c->b, type, bytes, n) : 0;
}

static ts_status conv_constant(conv *c, const tileir_op *op)
{
    ts_type type = conv_value_type(c, op->first_result), elem = ts_type_elem(c->out, type);
    const tileir_bytes *data = &c->m->constant.at[ts__tileir_attr(op, "value")->value];
    uint32_t bits = ts_type_bits(c->out, type), each = elem == TS_T_tf32 ? 3 : (bits + 7) / 8;
    bool packed = elem == TS_T_i1 && ts_type_count(c->out, type) > 1 && data->at[0] != 0 && data->at[0] != (char)0xFF;
    bool same = data->n == each && !packed;
    uint64_t payload = conv_payload(elem, data->at, each);
    int64_t number = (int64_t)(payload << (64 - bits)) >> (64 - bits);
    conv_set(c, op, !same ? conv_dense(c, type, data)
                    : ts_type_is_int(c->out, type) && elem != TS_T_i1 ? ts_int(c->b, type, number)
                                                                      : ts_bits(c->b, type, payload));
    return TS_OK;
}

static ts_status conv_assume(conv *c, const tileir_op *op)
{
    const tileir_attr *a = &op->attr[0];
    uint32_t words[2 + TS_MAX_RANK] = {0}, n = 6;
    if (a->kind == TILEIR_KIND_div_by) {
        words[0] = TS_ASSUME_DIV_BY;
        words[1] = (uint32_t)a->numbers[0];
        words[2] = (uint32_t)((uint64_t)a->numbers[0] >> 32);
        words[3] = a->has == 3;
        words[4] = (uint32_t)a->numbers[1];
        words[5] = (uint32_t)a->numbers[2];
    } else if (a->kind == TILEIR_KIND_bounded) {
        n = 7;
        words[0] = TS_ASSUME_BOUNDED;
        for (uint32_t i = 0; i < 2; i++) {
            words[1 + 3 * i] = a->has >> i & 1;
            words[2 + 3 * i] = (uint32_t)a->numbers[i];
            words[3 + 3 * i] = (uint32_t)((uint64_t)a->numbers[i] >> 32);
        }
    } else if (a->kind == TILEIR_KIND_same && a->n <= TS_MAX_RANK) {
        n = 2 + a->n;
        words[0] = TS_ASSUME_SAME;
        words[1] = a->n;
        for (uint32_t i = 0; i < a->n; i++)
            words[2 + i] = (uint32_t)a->numbers[i];
    } else
        return conv_fail(c, op, TS_VERIFY, "assume takes div_by, same or bounded");
    ts_val x = conv_opnd(c, op, 0);
    uint32_t at = ts_pool_add(c->b, n, words);
    conv_set(c, op, ts_emit(c->b, TS_OP_assume, conv_value_type(c, op->first_result), 1, &x, at, 0));
    return TS_OK;
}

static ts_status conv_permute(conv *c, const tileir_op *op)
{
    const tileir_attr *axes = &op->attr[0];
    uint32_t words[1 + TS_MAX_RANK] = {axes->n};
    ts_val x = conv_opnd(c, op, 0);
    if (axes->n > TS_MAX_RANK)
        return conv_fail(c, op, TS_VERIFY, "more than 8 axes");
    for (uint32_t i = 0; i < axes->n; i++)
        words[1 + i] = (uint32_t)axes->numbers[i];
    uint32_t at = ts_pool_add(c->b, 1 + axes->n, words);
    conv_set(c, op, ts_emit(c->b, TS_OP_permute, conv_value_type(c, op->first_result), 1, &x, at, 0));
    return TS_OK;
}

static ts_status conv_cat(conv *c, const tileir_op *op)
{
    ts_val both[] = {conv_opnd(c, op, 0), conv_opnd(c, op, 1)};
    uint32_t axis = (uint32_t)TS_MIN(op->attr[0].value, (uint64_t)TS_MAX_RANK);
    conv_set(c, op, ts_emit(c->b, TS_OP_cat, conv_value_type(c, op->first_result), 2, both, axis, 0));
    return TS_OK;
}

/* Part, tile, indices; ours has the tile first. */
static ts_status conv_insert(conv *c, const tileir_op *op)
{
    uint32_t *opnds = (uint32_t *)(uintptr_t)conv_opnds(c, op);
    if (!opnds)
        return conv_nomem(c);
    if (op->n_opnds < 2)
        return conv_fail(c, op, TS_VERIFY, "insert takes a part and a tile");
    ts_val part = opnds[0];
    opnds[0] = opnds[1];
    opnds[1] = part;
    conv_set(c, op, ts_emit(c->b, TS_OP_insert, conv_value_type(c, op->first_result), op->n_opnds, opnds, 0, 0));
    return TS_OK;
}

/* Several results that differ in their axis: the used ones, an operation each. */
static ts_status conv_axes(conv *c, const tileir_op *op)
{
    const char *name = ts__tileir_rows[op->code].name;
    ts_op ours = ts_op_find(name, strlen(name));
    ts_val x = conv_opnd(c, op, 0);
    for (uint32_t i = 0; i < op->n_results; i++)
        if (c->uses[op->first_result + i])
            c->value[op->first_result + i] =
                ts_emit(c->b, ours, conv_value_type(c, op->first_result + i), op->n_opnds, &x, i, 0);
    return TS_OK;
}

/* ---- memory ------------------------------------------------------------------------------------------------- */

static ts_status conv_access(conv *c, const tileir_op *op)
{
    const char *name = ts__tileir_rows[op->code].name, *at = ts__tileir_rows[op->code].recipe;
    const uint8_t *order = ts__tileir_order((tileir_code)op->code);
    uint32_t *opnds = TS_NEW_N(c->arena, uint32_t, op->n_opnds + 1), n = 0, flags = 0;
    tileir_item item;
    if (!opnds)
        return conv_nomem(c);
    for (uint32_t i = 0; i < op->n_groups; i++) {
        uint32_t first = 0;
        for (uint32_t g = 0; g < order[i]; g++)
            first += op->group[g];
        for (uint32_t k = 0; k < op->group[order[i]]; k++)
            opnds[n++] = c->value[op->opnd[first + k]];
    }
    for (uint32_t g = 0; ts__tileir_next(&at, &item);)
        if (item.what == '%')
            flags |= op->group[g++] ? ts__tileir_role(&item) : 0u;
    ts_val made = ts_emit(c->b, ts_op_find(name, strlen(name)), conv_value_type(c, op->first_result), n, opnds,
                          conv_memory(c, op), flags);
    conv_set(c, op, made);
    if (op->n_results == 2 && c->uses[op->first_result + 1])
        c->value[op->first_result + 1] = ts_emit(c->b, TS_OP_token, TS_T_token, 1, &made, 0, 0);
    return TS_OK;
}

static ts_status conv_join(conv *c, const tileir_op *op)
{
    if (op->n_opnds)
        return conv_plain(c, op);
    conv_set(c, op, ts_emit(c->b, TS_OP_make_token, TS_T_token, 0, NULL, 0, 0));
    return TS_OK;
}

/* print_tko, assert, get_global: an attribute that is a text. */
static ts_status conv_string(conv *c, const tileir_op *op)
{
    const char *name = ts__tileir_rows[op->code].name;
    const uint32_t *opnds = conv_opnds(c, op);
    if (!opnds)
        return conv_nomem(c);
    bool token = op->code == TILEIR_print_tko && ts__tileir_opnd(op, "token", 0) != UINT32_MAX;
    ts_type type = op->n_results ? conv_value_type(c, op->first_result) : TS_T_none;
    ts_val made = ts_emit(c->b, ts_op_find(name, strlen(name)), type, op->n_opnds, opnds, conv_text(c, &op->attr[0]),
                          token ? TS_F_TOKEN : 0);
    if (op->n_results)
        conv_set(c, op, made);
    return TS_OK;
}

static ts_status conv_alloca(conv *c, const tileir_op *op)
{
    ts_type type = conv_value_type(c, op->first_result);
    if (ts_type_kind(c->out, type) != TS_KIND_PTR)
        return conv_fail(c, op, TS_VERIFY, "alloca gives a pointer");
    uint64_t bits = ts_type_bits(c->out, ts_type_get(c->out, type)->elem);
    uint64_t count = ts__tileir_attr(op, "count")->value, align = ts__tileir_attr(op, "align")->value;
    if (count > 1 << 24 || align > 1 << 24)
        return conv_fail(c, op, TS_UNSUPPORTED, "more than 2^24 elements, or so large an alignment");
    uint32_t words[] = {(uint32_t)((count * bits + 7) / 8), (uint32_t)align, ts__tileir_has_flag(op, "global")};
    conv_set(c, op, ts_emit(c->b, TS_OP_alloca, type, 0, NULL, ts_pool_add(c->b, 3, words), 0));
    return TS_OK;
}

/* ---- regions -------------------------------------------------------------------------------------------------- */

static ts_status conv_ops(conv *c, const tileir_region *region);

/* The args of a region just opened: as many as wanted. */
static ts_status conv_args(conv *c, const tileir_op *op, ts_val opener, uint32_t wanted)
{
    const tileir_region *region = &op->region[0];
    const ts_fn *fn = c->b->fn;
    if (region->n_args != wanted)
        return conv_fail(c, op, TS_VERIFY, "the region has the wrong number of arguments");
    for (uint32_t i = 0; i < wanted; i++) {
        ts_val arg = ts_region_arg(fn, opener, i);
        if (arg && ts_val_type(fn, arg) != conv_value_type(c, region->first_arg + i))
            return conv_fail(c, op, TS_VERIFY, "an argument of the region has the wrong type");
        c->value[region->first_arg + i] = arg;
    }
    return TS_OK;
}

static ts_status conv_end(conv *c, const tileir_op *op, ts_val opener)
{
    ts_type *types = TS_NEW_N(c->arena, ts_type, op->n_results + 1);
    if (!types)
        return conv_nomem(c);
    for (uint32_t i = 0; i < op->n_results; i++)
        types[i] = conv_value_type(c, op->first_result + i);
    ts_end(c->b, opener, op->n_results, types);
    for (uint32_t i = 0; i < op->n_results; i++)
        c->value[op->first_result + i] = ts_res(c->b, opener, i);
    return TS_OK;
}

static ts_type conv_opnd_type(conv *c, const tileir_op *op, uint32_t i)
{
    return conv_value_type(c, op->opnd[i]);
}

static ts_status conv_if(conv *c, const tileir_op *op)
{
    if (conv_opnd_type(c, op, 0) != TS_T_i1)
        return conv_fail(c, op, TS_VERIFY, "the condition of an if is an i1");
    ts_val opener = ts_if_begin(c->b, conv_opnd(c, op, 0));
    for (uint32_t i = 0; i < 2; i++) {
        if (i)
            ts_else(c->b);
        if (op->region[i].n_args)
            return conv_fail(c, op, TS_VERIFY, "the regions of an if have no arguments");
        if (op->region[i].n_blocks)
            TS_TRY(conv_ops(c, &op->region[i]));
        else
            ts_term(c->b, TS_OP_yield, 0, NULL);
    }
    return conv_end(c, op, opener);
}

static ts_status conv_for(conv *c, const tileir_op *op)
{
    const uint32_t *x = conv_opnds(c, op);
    if (!x)
        return conv_nomem(c);
    if (op->n_opnds < 3 || conv_opnd_type(c, op, 0) != conv_opnd_type(c, op, 1) ||
        conv_opnd_type(c, op, 0) != conv_opnd_type(c, op, 2))
        return conv_fail(c, op, TS_VERIFY, "a for has two bounds and a step of one type");
    ts_val opener = ts_for_begin(c->b, x[0], x[1], x[2], op->n_opnds - 3, x + 3, conv_arith(op));
    TS_TRY(conv_args(c, op, opener, op->n_opnds - 2));
    TS_TRY(conv_ops(c, &op->region[0]));
    return conv_end(c, op, opener);
}

static ts_status conv_loop(conv *c, const tileir_op *op)
{
    const uint32_t *x = conv_opnds(c, op);
    if (!x)
        return conv_nomem(c);
    ts_val opener = ts_loop_begin(c->b, op->n_opnds, x);
    TS_TRY(conv_args(c, op, opener, op->n_opnds));
    TS_TRY(conv_ops(c, &op->region[0]));
    return conv_end(c, op, opener);
}

/* Payloads as ts_reduce_begin takes them: integers sign-extended. */
static uint64_t conv_identity(const conv *c, const tileir_attr *a, ts_type elem)
{
    uint32_t bits = ts_type_bits(c->out, elem);
    if (elem == TS_T_i1)
        return a->value & 1;
    if (a->kind == TILEIR_KIND_int && bits < 64)
        return (uint64_t)((int64_t)(a->value << (64 - bits)) >> (64 - bits));
    return bits < 64 ? a->value & (((uint64_t)1 << bits) - 1) : a->value;
}

static ts_status conv_reduce(conv *c, const tileir_op *op)
{
    const tileir_attr *identities = ts__tileir_attr(op, "identities");
    const uint32_t *x = conv_opnds(c, op);
    uint64_t *payloads = TS_NEW_N(c->arena, uint64_t, op->n_opnds + 1);
    uint32_t axis = (uint32_t)TS_MIN(ts__tileir_attr(op, "dim")->value, (uint64_t)TS_MAX_RANK);
    if (!x || !payloads)
        return conv_nomem(c);
    if (!op->n_opnds || identities->n != op->n_opnds)
        return conv_fail(c, op, TS_VERIFY, "a reduction has an identity for each input");
    for (uint32_t i = 0; i < op->n_opnds; i++) {
        ts_type elem = ts_type_elem(c->out, conv_value_type(c, op->opnd[i]));
        if (!ts_type_is_scalar(elem) || axis >= ts_type_rank(c->out, conv_opnd_type(c, op, i)))
            return conv_fail(c, op, TS_VERIFY, "a reduction is of tiles of numbers, along one of their axes");
        payloads[i] = conv_identity(c, &identities->items[i], elem);
    }
    ts_val opener = ts_reduce_begin(c->b, op->code == TILEIR_reduce ? TS_OP_reduce : TS_OP_scan, axis,
                                    ts__tileir_attr(op, "reverse")->value != 0, op->n_opnds, x, payloads);
    TS_TRY(conv_args(c, op, opener, 2 * op->n_opnds));
    TS_TRY(conv_ops(c, &op->region[0]));
    return conv_end(c, op, opener);
}

static ts_status conv_term(conv *c, const tileir_op *op)
{
    const char *name = ts__tileir_rows[op->code].name;
    const uint32_t *opnds = conv_opnds(c, op);
    if (!opnds)
        return conv_nomem(c);
    ts_term(c->b, ts_op_find(name, strlen(name)), op->n_opnds, opnds);
    return TS_OK;
}

/* ---- the table -------------------------------------------------------------------------------------------------- */

typedef ts_status conv_fn(conv *c, const tileir_op *op);

static conv_fn *const conv_table[TILEIR_CODES] = {
    /* all others: conv_plain */
    [TILEIR_constant] = conv_constant,
    [TILEIR_assume] = conv_assume,
    [TILEIR_permute] = conv_permute,
    [TILEIR_cat] = conv_cat,
    [TILEIR_insert] = conv_insert,
    [TILEIR_get_tile_block_id] = conv_axes,
    [TILEIR_get_num_tile_blocks] = conv_axes,
    [TILEIR_get_tensor_shape] = conv_axes,
    [TILEIR_get_index_space_shape] = conv_axes,
    [TILEIR_load_view_tko] = conv_access,
    [TILEIR_store_view_tko] = conv_access,
    [TILEIR_atomic_red_view_tko] = conv_access,
    [TILEIR_load_ptr_tko] = conv_access,
    [TILEIR_store_ptr_tko] = conv_access,
    [TILEIR_atomic_cas_tko] = conv_access,
    [TILEIR_atomic_rmw_tko] = conv_access,
    [TILEIR_join_tokens] = conv_join,
    [TILEIR_print_tko] = conv_string,
    [TILEIR_assert] = conv_string,
    [TILEIR_get_global] = conv_string,
    [TILEIR_alloca] = conv_alloca,
    [TILEIR_if] = conv_if,
    [TILEIR_for] = conv_for,
    [TILEIR_loop] = conv_loop,
    [TILEIR_reduce] = conv_reduce,
    [TILEIR_scan] = conv_reduce,
    [TILEIR_break] = conv_term,
    [TILEIR_continue] = conv_term,
    [TILEIR_return] = conv_term,
    [TILEIR_yield] = conv_term,
};

static ts_loc conv_loc(conv *c, uint32_t loc, uint32_t depth)
{
    if (!loc || loc >= c->m->loc.n || depth > 32)
        return 0;
    const tileir_loc *at = &c->m->loc.at[loc];
    if (!at->line || at->line > INT32_MAX || at->col > INT32_MAX)
        return 0;
    tileir_attr file = {.value = at->file - 1}, function = {.value = at->function - 1};
    uint32_t line = (uint32_t)at->line, col = (uint32_t)at->col;
    ts_loc_info info = {conv_text(c, &file), line, col, line, col, conv_text(c, &function),
                        conv_loc(c, at->caller, depth + 1)};
    return ts_loc_add(c->out, &info);
}

static ts_status conv_ops(conv *c, const tileir_region *region)
{
    for (uint32_t i = 0; i < region->op.n; i++) {
        const tileir_op *op = &region->op.at[i];
        conv_fn *fn = conv_table[op->code] ? conv_table[op->code] : conv_plain;
        ts_builder_at(c->b, conv_loc(c, op->loc, 0));
        TS_TRY(fn(c, op));
    }
    return TS_OK;
}

/* ---- functions -------------------------------------------------------------------------------------------------- */

static void conv_count(conv *c, const tileir_region *region)
{
    for (uint32_t i = 0; i < region->op.n; i++) {
        const tileir_op *op = &region->op.at[i];
        for (uint32_t k = 0; k < op->n_opnds; k++)
            c->uses[op->opnd[k]]++;
        for (uint32_t k = 0; k < op->n_regions; k++)
            conv_count(c, &op->region[k]);
    }
}

/* Hints of a kernel: of any architecture, as those of accesses. */
static void conv_kernel_hints(const conv *c, ts_fn *fn)
{
    for (uint32_t i = 0; i < c->fn->hints.n; i++) {
        const tileir_attr *arch = &c->fn->hints.items[i];
        for (uint32_t j = 0; arch->kind == TILEIR_KIND_dict && j < arch->n; j++) {
            tileir_hint hint = ts__tileir_hint(ts__tileir_str(c->m, arch->names[j]));
            uint64_t value = arch->items[j].value;
            if (hint == TILEIR_HINT_CTAS && value <= 16 && ts_is_pow2((int64_t)value))
                fn->num_ctas = (uint8_t)value;
            else if (hint == TILEIR_HINT_OCCUPANCY && value <= 32)
                fn->occupancy = (uint8_t)value;
            else if (hint == TILEIR_HINT_WARPS && value <= 32)
                fn->num_warps = (uint8_t)value;
        }
    }
}

/* Parameters are the first instructions of a function. A launch passes arrays of bools as pointers to i8; where the
 * file has a pointer to i1, one is made of that: an i1 takes a byte in memory, too. */
static void conv_params(conv *c, const tileir_fn *fn)
{
    ts_type bytes = ts_type_ptr(c->out, TS_T_i8, TS_GLOBAL), bools = ts_type_ptr(c->out, TS_T_i1, TS_GLOBAL);
    for (uint32_t i = 0; i < fn->body.n_args; i++) {
        ts_type type = conv_value_type(c, i);
        c->value[i] = ts_fn_param(c->b, type == bools ? bytes : type);
    }
    for (uint32_t i = 0; i < fn->body.n_args; i++)
        if (conv_value_type(c, i) == bools)
            c->value[i] = ts_emit(c->b, TS_OP_ptr_to_ptr, bools, 1, &c->value[i], 0, 0);
}

static ts_status conv_function(conv *c, const tileir_fn *fn)
{
    const char *name = ts__tileir_str(c->m, fn->name);
    const tileir_type *type = ts__tileir_type(c->m, fn->type);
    if (!fn->entry || type->n_params != type->dims.n)
        return ts_fail(c->err, TS_UNSUPPORTED, "Tile IR: '%s' is a function; kernels alone are supported", name);
    c->fn = fn;
    c->value = TS_NEW_N(c->arena, ts_val, fn->value.n + 1);
    c->uses = TS_NEW_N(c->arena, uint32_t, fn->value.n + 1);
    ts_fn *made = ts_fn_create(c->out, name, TS_LEVEL_T);
    TS_TRY(ts_builder_create(made, &c->b, c->err));
    ts_status status = TS_OK;
    if (!c->value || !c->uses)
        status = conv_nomem(c);
    made->opt_level = 3;
    conv_kernel_hints(c, made);
    if (status == TS_OK)
        conv_count(c, &fn->body);
    if (status == TS_OK) {
        conv_params(c, fn);
        status = conv_ops(c, &fn->body);
    }
    if (status == TS_OK)
        status = ts_builder_status(c->b, c->err);
    ts_builder_destroy(c->b);
    return status;
}

static ts_status conv_global(conv *c, const tileir_global *g)
{
    ts_arena *arena = c->out->arena;
    ts_type type = conv_type(c, g->type);
    const tileir_bytes *data = &c->m->constant.at[g->constant];
    uint64_t n = ((uint64_t)ts_type_count(c->out, type) * ts_type_bits(c->out, type) + 7) / 8;
    uint32_t each = (ts_type_bits(c->out, type) + 7) / 8;
    if (ts_type_elem(c->out, type) == TS_T_i1 || ts_type_elem(c->out, type) == TS_T_tf32 || n < each)
        return ts_fail(c->err, TS_UNSUPPORTED, "Tile IR: global '%s' is of a type that globals cannot have",
                       ts__tileir_str(c->m, g->name));
    char *bytes = ts__arena_get(arena, n + 1);
    tileir_attr name = {.value = g->name};
    if (!bytes)
        return conv_nomem(c);
    for (uint64_t i = 0; i < n; i++)
        bytes[i] = data->n == each ? data->at[i % each] : i < data->n ? data->at[i] : 0;
    ts_dense dense = {bytes, n};
    bool kept = TS_PUSH(arena, &c->out->dense, dense);
    ts_global made = {conv_text(c, &name), type, c->out->dense.n, g->align ? g->align : 1, g->is_constant};
    kept = kept && TS_PUSH(arena, &c->out->globals, made);
    return kept ? TS_OK : conv_nomem(c);
}

static ts_status conv_module(conv *c, const char *kernel)
{
    bool found = !kernel;
    c->type = TS_NEW_N(c->arena, ts_type, c->m->type.n + 1);
    if (!c->type)
        return conv_nomem(c);
    for (uint32_t i = 0; i < c->m->global.n; i++)
        TS_TRY(conv_global(c, &c->m->global.at[i]));
    for (uint32_t i = 0; i < c->m->fn.n; i++) {
        if (kernel && strcmp(ts__tileir_str(c->m, c->m->fn.at[i].name), kernel) != 0)
            continue;
        TS_TRY(conv_function(c, &c->m->fn.at[i]));
        found = true;
    }
    if (!found)
        return ts_fail(c->err, TS_NOTFOUND, "Tile IR: the module has no kernel '%s'", kernel);
    if (c->arena->failed)
        return conv_nomem(c);
    return ts_module_verify(c->out, c->err);
}

ts_status ts_tileir_to_ir(const ts_tileir *module, const char *kernel, const ts_alloc *alloc, ts_module **out,
                          ts_error *err)
{
    TS_NEED(err, out);
    *out = NULL;
    TS_NEED(err, module);
    const ts_tileir *m = module;
    ts_arena arena;
    conv c = {.m = m, .arena = &arena, .err = err};
    TS_TRY(ts_module_create(alloc, &c.out, err));
    ts__arena_init(&arena, m->arena.alloc);
    ts_status status = conv_module(&c, kernel);
    ts__arena_deinit(&arena);
    if (status == TS_OK)
        *out = c.out;
    else
        ts_module_destroy(c.out);
    return status;
}
