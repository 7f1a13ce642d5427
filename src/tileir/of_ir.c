/* SPDX-License-Identifier: Apache-2.0
 *
 * From our own IR to the structure of a file, the mirror of to_ir.c. Operations of the same name go over by one rule
 * that walks the recipe, the others have a function each. Every value is a tile there, of rank 0 for our scalars.
 * Operations that only we have (math functions, complex numbers, calls) are an error that names them.
 */
#include "ir/format.h"
#include "ir/ir.h"
#include "ir/scalar.h"
#include "tileir/tileir.h"

typedef struct back {
    ts_tileir *m;
    const ts_fn *from;
    tileir_fn *fn;
    ts_arena *scratch;
    ts_shape shape;
    uint32_t *value;      /* of each instruction: its value in the file */
    uint32_t *type;       /* of each type of ours: 1 + its number in the file */
    uint32_t n_types;
    uint32_t *place;      /* of each place of ours: 1 + its attribute in the file; 0: not made yet */
    uint32_t loc;         /* the attribute of the operation that is made */
    uint32_t version;     /* the oldest that must be able to say it */
    const char *arch;
    ts_error *err;
} back;

static ts_status back_nomem(const back *b)
{
    return ts_fail(b->err, TS_NOMEM, "out of memory while making Tile IR");
}

/* ---- tables ------------------------------------------------------------------------------------------------ */

static uint32_t back_keep(back *b, const void *bytes, uint32_t n, bool constant)
{
    ts_arena *arena = &b->m->arena;
    tileir_bytes *at = constant ? b->m->constant.at : b->m->str.at;
    uint32_t count = constant ? b->m->constant.n : b->m->str.n;
    for (uint32_t i = 0; i < count; i++)
        if (at[i].n == n && memcmp(at[i].at, bytes, n) == 0)
            return i;
    tileir_bytes made = {ts__arena_text(arena, bytes, n), n};
    if (!made.at) /* the arena remembers that it failed; nothing is compared with this one */
        made.n = 0;
    if (constant)
        (void)TS_PUSH(arena, &b->m->constant, made);
    else
        (void)TS_PUSH(arena, &b->m->str, made);
    return count;
}

static uint32_t back_str(back *b, const char *text)
{
    return back_keep(b, text, (uint32_t)strlen(text), false);
}

static bool back_same(tileir_list x, tileir_list y)
{
    return x.n == y.n && (!x.n || memcmp(x.at, y.at, x.n * sizeof *x.at) == 0);
}

/* The number of a type; lists are copied. */
static uint32_t back_add(back *b, const tileir_type *t)
{
    ts_arena *arena = &b->m->arena;
    for (uint32_t i = 0; i < b->m->type.n; i++) {
        const tileir_type *x = &b->m->type.at[i];
        if (x->tag == t->tag && x->elem == t->elem && x->padding == t->padding && x->sparse_dim == t->sparse_dim &&
            x->n_params == t->n_params && back_same(x->dims, t->dims) && back_same(x->strides, t->strides) &&
            back_same(x->map, t->map))
            return i;
    }
    tileir_type made = *t;
    tileir_list *lists[] = {&made.dims, &made.strides, &made.map};
    for (size_t i = 0; i < TS_COUNT(lists); i++) {
        int64_t *at = TS_NEW_N(arena, int64_t, lists[i]->n + 1);
        if (at && lists[i]->n)
            memcpy(at, lists[i]->at, lists[i]->n * sizeof *at);
        lists[i]->at = at;
        lists[i]->n = at ? lists[i]->n : 0;
    }
    (void)TS_PUSH(arena, &b->m->type, made);
    return b->m->type.n - 1;
}

static uint32_t back_scalar(back *b, ts_type scalar)
{
    static const uint32_t tags[] = {
        [TS_T_none] = 0,
#define TS_SCALAR(name, bits, class, tag) [TS_T_##name] = tag,
#include "tessera/type.def"
        [TS_T_token] = TILEIR_TOKEN,
    };
    return back_add(b, &(tileir_type){.tag = tags[scalar]});
}

/* A number, pointer or view as such; the element of a tile. */
static uint32_t back_bare(back *b, ts_type type)
{
    const ts_module *ir = b->from->module;
    if (type < TS_T_FIRST_COMPOSITE)
        return back_scalar(b, type);
    const ts_type_info *t = ts_type_get(ir, type);
    tileir_type made = {.elem = back_bare(b, t->elem), .padding = t->padding};
    int64_t map[TS_MAX_RANK];
    if (t->kind == TS_KIND_PTR) {
        made.tag = TILEIR_PTR;
        return back_add(b, &made);
    }
    made.tag = t->kind == TS_KIND_TENSOR_VIEW      ? TILEIR_TENSOR_VIEW
               : t->kind == TS_KIND_PARTITION_VIEW ? TILEIR_PARTITION_VIEW
               : t->kind == TS_KIND_STRIDED_VIEW   ? TILEIR_STRIDED_VIEW
                                                   : TILEIR_GATHER_SCATTER_VIEW;
    made.dims = (tileir_list){t->rank, (int64_t *)(uintptr_t)t->dims};
    if (t->strides)
        made.strides = (tileir_list){t->rank, (int64_t *)(uintptr_t)t->strides};
    for (uint32_t d = 0; t->dim_map && d < t->rank; d++)
        map[d] = t->dim_map[d];
    if (t->dim_map)
        made.map = (tileir_list){t->rank, map};
    made.sparse_dim = t->sparse_dim;
    return back_add(b, &made);
}

