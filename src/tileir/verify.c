/* SPDX-License-Identifier: Apache-2.0
 *
 * The structure of a module: what everything behind the reader may rely on. Types refer to types that fit, enumerations
 * have values that exist, every region ends in a terminator, results are as many as an operation has. Whether types of
 * operands fit each operation is checked when it is converted: ts_module_verify knows those rules.
 */
#include "tileir/tileir.h"

typedef struct verify {
    const ts_tileir *m;
    const tileir_fn *fn;
    ts_error *err;
} verify;

/* ---- types --------------------------------------------------------------------------------------------- */

static ts_status verify_bad_type(const verify *v, uint32_t type, const char *text)
{
    return ts_fail(v->err, TS_VERIFY, "Tile IR: type %u: %s", type, text);
}

static uint32_t verify_tag(const verify *v, uint32_t type)
{
    const tileir_type *t = ts__tileir_type(v->m, type);
    return t ? t->tag : UINT32_MAX;
}

static bool verify_extents(tileir_list list, bool dynamic)
{
    for (uint32_t i = 0; i < list.n; i++)
        if (list.at[i] < 0 && !(dynamic && list.at[i] == INT64_MIN))
            return false;
    return list.n <= TS_MAX_RANK;
}

static ts_status verify_view(const verify *v, uint32_t i, const tileir_type *t)
{
    if (verify_tag(v, t->elem) != TILEIR_TENSOR_VIEW)
        return verify_bad_type(v, i, "a view is of a tensor view");
    uint32_t rank = ts__tileir_type(v->m, t->elem)->dims.n;
    bool mapped = t->tag != TILEIR_GATHER_SCATTER_VIEW;
    if (!verify_extents(t->dims, false) || t->dims.n != rank || (mapped && t->map.n != rank) || t->padding > 5)
        return verify_bad_type(v, i, "extents, map and padding of a view fit its tensor view");
    if (t->tag == TILEIR_STRIDED_VIEW && (t->strides.n != rank || !verify_extents(t->strides, false)))
        return verify_bad_type(v, i, "a strided view has a step for each axis");
    if (!mapped && t->sparse_dim >= rank)
        return verify_bad_type(v, i, "the sparse axis does not exist");
    for (uint32_t d = 0; mapped && d < rank; d++)
        if (t->map.at[d] < 0 || t->map.at[d] >= rank)
            return verify_bad_type(v, i, "the map names an axis that does not exist");
    return TS_OK;
}

static ts_status verify_type(const verify *v, uint32_t i, const tileir_type *t)
{
    uint32_t elem = verify_tag(v, t->elem);
    switch (t->tag) {
    case TILEIR_PTR:
        return ts__tileir_scalar(elem) && t->attr <= 1 ? TS_OK : verify_bad_type(v, i, "a pointer points to numbers");
    case TILEIR_TILE:
        if (!ts__tileir_scalar(elem) && elem != TILEIR_PTR)
            return verify_bad_type(v, i, "a tile is of numbers or pointers");
        for (uint32_t d = 0; d < t->dims.n; d++)
            if (!ts_is_pow2(t->dims.at[d]) || t->dims.at[d] > 1 << 24)
                return verify_bad_type(v, i, "extents of a tile are powers of two up to 2^24");
        return t->dims.n <= TS_MAX_RANK ? TS_OK : verify_bad_type(v, i, "a tile has at most 8 axes");
    case TILEIR_TENSOR_VIEW:
        if (!ts__tileir_scalar(elem) || t->dims.n != t->strides.n || t->attr > 1 || !verify_extents(t->dims, true))
            return verify_bad_type(v, i, "a tensor view has numbers, and as many strides as extents, at most 8");
        return TS_OK;
    case TILEIR_PARTITION_VIEW:
    case TILEIR_STRIDED_VIEW:
    case TILEIR_GATHER_SCATTER_VIEW:
        return verify_view(v, i, t);
    case TILEIR_FUNCTION:
        for (uint32_t d = 0; d < t->dims.n; d++)
            if (t->dims.at[d] < 0 || t->dims.at[d] >= v->m->type.n ||
                verify_tag(v, (uint32_t)t->dims.at[d]) == TILEIR_FUNCTION)
                return verify_bad_type(v, i, "a parameter or result has no type, or is a function");
        return TS_OK;
    default:
        return TS_OK;
    }
}

/* ---- attributes ------------------------------------------------------------------------------------------ */

static ts_status verify_bad(const verify *v, const tileir_op *op, const char *text)
{
    ts_text shown;
    ts__text_init(&shown, v->m->arena.alloc);
    ts__tileir_print_op(v->m, v->fn, op, &shown);
    ts_status status = ts_fail(v->err, TS_VERIFY, "Tile IR: kernel '%s': %s\n  %.600s",
                               ts__tileir_str(v->m, v->fn->name), text, ts__text_get(&shown));
    ts__text_deinit(&shown);
    return status;
}

/* Whole bytes for each element; tf32 has 19 bits. */
static uint64_t verify_bytes(ts_type scalar)
{
    static const uint8_t bits[] = {
        [TS_T_none] = 0,
#define TS_SCALAR(name, n, class, tag) [TS_T_##name] = n,
#include "tessera/type.def"
    };
    return scalar == TS_T_tf32 ? 3 : (bits[scalar] + 7u) / 8;
}

