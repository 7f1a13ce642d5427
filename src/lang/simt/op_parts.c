/* SPDX-License-Identifier: Apache-2.0
 *
 * Values as the numbers that they are made of: what lets functions in the language itself (python/tessera/coop) keep
 * any value in memory, number by number. Part of the front end (lower.h); rows in simt_op.def.
 *
 *     parts(Point(1.5, (i, True)))        (1.5, i, True)
 *     whole(p, (a, b, c))                 Point(a, (b, c)), each of the dtype that p has there
 */
#include "lang/simt/op.h"

static bool parts_are_numbers(const fr_value *v)
{
    bool fine = v->kind == FR_TUPLE || v->kind == FR_RECORD;
    for (uint32_t i = 0; fine && i < v->n; i++)
        fine = parts_are_numbers(&v->as.items[i]);
    return fine || fr_simt_is_number(v);
}

ts_status fr_simt_numbers(fr *f, const fr_call *c, uint32_t i, uint32_t *n, fr_value **out)
{
    if (!parts_are_numbers(&c->arg[i]))
        return fr_arg_error(f, c, i, "a number, or a tuple, named tuple or frozen dataclass of numbers");
    *n = fr_flatten(&c->arg[i], NULL);
    if (!(*out = TS_NEW_N(f->arena, fr_value, *n + 1)))
        return fr_oom(f);
    fr_flatten(&c->arg[i], *out);
    return TS_OK;
}

/* A record of NumPy as the tuple of its fields, which are read; other values stay. */
static ts_status parts_of_record(fr *f, uint32_t node, const fr_value *v, fr_value *out)
{
    const fr_element *e = v->kind == FR_ARRAY && !v->as.array->rank ? v->as.array->element : NULL;
    fr_value *items = e && e->n_fields ? TS_NEW_N(f->arena, fr_value, e->n_fields) : NULL;
    *out = *v;
    if (!e || !e->n_fields)
        return TS_OK;
    if (!items)
        return fr_oom(f);
    for (uint32_t i = 0; i < e->n_fields; i++) {
        fr_value field;
        TS_TRY(fr_simt_field(f, node, v, &e->fields[i], &field));
        TS_TRY(parts_of_record(f, node, &field, &items[i]));
    }
    return fr_container(f, FR_TUPLE, e->n_fields, items, out);
}

/* Literals get the dtype that they have as variables. */
ts_status fr_simt_parts(fr *f, const fr_call *c, fr_value *out)
{
    fr_value *leaves, value;
    fr_call call = *c;
    ts_dtype dtype;
    uint32_t n;
    TS_TRY(parts_of_record(f, c->node, &c->arg[0], &value));
    call.arg[0] = value;
    TS_TRY(fr_simt_numbers(f, parts_are_numbers(&value) ? &call : c, 0, &n, &leaves));
    for (uint32_t i = 0; i < n; i++) {
        TS_TRY(fr_simt_dtype(f, &leaves[i], &dtype));
        TS_TRY(fr_simt_convert(f, &leaves[i], dtype, &leaves[i]));
    }
    return fr_container(f, FR_TUPLE, n, leaves, out);
}

ts_status fr_simt_whole(fr *f, const fr_call *c, fr_value *out)
{
    fr_value *like, *leaves;
    uint32_t n, n_leaves;
    ts_dtype dtype;
    TS_TRY(fr_simt_numbers(f, c, 0, &n, &like));
    TS_TRY(fr_simt_numbers(f, c, 1, &n_leaves, &leaves));
    if (n != n_leaves)
        return fr_arg_error(f, c, 1, fr_textf(f, "%u number%s, as the first argument has", n, n == 1 ? "" : "s"));
    for (uint32_t i = 0; i < n; i++) {
        TS_TRY(fr_simt_dtype(f, &like[i], &dtype));
        TS_TRY(fr_simt_convert(f, &leaves[i], dtype, &leaves[i]));
    }
    const fr_value *next = leaves;
    return fr_rebuild(f, &c->arg[0], &next, out);
}