/* The type of a value: numbers and pointers are tiles. */
static uint32_t back_type(back *b, ts_type type)
{
    const ts_module *ir = b->from->module;
    if (type < b->n_types && b->type[type])
        return b->type[type] - 1;
    ts_kind kind = ts_type_kind(ir, type);
    uint32_t made;
    if (kind == TS_KIND_TILE || kind == TS_KIND_SCALAR || kind == TS_KIND_PTR) {
        tileir_type tile = {.tag = TILEIR_TILE, .elem = back_bare(b, ts_type_elem(ir, type))};
        if (kind == TS_KIND_TILE)
            tile.dims = (tileir_list){ts_type_rank(ir, type), (int64_t *)(uintptr_t)ts_type_dims(ir, type)};
        made = back_add(b, &tile);
    } else
        made = back_bare(b, type);
    if (type < b->n_types)
        b->type[type] = made + 1;
    return made;
}

/* ---- operations -------------------------------------------------------------------------------------------- */

static uint32_t back_value(back *b, uint32_t type)
{
    (void)TS_PUSH(&b->m->arena, &b->fn->value, type);
    return b->fn->value.n - 1;
}

/* An operation whose groups take what is given: one operand each, the last `*` the rest. */
static tileir_op back_op(back *b, tileir_code code, uint32_t n, const ts_val *opnds)
{
    const char *at = ts__tileir_rows[code].recipe;
    tileir_item item;
    tileir_op op = {.code = (uint16_t)code, .n_opnds = n, .loc = b->loc};
    uint32_t attrs = 0, left = n;
    op.opnd = TS_NEW_N(&b->m->arena, uint32_t, n + 1);
    for (uint32_t i = 0; op.opnd && i < n; i++)
        op.opnd[i] = b->value[opnds[i]];
    while (ts__tileir_next(&at, &item)) {
        attrs += item.what == 'a';
        op.n_regions = (uint8_t)(op.n_regions + (item.what == '{' ? item.n : 0));
        if (item.what == '%') {
            uint32_t take = item.n == TILEIR_MANY ? left : item.optional ? 0 : TS_MIN(left, 1u);
            op.group[op.n_groups++] = take;
            left -= take;
        }
    }
    op.n_attrs = (uint8_t)attrs;
    op.attr = TS_NEW_N(&b->m->arena, tileir_attr, attrs + 1);
    op.region = TS_NEW_N(&b->m->arena, tileir_region, op.n_regions + 1);
    return op;
}

static tileir_attr *back_attr(tileir_op *op, const char *name)
{
    return (tileir_attr *)(uintptr_t)ts__tileir_attr(op, name);
}

static void back_flag(tileir_op *op, const char *name)
{
    int bit = ts__tileir_flag(ts__tileir_rows[op->code].recipe, name, strlen(name));
    ts_assert(bit >= 0);
    op->flags |= 1u << bit;
}

/* Results of the types of ours, from instruction `v` on; 0: of the type given. */
static void back_results(back *b, tileir_op *op, uint32_t n, const uint32_t *types)
{
    op->n_results = n;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t value = back_value(b, types[i]);
        op->first_result = i ? op->first_result : value;
    }
}

static void back_result(back *b, tileir_op *op, ts_val v)
{
    uint32_t type = back_type(b, ts_type_of(b->from, v));
    back_results(b, op, 1, &type);
    b->value[v] = op->first_result;
}

static ts_status back_push(back *b, tileir_region *region, const tileir_op *op)
{
    bool room = op->attr && op->region && op->opnd && TS_PUSH(&b->m->arena, &region->op, *op);
    return room && !b->m->arena.failed ? TS_OK : back_nomem(b);
}

static tileir_attr back_number(tileir_kind kind, uint64_t value)
{
    return (tileir_attr){.kind = (uint8_t)kind, .value = value};
}

/* ---- attributes -------------------------------------------------------------------------------------------- */

static uint64_t back_round(tileir_code code, uint32_t aux)
{
    ts_round round = TS_A_ROUND(aux);
    if (round == TS_RN && (code == TILEIR_exp || code == TILEIR_tanh))
        return TS_FULL;
    if (round == TS_RN && code == TILEIR_divi)
        return TS_RZ;
    return round == TS_RN && code == TILEIR_ftoi ? TS_RZI : round;
}

static uint64_t back_word(tileir_code code, tileir_kind kind, uint32_t aux, bool second)
{
    switch (kind) {
    case TILEIR_KIND_round:
        return back_round(code, aux);
    case TILEIR_KIND_sign:
        return !(aux & (second ? TS_A_UNSIGNED_B : TS_A_UNSIGNED));
    case TILEIR_KIND_overflow:
        return (aux & TS_A_NSW ? 1u : 0) | (aux & TS_A_NUW ? 2u : 0);
    case TILEIR_KIND_pred:
        return TS_A_GET_PRED(aux);
    default:
        return !(aux & TS_A_UNORDERED);
    }
}

