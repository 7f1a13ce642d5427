/* SPDX-License-Identifier: Apache-2.0
 *
 * What went wrong in a reduction of few elements in host memory, as NumPy reports it: a sum or product that is infinite
 * where no element of its row is has overflowed, one that is NaN where none is was invalid, a product that is 0 where
 * none is has underflowed. Results that are finite, nearly all, cost one look at each. check.c does the same for
 * functions of elements.
 */
#include "numeric/numeric.h"
#include <math.h>

enum { FOLD_MOST = 4096 }; /* elements */
/* Bits: what the elements of a row are, as far as they were looked at. */
enum { FOLD_INFINITE = 1, FOLD_NAN = 2, FOLD_ZERO = 4, FOLD_NAN_IM = 8, FOLD_NANS = FOLD_NAN | FOLD_NAN_IM };

typedef struct fold_look {
    const ts_nd *x, *out; /* out: extent 1 along folded axes, unless it is a running reduction */
    const char *from, *to, *mask;
    int64_t mask_strides[TS_ND_RANK];
    uint64_t axes;
    bool underflows;
    uint8_t nans; /* of a sum the parts have NaN by themselves: 0; of a product both: FOLD_NANS */
    uint8_t *rows;
} fold_look;

static uint8_t fold_kind(const char *place, uint8_t dtype)
{
    double x[2];
    ts__nd_check_read(place, (ts_dtype)dtype, x);
    bool infinite = isinf(x[0]) || isinf(x[1]), zero = x[0] == 0 && x[1] == 0;
    return (uint8_t)((infinite ? FOLD_INFINITE : 0) | (zero ? FOLD_ZERO : 0) | (isnan(x[0]) ? FOLD_NAN : 0) |
                     (isnan(x[1]) ? FOLD_NAN_IM : 0));
}

/* The row of an element of `a`, which is x or out. */
static uint8_t *fold_row(fold_look *look, const ts_nd *a, const int64_t *at)
{
    int64_t row = 0;
    for (uint32_t d = 0; d < a->rank; d++)
        row = look->axes >> d & 1 ? row : row * ts_nd_shape(a)[d] + at[d];
    return &look->rows[row];
}

static int64_t fold_offset(uint32_t rank, const int64_t *at, const int64_t *strides)
{
    int64_t offset = 0;
    for (uint32_t d = 0; d < rank; d++)
        offset += at[d] * strides[d];
    return offset;
}

static uint32_t fold_faults(fold_look *look, const int64_t *at)
{
    const char *place = look->to + fold_offset(look->out->rank, at, ts_nd_strides(look->out));
    uint8_t result = fold_kind(place, look->out->dtype), elements = *fold_row(look, look->out, at);
    bool odd = elements & (FOLD_INFINITE | FOLD_NANS);
    elements |= elements & FOLD_NANS ? look->nans : 0;
    uint8_t made = (uint8_t)(result & ~elements);
    return (made & FOLD_NANS ? TS_ND_INVALID : 0) | (made & FOLD_INFINITE && !odd ? TS_ND_OVERFLOW : 0) |
           (look->underflows && made & FOLD_ZERO && !odd ? TS_ND_UNDERFLOW : 0);
}

static void fold_next(const ts_nd *a, int64_t *at)
{
    for (uint32_t d = a->rank; d-- > 0 && ++at[d] == ts_nd_shape(a)[d];)
        at[d] = 0;
}

/* Walks the elements of x row-major, so those of each row in their order. */
static uint32_t fold_walk(fold_look *look, bool is_scan)
{
    const ts_nd *x = look->x, *out = look->out;
    int64_t at[TS_ND_RANK] = {0};
    uint32_t faults = 0;
    for (int64_t n = 0; n < x->count; n++, fold_next(x, at)) {
        if (!look->mask || look->mask[fold_offset(x->rank, at, look->mask_strides)])
            *fold_row(look, x, at) |= fold_kind(look->from + fold_offset(x->rank, at, ts_nd_strides(x)), x->dtype);
        faults |= is_scan ? fold_faults(look, at) : 0;
    }
    for (int64_t n = 0; !is_scan && n < out->count; n++, fold_next(out, at))
        faults |= fold_faults(look, at);
    return faults;
}

/* Whether all results, which lie without gaps, are finite. */
static bool fold_is_fine(const ts_nd *out, const char *data)
{
    if (ts_dtype_bytes((ts_dtype)out->dtype) >= 4)
        return ts__nd_check_finite((ts_dtype)out->dtype, out->count, data);
    for (int64_t i = 0; i < out->count; i++)
        if (fold_kind(data + i * out->item, out->dtype))
            return false;
    return true;
}

/* Where the mask lies, as of x's shape. */
static void fold_mask(fold_look *look, const ts_nd *where)
{
    uint32_t up = look->x->rank - where->rank;
    for (uint32_t d = 0; d < look->x->rank; d++)
        look->mask_strides[d] = d < up || ts_nd_shape(where)[d - up] == 1 ? 0 : ts_nd_strides(where)[d - up];
}

bool ts__nd_check_folds(const ts_nd_reduction *r)
{
    char kind = nd_kind(r->dtype ? r->dtype : (ts_dtype)r->x->dtype);
    return r->looks && (r->fold == TS_ND_SUM || r->fold == TS_ND_PROD) && (kind == 'f' || kind == 'c');
}

ts_status ts__nd_check_fold(const ts_nd_reduction *r, bool is_scan, ts_nd *out, ts_error *err)
{
    ts_nd_graph *graph = r->x->graph;
    bool in_host = ts_device_caps_of(graph->device) & TS_DEVICE_HOST_MEMORY;
    bool is_large = r->x->count > FOLD_MOST, is_empty = !r->x->count || !out->count;
    if (!ts__nd_check_folds(r) || !in_host || is_empty || ((is_large || out->store->value) && !r->wanted))
        return TS_OK;
    fold_look look;
    uint8_t few[FOLD_MOST], *many = NULL;
    void *data[3] = {NULL, NULL, NULL};
    TS_TRY(ts_nd_memory(out, false, &data[0], NULL, err));
    look.to = data[0];
    look.nans = r->fold == TS_ND_PROD ? FOLD_NANS : 0;
    look.underflows = r->fold == TS_ND_PROD && r->wanted & TS_ND_UNDERFLOW;
    if (!look.underflows && fold_is_fine(out, look.to))
        return TS_OK;
    look.x = r->x;
    look.out = out;
    TS_TRY(ts_nd_memory(r->x, false, &data[1], NULL, err));
    if (r->where) {
        TS_TRY(ts_nd_memory(r->where, false, &data[2], NULL, err));
        fold_mask(&look, r->where);
    }
    look.axes = r->axes;
    look.from = data[1];
    look.mask = data[2];
    look.rows = few;
    if (out->count > FOLD_MOST && !(look.rows = many = ts__new(graph->alloc, (size_t)out->count)))
        return ts_fail(err, TS_NOMEM, "out of memory for what went wrong in a reduction");
    memset(look.rows, 0, (size_t)out->count);
    graph->faults |= fold_walk(&look, is_scan);
    if (many)
        ts__delete(graph->alloc, many, (size_t)out->count);
    return TS_OK;
}
