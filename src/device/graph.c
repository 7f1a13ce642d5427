/* SPDX-License-Identifier: Apache-2.0
 *
 * The public functions of tessera/graph.h: what is the same for all devices, the lists of recorded pieces and the
 * scripts with their references, is here; recording and running are the device's (device.h).
 */
#include "device/device.h"

/* ---- recording ------------------------------------------------------------------------------------------ */

static ts_status graph_missing(ts_error *err)
{
    return ts_fail(err, TS_UNSUPPORTED, "work of a GPU is recorded by the driver's graphs");
}

ts_status ts_record_begin(const ts_stream *stream, ts_error *err)
{
    TS_NEED(err, stream);
    const ts_device_ops *ops = stream->device->ops;
    return ops->record_begin ? ops->record_begin(stream, err) : graph_missing(err);
}

ts_status ts_record_end(const ts_stream *stream, ts_piece **out, ts_error *err)
{
    TS_NEED(err, out);
    *out = NULL;
    TS_NEED(err, stream);
    const ts_device_ops *ops = stream->device->ops;
    return ops->record_end ? ops->record_end(stream, out, err) : graph_missing(err);
}

bool ts_record_active(const ts_stream *stream)
{
    const ts_device_ops *ops = stream->device->ops;
    return ops->record_active && ops->record_active(stream);
}

ts_piece *ts_piece_next(const ts_piece *work)
{
    return work->next;
}

ts_piece_kind ts_piece_kind_of(const ts_piece *work)
{
    return work->kind;
}

void ts_piece_release(ts_piece *work)
{
    if (work && atomic_fetch_sub(&work->references, 1) == 1)
        work->device->ops->piece_destroy(work);
}

/* ---- scripts --------------------------------------------------------------------------------------------- */

/* A step has what its kind needs. */
static ts_status graph_check(const ts_step *steps, size_t n, ts_error *err)
{
    for (size_t i = 0; i < n; i++) {
        const ts_step *step = &steps[i];
        bool jumps = step->op != TS_STEP_RUN && step->op != TS_STEP_SET;
        if (step->op < TS_STEP_RUN || step->op > TS_STEP_JUMP_UNLESS)
            return ts_fail(err, TS_VALUE, "step %zu of the graph has the unknown kind %d", i, (int)step->op);
        if (step->op == TS_STEP_RUN && !step->work)
            return ts_fail(err, TS_VALUE, "step %zu of the graph runs nothing; give it recorded work", i);
        if (step->op != TS_STEP_RUN && step->op != TS_STEP_JUMP && !step->condition)
            return ts_fail(err, TS_VALUE, "step %zu of the graph needs the address of a condition", i);
        if (jumps && step->target > n)
            return ts_fail(err, TS_VALUE, "step %zu of the graph jumps to step %u of %zu", i, step->target, n);
    }
    return TS_OK;
}

ts_status ts_script_create(ts_device *device, const ts_step *steps, size_t n, void (*end)(void *user), void *user,
                           ts_script **out, ts_error *err)
{
    TS_NEED(err, out);
    *out = NULL;
    TS_NEED(err, device);
    TS_NEED_N(err, steps, n);
    if (!device->ops->script_launch)
        return graph_missing(err);
    TS_TRY(graph_check(steps, n, err));
    ts_script *script = ts__new(device->alloc, sizeof *script + n * sizeof *steps);
    if (!script)
        return ts_fail(err, TS_NOMEM, "out of memory for a graph of %zu steps", n);
    script->device = device;
    script->references = 1;
    script->end = end;
    script->user = user;
    script->n = n;
    for (size_t i = 0; i < n; i++) {
        script->steps[i] = steps[i];
        if (steps[i].work)
            atomic_fetch_add(&steps[i].work->references, 1);
    }
    *out = script;
    return TS_OK;
}

void ts__script_retain(ts_script *script)
{
    atomic_fetch_add(&script->references, 1);
}

void ts_script_release(ts_script *script)
{
    if (!script || atomic_fetch_sub(&script->references, 1) != 1)
        return;
    for (size_t i = 0; i < script->n; i++)
        ts_piece_release(script->steps[i].work);
    if (script->end)
        script->end(script->user);
    ts__delete(script->device->alloc, script, sizeof *script + script->n * sizeof *script->steps);
}

ts_status ts_script_launch(ts_script *script, const ts_stream *stream, ts_error *err)
{
    TS_NEED(err, script, stream);
    if (stream->device == script->device)
        return script->device->ops->script_launch(script, stream, err);
    char room[64];
    return ts_fail(err, TS_VALUE, "the graph is of %s and the stream is not; launch it on a stream of that device",
                   ts__device_text(script->device->id, room, sizeof room));
}
