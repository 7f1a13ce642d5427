/* SPDX-License-Identifier: Apache-2.0
 *
 * Making tiles and changing their shape, dtype or content. Part of the front end (lower.h); rows in
 * tile_op.def.
 */
#include "lang/lower.h"
#include "lang/tile/op.h"

ts_status fr_reshape_to(fr *f, const fr_value *tile, const fr_shape *shape, fr_value *out)
{
    *out = *tile;
    out->as.v = ts_reshape(&f->b, tile->as.v, fr_type(f, (ts_dtype)tile->dtype, shape));
    return TS_OK;
}

static int64_t shape_count(const fr_shape *s)
{
    int64_t n = 1;
    for (uint32_t i = 0; i < s->rank; i++)
        n *= s->dims[i];
    return n;
}

/* ---- creation ------------------------------------------------------------------------ */

static ts_status shape_fill(fr *f, const fr_value *v, ts_dtype dtype, const fr_shape *shape,
                            fr_value *out)
{
    if (v->kind == FR_NUMBER) {
        fr_value number = *v;
        if (!v->dtype && v->cat <= fr_dtype_cat(dtype) && !fr_fits(v, dtype))
            return fr_not_fitting(f, v, dtype);
        TS_TRY(fr_convert(f, v, dtype, TS_RN, &number));
        *out = fr_tile(dtype, fr_constant(f, &number, dtype, shape));
        return TS_OK;
    }
    TS_TRY(fr_convert(f, v, dtype, TS_RN, out));
    return fr_splat(f, out, shape, out);
}

ts_status fr_op_full(fr *f, const fr_call *c, fr_value *out)
{
    fr_shape shape, of;
    ts_dtype dtype;
    TS_TRY(fr_arg_shape(f, c, 0, &shape));
    TS_TRY(fr_arg_dtype(f, c, 2, &dtype));
    of = fr_shape_of(f, &c->arg[1]);
    if ((c->arg[1].kind != FR_NUMBER && c->arg[1].kind != FR_TILE) || of.rank)
        return fr_arg_error(f, c, 1, "a number or a scalar");
    f->node = c->at[1];
    return shape_fill(f, &c->arg[1], dtype, &shape, out);
}

ts_status fr_op_filled(fr *f, const fr_call *c, fr_value *out)
{
    fr_shape shape;
    ts_dtype dtype;
    fr_value number = fr_number(c->op->x);
    TS_TRY(fr_arg_shape(f, c, 0, &shape));
    TS_TRY(fr_arg_dtype(f, c, 1, &dtype));
    return shape_fill(f, &number, dtype, &shape, out);
}

ts_status fr_op_arange(fr *f, const fr_call *c, fr_value *out)
{
    fr_shape shape;
    ts_dtype dtype;
    fr_value start = fr_given(c, 2) ? c->arg[2] : fr_number(0),
             step = fr_given(c, 3) ? c->arg[3] : fr_number(1);
    int64_t n;
    TS_TRY(fr_arg_int(f, c, 0, &n));
    TS_TRY(fr_arg_shape(f, c, 0, &shape));
    TS_TRY(fr_arg_dtype(f, c, 1, &dtype));
    if (fr_dtype_is_restricted(dtype) || dtype == TS_DTYPE_bool_)
        return fr_arg_error(f, c, 1, "an integer or float dtype");
    for (uint32_t i = 2; i < 4; i++)
        if (fr_given(c, i) && ((c->arg[i].kind != FR_NUMBER && c->arg[i].kind != FR_TILE) ||
                               fr_shape_of(f, &c->arg[i]).rank))
            return fr_arg_error(f, c, i, "a number or a scalar");
    ts_dtype count =
        fr_dtype_is_int(dtype) && (fr_dtype_bits(dtype) >= 32 || n <= 128) ? dtype : TS_DTYPE_int32;
    *out = fr_tile(count, ts_emit(&f->b, TS_OP_iota, fr_type(f, count, &shape), 0, NULL, 0, 0));
    TS_TRY(fr_convert(f, out, dtype, TS_RN, out));
    if (fr_given(c, 3)) {
        TS_TRY(fr_convert(f, &step, dtype, TS_RN, &step));
        TS_TRY(fr_binary(f, TS_OPERATOR_Mult, out, &step, (fr_options){0}, out));
    }
    if (!fr_given(c, 2))
        return TS_OK;
    TS_TRY(fr_convert(f, &start, dtype, TS_RN, &start));
    return fr_binary(f, TS_OPERATOR_Add, out, &start, (fr_options){0}, out);
}

