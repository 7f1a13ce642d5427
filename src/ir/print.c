/* SPDX-License-Identifier: Apache-2.0
 *
 * IR to text. The form is total: read.c gives back the same function from it.
 *
 *     entry @k(%1: ptr<f32>, %2: i32) num_warps=4 {
 *       %3 = constant 0 : i32
 *       %4 = constant 0.5 : tile<64xf32>
 *       %7 = for %5 in (%3, %2, %3) iter(%6 = %4) : tile<64xf32> {
 *         %8 = addf rz ftz %6, %6 : tile<64xf32>
 *         continue %8
 *       }
 *       return
 *     }
 *
 * `%N` is the index of the instruction, so numbers have gaps where an instruction has no value.
 * Operations: name, attribute words (text.c), operands, optional operands by role (`mask=%5`),
 * result types. Arguments of a region are written with its opener, its `res` instructions as the
 * opener's results; whatever does not fit that picture is written as a `raw` line, because the
 * verifier must be able to show any broken instruction.
 */
#include "ir/text.h"

typedef struct print_ctx {
    const ts_fn *fn;
    const ts_module *m;
    ts_text *out;
    uint32_t flags;
} print_ctx;

/* ---- strings and names ----------------------------------------------------------------------- */

static void print_string(ts_text *out, const char *s)
{
    static const char hex[] = "0123456789abcdef";
    ts__text_putc(out, '"');
    for (; *s; s++) {
        unsigned char c = (unsigned char)*s;
        if (c == '"' || c == '\\') {
            ts__text_putc(out, '\\');
            ts__text_putc(out, *s);
        } else if (c == '\n')
            ts__text_puts(out, "\\n");
        else if (c < 32 || c == 127) {
            char escape[] = {'\\', 'x', hex[c >> 4], hex[c & 15]};
            ts__text_put(out, escape, sizeof escape);
        } else
            ts__text_putc(out, *s);
    }
    ts__text_putc(out, '"');
}

static bool print_is_plain_name(const char *s)
{
    if (!*s)
        return false;
    for (; *s; s++)
        if (!(*s == '_' || *s == '.' || *s == '$' || (*s >= '0' && *s <= '9') ||
              ((*s | 32) >= 'a' && (*s | 32) <= 'z')))
            return false;
    return true;
}

static void print_name(ts_text *out, const char *s) /* @name or @"any name" */
{
    ts__text_putc(out, '@');
    if (print_is_plain_name(s))
        ts__text_puts(out, s);
    else
        print_string(out, s);
}

static void print_hex64(ts_text *out, uint64_t x)
{
    static const char hex[] = "0123456789abcdef";
    char digits[16];
    int n = 0;
    do
        digits[n++] = hex[x & 15];
    while (x >>= 4);
    ts__text_puts(out, "0x");
    while (n)
        ts__text_putc(out, digits[--n]);
}

static void print_unsigned(ts_text *out, uint32_t x)
{
    ts__text_int(out, (int64_t)x);
}

static void print_value(ts_text *out, ts_val v)
{
    ts__text_putc(out, '%');
    print_unsigned(out, v);
}

/* ---- types ----------------------------------------------------------------------------------- */

static void print_dim(ts_text *out, int64_t dim)
{
    if (dim == TS_DYNAMIC)
        ts__text_putc(out, '?');
    else
        ts__text_int(out, dim);
}

static void print_list64(ts_text *out, const char *label, const int64_t *at, uint32_t n)
{
    ts__text_puts(out, label);
    for (uint32_t i = 0; i < n; i++) {
        if (i)
            ts__text_puts(out, ", ");
        print_dim(out, at ? at[i] : 0);
    }
    ts__text_putc(out, ']');
}

static void print_type_at(const ts_module *m, ts_type type, uint32_t depth, ts_text *out);

static void print_shape(ts_text *out, const ts_type_info *t)
{
    for (uint32_t i = 0; i < t->rank; i++) {
        print_dim(out, t->dims ? t->dims[i] : 0);
        ts__text_putc(out, 'x');
    }
}

static bool print_is_identity(const int32_t *map, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (map[i] != (int32_t)i)
            return false;
    return true;
}

/* partition_view<[16, 32], tensor_view<...>, steps=[..], dim_map=[..], sparse_dim=0, padding=zero>
 */
