/* SPDX-License-Identifier: Apache-2.0
 *
 * What went wrong in sums of products in host memory, as NumPy reports it of matmul and dot: a sum that is infinite
 * where none of its factors is has overflowed, one that is NaN where none is was invalid. Products that are finite,
 * nearly all, cost one look at each. Of others the factors are read, of as many as a budget allows. check_fold.c does
 * the same for reductions.
 *
 *     out[.., m, n] = sum over k of a[.., m, k] * b[.., k, n]      axes in front broadcast; m and n may be absent
 */
#include "numeric/numeric.h"
#include <math.h>

enum { LOOK_BUDGET = 1 << 20 }; /* factors */

typedef struct product_look {
    const char *from[2], *to;
    int64_t steps[2][TS_ND_RANK], depth_step[2]; /* of a and b along the axes of out, and along k */
    int64_t depth, budget;
    const ts_nd *factor[2], *out;
} product_look;

static int64_t product_offset(const product_look *look, const int64_t *at, const int64_t *steps)
{
    int64_t offset = 0;
    for (uint32_t d = 0; d < look->out->rank; d++)
        offset += at[d] * steps[d];
    return offset;
}

/* A sum of products on its way: whether one was invalid, and which infinities there are. */
typedef struct product_sum {
    bool invalid, above, below, nan;
} product_sum;

static void product_add(product_sum *sum, double x, double y, bool minus)
{
    double made = minus ? -(x * y) : x * y;
    sum->nan |= isnan(x) || isnan(y);
    sum->invalid |= isnan(made) && !isnan(x) && !isnan(y);
    sum->above |= made == INFINITY && (isinf(x) || isinf(y));
    sum->below |= made == -INFINITY && (isinf(x) || isinf(y));
}

static uint32_t product_faults(product_look *look, const int64_t *at, bool is_nan, bool is_infinite)
{
    const char *a = look->from[0] + product_offset(look, at, look->steps[0]);
    const char *b = look->from[1] + product_offset(look, at, look->steps[1]);
    ts_dtype first = (ts_dtype)look->factor[0]->dtype, second = (ts_dtype)look->factor[1]->dtype;
    bool is_complex = nd_kind(first) == 'c' || nd_kind(second) == 'c';
    product_sum re = {false}, im = {false};
    look->budget -= look->depth;
    for (int64_t k = 0; k < look->depth; k++, a += look->depth_step[0], b += look->depth_step[1]) {
        double x[2], y[2];
        ts__nd_check_read(a, first, x);
        ts__nd_check_read(b, second, y);
        product_add(&re, x[0], y[0], false);
        if (!is_complex)
            continue;
        product_add(&re, x[1], y[1], true);
        product_add(&im, x[0], y[1], false);
        product_add(&im, x[1], y[0], false);
    }
    bool nan = re.nan || im.nan, invalid = re.invalid || im.invalid;
    bool infinite = re.above || re.below || im.above || im.below;
    invalid |= (re.above && re.below) || (im.above && im.below) || (is_nan && !nan);
    return (invalid ? TS_ND_INVALID : 0) | (is_infinite && !infinite && !nan ? TS_ND_OVERFLOW : 0);
}

static uint32_t product_walk(product_look *look)
{
    const ts_nd *out = look->out;
    int64_t at[TS_ND_RANK] = {0};
    uint32_t faults = 0;
    for (int64_t n = 0; n < out->count && look->budget > 0; n++) {
        double r[2];
        ts__nd_check_read(look->to + product_offset(look, at, ts_nd_strides(out)), (ts_dtype)out->dtype, r);
        bool is_nan = isnan(r[0]) || isnan(r[1]), is_infinite = isinf(r[0]) || isinf(r[1]);
        if (is_nan || is_infinite)
            faults |= product_faults(look, at, is_nan, is_infinite);
        for (uint32_t d = out->rank; d-- > 0 && ++at[d] == ts_nd_shape(out)[d];)
            at[d] = 0;
    }
    return faults;
}