/* Elements of a tile, or one that stands for all. Of several i1, eight are in a byte. */
static bool verify_constant(const verify *v, uint32_t type, uint64_t constant)
{
    const tileir_type *t = ts__tileir_type(v->m, type), *elem = ts__tileir_elem(v->m, type);
    if (!t || t->tag != TILEIR_TILE || constant >= v->m->constant.n)
        return false;
    ts_type scalar = ts__tileir_scalar(elem->tag);
    uint64_t bytes = verify_bytes(scalar), count = 1, found = v->m->constant.at[constant].n;
    for (uint32_t d = 0; d < t->dims.n; d++) {
        count *= (uint64_t)t->dims.at[d];
        if (count > 1u << 30)
            return false;
    }
    return bytes && (found == bytes || found == (scalar == TS_T_i1 ? (count + 7) / 8 : count * bytes));
}

static ts_status verify_attrs(const verify *v, const tileir_op *op)
{
    for (uint32_t i = 0; i < op->n_attrs; i++) {
        const tileir_attr *a = &op->attr[i];
        if (a->kind >= TILEIR_KIND_round && !ts__tileir_word((tileir_kind)a->kind, a->value))
            return verify_bad(v, op, "an attribute has a value that does not exist");
        if (a->kind == TILEIR_KIND_bool && a->value > 1)
            return verify_bad(v, op, "a bool is neither 0 nor 1");
    }
    return TS_OK;
}

/* ---- operations ------------------------------------------------------------------------------------------ */

/* How many results an operation with a counted list of them has; TILEIR_MANY: any. */
static uint32_t verify_n_results(const tileir_op *op)
{
    switch ((tileir_code)op->code) {
    case TILEIR_load_view_tko:
        return 2;
    case TILEIR_print_tko:
    case TILEIR_store_view_tko:
    case TILEIR_atomic_red_view_tko:
    case TILEIR_make_tensor_view:
    case TILEIR_join_tokens:
    case TILEIR_extract:
    case TILEIR_insert:
        return 1;
    case TILEIR_break:
    case TILEIR_continue:
    case TILEIR_return:
    case TILEIR_yield:
        return 0;
    default:
        return TILEIR_MANY;
    }
}

static bool verify_ends(const tileir_op *op)
{
    return op->code == TILEIR_break || op->code == TILEIR_continue || op->code == TILEIR_return ||
           op->code == TILEIR_yield;
}

static ts_status verify_region(const verify *v, const tileir_region *region, const tileir_op *opener);

static ts_status verify_op(const verify *v, const tileir_op *op)
{
    uint32_t wanted = verify_n_results(op);
    TS_TRY(verify_attrs(v, op));
    if (wanted != TILEIR_MANY && op->n_results != wanted)
        return verify_bad(v, op, "the number of results is wrong");
    for (uint32_t i = 0; i < op->n_results; i++)
        if (verify_tag(v, v->fn->value.at[op->first_result + i]) == TILEIR_FUNCTION)
            return verify_bad(v, op, "a result is a function");
    uint8_t kind = op->n_attrs ? op->attr[0].kind : TILEIR_ABSENT;
    if (op->code == TILEIR_assume && kind != TILEIR_KIND_div_by && kind != TILEIR_KIND_same &&
        kind != TILEIR_KIND_bounded)
        return verify_bad(v, op, "assume takes div_by, same or bounded");
    if (op->code == TILEIR_constant &&
        !verify_constant(v, v->fn->value.at[op->first_result], ts__tileir_attr(op, "value")->value))
        return verify_bad(v, op, "the constant has not as many bytes as its type");
    for (uint32_t i = 0; i < op->n_regions; i++) {
        if (!op->region[i].n_blocks && !(op->code == TILEIR_if && i == 1))
            return verify_bad(v, op, "a region is empty");
        if (op->region[i].n_blocks)
            TS_TRY(verify_region(v, &op->region[i], op));
    }
    return TS_OK;
}

static ts_status verify_region(const verify *v, const tileir_region *region, const tileir_op *opener)
{
    for (uint32_t i = 0; i < region->op.n; i++) {
        const tileir_op *op = &region->op.at[i];
        if (verify_ends(op) != (i + 1 == region->op.n))
            return verify_bad(v, op, verify_ends(op) ? "something follows the end of a region"
                                                     : "a region ends without yield, continue, break or return");
        TS_TRY(verify_op(v, op));
    }
    if (!region->op.n)
        return opener ? verify_bad(v, opener, "a region has no operations")
                      : ts_fail(v->err, TS_VERIFY, "Tile IR: kernel '%s' has no operations",
                                ts__tileir_str(v->m, v->fn->name));
    return TS_OK;
}

static ts_status verify_global(const verify *v, const tileir_global *g)
{
    if (ts__tileir_type(v->m, g->type) && verify_constant(v, g->type, g->constant) &&
        (g->align == 0 || ts_is_pow2(g->align)))
        return TS_OK;
    return ts_fail(v->err, TS_VERIFY, "Tile IR: global '%s': type, data and alignment do not fit",
                   ts__tileir_str(v->m, g->name));
}

ts_status ts__tileir_verify(const ts_tileir *m, ts_error *err)
{
    verify v = {m, NULL, err};
    for (uint32_t i = 0; i < m->type.n; i++)
        TS_TRY(verify_type(&v, i, &m->type.at[i]));
    for (uint32_t i = 0; i < m->global.n; i++)
        TS_TRY(verify_global(&v, &m->global.at[i]));
    for (uint32_t i = 0; i < m->fn.n; i++) {
        v.fn = &m->fn.at[i];
        TS_TRY(verify_region(&v, &v.fn->body, NULL));
    }
    return TS_OK;
}