static void print_view(const ts_module *m, const ts_type_info *t, const char *name, uint32_t depth,
                       ts_text *out)
{
    ts__text_puts(out, name);
    print_list64(out, "<[", t->dims, t->rank);
    ts__text_puts(out, ", ");
    print_type_at(m, t->elem, depth + 1, out);
    if (t->strides)
        print_list64(out, ", steps=[", t->strides, t->rank);
    if (t->dim_map && !print_is_identity(t->dim_map, t->rank)) {
        ts__text_puts(out, ", dim_map=[");
        for (uint32_t i = 0; i < t->rank; i++) {
            ts__text_puts(out, i ? ", " : "");
            ts__text_int(out, t->dim_map[i]);
        }
        ts__text_putc(out, ']');
    }
    if (t->kind == TS_KIND_GATHER_SCATTER_VIEW) {
        ts__text_puts(out, ", sparse_dim=");
        print_unsigned(out, t->sparse_dim);
    }
    if (t->padding) {
        ts__text_puts(out, ", padding=");
        ts__text_puts(out, t->padding < TS_COUNT(ts__paddings) ? ts__paddings[t->padding] : "?");
    }
    ts__text_putc(out, '>');
}

static void print_types(const ts_module *m, const ts_type *at, uint32_t n, uint32_t depth,
                        ts_text *out)
{
    for (uint32_t i = 0; i < n; i++) {
        ts__text_puts(out, i ? ", " : "");
        print_type_at(m, at[i], depth, out);
    }
}

static void print_func_type(const ts_module *m, const ts_type_info *t, uint32_t depth, ts_text *out)
{
    ts__text_puts(out, "func<(");
    if (t->sub)
        print_types(m, t->sub, t->n_params, depth + 1, out);
    ts__text_puts(out, ") -> (");
    if (t->sub)
        print_types(m, t->sub + t->n_params, t->n_results, depth + 1, out);
    ts__text_puts(out, ")>");
}

static void print_composite(const ts_module *m, const ts_type_info *t, uint32_t depth, ts_text *out)
{
    switch (t->kind) {
    case TS_KIND_TILE:
        ts__text_puts(out, "tile<");
        print_shape(out, t);
        print_type_at(m, t->elem, depth + 1, out);
        ts__text_putc(out, '>');
        break;
    case TS_KIND_PTR:
        ts__text_puts(out, "ptr<");
        print_type_at(m, t->elem, depth + 1, out);
        if (t->space) {
            ts__text_puts(out, ", ");
            ts__text_puts(out, t->space < TS_COUNT(ts__spaces) ? ts__spaces[t->space] : "?");
        }
        ts__text_putc(out, '>');
        break;
    case TS_KIND_TENSOR_VIEW:
        ts__text_puts(out, "tensor_view<");
        print_shape(out, t);
        print_type_at(m, t->elem, depth + 1, out);
        print_list64(out, ", strides=[", t->strides, t->rank);
        ts__text_putc(out, '>');
        break;
    case TS_KIND_PARTITION_VIEW:
        print_view(m, t, "partition_view", depth, out);
        break;
    case TS_KIND_STRIDED_VIEW:
        print_view(m, t, "strided_view", depth, out);
        break;
    case TS_KIND_GATHER_SCATTER_VIEW:
        print_view(m, t, "gather_scatter_view", depth, out);
        break;
    case TS_KIND_FUNC:
        print_func_type(m, t, depth, out);
        break;
    default:
        ts__text_puts(out, "?kind");
    }
}

static void print_type_at(const ts_module *m, ts_type type, uint32_t depth, ts_text *out)
{
    if (type < TS_T_FIRST_COMPOSITE)
        ts__text_puts(out, ts_scalar_name(type));
    else if (!ts__type_known(m, type) || depth > TS__MAX_TYPE_NEST) {
        ts__text_puts(out, "?type");
        print_unsigned(out, type);
    } else
        print_composite(m, ts_type_get(m, type), depth, out);
}

void ts__type_print(const ts_module *m, ts_type type, ts_text *out)
{
    print_type_at(m, type, 0, out);
}

/* ---- numbers --------------------------------------------------------------------------------- */

static double print_float_value(ts_type elem, uint64_t payload)
{
    float single;
    double value;
    switch (elem) {
    case TS_T_f64:
        memcpy(&value, &payload, 8);
        return value;
    case TS_T_f16:
        return ts__f16_to_f64((uint16_t)payload);
    case TS_T_bf16:
        return ts__bf16_to_f64((uint16_t)payload);
    default:
        memcpy(&single, &payload, 4);
        return (double)single;
    }
}

