/* SPDX-License-Identifier: Apache-2.0
 *
 * Names for numbers of the IR: parameters as the arguments they belong to, trip counts as expressions of them.
 *
 *     (%7 + 63) >> 6, %7 the second extent of a   ─▶   cdiv(a.shape[1], 64)
 */
#include "compile/count.h"
#include <stdio.h>

/* ---- parameters ------------------------------------------------------------------------------------ */

/* Where a walk over the specs stands: which parameter comes next, which argument it belongs to. */
typedef struct label_walk {
    const ts_report_request *request;
    size_t i_spec;
    uint32_t next, wanted;
    char *out;
    size_t n;
} label_walk;

/* True when one of the `n` parameters that begin here is the wanted one. */
static bool label_here(label_walk *w, uint32_t n, uint32_t *which)
{
    bool found = w->wanted >= w->next && w->wanted < w->next + n;
    *which = w->wanted - w->next;
    w->next += n;
    return found;
}

static bool label_array(label_walk *w, const char *name, uint32_t rank)
{
    uint32_t which;
    if (!label_here(w, 1 + 2 * rank, &which))
        return false;
    if (which == 0)
        snprintf(w->out, w->n, "%s", name);
    else
        snprintf(w->out, w->n, "%s.%s[%u]", name, which <= rank ? "shape" : "strides", (which - 1) % rank);
    return true;
}

/* One item of the spec array and those that belong to it; true when it holds the wanted parameter. */
static bool label_item(label_walk *w, const char *name, uint32_t depth)
{
    const ts_spec *spec = &w->request->spec[w->i_spec++];
    uint32_t which;
    char part[64];
    switch (spec->kind) {
    case TS_SPEC_ARRAY:
        return label_array(w, name, spec->rank);
    case TS_SPEC_SCALAR:
        if (!label_here(w, 1, &which))
            return false;
        snprintf(w->out, w->n, "%s", name);
        return true;
    case TS_SPEC_LIST:
        w->i_spec++; /* the item that describes its arrays */
        if (!label_here(w, 2, &which))
            return false;
        snprintf(w->out, w->n, which ? "len(%s)" : "%s", name);
        return true;
    case TS_SPEC_TUPLE:
        for (int64_t i = 0; i < spec->value && w->i_spec < w->request->n_spec && depth < 64; i++) {
            snprintf(part, sizeof part, "%.48s[%d]", name, (int)i);
            if (label_item(w, part, depth + 1))
                return true;
        }
        return false;
    case TS_SPEC_RECORD:
    case TS_SPEC_COMPLEX: /* the tuple of its fields is next */
    case TS_SPEC_STRUCT:  /* its array */
        return w->i_spec < w->request->n_spec && label_item(w, name, depth);
    default:
        return false;
    }
}

void ts__count_label(const ts_report_request *request, uint32_t param, char *out, size_t n)
{
    label_walk w = {.request = request, .wanted = param, .out = out, .n = n};
    char name[64];
    for (size_t i = 0; w.i_spec < request->n_spec; i++) {
        bool named = request->names && i < request->n_names && request->names[i];
        snprintf(name, sizeof name, "%s", named ? request->names[i] : "");
        if (!named)
            snprintf(name, sizeof name, "arg%zu", i);
        if (label_item(&w, name, 0))
            return;
    }
    snprintf(out, n, "param%u", param);
}

/* ---- expressions ------------------------------------------------------------------------------------- */

enum { EXPR_DEPTH = 12 };

typedef struct expr {
    const ts_fn *fn;
    const ts_report_request *request;
    ts_text *out;
} expr;

static void expr_put(const expr *e, ts_val v, uint32_t depth)
{
    ts__count_expr(e->fn, e->request, v, depth, e->out);
}

/* x of (x + d - 1) / d, with d in *divisor; 0 when `v` has another form. */
static ts_val expr_rounded_up(const ts_fn *fn, ts_val v, int64_t divisor)
{
    int64_t add;
    const ts_inst *inst = ts_at(fn, v);
    if (inst->op != TS_OP_addi || !ts__const_as_int(fn, inst->opnd[1], &add) || add != divisor - 1)
        return 0;
    return inst->opnd[0];
}

/* Division by a constant d, however it is written: cdiv(x, d) or x // d. */
static bool expr_quotient(const expr *e, ts_val v, uint32_t depth)
{
    const ts_inst *inst = ts_at(e->fn, v);
    int64_t by;
    if ((inst->op != TS_OP_shri && inst->op != TS_OP_divi) || !ts__const_as_int(e->fn, inst->opnd[1], &by) || by < 0)
        return false;
    if (inst->op == TS_OP_shri)
        by = by < 62 ? (int64_t)1 << by : 0;
    ts_val x = expr_rounded_up(e->fn, inst->opnd[0], by);
    bool up = x || (inst->op == TS_OP_divi && TS_A_ROUND(inst->aux) == TS_RP);
    ts__text_puts(e->out, up ? "cdiv(" : "(");
    expr_put(e, x ? x : inst->opnd[0], depth + 1);
    ts__text_printf(e->out, up ? ", %lld)" : " // %lld)", (long long)by);
    return true;
}