/* A nested tuple is built by halves with `cat`; scalars become tiles of one element. */
static ts_status shape_stack(fr *f, const fr_value *items, uint32_t n, ts_dtype dtype,
                             uint32_t depth, fr_value *out)
{
    fr_value half[2];
    if (n == 1) {
        if (items->kind == FR_TUPLE) {
            if (!ts_is_pow2(items->n) || depth >= TS_MAX_RANK)
                return fr_error(f, 0, TS_TILETYPE,
                                "astile(): a tuple of %u items; tiles have powers of two",
                                items->n);
            TS_TRY(shape_stack(f, items->as.items, items->n, dtype, depth + 1, out));
        } else {
            TS_TRY(fr_convert(f, items, dtype, TS_RN, out));
            TS_TRY(fr_to_tile(f, out, dtype, out));
        }
        fr_shape shape = fr_shape_of(f, out), grown = {.rank = shape.rank + 1, .dims = {1}};
        if (depth == 0)
            return TS_OK;
        if (grown.rank > TS_MAX_RANK)
            return fr_error(f, 0, TS_TILETYPE, "astile(): more than %d dimensions", TS_MAX_RANK);
        memcpy(grown.dims + 1, shape.dims, shape.rank * sizeof shape.dims[0]);
        return fr_reshape_to(f, out, &grown, out);
    }
    TS_TRY(shape_stack(f, items, n / 2, dtype, depth, &half[0]));
    TS_TRY(shape_stack(f, items + n / 2, n - n / 2, dtype, depth, &half[1]));
    fr_shape a = fr_shape_of(f, &half[0]), b = fr_shape_of(f, &half[1]);
    if (!fr_same_shape(&a, &b))
        return fr_error(f, 0, TS_TILETYPE, "astile(): items have shapes %s and %s",
                        fr_say_shape(f, &a), fr_say_shape(f, &b));
    a.dims[0] *= 2;
    ts_val pair[] = {half[0].as.v, half[1].as.v};
    *out = fr_tile(dtype, ts_emit(&f->b, TS_OP_cat, fr_type(f, dtype, &a), 2, pair, 0, 0));
    return TS_OK;
}

static ts_status shape_leaf_dtype(fr *f, const fr_value *v, ts_dtype *out)
{
    if (v->kind == FR_TUPLE) {
        for (uint32_t i = 0; i < v->n; i++)
            TS_TRY(shape_leaf_dtype(f, &v->as.items[i], out));
        return TS_OK;
    }
    fr_value so_far = {.kind = FR_TILE, .dtype = (uint8_t)*out};
    if (v->kind != FR_NUMBER && v->kind != FR_TILE)
        return fr_error(f, 0, TS_TILETYPE,
                        "astile(): wanted numbers, scalars or tuples of them, found %s",
                        fr_say(f, v));
    if (*out)
        return fr_common_dtype(f, "astile", &so_far, v, out);
    *out = (ts_dtype)v->dtype;
    return v->kind == FR_NUMBER ? fr_default_dtype(f, v, out) : TS_OK;
}

ts_status fr_op_astile(fr *f, const fr_call *c, fr_value *out)
{
    ts_dtype dtype = TS_DTYPE_NONE;
    if (fr_given(c, 1))
        TS_TRY(fr_arg_dtype(f, c, 1, &dtype));
    else
        TS_TRY(shape_leaf_dtype(f, &c->arg[0], &dtype));
    if (!dtype || (c->arg[0].kind == FR_TILE && fr_shape_of(f, &c->arg[0]).rank))
        return fr_arg_error(f, c, 0, "a number, a scalar or a nested tuple of them");
    f->node = c->at[0];
    if (c->arg[0].kind != FR_TUPLE) {
        TS_TRY(fr_convert(f, &c->arg[0], dtype, TS_RN, out));
        return fr_to_tile(f, out, dtype, out);
    }
    return shape_stack(f, &c->arg[0], 1, dtype, 0, out);
}