/* Attributes and flags that are bits of an ARITH word. */
static void back_arith(tileir_op *op, uint32_t aux)
{
    const char *recipe = ts__tileir_rows[op->code].recipe, *at = recipe, *name;
    tileir_item item;
    uint32_t bit;
    for (uint32_t i = 0; ts__tileir_next(&at, &item);)
        if (item.what == 'a') {
            tileir_kind kind = (tileir_kind)item.kind;
            op->attr[i] = back_number(kind, back_word((tileir_code)op->code, kind, aux, i > 0));
            i++;
        }
    for (uint32_t i = 0; bit = ts__tileir_arith_bit(i, &name), name; i++)
        if (aux & bit && ts__tileir_flag(recipe, name, strlen(name)) >= 0)
            back_flag(op, name);
}

static void back_names(back *b, tileir_attr *a, uint32_t n)
{
    a->items = TS_NEW_N(&b->m->arena, tileir_attr, n + 1);
    a->names = TS_NEW_N(&b->m->arena, uint32_t, n + 1);
}

/* {arch = {name = value, ...}} of those that are there; names from `first` on. */
static tileir_attr back_hints(back *b, uint32_t n, tileir_hint first, const tileir_attr *values)
{
    tileir_attr hints = {.kind = TILEIR_KIND_hints}, arch = {.kind = TILEIR_KIND_dict};
    back_names(b, &hints, 1);
    back_names(b, &arch, n);
    if (!arch.items || !arch.names || !hints.items || !hints.names)
        return hints;
    for (uint32_t i = 0; i < n; i++)
        if (values[i].kind) {
            arch.names[arch.n] = back_str(b, ts__tileir_hints[first + i]);
            arch.items[arch.n] = values[i];
            arch.items[arch.n++].type = values[i].kind == TILEIR_KIND_int ? back_scalar(b, TS_T_i32) : 0;
        }
    hints.n = arch.n ? 1 : 0;
    hints.names[0] = back_str(b, b->arch ? b->arch : "default");
    hints.items[0] = arch;
    return hints;
}

/* Order, scope, mode, hints and bounds of an access with `rank` indices. */
static void back_memory(back *b, tileir_op *op, uint32_t aux, uint32_t rank)
{
    const tileir_attr hints[] = {
        TS_M_GET_TMA(aux) == TS_TMA_FORBIDDEN ? back_number(TILEIR_KIND_bool, 0) : (tileir_attr){0},
        TS_M_GET_LATENCY(aux) ? back_number(TILEIR_KIND_int, TS_M_GET_LATENCY(aux)) : (tileir_attr){0}};
    bool optional = ts__tileir_flag(ts__tileir_rows[op->code].recipe, "scope", 5) >= 0;
    bool hinted = (hints[0].kind || hints[1].kind) &&
                  ts__tileir_flag(ts__tileir_rows[op->code].recipe, "hints", 5) >= 0;
    const char *at = ts__tileir_rows[op->code].recipe;
    tileir_item item;
    for (uint32_t i = 0; ts__tileir_next(&at, &item);) {
        if (item.what != 'a')
            continue;
        tileir_attr *a = &op->attr[i++];
        *a = back_number((tileir_kind)item.kind, 0);
        if (item.kind == TILEIR_KIND_order)
            a->value = TS_M_GET_ORDER(aux);
        else if (item.kind == TILEIR_KIND_rmw)
            a->value = TS_M_GET_MODE(aux);
        else if (item.kind == TILEIR_KIND_scope) {
            bool there = TS_M_GET_SCOPE(aux) != TS_SCOPE_NONE;
            a->kind = there ? a->kind : TILEIR_ABSENT;
            a->value = there ? TS_M_GET_SCOPE(aux) - 1u : 0;
            if (there && optional)
                back_flag(op, "scope");
        } else if (item.kind == TILEIR_KIND_hints) {
            *a = hinted ? back_hints(b, 2, TILEIR_HINT_TMA, hints) : (tileir_attr){0};
            if (hinted)
                back_flag(op, "hints");
        } else if (item.kind == TILEIR_KIND_bools) {
            a->n = rank;
            a->numbers = TS_NEW_N(&b->m->arena, int64_t, rank + 1);
            for (uint32_t d = 0; a->numbers && d < rank; d++)
                a->numbers[d] = TS_M_GET_INBOUNDS(aux) >> d & 1;
        }
    }
}

/* ---- values -------------------------------------------------------------------------------------------------- */

static ts_status back_unsupported(const back *b, ts_val v, const char *what)
{
    return ts_fail(b->err, TS_UNSUPPORTED, "kernel '%s' cannot be written as Tile IR: %s (instruction %%%u)",
                   ts_str_get(b->from->module, b->from->name), what, v);
}

static int back_code(ts_op op)
{
    const char *name = ts_op_name(op);
    for (int i = 0; i < TILEIR_CODES; i++)
        if (strcmp(ts__tileir_rows[i].name, name) == 0)
            return i;
    return -1;
}

