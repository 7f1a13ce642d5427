/* SPDX-License-Identifier: Apache-2.0
 *
 * Calls whose `out` has an element at several places: kernels write elements in any order, and NumPy's last one stays.
 * Along axes that make no step the last is computed alone:
 *
 *     out (3, 7) with strides (0, 4) = x (3, 7) + y (7)       is       out (1, 7) = x[2:3] + y
 *
 * A mask may leave the last one out, so such calls are done part by part, in order.
 */
#include "numeric/numeric.h"
#include <stdlib.h>

enum { REPEAT_VIEWS = 5 }; /* three operands, the mask, out */

bool ts__nd_repeats(const ts_nd *out)
{
    if (out->count <= 1)
        return false;
    for (uint32_t d = 0; d < out->rank; d++)
        if (!ts_nd_strides(out)[d] && ts_nd_shape(out)[d] > 1)
            return true;
    return false;
}

bool ts__nd_overlaps(const ts_nd *out)
{
    int64_t steps[TS_ND_RANK], extents[TS_ND_RANK], end = out->item;
    uint32_t n = 0;
    for (uint32_t d = 0; d < out->rank; d++) { /* the shortest step first */
        int64_t step = llabs(ts_nd_strides(out)[d]);
        if (ts_nd_shape(out)[d] <= 1)
            continue;
        uint32_t i = n++;
        for (; i > 0 && steps[i - 1] > step; i--)
            steps[i] = steps[i - 1], extents[i] = extents[i - 1];
        steps[i] = step;
        extents[i] = ts_nd_shape(out)[d];
    }
    for (uint32_t i = 0; i < n && out->count; i++) {
        if (steps[i] < end)
            return true;
        end += steps[i] * (extents[i] - 1);
    }
    return false;
}

/* Whether `a` broadcasts to out. */
static bool repeat_fits(const ts_nd *a, const ts_nd *out)
{
    bool fits = a->rank <= out->rank;
    for (uint32_t d = 0, up = fits ? out->rank - a->rank : 0; fits && d < a->rank; d++)
        fits = ts_nd_shape(a)[d] == 1 || ts_nd_shape(a)[d] == ts_nd_shape(out)[up + d];
    return fits;
}

/* A call's arrays, and what is made of them. */
typedef struct repeat_call {
    ts_nd_call call;
    ts_nd *made[REPEAT_VIEWS];
} repeat_call;

static ts_nd **repeat_array(ts_nd_call *call, int i)
{
    return i < 3 ? &call->in[i].array : i == 3 ? &call->where : &call->out;
}

static void repeat_end(repeat_call *r)
{
    for (int i = 0; i < REPEAT_VIEWS; i++)
        ts_nd_release(r->made[i]);
}

/* The call on one place along each axis of the mask `axes` of out; `place` -1: the last one. */
static ts_status repeat_run(ts_nd_graph *graph, const ts_nd_call *call, uint64_t axes, int64_t place, ts_error *err)
{
    repeat_call one = {.call = *call};
    ts_status status = TS_OK;
    ts_nd *result = NULL;
    for (int i = 0; i < REPEAT_VIEWS && status == TS_OK; i++) {
        ts_nd **a = repeat_array(&one.call, i);
        int64_t shape[TS_ND_RANK], offset = 0;
        for (uint32_t d = 0; *a && d < (*a)->rank; d++) {
            shape[d] = ts_nd_shape(*a)[d];
            if (!(axes >> (call->out->rank - (*a)->rank + d) & 1))
                continue;
            offset += (place < 0 || shape[d] == 1 ? shape[d] - 1 : place) * ts_nd_strides(*a)[d];
            shape[d] = 1;
        }
        if (*a)
            status = ts_nd_view(*a, offset, (ts_dtype)(*a)->dtype, (*a)->rank, shape, ts_nd_strides(*a), (*a)->flags,
                                &one.made[i], err);
        *a = one.made[i];
    }
    if (status == TS_OK)
        status = ts_nd_run(graph, &one.call, &result, err);
    ts_nd_release(result);
    repeat_end(&one);
    return status;
}

/* Part by part along an axis, the first that repeats if one does; each part is such a call again, if need be. */
static ts_status repeat_in_turn(ts_nd_graph *graph, const ts_nd_call *call, uint64_t repeats, ts_error *err)
{
    uint32_t axis = 0;
    ts_status status = TS_OK;
    while (repeats ? !(repeats >> axis & 1) : axis + 1 < call->out->rank && ts_nd_shape(call->out)[axis] <= 1)
        axis++;
    for (int64_t i = 0; i < ts_nd_shape(call->out)[axis] && status == TS_OK; i++)
        status = repeat_run(graph, call, (uint64_t)1 << axis, i, err);
    return status;
}

/* Where an operand shares memory with out, the call goes to a copy of out, all of which then goes to out, as NumPy's
 * does. */
static ts_status repeat_masked(ts_nd_graph *graph, const ts_nd_call *call, uint64_t repeats, ts_error *err)
{
    ts_nd *out = call->out, *copy, *result = NULL;
    ts_nd_call apart = *call, back = {.fn = TS_ND_copy, .out = out};
    bool shares = false;
    for (int i = 0; i < REPEAT_VIEWS - 1; i++)
        shares |= *repeat_array(&apart, i) && ts_nd_shares(out, *repeat_array(&apart, i), false);
    if (!shares)
        return repeat_in_turn(graph, call, repeats, err);
    TS_TRY(ts_nd_run(graph, &(ts_nd_call){.fn = TS_ND_copy, .in = {{.array = out}}, .order = 'C'}, &copy, err));
    apart.out = back.in[0].array = copy;
    ts_status status = ts_nd_run(graph, &apart, &result, err);
    if (status == TS_OK)
        status = repeat_in_turn(graph, &back, repeats, err);
    ts_nd_release(result);
    ts_nd_release(copy);
    return status;
}

ts_status ts__nd_run_last(ts_nd_graph *graph, const ts_nd_call *call, bool *done, ts_error *err)
{
    const ts_nd *out = call->out;
    ts_nd_call any = *call;
    uint64_t repeats = 0;
    *done = true;
    for (int i = 0; i < REPEAT_VIEWS; i++)
        *done &= !*repeat_array(&any, i) || repeat_fits(*repeat_array(&any, i), out);
    for (uint32_t d = 0; d < out->rank; d++)
        repeats |= (uint64_t)(!ts_nd_strides(out)[d] && ts_nd_shape(out)[d] > 1) << d;
    if (!*done)
        return TS_OK;
    return call->where ? repeat_masked(graph, call, repeats, err) : repeat_run(graph, call, repeats, -1, err);
}
