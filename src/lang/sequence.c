/* SPDX-License-Identifier: Apache-2.0
 *
 * What a `for` of run time runs over, beside range: arrays, and enumerate, zip and reversed of them, of ranges and of
 * tuples of numbers, nested as they come. Such a loop counts from 0, and an item is computed of the count. Sequences
 * that are known at compile time are tuples and unrolled (builtin.c). Part of the front end (lower.h).
 *
 *     for i, (x, y) in enumerate(zip(a, range(n, 0, -1))):     i = count;  x = a[count];  y = n - count
 */
#include "lang/lower.h"

enum { SEQUENCE_ENUMERATE, SEQUENCE_ZIP, SEQUENCE_REVERSED };

struct fr_sequence {
    const fr_value *v;
    ts_val length;      /* i64 */
    fr_turns turns;     /* of a range */
    fr_sequence *parts; /* of the others, as many as v has */
};

static ts_status sequence_make(fr *f, uint32_t which, uint32_t n, const fr_value *items, fr_value *out)
{
    fr_value *kept = TS_NEW_N(f->arena, fr_value, n + 1);
    if (!kept)
        return fr_oom(f);
    for (uint32_t i = 0; i < n; i++)
        kept[i] = items[i];
    TS_TRY(fr_container(f, FR_SEQUENCE, n, kept, out));
    out->cat = (uint8_t)which;
    return TS_OK;
}

bool fr_is_sequence(const fr *f, const fr_value *v)
{
    int64_t known;
    if (!f->dialect->iterates_arrays)
        return false;
    if (v->kind == FR_RANGE)
        return !fr_is_int(&v->as.items[0], &known) || !fr_is_int(&v->as.items[1], &known) ||
               !fr_is_int(&v->as.items[2], &known);
    return v->kind == FR_ARRAY || v->kind == FR_SEQUENCE;
}

ts_status fr_sequence_call(fr *f, const char *name, uint32_t n, const fr_value *args, fr_value *out, bool *done)
{
    bool zips = strcmp(name, "zip") == 0, counts = strcmp(name, "enumerate") == 0;
    *done = false;
    for (uint32_t i = 0; i < n; i++)
        *done |= fr_is_sequence(f, &args[i]) && (zips || !i);
    if (!*done)
        return TS_OK;
    fr_value start = fr_number(0), pair[] = {args[0], counts && n > 1 ? args[1] : start};
    uint32_t which = zips ? SEQUENCE_ZIP : counts ? SEQUENCE_ENUMERATE : SEQUENCE_REVERSED;
    return sequence_make(f, which, zips ? n : counts ? 2 : 1, counts ? pair : args, out);
}

/* How many of the items are sequences: not the first number of an enumerate. */
static uint32_t sequence_n_parts(const fr_value *v)
{
    return v->cat == SEQUENCE_ZIP ? v->n : 1;
}

static ts_status sequence_open(fr *f, uint32_t node, const fr_value *v, fr_sequence *out)
{
    fr_value length;
    *out = (fr_sequence){.v = v};
    switch (v->kind) {
    case FR_ARRAY:
        if (!v->as.array->rank)
            return fr_error(f, node, TS_TILETYPE, "an array without axes has no items to loop over");
        TS_TRY(fr_to_tile(f, &v->as.array->shape[0], TS_DTYPE_int64, &length));
        out->length = length.as.v;
        return TS_OK;
    case FR_TUPLE:
        out->length = ts_int(&f->b, TS_T_i64, v->n);
        return TS_OK;
    case FR_RANGE:
        TS_TRY(fr_range_turns(f, v, node, &out->turns));
        TS_TRY(fr_convert(f, &(fr_value){.kind = FR_TILE, .dtype = out->turns.dtype, .as.v = out->turns.n},
                          TS_DTYPE_int64, TS_RN, &length));
        out->length = length.as.v;
        return TS_OK;
    case FR_SEQUENCE:
        break;
    default:
        return fr_error(f, node, TS_TILETYPE, "a loop over %s, which has no items", fr_say(f, v));
    }
    uint32_t n = sequence_n_parts(v);
    out->parts = TS_NEW_N(f->arena, fr_sequence, n + 1);
    if (!out->parts)
        return fr_oom(f);
    for (uint32_t i = 0; i < n; i++) {
        TS_TRY(sequence_open(f, node, &v->as.items[i], &out->parts[i]));
        ts_val own = out->parts[i].length;
        out->length = i ? ts_op2(&f->b, TS_OP_mini, out->length, own, 0) : own;
    }
    return TS_OK;
}

ts_status fr_sequence_open(fr *f, uint32_t node, const fr_value *v, const fr_sequence **out, ts_val *length)
{
    fr_sequence *made = TS_NEW(f->arena, fr_sequence);
    if (!made)
        return fr_oom(f);
    TS_TRY(sequence_open(f, node, v, made));
    *out = made;
    *length = made->length;
    return TS_OK;
}

/* origin + count * stride, in the range's dtype. */
static ts_status sequence_of_range(fr *f, const fr_turns *turns, const fr_value *at, fr_value *out)
{
    TS_TRY(fr_convert(f, at, (ts_dtype)turns->dtype, TS_RN, out));
    ts_val v = ts_op2(&f->b, TS_OP_muli, out->as.v, turns->stride, 0);
    *out = fr_tile((ts_dtype)turns->dtype, ts_op2(&f->b, TS_OP_addi, turns->origin, v, 0));
    return TS_OK;
}

ts_status fr_sequence_item(fr *f, uint32_t node, const fr_sequence *s, const fr_value *at, fr_value *out)
{
    if (s->v->kind == FR_RANGE)
        return sequence_of_range(f, &s->turns, at, out);
    if (s->v->kind != FR_SEQUENCE)
        return fr_item(f, node, s->v, at, out);
    uint32_t n = sequence_n_parts(s->v);
    if (s->v->cat == SEQUENCE_REVERSED) {
        ts_val last = ts_op2(&f->b, TS_OP_subi, s->length, ts_int(&f->b, TS_T_i64, 1), 0);
        fr_value from_end = fr_tile(TS_DTYPE_int64, ts_op2(&f->b, TS_OP_subi, last, at->as.v, 0));
        return fr_sequence_item(f, node, &s->parts[0], &from_end, out);
    }
    fr_value *items = TS_NEW_N(f->arena, fr_value, n + 1);
    if (!items)
        return fr_oom(f);
    uint32_t first = s->v->cat == SEQUENCE_ENUMERATE;
    if (first)
        TS_TRY(fr_binary(f, TS_OPERATOR_Add, at, &s->v->as.items[1], (fr_options){0}, &items[0]));
    for (uint32_t i = 0; i < n; i++)
        TS_TRY(fr_sequence_item(f, node, &s->parts[i], at, &items[first + i]));
    return fr_tuple(f, first + n, items, out);
}