static ts_status back_plain(back *b, tileir_region *region, ts_val v)
{
    const ts_inst *inst = ts_at(b->from, v);
    int code = back_code((ts_op)inst->op);
    if (code < 0)
        return back_unsupported(b, v, inst->op == TS_OP_fn ? ts__math_fns[inst->aux].name : ts_info(inst)->name);
    tileir_op op = back_op(b, (tileir_code)code, inst->n_opnd, ts_opnds(b->from, inst));
    if (op.attr && ts_info(inst)->attr == TS_ATTR_ARITH)
        back_arith(&op, inst->aux);
    else if (op.attr && op.n_attrs)
        back_arith(&op, 0);
    if (inst->type)
        back_result(b, &op, v);
    return back_push(b, region, &op);
}

/* A power with an integer exponent: of two floats where the version has nothing else. */
static ts_status back_fpowi(back *b, tileir_region *region, ts_val v)
{
    const ts_val *opnds = ts_opnds(b->from, ts_at(b->from, v));
    uint32_t type = back_type(b, ts_type_of(b->from, v));
    if (b->version >= ts__tileir_rows[TILEIR_fpowi].since)
        return back_plain(b, region, v);
    tileir_op exponent = back_op(b, TILEIR_itof, 1, &opnds[1]);
    if (exponent.attr)
        back_arith(&exponent, 0);
    back_results(b, &exponent, 1, &type);
    TS_TRY(back_push(b, region, &exponent));
    tileir_op power = back_op(b, TILEIR_pow, 2, opnds);
    if (power.opnd)
        power.opnd[1] = exponent.first_result;
    back_result(b, &power, v);
    return back_push(b, region, &power);
}

/* Elements as a file has them: i1 eight in a byte, 4 bits in a byte of their own, tf32 in three. */
static uint32_t back_elements(back *b, ts_val v, const ts_dense *dense)
{
    ts_type type = ts_type_of(b->from, v), elem = ts_type_elem(b->from->module, type);
    uint64_t count = (uint64_t)ts_type_count(b->from->module, type);
    uint32_t bits = ts_type_bits(b->from->module, type);
    const unsigned char *from = dense->bytes;
    char *to = ts__arena_get(b->scratch, count * 8 + 8);
    uint64_t n = 0;
    for (uint64_t i = 0; to && i < count; i++) {
        if (elem == TS_T_i1)
            to[i / 8] = (char)(to[i / 8] | (from[i] ? 1 << i % 8 : 0)), n = i / 8 + 1;
        else if (bits == 4)
            to[n++] = (char)(from[i / 2] >> 4 * (i % 2) & 15);
        else {
            uint64_t value = 0;
            for (uint32_t k = 0; k < bits / 8; k++)
                value |= (uint64_t)from[i * (bits / 8) + k] << 8 * k;
            value = elem == TS_T_tf32 ? value >> 13 : value;
            for (uint32_t k = 0; k < (elem == TS_T_tf32 ? 3 : bits / 8); k++)
                to[n++] = (char)(value >> 8 * k);
        }
    }
    return to ? back_keep(b, to, (uint32_t)n, true) : 0;
}

static ts_status back_constant(back *b, tileir_region *region, ts_val v)
{
    const ts_inst *inst = ts_at(b->from, v);
    tileir_op op = back_op(b, TILEIR_constant, 0, NULL);
    ts_type elem = ts_type_elem(b->from->module, inst->type);
    uint64_t bits = 0;
    char bytes[8];
    uint32_t constant, n = elem == TS_T_tf32 ? 3 : (ts_type_bits(b->from->module, inst->type) + 7) / 8;
    if (ts__const_bits(b->from, v, &bits)) {
        bits = elem == TS_T_i1 ? (bits ? 255 : 0) : elem == TS_T_tf32 ? bits >> 13 : bits;
        bits = elem == TS_T_i4 ? bits & 15 : bits;
        for (uint32_t i = 0; i < n; i++)
            bytes[i] = (char)(bits >> 8 * i);
        constant = back_keep(b, bytes, n, true);
    } else
        constant = back_elements(b, v, &b->from->module->dense.at[inst->aux - 1]);
    if (op.attr)
        op.attr[0] = back_number(TILEIR_KIND_dense, constant);
    back_result(b, &op, v);
    return back_push(b, region, &op);
}

static int64_t back_wide(const uint32_t *w)
{
    return (int64_t)(w[0] | (uint64_t)w[1] << 32);
}

static ts_status back_assume(back *b, tileir_region *region, ts_val v)
{
    const ts_inst *inst = ts_at(b->from, v);
    const uint32_t *w = ts_pool(b->from, inst);
    tileir_op op = back_op(b, TILEIR_assume, 1, ts_opnds(b->from, inst));
    tileir_attr a = {.numbers = TS_NEW_N(&b->m->arena, int64_t, 3 + TS_MAX_RANK)};
    if (!op.attr || !a.numbers)
        return back_nomem(b);
    if (w[0] == TS_ASSUME_DIV_BY) {
        a.kind = TILEIR_KIND_div_by;
        a.has = w[3] ? 3 : 0;
        a.numbers[0] = back_wide(w + 1);
        a.numbers[1] = w[4];
        a.numbers[2] = w[5];
    } else if (w[0] == TS_ASSUME_BOUNDED) {
        a.kind = TILEIR_KIND_bounded;
        a.has = (uint8_t)((w[1] != 0) | (w[4] != 0) << 1);
        a.numbers[0] = back_wide(w + 2);
        a.numbers[1] = back_wide(w + 5);
    } else {
        a.kind = TILEIR_KIND_same;
        a.n = w[1];
        for (uint32_t i = 0; i < w[1] && i < TS_MAX_RANK; i++)
            a.numbers[i] = w[2 + i];
    }
    op.attr[0] = a;
    back_result(b, &op, v);
    return back_push(b, region, &op);
}

