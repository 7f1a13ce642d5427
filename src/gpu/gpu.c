/* SPDX-License-Identifier: Apache-2.0
 *
 * The GPU back end: tile IR after math and legalize -> thread IR, with the launch plan filled in. What follows is in
 * compile/pipeline.def: passes at thread level, then text (target/ptx).
 *
 *     layout/     who holds which element of a tile
 *     plan/       what is decided before code is written: a layout for every tile, the tensor-core path, tensor maps,
 *                 rings, waits
 *     lower/      the walk that writes thread code
 *     schedule/   what runs beside what: pipelines, the producer warp, rotated loops, ping-pong, clusters; each is
 *                 a strategy with hooks that the walk calls (lower/strategy.h), one row of schedule.def
 *
 * Read next: lower/lower.h, layout/layout.h.
 */
#include "gpu/gpu.h"
#include "gpu/plan/ahead.h"
#include "gpu/plan/depth.h"
#include "gpu/plan/walk.h"
#include "gpu/schedule/schedule.h"

/* The messages of asserts, one after the other, as bytes of the code. */
static ts_status gpu_messages(const ts_text *messages, ts_code *code, ts_error *err)
{
    if (messages->failed)
        return ts_fail(err, TS_NOMEM, "out of memory while lowering");
    if (!messages->n)
        return TS_OK;
    code->messages = code->alloc->resize(code->alloc->user, NULL, 0, messages->n + 1);
    if (!code->messages)
        return ts_fail(err, TS_NOMEM, "out of memory while lowering");
    memcpy(code->messages, ts__text_get(messages), messages->n);
    code->messages[messages->n] = 0;
    code->n_messages = messages->n + 1;
    return TS_OK;
}

ts_status ts__gpu_lower(ts_fn *fn, ts_pass_env *env, ts_code *code, ts_error *err)
{
    ts_text messages;
    ts__text_init(&messages, code->alloc);
    ts_status status = ts__depth_run(fn, env, err);
    if (status == TS_OK)
        status = ts__walk_run(fn, env, err);
    if (status == TS_OK)
        status = ts__ahead_run(fn, env, err);
    if (status == TS_OK)
        status = ts__lower_run(fn, env, &messages, err);
    if (status == TS_OK)
        status = gpu_messages(&messages, code, err);
    ts__text_deinit(&messages);
    return status;
}
