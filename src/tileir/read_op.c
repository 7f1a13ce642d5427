/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads attributes and the operations of a function, by the recipes of tileir.def.
 */
#include "tileir/cursor.h"

/* ---- attributes --------------------------------------------------------------------------------------- */

static void read_items(tileir_cursor *c, uint32_t depth, bool named, tileir_attr *out)
{
    ts_arena *arena = &c->m->arena;
    uint32_t n = ts__tileir_count(c, 1, "attributes");
    out->items = TS_NEW_N(arena, tileir_attr, n);
    out->names = named ? TS_NEW_N(arena, uint32_t, n) : NULL;
    if (n && (!out->items || (named && !out->names)))
        ts__tileir_nomem(c);
    for (; out->n < n && tileir_good(c); out->n++) {
        if (named)
            out->names[out->n] = ts__tileir_index(c, c->m->str.n, "string");
        ts__tileir_read_tagged(c, depth + 1, &out->items[out->n]);
    }
}

/* A byte of flags, then a number for each that is set: at numbers[first..]. */
static void read_optional(tileir_cursor *c, uint32_t first, tileir_attr *out)
{
    out->has = ts__tileir_byte(c);
    for (uint32_t i = 0; i < 2; i++)
        out->numbers[first + i] = out->has >> i & 1 ? ts__tileir_signed(c) : 0;
}

static void read_numbers(tileir_cursor *c, uint32_t bytes, tileir_attr *out)
{
    tileir_list list = ts__tileir_list(c, bytes);
    out->n = list.n;
    out->numbers = list.at;
}

static void read_assumption(tileir_cursor *c, tileir_kind kind, tileir_attr *out)
{
    out->numbers = TS_NEW_N(&c->m->arena, int64_t, 3);
    if (!out->numbers) {
        ts__tileir_nomem(c);
        return;
    }
    if (kind == TILEIR_KIND_div_by)
        out->numbers[0] = (int64_t)ts__tileir_varint(c);
    read_optional(c, kind == TILEIR_KIND_div_by, out);
}

void ts__tileir_read_attr(tileir_cursor *c, tileir_kind kind, uint32_t depth, tileir_attr *out)
{
    *out = (tileir_attr){.kind = (uint8_t)kind};
    if (depth > TILEIR_DEPTH) {
        ts__tileir_bad(c, "attributes lie in each other deeper than %d", TILEIR_DEPTH);
        return;
    }
    switch (kind) {
    case TILEIR_KIND_str:
        out->value = ts__tileir_index(c, c->m->str.n, "string");
        return;
    case TILEIR_KIND_type:
        out->type = ts__tileir_index(c, c->m->type.n, "type");
        return;
    case TILEIR_KIND_dense:
        out->value = ts__tileir_index(c, c->m->constant.n, "constant");
        return;
    case TILEIR_KIND_array:
    case TILEIR_KIND_dict:
    case TILEIR_KIND_hints:
        read_items(c, depth, kind != TILEIR_KIND_array, out);
        return;
    case TILEIR_KIND_div_by:
    case TILEIR_KIND_bounded:
        read_assumption(c, kind, out);
        return;
    case TILEIR_KIND_same:
        read_numbers(c, 8, out);
        return;
    case TILEIR_KIND_words:
        read_numbers(c, 4, out);
        return;
    case TILEIR_KIND_bools:
        read_numbers(c, 1, out);
        return;
    case TILEIR_KIND_assume:
        ts__tileir_read_tagged(c, depth, out);
        return;
    case TILEIR_KIND_int:
        out->value = ts__tileir_varint(c);
        return;
    default: /* bool and enumerations are a byte */
        out->value = ts__tileir_byte(c);
    }
}

void ts__tileir_read_tagged(tileir_cursor *c, uint32_t depth, tileir_attr *out)
{
    uint64_t tag = ts__tileir_varint(c);
    uint32_t type = UINT32_MAX;
    if (tileir_good(c) && (tag < TILEIR_KIND_int || tag > TILEIR_KIND_bounded))
        ts__tileir_bad(c, "there is no attribute of tag %llu", (unsigned long long)tag);
    if (!tileir_good(c)) {
        *out = (tileir_attr){0};
        return;
    }
    if (tag == TILEIR_KIND_int || tag == TILEIR_KIND_float || tag == TILEIR_KIND_dense)
        type = ts__tileir_index(c, c->m->type.n, "type");
    if (tag == TILEIR_KIND_float && tileir_good(c)) { /* its bits: a byte, or a number with the sign at its lower end */
        *out = (tileir_attr){.kind = TILEIR_KIND_float};
        out->value = ts__tileir_is_byte(c->m, type) ? ts__tileir_byte(c) : (uint64_t)ts__tileir_signed(c);
    } else
        ts__tileir_read_attr(c, (tileir_kind)tag, depth, out);
    if (type != UINT32_MAX)
        out->type = type;
}