/* ---- shape --------------------------------------------------------------------------- */

/* One size may be -1: it is what remains. */
static ts_status shape_infer(fr *f, const fr_call *c, int64_t count, fr_call *fixed)
{
    const fr_value *v = &c->arg[1];
    int64_t known = 1, size;
    uint32_t n = v->kind == FR_TUPLE ? v->n : 1, free = UINT32_MAX;
    *fixed = *c;
    fr_value *items = TS_NEW_N(f->arena, fr_value, n + 1);
    if (!items)
        return fr_oom(f);
    memcpy(items, v->kind == FR_TUPLE ? v->as.items : v, n * sizeof *items);
    for (uint32_t i = 0; i < n; i++) {
        if (!fr_is_int(&items[i], &size))
            return TS_OK; /* fr_arg_shape says what is wrong */
        if (size == -1 && free != UINT32_MAX)
            return fr_error(f, c->at[1], TS_TILETYPE, "reshape(): only one size can be -1");
        if (size == -1)
            free = i;
        else
            known *= size > 0 && size <= 1 << 24 ? size : 1;
        known = TS_MIN(known, (int64_t)1 << 30);
    }
    if (free == UINT32_MAX || known == 0 || count % known)
        return TS_OK;
    items[free] = fr_number(count / known);
    fixed->arg[1] = (fr_value){.kind = FR_TUPLE, .n = n, .as.items = items};
    return TS_OK;
}

ts_status fr_op_reshape(fr *f, const fr_call *c, fr_value *out)
{
    fr_value x;
    fr_call fixed;
    fr_shape from, to;
    TS_TRY(fr_arg_tile(f, c, 0, &x));
    from = fr_shape_of(f, &x);
    TS_TRY(shape_infer(f, c, shape_count(&from), &fixed));
    TS_TRY(fr_arg_shape(f, &fixed, 1, &to));
    if (shape_count(&from) != shape_count(&to))
        return fr_error(f, c->at[1], TS_TILETYPE, "reshape(): %s has %lld elements, %s has %lld",
                        fr_say_shape(f, &from), (long long)shape_count(&from), fr_say_shape(f, &to),
                        (long long)shape_count(&to));
    return fr_reshape_to(f, &x, &to, out);
}

ts_status fr_op_expand_dims(fr *f, const fr_call *c, fr_value *out)
{
    fr_value x;
    fr_shape from, to = {0};
    uint32_t axis;
    TS_TRY(fr_arg_tile(f, c, 0, &x));
    from = fr_shape_of(f, &x);
    TS_TRY(fr_arg_axis(f, c, 1, from.rank + 1, &axis));
    if (from.rank + 1 > TS_MAX_RANK)
        return fr_error(f, c->node, TS_TILETYPE, "expand_dims(): a tile of more than %d dimensions",
                        TS_MAX_RANK);
    to.rank = from.rank + 1;
    for (uint32_t i = 0; i < to.rank; i++)
        to.dims[i] = i < axis ? from.dims[i] : i == axis ? 1 : from.dims[i - 1];
    return fr_reshape_to(f, &x, &to, out);
}

ts_status fr_op_broadcast_to(fr *f, const fr_call *c, fr_value *out)
{
    fr_value x;
    fr_shape from, to, both;
    TS_TRY(fr_arg_tile(f, c, 0, &x));
    TS_TRY(fr_arg_shape(f, c, 1, &to));
    from = fr_shape_of(f, &x);
    TS_TRY(fr_broadcast_shapes(f, &from, &to, &both));
    if (!fr_same_shape(&both, &to))
        return fr_error(f, c->at[1], TS_TILETYPE,
                        "broadcast_to(): shape %s does not broadcast to %s", fr_say_shape(f, &from),
                        fr_say_shape(f, &to));
    return fr_splat(f, &x, &to, out);
}