/* digits.digits with `places` decimal places, one at least */
static void print_fixed(ts_text *out, uint64_t mantissa, int places)
{
    char digits[32];
    int n = 0, least = places ? places : 1;
    if (!places)
        mantissa *= 10;
    for (; mantissa || n < least + 2; mantissa /= 10) {
        digits[n++] = (char)('0' + mantissa % 10);
        if (n == least)
            digits[n++] = '.';
    }
    while (n)
        ts__text_putc(out, digits[--n]);
}

static bool print_decimal(ts_type elem, uint64_t payload, ts_text *out)
{
    double value = print_float_value(elem, payload), size = value < 0 ? -value : value;
    uint64_t sign = payload >> (elem == TS_T_f64                        ? 63
                                : elem == TS_T_f16 || elem == TS_T_bf16 ? 15
                                                                        : 31) &
                    1;
    if (!(size < 9e14)) /* ".0" needs a digit, too */
        return false;
    for (int places = 0; places <= 9; places++) {
        double scaled = ts__decimal(1, places) * size + 0.5;
        if (!(scaled < 9007199254740992.0))
            return false;
        int64_t mantissa = (int64_t)scaled;
        double back = ts__decimal(mantissa, -places);
        if (ts__float_payload(elem, sign ? -back : back) != payload)
            continue;
        ts__text_puts(out, sign ? "-" : "");
        print_fixed(out, (uint64_t)mantissa, places);
        return true;
    }
    return false;
}

void ts__print_payload(ts_type elem, uint64_t payload, ts_text *out)
{
    static const double infinite = (double)(__builtin_inf());
    if (elem == TS_T_i1 && payload <= 1)
        ts__text_puts(out, payload ? "true" : "false");
    else if (ts_type_is_scalar(elem) && elem <= TS_T_i64)
        ts__text_int(out, (int64_t)payload);
    else if (elem == TS_T_i4)
        ts__text_int(out, (int64_t)payload);
    else if (!ts__has_decimal(elem))
        print_hex64(out, payload);
    else if (payload == ts__float_payload(elem, infinite))
        ts__text_puts(out, "inf");
    else if (payload == ts__float_payload(elem, -infinite))
        ts__text_puts(out, "-inf");
    else if (!print_decimal(elem, payload, out))
        print_hex64(out, payload);
}

static void print_dense(ts_text *out, const ts_module *m, uint32_t index)
{
    static const char hex[] = "0123456789abcdef";
    if (index >= m->dense.n) {
        ts__text_puts(out, "dense ?");
        print_unsigned(out, index);
        return;
    }
    const ts_dense *d = &m->dense.at[index];
    ts__text_puts(out, "dense \"");
    for (size_t i = 0; i < d->n_bytes; i++) {
        uint8_t byte = ((const uint8_t *)d->bytes)[i];
        char pair[] = {hex[byte >> 4], hex[byte & 15]};
        ts__text_put(out, pair, 2);
    }
    ts__text_putc(out, '"');
}

/* ---- attributes ------------------------------------------------------------------------------ */

static void print_field(ts_text *out, const ts__field *f, uint32_t value)
{
    ts__text_putc(out, ' ');
    if (value < f->n_names && f->names[value]) {
        ts__text_puts(out, f->names[value]);
        return;
    }
    ts__text_puts(out, f->label);
    ts__text_putc(out, '=');
    print_unsigned(out, value);
}

static void print_fields(print_ctx *p, const ts_inst *inst)
{
    ts__fields fields = ts__fields_of((ts_op)inst->op);
    for (uint32_t i = 0; i < fields.n; i++) {
        const ts__field *f = &fields.at[i];
        uint32_t value = (uint32_t)(inst->aux >> f->shift & (((uint64_t)1 << f->width) - 1));
        if (value || f->always)
            print_field(p->out, f, value);
    }
    uint32_t rest = inst->aux & ~ts__fields_mask(fields);
    if (rest) {
        ts__text_puts(p->out, " bits=");
        print_hex64(p->out, rest);
    }
}

static void print_words(print_ctx *p, const char *open, const uint32_t *w, uint32_t n,
                        const char *close)
{
    ts__text_puts(p->out, open);
    for (uint32_t i = 0; i < n; i++) {
        ts__text_puts(p->out, i ? ", " : "");
        print_unsigned(p->out, w[i]);
    }
    ts__text_puts(p->out, close);
}

