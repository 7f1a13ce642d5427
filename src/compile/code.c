/* SPDX-License-Identifier: Apache-2.0
 *
 * What users of compiled code need without the compiler: names and sizes of dtypes, the end of a ts_code.
 */
#include "tessera/compile.h"

/* ---- dtypes -------------------------------------------------------------------------------------*/

static const struct {
    const char *name;
    size_t bytes;
} code_dtypes[TS_DTYPE_COUNT] = {
    {"none", 0},
#define X(name, ir, bytes, sign, dlpack, kind) {#name, bytes},
    TS_DTYPES(X)
#undef X
};

const char *ts_dtype_name(ts_dtype dtype)
{
    return (unsigned)dtype < TS_DTYPE_COUNT ? code_dtypes[dtype].name : "?";
}

size_t ts_dtype_bytes(ts_dtype dtype)
{
    return (unsigned)dtype < TS_DTYPE_COUNT ? code_dtypes[dtype].bytes : 0;
}

/* ---- code ---------------------------------------------------------------------------------------*/

void ts_code_deinit(ts_code *code)
{
    if (code->bytes)
        code->alloc->resize(code->alloc->user, code->bytes, code->n_bytes, 0);
    if (code->messages)
        code->alloc->resize(code->alloc->user, code->messages, code->n_messages, 0);
    code->bytes = NULL;
    code->messages = NULL;
    code->n_bytes = code->n_messages = 0;
}