static ts_status shape_permute(fr *f, const fr_value *x, const uint32_t *axes, uint32_t rank,
                               fr_value *out)
{
    bool same = true;
    for (uint32_t i = 0; i < rank; i++)
        same &= axes[i] == i;
    *out = *x;
    if (!same)
        out->as.v = ts_permute(&f->b, x->as.v, axes);
    return TS_OK;
}

ts_status fr_op_permute(fr *f, const fr_call *c, fr_value *out)
{
    fr_value x;
    uint32_t axes[TS_MAX_RANK], seen = 0;
    TS_TRY(fr_arg_tile(f, c, 0, &x));
    fr_shape from = fr_shape_of(f, &x);
    const char *wanted = fr_textf(f, "a permutation of %u axes", from.rank);
    if (c->arg[1].kind != FR_TUPLE || c->arg[1].n != from.rank)
        return fr_arg_error(f, c, 1, wanted);
    for (uint32_t i = 0; i < from.rank; i++) {
        int64_t axis;
        if (!fr_is_int(&c->arg[1].as.items[i], &axis) || axis < -(int64_t)from.rank ||
            axis >= (int64_t)from.rank)
            return fr_arg_error(f, c, 1, wanted);
        axes[i] = (uint32_t)(axis < 0 ? axis + from.rank : axis);
        if (seen >> axes[i] & 1)
            return fr_arg_error(f, c, 1, wanted);
        seen |= 1u << axes[i];
    }
    return shape_permute(f, &x, axes, from.rank, out);
}

ts_status fr_op_transpose(fr *f, const fr_call *c, fr_value *out)
{
    fr_value x;
    uint32_t axes[TS_MAX_RANK] = {0, 1, 2, 3, 4, 5, 6, 7}, a = 0, b = 1;
    TS_TRY(fr_arg_tile(f, c, 0, &x));
    fr_shape from = fr_shape_of(f, &x);
    if (!fr_given(c, 1) && !fr_given(c, 2)) {
        if (from.rank != 2)
            return fr_error(
                f, c->node, TS_TILETYPE,
                "transpose() of a tile of rank %u needs two axes\n  help: ct.transpose(x, 0, 1)",
                from.rank);
    } else if (!fr_given(c, 1) || !fr_given(c, 2)) {
        return fr_error(f, c->node, TS_TILETYPE, "transpose() takes no axis or two");
    } else {
        TS_TRY(fr_arg_axis(f, c, 1, from.rank, &a));
        TS_TRY(fr_arg_axis(f, c, 2, from.rank, &b));
    }
    axes[a] = b;
    axes[b] = a;
    return shape_permute(f, &x, axes, from.rank, out);
}

ts_status fr_op_cat(fr *f, const fr_call *c, fr_value *out)
{
    fr_value x, y;
    uint32_t axis;
    if (c->arg[0].kind != FR_TUPLE || c->arg[0].n < 1 || c->arg[0].n > 2)
        return fr_arg_error(f, c, 0, "a tuple of one or two tiles");
    TS_TRY(fr_as_tile(f, &c->arg[0].as.items[0], &x));
    if (c->arg[0].n == 1) {
        *out = x;
        return fr_arg_axis(f, c, 1, fr_shape_of(f, &x).rank, &axis);
    }
    TS_TRY(fr_as_tile(f, &c->arg[0].as.items[1], &y));
    fr_shape a = fr_shape_of(f, &x), b = fr_shape_of(f, &y);
    TS_TRY(fr_arg_axis(f, c, 1, a.rank, &axis));
    if (x.dtype != y.dtype)
        return fr_error(f, c->at[0], TS_TILETYPE, "cat() takes tiles of one dtype, found %s and %s",
                        ts_dtype_name((ts_dtype)x.dtype), ts_dtype_name((ts_dtype)y.dtype));
    if (!fr_same_shape(&a, &b))
        return fr_error(f, c->at[0], TS_TILETYPE,
                        "cat() takes tiles of one shape, found %s and %s\n  help: the joined axis "
                        "must stay a power of two",
                        fr_say_shape(f, &a), fr_say_shape(f, &b));
    a.dims[axis] *= 2;
    ts_val pair[] = {x.as.v, y.as.v};
    *out = fr_tile((ts_dtype)x.dtype,
                   ts_emit(&f->b, TS_OP_cat, fr_type(f, (ts_dtype)x.dtype, &a), 2, pair, axis, 0));
    return TS_OK;
}