static void print_constant(print_ctx *p, const ts_inst *inst)
{
    ts__text_putc(p->out, ' ');
    if (inst->aux)
        print_dense(p->out, p->m, inst->aux - 1);
    else {
        ts_type elem = ts__type_known(p->m, inst->type) ? ts_type_elem(p->m, inst->type) : 0;
        ts__print_payload(elem, ts__word64(inst->opnd), p->out);
    }
}

static void print_ints(print_ctx *p, const ts_inst *inst)
{
    const uint32_t *w = ts_pool(p->fn, inst);
    print_words(p, " [", w + 1, w[0], "]");
}

static void print_str(print_ctx *p, const ts_inst *inst)
{
    ts__text_putc(p->out, ' ');
    print_string(p->out, ts_str_get(p->m, inst->aux));
}

static void print_symbol(print_ctx *p, const ts_inst *inst)
{
    ts__text_putc(p->out, ' ');
    print_name(p->out, ts_str_get(p->m, inst->aux));
}

/* Only axis and direction: the identities follow the operands. */
static void print_reduce(print_ctx *p, const ts_inst *inst)
{
    const uint32_t *w = ts_pool(p->fn, inst);
    ts__text_puts(p->out, " axis=");
    print_unsigned(p->out, w[0]);
    if (w[1])
        ts__text_puts(p->out, w[1] == 1 ? " reverse" : " reverse=?");
}

static void print_bound(ts_text *out, const uint32_t *w)
{
    if (w[0])
        ts__text_int(out, (int64_t)ts__word64(w + 1));
    else
        ts__text_putc(out, '?');
}

static void print_assume(print_ctx *p, const ts_inst *inst)
{
    const uint32_t *w = ts_pool(p->fn, inst);
    if (w[0] == TS_ASSUME_SAME)
        print_words(p, " same(", w + 2, w[1], ")");
    else if (w[0] == TS_ASSUME_BOUNDED) {
        ts__text_puts(p->out, " bounded(");
        print_bound(p->out, w + 1);
        ts__text_puts(p->out, ", ");
        print_bound(p->out, w + 4);
        ts__text_putc(p->out, ')');
    } else {
        ts__text_puts(p->out, " div_by(");
        ts__text_int(p->out, (int64_t)ts__word64(w + 1));
        if (w[3]) {
            ts__text_puts(p->out, ", every=");
            print_unsigned(p->out, w[4]);
            ts__text_puts(p->out, ", along=");
            print_unsigned(p->out, w[5]);
        }
        ts__text_putc(p->out, ')');
    }
}

static void print_alloca(print_ctx *p, const ts_inst *inst)
{
    const uint32_t *w = ts_pool(p->fn, inst);
    ts__text_puts(p->out, " bytes=");
    print_unsigned(p->out, w[0]);
    ts__text_puts(p->out, " align=");
    print_unsigned(p->out, w[1]);
    if (w[2])
        ts__text_puts(p->out, w[2] == 1 ? " global" : " global=?");
}

static void (*const print_attrs[])(print_ctx *, const ts_inst *) = {
    [TS_ATTR_NONE] = print_fields,    [TS_ATTR_ARITH] = print_fields,
    [TS_ATTR_AXIS] = print_fields,    [TS_ATTR_MEM] = print_fields,
    [TS_ATTR_CONST] = print_constant, [TS_ATTR_INTS] = print_ints,
    [TS_ATTR_STR] = print_str,        [TS_ATTR_SYMBOL] = print_symbol,
    [TS_ATTR_REDUCE] = print_reduce,
    [TS_ATTR_ASSUME] = print_assume,  [TS_ATTR_ALLOCA] = print_alloca,
    [TS_ATTR_MMA] = print_fields,     [TS_ATTR_SIMT] = print_fields,
    [TS_ATTR_FN] = print_fields,
};

/* ---- instructions ---------------------------------------------------------------------------- */

/* Everything the instruction refers to lies inside the function's arrays. */
static bool print_is_sound(const ts_fn *fn, const ts_inst *inst)
{
    return inst->op < TS_OP_COUNT && ts__opnds_checked(fn, inst) &&
           ts__attr_words(fn, inst) != TS_NO && ts__n_plain(inst) != TS_NO &&
           !(inst->flags & ~(uint32_t)TS__ROLES) &&
           (inst->op != TS_OP_constant || inst->n_opnd == 0);
}

