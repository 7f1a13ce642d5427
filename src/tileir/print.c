/* SPDX-License-Identifier: Apache-2.0
 *
 * The text of a module, for people: everything that the file says, operation by operation.
 *
 *     tileir 13.3
 *     kernel @add(%0: tile<ptr<f32>>, %1: tile<i32>) {
 *       %2, %3, %4 = get_tile_block_id : tile<i32>, tile<i32>, tile<i32>
 *       %5 = addi overflow=wraps %1, %2 : tile<i32>
 *       return
 *     }
 *
 * Attributes stand in front of the operands, as name=value; optional operands as name=%value behind the others.
 */
#include "ir/text.h"
#include "tileir/tileir.h"

typedef struct print {
    const ts_tileir *m;
    const tileir_fn *fn;
    ts_text *out;
    uint32_t indent;
} print;

/* ---- types ---------------------------------------------------------------------------------------------- */

static void print_extents(ts_text *out, tileir_list list, const char *between)
{
    for (uint32_t i = 0; i < list.n; i++) {
        ts__text_puts(out, i ? between : "");
        if (list.at[i] == INT64_MIN)
            ts__text_putc(out, '?');
        else
            ts__text_int(out, list.at[i]);
    }
}

static void print_tensor_view(const ts_tileir *m, const tileir_type *t, ts_text *out)
{
    ts__text_puts(out, "tensor_view<");
    print_extents(out, t->dims, "x");
    ts__text_puts(out, t->dims.n ? "x" : "");
    ts__tileir_print_type(m, t->elem, out);
    ts__text_puts(out, ", strides=[");
    print_extents(out, t->strides, ", ");
    ts__text_puts(out, t->attr ? "], default>" : "]>");
}

static void print_view(const ts_tileir *m, const tileir_type *t, ts_text *out)
{
    ts__text_puts(out, t->tag == TILEIR_PARTITION_VIEW ? "partition_view<["
                       : t->tag == TILEIR_STRIDED_VIEW ? "strided_view<["
                                                       : "gather_scatter_view<[");
    print_extents(out, t->dims, ", ");
    ts__text_puts(out, "], ");
    ts__tileir_print_type(m, t->elem, out);
    if (t->tag == TILEIR_GATHER_SCATTER_VIEW)
        ts__text_printf(out, ", sparse_dim=%u", t->sparse_dim);
    else {
        ts__text_puts(out, ", dim_map=[");
        print_extents(out, t->map, ", ");
        ts__text_putc(out, ']');
    }
    if (t->tag == TILEIR_STRIDED_VIEW) {
        ts__text_puts(out, ", steps=[");
        print_extents(out, t->strides, ", ");
        ts__text_putc(out, ']');
    }
    if (t->padding && t->padding < TS_COUNT(ts__paddings))
        ts__text_printf(out, ", padding=%s", ts__paddings[t->padding]);
    ts__text_putc(out, '>');
}

static void print_function_type(const ts_tileir *m, const tileir_type *t, ts_text *out)
{
    ts__text_putc(out, '(');
    for (uint32_t i = 0; i < t->dims.n; i++) {
        ts__text_puts(out, i == t->n_params ? ") -> (" : i ? ", " : "");
        ts__tileir_print_type(m, (uint32_t)t->dims.at[i], out);
    }
    ts__text_putc(out, ')');
}

void ts__tileir_print_type(const ts_tileir *m, uint32_t type, ts_text *out)
{
    const tileir_type *t = ts__tileir_type(m, type);
    switch (t ? t->tag : UINT32_MAX) {
    case UINT32_MAX:
        ts__text_puts(out, "?");
        break;
    case TILEIR_TOKEN:
        ts__text_puts(out, "token");
        break;
    case TILEIR_PTR:
        ts__text_puts(out, "ptr<");
        ts__tileir_print_type(m, t->elem, out);
        ts__text_puts(out, t->attr ? ", default>" : ">");
        break;
    case TILEIR_TILE:
        ts__text_puts(out, "tile<");
        print_extents(out, t->dims, "x");
        ts__text_puts(out, t->dims.n ? "x" : "");
        ts__tileir_print_type(m, t->elem, out);
        ts__text_putc(out, '>');
        break;
    case TILEIR_TENSOR_VIEW:
        print_tensor_view(m, t, out);
        break;
    case TILEIR_FUNCTION:
        print_function_type(m, t, out);
        break;
    case TILEIR_PARTITION_VIEW:
    case TILEIR_STRIDED_VIEW:
    case TILEIR_GATHER_SCATTER_VIEW:
        print_view(m, t, out);
        break;
    default:
        ts__text_puts(out, ts_scalar_name(ts__tileir_scalar(t->tag)));
    }
}

/* ---- attributes ------------------------------------------------------------------------------------------ */

static void print_string(ts_text *out, const char *text, uint32_t n)
{
    ts__text_putc(out, '"');
    for (uint32_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)text[i];
        if (c == '"' || c == '\\')
            ts__text_printf(out, "\\%c", c);
        else if (c < 32 || c == 127)
            ts__text_printf(out, "\\%02x", c);
        else
            ts__text_putc(out, (char)c);
    }
    ts__text_putc(out, '"');
}

