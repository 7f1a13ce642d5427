/* SPDX-License-Identifier: Apache-2.0
 *
 * Evaluation at compile time (static_assert, static_iter, ensure_constant, ...), promises and
 * hints. Part of the front end (lower.h); rows in tile_op.def.
 */
#include "lang/lower.h"
#include "lang/tile/op.h"

ts_status fr_op_static_eval(fr *f, const fr_call *c, fr_value *out)
{
    (void)f;
    *out = c->arg[0];
    return TS_OK;
}

ts_status fr_op_static_assert(fr *f, const fr_call *c, fr_value *out)
{
    bool truth;
    *out = fr_none();
    if (c->arg[0].kind == FR_TILE)
        return fr_error(f, c->at[0], TS_TILETYPE,
                        "static_assert(): the condition is not known at compile time\n  found: "
                        "%s\n  help: ct.assert_ checks "
                        "while the kernel runs",
                        fr_say(f, &c->arg[0]));
    if (c->arg[0].kind != FR_NUMBER || c->arg[0].cat != FR_BOOL)
        return fr_error(f, c->at[0], TS_TILETYPE,
                        "static_assert(): the condition must be a bool\n  found: %s\n  help: compare it, for example "
                        "`n != 0`", fr_say(f, &c->arg[0]));
    fr_truth(&c->arg[0], &truth);
    if (truth)
        return TS_OK;
    const char *message = fr_given(c, 1) ? fr_plain_text(f, &c->arg[1]) : NULL;
    return fr_error(f, c->node, TS_STATICASSERT, "static assertion failed%s%s", message ? ": " : "",
                    message ? message : "");
}

ts_status fr_items(fr *f, const fr_value *v, const char *what, fr_value *out)
{
    int64_t part[3];
    *out = *v;
    out->kind = FR_TUPLE;
    if (v->kind == FR_TUPLE || v->kind == FR_ITER)
        return TS_OK;
    if (v->kind != FR_RANGE)
        return fr_error(f, 0, TS_TILETYPE, "%s: wanted a tuple or a range, found %s", what,
                        fr_say(f, v));
    for (uint32_t i = 0; i < 3; i++)
        if (!fr_is_int(&v->as.items[i], &part[i]))
            return fr_error(f, 0, TS_STATICEVAL,
                            "%s: the range is not known at compile time\n  found: %s\n  help: "
                            "annotate the kernel's parameter with "
                            "ct.Constant[int]",
                            what, fr_say(f, &v->as.items[i]));
    if (part[2] == 0)
        return fr_error(f, 0, TS_TILEVALUE, "%s: the step of the range is zero", what);
    TS_VEC(fr_value) items = {0};
    for (fr_int i = part[0]; part[2] > 0 ? i < part[1] : i > part[1]; i += part[2]) {
        if (items.n >= 65536)
            return fr_error(f, 0, TS_STATICEVAL, "%s: the range has more than 65536 items", what);
        if (!TS_PUSH(f->arena, &items, fr_number(i)))
            return fr_oom(f);
    }
    return fr_tuple(f, items.n, items.at, out);
}

ts_status fr_op_static_iter(fr *f, const fr_call *c, fr_value *out)
{
    if (c->node != f->iterable)
        return fr_error(f, c->node, TS_SYNTAX,
                        "static_iter() stands only behind `in` of a `for` or comprehension\n  help: "
                        "tuple(x for x in ct.static_iter(...)) makes a tuple");
    f->node = c->at[0];
    TS_TRY(fr_items(f, &c->arg[0], "static_iter()", out));
    out->kind = FR_ITER;
    return TS_OK;
}

ts_status fr_op_ensure_constant(fr *f, const fr_call *c, fr_value *out)
{
    uint32_t n = fr_flatten(&c->arg[0], NULL);
    fr_value *leaves = TS_NEW_N(f->arena, fr_value, n + 1);
    if (!leaves)
        return fr_oom(f);
    fr_flatten(&c->arg[0], leaves);
    for (uint32_t i = 0; i < n; i++)
        if (leaves[i].kind == FR_TILE)
            return fr_error(f, c->at[0], TS_STATICASSERT,
                            "ensure_constant(): the value is not known at compile time\n  found: "
                            "%s\n  help: annotate the kernel's "
                            "parameter with ct.Constant[int], or compute it from constants only",
                            fr_say(f, &c->arg[0]));
    *out = c->arg[0];
    return TS_OK;
}

