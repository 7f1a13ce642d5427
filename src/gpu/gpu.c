/* SPDX-License-Identifier: Apache-2.0
 *
 * The GPU back end: tile IR after math and legalize -> thread IR -> text, with the launch plan filled in.
 *
 *     layout/     who holds which element of a tile
 *     plan/       what is decided before code is written: the tensor-core way, tensor maps, rings, waits
 *     schedule/   what runs beside what: pipelines, the producer warp, rotated loops, teams, clusters
 *     lower/      the walk that writes thread code
 *
 *     ts__lower_run (lower/lower.c) ─▶ dce licm at thread level ─▶ ts__ptx_emit (target/ptx/emit.c)
 *
 * Read next: lower/lower.h, layout/layout.h, target/ptx/emit.h.
 */
#include "gpu/gpu.h"
#include "gpu/lower/lower.h"
#include "pass/pass.h"
#include "target/ptx/ptx.h"

#define GPU_PASSES "dce licm"

static ts_status gpu_take(ts_text *text, const ts_alloc *alloc, uint8_t **bytes, size_t *n, ts_error *err)
{
    if (text->failed)
        return ts_fail(err, TS_NOMEM, "out of memory while writing PTX");
    *bytes = alloc->resize(alloc->user, NULL, 0, text->n + 1);
    if (!*bytes)
        return ts_fail(err, TS_NOMEM, "out of memory while writing PTX");
    memcpy(*bytes, ts__text_get(text), text->n);
    (*bytes)[text->n] = 0;
    *n = text->n + 1;
    return TS_OK;
}

static ts_status gpu_run(ts_fn *fn, ts_pass_env *env, ts_code *code, ts_text *text, ts_text *messages, ts_error *err)
{
    TS_TRY(ts__lower_run(fn, env, messages, err));
    TS_TRY(ts__run_passes(fn, GPU_PASSES, env, err));
    TS_TRY(ts__ptx_emit(fn, env->plan, text, err));
    TS_TRY(gpu_take(text, code->alloc, &code->bytes, &code->n_bytes, err));
    uint8_t *bytes = NULL;
    if (messages->n)
        TS_TRY(gpu_take(messages, code->alloc, &bytes, &code->n_messages, err));
    code->messages = (char *)bytes;
    return TS_OK;
}

ts_status ts__target_ptx(ts_fn *fn, ts_pass_env *env, ts_code *code, ts_error *err)
{
    ts_text text, messages;
    ts__text_init(&text, code->alloc);
    ts__text_init(&messages, code->alloc);
    ts_status status = gpu_run(fn, env, code, &text, &messages, err);
    ts__text_deinit(&text);
    ts__text_deinit(&messages);
    return status;
}