static void print_name(const ts_tileir *m, uint32_t string, ts_text *out)
{
    if (string < m->str.n)
        print_string(out, m->str.at[string].at, m->str.at[string].n);
    else
        ts__text_puts(out, "?");
}

static void print_hex(const ts_tileir *m, uint64_t constant, ts_text *out)
{
    ts__text_puts(out, "0x");
    for (uint32_t i = 0; constant < m->constant.n && i < m->constant.at[constant].n; i++)
        ts__text_printf(out, "%02x", (unsigned char)m->constant.at[constant].at[i]);
}

static void print_bound(ts_text *out, bool there, int64_t value)
{
    if (there)
        ts__text_int(out, value);
    else
        ts__text_putc(out, '?');
}

static void print_attr(const ts_tileir *m, const tileir_attr *a, ts_text *out);

static void print_items(const ts_tileir *m, const tileir_attr *a, ts_text *out)
{
    ts__text_putc(out, a->names ? '{' : '[');
    for (uint32_t i = 0; i < a->n; i++) {
        ts__text_puts(out, i ? ", " : "");
        if (a->names)
            ts__text_printf(out, "%s=", ts__tileir_str(m, a->names[i]));
        print_attr(m, &a->items[i], out);
    }
    ts__text_putc(out, a->names ? '}' : ']');
}

static void print_numbers(const tileir_attr *a, ts_text *out)
{
    ts__text_putc(out, '[');
    print_extents(out, (tileir_list){a->n, a->numbers}, ", ");
    ts__text_putc(out, ']');
}

static void print_assumption(const tileir_attr *a, ts_text *out)
{
    if (a->kind == TILEIR_KIND_bounded) {
        ts__text_puts(out, "bounded(");
        print_bound(out, a->has & 1, a->numbers[0]);
        ts__text_puts(out, ", ");
        print_bound(out, a->has & 2, a->numbers[1]);
    } else {
        ts__text_puts(out, "div_by(");
        ts__text_int(out, a->numbers[0]);
        if (a->has) {
            ts__text_puts(out, ", every ");
            print_bound(out, a->has & 1, a->numbers[1]);
            ts__text_puts(out, " along ");
            print_bound(out, a->has & 2, a->numbers[2]);
        }
    }
    ts__text_putc(out, ')');
}

static void print_attr(const ts_tileir *m, const tileir_attr *a, ts_text *out)
{
    const char *word = ts__tileir_word((tileir_kind)a->kind, a->value);
    switch (a->kind) {
    case TILEIR_KIND_str:
        print_name(m, (uint32_t)a->value, out);
        break;
    case TILEIR_KIND_type:
        ts__tileir_print_type(m, a->type, out);
        break;
    case TILEIR_KIND_dense:
        print_hex(m, a->value, out);
        break;
    case TILEIR_KIND_array:
    case TILEIR_KIND_dict:
    case TILEIR_KIND_hints:
        print_items(m, a, out);
        break;
    case TILEIR_KIND_same:
    case TILEIR_KIND_words:
    case TILEIR_KIND_bools:
        print_numbers(a, out);
        break;
    case TILEIR_KIND_div_by:
    case TILEIR_KIND_bounded:
        print_assumption(a, out);
        break;
    case TILEIR_KIND_float:
        ts__text_printf(out, "0x%llx:", (unsigned long long)a->value);
        ts__tileir_print_type(m, a->type, out);
        break;
    default:
        if (word)
            ts__text_puts(out, word);
        else
            ts__text_printf(out, "%llu", (unsigned long long)a->value);
    }
}

/* ---- operations ------------------------------------------------------------------------------------------ */

static void print_line(print *p)
{
    ts__text_putc(p->out, '\n');
    for (uint32_t i = 0; i < p->indent; i++)
        ts__text_puts(p->out, "  ");
}

static void print_types(print *p, uint32_t first, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        ts__text_puts(p->out, i ? ", " : " : ");
        ts__tileir_print_type(p->m, p->fn->value.at[first + i], p->out);
    }
}

/* The flags that say something by themselves. */
static void print_flags(print *p, const tileir_op *op, const tileir_item *item)
{
    const char *at = item->name;
    for (uint32_t bit = 0; *at != ']'; bit++) {
        const char *end = at + strcspn(at, "?,]");
        if (*end != '?' && op->flags >> bit & 1)
            ts__text_printf(p->out, " %.*s", (int)(end - at), at);
        at = end + (*end == '?');
        at += *at == ',';
    }
}

static void print_operands(print *p, const tileir_op *op, const tileir_item *item, uint32_t first, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        ts__text_puts(p->out, first + i ? ", " : " ");
        if (item->optional)
            ts__text_printf(p->out, "%.*s=", (int)item->n_name, item->name);
        ts__text_printf(p->out, "%%%u", op->opnd[first + i]);
    }
}

static void print_region(print *p, const tileir_region *region, bool args);

