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

/* Literals get the dtype that they have as variables. */
ts_status fr_simt_parts(fr *f, const fr_call *c, fr_value *out)
{
    fr_value *leaves;
    ts_dtype dtype;
    uint32_t n;
    TS_TRY(fr_simt_numbers(f, c, 0, &n, &leaves));
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

/* A function in the language finds fault with its arguments while it is compiled. */
ts_status fr_simt_refuse(fr *f, const fr_call *c, fr_value *out)
{
    (void)out;
    return fr_error(f, c->node, TS_TILEVALUE, "%s", c->arg[0].kind == FR_STR ? c->arg[0].as.text : "refused");
}
