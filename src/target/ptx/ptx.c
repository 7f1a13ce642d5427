/* SPDX-License-Identifier: Apache-2.0
 *
 * The PTX target as the compiler calls it: text becomes the bytes of the code. The text: emit.c.
 */
#include "target/ptx/ptx.h"

static ts_status ptx_take(const ts_text *text, ts_code *code, ts_error *err)
{
    if (text->failed)
        return ts_fail(err, TS_NOMEM, "out of memory while writing PTX");
    code->bytes = code->alloc->resize(code->alloc->user, NULL, 0, text->n + 1);
    if (!code->bytes)
        return ts_fail(err, TS_NOMEM, "out of memory while writing PTX");
    memcpy(code->bytes, ts__text_get(text), text->n);
    code->bytes[text->n] = 0;
    code->n_bytes = text->n + 1;
    return TS_OK;
}

ts_status ts__target_ptx(const ts_fn *fn, const ts_plan *plan, ts_code *code, ts_error *err)
{
    ts_text text;
    ts__text_init(&text, code->alloc);
    ts_status status = ts__ptx_emit(fn, plan, &text, err);
    if (status == TS_OK)
        status = ptx_take(&text, code, err);
    ts__text_deinit(&text);
    return status;
}