static void print_regions(print *p, const tileir_op *op)
{
    for (uint32_t i = 0; i < op->n_regions; i++)
        if (op->region[i].n_blocks) {
            ts__text_puts(p->out, i ? " else {" : " {");
            print_region(p, &op->region[i], true);
            print_line(p);
            ts__text_putc(p->out, '}');
        }
}

static void print_head(print *p, const tileir_op *op)
{
    const char *at = ts__tileir_rows[op->code].recipe;
    tileir_item item;
    uint32_t attr = 0, group = 0, opnd = 0;
    for (uint32_t i = 0; i < op->n_results; i++)
        ts__text_printf(p->out, i ? ", %%%u" : "%%%u", op->first_result + i);
    ts__text_puts(p->out, op->n_results ? " = " : "");
    ts__text_puts(p->out, ts__tileir_rows[op->code].name);
    while (ts__tileir_next(&at, &item)) {
        if (item.what == '!')
            print_flags(p, op, &item);
        else if (item.what == 'a' && attr < op->n_attrs) {
            const tileir_attr *a = &op->attr[attr++];
            if (!a->kind || (a->kind == TILEIR_KIND_bools && !a->n))
                continue;
            ts__text_printf(p->out, " %.*s=", (int)item.n_name, item.name);
            print_attr(p->m, a, p->out);
        } else if (item.what == '%' && group < op->n_groups) {
            print_operands(p, op, &item, opnd, op->group[group]);
            opnd += op->group[group++];
        }
    }
}

static void print_op(print *p, const tileir_op *op)
{
    print_head(p, op);
    print_types(p, op->first_result, op->n_results);
    print_regions(p, op);
    const tileir_loc *loc = op->loc < p->m->loc.n ? &p->m->loc.at[op->loc] : NULL;
    if (loc && loc->line) {
        ts__text_puts(p->out, " loc(");
        print_name(p->m, loc->file - 1, p->out);
        ts__text_printf(p->out, ":%llu:%llu)", (unsigned long long)loc->line, (unsigned long long)loc->col);
    }
}

static void print_region(print *p, const tileir_region *region, bool args)
{
    p->indent++;
    if (args && region->n_args) {
        print_line(p);
        for (uint32_t i = 0; i < region->n_args; i++) {
            ts__text_printf(p->out, i ? ", %%%u: " : "args %%%u: ", region->first_arg + i);
            ts__tileir_print_type(p->m, p->fn->value.at[region->first_arg + i], p->out);
        }
    }
    for (uint32_t i = 0; i < region->op.n; i++) {
        print_line(p);
        print_op(p, &region->op.at[i]);
    }
    p->indent--;
}

void ts__tileir_print_op(const ts_tileir *m, const tileir_fn *fn, const tileir_op *op, ts_text *out)
{
    print p = {m, fn, out, 0};
    print_head(&p, op);
    print_types(&p, op->first_result, op->n_results);
}

/* ---- modules --------------------------------------------------------------------------------------------- */

static void print_global(print *p, const tileir_global *g)
{
    ts__text_puts(p->out, g->is_constant ? "constant @" : "global @");
    print_name(p->m, g->name, p->out);
    ts__text_printf(p->out, "%s align=%u : ", g->is_private ? " private" : "", g->align);
    ts__tileir_print_type(p->m, g->type, p->out);
    ts__text_puts(p->out, " = ");
    print_hex(p->m, g->constant, p->out);
    ts__text_putc(p->out, '\n');
}

static void print_fn(print *p, const tileir_fn *fn)
{
    p->fn = fn;
    ts__text_puts(p->out, fn->entry ? "kernel @" : "function @");
    print_name(p->m, fn->name, p->out);
    ts__text_putc(p->out, '(');
    for (uint32_t i = 0; i < fn->body.n_args; i++) {
        ts__text_printf(p->out, i ? ", %%%u: " : "%%%u: ", fn->body.first_arg + i);
        ts__tileir_print_type(p->m, fn->value.at[fn->body.first_arg + i], p->out);
    }
    ts__text_putc(p->out, ')');
    if (fn->hints.kind) {
        ts__text_puts(p->out, " hints=");
        print_attr(p->m, &fn->hints, p->out);
    }
    ts__text_puts(p->out, " {");
    print_region(p, &fn->body, false);
    ts__text_puts(p->out, "\n}\n");
}

ts_status ts_tileir_print(const ts_tileir *module, const ts_alloc *alloc, char **out, size_t *n, ts_error *err)
{
    TS_NEED(err, out);
    *out = NULL;
    TS_NEED(err, module, n);
    const ts_tileir *m = module;
    ts_text text;
    ts__text_init(&text, alloc ? alloc : ts_alloc_default());
    print p = {m, NULL, &text, 0};
    ts__text_printf(&text, "tileir %u.%u\n", m->version / 10, m->version % 10);
    if (m->producer) {
        ts__text_puts(&text, "producer ");
        print_name(m, m->producer - 1, &text);
        ts__text_putc(&text, '\n');
    }
    for (uint32_t i = 0; i < m->global.n; i++)
        print_global(&p, &m->global.at[i]);
    for (uint32_t i = 0; i < m->fn.n; i++)
        print_fn(&p, &m->fn.at[i]);
    return ts__text_take(&text, out, n, err);
}
