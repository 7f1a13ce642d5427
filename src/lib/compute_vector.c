/* SPDX-License-Identifier: Apache-2.0
 *
 * Scans of a CPU that has vectors for them (base/scan.h), called in the order of the stream instead of a kernel, with
 * the same bits: sums of floats up to each item.
 */
#include "base/scan.h"
#include "base/sort.h"
#include "lib/compute.h"
#include "tessera/array.h"
#include "tessera/device.h"
#include "tessera/graph.h"

enum { VECTOR_CORES = 2 }; /* of more, kernels are as fast: a scan by vectors has one */

/* What is called. */
typedef struct vector_job {
    const void *from;
    void *to;
    int64_t n;
    bool is_wide, has_initial;
    double initial;
} vector_job;

static void vector_run(void *user)
{
    const vector_job *job = user;
    const float narrow = (float)job->initial;
    if (job->is_wide)
        ts__scan_sums_64(job->from, job->to, job->n, job->has_initial ? &job->initial : NULL);
    else
        ts__scan_sums_32(job->from, job->to, job->n, job->has_initial ? &narrow : NULL);
}

/* The initial value as a number of the dtype, exactly. */
static bool vector_initial(const ts_arg *initial, uint8_t dtype, double *out)
{
    float narrow;
    *out = 0;
    if (!initial)
        return true;
    if (initial->kind != TS_SPEC_SCALAR || initial->dtype != dtype)
        return false;
    memcpy(&narrow, &initial->value.i, sizeof narrow); /* little endian, as all of the library's hosts are */
    *out = dtype == TS_DTYPE_float32 ? (double)narrow : initial->value.f;
    return true;
}

bool ts__compute_scan_fits(const compute_call *call, const compute_array *in, const compute_array *out, ts_combine op)
{
    const uint8_t dtype = out->arg.dtype;
    int64_t cores;
    double initial;
    ts_error ignored;
    if (call->is_gpu || op != TS_COMBINE_add || (call->options.flags & TS_COMPUTE_EXCLUSIVE) || call->options.count ||
        call->options.memory || call->options.need || !ts__sort_is_there() || ts_record_active(call->stream))
        return false;
    if ((dtype != TS_DTYPE_float32 && dtype != TS_DTYPE_float64) || in->arg.dtype != dtype ||
        !vector_initial(call->options.initial, dtype, &initial))
        return false;
    if (in->n > 1 && (in->stride != 1 || out->stride != 1))
        return false;
    return ts__compute_parts(call, in->n, COMPUTE_LEAST, &cores, &ignored) == TS_OK && cores <= VECTOR_CORES;
}

ts_status ts__compute_scan_by_vectors(compute_call *call, const compute_array *in, const compute_array *out,
                                      ts_error *err)
{
    vector_job job = {.from = in->arg.value.data, .to = out->arg.value.data, .n = in->n,
                      .is_wide = out->arg.dtype == TS_DTYPE_float64, .has_initial = call->options.initial != NULL};
    uint64_t bytes = sizeof job;
    bool only_asks;
    (void)vector_initial(call->options.initial, out->arg.dtype, &job.initial);
    ts_status status = ts__compute_rooms(call, &bytes, 1, &only_asks, err);
    if (status == TS_OK) {
        memcpy(call->rooms[0], &job, sizeof job);
        status = ts_stream_call(call->stream, vector_run, call->rooms[0], err);
    }
    ts__compute_end(call);
    return status;
}
