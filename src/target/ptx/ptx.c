/* SPDX-License-Identifier: Apache-2.0
 *
 * The PTX target: tile IR after math and legalize -> thread IR -> text, with the launch plan filled in.
 *
 *     ts_lower_run (lower.c) ─▶ fold dce licm at thread level ─▶ ts_ptx_emit (emit.c)
 *
 * Read next: lower.h, emit.h.
 */
#include "target/target.h"
#include "target/ptx/lower.h"
#include "target/ptx/sm.h"

#define PTX_PASSES "dce licm"

static const ts_sm ptx_sms[] = {
#define TS_SM(number, name, version, fixed, dynamic, registers)                                    \
    {(number), #name, (version), (fixed), (dynamic), (registers)},
#include "target/ptx/sm.def"
};

const ts_sm *ts__sm_find(uint32_t target)
{
    for (size_t i = 0; i < TS_COUNT(ptx_sms); i++)
        if (ptx_sms[i].number == target)
            return &ptx_sms[i];
    return NULL;
}

static ts_status ptx_take(ts_text *text, const ts_alloc *alloc, uint8_t **bytes, size_t *n, ts_error *err)
{
    if (text->failed)
        return ts_fail(err, TS_NOMEM, "out of memory while writing PTX");
    *bytes = alloc->resize(alloc->user, NULL, 0, text->n + 1);
    if (!*bytes)
        return ts_fail(err, TS_NOMEM, "out of memory while writing PTX");
    memcpy(*bytes, ts_text_get(text), text->n);
    (*bytes)[text->n] = 0;
    *n = text->n + 1;
    return TS_OK;
}

static ts_status ptx_run(ts_fn *fn, ts_pass_env *env, ts_code *code, ts_text *text, ts_text *messages, ts_error *err)
{
    TS_TRY(ts_lower_run(fn, env, messages, err));
    TS_TRY(ts_run_passes(fn, PTX_PASSES, env, err));
    TS_TRY(ts_ptx_emit(fn, env->plan, text, err));
    TS_TRY(ptx_take(text, code->alloc, &code->bytes, &code->n_bytes, err));
    uint8_t *bytes = NULL;
    if (messages->n)
        TS_TRY(ptx_take(messages, code->alloc, &bytes, &code->n_messages, err));
    code->messages = (char *)bytes;
    return TS_OK;
}

ts_status ts_target_ptx(ts_fn *fn, ts_pass_env *env, ts_code *code, ts_error *err)
{
    ts_text text, messages;
    ts_text_init(&text, code->alloc);
    ts_text_init(&messages, code->alloc);
    ts_status status = ptx_run(fn, env, code, &text, &messages, err);
    ts_text_deinit(&text);
    ts_text_deinit(&messages);
    return status;
}