static void print_raw(print_ctx *p, ts_val v)
{
    const ts_inst *inst = ts_at(p->fn, v);
    print_value(p->out, v);
    ts__text_puts(p->out, " = raw ");
    if (inst->op < TS_OP_COUNT)
        ts__text_puts(p->out, ts__ops[inst->op].name);
    else {
        ts__text_puts(p->out, "op=");
        print_unsigned(p->out, inst->op);
    }
    const uint32_t *opnds = ts__opnds_checked(p->fn, inst);
    uint32_t shown = opnds ? TS_MIN(inst->n_opnd, 32u) : 0;
    for (uint32_t i = 0; i < shown; i++) {
        ts__text_puts(p->out, i ? ", " : " ");
        print_value(p->out, opnds[i]);
    }
    ts__text_puts(p->out, " n_opnd=");
    print_unsigned(p->out, inst->n_opnd);
    ts__text_puts(p->out, " flags=");
    print_hex64(p->out, inst->flags);
    ts__text_puts(p->out, " aux=");
    print_hex64(p->out, inst->aux);
    ts__text_puts(p->out, " : ");
    ts__type_print(p->m, inst->type, p->out);
}

static void print_opnds(print_ctx *p, const ts_inst *inst, uint32_t from, uint32_t to)
{
    const uint32_t *opnds = ts__opnds_checked(p->fn, inst);
    for (uint32_t i = from; i < to; i++) {
        ts__text_puts(p->out, i > from ? ", " : "");
        print_value(p->out, opnds[i]);
    }
}

static void print_roles(print_ctx *p, const ts_inst *inst)
{
    uint32_t at = ts__n_plain(inst);
    for (int i = 0; i < TS__N_ROLES; i++) {
        if (!(inst->flags & ts__roles[i].flag))
            continue;
        ts__text_putc(p->out, ' ');
        ts__text_puts(p->out, ts__roles[i].name);
        ts__text_putc(p->out, '=');
        print_opnds(p, inst, at, at + 1);
        at++;
    }
}

/* The run of `res` instructions from `first` on that name `owner` in order. */
static uint32_t print_n_res(const ts_fn *fn, ts_val first, ts_val owner)
{
    uint32_t n = 0;
    while (first + n < fn->inst.n && ts_at(fn, first + n)->op == TS_OP_res &&
           ts_at(fn, first + n)->n_opnd == 1 && ts_at(fn, first + n)->opnd[0] == owner &&
           ts_at(fn, first + n)->aux == n && !ts_at(fn, first + n)->flags)
        n++;
    return n;
}

static uint32_t print_n_args(const ts_fn *fn, ts_val opener)
{
    uint32_t n = 0;
    for (ts_val v = opener + 1; v < fn->inst.n; v++, n++) {
        const ts_inst *inst = ts_at(fn, v);
        if (inst->op != TS_OP_arg || inst->aux != n || inst->n_opnd || inst->flags)
            break;
    }
    return n;
}

static bool print_opens(const ts_inst *inst)
{
    return inst->op < TS_OP_COUNT && ts__ops[inst->op].flags & TS_REGION;
}

/* The `end` of an opener, or 0. */
static ts_val print_end_of(const ts_fn *fn, ts_val opener)
{
    uint32_t depth = 0;
    for (ts_val v = opener; v < fn->inst.n; v++) {
        const ts_inst *inst = ts_at(fn, v);
        depth += print_opens(inst);
        if (inst->op == TS_OP_end && --depth == 0)
            return v;
    }
    return 0;
}

static ts_val print_opener_of(const ts_fn *fn, ts_val end)
{
    uint32_t depth = 0;
    for (ts_val v = end; v > 0; v--) {
        const ts_inst *inst = ts_at(fn, v);
        depth += inst->op == TS_OP_end;
        if (print_opens(inst) && --depth == 0)
            return v;
    }
    return 0;
}

static void print_result_types(print_ctx *p, ts_val first, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        ts__text_puts(p->out, i ? ", " : " : ");
        ts__type_print(p->m, ts_at(p->fn, first + i)->type, p->out);
    }
}

static void print_result_names(print_ctx *p, ts_val first, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        print_value(p->out, first + i);
        ts__text_puts(p->out, i + 1 < n ? ", " : " = ");
    }
}

static void print_plain(print_ctx *p, ts_val v, uint32_t n_res)
{
    const ts_inst *inst = ts_at(p->fn, v);
    const ts_op_info *info = ts_info(inst);
    ts_val first = info->n_result == 1 ? v : v + 1;
    if (info->n_result == 1)
        n_res = 1;
    print_result_names(p, first, n_res);
    ts__text_puts(p->out, info->name);
    print_attrs[info->attr](p, inst);
    if (ts__n_plain(inst)) {
        ts__text_putc(p->out, ' ');
        print_opnds(p, inst, 0, ts__n_plain(inst));
    }
    print_roles(p, inst);
    print_result_types(p, first, n_res);
}