/* ---- parts --------------------------------------------------------------------------- */

static ts_status shape_part(fr *f, const fr_call *c, const fr_shape *whole, const fr_shape *part,
                            ts_val *index)
{
    const fr_value *v = &c->arg[1], *items = v->kind == FR_TUPLE ? v->as.items : v;
    if (part->rank != whole->rank)
        return fr_error(f, c->node, TS_TILETYPE, "%s(): a part of rank %u of a tile of rank %u",
                        fr_op_name(c), part->rank, whole->rank);
    TS_TRY(fr_arg_index(f, c, 1, whole->rank, index));
    for (uint32_t d = 0; d < whole->rank; d++) {
        int64_t i, n = whole->dims[d] / part->dims[d];
        if (n == 0)
            return fr_error(f, c->node, TS_TILETYPE,
                            "%s(): a part of shape %s is larger than the tile's %s", fr_op_name(c),
                            fr_say_shape(f, part), fr_say_shape(f, whole));
        if (fr_is_int(&items[d], &i) && (i < 0 || i >= n))
            return fr_error(f, c->at[1], TS_TILETYPE,
                            "%s(): index %lld of axis %u is out of range; there are %lld parts",
                            fr_op_name(c), (long long)i, d, (long long)n);
        ts_dtype dtype = ts_type_of(f->b.fn, index[d]) == TS_T_i64 ? TS_DTYPE_int64 : TS_DTYPE_int32;
        fr_value at = fr_tile(dtype, index[d]), parts = fr_strict(dtype, n);
        if (items[d].kind == FR_TILE)
            TS_TRY(fr_report_index(f, fr_textf(f, "%s(), axis %u", fr_op_name(c), d), &at, &parts));
    }
    return TS_OK;
}

ts_status fr_op_extract(fr *f, const fr_call *c, fr_value *out)
{
    fr_value x;
    fr_shape part;
    ts_val operands[1 + TS_MAX_RANK];
    TS_TRY(fr_arg_tile(f, c, 0, &x));
    TS_TRY(fr_arg_shape(f, c, 2, &part));
    fr_shape whole = fr_shape_of(f, &x), ones = whole;
    for (uint32_t d = 0; d < whole.rank; d++)
        ones.dims[d] = 1;
    bool element = part.rank == 0;
    part = element ? ones : part;
    TS_TRY(shape_part(f, c, &whole, &part, operands + 1));
    operands[0] = x.as.v;
    *out = fr_tile((ts_dtype)x.dtype,
                   ts_emit(&f->b, TS_OP_extract, fr_type(f, (ts_dtype)x.dtype, &part),
                           1 + whole.rank, operands, 0, 0));
    return element ? fr_reshape_to(f, out, &(fr_shape){0}, out) : TS_OK;
}

ts_status fr_op_insert(fr *f, const fr_call *c, fr_value *out)
{
    fr_value x, v;
    ts_val operands[2 + TS_MAX_RANK];
    TS_TRY(fr_arg_tile(f, c, 0, &x));
    f->node = c->at[2];
    if (c->arg[2].dtype && c->arg[2].dtype != x.dtype)
        return fr_arg_error(f, c, 2, fr_textf(f, "of exactly the tile's dtype, %s", ts_dtype_name((ts_dtype)x.dtype)));
    TS_TRY(fr_implicit(f, &c->arg[2], (ts_dtype)x.dtype, "insert()", &v));
    f->node = c->node;
    fr_shape whole = fr_shape_of(f, &x), part = fr_shape_of(f, &v);
    if (part.rank == 0 && whole.rank) {
        part.rank = whole.rank;
        for (uint32_t d = 0; d < whole.rank; d++)
            part.dims[d] = 1;
        TS_TRY(fr_reshape_to(f, &v, &part, &v));
    }
    TS_TRY(shape_part(f, c, &whole, &part, operands + 2));
    operands[0] = x.as.v;
    operands[1] = v.as.v;
    *out = fr_tile((ts_dtype)x.dtype, ts_emit(&f->b, TS_OP_insert, ts_type_of(f->b.fn, x.as.v),
                                              2 + whole.rank, operands, 0, 0));
    return TS_OK;
}