/* ---- operations ---------------------------------------------------------------------------------------- */

typedef struct read_body {
    tileir_cursor *c;
    tileir_fn *fn;
    tileir_places places;
    TS_VEC(uint32_t) scope; /* file's number of a value -> ours */
    TS_VEC(uint32_t) opnd;  /* of the operation that is read */
} read_body;

/* A new value of the function, in scope at once or later. */
static uint32_t read_value(read_body *b, uint32_t type)
{
    ts_arena *arena = &b->c->m->arena;
    if (!TS_PUSH(arena, &b->fn->value, type))
        ts__tileir_nomem(b->c);
    return b->fn->value.n - 1;
}

static void read_show(read_body *b, uint32_t value)
{
    if (!TS_PUSH(&b->c->m->arena, &b->scope, value))
        ts__tileir_nomem(b->c);
}

static uint32_t read_place(read_body *b)
{
    uint64_t number = 0;
    if (!b->places.n)
        return 0;
    for (int i = 7; i >= 0; i--)
        number = number << 8 | b->places.at[i];
    b->places.at += 8;
    b->places.n--;
    return number < b->c->m->loc.n ? (uint32_t)number : 0;
}

static void read_operands(read_body *b, tileir_op *op, const tileir_item *item)
{
    const char *recipe = ts__tileir_rows[op->code].recipe;
    uint32_t n = item->n == TILEIR_MANY ? ts__tileir_count(b->c, 1, "operands") : item->n;
    if (item->optional && !(op->flags >> ts__tileir_flag(recipe, item->name, item->n_name) & 1))
        n = 0;
    op->group[op->n_groups++] = n;
    for (uint32_t i = 0; i < n && tileir_good(b->c); i++) {
        uint32_t number = ts__tileir_index(b->c, b->scope.n, "value");
        if (tileir_good(b->c) && !TS_PUSH(&b->c->m->arena, &b->opnd, b->scope.at[number]))
            ts__tileir_nomem(b->c);
    }
}

static void read_results(read_body *b, tileir_op *op, const tileir_item *item)
{
    op->n_results = item->n == TILEIR_MANY ? ts__tileir_count(b->c, 1, "results") : item->n;
    for (uint32_t i = 0; i < op->n_results && tileir_good(b->c); i++) {
        uint32_t value = read_value(b, ts__tileir_index(b->c, b->c->m->type.n, "type"));
        op->first_result = i ? op->first_result : value;
    }
}

/* A print has given a token since 13.2; here it always does. */
static void read_print_token(read_body *b, tileir_op *op)
{
    ts_tileir *m = b->c->m;
    uint32_t type = 0;
    while (type < m->type.n && m->type.at[type].tag != TILEIR_TOKEN)
        type++;
    if (type == m->type.n && !TS_PUSH(&m->arena, &m->type, (tileir_type){.tag = TILEIR_TOKEN}))
        ts__tileir_nomem(b->c);
    if (op->n_results)
        ts__tileir_bad(b->c, "print_tko has no results before version 13.2");
    if (!tileir_good(b->c))
        return;
    op->n_results = 1;
    op->first_result = read_value(b, type);
}

static void read_attribute(read_body *b, tileir_op *op, const tileir_item *item)
{
    const char *recipe = ts__tileir_rows[op->code].recipe;
    tileir_attr *out = &op->attr[op->n_attrs++];
    if (item->since > b->c->m->version)
        *out = (tileir_attr){.kind = item->kind, .value = item->before};
    else if (!item->optional || op->flags >> ts__tileir_flag(recipe, item->name, item->n_name) & 1)
        ts__tileir_read_attr(b->c, (tileir_kind)item->kind, 0, out);
}

static void read_regions(read_body *b, tileir_op *op, const tileir_item *item, uint32_t depth);

/* The operation's room for attributes and regions, as its recipe says. */
static void read_room(read_body *b, tileir_op *op)
{
    const char *at = ts__tileir_rows[op->code].recipe;
    tileir_item item;
    uint32_t n_attrs = 0, n_regions = 0;
    while (ts__tileir_next(&at, &item)) {
        n_attrs += item.what == 'a';
        n_regions += item.what == '{' ? item.n : 0;
    }
    op->attr = TS_NEW_N(&b->c->m->arena, tileir_attr, n_attrs);
    op->region = TS_NEW_N(&b->c->m->arena, tileir_region, n_regions);
    if ((n_attrs && !op->attr) || (n_regions && !op->region))
        ts__tileir_nomem(b->c);
}

static void read_keep_operands(read_body *b, tileir_op *op, uint32_t first)
{
    op->n_opnds = b->opnd.n - first;
    op->opnd = TS_NEW_N(&b->c->m->arena, uint32_t, op->n_opnds);
    if (op->n_opnds && !op->opnd) {
        ts__tileir_nomem(b->c);
        op->n_opnds = 0;
        return;
    }
    if (op->n_opnds)
        memcpy(op->opnd, b->opnd.at + first, op->n_opnds * sizeof *op->opnd);
    b->opnd.n = first;
}