/* ---- regions --------------------------------------------------------------------------------- */

/* Arguments that are the operands, one for one. */
static bool print_is_carried(uint32_t op)
{
    return op == TS_OP_loop || op == TS_OP_recursion;
}

/* Type the argument would have if nothing were said; 0 = always write it. */
static ts_type print_arg_default(const print_ctx *p, const ts_inst *inst, uint32_t i)
{
    uint32_t from = inst->op == TS_OP_for ? (i ? i + 2 : 0) : print_is_carried(inst->op) ? i : i / 2;
    const uint32_t *opnds = ts__opnds_checked(p->fn, inst);
    if (from >= inst->n_opnd || opnds[from] >= p->fn->inst.n)
        return 0;
    ts_type type = ts_type_of(p->fn, opnds[from]);
    if (inst->op == TS_OP_for || print_is_carried(inst->op))
        return type;
    return ts__type_known(p->m, type) ? ts_type_elem(p->m, type) : 0;
}

static void print_arg(print_ctx *p, ts_val opener, uint32_t i)
{
    const ts_inst *inst = ts_at(p->fn, opener);
    ts_type type = ts_type_of(p->fn, opener + 1 + i);
    print_value(p->out, opener + 1 + i);
    if (type != print_arg_default(p, inst, i)) {
        ts__text_puts(p->out, ": ");
        ts__type_print(p->m, type, p->out);
    }
}

static void print_iter(print_ctx *p, ts_val opener, uint32_t first_arg, uint32_t first_opnd)
{
    const ts_inst *inst = ts_at(p->fn, opener);
    if (inst->n_opnd == first_opnd)
        return;
    ts__text_puts(p->out, " iter(");
    for (uint32_t i = 0; first_opnd + i < inst->n_opnd; i++) {
        ts__text_puts(p->out, i ? ", " : "");
        print_arg(p, opener, first_arg + i);
        ts__text_puts(p->out, " = ");
        print_opnds(p, inst, first_opnd + i, first_opnd + i + 1);
    }
    ts__text_putc(p->out, ')');
}

static void print_for(print_ctx *p, ts_val opener)
{
    ts__text_putc(p->out, ' ');
    print_arg(p, opener, 0);
    ts__text_puts(p->out, " in (");
    print_opnds(p, ts_at(p->fn, opener), 0, 3);
    ts__text_putc(p->out, ')');
    print_iter(p, opener, 1, 3);
}

static void print_loop(print_ctx *p, ts_val opener)
{
    print_iter(p, opener, 0, 0);
}

static void print_if(print_ctx *p, ts_val opener)
{
    ts__text_putc(p->out, ' ');
    print_opnds(p, ts_at(p->fn, opener), 0, ts_at(p->fn, opener)->n_opnd);
}

static void print_cold(print_ctx *p, ts_val opener)
{
    const ts_inst *inst = ts_at(p->fn, opener);
    ts__text_putc(p->out, ' ');
    print_opnds(p, inst, 0, 1);
    ts__text_puts(p->out, " (");
    print_opnds(p, inst, 1, inst->n_opnd);
    ts__text_putc(p->out, ')');
}

static void print_reduction(print_ctx *p, ts_val opener)
{
    const ts_inst *inst = ts_at(p->fn, opener);
    const uint32_t *w = ts_pool(p->fn, inst);
    ts__text_puts(p->out, " (");
    print_opnds(p, inst, 0, inst->n_opnd);
    ts__text_puts(p->out, ") identity(");
    for (uint32_t i = 0; i < w[2]; i++) {
        ts__text_puts(p->out, i ? ", " : "");
        ts__print_payload(print_arg_default(p, inst, 2 * i), ts__word64(w + 3 + 2 * (size_t)i),
                          p->out);
    }
    ts__text_puts(p->out, ") args(");
    for (uint32_t i = 0; i < 2 * inst->n_opnd; i++) {
        ts__text_puts(p->out, i ? ", " : "");
        print_arg(p, opener, i);
    }
    ts__text_putc(p->out, ')');
}