static ts_status back_permute(back *b, tileir_region *region, ts_val v)
{
    const ts_inst *inst = ts_at(b->from, v);
    const uint32_t *w = ts_pool(b->from, inst);
    tileir_op op = back_op(b, TILEIR_permute, 1, ts_opnds(b->from, inst));
    tileir_attr a = {.kind = TILEIR_KIND_words, .n = w[0], .numbers = TS_NEW_N(&b->m->arena, int64_t, w[0] + 1)};
    for (uint32_t i = 0; a.numbers && i < w[0]; i++)
        a.numbers[i] = w[1 + i];
    if (op.attr)
        op.attr[0] = a;
    back_result(b, &op, v);
    return back_push(b, region, &op);
}

static ts_status back_cat(back *b, tileir_region *region, ts_val v)
{
    const ts_inst *inst = ts_at(b->from, v);
    tileir_op op = back_op(b, TILEIR_cat, 2, ts_opnds(b->from, inst));
    if (op.attr)
        op.attr[0] = back_number(TILEIR_KIND_int, inst->aux);
    back_result(b, &op, v);
    return back_push(b, region, &op);
}

static ts_status back_insert(back *b, tileir_region *region, ts_val v)
{
    const ts_inst *inst = ts_at(b->from, v);
    tileir_op op = back_op(b, TILEIR_insert, inst->n_opnd, ts_opnds(b->from, inst));
    if (op.opnd) {
        uint32_t tile = op.opnd[0];
        op.opnd[0] = op.opnd[1];
        op.opnd[1] = tile;
    }
    back_result(b, &op, v);
    return back_push(b, region, &op);
}

/* get_tile_block_id and its like: all results, of which ours is one. */
static ts_status back_axes(back *b, tileir_region *region, ts_val v)
{
    const ts_inst *inst = ts_at(b->from, v);
    tileir_op op = back_op(b, (tileir_code)back_code((ts_op)inst->op), inst->n_opnd, ts_opnds(b->from, inst));
    uint32_t n = inst->n_opnd ? ts_type_get(b->from->module, ts_type_of(b->from, ts_opnds(b->from, inst)[0]))->rank : 3;
    uint32_t types[TS_MAX_RANK];
    for (uint32_t i = 0; i < n; i++)
        types[i] = back_type(b, inst->type);
    back_results(b, &op, n, types);
    b->value[v] = op.first_result + inst->aux;
    return back_push(b, region, &op);
}

static ts_status back_tensor_view(back *b, tileir_region *region, ts_val v)
{
    const ts_inst *inst = ts_at(b->from, v);
    const ts_type_info *t = ts_type_get(b->from->module, inst->type);
    tileir_op op = back_op(b, TILEIR_make_tensor_view, inst->n_opnd, ts_opnds(b->from, inst));
    op.group[1] = op.group[2] = 0;
    for (uint32_t d = 0; d < t->rank; d++) {
        op.group[1] += t->dims[d] == TS_DYNAMIC;
        op.group[2] += t->strides[d] == TS_DYNAMIC;
    }
    back_result(b, &op, v);
    return back_push(b, region, &op);
}

/* ---- memory ---------------------------------------------------------------------------------------------------- */

/* Sizes of the operand groups of an access: of an optional one by the flags, of the indices what is left. */
static uint32_t back_groups(tileir_op *op, const ts_inst *inst)
{
    const char *recipe = ts__tileir_rows[op->code].recipe, *at = recipe;
    tileir_item item;
    uint32_t left = inst->n_opnd, g = 0, many = UINT32_MAX;
    for (; ts__tileir_next(&at, &item);) {
        if (item.what != '%')
            continue;
        bool there = item.optional ? inst->flags & ts__tileir_role(&item) : item.n != TILEIR_MANY;
        if (item.optional && there)
            op->flags |= 1u << ts__tileir_flag(recipe, item.name, item.n_name);
        many = item.n == TILEIR_MANY ? g : many;
        op->group[g++] = there;
        left -= there;
    }
    if (many != UINT32_MAX)
        op->group[many] = left;
    return many != UINT32_MAX ? left : 0;
}

static ts_status back_access(back *b, tileir_region *region, ts_val v)
{
    const ts_inst *inst = ts_at(b->from, v);
    const uint32_t *x = ts_opnds(b->from, inst);
    tileir_op op = back_op(b, (tileir_code)back_code((ts_op)inst->op), inst->n_opnd, x);
    const uint8_t *order = ts__tileir_order((tileir_code)op.code);
    uint32_t rank = back_groups(&op, inst), n = 0;
    for (uint32_t i = 0; op.opnd && i < op.n_groups; i++) {
        uint32_t first = 0;
        for (uint32_t g = 0; g < order[i]; g++)
            first += op.group[g];
        for (uint32_t k = 0; k < op.group[order[i]]; k++)
            op.opnd[first + k] = b->value[x[n++]];
    }
    if (op.attr)
        back_memory(b, &op, inst->aux, rank);
    uint32_t types[] = {back_type(b, inst->type), back_scalar(b, TS_T_token)};
    back_results(b, &op, inst->type == TS_T_token ? 1 : 2, types);
    b->value[v] = op.first_result;
    return back_push(b, region, &op);
}