/* The items of the recipe in order. Values of nested regions have numbers before the results, which are shown last. */
static void read_op(read_body *b, uint32_t depth, tileir_op *out)
{
    tileir_cursor *c = b->c;
    uint64_t opcode = ts__tileir_varint(c);
    const tileir_row *row = ts__tileir_row(opcode);
    if (tileir_good(c) && !row)
        ts__tileir_bad(c, "operation %llu does not exist", (unsigned long long)opcode);
    if (tileir_good(c) && row->since > c->m->version)
        ts__tileir_bad(c, "operation %s is newer than version 13.%u", row->name, c->m->version % 10);
    if (!tileir_good(c))
        return;
    tileir_op op = {.code = (uint16_t)(row - ts__tileir_rows), .loc = read_place(b)};
    const char *at = row->recipe;
    uint32_t first = b->opnd.n;
    tileir_item item;
    read_room(b, &op);
    while (tileir_good(c) && ts__tileir_next(&at, &item)) {
        bool there = item.since <= c->m->version;
        if (item.what == '=')
            read_results(b, &op, &item);
        else if (item.what == '!')
            op.flags = there ? (uint32_t)ts__tileir_varint(c) : 0;
        else if (item.what == 'a')
            read_attribute(b, &op, &item);
        else if (item.what == '%')
            read_operands(b, &op, &item);
        else {
            read_keep_operands(b, &op, first);
            read_regions(b, &op, &item, depth + 1);
        }
    }
    if (!op.opnd)
        read_keep_operands(b, &op, first);
    for (uint32_t i = 0; i < op.n_results && tileir_good(c); i++)
        read_show(b, op.first_result + i);
    if (op.code == TILEIR_print_tko && c->m->version < 132)
        read_print_token(b, &op);
    *out = op;
}

static void read_ops(read_body *b, uint32_t n, uint32_t depth, tileir_region *region)
{
    tileir_op op;
    if (depth > TILEIR_DEPTH)
        ts__tileir_bad(b->c, "regions lie in each other deeper than %d", TILEIR_DEPTH);
    for (uint32_t i = 0; i < n && tileir_good(b->c) && (n != UINT32_MAX || b->c->at < b->c->end); i++) {
        read_op(b, depth, &op);
        if (tileir_good(b->c) && !TS_PUSH(&b->c->m->arena, &region->op, op))
            ts__tileir_nomem(b->c);
    }
}

static void read_args(read_body *b, uint32_t n, tileir_region *region)
{
    region->n_args = n;
    region->first_arg = b->fn->value.n;
    for (uint32_t i = 0; i < n && tileir_good(b->c); i++)
        read_show(b, read_value(b, ts__tileir_index(b->c, b->c->m->type.n, "type")));
}

static void read_regions(read_body *b, tileir_op *op, const tileir_item *item, uint32_t depth)
{
    uint64_t n = ts__tileir_varint(b->c);
    if (tileir_good(b->c) && n != item->n)
        ts__tileir_bad(b->c, "%s has %llu regions, not %u", ts__tileir_rows[op->code].name, (unsigned long long)n,
                       item->n);
    for (; op->n_regions < item->n && tileir_good(b->c); op->n_regions++) {
        tileir_region *region = &op->region[op->n_regions];
        uint64_t n_blocks = ts__tileir_varint(b->c);
        if (tileir_good(b->c) && n_blocks > 1)
            ts__tileir_bad(b->c, "a region has %llu blocks, not one", (unsigned long long)n_blocks);
        region->n_blocks = (uint32_t)n_blocks;
        if (!n_blocks)
            continue;
        uint32_t scope = b->scope.n;
        read_args(b, ts__tileir_count(b->c, 1, "arguments"), region);
        read_ops(b, ts__tileir_count(b->c, 1, "operations"), depth, region);
        b->scope.n = scope;
    }
}

void ts__tileir_read_body(tileir_cursor *c, tileir_fn *fn, tileir_places places)
{
    read_body b = {.c = c, .fn = fn, .places = places};
    const tileir_type *type = ts__tileir_type(c->m, fn->type);
    if (!type || type->tag != TILEIR_FUNCTION) {
        ts__tileir_bad(c, "a function has type %u; wanted a function type", fn->type);
        return;
    }
    fn->loc = read_place(&b);
    fn->body.n_blocks = 1;
    fn->body.n_args = type->n_params;
    for (uint32_t i = 0; i < type->n_params && tileir_good(c); i++)
        read_show(&b, read_value(&b, (uint32_t)type->dims.at[i]));
    read_ops(&b, UINT32_MAX, 0, &fn->body);
}