ts_status fr_op_item(fr *f, const fr_call *c, fr_value *out)
{
    fr_value x;
    TS_TRY(fr_arg_tile(f, c, 0, &x));
    fr_shape shape = fr_shape_of(f, &x);
    if (shape_count(&shape) != 1)
        return fr_error(f, c->node, TS_TILETYPE, "item() is for tiles of one element, found %s",
                        fr_say(f, &x));
    return fr_reshape_to(f, &x, &(fr_shape){0}, out);
}

ts_status fr_op_where(fr *f, const fr_call *c, fr_value *out)
{
    fr_value cond, x = c->arg[1], y = c->arg[2];
    TS_TRY(fr_arg_tile(f, c, 0, &cond));
    if (cond.dtype != TS_DTYPE_bool_)
        return fr_arg_error(f, c, 0, "a bool tile");
    TS_TRY(fr_unify(f, "where", &x, &y));
    fr_shape a = fr_shape_of(f, &cond), b = fr_shape_of(f, &x), shape;
    TS_TRY(fr_broadcast_shapes(f, &a, &b, &shape));
    TS_TRY(fr_splat(f, &cond, &shape, &cond));
    TS_TRY(fr_splat(f, &x, &shape, &x));
    TS_TRY(fr_splat(f, &y, &shape, &y));
    *out = fr_tile((ts_dtype)x.dtype, ts_select(&f->b, cond.as.v, x.as.v, y.as.v));
    return TS_OK;
}

/* ---- dtype --------------------------------------------------------------------------- */

/* Which rounding modes a float to float conversion has. */
static bool shape_can_round(uint32_t mode, ts_dtype from, ts_dtype to)
{
    if (to == TS_DTYPE_float8_e8m0fnu)
        return mode == TS_RZ || mode == TS_RP;
    if (mode == TS_RN)
        return true;
    if (to == TS_DTYPE_float64)
        return mode == TS_RZ || mode == TS_RM || mode == TS_RP || mode == TS_RA;
    if (to == TS_DTYPE_float32)
        return mode == TS_RZ ||
               ((mode == TS_RM || mode == TS_RP) && from != TS_DTYPE_float8_e8m0fnu) ||
               (mode == TS_RA && from != TS_DTYPE_float64 && from != TS_DTYPE_float8_e8m0fnu);
    if (to == TS_DTYPE_tfloat32)
        return mode == TS_RZ ||
               (mode == TS_RA && from != TS_DTYPE_float64 && from != TS_DTYPE_float8_e8m0fnu);
    if (to == TS_DTYPE_float16)
        return mode == TS_RZ ||
               ((mode == TS_RM || mode == TS_RP || mode == TS_RA) && from != TS_DTYPE_float32 &&
                from != TS_DTYPE_float64 && from != TS_DTYPE_tfloat32 && from != TS_DTYPE_float8_e8m0fnu);
    return to == TS_DTYPE_bfloat16 && mode == TS_RZ;
}

ts_status fr_op_astype(fr *f, const fr_call *c, fr_value *out)
{
    fr_value x;
    ts_dtype dtype;
    uint32_t mode;
    TS_TRY(fr_arg_tile(f, c, 0, &x));
    TS_TRY(fr_arg_dtype(f, c, 1, &dtype));
    TS_TRY(fr_arg_enum(f, c, 2, "RoundingMode", &mode));
    bool floats = fr_dtype_cat((ts_dtype)x.dtype) == FR_FLOAT && fr_dtype_cat(dtype) == FR_FLOAT &&
                  x.dtype != dtype;
    if ((fr_given(c, 2) && !floats) || (floats && !shape_can_round(mode, (ts_dtype)x.dtype, dtype)))
        return fr_error(
            f, fr_given(c, 2) ? c->at[2] : c->node, TS_TILETYPE,
            "astype(): %s to %s has no rounding mode %s%s", ts_dtype_name((ts_dtype)x.dtype),
            ts_dtype_name(dtype), fr_enum_member("RoundingMode", mode),
            dtype == TS_DTYPE_float8_e8m0fnu ? "\n  help: name one, RoundingMode.RZ or RP" : "");
    return fr_convert(f, c->arg[0].kind == FR_NUMBER && mode == TS_RN ? &c->arg[0] : &x, dtype, mode, out);
}