/* `v` with the promise that it is a multiple of `d`; the IR knows powers of two. */
static ts_val meta_promise(fr *f, ts_val v, int64_t d)
{
    uint64_t power = (uint64_t)d & (0 - (uint64_t)d);
    uint32_t words[] = {TS_ASSUME_DIV_BY, (uint32_t)power, (uint32_t)(power >> 32), 0, 0, 0};
    return power > 1 ? ts_emit(&f->b, TS_OP_assume, ts_type_of(f->b.fn, v), 1, &v,
                               ts_pool_add(&f->b, TS_COUNT(words), words), 0)
                     : v;
}

/* Of an array: that its strides are, all but those of 1. */
static ts_status meta_promise_strides(fr *f, const fr_call *c, int64_t d, fr_value *out)
{
    fr_array *a = TS_NEW(f->arena, fr_array);
    int64_t value;
    if (!a)
        return fr_oom(f);
    *a = *c->arg[0].as.array;
    for (uint32_t i = 0; i < a->rank; i++) {
        if (!fr_is_int(&a->stride[i], &value))
            a->stride[i].as.v = meta_promise(f, a->stride[i].as.v, d);
        else if (value != 1 && value % d)
            return fr_error(f, c->at[0], TS_TILEVALUE,
                            "assume_divisible_by(): the stride of axis %u is %lld, no multiple of %lld", i,
                            (long long)value, (long long)d);
    }
    *out = (fr_value){.kind = FR_ARRAY, .as.array = a};
    return fr_tensor_view(f, a);
}

ts_status fr_op_assume_divisible_by(fr *f, const fr_call *c, fr_value *out)
{
    const fr_value *x = &c->arg[0];
    int64_t d, value;
    TS_TRY(fr_arg_int(f, c, 1, &d));
    if (d <= 0)
        return fr_error(f, c->at[1], TS_TILEVALUE,
                        "assume_divisible_by(): divisor %lld is not positive", (long long)d);
    if (x->kind == FR_ARRAY)
        return meta_promise_strides(f, c, d, out);
    *out = *x;
    if (fr_is_int(x, &value)) {
        if (value % d)
            return fr_error(f, c->at[0], TS_TILEVALUE,
                            "assume_divisible_by(): %lld is no multiple of %lld", (long long)value,
                            (long long)d);
        return TS_OK;
    }
    if (x->kind != FR_TILE || !fr_dtype_is_int((ts_dtype)x->dtype) || fr_shape_of(f, x).rank)
        return fr_arg_error(f, c, 0, "an integer scalar or an array");
    out->as.v = meta_promise(f, x->as.v, d);
    return TS_OK;
}

ts_status fr_op_dependency(fr *f, const fr_call *c, fr_value *out)
{
    ts_emit(&f->b, (ts_op)c->op->x, TS_T_token, 0, NULL, 0, 0);
    *out = fr_none();
    return TS_OK;
}

ts_status fr_op_assert(fr *f, const fr_call *c, fr_value *out)
{
    fr_value cond;
    const char *text = "";
    *out = fr_none();
    TS_TRY(fr_arg_tile(f, c, 0, &cond));
    if (cond.dtype != TS_DTYPE_bool_)
        return fr_arg_error(f, c, 0, "a bool tile or scalar");
    if (fr_given(c, 1)) {
        text = c->arg[1].kind == FR_STR ? c->arg[1].as.text : NULL;
        if (!text)
            return fr_arg_error(f, c, 1, "a string known at compile time");
    }
    ts_emit(&f->b, TS_OP_assert, TS_T_none, 1, &cond.as.v, ts_intern(f->module, text, strlen(text)),
            0);
    return TS_OK;
}