/* How many arguments an opener's region must have for the compact form; TS_NO if it has none. */
static uint32_t print_wanted_args(const ts_fn *fn, const ts_inst *inst)
{
    switch (inst->op) {
    case TS_OP_if:
        return inst->n_opnd == 1 ? 0 : TS_NO;
    case TS_OP_for:
        return inst->n_opnd >= 3 ? inst->n_opnd - 2u : TS_NO;
    case TS_OP_loop:
    case TS_OP_recursion:
        return inst->n_opnd;
    case TS_OP_cold:
        return inst->n_opnd ? 0 : TS_NO;
    default:
        return ts_pool(fn, inst)[2] == inst->n_opnd ? 2u * inst->n_opnd : TS_NO;
    }
}

/* The line of an opener, up to and with "{". False when its shape is broken. */
static bool print_opener(print_ctx *p, ts_val v)
{
    const ts_inst *inst = ts_at(p->fn, v);
    ts_val end = print_end_of(p->fn, v);
    if (!end || inst->flags || inst->type ||
        print_n_args(p->fn, v) != print_wanted_args(p->fn, inst))
        return false;
    uint32_t n_res = print_n_res(p->fn, end + 1, v);
    print_result_names(p, end + 1, n_res);
    ts__text_puts(p->out, ts_info(inst)->name);
    print_attrs[ts_info(inst)->attr](p, inst);
    if (inst->op == TS_OP_for)
        print_for(p, v);
    else if (print_is_carried(inst->op))
        print_loop(p, v);
    else if (inst->op == TS_OP_if)
        print_if(p, v);
    else if (inst->op == TS_OP_cold)
        print_cold(p, v);
    else
        print_reduction(p, v);
    print_result_types(p, end + 1, n_res);
    ts__text_puts(p->out, " {");
    return true;
}

/* ---- lines ----------------------------------------------------------------------------------- */

static void print_loc(print_ctx *p, ts_val v)
{
    ts_loc loc = v < p->fn->loc.n ? p->fn->loc.at[v] : 0;
    if (!(p->flags & TS_PRINT_LOC) || !loc)
        return;
    ts__text_puts(p->out, " loc(");
    for (int n = 0; n < 64 && loc && loc < p->m->locs.n; n++, loc = p->m->locs.at[loc].caller) {
        const ts_loc_info *l = &p->m->locs.at[loc];
        ts__text_puts(p->out, n ? " <- " : "");
        print_string(p->out, ts_str_get(p->m, l->file));
        ts__text_printf(p->out, ":%u:%u-%u:%u", l->line, l->col, l->end_line, l->end_col);
        if (l->function) {
            ts__text_putc(p->out, ' ');
            print_string(p->out, ts_str_get(p->m, l->function));
        }
    }
    ts__text_putc(p->out, ')');
}

static void print_indent(ts_text *out, uint32_t depth)
{
    for (uint32_t i = 0; i <= TS_MIN(depth, 40u); i++)
        ts__text_puts(out, "  ");
}

/* An instruction without a region; how many `res` after it belong to its line. */
static uint32_t print_simple(print_ctx *p, ts_val v)
{
    const ts_inst *inst = ts_at(p->fn, v);
    uint8_t op = (uint8_t)TS_MIN(inst->op, 255u);
    bool structural = op == TS_OP_arg || op == TS_OP_res || op == TS_OP_param || op == TS_OP_none ||
                      op == TS_OP_end || op == TS_OP_else;
    uint32_t n_res = 0;
    if (structural || !print_is_sound(p->fn, inst) || (inst->type && ts_info(inst)->n_result != 1))
        print_raw(p, v);
    else {
        if (ts_info(inst)->n_result == TS_N)
            n_res = print_n_res(p->fn, v + 1, v);
        print_plain(p, v, n_res);
    }
    return n_res;
}

/* One instruction with what belongs to it; the index of the next one to print. */
static ts_val print_step(print_ctx *p, ts_val v, uint32_t *depth)
{
    const ts_inst *inst = ts_at(p->fn, v);
    ts_val next = v + 1;
    if (*depth && inst->op == TS_OP_end) {
        print_indent(p->out, --*depth);
        ts__text_putc(p->out, '}');
        next += print_n_res(p->fn, next, print_opener_of(p->fn, v));
    } else if (*depth && inst->op == TS_OP_else) {
        print_indent(p->out, *depth - 1);
        ts__text_puts(p->out, "} else {");
    } else {
        print_indent(p->out, *depth);
        bool opens = print_opens(inst);
        if (opens && print_is_sound(p->fn, inst) && print_opener(p, v))
            next += print_n_args(p->fn, v);
        else if (opens)
            print_raw(p, v);
        else
            next += print_simple(p, v);
        *depth += opens;
    }
    print_loc(p, v);
    ts__text_putc(p->out, '\n');
    return next;
}