/* ---- items of a thread --------------------------------------------------------------------------- */

/* A literal takes the dtype of the others, where that has such numbers. */
static bool parts_is_weak(const fr_value *v, ts_dtype dtype)
{
    return v->kind == FR_NUMBER && !v->dtype && v->cat <= fr_dtype_cat(dtype);
}

/* The common dtype of leaf k of all items, each of which has `n` of them. */
static ts_status parts_common(fr *f, const fr_call *c, uint32_t n_items, const fr_value *leaves, uint32_t n,
                              ts_dtype *out)
{
    ts_dtype dtype, first;
    *out = TS_DTYPE_NONE;
    for (uint32_t pass = 0; pass < 2; pass++) /* literals come behind */
        for (uint32_t i = 0; i < n_items; i++) {
            const fr_value *v = &leaves[i * n];
            if ((pass == 0) == (v->kind == FR_NUMBER && !v->dtype) || (*out && parts_is_weak(v, *out)))
                continue;
            TS_TRY(fr_simt_dtype(f, v, &dtype));
            first = *out;
            *out = first ? fr_simt_promote(first, dtype) : dtype;
            if (!*out)
                return fr_error(f, c->node, TS_TILETYPE, "items of a thread have one dtype\n  found: %s and %s\n  "
                                "help: convert them", ts_dtype_name(first), ts_dtype_name(dtype));
        }
    return TS_OK;
}

/* alike(items): a tuple of values made of as many numbers each, which become of the dtype that holds all of them. */
ts_status fr_simt_alike(fr *f, const fr_call *c, fr_value *out)
{
    const fr_value *items = c->arg[0].as.items, *next;
    uint32_t n_items = c->arg[0].n, n, all;
    fr_value *leaves, *made = TS_NEW_N(f->arena, fr_value, n_items + 1);
    ts_dtype dtype;
    TS_TRY(fr_simt_numbers(f, c, 0, &all, &leaves));
    n = n_items ? all / n_items : 0;
    for (uint32_t i = 0; i < n_items; i++)
        if (fr_flatten(&items[i], NULL) != n)
            return fr_error(f, c->node, TS_TILETYPE, "items of a thread are values of one kind\n  found: %s and %s",
                            fr_say(f, &items[0]), fr_say(f, &items[i]));
    for (uint32_t k = 0; k < n; k++) {
        TS_TRY(parts_common(f, c, n_items, leaves + k, n, &dtype));
        for (uint32_t i = 0; i < n_items; i++)
            TS_TRY(fr_simt_convert(f, &leaves[i * n + k], dtype, &leaves[i * n + k]));
    }
    next = leaves;
    if (!made)
        return fr_oom(f);
    for (uint32_t i = 0; i < n_items; i++)
        TS_TRY(fr_rebuild(f, &items[i], &next, &made[i]));
    return fr_container(f, FR_TUPLE, n_items, made, out);
}

/* known(value, "threads"): an integer, or a tuple of them, that is known now. */
ts_status fr_simt_known(fr *f, const fr_call *c, fr_value *out)
{
    const fr_value *v = &c->arg[0];
    bool tuple = v->kind == FR_TUPLE, known = true;
    int64_t x;
    for (uint32_t i = 0; i < (tuple ? v->n : 1); i++)
        known = known && fr_is_int(tuple ? &v->as.items[i] : v, &x);
    if (!known)
        return fr_error(f, c->node, TS_TILETYPE, "%s= must be an integer known while the kernel is compiled\n  found: "
                        "%s\n  help: use a literal, or a global or closure variable; what the launch says, as "
                        "cuda.blockDim, is not known then", c->arg[1].as.text, fr_say(f, v));
    *out = *v;
    return TS_OK;
}

/* A function in the language finds fault with its arguments while it is compiled. */
ts_status fr_simt_refuse(fr *f, const fr_call *c, fr_value *out)
{
    (void)out;
    return fr_error(f, c->node, TS_TILEVALUE, "%s", c->arg[0].kind == FR_STR ? c->arg[0].as.text : "refused");
}
