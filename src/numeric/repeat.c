/* SPDX-License-Identifier: Apache-2.0
 *
 * Calls whose `out` is one element many times, along an axis that makes no step: kernels write elements in any order,
 * and NumPy's last one stays. So the last along such axes is computed alone.
 *
 *     out (3, 7) with strides (0, 4) = x (3, 7) + y (7)       is       out (1, 7) = x[2:3] + y
 */
#include "numeric/numeric.h"

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

/* Whether `a` broadcasts to out. */
static bool repeat_fits(const ts_nd *a, const ts_nd *out)
{
    bool fits = a->rank <= out->rank;
    for (uint32_t d = 0, up = fits ? out->rank - a->rank : 0; fits && d < a->rank; d++)
        fits = ts_nd_shape(a)[d] == 1 || ts_nd_shape(a)[d] == ts_nd_shape(out)[up + d];
    return fits;
}

/* *a becomes a view of its last elements along the axes that out repeats. */
static ts_status repeat_last(const ts_nd *out, ts_nd **a, ts_nd **view, ts_error *err)
{
    int64_t shape[TS_ND_RANK], offset = 0;
    uint32_t up = out->rank - (*a)->rank;
    for (uint32_t d = 0; d < (*a)->rank; d++) {
        bool repeats = !ts_nd_strides(out)[up + d] && ts_nd_shape(out)[up + d] > 1;
        shape[d] = repeats ? 1 : ts_nd_shape(*a)[d];
        offset += repeats ? (ts_nd_shape(*a)[d] - 1) * ts_nd_strides(*a)[d] : 0;
    }
    TS_TRY(ts_nd_view(*a, offset, (ts_dtype)(*a)->dtype, (*a)->rank, shape, ts_nd_strides(*a), (*a)->flags, view, err));
    *a = *view;
    return TS_OK;
}

ts_status ts__nd_run_last(ts_nd_graph *graph, const ts_nd_call *call, bool *done, ts_error *err)
{
    ts_nd *views[REPEAT_VIEWS] = {NULL}, *result = NULL, *out = call->out;
    ts_nd_call last = *call;
    ts_nd **arrays[REPEAT_VIEWS] = {&last.in[0].array, &last.in[1].array, &last.in[2].array, &last.where, &last.out};
    *done = true;
    for (int i = 0; i < REPEAT_VIEWS; i++)
        *done &= !*arrays[i] || repeat_fits(*arrays[i], out);
    ts_status status = TS_OK;
    for (int i = 0; i < REPEAT_VIEWS && *done && status == TS_OK; i++)
        if (*arrays[i])
            status = repeat_last(out, arrays[i], &views[i], err);
    if (*done && status == TS_OK)
        status = ts_nd_run(graph, &last, &result, err);
    ts_nd_release(result);
    for (int i = 0; i < REPEAT_VIEWS; i++)
        ts_nd_release(views[i]);
    return status;
}