void ts__print_inst(const ts_fn *fn, ts_val v, ts_text *out)
{
    print_ctx p = {fn, fn->module, out, 0};
    if (v >= fn->inst.n)
        return;
    const ts_inst *inst = ts_at(fn, v);
    if (inst->op == TS_OP_else || inst->op == TS_OP_end)
        ts__text_puts(out, ts__ops[inst->op].name);
    else if (!print_opens(inst))
        print_simple(&p, v);
    else if (!print_is_sound(fn, inst) || !print_opener(&p, v))
        print_raw(&p, v);
}

/* ---- functions and modules ------------------------------------------------------------------- */

static void print_hint(ts_text *out, const char *name, uint32_t value)
{
    if (value) {
        ts__text_putc(out, ' ');
        ts__text_puts(out, name);
        ts__text_putc(out, '=');
        print_unsigned(out, value);
    }
}

static bool print_is_param(const ts_fn *fn, ts_val v)
{
    const ts_inst *inst = ts_at(fn, v);
    return v < fn->inst.n && inst->op == TS_OP_param && inst->aux == v - 1 && !inst->n_opnd &&
           !inst->flags;
}

static ts_val print_header(print_ctx *p)
{
    const ts_fn *fn = p->fn;
    ts_text *out = p->out;
    ts__text_puts(out, fn->level == TS_LEVEL_S ? "thread " : fn->level == TS_LEVEL_B ? "both " : "");
    ts__text_puts(out, fn->entry ? "entry " : "func ");
    print_name(out, ts_str_get(p->m, fn->name));
    ts__text_putc(out, '(');
    ts_val v = 1;
    for (; v < fn->inst.n && print_is_param(fn, v); v++) {
        ts__text_puts(out, v > 1 ? ", " : "");
        print_value(out, v);
        ts__text_puts(out, ": ");
        ts__type_print(p->m, ts_type_of(fn, v), out);
        print_loc(p, v);
    }
    ts__text_putc(out, ')');
    for (uint32_t i = 0; i < fn->n_results; i++) {
        ts__text_puts(out, i ? ", " : " : ");
        ts__type_print(p->m, fn->result[i], out);
    }
    print_hint(out, "num_ctas", fn->num_ctas);
    print_hint(out, "occupancy", fn->occupancy);
    print_hint(out, "num_warps", fn->num_warps);
    print_hint(out, "opt_level", fn->opt_level);
    print_hint(out, "max_registers", fn->max_registers);
    print_hint(out, "carveout", fn->carveout);
    print_hint(out, "lines", fn->lines);
    ts__text_puts(out, fn->checked ? " checked" : "");
    ts__text_puts(out, fn->overlap ? " overlap {\n" : " {\n");
    return v;
}

void ts__print_fn(const ts_fn *fn, uint32_t flags, ts_text *out)
{
    print_ctx p = {fn, fn->module, out, flags};
    uint32_t depth = 0;
    for (ts_val v = print_header(&p); v < fn->inst.n;)
        v = print_step(&p, v, &depth);
    ts__text_puts(out, "}\n");
}

static void print_global(const ts_module *m, const ts_global *g, ts_text *out)
{
    ts__text_puts(out, g->constant ? "constant " : "global ");
    print_name(out, ts_str_get(m, g->name));
    print_hint(out, "align", g->align);
    ts__text_puts(out, " : ");
    ts__type_print(m, g->type, out);
    if (g->data) {
        ts__text_puts(out, " = ");
        print_dense(out, m, g->data - 1);
    }
    ts__text_putc(out, '\n');
}

void ts__print_module(const ts_module *m, uint32_t flags, ts_text *out)
{
    if (*ts_str_get(m, m->name)) {
        ts__text_puts(out, "module ");
        print_name(out, ts_str_get(m, m->name));
        ts__text_putc(out, '\n');
    }
    for (uint32_t i = 0; i < m->globals.n; i++)
        print_global(m, &m->globals.at[i], out);
    for (uint32_t i = 0; i < m->fns.n; i++)
        ts__print_fn(m->fns.at[i], flags, out);
}

void ts__module_print(const ts_module *module, ts_text *out)
{
    ts__print_module(module, 0, out);
}

void ts__fn_print(const ts_fn *fn, ts_text *out)
{
    ts__print_fn(fn, 0, out);
}