/* A text; in the format of a print a complex number is its two parts, one after the other: the dialect has no more. */
static uint32_t back_format(back *b, const char *text, bool print)
{
    ts_text out;
    if (!print)
        return back_str(b, text);
    ts__text_init(&out, b->scratch->alloc);
    while (*text) {
        ts__conversion c = {.n = 1};
        char imag[40];
        if (*text == '%' && text[1] == '%')
            c.n = 2;
        else if (*text == '%' && ts__conversion_at(text, &c) && c.pair) {
            ts__conversion_imag(c.head, strlen(c.head), imag);
            ts__text_printf(&out, "%s%c%s%cj", c.head, c.letter, imag, c.letter);
        }
        if (!c.pair)
            ts__text_put(&out, text, c.n);
        text += c.n;
    }
    b->m->arena.failed |= out.failed;
    uint32_t str = back_str(b, ts__text_get(&out));
    ts__text_deinit(&out);
    return str;
}

/* print_tko, assert, get_global: a text. An assert's index and extent are for our messages alone. */
static ts_status back_text(back *b, tileir_region *region, ts_val v)
{
    const ts_inst *inst = ts_at(b->from, v);
    bool print = inst->op == TS_OP_print_tko;
    uint32_t n = inst->op == TS_OP_assert ? 1 : inst->n_opnd;
    tileir_op op = back_op(b, (tileir_code)back_code((ts_op)inst->op), n, ts_opnds(b->from, inst));
    if (print && inst->flags & TS_F_TOKEN) {
        op.group[0]--;
        op.group[1] = 1;
        back_flag(&op, "token");
    }
    if (op.attr)
        op.attr[0] = back_number(TILEIR_KIND_str, back_format(b, ts_str_get(b->from->module, inst->aux), print));
    if (inst->type)
        back_result(b, &op, v);
    return back_push(b, region, &op);
}

static ts_status back_alloca(back *b, tileir_region *region, ts_val v)
{
    const ts_inst *inst = ts_at(b->from, v);
    const uint32_t *w = ts_pool(b->from, inst);
    tileir_op op = back_op(b, TILEIR_alloca, 0, NULL);
    uint32_t bits = ts_type_bits(b->from->module, ts_type_get(b->from->module, inst->type)->elem);
    if (!op.attr)
        return back_nomem(b);
    op.attr[0] = back_number(TILEIR_KIND_int, ((uint64_t)w[0] * 8 + bits - 1) / bits);
    op.attr[1] = back_number(TILEIR_KIND_int, w[1]);
    if (w[2])
        back_flag(&op, "global");
    back_result(b, &op, v);
    return back_push(b, region, &op);
}

/* ---- regions ---------------------------------------------------------------------------------------------------- */

static ts_status back_ops(back *b, tileir_region *region, ts_val first, ts_val end);

/* The args behind an opener; gives the instruction after them. */
static ts_val back_args(back *b, tileir_region *region, ts_val v)
{
    region->first_arg = b->fn->value.n;
    for (v++; ts_at(b->from, v)->op == TS_OP_arg; v++, region->n_args++)
        b->value[v] = back_value(b, back_type(b, ts_type_of(b->from, v)));
    return v;
}

static void back_identities(back *b, const ts_inst *inst, tileir_attr *out)
{
    const uint32_t *w = ts_pool(b->from, inst);
    *out = (tileir_attr){.kind = TILEIR_KIND_array, .n = w[2]};
    out->items = TS_NEW_N(&b->m->arena, tileir_attr, w[2] + 1);
    for (uint32_t i = 0; out->items && i < w[2]; i++) {
        ts_type elem = ts_type_elem(b->from->module, ts_type_of(b->from, ts_opnds(b->from, inst)[i]));
        uint32_t bits = ts_type_bits(b->from->module, elem);
        uint64_t payload = (uint64_t)back_wide(w + 3 + 2 * (size_t)i);
        bool number = ts_type_is_int(b->from->module, elem);
        payload = elem == TS_T_i1 ? payload & 1 : bits < 64 ? payload & (((uint64_t)1 << bits) - 1) : payload;
        out->items[i] = back_number(number ? TILEIR_KIND_int : TILEIR_KIND_float, payload);
        out->items[i].type = back_scalar(b, elem);
    }
}

static void back_region_attrs(back *b, tileir_op *op, const ts_inst *inst)
{
    if (inst->op == TS_OP_for && inst->aux & TS_A_UNSIGNED)
        back_flag(op, "unsigned");
    if (inst->op != TS_OP_reduce && inst->op != TS_OP_scan)
        return;
    const uint32_t *w = ts_pool(b->from, inst);
    *back_attr(op, "dim") = back_number(TILEIR_KIND_int, w[0]);
    back_identities(b, inst, back_attr(op, "identities"));
    if (inst->op == TS_OP_scan)
        *back_attr(op, "reverse") = back_number(TILEIR_KIND_bool, w[1]);
}