static bool expr_binary(const expr *e, const ts_inst *inst, uint32_t depth)
{
    static const struct {
        ts_op op;
        const char *before, *between;
    } forms[] = {{TS_OP_addi, "(", " + "},  {TS_OP_subi, "(", " - "},   {TS_OP_muli, "(", " * "},
                 {TS_OP_divi, "(", " / "},  {TS_OP_remi, "(", " % "},   {TS_OP_shri, "(", " >> "},
                 {TS_OP_shli, "(", " << "}, {TS_OP_mini, "min(", ", "}, {TS_OP_maxi, "max(", ", "}};
    for (size_t i = 0; i < TS_COUNT(forms); i++) {
        if ((ts_op)inst->op != forms[i].op)
            continue;
        ts__text_puts(e->out, forms[i].before);
        expr_put(e, inst->opnd[0], depth + 1);
        ts__text_puts(e->out, forms[i].between);
        expr_put(e, inst->opnd[1], depth + 1);
        ts__text_putc(e->out, ')');
        return true;
    }
    return false;
}

ts_val ts__count_extent(const ts_fn *fn, ts_val make, uint32_t dim, int64_t *value)
{
    const ts_type_info *tensor = ts_type_get(fn->module, ts_type_of(fn, make));
    uint32_t at = 1;
    *value = tensor->dims[dim];
    for (uint32_t i = 0; i < dim; i++)
        at += tensor->dims[i] == TS_DYNAMIC;
    return tensor->dims[dim] == TS_DYNAMIC && at < ts_at(fn, make)->n_opnd ? ts_opnd(fn, make, at) : 0;
}

/* get_tensor_shape and get_index_space_shape: an extent, or how many tiles it holds. */
static void expr_shape(const expr *e, ts_val v, uint32_t depth)
{
    const ts_inst *inst = ts_at(e->fn, v);
    ts_val view = inst->opnd[0];
    const ts_type_info *info = ts_type_get(e->fn->module, ts_type_of(e->fn, view));
    uint32_t axis = inst->aux, dim = info->dim_map ? (uint32_t)info->dim_map[axis] : axis;
    bool tiles = inst->op == TS_OP_get_index_space_shape;
    ts_val make = info->kind == TS_KIND_TENSOR_VIEW ? view : ts_opnd(e->fn, view, 0);
    int64_t fixed, step = !tiles ? 1 : info->kind == TS_KIND_STRIDED_VIEW ? info->strides[axis] : info->dims[axis];
    if (ts_at(e->fn, make)->op != TS_OP_make_tensor_view) {
        ts__text_putc(e->out, '?');
        return;
    }
    ts_val extent = ts__count_extent(e->fn, make, tiles ? dim : axis, &fixed);
    ts__text_puts(e->out, step > 1 ? "cdiv(" : "");
    if (extent)
        expr_put(e, extent, depth + 1);
    else
        ts__text_int(e->out, fixed);
    if (step > 1)
        ts__text_printf(e->out, ", %lld)", (long long)step);
}

void ts__count_expr(const ts_fn *fn, const ts_report_request *request, ts_val v, uint32_t depth, ts_text *out)
{
    expr e = {fn, request, out};
    const ts_inst *inst = ts_at(fn, v);
    int64_t value;
    char label[96];
    if (ts__const_as_int(fn, v, &value)) {
        ts__text_int(out, value);
        return;
    }
    if (depth > EXPR_DEPTH || expr_quotient(&e, v, depth) || expr_binary(&e, inst, depth)) {
        if (depth > EXPR_DEPTH)
            ts__text_putc(out, '?');
        return;
    }
    switch ((int)inst->op) {
    case TS_OP_param:
        ts__count_label(request, inst->aux, label, sizeof label);
        ts__text_puts(out, label);
        break;
    case TS_OP_assume:
    case TS_OP_exti:
    case TS_OP_trunci:
        ts__count_expr(fn, request, inst->opnd[0], depth, out);
        break;
    case TS_OP_get_tile_block_id:
        ts__text_printf(out, "bid(%u)", inst->aux);
        break;
    case TS_OP_get_num_tile_blocks:
        ts__text_printf(out, "num_blocks(%u)", inst->aux);
        break;
    case TS_OP_get_tensor_shape:
    case TS_OP_get_index_space_shape:
        expr_shape(&e, v, depth);
        break;
    default:
        ts__text_putc(out, '?');
    }
}