ts_status fr_op_bitcast(fr *f, const fr_call *c, fr_value *out)
{
    fr_value x;
    ts_dtype dtype;
    TS_TRY(fr_arg_tile(f, c, 0, &x));
    TS_TRY(fr_arg_dtype(f, c, 1, &dtype));
    if (x.dtype == TS_DTYPE_bool_ || dtype == TS_DTYPE_bool_ ||
        fr_dtype_bits((ts_dtype)x.dtype) != fr_dtype_bits(dtype))
        return fr_error(f, c->at[1], TS_TILETYPE,
                        "bitcast(): %s and %s differ in width, or one is bool_\n  help: ct.astype "
                        "converts values",
                        ts_dtype_name((ts_dtype)x.dtype), ts_dtype_name(dtype));
    *out = fr_tile(dtype, fr_ir((ts_dtype)x.dtype) == fr_ir(dtype)
                              ? x.as.v
                              : ts_cast(&f->b, TS_OP_bitcast, x.as.v, fr_ir(dtype), 0));
    return TS_OK;
}

ts_status fr_op_pack_bytes(fr *f, const fr_call *c, fr_value *out)
{
    fr_value x;
    TS_TRY(fr_arg_tile(f, c, 0, &x));
    fr_shape shape = fr_shape_of(f, &x), flat = {.rank = 1};
    int64_t bits = shape_count(&shape) * fr_dtype_bits((ts_dtype)x.dtype);
    if (x.dtype == TS_DTYPE_bool_ || bits < 8)
        return fr_arg_error(f, c, 0, "a tile of at least one byte, not of bools");
    flat.dims[0] = shape_count(&shape);
    TS_TRY(fr_reshape_to(f, &x, &flat, &x));
    flat.dims[0] = bits / 8;
    *out = fr_tile(
        TS_DTYPE_uint8,
        fr_dtype_bits((ts_dtype)x.dtype) == 8 && fr_dtype_is_int((ts_dtype)x.dtype)
            ? x.as.v
            : ts_emit(&f->b, TS_OP_pack, fr_type(f, TS_DTYPE_uint8, &flat), 1, &x.as.v, 0, 0));
    return TS_OK;
}

ts_status fr_op_unpack_bytes(fr *f, const fr_call *c, fr_value *out)
{
    fr_value x;
    ts_dtype dtype;
    TS_TRY(fr_arg_tile(f, c, 0, &x));
    TS_TRY(fr_arg_dtype(f, c, 1, &dtype));
    fr_shape shape = fr_shape_of(f, &x);
    int64_t bits = shape_count(&shape) * 8;
    if (x.dtype != TS_DTYPE_uint8 || shape.rank != 1)
        return fr_arg_error(f, c, 0, "a 1-D tile of uint8");
    if (dtype == TS_DTYPE_bool_ || bits % fr_dtype_bits(dtype))
        return fr_error(f, c->at[1], TS_TILETYPE,
                        "unpack_from_bytes(): %lld bytes hold no whole number of %s",
                        (long long)bits / 8, ts_dtype_name(dtype));
    shape.dims[0] = bits / fr_dtype_bits(dtype);
    *out = fr_tile(dtype,
                   fr_dtype_bits(dtype) == 8 && fr_dtype_is_int(dtype)
                       ? x.as.v
                       : ts_emit(&f->b, TS_OP_unpack, fr_type(f, dtype, &shape), 1, &x.as.v, 0, 0));
    return TS_OK;
}