/* An opener with its regions; *next is the first instruction behind it and its results. */
static ts_status back_nest(back *b, tileir_region *region, ts_val v, ts_val *next)
{
    const ts_inst *inst = ts_at(b->from, v);
    int code = back_code((ts_op)inst->op);
    if (code < 0)
        return back_unsupported(b, v, ts_info(inst)->name);
    tileir_op op = back_op(b, (tileir_code)code, inst->n_opnd, ts_opnds(b->from, inst));
    ts_val end = b->shape.end[v], other = inst->op == TS_OP_if ? b->shape.other[v] : 0;
    if (!op.attr || !op.region)
        return back_nomem(b);
    back_region_attrs(b, &op, inst);
    op.region[0].n_blocks = 1;
    TS_TRY(back_ops(b, &op.region[0], back_args(b, &op.region[0], v), other ? other : end));
    if (other) {
        op.region[1].n_blocks = 1;
        op.region[1].first_arg = b->fn->value.n;
        TS_TRY(back_ops(b, &op.region[1], other + 1, end));
    }
    ts_val res = end + 1;
    for (; res < b->from->inst.n && ts_at(b->from, res)->op == TS_OP_res; res++)
        b->value[res] = back_value(b, back_type(b, ts_type_of(b->from, res)));
    op.n_results = res - end - 1;
    op.first_result = op.n_results ? b->value[end + 1] : 0;
    *next = res;
    return back_push(b, region, &op);
}

static ts_status back_one(back *b, tileir_region *region, ts_val v)
{
    const ts_inst *inst = ts_at(b->from, v);
    switch (inst->op) {
    case TS_OP_constant:
        return back_constant(b, region, v);
    case TS_OP_assume:
        return back_assume(b, region, v);
    case TS_OP_fpowi:
        return back_fpowi(b, region, v);
    case TS_OP_permute:
        return back_permute(b, region, v);
    case TS_OP_cat:
        return back_cat(b, region, v);
    case TS_OP_insert:
        return back_insert(b, region, v);
    case TS_OP_get_tile_block_id:
    case TS_OP_get_num_tile_blocks:
    case TS_OP_get_tensor_shape:
    case TS_OP_get_index_space_shape:
        return back_axes(b, region, v);
    case TS_OP_make_tensor_view:
        return back_tensor_view(b, region, v);
    case TS_OP_load_view_tko:
    case TS_OP_store_view_tko:
    case TS_OP_load_ptr_tko:
    case TS_OP_store_ptr_tko:
    case TS_OP_atomic_cas_tko:
    case TS_OP_atomic_rmw_tko:
    case TS_OP_atomic_red_view_tko:
        return back_access(b, region, v);
    case TS_OP_token:
        b->value[v] = b->value[ts_opnds(b->from, inst)[0]] + 1;
        return TS_OK;
    case TS_OP_print_tko:
    case TS_OP_assert:
    case TS_OP_get_global:
        return back_text(b, region, v);
    case TS_OP_alloca:
        return back_alloca(b, region, v);
    default:
        return back_plain(b, region, v);
    }
}

/* ---- places ---------------------------------------------------------------------------------------------------- */

enum { BACK_CALLS = 64 }; /* of functions in each other that places tell */

static uint32_t back_debug(back *b, tileir_debug_tag tag, uint64_t f0, uint64_t f1, uint64_t f2, uint64_t f3)
{
    return ts__tileir_add_debug(b->m, &(tileir_debug_attr){tag, {f0, f1, f2, f3}});
}

/* The attribute of a function of a file, under its symbol in the module: a directory ends in its last /. */
static uint32_t back_subprogram(back *b, const char *path, const char *function, const char *symbol)
{
    const char *slash = strrchr(path, '/');
    uint32_t n = slash ? (uint32_t)(slash - path) : 0;
    uint32_t name = back_str(b, slash ? slash + 1 : path), directory = back_keep(b, path, n, false);
    uint32_t file = back_debug(b, TILEIR_DEBUG_FILE, name, directory, 0, 0);
    uint32_t unit = back_debug(b, TILEIR_DEBUG_UNIT, file, 0, 0, 0);
    return ts__tileir_add_debug(b->m, &(tileir_debug_attr){TILEIR_DEBUG_SUBPROGRAM, {file, 1, back_str(b, function),
                                                           back_str(b, symbol), unit, 1}});
}

/* The number of a place of ours among the attributes; 0: unknown. */
static uint32_t back_place(back *b, ts_loc loc, uint32_t depth)
{
    const ts_module *ir = b->from->module;
    if (!loc || loc >= ir->locs.n || depth > BACK_CALLS)
        return 0;
    if (b->place[loc])
        return b->place[loc] - 1;
    const ts_loc_info *at = &ir->locs.at[loc];
    const char *path = ts_str_get(ir, at->file);
    const char *kernel = ts_str_get(ir, b->from->name);
    const char *function = at->function ? ts_str_get(ir, at->function) : kernel;
    uint32_t made = 0, caller = back_place(b, at->caller, depth + 1);
    uint32_t scope = at->line ? back_subprogram(b, path, function, at->caller ? function : kernel) : 0;
    if (at->line)
        made = back_debug(b, TILEIR_DEBUG_LOC, scope, back_str(b, path), at->line, at->col);
    if (made && caller)
        made = back_debug(b, TILEIR_DEBUG_CALL, made, caller, 0, 0);
    b->place[loc] = made + 1;
    return made;
}