/* Steps of a factor along the axes of out; `own`: its axis besides k, behind those that broadcast; -1: none. */
static bool product_steps(product_look *look, int which, int own, uint32_t front, uint32_t to)
{
    const ts_nd *x = look->factor[which];
    for (uint32_t d = 0; d < front; d++) {
        int64_t extent = ts_nd_shape(x)[front - 1 - d];
        if (d >= to)
            return false;
        look->steps[which][to - 1 - d] = extent == 1 ? 0 : ts_nd_strides(x)[front - 1 - d];
    }
    if (own >= 0) {
        /* n is the last axis, m the first one behind those that broadcast */
        uint32_t place = which ? look->out->rank - 1u : to;
        look->steps[which][place] = ts_nd_strides(x)[own];
    }
    return true;
}

static bool product_is_dense(const ts_nd *out)
{
    int64_t step = out->item;
    for (uint32_t d = out->rank; d-- > 0; step *= ts_nd_shape(out)[d])
        if (ts_nd_shape(out)[d] > 1 && ts_nd_strides(out)[d] != step)
            return false;
    return true;
}

/* Where k and the other axes lie; false: these are no operands of such a product. */
static bool product_layout(product_look *look, bool has_rows, bool has_columns)
{
    const ts_nd *a = look->factor[0], *b = look->factor[1], *out = look->out;
    if (a->rank < 1u + has_rows || b->rank < 1u + has_columns || out->rank < (uint32_t)has_rows + has_columns)
        return false;
    uint32_t k = b->rank - 1u - has_columns, to = out->rank - (0u + has_rows + has_columns);
    look->depth = ts_nd_shape(a)[a->rank - 1];
    look->depth_step[0] = ts_nd_strides(a)[a->rank - 1];
    look->depth_step[1] = ts_nd_strides(b)[k];
    int row = has_rows ? (int)a->rank - 2 : -1, column = has_columns ? (int)b->rank - 1 : -1;
    return ts_nd_shape(b)[k] == look->depth && product_steps(look, 0, row, a->rank - 1u - has_rows, to) &&
           product_steps(look, 1, column, k, to);
}

/* The same where not all results are finite. */
static ts_status product_look_at(ts_nd *const x[3], bool has_rows, bool has_columns, char *to, uint32_t *faults,
                                 ts_error *err)
{
    product_look look = {.factor = {x[0], x[1]}, .out = x[2], .budget = LOOK_BUDGET, .to = to};
    void *data[2];
    if (!product_layout(&look, has_rows, has_columns))
        return TS_OK;
    for (int i = 0; i < 2; i++) {
        TS_TRY(ts_nd_memory(x[i], false, &data[i], NULL, err));
        look.from[i] = data[i];
    }
    *faults = product_walk(&look);
    return TS_OK;
}

/* Whether it has been computed, lies without gaps and is finite. To look is no reading of it. */
static bool product_is_fine(const ts_nd *out)
{
    const ts_nd_store *store = out->store;
    return !store->value && store->buffer && product_is_dense(out) &&
           ts__nd_check_finite((ts_dtype)out->dtype, out->count, (char *)ts_buffer_data(store->buffer) + out->offset);
}

ts_status ts_nd_product_faults(ts_nd *const x[3], bool has_rows, bool has_columns, bool waits, uint32_t *faults,
                               ts_error *err)
{
    TS_NEED(err, faults);
    *faults = 0;
    TS_NEED(err, x);
    TS_NEED(err, x[0], x[1], x[2]);
    ts_nd *out = x[2];
    if (!ts__nd_is_host(out->graph) || product_is_fine(out))
        return TS_OK;
    void *to;
    char kind = nd_kind((ts_dtype)out->dtype);
    if ((kind != 'f' && kind != 'c') || !out->count || (out->store->value && !waits))
        return TS_OK;
    TS_TRY(ts__nd_memory(out, TS_ND_CAUSE_memory, false, &to, NULL, err));
    return product_is_fine(out) ? TS_OK : product_look_at(x, has_rows, has_columns, to, faults, err);
}