static ts_status back_ops(back *b, tileir_region *region, ts_val first, ts_val end)
{
    for (ts_val v = first; v < end;) {
        b->loc = back_place(b, b->from->loc.at[v], 0);
        if (ts_info(ts_at(b->from, v))->flags & TS_REGION)
            TS_TRY(back_nest(b, region, v, &v));
        else
            TS_TRY(back_one(b, region, v++));
    }
    return TS_OK;
}

/* ---- functions ------------------------------------------------------------------------------------------------- */

static tileir_attr back_kernel_hints(back *b, const ts_fn *fn)
{
    const uint8_t given[] = {fn->num_ctas, fn->occupancy, fn->num_warps};
    tileir_attr values[3];
    for (int i = 0; i < 3; i++)
        values[i] = given[i] ? back_number(TILEIR_KIND_int, given[i]) : (tileir_attr){0};
    if (!given[0] && !given[1] && !given[2])
        return (tileir_attr){0};
    return back_hints(b, 3, TILEIR_HINT_CTAS, values);
}

/* That of its first operation; of one in a helper, the call in the kernel. */
static uint32_t back_kernel_place(back *b)
{
    const ts_fn *fn = b->from;
    const ts_module *ir = fn->module;
    ts_loc loc = fn->n_params + 1 < fn->loc.n ? fn->loc.at[fn->n_params + 1] : 0;
    for (int i = 0; i < BACK_CALLS && loc && loc < ir->locs.n && ir->locs.at[loc].caller; i++)
        loc = ir->locs.at[loc].caller;
    return back_place(b, loc, 0);
}

static ts_status back_function(back *b, const ts_fn *fn)
{
    tileir_fn made = {.entry = true, .name = back_str(b, ts_str_get(fn->module, fn->name))};
    int64_t *params = TS_NEW_N(b->scratch, int64_t, fn->n_params + 1);
    b->from = fn;
    b->fn = &made;
    b->value = TS_NEW_N(b->scratch, uint32_t, fn->inst.n + 1);
    if (!params || !b->value || !ts__shape_of(fn, b->scratch, &b->shape))
        return back_nomem(b);
    made.body.n_blocks = 1;
    made.body.n_args = fn->n_params;
    for (uint32_t i = 0; i < fn->n_params; i++) {
        uint32_t type = back_type(b, ts_type_of(fn, i + 1));
        params[i] = type;
        b->value[i + 1] = back_value(b, type);
    }
    made.type = back_add(b, &(tileir_type){.tag = TILEIR_FUNCTION, .n_params = fn->n_params,
                                           .dims = {fn->n_params, params}});
    made.hints = back_kernel_hints(b, fn);
    made.loc = back_kernel_place(b);
    TS_TRY(back_ops(b, &made.body, fn->n_params + 1, fn->inst.n));
    return TS_PUSH(&b->m->arena, &b->m->fn, made) && !b->m->arena.failed ? TS_OK : back_nomem(b);
}

static ts_status back_module(back *b, const ts_module *ir)
{
    b->n_types = TS_T_FIRST_COMPOSITE + ir->type.n;
    b->type = TS_NEW_N(b->scratch, uint32_t, b->n_types + 1);
    b->place = TS_NEW_N(b->scratch, uint32_t, ir->locs.n + 1);
    if (!b->type || !b->place)
        return back_nomem(b);
    if (ir->globals.n)
        return ts_fail(b->err, TS_UNSUPPORTED, "a module with globals cannot be written as Tile IR");
    for (uint32_t i = 0; i < ir->fns.n; i++) {
        const ts_fn *fn = ir->fns.at[i];
        if (!fn->entry || fn->level != TS_LEVEL_T)
            return ts_fail(b->err, TS_UNSUPPORTED, "'%s' cannot be written as Tile IR: kernels of tiles alone can",
                           ts_str_get(ir, fn->name));
        TS_TRY(back_function(b, fn));
    }
    if (!ts__tileir_find_places(b->m))
        return back_nomem(b);
    return ts__tileir_verify(b->m, b->err);
}

ts_status ts_tileir_of_ir(const ts_module *ir, uint32_t version, const char *arch, const ts_alloc *alloc,
                          ts_tileir **out, ts_error *err)
{
    TS_NEED(err, out);
    *out = NULL;
    TS_NEED(err, ir);
    const ts_alloc *from = alloc ? alloc : ts_alloc_default();
    ts_arena scratch;
    TS_TRY(ts_module_verify(ir, err));
    ts_tileir *m = from->resize(from->user, NULL, 0, sizeof *m);
    if (!m)
        return ts_fail(err, TS_NOMEM, "out of memory for a module of Tile IR");
    *m = (ts_tileir){.version = TS_TILEIR_NEWEST};
    ts__arena_init(&m->arena, from);
    ts__arena_init(&scratch, from);
    back b = {.m = m, .scratch = &scratch, .version = version ? version : TS_TILEIR_NEWEST, .arch = arch, .err = err};
    ts_status status = back_module(&b, ir);
    ts__arena_deinit(&scratch);
    if (status == TS_OK)
        *out = m;
    else
        ts_tileir_destroy(m);
    return status;
}
